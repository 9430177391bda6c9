//! The features that a project can switch off. Their absence is no failure, and nothing new is offered in them.

use super::command_info::Disabled;
use api::endpoint::decode;
use api::projects::Project;
use api::{Error, Fault, Id};
use store::Store;

/// A feature that a project can switch off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    Ci,
    Issues,
    MergeRequests,
}

impl Feature {
    /// Returns the feature to which the part of a path below a project belongs.
    fn of_path(path: &str) -> Option<Feature> {
        match path.split(['/', '?']).next()? {
            "jobs" | "pipelines" | "pipeline" | "pipeline_schedules" | "variables" | "triggers" => Some(Feature::Ci),
            "issues" => Some(Feature::Issues),
            "merge_requests" => Some(Feature::MergeRequests),
            _ => None,
        }
    }

    fn is_off(self, project: &Project) -> bool {
        let enabled = match self {
            Feature::Ci => project.jobs_enabled,
            Feature::Issues => project.issues_enabled,
            Feature::MergeRequests => project.merge_requests_enabled,
        };
        enabled == Some(false)
    }

    /// Returns the sentence for a project without the feature.
    pub fn off(self) -> &'static str {
        match self {
            Feature::Ci => "CI/CD is off in this project",
            Feature::Issues => "Issues are off in this project",
            Feature::MergeRequests => "Merge requests are off in this project",
        }
    }

    /// Returns an error if the project is known not to have the feature.
    pub fn check(self, store: &Store, project: Option<&Id>) -> Result<(), Disabled> {
        let known = project.and_then(|id| find(store, id.as_str()));
        match known.is_some_and(|project| self.is_off(project)) {
            true => Err(self.off().into()),
            false => Ok(()),
        }
    }
}

/// Returns the feature that a refused request needs, and its project.
pub fn needed(error: &Error) -> Option<(Feature, Id)> {
    if !matches!(error.fault, Fault::Denied(_) | Fault::Missing(_) | Fault::Unauthorized(_)) {
        return None;
    }
    let (id, rest) = error.tried.split_once(" /projects/")?.1.split_once('/')?;
    Some((Feature::of_path(rest)?, decode(id).as_str().into()))
}

/// Returns the feature because of which a read failed: the server refused it, and the project does not have the feature.
pub fn off(store: &Store, error: &Error) -> Option<Feature> {
    let (feature, id) = needed(error)?;
    find(store, id.as_str()).filter(|project| feature.is_off(project)).map(|_| feature)
}

/// Returns a project that was read as a whole, by ID or path.
fn find<'a>(store: &'a Store, id: &str) -> Option<&'a Project> {
    let is_it = |project: &&Project| {
        project.path_with_namespace.eq_ignore_ascii_case(id) || id.parse().is_ok_and(|id: u64| id == project.id)
    };
    store.known::<Project>().map(|(_, project)| project).find(is_it)
}
