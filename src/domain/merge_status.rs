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

/// The statuses, each with the text that follows "it" in a sentence and the kind of obstacle.
const STATUSES: &[(&str, &str, Obstacle)] = &[
    ("mergeable", "can be merged", Nothing),
    ("can_be_merged", "can be merged", Nothing),
    ("unchecked", "is being checked", Unchecked),
    ("checking", "is being checked", Unchecked),
    ("preparing", "is being checked", Unchecked),
    ("approvals_syncing", "is being checked", Unchecked),
    ("conflict", "conflicts with its target branch", Blocked),
    ("cannot_be_merged", "conflicts with its target branch", Blocked),
    ("need_rebase", "must be rebased", Blocked),
    ("commits_status", "has no commits, or its source branch is gone", Blocked),
    ("draft_status", "is a draft: mark it as ready first", Blocked),
    ("not_open", "is not open", Blocked),
    ("ci_must_pass", "needs a successful pipeline", Waiting),
    ("ci_still_running", "waits for its pipeline", Waiting),
    ("discussions_not_resolved", "has unresolved threads", Waiting),
    ("not_approved", "needs approval", Waiting),
    ("requested_changes", "waits for changes that a reviewer requested", Waiting),
    ("merge_request_blocked", "waits for another merge request", Waiting),
    ("merge_time", "cannot be merged before its scheduled time", Waiting),
    ("status_checks_must_pass", "waits for external checks", Waiting),
    ("title_regex", "has a title that breaks the project's rule", Waiting),
    ("security_policy_violations", "violates a security policy", Waiting),
    ("jira_association_missing", "must reference a Jira issue", Waiting),
    ("locked_paths", "changes locked files", Waiting),
    ("locked_lfs_files", "changes locked files", Waiting),
];

/// Returns the explanation of a status. An unknown status keeps the server's own words and counts as
/// [`Obstacle::Waiting`].
pub fn explain(status: &str) -> (Cow<'static, str>, Obstacle) {
    match STATUSES.iter().find(|(name, ..)| *name == status) {
        Some((_, words, obstacle)) => (Cow::Borrowed(words), *obstacle),
        None => (status.replace('_', " ").into(), Waiting),
    }
}

/// Returns whether a status means that the branches conflict.
pub fn is_conflict(status: &str) -> bool {
    matches!(status, "conflict" | "cannot_be_merged")
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
    }
}
