//! A search result: its rows in the list, and its text with highlighted matches.

use crate::api::search::{BlobHit, Hit};
use crate::api::{GitRef, Time};
use crate::app::view::View;
use crate::parts::list::detail::TextDetail;
use crate::store::{Canceled, Derive, RowOf, Work};
use crate::ui::doc::DocLine;
use crate::ui::line::Line;
use crate::ui::markdown::Rendered;
use crate::ui::theme::Role;
use crate::ui::{glyph, text};
use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

/// The maximum number of lines of a result's text.
const MAX_LINES: usize = 400;
/// The maximum number of columns of a line.
const MAX_COLUMNS: usize = 1_000;
/// The maximum number of columns of a line in the list.
const MAX_ROW_COLUMNS: usize = 300;
/// The maximum number of bytes of a part of a file that become rows. Most servers send only a few lines around a match,
/// but some send more.
const MAX_SCANNED_BYTES: usize = 16 * 1024;

/// A row of the results: a result, or one line of a part of a file.
#[derive(Clone)]
pub struct Row {
    pub hit: Arc<Hit>,
    /// The index of the line in the part of the file.
    line: usize,
    /// The text of the line in the part, without the indentation that all its lines have.
    text: Range<usize>,
}

impl From<Hit> for Row {
    fn from(hit: Hit) -> Row {
        Row { hit: Arc::new(hit), line: 0, text: 0..0 }
    }
}

impl RowOf<Hit> for Row {
    fn rows(hit: Hit) -> Vec<Row> {
        let whole = Row::from(hit);
        let Hit::Blob(blob) = &*whole.hit else { return vec![whole] };
        let indentation = |line: &str| line.bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let (mut lines, mut end) = (Vec::new(), 0);
        for line in text::head_bytes(&blob.data, MAX_SCANNED_BYTES).split_inclusive('\n').take(MAX_LINES) {
            let start = end;
            end += line.len();
            lines.push((start, line.trim_end_matches(['\r', '\n'])));
        }
        let full = lines.iter().filter(|(_, line)| !line.trim().is_empty());
        let common = full.map(|(_, line)| indentation(line)).min().unwrap_or(0);
        let row = |(at, (start, line)): (usize, (usize, &str))| {
            let text = start + common.min(line.len())..start + line.len();
            Row { hit: whole.hit.clone(), line: at, text }
        };
        let rows: Vec<Row> = lines.into_iter().enumerate().map(row).collect();
        if rows.is_empty() { vec![whole] } else { rows }
    }
}

impl Row {
    /// Returns the part of a file that the line is in.
    pub fn blob(&self) -> Option<&BlobHit> {
        if let Hit::Blob(blob) = &*self.hit { Some(blob) } else { None }
    }

    /// Returns the number of the line in its file.
    pub fn number(&self) -> u64 {
        self.blob().map_or(1, |blob| blob.startline.max(1)).saturating_add(self.line as u64)
    }

    fn text(&self) -> &str {
        self.blob().and_then(|blob| blob.data.get(self.text.clone())).unwrap_or_default()
    }
}

/// Splits rows into those of each result.
pub fn results<'r, 'a>(rows: &'r [&'a Row]) -> impl Iterator<Item = &'r [&'a Row]> {
    rows.chunk_by(|a, b| Arc::ptr_eq(&a.hit, &b.hit))
}

/// Returns for each row of a result whether it is a match: of a part of a file, the lines that contain the search text,
/// else those with one of its words, else the first that is not blank, because the server found something in the part.
pub fn matches(result: &[&Row], searched: &str) -> Vec<bool> {
    let searched = searched.trim().to_lowercase();
    let lines: Vec<String> = result.iter().map(|row| row.text().to_lowercase()).collect();
    let with = |has: &dyn Fn(&str) -> bool| -> Option<Vec<bool>> {
        let found: Vec<bool> = lines.iter().map(|line| has(line)).collect();
        found.contains(&true).then_some(found)
    };
    let first = lines.iter().position(|line| !line.trim().is_empty()).unwrap_or(0);
    with(&|line| line.contains(&searched))
        .or_else(|| with(&|line| searched.split_whitespace().any(|word| line.contains(word))))
        .unwrap_or_else(|| (0..lines.len()).map(|at| at == first).collect())
}

/// Returns the number of matches among rows.
pub fn match_count(rows: &[&Row], searched: &str) -> usize {
    results(rows).map(|result| matches(result, searched).into_iter().filter(|is_match| *is_match).count()).sum()
}

/// Returns the cells of a row and a time: the result with its number, its title or the line of a file, its author, and
/// when it was updated.
pub(super) fn facts(row: &Row, filter_text: &str) -> (Line<'static>, Line<'static>, Line<'static>, Option<Time>) {
    let dim = |words: &str| Line::new(words.to_owned(), Role::Dim);
    let state = |word: &str| {
        let (sign, role) = glyph::status(word);
        Line::new(sign, role)
    };
    match &*row.hit {
        Hit::Project(p) => (
            Line::new(p.path_with_namespace.clone(), Role::Text),
            dim(&first_line(p.description())),
            Line::empty(),
            p.last_activity_at.clone(),
        ),
        Hit::MergeRequest(r) => (
            state(r.state.as_str()).and(format!(" !{}", r.iid), Role::Ref),
            Line::new(r.title.clone(), Role::Text),
            Line::new(r.author().map(|a| a.username.clone()).unwrap_or_default(), Role::User),
            r.updated_at.clone(),
        ),
        Hit::Issue(i) => (
            state(&i.state).and(format!(" #{}", i.iid), Role::Ref),
            Line::new(i.title.clone(), Role::Text),
            Line::new(i.author.as_ref().map(|a| a.username.clone()).unwrap_or_default(), Role::User),
            i.updated_at.clone(),
        ),
        Hit::Commit(c) => (
            Line::new(c.short().to_owned(), Role::Ref),
            Line::new(c.title.clone(), Role::Text),
            Line::new(c.author_name.clone(), Role::User),
            c.date().cloned(),
        ),
        Hit::Blob(_) => (
            Line::new(format!("{:>6}", row.number()), Role::LineNumber),
            marked(&text::fit(row.text(), MAX_ROW_COLUMNS), filter_text)
                .into_iter()
                .fold(Line::empty(), |cell, (words, found)| {
                    cell.and(words, if found { Role::Match } else { Role::Text })
                }),
            Line::empty(),
            None,
        ),
        Hit::Note(n) => (
            dim(&format!("{} {}", n.noteable_type, n.noteable_iid.map(|n| n.to_string()).unwrap_or_default())),
            Line::new(first_line(&n.body), Role::Text),
            Line::new(n.author.as_ref().map(|a| a.username.clone()).unwrap_or_default(), Role::User),
            n.created_at.clone(),
        ),
        Hit::Snippet(s) => (
            Line::new(format!("${}", s.id), Role::Ref),
            Line::new(s.title.clone(), Role::Text),
            Line::new(s.author.as_ref().map(|a| a.username.clone()).unwrap_or_default(), Role::User),
            s.updated_at.clone(),
        ),
        Hit::User(u) => {
            (Line::new(u.username.clone(), Role::User), Line::new(u.name.clone(), Role::Text), dim(&u.state), None)
        }
        Hit::Group(g) => (
            Line::new(g.full_path.clone(), Role::Text),
            dim(&first_line(g.description.as_deref().unwrap_or_default())),
            Line::empty(),
            None,
        ),
        Hit::Milestone(m) => (
            Line::new(format!("%{}", m.iid), Role::Ref),
            Line::new(m.title.clone(), Role::Text),
            dim(&m.state),
            m.updated_at.clone(),
        ),
        Hit::Other(value) => (Line::empty(), dim(&value.to_string()), Line::empty(), None),
    }
}

/// Returns the path of a file with a match.
pub(super) fn path(blob: &BlobHit) -> &str {
    blob.path.as_deref().unwrap_or(&blob.filename)
}

/// Returns a key of a row, unique among those of its kind.
pub(super) fn key(row: &Row) -> String {
    let number = match &*row.hit {
        Hit::Blob(b) => return format!("{} {}:{} {}", b.project_id, b.r#ref, b.filename, row.number()),
        Hit::Commit(c) => return c.id.clone(),
        Hit::Other(value) => return value.to_string(),
        Hit::Project(p) => p.id,
        Hit::MergeRequest(r) => r.id,
        Hit::Issue(i) => i.id,
        Hit::Note(n) => n.id,
        Hit::Snippet(s) => s.id,
        Hit::User(u) => u.id,
        Hit::Group(g) => g.id,
        Hit::Milestone(m) => m.id,
    };
    number.to_string()
}

/// Returns the web page of a hit, if the reply contains it.
pub(super) fn page_of(hit: &Hit) -> Option<String> {
    let url = match hit {
        Hit::Project(project) => Some(&project.web_url),
        Hit::MergeRequest(request) => Some(&request.web_url),
        Hit::Issue(issue) => Some(&issue.web_url),
        Hit::Snippet(snippet) => Some(&snippet.web_url),
        Hit::User(user) => Some(&user.web_url),
        Hit::Group(group) => Some(&group.web_url),
        Hit::Commit(commit) => commit.web_url.as_ref(),
        Hit::Milestone(milestone) => milestone.web_url.as_ref(),
        Hit::Blob(_) | Hit::Note(_) | Hit::Other(_) => None,
    };
    url.filter(|url| !url.is_empty()).cloned()
}

/// Returns the title above the text of a hit.
pub(super) fn title(hit: &Hit) -> String {
    match hit {
        Hit::Blob(b) => {
            format!("{}{}{}", path(b), glyph::separator(), GitRef::from(&b.r#ref).display())
        }
        Hit::Project(p) => p.path_with_namespace.clone(),
        Hit::MergeRequest(r) => format!("!{} {}", r.iid, r.title),
        Hit::Issue(i) => format!("#{} {}", i.iid, i.title),
        Hit::Commit(c) => c.short().to_owned(),
        Hit::Note(n) => n.noteable_type.clone(),
        Hit::Snippet(s) => s.title.clone(),
        Hit::User(u) => u.username.clone(),
        Hit::Group(g) => g.full_path.clone(),
        Hit::Milestone(m) => m.title.clone(),
        Hit::Other(_) => String::new(),
    }
}

/// Returns the text of a hit and, for a part of a file, the number of its first line.
fn words(hit: &Hit) -> (Option<u64>, Cow<'_, str>) {
    match hit {
        Hit::Blob(b) => (Some(b.startline.max(1)), b.data.as_str().into()),
        Hit::Project(p) => (None, p.description().into()),
        Hit::MergeRequest(r) => (None, r.description.as_deref().unwrap_or_default().into()),
        Hit::Issue(i) => (None, i.description.as_deref().unwrap_or_default().into()),
        Hit::Commit(c) => (None, c.message.as_str().into()),
        Hit::Note(n) => (None, n.body.as_str().into()),
        Hit::Snippet(s) => (None, s.description.as_deref().unwrap_or_default().into()),
        Hit::User(u) => (None, u.name.as_str().into()),
        Hit::Group(g) => (None, g.description.as_deref().unwrap_or_default().into()),
        Hit::Milestone(m) => (None, m.description.as_deref().unwrap_or_default().into()),
        Hit::Other(value) => (None, value.to_string().into()),
    }
}

/// The rendering of a hit's text. For a part of a file, `first` is the number of its first line.
struct HitText {
    key: String,
    first: Option<u64>,
    words: String,
    filter_text: String,
    width: usize,
}

impl Derive for HitText {
    type Output = Rendered;

    fn key(&self) -> String {
        self.key.clone()
    }

    fn run(&self, _: Canceled<'_>) -> Rendered {
        let lines = lines(self.first, &self.words, &self.filter_text, self.width);
        lines.into()
    }
}

/// Shows the text of a hit in a panel, with the matches highlighted.
pub(super) fn text(panel: &mut TextDetail, view: &View, hit: &Hit, filter_text: &str) {
    let (first, words) = words(hit);
    if words.trim().is_empty() {
        return;
    }
    let mut hasher = DefaultHasher::new();
    (first, &words, filter_text).hash(&mut hasher);
    let hash = hasher.finish();
    panel.text(
        view,
        |width| format!("what a hit says {hash:x} in {width} columns"),
        |key, width| {
            Work::new(HitText { key, first, words: words.into_owned(), filter_text: filter_text.to_owned(), width })
        },
    );
}

/// Returns the lines of a hit's text with highlighted matches.
fn lines(first: Option<u64>, words: &str, filter_text: &str, width: usize) -> Vec<DocLine<'static>> {
    let mut lines = Vec::new();
    for (index, line) in words.lines().take(MAX_LINES).enumerate() {
        let line = text::fit(line, MAX_COLUMNS);
        let pieces = if first.is_some() { vec![line] } else { text::wrap(&line, width, MAX_LINES) };
        let pieces = if pieces.is_empty() { vec![String::new()] } else { pieces };
        for (part, piece) in pieces.iter().enumerate() {
            let mut spans = Line::empty();
            if let Some(first) = first {
                let number = if part == 0 { first.saturating_add(index as u64).to_string() } else { String::new() };
                spans.push(format!("{number:>5}  "), Role::LineNumber);
            }
            let role = |found| if found { Role::Match } else { Role::Text };
            spans.extend(marked(piece, filter_text).into_iter().map(|(words, found)| (words.to_owned(), role(found))));
            lines.push(spans.into());
        }
    }
    lines
}

/// Splits a line into pieces, with whether each is a match, ignoring case.
fn marked(line: &str, filter_text: &str) -> Vec<(String, bool)> {
    let whole = filter_text.trim().to_lowercase();
    let words: Vec<String> = whole.split_whitespace().map(str::to_owned).collect();
    let mut pieces: Vec<(String, bool)> = Vec::new();
    let mut rest = line;
    while !rest.is_empty() {
        // Characters are compared one by one, because the lower case of a character may have another length, and a cut
        // must not fall inside a character.
        let begins = |rest: &str, word: &str| {
            let mut letters = rest.char_indices();
            let mut wanted = word.chars();
            loop {
                match (wanted.next(), letters.clone().next()) {
                    (None, at) => return Some(at.map_or(rest.len(), |(at, _)| at)),
                    (Some(w), Some((_, c))) if c == w || c.to_lowercase().eq([w]) => _ = letters.next(),
                    _ => return None,
                }
            }
        };
        let found = begins(rest, &whole).filter(|len| *len > 0);
        let found = found.or_else(|| words.iter().filter_map(|word| begins(rest, word)).max().filter(|len| *len > 0));
        let len = found.unwrap_or_else(|| rest.chars().next().map_or(1, char::len_utf8));
        let Some((piece, after)) = rest.split_at_checked(len) else { break };
        match pieces.last_mut() {
            Some((last, was)) if *was == found.is_some() => last.push_str(piece),
            _ => pieces.push((piece.to_owned(), found.is_some())),
        }
        rest = after;
    }
    pieces
}

fn first_line(text: &str) -> String {
    text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default().to_owned()
}
