//! `labscope doctor`: what was found, what is wrong, and what to do; never a secret.

use crate::api::{json_reply, serves};
use crate::home::Home;
use crate::program::Served;
use serde_json::Value;

#[test]
fn a_working_setup_has_no_problems() {
    let home = Home::new();
    let served = Served::start(&home, &["--world", "empty"]);
    let token = home.write("token", served.token("root"));
    let config = format!("[hosts.here]\nurl = \"{}\"\ntoken_file = \"{}\"\n", served.url(), token.display());
    home.write("config/labscope/config.toml", &config);
    let repository = git2::Repository::init(home.path("work")).expect("a repository");
    repository.remote("origin", &format!("{}/acme/web.git", served.url())).expect("a remote");
    repository.remote("old", "https://oauth2:s3cret@old.example/acme/web.git?token=s3cret").expect("a remote");
    home.write(
        "work/.labscope.toml",
        "commands = 1\n[hosts.evil]\nurl = \"https://evil.example\"\n[trace]\nerrors = [\"^KO\"]\n",
    );
    let found = home.run(&["doctor"]);
    for line in [
        "Configuration: ok",
        "origin: the project acme/web (on 127.0.0.1:",
        "old: not on this server (on old.example)",
        "Ignored in .labscope.toml: commands, hosts",
        "the git remote origin",
        "hosts.here.token_file",
        "root",
        "Server: ok",
        "Token: ok",
        "to-dos",
    ] {
        assert!(found.out.contains(line), "{line}: {found:?}");
    }
    let secrets = [served.token("root"), "s3cret"];
    assert!(!secrets.iter().any(|secret| found.out.contains(secret)), "the report has a secret: {found:?}");
}

#[test]
fn each_problem_is_told_with_what_to_do() {
    let home = Home::new();
    let served = Served::start(&home, &["--world", "empty"]);
    let host = ["--host", served.url()];
    let json = |more: &[&str]| {
        let found = home.run(&[&host[..], more, &["doctor", "--json"]].concat());
        assert_eq!(found.code, Some(1), "{found:?}");
        let report: Value = serde_json::from_str(&found.out).expect("JSON");
        let checks = report["checks"].as_array().expect("checks").clone();
        let problems = checks.iter().flat_map(|check| check["problems"].as_array().cloned().unwrap_or_default());
        problems.map(|found| format!("{}|{}", found["problem"], found["advice"])).collect::<Vec<_>>().join("\n")
    };
    assert!(json(&[]).contains("There is no token for 127.0.0.1"));
    let wrong = home.write("wrong", "glpat-not-a-token");
    let refused = json(&["--token-file", &wrong.to_string_lossy()]);
    assert!(refused.contains("401") && refused.contains("labscope auth login"), "{refused}");
    assert!(!refused.contains("glpat-not-a-token"), "{refused}");
    home.write("config/labscope/config.toml", "theme = \"nowhere\"\n");
    assert!(json(&[]).contains("line 1, key theme"));
    home.write("config/labscope/config.toml", "them = 1\n");
    assert!(json(&[]).contains("line 1, key them"));
    let gone = home.run(&["--host", "http://127.0.0.1:1", "doctor"]);
    assert!(
        gone.code == Some(1) && gone.out.contains("Server: problem") && gone.out.contains("127.0.0.1:1"),
        "{gone:?}"
    );
    // What is unknown because of another problem is no problem of its own.
    let broken = home.run(&["doctor"]);
    assert!(broken.out.contains("because the configuration was not read"), "{broken:?}");
    assert!(!broken.out.contains("No server is configured."), "{broken:?}");
    let missing = home.run(&["--config", "/nowhere.toml", "doctor"]);
    assert!(missing.out.contains("/nowhere.toml (not there)\n"), "{missing:?}");
    let none = Home::new().run(&["doctor"]);
    assert!(none.code == Some(1) && none.out.contains("No server is configured."), "{none:?}");
}

#[test]
fn a_refusal_that_another_token_would_not_help_does_not_ask_for_one() {
    let home = Home::new();
    let token = home.write("token", "glpat-a");
    let report = |url: &str| home.run(&["--host", url, "--token-file", &token.to_string_lossy(), "doctor"]).out;
    let refusal = |kind: &str, body: &str| {
        format!(
            "HTTP/1.1 403 No\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
            body.len()
        )
    };
    let page = refusal("text/html", "<html><title>Just a moment...</title></html>");
    let challenge = report(&serves(move |_| page.clone()));
    assert!(
        challenge.contains("Server: problem") && challenge.contains("Gateway error: 403: Just a moment"),
        "{challenge}"
    );
    let terms = refusal("application/json", r#"{"message":"403 Forbidden - You must accept the Terms of Service"}"#);
    let terms = report(&serves(move |line| match line.contains("/metadata") {
        true => json_reply(r#"{"version":"18.9.0"}"#),
        false => terms.clone(),
    }));
    assert!(terms.contains("Sign in on the server's web page") && !terms.contains("new token"), "{terms}");
}

#[test]
fn mistakes_in_the_queries_of_sections_are_told_with_their_file() {
    let home = Home::new();
    let section = |query: &str| format!("[[sections]]\nname = \"A\"\nquery = \"{query}\"\n");
    let host = "[hosts.here]\nurl = \"http://127.0.0.1:9\"\n";
    home.write("config/labscope/config.toml", &format!("{host}{}", section("stat:opened author:@me")));
    let repository = git2::Repository::init(home.path("work")).expect("a repository");
    repository.remote("origin", "http://127.0.0.1:9/acme/web.git").expect("a remote");
    home.write("work/.labscope.toml", &section("author:bo updated:>soon"));
    let found = home.run(&["--offline", "doctor"]);
    for words in [
        "config.toml, line 5, key sections.query: stat:opened: no such key; use state",
        ".labscope.toml, key sections.query of \"A\": updated:>soon: \"soon\" is not a date",
    ] {
        assert!(found.out.contains(words), "{words}: {found:?}");
    }
}

#[test]
fn keys_that_hide_longer_ones_are_named() {
    let home = Home::new();
    home.write("config/labscope/config.toml", "[keys]\n\"move.down\" = [\"j\", \"g\"]\nquit = [\"C-q\"]\n");
    let found = home.run(&["--offline", "doctor"]);
    let words = "the key g of move.down hides g g, g *, ";
    assert!(found.out.contains(words), "{found:?}");
}

/// A fine-grained token, as GitLab 19.5 has them (doc/auth/tokens/fine_grained_access_tokens.md).
#[test]
fn a_fine_grained_token_is_tried_with_one_read_of_each_kind() {
    let home = Home::new();
    let served = Served::start(&home, &["--api", "19"]);
    let token = home.write("token", served.token("ada"));
    let new = ["api", "POST", "user/personal_access_tokens", "-f", "name=Fine"];
    let may = ["-f", "granular_scopes[][access]=user", "-f", "granular_scopes[][permissions][]=read_user"];
    let made =
        home.run(&[&["--host", served.url(), "--token-file", &token.to_string_lossy()], &new[..], &may].concat());
    let made: Value = serde_json::from_str(&made.out).expect("JSON");
    let fine = home.write("fine", made["token"].as_str().expect("a token"));
    let found = home.run(&["--host", served.url(), "--token-file", &fine.to_string_lossy(), "doctor"]);
    assert_eq!(found.code, Some(1), "{found:?}");
    for words in [
        "those of a fine-grained token",
        "can read",
        "The token lacks permissions: ",
        "Merge Request: Read",
        "Todo: Read",
        "docs/configuration.md",
    ] {
        assert!(found.out.contains(words), "{words}: {}", found.out);
    }
    assert!(!found.out.contains("User: Read"), "{}", found.out);
}
