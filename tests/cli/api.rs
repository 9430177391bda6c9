//! `labscope api` against a served world, and against servers that fail.

use crate::home::Home;
use crate::program::{Ended, Served};
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;

struct World {
    home: Home,
    served: Served,
}

impl World {
    fn new() -> World {
        let home = Home::new();
        let served = Served::start(&home, &[]);
        World { home, served }
    }

    fn api(&self, arguments: &[&str]) -> Ended {
        let token = self.home.write("token", self.served.token("root"));
        let shared = ["--host", self.served.url(), "--token-file", token.to_str().expect("a path"), "api"];
        self.home.run(&[&shared, arguments].concat())
    }
}

fn json(ended: &Ended) -> Value {
    serde_json::from_str(&ended.out).unwrap_or_else(|e| panic!("{e}: {ended:?}"))
}

#[test]
fn the_reply_is_printed_as_json_and_the_exit_code_reflects_its_status() {
    let world = World::new();
    let projects = world.api(&["GET", "projects", "-f", "search=rocket-ui"]);
    assert_eq!(projects.code, Some(0), "{projects:?}");
    let paths: Vec<Value> = json(&projects).as_array().expect("a list").iter().map(|p| p["path"].clone()).collect();
    assert!(paths.iter().any(|path| path == "rocket-ui") && !paths.iter().any(|path| path == "handbook"), "{paths:?}");

    assert_eq!(json(&world.api(&["projects", "-f", "search=rocket-ui"])), json(&projects));

    let missing = world.api(&["get", "/projects/nobody%2Fnothing"]);
    assert_eq!(missing.code, Some(4));
    assert!(json(&missing)["message"].is_string());
    assert!(missing.err.starts_with("labscope: get /projects/nobody%2Fnothing returned 404: "), "{missing:?}");
}

#[test]
fn addresses_of_other_servers_are_refused() {
    let world = World::new();
    let own = format!("{}/api/v4/projects?search=rocket-ui", world.served.url());
    assert_eq!(json(&world.api(&["GET", &own]))[0]["path"], "rocket-ui");
    for other in ["https://git.example.com/api/v4/projects", &format!("{}/acme/rocket-ui", world.served.url())] {
        let refused = world.api(&["GET", other]);
        assert_eq!((refused.code, refused.out.as_str()), (Some(1), ""), "{refused:?}");
        assert!(refused.err.contains("is not an address of the API of http://127.0.0.1:"), "{refused:?}");
    }
}

#[test]
fn paginate_prints_all_pages_as_one_list() {
    let world = World::new();
    let all = json(&world.api(&["GET", "projects?per_page=100"]));
    let paged = json(&world.api(&["GET", "projects?per_page=3", "--paginate"]));
    let ids = |list: &Value| list.as_array().expect("a list").iter().map(|p| p["id"].clone()).collect::<Vec<_>>();
    assert!(ids(&all).len() > 3);
    assert_eq!(ids(&paged), ids(&all));
    let one = world.api(&["GET", "projects/acme%2Frocket-ui", "--paginate"]);
    assert_eq!(json(&one)["path"], "rocket-ui");
}

#[test]
fn read_only_blocks_writes() {
    let world = World::new();
    let notes = "projects/acme%2Frocket-ui/merge_requests/42/notes";
    let bodies = |world: &World| {
        let all = json(&world.api(&["GET", notes, "--paginate"]));
        all.as_array()
            .expect("a list")
            .iter()
            .map(|n| n["body"].as_str().unwrap_or_default().to_owned())
            .collect::<Vec<_>>()
    };
    let refused = world.api(&["--read-only", "POST", notes, "-f", "body=not this"]);
    assert_eq!(refused.code, Some(1));
    assert!(refused.err.contains("--read-only"), "{refused:?}");
    let sent = world.api(&["POST", notes, "-f", "body=a=b & c\nd"]);
    assert_eq!(sent.code, Some(0), "{sent:?}");
    let bodies = bodies(&world);
    assert!(bodies.iter().any(|body| body == "a=b & c\nd") && !bodies.iter().any(|body| body == "not this"));
}

#[test]
fn output_writes_replies_but_not_errors_to_the_file() {
    let world = World::new();
    let file = world.home.path("work/out");
    let path = file.to_str().expect("a path");
    let repository = "projects/acme%2Frocket-ui/repository";
    let tree = json(&world.api(&["GET", &format!("{repository}/tree?per_page=100")]));
    let readme = tree.as_array().expect("a list").iter().find(|entry| entry["name"] == "README.md").expect("there");
    let raw = format!("{repository}/blobs/{}/raw", readme["id"].as_str().expect("an id"));
    assert_eq!(world.api(&["GET", &raw, "--output", path]).code, Some(0));
    let text = std::fs::read_to_string(&file).expect("written");
    assert!(text.starts_with("# ") && text.contains('\n'), "as it is in the repository: {text}");
    let failed = world.api(&["GET", "projects/0", "--output", path]);
    assert_eq!(failed.code, Some(4));
    assert_eq!(std::fs::read_to_string(&file).expect("still there"), text);
}

#[test]
fn the_log_contains_requests_but_no_tokens() {
    let world = World::new();
    let log = world.home.path("log");
    assert_eq!(world.api(&["--log", log.to_str().expect("a path"), "GET", "user?private_token=seen"]).code, Some(0));
    let text = std::fs::read_to_string(&log).expect("a log");
    assert!(text.contains("/user"), "{text}");
    assert!(!text.contains(world.served.token("root")) && !text.contains("=seen"), "{text}");
    assert!(crate::program::is_private(&log));
}

/// Serves `reply` to a single request; returns the address and the server thread.
pub fn answers(reply: impl Into<String>) -> (String, std::thread::JoinHandle<()>) {
    let reply = reply.into();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let thread = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a caller");
        let mut lines = BufReader::new(stream.try_clone().expect("the same stream")).lines();
        while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
        stream.write_all(reply.as_bytes()).expect("it listens");
    });
    (url, thread)
}

/// Serves what `answer` returns for the first line of each request, until the tests end; returns the address.
pub fn serves(answer: impl Fn(&str) -> String + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut lines = BufReader::new(stream.try_clone().expect("the same stream")).lines().map_while(Result::ok);
            let first = lines.next().unwrap_or_default();
            lines.take_while(|line| !line.is_empty()).for_each(drop);
            let _ = stream.write_all(answer(&first).as_bytes());
        }
    });
    url
}

/// Returns a reply with a JSON body.
pub fn json_reply(body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
}

#[test]
fn server_errors_and_unreachable_servers_have_different_exit_codes() {
    let home = Home::new();
    let body = "HTTP/1.1 500 Oops\r\ncontent-length: 19\r\nconnection: close\r\n\r\n{\"message\":\"\x1b[31mx\"}";
    let (url, thread) = answers(body);
    let failed = home.run(&["--host", &url, "api", "GET", "projects"]);
    thread.join().expect("answered");
    assert_eq!(failed.code, Some(5), "{failed:?}");
    assert!(!failed.err.contains('\x1b'), "{failed:?}");

    let (url, thread) = answers("HTTP/1.1 304 Same\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    assert_eq!(home.run(&["--host", &url, "api", "GET", "projects"]).code, Some(1));
    thread.join().expect("answered");

    let gone = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
    let gone = home.run(&["--host", &format!("http://{gone}"), "api", "POST", "projects"]);
    assert_eq!(gone.code, Some(1));
    assert!(gone.err.contains("Server unreachable") && gone.err.contains("POST /projects"), "{gone:?}");
}

#[test]
fn an_interrupted_reply_keeps_the_existing_output_file() {
    let home = Home::new();
    let file = home.path("work/out");
    std::fs::write(&file, "of before").expect("written");
    let path = file.to_str().expect("a path");
    let (url, thread) = answers("HTTP/1.1 200 OK\r\ncontent-length: 99\r\nconnection: close\r\n\r\nhalf of it");
    let broken = home.run(&["--host", &url, "api", "GET", "projects", "--output", path]);
    thread.join().expect("answered");
    assert_eq!(broken.code, Some(1), "{broken:?}");
    assert_eq!(std::fs::read_to_string(&file).expect("there"), "of before");
    let beside = std::fs::read_dir(file.parent().expect("a folder")).expect("a folder").flatten();
    let beside: Vec<_> =
        beside.map(|entry| entry.file_name()).filter(|name| name.to_string_lossy().contains("part")).collect();
    assert!(beside.is_empty(), "{beside:?}");

    let (url, thread) = answers("HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: close\r\n\r\nwhole");
    assert_eq!(home.run(&["--host", &url, "api", "GET", "projects", "--output", path]).code, Some(0));
    thread.join().expect("answered");
    assert_eq!(std::fs::read_to_string(&file).expect("there"), "whole");
    let (url, thread) = answers("HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: close\r\n\r\nwhole");
    assert_eq!(home.run(&["--host", &url, "api", "GET", "projects", "--output", "/dev/null"]).code, Some(0));
    thread.join().expect("answered");
    assert!(!std::fs::metadata("/dev/null").expect("there").is_file(), "a device stays one");
}

#[test]
fn output_replaces_a_symbolic_link_instead_of_following_it() {
    let home = Home::new();
    let (profile, out) = (home.path("work/profile"), home.path("work/out"));
    for paginate in [&[][..], &["--paginate"]] {
        std::fs::write(&profile, "mine").expect("written");
        let _ = std::fs::remove_file(&out);
        std::os::unix::fs::symlink(&profile, &out).expect("linked");
        let (url, thread) = answers("HTTP/1.1 200 OK\r\ncontent-length: 3\r\nconnection: close\r\n\r\n[7]");
        let call = ["--host", &url, "api", "GET", "projects", "--output", out.to_str().expect("a path")];
        let ended = home.run(&[&call, paginate].concat());
        thread.join().expect("answered");
        assert_eq!(ended.code, Some(0), "{ended:?}");
        assert_eq!(std::fs::read_to_string(&profile).expect("there"), "mine", "{paginate:?}");
        assert_eq!(std::fs::read_to_string(&out).expect("there"), "[7]");
    }
}

#[test]
fn the_log_refuses_to_follow_a_symbolic_link() {
    let home = Home::new();
    let (profile, log) = (home.path("work/profile"), home.path("work/log"));
    std::fs::write(&profile, "mine").expect("written");
    std::os::unix::fs::symlink(&profile, &log).expect("linked");
    let ended = home.run(&["--log", log.to_str().expect("a path"), "keys"]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.err.contains("work/log cannot be written: it is a symbolic link"), "{ended:?}");
    assert_eq!(std::fs::read_to_string(&profile).expect("there"), "mine");
    let ended = home.run(&["--log", "/dev/stderr", "keys"]);
    assert_eq!(ended.code, Some(0), "a device is no file of somebody: {ended:?}");
}

#[test]
fn a_web_page_is_no_reply() {
    let home = Home::new();
    let page = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 34\r\nconnection: close\r\n\r\n\
                <html><title>Sign in</title></html>";
    for option in [&["--paginate"][..], &[], &["--output", "page"]] {
        let (url, thread) = answers(page);
        let ended = home.run(&[&["--host", &url, "api", "GET", "projects"], option].concat());
        thread.join().expect("answered");
        assert_eq!((ended.code, ended.out.as_str()), (Some(1), ""), "{ended:?}");
        assert!(ended.err.contains("web page") && !home.path("work/page").exists(), "{ended:?}");
    }
}

#[test]
fn paginate_tells_when_a_server_repeats_a_page() {
    let home = Home::new();
    let headers = "content-length: 3\r\nconnection: close\r\nlink: <http://h/x?page_token=a>; rel=\"next\"";
    let url = serves(move |_| format!("HTTP/1.1 200 OK\r\n{headers}\r\n\r\n[7]"));
    let ended = home.run(&["--host", &url, "api", "GET", "projects", "--paginate"]);
    assert_eq!((ended.code, ended.out.trim()), (Some(1), "[7]"), "{ended:?}");
    assert!(ended.err.contains("The list is incomplete"), "{ended:?}");
}

#[test]
fn invalid_arguments_are_reported_without_a_request() {
    let home = Home::new();
    for (arguments, says) in [
        (&["api", "FETCH", "projects"][..], "Invalid method"),
        (&["api"], "<PATH>"),
        (&["api", "GET"], "There is no path after GET"),
        (&["api", "GET", "projects", "--nonsense"], "--nonsense"),
        (&["api", "GET", "projects", "-f", "search"], "key=value"),
        (&["api", "POST", "projects", "--paginate"], "only with GET"),
        (&["--offline", "api", "GET", "projects"], "--offline"),
    ] {
        let ended = home.run(&[&["--host", "http://127.0.0.1:9"], arguments].concat());
        assert_eq!(ended.code, Some(1), "{ended:?}");
        assert!(ended.err.contains(says), "{ended:?}");
    }
}

/// Runs a script in the folder of the clone.
fn sh(home: &Home, script: &str) {
    let mut command = std::process::Command::new("sh");
    command.args(["-ec", script]).current_dir(home.path("work")).envs(home.variables());
    command.env("GIT_CONFIG_NOSYSTEM", "1");
    assert!(command.status().expect("it starts").success(), "{script}");
}

#[test]
fn values_of_the_clone_stand_in_the_path() {
    let world = World::new();
    let url = world.served.url();
    sh(&world.home, &format!("git init -q -b feature/rows && git remote add origin {url}/acme/rocket-ui.git"));
    let project = json(&world.api(&["GET", "projects/:fullpath"]));
    assert_eq!(project["path_with_namespace"], "acme/rocket-ui");
    let in_query = world.api(&["GET", "todos?project_id=:id"]);
    assert_eq!((in_query.code, in_query.err.as_str()), (Some(0), ""), "a number is needed there: {in_query:?}");
    let request = json(&world.api(&["GET", "projects/:id/merge_requests/:mr"]));
    assert_eq!((&request["iid"], &request["source_branch"]), (&42.into(), &"feature/rows".into()));
    let branch = json(&world.api(&["GET", "/projects/:id/repository/branches/:branch"]));
    assert_eq!(branch["name"], "feature/rows", "glab does not encode it");

    sh(&world.home, "git symbolic-ref HEAD refs/heads/mine");
    let none = world.api(&["GET", "projects/:id/merge_requests/:mr"]);
    assert_eq!((none.code, none.out.as_str()), (Some(1), ""), "{none:?}");
    assert!(none.err.contains("acme/rocket-ui has no merge request of the branch mine"), "{none:?}");
    sh(&world.home, "git -c user.name=a -c user.email=b commit -q --allow-empty -m a && git switch -q --detach");
    let detached = world.api(&["GET", "projects/:id/repository/branches/:branch"]);
    assert!(
        detached.code == Some(1) && detached.err.contains("\":branch\" needs a branch: none is checked out"),
        "{detached:?}"
    );
    sh(&world.home, "rm -rf .git");
    let outside = world.api(&["GET", "projects/:id"]);
    assert!(
        outside.code == Some(1) && outside.err.contains("\":id\" needs a clone of a project on 127.0.0.1"),
        "{outside:?}"
    );
}

#[test]
fn the_path_of_a_project_needs_no_encoding() {
    let world = World::new();
    for path in ["projects/acme/rocket-ui", "projects/acme%2Frocket-ui"] {
        assert_eq!(json(&world.api(&["GET", path]))["path"], "rocket-ui");
        assert_eq!(json(&world.api(&["GET", &format!("{path}/merge_requests/42?x=a/b")]))["iid"], 42);
        let paged = world.api(&["GET", &format!("{path}/labels"), "--paginate"]);
        assert!(json(&paged).as_array().is_some_and(|all| !all.is_empty()), "{paged:?}");
    }
}
