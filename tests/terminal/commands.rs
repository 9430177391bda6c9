//! Custom commands of the configuration in a real terminal: their arguments, their output, and their failures.

use crate::given_back;
use crate::home::Home;
use crate::review::{WORLD, api};
use crate::screen::Screen;
use crate::served::Served;

const COMMANDS: &str = r#"
[[commands]]
name = "Print words"
key = "M-1"
run = ["printf", "%s|", "of {project}", "$(id)", "end"]

[[commands]]
name = "Print variables"
key = "M-2"
run = "printf 'of %s in a shell' \"$LABSCOPE_PROJECT\""
show = "silent"

[[commands]]
name = "Take the terminal"
key = "M-3"
run = ["sh", "-c", "printf 'it has the terminal '; read line; echo \"$line\" > \"$HOME/read\""]
show = "terminal"

[[commands]]
name = "Start nothing"
key = "M-4"
run = ["labscope-no-such-program"]

[[commands]]
name = "Fail silently"
key = "M-5"
run = "echo no luck; exit 3"
show = "silent"

[[commands]]
name = "Drive the terminal"
key = "M-6"
run = "printf '\\033[2J\\033]0;owned\\007\\033[?1049l\\033[31mharmless\\033[0m words'"

[[commands]]
name = "Need a job"
key = "M-7"
run = ["echo", "{job_id}"]

[[commands]]
name = "Fail in the terminal"
key = "M-8"
run = ["sh", "-c", "exit 4"]
show = "terminal"
"#;

#[test]
fn custom_commands_show_their_output_and_explain_failures() {
    let home = Home::new();
    std::fs::write(home.path("config/labscope/config.toml"), COMMANDS).expect("written");
    let arguments = ["demo", "acme/rocket-ui"];
    let mut screen = Screen::start(&home, env!("CARGO_BIN_EXE_labscope"), &arguments);
    let shows = |words: &'static str| move |screen: &vt100::Screen| screen.contents().contains(words);
    screen.wait("the files are listed", shows("README.md"));

    screen.keys("\x1b1");
    screen.wait("each value is one argument, and no shell reads it", shows("of acme/rocket-ui|$(id)|end|"));
    screen.wait("it is done", shows("done"));
    screen.keys("q");
    screen.wait("its output is closed", |screen| !screen.contents().contains("$(id)"));

    screen.keys("\x1b2");
    screen.wait("a shell has variables", shows("Print variables: done: of acme/rocket-ui in a shell"));

    screen.keys("\x1b3");
    screen.wait("the program has the terminal", |screen| {
        !screen.alternate_screen() && screen.contents().contains("it has the terminal")
    });
    screen.keys("typed\r");
    screen.wait("what it printed can be read", |screen| {
        !screen.alternate_screen() && screen.contents().contains("\nPress Enter to return to labscope")
    });
    screen.keys("j\r");
    screen.wait("the interface is back", |screen| screen.alternate_screen() && screen.contents().contains("README.md"));
    assert_eq!(std::fs::read_to_string(home.path("read")).expect("written"), "typed\n");

    screen.keys("\x1b4");
    screen.wait("why it did not start", shows("labscope-no-such-program: No such file"));
    screen.keys("q");
    screen.wait("it is closed", |screen| !screen.contents().contains("could not be started"));

    screen.keys("\x1b5");
    screen.wait("how it failed", shows("Fail silently failed with exit status: 3: no luck"));

    screen.keys("\x1b6");
    screen.wait("words without their escape sequences", shows("harmless words"));
    screen.wait("the screen is still the program's", |screen| {
        screen.alternate_screen()
            && screen.contents().contains("Drive the terminal")
            && !screen.contents().contains("[31m")
    });
    screen.keys("q");
    screen.wait("it is closed", |screen| !screen.contents().contains("harmless"));

    screen.keys("\x1b7");
    screen.wait("what is missing", shows("No job_id here"));

    screen.keys("\x1b8");
    screen.wait("how it failed, before it returns", |screen| {
        let shown = screen.contents();
        !screen.alternate_screen() && shown.contains("Fail in the terminal failed with exit status: 4. Press Enter to")
    });
    screen.keys("\r");
    screen.wait("how it failed, afterwards", shows("Fail in the terminal failed with exit status: 4"));

    screen.keys("Q");
    assert_eq!(screen.exit_code(), 0);
    given_back(&mut screen);
}

/// A shell script that reviews: it reads the changes and comments on a line of them, and on one that is not there.
const REVIEWER: &str = r#"
[[commands]]
name = "Reviewer"
key = "M-1"
places = ["mr"]
input = "diff"
result = "review"
run = '''
env | grep -c TOKEN > "$HOME/tokens"
if grep -q 'third nothing'; then
  echo reading >&2
  printf '%s\n' '{"path": "plan.txt", "line": 3, "body": "Nothing is too little.\n/close"}' '{"path": "plan.txt", "line": 99, "body": "And then?"}'
fi
'''
"#;

#[test]
fn a_script_reviews_and_a_person_sends_what_it_wrote() {
    let home = Home::new();
    let world = home.path("world.toml");
    std::fs::write(&world, WORLD).expect("written");
    std::fs::write(home.path("config/labscope/config.toml"), REVIEWER).expect("written");
    let served = Served::start(&home, &["--world", world.to_str().expect("UTF-8")]);
    let variables = [("LABSCOPE_HOST", served.url()), ("LABSCOPE_TOKEN", served.token("ada"))];
    let mut screen = Screen::start_with(&home, env!("CARGO_BIN_EXE_labscope"), &["bo/garden!1"], &variables);
    let shows = |words: &'static str| move |screen: &vt100::Screen| screen.contents().contains(words);
    screen.wait("it opens", shows("plan → main"));
    screen.keys("3");
    screen.wait("its changes are shown", shows("first roses"));
    screen.keys("\x1b1");
    screen.wait("its drafts are told", shows("Reviewer: 2 drafts on !1"));
    screen.wait("they are shown with its name", shows("by Reviewer"));
    assert_eq!(std::fs::read_to_string(home.path("tokens")).expect("written"), "0\n");
    let notes = || api(&home, &served, "/projects/bo%2Fgarden/merge_requests/1/notes").to_string();
    assert!(!notes().contains("too little"), "nothing is sent by itself");
    screen.keys("S");
    screen.wait("the review is to be submitted", shows("Submit review of !1"));
    screen.keys("\x13");
    // While the changes are read again, the drafts that are left are not shown for a moment.
    let is_over = |screen: &vt100::Screen| {
        ["Sent 2 comments", "Submitted your review of !1"].iter().any(|words| screen.contents().contains(words))
    };
    screen.wait("the review is submitted", is_over);
    let sent = notes();
    assert!(sent.contains("Nothing is too little.\\n\\\\/close"), "{sent}");
    assert!(sent.contains("`plan.txt:99` (not among the changes)"), "{sent}");
    let request = api(&home, &served, "/projects/bo%2Fgarden/merge_requests/1");
    assert_eq!(request["state"], "opened", "a command of a program is text");
    screen.keys("Q");
    assert_eq!(screen.exit_code(), 0);
}
