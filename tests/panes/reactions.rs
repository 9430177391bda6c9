//! Reactions: counted below notes and descriptions, added and removed with a picker.

use crate::fixtures::{self, With, merge_request, user};
use crate::harness::{Begin, Harness};
use labscope::app::Place;
use serde_json::{Value, json};

const MR: &str = "/projects/acme%2Frocket-ui/merge_requests/42";
const ISSUE: &str = "/projects/a%2Fb/issues/7";

fn note(id: u64, who: u64, body: &str) -> Value {
    fixtures::note(id, "", body).with(json!({"author": user(who, &format!("user{who}"))}))
}

fn award(id: u64, name: &str, who: u64) -> Value {
    json!({"id": id, "name": name, "user": {"id": who, "username": format!("user{who}")}})
}

/// Opens an issue with two notes, with reactions to the issue and to the first note.
async fn issue(to_issue: Vec<Value>, to_note: Vec<Value>) -> Harness {
    let mut harness = Begin::at(Place::new("issue").project("a/b").item(7)).size(80, 30).open();
    harness.reply("GET /user", json!({"id": 5, "username": "ada", "name": "Ada"}));
    harness.reply(
        &format!("GET {ISSUE}"),
        json!({"id": 70, "iid": 7, "project_id": 3, "title": "It is slow", "description": "Very slow.", "state": "opened",
            "created_at": "2026-06-14T09:00:00Z", "updated_at": "2026-06-14T09:00:00Z"}),
    );
    harness.reply(&format!("GET {ISSUE}/notes"), [note(1, 6, "Which one?"), note(2, 5, "This one.")]);
    harness.reply(&format!("GET {ISSUE}/award_emoji"), to_issue);
    harness.reply(&format!("GET {ISSUE}/notes/1/award_emoji"), to_note);
    harness.reply(&format!("GET {ISSUE}/notes/2/award_emoji"), json!([]));
    harness.settle().await;
    harness
}

fn writes(harness: &Harness) -> Vec<&String> {
    harness.asked.iter().filter(|line| !line.starts_with("GET")).collect()
}

#[tokio::test]
async fn reactions_are_counted_below_their_target() {
    let to_issue = vec![
        award(1, "tada", 6),
        award(2, "tada", 5),
        award(3, "party_parrot", 6),
        award(4, "tada", 7),
        award(7, "a_long_name_of_an_emoji", 7),
    ];
    let mut harness = issue(to_issue, vec![award(5, "thumbsup", 6), award(6, "rocket", 5)]).await;
    harness.expect("🎉 you +2   :party_parrot: 1   :a_long_name_of_an_emoji: 1").expect("👍 1   🚀 you");
    let row = |harness: &Harness, words: &str| harness.lines().iter().position(|line| line.contains(words)).unwrap();
    assert_eq!(row(&harness, "👍 1"), row(&harness, "Which one?") + 1);
    assert_eq!(row(&harness, "🎉 you"), row(&harness, "Very slow.") + 1);
    // A narrow screen shows as many as fit.
    harness.resize(50, 20).settle().await;
    harness.expect("🎉 you +2   :party_parrot: 1 …");
}

#[tokio::test]
async fn a_reaction_can_be_added_and_your_own_removed() {
    let mut harness = issue(vec![award(1, "tada", 5)], vec![award(5, "thumbsup", 6)]).await;
    harness.reply(&format!("POST {ISSUE}/award_emoji"), award(9, "heart", 5));
    harness.press("*").expect("React to #7").expect("yours: Enter removes it");
    harness.type_text("heart").press("Enter").settle().await;
    harness.expect("Reacted with ❤️ to #7");
    harness.reply_raw(&format!("DELETE {ISSUE}/award_emoji/1"), "");
    harness.press("* Enter").settle().await;
    harness.expect("Removed your 🎉 from #7");
    // Every emoji of GitLab is offered, also by its aliases.
    harness.press("*").type_text("face_with_rolling").expect("🙄  rolling_eyes");
    harness.press("C-u").type_text("melting").expect("🫠  melting_face").press("Esc");
    // An unknown emoji is sent under the typed name.
    harness.press("]").reply(&format!("POST {ISSUE}/notes/1/award_emoji"), award(10, "party_parrot", 5));
    harness.press("*").expect("React to a comment on #7").type_text("party_parrot").press("Enter").settle().await;
    harness.expect("Reacted with :party_parrot: to a comment on #7");
    assert_eq!(
        writes(&harness),
        [
            &format!("POST {ISSUE}/award_emoji name=heart"),
            &format!("DELETE {ISSUE}/award_emoji/1"),
            &format!("POST {ISSUE}/notes/1/award_emoji name=party_parrot"),
        ]
    );
}

#[tokio::test]
async fn reactions_are_shown_below_notes_in_the_changes() {
    let place = Place::new("mr").project("acme/rocket-ui").item(42).tab("changes");
    let mut harness = Begin::at(place).size(120, 40).open();
    let (base, head) = ("b".repeat(40), "e".repeat(40));
    let refs = json!({"base_sha": base, "head_sha": head, "start_sha": base});
    let whole = merge_request(42, "Draw only visible rows", "opened").with(json!({"sha": head, "diff_refs": refs}));
    let file = json!({"old_path": "a.rs", "new_path": "a.rs", "diff": "@@ -1 +1 @@\n-was\n+is\n"});
    let changed = whole.clone().with(json!({"changes": [file]}));
    let position = refs.with(json!({"position_type": "text", "old_path": "a.rs", "new_path": "a.rs", "new_line": 1}));
    let said = json!({"resolvable": true, "resolved": false, "position": position});
    let said = note(1, 6, "Which one?").with(said);
    harness.reply("GET /user", json!({"id": 5, "username": "ada", "name": "Ada"}));
    harness.reply(&format!("GET {MR}"), whole);
    harness.reply(&format!("GET {MR}/changes"), changed);
    harness.reply(&format!("GET {MR}/discussions"), json!([{"id": "abc", "notes": [said]}]));
    harness.reply(&format!("GET {MR}/notes/1/award_emoji"), [award(5, "thumbsup", 6), award(6, "rocket", 5)]);
    harness.settle().await;
    harness.expect("👍 1   🚀 you");
    let row = |words: &str| harness.lines().iter().position(|line| line.contains(words)).unwrap();
    assert_eq!(row("👍 1"), row("Which one?") + 1);
    // A new reaction is shown at once.
    harness.reply(&format!("POST {MR}/notes/1/award_emoji"), award(9, "heart", 5));
    let given = [award(5, "thumbsup", 6), award(6, "rocket", 5), award(9, "heart", 5)];
    harness.reply(&format!("GET {MR}/notes/1/award_emoji"), given);
    harness
        .press("g g ;")
        .press("*")
        .expect("React to a comment on !42")
        .type_text("heart")
        .press("Enter")
        .settle()
        .await;
    harness.expect("👍 1   🚀 you   ❤️ you");
}

#[tokio::test]
async fn a_refused_reaction_shows_the_reason() {
    let mut harness = issue(vec![award(1, "tada", 5)], Vec::new()).await;
    harness.fail(&format!("DELETE {ISSUE}/award_emoji/1"), 401, "401 Unauthorized");
    harness.press("* Enter").settle().await;
    harness.expect("401 Unauthorized. You may not do this").expect("🎉 you");
    let taken = "404 Award Emoji Name has already been taken Not Found";
    harness.fail(&format!("POST {ISSUE}/award_emoji"), 404, taken);
    harness.press("*").type_text("heart").press("Enter").settle().await;
    harness.expect("404 Award Emoji Name has already been");
}

#[tokio::test]
async fn reactions_are_requested_once_from_a_server_without_them() {
    let mut harness = Begin::at(Place::new("mr").project("acme/rocket-ui").item(42)).size(120, 40).open();
    harness.reply("GET /user", json!({"id": 5, "username": "ada", "name": "Ada"}));
    harness.reply(&format!("GET {MR}"), merge_request(42, "Draw only visible rows", "opened"));
    harness.reply(&format!("GET {MR}/notes"), [note(1, 6, "Which one?"), note(2, 5, "This one.")]);
    harness.settle().await;
    harness.press("*").settle().await;
    harness.expect("This server does not support reactions").expect_no("React to");
    let asked = harness.asked.iter().filter(|line| line.ends_with("/award_emoji")).count();
    assert!(asked <= 3, "{asked} requests");
    harness.press("F5").settle().await;
    assert_eq!(harness.asked.iter().filter(|line| line.ends_with("/award_emoji")).count(), asked);
}

#[tokio::test]
async fn system_notes_cannot_be_reacted_to() {
    let mut harness = Begin::at(Place::new("issue").project("a/b").item(7)).size(80, 30).open();
    harness.reply("GET /user", json!({"id": 5, "username": "ada", "name": "Ada"}));
    harness.reply(&format!("GET {ISSUE}/notes"), [note(1, 6, "closed").with(json!({"system": true}))]);
    harness.settle().await;
    harness.press("G *").settle().await;
    harness.expect("System notes cannot have reactions");
}
