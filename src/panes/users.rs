//! The users of a server, filtered by a query, and the details of the selected user.

use crate::api::users::{DeleteUser, GetUser, ListUsers, Profile};
use crate::app::overlay::batch::Batch;
use crate::app::overlay::confirm::Confirm;
use crate::app::permission;
use crate::app::query::{self, Grammar};
use crate::parts::facts::profile;
use crate::parts::forms;
use crate::parts::list::prelude::*;
use crate::parts::list::query_list;
use crate::store::Load;
use crate::ui::text;

/// The titles of the tabs, and the parameter that each sets in the query.
const TABS: &[(&str, &str)] = &[("Active", "active"), ("Blocked", "blocked"), ("External", "external"), ("All", "")];
const TITLES: &[&str] = &["Active", "Blocked", "External", "All"];
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
        permission::administrator(view)
    }

    fn open_user(&mut self, user: &Profile, cx: &mut Cx) {
        if !self.enter_detail(cx) {
            cx.go(Place::new("user").item(user.username.as_str()));
        }
    }

    fn delete(&mut self, marked: &[&Profile], cx: &mut Cx) {
        if let ([user], true) = (marked, self.list.state.marked().is_empty()) {
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
        cx.open(confirm.naming(names).typing("delete"));
    }
}

/// Returns the state of a user that is not active, and the badges.
fn notes(user: &Profile) -> Line<'static> {
    let (_, word, role) = profile::state(&user.state);
    let mut badges: Vec<String> = profile::badges(user).into_iter().map(str::to_owned).collect();
    if user.state == "active" {
        return Line::new(badges.join(", "), Role::Warning);
    }
    badges.insert(0, word);
    Line::new(badges.join(", "), role)
}

impl ListSource for UserSource {
    type Row = Profile;
    type Detail = Details;
    const LIST: ListInfo = ListInfo::new("users", "user", "users").widths(&[(52, 3), (40, 2)]).tabs(TITLES);
    const COLUMNS: &'static [Column<Self>] = &[
        Column::<Self>::glyph("state", |_, user, _| {
            let (sign, _, role) = profile::state(&user.state);
            Line::new(sign, role)
        })
        .sorted(|user| user.state.as_str().into()),
        Column::<Self>::fit("username", "User", 8, 24, |_, user, _| Line::new(&user.username, Role::User))
            .sorted(|user| SortKey::caseless(&user.username)),
        Column::<Self>::fill("name", "Name", 14, |_, user, _| Line::text(&user.name))
            .sorted(|user| SortKey::caseless(&user.name)),
        Column::<Self>::fit("notes", "", 0, 24, |_, user, _| notes(user)).drop_order(2),
        Column::<Self>::fit("email", "Email", 0, 30, |_, user, _| {
            Line::new(user.email.as_deref().unwrap_or_default(), Role::Dim)
        })
        .cut_in_middle()
        .sorted(|user| user.email.as_ref().into())
        .drop_order(4),
        Column::<Self>::fit("organization", "Organization", 0, 24, |_, user, _| {
            Line::text(user.organization.as_deref().unwrap_or_default())
        })
        .sorted(|user| user.organization.as_ref().into())
        .drop_order(5)
        .hidden(),
        Column::<Self>::fit("identities", "Identities", 0, 24, |_, user, _| {
            Line::new(profile::identity_providers(user), Role::Dim)
        })
        .drop_order(5)
        .hidden(),
        Column::<Self>::fit("projects limit", "Projects limit", 0, 16, |_, user, _| {
            Line::new(user.projects_limit.as_ref().map(u64::to_string).unwrap_or_default(), Role::Dim)
        })
        .right()
        .sorted(|user| user.projects_limit.into())
        .drop_order(6)
        .hidden(),
        Column::<Self>::fit("ID", "ID", 1, 9, |_, user, _| Line::new(format!("#{}", user.id), Role::Dim))
            .right()
            .sorted(|user| user.id.into())
            .drop_order(3)
            .hidden(),
        Column::<Self>::age("created", "Created", |user| user.created_at.as_ref()).drop_order(3).hidden(),
        Column::<Self>::age("last sign-in", "Last sign-in", |user| user.last_sign_in_at.as_ref())
            .drop_order(3)
            .hidden(),
        Column::<Self>::age("active", "Active", |user| user.last_activity_on.as_ref()).drop_order(1),
    ];
    const COMMANDS: &'static [ListCommand<Self>] = &[
        Command::row("users.open", &["Enter"], "Open user", Users::open_user).footer("open"),
        Command::new("users.create", &["+"], "Create user…", |_: &mut Users, cx| forms::user::create().open(cx))
            .footer("new")
            .writes()
            .when(|_, view| permission::administrator(view)),
        Command::row("users.edit", &["e"], "Edit user…", |_: &mut Users, user: &Profile, cx| {
            forms::user::edit(user, &cx.view).open(cx);
        })
        .footer("edit")
        .writes()
        .when(Users::can_change),
        Users::mark_command("users.mark"),
        Command::rows("users.delete", &["D", "Delete"], "Delete users…", Users::delete)
            .footer("delete")
            .writes()
            .when(Users::can_change),
        Command::row("users.project", &["P"], "Create project for user…", |_: &mut Users, user: &Profile, cx| {
            let name = user.username.as_str();
            forms::project::create_for_user().field("user_id", |field| _ = field.text(name)).open(cx);
        })
        .writes()
        .when(Users::can_change),
        Users::columns_command("users.columns"),
        Command::new("users.key", &["K"], "Find SSH key by ID…", |_: &mut Users, cx| cx.go(Place::new("key")))
            .when(|_, view| permission::administrator(view)),
    ];

    fn open(_place: &Place, _view: &View) -> UserSource {
        UserSource
    }

    fn is_dim(&self, _: usize, user: &Profile) -> bool {
        user.state != "active"
    }

    fn place(&self, _: Place) -> Place {
        Place::new(Self::LIST.id)
    }

    fn empty(&self, _: usize) -> (&'static str, &'static str) {
        ("There are no users here.", "‹tab.4› shows all")
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

    fn heading(&self, _: &Input<'_>, view: &View) -> (String, String) {
        let is_admin = view.me().and_then(|me| me.is_admin) == Some(true);
        ("Users".to_owned(), if is_admin { "" } else { "administrators see more" }.to_owned())
    }

    fn url(&self, _view: &View, user: Option<&Profile>) -> Option<String> {
        Some(user?.web_url.clone()).filter(|url| !url.is_empty())
    }

    fn copies(&self, _view: &View, user: &Profile) -> Vec<Clip> {
        let mut copies = vec![Clip::line("username", user.username.clone()), Clip::line("ID", user.id.to_string())];
        copies.extend(user.email.as_ref().map(|email| Clip::line("email address", email.clone())));
        copies
    }
}

impl Describes<Details> for UserSource {
    fn describe(&self, facts: &mut Details, view: &View, user: &Profile) {
        let one = one(user.id);
        facts.title(user.username.clone(), "");
        facts.load(Load::single(&one));
        let whole = view.store.get(&one).value.unwrap_or(user);
        profile::fill_facts(facts, view, whole, 60);
    }
}
