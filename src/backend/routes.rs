//! Every area's routes.

use super::mount::Mount;
use super::{branches, commits, groups, projects, repository, tags, users};

/// All endpoints, mounted.
pub fn all() -> Mount {
    [branches::mount, commits::mount, groups::mount, projects::mount, repository::mount, tags::mount, users::mount]
        .into_iter()
        .fold(Mount::default(), |mount, area| area(mount))
}
