//! Environments: where a project is deployed to. Not in the specification; since 11.11.

use crate::api::deployments::{Deployment, ListDeployments};
use crate::api::{Id, Time};

crate::resource! {
    /// Where a project is deployed to.
    pub struct ProjectEnvironment {
        id: u64,
        name: String,
        external_url: Option<String>,
    }
    newer {
        slug: String,
        description: String,
        /// `available`, `stopping` or `stopped`.
        state: String,
        /// `production`, `staging`, `testing`, `development` or `other`.
        tier: String,
        created_at: Time,
        updated_at: Time,
        /// When it is stopped by itself.
        auto_stop_at: Time,
        /// Absent in lists.
        last_deployment: Box<Deployment>,
    }
}

crate::endpoints! {
    newer section "Environments";

    /// Lists the environments of a project.
    GET "/projects/{id}/environments" => Vec<ProjectEnvironment>;
    struct ListEnvironments {
        id: Id,
        /// Three characters at least.
        search: Option<String>,
        /// `available`, `stopping` or `stopped`.
        states: Option<String>,
    }

    /// Reads one environment.
    GET "/projects/{id}/environments/{environment_id}" => ProjectEnvironment;
    struct GetEnvironment { id: Id, environment_id: u64 }

    /// Stops an environment; refused where it is stopped.
    POST "/projects/{id}/environments/{environment_id}/stop" => ProjectEnvironment,
    touches [ListEnvironments, GetEnvironment, ListDeployments];
    struct StopEnvironment { id: Id, environment_id: u64 }
}
