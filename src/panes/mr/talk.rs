//! The overview of a merge request as one document: facts, description, and what people said, in order.
//!
//! Notes are rendered off the loop, a hundred at a time and only those around the window; rows are found by sums that are
//! made anew after an update, so that a frame costs what is seen of it.

use super::head::{self, Facts};
use crate::api::notes::Note;
use crate::app::command::Motion;
use crate::app::pane::View;
use crate::panes::list::age;
use crate::panes::prose;
use crate::store::{Cancelled, Derive, Rows, Work};
use crate::ui::doc::{self, DocLine, DocState};
use crate::ui::markdown;
use crate::ui::theme::{Role, Theme};
use crate::ui::{glyph, text};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use std::cell::Cell;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

/// Notes that are rendered together.
const CHUNK: usize = 100;
/// Computations of this document that are asked for at once.
const AT_ONCE: usize = 2;
/// Columns left of the text: a bar along the note under the cursor.
const GUTTER: u16 = 2;
/// Rows between description and notes.
const BETWEEN: usize = 2;

/// What the document is made of, as it is known.
pub struct Parts<'a> {
    pub facts: Facts<'a>,
    /// Names the description; another one whenever its text is.
    pub identity: String,
    pub notes: Rows<'a, Note>,
}

/// What stands in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    Head(usize),
    Description(usize),
    Between(usize),
    /// The line of a note: 0 is who wrote it and when.
    Note(usize, usize),
    Tail,
}

/// Where the cursor stands, in terms that outlive a change of rows.
#[derive(Clone, Copy, Debug)]
struct Anchor {
    at: At,
    note: u64,
}

/// A note that is being written: when it comes, it is gone to.
#[derive(Clone, Copy, Debug)]
struct Awaited {
    /// The highest number of a note before; the new one's is higher.
    before: u64,
    /// Whether all notes were known when that was found out.
    whole: bool,
}

/// Some notes to render.
struct Render {
    key: String,
    /// Empty for notes of the system, which are lines as they are.
    bodies: Vec<String>,
    width: usize,
    theme: Theme,
}

/// The lines of some notes, in their order.
struct Rendered(Vec<Vec<DocLine<'static>>>);

impl Derive for Render {
    type Output = Rendered;

    fn key(&self) -> String {
        self.key.clone()
    }

    fn run(&self, cancelled: Cancelled<'_>) -> Rendered {
        let bodies = self.bodies.iter().take_while(|_| !cancelled());
        Rendered(bodies.map(|body| markdown::render(body, self.width, &self.theme).lines).collect())
    }
}

/// Names a description by its words: a reply that says the same again, as polling brings, must not make it anew.
pub fn identity(description: &str) -> String {
    let mut hasher = DefaultHasher::new();
    description.hash(&mut hasher);
    format!("description {:x} of {} bytes", hasher.finish(), description.len())
}

/// Scrolling and layout of the document.
#[derive(Default)]
pub struct Talk {
    scroll: DocState,
    more_pages: u32,
    /// What the names of the chunks were made of.
    named_for: (u64, usize, String),
    chunks: Vec<String>,
    head: usize,
    description: usize,
    /// The first row of each note, counted from the first note's; one more behind them.
    starts: Vec<usize>,
    tail: bool,
    awaited: Option<Awaited>,
    /// Set as a note goes out: until then nothing is waited for.
    sent: Rc<Cell<bool>>,
    area: Cell<Rect>,
}

impl Talk {
    /// Columns of text.
    pub fn width(view: &View) -> usize {
        usize::from(view.size.0.saturating_sub(GUTTER + 2)).min(prose::MEASURE)
    }

    /// Pages of notes that are needed for what is looked at.
    pub fn pages(&self) -> u32 {
        1 + self.more_pages
    }

    /// What has to be rendered for what is looked at.
    pub fn works(&self, view: &View, parts: &Parts) -> Vec<Work> {
        let width = Talk::width(view);
        let mut works = Vec::new();
        if let Some(text) = description(parts) {
            works.extend(prose::work(view, &parts.identity, text, width));
        }
        let height = usize::from(view.size.1);
        let around = self.scroll.at(self.len());
        let first = self.note_near(around.saturating_sub(2 * height)) / CHUNK;
        let last = self.note_near(around + 2 * height) / CHUNK;
        let lacking = (first..=last).filter_map(|chunk| {
            let key = self.chunks.get(chunk).filter(|key| view.store.lacks(key))?;
            let notes = (chunk * CHUNK..(chunk + 1) * CHUNK).map_while(|index| parts.notes.get(index));
            let bodies = notes.map(|note| if note.system { String::new() } else { note.body.clone() }).collect();
            Some(Work::new(Render { key: key.clone(), bodies, width, theme: view.theme.clone() }))
        });
        works.extend(lacking.take(AT_ONCE));
        works
    }

    /// The note at a row, or the one nearest to it.
    fn note_near(&self, row: usize) -> usize {
        let row = row.saturating_sub(self.head + self.description + BETWEEN);
        self.starts.partition_point(|start| *start <= row).saturating_sub(1)
    }

    /// After an update: measures what came, keeps the cursor on its thing, asks for more near the end.
    pub fn sync(&mut self, view: &View, parts: &Parts) {
        let anchor = self.anchor(parts);
        let (notes, width) = (&parts.notes, Talk::width(view));
        let named_for = (notes.revision, width, view.theme.name.clone());
        if self.named_for != named_for {
            self.chunks = (0..notes.len().div_ceil(CHUNK)).map(|chunk| chunk_key(notes, chunk, &named_for)).collect();
            self.named_for = named_for;
        }
        self.head = head::lines(view, &parts.facts, width).len();
        self.description = match description(parts) {
            None => 1,
            Some(_) => prose::made(view, &parts.identity, width).map_or(1, |made| made.lines.len().max(1)),
        };
        self.measure(view, notes);
        self.tail = notes.is_empty() || notes.more || notes.error.is_some();
        self.hold(anchor, parts);

        if self.sent.take() {
            self.await_note(notes);
        }
        let at = self.scroll.at(self.len()).max(self.scroll.top.get());
        let near = self.note_near(at + 3 * self.scroll.height.get().max(1));
        if notes.more && (near + 1 >= notes.len() || self.awaited.is_some()) {
            self.more_pages = self.more_pages.max(notes.pages());
        }
        self.go_to_awaited(view, notes);
    }

    fn measure(&mut self, view: &View, notes: &Rows<Note>) {
        self.starts.clear();
        let mut row = 0;
        for (chunk, key) in self.chunks.iter().enumerate() {
            let made = view.store.made::<Rendered>(key);
            for index in 0..CHUNK {
                let Some(note) = notes.get(chunk * CHUNK + index) else { break };
                self.starts.push(row);
                let lines = made.and_then(|made| made.0.get(index)).map_or(1, Vec::len);
                // Who and when, the text, and a line between; what the system noted is one line.
                row += if note.system { 1 + usize::from(gap_after(notes, chunk * CHUNK + index)) } else { lines + 2 };
            }
        }
        self.starts.push(row);
    }

    fn anchor(&self, parts: &Parts) -> Option<Anchor> {
        let at = self.at(self.scroll.at(self.len()))?;
        let note = match at {
            At::Note(index, _) => parts.notes.get(index)?.id,
            _ => 0,
        };
        Some(Anchor { at, note })
    }

    /// Brings the cursor back to what it was on, and what was in sight with it.
    fn hold(&mut self, anchor: Option<Anchor>, parts: &Parts) {
        let before = self.scroll.cursor;
        // Who has not moved yet stays at the top, whatever comes in.
        let Some(anchor) = anchor.filter(|_| before > 0) else { return };
        let after = match anchor.at {
            At::Note(index, line) => {
                let is_it = |i: &usize| parts.notes.get(*i).is_some_and(|note| note.id == anchor.note);
                let index = Some(index).filter(is_it).or_else(|| (0..parts.notes.len()).rev().find(is_it));
                let index = index.unwrap_or_else(|| parts.notes.len().saturating_sub(1));
                self.row_of(index).map(|start| start + line.min(self.height_of(index).saturating_sub(1)))
            }
            At::Description(line) => Some(self.head + line.min(self.description.saturating_sub(1))),
            At::Between(line) => Some(self.head + self.description + line),
            At::Head(_) | At::Tail => None,
        };
        let Some(after) = after.filter(|after| *after != before) else { return };
        self.scroll.cursor = after.min(self.len().saturating_sub(1));
        let top = self.scroll.top.get().saturating_add_signed(after as isize - before as isize);
        self.scroll.top.set(top);
    }

    fn go_to_awaited(&mut self, view: &View, notes: &Rows<Note>) {
        let Some(awaited) = self.awaited else { return };
        if !awaited.whole {
            self.await_note(notes);
            return;
        }
        let me = view.me().map(|me| me.id);
        let author = |note: &Note| note.author.as_ref().map(|author| author.id);
        let mine = |note: &Note| note.id > awaited.before && !note.system && author(note) == me;
        let found = (0..notes.len()).rev().take(CHUNK).find(|index| notes.get(*index).is_some_and(mine));
        if let Some(row) = found.and_then(|index| self.row_of(index)) {
            self.awaited = None;
            self.scroll.goto(row, self.len());
        }
    }

    /// To be set as a note goes out: it is gone to when it comes.
    pub fn sent(&self) -> Rc<Cell<bool>> {
        Rc::clone(&self.sent)
    }

    fn await_note(&mut self, notes: &Rows<Note>) {
        let before = notes.iter().map(|note| note.id).max().unwrap_or(0);
        self.awaited = Some(Awaited { before, whole: notes.known && !notes.more });
    }

    fn row_of(&self, note: usize) -> Option<usize> {
        let start = self.starts.get(note).filter(|_| note + 1 < self.starts.len())?;
        Some(self.head + self.description + BETWEEN + start)
    }

    fn height_of(&self, note: usize) -> usize {
        match (self.starts.get(note), self.starts.get(note + 1)) {
            (Some(start), Some(end)) => end - start,
            _ => 0,
        }
    }

    fn len(&self) -> usize {
        let notes = self.starts.last().copied().unwrap_or(0);
        self.head + self.description + BETWEEN + notes + usize::from(self.tail)
    }

    fn at(&self, row: usize) -> Option<At> {
        if row >= self.len() {
            return None;
        }
        let Some(row) = row.checked_sub(self.head) else { return Some(At::Head(row)) };
        let Some(row) = row.checked_sub(self.description) else { return Some(At::Description(row)) };
        let Some(row) = row.checked_sub(BETWEEN) else { return Some(At::Between(row)) };
        let note = self.starts.partition_point(|start| *start <= row).checked_sub(1)?;
        if note + 1 >= self.starts.len() {
            return Some(At::Tail);
        }
        Some(At::Note(note, row - self.starts.get(note)?))
    }

    /// The index of the note under the cursor.
    pub fn note(&self) -> Option<usize> {
        match self.at(self.scroll.at(self.len()))? {
            At::Note(index, _) => Some(index),
            _ => None,
        }
    }

    /// To the next note, or to the one before; to the first where none is under the cursor.
    pub fn turn_note(&mut self, forward: bool) {
        let to = match (self.note(), forward) {
            (Some(index), true) => Some(index + 1),
            (Some(index), false) => index.checked_sub(1),
            (None, true) => Some(0),
            (None, false) => None,
        };
        let row = to.map_or(Some(0), |index| self.row_of(index));
        if let Some(row) = row {
            self.scroll.goto(row, self.len());
        }
    }

    /// Moves the cursor.
    pub fn motion(&mut self, motion: Motion) {
        let len = self.len();
        match motion {
            Motion::Left => self.scroll.left_by(-(doc::SIDEWAYS as isize)),
            Motion::Right => self.scroll.left_by(doc::SIDEWAYS as isize),
            Motion::First => self.scroll.first(),
            Motion::Last => self.scroll.last(len),
            Motion::HalfUp => self.scroll.half_page_by(-1, len),
            Motion::HalfDown => self.scroll.half_page_by(1, len),
            Motion::PageUp => self.scroll.page_by(-1, len),
            Motion::PageDown => self.scroll.page_by(1, len),
            Motion::Wheel(rows) => self.scroll.scroll_by(rows.into(), len),
            Motion::Up => self.scroll.move_by(-1, len),
            Motion::Down => self.scroll.move_by(1, len),
        }
    }

    /// Puts the cursor where was clicked.
    pub fn click(&mut self, row: u16) {
        let len = self.len();
        let line = row.checked_sub(self.area.get().y).and_then(|y| self.scroll.line_at(y, len));
        if let Some(line) = line {
            self.scroll.goto(line, len);
        }
    }

    /// Draws what is in sight.
    pub fn draw(&self, view: &View, area: Rect, buf: &mut Buffer, parts: &Parts) {
        self.area.set(area);
        let width = Talk::width(view);
        let head = head::lines(view, &parts.facts, width);
        let here = self.note();
        doc::draw(buf, area, view.theme, true, &self.scroll, self.len(), GUTTER, |row| {
            let Some(at) = self.at(row) else { return DocLine::default() };
            let mut line = match at {
                At::Head(index) => head.get(index).cloned().unwrap_or_default(),
                At::Description(index) => description_line(view, parts, index, width),
                At::Between(0) => DocLine::default(),
                At::Between(_) => between(view, &parts.notes, width),
                At::Note(index, line) => self.note_line(view, &parts.notes, index, line),
                At::Tail => tail(view, &parts.notes),
            };
            if let At::Note(index, line_in) = at {
                let last = line_in + 1 == self.height_of(index) && line_in > 0;
                if here == Some(index) && !last {
                    line.gutter = vec![(glyph::divider().to_owned(), view.theme.style(Role::Accent))];
                }
            }
            line
        });
    }

    fn note_line(&self, view: &View, notes: &Rows<Note>, index: usize, line: usize) -> DocLine<'static> {
        let Some(note) = notes.get(index) else { return DocLine::default() };
        match (note.system, line) {
            (true, 0) => system_line(view, note),
            (true, _) => DocLine::default(),
            (false, 0) => note_heading(view, note),
            (false, _) => {
                let key = self.chunks.get(index / CHUNK);
                let made = key.and_then(|key| view.store.made::<Rendered>(key));
                match made {
                    Some(made) => {
                        let lines = made.0.get(index % CHUNK);
                        lines.and_then(|lines| lines.get(line - 1)).cloned().unwrap_or_default()
                    }
                    None if line == 1 => DocLine::new(glyph::cut(), view.theme.style(Role::Faint)),
                    None => DocLine::default(),
                }
            }
        }
    }
}

/// Whether a line stays empty behind what the system noted: before what a person said.
fn gap_after(notes: &Rows<Note>, index: usize) -> bool {
    notes.get(index + 1).is_some_and(|next| !next.system)
}

fn chunk_key(notes: &Rows<Note>, chunk: usize, named_for: &(u64, usize, String)) -> String {
    let mut hasher = DefaultHasher::new();
    for index in chunk * CHUNK..(chunk + 1) * CHUNK {
        let Some(note) = notes.get(index) else { break };
        (note.id, note.system, &note.body).hash(&mut hasher);
    }
    format!("notes {:016x} in {} columns, {}", hasher.finish(), named_for.1, named_for.2)
}

fn description<'a>(parts: &Parts<'a>) -> Option<&'a str> {
    parts.facts.merge_request.description.as_deref().filter(|text| !text.trim().is_empty())
}

fn description_line(view: &View, parts: &Parts, index: usize, width: usize) -> DocLine<'static> {
    if description(parts).is_none() {
        return DocLine::new("No description.", view.theme.style(Role::Dim));
    }
    match prose::made(view, &parts.identity, width) {
        Some(made) => made.lines.get(index).cloned().unwrap_or_default(),
        None => DocLine::new(glyph::cut(), view.theme.style(Role::Faint)),
    }
}

fn between(view: &View, notes: &Rows<Note>, width: usize) -> DocLine<'static> {
    let theme = view.theme;
    let count = match (notes.known, notes.total) {
        (false, _) => String::new(),
        (true, Some(total)) => text::count(total),
        (true, None) => format!("{}{}", notes.len(), if notes.more { "+" } else { "" }),
    };
    let title = format!("Notes {count} ");
    let rule = glyph::rule().repeat(width.saturating_sub(text::width(&title)));
    let mut line = DocLine::new(title, theme.style(Role::Title));
    line.spans.push((rule.into(), theme.style(Role::Faint)));
    line
}

fn tail(view: &View, notes: &Rows<Note>) -> DocLine<'static> {
    let theme = view.theme;
    match notes.error {
        Some(error) => {
            let words = format!("{}: {} · r tries again", error.title(), error.said());
            DocLine::new(words, theme.style(Role::Failed))
        }
        None if notes.known && notes.is_empty() => {
            DocLine::new("Nobody has said anything yet. c writes the first note.", theme.style(Role::Dim))
        }
        None => DocLine::new(format!("{} more to come", glyph::cut()), theme.style(Role::Dim)),
    }
}

fn note_heading(view: &View, note: &Note) -> DocLine<'static> {
    let theme = view.theme;
    let mut spans: Vec<(std::borrow::Cow<'static, str>, Style)> = Vec::new();
    let author = note.author.as_ref().map_or("somebody", |author| author.username.as_str());
    spans.push((author.to_owned().into(), theme.style(Role::User)));
    let mut facts = vec![age(view, note.created_at.as_ref())];
    facts.push(if note.is_edited() { "edited".into() } else { String::new() });
    facts.push(if note.confidential == Some(true) { "confidential".into() } else { String::new() });
    for fact in facts.into_iter().filter(|fact| !fact.is_empty()) {
        spans.push((format!(" {} {fact}", glyph::dot()).into(), theme.style(Role::Dim)));
    }
    if let Some((path, line)) = note.place() {
        let place = line.map_or_else(|| path.to_owned(), |line| format!("{path}:{line}"));
        spans.push(("  ".into(), Style::new()));
        spans.push((place.into(), theme.style(Role::Link)));
    }
    if note.resolved == Some(true) {
        spans.push((format!("  {} resolved", glyph::done()).into(), theme.style(Role::Success)));
    }
    DocLine { spans, ..DocLine::default() }
}

fn system_line(view: &View, note: &Note) -> DocLine<'static> {
    let author = note.author.as_ref().map_or("somebody", |author| author.username.as_str());
    let said = note.body.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let when = age(view, note.created_at.as_ref());
    let words = format!("{} {author} {said} {} {when}", glyph::open(), glyph::dot());
    DocLine::new(words, view.theme.style(Role::Dim))
}
