//! Actions that wait for comments to be sent, and the search for those that a review publishes.

use super::action::{Action, FollowUp, Published};
use super::outbox::Draft;
use super::text_key::DraftKey;
use std::rc::Rc;

/// Actions and searches that wait for drafts to be sent.
#[derive(Default)]
pub(super) struct Publishing {
    /// Actions to run once the server has the drafts with these keys.
    pub after_sending: Vec<AfterSending>,
    /// The draft that publishes others once it is sent, and the callback that looks for them then.
    pub by_draft: Option<(DraftKey, FollowUp)>,
}

/// An action that waits for drafts.
pub(super) struct AfterSending {
    pub keys: Vec<DraftKey>,
    pub then: Action,
    /// The draft notes that the action publishes.
    pub published: Option<Published>,
}

/// Returns the callback for a write that publishes drafts; all notes up to `before` are older.
pub fn check_after(drafts: Vec<Draft>, before: u64) -> FollowUp {
    Rc::new(move |outcome, cx| {
        if outcome.is_ok() {
            cx.act(Action::CheckPublished { drafts: drafts.clone(), before });
        }
    })
}
