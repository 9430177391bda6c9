//! Comments on changes, from the draft to the thread in the diff, and reviews.

pub mod apply_suggestions;
mod comment_images;
pub mod commit_notes;
pub mod diff_comments;
pub mod draft_list;
pub mod drafts;
pub mod position;
pub mod publish;
pub mod request_review;
pub mod suggestions;
pub mod thread_code;
pub mod thread_frame;
pub mod thread_layout;
pub mod threads;

use crate::api::users::User;
use crate::app::outbox::{Draft, DraftState, Progress};
use crate::app::view::View;
use crate::parts::review::drafts::DraftId;
use crate::ui::theme::Role;
use crate::ui::{glyph, text};

/// Returns the state of a draft in a few words, and its role.
pub fn state_of(view: &View, id: &DraftId, draft: &Draft) -> (String, Role) {
    let (words, role) = progress_of(view, id, draft);
    match &draft.program {
        Some(program) => (format!("by {}{}{words}", text::sanitize(program), glyph::separator()), role),
        None => (words, role),
    }
}

fn progress_of(view: &View, id: &DraftId, draft: &Draft) -> (String, Role) {
    match (id.progress(view), &draft.state) {
        (Some(Progress::Sending), _) => ("sending…".into(), Role::Running),
        (Some(Progress::Uploading), _) => ("uploading its files…".into(), Role::Running),
        (Some(Progress::Checking), _) => ("checking whether it arrived…".into(), Role::Running),
        (Some(Progress::Waiting | Progress::Claiming), _) => ("waiting to be sent".into(), Role::Pending),
        (None, DraftState::Begun) => (view.drafts.whereabouts().into(), Role::Dim),
        (None, DraftState::Kept) if id.key().is_none() => ("in your review".into(), Role::Warning),
        (None, DraftState::Kept) => ("draft (unsent)".into(), Role::Warning),
        (None, DraftState::Sending { .. }) => ("unknown whether it arrived".into(), Role::Failed),
        (None, DraftState::Unknown { why, .. }) => (format!("unknown: {why}"), Role::Failed),
        (None, DraftState::Failed { why, .. }) => (format!("not sent: {why}"), Role::Failed),
    }
}

/// Returns the beginning of a reply to `body`: its lines quoted, and a mention of the author.
pub fn quoted_reply(body: &str, author: Option<&User>) -> String {
    let lines: Vec<String> = body.trim_end().lines().map(|line| format!("> {line}")).collect();
    let name = author.map(|author| format!("@{} ", author.username)).unwrap_or_default();
    format!("{}\n\n{name}", lines.join("\n"))
}
