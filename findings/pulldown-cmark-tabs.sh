#!/usr/bin/env bash
# pulldown-cmark 0.13.6 (crates.io): a tab and the spaces that it stands for give different documents; a character is lost.
#
# CommonMark 0.31.2, 2.2: where whitespace defines the structure of blocks, a tab works like spaces up to the next tab stop
# of 4. Two places of the parser do not hold to that. Every text is valid CommonMark; the references are commonmark.js
# 0.31.2 (npm), of the specification's authors, and the wording of the specification.
#
# 1. "> a", then a line of a tab and "> b". A marker of a block quote may be indented by at most 3 columns (5.1), so the
#    second line continues the paragraph, and its ">" is text. With 4 spaces pulldown-cmark agrees, with a tab it takes
#    ">" for a marker and drops it: what is shown is not what was written (a quoted shell redirection, or a comparison).
# 2. "## Title ##" and a tab. The closing sequence "may be followed by spaces or tabs only" (4.2), so the heading is
#    "Title". With a space at the end pulldown-cmark agrees; with a tab, the heading is "Title ##" and a tab.
#
# Anchors of headings and tables of contents then differ from those of a server that renders with another parser.
#
# Seen, by commonmark.js and pulldown-cmark, as HTML in one line:
#   <blockquote>␤<p>a␤&gt; b</p>␤</blockquote>␤ | <blockquote>␤<p>a␤b</p>␤</blockquote>␤
#   <h2>Title</h2>␤ | <h2>Title ##⇥</h2>␤
# (␤ is a newline, ⇥ a tab.) With spaces both give the first of each. Exits with 1 if that changes. Needs cargo, node, npm.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir src
cat >Cargo.toml <<'TOML'
[package]
name = "tabs"
version = "0.0.0"
edition = "2021"
[dependencies]
pulldown-cmark = { version = "=0.13.6", default-features = false, features = ["html"] }
TOML
cat >src/main.rs <<'RUST'
fn main() {
    let text = std::io::read_to_string(std::io::stdin()).expect("UTF-8");
    let mut html = String::new();
    pulldown_cmark::html::push_html(&mut html, pulldown_cmark::Parser::new(&text));
    print!("{html}");
}
RUST
CARGO_TARGET_DIR="$work/target" cargo build --quiet
echo '{"private":true}' >package.json
npm install --silent --no-audit --no-fund --ignore-scripts commonmark@0.31.2
cat >run.cjs <<'JS'
const { Parser, HtmlRenderer } = require('commonmark');
process.stdout.write(new HtmlRenderer().render(new Parser().parse(require('fs').readFileSync(0, 'utf8'))));
JS
line() { sed 's/\t/⇥/g; s/$/␤/' | tr -d '\n'; }
both() { printf '%s | %s\n' "$(printf "$1" | node run.cjs | line)" "$(printf "$1" | target/debug/tabs | line)"; }
spaces=$(both '> a\n    > b\n'; both '## Title ## \n')
tabs=$(both '> a\n\t> b\n'; both '## Title ##\t\n')
printf 'with spaces:\n%s\nwith tabs:\n%s\n' "$spaces" "$tabs"
quote='<blockquote>␤<p>a␤&gt; b</p>␤</blockquote>␤' heading='<h2>Title</h2>␤'
[ "$spaces" = "$quote | $quote"$'\n'"$heading | $heading" ] || { echo "spaces are read differently" >&2; exit 1; }
[ "$tabs" = "$quote | <blockquote>␤<p>a␤b</p>␤</blockquote>␤"$'\n'"$heading | <h2>Title ##⇥</h2>␤" ] ||
  { echo "tabs are read in another way now" >&2; exit 1; }
