#!/usr/bin/env bash
# Runs commands of glab that read and write against a served world. Each must succeed and print the given words.
#
# usage: glab_client.sh READY.json SEEN.txt
set -euo pipefail
ready="$1"
: >"$2"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

field() { tr -d '\n' <"$ready" | sed -E "s/.*\"$1\": *\"([^\"]*)\".*/\1/"; }
url="$(field base_url)"
host="${url#*://}"
export HOME="$work" GLAB_CONFIG_DIR="$work" GITLAB_HOST="$host" NO_COLOR=1 NO_PROMPT=1 PAGER=cat
unset GITLAB_TOKEN CI GITLAB_CI
cat >"$work/config.yml" <<END
host: $host
check_update: false
hosts:
  $host:
    api_protocol: http
    api_host: $host
    git_protocol: http
    token: $(field ada)
END
chmod 600 "$work/config.yml"
git clone -q "${url/:\/\//://oauth2:$(field ada)@}/acme/rocket-ui.git" "$work/clone"
cd "$work/clone"

failed=0
count=0
says() {
  local words="$1"
  shift
  count=$((count + 1))
  if ! glab "$@" >"$work/said" 2>&1 || ! grep -q -- "$words" "$work/said"; then
    echo "glab $*: without '$words':" >&2
    head -15 "$work/said" >&2
    failed=$((failed + 1))
  fi
}
says '!42' mr list
says 'rocket' repo view
says '"iid":42' mr view 42 --output json
says '42' mr view 42 --comments
says 'diff --git' mr diff 42
says '' ci list
says '' ci get --branch main
says '' issue list
says '' label list
says '' release list
says '' repo list --group acme
says '19.5' api version
says '' mr note 42 --message "From glab"
says '' mr create --source-branch feature/rows --target-branch main --title "From glab" --description "" --draft --yes
says '' mr approve 42
echo "glab: $((count - failed)) of $count commands"
[ "$failed" -eq 0 ]
