//! `labscope watch`: a line for each change, and the outcome as exit code.

use crate::api::{json_reply, serves};
use crate::home::Home;
use crate::program::{Ended, Served};
use std::process::Stdio;
use std::sync::Mutex;

fn watch(home: &Home, served: &Served, target: &str) -> Ended {
    let token = home.write("token", served.token("ada"));
    home.run(&["--host", served.url(), "--token-file", token.to_str().expect("a path"), "watch", target])
}

/// Returns the lines without the time at their start.
fn lines(ended: &Ended) -> Vec<&str> {
    ended.out.lines().map(|line| line.split_once(' ').map_or(line, |(_, rest)| rest)).collect()
}

#[test]
fn the_exit_code_is_the_outcome() {
    let home = Home::new();
    let served = Served::start(&home, &[]);
    for (target, code, last) in [
        ("acme/rocket-ui/-/jobs/109", 0, "#109 assets: success"),
        ("acme/rocket-ui/-/jobs/108", 1, "#108 compile: failed"),
        ("acme/rocket-ui/-/jobs/77", 2, "#77 screens: canceled"),
        ("acme/rocket-ui/-/pipelines/17", 1, "pipeline 17: failed"),
        ("acme/rocket-ui/-/pipelines/12", 2, "pipeline 12: canceled"),
        ("acme/rocket-ui!40", 0, "pipeline 9: success"),
        ("acme/rocket-ui!44", 1, "pipeline 17: failed"),
        (&format!("{}/acme/rocket-ui/-/jobs/108", served.url()), 1, "#108 compile: failed"),
    ] {
        let ended = watch(&home, &served, target);
        assert_eq!((ended.code, ended.err.as_str()), (Some(code), ""), "{target}: {ended:?}");
        assert!(lines(&ended).last().is_some_and(|line| line.starts_with(last)), "{target}: {ended:?}");
        let time = ended.out.split(' ').next().unwrap_or_default();
        assert_eq!(time.split(':').filter(|part| part.len() == 2).count(), 3, "{ended:?}");
    }
}

#[test]
fn each_change_is_a_line_and_a_server_that_is_gone_for_a_while_is_awaited() {
    let home = Home::new();
    let job = |status: &str| json_reply(&format!("{{\"id\":7,\"name\":\"\\u001b[2Jbuild\",\"status\":\"{status}\"}}"));
    let unavailable = "HTTP/1.1 503 Busy\r\ncontent-length: 0\r\nretry-after: 0\r\nconnection: close\r\n\r\n";
    // The client itself repeats a read that fails.
    let mut answers = vec![job("pending"), job("running"), job("running")];
    answers.extend(std::iter::repeat_n(unavailable.to_owned(), 4));
    let left = Mutex::new(answers.into_iter());
    let url = serves(move |_| left.lock().expect("a lock").next().unwrap_or_else(|| job("success")));
    let ended = home.run(&["--host", &url, "watch", "--interval", "1", "a/b/-/jobs/7"]);
    assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""), "{ended:?}");
    let lines = lines(&ended);
    assert_eq!(lines[..2], ["#7 ␛[2Jbuild: pending", "#7 ␛[2Jbuild: running"], "{lines:?}");
    assert!(lines[2].ends_with("; trying again"), "{lines:?}");
    assert_eq!(lines[3..], ["The server answers again", "#7 ␛[2Jbuild: success"], "{lines:?}");
}

#[test]
fn without_an_outcome_the_exit_code_is_another_one() {
    let home = Home::new();
    let served = Served::start(&home, &[]);
    let repository = git2::Repository::init(home.path("work")).expect("a repository");
    repository.remote("origin", &format!("{}/acme/rocket-ui.git", served.url())).expect("a remote");
    for (target, says) in [
        ("acme/rocket-ui", "\"acme/rocket-ui\" is not a job, pipeline or merge request; try"),
        ("acme/rocket-ui/-/jobs", "is not a job, pipeline or merge request"),
        ("40", "try acme/rocket-ui/-/jobs/40, acme/rocket-ui/-/pipelines/40 or acme/rocket-ui!40"),
        ("acme/rocket-ui/-/jobs/999999", "404"),
        ("no target", "Invalid target"),
        ("https://git.example.com/a/b/-/jobs/1", "is on another server"),
    ] {
        let ended = watch(&home, &served, target);
        assert_eq!((ended.code, ended.out.as_str()), (Some(3), ""), "{target}: {ended:?}");
        assert!(ended.err.contains(says) && ended.err.lines().count() == 1, "{target}: {ended:?}");
    }
    for (arguments, says) in [
        (&["--host", "http://127.0.0.1:9", "watch", "a/b!1"][..], "Server unreachable"),
        (&["--host", "http://127.0.0.1:9", "--offline", "watch", "a/b!1"], "--offline"),
        (&["watch", "a/b!1"], "No server configured"),
        (&["watch"], "<TARGET>"),
        (&["watch", "--interval", "0", "a/b!1"], "0 is not in 1.."),
    ] {
        let ended = home.run(arguments);
        assert_eq!((ended.code, ended.out.as_str()), (Some(3), ""), "{arguments:?}: {ended:?}");
        assert!(ended.err.contains(says), "{arguments:?}: {ended:?}");
    }
}

#[test]
fn a_closed_pipe_is_no_success() {
    let home = Home::new();
    let url = serves(|_| json_reply("{\"id\":7,\"name\":\"a\",\"status\":\"success\"}"));
    let mut command = home.command(&["--host", &url, "watch", "a/b/-/jobs/7"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    drop(child.stdout.take());
    let ended = child.wait_with_output().expect("it ends");
    assert_eq!((ended.status.code(), ended.stderr.len()), (Some(3), 0));
}
