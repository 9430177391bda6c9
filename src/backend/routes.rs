//! Every area's routes.

use super::mount::Mount;
use super::{
    branches, commits, decisions, deployments, groups, hooks, issues, jobs, keys, labels, license, merge_requests,
    notes, notifications, projects, repository, runners, search, snippets, tags, todos, users,
};

/// The areas, in the order of their names.
const AREAS: &[fn(Mount) -> Mount] = &[
    branches::mount,
    commits::mount,
    decisions::mount,
    deployments::mount,
    groups::mount,
    hooks::mount,
    issues::mount,
    jobs::mount,
    keys::mount,
    labels::mount,
    license::mount,
    merge_requests::mount,
    notes::mount,
    notifications::mount,
    projects::mount,
    repository::mount,
    runners::mount,
    search::mount,
    snippets::mount,
    tags::mount,
    todos::mount,
    users::mount,
];

/// Returns all endpoints, mounted.
pub fn all() -> Mount {
    AREAS.iter().fold(Mount::default(), |mount, area| area(mount))
}
