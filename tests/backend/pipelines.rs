//! Pipelines: listing, running, retrying, canceling and deleting.

use crate::{Server, WORLD, each, header, json};
use labscope::backend::{Options, WorldKind};
use reqwest::{Method, Response};
use serde_json::{Value, json as value};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

const PIPELINES: &str = "/projects/ada%2Fhello/pipelines";

async fn server(passed: &Arc<AtomicI64>) -> Server {
    Server::of(WORLD, passed).await
}

async fn run(server: &Server, user: &str, body: &Value) -> Response {
    server.call(user, Method::POST, "/projects/ada%2Fhello/pipeline").json(body).send().await.unwrap()
}

/// Returns the name and status of each job of a pipeline, first to last.
async fn jobs(server: &Server, id: &Value) -> Vec<String> {
    let jobs = server.read("ada", &format!("{PIPELINES}/{id}/jobs?include_retried=true")).await;
    let word = |job: &Value| format!("{} {}", job["name"].as_str().unwrap(), job["status"].as_str().unwrap());
    jobs.as_array().unwrap().iter().rev().map(word).collect()
}

#[tokio::test]
async fn retried_jobs_are_listed_on_request() {
    let passed = Arc::default();
    let server = server(&passed).await;
    let made = json(run(&server, "bo", &value!({"ref": "main"})).await, 201).await;
    passed.store(30, Ordering::Relaxed);
    let at = format!("{PIPELINES}/{}/jobs", made["id"]);
    let first = server.read("ada", &format!("{at}?scope[]=success")).await[0].clone();
    let manager = &first["runner_manager"];
    assert_eq!(
        (&first["project"], &manager["status"]),
        (&value!({"ci_job_token_scope_enabled": false}), &"online".into())
    );
    let again = server.post("bo", &format!("/projects/1/jobs/{}/retry", first["id"]), &[]).await;
    let again = json(again, 201).await;
    let ids = |list: &Value| -> Vec<Value> {
        let of_name = list.as_array().unwrap().iter().filter(|job| job["name"] == "hello");
        of_name.map(|job| job["id"].clone()).collect()
    };
    assert_eq!(ids(&server.read("ada", &at).await), [again["id"].clone()]);
    assert_eq!(ids(&server.read("ada", &format!("{at}?include_retried=false")).await), [again["id"].clone()]);
    let both = [again["id"].clone(), first["id"].clone()];
    assert_eq!(ids(&server.read("ada", &format!("{at}?include_retried=true")).await), both);
    let all = server.read("ada", "/projects/1/jobs?scope[]=pending&scope[]=success").await;
    assert!(both.iter().all(|id| ids(&all).contains(id)), "the list of the project has both");
    json(server.get("ada", &format!("{at}?include_retried=x")).await, 400).await;
}

#[tokio::test]
async fn a_pipeline_progresses_with_the_clock_and_has_its_variables() {
    let passed = Arc::default();
    let server = server(&passed).await;
    let body = value!({"ref": "main", "variables": [{"key": "LOUD", "value": "1"}]});
    let made = json(run(&server, "bo", &body).await, 201).await;
    assert_eq!(
        (&made["ref"], &made["source"], &made["user"]["username"]),
        (&"main".into(), &"api".into(), &"bo".into())
    );
    assert_eq!((&made["status"], &made["tag"], &made["duration"]), (&"created".into(), &false.into(), &Value::Null));
    assert!(made["web_url"].as_str().unwrap().ends_with(&format!("/ada/hello/-/pipelines/{}", made["id"])));
    let id = &made["id"];
    passed.store(3, Ordering::Relaxed);
    assert_eq!(jobs(&server, id).await, ["hello running", "ship created"]);
    passed.store(30, Ordering::Relaxed);
    assert_eq!(jobs(&server, id).await, ["hello success", "ship manual"]);
    let ended = server.read("bo", &format!("{PIPELINES}/{id}")).await;
    assert_eq!(
        (&ended["status"], &ended["duration"], &ended["queued_duration"]),
        (&"success".into(), &6.into(), &2.into())
    );
    let variables = format!("{PIPELINES}/{id}/variables");
    let wanted = value!([{"key": "LOUD", "value": "1", "variable_type": "env_var", "raw": false}]);
    for user in ["ada", "bo", "root"] {
        assert_eq!(server.read(user, &variables).await, wanted, "{user}");
    }
    assert_eq!(json(server.get("eve", &variables).await, 403).await["message"], "403 Forbidden");
    // The other pipeline was not started by bo.
    let first = server.read("bo", &format!("{PIPELINES}?sort=asc")).await[0]["id"].clone();
    assert_eq!(server.get("bo", &format!("{PIPELINES}/{first}/variables")).await.status(), 403);
}

#[tokio::test]
async fn a_manual_job_that_is_started_later_adds_only_its_own_time_to_the_duration() {
    let passed = Arc::default();
    let server = server(&passed).await;
    let id = json(run(&server, "bo", &value!({"ref": "main"})).await, 201).await["id"].clone();
    passed.store(30, Ordering::Relaxed);
    let ship = server.read("bo", &format!("{PIPELINES}/{id}/jobs?scope=manual")).await[0]["id"].clone();
    let days = 5 * 86_400;
    passed.store(days, Ordering::Relaxed);
    json(server.post("bo", &format!("/projects/ada%2Fhello/jobs/{ship}/play"), &[]).await, 200).await;
    passed.store(days + 30, Ordering::Relaxed);
    let pipeline = server.read("bo", &format!("{PIPELINES}/{id}")).await;
    assert_eq!((&pipeline["status"], &pipeline["duration"]), (&"success".into(), &12.into()));
    let ship = server.read("bo", &format!("/projects/ada%2Fhello/jobs/{ship}")).await;
    assert_eq!((&ship["duration"], &ship["queued_duration"]), (&6.into(), &2.into()));
}

#[tokio::test]
async fn jobs_and_commits_name_their_pipeline_and_their_pages() {
    let server = server(&Arc::default()).await;
    let base = format!("{}/ada/hello/-", server.running.base_url);
    let pipeline = server.read("ada", PIPELINES).await[0].clone();
    assert_eq!(pipeline["web_url"], format!("{base}/pipelines/{}", pipeline["id"]));
    let job = server.read("ada", &format!("{PIPELINES}/{}/jobs", pipeline["id"])).await[0].clone();
    assert_eq!(job["web_url"], format!("{base}/jobs/{}", job["id"]));
    assert_eq!(job["pipeline"], pipeline_of(&pipeline));
    assert_eq!((&job["allow_failure"], &job["tag_list"]), (&false.into(), &value!([])));
    assert!(job.get("artifacts_file").is_none() && job.get("failure_reason").is_none(), "{job}");
    let sha = pipeline["sha"].as_str().unwrap();
    let commit = server.read("ada", &format!("/projects/1/repository/commits/{sha}")).await;
    assert_eq!(commit["web_url"], format!("{base}/commit/{sha}"));
    assert_eq!((&commit["last_pipeline"], &commit["project_id"]), (&pipeline_of(&pipeline), &1.into()));
    let branch = server.read("ada", "/projects/1/repository/branches/louder").await;
    assert_eq!(branch["web_url"], format!("{base}/tree/louder"));
    assert_eq!((&branch["default"], &branch["can_push"]), (&false.into(), &true.into()));
    assert_eq!(server.read("", "/projects/1/repository/branches/main").await["can_push"], false);
}

/// Returns a pipeline as it is inside other objects: lists also have its name.
fn pipeline_of(listed: &Value) -> Value {
    let mut pipeline = listed.clone();
    pipeline.as_object_mut().unwrap().remove("name");
    pipeline
}

#[tokio::test]
async fn a_pipeline_that_cannot_be_created_reports_the_reason() {
    let server = server(&Arc::default()).await;
    let why = async |user: &str, body: Value, status: u16| json(run(&server, user, &body).await, status).await;
    assert_eq!(why("bo", value!({"ref": "odd"}), 400).await, value!({"message": {"base": ["Reference not found"]}}));
    assert_eq!(why("bo", value!({}), 400).await["error"], "ref is missing");
    assert_eq!(why("eve", value!({"ref": "main"}), 403).await["message"], "403 Forbidden");
    assert_eq!(why("", value!({"ref": "main"}), 401).await["message"], "401 Unauthorized");
    let odd = value!({"ref": "main", "variables": [{"key": "A B", "value": "x"}]});
    assert!(why("bo", odd, 400).await["message"]["base"][0].as_str().unwrap().contains("key"));
    let protect = "/projects/ada%2Fhello/repository/branches/main/protect";
    json(server.put("ada", protect, &[]).await, 200).await;
    let refused = why("bo", value!({"ref": "main"}), 400).await;
    assert!(refused["message"]["base"][0].as_str().unwrap().contains("sufficient permission"), "{refused}");
    assert_eq!(why("ada", value!({"ref": "refs/heads/main"}), 201).await["ref"], "main");
    let empty = server.post("ada", "/projects", &[("name", "none"), ("initialize_with_readme", "true")]).await;
    let id = json(empty, 201).await["id"].clone();
    let body = value!({"ref": "main"});
    let none = server.call("ada", Method::POST, &format!("/projects/{id}/pipeline")).json(&body).send().await.unwrap();
    let none = json(none, 400).await["message"]["base"][0].clone();
    assert!(none == "Missing CI config file" || none == "Reference not found", "{none}");
}

#[tokio::test]
async fn a_canceled_pipeline_is_retried_stage_by_stage() {
    let passed = Arc::default();
    let server = server(&passed).await;
    let id = json(run(&server, "bo", &value!({"ref": "main"})).await, 201).await["id"].clone();
    passed.store(3, Ordering::Relaxed);
    let canceled = json(server.post("bo", &format!("{PIPELINES}/{id}/cancel"), &[]).await, 200).await;
    assert_eq!(canceled["status"], "canceled");
    assert_eq!(jobs(&server, &id).await, ["hello canceled", "ship canceled"]);
    assert_eq!(server.post("eve", &format!("{PIPELINES}/{id}/retry"), &[]).await.status(), 403);
    json(server.post("bo", &format!("{PIPELINES}/{id}/retry"), &[]).await, 201).await;
    assert_eq!(jobs(&server, &id).await, ["hello canceled", "ship canceled", "hello pending", "ship created"]);
    passed.store(40, Ordering::Relaxed);
    assert_eq!(jobs(&server, &id).await[2..], ["hello success", "ship manual"]);
    // Retrying or canceling when there is nothing left to do is not an error.
    json(server.post("bo", &format!("{PIPELINES}/{id}/retry"), &[]).await, 201).await;
    json(server.post("bo", &format!("{PIPELINES}/{id}/cancel"), &[]).await, 200).await;
    assert_eq!(jobs(&server, &id).await.len(), 4);
}

#[tokio::test]
async fn an_owner_can_delete_a_pipeline_with_its_jobs() {
    let server = server(&Arc::default()).await;
    let id = server.read("ada", PIPELINES).await[0]["id"].clone();
    let job = server.read("ada", &format!("{PIPELINES}/{id}/jobs")).await[0]["id"].clone();
    let path = format!("{PIPELINES}/{id}");
    assert_eq!(json(server.delete("bo", &path).await, 403).await["message"], "403 Forbidden");
    assert_eq!(server.delete("ada", &path).await.status(), 204);
    assert_eq!(json(server.get("ada", &path).await, 404).await["message"], "404 Not found");
    assert_eq!(server.get("ada", &format!("/projects/ada%2Fhello/jobs/{job}")).await.status(), 404);
    assert!(server.read("ada", PIPELINES).await.as_array().unwrap().is_empty());
}

#[tokio::test]
async fn each_filter_narrows_the_pipelines_of_the_demo() {
    let server = Server::with(Options { world: WorldKind::Demo, ..Options::default() }).await;
    let path = "/projects/acme%2Frocket-ui/pipelines";
    let read = async |query: &str| server.read("ada", &format!("{path}?per_page=100&{query}")).await;
    let all = read("").await;
    let ids: Vec<u64> = all.as_array().unwrap().iter().map(|row| row["id"].as_u64().unwrap()).collect();
    assert!(ids.len() > 10 && ids.is_sorted_by(|a, b| a > b), "{ids:?}");
    assert_eq!(header(&server.get("ada", path).await, "x-total"), ids.len().to_string());
    let narrowed = |list: &Value, fits: &dyn Fn(&Value) -> bool| {
        let rows = list.as_array().unwrap();
        assert!(!rows.is_empty() && rows.len() < ids.len() && rows.iter().all(fits), "{list}");
    };
    narrowed(&read("status=failed").await, &|row| row["status"] == "failed");
    narrowed(&read("scope=finished").await, &|row| row["status"] != "running");
    narrowed(&read("scope=tags").await, &|row| row["ref"].as_str().unwrap().starts_with('v'));
    let branches = read("scope=branches").await;
    let mut refs = each(&branches, "ref");
    refs.sort_unstable();
    let len = refs.len();
    refs.dedup();
    assert!(len > 1 && refs.len() == len && !refs.contains(&"v0.3.2"), "{refs:?}");
    narrowed(&read("ref=feature%2Frows").await, &|row| row["ref"] == "feature/rows");
    narrowed(&read("source=web").await, &|row| row["source"] == "web");
    narrowed(&read("username=cem").await, &|row| row.get("user").is_none());
    let sha = all[0]["sha"].as_str().unwrap();
    narrowed(&read(&format!("sha={sha}")).await, &|row| row["sha"] == sha);
    assert_eq!(read("yaml_errors=true").await, value!([]));
    let by_ref = read("order_by=ref&sort=asc").await;
    assert!(each(&by_ref, "ref").is_sorted());
    for (query, name) in [("scope=odd", "scope"), ("status=odd", "status"), ("order_by=odd", "order_by")] {
        let wrong = json(server.get("ada", &format!("{path}?{query}")).await, 400).await;
        assert_eq!(wrong["error"], format!("{name} does not have a valid value"));
    }
    let web = read("source=web").await[0]["id"].clone();
    let variables = server.read("ada", &format!("{path}/{web}/variables")).await;
    assert_eq!(each(&variables, "key"), ["RUST_LOG", "SCREEN_SIZES"]);
}

#[tokio::test]
async fn a_trigger_job_starts_a_child_pipeline_that_lists_omit() {
    let server = Server::with(Options { world: WorldKind::Demo, ..Options::default() }).await;
    let path = "/projects/acme%2Frocket-ui/pipelines";
    let parent = server.read("ada", &format!("{path}?source=web")).await[0]["id"].clone();
    let bridges = server.read("ada", &format!("{path}/{parent}/bridges")).await;
    assert_eq!((each(&bridges, "name"), each(&bridges, "status")), (vec!["manual"], vec!["success"]));
    assert_eq!(bridges[0]["pipeline"]["id"], parent);
    let child = bridges[0]["downstream_pipeline"].clone();
    assert_eq!((&child["status"], &child["source"]), (&"success".into(), &"parent_pipeline".into()), "{bridges}");
    let ids = async |query: &str| {
        let rows = server.read("ada", &format!("{path}?per_page=100&{query}")).await;
        rows.as_array().unwrap().iter().map(|row| row["id"].clone()).collect::<Vec<Value>>()
    };
    assert!(!ids("").await.contains(&child["id"]) && ids("source=parent_pipeline").await.contains(&child["id"]));
    let whole = server.read("ada", &format!("{path}/{}", child["id"])).await;
    assert_eq!((&whole["sha"], &whole["source"]), (&child["sha"], &"parent_pipeline".into()));
    // The child pipeline is not its commit's latest pipeline, and it has separate jobs.
    let commit = server
        .read("ada", &format!("/projects/acme%2Frocket-ui/repository/commits/{}", child["sha"].as_str().unwrap()))
        .await;
    assert_ne!(commit["last_pipeline"]["id"], child["id"]);
    let jobs = server.read("ada", &format!("{path}/{}/jobs", child["id"])).await;
    assert_eq!(each(&jobs, "name"), ["publish", "examples", "pages"]);
    // A retry creates a new job with a new pipeline.
    let retried = format!("/projects/acme%2Frocket-ui/jobs/{}/retry", bridges[0]["id"]);
    let new = json(server.post("ada", &retried, &[]).await, 201).await;
    assert!(new["id"].as_u64() > bridges[0]["id"].as_u64(), "{new}");
    let now = server.read("ada", &format!("{path}/{parent}/bridges")).await;
    assert!(now.as_array().unwrap().len() == 1 && now[0]["downstream_pipeline"]["id"] != child["id"], "{now}");
    assert!(
        server.read("ada", &format!("{path}/{parent}/bridges?scope[]=failed")).await.as_array().unwrap().is_empty()
    );
    // Deleting the parent deletes the child pipeline.
    assert_eq!(server.delete("root", &format!("{path}/{parent}")).await.status(), 204);
    assert_eq!(server.get("ada", &format!("{path}/{}", now[0]["downstream_pipeline"]["id"])).await.status(), 404);
}

#[tokio::test]
async fn pipeline_iids_are_per_project_and_never_reused() {
    let server = server(&Arc::default()).await;
    let first = json(run(&server, "bo", &value!({"ref": "main"})).await, 201).await;
    assert_eq!(first["iid"], 2);
    assert_eq!(server.delete("ada", &format!("{PIPELINES}/{}", first["id"])).await.status(), 204);
    assert_eq!(json(run(&server, "bo", &value!({"ref": "main"})).await, 201).await["iid"], 3);
    let listed = server.read("ada", PIPELINES).await;
    assert_eq!((&listed[0]["iid"], &listed[1]["iid"]), (&3.into(), &1.into()));
}
