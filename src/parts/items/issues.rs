//! Functions that the places of issues share: the project of an issue, its labels, closing and reopening.

use crate::api::Id;
use crate::api::issues::{Issue, UpdateIssue};
use crate::api::labels::rgb;
use crate::app::App;
use crate::app::action::Action;
use crate::app::command_info::Disabled;
use crate::app::overlay::batch;
use crate::app::overlay::confirm::Confirm;
use crate::app::target;
use crate::app::view::View;
use crate::parts::text::label_colors;
use crate::store::Write;
use crate::ui::glyph;
use crate::ui::line::Line;
use crate::ui::text;
use crate::ui::theme::Role;

/// Returns the project of an issue: its path if known, or else its ID.
pub fn project(issue: &Issue, view: &View) -> Id {
    let full = issue.references.as_ref().and_then(|r| r.full.rsplit_once('#')).map(|(path, _)| path);
    if let Some(path) = full.filter(|path| !path.is_empty()) {
        return path.into();
    }
    let named = target::project_of(view.places, &issue.web_url, &view.session.web_url);
    named.map_or_else(|| issue.project_id.into(), Id::from)
}

/// Returns the glyph and the role of the state.
pub fn state(issue: &Issue) -> (&'static str, Role) {
    glyph::status(if issue.is_open() { "opened" } else { &issue.state })
}

/// Returns the glyph of the state with its word, and the role.
pub fn state_words(issue: &Issue) -> (String, Role) {
    let (mark, role) = state(issue);
    let word = if issue.is_open() { "open" } else { &issue.state };
    (if glyph::is_accessible() { word.to_owned() } else { format!("{mark} {word}") }, role)
}

/// Returns the labels in their colors.
pub fn labels(issue: &Issue) -> Line<'static> {
    label_colors::cell(issue.labels.iter().map(|label| (label.name(), label.color().and_then(rgb))))
}

/// Returns the write that closes an issue, or reopens a closed one.
pub fn close_or_reopen(project: &Id, issue: &Issue) -> Write {
    let event = if issue.is_open() { "close" } else { "reopen" };
    let (id, issue_iid, state_event) = (project.clone(), issue.iid, Some(event.to_owned()));
    let update = UpdateIssue { id, issue_iid, state_event, ..UpdateIssue::default() };
    Write::new(&update, format!("{event} {project}#{issue_iid}"))
}

/// Returns the action that asks before closing an issue, or reopens a closed one directly.
pub fn ask_to_close_or_reopen(project: &Id, issue: &Issue) -> Action {
    let send = Action::Send(close_or_reopen(project, issue));
    if !issue.is_open() {
        return send;
    }
    let question = format!("Close #{} \"{}\"?", issue.iid, text::sanitize(&issue.title));
    App::confirm("Close issue", question, send)
}

/// Returns the action that closes and reopens objects: of each whether it is open, its title and its write. Closing is
/// asked about first. `then` is performed as well, unless the answer is no.
pub fn close_or_reopen_all(noun: &str, writes: Vec<(bool, &str, Write)>, then: Action) -> Action {
    let number = writes.len();
    let open = writes.iter().filter(|(is_open, ..)| *is_open).count();
    let name = |(_, title, write): &(bool, &str, Write)| format!("{} {}", write.what, text::sanitize(title));
    let names = writes.iter().map(name).collect();
    let send = batch::send(format!("Close or reopen {noun}"), writes.into_iter().map(|(.., write)| write).collect());
    let send = Action::All(vec![then, send]);
    let question = match open {
        0 => return send,
        _ if open == number => format!("Close these {number} {noun}?"),
        _ => format!("Close {open} and reopen {} of these {noun}?", number - open),
    };
    Action::OpenOverlay(Box::new(Confirm::new(format!("Close {noun}"), question, send).naming(names)))
}

/// Returns an error if the issue is not loaded yet.
pub fn is_known(issue: Option<&Issue>) -> Result<(), Disabled> {
    issue.map(|_| ()).ok_or_else(|| "it has not loaded yet".into())
}
