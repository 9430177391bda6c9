//! The roles of members: their names and access levels.

/// Access levels and GitLab's names of the roles.
const ROLES: &[(u64, &str)] = &[
    (5, "Minimal access"),
    (10, "Guest"),
    (15, "Planner"),
    (20, "Reporter"),
    (25, "Security Manager"),
    (30, "Developer"),
    (40, "Maintainer"),
    (50, "Owner"),
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
