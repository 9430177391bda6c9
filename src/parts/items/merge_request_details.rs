//! Columns of merge request lists that need further requests: checks, approvals, unresolved threads and size. They
//! are loaded for visible open merge requests, a few at a time. Approvals and threads are counted for all of them where
//! Home has few; elsewhere only for the selected one if the list says roughly how it is with the others.

use crate::api::decisions::{Approvals, GetApprovals};
use crate::api::discussions::{Discussion, ListDiscussions};
use crate::api::endpoint::Request;
use crate::api::labels::{self, ItemLabel};
use crate::api::merge_requests::{GetMergeRequest, ListReviewers, MergeRequest, Reviewer};
use crate::api::pipelines::resources::Pipeline;
use crate::api::{Endpoint, Id, Noteable, Reply};
use crate::app::view::View;
use crate::domain::waiting_for::{self, Answer, REQUESTED_CHANGES, Reviews, WaitingFor};
use crate::parts::ci::pipeline_stages;
use crate::parts::items::merge_state;
use crate::parts::list::request_limit;
use crate::parts::review::threads;
use crate::parts::secondary;
use crate::parts::text::label_colors;
use crate::store::{Load, Value, Want};
use crate::ui::line::Line;
use crate::ui::theme::Role;
use crate::ui::{glyph, legend, text};
use std::sync::Arc;
use std::time::Duration;

/// The polling interval of rows that changed or whose pipeline is running.
const LIVE_INTERVAL: Duration = Duration::from_secs(30);
/// The number of threads per page.
const PAGE_THREADS: usize = 100;

/// The details that are shown, depending on the width.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShownDetails {
    pub labels: bool,
    pub approvals: bool,
    pub threads: bool,
    pub size: bool,
    /// Whether approvals and threads are counted for every row, not only for the selected one.
    pub counted: bool,
    /// Whether the checks are shown by stage.
    pub stages: bool,
    /// Whether the states of reviewers are requested, if only they tell who a merge request waits for. Otherwise it waits
    /// for its reviewers.
    pub waiting: bool,
}

impl ShownDetails {
    /// Returns the details that fit into a list of the given width, in columns.
    pub fn in_width(width: u16) -> ShownDetails {
        // In accessible mode, a row has all its cells at any width.
        let width = if glyph::is_accessible() { u16::MAX } else { width };
        let states = width >= 78;
        // There is no word that is short enough for all stages.
        let stages = width >= 100 && !glyph::is_accessible();
        ShownDetails {
            labels: width >= 100,
            approvals: states,
            threads: states,
            size: width >= 130,
            // No row changes when it is selected.
            counted: glyph::is_accessible(),
            stages,
            waiting: false,
        }
    }
}

/// The number of unresolved threads.
struct ThreadCount {
    unresolved: usize,
    /// Whether there are more threads than were read.
    cut: bool,
}

impl ThreadCount {
    fn of(discussions: &[Discussion]) -> ThreadCount {
        let is_unresolved = |thread: &&Discussion| threads::is_resolved(&thread.notes) == Some(false);
        ThreadCount {
            unresolved: discussions.iter().filter(is_unresolved).count(),
            cut: discussions.len() >= PAGE_THREADS,
        }
    }
}

/// The details of a merge request in a list.
#[derive(Clone, Copy)]
pub struct MergeRequestDetails<'a> {
    view: View<'a>,
    project: &'a Id,
    merge_request: &'a MergeRequest,
    shown: ShownDetails,
    /// Whether it is the selected one, for which everything is loaded.
    is_selected: bool,
}

impl<'a> MergeRequestDetails<'a> {
    /// Creates the details of a merge request of `project`.
    pub fn new(
        view: &View<'a>,
        project: &'a Id,
        merge_request: &'a MergeRequest,
        shown: ShownDetails,
    ) -> MergeRequestDetails<'a> {
        MergeRequestDetails { view: *view, project, merge_request, shown, is_selected: false }
    }

    /// Loads everything if this is the `selected` merge request.
    pub fn with_selected(self, selected: Option<&MergeRequest>) -> MergeRequestDetails<'a> {
        MergeRequestDetails {
            is_selected: selected.is_some_and(|selected| selected.id == self.merge_request.id),
            ..self
        }
    }

    fn single(&self) -> GetMergeRequest {
        GetMergeRequest::new(self.project.clone(), self.merge_request.iid)
    }

    fn approvals_of(&self) -> GetApprovals {
        GetApprovals { id: self.project.clone(), merge_request_iid: self.merge_request.iid }
    }

    fn reviewers_of(&self) -> ListReviewers {
        ListReviewers { id: self.project.clone(), merge_request_iid: self.merge_request.iid }
    }

    /// Calls `of` with what is known of the states of the reviewers.
    fn with_reviews<T>(&self, of: impl FnOnce(Reviews) -> T) -> T {
        let rows = self.view.store.list(&self.reviewers_of());
        let known: Vec<&Reviewer> = rows.iter().collect();
        of(match rows.is_loaded {
            true => Reviews::Known(&known),
            false if rows.error.is_some() || self.view.store.is_unsupported::<ListReviewers>() => Reviews::Untold,
            false if !self.shown.waiting => Reviews::Untold,
            false => Reviews::Unknown,
        })
    }

    fn waiting_for(&self) -> Answer {
        let me = self.view.me().map(|me| me.id);
        self.with_reviews(|reviews| waiting_for::answer(self.merge_request, reviews, me))
    }

    /// Returns whether it waits for `who`, a word or a username after `@`, or may do so.
    pub fn may_wait_for(&self, who: &str) -> bool {
        match (self.waiting_for(), who.strip_prefix('@')) {
            (Answer::Nobody, _) => false,
            (Answer::Unknown, _) => true,
            (Answer::Known(WaitingFor::Me), Some(name)) => self.view.me().is_some_and(|me| me.username == name),
            (Answer::Known(known), Some(name)) => {
                self.with_reviews(|reviews| waiting_for::people(self.merge_request, reviews, known).contains(&name))
            }
            (Answer::Known(known), None) => known.word() == who,
        }
    }

    /// Returns the word for whom it waits for, and their usernames, including the user's; `None` if it waits for nobody or
    /// that is not known yet.
    pub fn awaited(&self) -> Option<(&'static str, Vec<String>)> {
        let Answer::Known(who) = self.waiting_for() else { return None };
        let me = self.view.me().filter(|_| who == WaitingFor::Me).map(|me| me.username.as_str());
        let names = self.with_reviews(|reviews| {
            let people = waiting_for::people(self.merge_request, reviews, who);
            me.into_iter().chain(people).map(str::to_owned).collect()
        });
        Some((who.word(), names))
    }

    /// Returns whether a reviewer requested changes, as far as that is known.
    pub fn has_requested_changes(&self) -> bool {
        let requested = |reviews: Reviews| match reviews {
            Reviews::Known(states) => states.iter().any(|reviewer| reviewer.state == REQUESTED_CHANGES),
            Reviews::Unknown | Reviews::Untold => false,
        };
        self.is_open() && (self.merge_request.merge_status() == Some(REQUESTED_CHANGES) || self.with_reviews(requested))
    }

    fn threads_of(&self) -> (ListDiscussions, Request) {
        let on = Noteable::MergeRequest { project: self.project.clone(), iid: self.merge_request.iid };
        let list = ListDiscussions { on };
        let request = list.request().read_as::<ThreadCount>();
        (list, request)
    }

    fn full(&self) -> Option<&'a MergeRequest> {
        self.view.store.get(&self.single()).value
    }

    fn files(&self) -> Option<&'a str> {
        self.full()?.changes_count()
    }

    /// Returns whether the merge request is open: details are only useful before it is closed or merged.
    fn is_open(&self) -> bool {
        self.merge_request.is_open()
    }

    fn has_threads(&self) -> bool {
        self.shown.threads && self.merge_request.user_notes_count != Some(0)
    }

    /// Returns whether approvals are counted. Newer servers list which merge requests lack some. Counts that are known
    /// are kept current.
    fn counts_approvals(&self) -> bool {
        let is_known = || self.view.store.get(&self.approvals_of()).value.is_some();
        let is_told = self.merge_request.detailed_merge_status.is_some();
        self.shown.approvals && (self.is_selected || self.shown.counted || !is_told || is_known())
    }

    /// Returns whether threads are counted. Newer servers list which merge requests have unresolved ones, as far as
    /// those must be resolved.
    fn counts_threads(&self) -> bool {
        let is_known = || self.view.store.read_as::<ThreadCount>(&self.threads_of().1).is_some();
        let is_told = self.merge_request.blocking_discussions_resolved.is_some();
        self.has_threads() && (self.is_selected || self.shown.counted || !is_told || is_known())
    }

    fn loads(&self) -> Vec<Load> {
        let full = self.full();
        // The list is newer than a reply with another update time, which is then requested again.
        let changed = full.is_some_and(|full| full.updated_at != self.merge_request.updated_at);
        let works = full.and_then(MergeRequest::pipeline).is_some_and(|pipeline| pipeline.status.is_live());
        let again = |load: Load, often: bool| load.refresh_after(often.then_some(LIVE_INTERVAL));
        let mut loads = Vec::new();
        if self.shown.labels && self.merge_request.labels().iter().any(|label| label.color().is_none()) {
            loads.push(label_colors::load(self.project));
        }
        if !self.is_open() {
            return loads;
        }
        if self.shown.size || self.merge_request.pipeline().is_none() {
            loads.push(again(Load::single(&self.single()), changed || works));
        }
        if let Some(pipeline) = self.head_pipeline().filter(|_| self.shown.stages) {
            loads.push(pipeline_stages::load(&self.project_of(pipeline), pipeline));
        }
        if self.counts_approvals() {
            loads.push(again(Load::single(&self.approvals_of()), changed));
        }
        let needs_reviews = waiting_for::answer(self.merge_request, Reviews::Unknown, None) == Answer::Unknown;
        if self.shown.waiting && needs_reviews {
            loads.push(again(Load::list(&self.reviewers_of(), 1), changed));
        }
        if self.counts_threads() {
            let (list, request) = self.threads_of();
            let read = |body: &[u8], kind: Option<&str>| {
                Vec::<Discussion>::read(body, kind)
                    .map(|threads| (Arc::new(ThreadCount::of(&threads)) as Value, threads.len()))
            };
            loads.push(again(Load { request, read, pages: 1, ..Load::single(&list) }, changed));
        }
        loads
    }

    /// Returns the cell of a value that is not known: why its request failed, or a placeholder while it is loading, so
    /// that columns do not appear one after the other.
    fn missing(&self, request: &Request) -> Line<'static> {
        match self.view.store.error_of(request) {
            None => (glyph::skeleton(), Role::Faint).into(),
            error => secondary::cell(error),
        }
    }

    /// Returns whether a request is in flight or failed.
    fn was_sent(&self, request: &Request) -> bool {
        self.view.store.is_loading(request) || self.view.store.error_of(request).is_some()
    }

    /// Returns the head pipeline, as far as it is known.
    fn head_pipeline(&self) -> Option<&'a Pipeline> {
        let full = self.is_open().then(|| self.full()).flatten();
        full.and_then(MergeRequest::pipeline).or(self.merge_request.pipeline())
    }

    fn project_of(&self, pipeline: &Pipeline) -> Id {
        pipeline_stages::project_of(pipeline, self.project, Some(self.merge_request.project_id))
    }

    /// Returns a sign for each stage of the head pipeline, or for all of it.
    pub fn checks(&self) -> Line<'static> {
        match self.head_pipeline() {
            Some(pipeline) if self.shown.stages && !glyph::is_accessible() => {
                pipeline_stages::cell_or_sign(&self.view, &self.project_of(pipeline), pipeline)
            }
            Some(pipeline) => glyph::compact(pipeline.status.as_str()).into(),
            None if self.is_open() => self.missing(&self.single().request()),
            None => Line::empty(),
        }
    }

    /// Returns the labels in their colors.
    pub fn labels(&self) -> Line<'static> {
        if !self.shown.labels {
            return Line::empty();
        }
        let known = label_colors::known(&self.view, self.project);
        let color =
            |label: &ItemLabel| label.color().map_or_else(|| label_colors::color(&known, label.name()), labels::rgb);
        label_colors::cell(self.merge_request.labels().iter().map(|label| (label.name(), color(label))))
    }

    /// Returns the number of approvals, and of required ones if there are any.
    pub fn approvals(&self) -> Line<'static> {
        if !self.shown.approvals || !self.is_open() {
            return Line::empty();
        }
        let approvals: Option<&Approvals> = self.view.store.get(&self.approvals_of()).value;
        let Some(approvals) = approvals else {
            let request = self.approvals_of().request();
            return match self.merge_request.detailed_merge_status.as_deref() {
                _ if self.counts_approvals() || self.was_sent(&request) => self.missing(&request),
                Some("not_approved") => (glyph::signed(glyph::busy(), "needed"), Role::Dim).into(),
                _ => (glyph::unknown(), Role::Faint).into(),
            };
        };
        let given = approvals.by().count();
        let required = approvals.approvals_required.unwrap_or(0);
        match approvals.approvals_left.unwrap_or(0) {
            _ if required == 0 && given == 0 => Line::empty(),
            left if required > 0 && left > 0 => {
                let sign = glyph::busy();
                legend::note(sign, "approval needed");
                let sign = if glyph::is_accessible() { "approved" } else { sign };
                (format!("{sign} {given} of {required}"), Role::Dim).into()
            }
            _ => (format!("{} {given}", glyph::or_word(glyph::done(), "approved")), Role::Success).into(),
        }
    }

    /// Returns what blocks the merge, in a word or two.
    pub fn merge(&self) -> Line<'static> {
        let (words, role) = merge_state::brief(self.merge_request);
        match self.has_requested_changes() && role != Role::Failed {
            true => merge_state::cell("changes requested".into(), Role::Failed),
            false => merge_state::cell(words, role),
        }
    }

    /// Returns who it waits for.
    pub fn waiting(&self) -> Line<'static> {
        match self.waiting_for() {
            Answer::Known(who) => {
                let role = match who {
                    WaitingFor::Me => Role::Accent,
                    WaitingFor::Pipeline => Role::Running,
                    _ => Role::Dim,
                };
                let names = self.with_reviews(|reviews| {
                    let people = waiting_for::people(self.merge_request, reviews, who);
                    match (people.as_slice(), people.len()) {
                        ([], _) => who.word().to_owned(),
                        ([first], _) => (*first).to_owned(),
                        ([first, ..], all) => format!("{first}{}{}", glyph::or_word(" +", " and others: "), all - 1),
                    }
                });
                (format!("{}{names}", glyph::or_word("", "waiting for ")), role).into()
            }
            Answer::Unknown if self.shown.waiting => self.missing(&self.reviewers_of().request()),
            Answer::Unknown | Answer::Nobody => Line::empty(),
        }
    }

    /// Returns the number of unresolved threads.
    pub fn threads(&self) -> Line<'static> {
        if !self.has_threads() || !self.is_open() {
            return Line::empty();
        }
        let request = self.threads_of().1;
        let Some(count) = self.view.store.read_as::<ThreadCount>(&request) else {
            return match self.merge_request.blocking_discussions_resolved {
                _ if self.counts_threads() || self.was_sent(&request) => self.missing(&request),
                Some(false) => {
                    (glyph::signed(glyph::warning(), glyph::or_word("open", "open threads")), Role::Warning).into()
                }
                _ => (glyph::unknown(), Role::Faint).into(),
            };
        };
        match (count.unresolved, count.cut) {
            (0, _) => Line::empty(),
            (unresolved, cut) => {
                let more = if cut { "+" } else { "" };
                let noun = glyph::or_word("open", if unresolved == 1 { "thread" } else { "threads" });
                (format!("{unresolved}{more} {noun}"), Role::Warning).into()
            }
        }
    }

    /// Returns the number of changed files.
    pub fn size(&self) -> Line<'static> {
        if !self.shown.size || !self.is_open() {
            return Line::empty();
        }
        let Some(files) = self.files() else {
            let is_read = self.full().is_some();
            return if is_read { Line::empty() } else { self.missing(&self.single().request()) };
        };
        let files = match files.parse() {
            Ok(files) => text::count_noun(files, "file"),
            Err(_) => format!("{} files", text::sanitize(files)),
        };
        (files, Role::Dim).into()
    }
}

/// Returns the requests for the details, those of the selected merge request first.
pub fn wants<'a>(details: impl IntoIterator<Item = MergeRequestDetails<'a>>) -> Vec<Want> {
    let (selected, others): (Vec<_>, Vec<_>) = details.into_iter().partition(|details| details.is_selected);
    let mut wants = request_limit::wants_of_selected(selected.iter().flat_map(MergeRequestDetails::loads));
    wants.extend(request_limit::wants(others.iter().flat_map(MergeRequestDetails::loads)));
    wants
}
