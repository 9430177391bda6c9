#!/usr/bin/env bash
# libgit2 (by pygit2 1.21.0 from PyPI): a backslash before an empty line of a git config swallows the next section's header.
#
# A value may go on in the next line after a backslash (git-config(1), "Syntax"). If that line is empty, the value ends
# there; so it is for git. A left-over backslash after the last flag of an alias is harmless and easily overlooked. libgit2
# skips the empty line and takes the next one that has text, whatever it is: here the header [remote "origin"]
# becomes part of the alias, and the address below it belongs to the section [alias]. A line with one key loses that key.
#
# The config is valid: `git config --list` reads it without a complaint, and every git command works with it. A program
# on libgit2 (git2 in Rust, pygit2, and others) sees a repository without a remote, so it can't tell which server it is of.
#
# Seen:
#   git: alias.l=log --oneline remote.origin.url=https://example.test/a.git
#   libgit2: alias.l=log --oneline[remote origin] alias.url=https://example.test/a.git
#   git remote: origin
#   libgit2 remotes: none
#
# Exits with 1 if that changes. Needs python3 and git.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check pygit2==1.21.0
git init --quiet repo
cat >repo/.git/config <<'CONFIG'
[alias]
	l = log \
--oneline\

[remote "origin"]
	url = https://example.test/a.git
CONFIG
cat >run.py <<'PYTHON'
import pygit2

config = pygit2.Config("repo/.git/config")
print("libgit2:", *(f"{entry.name}={entry.value}" for entry in config))
PYTHON
cat >remotes.py <<'PYTHON'
import pygit2

print("libgit2 remotes:", *([remote.name for remote in pygit2.Repository("repo").remotes] or ["none"]))
PYTHON
seen="git: $(git config --file repo/.git/config --list | tr '\n' ' ' | sed 's/ $//')
$(env/bin/python run.py)
git remote: $(git -C repo remote)
$(env/bin/python remotes.py)"
printf '%s\n' "$seen"
expected='git: alias.l=log --oneline remote.origin.url=https://example.test/a.git
libgit2: alias.l=log --oneline[remote origin] alias.url=https://example.test/a.git
git remote: origin
libgit2 remotes: none'
[ "$seen" = "$expected" ] || { echo "the config is read in another way now" >&2; exit 1; }
