//! Merge requests.

use super::cache::Relation;
use super::call::{Call, Outcome, ReadCall, WriteCall, ok, stable_sort};
use super::ci;
use super::git::Git;
use super::modes::Version;
use super::mount::Mount;
use super::params;
use super::records::{self, MilestoneState, Noteable, Project, Range, Reviewer, State, TodoAction, level};
use super::rejection::Rejection;
use super::world::World;
use crate::presenters::{Bounds, contains_ignore_case, date, optional_time, time};
use api::commits::{Commit, DiffEntry};
use api::labels::ItemLabel;
use api::merge_requests;
use api::merge_requests::{Abilities, MergeRequest as View};
use api::merge_requests::{
    Common, CreateMergeRequest, GetMergeRequest, GetMergeRequestChanges, ListGroupMergeRequests,
    ListMergeRequestCommits, ListMergeRequestPipelines, ListMergeRequests, ListParticipants, ListProjectMergeRequests,
    Milestone, References, TaskStatus, TimeStats, UpdateMergeRequest,
};
use api::pipelines::resources::Pipeline;
use api::users::User as UserView;
use api::{Id, NoContent, Raw};
use domain::work_time;
use git2::Oid;
use jiff::Timestamp;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;

/// The maximum number of changed files that are counted; more are shown as `1000+`.
const MAX_COUNTED: usize = 1_000;
/// The maximum number of commits of a merge request that are listed.
pub const MAX_COMMITS: usize = 5_000;

pub fn mount(mount: Mount) -> Mount {
    mount
        .read_signed_in::<ListMergeRequests>(list)
        .read_signed_in::<ListProjectMergeRequests>(of_project)
        .read_signed_in::<ListGroupMergeRequests>(of_group)
        .read_signed_in::<GetMergeRequest>(get)
        .read_signed_in::<ListParticipants>(participants)
        .read_signed_in::<ListMergeRequestCommits>(commits)
        .read_signed_in::<GetMergeRequestChanges>(changes)
        .read_signed_in::<ListMergeRequestPipelines>(pipelines)
        .write::<DeleteMergeRequest>(delete)
        .read_signed_in::<ListMergeRequestDiffs>(diffs)
        .read_signed_in::<GetRawDiffs>(raw_diffs)
}

api::endpoints! {
    unspecified section "Merge requests";

    /// Deletes a merge request with all that belongs to it.
    DELETE "/projects/{id}/merge_requests/{merge_request_iid}" => NoContent;
    struct DeleteMergeRequest { id: Id, merge_request_iid: u64 }

    /// Lists the changes of a merge request by page (since 15.7).
    GET "/projects/{id}/merge_requests/{merge_request_iid}/diffs" => Vec<DiffEntry>;
    struct ListMergeRequestDiffs { id: Id, merge_request_iid: u64 }

    /// Gets the changes of a merge request as git prints them (since 17.9).
    GET "/projects/{id}/merge_requests/{merge_request_iid}/raw_diffs" => Raw;
    struct GetRawDiffs { id: Id, merge_request_iid: u64 }
}

/// The values of `order_by` on current servers. What has no order of its own here is ordered as usual.
const ORDERS: &[&str] =
    &["created_at", "updated_at", "title", "merged_at", "milestone_due", "popularity", "priority", "label_priority"];

/// Returns a key for sorting that comes last in both directions if there is no value.
pub fn or_last<T: Ord>(value: Option<T>, descending: bool) -> impl Ord {
    (value.is_none() != descending, value)
}

/// Returns the estimated and spent time, in seconds and as text.
pub fn time_stats(time: records::TimeSpent) -> TimeStats {
    TimeStats {
        time_estimate: time.estimate,
        total_time_spent: time.spent,
        human_time_estimate: work_time::format(time.estimate),
        human_total_time_spent: work_time::format(time.spent),
    }
}

/// Counts the tasks in a text, and the completed ones.
pub fn tasks(text: &str) -> TaskStatus {
    let mut tasks = TaskStatus::default();
    for line in text.lines().map(str::trim_start) {
        let Some(task) = line.strip_prefix("- [").or_else(|| line.strip_prefix("* [")) else { continue };
        let done = task.starts_with("x]") || task.starts_with("X]");
        tasks.count += u64::from(done || task.starts_with(" ]"));
        tasks.completed_count += u64::from(done);
    }
    tasks
}

/// Returns the references to an object of the project at `path`, of which `short` is the shortest.
pub fn references(path: &str, short: &str) -> References {
    References { short: short.to_owned(), relative: short.to_owned(), full: format!("{path}{short}") }
}

/// Returns whether a pipeline is of the source branch of a merge request, or of the merge request itself.
pub fn is_pipeline_of(pipeline: &records::Pipeline, mr: &records::MergeRequest) -> bool {
    let is_of_request = || pipeline.source == ci::MERGE_REQUEST && pipeline.ref_name == ci::merge_request_ref(mr);
    pipeline.project == mr.source_project && (pipeline.ref_name == mr.source_branch || is_of_request())
}

/// Returns the length in bytes of the mark of a draft that a title begins with; `None` if it is no draft.
pub fn draft_mark(title: &str, version: Version) -> Option<usize> {
    let marks = if version == Version::V10_6 { merge_requests::WIP_MARKS } else { merge_requests::DRAFT_MARKS };
    merge_requests::draft_mark(title, marks)
}

/// Returns whether a title marks the merge request as a draft.
pub fn is_draft(title: &str, version: Version) -> bool {
    draft_mark(title, version).is_some()
}

/// Returns a title that marks the merge request as a draft.
pub fn draft_title(title: &str, version: Version) -> String {
    match version {
        _ if is_draft(title, version) => title.to_owned(),
        Version::V10_6 => format!("WIP: {title}"),
        _ => format!("Draft: {title}"),
    }
}

/// The first and the last commit of a merge request's diff: its merge base and its head.
pub struct DiffEnds {
    pub base: Oid,
    pub head: Oid,
}

impl<W: Deref<Target = World>> Call<W> {
    /// Converts a milestone to its API representation.
    pub fn show_milestone(&self, milestone: &records::Milestone) -> Milestone {
        let state = match milestone.state {
            MilestoneState::Active => "active",
            MilestoneState::Closed => "closed",
        };
        let project = || self.world.projects.get(milestone.project).map(|project| self.project_url(project));
        let group = |id| format!("{}/groups/{}", self.base_url, self.world.group_path(id));
        let url = milestone.group.map(group).or_else(project).unwrap_or_default();
        let today = self.now.to_zoned(jiff::tz::TimeZone::UTC).date();
        Milestone {
            id: milestone.id,
            iid: milestone.iid,
            project_id: Some(milestone.project).filter(|_| milestone.group.is_none()),
            group_id: milestone.group,
            title: milestone.title.clone(),
            description: Some(milestone.description.clone()),
            state: state.into(),
            created_at: Some(time(milestone.created_at)),
            updated_at: Some(time(milestone.updated_at)),
            due_date: date(milestone.due_date),
            start_date: date(milestone.start_date),
            expired: Some(milestone.due_date.is_some_and(|due| due < today)),
            web_url: Some(format!("{url}/-/milestones/{}", milestone.iid)),
        }
    }

    /// Returns the number of comments, without system notes.
    pub fn count_notes(&self, on: Noteable) -> u64 {
        self.world.notes.iter().filter(|note| note.on == on && !note.system).count() as u64
    }

    fn simple_merge_request(&self, mr: &records::MergeRequest) -> View {
        let project = self.world.projects.get(mr.target_project);
        let page = |project| self.project_page(project, &format!("merge_requests/{}", mr.iid));
        View {
            id: mr.id,
            iid: mr.iid,
            project_id: mr.target_project,
            title: mr.title.clone(),
            description: Some(mr.description.clone()),
            state: mr.state.as_str().into(),
            created_at: Some(time(mr.created_at)),
            updated_at: Some(time(mr.updated_at)),
            web_url: project.map(page).unwrap_or_default(),
            ..View::default()
        }
    }

    /// Returns the representation of a merge request in lists.
    pub fn show_merge_request(&self, mr: &records::MergeRequest, git: Option<&Git>) -> View {
        let (upvotes, downvotes) = self.world.votes(Noteable::MergeRequest(mr.id));
        let milestone = mr.milestone.and_then(|id| self.world.milestones.get(id));
        let head = match &mr.range {
            Some(range) if mr.state != State::Opened => Some(range.head.clone()),
            range => self
                .source_head(mr, git)
                .map(|id| id.to_string())
                .or_else(|| range.as_ref().map(|range| range.head.clone())),
        };
        let source = self.world.projects.get(mr.source_project).map(|project| project.id);
        let relation = self.open_relation(mr, git);
        let has_conflicts = relation.is_some_and(|relation| !relation.is_clean);
        let is_clean = mr.state != State::Opened || relation.is_some_and(|relation| relation.is_clean);
        let target = self.world.projects.get(mr.target_project);
        let path = target.map(|project| self.world.project_path(project)).unwrap_or_default();
        let is_fork = mr.source_project != mr.target_project;
        let merge_user = mr.auto_merge.as_ref().map(|params| params.user).or(mr.merged_by);
        let view = View {
            source_project_id: source.into(),
            target_project_id: Some(mr.target_project),
            target_branch: Some(mr.target_branch.clone()),
            source_branch: Some(mr.source_branch.clone()),
            upvotes: Some(upvotes),
            downvotes: Some(downvotes),
            author: Some(self.user_summary(mr.author)),
            assignee: mr.assignee.map(|id| self.user_summary(id)).into(),
            assignees: Some(mr.assignees().map(|id| self.user_summary(id)).collect()),
            reviewers: Some(mr.reviewers.iter().map(|reviewer| self.user_summary(reviewer.user)).collect()),
            labels: Some(mr.labels.iter().map(|name| ItemLabel::Name(name.clone())).collect()),
            work_in_progress: Some(is_draft(&mr.title, self.version)),
            milestone: milestone.map(|milestone| self.show_milestone(milestone)).into(),
            merge_when_pipeline_succeeds: Some(mr.auto_merge.is_some()),
            merge_status: Some(if is_clean { "can_be_merged" } else { "cannot_be_merged" }.into()),
            detailed_merge_status: Some(self.merge_status(mr, git).into()),
            has_conflicts: Some(has_conflicts),
            blocking_discussions_resolved: Some(!self.has_blocking_threads(mr)),
            sha: head.into(),
            merge_commit_sha: mr.merge_commit_sha.clone().into(),
            user_notes_count: Some(self.count_notes(Noteable::MergeRequest(mr.id))),
            should_remove_source_branch: mr.should_remove_source_branch.into(),
            force_remove_source_branch: Some(mr.force_remove_source_branch),
            squash: Some(mr.squash),
            discussion_locked: mr.discussion_locked.into(),
            time_stats: Some(time_stats(mr.time)),
            approvals_before_merge: mr.approvals_before_merge.into(),
            allow_maintainer_to_push: is_fork.then_some(mr.allow_maintainer_to_push),
            allow_collaboration: is_fork.then_some(mr.allow_maintainer_to_push),
            draft: Some(is_draft(&mr.title, self.version)),
            merge_user: merge_user.map(|id| self.user_summary(id)).into(),
            merge_after: None.into(),
            squash_commit_sha: mr.squash_commit_sha.clone().into(),
            squash_on_merge: Some(mr.squash),
            prepared_at: Some(time(mr.created_at)).into(),
            reference: Some(format!("!{}", mr.iid)),
            references: Some(references(&path, &format!("!{}", mr.iid))),
            task_completion_status: Some(tasks(&mr.description)),
            imported: Some(false),
            imported_from: Some("none".into()),
            ..self.simple_merge_request(mr)
        };
        // Lists of the specification have no dates of the merge and of the closing, but what current servers send only
        // for one merge request.
        match self.only_specified() {
            true => View {
                changes_count: Some(self.change_count(mr, git)),
                subscribed: Some(self.is_subscribed(mr)),
                allow_maintainer_to_push: Some(mr.allow_maintainer_to_push),
                ..view
            },
            false => self.with_end(mr, view),
        }
    }

    fn is_subscribed(&self, mr: &records::MergeRequest) -> bool {
        self.rights.user.is_some_and(|user| mr.subscribers.contains(&user))
    }

    /// Adds the details of the labels of a merge request.
    fn with_label_details(&self, mr: &records::MergeRequest, view: View) -> View {
        let labels = mr.labels.iter().map(|name| self.item_label(mr.target_project, name, true));
        View { labels: Some(labels.collect()), ..view }
    }

    /// Adds when and by whom a merge request was merged or closed.
    fn with_end(&self, mr: &records::MergeRequest, view: View) -> View {
        View {
            closed_at: optional_time(mr.closed_at).into(),
            closed_by: mr.closed_by.map(|id| self.user_summary(id)).into(),
            merged_at: optional_time(mr.merged_at).into(),
            merged_by: mr.merged_by.map(|id| self.user_summary(id)).into(),
            ..view
        }
    }

    /// Returns the head of the source branch; `git` is the target's repository.
    pub fn source_head(&self, mr: &records::MergeRequest, git: Option<&Git>) -> Option<Oid> {
        if mr.source_project == mr.target_project {
            return git?.branch_head(&mr.source_branch);
        }
        let fork = self.world.projects.get(mr.source_project)?;
        self.git(fork).ok()?.branch_head(&mr.source_branch)
    }

    /// Returns the ends of a merge request's diff: from its branches while it is open, and from the stored range once
    /// it is closed or merged. Returns `None` if its branches are gone.
    pub fn diff_ends(&self, mr: &records::MergeRequest, git: &Git) -> Option<DiffEnds> {
        let stored = || {
            let range = mr.range.as_ref()?;
            Some(DiffEnds { base: Oid::from_str(&range.base).ok()?, head: Oid::from_str(&range.head).ok()? })
        };
        let live = || {
            let head = self.source_head(mr, Some(git))?;
            // The commits of a fork are read through the target's repository.
            if mr.source_project != mr.target_project && !git.has_commit(head) {
                let fork = super::store::repository_path(&self.repositories, mr.source_project);
                git.add_alternate(&fork.join("objects"))?;
            }
            Some(DiffEnds { base: self.relation(git, git.branch_head(&mr.target_branch)?, head).base?, head })
        };
        let ends = if mr.state == State::Opened { live().or_else(stored) } else { stored().or_else(live) };
        ends.filter(|ends| git.has_commit(ends.head) || self.add_fork_objects(mr, git, ends.head))
    }

    /// Makes the commits of a merge request from a fork readable through `git`, the target's repository.
    pub fn make_fork_commits_available(&self, mr: &records::MergeRequest, git: &Git) {
        // Looking for the ends of the diff adds the objects of the fork.
        self.diff_ends(mr, git);
    }

    /// Returns the relation of a source head to a target head, from the cache if possible.
    pub fn relation(&self, git: &Git, target: Oid, source: Oid) -> Relation {
        let make = || {
            let (base, is_clean) = (git.merge_base(target, source)?, git.merges_cleanly(target, source));
            Ok(Relation { base, is_clean })
        };
        let none = Relation { base: None, is_clean: false };
        self.cache.relations.get_or_try_init((target, source), make).unwrap_or(none)
    }

    /// Returns the number of changed files, as text.
    pub fn change_count(&self, mr: &records::MergeRequest, git: Option<&Git>) -> String {
        let ends = git.and_then(|git| Some((git, self.diff_ends(mr, git)?)));
        let count = ends.map_or(Ok(0), |(git, ends)| {
            self.cache.change_counts.get_or_try_init((ends.base, ends.head), || git.count_changes(ends.base, ends.head))
        });
        match count {
            Ok(count) if count > MAX_COUNTED => format!("{MAX_COUNTED}+"),
            count => count.unwrap_or(0).to_string(),
        }
    }

    /// Returns the relation of the branches of a merge request that is open.
    fn open_relation(&self, mr: &records::MergeRequest, git: Option<&Git>) -> Option<Relation> {
        let git = git.filter(|_| mr.state == State::Opened)?;
        let ends = self.diff_ends(mr, git)?;
        Some(self.relation(git, git.branch_head(&mr.target_branch)?, ends.head))
    }

    fn add_fork_objects(&self, mr: &records::MergeRequest, git: &Git, head: Oid) -> bool {
        let fork = super::store::repository_path(&self.repositories, mr.source_project).join("objects");
        git.add_alternate(&fork).is_some() && git.has_commit(head)
    }

    /// Returns the representation of a single merge request.
    pub fn show_merge_request_detail(&self, mr: &records::MergeRequest, git: &Git) -> Result<View, Rejection> {
        let last = self.pipelines_of(mr, git).into_iter().next();
        let mut view = self.with_end(mr, self.show_merge_request(mr, Some(git)));
        view.changes_count = Some(self.change_count(mr, Some(git)));
        view.subscribed = Some(self.is_subscribed(mr));
        view.latest_build_started_at = last.and_then(|pipeline| optional_time(pipeline.started_at)).into();
        view.latest_build_finished_at = last.and_then(|pipeline| optional_time(pipeline.finished_at)).into();
        let deployed =
            mr.merged_at.and_then(|merged| self.world.first_production_deployment(mr.target_project, merged));
        view.first_deployed_to_production_at = optional_time(deployed).into();
        view.pipeline = last.map(|pipeline| self.show_pipeline(pipeline)).into();
        view.head_pipeline = last.map(|pipeline| self.show_pipeline_detail(pipeline)).into();
        view.merge_error = mr.merge_error.clone().into();
        view.user = Some(Abilities { can_merge: self.can_merge(mr) });
        view.diff_refs = self.diff_refs(mr).into();
        let of_author =
            |other: &&records::MergeRequest| other.author == mr.author && other.target_project == mr.target_project;
        let is_first = self.world.merge_requests.iter().filter(of_author).all(|other| other.merged_at.is_none());
        view.first_contribution = Some(is_first);
        Ok(view)
    }

    /// Returns the pipelines of the source branch for commits of the merge request, newest first.
    fn pipelines_of(&self, mr: &records::MergeRequest, git: &Git) -> Vec<&records::Pipeline> {
        if !self.can_see_project_with_id(mr.source_project) {
            return Vec::new();
        }
        let Some(ends) = self.diff_ends(mr, git) else { return Vec::new() };
        let commits: BTreeSet<String> = match git.between(ends.base, ends.head, MAX_COMMITS) {
            Ok((ids, _)) => ids.iter().map(Oid::to_string).collect(),
            Err(_) => BTreeSet::from([ends.head.to_string()]),
        };
        let of_request = |p: &&records::Pipeline| is_pipeline_of(p, mr) && commits.contains(&p.sha);
        self.world.top_level_pipelines().rev().filter(of_request).collect()
    }

    /// Returns a project, one of its merge requests, and the repository.
    pub fn merge_request(&self, id: &Id, iid: u64) -> Result<(&Project, &records::MergeRequest, Git), Rejection> {
        let project = self.project(id)?;
        self.require_user()?;
        let (project, git) = if self.rights.can_read_code(&self.world, project) {
            (project, self.git(project)?)
        } else {
            return Err(Rejection::forbidden());
        };
        let found = self.world.merge_requests.iter().find(|mr| mr.target_project == project.id && mr.iid == iid);
        Ok((project, found.ok_or_else(Rejection::record_not_found)?, git))
    }
}

/// Returns the merge requests for which `of` returns true, filtered and sorted according to `input`. `scopes` are the
/// default scope and the requested one.
fn list_filtered(
    call: &ReadCall,
    scopes: (&str, Option<String>),
    input: Common,
    of: impl Fn(&records::MergeRequest) -> bool,
) -> Outcome<Vec<View>> {
    let caller = call.require_user()?.id;
    let state =
        call.choice_or_first("state", input.state.as_deref(), &["all", "opened", "closed", "merged", "locked"])?;
    // Requests are locked only while they are merged, which takes no time here.
    let is_locked = state == "locked";
    let state = State::from_name(state);
    params::check_person("assignee_id", input.assignee_id.as_ref())?;
    params::check_person("reviewer_id", input.reviewer_id.as_ref())?;
    let orders = if call.only_specified() { &["created_at", "updated_at"] } else { ORDERS };
    let by = call.choice_or_first("order_by", input.order_by.as_deref(), orders)?;
    let descending = call.descending(input.sort.as_deref(), "desc")?;
    // Newer servers spell scopes with underscores.
    let (usual, scope) = scopes;
    let scope = scope.map(|scope| scope.replace('_', "-"));
    let words = [usual, "all", "created-by-me", "assigned-to-me", "reviews-for-me"];
    let scope = call.choice_or_first("scope", scope.as_deref(), &words)?.to_owned();
    let (author, assignee): (Option<String>, Option<String>) =
        (call.option("author_username")?, call.option("assignee_username")?);
    // The filter of 19 that replaces `wip`.
    let draft = call.option::<bool>("draft")?.filter(|_| call.version >= Version::V19);
    let created = Bounds::new("created", &input.created_after, &input.created_before)?;
    let updated = Bounds::new("updated", &input.updated_after, &input.updated_before)?;
    let labels: Vec<&str> = input.labels.as_deref().unwrap_or_default().split(',').map(str::trim).collect();
    let labels: Vec<&str> = labels.into_iter().filter(|label| !label.is_empty()).collect();
    let milestone_fits = |mr: &records::MergeRequest| match input.milestone.as_deref() {
        None | Some("") => true,
        Some("None") => mr.milestone.is_none(),
        Some("Any") => mr.milestone.is_some(),
        Some(title) => {
            let milestone = mr.milestone.and_then(|id| call.world.milestones.get(id));
            milestone.is_some_and(|milestone| milestone.title == title)
        }
    };
    let is_named = |user: u64, name: &str| call.world.users.get(user).is_some_and(|user| user.username == name);
    let found = |mr: &&records::MergeRequest| {
        of(mr)
            && !is_locked
            && state.is_none_or(|state| state == mr.state)
            && match scope.as_str() {
                "created-by-me" => mr.author == caller,
                "assigned-to-me" => mr.assignees().any(|id| id == caller),
                "reviews-for-me" => mr.reviewers.iter().any(|reviewer| reviewer.user == caller),
                _ => true,
            }
            && milestone_fits(mr)
            && labels.iter().all(|wanted| mr.labels.iter().any(|label| label == wanted))
            && created.contains(mr.created_at)
            && updated.contains(mr.updated_at)
            && input.author_id.is_none_or(|id| mr.author == id)
            && author.as_ref().is_none_or(|name| is_named(mr.author, name))
            && assignee.as_ref().is_none_or(|name| mr.assignees().any(|id| is_named(id, name)))
            && params::person_fits(input.reviewer_id.as_ref(), mr.reviewers.iter().map(|reviewer| reviewer.user))
            && params::person_fits(input.assignee_id.as_ref(), mr.assignees())
            && input
                .my_reaction_emoji
                .as_ref()
                .is_none_or(|emoji| call.world.has_award(Noteable::MergeRequest(mr.id), None, emoji, caller))
            && input.source_branch.as_ref().is_none_or(|branch| *branch == mr.source_branch)
            && input.target_branch.as_ref().is_none_or(|branch| *branch == mr.target_branch)
            && input.search.as_ref().is_none_or(|part| match input.r#in.as_deref() {
                Some("title") => contains_ignore_case(&mr.title, part),
                Some("description") => contains_ignore_case(&mr.description, part),
                _ => contains_ignore_case(&mr.title, part) || contains_ignore_case(&mr.description, part),
            })
            && input.reviewer_username.as_ref().is_none_or(|name| match name.as_str() {
                "None" => mr.reviewers.is_empty(),
                "Any" => !mr.reviewers.is_empty(),
                name => mr.reviewers.iter().any(|reviewer| is_named(reviewer.user, name)),
            })
            && input
                .approved_by_usernames
                .iter()
                .flatten()
                .all(|name| mr.approvals.keys().any(|user| is_named(*user, name)))
            && input.approved_by_ids.as_ref().is_none_or(|word| match word.as_str() {
                "None" => mr.approvals.is_empty(),
                "Any" => !mr.approvals.is_empty(),
                ids => ids.split(',').all(|id| mr.approvals.keys().any(|user| user.to_string() == id.trim())),
            })
            && input.wip.as_ref().is_none_or(|wip| (wip == "yes") == is_draft(&mr.title, call.version))
            && draft.is_none_or(|draft| draft == is_draft(&mr.title, call.version))
            && !input.not.iter().flatten().any(|(name, value)| match name.as_str() {
                "iids" => value.split(',').any(|iid| mr.iid.to_string() == iid.trim()),
                "author_id" => mr.author.to_string() == *value,
                "author_username" => is_named(mr.author, value),
                "assignee_id" => mr.assignees().any(|id| id.to_string() == *value),
                "assignee_username" => mr.assignees().any(|id| is_named(id, value)),
                "reviewer_username" => mr.reviewers.iter().any(|reviewer| is_named(reviewer.user, value)),
                "labels" => value.split(',').any(|label| mr.labels.iter().any(|own| own == label.trim())),
                "milestone" => {
                    mr.milestone.and_then(|id| call.world.milestones.get(id)).is_some_and(|own| own.title == *value)
                }
                "my_reaction_emoji" => call.world.has_award(Noteable::MergeRequest(mr.id), None, value, caller),
                _ => false,
            })
    };
    let mut rows: Vec<&records::MergeRequest> = call.world.merge_requests.iter().filter(found).collect();
    stable_sort(&mut rows, descending, |mr| mr.id);
    match by {
        "updated_at" => stable_sort(&mut rows, descending, |mr| mr.updated_at),
        "title" => stable_sort(&mut rows, descending, |mr| mr.title.to_lowercase()),
        "popularity" => stable_sort(&mut rows, descending, |mr| call.world.votes(Noteable::MergeRequest(mr.id)).0),
        "milestone_due" => {
            stable_sort(&mut rows, descending, |mr| or_last(call.world.milestone_due(mr.milestone), descending))
        }
        "merged_at" => stable_sort(&mut rows, descending, |mr| or_last(mr.merged_at, descending)),
        _ => stable_sort(&mut rows, descending, |mr| mr.created_at),
    }
    let is_simple = input.view.as_deref() == Some("simple");
    let mut open: BTreeMap<u64, Option<Git>> = BTreeMap::new();
    call.page(rows, |mr| {
        if is_simple {
            return call.simple_merge_request(mr);
        }
        let git = open
            .entry(mr.target_project)
            .or_insert_with(|| call.world.projects.get(mr.target_project).and_then(|project| call.git(project).ok()));
        let view = call.show_merge_request(mr, git.as_ref());
        if input.with_labels_details == Some(true) { call.with_label_details(mr, view) } else { view }
    })
}

fn list(call: &ReadCall, input: ListMergeRequests) -> Outcome<Vec<View>> {
    let (world, rights) = (call.world, &call.rights);
    let non_archived = call.option("non_archived")? == Some(true) && call.version >= Version::V19;
    let seen = |project: &&Project| {
        rights.can_see_project(world, project)
            && rights.can_read_code(world, project)
            && !(non_archived && project.archived)
    };
    let seen: BTreeSet<u64> = world.projects.iter().filter(seen).map(|project| project.id).collect();
    list_filtered(call, ("created-by-me", input.scope.clone()), input.into(), |mr| seen.contains(&mr.target_project))
}

fn of_project(call: &ReadCall, input: ListProjectMergeRequests) -> Outcome<Vec<View>> {
    call.require_user()?;
    let project = call.project_code(&input.id)?.id;
    let iids = input.iids.clone().filter(|iids| !iids.is_empty());
    let of = |mr: &records::MergeRequest| {
        mr.target_project == project && iids.as_ref().is_none_or(|iids| iids.contains(&mr.iid))
    };
    list_filtered(call, ("all", input.scope.clone()), input.into(), of)
}

fn of_group(call: &ReadCall, input: ListGroupMergeRequests) -> Outcome<Vec<View>> {
    let group = call.group(&input.id)?.id;
    let (world, rights) = (call.world, &call.rights);
    let non_archived = input.non_archived.unwrap_or(true);
    let seen = |project: &&Project| {
        world.groups_above(project).contains(&group)
            && rights.can_see_project(world, project)
            && rights.can_read_code(world, project)
            && !(non_archived && project.archived)
    };
    let seen: BTreeSet<u64> = world.projects.iter().filter(seen).map(|project| project.id).collect();
    list_filtered(call, ("all", input.scope.clone()), input.into(), |mr| seen.contains(&mr.target_project))
}

fn get(call: &ReadCall, input: GetMergeRequest) -> Outcome<View> {
    let (_, mr, git) = call.merge_request(&input.id, input.merge_request_iid)?;
    // Rebases finish before their request is answered.
    let rebase_in_progress = input.include_rebase_in_progress.filter(|requested| *requested).map(|_| false);
    let diverged_commits_count = match call.option("include_diverged_commits_count")? {
        Some(true) => diverged_commits(call, mr, &git)?,
        _ => None,
    };
    let view = call.show_merge_request_detail(mr, &git)?;
    ok(View { rebase_in_progress, diverged_commits_count, ..view })
}

/// Returns the number of commits of the target branch that the source branch lacks; `None` if a branch is gone.
fn diverged_commits(call: &ReadCall, mr: &records::MergeRequest, git: &Git) -> Result<Option<u64>, Rejection> {
    let Some((target, ends)) = git.branch_head(&mr.target_branch).zip(call.diff_ends(mr, git)) else { return Ok(None) };
    Ok(Some(git.between(ends.head, target, MAX_COMMITS)?.0.len() as u64))
}

fn participants(call: &ReadCall, input: ListParticipants) -> Outcome<Vec<UserView>> {
    let (_, mr, _) = call.merge_request(&input.id, input.merge_request_iid)?;
    let on = Noteable::MergeRequest(mr.id);
    let wrote = call.user_notes(on).map(|note| note.author);
    let mut people: Vec<u64> = Vec::new();
    for id in std::iter::once(mr.author).chain(mr.assignees()).chain(wrote) {
        if !people.contains(&id) {
            people.push(id);
        }
    }
    call.page(people, |id| call.user_summary(id))
}

fn commits(call: &ReadCall, input: ListMergeRequestCommits) -> Outcome<Vec<Commit>> {
    let (_, mr, git) = call.merge_request(&input.id, input.merge_request_iid)?;
    let ids = match call.diff_ends(mr, &git) {
        Some(ends) => git.between(ends.base, ends.head, MAX_COMMITS)?.0,
        None => Vec::new(),
    };
    call.try_page(ids, |id| git.show(id))
}

fn changes(call: &ReadCall, input: GetMergeRequestChanges) -> Outcome<View> {
    let (_, mr, git) = call.merge_request(&input.id, input.merge_request_iid)?;
    let mut view = call.show_merge_request_detail(mr, &git)?;
    let (entries, overflow) = match call.diff_ends(mr, &git) {
        Some(ends) => {
            let changes = git.changes(Some(ends.base), ends.head)?;
            (changes.entries, changes.overflow)
        }
        None => (Vec::new(), false),
    };
    view.changes = Some(call.show_diffs(entries)?);
    // Present only if true: the specification does not have it.
    view.overflow = overflow.then_some(true);
    ok(view)
}

fn diffs(call: &ReadCall, input: ListMergeRequestDiffs) -> Outcome<Vec<DiffEntry>> {
    let (_, mr, git) = call.merge_request(&input.id, input.merge_request_iid)?;
    let entries = match call.diff_ends(mr, &git) {
        Some(ends) => call.show_diffs(git.changes(Some(ends.base), ends.head)?.entries)?,
        None => Vec::new(),
    };
    call.page(entries, |entry| entry)
}

fn raw_diffs(call: &ReadCall, input: GetRawDiffs) -> Outcome<Raw> {
    let (_, mr, git) = call.merge_request(&input.id, input.merge_request_iid)?;
    let bytes = match call.diff_ends(mr, &git) {
        Some(ends) => git.patch(ends.base, ends.head)?,
        None => Vec::new(),
    };
    ok(Raw { bytes, content_type: Some("text/plain".into()) })
}

fn delete(call: &mut WriteCall, input: DeleteMergeRequest) -> Outcome<NoContent> {
    let (project, mr, _) = call.merge_request(&input.id, input.merge_request_iid)?;
    let (id, iid, at, project_id) = (mr.id, mr.iid, mr.updated_at, project.id);
    if call.rights.level(call.world, project) < level::OWNER {
        return Err(Rejection::forbidden());
    }
    call.check_unmodified(at)?;
    call.world.merge_requests.remove(id);
    if let Some(project) = call.world.projects.get_mut(project_id) {
        project.last_request_iid = project.last_request_iid.max(iid);
    }
    call.world.versions.remove_where(|version| version.merge_request == id);
    call.world.draft_notes.remove_where(|draft_note| draft_note.merge_request == id);
    call.world.remove_notes(|note| note.on == Noteable::MergeRequest(id));
    call.world.remove_orphans();
    ok(NoContent)
}

fn pipelines(call: &ReadCall, input: ListMergeRequestPipelines) -> Outcome<Vec<Pipeline>> {
    let (_, mr, git) = call.merge_request(&input.id, input.merge_request_iid)?;
    call.page(call.pipelines_of(mr, &git), |pipeline| call.show_pipeline(pipeline))
}

/// Returns the system notes about a change of labels.
pub fn label_notes(before: &[String], after: &[String]) -> Vec<String> {
    let note = |verb: &str, of: &[String], not_in: &[String]| {
        let names = of.iter().filter(|label| !not_in.contains(label)).map(|label| format!("~\"{label}\""));
        let names = names.collect::<Vec<_>>().join(" ");
        (!names.is_empty()).then(|| format!("{verb} {names} label"))
    };
    [note("added", after, before), note("removed", before, after)].into_iter().flatten().collect()
}

/// Splits a comma-separated list of labels, without duplicates.
pub fn split_labels(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for label in text.split(',').map(str::trim).filter(|label| !label.is_empty()) {
        if !out.iter().any(|known| known == label) {
            out.push(label.to_owned());
        }
    }
    out
}

/// The inputs of current servers that add and remove labels.
pub const LABEL_CHANGE_INPUTS: [&str; 2] = ["add_labels", "remove_labels"];

/// Returns the labels after an update: `labels`, or else `before`, with the changes in [`LABEL_CHANGE_INPUTS`] applied.
pub fn updated_labels(call: &WriteCall, before: &[String], labels: Option<&str>) -> Option<Vec<String>> {
    let given = |name: &str| call.inputs.get(name)?.as_str().filter(|_| !call.only_specified()).map(split_labels);
    let [more, less] = LABEL_CHANGE_INPUTS.map(given);
    let all = labels.map(split_labels);
    if all.is_none() && more.is_none() && less.is_none() {
        return None;
    }
    let mut all = all.unwrap_or_else(|| before.to_vec());
    let less = less.unwrap_or_default();
    all.retain(|label| !less.contains(label));
    for label in more.into_iter().flatten() {
        if !all.contains(&label) {
            all.push(label);
        }
    }
    Some(all)
}

/// Returns the user ID if a merge request of the project can be assigned to that user; 0 means no one.
fn assignee(call: &WriteCall, project: &Project, id: u64) -> Option<u64> {
    let people = super::members::of_project(call.world, project, true);
    let sees = call.world.users.get(id).is_some() && project.visibility != records::Visibility::Private;
    (people.contains_key(&id) || sees).then_some(id)
}

/// Returns those of the users to whom a merge request of the project can be assigned, without duplicates.
fn people(call: &WriteCall, project: &Project, ids: &[u64]) -> Vec<u64> {
    let mut people: Vec<u64> = Vec::new();
    for id in ids.iter().filter_map(|id| assignee(call, project, *id)) {
        if !people.contains(&id) {
            people.push(id);
        }
    }
    people
}

fn assignees_of(mr: &records::MergeRequest) -> Vec<u64> {
    mr.assignees().collect()
}

fn reviewers_of(mr: &records::MergeRequest) -> Vec<u64> {
    mr.reviewers.iter().map(|reviewer| reviewer.user).collect()
}

/// Replaces the reviewers; those who were reviewers already keep their state.
fn set_reviewers(mr: &mut records::MergeRequest, people: &[u64], now: Timestamp) {
    let known = std::mem::take(&mut mr.reviewers);
    let new = |user: u64| Reviewer { user, created_at: now, ..Reviewer::default() };
    let find = |user: &u64| known.iter().find(|reviewer| reviewer.user == *user).cloned();
    mr.reviewers = people.iter().map(|user| find(user).unwrap_or_else(|| new(*user))).collect();
}

fn milestone(call: &WriteCall, project: &Project, id: u64) -> Option<u64> {
    call.world.milestone_in(project, id)
}

/// Checks that a merge request can be open: its branches differ and exist, and no other open one has the same branches.
fn check_can_open(call: &WriteCall, mr: &records::MergeRequest) -> Result<(), Rejection> {
    if mr.source_project == mr.target_project && mr.source_branch == mr.target_branch {
        return Err(Rejection::unprocessable("You can not use same project/branch for source and target"));
    }
    for (which, project, branch) in
        [("Source", mr.source_project, &mr.source_branch), ("Target", mr.target_project, &mr.target_branch)]
    {
        let project = call.world.projects.get(project);
        if project.is_none_or(|project| call.git(project).is_ok_and(|git| git.branch_head(branch).is_none())) {
            return Err(Rejection::bad_request(Value::from(vec![format!(
                "{which} branch \"{branch}\" does not exist"
            )])));
        }
    }
    let same = |other: &&records::MergeRequest| {
        other.id != mr.id
            && other.state == State::Opened
            && other.target_project == mr.target_project
            && other.source_project == mr.source_project
            && other.source_branch == mr.source_branch
            && other.target_branch == mr.target_branch
    };
    if let Some(other) = call.world.merge_requests.iter().find(same) {
        let why = match call.only_specified() {
            true => format!("Cannot Create: This merge request already exists: [\"{}\"]", other.title),
            false => format!("Another open merge request already exists for this source branch: !{}", other.iid),
        };
        return Err(Rejection::conflict(Value::from(vec![why])));
    }
    Ok(())
}

pub fn create(call: &mut WriteCall, input: CreateMergeRequest) -> Outcome<View> {
    let source = call.project_as(&input.id, level::DEVELOPER)?.clone();
    let target = match input.target_project_id {
        Some(id) => call.project(&id.into())?.clone(),
        None => source.clone(),
    };
    let author = call.require_user()?.id;
    let is_fork = source.forked_from == Some(target.id) || target.forked_from == Some(source.id);
    if source.id != target.id && !is_fork {
        return Err(Rejection::unprocessable("Source project is not a fork of the target project"));
    }
    if target.merge_requests_disabled || target.archived {
        return Err(Rejection::forbidden());
    }
    let git = call.git(&target)?;
    if input.title.trim().is_empty() {
        return Err(Rejection::bad_request(json!({ "title": ["can't be blank"] })));
    }
    // A number of approvals that is not greater than the project's has no effect, and neither has any if the project
    // requires none.
    let least = target.approvals_before_merge;
    let approvals = input.approvals_before_merge.filter(|given| least > 0 && *given > least).unwrap_or(least);
    let iids = call.world.merge_requests.iter().filter(|mr| mr.target_project == target.id).map(|mr| mr.iid);
    let iid = iids.max().unwrap_or(0).max(target.last_request_iid) + 1;
    let now = call.now;
    let mr = records::MergeRequest {
        id: 0,
        iid,
        source_project: source.id,
        target_project: target.id,
        source_branch: input.source_branch,
        target_branch: input.target_branch,
        title: input.title,
        description: input.description.unwrap_or_default(),
        author,
        assignee: input.assignee_id.and_then(|id| assignee(call, &target, id)),
        labels: split_labels(input.labels.as_deref().unwrap_or_default()),
        milestone: input.milestone_id.and_then(|id| milestone(call, &target, id)),
        created_at: now,
        updated_at: now,
        force_remove_source_branch: input.remove_source_branch.unwrap_or(false),
        squash: input.squash.unwrap_or(false),
        approvals_before_merge: approvals.into(),
        allow_maintainer_to_push: input.allow_maintainer_to_push.unwrap_or(false) && source.id != target.id,
        subscribers: BTreeSet::from([author]),
        ..records::MergeRequest::default()
    };
    let mut mr = mr;
    if let Some(ids) = &input.assignee_ids {
        mr.set_assignees(people(call, &target, ids));
    }
    set_reviewers(&mut mr, &people(call, &target, input.reviewer_ids.as_deref().unwrap_or_default()), now);
    check_can_open(call, &mr)?;
    let id = call.world.merge_requests.add(mr);
    super::branches::record_project_activity(call.world, target.id, now)?;
    if let Some(project) = call.world.projects.get_mut(target.id) {
        project.last_request_iid = iid;
    }
    let mr = call.world.merge_requests.get(id).ok_or_else(Rejection::record_not_found)?.clone();
    if let Some(git) = call.target_repository(&mr) {
        call.add_version(&mr, &git);
    }
    call.start_merge_request_pipeline(&mr);
    let on = Noteable::MergeRequest(id);
    call.world.add_assignment_todos(on, TodoAction::Assigned, (&[], &assignees_of(&mr)), author, now);
    call.world.add_assignment_todos(on, TodoAction::ReviewRequested, (&[], &reviewers_of(&mr)), author, now);
    call.world.add_mention_todos(on, None, ("", &mr.description), author, now);
    call.record_merge_request_event(&mr, "open");
    ok(call.show_merge_request_detail(&mr, &git)?)
}

/// Returns a merge request with its project and its repository, if the caller may change it.
fn to_change(call: &WriteCall, input: &UpdateMergeRequest) -> Result<(Project, records::MergeRequest, Git), Rejection> {
    let (project, mr, git) = call.merge_request(&input.id, input.merge_request_iid)?;
    let may = call.rights.level(call.world, project) >= level::DEVELOPER || mr.author == call.require_user()?.id;
    if !may || project.archived {
        return Err(Rejection::forbidden());
    }
    Ok((project.clone(), mr.clone(), git))
}

pub fn update(call: &mut WriteCall, input: UpdateMergeRequest) -> Outcome<View> {
    to_change(call, &input)?;
    let given = ["target_branch", "title", "assignee_id", "milestone_id", "description", "state_event", "labels"];
    let flags = ["remove_source_branch", "squash", "discussion_locked", "allow_maintainer_to_push"];
    let newer = ["assignee_ids", "reviewer_ids"];
    if !given.iter().chain(&flags).chain(&newer).chain(&LABEL_CHANGE_INPUTS).any(|name| call.inputs.contains_key(*name))
    {
        let names = given.iter().chain(&flags).copied().collect::<Vec<_>>().join(", ");
        return Err(Rejection::error(400, format!("{names} are missing, at least one parameter must be provided")));
    }
    change(call, input)
}

/// Changes a merge request.
pub fn change(call: &mut WriteCall, input: UpdateMergeRequest) -> Outcome<View> {
    let (project, mut mr, git) = to_change(call, &input)?;
    let (before, caller) = (mr.clone(), call.require_user()?.id);
    let now = call.now;
    let mut retargeted = false;
    let mut system_notes: Vec<String> = Vec::new();
    if let Some(title) = input.title.filter(|title| *title != mr.title) {
        if title.trim().is_empty() {
            return Err(Rejection::bad_request(json!({ "title": ["can't be blank"] })));
        }
        system_notes.push(format!("changed title from **{}** to **{title}**", mr.title));
        mr.title = title;
    }
    if let Some(branch) = input.target_branch.filter(|branch| *branch != mr.target_branch) {
        retargeted = true;
        system_notes.push(format!("changed target branch from `{}` to `{branch}`", mr.target_branch));
        mr.target_branch = branch;
    }
    if let Some(description) = input.description.filter(|text| *text != mr.description) {
        system_notes.push("changed the description".into());
        mr.description = description;
    }
    // An empty input means no assignee or no milestone here.
    let is_empty = |name: &str| call.inputs.get(name).is_some_and(|v| v.is_null() || v.as_str() == Some(""));
    let assignees = match input.assignee_ids {
        None if input.assignee_id.is_some() || is_empty("assignee_id") => Some(Vec::from_iter(input.assignee_id)),
        ids => ids,
    };
    let names = |ids: &[u64]| {
        ids.iter().map(|id| format!("@{}", call.user_summary(*id).username)).collect::<Vec<_>>().join(" and ")
    };
    if let Some(new) = assignees.map(|ids| people(call, &project, &ids))
        && new != assignees_of(&mr)
    {
        system_notes.push(match new.as_slice() {
            [] => "removed assignee".into(),
            some => format!("assigned to {}", names(some)),
        });
        mr.set_assignees(new);
    }
    if let Some(new) = input.reviewer_ids.map(|ids| people(call, &project, &ids)) {
        let old: Vec<u64> = mr.reviewers.iter().map(|reviewer| reviewer.user).collect();
        let only =
            |of: &[u64], others: &[u64]| -> Vec<u64> { of.iter().filter(|id| !others.contains(id)).copied().collect() };
        let (added, removed) = (only(&new, &old), only(&old, &new));
        if !added.is_empty() {
            system_notes.push(format!("requested review from {}", names(&added)));
        }
        if !removed.is_empty() {
            system_notes.push(format!("removed review request for {}", names(&removed)));
        }
        set_reviewers(&mut mr, &new, now);
    }
    if input.milestone_id.is_some() || is_empty("milestone_id") {
        let new = input.milestone_id.and_then(|id| milestone(call, &project, id));
        if new != mr.milestone {
            system_notes.push(match new.and_then(|id| call.world.milestones.get(id)) {
                Some(milestone) => format!("changed milestone to %\"{}\"", milestone.title),
                None => "removed milestone".into(),
            });
            mr.milestone = new;
        }
    }
    if let Some(labels) = updated_labels(call, &mr.labels, input.labels.as_deref()) {
        system_notes.extend(label_notes(&mr.labels, &labels));
        mr.labels = labels;
    }
    mr.force_remove_source_branch = input.remove_source_branch.unwrap_or(mr.force_remove_source_branch);
    mr.squash = input.squash.unwrap_or(mr.squash);
    mr.discussion_locked = input.discussion_locked.or(mr.discussion_locked);
    mr.allow_maintainer_to_push = input.allow_maintainer_to_push.unwrap_or(mr.allow_maintainer_to_push);
    let mut action = "update";
    match call.choice_or_first("state_event", input.state_event.as_deref(), &["", "close", "reopen"])? {
        "close" if mr.state == State::Opened => {
            mr.range = call
                .diff_ends(&mr, &git)
                .map(|ends| Range { base: ends.base.to_string(), head: ends.head.to_string() })
                .or(mr.range);
            mr.state = State::Closed;
            (mr.closed_at, mr.closed_by) = (Some(now), Some(caller));
            system_notes.push("closed".into());
            action = "close";
        }
        "reopen" if mr.state == State::Closed => {
            mr.state = State::Opened;
            (mr.closed_at, mr.closed_by) = (None, None);
            system_notes.push("reopened".into());
            action = "reopen";
        }
        _ => {}
    }
    if mr.state == State::Opened && (retargeted || action == "reopen") {
        check_can_open(call, &mr)?;
    }
    mr.updated_at = now;
    mr.subscribers.insert(caller);
    for body in system_notes {
        call.add_system_note(mr.id, caller, body);
    }
    call.world.merge_requests.add(mr.clone());
    if mr.state == State::Opened
        && (retargeted || action == "reopen")
        && let Some(git) = call.target_repository(&mr)
    {
        call.add_version(&mr, &git);
    }
    let on = Noteable::MergeRequest(mr.id);
    if action == "close" {
        call.world.mark_todos_done(on, caller);
    }
    call.world.add_assignment_todos(
        on,
        TodoAction::Assigned,
        (&assignees_of(&before), &assignees_of(&mr)),
        caller,
        now,
    );
    call.world.add_assignment_todos(
        on,
        TodoAction::ReviewRequested,
        (&reviewers_of(&before), &reviewers_of(&mr)),
        caller,
        now,
    );
    call.world.add_mention_todos(on, None, (&before.description, &mr.description), caller, now);
    call.record_merge_request_event(&mr, action);
    ok(call.show_merge_request_detail(&mr, &git)?)
}
