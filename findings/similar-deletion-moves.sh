#!/usr/bin/env bash
# similar 3.2.1 (crates.io), Myers: where a deletion among equal lines is reported depends on an unrelated change.
#
# Old text: x a b b b c. New text: x a b b c. similar reports the LAST b as deleted (index 4), as git 2.x does.
# If x is changed to Z as well, the very same deletion is reported as the FIRST b (index 2); git still says the last one.
# `git diff` slides every change to one end of a run of equal lines, so the answer does not depend on its surroundings.
#
# It matters where two diffs against one base are combined, as in a three-way merge: if both sides delete one b and one
# side also changes x, the deletions are taken for two different ones, and the merge deletes two lines where
# `git merge-file` deletes one.
#
# Seen: "same: 4..5" and "with another change: 2..3". Exits with 1 if that changes. Needs cargo and git.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/src"
cat >"$work/Cargo.toml" <<'TOML'
[package]
name = "deletion"
version = "0.0.0"
edition = "2021"
[dependencies]
similar = "=3.2.1"
TOML
cat >"$work/src/main.rs" <<'RUST'
use similar::{capture_diff_slices, Algorithm, DiffTag};

fn deleted(new: &[&str]) -> String {
    let old = ["x", "a", "b", "b", "b", "c"];
    let all = capture_diff_slices(Algorithm::Myers, &old, new);
    let one = all.into_iter().find(|op| op.tag() == DiffTag::Delete);
    one.map(|op| format!("{:?}", op.old_range())).unwrap_or_default()
}

fn main() {
    println!("same: {}", deleted(&["x", "a", "b", "b", "c"]));
    println!("with another change: {}", deleted(&["Z", "a", "b", "b", "c"]));
}
RUST
seen=$(cargo run --quiet --manifest-path "$work/Cargo.toml")
printf '%s\n' "$seen"
[ "$seen" = $'same: 4..5\nwith another change: 2..3' ] || { echo "similar behaves differently now" >&2; exit 1; }

cd "$work"
printf '%s\n' x a b b b c >old
printf '%s\n' x a b b c >one
printf '%s\n' Z a b b c >two
for new in one two; do
  # The line after the deleted one is c: the last b was deleted. (git diff exits with 1 where files differ.)
  after=$({ git diff --no-index --no-color -U1 old "$new" || true; } | grep -A1 '^-b' | tail -n 1)
  [ "$after" = ' c' ] || { echo "git reports another line for $new" >&2; exit 1; }
done
[ "$(git merge-file -p one old two | tr '\n' ' ')" = 'Z a b b c ' ] || { echo "git merges differently" >&2; exit 1; }
echo "git: the last b both times, and one deletion when merged"
