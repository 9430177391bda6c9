//! The effects of commands of a merge request that depend on its tab.

use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::pane::Pane;
use crate::app::view::View;
use crate::parts::comments::Target;

/// The reason why nothing can be opened.
pub const NOTHING_TO_OPEN: &str = "nothing under the cursor can be opened";

/// A tab of a merge request.
pub trait TabPart: Pane {
    /// Returns whether the item under the cursor can be opened, or why not.
    fn can_enter(&self, view: &View) -> Result<(), Disabled>;
    /// Returns the comment or draft under the cursor.
    fn target<'a>(&'a self, _view: &View<'a>) -> Option<Target<'a>> {
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
