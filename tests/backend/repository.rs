//! Repositories over HTTP: commits created by the API, which plain git can read.

use crate::{Server, WORLD, each, header, json};
use labscope::backend::{Clock, Options};
use reqwest::Method;
use serde_json::{Value, json as value};

async fn commit(server: &Server, body: Value) -> reqwest::Response {
    server.call("ada", Method::POST, "/projects/1/repository/commits").json(&body).send().await.unwrap()
}

#[tokio::test]
async fn commits_can_create_change_move_and_delete_files() {
    let server = Server::empty().await;
    json(server.post("ada", "/projects", &[("name", "Notes")]).await, 201).await;
    let first = value!({"branch": "master", "commit_message": "Begin", "actions": [
        {"action": "create", "file_path": "a.txt", "content": "one\n"},
        {"action": "create", "file_path": "deep/b.bin", "content": "AAE=", "encoding": "base64"},
    ]});
    let first = json(commit(&server, first).await, 201).await;
    assert_eq!(first["stats"]["additions"], 1);
    assert_eq!(server.read("ada", "/projects/1").await["default_branch"], "master");

    let second = value!({"branch": "next", "start_branch": "master", "commit_message": "Go on", "actions": [
        {"action": "update", "file_path": "a.txt", "content": "two\n", "last_commit_id": first["id"]},
        {"action": "move", "file_path": "c.bin", "previous_path": "deep/b.bin"},
    ]});
    let second = json(commit(&server, second).await, 201).await;
    let tree = server.read("ada", "/projects/1/repository/tree?ref=next&recursive=1").await;
    assert_eq!(crate::each(&tree, "path"), ["a.txt", "c.bin"]);

    let refused = |action: Value| {
        let body = value!({"branch": "master", "commit_message": "x", "actions": [action]});
        let server = &server;
        async move { json(commit(server, body).await, 400).await["message"].as_str().unwrap().to_owned() }
    };
    let create = value!({"action": "create", "file_path": "a.txt", "content": ""});
    assert_eq!(refused(create).await, "A file with this name already exists");
    let delete = value!({"action": "delete", "file_path": "z.txt"});
    assert_eq!(refused(delete).await, "A file with this name doesn't exist");
    let escape = value!({"action": "create", "file_path": "../x", "content": ""});
    assert_eq!(refused(escape).await, "Path cannot include directory traversal");
    let stale = value!({"action": "update", "file_path": "a.txt", "content": "", "last_commit_id": "0123"});
    assert_eq!(refused(stale).await, "The file has changed since you started editing it: a.txt");

    let pick = format!("/projects/1/repository/commits/{}/cherry_pick", second["id"].as_str().unwrap());
    let tried = json(server.post("ada", &pick, &[("branch", "master"), ("dry_run", "true")]).await, 200).await;
    assert_eq!(tried, value!({"dry_run": "success"}));
    let picked = json(server.post("ada", &pick, &[("branch", "master")]).await, 201).await;
    assert!(
        picked["message"]
            .as_str()
            .unwrap()
            .ends_with(&format!("(cherry picked from commit {})", second["id"].as_str().unwrap()))
    );
    assert_eq!(
        json(server.post("ada", &pick, &[("branch", "nowhere")]).await, 404).await["message"],
        "404 Branch Not Found"
    );
    let again = json(server.post("ada", &pick, &[("branch", "master")]).await, 400).await;
    assert!(again["message"].as_str().unwrap().starts_with("Sorry, we cannot cherry-pick this commit automatically."));
    assert_eq!(again["error_code"], "empty");
}

/// Creates a project with `a`, `b`, `dir/one` and `dir/two`, then sends one commit of `actions`.
async fn acted(actions: Value) -> (u16, Value, Vec<(String, String)>) {
    let server = Server::empty().await;
    json(server.post("ada", "/projects", &[("name", "Notes")]).await, 201).await;
    let create = |path: &str| value!({"action": "create", "file_path": path, "content": path});
    let begin = ["a", "b", "dir/one", "dir/two"].map(create);
    let begin = value!({"branch": "master", "commit_message": "Begin", "actions": begin});
    json(commit(&server, begin).await, 201).await;
    let reply = commit(&server, value!({"branch": "master", "commit_message": "Go on", "actions": actions})).await;
    let (status, body) = (reply.status().as_u16(), reply.json::<Value>().await.unwrap());
    let tree = server.read("ada", "/projects/1/repository/tree?recursive=1&per_page=100").await;
    let mut files = Vec::new();
    for row in tree.as_array().unwrap().iter().filter(|row| row["type"] == "blob") {
        let raw = server.get("ada", &format!("/projects/1/repository/blobs/{}/raw", row["id"].as_str().unwrap())).await;
        files.push((row["path"].as_str().unwrap().to_owned(), raw.text().await.unwrap()));
    }
    files.sort();
    (status, body.get("message").or(body.get("error")).cloned().unwrap_or_default(), files)
}

fn files(of: &[(&str, &str)]) -> Vec<(String, String)> {
    of.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
}

#[tokio::test]
async fn actions_of_a_commit_are_applied_in_order() {
    let rest = [("b", "b"), ("dir/one", "dir/one"), ("dir/two", "dir/two")];
    let moved = value!([
        {"action": "move", "previous_path": "a", "file_path": "c"},
        {"action": "update", "file_path": "c", "content": "new"},
    ]);
    let (status, _, left) = acted(moved).await;
    assert_eq!((status, left), (201, files(&[rest[0], ("c", "new"), rest[1], rest[2]])));

    let swapped = value!([
        {"action": "move", "previous_path": "a", "file_path": "t"},
        {"action": "move", "previous_path": "b", "file_path": "a"},
        {"action": "move", "previous_path": "t", "file_path": "b"},
    ]);
    let (status, _, left) = acted(swapped).await;
    assert_eq!((status, left), (201, files(&[("a", "b"), ("b", "a"), rest[1], rest[2]])));

    let again = value!([
        {"action": "delete", "file_path": "a"},
        {"action": "create", "file_path": "a", "content": "again"},
        {"action": "create", "file_path": "x", "content": "1"},
        {"action": "update", "file_path": "x", "content": "2"},
    ]);
    let (status, _, left) = acted(again).await;
    assert_eq!((status, left), (201, files(&[("a", "again"), rest[0], rest[1], rest[2], ("x", "2")])));

    let folder = value!([
        {"action": "delete", "file_path": "a"},
        {"action": "create", "file_path": "a/deep/b", "content": "below"},
    ]);
    let (status, _, left) = acted(folder).await;
    assert_eq!((status, left), (201, files(&[("a/deep/b", "below"), rest[0], rest[1], rest[2]])));

    for action in ["create", "update"] {
        let path = if action == "create" { "new" } else { "a" };
        let (status, said, left) = acted(value!([{"action": action, "file_path": path}])).await;
        assert_eq!((status, said.as_str()), (400, Some("actions[0][content] is missing")), "{action}");
        assert_eq!(left, files(&[("a", "a"), rest[0], rest[1], rest[2]]));
    }

    let file = value!([
        {"action": "delete", "file_path": "dir/one"},
        {"action": "delete", "file_path": "dir/two"},
        {"action": "create", "file_path": "dir", "content": "a file"},
    ]);
    let (status, _, left) = acted(file).await;
    assert_eq!((status, left), (201, files(&[("a", "a"), ("b", "b"), ("dir", "a file")])));
}

#[tokio::test]
async fn a_file_and_a_folder_cannot_have_the_same_name() {
    let all = files(&[("a", "a"), ("b", "b"), ("dir/one", "dir/one"), ("dir/two", "dir/two")]);
    for path in ["a/below", "dir"] {
        let actions = value!([
            {"action": "update", "file_path": "b", "content": "lost"},
            {"action": "create", "file_path": path, "content": ""},
        ]);
        let (status, message, left) = acted(actions).await;
        assert_eq!((status, message.as_str()), (400, Some("A directory with this name already exists")), "{path}");
        assert_eq!(left, all, "{path}");
    }
}

#[tokio::test]
async fn deleting_merged_branches_keeps_unmerged_ones() {
    let server = Server::of(crate::WORLD, &Default::default()).await;
    let at = |rest: &str| format!("/projects/1/repository/{rest}");
    let old = server.read("ada", &at("commits")).await;
    let old = old.as_array().unwrap().last().unwrap()["id"].as_str().unwrap().to_owned();
    for (branch, start) in [("fresh", "main"), ("old", &old), ("kept", &old)] {
        json(server.post("ada", &at("branches"), &[("branch", branch), ("ref", start)]).await, 201).await;
    }
    // Puts the old commit behind the head of the default branch.
    let actions = value!([{"action": "create", "file_path": "new", "content": ""}]);
    json(commit(&server, value!({"branch": "main", "commit_message": "On", "actions": actions})).await, 201).await;
    json(server.post("ada", &at("branches"), &[("branch", "newest"), ("ref", "main")]).await, 201).await;
    json(server.put("ada", &at("branches/kept/protect"), &[]).await, 200).await;
    assert_eq!(server.read("ada", &at("branches/newest")).await["merged"], false);
    assert_eq!(server.read("ada", &at("branches/old")).await["merged"], true);
    json(server.delete("ada", &at("merged_branches")).await, 202).await;
    let left = server.read("ada", &at("branches")).await;
    assert_eq!(crate::each(&left, "name"), ["kept", "louder", "main", "newest"]);
}

#[tokio::test]
async fn an_empty_required_ref_does_not_mean_the_default_branch() {
    let server = Server::of(crate::WORLD, &Default::default()).await;
    let at = |rest: &str| format!("/projects/1/repository/{rest}");
    let branch = json(server.post("ada", &at("branches"), &[("branch", "x"), ("ref", "")]).await, 400).await;
    assert_eq!(branch["message"], "Invalid reference name");
    let tag = json(server.post("ada", &at("tags"), &[("tag_name", "x"), ("ref", "")]).await, 400).await;
    assert_eq!(tag["message"], "Target  is invalid");
    assert_eq!(json(server.get("ada", &at("compare?from=&to=main")).await, 404).await["message"], "404 Ref Not Found");
    let status = json(server.post("ada", "/projects/1/statuses/main", &[("state", "")]).await, 400).await;
    assert_eq!(status["error"], "state does not have a valid value");
    // An optional ref may be empty.
    assert_eq!(server.get("ada", &at("tree?ref=")).await.status(), 200);
}

#[tokio::test]
async fn a_commit_comment_outside_the_diff_has_no_line() {
    let server = Server::of(crate::WORLD, &Default::default()).await;
    let path = "/projects/1/repository/commits/louder/comments";
    let place = |line: &'static str| {
        let form = [("note", "x"), ("path", "src/main.rs"), ("line", line), ("line_type", "old")];
        let call = server.call("ada", Method::POST, path).form(&form);
        async move { json(call.send().await.unwrap(), 201).await["line"].clone() }
    };
    assert_eq!((place("0").await, place("2").await, place("99").await), (Value::Null, value!(2), Value::Null));
}

#[tokio::test]
async fn a_commit_status_never_goes_back_to_an_earlier_state() {
    let server = Server::of(crate::WORLD, &Default::default()).await;
    let set = |state: &'static str| {
        let server = &server;
        async move { server.post("ada", "/projects/1/statuses/main", &[("state", state)]).await }
    };
    let id = json(set("running").await, 201).await["id"].as_u64().unwrap();
    let back = json(set("pending").await, 400).await;
    assert!(back["message"].as_str().unwrap().starts_with("Cannot transition status via :enqueue from :running"));
    assert_eq!(json(set("success").await, 201).await["id"], id);
    let next = json(set("pending").await, 201).await["id"].as_u64().unwrap();
    let jobs = server.read("ada", "/projects/1/jobs").await;
    let jobs: Vec<u64> = jobs.as_array().unwrap().iter().map(|job| job["id"].as_u64().unwrap()).collect();
    assert!(!jobs.contains(&id) && !jobs.contains(&next) && next > id, "ids are unique");
    let wrong = server.post("ada", "/projects/1/statuses/main", &[("state", "running"), ("coverage", "NaN")]).await;
    assert_eq!(json(wrong, 400).await["error"], "coverage is invalid");
}

#[tokio::test]
async fn statuses_of_a_world_file_have_ids_of_their_own_among_those_of_jobs() {
    let status = r#"
[[pipelines]]
project = "ada/hello"
ref_name = "main"
template = "one"
user = "ada"

[[statuses]]
project = "ada/hello"
ref_name = "main"
name = "size"
status = "success"
author = "ada"
created = "1h"
"#;
    let server = Server::of(&format!("{}{status}", crate::WORLD), &Default::default()).await;
    let statuses = server.read("ada", "/projects/1/repository/commits/main/statuses?all=true").await;
    assert!(each(&statuses, "name").contains(&"size") && each(&statuses, "name").contains(&"hello"), "{statuses}");
    let ids: Vec<u64> = statuses.as_array().unwrap().iter().map(|row| row["id"].as_u64().unwrap()).collect();
    let mut distinct = ids.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), ids.len(), "{ids:?}");
}

#[tokio::test]
async fn commits_of_the_same_second_stay_in_order() {
    let start: jiff::Timestamp = "2026-11-20T16:00:10Z".parse().unwrap();
    let server = Server::with(Options { clock: Clock::new(move || start), ..Options::default() }).await;
    json(server.post("ada", "/projects", &[("name", "Notes")]).await, 201).await;
    let change = |action: &str, text: &str, known: &str| {
        let change = value!({"action": action, "file_path": "a.txt", "content": text, "last_commit_id": known});
        commit(&server, value!({"branch": "master", "commit_message": text, "actions": [change]}))
    };
    let mut ids = vec![json(change("create", "1", "").await, 201).await["id"].as_str().unwrap().to_owned()];
    for text in ["2", "3", "4", "5", "6"] {
        if let [.., stale, _] = ids.as_slice() {
            let refused = json(change("update", text, stale).await, 400).await;
            assert_eq!(refused["message"], "The file has changed since you started editing it: a.txt");
        }
        let made = json(change("update", text, ids.last().unwrap()).await, 201).await;
        ids.push(made["id"].as_str().unwrap().to_owned());
    }
    ids.reverse();
    for path in ["", "?path=a.txt", "?all=true", "?since=2026-11-20T16:00:10Z&until=2026-11-20T16:00:10Z"] {
        let listed = server.read("ada", &format!("/projects/1/repository/commits{path}")).await;
        assert_eq!(crate::each(&listed, "id"), ids, "{path}");
    }
    let later = server.read("ada", "/projects/1/repository/commits?since=2026-11-20T16:00:10.001Z").await;
    assert_eq!(later, value!([]));
    let compared = server.read("ada", &format!("/projects/1/repository/compare?from={}&to=master", ids[5])).await;
    let oldest_first: Vec<&String> = ids[..5].iter().rev().collect();
    assert_eq!(crate::each(&compared["commits"], "id"), oldest_first);

    // A range, as `git log A..B` reads it (GitLab, doc/api/commits.md).
    let range = async |range: &str| {
        let path = format!("/projects/1/repository/commits?per_page=3&ref_name={range}");
        crate::each(&server.read("ada", &path).await, "id").into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(range(&format!("{}..master", ids[2])).await, ids[..2]);
    assert_eq!(range(&format!("{}..master", ids[5])).await, ids[..3]);
    assert_eq!(range(&format!("{}..", ids[1])).await, ids[..1]);
    assert_eq!(range(&format!("master..{}", ids[2])).await, Vec::<String>::new());
    for unknown in ["nothing..master", "master..nothing", "master...master"] {
        let path = format!("/projects/1/repository/commits?ref_name={unknown}");
        assert_eq!(json(server.get("ada", &path).await, 404).await["message"], "404 Commit Not Found");
    }
}

#[tokio::test]
async fn paths_that_git_rejects_get_a_clear_error() {
    let server = Server::empty().await;
    json(server.post("ada", "/projects", &[("name", "Notes")]).await, 201).await;
    let send =
        |action: Value| commit(&server, value!({"branch": "master", "commit_message": "x", "actions": [action]}));
    json(send(value!({"action": "create", "file_path": "there", "content": "x"})).await, 201).await;
    for path in ["git~1", "GIT~1", "a/git~1/b", ".git./x", ".git ", ".git::$INDEX_ALLOCATION"] {
        let moved = value!({"action": "move", "file_path": path, "previous_path": "there"});
        for action in [value!({"action": "create", "file_path": path, "content": "x"}), moved] {
            let refused = json(send(action).await, 400).await;
            let message = refused["message"].as_str().unwrap();
            assert!(message.starts_with("Git does not allow a file or folder named '"), "{path}: {message}");
        }
    }
    let long = "x".repeat(5_000);
    for path in
        [".git", "x/.GIT/y", "", "/", ".", "..", "a//b", "a/", "a/./b", "\0", "a\0b", "con", "a\nb", "-x", &long]
    {
        for field in ["file_path", "previous_path"] {
            for action in ["create", "update", "delete", "move"] {
                let mut change =
                    value!({"action": action, "content": "x", "file_path": "new", "previous_path": "none"});
                change[field] = path.into();
                let reply = send(change).await;
                let status = reply.status().as_u16();
                assert!(status == 201 || status == 400, "{action} {field} {path:?}: {status}");
                let body: Value = reply.json().await.unwrap();
                assert!(status == 201 || body.get("message").or(body.get("error")).is_some(), "{path:?}: {body}");
            }
        }
    }
}

#[tokio::test]
async fn a_project_can_be_starred_and_reports_its_languages() {
    let server = Server::empty().await;
    json(server.post("ada", "/projects", &[("name", "Notes")]).await, 201).await;
    assert_eq!(server.read("ada", "/projects/1/languages").await, value!({}));
    let files = value!({"branch": "master", "commit_message": "Begin", "actions": [
        {"action": "create", "file_path": "src/a.rs", "content": "x".repeat(300)},
        {"action": "create", "file_path": "run.PY", "content": "x".repeat(100)},
        {"action": "create", "file_path": "README.md", "content": "x".repeat(900)},
    ]});
    json(commit(&server, files).await, 201).await;
    assert_eq!(server.read("ada", "/projects/1/languages").await, value!({"Python": 25.0, "Rust": 75.0}));

    assert_eq!(json(server.post("ada", "/projects/1/star", &[]).await, 201).await["star_count"], 1);
    assert_eq!(server.post("ada", "/projects/1/star", &[]).await.status(), 304);
    assert_eq!(crate::each(&server.read("ada", "/projects?starred=true").await, "name"), ["Notes"]);
    assert_eq!(json(server.post("ada", "/projects/1/unstar", &[]).await, 201).await["star_count"], 0);
    assert_eq!(server.post("ada", "/projects/1/unstar", &[]).await.status(), 304);
    assert_eq!(json(server.post("", "/projects/1/star", &[]).await, 401).await["message"], "401 Unauthorized");
}

#[tokio::test]
async fn a_commit_lists_its_merge_requests_and_signature() {
    let server = Server::empty().await;
    json(server.post("ada", "/projects", &[("name", "Notes")]).await, 201).await;
    let one = |path: &str| value!([{"action": "create", "file_path": path, "content": "x"}]);
    let first = value!({"branch": "master", "commit_message": "Begin", "actions": one("a")});
    let first = json(commit(&server, first).await, 201).await;
    let next = value!({"branch": "next", "start_branch": "master", "commit_message": "Go on", "actions": one("b")});
    let next = json(commit(&server, next).await, 201).await;
    let form = [("source_branch", "next"), ("target_branch", "master"), ("title", "Next")];
    json(server.post("ada", "/projects/1/merge_requests", &form).await, 201).await;
    let at = |commit: &Value, what: &str| {
        format!("/projects/1/repository/commits/{}/{what}", commit["id"].as_str().unwrap())
    };
    let requests = server.read("ada", &at(&next, "merge_requests")).await;
    assert_eq!(crate::each(&requests, "title"), ["Next"]);
    assert_eq!(server.read("ada", &at(&first, "merge_requests")).await, value!([]));
    let unsigned = json(server.get("ada", &at(&next, "signature")).await, 404).await;
    assert_eq!(unsigned["message"], "404 Signature Not Found");
}

#[tokio::test]
async fn blame_maps_lines_to_commits() {
    let server = Server::of(WORLD, &Default::default()).await;
    let commit = |action: &str, content: &str| {
        serde_json::json!({"branch": "main", "commit_message": format!("{action} it"),
            "actions": [{"action": action, "file_path": "a b/c.txt", "content": content}]})
    };
    for (action, content) in [("create", "one\ntwo\n"), ("update", "one\nzwei\nthree\n")] {
        let call = server.call("ada", reqwest::Method::POST, "/projects/1/repository/commits");
        json(call.json(&commit(action, content)).send().await.unwrap(), 201).await;
    }
    let at = "/projects/1/repository/files/a%20b%2Fc.txt/blame";
    let blame = server.read("ada", &format!("{at}?ref=main")).await;
    let lines: Vec<(&str, usize)> = blame
        .as_array()
        .unwrap()
        .iter()
        .map(|range| (range["commit"]["message"].as_str().unwrap(), range["lines"].as_array().unwrap().len()))
        .collect();
    assert_eq!(lines, [("create it", 1), ("update it", 2)]);
    assert_eq!(blame[1]["lines"], serde_json::json!(["zwei", "three"]));
    json(server.get("ada", at).await, 400).await;
    let missing = json(server.get("ada", "/projects/1/repository/files/nothing/blame?ref=main").await, 404).await;
    assert_eq!(missing["message"], "404 File Not Found");
    json(server.get("ada", &format!("{at}?ref=nowhere")).await, 404).await;
}

#[tokio::test]
async fn a_git_lfs_pointer_is_only_resolved_with_lfs_true() {
    let server = Server::of(WORLD, &Default::default()).await;
    let oid = "ab12".repeat(16);
    let pointer = format!("version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize 4\n");
    let body = serde_json::json!({"branch": "main", "commit_message": "Add it",
        "actions": [{"action": "create", "file_path": "a.bin", "content": pointer}]});
    let call = server.call("ada", reqwest::Method::POST, "/projects/1/repository/commits");
    json(call.json(&body).send().await.unwrap(), 201).await;
    let raw = "/projects/1/repository/files/a.bin/raw";
    assert_eq!(server.get("ada", &format!("{raw}?ref=main")).await.text().await.unwrap(), pointer);
    json(server.get("ada", &format!("{raw}?ref=main&lfs=true")).await, 404).await;
    let missing = json(server.get("ada", "/projects/1/repository/files/nothing/raw?ref=main").await, 404).await;
    assert_eq!(missing["message"], "404 File Not Found");
    json(server.get("ada", &format!("{raw}?ref=nowhere")).await, 404).await;
}

#[tokio::test]
async fn a_full_ref_name_tells_a_tag_from_a_branch_of_the_same_name() {
    let server = Server::of(WORLD, &Default::default()).await;
    let at = |path: &str| format!("/projects/1/repository{path}");
    json(server.post("ada", &at("/tags"), &[("tag_name", "louder"), ("ref", "main")]).await, 201).await;
    let tip = |branch: &str| at(&format!("/branches/{branch}"));
    let main = server.read("ada", &tip("main")).await["commit"]["id"].clone();
    let louder = server.read("ada", &tip("louder")).await["commit"]["id"].clone();
    assert_ne!(main, louder);
    let [tag, branch] = ["refs%2Ftags%2Flouder", "refs%2Fheads%2Flouder"];
    for (name, commit) in [(tag, &main), (branch, &louder)] {
        assert_eq!(&server.read("", &at(&format!("/commits?ref_name={name}"))).await[0]["id"], commit);
        assert_eq!(&server.read("", &at(&format!("/commits/{name}"))).await["id"], commit);
        let tree = |name: &str| at(&format!("/tree?ref={name}"));
        let expected = server.read("", &tree(commit.as_str().unwrap())).await;
        assert_eq!(server.read("", &tree(name)).await, expected);
        let archive = at(&format!("/archive.tar?sha={name}"));
        assert_eq!(server.get("", &archive).await.status(), 200, "{name}");
    }
    let compared = server.read("", &at(&format!("/compare?from={tag}&to={branch}"))).await;
    assert_eq!(compared["commit"]["id"], louder);
    assert!(compared["commits"].as_array().is_some_and(|commits| !commits.is_empty()), "{compared}");
}

#[tokio::test]
async fn description_templates_are_files_of_the_default_branch() {
    let server = Server::of(WORLD, &Default::default()).await;
    let at = "/projects/1/templates";
    assert_eq!(server.read("", &format!("{at}/issues")).await, value!([]));
    let file = |path: &str, content: &str| value!({"action": "create", "file_path": path, "content": content});
    let actions = [
        file(".gitlab/issue_templates/Bug report.md", "What happened?"),
        file(".gitlab/issue_templates/notes.txt", "no template"),
        file(".gitlab/merge_request_templates/Default.md", "Why?"),
    ];
    let body = value!({"branch": "main", "commit_message": "Add templates", "actions": actions});
    let commit = server.call("ada", Method::POST, "/projects/1/repository/commits").json(&body);
    json(commit.send().await.unwrap(), 201).await;
    let listed = server.get("", &format!("{at}/issues")).await;
    assert_eq!(header(&listed, "x-total"), "1");
    assert_eq!(json(listed, 200).await, value!([{"key": "Bug report", "name": "Bug report"}]));
    let one = server.read("", &format!("{at}/issues/Bug%20report")).await;
    assert_eq!(one, value!({"name": "Bug report", "content": "What happened?"}));
    let other = json(server.get("", &format!("{at}/issues/Default")).await, 404).await;
    assert_eq!(other["message"], "404 Template Not Found");
    assert_eq!(each(&server.read("", &format!("{at}/merge_requests")).await, "name"), ["Default"]);
}
