//! A user or the current user: profile, projects, SSH and GPG keys, and actions for administrators.

mod keys;
mod profile;
mod who;

use crate::api::users::{GpgKey, SshKey};
use crate::app::command::Command;
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::pane::{Breadcrumb, Pane, PaneKind, Tabs};
use crate::app::permission;
use crate::app::place::Place;
use crate::app::tone::Tone;
use crate::app::view::View;
use crate::domain::public_key::Family;
use crate::parts::add_key::{KeyOwner, PendingKey};
use crate::parts::forms;
use crate::store::Want;
use crate::ui::text::sanitize;
use crate::ui::theme::Role;
use keys::{Keys, UserKey};
use profile::Profile;
use who::Who;

const PANEL_WIDTHS: &[(u16, u16)] = &[(46, 4), (46, 5)];
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
        &self.profile.projects.source.who
    }

    /// Returns the shown tab.
    fn part(&self) -> &dyn Pane {
        match self.tab {
            SSH => &self.ssh,
            GPG => &self.gpg,
            _ => &self.profile,
        }
    }

    fn part_mut(&mut self) -> &mut dyn Pane {
        match self.tab {
            SSH => &mut self.ssh,
            GPG => &mut self.gpg,
            _ => &mut self.profile,
        }
    }

    // ---- actions

    fn can_add(&self, view: &View) -> Result<(), Disabled> {
        if self.who().key_owner(view) == Some(KeyOwner::Own) {
            return Ok(());
        }
        if self.tab == GPG {
            return Err("only its owner can add a GPG key".into());
        }
        permission::administrator(view)?;
        self.who().id(view).map(|_| ()).ok_or_else(|| "the user has not loaded yet".into())
    }

    fn add(&mut self, cx: &mut Cx) {
        let Some(owner) = self.who().key_owner(&cx.view) else { return };
        let family = if self.tab == GPG { Family::Gpg } else { Family::Ssh };
        self.tab = self.tab.max(SSH);
        self.adding.ask(family, owner, cx, |pane: &mut Self| &mut pane.adding);
    }

    fn mark(&mut self, cx: &mut Cx) {
        match self.tab {
            SSH => self.ssh.mark(cx),
            GPG => self.gpg.mark(cx),
            _ => {}
        }
    }

    fn can_delete(&self, view: &View) -> Result<(), Disabled> {
        match self.tab {
            SSH => keys::can_remove(&self.ssh, view),
            GPG => keys::can_remove(&self.gpg, view),
            _ if self.who().is_self => Err("you cannot delete your own account here".into()),
            _ => self.who().can_change(view),
        }
    }

    fn delete(&mut self, cx: &mut Cx) {
        let action = match self.tab {
            SSH => keys::confirm_removal(&self.ssh, &cx.view),
            GPG => keys::confirm_removal(&self.gpg, &cx.view),
            _ => self.who().profile(&cx.view).map(forms::user::delete),
        };
        action.into_iter().for_each(|action| cx.act(action));
    }
}

impl PaneKind for UserPane {
    const ID: &'static str = "user";
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
            if let Some(user) = pane.who().profile(&cx.view) {
                forms::user::edit(user, &cx.view).open(cx);
            }
        })
        .footer("edit")
        .writes()
        .when(|pane, view| pane.who().can_change(view)),
        Command::new("user.project", &["P"], "Create project for user…", |pane: &mut Self, cx| {
            if pane.who().is_self {
                return forms::project::create(None).open(cx);
            }
            let name = pane.who().profile(&cx.view).map_or("", |user| user.username.as_str());
            forms::project::create_for_user().field("user_id", |field| _ = field.text(name)).open(cx);
        })
        .writes()
        .when(|pane, view| if pane.who().is_self { Ok(()) } else { pane.who().can_change(view) }),
        Command::new("user.acting", &["S"], "View as this user", |pane: &mut Self, cx| {
            let who = &mut pane.profile.projects.source.who;
            who.is_impersonating = !who.is_impersonating;
            pane.tab = PROFILE;
            let words = if pane.who().is_impersonating { "Viewing as this user." } else { "Viewing as yourself." };
            cx.say(Tone::Info, words);
        })
        .when(|pane, view| {
            if pane.who().is_self { Err("this is your own account".into()) } else { pane.who().can_change(view) }
        }),
    ];

    fn open(place: &Place, view: &View) -> Self {
        let named = |tab: &str| NAMES.iter().position(|name| tab.starts_with(name));
        // The query of the place is that of the projects.
        let keys = Place { query: None, tab: None, ..place.clone() };
        UserPane {
            tab: place.tab.as_deref().and_then(named).unwrap_or(PROFILE),
            profile: Profile::open(&Place { tab: None, ..place.clone() }, view),
            ssh: Keys::open(&keys, view),
            gpg: Keys::open(&keys, view),
            adding: PendingKey::default(),
        }
    }
}

impl Pane for UserPane {
    fn focused(&self) -> Option<&dyn Pane> {
        Some(self.part())
    }

    fn focused_mut(&mut self) -> Option<&mut dyn Pane> {
        Some(self.part_mut())
    }

    fn place(&self) -> Place {
        let place = self.who().place().query(self.profile.projects.list.filter_text());
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
        if self.search().is_some_and(|(_, text)| !text.is_empty()) {
            breadcrumbs.extend(self.part().breadcrumbs(view));
        }
        breadcrumbs
    }

    fn wants(&self, view: &View) -> Vec<Want> {
        let mut wants = self.who().wants(view);
        wants.extend(self.adding.wants());
        wants.extend(self.part().wants(view));
        wants
    }

    fn changed(&mut self, cx: &mut Cx) {
        self.adding.changed(cx);
        self.part_mut().changed(cx);
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
        match index {
            SSH => self.ssh.focus_list(),
            GPG => self.gpg.focus_list(),
            _ => self.profile.projects.focus_before_list(),
        }
    }

    fn url(&self, view: &View) -> Option<String> {
        let page = self.part().url(view);
        page.or_else(|| self.who().profile(view).map(|user| user.web_url.clone())).filter(|url| !url.is_empty())
    }
}
