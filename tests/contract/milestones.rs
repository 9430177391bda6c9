//! Milestones.

use crate::sample::{group, project, word};
use labscope::api::merge_requests::Milestone;
use labscope::api::milestones::*;
use labscope::api::{Scope, Time};

fn day() -> Option<Time> {
    Some("2026-12-11".into())
}

requests! {
    ListMilestones {
        scope: project(),
        state: word("active"),
        title: word("0.4"),
        search: word("x"),
        iids: Some(vec![1, 2]),
        include_ancestors: Some(true),
    } => "GET /projects/acme%2Fui/milestones?iids[]=1&iids[]=2&include_ancestors=true&search=x&state=active&title=0.4";
    CreateMilestone { scope: Scope::Project(1.into()), title: "t".into(), description: word("d"), start_date: day(), due_date: day() }
        => "POST /projects/1/milestones | description=d&due_date=2026-12-11&start_date=2026-12-11&title=t";
    UpdateMilestone {
        scope: Scope::Project(1.into()),
        milestone_id: 5,
        title: word("t"),
        description: word("d"),
        start_date: word(""),
        due_date: word("2026-12-11"),
        state_event: word("close"),
    } => "PUT /projects/1/milestones/5 | description=d&due_date=2026-12-11&start_date=&state_event=close&title=t";
    DeleteMilestone { scope: Scope::Project(1.into()), milestone_id: 5 } => "DELETE /projects/1/milestones/5";
    ListMilestoneIssues { scope: Scope::Project(1.into()), milestone_id: 5 } => "GET /projects/1/milestones/5/issues";
    ListMilestoneMergeRequests { scope: Scope::Project(1.into()), milestone_id: 5 } => "GET /projects/1/milestones/5/merge_requests";
    ListMilestones {
        scope: group(),
        state: word("closed"),
        title: word("0.4"),
        search: word("x"),
        iids: Some(vec![1]),
        include_ancestors: Some(true),
    } => "GET /groups/acme%2Fui/milestones?iids[]=1&include_ancestors=true&search=x&state=closed&title=0.4";
    CreateMilestone { scope: Scope::Group(1.into()), title: "t".into(), description: word("d"), start_date: day(), due_date: day() }
        => "POST /groups/1/milestones | description=d&due_date=2026-12-11&start_date=2026-12-11&title=t";
    UpdateMilestone {
        scope: Scope::Group(1.into()),
        milestone_id: 5,
        title: word("t"),
        description: word("d"),
        start_date: word("2026-12-11"),
        due_date: word(""),
        state_event: word("activate"),
    } => "PUT /groups/1/milestones/5 | description=d&due_date=&start_date=2026-12-11&state_event=activate&title=t";
    DeleteMilestone { scope: Scope::Group(1.into()), milestone_id: 5 } => "DELETE /groups/1/milestones/5";
    ListMilestoneIssues { scope: Scope::Group(1.into()), milestone_id: 5 } => "GET /groups/1/milestones/5/issues";
    ListMilestoneMergeRequests { scope: Scope::Group(1.into()), milestone_id: 5 } => "GET /groups/1/milestones/5/merge_requests";
}

samples! {
    Milestone => r#"{"id": 12, "iid": 3, "project_id": 16, "title": "10.0", "description": "Version", "due_date": "2013-11-29",
        "start_date": "2013-11-10", "state": "active", "updated_at": "2013-10-02T09:24:18Z",
        "created_at": "2013-10-02T09:24:18Z", "expired": false, "web_url": "https://h/-/milestones/3"}"#;
    Milestone => r#"{"id": 13, "iid": 1, "group_id": 4, "title": "Q4", "description": null, "due_date": null,
        "start_date": null, "state": "closed", "updated_at": null, "created_at": null}"#;
}
