//! Functions that all places of a project share: its request, default branch, URLs and breadcrumbs.

use crate::api::endpoint::encode;
use crate::api::projects::{GetProject, Project};
use crate::api::{Endpoint, GitRef, Id, RefKind};
use crate::app::pane::Breadcrumb;
use crate::app::view::View;
use crate::store::{Load, Want};
use crate::ui::text;
use crate::ui::theme::Role;

/// Returns the project itself as the request that every place in it needs.
pub fn want(project: &Id) -> Want {
    Load::single(&GetProject::new(project)).into()
}

/// Returns the project, if it is loaded.
pub fn project<'a>(view: &View<'a>, project: &Id) -> Option<&'a Project> {
    view.store.get(&GetProject::new(project)).value
}

/// Returns the default branch, if it is known.
pub fn default_branch<'a>(view: &View<'a>, id: &Id) -> Option<&'a str> {
    project(view, id).and_then(Project::default_branch)
}

/// The words for a repository without branches, which may have tags, and what to do.
pub const NO_BRANCHES: (&str, &str) =
    ("The repository has no branches.", "Push a first commit, then ‹refresh› refreshes");

/// Returns whether the server is embedded to show a clone, whose refs it reads when it starts.
pub fn is_of_clone(view: &View) -> bool {
    view.session.server == "local"
}

/// Returns [`NO_BRANCHES`], or what to do in the clone if the server shows one.
pub fn no_branches(view: &View) -> (&'static str, &'static str) {
    match is_of_clone(view) {
        true => (NO_BRANCHES.0, "Commit with git, then start labscope local again"),
        false => NO_BRANCHES,
    }
}

/// Returns the name of the branch at `git_ref`, or of the default branch if that is `None`; `None` for a tag.
pub fn branch_at(view: &View, id: &Id, git_ref: Option<&GitRef>) -> Option<String> {
    match git_ref {
        Some(name) => name.branch_name().map(str::to_owned),
        None => default_branch(view, id).map(str::to_owned),
    }
}

/// Returns what is shown instead of the files of a project whose repository is still being copied, or could not be.
pub fn import_words(project: &Project) -> Option<(String, Role)> {
    match project.import_status.as_deref() {
        Some("failed") => {
            let why = project.import_error.as_deref().unwrap_or("the server does not say why");
            Some((format!("The import failed: {}", text::sanitize(why)), Role::Failed))
        }
        Some("scheduled" | "started") => Some(("Still being copied.".to_owned(), Role::Warning)),
        _ => None,
    }
}

/// Returns the breadcrumbs of a project, by its path if it is known, even if only its ID was given.
pub fn breadcrumbs(view: &View, id: &Id) -> Vec<Breadcrumb> {
    let path = project(view, id).map(|p| p.path_with_namespace.as_str()).filter(|path| !path.is_empty());
    crate::parts::breadcrumbs::project(Some(&path.map_or_else(|| id.clone(), Id::from)))
}

/// Returns the breadcrumbs of a project at a ref, or at the default branch if `git_ref` is `None`.
pub fn breadcrumbs_at(view: &View, id: &Id, git_ref: Option<&GitRef>) -> Vec<Breadcrumb> {
    let mut breadcrumbs = breadcrumbs(view, id);
    if let Some(name) = git_ref.cloned().or_else(|| default_branch(view, id).map(GitRef::branch)) {
        breadcrumbs.push(crate::parts::breadcrumbs::git_ref(id, &name));
    }
    breadcrumbs
}

/// Returns the SHA or name of a commit for display: a full SHA is shortened.
pub fn short_sha(name: &str) -> &str {
    let hash = name.len() == 40 && name.bytes().all(|b| b.is_ascii_hexdigit());
    if hash { name.get(..8).unwrap_or(name) } else { name }
}

/// Returns the page `kind` (`tree`, `blob`, `commits`) of a path at a ref, below the URL of a project.
pub fn page_at(kind: &str, git_ref: &GitRef, file: Option<&str>) -> String {
    let file = file.map(|file| format!("/{}", path(file))).unwrap_or_default();
    let ref_type = git_ref.kind().map(|kind| format!("?ref_type={}", RefKind::ref_type(kind))).unwrap_or_default();
    format!("/-/{kind}/{}{file}{ref_type}", path(git_ref.short()))
}

/// Returns the URL of the page `rest` in a project, such as `/-/branches`.
pub fn page(view: &View, id: &Id, rest: &str) -> String {
    let known = project(view, id).map(|p| p.web_url.as_str()).filter(|url| !url.is_empty());
    match known {
        Some(url) => format!("{url}{rest}"),
        None => format!("{}/{}{rest}", view.session.web_url, path(id.as_str())),
    }
}

/// Returns a path for a URL, with each of its parts encoded.
pub fn path(path: &str) -> String {
    path.split('/').map(encode).collect::<Vec<_>>().join("/")
}

/// Returns whether the server reported that the result of `endpoint` does not exist.
pub fn is_missing<E: Endpoint>(view: &View, endpoint: &E) -> bool {
    view.store.error_of(&endpoint.request()).is_some_and(crate::api::Error::is_missing)
}
