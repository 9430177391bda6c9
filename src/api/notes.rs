//! Notes: comments on issues, snippets, merge requests and epics (specification, "Notes").

use crate::types::Specified;
use crate::users::User;
use crate::{NoContent, Nullable, Time};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use sha1::{Digest, Sha1};
use std::collections::BTreeMap;

crate::resource! {
    /// A comment of a user, or a system note.
    pub struct Note {
        id: u64,
        /// The text in Markdown.
        body: String,
        attachment: Option<String>,
        author: Option<User>,
        created_at: Option<Time>,
        updated_at: Option<Time>,
        /// Whether this is a system note, which the server added for a change.
        system: bool,
        noteable_id: Option<u64>,
        /// `Issue`, `MergeRequest`, `Snippet`, `Epic`, `Commit`, ….
        noteable_type: String,
        /// The number of the issue or merge request; null for snippets and epics.
        noteable_iid: Option<u64>,
    }
    unspecified {
        /// `DiffNote`, `DiscussionNote`, or nothing for a plain note.
        r#type: Nullable<String>,
        /// The position in the diff, for a `DiffNote`.
        position: Option<Position>,
        resolvable: Option<bool>,
        resolved: Option<bool>,
        resolved_by: Nullable<User>,
        resolved_at: Nullable<Time>,
        /// The suggested changes, for notes on lines of a diff.
        suggestions: Option<Vec<Suggestion>>,
        /// The ID of the thread that contained the note; set by the client, because servers do not send it with notes.
        discussion_id: Option<String>,
        project_id: Nullable<u64>,
        commit_id: Option<String>,
        /// The name of `internal` on servers before 15.0.
        confidential: Option<bool>,
        /// Whether only members from reporters on may see the note.
        internal: Option<bool>,
        /// The results of quick actions, if the text had nothing else: then there is no note.
        summary: Option<Vec<String>>,
    }
    served {
        imported: Option<bool>,
        imported_from: Option<String>,
        /// The changes that quick actions in the note made; always empty, since notes with them are not kept.
        commands_changes: Option<BTreeMap<String, Value>>,
    }
}

impl Note {
    pub fn is_of_bot(&self) -> bool {
        self.author.as_ref().is_some_and(User::is_bot)
    }

    pub fn is_edited(&self) -> bool {
        match (&self.created_at, &self.updated_at) {
            (Some(created), Some(updated)) => created != updated,
            _ => false,
        }
    }

    /// Returns whether only members from reporters on may see the note.
    pub fn is_internal(&self) -> bool {
        self.internal.or(self.confidential) == Some(true)
    }

    /// Returns the file and the line of the diff that the note refers to.
    pub fn location(&self) -> Option<(&str, Option<u64>)> {
        let position = self.position.as_ref()?;
        let path = position.new_path.as_deref().or(position.old_path.as_deref())?;
        Some((path, position.new_line.or(position.old_line)))
    }
}

crate::resource! {
    /// A position in the diff of a merge request; any field may be missing.
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
    unspecified {
        /// The range, for notes on several lines; `new_line` or `old_line` is the last of them.
        line_range: Option<LineRange>,
        /// For images: the size in pixels, and the coordinates of the point.
        width: Option<Pixels>,
        height: Option<Pixels>,
        x: Option<Pixels>,
        y: Option<Pixels>,
    }
}

/// A whole number of pixels, which some servers send as a fraction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Pixels(pub u64);

impl Specified for Pixels {}

impl<'de> Deserialize<'de> for Pixels {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Pixels, D::Error> {
        f64::deserialize(deserializer).map(|pixels| Pixels(pixels.round() as u64))
    }
}

crate::resource! {
    /// The first and the last line of a range.
    pub struct LineRange {
        start: LineRangeEnd,
        end: LineRangeEnd,
    }
}

crate::resource! {
    /// A line of the diff.
    pub struct LineRangeEnd {
        /// The hash of the path, followed by the line numbers: `…_10_12`.
        line_code: String,
        /// `new`, `old`, or null for an unchanged line.
        r#type: Option<String>,
    }
    unspecified {
        old_line: Option<u64>,
        new_line: Option<u64>,
    }
}

crate::input_object! {
    default
    /// A position in the diff of a merge request, for a new thread. Fields that are not set are omitted.
    #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(default)]
    pub struct NewPosition {
        /// `text`, `file` or `image`.
        pub position_type: String,
        pub base_sha: String,
        pub start_sha: String,
        pub head_sha: String,
        pub old_path: String,
        pub new_path: String,
        /// Set for removed and unchanged lines.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub old_line: Option<u32>,
        /// Set for added and unchanged lines.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub new_line: Option<u32>,
        /// For images: the size in pixels, and the coordinates of the point.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub width: Option<u32>,
        #[serde(skip_serializing_if = "Option::is_none")]
        pub height: Option<u32>,
        #[serde(skip_serializing_if = "Option::is_none")]
        pub x: Option<u32>,
        #[serde(skip_serializing_if = "Option::is_none")]
        pub y: Option<u32>,
        /// The range, for comments on several lines.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub line_range: Option<NewLineRange>,
    }
}

crate::input_object! {
    /// The first and the last line of a range.
    #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct NewLineRange {
        pub start: NewLineRangeEnd,
        pub end: NewLineRangeEnd,
    }
}

crate::input_object! {
    /// A line of the diff, without line numbers: servers before 18.6 refuse them in draft notes.
    #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct NewLineRangeEnd {
        pub line_code: String,
        /// `new` for added lines, `old` for removed ones.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub r#type: Option<String>,
    }
}

/// Returns the code of a line: the hash of its path, and its numbers in both files. For an added line, the old number
/// is that of the next old line; for a removed line, the new number is that of the next new line.
pub fn line_code(path: &str, old: u32, new: u32) -> String {
    format!("{}_{old}_{new}", path_hash(path))
}

/// Returns the name of a changed file on web pages: the SHA-1 of its path.
pub fn path_hash(path: &str) -> String {
    Sha1::digest(path.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

crate::resource! {
    /// A suggested replacement of the lines that a note refers to.
    pub struct Suggestion {
        id: u64,
        from_line: u64,
        to_line: u64,
        /// Whether the suggestion can be applied.
        appliable: bool,
        applied: bool,
        from_content: String,
        to_content: String,
    }
}

crate::resource! {
    /// The object that the specification shows for a single note of a snippet or epic, and for a note that consists of
    /// only an award emoji: it has the fields of a snippet.
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

/// The reply to creating a note, and to getting a note of a snippet or epic. Actual servers return a note where the
/// specification shows [`NoteObject`], so both are accepted.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum NoteReply {
    /// An ordinary note.
    Note(Box<Note>),
    /// The other object from the specification.
    Object(Box<NoteObject>),
}

impl Specified for NoteReply {
    fn restrict_to_specified(&mut self) {
        match self {
            NoteReply::Note(note) => note.restrict_to_specified(),
            NoteReply::Object(object) => object.restrict_to_specified(),
        }
    }
}

impl NoteReply {
    /// Returns the ID of the note; 0 if the server created none because the text was only a quick action.
    pub fn id(&self) -> u64 {
        match self {
            NoteReply::Note(note) => note.id,
            NoteReply::Object(object) => object.id,
        }
    }

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
            crate::json::from_part(&value).map(NoteReply::Object)
        } else {
            crate::json::from_part(&value).map(NoteReply::Note)
        };
        read.map_err(serde::de::Error::custom)
    }
}

crate::endpoints! {
    section "Notes";

    /// Lists the notes.
    GET "/notes" of on: Noteable [merge_request, issue, snippet, epic] => Vec<Note>, about Notes;
    struct ListNotes {
        /// `asc` or `desc` (default).
        sort: Option<String>,
        /// `created_at` (default) or `updated_at`.
        order_by: Option<String>,
    }

    /// Gets a single note.
    GET "/notes/{note_id}" of on: Noteable [merge_request, issue, snippet, epic] => NoteReply, about Notes;
    struct GetNote { note_id: u64 }

    /// Writes a comment.
    POST "/notes" of on: Noteable [merge_request, issue, snippet, epic] => NoteReply,
    outdates [Notes, Participants, MergeRequest, MergeRequests, Issue, Issues, Todos, Events];
    struct CreateNote {
        body: String,
        /// The time of the comment, if not now; only on issues.
        created_at: Option<Time>,
        /// Whether only members from reporters on may see it (since 15.0); earlier servers ignore it.
        internal: Option<bool>,
    }

    /// Updates a note.
    PUT "/notes/{note_id}" of on: Noteable [merge_request, issue, snippet, epic] => Note,
    outdates [Notes];
    struct UpdateNote { note_id: u64, body: String }

    /// Deletes a note.
    DELETE "/notes/{note_id}" of on: Noteable [merge_request, issue, snippet, epic] => NoContent,
    outdates [Notes, MergeRequest, MergeRequests, Issue, Issues];
    struct DeleteNote { note_id: u64 }
}
