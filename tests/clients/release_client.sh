#!/usr/bin/env bash
# Releases a version with semantic-release and its GitLab plugin against a served world.
#
# usage: release_client.sh MODULES READY.json
# MODULES is the folder node_modules with semantic-release and @semantic-release/gitlab.
set -euo pipefail
modules="$1"
ready="$2"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
export HOME="$work" GIT_CONFIG_NOSYSTEM=1 GIT_TERMINAL_PROMPT=0
export GIT_AUTHOR_NAME=Ada GIT_AUTHOR_EMAIL=ada@example.com GIT_COMMITTER_NAME=Ada GIT_COMMITTER_EMAIL=ada@example.com

field() { tr -d '\n' <"$ready" | sed -E "s/.*\"$1\": *\"([^\"]*)\".*/\1/"; }
url="$(field base_url)"
token="$(field ada)"
project="$url/api/v4/projects/acme%2Frocket-ui"

git clone -q "${url/:\/\//://oauth2:$token@}/acme/rocket-ui.git" "$work/clone"
cd "$work/clone"
git checkout -q -b next-release
cat >.releaserc.json <<'END'
{
  "branches": ["next-release"],
  "plugins": ["@semantic-release/commit-analyzer", "@semantic-release/release-notes-generator", "@semantic-release/gitlab"]
}
END
git add .releaserc.json
git commit -qm "feat: release from a branch"
git push -q origin next-release
ln -s "$modules" node_modules
unset CI GITHUB_ACTIONS GITLAB_CI
if ! GITLAB_URL="$url" GITLAB_TOKEN="$token" node node_modules/semantic-release/bin/semantic-release.js --no-ci \
  --repository-url "$url/acme/rocket-ui.git" >"$work/log" 2>&1; then
  tail -40 "$work/log" >&2
  exit 1
fi
tag="$(git describe --tags --exact-match)"
git ls-remote --exit-code origin "refs/tags/$tag" >/dev/null
release="$(curl --silent --fail --header "PRIVATE-TOKEN: $token" "$project/releases/$tag")"
case "$release" in
*"release from a branch"*) echo "semantic-release: $tag" ;;
*)
  echo "semantic-release: the release has no notes: $release" >&2
  exit 1
  ;;
esac
