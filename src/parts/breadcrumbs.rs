//! The first breadcrumbs of a project or a group.

use crate::api::{GitRef, Id, RefKind};
use crate::app::pane::Breadcrumb;
use crate::app::place::Place;
use crate::app::view::View;
use crate::ui::theme::Role;
use crate::ui::{glyph, text};

/// Returns the breadcrumbs of a project, its group dimmed: `acme / rocket-ui`; empty without a project.
pub fn project(project: Option<&Id>) -> Vec<Breadcrumb> {
    path_breadcrumbs(project, |id| Place::new("files").project(id))
}

/// Returns the breadcrumbs of a group, its parents dimmed: `acme / tools`; empty without a group.
pub fn group(group: Option<&Id>) -> Vec<Breadcrumb> {
    path_breadcrumbs(group, |id| Place::new("groups").group(id))
}

fn path_breadcrumbs(id: Option<&Id>, place: fn(Id) -> Place) -> Vec<Breadcrumb> {
    let Some(id) = id else { return Vec::new() };
    let one = |name: &str| Breadcrumb::new(name, Role::Title).to(place(id.clone()));
    match id.as_str().rsplit_once('/') {
        Some((above, name)) => {
            let words = format!("{} /", above.replace('/', " / "));
            vec![Breadcrumb::new(words, Role::Dim).to(Place::new("groups").group(above)), one(name)]
        }
        None => vec![one(id.as_str())],
    }
}

/// Returns the breadcrumb of a ref: `⎇ main`, `tag v1.0`.
pub fn git_ref(project: &Id, name: &GitRef) -> Breadcrumb {
    let words = match name.kind() {
        Some(RefKind::Tag) => name.label().into_owned(),
        _ => format!("{} {}", glyph::branch(), name.display()),
    };
    Breadcrumb::new(words, Role::Ref).to(Place::new("files").project(project.clone()).at(name))
}

/// The number of columns that the first line of the screen needs beside the path of a project and a title: the number
/// and the state of the object, the account, and the server.
const BESIDE_TITLE: usize = 60;

/// Returns whether the first line of the screen shows the title of an object of `project` in full, so that nothing
/// below has to repeat it.
pub fn shows_title(view: &View, project: &Id, title: &str) -> bool {
    text::width(project.as_str()) + text::width(title) + BESIDE_TITLE <= usize::from(view.size.0)
}
