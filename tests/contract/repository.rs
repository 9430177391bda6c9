//! Trees, blobs, archives, comparisons, and contributors.

use crate::sample::{acme, word};
use labscope::api::repository::*;

requests! {
    GetBlame { id: acme(), path: "src/a b.rs".into(), r#ref: "main".into() } =>
        "GET /projects/acme%2Fui/repository/files/src%2Fa%20b.rs/blame?ref=main";
    GetRawFile { id: acme(), path: "src/a b.rs".into(), r#ref: word("main"), lfs: Some(true) } =>
        "GET /projects/acme%2Fui/repository/files/src%2Fa%20b.rs/raw?lfs=true&ref=main";
    ListTree { id: acme(), path: word("src/ui"), r#ref: word("main"), recursive: Some(true), with_last_commit: Some(true) } =>
        "GET /projects/acme%2Fui/repository/tree?path=src%2Fui&recursive=true&ref=main&with_last_commit=true";
    GetBlob { id: 1.into(), sha: "abc".into() } => "GET /projects/1/repository/blobs/abc";
    GetRawBlob { id: 1.into(), sha: "abc".into() } => "GET /projects/1/repository/blobs/abc/raw";
    GetArchive { id: 1.into(), sha: word("v1"), format: word("zip") } =>
        "GET /projects/1/repository/archive?format=zip&sha=v1";
    CompareRefs { id: 1.into(), from: "main".into(), to: "feature/a".into(), straight: None } =>
        "GET /projects/1/repository/compare?from=main&to=feature%2Fa";
    ListContributors { id: 1.into(), order_by: word("commits"), sort: word("desc") } =>
        "GET /projects/1/repository/contributors?order_by=commits&sort=desc";
}

samples! {
    BlameRange => r#"{"commit": {"id": "d42409d56517157c48bf3bd97d3f75974dde19fb", "message": "Add feature\n\nalso",
        "parent_ids": ["cc6e14f9328fa6d7b5a0d3c30dc2002a3f2a3822"], "authored_date": "2015-12-18T08:12:22.000Z",
        "author_name": "John Doe", "author_email": "john.doe@example.com",
        "committed_date": "2015-12-18T08:12:22.000Z", "committer_name": "John Doe",
        "committer_email": "john.doe@example.com"}, "lines": ["require 'fileutils'", "require 'open3'", ""]}"#;
    TreeEntry => r#"{"id": "a1e8f8d745cc87e3a9248358d9352bb7f9a0aeba", "name": "html", "type": "tree",
        "path": "files/html", "mode": "040000"}"#;
    Blob => r#"{"size": 1476, "encoding": "base64", "content": "VGVzdA==", "sha": "79f7bbd25901e8334750839545a9bd"}"#;
    Comparison => r#"{
        "commit": {"id": "12d65c8dd2b2676fa3ac47d955accc085a37a9c1", "short_id": "12d65c8dd2b", "title": "JS fix",
            "author_name": "A", "author_email": "a@example.com", "created_at": "2014-02-27T10:27:00+02:00"},
        "commits": [{"id": "12d65c8dd2b2676fa3ac47d955accc085a37a9c1", "short_id": "12d65c8dd2b", "title": "JS fix",
            "author_name": "A", "author_email": "a@example.com", "created_at": "2014-02-27T10:27:00+02:00"}],
        "diffs": [{"old_path": "files/js/app.coffee", "new_path": "files/js/app.coffee", "a_mode": null,
            "b_mode": "100644", "diff": "@@ -1 +1 @@\n-a\n+b\n", "new_file": false, "renamed_file": false,
            "deleted_file": false}],
        "compare_timeout": false, "compare_same_ref": false
    }"#;
    Contributor => r#"{"name": "D", "email": "d@example.com", "commits": 117, "additions": 2097, "deletions": 517}"#;
}

#[test]
fn a_blob_is_decoded_with_and_without_line_breaks() {
    let blob = |text: &str| serde_json::from_str::<Blob>(text).expect("a blob").bytes();
    assert_eq!(blob(r#"{"encoding": "base64", "content": "VGVz\ndA==\n"}"#), Some(b"Test".to_vec()));
    assert_eq!(blob(r#"{"encoding": "base64", "content": "%"}"#), None);
    assert_eq!(Blob::new("abc", b"\x00\xff").bytes(), Some(b"\x00\xff".to_vec()));
}
