#!/usr/bin/env bash
# .mailmap in dulwich 1.2.21 and in libgit2 (by pygit2 1.21.0), both from PyPI: people whom git keeps apart are merged,
# and people whom git merges are kept apart.
#
# gitmailmap(5): "Proper Name <commit@email.xx>" gives a new name to commits with that address, and addresses and names
# are matched without regard to case. `git check-mailmap` is the reference here.
#
# dulwich reads the short form in the other direction too: whoever bears the name gets the address. One line for one
# Ada turns every other Ada of the repository into her. It also compares addresses byte by byte.
# libgit2 compares addresses byte by byte, so a line for ada@example.test is not used for Ada@Example.test.
#
# Statistics, blame and lists of authors differ between tools of one repository, and in dulwich commits are ascribed to
# another person. It matters for every program that shows authors and offers "use .mailmap".
#
# Seen:
#   mailmap: Ada <ada@example.test>
#   Ada <other@example.test>: git Ada <other@example.test> | dulwich Ada <ada@example.test> | libgit2 Ada <other@example.test>
#   A. L. <Ada@Example.test>: git Ada <Ada@Example.test> | dulwich A. L. <Ada@Example.test> | libgit2 A. L. <Ada@Example.test>
#
# Exits with 1 if that changes. Needs python3 and git.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check dulwich==1.2.21 pygit2==1.21.0
git init --quiet repo
echo 'Ada <ada@example.test>' >repo/.mailmap
cat >run.py <<'PYTHON'
import subprocess
import pygit2
from dulwich.mailmap import Mailmap

dulwich = Mailmap.from_path("repo/.mailmap")
libgit2 = pygit2.Mailmap.from_buffer(open("repo/.mailmap").read())
print("mailmap:", open("repo/.mailmap").read().strip())
for name, address in (("Ada", "other@example.test"), ("A. L.", "Ada@Example.test")):
    who = f"{name} <{address}>"
    git = subprocess.run(["git", "-C", "repo", "check-mailmap", who], capture_output=True, text=True, check=True).stdout
    first, second = dulwich.lookup(who.encode()).decode(), "{} <{}>".format(*libgit2.resolve(name, address))
    print(f"{who}: git {git.strip()} | dulwich {first} | libgit2 {second}")
PYTHON
seen=$(env/bin/python run.py)
printf '%s\n' "$seen"
expected='mailmap: Ada <ada@example.test>
Ada <other@example.test>: git Ada <other@example.test> | dulwich Ada <ada@example.test> | libgit2 Ada <other@example.test>
A. L. <Ada@Example.test>: git Ada <Ada@Example.test> | dulwich A. L. <Ada@Example.test> | libgit2 A. L. <Ada@Example.test>'
[ "$seen" = "$expected" ] || { echo "a mailmap is read in another way now" >&2; exit 1; }
