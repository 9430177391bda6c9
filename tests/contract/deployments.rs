//! Deployments.

use crate::sample::word;
use labscope::api::deployments::*;

requests! {
    ListDeployments { id: 1.into(), order_by: word("iid"), sort: word("desc") } =>
        "GET /projects/1/deployments?order_by=iid&sort=desc";
    GetDeployment { id: 1.into(), deployment_id: 42 } => "GET /projects/1/deployments/42";
    CreateDeploymentApproval { id: 1.into(), deployment_id: 42, status: "approved".into(), comment: word("go") } =>
        "POST /projects/1/deployments/42/approval | comment=go&status=approved";
}

samples! {
    DeploymentApproval => r#"{"user": {"id": 7, "username": "user7"}, "status": "approved", "created_at": "2026-03-02T11:04:05.006Z",
        "comment": "go"}"#;
    Deployment => r#"{
        "created_at": "2016-08-11T11:32:35.444Z", "id": 42, "iid": 2, "ref": "master", "sha": "a91957a858320c0e17f3",
        "user": {"name": "Administrator", "username": "root", "id": 1, "state": "active", "avatar_url": "http://a",
            "web_url": "http://h/root"},
        "environment": {"id": 9, "name": "production", "external_url": "https://about.example.com"},
        "deployable": {
            "id": 664, "status": "success", "stage": "deploy", "name": "deploy", "ref": "master", "tag": false,
            "coverage": null, "created_at": "2016-08-11T11:32:24.456Z", "started_at": null,
            "finished_at": "2016-08-11T11:32:35.145Z",
            "user": {"id": 1, "name": "Administrator", "username": "root", "state": "active", "avatar_url": null,
                "web_url": "http://h/root", "created_at": "2016-08-11T07:09:20.351Z", "bio": null, "location": null,
                "messenger_id": "", "network_profile": "", "microblog_account": "", "website_url": "",
                "organization": ""},
            "commit": {"id": "a91957a858320c0e17f3", "short_id": "a91957a8", "title": "Merge branch"},
            "runner": null
        }
    }"#;
}
