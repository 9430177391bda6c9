//! Helpers for replies that all areas share: times, users, URLs.

use super::call::Call;
use super::mount::ROOT;
use super::records::{Project, User};
use super::rejection::Rejection;
use super::world::World;
use api::Time;
use api::commits::DiffEntry;
use api::endpoint::encode;
use api::users::{CustomAttribute, User as UserView};
use jiff::Timestamp;
use jiff::civil::Date;
use std::collections::BTreeMap;
use std::ops::Deref;

/// Converts custom attributes to their API representation.
pub fn attributes(attributes: &BTreeMap<String, String>) -> Vec<CustomAttribute> {
    let pair = |(key, value): (&String, &String)| CustomAttribute { key: key.clone(), value: value.clone() };
    attributes.iter().map(pair).collect()
}

/// Converts a time to its API representation.
pub fn time(at: Timestamp) -> Time {
    Time::from_instant(at)
}

/// Converts an optional time to its API representation.
pub fn optional_time(at: Option<Timestamp>) -> Option<Time> {
    at.map(time)
}

/// Converts an optional date to its API representation.
pub fn date(date: Option<Date>) -> Option<Time> {
    date.map(|date| Time(date.to_string()))
}

/// Parses the time of an input; `None` if it is absent.
///
/// # Errors
/// Fails with 400, for example `created_after is invalid`.
pub fn parse_time(name: &str, input: &Option<Time>) -> Result<Option<Timestamp>, Rejection> {
    match input {
        None => Ok(None),
        Some(Time(text)) if text.is_empty() => Ok(None),
        Some(time) => time.instant().map(Some).ok_or_else(|| Rejection::invalid(name)),
    }
}

/// An inclusive range of times. Times are compared in milliseconds, as they are represented in replies: a bound copied
/// from a record includes that record.
pub struct Bounds {
    after: Option<Timestamp>,
    before: Option<Timestamp>,
}

impl Bounds {
    /// Parses the inputs `<name>_after` and `<name>_before`.
    ///
    /// # Errors
    /// Fails as [`parse_time`] does.
    pub fn new(name: &str, after: &Option<Time>, before: &Option<Time>) -> Result<Bounds, Rejection> {
        let (after_name, before_name) = (format!("{name}_after"), format!("{name}_before"));
        Ok(Bounds { after: parse_time(&after_name, after)?, before: parse_time(&before_name, before)? })
    }

    pub fn contains(&self, at: Timestamp) -> bool {
        let at = at.as_millisecond();
        self.after.is_none_or(|after| after.as_millisecond() <= at)
            && self.before.is_none_or(|before| at <= before.as_millisecond())
    }
}

/// Returns the name of a ref, or the path of a file, as part of a web URL: slashes are kept.
pub fn path(name: &str) -> String {
    name.split('/').map(encode).collect::<Vec<_>>().join("/")
}

/// Returns whether `text` contains `part`, ignoring case.
pub fn contains_ignore_case(text: &str, part: &str) -> bool {
    text.to_lowercase().contains(&part.to_lowercase())
}

/// Returns the state of a user: `active` or `blocked`.
pub fn user_state(user: &User) -> &'static str {
    if user.blocked { "blocked" } else { "active" }
}

impl<W: Deref<Target = World>> Call<W> {
    /// Returns the brief representation of a user; deleted users are shown as a ghost.
    pub fn user_summary(&self, id: u64) -> UserView {
        match self.world.users.get(id) {
            Some(user) => UserView {
                id,
                name: user.name.clone(),
                username: user.username.clone(),
                state: user_state(user).into(),
                avatar_url: self.avatar_url(&user.avatar_url),
                web_url: format!("{}/{}", self.base_url, user.username),
                locked: Some(false),
                public_email: None.into(),
                ..UserView::default()
            },
            None => UserView {
                id,
                name: "Ghost User".into(),
                username: "ghost".into(),
                state: "active".into(),
                web_url: format!("{}/ghost", self.base_url),
                locked: Some(false),
                public_email: None.into(),
                ..UserView::default()
            },
        }
    }

    /// Returns a user as an author, with email address and creation date. Email addresses are shown only to signed-in
    /// callers.
    pub fn user_with_email(&self, id: u64) -> UserView {
        let user = self.world.users.get(id);
        UserView {
            email: user.filter(|_| self.rights.user.is_some()).map(|user| user.email.clone()),
            created_at: user.map(|user| time(user.created_at)),
            ..self.user_summary(id)
        }
    }

    /// Returns the web URL of a project.
    pub fn project_url(&self, project: &Project) -> String {
        format!("{}/{}", self.base_url, self.world.project_path(project))
    }

    /// Returns the address of a project in the API.
    pub fn project_api(&self, project: u64) -> String {
        format!("{}{ROOT}/projects/{project}", self.base_url)
    }

    /// Returns the web URL of a page of a project, such as `issues/7`. Servers of the specification's version had no
    /// `-` before it.
    pub fn project_page(&self, project: &Project, page: &str) -> String {
        let mark = if self.only_specified() { "" } else { "-/" };
        format!("{}/{mark}{page}", self.project_url(project))
    }
}

impl<W: Deref<Target = World>> Call<W> {
    /// Returns the diffs of files as the emulated server sends them. In the specification, each begins with the names of
    /// the file before and after the change; current servers begin with the first hunk unless the request asks for them.
    ///
    /// # Errors
    /// Fails with 400 if the input for it is invalid.
    pub fn show_diffs(&self, mut entries: Vec<DiffEntry>) -> Result<Vec<DiffEntry>, Rejection> {
        // The input is of 16.5.
        if self.option("unidiff")? != Some(true) && !self.only_specified() {
            for entry in &mut entries {
                let start = entry.diff.find("\n@@ ").map_or(0, |end| end + 1);
                entry.diff.drain(..start);
            }
        }
        Ok(entries)
    }
}

/// Escapes text for HTML.
pub fn escape_html(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            c => out.push(c),
        }
    }
    out
}
