//! Panes: the trait that each kind of place implements.

use super::action::{Action, Answer};
use super::command::Command;
use super::command_info::{Disabled, Info};
use super::context::Cx;
use super::motion::Motion;
use super::place::Place;
use super::place_info::Needs;
use super::pointer::Pointer;
use super::query::Grammar;
use super::view::View;
use crate::app::clip::Clip;
use crate::store::Want;
use crate::ui::panels::Panels;
use crate::ui::theme::Role;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchMode {
    /// Keeps the rows that match.
    Filter,
    /// Moves to what matches.
    Search,
}

/// The tabs of a pane, selected with `1`…`9`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tabs {
    /// The titles, left to right.
    pub titles: &'static [&'static str],
    /// The index of the selected tab.
    pub selected: usize,
}

/// A kind of place that the user can open. Each has its own file in `panes/`.
pub trait Pane: Sized + 'static {
    /// The ID of the place, and its command after `:`.
    const ID: &'static str;
    /// The title, for the palette and the help.
    const TITLE: &'static str;
    /// The data that a place must have for this pane to open.
    const NEEDS: Needs = Needs::Nothing;
    /// The commands of this place.
    const COMMANDS: &'static [Command<Self>];

    /// Opens the pane at `place`. The data it needs from the server is returned by [`Pane::wants`].
    fn open(place: &Place, view: &View) -> Self;
    /// Returns the current place; opening that place again shows the same.
    fn place(&self) -> Place;
    /// Returns the breadcrumbs, for the first line of the screen.
    fn breadcrumbs(&self, view: &View) -> Vec<Breadcrumb>;
    /// Returns the wants of the current state. Called after every update: it must be cheap and free of side effects.
    fn wants(&self, view: &View) -> Vec<Want>;
    /// Draws the pane. It must not block or parse; its cost depends only on what is visible.
    fn view(&self, view: &View, area: Rect, buf: &mut Buffer);
    /// Handles a change of the data: keeps selections on their items, and finishes pending work.
    fn changed(&mut self, _cx: &mut Cx) {}
    /// Moves in whatever has the focus.
    fn motion(&mut self, motion: Motion, cx: &mut Cx);
    /// Handles a mouse event.
    fn pointer(&mut self, _pointer: Pointer, _cx: &mut Cx) {}
    /// Sorts by the visible column `index`; returns `false` if its lists have a fixed order.
    fn sort_by(&mut self, _index: usize, _cx: &mut Cx) -> bool {
        false
    }
    /// Returns the panels, if there are several: the app handles Tab, z and the divider.
    fn panels(&mut self) -> Option<&mut Panels> {
        None
    }
    /// Returns the tabs, if there are any.
    fn tabs(&self) -> Tabs {
        Tabs::default()
    }
    /// Returns the count displayed after the title of a tab.
    fn tab_count(&self, _index: usize, _view: &View) -> Option<String> {
        None
    }
    /// Selects the tab `index`.
    fn select_tab(&mut self, _index: usize, _cx: &mut Cx) {}
    /// Returns the effect of `/` on what has the focus; `None` if there is nothing to search.
    fn search_mode(&self) -> Option<SearchMode> {
        None
    }
    /// Returns the grammar of the filter, if that is a query with keys.
    fn grammar(&self) -> Option<Grammar> {
        None
    }
    /// Returns the current search or filter text.
    fn filter_text(&self) -> String {
        String::new()
    }
    /// Sets the search or filter text; an empty text ends the search.
    fn set_filter_text(&mut self, _text: &str, _cx: &mut Cx) {}
    /// Goes to the next match, or to the previous one.
    fn next_match(&mut self, _forward: bool, _cx: &mut Cx) {}
    /// Handles the result of an overlay that the pane opened.
    fn answer(&mut self, _answer: Answer, _cx: &mut Cx) {}
    /// Handles Esc: leaves the innermost mode (a filter, a mark); returns `false` if there is none.
    fn escape(&mut self, _cx: &mut Cx) -> bool {
        false
    }
    /// Returns the address of the web page of the item under the cursor.
    fn url(&self, _view: &View) -> Option<String> {
        None
    }
    /// Returns the path of the file under the cursor, and the line, if no address contains them.
    fn position(&self, _view: &View) -> Option<(String, Option<u32>)> {
        None
    }
    /// Returns what `y` can copy here: name and text.
    fn copies(&self, _view: &View) -> Vec<Clip> {
        Vec::new()
    }
    /// Returns whether the pane shows a running clock, and so must be drawn every second.
    fn ticks(&self, _view: &View) -> bool {
        false
    }
}

/// A [`Pane`] without its type.
pub trait AnyPane {
    fn id(&self) -> &'static str;
    fn place(&self) -> Place;
    fn breadcrumbs(&self, view: &View) -> Vec<Breadcrumb>;
    fn wants(&self, view: &View) -> Vec<Want>;
    fn view(&self, view: &View, area: Rect, buf: &mut Buffer);
    fn changed(&mut self, cx: &mut Cx);
    fn motion(&mut self, motion: Motion, cx: &mut Cx);
    fn pointer(&mut self, pointer: Pointer, cx: &mut Cx);
    fn sort_by(&mut self, index: usize, cx: &mut Cx) -> bool;
    fn panels(&mut self) -> Option<&mut Panels>;
    fn tabs(&self) -> Tabs;
    fn tab_count(&self, index: usize, view: &View) -> Option<String>;
    fn select_tab(&mut self, index: usize, cx: &mut Cx);
    fn search_mode(&self) -> Option<SearchMode>;
    fn grammar(&self) -> Option<Grammar>;
    fn filter_text(&self) -> String;
    fn set_filter_text(&mut self, text: &str, cx: &mut Cx);
    fn next_match(&mut self, forward: bool, cx: &mut Cx);
    fn answer(&mut self, answer: Answer, cx: &mut Cx);
    fn escape(&mut self, cx: &mut Cx) -> bool;
    fn url(&self, view: &View) -> Option<String>;
    fn position(&self, view: &View) -> Option<(String, Option<u32>)>;
    fn copies(&self, view: &View) -> Vec<Clip>;
    fn ticks(&self, view: &View) -> bool;
    /// Returns the rows of the command table.
    fn commands(&self) -> Vec<Info>;
    /// Returns whether the command can be run now; `None` if it is not a command of this pane.
    fn can(&self, id: &str, view: &View) -> Option<Result<(), Disabled>>;
    /// Runs a command of this pane; returns `false` if it has none with that ID.
    fn run(&mut self, id: &str, cx: &mut Cx) -> bool;
}

impl<P: Pane> AnyPane for P {
    fn id(&self) -> &'static str {
        P::ID
    }
    fn place(&self) -> Place {
        Pane::place(self)
    }
    fn breadcrumbs(&self, view: &View) -> Vec<Breadcrumb> {
        Pane::breadcrumbs(self, view)
    }
    fn wants(&self, view: &View) -> Vec<Want> {
        Pane::wants(self, view)
    }
    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        Pane::view(self, view, area, buf);
    }
    fn changed(&mut self, cx: &mut Cx) {
        Pane::changed(self, cx);
    }
    fn motion(&mut self, motion: Motion, cx: &mut Cx) {
        Pane::motion(self, motion, cx);
    }
    fn pointer(&mut self, pointer: Pointer, cx: &mut Cx) {
        Pane::pointer(self, pointer, cx);
    }
    fn sort_by(&mut self, index: usize, cx: &mut Cx) -> bool {
        Pane::sort_by(self, index, cx)
    }
    fn panels(&mut self) -> Option<&mut Panels> {
        Pane::panels(self)
    }
    fn tabs(&self) -> Tabs {
        Pane::tabs(self)
    }
    fn tab_count(&self, index: usize, view: &View) -> Option<String> {
        Pane::tab_count(self, index, view)
    }
    fn select_tab(&mut self, index: usize, cx: &mut Cx) {
        Pane::select_tab(self, index, cx);
    }
    fn search_mode(&self) -> Option<SearchMode> {
        Pane::search_mode(self)
    }
    fn grammar(&self) -> Option<Grammar> {
        Pane::grammar(self)
    }
    fn filter_text(&self) -> String {
        Pane::filter_text(self)
    }
    fn set_filter_text(&mut self, text: &str, cx: &mut Cx) {
        Pane::set_filter_text(self, text, cx);
    }
    fn next_match(&mut self, forward: bool, cx: &mut Cx) {
        Pane::next_match(self, forward, cx);
    }
    fn answer(&mut self, answer: Answer, cx: &mut Cx) {
        Pane::answer(self, answer, cx);
    }
    fn escape(&mut self, cx: &mut Cx) -> bool {
        Pane::escape(self, cx)
    }
    fn url(&self, view: &View) -> Option<String> {
        Pane::url(self, view)
    }
    fn position(&self, view: &View) -> Option<(String, Option<u32>)> {
        Pane::position(self, view)
    }
    fn copies(&self, view: &View) -> Vec<Clip> {
        Pane::copies(self, view)
    }
    fn ticks(&self, view: &View) -> bool {
        Pane::ticks(self, view)
    }
    fn commands(&self) -> Vec<Info> {
        P::COMMANDS.iter().map(Command::info).collect()
    }
    fn can(&self, id: &str, view: &View) -> Option<Result<(), Disabled>> {
        P::COMMANDS.iter().find(|c| c.id == id).map(|c| c.can(self, view))
    }
    fn run(&mut self, id: &str, cx: &mut Cx) -> bool {
        let Some(command) = P::COMMANDS.iter().find(|c| c.id == id) else { return false };
        match command.can(self, &cx.view) {
            Ok(()) => (command.run)(self, cx),
            Err(why) => cx.act(Action::Refuse(command.info(), why)),
        }
        true
    }
}
