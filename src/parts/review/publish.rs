//! Submitting a review: one form for the summary and the approval, and the requests that follow.

use crate::api::Noteable;
use crate::api::decisions::Approve;
use crate::api::draft_notes::PublishReview;
use crate::api::endpoint::{Input, InputKind};
use crate::app::action::{Action, FollowUp, ReviewSubmission};
use crate::app::context::Cx;
use crate::app::outbox::Draft;
use crate::app::overlay::form::{Form, Widget};
use crate::app::tone::Tone;
use crate::parts::review::draft_list::DraftList;
use crate::parts::review::drafts::{self, Drafts};
use crate::store::Write;
use crate::ui::text;
use std::rc::Rc;

/// The summary and the switches of a review. What else a server can do with a review becomes another switch.
const INPUTS: &[Input] = &[
    Input { name: "summary", kind: InputKind::Text, required: false, help: "A summary, or nothing. Markdown." },
    Input { name: "approve", kind: InputKind::Bool, required: false, help: "refused if new commits arrive" },
];

/// The request that approves the merge request, if the user may.
pub type Approval = Option<Approve>;

/// Opens the form for the summary and the approval, which submits the review on `on`.
pub fn submit(on: &Noteable, drafts: &Drafts, approval: Approval, cx: &mut Cx) {
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
    let key = on.new_key(view.drafts, view.now);
    let (can_approve, project_name) = (approval.is_some(), project.clone());
    let on = on.clone();
    let act = move |inputs: serde_json::Map<String, serde_json::Value>| {
        let summary = inputs.get("summary").and_then(|text| text.as_str()).unwrap_or_default().trim().to_owned();
        let approves = inputs.get("approve").and_then(serde_json::Value::as_bool).unwrap_or(false);
        let summary = Some(summary).filter(|text| !text.is_empty());
        let summary = summary.map(|text| (key.clone(), Draft { text, ..Draft::new(on.clone()) }));
        let count = here.len() + usize::from(summary.is_some());
        let approval = approval.clone().filter(|_| approves);
        let publishes = has_draft_notes && pending + here.len() > 0;
        let then = match (publishes, approval) {
            (false, approval) => approval.map(|approve| Action::Send(approving(&approve))),
            (true, approval) => {
                let publish = PublishReview { id: project.clone(), merge_request_iid: iid };
                let write = Write::new(&publish, format!("submit your review of !{iid}"));
                let approve: FollowUp = Rc::new(move |outcome, cx| {
                    if let Some(approve) = approval.as_ref().filter(|_| outcome.is_ok()) {
                        cx.act(Action::Send(approving(approve)));
                    }
                });
                Some(Action::SendThen(None, write, approve))
            }
        };
        if count == 0 && then.is_none() {
            return Action::Say(
                Tone::Warning,
                "There is nothing to submit: no comment, no summary, no approval.".into(),
            );
        }
        let list = (count > 0).then(|| Action::OpenOverlay(Box::new(DraftList::new(on.clone()))));
        let (keys, then) = (here.clone(), then.map(Box::new));
        let review = ReviewSubmission { keys, summary, as_draft_notes: has_draft_notes, then };
        Action::All([Action::SubmitReview(review)].into_iter().chain(list).collect())
    };
    let (title, key) = (format!("Submit review of !{iid} · {count}"), format!("review {}!{iid}", project_name));
    let form = Form::acting(title, "submit the review", key, INPUTS, act)
        .field("summary", |field| _ = field.widget(Widget::Long))
        .field("approve", |field| _ = field.switch('a'))
        .letter();
    let form = if can_approve { form } else { form.without(&["approve"]) };
    form.open(cx);
}

fn approving(approve: &Approve) -> Write {
    Write::new(approve, format!("approve !{}", approve.merge_request_iid))
}
