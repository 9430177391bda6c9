//! Walks through the tour of docs/tour.md with the program in a terminal. With `UPDATE_PICTURES=1`, or the name of a
//! scene, the pictures are drawn again.

use crate::home::Home;
use crate::screen::Screen;
use crate::svg;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The number of scenes walked concurrently.
const TOGETHER: usize = 4;

/// A picture of the tour.
struct Scene {
    /// The file name below `docs/pictures`, without its extension.
    name: &'static str,
    target: &'static str,
    light: bool,
    /// The rows and columns of the terminal.
    size: (u16, u16),
    /// Text on the screen before any key is pressed.
    before: &'static str,
    /// The keys to press, each with the text shown afterwards.
    keys: &'static [(&'static str, &'static str)],
}

const fn dark(name: &'static str, target: &'static str, size: (u16, u16), before: &'static str) -> Scene {
    Scene { name, target, light: false, size, before, keys: &[] }
}

impl Scene {
    const fn light(self) -> Scene {
        Scene { light: true, ..self }
    }

    const fn keys(self, keys: &'static [(&'static str, &'static str)]) -> Scene {
        Scene { keys, ..self }
    }

    fn file(&self) -> PathBuf {
        folder().join(format!("{}.svg", self.name))
    }
}

/// The scenes in the order of the tour.
const SCENES: &[Scene] = &[
    dark("home", "acme/rocket-ui", (26, 120), "README.md").keys(&[("gh", "Assigned to me")]),
    dark("projects", "projects", (20, 120), "acme/tools/cli").light().keys(&[("|", "sorted by the server")]),
    dark("overview", "acme/rocket-ui", (44, 120), "README.md").keys(&[(":overview\r", "33 Bo")]),
    dark("files", "acme/rocket-ui@main:src/ui/table.rs", (30, 120), "window").light(),
    dark("blame", "acme/rocket-ui@main:src/ui/table.rs", (24, 120), "window").keys(&[("B", "Ada Sommer")]),
    dark("commits", "acme/rocket-ui/-/commits", (26, 130), "Release 0.3.2"),
    dark("compare", "acme/rocket-ui/-/compare/v0.3.0...main", (22, 120), "52 ahead").light(),
    dark("branches", "acme/rocket-ui/-/branches", (14, 120), "feature/rows"),
    dark("tags", "acme/rocket-ui/-/tags", (18, 120), "Long lines").light(),
    dark("requests", "acme/rocket-ui/-/merge_requests", (18, 130), "Draw only visible rows")
        .light()
        .keys(&[("/state:opened author:", "state:opened author:")]),
    dark("request", "acme/rocket-ui!42", (36, 120), "What changes"),
    dark("changes", "acme/rocket-ui!42", (38, 150), "What changes").keys(&[("3", "expand ")]),
    dark("comment", "acme/rocket-ui!42", (26, 120), "What changes")
        .light()
        .keys(&[("c", "C-s"), ("Does it hold for an *empty* window?", "empty")]),
    dark("jobs", "acme/rocket-ui/-/jobs", (30, 130), "compile"),
    dark("trace", "acme/rocket-ui/-/jobs/121", (32, 130), "Job succeeded"),
    dark("artifacts", "acme/rocket-ui/-/jobs/121/artifacts", (20, 130), "report.xml")
        .light()
        .keys(&[("G\r", "all passed")]),
    dark("runners", "acme/rocket-ui/-/runners", (18, 130), "mill-1"),
    dark("deployments", "acme/rocket-ui/-/deployments", (20, 130), "production").light(),
    dark("groups", "groups/acme", (22, 120), "rocket-ui"),
    dark("search", "acme/rocket-ui/-/branches", (26, 130), "feature/rows").light().keys(&[
        ("gs", "Search acme"),
        ("/rows", "rows"),
        ("\r", "Code 40"),
    ]),
    dark("issue", "acme/rocket-ui#42", (34, 110), "The caller keeps it"),
    dark("snippet", "acme/rocket-ui/-/snippets/1", (22, 120), "Frames in the last second"),
    dark("user", "@ada", (26, 120), "Rotterdam").light(),
    dark("notifications", "notifications", (24, 110), "participating").keys(&[("e", "C-s")]),
    dark("form", "projects", (34, 110), "acme/rocket-ui")
        .light()
        .keys(&[("+", "New project"), ("Moon\tno blanks", "only letters")]),
    dark("palette", "acme/rocket-ui", (26, 120), "README.md").keys(&[(":br", "branches")]),
    dark("anything", "acme/rocket-ui", (22, 120), "README.md")
        .light()
        .keys(&[("\x10", "Go to anything"), ("row", "!42")]),
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/pictures")
}

#[test]
fn the_pictures_of_the_tour_are_complete_and_show_their_subject() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let tour = std::fs::read_to_string(root.join("docs/tour.md")).expect("the tour");
    let named: Vec<&str> = tour.split("](pictures/").skip(1).filter_map(|rest| rest.split(".svg)").next()).collect();
    let drawn: Vec<&str> = SCENES.iter().map(|scene| scene.name).collect();
    assert_eq!(named, drawn, "the tour shows all pictures in order");
    for scene in SCENES {
        let picture = std::fs::read_to_string(scene.file()).expect("a picture: run docs/pictures.sh");
        let last = scene.keys.last().map_or(scene.before, |(_, behind)| behind);
        assert!(svg::words(&picture).contains(last), "{}.svg does not show {last:?}", scene.name);
    }
}

/// Walks one scene, and draws its picture if `drawn` is set.
fn walk(scene: &Scene, drawn: bool) {
    let home = Home::new();
    let theme = if scene.light { "light" } else { "dark" };
    let arguments = ["demo", scene.target, "--theme", theme];
    let mut screen = Screen::start(&home, env!("CARGO_BIN_EXE_labscope"), &arguments);
    screen.resize(scene.size.0, scene.size.1);
    screen.wait(scene.before, |screen| screen.contents().contains(scene.before));
    for (keys, behind) in scene.keys {
        screen.keys(keys);
        screen.wait(behind, |screen| screen.contents().contains(behind));
    }
    if drawn {
        let picture = screen.at_rest(|seen| svg::picture(seen, scene.light));
        std::fs::write(scene.file(), picture).expect("written");
    }
    screen.keys("\x03");
}

#[test]
fn the_tour_can_be_walked() {
    let wanted = std::env::var_os("UPDATE_PICTURES");
    std::fs::create_dir_all(folder()).expect("a folder");
    // Most of the time of a walk is spent waiting for its server to start.
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..TOGETHER {
            scope.spawn(|| {
                while let Some(scene) = SCENES.get(next.fetch_add(1, Ordering::Relaxed)) {
                    walk(scene, wanted.as_ref().is_some_and(|wanted| wanted == "1" || wanted == scene.name));
                }
            });
        }
    });
}
