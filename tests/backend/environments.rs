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
