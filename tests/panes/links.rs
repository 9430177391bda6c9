//! Links in READMEs and Markdown files: they open their place or page, and nothing is requested before.

use crate::fixtures::{self, With, blob_id, file, folder, user};
use crate::harness::{Begin, Harness};
use labscope::app::place::Place;
use serde_json::json;

const PROJECT: &str = "GET /projects/acme%2Frocket";
const README: &str = "# Rocket\n\n[![Build](https://img.shields.io/ci.svg)](https://ci.example)\n\n\
                      [Guide](docs/guide.md#second-step) and [source](src/main.rs#L2)\n\n[Down](#the-end) or [out](../../x)\n\n\
                      See !7 and @bo\n\n[mail](mailto:a@b.test)\n\n\
                      <img src=\"https://tracker.example/pixel.png\"> ![far](//cdn.example/a.png) \
                      ![file](file:///etc/passwd)\n\n<p>filler</p>\n\nline\n\nline\n\nline\n\n## The end\n\nlast words\n";

fn blob(path: &str) -> String {
    format!("{PROJECT}/repository/blobs/{}/raw", blob_id(path))
}

fn open(place: Place) -> Harness {
    let mut app = Begin::at(place).size(140, 40).open();
    let project = json!({"id": 7, "path_with_namespace": "acme/rocket", "default_branch": "main", "empty_repo": false});
    app.reply("GET /user", user(1, "ada"))
        .reply(PROJECT, project)
        .reply(
            &format!("{PROJECT}/repository/commits/main"),
            fixtures::commit(&"a".repeat(40), "One", "2026-06-14T10:00:00Z"),
        )
        .reply(&format!("{PROJECT}/repository/tree"), json!([folder("docs"), folder("src"), file("README.md")]))
        .reply(&format!("{PROJECT}/repository/tree?path=docs"), json!([file("docs/guide.md")]))
        .reply(&format!("{PROJECT}/repository/tree?path=src"), json!([file("src/main.rs")]))
        .reply_raw(&blob("README.md"), README)
        .reply_raw(
            &blob("docs/guide.md"),
            format!("# Guide\n\n[home](../README.md)\n\n{}## Second step\n\ndone\n", "text\n\n".repeat(40)),
        )
        .reply_raw(&blob("src/main.rs"), "fn main() {\n    run();\n}\n");
    app
}

/// Opens the README as a file, with the cursor on its first line.
async fn readme() -> Harness {
    let mut app = open(Place::new("files").project("acme/rocket").path("README.md"));
    app.settle().await;
    app
}

/// Returns whether the line with some words is under the cursor of the right panel.
fn is_selected(app: &Harness, words: &str) -> bool {
    app.line_with(words).rsplit('│').next().is_some_and(|panel| panel.contains('▌'))
}

/// Opens a link of the line with some words, in the panel that has the focus.
async fn follow(app: &mut Harness, words: &str) {
    for _ in 0..60 {
        if is_selected(app, words) {
            break;
        }
        app.press("j");
    }
    app.press("Enter").settle().await;
}

#[tokio::test]
async fn relative_links_open_files_at_their_section_or_line() {
    let mut app = readme().await;
    follow(&mut app, "Guide and source").await;
    app.expect("Open link").expect("docs/guide.md#second-step").expect("src/main.rs#L2");
    app.press("Enter").settle().await;
    app.expect("docs/guide.md").expect("Second step").expect("done");
    assert!(is_selected(&app, "Second step"), "{}", app.picture());
    app.press("Home").settle().await;
    follow(&mut app, "home").await;
    app.expect("Build");
    follow(&mut app, "Guide and source").await;
    app.press("Down Enter").settle().await;
    app.expect("fn main()");
    assert!(is_selected(&app, "run();"), "{}", app.picture());
}

#[tokio::test]
async fn sections_of_the_same_text_are_shown() {
    let mut app = readme().await;
    follow(&mut app, "Down or out").await;
    app.press("Enter").settle().await;
    assert!(is_selected(&app, "The end"), "{}", app.picture());
    app.press("Home");
    follow(&mut app, "Down or out").await;
    app.press("Down Enter").settle().await;
    app.expect("The link leads out of the repository: ../../x");
}

#[tokio::test]
async fn references_open_and_other_schemes_do_not() {
    let mut app = readme().await;
    follow(&mut app, "See !7").await;
    app.press("Enter");
    assert!(app.reads().iter().any(|line| line.contains("/merge_requests/7")), "{:?}", app.reads());
    let mut app = readme().await;
    follow(&mut app, "mail").await;
    app.expect("Only web addresses can be opened: mailto:a@b.test");
    assert!(app.browsed().is_empty());
}

#[tokio::test]
async fn nothing_is_requested_from_elsewhere_before_it_is_opened() {
    let mut app = readme().await;
    let asked = |app: &Harness| app.asked.iter().filter(|line| line.contains("example")).cloned().collect::<Vec<_>>();
    app.expect("[image: Build]").expect("[image: pixel.png]").expect("[image: far]");
    assert_eq!((asked(&app), app.browsed()), (Vec::new(), Vec::new()));
    follow(&mut app, "image: Build").await;
    assert_eq!(app.browsed(), ["https://ci.example"]);
    follow(&mut app, "image: far").await;
    app.press("Down Enter").settle().await;
    assert_eq!(app.browsed(), ["https://ci.example", "https://cdn.example/a.png"]);
    assert_eq!(asked(&app), Vec::<String>::new());
}

#[tokio::test]
async fn a_line_without_a_link_says_so() {
    let mut app = readme().await;
    follow(&mut app, "filler").await;
    app.expect("There is no link on this line");
}

#[tokio::test]
async fn links_of_the_overview_open_too() {
    let mut app = open(Place::new("overview").project("acme/rocket"));
    app.settle().await;
    app.press("Tab");
    follow(&mut app, "Guide and source").await;
    app.press("Enter").settle().await;
    app.expect("Second step").expect("done");
    let mut app = open(Place::new("overview").project("acme/rocket"));
    app.settle().await;
    app.double_click_on("Down").settle().await;
    assert!(is_selected(&app, "The end"), "{}", app.picture());
    app.double_click_on("source").settle().await;
    app.expect("fn main()");
}

#[tokio::test]
async fn links_of_descriptions_and_comments_open_too() {
    let issue = fixtures::issue(7, "It is slow", "opened")
        .with(json!({"project_id": 7, "description": "Before it\n\nSee [the guide](docs/guide.md) there."}));
    let comment = fixtures::note(1, "bo", "As in [this](https://x.example) and !9.")
        .with(json!({"noteable_type": "Issue", "noteable_iid": 7}));
    for words in ["See the guide", "As in this"] {
        let mut app = open(Place::new("issue").project("acme/rocket").item(7));
        app.reply(&format!("{PROJECT}/issues/7"), issue.clone())
            .reply(&format!("{PROJECT}/issues/7/notes"), json!([comment]));
        app.settle().await;
        for _ in 0..40 {
            if app.line_with(words).contains('▌') {
                break;
            }
            app.press("j");
        }
        app.press("Enter");
        if words == "As in this" {
            app.expect("Open link").expect("!9").press("Enter").settle().await;
            assert_eq!(app.browsed(), ["https://x.example"]);
        } else {
            app.settle().await;
            app.expect("docs/guide.md").expect("292 B");
        }
    }
}
