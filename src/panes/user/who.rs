//! The user that a place shows: the requests for the profile, and whose keys are listed.

use crate::api::Id;
use crate::api::users::{GetCurrentUser, GetUser, ListUsers, Profile};
use crate::app::command_info::Disabled;
use crate::app::permission;
use crate::app::place::Place;
use crate::app::view::View;
use crate::parts::add_key::KeyOwner;
use crate::store::{Load, Want};

/// The user that a place shows.
#[derive(Clone, Debug)]
pub(super) struct Who {
    /// Whether it is the current user.
    pub is_self: bool,
    /// The ID or username of another user.
    pub id_or_name: Id,
    /// Whether the profile is requested as that user (`sudo`).
    pub is_impersonating: bool,
}

impl Who {
    /// Returns the user that a place names.
    pub fn of(place: &Place) -> Who {
        Who {
            is_self: place.pane == "me" || place.item.is_none(),
            id_or_name: place.item.as_deref().unwrap_or_default().trim_start_matches('@').into(),
            is_impersonating: false,
        }
    }

    pub fn place(&self) -> Place {
        if self.is_self { Place::new("me") } else { Place::new("user").item(&self.id_or_name) }
    }

    pub fn by_name(&self) -> ListUsers {
        ListUsers { username: Some(self.id_or_name.as_str().to_owned()), ..ListUsers::default() }
    }

    /// Returns the ID of the user, once it is known.
    pub fn id(&self, view: &View) -> Option<u64> {
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

    /// Returns the requests for the profile.
    pub fn wants(&self, view: &View) -> Vec<Want> {
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

    /// Returns an error unless the user can be changed.
    pub fn can_change(&self, view: &View) -> Result<(), Disabled> {
        permission::administrator(view)?;
        // Servers send the current user's `is_admin` to administrators only, so its absence means no.
        if self.is_self && view.me().is_some_and(|me| me.is_admin != Some(true)) {
            return Err("for administrators only; edit your account in the browser".into());
        }
        self.profile(view).map(|_| ()).ok_or_else(|| "the user has not loaded yet".into())
    }

    pub fn profile<'a>(&self, view: &View<'a>) -> Option<&'a Profile> {
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

    pub fn error<'a>(&self, view: &View<'a>) -> Option<&'a crate::api::Error> {
        if self.is_self {
            return view.store.get(&GetCurrentUser::default()).error;
        }
        match self.id(view) {
            Some(id) if self.is_impersonating => view.store.get(&Self::as_user(id)).error,
            Some(id) => view.store.get(&self.query(id)).error,
            None => view.store.list(&self.by_name()).error,
        }
    }

    /// Returns the owner of the listed keys, once it is known. The keys of the current user are requested only if they
    /// are signed in.
    pub fn key_owner(&self, view: &View) -> Option<KeyOwner> {
        let id = if self.is_self { None } else { Some(self.id(view)?) };
        // The current user may have opened their own account by name; the keys are the same.
        let Some(id) = id.filter(|id| view.me().is_none_or(|me| me.id != *id)) else { return Some(KeyOwner::Own) };
        let name = self.profile(view).map_or_else(|| self.id_or_name.to_string(), |user| user.username.clone());
        Some(KeyOwner::Of(id, name))
    }

    /// Returns whether lists of the user can be requested.
    pub fn can_list(&self, view: &View) -> bool {
        view.session.signed_in || !self.is_self
    }
}
