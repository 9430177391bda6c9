//! Benchmarks the time that hostile bytes cost: an input against one eight times as large.
//!
//! Uses the same readers as `cargo test --test fuzz`, which bounds their memory.

#[allow(dead_code, reason = "memory is bounded by the tests")]
#[path = "../tests/fuzz/readers.rs"]
mod readers;

use crate::support;
use crate::support::Table;
use readers::READERS;
use std::hint::black_box;

/// The size of the small input in bytes, and the factor by which the large one is larger.
const BYTES: usize = 2 * 1024;
const TIMES: usize = 8;

pub fn run(_: &[String]) {
    let mut table = Table::new("eight times as much input", &["reader", "8 parts µs", "whole µs", "ratio", "limit"]);
    for reader in READERS {
        let seeds = (reader.seeds)();
        let words = reader.words.iter().map(|word| word.as_bytes().to_vec());
        // Repeats each well-formed input and each word.
        for (at, unit) in seeds.into_iter().chain(words).enumerate() {
            let small = unit.repeat(BYTES.div_ceil(unit.len()));
            let large = small.repeat(TIMES);
            let of = |bytes: &[u8]| support::median(3, || _ = black_box((reader.read)(bytes)));
            let pair = (TIMES as f64 * of(&small), of(&large));
            // Ratios of very short times are noise.
            if pair.1 > 2_000.0 {
                let what = String::from_utf8_lossy(&unit).chars().take(12).collect::<String>();
                table.ratio(&format!("{} {at} {}", reader.name, what.escape_debug()), pair, 3.0);
            }
        }
    }
    table.print();
}
