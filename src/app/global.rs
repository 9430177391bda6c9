//! Global commands: moving, searching, navigating, and those for the program as a whole.

use super::action::Action;
use super::command::{Command, Commands, NoRow, Table};
use super::command_info::Disabled;
use super::command_info::Info;
use super::motion::Motion;
use super::overlay::themes::Themes;
use super::registry::Entry;
use super::view::View;

/// The commands that belong to no pane; each only requests an action of the app.
pub const GLOBAL: &[Command<()>] = &[
    Command::new("move.down", &["j", "Down"], "Move down", |(), cx| cx.act(Action::Move(Motion::Down))),
    Command::new("move.up", &["k", "Up"], "Move up", |(), cx| cx.act(Action::Move(Motion::Up))),
    Command::new("move.left", &["h", "Left"], "Move left", |(), cx| cx.act(Action::Move(Motion::Left))),
    Command::new("move.right", &["l", "Right"], "Move right", |(), cx| cx.act(Action::Move(Motion::Right))),
    Command::new("move.first", &["g g", "Home"], "Go to first line", |(), cx| cx.act(Action::Move(Motion::First))),
    Command::new("move.last", &["G", "End"], "Go to last line", |(), cx| cx.act(Action::Move(Motion::Last))),
    Command::new("move.half_down", &["C-d"], "Move half a page down", |(), cx| cx.act(Action::Move(Motion::HalfDown))),
    Command::new("move.half_up", &["C-u"], "Move half a page up", |(), cx| cx.act(Action::Move(Motion::HalfUp))),
    Command::new("move.page_down", &["PageDown", "C-f"], "Move page down", |(), cx| {
        cx.act(Action::Move(Motion::PageDown));
    }),
    Command::new("move.page_up", &["PageUp", "C-b"], "Move page up", |(), cx| cx.act(Action::Move(Motion::PageUp))),
    Command::new("seek", &["/"], "Filter or search", |(), cx| cx.act(Action::OpenSearch)),
    Command::new("seek.next", &["n"], "Next match", |(), cx| cx.act(Action::NextMatch(true))),
    Command::new("seek.prev", &["N"], "Previous match", |(), cx| cx.act(Action::NextMatch(false))),
    Command::new("seek.code", &["g *"], "Search code for word", |(), cx| cx.act(Action::SearchCode)),
    Command::new("panel.next", &["Tab"], "Next panel", |(), cx| cx.act(Action::Panel(true))),
    Command::new("panel.prev", &["S-Tab"], "Previous panel", |(), cx| cx.act(Action::Panel(false))),
    Command::new("panel.zoom", &["z"], "Zoom panel", |(), cx| cx.act(Action::Zoom)),
    Command::new("tab.1", &["1"], "Go to first tab", |(), cx| cx.act(Action::SelectTab(0))),
    Command::new("tab.2", &["2"], "Go to second tab", |(), cx| cx.act(Action::SelectTab(1))),
    Command::new("tab.3", &["3"], "Go to third tab", |(), cx| cx.act(Action::SelectTab(2))),
    Command::new("tab.4", &["4"], "Go to fourth tab", |(), cx| cx.act(Action::SelectTab(3))),
    Command::new("tab.5", &["5"], "Go to fifth tab", |(), cx| cx.act(Action::SelectTab(4))),
    Command::new("tab.6", &["6"], "Go to sixth tab", |(), cx| cx.act(Action::SelectTab(5))),
    Command::new("tab.7", &["7"], "Go to seventh tab", |(), cx| cx.act(Action::SelectTab(6))),
    Command::new("tab.8", &["8"], "Go to eighth tab", |(), cx| cx.act(Action::SelectTab(7))),
    Command::new("tab.9", &["9"], "Go to ninth tab", |(), cx| cx.act(Action::SelectTab(8))),
    Command::new("close", &["q"], "Close or go back", |(), cx| cx.act(Action::Close)),
    Command::new("back", &["Backspace", "C-o", "M-Left"], "Go back", |(), cx| cx.act(Action::Back)),
    Command::new("escape", &["Esc"], "Cancel search or go back", |(), cx| cx.act(Action::Escape)),
    Command::new("forward", &["C-i", "M-Right"], "Go forward", |(), cx| cx.act(Action::Forward)),
    Command::new("palette", &[":"], "Open command palette", |(), cx| cx.act(Action::Palette)),
    Command::new("anything", &["C-p"], "Go to anything…", |(), cx| cx.act(Action::QuickOpen)),
    Command::new("actions", &["a"], "List actions", |(), cx| cx.act(Action::ActionMenu)),
    Command::new("help", &["?", "F1"], "Show keys", |(), cx| cx.act(Action::Help)),
    Command::new("tour", &["M-t"], "Toggle tour", |(), cx| cx.act(Action::ToggleTour)),
    Command::new("refresh", &["r", "C-l", "F5"], "Refresh", |(), cx| cx.act(Action::Refresh)),
    Command::new("clone.edit", &["g e"], "Edit file in clone", |(), cx| cx.act(Action::EditInClone)),
    Command::new("browse", &["o"], "Open in browser", |(), cx| cx.act(Action::BrowseHere)),
    Command::new("copy", &["y"], "Copy…", |(), cx| cx.act(Action::CopyMenu)),
    Command::new("hosts", &["g H"], "Go to another server…", |(), cx| cx.act(Action::ListServers)),
    Command::new("theme", &[], "Change theme…", |(), cx| {
        cx.open(Themes::new(&cx.view));
    }),
    Command::new("transfers", &["g d"], "Show downloads", |(), cx| cx.act(Action::ListTransfers)),
    Command::new("drafts", &["g k"], "Show all drafts", |(), cx| {
        cx.act(Action::ListDrafts);
    }),
    Command::new("messages", &[], "Show messages", |(), cx| cx.act(Action::ListMessages)),
    Command::new("suspend", &["C-z"], "Suspend", |(), cx| cx.act(Action::Suspend)),
    Command::new("quit", &["Q", "C-c"], "Quit", |(), cx| cx.act(Action::Quit)),
];

impl Commands for () {
    type Row = NoRow;
    const PLACE: &'static str = "";

    fn tables() -> &'static [Table<()>] {
        &[GLOBAL]
    }

    fn command_row<'a>(&self, _: &View<'a>) -> Result<&'a NoRow, Disabled> {
        Err("nothing is selected".into())
    }
}

/// Returns the commands available in every place: [`GLOBAL`], and those of the registry that open a place.
pub fn infos(panes: &[Entry]) -> impl Iterator<Item = Info> {
    GLOBAL.iter().map(Command::info).chain(panes.iter().filter_map(|entry| entry.place.go))
}

/// Returns the heading under which a global command is listed.
pub fn group(panes: &[Entry], id: &str) -> &'static str {
    if panes.iter().any(|entry| entry.place.go.is_some_and(|go| go.id == id)) {
        return "Go to";
    }
    match id.split('.').next().unwrap_or_default() {
        "move" => "Move",
        "seek" => "Search",
        "panel" | "tab" => "Panels and tabs",
        _ => "Everywhere",
    }
}
