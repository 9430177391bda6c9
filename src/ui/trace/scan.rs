//! Scans of a whole trace: search, filter, errors and warnings. They run on copies of the trace on worker threads,
//! because they read spilled blocks from disk.

use super::Trace;
use super::blocks::Block;
use crate::ui::search::{Found, MAX_MATCHES, Match, MultilineRegex};
use regex::bytes::Regex as Bytes;
use regex::{Regex, RegexBuilder};
use std::sync::{Arc, LazyLock};

/// Maximum number of lines in a filter result.
pub const MAX_FILTERED_LINES: usize = 1_000_000;

/// Maximum compiled size in bytes of one configured expression.
const MAX_COMPILED: usize = 10 << 20;

/// The built-in pattern of errors: words that compilers, test runners and shells print, with or without colors between
/// them. Every branch begins with plain letters, so that the search can skip quickly.
static ERRORS: LazyLock<Option<Bytes>> = LazyLock::new(|| {
    Bytes::new(
        r"(?x-u)
        [eE]rror (?:\x1b\[[0-9;]*m)* (?:\[[A-Z]?[0-9]+\])? (?:\x1b\[[0-9;]*m)* :
        | ERROR\b | FAILED\b | FAIL: | panicked\ at\b | [fF]atal (?:\x1b\[[0-9;]*m)* : | FATAL\b
        | Traceback\ \(most | npm\ ERR! | Segmentation\ fault\b | Exception\ in\ thread\b | Job\ failed\b",
    )
    .ok()
});

/// The built-in pattern of warnings.
static WARNINGS: LazyLock<Option<Bytes>> = LazyLock::new(|| {
    Bytes::new(
        r"(?x-u)
        [wW]arning (?:\x1b\[[0-9;]*m)* (?:\[[^\]\n]{1,40}\])? (?:\x1b\[[0-9;]*m)* :
        | WARN(?:ING)?\b | [dD]eprecated\b | npm\ warn\b",
    )
    .ok()
});

/// A pattern that matches lines reporting a problem.
#[derive(Clone, Debug, Default)]
pub struct Pattern {
    /// The user's expression, matched against the text as shown.
    custom: Option<(Regex, MultilineRegex)>,
    /// The pattern used without a custom one.
    built_in: BuiltIn,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum BuiltIn {
    #[default]
    Errors,
    Warnings,
}

/// The patterns of errors and warnings.
#[derive(Clone, Debug)]
pub struct Patterns {
    pub errors: Pattern,
    pub warnings: Pattern,
}

impl Default for Patterns {
    fn default() -> Patterns {
        Patterns { errors: Pattern::default(), warnings: Pattern { custom: None, built_in: BuiltIn::Warnings } }
    }
}

impl Patterns {
    /// Compiles the user's expressions, any of which may match. Without expressions, the built-in patterns are used.
    ///
    /// # Errors
    ///
    /// Returns the invalid expression and the reason.
    pub fn new(errors: &[String], warnings: &[String]) -> Result<Patterns, (String, String)> {
        let compile = |all: &[String]| -> Result<Option<(Regex, MultilineRegex)>, (String, String)> {
            let build = |one: &str, size: usize| {
                let shown = RegexBuilder::new(one).size_limit(size).build().map_err(|why| match why {
                    regex::Error::CompiledTooBig(_) => "expression too large".to_owned(),
                    other => other.to_string(),
                })?;
                Ok((shown, MultilineRegex::new(one, false, size).ok_or("expression too large")?))
            };
            for one in all {
                build(one, MAX_COMPILED).map_err(|why: String| (one.clone(), why))?;
            }
            let Some(last) = all.last() else { return Ok(None) };
            let joined = all.iter().map(|one| format!("(?:{one})")).collect::<Vec<_>>().join("|");
            // The joined expression may be as large as all of them together, plus one share for joining them.
            let built = build(&joined, MAX_COMPILED.saturating_mul(all.len() + 1));
            built.map(Some).map_err(|why| (last.clone(), format!("combined with the previous expressions: {why}")))
        };
        let defaults = Patterns::default();
        Ok(Patterns {
            errors: Pattern { custom: compile(errors)?, ..defaults.errors },
            warnings: Pattern { custom: compile(warnings)?, ..defaults.warnings },
        })
    }
}

/// Returns the offsets at which a built-in pattern matches.
fn hits<'a>(pattern: Option<&'a Bytes>, bytes: &'a [u8]) -> impl Iterator<Item = usize> + 'a {
    let hits = pattern.map(|pattern| pattern.find_iter(bytes).map(|hit| hit.start()));
    hits.into_iter().flatten().filter(|at| begins_word(bytes.get(..*at).unwrap_or_default()))
}

/// Returns whether a word starts after `before`: false within `stderror:`, but true after an escape sequence that sets
/// a color.
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
    /// Returns whether the pattern matches a line as shown.
    pub fn is_match(&self, words: &str) -> bool {
        match (&self.custom, self.built_in) {
            (Some((custom, _)), _) => custom.is_match(words),
            (None, BuiltIn::Errors) => hits(ERRORS.as_ref(), words.as_bytes()).next().is_some(),
            (None, BuiltIn::Warnings) => hits(WARNINGS.as_ref(), words.as_bytes()).next().is_some(),
        }
    }
}

impl Trace {
    /// Visits the blocks in order, starting with the one that contains the line `from`, until `each` returns `false`.
    /// The second argument of `each` tells whether the block is still open. Blocks that cannot be read back are
    /// skipped; returns whether there were none.
    pub(super) fn each_block(&self, from: usize, mut each: impl FnMut(&Arc<Block>, bool) -> bool) -> bool {
        let first = self.closed.partition_point(|slot| slot.first <= from).saturating_sub(1);
        let mut is_whole = true;
        for slot in self.closed.iter().skip(first) {
            match slot.read(&self.shared) {
                Some(block) if !each(&block, false) => return is_whole,
                Some(_) => {}
                None => is_whole = false,
            }
        }
        each(&self.open, true);
        is_whole
    }

    /// Searches all lines from `from` on for `pattern`, until `canceled` returns `true`. `found` contains the matches
    /// in earlier lines.
    pub fn search(
        &self,
        pattern: &MultilineRegex,
        from: usize,
        mut found: Found,
        canceled: &dyn Fn() -> bool,
    ) -> Found {
        if canceled() || found.capped {
            return found;
        }
        self.each_page(from, pattern.literals(), canceled, |page| {
            for (line, range) in page.matches(pattern) {
                if found.matches.len() == MAX_MATCHES {
                    found.capped = true;
                    return false;
                }
                found.matches.push(Match { line, range });
            }
            true
        });
        found
    }

    /// Appends the matching lines from `from` on to `lines`.
    pub fn filter(
        &self,
        pattern: &MultilineRegex,
        from: usize,
        mut lines: Vec<u32>,
        canceled: &dyn Fn() -> bool,
    ) -> Vec<u32> {
        self.each_page(from, pattern.literals(), canceled, |page| {
            let room = MAX_FILTERED_LINES.saturating_sub(lines.len());
            lines.extend(page.lines(pattern).take(room).filter_map(|line| u32::try_from(line).ok()));
            lines.len() < MAX_FILTERED_LINES
        });
        lines
    }

    /// Returns the lines that match `pattern`, at most `max_lines` of them.
    pub fn matching_lines(&self, pattern: &Pattern, max_lines: usize, canceled: &dyn Fn() -> bool) -> Vec<usize> {
        let mut lines = Vec::new();
        if let Some((_, custom)) = &pattern.custom {
            self.each_page(0, custom.literals(), canceled, |page| {
                let room = max_lines.saturating_sub(lines.len());
                lines.extend(page.lines(custom).take(room));
                lines.len() < max_lines
            });
            return lines;
        }
        let words = match pattern.built_in {
            BuiltIn::Errors => ERRORS.as_ref(),
            BuiltIn::Warnings => WARNINGS.as_ref(),
        };
        self.each_block(0, |block, open| {
            for hit in hits(words, &block.bytes) {
                let in_tail = open && hit >= self.tail && self.tail_shown;
                let line = if in_tail { self.ended() } else { block.first + block.line_at(hit) };
                // A continuation line may match again under the same number.
                if lines.last().is_none_or(|last| *last < line) {
                    lines.push(line);
                }
                if lines.len() >= max_lines {
                    return false;
                }
            }
            !canceled()
        });
        lines
    }

    /// Returns the text of a line, from memory or from disk.
    pub fn read_text(&self, line: usize) -> Option<String> {
        let read = |slot: &Arc<super::Slot>| {
            let block = slot.read(&self.shared)?;
            let parts = self.parts(&block, false, line)?;
            Some(self.shown(&block, line, &parts))
        };
        self.text(line).or_else(|| self.slot_of(line).and_then(read))
    }

    /// Returns the text of all lines for another program, up to `max_bytes` bytes, and whether it is complete.
    pub fn plain(&self, max_bytes: usize, canceled: &dyn Fn() -> bool) -> (String, bool) {
        let mut out = String::new();
        let mut whole = true;
        let is_read = self.each_page(0, None, canceled, |page| {
            page.texts().all(|text| {
                whole = out.len() + text.len() < max_bytes;
                if whole {
                    out.push_str(text);
                    out.push('\n');
                }
                whole
            })
        });
        (out, whole && is_read)
    }
}
