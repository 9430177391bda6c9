//! Environments: deployment targets of a project. Not in the specification; available since 11.11.

use crate::api::deployments::Deployment;
use crate::api::{Id, Time};

crate::resource! {
    /// An environment to which a project is deployed.
    pub struct ProjectEnvironment {
        id: u64,
        name: String,
        external_url: Option<String>,
    }
    unspecified {
        slug: Option<String>,
        description: Option<String>,
        /// `available`, `stopping` or `stopped`.
        state: Option<String>,
        /// `production`, `staging`, `testing`, `development` or `other`.
        tier: Option<String>,
        created_at: Option<Time>,
        updated_at: Option<Time>,
        /// The time at which the environment is stopped automatically.
        auto_stop_at: Option<Time>,
        /// The latest deployment; absent in lists.
        last_deployment: Option<Box<Deployment>>,
    }
}

crate::endpoints! {
    unspecified section "Environments";

    /// Lists the environments of a project.
    GET "/projects/{id}/environments" => Vec<ProjectEnvironment>, about Environments;
    struct ListEnvironments {
        id: Id,
        /// Part of the name, at least three characters.
        search: Option<String>,
        /// `available`, `stopping` or `stopped`.
        states: Option<String>,
    }

    /// Gets a single environment.
    GET "/projects/{id}/environments/{environment_id}" => ProjectEnvironment, about Environments;
    struct GetEnvironment { id: Id, environment_id: u64 }

    /// Stops an environment; refused if it is already stopped.
    POST "/projects/{id}/environments/{environment_id}/stop" => ProjectEnvironment,
    outdates [Environments];
    struct StopEnvironment { id: Id, environment_id: u64 }
}
