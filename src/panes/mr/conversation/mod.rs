//! The overview of a merge request as one document: facts, description, and all comments in order.
//!
//! Notes are rendered in the background, in chunks of a hundred and only near the viewport. Consecutive notes form
//! units: consecutive system notes are folded into one line, and notes of one thread or on the same lines are shown
//! together where the first of them was written. Row offsets are prefix sums that are recomputed after an update, so
//! that drawing a frame costs only what is visible.

mod lines;

use crate::api::notes::Note;
use crate::api::versions::Version;
use crate::api::{Noteable, Time};
use crate::app::motion::Motion;
use crate::app::outbox::{DiffPosition, Draft};
use crate::app::view::View;
use crate::panes::mr::changes::versions;
use crate::panes::mr::facts::{self, Facts};
use crate::parts::reactions::Reactions;
use crate::parts::review::threads;
use crate::parts::{rendered_markdown, sidebar};
use crate::store::{Canceled, Derive, Revision, Rows, Want, Work};
use crate::ui::code::Budget;
use crate::ui::doc::{self, DocLine, DocState};
use crate::ui::drawn::Drawn;
use crate::ui::glyph;
use crate::ui::line::Line;
use crate::ui::markdown;
use crate::ui::theme::{Role, Theme};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

/// The number of notes rendered together.
const CHUNK_NOTES: usize = 100;
/// The maximum number of chunks rendered concurrently.
const MAX_CONCURRENT_CHUNKS: usize = 2;
/// The width of the gutter in columns; it shows a bar along the note under the cursor.
const GUTTER_WIDTH: u16 = 2;
/// The maximum number of visible notes whose reactions are loaded.
const MAX_REACTION_LOADS: usize = 16;
/// The number of rows between the description and the notes.
const BETWEEN_ROWS: usize = 2;
/// The maximum number of quoted code lines of a thread.
const MAX_QUOTED_LINES: usize = 4;
/// The maximum number of lines shown of a draft.
const MAX_DRAFT_LINES: usize = 6;

/// The loaded data that the document is built from.
pub struct Content<'a> {
    pub facts: Facts<'a>,
    /// A key that changes with the text of the description.
    pub identity: String,
    /// The merge request.
    pub on: Noteable,
    /// The versions of the merge request, loaded if a thread belongs to an older one.
    pub versions: Rows<'a, Version>,
    pub notes: Rows<'a, Note>,
    /// The comments on its commits, as notes, oldest first, each with a key of its text; and a number that changes with
    /// them.
    pub comments: &'a [(String, Note)],
    pub comments_revision: u64,
    /// The unsent drafts with their keys.
    pub drafts: &'a [(String, Draft)],
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
        let refs = self.facts.merge_request.diff_refs.as_ref();
        let head = refs.and_then(|refs| refs.head_sha.as_deref()).filter(|_| note.position.is_some());
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
}

/// A unit of the document.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Unit {
    /// Consecutive system notes, by their indices.
    System { notes: Vec<usize>, open: bool },
    /// A resolved thread folded into one line, by the indices of its notes.
    Resolved { notes: Vec<usize> },
    /// A note or comment by a user.
    Note {
        note: usize,
        /// The index of the note, if it is the first one on its lines: the position and the lines are shown above it.
        position_of: Option<usize>,
        /// Whether the note is a reply to the one before it.
        is_reply: bool,
    },
}

/// The content of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RowKind {
    Head(usize),
    Description(usize),
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
    description: usize,
    units: Vec<Unit>,
    /// The inputs of the units: the revisions of notes and comments. `None` if a unit was folded or unfolded since.
    units_key: Option<(Revision, u64)>,
    /// The IDs of the first notes of units that are open.
    open: HashSet<u64>,
    /// The indices of the first notes of unresolved threads.
    unresolved: Vec<usize>,
    /// Whether a thread belongs to an older version of the changes.
    has_outdated: bool,
    /// The positions that notes are on, by the index of the note.
    positions: HashMap<usize, DiffPosition>,
    /// The first row of each unit, relative to the first unit, and the end of the last one.
    starts: Vec<usize>,
    /// The first row of each draft, relative to the first unit, and the end of the last one.
    drafts: Vec<usize>,
    tail: bool,
    awaited: Option<AwaitedNote>,
    /// The ID of the note to go to once it is loaded.
    wanted: Option<u64>,
    /// Whether comments on this merge request were being sent at the last update.
    posting: bool,
    area: Drawn<Rect>,
}

impl Conversation {
    /// Returns the width of the text in columns.
    pub fn width(view: &View) -> usize {
        usize::from(sidebar::left(view).saturating_sub(GUTTER_WIDTH + 2)).min(rendered_markdown::MAX_PROSE_WIDTH)
    }

    /// Returns the number of pages of notes needed around the viewport.
    pub fn pages(&self) -> u32 {
        1 + self.more_pages
    }

    /// Returns the rendering work for the description and the notes around the viewport.
    pub fn works(&self, view: &View, content: &Content) -> Vec<Work> {
        let width = Conversation::width(view);
        let mut works = Vec::new();
        if let Some(text) = lines::description(content) {
            works.extend(rendered_markdown::work(view, &content.identity, text, width));
        }
        let height = usize::from(view.size.1);
        let around = self.scroll.at(self.len());
        let first = self.unit_near(around.saturating_sub(2 * height));
        let last = self.unit_near(around + 2 * height);
        // A thread is shown where it started, so its notes may belong to any chunk.
        let mut chunks: Vec<usize> = Vec::new();
        for unit in self.units.get(first..=last).unwrap_or_default() {
            match unit {
                Unit::Note { note, .. } if *note >= FIRST_COMMENT => {
                    let comment = content.comment(*note);
                    works.extend(comment.and_then(|(name, note)| {
                        rendered_markdown::work(view, name, &threads::shown_body(note), width)
                    }));
                }
                Unit::Note { note, .. } if !chunks.contains(&(note / CHUNK_NOTES)) => chunks.push(note / CHUNK_NOTES),
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

    /// Returns whether a thread belongs to an older version of the changes.
    pub fn is_any_outdated(&self) -> bool {
        self.has_outdated
    }

    /// Returns the requests for the reactions to the merge request and to the visible notes.
    pub fn reactions(&self, view: &View, content: &Content) -> Vec<Want> {
        let top = self.scroll.top();
        let (first, last) = (self.unit_near(top), self.unit_near(top + self.scroll.height()));
        let note = |unit: &Unit| match unit {
            Unit::Note { note, .. } if *note < FIRST_COMMENT => content.note_at(*note).map(|note| note.id),
            _ => None,
        };
        let notes = self.units.get(first..=last).unwrap_or_default().iter().filter_map(note).take(MAX_REACTION_LOADS);
        let all = std::iter::once(None).chain(notes.map(Some));
        all.filter_map(|note| Reactions::to(content.on.clone(), note).want(view)).collect()
    }

    /// Returns the unit at a row, or the nearest one.
    fn unit_near(&self, row: usize) -> usize {
        let row = row.saturating_sub(self.head + self.description + BETWEEN_ROWS);
        let at = self.starts.partition_point(|start| *start <= row).saturating_sub(1);
        at.min(self.units.len().saturating_sub(1))
    }

    /// Updates the layout after new data arrived, keeps the cursor on its item, and requests more notes near the end.
    pub fn sync(&mut self, view: &View, content: &Content) {
        let anchor = self.anchor(content);
        let (notes, width) = (&content.notes, Conversation::width(view));
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
        self.head = facts::lines(view, &content.facts, width).len();
        self.description = match lines::description(content) {
            None => 1,
            Some(_) => rendered_markdown::rendered(view, &content.identity, width)
                .map_or(1, |rendered| rendered.lines.len().max(1)),
        };
        self.measure(view, content);
        self.tail = notes.is_empty() && content.comments.is_empty() || notes.has_more || notes.error.is_some();
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

    /// Groups the notes into units.
    fn group_notes(&mut self, content: &Content) {
        self.positions.clear();
        let mut order: Vec<Vec<usize>> = Vec::new();
        // The threads on lines, by path, side and last line.
        let mut by_line: HashMap<(String, bool, Option<u32>), Vec<usize>> = HashMap::new();
        // The threads of the server, by ID.
        let mut by_id: HashMap<&str, usize> = HashMap::new();
        let mut run: Vec<usize> = Vec::new();
        let mut units: Vec<Option<Vec<usize>>> = Vec::new();
        for (index, note) in content.all() {
            if note.system {
                run.push(index);
                continue;
            }
            if !run.is_empty() {
                units.push(Some(std::mem::take(&mut run)));
            }
            if let Some(id) = note.discussion_id.as_deref() {
                let known = *by_id.entry(id).or_insert(order.len());
                if let Some(thread) = order.get_mut(known) {
                    thread.push(index);
                    continue;
                }
            }
            let Some(position) = threads::place(note).0 else {
                units.push(None);
                order.push(vec![index]);
                continue;
            };
            // The server may have two threads on the same lines.
            if note.discussion_id.is_some() && note.position.is_some() {
                self.positions.insert(index, position);
                units.push(None);
                order.push(vec![index]);
                continue;
            }
            let near = by_line.entry((position.path.clone(), position.old, position.line())).or_default();
            let first = |thread: &usize| order.get(*thread).and_then(|notes| notes.first()).copied();
            let same = near.iter().copied().find(|thread| {
                first(thread)
                    .and_then(|first| self.positions.get(&first))
                    .is_some_and(|known| known.has_same_end(&position))
            });
            match same.and_then(|thread| order.get_mut(thread)) {
                Some(thread) => thread.push(index),
                None => {
                    near.push(order.len());
                    self.positions.insert(index, position);
                    units.push(None);
                    order.push(vec![index]);
                }
            }
        }
        if !run.is_empty() {
            units.push(Some(run));
        }
        let mut placed =
            self.positions.iter().filter_map(|(index, position)| Some((content.note_at(*index)?, position)));
        self.has_outdated = placed.any(|(note, position)| content.is_outdated(note, position));
        self.units.clear();
        self.unresolved.clear();
        let mut remaining = order.into_iter();
        for unit in units {
            match unit {
                Some(system) => {
                    let first = system.first().and_then(|index| content.note_at(*index)).map_or(0, |note| note.id);
                    let open = self.open.contains(&first);
                    self.units.push(Unit::System { notes: system, open });
                }
                None => {
                    let thread = remaining.next().unwrap_or_default();
                    let first = thread.first().and_then(|index| content.note_at(*index)).map_or(0, |note| note.id);
                    match threads::is_resolved(thread.iter().filter_map(|index| content.note_at(*index))) {
                        Some(true) if !self.open.contains(&first) => {
                            self.units.push(Unit::Resolved { notes: thread });
                            continue;
                        }
                        Some(false) => self.unresolved.extend(thread.first()),
                        _ => {}
                    }
                    self.units.extend(thread.into_iter().enumerate().map(|(at, note)| Unit::Note {
                        note,
                        position_of: (at == 0 && self.positions.contains_key(&note)).then_some(note),
                        is_reply: at > 0,
                    }));
                }
            }
        }
    }

    fn measure(&mut self, view: &View, content: &Content) {
        self.starts.clear();
        let mut row = 0;
        let mut known: Option<(usize, Option<&Rendered>)> = None;
        for (index, unit) in self.units.iter().enumerate() {
            self.starts.push(row);
            row += match unit {
                // System notes are followed by an empty line if a user's note or thread comes next.
                Unit::System { notes, open } => {
                    let gap = !matches!(self.units.get(index + 1), Some(Unit::System { .. }) | None);
                    (if *open { notes.len() } else { 1 }) + usize::from(gap)
                }
                Unit::Resolved { .. } => 2,
                Unit::Note { note, position_of, .. } if *note >= FIRST_COMMENT => {
                    let rendered = content
                        .comment(*note)
                        .and_then(|(name, _)| rendered_markdown::rendered(view, name, Conversation::width(view)));
                    self.above(*position_of) + 1 + rendered.map_or(1, |rendered| rendered.lines.len()) + 1
                }
                Unit::Note { note, position_of, .. } => {
                    let chunk = note / CHUNK_NOTES;
                    if known.is_none_or(|(of, _)| of != chunk) {
                        let rendered = self.chunks.get(chunk).and_then(|key| view.store.result::<Rendered>(key));
                        known = Some((chunk, rendered));
                    }
                    let rendered = known.and_then(|(_, rendered)| rendered?.0.get(note % CHUNK_NOTES));
                    // The position, the heading, the text, and a line for reactions.
                    self.above(*position_of) + 1 + rendered.map_or(1, Vec::len) + 1
                }
            };
        }
        self.starts.push(row);
        self.drafts.clear();
        for (_, draft) in content.drafts {
            self.drafts.push(row);
            row += 2 + draft.text.lines().count().clamp(1, MAX_DRAFT_LINES);
        }
        self.drafts.push(row);
    }

    /// Returns the number of rows above a note that show its position and quoted lines.
    fn above(&self, position_of: Option<usize>) -> usize {
        let quote = position_of
            .and_then(|note| self.positions.get(&note))
            .map(|position| position.quote.len().min(MAX_QUOTED_LINES));
        quote.map_or(0, |quote| 1 + quote)
    }

    fn anchor(&self, content: &Content) -> Option<Anchor> {
        let at = self.at(self.scroll.at(self.len()))?;
        let note = match at {
            RowKind::Unit(unit, _) => content.note_at(self.first_note(unit)?)?.id,
            _ => 0,
        };
        Some(Anchor { at, note })
    }

    fn first_note(&self, unit: usize) -> Option<usize> {
        match self.units.get(unit)? {
            Unit::System { notes, .. } | Unit::Resolved { notes } => notes.first().copied(),
            Unit::Note { note, .. } => Some(*note),
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
            RowKind::Description(line) => Some(self.head + line.min(self.description.saturating_sub(1))),
            RowKind::Between(line) => Some(self.head + self.description + line),
            RowKind::Draft(draft, _) => self.row_of_draft(draft.min(self.drafts.len().saturating_sub(2))),
            RowKind::Head(_) | RowKind::Tail => None,
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

    /// Goes to a note once it is loaded, unless the user moves first.
    pub fn want_note(&mut self, id: Option<u64>) {
        self.wanted = id;
    }

    fn go_to_wanted(&mut self, notes: &Rows<Note>) {
        let Some(wanted) = self.wanted else { return };
        let found = notes.iter().position(|note| note.id == wanted);
        if let Some(row) = found.and_then(|index| self.row_of_note(index)) {
            let len = self.len();
            self.scroll.goto(row, len);
        }
        if found.is_some() || notes.is_loaded && !notes.has_next(u32::MAX) {
            self.wanted = None;
        }
    }

    fn await_note(&mut self, notes: &Rows<Note>) {
        let before = notes.iter().map(|note| note.id).max().unwrap_or(0);
        self.awaited = Some(AwaitedNote { before, whole: notes.is_loaded && !notes.has_more });
    }

    fn row_of(&self, unit: usize) -> Option<usize> {
        let start = self.starts.get(unit).filter(|_| unit < self.units.len())?;
        Some(self.head + self.description + BETWEEN_ROWS + start)
    }

    fn row_of_note(&self, index: usize) -> Option<usize> {
        let is_it = |unit: &Unit| match unit {
            Unit::Note { note, .. } => *note == index,
            Unit::Resolved { notes } => notes.contains(&index),
            Unit::System { .. } => false,
        };
        let unit = self.units.iter().position(is_it)?;
        let above = match self.units.get(unit)? {
            Unit::Note { position_of, .. } => self.above(*position_of),
            Unit::System { .. } | Unit::Resolved { .. } => 0,
        };
        Some(self.row_of(unit)? + above)
    }

    fn row_of_draft(&self, draft: usize) -> Option<usize> {
        let start = self.drafts.get(draft).filter(|_| draft + 1 < self.drafts.len())?;
        Some(self.head + self.description + BETWEEN_ROWS + start)
    }

    fn height_of(&self, unit: usize) -> usize {
        let ends = self.starts.get(unit).zip(self.starts.get(unit + 1));
        ends.map_or(0, |(start, end)| end - start)
    }

    fn len(&self) -> usize {
        let rows = self.drafts.last().copied().unwrap_or(0);
        self.head + self.description + BETWEEN_ROWS + rows + usize::from(self.tail)
    }

    fn at(&self, row: usize) -> Option<RowKind> {
        let Some(row) = row.checked_sub(self.head) else { return Some(RowKind::Head(row)) };
        let Some(row) = row.checked_sub(self.description) else { return Some(RowKind::Description(row)) };
        let Some(row) = row.checked_sub(BETWEEN_ROWS) else { return Some(RowKind::Between(row)) };
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
            Some(RowKind::Unit(unit, _)) => match self.units.get(unit) {
                Some(Unit::Note { note, .. }) => UnderCursor::Note(*note),
                Some(Unit::Resolved { notes }) => {
                    notes.first().map_or(UnderCursor::Other, |note| UnderCursor::Note(*note))
                }
                Some(Unit::System { .. }) => UnderCursor::System,
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

    /// Returns whether a folded resolved thread is under the cursor.
    pub fn is_folded(&self) -> bool {
        let unit = self.at(self.scroll.at(self.len()));
        matches!(unit, Some(RowKind::Unit(unit, _)) if matches!(self.units.get(unit), Some(Unit::Resolved { .. })))
    }

    /// Folds or unfolds the unit under the cursor: system notes or a resolved thread.
    pub fn toggle(&mut self, notes: &Rows<Note>) {
        let Some(RowKind::Unit(unit, _)) = self.at(self.scroll.at(self.len())) else { return };
        // A thread is identified by its first note.
        let starts_thread = |unit: &usize| !matches!(self.units.get(*unit), Some(Unit::Note { is_reply: true, .. }));
        let Some(first) = (0..=unit).rev().find(starts_thread).and_then(|unit| self.first_note(unit)) else { return };
        let Some(first) = notes.get(first).map(|note| note.id) else { return };
        if !self.open.remove(&first) {
            self.open.insert(first);
        }
        self.units_key = None;
    }

    /// Goes to the next or previous unresolved thread. If all are resolved, goes to the next or previous unit.
    pub fn step_thread(&mut self, forward: bool) {
        let here = self.scroll.at(self.len());
        let rows = self.unresolved.iter().filter_map(|note| self.row_of_note(*note));
        let row = if forward { rows.filter(|row| *row > here).min() } else { rows.filter(|row| *row < here).max() };
        match row {
            Some(row) => {
                let len = self.len();
                self.scroll.goto(row, len);
            }
            None if self.unresolved.is_empty() => self.step_note(forward),
            None => {}
        }
    }

    /// Returns the number of unresolved threads.
    pub fn unresolved(&self) -> usize {
        self.unresolved.len()
    }

    /// Goes to the next or previous unit or draft; backward from the first one, to the top.
    pub fn step_note(&mut self, forward: bool) {
        let rows = (0..self.units.len()).filter_map(|unit| self.row_of(unit));
        let rows = rows.chain((0..self.drafts.len()).filter_map(|draft| self.row_of_draft(draft)));
        let here = self.scroll.at(self.len());
        let to = if forward { rows.into_iter().find(|row| *row > here) } else { rows.filter(|row| *row < here).last() };
        if let Some(row) = to.or((!forward).then_some(0)) {
            let len = self.len();
            self.scroll.goto(row, len);
        }
    }

    /// Moves the cursor.
    pub fn motion(&mut self, motion: Motion) {
        let len = self.len();
        self.wanted = None;
        motion.scroll(&mut self.scroll, len);
    }

    /// Moves the cursor to the clicked row.
    pub fn click(&mut self, row: u16) {
        let len = self.len();
        let line = row.checked_sub(self.area.get().y).and_then(|y| self.scroll.line_at(y, len));
        if let Some(line) = line {
            self.scroll.goto(line, len);
        }
    }

    /// Draws the visible lines.
    pub fn draw(&self, view: &View, area: Rect, buf: &mut Buffer, content: &Content) {
        let facts = if sidebar::is_wide(view) { facts::sidebar_lines(view, &content.facts) } else { Vec::new() };
        let area = sidebar::draw(view, area, buf, &facts);
        self.area.set(area);
        let width = Conversation::width(view);
        let head = facts::lines(view, &content.facts, width);
        let here = self.at(self.scroll.at(self.len()));
        doc::draw(buf, area, view.theme, true, &self.scroll, self.len(), GUTTER_WIDTH, &|row| {
            let Some(at) = self.at(row) else { return DocLine::default() };
            let mut line = match at {
                RowKind::Head(index) => head.get(index).cloned().unwrap_or_default(),
                RowKind::Description(index) => lines::of_description(view, content, index, width),
                RowKind::Between(0) => {
                    let spans = Reactions::to(content.on.clone(), None).line(view, width);
                    spans.into()
                }
                RowKind::Between(_) => lines::between(view, content, self.unresolved(), width),
                RowKind::Unit(unit, line) => self.unit_line(view, content, unit, line, width),
                RowKind::Draft(draft, line) => lines::of_draft(view, content, draft, line, width),
                RowKind::Tail => lines::tail(view, &content.notes),
            };
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

    fn unit_line(&self, view: &View, content: &Content, unit: usize, line: usize, width: usize) -> DocLine<'static> {
        match self.units.get(unit) {
            Some(Unit::System { notes: run, open: true }) => run
                .get(line)
                .and_then(|index| content.note_at(*index))
                .map(|note| lines::system(view, note))
                .unwrap_or_default(),
            Some(Unit::System { notes: run, open: false }) if line == 0 => {
                lines::system_run(view, &content.notes, run, width)
            }
            Some(Unit::Resolved { notes }) if line == 0 => {
                let first = notes.first().and_then(|index| Some((*index, content.note_at(*index)?)));
                let position = first.and_then(|(index, _)| self.positions.get(&index));
                first.map(|(_, note)| lines::resolved(note, position, notes.len(), width)).unwrap_or_default()
            }
            // The last line of a note shows its reactions, if any.
            Some(Unit::Note { note, .. }) if line + 1 == self.height_of(unit) && *note < FIRST_COMMENT => {
                let to = content.note_at(*note).map(|note| Reactions::to(content.on.clone(), Some(note.id)));
                to.map(|to| to.line(view, width)).unwrap_or_default().into()
            }
            Some(Unit::Note { note, position_of, is_reply }) => {
                let above = self.above(*position_of);
                match (position_of.and_then(|note| self.positions.get(&note)), line.checked_sub(above)) {
                    (Some(position), None) => {
                        let note = content.note_at(*note);
                        let outdated = note.is_some_and(|note| content.is_outdated(note, position));
                        let version = outdated.then(|| versions::number_of(&content.versions, &position.sha)).flatten();
                        let point = note.and_then(threads::point_of);
                        lines::position_line(position, line, &lines::PositionState { outdated, version, point })
                    }
                    (_, Some(0)) => {
                        content.note_at(*note).map(|note| lines::heading(view, note, *is_reply)).unwrap_or_default()
                    }
                    (_, Some(within)) => self.body_line(view, content, *note, within - 1),
                    (None, None) => DocLine::default(),
                }
            }
            _ => DocLine::default(),
        }
    }

    fn body_line(&self, view: &View, content: &Content, note: usize, line: usize) -> DocLine<'static> {
        if note >= FIRST_COMMENT {
            let rendered = content
                .comment(note)
                .and_then(|(name, _)| rendered_markdown::rendered(view, name, Conversation::width(view)));
            return match rendered {
                Some(rendered) => rendered.lines.get(line).cloned().unwrap_or_default(),
                None if line == 0 => DocLine::new(glyph::ellipsis(), view.theme.style(Role::Faint)),
                None => DocLine::default(),
            };
        }
        let key = self.chunks.get(note / CHUNK_NOTES);
        match key.and_then(|key| view.store.result::<Rendered>(key)) {
            Some(rendered) => {
                rendered.0.get(note % CHUNK_NOTES).and_then(|lines| lines.get(line)).cloned().unwrap_or_default()
            }
            None if line == 0 => DocLine::new(glyph::ellipsis(), view.theme.style(Role::Faint)),
            None => DocLine::default(),
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
