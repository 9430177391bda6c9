//! The project or group that a list belongs to; a list without one shows what belongs to the user.

use crate::api::Scope;
use crate::app::pane::Breadcrumb;
use crate::app::place::Place;
use crate::app::view::View;
use crate::parts::breadcrumbs;
use crate::parts::project;
use crate::ui::theme::Role;

/// Returns the project or group that a place names.
pub fn of(place: &Place) -> Option<Scope> {
    let project = place.project.clone().map(Scope::Project);
    project.or_else(|| place.group.clone().map(Scope::Group))
}

/// Returns the place `pane` in a project or group.
pub fn place(scope: Option<&Scope>, pane: &str) -> Place {
    let (project, group) = (scope.and_then(Scope::project), scope.and_then(Scope::group));
    Place { project: project.cloned(), group: group.cloned(), ..Place::new(pane) }
}

/// Returns the breadcrumbs of the list `title`.
pub fn breadcrumbs(scope: Option<&Scope>, view: &View, title: &str) -> Vec<Breadcrumb> {
    let mut way = match scope {
        Some(Scope::Project(id)) => project::breadcrumbs(view, id),
        Some(Scope::Group(id)) => breadcrumbs::group(Some(id)),
        None => Vec::new(),
    };
    let role = if way.is_empty() { Role::Title } else { Role::Text };
    way.push(Breadcrumb::new(title, role));
    way
}

/// Returns the URL of the page `rest` of a project or group, such as `/-/labels`.
pub fn page(scope: Option<&Scope>, view: &View, rest: &str) -> Option<String> {
    Some(match scope? {
        Scope::Project(id) => project::page(view, id, rest),
        Scope::Group(id) => format!("{}/groups/{}{rest}", view.session.web_url, project::path(id.as_str())),
    })
}
