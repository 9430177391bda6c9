//! Events.

use crate::sample::word;
use labscope::api::Feed;
use labscope::api::events::*;

requests! {
    ListEvents { on: Feed::Project("acme/ui".into()), action: word("merged"), target_type: word("merge_request") }
        => "GET /projects/acme%2Fui/events?action=merged&target_type=merge_request";
    ListEvents { on: Feed::User("jo".into()), action: None, target_type: None } => "GET /users/jo/events";
    ListEvents { on: Feed::Own, action: None, target_type: None } => "GET /events";
}

samples! {
    Event => r##"{"id": 812, "project_id": 9, "action_name": "commented on", "target_id": 31, "target_iid": 31,
        "target_type": "Note", "target_title": "Add a parser", "author": null, "author_username": "jo",
        "created_at": "2026-01-02T03:04:05Z",
        "note": {"id": 31, "body": "Yes.", "noteable_type": "Issue", "noteable_iid": 4, "noteable_id": 20}}"##;
    PushData => r##"{"commit_count": 2, "action": "pushed", "ref_type": "branch", "ref": "main", "commit_to": "77d0",
        "commit_title": "Tidy up"}"##;
}
