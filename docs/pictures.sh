#!/usr/bin/env bash
# Draws the pictures of docs/tour.md: the program itself, in a terminal, in its demo world. Needs what the tests need.
set -euo pipefail
cd "$(dirname "$0")/.."
UPDATE_PICTURES=1 cargo test --locked --test terminal pictures
