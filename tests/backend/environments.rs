//! Environments of a project.

use crate::{Server, each, json};
use labscope::backend::{Modes, Options, Version, WorldKind};

const AT: &str = "/projects/acme%2Frocket-ui/environments";

async fn demo(version: Version) -> Server {
    Server::with(Options { world: WorldKind::Demo, modes: Modes::of(version), ..Options::default() }).await
}

#[tokio::test]
async fn environments_can_be_listed_read_and_stopped() {
    let server = demo(Version::default()).await;
    let all = server.read("ada", AT).await;
    assert_eq!(each(&all, "name"), ["production", "staging"]);
    assert_eq!((&all[0]["tier"], &all[0]["state"]), (&"production".into(), &"available".into()));
    let one = format!("{AT}/{}", all[1]["id"]);
    let staging = server.read("ada", &one).await;
    assert_eq!(staging["last_deployment"]["environment"]["name"], "staging");

    assert_eq!(server.post("", &format!("{one}/stop"), &[]).await.status(), 401);
    let stopped = json(server.post("ada", &format!("{one}/stop"), &[]).await, 200).await;
    assert_eq!(stopped["state"], "stopped");
    json(server.post("ada", &format!("{one}/stop"), &[]).await, 400).await;
    assert_eq!(each(&server.read("ada", &format!("{AT}?states=available")).await, "name"), ["production"]);
    assert_eq!(each(&server.read("ada", &format!("{AT}?search=STA")).await, "name"), ["staging"]);
    json(server.get("ada", &format!("{AT}?search=st")).await, 400).await;
    json(server.get("ada", &format!("{AT}/9999")).await, 404).await;
    assert_eq!(server.get("", AT).await.status(), 401);
}

#[tokio::test]
async fn an_old_server_has_no_environments() {
    let server = demo(Version::V10_6).await;
    assert_eq!(json(server.get("ada", AT).await, 404).await["error"], "404 Not Found");
}

#[tokio::test]
async fn an_environment_is_found_by_its_whole_name() {
    let server = demo(Version::default()).await;
    assert_eq!(each(&server.read("ada", &format!("{AT}?name=staging")).await, "name"), ["staging"]);
    assert_eq!(server.read("ada", &format!("{AT}?name=stag")).await, serde_json::json!([]));
    let both = json(server.get("ada", &format!("{AT}?name=staging&search=stag")).await, 400).await;
    assert_eq!(both["error"], "name, search are mutually exclusive");
}

#[tokio::test]
async fn a_blocked_deployment_waits_for_an_approval() {
    let project = "/projects/acme%2Frocket-ui";
    let all = format!("{project}/deployments?order_by=id&sort=desc");
    for (decision, job_status, deployment_status) in
        [("approved", "manual", "created"), ("rejected", "failed", "failed")]
    {
        let server = demo(Version::default()).await;
        let protected = server.read("ada", &format!("{project}/protected_environments")).await;
        assert_eq!(
            (each(&protected, "name"), &protected[0]["required_approval_count"]),
            (vec!["production"], &1.into())
        );
        assert_eq!(server.get("fay", &format!("{project}/protected_environments")).await.status(), 403);
        let rows = server.read("ada", &all).await;
        let blocked =
            rows.as_array().unwrap().iter().find(|row| row["status"] == "blocked").expect("one waits").clone();
        let (one, job) = (format!("{project}/deployments/{}", blocked["id"]), blocked["deployable"]["id"].clone());
        assert_eq!(blocked["deployable"]["status"], "manual");
        assert_eq!(server.read("ada", &one).await["pending_approval_count"], 1);
        let play = format!("{project}/jobs/{job}/play");
        json(server.post("ada", &play, &[]).await, 400).await;
        assert_eq!(server.post("", &format!("{one}/approval"), &[("status", "approved")]).await.status(), 401);
        assert_eq!(server.post("fay", &format!("{one}/approval"), &[("status", "approved")]).await.status(), 403);
        json(server.post("ada", &format!("{one}/approval"), &[("status", "maybe")]).await, 400).await;
        let given = [("status", decision), ("comment", "seen")];
        let approval = json(server.post("ada", &format!("{one}/approval"), &given).await, 201).await;
        assert_eq!((&approval["status"], &approval["comment"]), (&decision.into(), &"seen".into()));
        let after = server.read("ada", &one).await;
        assert_eq!((&after["status"], &after["deployable"]["status"]), (&deployment_status.into(), &job_status.into()));
        assert_eq!(after["approvals"][0]["user"]["username"], "ada");
        json(server.post("ada", &format!("{one}/approval"), &given).await, 400).await;
        if decision == "approved" {
            json(server.post("ada", &play, &[]).await, 200).await;
        }
    }
}
