//! The beginning of the way to a place of a project.

use crate::api::Id;
use crate::app::pane::Breadcrumb;
use crate::ui::theme::Role;

/// The project, its group dim: `acme / rocket-ui`; nothing where there is no project.
pub fn project(project: Option<&Id>) -> Vec<Breadcrumb> {
    let Some(project) = project else { return Vec::new() };
    match project.as_str().rsplit_once('/') {
        Some((group, name)) => {
            vec![
                Breadcrumb::new(format!("{} /", group.replace('/', " / ")), Role::Dim),
                Breadcrumb::new(name, Role::Title),
            ]
        }
        None => vec![Breadcrumb::new(project.as_str(), Role::Title)],
    }
}

/// The ref at hand: `⎇ main`.
pub fn git_ref(name: &str) -> Breadcrumb {
    Breadcrumb::new(format!("{} {name}", crate::ui::glyph::branch()), Role::Ref)
}
