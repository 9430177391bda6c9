//! Schedules of pipelines.

use crate::sample::{acme, word};
use labscope::api::schedules::*;
use serde_json::json;

requests! {
    ListSchedules { id: acme(), scope: word("active") } => "GET /projects/acme%2Fui/pipeline_schedules?scope=active";
    GetSchedule { id: acme(), pipeline_schedule_id: 7 } => "GET /projects/acme%2Fui/pipeline_schedules/7";
    ListSchedulePipelines { id: acme(), pipeline_schedule_id: 7, sort: word("desc") }
        => "GET /projects/acme%2Fui/pipeline_schedules/7/pipelines?sort=desc";
    CreateSchedule {
        id: acme(),
        description: "Nightly".into(),
        r#ref: "main".into(),
        cron: "0 4 * * *".into(),
        cron_timezone: word("UTC"),
        active: Some(true),
        inputs: Some(vec![NewInput { name: "stage".into(), value: Some(json!("blue")), destroy: None }]),
    } => r#"POST /projects/acme%2Fui/pipeline_schedules | {"active":true,"cron":"0 4 * * *","cron_timezone":"UTC","description":"Nightly","inputs":[{"name":"stage","value":"blue"}],"ref":"main"}"#;
    UpdateSchedule {
        id: acme(),
        pipeline_schedule_id: 7,
        description: word("d"),
        r#ref: word("refs/heads/main"),
        cron: word("0 5 * * *"),
        cron_timezone: word("Europe/Berlin"),
        active: Some(false),
        inputs: Some(vec![NewInput { name: "stage".into(), value: None, destroy: Some(true) }]),
    } => r#"PUT /projects/acme%2Fui/pipeline_schedules/7 | {"active":false,"cron":"0 5 * * *","cron_timezone":"Europe/Berlin","description":"d","inputs":[{"destroy":true,"name":"stage"}],"ref":"refs/heads/main"}"#;
    DeleteSchedule { id: acme(), pipeline_schedule_id: 7 } => "DELETE /projects/acme%2Fui/pipeline_schedules/7";
    TakeOwnership { id: acme(), pipeline_schedule_id: 7 }
        => "POST /projects/acme%2Fui/pipeline_schedules/7/take_ownership";
    PlaySchedule { id: acme(), pipeline_schedule_id: 7 } => "POST /projects/acme%2Fui/pipeline_schedules/7/play";
    CreateScheduleVariable {
        id: acme(),
        pipeline_schedule_id: 7,
        key: "A".into(),
        value: "x".into(),
        variable_type: word("file"),
    } => "POST /projects/acme%2Fui/pipeline_schedules/7/variables | key=A&value=x&variable_type=file";
    UpdateScheduleVariable {
        id: acme(),
        pipeline_schedule_id: 7,
        key: "A".into(),
        value: "y".into(),
        variable_type: word("env_var"),
    } => "PUT /projects/acme%2Fui/pipeline_schedules/7/variables/A | value=y&variable_type=env_var";
    DeleteScheduleVariable { id: acme(), pipeline_schedule_id: 7, key: "A".into() }
        => "DELETE /projects/acme%2Fui/pipeline_schedules/7/variables/A";
}

samples! {
    Schedule => r##"{"id": 7, "description": "Nightly", "ref": "refs/heads/main", "cron": "0 4 * * *",
        "cron_timezone": "UTC", "next_run_at": "2026-03-02T04:00:00.000Z", "active": true,
        "created_at": "2026-03-01T04:00:00.000Z", "updated_at": "2026-03-01T04:00:00.000Z", "owner": null,
        "last_pipeline": null, "variables": [{"key": "A", "value": "x", "variable_type": "env_var", "raw": false}],
        "inputs": [{"name": "stage", "value": "blue"}, {"name": "count", "value": 3}]}"##;
}
