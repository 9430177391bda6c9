//! The commands of a file's text, in every place that shows one.

use super::{BlobView, Mode};
use crate::app::action::Action;
use crate::app::command::{Command, Commands, Table};
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::tone::Tone;
use crate::app::view::View;
use crate::ui::text::sanitize;

/// A place that shows the text of a file.
pub trait ShowsFile: Commands {
    /// Returns the file and whether it could not be read, or the reason why none is shown.
    fn shown_file(&self, view: &View) -> Result<(&BlobView, bool), Disabled>;
    /// Returns the file, to change what is shown of it.
    fn shown_file_mut(&mut self) -> &mut BlobView;
    /// Returns whether the cursor is in the text of the file.
    fn is_in_text(&self) -> bool {
        true
    }
    /// Moves the cursor into the text of the file.
    fn enter_text(&mut self) {}
    /// Shows the file in the next view mode.
    fn next_mode(&mut self, view: &View) {
        self.shown_file_mut().next_mode(view);
    }

    /// The form in which a file is shown, and the line.
    const FILE: Table<Self, Self::Row> = &[
        Command::new(".mode", &["m"], "Change view mode", |pane: &mut Self, cx| pane.next_mode(&cx.view))
            .footer("view")
            .when(|pane, view| {
                pane.shown_file(view).and_then(|(file, failed)| file.need_content(view, failed)).map(drop)
            }),
        Command::new(".wrap", &["W"], "Toggle line wrap", |pane: &mut Self, cx| {
            let words = if pane.shown_file_mut().toggle_wrap() { "Line wrap on." } else { "Line wrap off." };
            cx.say(Tone::Info, words);
        })
        .when(has_text),
        Command::new(".line", &["L"], "Go to line…", |_: &mut Self, cx| {
            cx.ask("line", "", |pane: &mut Self, typed, cx| match typed.trim().parse() {
                Ok(line) => {
                    pane.enter_text();
                    pane.shown_file_mut().go_to_line(line);
                }
                Err(_) => cx.say(Tone::Warning, format!("Invalid line number \"{}\".", sanitize(&typed))),
            });
        })
        .when(has_text),
        Command::new(".page", &["O"], "Open in $PAGER", |pane: &mut Self, cx| {
            if let Some(text) = pane.shown_file_mut().pager_text(&cx.view) {
                cx.act(Action::Pager(text));
            }
        })
        .when(has_text),
    ];

    /// Selecting lines, and searching for a word.
    const LINES: Table<Self, Self::Row> = &[
        Command::new(".mark", &["Space", "V", "v"], "Toggle line selection", |pane: &mut Self, cx| {
            pane.shown_file_mut().toggle_mark(&cx.view);
        })
        .when(in_source),
        Command::new(".start", &["0", "^"], "Go to start of line", |pane: &mut Self, cx| {
            pane.shown_file_mut().scroll_to_edge(false, &cx.view);
        })
        .when(in_source),
        Command::new(".end", &["$"], "Go to end of line", |pane: &mut Self, cx| {
            pane.shown_file_mut().scroll_to_edge(true, &cx.view);
        })
        .when(in_source),
        Command::new(".word", &["*"], "Find word under cursor", |pane: &mut Self, cx| search_word(pane, true, cx))
            .when(in_source),
        Command::new(".word_back", &["#"], "Find word backward", |pane: &mut Self, cx| search_word(pane, false, cx))
            .when(in_source),
    ];
}

fn search_word<P: ShowsFile>(pane: &mut P, forward: bool, cx: &mut Cx) {
    match pane.shown_file_mut().search_word(forward, &cx.view) {
        Some(word) => cx.say(Tone::Info, format!("Every \"{}\" as a whole word.", sanitize(&word))),
        None => cx.say(Tone::Info, "There is no word on this line."),
    }
}

fn has_text<P: ShowsFile>(pane: &P, view: &View) -> Result<(), Disabled> {
    let (file, failed) = pane.shown_file(view)?;
    file.need_text(view, failed)
}

/// Returns an error unless the cursor is on a line of a file's source.
pub fn in_source<P: ShowsFile>(pane: &P, view: &View) -> Result<(), Disabled> {
    if !pane.is_in_text() {
        return Err("the file is not focused".into());
    }
    let (file, failed) = pane.shown_file(view)?;
    file.need_content(view, failed)?;
    match file.mode(view) {
        Some(Mode::Source) => Ok(()),
        _ => Err("this is not text".into()),
    }
}
