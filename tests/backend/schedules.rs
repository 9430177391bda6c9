//! Schedules of pipelines: their times, their owners, and the pipelines that they start.

use crate::{Server, WORLD, each, json};
use serde_json::json as value;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

const AT: &str = "/projects/1/pipeline_schedules";
const FORM: [(&str, &str); 4] =
    [("description", "Nightly"), ("ref", "louder"), ("cron", "0 1 * * *"), ("cron_timezone", "UTC")];

async fn server() -> Server {
    Server::of(WORLD, &Default::default()).await
}

#[tokio::test]
async fn a_schedule_is_created_read_and_changed_by_its_owner() {
    let server = server().await;
    let made = json(server.post("bo", AT, &FORM).await, 201).await;
    assert_eq!(
        made,
        value!({
            "id": 1,
            "description": "Nightly",
            "ref": "refs/heads/louder",
            "cron": "0 1 * * *",
            "cron_timezone": "UTC",
            "next_run_at": "2026-11-21T01:00:00.000Z",
            "active": true,
            "created_at": "2026-11-20T16:00:10.000Z",
            "updated_at": "2026-11-20T16:00:10.000Z",
            "owner": made["owner"],
            "last_pipeline": null,
            "variables": [],
            "inputs": [],
        })
    );
    assert_eq!(made["owner"]["username"], "bo");
    assert!(server.read("eve", AT).await[0].get("variables").is_none());
    assert!(server.read("eve", &format!("{AT}/1")).await.get("variables").is_none());
    assert_eq!(server.read("eve", &format!("{AT}?scope=inactive")).await, value!([]));
    json(server.put("ada", &format!("{AT}/1"), &[("active", "false")]).await, 403).await;
    let off = json(server.put("bo", &format!("{AT}/1"), &[("active", "false"), ("ref", "main")]).await, 200).await;
    assert_eq!((&off["next_run_at"], &off["ref"]), (&value!(null), &value!("refs/heads/main")));
    for (field, wrong) in [("cron", "often"), ("cron_timezone", "Nowhere/Land")] {
        let refused = json(server.put("bo", &format!("{AT}/1"), &[(field, wrong)]).await, 400).await;
        assert_eq!(refused["message"][field][0], " is invalid syntax");
    }
    json(server.post("ada", &format!("{AT}/1/take_ownership"), &[]).await, 201).await;
    let own = json(server.post("ada", &format!("{AT}/1/take_ownership"), &[]).await, 200).await;
    assert_eq!(own["owner"]["username"], "ada");
    json(server.delete("bo", &format!("{AT}/1")).await, 403).await;
    assert_eq!(server.delete("ada", &format!("{AT}/1")).await.status(), 204);
    let gone = json(server.get("ada", &format!("{AT}/1")).await, 404).await;
    assert_eq!(gone["message"], "404 Pipeline Schedule Not Found");
}

#[tokio::test]
async fn variables_of_a_schedule_are_passed_to_its_pipelines() {
    let server = server().await;
    json(server.post("ada", AT, &FORM).await, 201).await;
    let path = format!("{AT}/1/variables");
    let made = json(server.post("ada", &path, &[("key", "STAGE"), ("value", "blue")]).await, 201).await;
    assert_eq!((&made["key"], &made["variable_type"]), (&"STAGE".into(), &"env_var".into()));
    json(server.post("ada", &path, &[("key", "STAGE"), ("value", "blue")]).await, 400).await;
    json(server.post("bo", &path, &[("key", "A"), ("value", "x")]).await, 403).await;
    let changed = json(server.put("ada", &format!("{path}/STAGE"), &[("value", "green")]).await, 200).await;
    assert_eq!(changed["value"], "green");
    let played = json(server.post("bo", &format!("{AT}/1/play"), &[]).await, 201).await;
    assert_eq!(played, value!({"message": "201 Created"}));
    let started = server.read("ada", &format!("{AT}/1/pipelines")).await;
    assert_eq!((&started[0]["source"], &started[0]["ref"]), (&"schedule".into(), &"louder".into()));
    let variables = server.read("ada", &format!("/projects/1/pipelines/{}/variables", started[0]["id"])).await;
    assert_eq!(each(&variables, "value"), ["green"]);
    assert_eq!(server.read("ada", &format!("{AT}/1")).await["last_pipeline"]["id"], started[0]["id"]);
    json(server.delete("ada", &format!("{path}/STAGE")).await, 202).await;
    json(server.delete("ada", &format!("{path}/STAGE")).await, 404).await;
}

#[tokio::test]
async fn the_pipelines_of_a_schedule_are_filtered() {
    let server = server().await;
    json(server.post("bo", AT, &FORM).await, 201).await;
    for _ in 0..2 {
        json(server.post("bo", &format!("{AT}/1/play"), &[]).await, 201).await;
    }
    let found = async |filter: &str| {
        let rows = server.read("ada", &format!("{AT}/1/pipelines?{filter}")).await;
        rows.as_array().unwrap().iter().map(|row| row["id"].as_u64().unwrap()).collect::<Vec<u64>>()
    };
    let all = found("").await;
    assert!(all.len() == 2 && all[0] < all[1], "{all:?}");
    assert_eq!(found("sort=desc").await, [all[1], all[0]]);
    assert_eq!(found("scope=finished").await, [0; 0]);
    assert_eq!(found("scope=branches").await, [all[1]]);
    assert_eq!(found("status=success").await, [0; 0]);
    let refused = json(server.get("ada", &format!("{AT}/1/pipelines?scope=x")).await, 400).await;
    assert_eq!(refused["error"], "scope does not have a valid value");
}

#[tokio::test]
async fn a_pipeline_is_started_at_the_time_of_its_schedule() {
    let passed = Arc::new(AtomicI64::new(0));
    let server = Server::of(WORLD, &passed).await;
    json(server.post("bo", AT, &FORM).await, 201).await;
    let pipelines = format!("{AT}/1/pipelines");
    passed.store(8 * 3600, Ordering::Relaxed);
    assert_eq!(server.read("bo", &pipelines).await, value!([]));
    passed.store(10 * 3600, Ordering::Relaxed);
    assert_eq!(server.read("bo", &pipelines).await.as_array().unwrap().len(), 1);
    let schedule = server.read("bo", &format!("{AT}/1")).await;
    assert_eq!(schedule["next_run_at"], "2026-11-22T01:00:00.000Z");
    // Who may no longer run pipelines starts none.
    let bo = server.read("root", "/users?username=bo").await[0]["id"].to_string();
    assert_eq!(server.delete("ada", &format!("/projects/1/members/{bo}")).await.status(), 204);
    passed.store(40 * 3600, Ordering::Relaxed);
    assert_eq!(server.read("ada", &pipelines).await.as_array().unwrap().len(), 1);
    assert_eq!(server.read("ada", &format!("{AT}/1")).await["active"], false);
}
