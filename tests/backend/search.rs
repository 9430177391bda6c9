//! Search in the files, commits and notes of a project, and its limits.

use crate::{Server, WORLD, each, header, json};
use reqwest::Method;
use serde_json::{Value, json as value};

async fn server(files: Vec<Value>) -> Server {
    let server = Server::of(WORLD, &Default::default()).await;
    let commit = value!({"branch": "main", "commit_message": "Hide the needle", "actions": files});
    let call = server.call("ada", Method::POST, "/projects/1/repository/commits").json(&commit);
    json(call.send().await.unwrap(), 201).await;
    server
}

fn file(path: &str, content: &str) -> Value {
    value!({"action": "create", "file_path": path, "content": content})
}

fn found(scope: &str, text: &str) -> String {
    format!("/projects/1/-/search?scope={scope}&search={text}")
}

#[tokio::test]
async fn blob_search_finds_texts_and_names_with_context_lines() {
    let long = "a needle\n".repeat(200_000);
    let files = vec![
        file("deep/text.md", "1\n2\n3\n4\na Needle\n6\n7\n8\n"),
        file("needle.rs", "nothing\n"),
        file("bytes", "a needle\0"),
        file("long.txt", &long),
        file("parts.md", "a needle\n2\n3\n4\nneedle\n6\n7\n8\n9\n10\n11\nNeedle\n"),
    ];
    let server = server(files).await;
    let hits = server.read("bo", &found("blobs", "NEEDLE")).await;
    let files = ["deep/text.md", "needle.rs", "parts.md", "parts.md"];
    assert_eq!(each(&hits, "filename"), files, "no binary and no very long files");
    assert_eq!((hits[0]["basename"].as_str(), hits[0]["ref"].as_str()), (Some("deep/text"), Some("main")));
    assert_eq!((hits[0]["startline"].as_u64(), hits[0]["data"].as_str()), (Some(3), Some("3\n4\na Needle\n6\n7\n")));
    assert_eq!((hits[1]["startline"].as_u64(), hits[1]["data"].as_str()), (Some(1), Some("nothing\n")));
    // Matches whose context lines meet are one part.
    let part = |at: usize| (hits[at]["startline"].as_u64(), hits[at]["data"].as_str());
    assert_eq!(part(2), (Some(1), Some("a needle\n2\n3\n4\nneedle\n6\n7\n")));
    assert_eq!(part(3), (Some(10), Some("10\n11\nNeedle\n")));

    let commits = server.read("bo", &found("commits", "the+needle")).await;
    assert_eq!(each(&commits, "title"), ["Hide the needle"]);
    let id = commits[0]["id"].as_str().unwrap();
    assert_eq!(server.read("bo", &found("commits", &id[..7])).await[0]["id"], id);
    assert_eq!(server.read("bo", &found("commits", &id[..6])).await, value!([]), "six digits are not a SHA");
    assert_eq!(each(&server.read("bo", &found("notes", "why")).await, "body"), ["Why?"]);
    assert_eq!(server.read("bo", &found("wiki_blobs", "needle")).await, value!([]));

    let everywhere = json(server.get("bo", "/search?scope=blobs&search=needle").await, 400).await;
    assert!(everywhere.to_string().contains("Scope not supported"), "{everywhere}");
    assert_eq!(server.get("bo", &found("rubbish", "needle")).await.status(), 400);
    assert_eq!(server.get("", &found("blobs", "needle")).await.status(), 401);
}

#[tokio::test]
async fn a_search_stops_at_the_maximum_number_of_results() {
    let server = server((0..205).map(|n| file(&format!("f/{n}"), "hay\n")).collect()).await;
    let page = |n: usize| {
        let server = &server;
        async move { server.get("bo", &format!("{}&per_page=100&page={n}", found("blobs", "hay"))).await }
    };
    let first = page(1).await;
    assert_eq!((header(&first, "x-total"), header(&first, "x-next-page")), ("absent", "2"));
    let second = page(2).await;
    assert_eq!(header(&second, "x-next-page"), "");
    assert_eq!(json(second, 200).await.as_array().unwrap().len(), 100);
    assert_eq!(json(page(3).await, 200).await, value!([]));
}

#[tokio::test]
async fn people_are_found_everywhere_and_among_the_members() {
    let server = server(vec![file("a", "a")]).await;
    json(server.post("root", "/groups", &[("name", "Acme"), ("path", "acme"), ("visibility", "public")]).await, 201)
        .await;
    for (path, names) in [
        ("/search?scope=users&search=O", vec!["ada", "bo", "root"]),
        ("/projects/1/-/search?scope=users&search=o", vec!["ada", "bo"]),
        ("/groups/acme/-/search?scope=users&search=o", vec!["root"]),
        ("/search?scope=users&search=sommer", vec!["ada"]),
    ] {
        let mut found = server.read("eve", path).await;
        found.as_array_mut().unwrap().sort_by_key(|user| user["username"].to_string());
        assert_eq!(each(&found, "username"), names, "{path}");
        assert!(found[0].get("email").is_none(), "{found}");
    }
}
