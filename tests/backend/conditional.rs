//! Replies have entity tags, as Rack gives them to every reply of GitLab, and a client that has one is not sent it again.

use crate::{Server, json};
use labscope::backend::{Options, WorldKind};
use reqwest::{Method, Response};

const BRANCHES: &str = "/projects/acme%2Frocket-ui/repository/branches?per_page=2";

async fn demo() -> Server {
    Server::with(Options { world: WorldKind::Demo, ..Options::default() }).await
}

fn tag_of(reply: &Response) -> String {
    reply.headers().get("etag").and_then(|tag| tag.to_str().ok()).unwrap_or_default().to_owned()
}

async fn ask(server: &Server, method: Method, path: &str, known: &str) -> Response {
    server.call("ada", method, path).header("if-none-match", known).send().await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_known_reply_is_answered_with_its_tag_alone() {
    let server = demo().await;
    let first = server.get("ada", BRANCHES).await;
    let tag = tag_of(&first);
    assert!(tag.starts_with("W/\""), "{tag}");
    assert_eq!(first.headers()["cache-control"], "max-age=0, private, must-revalidate");
    for known in [tag.clone(), tag.trim_start_matches("W/").to_owned(), format!("\"other\", {tag}"), "*".to_owned()] {
        let reply = ask(&server, Method::GET, BRANCHES, &known).await;
        assert_eq!((reply.status().as_u16(), tag_of(&reply)), (304, tag.clone()), "{known}");
        assert!(reply.headers().contains_key("x-total") && !reply.headers().contains_key("content-type"));
        assert!(reply.bytes().await.unwrap().is_empty());
    }
    for other in ["\"other\"", "", "W/", &tag.to_uppercase()] {
        assert_eq!(ask(&server, Method::GET, BRANCHES, other).await.status(), 200, "{other}");
    }
    let form = [("branch", "a-first"), ("ref", "main")];
    let created = server.post("ada", "/projects/acme%2Frocket-ui/repository/branches", &form).await;
    json(created, 201).await;
    let changed = ask(&server, Method::GET, BRANCHES, &tag).await;
    assert_eq!(changed.status(), 200);
    assert_ne!(tag_of(&changed), tag);
}

#[tokio::test(flavor = "multi_thread")]
async fn writes_errors_and_people_without_access_get_no_304() {
    let server = demo().await;
    let issue = "/projects/acme%2Frocket-ui/issues/42";
    assert_eq!(ask(&server, Method::PUT, &format!("{issue}?title=New"), "*").await.status(), 200);
    assert_eq!(ask(&server, Method::GET, "/projects/acme%2Fnone", "*").await.status(), 404);
    let secret = server.call("", Method::GET, "/user").header("if-none-match", "*").send().await.unwrap();
    assert_eq!(secret.status(), 401);
}
