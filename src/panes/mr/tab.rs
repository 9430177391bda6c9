//! The effects of commands of a merge request that depend on its tab.

use crate::app::command_info::Disabled;
use crate::app::pane::Pane;
use crate::app::view::View;

/// The reason why nothing can be opened.
pub const NOTHING_TO_OPEN: &str = "nothing under the cursor can be opened";

/// A tab of a merge request.
pub trait TabPart: Pane {
    /// Returns whether the item under the cursor can be opened, or why not.
    fn can_enter(&self, view: &View) -> Result<(), Disabled>;
}
