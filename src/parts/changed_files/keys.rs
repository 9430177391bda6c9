//! The commands that every place with changes has, each under a name of that place.

use super::{Changes, DIFF};
use crate::app::action::Tone;
use crate::app::command::{Command, Disabled};
use crate::app::pane::{Cx, View};
use crate::ui::diff::More;

/// A place that shows changes, perhaps not all the time.
pub trait ShowsChanges: Sized {
    /// The changes.
    fn changes(&mut self) -> &mut Changes;

    /// Returns whether they are shown now.
    fn on_changes(&self, view: &View) -> Result<(), Disabled>;
}

fn expand<P: ShowsChanges>(pane: &mut P, cx: &mut Cx, more: Option<More>) {
    let changes = pane.changes();
    changes.panels().set_focus(DIFF);
    if !changes.expand(more) {
        let words = if changes.is_here() { "Nothing is hidden here." } else { "The changes are still loading." };
        cx.say(Tone::Info, words);
    }
}

/// Unified or side by side.
pub const fn layout<P: ShowsChanges>(id: &'static str) -> Command<P> {
    Command::new(id, &["s"], "Toggle side by side", |pane: &mut P, cx| {
        pane.changes().switch_layout(cx);
    })
    .footer("sides")
    .when(P::on_changes)
}

/// Without whitespace.
pub const fn spaces<P: ShowsChanges>(id: &'static str) -> Command<P> {
    Command::new(id, &["w"], "Toggle whitespace changes", |pane: &mut P, _| {
        pane.changes().switch_spaces();
    })
    .when(P::on_changes)
}

/// Long lines.
pub const fn wrap<P: ShowsChanges>(id: &'static str) -> Command<P> {
    Command::new(id, &["W"], "Toggle line wrap", |pane: &mut P, cx| pane.changes().switch_wrap(cx)).when(P::on_changes)
}

/// More context.
pub const fn more<P: ShowsChanges>(id: &'static str) -> Command<P> {
    Command::new(id, &["x"], "Expand hidden lines", |pane: &mut P, cx| {
        expand(pane, cx, None);
    })
    .footer("expand")
    .when(P::on_changes)
}

/// More context, above alone.
pub const fn more_up<P: ShowsChanges>(id: &'static str) -> Command<P> {
    Command::new(id, &["M-k"], "Expand lines above", |pane: &mut P, cx| {
        expand(pane, cx, Some(More::Up(20)));
    })
    .when(P::on_changes)
}

/// More context, below alone.
pub const fn more_down<P: ShowsChanges>(id: &'static str) -> Command<P> {
    Command::new(id, &["M-j"], "Expand lines below", |pane: &mut P, cx| {
        expand(pane, cx, Some(More::Down(20)));
    })
    .when(P::on_changes)
}

/// The file is viewed.
pub const fn viewed<P: ShowsChanges>(id: &'static str) -> Command<P> {
    Command::new(id, &["v"], "Toggle file as viewed", |pane: &mut P, cx| pane.changes().toggle_viewed(cx))
        .footer("viewed")
        .when(P::on_changes)
}

/// Returns what is left.
pub const fn unviewed<P: ShowsChanges>(id: &'static str) -> Command<P> {
    Command::new(id, &["V"], "Next unviewed file", |pane: &mut P, cx| {
        if !pane.changes().next_unviewed() {
            cx.say(Tone::Good, "All files are viewed.");
        }
    })
    .when(P::on_changes)
}
