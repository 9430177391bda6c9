//! Scans of a whole trace: search, filter, errors and warnings. They run on copies of the trace on worker threads,
//! because they read spilled blocks from disk.

use super::Trace;
use super::blocks::Block;
use super::forms::{ERROR_FORMS, Forms, WARNING_FORMS, Weight};
use crate::search::{MAX_MATCHES, Match, Matches, MultilineRegex};
use regex::{Regex, RegexBuilder};
use std::sync::Arc;

/// Maximum number of lines in a filter result.
pub const MAX_FILTERED_LINES: usize = 1_000_000;

/// Maximum compiled size in bytes of one configured expression.
const MAX_COMPILED: usize = 10 << 20;

/// A pattern that matches lines reporting a problem.
#[derive(Clone, Debug, Default)]
pub struct Pattern {
    /// The user's expressions, matched against the text as shown.
    custom: Option<(Regex, MultilineRegex)>,
    built_in: BuiltIn,
}

/// The forms that match besides the user's expressions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum BuiltIn {
    #[default]
    Errors,
    Warnings,
}

impl BuiltIn {
    fn forms(self) -> &'static Forms {
        match self {
            BuiltIn::Errors => &ERROR_FORMS,
            BuiltIn::Warnings => &WARNING_FORMS,
        }
    }
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

/// The lines that match a pattern.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MatchingLines {
    /// The lines in order: reasons if there are any, otherwise hints.
    pub lines: Vec<usize>,
    /// The hints, if there are reasons.
    pub hints: Vec<usize>,
    /// Whether they are only hints, see [`Weight::Hint`].
    pub are_hints: bool,
}

impl Patterns {
    /// Compiles the user's expressions, any of which may match besides the built-in forms.
    ///
    /// # Errors
    ///
    /// Returns the invalid expression and the reason.
    pub fn new(errors: &[String], warnings: &[String]) -> Result<Patterns, (String, String)> {
        let compile = |all: &[String]| -> Result<Option<(Regex, MultilineRegex)>, (String, String)> {
            let build = |one: &str, size: usize| {
                let shown = RegexBuilder::new(one).size_limit(size).build().map_err(|why| match why {
                    regex::Error::CompiledTooBig(_) => "expression too large".to_owned(),
                    // Above the reason, it repeats the expression and points into it.
                    other => other.to_string().rsplit("error: ").next().unwrap_or_default().to_owned(),
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

impl Pattern {
    /// Returns whether the pattern matches a line as shown.
    pub fn is_match(&self, words: &str) -> bool {
        self.custom.as_ref().is_some_and(|(custom, _)| custom.is_match(words))
            || self.built_in.forms().weight(words.as_bytes()).is_some()
    }
}

impl Trace {
    /// Visits the blocks in order, starting with the one that contains the line `from`, until `each` returns `false`.
    /// The second argument of `each` tells whether the block is still open. Blocks that cannot be read back are
    /// skipped; returns whether there were none.
    pub(super) fn each_block(&self, from: usize, mut each: impl FnMut(&Arc<Block>, bool) -> bool) -> bool {
        let first = self.closed.partition_point(|block| block.first <= from).saturating_sub(1);
        let mut is_whole = true;
        for closed_block in self.closed.iter().skip(first) {
            match closed_block.read(&self.shared) {
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
        mut found: Matches,
        canceled: &dyn Fn() -> bool,
    ) -> Matches {
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

    /// Returns the lines that match `pattern`, at most `max_lines` of them. What the user's expressions match is a reason.
    pub fn matching_lines(&self, pattern: &Pattern, max_lines: usize, canceled: &dyn Fn() -> bool) -> MatchingLines {
        let (mut lines, hints) = self.lines_of(pattern.built_in.forms(), max_lines, canceled);
        if let Some((_, custom)) = &pattern.custom {
            let mut own = Vec::new();
            self.each_page(0, custom.literals(), canceled, |page| {
                let room = max_lines.saturating_sub(own.len());
                own.extend(page.lines(custom).take(room));
                own.len() < max_lines
            });
            lines.extend(own);
            lines.sort_unstable();
            lines.dedup();
            lines.truncate(max_lines);
        }
        if lines.is_empty() {
            return MatchingLines { lines: hints, hints: Vec::new(), are_hints: true };
        }
        MatchingLines { lines, hints, are_hints: false }
    }

    /// Returns the lines with one of `forms`: the reasons and the hints, at most `max_lines` of each.
    fn lines_of(&self, forms: &Forms, max_lines: usize, canceled: &dyn Fn() -> bool) -> (Vec<usize>, Vec<usize>) {
        let (mut reasons, mut hints, mut text) = (Vec::new(), Vec::new(), Vec::new());
        self.each_block(0, |block, open| {
            let mut look = |line: usize| {
                text.clear();
                self.append_line(block, open, line, &mut text);
                match forms.weight(&text) {
                    Some(Weight::Reason) => reasons.push(line),
                    Some(Weight::Hint) if hints.len() < max_lines => hints.push(line),
                    Some(Weight::Hint) | None => {}
                }
                reasons.len() < max_lines
            };
            // Before the first line of a block is no line feed, with which a candidate may begin.
            let (mut last, mut at) = (block.first, 0);
            if !look(last) {
                return false;
            }
            while let Some(found) = forms.candidate(&block.bytes, at) {
                at = found + 1;
                let byte = found + usize::from(block.bytes.get(found) == Some(&b'\n'));
                let in_tail = open && byte >= self.tail && self.tail_shown;
                let line = if in_tail { self.ended() } else { block.first + block.line_at(byte) };
                if line <= last {
                    continue;
                }
                // The bytes of a frame belong to any of its lines.
                let frame = block.frame_of(line - block.first).map_or(line, |frame| block.first + frame.first as usize);
                if !(frame.max(last + 1)..=line).all(&mut look) {
                    return false;
                }
                last = line;
                // On to the line feed before the next line.
                let end = match block.start(line + 1 - block.first) {
                    Some(next) => next,
                    None if open && !in_tail => self.tail,
                    None => block.bytes.len(),
                };
                at = at.max(end.saturating_sub(1));
            }
            !canceled()
        });
        (reasons, hints)
    }

    /// Returns the text of a line, from memory or from disk.
    pub fn read_text(&self, line: usize) -> Option<String> {
        let read = |closed_block: &Arc<super::ClosedBlock>| {
            let block = closed_block.read(&self.shared)?;
            let parts = self.parts(&block, false, line)?;
            Some(self.shown(&block, line, &parts))
        };
        self.text(line).or_else(|| self.closed_block_of(line).and_then(read))
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
