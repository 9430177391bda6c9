//! Two servers in one session.

use crate::home::Home;
use crate::screen::Screen;
use crate::served::Served;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};

/// A world with one merge request.
const WORLD: &str = r#"
now = "2026-11-20T16:00:00Z"
[[users]]
username = "root"
admin = true
[[users]]
username = "ada"
[[projects]]
path = "ada/hello"
visibility = "public"
files = '''
-- a.txt --
hello
'''
script = '''
from 2026-11-02
to 2026-11-20
ada: Say hello
  + a.txt
branch louder
ada: Say it louder
  ~ a.txt
    < hello
    > HELLO
'''
[[merge_requests]]
project = "ada/hello"
iid = 1
title = "Only on the second server"
source = "louder"
author = "ada"
assignee = "ada"
created = "1d"
"#;

#[test]
fn a_row_of_another_server_opens_there_and_going_back_returns() {
    let home = Home::new();
    let (world, token) = (home.path("world.toml"), home.path("token"));
    std::fs::write(&world, WORLD).expect("written");
    let first = Served::start(&home, &[]);
    let second = Served::start(&home, &["--world", world.to_str().expect("UTF-8")]);
    std::fs::write(&token, second.token("ada")).expect("written");
    let named = format!("[hosts.two]\nurl = \"{}\"\ntoken_file = \"{}\"\n", second.url(), token.display());
    std::fs::write(home.path("config/labscope/config.toml"), named).expect("written");
    // The token of the environment applies to the current server; the other one would refuse it.
    let variables = [("LABSCOPE_HOST", first.url()), ("LABSCOPE_TOKEN", first.token("ada"))];
    let mut screen = Screen::start_with(&home, env!("CARGO_BIN_EXE_labscope"), &[], &variables);
    let name = second.url().trim_start_matches("http://").to_owned();
    screen.wait("the projects are drawn", |screen| screen.contents().contains("acme/rocket-ui"));
    screen.keys("gh");
    screen.wait("what waits on both is listed", |screen| {
        let contents = screen.contents();
        let row = contents.lines().find(|line| line.contains("Only on the second server"));
        row.is_some_and(|row| row.contains(&name)) && contents.contains("acme/")
    });
    screen.keys("/second server\r");
    screen.wait("it is filtered", |screen| !screen.contents().contains("acme/"));
    screen.keys("\r");
    let there = |screen: &vt100::Screen| {
        let top = screen.rows(0, screen.size().1.get()).next().unwrap_or_default();
        top.contains(&name) && screen.contents().contains("Only on the second server") && top.contains("ada / hello")
    };
    screen.wait("it is opened on its own server", |screen| screen.alternate_screen() && there(screen));
    screen.keys("gp");
    screen.wait("one can go on there", |screen| {
        !screen.contents().contains("acme/") && screen.contents().contains("1 All")
    });
    screen.keys("q");
    screen.wait("and back", there);
    screen.keys("q");
    screen.wait("the first server is as it was left", |screen| {
        let top = screen.rows(0, screen.size().1.get()).next().unwrap_or_default();
        !top.contains(&name) && top.contains("home") && top.contains("/second server")
    });
    screen.keys("gH");
    screen.wait("servers are listed", |screen| screen.contents().contains("current server"));
    screen.keys("\x1b[B\r");
    screen.wait("the other one is there as it was left", there);
    // Both keys are typed at once: the second is for the server that the first returns to.
    screen.keys("qQ");
    assert_eq!(screen.exit_code(), 0);
}

/// A server with one job, whose trace stops in the middle while it is on hold.
struct Slow {
    url: String,
    held: Arc<(Mutex<bool>, Condvar)>,
}

impl Slow {
    fn start() -> Slow {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let held: Arc<(Mutex<bool>, Condvar)> = Arc::default();
        let gate = held.clone();
        std::thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                let gate = gate.clone();
                std::thread::spawn(move || answer(connection, &gate));
            }
        });
        Slow { url, held }
    }

    fn hold(&self, held: bool) {
        *self.held.0.lock().expect("not poisoned") = held;
        self.held.1.notify_all();
    }
}

fn answer(mut connection: TcpStream, gate: &(Mutex<bool>, Condvar)) {
    let mut request = String::new();
    let mut reader = BufReader::new(connection.try_clone().expect("a connection"));
    while !request.ends_with("\r\n\r\n") && reader.read_line(&mut request).is_ok_and(|bytes| bytes > 0) {}
    let path = request.split(' ').nth(1).unwrap_or_default();
    let job = r#"{"id":7,"name":"bench","status":"success","ref":"main"}"#;
    let (status, body) = match path.trim_start_matches("/api/v4/projects/acme%2Fweb/jobs/7") {
        "" => ("200 OK", job),
        "/trace" => ("200 OK", "one\ntwo\n"),
        _ => ("404 Not Found", r#"{"message":"404 Not found"}"#),
    };
    let head = format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", body.len());
    let (first, rest) = if path.ends_with("/trace") { body.split_at(4) } else { (body, "") };
    let _ = connection.write_all(format!("{head}{first}").as_bytes());
    drop(gate.1.wait_while(gate.0.lock().expect("not poisoned"), |held| *held && !rest.is_empty()));
    let _ = connection.write_all(rest.as_bytes());
}

#[test]
fn a_download_continues_while_another_server_is_shown() {
    let home = Home::new();
    let other = Served::start(&home, &[]);
    let slow = Slow::start();
    let named = format!("[hosts.other]\nurl = \"{}\"\n", other.url());
    std::fs::write(home.path("config/labscope/config.toml"), named).expect("written");
    let target = format!("{}/acme/web/-/jobs/7", slow.url);
    let mut screen = Screen::start(&home, env!("CARGO_BIN_EXE_labscope"), &["--host", &slow.url, &target]);
    screen.wait("the trace is drawn", |screen| screen.contents().contains("two"));
    slow.hold(true);
    screen.keys("s\r");
    screen.wait("it runs", |screen| screen.contents().contains("B/s"));
    screen.keys("gH");
    screen.wait("servers are listed", |screen| screen.contents().contains("current server"));
    screen.keys("\x1b[B\r");
    screen.wait("it goes on", |screen| screen.contents().contains("its downloads continue"));
    slow.hold(false);
    let name = slow.url.trim_start_matches("http://").to_owned();
    screen.wait("its end is told", |screen| screen.contents().contains(&format!("{name}: Saved ")));
    let saved = std::fs::read_dir(home.path("work")).expect("a folder").flatten().next().expect("a file");
    assert_eq!(std::fs::read_to_string(saved.path()).expect("text"), "one\ntwo\n");
    screen.keys("q");
    screen.wait("one is back at the trace", |screen| {
        let contents = screen.contents();
        contents.lines().next().is_some_and(|top| top.contains(&name)) && contents.contains("two")
    });
    screen.keys("Q");
    assert_eq!(screen.exit_code(), 0);
}
