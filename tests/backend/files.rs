//! Files of a repository by their path: content, headers, blame, and commits of one file.

use crate::{Server, WORLD, each, header, json};
use reqwest::Method;
use serde_json::{Value, json as value};

const FILE: &str = "/projects/1/repository/files/src%2Fmain.rs";

async fn server() -> Server {
    Server::of(WORLD, &Default::default()).await
}

#[tokio::test]
async fn a_file_is_read_with_its_content_and_the_commit_that_changed_it_last() {
    let server = server().await;
    let last = server.read("", "/projects/1/repository/commits?path=src/main.rs").await[0]["id"].clone();
    let reply = server.get("", &format!("{FILE}?ref=main")).await;
    assert_eq!(header(&reply, "x-gitlab-file-name"), "main.rs");
    let file = json(reply, 200).await;
    assert_eq!(
        file,
        value!({
            "file_name": "main.rs",
            "file_path": "src/main.rs",
            "size": 37,
            "encoding": "base64",
            "content_sha256": "35e0393811f794547c34763eb5773d6cddb295dc4f372180ed4aae67da3ea45f",
            "ref": "main",
            "blob_id": file["blob_id"],
            "commit_id": last,
            "last_commit_id": last,
            "execute_filemode": false,
            "content": "Zm4gbWFpbigpIHsKICAgIHByaW50bG4hKCJoZWxsbyIpOwp9Cg==",
        })
    );
    let head = server.call("", Method::HEAD, &format!("{FILE}?ref=louder")).send().await.unwrap();
    assert_eq!(head.status(), 200);
    let commit = server.read("", "/projects/1/repository/commits/louder").await["id"].as_str().unwrap().to_owned();
    for (name, expected) in [
        ("commit-id", commit.as_str()),
        ("last-commit-id", commit.as_str()),
        ("encoding", "base64"),
        ("execute-filemode", "false"),
        ("file-name", "main.rs"),
        ("file-path", "src/main.rs"),
        ("ref", "louder"),
        ("size", "37"),
    ] {
        assert_eq!(header(&head, &format!("x-gitlab-{name}")), expected, "{name}");
    }
    assert_eq!(head.text().await.unwrap(), "");
    let refused = |path: String| {
        let server = &server;
        async move {
            let reply = server.get("", &path).await;
            let status = reply.status().as_u16();
            let body: Value = reply.json().await.unwrap();
            (status, body.get("message").or(body.get("error")).unwrap().as_str().unwrap().to_owned())
        }
    };
    assert_eq!(refused(FILE.into()).await, (400, "ref is missing".into()));
    assert_eq!(refused(format!("{FILE}?ref=")).await, (400, "ref is empty".into()));
    assert_eq!(refused(format!("{FILE}?ref=gone")).await, (404, "404 Commit Not Found".into()));
    let folder = "/projects/1/repository/files/src?ref=main".to_owned();
    assert_eq!(refused(folder).await, (404, "404 File Not Found".into()));
}

#[tokio::test]
async fn raw_content_has_the_headers_of_the_file() {
    let server = server().await;
    let raw = server.get("", &format!("{FILE}/raw?ref=main")).await;
    assert_eq!((header(&raw, "x-gitlab-size"), header(&raw, "x-gitlab-ref")), ("37", "main"));
    assert_eq!(header(&raw, "x-gitlab-last-commit-id").len(), 40);
    assert_eq!(raw.text().await.unwrap(), "fn main() {\n    println!(\"hello\");\n}\n");
    let raw = server.get("", &format!("{FILE}/raw")).await;
    assert_eq!((raw.status().as_u16(), header(&raw, "x-gitlab-ref")), (200, ""));
}

#[tokio::test]
async fn blame_can_be_limited_to_a_range_of_lines() {
    let server = server().await;
    let all = server.read("", &format!("{FILE}/blame?ref=louder")).await;
    let lines = |of: &Value| -> Vec<(String, usize)> {
        let part = |part: &Value| {
            (part["commit"]["title"].as_str().unwrap().to_owned(), part["lines"].as_array().unwrap().len())
        };
        of.as_array().unwrap().iter().map(part).collect()
    };
    let part = |title: &str, lines| (title.to_owned(), lines);
    assert_eq!(lines(&all), [part("Say hello", 1), part("Say it louder", 1), part("Say hello", 1)]);
    let two = server.read("", &format!("{FILE}/blame?ref=louder&range[start]=2&range[end]=3")).await;
    assert_eq!(lines(&two), [part("Say it louder", 1), part("Say hello", 1)]);
    for (query, why) in [
        ("range[start]=2", "range[end] is missing"),
        ("range[start]=0&range[end]=1", "range[start] does not have a valid value"),
        ("range[start]=a&range[end]=1", "range[start] is invalid"),
    ] {
        let refused = json(server.get("", &format!("{FILE}/blame?ref=louder&{query}")).await, 400).await;
        assert_eq!(refused["error"], why);
    }
    let refused = json(server.get("", &format!("{FILE}/blame?ref=main&range[start]=3&range[end]=2")).await, 400).await;
    assert_eq!(refused["message"], "range[start] must be less than or equal to range[end]");
}

async fn send(server: &Server, user: &str, method: Method, path: &str, body: Value) -> reqwest::Response {
    server.call(user, method, path).json(&body).send().await.unwrap()
}

#[tokio::test]
async fn files_are_created_changed_and_deleted_in_commits_of_their_own() {
    let server = server().await;
    let path = "/projects/1/repository/files/docs%2Fa.md";
    let body = value!({"branch": "main", "commit_message": "Add a page", "content": "b25lCg==", "encoding": "base64",
        "author_name": "Someone", "author_email": "someone@example.com"});
    let created = json(send(&server, "ada", Method::POST, path, body.clone()).await, 201).await;
    assert_eq!(created, value!({"file_path": "docs/a.md", "branch": "main"}));
    let commit = server.read("", "/projects/1/repository/commits/main").await;
    assert_eq!((&commit["title"], &commit["author_name"]), (&value!("Add a page"), &value!("Someone")));
    let again = json(send(&server, "ada", Method::POST, path, body).await, 400).await;
    assert_eq!(again["message"], "A file with this name already exists");

    let form = [("branch", "main"), ("commit_message", "Change it"), ("content", "two\n"), ("last_commit_id", "0123")];
    let stale = json(server.put("ada", path, &form).await, 400).await;
    let why = "You are attempting to update a file that has changed since you started editing it.";
    assert_eq!(stale["message"], why);
    let known = commit["id"].as_str().unwrap();
    let form = [("branch", "main"), ("commit_message", "Change it"), ("content", "two\n"), ("last_commit_id", known)];
    let changed = json(server.put("ada", path, &form).await, 200).await;
    assert_eq!(changed, value!({"file_path": "docs/a.md", "branch": "main"}));
    assert_eq!(server.get("", &format!("{path}/raw")).await.text().await.unwrap(), "two\n");

    let form = [("branch", "next"), ("start_branch", "main"), ("commit_message", "Elsewhere"), ("content", "three")];
    json(server.put("ada", path, &form).await, 200).await;
    let branches = server.read("", "/projects/1/repository/branches").await;
    assert_eq!(each(&branches, "name"), ["louder", "main", "next"]);

    let query = "branch=main&commit_message=Remove%20it";
    let gone = server.delete("ada", &format!("{path}?{query}")).await;
    assert_eq!((gone.status().as_u16(), gone.text().await.unwrap().as_str()), (204, ""));
    let missing = json(server.delete("ada", &format!("{path}?{query}")).await, 400).await;
    assert_eq!(missing["message"], "A file with this name doesn't exist");
    let missing = json(server.delete("ada", path).await, 400).await;
    assert_eq!(missing["error"], "branch is missing, commit_message is missing");
}

#[tokio::test]
async fn the_common_ancestor_of_refs_is_found() {
    let server = server().await;
    let main = server.read("", "/projects/1/repository/commits/main").await["id"].clone();
    for query in ["refs[]=main&refs[]=louder", "refs=main,louder", "refs[]=louder&refs[]=main&refs[]=main"] {
        assert_eq!(server.read("", &format!("/projects/1/repository/merge_base?{query}")).await["id"], main, "{query}");
    }
    for (query, why) in [
        ("refs[]=main", "Provide at least 2 refs"),
        ("refs[]=main&refs[]=a", "Could not find ref: a"),
        ("refs=a,b", "Could not find refs: a, b"),
    ] {
        let refused = json(server.get("", &format!("/projects/1/repository/merge_base?{query}")).await, 400).await;
        assert_eq!(refused["message"], why);
    }
}

#[tokio::test]
async fn a_straight_comparison_compares_both_ends() {
    let server = server().await;
    crate::add_file(&server, "ada", "/projects/1", "main").await;
    let compare = |query: &'static str| {
        let server = &server;
        async move { server.read("", &format!("/projects/1/repository/compare?from=main&to=louder{query}")).await }
    };
    assert_eq!(each(&compare("").await["diffs"], "new_path"), ["src/main.rs"]);
    assert_eq!(each(&compare("&straight=true").await["diffs"], "new_path"), ["new", "src/main.rs"]);
}

#[tokio::test]
async fn branches_and_tags_are_searched_by_their_ends_and_by_patterns() {
    let server = server().await;
    for name in ["release-1", "release-2", "old-release", "re"] {
        json(server.post("ada", "/projects/1/repository/branches", &[("branch", name), ("ref", "main")]).await, 201)
            .await;
        json(server.post("ada", "/projects/1/repository/tags", &[("tag_name", name), ("ref", "main")]).await, 201)
            .await;
    }
    for (query, names) in [
        ("search=RELEASE", ["old-release", "release-1", "release-2"].as_slice()),
        ("search=^release", &["release-1", "release-2"]),
        ("search=release$", &["old-release"]),
        ("search=^re$", &["re"]),
        ("search=re*2", &["release-2"]),
        ("search=re", &["re", "old-release", "release-1", "release-2"]),
    ] {
        let found = server.read("", &format!("/projects/1/repository/branches?{query}")).await;
        assert_eq!(each(&found, "name"), names, "{query}");
        let found = server.read("", &format!("/projects/1/repository/tags?order_by=name&sort=asc&{query}")).await;
        let (mut found, mut names) = (each(&found, "name"), names.to_vec());
        found.sort_unstable();
        names.sort_unstable();
        assert_eq!(found, names, "{query}");
    }
    let found = server.read("", "/projects/1/repository/branches?regex=^release-[12]$&sort=updated_desc").await;
    assert_eq!(found.as_array().unwrap().len(), 2);
    let refused = json(server.get("", "/projects/1/repository/branches?regex=(").await, 400).await;
    assert_eq!(refused["message"], "400 Bad request - Regex is invalid");
}

#[tokio::test]
async fn a_commit_is_reverted_on_a_branch() {
    let server = server().await;
    let sha = server.read("", "/projects/1/repository/commits/louder").await["id"].as_str().unwrap().to_owned();
    let path = format!("/projects/1/repository/commits/{sha}/revert");
    let tried = json(server.post("ada", &path, &[("branch", "louder"), ("dry_run", "true")]).await, 200).await;
    assert_eq!(tried, value!({"dry_run": "success"}));
    assert_eq!(server.read("", "/projects/1/repository/commits/louder").await["id"], sha.as_str());
    let reverted = json(server.post("ada", &path, &[("branch", "louder")]).await, 201).await;
    assert_eq!(reverted["message"], format!("Revert \"Say it louder\"\n\nThis reverts commit {sha}"));
    let raw = server.get("", &format!("{FILE}/raw?ref=louder")).await.text().await.unwrap();
    assert!(raw.contains("hello"), "{raw}");
    let again = json(server.post("ada", &path, &[("branch", "louder")]).await, 400).await;
    assert_eq!(again["error_code"], "empty", "{again}");
    assert!(again["message"].as_str().unwrap().starts_with("Sorry, we cannot revert this commit automatically."));
    let nowhere = json(server.post("ada", &path, &[("branch", "nowhere")]).await, 404).await;
    assert_eq!(nowhere["message"], "404 Branch Not Found");
    let first = server.read("", "/projects/1/repository/commits/main").await["id"].as_str().unwrap().to_owned();
    crate::add_file(&server, "ada", "/projects/1", "main").await;
    let form = [("branch", "main"), ("commit_message", "More"), ("content", "fn main() {}\n")];
    json(server.put("ada", FILE, &form).await, 200).await;
    let path = format!("/projects/1/repository/commits/{first}/revert");
    let conflict = json(server.post("ada", &path, &[("branch", "main")]).await, 400).await;
    assert_eq!((&conflict["error_code"], conflict.get("dry_run")), (&"conflict".into(), None));
    let tried = json(server.post("ada", &path, &[("branch", "main"), ("dry_run", "true")]).await, 400).await;
    assert_eq!((&tried["error_code"], &tried["dry_run"]), (&"conflict".into(), &"error".into()));
}

#[tokio::test]
async fn a_single_protection_rule_is_read_by_its_name() {
    let server = server().await;
    json(server.post("ada", "/projects/1/protected_branches", &[("name", "release/*")]).await, 201).await;
    let rule = server.read("ada", "/projects/1/protected_branches/release%2F*").await;
    assert_eq!((&rule["name"], &rule["push_access_levels"][0]["access_level"]), (&"release/*".into(), &40.into()));
    json(server.get("ada", "/projects/1/protected_branches/none").await, 404).await;
}
