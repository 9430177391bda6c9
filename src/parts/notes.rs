//! Notes on an issue, a snippet or an epic: rendered notes, one below the other, followed by unsent drafts.

use super::dates::time_ago;
use super::list::{self, draw_cut_line, draw_error_line, draw_placeholder};
use super::review::{quoted_reply, state_of};
use crate::api::Noteable;
use crate::api::notes::Note;
use crate::app::App;
use crate::app::action::Action;
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::motion::Motion;
use crate::app::outbox::{Draft, DraftThread};
use crate::app::view::View;
use crate::parts::reactions::Reactions;
use crate::parts::rendered_markdown;
use crate::parts::review::drafts::{CommentTarget, Drafts};
use crate::parts::review::threads;
use crate::store::{Load, Revision, Rows, Want};
use crate::ui::doc::{self, DocLine, DocState};
use crate::ui::drawn::Drawn;
use crate::ui::line::Line;
use crate::ui::theme::Role;
use crate::ui::{glyph, text};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::collections::BTreeSet;

/// The number of notes before and after the cursor that are rendered.
const RENDERED_AROUND: usize = 40;
/// The maximum number of visible notes whose reactions are loaded.
const MAX_REACTION_LOADS: usize = 16;
/// The maximum number of lines of a draft that are shown.
const MAX_DRAFT_LINES: usize = 8;

/// The notes on one object at a time.
#[derive(Default)]
pub struct Notes {
    on: Option<Noteable>,
    /// The lines above the notes: facts and description of the object.
    head: Vec<DocLine<'static>>,
    doc: DocState,
    more_pages: u32,
    /// The first row of each note and draft, followed by the total number of rows.
    starts: Vec<usize>,
    /// The height of each note in rows, and the list revision and width they were computed for. The whole list is only
    /// measured again for a new revision or width, otherwise just the notes near the cursor, because it may have twenty
    /// thousand notes.
    heights: Vec<usize>,
    measured: Option<(Revision, usize)>,
    /// The visible notes that have reactions; `None` is the object itself.
    reacted: BTreeSet<Option<u64>>,
    /// The first lines of each draft, and the revision of the drafts and the width they were computed for.
    drafted: Vec<Vec<String>>,
    drafted_of: Option<(u64, usize)>,
    /// The ID of the note to keep under the cursor while rows above it are rendered, until the user moves.
    wanted: Option<u64>,
    /// The area in which the notes were last drawn.
    area: Drawn<Rect>,
    drafts: Drafts,
}

/// The item under the cursor.
pub enum NoteOrDraft<'a> {
    /// A note by a user.
    Note(&'a Note),
    /// An unsent draft, by its key.
    Draft(&'a str),
}

fn identity(note: &Note) -> String {
    let changed = note.updated_at.as_ref().map(|at| at.as_str()).unwrap_or_default();
    format!("note {} {changed}, {} bytes", note.id, note.body.len())
}

impl Notes {
    /// Switches to the notes on `on`.
    pub fn show(&mut self, on: Option<Noteable>) {
        if self.on != on {
            let drafts = std::mem::take(&mut self.drafts).cleared();
            *self = Notes { on, drafts, area: self.area.clone(), ..Notes::default() };
        }
    }

    /// Moves to a note once it is loaded, and stays there until the user moves.
    pub fn want_note(&mut self, id: Option<u64>) {
        self.wanted = id;
    }

    fn go_to_wanted(&mut self, rows: &Rows<Note>) {
        let Some(wanted) = self.wanted else { return };
        let found = rows.iter().position(|note| note.id == wanted);
        let len = self.len();
        match found.and_then(|index| self.starts.get(index).copied()) {
            Some(row) if row != self.doc.at(len) => self.doc.goto(row, len),
            None if rows.is_loaded && !rows.has_next(u32::MAX) => self.wanted = None,
            _ => {}
        }
    }

    /// Sets the lines above the notes.
    pub fn set_head(&mut self, head: Vec<DocLine<'static>>) {
        self.head = head;
    }

    fn rows<'a>(&self, view: &View<'a>) -> Option<Rows<'a, Note>> {
        Some(self.on.as_ref()?.conversation(view))
    }

    /// Returns the width of the text, in columns.
    pub fn width(&self, view: &View) -> usize {
        let drawn = self.area.get().width;
        let width = if drawn > 0 { drawn } else { view.size.0 };
        usize::from(width).saturating_sub(4).clamp(20, rendered_markdown::MAX_PROSE_WIDTH)
    }

    fn len(&self) -> usize {
        self.starts.last().copied().unwrap_or(self.head.len())
    }

    /// Returns the index of the note or draft at a row.
    fn at(&self, row: usize) -> Option<usize> {
        let note = self.starts.partition_point(|start| *start <= row).checked_sub(1)?;
        (note + 1 < self.starts.len()).then_some(note)
    }

    fn rendered_range(&self) -> std::ops::Range<usize> {
        let at = self.at(self.doc.at(self.len())).unwrap_or(0);
        at.saturating_sub(RENDERED_AROUND)..at + RENDERED_AROUND
    }

    /// Returns the number of notes as text.
    pub fn count(&self, view: &View) -> Option<String> {
        let rows = self.rows(view)?;
        list::count(&rows, rows.len(), None)
    }

    pub fn wants(&self, view: &View) -> Vec<Want> {
        let Some(rows) = self.rows(view) else { return Vec::new() };
        let load: Option<Load> = self.on.as_ref().and_then(|on| on.load_conversation(view, 1 + self.more_pages));
        let mut wants: Vec<Want> = load.map(Want::from).into_iter().collect();
        let width = self.width(view);
        let notes = self.rendered_range().filter_map(|index| rows.get(index)).filter(|note| !note.system);
        wants.extend(
            notes.filter_map(|note| rendered_markdown::work(view, &identity(note), &note.body, width)).map(Want::from),
        );
        wants.extend(self.visible_items(view).filter_map(|note| self.reactions_to(note)?.want(view)));
        wants
    }

    /// Returns the object itself and the IDs of the visible notes that can have reactions.
    fn visible_items<'a>(&self, view: &View<'a>) -> impl Iterator<Item = Option<u64>> + use<'a> {
        let rows = self.rows(view);
        let top = self.doc.top();
        let first = self.at(top).unwrap_or(0);
        let last = self.at(top + self.doc.height()).unwrap_or(first + MAX_REACTION_LOADS);
        let note = move |index: usize| rows.as_ref()?.get(index).filter(|note| !note.system).map(|note| note.id);
        let notes = (first..=last).filter_map(note).take(MAX_REACTION_LOADS);
        std::iter::once(None).chain(notes.map(Some))
    }

    fn reactions_to(&self, note: Option<u64>) -> Option<Reactions> {
        Some(Reactions::to(self.on.clone()?, note))
    }

    /// Returns the target of a reaction: the note under the cursor, or else the object itself.
    pub fn reactions(&self, view: &View) -> Result<Reactions, Disabled> {
        let on = self.on.clone().ok_or("nothing is open here")?;
        let rows = self.rows(view);
        match self.at(self.doc.at(self.len())) {
            None => Ok(Reactions::to(on, None)),
            Some(index) => match rows.as_ref().and_then(|rows| rows.get(index)) {
                Some(note) if note.system => Err("system notes cannot have reactions".into()),
                Some(note) => Ok(Reactions::to(on, Some(note.id))),
                None => Err("this draft has not been sent yet".into()),
            },
        }
    }

    /// Updates the state after a store update.
    pub fn changed(&mut self, cx: &mut Cx) {
        let Some(on) = self.on.clone() else { return };
        self.drafts.sync(&on, cx);
        let view = &cx.view;
        let Some(rows) = self.rows(view) else { return };
        let width = self.width(view);
        // A heading, the text, and an empty line; reactions are added below.
        let height = |note: &Note| {
            2 + rendered_markdown::rendered(view, &identity(note), width)
                .map_or(1, |rendered| rendered.lines.len().max(1))
        };
        for note in self.visible_items(view) {
            match Reactions::to(on.clone(), note).line(view, width).is_empty() {
                true => _ = self.reacted.remove(&note),
                false => _ = self.reacted.insert(note),
            }
        }
        let reactions = |note| usize::from(self.reacted.contains(&note));
        let head = self.head.len() + reactions(None);
        let mut moved = self.starts.first() != Some(&head);
        if self.measured.replace((rows.revision, width)) != Some((rows.revision, width)) {
            self.heights = rows.iter().map(height).collect();
            moved = true;
        }
        for index in self.rendered_range() {
            if let (Some(at), Some(note)) = (self.heights.get_mut(index), rows.get(index)) {
                let now = height(note) + reactions(Some(note.id));
                moved |= std::mem::replace(at, now) != now;
            }
        }
        let drafted_of = (self.drafts.revision(), width);
        if self.drafted_of.replace(drafted_of) != Some(drafted_of) {
            self.drafted = self.drafts.drafts().iter().map(|(_, draft)| drafted(draft, width)).collect();
            moved = true;
        }
        if moved {
            let drafts = self.drafted.iter().map(|lines| 2 + lines.len().max(1));
            let mut row = head;
            self.starts = vec![row];
            self.starts.extend(self.heights.iter().copied().chain(drafts).map(|height| {
                row += height;
                row
            }));
        }
        self.go_to_wanted(&rows);
        // The head may be taller than the screen, so the position is compared in rows.
        let ahead = self.doc.at(self.len()).max(self.doc.top()) + 3 * self.doc.height().max(1);
        let last = self.starts.get(rows.len().saturating_sub(1)).copied().unwrap_or(0);
        if rows.has_next(u32::MAX) && (ahead >= last || self.wanted.is_some()) {
            self.more_pages = self.more_pages.max(rows.pages());
        }
    }

    /// Moves the cursor; returns `false` if a motion to the left would leave the notes.
    pub fn motion(&mut self, motion: Motion) -> bool {
        let len = self.len();
        self.wanted = None;
        match motion {
            Motion::Left => return false,
            Motion::Right => {}
            other => other.scroll(&mut self.doc, len),
        }
        true
    }

    /// Moves the cursor to a click.
    pub fn click(&mut self, column: u16, row: u16) {
        self.wanted = None;
        let (area, len) = (self.area.get(), self.len());
        let line = Some(row).filter(|row| area.contains((column, *row).into()));
        if let Some(line) = line.and_then(|row| self.doc.line_at(row - area.y, len)) {
            self.doc.goto(line, len);
        }
    }

    /// Moves to the next or the previous note or draft.
    pub fn step(&mut self, forward: bool) {
        self.wanted = None;
        let here = self.doc.at(self.len());
        let to = match forward {
            true => self.starts.iter().find(|start| **start > here),
            false => self.starts.iter().rev().find(|start| **start < here),
        };
        if let Some(row) = to.copied().filter(|row| *row < self.len()) {
            self.doc.move_by(row as isize - here as isize, self.len());
        }
    }

    /// Returns the item under the cursor.
    pub fn at_cursor<'a>(&'a self, view: &View<'a>) -> Option<NoteOrDraft<'a>> {
        let index = self.at(self.doc.at(self.len()))?;
        let rows = self.rows(view)?;
        match rows.get(index) {
            Some(note) => Some(NoteOrDraft::Note(note)).filter(|_| !note.system),
            None => self.drafts.drafts().get(index.checked_sub(rows.len())?).map(|(key, _)| NoteOrDraft::Draft(key)),
        }
    }

    // ---- actions

    /// Returns an error unless the user can write notes.
    pub fn can_comment(&self, view: &View) -> Result<(), Disabled> {
        if !view.session.signed_in {
            return Err("you are not signed in".into());
        }
        self.on.as_ref().map(|_| ()).ok_or_else(|| "nothing is open here".into())
    }

    /// Returns an error unless a note is under the cursor.
    pub fn has_note(&self, view: &View) -> Result<(), Disabled> {
        self.can_comment(view)?;
        let rows = self.rows(view).ok_or("nothing is open here")?;
        let note = self.at_cursor(view).filter(|item| matches!(item, NoteOrDraft::Note(_)));
        list::need(note, &rows, "select a comment first").map(|_| ())
    }

    /// Returns an error unless the user's own note or a draft is under the cursor.
    pub fn can_edit_note(&self, view: &View) -> Result<(), Disabled> {
        self.can_comment(view)?;
        let me = view.me().map(|me| me.id);
        match self.at_cursor(view) {
            Some(NoteOrDraft::Draft(_)) => Ok(()),
            Some(NoteOrDraft::Note(note)) if me.is_some() && note.author.as_ref().map(|author| author.id) == me => {
                Ok(())
            }
            Some(NoteOrDraft::Note(_)) => Err("somebody else wrote this note".into()),
            None => self.has_note(view),
        }
    }

    /// Opens the composer for the thread or the draft under the cursor, else for the object.
    pub fn comment_here(&self, cx: &mut Cx) {
        match self.at_cursor(&cx.view) {
            Some(NoteOrDraft::Draft(key)) => self.drafts.open(key, cx),
            item => self.comment(item.is_some(), cx),
        }
    }

    /// Opens the composer; `reply` quotes the note under the cursor.
    pub fn comment(&self, reply: bool, cx: &mut Cx) {
        let Some(on) = self.on.clone() else { return };
        let (place, begin) = match self.at_cursor(&cx.view).filter(|_| reply) {
            Some(NoteOrDraft::Note(note)) => match self.thread(&cx.view) {
                Some((discussion, resolved)) => {
                    let resolved = resolved == Some(true);
                    let thread = Some(DraftThread::Reply { discussion, resolved });
                    (CommentTarget { position: None, thread }, String::new())
                }
                None => (CommentTarget::default(), quoted_reply(&note.body, note.author.as_ref())),
            },
            _ => Default::default(),
        };
        self.drafts.comment(on, place, &begin, cx);
    }

    /// Returns the thread under the cursor, if the server has threads: its ID, and whether it is resolved, if it is
    /// resolvable.
    fn thread(&self, view: &View) -> Option<(String, Option<bool>)> {
        let Some(NoteOrDraft::Note(note)) = self.at_cursor(view) else { return None };
        let id = note.discussion_id.as_deref()?;
        let rows = self.rows(view)?;
        let resolved = threads::is_resolved(rows.iter().filter(|other| other.discussion_id.as_deref() == Some(id)));
        Some((id.to_owned(), resolved))
    }

    /// Returns an error unless the thread under the cursor can be resolved or reopened.
    pub fn can_resolve(&self, view: &View) -> Result<(), Disabled> {
        self.has_note(view)?;
        match self.thread(view) {
            Some((_, Some(_))) => Ok(()),
            Some((_, None)) => Err("this thread cannot be resolved".into()),
            None => Err("this server has no threads".into()),
        }
    }

    /// Resolves the thread under the cursor, or reopens it.
    pub fn resolve(&self, cx: &mut Cx) {
        let Some((discussion, Some(resolved))) = self.thread(&cx.view) else { return };
        let write = self.on.as_ref().and_then(|on| on.resolve(discussion, !resolved));
        write.into_iter().for_each(|write| cx.act(Action::Send(write)));
    }

    /// Opens the composer for a new thread.
    pub fn start_thread(&self, cx: &mut Cx) {
        let Some(on) = self.on.clone() else { return };
        let place =
            CommentTarget { position: None, thread: Some(DraftThread::New { position: None, commit_id: None }) };
        self.drafts.comment(on, place, "", cx);
    }

    /// Returns an error unless a thread can be started.
    pub fn can_start_thread(&self, view: &View) -> Result<(), Disabled> {
        self.can_comment(view)?;
        let has_threads = self.on.as_ref().is_some_and(|on| on.has_threads(view));
        if has_threads { Ok(()) } else { Err("this server has no threads".into()) }
    }

    /// Opens the note or draft under the cursor in the composer.
    pub fn edit(&self, cx: &mut Cx) {
        let Some(on) = self.on.clone() else { return };
        match self.at_cursor(&cx.view) {
            Some(NoteOrDraft::Note(note)) => self.drafts.edit(on, note.id, "", &note.body, cx),
            Some(NoteOrDraft::Draft(key)) => self.drafts.open(key, cx),
            None => {}
        }
    }

    /// Deletes the note or the draft under the cursor, after a confirmation.
    pub fn delete(&self, cx: &mut Cx) {
        match self.at_cursor(&cx.view) {
            Some(NoteOrDraft::Note(note)) => {
                let Some(write) = self.on.as_ref().and_then(|on| on.delete(note.id)) else { return };
                let excerpt = text::fit(note.body.lines().next().unwrap_or_default(), 80);
                let question = format!("Delete your note \"{}\"? This cannot be undone.", text::sanitize(&excerpt));
                cx.act(App::confirm("Delete a note", question, Action::Send(write)));
            }
            Some(NoteOrDraft::Draft(key)) => self.drafts.confirm_delete_by_key(key, cx),
            None => {}
        }
    }

    /// Opens the list of drafts.
    pub fn drafts(&self, cx: &mut Cx) {
        if let Some(on) = &self.on {
            self.drafts.list(on, cx);
        }
    }

    /// Returns an error if there are no drafts.
    pub fn has_drafts(&self) -> Result<(), Disabled> {
        if self.drafts.drafts().is_empty() { Err("there are no drafts".into()) } else { Ok(()) }
    }

    // ---- drawing

    /// Draws the notes; `empty` is the reason why there are none, and the keys to press.
    pub fn draw(&self, view: &View, area: Rect, buf: &mut Buffer, focused: bool, empty: (&str, &str)) {
        let Some(rows) = self.rows(view) else { return };
        self.area.set(area);
        if rows.is_empty() && self.head.is_empty() && self.drafts.drafts().is_empty() {
            return draw_placeholder(view, area, buf, &rows, empty);
        }
        let body = draw_error_line(view, area, buf, rows.error);
        let mut body = draw_cut_line(view, body, buf, rows.cut);
        let theme = view.theme;
        if rows.is_loaded && rows.is_empty() && body.height > 2 {
            let at = Rect { x: body.x + 1, y: body.bottom() - 1, width: body.width.saturating_sub(1), height: 1 };
            let words = format!("{} {}", empty.0, view.with_keys(empty.1));
            Line::new(words, Role::Dim).draw(buf, at, theme);
            body.height -= 1;
        }
        doc::draw(buf, body, theme, focused, &self.doc, self.len(), 2, &|row| {
            // The lines above end with an empty one, which shows the reactions.
            if row + 1 == self.head.len()
                && let Some(on) = self.on.clone()
            {
                let spans = Reactions::to(on, None).line(view, self.width(view));
                return spans.into();
            }
            if let Some(line) = self.head.get(row) {
                return line.borrowed();
            }
            let Some(index) = self.at(row) else { return DocLine::default() };
            let line = row - self.starts.get(index).copied().unwrap_or(0);
            match rows.get(index) {
                Some(note) => self.note_line(view, note, index.checked_sub(1).and_then(|at| rows.get(at)), line),
                None => self.draft_line(view, index.saturating_sub(rows.len()), line),
            }
        });
    }

    fn note_line(&self, view: &View, note: &Note, before: Option<&Note>, line: usize) -> DocLine<'static> {
        let theme = view.theme;
        if line == 0 {
            let author = note.author.as_ref().map(|author| author.name.clone()).unwrap_or_default();
            let when = time_ago(view, note.created_at.as_ref());
            let dot = glyph::separator();
            let edited = if note.is_edited() { format!("{dot}edited") } else { String::new() };
            let mut spans = Line::new(author, if note.system { Role::Dim } else { Role::User })
                .and(format!("{dot}{when}{edited}"), Role::Dim);
            if note.discussion_id.is_some() && before.is_some_and(|before| before.discussion_id == note.discussion_id) {
                spans.spans.insert(0, (format!("{} ", glyph::reply()), Role::Dim).into());
            }
            if note.resolved == Some(true) {
                spans.push(format!("  {} resolved", glyph::or_word(glyph::done(), "")), Role::Success);
            }
            return spans.into();
        }
        let rendered = rendered_markdown::rendered(view, &identity(note), self.width(view));
        // The reactions are below the text, if there are any.
        if line == 1 + rendered.map_or(1, |rendered| rendered.lines.len().max(1))
            && let Some(on) = self.on.clone()
        {
            let spans = Reactions::to(on, Some(note.id)).line(view, self.width(view));
            return spans.into();
        }
        match rendered {
            Some(rendered) => rendered.lines.get(line - 1).cloned().unwrap_or_default(),
            None if line == 1 => {
                let role = if note.system { Role::Dim } else { Role::Text };
                DocLine::new(note.body.lines().next().unwrap_or_default().to_owned(), theme.style(role))
            }
            None => DocLine::default(),
        }
    }

    fn draft_line(&self, view: &View, index: usize, line: usize) -> DocLine<'static> {
        let Some((key, draft)) = self.drafts.drafts().get(index) else { return DocLine::default() };
        let theme = view.theme;
        if line == 0 {
            let (words, role) = state_of(view, key, draft);
            let what = if draft.edits.is_some() { "edit of a note" } else { "draft" };
            let spans = Line::new(format!("{what} · "), Role::Warning).and(words, role);
            return spans.into();
        }
        let lines = self.drafted.get(index);
        lines
            .and_then(|lines| lines.get(line - 1))
            .map(|line| DocLine::new(line.clone(), theme.style(Role::Text)))
            .unwrap_or_default()
    }
}

/// Returns the first lines of a draft.
fn drafted(draft: &Draft, width: usize) -> Vec<String> {
    let lines = draft.text.lines().flat_map(|line| match line {
        "" => vec![String::new()],
        line => text::wrap(line, width, MAX_DRAFT_LINES),
    });
    lines.take(MAX_DRAFT_LINES).collect()
}
