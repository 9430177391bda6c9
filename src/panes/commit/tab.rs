//! The effects of commands of a commit that depend on its tab.

use crate::app::pane::Pane;
use crate::app::view::View;
use crate::parts::comments::Target;

/// A tab of a commit.
pub trait CommitTab: Pane {
    /// Returns the comment or draft under the cursor.
    fn target<'a>(&'a self, view: &View<'a>) -> Option<Target<'a>>;
    /// Moves to the next or the previous comment.
    fn step_comment(&mut self, forward: bool);
    /// Goes to the next or previous file; returns `false` if the tab has no files.
    fn step_file(&mut self, _forward: bool) -> bool {
        false
    }
}
