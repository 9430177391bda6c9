#!/usr/bin/env bash
# whatthepatch 1.0.7 (PyPI): the paths of a file in a git diff have "a/" and "b/" in front only if none of its lines
# changed: after a rename without changes, and after a change of the mode.
#
# `header.old_path` and `header.new_path` are plain paths for a file with changed lines, also for one that was renamed
# at the same time, and for a new empty one. For a file that was only renamed, the library takes both paths from the
# line "diff --git", where git writes the prefixes, and not from "rename from" and "rename to", where it does not. The
# mode of a file is the same. The paths look valid, so a program that looks up changed files finds all but these, and a
# folder named "a" or "b" makes it impossible to tell which kind a path is.
#
# The input is made by git here, and `git diff --name-status` is the reference.
#
# Seen:
#   whatthepatch: changed -> changed
#   whatthepatch: renamed -> renamed2
#   whatthepatch: a/mode -> b/mode
#   whatthepatch: a/moved -> b/moved2
#   git: M changed
#   git: R renamed renamed2
#   git: M mode
#   git: R moved moved2
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
echo text >changed
seq 20 >renamed
seq 30 >moved
echo run >mode
git add . && git commit --quiet -m one
echo more >>changed
git mv renamed renamed2
echo more >>renamed2
git mv moved moved2
chmod +x mode
git add .
git diff --cached --find-renames --no-ext-diff --no-color --src-prefix=a/ --dst-prefix=b/ >"$work/diff"
seen=$("$work/env/bin/python" - "$work/diff" <<'PYTHON'
import sys
import whatthepatch

files = [file.header for file in whatthepatch.parse_patch(open(sys.argv[1]).read())]
order = ["changed", "renamed", "mode", "moved"]
for name in order:
    found = next(file for file in files if file.old_path.removeprefix("a/") == name)
    print(f"whatthepatch: {found.old_path} -> {found.new_path}")
PYTHON
)
status=$(git diff --cached --find-renames --name-status | sed 's/^R[0-9]*/R/' | tr '\t' ' ')
for name in changed renamed mode moved; do
    seen="$seen
git: $(grep "^[MR] $name\b" <<<"$status")"
done
printf '%s\n' "$seen"
expected='whatthepatch: changed -> changed
whatthepatch: renamed -> renamed2
whatthepatch: a/mode -> b/mode
whatthepatch: a/moved -> b/moved2
git: M changed
git: R renamed renamed2
git: M mode
git: R moved moved2'
[ "$seen" = "$expected" ] || { echo "whatthepatch writes the paths in another way now" >&2; exit 1; }
