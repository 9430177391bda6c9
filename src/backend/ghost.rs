//! The contributions of deleted users: they are assigned to the ghost user, or deleted too.

use super::records::{Noteable, User};
use super::world::{Table, World};
use crate::records::Record;
use jiff::Timestamp;
use std::collections::BTreeSet;

/// Returns the ghost user, who becomes the author of contributions of deleted users; created on first use.
fn ghost(world: &mut World, now: Timestamp) -> u64 {
    if let Some(ghost) = world.users.iter().find(|user| user.is_ghost) {
        return ghost.id;
    }
    let numbered = (1..).map(|n| format!("ghost{n}"));
    let mut names = std::iter::once("ghost".to_owned()).chain(numbered);
    let username = names.find(|name| world.user_named(name).is_none()).unwrap_or_default();
    let email = format!("{username}@localhost");
    let name = "Ghost User".to_owned();
    world.add_user(User { username, name, email, is_ghost: true, created_at: now, updated_at: now, ..User::default() })
}

/// Changes the rows for which `is_it` returns true.
fn change<T: Record>(table: &mut Table<T>, is_it: impl Fn(&T) -> bool, change: impl Fn(&mut T)) {
    let ids: Vec<u64> = table.iter().filter(|row| is_it(row)).map(Record::id).collect();
    for id in ids {
        if let Some(row) = table.get_mut(id) {
            change(row);
        }
    }
}

/// Assigns a user's contributions to the ghost user, and removes the user from everything else.
pub fn reassign_contributions(world: &mut World, id: u64, now: Timestamp) {
    let wrote = world.notes.iter().any(|row| row.author == id)
        || world.notes.iter().any(|row| row.resolved_by == Some(id))
        || world.merge_requests.iter().any(|row| [Some(row.author), row.merged_by, row.closed_by].contains(&Some(id)))
        || world.issues.iter().any(|row| row.author == id || row.closed_by == Some(id))
        || world.epics.iter().any(|row| row.author == id)
        || world.snippets.iter().any(|row| row.author == id)
        || world.commit_comments.iter().any(|row| row.author == id)
        || world.commit_statuses.iter().any(|row| row.author == id)
        || world.todos.iter().any(|row| row.author == id)
        || world.deployments.iter().any(|row| row.user == id);
    if wrote {
        let ghost = ghost(world, now);
        let others = |user: &mut Option<u64>| *user = user.map(|user| if user == id { ghost } else { user });
        change(&mut world.notes, |row| row.author == id, |row| row.author = ghost);
        change(&mut world.notes, |row| row.resolved_by == Some(id), |row| others(&mut row.resolved_by));
        change(&mut world.merge_requests, |row| row.author == id, |row| row.author = ghost);
        change(&mut world.merge_requests, |row| row.merged_by == Some(id), |row| others(&mut row.merged_by));
        change(&mut world.merge_requests, |row| row.closed_by == Some(id), |row| others(&mut row.closed_by));
        change(&mut world.issues, |row| row.author == id, |row| row.author = ghost);
        change(&mut world.issues, |row| row.closed_by == Some(id), |row| others(&mut row.closed_by));
        change(&mut world.epics, |row| row.author == id, |row| row.author = ghost);
        change(&mut world.todos, |row| row.author == id, |row| row.author = ghost);
        change(&mut world.snippets, |row| row.author == id, |row| row.author = ghost);
        change(&mut world.commit_comments, |row| row.author == id, |row| row.author = ghost);
        change(&mut world.commit_statuses, |row| row.author == id, |row| row.author = ghost);
        change(&mut world.deployments, |row| row.user == id, |row| row.user = ghost);
    }
    world.draft_notes.remove_where(|draft| draft.author == id);
    world.pushes.remove_where(|push| push.author == id);
    change(
        &mut world.merge_requests,
        |row| row.assignees().any(|user| user == id),
        |row| row.set_assignees(row.assignees().filter(|user| *user != id).collect::<Vec<_>>()),
    );
    change(
        &mut world.merge_requests,
        |row| row.reviewers.iter().any(|reviewer| reviewer.user == id),
        |row| row.reviewers.retain(|reviewer| reviewer.user != id),
    );
    change(&mut world.issues, |row| row.assignees.contains(&id), |row| row.assignees.retain(|user| *user != id));
    change(&mut world.projects, |row| row.stars.contains(&id), |row| _ = row.stars.remove(&id));
    change(&mut world.merge_requests, |row| row.subscribers.contains(&id), |row| _ = row.subscribers.remove(&id));
    change(&mut world.issues, |row| row.subscribers.contains(&id), |row| _ = row.subscribers.remove(&id));
    change(&mut world.labels, |row| row.subscribers.contains(&id), |row| _ = row.subscribers.remove(&id));
    change(&mut world.merge_requests, |row| row.approvals.contains_key(&id), |row| _ = row.approvals.remove(&id));
    world.awards.remove_where(|award| award.user == id);
}

/// Removes a user's contributions, with the notes of others on them.
pub fn remove_contributions(world: &mut World, id: u64) {
    let requests = world.merge_requests.remove_where(|row| row.author == id);
    for mr in &requests {
        if let Some(project) = world.projects.get_mut(mr.target_project) {
            project.last_request_iid = project.last_request_iid.max(mr.iid);
        }
    }
    let requests: BTreeSet<u64> = requests.iter().map(|row| row.id).collect();
    world.versions.remove_where(|version| requests.contains(&version.merge_request));
    world.draft_notes.remove_where(|draft| requests.contains(&draft.merge_request));
    let issues = world.issues.remove_where(|row| row.author == id);
    for issue in &issues {
        if let Some(project) = world.projects.get_mut(issue.project) {
            project.last_issue_iid = project.last_issue_iid.max(issue.iid);
        }
    }
    let issues: BTreeSet<u64> = issues.iter().map(|row| row.id).collect();
    let snippets: BTreeSet<u64> =
        world.snippets.remove_where(|row| row.author == id).iter().map(|row| row.id).collect();
    world.remove_notes(|note| {
        note.author == id
            || match note.on {
                Noteable::MergeRequest(on) => requests.contains(&on),
                Noteable::Issue(on) => issues.contains(&on),
                Noteable::Snippet(on) => snippets.contains(&on),
                Noteable::Epic(_) => false,
            }
    });
    world.remove_orphans();
    world.commit_comments.remove_where(|row| row.author == id);
    world.commit_statuses.remove_where(|row| row.author == id);
}
