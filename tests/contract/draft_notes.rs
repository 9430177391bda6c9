//! Draft notes: the comments of a review until it is published.

use crate::sample::word;
use labscope::api::draft_notes::*;
use labscope::api::notes::NewPosition;

/// Returns a position on a whole file.
fn position() -> NewPosition {
    NewPosition {
        position_type: "file".into(),
        base_sha: "b0".into(),
        start_sha: "50".into(),
        head_sha: "e0".into(),
        old_path: "a.rs".into(),
        new_path: "b.rs".into(),
        ..NewPosition::default()
    }
}

requests! {
    ListDraftNotes { id: 1.into(), merge_request_iid: 5 } => "GET /projects/1/merge_requests/5/draft_notes";
    CreateDraftNote {
        id: 1.into(),
        merge_request_iid: 5,
        note: "N".into(),
        position: Some(position()),
        commit_id: word("c0"),
        in_reply_to_discussion_id: word("a7"),
        resolve_discussion: Some(true),
    } => "POST /projects/1/merge_requests/5/draft_notes | {\"commit_id\":\"c0\",\"in_reply_to_discussion_id\":\"a7\",\"note\":\"N\",\
          \"position\":{\"base_sha\":\"b0\",\"head_sha\":\"e0\",\"new_path\":\"b.rs\",\"old_path\":\"a.rs\",\
          \"position_type\":\"file\",\"start_sha\":\"50\"},\"resolve_discussion\":true}";
    UpdateDraftNote { id: 1.into(), merge_request_iid: 5, draft_note_id: 7, note: "N".into(), position: Some(position()) }
        => "PUT /projects/1/merge_requests/5/draft_notes/7 | {\"note\":\"N\",\"position\":{\"base_sha\":\"b0\",\
            \"head_sha\":\"e0\",\"new_path\":\"b.rs\",\"old_path\":\"a.rs\",\"position_type\":\"file\",\
            \"start_sha\":\"50\"}}";
    DeleteDraftNote { id: 1.into(), merge_request_iid: 5, draft_note_id: 7 }
        => "DELETE /projects/1/merge_requests/5/draft_notes/7";
    PublishDraftNote { id: 1.into(), merge_request_iid: 5, draft_note_id: 7 }
        => "PUT /projects/1/merge_requests/5/draft_notes/7/publish";
    PublishReview { id: 1.into(), merge_request_iid: 5, reviewer_state: None, note: None }
        => "POST /projects/1/merge_requests/5/draft_notes/bulk_publish";
    PublishReview { id: 1.into(), merge_request_iid: 5, reviewer_state: word("requested_changes"), note: word("Fine.") }
        => "POST /projects/1/merge_requests/5/draft_notes/bulk_publish | note=Fine.&reviewer_state=requested_changes";
}

samples! {
    DraftNote => r#"{"id": 5, "author_id": 23, "merge_request_id": 11, "resolve_discussion": false,
        "discussion_id": null, "note": "Example title", "commit_id": null, "line_code": null,
        "position": {"base_sha": null, "start_sha": null, "head_sha": null, "old_path": null, "new_path": null,
            "position_type": "text", "old_line": null, "new_line": null}}"#;
    DraftNote => r#"{"id": 6, "author_id": 23, "merge_request_id": 11, "resolve_discussion": true,
        "discussion_id": "6a9c1750b37d513a43987b574953fceb50b03ce7", "note": "Done", "commit_id": "4803c71e",
        "line_code": "588440f66559714280628a4f9799f0c4eb880a4a_10_10", "position": {}}"#;
}
