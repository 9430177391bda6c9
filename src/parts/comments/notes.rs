//! Notes on an issue, a snippet or an epic: their conversation.

use crate::api::notes::Note;
use crate::api::{Id, Noteable};
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::motion::Motion;
use crate::app::outbox::NoteableExt;
use crate::app::pane::Pane;
use crate::app::pointer::Pointer;
use crate::app::view::View;
use crate::parts::comments::Target;
use crate::parts::comments::conversation::{Content, Conversation, Head, ListStatus, searches_conversation};
use crate::parts::list;
use crate::parts::review::drafts::Drafts;
use crate::parts::text::illustrated_text::IllustratedText;
use crate::parts::text::links::{self, Link};
use crate::store::{Load, Rows, Want};
use crate::ui::doc::DocLine;
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
    /// The lines below the description and its reactions.
    below: Vec<DocLine<'static>>,
    /// The description.
    pub text: IllustratedText,
    conversation: Conversation,
    drafts: Drafts,
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

    /// Sets the lines below the description and its reactions.
    pub fn set_below(&mut self, below: Vec<DocLine<'static>>) {
        self.below = below;
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
            head: Head {
                len: self.head.len(),
                facts: self.facts,
                line: &line,
                images: Some(&self.text),
                below: &self.below,
            },
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

    fn update(&mut self, view: &View, run: impl FnOnce(&mut Conversation, &Content)) {
        let mut conversation = std::mem::take(&mut self.conversation);
        self.with_content(view, "", |content| run(&mut conversation, content));
        self.conversation = conversation;
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
        self.update(&cx.view, |conversation, content| conversation.toggle(content));
    }

    /// Returns the object, or the reason why there is none.
    pub fn on(&self) -> Result<Noteable, Disabled> {
        self.on.clone().ok_or_else(|| "nothing is open here".into())
    }

    /// Returns the drafts of notes on the object.
    pub fn drafts(&self) -> &Drafts {
        &self.drafts
    }

    /// Returns the note or draft under the cursor.
    pub fn target<'a>(&'a self, view: &View<'a>) -> Option<Target<'a>> {
        self.conversation.target(&self.rows(view)?, &[], &self.drafts)
    }

    /// Draws the notes.
    pub fn draw(&self, view: &View, area: Rect, buf: &mut Buffer, focused: bool) {
        self.with_content(view, "‹.comment› adds one.", |content| {
            self.conversation.draw(view, area, buf, focused, content)
        });
    }
}

impl Pane for Notes {
    fn wants(&self, view: &View) -> Vec<Want> {
        let load: Option<Load> = self.on.as_ref().and_then(|on| on.load_conversation(view, self.conversation.pages()));
        let rendered = self.with_content(view, "", |content| {
            let works = self.conversation.works(view, content).into_iter().map(Want::from);
            let images = self.conversation.image_wants(view, content);
            works.chain(images).chain(self.conversation.reactions(view, content)).collect::<Vec<_>>()
        });
        load.map(Want::from).into_iter().chain(rendered.into_iter().flatten()).collect()
    }

    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        self.draw(view, area, buf, true);
    }

    fn changed(&mut self, cx: &mut Cx) {
        let Some(on) = self.on.clone() else { return };
        self.drafts.sync(&on, cx);
        let view = cx.view;
        self.update(&view, |conversation, content| conversation.sync(&view, content));
    }

    fn motion(&mut self, motion: Motion, _: &mut Cx) {
        if !matches!(motion, Motion::Left | Motion::Right) {
            self.conversation.motion(motion);
        }
    }

    searches_conversation!();

    fn pointer(&mut self, pointer: Pointer, _: &mut Cx) {
        match pointer {
            Pointer::Wheel { rows, .. } => self.conversation.motion(Motion::Wheel(rows)),
            Pointer::Press { column, row, .. } => self.conversation.click(column, row),
            Pointer::Drag { .. } | Pointer::Release => {}
        }
    }
}
