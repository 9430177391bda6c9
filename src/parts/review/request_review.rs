//! Asking for reviews, also again: a picker of people, and a quick action, because the API has no operation for it.

use crate::api::input::{Input, InputKind};
use crate::api::merge_requests::{GetMergeRequest, ListReviewers, MergeRequest};
use crate::api::notes::{CreateNote, DeleteNote, NoteReply};
use crate::api::{Id, Noteable};
use crate::app::action::{Action, follow_up};
use crate::app::command_info::Disabled;
use crate::app::complete::Complete;
use crate::app::outbox::BY_QUICK_ACTIONS;
use crate::app::overlay::form::{Form, Widget};
use crate::app::tone::Tone;
use crate::app::view::View;
use crate::store::Write;

/// The quick action. A server that does not know it posts it as a comment.
const COMMAND: &str = "/request_review";

/// Returns whether the server is not known to ignore the quick action.
pub fn can_request(view: &View) -> Result<(), Disabled> {
    match view.store.is_unsupported_route(COMMAND) {
        true => Err("the server does not know /request_review".into()),
        false => Ok(()),
    }
}

const INPUTS: &[Input] = &[Input { name: "reviewers", kind: InputKind::List, required: true, help: "" }];

/// Returns the picker of the people to ask; those whose review is over are marked at first.
pub fn form(project: &Id, known: &MergeRequest, view: &View) -> Form {
    let on = Noteable::MergeRequest { project: project.clone(), iid: known.iid };
    let title = format!("Request review of !{}", known.iid);
    let act = move |inputs: serde_json::Map<String, serde_json::Value>| {
        let names = inputs.get("reviewers").and_then(|names| names.as_array()).into_iter().flatten();
        Ok(request(&on, &names.filter_map(|name| name.as_str()).collect::<Vec<_>>()))
    };
    let marked = reviewed_by(project, known, view).join(", ");
    Form::acting(title.clone(), "request the review", title, INPUTS, act)
        .field("reviewers", |field| {
            field.widget(Widget::Words(Complete::Users(Some(project.clone())))).text(marked);
        })
        .picker()
}

/// Returns the action that asks a reviewer for another review; `None` for anybody who has not reviewed.
pub fn again(project: &Id, iid: u64, name: &str, view: &View) -> Option<Action> {
    let known = view.store.get(&GetMergeRequest::new(project.clone(), iid)).value?;
    let has_reviewed = reviewed_by(project, known, view).iter().any(|reviewer| reviewer == name);
    let on = Noteable::MergeRequest { project: project.clone(), iid };
    (has_reviewed && can_request(view).is_ok()).then(|| request(&on, &[name]))
}

/// Returns the names of the reviewers who have reviewed; of all reviewers where the server does not tell.
fn reviewed_by(project: &Id, known: &MergeRequest, view: &View) -> Vec<String> {
    let list = view.store.list(&ListReviewers { id: project.clone(), merge_request_iid: known.iid });
    if !list.is_loaded {
        return known.reviewers.iter().flatten().map(|user| user.username.clone()).collect();
    }
    let waits = |state: &str| matches!(state, "unreviewed" | "review_started");
    let reviewed = list.iter().filter(|reviewer| !waits(&reviewer.state));
    reviewed.map(|reviewer| reviewer.user.username.clone()).collect()
}

/// Returns the action that asks people for a review, and shows what the server did.
fn request(on: &Noteable, names: &[&str]) -> Action {
    let mentions: Vec<String> = names.iter().map(|name| format!("@{}", name.trim_start_matches('@'))).collect();
    let body = format!("{COMMAND} {}", mentions.join(" "));
    let what = format!("request a review of {} from {}", on.short(), names.join(" and "));
    let create = CreateNote { on: on.clone(), body, ..CreateNote::default() };
    let write = Write { outdates: BY_QUICK_ACTIONS, ..Write::new(&create, what) };
    let on = on.clone();
    let then = follow_up::<CreateNote>(move |outcome, cx| {
        let Some(note) = outcome.ok().and_then(NoteReply::note) else { return };
        if note.id > 0 {
            // The server posted the command as a comment.
            cx.act(Action::Unsupported(COMMAND));
            let delete = DeleteNote { on: on.clone(), note_id: note.id };
            let said = follow_up::<DeleteNote>(|outcome, cx| {
                let then = if outcome.is_ok() { "which was deleted" } else { "which could not be deleted" };
                cx.say(
                    Tone::Warning,
                    format!(
                        "No review requested: the server does not know {COMMAND}. It posted it as a comment, {then}."
                    ),
                );
            });
            let write = Write::new(&delete, format!("delete a comment on {}", on.short()));
            return cx.act(Action::SendThen(None, write, said));
        }
        if let Some(summary) = note.summary.as_ref().map(|summary| summary.join(" ")).filter(|text| !text.is_empty()) {
            let tone = if summary.contains("Could not apply") { Tone::Warning } else { Tone::Good };
            cx.say(tone, summary);
        }
    });
    Action::SendThen(None, write, then)
}
