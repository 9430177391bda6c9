//! A pane with a list from the server: a [`ListSource`] defines the list, and [`ListPane`] implements what all lists
//! have in common: filter, order, marks, selection, focus, paging, mouse, Esc, and a detail panel.

use crate::api::{GitRef, Id};
use crate::app::clip::Clip;
use crate::app::command::{Command, CommandTable, Commands, Table};
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::custom::InputKind;
use crate::app::hits::Hit;
use crate::app::motion::Motion;
use crate::app::overlay::form::Form;
use crate::app::pane::{Breadcrumb, CommandInput, Pane, SearchMode, Tabs};
use crate::app::place::Place;
use crate::app::pointer::Pointer;
use crate::app::query;
use crate::app::registry::Entry;
use crate::app::view::View;
use crate::parts::list::columns::{self, ColumnState};
use crate::parts::list::source::{Detail, DetailContext, Filter, Input, ListCommand, ListKey, ListSource, Side};
use crate::parts::list::{self, Listing};
use crate::parts::list::{query_list, scope};
use crate::parts::project;
use crate::store::{ListQuery, Rows, Want};
use crate::ui::drawn::Drawn;
use crate::ui::panels::{self, PanelRequest, Panels};
use crate::ui::state;
use crate::ui::table::TableRow;
use crate::ui::text::{self, sanitize};
use crate::ui::theme::Role;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::collections::HashSet;
use std::time::Duration;

/// The maximum number of panels.
const PANELS: usize = 3;

/// A pane with the list that its source defines.
pub struct ListPane<S: ListSource> {
    /// The definition of the list.
    pub source: S,
    /// The visible rows, the selection, the filter and the marks.
    pub list: Listing,
    /// The detail panel.
    pub detail: S::Detail,
    /// The project or group of the place that was opened.
    base: Place,
    /// The filter with which the list was opened, to which Esc returns.
    opened_filter: String,
    tab: usize,
    panels: Panels,
    /// The index of the list among the panels.
    at: usize,
    /// The key of the row that was selected at the last update.
    last_key: Option<String>,
    /// Whether the row that was selected at the last update is no longer in the list.
    has_lost_row: bool,
    /// The key of the row that the place named, until the list has it or the selection moves.
    requested_key: Option<String>,
    /// The filter, columns and queries as of the last update, see [`ListPane::resolve`].
    resolved: Resolved<S>,
    /// The areas in which the detail panels were drawn.
    areas: Drawn<[Rect; PANELS]>,
}

/// The state of a list that follows from its source and the user's input.
struct Resolved<S: ListSource> {
    filter: Filter<S::Row>,
    /// The columns; without a sort order if the query has one.
    columns: ColumnState<S>,
    /// The query for the filter as typed.
    typed_query: Option<ListQuery<S::Row>>,
    /// The query for the filter whose rows are shown.
    shown_query: Option<ListQuery<S::Row>>,
    /// The reason why there is no query for the filter as typed, and no rows.
    mistake: Option<String>,
    /// The side that is shown alone; `None` if both have their places.
    only_side: Option<Side>,
}

/// Returns the form that `edit` makes for a row of a list, and that reads the list again before it is sent: see
/// [`Form::checked`].
pub fn edited_row<T: Send + Sync + 'static>(
    query: &ListQuery<T>,
    row: &T,
    key: fn(&T) -> String,
    edit: impl Fn(&T) -> Form + 'static,
    view: &View,
) -> Form {
    let (form, name, again) = (edit(row), key(row), query.clone());
    let now = move |view: &View| {
        let rows = view.store.rows(&again);
        let row = rows.iter().find(|row| key(row) == name);
        // It may be on a page that is not loaded.
        (row.is_some() || !rows.has_more).then(|| row.map(&edit))
    };
    form.checked(query.loads(view.store.rows(query).pages()).collect(), now)
}

impl<S: ListSource> ListPane<S> {
    /// Returns the place, without what the user typed and chose.
    fn own_place(&self) -> Place {
        self.source.place(self.base.clone())
    }

    /// Returns the rows that are shown.
    pub fn rows<'a>(&self, view: &View<'a>) -> Rows<'a, S::Row> {
        self.source.rows(&self.shown_input(), self.resolved.shown_query.as_ref(), view)
    }

    /// Returns the rows in the viewport.
    pub fn visible_rows<'a>(&self, view: &View<'a>) -> impl Iterator<Item = &'a S::Row> {
        let (rows, top) = (self.rows(view), self.list.state.top());
        // Headings are no rows.
        let end = (top + self.list.state.rows_on(view.size.1)).min(self.list.len(&rows));
        (top..end).filter_map(move |index| self.list.at(&rows, index))
    }

    /// Returns the row under the cursor of the focused panel, or the one that the place named until the list has it.
    pub fn current<'a>(&self, view: &View<'a>) -> Option<&'a S::Row> {
        let in_list = || match &self.requested_key {
            Some(key) => view.store.read_as(&self.source.named_row(key)?.request),
            None => self.list.selected(&self.rows(view)).map(|row| self.source.full_row(row, view)),
        };
        self.current_in_detail(view).or_else(in_list)
    }

    /// Returns the row under the cursor of the detail panel, if that has the focus and a cursor over rows.
    fn current_in_detail<'a>(&self, view: &View<'a>) -> Option<&'a S::Row> {
        self.on_detail().then(|| self.detail.current(view)).flatten()
    }

    /// Returns the key of the row that the place named, until the list has it.
    pub fn requested_key(&self) -> Option<&str> {
        self.requested_key.as_deref()
    }

    /// Returns whether the row that was selected is no longer in the list.
    pub fn has_lost_row(&self) -> bool {
        self.has_lost_row
    }

    /// Returns the marked rows, or else the selected one.
    pub fn marked_or_selected<'a>(&self, view: &View<'a>) -> Vec<&'a S::Row> {
        if self.list.state.marked().is_empty() {
            return self.current(view).into_iter().collect();
        }
        // A row can be on two pages if others were added between the requests.
        let mut seen = HashSet::new();
        let mut is_new = |key: String| self.list.state.is_marked(&key) && seen.insert(key);
        self.rows(view).iter().filter(|row| is_new(S::key(row))).collect()
    }

    /// Returns the user's current input.
    pub fn input(&self) -> Input<'_> {
        Input { filter: self.list.filter_text(), tab: self.tab }
    }

    /// Returns the input that the rows that are shown belong to.
    pub fn shown_input(&self) -> Input<'_> {
        Input { filter: self.list.shown(), tab: self.tab }
    }

    /// Returns the query whose rows are shown; `None` while it is not known.
    pub fn shown_query(&self) -> Option<&ListQuery<S::Row>> {
        self.resolved.shown_query.as_ref()
    }

    /// Returns the index of the tab.
    pub fn tab(&self) -> usize {
        self.tab
    }

    /// Returns the tab that is shown: the one that the query names, else the selected one.
    pub fn shown_tab(&self) -> usize {
        let named = self.source.tabs().words.and_then(|(key, words)| {
            let word = query::get(self.list.filter_text(), key)?;
            words.iter().position(|known| *known == word)
        });
        named.unwrap_or(self.tab)
    }

    /// Selects another tab; a word of the query that names a tab is replaced.
    pub fn switch_tab(&mut self, tab: usize) {
        if tab == self.shown_tab() {
            return;
        }
        let text = self.list.filter_text();
        match self.source.tabs().words.filter(|(key, _)| query::get(text, key).is_some()) {
            Some((key, words)) => {
                let text = query::with(text, key, words.get(tab).copied().unwrap_or_default());
                self.set_filter(&text);
            }
            None => {
                self.tab = tab;
                self.list.restart();
            }
        }
    }

    /// Sets the selected tab, and leaves the list as it is.
    pub fn set_tab(&mut self, tab: usize) {
        self.tab = tab;
    }

    /// Sets the filter and moves to the top of the list.
    pub fn set_filter(&mut self, text: &str) {
        self.list = Listing::with_filter(text);
    }

    /// Returns whether a detail panel has the focus.
    pub fn on_detail(&self) -> bool {
        self.panels.focus() != self.at
    }

    /// Returns whether a panel to the left of the list has the focus.
    pub fn is_before_list(&self) -> bool {
        self.panels.focus() < self.at
    }

    /// Moves the focus to the list.
    pub fn focus_list(&mut self) {
        self.panels.set_focus(self.at);
    }

    /// Moves the focus to the panel to the left of the list, if there is one.
    pub fn focus_before_list(&mut self) {
        self.panels.set_focus(self.at.saturating_sub(1));
    }

    /// Moves the focus to the panel to the right of the list.
    pub fn focus_detail(&mut self) {
        self.panels.set_focus(self.at + 1);
    }

    /// Opens the target under the cursor of the detail panel; returns `false` if the list has the focus or there is no
    /// target.
    pub fn enter_detail(&mut self, cx: &mut Cx) -> bool {
        let before = cx.actions.len();
        if let Some(part) = self.detail.panel_mut(self.panels.focus()) {
            part.enter(cx);
        }
        cx.actions.len() > before
    }

    /// Opens the target under the cursor of the detail panel, or else moves the focus there.
    pub fn open_details(&mut self, cx: &mut Cx) {
        if !self.enter_detail(cx) {
            self.focus_detail();
        }
    }

    /// Returns the keys of two rows to compare, the lower one first for two marked rows; otherwise the marked and the
    /// selected row.
    pub fn marked_pair(&self, view: &View) -> Option<(String, String)> {
        let marked: Vec<&String> = self.list.state.marked().iter().collect();
        match marked.as_slice() {
            [one] => Some(((*one).clone(), self.selected_key(view).filter(|key| key != *one)?)),
            [a, b] => {
                let upper = self.rows(view).iter().map(S::key).find(|key| key == *a || key == *b)?;
                let lower = if upper == **a { b } else { a };
                Some(((*lower).clone(), upper))
            }
            _ => None,
        }
    }

    /// Opens a form that creates or changes a row, and selects that row.
    pub fn open_form(form: Form, cx: &mut Cx) {
        form.open_then(cx, |pane: &mut Self, row: &S::Row, _| pane.list.reveal_new(S::key(row)));
    }

    /// Opens the form that `edit` makes for a row, and selects the row that results. A change that somebody else made to
    /// it in the meantime is shown before it is overwritten.
    pub fn open_edit(&self, row: &S::Row, edit: impl Fn(&S::Row) -> Form + 'static, cx: &mut Cx) {
        let Some(query) = self.shown_query().cloned() else { return };
        Self::open_form(edited_row(&query, row, S::key, edit, &cx.view), cx);
    }

    /// Returns the selected row, or the reason why there is none. The rows of an earlier filter are not what was asked for.
    pub fn need_row<'a>(&self, view: &View<'a>) -> Result<&'a S::Row, Disabled> {
        if self.list.is_filter_pending() && !self.on_detail() {
            return Err("the list is still being filtered".into());
        }
        // Every row command asks this in every frame, and the rows of a long list cost more than the current one.
        self.current(view).map_or_else(|| list::need(None, &self.rows(view), "nothing is selected"), Ok)
    }

    /// Returns an error unless a row is selected, for [`Command::when`].
    pub fn has_row(&self, view: &View) -> Result<(), Disabled> {
        self.need_row(view).map(|_| ())
    }

    /// Returns the command that marks the selected row and moves to the next one.
    pub const fn mark_command(id: &'static str) -> ListCommand<S> {
        Command::new(id, &["Space"], "Toggle mark", Self::mark).when(Self::has_row)
    }

    /// Returns the command that opens the column chooser.
    pub const fn columns_command(id: &'static str) -> ListCommand<S> {
        Command::new(id, &["s", "|"], "Columns and sorting…", |_: &mut Self, cx| columns::open::<S>(cx))
    }

    /// Toggles the mark of the row under the cursor and moves to the next one.
    pub fn mark(&mut self, cx: &mut Cx) {
        if let Some(row) = self.current_in_detail(&cx.view) {
            self.list.state.toggle_mark(S::key(row));
            return self.motion(Motion::Down, cx);
        }
        let rows = self.rows(&cx.view);
        if let Some(row) = self.list.selected(&rows) {
            self.list.state.toggle_mark(S::key(row));
        }
        self.list.motion(Motion::Down, self.list.len(&rows));
    }

    /// Returns the detail panel that has the focus and a search of its own; otherwise `/` is about the list.
    fn searched(&self) -> Option<&dyn Pane> {
        self.detail.panel(self.panels.focus()).filter(|part| part.search().is_some())
    }

    /// Like [`ListPane::searched`], to change it.
    fn searched_mut(&mut self) -> Option<&mut dyn Pane> {
        self.detail.panel_mut(self.panels.focus()).filter(|part| part.search().is_some())
    }

    /// Returns whether the list shows the results of a search for the filter text.
    fn is_search(&self) -> bool {
        matches!(self.resolved.filter, Filter::Search)
    }

    /// Returns whether the user filtered the list after it was opened, so that Esc undoes that.
    fn is_filter_typed(&self) -> bool {
        let text = self.list.filter_text();
        !self.is_search() && !text.is_empty() && text != self.opened_filter
    }

    /// Returns to the filter with which the list was opened; returns `false` if the user did not filter it since.
    pub fn undo_filter(&mut self, view: &View) -> bool {
        let is_typed = self.is_filter_typed();
        if is_typed {
            let (here, opened) = (self.selected_key(view), self.opened_filter.clone());
            self.list.set_filter(&opened, here);
        }
        is_typed
    }

    /// Updates the filter, the columns and the queries from the source; before each update of the list, and after its rows
    /// changed the query.
    pub fn resolve(&mut self, view: &View) {
        let filter = self.source.filter(&self.input());
        let is_sorted = matches!(filter, Filter::Query(_)) && query::get(self.list.filter_text(), "sort").is_some();
        let columns = ColumnState::of(view).unordered_if(is_sorted);
        let typed_query = self.source.query(&self.input(), columns.server(), view);
        let mistake = match &filter {
            Filter::Query(grammar) if typed_query.is_none() => grammar.mistake(self.list.filter_text(), Some(view)),
            _ => None,
        };
        let rows = self.source.rows(&self.input(), typed_query.as_ref(), view);
        match filter {
            Filter::Loaded(matches) => self.list.narrow(&rows, matches),
            Filter::Search if self.list.filter_text().is_empty() => self.list.restart(),
            _ => self.list.switch_when_loaded(&rows),
        }
        let shown_query = match self.list.is_filter_pending() {
            // The rows of an earlier filter do not become those of one that cannot be applied.
            true if mistake.is_some() => None,
            true => self.source.query(&self.shown_input(), columns.server(), view),
            false => typed_query.clone(),
        };
        let only_side = self.source.only_side(&self.input(), view);
        let mistake = mistake.map(|mistake| mistake.to_string());
        self.resolved = Resolved { filter, columns, typed_query, shown_query, mistake, only_side };
    }

    fn has_list(&self) -> bool {
        self.resolved.only_side != Some(Side::Detail)
    }

    /// Returns the panel that is shown alone; `None` if all have their places.
    fn only_panel(&self) -> Option<usize> {
        self.resolved.only_side.map(|side| self.at + usize::from(side == Side::Detail))
    }

    /// Returns the panel areas if only one panel is shown.
    fn show_only(&self, only: usize, area: Rect) -> Vec<Option<Rect>> {
        (0..self.panels.count()).map(|panel| (panel == only).then_some(area)).collect()
    }

    /// Returns the widths of the panels. They give way to the texts of the list.
    fn widths(&self, width: u16) -> Vec<PanelRequest> {
        let requests = S::LIST.widths.iter().map(|(min, weight)| PanelRequest { min: *min, weight: *weight });
        self.panels.giving_way(width, &requests.collect::<Vec<_>>(), self.at, self.list.state.needed_width())
    }

    /// Returns the width of the list, in columns.
    pub fn list_width(&self, view: &View) -> usize {
        self.width(self.at, view)
    }

    /// Returns the width of a panel, in columns. Panels span the whole width of the screen.
    fn width(&self, panel: usize, view: &View) -> usize {
        let screen = Rect::new(0, 0, view.size.0, view.size.1);
        let places = match self.only_panel() {
            Some(only) => self.show_only(only, screen),
            None => self.panels.areas(screen, &self.widths(screen.width)),
        };
        places.get(panel).copied().flatten().map_or(0, |place| usize::from(place.width))
    }

    fn selected_key(&self, view: &View) -> Option<String> {
        self.current(view).map(S::key)
    }

    /// Returns the width of the last panel, in columns.
    fn detail_width(&self, view: &View) -> usize {
        self.width(self.panels.count() - 1, view)
    }

    /// Tells the detail panel what it shows.
    fn show_detail(&mut self, cx: &mut Cx) {
        let view = cx.view;
        // The panel itself may know the current row.
        let row = self.current(&view);
        let mut detail = std::mem::take(&mut self.detail);
        let context = DetailContext {
            source: &self.source,
            input: self.shown_input(),
            query: self.shown_query(),
            rows: self.rows(&view),
            row,
            row_changed: self.last_key != row.map(S::key),
            width: self.detail_width(&view),
            focused_before: self.is_before_list(),
            focused: self.panels.focus() > self.at,
        };
        detail.show(&context, cx);
        self.detail = detail;
    }

    /// Returns the titles of the tabs.
    fn titles(&self) -> &'static [&'static str] {
        match self.detail.tabs().titles {
            [] => self.source.tabs().titles,
            titles => titles,
        }
    }

    /// Draws the title of the list; returns the remaining area.
    fn draw_heading(&self, view: &View, area: Rect, alone: bool, focused: bool, buf: &mut Buffer) -> Rect {
        let (title, note) = self.source.heading(&self.input(), view);
        match title.is_empty() && note.is_empty() {
            true if alone => area,
            true => panels::title(buf, area, view.theme, focused, &text::capitalize(S::LIST.names.1), ""),
            false => panels::title(buf, area, view.theme, focused, &title, &note),
        }
    }

    /// Draws the list; `alone` if there is no panel beside it.
    fn draw_list(&self, view: &View, area: Rect, alone: bool, buf: &mut Buffer) {
        let columns = &self.resolved.columns;
        let focused = !self.on_detail();
        let body = match self.panels.count() {
            1 => area,
            _ => self.draw_heading(view, area, alone, focused, buf),
        };
        let change_filter = if self.is_filter_typed() {
            "‹seek› changes it, ‹escape› clears it"
        } else {
            "‹seek› changes it"
        };
        if let Filter::Query(grammar) = &self.resolved.filter
            && let Some(mistake) = &self.resolved.mistake
        {
            // A name may exist although the server did not find it.
            return match view.store.first_error(&grammar.wants(self.list.filter_text())) {
                Some(error) => list::draw_error(view, body, buf, error),
                None => view.draw_empty(buf, body, &sanitize(mistake), change_filter),
            };
        }
        let rows = self.rows(view);
        if let Some(error) = rows.error.filter(|_| rows.is_empty())
            && let Some((why, advice)) = self.source.instead(&self.shown_input(), Some(error), view)
        {
            return state::failure(
                buf,
                body,
                view.theme,
                &why,
                &error.tried,
                &error.message(),
                &view.with_keys(&advice),
            );
        }
        let draw = |index, row| {
            let Some(row) = row else { return self.source.heading_row(&self.shown_input(), index, view) };
            let row = self.source.full_row(row, view);
            TableRow::new(columns.cells(&self.source, index, row, view))
                .dim(self.source.is_dim(index, row))
                .marked(self.list.state.is_marked(&S::key(row)))
        };
        let input = self.shown_input();
        let filtered = format!("No {} matches the filter.", S::LIST.names.0);
        let empty = match &self.resolved.filter {
            Filter::Server | Filter::Query(_) if !input.filter.is_empty() => (filtered.as_str(), change_filter),
            _ => self.source.empty(input.tab),
        };
        self.list.draw_lines(view, body, buf, focused, &rows, &columns.columns(), draw, empty);
        let heads = self.list.state.header_areas().into_iter().filter(|_| self.list.len(&rows) > 0);
        heads.for_each(|(index, head)| view.hits.add(head, Hit::Column(index)));
    }
}

/// Returns the row of the registry for the list that `S` defines, with its title.
pub const fn entry<S: ListSource>(title: &'static str) -> Entry {
    let open = |place: &Place, view: &View| -> Box<dyn Pane> { Box::new(ListPane::<S>::open(place, view)) };
    Entry::new(S::LIST.id, title, open, CommandTable::of::<ListPane<S>>()).filtered()
}

impl<S: ListSource> Commands for ListPane<S> {
    type Row = S::Row;
    const PLACE: &'static str = S::LIST.id;

    fn tables() -> &'static [Table<Self, S::Row>] {
        S::TABLES
    }

    fn command_row<'a>(&self, view: &View<'a>) -> Result<&'a S::Row, Disabled> {
        self.need_row(view)
    }

    fn command_rows<'a>(&self, view: &View<'a>) -> Result<Vec<&'a S::Row>, Disabled> {
        match (self.marked_or_selected(view), self.marks()) {
            (none, 0) if none.is_empty() => self.need_row(view).map(|row| vec![row]),
            (none, _) if none.is_empty() => Err("the marked rows are not in the list".into()),
            (rows, _) => Ok(rows),
        }
    }

    fn marks(&self) -> usize {
        self.list.state.marked().len()
    }

    fn acts_in(&self, view: &View) -> Option<Id> {
        self.current(view).and_then(|row| self.source.belongs_to(row, view).0).or_else(|| self.own_place().project)
    }

    fn acts_on_own(&self, view: &View) -> bool {
        self.marked_or_selected(view).into_iter().any(|row| self.source.belongs_to(row, view).1)
    }
}

/// Returns the filter for the parameters of the web address of a list.
fn of_web<T>(filter: &Filter<T>, parameters: &str, place: &Place) -> String {
    let Filter::Query(grammar) = filter else { return query::words_of_web(parameters) };
    let text = grammar.of_web(parameters, place.tab.as_deref());
    // Dashboards list everything that the filters leave.
    let has_all =
        place.project.is_some() || place.group.is_some() || text.is_empty() || query::get(&text, "scope").is_some();
    let has_scope = grammar.terms.iter().any(|term| term.name == "scope");
    if has_scope && !has_all { query::with(&text, "scope", "all") } else { text }
}

impl<S: ListSource> ListPane<S> {
    /// Opens the list at a place.
    pub fn open(place: &Place, view: &View) -> Self {
        let source = S::open(place, view);
        let filter = source.filter(&Input { filter: "", tab: 0 });
        let text = if matches!(filter, Filter::Search) { &place.item } else { &place.query };
        let text = text.as_deref().unwrap_or_default();
        let opened_filter = if text.starts_with('?') { of_web(&filter, text, place) } else { text.to_owned() };
        let mut list = Listing::with_filter(&opened_filter);
        // The item or ref that the place names beyond the list is one of its rows.
        let base = scope::place(scope::of(place).as_ref(), S::LIST.id);
        let own = source.place(base.clone());
        let kind = S::LIST.ref_kind;
        let is_row = |name: &&GitRef| kind.is_some() && (name.kind().is_none() || name.kind() == kind);
        let git_ref = place.git_ref.as_ref().filter(|_| own.git_ref.is_none()).filter(is_row).map(GitRef::short);
        if let Some(key) = git_ref.or(place.item.as_deref().filter(|_| own.item.is_none())) {
            list.reveal(key);
        }
        let detail = S::Detail::default();
        let is_detail = |panel: &usize| detail.panel(*panel).is_some();
        let at = (0..PANELS).find(|panel| !is_detail(panel)).unwrap_or_default();
        let mut panels = Panels::new(1 + (0..PANELS).filter(is_detail).count());
        let requested_key = place.item.clone().filter(|key| source.named_row(key).is_some());
        panels.set_focus(at + usize::from(requested_key.is_some()));
        let (columns, only_side) = (ColumnState::of(view), None);
        let resolved = Resolved { filter, columns, typed_query: None, shown_query: None, mistake: None, only_side };
        let (areas, last_key, has_lost_row) = (Drawn::default(), None, false);
        let mut pane = ListPane {
            source,
            list,
            detail,
            base,
            opened_filter,
            tab: 0,
            panels,
            at,
            last_key,
            has_lost_row,
            requested_key,
            resolved,
            areas,
        };
        let titled = |tab: &str| pane.titles().iter().position(|title| title.eq_ignore_ascii_case(tab));
        let titled = place.tab.as_deref().and_then(titled);
        pane.tab = titled.or_else(|| pane.source.tab_of(place)).unwrap_or_default();
        pane.resolve(view);
        pane
    }
}

impl<S: ListSource> Pane for ListPane<S> {
    fn place(&self) -> Place {
        let mut place = self.own_place();
        let first = self.source.tab_of(&place).unwrap_or_default();
        let tab = self.titles().get(self.tab).filter(|_| self.tab != first).map(|title| title.to_lowercase());
        place.tab = tab.or(place.tab);
        let in_detail = || self.last_key.clone().filter(|_| self.on_detail() && !self.is_before_list());
        let named = self.requested_key.clone().or_else(in_detail);
        place.item = named.filter(|key| self.source.named_row(key).is_some()).or(place.item);
        match self.resolved.filter {
            Filter::Query(_) => place.query(self.list.filter_text()),
            Filter::Search => {
                Place { item: Some(self.list.filter_text().to_owned()).filter(|text| !text.is_empty()), ..place }
            }
            _ => place,
        }
    }

    fn breadcrumbs(&self, view: &View) -> Vec<Breadcrumb> {
        let mut breadcrumbs = self.source.breadcrumbs(&self.own_place(), view);
        let rows = self.rows(view);
        match &self.resolved.filter {
            Filter::Query(grammar) => {
                let (text, count) = (self.list.filter_text(), self.source.count(&self.list, &rows));
                breadcrumbs.extend(query_list::breadcrumbs(text, count, grammar, view));
            }
            Filter::Search => {
                let text = Some(self.list.filter_text()).filter(|text| !text.is_empty());
                breadcrumbs.extend(text.map(|text| Breadcrumb::new(format!("/{text}"), Role::Match)));
                let found = self.list.count(&rows).map(|count| format!("{count} found"));
                breadcrumbs.extend(found.map(|found| Breadcrumb::new(found, Role::Dim)));
            }
            _ => breadcrumbs.extend(self.list.breadcrumbs(&rows)),
        }
        breadcrumbs.extend(self.resolved.columns.breadcrumb(&rows));
        breadcrumbs.extend(self.searched().map(|part| part.breadcrumbs(view)).unwrap_or_default());
        let marked = self.list.state.marked().len();
        if marked > 0 {
            breadcrumbs.push(Breadcrumb::new(format!("{marked} marked"), Role::Warning));
        }
        breadcrumbs
    }

    fn wants(&self, view: &View) -> Vec<Want> {
        let (mut wants, delay) = match &self.resolved.filter {
            Filter::Query(grammar) => (grammar.wants(self.list.filter_text()), self.list.filter_delay()),
            Filter::Server | Filter::Search => (Vec::new(), self.list.filter_delay()),
            Filter::None | Filter::Loaded(_) => (Vec::new(), Duration::ZERO),
        };
        let (min_pages, poll_interval) = S::polling(self, view);
        let pages = self.list.pages().max(min_pages);
        // However long the list, it is read again with the same number of requests in an hour.
        let refresh_after = poll_interval.or(view.refresh_after()).map(|interval| interval * pages);
        wants.extend(self.resolved.typed_query.iter().flat_map(|query| query.wants(pages, delay, refresh_after)));
        let is_read = |id: &Id| S::LIST.reads_project || id.number().is_some();
        wants.extend(self.own_place().project.filter(is_read).as_ref().map(project::want));
        wants.extend(S::wants(self, view));
        wants.extend(self.requested_key().and_then(|key| self.source.named_row(key)).map(Want::from));
        wants.extend(list::reason_want(self.rows(view).error));
        if self.panels.count() > 1 && self.detail_width(view) > 0 {
            wants.extend(self.detail.wants(view));
        }
        wants
    }

    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        // Areas that are not drawn must not be clickable.
        self.list.drawn_at(Rect::default());
        let mut areas = [Rect::default(); PANELS];
        self.areas.set(areas);
        if let Some((why, advice)) = self.source.instead(&self.input(), None, view) {
            let body = self.draw_heading(view, area, false, true, buf);
            return view.draw_empty(buf, body, &why, &advice);
        }
        let area = self.source.draw_header(view, area, buf);
        let places = match self.only_panel() {
            Some(only) => self.show_only(only, area),
            None => self.panels.layout(area, &self.widths(area.width)),
        };
        let alone = places.iter().flatten().count() == 1;
        for (panel, place) in places.into_iter().enumerate() {
            let Some(place) = place else { continue };
            let Some(part) = self.detail.panel(panel) else {
                self.draw_list(view, place, alone, buf);
                continue;
            };
            let requested_key = self.requested_key().filter(|_| self.current(view).is_none());
            let request = requested_key.and_then(|key| Some(self.source.named_row(key)?.request));
            if let Some(error) = request.and_then(|request| view.store.error_of(&request)) {
                let body = panels::title(buf, place, view.theme, self.panels.focus() == panel, "", "");
                list::draw_error(view, body, buf, error);
                continue;
            }
            if let Some(area) = areas.get_mut(panel) {
                *area = place;
            }
            part.view(view, place, buf);
        }
        self.areas.set(areas);
        if self.only_panel().is_none() {
            self.panels.draw_dividers(buf, view.theme);
        }
    }

    fn changed(&mut self, cx: &mut Cx) {
        let view = cx.view;
        self.resolve(&view);
        if let Some(only) = self.only_panel() {
            self.panels.set_focus(only);
        }
        S::arrange_rows(self, &self.rows(&view), &view);
        let rows = self.rows(&view);
        self.resolved.columns.sort(&mut self.list, &rows);
        self.has_lost_row = self.list.sync(&rows, S::key);
        if self.requested_key.is_some() && self.list.selected(&rows).map(S::key) == self.requested_key {
            self.requested_key = None;
        }
        self.show_detail(cx);
        self.last_key = self.selected_key(&view);
        S::changed(self, cx);
    }

    /// Runs the command of the Enter key, if that is possible now.
    fn enter(&mut self, cx: &mut Cx) {
        let enter = S::TABLES.iter().copied().flatten().find(|command| command.info().keys.contains(&"Enter"));
        if let Some(command) = enter.filter(|command| command.can(self, &cx.view).is_ok()) {
            command.run(self, cx);
        }
    }

    fn motion(&mut self, motion: Motion, cx: &mut Cx) {
        let to_list = if self.is_before_list() { Motion::Right } else { Motion::Left };
        if self.on_detail() && motion == to_list && self.detail.leaves() {
            return self.focus_list();
        }
        if let Some(part) = self.detail.panel_mut(self.panels.focus()) {
            return part.motion(motion, cx);
        }
        match motion {
            Motion::Right if S::handle_key(self, ListKey::Right, cx) => {}
            Motion::Right => self.enter(cx),
            Motion::Left if S::handle_key(self, ListKey::Left, cx) => {}
            Motion::Left => self.focus_before_list(),
            other => {
                self.requested_key = None;
                self.list.motion(other, self.list.len(&self.rows(&cx.view)));
            }
        }
    }

    fn pointer(&mut self, pointer: Pointer, cx: &mut Cx) {
        let (Pointer::Press { column, row, .. } | Pointer::Wheel { column, row, .. }) = pointer else { return };
        let press = matches!(pointer, Pointer::Press { .. });
        if let Some(panel) = self.areas.get().iter().position(|area| area.contains((column, row).into())) {
            if press {
                self.panels.set_focus(panel);
            }
            if let Some(part) = self.detail.panel_mut(panel) {
                part.pointer(pointer, cx);
            }
            return;
        }
        if press {
            self.requested_key = None;
            self.focus_list();
        }
        if self.list.pointer(pointer, self.list.len(&self.rows(&cx.view))) {
            self.enter(cx);
        }
    }

    fn sort_by(&mut self, index: usize, cx: &mut Cx) {
        self.focus_list();
        columns::sort_by::<S>(index, cx);
    }

    fn panels(&mut self) -> Option<&mut Panels> {
        (self.panels.count() > 1 && self.has_list()).then_some(&mut self.panels)
    }

    fn tabs(&self) -> Tabs {
        Tabs { titles: self.titles(), selected: self.shown_tab() }
    }

    fn tab_count(&self, index: usize, view: &View) -> Option<String> {
        self.detail.tab_count(index, view).or_else(|| S::tab_count(self, index, view))
    }

    fn select_tab(&mut self, index: usize, _cx: &mut Cx) {
        match self.detail.tabs().titles {
            [] => S::select_tab(self, index),
            _ => self.tab = index,
        }
    }

    fn search(&self) -> Option<(SearchMode, String)> {
        if let Some(part) = self.searched() {
            return part.search();
        }
        let mode = match &self.resolved.filter {
            Filter::None => return None,
            // What a tab beside the list shows does not come from the list.
            _ if !self.has_list() || self.on_detail() && !self.detail.tabs().titles.is_empty() => return None,
            Filter::Query(grammar) => SearchMode::Query(grammar.clone()),
            Filter::Search => SearchMode::Search,
            Filter::Loaded(_) | Filter::Server => SearchMode::Filter,
        };
        Some((mode, self.list.filter_text().to_owned()))
    }

    fn begin_search(&mut self, view: &View) {
        if let Some(part) = self.searched_mut() {
            part.begin_search(view);
        }
    }

    fn set_filter_text(&mut self, text: &str, cx: &mut Cx) {
        if let Some(part) = self.searched_mut() {
            return part.set_filter_text(text, cx);
        }
        let here = self.selected_key(&cx.view);
        self.list.set_filter(text, here);
    }

    fn next_match(&mut self, forward: bool, cx: &mut Cx) {
        if let Some(part) = self.searched_mut() {
            return part.next_match(forward, cx);
        }
        self.requested_key = None;
        self.list.motion(if forward { Motion::Down } else { Motion::Up }, self.list.len(&self.rows(&cx.view)));
    }

    /// Undoes one thing, in the same order everywhere: marks, the filter, state of the source; then the focus moves
    /// back to the list.
    fn escape(&mut self, cx: &mut Cx) -> bool {
        if self.list.state.clear_marks() {
            return true;
        }
        if let Some(part) = self.searched_mut().filter(|part| part.search().is_some_and(|(_, text)| !text.is_empty())) {
            part.set_filter_text("", cx);
            return true;
        }
        if self.undo_filter(&cx.view) || S::handle_key(self, ListKey::Escape, cx) {
            return true;
        }
        // A user who came for that one row goes back to the previous place.
        let at = self.at;
        let returns = self.panels().is_some_and(|panels| panels.return_to(at));
        returns && self.requested_key.is_none()
    }

    fn command_input(&self, kind: InputKind, view: &View) -> Result<CommandInput, Disabled> {
        self.current(view).map_or_else(|| Err(kind.missing()), |row| self.source.command_input(row, kind, view))
    }

    fn url(&self, view: &View) -> Option<String> {
        self.source.url(view, self.current(view))
    }

    fn copies(&self, view: &View) -> Vec<Clip> {
        self.current(view).map(|row| self.source.copies(view, row)).unwrap_or_default()
    }

    fn shows_secret(&self) -> bool {
        self.detail.shows_secret()
    }

    fn ticks(&self, view: &View) -> bool {
        self.detail.ticks(view)
    }
}
