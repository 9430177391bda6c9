//! Branches.

use super::cache::Cache;
use super::call::{Answer, Call, Outcome, ReadCall, WriteCall, ok};
use super::git::{Git, GitRef};
use super::mount::Mount;
use super::records::{MergeRequest, Project, ProtectedBranch, Range, State, level};
use super::rejection::Rejection;
use super::store::repository_path;
use super::world::World;
use crate::presenters::path;
use api::NoContent;
use api::branches::*;
use git2::Oid;
use jiff::Timestamp;
use regex::{Regex, RegexBuilder};
use serde_json::json;
use std::collections::HashSet;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

/// The maximum size of a compiled pattern in bytes.
const MAX_REGEX_BYTES: usize = 1 << 20;

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

impl<W: Deref<Target = World>> Call<W> {
    fn show_branch(&self, git: &Git, project: &Project, head: &GitRef) -> Result<Branch, Rejection> {
        let merged = merged(git, &self.cache, std::slice::from_ref(head))?;
        self.show_branch_among(git, project, head, &merged)
    }

    fn show_branch_among(
        &self,
        git: &Git,
        project: &Project,
        head: &GitRef,
        merged: &HashSet<Oid>,
    ) -> Result<Branch, Rejection> {
        let name = &head.name;
        Ok(Branch {
            name: name.clone(),
            merged: merged.contains(&head.commit),
            protected: project.is_protected(name),
            developers_can_push: project.protection(name).any(|rule| rule.developers_can_push),
            developers_can_merge: project.protection(name).any(|rule| rule.developers_can_merge),
            commit: Some(git.show_cached(head.commit, &self.cache)?),
            default: Some(project.default_branch.as_ref() == Some(name)),
            can_push: Some(self.rights.can_push_to(&self.world, project, name)),
            web_url: Some(self.project_page(project, &format!("tree/{}", path(name)))),
        })
    }
}

/// Returns the heads that have been merged into the default branch.
fn merged(git: &Git, cache: &Cache, heads: &[GitRef]) -> Result<Arc<HashSet<Oid>>, Rejection> {
    let Some(root) = git.default_head() else { return Ok(Arc::default()) };
    // A branch that is at the head of the default branch has no changes that could have been merged.
    git.ancestors_among(root, heads.iter().map(|head| head.commit).filter(|commit| *commit != root).collect(), cache)
}

fn head(git: &Git, name: &str) -> Result<GitRef, Rejection> {
    let commit = git.branch_head(name).ok_or_else(|| Rejection::not_found("Branch"))?;
    Ok(GitRef { name: name.to_owned(), commit })
}

fn compile(pattern: &str) -> Result<Regex, Rejection> {
    let regex = RegexBuilder::new(pattern).size_limit(MAX_REGEX_BYTES).build();
    regex.map_err(|_| Rejection::bad_request("400 Bad request - Regex is invalid"))
}

/// Returns the refs whose names contain `search`, ignoring case. In it, `^` and `$` are the ends of a name, and `*` is
/// any text. Without them, a ref with exactly this name comes first.
pub fn search_refs<R: Clone>(refs: &[R], name_of: fn(&R) -> &str, search: &str) -> Result<Vec<R>, Rejection> {
    let pattern = regex::escape(&search.to_lowercase());
    let has_operators = search.contains(['^', '$', '*']);
    let pattern = match has_operators {
        true => pattern.replacen(r"\^", "^", 1).replace(r"\*", ".*?").replacen(r"\$", "$", 1),
        false => pattern,
    };
    let regex = compile(&pattern)?;
    let fits = |found: &&R| regex.is_match(&name_of(found).to_lowercase());
    let mut found: Vec<R> = refs.iter().filter(fits).cloned().collect();
    if !has_operators {
        found.sort_by_key(|found| name_of(found).to_lowercase() != search.to_lowercase());
    }
    Ok(found)
}

fn list(call: &ReadCall, input: ListBranches) -> Outcome<Vec<Branch>> {
    let (project, git) = call.repository(&input.id)?;
    let (regex, sort): (Option<String>, Option<String>) = (call.option("regex")?, call.option("sort")?);
    let sort = call.choice_or_first("sort", sort.as_deref(), &["name_asc", "updated_asc", "updated_desc"])?;
    // The objects of a page are read, and not those of all branches.
    let mut heads = git.branch_targets(&call.cache)?;
    if let Some(search) = input.search.as_deref().filter(|search| !search.is_empty()) {
        heads = Arc::new(search_refs(&heads, |head| &head.name, search)?);
    }
    if let Some(regex) = regex.as_deref().filter(|regex| !regex.is_empty()) {
        let regex = compile(regex)?;
        heads = Arc::new(heads.iter().filter(|head| regex.is_match(&head.name)).cloned().collect());
    }
    if sort != "name_asc" {
        let mut sorted = heads.to_vec();
        sorted.sort_by_cached_key(|head| git.committed_at(head.target).ok());
        if sort == "updated_desc" {
            sorted.reverse();
        }
        heads = Arc::new(sorted);
    }
    // A single walk for the whole page.
    let (page, list_size) = call.cut_by_name(&heads, |head| &head.name)?;
    let page = git.peel_refs(page);
    let merged = merged(&git, &call.cache, &page)?;
    let show = |head| call.show_branch_among(&git, project, head, &merged);
    let rows: Result<_, Rejection> = page.iter().map(show).collect();
    call.page_of(rows?, list_size)
}

fn get(call: &ReadCall, input: GetBranch) -> Outcome<Branch> {
    let (project, git) = call.repository(&input.id)?;
    ok(call.show_branch(&git, project, &head(&git, &input.branch)?)?)
}

fn protect(call: &mut WriteCall, input: ProtectBranch) -> Outcome<Branch> {
    let id = call.project_as(&input.id, level::MAINTAINER)?.id;
    let git = call.repository_to_write(&input.id)?.1;
    let head = head(&git, &input.branch)?;
    let project = call.world.projects.get_mut(id).ok_or_else(Rejection::record_not_found)?;
    if !project.protected_branches.iter().any(|protected| protected.name == input.branch) {
        project.protect(ProtectedBranch { name: input.branch.clone(), ..ProtectedBranch::default() });
    }
    if let Some(protected) = project.protected_branches.iter_mut().find(|protected| protected.name == input.branch) {
        protected.developers_can_push = input.developers_can_push.unwrap_or(protected.developers_can_push);
        protected.developers_can_merge = input.developers_can_merge.unwrap_or(protected.developers_can_merge);
    }
    show_by_id(call, id, &git, &head)
}

fn show_by_id(call: &WriteCall, project: u64, git: &Git, head: &GitRef) -> Outcome<Branch> {
    let project = call.world.projects.get(project).ok_or_else(Rejection::record_not_found)?;
    ok(call.show_branch(git, project, head)?)
}

fn unprotect(call: &mut WriteCall, input: UnprotectBranch) -> Outcome<Branch> {
    let id = call.project_as(&input.id, level::MAINTAINER)?.id;
    let git = call.repository_to_write(&input.id)?.1;
    let head = head(&git, &input.branch)?;
    let project = call.world.projects.get_mut(id).ok_or_else(Rejection::record_not_found)?;
    project.protected_branches.retain(|protected| protected.name != input.branch);
    show_by_id(call, id, &git, &head)
}

fn create(call: &mut WriteCall, input: CreateBranch) -> Outcome<Branch> {
    let (project, git) = call.repository_to_write(&input.id)?;
    let id = project.id;
    let commit = git.create_branch(&input.branch, &input.r#ref)?;
    let now = call.now;
    record_project_activity(call.world, id, now)?;
    let head = GitRef { name: input.branch, commit };
    call.record_push(id, &git, &format!("refs/heads/{}", head.name), None, Some(commit));
    show_by_id(call, id, &git, &head)
}

/// Updates the time of the last activity in a project.
pub fn record_project_activity(world: &mut World, project: u64, now: Timestamp) -> Result<&Project, Rejection> {
    let project = world.projects.get_mut(project).ok_or_else(Rejection::record_not_found)?;
    project.last_activity_at = project.last_activity_at.max(now);
    Ok(project)
}

fn delete(call: &mut WriteCall, input: DeleteBranch) -> Outcome<NoContent> {
    let (project, git) = call.repository_to_write(&input.id)?;
    let id = project.id;
    let head = head(&git, &input.branch)?;
    if project.default_branch.as_deref() == Some(&input.branch) {
        return Err(Rejection::bad_request("Cannot remove HEAD branch"));
    }
    if project.is_protected(&input.branch) {
        return Err(Rejection::message(403, "Protected branch cannot be removed"));
    }
    call.check_unmodified(git.committed_at(head.commit)?)?;
    remove(call.world, &git, &call.repositories, id, &head)?;
    record_project_activity(call.world, id, call.now)?;
    call.record_push(id, &git, &format!("refs/heads/{}", head.name), Some(head.commit), None);
    ok(NoContent)
}

/// Removes a branch; open merge requests from and into it keep their diff.
pub fn remove(world: &mut World, git: &Git, repositories: &Path, project: u64, head: &GitRef) -> Result<(), Rejection> {
    store_diff_ranges(world, repositories, |mr| {
        (mr.source_project == project && mr.source_branch == head.name)
            || (mr.target_project == project && mr.target_branch == head.name)
    });
    git.delete_branch(&head.name)
}

/// Returns the head of the target branch, the merge base and the head of the source branch of a merge request whose
/// branches exist.
pub fn live_diff(mr: &MergeRequest, repositories: &Path) -> Option<(Oid, Oid, Oid)> {
    let git = Git::open(&repository_path(repositories, mr.target_project), None).ok()?;
    let head = if mr.source_project == mr.target_project {
        git.branch_head(&mr.source_branch)?
    } else {
        let fork = repository_path(repositories, mr.source_project);
        git.add_alternate(&fork.join("objects"))?;
        Git::open(&fork, None).ok()?.branch_head(&mr.source_branch)?
    };
    let target = git.branch_head(&mr.target_branch)?;
    Some((target, git.merge_base(target, head).ok()??, head))
}

/// Stores the diff range of open merge requests whose branches are about to be removed.
pub fn store_diff_ranges(world: &mut World, repositories: &Path, loses: impl Fn(&MergeRequest) -> bool) {
    let range = |mr: &MergeRequest| {
        let (_, base, head) = live_diff(mr, repositories)?;
        Some(Range { base: base.to_string(), head: head.to_string() })
    };
    let open = world.merge_requests.iter().filter(|mr| mr.state == State::Opened && loses(mr));
    let ranges: Vec<(u64, Range)> = open.filter_map(|mr| Some((mr.id, range(mr)?))).collect();
    for (id, range) in ranges {
        if let Some(mr) = world.merge_requests.get_mut(id) {
            mr.range = Some(range);
        }
    }
}

fn accepted() -> Outcome<NoContent> {
    Ok(Answer::new(NoContent).status(202).with_body(json!({ "message": "202 Accepted" })))
}

fn delete_merged(call: &mut WriteCall, input: DeleteMergedBranches) -> Outcome<NoContent> {
    let (project, git) = call.repository_to_write(&input.id)?;
    let id = project.id;
    let open = |name: &str| {
        call.world.merge_requests.iter().any(|mr| {
            mr.state == State::Opened
                && ((mr.source_project == id && mr.source_branch == name)
                    || (mr.target_project == id && mr.target_branch == name))
        })
    };
    let is_kept =
        |name: &str| project.default_branch.as_deref() == Some(name) || project.is_protected(name) || open(name);
    let heads: Vec<GitRef> = git.branches(&call.cache)?.iter().filter(|head| !is_kept(&head.name)).cloned().collect();
    let merged = merged(&git, &call.cache, &heads)?;
    let gone: Vec<GitRef> = heads.into_iter().filter(|head| merged.contains(&head.commit)).collect();
    for head in &gone {
        remove(call.world, &git, &call.repositories, id, head)?;
        call.record_push(id, &git, &format!("refs/heads/{}", head.name), Some(head.commit), None);
    }
    record_project_activity(call.world, id, call.now)?;
    accepted()
}
