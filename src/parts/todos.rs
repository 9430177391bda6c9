//! To-dos as places show them: why something is to be done, where it lives, and how it is marked as done.

use crate::api::Id;
use crate::api::todos::{ListTodos, MarkTodoAsDone, Todo};
use crate::app::pane::View;
use crate::app::place::Place;
use crate::app::target;
use crate::store::{Rows, Write};

/// The request for what waits for the user.
pub fn pending() -> ListTodos {
    ListTodos { state: Some("pending".into()), ..ListTodos::default() }
}

/// Returns what is known to wait for the user.
pub fn waiting<'a>(view: &View<'a>) -> Rows<'a, Todo> {
    view.store.list(&pending())
}

/// Why it is to be done, as GitLab says it.
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

/// The note that its address names.
fn note(todo: &Todo) -> Option<u64> {
    todo.target_url.as_deref()?.rsplit_once("#note_")?.1.parse().ok()
}

/// The place where it lives; `None` where labscope has none for it.
pub fn place(todo: &Todo, view: &View) -> Option<Place> {
    let parsed = || target::parse(view.panes, todo.target_url.as_deref()?, &view.session.web_url).ok();
    let iid = todo.target.as_ref().and_then(|target| target.iid);
    let project = todo.project.as_ref().map(|project| match project.path_with_namespace.as_str() {
        "" => Id::from(project.id),
        path => Id::from(path),
    });
    let place = match (todo.target_type.as_str(), iid, project, &todo.group) {
        ("MergeRequest", Some(iid), Some(project), _) => Place::new("mr").project(project).item(iid),
        ("Issue" | "WorkItem", Some(iid), Some(project), _) => Place::new("issue").project(project).item(iid),
        ("Epic", Some(iid), _, Some(_)) if !todo.within().is_empty() => {
            Place::new("epic").group(todo.within()).item(iid)
        }
        _ => return parsed(),
    };
    Some(Place { note: note(todo), ..place })
}

/// `acme/rocket-ui!42`, or as much as is known of it.
pub fn label(todo: &Todo) -> String {
    let label = format!("{}{}", todo.within(), todo.reference());
    if label.is_empty() { todo.title().to_owned() } else { label }
}

/// The write that marks it as done.
pub fn done(todo: &Todo) -> Write {
    Write::new(&MarkTodoAsDone { id: todo.id }, format!("mark {} as done", label(todo)))
}
