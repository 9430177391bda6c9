//! The reads of a merge request that its tabs share: the requests for its data, and what is loaded of it.

use crate::api::commit_data::CommitData;
use crate::api::commits::GetCommitDiff;
use crate::api::decisions::{Approvals, GetApprovals};
use crate::api::jobs::ListPipelineJobs;
use crate::api::merge_requests::{
    GetMergeRequest, GetMergeRequestChanges, ListMergeRequestCommits, ListMergeRequestPipelines, ListReviewers,
    MergeRequest,
};
use crate::api::notes::Note;
use crate::api::pipelines::resources::Pipeline;
use crate::api::users::User;
use crate::api::versions::{GetMergeRequestVersion, ListMergeRequestVersions};
use crate::api::{Id, Noteable, Time};
use crate::app::command_info::Disabled;
use crate::app::outbox::NoteableExt;
use crate::app::place::Place;
use crate::app::view::View;
use crate::domain::waiting_for::REQUESTED_CHANGES;
use crate::parts::ci::pipeline_stages;
use crate::parts::items::linked_items::OfMergeRequest;
use crate::parts::items::merge_requests;
use crate::parts::items::stack::Stack;
use crate::store::{Load, Rows, Want};
use std::sync::Arc;
use std::time::Duration;

/// The polling interval while a pipeline is running.
pub const RUNNING_INTERVAL: Duration = Duration::from_secs(5);

/// A merge request, and what is read of it.
#[derive(Clone)]
pub struct MergeRequestReads {
    pub project: Id,
    pub iid: u64,
    /// The merge request as a list had it, to be shown until it is loaded.
    listed: Option<Arc<MergeRequest>>,
}

impl MergeRequestReads {
    /// Returns the reads of the merge request that a place names.
    pub fn of(place: &Place) -> MergeRequestReads {
        let iid = place.item.as_deref().and_then(|item| item.parse().ok()).unwrap_or(0);
        MergeRequestReads { project: place.project.clone().unwrap_or_default(), iid, listed: None }
    }

    /// Returns the same reads, with what a loaded list shows of the merge request.
    pub fn with_listed(self, view: &View) -> MergeRequestReads {
        let is_it = |row: &&MergeRequest| {
            let is_here = || {
                let path = merge_requests::project(row, view);
                path.as_str().eq_ignore_ascii_case(self.project.as_str())
            };
            row.iid == self.iid && (self.project.number() == Some(row.project_id) || is_here())
        };
        let rows = view.store.known::<MergeRequest>().map(|(_, row)| row).filter(is_it);
        let newest = rows.max_by_key(|row| row.updated_at.as_ref().and_then(Time::instant));
        MergeRequestReads { listed: newest.cloned().map(Arc::new), ..self }
    }

    /// Returns the place of the merge request, with its first tab.
    pub fn place(&self) -> Place {
        Place::new("mr").project(self.project.clone()).item(self.iid)
    }

    /// Returns the merge request with the project ID that this place uses in requests.
    pub fn noteable(&self) -> Noteable {
        Noteable::MergeRequest { project: self.project.clone(), iid: self.iid }
    }

    /// Returns the merge request as drafts are stored for it: by the project's path, however the place was opened.
    pub fn stored_noteable(&self, view: &View) -> Noteable {
        let project =
            self.shown(view).map_or_else(|| self.project.clone(), |known| merge_requests::project(known, view));
        Noteable::MergeRequest { project, iid: self.iid }
    }

    pub fn merge_request(&self) -> GetMergeRequest {
        GetMergeRequest::new(self.project.clone(), self.iid)
    }

    pub fn commits(&self) -> ListMergeRequestCommits {
        ListMergeRequestCommits { id: self.project.clone(), merge_request_iid: self.iid }
    }

    pub fn changes(&self) -> GetMergeRequestChanges {
        GetMergeRequestChanges { id: self.project.clone(), merge_request_iid: self.iid }
    }

    pub fn pipelines(&self) -> ListMergeRequestPipelines {
        ListMergeRequestPipelines { id: self.project.clone(), merge_request_iid: self.iid }
    }

    pub fn approvals(&self) -> GetApprovals {
        GetApprovals { id: self.project.clone(), merge_request_iid: self.iid }
    }

    pub fn versions(&self) -> ListMergeRequestVersions {
        ListMergeRequestVersions { id: self.project.clone(), merge_request_iid: self.iid }
    }

    pub fn version(&self, id: u64) -> GetMergeRequestVersion {
        GetMergeRequestVersion { id: self.project.clone(), merge_request_iid: self.iid, version_id: id }
    }

    /// Returns the request for the changes of a commit.
    pub fn commit_changes(&self, sha: &str) -> GetCommitDiff {
        GetCommitDiff { id: self.project.clone(), sha: sha.to_owned() }
    }

    /// Returns the want for the first changes of a commit.
    pub fn commit_changes_want(&self, sha: &str) -> Want {
        let data = CommitData::Changes { commit: sha.to_owned() };
        Load::list(&self.commit_changes(sha), 1).optional().or_in_clone(data).into()
    }

    /// Returns the name of the target branch, once it is known.
    pub fn target_branch(&self, view: &View) -> String {
        self.known(view).and_then(|known| known.target_branch.clone()).unwrap_or_default()
    }

    pub fn jobs(&self, view: &View, pipeline: &Pipeline) -> ListPipelineJobs {
        ListPipelineJobs::all(self.project_of(view, pipeline), pipeline.id)
    }

    /// Returns the project that a pipeline runs in; for a merge request from a fork, that may be the fork.
    pub fn project_of(&self, view: &View, pipeline: &Pipeline) -> Id {
        let here = self.known(view).map(|known| known.project_id);
        pipeline_stages::project_of(pipeline, &self.project, here)
    }

    /// Returns the place of a pipeline's jobs.
    pub fn jobs_place(&self, view: &View, pipeline: &Pipeline) -> Place {
        Place::new("jobs").project(self.project_of(view, pipeline)).item(pipeline.id)
    }

    /// Returns the merge request, once it is loaded.
    pub fn known<'a>(&self, view: &View<'a>) -> Option<&'a MergeRequest> {
        view.store.get(&self.merge_request()).value
    }

    /// Returns the merge request or, until it is loaded, what a list shows of it.
    pub fn shown<'a>(&'a self, view: &View<'a>) -> Option<&'a MergeRequest> {
        let reply = view.store.get(&self.merge_request());
        reply.value.or_else(|| self.listed.as_deref().filter(|_| reply.refused().is_none()))
    }

    /// Returns the merge request, or the reason why there is none.
    pub fn need<'a>(&self, view: &View<'a>) -> Result<&'a MergeRequest, Disabled> {
        let known = view.store.get(&self.merge_request());
        known.value.ok_or_else(|| match known.error {
            Some(error) => error.message().into(),
            None => "the merge request is still loading".into(),
        })
    }

    /// Returns the head pipeline of the merge request, else the latest one of its list.
    pub fn pipeline<'a>(&self, view: &View<'a>) -> Option<&'a Pipeline> {
        self.known(view)?.pipeline().or_else(|| view.store.list(&self.pipelines()).get(0))
    }

    /// Returns whether the pipeline is running.
    pub fn is_live(&self, view: &View) -> bool {
        self.pipeline(view).is_some_and(|pipeline| pipeline.status.is_live())
    }

    /// Polls what `load` reads while the pipeline is running.
    pub fn polled(&self, view: &View, load: Load) -> Load {
        load.refresh_after(self.is_live(view).then_some(RUNNING_INTERVAL))
    }

    /// Returns who approved it and who still has to, once that is loaded.
    pub fn given_approvals<'a>(&self, view: &View<'a>) -> Option<&'a Approvals> {
        view.store.get(&self.approvals()).value
    }

    /// Returns whether the user approved it, as far as that is loaded.
    pub fn has_approved(&self, view: &View) -> bool {
        self.given_approvals(view).is_some_and(Approvals::is_mine)
    }

    /// Returns the stack that it belongs to, as far as that is loaded.
    pub fn stack<'a>(&self, view: &View<'a>) -> Stack<'a> {
        self.known(view).map(|known| Stack::of(view, &self.project, known)).unwrap_or_default()
    }

    /// Returns the requests for what is linked to it.
    pub fn linked(&self) -> OfMergeRequest {
        OfMergeRequest::new(&self.project, self.iid)
    }

    /// Returns the request for the states of its reviewers.
    pub fn reviewers(&self) -> ListReviewers {
        ListReviewers { id: self.project.clone(), merge_request_iid: self.iid }
    }

    /// Returns the reviewers who requested changes, as far as that is loaded.
    pub fn changes_requested_by<'a>(&self, view: &View<'a>) -> Vec<&'a User> {
        let rows = view.store.list(&self.reviewers());
        let requested = rows.iter().filter(|reviewer| reviewer.state == REQUESTED_CHANGES);
        requested.map(|reviewer| &reviewer.user).collect()
    }

    /// Returns whether the user has requested changes, as far as that is known.
    pub fn has_requested_changes(&self, view: &View) -> bool {
        let me = view.me().map(|me| me.id);
        self.changes_requested_by(view).iter().any(|user| Some(user.id) == me)
    }

    /// Returns the loaded notes, of threads or not.
    pub fn notes<'a>(&self, view: &View<'a>) -> Rows<'a, Note> {
        self.noteable().conversation(view)
    }
}
