//! Changelogs from the trailers of commits.

use crate::{Server, WORLD, json};
use serde_json::json as value;

const AT: &str = "/projects/1/repository/changelog";

#[tokio::test]
async fn a_changelog_lists_the_commits_with_a_trailer_by_category() {
    let server = Server::of(WORLD, &Default::default()).await;
    let failed = json(server.get("", &format!("{AT}?version=1.0.0")).await, 422).await;
    let why = "The commit start range is unspecified, and no previous tag could be found to use instead";
    assert_eq!(failed["message"], format!("Failed to generate the changelog: {why}"));
    json(server.post("ada", "/projects/1/repository/tags", &[("tag_name", "v0.9.0"), ("ref", "main")]).await, 201)
        .await;
    let none = server.read("", &format!("{AT}?version=1.0.0&date=2026-01-02")).await;
    assert_eq!(none, value!({"notes": "## 1.0.0 (2026-01-02)\n\nNo changes.\n"}));

    for (name, message) in [
        ("a", "Add a\n\nChangelog: added"),
        ("b", "Add b\n\nChangelog: added"),
        ("c", "Mend c\n\nBody.\n\nChangelog: fixed\nSigned-off-by: Ada"),
        ("d", "Say nothing"),
    ] {
        let form = [("branch", "main"), ("commit_message", message), ("content", "x")];
        json(server.post("ada", &format!("/projects/1/repository/files/{name}"), &form).await, 201).await;
    }
    let commits = server.read("", "/projects/1/repository/commits").await;
    let entry = |at: usize| {
        let (title, id) = (commits[at]["title"].as_str().unwrap(), commits[at]["id"].as_str().unwrap());
        format!("- [{title}](ada/hello@{id})\n")
    };
    let (c, b, a) = (entry(1), entry(2), entry(3));
    let expected = format!("## 1.0.0 (2026-11-20)\n\n### fixed (1 change)\n\n{c}\n### added (2 changes)\n\n{b}{a}");
    assert_eq!(server.read("", &format!("{AT}?version=v1.0.0")).await["notes"], expected);

    assert_eq!(json(server.post("ada", AT, &[("version", "1.0.0")]).await, 200).await, 200);
    let raw = server.get("", "/projects/1/repository/files/CHANGELOG.md/raw").await.text().await.unwrap();
    assert_eq!(raw, expected);
    let commit = server.read("", "/projects/1/repository/commits/main").await;
    assert_eq!(commit["title"], "Add changelog for version 1.0.0");
    let refused = json(server.post("eve", AT, &[("version", "1.1.0")]).await, 403).await;
    let why = "403 Forbidden - You are not allowed to commit a changelog on this branch";
    assert_eq!(refused["message"], why);
    assert_eq!(json(server.get("", &format!("{AT}?version=new")).await, 400).await["error"], "version is invalid");
    assert_eq!(json(server.get("", AT).await, 400).await["error"], "version is missing");
}
