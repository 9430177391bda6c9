#!/usr/bin/env bash
# Draws the pictures of docs/tour.md, and the moving one of README.md: the program itself, in a terminal, in its demo
# world. Needs what the tests need. UPDATE_PICTURES=NAME instead of 1 draws one picture: labscope is the moving one.
set -euo pipefail
cd "$(dirname "$0")/.."
UPDATE_PICTURES="${UPDATE_PICTURES:-1}" cargo test --locked --test terminal -- pictures movie
