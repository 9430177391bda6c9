#!/usr/bin/env bash
# saphyr-parser 0.3.4 (crates.io): a sequence that is not indented starts, by its span, behind its own first dash.
#
# YAML allows the entries of a list in the column of their key ("stages:", then "- build"), a common form of
# .gitlab-ci.yml. The parser reports each event with a Span, "the start (inclusive) of the range". For an indented list the
# start is the first "-". For a list that is not indented it is whatever follows: the item's text, its comment, or the
# end of the line with the dash. So the span of a list and of its first item can begin at one place, and the text cut out by
# the span lacks the dash: "build" and "- test" in the next line, which is no YAML.
#
# Each input is valid YAML 1.2. PyYAML 6.0.4 (libyaml's rules) reports the dash every time. An editor or a viewer that
# jumps to a list, or replaces it, is off by the width of the marker in one of two layouts of the same document.
#
# Seen, as line:column of the list and of its first item:
#   indented: saphyr-parser 2:2 2:4, PyYAML 2:2 2:4
#   not indented: saphyr-parser 2:2 2:2, PyYAML 2:0 2:2
#   wide marker: saphyr-parser 2:4 2:4, PyYAML 2:0 2:4
#   item in the next line: saphyr-parser 2:1 3:2, PyYAML 2:0 3:2
#
# Exits with 1 if that changes. Needs cargo and python3.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir src
cat >Cargo.toml <<'TOML'
[package]
name = "spans"
version = "0.0.0"
edition = "2021"
[dependencies]
saphyr-parser = "=0.3.4"
TOML
cat >src/main.rs <<'RUST'
use saphyr_parser::{Event, Parser};

fn main() {
    let text = std::io::read_to_string(std::io::stdin()).expect("UTF-8");
    let events: Vec<_> = Parser::new_from_str(&text).map(|event| event.expect("valid YAML")).collect();
    let list = events.iter().position(|(event, _)| matches!(event, Event::SequenceStart(..))).expect("a list");
    let place = |at: usize| format!("{}:{}", events[at].1.start.line(), events[at].1.start.col());
    println!("{} {}", place(list), place(list + 1));
}
RUST
CARGO_TARGET_DIR="$work/target" cargo build --quiet
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check PyYAML==6.0.4
cat >run.py <<'PYTHON'
import sys
import yaml

events = list(yaml.parse(sys.stdin.read()))
at = next(number for number, event in enumerate(events) if isinstance(event, yaml.SequenceStartEvent))
print(*(f"{event.start_mark.line + 1}:{event.start_mark.column}" for event in events[at : at + 2]))
PYTHON
show() {
  printf "$2" >input.yml
  printf '%s: saphyr-parser %s, PyYAML %s\n' "$1" "$(target/debug/spans <input.yml)" "$(env/bin/python run.py <input.yml)"
}
seen=$(show indented 'stages:\n  - build\n  - test\n'
  show 'not indented' 'stages:\n- build\n- test\n'
  show 'wide marker' 'stages:\n-   build\n-   test\n'
  show 'item in the next line' 'stages:\n-\n  build\n')
printf '%s\n' "$seen"
expected='indented: saphyr-parser 2:2 2:4, PyYAML 2:2 2:4
not indented: saphyr-parser 2:2 2:2, PyYAML 2:0 2:2
wide marker: saphyr-parser 2:4 2:4, PyYAML 2:0 2:4
item in the next line: saphyr-parser 2:1 3:2, PyYAML 2:0 3:2'
[ "$seen" = "$expected" ] || { echo "spans begin elsewhere now" >&2; exit 1; }
