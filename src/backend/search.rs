//! Search everywhere, in a group, or in a project, for a substring and ignoring case.

use super::auth::Rights;
use super::call::{Answer, Outcome, ReadCall};
use super::git::LogQuery;
use super::members;
use super::modes::Version;
use super::mount::Mount;
use super::page::ListSize;
use super::records::{self, Group, Namespace, Noteable, Project, User};
use super::rejection::Rejection;
use crate::presenters::contains_ignore_case;
use api::Scope;
use api::search::*;
use serde_json::json;
use std::ops::Range;

/// The maximum number of files, and of commits, that a project search examines.
const MAX_FILES: usize = 20_000;
const MAX_COMMITS: usize = 20_000;
/// The number of commits that are read at a time.
const COMMIT_BATCH: usize = 500;
/// The maximum number of hits in files and commits.
const MAX_HITS: usize = 200;
/// The number of context lines before and after a hit.
const CONTEXT_LINES: usize = 2;
/// The maximum size in bytes of a file that is searched.
const MAX_FILE_BYTES: usize = 1 << 20;

/// A scope of current servers.
const USERS: &str = "users";
/// A scope of GitLab 19.
const GROUPS: &str = "groups";
/// A scope of older servers.
const SNIPPET_BLOBS: &str = "snippet_blobs";

pub fn mount(mount: Mount) -> Mount {
    mount
        .read_signed_in::<Search>(everywhere)
        .read_signed_in::<SearchWithin>(within)
        // The older spelling, which servers of all versions accept and other client libraries use.
        .also_read_signed_in::<SearchWithin>("/search", within)
}

fn everywhere(call: &ReadCall, input: Search) -> Outcome<Vec<Hit>> {
    call.require_user()?;
    if input.scope == USERS && !call.only_specified() {
        return people(call, &input.search, |_| true);
    }
    if input.scope == GROUPS && call.version >= Version::V19 {
        let fits = |group: &&Group| {
            call.rights.can_see_group(call.world, group)
                && (contains_ignore_case(&group.name, &input.search)
                    || contains_ignore_case(&group.path, &input.search))
        };
        let found = call.world.groups.iter().filter(fits).collect();
        return call.page(found, |group| Hit::Group(Box::new(call.show_group(group))));
    }
    let scope = match input.scope.as_str() {
        SNIPPET_BLOBS if call.version < Version::V17 => SNIPPET_BLOBS,
        word => scope(call, word, GLOBAL_SCOPES)?,
    };
    let projects: Vec<&Project> = call.world.projects.iter().filter(|p| can_see(call, p)).collect();
    find(call, scope, &input.search, &projects)
}

fn within(call: &ReadCall, input: SearchWithin) -> Outcome<Vec<Hit>> {
    call.require_user()?;
    match &input.within {
        Scope::Project(id) => in_project(call, call.project(id)?, &input),
        Scope::Group(id) => in_group(call, call.group(id)?.id, &input),
    }
}

/// Finds people by their names.
fn people(call: &ReadCall, text: &str, is_wanted: impl Fn(u64) -> bool) -> Outcome<Vec<Hit>> {
    let fits = |user: &&User| {
        is_wanted(user.id) && (contains_ignore_case(&user.name, text) || contains_ignore_case(&user.username, text))
    };
    let found = call.world.users.iter().filter(fits).collect();
    call.page(found, |user: &User| Hit::User(Box::new(call.user_summary(user.id))))
}

fn in_group(call: &ReadCall, group: u64, input: &SearchWithin) -> Outcome<Vec<Hit>> {
    if input.scope == USERS && !call.only_specified() {
        return people(call, &input.search, |user| Rights::of(call.world, user).in_group(call.world, group) > 0);
    }
    let scope = scope(call, &input.scope, GROUP_SCOPES)?;
    let inside = |project: &&Project| match project.namespace {
        Namespace::Group(id) => call.world.group_chain(id).iter().any(|above| above.id == group),
        Namespace::User(_) => false,
    };
    let projects: Vec<&Project> = call.world.projects.iter().filter(|p| inside(p) && can_see(call, p)).collect();
    find(call, scope, &input.search, &projects)
}

fn in_project(call: &ReadCall, project: &Project, input: &SearchWithin) -> Outcome<Vec<Hit>> {
    if input.scope == USERS && !call.only_specified() {
        let members = members::of_project(call.world, project, true);
        return people(call, &input.search, |user| members.contains_key(&user));
    }
    if !PROJECT_SCOPES.iter().any(|(word, _)| *word == input.scope) {
        return Err(Rejection::no_valid_value("scope"));
    }
    match input.scope.as_str() {
        "blobs" => blobs(call, project, &input.search),
        "commits" => commits(call, project, &input.search),
        // Wikis are not supported.
        "wiki_blobs" => hits(call, Vec::new()),
        "notes" => {
            let rows = call.world.notes.iter().rev().filter(|note| {
                !note.system
                    && call.rights.can_read_note(call.world, note)
                    && contains_ignore_case(&note.body, &input.search)
                    && project_of(call, note.on) == Some(project.id)
            });
            hits(call, rows.map(|note| Hit::Note(Box::new(call.search_result_note(note)))).collect())
        }
        scope => find(call, scope, &input.search, &[project]),
    }
}

/// Checks that a scope is known and does not require a full-text engine.
fn scope<'a>(call: &ReadCall, word: &'a str, scopes: &[(&str, &str)]) -> Result<&'a str, Rejection> {
    let is_newer = matches!(word, USERS | GROUPS) || word == "notes" && call.version < Version::V17;
    if is_newer || !scopes.iter().any(|(scope, _)| *scope == word) {
        return Err(Rejection::no_valid_value("scope"));
    }
    if matches!(word, "blobs" | "wiki_blobs" | "commits" | "notes") {
        return Err(Rejection::bad_request(json!({ "error": "Scope not supported without Elasticsearch!" })));
    }
    Ok(word)
}

fn can_see(call: &ReadCall, project: &Project) -> bool {
    call.rights.can_see_project(call.world, project)
}

/// Returns the project of the object that a note is on, if the caller may see it.
fn project_of(call: &ReadCall, on: Noteable) -> Option<u64> {
    match on {
        // Comments on merge requests reveal code.
        Noteable::MergeRequest(id) => {
            let project = call.world.projects.get(call.world.merge_requests.get(id)?.target_project)?;
            call.rights.can_read_code(call.world, project).then_some(project.id)
        }
        Noteable::Issue(id) => call.world.issues.get(id).filter(|i| can_read_issue(call, i)).map(|i| i.project),
        Noteable::Snippet(id) => {
            let snippet = call.world.snippets.get(id)?;
            let project = call.world.projects.get(snippet.project)?;
            call.rights.can_see_snippet(call.world, project, snippet).then_some(project.id)
        }
        Noteable::Epic(_) => None,
    }
}

fn can_read_issue(call: &ReadCall, issue: &records::Issue) -> bool {
    call.rights.can_read_issue(call.world, issue)
}

fn hits(call: &ReadCall, rows: Vec<Hit>) -> Outcome<Vec<Hit>> {
    call.page(rows, |hit| hit)
}

fn find(call: &ReadCall, scope: &str, text: &str, projects: &[&Project]) -> Outcome<Vec<Hit>> {
    let world = call.world;
    // `#7` finds the issue with that IID.
    let number = text.rsplit_once('#').and_then(|(_, number)| number.parse::<u64>().ok());
    let here = |id: u64| projects.iter().find(|project| project.id == id);
    let reads = |id: u64| here(id).is_some_and(|project| call.rights.can_read_code(world, project));
    match scope {
        "projects" => {
            let found = projects.iter().rev().filter(|p| {
                let description = p.description.as_deref().unwrap_or_default();
                contains_ignore_case(&p.name, text)
                    || contains_ignore_case(&world.project_path(p), text)
                    || contains_ignore_case(description, text)
            });
            call.page(found.collect(), |project| Hit::Project(Box::new(call.search_result_project(project))))
        }
        "issues" => {
            let found = world.issues.iter().rev().filter(|issue| {
                here(issue.project).is_some()
                    && can_read_issue(call, issue)
                    && match number {
                        Some(number) => issue.iid == number,
                        None => {
                            contains_ignore_case(&issue.title, text) || contains_ignore_case(&issue.description, text)
                        }
                    }
            });
            call.page(found.collect(), |issue| Hit::Issue(Box::new(call.show_issue(issue, false))))
        }
        "merge_requests" => {
            let found = world.merge_requests.iter().rev().filter(|mr| {
                reads(mr.target_project)
                    && (contains_ignore_case(&mr.title, text) || contains_ignore_case(&mr.description, text))
            });
            call.page(found.collect(), |mr| {
                let git = here(mr.target_project).and_then(|project| call.git(project).ok());
                Hit::MergeRequest(Box::new(call.show_merge_request(mr, git.as_ref())))
            })
        }
        "milestones" => {
            let found = world.milestones.iter().rev().filter(|milestone| {
                here(milestone.project).is_some()
                    && (contains_ignore_case(&milestone.title, text)
                        || contains_ignore_case(&milestone.description, text))
            });
            call.page(found.collect(), |milestone| Hit::Milestone(Box::new(call.show_milestone(milestone))))
        }
        // The scopes `snippet_titles` and `snippet_blobs`.
        _ => {
            let found = world.snippets.iter().rev().filter(|snippet| {
                let seen = here(snippet.project).is_some_and(|p| call.rights.can_see_snippet(world, p, snippet));
                seen && match scope {
                    SNIPPET_BLOBS => contains_ignore_case(&snippet.content, text),
                    _ => contains_ignore_case(&snippet.title, text) || contains_ignore_case(&snippet.file_name, text),
                }
            });
            call.page(found.collect(), |snippet| {
                let shown = call.show_snippet(snippet);
                Hit::Snippet(Box::new(api::snippets::Snippet { project_id: Some(snippet.project), ..shown }))
            })
        }
    }
}

/// Returns a page of hits of a limited search; the total is unknown if the limit was reached.
fn bounded(call: &ReadCall, rows: Vec<Hit>, cut: bool) -> Outcome<Vec<Hit>> {
    let total = rows.len();
    let mut answer: Answer<Vec<Hit>> = hits(call, rows)?;
    if cut {
        answer.list_size =
            Some(ListSize::HasMore(call.pagination.skip().saturating_add(call.pagination.per_page) < total));
    }
    Ok(answer)
}

fn commits(call: &ReadCall, project: &Project, text: &str) -> Outcome<Vec<Hit>> {
    let (_, git) = call.repository(&project.id.into())?;
    let query = LogQuery { from: git.default_head().into_iter().collect(), ..LogQuery::default() };
    let (mut rows, mut read, mut has_more) = (Vec::new(), 0, true);
    while has_more && read < MAX_COMMITS {
        let page = git.log_page(&query, read, COMMIT_BATCH, &call.cache)?;
        (read, has_more) = (read + COMMIT_BATCH, page.has_more);
        for id in page.commits {
            let commit = git.show(id)?;
            if contains_ignore_case(&commit.message, text) || (text.len() >= 7 && commit.id.starts_with(text)) {
                let commit = api::commits::Commit { project_id: Some(project.id), ..commit };
                rows.push(Hit::Commit(Box::new(commit)));
            }
            if rows.len() == MAX_HITS {
                return bounded(call, rows, true);
            }
        }
    }
    bounded(call, rows, has_more)
}

fn blobs(call: &ReadCall, project: &Project, text: &str) -> Outcome<Vec<Hit>> {
    let (_, git) = call.repository(&project.id.into())?;
    let Some(head) = git.default_head() else { return hits(call, Vec::new()) };
    let root = git.tree(head)?;
    let super::git::Listing { entries: files, is_cut } = git.list(&root, "", true)?;
    let cut = is_cut || files.len() > MAX_FILES;
    let wanted = text.to_lowercase();
    let mut rows = Vec::new();
    for file in files.into_iter().filter(|f| f.r#type == api::repository::EntryKind::Blob).take(MAX_FILES) {
        call.stop.check()?;
        // Large files are not read, and damaged ones are left out.
        let id = git2::Oid::from_str(&file.id).ok().filter(|id| git.check_size(*id, MAX_FILE_BYTES).is_ok());
        let Some(Ok((_, bytes))) = id.map(|_| git.blob(&file.id)) else { continue };
        if bytes.contains(&0) {
            continue;
        }
        let content = super::git::lossy(&bytes);
        let lines: Vec<&str> = content.lines().collect();
        let found = lines.iter().enumerate().filter(|(_, line)| line.to_lowercase().contains(&wanted));
        // Matches whose context lines meet are one result, as in the output of `git grep`.
        let mut parts: Vec<Range<usize>> = Vec::new();
        for (at, _) in found {
            let (first, end) = (at.saturating_sub(CONTEXT_LINES), (at + CONTEXT_LINES + 1).min(lines.len()));
            match parts.last_mut().filter(|part| part.end >= first) {
                Some(part) => part.end = end,
                None => parts.push(first..end),
            }
        }
        if parts.is_empty() && contains_ignore_case(&file.path, text) {
            parts.push(0..lines.len().min(2 * CONTEXT_LINES + 1));
        }
        let stem = file.path.rsplit_once('.').map_or(file.path.as_str(), |(stem, _)| stem);
        for part in parts {
            let shown = lines.get(part.clone()).unwrap_or_default();
            rows.push(Hit::Blob(Box::new(BlobHit {
                basename: stem.to_owned(),
                data: shown.iter().map(|line| format!("{line}\n")).collect(),
                filename: file.path.clone(),
                id: None,
                r#ref: project.default_branch.clone().unwrap_or_default(),
                startline: part.start as u64 + 1,
                project_id: project.id,
                ..BlobHit::default()
            })));
            if rows.len() == MAX_HITS {
                return bounded(call, rows, true);
            }
        }
    }
    bounded(call, rows, cut)
}
