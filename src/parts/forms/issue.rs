//! Forms for creating and editing issues.

use crate::api::issues::{self, CreateIssue, GetIssue, Issue, UpdateIssue};
use crate::api::repository::GetRawBlob;
use crate::api::{Endpoint, Id, Time};
use crate::app::action::Action;
use crate::app::complete::{Complete, ISSUE_TEMPLATES};
use crate::app::overlay::form::{FieldTexts, Form, Widget};
use crate::app::overlay::markdown_input::TextContext;
use crate::app::place::Place;
use crate::app::view::View;
use crate::domain::quick_actions::On;
use crate::parts::items::sent_quick_actions;
use crate::store::Load;

const FIRST_FIELDS: &[&str] = &["title", "description", "labels", "assignee_ids", "milestone_id", "due_date"];

fn fields(form: Form, id: &Id) -> Form {
    form.first(FIRST_FIELDS)
        .also(|issue: &Issue, typed| sent_quick_actions::report(issue.into(), typed.changed("description")))
        .field("description", |field| _ = field.markdown(Some(TextContext::description(id, On::Issue))))
        .field("labels", |field| {
            field.widget(Widget::Words(Complete::Labels(Some(id.clone())))).help("");
        })
        .field("assignee_ids", |field| {
            field.label("assignees").widget(Widget::Names(Complete::Users(Some(id.clone())))).default("Unassigned");
            field.help("Some servers take only one.");
        })
        .field("milestone_id", |field| {
            field.widget(Widget::Named(Complete::Milestones(Some(id.clone())))).help("").default("none");
        })
        .field("due_date", |field| _ = field.widget(Widget::Date).default("none").help(""))
        .field("confidential", |field| _ = field.help("yes: only members of the project see it."))
        .field("issue_type", |field| {
            field.label("type").widget(Widget::Choice(issues::TYPES)).default("issue").help("");
        })
}

/// Returns the request for the template that the form names, or else for the one called default.
fn template(id: &Id, view: &View, texts: FieldTexts) -> Option<GetRawBlob> {
    let named = Some(texts.get("template")).filter(|name| !name.is_empty()).unwrap_or("default");
    templates(id).template(named, view)
}

fn templates(id: &Id) -> Complete {
    Complete::Templates { project: id.clone(), folder: Some(ISSUE_TEMPLATES), has_own: false }
}

/// Returns the form for a new issue of a project.
pub fn create(id: &Id) -> Form {
    let project = id.clone();
    let form = Form::of::<CreateIssue>(format!("New issue in {id}"), "create the issue", format!("new issue {id}"));
    let (mine, theirs) = (id.clone(), id.clone());
    let form = form.fixed("id", id).aside("template", |field| {
        field.widget(Widget::Line(templates(id))).default("Default, if there is one");
        field.help("Fills the description from .gitlab/issue_templates until you type there.");
    });
    let form = form.propose(
        move |view, texts| {
            let file = template(&mine, view, texts).map(|get| Load::single(&get).into());
            templates(&mine).wants("").into_iter().chain(file).collect()
        },
        move |view, texts| {
            let text = template(&theirs, view, texts).and_then(|get| view.store.get(&get).value);
            // Without a template, the text of the previous one is removed.
            let text = text.map(|raw| String::from_utf8_lossy(&raw.bytes).trim_end().to_owned());
            vec![("description", text.unwrap_or_default())]
        },
    );
    fields(form, id).then(move |created: &Issue| {
        Some(Action::GoToPlace(Place::new("issue").project(project.clone()).item(created.iid)))
    })
}

/// Returns the form that edits an issue.
pub fn edit(id: &Id, iid: u64, view: &View) -> Form {
    let form = Form::of::<UpdateIssue>(format!("Edit #{iid}"), format!("change #{iid}"), format!("issue {id}#{iid}"))
        .fixed("id", id)
        .fixed("issue_iid", iid)
        .without(&["state_event"])
        .field("title", |field| _ = field.required(true))
        .field("discussion_locked", |field| _ = field.help("yes: only members of the project can comment."));
    fields(form, id).of_current(view, GetIssue { id: id.clone(), issue_iid: iid }, texts)
}

/// Returns the texts of the fields that differ from the values of the same name.
fn texts(issue: &Issue) -> Vec<(&'static str, String)> {
    let names: Vec<&str> = issue.assignees().iter().map(|user| user.username.as_str()).collect();
    vec![
        ("labels", issue.label_names().join(", ")),
        ("assignee_ids", names.join(", ")),
        ("milestone_id", issue.milestone.as_ref().map(|m| m.title.clone()).unwrap_or_default()),
        ("due_date", issue.due_date.as_ref().map(Time::to_string).unwrap_or_default()),
    ]
}

/// Returns the selection of the values of one field of an issue.
fn choose(id: &Id, iid: u64, title: &str, field: &'static str, view: &View) -> Form {
    let others: Vec<&str> = UpdateIssue::INPUTS.iter().map(|input| input.name).filter(|name| *name != field).collect();
    let form = Form::of::<UpdateIssue>(
        format!("{title} of #{iid}"),
        format!("change #{iid}"),
        format!("issue {id}#{iid} {field}"),
    );
    let form = fields(form, id).without(&others).fixed("id", id).fixed("issue_iid", iid);
    form.of_current(view, GetIssue { id: id.clone(), issue_iid: iid }, texts).picker()
}

/// Returns the selection of the labels of an issue.
pub fn labels(id: &Id, iid: u64, view: &View) -> Form {
    choose(id, iid, "Labels", "labels", view)
}

/// Returns the selection of the assignees of an issue.
pub fn assignees(id: &Id, iid: u64, view: &View) -> Form {
    choose(id, iid, "Assignees", "assignee_ids", view)
}
