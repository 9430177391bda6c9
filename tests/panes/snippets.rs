//! Snippets: the list with its preview, writing them, their notes, and details for administrators.

use crate::harness::{Begin, Harness, NOW};
use jiff::Timestamp;
use labscope::app::Place;
use labscope::backend::{Clock, Options, RunningServer, WorldKind, start};
use serde_json::json;

const WORLD: &str = r#"
now = "2026-06-15T00:00:00Z"

[[users]]
username = "root"
admin = true

[[users]]
username = "ada"
name = "Ada Sommer"

[[projects]]
path = "ada/rocket"
visibility = "public"
files = '''
-- README.md --
# Rocket
'''
script = '''
from 2026-06-02
to 2026-06-10
ada: Begin
  + README.md
'''
"#;

async fn served() -> RunningServer {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("world.toml");
    std::fs::write(&file, WORLD).expect("written");
    let now: Timestamp = NOW.parse().expect("a time");
    let options = Options { world: WorldKind::File(file), clock: Clock::new(move || now), ..Options::default() };
    start(options).await.expect("a server on a free port")
}

async fn at(server: &RunningServer, user: &str, place: Place) -> Harness {
    let mut app = Begin::at(place).size(120, 34).server(&server.base_url, &server.tokens[user]).open();
    app.settle().await;
    app
}

#[tokio::test]
async fn a_snippet_can_be_created_read_changed_and_deleted() {
    let server = served().await;
    let mut app = at(&server, "ada", Place::new("snippets").project("ada/rocket")).await;
    app.expect("There are no snippets yet").press("+").settle().await;
    app.expect("New snippet in ada/rocket");
    app.type_text("Greeting").press("Tab").type_text("hello.rs").press("Tab").type_text("fn main() {}").press("Esc");
    app.press("C-s").until("Created snippet $").await;
    app.settle().await;
    app.expect("$1").expect("Greeting").expect("hello.rs").expect("fn main() {}").expect("Rust");
    app.press("e").settle().await;
    app.expect("edit hello.rs").type_text("// ").press("C-s").until("Saved snippet $1").await;
    app.settle().await;
    app.expect("// fn main() {}");
    assert!(!app.kept.keys().any(|key| key.ends_with("$1 text")), "the server has it");
    app.press("t").settle().await;
    app.expect("Edit snippet $1").press("C-u").type_text("Farewell").press("C-s").until("Saved snippet").await;
    app.settle().await;
    app.expect("Farewell").expect_no("Greeting");
    // Several files.
    app.press("q")
        .press("a")
        .type_text("Add file")
        .press("Enter")
        .expect("file name")
        .type_text("b.py")
        .press("Enter")
        .settle()
        .await;
    app.expect("edit b.py").type_text("print(1)").press("C-s").until("Added b.py to snippet $1").await;
    app.settle().await;
    app.expect("b.py (1 of 2)").expect("print(1)").press("f").settle().await;
    app.expect("hello.rs (2 of 2)").expect("// fn main() {}").press("e").settle().await;
    app.expect("edit hello.rs").type_text("/").press("C-s").until("Saved snippet $1").await;
    app.settle().await;
    app.expect("/// fn main() {}").press("f").settle().await;
    app.expect("print(1)").press("a").type_text("Delete file").press("Enter").expect("Delete the file b.py").press("y");
    app.until("Deleted b.py of snippet $1").await;
    app.settle().await;
    app.expect("hello.rs").expect_no("of 2)").expect("/// fn main() {}");
    app.press("q").press("D").expect("Delete the snippet $1").press("y").until("Deleted snippet $1").await;
    app.settle().await;
    app.expect("There are no snippets yet");
    server.stop().await;
}

#[tokio::test]
async fn snippets_have_notes_and_only_administrators_see_their_origin() {
    let server = served().await;
    let mut app = at(&server, "ada", Place::new("snippets").project("ada/rocket")).await;
    app.press("+").settle().await;
    app.type_text("Greeting").press("Tab").type_text("a.txt").press("Tab").type_text("hi").press("Esc");
    app.press("C-s").until("Created snippet $").await;
    app.settle().await;
    app.press("2").settle().await;
    app.expect("No comments yet").press("c").type_text("It is **short**.").press("C-s");
    app.until("Commented on $1").await;
    app.settle().await;
    app.expect("It is short.").expect("ada · ");
    // A note whose reply is lost is not sent twice: see `review`, which uses the same outbox.
    assert!(!app.kept.keys().any(|key| key.contains("draft ")), "{:?}", app.kept);
    app.press("e").type_text(" Indeed.").press("C-s").until("Edited a comment").await;
    app.settle().await;
    app.expect("Indeed.").press("3").settle().await;
    app.expect("Not allowed").expect("for administrators");
    let place = Place::new("snippets").project("ada/rocket").item(1).tab("comments");
    let mut app = at(&server, "root", place.clone()).await;
    app.expect("Indeed.").press("D").expect("Somebody else wrote this comment");
    app.press("3").settle().await;
    app.expect("127.0.0.1").expect("labscope");
    let mut app = at(&server, "ada", place).await;
    app.press("D").expect("Delete your comment").press("y").until("Deleted a comment").await;
    app.settle().await;
    app.expect("No comments yet");
    server.stop().await;
}

/// Opens two scripted snippets of a project, with drafts of an earlier session.
fn scripted(drafts: &[(&str, serde_json::Value)]) -> Harness {
    let mut begin = Begin::at(Place::new("snippets").project("ada/rocket")).size(120, 34);
    for (key, draft) in drafts {
        begin.drafts.insert((*key).to_owned(), draft.to_string());
    }
    begin.account = "ada".into();
    let mut app = begin.open();
    let snippet = |id: u64, title: &str| json!({"id": id, "title": title, "file_name": "a.rs", "web_url": ""});
    app.reply("GET /user", json!({"id": 5, "username": "ada", "name": "Ada"}));
    app.reply("GET /projects/ada%2Frocket/snippets", [snippet(1, "First"), snippet(2, "Second")]);
    for id in [1, 2] {
        app.reply_raw(&format!("GET /projects/ada%2Frocket/snippets/{id}/raw"), "fn main() {}");
        app.reply(&format!("GET /projects/ada%2Frocket/snippets/{id}/notes"), json!([]));
    }
    app
}

#[tokio::test]
async fn a_reply_on_a_snippet_is_posted_to_its_thread() {
    let mut app = scripted(&[]);
    let note = json!({"id": 1, "body": "In a thread?", "author": {"id": 6, "username": "bo"}, "system": false,
        "created_at": "2026-06-15T09:00:00Z", "updated_at": "2026-06-15T09:00:00Z"});
    let thread = json!({"id": "abc", "individual_note": false, "notes": [note]});
    app.reply("GET /projects/ada%2Frocket/snippets/1/discussions", [thread]).settle().await;
    app.press("Enter").press("2").settle().await;
    app.expect("In a thread?").press("G R").type_text("Yes.");
    let post = "POST /projects/ada%2Frocket/snippets/1/discussions/abc/notes";
    app.reply(post, json!({"id": 3})).press("C-s").settle().await;
    assert!(app.asked.contains(&format!("{post} body=Yes.")), "{:?}", app.asked);
}

#[tokio::test]
async fn drafts_of_notes_are_available_on_every_tab() {
    let on = json!({"snippet": {"project": "ada/rocket", "id": 1}});
    let draft = json!({"on": on, "text": "Half a tho", "state": "begun"});
    let mut app = scripted(&[("@ada draft ada/rocket$1 1", draft)]);
    app.settle().await;
    // A begun draft can be continued although the notes were never viewed.
    app.expect("First").press("c").expect("Half a tho").press("Esc").press("1 K").expect("Half a tho").press("Esc");
    app.press("j").settle().await;
    app.press("K").expect("There are no drafts");
    app.press("k K").expect("Half a tho");
}

#[tokio::test]
async fn the_fate_of_a_note_is_checked_once_from_any_tab() {
    let on = json!({"snippet": {"project": "ada/rocket", "id": 1}});
    let draft = json!({"on": on, "text": "Did it arrive", "state": {"sending": {"before": 7}}});
    let mut app = scripted(&[("@ada draft ada/rocket$1 1", draft)]);
    app.fail("GET /projects/ada%2Frocket/snippets/1/notes", 500, "out of ink").settle().await;
    let looks = |app: &Harness| app.asked.iter().filter(|line| line.contains("/1/notes")).count();
    let once = looks(&app);
    assert!(once > 0, "{:?}", app.asked);
    for _ in 0..3 {
        app.press("j").settle().await;
        app.press("k").settle().await;
    }
    assert_eq!(looks(&app), once, "{:?}", app.asked);
}

#[tokio::test]
async fn a_concurrent_change_of_a_snippet_is_shown_before_it_is_replaced() {
    let url = "/projects/ada%2Frocket/snippets/1";
    let begin = || async {
        let mut app = scripted(&[]);
        app.settle().await;
        app.press("e").settle().await;
        app.expect("edit a.rs").type_text("// mine ");
        app.reply_raw(&format!("GET {url}/raw"), "fn main() { theirs() }");
        app.press("C-s").settle().await;
        app.expect("Somebody else has changed it.").expect("// mine fn main() {}").expect("theirs()");
        app
    };
    let sent = |app: &Harness| app.asked.iter().filter(|line| line.starts_with("PUT")).count();
    let mut app = begin().await;
    assert_eq!(sent(&app), 0);
    // Esc returns to the typed text; taking their version can be undone with C-z.
    app.press("Esc").expect("edit a.rs").expect("// mine").press("C-s").settle().await;
    app.press("t").expect("C-z restores yours").expect("theirs()").expect_no("// mine").press("C-z");
    app.expect("// mine").press("C-s").settle().await;
    app.reply(&format!("PUT {url}"), json!({"id": 1, "title": "First"})).settle().await;
    app.expect("Saved snippet $1");
    assert_eq!(sent(&app), 1);
    let mut app = begin().await;
    app.reply(&format!("PUT {url}"), json!({"id": 1, "title": "First"})).press("C-s").settle().await;
    assert!(app.asked.iter().any(|line| line.starts_with("PUT") && line.contains("mine fn main() {}")));
    app.expect("Saved snippet $1");
    // If the check for changes fails, the snippet is sent anyway, and the server decides.
    let mut app = scripted(&[]);
    app.settle().await;
    app.press("e").settle().await;
    app.type_text("x").fail(&format!("GET {url}/raw"), 500, "out of ink").fail(&format!("PUT {url}"), 403, "no");
    app.press("C-s").settle().await;
    app.expect("Could not change snippet $1: no").expect("Your text is saved");
}

#[tokio::test]
async fn an_empty_text_is_refused_with_the_key_that_deletes_the_snippet() {
    let mut app = scripted(&[]);
    app.settle().await;
    app.press("e").settle().await;
    app.expect("edit a.rs").press("C-k C-s").settle().await;
    app.expect("A snippet cannot be empty; D deletes it.").expect("edit a.rs");
}

#[tokio::test]
async fn a_text_from_the_external_editor_is_never_lost() {
    use labscope::app::action::Msg;
    let url = "/projects/ada%2Frocket/snippets/1";
    let begin = || async {
        let mut app = scripted(&[]);
        app.settle().await;
        app.press("E").settle().await;
        app.expect("Open in $EDITOR").expect("Esc close").expect_no("C-f");
        app.reply_raw(&format!("GET {url}/raw"), "fn main() { theirs() }");
        app.send(Msg::EditorClosed(Ok("fn main() { mine() }".into())));
        app.expect("checking for changes");
        app
    };
    let kept = |app: &Harness| app.kept.values().any(|text| text.contains("mine()"));
    // Closed during the check: the text is kept, and a message says so.
    let mut app = begin().await;
    app.press("Esc").expect("Draft saved: a.rs").expect_no("Open in $EDITOR");
    assert!(kept(&app), "{:?}", app.kept);
    let mut app = begin().await;
    app.settle().await;
    app.expect("Somebody else has changed it.").press("Esc").expect("Draft saved: a.rs");
    assert!(kept(&app), "{:?}", app.kept);
    // Their version is taken: no draft is kept, and the written text is in the clipboard.
    let mut app = begin().await;
    app.settle().await;
    app.press("t").expect("Copied your text (theirs was kept)");
    assert!(!kept(&app) && app.copied() == ["fn main() { mine() }"], "{:?} {:?}", app.kept, app.copied());
    assert!(app.asked.iter().all(|line| !line.starts_with("PUT")), "{:?}", app.asked);
}

#[tokio::test]
async fn only_a_refusal_says_that_details_are_for_administrators() {
    for (status, denied) in [(403, true), (500, false)] {
        let mut app = scripted(&[]);
        app.fail("GET /projects/ada%2Frocket/snippets/1/user_agent_detail", status, "No.").settle().await;
        app.press("Enter").press("3").settle().await;
        app.expect("User agent");
        assert_eq!(app.shows("Only for administrators"), denied, "{}", app.picture());
    }
}

#[tokio::test]
async fn the_text_of_a_snippet_is_rendered_and_its_links_open() {
    let mut app = Begin::at(Place::new("snippets").project("ada/rocket")).size(120, 34).open();
    let snippet = json!({"id": 1, "title": "First", "file_name": "a.md", "web_url": ""});
    app.reply("GET /user", json!({"id": 5, "username": "ada", "name": "Ada"}));
    app.reply("GET /projects/ada%2Frocket/snippets", [snippet]);
    app.reply_raw("GET /projects/ada%2Frocket/snippets/1/raw", "**Read** [the docs](https://a.example/docs)\n");
    app.settle().await;
    app.expect("Read the docs").expect_no("**").expect("Comments").press("Enter Enter").settle().await;
    assert_eq!(app.browsed(), ["https://a.example/docs"]);
    app.press("m").settle().await;
    app.expect("**Read** [the docs]");
}
