//! Labels.

use crate::sample::{group, project, word};
use labscope::api::Scope;
use labscope::api::labels::*;

requests! {
    ListLabels { scope: project(), with_counts: Some(true), include_ancestor_groups: Some(false), search: word("bug") }
        => "GET /projects/acme%2Fui/labels?include_ancestor_groups=false&search=bug&with_counts=true";
    CreateLabel { scope: Scope::Project(1.into()), name: "bug".into(), color: "#d9534f".into(), description: word("d"), priority: Some(2) }
        => "POST /projects/1/labels | color=#d9534f&description=d&name=bug&priority=2";
    UpdateLabel {
        scope: Scope::Project(1.into()),
        label_id: "a/b".into(),
        name: word("a/b"),
        new_name: word("n"),
        color: word("red"),
        description: word(""),
        priority: Some(0),
    } => "PUT /projects/1/labels/a%2Fb | color=red&description=&name=a/b&new_name=n&priority=0";
    DeleteLabel { scope: Scope::Project(1.into()), label_id: "5".into(), name: word("bug") } => "DELETE /projects/1/labels/5?name=bug";
    ListLabels { scope: group(), with_counts: Some(true), include_ancestor_groups: Some(true), search: word("x") }
        => "GET /groups/acme%2Fui/labels?include_ancestor_groups=true&search=x&with_counts=true";
    CreateLabel { scope: Scope::Group(1.into()), name: "bug".into(), color: "#d9534f".into(), description: word("d"), priority: None }
        => "POST /groups/1/labels | color=#d9534f&description=d&name=bug";
    UpdateLabel {
        scope: Scope::Group(1.into()),
        label_id: "5".into(),
        name: None,
        new_name: word("n"),
        color: word("red"),
        description: word("d"),
        priority: None,
    }
        => "PUT /groups/1/labels/5 | color=red&description=d&new_name=n";
    DeleteLabel { scope: Scope::Group(1.into()), label_id: "5".into(), name: None } => "DELETE /groups/1/labels/5";
    SubscribeToLabel { scope: project(), label_id: "a/b".into() } => "POST /projects/acme%2Fui/labels/a%2Fb/subscribe";
    UnsubscribeFromLabel { scope: project(), label_id: "5".into() } => "POST /projects/acme%2Fui/labels/5/unsubscribe";
    SubscribeToLabel { scope: group(), label_id: "5".into() } => "POST /groups/acme%2Fui/labels/5/subscribe";
    UnsubscribeFromLabel { scope: group(), label_id: "5".into() } => "POST /groups/acme%2Fui/labels/5/unsubscribe";
}

samples! {
    Label => r##"{"id": 1, "name": "bug", "color": "#d9534f", "text_color": "#FFFFFF", "description": "Bug",
        "description_html": "Bug", "open_issues_count": 1, "closed_issues_count": 0, "open_merge_requests_count": 1,
        "subscribed": false, "priority": 10, "is_project_label": true, "archived": false}"##;
}
