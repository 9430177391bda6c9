//! Test reports, from JUnit XML or from the server's API: test cases, what broke in them, the source locations that they
//! name, and their attachments.

mod message;
mod xml;

pub use message::ESCAPE_CHARACTER;
pub(super) use xml::attribute;
pub use xml::{End, is_report, position, read as read_xml};

use crate::source_location::{self, SourceLocation};
use crate::text;
use api::test_reports::{RecentFailures, TestCase, TestReport};
use message::{restore_escapes, what_broke, without_escapes};
use regex::Regex;
use serde_json::Value;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::LazyLock;

/// The maximum number of cases that are read, and the reason why a report is incomplete if it has more.
const MAX_CASES: usize = 200_000;
const TOO_MANY: &str = "it has more than 200,000 tests";
/// The maximum size of each text of a case, in bytes.
const MAX_TEXT: usize = 64 * 1024;
/// The maximum size of a name, in bytes.
const MAX_NAME: usize = 512;
/// The maximum number of source locations that are returned per case.
const MAX_LOCATIONS: usize = 40;
/// The maximum number of attachments of a case.
const MAX_ATTACHMENTS: usize = 40;

/// The result of a case. The order is that of the table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    Failed,
    Error,
    /// An error of a whole suite, which is no test: a script died, or a setup failed.
    SuiteError,
    /// The test failed first, and passed when it was run again.
    Flaky,
    Skipped,
    #[default]
    Passed,
}

impl Verdict {
    /// Returns whether the case failed or had an error.
    pub fn is_failure(self) -> bool {
        self <= Verdict::SuiteError
    }
}

/// The kind of a failure in a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FailureKind {
    Failure,
    Error,
    Skipped,
    /// A failure of another run of the same test.
    Rerun,
}

impl FailureKind {
    /// Returns the kind that an element of a report stands for.
    fn of_element(name: &str) -> Option<FailureKind> {
        Some(match name {
            "failure" => FailureKind::Failure,
            "error" => FailureKind::Error,
            "skipped" => FailureKind::Skipped,
            // Surefire 3.5, cargo-nextest 0.9.
            "flakyFailure" | "flakyError" | "rerunFailure" | "rerunError" => FailureKind::Rerun,
            _ => return None,
        })
    }
}

/// A failure as the report has it, or the reason why a test was skipped.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    pub kind: FailureKind,
    /// The attributes in the order of the report, such as `message` and `type`.
    pub attributes: Vec<(String, String)>,
    pub text: String,
}

impl Failure {
    fn attribute(&self, name: &str) -> &str {
        self.attributes.iter().find(|(key, _)| key == name).map_or("", |(_, value)| value)
    }

    /// Returns the text to read: the text with the message, unless it repeats that, or else the type.
    fn full_text(&self) -> String {
        let text = match self.kind {
            // The elements in it are indented.
            FailureKind::Rerun => self.text.trim(),
            _ => self.text.trim_matches(['\n', '\r']).trim_end(),
        };
        let message = self.attribute("message").trim_matches(['\n', '\r']).trim_end();
        let first_line = message.trim().lines().next().unwrap_or_default();
        match (message.trim().is_empty(), text.trim().is_empty()) {
            (true, true) => self.attribute("type").to_owned(),
            (false, true) => message.to_owned(),
            (false, false) if !text.contains(first_line) => format!("{message}\n{text}"),
            (_, false) => text.to_owned(),
        }
    }
}

/// A test case as the report has it, or a suite with errors of its own.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TestRecord {
    /// Whether this is a suite.
    pub is_suite: bool,
    /// The name of the innermost suite around a case.
    pub suite: String,
    pub name: String,
    pub class: String,
    pub file: String,
    pub line: Option<u32>,
    /// The duration in seconds.
    pub time: Option<f64>,
    pub failures: Vec<Failure>,
    /// The attribute `failure`, which repeats the message (Node.js 24).
    pub failure_attribute: String,
    /// The standard output.
    pub output: String,
    /// The standard error.
    pub errors: String,
}

/// A test case, for reading.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Case {
    /// The name, or the class if the test has none.
    pub name: String,
    /// The job that ran the case, if the report is of a pipeline.
    pub suite: String,
    /// The class or module of the case, or the name of its suite if it has none.
    pub class: String,
    /// The duration in seconds.
    pub time: Option<f64>,
    pub verdict: Verdict,
    /// The reason of the failure or for skipping, on one line.
    pub message: String,
    /// The texts of all failures.
    pub text: String,
    /// The output of the test.
    pub output: String,
    /// The files that the report gives for the case, with the lines.
    files: Vec<SourceLocation>,
    /// The number of other runs of the test that failed.
    pub reruns: usize,
    /// The paths of attached files in the artifacts of the job.
    pub attachments: Vec<String>,
    /// The job that has the attached files, if the server tells.
    pub attachment_job: Option<u64>,
    /// The number of earlier failures, if the server tells.
    pub recent_failures: Option<RecentFailures>,
}

/// A test report, with failures first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    pub cases: Vec<Case>,
    /// The reason why reading ended early, if it did.
    pub broken: Option<String>,
}

impl Report {
    /// Returns the number of cases with a verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        // Cases are sorted by verdict.
        let from = self.cases.partition_point(|case| case.verdict < verdict);
        self.cases.partition_point(|case| case.verdict <= verdict) - from
    }

    /// Returns the number of tests.
    pub fn tests(&self) -> usize {
        self.cases.len() - self.count(Verdict::SuiteError)
    }

    /// Returns the number of failed runs of tests besides the ones that decided.
    pub fn reruns(&self) -> usize {
        self.cases.iter().map(|case| case.reruns).sum()
    }

    /// Returns the duration of all cases, in seconds.
    pub fn time(&self) -> f64 {
        // The sum of no numbers is -0.0.
        self.cases.iter().filter_map(|case| case.time).fold(0.0, |sum, time| sum + time)
    }
}

/// The outcomes of the tests of an earlier report, without their texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcomes {
    /// The identity of each test that ran, in order, and whether it failed.
    ran: Vec<(u64, bool)>,
}

impl Outcomes {
    /// Returns whether the test failed; `None` if it did not run.
    pub fn failed(&self, case: &Case) -> Option<bool> {
        let at = self.ran.binary_search_by_key(&case.identity(), |(identity, _)| *identity).ok()?;
        self.ran.get(at).map(|(_, failed)| *failed)
    }

    /// Returns the size in memory, in bytes.
    pub fn size(&self) -> usize {
        self.ran.len().saturating_mul(size_of::<(u64, bool)>())
    }
}

impl From<TestReport> for Outcomes {
    fn from(report: TestReport) -> Outcomes {
        let cases = Report::from(report).cases.into_iter().filter(|case| case.verdict != Verdict::Skipped);
        let mut ran: Vec<(u64, bool)> = cases.map(|case| (case.identity(), case.verdict.is_failure())).collect();
        // A test that ran several times failed if one of them did.
        ran.sort_by_key(|(identity, failed)| (*identity, !failed));
        ran.dedup_by_key(|(identity, _)| *identity);
        Outcomes { ran }
    }
}

impl Case {
    /// Returns the job and the class, as far as they are known.
    pub fn scope(&self) -> String {
        let parts: Vec<&str> = [self.suite.as_str(), &self.class].into_iter().filter(|part| !part.is_empty()).collect();
        parts.join(": ")
    }

    /// Returns a number that is the same for the same test in other reports.
    fn identity(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (&self.suite, &self.class, &self.name).hash(&mut hasher);
        hasher.finish()
    }

    /// Returns the source locations that the case names, without duplicates, the most relevant first: where it broke, then
    /// where the test is, and libraries last. The output counts only if nothing else names a location.
    pub fn source_locations(&self) -> Vec<SourceLocation> {
        let names = [&self.class, &self.name].into_iter().flat_map(|name| source_location::in_text(name));
        let mut named: Vec<SourceLocation> = source_location::in_text(&self.text).collect();
        // The line where it broke says more than the line where the same file declares the test.
        let is_named = |file: &SourceLocation| named.iter().any(|location| location.is_same_file(file));
        let files: Vec<SourceLocation> = self.files.iter().filter(|file| !is_named(file)).cloned().collect();
        named.extend(files.into_iter().chain(names));
        if named.is_empty() {
            named.extend(source_location::in_text(&self.output));
        }
        let mut locations: Vec<SourceLocation> = Vec::new();
        for mut location in named {
            if location.class.is_empty() {
                location.class.clone_from(&self.class);
            }
            if locations.len() < MAX_LOCATIONS && !locations.contains(&location) {
                locations.push(location);
            }
        }
        locations.sort_by_key(SourceLocation::is_foreign);
        locations
    }
}

static ATTACHMENT: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\[\[ATTACHMENT\|([^\[\]|\n]+)\]\]").ok());

/// Returns the paths of the files that an output attaches.
pub fn attachments(output: &str) -> Vec<String> {
    let Some(attachment) = ATTACHMENT.as_ref().filter(|_| output.contains("[[ATTACHMENT|")) else { return Vec::new() };
    let mut paths: Vec<String> = Vec::new();
    for found in attachment.captures_iter(output).filter_map(|found| found.get(1)) {
        let path = found.as_str().trim();
        if paths.len() < MAX_ATTACHMENTS && !path.is_empty() && !paths.iter().any(|known| known == path) {
            paths.push(path.to_owned());
        }
    }
    paths
}

/// The position of a lint in its file, which has the name of the suite (ESLint 10, Ruff 0.17).
static LINT_POSITION: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^line (\d{1,7}), col").ok());

impl From<TestRecord> for Case {
    fn from(record: TestRecord) -> Case {
        let TestRecord { is_suite, suite, name, class, mut file, mut line, time, mut failures, output, errors, .. } =
            record;
        // The texts of failures come before those of errors, and those before other runs.
        failures.sort_by_key(|failure| failure.kind);
        let reruns = failures.iter().filter(|failure| failure.kind == FailureKind::Rerun).count();
        let verdict = match failures.first().map(|failure| failure.kind) {
            Some(FailureKind::Failure | FailureKind::Error) if is_suite => Verdict::SuiteError,
            Some(FailureKind::Failure) => Verdict::Failed,
            Some(FailureKind::Error) => Verdict::Error,
            Some(FailureKind::Skipped) => Verdict::Skipped,
            Some(FailureKind::Rerun) => Verdict::Flaky,
            None => Verdict::Passed,
        };
        let of_first = |first: &Failure| what_broke(&first.text, first.attribute("message"), first.attribute("type"));
        let message = failures.first().map(of_first).unwrap_or_default();
        let (mut text, mut seen, mut run) = (String::new(), Vec::new(), 0);
        for failure in &failures {
            let full = failure.full_text();
            run += usize::from(failure.kind == FailureKind::Rerun);
            if full.is_empty() || seen.contains(&full) {
                continue;
            }
            if !text.is_empty() {
                append(&mut text, "\n\n");
            }
            if failure.kind == FailureKind::Rerun {
                append(&mut text, &format!("Failed run {run} of {reruns}:\n"));
            }
            append(&mut text, &restore_escapes(&full));
            seen.push(full);
        }
        let is_path = |name: &&String| name.contains('/') && !name.contains(char::is_whitespace);
        if file.is_empty() {
            let position = failures.first().and_then(|first| LINT_POSITION.as_ref()?.captures(first.text.trim_start()));
            line = line.or_else(|| position?.get(1)?.as_str().parse().ok());
            let has_ending = |name: &&String| name.rsplit('/').next().is_some_and(|name| name.contains('.'));
            let named = [&suite, &class].into_iter().find(|name| is_path(name) && has_ending(name));
            file = named.filter(|_| line.is_some()).cloned().unwrap_or_default();
        }
        let mut all_output = String::new();
        for output in [output.trim(), errors.trim()].into_iter().filter(|output| !output.is_empty()) {
            if !all_output.is_empty() {
                append(&mut all_output, "\n\n");
            }
            append(&mut all_output, &restore_escapes(output));
        }
        let class = if class.is_empty() { suite } else { class };
        let name = without_escapes(&restore_escapes(&name)).into_owned();
        Case {
            name: if name.trim().is_empty() { class.clone() } else { name },
            class,
            time,
            verdict,
            message,
            text,
            attachments: attachments(&all_output),
            output: all_output,
            files: Some(SourceLocation::new(&file, line)).filter(|_| !file.is_empty()).into_iter().collect(),
            reruns,
            ..Case::default()
        }
    }
}

impl From<TestReport> for Report {
    fn from(report: TestReport) -> Report {
        let errors = report.test_suites.iter().filter_map(|suite| {
            let error = suite.suite_error.as_ref().filter(|error| !error.is_empty())?;
            Some(format!("{}: {error}", suite.name))
        });
        let mut broken: Vec<String> = errors.collect();
        if report.test_suites.iter().map(|suite| suite.test_cases.len()).sum::<usize>() > MAX_CASES {
            broken.push(TOO_MANY.into());
        }
        let broken = Some(broken.join(", ")).filter(|reasons| !reasons.is_empty());
        let suites = report.test_suites.into_iter();
        let cases = suites.flat_map(|suite| suite.test_cases.into_iter().map(move |case| case_of(&suite.name, case)));
        let mut cases: Vec<Case> = cases.take(MAX_CASES).collect();
        cases.sort_by_key(|case| case.verdict);
        Report { cases, broken }
    }
}

/// The headings by which servers since 16.6 append the output to the text of a failure.
const OUTPUT_HEADINGS: [&str; 2] = ["System Out:\n\n", "System Err:\n\n"];

static JOB_FILE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"/jobs/(\d{1,19})/artifacts/(?:file|raw)/([^?#]+)").ok());

/// Converts a test case from the server's API.
fn case_of(suite: &str, test_case: TestCase) -> Case {
    let kind = match test_case.status.as_str() {
        "success" => None,
        "failed" => Some(FailureKind::Failure),
        "error" => Some(FailureKind::Error),
        // The name of an unknown status is shown in place of a message.
        _ => Some(FailureKind::Skipped),
    };
    let mut texts = Vec::new();
    each_output(&test_case.system_output, &mut texts);
    let mut output = String::new();
    if let Some((attributes, text)) = texts.last_mut().filter(|(attributes, _)| attributes.is_empty()) {
        // An output may contain these words, too, but not before the server's.
        let starts = OUTPUT_HEADINGS.iter().filter_map(|heading| match text.starts_with(heading) {
            true => Some(0),
            false => text.find(&format!("\n\n{heading}")),
        });
        if let Some(at) = starts.min() {
            output = text.split_off(at).trim().to_owned();
            if let Some(inspected) = inspected_attributes(text) {
                (*attributes, *text) = (inspected, String::new());
            }
        } else if let Some(inspected) = inspected_attributes(text) {
            (*attributes, *text) = (inspected, String::new());
        }
    }
    if let Some(trace) = test_case.stack_trace.filter(|trace| !trace.trim().is_empty()) {
        texts.push((Vec::new(), trace));
    }
    let has_text = texts.iter().any(|(attributes, text)| !attributes.is_empty() || !text.trim().is_empty());
    if !has_text && !matches!(test_case.status.as_str(), "success" | "failed" | "error" | "skipped") {
        texts.push((Vec::new(), test_case.status.clone()));
    }
    if texts.is_empty() {
        texts.push((Vec::new(), String::new()));
    }
    let cut = |text: &str, max_bytes: usize| text::head_bytes(text, max_bytes).to_owned();
    let failure = |(attributes, text): (Vec<(String, String)>, String)| {
        kind.map(|kind| Failure { kind, attributes, text: cut(&text, MAX_TEXT) })
    };
    let class = cut(&test_case.classname.unwrap_or_default(), MAX_NAME);
    let has_name = test_case.name != "(No name)" || class.is_empty();
    let record = TestRecord {
        name: if has_name { cut(&test_case.name, MAX_NAME) } else { String::new() },
        class,
        file: cut(&test_case.file.unwrap_or_default(), MAX_NAME),
        time: Some(test_case.execution_time).filter(is_duration).map(f64::abs),
        failures: texts.into_iter().filter_map(failure).collect(),
        output,
        ..TestRecord::default()
    };
    let mut case = Case { suite: cut(suite, MAX_NAME), ..Case::from(record) };
    let url = test_case.attachment_url.unwrap_or_default();
    if let Some(found) = JOB_FILE.as_ref().and_then(|file| file.captures(&url)) {
        case.attachment_job = found.get(1).and_then(|job| job.as_str().parse().ok());
        let path = found.get(2).map_or("", |path| path.as_str());
        let path = api::endpoint::decode(path);
        case.attachments.retain(|known| *known != path);
        case.attachments.insert(0, cut(&path, MAX_NAME));
    }
    case.recent_failures = test_case.recent_failures.filter(|recent| recent.count > 0);
    case
}

/// Collects the texts of an output, each as attributes or a text: a text, an object with the attributes of a failure without
/// text, or a list of these if there are several failures.
fn each_output(output: &Value, texts: &mut Vec<(Vec<(String, String)>, String)>) {
    match output {
        Value::Null => {}
        Value::String(text) => texts.push((Vec::new(), text.clone())),
        Value::Array(outputs) => {
            for output in outputs {
                each_output(output, texts);
            }
        }
        Value::Object(fields) => {
            let named = |(name, value): (&String, &Value)| Some((name.clone(), value.as_str()?.to_owned()));
            texts.push((fields.iter().filter_map(named).collect(), String::new()));
        }
        other => texts.push((Vec::new(), other.to_string())),
    }
}

/// Attributes as Ruby prints them, which servers since 16.6 send for a failure without text: `{"message"=>"no"}`, since Ruby
/// 3.4 `{"message" => "no"}`.
static INSPECTED: LazyLock<Option<[Regex; 2]>> = LazyLock::new(|| {
    let pair = r#""(\w+)"\s?=>\s?(?:"((?:[^"\\]|\\.)*)"|nil)"#;
    let all = format!(r"^\s*\{{{pair}(?:, {pair})*\}}\s*$");
    Some([Regex::new(&all).ok()?, Regex::new(pair).ok()?])
});

fn inspected_attributes(text: &str) -> Option<Vec<(String, String)>> {
    let [all, pair] = INSPECTED.as_ref().filter(|_| text.trim_start().starts_with("{\""))?;
    let pairs = all.is_match(text).then(|| pair.captures_iter(text))?;
    let unescaped = |text: &str| {
        let (mut out, mut escaped) = (String::new(), false);
        for c in text.chars() {
            match c {
                '\\' if !escaped => escaped = true,
                _ => {
                    let plain = match c {
                        'n' if escaped => '\n',
                        't' if escaped => '\t',
                        'r' if escaped => '\r',
                        'e' if escaped => ESCAPE_CHARACTER,
                        _ => c,
                    };
                    out.push(plain);
                    escaped = false;
                }
            }
        }
        out
    };
    let part = |found: &regex::Captures, index| found.get(index).map_or(String::new(), |part| unescaped(part.as_str()));
    Some(pairs.map(|found| (part(&found, 1), part(&found, 2))).collect())
}

/// Returns whether `seconds` is a valid duration.
fn is_duration(seconds: &f64) -> bool {
    seconds.is_finite() && *seconds >= 0.0
}

/// Appends as much of `more` as fits into the size limit.
fn append(text: &mut String, more: &str) {
    text.push_str(text::head_bytes(more, MAX_TEXT.saturating_sub(text.len())));
}

/// Parses a JUnit report. Returns `None` if the text is not one.
pub fn read(text: &str, canceled: &dyn Fn() -> bool) -> Option<Report> {
    if !is_report(text) {
        return None;
    }
    let mut report = Report::default();
    // Some tools list a test once for each of its runs: servers count equal cases with the same result once.
    let mut known: HashMap<u64, usize> = HashMap::new();
    let (end, has_element) = read_xml(text, canceled, &mut |record| {
        let mut hasher = DefaultHasher::new();
        (&record.suite, &record.class, &record.name, record.is_suite).hash(&mut hasher);
        let case = Case::from(record);
        case.verdict.hash(&mut hasher);
        let count = report.cases.len();
        let at = *known.entry(hasher.finish()).or_insert(count);
        match report.cases.get_mut(at) {
            Some(first) => first.merge(case),
            None if count < MAX_CASES => report.cases.push(case),
            None => report.broken = Some(TOO_MANY.into()),
        }
        report.broken.is_none()
    });
    match end {
        End::Done => {}
        End::Truncated => report.broken = Some("the report is truncated".into()),
        End::Broken { line, why, .. } => report.broken = Some(format!("line {line}: {why}")),
    }
    // Other kinds of XML may contain the element names.
    if !has_element || report.cases.is_empty() && report.broken.is_some() {
        return None;
    }
    report.cases.sort_by_key(|case| case.verdict);
    Some(report)
}

impl Case {
    /// Adds the texts of another entry of the same test.
    fn merge(&mut self, other: Case) {
        for (text, more) in [(&mut self.text, other.text), (&mut self.output, other.output)] {
            if !text.contains(&more) {
                append(text, "\n\n");
                append(text, &more);
            }
        }
        self.reruns += other.reruns;
        let room = MAX_LOCATIONS.saturating_sub(self.files.len());
        self.files.extend(other.files.into_iter().take(room));
        self.time = self.time.into_iter().chain(other.time).reduce(|sum, time| sum + time);
        let new = other.attachments.into_iter().filter(|path| !self.attachments.contains(path));
        self.attachments = self.attachments.iter().cloned().chain(new).take(MAX_ATTACHMENTS).collect();
    }
}

#[cfg(test)]
mod tests;
