//! A place that lists things of the server: a [`ListSource`] says what is listed, and [`ListPane`] does all that lists
//! have in common: filter, order, marks, selection, focus, paging, mouse, Esc, and a panel beside the list.

use super::columns::{ColumnState, Columns, ServerOrder};
use super::list::{self, Listing};
use super::query_list;
use crate::api::Error;
use crate::app::command::{Command, Disabled, Motion};
use crate::app::pane::{Breadcrumb, Cx, Needs, Pane, Pointer, SearchMode, Tabs, View};
use crate::app::place::Place;
use crate::app::query::{self, Grammar};
use crate::store::{ListQuery, Remote, Rows, Want};
use crate::ui::panels::{self, PanelRequest, Panels};
use crate::ui::state;
use crate::ui::table::Row;
use crate::ui::theme::Role;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::cell::Cell;
use std::time::Duration;

/// The panel of the list.
pub const LIST: usize = 0;
/// The panel beside it.
pub const DETAIL: usize = 1;

/// Who filters a list by what is typed after `/`.
pub enum Filter<T> {
    /// labscope, among the rows that are loaded: a row and the words, in lower case.
    Loaded(fn(&T, &str) -> bool),
    /// The server, by plain words.
    Server,
    /// The server, by a query of words and keys.
    Query(Grammar),
}

/// What a place lists.
pub trait ListSource: Sized + 'static {
    /// A row as the server sends it.
    type Row: Send + Sync + 'static;
    /// What stands beside the list; [`NoDetail`] where nothing does.
    type Detail: Detail<Self>;
    /// [`Pane::ID`].
    const ID: &'static str;
    /// [`Pane::TITLE`].
    const TITLE: &'static str;
    /// [`Pane::NEEDS`].
    const NEEDS: Needs = Needs::Nothing;
    /// [`Pane::COMMANDS`].
    const COMMANDS: &'static [Command<ListPane<Self>>];
    /// The columns that are offered.
    const COLUMNS: Columns<Self::Row>;
    /// The title above the list where something stands beside it.
    const HEADING: &'static str = "";
    /// The place names the row that is read beside the list: it opens there, and Esc leaves the place.
    const NAMES_ROW: bool = false;
    /// The widths of the list and of what stands beside it.
    const WIDTHS: [PanelRequest; 2] = [PanelRequest { min: 50, weight: 3 }, PanelRequest { min: 40, weight: 2 }];

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
    /// What the server is asked for; `None` while that is not known.
    fn query(&self, input: &Input<'_>, order: ServerOrder, view: &View) -> Option<ListQuery<Self::Row>>;
    /// What is known of what was asked for.
    fn rows<'a>(&self, query: Option<&ListQuery<Self::Row>>, view: &View<'a>) -> Rows<'a, Self::Row> {
        query.map_or_else(|| Rows::chain(Vec::new()), |query| view.store.rows(query))
    }
    /// Who filters.
    fn filter(&self, input: &Input<'_>) -> Filter<Self::Row>;
    /// Keeps some of the rows that the server sent, see [`Listing::narrow_to`]: by words of a query that it does not know.
    fn narrow(_pane: &mut ListPane<Self>, _rows: &Rows<'_, Self::Row>, _view: &View) {}
    /// What tells a row from others, and stays when the row changes.
    fn key(row: &Self::Row) -> String;
    /// A row with a cell for each column that is offered.
    fn row(&self, view: &View, row: &Self::Row) -> Row;
    /// What is known of the row `key` that the place names, until the list has it.
    fn named<'a>(&self, _key: &str, _view: &View<'a>) -> Option<Remote<'a, Self::Row>> {
        None
    }
    /// All that is known of a row, where the list leaves something out.
    fn known<'a>(&self, row: &'a Self::Row, _view: &View<'a>) -> &'a Self::Row {
        row
    }
    /// The title above the list where something stands beside it, and a note at its right.
    fn heading(&self, _input: &Input<'_>, _view: &View) -> (String, String) {
        (Self::HEADING.to_owned(), String::new())
    }
    /// What stands where there are no rows: why, and what to press.
    fn empty(&self, input: &Input<'_>) -> (&'static str, &'static str);
    /// What stands where the server refused the list for a reason that only this place knows: why, and what to press.
    fn refused(&self, _input: &Input<'_>, _error: &Error) -> Option<(String, &'static str)> {
        None
    }
    /// Opens the selected row.
    fn enter(pane: &mut ListPane<Self>, cx: &mut Cx);
    /// What else is needed, beside the rows and what the panel beside them needs.
    fn wants(_pane: &ListPane<Self>, _view: &View) -> Vec<Want> {
        Vec::new()
    }
    /// The count beside the title of the tab `index`.
    fn tab_count(_pane: &ListPane<Self>, _index: usize, _view: &View) -> Option<String> {
        None
    }
    /// Something it may show has changed; the list is up to date already.
    fn changed(_pane: &mut ListPane<Self>, _cx: &mut Cx) {}
    /// The answer of an overlay that was opened with `tag`.
    fn answer(_pane: &mut ListPane<Self>, _tag: &'static str, _value: String, _cx: &mut Cx) {}
    /// Esc, behind all that the list itself undoes.
    fn escape(_pane: &mut ListPane<Self>) -> bool {
        false
    }
    /// Why the list is not shown at all, and what to do about it.
    fn hidden(&self, _view: &View) -> Option<(String, &'static str)> {
        None
    }
    /// The web page of a row.
    fn url(&self, view: &View, row: &Self::Row) -> Option<String>;
    /// What `y` copies of a row: name and text.
    fn copies(&self, view: &View, row: &Self::Row) -> Vec<(&'static str, String)>;
}

/// What a person asks of a list.
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
    /// The selected row.
    pub row: Option<&'a S::Row>,
    /// Whether it is another row than at the update before.
    pub is_new: bool,
    /// Columns of the panel; 0 where it is out of sight.
    pub width: usize,
    /// Whether the panel has the focus.
    pub focused: bool,
}

/// What stands beside a list: facts or a text of the selected row.
pub trait Detail<S: ListSource>: Sized + 'static {
    /// How many panels there are with it: 1 or 2.
    const PANELS: usize;
    /// Nothing of any row yet.
    fn new() -> Self;
    /// What it needs while it is in sight.
    fn wants(&self, at: &Beside<'_, S>, view: &View) -> Vec<Want>;
    /// Another row, or something about it changed.
    fn changed(&mut self, at: &Beside<'_, S>, cx: &mut Cx);
    /// Moves in it; `true` where that leaves it for the list.
    fn motion(&mut self, at: &Beside<'_, S>, motion: Motion, view: &View) -> bool;
    /// A press or the wheel in it.
    fn pointer(&mut self, at: &Beside<'_, S>, pointer: Pointer, cx: &mut Cx);
    /// Opens what is under its cursor; `false` where that leads nowhere.
    fn enter(&mut self, at: &Beside<'_, S>, cx: &mut Cx) -> bool;
    /// What `/` searches.
    fn search_mode(&self) -> DetailSearch {
        DetailSearch::List
    }
    /// The text of its own search.
    fn search_text(&self) -> &str {
        ""
    }
    /// Searches for another text.
    fn search(&mut self, _text: &str) {}
    /// Goes to the next match of its own search, or to the one before.
    fn seek_next(&mut self, _forward: bool, _cx: &mut Cx) {}
    /// Whether it shows a clock that runs.
    fn ticks(&self, _at: &Beside<'_, S>, _view: &View) -> bool {
        false
    }
    /// Draws it, with its title.
    fn draw(&self, at: &Beside<'_, S>, row: &S::Row, view: &View, area: Rect, buf: &mut Buffer);
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
    fn draw(&self, _: &Beside<'_, S>, _: &S::Row, _: &View, _: Rect, _: &mut Buffer) {}
}

/// A place that lists what its source says.
pub struct ListPane<S: ListSource> {
    /// What is listed.
    pub source: S,
    /// The rows in sight, the selection, the filter and the marks.
    pub list: Listing,
    /// What stands beside the list.
    pub detail: S::Detail,
    tab: usize,
    panels: Panels,
    /// The row that was selected at the last update.
    read: Option<String>,
    /// The row that the place named, until the list has it or the selection moves.
    named: Option<String>,
    /// Made anew at each update of the source and of what a person chose, see [`ListPane::resolve`].
    resolved: Resolved<S::Row>,
    detail_area: Cell<Rect>,
}

/// What a list is, by its source and by what a person chose.
struct Resolved<T: 'static> {
    filter: Filter<T>,
    /// The columns; in no order where the query says one.
    columns: ColumnState<T>,
    /// What is asked for by the filter as it is typed.
    asked: Option<ListQuery<T>>,
    /// What is asked for by the filter whose rows are shown.
    shown: Option<ListQuery<T>>,
}

impl<S: ListSource> ListPane<S> {
    /// The rows that are shown.
    pub fn rows<'a>(&self, view: &View<'a>) -> Rows<'a, S::Row> {
        self.source.rows(self.resolved.shown.as_ref(), view)
    }

    /// The selected row, or the one that the place named until the list has it.
    pub fn current<'a>(&self, view: &View<'a>) -> Option<&'a S::Row> {
        match &self.named {
            Some(key) => self.source.named(key, view)?.value,
            None => self.list.selected(&self.rows(view)).map(|row| self.source.known(row, view)),
        }
    }

    /// The key of the row that the place named, until the list has it.
    pub fn named(&self) -> Option<&str> {
        self.named.as_deref()
    }

    /// The marked rows, else the selected one.
    pub fn chosen<'a>(&self, view: &View<'a>) -> Vec<&'a S::Row> {
        if self.list.state.marked().is_empty() {
            return self.current(view).into_iter().collect();
        }
        self.rows(view).iter().filter(|row| self.list.state.is_marked(&S::key(row))).collect()
    }

    /// What a person asks for.
    pub fn input(&self) -> Input<'_> {
        Input { filter: self.list.filter_text(), tab: self.tab }
    }

    /// What a person asked for when the rows came that are shown.
    pub fn shown_input(&self) -> Input<'_> {
        Input { filter: self.list.shown(), tab: self.tab }
    }

    /// The index of the tab.
    pub fn tab(&self) -> usize {
        self.tab
    }

    /// Another tab of the same list.
    pub fn show_tab(&mut self, tab: usize) {
        self.tab = tab;
    }

    /// Another tab, at the top of its list.
    pub fn set_tab(&mut self, tab: usize) {
        self.tab = tab;
        self.list.restart();
    }

    /// Another filter, at the top of its list.
    pub fn set_filter(&mut self, text: &str) {
        self.list = Listing::asked(text);
    }

    /// Returns whether what stands beside the list has the focus.
    pub fn on_detail(&self) -> bool {
        self.panels.focus() == DETAIL
    }

    /// Gives the focus to what stands beside the list.
    pub fn focus_detail(&mut self) {
        self.panels.set_focus(DETAIL);
    }

    /// Opens what is under the cursor of the panel beside the list; `false` where the list has the focus, or that leads
    /// nowhere.
    pub fn enter_detail(&mut self, cx: &mut Cx) -> bool {
        let view = cx.view;
        self.on_detail() && self.with_detail(&view, |detail, at| detail.enter(at, cx))
    }

    /// The selected row, or why there is none.
    pub fn need_row<'a>(&self, view: &View<'a>) -> Result<&'a S::Row, Disabled> {
        list::need(self.current(view), &self.rows(view), "nothing is selected")
    }

    /// For [`Command::when`]: a row is selected.
    pub fn has_row(&self, view: &View) -> Result<(), Disabled> {
        self.need_row(view).map(|_| ())
    }

    /// The command that marks the selected row and goes on to the next one.
    pub const fn mark_command(id: &'static str) -> Command<Self> {
        Command::new(id, &["Space"], "Toggle mark", Self::mark).when(Self::has_row)
    }

    /// The command that lets a person choose and sort by columns.
    pub const fn columns_command(id: &'static str) -> Command<Self> {
        Command::new(id, &["|"], "Columns and sorting…", |_: &mut Self, cx| S::COLUMNS.open(cx))
    }

    /// Marks the selected row, or no longer, and goes on to the next one.
    pub fn mark(&mut self, cx: &mut Cx) {
        let rows = self.rows(&cx.view);
        if let Some(row) = self.list.selected(&rows) {
            self.list.state.toggle_mark(S::key(row));
        }
        self.list.motion(Motion::Down, self.list.len(&rows));
    }

    /// What `/` searches now.
    fn searched(&self) -> DetailSearch {
        if self.on_detail() { self.detail.search_mode() } else { DetailSearch::List }
    }

    fn searches_detail(&self) -> bool {
        matches!(self.searched(), DetailSearch::Own(_))
    }

    /// Asks the source what it is now.
    fn resolve(&mut self, view: &View) {
        let filter = self.source.filter(&self.input());
        let is_sorted = matches!(filter, Filter::Query(_)) && query::get(self.list.filter_text(), "sort").is_some();
        let columns = S::COLUMNS.chosen(view).unless(is_sorted);
        let asked = self.source.query(&self.input(), columns.server(), view);
        let rows = self.source.rows(asked.as_ref(), view);
        match filter {
            Filter::Loaded(matches) => self.list.narrow(&rows, matches),
            _ => self.list.answered(&rows),
        }
        let shown = match self.list.is_behind() {
            true => self.source.query(&self.shown_input(), columns.server(), view),
            false => asked.clone(),
        };
        self.resolved = Resolved { filter, columns, asked, shown };
    }

    /// Columns of what stands beside the list; it is drawn in the whole screen between the lines of the frame.
    fn detail_width(&self, view: &View) -> usize {
        if S::Detail::PANELS == 1 {
            return 0;
        }
        let places = self.panels.places(Rect::new(0, 0, view.size.0, view.size.1), &S::WIDTHS);
        places.get(DETAIL).copied().flatten().map_or(0, |place| usize::from(place.width))
    }

    fn selected_key(&self, view: &View) -> Option<String> {
        self.current(view).map(S::key)
    }

    /// What the panel beside the list is about now.
    fn beside<'a>(&'a self, view: &View<'a>) -> Beside<'a, S> {
        let (row, width) = (self.current(view), self.detail_width(view));
        Beside { source: &self.source, row, is_new: false, width, focused: self.on_detail() }
    }

    fn with_detail<T>(&mut self, view: &View, run: impl FnOnce(&mut S::Detail, &Beside<'_, S>) -> T) -> T {
        let (row, width, focused) = (self.current(view), self.detail_width(view), self.on_detail());
        run(&mut self.detail, &Beside { source: &self.source, row, is_new: false, width, focused })
    }

    fn draw_list(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let columns = &self.resolved.columns;
        let focused = self.panels.focus() == LIST;
        let body = if S::Detail::PANELS == 1 { area } else { self.draw_heading(view, area, buf, focused) };
        let rows = self.rows(view);
        if let Some(error) = rows.error.filter(|_| rows.is_empty())
            && let Some((why, advice)) = self.source.refused(&self.shown_input(), error)
        {
            return state::failure(buf, body, view.theme, &why, &error.tried, &error.said(), advice);
        }
        let draw =
            |row: &S::Row| columns.row(self.source.row(view, row).marked(self.list.state.is_marked(&S::key(row))));
        let empty = self.source.empty(&self.shown_input());
        self.list.draw(view, body, buf, focused, &rows, &columns.columns(), draw, empty);
    }

    fn draw_heading(&self, view: &View, area: Rect, buf: &mut Buffer, focused: bool) -> Rect {
        let (title, note) = self.source.heading(&self.input(), view);
        panels::title(buf, area, view.theme, focused, &title, &note)
    }
}

impl<S: ListSource> Pane for ListPane<S> {
    const ID: &'static str = S::ID;
    const TITLE: &'static str = S::TITLE;
    const NEEDS: Needs = S::NEEDS;
    const COMMANDS: &'static [Command<Self>] = S::COMMANDS;

    fn open(place: &Place, view: &View) -> Self {
        let mut list = Listing::asked(place.query.as_deref().unwrap_or_default());
        if let Some(key) = place.git_ref.as_ref().or(place.item.as_ref()) {
            list.reveal(key.as_str());
        }
        let source = S::open(place, view);
        let named = |tab: &str| source.tabs().iter().position(|title| title.eq_ignore_ascii_case(tab));
        let tab = place.tab.as_deref().and_then(named).unwrap_or(0);
        let (detail, mut panels) = (S::Detail::new(), Panels::new(S::Detail::PANELS));
        let named = place.item.clone().filter(|_| S::NAMES_ROW);
        if named.is_some() {
            panels.set_focus(DETAIL);
        }
        let resolved = Resolved { filter: Filter::Server, columns: S::COLUMNS.chosen(view), asked: None, shown: None };
        let detail_area = Cell::default();
        let mut pane = ListPane { source, list, detail, tab, panels, read: None, named, resolved, detail_area };
        pane.resolve(view);
        pane
    }

    fn place(&self) -> Place {
        let tab = self.source.tabs().get(self.tab).filter(|_| self.tab > 0).map(|title| title.to_lowercase());
        let mut place = Place { tab, ..self.source.place() };
        if S::NAMES_ROW {
            place.item = self.named.clone().or_else(|| self.read.clone().filter(|_| self.on_detail()));
        }
        match self.resolved.filter {
            Filter::Query(_) => place.query(self.list.filter_text()),
            _ => place,
        }
    }

    fn breadcrumbs(&self, view: &View) -> Vec<Breadcrumb> {
        let mut breadcrumbs = self.source.breadcrumbs(view);
        let rows = self.rows(view);
        match &self.resolved.filter {
            Filter::Query(grammar) => breadcrumbs.extend(query_list::breadcrumbs(&self.list, &rows, grammar, view)),
            _ => breadcrumbs.extend(self.list.breadcrumbs(&rows)),
        }
        breadcrumbs.extend(self.resolved.columns.breadcrumb(&rows));
        let marked = self.list.state.marked().len();
        if marked > 0 {
            breadcrumbs.push(Breadcrumb::new(format!("{marked} marked"), Role::Warning));
        }
        breadcrumbs
    }

    fn wants(&self, view: &View) -> Vec<Want> {
        let (mut wants, rest) = match &self.resolved.filter {
            Filter::Query(grammar) => (grammar.wants(self.list.filter_text()), self.list.rest()),
            Filter::Server => (Vec::new(), self.list.rest()),
            Filter::Loaded(_) => (Vec::new(), Duration::ZERO),
        };
        wants.extend(self.resolved.asked.iter().flat_map(|query| query.wants(self.list.pages(), rest)));
        wants.extend(S::wants(self, view));
        let at = self.beside(view);
        if at.width > 0 {
            wants.extend(self.detail.wants(&at, view));
        }
        wants
    }

    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        // What is not drawn cannot be pressed.
        self.list.drawn_at(Rect::default());
        self.detail_area.set(Rect::default());
        if let Some((why, advice)) = self.source.hidden(view) {
            let body = self.draw_heading(view, area, buf, true);
            return state::empty(buf, body, view.theme, &why, advice);
        }
        let places = self.panels.layout(area, &S::WIDTHS);
        if let Some(place) = places.get(LIST).copied().flatten() {
            self.draw_list(view, place, buf);
        }
        if let Some(place) = places.get(DETAIL).copied().flatten() {
            let at = Beside { width: place.width.into(), ..self.beside(view) };
            if let Some(row) = at.row {
                self.detail_area.set(place);
                self.detail.draw(&at, row, view, place, buf);
            } else if let Some(error) = self.named().and_then(|key| self.source.named(key, view)?.error) {
                let body = panels::title(buf, place, view.theme, at.focused, "", "");
                list::failure(view, body, buf, error);
            }
        }
        self.panels.rules(buf, view.theme);
    }

    fn changed(&mut self, cx: &mut Cx) {
        let view = cx.view;
        self.resolve(&view);
        let shown = self.rows(&view);
        S::narrow(self, &shown, &view);
        self.resolved.columns.sort(&mut self.list, &shown);
        self.list.sync(&shown, S::key);
        if self.named.is_some() && self.list.selected(&shown).map(S::key) == self.named {
            self.named = None;
        }
        let read = self.selected_key(&view);
        let is_new = self.read != read;
        self.read = read;
        self.with_detail(&view, |detail, at| detail.changed(&Beside { is_new, ..*at }, cx));
        S::changed(self, cx);
    }

    fn motion(&mut self, motion: Motion, cx: &mut Cx) {
        if self.on_detail() {
            if self.with_detail(&cx.view, |detail, at| detail.motion(at, motion, &cx.view)) {
                self.panels.set_focus(LIST);
            }
            return;
        }
        match motion {
            Motion::Right => S::enter(self, cx),
            Motion::Left => {}
            other => {
                self.named = None;
                self.list.motion(other, self.list.len(&self.rows(&cx.view)));
            }
        }
    }

    fn pointer(&mut self, pointer: Pointer, cx: &mut Cx) {
        let (Pointer::Press { column, row, .. } | Pointer::Wheel { column, row, .. }) = pointer else { return };
        let press = matches!(pointer, Pointer::Press { .. });
        if self.detail_area.get().contains((column, row).into()) {
            if press {
                self.panels.set_focus(DETAIL);
            }
            let view = cx.view;
            return self.with_detail(&view, |detail, at| detail.pointer(at, pointer, cx));
        }
        if press {
            self.named = None;
            self.panels.set_focus(LIST);
        }
        if S::COLUMNS.pressed(&self.list, pointer, cx) {
            return;
        }
        if self.list.pointer(pointer, self.list.len(&self.rows(&cx.view))) {
            S::enter(self, cx);
        }
    }

    fn panels(&mut self) -> Option<&mut Panels> {
        (S::Detail::PANELS > 1).then_some(&mut self.panels)
    }

    fn tabs(&self) -> Tabs {
        Tabs { titles: self.source.tabs(), selected: self.source.shown_tab(&self.input()) }
    }

    fn tab_count(&self, index: usize, view: &View) -> Option<String> {
        S::tab_count(self, index, view)
    }

    fn select_tab(&mut self, index: usize, _cx: &mut Cx) {
        S::select_tab(self, index);
    }

    fn search_mode(&self) -> Option<SearchMode> {
        match self.searched() {
            DetailSearch::List => Some(SearchMode::Filter),
            DetailSearch::Own(mode) => Some(mode),
            DetailSearch::Nothing => None,
        }
    }

    fn grammar(&self) -> Option<Grammar> {
        match &self.resolved.filter {
            Filter::Query(grammar) if self.searched() == DetailSearch::List => Some(grammar.clone()),
            _ => None,
        }
    }

    fn filter_text(&self) -> String {
        if self.searches_detail() { self.detail.search_text() } else { self.list.filter_text() }.to_owned()
    }

    fn set_filter_text(&mut self, text: &str, cx: &mut Cx) {
        if self.searches_detail() {
            return self.detail.search(text);
        }
        let here = self.selected_key(&cx.view);
        self.list.seek(text, here);
    }

    fn seek_next(&mut self, forward: bool, cx: &mut Cx) {
        if self.searches_detail() {
            return self.detail.seek_next(forward, cx);
        }
        self.named = None;
        self.list.motion(if forward { Motion::Down } else { Motion::Up }, self.list.len(&self.rows(&cx.view)));
    }

    /// Undoes one thing, in the same order everywhere: marks, the filter, what the source itself has on; then the focus
    /// goes back to the list.
    fn escape(&mut self, cx: &mut Cx) -> bool {
        if !self.list.state.marked().is_empty() {
            self.list.state.clear_marks();
            return true;
        }
        if self.searches_detail() && !self.detail.search_text().is_empty() {
            self.detail.search("");
            return true;
        }
        let here = self.selected_key(&cx.view);
        if self.list.clear_filter(here) || S::escape(self) {
            return true;
        }
        // Whoever came for that one row goes back to where they came from.
        let away = self.on_detail() && self.named.is_none();
        self.panels.set_focus(LIST);
        away
    }

    fn answer(&mut self, tag: &'static str, value: String, cx: &mut Cx) {
        S::answer(self, tag, value, cx);
    }

    fn url(&self, view: &View) -> Option<String> {
        self.source.url(view, self.current(view)?)
    }

    fn copies(&self, view: &View) -> Vec<(&'static str, String)> {
        self.current(view).map(|row| self.source.copies(view, row)).unwrap_or_default()
    }

    fn ticks(&self, view: &View) -> bool {
        let at = self.beside(view);
        at.width > 0 && self.detail.ticks(&at, view)
    }
}
