//! Random numbers from a seed, so that failures are reproducible.

// Each kind of test uses only a part of this file.
#![allow(dead_code)]

/// A random number generator (splitmix64).
pub struct Dice(pub u64);

impl Dice {
    /// Returns a random number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a random number below `sides`.
    pub fn below(&mut self, sides: usize) -> usize {
        (self.number() % sides.max(1) as u64) as usize
    }

    /// Returns a random element of `all`.
    pub fn pick<'a, T: ?Sized>(&mut self, all: &[&'a T]) -> &'a T {
        all[self.below(all.len())]
    }

    /// Returns random bytes, at least `len`; most of them are taken from `likely`.
    pub fn bytes(&mut self, len: usize, likely: &[&[u8]]) -> Vec<u8> {
        let mut bytes = Vec::new();
        while bytes.len() < len {
            if likely.is_empty() || self.below(4) == 0 {
                bytes.push(self.number() as u8);
            } else {
                bytes.extend_from_slice(self.pick(likely));
            }
        }
        bytes
    }
}
