//! The overview of a merge request: its facts, its description and its comments.

use super::Mr;
use super::NOTHING_TO_OPEN;
use super::changes::versions;
use super::commit_comments;
use super::common_changes::{self, CommonChanges};
use super::facts::{self, Facts};
use super::reads::MergeRequestReads;
use crate::api::commits::GetCommitDiff;
use crate::api::decisions::{ApprovalRule, GetApprovalState};
use crate::api::endpoint::Endpoint;
use crate::api::jobs::Job;
use crate::api::merge_requests::{ListParticipants, MergeRequest};
use crate::api::notes::Note;
use crate::api::repository::CompareRefs;
use crate::app::clip::Clip;
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::motion::Motion;
use crate::app::outbox::{DiffPosition, NoteableExt};
use crate::app::pane::Pane;
use crate::app::place::Place;
use crate::app::pointer::Pointer;
use crate::app::view::View;
use crate::domain::mentions::Mentions;
use crate::parts::comments::Target;
use crate::parts::comments::conversation::{
    self, Content, Conversation, GUTTER_WIDTH, Head, ListStatus, UnderCursor, searches_conversation,
};
use crate::parts::facts::sidebar;
use crate::parts::list::{self, draw_error};
use crate::parts::repository::changed_files::Entries;
use crate::parts::review::commit_notes::{COMMIT_NOTEABLE_TYPE, CommitNotes};
use crate::parts::review::drafts::{DraftId, Drafts};
use crate::parts::review::thread_code::{CodeSource, ThreadCode};
use crate::parts::review::threads;
use crate::parts::text::illustrated_text::IllustratedText;
use crate::parts::text::links::{self, Link, TextOrigin};
use crate::parts::text::{label_colors, rendered_markdown};
use crate::store::{Derived, Load, Revision, Want};
use crate::ui::doc::DocLine;
use crate::ui::theme::Role;
use crate::ui::{glyph, state};
use jiff::Timestamp;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// The overview of a merge request.
pub struct OverviewTab {
    reads: MergeRequestReads,
    pub conversation: Conversation,
    /// The description.
    text: IllustratedText,
    drafts: Drafts,
    comments: CommitNotes,
    common_changes: CommonChanges,
    /// The lines of code that threads are about.
    code: ThreadCode,
    /// The kinds of items that the description, the notes and the commits mention, from the notes of a revision, the
    /// commits of another, and the description that was received then.
    mentions: Derived<(Revision, Option<Timestamp>), Mentions>,
}

/// Changes that contain the code of threads.
#[derive(Clone, PartialEq)]
enum CodeChanges {
    /// All changes of the merge request.
    Current,
    /// An earlier version of them, from its base to its head.
    Version(String, String),
    /// The changes of one commit.
    Commit(String),
}

/// The maximum number of different changes that are loaded for the code of threads.
const MAX_CODE_SOURCES: usize = 4;

impl OverviewTab {
    /// Opens the overview, with the cursor on the note that the place names.
    pub fn open(place: &Place, reads: MergeRequestReads) -> OverviewTab {
        let mut conversation = Conversation::default();
        conversation.want_note(place.note);
        OverviewTab {
            reads,
            conversation,
            text: IllustratedText::default(),
            drafts: Drafts::default(),
            comments: CommitNotes::default(),
            common_changes: CommonChanges::default(),
            code: ThreadCode::default(),
            mentions: Derived::default(),
        }
    }

    fn read_mentions(&mut self, view: &View) {
        let Some(known) = self.reads.known(view) else { return };
        let (notes, commits) = (self.reads.notes(view), view.store.list(&self.reads.commits()));
        let since = view.store.get(&self.reads.merge_request()).since;
        self.mentions.update(notes.revision, (commits.revision, since), || {
            let texts = [Some(known.title.as_str()), known.description.as_deref()].into_iter().flatten();
            let messages = commits.iter().map(|commit| commit.message.as_str());
            let found = Mentions::of(texts.chain(messages).chain(notes.iter().map(|note| note.body.as_str())));
            // What is not loaded may mention anything.
            let is_part = notes.has_more || commits.has_more;
            if is_part { Mentions { issues: true, closed_issues: true, ..found } } else { found }
        });
    }

    /// Returns the changes that contain the code of a thread; `None` if its comment quotes the lines.
    fn changes_of(&self, view: &View, note: &Note, position: &DiffPosition) -> Option<CodeChanges> {
        if position.lines.is_none() || !position.quote.is_empty() {
            return None;
        }
        if note.noteable_type == COMMIT_NOTEABLE_TYPE || note.commit_id.is_some() {
            return Some(CodeChanges::Commit(position.sha.clone()));
        }
        let refs = self.reads.known(view)?.diff_refs.as_ref();
        let head = refs.and_then(|refs| refs.head_sha.as_deref());
        if position.sha.is_empty() || head.is_none_or(|head| head == position.sha) {
            return Some(CodeChanges::Current);
        }
        let base = note.position.as_ref().and_then(|position| position.base_sha.clone())?;
        Some(CodeChanges::Version(base, position.sha.clone()))
    }

    /// Returns the changes that contain the code of the threads near the viewport, with the requests for them.
    fn code_sources(&self, view: &View, content: &Content) -> Vec<(CodeSource, Want)> {
        let mut sources: Vec<(CodeChanges, Vec<DiffPosition>)> = Vec::new();
        for (note, position) in self.conversation.positions(view, content) {
            let Some(changes) = self.changes_of(view, note, &position) else { continue };
            let known = sources.iter().position(|(known, _)| *known == changes);
            if let Some((_, positions)) = known.and_then(|at| sources.get_mut(at)) {
                positions.push(position);
            } else if sources.len() < MAX_CODE_SOURCES {
                sources.push((changes, vec![position]));
            }
        }
        let source = |(changes, positions): (CodeChanges, Vec<DiffPosition>)| {
            let id = self.reads.project.clone();
            let (identity, entries, load) = match changes {
                CodeChanges::Current => {
                    let get = self.reads.changes();
                    let reply = view.store.get(&get);
                    let entries = reply.arc().map(Entries::MergeRequest);
                    (format!("{} at {:?}", get.request().line(), reply.since), entries, Load::single(&get))
                }
                CodeChanges::Version(from, to) => {
                    let get = CompareRefs { id, from, to, straight: Some(true) };
                    let entries = view.store.get(&get).arc().map(Entries::Comparison);
                    (get.request().line(), entries, Load::single(&get))
                }
                CodeChanges::Commit(sha) => {
                    let list = GetCommitDiff { id, sha };
                    let rows = view.store.list(&list);
                    let pages = (0..rows.pages() as usize).filter_map(|page| rows.page(page)).collect();
                    let entries = rows.is_loaded.then_some(Entries::Pages(pages));
                    (list.request().line(), entries, Load::list(&list, 1))
                }
            };
            (CodeSource { identity, entries, positions }, load.optional().into())
        };
        sources.into_iter().map(source).collect()
    }

    /// Returns the width of the text in columns.
    fn width(view: &View) -> usize {
        let width = usize::from(sidebar::left(view).saturating_sub(GUTTER_WIDTH + 2));
        width.min(rendered_markdown::MAX_PROSE_WIDTH)
    }

    fn participants(&self) -> ListParticipants {
        ListParticipants { id: self.reads.project.clone(), merge_request_iid: self.reads.iid }
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

    fn facts<'a>(&'a self, view: &View<'a>) -> Option<Facts<'a>> {
        let merge_request = self.reads.shown(view)?;
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
        Some(Facts {
            merge_request,
            pipeline,
            jobs,
            participants: view.store.list(&self.participants()),
            approvals: self.reads.given_approvals(view),
            approval_rules: self.approval_rules(view),
            checks: self.reads.merge_checks(view),
            common_changes: &self.common_changes.paths,
            labels: label_colors::known(view, &self.reads.project),
            reviewers: view.store.list(&self.reads.reviewers()),
            stack: self.reads.stack(view),
            linked: self.reads.linked().groups(view),
        })
    }

    /// Returns the description and its identity, unless it is blank.
    fn description<'a>(&'a self, view: &View<'a>) -> Option<(&'a str, String)> {
        let text = self.reads.shown(view)?.description.as_deref().filter(|text| !text.trim().is_empty())?;
        Some((text, rendered_markdown::identity(text)))
    }

    /// Returns the origin of the description.
    fn origin(&self) -> TextOrigin {
        TextOrigin { project: Some(self.reads.project.clone()), ..TextOrigin::default() }
    }

    /// Returns the links of the line under the cursor.
    fn links_here(&self, view: &View) -> Vec<Link> {
        self.with_content(view, |content| self.conversation.links_here(view, content)).unwrap_or_default()
    }

    /// Calls `run` with the loaded data that the conversation is built from.
    fn with_content<T>(&self, view: &View, run: impl FnOnce(&Content) -> T) -> Option<T> {
        let width = OverviewTab::width(view);
        let [facts, below] = facts::lines(view, &self.facts(view)?, width);
        let description = self.description(view);
        let rendered = description.as_ref().and_then(|(_, name)| self.text.rendered(view, name, width));
        let text = |row: usize| match (&description, rendered) {
            (None, _) => DocLine::new("No description.", Role::Dim),
            (_, Some(rendered)) => rendered.lines.get(row).cloned().unwrap_or_default(),
            (_, None) => DocLine::new(glyph::ellipsis(), Role::Faint),
        };
        let line = |row: usize| match row.checked_sub(facts.len()) {
            Some(row) => text(row),
            None => facts.get(row).cloned().unwrap_or_default(),
        };
        let len = facts.len() + rendered.map_or(1, |rendered| rendered.lines.len().max(1));
        let notes = self.reads.notes(view);
        let refs = self.reads.known(view).and_then(|known| known.diff_refs.as_ref());
        let code = |_: &Note, position: &DiffPosition| self.code.lines(position);
        Some(run(&Content {
            head: Head { len, facts: facts.len(), line: &line, images: Some(&self.text), below: &below },
            on: self.reads.noteable(),
            list: ListStatus::of(&notes),
            notes,
            comments: &self.comments.notes,
            comments_revision: self.comments.revision,
            drafts: self.drafts.drafts(),
            head_sha: refs.and_then(|refs| refs.head_sha.as_deref()),
            versions: versions::heads(&self.reads, view),
            code: &code,
            width,
            empty: "‹mr.comment› adds one.",
        }))
    }

    /// Returns the note or comment on a commit at an index of the conversation.
    fn note_at<'a>(&'a self, index: usize, view: &View<'a>) -> Option<&'a Note> {
        conversation::note_at(&self.reads.notes(view), &self.comments.notes, index)
    }

    /// Returns the draft at an index.
    fn draft_at(&self, index: usize) -> Option<&DraftId> {
        self.drafts.drafts().get(index).map(|(id, _)| id)
    }

    /// Returns the comment or draft under the cursor.
    pub fn target<'a>(&'a self, view: &View<'a>) -> Option<Target<'a>> {
        self.conversation.target(&self.reads.notes(view), &self.comments.notes, &self.drafts)
    }

    /// Calls `run` with the conversation and the loaded data that it is built from.
    fn update(&mut self, view: &View, run: impl FnOnce(&mut Conversation, &Content)) {
        let mut conversation = std::mem::take(&mut self.conversation);
        self.with_content(view, |content| run(&mut conversation, content));
        self.conversation = conversation;
    }

    /// Folds or unfolds the item under the cursor.
    pub fn fold(&mut self, cx: &Cx) {
        self.update(&cx.view, Conversation::toggle);
    }

    /// Returns whether the item under the cursor can be opened, or why not.
    pub fn can_enter(&self, view: &View) -> Result<(), Disabled> {
        let can = match self.conversation.at_cursor() {
            UnderCursor::Draft(_) => true,
            _ if self.conversation.is_fold() || !self.links_here(view).is_empty() => true,
            UnderCursor::Note(index) => self.note_at(index, view).is_some_and(|note| threads::place(note).0.is_some()),
            _ => false,
        };
        list::need(can.then_some(()), &self.reads.notes(view), NOTHING_TO_OPEN)
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
            wants.push(Load::list(&self.reads.reviewers(), 1).optional().into());
        }
        wants.extend(self.reads.stack(view).wants());
        if known.is_some() {
            wants.extend(self.reads.linked().wants(view, self.mentions.latest().copied().unwrap_or_default()));
        }
        wants.extend(self.want_approval_rules(view));
        wants.extend(common_changes::wants(&self.reads, view));
        // A branch that was checked out here is compared with the former heads.
        let is_for_checkout = view.session.clone.is_some() && known.is_some_and(MergeRequest::is_from_fork);
        let are_versions_read = is_for_checkout || self.conversation.is_any_outdated();
        wants.extend(are_versions_read.then(|| versions::want(&self.reads)));
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
        let width = OverviewTab::width(view);
        let description = self.description(view);
        if let Some((text, name)) = description {
            wants.extend(self.text.wants(view, &self.origin(), &name, text, width));
        }
        let more = self.with_content(view, |content| {
            let works = self.conversation.works(view, content).into_iter().map(Want::from);
            let (sources, loads): (Vec<_>, Vec<_>) = self.code_sources(view, content).into_iter().unzip();
            let code = loads.into_iter().chain(ThreadCode::wants(view, &sources));
            let images = self.conversation.image_wants(view, content);
            works.chain(images).chain(self.conversation.reactions(view, content)).chain(code).collect::<Vec<_>>()
        });
        wants.extend(more.into_iter().flatten());
        wants
    }

    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let is_wide = sidebar::is_wide(view);
        let sidebar = self.facts(view).filter(|_| is_wide).map(|facts| facts::sidebar_lines(view, &facts));
        let body = sidebar::draw(view, area, buf, &sidebar.unwrap_or_default());
        match self.with_content(view, |content| self.conversation.draw(view, body, buf, true, content)) {
            Some(()) => {}
            None => match view.store.get(&self.reads.merge_request()).error {
                Some(error) => draw_error(view, area, buf, error),
                None => state::skeleton(buf, area, view.theme),
            },
        }
    }

    fn changed(&mut self, cx: &mut Cx) {
        let view = cx.view;
        self.drafts.read(&self.reads.stored_noteable(&view), &view);
        self.comments.sync(&commit_comments::loaded(&self.reads, &view), true);
        self.common_changes.sync(&self.reads, &view);
        self.read_mentions(&view);
        let sources = self.with_content(&view, |content| {
            let sources = self.code_sources(&view, content);
            sources.into_iter().map(|(source, _)| source).collect::<Vec<_>>()
        });
        self.code.sync(&view, &sources.unwrap_or_default());
        if let Some((_, name)) = self.description(&view) {
            let origin = self.origin();
            self.text.changed(&view, &origin, &name, OverviewTab::width(&view));
        }
        self.update(&view, |conversation, content| conversation.sync(&view, content));
    }

    fn enter(&mut self, cx: &mut Cx) {
        match self.conversation.at_cursor() {
            _ if self.conversation.is_fold() => self.fold(cx),
            UnderCursor::Draft(index) => {
                if let Some(key) = self.draft_at(index) {
                    self.drafts.open(key, cx);
                }
            }
            _ if !self.links_here(&cx.view).is_empty() => {
                links::open_comment(&self.links_here(&cx.view), (Some(&self.reads.project), None), cx);
            }
            UnderCursor::Note(index) => {
                if let Some(position) = self.note_at(index, &cx.view).and_then(|note| threads::place(note).0) {
                    cx.act(cx.here.then(|pane: &mut Mr, _| pane.show_changes().show_thread(position)));
                }
            }
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

    fn ticks(&self, view: &View) -> bool {
        sidebar::is_wide(view) && self.reads.is_live(view)
    }

    fn copies(&self, view: &View) -> Vec<Clip> {
        let note = self.conversation.note().and_then(|index| self.note_at(index, view));
        note.map(|note| Clip::lines("note", note.body.clone())).into_iter().collect()
    }
}
