//! The part of an exhaustive test that a run covers, another one each day, and the length of random tests.
//!
//! `LABSCOPE_SAMPLE=all` covers everything in one run. A failed test prints the number of its sample, which
//! `LABSCOPE_SAMPLE` repeats. `LABSCOPE_LENGTH=10` makes random tests ten times as long.

// Each kind of test uses only a part of this file.
#![allow(dead_code)]

use std::env;
use std::time::{SystemTime, UNIX_EPOCH};

const SECONDS_PER_DAY: u64 = 24 * 60 * 60;

/// One part of the cases of a test; the other parts follow on the next days.
#[derive(Clone, Copy)]
pub struct Sample {
    parts: usize,
    number: usize,
}

impl Sample {
    /// Returns today's sample of one case in `parts`. As many days cover everything.
    pub fn one_in(parts: usize) -> Sample {
        let asked = env::var("LABSCOPE_SAMPLE").unwrap_or_default();
        if asked == "all" {
            return Sample { parts: 1, number: 0 };
        }
        let today = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs() / SECONDS_PER_DAY);
        let number = asked.parse().unwrap_or(today as usize);
        println!("LABSCOPE_SAMPLE={number}");
        Sample { parts, number }
    }

    /// Returns whether the sample contains the case of this number.
    pub fn has(&self, case: usize) -> bool {
        (case + self.number).is_multiple_of(self.parts)
    }

    /// Returns the cases that the sample contains.
    pub fn of<T>(self, cases: impl IntoIterator<Item = T>) -> impl Iterator<Item = T> {
        cases.into_iter().enumerate().filter(move |(case, _)| self.has(*case)).map(|(_, value)| value)
    }
}

/// Returns the number of rounds of a random test that usually has `usual`.
pub fn length(usual: usize) -> usize {
    usual * env::var("LABSCOPE_LENGTH").ok().and_then(|factor| factor.parse().ok()).unwrap_or(1)
}
