//! System hooks.

use crate::sample::word;
use labscope::api::hooks::*;

requests! {
    ListHooks {} => "GET /hooks";
    CreateHook {
        url: "https://h/hook".into(),
        token: word("s"),
        push_events: Some(true),
        tag_push_events: Some(false),
        merge_requests_events: Some(true),
        enable_ssl_verification: Some(false),
    } => "POST /hooks | enable_ssl_verification=false&merge_requests_events=true&push_events=true\
          &tag_push_events=false&token=s&url=https://h/hook";
    TestHook { id: 2 } => "GET /hooks/2";
    DeleteHook { id: 2 } => "DELETE /hooks/2";
}

samples! {
    Hook => r#"{"id": 1, "url": "https://h/hook", "created_at": "2016-10-31T12:32:15.192Z", "push_events": true,
        "tag_push_events": false, "merge_requests_events": true, "enable_ssl_verification": true}"#;
    HookTest => r#"{"project_id": 1, "owner_email": "example@example.com", "owner_name": "Someone", "name": "Ruby",
        "path": "ruby", "event_name": "project_create"}"#;
}
