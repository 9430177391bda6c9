//! The overview of a merge request: its facts, its description and its comments.

use super::Mr;
use super::changes::versions;
use super::commit_comments::{self, CommitNotes};
use super::common_changes::{self, CommonChanges};
use super::conversation::{self, Content, Conversation, UnderCursor};
use super::facts::Facts;
use super::reads::Reads;
use super::tab::{NOTHING_TO_OPEN, TabPart, Target};
use crate::api::decisions::{ApprovalRule, GetApprovalState};
use crate::api::jobs::Job;
use crate::api::merge_requests::{ListParticipants, ListReviewers};
use crate::api::notes::Note;
use crate::app::clip::Clip;
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::motion::Motion;
use crate::app::pane::Pane;
use crate::app::place::Place;
use crate::app::pointer::Pointer;
use crate::app::view::View;
use crate::parts::list::{self, draw_error};
use crate::parts::review::drafts::Drafts;
use crate::parts::review::threads;
use crate::parts::{label_colors, rendered_markdown, sidebar};
use crate::store::{Load, Want};
use crate::ui::state;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// The overview of a merge request.
pub struct OverviewTab {
    reads: Reads,
    conversation: Conversation,
    drafts: Drafts,
    comments: CommitNotes,
    common_changes: CommonChanges,
}

impl OverviewTab {
    /// Opens the overview, with the cursor on the note that the place names.
    pub fn open(place: &Place) -> OverviewTab {
        let mut conversation = Conversation::default();
        conversation.want_note(place.note);
        OverviewTab {
            reads: Reads::of(place),
            conversation,
            drafts: Drafts::default(),
            comments: CommitNotes::default(),
            common_changes: CommonChanges::default(),
        }
    }

    fn participants(&self) -> ListParticipants {
        ListParticipants { id: self.reads.project.clone(), merge_request_iid: self.reads.iid }
    }

    fn reviewers(&self) -> ListReviewers {
        ListReviewers { id: self.reads.project.clone(), merge_request_iid: self.reads.iid }
    }

    fn approval_state(&self) -> GetApprovalState {
        GetApprovalState { id: self.reads.project.clone(), merge_request_iid: self.reads.iid }
    }

    /// Returns the approval rules. Only servers that report the number of required approvals have them.
    fn approval_rules<'a>(&self, view: &View<'a>) -> &'a [ApprovalRule] {
        let state = view.store.get(&self.approval_state()).value;
        state.and_then(|state| state.rules.as_deref()).unwrap_or_default()
    }

    fn want_approval_rules(&self, view: &View) -> Option<Want> {
        let approvals = self.reads.given_approvals(view);
        let has_rules = approvals.is_some_and(|approvals| approvals.approvals_required.is_some());
        has_rules.then(|| Load::single(&self.approval_state()).optional().into())
    }

    fn content<'a>(&'a self, view: &View<'a>) -> Option<Content<'a>> {
        let merge_request = self.reads.known(view)?;
        let pipeline = self.reads.pipeline(view);
        let jobs: Vec<&Job> = match pipeline {
            // The list of jobs has the latest first; stages are derived from the first job on.
            Some(pipeline) => {
                let rows = view.store.list(&self.reads.jobs(view, pipeline));
                let mut jobs: Vec<&Job> = (0..rows.len().min(40)).filter_map(|index| rows.get(index)).collect();
                jobs.sort_by_key(|job| job.id);
                jobs
            }
            None => Vec::new(),
        };
        Some(Content {
            facts: Facts {
                merge_request,
                pipeline,
                jobs,
                participants: view.store.list(&self.participants()),
                approvals: self.reads.given_approvals(view),
                approval_rules: self.approval_rules(view),
                common_changes: &self.common_changes.paths,
                labels: label_colors::known(view, &self.reads.project),
                reviewers: view.store.list(&self.reviewers()),
            },
            drafts: self.drafts.drafts(),
            identity: rendered_markdown::identity(merge_request.description.as_deref().unwrap_or_default()),
            on: self.reads.noteable(),
            versions: view.store.list(&self.reads.versions()),
            notes: self.reads.notes(view),
            comments: &self.comments.notes,
            comments_revision: self.comments.revision,
        })
    }

    /// Returns the note or comment on a commit at an index of the conversation.
    fn note_at<'a>(&'a self, index: usize, view: &View<'a>) -> Option<&'a Note> {
        conversation::note_at(&self.reads.notes(view), &self.comments.notes, index)
    }

    /// Returns the key of the draft at an index.
    fn draft_at(&self, index: usize) -> Option<&str> {
        self.drafts.drafts().get(index).map(|(key, _)| key.as_str())
    }
}

impl TabPart for OverviewTab {
    fn can_enter(&self, view: &View) -> Result<(), Disabled> {
        let can = match self.conversation.at_cursor() {
            UnderCursor::System | UnderCursor::Draft(_) => true,
            _ if self.conversation.is_folded() => true,
            UnderCursor::Note(index) => self.note_at(index, view).is_some_and(|note| threads::place(note).0.is_some()),
            UnderCursor::Other => false,
        };
        list::need(can.then_some(()), &self.reads.notes(view), NOTHING_TO_OPEN)
    }

    fn enter(&mut self, cx: &mut Cx) {
        match self.conversation.at_cursor() {
            _ if self.conversation.is_folded() => self.fold(cx),
            UnderCursor::System => self.fold(cx),
            UnderCursor::Draft(index) => {
                if let Some(key) = self.draft_at(index) {
                    self.drafts.open(key, cx);
                }
            }
            UnderCursor::Note(index) => {
                if let Some(position) = self.note_at(index, &cx.view).and_then(|note| threads::place(note).0) {
                    cx.act(cx.here.then(|pane: &mut Mr, _| pane.show_changes().show_thread(position)));
                }
            }
            UnderCursor::Other => {}
        }
    }

    fn target(&self, view: &View) -> Option<Target> {
        match self.conversation.at_cursor() {
            UnderCursor::Note(index) => self.note_at(index, view).map(Target::of),
            UnderCursor::Draft(index) => self.draft_at(index).map(|key| Target::Draft(key.to_owned())),
            UnderCursor::System => Some(Target::System),
            UnderCursor::Other => None,
        }
    }

    fn has_steps(&self) -> Result<(), Disabled> {
        Ok(())
    }

    fn step(&mut self, forward: bool) {
        self.conversation.step_note(forward);
    }

    fn step_thread(&mut self, forward: bool) {
        self.conversation.step_thread(forward);
    }

    fn fold(&mut self, cx: &mut Cx) {
        self.conversation.toggle(&self.reads.notes(&cx.view));
    }
}

impl Pane for OverviewTab {
    fn place(&self) -> Place {
        self.reads.place()
    }

    fn wants(&self, view: &View) -> Vec<Want> {
        let known = self.reads.known(view);
        let noteable = self.reads.noteable();
        let mut wants: Vec<Want> = Vec::new();
        wants.extend(noteable.load_conversation(view, self.conversation.pages()).map(Want::from));
        wants.push(Load::list(&self.participants(), 1).optional().into());
        if known.is_some_and(|known| !known.labels().is_empty()) {
            wants.push(label_colors::load(&self.reads.project).optional().into());
        }
        if known.is_some_and(|known| known.reviewers.as_ref().is_some_and(|all| !all.is_empty())) {
            wants.push(Load::list(&self.reviewers(), 1).optional().into());
        }
        wants.extend(self.want_approval_rules(view));
        wants.extend(common_changes::wants(&self.reads, view));
        wants.extend(self.conversation.is_any_outdated().then(|| versions::want(&self.reads)));
        // The commits are needed for the count in the title of their tab, and for their comments.
        wants.push(Load::list(&self.reads.commits(), 1).into());
        for list in commit_comments::lists(&self.reads, view) {
            wants.push(Load::list(&list, 1).optional().into());
        }
        if known.is_some_and(|known| known.pipeline().is_none()) {
            wants.push(self.reads.polled(view, Load::list(&self.reads.pipelines(), 1)).optional().into());
        }
        if let Some(pipeline) = self.reads.pipeline(view) {
            wants.push(self.reads.polled(view, Load::list(&self.reads.jobs(view, pipeline), 1)).optional().into());
        }
        if let Some(content) = self.content(view) {
            wants.extend(self.conversation.works(view, &content).into_iter().map(Want::from));
            wants.extend(self.conversation.reactions(view, &content));
        }
        wants
    }

    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        match self.content(view) {
            Some(content) => self.conversation.draw(view, area, buf, &content),
            None => match view.store.get(&self.reads.merge_request()).error {
                Some(error) => draw_error(view, area, buf, error),
                None => state::skeleton(buf, area, view.theme),
            },
        }
    }

    fn changed(&mut self, cx: &mut Cx) {
        let view = cx.view;
        self.drafts.read(&self.reads.stored_noteable(&view), &view);
        self.comments.sync(&self.reads, &view);
        self.common_changes.sync(&self.reads, &view);
        let mut conversation = std::mem::take(&mut self.conversation);
        if let Some(content) = self.content(&view) {
            conversation.sync(&view, &content);
        }
        self.conversation = conversation;
    }

    fn motion(&mut self, motion: Motion, _cx: &mut Cx) {
        self.conversation.motion(motion);
    }

    fn pointer(&mut self, pointer: Pointer, cx: &mut Cx) {
        match pointer {
            Pointer::Wheel { rows, .. } => self.conversation.motion(Motion::Wheel(rows)),
            Pointer::Press { row, double, .. } => {
                self.conversation.click(row);
                if double {
                    self.enter(cx);
                }
            }
            Pointer::Drag { .. } | Pointer::Release => {}
        }
    }

    fn ticks(&self, view: &View) -> bool {
        sidebar::is_wide(view) && self.reads.is_live(view)
    }

    fn copies(&self, view: &View) -> Vec<Clip> {
        let note = self.conversation.note().and_then(|index| self.note_at(index, view));
        note.map(|note| Clip::lines("note", note.body.clone())).into_iter().collect()
    }
}
