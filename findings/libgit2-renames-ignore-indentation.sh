#!/usr/bin/env bash
# libgit2 (by pygit2 1.18.2 from PyPI): renames that git does not see, because indentation does not count.
#
# A file is moved, and all of its lines are indented (as when code is wrapped in a class or a block). With the default
# flags of `git_diff_find_similar`, libgit2 ignores leading whitespace when it compares files
# (GIT_DIFF_FIND_IGNORE_LEADING_WHITESPACE is 0), and reports one renamed file with a similarity of 100 %. git counts
# whitespace, and reports one deleted and one added file at the same threshold of 50 %.
#
# Both may not be compared by their numbers: a threshold that was found with git means something else in libgit2, unless
# GIT_DIFF_FIND_DONT_IGNORE_WHITESPACE is set.
#
# Seen: "libgit2: R 100", "libgit2 with whitespace: A D", "git: A D". Exits with 1 if that changes. Needs python3 and git.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check pygit2==1.18.2
cd "$work"
git init --quiet repo
cd repo
git config user.name Ada
git config user.email ada@example.test
for n in $(seq 40); do echo "value_$n = compute($n)"; done >flat.py
git add . && git commit --quiet -m one
sed 's/^/        /' flat.py >nested.py
git rm --quiet flat.py
git add . && git commit --quiet -m two
seen=$("$work/venv/bin/python" - <<'PYTHON'
import pygit2
from pygit2.enums import DiffFind

repository = pygit2.Repository(".")
new = repository.head.peel(pygit2.Commit)

def kinds(flags):
    diff = repository.diff(new.parents[0], new)
    diff.find_similar(flags=flags)
    word = lambda delta: delta.status_char() + (f" {delta.similarity}" if delta.status_char() == "R" else "")
    return " ".join(sorted(word(delta) for delta in diff.deltas))

print("libgit2:", kinds(DiffFind.FIND_RENAMES))
print("libgit2 with whitespace:", kinds(DiffFind.FIND_RENAMES | DiffFind.FIND_DONT_IGNORE_WHITESPACE))
PYTHON
)
seen="$seen
git: $(git diff-tree -r -M50% --name-status HEAD^ HEAD | cut -f1 | sort | tr '\n' ' ' | sed 's/ $//')"
printf '%s\n' "$seen"
expected=$'libgit2: R 100\nlibgit2 with whitespace: A D\ngit: A D'
[ "$seen" = "$expected" ] || { echo "renames are found in another way now" >&2; exit 1; }
