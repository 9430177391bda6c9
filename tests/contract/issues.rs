//! Issues.

use crate::sample::{acme, group, time, word};
use labscope::api::Scope;
use labscope::api::issues::*;
use labscope::api::labels::ItemLabel;
use std::collections::BTreeMap;

fn not() -> Option<BTreeMap<String, String>> {
    Some(BTreeMap::from([("labels".to_owned(), "bug".to_owned())]))
}

requests! {
    ListIssues {
        scope: word("all"),
        state: word("opened"),
        labels: word("bug,ui"),
        milestone: word("0.4"),
        author_id: Some(1),
        assignee_id: Some("Any".into()),
        due_date: word("overdue"),
        not: not(),
        order_by: word("due_date"),
        sort: word("asc"),
        ..Default::default()
    } => "GET /issues?assignee_id=Any&author_id=1&due_date=overdue&labels=bug%2Cui&milestone=0.4&not[labels]=bug\
          &order_by=due_date&scope=all&sort=asc&state=opened";
    ListScopedIssues { within: group(), author_username: word("ada"), assignee_username: Some(vec!["bo".into()]),
        non_archived: Some(false), ..Default::default() }
        => "GET /groups/acme%2Fui/issues?assignee_username[]=bo&author_username=ada&non_archived=false";
    ListScopedIssues {
        within: Scope::Project(1.into()),
        closed_by_id: Some(3),
        confidential: Some(true),
        issue_type: word("incident"),
        iids: Some(vec![4, 5]),
        my_reaction_emoji: word("heart"),
        search: word("slow rows"),
        r#in: word("title"),
        created_after: time(),
        created_before: time(),
        updated_after: time(),
        updated_before: time(),
        with_labels_details: Some(true),
        ..Default::default()
    } => "GET /projects/1/issues?closed_by_id=3&confidential=true&created_after=2018-01-01T00%3A00%3A00Z\
          &created_before=2018-01-01T00%3A00%3A00Z&iids[]=4&iids[]=5&in=title&issue_type=incident\
          &my_reaction_emoji=heart&search=slow%20rows&updated_after=2018-01-01T00%3A00%3A00Z\
          &updated_before=2018-01-01T00%3A00%3A00Z&with_labels_details=true";
    GetIssue { id: acme(), issue_iid: 7 } => "GET /projects/acme%2Fui/issues/7";
    DeleteIssue { id: acme(), issue_iid: 7 } => "DELETE /projects/acme%2Fui/issues/7";
    ListRelatedMergeRequests { id: 1.into(), issue_iid: 7 } => "GET /projects/1/issues/7/related_merge_requests";
    ListClosingMergeRequests { id: 1.into(), issue_iid: 7 } => "GET /projects/1/issues/7/closed_by";
    ListClosedIssues { id: "a/b".into(), merge_request_iid: 4 } =>
        "GET /projects/a%2Fb/merge_requests/4/closes_issues";
    ListRelatedIssues { id: 1.into(), merge_request_iid: 4 } => "GET /projects/1/merge_requests/4/related_issues";
    ListIssueParticipants { id: 1.into(), issue_iid: 7 } => "GET /projects/1/issues/7/participants";
    CreateIssue {
        id: 1.into(),
        title: "t".into(),
        description: word("d"),
        labels: word("a,b"),
        assignee_ids: Some(vec![2, 3]),
        milestone_id: Some(4),
        due_date: Some("2018-01-01".into()),
        confidential: Some(true),
        issue_type: word("task"),
    } => "POST /projects/1/issues | assignee_ids[]=2&assignee_ids[]=3&confidential=true&description=d\
          &due_date=2018-01-01&issue_type=task&labels=a,b&milestone_id=4&title=t";
    UpdateIssue {
        id: 1.into(),
        issue_iid: 7,
        title: word("t"),
        description: word("d"),
        labels: word(""),
        assignee_ids: Some(vec![0]),
        milestone_id: Some(0),
        due_date: word(""),
        confidential: Some(false),
        discussion_locked: Some(true),
        state_event: word("close"),
        issue_type: word("issue"),
    } => "PUT /projects/1/issues/7 | assignee_ids[]=0&confidential=false&description=d&discussion_locked=true\
          &due_date=&issue_type=issue&labels=&milestone_id=0&state_event=close&title=t";
}

samples! {
    Issue => r##"{"id": 76, "iid": 6, "project_id": 8, "title": "Consequatur", "description": null, "state": "closed",
        "created_at": "2016-01-04T15:31:46.176Z", "updated_at": "2016-01-04T15:31:46.176Z",
        "closed_at": "2016-01-05T15:31:46.176Z", "labels": ["foo", "bar"], "milestone": null, "assignees": [],
        "assignee": null, "author": null, "user_notes_count": 1, "upvotes": 4, "downvotes": 0, "due_date": "2016-07-22",
        "confidential": false, "discussion_locked": false, "web_url": "http://h/my-group/my-project/-/issues/6",
        "time_stats": null, "issue_type": "issue", "severity": "UNKNOWN",
        "references": {"short": "#6", "relative": "my-group/my-project#6", "full": "my-group/my-project#6"},
        "task_completion_status": {"count": 2, "completed_count": 1}, "weight": 3}"##;
    ItemLabel => r##"{"id": 1, "name": "bug", "color": "#d9534f", "description": null, "text_color": "#FFFFFF"}"##;
}

#[test]
fn labels_are_read_as_names_or_with_details() {
    let text = r##"{"labels": ["bug", {"id": 1, "name": "ui", "color": "#00f"}, 7]}"##;
    let issue: Issue = serde_json::from_str(text).expect("an issue");
    assert_eq!(issue.label_names(), ["bug", "ui"]);
    assert_eq!(issue.labels[1].color(), Some("#00f"));
}
