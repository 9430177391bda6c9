//! The welcome screen of `labscope` if no server is configured: a menu of ways to get started.

use super::args::{AuthCommand, Global};
use super::auth::input;
use super::failure::Failure;
use super::interface::{self, Preferences};
use super::{async_runtime, auth, embedded_server, open};
use crate::backend;
use crate::runtime::welcome;
use crate::ui::line::Line;
use crate::ui::theme::{Role, Theme};
use crate::ui::{cursor_hint, glyph, popup, text};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::path::Path;

/// A menu entry: a command and its description.
type MenuEntry = (&'static str, &'static str);

const MENU: [MenuEntry; 3] = [
    ("labscope demo", "Explore demo data, without an account or a network"),
    ("labscope local", "Browse the git repository of this folder; it is never modified"),
    ("labscope auth login --host HOST", "Sign in to a server such as git.example.com"),
];

/// The prompt for a server.
const SERVER: &str = "Server, such as git.example.com (Esc goes back): ";

/// Shows the menu and runs the selected command.
///
/// # Errors
/// Returns the failure of the selected command, or a failure if the terminal cannot be used.
pub fn run(global: &Global, preferences: &Preferences) -> Result<(), Failure> {
    interface::require_terminal()?;
    glyph::set_alphabet(preferences.appearance.alphabet);
    let theme = &preferences.appearance.theme;
    let here = backend::local_project(Path::new(".")).is_ok();
    let draw = |selected: usize, area: Rect, buf: &mut Buffer| draw(theme, here, selected, area, buf);
    loop {
        let runtime = async_runtime()?;
        let chosen = runtime.block_on(welcome::choose(MENU.len(), draw));
        let chosen = chosen.map_err(|e| Failure::failed(format!("cannot use the terminal: {e}")))?;
        drop(runtime);
        return match chosen {
            Some(0) => embedded_server::demo(global, None, None, false),
            Some(1) => embedded_server::local(global, Path::new("."), None),
            Some(_) => match sign_in(global)? {
                Some(signed_in) => open::run(&signed_in, open::Opened::Target(None)),
                None => continue,
            },
            None => Ok(()),
        };
    }
}

/// Prompts for a server and signs in, until it succeeds; returns `None` if the user canceled.
fn sign_in(global: &Global) -> Result<Option<Global>, Failure> {
    while let Some(line) = input::prompt_line(SERVER, true)? {
        let host = line.trim();
        if host.is_empty() {
            continue;
        }
        let global = Global { host: Some(host.to_owned()), ..global.clone() };
        match auth::run(&global, AuthCommand::Login { device: false }) {
            Ok(()) => return Ok(Some(global)),
            Err(failure) => failure.report(),
        }
    }
    Ok(None)
}

/// Draws the menu; in accessible mode, returns the position of the cursor.
fn draw(theme: &Theme, here: bool, selected: usize, area: Rect, buf: &mut Buffer) -> Option<(u16, u16)> {
    let (words, dim, key) = (Role::Overlay, Role::Dim, Role::Key);
    buf.set_style(area, theme.blank());
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
    for (index, (command, about)) in MENU.iter().enumerate() {
        let about = if index == 1 && !here { "Browse a git repository; this folder is not one" } else { about };
        let (mark, style) = match index == selected {
            true => (glyph::mark(), Role::Title),
            false => (" ", words),
        };
        let number = format!("{} ", index + 1);
        // For screen readers, the line of the cursor contains the whole entry.
        let description = if glyph::is_accessible() { format!(": {about}") } else { String::new() };
        let at = put(Line::new(format!("{mark} "), Role::Mark)
            .and(number, dim)
            .and(*command, style)
            .and(description, words));
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
    fn menu_entries_are_shown_at_any_size() {
        for (width, height) in [(80, 24), (160, 45), (44, 12), (1, 1), (0, 0)] {
            let area = Rect::new(0, 0, width, height);
            let mut buf = Buffer::empty(area);
            assert_eq!(draw(&Theme::plain(), false, 1, area, &mut buf), None);
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
