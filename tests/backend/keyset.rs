//! Lists that are read by keyset pagination, and the pages that only it reaches.

use crate::{Server, WORLD, each, header, json};
use labscope::backend::{Modes, Options, Version};
use reqwest::Method;
use serde_json::Value;

/// Follows the links of a list. Returns the values of a field, page by page.
async fn walk(server: &Server, user: &str, path: &str, field: &str) -> Vec<Vec<Value>> {
    let (mut pages, mut next) = (Vec::new(), path.to_owned());
    while pages.len() < 50 {
        let reply = server.get(user, &next).await;
        assert!(["x-total", "x-page", "x-next-page"].iter().all(|name| header(&reply, name) == "absent"), "{next}");
        let link = header(&reply, "link").to_owned();
        let rows = json(reply, 200).await;
        pages.push(rows.as_array().unwrap().iter().map(|row| row[field].clone()).collect());
        if link == "absent" {
            return pages;
        }
        let (url, rest) = link.trim_start_matches('<').split_once('>').unwrap();
        assert_eq!(rest, "; rel=\"next\"", "{link}");
        next = url.split_once("/api/v4").unwrap().1.to_owned();
    }
    panic!("{path} does not end: {pages:?}");
}

/// Starts a server with several groups, projects and issues.
async fn server() -> Server {
    let server = Server::of(WORLD, &Default::default()).await;
    for name in ["b", "A", "c"] {
        let form = [("name", name), ("path", &*format!("group-{name}"))];
        json(server.post("root", "/groups", &form).await, 201).await;
        json(server.post("ada", "/projects", &[("name", name)]).await, 201).await;
        json(server.post("ada", "/projects/1/issues", &[("title", name)]).await, 201).await;
    }
    json(server.put("ada", "/projects/1/issues/2", &[("due_date", "2026-12-01")]).await, 200).await;
    server
}

#[tokio::test]
async fn lists_are_read_page_by_page_after_the_last_row() {
    let server = server().await;
    let numbers = |pages: &[&[u64]]| -> Vec<Vec<Value>> {
        pages.iter().map(|page| page.iter().map(|number| Value::from(*number)).collect()).collect()
    };
    let texts = |pages: &[&[&str]]| -> Vec<Vec<Value>> {
        pages.iter().map(|page| page.iter().map(|text| Value::from(*text)).collect()).collect()
    };
    // Only the page after the last project tells that it was the last.
    let pages = walk(&server, "ada", "/projects?pagination=keyset&order_by=id&sort=asc&per_page=2", "id").await;
    assert_eq!(pages, numbers(&[&[1, 2], &[3, 4], &[]]));
    let pages = walk(&server, "ada", "/projects?pagination=keyset&order_by=id&sort=desc&per_page=3", "id").await;
    assert_eq!(pages, numbers(&[&[4, 3, 2], &[1], &[]]));
    let pages = walk(&server, "root", "/groups?pagination=keyset&order_by=name&sort=asc&per_page=2", "name").await;
    assert_eq!(pages, texts(&[&["A", "b"], &["c"]]));
    let pages = walk(&server, "root", "/users?pagination=keyset&order_by=name&sort=asc&per_page=3", "username").await;
    assert_eq!(pages, texts(&[&["ada", "bo", "eve"], &["root"]]));
    let pages = walk(&server, "ada", "/users?pagination=keyset&order_by=id&sort=desc&per_page=2", "id").await;
    assert_eq!(pages.concat().len(), 4);
    for query in ["", "&order_by=id&sort=desc"] {
        let path = format!("/projects/1/jobs?pagination=keyset&per_page=1{query}");
        assert_eq!(walk(&server, "ada", &path, "id").await, numbers(&[&[2], &[1]]), "{query}");
    }
    for (order, pages) in [
        ("created_at&sort=asc", [&[1, 2][..], &[3]]),
        ("created_at", [&[3, 2], &[1]]),
        ("updated_at&sort=asc", [&[1, 2], &[3]]),
        ("title&sort=asc", [&[2, 1], &[3]]),
        ("due_date&sort=asc", [&[2, 1], &[3]]),
        ("due_date&sort=desc", [&[2, 3], &[1]]),
    ] {
        let path = format!("/projects/1/issues?pagination=keyset&per_page=2&order_by={order}");
        assert_eq!(walk(&server, "ada", &path, "iid").await, numbers(&pages), "{order}");
    }
    for path in ["/projects/1/repository/branches?", "/projects/1/repository/tree?recursive=true&"] {
        let all = server.read("ada", path).await;
        let pages = walk(&server, "ada", &format!("{path}pagination=keyset&per_page=1"), "name").await;
        assert_eq!(pages.concat(), each(&all, "name"), "{path}");
        assert_eq!(pages.len(), 2, "{path}");
    }
    let whole = server.get("ada", "/projects/1/repository/tree?recursive=true&per_page=1&pagination=none").await;
    assert_eq!(header(&whole, "link"), "absent");
    assert_eq!(json(whole, 200).await.as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn rows_that_come_and_go_move_no_page() {
    let server = server().await;
    let list = "/projects/1/issues?pagination=keyset&per_page=1&order_by=title&sort=asc";
    let token = server.token("ada");
    let first = server.call("", Method::GET, &format!("{list}&private_token={token}")).send().await.unwrap();
    let link = header(&first, "link").to_owned();
    assert!(!link.contains(token), "{link}");
    let cursor = link.split("cursor=").nth(1).unwrap().split('&').next().unwrap().to_owned();
    // The row that the cursor names is gone, and another one comes before it.
    json(server.put("ada", "/projects/1/issues/2", &[("title", "Z")]).await, 200).await;
    json(server.post("ada", "/projects/1/issues", &[("title", "0")]).await, 201).await;
    let second = server.read("ada", &format!("{list}&cursor={cursor}")).await;
    assert_eq!(each(&second, "title"), ["b"]);
    for broken in ["x", "e30", &format!("{cursor}=")] {
        let reply = server.get("ada", &format!("{list}&cursor={broken}")).await;
        assert_eq!(json(reply, 400).await["error"], "cursor is invalid", "{broken}");
    }
    let reply = server.get("ada", "/projects/1/repository/branches?pagination=keyset&page_token=gone").await;
    assert_eq!(json(reply, 400).await["error"], "page_token is invalid");
}

#[tokio::test]
async fn other_orders_and_far_pages_are_refused() {
    let server = server().await;
    for path in [
        "/projects?pagination=keyset",
        "/projects?pagination=keyset&order_by=name",
        "/groups?pagination=keyset&sort=desc",
        "/groups?pagination=keyset&order_by=path",
        "/projects/1/jobs?pagination=keyset&order_by=id&sort=asc",
        "/projects/1/issues?pagination=keyset&order_by=popularity",
    ] {
        let reply = json(server.get("root", path).await, 405).await;
        assert_eq!(reply["error"], "Keyset pagination is not yet available for this type of request", "{path}");
    }
    for (path, kind) in [
        ("/projects", "Project"),
        ("/groups", "Group"),
        ("/users", "User"),
        ("/projects/1/jobs", "Ci::Build"),
        ("/projects/1/issues", "Issue"),
    ] {
        assert_eq!(server.get("root", &format!("{path}?page=500&per_page=100")).await.status(), 200, "{path}");
        for far in ["page=501&per_page=100", "page=9223372036854775807"] {
            let reply = json(server.get("root", &format!("{path}?{far}")).await, 405).await;
            let why = format!(
                "Offset pagination has a maximum allowed offset of 50000 for requests that return objects of type {kind}. \
                 Remaining records can be retrieved using keyset pagination."
            );
            assert_eq!(reply["error"], why, "{path}");
        }
    }
    // Other lists go on, however far.
    for path in ["/issues", "/merge_requests", "/projects/1/merge_requests", "/projects/1/repository/branches"] {
        let far = format!("{path}?page=9223372036854775807&per_page=100&pagination=x");
        assert_eq!(server.read("root", &far).await, Value::from(Vec::<Value>::new()), "{path}");
    }
    let search = "/search?scope=blobs&search=hello&page=9223372036854775807&per_page=100";
    assert!(server.get("root", search).await.status().as_u16() < 500, "{search}");
}

#[tokio::test]
async fn old_servers_count_pages() {
    for (version, path, status) in [
        (Version::V10_6, "/users?pagination=keyset&per_page=1", 200),
        (Version::V10_6, "/users?page=501&per_page=100", 200),
        (Version::V17, "/users?page=501&per_page=100", 405),
    ] {
        let server = Server::with(Options { modes: Modes::of(version), ..Options::default() }).await;
        let reply = server.get("root", path).await;
        assert_eq!((reply.status().as_u16(), header(&reply, "x-total") != "absent"), (status, status == 200), "{path}");
    }
    let server = Server::with(Options { modes: Modes::of(Version::V17), ..Options::default() }).await;
    json(server.post("ada", "/projects", &[("name", "a")]).await, 201).await;
    let reply = server.get("ada", "/projects/1/issues?pagination=keyset&order_by=created_at").await;
    assert_eq!(header(&reply, "x-total"), "0");
}
