//! Files attached to texts: at the addresses of the API, and at those that the texts contain.

use crate::{Server, WORLD, header, json};
use reqwest::{Method, Response};
use serde_json::{Value, json as value};

const AT: &str = "/projects/1/uploads";
const PNG: &[u8] = b"\x89PNG\r\n\x1a\nrest";

async fn server() -> Server {
    Server::of(WORLD, &Default::default()).await
}

async fn upload(server: &Server, user: &str, filename: &str, bytes: &[u8]) -> Response {
    let head = format!("--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{filename}\"\r\n\r\n");
    let body = [head.as_bytes(), bytes, b"\r\n--x--\r\n"].concat();
    let request = server.call(user, Method::POST, AT).header("content-type", "multipart/form-data; boundary=x");
    request.body(body).send().await.unwrap()
}

/// Requests an address outside the API.
async fn page(server: &Server, user: &str, path: &str) -> Response {
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let request = client.get(format!("{}{path}", server.running.base_url));
    let request = if user.is_empty() { request } else { request.header("private-token", server.token(user)) };
    request.send().await.unwrap()
}

#[tokio::test]
async fn an_upload_is_served_at_the_address_in_its_markdown() {
    let server = server().await;
    let image = json(upload(&server, "eve", "../a plan.png", PNG).await, 201).await;
    let url = image["url"].as_str().unwrap();
    let secret = url.split('/').nth(2).unwrap();
    assert!(secret.len() == 32 && secret.bytes().all(|byte| byte.is_ascii_hexdigit()), "{url}");
    assert_eq!(
        image,
        value!({
            "id": 1,
            "alt": "a_plan",
            "url": format!("/uploads/{secret}/a_plan.png"),
            "full_path": format!("/-/project/1/uploads/{secret}/a_plan.png"),
            "markdown": format!("![a_plan](/uploads/{secret}/a_plan.png)"),
        })
    );
    let shown = page(&server, "", image["full_path"].as_str().unwrap()).await;
    assert_eq!((header(&shown, "content-type"), header(&shown, "content-disposition")), ("image/png", "inline"));
    assert_eq!(shown.bytes().await.unwrap(), PNG);
    let raw = server.get("bo", &format!("{AT}/{secret}/a_plan.png")).await;
    assert_eq!(header(&raw, "content-disposition"), "attachment; filename=\"a_plan.png\"");
    assert_eq!(raw.bytes().await.unwrap(), PNG);

    let text = json(upload(&server, "bo", "log.txt", b"a log").await, 201).await;
    assert_eq!(text["alt"], "log.txt");
    assert!(text["markdown"].as_str().unwrap().starts_with("[log.txt](/uploads/"), "{text}");
    // The name decides what a text shows, not the bytes.
    let film = json(upload(&server, "bo", "Tour.WEBM", b"a film").await, 201).await;
    assert_eq!(film["alt"], "Tour");
    assert!(film["markdown"].as_str().unwrap().starts_with("![Tour](/uploads/"), "{film}");
    assert_eq!(server.delete("ada", &format!("{AT}/3")).await.status(), 204);
    let listed = server.read("ada", AT).await;
    let one = value!({"id": 2, "size": 5, "filename": "log.txt", "created_at": "2026-11-20T16:00:10.000Z",
        "uploaded_by": {"id": listed[0]["uploaded_by"]["id"], "name": "Bo Lind", "username": "bo"}});
    assert_eq!((&listed[0], &listed[1]["filename"]), (&one, &value!("a_plan.png")));
    assert!(!listed.to_string().contains(secret), "secrets are not listed");

    // By its ID, it is for maintainers.
    for (user, status) in [("", 401), ("bo", 403), ("ada", 200)] {
        assert_eq!(server.get(user, &format!("{AT}/2")).await.status(), status, "{user}");
    }
    assert_eq!(server.get("ada", &format!("{AT}/2")).await.text().await.unwrap(), "a log");
    assert_eq!(server.delete("bo", &format!("{AT}/2")).await.status(), 403);
    assert_eq!(server.delete("ada", &format!("{AT}/2")).await.status(), 204);
    assert_eq!(server.get("ada", &format!("{AT}/2")).await.status(), 404);

    assert_eq!(server.delete("ada", &format!("{AT}/{secret}/a_plan.png")).await.status(), 204);
    assert_eq!(page(&server, "", image["full_path"].as_str().unwrap()).await.status(), 404);
}

#[tokio::test]
async fn files_of_a_private_project_are_only_for_those_who_can_see_it() {
    let server = server().await;
    let image = json(upload(&server, "ada", "a.png", PNG).await, 201).await;
    let text = json(upload(&server, "ada", "a.html", b"<script>alert(1)</script>").await, 201).await;
    json(server.put("ada", "/projects/1", &[("visibility", "private")]).await, 200).await;
    assert_eq!(upload(&server, "eve", "b.txt", b"b").await.status(), 404);
    assert_eq!(upload(&server, "", "b.txt", b"b").await.status(), 401);
    let path = |of: &Value, field: &str| of[field].as_str().unwrap().to_owned();
    for (user, expected) in [("", 404), ("eve", 404), ("bo", 200)] {
        let reply = server.get(user, &format!("/projects/1{}", path(&text, "url"))).await;
        assert_eq!(reply.status(), expected, "{user}");
        assert_eq!(page(&server, user, &path(&text, "full_path")).await.status(), expected, "{user}");
        assert_eq!(page(&server, user, &path(&image, "full_path")).await.status(), expected, "{user}");
    }
    let shown = page(&server, "bo", &path(&text, "full_path")).await;
    assert_eq!(header(&shown, "content-type"), "application/octet-stream", "never a page");
    assert_eq!(header(&shown, "content-disposition"), "attachment");
    for user in ["bo", "eve"] {
        assert!(!server.get(user, AT).await.status().is_success(), "{user}");
    }
    let missing = json(server.post("ada", AT, &[("file", "text")]).await, 400).await;
    assert_eq!(missing["error"], "file is invalid");
    assert_eq!(json(server.post("ada", AT, &[]).await, 400).await["error"], "file is missing");
}
