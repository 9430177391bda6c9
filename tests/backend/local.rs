//! A user's own repository, served over HTTP and never written to.

use crate::{Server, each, header, json};
use git2::{Oid, Repository, Signature, Time};
use labscope::backend::{Options, start};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Commits files on top of HEAD in the repository of the work tree.
fn commit(repo: &Repository, at: i64, files: &[(&str, &str)]) -> Oid {
    let mut builder = git2::build::TreeUpdateBuilder::new();
    for (path, text) in files {
        builder.upsert(*path, repo.blob(text.as_bytes()).unwrap(), git2::FileMode::Blob);
    }
    let parent = repo.head().ok().map(|head| head.peel_to_commit().unwrap());
    let base = match &parent {
        Some(parent) => parent.tree().unwrap(),
        None => repo.find_tree(repo.treebuilder(None).unwrap().write().unwrap()).unwrap(),
    };
    let tree = repo.find_tree(builder.create_updated(repo, &base).unwrap()).unwrap();
    let by = Signature::new("Ada", "ada@example.com", &Time::new(at, 60)).unwrap();
    repo.commit(Some("HEAD"), &by, &by, &format!("Commit at {at}\n"), &tree, &parent.iter().collect::<Vec<_>>())
        .unwrap()
}

fn made() -> (TempDir, Repository) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rocket");
    let mut options = git2::RepositoryInitOptions::new();
    let repo = Repository::init_opts(&path, options.initial_head("main")).unwrap();
    commit(&repo, 1_000, &[("README.md", "# Rocket\n"), ("src/main.rs", "fn main() {}\n")]);
    let first = commit(&repo, 2_000, &[("src/main.rs", "fn main() {\n    launch();\n}\n")]);
    let head = repo.find_commit(first).unwrap();
    repo.branch("feature/fuel", &head, false).unwrap();
    repo.tag("v1.0", head.as_object(), &head.author(), "First flight\n", false).unwrap();
    drop(head);
    commit(&repo, 3_000, &[("docs/guide.md", "Guide\n")]);
    (folder, repo)
}

/// Returns every file of a folder with its content.
fn everything(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut out = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            out.extend(everything(&path));
        } else {
            out.insert(path.display().to_string(), std::fs::read(&path).unwrap());
        }
    }
    out
}

#[tokio::test]
async fn commits_have_numbers_of_lines_on_request() {
    let (folder, _) = made();
    let server = Server::over(folder.path().join("rocket")).await;
    let listed = server.read("ada", "/projects/1/repository/commits?with_stats=true&per_page=2").await;
    let added: Vec<_> = listed.as_array().unwrap().iter().map(|row| row["stats"]["additions"].as_u64()).collect();
    assert_eq!(added, [Some(1), Some(3)]);
    let listed = server.read("ada", "/projects/1/repository/commits").await;
    assert!(listed[0].get("stats").is_none(), "{listed}");
}

#[tokio::test]
async fn the_changes_of_a_commit_have_pages() {
    let (folder, repo) = made();
    let first = repo.revparse_single("main~2").unwrap().id();
    let server = Server::over(folder.path().join("rocket")).await;
    for (page, paths) in [(1, vec!["README.md"]), (2, vec!["src/main.rs"]), (3, vec![])] {
        let at = format!("/projects/1/repository/commits/{first}/diff?per_page=1&page={page}");
        assert_eq!(each(&server.read("ada", &at).await, "new_path"), paths);
    }
}

#[tokio::test]
async fn the_size_of_a_local_repository_includes_its_objects() {
    let (folder, _) = made();
    let objects = everything(&folder.path().join("rocket/.git/objects"));
    let bytes: usize = objects.values().map(Vec::len).sum();
    let server = Server::over(folder.path().join("rocket")).await;
    let project = server.read("root", "/projects/1?statistics=true").await;
    let size = project["statistics"]["repository_size"].as_u64().unwrap();
    assert!(size > bytes as u64, "{size} of {bytes}");
}

#[tokio::test]
async fn a_local_repository_can_be_browsed_and_stays_unchanged() {
    let (folder, repo) = made();
    std::fs::create_dir(folder.path().join("rocket/src")).unwrap();
    let before = everything(folder.path());
    // The server also starts from a subfolder of the work tree.
    let server = Server::over(folder.path().join("rocket/src")).await;
    assert_eq!(server.running.project.as_deref(), Some("local/rocket"));
    let at = |path: &str| format!("/projects/local%2Frocket{path}");

    let project = server.read("ada", &at("")).await;
    assert_eq!((project["default_branch"].as_str(), project["id"].as_u64()), (Some("main"), Some(1)));
    let branches = server.read("ada", &at("/repository/branches")).await;
    assert_eq!(each(&branches, "name"), ["feature/fuel", "main"]);
    assert_eq!(branches[0]["merged"], true);
    let branch = server.read("ada", &at("/repository/branches/feature%2Ffuel")).await;
    assert_eq!(branch["commit"]["title"], "Commit at 2000");
    let tags = server.read("ada", &at("/repository/tags")).await;
    assert_eq!((tags[0]["name"].as_str(), tags[0]["message"].as_str()), (Some("v1.0"), Some("First flight")));

    let tree = server.read("ada", &at("/repository/tree?ref=main")).await;
    assert_eq!(each(&tree, "path"), ["docs", "src", "README.md"]);
    assert_eq!(tree[0]["mode"], "040000");
    let deep = server.read("ada", &at("/repository/tree?path=src&recursive=true")).await;
    let blob = format!("/repository/blobs/{}", deep[0]["id"].as_str().unwrap());
    assert_eq!(server.read("ada", &at(&blob)).await["size"], 28);
    let raw = server.get("ada", &at(&format!("{blob}/raw"))).await;
    assert_eq!(header(&raw, "content-type"), "text/plain");
    assert_eq!(raw.text().await.unwrap(), "fn main() {\n    launch();\n}\n");

    let log = server.get("ada", &at("/repository/commits?per_page=2")).await;
    assert_eq!((header(&log, "x-total"), header(&log, "x-next-page")), ("absent", "2"), "the total is not counted");
    let log = json(log, 200).await;
    assert_eq!(each(&log, "title"), ["Commit at 3000", "Commit at 2000"]);
    assert_eq!(log[0]["authored_date"], "1970-01-01T01:50:00.000+01:00");
    let of_file = server.read("ada", &at("/repository/commits?path=src%2Fmain.rs")).await;
    assert_eq!(each(&of_file, "title"), ["Commit at 2000", "Commit at 1000"]);
    let sha = log[1]["id"].as_str().unwrap();
    let commit = server.read("ada", &at(&format!("/repository/commits/{sha}"))).await;
    assert_eq!(commit["stats"]["additions"], 3);
    let diff = server.read("ada", &at(&format!("/repository/commits/{sha}/diff"))).await;
    assert_eq!(diff[0]["diff"], "@@ -1 +1,3 @@\n-fn main() {}\n+fn main() {\n+    launch();\n+}\n");
    let refs = server.read("ada", &at(&format!("/repository/commits/{sha}/refs"))).await;
    assert_eq!(each(&refs, "name"), ["feature/fuel", "main", "v1.0"]);
    let between = server.read("ada", &at("/repository/compare?from=feature%2Ffuel&to=main")).await;
    assert_eq!(each(&between["commits"], "title"), ["Commit at 3000"]);
    assert_eq!(each(&between["diffs"], "new_path"), ["docs/guide.md"]);
    let people = server.read("ada", &at("/repository/contributors")).await;
    assert_eq!(people[0]["commits"], 3);

    // Changes are kept by the server only.
    let new = [("branch", "mine"), ("ref", "main")];
    json(server.post("ada", &at("/repository/branches"), &new).await, 201).await;
    assert_eq!(server.delete("ada", &at("/repository/branches/feature%2Ffuel")).await.status(), 204);
    assert!(repo.find_branch("feature/fuel", git2::BranchType::Local).is_ok());
    assert_eq!(everything(folder.path()), before);
}

#[tokio::test]
async fn bare_empty_and_detached_repositories_can_be_served() {
    let folder = tempfile::tempdir().unwrap();
    Repository::init_bare(folder.path().join("bare.git")).unwrap();
    let server = Server::over(folder.path().join("bare.git")).await;
    assert_eq!(server.running.project.as_deref(), Some("local/bare"));
    assert_eq!(server.read("ada", "/projects/1").await["default_branch"], serde_json::Value::Null);
    for list in ["branches", "tags", "commits", "contributors"] {
        assert_eq!(server.read("ada", &format!("/projects/1/repository/{list}")).await, serde_json::json!([]));
    }
    let tree = json(server.get("ada", "/projects/1/repository/tree").await, 404).await;
    assert_eq!(tree["message"], "404 Tree Not Found");

    let (folder, repo) = made();
    let head = repo.head().unwrap().target().unwrap();
    repo.set_head_detached(head).unwrap();
    repo.find_branch("main", git2::BranchType::Local).unwrap().delete().unwrap();
    let server = Server::over(folder.path().join("rocket")).await;
    let branch = server.read("ada", "/projects/1").await["default_branch"].clone();
    assert_eq!(branch.as_str(), head.to_string().get(..8));
}

#[tokio::test]
async fn a_folder_without_a_repository_is_refused_with_a_clear_error() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options { repos: vec![folder.path().to_path_buf()], ..Options::default() };
    let error = start(options).await.unwrap_err().to_string();
    assert!(error.contains("is not in a git repository; pass the path of one"), "{error}");
}

#[tokio::test]
async fn server_and_repository_changes_coexist_after_a_restart() {
    let (folder, repo) = made();
    let data = tempfile::tempdir().unwrap();
    let options = || Options {
        repos: vec![folder.path().join("rocket")],
        data: Some(data.path().to_path_buf()),
        ..Options::default()
    };
    let at = |path: &str| format!("/projects/local%2Frocket/repository{path}");
    let server = Server::with(options()).await;
    let change = [
        ("branch", "feature/fuel"),
        ("commit_message", "Fill up"),
        ("actions[][action]", "create"),
        ("actions[][file_path]", "tank.txt"),
        ("actions[][content]", "full"),
    ];
    json(server.post("ada", &at("/commits"), &change).await, 201).await;
    server.running.stop().await;

    commit(&repo, 4_000, &[("README.md", "# Rocket 2\n")]);
    let server = Server::with(options()).await;
    let tip = |branch: &'static str| {
        let path = at(&format!("/branches/{branch}"));
        let server = &server;
        async move { server.read("ada", &path).await["commit"]["title"].as_str().unwrap().to_owned() }
    };
    assert_eq!(tip("feature%2Ffuel").await, "Fill up");
    assert_eq!(tip("main").await, "Commit at 4000");
}

#[tokio::test]
async fn a_project_that_claims_to_be_imported_from_a_repository_does_not_become_its_project() {
    let (folder, _repo) = made();
    let data = tempfile::tempdir().unwrap();
    let rocket = folder.path().join("rocket");
    let options = |repos: Vec<PathBuf>| Options { repos, data: Some(data.path().to_path_buf()), ..Options::default() };
    let server = Server::with(options(Vec::new())).await;
    let origin = rocket.canonicalize().unwrap().display().to_string();
    json(server.post("ada", "/projects", &[("name", "trap"), ("import_url", &*origin)]).await, 201).await;
    server.running.stop().await;
    for _ in 0..2 {
        let server = Server::with(options(vec![rocket.clone()])).await;
        assert_eq!(server.running.project.as_deref(), Some("local/rocket"));
        server.running.stop().await;
    }
}

#[tokio::test]
async fn a_commit_with_an_invalid_date_can_be_shown_and_built_upon() {
    for date in ["99999999999999999999 +0000", "9223372036854775807 +0100", "-9223372036854775808 +0000", "x y", ""] {
        let (folder, repo) = made();
        let head = repo.head().unwrap().peel_to_commit().unwrap();
        let by = format!("Ada <ada@example.com> {date}");
        let tree = repo.find_commit(head.parent_id(0).unwrap()).unwrap().tree_id();
        let text = format!("tree {tree}\nparent {}\nauthor {by}\ncommitter {by}\n\nOdd\n", head.id());
        let odd = repo.odb().unwrap().write(git2::ObjectType::Commit, text.as_bytes()).unwrap();
        let tag = format!("object {odd}\ntype commit\ntag odd\ntagger {by}\n\nOdd\n");
        let tag = repo.odb().unwrap().write(git2::ObjectType::Tag, tag.as_bytes()).unwrap();
        for (name, id) in
            [("refs/heads/main", odd), ("refs/heads/odd", odd), ("refs/tags/v0", tag), ("refs/tags/v2", odd)]
        {
            repo.reference(name, id, true, "").unwrap();
        }
        let server = Server::over(folder.path().join("rocket")).await;
        let at = |path: &str| format!("/projects/local%2Frocket{path}");
        let form = [("branch", "new"), ("ref", "odd")];
        json(server.post("ada", &at("/repository/branches"), &form).await, 201).await;
        let form = [("tag_name", "v3"), ("ref", "odd"), ("message", "Text")];
        json(server.post("ada", &at("/repository/tags"), &form).await, 201).await;
        let change = [
            ("branch", "new"),
            ("commit_message", "On top"),
            ("actions[][action]", "update"),
            ("actions[][file_path]", "README.md"),
            ("actions[][content]", "new"),
        ];
        let top = json(server.post("ada", &at("/repository/commits"), &change).await, 201).await;
        assert_eq!(top["parent_ids"][0], odd.to_string());
        let form = [("source_branch", "new"), ("target_branch", "main"), ("title", "On top")];
        json(server.post("ada", &at("/merge_requests"), &form).await, 201).await;

        for path in
            ["/repository/commits", "/repository/commits?ref_name=odd", "/repository/commits?all=true&per_page=50"]
        {
            let listed = server.read("ada", &at(path)).await;
            let row = listed.as_array().unwrap().iter().find(|row| row["id"] == odd.to_string()).unwrap().clone();
            assert!(row["committed_date"].as_str().unwrap().starts_with("1970-01-01T0"), "{row}");
        }
        let commit = format!("/repository/commits/{odd}");
        let paths = [
            "".to_owned(),
            "?statistics=true".into(),
            "/repository/commits?path=README.md".into(),
            "/repository/commits?path=docs&all=true".into(),
            "/repository/commits?since=1960-01-01T00:00:00Z&until=1990-01-01T00:00:00Z".into(),
            commit.clone(),
            format!("{commit}/diff"),
            format!("{commit}/refs"),
            format!("{commit}/comments"),
            format!("{commit}/statuses"),
            "/repository/contributors".into(),
            "/repository/branches".into(),
            "/repository/branches/odd".into(),
            "/repository/tags".into(),
            "/repository/tags?order_by=updated".into(),
            "/repository/tags/v0".into(),
            "/repository/tags/v2".into(),
            "/repository/tags/v3".into(),
            "/repository/tree?ref=odd".into(),
            "/repository/compare?from=feature/fuel&to=new".into(),
            "/merge_requests".into(),
            "/merge_requests/1".into(),
            "/merge_requests/1/commits".into(),
            "/merge_requests/1/changes".into(),
            "/search?scope=commits&search=Odd".into(),
            "/search?scope=blobs&search=launch".into(),
        ];
        for path in paths {
            let value = server.read("ada", &at(&path)).await;
            assert!(
                value != serde_json::json!([]) || path.ends_with("/comments") || path.ends_with("/statuses"),
                "{date}: {path}"
            );
        }
        let archive = server.get("ada", &at("/repository/archive.zip?sha=odd")).await;
        assert!(archive.status() == 200 && !archive.bytes().await.unwrap().is_empty());
        let changes = server.read("ada", &at("/merge_requests/1/changes")).await;
        assert_eq!(each(&changes["changes"], "new_path"), ["README.md"]);
        let pick = at(&format!("{commit}/cherry_pick"));
        json(server.post("ada", &pick, &[("branch", "feature/fuel")]).await, 400).await;
        let pick = at(&format!("/repository/commits/{}/cherry_pick", top["id"].as_str().unwrap()));
        json(server.post("ada", &pick, &[("branch", "odd")]).await, 201).await;
        for path in ["/repository/branches/odd", "/repository/tags/v0"] {
            assert_eq!(server.delete("ada", &at(path)).await.status(), 204, "{path}");
        }
    }
}

#[tokio::test]
async fn a_clone_is_named_after_its_remote_and_the_user_comes_from_git_config() {
    let (folder, repo) = made();
    repo.remote("origin", "git@git.example.com:acme/saturn-v.git").unwrap();
    let mut config = repo.config().unwrap();
    config.set_str("user.name", "Wernher B.").unwrap();
    config.set_str("user.email", "wernher@example.com").unwrap();
    let path = folder.path().join("rocket");
    assert_eq!(labscope::backend::local_project(&path).unwrap(), "local/saturn-v");
    let identity = labscope::backend::local_identity(&path);
    let server = Server::with(Options { repos: vec![path], identity, ..Options::default() }).await;
    assert_eq!((server.running.user.as_str(), server.running.project.as_deref()), ("wernher", Some("local/saturn-v")));
    let me = server.read("wernher", "/user").await;
    assert_eq!((&me["name"], &me["email"]), (&"Wernher B.".into(), &"wernher@example.com".into()));
}
