//! Suggestions: blocks of a comment that propose replacements for lines, and applying them to a text.

use crate::app::outbox::DiffPosition;

/// A proposed replacement for lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    /// The numbers of lines above and below the commented one that are replaced, too.
    pub above: u32,
    pub below: u32,
    pub lines: Vec<String>,
}

/// Returns a suggestion block with the current `lines`, to be edited; the first `above` lines precede the commented
/// one.
pub fn block(lines: &[String], above: u32) -> String {
    let longest = lines.iter().flat_map(|line| line.split(|c| c != '`')).map(str::len).max().unwrap_or(0);
    let fence = "`".repeat((longest + 1).max(3));
    let range = if above == 0 { String::new() } else { format!(":-{above}+0") };
    format!("{fence}suggestion{range}\n{}\n{fence}\n", lines.join("\n"))
}

/// Returns the byte offset at which the lines of a [`block`] end.
pub fn end_of_lines(block: &str) -> usize {
    block.trim_end().rfind('\n').unwrap_or(block.len())
}

/// Parses the suggestions in a comment.
pub fn read(body: &str) -> Vec<Suggestion> {
    let mut found = Vec::new();
    let mut lines = body.lines();
    while let Some(line) = lines.next() {
        let ticks = line.len() - line.trim_start_matches('`').len();
        let Some(info) = line.get(ticks..).filter(|_| ticks >= 3) else { continue };
        let fence = "`".repeat(ticks);
        let mut inside = Vec::new();
        let mut closed = false;
        for line in lines.by_ref() {
            let end = line.trim_end();
            if end.starts_with(&fence) && end.bytes().all(|b| b == b'`') {
                closed = true;
                break;
            }
            inside.push(line.to_owned());
        }
        if let Some((above, below)) = range(info.trim()).filter(|_| closed) {
            found.push(Suggestion { above, below, lines: inside });
        }
    }
    found
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
pub struct Change {
    pub position: DiffPosition,
    pub suggestion: Suggestion,
}

/// A text with suggestions applied.
#[derive(Debug, PartialEq, Eq)]
pub struct AppliedText {
    pub text: String,
    /// The lines that each suggestion replaces, in the order of the suggestions.
    pub replaced: Vec<Vec<String>>,
}

/// Applies suggestions for one file to its text. Lines without a quote are found by number; the caller has to make sure
/// that the numbers are still valid.
///
/// # Errors
/// Returns the reason if lines no longer exist, or two suggestions change the same lines.
pub fn apply(text: &str, changes: &[Change]) -> Result<AppliedText, String> {
    // Lines keep their line endings, so that unchanged ones stay as they are.
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut places: Vec<(usize, usize, &Change)> = Vec::new();
    let mut replaced = Vec::new();
    let bare: Vec<(u32, &str)> = (1..).zip(lines.iter().map(|line| line.trim_end_matches(['\n', '\r']))).collect();
    for change in changes {
        let Some((_, last)) = change.position.lines else { return Err("it is not on a line".into()) };
        if change.position.old {
            return Err("its lines are removed by the change".into());
        }
        let now = match change.position.quote.is_empty() {
            true => last,
            false => change.position.find_moved_line(&bare).ok_or("its lines no longer exist or have changed")?,
        };
        let first = now.checked_sub(change.suggestion.above).filter(|first| *first > 0);
        let end = now as usize + change.suggestion.below as usize;
        let Some(first) = first.filter(|_| end <= lines.len()) else {
            return Err("the file has fewer lines".into());
        };
        let gone = bare.get(first as usize - 1..end).unwrap_or_default();
        replaced.push(gone.iter().map(|(_, line)| (*line).to_owned()).collect());
        places.push((first as usize - 1, end, change));
    }
    places.sort_by_key(|(from, ..)| *from);
    let mut applied = String::with_capacity(text.len());
    let mut at = 0;
    for (from, end, change) in places {
        if from < at {
            return Err("two suggestions change the same lines: apply them one after the other".into());
        }
        applied.extend(lines.get(at..from).unwrap_or_default().iter().copied());
        let replaced = lines.get(from..end).unwrap_or_default();
        let ending = if replaced.first().is_some_and(|line| line.ends_with("\r\n")) { "\r\n" } else { "\n" };
        for line in &change.suggestion.lines {
            applied.push_str(line);
            applied.push_str(ending);
        }
        // A last line without a line ending stays without one.
        if replaced.last().is_some_and(|line| !line.ends_with('\n')) && applied.ends_with(ending) {
            applied.truncate(applied.len() - ending.len());
        }
        at = end;
    }
    applied.extend(lines.get(at..).unwrap_or_default().iter().copied());
    Ok(AppliedText { text: applied, replaced })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(line: u32, quote: &str, above: u32, lines: &[&str]) -> Change {
        let quote = if quote.is_empty() { Vec::new() } else { vec![quote.to_owned()] };
        let lines = lines.iter().map(|line| (*line).to_owned()).collect();
        Change {
            position: DiffPosition { path: "a".into(), lines: Some((line, line)), quote, ..DiffPosition::default() },
            suggestion: Suggestion { above, below: 0, lines },
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
        assert_eq!(applied.replaced, [vec!["four"], vec!["one", "two"]]);
        let applied = apply("one\ntwo\n", &[change(2, "two", 0, &[])]);
        assert_eq!(applied.map(|applied| applied.text).as_deref(), Ok("one\n"));
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
