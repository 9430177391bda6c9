//! `labscope serve`: the ready file, shutdown, and persistence.

use crate::home::Home;
use crate::program::{Served, is_private};
use std::path::Path;

#[test]
fn the_ready_file_is_private_and_lists_the_tokens() {
    let home = Home::new();
    home.write("ready.json", "from an earlier run");
    let served = Served::start(&home, &[]);
    assert!(is_private(&home.path("ready.json")));
    assert!(served.url().starts_with("http://127.0.0.1:"));
    assert!(!served.token("root").is_empty() && !served.token("ada").is_empty());
    let token = home.write("token", served.token("root"));
    let shared =
        ["--host", served.url(), "--token-file", token.to_str().expect("a path"), "api", "POST", "license", "-f"];
    let license = format!("license={}", served.ready["license"].as_str().expect("a license"));
    let added = home.run(&[&shared[..], &[&license]].concat());
    assert_eq!(added.code, Some(0), "{added:?}");
    let user = home.run_with(&["--host", served.url(), "api", "GET", "user"], "");
    assert_eq!(user.code, Some(4), "nobody is signed in without a token: {user:?}");
}

#[test]
fn a_signal_stops_the_server_cleanly_without_leftovers() {
    for signal in ["TERM", "INT"] {
        let home = Home::new();
        let served = Served::start(&home, &[]);
        assert!(!home.left_behind().is_empty(), "its repositories are somewhere while it runs");
        assert_eq!(served.end(signal), Some(0));
        assert_eq!(home.left_behind(), Vec::<std::path::PathBuf>::new());
    }
}

#[test]
fn writes_survive_the_server_in_its_data_folder() {
    let home = Home::new();
    let data = home.path("kept");
    let options = ["--data", data.to_str().expect("a path")];
    let notes = "projects/acme%2Frocket-ui/merge_requests/42/notes";
    let served = Served::start(&home, &options);
    let token = home.write("token", served.token("root"));
    let call = |served: &Served, arguments: &[&str]| {
        let shared = ["--host", served.url(), "--token-file", token.to_str().expect("a path"), "api"];
        home.run(&[&shared, arguments].concat())
    };
    assert_eq!(call(&served, &["POST", notes, "-f", "body=still here"]).code, Some(0));
    drop(served);
    let served = Served::start(&home, &options);
    let all = call(&served, &["GET", notes, "--paginate"]);
    assert!(all.out.contains("still here"), "{all:?}");
    let second = home.run(&["serve", "--data", options[1]]);
    assert_eq!(second.code, Some(1));
    assert!(second.err.contains("in use by another labscope"), "{second:?}");
}

#[test]
fn a_served_repository_is_not_modified() {
    let home = Home::new();
    let folder = home.path("work/my tool");
    let repository = git2::Repository::init(&folder).expect("a repository");
    let me = git2::Signature::now("Me", "me@localhost").expect("a signature");
    let blob = repository.blob(b"hello\n").expect("a blob");
    let mut tree = repository.treebuilder(None).expect("a tree");
    tree.insert("a.txt", blob, 0o100644).expect("an entry");
    let tree = repository.find_tree(tree.write().expect("written")).expect("a tree");
    repository.commit(Some("HEAD"), &me, &me, "First", &tree, &[]).expect("a commit");
    let before = files(&folder);

    let served = Served::start(&home, &["--repo", folder.to_str().expect("a path")]);
    let token = home.write("token", served.token("root"));
    let shared = ["--host", served.url(), "--token-file", token.to_str().expect("a path"), "api", "GET"];
    let tree = home.run(&[&shared[..], &["projects/local%2Fmy-tool/repository/tree"]].concat());
    assert_eq!(tree.code, Some(0), "{tree:?}");
    assert!(tree.out.contains("\"a.txt\""), "{tree:?}");
    assert_eq!(served.end("TERM"), Some(0));
    assert_eq!(files(&folder), before);
}

fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                all.push((path.display().to_string(), std::fs::read(&path).expect("readable")));
            }
        }
    }
    all.sort();
    all
}
