//! Looking through all of a trace: searches, lines that match, errors and warnings. For copies of it, off the loop: blocks
//! that are away are read as they come.

use super::Trace;
use super::blocks::Block;
use crate::ui::search::{Across, Found, MATCHES, Match};
use regex::bytes::Regex as Bytes;
use regex::{Regex, RegexBuilder};
use std::sync::{Arc, LazyLock};

/// Lines that one filter keeps.
pub const FILTERED: usize = 1_000_000;

/// Bytes that the automaton of one configured expression takes at most.
const OWN: usize = 10 << 20;

/// What is looked for as an error: the words that compilers, test runners and shells print, colors between them or not.
/// Every branch begins with plain letters, by which the search skips what cannot match.
static ERRORS: LazyLock<Option<Bytes>> = LazyLock::new(|| {
    Bytes::new(
        r"(?x-u)
        [eE]rror (?:\x1b\[[0-9;]*m)* (?:\[[A-Z]?[0-9]+\])? (?:\x1b\[[0-9;]*m)* :
        | ERROR\b | FAILED\b | FAIL: | panicked\ at\b | [fF]atal (?:\x1b\[[0-9;]*m)* : | FATAL\b
        | Traceback\ \(most | npm\ ERR! | Segmentation\ fault\b | Exception\ in\ thread\b | Job\ failed\b",
    )
    .ok()
});

/// What is looked for as a warning.
static WARNINGS: LazyLock<Option<Bytes>> = LazyLock::new(|| {
    Bytes::new(
        r"(?x-u)
        [wW]arning (?:\x1b\[[0-9;]*m)* (?:\[[^\]\n]{1,40}\])? (?:\x1b\[[0-9;]*m)* :
        | WARN(?:ING)?\b | [dD]eprecated\b | npm\ warn\b",
    )
    .ok()
});

/// Which lines look like trouble.
#[derive(Clone, Debug, Default)]
pub struct Pattern {
    /// The user's own expression, which is looked for in what is shown.
    own: Option<(Regex, Across)>,
    /// What is looked for where there is none.
    usual: Statistics,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Statistics {
    #[default]
    Errors,
    Warnings,
}

/// What counts as an error, and what as a warning.
#[derive(Clone, Debug)]
pub struct Patterns {
    pub errors: Pattern,
    pub warnings: Pattern,
}

impl Default for Patterns {
    fn default() -> Patterns {
        Patterns { errors: Pattern::default(), warnings: Pattern { own: None, usual: Statistics::Warnings } }
    }
}

impl Patterns {
    /// With the user's own expressions, if any; any of them may match.
    ///
    /// # Errors
    /// The expression that cannot be read, and why.
    pub fn new(errors: &[String], warnings: &[String]) -> Result<Patterns, (String, String)> {
        let own = |all: &[String]| -> Result<Option<(Regex, Across)>, (String, String)> {
            let build = |one: &str, size: usize| {
                let shown = RegexBuilder::new(one).size_limit(size).build().map_err(|why| match why {
                    regex::Error::CompiledTooBig(_) => "it is too large".to_owned(),
                    other => other.to_string(),
                })?;
                Ok((shown, Across::new(one, false, size).ok_or("it is too large")?))
            };
            for one in all {
                build(one, OWN).map_err(|why: String| (one.clone(), why))?;
            }
            let Some(last) = all.last() else { return Ok(None) };
            let joined = all.iter().map(|one| format!("(?:{one})")).collect::<Vec<_>>().join("|");
            // All of them together take what each may take, and what joins them.
            let built = build(&joined, OWN.saturating_mul(all.len() + 1));
            built.map(Some).map_err(|why| (last.clone(), format!("with those before it, {why}")))
        };
        let usual = Patterns::default();
        Ok(Patterns {
            errors: Pattern { own: own(errors)?, ..usual.errors },
            warnings: Pattern { own: own(warnings)?, ..usual.warnings },
        })
    }
}

/// Returns where the usual words are in some bytes.
fn hits<'a>(words: Option<&'a Bytes>, bytes: &'a [u8]) -> impl Iterator<Item = usize> + 'a {
    let hits = words.map(|words| words.find_iter(bytes).map(|hit| hit.start()));
    hits.into_iter().flatten().filter(|at| begins_word(bytes.get(..*at).unwrap_or_default()))
}

/// Returns whether a word begins behind `before`: `stderror:` is none, an `error:` behind a color is.
fn begins_word(before: &[u8]) -> bool {
    let digits = |c: &u8| c.is_ascii_digit() || *c == b';';
    match before.split_last() {
        Some((b'm', color)) => {
            let kept = color.len() - color.iter().rev().take(32).take_while(|c| digits(c)).count();
            color.get(..kept).is_some_and(|rest| rest.ends_with(b"\x1b["))
        }
        Some((last, _)) => !(last.is_ascii_alphanumeric() || *last == b'_'),
        None => true,
    }
}

impl Pattern {
    /// Returns whether a text on the screen looks like it.
    pub fn is_match(&self, words: &str) -> bool {
        match (&self.own, self.usual) {
            (Some((own, _)), _) => own.is_match(words),
            (None, Statistics::Errors) => hits(ERRORS.as_ref(), words.as_bytes()).next().is_some(),
            (None, Statistics::Warnings) => hits(WARNINGS.as_ref(), words.as_bytes()).next().is_some(),
        }
    }
}

impl Trace {
    /// Every block with its lines, in order, from the one that holds `from` on.
    pub(super) fn each_block(&self, from: usize, mut each: impl FnMut(&Arc<Block>, bool) -> bool) {
        let first = self.closed.partition_point(|slot| slot.first <= from).saturating_sub(1);
        for slot in self.closed.iter().skip(first) {
            if let Some(block) = slot.read(&self.stock)
                && !each(&block, false)
            {
                return;
            }
        }
        each(&self.open, true);
    }

    /// Looks for `pattern` in the text of every line, until `canceled` says so. What is known of the lines before `from`
    /// is `found`.
    pub fn search(&self, pattern: &Across, from: usize, mut found: Found, canceled: &dyn Fn() -> bool) -> Found {
        if canceled() || found.capped {
            return found;
        }
        self.each_page(from, canceled, |page| {
            for (line, range) in page.matches(pattern) {
                if found.matches.len() == MATCHES {
                    found.capped = true;
                    return false;
                }
                found.matches.push(Match { line, range });
            }
            true
        });
        found
    }

    /// The lines from `from` on whose text matches, behind those in `lines`.
    pub fn filter(&self, pattern: &Across, from: usize, mut lines: Vec<u32>, canceled: &dyn Fn() -> bool) -> Vec<u32> {
        self.each_page(from, canceled, |page| {
            let room = FILTERED.saturating_sub(lines.len());
            lines.extend(page.lines(pattern).take(room).filter_map(|line| u32::try_from(line).ok()));
            lines.len() < FILTERED
        });
        lines
    }

    /// The lines that look like `pattern`, `most` of them at most.
    pub fn troubled(&self, pattern: &Pattern, most: usize, canceled: &dyn Fn() -> bool) -> Vec<usize> {
        let mut lines = Vec::new();
        if let Some((_, own)) = &pattern.own {
            self.each_page(0, canceled, |page| {
                let room = most.saturating_sub(lines.len());
                lines.extend(page.lines(own).take(room));
                lines.len() < most
            });
            return lines;
        }
        let words = match pattern.usual {
            Statistics::Errors => ERRORS.as_ref(),
            Statistics::Warnings => WARNINGS.as_ref(),
        };
        self.each_block(0, |block, open| {
            for hit in hits(words, &block.bytes) {
                let in_tail = open && hit >= self.tail && self.tail_shown;
                let line = if in_tail { self.ended() } else { block.first + block.line_at(hit) };
                // A line that goes on from another may be found again under the same number.
                if lines.last().is_none_or(|last| *last < line) {
                    lines.push(line);
                }
                if lines.len() >= most {
                    return false;
                }
            }
            !canceled()
        });
        lines
    }

    /// The text of a line, from wherever it is.
    pub fn read_text(&self, line: usize) -> Option<String> {
        let read = |slot: &Arc<super::Slot>| {
            let block = slot.read(&self.stock)?;
            let parts = self.parts(&block, false, line)?;
            Some(self.shown(line, &parts))
        };
        self.text(line).or_else(|| self.slot_of(line).and_then(read))
    }

    /// The text of all lines, for other programs; up to `most` bytes, and whether that was all.
    pub fn plain(&self, most: usize, canceled: &dyn Fn() -> bool) -> (String, bool) {
        let mut out = String::new();
        let mut whole = true;
        self.each_page(0, canceled, |page| {
            page.texts().all(|text| {
                whole = out.len() + text.len() < most;
                if whole {
                    out.push_str(text);
                    out.push('\n');
                }
                whole
            })
        });
        (out, whole)
    }
}
