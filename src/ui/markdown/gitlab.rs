//! The extensions of GitLab to Markdown: front matter, quotes between `>>>` lines, titles of alerts, changes within a
//! text, tables of contents, sizes of images, comments that are not shown, names of emoji, and emphasis beside Chinese,
//! Japanese and Korean characters.

use domain::emoji;
use pulldown_cmark::{BlockQuoteKind, CodeBlockKind, CowStr, Event, Tag};
use std::borrow::Cow;

/// Maximum number of quotes between `>>>` lines inside each other. The marks of deeper ones are text.
const MAX_QUOTES: usize = 12;

/// The mark of [`mark_signs`] that the parser takes for a letter: no character, so that no text has it.
const MARK: char = '\u{fdd0}';
/// The mark that the parser takes for punctuation.
const PUNCTUATION_MARK: &str = "\u{fdd1}\"";

/// Data before the text of a document.
#[derive(Debug, PartialEq)]
pub struct FrontMatter<'a> {
    pub language: &'a str,
    pub data: &'a str,
    /// The text after it.
    pub rest: &'a str,
}

/// Splits front matter off a text, which it can only begin: lines between two `---`, `+++` or `;;;`. Before them may be
/// empty lines and a line that names the encoding, and the first one may name the language. GitLab does so with descriptions
/// and comments as well as with files (`Banzai::Renderer.render_result` runs `pre_process_pipeline.rb` on all of them).
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

/// Adds marks where the parser and GitLab disagree about emphasis, for which [`unmark`] and [`without_marks`] take them out
/// again (comrak's `cjk_friendly_emphasis`, which `lib/banzai/filter/markdown_engines/glfm_markdown.rb` sets):
///
/// - Beside Chinese, Japanese and Korean characters, `**` and `~~` begin and end emphasis although there is no space
///   before or after a punctuation character. With the mark, the parser sees a letter.
/// - Punctuation with a variation selector is still punctuation for a `_` after it.
pub fn mark_signs(markdown: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let (mut copied, mut at) = (0, 0);
    let mut add = |out: &mut String, until: usize, mark: &str| {
        out.push_str(markdown.get(copied..until).unwrap_or_default());
        out.push_str(mark);
        copied = until;
    };
    let letter = MARK.to_string();
    while let Some(start) = markdown.get(at..).and_then(|rest| rest.find(['*', '~', '_', '\\'])).map(|found| at + found)
    {
        let (before, rest) = markdown.split_at_checked(start).unwrap_or_default();
        let sign = rest.chars().next().unwrap_or_default();
        if sign == '\\' {
            at = start + 1 + usize::from(rest.chars().nth(1).is_some_and(|c| c.is_ascii_punctuation()));
            continue;
        }
        let after = rest.trim_start_matches(sign);
        at = markdown.len() - after.len();
        if sign == '_' {
            if ends_in_varied_punctuation(before) {
                add(&mut out, start, PUNCTUATION_MARK);
            }
            continue;
        }
        let is_boundary = |c: &char| c.is_whitespace() || *c == '|';
        let left = before.chars().next_back().filter(|c| !is_boundary(c));
        let right = after.chars().next().filter(|c| !is_boundary(c));
        let (Some(left), Some(right)) = (left, right) else { continue };
        // A single `~` is no emphasis within a word.
        let is_emphasis = sign == '*' || at - start > 1;
        if is_emphasis && (ends_in_cjk(before) || is_cjk(right)) {
            if !left.is_alphanumeric() {
                add(&mut out, start, &letter);
            }
            if !right.is_alphanumeric() {
                add(&mut out, at, &letter);
            }
        }
    }
    if out.is_empty() {
        return Cow::Borrowed(markdown);
    }
    out.push_str(markdown.get(copied..).unwrap_or_default());
    Cow::Owned(out)
}

/// Returns whether a text ends in a punctuation character with a variation selector.
fn ends_in_varied_punctuation(text: &str) -> bool {
    let mut chars = text.chars().rev();
    matches!(chars.next(), Some('\u{fe00}'..='\u{fe0e}'))
        && chars.next().is_some_and(|c| !c.is_alphanumeric() && !c.is_whitespace())
}

/// Sets an escaped sign of references, emoji or tasks apart from the text around it, so that it is none (GitLab,
/// `REFERENCE_CHARS` in `lib/banzai/filter/markdown_engines/glfm_markdown.rb`; comrak's `escaped_char_spans`). `before` is
/// the document up to the event.
pub fn mark_escape<'a>(event: Event<'a>, before: &str) -> Event<'a> {
    let Event::Text(text) = &event else { return event };
    let backslashes = before.len() - before.trim_end_matches('\\').len();
    let sign = text.chars().next().filter(|sign| backslashes % 2 == 1 && ":@#![]~".contains(*sign));
    let Some(sign) = sign else { return event };
    let rest = text.get(sign.len_utf8()..).unwrap_or_default();
    Event::Text(format!("{MARK}{sign}{MARK}{rest}").into())
}

/// Returns whether the last character is Chinese, Japanese or Korean; variation selectors belong to the one before them.
fn ends_in_cjk(text: &str) -> bool {
    let mut chars = text.chars().rev();
    match (chars.next(), chars.next()) {
        // Ideographs alone have these variants.
        (Some('\u{e0100}'..='\u{e01ef}'), _) => true,
        // Quotation marks of full width.
        (Some('\u{fe01}'), Some('‘' | '’' | '“' | '”')) => true,
        (Some('\u{fe00}'..='\u{fe0e}'), Some(base)) => is_cjk(base),
        (Some(last), _) => is_cjk(last),
        (None, _) => false,
    }
}

/// Returns whether a character is Chinese, Japanese or Korean, as the CJK-friendly amendment of CommonMark defines it: wide
/// or half as wide, but no emoji.
fn is_cjk(c: char) -> bool {
    matches!(c,
        '\u{1100}'..='\u{11ff}'
        | '\u{20a9}'
        | '\u{2329}'
        | '\u{232a}'
        | '\u{2630}'..='\u{2637}'
        | '\u{268a}'..='\u{268f}'
        | '\u{2e80}'..='\u{a4c6}'
        | '\u{a960}'..='\u{a97c}'
        | '\u{ac00}'..='\u{d7fb}'
        | '\u{f900}'..='\u{faff}'
        | '\u{fe10}'..='\u{fe19}'
        | '\u{fe30}'..='\u{fe6b}'
        | '\u{ff01}'..='\u{ffee}'
        | '\u{16fe0}'..='\u{18df2}'
        | '\u{1aff0}'..='\u{1b2fb}'
        | '\u{1d300}'..='\u{1d376}'
        | '\u{1f200}'..='\u{1f265}'
        | '\u{20000}'..='\u{3fffd}')
}

/// Returns a text without the marks of [`mark_signs`] and [`mark_escape`].
pub fn without_marks(text: &str) -> Cow<'_, str> {
    if !text.contains([MARK, '\u{fdd1}']) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace(PUNCTUATION_MARK, "").replace(MARK, ""))
}

/// Takes the marks out of what an event has beside text: they are in code, addresses and HTML, too.
pub fn unmark(event: Event<'_>) -> Event<'_> {
    fn plain(text: CowStr<'_>) -> CowStr<'_> {
        match without_marks(&text) {
            Cow::Owned(plain) => plain.into(),
            Cow::Borrowed(_) => text,
        }
    }
    match event {
        Event::Code(text) => Event::Code(plain(text)),
        Event::Html(text) => Event::Html(plain(text)),
        Event::InlineHtml(text) => Event::InlineHtml(plain(text)),
        Event::InlineMath(text) => Event::InlineMath(plain(text)),
        Event::DisplayMath(text) => Event::DisplayMath(plain(text)),
        Event::FootnoteReference(name) => Event::FootnoteReference(plain(name)),
        Event::Start(Tag::FootnoteDefinition(name)) => Event::Start(Tag::FootnoteDefinition(plain(name))),
        Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) => {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(plain(info))))
        }
        Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
            Event::Start(Tag::Link { link_type, dest_url: plain(dest_url), title, id })
        }
        Event::Start(Tag::Image { link_type, dest_url, title, id }) => {
            Event::Start(Tag::Image { link_type, dest_url: plain(dest_url), title, id })
        }
        other => other,
    }
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
