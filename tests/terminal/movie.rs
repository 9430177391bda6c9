//! The moving picture of the README: three jobs in the demo world, played with the program in a terminal. With
//! `UPDATE_PICTURES=1`, or `UPDATE_PICTURES=labscope`, it is drawn again.

use crate::home::Home;
use crate::screen::Screen;
use crate::svg::{self, Frame};
use std::path::{Path, PathBuf};

/// The rows and columns of the terminal.
const SIZE: (u16, u16) = (28, 112);
/// The maximum size of the file in bytes.
const MAX_BYTES: usize = 400_000;
/// The name of the picture for `UPDATE_PICTURES`.
const NAME: &str = "labscope";

/// A part of the movie, with the keys that are pressed before each of its frames.
struct Job {
    caption: &'static str,
    steps: &'static [Step],
}

/// Keys, and the frame that follows.
struct Step {
    /// The keys as the terminal sends them.
    keys: &'static str,
    /// The keys as they are shown.
    shown: &'static str,
    /// Text on the screen before the frame is taken.
    until: &'static str,
    /// How long the frame is shown, in milliseconds.
    millis: u32,
    /// Whether the screen goes on changing, so that the frame is taken at once.
    is_live: bool,
}

const fn step(keys: &'static str, shown: &'static str, until: &'static str, millis: u32) -> Step {
    Step { keys, shown, until, millis, is_live: false }
}

const fn live(keys: &'static str, shown: &'static str, until: &'static str, millis: u32) -> Step {
    Step { is_live: true, ..step(keys, shown, until, millis) }
}

/// The three jobs. Each text is what the next key needs.
const JOBS: &[Job] = &[
    Job {
        caption: "1 Browse a repository without a clone",
        steps: &[
            step("", "", "README.md", 2000),
            step("f", "f", "Cargo.toml", 1200),
            step("t", "t", "Fuzzy path", 800),
            step("ui/tab", "ui/tab", "src/ui/table.rs", 1000),
            step("\r", "Enter", "src/ui/table.rs", 1800),
            step("B", "B", "Ada Sommer", 2400),
        ],
    },
    Job {
        caption: "2 Review a merge request, comment on a line",
        steps: &[
            step("gm", "g m", "Draw only visible rows", 1600),
            step("\r", "Enter", "What changes", 1800),
            step("3", "3", "expand ", 1400),
            step("\tjjjj\t", "Tab  j j j j  Tab", "src/ui/table.rs", 900),
            step("jjjjjj", "j j j j j j", "src/ui/table.rs", 900),
            step("c", "c", "C-s", 900),
            step("Does it hold ", "", "Does it hold", 500),
            step("for an *empty* window?", "", "empty", 1200),
            step("\x13", "C-s", "Overview", 2600),
        ],
    },
    Job {
        caption: "3 Watch a job live, from error to error",
        steps: &[
            step("gj", "g j", "pipeline ", 1500),
            step("4", "4", "compile", 1200),
            step("\r", "Enter", "error[E0583]", 2200),
            live("R", "R", "running", 900),
            live("", "", "Checking out", 900),
            live("", "", "Compiling", 900),
            step("", "", "Job failed", 1500),
            step("EEE", "E E E", "error[E0583]", 2400),
        ],
    },
];

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/pictures").join(format!("{NAME}.svg"))
}

#[test]
fn the_moving_picture_shows_the_three_jobs_and_is_small() {
    let picture = std::fs::read_to_string(file()).expect("a picture: run docs/pictures.sh");
    assert!(picture.len() <= MAX_BYTES, "{} bytes", picture.len());
    let words = svg::words(&picture);
    for job in JOBS {
        assert!(words.contains(job.caption), "{}", job.caption);
    }
    // Nothing that the pages of repositories remove, and nothing from elsewhere.
    for foreign in ["<script", "<image", "href=\"http", "url(", "@import", "<animate", "<foreignObject"] {
        assert!(!picture.contains(foreign), "{foreign}");
    }
    let readme = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).expect("a README");
    let first = readme.split("](").nth(1).and_then(|rest| rest.split(')').next());
    assert_eq!(first, Some("docs/pictures/labscope.svg"), "the first picture of the README");
}

#[test]
fn the_three_jobs_can_be_played() {
    let home = Home::new();
    let arguments = ["demo", "acme/rocket-ui", "--theme", "dark"];
    let mut screen = Screen::start(&home, env!("CARGO_BIN_EXE_labscope"), &arguments);
    screen.resize(SIZE.0, SIZE.1);
    let mut frames = Vec::new();
    for job in JOBS {
        for step in job.steps {
            screen.keys(step.keys);
            screen.wait(step.until, |screen| screen.contents().contains(step.until));
            let frame = |seen: &vt100::Screen| Frame::new(seen, job.caption, step.shown, step.millis);
            frames.push(if step.is_live { screen.at_once(frame) } else { screen.at_rest(frame) });
        }
    }
    if std::env::var("UPDATE_PICTURES").is_ok_and(|wanted| wanted == "1" || wanted == NAME) {
        std::fs::write(file(), svg::movie(&frames)).expect("written");
    }
    screen.keys("\x03");
}
