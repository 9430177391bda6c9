//! Test reports of pipelines, parsed from the artifacts of their jobs.

use super::call::{Call, Outcome, ReadCall, ok};
use super::jobs::{ArchiveBytes, unexpired_artifacts};
use super::mount::Mount;
use super::records::{Job, Pipeline};
use super::world::World;
use crate::api::test_reports::*;
use crate::domain::junit::{self, Case, Verdict};
use std::io::{Cursor, Read};
use std::ops::Deref;
use zip::ZipArchive;

/// The maximum size in bytes of a report file.
const MAX_REPORT_BYTES: u64 = 16 * 1024 * 1024;

pub fn mount(mount: Mount) -> Mount {
    mount.read_signed_in::<GetTestReportSummary>(summary).read_signed_in::<GetTestReport>(full_report)
}

/// Returns the test cases from all reports in a job's artifacts, or the reason why these cannot be read.
fn reports(call: &ReadCall, job: &Job) -> Result<Vec<Case>, String> {
    let Some(archive) =
        unexpired_artifacts(job, call.now).and_then(|artifacts| call.world.archives.get_arc(artifacts.archive))
    else {
        return Ok(Vec::new());
    };
    let fail = |why: zip::result::ZipError| format!("the artifacts could not be read: {why}");
    let mut zip = ZipArchive::new(Cursor::new(ArchiveBytes(archive.clone()))).map_err(fail)?;
    let mut cases = Vec::new();
    for index in 0..zip.len() {
        let mut file = zip.by_index(index).map_err(fail)?;
        if !file.is_file() || !file.name().is_ok_and(|name| name.ends_with(".xml")) || file.size() > MAX_REPORT_BYTES {
            continue;
        }
        let mut text = String::new();
        if (&mut file).take(MAX_REPORT_BYTES).read_to_string(&mut text).is_err() {
            continue;
        }
        if let Some(report) = junit::read(&text, &|| call.stop.check().is_err()) {
            cases.extend(report.cases);
        }
    }
    Ok(cases)
}

fn show_case(case: &Case) -> TestCase {
    let status = match case.verdict {
        Verdict::Passed => "success",
        Verdict::Failed => "failed",
        Verdict::Error => "error",
        Verdict::Skipped => "skipped",
    };
    TestCase {
        status: status.into(),
        name: case.name.clone(),
        classname: Some(case.class.clone()),
        file: Some(case.file.clone()).filter(|file| !file.is_empty()),
        execution_time: case.time.unwrap_or_default(),
        system_output: Some(&case.text)
            .filter(|text| !text.is_empty())
            .map(|text| text.as_str().into())
            .unwrap_or_default(),
        ..TestCase::default()
    }
}

impl<W: Deref<Target = World>> Call<W> {
    /// Returns the jobs of a pipeline that may have reports; none until the pipeline has finished.
    fn jobs_with_reports(&self, pipeline: &Pipeline) -> Vec<&Job> {
        let jobs = self.world.pipeline_jobs(pipeline.id).filter(|job| job.artifacts.is_some());
        if pipeline.status.is_finished() { jobs.collect() } else { Vec::new() }
    }
}

/// Returns the test suites of a pipeline, each with the ID of its job.
fn suites(call: &ReadCall, pipeline: &Pipeline) -> Vec<(u64, TestSuite)> {
    let mut suites = Vec::new();
    for job in call.jobs_with_reports(pipeline) {
        let (cases, suite_error) = match reports(call, job) {
            Ok(cases) => (cases, None),
            Err(why) => (Vec::new(), Some(why)),
        };
        if cases.is_empty() && suite_error.is_none() {
            continue;
        }
        let count = |verdict: Verdict| cases.iter().filter(|case| case.verdict == verdict).count() as u64;
        let suite = TestSuite {
            name: job.name.clone(),
            total_time: cases.iter().filter_map(|case| case.time).sum(),
            total_count: cases.len() as u64,
            success_count: count(Verdict::Passed),
            failed_count: count(Verdict::Failed),
            skipped_count: count(Verdict::Skipped),
            error_count: count(Verdict::Error),
            suite_error,
            test_cases: cases.iter().map(show_case).collect(),
        };
        suites.push((job.id, suite));
    }
    suites
}

fn sum(suites: &[(u64, TestSuite)], of: fn(&TestSuite) -> u64) -> u64 {
    suites.iter().map(|(_, suite)| of(suite)).sum()
}

fn summary(call: &ReadCall, input: GetTestReportSummary) -> Outcome<TestReportSummary> {
    let (_, pipeline) = call.pipeline(&input.id, input.pipeline_id)?;
    let suites = suites(call, pipeline);
    let total = TestTotals {
        time: suites.iter().map(|(_, suite)| suite.total_time).sum(),
        count: sum(&suites, |suite| suite.total_count),
        success: sum(&suites, |suite| suite.success_count),
        failed: sum(&suites, |suite| suite.failed_count),
        skipped: sum(&suites, |suite| suite.skipped_count),
        error: sum(&suites, |suite| suite.error_count),
        suite_error: None,
    };
    let brief = |(job, suite): (u64, TestSuite)| TestSuiteSummary {
        name: suite.name,
        total_time: suite.total_time,
        total_count: suite.total_count,
        success_count: suite.success_count,
        failed_count: suite.failed_count,
        skipped_count: suite.skipped_count,
        error_count: suite.error_count,
        build_ids: vec![job],
        suite_error: suite.suite_error,
    };
    ok(TestReportSummary { total, test_suites: suites.into_iter().map(brief).collect() })
}

fn full_report(call: &ReadCall, input: GetTestReport) -> Outcome<TestReport> {
    let (_, pipeline) = call.pipeline(&input.id, input.pipeline_id)?;
    let suites = suites(call, pipeline);
    ok(TestReport {
        total_time: suites.iter().map(|(_, suite)| suite.total_time).sum(),
        total_count: sum(&suites, |suite| suite.total_count),
        success_count: sum(&suites, |suite| suite.success_count),
        failed_count: sum(&suites, |suite| suite.failed_count),
        skipped_count: sum(&suites, |suite| suite.skipped_count),
        error_count: sum(&suites, |suite| suite.error_count),
        test_suites: suites.into_iter().map(|(_, suite)| suite).collect(),
    })
}
