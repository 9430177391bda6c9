//! Stock git clones, fetches and pushes over loopback; every test is skipped where git is missing.

use crate::{Server, WORLD, add_file, each, header, json};
use labscope::backend::{Clock, Limits, Modes, Options, WorldKind};
use reqwest::Method;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;
use std::sync::atomic::AtomicI64;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

fn has_git() -> bool {
    let found = Command::new("git").arg("--version").output().is_ok_and(|done| done.status.success());
    if !found {
        eprintln!("skipped: git is not installed");
    }
    found
}

/// A folder in which stock git runs, with no configuration of the user.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Runs git, and returns what it did.
    async fn run(&self, arguments: &[&str]) -> Output {
        let mut command = tokio::process::Command::new("git");
        command.args(["-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "init.defaultBranch=main"]);
        command.args(arguments).current_dir(self.path()).env("HOME", self.path()).env("GIT_TERMINAL_PROMPT", "0");
        command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null").env("LC_ALL", "C");
        command.env_remove("GIT_DIR").env_remove("http_proxy").env("no_proxy", "*");
        let done = tokio::time::timeout(Duration::from_secs(120), command.output()).await;
        done.unwrap_or_else(|_| panic!("git {arguments:?} does not end")).unwrap()
    }

    /// Runs git, which must succeed. Returns its output and messages.
    async fn git(&self, arguments: &[&str]) -> String {
        let done = self.run(arguments).await;
        let text = text(&done);
        assert!(done.status.success(), "git {arguments:?}: {text}");
        text
    }

    /// Runs git, which must fail. Returns its messages.
    async fn fails(&self, arguments: &[&str]) -> String {
        let done = self.run(arguments).await;
        let text = text(&done);
        assert!(!done.status.success(), "git {arguments:?}: {text}");
        text
    }

    /// Returns the hash that a name stands for.
    async fn id(&self, name: &str) -> String {
        self.git(&["rev-parse", name]).await.trim().to_owned()
    }

    async fn commit(&self, file: &str, text: &str) {
        std::fs::write(self.path().join(file), text).unwrap();
        self.git(&["add", "."]).await;
        self.git(&["commit", "-q", "-m", &format!("Write {file}")]).await;
    }
}

fn text(done: &Output) -> String {
    [&*done.stdout, &*done.stderr].map(String::from_utf8_lossy).concat()
}

/// Returns the address of a project with the token of a user, or without credentials if `user` is empty.
fn address(server: &Server, user: &str, path: &str) -> String {
    address_with(server, &if user.is_empty() { String::new() } else { format!("{user}:{}@", server.token(user)) }, path)
}

fn address_with(server: &Server, credentials: &str, path: &str) -> String {
    server.running.base_url.replace("http://", &format!("http://{credentials}")) + "/" + path
}

async fn clone(server: &Server, user: &str, path: &str) -> Folder {
    let folder = Folder::new();
    folder.git(&["clone", "-q", &address(server, user, path), "."]).await;
    folder
}

/// Returns a world with `ada/hello` and a private project in a subgroup.
fn world() -> String {
    let world = WORLD.replace("[[projects]]", &format!("{GROUPS}\n[[projects]]"));
    let hello = "[[projects]]\npath = \"ada/hello\"";
    world.replacen(hello, &format!("{PRIVATE}\n{hello}"), 1)
}

async fn server() -> Server {
    Server::of(&world(), &Arc::new(AtomicI64::new(0))).await
}

/// Starts a server whose repositories are in the folder `data`.
async fn server_in(data: &Path) -> Server {
    let file = data.join("world.toml");
    std::fs::write(&file, world()).unwrap();
    let (world, data) = (WorldKind::File(file), Some(data.to_owned()));
    let clock = Clock::new(|| "2026-11-20T16:00:10Z".parse().unwrap());
    Server::with(Options { world, data, clock, ..Options::default() }).await
}

const GROUPS: &str = r#"
[[groups]]
path = "acme"
[[groups]]
path = "acme/web"
visibility = "private"
"#;

const PRIVATE: &str = r#"
[[projects]]
path = "acme/web/shop"
visibility = "private"
members = { ada = "maintainer", bo = "developer", eve = "guest" }
protected = ["main", "release/*"]
files = """
-- README.md --
Shop
"""
script = """
from 2026-11-02
to 2026-11-20
ada: Open the shop
  + README.md
"""
"#;

#[tokio::test(flavor = "multi_thread")]
async fn projects_are_cloned_at_their_addresses_with_every_version_of_the_protocol() {
    if !has_git() {
        return;
    }
    let server = server().await;
    let url = server.read("", "/projects/ada%2Fhello").await["http_url_to_repo"].as_str().unwrap().to_owned();
    for (number, url) in
        [&url, url.trim_end_matches(".git"), &format!("{}/", url.trim_end_matches(".git"))].iter().enumerate()
    {
        let folder = Folder::new();
        folder.git(&["-c", &format!("protocol.version={number}"), "clone", "-q", url, "."]).await;
        assert!(std::fs::read_to_string(folder.path().join("src/main.rs")).unwrap().contains("hello"), "{url}");
        assert_eq!(
            folder.git(&["branch", "-r"]).await,
            "  origin/HEAD -> origin/main\n  origin/louder\n  origin/main\n"
        );
        folder.git(&["fetch", "-q", "origin", "refs/merge-requests/1/head:one"]).await;
        assert_eq!(folder.id("one").await, folder.id("origin/louder").await);
    }
    let shop = clone(&server, "bo", "acme/web/shop.git").await;
    assert!(shop.path().join("README.md").exists());
    let folder = Folder::new();
    folder.git(&["clone", "-q", "--depth=1", "--filter=blob:none", "--no-checkout", &url, "."]).await;
    assert_eq!(folder.git(&["rev-list", "--count", "HEAD"]).await, "1\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_see_no_internal_refs_and_can_fetch_any_commit() {
    if !has_git() {
        return;
    }
    let server = server().await;
    let listed = Folder::new().git(&["ls-remote", &address(&server, "", "ada/hello")]).await;
    let names: Vec<&str> = listed.lines().filter_map(|line| line.split('\t').nth(1)).collect();
    assert_eq!(names, ["HEAD", "refs/heads/louder", "refs/heads/main", "refs/merge-requests/1/head"]);
    let folder = clone(&server, "", "ada/hello").await;
    let first = folder.id("origin/louder").await;
    let other = Folder::new();
    other.git(&["init", "-q"]).await;
    other.git(&["fetch", "-q", &address(&server, "", "ada/hello"), &first]).await;
    assert_eq!(other.id("FETCH_HEAD").await, first);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_push_does_what_a_commit_does() {
    if !has_git() {
        return;
    }
    let server = server().await;
    let folder = clone(&server, "bo", "ada/hello").await;
    folder.git(&["checkout", "-q", "louder"]).await;
    folder.commit("more.txt", "more").await;
    let said = folder.git(&["push", "-q", "origin", "louder"]).await;
    let base = &server.running.base_url;
    assert!(
        said.contains(&format!(
            "remote: View merge request for louder:        \nremote:   {base}/ada/hello/-/merge_requests/1 "
        )),
        "{said}"
    );
    let head = folder.id("HEAD").await;
    assert_eq!(server.read("ada", "/projects/ada%2Fhello/repository/branches/louder").await["commit"]["id"], *head);
    let request = server.read("ada", "/projects/ada%2Fhello/merge_requests/1").await;
    assert_eq!(request["sha"], *head);
    let versions = server.read("ada", "/projects/ada%2Fhello/merge_requests/1/versions").await;
    assert_eq!(each(&versions, "head_commit_sha")[0], head);
    assert_eq!(versions.as_array().unwrap().len(), 2);
    folder.git(&["fetch", "-q", "origin", "refs/merge-requests/1/head"]).await;
    assert_eq!(folder.id("FETCH_HEAD").await, head);

    // A new branch and a tag, and their removal.
    folder.git(&["checkout", "-q", "-b", "feature/ä"]).await;
    folder.git(&["tag", "-a", "v1", "-m", "One"]).await;
    let said = folder.git(&["push", "origin", "HEAD", "v1"]).await;
    let new = format!("{base}/ada/hello/-/merge_requests/new?merge_request%5Bsource_branch%5D=feature%2F%C3%A4");
    assert!(said.contains("remote: To create a merge request for feature/ä, visit:") && said.contains(&new), "{said}");
    assert_eq!(server.read("", "/projects/ada%2Fhello/repository/tags/v1").await["message"], "One");
    folder.git(&["push", "-q", "--delete", "origin", "feature/ä", "v1"]).await;
    assert_eq!(server.get("", "/projects/ada%2Fhello/repository/tags/v1").await.status(), 404);
    // Notes are neither branches nor tags.
    folder.git(&["notes", "add", "-m", "Noted", "HEAD"]).await;
    folder.git(&["push", "-q", "origin", "refs/notes/commits"]).await;
    folder.git(&["fetch", "-q", "origin", "refs/notes/*:refs/other/*"]).await;
    assert_eq!(folder.id("refs/other/commits").await, folder.id("refs/notes/commits").await);
    folder.git(&["push", "-q", "--delete", "origin", "refs/notes/commits"]).await;
    // History is rewritten, and what the API commits is fetched.
    folder.git(&["checkout", "-q", "louder"]).await;
    folder.git(&["reset", "-q", "--hard", "HEAD~1"]).await;
    assert!(folder.fails(&["push", "origin", "louder"]).await.contains("non-fast-forward"));
    folder.git(&["push", "-q", "-f", "origin", "louder"]).await;
    add_file(&server, "ada", "/projects/ada%2Fhello", "louder").await;
    assert!(folder.fails(&["push", "origin", "HEAD~1:louder"]).await.contains("rejected"));
    folder.git(&["pull", "-q", "--ff-only", "origin", "louder"]).await;
    assert!(folder.path().join("new").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_push_starts_pipelines_and_merges_what_it_brings() {
    if !has_git() {
        return;
    }
    let server = server().await;
    let folder = clone(&server, "ada", "ada/hello").await;
    let pipelines = || server.read("ada", "/projects/ada%2Fhello/pipelines?per_page=100");
    let before = pipelines().await.as_array().unwrap().len();
    folder.commit(".gitlab-ci.yml", "job: { script: make }").await;
    folder.git(&["push", "-q", "origin", "HEAD:main"]).await;
    let all = pipelines().await;
    assert_eq!((&all[0]["ref"], &all[0]["source"]), (&"main".into(), &"push".into()));
    folder.commit("x", "x").await;
    folder.git(&["push", "-q", "-o", "ci.skip", "origin", "HEAD:main"]).await;
    assert_eq!(pipelines().await[0]["status"], "skipped");
    // Many refs do not start as many pipelines.
    for number in 0..6 {
        folder.git(&["tag", &format!("t{number}")]).await;
    }
    folder.git(&["push", "-q", "--tags", "origin"]).await;
    assert_eq!(pipelines().await.as_array().unwrap().len(), before + 2 + 4);
    folder.git(&["merge", "-q", "--no-edit", "origin/louder"]).await;
    folder.git(&["push", "-q", "origin", "HEAD:main"]).await;
    let request = server.read("ada", "/projects/ada%2Fhello/merge_requests/1").await;
    assert_eq!((&request["state"], &request["merged_by"]["username"]), (&"merged".into(), &"ada".into()));
    let changes = server.read("ada", "/projects/ada%2Fhello/merge_requests/1/changes").await;
    assert_eq!(each(&changes["changes"], "new_path"), ["src/main.rs"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_push_fills_an_empty_project() {
    if !has_git() {
        return;
    }
    let server = server().await;
    json(server.post("ada", "/projects", &[("name", "fresh")]).await, 201).await;
    let url = address(&server, "ada", "ada/fresh.git");
    let folder = clone(&server, "ada", "ada/fresh").await;
    folder.git(&["checkout", "-q", "-b", "trunk"]).await;
    folder.commit("a", "a").await;
    folder.git(&["push", "-q", &url, "trunk", "trunk:other"]).await;
    let project = server.read("ada", "/projects/ada%2Ffresh").await;
    assert_eq!(project["default_branch"], "trunk");
    assert_eq!(clone(&server, "ada", "ada/fresh").await.git(&["log", "--format=%s"]).await, "Write a\n");
    // A repository with many objects and refs.
    for number in 0..300 {
        std::fs::write(folder.path().join(format!("{number}")), format!("{number}\n").repeat(50)).unwrap();
    }
    folder.commit("b", "b").await;
    let head = folder.id("HEAD").await;
    let refs: String = (0..2_000).map(|number| format!("create refs/tags/t{number} {head}\n")).collect();
    std::fs::write(folder.path().join("refs"), refs).unwrap();
    let input = std::fs::File::open(folder.path().join("refs")).unwrap();
    let made = Command::new("git").args(["update-ref", "--stdin"]).current_dir(folder.path()).stdin(input).status();
    assert!(made.unwrap().success());
    folder.git(&["push", "-q", "--tags", &url, "trunk"]).await;
    let listed = Folder::new().git(&["ls-remote", "--tags", &url]).await;
    assert_eq!(listed.lines().count(), 2_000);
}

#[tokio::test(flavor = "multi_thread")]
async fn push_options_open_a_merge_request() {
    if !has_git() {
        return;
    }
    let server = server().await;
    let folder = clone(&server, "bo", "ada/hello").await;
    folder.git(&["checkout", "-q", "-b", "fix"]).await;
    folder.commit("fix.txt", "fixed").await;
    let options = ["create", "target=main", "title=Fix it", "draft", "label=one", "description=First\\nsecond"];
    let options: Vec<String> = options.iter().map(|option| format!("merge_request.{option}")).collect();
    let mut push = vec!["push"];
    options.iter().for_each(|option| push.extend(["-o", option]));
    let said = folder.git(&[&push[..], &["origin", "fix"]].concat()).await;
    assert!(said.contains("View merge request for fix:") && said.contains("/ada/hello/-/merge_requests/2"), "{said}");
    let request = server.read("ada", "/projects/ada%2Fhello/merge_requests/2").await;
    let of = |field: &str| request[field].as_str().unwrap_or_default().to_owned();
    assert_eq!([of("title"), of("source_branch"), of("description")], ["Draft: Fix it", "fix", "First\nsecond"]);
    assert_eq!((&request["author"]["username"], &request["labels"][0]), (&"bo".into(), &"one".into()));
    let said = folder.git(&push_with(&["merge_request.create", "merge_request.target=gone"], "HEAD:other")).await;
    let why = "Error encountered with push options 'merge_request.create' 'merge_request.target=gone': \
               Target branch ada/hello:gone does not exist";
    assert!(said.contains(why) && said.contains("To create a merge request for other"), "{said}");
}

/// Returns the arguments that push a ref with options.
fn push_with<'a>(options: &[&'a str], name: &'a str) -> Vec<&'a str> {
    let options = options.iter().flat_map(|option| ["-o", *option]);
    ["push"].into_iter().chain(options).chain(["origin", name]).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn push_options_change_an_open_merge_request() {
    if !has_git() {
        return;
    }
    let server = server().await;
    let project = "/projects/ada%2Fhello";
    json(server.post("ada", &format!("{project}/milestones"), &[("title", "Next")]).await, 201).await;
    let folder = clone(&server, "bo", "ada/hello.git").await;
    folder.git(&["checkout", "-q", "-b", "mend-long_lines"]).await;
    folder.commit("fix.txt", "fixed").await;
    folder.commit("more.txt", "more").await;
    let said = folder.git(&push_with(&["merge_request.label=one"], "HEAD")).await;
    assert!(
        said.contains(
            "'merge_request.label=one': A merge_request.create push option is required to create a merge \
                       request for branch mend-long_lines"
        ),
        "{said}"
    );
    // An unknown option, such as one of a later server, asks for nothing.
    let said = folder.git(&push_with(&["merge_request.nothing=x", "other"], "HEAD:again")).await;
    assert!(!said.contains("WARNINGS"), "{said}");

    folder.commit("fix.txt", "fixed well").await;
    folder.git(&push_with(&["mr.create", "mr.label=one", "mr.label=two", "mr.assign=ada"], "HEAD")).await;
    let request = format!("{project}/merge_requests/2");
    let shown = server.read("bo", &request).await;
    assert_eq!((&shown["title"], &shown["labels"]), (&"Mend long lines".into(), &serde_json::json!(["one", "two"])));
    assert_eq!(each(&shown["assignees"], "username"), ["ada", "bo"]);

    folder.git(&["commit", "-q", "--allow-empty", "-m", "Mend more"]).await;
    let options = [
        "title=Mend it",
        "draft",
        "description=",
        "unlabel=one",
        "label=three",
        "milestone=Next",
        "unassign=bo",
        "remove_source_branch",
        "squash",
        "target=louder",
    ];
    let options: Vec<String> = options.iter().map(|option| format!("merge_request.{option}")).collect();
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let said = folder.git(&push_with(&options, "HEAD")).await;
    assert!(said.contains("View merge request for mend-long_lines:") && !said.contains("WARNINGS"), "{said}");
    let shown = server.read("bo", &request).await;
    for (field, value) in [
        ("title", serde_json::json!("Draft: Mend it")),
        ("labels", serde_json::json!(["two", "three"])),
        ("target_branch", "louder".into()),
        ("force_remove_source_branch", true.into()),
        ("squash", true.into()),
    ] {
        assert_eq!(shown[field], value, "{field}");
    }
    assert_eq!((&shown["milestone"]["title"], &shown["assignee"]["username"]), (&"Next".into(), &"ada".into()));

    let said = folder.git(&push_with(&["merge_request.target_project=acme/web/shop"], "HEAD:third")).await;
    assert!(said.contains("Projects ada/hello and acme/web/shop are not in the same network"), "{said}");
    let said = folder.git(&push_with(&["merge_request.target_project=acme/nothing"], "HEAD:fourth")).await;
    assert!(said.contains("': User access was denied"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_push_to_a_fork_opens_a_merge_request_into_its_origin() {
    if !has_git() {
        return;
    }
    let server = server().await;
    let form = [("path", "mine"), ("name", "Mine")];
    json(server.post("eve", "/projects/ada%2Fhello/fork", &form).await, 201).await;
    let folder = clone(&server, "eve", "eve/mine.git").await;
    std::fs::write(folder.path().join("x"), "x").unwrap();
    folder.git(&["add", "."]).await;
    folder.git(&["commit", "-q", "-m", "Add x", "-m", "It was missing."]).await;
    let said = folder.git(&push_with(&["merge_request.create"], "HEAD:x")).await;
    assert!(said.contains("/ada/hello/-/merge_requests/2"), "{said}");
    let shown = server.read("eve", "/projects/ada%2Fhello/merge_requests/2").await;
    assert_eq!((&shown["title"], &shown["description"]), (&"Add x".into(), &"It was missing.".into()));
    // Without a commit of its own, it is a draft.
    let options = ["merge_request.create", "merge_request.target_project=eve/mine"];
    let said = folder.git(&push_with(&options, "origin/main:refs/heads/same-as_main")).await;
    assert!(said.contains("/eve/mine/-/merge_requests/1"), "{said}");
    let shown = server.read("eve", "/projects/eve%2Fmine/merge_requests/1").await;
    assert_eq!((&shown["title"], &shown["draft"]), (&"Draft: Same as main".into(), &true.into()));
}

#[tokio::test(flavor = "multi_thread")]
async fn push_options_reach_the_pipeline() {
    if !has_git() {
        return;
    }
    let server = server().await;
    let folder = clone(&server, "ada", "ada/hello.git").await;
    let configuration = "spec:\n  inputs:\n    stage: { default: none }\n    loud: { type: boolean, default: false }\n---\n\
                         pack-$[[ inputs.stage ]]: { script: 'echo $[[ inputs.loud ]]' }\n\
                         ship: { script: ship, rules: [{ if: $SHIP == \"now\" }] }\n";
    folder.git(&["checkout", "-q", "-b", "fix"]).await;
    folder.commit(".gitlab-ci.yml", configuration).await;
    let options = [
        "ci.variable=SHIP=now",
        "ci.variable=A.B=ignored",
        "ci.input=stage=7",
        "ci.input=loud=true",
        "mr.create",
        "mr.auto_merge",
    ];
    let said = folder.git(&push_with(&options, "HEAD")).await;
    let project = "/projects/ada%2Fhello";
    let pipelines = server.read("ada", &format!("{project}/pipelines?ref=fix")).await;
    let pipeline = format!("{project}/pipelines/{}", pipelines[0]["id"]);
    let jobs = server.read("ada", &format!("{pipeline}/jobs")).await;
    let mut names = each(&jobs, "name");
    names.sort_unstable();
    assert_eq!(names, ["pack-7", "ship"], "{said}");
    let variables = server.read("ada", &format!("{pipeline}/variables")).await;
    assert_eq!((each(&variables, "key"), each(&variables, "value")), (vec!["SHIP"], vec!["now"]));
    let request = server.read("ada", &format!("{project}/merge_requests/2")).await;
    assert_eq!(request["merge_when_pipeline_succeeds"], true, "{said}");

    let said = folder.git(&push_with(&["ci.input=nothing=7"], "HEAD:other")).await;
    let pipelines = server.read("ada", &format!("{project}/pipelines?ref=other")).await;
    let failed = server.read("ada", &format!("{project}/pipelines/{}", pipelines[0]["id"])).await;
    assert!(failed["yaml_errors"].as_str().unwrap_or_default().contains("nothing"), "{said}: {failed}");
    let options = ["mr.create", "mr.merge_when_pipeline_succeeds", "ci.skip"];
    let said = folder.git(&push_with(&options, "HEAD:third")).await;
    assert!(said.contains("!3 cannot be merged when its pipeline succeeds"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn addresses_without_git_are_redirected() {
    let server = server().await;
    let client = reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none()).build().unwrap();
    let base = &server.running.base_url;
    for (path, status, location) in [
        ("ada/hello/info/refs?service=git-upload-pack", 301, "ada/hello.git/info/refs?service=git-upload-pack"),
        (
            "acme/web/shop/info/refs?service=git-receive-pack",
            301,
            "acme/web/shop.git/info/refs?service=git-receive-pack",
        ),
        ("ada/nothing/info/refs", 301, "ada/nothing.git/info/refs"),
        ("ada/hello/info/refs?service=git-upload-archive", 404, ""),
        ("ada/hel%0D%0Alo/info/refs", 404, ""),
    ] {
        let reply = client.get(format!("{base}/{path}")).basic_auth("x", Some("nobodys")).send().await.unwrap();
        let expected = if location.is_empty() { "absent".to_owned() } else { format!("{base}/{location}") };
        assert_eq!((reply.status().as_u16(), header(&reply, "location")), (status, &*expected), "{path}");
    }
    if has_git() {
        let said = Folder::new().git(&["ls-remote", &address(&server, "bo", "acme/web/shop")]).await;
        assert!(said.contains("refs/heads/main") && said.contains("redirecting to"), "{said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rights_are_those_of_the_project_and_the_token() {
    if !has_git() {
        return;
    }
    let server = server().await;
    let folder = clone(&server, "bo", "acme/web/shop").await;
    folder.commit("x", "x").await;
    let (missing, denied) = ("could not be found or you don't have permission to view it", "could not read Username");
    let (bad, no_code) = ("Authentication failed", "You are not allowed to download code from this project.");
    let no_push = "You are not allowed to push code to this project.";
    let token = |user: &str| format!("oauth2:{}@", server.token(user));
    for (credentials, project, fetch, push) in [
        (String::new(), "ada/hello", "", denied),
        (String::new(), "acme/web/shop", denied, denied),
        (String::new(), "acme/web/nothing", denied, denied),
        // A client sends credentials only where they are asked for.
        ("x:nobodys@".into(), "ada/hello", "", bad),
        ("x:nobodys@".into(), "acme/web/shop", bad, bad),
        (token("ada"), "acme/web/shop", "", ""),
        (token("bo"), "acme/web/shop", "", ""),
        (token("eve"), "acme/web/shop", no_code, no_push),
        (token("eve"), "ada/hello", "", no_push),
        (token("eve"), "ada/nothing", missing, missing),
        (token("root"), "acme/web/shop", "", ""),
    ] {
        let url = address_with(&server, &credentials, project);
        for (arguments, expected) in [(&["ls-remote", &url][..], fetch), (&["push", &url, "HEAD:refs/heads/by"], push)]
        {
            let done = folder.run(arguments).await;
            let said = text(&done);
            let fits = if expected.is_empty() {
                done.status.success()
            } else {
                !done.status.success() && said.contains(expected)
            };
            assert!(fits, "{arguments:?}: {expected:?} expected: {said}");
        }
        folder.run(&["push", "-q", "--delete", &address(&server, "root", project), "by"]).await;
    }
}

/// A user of each kind of token, and projects that are archived or whose default branch is protected.
const TOKENS: &str = r#"
now = "2026-11-20T16:00:00Z"
users = [
    { username = "root", admin = true },
    { username = "ada", token = "of-ada" },
    { username = "late", token = "of-late", token_expires = "2026-11-20T16:00:05Z" },
    { username = "out", token = "of-out", blocked = true },
    { username = "self", token = "of-self", token_scopes = ["read_user"] },
    { username = "reader", token = "of-reader", token_scopes = ["read_api"] },
    { username = "code", token = "of-code", token_scopes = ["read_repository"] },
    { username = "writer", token = "of-writer", token_scopes = ["write_repository"] },
    { username = "api", token = "of-api", token_scopes = ["api"] },
]

[[projects]]
path = "ada/hello"
visibility = "internal"
members = { late = "developer", out = "developer", self = "developer", reader = "developer", code = "developer", writer = "developer", api = "developer" }
files = """
-- a --
a
"""
script = """
from 2026-11-02
to 2026-11-20
ada: Begin
  + a
"""

[[projects]]
path = "ada/old"
archived = true
visibility = "public"
files = """
-- a --
a
"""
script = """
from 2026-11-02
to 2026-11-20
ada: Begin
  + a
"""

[[runners]]
name = "here"
shared = true
contacted = "1m"

[[scripts]]
name = "talks"
text = "@1 my token is {token}\n@60 done"

[[templates]]
name = "one"
jobs = [{ name = "work", stage = "a", script = "talks" }]

[[schedules]]
project = "ada/hello"
refs = ["main"]
template = "one"
user = "ada"
pause = 10000
head_start = 10
"#;

#[tokio::test(flavor = "multi_thread")]
async fn scopes_expiry_and_blocked_users_count() {
    if !has_git() {
        return;
    }
    let server = Server::of(TOKENS, &Default::default()).await;
    let folder = clone(&server, "ada", "ada/hello").await;
    let (denied, up, down) =
        ("Access denied", "You are not allowed to upload code.", "You are not allowed to download code.");
    let trace = server.get("ada", "/projects/1/jobs/1/trace").await.text().await.unwrap();
    let job = trace.split("my token is ").nth(1).unwrap_or_else(|| panic!("{trace}")).trim().to_owned();
    for (token, fetch, push) in [
        ("of-late", denied, denied),
        ("of-out", denied, denied),
        ("of-self", down, up),
        ("of-reader", "", up),
        ("of-code", "", up),
        ("of-writer", "", ""),
        ("of-api", "", ""),
        (&*job, "", up),
    ] {
        let url = address_with(&server, &format!("any:{token}@"), "ada/hello");
        for (arguments, expected) in
            [(&["ls-remote", &url][..], fetch), (&["push", "-f", &url, "HEAD:refs/heads/by"], push)]
        {
            let done = folder.run(arguments).await;
            let said = text(&done);
            let fits = if expected.is_empty() {
                done.status.success()
            } else {
                !done.status.success() && said.contains(expected)
            };
            assert!(fits, "{arguments:?}: {expected:?} expected: {said}");
        }
    }
    let old = clone(&server, "", "ada/old").await;
    let said = old.fails(&["push", &address(&server, "ada", "ada/old"), "HEAD:new"]).await;
    assert!(said.contains("You are not allowed to push code to this project."), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn protected_branches_and_other_refs_are_refused_in_words() {
    if !has_git() {
        return;
    }
    let data = tempfile::tempdir().unwrap();
    let server = server_in(data.path()).await;
    let folder = clone(&server, "bo", "acme/web/shop").await;
    folder.commit("x", "x").await;
    let (ada, bo) = (address(&server, "ada", "acme/web/shop"), address(&server, "bo", "acme/web/shop"));
    folder.git(&["push", "-q", &bo, "HEAD:mine"]).await;
    folder.git(&["push", "-q", &ada, "HEAD:release/1"]).await;
    let rule = [("name", "v*")];
    json(server.post("ada", "/projects/acme%2Fweb%2Fshop/protected_tags", &rule).await, 201).await;
    folder.git(&["push", "-q", &ada, "HEAD:refs/tags/v1"]).await;
    folder.git(&["checkout", "-q", "--orphan", "alone"]).await;
    folder.commit("y", "y").await;
    let hash = format!("HEAD:refs/heads/{}", "ab".repeat(20));
    for (url, refspec, why) in [
        (&bo, "HEAD~0:main", "You are not allowed to push code to protected branches on this project."),
        (&bo, "HEAD:release/2", "You are not allowed to create protected branches on this project."),
        (&bo, ":release/1", "Only a project maintainer or owner can delete a protected branch."),
        (&ada, ":release/1", "You can only delete protected branches using the web interface."),
        (&ada, ":main", "The default branch of a project cannot be deleted."),
        (&ada, "+HEAD:main", "You are not allowed to force push code to a protected branch on this project."),
        (&ada, "HEAD:refs/for/main", "You cannot push to refs/for/main."),
        (&ada, "HEAD:refs/merge-requests/1/head", "You cannot push to refs/merge-requests/1/head."),
        (&ada, "HEAD:refs/labscope/x", "You cannot push to refs/labscope/x."),
        // Git would read other objects than their names say.
        (&ada, "HEAD:refs/replace/abababababababababababababababababababab", "You cannot push to refs/replace/"),
        // The folders of the server where names have no case.
        (&ada, "HEAD:refs/MERGE-REQUESTS/1/head", "You cannot push to refs/MERGE-REQUESTS/1/head."),
        (&ada, "HEAD:refs/Labscope/x", "You cannot push to refs/Labscope/x."),
        (&ada, "HEAD:refs/Heads/main", "You cannot push to refs/Heads/main."),
        (&ada, "HEAD:refs/h\u{e9}ads/main", "You cannot push to refs/h"),
        (&ada, "HEAD:refs/heads/HEAD", "refs/heads/HEAD is not a valid name."),
        (&ada, "HEAD:refs/heads/@", "refs/heads/@ is not a valid name."),
        (&ada, "HEAD:refs/tags/HEAD", "refs/tags/HEAD is not a valid name."),
        (&ada, &hash, "You cannot create a branch with a SHA-1 or SHA-256 branch name."),
        (&ada, "HEAD:refs/tags/main", "You cannot use default branch name to create a tag"),
        (&bo, "HEAD:refs/tags/v2", "You are not allowed to create this tag as it is protected."),
        (&ada, "HEAD:refs/tags/v1", "Protected tags cannot be updated."),
        (&bo, ":refs/tags/v1", "Only a project maintainer or owner can delete a protected tag."),
        (&ada, ":refs/tags/v1", "You can only delete protected tags using the web interface."),
    ] {
        let said = folder.fails(&["push", "-f", url, refspec]).await;
        assert!(said.contains(&format!("remote: GitLab: {why}")) || said.contains(why), "{refspec}: {said}");
        assert!(said.contains("(pre-receive hook declined)"), "{refspec}: {said}");
    }
    // One refused ref refuses the whole push.
    folder.fails(&["push", "-f", &bo, "HEAD:fine", "HEAD:main"]).await;
    let branches = server.read("bo", "/projects/acme%2Fweb%2Fshop/repository/branches").await;
    assert_eq!(each(&branches, "name"), ["main", "mine", "release/1"]);
    // Names that cannot exist beside others.
    let said = folder.fails(&["push", &bo, "HEAD:mine/too", "HEAD:fine"]).await;
    assert!(said.contains("[remote rejected] HEAD -> mine/too (failed to update ref)"), "{said}");
    assert!(said.contains("[new branch]      HEAD -> fine"), "{said}");
    let said = folder.fails(&["push", "--atomic", &bo, "HEAD:mine/too", "HEAD:fine2"]).await;
    assert!(said.contains("atomic push failure"), "{said}");
    assert_eq!(server.get("bo", "/projects/acme%2Fweb%2Fshop/repository/branches/fine2").await.status(), 404);
    let said = folder.run(&["push", &bo, "HEAD:twice", "HEAD:twice/again"]).await;
    assert!(text(&said).contains("HEAD -> twice/again (failed to update ref)"), "{}", text(&said));
    // What is in the way goes first.
    folder.git(&["push", "-q", &bo, ":twice", "HEAD:twice/again"]).await;
    for name in ["HEAD", "@"] {
        let form = [("branch", name), ("ref", "main")];
        json(server.post("bo", "/projects/acme%2Fweb%2Fshop/repository/branches", &form).await, 400).await;
    }
    // No objects of refused pushes are left.
    assert_eq!(leftovers(data.path()), Vec::<PathBuf>::new());
}

/// Returns the folders of objects that were not accepted, in the data folder of a server.
fn leftovers(data: &Path) -> Vec<PathBuf> {
    let repositories = std::fs::read_dir(data.join("repositories")).unwrap().flatten();
    let objects =
        repositories.flat_map(|folder| std::fs::read_dir(folder.path().join("objects")).into_iter().flatten());
    let names = objects.flatten().map(|entry| entry.path());
    names.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with("tmp_")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn commits_of_a_fork_are_fetched_from_the_target() {
    if !has_git() {
        return;
    }
    let server = server().await;
    json(server.post("eve", "/projects/ada%2Fhello/fork", &[]).await, 201).await;
    let folder = clone(&server, "eve", "eve/hello").await;
    folder.git(&["checkout", "-q", "-b", "mine"]).await;
    folder.commit("mine.txt", "mine").await;
    folder.git(&["push", "-q", "origin", "mine"]).await;
    let target = server.read("eve", "/projects/ada%2Fhello").await["id"].to_string();
    let form =
        [("source_branch", "mine"), ("target_branch", "main"), ("title", "Mine"), ("target_project_id", &target)];
    let request = json(server.post("eve", "/projects/eve%2Fhello/merge_requests", &form).await, 201).await;
    let name = format!("refs/merge-requests/{}/head", request["iid"]);
    let other = clone(&server, "", "ada/hello").await;
    other.git(&["fetch", "-q", "origin", &name]).await;
    assert_eq!(other.id("FETCH_HEAD").await, folder.id("HEAD").await);
    folder.commit("mine.txt", "more").await;
    folder.git(&["push", "-q", "origin", "mine"]).await;
    other.git(&["fetch", "-q", "origin", &name]).await;
    assert_eq!(other.id("FETCH_HEAD").await, folder.id("HEAD").await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_local_repository_is_cloned_and_never_pushed_to() {
    if !has_git() {
        return;
    }
    let source = Folder::new();
    source.git(&["init", "-q"]).await;
    source.commit("a", "a").await;
    let server = Server::over(source.path().to_owned()).await;
    let path = server.running.project.clone().unwrap();
    let folder = clone(&server, "ada", &path).await;
    assert_eq!(folder.id("HEAD").await, source.id("HEAD").await);
    folder.commit("b", "b").await;
    let said = folder.fails(&["push", "origin", "HEAD:new"]).await;
    let origin = source.path().canonicalize().unwrap();
    assert!(
        said.contains(&format!("This server shows the repository at {} and never writes to it.", origin.display())),
        "{said}"
    );
}

/// Sends the request of a push.
async fn push(server: &Server, user: &str, body: Vec<u8>) -> reqwest::Response {
    let url = format!("{}/ada/hello.git/git-receive-pack", server.running.base_url);
    let request = reqwest::Client::builder().no_proxy().build().unwrap().post(url);
    let request = request.basic_auth("x", Some(server.token(user))).body(body);
    request.send().await.unwrap()
}

fn line(text: &str) -> String {
    format!("{:04x}{text}", text.len() + 4)
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_pushes_are_refused_and_leave_nothing() {
    if !has_git() {
        return;
    }
    let data = tempfile::tempdir().unwrap();
    let server = server_in(data.path()).await;
    let (zero, id) = ("0".repeat(40), "ab".repeat(20));
    let head = |name: &str| line(&format!("{zero} {id} {name}\0 report-status side-band-64k")) + "0000";
    let pack = |bytes: &[u8]| [head("refs/heads/x").as_bytes(), bytes].concat();
    let lying = b"PACK\0\0\0\x02\xff\xff\xff\xff".to_vec();
    let huge = b"PACK\0\0\0\x02\0\0\0\x01\xb0\xff\xff\xff\xff\xff\xff\x7f".to_vec();
    for (body, status, expected) in [
        (Vec::new(), 400, "breaks off"),
        (b"0000".to_vec(), 200, ""),
        (b"zzzz".to_vec(), 400, "breaks off"),
        (line("x").into_bytes(), 400, "is not an update of a ref"),
        (pack(b""), 200, "unpack index-pack abnormal exit"),
        (pack(b"PACK"), 200, "unpack index-pack abnormal exit"),
        (pack(&lying), 200, "unpack index-pack abnormal exit"),
        (pack(&huge), 200, "unpack index-pack abnormal exit"),
        (pack(&vec![0; 1 << 20]), 200, "unpack index-pack abnormal exit"),
        // A pack without objects, for a ref to an object that does not exist.
        (pack(&empty_pack()), 200, "missing necessary objects"),
        ([head("refs/heads/../x").as_bytes(), &empty_pack()].concat(), 200, "not a valid name"),
        ([head("refs/heads/x\u{1}").as_bytes(), &empty_pack()].concat(), 200, "not a valid name"),
        ([head("HEAD").as_bytes(), &empty_pack()].concat(), 200, "You cannot push to HEAD."),
    ] {
        let reply = push(&server, "bo", body.clone()).await;
        assert_eq!(header(&reply, "cache-control"), "no-cache");
        let (got, text) = (reply.status().as_u16(), reply.bytes().await.unwrap());
        let text = String::from_utf8_lossy(&text);
        assert!(got == status && text.contains(expected), "{:?}: {got} {text}", String::from_utf8_lossy(&body));
    }
    let compressed = reqwest::Client::builder().no_proxy().build().unwrap();
    let url = format!("{}/ada/hello.git/git-receive-pack", server.running.base_url);
    for (encoding, status) in [("gzip", 400), ("br", 415)] {
        let request = compressed.post(&url).basic_auth("x", Some(server.token("bo")));
        let reply = request.header("content-encoding", encoding).body("not compressed").send().await.unwrap();
        assert_eq!(reply.status(), status, "{encoding}");
    }
    assert_eq!(leftovers(data.path()), Vec::<PathBuf>::new());
    assert_eq!(server.get("ada", "/projects/ada%2Fhello/repository/branches/x").await.status(), 404);
}

fn empty_pack() -> Vec<u8> {
    let mut pack = b"PACK\0\0\0\x02\0\0\0\0".to_vec();
    let sum = <sha1::Sha1 as sha1::Digest>::digest(&pack);
    pack.extend_from_slice(&sum);
    pack
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fetch_of_nonsense_is_no_failure_of_the_server() {
    if !has_git() {
        return;
    }
    let server = server().await;
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    for version in ["", "version=2", "version=2\u{7f}", "version=99:x=y"] {
        for body in [
            "",
            "0000",
            "zzzz",
            "0032want abababababababababababababababababababab\n00000009done\n",
            "0014command=ls-refs\n",
        ] {
            let url = format!("{}/ada/hello.git/git-upload-pack", server.running.base_url);
            let mut request = client.post(url).body(body);
            if let Ok(value) = reqwest::header::HeaderValue::from_str(version) {
                request = request.header("git-protocol", value);
            }
            let reply = request.send().await.unwrap();
            assert!(reply.status().as_u16() < 500, "{version:?} {body:?}: {}", reply.status());
            // The end of the reply arrives, too.
            reply.bytes().await.unwrap_or_else(|error| panic!("{version:?} {body:?}: {error}"));
        }
    }
    for (method, path, status) in [
        (Method::GET, "ada/hello.git/info/refs", 401),
        (Method::GET, "ada/hello.git/info/refs?service=git-upload-archive", 401),
        (Method::HEAD, "ada/hello.git/info/refs?service=git-upload-pack", 403),
        (Method::HEAD, "acme/web/shop.git/info/refs?service=git-upload-pack", 403),
        (Method::GET, "info/refs?service=git-upload-pack", 404),
        (Method::GET, "%FF/x/info/refs?service=git-upload-pack", 400),
        (Method::POST, "ada/hello.git/info/refs", 405),
        (Method::GET, "ada/hello.git/git-upload-pack", 405),
        (Method::GET, "ada/hello/git-upload-pack", 404),
        (Method::POST, "ada/hello/git-upload-pack", 404),
        (Method::POST, "ada/hello/git-receive-pack", 404),
        (Method::GET, "ada/hello.git/HEAD", 404),
        (Method::GET, "ada/hello.git/objects/info/packs", 404),
    ] {
        let reply = client.request(method, format!("{}/{path}", server.running.base_url)).send().await.unwrap();
        let challenge = header(&reply, "www-authenticate") == "Basic realm=\"GitLab\"";
        assert_eq!((reply.status().as_u16(), challenge), (status, status == 401), "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pushes_are_limited_in_size_and_time() {
    if !has_git() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("world.toml");
    std::fs::write(&file, WORLD).unwrap();
    let clock = Clock::new(|| "2026-11-20T16:00:10Z".parse().unwrap());
    let limits = Limits { push_bytes: 100_000, push: Duration::from_millis(1_500), ..Limits::default() };
    let server = Server::with(Options { world: WorldKind::File(file), limits, clock, ..Options::default() }).await;
    let clone = clone(&server, "bo", "ada/hello").await;
    clone.commit("small", "small").await;
    clone.git(&["push", "-q", "origin", "HEAD:small"]).await;
    let noise: Vec<u8> = (0..400_000_u64)
        .map(|n| (n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8 ^ (n.wrapping_mul(n) >> 3) as u8)
        .collect();
    std::fs::write(clone.path().join("large"), noise).unwrap();
    clone.commit("other", "x").await;
    let said = clone.fails(&["push", "origin", "HEAD:large"]).await;
    assert!(said.contains("413"), "{said}");
    // A bomb: a few compressed bytes that are far too many.
    let mut bomb = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    std::io::Write::write_all(&mut bomb, &vec![b'0'; 50 << 20]).unwrap();
    let url = format!("{}/ada/hello.git/git-receive-pack", server.running.base_url);
    let request = reqwest::Client::builder().no_proxy().build().unwrap().post(url);
    let request = request.basic_auth("x", Some(server.token("bo"))).header("content-encoding", "gzip");
    assert_eq!(request.body(bomb.finish().unwrap()).send().await.unwrap().status(), 413);
    // Half a push: the client stops sending.
    let head = format!(
        "POST /ada/hello.git/git-receive-pack HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic {}\r\nContent-Length: 5000\r\n\r\n0000",
        base64(&format!("x:{}", server.token("bo")))
    );
    let answer = crate::routes::send(&server, &head).await;
    assert!(answer.starts_with("HTTP/1.1 408 Request Timeout\r\n"), "{answer}");
}

fn base64(text: &str) -> String {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD.encode(text)
}

/// Returns the number of processes `git NAME` in the repositories of a data folder.
fn processes(data: &Path, name: &str) -> usize {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let lines = entries.filter_map(|entry| std::fs::read_to_string(entry.path().join("cmdline")).ok());
    let data = data.to_string_lossy().into_owned();
    lines.filter(|line| line.split('\0').any(|word| word == name) && line.contains(&data)).count()
}

/// Waits until no process of git serves the repositories of a data folder.
async fn until_no_process(data: &Path) {
    let start = Instant::now();
    while processes(data, "upload-pack") > 0 {
        assert!(start.elapsed() < Duration::from_secs(60), "git is still running");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Starts a server with these limits, whose repositories are in the folder `data`.
async fn limited(data: &Path, limits: Limits) -> Server {
    let file = data.join("world.toml");
    std::fs::write(&file, world()).unwrap();
    let (world, data) = (WorldKind::File(file), Some(data.to_owned()));
    let clock = Clock::new(|| "2026-11-20T16:00:10Z".parse().unwrap());
    Server::with(Options { world, data, clock, limits, ..Options::default() }).await
}

/// Fills the public project `ada/large` with more than fits in all buffers. Returns the request of a client that fetches
/// all of it.
async fn fetch_of_large(server: &Server) -> String {
    json(server.post("ada", "/projects", &[("name", "large"), ("visibility", "public")]).await, 201).await;
    let folder = clone(server, "ada", "ada/large").await;
    let noise: Vec<u8> = (0..30_000_000_u64)
        .map(|n| (n.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(21) >> 37) as u8 ^ (n >> 9) as u8)
        .collect();
    std::fs::write(folder.path().join("large"), noise).unwrap();
    folder.commit("x", "x").await;
    folder.git(&["push", "-q", "origin", "HEAD:main"]).await;
    let body = line(&format!("want {} side-band-64k\n", folder.id("HEAD").await)) + "0000" + &line("done\n");
    let head = "POST /ada/large.git/git-upload-pack HTTP/1.1\r\nHost: localhost\r\n";
    format!("{head}Content-Length: {}\r\n\r\n{body}", body.len())
}

/// Sends a request, and reads nothing.
async fn unread(server: &Server, request: &str) -> TcpStream {
    let mut stream = TcpStream::connect(server.running.base_url.trim_start_matches("http://")).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_leaves_ends_the_process_that_serves_it() {
    if !has_git() || !cfg!(target_os = "linux") {
        return;
    }
    let data = tempfile::tempdir().unwrap();
    let server = server_in(data.path()).await;
    let fetch = fetch_of_large(&server).await;
    let mut stream = unread(&server, &fetch).await;
    assert_eq!(stream.read_u8().await.unwrap(), b'H');
    drop(stream);
    until_no_process(data.path()).await;
    // Also one that is silent: git waits for the other end of the pipe.
    let hello = server.read("ada", "/projects/ada%2Fhello").await["id"].to_string();
    let pipe = data.path().join("repositories").join(format!("{hello}.git/shallow"));
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let list = "GET /ada/hello.git/info/refs?service=git-upload-pack HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let stream = unread(&server, list).await;
    let start = Instant::now();
    while processes(data.path(), "upload-pack") == 0 {
        assert!(start.elapsed() < Duration::from_secs(60), "git has not started");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    drop(stream);
    until_no_process(data.path()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn fetches_that_nobody_reads_take_few_processes_and_keep_nobody_waiting() {
    if !has_git() || !cfg!(target_os = "linux") {
        return;
    }
    let data = tempfile::tempdir().unwrap();
    let limits = Limits { processes: 2, stall: Duration::from_millis(50), ..Limits::default() };
    let server = limited(data.path(), limits).await;
    let fetch = fetch_of_large(&server).await;
    let mut idle = Vec::new();
    let mut most = 0;
    for _ in 0..40 {
        idle.push(unread(&server, &fetch).await);
        most = most.max(processes(data.path(), "upload-pack"));
    }
    // Those who have a token wait for one stalled reader at most.
    let start = Instant::now();
    for user in ["ada", "bo"] {
        clone(&server, user, "ada/hello").await;
        most = most.max(processes(data.path(), "upload-pack"));
    }
    assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
    // A killed process may still be there when the next one starts.
    assert!((1..=4).contains(&most), "{most} processes");
    drop(idle);
    until_no_process(data.path()).await;
    clone(&server, "", "ada/hello").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn half_pushes_give_way_and_bodies_on_disk_are_limited() {
    if !has_git() {
        return;
    }
    let data = tempfile::tempdir().unwrap();
    let limits =
        Limits { bodies: 4, body_stall: Duration::from_millis(50), spooled_bytes: 2_000_000, ..Limits::default() };
    let server = limited(data.path(), limits).await;
    let head = |user: &str, length: usize| {
        let token = base64(&format!("x:{}", server.token(user)));
        format!(
            "POST /ada/hello.git/git-receive-pack HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic {token}\r\n\
             Content-Length: {length}\r\n\r\n"
        )
    };
    let mut half = Vec::new();
    for user in ["ada", "bo"].repeat(8) {
        half.push(unread(&server, &(head(user, 5_000) + "0000")).await);
    }
    let folder = clone(&server, "bo", "ada/hello").await;
    folder.commit("x", "x").await;
    folder.git(&["push", "-q", "origin", "HEAD:mine"]).await;
    // Those that gave way are told.
    let mut answer = vec![0; 28];
    half[0].read_exact(&mut answer).await.unwrap();
    assert_eq!(String::from_utf8_lossy(&answer), "HTTP/1.1 408 Request Timeout");
    drop(half);
    // Half a megabyte for each: the second half of the first one's bytes is for others.
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    std::io::Write::write_all(&mut packed, &vec![b'0'; 1_500_000]).unwrap();
    let url = format!("{}/ada/hello.git/git-receive-pack", server.running.base_url);
    let request = reqwest::Client::builder().no_proxy().build().unwrap().post(url);
    let request = request.basic_auth("x", Some(server.token("bo"))).header("content-encoding", "gzip");
    assert_eq!(request.body(packed.finish().unwrap()).send().await.unwrap().status(), 503);
    folder.git(&["push", "-q", "origin", "HEAD:other"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn others_write_while_many_refs_are_pushed() {
    const COUNT: usize = 4_000;
    if !has_git() {
        return;
    }
    let data = tempfile::tempdir().unwrap();
    let server = Arc::new(server_in(data.path()).await);
    let folder = clone(&server, "bo", "ada/hello").await;
    folder.git(&["tag", "-m", "Of old", "old"]).await;
    folder.git(&["push", "-q", "origin", "old"]).await;
    let (zero, id, tag) = ("0".repeat(40), folder.id("HEAD").await, folder.id("old").await);
    let body = |lines: &mut dyn Iterator<Item = String>, capabilities: &str| {
        let mut first = format!("\0report-status {capabilities}");
        let lines: String = lines.map(|text| line(&format!("{text}{}", std::mem::take(&mut first)))).collect();
        lines + "0000"
    };
    let name = |n: usize| if n.is_multiple_of(2) { format!("refs/heads/b/{n}") } else { format!("refs/tags/t/{n}") };
    let target = |n: usize| if n.is_multiple_of(2) { &id } else { &tag };
    let created = body(&mut (0..COUNT).map(|n| format!("{zero} {} {}", target(n), name(n))), "");
    let is_done = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let (other, done) = (server.clone(), is_done.clone());
    let writing = tokio::spawn(async move {
        let mut longest = Duration::ZERO;
        while !done.load(std::sync::atomic::Ordering::Relaxed) {
            let start = Instant::now();
            json(other.post("eve", "/projects/ada%2Fhello/issues", &[("title", "Meanwhile")]).await, 201).await;
            longest = longest.max(start.elapsed());
        }
        longest
    });
    let start = Instant::now();
    let report = push(&server, "bo", [created.as_bytes(), &empty_pack()].concat()).await.text().await.unwrap();
    let took = start.elapsed();
    is_done.store(true, std::sync::atomic::Ordering::Relaxed);
    let longest = writing.await.unwrap();
    assert_eq!(report.matches("ok refs/").count(), COUNT, "{}", &report[..200]);
    assert!(longest < took / 3, "{longest:?} of {took:?}");
    // Everything is there, as git reads it, and can be changed and deleted like other refs.
    let repository = data
        .path()
        .join("repositories")
        .join(format!("{}.git", server.read("ada", "/projects/ada%2Fhello").await["id"]));
    let list = || {
        let mut command = Command::new("git");
        command.args([
            "for-each-ref",
            "--format=%(objectname) %(*objecttype) %(refname)",
            "refs/heads/b",
            "refs/tags/t",
        ]);
        String::from_utf8(command.current_dir(&repository).output().unwrap().stdout).unwrap()
    };
    let text = list();
    assert_eq!(text.lines().count(), COUNT);
    assert!(
        text.contains(&format!("{id}  refs/heads/b/10\n")) && text.contains(&format!("{tag} commit refs/tags/t/11\n"))
    );
    assert!(!repository.join("refs/heads/b").exists(), "they are packed");
    folder.commit("x", "x").await;
    folder.git(&["push", "-q", "origin", "HEAD:b/10", ":b/12"]).await;
    let moved = folder.id("HEAD").await;
    let branch = server.read("ada", "/projects/ada%2Fhello/repository/branches/b%2F10").await;
    assert_eq!(branch["commit"]["id"], *moved);
    // All at once is for fewer.
    let atomic = body(&mut (0..600).map(|n| format!("{zero} {id} refs/heads/c/{n}")), "atomic side-band-64k");
    let report = push(&server, "bo", [atomic.as_bytes(), &empty_pack()].concat()).await.text().await.unwrap();
    assert!(report.contains("An atomic push can update 500 refs at most. Push without --atomic."), "{report}");
    let is_left = |n: &usize| ![10, 12].contains(n);
    let gone = body(&mut (0..COUNT).filter(is_left).map(|n| format!("{} {zero} {}", target(n), name(n))), "");
    let report = push(&server, "bo", gone.into_bytes()).await.text().await.unwrap();
    assert_eq!(report.matches("ok refs/").count(), COUNT - 2, "{}", &report[..200]);
    assert_eq!(list(), format!("{moved}  refs/heads/b/10\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_data_folder_can_have_a_relative_path() {
    if !has_git() {
        return;
    }
    let data = tempfile::tempdir().unwrap();
    let depth = std::env::current_dir().unwrap().components().count() - 1;
    let relative = Path::new(&"../".repeat(depth)).join(data.path().strip_prefix("/").unwrap());
    let server = server_in(&relative).await;
    let folder = clone(&server, "bo", "ada/hello").await;
    folder.commit("x", "x").await;
    folder.git(&["push", "-q", "origin", "HEAD:mine"]).await;
    // A failure that is none of the repository is not called damage: there is no program to list the refs with.
    let hello = server.read("ada", "/projects/ada%2Fhello").await["id"].to_string();
    let config = data.path().join("repositories").join(format!("{hello}.git/config"));
    let text = std::fs::read_to_string(&config).unwrap();
    std::fs::write(&config, text + "[transfer]\n\thideRefs\n").unwrap();
    let said = folder.fails(&["-c", "protocol.version=0", "fetch", "origin"]).await;
    assert!(said.contains("500") && !said.contains("damaged"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_push_to_the_target_of_a_merge_request_makes_a_version_that_keeps_both_ends() {
    if !has_git() {
        return;
    }
    let data = tempfile::tempdir().unwrap();
    let server = server_in(data.path()).await;
    let at = "/projects/ada%2Fhello";
    let folder = clone(&server, "ada", "ada/hello").await;
    let create = async |source: &str, target: &str| {
        let form = [("source_branch", source), ("target_branch", target), ("title", source)];
        json(server.post("ada", &format!("{at}/merge_requests"), &form).await, 201).await["iid"].to_string()
    };
    let versions = async |iid: &str| server.read("ada", &format!("{at}/merge_requests/{iid}/versions")).await;
    let count = async |iid: &str| versions(iid).await.as_array().unwrap().len();
    // A stack: the upper request is into the branch of the lower one.
    folder.git(&["checkout", "-q", "-b", "lower"]).await;
    folder.commit("lower", "1").await;
    let first = folder.id("HEAD").await;
    folder.git(&["checkout", "-q", "-b", "upper"]).await;
    folder.commit("upper", "1").await;
    folder.git(&["push", "-q", "origin", "lower", "upper"]).await;
    let (lower, upper) = (create("lower", "main").await, create("upper", "lower").await);
    let whole = versions(&upper).await[0].clone();
    let mut command = Command::new("sh");
    command.args(["-c", "git diff HEAD~1 HEAD | git patch-id --stable"]).current_dir(folder.path());
    let expected = String::from_utf8(command.output().unwrap().stdout).unwrap();
    assert_eq!(whole["patch_id_sha"].as_str(), expected.split(' ').next());
    // The lower branch goes on: nothing of the upper request has changed.
    folder.git(&["checkout", "-q", "lower"]).await;
    folder.commit("more", "1").await;
    folder.git(&["push", "-q", "origin", "lower"]).await;
    assert_eq!((count(&lower).await, count(&upper).await), (2, 1));
    // It is rewritten.
    folder.git(&["reset", "-q", "--hard", "main"]).await;
    folder.commit("lower", "2").await;
    folder.git(&["push", "-q", "-f", "origin", "lower"]).await;
    assert_eq!((count(&lower).await, count(&upper).await), (3, 2));
    let newest = versions(&upper).await[0].clone();
    assert_eq!(newest["head_commit_sha"], whole["head_commit_sha"]);
    assert_eq!(newest["base_commit_sha"], *folder.id("main").await);
    assert_ne!(newest["patch_id_sha"], whole["patch_id_sha"]);
    // Its own commits reach the target by another way.
    let form = [("target_branch", "main")];
    json(server.put("ada", &format!("{at}/merge_requests/{upper}"), &form).await, 200).await;
    let before = count(&upper).await;
    folder.git(&["push", "-q", "origin", &format!("{first}:refs/heads/main")]).await;
    assert_eq!(count(&upper).await, before + 1);
    assert_eq!(versions(&upper).await[0]["base_commit_sha"], *first);
    // After git gc, every version can still be read.
    let repository = data.path().join(format!("repositories/{}.git", server.read("ada", at).await["id"]));
    let gc = ["-c", "gc.reflogExpire=now", "gc", "-q", "--prune=now"];
    assert!(Command::new("git").args(gc).current_dir(repository).status().unwrap().success());
    for iid in [&lower, &upper] {
        for version in versions(iid).await.as_array().unwrap() {
            server.read("ada", &format!("{at}/merge_requests/{iid}/versions/{}", version["id"])).await;
            let compare =
                format!("{at}/repository/compare?from={}&to={}", first, version["head_commit_sha"].as_str().unwrap());
            server.read("ada", &compare).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_can_forget_what_no_branch_has() {
    if !has_git() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("world.toml");
    std::fs::write(&file, world()).unwrap();
    let modes = Modes { forgets_heads: true, ..Modes::default() };
    let server = Server::with(Options { world: WorldKind::File(file), modes, ..Options::default() }).await;
    let folder = clone(&server, "ada", "ada/hello").await;
    folder.git(&["checkout", "-q", "-b", "mine"]).await;
    folder.commit("x", "1").await;
    let old = folder.id("HEAD").await;
    folder.git(&["push", "-q", "origin", "mine"]).await;
    let commit = format!("/projects/ada%2Fhello/repository/commits/{old}");
    assert_eq!(server.get("ada", &commit).await.status(), 200);
    folder.git(&["commit", "-q", "--amend", "-m", "Other"]).await;
    folder.git(&["push", "-q", "-f", "origin", "mine"]).await;
    assert_eq!(server.get("ada", &commit).await.status(), 404);
    let compare = format!("/projects/ada%2Fhello/repository/compare?from={old}&to=mine");
    assert_eq!(server.get("ada", &compare).await.status(), 404);
    assert_eq!(server.get("ada", &commit.replace(&old, &folder.id("HEAD").await)).await.status(), 200);
}
