//! What places of issues share: where an issue is, how its labels look, how it is closed and reopened.

use crate::api::Id;
use crate::api::issues::{Issue, UpdateIssue};
use crate::api::labels::rgb;
use crate::app::App;
use crate::app::action::Action;
use crate::app::command::Disabled;
use crate::app::pane::View;
use crate::app::target;
use crate::parts::label_colors;
use crate::store::Write;
use crate::ui::glyph;
use crate::ui::table::Cell;
use crate::ui::text;
use crate::ui::theme::Role;

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

/// Its labels in their colors.
pub fn labels(issue: &Issue) -> Cell {
    label_colors::cell(issue.labels.iter().map(|label| (label.name(), label.color().and_then(rgb))))
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
