//! The effects of commands of a user that depend on its tab.

use super::keys::{Keys, UserKey, confirm_removal};
use crate::app::action::Action;
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::pane::Pane;
use crate::app::view::View;
use crate::domain::public_key::Family;
use crate::parts::add_key::KeyOwner;
use crate::parts::forms;

/// A tab of a user.
pub(super) trait UserTab: Pane {
    /// Returns the family of the keys that it lists.
    fn family(&self) -> Option<Family> {
        None
    }
    /// Moves the focus to where it is when the tab is selected.
    fn reset_focus(&mut self);
    /// Toggles the mark of the item under the cursor, if it can be marked.
    fn mark(&mut self, _cx: &mut Cx) {}
    /// Returns an error unless what is shown or selected can be deleted.
    fn can_delete(&self, view: &View) -> Result<(), Disabled>;
    /// Returns the action that asks for confirmation to delete it.
    fn deletion(&self, view: &View) -> Option<Action>;
}

impl<K: UserKey> UserTab for Keys<K> {
    fn family(&self) -> Option<Family> {
        Some(K::FAMILY)
    }

    fn reset_focus(&mut self) {
        self.focus_list();
    }

    fn mark(&mut self, cx: &mut Cx) {
        Keys::mark(self, cx);
    }

    fn can_delete(&self, view: &View) -> Result<(), Disabled> {
        match self.source.who.key_owner(view).ok_or("the user has not loaded yet")? {
            KeyOwner::Own => {}
            KeyOwner::Of(..) if K::FAMILY == Family::Gpg => return Err("only its owner can remove a GPG key".into()),
            KeyOwner::Of(..) => forms::administrator(view)?,
        }
        self.has_row(view)
    }

    fn deletion(&self, view: &View) -> Option<Action> {
        confirm_removal(self, view)
    }
}
