#!/usr/bin/env bash
# whatthepatch 1.0.7 (PyPI): in a hunk whose header omits a number of lines, the lines of context are lost.
#
# "@@ -1 +1,2 @@" is how git and diff write a side of one line: POSIX says that the number is written unless it is 1.
# The library reads an omitted number as 0, keeps the first removed or added line nevertheless, and drops the context.
# So the change of a file of one line, of which there are many (versions, pointers, settings), has no context, while the
# same hunk with ",1" written out has it. `Change.old` and `Change.new` are right for what is left, so nothing looks wrong
# until a viewer shows the hunk, or until the lines are counted against the header.
#
# The input is made by git here; the second diff is the first with the number that git omits.
#
# Seen:
#   @@ -1 +1,2 @@: added
#   @@ -1,1 +1,2 @@: context added
#   @@ -1,2 +1 @@: removed
#   @@ -1,2 +1,1 @@: context removed
#
# Exits with 1 if that changes. Needs python3 and git.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check whatthepatch==1.0.7
git init --quiet repo
cd repo
git config user.name Ada
git config user.email ada@example.test
echo 1.0 >version
git add . && git commit --quiet -m one
echo beta >>version
git diff --no-ext-diff --no-color --src-prefix=a/ --dst-prefix=b/ >"$work/longer"
git commit --quiet -a -m two
echo 1.0 >version
git diff --no-ext-diff --no-color --src-prefix=a/ --dst-prefix=b/ >"$work/shorter"
cd "$work"
sed 's/^@@ -1 /@@ -1,1 /' longer >longer-written
sed 's/^@@ -1,2 +1 /@@ -1,2 +1,1 /' shorter >shorter-written
seen=$(env/bin/python - longer longer-written shorter shorter-written <<'PYTHON'
import sys
import whatthepatch

for name in sys.argv[1:]:
    text = open(name).read()
    header = next(line for line in text.splitlines() if line.startswith("@@"))
    word = lambda change: "added" if change.old is None else "removed" if change.new is None else "context"
    changes = next(iter(whatthepatch.parse_patch(text))).changes
    print(f"{header}:", *map(word, changes))
PYTHON
)
printf '%s\n' "$seen"
expected='@@ -1 +1,2 @@: added
@@ -1,1 +1,2 @@: context added
@@ -1,2 +1 @@: removed
@@ -1,2 +1,1 @@: context removed'
[ "$seen" = "$expected" ] || { echo "whatthepatch reads omitted numbers in another way now" >&2; exit 1; }
