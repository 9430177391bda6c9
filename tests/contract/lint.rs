//! Checks of CI configurations.

use crate::sample::{acme, word};
use labscope::api::lint::*;

requests! {
    LintProject {
        id: acme(),
        content_ref: word("main"),
        sha: None,
        dry_run: Some(true),
        dry_run_ref: word("main"),
        include_jobs: Some(true),
    } => "GET /projects/acme%2Fui/ci/lint?content_ref=main&dry_run=true&dry_run_ref=main&include_jobs=true";
    LintProject {
        id: acme(),
        content_ref: None,
        sha: word("main"),
        dry_run: None,
        dry_run_ref: None,
        include_jobs: None,
    } => "GET /projects/acme%2Fui/ci/lint?sha=main";
    LintContent {
        id: acme(),
        content: "job:\n  script: x\n".into(),
        dry_run: Some(true),
        r#ref: word("main"),
        include_jobs: Some(true),
    } => r#"POST /projects/acme%2Fui/ci/lint | {"content":"job:\n  script: x\n","dry_run":true,"include_jobs":true,"ref":"main"}"#;
}

samples! {
    Lint => r##"{"valid": false, "errors": ["jobs:pack config contains unknown keys: scrpt"], "warnings": ["w"],
        "merged_yaml": "---\npack:\n  scrpt: make\n",
        "includes": [{"type": "local", "location": "ci/x.yml", "context_project": "acme/ui",
            "blob": "https://h.test/acme/ui/-/blob/2695effb/ci/x.yml",
            "raw": "https://h.test/acme/ui/-/raw/2695effb/ci/x.yml", "extra": {"project": "acme/ci", "ref": "HEAD"}}],
        "jobs": [{"name": "pack", "stage": "test", "before_script": [], "script": ["make"], "after_script": [],
            "tag_list": [], "environment": null, "when": "on_success", "allow_failure": false,
            "only": {"refs": ["branches", "tags"], "variables": null, "changes": null}, "except": null,
            "needs": [{"name": "build", "artifacts": true, "optional": false}]}]}"##;
}
