//! Test reports of pipelines, combined from the reports of their jobs. Not in the specification.

use crate::Id;
use serde_json::Value;

crate::resource! {
    /// The totals of all test suites of a pipeline.
    pub struct TestTotals {
        /// The duration in seconds.
        time: f64,
        count: u64,
        success: u64,
        failed: u64,
        skipped: u64,
        error: u64,
        suite_error: Option<String>,
    }
}

crate::resource! {
    /// The test counts of a job.
    pub struct TestSuiteSummary {
        /// The name of the job.
        name: String,
        /// The duration in seconds.
        total_time: f64,
        total_count: u64,
        success_count: u64,
        failed_count: u64,
        skipped_count: u64,
        error_count: u64,
        build_ids: Vec<u64>,
        /// The reason why the report could not be parsed.
        suite_error: Option<String>,
    }
}

crate::resource! {
    /// The test counts of a pipeline; all are 0 until it has finished.
    pub struct TestReportSummary {
        total: TestTotals,
        test_suites: Vec<TestSuiteSummary>,
    }
}

crate::resource! {
    /// The number of recent failures of a test.
    pub struct RecentFailures {
        count: u64,
        base_branch: String,
    }
}

crate::resource! {
    /// A test case.
    pub struct TestCase {
        /// `success`, `failed`, `error` or `skipped`.
        status: String,
        name: String,
        classname: Option<String>,
        file: Option<String>,
        /// The duration in seconds.
        execution_time: f64,
        /// The output: text, or the attributes of a failure without text, or an array of these for several failures.
        system_output: Value,
        stack_trace: Option<String>,
        recent_failures: Option<RecentFailures>,
        /// The web page of the first attached file, in the artifacts of the job.
        attachment_url: Option<String>,
    }
}

crate::resource! {
    /// The test cases of a job.
    pub struct TestSuite {
        /// The name of the job.
        name: String,
        /// The duration in seconds.
        total_time: f64,
        total_count: u64,
        success_count: u64,
        failed_count: u64,
        skipped_count: u64,
        error_count: u64,
        /// The reason why the report could not be parsed.
        suite_error: Option<String>,
        test_cases: Vec<TestCase>,
    }
}

crate::resource! {
    /// The test report of a pipeline.
    pub struct TestReport {
        /// The duration in seconds.
        total_time: f64,
        total_count: u64,
        success_count: u64,
        failed_count: u64,
        skipped_count: u64,
        error_count: u64,
        test_suites: Vec<TestSuite>,
    }
}

crate::endpoints! {
    unspecified section "Test reports";

    /// Gets the test counts of a pipeline.
    GET "/projects/{id}/pipelines/{pipeline_id}/test_report_summary" => TestReportSummary;
    struct GetTestReportSummary { id: Id, pipeline_id: u64 }

    /// Gets the test report of a pipeline.
    GET "/projects/{id}/pipelines/{pipeline_id}/test_report" => TestReport;
    struct GetTestReport { id: Id, pipeline_id: u64 }
}
