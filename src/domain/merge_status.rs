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

/// The statuses, each with a word or two for lists, the text that follows "it" in a sentence, and the kind of obstacle.
/// `broken_status` and `policies_denied` are of servers from 15.6 to 16; the former is any of the reasons that it lists.
/// `blocked_status`, `external_status_checks` and `jira_association` are names of the documentation and of GraphQL.
const STATUSES: &[(&str, &str, &str, Obstacle)] = &[
    ("mergeable", "ready", "can be merged", Nothing),
    ("can_be_merged", "ready", "can be merged", Nothing),
    ("unchecked", "unchecked", "is being checked", Unchecked),
    ("cannot_be_merged_recheck", "checking", "is being checked", Unchecked),
    ("cannot_be_merged_rechecking", "checking", "is being checked", Unchecked),
    ("checking", "checking", "is being checked", Unchecked),
    ("preparing", "preparing", "is being prepared", Unchecked),
    ("approvals_syncing", "checking", "is being checked", Unchecked),
    ("conflict", "conflicts", "conflicts with its target branch", Blocked),
    ("cannot_be_merged", "conflicts", "conflicts with its target branch", Blocked),
    ("broken_status", "conflicts", "conflicts with its target branch, or has no commits or no source branch", Blocked),
    ("need_rebase", "rebase", "must be rebased", Blocked),
    ("commits_status", "no commits", "has no commits, or its source branch is gone", Blocked),
    ("draft_status", "draft", "is a draft: mark it as ready first", Blocked),
    ("not_open", "not open", "is not open", Blocked),
    ("ci_must_pass", "pipeline", "needs a successful pipeline", Waiting),
    ("ci_still_running", "pipeline", "waits for its pipeline", Waiting),
    ("discussions_not_resolved", "threads", "has unresolved threads", Waiting),
    ("not_approved", "approval", "needs approval", Waiting),
    ("requested_changes", "changes requested", "waits for changes that a reviewer requested", Waiting),
    ("merge_request_blocked", "blocked", "waits for another merge request", Waiting),
    ("blocked_status", "blocked", "waits for another merge request", Waiting),
    ("merge_time", "scheduled", "cannot be merged before its scheduled time", Waiting),
    ("status_checks_must_pass", "checks", "waits for external checks", Waiting),
    ("external_status_checks", "checks", "waits for external checks", Waiting),
    ("title_regex", "title", "has a title that breaks the project's rule", Waiting),
    ("security_policy_violations", "policy", "violates a security policy", Waiting),
    ("security_policy_pipeline_check", "policy", "waits for the pipeline of a security policy", Waiting),
    ("security_policy_evaluation", "policy", "waits for the evaluation of security policies", Waiting),
    ("policies_denied", "policy", "has licenses that a policy denies", Waiting),
    ("jira_association_missing", "Jira issue", "must reference a Jira issue", Waiting),
    ("jira_association", "Jira issue", "must reference a Jira issue", Waiting),
    ("locked_paths", "locked files", "changes locked files", Waiting),
    ("locked_lfs_files", "locked files", "changes locked files", Waiting),
];

/// Returns the status in words: those of a column of the table, or else the server's own. An unknown status counts as
/// [`Obstacle::Waiting`].
fn words(
    status: &str,
    column: fn(&(&'static str, &'static str, &'static str, Obstacle)) -> &'static str,
) -> (Cow<'static, str>, Obstacle) {
    match STATUSES.iter().find(|(name, ..)| *name == status) {
        Some(row) => (Cow::Borrowed(column(row)), row.3),
        None => (status.replace('_', " ").into(), Waiting),
    }
}

/// Returns the explanation of a status, to follow "it" in a sentence.
pub fn explain(status: &str) -> (Cow<'static, str>, Obstacle) {
    words(status, |row| row.2)
}

/// Returns a status in a word or two, for lists.
pub fn brief(status: &str) -> (Cow<'static, str>, Obstacle) {
    words(status, |row| row.1)
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
        assert_eq!(explain("mergeable"), explain("can_be_merged"));
        assert_eq!(explain("conflict").1, Blocked);
        assert_eq!(explain("ci_still_running").1, Waiting);
        assert_eq!(explain("moon_phase"), ("moon phase".into(), Waiting));
        assert_eq!(brief("moon_phase"), ("moon phase".into(), Waiting));
        assert!(
            STATUSES.iter().all(|(_, brief, words, _)| !brief.is_empty() && brief.len() <= 17 && !words.is_empty())
        );
    }
}
