//! Push options for merge requests: they open one from a pushed branch, or change the one that is open.

use super::push::{MERGE_REQUEST, PushRequest, PushedRef};
use crate::call::WriteCall;
use crate::decisions;
use crate::git::Git;
use crate::merge_requests;
use crate::modes::Version;
use crate::records::{MergeRequest, Project, State};
use crate::rejection::Rejection;
use api::decisions::Merge;
use api::merge_requests::{CreateMergeRequest, UpdateMergeRequest};
use git2::Oid;
use serde_json::Value;
use std::collections::BTreeSet;

/// The known options.
const KEYS: [&str; 15] = [
    "assign",
    "auto_merge",
    "create",
    "description",
    "draft",
    "label",
    "merge_when_pipeline_succeeds",
    "milestone",
    "remove_source_branch",
    "squash",
    "target",
    "target_project",
    "title",
    "unassign",
    "unlabel",
];
/// The maximum number of branches in a push with such options.
const MAX_BRANCHES: usize = 10;

/// The push options for merge requests.
struct Options<'p>(&'p PushRequest);

impl<'p> Options<'p> {
    fn values(&self, key: &str) -> Vec<&'p str> {
        self.0.option(&format!("{MERGE_REQUEST}{key}")).collect()
    }

    /// Returns the last value of an option. An option without a value has none.
    fn value(&self, key: &str) -> Option<&'p str> {
        self.values(key).pop().filter(|value| !value.is_empty())
    }

    /// Returns whether an option is set or, such as by `squash=false`, unset.
    fn flag(&self, key: &str) -> Option<bool> {
        self.values(key).pop().map(|value| !matches!(value, "false" | "f" | "0" | "no" | "off"))
    }

    fn is_empty(&self) -> bool {
        KEYS.iter().all(|key| self.values(key).is_empty())
    }

    fn description(&self) -> Option<String> {
        self.value("description").map(|text| text.replace("\\n", "\n"))
    }

    /// Returns whether the merge request is to be merged when its pipeline succeeds.
    fn merges(&self) -> bool {
        self.flag("auto_merge") == Some(true) || self.flag("merge_when_pipeline_succeeds") == Some(true)
    }

    /// Returns labels with those of the options added and removed, separated by commas; `None` if there are no such options.
    fn labels(&self, before: &[String]) -> Option<String> {
        let (more, less) = (self.values("label"), self.values("unlabel"));
        let all = before.iter().map(String::as_str).chain(more.iter().copied()).filter(|label| !less.contains(label));
        (!more.is_empty() || !less.is_empty()).then(|| all.collect::<Vec<_>>().join(","))
    }

    /// Returns assignees with those of the options added and removed; `None` if there are no such options.
    fn assignees(&self, call: &WriteCall, before: &[u64]) -> Option<Vec<u64>> {
        let ids = |key: &str| -> Vec<u64> {
            let id = |name: &str| match name.parse() {
                Ok(id) => Some(id),
                Err(_) => call.world.user_named(name.trim_start_matches('@')).map(|user| user.id),
            };
            self.values(key).into_iter().filter_map(id).collect()
        };
        let (more, less) = (ids("assign"), ids("unassign"));
        let all: BTreeSet<u64> = before.iter().copied().chain(more.iter().copied()).collect();
        let is_given = !self.values("assign").is_empty() || !self.values("unassign").is_empty();
        is_given.then(|| all.into_iter().filter(|id| !less.contains(id)).collect())
    }

    /// Returns the ID of the milestone with the title in the options; one that does not exist is ignored.
    fn milestone(&self, call: &WriteCall, project: &Project) -> Option<u64> {
        let title = self.value("milestone")?;
        let found = call.world.milestones.iter().filter(|milestone| milestone.title == title);
        found.map(|milestone| milestone.id).find(|id| call.world.milestone_in(project, *id).is_some())
    }
}

/// Opens and changes the merge requests of the pushed branches as the options ask. Returns the reasons of what was not
/// possible: the push itself succeeds.
pub fn apply(call: &mut WriteCall, project: &Project, kept: &[&PushedRef], push: &PushRequest) -> Vec<String> {
    let options = Options(push);
    if options.is_empty() {
        return Vec::new();
    }
    let target = match target_project(call, project, &options) {
        Ok(target) => target,
        Err(why) => return vec![why],
    };
    let branches = kept.iter().filter_map(|pushed| Some((pushed.branch()?, pushed.after?)));
    let branches: Vec<(&str, Oid)> =
        branches.filter(|(branch, _)| target.default_branch.as_deref() != Some(*branch)).collect();
    let mistakes = mistakes(call, &target, &options, branches.len());
    if !mistakes.is_empty() {
        return mistakes;
    }
    let apply = |(branch, head)| apply_to_branch(call, (project, &target), &options, branch, head).err();
    branches.into_iter().filter_map(apply).collect()
}

/// Returns the project of the merge requests: the one that the options name, the one that a fork comes from, or else the
/// pushed one.
fn target_project(call: &WriteCall, project: &Project, options: &Options) -> Result<Project, String> {
    let origin = project.forked_from.and_then(|id| call.world.projects.get(id));
    let usual = || origin.filter(|origin| !origin.merge_requests_disabled).unwrap_or(project);
    let target = match options.value("target_project") {
        Some(path) => call.world.project_at(path),
        None => Some(usual()),
    };
    let can_read = |target: &&Project| {
        call.rights.can_see_project(call.world, target) && call.rights.can_read_code(call.world, target)
    };
    // A hidden project is no different from one that does not exist.
    let target = target.filter(can_read).ok_or("User access was denied")?;
    let is_related =
        target.id == project.id || project.forked_from == Some(target.id) || target.forked_from == Some(project.id);
    if !is_related {
        let path = |project| call.world.project_path(project);
        return Err(format!("Projects {} and {} are not in the same network", path(project), path(target)));
    }
    Ok(target.clone())
}

/// Returns the reasons why the options cannot be followed, whatever the branch is.
fn mistakes(call: &WriteCall, target: &Project, options: &Options, branches: usize) -> Vec<String> {
    let path = call.world.project_path(target);
    let mut mistakes = Vec::new();
    if target.merge_requests_disabled {
        mistakes.push(format!("Merge requests are not enabled for project {path}"));
    }
    if branches > MAX_BRANCHES {
        mistakes.push(format!("Too many branches pushed ({branches} were pushed, limit is {MAX_BRANCHES})"));
    }
    let is_missing = |branch: &&str| call.git(target).is_ok_and(|git| git.branch_head(branch).is_none());
    if let Some(branch) = options.value("target").filter(is_missing) {
        mistakes.push(format!("Target branch {path}:{branch} does not exist"));
    }
    mistakes
}

fn apply_to_branch(
    call: &mut WriteCall,
    (project, target): (&Project, &Project),
    options: &Options,
    branch: &str,
    head: Oid,
) -> Result<(), String> {
    let of_branch = |mr: &&MergeRequest| {
        mr.state == State::Opened
            && (mr.source_project, mr.target_project, &*mr.source_branch) == (project.id, target.id, branch)
    };
    let open = call.world.merge_requests.iter().find(of_branch).cloned();
    let iid = match open {
        Some(mr) => change(call, target, &mr, options)?,
        None if options.flag("create").is_some() => create(call, (project, target), options, branch, head)?,
        None => {
            return Err(format!(
                "A merge_request.create push option is required to create a merge request for branch {branch}"
            ));
        }
    };
    if options.merges() {
        let input = Merge {
            id: target.id.into(),
            merge_request_iid: iid,
            sha: Some(head.to_string()),
            auto_merge: Some(true),
            ..Merge::default()
        };
        decisions::merge(call, input).map_err(|_| format!("!{iid} cannot be merged when its pipeline succeeds"))?;
    }
    Ok(())
}

/// Changes an open merge request. Returns its number.
fn change(call: &mut WriteCall, target: &Project, mr: &MergeRequest, options: &Options) -> Result<u64, String> {
    let title = options.value("title").unwrap_or(&mr.title);
    let title = titled(title, options.flag("draft") == Some(true), call.version);
    let assignees: Vec<u64> = mr.assignees().collect();
    let input = UpdateMergeRequest {
        id: target.id.into(),
        merge_request_iid: mr.iid,
        target_branch: options.value("target").map(str::to_owned),
        title: Some(title).filter(|title| *title != mr.title),
        description: options.description(),
        labels: options.labels(&mr.labels),
        milestone_id: options.milestone(call, target),
        assignee_ids: options.assignees(call, &assignees),
        remove_source_branch: options.flag("remove_source_branch"),
        squash: options.flag("squash"),
        ..UpdateMergeRequest::default()
    };
    let is_change = input
        != UpdateMergeRequest { id: target.id.into(), merge_request_iid: mr.iid, ..UpdateMergeRequest::default() };
    if is_change {
        merge_requests::change(call, input).map_err(|why| text_of(&why))?;
    }
    Ok(mr.iid)
}

/// Opens a merge request. Its assignee is who pushed. Returns its number.
fn create(
    call: &mut WriteCall,
    (project, target): (&Project, &Project),
    options: &Options,
    branch: &str,
    head: Oid,
) -> Result<u64, String> {
    let target_branch = options.value("target").or(target.default_branch.as_deref()).unwrap_or_default();
    let git = call.git(project).map_err(|why| text_of(&why))?;
    let commits = match git.branch_head(target_branch) {
        Some(start) => call.commits_between(&git, start, head).to_vec(),
        None => vec![head],
    };
    let (title, description) = describe(&git, &commits, branch);
    let is_draft = options.flag("draft") == Some(true) || commits.is_empty();
    let own = Vec::from_iter(call.rights.user);
    let input = CreateMergeRequest {
        id: project.id.into(),
        source_branch: branch.to_owned(),
        target_branch: target_branch.to_owned(),
        title: titled(options.value("title").unwrap_or(&title), is_draft, call.version),
        description: options.description().or(description),
        target_project_id: Some(target.id),
        labels: options.labels(&[]),
        milestone_id: options.milestone(call, target),
        assignee_ids: options.assignees(call, &own).or(Some(own)),
        remove_source_branch: options.flag("remove_source_branch"),
        squash: options.flag("squash"),
        ..CreateMergeRequest::default()
    };
    let made = merge_requests::create(call, input).map_err(|why| text_of(&why))?;
    Ok(made.body.iid)
}

/// Returns a title that says whether the merge request is a draft.
fn titled(title: &str, draft: bool, version: Version) -> String {
    if draft { merge_requests::draft_title(title, version) } else { title.to_owned() }
}

/// Returns the title and the description of a merge request with commits, newest first: those of its only commit, of the
/// first that has a description, or else the name of its branch as words.
fn describe(git: &Git, commits: &[Oid], branch: &str) -> (String, Option<String>) {
    let texts = |id: &Oid| {
        let commit = git.find_commit(*id).ok()?;
        let description = commit.message.split_once('\n').map(|(_, rest)| rest.trim().to_owned());
        Some((commit.title(), description.filter(|text| !text.is_empty())))
    };
    let found = match commits {
        [only] => texts(only),
        all => all.iter().rev().filter_map(texts).find(|(_, description)| description.is_some()),
    };
    found.unwrap_or_else(|| (words(branch), None))
}

/// Returns the name of a branch as words: `fix-long_lines` becomes `Fix long lines`.
fn words(branch: &str) -> String {
    let words = branch.replace(['-', '_'], " ").to_lowercase();
    let mut chars = words.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// Returns the text of a rejection.
fn text_of(rejection: &Rejection) -> String {
    let text = rejection.body.get("message").or(rejection.body.get("error")).cloned().unwrap_or_default();
    let texts = text.as_array().map_or_else(|| vec![&text], |texts| texts.iter().collect());
    let text = |text: &Value| text.as_str().map_or_else(|| text.to_string(), str::to_owned);
    texts.into_iter().map(text).collect::<Vec<_>>().join(", ")
}
