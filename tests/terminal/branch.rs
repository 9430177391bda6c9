//! From a branch to a merge request: a clone of the local server, a commit, `labscope mr`, a push and the form.

use crate::home::Home;
use crate::screen::Screen;
use crate::served::Served;
use std::process::Command;

/// Runs git in the folder `work` of the home.
fn git(home: &Home, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=Ada", "-c", "user.email=ada@example.com"]).args(arguments);
    command.current_dir(home.path("work")).envs(home.variables()).env("GIT_CONFIG_NOSYSTEM", "1");
    let output = command.env("GIT_TERMINAL_PROMPT", "0").env("no_proxy", "*").output().expect("git runs");
    let printed = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "git {arguments:?}: {printed}");
    printed.trim().to_owned()
}

#[test]
fn a_branch_of_a_clone_is_pushed_and_becomes_a_merge_request() {
    if Command::new("git").arg("--version").output().is_err() {
        eprintln!("skipped: git is not installed");
        return;
    }
    let home = Home::new();
    let served = Served::start(&home, &[]);
    let token = served.token("ada");
    // The credentials are git's own: labscope never gives it a token.
    let address = served.url().replacen("http://", &format!("http://oauth2:{token}@"), 1);
    git(&home, &["clone", "-q", &format!("{address}/acme/rocket-ui.git"), "."]);
    git(&home, &["switch", "-q", "-c", "ada/tidy-rows"]);
    std::fs::write(home.path("work/ROWS.md"), "Rows are tidy.\n").expect("written");
    git(&home, &["add", "ROWS.md"]);
    git(&home, &["commit", "-q", "-m", "Tidy the rows", "-m", "They were not."]);
    let program = env!("CARGO_BIN_EXE_labscope");
    let variables = [("LABSCOPE_HOST", served.url()), ("LABSCOPE_TOKEN", token), ("no_proxy", "*")];
    let mut screen = Screen::start_with(&home, program, &["mr"], &variables);
    screen.wait("the push is offered", |screen| {
        let contents = screen.contents();
        contents.contains("Push ada/tidy-rows (1 commit)") && contents.contains("Tidy the rows")
    });
    assert!(!screen.has_sent(token), "the token in the address is not shown");
    screen.keys("y");
    screen.wait("the form has the texts of the commit", |screen| {
        let contents = screen.contents();
        contents.contains("New merge request in acme/rocket-ui")
            && contents.contains("Tidy the rows")
            && contents.contains("They were not.")
    });
    let upstream = git(&home, &["rev-parse", "--abbrev-ref", "ada/tidy-rows@{upstream}"]);
    assert_eq!(upstream, "origin/ada/tidy-rows");
    screen.keys("\x13");
    screen.wait("the merge request is open", |screen| {
        let contents = screen.contents();
        contents.contains("Tidy the rows")
            && contents.contains("ada/tidy-rows")
            && !contents.contains("New merge request")
    });
    screen.keys("Q");
    assert_eq!(screen.exit_code(), 0);
    std::fs::write(home.path("work/ROWS.md"), "Rows are very tidy.\n").expect("written");
    git(&home, &["commit", "-q", "-a", "-m", "Tidy more"]);
    let mut screen = Screen::start_with(&home, program, &["mr"], &variables);
    screen.wait("the merge request of the branch is open", |screen| {
        let contents = screen.contents();
        contents.contains("Tidy the rows") && contents.contains("1 commit not pushed")
    });
    screen.keys("gh");
    screen.wait("Home begins with the branch", |screen| screen.contents().contains("This branch ada/tidy-rows"));
    git(&home, &["switch", "-q", "main"]);
    screen.keys("g.");
    screen.wait("another branch is checked out", |screen| screen.contents().contains("main is the default branch"));
    screen.keys("Q");
    assert_eq!(screen.exit_code(), 0);
}
