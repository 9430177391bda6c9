//! Runners, which execute jobs (specification, "Runners").

use crate::jobs::Job;
use crate::projects::ProjectBrief;
use crate::views::COMMIT_WITH_MESSAGE;
use crate::{Id, NoContent, Nullable, Time};

crate::open_enum! {
    /// The connection status of a runner, including the values of newer servers.
    pub enum RunnerStatus {
        Online = "online",
        Offline = "offline",
        Paused = "paused",
        NotConnected = "not_connected",
        NeverContacted = "never_contacted",
        Stale = "stale",
    }
}

crate::resource! {
    /// A runner; the single view also contains the fields under `views`.
    pub struct Runner {
        id: u64,
        description: Option<String>,
        name: Option<String>,
        /// Whether the runner accepts jobs.
        active: bool,
        is_shared: bool,
        /// Whether the runner is online; null if it has never contacted the server.
        online: Option<bool>,
        status: RunnerStatus,
    }
    views {
        architecture: Nullable<String>,
        contacted_at: Nullable<Time>,
        platform: Nullable<String>,
        /// The projects that the runner is enabled for.
        projects: Option<Vec<ProjectBrief>>,
        /// The token, which is a secret.
        token: Option<String>,
        revision: Nullable<String>,
        tag_list: Option<Vec<String>>,
        version: Nullable<String>,
        /// `not_protected` or `ref_protected`.
        access_level: Option<String>,
        run_untagged: Option<bool>,
        locked: Option<bool>,
    }
    unspecified {
        paused: Option<bool>,
        /// `instance_type`, `group_type` or `project_type`.
        runner_type: Option<String>,
        ip_address: Option<String>,
        created_at: Option<Time>,
        maximum_timeout: Option<u64>,
        maintenance_note: Option<String>,
    }
}

crate::resource! {
    /// The program of a runner on one machine.
    pub struct RunnerManager {
        id: u64,
    }
    served {
        system_id: Option<String>,
        version: Nullable<String>,
        revision: Nullable<String>,
        platform: Nullable<String>,
        architecture: Nullable<String>,
        created_at: Option<Time>,
        contacted_at: Nullable<Time>,
        ip_address: Option<String>,
        status: Option<String>,
        /// `active` while it runs jobs, otherwise `idle`.
        job_execution_status: Option<String>,
    }
}

impl Runner {
    /// Returns whether the runner was paused by an administrator or owner.
    pub fn is_paused(&self) -> bool {
        self.paused.unwrap_or(!self.active)
    }

    /// Returns the display name: the description, else the name, else the ID.
    pub fn label(&self) -> String {
        let text = self.description.as_deref().filter(|d| !d.is_empty()).or(self.name.as_deref());
        text.map_or_else(|| format!("#{}", self.id), str::to_owned)
    }

    /// Returns the tags, if the view includes them.
    pub fn tags(&self) -> &[String] {
        self.tag_list.as_deref().unwrap_or_default()
    }
}

crate::endpoints! {
    section "Runners";

    /// Lists the specific runners that are available to the caller.
    GET "/runners" => Vec<Runner>, about Runners;
    struct ListRunners {
        /// `active`, `paused` or `online`.
        scope: Option<String>,
    }

    /// Lists all runners of the server; administrators only.
    GET "/runners/all" => Vec<Runner>, about Runners;
    struct ListAllRunners {
        /// `specific`, `shared`, `active`, `paused` or `online`.
        scope: Option<String>,
    }

    /// Gets a single runner.
    GET "/runners/{id}" => Runner, about Runners;
    struct GetRunner { id: u64 }

    /// Updates a runner.
    PUT "/runners/{id}" => Runner,
    outdates [Runners];
    struct UpdateRunner {
        id: u64,
        description: Option<String>,
        active: Option<bool>,
        /// New list of all tags.
        tag_list: Option<Vec<String>>,
        run_untagged: Option<bool>,
        locked: Option<bool>,
        /// `not_protected` or `ref_protected`.
        access_level: Option<String>,
    }

    /// Removes a runner.
    DELETE "/runners/{id}" => NoContent,
    outdates [Runners];
    struct DeleteRunner { id: u64 }

    /// Lists the jobs that a runner is executing or has executed.
    GET "/runners/{id}/jobs" => Vec<Job>,
    views ["commit": COMMIT_WITH_MESSAGE];
    struct ListRunnerJobs {
        id: u64,
        /// `running`, `success`, `failed` or `canceled`.
        status: Option<String>,
    }

    /// Lists the runners that are enabled for a project, both specific and shared.
    GET "/projects/{id}/runners" => Vec<Runner>, about Runners;
    struct ListProjectRunners { id: Id }

    /// Enables a specific runner for a project.
    POST "/projects/{id}/runners" => Runner,
    outdates [Runners];
    struct EnableRunner { id: Id, runner_id: u64 }

    /// Disables a runner for a project, unless it is its only project.
    DELETE "/projects/{id}/runners/{runner_id}" => NoContent,
    outdates [Runners];
    struct DisableRunner { id: Id, runner_id: u64 }
}
