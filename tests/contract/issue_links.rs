//! Links between issues. The sample has the form of the server's page about the API of issue links.

use crate::sample::word;
use labscope::api::issue_links::*;

requests! {
    ListLinkedIssues { id: "a/b".into(), issue_iid: 4 } => "GET /projects/a%2Fb/issues/4/links";
    CreateIssueLink {
        id: 1.into(),
        issue_iid: 4,
        target_project_id: Some("c/d".into()),
        target_issue_iid: 9,
        link_type: word("blocks"),
    } => "POST /projects/1/issues/4/links | link_type=blocks&target_issue_iid=9&target_project_id=c/d";
    DeleteIssueLink { id: 1.into(), issue_iid: 4, issue_link_id: 33 } => "DELETE /projects/1/issues/4/links/33";
}

samples! {
    IssueLink => r#"{"source_issue": {"id": 83, "iid": 11, "project_id": 4, "title": "One"},
        "target_issue": {"id": 84, "iid": 14, "project_id": 4, "title": "Two"}, "link_type": "relates_to"}"#;
}
