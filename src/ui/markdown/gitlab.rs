//! The extensions of GitLab to Markdown: front matter, quotes between `>>>` lines, titles of alerts, changes within a
//! text, tables of contents, sizes of images, comments that are not shown, and names of emoji.

use crate::domain::emoji;
use pulldown_cmark::BlockQuoteKind;
use std::borrow::Cow;

/// Maximum number of quotes between `>>>` lines inside each other. The marks of deeper ones are text.
const MAX_QUOTES: usize = 12;

/// Data before the text of a document.
#[derive(Debug, PartialEq)]
pub struct FrontMatter<'a> {
    pub language: &'a str,
    pub data: &'a str,
    /// The text after it.
    pub rest: &'a str,
}

/// Splits front matter off a document, which it can only begin: lines between two `---`, `+++` or `;;;`. Before them may
/// be empty lines and a line that names the encoding, and the first one may name the language.
pub fn front_matter(document: &str) -> Option<FrontMatter<'_>> {
    let first = document.split_inclusive('\n').next()?;
    let start = if first.contains("coding:") { document.get(first.len()..)? } else { document };
    let start = start.trim_start();
    let opening = start.split_inclusive('\n').next()?;
    let (mark, usual) =
        [("---", "yaml"), ("+++", "toml"), (";;;", "json")].into_iter().find(|(mark, _)| opening.starts_with(mark))?;
    let named = opening.get(mark.len()..)?.trim();
    if named.contains(char::is_whitespace) || named.starts_with(mark.get(..1)?) {
        return None;
    }
    let body = start.get(opening.len()..)?;
    let mut at = 0;
    for line in body.split_inclusive('\n') {
        if [mark, "..."].contains(&line.trim_end()) {
            return Some(FrontMatter {
                language: if named.is_empty() { usual } else { named },
                data: body.get(..at)?,
                rest: body.get(at + line.len()..)?,
            });
        }
        at += line.len();
    }
    None
}

/// Writes quotes between two lines of `>>>` with a mark before each of their lines. A quote without a second line ends
/// with the text; lines of code are left alone.
pub fn mark_quotes(markdown: &str) -> Cow<'_, str> {
    if !markdown.contains(">>>") {
        return Cow::Borrowed(markdown);
    }
    let mut out = String::with_capacity(markdown.len() + markdown.len() / 8);
    // The number of signs and the indentation of each open quote, and the fence of the open code.
    let mut quotes: Vec<(usize, usize)> = Vec::new();
    let mut fence: Option<&str> = None;
    for line in markdown.split_inclusive('\n') {
        let text = line.trim_start_matches(' ');
        let outer: usize = quotes.iter().map(|(_, indentation)| indentation).sum();
        let indentation = (line.len() - text.len()).saturating_sub(outer);
        let signs = text.trim_end();
        let is_mark = fence.is_none() && indentation < 4 && signs.len() >= 3 && signs.bytes().all(|b| b == b'>');
        // An opening mark may be followed by the kind of an alert.
        let alert = (fence.is_none() && indentation < 4).then(|| signs.strip_prefix(">>>")).flatten();
        let alert = alert.map(|rest| rest.trim_start_matches('>').trim()).filter(|title| alert_title(title).is_some());
        let closes = is_mark && quotes.last().is_some_and(|(open, _)| signs.len() >= *open);
        if closes {
            quotes.pop();
        }
        if closes || ((is_mark || alert.is_some()) && quotes.len() < MAX_QUOTES) {
            // An empty line separates the quote from the paragraph around it.
            prefix(&mut out, &quotes, "");
            out.push('\n');
            if !closes {
                let length = signs.len() - signs.trim_start_matches('>').len();
                quotes.push((length, indentation));
                if let Some(title) = alert {
                    prefix(&mut out, &quotes, "");
                    out.push_str(title);
                    out.push('\n');
                }
            }
            continue;
        }
        match fence {
            None => fence = fence_of(text),
            Some(open) => {
                let only_signs = open.chars().next().is_some_and(|sign| signs.trim_start_matches(sign).is_empty());
                if only_signs && signs.len() >= open.len() {
                    fence = None;
                }
            }
        }
        let rest = prefix(&mut out, &quotes, line);
        out.push_str(rest);
    }
    Cow::Owned(out)
}

/// Writes the marks of the open quotes, and returns the line without their indentation.
fn prefix<'a>(out: &mut String, quotes: &[(usize, usize)], line: &'a str) -> &'a str {
    let mut rest = line;
    for (_, indentation) in quotes {
        out.extend(std::iter::repeat_n(' ', *indentation));
        out.push_str("> ");
        for _ in 0..*indentation {
            rest = rest.strip_prefix(' ').unwrap_or(rest);
        }
    }
    rest
}

/// Returns the characters that open a block of code on this line.
fn fence_of(text: &str) -> Option<&str> {
    let sign = text.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let length = text.len() - text.trim_start_matches(sign).len();
    let (fence, info) = text.split_at_checked(length)?;
    (length >= 3 && !(sign == '`' && info.contains('`'))).then_some(fence)
}

/// Returns a block of HTML without its comments. A comment without an end is left as it is.
pub fn without_comments(html: &str) -> String {
    let mut out = String::new();
    let mut rest = html;
    while let Some(start) = rest.find("<!--") {
        // `<!-->` is a whole comment.
        let Some((_, after)) = rest.get(start + 2..).and_then(|from| from.split_once("-->")) else { break };
        out.push_str(rest.get(..start).unwrap_or_default());
        rest = after;
    }
    out.push_str(rest);
    out
}

/// Replaces names of emoji between colons by the emoji, where neither a letter, a digit nor a colon is beside them.
pub fn with_emoji(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(colon) = text.get(at..).and_then(|rest| rest.find(':')) {
        let start = at + colon + 1;
        at = start;
        let rest = text.get(start..).unwrap_or_default();
        let length = rest.bytes().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'+' | b'-')).count();
        let is_beside = |c: char| c.is_alphanumeric() || c == ':';
        let before = text.get(..start - 1).and_then(|before| before.chars().next_back());
        let after = rest.get(length..).and_then(|after| after.strip_prefix(':'));
        let Some(after) = after.filter(|after| !before.is_some_and(is_beside) && !after.starts_with(is_beside)) else {
            continue;
        };
        let Some(found) = rest.get(..length).and_then(emoji::find) else { continue };
        out.push_str(text.get(copied..start - 1).unwrap_or_default());
        out.push_str(found.sign);
        copied = text.len() - after.len();
        at = copied;
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(text.get(copied..).unwrap_or_default());
    Cow::Owned(out)
}

/// Splits the kind of an alert and its own title from the first line of a quote: `[!warning] Data loss`.
pub fn alert_title(text: &str) -> Option<(BlockQuoteKind, &str)> {
    let (kind, title) = text.strip_prefix("[!")?.split_once(']')?;
    let kind = match kind.to_ascii_lowercase().as_str() {
        "note" => BlockQuoteKind::Note,
        "tip" => BlockQuoteKind::Tip,
        "important" => BlockQuoteKind::Important,
        "warning" => BlockQuoteKind::Warning,
        "caution" => BlockQuoteKind::Caution,
        _ => return None,
    };
    Some((kind, title.trim_start()))
}

/// A change within a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Change {
    Added,
    Removed,
}

/// Splits a text at its changes: `{+ added +}`, `[- removed -]`. They keep their marks, for terminals without colors.
pub fn changes(text: &str) -> Vec<(Option<Change>, &str)> {
    const MARKS: [(&str, &str, Change); 4] = [
        ("{+", "+}", Change::Added),
        ("[+", "+]", Change::Added),
        ("{-", "-}", Change::Removed),
        ("[-", "-]", Change::Removed),
    ];
    let mut parts = Vec::new();
    // The marks that may still follow with an end.
    let mut marks: Vec<_> = MARKS.iter().filter(|(open, ..)| text.contains(open)).collect();
    let (mut copied, mut at) = (0, 0);
    while let Some(start) = text.get(at..).and_then(|rest| rest.find(['{', '['])).map(|found| at + found) {
        at = start + 1;
        let rest = text.get(start..).unwrap_or_default();
        let Some(kind) = marks.iter().position(|(open, ..)| rest.starts_with(open)) else { continue };
        let Some((_, close, change)) = marks.get(kind).copied() else { continue };
        let Some(length) = rest.get(2..).and_then(|inner| inner.find(close)) else {
            marks.remove(kind);
            continue;
        };
        let end = start + 2 + length + close.len();
        parts.push((None, text.get(copied..start).unwrap_or_default()));
        parts.push((Some(*change), text.get(start..end).unwrap_or_default()));
        (copied, at) = (end, end);
    }
    parts.push((None, text.get(copied..).unwrap_or_default()));
    parts.retain(|(_, part)| !part.is_empty());
    parts
}

/// Returns the text after the size of an image: `{width=100 height=50%}`.
pub fn without_size(text: &str) -> &str {
    let split = text.strip_prefix('{').and_then(|rest| rest.split_once('}'));
    let is_size = |word: &str| word.split_once('=').is_some_and(|(key, _)| matches!(key, "width" | "height"));
    split.filter(|(size, _)| size.split_whitespace().all(is_size)).map_or(text, |(_, rest)| rest)
}

/// Returns the name of a section in links, from its heading: `## Step 1: install` is `step-1-install`. Signs are left out
/// and hyphens are joined, as one renderer keeps what another drops.
pub fn slug(heading: &str) -> String {
    let mut out = String::with_capacity(heading.len());
    for c in heading.chars().flat_map(char::to_lowercase) {
        match c {
            ' ' | '-' if !out.is_empty() && !out.ends_with('-') => out.push('-'),
            '_' => out.push(c),
            c if c.is_alphanumeric() => out.push(c),
            _ => {}
        }
    }
    out.truncate(out.trim_end_matches('-').len());
    out
}

/// Returns whether a paragraph stands for the table of contents: `[[_TOC_]]` or `[TOC]`, without its emphasis.
pub fn is_contents_mark(paragraph: &str) -> bool {
    matches!(paragraph.trim(), "[[TOC]]" | "[[_TOC_]]" | "[TOC]")
}

/// Returns whether a document may have a table of contents.
pub fn has_contents_mark(document: &str) -> bool {
    document.contains("[[_TOC_]]") || document.contains("[TOC]")
}

/// Returns whether a line starts with a colon and no space after it, as in `:tada: done` or `::include{file=a.md}`. The
/// parser would take it for a description of the paragraph above.
pub fn has_bare_colons(document: &str) -> bool {
    let starts = |line: &str| {
        let rest = line.trim_start_matches([' ', '\t', '>']).strip_prefix(':');
        rest.is_some_and(|rest| rest.starts_with(|c: char| !c.is_whitespace()))
    };
    document.lines().any(starts)
}
