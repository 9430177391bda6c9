//! The program in a real terminal: it draws, it can be used, and it restores the terminal however it ends.
#![cfg(unix)]

mod accessible;
mod branch;
mod commands;
mod editing;
#[path = "../support/home.rs"]
mod home;
mod hosts;
mod kept;
mod killed;
mod modes;
mod movie;
mod pictures;
mod programs;
mod review;
#[path = "../support/sample.rs"]
mod sample;
mod screen;
mod secrets;
#[path = "../support/served.rs"]
mod served;
mod soak;
mod svg;

use home::{Home, send};
use labscope::runtime::terminal::{Terminal, TerminalOptions};
use screen::Screen;
use served::Served;
use std::io::Write;

/// A project of the demo world.
const PROJECT: &str = "acme/rocket-ui";

fn demo(home: &Home) -> Screen {
    let mut screen = Screen::start(home, env!("CARGO_BIN_EXE_labscope"), &["demo"]);
    screen.wait("the projects are drawn", |screen| screen.contents().contains(PROJECT));
    screen
}

/// Returns whether a shell is waiting for a command. The shell may use some terminal modes itself.
fn prompt(screen: &vt100::Screen) -> bool {
    !screen.alternate_screen() && !screen.hide_cursor() && screen.contents().trim_end().ends_with('$')
}

/// Asserts that the terminal is restored after the program has ended.
fn given_back(screen: &mut Screen) {
    screen.wait("the terminal is as it was", |screen| {
        !screen.alternate_screen()
            && !screen.hide_cursor()
            && !screen.bracketed_paste()
            && screen.mouse_protocol_mode() == vt100::MouseProtocolMode::None
    });
    assert!(screen.has_its_flags(), "the terminal's flags are restored");
}

#[test]
fn the_demo_opens_and_quits_without_leftovers() {
    let home = Home::new();
    let mut screen = demo(&home);
    screen.wait("the screen is the program's", |screen| screen.alternate_screen());
    screen.keys("Q");
    assert_eq!(screen.exit_code(), 0);
    given_back(&mut screen);
    assert!(home.left_behind().is_empty(), "{:?}", home.left_behind());
    assert!(!home.path("data/labscope").exists());
}

#[test]
fn a_resized_terminal_is_filled() {
    let home = Home::new();
    let mut screen = demo(&home);
    for (rows, columns) in [(40, 140), (24, 80), (5, 20), (30, 100)] {
        screen.resize(rows, columns);
        if rows > 10 {
            screen.wait("the footer is on the last row", |screen| {
                let (rows, columns) = screen.size();
                let last = screen.rows(0, columns.get()).nth(usize::from(rows.get()) - 1).unwrap_or_default();
                last.trim_end().ends_with("? help") && screen.contents().contains(PROJECT)
            });
        }
    }
    screen.keys("Q");
    assert_eq!(screen.exit_code(), 0);
}

#[test]
fn a_signal_ends_the_program_as_cleanly_as_a_key() {
    for signal in ["TERM", "HUP", "INT"] {
        let home = Home::new();
        let mut screen = demo(&home);
        send(signal, screen.process());
        assert_eq!(screen.exit_code(), 0);
        given_back(&mut screen);
        assert!(home.left_behind().is_empty(), "{signal}: {:?}", home.left_behind());
    }
}

#[test]
fn the_program_ends_when_its_window_is_closed() {
    let home = Home::new();
    demo(&home).close();
    assert!(home.left_behind().is_empty(), "{:?}", home.left_behind());
}

#[test]
fn a_light_terminal_gets_light_colors() {
    let home = Home::new();
    let mut screen = demo(&home);
    let [dark, light] = ["dark", "light"].map(screen::palette);
    screen.wait("dark colors come first", |screen| screen::shows(screen, &dark, &light));
    screen.wait_for_question();
    screen.keys("\x1b]11;rgb:ffff/ffff/ffff\x1b\\");
    screen.wait("light colors follow", |screen| screen::shows(screen, &light, &dark));
    screen.keys("Q");
    assert_eq!(screen.exit_code(), 0);
}

#[test]
fn the_program_can_be_suspended_and_resumed() {
    let home = Home::new();
    let mut shell = Screen::start(&home, "/bin/sh", &["-i"]);
    shell.keys(concat!(env!("CARGO_BIN_EXE_labscope"), " demo\r"));
    shell.wait("the projects are drawn", |screen| screen.contents().contains(PROJECT));
    shell.keys("\x1a");
    shell.wait("the shell says so", |screen| screen.contents().contains("Stopped") && prompt(screen));
    shell.keys("fg\r");
    shell.wait("it is back", |screen| screen.alternate_screen() && screen.contents().contains(PROJECT));
    shell.keys("Q");
    shell.wait("the shell asks again", prompt);
    shell.keys("exit\r");
    assert_eq!(shell.exit_code(), 0);
}

#[test]
fn an_external_stop_signal_returns_the_terminal_to_the_shell() {
    let home = Home::new();
    let mut shell = Screen::start(&home, "/bin/sh", &["-i"]);
    shell.keys(concat!("sh -c 'echo $$ > number; exec ", env!("CARGO_BIN_EXE_labscope"), " demo'\r"));
    shell.wait("the projects are drawn", |screen| screen.contents().contains(PROJECT));
    let number = std::fs::read_to_string(home.path("work/number")).expect("written");
    send("TSTP", number.trim().parse().expect("a number"));
    shell.wait("the shell says so", |screen| screen.contents().contains("Stopped") && prompt(screen));
    shell.keys("echo vis'ib'le; stty -a | grep -c -- -icanon\r");
    shell.wait("what is typed is read", |screen| screen.contents().contains("visible\n0"));
    shell.keys("fg\r");
    shell.wait("it is back", |screen| screen.alternate_screen() && screen.contents().contains(PROJECT));
    shell.keys("?");
    shell.wait("it has the keys", |screen| screen.contents().contains("─ Keys"));
    shell.keys("\x1b");
    shell.wait("the keys are gone", |screen| !screen.contents().contains("─ Keys"));
    shell.keys("Q");
    shell.wait("the shell asks again", prompt);
    shell.keys("exit\r");
    assert_eq!(shell.exit_code(), 0);
}

#[test]
fn a_missing_target_opens_the_nearest_existing_place() {
    let home = Home::new();
    let mut screen = Screen::start(&home, env!("CARGO_BIN_EXE_labscope"), &["demo", "acme/rocket-ui!9999"]);
    screen.wait("it says so, over the merge requests of the project", |screen| {
        screen.contents().contains("Showing the nearest existing place")
    });
    screen.keys("Q");
    assert_eq!(screen.exit_code(), 0);
}

#[test]
fn without_its_server_the_program_shows_cached_content_and_its_age() {
    let home = Home::new();
    let served = Served::start(&home, &[]);
    let url = served.url().to_owned();
    let token = home.path("token");
    std::fs::write(&token, served.token("root")).expect("written");
    let token = token.to_str().expect("UTF-8");
    let shared = ["--host", &url, "--token-file", token];
    let open = |offline: &[&str]| {
        let arguments: Vec<&str> = shared.iter().chain(offline).copied().chain(["acme/rocket-ui/-/branches"]).collect();
        Screen::start(&home, env!("CARGO_BIN_EXE_labscope"), &arguments)
    };
    let shows_branches = |screen: &vt100::Screen| screen.contents().contains("feature/rows");
    let mut screen = open(&[]);
    screen.wait("the branches are drawn", shows_branches);
    screen.keys("Q");
    assert_eq!(screen.exit_code(), 0);
    assert_eq!(served.end("TERM"), Some(0));

    let mut screen = open(&["--offline"]);
    screen.wait("they are there again", shows_branches);
    screen.wait("with their age", |screen| screen.contents().contains("offline · as of "));
    screen.keys("Q");
    assert_eq!(screen.exit_code(), 0);
    let mut screen = open(&[]);
    screen.wait("a server that is gone is another thing", |screen| {
        shows_branches(screen) && screen.contents().contains("unreachable · as of ")
    });
    screen.keys("Q");
    assert_eq!(screen.exit_code(), 0);
}

/// Set when a test starts itself a second time in order to crash.
const CRASH: &str = "LABSCOPE_TEST_CRASH";

#[test]
fn a_crash_restores_the_terminal_and_reports_its_location() {
    if std::env::var_os(CRASH).is_some() {
        return crash();
    }
    let home = Home::new();
    let itself = std::env::current_exe().expect("a path");
    let arguments = ["--exact", "a_crash_restores_the_terminal_and_reports_its_location", "--nocapture"];
    let mut screen = Screen::start_with(&home, itself.to_str().expect("UTF-8"), &arguments, &[(CRASH, "1")]);
    screen.wait("where it was", |screen| screen.contents().contains("labscope crashed at tests/terminal/main.rs"));
    screen.wait("why, cleaned", |screen| screen.contents().contains("on purpose\u{241b}[31m"));
    given_back(&mut screen);
}

/// The ways to end a process without unwinding.
const DEATHS: [&str; 6] = ["no memory", "no stack", "wild pointer", "truncated file", "invalid instruction", "sent"];

#[test]
fn every_death_of_the_process_restores_the_terminal() {
    if let Some(death) = std::env::var_os(CRASH) {
        return die(death.to_str().expect("UTF-8"));
    }
    let itself = std::env::current_exe().expect("a path");
    for death in DEATHS {
        let home = Home::new();
        let arguments = ["--exact", "every_death_of_the_process_restores_the_terminal", "--nocapture"];
        let mut screen = Screen::start_with(&home, itself.to_str().expect("UTF-8"), &arguments, &[(CRASH, death)]);
        screen.wait(death, |screen| screen.contents().contains("labscope ran out of memory or crashed."));
        if death == "no stack" {
            screen.wait("Rust's own report", |screen| screen.contents().contains("overflowed its stack"));
        }
        assert_ne!(screen.exit_code(), 0, "{death}");
        given_back(&mut screen);
    }
}

#[test]
fn what_libraries_print_is_not_drawn() {
    if std::env::var_os(CRASH).is_some() {
        let mut terminal = Terminal::open(TerminalOptions { mouse: true }).expect("a terminal");
        std::io::stderr().write_all(b"stray words").expect("written");
        terminal.release().expect("restored");
        std::io::stderr().write_all(b"the reason").expect("written");
        return;
    }
    let home = Home::new();
    let itself = std::env::current_exe().expect("a path");
    let arguments = ["--exact", "what_libraries_print_is_not_drawn", "--nocapture"];
    let mut screen = Screen::start_with(&home, itself.to_str().expect("UTF-8"), &arguments, &[(CRASH, "1")]);
    screen.wait("what is printed later", |screen| screen.contents().contains("the reason"));
    assert!(!screen.has_sent("stray"));
    given_back(&mut screen);
}

/// Ends the process while the terminal is open.
fn die(death: &str) {
    let _terminal = Terminal::open(TerminalOptions { mouse: true }).expect("a terminal");
    match death {
        "no memory" => {
            let all: Vec<u8> = Vec::with_capacity(std::hint::black_box(isize::MAX as usize));
            panic!("there are {} bytes", std::hint::black_box(all).capacity());
        }
        "no stack" => panic!("{} levels", nest(std::hint::black_box(u64::MAX))),
        // SAFETY: No object is at this address, and the process ends.
        "wild pointer" => unsafe {
            std::hint::black_box(std::ptr::without_provenance::<u64>(64).read_volatile());
        },
        "truncated file" => {
            let file = tempfile::tempfile().expect("a file");
            // SAFETY: The file has no bytes, so that reading from the mapped page ends the process.
            unsafe {
                let fd = std::os::fd::AsRawFd::as_raw_fd(&file);
                let page = libc::mmap(std::ptr::null_mut(), 4096, libc::PROT_READ, libc::MAP_SHARED, fd, 0);
                std::hint::black_box(page.cast::<u64>().read_volatile());
            }
        }
        // SAFETY: The calls only send a signal.
        "invalid instruction" => unsafe {
            libc::raise(libc::SIGILL);
        },
        // SAFETY: As above.
        "sent" => unsafe {
            libc::kill(libc::getpid(), libc::SIGSEGV);
            libc::pause();
        },
        other => panic!("unknown: {other}"),
    }
    panic!("the process survived");
}

/// Recurses until the stack ends.
#[expect(unconditional_recursion, reason = "this is what the test needs")]
fn nest(level: u64) -> u64 {
    let all = std::hint::black_box([level; 64]);
    nest(level - 1) + std::hint::black_box(all)[7]
}

/// Panics while the terminal is open. The interface runs on the program's main thread, which a test does not have.
fn crash() {
    labscope::cli::crash::install();
    let thread = std::thread::Builder::new().name("main".into()).spawn(|| {
        let _terminal = Terminal::open(TerminalOptions { mouse: true }).expect("a terminal");
        panic!("on purpose\x1b[31m");
    });
    assert!(thread.expect("a thread").join().is_err());
}
