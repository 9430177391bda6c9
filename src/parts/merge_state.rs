//! A one-word summary of what blocks a merge, for lists.

use crate::api::merge_requests::MergeRequest;
use crate::ui::theme::Role;

/// Returns the word and its role; empty if the list does not contain the status or there is nothing to report.
pub fn brief(merge_request: &MergeRequest) -> (&'static str, Role) {
    if !merge_request.is_open() {
        return ("", Role::Dim);
    }
    if has_conflicts(merge_request) {
        return ("conflicts", Role::Failed);
    }
    if merge_request.blocking_discussions_resolved == Some(false) {
        return ("threads", Role::Warning);
    }
    match merge_request.merge_status() {
        Some("need_rebase") => ("rebase", Role::Warning),
        Some("discussions_not_resolved") => ("threads", Role::Warning),
        Some("not_approved") => ("approval", Role::Warning),
        Some("requested_changes") => ("changes", Role::Warning),
        Some("ci_must_pass" | "ci_still_running") => ("pipeline", Role::Warning),
        Some("mergeable" | "can_be_merged") => ("ready", Role::Success),
        _ => ("", Role::Dim),
    }
}

/// Returns whether the branches are known to conflict.
pub fn has_conflicts(merge_request: &MergeRequest) -> bool {
    let says_so = || matches!(merge_request.merge_status(), Some("conflict" | "cannot_be_merged"));
    merge_request.is_open() && (merge_request.has_conflicts == Some(true) || says_so())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conflicts_come_first_and_unknown_statuses_are_empty() {
        let of = |json: &str| brief(&serde_json::from_str(json).expect("a merge request")).0;
        let status = |word: &str| of(&format!(r#"{{"state": "opened", "detailed_merge_status": "{word}"}}"#));
        assert_eq!((status("mergeable"), status("not_approved"), status("moon_phase")), ("ready", "approval", ""));
        let both = r#"{"state": "opened", "has_conflicts": true, "blocking_discussions_resolved": false}"#;
        assert_eq!(of(both), "conflicts");
        assert_eq!(of(r#"{"state": "merged", "detailed_merge_status": "not_open"}"#), "");
    }
}
