//! Pipeline triggers: who manages them, and what their tokens start.

use crate::{Server, WORLD, each, json};
use labscope::backend::Options;
use reqwest::{Method, Response};
use serde_json::{Value, json as value};

const AT: &str = "/projects/1/triggers";
const RUN: &str = "/projects/1/trigger/pipeline";

async fn server() -> Server {
    Server::of(WORLD, &Default::default()).await
}

async fn create(server: &Server, user: &str) -> Value {
    json(server.post(user, AT, &[("description", "From elsewhere")]).await, 201).await
}

async fn run(server: &Server, path: &str, form: &[(&str, &str)]) -> Response {
    server.post("", path, form).await
}

#[tokio::test]
async fn a_trigger_starts_pipelines_as_its_owner_without_another_token() {
    let server = server().await;
    let made = create(&server, "ada").await;
    let token = made["token"].as_str().unwrap();
    assert!(token.starts_with("glptt-") && token.len() == 46, "{made}");
    assert_eq!((&made["last_used"], &made["owner"]["username"]), (&Value::Null, &"ada".into()));

    let form = [("token", token), ("ref", "louder"), ("variables[LOUD]", "1")];
    let started = json(run(&server, RUN, &form).await, 201).await;
    assert_eq!(
        (&started["source"], &started["ref"], &started["user"]["username"]),
        (&"trigger".into(), &"louder".into(), &"ada".into())
    );
    let variables = server.read("ada", &format!("/projects/1/pipelines/{}/variables", started["id"])).await;
    assert_eq!(each(&variables, "key"), ["LOUD", "TRIGGER_PAYLOAD"]);
    assert!(!variables.to_string().contains(token), "{variables}");
    let by_ref = run(&server, "/projects/1/ref/main/trigger/pipeline", &[("token", token)]).await;
    assert_eq!(json(by_ref, 201).await["ref"], "main");
    let used = server.read("ada", &format!("{AT}/{}", made["id"])).await;
    assert!(used["last_used"].is_string(), "{used}");

    let changed = server.put("ada", &format!("{AT}/{}", made["id"]), &[("description", "Other")]).await;
    assert_eq!(json(changed, 200).await["description"], "Other");
    assert_eq!(server.delete("ada", &format!("{AT}/{}", made["id"])).await.status(), 204);
    assert_eq!(server.read("ada", AT).await, value!([]));
    assert_eq!(run(&server, RUN, &form).await.status(), 404, "it is gone");
}

#[tokio::test]
async fn only_its_owner_sees_the_token_of_a_trigger() {
    let server = server().await;
    let made = create(&server, "ada").await;
    let seen = server.read("root", AT).await;
    let short = made["token"].as_str().unwrap().strip_prefix("glptt-").unwrap()[..4].to_owned();
    assert_eq!(seen[0]["token"], short.as_str());
    assert_eq!(server.read("ada", AT).await[0]["token"], made["token"]);
    let one = format!("{AT}/{}", made["id"]);
    json(server.put("root", &one, &[("description", "Taken")]).await, 403).await;
    for (user, status) in [("", 401), ("bo", 403), ("eve", 403)] {
        json(server.get(user, AT).await, status).await;
        json(server.get(user, &one).await, status).await;
        json(server.post(user, AT, &[("description", "x")]).await, status).await;
        json(server.put(user, &one, &[("description", "x")]).await, status).await;
        json(server.delete(user, &one).await, status).await;
    }
    assert_eq!(json(server.post("ada", AT, &[]).await, 400).await["error"], "description is missing");
    json(server.get("ada", &format!("{AT}/99")).await, 404).await;
}

#[tokio::test]
async fn a_token_that_is_not_of_the_project_starts_nothing() {
    let server = server().await;
    let made = create(&server, "ada").await;
    let token = made["token"].as_str().unwrap();
    json(server.post("bo", "/projects", &[("name", "Other"), ("visibility", "private")]).await, 201).await;
    for (path, token) in [(RUN, "glptt-wrong"), (RUN, ""), ("/projects/bo%2Fother/trigger/pipeline", token)] {
        assert_eq!(run(&server, path, &[("token", token), ("ref", "main")]).await.status(), 404, "{path} {token}");
    }
    let missing = json(run(&server, RUN, &[("token", token)]).await, 400).await;
    assert_eq!(missing["error"], "ref is missing");
    let unknown = json(run(&server, RUN, &[("token", token), ("ref", "gone")]).await, 400).await;
    assert_eq!(unknown["message"]["base"][0], "Reference not found");
    // Pipelines must not start each other by webhooks without end.
    let hook = server.call("", Method::POST, RUN).header("x-gitlab-event", "Pipeline Hook");
    assert_eq!(hook.form(&[("token", token), ("ref", "main")]).send().await.unwrap().status(), 403);

    // It can do what its owner can do now.
    let maintainer = server.read("root", "/users?username=bo").await[0]["id"].to_string();
    json(server.put("ada", &format!("/projects/1/members/{maintainer}"), &[("access_level", "40")]).await, 200).await;
    let of_bo = create(&server, "bo").await["token"].as_str().unwrap().to_owned();
    json(server.put("ada", &format!("/projects/1/members/{maintainer}"), &[("access_level", "20")]).await, 200).await;
    let refused = json(run(&server, RUN, &[("token", &of_bo), ("ref", "main")]).await, 400).await;
    assert_eq!(refused["message"]["base"][0], "Insufficient permissions to create a new pipeline");
    assert_eq!(server.delete("root", &format!("/users/{maintainer}")).await.status(), 204);
    assert_eq!(run(&server, RUN, &[("token", &of_bo), ("ref", "main")]).await.status(), 404);
}

#[tokio::test]
async fn users_of_the_first_start_have_tokens_that_expire() {
    let server = Server::with(Options::default()).await;
    let own = server.read("ada", "/personal_access_tokens/self").await;
    assert!(own["expires_at"].is_string(), "{own}");
}
