//! Configurable columns: the columns that a list offers, the user's saved choice, and sorting.

use super::list::Listing;
use crate::app::action::Action;
use crate::app::context::Cx;
use crate::app::overlay::columns::{ColumnOffer, ColumnsList, Sorter};
use crate::app::pane::Breadcrumb;
use crate::app::state::{ColumnChoice, SettingsChange};
use crate::app::tone::Tone;
use crate::app::view::View;
use crate::store::Rows;
use crate::ui::table::{Column, Row};
use crate::ui::theme::Role;
use std::cmp::Ordering;

/// The way in which a column can be sorted.
pub enum SortOrder<T> {
    /// The column cannot be sorted.
    Unsortable,
    /// The server sorts, by this value of `order_by`.
    Server(&'static str),
    /// The loaded rows are sorted locally.
    Loaded(fn(&T, &T) -> Ordering),
}

/// Names under which earlier versions saved columns, and their current names.
const RENAMED: &[(&str, &str)] = &[
    ("age", "updated"),
    ("age", "created"),
    ("apart", "behind ahead"),
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

/// A column that a list offers. Its cell has the same index in the rows that the pane returns.
pub struct Field<T> {
    /// The name of the column in the column chooser and in the saved settings.
    pub name: &'static str,
    pub column: Column,
    pub order: SortOrder<T>,
    /// Whether the column is shown by default.
    pub shown: bool,
    /// Whether the first click sorts in descending order, as for dates.
    pub newest_first: bool,
}

impl<T> Field<T> {
    /// Creates a column that is shown by default and cannot be sorted.
    pub const fn new(name: &'static str, column: Column) -> Field<T> {
        Field { name, column, order: SortOrder::Unsortable, shown: true, newest_first: false }
    }

    const fn ordered(self, order: SortOrder<T>) -> Field<T> {
        let Field { name, column, shown, newest_first, .. } = self;
        Field { name, column, order, shown, newest_first }
    }

    /// Makes the column sortable by the server.
    pub const fn server(self, word: &'static str) -> Field<T> {
        self.ordered(SortOrder::Server(word))
    }

    /// Makes the column sortable among the loaded rows.
    pub const fn loaded(self, compare: fn(&T, &T) -> Ordering) -> Field<T> {
        self.ordered(SortOrder::Loaded(compare))
    }

    /// Hides the column by default.
    pub const fn hidden(mut self) -> Field<T> {
        self.shown = false;
        self
    }

    /// Makes the first click sort in descending order, as for dates.
    pub const fn newest_first(mut self) -> Field<T> {
        self.newest_first = true;
        self
    }
}

/// The columns that a list offers.
pub struct Columns<T: 'static> {
    /// The name of the place, under which the choice is saved.
    pub place: &'static str,
    pub fields: &'static [Field<T>],
    /// The default sort column and direction (`true`: descending); `None` if no column matches the server's own order.
    pub order: Option<(&'static str, bool)>,
}

/// The `order_by` and `sort` parameters of a request, if the user chose an order.
pub type ServerOrder = Option<(&'static str, &'static str)>;

/// The columns and the order that are in effect.
pub struct ColumnState<T: 'static> {
    fields: &'static [Field<T>],
    shown: Vec<usize>,
    order: Option<(usize, bool)>,
    /// Whether the order is the default, which the pane requests by its own parameters.
    standard: bool,
}

impl<T: 'static> Columns<T> {
    fn standard(&self) -> ColumnChoice {
        let columns = self.fields.iter().filter(|field| field.shown).map(|field| field.name.to_owned()).collect();
        ColumnChoice {
            columns,
            order: self.order.map(|(name, _)| name.to_owned()),
            down: self.order.is_some_and(|o| o.1),
        }
    }

    fn has(&self, name: &str) -> bool {
        self.fields.iter().any(|field| field.name == name)
    }

    /// Returns the current name of a column that was saved as `name`.
    fn current_name(&self, name: String) -> String {
        let renamed = RENAMED.iter().find(|(old, new)| *old == name && self.has(new));
        renamed.filter(|_| !self.has(&name)).map_or(name, |(_, new)| (*new).to_owned())
    }

    fn choice(&self, view: &View) -> ColumnChoice {
        let saved = view.settings.columns.get(self.place).cloned().map(|choice| ColumnChoice {
            columns: choice.columns.into_iter().map(|name| self.current_name(name)).collect(),
            order: choice.order.map(|name| self.current_name(name)),
            ..choice
        });
        saved.filter(|choice| choice.columns.iter().any(|name| self.has(name))).unwrap_or_else(|| self.standard())
    }

    /// Returns the columns and the order that are in effect.
    pub fn current(&self, view: &View) -> ColumnState<T> {
        let choice = self.choice(view);
        let index = |name: &String| self.fields.iter().position(|field| field.name == name);
        let order = choice.order.as_ref().and_then(index).map(|index| (index, choice.down));
        let own = self.standard();
        let standard = (&own.order, own.down) == (&choice.order, choice.down);
        ColumnState { fields: self.fields, shown: choice.columns.iter().filter_map(index).collect(), order, standard }
    }

    /// Returns whether the user chose the columns.
    pub fn is_chosen(&self, view: &View) -> bool {
        view.settings.columns.contains_key(self.place)
    }

    /// Opens the column chooser.
    pub fn open(&self, cx: &mut Cx) {
        let sorter = |order: &SortOrder<T>| match order {
            SortOrder::Unsortable => Sorter::None,
            SortOrder::Server(_) => Sorter::Server,
            SortOrder::Loaded(_) => Sorter::Loaded,
        };
        let offered = self.fields.iter().map(|field| ColumnOffer {
            name: field.name,
            sorter: sorter(&field.order),
            newest_first: field.newest_first,
        });
        let offered = offered.collect();
        let list = ColumnsList::new(self.place, offered, self.choice(&cx.view), self.standard());
        cx.act(Action::OpenOverlay(Box::new(list)));
    }

    /// Sorts by the column `name`: first in its usual direction, then in the other, then in the server's order.
    pub fn cycle_sort(&self, name: &str, cx: &mut Cx) {
        let mut choice = self.choice(&cx.view);
        let newest_first = self.fields.iter().any(|field| field.name == name && field.newest_first);
        choice.turn(name, newest_first);
        let choice = Some(choice).filter(|choice| *choice != self.standard());
        cx.act(Action::Settings(SettingsChange::Columns { place: self.place.to_owned(), choice }));
    }

    /// Sorts by the column at `index` among those shown, or says that it cannot be sorted.
    pub fn sort_by(&self, index: usize, cx: &mut Cx) {
        let chosen = self.current(&cx.view);
        let Some(field) = chosen.shown.get(index).and_then(|index| self.fields.get(*index)) else { return };
        match field.order {
            SortOrder::Unsortable => cx.say(Tone::Info, format!("{} is not sortable.", field.name)),
            _ => self.cycle_sort(field.name, cx),
        }
    }
}

impl<T: 'static> ColumnState<T> {
    /// Returns the columns of the table.
    pub fn columns(&self) -> Vec<Column> {
        let column = |index: &usize| {
            let column = self.fields.get(*index)?.column;
            Some(match self.order {
                Some((sorted, descending)) if sorted == *index => column.sorted(descending),
                _ => column,
            })
        };
        self.shown.iter().filter_map(column).collect()
    }

    /// Reduces a row with a cell for each offered column to the columns that are shown.
    pub fn row<'a>(&self, mut row: Row<'a>) -> Row<'a> {
        let mut cells = std::mem::take(&mut row.cells);
        row.cells = self.shown.iter().map(|i| cells.get_mut(*i).map(std::mem::take).unwrap_or_default()).collect();
        row
    }

    /// Returns the state without a sort order if `otherwise` is true, for a query that sets another one.
    pub fn unordered_if(self, otherwise: bool) -> ColumnState<T> {
        ColumnState { order: self.order.filter(|_| !otherwise), ..self }
    }

    /// Returns whether a column is shown.
    pub fn shows(&self, name: &str) -> bool {
        self.shown.iter().filter_map(|index| self.fields.get(*index)).any(|field| field.name == name)
    }

    fn field(&self) -> Option<(&'static Field<T>, bool)> {
        let (index, descending) = self.order?;
        Some((self.fields.get(index)?, descending))
    }

    /// Returns the `order_by` and `sort` parameters of the request, if the user chose an order of the server.
    pub fn server(&self) -> ServerOrder {
        match self.field().filter(|_| !self.standard)? {
            (Field { order: SortOrder::Server(word), .. }, descending) => {
                Some((*word, if descending { "desc" } else { "asc" }))
            }
            _ => None,
        }
    }

    /// Sorts the loaded rows, if the order is a local one.
    pub fn sort(&self, list: &mut Listing, rows: &Rows<'_, T>) {
        match self.field() {
            Some((Field { name, order: SortOrder::Loaded(compare), .. }, descending)) => {
                list.order(rows, &format!("{name} {descending}"), |a, b| {
                    if descending { compare(b, a) } else { compare(a, b) }
                });
            }
            _ => list.unorder(),
        }
    }

    /// Returns a breadcrumb that warns that only the loaded rows are sorted, if there are more.
    pub fn breadcrumb(&self, rows: &Rows<'_, T>) -> Option<Breadcrumb> {
        let (field, _) =
            self.field().filter(|(field, _)| matches!(field.order, SortOrder::Loaded(_)) && rows.has_more)?;
        Some(Breadcrumb::new(format!("sorted locally by {} (loaded rows)", field.name), Role::Warning))
    }
}
