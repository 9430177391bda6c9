//! `labscope auth`, and the way from a clone to its server.

use crate::api::answers;
use crate::home::Home;
use crate::program::{Served, is_private};

#[test]
fn a_token_is_tried_kept_used_and_forgotten() {
    let home = Home::new();
    let served = Served::start(&home, &["--world", "empty"]);
    let host = ["--host", served.url()];
    // What the machine keeps is not touched.
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
    assert!(
        status.out.contains("\nVersion: 18.") && status.out.ends_with("\nScopes: api\nExpires: never\n"),
        "{status:?}"
    );
    assert!(!login.err.contains("personal_access_tokens"), "a script is sent to no page: {login:?}");

    let offline = home.run(&[&host[..], &["--offline", "auth", "status"]].concat());
    assert!(offline.code == Some(0) && offline.out.contains("not verified"), "{offline:?}");

    assert_eq!(auth("logout", "").code, Some(0));
    assert_eq!(auth("status", "").code, Some(1));
    assert_eq!(auth("logout", "").code, Some(1));
}

#[test]
fn what_an_old_server_does_not_say_is_unknown() {
    let home = Home::new();
    let served = Served::start(&home, &["--world", "empty", "--api", "10.6"]);
    let token = home.write("token", served.token("root"));
    let status = home.run(&["--host", served.url(), "--token-file", &token.to_string_lossy(), "auth", "status"]);
    assert_eq!(status.code, Some(0), "{status:?}");
    assert!(status.out.contains(" as root (token from the file "), "{status:?}");
    assert!(status.out.contains("\nVersion: unknown\nScopes and expiry of the token: unknown;"), "{status:?}");
}

#[test]
fn an_answer_that_is_not_a_user_keeps_no_token() {
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
fn a_clone_leads_to_its_server_and_the_configuration_to_its_token() {
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
