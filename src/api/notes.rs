//! Notes: what people say of issues, snippets, merge requests and epics (specification, "Notes").

use crate::api::issues::{GetIssue, ListProjectIssues};
use crate::api::merge_requests::{GetMergeRequest, ListParticipants, ListProjectMergeRequests};
use crate::api::todos::ListTodos;
use crate::api::users::User;
use crate::api::{Id, Nothing, Time};
use serde::{Deserialize, Deserializer, Serialize};

crate::resource! {
    /// What the user said, or what the system noted.
    pub struct Note {
        id: u64,
        /// Markdown.
        body: String,
        attachment: Option<String>,
        author: Option<User>,
        created_at: Option<Time>,
        updated_at: Option<Time>,
        /// Whether the server wrote it, of a change of state.
        system: bool,
        noteable_id: Option<u64>,
        /// `Issue`, `MergeRequest`, `Snippet`, `Epic`, `Commit`, ….
        noteable_type: String,
        /// Null for snippets and epics.
        noteable_iid: Option<u64>,
    }
    newer {
        /// `DiffNote`, `DiscussionNote`, or nothing for a plain note.
        r#type: String,
        /// Where in the changes a `DiffNote` stands.
        position: Position,
        resolvable: bool,
        resolved: bool,
        resolved_by: User,
        project_id: u64,
        commit_id: String,
        confidential: bool,
    }
}

impl Note {
    /// Returns whether it was changed after it was written.
    pub fn is_edited(&self) -> bool {
        match (&self.created_at, &self.updated_at) {
            (Some(created), Some(updated)) => created != updated,
            _ => false,
        }
    }

    /// The file and line of the changes that it speaks of.
    pub fn place(&self) -> Option<(&str, Option<u64>)> {
        let position = self.position.as_ref()?;
        let path = position.new_path.as_deref().or(position.old_path.as_deref())?;
        Some((path, position.new_line.or(position.old_line)))
    }
}

crate::resource! {
    /// A place in the changes of a merge request; any part may be missing.
    pub struct Position {
        base_sha: Option<String>,
        start_sha: Option<String>,
        head_sha: Option<String>,
        /// `text`, `image` or `file`.
        position_type: Option<String>,
        old_path: Option<String>,
        new_path: Option<String>,
        old_line: Option<u64>,
        new_line: Option<u64>,
    }
}

crate::resource! {
    /// What the specification shows for one note of a snippet or epic, and for a note of nothing but an award emoji:
    /// an object in the shape of a snippet.
    pub struct NoteObject {
        id: u64,
        title: Option<String>,
        file_name: Option<String>,
        author: Option<User>,
        expires_at: Option<Time>,
        updated_at: Option<Time>,
        created_at: Option<Time>,
    }
}

/// The answer to the making of a note, and to reading one of a snippet or epic: servers that run answer with a note
/// where the specification shows [`NoteObject`], so both are read.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum NoteReply {
    /// An ordinary note.
    Note(Box<Note>),
    /// The specification's other shape.
    Object(Box<NoteObject>),
}

impl NoteReply {
    /// The number of the note; 0 where the server made none (it obeyed a quick action).
    pub fn id(&self) -> u64 {
        match self {
            NoteReply::Note(note) => note.id,
            NoteReply::Object(object) => object.id,
        }
    }

    /// The note, if it came as one.
    pub fn note(&self) -> Option<&Note> {
        match self {
            NoteReply::Note(note) => Some(note),
            NoteReply::Object(_) => None,
        }
    }
}

impl From<Note> for NoteReply {
    fn from(note: Note) -> NoteReply {
        NoteReply::Note(Box::new(note))
    }
}

impl<'de> Deserialize<'de> for NoteReply {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<NoteReply, D::Error> {
        let value = serde_json::Value::deserialize(deserializer)?;
        let read = if value.get("title").is_some() && value.get("body").is_none() {
            serde_json::from_value(value).map(NoteReply::Object)
        } else {
            serde_json::from_value(value).map(NoteReply::Note)
        };
        read.map_err(serde::de::Error::custom)
    }
}

crate::endpoints! {
    section "Notes";

    /// Lists the notes of an issue.
    GET "/projects/{id}/issues/{issue_iid}/notes" => Vec<Note>;
    struct ListIssueNotes {
        id: Id,
        issue_iid: u64,
        /// `asc` or `desc` (where absent).
        sort: Option<String>,
        /// `created_at` (where absent) or `updated_at`.
        order_by: Option<String>,
    }

    /// Reads one note of an issue.
    GET "/projects/{id}/issues/{issue_iid}/notes/{note_id}" => Note;
    struct GetIssueNote { id: Id, issue_iid: u64, note_id: u64 }

    /// Comments on an issue.
    POST "/projects/{id}/issues/{issue_iid}/notes" => NoteReply,
    touches [ListIssueNotes, GetIssue, ListProjectIssues, ListTodos];
    struct CreateIssueNote { id: Id, issue_iid: u64, body: String, created_at: Option<Time> }

    /// Changes a note of an issue.
    PUT "/projects/{id}/issues/{issue_iid}/notes/{note_id}" => Note,
    touches [ListIssueNotes, GetIssueNote];
    struct UpdateIssueNote { id: Id, issue_iid: u64, note_id: u64, body: String }

    /// Deletes a note of an issue.
    DELETE "/projects/{id}/issues/{issue_iid}/notes/{note_id}" => Nothing,
    touches [ListIssueNotes, GetIssueNote];
    struct DeleteIssueNote { id: Id, issue_iid: u64, note_id: u64 }

    /// Lists the notes of a snippet.
    GET "/projects/{id}/snippets/{snippet_id}/notes" => Vec<Note>;
    struct ListSnippetNotes {
        id: Id,
        snippet_id: u64,
        /// `asc` or `desc` (where absent).
        sort: Option<String>,
        /// `created_at` (where absent) or `updated_at`.
        order_by: Option<String>,
    }

    /// Reads one note of a snippet.
    GET "/projects/{id}/snippets/{snippet_id}/notes/{note_id}" => NoteReply;
    struct GetSnippetNote { id: Id, snippet_id: u64, note_id: u64 }

    /// Comments on a snippet.
    POST "/projects/{id}/snippets/{snippet_id}/notes" => NoteReply,
    touches [ListSnippetNotes];
    struct CreateSnippetNote { id: Id, snippet_id: u64, body: String }

    /// Changes a note of a snippet.
    PUT "/projects/{id}/snippets/{snippet_id}/notes/{note_id}" => Note,
    touches [ListSnippetNotes, GetSnippetNote];
    struct UpdateSnippetNote { id: Id, snippet_id: u64, note_id: u64, body: String }

    /// Deletes a note of a snippet.
    DELETE "/projects/{id}/snippets/{snippet_id}/notes/{note_id}" => Nothing,
    touches [ListSnippetNotes, GetSnippetNote];
    struct DeleteSnippetNote { id: Id, snippet_id: u64, note_id: u64 }

    /// Lists the notes of a merge request.
    GET "/projects/{id}/merge_requests/{merge_request_iid}/notes" => Vec<Note>;
    struct ListMergeRequestNotes {
        id: Id,
        merge_request_iid: u64,
        /// `asc` or `desc` (where absent).
        sort: Option<String>,
        /// `created_at` (where absent) or `updated_at`.
        order_by: Option<String>,
    }

    /// Reads one note of a merge request.
    GET "/projects/{id}/merge_requests/{merge_request_iid}/notes/{note_id}" => Note;
    struct GetMergeRequestNote { id: Id, merge_request_iid: u64, note_id: u64 }

    /// Comments on a merge request.
    POST "/projects/{id}/merge_requests/{merge_request_iid}/notes" => NoteReply,
    touches [ListMergeRequestNotes, ListParticipants, GetMergeRequest, ListProjectMergeRequests, ListTodos];
    struct CreateMergeRequestNote { id: Id, merge_request_iid: u64, body: String }

    /// Changes a note of a merge request.
    PUT "/projects/{id}/merge_requests/{merge_request_iid}/notes/{note_id}" => Note,
    touches [ListMergeRequestNotes, GetMergeRequestNote];
    struct UpdateMergeRequestNote { id: Id, merge_request_iid: u64, note_id: u64, body: String }

    /// Deletes a note of a merge request.
    DELETE "/projects/{id}/merge_requests/{merge_request_iid}/notes/{note_id}" => Nothing,
    touches [ListMergeRequestNotes, GetMergeRequestNote, GetMergeRequest, ListProjectMergeRequests];
    struct DeleteMergeRequestNote { id: Id, merge_request_iid: u64, note_id: u64 }

    /// Lists the notes of an epic.
    GET "/groups/{id}/epics/{epic_id}/notes" => Vec<Note>;
    struct ListEpicNotes {
        id: Id,
        epic_id: u64,
        /// `asc` or `desc` (where absent).
        sort: Option<String>,
        /// `created_at` (where absent) or `updated_at`.
        order_by: Option<String>,
    }

    /// Reads one note of an epic.
    GET "/groups/{id}/epics/{epic_id}/notes/{note_id}" => NoteReply;
    struct GetEpicNote { id: Id, epic_id: u64, note_id: u64 }

    /// Comments on an epic.
    POST "/groups/{id}/epics/{epic_id}/notes" => NoteReply,
    touches [ListEpicNotes];
    struct CreateEpicNote { id: Id, epic_id: u64, body: String }

    /// Changes a note of an epic.
    PUT "/groups/{id}/epics/{epic_id}/notes/{note_id}" => Note,
    touches [ListEpicNotes, GetEpicNote];
    struct UpdateEpicNote { id: Id, epic_id: u64, note_id: u64, body: String }

    /// Deletes a note of an epic.
    DELETE "/groups/{id}/epics/{epic_id}/notes/{note_id}" => Nothing,
    touches [ListEpicNotes, GetEpicNote];
    struct DeleteEpicNote { id: Id, epic_id: u64, note_id: u64 }
}
