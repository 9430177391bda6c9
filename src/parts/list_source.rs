//! What a list is by its place: a [`ListSource`] says what is listed, and a [`Detail`] what stands beside it.

use super::columns::{Columns, ServerOrder};
use super::list_pane::ListPane;
use crate::api::Error;
use crate::app::action::Answer;
use crate::app::command::{Command, Motion};
use crate::app::pane::{Breadcrumb, Cx, Needs, Pointer, SearchMode, View};
use crate::app::place::Place;
use crate::app::query::Grammar;
use crate::store::{ListQuery, Remote, Rows, Want};
use crate::ui::panels::PanelRequest;
use crate::ui::table::Row;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::time::Duration;

/// Who filters a list by what is typed after `/`.
pub enum Filter<T> {
    /// labscope, among the rows that are loaded: a row and the words, in lower case.
    Loaded(fn(&T, &str) -> bool),
    /// The server, by plain words.
    Server,
    /// The server, by plain words that the place names: without them there is nothing to list.
    Search,
    /// The server, by a query of words and keys.
    Query(Grammar),
}

/// What a place lists.
pub trait ListSource: Sized + 'static {
    /// A row as the server sends it.
    type Row: Send + Sync + 'static;
    /// What stands beside the list; [`NoDetail`] where nothing does.
    type Detail: Detail<Self>;
    /// [`Pane::ID`](crate::app::pane::Pane::ID).
    const ID: &'static str;
    /// [`Pane::TITLE`](crate::app::pane::Pane::TITLE).
    const TITLE: &'static str;
    /// [`Pane::NEEDS`](crate::app::pane::Pane::NEEDS).
    const NEEDS: Needs = Needs::Nothing;
    /// [`Pane::COMMANDS`](crate::app::pane::Pane::COMMANDS).
    const COMMANDS: &'static [Command<ListPane<Self>>];
    /// The columns that are offered.
    const COLUMNS: Columns<Self::Row>;
    /// The title above the list where something stands beside it.
    const HEADING: &'static str = "";
    /// The place names the row that is read beside the list: it opens there, and Esc leaves the place.
    const NAMES_ROW: bool = false;
    /// The widths of the panels, from left to right.
    const WIDTHS: &'static [PanelRequest] = &[PanelRequest { min: 50, weight: 3 }, PanelRequest { min: 40, weight: 2 }];
    /// Pages that are read at once.
    const PAGES: u32 = 1;

    /// Opens it at `place`; query and tab of the place are read by the list.
    fn open(place: &Place, view: &View) -> Self;
    /// The place, without its query and tab.
    fn place(&self) -> Place;
    /// The way to it: its container, and what is listed.
    fn breadcrumbs(&self, view: &View) -> Vec<Breadcrumb>;
    /// Titles of the tabs.
    fn tabs(&self) -> &'static [&'static str] {
        &[]
    }
    /// The tab that is shown, where the filter can say another one than was selected.
    fn shown_tab(&self, input: &Input<'_>) -> usize {
        input.tab
    }
    /// Shows the tab `index`.
    fn select_tab(pane: &mut ListPane<Self>, index: usize) {
        pane.set_tab(index);
    }
    /// Returns what the server is asked for; `None` while that is not known.
    fn query(&self, input: &Input<'_>, order: ServerOrder, view: &View) -> Option<ListQuery<Self::Row>>;
    /// Returns what is known of what was asked for.
    fn rows<'a>(&self, query: Option<&ListQuery<Self::Row>>, view: &View<'a>) -> Rows<'a, Self::Row> {
        query.map_or_else(|| Rows::chain(Vec::new()), |query| view.store.rows(query))
    }
    /// Returns who filters.
    fn filter(&self, input: &Input<'_>) -> Filter<Self::Row>;
    /// How often the rows are asked for again, while something lives among them.
    fn pulse(_pane: &ListPane<Self>, _view: &View) -> Option<Duration> {
        None
    }
    /// Keeps some of the rows that the server sent, see [`Listing::narrow_to`]: by words of a query that it does not
    /// know.
    fn narrow(_pane: &mut ListPane<Self>, _rows: &Rows<'_, Self::Row>, _view: &View) {}
    /// Returns what tells a row from others, and stays when the row changes.
    fn key(row: &Self::Row) -> String;
    /// A row, the row `index` of the list, with a cell for each column that is offered.
    fn row(&self, view: &View, index: usize, row: &Self::Row) -> Row;
    /// Returns what is known of the row `key` that the place names, until the list has it.
    fn named<'a>(&self, _key: &str, _view: &View<'a>) -> Option<Remote<'a, Self::Row>> {
        None
    }
    /// Returns all that is known of a row, where the list leaves something out.
    fn known<'a>(&self, row: &'a Self::Row, _view: &View<'a>) -> &'a Self::Row {
        row
    }
    /// The title above the list where something stands beside it, and a note at its right.
    fn heading(&self, _input: &Input<'_>, _view: &View) -> (String, String) {
        (Self::HEADING.to_owned(), String::new())
    }
    /// Returns what stands where there are no rows: why, and what to press.
    fn empty(&self, input: &Input<'_>) -> (&'static str, &'static str);
    /// Returns what stands where the server refused the list for a reason that only this place knows: why, and what to
    /// press.
    fn refused(&self, _input: &Input<'_>, _error: &Error) -> Option<(String, &'static str)> {
        None
    }
    /// Opens the selected row.
    fn enter(pane: &mut ListPane<Self>, cx: &mut Cx);
    /// Returns what else is needed, beside the rows and what the panel beside them needs.
    fn wants(_pane: &ListPane<Self>, _view: &View) -> Vec<Want> {
        Vec::new()
    }
    /// The count beside the title of the tab `index`.
    fn tab_count(_pane: &ListPane<Self>, _index: usize, _view: &View) -> Option<String> {
        None
    }
    /// The selected row is no longer in the list.
    fn lost(_cx: &mut Cx) {}
    /// Something it may show has changed; the list is up to date already.
    fn changed(_pane: &mut ListPane<Self>, _cx: &mut Cx) {}
    /// The answer of an overlay that it opened.
    fn answer(_pane: &mut ListPane<Self>, _answer: Answer, _cx: &mut Cx) {}
    /// Esc, behind all that the list itself undoes.
    fn escape(_pane: &mut ListPane<Self>) -> bool {
        false
    }
    /// Returns why the list is not shown at all, and what to do about it.
    fn hidden(&self, _input: &Input<'_>, _view: &View) -> Option<(String, String)> {
        None
    }
    /// The web page of a row.
    fn url(&self, view: &View, row: &Self::Row) -> Option<String>;
    /// Returns what `y` copies of a row: name and text.
    fn copies(&self, view: &View, row: &Self::Row) -> Vec<(&'static str, String)>;
}

/// What the user asks of a list.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// The text behind `/`.
    pub filter: &'a str,
    /// The index of the tab.
    pub tab: usize,
}

/// What `/` searches while the panel beside the list has the focus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DetailSearch {
    /// The list.
    List,
    /// The panel itself.
    Own(SearchMode),
    /// There is nothing to search.
    Nothing,
}

/// What a panel beside a list is about.
pub struct Beside<'a, S: ListSource> {
    /// What is listed.
    pub source: &'a S,
    /// The rows that are shown.
    pub rows: Rows<'a, S::Row>,
    /// The selected row.
    pub row: Option<&'a S::Row>,
    /// Whether it is another row than at the update before.
    pub is_new: bool,
    /// The index of the panel.
    pub panel: usize,
    /// Columns of the panel; 0 where it is out of sight.
    pub width: usize,
    /// Whether the panel has the focus.
    pub focused: bool,
}

/// What stands beside a list: facts or a text of the selected row.
pub trait Detail<S: ListSource>: Sized + 'static {
    /// How many panels there are with the list.
    const PANELS: usize;
    /// The index of the list among them.
    const LIST: usize = 0;
    /// Nothing of any row yet.
    fn new() -> Self;
    /// Returns whether there is room for it; else the list stands alone.
    fn fits(_view: &View) -> bool {
        true
    }
    /// Returns what it needs while it is in sight.
    fn wants(&self, at: &Beside<'_, S>, view: &View) -> Vec<Want>;
    /// Another row, or something about it changed.
    fn changed(&mut self, at: &Beside<'_, S>, cx: &mut Cx);
    /// Moves in it; `true` where that leaves it for the list.
    fn motion(&mut self, at: &Beside<'_, S>, motion: Motion, view: &View) -> bool;
    /// A press or the wheel in it.
    fn pointer(&mut self, at: &Beside<'_, S>, pointer: Pointer, cx: &mut Cx);
    /// Opens what is under its cursor; `false` where that leads nowhere.
    fn enter(&mut self, at: &Beside<'_, S>, cx: &mut Cx) -> bool;
    /// Returns what `/` searches.
    fn search_mode(&self) -> DetailSearch {
        DetailSearch::List
    }
    /// The text of its own search.
    fn search_text(&self) -> String {
        String::new()
    }
    /// Searches for another text.
    fn search(&mut self, _text: &str) {}
    /// Goes to the next match of its own search, or to the one before.
    fn seek_next(&mut self, _forward: bool, _cx: &mut Cx) {}
    /// Returns whether it shows a clock that runs.
    fn ticks(&self, _at: &Beside<'_, S>, _view: &View) -> bool {
        false
    }
    /// Draws it, with its title.
    fn draw(&self, at: &Beside<'_, S>, view: &View, area: Rect, buf: &mut Buffer);
}

/// Nothing stands beside the list.
pub struct NoDetail;

impl<S: ListSource> Detail<S> for NoDetail {
    const PANELS: usize = 1;
    fn new() -> NoDetail {
        NoDetail
    }
    fn wants(&self, _: &Beside<'_, S>, _: &View) -> Vec<Want> {
        Vec::new()
    }
    fn changed(&mut self, _: &Beside<'_, S>, _: &mut Cx) {}
    fn motion(&mut self, _: &Beside<'_, S>, _: Motion, _: &View) -> bool {
        false
    }
    fn pointer(&mut self, _: &Beside<'_, S>, _: Pointer, _: &mut Cx) {}
    fn enter(&mut self, _: &Beside<'_, S>, _: &mut Cx) -> bool {
        false
    }
    fn draw(&self, _: &Beside<'_, S>, _: &View, _: Rect, _: &mut Buffer) {}
}
