//! Functions that the views of to-dos share: the reason, the target, and marking as done.

use crate::api::todos::{CreateTodo, ListTodos, MarkTodoAsDone, Todo};
use crate::api::{Id, Noteable};
use crate::app::action::Action;
use crate::app::place::Place;
use crate::app::target;
use crate::app::view::View;
use crate::store::{Rows, Write};
use crate::ui::glyph;
use crate::ui::line::Line;

/// Returns the loaded pending to-dos.
pub fn waiting<'a>(view: &View<'a>) -> Rows<'a, Todo> {
    view.store.list(&ListTodos::pending())
}

/// Returns the reason of a to-do, in GitLab's words.
pub fn reason(todo: &Todo) -> String {
    match todo.action_name.as_str() {
        "directly_addressed" => "mentioned".into(),
        "build_failed" => "pipeline failed".into(),
        "marked" => "added by you".into(),
        "unmergeable" => "cannot be merged".into(),
        "member_access_requested" => "access requested".into(),
        "ssh_key_expired" => "SSH key expired".into(),
        "ssh_key_expiring_soon" => "SSH key expires soon".into(),
        other => other.replace('_', " "),
    }
}

/// Returns the cell with the state of the target.
pub fn state_cell(state: &str) -> Line<'static> {
    let word = if state == "opened" { "open" } else { state };
    Line::new(word.replace('_', " "), glyph::status(state).1)
}

/// Returns the ID of the note that the target URL names.
fn note(todo: &Todo) -> Option<u64> {
    todo.target_url.as_deref()?.rsplit_once("#note_")?.1.parse().ok()
}

/// Returns the place of the target; `None` if labscope has none for it.
pub fn place(todo: &Todo, view: &View) -> Option<Place> {
    let parsed = || target::parse(view.places, todo.target_url.as_deref()?, &view.session.web_url).ok();
    let iid = todo.target.as_ref().and_then(|target| target.iid);
    let project = todo.project.as_ref().map(|project| match project.path_with_namespace.as_str() {
        "" => Id::from(project.id),
        path => Id::from(path),
    });
    let place = match (todo.target_type.as_str(), iid, project, &todo.group) {
        ("MergeRequest", Some(iid), Some(project), _) => Place::new("mr").project(project).item(iid),
        ("Issue" | "WorkItem", Some(iid), Some(project), _) => Place::new("issue").project(project).item(iid),
        ("Epic", Some(iid), _, Some(_)) if !todo.container_path().is_empty() => {
            Place::new("epic").group(todo.container_path()).item(iid)
        }
        _ => return parsed(),
    };
    Some(Place { note: note(todo), ..place })
}

/// Returns the reference of the target, such as `acme/rocket-ui!42`, as far as it is known.
pub fn label(todo: &Todo) -> String {
    let label = format!("{}{}", todo.container_path(), todo.reference());
    if label.is_empty() { todo.title().to_owned() } else { label }
}

fn done(todo: &Todo) -> Write {
    Write::new(&MarkTodoAsDone { id: todo.id }, format!("mark {} as done", label(todo)))
}

/// Returns the action that marks to-dos as done. It waits, because a server cannot reopen one; the command `undo` takes it
/// back.
pub fn finish(todos: &[&Todo], undo: &'static str) -> Action {
    let writes: Vec<Write> = todos.iter().map(|todo| done(todo)).collect();
    let what = match writes.as_slice() {
        [one] => one.what.clone(),
        several => format!("mark {} to-dos as done", several.len()),
    };
    Action::SendLater { writes, what, undo }
}

/// Returns whether a pending to-do was marked as done, which the server may not know yet.
pub fn is_finished(todo: &Todo, view: &View) -> bool {
    todo.is_pending() && view.waiting.has_begun(&done(todo))
}

/// Returns the write that adds a to-do again which is done: one of the same target, added by the user, since the server
/// cannot reopen it. `None` if the server cannot add one for that kind of target.
pub fn again(todo: &Todo) -> Option<Write> {
    let project = Id::from(todo.project.as_ref()?.id);
    let iid = todo.target.as_ref()?.iid?;
    let on = match todo.target_type.as_str() {
        "MergeRequest" => Noteable::MergeRequest { project, iid },
        "Issue" | "WorkItem" => Noteable::Issue { project, iid },
        _ => return None,
    };
    Some(Write::new(&CreateTodo { on }, format!("add {} to the to-dos", label(todo))))
}

/// Returns the write that adds a merge request or issue to the user's to-dos.
pub fn add(on: &Noteable) -> Write {
    Write::new(&CreateTodo { on: on.clone() }, format!("add {} to your to-dos", on.short()))
}
