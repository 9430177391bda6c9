//! The commands of changes, in every place that shows some.

use super::expansion::EXPANDED_LINES;
use super::{Changes, DIFF};
use crate::app::command::{Command, Commands, Table};
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::tone::Tone;
use crate::app::view::View;
use crate::ui::diff::Expansion;

/// A place that shows changes, at least at times.
pub trait ShowsChanges: Commands {
    /// Returns the changes.
    fn changes(&mut self) -> &mut Changes;

    /// Returns whether the changes are shown now, or the reason why not.
    fn on_changes(&self, view: &View) -> Result<(), Disabled>;

    /// Moving through the changes, and their layout.
    const CHANGES: Table<Self, Self::Row> = &[
        Command::new(".next_hunk", &["}"], "Next hunk", |pane: &mut Self, _| pane.changes().step_hunk(true))
            .footer("hunk")
            .when(Self::on_changes),
        Command::new(".previous_hunk", &["{"], "Previous hunk", |pane: &mut Self, _| pane.changes().step_hunk(false))
            .when(Self::on_changes),
        Command::new(".layout", &["s"], "Toggle side by side", |pane: &mut Self, cx| pane.changes().toggle_layout(cx))
            .footer("sides")
            .when(Self::on_changes),
        Command::new(".spaces", &["w"], "Toggle whitespace changes", |pane: &mut Self, _| {
            pane.changes().toggle_whitespace();
        })
        .when(Self::on_changes),
        Command::new(".wrap", &["W"], "Toggle line wrap", |pane: &mut Self, cx| pane.changes().toggle_wrap(cx))
            .when(Self::on_changes),
    ];

    /// Stepping through and folding the files, where nothing else is shown with them.
    const FILES: Table<Self, Self::Row> = &[
        Command::new(".next_file", &["]"], "Next file", |pane: &mut Self, _| pane.changes().step_file(true))
            .footer("next file")
            .when(Self::on_changes),
        Command::new(".previous_file", &["["], "Previous file", |pane: &mut Self, _| pane.changes().step_file(false))
            .when(Self::on_changes),
    ];

    /// Folding a file.
    const FOLD: Table<Self, Self::Row> =
        &[Command::new(".fold", &["-"], "Toggle file fold", |pane: &mut Self, _| pane.changes().fold())
            .when(Self::on_changes)];

    /// Selecting lines, to comment on them.
    const LINES: Table<Self, Self::Row> =
        &[Command::new(".mark", &["Space", "V", "v"], "Toggle line selection", |pane: &mut Self, _| {
            pane.changes().toggle_selection();
        })
        .when(Self::on_changes)];

    /// Reading changes that the server has: the lines around them, and which files were viewed.
    const READING: Table<Self, Self::Row> = &[
        Command::new(".more", &["x"], "Expand hidden lines", |pane: &mut Self, cx| expand(pane, cx, None))
            .footer("expand")
            .when(Self::on_changes),
        Command::new(".more_up", &["M-k"], "Expand lines above", |pane: &mut Self, cx| {
            expand(pane, cx, Some(Expansion::Up(EXPANDED_LINES)));
        })
        .when(Self::on_changes),
        Command::new(".more_down", &["M-j"], "Expand lines below", |pane: &mut Self, cx| {
            expand(pane, cx, Some(Expansion::Down(EXPANDED_LINES)));
        })
        .when(Self::on_changes),
        Command::new(".viewed", &["."], "Toggle file as viewed", |pane: &mut Self, cx| {
            pane.changes().toggle_viewed(cx);
        })
        .footer("viewed")
        .when(Self::on_changes),
        Command::new(".unviewed", &["I"], "Next unviewed file", |pane: &mut Self, cx| {
            if !pane.changes().next_unviewed() {
                cx.say(Tone::Good, "All files are viewed.");
            }
        })
        .when(Self::on_changes),
    ];
}

fn expand<P: ShowsChanges>(pane: &mut P, cx: &mut Cx, more: Option<Expansion>) {
    let changes = pane.changes();
    changes.panels().set_focus(DIFF);
    if !changes.expand(more) {
        cx.say(Tone::Info, "Nothing is hidden here.");
    }
}
