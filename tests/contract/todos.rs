//! To-dos.

use crate::sample::word;
use labscope::api::Noteable;
use labscope::api::todos::*;

requests! {
    ListTodos {
        action: word("mentioned"),
        author_id: Some(4),
        project_id: Some(7),
        group_id: Some(3),
        state: word("done"),
        r#type: word("MergeRequest"),
    } => "GET /todos?action=mentioned&author_id=4&group_id=3&project_id=7&state=done&type=MergeRequest";
    CreateTodo { on: Noteable::MergeRequest { project: "a/b".into(), iid: 4 } } =>
        "POST /projects/a%2Fb/merge_requests/4/todo";
    CreateTodo { on: Noteable::Issue { project: 7.into(), iid: 4 } } => "POST /projects/7/issues/4/todo";
    MarkTodoAsDone { id: 130 } => "POST /todos/130/mark_as_done";
    MarkAllTodosAsDone {} => "POST /todos/mark_as_done";
}

samples! {
    Todo => r##"{"id": 102, "project": {"id": 2, "description": null, "name": "Gitlab Ce",
        "name_with_namespace": "Gitlab Org / Gitlab Ce", "path": "gitlab-foss",
        "path_with_namespace": "gitlab-org/gitlab-foss", "created_at": "2016-06-17T07:49:24.624Z"},
        "author": {"id": 1, "name": "Administrator", "username": "root", "state": "active", "avatar_url": null,
            "web_url": "https://h/root"},
        "action_name": "marked", "target_type": "MergeRequest",
        "target": {"iid": 7, "title": "Dolores in voluptatem", "state": "opened", "web_url": "https://h/m/7"},
        "target_url": "https://h/gitlab-org/gitlab-foss/-/merge_requests/7#note_3", "body": "Dolores in voluptatem",
        "state": "pending", "created_at": "2016-06-17T07:52:35.225Z", "updated_at": "2016-06-17T07:52:35.225Z"}"##;
    Todo => r#"{"id": 103, "project": null, "group": {"id": 9, "name": "Acme", "path": "acme", "full_path": "acme"},
        "author": null, "action_name": "member_access_requested", "target_type": "Namespace", "target": null,
        "target_url": null, "body": "", "state": "done", "created_at": null}"#;
}

/// Each kind of target has different fields, and its `id` is a number or a hash.
#[test]
fn targets_of_all_kinds_are_read() {
    for target in [
        r#"{"id": "6104942438c14ec7bd21c6cd5bd995272b3faff6", "short_id": "6104942", "title": "Sanitize"}"#,
        r#"{"id": 3, "filename": "a.png", "iid": 2}"#,
        "{}",
        "null",
    ] {
        let text = format!(r#"{{"id": 1, "target_type": "Commit", "body": "Look\nhere", "target": {target}}}"#);
        let todo: Todo = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{target}: {e}"));
        assert!(matches!(todo.title(), "Sanitize" | "Look"), "{target}");
    }
}
