//! Runners: the machines that do jobs (specification, "Runners").

use crate::api::jobs::Job;
use crate::api::projects::ProjectBrief;
use crate::api::views::COMMIT_WITH_MESSAGE;
use crate::api::{Id, Known, Nothing, Time};

crate::open_enum! {
    /// Whether a runner can be reached, in the words of old and new servers.
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
    /// A runner; the detail adds what is under `views`.
    pub struct Runner {
        id: u64,
        description: Option<String>,
        name: Option<String>,
        /// Whether it takes jobs.
        active: bool,
        is_shared: bool,
        /// Null for one that never called.
        online: Option<bool>,
        status: RunnerStatus,
    }
    views {
        architecture: String,
        contacted_at: Time,
        platform: String,
        /// The projects that it serves.
        projects: Vec<ProjectBrief>,
        /// Its secret.
        token: String,
        revision: String,
        tag_list: Vec<String>,
        version: String,
        /// `not_protected` or `ref_protected`.
        access_level: String,
        run_untagged: bool,
        locked: bool,
    }
    newer {
        paused: bool,
        /// `instance_type`, `group_type` or `project_type`.
        runner_type: String,
        ip_address: String,
        created_at: Time,
        maximum_timeout: u64,
        maintenance_note: String,
    }
}

impl Runner {
    /// Returns whether an administrator or owner told it to rest.
    pub fn is_paused(&self) -> bool {
        self.paused.unwrap_or(!self.active)
    }

    /// The name by which the user calls it: description, else name, else number.
    pub fn label(&self) -> String {
        let text = self.description.as_deref().filter(|d| !d.is_empty()).or(self.name.as_deref());
        text.map_or_else(|| format!("#{}", self.id), str::to_owned)
    }

    /// Its tags, in the views that name them.
    pub fn tags(&self) -> &[String] {
        self.tag_list.known().map_or(&[], Vec::as_slice)
    }
}

crate::endpoints! {
    section "Runners";

    /// Lists the specific runners that the caller may use.
    GET "/runners" => Vec<Runner>;
    struct ListRunners {
        /// `active`, `paused` or `online`.
        scope: Option<String>,
    }

    /// Lists all runners of the server, for administrators.
    GET "/runners/all" => Vec<Runner>;
    struct ListAllRunners {
        /// `specific`, `shared`, `active`, `paused` or `online`.
        scope: Option<String>,
    }

    /// Reads one runner.
    GET "/runners/{id}" => Runner;
    struct GetRunner { id: u64 }

    /// Changes a runner.
    PUT "/runners/{id}" => Runner,
    touches [ListRunners, ListAllRunners, GetRunner, ListProjectRunners];
    struct UpdateRunner {
        id: u64,
        description: Option<String>,
        active: Option<bool>,
        /// All tags that it has from now on.
        tag_list: Option<Vec<String>>,
        run_untagged: Option<bool>,
        locked: Option<bool>,
        /// `not_protected` or `ref_protected`.
        access_level: Option<String>,
    }

    /// Removes a runner.
    DELETE "/runners/{id}" => Nothing,
    touches [ListRunners, ListAllRunners, GetRunner, ListProjectRunners];
    struct DeleteRunner { id: u64 }

    /// Lists the jobs that a runner does or has done.
    GET "/runners/{id}/jobs" => Vec<Job>,
    views ["commit": COMMIT_WITH_MESSAGE];
    struct ListRunnerJobs {
        id: u64,
        /// `running`, `success`, `failed` or `canceled`.
        status: Option<String>,
    }

    /// Lists the runners that serve a project, its own and shared ones.
    GET "/projects/{id}/runners" => Vec<Runner>;
    struct ListProjectRunners { id: Id }

    /// Lets a specific runner serve a project.
    POST "/projects/{id}/runners" => Runner,
    touches [ListProjectRunners, ListRunners, GetRunner];
    struct EnableRunner { id: Id, runner_id: u64 }

    /// Ends the service of a runner to a project, unless it is its only one.
    DELETE "/projects/{id}/runners/{runner_id}" => Nothing,
    touches [ListProjectRunners, ListRunners, GetRunner];
    struct DisableRunner { id: Id, runner_id: u64 }
}
