//! The comments on the commits of a merge request, which are shown among its notes.

use super::reads::Reads;
use crate::api::Time;
use crate::api::commits::{CommitComment, ListCommitComments};
use crate::api::notes::Note;
use crate::app::outbox::DiffPosition;
use crate::app::view::View;
use crate::parts::rendered_markdown;
use crate::parts::review::threads;
use crate::store::{Revision, Rows};

/// The `noteable_type` of a note that is a comment on a commit.
pub const COMMIT_NOTEABLE_TYPE: &str = "Commit";
/// The maximum number of commits whose comments are loaded.
const MAX_COMMITS: usize = 10;

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

/// Returns the lists of comments on the newest commits.
pub fn lists(reads: &Reads, view: &View) -> Vec<ListCommitComments> {
    let commits = view.store.list(&reads.commits());
    let newest = commits.iter().take(MAX_COMMITS);
    newest.map(|commit| ListCommitComments { id: reads.project.clone(), sha: commit.id.clone() }).collect()
}

/// Returns the loaded comments on the newest commits, with the SHA of each commit.
pub fn loaded<'a>(reads: &Reads, view: &View<'a>) -> Vec<(String, Rows<'a, CommitComment>)> {
    lists(reads, view).into_iter().map(|list| (list.sha.clone(), view.store.list(&list))).collect()
}

/// Returns the commits with the revisions of their comments. The SHA is needed because revisions alone do not identify
/// the commits.
pub fn revisions(rows: &[(String, Rows<CommitComment>)]) -> Vec<(String, Revision)> {
    rows.iter().map(|(sha, rows)| (sha.clone(), rows.revision)).collect()
}

/// Converts a comment on a commit to a note that names its position.
fn as_note(sha: &str, comment: &CommitComment) -> Note {
    let (position, rest) = threads::comment_place(sha, comment);
    let head = match position.as_ref().and_then(DiffPosition::note_header) {
        Some(head) => head,
        // A comment on the commit as a whole gets a heading with the SHA.
        None => format!("_of commit {}_\n\n", sha.get(..8).unwrap_or(sha)),
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
    /// Updates the notes, if the comments changed.
    pub fn sync(&mut self, reads: &Reads, view: &View) {
        let rows = loaded(reads, view);
        let inputs = revisions(&rows);
        if self.inputs == inputs {
            return;
        }
        let all = rows.iter().flat_map(|(sha, rows)| rows.iter().map(move |comment| (sha, comment)));
        let mut notes: Vec<Note> = all.map(|(sha, comment)| as_note(sha, comment)).collect();
        notes.sort_by_key(|note| note.created_at.as_ref().and_then(Time::instant));
        // These IDs count down from the maximum, so that they do not collide with those of notes.
        for (at, note) in notes.iter_mut().enumerate() {
            note.id = u64::MAX - at as u64;
        }
        let notes = notes.into_iter().map(|note| (rendered_markdown::identity(&note.body), note)).collect();
        *self = CommitNotes { inputs, notes, revision: self.revision + 1 };
    }
}
