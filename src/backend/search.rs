//! Search everywhere, in a group, or in a project, for a substring and ignoring case.

use super::call::{Answer, Outcome, Reading};
use super::git::LogQuery;
use super::mount::Mount;
use super::page::Extent;
use super::records::{self, Namespace, Noteable, Project};
use super::reject::Reject;
use crate::api::search::*;
use crate::backend::presenters::{holds, there};
use serde_json::json;

/// The maximum number of files, and of commits, that a project search examines.
const MOST_FILES: usize = 20_000;
const MOST_COMMITS: usize = 20_000;
/// The number of commits that are read at a time.
const READ_TOGETHER: usize = 500;
/// The maximum number of hits in files and commits.
const MOST_HITS: usize = 200;
/// The number of context lines before and after a hit.
const AROUND: usize = 2;
/// The maximum size in bytes of a file that is searched.
const LARGEST: usize = 1 << 20;

pub fn mount(mount: Mount) -> Mount {
    mount
        .read_signed_in::<Search>(everywhere)
        .read_signed_in::<SearchGroup>(in_group)
        .read_signed_in::<SearchProject>(in_project)
        // The older spelling, which servers of all versions accept and other client libraries use.
        .also_read::<SearchGroup>("/groups/{id}/search", in_group)
        .also_read::<SearchProject>("/projects/{id}/search", in_project)
}

fn everywhere(call: &Reading, input: Search) -> Outcome<Vec<Hit>> {
    call.signed_in()?;
    let scope = scope(&input.scope, &GLOBAL_SCOPES)?;
    let projects: Vec<&Project> = call.world.projects.iter().filter(|p| seen(call, p)).collect();
    find(call, scope, &input.search, &projects)
}

fn in_group(call: &Reading, input: SearchGroup) -> Outcome<Vec<Hit>> {
    call.signed_in()?;
    let group = call.group(&input.id)?.id;
    let scope = scope(&input.scope, &GROUP_SCOPES)?;
    let inside = |project: &&Project| match project.namespace {
        Namespace::Group(id) => call.world.group_chain(id).iter().any(|above| above.id == group),
        Namespace::User(_) => false,
    };
    let projects: Vec<&Project> = call.world.projects.iter().filter(|p| inside(p) && seen(call, p)).collect();
    find(call, scope, &input.search, &projects)
}

fn in_project(call: &Reading, input: SearchProject) -> Outcome<Vec<Hit>> {
    call.signed_in()?;
    let project = call.project(&input.id)?;
    if !PROJECT_SCOPES.contains(&input.scope.as_str()) {
        return Err(Reject::no_valid_value("scope"));
    }
    match input.scope.as_str() {
        "blobs" => blobs(call, project, &input.search),
        "commits" => commits(call, project, &input.search),
        // Wikis are not supported.
        "wiki_blobs" => hits(call, Vec::new()),
        "notes" => {
            let rows = call.world.notes.iter().rev().filter(|note| {
                !note.system && holds(&note.body, &input.search) && project_of(call, note.on) == Some(project.id)
            });
            hits(call, rows.map(|note| Hit::Note(Box::new(call.found_note(note)))).collect())
        }
        scope => find(call, scope, &input.search, &[project]),
    }
}

/// Checks that a scope is known and does not require a full-text engine.
fn scope<'a>(word: &'a str, scopes: &[&str]) -> Result<&'a str, Reject> {
    if !scopes.contains(&word) {
        return Err(Reject::no_valid_value("scope"));
    }
    if matches!(word, "blobs" | "wiki_blobs" | "commits") {
        return Err(Reject::bad(json!({ "error": "Scope not supported without Elasticsearch!" })));
    }
    Ok(word)
}

fn seen(call: &Reading, project: &Project) -> bool {
    call.rights.sees_project(call.world, project)
}

/// Returns the project of the object that a note is on, if the caller may see it.
fn project_of(call: &Reading, on: Noteable) -> Option<u64> {
    match on {
        // Comments on merge requests reveal code.
        Noteable::MergeRequest(id) => {
            let project = call.world.projects.get(call.world.merge_requests.get(id)?.target_project)?;
            call.rights.reads_code(call.world, project).then_some(project.id)
        }
        Noteable::Issue(id) => call.world.issues.get(id).filter(|i| reads_issue(call, i)).map(|i| i.project),
        Noteable::Snippet(id) => {
            let snippet = call.world.snippets.get(id)?;
            let project = call.world.projects.get(snippet.project)?;
            call.rights.sees_snippet(call.world, project, snippet).then_some(project.id)
        }
        Noteable::Epic(_) => None,
    }
}

fn reads_issue(call: &Reading, issue: &records::Issue) -> bool {
    call.rights.reads_issue(call.world, issue)
}

fn hits(call: &Reading, rows: Vec<Hit>) -> Outcome<Vec<Hit>> {
    call.page(rows, |hit| hit)
}

fn find(call: &Reading, scope: &str, text: &str, projects: &[&Project]) -> Outcome<Vec<Hit>> {
    let world = call.world;
    // `#7` finds the issue with that IID.
    let number = text.rsplit_once('#').and_then(|(_, number)| number.parse::<u64>().ok());
    let here = |id: u64| projects.iter().find(|project| project.id == id);
    let reads = |id: u64| here(id).is_some_and(|project| call.rights.reads_code(world, project));
    match scope {
        "projects" => {
            let found = projects.iter().rev().filter(|p| {
                let description = p.description.as_deref().unwrap_or_default();
                holds(&p.name, text) || holds(&world.project_path(p), text) || holds(description, text)
            });
            call.page(found.collect(), |project| Hit::Project(Box::new(call.found_project(project))))
        }
        "issues" => {
            let found = world.issues.iter().rev().filter(|issue| {
                here(issue.project).is_some()
                    && reads_issue(call, issue)
                    && match number {
                        Some(number) => issue.iid == number,
                        None => holds(&issue.title, text) || holds(&issue.description, text),
                    }
            });
            call.page(found.collect(), |issue| Hit::Issue(Box::new(call.found_issue(issue))))
        }
        "merge_requests" => {
            let found = world
                .merge_requests
                .iter()
                .rev()
                .filter(|mr| reads(mr.target_project) && (holds(&mr.title, text) || holds(&mr.description, text)));
            call.page(found.collect(), |mr| {
                let git = here(mr.target_project).and_then(|project| call.git(project).ok());
                Hit::MergeRequest(Box::new(call.show_merge_request(mr, git.as_ref())))
            })
        }
        "milestones" => {
            let found = world.milestones.iter().rev().filter(|milestone| {
                here(milestone.project).is_some()
                    && (holds(&milestone.title, text) || holds(&milestone.description, text))
            });
            call.page(found.collect(), |milestone| Hit::Milestone(Box::new(call.show_milestone(milestone))))
        }
        // The scopes `snippet_titles` and `snippet_blobs`.
        _ => {
            let found = world.snippets.iter().rev().filter(|snippet| {
                let seen = here(snippet.project).is_some_and(|p| call.rights.sees_snippet(world, p, snippet));
                seen && match scope {
                    "snippet_blobs" => holds(&snippet.content, text),
                    _ => holds(&snippet.title, text) || holds(&snippet.file_name, text),
                }
            });
            call.page(found.collect(), |snippet| {
                let shown = call.show_snippet(snippet);
                Hit::Snippet(Box::new(crate::api::snippets::Snippet { project_id: there(snippet.project), ..shown }))
            })
        }
    }
}

/// Returns a page of hits of a limited search; the total is unknown if the limit was reached.
fn bounded(call: &Reading, rows: Vec<Hit>, cut: bool) -> Outcome<Vec<Hit>> {
    let total = rows.len();
    let mut answer: Answer<Vec<Hit>> = hits(call, rows)?;
    if cut {
        answer.extent = Some(Extent::More(call.paging.skip() + call.paging.per_page < total));
    }
    Ok(answer)
}

fn commits(call: &Reading, project: &Project, text: &str) -> Outcome<Vec<Hit>> {
    let (_, git) = call.repository(&project.id.into())?;
    let query = LogQuery { from: git.default_head().into_iter().collect(), ..LogQuery::default() };
    let (mut rows, mut read, mut more) = (Vec::new(), 0, true);
    while more && read < MOST_COMMITS {
        let page = git.log_page(&query, read, READ_TOGETHER, &call.cache)?;
        (read, more) = (read + READ_TOGETHER, page.more);
        for id in page.commits {
            let commit = git.show(id)?;
            if holds(&commit.message, text) || (text.len() >= 7 && commit.id.starts_with(text)) {
                let commit = crate::api::commits::Commit { project_id: there(project.id), ..commit };
                rows.push(Hit::Commit(Box::new(commit)));
            }
            if rows.len() == MOST_HITS {
                return bounded(call, rows, true);
            }
        }
    }
    bounded(call, rows, more)
}

fn blobs(call: &Reading, project: &Project, text: &str) -> Outcome<Vec<Hit>> {
    let (_, git) = call.repository(&project.id.into())?;
    let Some(head) = git.default_head() else { return hits(call, Vec::new()) };
    let root = git.tree(head)?;
    let files = git.list(&root, "", true)?;
    let cut = files.len() > MOST_FILES;
    let wanted = text.to_lowercase();
    let mut rows = Vec::new();
    for file in files.into_iter().filter(|f| f.r#type == crate::api::repository::EntryKind::Blob).take(MOST_FILES) {
        call.stop.go_on()?;
        let Ok((_, bytes)) = git.blob(&file.id) else { continue };
        if bytes.len() > LARGEST || bytes.contains(&0) {
            continue;
        }
        let content = super::git::lossy(&bytes);
        let lines: Vec<&str> = content.lines().collect();
        let in_name = holds(&file.path, text).then_some(0);
        let Some(at) = lines.iter().position(|line| line.to_lowercase().contains(&wanted)).or(in_name) else {
            continue;
        };
        let first = at.saturating_sub(AROUND);
        let data: String = lines.iter().skip(first).take(2 * AROUND + 1).map(|line| format!("{line}\n")).collect();
        let stem = file.path.rsplit_once('.').map_or(file.path.as_str(), |(stem, _)| stem);
        rows.push(Hit::Blob(Box::new(BlobHit {
            basename: stem.to_owned(),
            data,
            filename: file.path,
            id: None,
            r#ref: project.default_branch.clone().unwrap_or_default(),
            startline: first as u64 + 1,
            project_id: project.id,
            ..BlobHit::default()
        })));
        if rows.len() == MOST_HITS {
            return bounded(call, rows, true);
        }
    }
    bounded(call, rows, cut)
}
