//! The main use cases over real HTTP: the demo world on a local server, with the program's own client.

use crate::harness::{Begin, NOW};
use crate::sample::Sample;
use jiff::Timestamp;
use labscope::api::Endpoint;
use labscope::api::client::{Client, Server};
use labscope::api::endpoint::Request;
use labscope::api::projects::UpdateProject;
use labscope::app::Place;
use labscope::backend::{Clock, Modes, Options, RunningServer, Version, WorldKind, start};
use labscope::ui::legend;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::cell::Cell;
use std::rc::Rc;

/// Serves the demo world with its clock fixed at [`NOW`].
pub async fn demo() -> RunningServer {
    demo_with(Options::default()).await
}

/// Like [`demo`], with further options.
pub async fn demo_with(options: Options) -> RunningServer {
    let now: Timestamp = NOW.parse().expect("a time");
    let options = Options { world: WorldKind::Demo, clock: Clock::new(move || now), ..options };
    start(options).await.expect("a server on a free port")
}

/// A failing pipeline: from the list of jobs to the error, and on to the line of the source.
#[tokio::test]
async fn a_failing_pipeline_is_diagnosed_in_under_ten_keys() {
    let server = demo().await;
    let place = Place::new("files").project("acme/rocket-ui");
    let mut harness = Begin::at(place).server(&server.base_url, server.token()).open();
    harness.settle().await;
    let keys = ["g", "j", "4", "j", "Enter", "Enter"];
    for key in keys {
        harness.press(key).settle().await;
        if key == "Enter" && harness.app.place().pane == "job" {
            // The trace arrives as a stream; once it is there, the cursor moves to the failure.
            harness.until("▌ 13  test a_narrow").await;
            harness.settle().await;
        }
    }
    assert!(keys.len() < 10);
    let place = harness.app.place();
    assert_eq!((place.path.as_deref(), place.line), (Some("tests/table.rs"), Some(22)), "{}", harness.picture());
    harness.expect("the last column has gone");
    server.stop().await;
}

/// On servers before 19.4, the archive of the job has the reports.
#[tokio::test]
async fn reports_of_a_served_pipeline_mark_new_lines() {
    for version in [Version::V19, Version::V17] {
        let server = demo_with(Options { modes: Modes::of(version), ..Options::default() }).await;
        let place = Place::new("mr").project("acme/rocket-ui").item(40).tab("changes");
        let mut harness = Begin::at(place).size(160, 45).server(&server.base_url, server.token()).open();
        harness.settle().await;
        harness.expect("New lines: 66% covered, 2 problems");
        assert!(harness.line_with("fn fmt(&self").contains("52 +○"), "{}", harness.picture());
        assert!(harness.line_with("write!(f").contains("53 +▲"), "{}", harness.picture());
        assert!(harness.line_with("is missing").contains("72 +┃"), "{}", harness.picture());
        harness.press("j").expect("Line 52: not covered").press("j");
        harness
            .expect("Line 53: major: this function's return value is unnecessarily wrapped")
            .expect("(clippy::unnecessary_wraps)");
        server.stop().await;
    }
}

#[tokio::test]
async fn a_merge_request_can_be_found_read_and_commented_on() {
    let server = demo().await;
    let place = Place::new("mrs").project("acme/rocket-ui");
    let mut harness = Begin::at(place).size(100, 45).light().server(&server.base_url, server.token()).open();
    harness.settle().await;
    harness.expect("Draw only visible rows").click_on("Draw only visible rows").press("Enter").settle().await;
    harness.expect("feature/rows → main").expect("What changes").expect("Commits 3").expect("Changes 6");
    harness.press("c").type_text("Read on a **train**.").press("C-s");
    harness.until("Commented on !42").await;
    harness.settle().await;
    harness.expect("Read on a train.");
    harness.press("3").settle().await;
    harness.expect("Files 6").expect("expand ");
    harness.press("2").settle().await;
    harness.press("Enter").settle().await;
    harness.expect("Commit 3 of 3");
    server.stop().await;
}

/// Returns whether a character is a piece of a bar.
fn is_bar(c: char) -> bool {
    ('\u{2580}'..='\u{259f}').contains(&c)
}

/// Returns whether a character is a sign: neither text and its punctuation nor a line of a frame or a graph. Emoji and
/// bullets are of texts.
fn is_sign(c: char) -> bool {
    let is_line = ('\u{2500}'..='\u{257f}').contains(&c);
    let is_text = c.is_ascii() || c.is_alphanumeric() || c.is_whitespace() || c > '\u{fffd}';
    !is_line && !is_text && !"·•–—‘’“”×≥❤\u{fe0f}".contains(c)
}

#[tokio::test]
async fn the_legend_explains_every_sign_on_the_screen() {
    let server = demo().await;
    let project = |pane: &str| Place::new(pane).project("acme/rocket-ui");
    let places = [
        Place::new("home"),
        project("mrs"),
        project("mr").item(42),
        project("jobs").item(19),
        project("commits").at("feature/rows"),
        Place::new("team").group("acme"),
    ];
    let mut unknown = Vec::new();
    for place in places {
        for size in [(80, 24), (160, 45)] {
            let begin = Begin::at(place.clone()).size(size.0, size.1);
            let mut harness = begin.server(&server.base_url, server.token()).open();
            harness.settle().await.pass(1).settle().await;
            let area = Rect::new(0, 0, size.0, size.1);
            let known = legend::of(|| {
                let mut frame = Buffer::empty(area);
                harness.app.view(area, &mut frame);
                frame
            });
            // The legend shows the beginning of a bar.
            let is_same = |known: char, sign: char| known == sign || is_bar(known) && is_bar(sign);
            let explained = |sign: char| known.iter().any(|entry| entry.sign.chars().any(|known| is_same(known, sign)));
            let shown = harness.lines().concat();
            let mut signs: Vec<char> = shown.chars().filter(|c| is_sign(*c) && !explained(*c)).collect();
            signs.sort_unstable();
            signs.dedup();
            if !signs.is_empty() {
                unknown.push(format!("{} at {size:?}: {signs:?}\n{}", place.pane, harness.picture()));
            }
        }
    }
    server.stop().await;
    assert!(unknown.is_empty(), "{}", unknown.join("\n\n"));
}

/// Returns the names of the changed files of a merge request of the stack.
async fn files_of_layer(server: &RunningServer, iid: u64) -> Vec<String> {
    let place = Place::new("mr").project("acme/tools/cli").item(iid).tab("changes");
    let mut harness = Begin::at(place).size(160, 45).server(&server.base_url, &server.tokens["dora"]).open();
    harness.settle().await;
    let files = harness.lines().into_iter().filter_map(|line| {
        let (list, _) = line.split_once(" │")?;
        list.split_whitespace().find(|word| word.contains(".py") || word.contains(".md")).map(str::to_owned)
    });
    files.collect()
}

#[tokio::test]
async fn a_layer_of_a_stack_shows_only_its_own_changes() {
    let server = demo().await;
    let before = [files_of_layer(&server, 12).await, files_of_layer(&server, 13).await];
    assert_eq!(before, [vec!["forge/parts.py"], vec!["forge/resume.py"]]);
    let mut to = Server::new(server.base_url.parse().expect("an address"));
    to.token = Some(server.tokens["root"].clone().into());
    let allow = UpdateProject {
        id: "acme/tools/cli".into(),
        only_allow_merge_if_pipeline_succeeds: Some(false),
        ..UpdateProject::default()
    };
    Client::new(to).expect("a client").send(&allow.request()).await.expect("changed");
    let place = Place::new("mr").project("acme/tools/cli").item(12);
    let mut harness = Begin::at(place).size(160, 45).server(&server.base_url, &server.tokens["dora"]).open();
    harness.settle().await;
    harness.press("M").expect("retargets !13 to main").press("C-s");
    harness.until("Retargeted !13 to main").await;
    let after = files_of_layer(&server, 13).await;
    assert_eq!(after, before[1]);
    server.stop().await;
}

/// Returns the lines of !42 as a new session shows them.
async fn conversation(server: &RunningServer) -> Vec<String> {
    let place = Place::new("mr").project("acme/rocket-ui").item(42);
    let mut harness = Begin::at(place).size(100, 400).server(&server.base_url, server.token()).open();
    harness.settle().await;
    harness.press("G").settle().await;
    harness.lines()
}

/// Wherever the program was killed, the remaining drafts are there after the restart, and submitting them sends nothing
/// twice.
#[tokio::test]
async fn a_review_killed_between_any_two_requests_is_submitted_once() {
    let place = || Place::new("mr").project("acme/rocket-ui").item(42);
    for alive in Sample::one_in(3).of(0..15) {
        let server = demo().await;
        let sent = Rc::new(Cell::new(0));
        let counted = sent.clone();
        // The program is killed after this number of writes; the next one is never sent.
        let dies = move |request: &Request| {
            counted.set(counted.get() + usize::from(!request.is_read()));
            !request.is_read() && counted.get() > alive
        };
        let mut harness = Begin::at(place()).size(100, 45).hold(dies).server(&server.base_url, server.token()).open();
        harness.settle().await;
        for words in ["The first of two.", "The second of two."] {
            harness.press("c").type_text(words).press("M-s").settle().await;
        }
        harness.press("S").type_text("A summary of both.").press("M-a");
        harness.press("C-s").settle().await;
        let (kept, finished) = (std::mem::take(&mut harness.kept), sent.get() <= alive);
        drop(harness);
        let mut begin = Begin::at(place()).size(100, 45).server(&server.base_url, server.token());
        (begin.drafts, begin.account) = (kept, "ada".into());
        let mut harness = begin.open();
        harness.settle().await;
        harness.pass(10).settle().await;
        harness.press("S").press("C-s").settle().await;
        for _ in 0..4 {
            harness.pass(10).settle().await;
        }
        drop(harness);
        let there = conversation(&server).await;
        for words in ["The first of two.", "The second of two.", "A summary of both."] {
            let count = there.iter().filter(|line| line.contains(words)).count();
            assert_eq!(count, 1, "{words} after {alive} writes\n{}", there.join("\n"));
        }
        server.stop().await;
        if finished {
            assert!(alive >= 5, "it takes two drafts, a summary, the submission and the approval");
            return;
        }
    }
    panic!("the review was never submitted");
}

/// The address that `git push` prints for a new branch.
#[tokio::test]
async fn the_address_of_a_new_merge_request_opens_its_form() {
    let server = demo().await;
    let place = Place::new("branches").project("acme/rocket-ui").at("feature/mouse").tab("new merge request");
    let mut harness = Begin::at(place).server(&server.base_url, server.token()).open();
    harness.settle().await;
    harness.expect("New merge request").expect("feature/mouse");
}

/// After the cause, the way goes on to its consequences.
#[tokio::test]
async fn the_next_error_after_the_cause_is_its_consequence() {
    let server = demo().await;
    let place = Place::new("job").project("acme/rocket-ui").item(108);
    let mut harness = Begin::at(place).server(&server.base_url, server.token()).open();
    harness.settle().await;
    assert!(harness.line_with("▌").contains("file not found for module"), "{}", harness.picture());
    harness.press("e").settle().await;
    assert!(harness.line_with("▌").contains("could not compile"), "{}", harness.picture());
    harness.press("e").settle().await;
    harness.expect("No error below.");
}

/// Blame is of the source, and the rendered text comes back after it.
#[tokio::test]
async fn blame_of_rendered_text_leaves_it_rendered() {
    let server = demo().await;
    let place = Place::new("files").project("acme/rocket-ui").at("main").path("README.md");
    let mut harness = Begin::at(place).server(&server.base_url, server.token()).open();
    harness.settle().await;
    harness.expect_no("# rocket-ui").press("B").settle().await;
    harness.expect("# rocket-ui").expect("blame, ").press("B").settle().await;
    harness.expect_no("# rocket-ui").expect_no("blame, ");
}
