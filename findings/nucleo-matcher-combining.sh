#!/usr/bin/env bash
# nucleo-matcher 0.3.1 (crates.io), the fuzzy matcher of helix and other pickers: behind a combining accent, the indices of a match are
# those of bytes, unless the text has one letter beyond ASCII.
#
# `Matcher::fuzzy_indices` gives the matched letters as indices into the Utf32Str, which has one character per grapheme: "an
# accent that follows its letter" is one of them. `Utf32Str::new` keeps the first character of each grapheme, and if all of
# these are ASCII it takes the text for ASCII altogether, and returns the UTF-8 bytes of the whole: the accent's two bytes
# count as two letters. Text with decomposed accents, as some file systems keep names and some keyboards type them, is
# often of that kind. A picker marks the wrong letters, and `len()` is too large.
#
# One precomposed letter anywhere in the text, even behind the match, turns the same indices into the documented ones.
#
# Seen, for the pattern "bar":
#   "cafe bar": length 8, indices [5, 6, 7]
#   "cafe<accent> bar": length 10, indices [7, 8, 9]
#   "cafe<accent> bar ö": length 10, indices [5, 6, 7]
#
# Exits with 1 if that changes. Needs cargo.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir src
cat >Cargo.toml <<'TOML'
[package]
name = "marks"
version = "0.0.0"
edition = "2021"
[dependencies]
nucleo-matcher = "=0.3.1"
TOML
cat >src/main.rs <<'RUST'
use nucleo_matcher::{Config, Matcher, Utf32Str};

fn main() {
    let mut matcher = Matcher::new(Config::DEFAULT);
    for text in ["cafe bar", "cafe\u{301} bar", "cafe\u{301} bar ö"] {
        let (mut letters, mut pattern, mut indices) = (Vec::new(), Vec::new(), Vec::new());
        let letters = Utf32Str::new(text, &mut letters);
        matcher.fuzzy_indices(letters, Utf32Str::new("bar", &mut pattern), &mut indices);
        println!("\"{}\": length {}, indices {indices:?}", text.replace('\u{301}', "<accent>"), letters.len());
    }
}
RUST
seen=$(CARGO_TARGET_DIR="$work/target" cargo run --quiet)
printf '%s\n' "$seen"
expected='"cafe bar": length 8, indices [5, 6, 7]
"cafe<accent> bar": length 10, indices [7, 8, 9]
"cafe<accent> bar ö": length 10, indices [5, 6, 7]'
[ "$seen" = "$expected" ] || { echo "the letters are counted in another way now" >&2; exit 1; }
