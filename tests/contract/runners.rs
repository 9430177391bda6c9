//! Runners.

use crate::sample::{acme, word};
use labscope::api::runners::*;

requests! {
    ListRunners { scope: word("active") } => "GET /runners?scope=active";
    ListAllRunners { scope: word("shared") } => "GET /runners/all?scope=shared";
    GetRunner { id: 6 } => "GET /runners/6";
    UpdateRunner {
        id: 6,
        description: word("d"),
        active: Some(false),
        tag_list: Some(vec!["ruby".into(), "mysql".into()]),
        run_untagged: Some(true),
        locked: Some(true),
        access_level: word("ref_protected"),
    } => "PUT /runners/6 | access_level=ref_protected&active=false&description=d&locked=true&run_untagged=true\
          &tag_list[]=ruby&tag_list[]=mysql";
    DeleteRunner { id: 6 } => "DELETE /runners/6";
    ListRunnerJobs { id: 6, status: word("running") } => "GET /runners/6/jobs?status=running";
    ListProjectRunners { id: acme() } => "GET /projects/acme%2Fui/runners";
    EnableRunner { id: 9.into(), runner_id: 6 } => "POST /projects/9/runners | runner_id=6";
    DisableRunner { id: 9.into(), runner_id: 6 } => "DELETE /projects/9/runners/6";
}

samples! {
    Runner => r#"{"active": true, "description": "test-1-20150125", "id": 6, "is_shared": false, "name": null,
        "online": true, "status": "online"}"#;
    Runner => r#"{
        "active": true, "architecture": null, "description": "test-1-20150125", "id": 6, "is_shared": false,
        "contacted_at": "2016-01-25T16:39:48.066Z", "name": null, "online": null, "status": "never_contacted",
        "platform": null, "projects": [{"id": 1, "name": "C", "name_with_namespace": "O / C", "path": "c",
            "path_with_namespace": "o/c"}],
        "token": "205086a8e3b9a2b818ffac9b89d102", "revision": null, "tag_list": ["ruby", "mysql"], "version": null,
        "access_level": "ref_protected", "run_untagged": true, "locked": false
    }"#;
}
