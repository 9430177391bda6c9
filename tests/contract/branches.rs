//! Branches.

use crate::sample::{acme, word};
use labscope::api::branches::*;

requests! {
    ListBranches { id: acme(), search: word("a b") } => "GET /projects/acme%2Fui/repository/branches?search=a%20b";
    GetBranch { id: 5.into(), branch: "feature/rows".into() } =>
        "GET /projects/5/repository/branches/feature%2Frows";
    ProtectBranch {
        id: 5.into(),
        branch: "main".into(),
        developers_can_push: Some(true),
        developers_can_merge: Some(false),
    } => "PUT /projects/5/repository/branches/main/protect | developers_can_merge=false&developers_can_push=true";
    UnprotectBranch { id: 5.into(), branch: "main".into() } => "PUT /projects/5/repository/branches/main/unprotect";
    CreateBranch { id: 5.into(), branch: "new".into(), r#ref: "main".into() } =>
        "POST /projects/5/repository/branches | branch=new&ref=main";
    DeleteBranch { id: 5.into(), branch: "ü#1".into() } => "DELETE /projects/5/repository/branches/%C3%BC%231";
    DeleteMergedBranches { id: 5.into() } => "DELETE /projects/5/repository/merged_branches";
}

samples! {
    Branch => r#"{
        "name": "main", "merged": false, "protected": true, "developers_can_push": false,
        "developers_can_merge": true,
        "commit": {
            "author_email": "john@example.com", "author_name": "John Smith",
            "authored_date": "2012-06-27T05:51:39-07:00", "committed_date": "2012-06-28T03:44:20-07:00",
            "committer_email": "john@example.com", "committer_name": "John Smith",
            "id": "7b5c3cc8be40ee161ae89a06bba6229da1032a0c", "short_id": "7b5c3cc", "title": "add projects API",
            "message": "add projects API", "parent_ids": ["4ad91d3c1144c406e50c7b33bae684bd6837faf8"]
        }
    }"#;
}
