//! The estimated and the spent time of merge requests and issues. Statuses and messages take their form from the server's
//! `time_tracking_endpoints.rb`.

use crate::{Server, WORLD, each, json};
use serde_json::json as value;

const REQUEST: &str = "/projects/1/merge_requests/1";
const ISSUE: &str = "/projects/1/issues/1";

async fn server() -> Server {
    let server = Server::of(WORLD, &Default::default()).await;
    json(server.post("ada", "/projects/1/issues", &[("title", "Slow")]).await, 201).await;
    server
}

#[tokio::test]
async fn time_is_added_taken_off_and_removed() {
    let server = server().await;
    for on in [REQUEST, ISSUE] {
        let server = &server;
        let send = |what: &'static str, duration: &'static str, status: u16| async move {
            json(server.post("ada", &format!("{on}/{what}"), &[("duration", duration)]).await, status).await
        };
        let set = send("time_estimate", "3h30m", 200).await;
        assert_eq!(
            set,
            value!({"time_estimate": 12600, "total_time_spent": 0, "human_time_estimate": "3h 30m",
                "human_total_time_spent": null})
        );
        assert_eq!(send("add_spent_time", "1d", 201).await["human_total_time_spent"], "1d");
        let less = send("add_spent_time", "-30m", 201).await;
        assert_eq!((&less["total_time_spent"], &less["human_total_time_spent"]), (&27000.into(), &"7h 30m".into()));
        let refused = send("add_spent_time", "-1w", 400).await;
        assert_eq!(refused, value!({"message": {"base": ["Time to subtract exceeds the total time spent"]}}));
        send("add_spent_time", "soon", 400).await;
        assert!(send("time_estimate", "soon", 400).await["message"]["time_estimate"].is_array());
        let stats = server.read("ada", &format!("{on}/time_stats")).await;
        assert_eq!(stats, server.read("ada", on).await["time_stats"]);
        assert_eq!((&stats["time_estimate"], &stats["total_time_spent"]), (&12600.into(), &27000.into()));
        assert_eq!(send("reset_spent_time", "", 200).await["total_time_spent"], 0);
        assert_eq!(send("reset_time_estimate", "", 200).await["time_estimate"], 0);
        let notes = server.read("ada", &format!("{on}/notes?sort=desc")).await;
        assert_eq!((&notes[0]["body"], &notes[0]["system"]), (&"removed time estimate".into(), &true.into()));
        json(server.post("eve", &format!("{on}/add_spent_time"), &[("duration", "1h")]).await, 403).await;
    }
}

#[tokio::test]
async fn quick_actions_track_time() {
    let server = server().await;
    for (body, summary) in [
        ("/estimate 2d 4h", "Set time estimate to 2d 4h."),
        ("/spend 1h 30m 2026-11-01", "Added 1h 30m spent time."),
        ("/spend 15m 2026/11/2", "Added 15m spent time."),
        ("/spend -15m 2026-11-20", "Subtracted 15m spent time."),
        ("/spend_time -30m", "Subtracted 30m spent time."),
        ("/spend -2h", "Could not apply spend command."),
        ("/remove_estimate", "Removed time estimate."),
        ("/remove_time_spent", "Removed spent time."),
    ] {
        let done = json(server.post("ada", &format!("{REQUEST}/notes"), &[("body", body)]).await, 202).await;
        assert_eq!(done["summary"], value!([summary]), "{body}");
    }
    json(server.post("ada", &format!("{REQUEST}/notes"), &[("body", "/estimate soon")]).await, 400).await;
    // The day is told unless it is today, and cannot be one to come.
    let notes = server.read("ada", &format!("{REQUEST}/notes?sort=asc&per_page=100")).await;
    let told: Vec<&str> = each(&notes, "body").into_iter().filter(|body| body.contains("time spent")).collect();
    let days = ["added 1h 30m of time spent at 2026-11-01", "added 15m of time spent at 2026-11-02"];
    assert_eq!(told[..3], [days[0], days[1], "subtracted 15m of time spent"]);
    for body in ["/spend 1h 2026-11-21", "/spend 1h 2026-13-01", "/spend 1h 2026-1-"] {
        json(server.post("ada", &format!("{REQUEST}/notes"), &[("body", body)]).await, 400).await;
    }
}
