//! Schedules of pipelines. Not in the specification, although servers of that version have most of it.

use crate::pipelines::PipelineVariable;
use crate::pipelines::resources::Pipeline;
use crate::users::User;
use crate::variables::SecretText;
use crate::{Id, NoContent, Nullable, Time};
use serde_json::Value;

crate::resource! {
    /// A schedule of pipelines.
    pub struct Schedule {
        id: u64,
        description: String,
        /// The full name of a branch or tag.
        r#ref: String,
        cron: String,
        cron_timezone: String,
        next_run_at: Option<Time>,
        active: bool,
        created_at: Option<Time>,
        updated_at: Option<Time>,
        owner: Option<User>,
    }
    views {
        /// The latest pipeline; only for a single schedule.
        last_pipeline: Nullable<Pipeline>,
        /// The variables; only for a single schedule, and for those who may change it.
        variables: Option<Vec<PipelineVariable>>,
        /// The inputs of the configuration (since 17.11); only for a single schedule.
        inputs: Option<Vec<ScheduleInput>>,
    }
}

crate::resource! {
    /// The value of an input of the configuration.
    pub struct ScheduleInput {
        name: String,
        value: Value,
    }
}

crate::input_object! {
    default
    /// A new value of an input, or its removal.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct NewInput {
        pub name: String,
        pub value: Option<Value>,
        /// Whether the input is removed.
        pub destroy: Option<bool>,
    }
}

crate::endpoints! {
    unspecified section "Pipeline schedules";

    /// Lists the schedules of a project.
    GET "/projects/{id}/pipeline_schedules" => Vec<Schedule>, about Schedules;
    struct ListSchedules {
        id: Id,
        /// `active` or `inactive`.
        scope: Option<String>,
    }

    /// Gets a schedule.
    GET "/projects/{id}/pipeline_schedules/{pipeline_schedule_id}" => Schedule, about Schedules;
    struct GetSchedule { id: Id, pipeline_schedule_id: u64 }

    /// Lists the pipelines that a schedule has started, oldest first (since 15.3).
    GET "/projects/{id}/pipeline_schedules/{pipeline_schedule_id}/pipelines" => Vec<Pipeline>, about Pipelines;
    struct ListSchedulePipelines {
        id: Id,
        pipeline_schedule_id: u64,
        /// `asc` (default) or `desc`.
        sort: Option<String>,
    }

    /// Creates a schedule.
    JSON POST "/projects/{id}/pipeline_schedules" => Schedule,
    outdates [Schedules];
    struct CreateSchedule {
        id: Id,
        description: String,
        r#ref: String,
        cron: String,
        cron_timezone: Option<String>,
        active: Option<bool>,
        /// The inputs of the configuration (since 17.11).
        inputs: Option<Vec<NewInput>>,
    }

    /// Changes a schedule of the caller.
    JSON PUT "/projects/{id}/pipeline_schedules/{pipeline_schedule_id}" => Schedule,
    outdates [Schedules];
    struct UpdateSchedule {
        id: Id,
        pipeline_schedule_id: u64,
        description: Option<String>,
        r#ref: Option<String>,
        cron: Option<String>,
        cron_timezone: Option<String>,
        active: Option<bool>,
        /// The inputs of the configuration (since 17.11).
        inputs: Option<Vec<NewInput>>,
    }

    /// Deletes a schedule.
    DELETE "/projects/{id}/pipeline_schedules/{pipeline_schedule_id}" => NoContent,
    outdates [Schedules];
    struct DeleteSchedule { id: Id, pipeline_schedule_id: u64 }

    /// Makes the caller the owner of a schedule.
    POST "/projects/{id}/pipeline_schedules/{pipeline_schedule_id}/take_ownership" => Schedule,
    outdates [Schedules];
    struct TakeOwnership { id: Id, pipeline_schedule_id: u64 }

    /// Runs a pipeline of a schedule now, with the rights of the caller (since 12.8).
    POST "/projects/{id}/pipeline_schedules/{pipeline_schedule_id}/play" => NoContent,
    outdates [Schedules, Pipelines, Jobs];
    struct PlaySchedule { id: Id, pipeline_schedule_id: u64 }

    /// Adds a variable to a schedule.
    POST "/projects/{id}/pipeline_schedules/{pipeline_schedule_id}/variables" => PipelineVariable,
    outdates [Schedules];
    struct CreateScheduleVariable {
        id: Id,
        pipeline_schedule_id: u64,
        key: String,
        value: SecretText,
        variable_type: Option<String>,
    }

    /// Changes a variable of a schedule.
    PUT "/projects/{id}/pipeline_schedules/{pipeline_schedule_id}/variables/{key}" => PipelineVariable,
    outdates [Schedules];
    struct UpdateScheduleVariable {
        id: Id,
        pipeline_schedule_id: u64,
        key: String,
        value: SecretText,
        variable_type: Option<String>,
    }

    /// Removes a variable from a schedule.
    DELETE "/projects/{id}/pipeline_schedules/{pipeline_schedule_id}/variables/{key}" => PipelineVariable,
    outdates [Schedules];
    struct DeleteScheduleVariable { id: Id, pipeline_schedule_id: u64, key: String }
}
