//! Definitions of lists: a [`ListSource`] defines the rows, and a [`Detail`] the panel beside them.

use crate::api::{Error, Id, RefKind};
use crate::app::clip::Clip;
use crate::app::command::Command;
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::custom::InputKind;
use crate::app::pane::{Breadcrumb, CommandInput, Pane};
use crate::app::place::Place;
use crate::app::query::Grammar;
use crate::app::view::View;
use crate::parts::list::Listing;
use crate::parts::list::columns::{Column, ServerOrder};
use crate::parts::list::pane::ListPane;
use crate::parts::list::scope;
use crate::store::{ListQuery, Load, Rows, Want};
use crate::ui::table::TableRow;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::borrow::Cow;
use std::time::Duration;

/// The way in which the text typed after `/` filters a list.
pub enum Filter<T> {
    /// The list has no filter.
    None,
    /// A local filter on the loaded rows: gets a row and the words in lowercase.
    Loaded(fn(&T, &str) -> bool),
    /// A filter by the server, with plain words.
    Server,
    /// A search by the server, with plain words from the place: without them there is nothing to list.
    Search,
    /// A filter by the server, with a query of words and keys.
    Query(Grammar),
}

/// The fixed properties of a list.
pub struct ListInfo {
    /// [`PaneKind::ID`](crate::app::pane::PaneKind::ID).
    pub id: &'static str,
    /// The words for one row, in sentences, and for the list, in the breadcrumbs: `("issue", "issues")`.
    pub names: (&'static str, &'static str),
    /// The minimum widths and the weights of the panels, from left to right.
    pub widths: &'static [(u16, u16)],
    /// The default sort column and direction (`true`: descending); `None` if no column matches the server's own order.
    pub order: Option<(&'static str, bool)>,
    /// The name under which the user's choice of columns is saved.
    pub saved_as: &'static str,
    /// The tabs, if those are not tabs of the detail panel.
    pub tabs: ListTabs,
    /// Whether the project of the place is read, whose path is needed only if the place has its number.
    pub reads_project: bool,
    /// The kind of refs that the rows are, by their short names as keys: the ref of the place is one of its rows.
    pub ref_kind: Option<RefKind>,
}

impl ListInfo {
    /// Describes a list by its ID and its names.
    pub const fn new(id: &'static str, one: &'static str, many: &'static str) -> ListInfo {
        let (names, tabs, order, ref_kind) = ((one, many), ListTabs::of(&[]), None, None);
        ListInfo { id, names, widths: &[], order, saved_as: id, tabs, reads_project: true, ref_kind }
    }

    /// Sets the widths of the panels.
    pub const fn widths(self, widths: &'static [(u16, u16)]) -> ListInfo {
        ListInfo { widths, ..self }
    }

    /// Sets the titles of the tabs.
    pub const fn tabs(self, titles: &'static [&'static str]) -> ListInfo {
        ListInfo { tabs: ListTabs::of(titles), ..self }
    }
}

/// A key that may have a meaning of its own in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListKey {
    Left,
    Right,
    /// Esc, if the list itself has nothing to undo.
    Escape,
}

/// A command of a list, which may be about its current row.
pub type ListCommand<S> = Command<ListPane<S>, <S as ListSource>::Row>;

/// The definition of a list.
pub trait ListSource: Sized + 'static {
    /// The type of a row, as the server sends it.
    type Row: Send + Sync + 'static;
    /// The detail panel; [`NoDetail`] if there is none.
    type Detail: Detail<Self>;
    /// The fixed properties of the list.
    const LIST: ListInfo;
    /// [`PaneKind::COMMANDS`](crate::app::pane::PaneKind::COMMANDS).
    const COMMANDS: &'static [ListCommand<Self>];
    /// [`PaneKind::TABLES`](crate::app::pane::PaneKind::TABLES).
    const TABLES: &'static [&'static [ListCommand<Self>]] = &[Self::COMMANDS];
    /// The columns that the list offers.
    const COLUMNS: &'static [Column<Self>];

    /// Opens the source at `place`. The query and the tab of the place are handled by the list.
    fn open(place: &Place, view: &View) -> Self;
    /// Returns what a custom command gets of a row.
    fn command_input(&self, _row: &Self::Row, kind: InputKind, _view: &View) -> Result<CommandInput, Disabled> {
        Err(kind.missing())
    }
    /// Returns the place, without its query and tab. Its project or group is what the list belongs to: in `base`, those
    /// of the place that was opened.
    fn place(&self, base: Place) -> Place {
        base
    }
    /// Returns the breadcrumbs: the container, and the name of the list.
    fn breadcrumbs(&self, place: &Place, view: &View) -> Vec<Breadcrumb> {
        scope::breadcrumbs(scope::of(place).as_ref(), view, Self::LIST.names.1)
    }
    /// Returns the tabs, if they depend on the place.
    fn tabs(&self) -> ListTabs {
        Self::LIST.tabs
    }
    /// Returns the index of the tab that a place is about, if it does not name the title of one.
    fn tab_of(&self, _place: &Place) -> Option<usize> {
        None
    }
    /// Returns the side that is shown alone; `None` if there is room for both.
    fn only_side(&self, _input: &Input<'_>, _view: &View) -> Option<Side> {
        None
    }
    /// Switches to the tab at `index`.
    fn select_tab(pane: &mut ListPane<Self>, index: usize) {
        pane.switch_tab(index);
    }
    /// Returns the query to the server; `None` while it is not known.
    fn query(&self, input: &Input<'_>, order: ServerOrder, view: &View) -> Option<ListQuery<Self::Row>>;
    /// Returns the loaded rows of a query; `input` is the one that the query belongs to.
    fn rows<'a>(
        &self,
        _input: &Input<'_>,
        query: Option<&ListQuery<Self::Row>>,
        view: &View<'a>,
    ) -> Rows<'a, Self::Row> {
        query.map_or_else(|| Rows::chain(Vec::new()), |query| view.store.rows(query))
    }
    /// Returns the kind of filter.
    fn filter(&self, input: &Input<'_>) -> Filter<Self::Row>;
    /// Returns the minimum number of pages that are loaded, and the polling interval, while rows can change on the server.
    fn polling(_pane: &ListPane<Self>, _view: &View) -> (u32, Option<Duration>) {
        (1, None)
    }
    /// Arranges the loaded rows after a store update: keeps those that match words of a query that the server does not
    /// know, see [`Listing::narrow_to`], or adds headings, see [`Listing::arrange`].
    fn arrange_rows(_pane: &mut ListPane<Self>, _rows: &Rows<'_, Self::Row>, _view: &View) {}
    /// Returns the key of a row, which stays the same when the row changes.
    fn key(row: &Self::Row) -> String;
    /// Returns the project of a row, if that is not the one of the place, and whether the row belongs to the user:
    /// permissions may be wider then.
    fn belongs_to(&self, _row: &Self::Row, _view: &View) -> (Option<Id>, bool) {
        (None, false)
    }
    /// Returns whether the row at `index` is secondary, as if it is archived, merged or stale.
    fn is_dim(&self, _index: usize, _row: &Self::Row) -> bool {
        false
    }
    /// Returns the heading at `index`, if [`ListSource::arrange_rows`] arranges the rows with headings.
    fn heading_row<'a>(&'a self, _input: &Input<'_>, _index: usize, _view: &View<'a>) -> TableRow<'a> {
        TableRow::default()
    }
    /// Draws a header above all panels; returns the remaining area.
    fn draw_header(&self, _view: &View, area: Rect, _buf: &mut Buffer) -> Rect {
        area
    }
    /// Returns the request for the row `key`, if a place can name the row in the detail panel, whether or not the list has
    /// it: then the place opens with the focus there, and Esc leaves it.
    fn named_row(&self, _key: &str) -> Option<Load> {
        None
    }
    /// Returns the row with all its fields, if the list omits some.
    fn full_row<'a>(&self, row: &'a Self::Row, _view: &View<'a>) -> &'a Self::Row {
        row
    }
    /// Returns the number of rows of a list with a query as text, see [`count`](super::count); `None` while nothing is
    /// loaded.
    fn count(&self, list: &Listing, rows: &Rows<'_, Self::Row>) -> Option<String> {
        list.count(rows)
    }
    /// Returns the title above the list if there is a detail panel, and a note to the right of it. Without a title, the list
    /// has its name as one beside the panel, and none where it is alone.
    fn heading(&self, _input: &Input<'_>, _view: &View) -> (String, String) {
        (String::new(), String::new())
    }
    /// Returns the placeholder for an empty list without a filter: the reason and the keys to press.
    fn empty(&self, tab: usize) -> (&'static str, &'static str);
    /// Returns what is said in place of the list, which is not shown at all, or which the server refused with an error for
    /// a reason specific to this place: the reason and what to do about it.
    fn instead(&self, _input: &Input<'_>, _error: Option<&Error>, _view: &View) -> Option<(String, Cow<'static, str>)> {
        None
    }
    /// Handles a key that has a meaning of its own while the list has the focus; returns whether it has one now.
    fn handle_key(_pane: &mut ListPane<Self>, _key: ListKey, _cx: &mut Cx) -> bool {
        false
    }
    /// Returns the requests beyond those for the rows, the detail panel and the project.
    fn wants(_pane: &ListPane<Self>, _view: &View) -> Vec<Want> {
        Vec::new()
    }
    /// Returns the count beside the title of the tab at `index`.
    fn tab_count(_pane: &ListPane<Self>, _index: usize, _view: &View) -> Option<String> {
        None
    }
    /// Handles a store update, after the list was updated.
    fn changed(_pane: &mut ListPane<Self>, _cx: &mut Cx) {}
    /// Returns the URL of a row; that of the place if no row is selected.
    fn url(&self, _view: &View, _row: Option<&Self::Row>) -> Option<String> {
        None
    }
    /// Returns the texts that `y` offers to copy for a row, with their names.
    fn copies(&self, view: &View, row: &Self::Row) -> Vec<Clip>;
}

/// The tabs of a list.
pub struct ListTabs {
    pub titles: &'static [&'static str],
    /// The key of a query that selects the same, such as `state`, and its word for each tab. A word in the query takes
    /// precedence over the tab.
    pub words: Option<(&'static str, &'static [&'static str])>,
}

impl ListTabs {
    /// Returns the tabs with these titles.
    pub const fn of(titles: &'static [&'static str]) -> ListTabs {
        ListTabs { titles, words: None }
    }
}

/// A list, or what is beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    List,
    Detail,
}

/// The user's input to a list.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// The text after `/`.
    pub filter: &'a str,
    /// The index of the tab.
    pub tab: usize,
}

/// The input of a detail panel.
pub struct DetailContext<'a, S: ListSource> {
    /// The definition of the list.
    pub source: &'a S,
    /// The input that the rows belong to.
    pub input: Input<'a>,
    /// The query of the rows; `None` while it is not known.
    pub query: Option<&'a ListQuery<S::Row>>,
    /// The rows that are shown.
    pub rows: Rows<'a, S::Row>,
    /// The selected row.
    pub row: Option<&'a S::Row>,
    /// Whether another row was selected at the last update.
    pub row_changed: bool,
    /// The width of the panel to the right of the list, in columns; 0 if it is not shown.
    pub width: usize,
    /// Whether the panel to the left of the list has the focus.
    pub focused_before: bool,
    /// Whether the panel to the right of the list has the focus.
    pub focused: bool,
}

/// A part beside a list, which tells it what to show.
pub trait Detail<S: ListSource>: Pane + Default {
    /// Shows what belongs to the selected row, after each update.
    fn show(&mut self, context: &DetailContext<'_, S>, cx: &mut Cx);
    /// Returns the panel at `index`, from left to right; `None` for the list.
    fn panel(&self, index: usize) -> Option<&dyn Pane> {
        (index == 1).then_some(self)
    }
    /// Returns the panel at `index`, to change it.
    fn panel_mut(&mut self, index: usize) -> Option<&mut dyn Pane> {
        (index == 1).then_some(self)
    }
    /// Returns whether a motion towards the list moves the focus there, and not within the panel.
    fn leaves(&self) -> bool {
        true
    }
    /// Returns the row under the panel's own cursor, which is the current one while the panel has the focus; `None` if
    /// it has no cursor over rows.
    fn current<'a>(&self, _view: &View<'a>) -> Option<&'a S::Row> {
        None
    }
}

/// A placeholder for lists with nothing beside them.
#[derive(Default)]
pub struct NoDetail;

impl Pane for NoDetail {
    fn wants(&self, _: &View) -> Vec<Want> {
        Vec::new()
    }
}

impl<S: ListSource> Detail<S> for NoDetail {
    fn show(&mut self, _: &DetailContext<'_, S>, _: &mut Cx) {}
    fn panel(&self, _: usize) -> Option<&dyn Pane> {
        None
    }
    fn panel_mut(&mut self, _: usize) -> Option<&mut dyn Pane> {
        None
    }
}
