//! The program is killed in the middle of a sentence or of a submission: nothing is lost, and nothing is sent twice.

use crate::home::{Home, send};
use crate::screen::Screen;
use crate::served::Served;
use serde_json::Value;
use std::io::{Read, Write};
use std::net::Shutdown::Both;
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const NOTES: &str = "projects/acme%2Frocket-ui/merge_requests/42/notes";

/// The behavior of the proxy when a note is sent.
#[derive(Clone, Copy, PartialEq)]
#[repr(u8)]
enum Line {
    Passes = 0,
    /// The server receives the note, but its reply is lost.
    LosesTheAnswer = 1,
    /// The server never receives the note.
    LosesTheNote = 2,
    /// The server receives the note, and then the connection breaks.
    Breaks = 3,
}

/// A proxy to the server, with a configurable behavior.
struct Proxy {
    url: String,
    mode: Arc<AtomicU8>,
    /// Receives a message for each note that was intercepted.
    held: Receiver<()>,
}

impl Proxy {
    fn start(to: &str) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let to = to.trim_start_matches("http://").trim_end_matches('/').to_owned();
        let mode = Arc::new(AtomicU8::new(Line::Passes as u8));
        let (sender, held) = channel();
        let (shared, sender) = (mode.clone(), Arc::new(Mutex::new(sender)));
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(server) = TcpStream::connect(&to) else { return };
                let (mode, sender) = (shared.clone(), sender.lock().expect("not poisoned").clone());
                std::thread::spawn(move || carry(client, server, &mode, &sender));
            }
        });
        Proxy { url, mode, held }
    }

    fn set(&self, line: Line) {
        self.mode.store(line as u8, Ordering::SeqCst);
    }
}

/// Forwards one connection in both directions.
fn carry(mut client: TcpStream, mut server: TcpStream, mode: &AtomicU8, held: &Sender<()>) {
    let lost = Arc::new(AtomicU8::new(0));
    let (mut back, mut to_client) = (server.try_clone().expect("a copy"), client.try_clone().expect("a copy"));
    let (loses, held_back) = (lost.clone(), held.clone());
    let answers = std::thread::spawn(move || {
        let mut buffer = [0; 16 * 1024];
        while let Ok(count @ 1..) = back.read(&mut buffer) {
            let loses = loses.load(Ordering::SeqCst);
            if loses > 0 {
                // There is a reply, so the server has the note.
                let _ = held_back.send(());
                if loses == Line::Breaks as u8 {
                    let _ = to_client.shutdown(Both);
                }
                break;
            }
            if to_client.write_all(&buffer[..count]).is_err() {
                break;
            }
        }
        let _ = back.shutdown(Both);
    });
    let mut buffer = [0; 16 * 1024];
    while let Ok(count @ 1..) = client.read(&mut buffer) {
        let bytes = &buffer[..count];
        let posts = String::from_utf8_lossy(bytes).starts_with(&format!("POST /api/v4/{NOTES}"));
        let mode = mode.load(Ordering::SeqCst);
        if posts && mode == Line::LosesTheNote as u8 {
            let _ = held.send(());
            // There is no reply; the connection stays open until the program is gone.
            while matches!(client.read(&mut buffer), Ok(1..)) {}
            break;
        }
        if posts && (mode == Line::LosesTheAnswer as u8 || mode == Line::Breaks as u8) {
            lost.store(mode, Ordering::SeqCst);
        }
        if server.write_all(bytes).is_err() {
            break;
        }
    }
    let _ = server.shutdown(Both);
    let _ = answers.join();
}

struct World {
    home: Home,
    served: Served,
    proxy: Proxy,
    token: PathBuf,
}

impl World {
    fn start() -> World {
        let home = Home::new();
        let served = Served::start(&home, &[]);
        let proxy = Proxy::start(served.url());
        let token = home.path("token");
        std::fs::write(&token, served.token("ada")).expect("written");
        World { home, served, proxy, token }
    }

    /// Opens the merge request and waits until it is shown.
    fn open(&self) -> Screen {
        let token = self.token.to_str().expect("UTF-8");
        let arguments = ["--host", &self.proxy.url, "--token-file", token, "acme/rocket-ui!42"];
        let mut screen = Screen::start(&self.home, env!("CARGO_BIN_EXE_labscope"), &arguments);
        screen.wait_for_command("c comment");
        screen
    }

    /// Returns the number of notes on the server that contain `words`.
    fn notes(&self, words: &str) -> usize {
        let token = self.token.to_str().expect("UTF-8");
        let arguments = ["--host", self.served.url(), "--token-file", token, "api", "GET", NOTES, "--paginate"];
        let output = self.home.command(&arguments).output().expect("it runs");
        let notes: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        notes.as_array().expect("a list").iter().filter(|note| note["body"] == words).count()
    }

    /// Waits until a text saved on disk satisfies `is_so`.
    fn wait_for_kept(&self, what: &str, is_so: impl Fn(&str) -> bool) {
        crate::kept::wait(&self.home.path("data"), what, is_so);
    }

    /// Kills the program immediately.
    fn kill(&self, screen: &Screen) {
        send("KILL", screen.process());
    }
}

#[test]
fn a_kill_in_the_middle_of_a_sentence_loses_no_letter() {
    let world = World::start();
    let mut screen = world.open();
    screen.keys("c");
    screen.wait("the composer is open", |screen| screen.contents().contains("Comment on !42"));
    screen.keys("A sentence that is cut off in the mid");
    world.wait_for_kept("the last letter", |text| text.contains("cut off in the mid"));
    world.kill(&screen);
    let mut screen = world.open();
    screen.keys("G");
    screen.wait("the draft is in the list", |screen| screen.contents().contains("draft saved"));
    screen.keys("C");
    screen.wait("the composer is open", |screen| screen.contents().contains("Comment on !42"));
    screen.keys("dle.\x13");
    screen.wait("it is sent", |screen| screen.contents().contains("Commented on !42"));
    assert_eq!(world.notes("A sentence that is cut off in the middle."), 1);
    assert!(crate::kept::texts(&world.home.path("data")).iter().all(|text| !text.contains("middle")));
}

#[test]
fn a_kill_before_the_reply_does_not_send_the_note_twice() {
    let world = World::start();
    let mut screen = world.open();
    screen.keys("c");
    screen.wait("the composer is open", |screen| screen.contents().contains("Comment on !42"));
    screen.keys("Sent once.");
    world.proxy.set(Line::LosesTheAnswer);
    screen.keys("\x13");
    world.proxy.held.recv_timeout(Duration::from_secs(60)).expect("the server has it");
    world.kill(&screen);
    world.proxy.set(Line::Passes);
    assert_eq!(world.notes("Sent once."), 1);
    let mut screen = world.open();
    screen.keys("K");
    screen.wait("the list of drafts is open", |screen| screen.contents().contains("Drafts on acme/rocket-ui!42"));
    screen.wait("the draft is gone", |screen| !screen.contents().contains("checking whether it arrived"));
    assert_eq!(world.notes("Sent once."), 1);
}

#[test]
fn a_kill_with_an_unknown_outcome_is_resolved_after_the_restart() {
    let world = World::start();
    let mut screen = world.open();
    screen.keys("c");
    screen.wait("the composer is open", |screen| screen.contents().contains("Comment on !42"));
    screen.keys("Arrived unheard.");
    world.proxy.set(Line::Breaks);
    screen.keys("\x13");
    world.wait_for_kept("that nobody knows", |text| text.contains("\"unknown\""));
    world.kill(&screen);
    world.proxy.set(Line::Passes);
    let mut screen = world.open();
    screen.keys("K");
    screen.wait("the list of drafts is open", |screen| screen.contents().contains("Drafts on acme/rocket-ui!42"));
    screen.wait("the draft is gone", |screen| !screen.contents().contains("checking whether it arrived"));
    assert_eq!(world.notes("Arrived unheard."), 1);
}

#[test]
fn text_is_on_disk_as_soon_as_it_is_on_the_screen() {
    let world = World::start();
    for round in 0..4 {
        let mut screen = world.open();
        screen.keys("c");
        screen.wait("the composer is open", |screen| screen.contents().contains("Comment on !42"));
        let words = format!(" Seen in round {round}.");
        screen.keys(&words);
        screen.wait("the words are seen", |screen| screen.contents().contains(words.trim()));
        world.kill(&screen);
        let kept = crate::kept::texts(&world.home.path("data"));
        assert!(kept.iter().any(|text| text.contains(&words)), "{words}: {kept:?}");
    }
}

#[test]
fn a_kill_before_the_server_has_the_note_keeps_it_for_sending() {
    let world = World::start();
    let mut screen = world.open();
    screen.keys("c");
    screen.wait("the composer is open", |screen| screen.contents().contains("Comment on !42"));
    screen.keys("Lost on the way.");
    world.proxy.set(Line::LosesTheNote);
    screen.keys("\x13");
    world.proxy.held.recv_timeout(Duration::from_secs(60)).expect("it went out");
    world.kill(&screen);
    world.proxy.set(Line::Passes);
    let mut screen = world.open();
    screen.keys("K");
    screen.wait("it is said", |screen| screen.contents().contains("it has not arrived"));
    assert_eq!(world.notes("Lost on the way."), 0);
    screen.keys("s");
    screen.wait("it is sent", |screen| screen.contents().contains("Commented on !42"));
    assert_eq!(world.notes("Lost on the way."), 1);
}
