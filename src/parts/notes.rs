//! Notes on an issue, a snippet or an epic: their conversation, and what can be done with the note under the cursor.

use super::list;
use super::review::quoted_reply;
use crate::api::notes::Note;
use crate::api::{Id, Noteable};
use crate::app::App;
use crate::app::action::Action;
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::motion::Motion;
use crate::app::outbox::DraftThread;
use crate::app::view::View;
use crate::parts::conversation::{Content, Conversation, Head, ListStatus, UnderCursor};
use crate::parts::illustrated_text::IllustratedText;
use crate::parts::links::{self, Link};
use crate::parts::reactions::Reactions;
use crate::parts::review::drafts::{CommentTarget, DraftId, Drafts};
use crate::parts::review::threads;
use crate::store::{Load, Rows, Want};
use crate::ui::doc::DocLine;
use crate::ui::text;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// The notes on one object at a time.
#[derive(Default)]
pub struct Notes {
    on: Option<Noteable>,
    /// The lines above the notes: facts and description of the object.
    head: Vec<DocLine<'static>>,
    /// The number of lines above the description.
    facts: usize,
    /// The description.
    pub text: IllustratedText,
    conversation: Conversation,
    drafts: Drafts,
}

/// The item under the cursor.
pub enum NoteOrDraft<'a> {
    /// A note by a user.
    Note(&'a Note),
    /// An unsent draft, by its key.
    Draft(&'a DraftId),
}

impl Notes {
    /// Switches to the notes on `on`.
    pub fn show(&mut self, on: Option<Noteable>) {
        if self.on != on {
            let drafts = std::mem::take(&mut self.drafts).cleared();
            let conversation = std::mem::take(&mut self.conversation).cleared();
            *self = Notes { on, drafts, conversation, ..Notes::default() };
        }
    }

    /// Moves to a comment once it is loaded, and stays there until the user moves.
    pub fn want_note(&mut self, id: Option<u64>) {
        self.conversation.want_note(id);
    }

    /// Sets the lines above the notes, of which the first `facts` are above the description.
    pub fn set_head(&mut self, (head, facts): (Vec<DocLine<'static>>, usize)) {
        (self.head, self.facts) = (head, facts);
    }

    fn rows<'a>(&self, view: &View<'a>) -> Option<Rows<'a, Note>> {
        Some(self.on.as_ref()?.conversation(view))
    }

    /// Returns the width of the text, in columns.
    pub fn width(&self, view: &View) -> usize {
        self.conversation.columns(view.size.0)
    }

    /// Calls `run` with the loaded data that the conversation is built from. `empty` is the hint if there are no notes.
    fn with_content<T>(&self, view: &View, empty: &str, run: impl FnOnce(&Content) -> T) -> Option<T> {
        let on = self.on.clone()?;
        let notes = on.conversation(view);
        let line = |row: usize| self.head.get(row).cloned().unwrap_or_default();
        Some(run(&Content {
            head: Head { len: self.head.len(), facts: self.facts, line: &line, images: Some(&self.text) },
            on,
            list: ListStatus::of(&notes),
            notes,
            comments: &[],
            comments_revision: 0,
            drafts: self.drafts.drafts(),
            head_sha: None,
            versions: Vec::new(),
            code: &|_, _| Vec::new(),
            width: self.width(view),
            empty,
        }))
    }

    /// Returns the number of notes as text.
    pub fn count(&self, view: &View) -> Option<String> {
        let rows = self.rows(view)?;
        list::count(&rows, rows.len(), None)
    }

    pub fn wants(&self, view: &View) -> Vec<Want> {
        let load: Option<Load> = self.on.as_ref().and_then(|on| on.load_conversation(view, self.conversation.pages()));
        let rendered = self.with_content(view, "", |content| {
            let works = self.conversation.works(view, content).into_iter().map(Want::from);
            let images = self.conversation.image_wants(view, content);
            works.chain(images).chain(self.conversation.reactions(view, content)).collect::<Vec<_>>()
        });
        load.map(Want::from).into_iter().chain(rendered.into_iter().flatten()).collect()
    }

    /// Returns the target of a reaction: the note under the cursor, or else the object itself.
    pub fn reactions(&self, view: &View) -> Result<Reactions, Disabled> {
        let on = self.on.clone().ok_or("nothing is open here")?;
        match self.conversation.at_cursor() {
            UnderCursor::Head(_) | UnderCursor::Other => Ok(Reactions::to(on, None)),
            UnderCursor::System => Err("system notes cannot have reactions".into()),
            UnderCursor::Draft(_) => Err("this draft has not been sent yet".into()),
            UnderCursor::Note(index) => {
                let note = self.rows(view).and_then(|rows| rows.get(index)).map(|note| note.id);
                note.map(|note| Reactions::to(on, Some(note))).ok_or_else(|| "it has not loaded yet".into())
            }
        }
    }

    /// Updates the state after a store update.
    pub fn changed(&mut self, cx: &mut Cx) {
        let Some(on) = self.on.clone() else { return };
        self.drafts.sync(&on, cx);
        self.update(&cx.view, Conversation::sync);
    }

    fn update(&mut self, view: &View, run: impl FnOnce(&mut Conversation, &View, &Content)) {
        let mut conversation = std::mem::take(&mut self.conversation);
        self.with_content(view, "", |content| run(&mut conversation, view, content));
        self.conversation = conversation;
    }

    /// Moves the cursor; returns `false` if a motion to the left would leave the notes.
    pub fn motion(&mut self, motion: Motion) -> bool {
        match motion {
            Motion::Left => return false,
            Motion::Right => {}
            other => self.conversation.motion(other),
        }
        true
    }

    /// Moves the cursor to a click.
    pub fn click(&mut self, column: u16, row: u16) {
        self.conversation.click(column, row);
    }

    /// Moves to the next or the previous note or draft.
    pub fn step(&mut self, forward: bool) {
        self.conversation.step_note(forward);
    }

    /// Moves to the next or the previous unresolved thread; returns `false` if there is none.
    pub fn step_thread(&mut self, forward: bool) -> bool {
        self.conversation.step_thread(forward)
    }

    /// Returns an error unless a folded thread, system notes or a link are under the cursor.
    pub fn can_enter(&self, view: &View) -> Result<(), Disabled> {
        let rows = self.rows(view).ok_or("nothing is open here")?;
        let can = self.conversation.is_fold() || !self.links_here(view).is_empty();
        list::need(can.then_some(()), &rows, "nothing under the cursor can be opened")
    }

    fn links_here(&self, view: &View) -> Vec<Link> {
        self.with_content(view, "", |content| self.conversation.links_here(view, content)).unwrap_or_default()
    }

    /// Folds or unfolds what is under the cursor, or opens its link, as of a text in a project or a group.
    pub fn enter(&mut self, of: (Option<&Id>, Option<&Id>), cx: &mut Cx) {
        if self.conversation.is_fold() {
            return self.toggle(cx);
        }
        links::open_comment(&self.links_here(&cx.view), of, cx);
    }

    /// Folds or unfolds what is under the cursor.
    pub fn toggle(&mut self, cx: &mut Cx) {
        self.update(&cx.view, |conversation, _, content| conversation.toggle(content));
    }

    /// Returns the item under the cursor.
    pub fn at_cursor<'a>(&'a self, view: &View<'a>) -> Option<NoteOrDraft<'a>> {
        match self.conversation.at_cursor() {
            UnderCursor::Note(index) => self.rows(view)?.get(index).map(NoteOrDraft::Note),
            UnderCursor::Draft(index) => self.drafts.drafts().get(index).map(|(id, _)| NoteOrDraft::Draft(id)),
            UnderCursor::Head(_) | UnderCursor::System | UnderCursor::Other => None,
        }
    }

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
            Some(NoteOrDraft::Note(_)) => Err("somebody else wrote this comment".into()),
            None => self.has_note(view),
        }
    }

    /// Opens the composer for the thread or the draft under the cursor, else for the object.
    pub fn comment_here(&self, cx: &mut Cx) {
        match self.at_cursor(&cx.view) {
            Some(NoteOrDraft::Draft(id)) => self.drafts.open(id, cx),
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
            Some(NoteOrDraft::Draft(id)) => self.drafts.open(id, cx),
            None => {}
        }
    }

    /// Deletes the note or the draft under the cursor, after a confirmation.
    pub fn delete(&self, cx: &mut Cx) {
        match self.at_cursor(&cx.view) {
            Some(NoteOrDraft::Note(note)) => {
                let Some(write) = self.on.as_ref().and_then(|on| on.delete(note.id)) else { return };
                let excerpt = text::fit(note.body.lines().next().unwrap_or_default(), 80);
                let question = format!("Delete your comment \"{}\"? This cannot be undone.", text::sanitize(&excerpt));
                cx.act(App::confirm("Delete comment", question, Action::Send(write)));
            }
            Some(NoteOrDraft::Draft(id)) => self.drafts.confirm_delete(id, cx),
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

    /// Draws the notes; `empty` is the hint if there are none.
    pub fn draw(&self, view: &View, area: Rect, buf: &mut Buffer, focused: bool, empty: &str) {
        self.with_content(view, empty, |content| self.conversation.draw(view, area, buf, focused, content));
    }
}
