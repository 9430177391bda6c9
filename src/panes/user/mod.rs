//! A user or the current user: profile, projects, SSH and GPG keys, and actions for administrators.

mod keys;
mod profile;
mod who;

use crate::api::projects::Project;
use crate::api::users::{GpgKey, SshKey};
use crate::app::clip::Clip;
use crate::app::command::Command;
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::pane::{Breadcrumb, Pane, PaneKind, Tabs};
use crate::app::place::Place;
use crate::app::place_info::Needs;
use crate::app::tone::Tone;
use crate::app::view::View;
use crate::domain::public_key::Family;
use crate::parts::add_key::{KeyOwner, PendingKey};
use crate::parts::forms;
use crate::store::Want;
use crate::ui::panels::{self, PanelRequest};
use crate::ui::text::sanitize;
use crate::ui::theme::Role;
use keys::{Keys, UserKey, confirm_removal};
use profile::Profile;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use who::Who;

const PANEL_WIDTHS: &[PanelRequest] = &[PanelRequest { min: 46, weight: 4 }, PanelRequest { min: 46, weight: 5 }];
const TITLES: &[&str] = &["Profile", "SSH keys", "GPG keys"];
const NAMES: &[&str] = &["profile", "ssh", "gpg"];
const PROFILE: usize = 0;
const SSH: usize = 1;
const GPG: usize = 2;

/// A user.
pub struct UserPane {
    tab: usize,
    profile: Profile,
    ssh: Keys<SshKey>,
    gpg: Keys<GpgKey>,
    adding: PendingKey,
}

impl UserPane {
    fn who(&self) -> &Who {
        &self.profile.source.who
    }

    /// Returns the project under the cursor.
    fn project<'a>(&self, view: &View<'a>) -> Option<&'a Project> {
        self.profile.current(view).filter(|_| self.tab == PROFILE && !self.profile.is_before_list())
    }

    // ---- actions

    fn enter(&mut self, cx: &mut Cx) {
        match self.tab {
            SSH => self.ssh.enter(cx),
            GPG => self.gpg.enter(cx),
            _ => self.profile.enter(cx),
        }
    }

    fn can_add(&self, view: &View) -> Result<(), Disabled> {
        if self.who().key_owner(view) == Some(KeyOwner::Own) {
            return Ok(());
        }
        if self.tab == GPG {
            return Err("only its owner can add a GPG key".into());
        }
        forms::administrator(view)?;
        self.who().id(view).map(|_| ()).ok_or_else(|| "the user has not loaded yet".into())
    }

    fn add(&mut self, cx: &mut Cx) {
        let Some(owner) = self.who().key_owner(&cx.view) else { return };
        let family = if self.tab == GPG { Family::Gpg } else { Family::Ssh };
        self.tab = if self.tab == PROFILE { SSH } else { self.tab };
        self.adding.ask(family, owner, cx, |pane: &mut Self| &mut pane.adding);
    }

    fn can_change(&self, view: &View) -> Result<(), Disabled> {
        forms::administrator(view)?;
        // Servers send the current user's `is_admin` to administrators only, so its absence means no.
        if self.who().is_self && view.me().is_some_and(|me| me.is_admin != Some(true)) {
            return Err("for administrators only; edit your account in the browser".into());
        }
        self.who().profile(view).map(|_| ()).ok_or_else(|| "the user has not loaded yet".into())
    }

    fn can_delete(&self, view: &View) -> Result<(), Disabled> {
        let Some(owner) = self.who().key_owner(view) else { return Err("the user has not loaded yet".into()) };
        let is_own = owner == KeyOwner::Own;
        match self.tab {
            SSH if !is_own => forms::administrator(view).and(self.ssh.has_row(view)),
            SSH => self.ssh.has_row(view),
            GPG if !is_own => Err("only its owner can remove a GPG key".into()),
            GPG => self.gpg.has_row(view),
            _ if self.who().is_self => Err("you cannot delete your own account here".into()),
            _ => self.can_change(view),
        }
    }

    fn delete(&mut self, cx: &mut Cx) {
        let view = cx.view;
        let action = match self.tab {
            SSH => confirm_removal(&self.ssh, &view),
            GPG => confirm_removal(&self.gpg, &view),
            _ => self.who().profile(&view).map(forms::user::delete),
        };
        if let Some(action) = action {
            cx.act(action);
        }
    }

    fn mark(&mut self, cx: &mut Cx) {
        match self.tab {
            SSH => self.ssh.mark(cx),
            GPG => self.gpg.mark(cx),
            _ => {}
        }
    }
}

impl PaneKind for UserPane {
    const ID: &'static str = "user";
    const TITLE: &'static str = "User";
    const NEEDS: Needs = Needs::Item;
    const COMMANDS: &'static [Command<Self>] =
        &[
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
                if let Some(user) = pane.who().profile(&cx.view) {
                    forms::user::edit(user, &cx.view).open(cx);
                }
            })
            .footer("edit")
            .writes()
            .when(Self::can_change),
            Command::new("user.project", &["P"], "Create project for user…", |pane: &mut Self, cx| {
                if pane.who().is_self {
                    return forms::project::create(None).open(cx);
                }
                let name = pane.who().profile(&cx.view).map_or("", |user| user.username.as_str());
                forms::project::create_for_user().field("user_id", |field| _ = field.text(name)).open(cx);
            })
            .writes()
            .when(|pane, view| if pane.who().is_self { forms::signed_in(view) } else { pane.can_change(view) }),
            Command::new("user.acting", &["S"], "View as this user", |pane: &mut Self, cx| {
                let who = &mut pane.profile.source.who;
                who.is_impersonating = !who.is_impersonating;
                pane.tab = PROFILE;
                let words = if pane.who().is_impersonating { "Viewing as this user." } else { "Viewing as yourself." };
                cx.say(Tone::Info, words);
            })
            .when(|pane, view| {
                if pane.who().is_self { Err("this is your own account".into()) } else { pane.can_change(view) }
            }),
        ];

    fn open(place: &Place, view: &View) -> Self {
        let named = |tab: &str| NAMES.iter().position(|name| tab.starts_with(name));
        // The query of the place is that of the projects.
        let keys = Place { query: None, tab: None, ..place.clone() };
        let mut profile = Profile::open(&Place { tab: None, ..place.clone() }, view);
        profile.focus_before_list();
        UserPane {
            tab: place.tab.as_deref().and_then(named).unwrap_or(PROFILE),
            profile,
            ssh: Keys::open(&keys, view),
            gpg: Keys::open(&keys, view),
            adding: PendingKey::default(),
        }
    }
}

impl Pane for UserPane {
    fn focused(&self) -> Option<&dyn Pane> {
        Some(match self.tab {
            SSH => &self.ssh,
            GPG => &self.gpg,
            _ => &self.profile,
        })
    }

    fn focused_mut(&mut self) -> Option<&mut dyn Pane> {
        Some(match self.tab {
            SSH => &mut self.ssh,
            GPG => &mut self.gpg,
            _ => &mut self.profile,
        })
    }

    fn place(&self) -> Place {
        let place = self.who().place().query(self.profile.list.filter_text());
        match NAMES.get(self.tab).filter(|_| self.tab != PROFILE) {
            Some(name) => place.tab(name),
            None => place,
        }
    }

    fn breadcrumbs(&self, view: &View) -> Vec<Breadcrumb> {
        let who = self.who();
        let name = who.profile(view).map_or_else(|| who.id_or_name.to_string(), |user| user.username.clone());
        let mut breadcrumbs = vec![
            match who.is_self {
                true => Breadcrumb::new("me", Role::Dim),
                false => Breadcrumb::new("users /", Role::Dim).to(Place::new("users")),
            },
            Breadcrumb::new(format!("@{}", sanitize(&name)), Role::Title),
        ];
        if !self.filter_text().is_empty() {
            breadcrumbs.extend(self.focused().map(|list| list.breadcrumbs(view)).unwrap_or_default());
        }
        breadcrumbs
    }

    fn wants(&self, view: &View) -> Vec<Want> {
        let mut wants = self.who().wants(view);
        wants.extend(self.adding.wants());
        // On a narrow screen, the projects are hidden until they have the focus.
        let is_hidden = self.tab == PROFILE && view.size.0 < panels::TWO_PANELS_WIDTH && self.profile.is_before_list();
        wants.extend(self.focused().filter(|_| !is_hidden).map(|list| list.wants(view)).unwrap_or_default());
        wants
    }

    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        if let Some(list) = self.focused() {
            list.view(view, area, buf);
        }
    }

    fn changed(&mut self, cx: &mut Cx) {
        self.adding.changed(cx);
        if let Some(list) = self.focused_mut() {
            list.changed(cx);
        }
    }

    fn tabs(&self) -> Tabs {
        Tabs { titles: TITLES, selected: self.tab }
    }

    fn tab_count(&self, index: usize, view: &View) -> Option<String> {
        fn count<K: UserKey>(owner: &KeyOwner, view: &View) -> Option<String> {
            let rows = view.store.rows(&K::list(owner));
            rows.is_loaded.then(|| rows.len().to_string())
        }
        let owner = self.who().key_owner(view)?;
        match index {
            SSH => count::<SshKey>(&owner, view),
            GPG => count::<GpgKey>(&owner, view),
            _ => None,
        }
    }

    fn select_tab(&mut self, index: usize, _cx: &mut Cx) {
        self.tab = index;
        self.profile.focus_before_list();
        self.ssh.focus_list();
        self.gpg.focus_list();
    }

    fn set_filter_text(&mut self, text: &str, cx: &mut Cx) {
        if self.tab == PROFILE {
            self.profile.focus_list();
        }
        if let Some(list) = self.focused_mut() {
            list.set_filter_text(text, cx);
        }
    }

    fn escape(&mut self, cx: &mut Cx) -> bool {
        match self.tab {
            PROFILE if self.profile.list.clear_filter(None) => true,
            PROFILE if self.profile.is_before_list() => false,
            PROFILE => {
                self.profile.focus_before_list();
                true
            }
            _ => self.focused_mut().is_some_and(|list| list.escape(cx)),
        }
    }

    fn url(&self, view: &View) -> Option<String> {
        let page = self.project(view).map(|project| project.web_url.clone());
        page.or_else(|| self.who().profile(view).map(|user| user.web_url.clone())).filter(|url| !url.is_empty())
    }

    fn copies(&self, view: &View) -> Vec<Clip> {
        match self.who().profile(view).filter(|_| self.tab == PROFILE && self.project(view).is_none()) {
            Some(user) => {
                vec![Clip::line("username", user.username.clone()), Clip::line("number", user.id.to_string())]
            }
            None => self.focused().map(|list| list.copies(view)).unwrap_or_default(),
        }
    }
}
