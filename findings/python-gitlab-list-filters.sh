#!/usr/bin/env bash
# python-gitlab 8.6.0 (PyPI): of a filter with several values, only the last one counts for GitLab, in silence.
#
# GitLab reads a query as Rails does: "a[]=1&a[]=2" is a list, of "a=1&a=2" the last one stays. Labels may also be joined by
# commas. The library knows for some filters of each list what they need (labels of issues: commas, iids: brackets). Every
# other list of Python becomes a repeated name without brackets:
#
# - `not={"labels": ["a", "b"]}`, issues that have neither label: only "b" is excluded, and issues with "a" are returned.
# - `assignee_username=["ada", "bo"]`, which GitLab's page on issues documents as a string array (of one name in the free
#   edition, which would refuse two): only bo's are returned.
# - `query_parameters={"iids": [1, 2]}`, the documented way for names that Python reserves, takes the filter's knowledge away:
#   one issue is returned instead of two.
#
# Nothing fails, and the result is a list of plausible issues. ("assignee_username[]" as the name works.)
#
# Seen, as queries without percent-encoding:
#   labels: labels=a,b
#   iids: iids[]=1&iids[]=2
#   not: not[labels]=a&not[labels]=b
#   assignee_username: assignee_username=ada&assignee_username=bo
#   query_parameters: iids=1&iids=2
#   assignee_username[]: assignee_username[]=ada&assignee_username[]=bo
#
# Exits with 1 if that changes. Needs python3.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" --quiet --disable-pip-version-check install python-gitlab==8.6.0
cat >"$work/ask.py" <<'PY'
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import unquote
import gitlab

class Empty(BaseHTTPRequestHandler):
    """Answers every list with an empty one, and keeps the query."""
    def do_GET(self):
        Empty.query = unquote(self.path.partition("?")[2])
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(b"[]")

    def log_message(self, *_):
        pass

server = HTTPServer(("127.0.0.1", 0), Empty)
threading.Thread(target=server.serve_forever, daemon=True).start()
issues = gitlab.Gitlab(f"http://127.0.0.1:{server.server_port}").projects.get(1, lazy=True).issues
filters = {
    "labels": {"labels": ["a", "b"]},
    "iids": {"iids": [1, 2]},
    "not": {"not": {"labels": ["a", "b"]}},
    "assignee_username": {"assignee_username": ["ada", "bo"]},
    "query_parameters": {"query_parameters": {"iids": [1, 2]}},
    "assignee_username[]": {"assignee_username[]": ["ada", "bo"]},
}
for name, words in filters.items():
    issues.list(get_all=False, **words)
    print(f"{name}: {Empty.query}")
PY
seen=$("$work/venv/bin/python" "$work/ask.py")
printf '%s\n' "$seen"
expected='labels: labels=a,b
iids: iids[]=1&iids[]=2
not: not[labels]=a&not[labels]=b
assignee_username: assignee_username=ada&assignee_username=bo
query_parameters: iids=1&iids=2
assignee_username[]: assignee_username[]=ada&assignee_username[]=bo'
[ "$seen" = "$expected" ] || { echo "filters are sent in another way now" >&2; exit 1; }
