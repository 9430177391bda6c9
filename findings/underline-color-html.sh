#!/usr/bin/env bash
# ansi2html 1.9.5 (PyPI) and ansi-to-html 0.7.2 (npm): a colored underline becomes blinking and struck-through text.
#
# Since kitty, terminals set the color of underlines with SGR 58 (58;5;N or 58;2;R;G;B, as with 38 and 48) and its form with
# subparameters behind a colon (4:3 is a wavy line). Linters and compilers mark mistakes with both. A reader that does not
# know 58 has to skip its arguments, too. Both converters skip only the 58, and take what follows for attributes of its own:
# 5 is blinking, 9 is crossed out, so the marked word reads as deleted. ansi2html also takes a colon for a semicolon: 4:3
# becomes an underline and italics (3). ansi_up 6.0.6 (npm) skips the arguments of 58 and is the reference.
#
# Viewers of job logs should skip the arguments of a color that they cannot show, and read a colon as part of one attribute.
#
# Seen (words for the styles in the HTML):
#   ansi2html 58;5;9;4: blink underline line-through
#   ansi2html 4:3: italic underline
#   ansi-to-html 58;5;9;4: blink strike underline
#   ansi_up 58;5;9;4: underline
#
# Exits with 1 if that changes. Needs python3, node and npm.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check ansi2html==1.9.5
npm install --silent --no-audit --no-fund --prefix "$work" ansi-to-html@0.7.2 ansi_up@6.0.6 >log
cat >run.py <<'PYTHON'
import re
from ansi2html import Ansi2HTMLConverter

for codes in ["58;5;9;4", "4:3"]:
    html = Ansi2HTMLConverter(inline=True).convert(f"\x1b[{codes}mmistake\x1b[0m", full=False)
    print(f"ansi2html {codes}:", *re.findall(r"(?:decoration|style): (\S+?)[;\"]", html.replace("underline;", "underline; ")))
PYTHON
cat >run.mjs <<'NODE'
import Convert from "ansi-to-html";
import { AnsiUp } from "ansi_up";

const marked = "\x1b[58;5;9;4mmistake\x1b[0m";
const words = { u: "underline" };
const tags = [...new Convert().toHtml(marked).matchAll(/<(\w+)/g)].map(([, tag]) => words[tag] ?? tag);
console.log("ansi-to-html 58;5;9;4:", ...tags);
console.log("ansi_up 58;5;9;4:", ...[...new AnsiUp().ansi_to_html(marked).matchAll(/decoration:([\w-]+)/g)].map(([, word]) => word));
NODE
seen="$(env/bin/python run.py)
$(node run.mjs)"
printf '%s\n' "$seen"
expected="ansi2html 58;5;9;4: blink underline line-through
ansi2html 4:3: italic underline
ansi-to-html 58;5;9;4: blink strike underline
ansi_up 58;5;9;4: underline"
[ "$seen" = "$expected" ] || { echo "the converters read underline colors in another way now" >&2; exit 1; }
