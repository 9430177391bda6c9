#!/usr/bin/env bash
# unidiff 1.0.1 (PyPI): a file that was emptied counts as removed, and an empty file that got lines counts as added.
#
# `is_removed_file` is documented as "this patch removes the file". For the output of `git diff` it is true although the
# file still exists: the library looks at the hunk (@@ -1 +0,0 @@) where git says it in the header. A removed file has
# "deleted file mode" and "+++ /dev/null"; an emptied one has neither, its target is "b/emptied". The same holds for
# added files. The header is parsed (target_file is right), the answer contradicts it.
#
# The input is made by git here, and `git diff --name-status` is the reference. A report of "removed files" built on
# unidiff names files that are still there; a review tool would open a comment on the wrong side. Beware of hunks as a
# sign of creation or deletion.
#
# Seen (git: M is modified, D deleted, A added):
#   unidiff: emptied=removed filled=added gone=removed new=added
#   target of emptied: b/emptied, source of filled: a/filled
#   git: emptied=M filled=M gone=D new=A
#
# Exits with 1 if that changes. Needs python3 and git.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check unidiff==1.0.1
git init --quiet repo
cd repo
git config user.name Ada
git config user.email ada@example.test
echo text >emptied
: >filled
echo old >gone
git add . && git commit --quiet -m one
: >emptied
echo text >filled
git rm --quiet gone
echo new >new
git add .
git diff --cached --no-renames --no-ext-diff --no-color --src-prefix=a/ --dst-prefix=b/ >"$work/diff"
# The diff is valid: git itself takes it back to the first commit, where filled is an empty file again.
git apply --check --reverse "$work/diff"
seen=$("$work/env/bin/python" - "$work/diff" <<'PYTHON'
import sys
import unidiff

files = {file.path: file for file in unidiff.PatchSet.from_filename(sys.argv[1])}
word = lambda file: "removed" if file.is_removed_file else "added" if file.is_added_file else "modified"
print("unidiff:", *(f"{path}={word(files[path])}" for path in sorted(files)))
print(f"target of emptied: {files['emptied'].target_file}, source of filled: {files['filled'].source_file}")
PYTHON
)
seen="$seen
git: $(git diff --cached --no-renames --name-status | sort -k2 | awk '{ printf "%s%s=%s", (NR > 1 ? " " : ""), $2, $1 }')"
printf '%s\n' "$seen"
expected='unidiff: emptied=removed filled=added gone=removed new=added
target of emptied: b/emptied, source of filled: a/filled
git: emptied=M filled=M gone=D new=A'
[ "$seen" = "$expected" ] || { echo "unidiff tells files apart in another way now" >&2; exit 1; }
