//! Pushes as others see them: the events of a project, and the notes on merge requests that get new commits.

use super::call::{Call, WriteCall};
use super::git::Git;
use super::positions::VersionEnds;
use super::presenters::escape_html;
use super::records::{MergeRequest, Push};
use super::world::World;
use git2::Oid;
use std::collections::HashSet;
use std::fmt::Write as _;
use std::ops::Deref;
use std::sync::Arc;

/// The maximum number of commits that are counted.
pub const MAX_COUNTED_COMMITS: usize = 5_000;
/// The maximum number of commits that a note lists.
const MAX_LISTED_COMMITS: usize = 100;
/// The number of characters of a commit ID in a note.
const SHORT: usize = 8;

impl<W: Deref<Target = World>> Call<W> {
    /// Returns the commits of `to` that are not in the history of `from`, newest first, as far as they are counted; none if
    /// they cannot be read. They are kept, because several parts of a push need them.
    pub fn commits_between(&self, git: &Git, from: Oid, to: Oid) -> Arc<Vec<Oid>> {
        let make = || Ok(Arc::new(git.between(from, to, MAX_COUNTED_COMMITS)?.0));
        self.cache.between.get_or_try_init((from, to), make).unwrap_or_default()
    }
}

impl WriteCall<'_> {
    /// Adds the event of a push of a ref, given by its full name.
    pub fn add_push(&mut self, project: u64, git: &Git, name: &str, before: Option<Oid>, after: Option<Oid>) {
        let (Some(author), Some(project)) = (self.rights.user, self.world.projects.get(project)) else { return };
        // The commits of a new branch that the default branch has are not new.
        let default = || git.branch_head(project.default_branch.as_deref()?);
        let ends = before.or_else(default).zip(after).filter(|_| name.starts_with("refs/heads/"));
        let commits = ends.map_or(0, |(from, to)| self.commits_between(git, from, to).len() as u64);
        let id = |oid: Oid| oid.to_string();
        let push = Push {
            project: project.id,
            author,
            created_at: self.now,
            name: name.to_owned(),
            before: before.map(id),
            after: after.map(id),
            commits,
            // An annotated tag has no commit of its own.
            title: after.and_then(|id| git.show(git.peel(id).ok()??).ok()).map(|commit| commit.title),
            ..Push::default()
        };
        self.world.pushes.add(push);
    }

    /// Adds a system note with the commits that a push added to a merge request. Those that the target branch has are
    /// summed up, as after a rebase. `git` is the target's repository.
    pub fn note_new_commits(&mut self, mr: &MergeRequest, git: &Git, before: &VersionEnds, after: &VersionEnds) {
        let Some(author) = self.rights.user.filter(|_| before.head != after.head) else { return };
        let pushed = self.commits_between(git, before.head, after.head);
        let own = self.commits_between(git, after.start, after.head);
        let own: HashSet<Oid> = own.iter().copied().collect();
        let (new, of_target): (Vec<Oid>, Vec<Oid>) = pushed.iter().rev().partition(|id| own.contains(id));
        let count = |count: usize| format!("{count} commit{}", if count == 1 { "" } else { "s" });
        let mut body = format!("added {}\n\n<ul>", count(new.len() + of_target.len()));
        let short = |id: &Oid| id.to_string().chars().take(SHORT).collect::<String>();
        if let (Some(first), Some(last)) = (of_target.first(), of_target.last()) {
            let ids = if first == last { short(first) } else { format!("{}...{}", short(first), short(last)) };
            let branch = escape_html(&mr.target_branch);
            _ = write!(body, "<li>{ids} - {} from branch <code>{branch}</code></li>", count(of_target.len()));
        }
        for id in new.iter().take(MAX_LISTED_COMMITS) {
            let title = git.show(*id).map(|commit| commit.title).unwrap_or_default();
            _ = write!(body, "<li>{} - {}</li>", short(id), escape_html(&title));
        }
        body.push_str("</ul>");
        if let Some(project) = self.world.projects.get(mr.target_project) {
            let page = self.project_page(project, &format!("merge_requests/{}/diffs", mr.iid));
            _ = write!(body, "\n\n[Compare with previous version]({page}?start_sha={})", before.head);
        }
        self.add_system_note(mr.id, author, body);
    }
}
