//! Notes of issues, snippets, merge requests and epics.

use crate::sample::{acme, epic, issue, merge_request, snippet, time, word};
use labscope::api::notes::*;

requests! {
    ListNotes { on: issue(acme(), 11), sort: word("asc"), order_by: word("updated_at") } =>
        "GET /projects/acme%2Fui/issues/11/notes?order_by=updated_at&sort=asc";
    GetNote { on: issue(acme(), 11), note_id: 3 } =>
        "GET /projects/acme%2Fui/issues/11/notes/3";
    CreateNote { on: issue(acme(), 11), body: "Hi".into(), created_at: time(), internal: Some(true) } =>
        "POST /projects/acme%2Fui/issues/11/notes | body=Hi&created_at=2018-01-01T00:00:00Z&internal=true";
    UpdateNote { on: issue(acme(), 11), note_id: 3, body: "Ho".into() } =>
        "PUT /projects/acme%2Fui/issues/11/notes/3 | body=Ho";
    DeleteNote { on: issue(acme(), 11), note_id: 3 } =>
        "DELETE /projects/acme%2Fui/issues/11/notes/3";
    ListNotes { on: snippet(acme(), 11), sort: word("asc"), order_by: word("updated_at") } =>
        "GET /projects/acme%2Fui/snippets/11/notes?order_by=updated_at&sort=asc";
    GetNote { on: snippet(acme(), 11), note_id: 3 } =>
        "GET /projects/acme%2Fui/snippets/11/notes/3";
    CreateNote { on: snippet(acme(), 11), body: "Hi".into(), ..CreateNote::default() } =>
        "POST /projects/acme%2Fui/snippets/11/notes | body=Hi";
    UpdateNote { on: snippet(acme(), 11), note_id: 3, body: "Ho".into() } =>
        "PUT /projects/acme%2Fui/snippets/11/notes/3 | body=Ho";
    DeleteNote { on: snippet(acme(), 11), note_id: 3 } =>
        "DELETE /projects/acme%2Fui/snippets/11/notes/3";
    ListNotes { on: merge_request(acme(), 11), sort: word("asc"), order_by: word("updated_at") } =>
        "GET /projects/acme%2Fui/merge_requests/11/notes?order_by=updated_at&sort=asc";
    GetNote { on: merge_request(acme(), 11), note_id: 3 } =>
        "GET /projects/acme%2Fui/merge_requests/11/notes/3";
    CreateNote { on: merge_request(acme(), 11), body: "Hi".into(), ..CreateNote::default() } =>
        "POST /projects/acme%2Fui/merge_requests/11/notes | body=Hi";
    UpdateNote { on: merge_request(acme(), 11), note_id: 3, body: "Ho".into() } =>
        "PUT /projects/acme%2Fui/merge_requests/11/notes/3 | body=Ho";
    DeleteNote { on: merge_request(acme(), 11), note_id: 3 } =>
        "DELETE /projects/acme%2Fui/merge_requests/11/notes/3";
    ListNotes { on: epic(acme(), 11), sort: word("asc"), order_by: word("updated_at") } =>
        "GET /groups/acme%2Fui/epics/11/notes?order_by=updated_at&sort=asc";
    GetNote { on: epic(acme(), 11), note_id: 3 } =>
        "GET /groups/acme%2Fui/epics/11/notes/3";
    CreateNote { on: epic(acme(), 11), body: "Hi".into(), ..CreateNote::default() } =>
        "POST /groups/acme%2Fui/epics/11/notes | body=Hi";
    UpdateNote { on: epic(acme(), 11), note_id: 3, body: "Ho".into() } =>
        "PUT /groups/acme%2Fui/epics/11/notes/3 | body=Ho";
    DeleteNote { on: epic(acme(), 11), note_id: 3 } =>
        "DELETE /groups/acme%2Fui/epics/11/notes/3";
}

samples! {
    Note => r#"{
        "id": 302, "body": "closed", "attachment": null,
        "author": {"id": 1, "username": "pipin", "email": "admin@example.com", "name": "Pip", "state": "active",
            "created_at": "2013-09-30T13:46:01Z"},
        "created_at": "2013-10-02T09:22:45Z", "updated_at": "2013-10-02T10:22:45Z", "system": true,
        "noteable_id": 377, "noteable_type": "Issue", "noteable_iid": 377
    }"#;
    NoteReply => r#"{"id": 1, "title": "test", "file_name": "add.rb",
        "author": {"id": 1, "username": "john", "email": "j@example.com", "name": "John", "state": "active",
            "created_at": "2012-05-23T08:00:58Z"},
        "expires_at": null, "updated_at": "2012-06-28T10:52:04Z", "created_at": "2012-06-28T10:52:04Z"}"#;
    NoteReply => r#"{"id": 302, "body": "text", "noteable_type": "Epic", "noteable_iid": null, "type": "DiffNote",
        "resolvable": true, "resolved": false, "position": {"position_type": "text", "new_path": "a.rs",
            "new_line": 3, "old_line": null}}"#;
}

#[test]
fn a_note_on_a_diff_has_a_path_and_a_line() {
    let text = r#"{"position": {"old_path": "a", "new_path": "b", "old_line": 3, "new_line": null}}"#;
    let read: Note = serde_json::from_str(text).expect("a note");
    assert_eq!(read.location(), Some(("b", Some(3))));
}
