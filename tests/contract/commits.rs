//! Commits, comments and statuses.

use crate::sample::{acme, time, word};
use labscope::api::commits::*;

requests! {
    ListCommits {
        id: acme(),
        ref_name: word("main"),
        since: time(),
        until: time(),
        path: word("src/a b.rs"),
        all: Some(true),
        author: None,
        first_parent: None,
    } => "GET /projects/acme%2Fui/repository/commits?all=true&path=src%2Fa%20b.rs&ref_name=main\
          &since=2018-01-01T00%3A00%3A00Z&until=2018-01-01T00%3A00%3A00Z";
    CreateCommit {
        id: 1.into(),
        branch: "next".into(),
        commit_message: "Say \"why\"".into(),
        start_branch: word("main"),
        actions: vec![CommitAction {
            action: "move".into(),
            file_path: "b".into(),
            previous_path: word("a"),
            content: word("eA=="),
            encoding: word("base64"),
            last_commit_id: word("abc"),
            execute_filemode: None,
        }],
        author_email: word("a@b"),
        author_name: word("A"),
    } => "POST /projects/1/repository/commits | {\"actions\":[{\"action\":\"move\",\"content\":\"eA==\",\
          \"encoding\":\"base64\",\"file_path\":\"b\",\"last_commit_id\":\"abc\",\"previous_path\":\"a\"}],\
          \"author_email\":\"a@b\",\"author_name\":\"A\",\"branch\":\"next\",\"commit_message\":\"Say \\\"why\\\"\",\
          \"start_branch\":\"main\"}";
    GetCommit { id: 1.into(), sha: "main".into(), stats: Some(false) } =>
        "GET /projects/1/repository/commits/main?stats=false";
    ListCommitRefs { id: 1.into(), sha: "abc".into(), r#type: word("tag") } =>
        "GET /projects/1/repository/commits/abc/refs?type=tag";
    ListCommitMergeRequests { id: acme(), sha: "abc".into() } =>
        "GET /projects/acme%2Fui/repository/commits/abc/merge_requests";
    GetCommitSignature { id: 1.into(), sha: "abc".into() } => "GET /projects/1/repository/commits/abc/signature";
    CherryPick {
        id: 1.into(),
        sha: "abc".into(),
        branch: "main".into(),
        message: word("Again"),
        dry_run: Some(true),
    } => "POST /projects/1/repository/commits/abc/cherry_pick | branch=main&dry_run=true&message=Again";
    RevertCommit { id: 1.into(), sha: "abc".into(), branch: "main".into(), dry_run: Some(true) } =>
        "POST /projects/1/repository/commits/abc/revert | branch=main&dry_run=true";
    GetCommitDiff { id: 1.into(), sha: "abc".into() } => "GET /projects/1/repository/commits/abc/diff";
    ListCommitComments { id: 1.into(), sha: "abc".into() } => "GET /projects/1/repository/commits/abc/comments";
    CreateCommitComment {
        id: 1.into(),
        sha: "abc".into(),
        note: "Nice".into(),
        path: word("a.rs"),
        line: Some(11),
        line_type: word("new"),
    } => "POST /projects/1/repository/commits/abc/comments | line=11&line_type=new&note=Nice&path=a.rs";
    ListCommitStatuses {
        id: 1.into(),
        sha: "abc".into(),
        r#ref: word("main"),
        stage: word("test"),
        name: word("lint"),
        all: Some(true),
    } => "GET /projects/1/repository/commits/abc/statuses?all=true&name=lint&ref=main&stage=test";
    SetCommitStatus {
        id: 1.into(),
        sha: "abc".into(),
        state: "success".into(),
        r#ref: word("main"),
        name: word("lint"),
        context: None,
        target_url: word("https://ci"),
        description: word("fine"),
        coverage: Some(87.5),
    } => "POST /projects/1/statuses/abc | coverage=87.5&description=fine&name=lint&ref=main&state=success\
          &target_url=https://ci";
}

samples! {
    Commit => r#"{
        "id": "6104942438c14ec7bd21c6cd5bd995272b3faff6", "short_id": "6104942438c",
        "title": "Sanitize for network graph", "author_name": "randx", "author_email": "user@example.com",
        "committer_name": "Dmitriy", "committer_email": "user@example.com",
        "created_at": "2012-09-20T09:06:12+03:00", "message": "Sanitize for network graph",
        "committed_date": "2012-09-20T09:06:12+03:00", "authored_date": "2012-09-20T09:06:12+03:00",
        "parent_ids": ["ae1d9fb46aa2b07ee9836d49862ec4e2c46fbbba"],
        "last_pipeline": {"id": 8, "ref": "master", "sha": "2dc6aa325a317eda67812f05600bdf0fcdc70ab0",
            "status": "created"},
        "stats": {"additions": 15, "deletions": 10, "total": 25}, "status": "running", "project_id": 3
    }"#;
    Commit => r#"{"id": "ed899a2f4b50b4370feeea94676502b42383c746", "short_id": "ed899a2f4b5", "title": "Replace",
        "author_name": "A", "author_email": "a@example.com", "created_at": "2012-09-20T11:50:22+03:00",
        "last_pipeline": null, "status": null}"#;
    DiffEntry => r#"{
        "diff": "--- a/doc/update.md\n+++ b/doc/update.md\n@@ -1 +1 @@\n-a\n+b\n", "new_path": "doc/update.md",
        "old_path": "doc/update.md", "a_mode": null, "b_mode": "100644", "new_file": false, "renamed_file": false,
        "deleted_file": false
    }"#;
    CommitComment => r#"{
        "note": "this code is really nice",
        "author": {"id": 11, "username": "admin", "email": "admin@local.host", "name": "Administrator",
            "state": "active", "created_at": "2014-03-06T08:17:35.000Z"},
        "path": "doc/a.md", "line": 11, "line_type": "new", "created_at": "2016-01-19T09:44:55.600Z"
    }"#;
    CommitComment => r#"{"note": "at the end", "author": null, "path": null, "line": null, "line_type": null}"#;
    CommitStatus => r#"{
        "status": "pending", "created_at": "2016-01-19T08:40:25.934Z", "started_at": null, "name": "bundler:audit",
        "allow_failure": true, "id": 91, "sha": "18f3e63d05582537db6d183d9d557be09e1f90c8", "ref": "master",
        "target_url": "https://ci.example/91", "description": null, "finished_at": null, "coverage": 100.0,
        "author": {"username": "janedoe", "state": "active", "web_url": "https://h/janedoe",
            "avatar_url": "https://h/a.png", "id": 28, "name": "Jane Doe"}
    }"#;
    CommitSignature => r#"{"signature_type": "PGP", "verification_status": "verified",
        "gpg_key_primary_keyid": "8254AAB3FBD54AC9", "gpg_key_user_name": "John Doe",
        "gpg_key_user_email": "johndoe@example.com"}"#;
    CommitSignature => r#"{"signature_type": "SSH", "verification_status": "verified", "key": {"title": "Key"}}"#;
    CommitSignature => r#"{"signature_type": "X509", "verification_status": "unverified", "x509_certificate":
        {"subject": "CN=git@example.org,OU=Development", "email": "git@example.org"}}"#;
    CommitRef => r#"{"type": "branch", "name": "'test'"}"#;
}
