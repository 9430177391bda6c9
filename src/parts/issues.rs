//! What places of issues share: where an issue is, how its labels look, how it is closed and reopened.

use crate::api::Id;
use crate::api::issues::{Issue, UpdateIssue};
use crate::api::labels::{Label, rgb};
use crate::app::App;
use crate::app::action::Action;
use crate::app::command::Disabled;
use crate::app::pane::View;
use crate::app::target;
use crate::store::{Rows, Write};
use crate::ui::glyph;
use crate::ui::table::Cell;
use crate::ui::text;
use crate::ui::theme::Role;
use ratatui::style::Style;
use std::borrow::Cow;

/// The project that it is in: by its path where that is known, else by its number.
pub fn project(issue: &Issue, view: &View) -> Id {
    let full = issue.references.as_ref().and_then(|r| r.full.rsplit_once('#')).map(|(path, _)| path);
    if let Some(path) = full.filter(|path| !path.is_empty()) {
        return path.into();
    }
    let place = target::parse(view.panes, &issue.web_url, &view.session.web_url).ok();
    place.and_then(|place| place.project).unwrap_or_else(|| issue.project_id.into())
}

/// The state in a sign.
pub fn state(issue: &Issue) -> (&'static str, Role) {
    glyph::status(if issue.is_open() { "opened" } else { &issue.state })
}

/// Its labels, each behind a dot of its color where that is known.
pub fn labels(issue: &Issue) -> Cell {
    let mut cell = Cell::empty();
    for label in issue.labels.iter().filter(|label| !label.name().is_empty()) {
        let gap = if cell.spans.is_empty() { "" } else { " " };
        cell = match label.color().and_then(rgb) {
            Some(color) => cell.and(gap, Role::Label).tinted(glyph::alive(), color),
            None => cell.and(gap, Role::Label),
        };
        cell = cell.and(label.name().to_owned(), Role::Label);
    }
    cell
}

/// Its labels for a line of text, each behind a dot of its color as far as `known` says.
pub fn label_spans(view: &View, issue: &Issue, known: &Rows<'_, Label>) -> Vec<(Cow<'static, str>, Style)> {
    let style = view.theme.style(Role::Label);
    let mut spans: Vec<(Cow<'static, str>, Style)> = Vec::new();
    for name in issue.label_names() {
        if !spans.is_empty() {
            spans.push(("  ".into(), style));
        }
        let label = known.iter().find(|label| label.name == name);
        if let Some(color) = label.and_then(|label| rgb(&label.color)).and_then(|color| view.theme.pixel(color)) {
            spans.push((glyph::alive().into(), style.fg(color)));
        }
        spans.push((name.to_owned().into(), style));
    }
    spans
}

/// The write that closes it, or opens it again.
pub fn close_or_reopen(project: &Id, issue: &Issue) -> Write {
    let event = if issue.is_open() { "close" } else { "reopen" };
    let (id, issue_iid, state_event) = (project.clone(), issue.iid, Some(event.to_owned()));
    let update = UpdateIssue { id, issue_iid, state_event, ..UpdateIssue::default() };
    Write::new(&update, format!("{event} {project}#{issue_iid}"))
}

/// Asks before it is closed; opens it again at once.
pub fn ask_to_close_or_reopen(project: &Id, issue: &Issue) -> Action {
    let send = Action::Send(close_or_reopen(project, issue));
    if !issue.is_open() {
        return send;
    }
    let question = format!("Close #{} \"{}\"?", issue.iid, text::sanitize(&issue.title));
    App::confirm("Close issue", question, send)
}

/// Returns why nothing can be done with it.
pub fn is_known(issue: Option<&Issue>) -> Result<(), Disabled> {
    issue.map(|_| ()).ok_or_else(|| "it has not loaded yet".into())
}
