//! Small parts of what is answered, shared by the areas: times, people, addresses.

use super::call::Call;
use super::records::{Project, User};
use super::world::World;
use crate::api::users::{CustomAttribute, User as UserView};
use crate::api::{Extra, Time};
use jiff::Timestamp;
use jiff::civil::Date;
use std::collections::BTreeMap;
use std::ops::Deref;

/// Custom attributes on the wire.
pub fn attributes(attributes: &BTreeMap<String, String>) -> Vec<CustomAttribute> {
    let pair = |(key, value): (&String, &String)| CustomAttribute { key: key.clone(), value: value.clone() };
    attributes.iter().map(pair).collect()
}

/// A field that this view has, with a value.
pub fn there<T>(value: T) -> Extra<T> {
    Some(Some(value))
}

/// A moment on the wire.
pub fn time(at: Timestamp) -> Time {
    Time::from_instant(at)
}

/// A moment on the wire, if any.
pub fn times(at: Option<Timestamp>) -> Option<Time> {
    at.map(time)
}

/// A date on the wire.
pub fn date(date: Option<Date>) -> Option<Time> {
    date.map(|date| Time(date.to_string()))
}

/// The moment that an input names; `None` if it is absent.
///
/// # Errors
/// 400 `created_after is invalid`.
pub fn moment(name: &str, input: &Option<Time>) -> Result<Option<Timestamp>, super::reject::Reject> {
    match input {
        None => Ok(None),
        Some(Time(text)) if text.is_empty() => Ok(None),
        Some(time) => time.instant().map(Some).ok_or_else(|| super::reject::Reject::invalid(name)),
    }
}

/// The bounds of a moment, both included. Moments count to the millisecond, as they are shown: a bound copied from a
/// record holds that record.
pub struct Bounds {
    after: Option<Timestamp>,
    before: Option<Timestamp>,
}

impl Bounds {
    /// The bounds that `<name>_after` and `<name>_before` give.
    ///
    /// # Errors
    /// As [`moment`].
    pub fn new(name: &str, after: &Option<Time>, before: &Option<Time>) -> Result<Bounds, super::reject::Reject> {
        let (after_name, before_name) = (format!("{name}_after"), format!("{name}_before"));
        Ok(Bounds { after: moment(&after_name, after)?, before: moment(&before_name, before)? })
    }

    /// Returns whether a moment is within them.
    pub fn hold(&self, at: Timestamp) -> bool {
        let at = at.as_millisecond();
        self.after.is_none_or(|after| after.as_millisecond() <= at)
            && self.before.is_none_or(|before| at <= before.as_millisecond())
    }
}

/// Returns whether `text` holds `part`, in any case.
pub fn holds(text: &str, part: &str) -> bool {
    text.to_lowercase().contains(&part.to_lowercase())
}

/// `active` or `blocked`.
pub fn user_state(user: &User) -> &'static str {
    if user.blocked { "blocked" } else { "active" }
}

impl<W: Deref<Target = World>> Call<W> {
    /// A person as other things name them; one who is gone is a ghost.
    pub fn person(&self, id: u64) -> UserView {
        match self.world.users.get(id) {
            Some(user) => UserView {
                id,
                name: user.name.clone(),
                username: user.username.clone(),
                state: user_state(user).into(),
                avatar_url: self.picture(&user.avatar_url),
                web_url: format!("{}/{}", self.base_url, user.username),
                ..UserView::default()
            },
            None => UserView {
                id,
                name: "Ghost User".into(),
                username: "ghost".into(),
                state: "active".into(),
                web_url: format!("{}/ghost", self.base_url),
                ..UserView::default()
            },
        }
    }

    /// An author: a person with address and date. Addresses are for those who are signed in.
    pub fn author(&self, id: u64) -> UserView {
        let user = self.world.users.get(id);
        UserView {
            email: user.filter(|_| self.rights.user.is_some()).map(|user| Some(user.email.clone())),
            created_at: user.map(|user| Some(time(user.created_at))),
            ..self.person(id)
        }
    }

    /// Returns where a project is in a browser.
    pub fn project_url(&self, project: &Project) -> String {
        format!("{}/{}", self.base_url, self.world.project_path(project))
    }
}
