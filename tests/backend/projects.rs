//! Projects and groups: lists, pagination, and parameters.

use crate::{Server, each, header, json};
use reqwest::Method;
use serde_json::json as value;

#[tokio::test]
async fn a_list_links_to_its_other_pages() {
    let server = Server::empty().await;
    for n in 1..=5 {
        json(server.post("ada", "/projects", &[("name", &format!("P{n}"))]).await, 201).await;
    }
    let reply = server.get("ada", "/projects?order_by=id&sort=asc&per_page=2&page=2&search=p").await;
    let base = format!("{}/api/v4/projects?order_by=id&sort=asc&search=p", server.running.base_url);
    let link = format!(
        "<{base}&page=1&per_page=2>; rel=\"prev\", <{base}&page=3&per_page=2>; rel=\"next\", \
         <{base}&page=1&per_page=2>; rel=\"first\", <{base}&page=3&per_page=2>; rel=\"last\""
    );
    assert_eq!(header(&reply, "link"), link);
    let numbers = ["x-total", "x-total-pages", "x-per-page", "x-page", "x-next-page", "x-prev-page"];
    assert_eq!(numbers.map(|name| header(&reply, name)), ["5", "3", "2", "2", "3", "1"]);
    assert_eq!(each(&json(reply, 200).await, "name"), ["P3", "P4"]);

    let beyond = server.get("ada", "/projects?page=9").await;
    assert_eq!((header(&beyond, "x-next-page"), header(&beyond, "x-prev-page")), ("", "8"));
    assert_eq!(json(beyond, 200).await, value!([]));
    assert_eq!(json(server.get("ada", "/projects?page=x").await, 400).await["error"], "page is invalid");
}

#[tokio::test]
async fn parameters_can_be_sent_as_form_json_query_or_multipart() {
    let server = Server::empty().await;
    let sent = server.call("ada", Method::POST, "/projects").json(&value!({"name": "A", "tag_list": ["x", "y"]}));
    assert_eq!(json(sent.send().await.unwrap(), 201).await["tag_list"], value!(["x", "y"]));
    let sent = server.call("ada", Method::POST, "/projects?name=B&issues_enabled=No").send().await.unwrap();
    assert_eq!(json(sent, 201).await["issues_enabled"], false);
    let text = "--x\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\nC\r\n--x--\r\n";
    let sent = server.call("ada", Method::POST, "/projects").header("content-type", "multipart/form-data; boundary=x");
    assert_eq!(json(sent.body(text).send().await.unwrap(), 201).await["path_with_namespace"], "ada/c");
}

#[tokio::test]
async fn errors_name_the_invalid_parameter() {
    let server = Server::empty().await;
    let error = |reply| async { json(reply, 400).await["error"].clone() };
    let get = |path| server.get("root", path);
    assert_eq!(error(get("/projects?order_by=size").await).await, "order_by does not have a valid value");
    assert_eq!(error(get("/projects?archived=perhaps").await).await, "archived is invalid");
    assert_eq!(error(get("/users?created_after=yesterday").await).await, "created_after is invalid");
    let reply = server.post("root", "/users", &[("projects_limit", "many")]).await;
    assert_eq!(error(reply).await, "projects_limit is invalid, email is missing, username is missing, name is missing");
    let taken = [("name", "X"), ("email", "admin@example.com"), ("username", "x"), ("reset_password", "true")];
    let conflict = json(server.post("root", "/users", &taken).await, 409).await;
    assert_eq!(conflict["message"], "Email has already been taken");
}

#[tokio::test]
async fn groups_can_contain_groups_and_projects() {
    let server = Server::empty().await;
    let group = |name: &'static str, parent: String| {
        let server = &server;
        async move {
            let mut form = vec![("name", name), ("path", name), ("visibility", "public")];
            if !parent.is_empty() {
                form.push(("parent_id", &parent));
            }
            json(server.post("ada", "/groups", &form).await, 201).await
        }
    };
    let acme = group("acme", String::new()).await;
    let web = group("web", acme["id"].to_string()).await;
    assert_eq!(web["full_path"], "acme/web");
    let namespace = web["id"].to_string();
    let form = [("name", "Shop"), ("namespace_id", namespace.as_str()), ("visibility", "public")];
    let shop = json(server.post("ada", "/projects", &form).await, 201).await;
    assert_eq!(shop["name_with_namespace"], "acme / web / Shop");
    let seen = server.read("ada", &format!("/projects/{}", shop["id"])).await;
    assert_eq!(seen["permissions"]["group_access"]["access_level"], 50);
    assert_eq!(each(&server.read("", "/groups/acme/subgroups").await, "full_path"), ["acme/web"]);
    assert_eq!(each(&server.read("", "/groups/acme%2Fweb/projects").await, "path"), ["shop"]);
    assert_eq!(each(&server.read("", "/groups/acme%2Fweb").await["projects"], "path"), ["shop"]);
    assert_eq!(each(&server.read("", "/projects/acme%2Fweb%2Fshop/users").await, "username"), ["ada"]);
    let members = server.read("", "/projects/acme%2Fweb%2Fshop/members/all?query=AD").await;
    assert_eq!((&members[0]["username"], &members[0]["access_level"]), (&"ada".into(), &50.into()), "the highest role");
    assert!(each(&server.read("", "/projects/acme%2Fweb%2Fshop/members?query=x").await, "id").is_empty());

    assert_eq!(json(server.delete("", "/groups/acme").await, 401).await["message"], "401 Unauthorized");
    assert_eq!(server.delete("ada", "/groups/acme").await.status(), 204);
    assert_eq!(
        json(server.get("ada", "/projects/acme%2Fweb%2Fshop").await, 404).await["message"],
        "404 Project Not Found"
    );
}

/// Returns the signature of a PNG file followed by `length` bytes.
fn picture(length: usize) -> Vec<u8> {
    [&b"\x89PNG\r\n\x1a\n"[..], &vec![7; length]].concat()
}

#[tokio::test]
async fn an_avatar_can_be_uploaded_with_the_form_and_is_served() {
    let server = Server::empty().await;
    let send = |method: Method, path: &str, bytes: Vec<u8>| {
        let head = "--x\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\nP\r\n--x\r\n\
            Content-Disposition: form-data; name=\"avatar\"; filename=\"../my face.png\"\r\n\r\n";
        let body = [head.as_bytes(), &bytes, b"\r\n--x--\r\n"].concat();
        server.call("root", method, path).header("content-type", "multipart/form-data; boundary=x").body(body).send()
    };
    let made = json(send(Method::POST, "/projects", picture(100)).await.unwrap(), 201).await;
    let url = made["avatar_url"].as_str().unwrap();
    assert_eq!(url, format!("{}/uploads/-/system/project/avatar/1/my_face.png", server.running.base_url));
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let get = |url: String, user: &str| client.get(url).header("PRIVATE-TOKEN", server.token(user)).send();
    let there = get(url.to_owned(), "root").await.unwrap();
    assert_eq!((there.status().as_u16(), header(&there, "content-type")), (200, "image/png"));
    assert_eq!(there.bytes().await.unwrap(), picture(100));
    assert_eq!(get(url.to_owned(), "ada").await.unwrap().status(), 404, "the project is private");

    let user = json(send(Method::PUT, "/users/2", picture(5)).await.unwrap(), 200).await;
    let url = user["avatar_url"].as_str().unwrap();
    assert_eq!(get(url.to_owned(), "ada").await.unwrap().bytes().await.unwrap(), picture(5));
    assert_eq!(server.read("ada", "/user").await["avatar_url"], url);
    assert!(json(server.put("root", "/users/2", &[("avatar", "")]).await, 200).await["avatar_url"].is_null());
    assert_eq!(get(url.to_owned(), "ada").await.unwrap().status(), 404);

    for (bytes, why) in [(picture(300 << 10), "is too big"), (b"<svg/>".to_vec(), "file format is not supported")] {
        let refused = json(send(Method::PUT, "/projects/1", bytes).await.unwrap(), 400).await;
        assert!(refused["message"]["avatar"][0].as_str().unwrap().starts_with(why), "{refused}");
    }
    let text = json(server.put("root", "/projects/1", &[("avatar", "face.png")]).await, 400).await;
    assert_eq!(text["error"], "avatar is invalid");
    assert!(server.read("root", "/projects/1").await["avatar_url"].is_string(), "the previous avatar stays");
}

#[tokio::test]
async fn a_project_names_the_groups_that_it_is_shared_with_to_those_who_can_see_them() {
    let group =
        "[[groups]]\npath = \"secret\"\nname = \"Secret\"\nvisibility = \"private\"\nmembers = { ada = \"owner\" }\n";
    let world = crate::WORLD.replacen(
        "[[projects]]",
        &format!("{group}[[projects]]\nshared_with = {{ secret = \"guest\" }}"),
        1,
    );
    let server = Server::of(&world, &Default::default()).await;
    assert_eq!(server.read("ada", "/projects/1").await["shared_with_groups"][0]["group_name"], "Secret");
    for user in ["eve", ""] {
        assert!(!server.read(user, "/projects/1").await.to_string().contains("Secret"), "{user:?}");
    }
}

#[tokio::test]
async fn a_project_can_begin_with_a_readme_on_its_default_branch() {
    let server = Server::empty().await;
    let form = [("name", "Notes"), ("description", "Of all kinds."), ("initialize_with_readme", "true")];
    let made =
        json(server.post("ada", "/projects", &[&form[..], &[("default_branch", "trunk")]].concat()).await, 201).await;
    assert_eq!(made["default_branch"], "trunk");
    let path = format!("/projects/{}/repository/files/README.md/raw", made["id"]);
    assert_eq!(server.get("ada", &path).await.text().await.unwrap(), "# Notes\n\nOf all kinds.\n");
    let commits = server.read("ada", &format!("/projects/{}/repository/commits", made["id"])).await;
    assert_eq!(each(&commits, "title"), ["Initial commit"]);
}

#[tokio::test]
async fn an_archived_project_is_read_only_until_it_is_unarchived() {
    let server = Server::of(crate::WORLD, &Default::default()).await;
    let archive = |what: &'static str| {
        let server = &server;
        async move { json(server.post("ada", &format!("/projects/1/{what}"), &[]).await, 201).await["archived"].clone() }
    };
    assert_eq!(archive("archive").await, true);
    let form = [("branch", "main"), ("commit_message", "x"), ("content", "x")];
    json(server.post("ada", "/projects/1/repository/files/x", &form).await, 403).await;
    assert_eq!(archive("unarchive").await, false);
    json(server.post("ada", "/projects/1/repository/files/x", &form).await, 201).await;
}

#[tokio::test]
async fn a_project_is_deleted_with_all_that_belongs_to_it() {
    let server = Server::of(crate::WORLD, &Default::default()).await;
    json(server.post("ada", "/projects/1/variables", &[("key", "A"), ("value", "x")]).await, 201).await;
    let gone = json(server.delete("ada", "/projects/1").await, 202).await;
    assert_eq!(gone, value!({"message": "202 Accepted"}));
    assert_eq!(json(server.get("ada", "/projects/1").await, 404).await["message"], "404 Project Not Found");
    assert_eq!(server.read("ada", "/merge_requests?scope=all").await, value!([]));
}

#[tokio::test]
async fn a_project_moves_to_another_namespace_where_its_owner_may_create_projects() {
    let server = Server::of(crate::WORLD, &Default::default()).await;
    let move_to = |user: &'static str, namespace: &'static str| {
        let server = &server;
        async move { server.put(user, "/projects/1/transfer", &[("namespace", namespace)]).await }
    };
    assert_eq!(json(move_to("ada", "nowhere").await, 404).await["message"], "404 Namespace Not Found");
    let group = [("name", "Acme"), ("path", "acme"), ("visibility", "public")];
    json(server.post("root", "/groups", &group).await, 201).await;
    let refused = json(move_to("ada", "acme").await, 400).await;
    assert!(refused["message"].as_str().unwrap().contains("You don't have permission to transfer"), "{refused}");
    let moved = json(move_to("root", "acme").await, 200).await;
    assert_eq!(moved["path_with_namespace"], "acme/hello");
    assert_eq!(server.read("", "/projects/acme%2Fhello/repository/branches").await[0]["name"], "louder");
    let again = json(move_to("root", "acme").await, 400).await;
    assert!(again["message"].as_str().unwrap().contains("Project is already in this namespace."), "{again}");
}

#[tokio::test]
async fn the_visible_forks_of_a_project_are_listed() {
    let server = Server::of(crate::WORLD, &Default::default()).await;
    json(server.post("bo", "/projects/1/fork", &[("name", "Mine"), ("path", "mine")]).await, 201).await;
    json(server.post("eve", "/projects/1/fork", &[("visibility", "private")]).await, 201).await;
    assert_eq!(each(&server.read("", "/projects/1/forks").await, "path_with_namespace"), ["bo/mine"]);
    let own = server.read("eve", "/projects/1/forks?order_by=name&sort=asc").await;
    assert_eq!(each(&own, "path_with_namespace"), ["eve/hello", "bo/mine"]);
    assert_eq!(each(&server.read("eve", "/projects/1/forks?search=mine").await, "name"), ["Mine"]);
}

#[tokio::test]
async fn a_project_has_what_clients_of_today_read() {
    let server = Server::of(crate::WORLD, &Default::default()).await;
    let base = &server.running.base_url;
    let project = server.read("eve", "/projects/1").await;
    assert_eq!((&project["web_url"], &project["readme_url"]), (&format!("{base}/ada/hello").into(), &value!(null)));
    assert_eq!(project["http_url_to_repo"], format!("{base}/ada/hello.git"));
    assert_eq!((&project["empty_repo"], &project["merge_method"]), (&false.into(), &"merge".into()));
    assert_eq!(
        (&project["namespace"]["web_url"], &project["namespace"]["parent_id"]),
        (&format!("{base}/ada").into(), &value!(null))
    );
    assert_eq!(
        (&project["issues_access_level"], &project["can_create_merge_request_in"]),
        (&"enabled".into(), &true.into())
    );
    assert_eq!(server.read("", "/projects/1").await.get("can_create_merge_request_in"), None);
    json(server.put("ada", "/projects/1", &[("issues_enabled", "false"), ("ci_config_path", "ci.yml")]).await, 200)
        .await;
    let project = server.read("eve", "/projects?simple=true").await[0].clone();
    assert_eq!((&project["topics"], project.get("issues_access_level")), (&value!([]), None));
    let project = server.read("eve", "/projects/1").await;
    assert_eq!((&project["issues_access_level"], &project["ci_config_path"]), (&"disabled".into(), &"ci.yml".into()));
    let body = value!({"branch": "main", "commit_message": "Describe it",
        "actions": [{"action": "create", "file_path": "README.md", "content": "# Hello"}]});
    let path = "/projects/1/repository/commits";
    json(server.call("ada", reqwest::Method::POST, path).json(&body).send().await.unwrap(), 201).await;
    assert_eq!(server.read("", "/projects/1").await["readme_url"], format!("{base}/ada/hello/-/blob/main/README.md"));
}
