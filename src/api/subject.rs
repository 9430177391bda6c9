//! Subjects: the objects that an operation can be about when several kinds of objects have it. The path of the subject is
//! the first part of the route.

use crate::Id;
use crate::draft_notes::ListDraftNotes;
use crate::endpoint::{decode, fill, fits};
use serde::{Deserialize, Serialize};
use std::fmt;

/// An object that an operation is about. It is displayed as its path below `/api/v4`.
pub trait Subject: fmt::Display + Default {
    /// Parses a path that was displayed.
    fn from_path(path: &str) -> Option<Self>;
}

/// The path of each kind of subject: the first part of the routes of its operations.
#[macro_export]
macro_rules! subject_path {
    (project) => {
        "/projects/{id}"
    };
    (group) => {
        "/groups/{id}"
    };
    (instance) => {
        "/admin/ci"
    };
    (user) => {
        "/users/{id}"
    };
    (own) => {
        ""
    };
    (merge_request) => {
        "/projects/{id}/merge_requests/{merge_request_iid}"
    };
    (issue) => {
        "/projects/{id}/issues/{issue_iid}"
    };
    (snippet) => {
        "/projects/{id}/snippets/{snippet_id}"
    };
    (epic) => {
        "/groups/{id}/epics/{epic_id}"
    };
    (commit) => {
        "/projects/{id}/repository/commits/{sha}"
    };
    (merge_request_note) => {
        concat!($crate::subject_path!(merge_request), "/notes/{note_id}")
    };
    (issue_note) => {
        concat!($crate::subject_path!(issue), "/notes/{note_id}")
    };
    (snippet_note) => {
        concat!($crate::subject_path!(snippet), "/notes/{note_id}")
    };
}

/// Implements [`Subject`] for an enumeration: the kind of each variant, and the fields that fill the slots of its path.
macro_rules! subjects {
    ($($type:ident { $($kind:ident => $variant:ident { $($field:tt: $name:ident),* }),* $(,)? })*) => { $(
        impl Subject for $type {
            fn from_path(path: &str) -> Option<$type> {
                $(if let Some(slots) = slots($crate::subject_path!($kind), path) {
                    let _slots = &mut slots.into_iter();
                    return Some($type::$variant { $($field: _slots.next()?.parse().ok()?),* });
                })*
                None
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $($type::$variant { $($field: $name),* } => {
                        f.write_str(&filled($crate::subject_path!($kind), [$($name.to_string()),*]))
                    })*
                }
            }
        }
    )* };
}

subjects! {
    Scope {
        project => Project { 0: id },
        group => Group { 0: id },
    }
    VariableOwner {
        project => Project { 0: id },
        group => Group { 0: id },
        instance => Instance {},
    }
    Feed {
        project => Project { 0: id },
        user => User { 0: id },
        own => Own {},
    }
    Noteable {
        merge_request => MergeRequest { project: project, iid: iid },
        issue => Issue { project: project, iid: iid },
        snippet => Snippet { project: project, id: id },
        epic => Epic { group: group, id: id },
        commit => Commit { project: project, sha: sha },
    }
}

/// Returns the decoded values of the slots of `route`, if `path` has its form.
fn slots(route: &str, path: &str) -> Option<Vec<String>> {
    let mut values = Vec::new();
    fits(route, path, |segment| values.push(decode(segment))).then_some(values)
}

/// Returns `route` with these values in its slots.
fn filled<const N: usize>(route: &str, values: [String; N]) -> String {
    let (mut path, mut values) = (String::new(), values.into_iter());
    fill(&mut path, route, |_| values.next().unwrap_or_default());
    path
}

/// The project or group that a list, label, milestone, member or setting belongs to.
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

/// The owner of CI/CD variables.
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

/// The project or user whose events are listed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Feed {
    Project(Id),
    /// A user, by ID or username.
    User(Id),
    /// The current user.
    #[default]
    Own,
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

impl Noteable {
    /// Returns the project of the object; epics belong to a group.
    pub fn project(&self) -> Option<&Id> {
        match self {
            Noteable::MergeRequest { project, .. }
            | Noteable::Commit { project, .. }
            | Noteable::Issue { project, .. }
            | Noteable::Snippet { project, .. } => Some(project),
            Noteable::Epic { .. } => None,
        }
    }

    /// Returns the name, with project or group: `acme/rocket-ui!42`, `acme/rocket-ui@9f3c2abd`, `acme/rocket-ui#7`,
    /// `acme/rocket-ui$3`, `acme&2`.
    pub fn name(&self) -> String {
        match self {
            Noteable::MergeRequest { project, iid } => format!("{project}!{iid}"),
            Noteable::Commit { project, sha } => format!("{project}@{}", sha.get(..8).unwrap_or(sha)),
            Noteable::Issue { project, iid } => format!("{project}#{iid}"),
            Noteable::Snippet { project, id } => format!("{project}${id}"),
            Noteable::Epic { group, id } => format!("{group}&{id}"),
        }
    }

    /// Returns the name without project or group.
    pub fn short(&self) -> String {
        match self {
            Noteable::MergeRequest { iid, .. } => format!("!{iid}"),
            Noteable::Commit { sha, .. } => sha.get(..8).unwrap_or(sha).to_owned(),
            Noteable::Issue { iid, .. } => format!("#{iid}"),
            Noteable::Snippet { id, .. } => format!("${id}"),
            Noteable::Epic { id, .. } => format!("&{id}"),
        }
    }

    /// Returns whether comments on it can be collected in a review, to be sent together.
    pub fn is_reviewed(&self) -> bool {
        matches!(self, Noteable::MergeRequest { .. } | Noteable::Commit { .. })
    }

    /// Returns whether it has notes: a commit has comments, which are read and written differently.
    pub fn has_notes(&self) -> bool {
        !matches!(self, Noteable::Commit { .. })
    }

    /// Returns the list of the draft notes that the server keeps for it; only merge requests have them.
    pub fn list_draft_notes(&self) -> Option<ListDraftNotes> {
        match self {
            Noteable::MergeRequest { project, iid } => {
                Some(ListDraftNotes { id: project.clone(), merge_request_iid: *iid })
            }
            _ => None,
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
