//! CI/CD variables of projects, groups and the instance, and their masks in traces.

use crate::{Server, WORLD, each, json};
use serde_json::json as value;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

const AT: &str = "/projects/1/variables";

async fn server() -> Server {
    Server::of(WORLD, &Default::default()).await
}

#[tokio::test]
async fn variables_are_created_changed_and_deleted_by_their_keys() {
    let server = server().await;
    let form = [("key", "STAGE"), ("value", "blue"), ("raw", "true")];
    let made = json(server.post("ada", AT, &form).await, 201).await;
    let shown = value!({"variable_type": "env_var", "key": "STAGE", "value": "blue", "hidden": false,
        "protected": false, "masked": false, "raw": true, "environment_scope": "*", "description": null});
    assert_eq!(made, shown);
    assert_eq!(server.read("ada", AT).await, value!([shown]));
    let taken = json(server.post("ada", AT, &form).await, 400).await;
    assert_eq!(taken["message"]["key"][0], "(STAGE) has already been taken");
    let one = format!("{AT}/STAGE");
    let changed = json(server.put("ada", &one, &[("value", "green"), ("variable_type", "file")]).await, 200).await;
    assert_eq!(
        (&changed["value"], &changed["variable_type"], &changed["raw"]),
        (&"green".into(), &"file".into(), &true.into())
    );

    let form = [("key", "STAGE"), ("value", "red"), ("environment_scope", "production")];
    json(server.post("ada", AT, &form).await, 201).await;
    let which = json(server.get("ada", &one).await, 409).await;
    let why = "There are multiple variables with provided parameters. Please use 'filter[environment_scope]'";
    assert_eq!(which["message"], why);
    let filtered = format!("{one}?filter[environment_scope]=production");
    assert_eq!(server.read("ada", &filtered).await["value"], "red");
    assert_eq!(server.delete("ada", &filtered).await.status(), 204);
    assert_eq!(server.read("ada", &one).await["value"], "green");
    assert_eq!(server.delete("ada", &one).await.status(), 204);
    assert_eq!(json(server.get("ada", &one).await, 404).await["message"], "404 Variable Not Found");
    for (form, field, why) in [
        ([("key", "a b"), ("value", "x"), ("raw", "true")], "key", "can contain only letters, digits and '_'."),
        ([("key", "A"), ("value", "short"), ("masked", "true")], "value", "is invalid"),
        ([("key", "A"), ("value", "with a space"), ("masked", "true")], "value", "is invalid"),
    ] {
        assert_eq!(json(server.post("ada", AT, &form).await, 400).await["message"][field][0], why);
    }
    let missing = json(server.post("ada", AT, &[("key", "A")]).await, 400).await;
    assert_eq!(missing["error"], "value is missing");
}

#[tokio::test]
async fn a_hidden_value_is_never_shown_again() {
    let server = server().await;
    let form = [("key", "SECRET"), ("value", "0123456789"), ("masked_and_hidden", "true")];
    let made = json(server.post("ada", AT, &form).await, 201).await;
    assert_eq!((&made["value"], &made["hidden"], &made["masked"]), (&value!(null), &true.into(), &true.into()));
    let refused = json(server.put("ada", &format!("{AT}/SECRET"), &[("masked", "false")]).await, 400).await;
    let why = "The visibility setting cannot be changed for masked and hidden variables.";
    assert_eq!(refused["message"]["base"], value!([why]));
    let form = [("masked", "true"), ("value", "9876543210")];
    let changed = json(server.put("ada", &format!("{AT}/SECRET"), &form).await, 200).await;
    assert_eq!((&changed["value"], &changed["masked"]), (&value!(null), &true.into()));
}

#[tokio::test]
async fn long_descriptions_and_long_values_of_the_instance_are_refused() {
    let server = server().await;
    let (long, longer) = ("d".repeat(256), "x".repeat(10_001));
    let form = [("key", "A"), ("value", &*longer), ("description", &long[1..])];
    json(server.post("ada", AT, &form).await, 201).await;
    let refused = json(server.put("ada", &format!("{AT}/A"), &[("description", &*long)]).await, 400).await;
    assert_eq!(refused["message"]["description"], value!(["is too long (maximum is 255 characters)"]));
    let at = "/admin/ci/variables";
    json(server.post("root", at, &[("key", "A"), ("value", &longer[1..])]).await, 201).await;
    let refused = json(server.post("root", at, &[("key", "B"), ("value", &*longer)]).await, 400).await;
    let why = "The value of the provided variable exceeds the 10000 character limit";
    assert_eq!(refused["message"]["value"], value!([why]));
}

#[tokio::test]
async fn variables_of_a_project_are_for_maintainers_and_those_of_a_group_for_owners() {
    let server = server().await;
    json(server.get("", AT).await, 401).await;
    for user in ["bo", "eve"] {
        json(server.get(user, AT).await, 403).await;
        json(server.post(user, AT, &[("key", "A"), ("value", "x")]).await, 403).await;
    }
    json(server.post("root", "/groups", &[("name", "Acme"), ("path", "acme"), ("visibility", "public")]).await, 201)
        .await;
    let bo = server.read("root", "/users?username=bo").await[0]["id"].to_string();
    json(server.post("root", "/groups/acme/members", &[("user_id", &*bo), ("access_level", "40")]).await, 201).await;
    json(server.get("bo", "/groups/acme/variables").await, 403).await;
    json(server.post("root", "/groups/acme/variables", &[("key", "A"), ("value", "x")]).await, 201).await;
    assert_eq!(each(&server.read("root", "/groups/acme/variables").await, "key"), ["A"]);
    let missing = json(server.get("root", "/groups/acme/variables/B").await, 404).await;
    assert_eq!(missing["message"], "404 GroupVariable Not Found");
}

#[tokio::test]
async fn variables_of_the_instance_are_for_administrators() {
    let server = server().await;
    let at = "/admin/ci/variables";
    json(server.get("", at).await, 401).await;
    json(server.get("ada", at).await, 403).await;
    json(server.post("ada", at, &[("key", "A"), ("value", "x")]).await, 403).await;
    let made = json(server.post("root", at, &[("key", "A"), ("value", "x")]).await, 201).await;
    assert!(made.get("environment_scope").is_none(), "{made}");
    let changed = json(server.put("root", &format!("{at}/A"), &[("value", "y")]).await, 200).await;
    assert_eq!(changed["value"], "y");
    assert_eq!(each(&server.read("root", at).await, "key"), ["A"]);
    assert_eq!(server.delete("root", &format!("{at}/A")).await.status(), 204);
    let missing = json(server.get("root", &format!("{at}/A")).await, 404).await;
    assert_eq!(missing["message"], "404 InstanceVariable Not Found");
}

#[tokio::test]
async fn masked_values_are_replaced_in_traces() {
    let passed = Arc::new(AtomicI64::new(0));
    let server = Server::of(&WORLD.replace("@2 hello", "@2 token=0123456789!"), &passed).await;
    let trace = "/projects/1/jobs/1/trace";
    passed.store(60, Ordering::Relaxed);
    let before = server.get("ada", trace).await.text().await.unwrap();
    assert!(before.contains("token=0123456789!"), "{before}");
    let form = [("key", "SECRET"), ("value", "0123456789"), ("masked", "true")];
    json(server.post("ada", AT, &form).await, 201).await;
    let after = server.get("ada", trace).await.text().await.unwrap();
    assert_eq!(after, before.replace("0123456789", "[MASKED]"));
    let tail = server.call("ada", reqwest::Method::GET, trace).header("range", "bytes=-5").send().await.unwrap();
    assert_eq!(tail.text().await.unwrap(), after[after.len() - 5..]);
}
