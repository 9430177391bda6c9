//! Links between issues. Not in the specification.

use crate::Id;
use crate::issues::Issue;

/// The types of links, seen from the issue whose links are listed.
pub const LINK_TYPES: &[&str] = &["relates_to", "blocks", "is_blocked_by"];

crate::resource! {
    /// A link between two issues.
    pub struct IssueLink {
        source_issue: Option<Issue>,
        target_issue: Option<Issue>,
        /// One of [`LINK_TYPES`], seen from the source.
        link_type: String,
    }
}

crate::endpoints! {
    unspecified section "Issue links";

    /// Lists the issues that are linked to an issue, each with the type of its link (since 13.4).
    GET "/projects/{id}/issues/{issue_iid}/links" => Vec<Issue>, about IssueLinks;
    struct ListLinkedIssues { id: Id, issue_iid: u64 }

    /// Links an issue to another one.
    POST "/projects/{id}/issues/{issue_iid}/links" => IssueLink,
    outdates [IssueLinks, Notes];
    struct CreateIssueLink {
        id: Id,
        issue_iid: u64,
        /// The project of the other issue, by ID or path; null for the project of the first one.
        target_project_id: Option<Id>,
        target_issue_iid: u64,
        /// One of [`LINK_TYPES`]; `relates_to` if there is none.
        link_type: Option<String>,
    }

    /// Removes a link; the reply is the link.
    DELETE "/projects/{id}/issues/{issue_iid}/links/{issue_link_id}" => IssueLink,
    outdates [IssueLinks, Notes];
    struct DeleteIssueLink { id: Id, issue_iid: u64, issue_link_id: u64 }
}
