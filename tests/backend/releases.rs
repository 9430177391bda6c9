//! Releases of a project, which belong to its tags.

use crate::{Server, each, json};
use labscope::backend::{Modes, Options, Version, WorldKind};

const AT: &str = "/projects/acme%2Frocket-ui/releases";

async fn demo(version: Version) -> Server {
    Server::with(Options { world: WorldKind::Demo, modes: Modes::of(version), ..Options::default() }).await
}

#[tokio::test]
async fn a_release_can_be_created_changed_and_deleted_without_its_tag() {
    let server = demo(Version::default()).await;
    let all = server.read("ada", AT).await;
    assert_eq!(each(&all, "tag_name")[..2], ["v0.3.2", "v0.3.0"], "newest first");
    assert_eq!((&all[1]["name"], &all[1]["author"]["username"]), (&"Layouts by weight".into(), &"bo".into()));
    assert_eq!(all[1]["assets"]["links"][1]["name"], "Guide to layouts");
    assert_eq!(each(&all[1]["assets"]["sources"], "format"), ["zip", "tar.gz", "tar.bz2", "tar"]);

    let refused = json(server.post("ada", AT, &[("tag_name", "v9/rc")]).await, 422).await;
    assert_eq!(refused["message"], "Ref is not specified");
    let form = [("tag_name", "v9/rc"), ("ref", "main"), ("name", "Nine")];
    assert_eq!(json(server.post("ada", AT, &form).await, 201).await["name"], "Nine");
    let taken = json(server.post("ada", AT, &form).await, 409).await;
    assert_eq!(taken["message"], "Release already exists");
    let changed = json(server.put("ada", &format!("{AT}/v9%2Frc"), &[("description", "Text")]).await, 200).await;
    assert_eq!((&changed["name"], &changed["description"]), (&"Nine".into(), &"Text".into()));
    let tag = server.read("ada", "/projects/acme%2Frocket-ui/repository/tags/v9%2Frc").await;
    assert_eq!(tag["release"]["description"], "Text");
    let gone = json(server.delete("ada", &format!("{AT}/v9%2Frc")).await, 200).await;
    assert_eq!(gone["tag_name"], "v9/rc");
    assert_eq!(server.delete("ada", &format!("{AT}/v9%2Frc")).await.status(), 404);
    let tag = server.read("ada", "/projects/acme%2Frocket-ui/repository/tags/v9%2Frc").await;
    assert!(tag["release"].is_null(), "{tag}");
}

#[tokio::test]
async fn links_milestones_and_the_date_of_a_new_release_are_kept() {
    let server = demo(Version::default()).await;
    let milestones = "/projects/acme%2Frocket-ui/milestones";
    json(server.post("ada", milestones, &[("title", "Nine")]).await, 201).await;
    let new = |milestone: &str| {
        serde_json::json!({"tag_name": "v9", "ref": "main", "tag_message": "Nine!", "milestones": [milestone],
            "released_at": "2030-01-02T00:00:00Z",
            "assets": {"links": [{"name": "Package", "url": "https://acme.example/p", "link_type": "package"}]}})
    };
    let send = async |body| server.call("ada", reqwest::Method::POST, AT).json(&body).send().await.unwrap();
    let refused = json(send(new("Ten")).await, 400).await;
    assert_eq!(refused["message"], "Milestone(s) not found: Ten");
    let made = json(send(new("Nine")).await, 201).await;
    let base = format!("{}/acme/rocket-ui/-", server.running.base_url);
    assert_eq!((&made["released_at"], &made["upcoming_release"]), (&"2030-01-02T00:00:00.000Z".into(), &true.into()));
    assert_eq!(made["milestones"][0]["title"], "Nine");
    assert_eq!((&made["assets"]["count"], &made["assets"]["links"][0]["link_type"]), (&5.into(), &"package".into()));
    assert_eq!(made["_links"]["self"], format!("{base}/releases/v9"));
    assert_eq!(made["tag_path"], "/acme/rocket-ui/-/tags/v9");
    let commit = made["commit"]["id"].as_str().unwrap();
    assert_eq!(made["commit_path"], format!("/acme/rocket-ui/-/commit/{commit}"));
    let tag = server.read("ada", "/projects/acme%2Frocket-ui/repository/tags/v9").await;
    assert_eq!((&tag["message"], tag["created_at"].is_string()), (&"Nine!".into(), true));
    json(server.put("ada", &format!("{AT}/v9"), &[("milestones[]", "")]).await, 400).await;
}

#[tokio::test]
async fn asset_links_can_be_added_changed_and_removed() {
    let server = demo(Version::default()).await;
    let links = format!("{AT}/v0.3.0/assets/links");
    let known = server.read("ada", &links).await;
    assert_eq!(each(&known, "name"), ["Guide to layouts", "rocket-ui 0.3.0 for Linux"]);
    let form = [("name", "Guide"), ("url", "https://acme.example/g"), ("link_type", "runbook")];
    let made = json(server.post("ada", &links, &form).await, 201).await;
    assert_eq!((&made["id"], &made["link_type"]), (&3.into(), &"runbook".into()));
    let taken = json(server.post("ada", &links, &form).await, 400).await;
    assert_eq!(taken["message"]["name"][0], "has already been taken");
    let odd = [("name", "Odd"), ("url", "javascript:alert(1)")];
    let refused = json(server.post("ada", &links, &odd).await, 400).await;
    assert!(refused["message"]["url"][0].as_str().unwrap().contains("http, https, ftp"), "{refused}");
    let at = format!("{links}/3");
    let changed = json(server.put("ada", &at, &[("name", "Book")]).await, 200).await;
    assert_eq!((&changed["name"], &changed["link_type"]), (&"Book".into(), &"other".into()), "as on GitLab");
    json(server.put("ada", &at, &[("link_type", "image")]).await, 400).await;
    assert_eq!(json(server.delete("ada", &at).await, 200).await["name"], "Book");
    assert_eq!(server.delete("ada", &at).await.status(), 404);
    assert_eq!(server.read("ada", AT).await[1]["assets"]["links"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn an_old_server_has_no_releases_endpoint() {
    let server = demo(Version::V10_6).await;
    assert_eq!(json(server.get("ada", AT).await, 404).await["error"], "404 Not Found");
}

#[tokio::test]
async fn a_release_is_read_by_its_tag_and_the_latest_by_a_permalink() {
    let server = demo(Version::default()).await;
    let one = server.read("", &format!("{AT}/v0.3.0")).await;
    assert_eq!(one["name"], "Layouts by weight");
    assert_eq!(json(server.get("ada", &format!("{AT}/v9")).await, 404).await["message"], "404 Not Found");
    let client = reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none()).build().unwrap();
    let url = format!("{}/api/v4{AT}/permalink/latest", server.running.base_url);
    let moved = client.get(url).send().await.unwrap();
    let id = server.read("ada", "/projects/acme%2Frocket-ui").await["id"].clone();
    assert_eq!(moved.status(), 302);
    assert_eq!(crate::header(&moved, "location"), format!("/api/v4/projects/{id}/releases/v0.3.2"));
    assert_eq!(server.read("", &format!("{AT}/permalink/latest")).await["tag_name"], "v0.3.2");
    let link = server.read("", &format!("{AT}/v0.3.0/assets/links/1")).await;
    assert_eq!(link["id"], 1);
    json(server.get("", &format!("{AT}/v0.3.0/assets/links/77")).await, 404).await;
}

#[tokio::test]
async fn a_release_is_created_with_its_links_its_date_and_the_message_of_its_tag() {
    let server = demo(Version::default()).await;
    let link = serde_json::json!({"name": "Guide", "url": "https://acme.example/g", "link_type": "runbook"});
    let body = serde_json::json!({"tag_name": "v9", "ref": "main", "tag_message": "Nine",
        "released_at": "2020-01-02T03:04:05Z", "assets": {"links": [link]}});
    let send = |body: serde_json::Value| server.call("ada", reqwest::Method::POST, AT).json(&body).send();
    let made = json(send(body).await.unwrap(), 201).await;
    assert_eq!(made["released_at"], "2020-01-02T03:04:05.000Z");
    assert_eq!(each(&made["assets"]["links"], "link_type"), ["runbook"]);
    let tag = server.read("ada", "/projects/acme%2Frocket-ui/repository/tags/v9").await;
    assert_eq!(tag["message"], "Nine");
    let link = serde_json::json!({"name": "Guide", "url": "javascript:alert(1)"});
    let body = serde_json::json!({"tag_name": "v10", "ref": "main", "assets": {"links": [link]}});
    json(send(body).await.unwrap(), 400).await;
    assert_eq!(server.get("ada", "/projects/acme%2Frocket-ui/repository/tags/v10").await.status(), 404);
}
