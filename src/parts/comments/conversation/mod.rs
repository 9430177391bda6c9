//! A conversation as one document: the lines of an object, such as its facts and its description, and all comments on
//! it in order. Merge requests, issues, epics, snippets and commits show it.
//!
//! Notes are rendered in the background, in chunks of a hundred and only near the viewport. Consecutive system notes are
//! folded into one line, notes of one thread or on the same lines are shown together where the first of them was
//! written, and resolved threads and comments of bots are one row. Row offsets are prefix sums that are recomputed after
//! an update, so that drawing a frame costs only what is visible.

mod chunks;
mod content;
mod cursor;
mod draw;
mod layout;
mod lines;
mod search;
mod units;

pub use content::{Content, Head, ListStatus, note_at};
pub use cursor::UnderCursor;
pub(crate) use search::searches_conversation;

use crate::api::notes::Note;
use crate::app::outbox::DiffPosition;
use crate::app::view::View;
use crate::parts::comments::reactions::Reactions;
use crate::parts::review::threads;
use crate::parts::text::illustrated_text::IllustratedText;
use crate::parts::text::rendered_markdown;
use crate::store::{Revision, Want, Work};
use crate::ui::doc::DocState;
use crate::ui::drawn::Drawn;
use crate::ui::markdown;
use chunks::{CHUNK_NOTES, Render, chunk_key};
use content::FIRST_COMMENT;
use cursor::AwaitedNote;
use ratatui::layout::Rect;
use search::ConversationSearch;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;
use units::{Thread, Unit};

/// The maximum number of chunks rendered concurrently.
const MAX_CONCURRENT_CHUNKS: usize = 2;
/// The width of the gutter in columns; it shows a bar along the note under the cursor.
pub const GUTTER_WIDTH: u16 = 2;
/// The maximum number of visible notes whose reactions are loaded.
const MAX_REACTION_LOADS: usize = 16;

/// The maximum number of notes whose images are loaded.
const MAX_ILLUSTRATED: usize = 16;

/// The messages if there is no unresolved thread to go to.
pub const NO_NEXT_THREAD: &str = "No unresolved thread below.";
pub const NO_PREVIOUS_THREAD: &str = "No unresolved thread above.";

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
    /// The numbers of notes by people and by bots.
    written: usize,
    of_bots: usize,
    /// The images of the notes around the viewport, by the ID of the note.
    images: HashMap<u64, IllustratedText>,
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
    search: ConversationSearch,
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

    /// Returns the notes around the viewport whose texts are rendered and have images, with these texts.
    fn illustrated_notes<'a>(&self, view: &View<'a>, content: &Content<'a>) -> Vec<(&'a Note, &'a markdown::Rendered)> {
        let notes = self.units_near(view).iter().filter_map(|unit| self.note_of(unit));
        let with_text = |note: usize| Some((content.note_at(note)?, self.plain(view, content, note)?));
        notes.filter_map(with_text).filter(|(_, text)| !text.images.is_empty()).take(MAX_ILLUSTRATED).collect()
    }

    /// Returns the requests and computations for the images of the notes around the viewport.
    pub fn image_wants(&self, view: &View, content: &Content) -> Vec<Want> {
        let (origin, width) = (content.origin(), content.text_width());
        let notes = self.illustrated_notes(view, content).into_iter();
        let wants = notes.filter_map(|(note, plain)| {
            let text = || threads::shown_body(note).into_owned();
            self.images.get(&note.id)?.image_wants(view, &origin, plain, text, width)
        });
        wants.flatten().collect()
    }

    /// Updates the images of the notes around the viewport.
    fn sync_images(&mut self, view: &View, content: &Content) {
        let (origin, width) = (content.origin(), content.text_width());
        let mut known = std::mem::take(&mut self.images);
        for (note, plain) in self.illustrated_notes(view, content) {
            let mut text = known.remove(&note.id).unwrap_or_default();
            let identity = format!("note {} with {}", note.id, rendered_markdown::identity(&note.body));
            text.take(view, &origin, plain, &identity, width);
            self.images.insert(note.id, text);
        }
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
        let is_regrouped = self.units_key != units_key;
        if is_regrouped {
            self.group_notes(content);
            self.units_key = units_key;
        }
        for note in self.visible_notes(content) {
            match Reactions::to(content.on.clone(), Some(note)).line(view, width).is_empty() {
                true => _ = self.reacted.remove(&note),
                false => _ = self.reacted.insert(note),
            }
        }
        self.sync_images(view, content);
        (self.head, self.facts, self.between) = (content.head.len, content.head.facts, content.between());
        self.measure(view, content);
        let is_empty = notes.is_empty() && content.comments.is_empty();
        if is_regrouped {
            self.count_matches(content);
        }
        self.tail = is_empty || content.list.has_more || content.list.error.is_some();
        self.restore_cursor(anchor, content);

        // After a comment was sent, the cursor moves to it when it arrives.
        let posting = content.drafts.iter().any(|(id, _)| id.progress(view).is_some());
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
}
