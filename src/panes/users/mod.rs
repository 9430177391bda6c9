//! The users of a server, asked for by a typed query, beside what is known of the selected one.

use crate::api::users::{DeleteUser, GetUser, ListUsers, Profile};
use crate::api::{Known, Time};
use crate::app::action::Action;
use crate::app::command::{Command, Disabled, Motion};
use crate::app::overlay::batch::Batch;
use crate::app::overlay::confirm::Confirm;
use crate::app::pane::{Breadcrumb, Cx, Pane, Pointer, SearchMode, View};
use crate::app::place::Place;
use crate::app::query::{self, Grammar, QueryResult};
use crate::parts::columns::{ColumnState, Columns, Field};
use crate::parts::facts::{Details, NAMES_WIDE};
use crate::parts::list::{Listing, age};
use crate::parts::{forms, profile, query_list};
use crate::store::{Load, Rows, Want, Write};
use crate::ui::panels::{self, PanelRequest, Panels};
use crate::ui::table::{Cell, Column, Row, Size};
use crate::ui::theme::Role;
use jiff::Timestamp;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::time::Duration;

const LIST: usize = 0;
const FACTS: usize = 1;
const ASKS: &[PanelRequest] = &[PanelRequest { min: 52, weight: 3 }, PanelRequest { min: 40, weight: 2 }];
/// The tabs, and what each adds to the query.
const TABS: &[(&str, &str)] = &[("Active", "active"), ("Blocked", "blocked"), ("External", "external"), ("All", "")];
const TITLES: &[&str] = &["Active", "Blocked", "External", "All"];
fn at(time: &Option<Option<Time>>) -> Option<Timestamp> {
    time.known().and_then(Time::instant)
}

/// Only administrators may have the server sort; a query says `sort:` for that.
const COLUMNS: Columns<Profile> = Columns {
    place: "users",
    fields: &[
        Field::new("state", Column::new("", Size::Fixed(1))).loaded(|a: &Profile, b| a.state.cmp(&b.state)),
        Field::new("user name", Column::new("user", Size::Fit { min: 8, max: 24 }))
            .loaded(|a: &Profile, b| a.username.to_lowercase().cmp(&b.username.to_lowercase())),
        Field::new("name", Column::new("name", Size::Fill { min: 14, weight: 1 }))
            .loaded(|a: &Profile, b| a.name.to_lowercase().cmp(&b.name.to_lowercase())),
        Field::new("notes", Column::new("", Size::Fit { min: 0, max: 24 }).priority(2)),
        Field::new("e-mail", Column::new("e-mail", Size::Fit { min: 0, max: 30 }).middle().priority(4))
            .loaded(|a: &Profile, b| a.email.known().cmp(&b.email.known())),
        Field::new("company", Column::new("company", Size::Fit { min: 0, max: 24 }).priority(5))
            .loaded(|a: &Profile, b| a.organization.known().cmp(&b.organization.known()))
            .hidden(),
        Field::new("signs in by", Column::new("signs in by", Size::Fit { min: 0, max: 24 }).priority(5)).hidden(),
        Field::new(
            "projects at most",
            Column::new("projects at most", Size::Fit { min: 0, max: 16 }).right().priority(6),
        )
        .loaded(|a: &Profile, b| a.projects_limit.known().cmp(&b.projects_limit.known()))
        .hidden(),
        Field::new("number", Column::new("#", Size::Fit { min: 1, max: 9 }).right().priority(3))
            .loaded(|a: &Profile, b| a.id.cmp(&b.id))
            .hidden(),
        Field::new("made", Column::new("made", Size::Fixed(4)).right().priority(3))
            .loaded(|a: &Profile, b| at(&a.created_at).cmp(&at(&b.created_at)))
            .hidden(),
        Field::new("signed in", Column::new("in", Size::Fixed(4)).right().priority(3))
            .loaded(|a: &Profile, b| at(&a.last_sign_in_at).cmp(&at(&b.last_sign_in_at)))
            .hidden(),
        Field::new("active", Column::new("when", Size::Fixed(4)).right().priority(1))
            .loaded(|a: &Profile, b| at(&a.last_activity_on).cmp(&at(&b.last_activity_on))),
    ],
    order: None,
};
/// How long the cursor rests on a user before the rest is asked for.
const PAUSE: Duration = Duration::from_millis(150);

/// The list of users.
pub struct Users {
    list: Listing,
    tab: usize,
    panels: Panels,
    facts: Details,
}

impl Users {
    fn grammar() -> Grammar {
        Grammar::new(query::USERS, Some("search"), None)
    }

    /// What is asked for by `text`; `None` while it cannot be.
    fn query(&self, text: &str, view: &View) -> Option<ListUsers> {
        let scope = TABS.get(self.tab).map_or("", |(_, scope)| scope);
        let mut given = query_list::given([(scope, serde_json::json!(true))]);
        given.remove("");
        match Self::grammar().ask(text, given, view) {
            QueryResult::Ready(list) => Some(list),
            QueryResult::Naming | QueryResult::Wrong(_) => None,
        }
    }

    fn rows_of<'a>(&self, text: &str, view: &View<'a>) -> Rows<'a, Profile> {
        self.query(text, view).map_or_else(|| Rows::chain(Vec::new()), |list| view.store.list(&list))
    }

    fn rows<'a>(&self, view: &View<'a>) -> Rows<'a, Profile> {
        self.rows_of(self.list.shown(), view)
    }

    fn current<'a>(&self, view: &View<'a>) -> Option<&'a Profile> {
        self.list.selected(&self.rows(view))
    }

    fn chosen(&self, view: &View) -> ColumnState<Profile> {
        COLUMNS.chosen(view).unless(query::get(self.list.filter_text(), "sort").is_some())
    }

    fn one(id: u64) -> GetUser {
        GetUser { id, with_custom_attributes: Some(true) }
    }

    fn has_user(&self, view: &View) -> Result<(), Disabled> {
        self.current(view).map(|_| ()).ok_or_else(|| "no user is selected".into())
    }

    fn may_change(&self, view: &View) -> Result<(), Disabled> {
        forms::administrator(view)?;
        self.has_user(view)
    }

    fn open_user(&mut self, cx: &mut Cx) {
        if let Some(user) = self.current(&cx.view) {
            cx.go(Place::new("user").item(user.username.as_str()));
        }
    }

    fn enter(&mut self, cx: &mut Cx) {
        if self.panels.focus() == LIST || !self.facts.enter(cx) {
            self.open_user(cx);
        }
    }

    fn delete(&mut self, cx: &mut Cx) {
        let rows = self.rows(&cx.view);
        let marked: Vec<&Profile> =
            rows.iter().filter(|user| self.list.state.is_marked(&user.id.to_string())).collect();
        if marked.is_empty() {
            if let Some(user) = self.current(&cx.view) {
                cx.act(forms::user::delete(user));
            }
            return;
        }
        let names: Vec<String> = marked.iter().map(|user| format!("@{}  {}", user.username, user.name)).collect();
        let write = |user: &&Profile| {
            Write::new(&DeleteUser { id: user.id, hard_delete: None }, format!("delete @{}", user.username))
        };
        let batch = Batch::new("Delete users", marked.iter().map(write).collect());
        let question = format!(
            "Delete these {} users with their own projects, keys and memberships? What they wrote elsewhere stays. It cannot be undone. Type delete:",
            names.len()
        );
        let confirm = Confirm::new("Delete users", question, Action::Open(Box::new(batch)));
        cx.act(Action::Open(Box::new(confirm.naming(names).typing("delete"))));
    }

    fn draw_list(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let chosen = self.chosen(view);
        let focused = self.panels.focus() == LIST;
        let known = view.me().and_then(|me| me.is_admin.known().copied()) == Some(true);
        let note = if known { "" } else { "the rest is shown to administrators" };
        let area = panels::title(buf, area, view.theme, focused, "Users", note);
        let empty = match self.list.shown() {
            "" => ("There are no users here.", "4 shows all"),
            _ => ("No user fits the filter.", "/ changes it, Esc ends it"),
        };
        let marked = |user: &Profile| self.list.state.is_marked(&user.id.to_string());
        let draw = |user: &Profile| chosen.row(row(view, user)).marked(marked(user));
        self.list.draw(view, area, buf, focused, &self.rows(view), &chosen.columns(), draw, empty);
    }

    fn draw_facts(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let focused = self.panels.focus() == FACTS;
        let name = self.current(view).map_or("", |user| user.username.as_str());
        let body = panels::title(buf, area, view.theme, focused, name, "");
        self.facts.draw(view, body, buf, focused);
    }
}

fn row(view: &View, user: &Profile) -> Row {
    let (sign, word, role) = profile::state(&user.state);
    let mut notes: Vec<String> = profile::marks(user).into_iter().map(str::to_owned).collect();
    if user.state != "active" {
        notes.insert(0, word);
    }
    let email = user.email.known().cloned().unwrap_or_default();
    Row::new(vec![
        Cell::from((sign, role)),
        Cell::from((user.username.clone(), Role::User)),
        Cell::from((user.name.clone(), Role::Text)),
        Cell::from((notes.join(", "), if user.state == "active" { Role::Warning } else { role })),
        Cell::from((email, Role::Dim)),
        Cell::from((user.organization.known().cloned().unwrap_or_default(), Role::Text)),
        Cell::from((profile::ways_in(user), Role::Dim)),
        Cell::from((user.projects_limit.known().map(u64::to_string).unwrap_or_default(), Role::Dim)),
        Cell::from((format!("#{}", user.id), Role::Dim)),
        Cell::from((age(view, user.created_at.known()), Role::Dim)),
        Cell::from((age(view, user.last_sign_in_at.known()), Role::Dim)),
        Cell::from((age(view, user.last_activity_on.known()), Role::Dim)),
    ])
    .dim(user.state != "active")
}

impl Pane for Users {
    const ID: &'static str = "users";
    const TITLE: &'static str = "Users of the server";
    const COMMANDS: &'static [Command<Self>] = &[
        Command::new("users.open", &["Enter"], "Open it", Self::enter).footer("open").when(Self::has_user),
        Command::new("users.create", &["+"], "New user", |_: &mut Self, cx| forms::user::create().open(cx))
            .footer("new")
            .writes()
            .when(|_, view| forms::administrator(view)),
        Command::new("users.edit", &["e"], "Change its account", |pane: &mut Self, cx| {
            if let Some(user) = pane.current(&cx.view) {
                forms::user::edit(user, &cx.view).open(cx);
            }
        })
        .footer("edit")
        .writes()
        .when(Self::may_change),
        Command::new("users.mark", &["Space"], "Mark it", |pane: &mut Self, cx| {
            if let Some(user) = pane.current(&cx.view) {
                pane.list.state.toggle_mark(user.id.to_string());
            }
            pane.list.motion(Motion::Down, pane.list.len(&pane.rows(&cx.view)));
        })
        .when(Self::has_user),
        Command::new("users.delete", &["D", "Delete"], "Delete it, or all that are marked", Self::delete)
            .footer("delete")
            .writes()
            .when(Self::may_change),
        Command::new("users.project", &["P"], "New project that belongs to it", |pane: &mut Self, cx| {
            let name = pane.current(&cx.view).map_or("", |user| user.username.as_str());
            forms::project::create_for_user().field("user_id", |field| _ = field.text(name)).open(cx);
        })
        .writes()
        .when(Self::may_change),
        Command::new("users.columns", &["|"], "Choose columns, and what sorts", |_: &mut Self, cx| COLUMNS.open(cx)),
        Command::new("users.key", &["K"], "Whose SSH key has a number", |_: &mut Self, cx| cx.go(Place::new("key")))
            .when(|_, view| forms::administrator(view)),
    ];

    fn open(place: &Place, _view: &View) -> Self {
        let named = |tab: &str| TITLES.iter().position(|title| title.eq_ignore_ascii_case(tab));
        let tab = place.tab.as_deref().and_then(named).unwrap_or(0);
        let list = Listing::asked(place.query.as_deref().unwrap_or_default());
        Users { list, tab, panels: Panels::new(2), facts: Details::default().names(NAMES_WIDE) }
    }

    fn place(&self) -> Place {
        let place = Place::new(Self::ID).query(self.list.filter_text());
        match TITLES.get(self.tab).filter(|_| self.tab > 0) {
            Some(title) => place.tab(&title.to_lowercase()),
            None => place,
        }
    }

    fn breadcrumbs(&self, view: &View) -> Vec<Breadcrumb> {
        let mut breadcrumbs = vec![Breadcrumb::new("users", Role::Title)];
        let rows = self.rows(view);
        breadcrumbs.extend(query_list::breadcrumbs(&self.list, &rows, &Self::grammar(), view));
        breadcrumbs.extend(self.chosen(view).breadcrumb(&rows));
        breadcrumbs
    }

    fn wants(&self, view: &View) -> Vec<Want> {
        let mut wants = Self::grammar().wants(self.list.filter_text());
        let list = self.query(self.list.filter_text(), view);
        wants.extend(list.map(|list| Want::from(Load::list(&list, self.list.pages()).after(self.list.rest()))));
        let seen = view.size.0 >= panels::TWO || self.panels.focus() == FACTS;
        if let Some(user) = self.current(view).filter(|_| seen) {
            wants.push(Load::one(&Self::one(user.id)).after(PAUSE).into());
        }
        wants
    }

    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        self.list.drawn_at(Rect::default());
        self.facts.hide();
        let places = self.panels.layout(area, ASKS);
        if let Some(place) = places.get(LIST).copied().flatten() {
            self.draw_list(view, place, buf);
        }
        if let Some(place) = places.get(FACTS).copied().flatten() {
            self.draw_facts(view, place, buf);
        }
        self.panels.rules(buf, view.theme);
    }

    fn changed(&mut self, cx: &mut Cx) {
        let view = cx.view;
        let filter_text = self.rows_of(self.list.filter_text(), &view);
        self.list.answered(&filter_text);
        let rows = self.rows(&view);
        self.chosen(&view).sort(&mut self.list, &rows);
        self.list.sync(&rows, |user| user.id.to_string());
        self.facts.clear();
        if let Some(user) = self.current(&view) {
            let whole = view.store.get(&Self::one(user.id)).value.unwrap_or(user);
            profile::write(&mut self.facts, &view, whole, 60);
        }
    }

    fn motion(&mut self, motion: Motion, cx: &mut Cx) {
        match (self.panels.focus(), motion) {
            (FACTS, Motion::Left) => self.panels.set_focus(LIST),
            (FACTS, other) => self.facts.motion(other),
            (_, Motion::Right) => self.open_user(cx),
            (_, Motion::Left) => {}
            (_, other) => self.list.motion(other, self.list.len(&self.rows(&cx.view))),
        }
    }

    fn pointer(&mut self, pointer: Pointer, cx: &mut Cx) {
        if COLUMNS.pressed(&self.list, pointer, cx) {
            return;
        }
        let (Pointer::Press { column, row, .. } | Pointer::Wheel { column, row, .. }) = pointer else { return };
        let press = matches!(pointer, Pointer::Press { .. });
        if self.facts.holds(column, row) {
            if press {
                self.panels.set_focus(FACTS);
            }
            return self.facts.pointer(pointer, cx);
        }
        if press {
            self.panels.set_focus(LIST);
        }
        if self.list.pointer(pointer, self.list.len(&self.rows(&cx.view))) {
            self.open_user(cx);
        }
    }

    fn panels(&mut self) -> Option<&mut Panels> {
        Some(&mut self.panels)
    }

    fn tabs(&self) -> crate::app::pane::Tabs {
        crate::app::pane::Tabs { titles: TITLES, selected: self.tab }
    }

    fn select_tab(&mut self, index: usize, _cx: &mut Cx) {
        self.tab = index;
        self.list.restart();
    }

    fn search_mode(&self) -> Option<SearchMode> {
        Some(SearchMode::Filter)
    }

    fn grammar(&self) -> Option<Grammar> {
        Some(Self::grammar())
    }

    fn filter_text(&self) -> String {
        self.list.filter_text().to_owned()
    }

    fn set_filter_text(&mut self, text: &str, cx: &mut Cx) {
        let here = self.current(&cx.view).map(|user| user.id.to_string());
        self.list.seek(text, here);
    }

    fn escape(&mut self, cx: &mut Cx) -> bool {
        if self.panels.focus() == FACTS {
            self.panels.set_focus(LIST);
            return true;
        }
        let here = self.current(&cx.view).map(|user| user.id.to_string());
        if self.list.clear_filter(here) {
            return true;
        }
        let marked = !self.list.state.marked().is_empty();
        self.list.state.clear_marks();
        marked
    }

    fn url(&self, view: &View) -> Option<String> {
        self.current(view).map(|user| user.web_url.clone()).filter(|url| !url.is_empty())
    }

    fn copies(&self, view: &View) -> Vec<(&'static str, String)> {
        let Some(user) = self.current(view) else { return Vec::new() };
        let mut copies = vec![("user name", user.username.clone()), ("number", user.id.to_string())];
        copies.extend(user.email.known().map(|email| ("e-mail address", email.clone())));
        copies
    }
}
