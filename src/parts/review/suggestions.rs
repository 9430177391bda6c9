//! Suggestions: blocks of a comment that propose replacements for lines, and applying them to a text.

use crate::api;
use crate::app::outbox::DiffPosition;
use crate::domain::line_edits::{self, LineEdit};
use crate::ui::{markdown, text};
use std::borrow::Cow;
use std::ops::Range;

/// A proposed replacement for lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    /// The numbers of lines above and below the commented one that are replaced, too.
    pub above: u32,
    pub below: u32,
    pub lines: Vec<String>,
}

/// Returns a code fence that these lines do not end.
fn fence(lines: &[String]) -> String {
    let longest = lines.iter().flat_map(|line| line.split(|c| c != '`')).map(str::len).max().unwrap_or(0);
    "`".repeat((longest + 1).max(3))
}

/// Returns a suggestion block with the current `lines`, to be edited; the first `above` lines precede the commented
/// one.
pub fn block(lines: &[String], above: u32) -> String {
    let fence = fence(lines);
    let range = if above == 0 { String::new() } else { format!(":-{above}+0") };
    format!("{fence}suggestion{range}\n{}\n{fence}\n", lines.join("\n"))
}

/// Returns the byte offset at which the lines of a [`block`] end.
pub fn end_of_lines(block: &str) -> usize {
    block.trim_end().rfind('\n').unwrap_or(block.len())
}

/// A suggestion in a comment, and the bytes of its block.
struct Block {
    suggestion: Suggestion,
    bytes: Range<usize>,
}

fn blocks(body: &str) -> Vec<Block> {
    let mut found = Vec::new();
    let mut at = 0;
    let mut lines = body.split_inclusive('\n').map(|line| {
        at += line.len();
        (line_edits::ending(line).0, at - line.len()..at)
    });
    while let Some((line, start)) = lines.next() {
        let ticks = line.len() - line.trim_start_matches('`').len();
        let Some(info) = line.get(ticks..).filter(|_| ticks >= 3) else { continue };
        let fence = "`".repeat(ticks);
        let mut inside = Vec::new();
        let mut closed = None;
        for (line, bytes) in lines.by_ref() {
            let end = line.trim_end();
            if end.starts_with(&fence) && end.bytes().all(|b| b == b'`') {
                closed = Some(bytes.end);
                break;
            }
            inside.push(line.to_owned());
        }
        if let (Some((above, below)), Some(end)) = (range(info.trim()), closed) {
            let suggestion = Suggestion { above, below, lines: inside };
            found.push(Block { suggestion, bytes: start.start..end });
        }
    }
    found
}

/// Parses the suggestions in a comment.
pub fn read(body: &str) -> Vec<Suggestion> {
    blocks(body).into_iter().map(|block| block.suggestion).collect()
}

/// Parses `suggestion` or `suggestion:-1+2` into the numbers of lines above and below.
fn range(info: &str) -> Option<(u32, u32)> {
    let rest = info.strip_prefix("suggestion")?;
    if rest.is_empty() {
        return Some((0, 0));
    }
    let (above, below) = rest.strip_prefix(":-")?.split_once('+')?;
    Some((above.parse().ok()?, below.parse().ok()?))
}

/// A suggestion for the lines of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuggestedChange {
    pub position: DiffPosition,
    pub suggestion: Suggestion,
    /// The ID of the suggestion on the server and the text that the server would write, if it can apply it.
    pub on_server: Option<(u64, String)>,
}

impl SuggestedChange {
    /// Converts a suggestion that the server lists for a comment on the file of `position`. `None` if its lines are
    /// invalid.
    pub fn of_server(position: &DiffPosition, known: &api::notes::Suggestion) -> Option<SuggestedChange> {
        let (from, to) = (u32::try_from(known.from_line).ok()?, u32::try_from(known.to_line).ok()?);
        let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
        let quote = lines(&known.from_content);
        // Near its end, a file may have fewer lines than the suggestion names.
        let there = u32::try_from(quote.len()).ok()?;
        let to = if there > 0 { to.min(from.checked_add(there - 1)?) } else { to };
        Some(SuggestedChange {
            position: DiffPosition {
                path: position.path.clone(),
                sha: position.sha.clone(),
                lines: Some((from, to)),
                quote,
                ..DiffPosition::default()
            },
            suggestion: Suggestion { above: to.checked_sub(from)?, below: 0, lines: lines(&known.to_content) },
            on_server: Some((known.id, known.to_content.clone())),
        })
    }
}

/// Shows in the suggestion blocks of a comment which lines they replace, as far as these are known: from the server, or
/// from the quoted lines that end with the commented one.
pub fn with_replaced_lines<'a>(body: &'a str, known: &[api::notes::Suggestion], quote: &[String]) -> Cow<'a, str> {
    let blocks = blocks(body);
    if blocks.is_empty() {
        return Cow::Borrowed(body);
    }
    let (mut out, mut at, mut unused) = (String::new(), 0, known.iter().collect::<Vec<_>>());
    for block in blocks {
        let Suggestion { above, below, lines } = &block.suggestion;
        let of_server = unused.iter().position(|known| known.to_content.lines().eq(lines.iter().map(String::as_str)));
        let quoted = || {
            let from = quote.len().checked_sub(*above as usize + 1).filter(|_| *below == 0)?;
            quote.get(from..).map(<[String]>::to_vec)
        };
        let old = match of_server {
            Some(at) => Some(unused.remove(at).from_content.lines().map(str::to_owned).collect()),
            None => quoted(),
        };
        let Some(old) = old else { continue };
        let old: Vec<String> = old;
        // What all lines start with takes room and says nothing.
        let indent = text::common_indent(old.iter().chain(lines).map(String::as_str));
        let signed = |sign: char, line: &String| format!("{sign} {}", line.get(indent..).unwrap_or_default());
        let removed = old.iter().map(|line| signed('-', line));
        let signed: Vec<String> = removed.chain(lines.iter().map(|line| signed('+', line))).collect();
        let fence = fence(&signed);
        out.push_str(body.get(at..block.bytes.start).unwrap_or_default());
        out.push_str(&format!("{fence}{}\n{}\n{fence}\n", markdown::REPLACEMENT, signed.join("\n")));
        at = block.bytes.end;
    }
    out.push_str(body.get(at..).unwrap_or_default());
    Cow::Owned(out)
}

/// A text with suggestions applied.
#[derive(Debug, PartialEq, Eq)]
pub struct AppliedText {
    pub text: String,
    /// The lines that each suggestion replaces, in the order of the suggestions: the number of the first one, and their
    /// texts.
    pub replaced: Vec<(usize, Vec<String>)>,
    /// Whether the server would write the same text, if it applied the suggestions.
    pub is_same_on_server: bool,
}

/// Applies suggestions for one file to its text. Lines without a quote are found by number; the caller has to make sure
/// that the numbers are still valid.
///
/// # Errors
/// Returns the reason if lines no longer exist, or two suggestions change the same lines.
pub fn apply(text: &str, changes: &[SuggestedChange]) -> Result<AppliedText, String> {
    let bare = line_edits::bare(text);
    let numbered: Vec<(u32, &str)> = (1..).zip(bare.iter().copied()).collect();
    let mut places: Vec<(Range<usize>, &SuggestedChange)> = Vec::new();
    let mut replaced = Vec::new();
    for change in changes {
        let Some((_, last)) = change.position.lines else { return Err("it is not on a line".into()) };
        if change.position.old {
            return Err("its lines are removed by the change".into());
        }
        let now = match change.position.quote.as_slice() {
            [] => Some(last),
            quote => {
                let quote = quote.iter().map(|line| line.trim_start_matches('\u{feff}').to_owned()).collect();
                DiffPosition { quote, ..change.position.clone() }.find_moved_line(&numbered)
            }
        };
        // The server applies a suggestion only to its own lines.
        let now = now.filter(|now| *now == last || change.on_server.is_none());
        let now = now.ok_or("its lines no longer exist or have changed")?;
        let first = now.checked_sub(change.suggestion.above).filter(|first| *first > 0);
        let end = now as usize + change.suggestion.below as usize;
        let Some(first) = first.map(|first| first as usize - 1).filter(|_| end <= bare.len()) else {
            return Err("the file has fewer lines".into());
        };
        let gone = bare.get(first..end).unwrap_or_default();
        replaced.push((first + 1, gone.iter().map(|line| (*line).to_owned()).collect()));
        places.push((first..end, change));
    }
    places.sort_by_key(|(lines, _)| lines.start);
    if places.windows(2).any(|pair| matches!(pair, [(a, _), (b, _)] if b.start < a.end)) {
        return Err("two suggestions change the same lines: apply them one after the other".into());
    }
    let edits: Vec<LineEdit> = places
        .iter()
        .map(|(lines, change)| LineEdit {
            lines: lines.clone(),
            new: change.suggestion.lines.iter().map(String::as_str).collect(),
        })
        .collect();
    let applied = line_edits::replace(text, &edits);
    let texts: Option<Vec<(Range<usize>, &str)>> = places
        .iter()
        .map(|(lines, change)| change.on_server.as_ref().map(|(_, text)| (lines.clone(), text.as_str())))
        .collect();
    let is_same_on_server = texts.is_some_and(|texts| line_edits::splice(text, texts) == applied);
    Ok(AppliedText { text: applied, replaced, is_same_on_server })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(line: u32, quote: &str, above: u32, lines: &[&str]) -> SuggestedChange {
        let quote = if quote.is_empty() { Vec::new() } else { vec![quote.to_owned()] };
        let lines = lines.iter().map(|line| (*line).to_owned()).collect();
        SuggestedChange {
            position: DiffPosition { path: "a".into(), lines: Some((line, line)), quote, ..DiffPosition::default() },
            suggestion: Suggestion { above, below: 0, lines },
            on_server: None,
        }
    }

    #[test]
    fn a_written_block_is_read_back() {
        let lines = ["let a = 1;".to_owned(), "// ``` in it".to_owned()];
        let body = format!("Perhaps:\n\n{}\nor not", block(&lines, 1));
        assert!(block(&lines, 1).split_at(end_of_lines(&block(&lines, 1))).0.ends_with("// ``` in it"));
        assert_eq!(read(&body), [Suggestion { above: 1, below: 0, lines: lines.to_vec() }]);
        assert_eq!(read("```suggestion:-0+0\nx\n```"), [Suggestion { above: 0, below: 0, lines: vec!["x".into()] }]);
        assert_eq!(read("```suggestion\n```").first().map(|s| s.lines.len()), Some(0));
        for none in ["```rust\nx\n```", "```suggestion\nnot closed", "suggestion"] {
            assert!(read(none).is_empty(), "{none}");
        }
    }

    #[test]
    fn suggestions_change_only_their_lines() {
        let text = "one\r\ntwo\r\nthree\r\nfour";
        let applied = apply(text, &[change(4, "four", 0, &["FOUR"]), change(2, "two", 1, &["a", "b", "c"])]);
        let applied = applied.expect("they can be made");
        assert_eq!(applied.text, "a\r\nb\r\nc\r\nthree\r\nFOUR");
        assert_eq!(applied.replaced, [(4, vec!["four".to_owned()]), (1, vec!["one".to_owned(), "two".to_owned()])]);
        let applied = apply("one\ntwo\n", &[change(2, "two", 0, &[])]);
        assert_eq!(applied.map(|applied| applied.text).as_deref(), Ok("one\n"));
    }

    #[test]
    fn a_suggestion_of_the_server_may_name_lines_after_the_end_of_the_file() {
        let known = api::notes::Suggestion {
            from_line: 2,
            to_line: 6,
            from_content: "two\r\nthree".into(),
            to_content: "zwei\n".into(),
            ..api::notes::Suggestion::default()
        };
        let position = DiffPosition { path: "a".into(), ..DiffPosition::default() };
        let change = SuggestedChange::of_server(&position, &known).expect("it names lines");
        let applied = apply("one\r\ntwo\r\nthree", &[change]).expect("it can be made");
        assert_eq!(applied.text, "one\r\nzwei");
        assert_eq!(applied.replaced, [(2, vec!["two".to_owned(), "three".to_owned()])]);
        assert!(!applied.is_same_on_server);
    }

    #[test]
    fn moved_lines_are_found_and_changed_lines_reported() {
        let text = "new first\none of them\ntwo of them\n";
        let applied = apply(text, &[change(1, "one of them", 0, &["1"])]);
        assert_eq!(applied.map(|applied| applied.text).as_deref(), Ok("new first\n1\ntwo of them\n"));
        assert!(apply(text, &[change(1, "gone", 0, &["1"])]).is_err_and(|why| why.contains("no longer exist")));
        let twice = [change(2, "", 0, &["a"]), change(3, "", 1, &["b"])];
        assert!(apply(text, &twice).is_err_and(|why| why.contains("same lines")));
        assert!(apply(text, &[change(9, "", 0, &["a"])]).is_err());
    }
}
