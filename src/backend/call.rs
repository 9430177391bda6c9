//! The context of a handler (the world, the caller, the time), and the answers it can return.

use super::auth::Rights;
use super::cache::Cache;
use super::deliveries::HookEvent;
use super::git::Git;
use super::modes::Version;
use super::page::{ListSize, Pagination};
use super::params::{self, Inputs};
use super::records::{Group, Project, Scope, User, level};
use super::rejection::Rejection;
use super::stop::Stop;
use super::store::repository_path;
use super::world::World;
use crate::ref_updates::RefUpdates;
use api::views::Fields;
use api::{self, Id, InputType};
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use jiff::Timestamp;
use serde_json::Value;
use std::cell::OnceCell;
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::Arc;

/// An authenticated request. `W` is `&World` or `&mut World`.
pub struct Call<W> {
    pub world: W,
    pub rights: Rights,
    pub now: Timestamp,
    /// The base URL, `http://host:port`, as the caller addressed the server.
    pub base_url: String,
    /// All inputs by name, for the few handlers that need to know whether an input is present.
    pub inputs: Inputs,
    pub pagination: Pagination,
    pub headers: HeaderMap,
    /// The folder of the bare repositories.
    pub repositories: PathBuf,
    /// The cancellation flag, set when the caller disconnects.
    pub stop: Stop,
    pub cache: Arc<Cache>,
    pub ref_updates: RefUpdates,
    /// The events of a write that are delivered to webhooks.
    pub events: Vec<HookEvent>,
    /// The version that is emulated.
    pub version: Version,
    /// Whether commits that no ref has any more cannot be read.
    pub forgets_heads: bool,
    /// The runners with running jobs, once a row has needed them.
    pub busy_runners: OnceCell<BTreeSet<u64>>,
}

/// The maximum number of records of a list that servers count.
const MAX_COUNTED: usize = 10_000;

/// A read-only call.
pub type ReadCall<'a> = Call<&'a World>;
/// A call that changes the world; the changes are committed only if its handler succeeds.
pub type WriteCall<'a> = Call<&'a mut World>;

pub type Outcome<T> = Result<Answer<T>, Rejection>;

#[derive(Debug)]
pub struct Answer<T> {
    pub body: T,
    /// The status, if it is not the default of the method (200, 201 for POST, 204 without a body).
    pub status: Option<u16>,
    /// The size of the list, for the pagination headers.
    pub list_size: Option<ListSize>,
    pub headers: HeaderMap,
    /// A value that is sent instead of the body.
    pub body_override: Option<Value>,
    /// The fields of the rows, if fewer than usual are requested.
    pub only: Option<Fields>,
}

impl<T> Answer<T> {
    /// Creates an answer with default status and headers.
    pub fn new(body: T) -> Answer<T> {
        Answer { body, status: None, list_size: None, headers: HeaderMap::new(), body_override: None, only: None }
    }

    /// Sets a status other than the default.
    pub fn status(mut self, status: u16) -> Answer<T> {
        self.status = Some(status);
        self
    }

    /// Restricts the body to some of its fields.
    pub fn only(mut self, fields: Option<Fields>) -> Answer<T> {
        self.only = fields;
        self
    }

    /// Replaces the body by a value.
    pub fn with_body(mut self, body: impl Into<Value>) -> Answer<T> {
        self.body_override = Some(body.into());
        self
    }

    /// Adds a header; an invalid value is left out.
    pub fn header(mut self, name: &'static str, value: &str) -> Answer<T> {
        if let Ok(value) = HeaderValue::from_bytes(value.as_bytes()) {
            self.headers.insert(HeaderName::from_static(name), value);
        }
        self
    }
}

/// Returns a plain success.
pub fn ok<T>(body: T) -> Outcome<T> {
    Ok(Answer::new(body))
}

impl<W> Call<W> {
    /// Reads an optional input that the interface does not use.
    ///
    /// # Errors
    /// Fails with 400 if it has another type.
    pub fn option<T: InputType>(&self, name: &str) -> Result<Option<T>, Rejection> {
        params::option(&self.inputs, name)
    }
}

impl<W: Deref<Target = World>> Call<W> {
    /// Returns whether the reply may contain only what the specification describes.
    pub fn only_specified(&self) -> bool {
        self.version == Version::V10_6
    }

    /// Returns the caller.
    ///
    /// # Errors
    /// Fails with 401 if the caller is not signed in.
    pub fn require_user(&self) -> Result<&User, Rejection> {
        self.rights.user.and_then(|id| self.world.users.get(id)).ok_or_else(Rejection::unauthorized)
    }

    /// Checks that the caller is an administrator.
    ///
    /// # Errors
    /// Fails with 401 if the caller is not signed in, and with 403 for other users.
    pub fn require_admin(&self) -> Result<(), Rejection> {
        self.require_user()?;
        if self.rights.admin { Ok(()) } else { Err(Rejection::forbidden()) }
    }

    /// Checks the `If-Unmodified-Since` header of a request to delete an object that was last changed at `at`.
    ///
    /// # Errors
    /// Fails with 412 if the header names an earlier time.
    pub fn check_unmodified(&self, at: Timestamp) -> Result<(), Rejection> {
        let since = self.headers.get(header::IF_UNMODIFIED_SINCE).and_then(|since| since.to_str().ok());
        let since = since.and_then(|since| jiff::fmt::rfc2822::parse(since).ok());
        // The header has a resolution of one second.
        match since {
            Some(since) if at.as_second() > since.timestamp().as_second() => {
                Err(Rejection::message(412, "412 Precondition Failed"))
            }
            _ => Ok(()),
        }
    }

    /// Returns the project with an ID or full path.
    ///
    /// # Errors
    /// Fails with 404 if it does not exist or is not visible to the caller.
    pub fn project(&self, id: &Id) -> Result<&Project, Rejection> {
        let found = match id.number() {
            Some(number) => self.world.projects.get(number),
            None => self.world.project_at(id.as_str()),
        };
        found
            .filter(|project| self.rights.can_see_project(&self.world, project))
            .ok_or_else(|| Rejection::not_found("Project"))
    }

    /// Returns whether the project with an ID exists and is visible to the caller.
    pub fn can_see_project_with_id(&self, id: u64) -> bool {
        self.world.projects.get(id).is_some_and(|project| self.rights.can_see_project(&self.world, project))
    }

    /// Returns the project if the caller's access level in it is at least `least`.
    ///
    /// # Errors
    /// Fails with 404 if it is not visible, 401 if the caller is not signed in, and 403 if the level is too low.
    pub fn project_as(&self, id: &Id, least: u8) -> Result<&Project, Rejection> {
        let project = self.project(id)?;
        self.require_user()?;
        if self.rights.level(&self.world, project) >= least { Ok(project) } else { Err(Rejection::forbidden()) }
    }

    /// Returns the project if the caller may read its code.
    ///
    /// # Errors
    /// Fails with 404 if it is not visible, and with 403 for guests of a private project.
    pub fn project_code(&self, id: &Id) -> Result<&Project, Rejection> {
        let project = self.project(id)?;
        if self.rights.can_read_code(&self.world, project) { Ok(project) } else { Err(Rejection::forbidden()) }
    }

    /// Returns the project and its repository, for reading.
    ///
    /// # Errors
    /// Fails as [`Call::project_code`] does, and with 500 if the repository cannot be opened.
    pub fn repository(&self, id: &Id) -> Result<(&Project, Git), Rejection> {
        let project = self.project_code(id)?;
        Ok((project, self.git(project)?))
    }

    /// Returns the project and its repository, for a write that requires the developer level.
    ///
    /// # Errors
    /// Fails as [`Call::project_as`] does, and with 403 for an archived project.
    pub fn repository_to_write(&self, id: &Id) -> Result<(&Project, Git), Rejection> {
        let project = self.project_as(id, level::DEVELOPER)?;
        if project.archived {
            return Err(Rejection::forbidden());
        }
        Ok((project, self.git(project)?))
    }

    /// Opens a project's repository.
    ///
    /// # Errors
    /// Fails with 404 if it was removed during the call, and with 500 if it cannot be opened.
    pub fn git(&self, project: &Project) -> Result<Git, Rejection> {
        let path = repository_path(&self.repositories, project.id);
        let git = match Git::open(&path, project.default_branch.as_deref()) {
            Err(_) if !path.exists() => return Err(Rejection::not_found("Project")),
            git => git?,
        };
        Ok(git
            .with_stop(&self.stop)
            .forgetting_heads(self.forgets_heads)
            .with_deferred_updates(&self.ref_updates, project.id)
            .with_commit_pages(self.project_page(project, "commit/")))
    }

    /// Returns the group with an ID or full path.
    ///
    /// # Errors
    /// Fails with 404 if it does not exist or is not visible to the caller.
    pub fn group(&self, id: &Id) -> Result<&Group, Rejection> {
        let found = match id.number() {
            Some(number) => self.world.groups.get(number),
            None => self.world.group_at(id.as_str()),
        };
        found.filter(|group| self.rights.can_see_group(&self.world, group)).ok_or_else(|| Rejection::not_found("Group"))
    }

    /// Returns the project or group that an operation is about.
    ///
    /// # Errors
    /// Fails with 404 if it does not exist or is not visible to the caller.
    pub fn scope(&self, scope: &api::Scope) -> Result<Scope, Rejection> {
        Ok(match scope {
            api::Scope::Project(id) => Scope::Project(self.project(id)?.id),
            api::Scope::Group(id) => Scope::Group(self.group(id)?.id),
        })
    }

    /// Returns the project or group if the caller's access level in it is at least `least`.
    ///
    /// # Errors
    /// Fails as [`Call::project_as`] does.
    pub fn scope_as(&self, scope: &api::Scope, least: u8) -> Result<Scope, Rejection> {
        Ok(match scope {
            api::Scope::Project(id) => Scope::Project(self.project_as(id, least)?.id),
            api::Scope::Group(id) => Scope::Group(self.group_as(id, least)?.id),
        })
    }

    /// Returns the group if the caller's access level in it is at least `least`.
    ///
    /// # Errors
    /// Fails as [`Call::project_as`] does.
    pub fn group_as(&self, id: &Id, least: u8) -> Result<&Group, Rejection> {
        let group = self.group(id)?;
        self.require_user()?;
        if self.rights.group_level(&self.world, group.id) >= least { Ok(group) } else { Err(Rejection::forbidden()) }
    }

    /// Returns the requested page of `rows`; only the rows of that page are converted.
    pub fn page<R, T>(&self, rows: Vec<R>, show: impl FnMut(R) -> T) -> Outcome<Vec<T>> {
        let list_size = self.list_size(rows.len());
        let page = rows.into_iter().skip(self.pagination.skip()).take(self.pagination.per_page);
        self.page_of(page.map(show).collect(), list_size)
    }

    /// Returns the requested page like [`Call::page`], with a conversion that can fail.
    pub fn try_page<R, T>(&self, rows: Vec<R>, show: impl FnMut(R) -> Result<T, Rejection>) -> Outcome<Vec<T>> {
        let list_size = self.list_size(rows.len());
        let page = rows.into_iter().skip(self.pagination.skip()).take(self.pagination.per_page);
        let rows: Result<Vec<T>, Rejection> = page.map(show).collect();
        self.page_of(rows?, list_size)
    }

    /// Returns the size of a list of records as it is told: servers do not count many records.
    fn list_size(&self, total: usize) -> ListSize {
        let end = self.pagination.skip().saturating_add(self.pagination.per_page);
        match total > MAX_COUNTED && !self.only_specified() {
            true => ListSize::HasMore(total > end),
            false => ListSize::Known(total),
        }
    }

    /// Returns rows that are already a single page, with the size of the whole list.
    pub fn page_of<T>(&self, rows: Vec<T>, list_size: ListSize) -> Outcome<Vec<T>> {
        let mut answer = Answer::new(rows);
        answer.list_size = Some(list_size);
        Ok(answer)
    }

    /// Returns the value of an input that must be one of `allowed`; the default is the first of them.
    ///
    /// # Errors
    /// Fails with 400, for example `order_by does not have a valid value`.
    pub fn choice_or_first<'v>(
        &self,
        name: &str,
        value: Option<&'v str>,
        allowed: &[&'v str],
    ) -> Result<&'v str, Rejection> {
        match value {
            None | Some("") => Ok(allowed.first().copied().unwrap_or_default()),
            Some(value) if allowed.contains(&value) => Ok(value),
            Some(_) => Err(Rejection::no_valid_value(name)),
        }
    }

    /// Returns whether `sort`, or `default` if it is absent, asks for descending order.
    ///
    /// # Errors
    /// Fails with 400 for a value other than `asc` and `desc`.
    pub fn descending(&self, sort: Option<&str>, default: &'static str) -> Result<bool, Rejection> {
        let other = if default == "desc" { "asc" } else { "desc" };
        Ok(self.choice_or_first("sort", sort, &[default, other])? == "desc")
    }
}

/// Sorts rows by a key; the sort is stable in both directions, so that rows with equal keys stay in ID order.
pub fn stable_sort<R, K: Ord>(rows: &mut [R], descending: bool, key: impl Fn(&R) -> K) {
    sort_by(rows, &|a, b| {
        let order = key(a).cmp(&key(b));
        if descending { order.reverse() } else { order }
    });
}

/// Sorts rows. The code of the sort is large, and this way it is compiled once for each type of rows, not for each key.
fn sort_by<R>(rows: &mut [R], compare: &dyn Fn(&R, &R) -> Ordering) {
    rows.sort_by(compare);
}
