//! Threads of merge requests, issues and snippets, and suggestions.

use crate::sample::{issue, merge_request, snippet, word};
use labscope::api::discussions::*;
use labscope::api::notes::{NewLineRange, NewLineRangeEnd, NewPosition, Note, Suggestion, line_code};
use labscope::store::RowOf;

/// Returns a position on a range of added lines.
fn position() -> NewPosition {
    let end = |line_code: &str| NewLineRangeEnd { line_code: line_code.into(), r#type: word("new") };
    NewPosition {
        position_type: "text".into(),
        base_sha: "b0".into(),
        start_sha: "50".into(),
        head_sha: "e0".into(),
        old_path: "a.rs".into(),
        new_path: "a.rs".into(),
        new_line: Some(18),
        line_range: Some(NewLineRange { start: end("x_9_17"), end: end("x_9_18") }),
        ..NewPosition::default()
    }
}

requests! {
    ListDiscussions { on: merge_request(1_u64, 5) } => "GET /projects/1/merge_requests/5/discussions";
    CreateDiscussion {
        on: merge_request(1_u64, 5),
        body: "B".into(),
        position: Some(position()),
        commit_id: word("c0"),
    } => "POST /projects/1/merge_requests/5/discussions | {\"body\":\"B\",\"commit_id\":\"c0\",\"position\":{\"base_sha\":\"b0\",\
            \"head_sha\":\"e0\",\"line_range\":{\"end\":{\"line_code\":\"x_9_18\",\"type\":\"new\"},\
            \"start\":{\"line_code\":\"x_9_17\",\"type\":\"new\"}},\"new_line\":18,\"new_path\":\"a.rs\",\
            \"old_path\":\"a.rs\",\"position_type\":\"text\",\"start_sha\":\"50\"}}";
    ReplyToDiscussion { on: merge_request(1_u64, 5), discussion_id: "a7".into(), body: "B".into() }
        => "POST /projects/1/merge_requests/5/discussions/a7/notes | body=B";
    ResolveDiscussion { on: merge_request(1_u64, 5), discussion_id: "a7".into(), resolved: true }
        => "PUT /projects/1/merge_requests/5/discussions/a7 | resolved=true";
    ListDiscussions { on: issue(1_u64, 5) } => "GET /projects/1/issues/5/discussions";
    CreateDiscussion { on: issue(1_u64, 5), body: "B".into(), position: None, commit_id: None }
        => "POST /projects/1/issues/5/discussions | {\"body\":\"B\"}";
    ReplyToDiscussion { on: issue(1_u64, 5), discussion_id: "a7".into(), body: "B".into() }
        => "POST /projects/1/issues/5/discussions/a7/notes | body=B";
    ResolveDiscussion { on: issue(1_u64, 5), discussion_id: "a7".into(), resolved: false }
        => "PUT /projects/1/issues/5/discussions/a7 | resolved=false";
    ListDiscussions { on: snippet(1_u64, 5) } => "GET /projects/1/snippets/5/discussions";
    CreateDiscussion { on: snippet(1_u64, 5), body: "B".into(), position: None, commit_id: None }
        => "POST /projects/1/snippets/5/discussions | {\"body\":\"B\"}";
    ReplyToDiscussion { on: snippet(1_u64, 5), discussion_id: "a7".into(), body: "B".into() }
        => "POST /projects/1/snippets/5/discussions/a7/notes | body=B";
    ApplySuggestion { id: 7, commit_message: word("M") } => "PUT /suggestions/7/apply | commit_message=M";
    ApplySuggestions { ids: vec![7, 8], commit_message: None } => "PUT /suggestions/batch_apply | {\"ids\":[7,8]}";
}

samples! {
    Discussion => r#"{"id": "6a9c1750b37d513a43987b574953fceb50b03ce7", "individual_note": false, "notes": [
        {"id": 1126, "type": "DiffNote", "body": "Here", "attachment": null, "author": {"id": 1, "username": "root"},
            "created_at": "2018-03-03T21:54:39.668Z", "updated_at": "2018-03-03T21:54:39.668Z", "system": false,
            "noteable_id": 3, "noteable_type": "MergeRequest", "noteable_iid": 5, "project_id": 5,
            "commit_id": "4803c71e6b1833ca72b8b26ef2ecd5adc8a38031", "resolvable": true, "resolved": true,
            "resolved_by": {"id": 1, "username": "root"}, "resolved_at": "2018-03-04T21:54:39.668Z",
            "confidential": false,
            "position": {"base_sha": "b5d6e7b1613fca24d250fa8e5bc7bcc3dd6002ef",
                "start_sha": "7c9c2ead8a320fb7ba0b4e234bd9529a2614e306",
                "head_sha": "4803c71e6b1833ca72b8b26ef2ecd5adc8a38031", "old_path": "package.json",
                "new_path": "package.json", "position_type": "text", "old_line": 27, "new_line": 27,
                "line_range": {
                    "start": {"line_code": "588440f66559714280628a4f9799f0c4eb880a4a_10_10", "type": "new",
                        "old_line": 10, "new_line": 10},
                    "end": {"line_code": "588440f66559714280628a4f9799f0c4eb880a4a_11_11", "type": "old",
                        "old_line": 11, "new_line": 11}}},
            "suggestions": [{"id": 1, "from_line": 27, "to_line": 27, "appliable": true, "applied": false,
                "from_content": "x\n", "to_content": "b\n"}]},
        {"id": 1129, "body": "Single", "system": false, "noteable_type": "MergeRequest", "resolvable": false}]}"#;
    Suggestion => r#"{"id": 36, "from_line": 10, "to_line": 10, "appliable": false, "applied": true,
        "from_content": "        \"--talk-name=org.freedesktop.\",\n", "to_content": "        \"--talk-name\",\n"}"#;
}

#[test]
fn notes_of_a_discussion_keep_the_id_of_their_thread() {
    let discussion: Discussion =
        serde_json::from_str(r#"{"id": "6a9c", "notes": [{"id": 1, "type": null}, {"id": 2, "position": null}]}"#)
            .unwrap();
    let notes = Note::rows(discussion);
    assert_eq!(notes.iter().map(|note| note.discussion_id.as_deref()).collect::<Vec<_>>(), [Some("6a9c"); 2]);
}

#[test]
fn a_line_code_is_the_hash_of_the_path_and_both_line_numbers() {
    assert_eq!(line_code("package.json", 10, 12), "7030d0b2f71b999ff89a343de08c414af32fc93a_10_12");
}
