#!/usr/bin/env bash
# crossterm 0.29.0 (crates.io), Linux: of more than 1,024 bytes that are typed at once, the rest waits for the next key.
#
# `poll` is documented to say whether an event is available. On Unix the default source of events waits for the terminal with
# edge-triggered epoll, reads 1,024 bytes and parses them. What the terminal still holds causes no new edge: `poll` says that
# there is nothing although a program that reads the terminal itself would get more, and the rest is delivered only
# together with whatever is typed next. A long paste without bracketed paste (a prompt for a token, a terminal
# without that mode), or keys sent by a script, lose their end until then, Enter included. 1,024 bytes and one more are enough.
#
# With the feature "use-dev-tty" another source is used, which has none of this. Its name speaks of which file is read.
#
# Seen, as keys that arrived until nothing came for a second, and after one more key:
#   default, 1024 typed: 1024, then 1025
#   default, 1025 typed: 1024, then 1026
#   default, 3000 typed: 1024, then 2048
#   use-dev-tty, 3000 typed: 3000, then 3001
#
# Exits with 1 if that changes. Needs cargo and python3.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir src
cat >Cargo.toml <<'TOML'
[package]
name = "typed"
version = "0.0.0"
edition = "2021"
[features]
tty = ["crossterm/use-dev-tty"]
[dependencies]
crossterm = "=0.29.0"
TOML
cat >src/main.rs <<'RUST'
use crossterm::event::{poll, read};
use std::time::Duration;

fn main() {
    crossterm::terminal::enable_raw_mode().unwrap();
    let (mut keys, mut pauses) = (0, 0);
    print!("ready\r\n");
    // The other side types once before the first pause, and one key after it.
    while pauses < 2 {
        if poll(Duration::from_secs(1)).unwrap() {
            read().unwrap();
            keys += 1;
        } else if keys > 0 {
            print!("{keys}\r\n");
            pauses += 1;
        }
    }
    crossterm::terminal::disable_raw_mode().unwrap();
}
RUST
cat >type.py <<'PY'
import os, pty, sys

pid, terminal = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], [sys.argv[1]])

def line():
    text = b""
    while not text.endswith(b"\n"):
        text += os.read(terminal, 1)
    return text.strip().decode()

assert line() == "ready"
os.write(terminal, b"x" * int(sys.argv[2]))
first = line()
os.write(terminal, b"x")
print(f"{first}, then {line()}")
PY
export CARGO_TARGET_DIR="$work/target"
cargo build --quiet
cp target/debug/typed default
cargo build --quiet --features tty
cp target/debug/typed use-dev-tty
seen=$(for run in 'default 1024' 'default 1025' 'default 3000' 'use-dev-tty 3000'; do
  set -- $run
  echo "$1, $2 typed: $(python3 type.py "./$1" "$2")"
done)
printf '%s\n' "$seen"
expected='default, 1024 typed: 1024, then 1025
default, 1025 typed: 1024, then 1026
default, 3000 typed: 1024, then 2048
use-dev-tty, 3000 typed: 3000, then 3001'
[ "$seen" = "$expected" ] || { echo "typed keys arrive in another way now" >&2; exit 1; }
