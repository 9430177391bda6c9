//! Explains the merge status of a merge request (`detailed_merge_status`, `merge_status`) in words.

use std::borrow::Cow;

/// The kind of obstacle to a merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// No obstacle.
    Nothing,
    /// The server is still checking.
    Unchecked,
    /// A condition that can pass without a change: a pipeline, an approval, a thread.
    Waiting,
    /// A condition that requires a change first.
    Blocked,
}

use Obstacle::{Blocked, Nothing, Unchecked, Waiting};

/// A command that lets a check pass: its ID, and what its key does.
pub type Fix = (&'static str, &'static str);

/// A status: what the server calls it, a word or two for lists, what it wants, the kind of obstacle, and the command
/// that lets it pass.
type StatusRow = (&'static str, &'static str, &'static str, Obstacle, Fix);

const WAIT: Fix = ("refresh", "asks again");
const PAGE: Fix = ("browse", "opens its web page");
const EDIT: Fix = ("mr.change", "edits it");
const JOBS: Fix = ("mr.jobs", "shows the jobs");

/// The statuses of GitLab 10.6 to 19.5. `broken_status` and `policies_denied` are of servers from 15.6 to 16; the former
/// is any of the reasons that it lists. `blocked_status`, `external_status_checks` and `jira_association` are names of the
/// documentation and of GraphQL. A server names the first check that does not pass, and the pipeline after all others
/// (GitLab's `app/services/merge_requests/mergeability/detailed_merge_status_service.rb`).
const STATUSES: &[StatusRow] = &[
    ("mergeable", "ready", "can be merged", Nothing, WAIT),
    ("can_be_merged", "ready", "can be merged", Nothing, WAIT),
    ("unchecked", "unchecked", "is being checked", Unchecked, WAIT),
    ("cannot_be_merged_recheck", "checking", "is being checked", Unchecked, WAIT),
    ("cannot_be_merged_rechecking", "checking", "is being checked", Unchecked, WAIT),
    ("checking", "checking", "is being checked", Unchecked, WAIT),
    ("preparing", "preparing", "is being prepared", Unchecked, WAIT),
    ("approvals_syncing", "checking", "is being checked", Unchecked, WAIT),
    ("conflict", "conflicts", "conflicts must be resolved", Blocked, PAGE),
    ("cannot_be_merged", "conflicts", "conflicts must be resolved", Blocked, PAGE),
    ("broken_status", "conflicts", "must have commits, a source branch and no conflicts", Blocked, PAGE),
    ("need_rebase", "rebase", "must be rebased", Blocked, ("mr.rebase", "rebases it")),
    ("commits_status", "no commits", "must have commits and a source branch", Blocked, PAGE),
    ("draft_status", "draft", "must not be a draft", Blocked, ("mr.draft", "marks it as ready")),
    ("not_open", "not open", "must be open", Blocked, ("mr.close", "reopens it")),
    ("ci_must_pass", "pipeline", "pipeline must succeed", Waiting, JOBS),
    ("ci_still_running", "pipeline", "pipeline must succeed", Waiting, JOBS),
    (
        "discussions_not_resolved",
        "threads",
        "threads must be resolved",
        Waiting,
        ("mr.next_thread", "goes to the next"),
    ),
    ("not_approved", "approval", "must be approved", Waiting, ("mr.approve", "approves it")),
    (
        "requested_changes",
        "changes requested",
        "requested changes must be approved",
        Waiting,
        ("mr.request_review", "asks for another review"),
    ),
    ("merge_request_blocked", "blocked", "dependencies must be merged", Waiting, ("mr.linked", "opens them")),
    ("blocked_status", "blocked", "dependencies must be merged", Waiting, ("mr.linked", "opens them")),
    ("merge_time", "scheduled", "scheduled time must come", Waiting, EDIT),
    ("status_checks_must_pass", "checks", "external checks must pass", Waiting, PAGE),
    ("external_status_checks", "checks", "external checks must pass", Waiting, PAGE),
    ("title_regex", "title", "title must match the rule of the project", Waiting, EDIT),
    ("security_policy_violations", "policy", "security policies must be met", Waiting, PAGE),
    ("security_policy_pipeline_check", "policy", "pipeline of a security policy must end", Waiting, PAGE),
    ("security_policy_evaluation", "policy", "security policies must be evaluated", Waiting, PAGE),
    ("policies_denied", "policy", "licenses must be allowed by the policy", Waiting, PAGE),
    ("jira_association_missing", "Jira issue", "must reference a Jira issue", Waiting, EDIT),
    ("jira_association", "Jira issue", "must reference a Jira issue", Waiting, EDIT),
    ("locked_paths", "locked files", "changed files must not be locked", Waiting, PAGE),
    ("locked_lfs_files", "locked files", "changed files must not be locked", Waiting, PAGE),
];

fn find(status: &str) -> Option<&'static StatusRow> {
    STATUSES.iter().find(|(name, ..)| *name == status)
}

/// Returns what a check wants, the kind of obstacle, and the command that lets it pass; for an unknown status the server's
/// own words, [`Obstacle::Waiting`] and its web page.
pub fn check(status: &str) -> (Cow<'static, str>, Obstacle, Fix) {
    match find(status) {
        Some(row) => (row.2.into(), row.3, row.4),
        None => (status.replace('_', " ").into(), Waiting, PAGE),
    }
}

/// Returns a status in a word or two, for lists.
pub fn brief(status: &str) -> (Cow<'static, str>, Obstacle) {
    find(status).map_or_else(|| (status.replace('_', " ").into(), Waiting), |row| (row.1.into(), row.3))
}

/// Returns the kind of obstacle that a status means.
pub fn obstacle(status: &str) -> Obstacle {
    find(status).map_or(Waiting, |row| row.3)
}

/// Returns whether a merge is blocked until something is changed.
pub fn is_blocked(status: &str) -> bool {
    obstacle(status) == Blocked
}

/// Returns whether a status means that the branches conflict.
pub fn is_conflict(status: &str) -> bool {
    brief(status).0 == "conflicts"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_statuses_are_explained_and_unknown_ones_shown() {
        assert_eq!(check("mergeable"), check("can_be_merged"));
        assert_eq!(check("conflict").1, Blocked);
        assert_eq!(check("ci_still_running").1, Waiting);
        assert_eq!(check("moon_phase"), ("moon phase".into(), Waiting, PAGE));
        assert_eq!(brief("moon_phase"), ("moon phase".into(), Waiting));
        for (name, brief, wants, ..) in STATUSES {
            assert!(!brief.is_empty() && brief.len() <= 17 && !wants.is_empty() && wants.len() <= 60, "{name}");
        }
    }
}
