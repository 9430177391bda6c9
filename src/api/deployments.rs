//! Deployments of commits to environments (specification, "Deployments").

use crate::jobs::Job;
use crate::users::User;
use crate::views::COMMIT_WITH_MESSAGE;
use crate::{Id, Time};

crate::resource! {
    /// An environment to which a project is deployed.
    pub struct Environment {
        id: u64,
        name: String,
        external_url: Option<String>,
    }
    unspecified {
        slug: Option<String>,
    }
}

crate::resource! {
    /// An approval or a rejection of a blocked deployment.
    pub struct DeploymentApproval {
        user: Option<User>,
        /// `approved` or `rejected`.
        status: String,
        comment: Option<String>,
        created_at: Option<Time>,
    }
}

crate::resource! {
    /// A deployment of a commit to an environment.
    pub struct Deployment {
        id: u64,
        iid: u64,
        r#ref: String,
        sha: String,
        created_at: Option<Time>,
        user: Option<User>,
        environment: Option<Environment>,
        /// The job that performed the deployment.
        deployable: Option<Box<Job>>,
    }
    unspecified {
        status: Option<String>,
        updated_at: Option<Time>,
        /// The number of missing approvals; only in the single view.
        pending_approval_count: Option<u64>,
        /// Only in the single view.
        approvals: Option<Vec<DeploymentApproval>>,
    }
}

crate::endpoints! {
    section "Deployments";

    /// Lists a project's deployments.
    GET "/projects/{id}/deployments" => Vec<Deployment>, about Environments,
    views ["deployable.commit": COMMIT_WITH_MESSAGE];
    struct ListDeployments {
        id: Id,
        /// `id` (default), `iid`, `created_at` or `ref`.
        order_by: Option<String>,
        /// `asc` (default) or `desc`.
        sort: Option<String>,
    }

    /// Gets a single deployment.
    GET "/projects/{id}/deployments/{deployment_id}" => Deployment, about Environments,
    views ["deployable.commit": COMMIT_WITH_MESSAGE];
    struct GetDeployment { id: Id, deployment_id: u64 }

    /// Approves or rejects a blocked deployment; since 14.8 on enterprise servers.
    UNSPECIFIED POST "/projects/{id}/deployments/{deployment_id}/approval" => DeploymentApproval,
    outdates [Environments, Jobs, Job];
    struct CreateDeploymentApproval {
        id: Id,
        deployment_id: u64,
        /// `approved` or `rejected`.
        status: String,
        comment: Option<String>,
    }
}
