//! Subjects: the objects that an operation can be about when several kinds of objects have it. The path of the subject is
//! the first part of the route.

use crate::api::Id;
use crate::api::endpoint::{decode, encode};
use serde::de;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// An object that an operation is about. It is displayed as its path below `/api/v4`.
pub trait Subject: fmt::Display + Default {
    /// Parses a path that was displayed.
    fn from_path(path: &str) -> Option<Self>;
}

/// Deserializes the path of a subject. An empty path, the placeholder of one that is reported as invalid, is the default.
///
/// # Errors
/// Fails if it is not the path of such an object.
pub fn deserialize<'de, S: Subject, D: Deserializer<'de>>(deserializer: D) -> Result<S, D::Error> {
    let path = String::deserialize(deserializer)?;
    if path.is_empty() {
        return Ok(S::default());
    }
    S::from_path(&path).ok_or_else(|| de::Error::custom("not the path of such an object"))
}

/// The project or group that a list, label, milestone, member or setting belongs to. Serialized as its path.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    Project(Id),
    Group(Id),
}

impl Scope {
    /// Returns the ID of the project or group.
    pub fn id(&self) -> &Id {
        match self {
            Scope::Project(id) | Scope::Group(id) => id,
        }
    }

    pub fn project(&self) -> Option<&Id> {
        if let Scope::Project(id) = self { Some(id) } else { None }
    }

    pub fn group(&self) -> Option<&Id> {
        if let Scope::Group(id) = self { Some(id) } else { None }
    }
}

impl Default for Scope {
    fn default() -> Scope {
        Scope::Project(Id::default())
    }
}

impl Subject for Scope {
    fn from_path(path: &str) -> Option<Scope> {
        match *path.split('/').collect::<Vec<_>>() {
            ["", "projects", id] => Some(Scope::Project(decode(id).into())),
            ["", "groups", id] => Some(Scope::Group(decode(id).into())),
            _ => None,
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scope::Project(id) => write!(f, "/projects/{}", encode(id.as_str())),
            Scope::Group(id) => write!(f, "/groups/{}", encode(id.as_str())),
        }
    }
}

impl Serialize for Scope {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The owner of CI/CD variables. Serialized as its path.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum VariableOwner {
    Project(Id),
    Group(Id),
    /// The whole server, for administrators.
    #[default]
    Instance,
}

impl From<Scope> for VariableOwner {
    fn from(scope: Scope) -> VariableOwner {
        match scope {
            Scope::Project(id) => VariableOwner::Project(id),
            Scope::Group(id) => VariableOwner::Group(id),
        }
    }
}

impl Subject for VariableOwner {
    fn from_path(path: &str) -> Option<VariableOwner> {
        match path {
            "/admin/ci" => Some(VariableOwner::Instance),
            path => Scope::from_path(path).map(VariableOwner::from),
        }
    }
}

impl fmt::Display for VariableOwner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            VariableOwner::Project(id) => write!(f, "/projects/{}", encode(id.as_str())),
            VariableOwner::Group(id) => write!(f, "/groups/{}", encode(id.as_str())),
            VariableOwner::Instance => f.write_str("/admin/ci"),
        }
    }
}

impl Serialize for VariableOwner {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The project or user whose events are listed. Serialized as its path.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Feed {
    Project(Id),
    /// A user, by ID or username.
    User(Id),
    /// The current user.
    #[default]
    Own,
}

impl Subject for Feed {
    fn from_path(path: &str) -> Option<Feed> {
        match *path.split('/').collect::<Vec<_>>() {
            [""] => Some(Feed::Own),
            ["", "projects", id] => Some(Feed::Project(decode(id).into())),
            ["", "users", id] => Some(Feed::User(decode(id).into())),
            _ => None,
        }
    }
}

impl fmt::Display for Feed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Feed::Project(id) => write!(f, "/projects/{}", encode(id.as_str())),
            Feed::User(id) => write!(f, "/users/{}", encode(id.as_str())),
            Feed::Own => Ok(()),
        }
    }
}

impl Serialize for Feed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// An object that can be commented on. Serialized by name in saved drafts.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Noteable {
    MergeRequest {
        project: Id,
        iid: u64,
    },
    /// A commit: it has comments, which are not notes.
    Commit {
        project: Id,
        sha: String,
    },
    Issue {
        project: Id,
        iid: u64,
    },
    Snippet {
        project: Id,
        id: u64,
    },
    Epic {
        group: Id,
        id: u64,
    },
}

impl Default for Noteable {
    fn default() -> Noteable {
        Noteable::MergeRequest { project: Id::default(), iid: 0 }
    }
}

impl Subject for Noteable {
    fn from_path(path: &str) -> Option<Noteable> {
        Some(match *path.split('/').collect::<Vec<_>>() {
            ["", "projects", project, "merge_requests", iid] => {
                Noteable::MergeRequest { project: decode(project).into(), iid: iid.parse().ok()? }
            }
            ["", "projects", project, "issues", iid] => {
                Noteable::Issue { project: decode(project).into(), iid: iid.parse().ok()? }
            }
            ["", "projects", project, "snippets", id] => {
                Noteable::Snippet { project: decode(project).into(), id: id.parse().ok()? }
            }
            ["", "groups", group, "epics", id] => Noteable::Epic { group: decode(group).into(), id: id.parse().ok()? },
            ["", "projects", project, "repository", "commits", sha] => {
                Noteable::Commit { project: decode(project).into(), sha: decode(sha) }
            }
            _ => return None,
        })
    }
}

impl fmt::Display for Noteable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Noteable::MergeRequest { project, iid } => {
                write!(f, "/projects/{}/merge_requests/{iid}", encode(project.as_str()))
            }
            Noteable::Issue { project, iid } => write!(f, "/projects/{}/issues/{iid}", encode(project.as_str())),
            Noteable::Snippet { project, id } => write!(f, "/projects/{}/snippets/{id}", encode(project.as_str())),
            Noteable::Epic { group, id } => write!(f, "/groups/{}/epics/{id}", encode(group.as_str())),
            Noteable::Commit { project, sha } => {
                write!(f, "/projects/{}/repository/commits/{}", encode(project.as_str()), encode(sha))
            }
        }
    }
}

/// An object that can get reactions: one that can be commented on, or a note on it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Awardable {
    /// The object.
    pub on: Noteable,
    /// The ID of the note; `None` for the object itself.
    pub note: Option<u64>,
}

impl Subject for Awardable {
    fn from_path(path: &str) -> Option<Awardable> {
        let (on, note) = match path.rsplit_once("/notes/") {
            Some((on, note)) => (on, Some(note.parse().ok()?)),
            None => (path, None),
        };
        Some(Awardable { on: Noteable::from_path(on)?, note })
    }
}

impl fmt::Display for Awardable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.note {
            Some(note) => write!(f, "{}/notes/{note}", self.on),
            None => self.on.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_read_as_they_are_displayed() {
        for scope in [Scope::Project("acme/ui".into()), Scope::Group(7.into()), Scope::Group("a b/ü".into())] {
            assert_eq!(Scope::from_path(&scope.to_string()), Some(scope));
        }
        for wrong in ["", "/projects", "/projects/1/issues/2", "/users/1", "projects/1"] {
            assert_eq!(Scope::from_path(wrong), None, "{wrong}");
        }
        let (project, group) = (VariableOwner::Project("acme/ui".into()), VariableOwner::Group(7.into()));
        for owner in [project, group, VariableOwner::Instance] {
            assert_eq!(VariableOwner::from_path(&owner.to_string()), Some(owner));
        }
        let project = || Id::from("acme/notes/ui");
        let objects = [
            Noteable::MergeRequest { project: project(), iid: 5 },
            Noteable::Issue { project: project(), iid: 5 },
            Noteable::Snippet { project: project(), id: 5 },
            Noteable::Epic { group: 7.into(), id: 5 },
            Noteable::Commit { project: project(), sha: "a/b".into() },
        ];
        for on in objects {
            assert_eq!(Noteable::from_path(&on.to_string()), Some(on.clone()));
            for note in [None, Some(9)] {
                let to = Awardable { on: on.clone(), note };
                assert_eq!(Awardable::from_path(&to.to_string()), Some(to));
            }
        }
    }
}
