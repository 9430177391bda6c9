//! Servers that do not know full names of refs, such as `refs/tags/v1`.

use crate::client::client;
use crate::scripted::{Scripted, answer};
use labscope::api::branches::CreateBranch;
use labscope::api::repository::ListTree;

fn tree(name: &str) -> ListTree {
    ListTree { id: "a/b".into(), r#ref: Some(name.into()), ..ListTree::default() }
}

fn paths(server: &Scripted) -> Vec<String> {
    let paths = server.asked().into_iter().map(|asked| asked.line.replace("/api/v4/projects/a%2Fb/repository/", ""));
    paths.collect()
}

#[tokio::test]
async fn a_server_that_knows_only_short_names_of_refs_is_asked_by_them() {
    let missing = || answer(404, r#"{"message":"404 Tree Not Found"}"#);
    let tag = answer(200, r#"{"name":"v1"}"#);
    let server = Scripted::start([missing(), missing(), tag, answer(200, "[]"), answer(200, "[]")]).await;
    let client = client(&server);
    for _ in 0..2 {
        client.call(&tree("refs/tags/v1")).await.expect("the tree of the tag");
    }
    assert_eq!(
        paths(&server),
        [
            "GET tree?ref=refs%2Ftags%2Fv1",
            "GET commits/refs%2Ftags%2Fv1",
            "GET tags/v1",
            "GET tree?ref=v1",
            "GET tree?ref=v1"
        ]
    );
}

#[tokio::test]
async fn a_write_that_is_refused_for_a_full_name_is_sent_with_the_short_one() {
    let refused = answer(400, r#"{"message":"Invalid reference name"}"#);
    let branch = || answer(200, r#"{"name":"b/c"}"#);
    let server = Scripted::start([refused, answer(404, "{}"), branch(), answer(201, r#"{"name":"new"}"#)]).await;
    let create = CreateBranch { id: "a/b".into(), branch: "new".into(), r#ref: "refs/heads/b/c".into() };
    client(&server).call(&create).await.expect("a branch");
    let asked = server.asked();
    assert_eq!((&*asked[0].body, &*asked[3].body), ("branch=new&ref=refs%2Fheads%2Fb%2Fc", "branch=new&ref=b%2Fc"));
    assert_eq!(paths(&server)[1..3], ["GET commits/refs%2Fheads%2Fb%2Fc", "GET branches/b%2Fc"]);
}

#[tokio::test]
async fn what_a_ref_does_not_have_is_not_searched_in_one_of_the_same_name() {
    let missing = || answer(404, r#"{"message":"404 Tree Not Found"}"#);
    // The server knows the full name, or has no such tag: both times, the answer to the first request stands.
    for answers in [
        vec![missing(), answer(200, r#"{"id":"a"}"#), missing()],
        vec![missing(), missing(), missing(), missing(), missing(), missing()],
    ] {
        let count = answers.len();
        let server = Scripted::start(answers).await;
        let client = client(&server);
        for _ in 0..2 {
            let error = client.call(&tree("refs/tags/v1")).await.unwrap_err();
            assert!(error.is_missing(), "{error}");
        }
        assert_eq!(paths(&server).len(), count);
        assert!(!paths(&server).contains(&"GET tree?ref=v1".to_owned()), "{:?}", paths(&server));
    }
}
