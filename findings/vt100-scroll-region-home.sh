#!/usr/bin/env bash
# vt100 0.18.1 (crates.io): setting a scroll region puts the cursor on the region's first line instead of the screen's.
#
# CSI top;bottom r (DECSTBM) sets the margins and moves the cursor to column 1, line 1 of the page (VT510 reference manual).
# Only in origin mode (CSI ? 6 h), which is off by default, is that line 1 the top margin. The crate moves to the top margin
# in either mode, so text written next lands lower: what a program prints above its region (a title over scrolling rows)
# appears inside, and scrolls away.
#
# The reference is xterm.js (@xterm/headless 6.0.0, npm), with the same bytes on a screen of 5 rows; xterm and tmux do as it
# does. With origin mode on, the two agree. An emulator is often tested with regions that begin in row 1 (apt, progress bars
# at the bottom), where both rules give the same answer.
#
# Seen, as rows joined by "|":
#   vt100, region 1-3: top||||      xterm.js: top||||
#   vt100, region 2-4: |top|||      xterm.js: top||||
#   vt100, region 2-4, origin mode: |top|||      xterm.js: |top|||
#
# Exits with 1 if that changes. Needs cargo, node and npm.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir src
cat >Cargo.toml <<'TOML'
[package]
name = "region"
version = "0.0.0"
edition = "2021"
[dependencies]
vt100 = "=0.18.1"
TOML
cat >src/main.rs <<'RUST'
use std::io::Read;

fn main() {
    let mut bytes = Vec::new();
    std::io::stdin().read_to_end(&mut bytes).expect("input");
    let mut parser = vt100::Parser::new(5.try_into().unwrap(), 20.try_into().unwrap(), 0);
    parser.process(&bytes);
    println!("{}", parser.screen().rows(0, 20).collect::<Vec<_>>().join("|"));
}
RUST
CARGO_TARGET_DIR="$work/target" cargo build --quiet
echo '{"private":true}' >package.json
npm install --silent --no-audit --no-fund --ignore-scripts @xterm/headless@6.0.0
cat >run.cjs <<'JS'
const { Terminal } = require('@xterm/headless');
const terminal = new Terminal({ cols: 20, rows: 5, allowProposedApi: true });
terminal.write(require('fs').readFileSync(0), () => {
  const rows = [0, 1, 2, 3, 4].map((row) => terminal.buffer.active.getLine(row).translateToString(true));
  console.log(rows.join('|'));
});
JS
show() { printf 'vt100, %s: %s      xterm.js: %s\n' "$1" "$(printf "$2" | target/debug/region)" "$(printf "$2" | node run.cjs)"; }
seen=$(show 'region 1-3' '\033[1;3rtop'
  show 'region 2-4' '\033[2;4rtop'
  show 'region 2-4, origin mode' '\033[?6h\033[2;4rtop')
printf '%s\n' "$seen"
expected='vt100, region 1-3: top||||      xterm.js: top||||
vt100, region 2-4: |top|||      xterm.js: top||||
vt100, region 2-4, origin mode: |top|||      xterm.js: |top|||'
[ "$seen" = "$expected" ] || { echo "the cursor goes elsewhere now" >&2; exit 1; }
