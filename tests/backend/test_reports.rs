//! Test reports, generated from the artifacts of a pipeline's jobs.

use crate::{Server, each, json};
use labscope::backend::{Options, WorldKind};
use serde_json::{Value, json as value};

const PIPELINES: &str = "/projects/acme%2Frocket-ui/pipelines";

#[tokio::test]
async fn a_finished_pipeline_reports_the_tests_of_its_jobs() {
    let server = Server::with(Options { world: WorldKind::Demo, ..Options::default() }).await;
    let failed = server.read("ada", &format!("{PIPELINES}?ref=fix%2Fnarrow-columns")).await[0]["id"].clone();
    let summary = server.read("ada", &format!("{PIPELINES}/{failed}/test_report_summary")).await;
    let total = &summary["total"];
    assert_eq!(
        (&total["count"], &total["failed"], &total["skipped"], &total["error"]),
        (&28.into(), &1.into(), &1.into(), &0.into()),
        "{summary}"
    );
    assert_eq!(each(&summary["test_suites"], "name"), ["unit", "screens"]);
    assert!(summary["test_suites"][1]["build_ids"][0].is_u64());
    let report = server.read("ada", &format!("{PIPELINES}/{failed}/test_report")).await;
    assert_eq!((&report["total_count"], &report["failed_count"]), (&28.into(), &1.into()));
    let cases = report["test_suites"][1]["test_cases"].as_array().unwrap();
    let broken: Vec<&Value> = cases.iter().filter(|case| case["status"] == "failed").collect();
    assert_eq!(broken.len(), 1);
    assert_eq!(
        (&broken[0]["name"], &broken[0]["classname"]),
        (&"a_narrow_terminal_is_not_a_panic".into(), &"table".into())
    );
    assert!(broken[0]["system_output"].as_str().unwrap().contains("tests/table.rs:22"), "{}", broken[0]);
}

#[tokio::test]
async fn a_pipeline_without_reports_has_no_tests_and_an_unknown_one_is_404() {
    let server = Server::with(Options { world: WorldKind::Demo, ..Options::default() }).await;
    let running = server.read("ada", &format!("{PIPELINES}?scope=running")).await[0]["id"].clone();
    let report = server.read("ada", &format!("{PIPELINES}/{running}/test_report")).await;
    assert_eq!((&report["total_count"], &report["test_suites"]), (&0.into(), &value!([])));
    let missing = server.get("ada", &format!("{PIPELINES}/999999/test_report_summary")).await;
    assert_eq!(json(missing, 404).await["message"], "404 Not found");
    let anonymous = server.get("", &format!("{PIPELINES}/{running}/test_report")).await;
    assert_eq!(anonymous.status(), 401);
}
