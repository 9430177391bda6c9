//! `labscope status`: a line from what is kept, at once, which is refreshed in the background.

use crate::api::{json_reply, serves};
use crate::home::Home;
use crate::program::{Ended, Served};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

fn status(home: &Home, url: &str, arguments: &[&str]) -> Ended {
    let token = home.path("token");
    let shared = ["--host", url, "--token-file", token.to_str().expect("a path"), "status"];
    home.run(&[&shared, arguments].concat())
}

/// Returns the file with what is kept, once there is one.
fn kept(home: &Home) -> Option<PathBuf> {
    let servers = std::fs::read_dir(home.path("cache/labscope/replies")).ok()?.flatten();
    let folders = servers.flat_map(|server| std::fs::read_dir(server.path()).into_iter().flatten().flatten());
    folders.map(|folder| folder.path().join("status")).find(|file| file.exists())
}

#[test]
fn the_line_is_what_the_server_said_last() {
    let home = Home::new();
    let served = Served::start(&home, &[]);
    home.write("token", served.token("eli"));
    let url = served.url();
    let fresh = status(&home, url, &["--refresh"]);
    let line = "1 to-do, 1 review, 2 failed pipelines\n";
    assert_eq!((fresh.code, fresh.out.as_str()), (Some(0), line), "{fresh:?}");
    let file = kept(&home).expect("kept");
    assert!(crate::program::is_private(&file));
    let url = url.to_owned();
    drop(served);
    // The server is gone: nothing waits for it.
    let again = status(&home, &url, &[]);
    assert_eq!((again.code, again.out.as_str(), again.err.as_str()), (Some(0), line, ""), "{again:?}");
    let formatted = status(&home, &url, &["--format", "#[fg=red]{failed} {todos}/{reviews} {age}"]);
    assert_eq!((formatted.code, formatted.out.as_str()), (Some(0), "#[fg=red]2 1/1 now\n"), "{formatted:?}");
    let failed = status(&home, &url, &["--refresh"]);
    assert_eq!((failed.code, failed.out.as_str()), (Some(1), ""), "{failed:?}");
    assert!(failed.err.contains("Server unreachable"), "{failed:?}");
    assert_eq!(status(&home, &url, &[]).out, line, "what was known stays");
    // What is old says so.
    let text = std::fs::read_to_string(&file).expect("reads");
    let at = text.split('"').nth(5).expect("a time").to_owned();
    std::fs::write(&file, text.replace(&at, "2020-01-01T00:00:00Z")).expect("written");
    let old = status(&home, &url, &["--offline"]);
    assert!(old.out.starts_with("1 to-do, 1 review, 2 failed pipelines (") && old.out.ends_with("y ago)\n"), "{old:?}");
    // Damage is as if nothing was known.
    std::fs::write(&file, "{").expect("written");
    let damaged = status(&home, &url, &["--offline"]);
    assert_eq!((damaged.code, damaged.out.as_str(), damaged.err.as_str()), (Some(0), "", ""), "{damaged:?}");
    assert_eq!(home.run(&["cache", "clear"]).code, Some(0));
    assert_eq!(kept(&home), None);
}

#[test]
fn many_shells_refresh_once_and_do_not_wait() {
    let home = Home::new();
    home.write("token", "secret");
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    let url = serves(move |line| {
        if line.contains("/user") {
            count.fetch_add(1, Ordering::SeqCst);
            return json_reply("{\"id\":1,\"username\":\"ada\"}");
        }
        json_reply(if line.contains("/todos") { "[{\"id\":1}]" } else { "[]" })
    });
    let shells: Vec<_> = (0..8).map(|_| status(&home, &url, &[])).collect();
    for shell in &shells {
        assert_eq!((shell.code, shell.err.as_str()), (Some(0), ""), "{shell:?}");
    }
    let deadline = Instant::now() + Duration::from_secs(30);
    while kept(&home).is_none() {
        assert!(Instant::now() < deadline, "nothing was refreshed in the background");
        std::thread::yield_now();
    }
    let after = status(&home, &url, &[]);
    assert_eq!((after.out.as_str(), asked.load(Ordering::SeqCst)), ("1 to-do\n", 1), "{after:?}");
}

#[test]
fn what_cannot_be_told_is_one_sentence() {
    let home = Home::new();
    home.write("token", "secret");
    for (arguments, code, says) in [
        (&["status"][..], 2, "No server configured"),
        (
            &["--host", "http://h.example", "status"],
            1,
            "not signed in to h.example; labscope auth login --host h.example",
        ),
        (
            &["status", "--format", "{todo}"],
            2,
            "there is no value {todo}; there are {todos}, {reviews}, {failed}, {age}",
        ),
    ] {
        let ended = home.run(arguments);
        assert_eq!((ended.code, ended.out.as_str()), (Some(code), ""), "{arguments:?}: {ended:?}");
        assert!(ended.err.contains(says), "{arguments:?}: {ended:?}");
    }
    let offline = status(&home, "http://h.example", &["--offline", "--refresh"]);
    assert!(offline.code == Some(1) && offline.err.contains("--offline"), "{offline:?}");
    // A token that is refused stays refused until the user does something.
    let url = serves(|_| "HTTP/1.1 401 No\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}".to_owned());
    let refused = status(&home, &url, &["--refresh"]);
    assert!(refused.code == Some(1) && refused.err.contains("401"), "{refused:?}");
    let again = status(&home, &url, &["--offline"]);
    assert_eq!((again.code, &again.out, &again.err), (Some(1), &String::new(), &refused.err));
    let file = home.write("no-cache.toml", "cache = false\n");
    let config = ["--config", file.to_str().expect("a path")];
    let nothing = status(&home, &url, &config);
    assert!(nothing.code == Some(2) && nothing.err.contains("--refresh asks the server"), "{nothing:?}");
}
