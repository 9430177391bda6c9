#!/usr/bin/env bash
# Runs stock git against a served world: clones, fetches and pushes over HTTP.
#
# usage: git_client.sh READY.json
set -euo pipefail
ready="$1"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

# No configuration, credentials or prompts of the person who runs this.
export HOME="$work" GIT_CONFIG_NOSYSTEM=1 GIT_TERMINAL_PROMPT=0 GIT_ASKPASS=true
export GIT_AUTHOR_NAME=Ada GIT_AUTHOR_EMAIL=ada@example.com GIT_COMMITTER_NAME=Ada GIT_COMMITTER_EMAIL=ada@example.com

field() { tr -d '\n' <"$ready" | sed -E "s/.*\"$1\": *\"([^\"]*)\".*/\1/"; }
url="$(field base_url)"
token="$(field ada)"
signed_in="${url/:\/\//://oauth2:$token@}"

fail() {
  echo "git: $1" >&2
  exit 1
}
same() { [ "$2" = "$3" ] || fail "$1: '$2', not '$3'"; }
# Runs a command that must fail, and prints what it says.
refused() {
  if "$@" >"$work/said" 2>&1; then fail "should have been refused: $*"; fi
  cat "$work/said"
}

cd "$work"
git clone -q "$url/acme/rocket-ui.git" public
git clone -q --depth 1 "$url/acme/rocket-ui" shallow
same "the depth" "$(git -C shallow rev-list --count HEAD)" 1
git clone -q "$signed_in/acme/rocket-ui.git" mine
cd mine
git fsck --full >/dev/null
git fetch -q origin refs/merge-requests/42/head
same "the merge request" "$(git log -1 --format=%H FETCH_HEAD)" "$(git rev-parse origin/feature/rows)"

git checkout -q -b from-git
echo "from git" >from-git.txt
git add from-git.txt
git commit -qm "Add a file with git"
git push -q -o ci.skip origin from-git
same "the pushed branch" "$(git ls-remote origin refs/heads/from-git | cut -f 1)" "$(git rev-parse HEAD)"
git tag from-git-1
git push -q origin from-git-1
git notes add -m "a note" HEAD
git push -q origin refs/notes/commits
git commit -q --amend -m "Add a file with git, better"
refused git push origin from-git | grep -q "non-fast-forward" || fail "a rewritten branch needs --force"
git push -q --force origin from-git
git push -q origin --delete from-git
same "the deleted branch" "$(git ls-remote origin refs/heads/from-git)" ""

git commit -q --amend --allow-empty -m "Rewrite main"
refused git push --force origin HEAD~2:main | grep -q "protected" || fail "a protected branch must not be rewritten"
refused git push origin HEAD:refs/merge-requests/42/head >/dev/null
refused git push "$url/acme/rocket-ui.git" HEAD:refs/heads/nobody >/dev/null
# Git sends credentials only where they are asked for, which a clone of a public project does not.
refused git push "${url/:\/\//://oauth2:wrong@}/acme/rocket-ui.git" HEAD:refs/heads/nobody | grep -qi "authentication failed" ||
  fail "a wrong token is told"
echo "git: clones, fetches and pushes"
