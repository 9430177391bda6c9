//! Discussions as data, and the operations that read them. They are apart from those that write, as for notes.

use crate::api::notes::reads::Note;

crate::resource! {
    /// A thread: a note with its replies.
    pub struct Discussion {
        /// The ID: 40 hexadecimal digits.
        id: String,
        /// Whether the thread is a single comment; a reply turns it into a thread.
        individual_note: bool,
        /// The notes, oldest first.
        notes: Vec<Note>,
    }
}

impl From<Discussion> for Vec<Note> {
    fn from(discussion: Discussion) -> Vec<Note> {
        let (id, mut notes) = (discussion.id, discussion.notes);
        for note in &mut notes {
            note.discussion_id = Some(id.clone());
        }
        notes
    }
}

crate::endpoints! {
    unspecified section "Discussions";

    /// Lists the threads, oldest first, including single comments and system notes.
    GET "/discussions" of on: Noteable [merge_request, issue, snippet] => Vec<Discussion>;
    struct ListDiscussions {}
}
