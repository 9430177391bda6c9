//! Panes: the traits that each kind of place implements.

use super::clone::ThreadLine;
use super::command::{Commands, NoRow, Table};
use super::command_info::Disabled;
use super::context::Cx;
use super::custom::{InputKind, ResultKind};
use super::motion::Motion;
use super::outline::OutlinedFile;
use super::place::Place;
use super::pointer::Pointer;
use super::query::Grammar;
use super::view::View;
use crate::clip::Clip;
use api::Id;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::any::Any;
use std::rc::Rc;
use store::Want;
use ui::panels::Panels;
use ui::theme::Role;

/// One step of the breadcrumbs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breadcrumb {
    /// The text, sanitized if it came from a server.
    pub text: String,
    /// The role that determines its style.
    pub role: Role,
    /// The place that a click opens.
    pub place: Option<Place>,
}

impl Breadcrumb {
    /// Creates a step without a link.
    pub fn new(text: impl Into<String>, role: Role) -> Breadcrumb {
        Breadcrumb { text: text.into(), role, place: None }
    }

    /// Sets the place that a click opens.
    pub fn to(self, place: Place) -> Breadcrumb {
        Breadcrumb { place: Some(place), ..self }
    }
}

/// The effect of `/` in a pane.
#[derive(Clone, Debug)]
pub enum SearchMode {
    /// Keeps the rows that match.
    Filter,
    /// Keeps the rows that match a query with keys.
    Query(Grammar),
    /// Moves to what matches.
    Search,
    /// Moves to what matches a regular expression, or a plain text if it is not a valid one.
    Expression,
}

impl SearchMode {
    /// Returns the word for what `/` does.
    pub fn word(&self) -> &'static str {
        match self {
            SearchMode::Filter | SearchMode::Query(_) => "filter",
            SearchMode::Search | SearchMode::Expression => "search",
        }
    }
}

/// The code that is shown, and what is under the cursor there.
#[derive(Default)]
pub struct CodeHere {
    /// The words of the line under the cursor, to search the project's code for one of them; only one if that is meant.
    pub words: Vec<String>,
    /// The path of the file under the cursor, and the line, if no address contains them.
    pub position: Option<(String, Option<u32>)>,
    /// The lines that the thread under the cursor is about.
    pub thread: Option<ThreadLine>,
    /// The file that is shown, whose functions "go to anything" lists.
    pub outlined: Option<OutlinedFile>,
}

/// The tabs of a pane, selected with `1`…`9`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tabs {
    /// The titles, left to right.
    pub titles: &'static [&'static str],
    /// The index of the selected tab.
    pub selected: usize,
}

/// A function that takes the output of a custom command, with its title. It returns a message about what became of it, or
/// the reason why nothing did.
pub type TakeResult = dyn Fn(ResultKind, &str, &str, &mut Cx) -> Result<String, String>;

/// The input of a custom command from a place, and the function that takes its output, wherever the user is by then.
pub struct CommandInput {
    /// Returns the input. It is called once, when the command starts.
    pub json: Box<dyn FnOnce() -> serde_json::Value>,
    /// The function that takes the output.
    pub take: Rc<TakeResult>,
}

impl CommandInput {
    pub fn new(
        json: impl FnOnce() -> serde_json::Value + 'static,
        take: impl Fn(ResultKind, &str, &str, &mut Cx) -> Result<String, String> + 'static,
    ) -> CommandInput {
        CommandInput { json: Box::new(json), take: Rc::new(take) }
    }

    /// Creates an input of a command whose output is only shown.
    pub fn only(json: impl FnOnce() -> serde_json::Value + 'static) -> CommandInput {
        CommandInput::new(json, |_, _, _, _| Err("nothing here takes the output".to_owned()))
    }
}

/// A kind of place that the user can open. Each has its own file in `panes/`.
pub trait PaneKind: Pane + Sized {
    /// The ID of the place, and its command after `:`.
    const ID: &'static str;
    /// The commands of this place alone.
    const COMMANDS: Table<Self>;
    /// All commands, with those of its parts.
    const TABLES: &'static [Table<Self>] = &[Self::COMMANDS];

    /// Opens the pane at `place`. The data it needs from the server is returned by [`Pane::wants`].
    fn open(place: &Place, view: &View) -> Self;

    /// Returns whether what is shown belongs to the user: permissions may be wider then.
    fn is_own(&self, _: &View) -> bool {
        false
    }
}

impl<P: PaneKind> Commands for P {
    type Row = NoRow;
    const PLACE: &'static str = P::ID;

    fn tables() -> &'static [Table<P>] {
        P::TABLES
    }

    fn command_row<'a>(&self, _: &View<'a>) -> Result<&'a NoRow, Disabled> {
        Err("nothing is selected".into())
    }

    fn acts_in(&self, _: &View) -> Option<Id> {
        self.place().project
    }

    fn acts_on_own(&self, view: &View) -> bool {
        self.is_own(view)
    }
}

/// An open place, or a part of one that can have the focus, such as a tab.
///
/// Apart from [`Pane::wants`], everything goes to the focused part by default.
pub trait Pane: Any {
    /// Returns the part that has the focus.
    fn focused(&self) -> Option<&dyn Pane> {
        None
    }
    /// Returns the part that has the focus, to change it.
    fn focused_mut(&mut self) -> Option<&mut dyn Pane> {
        None
    }
    /// Returns the current place; opening that place again shows the same.
    fn place(&self) -> Place {
        self.focused().map(Pane::place).unwrap_or_default()
    }
    /// Returns the wants of the current state. Called after every update: it must be cheap and free of side effects.
    fn wants(&self, view: &View) -> Vec<Want>;
    /// Draws the pane. It must not block or parse; its cost depends only on what is visible.
    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        if let Some(part) = self.focused() {
            part.view(view, area, buf);
        }
    }
    /// Returns the word of a command in the footer, if the command does something else now than that of its row.
    fn footer_word(&self, _id: &str, _view: &View) -> Option<&'static str> {
        None
    }
    /// Returns the breadcrumbs, for the first line of the screen.
    fn breadcrumbs(&self, view: &View) -> Vec<Breadcrumb> {
        self.focused().map(|part| part.breadcrumbs(view)).unwrap_or_default()
    }
    /// Handles a change of the data: keeps selections on their items, and finishes pending work.
    fn changed(&mut self, cx: &mut Cx) {
        if let Some(part) = self.focused_mut() {
            part.changed(cx);
        }
    }
    /// Moves in whatever has the focus.
    fn motion(&mut self, motion: Motion, cx: &mut Cx) {
        if let Some(part) = self.focused_mut() {
            part.motion(motion, cx);
        }
    }
    /// Handles a mouse event.
    fn pointer(&mut self, pointer: Pointer, cx: &mut Cx) {
        if let Some(part) = self.focused_mut() {
            part.pointer(pointer, cx);
        }
    }
    /// Opens the item under the cursor.
    fn enter(&mut self, cx: &mut Cx) {
        if let Some(part) = self.focused_mut() {
            part.enter(cx);
        }
    }
    /// Sorts the list by the visible column `index`.
    fn sort_by(&mut self, index: usize, cx: &mut Cx) {
        if let Some(part) = self.focused_mut() {
            part.sort_by(index, cx);
        }
    }
    /// Returns the panels, if there are several: the app handles Tab, z and the divider.
    fn panels(&mut self) -> Option<&mut Panels> {
        self.focused_mut()?.panels()
    }
    /// Returns the tabs, if there are any.
    fn tabs(&self) -> Tabs {
        self.focused().map(Pane::tabs).unwrap_or_default()
    }
    /// Returns the count displayed after the title of a tab.
    fn tab_count(&self, index: usize, view: &View) -> Option<String> {
        self.focused()?.tab_count(index, view)
    }
    /// Selects the tab `index`.
    fn select_tab(&mut self, index: usize, cx: &mut Cx) {
        if let Some(part) = self.focused_mut() {
            part.select_tab(index, cx);
        }
    }
    /// Returns the effect of `/` on what has the focus, and the current text; `None` if there is nothing to search.
    fn search(&self) -> Option<(SearchMode, String)> {
        self.focused()?.search()
    }
    /// Begins a search at the cursor: what is typed is searched from there.
    fn begin_search(&mut self, view: &View) {
        if let Some(part) = self.focused_mut() {
            part.begin_search(view);
        }
    }
    /// Sets the search or filter text; an empty text ends the search, and returns to where it began.
    fn set_filter_text(&mut self, text: &str, cx: &mut Cx) {
        if let Some(part) = self.focused_mut() {
            part.set_filter_text(text, cx);
        }
    }
    /// Goes to the next match, or to the previous one.
    fn next_match(&mut self, forward: bool, cx: &mut Cx) {
        if let Some(part) = self.focused_mut() {
            part.next_match(forward, cx);
        }
    }
    /// Handles Esc: leaves the innermost mode (a filter, a mark); returns `false` if there is none.
    fn escape(&mut self, cx: &mut Cx) -> bool {
        self.focused_mut().is_some_and(|part| part.escape(cx))
    }
    /// Returns the address of the web page of the item under the cursor.
    fn url(&self, view: &View) -> Option<String> {
        self.focused()?.url(view)
    }
    /// Returns the code that is shown.
    fn code(&self, view: &View) -> CodeHere {
        self.focused().map(|part| part.code(view)).unwrap_or_default()
    }
    /// Returns what a custom command gets of this place, or the reason why it has nothing of that kind.
    fn command_input(&self, kind: InputKind, view: &View) -> Result<CommandInput, Disabled> {
        self.focused().map_or_else(|| Err(kind.missing()), |part| part.command_input(kind, view))
    }
    /// Returns what `y` can copy here: name and text.
    fn copies(&self, view: &View) -> Vec<Clip> {
        self.focused().map(|part| part.copies(view)).unwrap_or_default()
    }
    /// Returns whether the pane shows a secret, which must disappear in time even where nothing else changes by itself.
    fn shows_secret(&self) -> bool {
        self.focused().is_some_and(Pane::shows_secret)
    }
    /// Returns whether the pane shows a running clock, and so must be drawn every second.
    fn ticks(&self, view: &View) -> bool {
        self.focused().is_some_and(|part| part.ticks(view))
    }
}
