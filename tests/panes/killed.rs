//! The program is killed after each step of a write: after the restart, the text is still there or has arrived, exactly
//! once. Each run covers a sample of the steps.

use crate::harness::{Begin, Harness};
use crate::sample::Sample;
use crate::served::demo;
use labscope::api::Fault;
use labscope::api::client::{Client, Server};
use labscope::api::commits::ListCommits;
use labscope::app::Place;
use labscope::app::action::Msg;
use labscope::backend::RunningServer;
use std::cell::Cell;
use std::path::Path;

/// A text to write, and where.
struct Writing {
    place: fn() -> Place,
    /// A comment that exists before; empty if there is none.
    before: &'static str,
    /// The text to click on first; empty if there is none.
    on: &'static str,
    /// The key that opens the editor or form.
    key: &'static str,
    words: &'static str,
}

const WRITINGS: &[Writing] = &[
    Writing { place: request, before: "", on: "", key: "c", words: "Read on a tram." },
    Writing { place: issue, before: "", on: "", key: "c", words: "Read on a tram." },
    Writing { place: commit, before: "", on: "", key: "c", words: "Read on a tram." },
    Writing { place: request, before: "On a tram.", on: "On a tram.", key: "e", words: "Twice read: " },
    Writing { place: issue, before: "On a tram.", on: "On a tram.", key: "e", words: "Twice read: " },
    Writing { place: issues, before: "", on: "", key: "+", words: "Read on a tram." },
    Writing { place: issue, before: "", on: "", key: "e", words: "Read on a tram: " },
    Writing { place: milestones, before: "", on: "", key: "+", words: "Read on a tram" },
];

fn request() -> Place {
    Place::new("mr").project("acme/rocket-ui").item(42)
}

fn issue() -> Place {
    Place::new("issue").project("acme/rocket-ui").item(42)
}

fn commit() -> Place {
    Place::new("commit").project("acme/rocket-ui").item("main").tab("details")
}

fn issues() -> Place {
    Place::new("issues").project("acme/rocket-ui")
}

fn milestones() -> Place {
    Place::new("milestones").project("acme/rocket-ui")
}

impl Writing {
    fn is_form(&self) -> bool {
        self.key != "c" && self.on.is_empty()
    }

    async fn open(&self, server: &RunningServer, begin: Begin) -> Harness {
        let mut app = begin.size(100, 300).server(&server.base_url, server.token()).open();
        app.settle().await;
        app
    }

    fn begin(&self) -> Begin {
        Begin::at((self.place)())
    }

    async fn edit(&self, app: &mut Harness) {
        // Nothing is drawn any more where it was killed.
        if !self.on.is_empty() && !app.is_killed() {
            app.click_on(self.on);
        }
        app.press(self.key).settle().await;
    }

    /// Types the text; returns whether the program lived long enough to show it.
    fn type_in(&self, app: &mut Harness) -> bool {
        app.press("Home");
        let is_seen = !app.is_killed();
        app.send(Msg::Paste(self.words.to_owned()));
        is_seen
    }

    /// Returns how often the text is found in a fresh session.
    async fn count(&self, server: &RunningServer) -> usize {
        let mut app = self.open(server, self.begin()).await;
        app.expect_no("attached when sent");
        app.lines().iter().map(|line| line.matches(self.words.trim()).count()).sum()
    }

    /// Writes the text, kills the program after `steps` steps, restarts it and continues; returns how often the text is
    /// found in the end, and whether the program was killed at all.
    async fn killed(&self, steps: usize, file: Option<&Path>) -> (usize, bool) {
        let server = demo().await;
        if !self.before.is_empty() {
            let mut app = self.open(&server, self.begin()).await;
            app.press("c").type_text(self.before).press("C-s").settle().await;
        }
        let mut app = self.open(&server, unreachable_once(self.begin()).killed_after(steps)).await;
        self.edit(&mut app).await;
        let is_seen = self.type_in(&mut app);
        attach(&mut app, file).await;
        send(&mut app).await;
        let (kept, is_killed) = (std::mem::take(&mut app.kept), app.is_killed());
        drop(app);
        if !is_killed {
            let count = self.count(&server).await;
            server.stop().await;
            assert!(kept.values().all(|text| !text.contains(self.words)), "{kept:?}");
            return (count, false);
        }
        let mut begin = self.begin();
        (begin.drafts, begin.account) = (kept, "ada".into());
        let mut app = self.open(&server, begin).await;
        app.pass(10).settle().await;
        let has_arrived = self.count(&server).await > 0;
        // A form is only sent again by the user.
        if !has_arrived || !self.is_form() {
            self.edit(&mut app).await;
            if !is_seen {
                self.type_in(&mut app);
            } else if !has_arrived {
                app.expect(self.words.trim());
            }
            send(&mut app).await;
        }
        let count = self.count(&server).await;
        server.stop().await;
        (count, true)
    }
}

/// Makes the server unreachable for the first file, which is then uploaded when the text is sent.
fn unreachable_once(begin: Begin) -> Begin {
    let is_first = Cell::new(true);
    begin.refusing(move |request| request.path.ends_with("/uploads") && is_first.take())
}

/// Attaches a file at the end of the text.
async fn attach(app: &mut Harness, file: Option<&Path>) {
    let Some(file) = file else { return };
    app.press("M-u").type_text(&file.display().to_string()).press("Enter").settle().await;
    if !app.is_killed() {
        app.refuse(Fault::Offline("no route".into()));
    }
}

/// Sends the open form or comment, and waits until nothing is in flight.
async fn send(app: &mut Harness) {
    app.press("C-s").settle().await;
    app.pass(10).settle().await;
}

#[tokio::test]
async fn a_text_is_kept_or_arrives_once_wherever_the_program_is_killed() {
    for writing in Sample::one_in(7).of(WRITINGS) {
        let (whole, _) = writing.killed(usize::MAX, None).await;
        assert!(whole > 0, "{:?} has not arrived", writing.words);
        for steps in 1.. {
            let (count, is_killed) = writing.killed(steps, None).await;
            assert_eq!(count, whole, "{:?} at {:?}, killed after {steps} steps", writing.words, (writing.place)());
            if !is_killed {
                assert!((3..20).contains(&steps), "it is kept, sent and forgotten");
                break;
            }
        }
    }
}

#[tokio::test]
async fn a_comment_with_a_file_arrives_once_wherever_the_program_is_killed() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("log.txt");
    std::fs::write(&file, "out of ink").expect("written");
    let writing = &WRITINGS[1];
    for steps in Sample::one_in(4).of(1..) {
        let (count, is_killed) = writing.killed(steps, Some(&file)).await;
        assert_eq!(count, 1, "killed after {steps} steps");
        if !is_killed {
            assert!((6..34).contains(&steps), "it is kept, uploaded, sent and forgotten: {steps}");
            break;
        }
    }
}

/// Returns the titles of the commits of a branch of a project.
async fn commits(server: &RunningServer, project: &str, branch: &str) -> Vec<String> {
    let mut to = Server::new(server.base_url.parse().expect("an address"));
    to.token = Some(server.token().to_owned().into());
    let list = ListCommits { id: project.into(), ref_name: Some(branch.into()), ..ListCommits::default() };
    let commits = Client::new(to).expect("a client").call(&list).await.expect("commits");
    commits.into_iter().map(|commit| commit.title).collect()
}

#[tokio::test]
async fn suggestions_are_applied_together_and_once_wherever_the_program_is_killed() {
    const TITLE: &str = "Apply 2 suggestion(s) to 2 file(s)";
    let open = async |server: &RunningServer, steps: usize| {
        let begin = Begin::at(Place::new("mr").project("acme/rocket-ui").item(41)).size(120, 60);
        let mut app = begin.killed_after(steps).server(&server.base_url, server.token()).open();
        app.settle().await;
        app.press("a").type_text("Apply all").press("Enter").settle().await;
        app.press("y").settle().await;
        app.pass(10).settle().await;
        app
    };
    for steps in Sample::one_in(3).of(1..) {
        let server = demo().await;
        let is_killed = open(&server, steps).await.is_killed();
        // Whoever tries again finds nothing to apply, or applies all.
        open(&server, usize::MAX).await;
        let after = commits(&server, "acme/rocket-ui", "fix/narrow-columns").await;
        let applied = after.iter().filter(|title| *title == TITLE).count();
        assert_eq!(applied, 1, "killed after {steps} steps: {after:?}");
        server.stop().await;
        if !is_killed {
            assert!(steps > 1, "it is sent");
            break;
        }
    }
}

#[tokio::test]
async fn a_commit_is_made_once_wherever_the_program_is_killed() {
    const MARK: &str = "Written on a tram.";
    const TITLE: &str = "Update README.md";
    let place = || Place::new("files").project("acme/rocket-ui").at("main").path("README.md");
    let open = async |server: &RunningServer, begin: Begin| {
        let mut app = begin.size(120, 40).server(&server.base_url, server.token()).open();
        app.settle().await;
        app
    };
    // Stages the change, unless it is, and commits what is staged.
    let commit = async |app: &mut Harness| {
        app.press("g i").settle().await;
        if app.is_killed() || !app.shows("1 change for") {
            app.press("g f").settle().await;
            app.press("e").settle().await;
            if app.is_killed() || !app.shows(MARK) {
                app.type_text(MARK).press("Enter");
            }
            app.press("C-s").settle().await;
            app.press("g i").settle().await;
        }
        app.press("S").settle().await;
        app.press("C-s").settle().await;
        app.pass(10).settle().await;
    };
    for steps in Sample::one_in(7).of(1..) {
        let server = demo().await;
        let mut app = open(&server, Begin::at(place()).killed_after(steps)).await;
        commit(&mut app).await;
        let (kept, is_killed) = (std::mem::take(&mut app.kept), app.is_killed());
        drop(app);
        if is_killed {
            let mut begin = Begin::at(place());
            (begin.drafts, begin.account) = (kept, "ada".into());
            let mut app = open(&server, begin).await;
            // Whoever sees the commit goes on.
            if !commits(&server, "acme/rocket-ui", "main").await.iter().any(|title| title == TITLE) {
                commit(&mut app).await;
            }
        }
        let after = commits(&server, "acme/rocket-ui", "main").await;
        let text = open(&server, Begin::at(place())).await;
        let marks = text.lines().iter().filter(|line| line.contains(MARK)).count();
        let made = after.iter().filter(|title| *title == TITLE).count();
        assert_eq!((marks, made), (1, 1), "killed after {steps} steps: {}", text.picture());
        server.stop().await;
        if !is_killed {
            assert!((4..47).contains(&steps), "it is kept, staged, sent and forgotten: {steps}");
            break;
        }
    }
}

#[tokio::test]
async fn a_review_arrives_once_wherever_the_program_is_killed() {
    const WORDS: [&str; 2] = ["Read on a tram.", "Read at a stop."];
    let open = async |server: &RunningServer, begin: Begin| {
        let mut app = begin.size(100, 400).server(&server.base_url, server.token()).open();
        app.settle().await;
        app
    };
    // Adds a comment to the review, which was begun before; returns whether the program lived long enough to show it.
    let write = async |app: &mut Harness, words: &str, was_seen: bool| {
        app.press("C").settle().await;
        app.press("Home");
        let is_seen = !app.is_killed();
        let is_there = is_seen && app.shows(words);
        assert!(is_there || !was_seen, "{}", app.picture());
        if !is_there {
            app.send(Msg::Paste(words.to_owned()));
        }
        app.press("M-s").settle().await;
        app.pass(10).settle().await;
        is_seen
    };
    let submit = async |app: &mut Harness| {
        app.press("S").settle().await;
        app.press("C-s").settle().await;
        app.pass(10).settle().await;
    };
    for steps in Sample::one_in(5).of(1..) {
        let server = demo().await;
        let mut app = open(&server, Begin::at(request()).killed_after(steps)).await;
        let mut seen = Vec::new();
        for words in WORDS {
            seen.push(write(&mut app, words, false).await);
        }
        submit(&mut app).await;
        let (kept, is_killed) = (std::mem::take(&mut app.kept), app.is_killed());
        drop(app);
        if is_killed {
            let mut begin = Begin::at(request());
            (begin.drafts, begin.account) = (kept, "ada".into());
            let mut app = open(&server, begin).await;
            app.pass(10).settle().await;
            for (words, is_seen) in WORDS.into_iter().zip(seen) {
                if !app.shows(words) {
                    write(&mut app, words, is_seen).await;
                }
            }
            submit(&mut app).await;
        }
        let screen = open(&server, Begin::at(request())).await.picture();
        assert!(!screen.contains("in your review"), "killed after {steps} steps:\n{screen}");
        for words in WORDS {
            assert_eq!(screen.matches(words).count(), 1, "{words:?}, killed after {steps} steps:\n{screen}");
        }
        server.stop().await;
        if !is_killed {
            assert!(steps > 6, "they are kept, sent, submitted and forgotten: {steps}");
            break;
        }
    }
}
