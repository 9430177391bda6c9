#!/usr/bin/env bash
# diffy 0.5.2 (crates.io): `merge` drops a deletion of one side and returns Ok, as if there were no conflict.
#
# `diffy::merge(ancestor, ours, theirs)` is documented to return Err with conflict markers where both sides changed the same
# lines. If one of several equal lines is deleted by one side, and the other side changes another of them, the result is
# the other side's text alone, with Ok: nobody is told that the deletion is gone. It does not matter which of the equal lines
# the deletion is ascribed to: if it is the changed one, that is a conflict; if not, one line less must remain. The order of
# the two sides does not matter either.
#
# The inputs are plain texts of whole lines. `git merge-file` and GNU diff3 -m are the references: three equal lines
# are merged by both to "wait, retry", two equal lines are a conflict for both. A tool that merges with this crate (drafts,
# suggestions, settings) undoes a colleague's change without a word: test a merge on repeated lines.
#
# Seen (lines joined by commas; ancestor > ours / theirs):
#   retry,retry,retry > wait,retry,retry / retry,retry: diffy Ok wait,retry,retry | git wait,retry | diff3 wait,retry
#   retry,retry,retry > retry,retry / wait,retry,retry: diffy Ok wait,retry,retry | git wait,retry | diff3 wait,retry
#   retry,retry > wait,retry / retry: diffy Ok wait,retry | git conflict | diff3 conflict
#
# Exits with 1 if that changes. Needs cargo, git and GNU diff3.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir src
cat >Cargo.toml <<'TOML'
[package]
name = "merge"
version = "0.0.0"
edition = "2021"
[dependencies]
diffy = "=0.5.2"
TOML
cat >src/main.rs <<'RUST'
fn main() {
    let [ancestor, ours, theirs] = ["ancestor", "ours", "theirs"].map(|name| std::fs::read_to_string(name).expect(name));
    match diffy::merge(&ancestor, &ours, &theirs) {
        Ok(merged) => print!("Ok {}", merged.trim_end().replace('\n', ",")),
        Err(_) => print!("conflict"),
    }
}
RUST
CARGO_TARGET_DIR="$work/target" cargo build --quiet
merged() { if text=$("$@"); then printf '%s' "$text" | tr '\n' ','; else printf 'conflict'; fi; }
show() {
  tr ',' '\n' <<<"$1" >ancestor
  tr ',' '\n' <<<"$2" >ours
  tr ',' '\n' <<<"$3" >theirs
  printf '%s > %s / %s: diffy %s | git %s | diff3 %s\n' "$1" "$2" "$3" "$(target/debug/merge)" \
    "$(merged git merge-file -p ours ancestor theirs)" "$(merged diff3 -m ours ancestor theirs)"
}
seen=$(show retry,retry,retry wait,retry,retry retry,retry
  show retry,retry,retry retry,retry wait,retry,retry
  show retry,retry wait,retry retry)
printf '%s\n' "$seen"
expected='retry,retry,retry > wait,retry,retry / retry,retry: diffy Ok wait,retry,retry | git wait,retry | diff3 wait,retry
retry,retry,retry > retry,retry / wait,retry,retry: diffy Ok wait,retry,retry | git wait,retry | diff3 wait,retry
retry,retry > wait,retry / retry: diffy Ok wait,retry | git conflict | diff3 conflict'
[ "$seen" = "$expected" ] || { echo "diffy merges in another way now" >&2; exit 1; }
