//! Text typed into the editor survives any end of the program.

use crate::home::{Home, send};
use crate::screen::Screen;
use crate::served::Served;

/// A writable repository.
const WORLD: &str = r#"
[[users]]
username = "root"
name = "Root"
admin = true

[[users]]
username = "ada"
name = "Ada Sommer"

[[projects]]
path = "ada/rocket"
visibility = "public"
files = '''
-- Cargo.toml --
[package]
name = "rocket"
'''
script = '''
from 2026-06-02
to 2026-06-10
ada: Begin
  + Cargo.toml
'''
"#;

/// Opens the file of the repository in the interface.
fn open(home: &Home, served: &Served) -> Screen {
    let token = home.path("work/token");
    std::fs::write(&token, served.token("ada")).expect("written");
    let token = token.to_str().expect("UTF-8");
    let arguments = ["--host", served.url(), "--token-file", token, "ada/rocket@main:Cargo.toml"];
    let mut screen = Screen::start(home, env!("CARGO_BIN_EXE_labscope"), &arguments);
    screen.wait_for_command("e edit");
    screen
}

#[test]
fn text_typed_into_the_editor_survives_kill_9() {
    let home = Home::new();
    let world = home.path("work/world.toml");
    std::fs::write(&world, WORLD).expect("written");
    let served = Served::start(&home, &["--world", world.to_str().expect("UTF-8")]);
    let mut screen = open(&home, &served);
    screen.keys("e");
    screen.wait("the editor is open", |screen| {
        let text = screen.contents();
        text.contains("edit Cargo.toml") && text.contains("[package]")
    });
    screen.keys("# half a thou");
    screen.wait("it is typed", |screen| screen.contents().contains("# half a thou"));
    crate::kept::wait(&home.path("data"), "what was typed", |text| text.contains("# half a thou"));
    send("KILL", screen.process());
    screen.exit_code();
    let mut screen = open(&home, &served);
    screen.keys("e");
    screen.wait("it is there again", |screen| {
        let text = screen.contents();
        text.contains("# half a thou[package]") && text.contains("draft restored")
    });
    screen.keys("\x13");
    screen.wait("it is staged", |screen| screen.contents().contains("1 staged"));
    screen.keys("gi");
    screen.wait("the list shows it", |screen| screen.contents().contains("# half a thou[package]"));
    screen.keys("Q");
    assert_eq!(screen.exit_code(), 0);
}
