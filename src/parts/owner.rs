//! The owner of the items in a list.

use super::{breadcrumbs, project};
use crate::api::Id;
use crate::app::pane::Breadcrumb;
use crate::app::place::Place;
use crate::app::view::View;
use crate::store::Want;
use crate::ui::theme::Role;

/// A project, a group, or the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Owner {
    Project(Id),
    Group(Id),
    User,
}

impl Owner {
    /// Returns the owner that a place names.
    pub fn of(place: &Place) -> Owner {
        let project = place.project.clone().map(Owner::Project);
        project.or_else(|| place.group.clone().map(Owner::Group)).unwrap_or(Owner::User)
    }

    /// Returns the project, if it is one.
    pub fn project(&self) -> Option<&Id> {
        if let Owner::Project(id) = self { Some(id) } else { None }
    }

    /// Returns the group, if it is one.
    pub fn group(&self) -> Option<&Id> {
        if let Owner::Group(id) = self { Some(id) } else { None }
    }

    /// Returns the ID of the project or group.
    pub fn id(&self) -> Option<&Id> {
        self.project().or(self.group())
    }

    /// Returns a place in the project or group.
    pub fn place(&self, pane: &str) -> Place {
        Place { project: self.project().cloned(), group: self.group().cloned(), ..Place::new(pane) }
    }

    /// Returns the breadcrumbs of the list `title` in it.
    pub fn breadcrumbs(&self, view: &View, title: &str) -> Vec<Breadcrumb> {
        let mut way = match self {
            Owner::Project(id) => project::breadcrumbs(view, id),
            Owner::Group(id) => breadcrumbs::group(Some(id)),
            Owner::User => Vec::new(),
        };
        let role = if way.is_empty() { Role::Title } else { Role::Text };
        way.push(Breadcrumb::new(title, role));
        way
    }

    /// Returns the requests that all its places need.
    pub fn wants(&self) -> Vec<Want> {
        self.project().into_iter().map(project::want).collect()
    }

    /// Returns the URL of the page `rest` in it, such as `/-/labels`.
    pub fn page(&self, view: &View, rest: &str) -> Option<String> {
        Some(match self {
            Owner::Project(id) => project::page(view, id, rest),
            Owner::Group(id) => format!("{}/groups/{}{rest}", view.session.web_url, project::path(id.as_str())),
            Owner::User => return None,
        })
    }
}
