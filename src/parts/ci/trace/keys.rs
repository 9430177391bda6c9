//! The commands of a trace, in every place that shows some.

use super::Viewer;
use crate::app::command::{Command, Commands, Table};
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::view::View;

/// A place with traces, of which one has the focus.
pub trait ShowsTrace: Commands {
    /// Returns the trace with the focus, or the reason why there is none.
    fn viewer(&self) -> Result<&Viewer, Disabled>;
    /// Returns the trace with the focus, to change it.
    fn viewer_mut(&mut self) -> Option<&mut Viewer>;
    /// Shows another run of the job instead of the one with the focus.
    fn show_run(&mut self, id: u64, cx: &mut Cx);

    /// Following a trace, and the way from error to error.
    const ERRORS: Table<Self, Self::Row> = &[
        Command::new(".follow", &["f"], "Toggle follow", |pane: &mut Self, cx| with(pane, |viewer| viewer.follow(cx)))
            .footer("follow")
            .when(|pane, view| pane.viewer()?.need_live(view)),
        Command::new(".next_error", &["e"], "Next error", |pane: &mut Self, cx| {
            with(pane, |viewer| viewer.step_error(true, false, &cx.view));
        })
        .footer("error")
        .when(has_text),
        Command::new(".previous_error", &["E"], "Previous error", |pane: &mut Self, cx| {
            with(pane, |viewer| viewer.step_error(false, false, &cx.view));
        })
        .when(has_text),
        Command::new(".next_warning", &[")"], "Next warning", |pane: &mut Self, cx| {
            with(pane, |viewer| viewer.step_error(true, true, &cx.view));
        })
        .when(has_text),
        Command::new(".previous_warning", &["("], "Previous warning", |pane: &mut Self, cx| {
            with(pane, |viewer| viewer.step_error(false, true, &cx.view));
        })
        .when(has_text),
    ];

    /// Moving through a trace, and how it is shown.
    const TRACE: Table<Self, Self::Row> = &[
        Command::new(".only", &["&"], "Toggle matching lines only", |pane: &mut Self, cx| {
            if pane.viewer_mut().is_some_and(|viewer| !viewer.toggle_only(&cx.view)) {
                cx.ask("only lines with", "", |pane: &mut Self, text, cx| {
                    with(pane, |viewer| viewer.show_only(&text, cx));
                });
            }
        })
        .when(has_text),
        Command::new(".fold", &["Z"], "Toggle all sections", |pane: &mut Self, cx| {
            with(pane, |viewer| viewer.fold(cx))
        })
        .when(has_sections),
        Command::new(".next_section", &["}"], "Next section", |pane: &mut Self, cx| {
            with(pane, |viewer| viewer.section(true, cx));
        })
        .when(has_sections),
        Command::new(".previous_section", &["{"], "Previous section", |pane: &mut Self, cx| {
            with(pane, |viewer| viewer.section(false, cx));
        })
        .when(has_sections),
        Command::new(".times", &["T"], "Toggle timestamps", |pane: &mut Self, _| with(pane, Viewer::toggle_times))
            .when(|pane, view| pane.viewer()?.need_times(view)),
        Command::new(".wrap", &["W"], "Toggle line wrap", |pane: &mut Self, cx| {
            with(pane, |viewer| viewer.toggle_wrap(cx));
        })
        .when(has_text),
        Command::new(".line", &["L"], "Go to line…", |_: &mut Self, cx| {
            cx.ask("line", "", |pane: &mut Self, typed, cx| with(pane, |viewer| viewer.go_to_line(&typed, cx)));
        })
        .when(has_text),
        Command::new(".mark", &["Space", "V", "v"], "Toggle line selection", |pane: &mut Self, cx| {
            with(pane, |viewer| viewer.toggle_mark(&cx.view));
        })
        .when(has_text),
        Command::new(".save", &["s"], "Save trace…", |pane: &mut Self, cx| with(pane, |viewer| viewer.save(cx)))
            .footer("save")
            .when(has_text),
        Command::new(".page", &["O"], "Open in $PAGER", |pane: &mut Self, cx| {
            with(pane, |viewer| viewer.page(&cx.view))
        })
        .when(has_text),
        Command::new(".newer", &["."], "Go to latest run", |pane: &mut Self, cx| {
            if let Some(id) = pane.viewer().ok().and_then(|viewer| viewer.newer(&cx.view)) {
                pane.show_run(id, cx);
            }
        })
        .when(|pane, view| pane.viewer()?.need_newer_run(view)),
    ];
}

fn with<P: ShowsTrace>(pane: &mut P, run: impl FnOnce(&mut Viewer)) {
    if let Some(viewer) = pane.viewer_mut() {
        run(viewer);
    }
}

fn has_text<P: ShowsTrace>(pane: &P, view: &View) -> Result<(), Disabled> {
    pane.viewer()?.need_text(view)
}

fn has_sections<P: ShowsTrace>(pane: &P, view: &View) -> Result<(), Disabled> {
    pane.viewer()?.need_sections(view)
}
