#!/usr/bin/env bash
# pyte 0.8.2 (PyPI), a terminal emulator: the sequence by which vim asks for modified keys underlines the text after it.
#
# xterm's "set key modifier options" is CSI > 4 ; 2 m. Vim sends it when it starts (seen in vim 9.0 with TERM set to
# xterm-256color), other programs with another level. It ends with "m" like the one for styles (SGR), and only the ">" tells
# them apart: ECMA-48 leaves a sequence with such a prefix to private use. pyte drops the prefix and takes the 4 for an
# underline, and a 1 for bold. The style stays until one is reset, which the program has no reason to do: CSI > 4 m, the
# plain form of the end of this mode, underlines as well.
#
# What reads terminal output, such as viewers of traces and tests of terminal programs, should look at the prefix before
# the last byte.
#
# Seen:
#   plain: bold False, underlined False
#   after CSI > 4 ; 2 m: bold False, underlined True
#   after CSI > 4 ; 1 m: bold True, underlined True
#   after CSI > 4 m: bold False, underlined True
#
# Exits with 1 if that changes. Needs python3.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/env"
"$work/env/bin/pip" install --quiet --disable-pip-version-check pyte==0.8.2
cat >"$work/run.py" <<'PYTHON'
import pyte

def look(name, before):
    screen = pyte.Screen(20, 1)
    pyte.Stream(screen).feed(before + "text")
    cell = screen.buffer[0][0]
    print(f"{name}: bold {cell.bold}, underlined {cell.underscore}")

look("plain", "")
look("after CSI > 4 ; 2 m", "\x1b[>4;2m")
look("after CSI > 4 ; 1 m", "\x1b[>4;1m")
look("after CSI > 4 m", "\x1b[>4m")
PYTHON
seen=$("$work/env/bin/python" "$work/run.py")
printf '%s\n' "$seen"
expected="plain: bold False, underlined False
after CSI > 4 ; 2 m: bold False, underlined True
after CSI > 4 ; 1 m: bold True, underlined True
after CSI > 4 m: bold False, underlined True"
[ "$seen" = "$expected" ] || { echo "pyte reads the sequence in another way now" >&2; exit 1; }
