//! Diff versions of merge requests, recorded after each push.

use super::branches::live_diff;
use super::call::{Call, Outcome, ReadCall, WriteCall, ok};
use super::git::Git;
use super::merge_requests::MAX_COMMITS;
use super::mount::Mount;
use super::positions::{PositionUpdate, VersionEnds};
use super::records::{self, MergeRequest, Noteable, State};
use super::rejection::Rejection;
use super::store::repository_path;
use super::world::World;
use crate::presenters::time;
use api::merge_requests::DiffRefs;
use api::notes::Position;
use api::versions::{GetMergeRequestVersion, ListMergeRequestVersions, MergeRequestVersion, VersionDetail};
use git2::Oid;
use jiff::Timestamp;
use std::collections::HashSet;
use std::ops::Deref;
use std::path::Path;

pub fn mount(mount: Mount) -> Mount {
    mount.read_signed_in::<ListMergeRequestVersions>(list).read_signed_in::<GetMergeRequestVersion>(get)
}

impl World {
    /// Returns the versions of a merge request, oldest first.
    pub fn versions_of(&self, mr: u64) -> impl DoubleEndedIterator<Item = &records::Version> {
        self.versions.iter().filter(move |version| version.merge_request == mr)
    }
}

impl<W: Deref<Target = World>> Call<W> {
    /// Returns the commits of a merge request's diff, from its latest version.
    pub fn diff_refs(&self, mr: &MergeRequest) -> Option<DiffRefs> {
        let newest = self.world.versions_of(mr.id).next_back()?;
        Some(DiffRefs {
            base_sha: Some(newest.base.clone()),
            head_sha: Some(newest.head.clone()),
            start_sha: Some(newest.start.clone()),
        })
    }

    fn show_version(&self, version: &records::Version, git: &Git) -> MergeRequestVersion {
        let ends = Oid::from_str(&version.base).ok().zip(Oid::from_str(&version.head).ok());
        let count = ends.and_then(|(base, head)| {
            self.cache.change_counts.get_or_try_init((base, head), || git.count_changes(base, head)).ok()
        });
        let patch_id = ends.and_then(|(base, head)| {
            self.cache.patch_ids.get_or_try_init((base, head), || git.patch_id(base, head)).ok().flatten()
        });
        MergeRequestVersion {
            id: version.id,
            head_commit_sha: Some(version.head.clone()),
            base_commit_sha: Some(version.base.clone()),
            start_commit_sha: Some(version.start.clone()),
            created_at: Some(time(version.created_at)),
            merge_request_id: version.merge_request,
            state: if count == Some(0) { "empty" } else { "collected" }.into(),
            real_size: count.map(|count| count.to_string()),
            patch_id_sha: patch_id.map(|id| id.to_string()),
        }
    }
}

impl<W: Deref<Target = World>> Call<W> {
    /// Translates a position between other commits (of an older version or a single commit) to the current diff of a
    /// merge request. Returns it unchanged if that is not possible.
    pub fn to_current_diff(&self, mr: &MergeRequest, git: &Git, position: &Position) -> Position {
        let newest = self.world.versions_of(mr.id).next_back().and_then(VersionEnds::of);
        let id = |sha: &Option<String>| Oid::from_str(sha.as_deref()?).ok();
        let from = || {
            Some(VersionEnds {
                base: id(&position.base_sha)?,
                start: id(&position.start_sha)?,
                head: id(&position.head_sha)?,
            })
        };
        let ends = from().zip(newest).filter(|(from, to)| (from.base, from.head) != (to.base, to.head));
        let updated = ends.and_then(|(from, to)| PositionUpdate::new(git, from, to).ok()?.position(position));
        updated.unwrap_or_else(|| position.clone())
    }
}

fn list(call: &ReadCall, input: ListMergeRequestVersions) -> Outcome<Vec<MergeRequestVersion>> {
    let (_, mr, git) = call.merge_request(&input.id, input.merge_request_iid)?;
    call.make_fork_commits_available(mr, &git);
    call.page(call.world.versions_of(mr.id).rev().collect(), |version| call.show_version(version, &git))
}

fn get(call: &ReadCall, input: GetMergeRequestVersion) -> Outcome<VersionDetail> {
    let (_, mr, git) = call.merge_request(&input.id, input.merge_request_iid)?;
    call.make_fork_commits_available(mr, &git);
    let found = call.world.versions.get(input.version_id).filter(|version| version.merge_request == mr.id);
    let version = found.ok_or_else(Rejection::record_not_found)?;
    let id = |sha: &str| Oid::from_str(sha).map_err(|_| Rejection::record_not_found());
    let (base, head) = (id(&version.base)?, id(&version.head)?);
    let commits = git.between(base, head, MAX_COMMITS)?.0;
    ok(VersionDetail {
        version: call.show_version(version, &git),
        commits: commits.into_iter().map(|id| git.show(id)).collect::<Result<_, Rejection>>()?,
        diffs: call.show_diffs(git.changes(Some(base), head)?.entries)?,
    })
}

impl WriteCall<'_> {
    /// Records new versions of the open merge requests of a branch after a push.
    pub fn add_versions(&mut self, project: u64, branch: &str) {
        let is_source = |mr: &&MergeRequest| {
            mr.state == State::Opened && mr.source_project == project && mr.source_branch == branch
        };
        let open: Vec<MergeRequest> = self.world.merge_requests.iter().filter(is_source).cloned().collect();
        for mr in &open {
            let Some(git) = self.target_repository(mr) else { continue };
            if let Some((before, after)) = self.add_version(mr, &git) {
                self.note_new_commits(mr, &git, &before, &after);
            }
        }
    }

    /// Records new versions of the open merge requests into a branch after a push: of all if it was forced, and else of
    /// those of whose commits it brought some, as the branch of a stack does. `git` is the repository of the branch, and
    /// `(before, after)` are its heads.
    pub fn add_versions_of_target(&mut self, project: u64, git: &Git, branch: &str, (before, after): (Oid, Oid)) {
        let is_target = |mr: &&MergeRequest| {
            mr.state == State::Opened && mr.target_project == project && mr.target_branch == branch
        };
        let open: Vec<MergeRequest> = self.world.merge_requests.iter().filter(is_target).cloned().collect();
        if open.is_empty() {
            return;
        }
        let is_forced = !git.history_contains(after, before);
        let pushed = self.commits_between(git, before, after);
        let pushed: HashSet<&Oid> = pushed.iter().collect();
        for mr in &open {
            let ends = self.world.versions_of(mr.id).next_back().and_then(VersionEnds::of);
            let own = ends.map(|ends| self.commits_between(git, ends.base, ends.head)).unwrap_or_default();
            if is_forced || own.iter().any(|id| pushed.contains(id)) {
                self.add_version(mr, git);
            }
        }
    }

    /// Opens the repository of the target project.
    pub fn target_repository(&self, mr: &MergeRequest) -> Option<Git> {
        self.git(self.world.projects.get(mr.target_project)?).ok()
    }

    /// Records a new version of a merge request if its diff has changed, and returns the ends of the version before and
    /// of the new one. `git` is the target's repository.
    pub fn add_version(&mut self, mr: &MergeRequest, git: &Git) -> Option<(VersionEnds, VersionEnds)> {
        let (start, ends) = git.branch_head(&mr.target_branch).zip(self.diff_ends(mr, git))?;
        let before = self.world.versions_of(mr.id).next_back().and_then(VersionEnds::of);
        add(self.world, mr.id, (start, ends.base, ends.head), self.now);
        self.point_refs(mr, git, (start, ends.base, ends.head));
        let after = self.world.versions_of(mr.id).next_back().and_then(VersionEnds::of);
        let (before, after) = before.zip(after).filter(|(before, after)| before != after)?;
        self.update_positions(mr.id, git, before, after);
        Some((before, after))
    }

    /// Points the refs of a merge request at the ends of its newest version.
    fn point_refs(&self, mr: &MergeRequest, git: &Git, (start, base, head): (Oid, Oid, Oid)) {
        let pointed = point_ref(git, &self.repositories, mr, (start, head));
        if let Err(why) = pointed.and_then(|()| if self.forgets_heads { Ok(()) } else { keep(git, [base, head]) }) {
            tracing::warn!("the head of !{} cannot be fetched: {}", mr.iid, why.body);
        }
    }

    /// Updates the positions of threads whose lines a push left unchanged. Other threads are resolved if the project is
    /// configured to do so.
    fn update_positions(&mut self, mr: u64, git: &Git, before: VersionEnds, after: VersionEnds) {
        let head = before.head.to_string();
        let is_current = |position: &&Position| position.head_sha.as_ref() == Some(&head);
        let of_request = |note: &&records::Note| note.on == Noteable::MergeRequest(mr);
        let positioned = |note: &records::Note| Some((note.id, note.position.as_ref().filter(is_current)?.clone()));
        let positioned: Vec<(u64, Position)> =
            self.world.notes.iter().filter(of_request).filter_map(positioned).collect();
        let Some(update) = (!positioned.is_empty()).then(|| PositionUpdate::new(git, before, after).ok()).flatten()
        else {
            return;
        };
        let target = self.world.merge_requests.get(mr).and_then(|mr| self.world.projects.get(mr.target_project));
        let resolves = target.is_some_and(|project| project.resolve_outdated_diff_discussions);
        let (user, now) = (self.rights.user, self.now);
        for (id, position) in positioned {
            let updated = update.position(&position);
            let Some(note) = self.world.notes.get_mut(id) else { continue };
            match updated {
                Some(position) => note.position = Some(position),
                None if resolves && note.is_unresolved() => (note.resolved_by, note.resolved_at) = (user, Some(now)),
                None => {}
            }
        }
    }
}

/// Points the ref with which clients fetch a merge request at its head. The commits of a fork are copied for that. `git` is
/// the target's repository, and `start` the head of the target branch.
fn point_ref(git: &Git, repositories: &Path, mr: &MergeRequest, (start, head): (Oid, Oid)) -> Result<(), Rejection> {
    let name = format!("refs/merge-requests/{}/head", mr.iid);
    let before = git.target(&name);
    if before == Some(head) {
        return Ok(());
    }
    let is_from_fork = mr.source_project != mr.target_project;
    if is_from_fork && !Git::open(&repository_path(repositories, mr.target_project), None)?.has_commit(head) {
        git.copy_missing_objects(head, start)?;
    }
    git.set_ref(&name, before, Some(head))
}

/// Keeps commits that no branch may have later, such as the ends of a version after a force-push: `git gc` would remove
/// them.
fn keep(git: &Git, commits: [Oid; 2]) -> Result<(), Rejection> {
    for commit in commits {
        let name = format!("refs/keep-around/{commit}");
        if git.target(&name).is_none() {
            git.set_ref(&name, None, Some(commit))?;
        }
    }
    Ok(())
}

/// Adds a version unless it equals the latest one.
fn add(world: &mut World, mr: u64, (start, base, head): (Oid, Oid, Oid), now: Timestamp) {
    let version = records::Version {
        merge_request: mr,
        base: base.to_string(),
        start: start.to_string(),
        head: head.to_string(),
        created_at: now,
        ..records::Version::default()
    };
    let newest = world.versions_of(mr).next_back();
    if newest.is_none_or(|newest| (&newest.base, &newest.head) != (&version.base, &version.head)) {
        world.versions.add(version);
    }
}

/// Records versions of merge requests whose branches moved while the server was not running, and of merge requests from
/// earlier versions of labscope.
pub fn catch_up(world: &mut World, repositories: &Path, now: Timestamp) {
    let oid = |text: &str| Oid::from_str(text).ok();
    let found = |mr: &MergeRequest| match &mr.range {
        _ if mr.state == State::Opened => live_diff(mr, repositories),
        Some(range) if world.versions_of(mr.id).next().is_none() => {
            let base = oid(&range.base)?;
            Some((base, base, oid(&range.head)?))
        }
        _ => None,
    };
    let all: Vec<_> = world.merge_requests.iter().filter_map(|mr| Some((mr.id, found(mr)?))).collect();
    for (id, ends) in all {
        add(world, id, ends, now);
        let Some(mr) = world.merge_requests.get(id).filter(|mr| mr.state == State::Opened) else { continue };
        let (start, base, head) = ends;
        let point = || {
            let git = Git::open(&repository_path(repositories, mr.target_project), None)?;
            // Nothing is added if the commits are here already.
            git.add_alternate(&repository_path(repositories, mr.source_project).join("objects"));
            point_ref(&git, repositories, mr, (start, head))?;
            keep(&git, [base, head])
        };
        if let Err(why) = point() {
            tracing::warn!("the head of !{} cannot be fetched: {}", mr.iid, why.body);
        }
    }
}
