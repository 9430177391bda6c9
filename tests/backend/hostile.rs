//! Any hostile request gets a 4xx with a message, and the server stays available.

use crate::dice::Dice;
use crate::{Server, WORLD};
use reqwest::{Method, RequestBuilder};
use serde_json::{Map, Value, json};

const SLOTS: &[&str] = &[
    "1",
    "2",
    "0",
    "-1",
    "abc",
    "ada%2Fhello",
    "99999999999999999999",
    "%00",
    "%FF%FE",
    "..%2F..%2Fetc",
    "%F0%9F%98%80",
    "a%20b",
    "%25",
    "refs%2Fheads%2Flouder",
    "louder",
    "HEAD",
    "0000000000000000000000000000000000000000",
    "%22%3B--",
];

fn values(dice: &mut Dice) -> Value {
    match dice.below(16) {
        0 => Value::Null,
        1 => json!(true),
        2 => json!(-1),
        3 => json!(1.5e300),
        4 => json!(""),
        5 => json!("x"),
        6 => json!([]),
        7 => json!({}),
        8 => json!([[[["deep"]]]]),
        9 => json!({"a": {"b": [1, null]}}),
        10 => json!("ü\u{0}\u{202e}\n\t"),
        11 => json!("9".repeat(300)),
        12 => json!("a/../../b"),
        13 => json!(["1", 2, null, {}]),
        14 => json!("2018-13-45T99:99:99Z"),
        _ => json!("-----BEGIN PGP PUBLIC KEY BLOCK-----"),
    }
}

async fn answered(request: RequestBuilder, what: &str) {
    let reply = request.send().await.unwrap_or_else(|error| panic!("{what}: {error}"));
    let status = reply.status().as_u16();
    let text = reply.text().await.unwrap_or_else(|error| panic!("{what}: {error}"));
    assert!(status < 500, "{what}: {status} {text}");
    if (400..500).contains(&status) && !text.is_empty() {
        let body: Value =
            serde_json::from_str(&text).unwrap_or_else(|error| panic!("{what}: {status} {error}: {text}"));
        assert!(body.get("message").or(body.get("error")).is_some(), "{what}: {status} {text}");
    }
}

#[tokio::test]
async fn random_requests_never_break_the_server() {
    let server = Server::of(WORLD, &Default::default()).await;
    let mut dice = Dice(2026);
    let operations: Vec<_> = labscope::backend::operations().collect();
    // Do not end the tokens of the other requests.
    let ends_token = |method: &str, path: &str| path.starts_with("/personal_access_tokens/") && method != "GET";
    for (endpoint, route) in operations.iter().filter(|(e, route)| !ends_token(e.method.as_str(), route.path)) {
        for round in 0..10 {
            let deletes = endpoint.method == Method::DELETE;
            let slot = |segment: &str, dice: &mut Dice| match segment.starts_with('{') {
                // Do not delete records that the other requests need.
                true if deletes && (round == 0 || route.path == "/projects/{id}") => "77".to_owned(),
                true => {
                    let at = dice.below(SLOTS.len());
                    SLOTS[if deletes { at.max(2) } else { at }].to_owned()
                }
                false => segment.to_owned(),
            };
            let path: Vec<String> = route.path.split('/').map(|segment| slot(segment, &mut dice)).collect();
            let path = path.join("/");
            let who = dice.pick(&["root", "ada", "", "eve"]);
            let mut fields = Map::new();
            for input in endpoint.inputs {
                if dice.below(4) != 0 {
                    fields.insert(input.name.to_owned(), values(&mut dice));
                }
            }
            let what = format!("{} {path} by {who:?} with {}", endpoint.method, Value::Object(fields.clone()));
            let call = |path: &str| server.call(who, endpoint.method.clone(), path);
            match round % 5 {
                0 => answered(call(&path), &what).await,
                1 => answered(call(&path).json(&fields), &what).await,
                2 => {
                    let pairs: Vec<(String, String)> =
                        fields.into_iter().map(|(name, value)| (name, value.to_string().replace('"', ""))).collect();
                    answered(call(&path).form(&pairs), &what).await;
                }
                3 => {
                    let query: Vec<String> = endpoint
                        .inputs
                        .iter()
                        .map(|input| {
                            let brackets = dice.pick(&["", "[]", "[x]", "[][y]"]);
                            format!("{}{brackets}=%FF", input.name)
                        })
                        .collect();
                    answered(call(&format!("{path}?{}&page=-3&per_page=1e9", query.join("&"))), &what).await;
                }
                _ => {
                    let bodies: [(&str, &[u8]); 6] = [
                        ("application/json", b"{\"title\": "),
                        ("application/json", b"[1, 2]"),
                        ("application/json; charset=utf-16", b"\xff\xfe{\x00}"),
                        ("application/x-www-form-urlencoded", b"%ZZ=%&==&[]=1&a[=2&\xff\x00"),
                        ("multipart/form-data; boundary=", b"------\r\n\r\n"),
                        (
                            "multipart/form-data; boundary=x",
                            b"--x\r\nContent-Disposition: form-data; name=\"\r\n\r\n--x",
                        ),
                    ];
                    let (kind, body) = bodies[dice.below(6)];
                    answered(call(&path).header("content-type", kind).body(body.to_vec()), &what).await;
                }
            }
        }
    }
    for method in ["PATCH", "OPTIONS", "TRACE", "HEAD", "BREW"] {
        for (_, route) in operations.iter().step_by(9) {
            let path = route.path.replace(['{', '}', '*'], "");
            let method = Method::from_bytes(method.as_bytes()).unwrap();
            answered(server.call("root", method.clone(), &path), &format!("{method} {path}")).await;
        }
    }
    let deep = "[".repeat(200_000);
    let json = server.call("root", Method::POST, "/groups").header("content-type", "application/json");
    answered(json.body(deep), "JSON that nests without end").await;
    answered(server.call("root", Method::GET, &format!("/projects?{}", "a=1&".repeat(10_000))), "a long query").await;
    let large = server.call("root", Method::POST, "/groups").body(vec![b'a'; 65 << 20]);
    assert_eq!(large.send().await.unwrap().status(), 413);
    assert_eq!(server.read("root", "/user").await["username"], "root", "the server still answers");
    assert_eq!(server.read("root", "/projects/1/repository/branches").await[0]["name"], "louder");
}

#[tokio::test]
async fn a_nul_byte_in_a_parameter_is_rejected_by_name() {
    let server = Server::of(WORLD, &Default::default()).await;
    let error =
        |reply: reqwest::Response| async { crate::json(reply, 400).await["error"].as_str().unwrap().to_owned() };
    let repository = |rest: &str| format!("/projects/1/repository/{rest}");
    for path in ["tree?path=%00", "commits?path=%00", "commits?path=src%2F%00"] {
        assert_eq!(error(server.get("", &repository(path)).await).await, "path is invalid", "{path}");
    }
    let tag = [("tag_name", "a\0"), ("ref", "main")];
    assert_eq!(error(server.post("ada", &repository("tags"), &tag).await).await, "tag_name is invalid");
    let tag = [("tag_name", "a"), ("ref", "main"), ("message", "a\0")];
    assert_eq!(error(server.post("ada", &repository("tags"), &tag).await).await, "message is invalid");
    let send = |body: Value| server.call("ada", Method::POST, &repository("commits")).json(&body).send();
    let actions = json!([{"action": "create", "file_path": "nul", "content": "a\0b"}]);
    let body = json!({"branch": "main", "commit_message": "a\0b", "actions": actions});
    assert_eq!(error(send(body).await.unwrap()).await, "commit_message is invalid");
    let body = json!({"branch": "main", "commit_message": "Bytes", "actions": actions});
    crate::json(send(body).await.unwrap(), 201).await;
    let tree = server.read("", &repository("tree?per_page=100")).await;
    let blob = tree.as_array().unwrap().iter().find(|row| row["name"] == "nul").unwrap()["id"].as_str().unwrap();
    let raw = server.get("", &repository(&format!("blobs/{blob}/raw"))).await;
    assert_eq!(raw.bytes().await.unwrap(), &b"a\0b"[..], "file contents may be arbitrary");
}

#[tokio::test]
async fn an_invalid_commit_author_is_cleaned_and_an_empty_one_is_the_caller() {
    let server = Server::of(WORLD, &Default::default()).await;
    let commit = |path: &str, name: &str, email: &str| {
        let actions = json!([{"action": "create", "file_path": path, "content": ""}]);
        let body = json!({"branch": "main", "commit_message": "m", "author_name": name, "author_email": email, "actions": actions});
        let call = server.call("ada", Method::POST, "/projects/1/repository/commits").json(&body);
        async move {
            let made = crate::json(call.send().await.unwrap(), 201).await;
            let [name, email] = ["author_name", "author_email"].map(|field| made[field].as_str().unwrap().to_owned());
            (name, email)
        }
    };
    let own = ("Ada Sommer".to_owned(), "ada@example.com".to_owned());
    assert_eq!(commit("a", "", " ").await, own);
    assert_eq!(commit("b", "...", "<;>").await, ("nobody".to_owned(), "nobody@localhost".to_owned()));
}

#[tokio::test]
async fn overlong_paths_and_names_are_refused_without_side_effects() {
    let server = Server::of(WORLD, &Default::default()).await;
    let actions = json!([{"action": "create", "file_path": format!("{}f", "a/".repeat(20_000)), "content": ""}]);
    let body = json!({"branch": "main", "commit_message": "Deep", "actions": actions});
    let sent = server.call("ada", Method::POST, "/projects/1/repository/commits").json(&body).send().await.unwrap();
    assert_eq!(crate::json(sent, 400).await["message"], "Path is too long");
    for name in ["t".repeat(251), ["t"; 600].join("/"), "-t".into()] {
        let form = [("tag_name", name.as_str()), ("ref", "main"), ("release_description", "x")];
        let refused = crate::json(server.post("ada", "/projects/1/repository/tags", &form).await, 400).await;
        assert_eq!(refused["message"], "Tag name invalid");
        let form = [("branch", name.as_str()), ("ref", "main")];
        let refused = crate::json(server.post("ada", "/projects/1/repository/branches", &form).await, 400).await;
        assert_eq!(refused["message"], "Branch name is invalid");
    }
    assert_eq!(server.read("", "/projects/1/repository/tags").await, json!([]));
    // The maximum length is accepted.
    let form = [("tag_name", "t".repeat(250)), ("ref", "main".into())];
    let call = server.call("ada", Method::POST, "/projects/1/repository/tags").form(&form);
    crate::json(call.send().await.unwrap(), 201).await;
}

#[tokio::test]
async fn a_tree_of_20000_levels_does_not_crash_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let repo = git2::Repository::init_bare(folder.path().join("deep.git")).unwrap();
    let blob = repo.blob(b"x").unwrap();
    let (mut id, mut name, mut mode) = (blob, "f", 0o100644);
    for _ in 0..20_000 {
        let mut folder = repo.treebuilder(None).unwrap();
        folder.insert(name, id, mode).unwrap();
        (id, name, mode) = (folder.write().unwrap(), "a", 0o040000);
    }
    let by = git2::Signature::new("Eve", "eve@example.com", &git2::Time::new(1_000, 0)).unwrap();
    repo.commit(Some("HEAD"), &by, &by, "Deep", &repo.find_tree(id).unwrap(), &[]).unwrap();
    let server = Server::over(repo.path().to_owned()).await;
    let all = server.read("root", "/projects").await;
    let path = format!("/projects/{}/repository", all[0]["id"]);
    answered(server.call("root", Method::GET, &format!("{path}/tree?recursive=true")), "the tree").await;
    answered(server.call("root", Method::GET, &format!("{path}/tree")), "its top").await;
    let cut = server.get("root", &format!("{path}/archive?format=tar")).await;
    assert!(cut.bytes().await.is_err(), "an archive must not be truncated silently");
    assert_eq!(server.read("root", "/user").await["username"], "root", "the server still answers");
}

#[tokio::test]
async fn validation_errors_name_the_invalid_parameter() {
    let server = Server::of(WORLD, &Default::default()).await;
    let error = |method: Method, path: &'static str, form: &'static [(&'static str, &'static str)]| {
        let server = &server;
        async move {
            let reply = server.call("root", method, path).form(form).send().await.unwrap();
            assert_eq!(reply.status(), 400, "{path}");
            let body: Value = reply.json().await.unwrap();
            body["error"].as_str().or(body["message"].as_str()).unwrap_or_default().to_owned()
        }
    };
    assert_eq!(error(Method::POST, "/groups", &[]).await, "name is missing, path is missing");
    assert_eq!(
        error(Method::POST, "/projects/1/merge_requests", &[("title", "x")]).await,
        "source_branch is missing, target_branch is missing"
    );
    assert_eq!(error(Method::PUT, "/runners/one", &[]).await, "id is invalid");
    assert_eq!(error(Method::PUT, "/runners/1", &[("active", "perhaps")]).await, "active is invalid");
    assert_eq!(error(Method::GET, "/projects/1/repository/commits?since=yesterday", &[]).await, "since is invalid");
    assert_eq!(error(Method::GET, "/projects?order_by=color", &[]).await, "order_by does not have a valid value");
    assert_eq!(error(Method::GET, "/projects?per_page=many", &[]).await, "per_page is invalid");
    assert_eq!(error(Method::GET, "/search?scope=projects", &[]).await, "search is missing");
}
