//! Files attached to comments: the path, the upload, and everything that can go wrong with a file.

use crate::fixtures::user;
use crate::harness::{Begin, Harness};
use labscope::api::Fault;
use labscope::api::client::Progress;
use labscope::app::Place;
use labscope::app::action::Msg;
use serde_json::json;

const UPLOADS: &str = "POST /projects/acme%2Frocket-ui/uploads";
const SECRET: &str = "0f1e2d3c4b5a69788796a5b4c3d2e1f0";

async fn composer(begin: Begin) -> Harness {
    let mut harness = begin.size(120, 40).open();
    harness
        .reply("GET /user", user(1, "ada"))
        .reply(
            "GET /projects/acme%2Frocket-ui/issues/7",
            json!({"id": 70, "iid": 7, "title": "Rows", "state": "opened"}),
        )
        .reply("GET /projects/acme%2Frocket-ui/issues/7/discussions", json!([]))
        .settle()
        .await;
    harness.press("C").settle().await;
    harness
}

fn issue() -> Begin {
    Begin::at(Place::new("issue").project("acme/rocket-ui").item(7))
}

#[tokio::test]
async fn the_link_of_an_uploaded_file_is_inserted_at_the_cursor() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().canonicalize().expect("it is there").display().to_string();
    for name in ["plan.png", "plants.txt", ".hidden"] {
        std::fs::write(folder.path().join(name), "x").expect("written");
    }
    let mut harness = composer(issue()).await;
    harness.reply(
        UPLOADS,
        json!({"id": 1, "alt": "plan", "url": format!("/uploads/{SECRET}/plan.png"),
        "markdown": format!("![plan](/uploads/{SECRET}/plan.png)")}),
    );
    harness.type_text("before  after").press("Left Left Left Left Left Left").press("M-u");
    harness.type_text(&format!("{root}/pla")).settle().await;
    harness.expect("plan.png").expect("plants.txt").expect_no(".hidden").press("Tab Enter").settle().await;
    harness.expect(&format!("before ![plan](/uploads/{SECRET}/plan.png) after"));
    assert!(harness.asked.iter().any(|line| line.starts_with(UPLOADS)), "{:?}", harness.asked);
}

#[tokio::test]
async fn a_pasted_path_is_offered_and_its_link_takes_its_place() {
    let mut harness = composer(issue()).await;
    harness.reply(UPLOADS, json!({"id": 1, "markdown": "[log.txt](/uploads/x/log.txt)"}));
    harness.type_text("see ");
    harness.send(Msg::Paste("/tmp/log.txt".into()));
    harness.expect("M-u attaches the file in place of its path.").expect("see /tmp/log.txt");
    harness.press("M-u Esc").settle().await;
    harness.expect("see /tmp/log.txt");
    harness.press("C-u");
    harness.send(Msg::Paste("/tmp/log.txt".into()));
    harness.press("M-u Enter").settle().await;
    harness.expect("[log.txt](/uploads/x/log.txt)").expect_no("/tmp/log.txt");
}

#[tokio::test]
async fn a_file_that_is_not_uploaded_costs_no_text() {
    let faults = [
        (Fault::Refused(413, "Request Entity Too Large".into()), "Too Large"),
        (Fault::Denied("403 Forbidden".into()), "403 Forbidden"),
        (Fault::Server(500, "500 Internal Server Error".into()), "500"),
        (Fault::Disk("/tmp/log.txt cannot be read: it is not a regular file".into()), "it is not a regular file"),
    ];
    for (fault, words) in faults {
        let mut harness = composer(issue().refusing(|request| request.path.ends_with("/uploads"))).await;
        harness.type_text("see ");
        harness.send(Msg::Paste("/tmp/log.txt".into()));
        harness.press("M-u Enter").settle().await;
        harness.expect("uploading log.txt").press("C-s Esc").expect("A file is still being uploaded");
        harness.send(Msg::Uploading(1, Progress { done: 2048, total: Some(10240) }));
        harness.expect("uploading log.txt: ");
        harness.refuse(fault);
        harness.expect("Could not attach log.txt").expect(words).expect("see /tmp/log.txt");
        assert!(!harness.asked.iter().any(|line| line.contains("/notes") && line.starts_with("POST")));
    }
}

#[tokio::test]
async fn a_server_without_attachments_is_asked_once() {
    let mut app = composer(issue()).await;
    app.unsupported(UPLOADS).press("M-u").type_text("/tmp/log.txt").press("Enter").settle().await;
    let before = app.asked.len();
    app.press("M-u").expect("The server does not support attachments.");
    assert_eq!(app.asked.len(), before, "{:?}", app.asked);
}

#[tokio::test]
async fn nothing_is_attached_if_the_path_is_left() {
    let mut harness = composer(issue()).await;
    harness.press("M-u").expect("Attach ").press("Esc").expect_no("Attach ");
}

/// Opens the form for a new issue, with the cursor in its description.
async fn description(begin: Begin) -> Harness {
    let mut harness = begin.size(120, 40).open();
    harness.reply("GET /user", user(1, "ada")).reply("GET /projects/acme%2Frocket-ui/issues", json!([])).settle().await;
    harness.press("+").type_text("Rows").press("Tab").expect("M-u attaches a file").settle().await;
    harness
}

fn issues() -> Begin {
    Begin::at(Place::new("issues").project("acme/rocket-ui"))
}

#[tokio::test]
async fn files_are_attached_to_descriptions_in_forms() {
    let mut harness = description(issues()).await;
    harness.reply(UPLOADS, json!({"id": 1, "markdown": format!("[log.txt](/uploads/{SECRET}/log.txt)")}));
    harness.press("M-u").expect("Attach ").expect_no("back to the form").press("Esc").type_text("See ");
    harness.expect("M-u attach");
    harness.send(Msg::Paste("/tmp/log.txt".into()));
    harness.expect("M-u attaches the file in place of its path.").press("M-u Enter").settle().await;
    let link = format!("See [log.txt](/uploads/{SECRET}/log.txt)");
    harness.expect(&link).press("Esc").expect("See [log.txt](/uploads/");
}

#[tokio::test]
async fn a_form_keeps_what_was_typed_if_its_file_is_not_uploaded() {
    let mut harness = description(issues().refusing(|request| request.path.ends_with("/uploads"))).await;
    harness.type_text("See ");
    harness.send(Msg::Paste("/tmp/log.txt".into()));
    harness.press("M-u Enter").settle().await;
    harness.expect("uploading log.txt").press("Esc C-s").expect("A file is still being uploaded");
    harness.refuse(Fault::Refused(413, "Request Entity Too Large".into()));
    harness.expect("Could not attach log.txt").expect("Too Large").expect("See /tmp/log.txt");
    assert!(!harness.asked.iter().any(|line| line.starts_with("POST") && line.ends_with("/issues")));
}

#[tokio::test]
async fn a_text_outside_of_projects_takes_no_files() {
    let mut harness = Begin::at(Place::new("milestones").group("acme")).size(120, 40).open();
    harness.reply("GET /user", user(1, "ada")).reply("GET /groups/acme/milestones", json!([])).settle().await;
    harness.press("+").type_text("0.5").press("Tab Tab Tab").expect_no("M-u").press("Enter M-u");
    harness.expect("Files can be attached only to texts in a project.");
}

#[tokio::test]
async fn a_file_attached_without_a_network_is_uploaded_when_the_comment_is_sent() {
    let is_upload = |request: &labscope::api::endpoint::Request| request.path.ends_with("/uploads");
    let mut harness = composer(issue().refusing(is_upload)).await;
    harness.type_text("see ");
    harness.send(Msg::Paste("/tmp/log.txt".into()));
    harness.press("M-u Enter").settle().await;
    harness.refuse(Fault::Offline("no route".into()));
    harness.expect("The server cannot be reached: log.txt is uploaded on sending.");
    harness.expect("see [attached when sent: log.txt]").press("Esc").expect("Draft saved").press("C");
    // The file has vanished: nothing is sent, and the draft says so.
    harness.press("C-s").settle().await;
    harness.expect("uploading its files…");
    harness.refuse(Fault::Disk("/tmp/log.txt cannot be read: No such file or directory (os error 2)".into()));
    harness
        .expect("Not sent. Could not attach log.txt: ")
        .expect("No such file")
        .expect("[attached when sent: log.txt]");
    assert!(!harness.asked.iter().any(|line| line.starts_with("POST") && line.contains("/discussions")));
}

#[tokio::test]
async fn a_comment_contains_the_links_of_the_files_that_waited() {
    let first = std::cell::Cell::new(true);
    let is_first = move |request: &labscope::api::endpoint::Request| request.path.ends_with("/uploads") && first.take();
    let mut harness = composer(issue().refusing(is_first)).await;
    harness.reply(UPLOADS, json!({"id": 1, "markdown": "[log.txt](/uploads/x/log.txt)"}));
    harness.reply("GET /projects/acme%2Frocket-ui/issues/7/notes", json!([]));
    harness.reply("POST /projects/acme%2Frocket-ui/issues/7/notes", json!({"id": 9, "body": "x"}));
    harness.reply("POST /projects/acme%2Frocket-ui/issues/7/discussions", json!({"id": "a", "notes": [{"id": 9}]}));
    harness.type_text("see ").press("M-u").type_text("/tmp/log.txt").press("Enter").settle().await;
    harness.refuse(Fault::Offline("no route".into()));
    harness.type_text(".").press("C-s").settle().await;
    let sent: Vec<&String> = harness.asked.iter().filter(|line| line.starts_with("POST")).collect();
    assert_eq!(sent.iter().filter(|line| line.starts_with(UPLOADS)).count(), 2, "{sent:?}");
    assert!(sent.last().is_some_and(|line| line.contains("body=see [log.txt](/uploads/x/log.txt).")), "{sent:?}");
}

#[tokio::test]
async fn files_are_attached_to_the_text_of_a_snippet() {
    let is_first = std::cell::Cell::new(true);
    let refused =
        move |request: &labscope::api::endpoint::Request| request.path.ends_with("/uploads") && is_first.take();
    let mut harness = Begin::at(Place::new("snippets").project("ada/rocket")).size(120, 34).refusing(refused).open();
    let url = "/projects/ada%2Frocket/snippets";
    harness.reply("GET /user", user(5, "ada"));
    harness.reply(&format!("GET {url}"), json!([{"id": 1, "title": "First", "file_name": "a.md", "web_url": ""}]));
    harness.reply_raw(&format!("GET {url}/1/raw"), "notes");
    harness.reply(&format!("GET {url}/1/notes"), json!([]));
    harness.reply("POST /projects/ada%2Frocket/uploads", json!({"id": 1, "markdown": "[log.txt](/uploads/x/log.txt)"}));
    harness.settle().await;
    harness.press("e").settle().await;
    harness.expect("M-u attach").send(Msg::Paste("/tmp/log.txt".into()));
    harness.expect("M-u attaches the file in place of its path.").expect("/tmp/log.txtnotes").press("M-u Enter");
    harness.settle().await;
    harness.expect("uploading log.txt").press("C-s Esc").expect("edit a.md");
    harness.refuse(Fault::Refused(413, "Request Entity Too Large".into()));
    harness.expect("Could not attach log.txt").expect("Too Large").expect("/tmp/log.txtnotes");
    harness.press("C-z").type_text("see ").press("M-u").expect("Attach ").type_text("/tmp/log.txt").press("Enter");
    harness.settle().await;
    harness.expect("[log.txt](/uploads/x/log.txt)").expect_no("Too Large");
    assert!(harness.kept.values().any(|text| text.contains("/uploads/x/log.txt")), "{:?}", harness.kept);
    assert!(!harness.asked.iter().any(|line| line.starts_with("PUT")), "{:?}", harness.asked);
}

#[tokio::test]
async fn a_form_uploads_the_files_that_waited_before_it_is_sent() {
    let left = std::cell::Cell::new(2);
    let is_refused = move |request: &labscope::api::endpoint::Request| {
        request.path.ends_with("/uploads") && left.replace(left.get() - 1) > 0
    };
    let mut harness = description(issues().refusing(is_refused)).await;
    harness.reply(UPLOADS, json!({"id": 1, "markdown": "[log.txt](/uploads/x/log.txt)"}));
    harness.reply("POST /projects/acme%2Frocket-ui/issues", json!({"id": 71, "iid": 8, "title": "Rows"}));
    harness.type_text("See ").press("M-u").type_text("/tmp/log.txt").press("Enter").settle().await;
    harness.refuse(Fault::Offline("no route".into()));
    harness.expect("See [attached when sent: log.txt]").press("Esc Esc").expect("Draft saved");
    // The draft knows its file. If it is not uploaded, nothing is sent.
    harness.press("+").settle().await;
    harness.press("C-s").settle().await;
    harness.expect("uploading log.txt  C-x stops");
    harness.refuse(Fault::Refused(413, "Request Entity Too Large".into()));
    harness.expect("Could not attach log.txt: 413").expect("[attached when sent: log.txt]");
    let sent = |harness: &Harness| -> Vec<String> {
        harness.asked.iter().filter(|line| line.starts_with("POST")).cloned().collect()
    };
    assert!(sent(&harness).iter().all(|line| line.starts_with(UPLOADS)), "{:?}", sent(&harness));
    harness.press("C-s").settle().await;
    let sent = sent(&harness);
    assert_eq!(sent.len(), 4, "{sent:?}");
    assert!(sent.last().is_some_and(|line| line.contains("description=See [log.txt](/uploads/x/log.txt)")), "{sent:?}");
    assert!(harness.kept.is_empty(), "{:?}", harness.kept);
}

/// Returns a predicate for the first `count` uploads.
fn first_uploads(count: usize) -> impl Fn(&labscope::api::endpoint::Request) -> bool {
    let left = std::cell::Cell::new(count);
    move |request| {
        let is_first = request.path.ends_with("/uploads") && left.get() > 0;
        left.set(left.get() - usize::from(is_first));
        is_first
    }
}

/// Returns the writes that are no uploads.
fn writes(harness: &Harness) -> Vec<&String> {
    let is_write = |line: &&String| !line.starts_with("GET") && !line.contains("/uploads file=");
    harness.asked.iter().filter(is_write).collect()
}

fn unreachable() -> Fault {
    Fault::Offline("no route".into())
}

#[tokio::test]
async fn the_text_of_a_snippet_contains_the_links_of_the_files_that_waited() {
    let mut harness =
        Begin::at(Place::new("snippets").project("ada/rocket")).size(80, 24).refusing(first_uploads(2)).open();
    let url = "/projects/ada%2Frocket/snippets";
    let uploaded = json!({"id": 1, "markdown": "[log.txt](/uploads/x/log.txt)"});
    harness.reply("GET /user", user(5, "ada"));
    harness.reply(&format!("GET {url}"), json!([{"id": 1, "title": "First", "file_name": "a.md", "web_url": ""}]));
    harness.reply_raw(&format!("GET {url}/1/raw"), "notes");
    harness.reply(&format!("GET {url}/1/notes"), json!([]));
    harness.reply("POST /projects/ada%2Frocket/uploads", uploaded);
    harness.reply(&format!("PUT {url}/1"), json!({"id": 1, "title": "First"}));
    harness.settle().await;
    harness.press("e").settle().await;
    harness.press("M-u").type_text("/tmp/log.txt").press("Enter").settle().await;
    harness.refuse(unreachable());
    harness.expect("The server cannot be reached: log.txt is uploaded on sending.");
    // The draft keeps its file when the editor is closed.
    harness.press("Esc").expect("Draft saved").press("e").settle().await;
    harness.expect("[attached when sent: log.txt]notes").press("C-s").settle().await;
    harness.expect("uploading log.txt").press("Esc").expect("uploading log.txt").type_text("nothing is typed");
    harness.refuse(Fault::Refused(413, "Request Entity Too Large".into()));
    harness.expect("Not sent. Could not attach log.txt").expect("Your text is saved.");
    harness.expect("[attached when sent: log.txt]notes");
    harness.expect_no("nothing is typed");
    assert_eq!(writes(&harness), Vec::<&String>::new());
    harness.press("C-s").settle().await;
    let sent = writes(&harness);
    assert!(sent[0].contains("[log.txt](/uploads/x/log.txt)notes"), "{sent:?}");
    assert_eq!(sent.len(), 1, "{sent:?}");
    assert!(harness.kept.is_empty(), "{:?}", harness.kept);
}

#[tokio::test]
async fn release_notes_of_a_tag_contain_the_links_of_the_files_that_waited() {
    let mut harness =
        Begin::at(Place::new("tags").project("acme/rocket-ui")).size(120, 34).refusing(first_uploads(2)).open();
    let tags = "/projects/acme%2Frocket-ui/repository/tags";
    let tag = json!({"name": "v1", "message": null, "release": null,
        "commit": crate::fixtures::commit(&"a".repeat(40), "One", "2026-06-14T10:00:00Z")});
    harness.reply("GET /user", user(1, "ada")).reply(&format!("GET {tags}"), json!([tag]));
    harness.reply(&format!("GET {tags}/v1"), tag);
    harness.reply(UPLOADS, json!({"id": 1, "markdown": "[log.txt](/uploads/x/log.txt)"}));
    harness.reply("POST /projects/acme%2Frocket-ui/releases", json!({"tag_name": "v1", "description": "x"}));
    harness.settle().await;
    harness.press("e").type_text("See ").press("M-u").type_text("/tmp/log.txt").press("Enter").settle().await;
    harness.refuse(unreachable());
    harness.expect("See [attached when sent: log.txt]").press("Esc e").expect("See [attached when sent: log.txt]");
    // Stopping the upload sends nothing, and the text can be sent again.
    harness.press("C-s").settle().await;
    harness.expect("uploading log.txt").press("C-x");
    harness.refuse(Fault::Disk("the upload was stopped".into()));
    harness.expect("Not sent. Stopped attaching log.txt. Your text is saved.");
    assert_eq!(writes(&harness), Vec::<&String>::new());
    harness.press("C-s").settle().await;
    let sent = writes(&harness);
    assert_eq!(
        sent,
        ["POST /projects/acme%2Frocket-ui/releases description=See [log.txt](/uploads/x/log.txt) tag_name=v1"]
    );
    assert!(harness.kept.is_empty(), "{:?}", harness.kept);
}

/// Marks of two files with the same name, in two texts of a form, and one of them twice.
#[tokio::test]
async fn files_of_the_same_name_are_not_mixed_up_within_a_form() {
    let mut harness =
        Begin::at(Place::new("snippets").project("acme/rocket-ui")).size(120, 40).refusing(first_uploads(2)).open();
    let url = "/projects/acme%2Frocket-ui/snippets";
    harness.reply("GET /user", user(1, "ada")).reply(&format!("GET {url}"), json!([])).settle().await;
    harness
        .press("+")
        .type_text("Notes")
        .press("Tab")
        .type_text("a.md")
        .press("Tab M-u")
        .type_text("/one/a.txt")
        .press("Enter")
        .settle()
        .await;
    harness.refuse(unreachable());
    harness.expect("[attached when sent: a.txt]").press("Esc").expect("[attached when sent: a.txt]");
    harness.press("Tab Tab M-u").type_text("/two/a.txt").press("Enter").settle().await;
    harness.refuse(unreachable());
    harness.expect("[attached when sent: a.txt (2)]").type_text(" [attached when sent: a.txt]").press("Esc");
    harness.reply(&format!("POST {url}"), json!({"id": 5, "title": "Notes"})).press("C-s");
    for name in ["one", "two"] {
        harness.reply(UPLOADS, json!({"id": 1, "markdown": format!("[{name}](/uploads/x/{name})")}));
        let upload = harness.waiting().iter().position(|line| line.contains(&format!("file=@/{name}/a.txt")));
        assert!(harness.answer(upload.expect("the files are uploaded in order")));
    }
    harness.settle().await;
    let sent = writes(&harness);
    assert!(sent[0].contains("code=[one](/uploads/x/one)"), "{sent:?}");
    assert!(sent[0].contains("description=[two](/uploads/x/two) [one](/uploads/x/one)"), "{sent:?}");
}

#[tokio::test]
async fn the_editor_shows_only_whole_keys() {
    for (width, shown, hidden) in [(80, "C-z undo  C-o $EDITOR", "C-y"), (100, "C-y redo  C-o $EDITOR", "nothing else")]
    {
        let mut harness = Begin::at(Place::new("snippets").project("ada/rocket")).size(width, 24).open();
        let url = "/projects/ada%2Frocket/snippets";
        harness.reply("GET /user", user(5, "ada"));
        harness.reply(&format!("GET {url}"), json!([{"id": 1, "title": "First", "file_name": "a.md", "web_url": ""}]));
        harness.reply_raw(&format!("GET {url}/1/raw"), "notes").reply(&format!("GET {url}/1/notes"), json!([]));
        harness.settle().await;
        harness.press("e").settle().await;
        harness.expect("C-s send  Esc close  M-u attach").expect(shown).expect_no(hidden);
    }
}
