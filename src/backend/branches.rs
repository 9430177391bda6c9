//! Branches.

use super::cache::Cache;
use super::call::{Answer, Outcome, Reading, Writing, ok};
use super::git::{Git, Head};
use super::mount::Mount;
use super::page::Extent;
use super::records::{MergeRequest, Project, ProtectedBranch, Range, State, level};
use super::reject::Reject;
use super::store::repository_path;
use super::world::World;
use crate::api::Nothing;
use crate::api::branches::*;
use crate::backend::presenters::holds;
use git2::Oid;
use jiff::Timestamp;
use serde_json::json;
use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

pub fn mount(mount: Mount) -> Mount {
    mount
        .read::<ListBranches>(list)
        .read::<GetBranch>(get)
        .also_head::<GetBranch>(get)
        .write::<ProtectBranch>(protect)
        .write::<UnprotectBranch>(unprotect)
        .write::<CreateBranch>(create)
        .write::<DeleteBranch>(delete)
        .write::<DeleteMergedBranches>(delete_merged)
}

fn show(git: &Git, cache: &Cache, project: &Project, head: &Head) -> Result<Branch, Reject> {
    let merged = merged(git, cache, std::slice::from_ref(head))?;
    show_among(git, cache, project, head, &merged)
}

/// Returns the heads that have been merged into the default branch.
fn merged(git: &Git, cache: &Cache, heads: &[Head]) -> Result<Arc<HashSet<Oid>>, Reject> {
    let Some(root) = git.default_head() else { return Ok(Arc::default()) };
    // A branch that is at the head of the default branch has no changes that could have been merged.
    git.held_by(root, heads.iter().map(|head| head.commit).filter(|commit| *commit != root).collect(), cache)
}

fn show_among(
    git: &Git,
    cache: &Cache,
    project: &Project,
    head: &Head,
    merged: &HashSet<Oid>,
) -> Result<Branch, Reject> {
    Ok(Branch {
        name: head.name.clone(),
        merged: merged.contains(&head.commit),
        protected: project.is_protected(&head.name),
        developers_can_push: project.protection(&head.name).any(|rule| rule.developers_can_push),
        developers_can_merge: project.protection(&head.name).any(|rule| rule.developers_can_merge),
        commit: Some(git.show_known(head.commit, cache)?),
        ..Branch::default()
    })
}

fn head(git: &Git, name: &str) -> Result<Head, Reject> {
    let commit = git.branch(name).ok_or_else(|| Reject::not_found("Branch"))?;
    Ok(Head { name: name.to_owned(), commit })
}

fn list(call: &Reading, input: ListBranches) -> Outcome<Vec<Branch>> {
    let (project, git) = call.repository(&input.id)?;
    let mut heads = git.branches(&call.cache)?;
    if let Some(part) = &input.search {
        heads = Arc::new(heads.iter().filter(|head| holds(&head.name, part)).cloned().collect());
    }
    // A single walk for the whole page.
    let page = call.paging.cut(&heads);
    let merged = merged(&git, &call.cache, page)?;
    let show = |head| show_among(&git, &call.cache, project, head, &merged);
    let rows: Result<_, Reject> = page.iter().map(show).collect();
    call.page_of(rows?, Extent::Total(heads.len()))
}

fn get(call: &Reading, input: GetBranch) -> Outcome<Branch> {
    let (project, git) = call.repository(&input.id)?;
    ok(show(&git, &call.cache, project, &head(&git, &input.branch)?)?)
}

fn protect(call: &mut Writing, input: ProtectBranch) -> Outcome<Branch> {
    let id = call.project_as(&input.id, level::MAINTAINER)?.id;
    let git = call.repository_to_write(&input.id)?.1;
    let head = head(&git, &input.branch)?;
    let project = call.world.projects.get_mut(id).ok_or_else(Reject::no_record)?;
    let known = project.protected_branches.iter().position(|protected| protected.name == input.branch);
    if known.is_none() {
        project.protected_branches.push(ProtectedBranch { name: input.branch, ..ProtectedBranch::default() });
    }
    let at = known.unwrap_or(project.protected_branches.len() - 1);
    if let Some(protected) = project.protected_branches.get_mut(at) {
        protected.developers_can_push = input.developers_can_push.unwrap_or(protected.developers_can_push);
        protected.developers_can_merge = input.developers_can_merge.unwrap_or(protected.developers_can_merge);
    }
    ok(show(&git, &call.cache, project, &head)?)
}

fn unprotect(call: &mut Writing, input: UnprotectBranch) -> Outcome<Branch> {
    let id = call.project_as(&input.id, level::MAINTAINER)?.id;
    let git = call.repository_to_write(&input.id)?.1;
    let head = head(&git, &input.branch)?;
    let project = call.world.projects.get_mut(id).ok_or_else(Reject::no_record)?;
    project.protected_branches.retain(|protected| protected.name != input.branch);
    ok(show(&git, &call.cache, project, &head)?)
}

fn create(call: &mut Writing, input: CreateBranch) -> Outcome<Branch> {
    let (project, git) = call.repository_to_write(&input.id)?;
    let id = project.id;
    let commit = git.create_branch(&input.branch, &input.r#ref)?;
    let now = call.now;
    let project = touch(call.world, id, now)?;
    let head = Head { name: input.branch, commit };
    let made = show(&git, &call.cache, project, &head)?;
    call.pushed(id, &git, &format!("refs/heads/{}", head.name), None, Some(commit));
    ok(made)
}

/// Updates the time of the last activity in a project.
pub fn touch(world: &mut World, project: u64, now: Timestamp) -> Result<&Project, Reject> {
    let project = world.projects.get_mut(project).ok_or_else(Reject::no_record)?;
    project.last_activity_at = project.last_activity_at.max(now);
    Ok(project)
}

fn delete(call: &mut Writing, input: DeleteBranch) -> Outcome<Nothing> {
    let (project, git) = call.repository_to_write(&input.id)?;
    let id = project.id;
    let head = head(&git, &input.branch)?;
    if project.default_branch.as_deref() == Some(&input.branch) {
        return Err(Reject::bad("Cannot remove HEAD branch"));
    }
    if project.is_protected(&input.branch) {
        return Err(Reject::message(403, "Protected branch cannot be removed"));
    }
    call.unmodified(git.committed_at(head.commit)?)?;
    remove(call.world, &git, &call.repositories, id, &head)?;
    touch(call.world, id, call.now)?;
    call.pushed(id, &git, &format!("refs/heads/{}", head.name), Some(head.commit), None);
    ok(Nothing)
}

/// Removes a branch; open merge requests from and into it keep their diff.
pub fn remove(world: &mut World, git: &Git, repositories: &Path, project: u64, head: &Head) -> Result<(), Reject> {
    keep_ranges(world, repositories, |mr| {
        (mr.source_project == project && mr.source_branch == head.name)
            || (mr.target_project == project && mr.target_branch == head.name)
    });
    git.delete_branch(&head.name)
}

/// Returns the head of the target branch, the merge base and the head of the source branch of a merge request whose
/// branches exist.
pub fn held(mr: &MergeRequest, repositories: &Path) -> Option<(Oid, Oid, Oid)> {
    let git = Git::open(&repository_path(repositories, mr.target_project), None).ok()?;
    let head = if mr.source_project == mr.target_project {
        git.branch(&mr.source_branch)?
    } else {
        let fork = repository_path(repositories, mr.source_project);
        git.reach(&fork.join("objects"))?;
        Git::open(&fork, None).ok()?.branch(&mr.source_branch)?
    };
    let target = git.branch(&mr.target_branch)?;
    Some((target, git.merge_base(target, head).ok()??, head))
}

/// Stores the diff range of open merge requests whose branches are about to be removed.
pub fn keep_ranges(world: &mut World, repositories: &Path, loses: impl Fn(&MergeRequest) -> bool) {
    let range = |mr: &MergeRequest| {
        let (_, base, head) = held(mr, repositories)?;
        Some(Range { base: base.to_string(), head: head.to_string() })
    };
    let open = world.merge_requests.iter().filter(|mr| mr.state == State::Opened && loses(mr));
    let held: Vec<(u64, Range)> = open.filter_map(|mr| Some((mr.id, range(mr)?))).collect();
    for (id, range) in held {
        if let Some(mr) = world.merge_requests.get_mut(id) {
            mr.range = Some(range);
        }
    }
}

fn accepted() -> Outcome<Nothing> {
    Ok(Answer::new(Nothing).status(202).saying(json!({ "message": "202 Accepted" })))
}

fn delete_merged(call: &mut Writing, input: DeleteMergedBranches) -> Outcome<Nothing> {
    let (project, git) = call.repository_to_write(&input.id)?;
    let id = project.id;
    let open = |name: &str| {
        call.world.merge_requests.iter().any(|mr| {
            mr.state == State::Opened
                && ((mr.source_project == id && mr.source_branch == name)
                    || (mr.target_project == id && mr.target_branch == name))
        })
    };
    let kept = |name: &str| project.default_branch.as_deref() == Some(name) || project.is_protected(name) || open(name);
    let heads: Vec<Head> = git.branches(&call.cache)?.iter().filter(|head| !kept(&head.name)).cloned().collect();
    let merged = merged(&git, &call.cache, &heads)?;
    let gone: Vec<Head> = heads.into_iter().filter(|head| merged.contains(&head.commit)).collect();
    for head in &gone {
        remove(call.world, &git, &call.repositories, id, head)?;
        call.pushed(id, &git, &format!("refs/heads/{}", head.name), Some(head.commit), None);
    }
    touch(call.world, id, call.now)?;
    accepted()
}
