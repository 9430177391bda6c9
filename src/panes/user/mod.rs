//! A user or the current user: profile, projects, SSH and GPG keys, and actions for administrators.

mod draw;
mod keys;

use crate::api::Id;
use crate::api::projects::Project;
use crate::api::users::{GetCurrentUser, GetUser, GpgKey, ListUserProjects, ListUsers, Profile, SshKey};
use crate::app::clip::Clip;
use crate::app::command::Command;
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::motion::Motion;
use crate::app::pane::{Breadcrumb, Pane, PaneKind, SearchMode, Tabs};
use crate::app::place::Place;
use crate::app::place_info::Needs;
use crate::app::pointer::Pointer;
use crate::app::query::{self, Grammar, QueryResult};
use crate::app::tone::Tone;
use crate::app::view::View;
use crate::domain::public_key::Family;
use crate::parts::add_key::{KeyOwner, PendingKey};
use crate::parts::facts::{Details, WIDE_NAME_WIDTH};
use crate::parts::list::Listing;
use crate::parts::{forms, profile, query_list};
use crate::store::{Load, Rows, Want};
use crate::ui::panels::{self, PanelRequest, Panels};
use crate::ui::text::sanitize;
use crate::ui::theme::Role;
use keys::{Keys, UserKey, confirm_removal, mark};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

const LEFT: usize = 0;
const RIGHT: usize = 1;
const PANEL_WIDTHS: &[PanelRequest] = &[PanelRequest { min: 46, weight: 4 }, PanelRequest { min: 46, weight: 5 }];
const TITLES: &[&str] = &["Profile", "SSH keys", "GPG keys"];
const NAMES: &[&str] = &["profile", "ssh", "gpg"];
const PROFILE: usize = 0;
const SSH: usize = 1;
const GPG: usize = 2;

/// A user.
pub struct UserPane {
    /// Whether the pane shows the current user.
    is_self: bool,
    /// The ID or username of another user.
    id_or_name: Id,
    /// Whether the profile is requested as that user (`sudo`).
    is_impersonating: bool,
    tab: usize,
    panels: Panels,
    facts: Details,
    projects: Listing,
    ssh: Keys<SshKey>,
    gpg: Keys<GpgKey>,
    adding: PendingKey,
}

impl UserPane {
    fn by_name(&self) -> ListUsers {
        ListUsers { username: Some(self.id_or_name.as_str().to_owned()), ..ListUsers::default() }
    }

    /// Returns the ID of the user, once it is known.
    fn id(&self, view: &View) -> Option<u64> {
        match self.is_self {
            true => view.me().map(|me| me.id),
            false => self.id_or_name.number().or_else(|| view.store.list(&self.by_name()).get(0).map(|user| user.id)),
        }
    }

    fn query(&self, id: u64) -> GetUser {
        GetUser { id, with_custom_attributes: Some(true) }
    }

    fn as_user(id: u64) -> GetCurrentUser {
        GetCurrentUser { sudo: Some(id) }
    }

    fn load(&self, view: &View) -> Vec<Want> {
        if self.is_self {
            return Vec::new();
        }
        match self.id(view) {
            Some(id) if self.is_impersonating => {
                vec![Load::single(&Self::as_user(id)).into(), Load::single(&self.query(id)).into()]
            }
            Some(id) => vec![Load::single(&self.query(id)).into()],
            None => vec![Load::list(&self.by_name(), 1).into()],
        }
    }

    fn profile<'a>(&self, view: &View<'a>) -> Option<&'a Profile> {
        if self.is_self {
            return view.store.get(&GetCurrentUser::default()).value;
        }
        let id = self.id(view)?;
        let listed = || view.store.list(&self.by_name()).get(0);
        match self.is_impersonating {
            true => view.store.get(&Self::as_user(id)).value,
            false => view.store.get(&self.query(id)).value.or_else(listed),
        }
    }

    fn error<'a>(&self, view: &View<'a>) -> Option<&'a crate::api::Error> {
        if self.is_self {
            return view.store.get(&GetCurrentUser::default()).error;
        }
        match self.id(view) {
            Some(id) if self.is_impersonating => view.store.get(&Self::as_user(id)).error,
            Some(id) => view.store.get(&self.query(id)).error,
            None => view.store.list(&self.by_name()).error,
        }
    }

    fn key_owner(&self, view: &View) -> Option<KeyOwner> {
        let id = if self.is_self { None } else { Some(self.id(view)?) };
        // The current user may have opened their own account by name; the keys are the same.
        let Some(id) = id.filter(|id| view.me().is_none_or(|me| me.id != *id)) else { return Some(KeyOwner::Own) };
        let name = self.profile(view).map_or_else(|| self.id_or_name.to_string(), |user| user.username.clone());
        Some(KeyOwner::Of(id, name))
    }

    // ---- projects

    fn grammar() -> Grammar {
        Grammar::new(query::PROJECTS, Some("search"), None)
    }

    fn project_query(&self, text: &str, view: &View) -> Option<ListUserProjects> {
        let user = self.id(view)?;
        let given = query_list::given([("user_id", user.to_string().into()), ("order_by", "last_activity_at".into())]);
        match Self::grammar().ask(text, given, view) {
            QueryResult::Ready(list) => Some(list),
            QueryResult::Pending | QueryResult::Wrong(_) => None,
        }
    }

    fn projects_of<'a>(&self, text: &str, view: &View<'a>) -> Rows<'a, Project> {
        self.project_query(text, view).map_or_else(|| Rows::chain(Vec::new()), |list| view.store.list(&list))
    }

    fn rows<'a>(&self, view: &View<'a>) -> Rows<'a, Project> {
        self.projects_of(self.projects.shown(), view)
    }

    fn project<'a>(&self, view: &View<'a>) -> Option<&'a Project> {
        self.projects.selected(&self.rows(view)).filter(|_| self.tab == PROFILE && self.panels.focus() == RIGHT)
    }

    // ---- actions

    fn enter(&mut self, cx: &mut Cx) {
        match (self.tab, self.panels.focus()) {
            (PROFILE, LEFT) => {
                if !self.facts.enter(cx) {
                    self.panels.set_focus(RIGHT);
                }
            }
            (PROFILE, _) => {
                if let Some(project) = self.project(&cx.view) {
                    cx.go(Place::new("files").project(project.path_with_namespace.as_str()));
                }
            }
            (_, LEFT) => self.panels.set_focus(RIGHT),
            (SSH, _) => _ = self.ssh.facts.enter(cx),
            _ => _ = self.gpg.facts.enter(cx),
        }
    }

    fn can_add(&self, view: &View) -> Result<(), Disabled> {
        forms::signed_in(view)?;
        if self.key_owner(view) == Some(KeyOwner::Own) {
            return Ok(());
        }
        if self.tab == GPG {
            return Err("only its owner can add a GPG key".into());
        }
        forms::administrator(view)?;
        self.id(view).map(|_| ()).ok_or_else(|| "the user has not loaded yet".into())
    }

    fn add(&mut self, cx: &mut Cx) {
        let Some(owner) = self.key_owner(&cx.view) else { return };
        let family = if self.tab == GPG { Family::Gpg } else { Family::Ssh };
        self.tab = if self.tab == PROFILE { SSH } else { self.tab };
        self.adding.ask(family, owner, cx, |pane: &mut Self| &mut pane.adding);
    }

    fn can_change(&self, view: &View) -> Result<(), Disabled> {
        forms::administrator(view)?;
        // Servers send the current user's `is_admin` to administrators only, so its absence means no.
        if self.is_self && view.me().is_some_and(|me| me.is_admin != Some(true)) {
            return Err("for administrators only; edit your account in the browser".into());
        }
        self.profile(view).map(|_| ()).ok_or_else(|| "the user has not loaded yet".into())
    }

    fn can_delete(&self, view: &View) -> Result<(), Disabled> {
        let Some(owner) = self.key_owner(view) else { return Err("the user has not loaded yet".into()) };
        let there = match self.tab {
            SSH => self.ssh.current(view, &owner).is_some(),
            GPG if owner != KeyOwner::Own => return Err("only its owner can remove a GPG key".into()),
            GPG => self.gpg.current(view, &owner).is_some(),
            _ if self.is_self => return Err("you cannot delete your own account here".into()),
            _ => return self.can_change(view),
        };
        if owner != KeyOwner::Own {
            forms::administrator(view)?;
        }
        if there { Ok(()) } else { Err("no key is selected".into()) }
    }

    fn delete(&mut self, cx: &mut Cx) {
        let view = cx.view;
        let Some(owner) = self.key_owner(&view) else { return };
        let action = match self.tab {
            SSH => confirm_removal(&self.ssh, &view, &owner),
            GPG => confirm_removal(&self.gpg, &view, &owner),
            _ => self.profile(&view).map(forms::user::delete),
        };
        if let Some(action) = action {
            cx.act(action);
        }
    }

    fn mark(&mut self, cx: &mut Cx) {
        let Some(owner) = self.key_owner(&cx.view) else { return };
        match self.tab {
            SSH => mark(&mut self.ssh, &cx.view, &owner),
            GPG => mark(&mut self.gpg, &cx.view, &owner),
            _ => {}
        }
    }

    fn list(&mut self) -> &mut Listing {
        match self.tab {
            SSH => &mut self.ssh.list,
            GPG => &mut self.gpg.list,
            _ => &mut self.projects,
        }
    }
}

impl PaneKind for UserPane {
    const ID: &'static str = "user";
    const TITLE: &'static str = "User";
    const NEEDS: Needs = Needs::Item;
    const COMMANDS: &'static [Command<Self>] = &[
        Command::new("user.open", &["Enter"], "Open selection", Self::enter).footer("open"),
        Command::new("user.add_key", &["+"], "Add SSH or GPG key…", Self::add)
            .footer("add key")
            .writes()
            .when(Self::can_add),
        Command::new("user.mark", &["Space"], "Toggle mark", Self::mark),
        Command::new("user.delete", &["D", "Delete"], "Delete key or user…", Self::delete)
            .footer("remove")
            .writes()
            .when(Self::can_delete),
        Command::new("user.edit", &["e"], "Edit user…", |pane: &mut Self, cx| {
            if let Some(user) = pane.profile(&cx.view) {
                forms::user::edit(user, &cx.view).open(cx);
            }
        })
        .footer("edit")
        .writes()
        .when(Self::can_change),
        Command::new("user.project", &["P"], "Create project for user…", |pane: &mut Self, cx| {
            if pane.is_self {
                return forms::project::create(None).open(cx);
            }
            let name = pane.profile(&cx.view).map_or("", |user| user.username.as_str());
            forms::project::create_for_user().field("user_id", |field| _ = field.text(name)).open(cx);
        })
        .writes()
        .when(|pane, view| if pane.is_self { forms::signed_in(view) } else { pane.can_change(view) }),
        Command::new("user.acting", &["S"], "View as this user", |pane: &mut Self, cx| {
            pane.is_impersonating = !pane.is_impersonating;
            pane.tab = PROFILE;
            let words = if pane.is_impersonating { "Viewing as this user." } else { "Viewing as yourself." };
            cx.say(Tone::Info, words);
        })
        .when(|pane, view| if pane.is_self { Err("this is your own account".into()) } else { pane.can_change(view) }),
    ];

    fn open(place: &Place, _view: &View) -> Self {
        let named = |tab: &str| NAMES.iter().position(|name| tab.starts_with(name));
        UserPane {
            is_self: place.pane == "me" || place.item.is_none(),
            id_or_name: place.item.as_deref().unwrap_or_default().trim_start_matches('@').into(),
            is_impersonating: false,
            tab: place.tab.as_deref().and_then(named).unwrap_or(PROFILE),
            panels: Panels::new(2),
            facts: Details::default().names(WIDE_NAME_WIDTH),
            projects: Listing::with_filter(place.query.as_deref().unwrap_or_default()),
            ssh: Keys::default(),
            gpg: Keys::default(),
            adding: PendingKey::default(),
        }
    }
}

impl Pane for UserPane {
    fn place(&self) -> Place {
        let place = if self.is_self { Place::new("me") } else { Place::new(Self::ID).item(&self.id_or_name) };
        let place = place.query(self.projects.filter_text());
        match NAMES.get(self.tab).filter(|_| self.tab != PROFILE) {
            Some(name) => place.tab(name),
            None => place,
        }
    }

    fn breadcrumbs(&self, view: &View) -> Vec<Breadcrumb> {
        let name = self.profile(view).map_or_else(|| self.id_or_name.to_string(), |user| user.username.clone());
        let mut breadcrumbs = vec![
            match self.is_self {
                true => Breadcrumb::new("me", Role::Dim),
                false => Breadcrumb::new("users /", Role::Dim).to(Place::new("users")),
            },
            Breadcrumb::new(format!("@{}", sanitize(&name)), Role::Title),
        ];
        if self.tab == PROFILE && !self.projects.filter_text().is_empty() {
            let (text, count) = (self.projects.filter_text(), self.projects.count(&self.rows(view)));
            breadcrumbs.extend(query_list::breadcrumbs(text, count, &Self::grammar(), view));
        }
        breadcrumbs
    }

    fn wants(&self, view: &View) -> Vec<Want> {
        let mut wants = self.load(view);
        wants.extend(self.adding.wants());
        let shows_details = view.size.0 >= panels::TWO_PANELS_WIDTH || self.panels.focus() == RIGHT;
        let Some(owner) = self.key_owner(view).filter(|_| view.session.signed_in || !self.is_self) else {
            return wants;
        };
        match self.tab {
            SSH => wants.extend(self.ssh.wants(view, &owner, shows_details)),
            GPG => wants.extend(self.gpg.wants(view, &owner, shows_details)),
            _ => {
                let list = self.project_query(self.projects.filter_text(), view).filter(|_| shows_details);
                wants.extend(
                    list.map(|list| {
                        Load::list(&list, self.projects.pages()).after(self.projects.filter_delay()).into()
                    }),
                );
            }
        }
        wants
    }

    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        self.facts.hide();
        self.projects.drawn_at(Rect::default());
        self.ssh.hide();
        self.gpg.hide();
        let owner = self.key_owner(view).unwrap_or(KeyOwner::Own);
        let places = self.panels.layout(area, PANEL_WIDTHS);
        let (left, right) = (self.panels.focus() == LEFT, self.panels.focus() == RIGHT);
        if let Some(place) = places.get(LEFT).copied().flatten() {
            match self.tab {
                SSH => self.ssh.draw(view, place, buf, left, &owner),
                GPG => self.gpg.draw(view, place, buf, left, &owner),
                _ => self.draw_profile(view, place, buf),
            }
        }
        if let Some(place) = places.get(RIGHT).copied().flatten() {
            match self.tab {
                SSH => self.ssh.draw_facts(view, place, buf, right, &owner),
                GPG => self.gpg.draw_facts(view, place, buf, right, &owner),
                _ => self.draw_projects(view, place, buf),
            }
        }
        self.panels.draw_dividers(buf, view.theme);
    }

    fn changed(&mut self, cx: &mut Cx) {
        self.adding.changed(cx);
        let view = &cx.view;
        self.facts.clear();
        if let Some(user) = self.profile(view) {
            profile::fill_facts(&mut self.facts, view, user, 60);
        }
        let answered_rows = self.projects_of(self.projects.filter_text(), view);
        self.projects.filter_loaded(&answered_rows);
        self.projects.sync(&self.rows(view), |project| project.id.to_string());
        if let Some(owner) = self.key_owner(view) {
            match self.tab {
                SSH => self.ssh.changed(view, &owner),
                GPG => self.gpg.changed(view, &owner),
                _ => {}
            }
        }
    }

    fn motion(&mut self, motion: Motion, cx: &mut Cx) {
        let owner = self.key_owner(&cx.view).unwrap_or(KeyOwner::Own);
        match (self.tab, self.panels.focus(), motion) {
            (SSH, ..) => self.ssh.motion(motion, &cx.view, &owner, &mut self.panels),
            (GPG, ..) => self.gpg.motion(motion, &cx.view, &owner, &mut self.panels),
            (_, LEFT, Motion::Right) => self.panels.set_focus(RIGHT),
            (_, LEFT, other) => self.facts.motion(other),
            (_, _, Motion::Left) => self.panels.set_focus(LEFT),
            (_, _, Motion::Right) => self.enter(cx),
            (_, _, other) => self.projects.motion(other, self.rows(&cx.view).len()),
        }
    }

    fn pointer(&mut self, pointer: Pointer, cx: &mut Cx) {
        let (Pointer::Press { column, row, .. } | Pointer::Wheel { column, row, .. }) = pointer else { return };
        let press = matches!(pointer, Pointer::Press { .. });
        let owner = self.key_owner(&cx.view).unwrap_or(KeyOwner::Own);
        let len = match self.tab {
            SSH => self.ssh.list.len(&SshKey::rows(&cx.view, &owner)),
            GPG => self.gpg.list.len(&GpgKey::rows(&cx.view, &owner)),
            _ => self.rows(&cx.view).len(),
        };
        let (facts, facts_at) = match self.tab {
            SSH => (&mut self.ssh.facts, RIGHT),
            GPG => (&mut self.gpg.facts, RIGHT),
            _ => (&mut self.facts, LEFT),
        };
        if facts.contains(column, row) {
            facts.pointer(pointer, cx);
            return if press {
                self.panels.set_focus(facts_at)
            };
        }
        if self.list().contains(column, row) {
            if press {
                self.panels.set_focus(if facts_at == LEFT { RIGHT } else { LEFT });
            }
            if self.list().pointer(pointer, len) {
                self.enter(cx);
            }
        }
    }

    fn panels(&mut self) -> Option<&mut Panels> {
        Some(&mut self.panels)
    }

    fn tabs(&self) -> Tabs {
        Tabs { titles: TITLES, selected: self.tab }
    }

    fn tab_count(&self, index: usize, view: &View) -> Option<String> {
        let owner = self.key_owner(view)?;
        let (known, len) = match index {
            SSH => (SshKey::rows(view, &owner).is_loaded, SshKey::rows(view, &owner).len()),
            GPG => (GpgKey::rows(view, &owner).is_loaded, GpgKey::rows(view, &owner).len()),
            _ => return None,
        };
        known.then(|| len.to_string())
    }

    fn select_tab(&mut self, index: usize, _cx: &mut Cx) {
        self.tab = index;
        self.panels.set_focus(LEFT);
    }

    fn search_mode(&self) -> Option<SearchMode> {
        Some(SearchMode::Filter)
    }

    fn grammar(&self) -> Option<Grammar> {
        (self.tab == PROFILE).then(Self::grammar)
    }

    fn filter_text(&self) -> String {
        match self.tab {
            SSH => self.ssh.list.filter_text(),
            GPG => self.gpg.list.filter_text(),
            _ => self.projects.filter_text(),
        }
        .to_owned()
    }

    fn set_filter_text(&mut self, text: &str, _cx: &mut Cx) {
        if self.tab == PROFILE {
            self.panels.set_focus(RIGHT);
        }
        self.list().set_filter(text, None);
    }

    fn escape(&mut self, _cx: &mut Cx) -> bool {
        if self.list().clear_filter(None) {
            return true;
        }
        let marked = !self.list().state.marked().is_empty();
        self.list().state.clear_marks();
        let away = self.panels.focus() == RIGHT;
        if !marked {
            self.panels.set_focus(LEFT);
        }
        marked || away
    }

    fn url(&self, view: &View) -> Option<String> {
        let page = self.project(view).map(|project| project.web_url.clone());
        page.or_else(|| self.profile(view).map(|user| user.web_url.clone())).filter(|url| !url.is_empty())
    }

    fn copies(&self, view: &View) -> Vec<Clip> {
        let Some(owner) = self.key_owner(view) else { return Vec::new() };
        if let Some(project) = self.project(view) {
            return vec![Clip::line("path", project.path_with_namespace.clone())];
        }
        match (self.tab, self.profile(view)) {
            (SSH, _) => self.ssh.copies(view, &owner),
            (GPG, _) => self.gpg.copies(view, &owner),
            (_, Some(user)) => {
                vec![Clip::line("username", user.username.clone()), Clip::line("number", user.id.to_string())]
            }
            _ => Vec::new(),
        }
    }
}
