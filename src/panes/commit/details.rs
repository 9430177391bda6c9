//! The details of a commit, with its comments and drafts below them.

use crate::api::Endpoint;
use crate::api::notes::Note;
use crate::app::context::Cx;
use crate::app::motion::Motion;
use crate::app::outbox::{DiffPosition, NoteableExt};
use crate::app::pane::Pane;
use crate::app::pointer::Pointer;
use crate::app::tone::Tone;
use crate::app::view::View;
use crate::parts::comments::Target;
use crate::parts::comments::conversation::{
    Content, Conversation, Head, ListStatus, UnderCursor, searches_conversation,
};
use crate::parts::facts::Details;
use crate::parts::repository::commit_details;
use crate::parts::repository::commit_view::CommitReads;
use crate::parts::review::commit_notes::CommitNotes;
use crate::parts::review::drafts::Drafts;
use crate::parts::review::thread_code::{CodeSource, ThreadCode};
use crate::store::{Load, Rows, Want};
use crate::ui::state;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// The details of a commit.
pub struct DetailsTab {
    reads: CommitReads,
    details: Details,
    pub conversation: Conversation,
    comments: CommitNotes,
    drafts: Drafts,
    /// The lines of code that comments are about.
    code: ThreadCode,
}

impl DetailsTab {
    /// Creates the tab without details.
    pub fn new(reads: CommitReads) -> DetailsTab {
        DetailsTab {
            reads,
            details: Details::default(),
            conversation: Conversation::default(),
            comments: CommitNotes::default(),
            drafts: Drafts::default(),
            code: ThreadCode::default(),
        }
    }

    /// Returns the notes: a commit has only comments.
    fn rows<'a>(&self, view: &View<'a>) -> Rows<'a, Note> {
        self.reads.noteable(view).conversation(view)
    }

    /// Calls `run` with the loaded data that the conversation is built from.
    fn with_content<T>(&self, view: &View, run: impl FnOnce(&Content) -> T) -> T {
        let line = |row: usize| self.details.doc_line(row);
        let code = |_: &Note, position: &DiffPosition| self.code.lines(position);
        let sha = self.reads.full_sha(view);
        let list = self.reads.comments(view).map(|rows| ListStatus::of(&rows)).unwrap_or_default();
        run(&Content {
            head: Head { len: self.details.len(), facts: 0, line: &line, images: None, below: &[] },
            on: self.reads.noteable(view),
            notes: self.rows(view),
            comments: &self.comments.notes,
            comments_revision: self.comments.revision,
            list,
            drafts: self.drafts.drafts(),
            head_sha: Some(&sha),
            versions: Vec::new(),
            code: &code,
            width: self.conversation.columns(view.size.0),
            empty: "‹commit.comment› adds one.",
        })
    }

    /// Calls `run` with the conversation and the loaded data that it is built from.
    fn update(&mut self, view: &View, run: impl FnOnce(&mut Conversation, &Content)) {
        let mut conversation = std::mem::take(&mut self.conversation);
        self.with_content(view, |content| run(&mut conversation, content));
        self.conversation = conversation;
    }

    /// Returns the changes that contain the lines of the visible comments.
    fn code_source(&self, view: &View, content: &Content) -> CodeSource {
        let positions = self.conversation.positions(view, content).into_iter().map(|(_, position)| position);
        let positions = positions.filter(|position| position.quote.is_empty()).collect();
        CodeSource { identity: self.reads.diff().request().line(), entries: self.reads.entries(view), positions }
    }

    /// Returns the comment or draft under the cursor.
    pub fn target<'a>(&'a self, view: &View<'a>) -> Option<Target<'a>> {
        self.conversation.target(&self.rows(view), &self.comments.notes, &self.drafts)
    }
}

impl Pane for DetailsTab {
    fn wants(&self, view: &View) -> Vec<Want> {
        let mut wants: Vec<Want> = vec![
            Load::list(&self.reads.refs_query(), 1).into(),
            Load::list(&self.reads.statuses_query(), 1).into(),
            Load::list(&self.reads.merge_requests_query(), 1).optional().into(),
            Load::single(&self.reads.signature_query()).optional().into(),
        ];
        self.with_content(view, |content| {
            wants.extend(self.conversation.works(view, content).into_iter().map(Want::from));
            wants.extend(self.conversation.image_wants(view, content));
            wants.extend(ThreadCode::wants(view, &[self.code_source(view, content)]));
        });
        wants
    }

    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        match self.details.is_empty() {
            true => state::skeleton(buf, area, view.theme),
            false => self.with_content(view, |content| self.conversation.draw(view, area, buf, true, content)),
        }
    }

    fn changed(&mut self, cx: &mut Cx) {
        let view = cx.view;
        self.drafts.read(&self.reads.noteable(&view), &view);
        let width = usize::from(view.size.0).saturating_sub(4);
        commit_details::fill_facts(&mut self.details, &self.reads, &view, width);
        let comments = self.reads.comments(&view).map(|rows| (self.reads.full_sha(&view), rows));
        self.comments.sync(&comments.into_iter().collect::<Vec<_>>(), false);
        let source = self.with_content(&view, |content| self.code_source(&view, content));
        self.code.sync(&view, &[source]);
        self.update(&view, |conversation, content| conversation.sync(&view, content));
    }

    /// Opens the draft or the target of the line under the cursor.
    fn enter(&mut self, cx: &mut Cx) {
        let opened = match self.conversation.at_cursor() {
            UnderCursor::Head(row) => self.details.enter_row(row, cx),
            _ => false,
        };
        match self.target(&cx.view) {
            Some(Target::Draft(id)) => self.drafts.open(id, cx),
            _ if !opened => cx.say(Tone::Info, "Parents, refs, the pipeline and pages of statuses can be opened."),
            _ => {}
        }
    }

    fn motion(&mut self, motion: Motion, _cx: &mut Cx) {
        self.conversation.motion(motion);
    }

    searches_conversation!();

    fn pointer(&mut self, pointer: Pointer, cx: &mut Cx) {
        if self.conversation.pointer(pointer) {
            self.enter(cx);
        }
    }
}
