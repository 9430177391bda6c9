//! Comments on commits as notes, so that they are shown like those on other objects.

use super::threads;
use crate::api::Time;
use crate::api::commits::CommitComment;
use crate::api::notes::Note;
use crate::app::outbox::DiffPosition;
use crate::parts::text::rendered_markdown;
use crate::store::{Revision, Rows};

/// The `noteable_type` of a note that is a comment on a commit.
pub const COMMIT_NOTEABLE_TYPE: &str = "Commit";

/// The comments on commits as notes, oldest first.
#[derive(Default)]
pub struct CommitNotes {
    /// The commits and revisions that this was built from.
    inputs: Vec<(String, Revision)>,
    /// The notes, each with a key of its text.
    pub notes: Vec<(String, Note)>,
    /// A number that changes with the notes.
    pub revision: u64,
}

/// Returns the commits with the revisions of their comments. The SHA is needed because revisions alone do not identify
/// the commits.
pub fn revisions(rows: &[(String, Rows<CommitComment>)]) -> Vec<(String, Revision)> {
    rows.iter().map(|(sha, rows)| (sha.clone(), rows.revision)).collect()
}

/// Converts a comment on a commit to a note that names its position. If `names_commit`, a comment on the commit as a
/// whole names that.
fn as_note(sha: &str, comment: &CommitComment, names_commit: bool) -> Note {
    let (position, rest) = threads::comment_place(sha, comment);
    let head = match position.as_ref().and_then(DiffPosition::note_header) {
        Some(head) => head,
        None if names_commit => format!("_of commit {}_\n\n", sha.get(..8).unwrap_or(sha)),
        None => String::new(),
    };
    Note {
        body: format!("{head}{rest}"),
        author: comment.author.clone(),
        created_at: comment.created_at.clone(),
        noteable_type: COMMIT_NOTEABLE_TYPE.to_owned(),
        ..Note::default()
    }
}

impl CommitNotes {
    /// Updates the notes, if the comments changed. `names_commit` is set if the comments of several commits are shown
    /// together.
    pub fn sync(&mut self, rows: &[(String, Rows<CommitComment>)], names_commit: bool) {
        let inputs = revisions(rows);
        if self.inputs == inputs {
            return;
        }
        let all = rows.iter().flat_map(|(sha, rows)| rows.iter().map(move |comment| (sha, comment)));
        let mut notes: Vec<Note> = all.map(|(sha, comment)| as_note(sha, comment, names_commit)).collect();
        notes.sort_by_key(|note| note.created_at.as_ref().and_then(Time::instant));
        // These IDs count down from the maximum, so that they do not collide with those of notes.
        for (at, note) in notes.iter_mut().enumerate() {
            note.id = u64::MAX - at as u64;
        }
        let notes = notes.into_iter().map(|note| (rendered_markdown::identity(&note.body), note)).collect();
        *self = CommitNotes { inputs, notes, revision: self.revision + 1 };
    }
}
