//! The effects of commands of a commit that depend on its tab.

use crate::api::users::User;
use crate::app::outbox::DiffPosition;
use crate::app::pane::Pane;
use crate::app::view::View;
use crate::parts::review::drafts::DraftId;

/// A tab of a commit.
pub trait CommitTab: Pane {
    /// Returns the key of the draft under the cursor.
    fn draft(&self) -> Option<&DraftId>;
    /// Returns the comment under the cursor.
    fn comment<'a>(&'a self, view: &View<'a>) -> Option<Quoted<'a>>;
    /// Moves to the next or the previous comment.
    fn step_comment(&mut self, forward: bool);
    /// Goes to the next or previous file; returns `false` if the tab has no files.
    fn step_file(&mut self, _forward: bool) -> bool {
        false
    }
}

/// A comment that a reply can quote.
pub struct Quoted<'a> {
    /// The lines that it is about; `None` if it is about the whole commit.
    pub position: Option<DiffPosition>,
    /// The text without the position that some servers write in front of it.
    pub body: &'a str,
    /// The author, if known.
    pub author: Option<&'a User>,
}
