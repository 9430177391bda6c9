//! Reactions: at most one of a kind per user, and removable only by their author.

use crate::discussions::server;
use crate::{Server, each, json};

const REQUEST: &str = "/projects/ada%2Fhello/merge_requests/1";
const ISSUE: &str = "/projects/ada%2Fhello/issues/1";
const SNIPPET: &str = "/projects/ada%2Fhello/snippets/1";

/// Returns the path of the first note that is not a system note.
async fn note(server: &Server, on: &str) -> String {
    let list = server.read("bo", &format!("{on}/notes?sort=asc")).await;
    let said = list.as_array().unwrap().iter().find(|note| note["system"] == false).unwrap();
    format!("{on}/notes/{}", said["id"])
}

#[tokio::test]
async fn a_user_reacts_once_per_emoji_and_removes_only_their_own() {
    let server = server().await;
    for on in [
        REQUEST.to_owned(),
        ISSUE.to_owned(),
        note(&server, REQUEST).await,
        note(&server, ISSUE).await,
        note(&server, SNIPPET).await,
    ] {
        let awards = format!("{on}/award_emoji");
        assert_eq!(server.read("cem", &awards).await, serde_json::json!([]), "{on}");
        let given = json(server.post("bo", &awards, &[("name", "tada")]).await, 201).await;
        assert_eq!((&given["name"], &given["user"]["username"]), (&"tada".into(), &"bo".into()), "{on}");
        let kind = if on.contains("notes") {
            "Note"
        } else if on == ISSUE {
            "Issue"
        } else {
            "MergeRequest"
        };
        assert_eq!(given["awardable_type"], kind, "{on}");
        let again = json(server.post("bo", &awards, &[("name", "tada")]).await, 404).await;
        assert_eq!(again["message"], "404 Award Emoji Name has already been taken Not Found");
        json(server.post("ada", &awards, &[("name", "+1")]).await, 201).await;
        assert_eq!(each(&server.read("cem", &awards).await, "name"), ["tada", "thumbsup"], "{on}");
        let one = format!("{awards}/{}", given["id"]);
        assert_eq!(json(server.delete("ada", &one).await, 401).await["message"], "401 Unauthorized");
        assert_eq!(server.delete("bo", &one).await.status(), 204);
        assert_eq!(json(server.delete("bo", &one).await, 404).await["message"], "404 Award Emoji Not Found");
        assert_eq!(each(&server.read("cem", &awards).await, "name"), ["thumbsup"], "{on}");
    }
    assert_eq!(server.read("cem", REQUEST).await["upvotes"], 1);
    assert_eq!(server.read("cem", ISSUE).await["upvotes"], 1);
    let mine = server.read("ada", "/projects/ada%2Fhello/merge_requests?my_reaction_emoji=thumbsup").await;
    assert_eq!(mine.as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn names_are_stored_as_their_emoji_and_unknown_ones_get_404() {
    let server = server().await;
    let refused = json(server.post("bo", &format!("{REQUEST}/award_emoji"), &[("name", "no such")]).await, 404).await;
    assert_eq!(refused["message"], "404 Award Emoji Name is not a valid emoji name Not Found");
    json(server.post("bo", &format!("{REQUEST}/notes/99999/award_emoji"), &[("name", "tada")]).await, 404).await;
    let notes = server.read("bo", &format!("{REQUEST}/notes")).await;
    let system = notes.as_array().unwrap().iter().find(|note| note["system"] == true).unwrap();
    let on = format!("{REQUEST}/notes/{}/award_emoji", system["id"]);
    assert_eq!(
        json(server.post("bo", &on, &[("name", "tada")]).await, 404).await["message"],
        "404 Award Emoji Not Found"
    );
    for (name, stored) in
        [("melting_face", "melting_face"), ("face_with_rolling_eyes", "rolling_eyes"), ("us", "flag_us")]
    {
        let given = json(server.post("bo", &format!("{REQUEST}/award_emoji"), &[("name", name)]).await, 201).await;
        assert_eq!(given["name"], stored);
        assert_eq!(server.delete("bo", &format!("{REQUEST}/award_emoji/{}", given["id"])).await.status(), 204);
    }
    // A comment that consists only of an emoji becomes a reaction, at most once.
    for _ in 0..2 {
        json(server.post("bo", &format!("{REQUEST}/notes"), &[("body", ":heart:")]).await, 201).await;
    }
    assert_eq!(each(&server.read("bo", &format!("{REQUEST}/award_emoji")).await, "name"), ["heart"]);
}

#[tokio::test]
async fn reactions_are_deleted_with_their_note() {
    let server = server().await;
    let on = note(&server, ISSUE).await;
    json(server.post("ada", &format!("{on}/award_emoji"), &[("name", "tada")]).await, 201).await;
    assert_eq!(server.delete("bo", &on).await.status(), 204);
    json(server.get("ada", &format!("{on}/award_emoji")).await, 404).await;
}

/// The emoji that the program offers can be given.
#[tokio::test]
async fn offered_emoji_are_accepted() {
    let server = server().await;
    for one in labscope::domain::emoji::all().iter().step_by(20) {
        let given = json(server.post("bo", &format!("{ISSUE}/award_emoji"), &[("name", one.name)]).await, 201).await;
        assert_eq!(given["name"], one.name);
    }
}
