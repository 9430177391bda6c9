//! Search everywhere, in a group, in a project (specification, "Search").

use crate::api::Id;
use crate::api::commits::resources::Commit;
use crate::api::issues::Issue;
use crate::api::merge_requests::{MergeRequest, Milestone};
use crate::api::notes::Note;
use crate::api::projects::Project;
use crate::api::snippets::Snippet;
use crate::api::users::User;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

crate::resource! {
    /// A part of a file or wiki page that holds what was looked for.
    pub struct BlobHit {
        /// The path without its extension.
        basename: String,
        /// Some lines around the hit.
        data: String,
        /// The path.
        filename: String,
        id: Option<u64>,
        r#ref: String,
        /// The number of the first line of `data`.
        startline: u64,
        project_id: u64,
    }
    newer {
        path: String,
    }
}

/// One thing that search found. Which kind it is, its own fields say: servers add scopes, and the reply does not
/// name its own.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Hit {
    /// Of the scopes `blobs` and `wiki_blobs`.
    Blob(Box<BlobHit>),
    /// Of the scope `commits`.
    Commit(Box<Commit>),
    /// Of the scope `projects`.
    Project(Box<Project>),
    /// Of the scope `notes`.
    Note(Box<Note>),
    /// Of the scope `merge_requests`.
    MergeRequest(Box<MergeRequest>),
    /// Of the scopes `snippet_titles` and `snippet_blobs`.
    Snippet(Box<Snippet>),
    /// Of the scope `users`, of newer servers.
    User(Box<User>),
    /// Of the scope `issues`.
    Issue(Box<Issue>),
    /// Of the scope `milestones`.
    Milestone(Box<Milestone>),
    /// Of a scope that is not known here.
    Other(Value),
}

impl<'de> Deserialize<'de> for Hit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Hit, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let has = |key: &str| value.get(key).is_some();
        let read = if has("basename") {
            serde_json::from_value(value).map(Hit::Blob)
        } else if has("short_id") {
            serde_json::from_value(value).map(Hit::Commit)
        } else if has("path_with_namespace") {
            serde_json::from_value(value).map(Hit::Project)
        } else if has("noteable_type") {
            serde_json::from_value(value).map(Hit::Note)
        } else if has("source_branch") {
            serde_json::from_value(value).map(Hit::MergeRequest)
        } else if has("file_name") {
            serde_json::from_value(value).map(Hit::Snippet)
        } else if has("username") {
            serde_json::from_value(value).map(Hit::User)
        } else if has("confidential") || has("author") {
            serde_json::from_value(value).map(Hit::Issue)
        } else if has("iid") && has("title") {
            serde_json::from_value(value).map(Hit::Milestone)
        } else {
            Ok(Hit::Other(value))
        };
        read.map_err(serde::de::Error::custom)
    }
}

/// The scopes of a search everywhere; the last three need a full-text engine.
pub const GLOBAL_SCOPES: [&str; 9] = [
    "projects",
    "issues",
    "merge_requests",
    "milestones",
    "snippet_titles",
    "snippet_blobs",
    "blobs",
    "wiki_blobs",
    "commits",
];

/// The scopes of a search in a group; the last three need a full-text engine.
pub const GROUP_SCOPES: [&str; 7] =
    ["projects", "issues", "merge_requests", "milestones", "blobs", "wiki_blobs", "commits"];

/// The scopes of a search in a project.
pub const PROJECT_SCOPES: [&str; 7] =
    ["issues", "merge_requests", "milestones", "notes", "wiki_blobs", "commits", "blobs"];

crate::endpoints! {
    section "Search";

    /// Searches everything that the caller may see.
    GET "/search" => Vec<Hit>;
    struct Search {
        /// A word of [`GLOBAL_SCOPES`].
        scope: String,
        search: String,
    }

    /// Searches a group.
    GET "/groups/{id}/-/search" => Vec<Hit>;
    struct SearchGroup {
        id: Id,
        /// A word of [`GROUP_SCOPES`].
        scope: String,
        search: String,
    }

    /// Searches a project.
    GET "/projects/{id}/-/search" => Vec<Hit>;
    struct SearchProject {
        id: Id,
        /// A word of [`PROJECT_SCOPES`].
        scope: String,
        search: String,
    }
}
