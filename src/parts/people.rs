//! The members of a project as choices of a picker, and the names of roles.

use crate::api::Id;
use crate::api::projects::ListProjectUsers;
use crate::app::action::Action;
use crate::app::overlay::picker::{Item, Source};
use crate::app::place::Place;
use crate::app::view::View;
use crate::store::{Load, Want};
use std::collections::HashSet;
use std::time::Duration;

/// The delay before the typed text is sent to the server.
const FETCH_DELAY: Duration = Duration::from_millis(150);

/// Access levels and GitLab's names of the roles.
const ROLES: &[(u64, &str)] = &[
    (5, "Minimal access"),
    (10, "Guest"),
    (15, "Planner"),
    (20, "Reporter"),
    (30, "Developer"),
    (40, "Maintainer"),
    (50, "Owner"),
];

/// Returns the role of an access level, or the number if it has no name.
pub fn role(level: u64) -> String {
    ROLES.iter().find(|(sent, _)| *sent == level).map_or_else(|| level.to_string(), |(_, name)| (*name).to_owned())
}

/// The names of the roles that members can be given, the lowest first.
pub const ROLE_NAMES: &[&str] = &["Guest", "Planner", "Reporter", "Developer", "Maintainer", "Owner"];

/// Returns the access level of a role.
pub fn level(role: &str) -> Option<u64> {
    ROLES.iter().find(|(_, name)| *name == role).map(|(level, _)| *level)
}

/// The users of a project.
pub struct Members {
    pub project: Id,
}

impl Members {
    fn query(&self, typed: &str) -> ListProjectUsers {
        let search = Some(typed.trim().to_owned()).filter(|text| !text.is_empty());
        ListProjectUsers { id: self.project.clone(), search }
    }
}

impl Source for Members {
    fn wants(&self, _view: &View, typed: &str) -> Vec<Want> {
        // The users loaded before typing stay in the list, beside those that the server finds.
        let all = Load::list(&self.query(""), 1);
        vec![all.into(), Load::list(&self.query(typed), 1).after(FETCH_DELAY).into()]
    }

    fn items(&self, view: &View, typed: &str) -> Vec<Item> {
        let mut seen = HashSet::new();
        let lists = [view.store.list(&self.query("")), view.store.list(&self.query(typed))];
        let users = lists.iter().flat_map(|list| list.iter()).filter(|user| seen.insert(user.id));
        let item = |user: &crate::api::users::User| {
            let place = Place::new("user").item(user.username.as_str());
            Item::act(user.username.clone(), Action::GoToPlace(place))
                .detail(user.name.clone())
                .note(user.state.clone())
        };
        users.map(item).collect()
    }
}
