//! `labscope auth`, and how a clone selects its server.

use crate::api::answers;
use crate::home::Home;
use crate::program::{Served, is_private};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Stdio;

#[test]
fn login_checks_and_stores_a_token_and_logout_removes_it() {
    let home = Home::new();
    let served = Served::start(&home, &["--world", "empty"]);
    let host = ["--host", served.url()];
    // Leaves the keyring of the machine alone.
    home.write("config/labscope/config.toml", "keyring = false\n");
    let auth = |what: &str, input: &str| home.run_with(&[&host[..], &["auth", what]].concat(), input);
    let none = auth("status", "");
    assert_eq!(none.code, Some(1));
    assert!(none.err.contains("labscope auth login"), "{none:?}");

    let wrong = auth("login", "wrong\n");
    assert_eq!(wrong.code, Some(1));
    assert!(wrong.err.contains("401") && !home.path("config/labscope/tokens.toml").exists(), "{wrong:?}");

    let login = auth("login", &format!("{}\n", served.token("root")));
    assert_eq!(login.code, Some(0), "{login:?}");
    assert!(
        login.out.contains(" as root.\n") && login.out.contains("tokens.toml, which only you can read"),
        "{login:?}"
    );
    assert!(is_private(&home.path("config/labscope/tokens.toml")));
    let status = auth("status", "");
    assert!(status.out.contains("as root (token from labscope auth login"), "{status:?}");
    assert!(status.out.contains("\nVersion: 19.") && status.out.contains("\nScopes: api\nExpires: 20"), "{status:?}");
    assert!(!login.err.contains("personal_access_tokens"), "a script is sent to no page: {login:?}");

    let offline = home.run(&[&host[..], &["--offline", "auth", "status"]].concat());
    assert!(offline.code == Some(0) && offline.out.contains("not verified"), "{offline:?}");

    // The replies of this server are removed, and those of another stay.
    let root = home.path("cache/labscope/replies");
    let own = labscope::api::endpoint::encode(&format!("{}/", served.url()));
    for server in [own.as_str(), "other"] {
        std::fs::create_dir_all(root.join(server).join("0")).expect("a folder");
        std::fs::write(root.join(server).join("0/reply"), "x").expect("written");
    }
    let logout = auth("logout", "");
    assert!(logout.code == Some(0) && logout.out.contains("and the replies kept here"), "{logout:?}");
    assert!(!root.join(&own).exists() && root.join("other/0/reply").exists(), "{own}");
    assert_eq!(auth("status", "").code, Some(1));
    assert_eq!(auth("logout", "").code, Some(1));
}

#[test]
fn one_command_removes_all_kept_replies() {
    let home = Home::new();
    let folder = home.path("cache/labscope/replies/server/token");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("reply"), vec![b'x'; 12_345]).expect("written");
    let report = home.run(&["doctor"]);
    assert!(report.out.contains("12.3 kB in ") && report.out.contains("labscope cache clear"), "{report:?}");
    let cleared = home.run(&["cache", "clear"]);
    assert!(cleared.code == Some(0) && cleared.out.contains("12.3 kB"), "{cleared:?}");
    assert!(!home.path("cache/labscope/replies").exists());
    assert_eq!(home.run(&["cache", "clear"]).code, Some(0), "nothing is left to remove");
}

#[test]
fn status_shows_unknown_for_what_an_old_server_does_not_report() {
    let home = Home::new();
    let served = Served::start(&home, &["--world", "empty", "--api", "10.6"]);
    let token = home.write("token", served.token("root"));
    let status = home.run(&["--host", served.url(), "--token-file", &token.to_string_lossy(), "auth", "status"]);
    assert_eq!(status.code, Some(0), "{status:?}");
    assert!(status.out.contains(" as root (token from the file "), "{status:?}");
    assert!(status.out.contains("\nVersion: unknown\nScopes and expiry of the token: unknown;"), "{status:?}");
}

#[test]
fn login_stores_no_token_unless_the_reply_is_a_user() {
    let home = Home::new();
    home.write("config/labscope/config.toml", "keyring = false\n");
    for body in
        ["{}", "{\"id\": 7}", "{\"username\": \"x\"}", "{\"id\": 7, \"username\": \" \"}", "null", "[]", "\"ada\""]
    {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length:";
        let (url, thread) = answers(format!("{head} {}\r\n\r\n{body}", body.len()));
        let login = home.run_with(&["--host", &url, "auth", "login"], "secret\n");
        thread.join().expect("answered");
        assert_eq!((login.code, login.out.as_str()), (Some(1), ""), "{body}: {login:?}");
        assert!(!home.path("config/labscope/tokens.toml").exists(), "{body}: {login:?}");
        assert!(!body.starts_with('{') || login.err.contains("did not return a user"), "{body}: {login:?}");
    }
}

#[test]
fn the_server_comes_from_the_clone_and_the_token_from_the_config() {
    let home = Home::new();
    let served = Served::start(&home, &["--world", "empty"]);
    let token = home.write("token", served.token("root"));
    let config = format!("[hosts.here]\nurl = \"{}\"\ntoken_file = \"{}\"\n", served.url(), token.display());
    home.write("config/labscope/config.toml", &config);
    let status = home.run(&["auth", "status"]);
    assert_eq!(status.code, Some(2), "nothing names a server yet: {status:?}");
    let repository = git2::Repository::init(home.path("work")).expect("a repository");
    repository.remote("origin", &format!("{}/acme/web.git", served.url())).expect("a remote");
    let status = home.run(&["auth", "status"]);
    assert_eq!(status.code, Some(0), "{status:?}");
    assert!(status.out.contains("as root (token from hosts.here.token_file"), "{status:?}");
}

#[test]
fn a_token_of_the_environment_never_reaches_a_server_that_it_is_not_for() {
    let home = Home::new();
    let served = Served::start(&home, &["--world", "demo"]);
    let token = home.write("token", served.token("root"));
    let own = format!("token_file = \"{}\"\n", token.display());
    let configure = |default: &str, own: &str| {
        let hosts = format!("[hosts.a]\nurl = \"http://127.0.0.1:9\"\n[hosts.here]\nurl = \"{}\"\n", served.url());
        home.write("config/labscope/config.toml", &format!("{default}{hosts}{own}"));
    };
    let run = |variables: &[(&str, &str)], arguments: &[&str]| {
        let output = home.command(arguments).envs(variables.iter().copied()).output().expect("it starts");
        (String::from_utf8_lossy(&output.stdout).into_owned(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let repository = git2::Repository::init(home.path("work")).expect("a repository");
    repository.remote("origin", &format!("{}/acme/web.git", served.url())).expect("a remote");
    let (status, user) = (&["auth", "status"][..], &["api", "GET", "user"][..]);
    for name in ["GITLAB_TOKEN", "LABSCOPE_TOKEN"] {
        // The clone selects another server than the default, to which the token belongs.
        configure("host = \"a\"\n", &own);
        let (out, err) = run(&[(name, "for-a")], status);
        assert!(out.contains("as root (token from hosts.here.token_file"), "{out}{err}");
        assert!(run(&[(name, "for-a")], user).0.contains("\"root\""));
        // With no token of its own, the server is asked without one, and the reason is told.
        configure("host = \"a\"\n", "");
        let (out, err) = run(&[(name, "for-a")], status);
        let why =
            format!("{name} is for 127.0.0.1:9. Set LABSCOPE_HOST=here to use it, or labscope auth login --host here");
        assert!(out.is_empty() && err.contains(&why), "{out}{err}");
        let (out, err) = run(&[(name, "for-a")], user);
        assert!(out.contains("401") && err.contains("returned 401") && err.contains(&why), "{out}{err}");
        // The variable that names the server also names the owner of the token.
        let token = served.token("ada");
        let (out, _) = run(&[(name, token), ("GITLAB_HOST", served.url())], status);
        assert!(out.contains(&format!("as ada (token from {name})")), "{out}");
        configure("host = \"here\"\n", &own);
        let (out, _) = run(&[(name, token)], status);
        assert!(out.contains(&format!("as ada (token from {name})")), "{out}");
        let (out, _) =
            run(&[(name, token), ("GITLAB_HOST", "http://127.0.0.1:9")], &["--host", "here", "auth", "status"]);
        assert!(out.contains("as root (token from hosts.here.token_file"), "{out}");
    }
}

#[test]
fn two_hosts_with_one_address_keep_their_tokens_apart() {
    let home = Home::new();
    let served = Served::start(&home, &["--world", "demo"]);
    let token = |user: &str| home.write(user, served.token(user)).display().to_string();
    let (root, ada) = (token("root"), token("ada"));
    let host = |name: &str, more: &str| format!("[hosts.{name}]\nurl = \"{}\"\n{more}", served.url());
    let file = |path: &str| format!("token_file = \"{path}\"\n");
    let configure =
        |hosts: &[String]| home.write("config/labscope/config.toml", &format!("keyring = false\n{}", hosts.concat()));
    configure(&[host("zero", &file(&root)), host("one", &file(&ada)), host("third", "")]);
    let user = |name: &str| home.run(&["--host", name, "api", "GET", "user"]);
    assert!(user("zero").out.contains("\"root\"") && user(served.url()).out.contains("\"root\""));
    assert!(user("one").out.contains("\"ada\""), "{:?}", user("one"));
    let err = user("third").err;
    assert!(err.contains("returned 401: Unauthorized; set a valid token"), "it has no token: {err}");
    let advice = "auth login --host third";
    assert!(home.run(&["--host", "third", "auth", "status"]).err.contains(advice));
    assert!(home.run(&["--host", "third", "doctor"]).out.contains(advice));
    // A stored token belongs to one of them, too.
    let login = home.run_with(&["--host", "third", "auth", "login"], &format!("{}\n", served.token("bo")));
    assert!(login.out.contains(" (third) as bo."), "{login:?}");
    configure(&[host("zero", ""), host("third", "")]);
    assert!(user("third").out.contains("\"bo\"") && user("zero").err.contains("returned 401"));
    assert_eq!(home.run(&["--host", "zero", "auth", "logout"]).code, Some(1), "nothing is stored for it");
    assert_eq!(home.run(&["--host", "third", "auth", "logout"]).code, Some(0));
}

/// Authorizes a device code on the server's web page, as `user`.
fn allow(served: &Served, code: &str, user: &str) -> String {
    let address = served.url().strip_prefix("http://").expect("an address");
    let body = format!("user_code={code}&token={}", served.token(user));
    let mut stream = TcpStream::connect(address).expect("it listens");
    let head = format!("POST /oauth/device HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n");
    let form = format!("content-type: application/x-www-form-urlencoded\r\ncontent-length: {}\r\n\r\n", body.len());
    stream.write_all(format!("{head}{form}{body}").as_bytes()).expect("it reads");
    let mut reply = String::new();
    stream.read_to_string(&mut reply).expect("it answers");
    reply
}

#[test]
fn device_login_stores_a_token_that_is_refreshed_only_once() {
    let home = Home::new();
    let served = Served::start(&home, &["--world", "empty"]);
    let configure = |more: &str| {
        let config = format!("keyring = false\nhost = \"here\"\n[hosts.here]\nurl = \"{}\"\n{more}", served.url());
        home.write("config/labscope/config.toml", &config);
    };
    configure("");
    let none = home.run(&["auth", "login", "--device"]);
    assert!(none.code == Some(2) && none.err.contains("no client_id is configured"), "{none:?}");
    configure("client_id = \"other\"\n");
    let other = home.run(&["auth", "login", "--device"]);
    assert!(other.code == Some(1) && other.err.contains("does not know the configured client_id"), "{other:?}");

    configure("client_id = \"labscope\"\n");
    let mut command = home.command(&["auth", "login", "--device"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let mut line = String::new();
    let mut told = BufReader::new(child.stderr.take().expect("a pipe"));
    told.read_line(&mut line).expect("a line");
    let code = line.trim_end().trim_end_matches(':').rsplit(' ').next().expect("a code").to_owned();
    assert!(allow(&served, &code, "ada").contains("The device is signed in."));
    let ended = child.wait_with_output().expect("it ends");
    let out = String::from_utf8(ended.stdout).expect("text");
    assert!(ended.status.success() && out.contains(" as ada.\n"), "{out}");
    let file = home.path("config/labscope/tokens.toml");
    assert!(is_private(&file));

    let stored = || std::fs::read_to_string(&file).expect("the file");
    let first = stored();
    let status = home.run(&["auth", "status"]);
    assert!(status.out.contains(" as ada ") && status.out.contains("renewed automatically"), "{status:?}");
    assert!(status.out.contains("Token: browser sign-in\nScopes: api\nExpires: renewed automatically\n"), "{status:?}");
    assert_eq!(stored(), first, "what is good is left alone");
    // Two programs notice the expiry at the same time: one refreshes the token, and the other uses the stored result.
    let at = first.find("expires_at").and_then(|at| Some(at + first[at..].find("20")?)).expect("a time");
    std::fs::write(&file, format!("{}2001{}", &first[..at], &first[at + 4..])).expect("written");
    let both =
        [(); 2].map(|()| home.command(&["api", "GET", "user"]).stdout(Stdio::piped()).spawn().expect("it starts"));
    for child in both {
        let ended = child.wait_with_output().expect("it ends");
        assert!(ended.status.success() && String::from_utf8_lossy(&ended.stdout).contains("\"ada\""), "{ended:?}");
    }
    let second = stored();
    assert!(second != first && !second.contains("2001-") && is_private(&file), "it was renewed");
    assert!(home.run(&["auth", "logout"]).code == Some(0) && !stored().contains("refresh_token"));
}

#[test]
fn device_login_reports_a_server_that_does_not_support_it() {
    let home = Home::new();
    let served = Served::start(&home, &["--world", "empty", "--api", "10.6"]);
    let config = format!("host = \"here\"\n[hosts.here]\nurl = \"{}\"\nclient_id = \"x\"\n", served.url());
    home.write("config/labscope/config.toml", &config);
    let login = home.run(&["auth", "login", "--device"]);
    assert!(login.code == Some(1) && login.err.contains("does not support the device flow"), "{login:?}");
}

#[test]
fn what_glab_knows_is_enough_in_a_clone() {
    let home = Home::new();
    let served = Served::start(&home, &[]);
    // As glab 1.101 writes it: the name of the host has no port, and the address of the API has one.
    let address = served.url().trim_start_matches("http://");
    std::fs::create_dir_all(home.path("config/glab-cli")).expect("a folder");
    let token = served.token("ada");
    let text = format!(
        "git_protocol: ssh\nhost: 127.0.0.1\nhosts:\n    127.0.0.1:\n        api_protocol: http\n        \
        api_host: {address}\n        token: {token}\n        user: ada\n"
    );
    home.write("config/glab-cli/config.yml", &text);
    let repository = git2::Repository::init(home.path("work")).expect("a repository");
    repository.remote("origin", "git@127.0.0.1:acme/rocket-ui.git").expect("a remote");
    let user = home.run(&["api", "GET", "user"]);
    assert!(user.code == Some(0) && user.out.contains("\"username\":\"ada\""), "{user:?}");
    let project = home.run(&["api", "GET", "projects/:fullpath"]);
    assert!(project.out.contains("\"path_with_namespace\":\"acme/rocket-ui\""), "{project:?}");
    let status = home.run(&["auth", "status"]);
    assert!(status.out.contains("glab's configuration"), "{status:?}");
}
