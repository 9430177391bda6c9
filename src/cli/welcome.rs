//! The welcome screen of `labscope` if no server is configured: a menu of ways to get started.

use super::args::{AuthCommand, Global};
use super::auth::input;
use super::failure::Failure;
use super::interface::{self, Preferences};
use super::{async_runtime, auth, embedded_server, open, server};
use crate::backend;
use crate::runtime::welcome;
use crate::ui::line::Line;
use crate::ui::theme::{Role, Theme};
use crate::ui::{cursor_hint, glyph, popup, text};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::path::Path;

/// A menu entry: a command and its description.
type MenuEntry = (String, &'static str);

/// The folder in which labscope was started.
struct Folder {
    is_repository: bool,
    /// The server that it seems to be cloned from.
    host: Option<String>,
}

impl Folder {
    fn menu(&self) -> [MenuEntry; 3] {
        let local = match self.is_repository {
            true => "Browse the git repository of this folder; it is never modified",
            false => "Browse a git repository; this folder is not one",
        };
        let sign_in = match self.host {
            Some(_) => "Sign in to the server of this clone, or to another one",
            None => "Sign in to a server such as git.example.com",
        };
        [
            ("labscope demo".to_owned(), "Explore demo data, without an account or a network"),
            ("labscope local".to_owned(), local),
            (format!("labscope auth login --host {}", self.host.as_deref().unwrap_or("HOST")), sign_in),
        ]
    }

    /// Returns the prompt for a server.
    fn prompt(&self) -> String {
        match &self.host {
            Some(host) => format!("Server (Enter for {host}, Esc goes back): "),
            None => "Server, such as git.example.com (Esc goes back): ".to_owned(),
        }
    }
}

/// Shows the menu and runs the selected command.
///
/// # Errors
/// Returns the failure of the selected command, or a failure if the terminal cannot be used.
pub fn run(global: &Global, preferences: &Preferences) -> Result<(), Failure> {
    interface::require_terminal()?;
    glyph::set_alphabet(preferences.appearance.alphabet);
    let theme = &preferences.appearance.theme;
    let folder = Folder { is_repository: backend::local_project(Path::new(".")).is_ok(), host: server::clone_host() };
    let menu = folder.menu();
    let draw = |selected: usize, area: Rect, buf: &mut Buffer| draw(theme, &menu, selected, area, buf);
    loop {
        let runtime = async_runtime()?;
        let chosen = runtime.block_on(welcome::choose(menu.len(), draw));
        let chosen = chosen.map_err(|e| Failure::failed(format!("cannot use the terminal: {e}")))?;
        drop(runtime);
        return match chosen {
            Some(0) => embedded_server::demo(global, None, None, false),
            Some(1) => embedded_server::local(global, Path::new("."), None),
            Some(_) => match sign_in(global, &folder)? {
                Some(signed_in) => open::run(&signed_in, open::Opened::Target(None)),
                None => continue,
            },
            None => Ok(()),
        };
    }
}

/// Prompts for a server and signs in, until it succeeds; returns `None` if the user canceled.
fn sign_in(global: &Global, folder: &Folder) -> Result<Option<Global>, Failure> {
    while let Some(line) = input::prompt_line(&folder.prompt(), true)? {
        let host = match (line.trim(), &folder.host) {
            ("", Some(host)) => host,
            ("", None) => continue,
            (typed, _) => typed,
        };
        let global = Global { host: Some(host.to_owned()), ..global.clone() };
        match auth::run(&global, AuthCommand::Login { device: false }) {
            Ok(()) => return Ok(Some(global)),
            Err(failure) => failure.report(),
        }
    }
    Ok(None)
}

/// Draws the menu; in accessible mode, returns the position of the cursor.
fn draw(theme: &Theme, menu: &[MenuEntry], selected: usize, area: Rect, buf: &mut Buffer) -> Option<(u16, u16)> {
    let (words, dim, key) = (Role::Overlay, Role::Dim, Role::Key);
    theme.fill(buf);
    let inner = popup::draw(buf, area, theme, "labscope", 72, 14);
    let mut y = inner.y;
    let mut put = |line: Line| {
        let at = Rect { y, height: 1, ..inner }.intersection(inner);
        line.draw(buf, at, theme);
        y += 1;
        at
    };
    put(Line::new("No server is configured yet. To get started:", words));
    put(Line::empty());
    let mut cursor = None;
    for (index, (command, about)) in menu.iter().enumerate() {
        let (mark, style) = match index == selected {
            true => (glyph::mark(), Role::Title),
            false => (" ", words),
        };
        let number = format!("{} ", index + 1);
        // For screen readers, the line of the cursor contains the whole entry.
        let description = if glyph::is_accessible() { format!(": {about}") } else { String::new() };
        let at =
            put(Line::new(format!("{mark} "), Role::Mark).and(number, dim).and(command, style).and(description, words));
        if index == selected {
            cursor = Some((at.x, at.y));
        }
        if !glyph::is_accessible() {
            put(Line::new(format!("    {about}"), dim));
        }
        put(Line::empty());
    }
    let more = "LABSCOPE_HOST, or host in the configuration, sets the server permanently.";
    put(Line::new(text::fit(more, inner.width.into()), dim));
    put(Line::empty());
    put([("Enter", key), (" start   ", dim), ("q", key), (" quit", dim)].into());
    cursor_hint::take();
    cursor.filter(|_| glyph::is_accessible())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_of_the_clone_is_named() {
        let folder = Folder { is_repository: true, host: Some("git.example.org".into()) };
        let [.., (command, about)] = folder.menu();
        assert_eq!(
            (command.as_str(), about),
            ("labscope auth login --host git.example.org", "Sign in to the server of this clone, or to another one",)
        );
        assert!(folder.prompt().contains("Enter for git.example.org"));
    }

    #[test]
    fn menu_entries_are_shown_at_any_size() {
        for (width, height) in [(80, 24), (160, 45), (44, 12), (1, 1), (0, 0)] {
            let area = Rect::new(0, 0, width, height);
            let mut buf = Buffer::empty(area);
            let menu = Folder { is_repository: false, host: None }.menu();
            assert_eq!(draw(&Theme::plain(), &menu, 1, area, &mut buf), None);
            let screen: String = buf.content().iter().map(|cell| cell.symbol()).collect();
            if width >= 80 {
                for words in
                    ["labscope demo", "labscope local", "auth login --host HOST", "this folder is not one", "quit"]
                {
                    assert!(screen.contains(words), "{words}: {screen}");
                }
            }
        }
    }
}
