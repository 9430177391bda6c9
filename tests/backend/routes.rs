//! The routes of the server: every route with the checks that it declares, and every route called with every kind of
//! token. What must happen is written here from the documentation of the REST API, without looking at what a route
//! declares.

use crate::downloads;
use crate::oauth::{allow, begin_with, poll};
use crate::{Server, json};
use futures::StreamExt;
use labscope::backend::auth::Caller;
use labscope::backend::body::Purpose;
use labscope::backend::{Clock, Limits, Options, WorldKind};
use reqwest::{Method, Response};
use serde_json::Value;
use std::fmt::Write;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// The list of all routes, in the repository.
const LIST: &str = "tests/backend/routes.txt";

/// The maximum time that a test waits for something.
const WITHIN: Duration = Duration::from_secs(60);

fn routes() -> Vec<(Method, String)> {
    labscope::backend::routes(false).routes().iter().map(|route| (route.method.clone(), route.path.clone())).collect()
}

/// Returns whether a route is for git, which sends its token as a password; git itself tests these.
fn is_for_git(path: &str) -> bool {
    path.ends_with("/info/refs") || path.contains("/git-")
}

/// Returns the path of a route with a value for each parameter.
fn filled(path: &str, value: &str) -> String {
    let slot = |segment: &str| match segment.strip_prefix('{').and_then(|rest| rest.split_once('}')) {
        Some((_, end)) => format!("{value}{end}"),
        Option::None => segment.to_owned(),
    };
    path.split('/').map(slot).collect::<Vec<_>>().join("/")
}

#[test]
fn each_route_is_listed_with_its_checks() {
    let mut lines: Vec<String> = Vec::new();
    for route in labscope::backend::routes(false).routes() {
        let caller = match route.checks.access.caller {
            Caller::Unidentified => "unidentified",
            Caller::GitClient => "git client",
            Caller::Anyone => "anyone",
            Caller::AnyScope => "signed in, any scope",
            Caller::Reader => "signed in, read_api",
            Caller::Writer => "signed in, api",
        };
        let jobs = if route.checks.access.job_tokens { ", or a job token" } else { "" };
        let body = match route.checks.body {
            Purpose::Fields => "fields",
            Purpose::Files => "files",
            Purpose::Packets => "packets of git",
        };
        lines.push(format!("{} {} | {caller}{jobs} | {body}", route.path, route.method));
    }
    lines.sort();
    let mut text = String::from(
        "The routes of the local server: path and method, who may call, and what a body contains, which limits its size.\n\
         `UPDATE_DOCS=1 cargo test --test backend routes` writes this list. All routes share the limits of time, the check\n\
         of the host, and the headers of replies.\n\n",
    );
    for line in &lines {
        let _ = writeln!(text, "{line}");
    }
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(LIST);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&file, &text).unwrap();
    }
    let known = std::fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(known, text, "{LIST} is outdated: check the rows that differ, and run with UPDATE_DOCS=1");
}

/// Defines an enum and the list of all its variants.
macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident,)*) => {
        /// A kind of token, or none.
        #[derive(Clone, Copy, Debug, PartialEq)]
        enum Kind { $($(#[$doc])* $kind,)* }

        use Kind::*;

        const KINDS: &[Kind] = &[$($kind,)*];
    };
}

kinds! {
    None,
    Garbage,
    Expired,
    /// An access token that was replaced when it was refreshed.
    Revoked,
    /// A refresh token in place of an access token.
    Refresh,
    Blocked,
    ReadUser,
    ReadRepository,
    ReadApi,
    Api,
    /// A token without a list of scopes, which has all of them.
    Full,
    OauthApi,
    OauthReadApi,
    OauthReadUser,
    /// The token of a running job, in its own header.
    Job,
    /// The full token of an administrator who acts as another user.
    Sudo,
    /// The same with a token that has only the scope `api`.
    SudoWithoutScope,
    /// A full token of a user who is not an administrator, and acts as another user.
    SudoByUser,
}

/// What must happen to a call.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Verdict {
    Unauthorized,
    Expired,
    Blocked,
    InsufficientScope,
    NotAdmin,
    /// The route answers, whatever it answers to this caller.
    Answered,
}

/// Reads that the documentation describes as possible "without authentication" for public projects, groups and users.
const PUBLIC: &[&str] = &[
    "/projects",
    "/projects/{id}",
    "/projects/{id}/users",
    "/projects/{id}/languages",
    "/projects/{id}/templates/{template_type}",
    "/projects/{id}/templates/{template_type}/{name}",
    "/projects/{id}/events",
    "/projects/{id}/members",
    "/projects/{id}/members/all",
    "/projects/{id}/members/{user_id}",
    "/projects/{id}/members/all/{user_id}",
    "/projects/{id}/forks",
    "/projects/{id}/releases",
    "/projects/{id}/releases/*",
    "/projects/{id}/uploads/{secret}/{filename}",
    "/projects/{id}/repository/*",
    "/projects/{id}/ci/lint",
    "/projects/{id}/snippets/{snippet_id}",
    "/projects/{id}/snippets/{snippet_id}/raw",
    "/projects/{id}/snippets/{snippet_id}/files/{ref}/{file_path}/raw",
    "/snippets/{snippet_id}",
    "/snippets/{snippet_id}/raw",
    "/users/{id}/events",
    "/groups",
    "/groups/{id}",
    "/groups/{id}/subgroups",
    "/groups/{id}/projects",
    "/groups/{id}/projects/shared",
    "/groups/{id}/members",
    "/groups/{id}/members/all",
    "/groups/{id}/members/{user_id}",
    "/groups/{id}/members/all/{user_id}",
    "/users",
    "/users/{id}",
    "/users/{id}/projects",
    "/users/{user_id}/projects",
];

/// Downloads that a running job may use its token for.
const FOR_JOBS: &[&str] = &["/projects/{id}/jobs/{job_id}/artifacts", "/projects/{id}/jobs/artifacts/*"];

fn is_one_of(list: &[&str], path: &str) -> bool {
    let Some(path) = path.strip_prefix("/api/v4") else { return false };
    list.iter().any(|known| match known.strip_suffix('*') {
        Some(start) => path.starts_with(start),
        Option::None => path == *known,
    })
}

/// Returns the status of a route without inputs that identifies the caller by its form alone: no token changes it.
fn status_without_form(method: &Method, path: &str) -> Option<u16> {
    match (method.as_str(), path) {
        ("GET", "/oauth/device") => Some(200),
        ("POST", "/oauth/authorize_device" | "/oauth/token" | "/oauth/device") => Some(401),
        ("POST", path) if path.ends_with("/trigger/pipeline") => Some(400),
        _ => Option::None,
    }
}

/// Says what must happen when a route is called with a kind of token.
fn expected(method: &Method, path: &str, kind: Kind) -> Verdict {
    let writes = *method != Method::GET && *method != Method::HEAD;
    // Describes access tokens of OAuth, whatever their scopes.
    if path == "/oauth/token/info" {
        return match kind {
            OauthApi | OauthReadApi | OauthReadUser => Verdict::Answered,
            Expired => Verdict::Expired,
            Blocked => Verdict::Blocked,
            SudoWithoutScope => Verdict::InsufficientScope,
            SudoByUser => Verdict::NotAdmin,
            _ => Verdict::Unauthorized,
        };
    }
    let anonymous = match !writes
        && (is_one_of(PUBLIC, path)
            || path.starts_with("/uploads/")
            || path.starts_with("/-/")
            || path.contains("/-/archive/"))
    {
        true => Verdict::Answered,
        false => Verdict::Unauthorized,
    };
    let verdict = verdict(writes, path, kind, anonymous);
    // Only administrators learn which tokens of others exist.
    let is_of_others = path.contains("/personal_access_tokens/{token_id}") && verdict == Verdict::Answered;
    // The users of these kinds are not members of the project, and only its maintainers see its tokens.
    let is_of_project = path.starts_with("/api/v4/projects/{id}/access_tokens") && matches!(kind, Api | ReadApi);
    if is_of_others || is_of_project && !writes { Verdict::Unauthorized } else { verdict }
}

/// Says what must happen for a kind of token, where `anonymous` is the verdict about callers without one.
fn verdict(writes: bool, path: &str, kind: Kind, anonymous: Verdict) -> Verdict {
    match kind {
        None => anonymous,
        Garbage | Revoked | Refresh => Verdict::Unauthorized,
        Expired => Verdict::Expired,
        Blocked => Verdict::Blocked,
        ReadUser | ReadRepository | OauthReadUser => Verdict::InsufficientScope,
        ReadApi | OauthReadApi if writes => Verdict::InsufficientScope,
        Job if is_one_of(FOR_JOBS, path) && !writes => Verdict::Answered,
        Job => anonymous,
        SudoWithoutScope => Verdict::InsufficientScope,
        SudoByUser => Verdict::NotAdmin,
        ReadApi | OauthReadApi | Api | Full | OauthApi | Sudo => Verdict::Answered,
    }
}

/// Returns what happened to a call.
fn happened(status: u16, body: &Value) -> Verdict {
    let message = body["message"].as_str().unwrap_or_default();
    match (status, body["error"].as_str().unwrap_or_default()) {
        (401, "invalid_token") if body["error_description"].as_str().is_some_and(|why| why.contains("expired")) => {
            Verdict::Expired
        }
        (401, _) => Verdict::Unauthorized,
        (403, "insufficient_scope") => Verdict::InsufficientScope,
        (403, _) if message.contains("Your account has been blocked.") => Verdict::Blocked,
        (403, _) if message.contains("Must be admin") => Verdict::NotAdmin,
        _ => Verdict::Answered,
    }
}

const PEOPLE: &str = r#"users = [
    { username = "root", admin = true },
    { username = "ada", name = "Ada" },
    { username = "eve" },
    { username = "late", token = "of-late", token_expires = "2026-11-20T16:00:05Z" },
    { username = "out", token = "of-out", blocked = true },
    { username = "self", token = "of-self", token_scopes = ["read_user"] },
    { username = "code", token = "of-code", token_scopes = ["read_repository"] },
    { username = "reader", token = "of-reader", token_scopes = ["read_api"] },
    { username = "writer", token = "of-writer", token_scopes = ["api"] },
    { username = "boss", admin = true, token = "of-boss", token_scopes = ["api"] },
]"#;

/// Starts a server with people of all kinds of tokens, a running job, and a private project with a picture.
async fn server(limits: Limits) -> Server {
    let people =
        r#"users = [{ username = "root", admin = true }, { username = "ada", name = "Ada" }, { username = "eve" }]"#;
    assert!(downloads::WORLD.contains(people));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("world.toml");
    std::fs::write(&file, downloads::WORLD.replace(people, PEOPLE)).unwrap();
    let clock = Clock::new(|| "2026-11-20T16:00:10Z".parse().unwrap());
    Server::with(Options { world: WorldKind::File(file), limits, clock, ..Options::default() }).await
}

/// Signs in a device; returns the access token and the refresh token.
async fn device(server: &Server, scope: &str) -> (String, String) {
    let (device, code) = begin_with(server, scope).await;
    assert_eq!(allow(server, &code, "ada").await.status(), 200);
    pair(&json(poll(server, &device).await, 200).await)
}

fn pair(granted: &Value) -> (String, String) {
    let text = |name: &str| granted[name].as_str().unwrap().to_owned();
    (text("access_token"), text("refresh_token"))
}

/// The token of each kind, and a client to send them with.
struct Tokens {
    client: reqwest::Client,
    root: String,
    ada: String,
    revoked: String,
    refresh: String,
    oauth: [String; 3],
    job: String,
}

impl Tokens {
    async fn of(server: &Server) -> Tokens {
        let (revoked, refresh) = device(server, "api").await;
        let form = [("grant_type", "refresh_token"), ("refresh_token", &*refresh), ("client_id", "labscope")];
        let (current, refresh) = pair(&json(crate::oauth::post(server, "/oauth/token", &form).await, 200).await);
        let oauth = [current, device(server, "read_api").await.0, device(server, "read_user").await.0];
        let trace = server.get("ada", "/projects/1/jobs/3/trace").await.text().await.unwrap();
        let job = trace.split("my token is ").nth(1).unwrap().trim().to_owned();
        Tokens {
            client: reqwest::Client::builder().no_proxy().build().unwrap(),
            root: server.token("root").to_owned(),
            ada: server.token("ada").to_owned(),
            revoked,
            refresh,
            oauth,
            job,
        }
    }

    /// Returns the secret of a token, and the user that it acts as.
    fn get(&self, kind: Kind) -> (&str, Option<&str>) {
        let [api, read_api, read_user] = &self.oauth;
        match kind {
            None => ("", Option::None),
            Garbage => ("nobody's", Option::None),
            Expired => ("of-late", Option::None),
            Revoked => (&self.revoked, Option::None),
            Refresh => (&self.refresh, Option::None),
            Blocked => ("of-out", Option::None),
            ReadUser => ("of-self", Option::None),
            ReadRepository => ("of-code", Option::None),
            ReadApi => ("of-reader", Option::None),
            Api => ("of-writer", Option::None),
            Full => (&self.ada, Option::None),
            OauthApi => (api, Option::None),
            OauthReadApi => (read_api, Option::None),
            OauthReadUser => (read_user, Option::None),
            Job => (&self.job, Option::None),
            Sudo => (&self.root, Some("ada")),
            SudoWithoutScope => ("of-boss", Some("ada")),
            SudoByUser => (&self.ada, Some("eve")),
        }
    }
}

/// The ways to send a token.
#[derive(Clone, Copy, Debug)]
enum Way {
    Header,
    Bearer,
    Query,
    QueryAccess,
}

const WAYS: [Way; 4] = [Way::Header, Way::Bearer, Way::Query, Way::QueryAccess];

async fn ask(server: &Server, (method, path): (&Method, &str), tokens: &Tokens, kind: Kind, way: Way) -> Response {
    let (secret, sudo) = tokens.get(kind);
    let mut url = format!("{}{path}", server.running.base_url);
    match (kind, way) {
        (None | Job, _) | (_, Way::Header | Way::Bearer) => {}
        (_, Way::Query) => url += &format!("?private_token={secret}"),
        (_, Way::QueryAccess) => url += &format!("?access_token={secret}"),
    }
    let mut request = tokens.client.request(method.clone(), url);
    match (kind, way) {
        (None, _) => {}
        (Job, _) => request = request.header("job-token", secret),
        (_, Way::Header) => request = request.header("private-token", secret),
        (_, Way::Bearer) => request = request.bearer_auth(secret),
        (_, Way::Query | Way::QueryAccess) => {}
    }
    if let Some(sudo) = sudo {
        request = request.header("sudo", sudo);
    }
    request.send().await.unwrap()
}

/// The headers that every reply has.
fn check_headers(reply: &Response, what: &str) {
    for (name, value) in [("x-content-type-options", "nosniff"), ("x-frame-options", "DENY")] {
        assert_eq!(crate::header(reply, name), value, "{what}");
    }
    assert!(crate::header(reply, "content-security-policy").contains("frame-ancestors 'none'"), "{what}");
    let rule = crate::header(reply, "cache-control");
    assert!(["no-cache", "no-store", "max-age=0, private, must-revalidate"].contains(&rule), "{what}: {rule}");
    assert!(reply.headers().get("access-control-allow-origin").is_none(), "{what}");
    assert!(reply.headers().get("set-cookie").is_none(), "{what}");
}

/// Calls a route, and says what is wrong with its answer.
async fn mistake(
    server: &Server,
    (method, path): (&Method, &str),
    tokens: &Tokens,
    kind: Kind,
    way: Way,
) -> Option<String> {
    let writes = *method != Method::GET && *method != Method::HEAD;
    // A write of a caller who may write meets nothing that it could destroy.
    let url = filled(path, if writes { "7777" } else { "1" });
    let reply = ask(server, (method, &url), tokens, kind, way).await;
    let what = format!("{method} {path} with {kind:?} by {way:?}");
    check_headers(&reply, &what);
    let status = reply.status().as_u16();
    let body = reply.bytes().await.unwrap_or_default();
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let (expected, happened) = (expected(method, path, kind), happened(status, &body));
    // HEAD has no body that would tell which of two refusals it is.
    let same = match status_without_form(method, path) {
        Some(known) => known == status,
        _ if *method == Method::HEAD => (expected == Verdict::Answered) != [401, 403].contains(&status),
        _ => expected == happened,
    };
    (!same || status >= 500).then(|| format!("{what}: {expected:?} expected, but {status} {body}"))
}

/// Returns whether a call revokes or replaces its own token.
fn ends_token(method: &Method, path: &str) -> bool {
    *method != Method::GET && path.contains("/personal_access_tokens/self")
}

/// Each call has a server of its own, because its token is of no use afterwards.
#[tokio::test(flavor = "multi_thread")]
async fn routes_that_end_their_token_answer_every_kind_as_documented() {
    let routes: Vec<_> = routes().into_iter().filter(|(method, path)| ends_token(method, path)).collect();
    assert_eq!(routes.len(), 2);
    for (method, path) in &routes {
        for kind in KINDS {
            let server = server(Limits::default()).await;
            let tokens = Tokens::of(&server).await;
            assert_eq!(mistake(&server, (method, path), &tokens, *kind, Way::Header).await, Option::None);
            let again = ask(&server, (&Method::GET, "/api/v4/user"), &tokens, *kind, Way::Header).await;
            if [Api, Full, Sudo].contains(kind) {
                assert_eq!(again.status(), 401, "{method} {path} with {kind:?}: the token is still valid");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_route_answers_every_kind_of_token_as_documented() {
    let server = server(Limits::default()).await;
    let tokens = Tokens::of(&server).await;
    let routes = routes();
    assert!(routes.len() > 200, "{}", routes.len());
    let calls = routes.iter().filter(|(_, path)| !is_for_git(path)).enumerate().flat_map(|(index, (method, path))| {
        KINDS.iter().enumerate().map(move |(other, kind)| {
            (method, path.as_str(), *kind, WAYS.get((index + other) % WAYS.len()).copied().unwrap_or(Way::Header))
        })
    });
    // A token that is revoked or replaced cannot be used by the other calls.
    let calls = calls.filter(|(method, path, ..)| !ends_token(method, path));
    let (server, tokens) = (&server, &tokens);
    let mut wrong: Vec<String> = futures::stream::iter(calls)
        .map(|(method, path, kind, way)| async move { mistake(server, (method, path), tokens, kind, way).await })
        .buffer_unordered(16)
        .filter_map(|found| async { found })
        .collect()
        .await;
    wrong.sort();
    assert!(wrong.is_empty(), "{} of them:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn the_oracle_notices_what_was_wrong_before() {
    let picture = "/uploads/-/system/{kind}/avatar/{id}/{filename}";
    for kind in [Expired, ReadUser, ReadRepository] {
        assert_ne!(expected(&Method::GET, picture, kind), happened(200, &Value::Null), "{kind:?}");
    }
    assert_ne!(expected(&Method::POST, "/api/v4/projects", ReadApi), happened(201, &Value::Null));
    assert_ne!(expected(&Method::GET, "/oauth/token/info", Blocked), happened(200, &Value::Null));
}

#[tokio::test]
async fn a_picture_of_a_private_project_needs_a_token_that_may_read_the_project() {
    let server = server(Limits::default()).await;
    let tokens = Tokens::of(&server).await;
    let png = "iVBORw0KGgo=";
    let body = serde_json::json!({"visibility": "private", "avatar": {"filename": "a.png", "base64": png}});
    let set = server.call("ada", Method::PUT, "/projects/1").json(&body).send().await.unwrap();
    assert!(json(set, 200).await["avatar_url"].as_str().unwrap().ends_with("/avatar/1/a.png"));
    let url = "/uploads/-/system/project/avatar/1/a.png";
    for &kind in KINDS {
        let status = ask(&server, (&Method::GET, url), &tokens, kind, Way::Header).await.status().as_u16();
        let expected = match kind {
            Full | OauthApi | OauthReadApi | Sudo => 200,
            // Valid tokens of people who cannot see the project, and no token.
            Api | ReadApi | None | Job => 404,
            Garbage | Revoked | Refresh | Expired => 401,
            Blocked | ReadUser | ReadRepository | OauthReadUser | SudoWithoutScope | SudoByUser => 403,
        };
        assert_eq!(status, expected, "{kind:?}");
    }
}

/// Sends a request as text, and returns everything received until the server closes the connection.
pub async fn send(server: &Server, text: &str) -> String {
    let mut stream = TcpStream::connect(server.running.base_url.trim_start_matches("http://")).await.unwrap();
    stream.write_all(text.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    let read = stream.read_to_end(&mut answer);
    tokio::time::timeout(WITHIN, read).await.unwrap_or_else(|_| panic!("{text}: the connection stays open")).unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

/// All routes, a path that does not exist, and a method that a path does not have.
fn all_and_unknown() -> Vec<(Method, String)> {
    let mut routes = routes();
    routes.push((Method::POST, "/nowhere".into()));
    routes.push((Method::POST, "/api/v4/nowhere".into()));
    routes.push((Method::PATCH, "/oauth/token".into()));
    routes.push((Method::PATCH, "/api/v4/projects".into()));
    routes
}

#[tokio::test(flavor = "multi_thread")]
async fn no_route_waits_for_a_body_without_a_limit() {
    let (never, soon) = (Duration::from_secs(3600), Duration::from_millis(50));
    let server = server(Limits { head: never, body: soon, reply: never, ..Limits::default() }).await;
    let (server, all) = (&server, all_and_unknown());
    let ends = all.iter().map(|(method, path)| async move {
        let path = filled(path, "7777");
        let head = format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nname=");
        let answer = send(server, &head).await;
        let status = answer.split(' ').nth(1).unwrap_or_default().to_owned();
        assert!(["408", "401", "404", "405"].contains(&&*status), "{method} {path}: {answer}");
    });
    futures::stream::iter(ends).buffer_unordered(64).collect::<Vec<()>>().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_route_reads_more_than_its_limit() {
    let server = server(Limits::default()).await;
    let large = "a".repeat((1 << 20) + 10);
    // One connection for each request: one that a refused push leaves is closed by the server, maybe only after the
    // client has begun to send the next request on it.
    let client = reqwest::Client::builder().no_proxy().pool_max_idle_per_host(0).build().unwrap();
    for (method, path) in routes().into_iter().filter(|(method, _)| *method == Method::POST) {
        let url = format!("{}{}", server.running.base_url, filled(&path, "7777"));
        let form = client.request(method, url).header("content-type", "application/x-www-form-urlencoded");
        match form.body(format!("name={large}")).send().await {
            // Whether a git client may push is known before the body is read, so the connection may be closed while it
            // is still being sent.
            Ok(reply) => assert_eq!(reply.status(), if is_for_git(&path) { 401 } else { 413 }, "{path}"),
            Err(error) => assert!(is_for_git(&path), "{path}: {error}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_route_answers_for_another_host() {
    let server = server(Limits::default()).await;
    let (server, all) = (&server, all_and_unknown());
    let ends = all.iter().map(|(method, path)| async move {
        let path = filled(path, "1");
        let head = format!("{method} {path} HTTP/1.1\r\nHost: rebound.example\r\nConnection: close\r\n\r\n");
        let answer = send(server, &head).await;
        assert!(answer.starts_with("HTTP/1.1 421 "), "{method} {path}: {answer}");
        assert!(answer.contains("x-frame-options: DENY"), "{answer}");
    });
    futures::stream::iter(ends).buffer_unordered(64).collect::<Vec<()>>().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_request_becomes_another_method() {
    let server = server(Limits::default()).await;
    let token = server.token("ada");
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let url = format!("{}/api/v4/projects/1", server.running.base_url);
    for name in ["x-http-method-override", "x-http-method", "x-method-override"] {
        let get = client.get(format!("{url}?_method=DELETE")).header(name, "DELETE").header("private-token", token);
        assert_eq!(get.send().await.unwrap().status(), 200, "{name}");
        let put = client.post(&url).form(&[("_method", "DELETE")]).header(name, "DELETE");
        assert_eq!(put.header("private-token", token).send().await.unwrap().status(), 405, "{name}");
    }
    assert_eq!(server.read("ada", "/projects/1").await["id"], 1);
    for (_, path) in all_and_unknown() {
        let url = format!("{}{}", server.running.base_url, filled(&path, "1"));
        let options = client.request(Method::OPTIONS, url).header("origin", "https://evil.example").send();
        let reply = options.await.unwrap();
        check_headers(&reply, &path);
        assert!([404, 405].contains(&reply.status().as_u16()), "{path}");
    }
}
