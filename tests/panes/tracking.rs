//! Subscriptions, to-dos and time tracking of merge requests and issues, in their places and their lists.

use crate::fixtures::{With, issue, merge_request, user};
use crate::harness::{Begin, Harness};
use labscope::app::Place;
use serde_json::{Value, json};

const MR: &str = "/projects/acme%2Frocket-ui/merge_requests/42";
const ISSUE: &str = "/projects/acme%2Frocket-ui/issues/7";

fn stats(estimate: u64, spent: u64) -> Value {
    json!({"time_estimate": estimate, "total_time_spent": spent})
}

fn tracked(of: Value) -> Value {
    of.with(json!({"subscribed": true, "time_stats": stats(57_600, 5_400)}))
}

fn both() -> [(&'static str, &'static str, Value); 2] {
    let request = tracked(merge_request(42, "Draw only visible rows", "opened"));
    [("mr", MR, request), ("issue", ISSUE, tracked(issue(7, "Slow", "opened")))]
}

async fn open(pane: &str, path: &str, of: &Value) -> Harness {
    let number = path.rsplit('/').next().expect("a number");
    let mut harness = Begin::at(Place::new(pane).project("acme/rocket-ui").item(number)).size(120, 40).open();
    harness.reply("GET /user", user(1, "ada")).reply(&format!("GET {path}"), of.clone());
    harness.reply(&format!("GET {path}/notes"), json!([]));
    harness.settle().await;
    harness
}

fn sent(harness: &Harness) -> Vec<String> {
    harness.asked.iter().filter(|line| !line.starts_with("GET ")).cloned().collect()
}

#[tokio::test]
async fn one_key_ends_a_subscription_and_one_adds_a_to_do() {
    for (pane, path, of) in both() {
        let mut harness = open(pane, path, &of).await;
        harness.expect("Subscribed").expect("yes");
        harness.reply_raw(&format!("POST {path}/unsubscribe"), "{}").reply(&format!("POST {path}/todo"), json!({}));
        harness.reply(&format!("GET {path}"), of.with(json!({"subscribed": false})));
        harness.press("b").settle().await.expect("Unsubscribed from").expect("no");
        harness.reply_raw(&format!("POST {path}/subscribe"), "{}");
        harness.press("b").settle().await.expect("Subscribed to");
        harness.press("T").settle().await.expect("to your to-dos");
        let [first, second, third] = ["unsubscribe", "subscribe", "todo"].map(|what| format!("POST {path}/{what}"));
        assert_eq!(sent(&harness), [first, second, third]);
    }
}

#[tokio::test]
async fn a_refused_subscription_says_why() {
    let (pane, path, of) = &both()[0];
    let mut harness = open(pane, path, of).await;
    harness.fail(&format!("POST {path}/unsubscribe"), 403, "403 Forbidden");
    harness.press("b").settle().await.expect("Could not unsubscribe from !42: 403 Forbidden").expect("yes");
}

#[tokio::test]
async fn every_refusal_is_told_and_nothing_is_sent_again() {
    let (pane, path, of) = &both()[0];
    for status in [401, 403, 404, 405, 409, 413, 422, 429, 500, 503] {
        let mut harness = open(pane, path, of).await;
        harness.fail(&format!("POST {path}/unsubscribe"), status, "it said no");
        harness.fail(&format!("POST {path}/todo"), status, "it said no");
        harness.fail(&format!("POST {path}/reset_spent_time"), status, "it said no");
        for (keys, words) in [
            ("b", "Could not unsubscribe from !42"),
            ("T", "Could not add !42 to your to-dos"),
            ("H Down Down Enter", "Could not reset the time spent on !42"),
        ] {
            harness.press(keys).settle().await.expect(words);
        }
        assert_eq!(sent(&harness).len(), 3, "{status}: {:?}", sent(&harness));
    }
}

#[tokio::test]
async fn time_is_spent_estimated_and_reset() {
    for (pane, path, of) in both() {
        let mut harness = open(pane, path, &of).await;
        harness.expect("1h 30m of 2d");
        harness.press("H").expect("Time tracking of").expect("1h 30m of 2d").press("Enter").expect("Add time spent on");
        harness.type_text("soon").expect("is no amount of time");
        harness.press("C-u").type_text("1w 30m").expect("40 hours").press("Tab").type_text("Profiling");
        harness.reply(&format!("POST {path}/add_spent_time"), stats(57_600, 9_000));
        harness.press("C-s").settle().await.expect("Added the time spent on");
        harness.reply(&format!("POST {path}/time_estimate"), stats(3_600, 9_000));
        harness.press("H Down Enter").type_text("1h").press("C-s").settle().await.expect("Set the estimate of");
        harness.reply(&format!("POST {path}/reset_spent_time"), stats(3_600, 0));
        harness.press("H Down Down Enter").settle().await.expect("Reset the time spent on");
        harness.reply(&format!("POST {path}/reset_time_estimate"), stats(0, 0));
        harness.press("H Down Down Down Enter").settle().await.expect("Removed the estimate of");
        assert_eq!(
            sent(&harness),
            [
                format!("POST {path}/add_spent_time duration=1w 30m summary=Profiling"),
                format!("POST {path}/time_estimate duration=1h"),
                format!("POST {path}/reset_spent_time"),
                format!("POST {path}/reset_time_estimate"),
            ]
        );
    }
}

#[tokio::test]
async fn a_refused_amount_stays_in_the_form() {
    let (pane, path, of) = &both()[0];
    let mut harness = open(pane, path, of).await;
    let line = format!("POST {path}/add_spent_time");
    harness.fail(&line, 400, "base Time to subtract exceeds the total time spent");
    harness.press("H Enter").type_text("-3h").press("C-s").settle().await;
    harness.expect("Time to subtract exceeds").expect("-3h");
    harness.fail(&line, 403, "403 Forbidden").press("C-s").settle().await.expect("403 Forbidden").expect("-3h");
}

#[tokio::test]
async fn there_is_nothing_to_reset_without_spent_time() {
    let (pane, path, of) = &both()[1];
    let mut harness = open(pane, path, &of.clone().with(json!({"time_stats": stats(0, 0)}))).await;
    harness.press("H").expect("no time is spent").press("Down Down Enter").settle().await;
    assert_eq!(sent(&harness), [""; 0]);
}

#[tokio::test]
async fn lists_have_the_same_keys() {
    let lists = [("mrs", "merge_requests", MR, both()[0].2.clone()), ("issues", "issues", ISSUE, both()[1].2.clone())];
    for (pane, name, path, of) in lists {
        let mut harness = Begin::at(Place::new(pane).project("acme/rocket-ui")).size(120, 40).open();
        let line = harness_line(pane, name);
        harness.reply("GET /user", user(1, "ada"));
        // Lists of current servers do not say whether the user is subscribed.
        let mut row = of;
        row.as_object_mut().expect("an object").remove("subscribed");
        harness.reply(&line, json!([row])).settle().await;
        harness.reply_raw(&format!("POST {path}/subscribe"), "{}").reply(&format!("POST {path}/todo"), json!({}));
        harness.press("b").expect("Notifications about").press("Enter").settle().await.expect("Subscribed to");
        harness.press("T").settle().await.expect("to your to-dos");
        harness.press("H").expect("Time tracking of").expect("1h 30m of 2d").press("Esc");
        assert_eq!(sent(&harness), [format!("POST {path}/subscribe"), format!("POST {path}/todo")]);
    }
}

/// Returns the first request of a list.
fn harness_line(pane: &str, name: &str) -> String {
    let mut probe = Begin::at(Place::new(pane).project("acme/rocket-ui")).size(120, 40).open();
    probe.draw();
    let asked = probe.waiting();
    asked.into_iter().find(|line| line.contains(&format!("/{name}"))).expect("the request of the list")
}
