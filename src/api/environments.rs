//! Environments: deployment targets of a project, and who may deploy to them. Not in the specification; available since
//! 11.11.

use crate::deployments::Deployment;
use crate::{Id, Nullable, Time};

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

crate::resource! {
    /// A permission to deploy, granted to a role or to a single user or group.
    pub struct DeployAccess {
        /// The access level: 30 developers, 40 maintainers, 60 administrators; null for a user or group.
        access_level: Option<u64>,
        access_level_description: String,
    }
    unspecified {
        id: Option<u64>,
        user_id: Nullable<u64>,
        group_id: Nullable<u64>,
    }
}

crate::resource! {
    /// A number of approvals that a role, a user or a group has to give to a deployment.
    pub struct DeploymentApprovalRule {
        access_level: Option<u64>,
        access_level_description: String,
        required_approvals: u64,
    }
    unspecified {
        id: Option<u64>,
        user_id: Nullable<u64>,
        group_id: Nullable<u64>,
    }
}

crate::resource! {
    /// A protected environment.
    pub struct ProtectedEnvironment {
        name: String,
        deploy_access_levels: Vec<DeployAccess>,
    }
    unspecified {
        /// The number of approvals that a deployment needs; servers with rules have 0 here.
        required_approval_count: Option<u64>,
        approval_rules: Option<Vec<DeploymentApprovalRule>>,
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

    /// Lists the protected environments of a project; since 12.8 on enterprise servers.
    GET "/projects/{id}/protected_environments" => Vec<ProtectedEnvironment>, about Environments;
    struct ListProtectedEnvironments { id: Id }
}
