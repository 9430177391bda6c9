//! Submitting a review: one form for the summary and the verdict, and the requests that follow.

use crate::api::Noteable;
use crate::api::draft_notes::PublishReview;
use crate::api::identity::GetMetadata;
use crate::api::input::{Input, InputKind};
use crate::app::action::{Action, Published, ReviewSubmission};
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::outbox::{Draft, NoteableExt, Verdict};
use crate::app::overlay::form::Form;
use crate::app::overlay::markdown_input::TextContext;
use crate::app::tone::Tone;
use crate::app::view::View;
use crate::domain::waiting_for::REQUESTED_CHANGES;
use crate::parts::review::draft_list::DraftList;
use crate::parts::review::drafts::{self, Drafts};
use crate::store::Load;
use crate::ui::text;
use std::rc::Rc;

/// The summary and the verdicts of a review.
const INPUTS: &[Input] = &[
    Input { name: "summary", kind: InputKind::Text, required: false, help: "A summary, or nothing. Markdown." },
    Input { name: "comment", kind: InputKind::Bool, required: false, help: "" },
    Input { name: "approve", kind: InputKind::Bool, required: false, help: "refused if new commits arrive" },
    Input { name: "request_changes", kind: InputKind::Bool, required: false, help: "also takes back your approval" },
];

/// The verdicts that the user can give on a merge request.
pub struct Verdicts {
    /// The reason why it cannot be approved by the user.
    pub approve: Result<(), Disabled>,
    /// The reason why the user cannot request changes.
    pub request_changes: Result<(), Disabled>,
    /// The head commit that the user sees.
    pub sha: Option<String>,
    /// Whether the user has requested changes, so that any other verdict withdraws that.
    pub has_requested: bool,
}

/// Opens the form for the summary and the verdict, which submits the review on `on`.
pub fn submit(on: &Noteable, drafts: &Drafts, verdicts: Verdicts, cx: &mut Cx) {
    let Noteable::MergeRequest { project, iid } = on.clone() else { return };
    let view = cx.view;
    let has_draft_notes = on.has_draft_notes(&view);
    let pending = drafts::draft_notes(on, &view).len();
    let here = drafts.to_send();
    let count = text::count_noun(pending.saturating_add(here.len()) as u64, "comment");
    let count = match (here.len(), pending) {
        (0, 0) => "no comments".to_owned(),
        // Comments that the server does not have yet may be sent from here alone.
        (here, pending) if has_draft_notes && here > 0 && pending > 0 => format!("{count}, {here} on this computer"),
        _ => count,
    };
    let before = on.newest_note(&view);
    let key = on.new_key(view.drafts, view.now);
    let verdict_key = key.next();
    let (project_name, context) = (project.clone(), TextContext::comment(on));
    let Verdicts { approve, request_changes, sha, has_requested } = verdicts;
    let on = on.clone();
    let act = move |inputs: serde_json::Map<String, serde_json::Value>| {
        let summary = inputs.get("summary").and_then(|text| text.as_str()).unwrap_or_default().trim().to_owned();
        let is_on = |name: &str| inputs.get(name).and_then(serde_json::Value::as_bool).unwrap_or(false);
        let summary = Some(summary).filter(|text| !text.is_empty());
        let summary = summary.map(|text| (key.clone(), Draft { text, ..Draft::new(on.clone()) }));
        let verdict = match () {
            () if is_on("approve") => Some(Verdict::Approve { sha: sha.clone() }),
            () if is_on("request_changes") => Some(Verdict::RequestChanges),
            () if has_requested => Some(Verdict::Withdraw),
            () => None,
        };
        let count = here.len() + usize::from(summary.is_some());
        if count + pending == 0 && verdict.is_none() {
            return Ok(Action::Say(
                Tone::Warning,
                "There is nothing to submit: no comment, no summary, no verdict.".into(),
            ));
        }
        let has_comments = pending + here.len() > 0;
        let decides = matches!(verdict, Some(Verdict::RequestChanges | Verdict::Withdraw));
        let publish = (has_draft_notes && (has_comments || decides)).then(|| {
            let reviewer_state = state_after(verdict.as_ref());
            PublishReview { id: project.clone(), merge_request_iid: iid, reviewer_state, note: None }
        });
        let verdict = verdict.map(|verdict| (verdict_key.clone(), Draft::of_verdict(on.clone(), verdict)));
        let published = publish.as_ref().and_then(|_| published(&on, before));
        let list = (count > 0).then(|| Action::OpenOverlay(Box::new(DraftList::new(on.clone()))));
        let review = ReviewSubmission {
            keys: here.clone(),
            summary,
            as_draft_notes: has_draft_notes,
            verdict,
            publish,
            published,
        };
        Ok(Action::All([Action::SubmitReview(Box::new(review))].into_iter().chain(list).collect()))
    };
    let (title, key) = (format!("Submit review of !{iid} · {count}"), format!("review {}!{iid}", project_name));
    let reason = |can: Result<(), Disabled>| can.err().map(|why| why.to_string());
    let comment = if has_requested { "also withdraws your request for changes" } else { "" };
    Form::acting(title, "submit the review", key, INPUTS, act)
        .field("summary", |field| _ = field.markdown(context))
        .field("comment", |field| _ = field.switch('c').help(comment))
        .field("approve", |field| _ = field.switch('a').disabled(reason(approve)))
        .field("request_changes", |field| _ = field.switch('r').disabled(reason(request_changes)))
        .letter()
        // The version tells which requests publish the comments, too.
        .propose(|_, _| vec![Load::single(&GetMetadata {}).optional().into()], |_, _| Vec::new())
        .open(cx);
}

/// Returns the state of the review that is sent with it. An approval sets its own.
fn state_after(verdict: Option<&Verdict>) -> Option<String> {
    match verdict {
        Some(Verdict::Approve { .. }) => None,
        Some(Verdict::RequestChanges) => Some(REQUESTED_CHANGES.to_owned()),
        Some(Verdict::Withdraw) | None => Some("reviewed".to_owned()),
    }
}

/// Returns the draft notes that a review of `on` publishes; all notes up to `before` are older than those.
fn published(on: &Noteable, before: u64) -> Option<Published> {
    let (list, on) = (on.list_draft_notes()?, on.clone());
    let drafts = move |view: &View| drafts::draft_notes(&on, view).into_iter().map(|(_, draft)| draft).collect();
    Some(Published { first: Load::list(&list, 1), drafts: Rc::new(drafts), before })
}

/// Returns the action that withdraws the user's request for changes.
pub fn withdraw(on: &Noteable, cx: &Cx) -> Option<Action> {
    let Noteable::MergeRequest { project, iid } = on.clone() else { return None };
    let key = on.new_key(cx.view.drafts, cx.view.now);
    let verdict = Verdict::Withdraw;
    let reviewer_state = state_after(Some(&verdict));
    let publish = PublishReview { id: project, merge_request_iid: iid, reviewer_state, note: None };
    let publish = Some(publish).filter(|_| on.has_draft_notes(&cx.view));
    let verdict = Some((key, Draft::of_verdict(on.clone(), verdict)));
    let review =
        ReviewSubmission { keys: Vec::new(), summary: None, as_draft_notes: false, verdict, publish, published: None };
    Some(Action::SubmitReview(Box::new(review)))
}
