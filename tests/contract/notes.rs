//! Notes of issues, snippets, merge requests and epics.

use crate::sample::{acme, time, word};
use labscope::api::notes::*;

requests! {
    [also reads::ALL]
    ListIssueNotes { id: acme(), issue_iid: 11, sort: word("asc"), order_by: word("updated_at") } =>
        "GET /projects/acme%2Fui/issues/11/notes?order_by=updated_at&sort=asc";
    GetIssueNote { id: acme(), issue_iid: 11, note_id: 3 } =>
        "GET /projects/acme%2Fui/issues/11/notes/3";
    CreateIssueNote { id: acme(), issue_iid: 11, body: "Hi".into(), created_at: time() } =>
        "POST /projects/acme%2Fui/issues/11/notes | body=Hi&created_at=2018-01-01T00:00:00Z";
    UpdateIssueNote { id: acme(), issue_iid: 11, note_id: 3, body: "Ho".into() } =>
        "PUT /projects/acme%2Fui/issues/11/notes/3 | body=Ho";
    DeleteIssueNote { id: acme(), issue_iid: 11, note_id: 3 } =>
        "DELETE /projects/acme%2Fui/issues/11/notes/3";
    ListSnippetNotes { id: acme(), snippet_id: 11, sort: word("asc"), order_by: word("updated_at") } =>
        "GET /projects/acme%2Fui/snippets/11/notes?order_by=updated_at&sort=asc";
    GetSnippetNote { id: acme(), snippet_id: 11, note_id: 3 } =>
        "GET /projects/acme%2Fui/snippets/11/notes/3";
    CreateSnippetNote { id: acme(), snippet_id: 11, body: "Hi".into() } =>
        "POST /projects/acme%2Fui/snippets/11/notes | body=Hi";
    UpdateSnippetNote { id: acme(), snippet_id: 11, note_id: 3, body: "Ho".into() } =>
        "PUT /projects/acme%2Fui/snippets/11/notes/3 | body=Ho";
    DeleteSnippetNote { id: acme(), snippet_id: 11, note_id: 3 } =>
        "DELETE /projects/acme%2Fui/snippets/11/notes/3";
    ListMergeRequestNotes { id: acme(), merge_request_iid: 11, sort: word("asc"), order_by: word("updated_at") } =>
        "GET /projects/acme%2Fui/merge_requests/11/notes?order_by=updated_at&sort=asc";
    GetMergeRequestNote { id: acme(), merge_request_iid: 11, note_id: 3 } =>
        "GET /projects/acme%2Fui/merge_requests/11/notes/3";
    CreateMergeRequestNote { id: acme(), merge_request_iid: 11, body: "Hi".into() } =>
        "POST /projects/acme%2Fui/merge_requests/11/notes | body=Hi";
    UpdateMergeRequestNote { id: acme(), merge_request_iid: 11, note_id: 3, body: "Ho".into() } =>
        "PUT /projects/acme%2Fui/merge_requests/11/notes/3 | body=Ho";
    DeleteMergeRequestNote { id: acme(), merge_request_iid: 11, note_id: 3 } =>
        "DELETE /projects/acme%2Fui/merge_requests/11/notes/3";
    ListEpicNotes { id: acme(), epic_id: 11, sort: word("asc"), order_by: word("updated_at") } =>
        "GET /groups/acme%2Fui/epics/11/notes?order_by=updated_at&sort=asc";
    GetEpicNote { id: acme(), epic_id: 11, note_id: 3 } =>
        "GET /groups/acme%2Fui/epics/11/notes/3";
    CreateEpicNote { id: acme(), epic_id: 11, body: "Hi".into() } =>
        "POST /groups/acme%2Fui/epics/11/notes | body=Hi";
    UpdateEpicNote { id: acme(), epic_id: 11, note_id: 3, body: "Ho".into() } =>
        "PUT /groups/acme%2Fui/epics/11/notes/3 | body=Ho";
    DeleteEpicNote { id: acme(), epic_id: 11, note_id: 3 } =>
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
