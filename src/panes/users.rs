//! The users of a server, filtered by a query, and the details of the selected user.

use crate::api::Time;
use crate::api::users::{DeleteUser, GetUser, ListUsers, Profile};
use crate::app::action::Action;
use crate::app::clip::Clip;
use crate::app::command::Command;
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::overlay::batch::Batch;
use crate::app::overlay::confirm::Confirm;
use crate::app::pane::Breadcrumb;
use crate::app::place::Place;
use crate::app::query::{self, Grammar};
use crate::app::view::View;
use crate::parts::columns::{Columns, Field, ServerOrder};
use crate::parts::facts::Details;
use crate::parts::list::age;
use crate::parts::list_detail::{FactsDetail, FactsSource};
use crate::parts::list_pane::ListPane;
use crate::parts::list_source::{Filter, Input, ListCommand, ListSource};
use crate::parts::{forms, profile, query_list};
use crate::store::{ListQuery, Load, Write};
use crate::ui::line::Line;
use crate::ui::panels::PanelRequest;
use crate::ui::table::{Column, Row, Size};
use crate::ui::text;
use crate::ui::theme::Role;
use jiff::Timestamp;

/// The titles of the tabs, and the parameter that each sets in the query.
const TABS: &[(&str, &str)] = &[("Active", "active"), ("Blocked", "blocked"), ("External", "external"), ("All", "")];
const TITLES: &[&str] = &["Active", "Blocked", "External", "All"];
fn at(time: &Option<Time>) -> Option<Timestamp> {
    time.as_ref().and_then(Time::instant)
}

/// The columns. Only loaded rows are sorted, because the server sorts for administrators only; they can use `sort:` in
/// the query.
const COLUMNS: Columns<Profile> = Columns {
    place: "users",
    fields: &[
        Field::new("state", Column::new("", Size::Fixed(1))).loaded(|a: &Profile, b| a.state.cmp(&b.state)),
        Field::new("username", Column::new("User", Size::Fit { min: 8, max: 24 }))
            .loaded(|a: &Profile, b| a.username.to_lowercase().cmp(&b.username.to_lowercase())),
        Field::new("name", Column::new("Name", Size::Fill { min: 14, weight: 1 }))
            .loaded(|a: &Profile, b| a.name.to_lowercase().cmp(&b.name.to_lowercase())),
        Field::new("notes", Column::new("", Size::Fit { min: 0, max: 24 }).drop_order(2)),
        Field::new("email", Column::new("Email", Size::Fit { min: 0, max: 30 }).cut_in_middle().drop_order(4))
            .loaded(|a: &Profile, b| a.email.cmp(&b.email)),
        Field::new("organization", Column::new("Organization", Size::Fit { min: 0, max: 24 }).drop_order(5))
            .loaded(|a: &Profile, b| a.organization.cmp(&b.organization))
            .hidden(),
        Field::new("identities", Column::new("Identities", Size::Fit { min: 0, max: 24 }).drop_order(5)).hidden(),
        Field::new(
            "projects limit",
            Column::new("Projects limit", Size::Fit { min: 0, max: 16 }).right().drop_order(6),
        )
        .loaded(|a: &Profile, b| a.projects_limit.cmp(&b.projects_limit))
        .hidden(),
        Field::new("ID", Column::new("ID", Size::Fit { min: 1, max: 9 }).right().drop_order(3))
            .loaded(|a: &Profile, b| a.id.cmp(&b.id))
            .hidden(),
        Field::new("created", Column::new("Created", Size::Fixed(7)).right().drop_order(3))
            .loaded(|a: &Profile, b| at(&a.created_at).cmp(&at(&b.created_at)))
            .newest_first()
            .hidden(),
        Field::new("last sign-in", Column::new("Last sign-in", Size::Fixed(12)).right().drop_order(3))
            .loaded(|a: &Profile, b| at(&a.last_sign_in_at).cmp(&at(&b.last_sign_in_at)))
            .newest_first()
            .hidden(),
        Field::new("active", Column::new("Active", Size::Fixed(6)).right().drop_order(1))
            .loaded(|a: &Profile, b| at(&a.last_activity_on).cmp(&at(&b.last_activity_on)))
            .newest_first(),
    ],
    order: None,
};
/// The users of a server.
pub struct UserSource;

/// The list of users.
pub type Users = ListPane<UserSource>;

fn grammar() -> Grammar {
    Grammar::new(query::USERS, Some("search"), None)
}

fn one(id: u64) -> GetUser {
    GetUser { id, with_custom_attributes: Some(true) }
}

impl Users {
    fn can_change(&self, view: &View) -> Result<(), Disabled> {
        forms::administrator(view)?;
        self.has_row(view)
    }

    fn open_user(&mut self, cx: &mut Cx) {
        if let Some(user) = self.current(&cx.view) {
            cx.go(Place::new("user").item(user.username.as_str()));
        }
    }

    fn enter(&mut self, cx: &mut Cx) {
        if !self.enter_detail(cx) {
            self.open_user(cx);
        }
    }

    fn delete(&mut self, cx: &mut Cx) {
        let marked = self.marked_or_selected(&cx.view);
        if let ([user], true) = (marked.as_slice(), self.list.state.marked().is_empty()) {
            return cx.act(forms::user::delete(user));
        }
        let names: Vec<String> = marked.iter().map(|user| format!("@{}  {}", user.username, user.name)).collect();
        let write = |user: &&Profile| {
            Write::new(&DeleteUser { id: user.id, hard_delete: None }, format!("delete @{}", user.username))
        };
        let batch = Batch::new("Delete users", marked.iter().map(write).collect());
        let question = format!(
            "Delete {} with their own projects, keys and memberships? Their contributions to other projects stay. This cannot be undone. Type delete:",
            text::count_noun(names.len() as u64, "user")
        );
        let confirm = Confirm::new("Delete users", question, Action::OpenOverlay(Box::new(batch)));
        cx.act(Action::OpenOverlay(Box::new(confirm.naming(names).typing("delete"))));
    }
}

fn row(view: &View, user: &Profile) -> Row<'static> {
    let (sign, word, role) = profile::state(&user.state);
    let mut badges: Vec<String> = profile::badges(user).into_iter().map(str::to_owned).collect();
    if user.state != "active" {
        badges.insert(0, word);
    }
    let email = user.email.clone().unwrap_or_default();
    Row::new(vec![
        Line::new(sign, role),
        Line::new(user.username.clone(), Role::User),
        Line::new(user.name.clone(), Role::Text),
        Line::new(badges.join(", "), if user.state == "active" { Role::Warning } else { role }),
        Line::new(email, Role::Dim),
        Line::new(user.organization.clone().unwrap_or_default(), Role::Text),
        Line::new(profile::identity_providers(user), Role::Dim),
        Line::new(user.projects_limit.as_ref().map(u64::to_string).unwrap_or_default(), Role::Dim),
        Line::new(format!("#{}", user.id), Role::Dim),
        Line::new(age(view, user.created_at.as_ref()), Role::Dim),
        Line::new(age(view, user.last_sign_in_at.as_ref()), Role::Dim),
        Line::new(age(view, user.last_activity_on.as_ref()), Role::Dim),
    ])
    .dim(user.state != "active")
}

impl ListSource for UserSource {
    type Row = Profile;
    type Detail = FactsDetail;
    const ID: &'static str = "users";
    const TITLE: &'static str = "Users of the server";
    const WIDTHS: &'static [PanelRequest] = &[PanelRequest { min: 52, weight: 3 }, PanelRequest { min: 40, weight: 2 }];
    const COLUMNS: Columns<Profile> = COLUMNS;
    const COMMANDS: &'static [ListCommand<Self>] = &[
        Command::new("users.open", &["Enter"], "Open user", Users::enter).footer("open").when(Users::has_row),
        Command::new("users.create", &["+"], "Create user…", |_: &mut Users, cx| forms::user::create().open(cx))
            .footer("new")
            .writes()
            .when(|_, view| forms::administrator(view)),
        Command::new("users.edit", &["e"], "Edit user…", |pane: &mut Users, cx| {
            if let Some(user) = pane.current(&cx.view) {
                forms::user::edit(user, &cx.view).open(cx);
            }
        })
        .footer("edit")
        .writes()
        .when(Users::can_change),
        Users::mark_command("users.mark"),
        Command::new("users.delete", &["D", "Delete"], "Delete users…", Users::delete)
            .footer("delete")
            .writes()
            .when(Users::can_change),
        Command::new("users.project", &["P"], "Create project for user…", |pane: &mut Users, cx| {
            let name = pane.current(&cx.view).map_or("", |user| user.username.as_str());
            forms::project::create_for_user().field("user_id", |field| _ = field.text(name)).open(cx);
        })
        .writes()
        .when(Users::can_change),
        Users::columns_command("users.columns"),
        Command::new("users.key", &["K"], "Find SSH key by ID…", |_: &mut Users, cx| cx.go(Place::new("key")))
            .when(|_, view| forms::administrator(view)),
    ];

    fn open(_place: &Place, _view: &View) -> UserSource {
        UserSource
    }

    fn place(&self) -> Place {
        Place::new(Self::ID)
    }

    fn breadcrumbs(&self, _view: &View) -> Vec<Breadcrumb> {
        vec![Breadcrumb::new("users", Role::Title)]
    }

    fn tabs(&self) -> &'static [&'static str] {
        TITLES
    }

    fn query(&self, input: &Input<'_>, _: ServerOrder, view: &View) -> Option<ListQuery<Profile>> {
        let scope = TABS.get(input.tab).map_or("", |(_, scope)| scope);
        let mut given = query_list::given([(scope, serde_json::json!(true))]);
        given.remove("");
        let list: ListUsers = grammar().ask(input.filter, given, view).ready()?;
        Some(ListQuery::new(&list))
    }

    fn filter(&self, _: &Input<'_>) -> Filter<Profile> {
        Filter::Query(grammar())
    }

    fn key(user: &Profile) -> String {
        user.id.to_string()
    }

    fn row(&self, view: &View, _: usize, user: &Profile) -> Row<'static> {
        row(view, user)
    }

    fn heading(&self, _: &Input<'_>, view: &View) -> (String, String) {
        let is_admin = view.me().and_then(|me| me.is_admin) == Some(true);
        ("Users".to_owned(), if is_admin { "" } else { "administrators see more" }.to_owned())
    }

    fn empty(&self, input: &Input<'_>) -> (&'static str, &'static str) {
        match input.filter {
            "" => ("There are no users here.", "‹tab.4› shows all"),
            _ => ("No user matches the filter.", "‹seek› changes it, ‹escape› clears it"),
        }
    }

    fn enter(pane: &mut Users, cx: &mut Cx) {
        pane.open_user(cx);
    }

    fn url(&self, _view: &View, user: &Profile) -> Option<String> {
        Some(user.web_url.clone()).filter(|url| !url.is_empty())
    }

    fn copies(&self, _view: &View, user: &Profile) -> Vec<Clip> {
        let mut copies = vec![Clip::line("username", user.username.clone()), Clip::line("ID", user.id.to_string())];
        copies.extend(user.email.as_ref().map(|email| Clip::line("email address", email.clone())));
        copies
    }
}

impl FactsSource for UserSource {
    fn load(&self, user: &Profile) -> Option<Load> {
        Some(Load::single(&one(user.id)))
    }

    fn facts_title(&self, user: &Profile) -> String {
        user.username.clone()
    }

    fn facts(&self, facts: &mut Details, view: &View, user: &Profile) {
        let whole = view.store.get(&one(user.id)).value.unwrap_or(user);
        profile::fill_facts(facts, view, whole, 60);
    }
}
