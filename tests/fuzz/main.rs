//! Fuzz tests of all code that parses foreign input: every input is parsed or rejected, the result can be drawn, and
//! the memory used is proportional to the size of the input, and the time is bounded.
//!
//! The random numbers are seeded; a failure prints its shortest input.

#[path = "../support/cost.rs"]
mod cost;
#[path = "../support/dice.rs"]
mod dice;
#[path = "../support/mutate.rs"]
mod mutate;
mod readers;
#[path = "../support/sample.rs"]
mod sample;

use cost::cost;
use dice::Dice;
use labscope::ui::code::{Budget, Language, MAX_LINE_BYTES, highlight_lines};
use readers::{READERS, Reader};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// The default number of inputs per reader.
const ROUNDS: usize = 150;
/// The bytes that a reader may allocate even for the shortest input, for tables that are built once.
const SPARE: usize = 4 << 20;

/// The time of the processor that a reader may take for one input, all of which are short. Some first build tables.
const MAX_TIME: Duration = Duration::from_secs(2);

/// Feeds an input to a reader and returns the problem, if any.
fn wrong(reader: &Reader, bytes: &[u8]) -> Option<String> {
    let (read, cost) = cost(|| catch_unwind(AssertUnwindSafe(|| (reader.read)(bytes))));
    match read {
        Err(panic) => {
            let words = panic.downcast_ref::<String>().cloned();
            let words = words.or_else(|| panic.downcast_ref::<&str>().map(|words| (*words).to_owned()));
            Some(format!("it panics: {}", words.unwrap_or_default()))
        }
        Ok(Err(why)) => Some(why),
        Ok(Ok(())) if cost.allocated > SPARE + reader.cost * bytes.len() => {
            let (len, all, peak) = (bytes.len(), cost.allocated, cost.peak);
            Some(format!("{len} bytes take {all} bytes of memory in all, and {peak} at once"))
        }
        Ok(Ok(())) if cost.cpu > MAX_TIME => Some(format!("{} bytes take {:?}", bytes.len(), cost.cpu)),
        Ok(Ok(())) => None,
    }
}

fn rounds() -> usize {
    sample::length(ROUNDS)
}

/// Returns the shortest input found by removing pieces of `bytes` while it still `fails`.
fn shrink(bytes: &[u8], fails: impl Fn(&[u8]) -> bool) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let mut piece = bytes.len() / 2;
    while piece > 0 {
        let mut at = 0;
        while at < bytes.len() {
            let shorter = [&bytes[..at], &bytes[(at + piece).min(bytes.len())..]].concat();
            if fails(&shorter) {
                bytes = shorter;
            } else {
                at += piece;
            }
        }
        piece /= 2;
    }
    bytes
}

/// Tests one reader.
fn feed(name: &str) {
    let reader = READERS.iter().find(|reader| reader.name == name).expect("a reader of that name");
    let seeds: Vec<Vec<u8>> = (reader.seeds)();
    for (at, seed) in seeds.iter().enumerate() {
        assert_eq!(wrong(reader, seed), None, "the well-formed input {at} of {name}");
    }
    let mut dice = Dice(reader.name.bytes().map(u64::from).sum());
    for round in 0..rounds() {
        let bytes = mutate::input(&mut dice, &seeds, reader.words);
        if let Some(why) = wrong(reader, &bytes) {
            let shortest = shrink(&bytes, |bytes| wrong(reader, bytes).is_some());
            let why = wrong(reader, &shortest).unwrap_or(why);
            panic!("{name}, round {round}: {why}\nof b\"{}\"", shortest.escape_ascii());
        }
    }
}

/// Declares one test per reader.
macro_rules! feeds {
    ($($name:ident),* $(,)?) => {
        $(#[test] fn $name() { feed(stringify!($name)); })*

        #[test]
        fn every_reader_has_a_test() {
            let names: Vec<&str> = READERS.iter().map(|reader| reader.name).collect();
            assert_eq!(names, [$(stringify!($name)),*]);
        }
    };
}

feeds! {
    lines_of_a_trace, traces_in_pieces, diffs, markdown, tables, encodings, highlighted_code, changed_words, sanitizing,
    targets, queries, dates, remotes, servers, config, settings_of_glab, themes, state_files, drafts, positions_in_notes,
    sign_ins, archives, test_reports, line_reports, public_keys, links_to_pages, forms, multipart_forms, worlds, scripts, pictures,
    patterns, keys,
}

/// The time of the processor that a line of code may take to highlight once the language's regexes are compiled.
const MAX_LINE_TIME: Duration = Duration::from_millis(400);

/// Lines of a repeated text make many regexes try an exponential or cubic number of ways to match.
#[test]
fn no_line_of_code_takes_long_to_highlight_in_any_language() {
    let known = ["a-", "((a ", "x:y;", " ", "a(", "*", "\\"];
    let pieces = [
        "a", "0", "-", "_", ".", ":", "(", "[", "{", "<", "\"", "'", "`", "/", "\\", "=", ",", "#", "$", "@", " ", "\t",
    ];
    let mut dice = Dice(1);
    for language in Language::all() {
        let highlight = |line: &str| _ = highlight_lines(language, std::iter::once(line), &Budget::new(&|| false));
        let random = (0..rounds() / 75).map(|_| {
            let length = 1 + dice.below(4);
            (0..length).map(|_| pieces[dice.below(pieces.len())]).collect::<String>()
        });
        for unit in known.iter().map(|unit| (*unit).to_owned()).chain(random.collect::<Vec<_>>()) {
            let line: String = unit.chars().cycle().take(MAX_LINE_BYTES).collect();
            highlight(&line[..unit.len().min(64)]);
            let ((), cost) = cost(|| highlight(&line));
            assert!(cost.cpu < MAX_LINE_TIME, "{} of {unit:?}: {:?}", language.name(), cost.cpu);
        }
    }
}

/// Planted defects that the fuzzer must find, to prove that it works.
mod planted {
    use super::*;

    fn reader(read: fn(&[u8]) -> Result<(), String>) -> Reader {
        Reader { name: "planted", seeds: || vec![b"count=12".to_vec()], words: &["count="], cost: 100, read }
    }

    /// Returns the first defect found, and the shortest input that triggers it.
    fn found(reader: &Reader) -> (String, Vec<u8>) {
        let (mut dice, seeds) = (Dice(1), (reader.seeds)());
        for _ in 0..2_000 {
            let bytes = mutate::input(&mut dice, &seeds, reader.words);
            if let Some(why) = wrong(reader, &bytes) {
                return (why, shrink(&bytes, |bytes| wrong(reader, bytes).is_some()));
            }
        }
        panic!("nothing was found in 2,000 rounds");
    }

    #[test]
    fn an_integer_overflow_is_found() {
        let (why, bytes) = found(&reader(|bytes| {
            let text = String::from_utf8_lossy(bytes);
            let digits = text.split("count=").nth(1).unwrap_or_default();
            let digits: String = digits.chars().take_while(char::is_ascii_digit).collect();
            if !digits.is_empty() {
                let _: u64 = digits.parse().expect("a number");
            }
            Ok(())
        }));
        assert!(why.contains("it panics: a number"), "{why}");
        assert_eq!(bytes.len(), "count=18446744073709551616".len(), "{}", bytes.escape_ascii());
    }

    #[test]
    fn endless_work_is_found() {
        let slow = reader(|bytes| {
            let (mut steps, mut time) = (0_u64, Duration::ZERO);
            while bytes.starts_with(b"a-a-") && time <= MAX_TIME {
                let ((), cost) =
                    cost(|| (0..1_000_000_u64).for_each(|step| steps = std::hint::black_box(steps ^ step)));
                time += cost.cpu;
            }
            Ok(())
        });
        assert_eq!(wrong(&slow, b"a-b"), None);
        assert!(wrong(&slow, b"a-a-a").is_some_and(|why| why.starts_with("5 bytes take ")));
    }

    #[test]
    fn quadratic_memory_is_found() {
        let (why, _) = found(&reader(|bytes| {
            let lines = bytes.split(|byte| *byte == b'=').count();
            let copies: Vec<Vec<u8>> = (0..lines).map(|_| bytes.to_vec()).collect();
            if copies.len() == usize::MAX { Err("never".into()) } else { Ok(()) }
        }));
        assert!(why.contains("of memory in all"), "{why}");
    }

    #[test]
    fn an_unsanitized_escape_is_found() {
        let (why, bytes) = found(&reader(|bytes| readers::calm(&String::from_utf8_lossy(bytes))));
        assert!(why.contains("would reach the terminal"), "{why}");
        assert_eq!(bytes.len(), 1, "{}", bytes.escape_ascii());
    }
}
