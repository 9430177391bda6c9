//! External programs: the arguments and environment of the editor, the pager and the browser, and how they end.

use crate::home::{Home, send};
use crate::screen::{Screen, offers};
use crate::served::Served;
use crate::{given_back, prompt};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

const TOKEN: &str = "glpat-of-the-environment";

/// Creates a program that is first in the search path.
fn program(home: &Home, name: &str, script: &str) {
    let path = home.path("bin").join(name);
    std::fs::create_dir_all(home.path("bin")).expect("a folder");
    std::fs::write(&path, format!("#!/bin/sh\n{script}")).expect("written");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("it can be run");
}

/// Starts a program with the home's programs first in the search path.
fn start(home: &Home, name: &str, arguments: &[&str], variables: &[(&str, &str)]) -> Screen {
    let path = format!("{}:{}", home.path("bin").display(), std::env::var("PATH").unwrap_or_default());
    let ours = [("PATH", path.as_str()), ("EDITOR", "my-editor"), ("PAGER", "my-pager")];
    Screen::start_with(home, name, arguments, &[&ours, variables].concat())
}

/// Waits until a program has written a file completely.
fn written(path: &Path) -> String {
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        match std::fs::read_to_string(path) {
            Ok(text) if text.ends_with("\nend\n") => return text,
            found => assert!(Instant::now() < until, "not written: {}: {found:?}", path.display()),
        }
        std::thread::yield_now();
    }
}

#[test]
fn no_program_inherits_a_token() {
    let home = Home::new();
    for name in ["my-editor", "my-pager", "xdg-open"] {
        // An editor that ends at once would be asked about.
        let waits = format!("until [ -e \"$HOME/{name}-ends\" ]; do sleep 0.1; done; sleep 1");
        program(&home, name, &format!("(echo; env; echo \"gets $1\"; echo end) > \"$HOME/{name}\"\n{waits}\n"));
    }
    let served = Served::start(&home, &[]);
    let token = served.token("root").to_owned();
    let variables = [("LABSCOPE_TOKEN", token.as_str()), ("GITLAB_TOKEN", TOKEN)];
    let arguments = ["--host", served.url(), "acme/rocket-ui@main:README.md"];
    let mut screen = start(&home, env!("CARGO_BIN_EXE_labscope"), &arguments, &variables);
    screen.wait_for_command("e edit");
    screen.wait("the file is read", |screen| screen.contents().contains("A small toolkit for terminal programs"));
    for (keys, name) in [("o", "xdg-open"), ("O", "my-pager"), ("E", "my-editor")] {
        screen.keys(keys);
        let text = written(&home.path(name));
        assert!(text.contains("\nTERM="), "{name} has its environment: {text}");
        assert!(!text.contains("_TOKEN=") && !text.contains(&token), "{name}: {text}");
        // The browser has its own window; the others take over the terminal.
        let away = name != "xdg-open";
        screen.wait("who has the terminal", |screen| screen.alternate_screen() != away);
        std::fs::write(home.path(&format!("{name}-ends")), "").expect("written");
        screen.wait("it is back", |screen| screen.alternate_screen() && offers(screen, "e edit"));
    }
    let gets = format!("gets {}/acme/rocket-ui/", served.url().trim_end_matches('/'));
    let opened = written(&home.path("xdg-open"));
    assert!(opened.contains(&gets), "{opened}");
    screen.keys("Q");
    assert_eq!(screen.exit_code(), 0);
}

#[test]
fn signing_in_opens_the_page_that_creates_a_token() {
    for (api, page) in [("today", "-/user_settings/"), ("10.6", "profile/")] {
        let home = Home::new();
        std::fs::write(home.path("config/labscope/config.toml"), "keyring = false\n").expect("written");
        program(&home, "xdg-open", "(echo; echo \"gets $1\"; echo end) > \"$HOME/xdg-open\"\n");
        let options: &[&str] = if api == "10.6" { &["--api", api] } else { &[] };
        let served = Served::start(&home, options);
        let arguments = ["--host", served.url(), "auth", "login"];
        let mut screen = start(&home, env!("CARGO_BIN_EXE_labscope"), &arguments, &[]);
        let url = served.url().trim_end_matches('/');
        let address = format!("{url}/{page}personal_access_tokens?name=labscope&scopes=api");
        screen.wait("the page is named", |screen| screen.contents().replace('\n', "").contains(&address));
        assert!(written(&home.path("xdg-open")).contains(&format!("gets {address}\n")));
        screen.wait("the token is asked for", |screen| screen.contents().contains("(not shown"));
        screen.keys(&format!("{}\r", served.token("ada")));
        screen.wait("one is signed in", |screen| screen.contents().contains("as ada."));
        let shown = screen.at_rest(|screen| screen.contents());
        assert!(!shown.contains(served.token("ada")), "the token is not shown: {shown}");
        assert_eq!(screen.exit_code(), 0);
    }
}

#[test]
fn signing_in_without_a_server_allows_correcting_every_mistake() {
    let home = Home::new();
    std::fs::write(home.path("config/labscope/config.toml"), "keyring = false\n").expect("written");
    program(&home, "xdg-open", "exit 0\n");
    let served = Served::start(&home, &[]);
    let shows = |words: &'static str| move |screen: &vt100::Screen| screen.contents().contains(words);
    let mut screen = start(&home, env!("CARGO_BIN_EXE_labscope"), &[], &[]);
    screen.wait("the ways to begin", shows("No server is configured yet."));
    screen.keys("3");
    screen.wait("the server is asked for", shows("(Esc goes back): "));
    screen.keys("gut\x7f\x1b");
    screen.wait("Esc goes back", |screen| screen.alternate_screen() && screen.contents().contains("labscope demo"));
    screen.keys("3");
    screen.wait("the server is asked for again", |screen| {
        !screen.alternate_screen() && screen.contents().matches("(Esc goes back): ").count() == 2
    });
    screen.keys("not a server\r");
    screen.wait("a wrong address is refused", shows("invalid server address \"not a server\""));
    let address = served.url().trim_end_matches('/');
    screen.keys(&format!("x\x15{}\r", address.trim_start_matches("http://")));
    screen.wait("what is missing", shows("did you mean"));
    screen.keys(&format!("{address}\r"));
    screen.wait("the token is asked for", shows("Token for 127.0.0.1"));
    screen.keys("\x1b");
    screen.wait("Esc goes back to the server", shows("canceled; nothing was stored"));
    screen.keys(&format!("{address}\r"));
    let asked = |screen: &vt100::Screen| screen.contents().matches("(not shown").count();
    screen.wait("the token is asked for again", |screen| asked(screen) == 2);
    screen.keys("wrong\r");
    screen.wait("a wrong token is refused", |screen| {
        screen.contents().contains("401 Unauthorized") && asked(screen) == 3
    });
    screen.keys(&format!("{}\r", served.token("ada")));
    screen.wait("home opens", |screen| screen.alternate_screen() && screen.contents().contains("To-dos"));
    screen.keys("Q");
    assert_eq!(screen.exit_code(), 0);
    given_back(&mut screen);
    let mut again = start(&home, env!("CARGO_BIN_EXE_labscope"), &[], &[]);
    again.wait("the server is remembered", shows("To-dos"));
    again.keys("Q");
    assert_eq!(again.exit_code(), 0);
}

#[test]
fn a_signal_ends_the_editor_and_the_program_and_keeps_the_text() {
    // One editor that ends on a signal and one that does not, both of which control the terminal.
    for ends in ["exec sleep 1000", "trap '' TERM HUP; while :; do sleep 1; done"] {
        let home = Home::new();
        let script = format!(
            "stty raw -echo; printf '\\033[?1049h'; echo 'half a thought' > \"$1\"\n(echo; echo end) > \"$HOME/open\"\n{ends}\n"
        );
        program(&home, "my-editor", &script);
        let served = Served::start(&home, &[]);
        let token = [("LABSCOPE_TOKEN", served.token("ada"))];
        let arguments = ["--host", served.url(), "acme/rocket-ui!42"];
        let mut screen = start(&home, env!("CARGO_BIN_EXE_labscope"), &arguments, &token);
        screen.wait_for_command("c comment");
        screen.keys("c");
        screen.wait("the composer is open", |screen| screen.contents().contains("$EDITOR"));
        screen.keys("\x0f");
        written(&home.path("open"));
        send("TERM", screen.process());
        assert_eq!(screen.exit_code(), 0, "{ends}");
        given_back(&mut screen);
        let kept = crate::kept::texts(&home.path("data"));
        assert!(kept.iter().any(|text| text.contains("half a thought")), "{ends}: {kept:?}");
    }
}

#[test]
fn an_editor_that_opens_a_window_and_ends_at_once_loses_nothing() {
    let home = Home::new();
    let window = "until [ -e \"$HOME/go\" ]; do sleep 0.1; done; echo 'from a window' > \"$1\"; (echo; echo end) > \"$HOME/saved\"";
    program(&home, "my-editor", &format!("({window}) > /dev/null 2>&1 &\n"));
    let served = Served::start(&home, &[]);
    let token = [("LABSCOPE_TOKEN", served.token("ada"))];
    let arguments = ["--host", served.url(), "acme/rocket-ui!42"];
    let mut screen = start(&home, env!("CARGO_BIN_EXE_labscope"), &arguments, &token);
    screen.wait_for_command("c comment");
    screen.keys("c");
    screen.wait("the composer is open", |screen| screen.contents().contains("$EDITOR"));
    screen.keys("\x0f");
    screen.wait("a question", |screen| screen.contents().contains("my-editor ended at once"));
    std::fs::write(home.path("go"), "").expect("written");
    written(&home.path("saved"));
    screen.keys("\r");
    screen.wait("the text of the window", |screen| screen.contents().contains("from a window"));
    // Without a change, the reason is named.
    program(&home, "my-editor", "");
    screen.keys("\x0f");
    screen.wait("a question", |screen| screen.contents().contains("my-editor ended at once"));
    screen.keys("\r");
    screen.wait("advice", |screen| screen.contents().contains("--wait") && screen.contents().contains("from a window"));
}

#[test]
fn suspending_the_editor_suspends_the_program() {
    let home = Home::new();
    let script = "kill -TSTP 0\necho 'written afterwards' > \"$1\"\n";
    program(&home, "my-editor", script);
    let served = Served::start(&home, &[]);
    let token = [("LABSCOPE_TOKEN", served.token("ada"))];
    let mut shell = start(&home, "/bin/sh", &["-i"], &token);
    shell.keys(&format!("{} --host {} 'acme/rocket-ui!42'\r", env!("CARGO_BIN_EXE_labscope"), served.url()));
    shell.wait_for_command("c comment");
    shell.keys("c");
    shell.wait("the composer is open", |screen| screen.contents().contains("$EDITOR"));
    shell.keys("\x0f");
    shell.wait("the shell says so", |screen| screen.contents().contains("Stopped") && prompt(screen));
    shell.keys("fg\r");
    shell.wait("it has what was written", |screen| {
        screen.alternate_screen() && screen.contents().contains("written afterwards")
    });
    shell.keys("\x1b");
    shell
        .wait("the composer is closed", |screen| offers(screen, "c comment") && !screen.contents().contains("$EDITOR"));
    shell.keys("Q");
    shell.wait("the shell asks again", prompt);
}
