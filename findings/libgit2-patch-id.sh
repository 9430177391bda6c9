#!/usr/bin/env bash
# libgit2 (by pygit2 1.21.0 from PyPI, libgit2 1.9.7): patch IDs are not git's, and all changes of a binary file have one ID.
#
# git_diff_patchid is documented to "generate the same IDs as the upstream git project does". It does for text files that are
# changed, added, deleted, moved unchanged or made executable. Elsewhere it does not, for three reasons:
#
# 1. Of a binary file, git hashes the IDs of its two versions; libgit2 hashes the sentence "Binary files a/… and b/… differ". So
#    a picture replaced by one picture or by another is the same patch: who looks for patches that are merged already, or
#    whether a new version of a review changes anything, gets "the same".
# 2. An empty file that is added or deleted has no "---" and "+++" lines for git. libgit2 writes and hashes them.
# 3. The line "similarity index" of a renamed file is hashed by both, and the two measure similarity differently (98 % and
#    97 % below).
#
# The reference is `git patch-id --stable` of git 2.x, for the output of `git diff-tree -p -M --full-index`.
#
# Seen:
#   text: as git
#   moved: as git
#   moved and changed: not as git
#   empty file added: not as git
#   picture replaced: not as git
#   two other pictures, git: two IDs
#   two other pictures, libgit2: one ID
#
# Exits with 1 if that changes. Needs git and python3.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
python3 -m venv "$work/venv"
"$work/venv/bin/pip" --quiet --disable-pip-version-check install pygit2==1.21.0
git init -q "$work/repo"
cd "$work/repo"
commit() { git add -A && git -c user.name=N -c user.email=n@example.com commit -q -m "$1" && git tag "$1"; }
seq 20 >lines
printf 'old\0picture' >picture
commit base
sed -i s/^5$/five/ lines
commit text
git mv lines moved
commit moved
git mv moved again
echo more >>again
commit changed
: >empty
commit empty
printf 'one\0picture' >picture
commit one
git checkout -q empty
printf 'other\0picture' >picture
commit other
cat >"$work/ids.py" <<'PY'
import subprocess
import pygit2

repo = pygit2.Repository(".")

def git(*words, **more):
    return subprocess.run(["git", *words], check=True, capture_output=True, text=True, **more).stdout

def ids(old, new):
    patch = git("diff-tree", "-p", "-M", "--full-index", old, new, "--")
    diff = repo.diff(old, new)
    diff.find_similar()
    return git("patch-id", "--stable", input=patch).split()[0], str(diff.patchid)

steps = {"text": ("base", "text"), "moved": ("text", "moved"), "moved and changed": ("moved", "changed"),
         "empty file added": ("changed", "empty"), "picture replaced": ("empty", "one")}
for name, step in steps.items():
    print(f"{name}:", "as git" if len(set(ids(*step))) == 1 else "not as git")
for name, found in zip(("git", "libgit2"), zip(ids("empty", "one"), ids("empty", "other"))):
    print(f"two other pictures, {name}:", "one ID" if len(set(found)) == 1 else "two IDs")
PY
seen=$("$work/venv/bin/python" "$work/ids.py")
printf '%s\n' "$seen"
expected='text: as git
moved: as git
moved and changed: not as git
empty file added: not as git
picture replaced: not as git
two other pictures, git: two IDs
two other pictures, libgit2: one ID'
[ "$seen" = "$expected" ] || { echo "the IDs are others now" >&2; exit 1; }
