//! A one-word summary of what blocks a merge, for lists.

use crate::api::merge_requests::MergeRequest;
use crate::domain::merge_status::{self, Obstacle};
use crate::store::Rows;
use crate::ui::glyph;
use crate::ui::line::Line;
use crate::ui::theme::Role;
use std::borrow::Cow;
use std::time::Duration;

/// The number of rows of a list that are looked at.
const MAX_CHECKED_ROWS: usize = 200;

/// Returns the role of an obstacle to a merge.
fn role(obstacle: Obstacle) -> Role {
    match obstacle {
        Obstacle::Nothing => Role::Success,
        Obstacle::Unchecked => Role::Dim,
        Obstacle::Waiting => Role::Warning,
        Obstacle::Blocked => Role::Failed,
    }
}

/// Returns the words and their role; empty if the list does not contain the status or there is nothing to report.
pub fn brief(merge_request: &MergeRequest) -> (Cow<'static, str>, Role) {
    if !merge_request.is_open() {
        return ("".into(), Role::Dim);
    }
    if has_conflicts(merge_request) {
        return ("conflicts".into(), Role::Failed);
    }
    if merge_request.blocking_discussions_resolved == Some(false) {
        return ("threads".into(), Role::Warning);
    }
    let (words, obstacle) =
        merge_request.merge_status().map(merge_status::brief).unwrap_or(("".into(), Obstacle::Nothing));
    (words, role(obstacle))
}

/// Returns the words after their sign, as a cell of a list.
pub fn cell(words: Cow<'static, str>, role: Role) -> Line<'static> {
    let sign = match role {
        _ if words.is_empty() => "",
        Role::Success => glyph::done(),
        Role::Failed => glyph::wrong(),
        _ => glyph::busy(),
    };
    (glyph::signed(sign, &words), role).into()
}

/// Returns what the list says of a merge request, as a cell.
pub fn of(merge_request: &MergeRequest) -> Line<'static> {
    let (words, role) = brief(merge_request);
    cell(words, role)
}

/// Returns whether the branches are known to conflict.
pub fn has_conflicts(merge_request: &MergeRequest) -> bool {
    let says_so = || merge_request.merge_status().is_some_and(merge_status::is_conflict);
    merge_request.is_open() && (merge_request.has_conflicts == Some(true) || says_so())
}

/// Returns whether the server is still working out whether it can be merged.
pub fn is_unchecked(merge_request: &MergeRequest) -> bool {
    let status = merge_request.merge_status().filter(|_| merge_request.is_open());
    status.is_some_and(|status| merge_status::brief(status).1 == Obstacle::Unchecked)
}

/// Returns the pause before a list is requested again because the server is still working that out for some rows.
pub fn recheck_after(rows: &Rows<'_, MergeRequest>) -> Option<Duration> {
    rows.recheck_after().filter(|_| rows.iter().take(MAX_CHECKED_ROWS).any(is_unchecked))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conflicts_come_first_and_every_status_has_words() {
        let of = |json: &str| brief(&serde_json::from_str(json).expect("a merge request")).0;
        let status = |word: &str| of(&format!(r#"{{"state": "opened", "detailed_merge_status": "{word}"}}"#));
        for (name, words) in [
            ("mergeable", "ready"),
            ("not_approved", "approval"),
            ("security_policy_violations", "policy"),
            ("policies_denied", "policy"),
            ("security_policy_evaluation", "policy"),
            ("status_checks_must_pass", "checks"),
            ("merge_request_blocked", "blocked"),
            ("cannot_be_merged_rechecking", "checking"),
            ("merge_time", "scheduled"),
            ("jira_association_missing", "Jira issue"),
            ("locked_paths", "locked files"),
            ("title_regex", "title"),
            ("preparing", "preparing"),
            ("approvals_syncing", "checking"),
            ("commits_status", "no commits"),
            ("broken_status", "conflicts"),
            ("blocked_status", "blocked"),
            ("external_status_checks", "checks"),
            ("moon_phase", "moon phase"),
        ] {
            assert_eq!(status(name), words, "{name}");
        }
        let both = r#"{"state": "opened", "has_conflicts": true, "blocking_discussions_resolved": false}"#;
        assert_eq!(of(both), "conflicts");
        assert_eq!(of(r#"{"state": "merged", "detailed_merge_status": "not_open"}"#), "");
    }
}
