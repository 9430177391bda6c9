//! The commands that all places with changes have in common, each with an ID of its place.

use super::{Changes, DIFF};
use crate::app::command::Command;
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::tone::Tone;
use crate::app::view::View;
use crate::ui::diff::Expansion;

/// A place that shows changes, at least at times.
pub trait ShowsChanges: Sized {
    /// Returns the changes.
    fn changes(&mut self) -> &mut Changes;

    /// Returns whether the changes are shown now, or the reason why not.
    fn on_changes(&self, view: &View) -> Result<(), Disabled>;
}

fn expand<P: ShowsChanges>(pane: &mut P, cx: &mut Cx, more: Option<Expansion>) {
    let changes = pane.changes();
    changes.panels().set_focus(DIFF);
    if !changes.expand(more) {
        let words = if changes.is_loaded() { "Nothing is hidden here." } else { "The changes are still loading." };
        cx.say(Tone::Info, words);
    }
}

/// Returns the command that toggles the side-by-side layout.
pub const fn layout<P: ShowsChanges>(id: &'static str) -> Command<P> {
    Command::new(id, &["s"], "Toggle side by side", |pane: &mut P, cx| {
        pane.changes().toggle_layout(cx);
    })
    .footer("sides")
    .when(P::on_changes)
}

/// Returns the command that toggles whitespace changes.
pub const fn spaces<P: ShowsChanges>(id: &'static str) -> Command<P> {
    Command::new(id, &["w"], "Toggle whitespace changes", |pane: &mut P, _| {
        pane.changes().toggle_whitespace();
    })
    .when(P::on_changes)
}

/// Returns the command that toggles line wrap.
pub const fn wrap<P: ShowsChanges>(id: &'static str) -> Command<P> {
    Command::new(id, &["W"], "Toggle line wrap", |pane: &mut P, cx| pane.changes().toggle_wrap(cx)).when(P::on_changes)
}

/// Returns the command that expands hidden lines at the cursor.
pub const fn more<P: ShowsChanges>(id: &'static str) -> Command<P> {
    Command::new(id, &["x"], "Expand hidden lines", |pane: &mut P, cx| {
        expand(pane, cx, None);
    })
    .footer("expand")
    .when(P::on_changes)
}

/// Returns the command that expands hidden lines above.
pub const fn more_up<P: ShowsChanges>(id: &'static str) -> Command<P> {
    Command::new(id, &["M-k"], "Expand lines above", |pane: &mut P, cx| {
        expand(pane, cx, Some(Expansion::Up(20)));
    })
    .when(P::on_changes)
}

/// Returns the command that expands hidden lines below.
pub const fn more_down<P: ShowsChanges>(id: &'static str) -> Command<P> {
    Command::new(id, &["M-j"], "Expand lines below", |pane: &mut P, cx| {
        expand(pane, cx, Some(Expansion::Down(20)));
    })
    .when(P::on_changes)
}

/// Returns the command that toggles the file as viewed.
pub const fn viewed<P: ShowsChanges>(id: &'static str) -> Command<P> {
    Command::new(id, &["v"], "Toggle file as viewed", |pane: &mut P, cx| pane.changes().toggle_viewed(cx))
        .footer("viewed")
        .when(P::on_changes)
}

/// Returns the command that moves to the next unviewed file.
pub const fn unviewed<P: ShowsChanges>(id: &'static str) -> Command<P> {
    Command::new(id, &["V"], "Next unviewed file", |pane: &mut P, cx| {
        if !pane.changes().next_unviewed() {
            cx.say(Tone::Good, "All files are viewed.");
        }
    })
    .when(P::on_changes)
}
