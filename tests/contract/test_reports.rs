//! Test reports of pipelines.

use labscope::api::test_reports::*;

requests! {
    GetTestReportSummary { id: 1.into(), pipeline_id: 46 } => "GET /projects/1/pipelines/46/test_report_summary";
    GetTestReport { id: 1.into(), pipeline_id: 46 } => "GET /projects/1/pipelines/46/test_report";
}

samples! {
    TestReportSummary => r#"{"total": {"time": 1904, "count": 3363, "success": 3351, "failed": 0, "skipped": 12,
            "error": 0, "suite_error": null},
        "test_suites": [{"name": "javascript", "total_time": 1904, "total_count": 3363, "success_count": 3351,
            "failed_count": 0, "skipped_count": 12, "error_count": 0, "build_ids": [66004], "suite_error": null}]}"#;
    TestReport => r#"{"total_time": 5, "total_count": 1, "success_count": 0, "failed_count": 1, "skipped_count": 0,
        "error_count": 0,
        "test_suites": [{"name": "Secure", "total_time": 5, "total_count": 1, "success_count": 0, "failed_count": 1,
            "skipped_count": 0, "error_count": 0, "suite_error": null,
            "test_cases": [{"status": "failed", "name": "Security Reports can create an auto-remediation MR",
                "classname": "vulnerability_management_spec", "file": "./spec/test_spec.rb", "execution_time": 5,
                "system_output": "Failure/Error: is_expected.to eq(300)", "stack_trace": "a.rb:12",
                "recent_failures": {"count": 3, "base_branch": "develop"},
                "attachment_url": "http://localhost/namespace1/project1/-/jobs/1/artifacts/file/some/path.png"}]}]}"#;
}

#[test]
fn the_output_of_a_skipped_test_may_be_an_object() {
    let read: TestCase =
        serde_json::from_str(r#"{"status": "skipped", "system_output": {"message": "later"}}"#).unwrap();
    assert_eq!(read.system_output["message"], "later");
}
