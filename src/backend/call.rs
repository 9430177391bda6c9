//! What a handler has in its hands: the world, the caller, the time, and how to answer.

use super::auth::Rights;
use super::cache::Cache;
use super::deliveries::Event;
use super::git::Git;
use super::page::{Extent, Paging};
use super::params::Inputs;
use super::records::{Group, Project, User, level};
use super::reject::Reject;
use super::stop::Stop;
use super::store::repository_path;
use super::world::World;
use crate::api::Id;
use crate::api::views::Fields;
use crate::backend::ref_updates::RefUpdates;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use jiff::Timestamp;
use serde_json::Value;
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::Arc;

/// One request, past authentication. `W` is `&World` or `&mut World`.
pub struct Call<W> {
    pub world: W,
    pub rights: Rights,
    pub now: Timestamp,
    /// `http://host:port`, as the caller reached the server.
    pub base_url: String,
    /// All inputs by name, for the few whose presence alone says something.
    pub inputs: Inputs,
    pub paging: Paging,
    pub headers: HeaderMap,
    /// The folder of the bare repositories.
    pub repositories: PathBuf,
    /// Ends what takes long when the caller has gone.
    pub stop: Stop,
    pub cache: Arc<Cache>,
    /// What a write does to repositories.
    pub ref_updates: RefUpdates,
    /// What a write tells those who listen.
    pub events: Vec<Event>,
    /// Whether the answer may hold only what the specification knows.
    pub only_specified: bool,
}

/// A call that only reads.
pub type Reading<'a> = Call<&'a World>;
/// A call that changes the world; the changes count only if its handler succeeds.
pub type Writing<'a> = Call<&'a mut World>;

/// What a handler gives back.
pub type Outcome<T> = Result<Answer<T>, Reject>;

/// A success: the body, and what is not usual about it.
#[derive(Debug)]
pub struct Answer<T> {
    pub body: T,
    /// Where it is not the usual one of the method (200, 201 for POST, 204 for an empty body).
    pub status: Option<u16>,
    /// For a list: how it goes on.
    pub extent: Option<Extent>,
    pub headers: HeaderMap,
    /// What is said instead of the body, where the interface has words for it.
    pub words: Option<Value>,
    /// The fields of its rows, if they are fewer than usual.
    pub only: Option<Fields>,
}

impl<T> Answer<T> {
    /// A plain success.
    pub fn new(body: T) -> Answer<T> {
        Answer { body, status: None, extent: None, headers: HeaderMap::new(), words: None, only: None }
    }

    /// With another status than the usual one.
    pub fn status(mut self, status: u16) -> Answer<T> {
        self.status = Some(status);
        self
    }

    /// With some of its fields alone.
    pub fn only(mut self, fields: Option<Fields>) -> Answer<T> {
        self.only = fields;
        self
    }

    /// With other words instead of the body.
    pub fn saying(mut self, words: impl Into<Value>) -> Answer<T> {
        self.words = Some(words.into());
        self
    }

    /// With a header; one that no header can hold is left out.
    pub fn header(mut self, name: &'static str, value: &str) -> Answer<T> {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.headers.insert(HeaderName::from_static(name), value);
        }
        self
    }
}

/// A plain success: what most handlers end with.
pub fn ok<T>(body: T) -> Outcome<T> {
    Ok(Answer::new(body))
}

impl<W: Deref<Target = World>> Call<W> {
    /// The caller.
    ///
    /// # Errors
    /// 401 where nobody is signed in.
    pub fn signed_in(&self) -> Result<&User, Reject> {
        self.rights.user.and_then(|id| self.world.users.get(id)).ok_or_else(Reject::unauthorized)
    }

    /// That the caller is an administrator.
    ///
    /// # Errors
    /// 401 where nobody is signed in, 403 for anyone else.
    pub fn administrator(&self) -> Result<(), Reject> {
        self.signed_in()?;
        if self.rights.admin { Ok(()) } else { Err(Reject::forbidden()) }
    }

    /// That what is to be deleted, and was changed last at `at`, is as the caller knows it.
    ///
    /// # Errors
    /// 412 where `If-Unmodified-Since` names an earlier moment.
    pub fn unmodified(&self, at: Timestamp) -> Result<(), Reject> {
        let since = self.headers.get(header::IF_UNMODIFIED_SINCE).and_then(|since| since.to_str().ok());
        let since = since.and_then(|since| jiff::fmt::rfc2822::parse(since).ok());
        // The header knows no parts of a second.
        match since {
            Some(since) if at.as_second() > since.timestamp().as_second() => {
                Err(Reject::message(412, "412 Precondition Failed"))
            }
            _ => Ok(()),
        }
    }

    /// The project of a number or full path.
    ///
    /// # Errors
    /// 404 where there is none that the caller may know of.
    pub fn project(&self, id: &Id) -> Result<&Project, Reject> {
        let found = match id.number() {
            Some(number) => self.world.projects.get(number),
            None => self.world.project_at(id.as_str()),
        };
        found
            .filter(|project| self.rights.sees_project(&self.world, project))
            .ok_or_else(|| Reject::not_found("Project"))
    }

    /// The project, where the caller's level in it is at least `least`.
    ///
    /// # Errors
    /// 404 where it is hidden, 401 where nobody is signed in, 403 where the level is lower.
    pub fn project_as(&self, id: &Id, least: u8) -> Result<&Project, Reject> {
        let project = self.project(id)?;
        self.signed_in()?;
        if self.rights.level(&self.world, project) >= least { Ok(project) } else { Err(Reject::forbidden()) }
    }

    /// The project, where the caller may read its code.
    ///
    /// # Errors
    /// 404 where it is hidden, 403 for guests of a private one.
    pub fn project_code(&self, id: &Id) -> Result<&Project, Reject> {
        let project = self.project(id)?;
        if self.rights.reads_code(&self.world, project) { Ok(project) } else { Err(Reject::forbidden()) }
    }

    /// The project and its repository, to be read.
    ///
    /// # Errors
    /// As [`Call::project_code`], and 500 where the repository cannot be opened.
    pub fn repository(&self, id: &Id) -> Result<(&Project, Git), Reject> {
        let project = self.project_code(id)?;
        Ok((project, self.git(project)?))
    }

    /// The project and its repository, to be changed by a developer.
    ///
    /// # Errors
    /// As [`Call::project_as`]; 403 for an archived project.
    pub fn repository_to_write(&self, id: &Id) -> Result<(&Project, Git), Reject> {
        let project = self.project_as(id, level::DEVELOPER)?;
        if project.archived {
            return Err(Reject::forbidden());
        }
        Ok((project, self.git(project)?))
    }

    /// A project's repository.
    ///
    /// # Errors
    /// 404 where it went while the call was under way, 500 where it cannot be opened.
    pub fn git(&self, project: &Project) -> Result<Git, Reject> {
        let path = repository_path(&self.repositories, project.id);
        let git = match Git::open(&path, project.default_branch.as_deref()) {
            Err(_) if !path.exists() => return Err(Reject::not_found("Project")),
            git => git?,
        };
        Ok(git.until(&self.stop).deferring(&self.ref_updates, project.id))
    }

    /// The group of a number or full path.
    ///
    /// # Errors
    /// 404 where there is none that the caller may know of.
    pub fn group(&self, id: &Id) -> Result<&Group, Reject> {
        let found = match id.number() {
            Some(number) => self.world.groups.get(number),
            None => self.world.group_at(id.as_str()),
        };
        found.filter(|group| self.rights.sees_group(&self.world, group)).ok_or_else(|| Reject::not_found("Group"))
    }

    /// The group, where the caller's level in it is at least `least`.
    ///
    /// # Errors
    /// As [`Call::project_as`].
    pub fn group_as(&self, id: &Id, least: u8) -> Result<&Group, Reject> {
        let group = self.group(id)?;
        self.signed_in()?;
        if self.rights.group_level(&self.world, group.id) >= least { Ok(group) } else { Err(Reject::forbidden()) }
    }

    /// The page that is asked for, of rows that are all at hand; only its rows are made into what is answered.
    pub fn page<R, T>(&self, rows: Vec<R>, show: impl FnMut(R) -> T) -> Outcome<Vec<T>> {
        let total = rows.len();
        let page = rows.into_iter().skip(self.paging.skip()).take(self.paging.per_page);
        self.page_of(page.map(show).collect(), Extent::Total(total))
    }

    /// As [`Call::page`], where making a row can fail.
    pub fn try_page<R, T>(&self, rows: Vec<R>, show: impl FnMut(R) -> Result<T, Reject>) -> Outcome<Vec<T>> {
        let total = rows.len();
        let page = rows.into_iter().skip(self.paging.skip()).take(self.paging.per_page);
        let rows: Result<Vec<T>, Reject> = page.map(show).collect();
        self.page_of(rows?, Extent::Total(total))
    }

    /// One page that was cut already, and how far the list goes beyond it.
    pub fn page_of<T>(&self, rows: Vec<T>, extent: Extent) -> Outcome<Vec<T>> {
        let mut answer = Answer::new(rows);
        answer.extent = Some(extent);
        Ok(answer)
    }

    /// The value of an input that must be one of `words`; the first of them where it is absent.
    ///
    /// # Errors
    /// 400 `order_by does not have a valid value`.
    pub fn choice<'v>(&self, name: &str, value: Option<&'v str>, words: &[&'v str]) -> Result<&'v str, Reject> {
        match value {
            None | Some("") => Ok(words.first().copied().unwrap_or_default()),
            Some(word) if words.contains(&word) => Ok(word),
            Some(_) => Err(Reject::no_valid_value(name)),
        }
    }

    /// Whether a list runs from the last to the first: `sort`, where absent `default`.
    ///
    /// # Errors
    /// 400 for another word than `asc` and `desc`.
    pub fn descending(&self, sort: Option<&str>, default: &'static str) -> Result<bool, Reject> {
        let other = if default == "desc" { "asc" } else { "desc" };
        Ok(self.choice("sort", sort, &[default, other])? == "desc")
    }
}

/// Puts rows in order; rows that are alike keep the order of their numbers, both ways.
pub fn order<R, K: Ord>(rows: &mut [R], descending: bool, key: impl Fn(&R) -> K) {
    if descending {
        rows.sort_by_key(|row| std::cmp::Reverse(key(row)));
    } else {
        rows.sort_by_key(key);
    }
}
