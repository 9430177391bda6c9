//! Search in all projects, in a group, and in a project (specification, "Search").

use crate::commits::Commit;
use crate::groups::Group;
use crate::issues::Issue;
use crate::json;
use crate::merge_requests::{MergeRequest, Milestone};
use crate::notes::Note;
use crate::projects::Project;
use crate::snippets::Snippet;
use crate::types::Specified;
use crate::users::User;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// A scope of searches: its name in requests, and its title.
pub type SearchScope = (&'static str, &'static str);

crate::resource! {
    /// A match in a file or wiki page.
    pub struct BlobHit {
        /// The path without its extension.
        basename: String,
        /// Some lines around the match.
        data: String,
        /// The path.
        filename: String,
        id: Option<u64>,
        r#ref: String,
        /// The number of the first line of `data`.
        startline: u64,
        project_id: u64,
    }
    unspecified {
        path: Option<String>,
    }
}

/// A search result. Its kind is determined from its fields, because the reply does not contain the scope and servers
/// may add scopes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Hit {
    /// A result of the scopes `blobs` and `wiki_blobs`.
    Blob(Box<BlobHit>),
    /// A result of the scope `commits`.
    Commit(Box<Commit>),
    /// A result of the scope `projects`.
    Project(Box<Project>),
    /// A result of the scope `notes`.
    Note(Box<Note>),
    /// A result of the scope `merge_requests`.
    MergeRequest(Box<MergeRequest>),
    /// A result of the scope `snippet_titles`, and of `snippet_blobs` on servers before 13.0.
    Snippet(Box<Snippet>),
    /// A result of the scope `users`, on servers since 12.7.
    User(Box<User>),
    /// A result of the scope `groups`, on newer servers.
    Group(Box<Group>),
    /// A result of the scope `issues`.
    Issue(Box<Issue>),
    /// A result of the scope `milestones`.
    Milestone(Box<Milestone>),
    /// A result of an unknown scope.
    Other(Value),
}

impl Specified for Hit {
    fn restrict_to_specified(&mut self) {
        match self {
            Hit::Blob(hit) => hit.restrict_to_specified(),
            Hit::Commit(hit) => hit.restrict_to_specified(),
            Hit::Project(hit) => hit.restrict_to_specified(),
            Hit::Note(hit) => hit.restrict_to_specified(),
            Hit::MergeRequest(hit) => hit.restrict_to_specified(),
            Hit::Snippet(hit) => hit.restrict_to_specified(),
            Hit::User(hit) => hit.restrict_to_specified(),
            Hit::Group(hit) => hit.restrict_to_specified(),
            Hit::Issue(hit) => hit.restrict_to_specified(),
            Hit::Milestone(hit) => hit.restrict_to_specified(),
            Hit::Other(_) => {}
        }
    }
}

impl<'de> Deserialize<'de> for Hit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Hit, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let has = |key: &str| value.get(key).is_some();
        let read = if has("basename") {
            json::from_part(&value).map(Hit::Blob)
        } else if has("short_id") {
            json::from_part(&value).map(Hit::Commit)
        } else if has("path_with_namespace") {
            json::from_part(&value).map(Hit::Project)
        } else if has("full_path") {
            json::from_part(&value).map(Hit::Group)
        } else if has("noteable_type") {
            json::from_part(&value).map(Hit::Note)
        } else if has("source_branch") {
            json::from_part(&value).map(Hit::MergeRequest)
        } else if has("file_name") {
            json::from_part(&value).map(Hit::Snippet)
        } else if has("username") {
            json::from_part(&value).map(Hit::User)
        } else if has("author") && has("group_id") {
            // An epic: it looks like an issue, but belongs to a group.
            Ok(Hit::Other(value))
        } else if has("confidential") || has("author") {
            json::from_part(&value).map(Hit::Issue)
        } else if has("iid") && has("title") {
            json::from_part(&value).map(Hit::Milestone)
        } else {
            Ok(Hit::Other(value))
        };
        read.map_err(serde::de::Error::custom)
    }
}

/// The scopes of a search of everything, with their names on web pages and in their order: first those that a search in a
/// project has, then those of a search in a group. Outside a project, code, wikis, commits and comments require a full-text
/// engine; `groups` and `users` exist on newer servers only.
pub const GLOBAL_SCOPES: &[SearchScope] = &[
    ("blobs", "Code"),
    ("issues", "Issues"),
    ("merge_requests", "Merge requests"),
    ("wiki_blobs", "Wiki"),
    ("commits", "Commits"),
    ("notes", "Comments"),
    ("milestones", "Milestones"),
    ("users", "Users"),
    ("projects", "Projects"),
    ("groups", "Groups"),
    ("snippet_titles", "Snippets"),
];

/// The scopes of a search in a group.
pub const GROUP_SCOPES: &[SearchScope] = GLOBAL_SCOPES.split_at(10).0;

/// The scopes of a search in a project.
pub const PROJECT_SCOPES: &[SearchScope] = GLOBAL_SCOPES.split_at(8).0;

crate::endpoints! {
    section "Search";

    /// Searches everything that is visible to the caller.
    GET "/search" => Vec<Hit>;
    struct Search {
        /// One of [`GLOBAL_SCOPES`].
        scope: String,
        search: String,
    }

    /// Searches a project or group.
    GET "/-/search" of within: Scope [project, group] => Vec<Hit>;
    struct SearchWithin {
        /// One of [`PROJECT_SCOPES`] or [`GROUP_SCOPES`].
        scope: String,
        search: String,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_epic_is_not_read_as_an_issue_or_a_milestone() {
        let hit = json!({"id": 1, "iid": 2, "title": "Rows", "author": {"id": 3, "username": "bo"}, "group_id": 4});
        let read = |hit: &Value| serde_json::from_value::<Hit>(hit.clone()).expect("a result");
        assert!(matches!(read(&hit), Hit::Other(_)));
        let hit = json!({"id": 1, "iid": 2, "title": "Rows", "author": {"id": 3, "username": "bo"}, "project_id": 4});
        assert!(matches!(read(&hit), Hit::Issue(_)));
    }
}
