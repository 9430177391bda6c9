//! Every area's routes.

use super::mount::Mount;
use super::{branches, commits, groups, jobs, merge_requests, notes, projects, repository, runners, tags, users};

/// The areas, in the order of their names.
const AREAS: &[fn(Mount) -> Mount] = &[
    branches::mount,
    commits::mount,
    groups::mount,
    jobs::mount,
    merge_requests::mount,
    notes::mount,
    projects::mount,
    repository::mount,
    runners::mount,
    tags::mount,
    users::mount,
];

/// All endpoints, mounted.
pub fn all() -> Mount {
    AREAS.iter().fold(Mount::default(), |mount, area| area(mount))
}
