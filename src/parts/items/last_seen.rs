//! Changes of a merge request since the user last viewed it; its head and number of notes at that time are kept on
//! disk.

use crate::api::Time;
use crate::api::merge_requests::MergeRequest;
use crate::app::action::Action;
use crate::app::state::{SeenChange, SeenMergeRequest};
use crate::app::view::View;
use jiff::Timestamp;

/// The most important change since the last view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangesSince {
    /// The head is another commit.
    Commits,
    /// The number of new notes.
    Notes(u64),
    /// Any other change, such as labels or the state.
    Changed,
}

impl ChangesSince {
    /// Returns a short description.
    pub fn words(self) -> String {
        match self {
            ChangesSince::Commits => "new commits".into(),
            ChangesSince::Notes(1) => "1 new comment".into(),
            ChangesSince::Notes(count) => format!("{count} new"),
            ChangesSince::Changed => "changed".into(),
        }
    }
}

fn current_state(merge_request: &MergeRequest) -> SeenMergeRequest {
    SeenMergeRequest {
        sha: merge_request.sha.as_deref().unwrap_or_default().to_owned(),
        notes: merge_request.user_notes_count.unwrap_or_default(),
        at: merge_request.updated_at.as_ref().map(|at| at.as_str().to_owned()).unwrap_or_default(),
    }
}

fn instant(seen: &SeenMergeRequest) -> Option<Timestamp> {
    Time(seen.at.clone()).instant()
}

/// Returns the change since the last view; `None` if there is none or the user has not viewed it yet.
pub fn changes_since_seen(view: &View, merge_request: &MergeRequest) -> Option<ChangesSince> {
    let then = view.seen.merge_requests.get(&merge_request.id)?;
    let now = current_state(merge_request);
    match () {
        () if !now.sha.is_empty() && !then.sha.is_empty() && now.sha != then.sha => Some(ChangesSince::Commits),
        () if now.notes > then.notes => Some(ChangesSince::Notes(now.notes - then.notes)),
        // Texts do not compare: the server may have changed its offset.
        () if instant(&now) > instant(then) => Some(ChangesSince::Changed),
        () => None,
    }
}

/// Returns the action that saves the current state as viewed; `None` if it is already saved.
pub fn remember(view: &View, merge_request: &MergeRequest) -> Option<Action> {
    let (id, now) = (merge_request.id, current_state(merge_request));
    let is_news = view.seen.merge_requests.get(&id) != Some(&now);
    is_news.then_some(Action::Seen(SeenChange::MergeRequest(id, now)))
}
