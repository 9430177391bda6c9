//! The roles of members: their names and access levels.

/// The access level of everyone, also of those who are no members.
pub const ANYONE: u64 = 0;
pub const PLANNER: u64 = 15;
pub const REPORTER: u64 = 20;
pub const DEVELOPER: u64 = 30;
pub const MAINTAINER: u64 = 40;
pub const OWNER: u64 = 50;

/// Access levels and GitLab's names of the roles.
const ROLES: &[(u64, &str)] = &[
    (5, "Minimal access"),
    (10, "Guest"),
    (PLANNER, "Planner"),
    (REPORTER, "Reporter"),
    (25, "Security Manager"),
    (DEVELOPER, "Developer"),
    (MAINTAINER, "Maintainer"),
    (OWNER, "Owner"),
];

/// Returns the role of an access level, or the number if it has no name.
pub fn role(level: u64) -> String {
    ROLES.iter().find(|(sent, _)| *sent == level).map_or_else(|| level.to_string(), |(_, name)| (*name).to_owned())
}

/// The names of the roles that members can be given, the lowest first.
pub const ROLE_NAMES: &[&str] =
    &["Guest", "Planner", "Reporter", "Security Manager", "Developer", "Maintainer", "Owner"];

/// Returns the access level of a role.
pub fn level(role: &str) -> Option<u64> {
    ROLES.iter().find(|(_, name)| *name == role).map(|(level, _)| *level)
}
