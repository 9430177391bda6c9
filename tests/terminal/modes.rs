//! Terminal features beyond cells: links, focus reports, and the keyboard protocol, and that they are turned off at the
//! end.

use crate::demo;
use crate::given_back;
use crate::home::Home;
use crate::screen::Screen;

const KITTY: (&str, &str) = ("TERM", "xterm-kitty");

#[test]
fn keyboard_and_focus_reports_are_enabled_and_disabled_at_the_end() {
    let home = Home::new();
    let mut screen = Screen::start_with(&home, env!("CARGO_BIN_EXE_labscope"), &["demo"], &[KITTY]);
    let begun = screen.wait_for_bytes("the alternate screen", "\x1b[?1049h");
    let kept = screen.wait_for_bytes("the title is kept", "\x1b[22;2t");
    assert!(kept < screen.wait_for_bytes("and set", "\x1b]2;labscope\x07"));
    screen.wait_for_bytes("the protocol is asked for", "\x1b[?u");
    screen.keys("\x1bP>|kitty(0.48.0)\x1b\\\x1b[?0u\x1b[?62;52c");
    let pushed = screen.wait_for_bytes("kitty's keyboard flags, of this screen", "\x1b[>5u");
    assert!(begun < pushed);
    screen.wait_for_bytes("reports of the focus", "\x1b[?1004h");
    screen.wait("home", |screen| screen.contents().contains("acme/rocket-ui"));
    // C-i, which differs from Tab here, has nowhere to go.
    screen.keys("\x1b[105;5u");
    screen.wait("C-i is told from Tab", |screen| screen.contents().contains("forward history"));
    screen.keys("\x1b[O\x1b[IQ");
    assert_eq!(screen.exit_code(), 0);
    let popped = screen.wait_for_bytes("the flags are taken back", "\x1b[<1u");
    assert!(popped < screen.wait_for_bytes("before their screen goes", "\x1b[?1049l"));
    screen.wait_for_bytes("the focus is not reported any more", "\x1b[?1004l");
    let cleared = screen.wait_for_bytes("the title is cleared", "\x1b]2;\x07");
    assert!(cleared < screen.wait_for_bytes("or restored", "\x1b[23;2t"));
    given_back(&mut screen);
}

#[test]
fn modes_of_keys_of_one_terminal_are_set_there_and_restored() {
    for (variable, on, off) in [
        // By default, xterm 412 sends Alt-s as another letter.
        (("XTERM_VERSION", "XTerm(412)"), "\x1b[?1036s\x1b[?1036h", "\x1b[?1036r"),
        // smkx and rmkx of st 0.9 (st.info).
        (("TERM", "st-256color"), "\x1b[?1h\x1b=", "\x1b[?1l\x1b>"),
    ] {
        let home = Home::new();
        let mut screen = Screen::start_with(&home, env!("CARGO_BIN_EXE_labscope"), &["demo"], &[variable]);
        screen.wait_for_bytes("the mode", on);
        screen.wait("home", |screen| screen.contents().contains("acme/rocket-ui"));
        screen.keys("Q");
        assert_eq!(screen.exit_code(), 0);
        screen.wait_for_bytes("the mode before", off);
        given_back(&mut screen);
    }
}

#[test]
fn an_unknown_terminal_gets_no_keyboard_flags() {
    let home = Home::new();
    let mut screen = demo(&home);
    screen.keys("Q");
    assert_eq!(screen.exit_code(), 0);
    assert!(!screen.has_sent("\x1b[>5u") && !screen.has_sent("\x1b[<1u"));
}

#[test]
fn links_open_their_page_and_leave_no_traces() {
    let home = Home::new();
    let arguments = ["demo", "acme/rocket-ui/-/releases"];
    let mut screen = Screen::start(&home, env!("CARGO_BIN_EXE_labscope"), &arguments);
    screen.resize(40, 160);
    screen.wait("the releases", |screen| screen.contents().contains("Layouts by weight"));
    screen.keys("j");
    screen.wait("the files of a release", |screen| screen.contents().contains("Guide to layouts"));
    let link = "\x1b]8;;https://docs.acme.example/rocket-ui/layouts\x1b\\";
    let at = screen.wait_for_bytes("its link", link);
    screen.wait_for_bytes("the end of links", "\x1b]8;;\x1b\\");
    assert!(at > 0);
    screen.keys("Q");
    assert_eq!(screen.exit_code(), 0);
}

#[test]
fn copying_uses_osc_52_and_says_that_the_terminal_may_ignore_it() {
    let home = Home::new();
    let mut screen = demo(&home);
    screen.keys("gp");
    screen.wait("the projects", |screen| screen.contents().contains("Visibility"));
    screen.keys("y");
    screen.wait("what can be copied", |screen| screen.contents().contains("Copy"));
    screen.keys("\r");
    screen.wait_for_bytes("OSC 52", "\x1b]52;c;");
    screen.wait("it says so", |screen| screen.contents().contains(", if the terminal supports OSC 52"));
    screen.keys("Q");
    assert_eq!(screen.exit_code(), 0);
}

#[test]
fn without_a_server_a_screen_shows_how_to_start() {
    let home = Home::new();
    let mut screen = Screen::start(&home, env!("CARGO_BIN_EXE_labscope"), &[]);
    screen.wait("the ways to begin", |screen| {
        let shown = screen.contents();
        screen.alternate_screen()
            && ["labscope demo", "labscope local", "auth login --host HOST"].iter().all(|w| shown.contains(w))
    });
    screen.keys("q");
    assert_eq!(screen.exit_code(), 0);
    given_back(&mut screen);

    let mut screen = Screen::start(&home, env!("CARGO_BIN_EXE_labscope"), &[]);
    screen.wait("the ways to begin", |screen| screen.contents().contains("labscope demo"));
    screen.keys("jk\r");
    screen.wait("the demo opens", |screen| screen.contents().contains("acme/rocket-ui"));
    screen.keys("Q");
    assert_eq!(screen.exit_code(), 0);
    given_back(&mut screen);

    // This folder is not a repository: the reason is printed to the shell.
    let mut screen = Screen::start(&home, env!("CARGO_BIN_EXE_labscope"), &[]);
    screen.wait("this folder is no repository", |screen| screen.contents().contains("this folder is not one"));
    screen.keys("2");
    screen.wait("why", |screen| !screen.alternate_screen() && screen.contents().contains("labscope: "));
    assert_eq!(screen.exit_code(), 1);
}

#[test]
fn a_log_that_cannot_be_written_is_reported_at_the_end_and_never_drawn() {
    let home = Home::new();
    let mut screen = Screen::start(&home, env!("CARGO_BIN_EXE_labscope"), &["--log", "/dev/full", "demo"]);
    screen.wait("home", |screen| screen.contents().contains("acme/rocket-ui"));
    screen.keys("gp");
    screen.wait("the projects", |screen| screen.contents().contains("Visibility"));
    assert!(!screen.has_sent("No space left") && !screen.has_sent("tracing"));
    screen.keys("Q");
    screen.wait("the reason", |screen| {
        !screen.alternate_screen() && screen.contents().contains("the log is incomplete: No space left on device")
    });
    assert_eq!(screen.exit_code(), 0);
    // The terminal itself is no place for a log.
    let mut screen = Screen::start(&home, env!("CARGO_BIN_EXE_labscope"), &["--log", "/dev/stderr", "demo"]);
    screen.wait("why", |screen| screen.contents().contains("/dev/stderr is a terminal"));
    assert_eq!(screen.exit_code(), 2);
}
