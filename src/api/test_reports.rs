//! Test reports of pipelines: what the jobs' reports say together. Not in the specification.

use crate::api::Id;
use serde_json::Value;

crate::resource! {
    /// The tests of all suites of a pipeline, counted.
    pub struct TestTotals {
        /// In seconds.
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
    /// The tests of a job, counted.
    pub struct TestSuiteSummary {
        /// The job's name.
        name: String,
        /// In seconds.
        total_time: f64,
        total_count: u64,
        success_count: u64,
        failed_count: u64,
        skipped_count: u64,
        error_count: u64,
        build_ids: Vec<u64>,
        /// Why its report could not be read.
        suite_error: Option<String>,
    }
}

crate::resource! {
    /// The test report of a pipeline in numbers; all are 0 until it has finished.
    pub struct TestReportSummary {
        total: TestTotals,
        test_suites: Vec<TestSuiteSummary>,
    }
}

crate::resource! {
    /// How often a test failed lately.
    pub struct RecentFailures {
        count: u64,
        base_branch: String,
    }
}

crate::resource! {
    /// One test.
    pub struct TestCase {
        /// `success`, `failed`, `error` or `skipped`.
        status: String,
        name: String,
        classname: Option<String>,
        file: Option<String>,
        /// In seconds.
        execution_time: f64,
        /// A text; an object of some skipped ones.
        system_output: Value,
        stack_trace: Option<String>,
        recent_failures: Option<RecentFailures>,
    }
}

crate::resource! {
    /// The tests of a job.
    pub struct TestSuite {
        /// The job's name.
        name: String,
        /// In seconds.
        total_time: f64,
        total_count: u64,
        success_count: u64,
        failed_count: u64,
        skipped_count: u64,
        error_count: u64,
        /// Why its report could not be read.
        suite_error: Option<String>,
        test_cases: Vec<TestCase>,
    }
}

crate::resource! {
    /// The tests of a pipeline.
    pub struct TestReport {
        /// In seconds.
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
    newer section "Test reports";

    /// Counts the tests of a pipeline.
    GET "/projects/{id}/pipelines/{pipeline_id}/test_report_summary" => TestReportSummary;
    struct GetTestReportSummary { id: Id, pipeline_id: u64 }

    /// Reads the tests of a pipeline.
    GET "/projects/{id}/pipelines/{pipeline_id}/test_report" => TestReport;
    struct GetTestReport { id: Id, pipeline_id: u64 }
}
