//! Random inputs: well-formed seeds changed in a few places.

use crate::dice::Dice;

/// The maximum size of an input in bytes.
pub const MOST: usize = 32 * 1024;

/// Bytes with a special meaning in some format.
const BYTES: &[u8] = b"\0\x01\t\n\r\x1b \"'`*_#<>[](){}|\\/:;,.-+=@!?&%$~^0129\x7f\x80\x9b\xc0\xe2\xf0\xff";
/// Inputs that parsers of any kind often get wrong.
const WORDS: &[&[u8]] = &[
    b"18446744073709551616",
    b"18446744073709551615",
    b"4294967296",
    b"-9223372036854775809",
    b"-1",
    b"0",
    b"1e400",
    b"NaN",
    b"\r\n",
    b"\n\n",
    b"\x1b[31m",
    b"\x1b]8;;http://x\x07",
    b"\x1b[2J",
    b"\x1b[",
    "\u{202e}".as_bytes(),
    "\u{200b}".as_bytes(),
    "e\u{301}\u{301}\u{301}".as_bytes(),
    "👨‍👩‍👧".as_bytes(),
    "表".as_bytes(),
    "\u{feff}".as_bytes(),
    b"\xff\xfe",
    b"%2e%2e%2f",
    b"../../",
];

/// Builds an input from one of `seeds`, or from nothing, with pieces of the other seeds and of `words`.
pub fn input(dice: &mut Dice, seeds: &[Vec<u8>], words: &[&str]) -> Vec<u8> {
    let mut bytes = match dice.below(seeds.len() + 1) {
        0 => Vec::new(),
        at => seeds[at - 1].clone(),
    };
    bytes.truncate(MOST);
    for _ in 0..=dice.below(8) {
        change(dice, &mut bytes, seeds, words);
        bytes.truncate(MOST);
    }
    bytes
}

fn change(dice: &mut Dice, bytes: &mut Vec<u8>, seeds: &[Vec<u8>], words: &[&str]) {
    let at = dice.below(bytes.len() + 1);
    let end = at + dice.below((bytes.len() - at).min(64) + 1);
    match dice.below(9) {
        0 if at < bytes.len() => bytes[at] ^= 1 << dice.below(8),
        1 if at < bytes.len() => bytes[at] = BYTES[dice.below(BYTES.len())],
        2 => drop(bytes.drain(at..end)),
        3 => insert(bytes, at, WORDS[dice.below(WORDS.len())]),
        4 | 5 if !words.is_empty() => insert(bytes, at, dice.pick(words).as_bytes()),
        6 => {
            let piece = bytes[at..end].to_vec();
            insert(bytes, at, &piece.repeat(1 << dice.below(8)));
        }
        7 if !seeds.is_empty() => {
            let other = &seeds[dice.below(seeds.len())];
            let from = dice.below(other.len() + 1);
            insert(bytes, at, &other[from..(from + dice.below(200)).min(other.len())]);
        }
        _ => bytes.truncate(at),
    }
}

fn insert(bytes: &mut Vec<u8>, at: usize, piece: &[u8]) {
    bytes.splice(at..at, piece.iter().copied());
}
