#!/usr/bin/env bash
# rich 15.0.0 (PyPI), Text.from_ansi: after a sequence that ends with BEL, escape data becomes text, and text disappears.
#
# OSC sequences (window titles, hyperlinks) end with ST (ESC \) by ECMA-48, or with BEL, as xterm has it and as the
# description of hyperlinks allows. GNU ls ends its links with BEL, other tools with ST. rich knows ST alone, and searches
# for it beyond the BEL:
#
# 1. The output of `ls --hyperlink=always` shows its own escape data ("8;;file://…") between the names.
# 2. If a sequence with ST follows on the line, all between the BEL and that sequence's end is taken for one sequence. The
#    title of a build tool and one link after it are enough, and the visible text between them is gone without a trace.
#
# pyte 0.8.2 (PyPI), a terminal emulator, is the reference; terminals show the same. A log that passes through rich may lack
# words that were on the screen. Viewers of traces should take each terminator, whichever comes first.
#
# Seen:
#   ls, rich: 8;;file:…a.txt8;;
#   ls, pyte: a.txt
#   title and link, rich: 'b.c done'
#   title and link, pyte: 'compiling b.c done'
#
# Exits with 1 if that changes. Needs python3 and GNU ls.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check rich==15.0.0 pyte==0.8.2
mkdir listed
touch listed/a.txt
ls --hyperlink=always --color=never listed >links
cat >run.py <<'PYTHON'
import re
import pyte
from rich.text import Text

def screen(text):
    emulator = pyte.Screen(200, 2)
    pyte.Stream(emulator).feed(text)
    return emulator.display[0].rstrip()

links = open("links").read().strip()
line = "\x1b]0;make\x07compiling \x1b]8;;https://example.test/b.c\x1b\\b.c\x1b]8;;\x1b\\ done"
# The address in the link names this machine and folder: it is left out.
print("ls, rich:", re.sub(r"8;;file:.*/a\.txt(?=a\.txt)", "8;;file:…", Text.from_ansi(links).plain))
print("ls, pyte:", screen(links))
print("title and link, rich:", repr(Text.from_ansi(line).plain))
print("title and link, pyte:", repr(screen(line)))
PYTHON
seen=$(env/bin/python run.py)
printf '%s\n' "$seen"
expected="ls, rich: 8;;file:…a.txt8;;
ls, pyte: a.txt
title and link, rich: 'b.c done'
title and link, pyte: 'compiling b.c done'"
[ "$seen" = "$expected" ] || { echo "rich reads these sequences in another way now" >&2; exit 1; }
