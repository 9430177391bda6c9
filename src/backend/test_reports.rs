//! Test reports of pipelines, parsed from the artifacts of their jobs.

use super::call::{Call, Outcome, ReadCall, ok};
use super::jobs::{ArchiveBytes, unexpired_artifacts};
use super::mount::Mount;
use super::records::{Archive, Job, Pipeline};
use super::world::World;
use api::endpoint::encode;
use api::test_reports::*;
use domain::junit::{self, End, Failure, FailureKind, TestRecord};
use serde_json::Value;
use std::collections::HashMap;
use std::io::{Cursor, Read};
use std::ops::Deref;
use std::sync::Arc;
use zip::ZipArchive;

/// The maximum size in bytes of a report file.
const MAX_REPORT_BYTES: u64 = 16 * 1024 * 1024;
/// The maximum number of test cases of a report.
const MAX_CASES: usize = 200_000;
/// The statuses in the order in which GitLab lists their cases.
const STATUSES: [&str; 4] = ["error", "failed", "success", "skipped"];

pub fn mount(mount: Mount) -> Mount {
    mount.read_signed_in::<GetTestReportSummary>(summary).read_signed_in::<GetTestReport>(full_report)
}

/// The test cases of a job, as GitLab collects them from its reports.
#[derive(Default)]
struct Collected {
    /// The cases in their order.
    cases: Vec<TestCase>,
    /// The index of each case by its status and key: of equal cases, the last one counts.
    indexes: HashMap<(String, String), usize>,
    total_time: f64,
}

impl Collected {
    fn add(&mut self, key: String, case: TestCase) {
        self.total_time += case.execution_time;
        let count = self.cases.len();
        let index = *self.indexes.entry((case.status.clone(), key)).or_insert(count);
        match self.cases.get_mut(index) {
            Some(known) => *known = case,
            None => self.cases.push(case),
        }
    }
}

/// Adds the test cases of a report, as GitLab's parser reads it (`lib/gitlab/ci/parsers/test/junit.rb`).
///
/// # Errors
///
/// Returns the reason why GitLab shows none of the job's tests.
fn read_report(call: &ReadCall, job: &Job, bytes: &[u8], collected: &mut Collected) -> Result<(), String> {
    let fail = |(line, column): (usize, usize), why: &str| {
        Err(format!("JUnit XML parsing failed: {line}:{column}: FATAL: {why}"))
    };
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_start_matches('\u{feff}');
    if text.trim().is_empty() {
        return Ok(());
    }
    if !text.trim_start().starts_with('<') {
        return fail((1, 1), "Start tag expected, '<' not found");
    }
    // Other kinds of XML are not the job's reports.
    if !junit::is_report(text) {
        return Ok(());
    }
    let is_invalid = |c: char| c < ' ' && !matches!(c, '\t' | '\n' | '\r');
    if let Some((at, c)) = text.char_indices().find(|(_, c)| is_invalid(*c)) {
        let position = junit::position(text.get(..at).unwrap_or_default());
        return fail(position, &format!("PCDATA invalid Char value {}", u32::from(c)));
    }
    let mut count: usize = 0;
    let (end, _) = junit::read_xml(text, &|| call.stop.check().is_err(), &mut |record| {
        if !record.is_suite {
            count += 1;
            let suite = if record.suite.is_empty() { &job.name } else { &record.suite };
            let key = format!("{suite}_{}_{}", record.class, record.name);
            collected.add(key, show_case(call, job, record));
        }
        count <= MAX_CASES
    });
    match end {
        End::Done if count > MAX_CASES => {
            Err(format!("JUnit data parsing failed: number of test cases exceeded the limit of {MAX_CASES}"))
        }
        End::Done => Ok(()),
        End::Truncated => fail(junit::position(text), "Premature end of data"),
        End::Broken { line, column, why } => fail((line, column), &why),
    }
}

/// Returns the test suite of a job from all reports in its artifacts; `None` if there are none.
fn suite(call: &ReadCall, job: &Job) -> Option<TestSuite> {
    let artifacts = unexpired_artifacts(job, call.now)?;
    let archive = call.world.archives.get_arc(artifacts.archive)?.clone();
    let mut collected = Collected::default();
    let suite_error = read_reports(call, job, archive, &mut collected).err();
    let mut cases = collected.cases;
    if suite_error.is_some() {
        cases.clear();
    } else if cases.is_empty() {
        return None;
    }
    let order = |case: &TestCase| STATUSES.iter().position(|status| *status == case.status);
    cases.sort_by(|a, b| order(a).cmp(&order(b)).then(b.execution_time.total_cmp(&a.execution_time)));
    let count = |status: &str| cases.iter().filter(|case| case.status == status).count() as u64;
    Some(TestSuite {
        name: job.name.clone(),
        total_time: collected.total_time,
        total_count: cases.len() as u64,
        success_count: count("success"),
        failed_count: count("failed"),
        skipped_count: count("skipped"),
        error_count: count("error"),
        suite_error,
        test_cases: cases,
    })
}

/// Reads all reports of an archive. A broken one does not keep the others from being read.
///
/// # Errors
///
/// Returns the reason why the archive or one of the reports cannot be read.
fn read_reports(call: &ReadCall, job: &Job, archive: Arc<Archive>, collected: &mut Collected) -> Result<(), String> {
    let fail = |why: zip::result::ZipError| format!("the artifacts could not be read: {why}");
    let mut zip = ZipArchive::new(Cursor::new(ArchiveBytes(archive))).map_err(fail)?;
    let mut outcome = Ok(());
    for index in 0..zip.len() {
        let file = zip.by_index(index).map_err(fail)?;
        if !file.is_file() || !file.name().is_ok_and(|name| name.ends_with(".xml")) || file.size() > MAX_REPORT_BYTES {
            continue;
        }
        let mut bytes = Vec::new();
        if file.take(MAX_REPORT_BYTES).read_to_end(&mut bytes).is_ok() {
            outcome = outcome.and(read_report(call, job, &bytes, collected));
        }
    }
    outcome
}

/// Returns the failures of a case with their status, as GitLab decides: a failure is more than an error, and that more than
/// a reason for skipping. Other runs do not count.
fn outcome(record: &TestRecord) -> (&'static str, Vec<&Failure>) {
    let kinds = [(FailureKind::Failure, "failed"), (FailureKind::Error, "error"), (FailureKind::Skipped, "skipped")];
    let of_kind = |kind| record.failures.iter().filter(|failure| failure.kind == kind).collect::<Vec<_>>();
    let mut found = kinds.into_iter().map(|(kind, status)| (status, of_kind(kind)));
    found.find(|(_, failures)| !failures.is_empty()).unwrap_or(("success", Vec::new()))
}

/// Returns a failure as the server converts it: its text, or else its attributes.
fn show_failure(failure: &Failure) -> Value {
    if !failure.text.trim().is_empty() {
        return failure.text.as_str().into();
    }
    let fields = failure.attributes.iter().map(|(name, value)| (name.clone(), Value::from(value.as_str())));
    let fields: serde_json::Map<String, Value> = fields.collect();
    if fields.keys().all(|name| name == "type") { Value::Null } else { fields.into() }
}

/// Converts a test case. Its output is only the content of its failures, an array if there are several.
fn show_case(call: &ReadCall, job: &Job, record: TestRecord) -> TestCase {
    let (status, failures) = outcome(&record);
    let mut outputs: Vec<Value> = failures.into_iter().map(show_failure).collect();
    let system_output = match outputs.len() {
        0 => Value::Null,
        // An attribute of the same name replaces the elements.
        _ if status == "failed" && !record.failure_attribute.is_empty() => record.failure_attribute.into(),
        1 => outputs.remove(0),
        _ => outputs.into(),
    };
    let attachment = junit::attachments(&record.output).into_iter().next();
    let attachment_url = attachment.filter(|_| matches!(status, "failed" | "error")).and_then(|path| {
        let project = call.project_url(call.world.projects.get(job.project)?);
        let path: Vec<String> = path.split('/').map(encode).collect();
        Some(format!("{project}/-/jobs/{}/artifacts/file/{}", job.id, path.join("/")))
    });
    TestCase {
        status: status.into(),
        name: record.name,
        classname: Some(record.class).filter(|class| !class.is_empty()),
        file: Some(record.file).filter(|file| !file.is_empty()),
        execution_time: record.time.unwrap_or_default(),
        system_output,
        attachment_url,
        // Recent failures are counted for pages (`TestFailureHistory` in `app/controllers/projects/pipelines/tests_controller.rb`),
        // and are null in the API, which presents `Ci::Pipeline#test_reports` as they are.
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
    let jobs = call.jobs_with_reports(pipeline).into_iter();
    jobs.filter_map(|job| Some((job.id, suite(call, job)?))).collect()
}

/// Returns the time of all suites; the sum of none would be -0.0.
fn total_time(suites: &[(u64, TestSuite)]) -> f64 {
    suites.iter().fold(0.0, |sum, (_, suite)| sum + suite.total_time)
}

fn sum(suites: &[(u64, TestSuite)], of: fn(&TestSuite) -> u64) -> u64 {
    suites.iter().map(|(_, suite)| of(suite)).sum()
}

fn summary(call: &ReadCall, input: GetTestReportSummary) -> Outcome<TestReportSummary> {
    let (_, pipeline) = call.pipeline(&input.id, input.pipeline_id)?;
    let suites = suites(call, pipeline);
    let total = TestTotals {
        time: total_time(&suites),
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
        total_time: total_time(&suites),
        total_count: sum(&suites, |suite| suite.total_count),
        success_count: sum(&suites, |suite| suite.success_count),
        failed_count: sum(&suites, |suite| suite.failed_count),
        skipped_count: sum(&suites, |suite| suite.skipped_count),
        error_count: sum(&suites, |suite| suite.error_count),
        test_suites: suites.into_iter().map(|(_, suite)| suite).collect(),
    })
}
