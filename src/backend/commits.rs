//! Commits, their comments, and their statuses.

use super::branches::record_project_activity;
use super::call::{Answer, Outcome, ReadCall, WriteCall, ok};
use super::git::{Author, Git, GitRef, LogQuery, NewCommit, TagRef};
use super::modes::Version;
use super::mount::Mount;
use super::page::ListSize;
use super::records::{self, Pipeline, Project, Status, level};
use super::rejection::Rejection;
use crate::presenters::{optional_time, parse_time, time};
use api::commits::*;
use api::merge_requests::MergeRequest;
use git2::Oid;
use serde_json::json;
use std::sync::Arc;

pub fn mount(mount: Mount) -> Mount {
    mount
        .read::<ListCommits>(list)
        .write_files::<CreateCommit>(create)
        .read::<GetCommit>(get)
        .write::<CherryPick>(cherry_pick)
        .read::<ListCommitRefs>(refs)
        .read::<GetCommitDiff>(diff)
        .read::<ListCommitMergeRequests>(merge_requests)
        .read::<GetCommitSignature>(signature)
        .read::<ListCommitComments>(comments)
        .write::<CreateCommitComment>(comment)
        .read::<ListCommitStatuses>(statuses)
        .write::<SetCommitStatus>(set_status)
        .write::<RevertCommit>(revert)
}

fn list(call: &ReadCall, input: ListCommits) -> Outcome<Vec<Commit>> {
    // Git has a resolution of one second: round a lower bound up to the next one.
    let since = parse_time("since", &input.since)?;
    let since = since.map(|at| at.as_second().saturating_add((at.subsec_nanosecond() > 0).into()));
    let until = parse_time("until", &input.until)?.map(|at| at.as_second());
    let (_, git) = call.repository(&input.id)?;
    let mut without = None;
    let from = if input.all == Some(true) {
        let (branches, tags) = (git.branches(&call.cache)?, git.tags(&call.cache)?);
        branches.iter().map(|head| head.commit).chain(tags.iter().map(|tag| tag.commit)).collect()
    } else {
        match input.ref_name.as_deref().filter(|name| !name.is_empty()) {
            Some(name) => {
                let find = |name: &str| git.commit_at(Some(name).filter(|name| !name.is_empty()), "Commit");
                // A range, as `git log A..B` reads it.
                let (before, tip) = name.split_once("..").map_or((None, name), |(before, tip)| (Some(before), tip));
                without = before.map(find).transpose()?.map(|commit| commit.id);
                vec![find(tip)?.id]
            }
            // An empty repository has an empty log.
            None => git.default_head().into_iter().collect(),
        }
    };
    let path = input.path.filter(|path| !path.trim_matches('/').is_empty());
    // Servers of the specification's version ignore it.
    let author = input.author.filter(|author| !author.is_empty() && !call.only_specified());
    let first_parent = input.first_parent == Some(true) && !call.only_specified();
    let query = LogQuery { from, without, path, since, until, author, first_parent };
    let page = git.log_page(&query, call.pagination.skip(), call.pagination.per_page, &call.cache)?;
    let with_stats = call.option("with_stats")? == Some(true) && !call.only_specified();
    let show = |id| if with_stats { git.show_with_stats(id) } else { git.show_cached(id, &call.cache) };
    let rows: Result<_, Rejection> = page.commits.into_iter().map(show).collect();
    call.page_of(rows?, page.total.map_or(ListSize::HasMore(page.has_more), ListSize::Known))
}

/// Lists the merge requests whose diff contains a commit.
fn merge_requests(call: &ReadCall, input: ListCommitMergeRequests) -> Outcome<Vec<MergeRequest>> {
    let (project, git) = call.repository(&input.id)?;
    let commit = git.commit_at(Some(&input.sha), "Commit")?.id;
    let brought = |mr: &&records::MergeRequest| {
        mr.target_project == project.id
            && call
                .diff_ends(mr, &git)
                .is_some_and(|ends| git.history_contains(ends.head, commit) && !git.history_contains(ends.base, commit))
    };
    let rows = call.world.merge_requests.iter().rev().filter(brought).collect();
    call.page(rows, |mr| call.show_merge_request(mr, Some(&git)))
}

/// Returns the signature of a commit; the server has no keys to verify it.
fn signature(call: &ReadCall, input: GetCommitSignature) -> Outcome<CommitSignature> {
    let (_, git) = call.repository(&input.id)?;
    let commit = git.commit_at(Some(&input.sha), "Commit")?.id;
    let (text, _) = git.repo().extract_signature(&commit, None).map_err(|_| Rejection::not_found("Signature"))?;
    let kind = match String::from_utf8_lossy(&text) {
        text if text.contains("BEGIN SSH") => "SSH",
        text if text.contains("BEGIN SIGNED MESSAGE") => "X509",
        _ => "PGP",
    };
    let verification_status = if kind == "PGP" { "unknown_key" } else { "unverified" }.to_owned();
    ok(CommitSignature { signature_type: kind.into(), verification_status, ..CommitSignature::default() })
}

/// Checks that the caller may push to a branch.
fn check_push(call: &WriteCall, project: &Project, branch: &str) -> Result<(), Rejection> {
    if call.rights.can_push_to(call.world, project, branch) {
        return Ok(());
    }
    let why = "You are not allowed to push into this branch";
    Err(if call.only_specified() { Rejection::bad_request(why) } else { Rejection::forbidden_because(why) })
}

impl WriteCall<'_> {
    /// Returns a user as the author of a new commit.
    pub fn commit_author(&self, user: u64) -> Author {
        let known = self.world.users.get(user);
        let name = known.map_or_else(|| self.user_summary(user).name, |user| user.name.clone());
        Author { name, email: known.map(|user| user.email.clone()).unwrap_or_default(), at: self.now }
    }
}

/// Returns the text unless it is blank: forms send empty fields, too.
pub fn non_blank(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.trim().is_empty())
}

pub fn create(call: &mut WriteCall, input: CreateCommit) -> Outcome<Commit> {
    let (project, git) = call.repository_to_write(&input.id)?;
    let project = project.clone();
    check_push(call, &project, &input.branch)?;
    let committer = call.commit_author(call.require_user()?.id);
    let author = Author {
        name: non_blank(input.author_name).unwrap_or_else(|| committer.name.clone()),
        email: non_blank(input.author_email).unwrap_or_else(|| committer.email.clone()),
        at: call.now,
    };
    if input.commit_message.trim().is_empty() {
        return Err(Rejection::error(400, "commit_message is empty"));
    }
    let (branch, before) = (format!("refs/heads/{}", input.branch), git.branch_head(&input.branch));
    let id = git.commit(&NewCommit {
        branch: &input.branch,
        start_branch: input.start_branch.as_deref().filter(|start| !start.is_empty()),
        message: &input.commit_message,
        author,
        committer,
        actions: &input.actions,
    })?;
    let now = call.now;
    if project.default_branch.is_none() {
        git.set_head(&input.branch)?;
        if let Some(project) = call.world.projects.get_mut(project.id) {
            project.default_branch = Some(input.branch);
        }
    }
    record_project_activity(call.world, project.id, now)?;
    call.record_push(project.id, &git, &branch, before, Some(id));
    ok(Commit { status: None.into(), ..git.show_with_stats(id)? })
}

fn cherry_pick(call: &mut WriteCall, input: CherryPick) -> Outcome<Commit> {
    let (project, git) = call.repository_to_write(&input.id)?;
    let project = project.clone();
    check_push(call, &project, &input.branch)?;
    let committer = call.commit_author(call.require_user()?.id);
    let (commit, before) = (find(&git, &input.sha)?, git.branch_head(&input.branch));
    // Servers of the specification's version know neither input, and ignore them.
    let message = input.message.filter(|_| !call.only_specified());
    let is_dry_run = input.dry_run == Some(true) && !call.only_specified();
    let picked = git.cherry_pick(commit, &input.branch, message.as_deref(), &committer);
    record_applied(call, &project, &git, &input.branch, before, picked, is_dry_run)
}

/// Records the commit of a cherry-pick or revert as a push, or answers whether a dry run succeeded.
fn record_applied(
    call: &mut WriteCall,
    project: &Project,
    git: &Git,
    branch: &str,
    before: Option<Oid>,
    applied: Result<Oid, Rejection>,
    is_dry_run: bool,
) -> Outcome<Commit> {
    if !is_dry_run {
        let id = applied?;
        record_project_activity(call.world, project.id, call.now)?;
        call.record_push(project.id, git, &format!("refs/heads/{branch}"), before, Some(id));
        return ok(git.show(id)?);
    }
    call.ref_updates.take();
    match applied {
        Ok(_) => Ok(Answer::new(Commit::default()).status(200).with_body(json!({ "dry_run": "success" }))),
        Err(mut refused) => {
            if let Some(body) = refused.body.as_object_mut().filter(|_| refused.status == 400) {
                body.insert("dry_run".into(), "error".into());
            }
            Err(refused)
        }
    }
}

fn revert(call: &mut WriteCall, input: RevertCommit) -> Outcome<Commit> {
    let (project, git) = call.repository_to_write(&input.id)?;
    let project = project.clone();
    let commit = find(&git, &input.sha)?;
    check_push(call, &project, &input.branch)?;
    let by = call.commit_author(call.require_user()?.id);
    let sha = commit.to_string();
    let of_merge = |mr: &&records::MergeRequest| {
        mr.target_project == project.id && mr.merge_commit_sha.as_deref() == Some(sha.as_str())
    };
    let reverted = match call.world.merge_requests.iter().find(of_merge) {
        Some(mr) => format!("merge request !{}", mr.iid),
        None => format!("commit {sha}"),
    };
    let title = git.show(commit)?.title;
    let message = format!("Revert \"{title}\"\n\nThis reverts {reverted}");
    let before = git.branch_head(&input.branch);
    let reverted = git.revert(commit, &input.branch, &message, &by);
    record_applied(call, &project, &git, &input.branch, before, reverted, input.dry_run == Some(true))
}

fn find(git: &Git, sha: &str) -> Result<Oid, Rejection> {
    Ok(git.commit_at(Some(sha), "Commit")?.id)
}

fn get(call: &ReadCall, input: GetCommit) -> Outcome<Commit> {
    let (project, git) = call.repository(&input.id)?;
    let id = find(&git, &input.sha)?;
    let mut commit = if input.stats == Some(false) { git.show(id)? } else { git.show_with_stats(id)? };
    let last = call.world.top_level_pipelines().rev().find(|p| p.project == project.id && p.sha == commit.id);
    commit.status = last.map(|pipeline| pipeline.status.as_str().to_owned()).into();
    // In the specification, only commits in search results have it.
    commit.project_id = Some(project.id).filter(|_| !call.only_specified());
    commit.last_pipeline = last.map(|pipeline| call.show_pipeline(pipeline)).into();
    ok(commit)
}

fn refs(call: &ReadCall, input: ListCommitRefs) -> Outcome<Vec<CommitRef>> {
    let kind = call.choice_or_first("type", input.r#type.as_deref(), &["all", "branch", "tag"])?;
    let (_, git) = call.repository(&input.id)?;
    let id = find(&git, &input.sha)?;
    let mut out = Vec::new();
    let mut add = |kind: &str, heads: &[GitRef]| -> Result<(), Rejection> {
        let containing = git.heads_containing(heads, id)?;
        out.extend(containing.into_iter().map(|head| CommitRef { r#type: kind.into(), name: head.name }));
        Ok(())
    };
    if kind != "tag" {
        add("branch", &git.branches(&call.cache)?)?;
    }
    if kind != "branch" {
        let head = |tag: &TagRef| GitRef { name: tag.name.clone(), commit: tag.commit };
        add("tag", &git.tags(&call.cache)?.iter().map(head).collect::<Vec<_>>())?;
    }
    call.page(out, |row| row)
}

fn diff(call: &ReadCall, input: GetCommitDiff) -> Outcome<Vec<DiffEntry>> {
    let (_, git) = call.repository(&input.id)?;
    let id = find(&git, &input.sha)?;
    let changes = || Ok(Arc::new(git.commit_changes(id)?.entries));
    let entries = call.cache.changes.get_or_try_init(id, changes)?;
    // Servers of the specification's version have no pages of it.
    let mut answer = match call.only_specified() {
        true => Answer::new(entries.to_vec()),
        false => call.page(entries.iter().collect(), DiffEntry::clone)?,
    };
    answer.body = call.show_diffs(answer.body)?;
    Ok(answer)
}

fn comments(call: &ReadCall, input: ListCommitComments) -> Outcome<Vec<CommitComment>> {
    let (project, git) = call.repository(&input.id)?;
    let sha = find(&git, &input.sha)?.to_string();
    let of_commit = |comment: &&records::CommitComment| comment.project == project.id && comment.sha == sha;
    call.page(call.world.commit_comments.iter().filter(of_commit).collect(), |comment| CommitComment {
        note: comment.note.clone(),
        author: Some(call.user_with_email(comment.author)),
        path: comment.path.clone(),
        line: comment.line,
        line_type: comment.line_type.clone(),
        created_at: Some(time(comment.created_at)),
    })
}

fn comment(call: &mut WriteCall, input: CreateCommitComment) -> Outcome<CommitComment> {
    let (project, git) = call.repository(&input.id)?;
    let (project, author) = (project.id, call.require_user()?.id);
    if input.note.trim().is_empty() {
        return Err(Rejection::error(400, "note is empty"));
    }
    if input.path.is_some() && input.line.is_none() {
        return Err(Rejection::error(400, "line is missing"));
    }
    let kind = call.choice_or_first("line_type", input.line_type.as_deref(), &["new", "old"])?.to_owned();
    let id = find(&git, &input.sha)?;
    let place = match (input.path, input.line) {
        // A line that is not in the diff is dropped: the comment is on the whole commit then.
        (Some(path), Some(line)) if is_in_diff(&git, id, &path, line, kind == "old")? => Some((path, line)),
        _ => None,
    };
    let mut record = records::CommitComment {
        project,
        sha: id.to_string(),
        note: input.note,
        author,
        path: place.as_ref().map(|(path, _)| path.clone()),
        line: place.as_ref().map(|(_, line)| *line),
        line_type: place.map(|_| kind),
        created_at: call.now,
        ..records::CommitComment::default()
    };
    record.id = call.world.commit_comments.add(record.clone());
    ok(CommitComment {
        note: record.note,
        author: Some(call.user_summary(author)),
        path: record.path,
        line: record.line,
        line_type: record.line_type,
        created_at: Some(time(record.created_at)),
    })
}

/// Returns whether a line of a file, by its number on the old or the new side, is part of a commit's diff.
fn is_in_diff(git: &Git, commit: Oid, path: &str, line: u64, old_side: bool) -> Result<bool, Rejection> {
    let changes = git.commit_changes(commit)?;
    let Some(entry) = changes.entries.iter().find(|entry| entry.new_path == path || entry.old_path == path) else {
        return Ok(false);
    };
    let (mut old, mut new) = (0u64, 0u64);
    // The lines before the first hunk name the file.
    for text in entry.diff.lines().skip_while(|text| !text.starts_with("@@ -")) {
        if let Some(header) = text.strip_prefix("@@ -") {
            let number = |part: &str| part.split([',', ' ']).next().and_then(|n| n.parse().ok()).unwrap_or(0u64);
            old = number(header);
            new = header.split_once('+').map_or(0, |(_, rest)| number(rest));
            continue;
        }
        let (in_old, in_new) = match text.as_bytes().first() {
            Some(b'-') => (true, false),
            Some(b'+') => (false, true),
            Some(b' ') => (true, true),
            _ => continue,
        };
        if (old_side && in_old && old == line) || (!old_side && in_new && new == line) {
            return Ok(true);
        }
        old += u64::from(in_old);
        new += u64::from(in_new);
    }
    Ok(false)
}

fn statuses(call: &ReadCall, input: ListCommitStatuses) -> Outcome<Vec<CommitStatus>> {
    let (project, git) = call.repository(&input.id)?;
    let sha = find(&git, &input.sha)?.to_string();
    let all = input.all == Some(true);
    let name_fits = |name: &str| input.name.as_deref().is_none_or(|wanted| wanted == name);
    let stage_fits = |stage: &str| input.stage.as_deref().is_none_or(|wanted| wanted == stage);
    let posted = call
        .world
        .commit_statuses
        .iter()
        .filter(|s| s.project == project.id && s.sha == sha && (all || !s.retried))
        .filter(|s| name_fits(&s.name) && stage_fits("external"))
        .map(|status| show_status(call, status));
    let jobs = call
        .world
        .jobs
        .iter()
        .filter(|job| job.project == project.id && job.sha == sha && (all || !job.retried))
        .filter(|job| name_fits(&job.name) && stage_fits(&job.stage))
        .map(|job| CommitStatus {
            id: job.id,
            sha: job.sha.clone(),
            r#ref: Some(job.ref_name.clone()),
            status: job.status.as_str().into(),
            name: job.name.clone(),
            target_url: call.job_page(job.project, job.id),
            description: None,
            pipeline_id: Some(job.pipeline),
            coverage: job.coverage,
            allow_failure: job.allow_failure,
            created_at: Some(time(job.created_at)),
            started_at: optional_time(job.started_at),
            finished_at: optional_time(job.finished_at),
            author: job.user.map(|user| call.user_summary(user)),
        });
    let mut rows: Vec<CommitStatus> = posted.chain(jobs).collect();
    match input.r#ref {
        Some(wanted) => rows.retain(|row| row.r#ref.as_deref() == Some(&wanted)),
        None => {
            // Statuses of the default branch, as specified; a commit that is only on other branches shows theirs.
            let at_default = |row: &CommitStatus| row.r#ref.is_none() || row.r#ref == project.default_branch;
            if rows.iter().any(at_default) {
                rows.retain(at_default);
            }
        }
    }
    // Older servers name no order.
    let (order_by, sort): (Option<String>, Option<String>) = (call.option("order_by")?, call.option("sort")?);
    let usual = if call.version >= Version::V18 { "asc" } else { "desc" };
    let descending = call.descending(sort.as_deref(), usual)?;
    let order = call.choice_or_first("order_by", order_by.as_deref(), &["id", "pipeline_id"])?;
    let key = |row: &CommitStatus| (row.pipeline_id.filter(|_| order == "pipeline_id"), row.id);
    rows.sort_by_key(key);
    if descending {
        rows.reverse();
    }
    call.page(rows, |row| row)
}

fn show_status<W>(call: &super::call::Call<W>, status: &records::CommitStatus) -> CommitStatus
where
    W: std::ops::Deref<Target = super::world::World>,
{
    CommitStatus {
        id: status.id,
        sha: status.sha.clone(),
        r#ref: status.ref_name.clone(),
        status: status.status.as_str().into(),
        name: status.name.clone(),
        target_url: status.target_url.clone(),
        description: status.description.clone(),
        coverage: status.coverage,
        allow_failure: status.allow_failure,
        created_at: Some(time(status.created_at)),
        started_at: optional_time(status.started_at),
        finished_at: optional_time(status.finished_at),
        author: Some(call.user_summary(status.author)),
        pipeline_id: Some(status.pipeline),
    }
}

fn set_status(call: &mut WriteCall, input: SetCommitStatus) -> Outcome<CommitStatus> {
    let project: Project = call.project_as(&input.id, level::DEVELOPER)?.clone();
    let git = call.git(&project)?;
    let author = call.require_user()?.id;
    if input.coverage.is_some_and(|coverage| !coverage.is_finite()) {
        return Err(Rejection::invalid("coverage"));
    }
    let known = CommitStatusState::KNOWN.contains(&input.state.as_str());
    let status = Status::from_name(&input.state).filter(|_| known).ok_or_else(|| Rejection::no_valid_value("state"))?;
    let id = find(&git, &input.sha)?;
    let sha = id.to_string();
    let ref_name = match input.r#ref {
        Some(name) => name,
        None => {
            let containing = git.heads_containing(&git.branches(&call.cache)?, id)?;
            let default = containing.iter().find(|head| Some(&head.name) == project.default_branch.as_ref());
            let head = default.or(containing.first()).ok_or_else(|| Rejection::not_found("References for commit"))?;
            head.name.clone()
        }
    };
    let name = input.name.or(input.context).filter(|n| !n.is_empty()).unwrap_or_else(|| "default".into());
    let now = call.now;
    let world = &mut *call.world;
    let pipeline = world
        .top_level_pipelines()
        .rev()
        .find(|p| p.project == project.id && p.sha == sha && p.ref_name == ref_name)
        .map(|p| p.id);
    let pipeline = pipeline.unwrap_or_else(|| {
        world.add_pipeline(Pipeline {
            project: project.id,
            ref_name: ref_name.clone(),
            sha: sha.clone(),
            status,
            user: Some(author),
            created_at: now,
            external: true,
            ..Pipeline::default()
        })
    });
    let same =
        |s: &&records::CommitStatus| s.pipeline == pipeline && s.name == name && s.author == author && !s.retried;
    let known = world.commit_statuses.iter().find(same).map(|s| (s.id, s.status));
    let row = match known {
        Some((_, Status::Running)) if status == Status::Pending => {
            let why = "Cannot transition status via :enqueue from :running";
            return Err(Rejection::bad_request(format!("{why} (Reason(s): Status cannot transition via \"enqueue\")")));
        }
        Some((id, Status::Pending | Status::Running)) => id,
        other => {
            if let Some(old) = other.and_then(|(id, _)| world.commit_statuses.get_mut(id)) {
                old.retried = true;
            }
            // Statuses are listed together with jobs, so their IDs must be distinct.
            let id = world.jobs.next_id();
            world.commit_statuses.add(records::CommitStatus {
                id,
                project: project.id,
                pipeline,
                sha,
                ref_name: Some(ref_name),
                name,
                author,
                created_at: now,
                ..records::CommitStatus::default()
            })
        }
    };
    let Some(row) = world.commit_statuses.get_mut(row) else { return Err(Rejection::record_not_found()) };
    row.status = status;
    row.target_url = input.target_url.or(row.target_url.take());
    row.description = input.description.or(row.description.take());
    row.coverage = input.coverage.or(row.coverage);
    if row.started_at.is_none() && status != Status::Pending {
        row.started_at = Some(now);
    }
    row.finished_at = status.is_finished().then_some(now);
    let row = row.clone();
    update_external_status(call.world, pipeline, now);
    record_project_activity(call.world, project.id, now)?;
    ok(show_status(call, &row))
}

/// Sets the status of a pipeline without jobs from the posted commit statuses.
fn update_external_status(world: &mut super::world::World, pipeline: u64, now: jiff::Timestamp) {
    if world.pipelines.get(pipeline).is_none_or(|p| !p.external) {
        return;
    }
    let of_pipeline = |s: &&records::CommitStatus| s.pipeline == pipeline && !s.retried;
    let states: Vec<Status> = world.commit_statuses.iter().filter(of_pipeline).map(|s| s.status).collect();
    let any = |wanted: Status| states.contains(&wanted);
    let ranked = [Status::Running, Status::Pending, Status::Failed, Status::Canceled];
    let status = ranked.into_iter().find(|status| any(*status)).unwrap_or(Status::Success);
    if let Some(pipeline) = world.pipelines.get_mut(pipeline) {
        pipeline.status = status;
        pipeline.finished_at = status.is_finished().then_some(now);
    }
}
