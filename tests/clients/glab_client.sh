#!/usr/bin/env bash
# Runs commands of glab that read and write against a served world. Each must succeed and print the given words.
#
# usage: glab_client.sh READY.json
set -euo pipefail
ready="$1"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

field() { tr -d '\n' <"$ready" | sed -E "s/.*\"$1\": *\"([^\"]*)\".*/\1/"; }
url="$(field base_url)"
address="${url#*://}"
# glab knows a server by its host name, without the port, which is the name that it finds in the addresses of remotes.
host="${address%:*}"
token="$(field ada)"
export HOME="$work" GLAB_CONFIG_DIR="$work" XDG_CONFIG_HOME="$work" GITLAB_HOST="$host"
export NO_COLOR=1 NO_PROMPT=1 PAGER=cat GLAB_PAGER=cat GIT_TERMINAL_PROMPT=0 GIT_CONFIG_NOSYSTEM=1
unset GITLAB_TOKEN CI GITLAB_CI
cat >"$work/config.yml" <<END
host: $host
check_update: false
hosts:
  $host:
    api_protocol: http
    api_host: $address
    git_protocol: https
    token: $token
    user: ada
END
chmod 600 "$work/config.yml"
git config --global user.name Ada
git config --global user.email ada@example.com
# Some commands take the address for SSH, whatever the configuration says.
signed_in="${url/:\/\//://oauth2:$token@}"
git config --global "url.$signed_in/.insteadOf" "git@$host:"
git config --global --add "url.$signed_in/.insteadOf" "$url/"
git clone -q "$url/acme/rocket-ui.git" "$work/clone"
cd "$work/clone"

failed=0
count=0
# Runs a command, which must succeed and print the words, if there are any.
says() {
  local words="$1"
  shift
  count=$((count + 1))
  if ! glab "$@" >"$work/said" 2>&1 </dev/null || { [ -n "$words" ] && ! grep -q -- "$words" "$work/said"; }; then
    echo "glab $*: without '$words':" >&2
    head -15 "$work/said" >&2
    failed=$((failed + 1))
  fi
}
# Runs a command, which must fail and print the words.
refuses() {
  local words="$1"
  shift
  count=$((count + 1))
  if glab "$@" >"$work/said" 2>&1 </dev/null || ! grep -q -- "$words" "$work/said"; then
    echo "glab $*: does not fail with '$words':" >&2
    head -15 "$work/said" >&2
    failed=$((failed + 1))
  fi
}
# Prints the ID, or the IID, of the first object of a list.
first() { glab api "$1" | sed -E 's/^\[\{"id":([0-9]+).*/\1/'; }
first_iid() { glab api "$1" | sed -E 's/^\[\{"id":[0-9]+,"iid":([0-9]+).*/\1/'; }

says 'Logged in' auth status
says '19.5' api version
says '"username":"ada"' api user
says 'acme/rocket-ui' api projects/:fullpath
says '"iid":42' api projects/:id/merge_requests/42
says '"iid":38' api --paginate projects/:id/issues

# Pipelines and jobs.
says 'success' ci list
says 'failed' ci list --status failed --output json
says 'source:' ci get --branch feature/rows
says '"jobs"' ci get --branch feature/rows --output json --with-job-details
says 'compile' ci status --branch feature/rows
says 'valid' ci lint .ci/pipeline.yml
says 'compile:' ci config compile .ci/pipeline.yml
says 'Created pipeline' ci run --branch main --variables KEY:VALUE
trigger="$(glab api projects/:id/triggers -f description=glab | sed -E 's/.*"token":"([^"]*)".*/\1/')"
says 'Created pipeline' ci run-trig --branch main --token "$trigger"
says 'Retried job' ci retry "$(first 'projects/:id/jobs?scope=failed')"
says 'Job' ci trace "$(first 'projects/:id/jobs?scope=failed')"
manual="$(first 'projects/:id/jobs?scope=manual')"
says 'Triggered job' ci trigger "$manual"
says 'canceled' ci cancel job "$manual"
says 'canceled' ci cancel pipeline "$(first 'projects/:id/pipelines?scope=running')"
says 'deleted' ci delete "$(first 'projects/:id/pipelines?status=failed')"
says 'will be deleted' ci delete --status success --dry-run
says '' job artifact feature/rows bundle --path "$work/artifacts"
says 'Nightly' schedule list
says 'Created' schedule create --cron '0 * * * *' --description D --ref main --variable foo:bar
says 'Started' schedule run 1
says 'Updated' schedule update 1 --cron '1 2 * * *' --create-variable a:b --active=false
says 'Updated' schedule update 1 --update-variable a:c
says 'Updated' schedule update 1 --delete-variable a
says 'Deleted' schedule delete 1

# Merge requests.
says '!42' mr list
says '!36' mr list --closed
says '!34' mr list --merged
says '!44' mr list --draft
says '!42' mr list --not-draft --search rows
says '!42' mr list --reviewer=@me
says '!41' mr list --assignee=ada --label bug
says '!40' mr list --author=ada --milestone 0.4
says '!42' mr list --source-branch feature/rows --output json
says '!42' mr list --group acme
says '!42' mr list --all --order updated_at --sort asc --per-page 100
says 'assignees:' mr view 42
says '42' mr view 42 --comments
says '"iid":42' mr view 42 --output json
says 'number:.42' mr view feature/rows
says '^@@ ' mr diff 42
says 'diff --git' mr diff 42 --raw
says 'Dora' mr approvers 42
says 'No issues' mr issues 42
says '#note_' mr note 42 --message "From glab"
says '#note_' mr note 42 --message "From glab" --unique
says 'unsubscribed' mr unsubscribe 42
says 'subscribed' mr subscribe 42
says 'Done' mr todo 42
says 'Approved' mr approve 42
says 'revoked' mr revoke 42
says 'successful' mr rebase 42
says 'requested review' mr update 42 --title "Other" --label x,y --assignee bo --reviewer eli --milestone 0.4
says 'marked as Draft' mr update 42 --draft
refuses 'still a draft' mr merge 42 --yes
says 'marked as ready' mr update 42 --ready
says 'unassigned' mr update 42 --unassign --lock-discussion
says 'Closed' mr close 42
says 'Reopened' mr reopen 42
says 'merge_requests/' mr for 38
says 'merge_requests/' mr create --source-branch sixel --target-branch main --title "From glab" --description "" --draft \
  --label a --assignee ada --reviewer bo --squash-before-merge --remove-source-branch --yes
refuses '409' mr create --source-branch sixel --target-branch main --title "Again" --description "" --yes
says 'Merged' mr merge 45 --yes
says 'deleted' mr delete 44
refuses '404' mr view 999
says '' mr checkout 43
says 'number:.43' mr view
says '^@@ ' mr diff
says '' mr checkout 42 --branch other
git checkout -q -b mine main
echo more >>README.md
git commit -qam "Say more"
says 'merge_requests/' mr create --fill --yes --push
request="$(grep -o 'merge_requests/[0-9]*' "$work/said" | tail -1)"
# The project asks for an approval, and the push has started a pipeline, which glab waits for.
says 'Approved' mr approve "${request#*/}"
says 'auto-merge' mr merge --yes --squash --remove-source-branch
for _ in {1..60}; do
  glab mr view "${request#*/}" --output json 2>/dev/null | grep -q '"state":"merged"' && break
  sleep 1
done
says '"state":"merged"' mr view "${request#*/}" --output json
git checkout -q main
git pull -q
says '' stack create rows
echo one >>README.md
says '' stack save --message one
echo two >>README.md
says '' stack save --message two
says '> .* - two' stack list
says 'one' stack prev
says 'two' stack last
says 'merge_requests/' stack sync
git checkout -qf main

# Issues and incidents.
says '#38' issue list
says '#31' issue list --closed
says '#43' issue list --assignee ada --confidential
says '#42' issue list --author bo --not-label bug
says '#38' issue list --milestone 0.4 --label bug
says '#5' issue list --group acme
says '38' issue list --output-format ids
says '"iid":38' issue list --output json
says 'eli' issue view 38 --comments
says '"iid":38' issue view 38 --output json
says '/issues/' issue create --title "From glab" --description d --label bug --assignee bo --milestone 0.4 \
  --confidential --due-date 2030-12-24 --time-estimate 1h --time-spent 30m --linked-issues 38 --link-type blocks --yes
says '#note_' issue note 38 --message "From glab"
says 'made confidential' issue update 38 --title T --label a,b --unlabel bug --assignee +bo --milestone 0.4 \
  --lock-discussion --confidential
says 'made public' issue update 38 --public --unlock-discussion --unassign --description new
says 'ubscribed' issue subscribe 38
says 'Unsubscribed' issue unsubscribe 38
says 'Closed' issue close 38
says 'Reopened' issue reopen 38
says 'deleted' issue delete 41
says '"type":"INCIDENT"' api projects/:id/issues -f title=Outage -f issue_type=incident
incident="$(first_iid 'projects/:id/issues?issue_type=incident')"
says 'Outage' incident list
says 'Outage' incident view "$incident"
says '#note_' incident note "$incident" --message "From glab"
says 'nsubscribed' incident unsubscribe "$incident"
says 'ubscribed' incident subscribe "$incident"
says 'Resolved' incident close "$incident"
says 'Reopened' incident reopen "$incident"

# Variables of the project and of a group.
for place in "" "--group acme"; do
  says 'LOG_LEVEL' variable list $place
  says 'Created' variable set GLAB_KEY some-value --masked --raw $place
  says 'some-value' variable get GLAB_KEY $place
  says 'Updated' variable update GLAB_KEY other-value $place
  says 'GLAB_KEY' variable export $place
  says 'Deleted' variable delete GLAB_KEY $place
done
says 'scope prod' variable set GLAB_KEY some-value --scope prod --type file --protected
says 'some-value' variable get GLAB_KEY --scope prod
refuses '400' variable set GLAB_MASKED x --masked

# Releases, labels, keys and tokens.
says 'v0.3.2' release list
says 'ASSETS' release view v0.3.2
echo text >"$work/asset.txt"
says 'Release created' release create v9 "$work/asset.txt#Asset#other" --name Nine --notes "the notes" --ref main \
  --milestone 0.4 --assets-links '[{"name": "a", "url": "https://example.com/a", "link_type": "other"}]'
says 'Release updated' release create v9 --notes "other notes"
says 'Upload succeeded' release upload v9 README.md
mkdir "$work/assets"
says 'downloaded' release download v0.3.2 --dir "$work/assets"
says 'downloaded' release download v9 --asset-name Asset --dir "$work/assets"
says 'deleted' release delete v9 --yes --with-tag
says 'bug' label list --output json
says 'security' label list --group acme
says 'Created label' label create --name glab --color '#ff0000' --description d
says 'deleted' label delete glab
says 'laptop' ssh-key list --show-id
says 'ssh-ed25519' ssh-key get 1
says 'deleted' ssh-key delete 1
says 'SCOPES' token list --user @me
says '"name"' token list --user ada --output json
for place in "" "--group acme"; do
  says 'glpat-' token create --scope read_api --access-level reporter glab $place
  says 'glab' token list $place
  says 'glpat-' token rotate glab $place
  says 'revoked' token revoke glab $place
done

# Projects and snippets.
says 'rocket' repo view
says '"path"' repo view --output json
says 'cli' repo list --member --per-page 100
says 'rocket' repo list --group acme
says 'cli' repo list --group acme --include-subgroups
says 'rocket' repo search --search rocket
says 'Ada' repo contributors
says 'Complete' repo archive acme/rocket-ui "$work/archive" --format tar.gz --sha main
says 'Cloning' repo clone acme/tools/cli "$work/cloned"
says 'rocket-ui' repo clone --group acme --preserve-namespace
says 'Created fork' repo fork acme/tools/cli --clone=false --remote=false
git init -q "$work/new"
(cd "$work/new" && git commit -q --allow-empty -m first && glab repo create newone --public --description d) >"$work/said" 2>&1
says 'newone' repo view ada/newone
says '' repo transfer ada/newone --target-namespace acme --yes
says '' repo delete acme/newone --yes
refuses '404' repo view acme/newone
says 'snippets/' snippet create --title t --filename f.txt README.md
says 'snippets/' snippet create --personal --title t --filename f.txt README.md
says 'Pushed' user events
says '"action_name"' user events --all --output json
says '## 1.0.0' changelog generate --version 1.0.0

echo "glab: $((count - failed)) of $count commands"
[ "$failed" -eq 0 ]
