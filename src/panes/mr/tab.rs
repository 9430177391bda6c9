//! The effects of commands of a merge request that depend on its tab.

use crate::api::notes::{Note, Suggestion};
use crate::api::users::User;
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::outbox::DiffPosition;
use crate::app::pane::Pane;
use crate::app::view::View;
use crate::parts::review::commit_notes::COMMIT_NOTEABLE_TYPE;
use crate::parts::review::drafts::DraftId;
use crate::parts::review::threads;

/// The reason why nothing can be opened.
pub const NOTHING_TO_OPEN: &str = "nothing under the cursor can be opened";

/// A tab of a merge request.
pub trait TabPart: Pane {
    /// Returns whether the item under the cursor can be opened, or why not.
    fn can_enter(&self, view: &View) -> Result<(), Disabled>;
    /// Returns the comment or draft under the cursor.
    fn target(&self, _view: &View) -> Option<Target> {
        None
    }
    /// Returns whether there are items to step through and to fold, or why not.
    fn has_steps(&self) -> Result<(), Disabled> {
        Err("only on the Overview and Changes tabs".into())
    }
    /// Goes to the next or previous item.
    fn step(&mut self, _forward: bool) {}
    /// Goes to the next or previous unresolved thread; returns `false` if there is none.
    fn step_thread(&mut self, _forward: bool) -> bool {
        false
    }
    /// Folds or unfolds the item under the cursor.
    fn fold(&mut self, _cx: &mut Cx) {}
}

/// The comment or draft under the cursor. It is built for a single key press and not stored.
#[allow(clippy::large_enum_variant)]
pub enum Target {
    /// A note, or a comment on a commit.
    Comment {
        note: Option<u64>,
        author: Option<User>,
        position: Option<DiffPosition>,
        head: String,
        body: String,
        discussion: Option<String>,
        suggestions: Vec<Suggestion>,
    },
    /// A draft, by its key.
    Draft(DraftId),
    /// System notes.
    System,
}

impl Target {
    /// Returns the target of a note.
    pub fn of(note: &Note) -> Target {
        let (position, rest) = threads::place(note);
        let head = note.body.get(..note.body.len() - rest.len()).unwrap_or_default().to_owned();
        // The ID of a comment on a commit is not the ID of a note.
        let number = Some(note.id).filter(|_| note.noteable_type != COMMIT_NOTEABLE_TYPE);
        Target::Comment {
            note: number,
            author: note.author.clone(),
            position,
            head,
            body: rest.to_owned(),
            discussion: note.discussion_id.clone(),
            suggestions: note.suggestions.clone().unwrap_or_default(),
        }
    }
}
