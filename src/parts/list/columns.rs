//! Configurable columns: the columns that a list offers with their cells, the user's saved choice, and sorting.

use crate::api::Time;
use crate::app::action::Action;
use crate::app::context::Cx;
use crate::app::overlay::columns::{ColumnOffer, ColumnsList, Sorter};
use crate::app::pane::Breadcrumb;
use crate::app::state::{ColumnChoice, SettingsChange};
use crate::app::tone::Tone;
use crate::app::view::View;
use crate::parts::list::Listing;
use crate::parts::list::source::{ListInfo, ListSource};
use crate::parts::text::dates;
use crate::store::Rows;
use crate::ui::line::Line;
use crate::ui::table::{self, Size};
use crate::ui::text;
use crate::ui::theme::Role;
use jiff::Timestamp;
use std::cmp::Reverse;

/// A column that a list offers.
pub struct Column<S: ListSource> {
    /// The name in the column chooser and in the saved settings.
    name: &'static str,
    layout: table::TableColumn,
    cell: Cell<S>,
    order: Order<S::Row>,
    is_shown: bool,
    /// Whether the first click sorts in descending order, as for dates.
    is_newest_first: bool,
}

/// The function that returns the cell of a row.
pub type CellOf<S> = for<'a> fn(&'a S, &'a <S as ListSource>::Row, &View<'a>) -> Line<'a>;

/// Like [`CellOf`], for cells that depend on the neighbors of the row: gets the index of its line in the whole list.
pub type CellAt<S> = for<'a> fn(&'a S, usize, &'a <S as ListSource>::Row, &View<'a>) -> Line<'a>;

enum Cell<S: ListSource> {
    Of(CellOf<S>),
    At(CellAt<S>),
    /// The age of a time.
    Age(fn(&S::Row) -> Option<&Time>),
}

/// The way in which a column can be sorted.
enum Order<T> {
    /// The column cannot be sorted.
    None,
    /// The server sorts, by this value of `order_by`.
    Server(&'static str),
    /// The loaded rows are sorted locally.
    Loaded(fn(&T) -> SortKey),
    /// The loaded rows are sorted locally, by time.
    Time(fn(&T) -> Option<&Time>),
}

impl<T> Order<T> {
    /// Returns the key of a row for a local order.
    fn key(&self, row: &T) -> Option<SortKey> {
        match self {
            Order::None | Order::Server(_) => None,
            Order::Loaded(key) => Some(key(row)),
            Order::Time(time) => Some(time(row).into()),
        }
    }

    fn is_local(&self) -> bool {
        matches!(self, Order::Loaded(_) | Order::Time(_))
    }
}

/// The value by which a local order sorts a row.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SortKey {
    Number(Option<u64>),
    Text(String),
    Time(Option<Timestamp>),
    /// A number, the largest first.
    Reversed(Reverse<Option<u64>>),
}

impl SortKey {
    /// Returns the key of a number that sorts the largest first, and what has no number last.
    pub fn reversed(number: Option<u64>) -> SortKey {
        SortKey::Reversed(Reverse(number))
    }

    /// Returns the key of a text whose case is ignored.
    pub fn caseless(text: &str) -> SortKey {
        SortKey::Text(text.to_lowercase())
    }
}

impl From<&str> for SortKey {
    fn from(text: &str) -> SortKey {
        SortKey::Text(text.to_owned())
    }
}

impl From<Option<&String>> for SortKey {
    fn from(text: Option<&String>) -> SortKey {
        SortKey::Text(text.cloned().unwrap_or_default())
    }
}

impl From<Option<u64>> for SortKey {
    fn from(number: Option<u64>) -> SortKey {
        SortKey::Number(number)
    }
}

impl From<u64> for SortKey {
    fn from(number: u64) -> SortKey {
        Some(number).into()
    }
}

impl From<Option<&Time>> for SortKey {
    fn from(time: Option<&Time>) -> SortKey {
        SortKey::Time(time.and_then(Time::instant))
    }
}

impl<S: ListSource> Column<S> {
    const fn new(name: &'static str, title: &'static str, size: Size, cell: Cell<S>) -> Self {
        let layout = table::TableColumn::new(title, size);
        Column { name, layout, cell, order: Order::None, is_shown: true, is_newest_first: false }
    }

    /// Creates a column without a title for a single glyph.
    pub const fn glyph(name: &'static str, cell: CellOf<S>) -> Self {
        Column::fixed(name, "", 1, cell)
    }

    /// Creates a column with a fixed width.
    pub const fn fixed(name: &'static str, title: &'static str, width: u16, cell: CellOf<S>) -> Self {
        Column::new(name, title, Size::Fixed(width), Cell::Of(cell))
    }

    /// Creates a column that is as wide as its widest cell, within limits.
    pub const fn fit(name: &'static str, title: &'static str, min: u16, max: u16, cell: CellOf<S>) -> Self {
        Column::new(name, title, Size::Fit { min, max }, Cell::Of(cell))
    }

    /// Creates a column with the names by which people tell the rows apart. Where there is room, they are shown in full.
    pub const fn name(name: &'static str, title: &'static str, min: u16, cell: CellOf<S>) -> Self {
        Column::fit(name, title, min, u16::MAX, cell)
    }

    /// Creates a column that gets the remaining width, at least `min`.
    pub const fn fill(name: &'static str, title: &'static str, min: u16, cell: CellOf<S>) -> Self {
        Column::new(name, title, Size::Fill { min, weight: 1 }, Cell::Of(cell))
    }

    /// Creates a column whose cells depend on the neighbors of a row.
    pub const fn at(name: &'static str, size: Size, cell: CellAt<S>) -> Self {
        Column::new(name, "", size, Cell::At(cell))
    }

    /// Creates a column with the ages of times, which can be sorted among the loaded rows.
    pub const fn age(name: &'static str, title: &'static str, time: fn(&S::Row) -> Option<&Time>) -> Self {
        let width = if title.is_empty() { 4 } else { title.len() as u16 };
        let column = Column::new(name, title, Size::Fixed(width), Cell::Age(time)).right().newest_first();
        if title.is_empty() { column } else { column.by_time(time) }
    }

    /// Aligns the text to the right.
    pub const fn right(mut self) -> Self {
        self.layout = self.layout.right();
        self
    }

    /// Cuts text in the middle, as for paths.
    pub const fn cut_in_middle(mut self) -> Self {
        self.layout = self.layout.cut_in_middle();
        self
    }

    /// Shrinks the column to the first word of its cells, a sign or a number, instead of dropping it.
    pub const fn shrinks(mut self) -> Self {
        self.layout = self.layout.shrinks();
        self
    }

    /// Sets the priority for dropping the column from a narrow table: the highest number is dropped first.
    pub const fn drop_order(mut self, priority: u8) -> Self {
        self.layout = self.layout.drop_order(priority);
        self
    }

    /// Sets the share of the remaining width, relative to other columns that fill it.
    pub const fn weight(mut self, weight: u16) -> Self {
        if let Size::Fill { min, .. } = self.layout.size {
            self.layout.size = Size::Fill { min, weight };
        }
        self
    }

    /// Hides the column by default.
    pub const fn hidden(mut self) -> Self {
        self.is_shown = false;
        self
    }

    /// Makes the column sortable by the server, by this value of `order_by`.
    pub const fn server(mut self, word: &'static str) -> Self {
        self.order = Order::Server(word);
        self
    }

    /// Makes the column sortable among the loaded rows.
    pub const fn sorted(mut self, key: fn(&S::Row) -> SortKey) -> Self {
        self.order = Order::Loaded(key);
        self
    }

    /// Makes the column sortable among the loaded rows, by time.
    pub const fn by_time(mut self, time: fn(&S::Row) -> Option<&Time>) -> Self {
        self.order = Order::Time(time);
        self
    }

    /// Makes the first click sort in descending order, as for dates.
    pub const fn newest_first(mut self) -> Self {
        self.is_newest_first = true;
        self
    }

    fn cell<'a>(&self, source: &'a S, index: usize, row: &'a S::Row, view: &View<'a>) -> Line<'a> {
        match self.cell {
            Cell::Of(cell) => cell(source, row, view),
            Cell::At(cell) => cell(source, index, row, view),
            Cell::Age(time) => Line::new(dates::age(view, time(row)), Role::Dim),
        }
    }
}

/// Names under which earlier versions saved columns, and their current names.
const RENAMED: &[(&str, &str)] = &[
    ("age", "updated"),
    ("age", "created"),
    ("apart", "behind"),
    ("behind ahead", "behind"),
    ("changed", "updated"),
    ("company", "organization"),
    ("made", "created"),
    ("news", "unread"),
    ("notes", "comments"),
    ("number", "ID"),
    ("projects at most", "projects limit"),
    ("seen", "last contact"),
    ("signed in", "last sign-in"),
    ("signs in by", "identities"),
    ("takes", "configuration"),
    ("untagged jobs", "configuration"),
    ("what", "result"),
    ("words", "match"),
    ("words", "message"),
];

/// The `order_by` and `sort` parameters of a request, if the user chose an order.
pub type ServerOrder = Option<(&'static str, &'static str)>;

/// The columns and the order that are in effect.
pub struct ColumnState<S: ListSource> {
    shown: Vec<&'static Column<S>>,
    /// The column by which the list is sorted, and whether in descending order.
    order: Option<(&'static Column<S>, bool)>,
    /// Whether the order is the default, which the pane requests by its own parameters.
    standard: bool,
}

fn find<S: ListSource>(name: &str) -> Option<&'static Column<S>> {
    S::COLUMNS.iter().find(|column| column.name == name)
}

/// Returns the user's choice of columns, and the default one.
fn choices<S: ListSource>(view: &View) -> [ColumnChoice; 2] {
    let offered: Vec<_> = S::COLUMNS.iter().map(|column| (column.name, column.is_shown)).collect();
    choices_of(&S::LIST, &offered, view)
}

/// Returns the choices of [`choices`] for a list, given the names of the columns and whether they are shown by default.
fn choices_of(list: &ListInfo, offered: &[(&str, bool)], view: &View) -> [ColumnChoice; 2] {
    let is_known = |name: &str| offered.iter().any(|(known, _)| *known == name);
    let configured = view.session.columns.get(list.id).into_iter().flatten();
    // A file for several versions may name columns that this one does not have.
    let configured: Vec<String> = configured.filter(|name| is_known(name)).cloned().collect();
    let built_in = offered.iter().filter(|(_, is_shown)| *is_shown).map(|(name, _)| (*name).to_owned());
    let columns = if configured.is_empty() { built_in.collect() } else { configured };
    let order = list.order.map(|(name, _)| name.to_owned());
    let standard = ColumnChoice { columns, order, down: list.order.is_some_and(|(_, descending)| descending) };
    let current_name = |name: String| {
        let renamed = RENAMED.iter().find(|(old, new)| *old == name && is_known(new));
        renamed.filter(|_| !is_known(&name)).map_or(name, |(_, new)| (*new).to_owned())
    };
    let saved = view.settings.columns.get(list.saved_as).cloned().map(|choice| ColumnChoice {
        columns: choice.columns.into_iter().map(current_name).collect(),
        order: choice.order.map(current_name),
        ..choice
    });
    let choice = saved.filter(|choice| choice.columns.iter().any(|name| is_known(name)));
    [choice.unwrap_or_else(|| standard.clone()), standard]
}

/// Opens the column chooser.
pub fn open<S: ListSource>(cx: &mut Cx) {
    let sorter = |order: &Order<S::Row>| match order {
        Order::None => Sorter::None,
        Order::Server(_) => Sorter::Server,
        Order::Loaded(_) | Order::Time(_) => Sorter::Loaded,
    };
    let offered = S::COLUMNS.iter().map(|column| ColumnOffer {
        name: column.name,
        title: column.layout.title,
        sorter: sorter(&column.order),
        newest_first: column.is_newest_first,
    });
    let [choice, standard] = choices::<S>(&cx.view);
    cx.open(ColumnsList::new(S::LIST.saved_as, offered.collect(), choice, standard));
}

/// Sorts by the column at `index` among those shown: first in its usual direction, then in the other, then in the
/// server's order. Or says that it cannot be sorted.
pub fn sort_by<S: ListSource>(index: usize, cx: &mut Cx) {
    let Some(column) = ColumnState::<S>::of(&cx.view).shown.get(index).copied() else { return };
    if matches!(column.order, Order::None) {
        return cx.say(Tone::Info, format!("{} is not sortable.", text::capitalize(column.name)));
    }
    let [mut choice, standard] = choices::<S>(&cx.view);
    choice.turn(column.name, column.is_newest_first);
    let choice = Some(choice).filter(|choice| *choice != standard);
    cx.act(Action::Settings(SettingsChange::Columns { place: S::LIST.saved_as.to_owned(), choice }));
}

impl<S: ListSource> ColumnState<S> {
    /// Returns the columns and the order that are in effect.
    pub fn of(view: &View) -> ColumnState<S> {
        let [choice, own] = choices::<S>(view);
        let shown = choice.columns.iter().filter_map(|name| find::<S>(name)).collect();
        let order = choice.order.as_deref().and_then(find::<S>).map(|column| (column, choice.down));
        ColumnState { shown, order, standard: (own.order, own.down) == (choice.order, choice.down) }
    }

    /// Returns whether the user chose the columns.
    pub fn is_chosen(view: &View) -> bool {
        view.settings.columns.contains_key(S::LIST.saved_as)
    }

    /// Returns the columns of the table.
    pub fn columns(&self) -> Vec<table::TableColumn> {
        let sorted = |column: &Column<S>| match self.order {
            Some((by, descending)) if by.name == column.name => column.layout.sorted(descending),
            _ => column.layout,
        };
        self.shown.iter().map(|column| sorted(column)).collect()
    }

    /// Returns the cells of the row at `index`, one for each shown column.
    pub fn cells<'a>(&self, source: &'a S, index: usize, row: &'a S::Row, view: &View<'a>) -> Vec<Line<'a>> {
        self.shown.iter().map(|column| column.cell(source, index, row, view)).collect()
    }

    /// Returns the state without a sort order if `otherwise` is true, for a query that sets another one.
    pub fn unordered_if(self, otherwise: bool) -> ColumnState<S> {
        ColumnState { order: self.order.filter(|_| !otherwise), ..self }
    }

    /// Returns whether a column is shown.
    pub fn shows(&self, name: &str) -> bool {
        self.shown.iter().any(|column| column.name == name)
    }

    /// Returns the `order_by` and `sort` parameters of the request, if the user chose an order of the server.
    pub fn server(&self) -> ServerOrder {
        match self.order.filter(|_| !self.standard)? {
            (Column { order: Order::Server(word), .. }, descending) => {
                Some((*word, if descending { "desc" } else { "asc" }))
            }
            _ => None,
        }
    }

    /// Returns the column of the local order, if the order is a local one.
    fn local(&self) -> Option<(&'static Column<S>, bool)> {
        self.order.filter(|(column, _)| column.order.is_local())
    }

    /// Sorts the loaded rows, if the order is a local one.
    pub fn sort(&self, list: &mut Listing, rows: &Rows<'_, S::Row>) {
        match self.local() {
            Some((column, descending)) => {
                let by = format!("{} {descending}", column.name);
                list.order(rows, &by, descending, |row| column.order.key(row));
            }
            None => list.unorder(),
        }
    }

    /// Returns a breadcrumb that warns that only the loaded rows are sorted, if there are more.
    pub fn breadcrumb(&self, rows: &Rows<'_, S::Row>) -> Option<Breadcrumb> {
        let (column, _) = self.local().filter(|_| rows.has_more)?;
        Some(Breadcrumb::new(format!("sorted locally by {} (loaded rows)", column.name), Role::Warning))
    }
}
