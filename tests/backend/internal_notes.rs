//! Internal notes: members from planners up, the author and the assignees of the object read them (GitLab,
//! `app/policies/note_policy.rb`).

use crate::discussions::{post_json, world};
use crate::{Server, each, json};
use labscope::backend::{Modes, Options, Version, WorldKind};
use reqwest::Method;
use serde_json::json as value;

const ISSUE: &str = "/projects/ada%2Fhello/issues/1";
const REQUEST: &str = "/projects/ada%2Fhello/merge_requests/1";

/// The world of discussions, with `gus`, a guest, and `dan`, who is assigned to the issue.
async fn server() -> Server {
    let world = world()
        .replace(
            "    { username = \"eve\" },",
            "    { username = \"eve\" },\n    { username = \"gus\" },\n    { username = \"dan\" },",
        )
        .replace("cem = \"reporter\" }", "cem = \"reporter\", gus = \"guest\" }")
        .replace("author = \"eve\"", "author = \"eve\"\nassignees = [\"dan\"]");
    Server::of(&world, &Default::default()).await
}

/// Every way by which a text of a note gets out.
async fn texts(server: &Server, user: &str, at: &str, note: &str, word: &str) -> Vec<String> {
    let mut out = Vec::new();
    let paths = [
        format!("{at}/notes?per_page=100"),
        format!("{at}/notes/{note}"),
        format!("{at}/discussions?per_page=100"),
        format!("/projects/ada%2Fhello/search?scope=notes&search={word}"),
        "/projects/ada%2Fhello/events?per_page=100".into(),
        "/users/bo/events?per_page=100".into(),
        "/todos".into(),
    ];
    for path in paths {
        if server.get(user, &path).await.text().await.unwrap().contains(word) {
            out.push(path);
        }
    }
    out
}

#[tokio::test]
async fn an_internal_note_is_read_by_members_and_by_whom_it_concerns() {
    let server = server().await;
    let places = [(ISSUE, "ada bo cem dan eve root", "quietly"), (REQUEST, "ada bo cem root", "softly")];
    for (at, readers, word) in places {
        let text = format!("Say it {word}, @gus and @cem");
        let text = text.as_str();
        for name in ["internal", "confidential"] {
            let form = [("body", text), (name, "true")];
            let made = json(server.post("bo", &format!("{at}/notes"), &form).await, 201).await;
            assert_eq!((&made["internal"], &made["confidential"]), (&value!(true), &value!(true)), "{name}");
            let id = made["id"].to_string();
            for user in ["ada", "bo", "cem", "dan", "eve", "gus", "root"] {
                let found = texts(&server, user, at, &id, word).await;
                assert_eq!(!found.is_empty(), readers.split(' ').any(|reader| reader == user), "{user}: {found:?}");
            }
            // Who may not read it may not know of it either.
            for (method, end) in [
                (Method::GET, format!("/notes/{id}")),
                (Method::PUT, format!("/notes/{id}?body=x")),
                (Method::DELETE, format!("/notes/{id}")),
                (Method::GET, format!("/notes/{id}/award_emoji")),
                (Method::POST, format!("/notes/{id}/award_emoji?name=tada")),
            ] {
                let reply = server.call("gus", method, &format!("{at}{end}")).send().await.unwrap();
                assert_eq!(reply.status(), 404, "{end}");
            }
        }
        // Those who were mentioned and may read it have a to-do item.
        assert_eq!(server.read("gus", "/todos").await, value!([]));
        assert!(!server.read("cem", "/todos").await.as_array().unwrap().is_empty());
    }
}

#[tokio::test]
async fn replies_to_an_internal_note_are_internal() {
    let server = server().await;
    let form = [("body", "Between us"), ("internal", "true")];
    json(server.post("bo", &format!("{ISSUE}/notes"), &form).await, 201).await;
    let threads = server.read("bo", &format!("{ISSUE}/discussions")).await;
    let thread = threads.as_array().unwrap().last().unwrap();
    let at = format!("{ISSUE}/discussions/{}/notes", thread["id"].as_str().unwrap());
    let reply = json(server.post("cem", &at, &[("body", "Yes")]).await, 201).await;
    assert_eq!(reply["internal"], true);
    assert_eq!(
        json(server.post("gus", &at, &[("body", "What?")]).await, 404).await["message"],
        "404 Discussion Not Found"
    );
    let bodies = server.read("gus", &format!("{ISSUE}/notes")).await;
    assert_eq!(each(&bodies, "body"), ["Is it?"]);
    assert_eq!(each(&server.read("gus", &format!("{ISSUE}/participants")).await, "username"), ["eve", "dan", "bo"]);
}

/// `Notes::BuildService` saves the note as a public one without a word.
#[tokio::test]
async fn who_may_not_write_internal_notes_writes_public_ones() {
    let server = server().await;
    for (user, path) in [("gus", format!("{ISSUE}/notes")), ("bo", "/projects/ada%2Fhello/snippets/1/notes".into())] {
        let made = json(server.post(user, &path, &[("body", "Hear, hear"), ("internal", "true")]).await, 201).await;
        assert_eq!(made["internal"], false, "{path}");
    }
    let options = Options { world: WorldKind::Demo, modes: Modes::of(Version::V10_6), ..Options::default() };
    let old = Server::with(options).await;
    let at = "/projects/acme%2Frocket-ui/merge_requests/42/notes";
    json(old.post("ada", at, &[("body", "Loud"), ("internal", "true")]).await, 201).await;
    assert!(each(&old.read("ada", at).await, "body").contains(&"Loud"), "a server without them");
}

#[tokio::test]
async fn the_summary_of_a_review_can_be_internal() {
    let server = server().await;
    let body = value!({"note": "For members", "internal": true});
    let at = format!("{REQUEST}/draft_notes/bulk_publish");
    assert_eq!(post_json(&server, "cem", &at, &body).await.status(), 204);
    let has =
        async |user: &str| each(&server.read(user, &format!("{REQUEST}/notes")).await, "body").contains(&"For members");
    assert!(has("bo").await && !has("gus").await);
}
