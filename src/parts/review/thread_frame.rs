//! The rows of a thread, the same in a conversation and inside a diff: a frame in the color of its state, its code, its
//! comments, and a resolved thread as one row.

use crate::api::users::User;
use crate::app::outbox::DiffPosition;
use crate::ui::code::Spans;
use crate::ui::doc::DocLine;
use crate::ui::line::Line;
use crate::ui::theme::Role;
use crate::ui::{glyph, markdown, text};
use std::ops::Range;

/// The number of columns that the frame and the mark of a reply take beside the text of a comment.
pub const COLUMNS: usize = 4;
/// The number of lines of code shown in a frame.
pub const CODE_LINES: usize = 3;
/// The number of blanks between the heading of a comment and a text on the same row.
const GAP: &str = "   ";

/// The state of a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadState<'a> {
    /// Whether it is resolved; `None` if it cannot be.
    pub resolved: Option<bool>,
    /// The user who resolved it.
    pub resolver: Option<&'a str>,
    /// The number of its comments.
    pub comments: usize,
}

/// A frame around the rows of a thread.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    role: Role,
}

/// A line of code that a thread is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeLine {
    /// The number in the file, from 1.
    pub number: u32,
    /// The role of the sign: added, removed, or unchanged.
    pub change: CodeChange,
    pub text: String,
    /// The syntax of the text; empty if it is not known.
    pub syntax: Spans,
}

/// The change that a line of code belongs to, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeChange {
    Added,
    Removed,
    None,
}

impl ThreadState<'_> {
    /// Returns the words of the state, empty for a thread that cannot be resolved.
    fn words(self) -> String {
        let by = self.resolver.map(|name| format!(" by {name}")).unwrap_or_default();
        match self.resolved {
            Some(true) => format!("{} resolved{by}", glyph::or_word(glyph::done(), "")),
            Some(false) => format!("{} unresolved", glyph::hollow()),
            None => String::new(),
        }
    }

    fn role(self) -> Role {
        if self.resolved == Some(false) { Role::Warning } else { Role::Dim }
    }

    /// Returns the frame of the thread, in the color of work to do if it is unresolved.
    pub fn frame(self) -> Frame {
        Frame { role: if self.resolved == Some(false) { Role::Warning } else { Role::Faint } }
    }

    /// Returns the number of comments in words.
    fn count(self) -> String {
        text::count_noun(self.comments as u64, "comment")
    }

    /// Returns the upper border: the state, and the `facts` about the location.
    pub fn top(self, facts: Vec<(String, Role)>) -> Line<'static> {
        let state = Some((self.words().trim_start().to_owned(), self.role())).filter(|(words, _)| !words.is_empty());
        let mut facts: Vec<(String, Role)> = state.into_iter().chain(facts).collect();
        if facts.is_empty() {
            facts.push((self.count(), Role::Dim));
        }
        let mut line = Line::empty();
        join(&mut line, facts);
        self.frame().top(line)
    }

    /// Returns the thread as one dim row of at most `width` columns, with the start of its first comment. Only what
    /// still has to be done is in color.
    pub fn folded(self, facts: Vec<(String, Role)>, author: Option<&User>, body: &str, width: usize) -> Line<'static> {
        let state = match self.resolved {
            Some(_) => (self.words().trim_start().to_owned(), self.role()),
            None if self.comments == 1 && facts.is_empty() => (format!("{} comment", glyph::folded()), Role::Dim),
            None => (format!("{} thread", glyph::folded()), Role::Dim),
        };
        let dim = |(words, role): (String, Role)| (words, if self.resolved == Some(true) { Role::Dim } else { role });
        let count = (self.comments > 1).then(|| (self.count(), Role::Dim));
        let mut line = Line::empty();
        join(&mut line, [state].into_iter().chain(facts.into_iter().map(dim)).chain(count));
        let words = markdown::one_line(body);
        let name = author.map_or("somebody", User::short_name);
        let room = if glyph::is_accessible() { u16::MAX.into() } else { width.saturating_sub(line.width()) };
        line.push(text::fit(&format!("{}{name}: {words}", glyph::separator()), room), Role::Dim);
        line
    }
}

fn join(line: &mut Line<'static>, facts: impl IntoIterator<Item = (String, Role)>) {
    for (at, (words, role)) in facts.into_iter().enumerate() {
        if at > 0 {
            line.push(glyph::separator(), Role::Dim);
        }
        line.push(words, role);
    }
}

impl Frame {
    /// Returns the upper border with words on it.
    pub fn top(self, words: Line<'static>) -> Line<'static> {
        let corner = match glyph::is_ascii() {
            true => glyph::or_word("+", " "),
            false => "┌",
        };
        let mut line = Line::new(format!("{corner} "), self.role);
        line.extend(words);
        line
    }

    /// Returns a row within the frame.
    pub fn row(self, row: DocLine<'static>) -> DocLine<'static> {
        row.after(Line::new(format!("{} ", glyph::divider()), self.role))
    }

    /// Returns the lower border.
    pub fn bottom(self) -> DocLine<'static> {
        let corner = match glyph::is_ascii() {
            true => glyph::or_word("+", " "),
            false => "└",
        };
        Line::new(corner, self.role).into()
    }

    /// Returns a row with a line of `code`, without the indent that all of its lines have.
    pub fn code(self, code: &[CodeLine], line: &CodeLine) -> DocLine<'static> {
        let digits = code.iter().map(|line| line.number.max(1).ilog10() as usize + 1).max().unwrap_or(1);
        let (sign, role) = match line.change {
            CodeChange::Added => ("+", Role::Added),
            CodeChange::Removed => ("-", Role::Removed),
            CodeChange::None => (" ", Role::Dim),
        };
        let indent = text::common_indent(code.iter().map(|line| line.text.as_str()));
        if glyph::is_accessible() {
            let gutter = Line::new(line.number.to_string(), Role::LineNumber).and(sign, role);
            return DocLine { gutter, ..colored(Line::empty(), line, indent).into() };
        }
        let row = Line::new(format!("  {:>digits$} ", line.number), Role::LineNumber).and(format!("{sign} "), role);
        self.row(colored(row, line, indent).into())
    }
}

/// Adds the text of a line of code from a byte on, in the colors of its syntax.
fn colored(mut row: Line<'static>, line: &CodeLine, from: usize) -> Line<'static> {
    let part = |range: Range<usize>| line.text.get(range).unwrap_or_default().to_owned();
    let mut at = from;
    for (range, role) in &line.syntax {
        let (start, end) = ((range.start as usize).max(at), range.end as usize);
        if end > start {
            row.push(part(at..start), Role::Text);
            row.push(part(start..end), *role);
            at = end;
        }
    }
    row.and(part(at..line.text.len()), Role::Text)
}

/// Returns the last lines that a comment quotes.
pub fn quoted(position: &DiffPosition) -> Vec<CodeLine> {
    let change = if position.old { CodeChange::Removed } else { CodeChange::None };
    let last = position.line().unwrap_or_default();
    let lines = position.quote.iter().rev().take(CODE_LINES).zip(0..);
    let mut lines: Vec<CodeLine> = lines
        .map(|(text, above)| CodeLine {
            number: last.saturating_sub(above),
            change,
            text: text.clone(),
            syntax: Spans::new(),
        })
        .collect();
    lines.reverse();
    lines
}

/// Returns the heading of a comment: its author, age and flags.
pub fn heading(author: Option<&User>, age: &str, flags: &[(bool, &str)]) -> Line<'static> {
    let name = author.map_or("somebody", User::short_name);
    let mut heading = Line::new(name.to_owned(), Role::User);
    let flags = flags.iter().filter(|(is_set, _)| *is_set).map(|(_, words)| *words);
    for fact in [age].into_iter().chain(flags).filter(|fact| !fact.is_empty()) {
        heading.push(format!("{}{fact}", glyph::separator()), Role::Dim);
    }
    heading
}

/// A comment as rows: its heading, followed by its text; a short text shares the row of the heading.
pub struct CommentRows<'a> {
    pub heading: Line<'static>,
    pub is_reply: bool,
    /// The rendered text.
    pub body: &'a [DocLine<'static>],
    /// The width of the rows, without a frame, in columns.
    pub width: usize,
}

impl CommentRows<'_> {
    /// Returns the text if it shares the row of the heading.
    fn joined(&self) -> Option<&DocLine<'static>> {
        let [only] = self.body else { return None };
        let used = self.heading.width() + GAP.len() + self.indent();
        let fits = only.gutter.is_empty() && only.fill.is_none() && used + only.text.width() <= self.width;
        Some(only).filter(|_| fits)
    }

    fn indent(&self) -> usize {
        if self.is_reply { text::width(glyph::reply()) + 1 } else { 0 }
    }

    /// Returns the number of rows.
    pub fn height(&self) -> usize {
        if self.joined().is_some() { 1 } else { 1 + self.body.len() }
    }

    /// Returns a row; a reply is marked, and its text is indented.
    pub fn row(&self, row: usize) -> DocLine<'static> {
        let mark = |mark: String| if self.is_reply { Line::new(mark, Role::Dim) } else { Line::empty() };
        if row > 0 {
            let line = self.body.get(row - 1).filter(|_| self.joined().is_none()).cloned().unwrap_or_default();
            return line.after(mark(" ".repeat(self.indent())));
        }
        let mut heading = mark(format!("{} ", glyph::reply()));
        heading.extend(self.heading.clone());
        match self.joined() {
            Some(body) => {
                heading.push(GAP, Role::Text);
                body.clone().after(heading)
            }
            None => heading.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(heading: &str, body: &[&str], is_reply: bool, width: usize) -> Vec<String> {
        let body: Vec<DocLine> = body.iter().map(|line| DocLine::new((*line).to_owned(), Role::Text)).collect();
        let rows = CommentRows { heading: Line::text(heading.to_owned()), is_reply, body: &body, width };
        (0..rows.height()).map(|row| rows.row(row).text.plain_text()).collect()
    }

    #[test]
    fn a_short_comment_shares_the_row_of_its_heading() {
        assert_eq!(rows("ada", &["Why?"], false, 10), ["ada   Why?"]);
        assert_eq!(rows("ada", &["Why?"], false, 9), ["ada", "Why?"]);
        assert_eq!(rows("ada", &["Why?"], true, 12), ["↳ ada   Why?"]);
        assert_eq!(rows("ada", &["Why", "two?"], true, 80), ["↳ ada", "  Why", "  two?"]);
        assert_eq!(rows("ada", &[], false, 80), ["ada"]);
    }

    #[test]
    fn a_folded_thread_fits_into_its_width_whatever_its_words_are() {
        let state = ThreadState { resolved: Some(true), resolver: Some("ada"), comments: 3 };
        let facts = || vec![("src/table.rs:51".to_owned(), Role::Link)];
        let line = state.folded(facts(), None, "\n\nThe comment said why", 70).plain_text();
        assert_eq!(line, "✓ resolved by ada · src/table.rs:51 · 3 comments · somebody: The comm…");
        for width in [0, 1, 5, 40, 400] {
            let line = state.folded(Vec::new(), None, &"世界 🎉 ".repeat(300), width);
            assert!(line.width() <= width.max(40), "{width}");
        }
    }

    #[test]
    fn code_keeps_its_text_and_its_colors_without_the_common_indent() {
        let syntax = vec![(0..1, Role::SyntaxComment), (2..5, Role::SyntaxKeyword), (9..12, Role::SyntaxComment)];
        let line = CodeLine { number: 7, change: CodeChange::Added, text: "  let é = 1;".into(), syntax };
        let row = Frame { role: Role::Faint }.code(std::slice::from_ref(&line), &line).text;
        assert_eq!(row.plain_text(), format!("{}   7 + let é = 1;", glyph::divider()));
        let keyword = row.spans.iter().find(|span| span.text == "let").map(|span| span.paint);
        assert_eq!(keyword, Some(Role::SyntaxKeyword.into()));
    }

    #[test]
    fn links_of_a_comment_stay_on_their_words() {
        let link = DocLine { links: vec![(4..8, "https://a.b".into())], ..DocLine::new("see here", Role::Text) };
        let rows = CommentRows { heading: Line::text("ada"), is_reply: true, body: &[link], width: 80 };
        let row = ThreadState::default().frame().row(rows.row(0));
        let text = row.text.plain_text();
        assert_eq!(row.links.first().and_then(|(range, _)| text.get(range.clone())), Some("here"));
    }
}
