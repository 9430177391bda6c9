//! A conversation as one document: the lines of an object, such as its facts and its description, and all comments on
//! it in order. Merge requests, issues, epics, snippets and commits show it.
//!
//! Notes are rendered in the background, in chunks of a hundred and only near the viewport. Consecutive system notes are
//! folded into one line, notes of one thread or on the same lines are shown together where the first of them was
//! written, and resolved threads are one row. Row offsets are prefix sums that are recomputed after an update, so that
//! drawing a frame costs only what is visible.

mod lines;

use crate::api::notes::Note;
use crate::api::{Error, Noteable, Time};
use crate::app::motion::Motion;
use crate::app::outbox::{DiffPosition, Draft};
use crate::app::view::View;
use crate::parts::links::{self, Link};
use crate::parts::reactions::Reactions;
use crate::parts::rendered_markdown;
use crate::parts::review::thread_frame::{self, CODE_LINES, CodeLine, ThreadState};
use crate::parts::review::{suggestions, threads};
use crate::store::{Canceled, Cut, Derive, Revision, Rows, Want, Work};
use crate::ui::code::Budget;
use crate::ui::doc::{self, DocLine, DocState};
use crate::ui::drawn::Drawn;
use crate::ui::glyph;
use crate::ui::line::Line;
use crate::ui::markdown;
use crate::ui::theme::{Role, Theme};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

/// The number of notes rendered together.
const CHUNK_NOTES: usize = 100;
/// The maximum number of chunks rendered concurrently.
const MAX_CONCURRENT_CHUNKS: usize = 2;
/// The width of the gutter in columns; it shows a bar along the note under the cursor.
pub const GUTTER_WIDTH: u16 = 2;
/// The maximum number of visible notes whose reactions are loaded.
const MAX_REACTION_LOADS: usize = 16;

/// The messages if there is no unresolved thread to go to.
pub const NO_NEXT_THREAD: &str = "No unresolved thread below.";
pub const NO_PREVIOUS_THREAD: &str = "No unresolved thread above.";

/// The lines above the comments.
pub struct Head<'a> {
    /// The number of lines.
    pub len: usize,
    /// The number of lines above the text. When it changes, a cursor in the text stays on its line.
    pub facts: usize,
    pub line: &'a dyn Fn(usize) -> DocLine<'static>,
}

/// The state of the list of comments.
#[derive(Clone, Copy, Default)]
pub struct ListStatus<'a> {
    pub is_loaded: bool,
    pub has_more: bool,
    pub error: Option<&'a Error>,
    pub cut: Option<Cut>,
}

/// The loaded data that the document is built from.
pub struct Content<'a> {
    pub head: Head<'a>,
    /// The object.
    pub on: Noteable,
    pub notes: Rows<'a, Note>,
    /// The comments on commits, as notes, oldest first, each with a key of its text; and a number that changes with
    /// them.
    pub comments: &'a [(String, Note)],
    pub comments_revision: u64,
    pub list: ListStatus<'a>,
    /// The unsent drafts with their keys.
    pub drafts: &'a [(String, Draft)],
    /// The head commit of the changes; threads on lines of another one are outdated.
    pub head_sha: Option<&'a str>,
    /// The head commits and the numbers of the versions of the changes, as far as they are known.
    pub versions: Vec<(String, usize)>,
    /// Finds the lines of code that a thread is about; empty until they are loaded.
    pub code: &'a dyn Fn(&Note, &DiffPosition) -> Vec<CodeLine>,
    /// The width of the text in columns.
    pub width: usize,
    /// The hint if there are no comments.
    pub empty: &'a str,
}

impl<'a> ListStatus<'a> {
    /// Returns the state of a list of rows.
    pub fn of<T>(rows: &Rows<'a, T>) -> ListStatus<'a> {
        ListStatus { is_loaded: rows.is_loaded, has_more: rows.has_more, error: rows.error, cut: rows.cut }
    }
}

/// The index of the first comment on a commit; smaller indices are notes.
const FIRST_COMMENT: usize = usize::MAX / 2;

/// Returns the note at an index or, from `FIRST_COMMENT` on, the comment on a commit.
pub fn note_at<'a>(notes: &Rows<'a, Note>, comments: &'a [(String, Note)], index: usize) -> Option<&'a Note> {
    match index.checked_sub(FIRST_COMMENT) {
        Some(comment) => comments.get(comment).map(|(_, note)| note),
        None => notes.get(index),
    }
}

impl<'a> Content<'a> {
    fn note_at(&self, index: usize) -> Option<&'a Note> {
        note_at(&self.notes, self.comments, index)
    }

    /// Returns the comment on a commit at an index, with the key of its text.
    fn comment(&self, index: usize) -> Option<&'a (String, Note)> {
        self.comments.get(index.checked_sub(FIRST_COMMENT)?)
    }

    /// Returns whether a note is on lines of an older version of the changes.
    fn is_outdated(&self, note: &Note, position: &DiffPosition) -> bool {
        let head = self.head_sha.filter(|_| note.position.is_some());
        // A note on a single commit never becomes outdated.
        note.commit_id.is_none() && head.is_some_and(|head| !position.sha.is_empty() && head != position.sha)
    }

    /// Returns all notes and comments with their indices, in chronological order.
    fn all(&self) -> Vec<(usize, &'a Note)> {
        let when = |note: &Note| note.created_at.as_ref().and_then(Time::instant);
        let mut comments =
            self.comments.iter().enumerate().map(|(index, (_, note))| (FIRST_COMMENT + index, note)).peekable();
        let mut all = Vec::with_capacity(self.notes.len() + self.comments.len());
        for (index, note) in (0..self.notes.len()).filter_map(|index| Some((index, self.notes.get(index)?))) {
            while let Some(comment) = comments.next_if(|(_, comment)| when(comment) < when(note)) {
                all.push(comment);
            }
            all.push((index, note));
        }
        all.extend(comments);
        all
    }

    /// Returns the rendered text of a comment on a commit.
    fn rendered_comment(&self, view: &View<'a>, index: usize) -> Option<&'a [DocLine<'static>]> {
        let (name, _) = self.comment(index)?;
        rendered_markdown::rendered(view, name, self.text_width()).map(|rendered| rendered.lines.as_slice())
    }

    /// Returns the width of the text of comments, which may be in a frame.
    fn text_width(&self) -> usize {
        self.width.saturating_sub(thread_frame::COLUMNS)
    }

    /// Returns the number of rows between the head and the comments.
    fn between(&self) -> usize {
        if self.head.len == 0 { 0 } else { 2 }
    }
}

/// Comments that belong together: those of a thread of the server, or on the same lines.
struct Thread {
    /// The indices of its notes; there is at least one.
    notes: Vec<usize>,
    /// The ID of its first note.
    id: u64,
    /// The lines of the changes that it is about.
    position: Option<DiffPosition>,
    resolved: Option<bool>,
    resolver: Option<String>,
}

impl Thread {
    /// Returns whether it has a frame: a single comment that is on nothing else and cannot be resolved has none.
    fn is_framed(&self) -> bool {
        self.notes.len() > 1 || self.resolved.is_some() || self.position.is_some()
    }

    fn state(&self) -> ThreadState<'_> {
        ThreadState { resolved: self.resolved, resolver: self.resolver.as_deref(), comments: self.notes.len() }
    }
}

/// A unit of the document.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Unit {
    /// Consecutive system notes, by their indices.
    System { notes: Vec<usize>, open: bool },
    /// A resolved thread folded into one row.
    Resolved { thread: usize },
    /// A comment of a thread, by its index in it.
    Comment { thread: usize, at: usize },
}

/// The number of rows of each kind of a comment, from top to bottom.
#[derive(Clone, Copy, Default)]
struct CommentHeight {
    /// The upper border.
    top: usize,
    code: usize,
    text: usize,
    reactions: usize,
    /// The lower border.
    bottom: usize,
    /// The empty row below.
    gap: usize,
}

impl CommentHeight {
    fn rows(self) -> usize {
        self.above() + self.text + self.reactions + self.bottom + self.gap
    }

    /// Returns the number of rows above the heading.
    fn above(self) -> usize {
        self.top + self.code
    }
}

/// The content of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RowKind {
    Head(usize),
    Between(usize),
    /// A line of a unit.
    Unit(usize, usize),
    /// A line of a draft.
    Draft(usize, usize),
    Tail,
}

/// The item under the cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnderCursor {
    /// A line of the head.
    Head(usize),
    /// A note or comment by a user, by its index; see [`note_at`].
    Note(usize),
    /// System notes.
    System,
    /// A draft, by its index.
    Draft(usize),
    Other,
}

/// The position of the cursor in terms that stay valid when rows change.
#[derive(Clone, Copy, Debug)]
struct Anchor {
    at: RowKind,
    note: u64,
    /// The number of lines above the text of the head.
    facts: usize,
}

/// A note being sent; when it arrives, the cursor moves to it.
#[derive(Clone, Copy, Debug)]
struct AwaitedNote {
    /// The highest ID of a note before; that of the new note is higher.
    before: u64,
    /// Whether all notes were loaded when `before` was computed.
    whole: bool,
}

/// The maximum size in bytes of the notes of a chunk that is rendered, shared equally; and the minimum share of one
/// note.
const MAX_CHUNK_BYTES: usize = 8 << 20;
const MIN_BODY_BYTES: usize = 64 << 10;

/// The rendering of a chunk of notes.
struct Render {
    key: String,
    /// The texts of the notes; empty for system notes, which are single lines without markup.
    bodies: Vec<String>,
    width: usize,
    theme: Theme,
}

/// The rendered lines of each note of a chunk.
struct Rendered(Vec<Vec<DocLine<'static>>>);

impl Derive for Render {
    type Output = Rendered;

    fn key(&self) -> String {
        self.key.clone()
    }

    fn weight(&self, _: &Rendered) -> usize {
        rendered_markdown::BYTES_PER_BYTE * self.bodies.iter().map(String::len).sum::<usize>()
    }

    fn run(&self, canceled: Canceled<'_>) -> Rendered {
        self.render(&Budget::new(canceled), canceled)
    }

    fn preview(&self) -> Option<Rendered> {
        let has_code = self.bodies.iter().any(|body| markdown::has_code(body));
        has_code.then(|| self.render(&Budget::none(), &|| false))
    }
}

impl Render {
    fn render(&self, colors: &Budget, canceled: Canceled<'_>) -> Rendered {
        let room = (MAX_CHUNK_BYTES / self.bodies.len().max(1)).max(MIN_BODY_BYTES);
        let bodies = self.bodies.iter().take_while(|_| !canceled());
        let lines = |body: &String| markdown::render_start(body, room, self.width, &self.theme, colors).lines;
        Rendered(bodies.map(lines).collect())
    }
}

/// The scroll state and layout of the document.
#[derive(Default)]
pub struct Conversation {
    scroll: DocState,
    more_pages: u32,
    /// The inputs of the keys of the chunks: revision, width and theme.
    chunks_key: (Revision, usize, String),
    chunks: Vec<String>,
    head: usize,
    /// The number of lines above the text of the head.
    facts: usize,
    between: usize,
    threads: Vec<Thread>,
    units: Vec<Unit>,
    /// The inputs of the units: the revisions of notes and comments. `None` if a unit was folded or unfolded since.
    units_key: Option<(Revision, u64)>,
    /// The IDs of the first notes of units that are open.
    open: HashSet<u64>,
    /// The units that unresolved threads start with.
    unresolved: Vec<usize>,
    /// Whether any thread can be resolved.
    has_resolvable: bool,
    /// Whether a thread belongs to an older version of the changes.
    has_outdated: bool,
    /// The number of notes by users.
    written: usize,
    /// The visible notes that have reactions.
    reacted: BTreeSet<u64>,
    /// The first row of each unit, relative to the first unit, and the end of the last one.
    starts: Vec<usize>,
    /// The number of rows of each unit, and how many of them are above its first text.
    heights: Vec<(usize, usize)>,
    /// The width that all of them were measured for; `None` if there are other units since.
    measured: Option<usize>,
    /// The first row of each draft, relative to the first unit, and the end of the last one.
    drafts: Vec<usize>,
    /// The shown lines of each draft.
    drafted: Vec<Vec<String>>,
    tail: bool,
    awaited: Option<AwaitedNote>,
    /// The ID of the note to go to once it is loaded.
    wanted: Option<u64>,
    /// Whether comments on this object were being sent at the last update.
    posting: bool,
    area: Drawn<Rect>,
}

impl Conversation {
    /// Returns an empty state for another object, in the same area.
    pub fn cleared(self) -> Conversation {
        Conversation { area: self.area, ..Conversation::default() }
    }

    /// Returns the number of pages of notes needed around the viewport.
    pub fn pages(&self) -> u32 {
        1 + self.more_pages
    }

    /// Returns the rendering work for the notes around the viewport.
    pub fn works(&self, view: &View, content: &Content) -> Vec<Work> {
        let width = content.text_width();
        let mut works = Vec::new();
        // A thread is shown where it started, so its notes may belong to any chunk.
        let mut chunks: Vec<usize> = Vec::new();
        for unit in self.units_near(view) {
            match self.note_of(unit) {
                Some(note) if note >= FIRST_COMMENT => {
                    let comment = content.comment(note);
                    works.extend(comment.and_then(|(name, note)| {
                        rendered_markdown::work(view, name, &threads::shown_body(note), width)
                    }));
                }
                Some(note) if !chunks.contains(&(note / CHUNK_NOTES)) => chunks.push(note / CHUNK_NOTES),
                _ => {}
            }
        }
        let lacking = chunks.into_iter().filter_map(|chunk| {
            let key = self.chunks.get(chunk).filter(|key| view.store.is_result_missing(key))?;
            let notes = (chunk * CHUNK_NOTES..(chunk + 1) * CHUNK_NOTES).map_while(|index| content.notes.get(index));
            let body = |note: &Note| if note.system { String::new() } else { threads::shown_body(note).into_owned() };
            let bodies = notes.map(body).collect();
            Some(Work::new(Render { key: key.clone(), bodies, width, theme: view.theme.clone() }))
        });
        works.extend(lacking.take(MAX_CONCURRENT_CHUNKS));
        works
    }

    /// Returns the units around the viewport.
    fn units_near(&self, view: &View) -> &[Unit] {
        self.units.get(self.range_near(view)).unwrap_or_default()
    }

    /// Returns the range of the units around the viewport.
    fn range_near(&self, view: &View) -> Range<usize> {
        let height = usize::from(view.size.1);
        let around = self.scroll.at(self.len());
        let (first, last) = (self.unit_near(around.saturating_sub(2 * height)), self.unit_near(around + 2 * height));
        first..(last + 1).min(self.units.len())
    }

    /// Returns the first notes of the framed threads around the viewport, with their positions.
    pub fn positions<'a>(&self, view: &View, content: &Content<'a>) -> Vec<(&'a Note, DiffPosition)> {
        let first = |unit: &Unit| match unit {
            Unit::Comment { thread, at: 0 } => {
                let thread = self.threads.get(*thread)?;
                Some((content.note_at(*thread.notes.first()?)?, thread.position.clone()?))
            }
            _ => None,
        };
        self.units_near(view).iter().filter_map(first).collect()
    }

    /// Returns whether a thread belongs to an older version of the changes.
    pub fn is_any_outdated(&self) -> bool {
        self.has_outdated
    }

    /// Returns the requests for the reactions to the object and to the visible notes.
    pub fn reactions(&self, view: &View, content: &Content) -> Vec<Want> {
        let notes = self.visible_notes(content).into_iter();
        let all = std::iter::once(None).chain(notes.map(Some));
        all.filter_map(|note| Reactions::to(content.on.clone(), note).want(view)).collect()
    }

    /// Returns the IDs of the visible notes that can have reactions.
    fn visible_notes(&self, content: &Content) -> Vec<u64> {
        let top = self.scroll.top();
        let (first, last) = (self.unit_near(top), self.unit_near(top + self.scroll.height()));
        let units = self.units.get(first..=last).unwrap_or_default().iter();
        let notes = units.filter_map(|unit| self.note_of(unit).filter(|note| *note < FIRST_COMMENT));
        notes.filter_map(|note| content.note_at(note)).map(|note| note.id).take(MAX_REACTION_LOADS).collect()
    }

    /// Returns the index of the note of a comment.
    fn note_of(&self, unit: &Unit) -> Option<usize> {
        match unit {
            Unit::Comment { thread, at } => self.threads.get(*thread)?.notes.get(*at).copied(),
            _ => None,
        }
    }

    /// Returns the unit at a row, or the nearest one.
    fn unit_near(&self, row: usize) -> usize {
        let row = row.saturating_sub(self.head + self.between);
        let at = self.starts.partition_point(|start| *start <= row).saturating_sub(1);
        at.min(self.units.len().saturating_sub(1))
    }

    /// Updates the layout after new data arrived, keeps the cursor on its item, and requests more notes near the end.
    pub fn sync(&mut self, view: &View, content: &Content) {
        let anchor = self.anchor(content);
        let (notes, width) = (&content.notes, content.text_width());
        let chunks_key = (notes.revision, width, view.theme.name.clone());
        if self.chunks_key != chunks_key {
            self.chunks =
                (0..notes.len().div_ceil(CHUNK_NOTES)).map(|chunk| chunk_key(notes, chunk, &chunks_key)).collect();
            self.chunks_key = chunks_key;
        }
        let units_key = Some((notes.revision, content.comments_revision));
        if self.units_key != units_key {
            self.group_notes(content);
            self.units_key = units_key;
        }
        for note in self.visible_notes(content) {
            match Reactions::to(content.on.clone(), Some(note)).line(view, width).is_empty() {
                true => _ = self.reacted.remove(&note),
                false => _ = self.reacted.insert(note),
            }
        }
        (self.head, self.facts, self.between) = (content.head.len, content.head.facts, content.between());
        self.measure(view, content);
        let is_empty = notes.is_empty() && content.comments.is_empty();
        self.tail = is_empty || content.list.has_more || content.list.error.is_some();
        self.restore_cursor(anchor, content);

        // After a comment was sent, the cursor moves to it when it arrives.
        let posting = content.drafts.iter().any(|(key, _)| view.outbox.progress(key).is_some());
        if posting && !self.posting {
            self.await_note(notes);
        }
        self.posting = posting;
        let at = self.scroll.at(self.len()).max(self.scroll.top());
        let ahead = at + 3 * self.scroll.height().max(1);
        // The head may be taller than the screen.
        let last = self.units.len().checked_sub(1).and_then(|last| self.row_of(last)).unwrap_or(0);
        let is_sought = self.awaited.is_some() || self.wanted.is_some();
        if notes.has_next(u32::MAX) && (ahead >= last || is_sought) {
            self.more_pages = self.more_pages.max(notes.pages());
        }
        self.go_to_awaited(view, notes);
        self.go_to_wanted(notes);
    }

    /// Groups the notes into threads and units.
    fn group_notes(&mut self, content: &Content) {
        self.threads.clear();
        // The threads on lines, by path, side and last line.
        let mut by_line: HashMap<(String, bool, Option<u32>), Vec<usize>> = HashMap::new();
        // The threads of the server, by ID.
        let mut by_id: HashMap<&str, usize> = HashMap::new();
        let mut run: Vec<usize> = Vec::new();
        // A run of system notes, or the next thread.
        let mut order: Vec<Option<Vec<usize>>> = Vec::new();
        self.written = 0;
        for (index, note) in content.all() {
            if note.system {
                run.push(index);
                continue;
            }
            self.written += usize::from(index < FIRST_COMMENT);
            if !run.is_empty() {
                order.push(Some(std::mem::take(&mut run)));
            }
            if let Some(id) = note.discussion_id.as_deref() {
                let known = *by_id.entry(id).or_insert(self.threads.len());
                if let Some(thread) = self.threads.get_mut(known) {
                    thread.notes.push(index);
                    continue;
                }
            }
            let position = threads::place(note).0;
            // The server may have two threads on the same lines.
            if let Some(position) =
                position.as_ref().filter(|_| note.discussion_id.is_none() || note.position.is_none())
            {
                let near = by_line.entry((position.path.clone(), position.old, position.line())).or_default();
                let is_same = |at: &&usize| {
                    let known = self.threads.get(**at).and_then(|thread| thread.position.as_ref());
                    known.is_some_and(|known| known.has_same_end(position))
                };
                if let Some(thread) = near.iter().find(is_same).copied().and_then(|at| self.threads.get_mut(at)) {
                    thread.notes.push(index);
                    continue;
                }
                near.push(self.threads.len());
            }
            order.push(None);
            let notes = vec![index];
            self.threads.push(Thread { notes, id: note.id, position, resolved: None, resolver: None });
        }
        if !run.is_empty() {
            order.push(Some(run));
        }
        for thread in &mut self.threads {
            let notes = || thread.notes.iter().filter_map(|index| content.note_at(*index));
            thread.resolved = threads::is_resolved(notes());
            thread.resolver = notes().find_map(|note| Some(note.resolved_by.as_ref()?.username.clone()));
        }
        self.has_outdated = self.threads.iter().any(|thread| {
            let first = thread.notes.first().and_then(|index| content.note_at(*index));
            first.zip(thread.position.as_ref()).is_some_and(|(note, position)| content.is_outdated(note, position))
        });
        self.has_resolvable = self.threads.iter().any(|thread| thread.resolved.is_some());
        self.units.clear();
        self.unresolved.clear();
        self.measured = None;
        let mut next = 0;
        for entry in order {
            match entry {
                Some(system) => {
                    let first = system.first().and_then(|index| content.note_at(*index)).map_or(0, |note| note.id);
                    let open = self.open.contains(&first);
                    self.units.push(Unit::System { notes: system, open });
                }
                None => {
                    let Some(thread) = self.threads.get(next) else { continue };
                    match thread.resolved {
                        Some(true) if !self.open.contains(&thread.id) => {
                            self.units.push(Unit::Resolved { thread: next });
                        }
                        resolved => {
                            self.unresolved.extend((resolved == Some(false)).then_some(self.units.len()));
                            self.units.extend((0..thread.notes.len()).map(|at| Unit::Comment { thread: next, at }));
                        }
                    }
                    next += 1;
                }
            }
        }
    }

    /// Returns the rendered text of a note.
    fn body<'a>(&self, view: &View<'a>, content: &Content<'a>, note: usize) -> Option<&'a [DocLine<'static>]> {
        if note >= FIRST_COMMENT {
            return content.rendered_comment(view, note);
        }
        let rendered = view.store.result::<Rendered>(self.chunks.get(note / CHUNK_NOTES)?)?;
        rendered.0.get(note % CHUNK_NOTES).map(Vec::as_slice)
    }

    /// Returns the lines of code above the comments of a thread.
    fn code(&self, content: &Content, thread: &Thread) -> Vec<CodeLine> {
        let first = thread.notes.first().and_then(|first| content.note_at(*first));
        let (Some(position), Some(note)) = (&thread.position, first) else { return Vec::new() };
        match thread_frame::quoted(position) {
            quoted if quoted.is_empty() => (content.code)(note, position),
            quoted => quoted,
        }
    }

    /// Returns the heights of the rows of a comment.
    fn comment_height(&self, view: &View, content: &Content, thread: &Thread, at: usize) -> CommentHeight {
        let Some(index) = thread.notes.get(at).copied() else { return CommentHeight::default() };
        let (is_first, is_last, is_framed) = (at == 0, at + 1 == thread.notes.len(), thread.is_framed());
        let text = match self.body(view, content, index) {
            Some(body @ [_]) => {
                content.note_at(index).map_or(1, |note| lines::comment(view, note, at > 0, body, content).height())
            }
            Some(body) => 1 + body.len(),
            // The heading, and a mark that the text is being rendered.
            None => 2,
        };
        let note = content.note_at(index).filter(|_| index < FIRST_COMMENT);
        let has_reactions = note.is_some_and(|note| self.reacted.contains(&note.id));
        CommentHeight {
            top: usize::from(is_framed && is_first),
            code: if is_first { self.code(content, thread).len().min(CODE_LINES) } else { 0 },
            text,
            reactions: usize::from(has_reactions),
            bottom: usize::from(is_framed && is_last),
            gap: usize::from(is_last),
        }
    }

    /// Returns the number of rows of a unit, and how many of them are above its first text.
    fn unit_height(&self, view: &View, content: &Content, index: usize) -> (usize, usize) {
        // One-row units are followed by an empty row if something else comes next.
        let next = self.units.get(index + 1);
        match self.units.get(index) {
            Some(Unit::System { notes, open }) => {
                let gap = !matches!(next, Some(Unit::System { .. }) | None);
                ((if *open { notes.len() } else { 1 }) + usize::from(gap), 0)
            }
            Some(Unit::Resolved { .. }) => (1 + usize::from(!matches!(next, Some(Unit::Resolved { .. }))), 0),
            Some(Unit::Comment { thread, at }) => {
                let thread = self.threads.get(*thread);
                let height = thread.map(|thread| self.comment_height(view, content, thread, *at)).unwrap_or_default();
                (height.rows(), height.above())
            }
            None => (0, 0),
        }
    }

    /// Measures the units: all of them for new units or a new width, otherwise those around the viewport, because there
    /// may be twenty thousand.
    fn measure(&mut self, view: &View, content: &Content) {
        let is_new = self.measured != Some(content.width);
        let units = if is_new { 0..self.units.len() } else { self.range_near(view) };
        self.heights.resize(self.units.len(), (0, 0));
        let mut moved = is_new;
        for index in units {
            let now = self.unit_height(view, content, index);
            if let Some(known) = self.heights.get_mut(index) {
                moved |= std::mem::replace(known, now) != now;
            }
        }
        self.measured = Some(content.width);
        if moved {
            let mut row = 0;
            self.starts.clear();
            for (height, _) in &self.heights {
                self.starts.push(row);
                row += height;
            }
            self.starts.push(row);
        }
        let mut row = self.starts.last().copied().unwrap_or(0);
        self.drafts.clear();
        self.drafted = content.drafts.iter().map(|(_, draft)| lines::drafted(draft, content.width)).collect();
        for lines in &self.drafted {
            self.drafts.push(row);
            row += 2 + lines.len().max(1);
        }
        self.drafts.push(row);
    }

    fn anchor(&self, content: &Content) -> Option<Anchor> {
        let at = self.at(self.scroll.at(self.len()))?;
        let note = match at {
            RowKind::Unit(unit, _) => content.note_at(self.first_note(unit)?)?.id,
            _ => 0,
        };
        Some(Anchor { at, note, facts: self.facts })
    }

    fn first_note(&self, unit: usize) -> Option<usize> {
        match self.units.get(unit)? {
            Unit::System { notes, .. } => notes.first().copied(),
            Unit::Resolved { thread } => self.threads.get(*thread)?.notes.first().copied(),
            unit => self.note_of(unit),
        }
    }

    /// Moves the cursor back to the item it was on, and scrolls by the same number of rows.
    fn restore_cursor(&mut self, anchor: Option<Anchor>, content: &Content) {
        let before = self.scroll.cursor();
        // A cursor at the top stays there, whatever arrives.
        let Some(anchor) = anchor.filter(|_| before > 0) else { return };
        let after = match anchor.at {
            RowKind::Unit(unit, line) => {
                let id = |unit: usize| content.note_at(self.first_note(unit)?).map(|note| note.id);
                let is_it = |unit: &usize| id(*unit) == Some(anchor.note);
                let unit = Some(unit).filter(is_it).or_else(|| (0..self.units.len()).rev().find(is_it));
                let unit = unit.unwrap_or_else(|| self.units.len().saturating_sub(1));
                self.row_of(unit).map(|start| start + line.min(self.height_of(unit).saturating_sub(1)))
            }
            RowKind::Head(line) => {
                let text = line.checked_sub(anchor.facts);
                text.map(|line| (self.facts + line).min(self.head.saturating_sub(1)))
            }
            RowKind::Between(line) => Some(self.head + line),
            RowKind::Draft(draft, line) => {
                let draft = draft.min(self.drafts.len().saturating_sub(2));
                let rows = self.drafted.get(draft).map_or(0, |lines| 1 + lines.len().max(1));
                self.row_of_draft(draft).map(|start| start + line.min(rows))
            }
            RowKind::Tail => None,
        };
        let Some(after) = after.filter(|after| *after != before) else { return };
        let len = self.len();
        self.scroll.select(after, len);
        let top = self.scroll.top().saturating_add_signed(after as isize - before as isize);
        self.scroll.set_top(top);
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
        // A reply is shown in its thread, which may be anywhere.
        let found = (0..notes.len()).rev().find(|index| notes.get(*index).is_some_and(mine));
        if let Some(row) = found.and_then(|index| self.row_of_note(index)) {
            self.awaited = None;
            let len = self.len();
            self.scroll.goto(row, len);
        }
    }

    /// Goes to a comment once it is loaded, unless the user moves first.
    pub fn want_note(&mut self, id: Option<u64>) {
        self.wanted = id;
    }

    /// Stays on the wanted note until the user moves: rows above it may still be rendered.
    fn go_to_wanted(&mut self, notes: &Rows<Note>) {
        let Some(wanted) = self.wanted else { return };
        let found = notes.iter().position(|note| note.id == wanted);
        match found.and_then(|index| self.row_of_note(index)) {
            Some(row) if row != self.scroll.at(self.len()) => {
                let len = self.len();
                self.scroll.goto(row, len);
            }
            None if notes.is_loaded && !notes.has_next(u32::MAX) => self.wanted = None,
            _ => {}
        }
    }

    fn await_note(&mut self, notes: &Rows<Note>) {
        let before = notes.iter().map(|note| note.id).max().unwrap_or(0);
        self.awaited = Some(AwaitedNote { before, whole: notes.is_loaded && !notes.has_more });
    }

    fn row_of(&self, unit: usize) -> Option<usize> {
        let start = self.starts.get(unit).filter(|_| unit < self.units.len())?;
        Some(self.head + self.between + start)
    }

    fn row_of_note(&self, index: usize) -> Option<usize> {
        let has_it = |thread: &usize| self.threads.get(*thread).is_some_and(|thread| thread.notes.contains(&index));
        let is_it = |unit: &Unit| match unit {
            Unit::Comment { .. } => self.note_of(unit) == Some(index),
            Unit::Resolved { thread } => has_it(thread),
            Unit::System { .. } => false,
        };
        let unit = self.units.iter().position(is_it)?;
        Some(self.row_of(unit)? + self.heights.get(unit).map_or(0, |(_, above)| *above))
    }

    fn row_of_draft(&self, draft: usize) -> Option<usize> {
        let start = self.drafts.get(draft).filter(|_| draft + 1 < self.drafts.len())?;
        Some(self.head + self.between + start)
    }

    fn height_of(&self, unit: usize) -> usize {
        let ends = self.starts.get(unit).zip(self.starts.get(unit + 1));
        ends.map_or(0, |(start, end)| end - start)
    }

    fn len(&self) -> usize {
        let rows = self.drafts.last().copied().unwrap_or(0);
        self.head + self.between + rows + usize::from(self.tail)
    }

    fn at(&self, row: usize) -> Option<RowKind> {
        let Some(row) = row.checked_sub(self.head) else { return Some(RowKind::Head(row)) };
        let Some(row) = row.checked_sub(self.between) else { return Some(RowKind::Between(row)) };
        if row < self.starts.last().copied().unwrap_or(0) {
            let unit = self.starts.partition_point(|start| *start <= row).checked_sub(1)?;
            return Some(RowKind::Unit(unit, row - self.starts.get(unit)?));
        }
        if row < self.drafts.last().copied().unwrap_or(0) {
            let draft = self.drafts.partition_point(|start| *start <= row).checked_sub(1)?;
            return Some(RowKind::Draft(draft, row - self.drafts.get(draft)?));
        }
        Some(RowKind::Tail)
    }

    /// Returns the item under the cursor.
    pub fn at_cursor(&self) -> UnderCursor {
        match self.at(self.scroll.at(self.len())) {
            Some(RowKind::Head(line)) => UnderCursor::Head(line),
            Some(RowKind::Unit(unit, _)) => match self.units.get(unit) {
                Some(Unit::System { .. }) => UnderCursor::System,
                Some(_) => self.first_note(unit).map_or(UnderCursor::Other, UnderCursor::Note),
                None => UnderCursor::Other,
            },
            Some(RowKind::Draft(draft, _)) => UnderCursor::Draft(draft),
            _ => UnderCursor::Other,
        }
    }

    /// Returns the index of the note under the cursor.
    pub fn note(&self) -> Option<usize> {
        if let UnderCursor::Note(note) = self.at_cursor() { Some(note) } else { None }
    }

    /// Returns the unit under the cursor.
    fn unit(&self) -> Option<usize> {
        match self.at(self.scroll.at(self.len()))? {
            RowKind::Unit(unit, _) => Some(unit),
            _ => None,
        }
    }

    /// Returns whether Enter folds or unfolds what is under the cursor: system notes or a folded resolved thread.
    pub fn is_fold(&self) -> bool {
        let unit = self.unit().and_then(|unit| self.units.get(unit));
        matches!(unit, Some(Unit::System { .. } | Unit::Resolved { .. }))
    }

    /// Folds or unfolds the unit under the cursor: system notes or a resolved thread.
    pub fn toggle(&mut self, content: &Content) {
        let first = match self.unit().and_then(|unit| self.units.get(unit)) {
            Some(Unit::System { notes, .. }) => {
                notes.first().and_then(|index| content.note_at(*index)).map(|note| note.id)
            }
            Some(Unit::Resolved { thread } | Unit::Comment { thread, .. }) => {
                self.threads.get(*thread).map(|thread| thread.id)
            }
            None => None,
        };
        let Some(first) = first else { return };
        if !self.open.remove(&first) {
            self.open.insert(first);
        }
        self.units_key = None;
    }

    /// Goes to the next or previous unresolved thread; returns `false` if there is none. Where threads cannot be
    /// resolved, it goes to the next or previous unit.
    pub fn step_thread(&mut self, forward: bool) -> bool {
        if !self.has_resolvable {
            self.step_note(forward);
            return true;
        }
        let here = self.scroll.at(self.len());
        let rows = self.unresolved.iter().filter_map(|unit| self.row_of(*unit));
        let row = if forward { rows.filter(|row| *row > here).min() } else { rows.filter(|row| *row < here).max() };
        if let Some(row) = row {
            self.wanted = None;
            let len = self.len();
            self.scroll.goto(row, len);
        }
        row.is_some()
    }

    /// Goes to the next or previous unit or draft; backward from the first one, to the top.
    pub fn step_note(&mut self, forward: bool) {
        let rows = (0..self.units.len()).filter_map(|unit| self.row_of(unit));
        let rows = rows.chain((0..self.drafts.len()).filter_map(|draft| self.row_of_draft(draft)));
        let here = self.scroll.at(self.len());
        let to = if forward { rows.into_iter().find(|row| *row > here) } else { rows.filter(|row| *row < here).last() };
        self.wanted = None;
        if let Some(row) = to.or((!forward).then_some(0)) {
            let len = self.len();
            self.scroll.goto(row, len);
        }
    }

    /// Moves the cursor. It does not stop on the borders of threads, or on the empty rows between comments.
    pub fn motion(&mut self, motion: Motion) {
        let len = self.len();
        self.wanted = None;
        let before = self.scroll.at(len);
        motion.scroll(&mut self.scroll, len);
        let step = match motion {
            Motion::Up => -1,
            Motion::Down => 1,
            _ => return,
        };
        let mut at = self.scroll.at(len);
        while self.is_blank(at) {
            self.scroll.move_by(step, len);
            let next = self.scroll.at(len);
            if next == at {
                return self.scroll.select(before, len);
            }
            at = next;
        }
    }

    /// Returns whether a row below a comment has no text.
    fn is_blank(&self, row: usize) -> bool {
        let Some(RowKind::Unit(unit, line)) = self.at(row) else { return false };
        let from_end = self.height_of(unit) - line;
        match self.units.get(unit) {
            Some(Unit::Comment { thread, at }) => {
                let thread = self.threads.get(*thread);
                let is_last = thread.is_some_and(|thread| at + 1 == thread.notes.len());
                let blank = if thread.is_some_and(Thread::is_framed) { 2 } else { 1 };
                is_last && from_end <= blank
            }
            Some(Unit::Resolved { .. }) => line > 0,
            Some(Unit::System { notes, open }) => line >= if *open { notes.len() } else { 1 },
            None => false,
        }
    }

    /// Moves the cursor to the clicked row, if it is in the document.
    pub fn click(&mut self, column: u16, row: u16) {
        let (area, len) = (self.area.get(), self.len());
        self.wanted = None;
        let line = Some(row).filter(|row| area.contains((column, *row).into()));
        if let Some(line) = line.and_then(|row| self.scroll.line_at(row - area.y, len)) {
            self.scroll.goto(line, len);
        }
    }

    /// Returns the number of columns for the text in the area of the last frame, or in `width` columns before.
    pub fn columns(&self, width: u16) -> usize {
        let drawn = self.area.get().width;
        let width = if drawn > 0 { drawn } else { width };
        usize::from(width.saturating_sub(GUTTER_WIDTH + 2)).clamp(20, rendered_markdown::MAX_PROSE_WIDTH)
    }

    /// Draws the visible lines.
    pub fn draw(&self, view: &View, area: Rect, buf: &mut Buffer, focused: bool, content: &Content) {
        self.area.set(area);
        let here = self.at(self.scroll.at(self.len()));
        doc::draw(buf, area, view.theme, focused, &self.scroll, self.len(), GUTTER_WIDTH, &|row| {
            let Some(at) = self.at(row) else { return DocLine::default() };
            let mut line = self.line(view, content, at);
            let is_at_cursor = match (at, here) {
                (RowKind::Unit(unit, line), Some(RowKind::Unit(here, _))) => {
                    unit == here && line + 1 < self.height_of(unit)
                }
                (RowKind::Draft(draft, _), Some(RowKind::Draft(here, _))) => draft == here,
                _ => false,
            };
            if is_at_cursor && line.gutter.is_empty() {
                line.gutter = Line::new(glyph::divider(), Role::Accent);
            }
            line
        });
    }

    fn line(&self, view: &View, content: &Content, at: RowKind) -> DocLine<'static> {
        match at {
            RowKind::Head(index) => (content.head.line)(index),
            RowKind::Between(0) => Reactions::to(content.on.clone(), None).line(view, content.width).into(),
            RowKind::Between(_) => lines::divider(content, self.written, self.unresolved.len()),
            RowKind::Unit(unit, line) => self.unit_line(view, content, unit, line),
            RowKind::Draft(draft, line) => self.draft_line(view, content, draft, line),
            RowKind::Tail => lines::tail(view, content),
        }
    }

    /// Returns the links of the line under the cursor.
    pub fn links_here(&self, view: &View, content: &Content) -> Vec<Link> {
        let at = self.at(self.scroll.at(self.len()));
        at.map(|at| links::of_line(&self.line(view, content, at))).unwrap_or_default()
    }

    fn unit_line(&self, view: &View, content: &Content, unit: usize, line: usize) -> DocLine<'static> {
        match self.units.get(unit) {
            Some(Unit::System { notes: run, open: true }) => run
                .get(line)
                .and_then(|index| content.note_at(*index))
                .map(|note| lines::system(view, note))
                .unwrap_or_default(),
            Some(Unit::System { notes: run, open: false }) if line == 0 => {
                lines::system_run(view, &content.notes, run, content.width)
            }
            Some(Unit::Resolved { thread }) if line == 0 => {
                let Some(thread) = self.threads.get(*thread) else { return DocLine::default() };
                let Some(first) = thread.notes.first().and_then(|index| content.note_at(*index)) else {
                    return DocLine::default();
                };
                let facts = lines::facts(first, thread.position.as_ref(), content);
                let body = threads::place(first).1;
                thread.state().folded(facts, first.author.as_ref(), body, content.width).into()
            }
            Some(Unit::Comment { thread, at }) => match self.threads.get(*thread) {
                Some(thread) => self.comment_line(view, content, (unit, thread, *at), line),
                None => DocLine::default(),
            },
            _ => DocLine::default(),
        }
    }

    fn comment_line(
        &self,
        view: &View,
        content: &Content,
        (unit, thread, at): (usize, &Thread, usize),
        line: usize,
    ) -> DocLine<'static> {
        let Some(index) = thread.notes.get(at).copied() else { return DocLine::default() };
        let Some(note) = content.note_at(index) else { return DocLine::default() };
        let height = self.comment_height(view, content, thread, at);
        let frame = thread.state().frame();
        let framed = |line: DocLine<'static>| if thread.is_framed() { frame.row(line) } else { line };
        let Some(line) = line.checked_sub(height.top) else {
            let top = thread.state().top(lines::facts(note, thread.position.as_ref(), content));
            // The cursor may be on any comment of the thread.
            let here = self.unit().and_then(|here| here.checked_sub(unit)).and_then(|at| thread.notes.get(at));
            let Some(here) = here.and_then(|index| content.note_at(*index)) else { return top.into() };
            let has_suggestion = matches!(content.on, Noteable::MergeRequest { .. })
                && thread.position.is_some()
                && !suggestions::read(&here.body).is_empty();
            return lines::with_hints(view, content, top, thread.resolved, has_suggestion).into();
        };
        if line < height.code {
            let code = self.code(content, thread);
            let shown = code.get(code.len().saturating_sub(CODE_LINES) + line);
            return shown.map(|line| frame.code(&code, line)).unwrap_or_default();
        }
        let line = line - height.code;
        if line < height.text {
            return framed(match self.body(view, content, index) {
                Some(body) => lines::comment(view, note, at > 0, body, content).row(line),
                None if line == 0 => lines::comment(view, note, at > 0, &[], content).row(0),
                None => DocLine::new(glyph::ellipsis(), Role::Faint),
            });
        }
        match line - height.text {
            0 if height.reactions > 0 => {
                framed(Reactions::to(content.on.clone(), Some(note.id)).line(view, content.text_width()).into())
            }
            rest if rest == height.reactions && height.bottom > 0 => frame.bottom(),
            _ => DocLine::default(),
        }
    }

    fn draft_line(&self, view: &View, content: &Content, draft: usize, line: usize) -> DocLine<'static> {
        let Some((key, of)) = content.drafts.get(draft) else { return DocLine::default() };
        match line.checked_sub(1) {
            None => lines::draft_heading(view, key, of),
            Some(within) => {
                let words = self.drafted.get(draft).and_then(|lines| lines.get(within));
                words.map(|words| DocLine::new(words.clone(), Role::Text)).unwrap_or_default()
            }
        }
    }
}

/// Returns the key of a chunk. It changes when a note of the chunk is edited.
fn chunk_key(notes: &Rows<Note>, chunk: usize, chunks_key: &(Revision, usize, String)) -> String {
    let mut hasher = DefaultHasher::new();
    for index in chunk * CHUNK_NOTES..(chunk + 1) * CHUNK_NOTES {
        let Some(note) = notes.get(index) else { break };
        let changed = note.updated_at.as_ref().map(|time| time.as_str());
        (note.id, note.system, changed, note.body.len()).hash(&mut hasher);
    }
    format!("notes {:016x} in {} columns, {}", hasher.finish(), chunks_key.1, chunks_key.2)
}
