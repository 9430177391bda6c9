//! What places of a project share: the project itself, its default branch, its web pages, the way to it.

use crate::api::endpoint::encode;
use crate::api::projects::{GetProject, Project};
use crate::api::{Endpoint, Id};
use crate::app::pane::{Breadcrumb, View};
use crate::store::{Load, Want};

/// The request for a project that every place in it makes.
pub fn query(project: &Id) -> GetProject {
    GetProject { id: project.clone(), statistics: None, with_custom_attributes: None }
}

/// Returns what every place in a project needs: the project itself.
pub fn want(project: &Id) -> Want {
    Load::one(&query(project)).into()
}

/// The project, if it is known.
pub fn project<'a>(view: &View<'a>, project: &Id) -> Option<&'a Project> {
    view.store.get(&query(project)).value
}

/// The branch that a place without a ref means, if it is known.
pub fn default_branch<'a>(view: &View<'a>, id: &Id) -> Option<&'a str> {
    project(view, id).and_then(Project::default_branch)
}

/// The way to a project, by its path even where only its number is at hand.
pub fn breadcrumbs(view: &View, id: &Id) -> Vec<Breadcrumb> {
    let path = project(view, id).map(|p| p.path_with_namespace.as_str()).filter(|path| !path.is_empty());
    crate::parts::breadcrumbs::project(Some(&path.map_or_else(|| id.clone(), Id::from)))
}

/// The way to a project at a ref; the default branch where `git_ref` names none.
pub fn breadcrumbs_at(view: &View, id: &Id, git_ref: Option<&str>) -> Vec<Breadcrumb> {
    let mut breadcrumbs = breadcrumbs(view, id);
    if let Some(name) = git_ref.or_else(|| default_branch(view, id)) {
        breadcrumbs.push(crate::parts::breadcrumbs::git_ref(id, name));
    }
    breadcrumbs
}

/// A ref as it is shown: a whole hash by its first digits.
pub fn short_ref(name: &str) -> &str {
    let hash = name.len() == 40 && name.bytes().all(|b| b.is_ascii_hexdigit());
    if hash { name.get(..8).unwrap_or(name) } else { name }
}

/// The web page of `rest` in a project: `/-/branches`.
pub fn page(view: &View, id: &Id, rest: &str) -> String {
    let known = project(view, id).map(|p| p.web_url.as_str()).filter(|url| !url.is_empty());
    match known {
        Some(url) => format!("{url}{rest}"),
        None => format!("{}/{}{rest}", view.session.web_url, path(id.as_str())),
    }
}

/// A path as it stands in an address: each of its names encoded.
pub fn path(path: &str) -> String {
    path.split('/').map(encode).collect::<Vec<_>>().join("/")
}

/// Returns whether the server said that what `endpoint` asks for does not exist.
pub fn is_missing<E: Endpoint>(view: &View, endpoint: &E) -> bool {
    view.store.error_of(&endpoint.request()).is_some_and(crate::api::Error::is_missing)
}
