//! Parses test reports, from JUnit XML or from the server's API: test cases, failures, and the source locations that
//! failures name.
//!
//! Declarations of a document type are ignored: custom entities are never expanded.

use crate::api::test_reports::{TestCase, TestReport};
use crate::domain::text;
use quick_xml::Reader;
use quick_xml::escape::unescape;
use quick_xml::events::{BytesStart, Event};
use regex::Regex;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::LazyLock;

/// The maximum number of cases that are read, and the reason why a report is incomplete if it has more.
const MAX_CASES: usize = 200_000;
const TOO_MANY: &str = "it has more than 200,000 tests";
/// The maximum size of each text of a case, in bytes.
const MAX_TEXT: usize = 64 * 1024;
/// The maximum size of a name, in bytes.
const MAX_NAME: usize = 512;
/// The number of bytes at the start of a file that are searched for the first element.
const HEAD_BYTES: usize = 64 * 1024;
/// The maximum number of source locations that are returned per case.
const MAX_LOCATIONS: usize = 40;

/// The result of a case. The order is that of the table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    Failed,
    Error,
    Skipped,
    #[default]
    Passed,
}

impl Verdict {
    /// Returns whether the case failed or had an error.
    pub fn is_failure(self) -> bool {
        matches!(self, Verdict::Failed | Verdict::Error)
    }
}

/// A test case.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Case {
    pub name: String,
    /// The job that ran the case, if the report is of a pipeline.
    pub suite: String,
    /// The class or module of the case, or the name of its suite if it has none.
    pub class: String,
    /// The duration in seconds.
    pub time: Option<f64>,
    pub verdict: Verdict,
    /// The failure message or the reason for skipping, on one line.
    pub message: String,
    /// The full failure text.
    pub text: String,
    /// The output of the test.
    pub output: String,
    /// The file that the report gives for the case, or an empty string.
    pub file: String,
    line: Option<u32>,
}

/// A file that a case names, with the line, from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLocation {
    pub path: String,
    pub line: Option<u32>,
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

    /// Returns the duration of all cases, in seconds.
    pub fn time(&self) -> f64 {
        self.cases.iter().filter_map(|case| case.time).sum()
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

static PLACE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    // A path with a file extension, followed by a line number in any of the notations of common languages.
    Regex::new(r#"((?:[\w.@+~-]*[/\\])*[\w.@+~-]*[\w-]\.[A-Za-z]\w{0,9})(?::|\(|", line |, line )(\d{1,7})"#).ok()
});

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

    /// Returns the source locations that the case names, without duplicates: its own first, then those in its texts.
    pub fn source_locations(&self) -> Vec<SourceLocation> {
        let mut locations = Vec::new();
        let mut add = |path: &str, line: Option<u32>| {
            let path = in_repository(path);
            let location = SourceLocation { path, line };
            if !location.path.is_empty() && locations.len() < MAX_LOCATIONS && !locations.contains(&location) {
                locations.push(location);
            }
        };
        if self.line.is_some() {
            add(&self.file, self.line);
        }
        if let Some(place) = PLACE.as_ref() {
            for found in [&self.message, &self.text].into_iter().flat_map(|text| place.captures_iter(text)) {
                let part = |index: usize| found.get(index).map_or("", |part| part.as_str());
                add(part(1), part(2).parse().ok());
            }
        }
        if self.line.is_none() {
            add(&self.file, None);
        }
        locations
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

/// Converts a test case from the server's API.
fn case_of(suite: &str, test_case: TestCase) -> Case {
    let cut = |text: &str, max_bytes: usize| text::head_bytes(text, max_bytes).to_owned();
    let verdict = match test_case.status.as_str() {
        "success" => Verdict::Passed,
        "failed" => Verdict::Failed,
        "error" => Verdict::Error,
        // The name of an unknown status is shown in place of a message.
        _ => Verdict::Skipped,
    };
    let mut output = match &test_case.system_output {
        serde_json::Value::Null => String::new(),
        serde_json::Value::String(text) => cut(text.trim(), MAX_TEXT),
        // Some skipped cases have `{"message": "…"}`.
        other => cut(other.get("message").and_then(|text| text.as_str()).unwrap_or(&other.to_string()), MAX_TEXT),
    };
    if output.is_empty() && !matches!(test_case.status.as_str(), "success" | "failed" | "error" | "skipped") {
        output.clone_from(&test_case.status);
    }
    let message = output.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim().to_owned();
    let mut text = String::new();
    if let Some(recent) = test_case.recent_failures.filter(|recent| recent.count > 0) {
        let times = if recent.count == 1 { "once".to_owned() } else { format!("{} times", recent.count) };
        text = format!("Failed {times} recently on {}.\n", cut(&recent.base_branch, MAX_NAME));
    }
    append(&mut text, &output);
    if let Some(trace) = test_case.stack_trace.filter(|trace| !trace.trim().is_empty()) {
        append(&mut text, "\n");
        append(&mut text, trace.trim_end());
    }
    Case {
        name: cut(&test_case.name, MAX_NAME),
        suite: cut(suite, MAX_NAME),
        class: cut(&test_case.classname.unwrap_or_default(), MAX_NAME),
        time: Some(test_case.execution_time).filter(is_duration),
        verdict,
        message,
        text,
        file: cut(&test_case.file.unwrap_or_default(), MAX_NAME),
        ..Case::default()
    }
}

/// Returns a path relative to the repository, without the directory that runners check out into
/// (`/builds/GROUP/PROJECT/`).
fn in_repository(path: &str) -> String {
    let path = path.trim().replace('\\', "/");
    let path = path.strip_prefix("file://").unwrap_or(&path);
    let path = match path.strip_prefix("/builds/").map(|rest| rest.splitn(3, '/').collect::<Vec<_>>()) {
        Some(parts) => parts.get(2).copied().unwrap_or_default(),
        None => path,
    };
    path.trim_start_matches("./").trim_start_matches('/').to_owned()
}

/// Returns whether `seconds` is a valid duration.
fn is_duration(seconds: &f64) -> bool {
    seconds.is_finite() && *seconds >= 0.0
}

/// Parses a JUnit report. Returns `None` if the text is not one.
pub fn read(text: &str, canceled: &dyn Fn() -> bool) -> Option<Report> {
    let head = text::head_bytes(text, HEAD_BYTES);
    if !head.contains("<testsuite") && !head.contains("<testcase") {
        return None;
    }
    let mut reading = Reading::default();
    let mut reader = Reader::from_str(text);
    let mut events: u64 = 0;
    loop {
        events += 1;
        if events.is_multiple_of(4096) && canceled() {
            break;
        }
        if reading.report.cases.len() + usize::from(reading.case.is_some()) > MAX_CASES {
            reading.case = None;
            reading.report.cases.truncate(MAX_CASES);
            reading.report.broken = Some(TOO_MANY.into());
            break;
        }
        match reader.read_event() {
            Ok(Event::Start(element)) => reading.open(&element),
            Ok(Event::Empty(element)) => {
                reading.open(&element);
                reading.close();
            }
            Ok(Event::End(_)) => reading.close(),
            Ok(Event::Text(text)) => reading.write(&text.xml10_content()),
            Ok(Event::CData(text)) => reading.write(&text.xml10_content()),
            Ok(Event::GeneralRef(entity)) => {
                let written = format!("&{};", entity.xml10_content());
                reading.write(&plain(&written));
            }
            Ok(Event::Eof) => {
                if !reading.open.is_empty() {
                    reading.report.broken = Some("the report is truncated".into());
                }
                break;
            }
            Ok(Event::Decl(_) | Event::Comment(_) | Event::PI(_) | Event::DocType(_)) => {}
            Err(error) => {
                let line = text.get(..reader.error_position() as usize).map_or(0, |read| read.lines().count());
                reading.report.broken = Some(format!("line {line}: {error}"));
                break;
            }
        }
    }
    reading.end_case();
    let Reading { mut report, element, .. } = reading;
    // Other kinds of XML may contain the element names.
    if !element || report.cases.is_empty() && report.broken.is_some() {
        return None;
    }
    report.cases.sort_by_key(|case| case.verdict);
    Some(report)
}

/// Expands the predefined XML entities. A text with any other entity is returned unchanged.
fn plain(written: &str) -> String {
    unescape(written).map_or_else(|_| written.to_owned(), |text| text.into_owned())
}

/// The field that text is appended to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum TextTarget {
    #[default]
    None,
    Text,
    Output,
}

#[derive(Default)]
struct Reading {
    report: Report,
    /// The open elements, each with the field that its text is appended to.
    open: Vec<TextTarget>,
    suites: Vec<(usize, String)>,
    case: Option<(usize, Case)>,
    /// Whether an element of a report was found.
    element: bool,
}

impl Reading {
    fn open(&mut self, element: &BytesStart) {
        let depth = self.open.len();
        let mut target = TextTarget::None;
        match element.local_name().into_inner() {
            "testsuite" | "testsuites" => {
                self.element = true;
                self.suites.push((depth, attribute(element, "name", MAX_NAME)));
            }
            "testcase" => {
                self.element = true;
                self.end_case();
                let suite = self.suites.last().map(|(_, name)| name.clone()).unwrap_or_default();
                let class =
                    Some(attribute(element, "classname", MAX_NAME)).filter(|class| !class.is_empty()).unwrap_or(suite);
                let case = Case {
                    name: attribute(element, "name", MAX_NAME),
                    class,
                    time: attribute(element, "time", MAX_NAME).replace(',', "").parse().ok().filter(is_duration),
                    file: attribute(element, "file", MAX_NAME),
                    line: attribute(element, "line", MAX_NAME).parse().ok(),
                    ..Case::default()
                };
                self.case = Some((depth, case));
            }
            name => {
                let verdict = match name {
                    "failure" => Some(Verdict::Failed),
                    "error" => Some(Verdict::Error),
                    "skipped" => Some(Verdict::Skipped),
                    _ => None,
                };
                if let Some((_, case)) = &mut self.case {
                    if let Some(verdict) = verdict {
                        target = TextTarget::Text;
                        case.verdict = case.verdict.min(verdict);
                        let attributes = ["type", "message"].map(|name| attribute(element, name, MAX_TEXT));
                        if case.message.is_empty() {
                            case.message =
                                attributes.iter().rev().find(|text| !text.is_empty()).cloned().unwrap_or_default();
                        }
                        for text in attributes.iter().filter(|text| !text.is_empty()) {
                            append(&mut case.text, text);
                            append(&mut case.text, "\n");
                        }
                    } else if matches!(name, "system-out" | "system-err") {
                        target = TextTarget::Output;
                    }
                }
            }
        }
        self.open.push(target);
    }

    fn close(&mut self) {
        self.open.pop();
        let depth = self.open.len();
        if self.case.as_ref().is_some_and(|(at, _)| *at >= depth) {
            self.end_case();
        }
        // Suites are kept in the order in which they were opened.
        self.suites.pop_if(|(at, _)| *at >= depth);
    }

    fn write(&mut self, text: &str) {
        let Some((_, case)) = &mut self.case else { return };
        match self.open.last() {
            Some(TextTarget::Text) => append(&mut case.text, text),
            Some(TextTarget::Output) => append(&mut case.output, text),
            Some(TextTarget::None) | None => {}
        }
    }

    fn end_case(&mut self) {
        let Some((_, mut case)) = self.case.take() else { return };
        // A message that is repeated at the start of the text is kept only once.
        case.text = case.text.trim().to_owned();
        case.output = case.output.trim().to_owned();
        if case.message.is_empty() {
            case.message = case.text.lines().next().unwrap_or_default().to_owned();
        } else if let Some(rest) = case.text.strip_prefix(&case.message)
            && rest.trim_start().starts_with(&case.message)
        {
            case.text = rest.trim_start().to_owned();
        }
        case.message = case.message.lines().next().unwrap_or_default().trim().to_owned();
        self.report.cases.push(case);
    }
}

/// Appends as much of `more` as fits into the size limit.
fn append(text: &mut String, more: &str) {
    text.push_str(text::head_bytes(more, MAX_TEXT.saturating_sub(text.len())));
}

/// Returns the value of an attribute, cut to `max_bytes` bytes.
fn attribute(element: &BytesStart, name: &str, max_bytes: usize) -> String {
    // Some programs write an attribute twice: the first one counts.
    let mut attributes = element.attributes();
    let all = attributes.with_checks(false).flatten();
    let found = all.into_iter().find(|attribute| attribute.key.local_name().into_inner() == name);
    let whole = found.map(|attribute| plain(&attribute.value)).unwrap_or_default();
    text::head_bytes(&whole, max_bytes).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(text: &str) -> Report {
        read(text, &|| false).expect("a report")
    }

    const REPORT: &str = r#"<?xml version="1.0"?>
<testsuites><testsuite name="unit">
  <testcase classname="a::b" name="passes" time="0.5"/>
  <testcase name="fails" file="src/a.rs" line="7"><failure type="assert" message="1 &lt; 0 &amp; more">
thread 'x' panicked at src/deep/a.rs:12:5
  File "lib/b.py", line 33, in test</failure><system-out><![CDATA[printed <this>]]></system-out></testcase>
  <testcase name="waits"><skipped message="later"/></testcase>
  <testcase name="breaks"><error>at org.Thing(Thing.java:41)</error></testcase>
</testsuite></testsuites>"#;

    #[test]
    fn failures_come_first_with_their_messages_and_locations() {
        let report = read_all(REPORT);
        let seen: Vec<_> = report.cases.iter().map(|c| (c.name.as_str(), c.verdict)).collect();
        use Verdict::*;
        assert_eq!(seen, [("fails", Failed), ("breaks", Error), ("waits", Skipped), ("passes", Passed)]);
        let fails = &report.cases[0];
        assert_eq!((fails.class.as_str(), fails.message.as_str()), ("unit", "1 < 0 & more"));
        assert!(fails.text.contains("panicked") && fails.output == "printed <this>");
        let locations: Vec<_> = fails.source_locations().into_iter().map(|s| (s.path, s.line)).collect();
        let location = |path: &str, line| (path.to_owned(), Some(line));
        assert_eq!(locations, [location("src/a.rs", 7), location("src/deep/a.rs", 12), location("lib/b.py", 33)]);
        assert_eq!(report.cases[1].source_locations(), [SourceLocation { path: "Thing.java".into(), line: Some(41) }]);
        assert_eq!((report.count(Failed), report.count(Error), report.count(Passed)), (1, 1, 1));
        assert_eq!(report.time(), 0.5);
    }

    #[test]
    fn the_build_folder_is_removed_from_paths() {
        assert_eq!(in_repository("/builds/acme/rocket-ui/src/a.rs"), "src/a.rs");
        assert_eq!(in_repository(".\\src\\a.cs"), "src/a.cs");
        assert_eq!(in_repository("file:///builds/a/b/c.js"), "c.js");
    }

    #[test]
    fn a_broken_report_keeps_the_cases_before_the_error() {
        let cut = REPORT.split_once("<testcase name=\"waits\">").unwrap().0;
        let report = read_all(cut);
        assert_eq!((report.cases.len(), report.broken.as_deref()), (2, Some("the report is truncated")));
        let wrong = REPORT.replace("</failure>", "</failed>");
        let report = read_all(&wrong);
        assert!(report.broken.as_deref().is_some_and(|why| why.starts_with("line ")), "{:?}", report.broken);
        assert_eq!(report.cases.len(), 2);
        assert_eq!(read("<project><dependency/></project>", &|| false), None);
        assert_eq!(read("not XML <testsuite", &|| false), None);
        for at in 0..REPORT.len() {
            let _ = read(&REPORT[..at], &|| false);
            let _ = read(&format!("{}\u{1}<&\0{}", &REPORT[..at], &REPORT[at..]), &|| false);
        }
    }

    #[test]
    fn custom_entities_are_never_expanded() {
        let mut bomb = String::from("<!DOCTYPE x [<!ENTITY a0 \"lol\">");
        for level in 1..30 {
            bomb += &format!("<!ENTITY a{level} \"&a{p};&a{p};\">", p = level - 1);
        }
        bomb += "<!ENTITY file SYSTEM \"file:///etc/passwd\">]>";
        bomb += "<testsuite><testcase name=\"&a29;\"><failure>&a29;&file;</failure></testcase></testsuite>";
        let report = read_all(&bomb);
        assert_eq!(report.cases[0].name, "&a29;");
        assert_eq!(report.cases[0].text, "&a29;&file;");
    }

    #[test]
    fn long_texts_are_cut() {
        let long = "x".repeat(1_000_000);
        let report = read_all(&format!("<testsuite><testcase><failure>{long}</failure></testcase></testsuite>"));
        assert_eq!(report.cases[0].text.len(), MAX_TEXT);
    }

    #[test]
    fn a_long_suite_name_is_cut_in_each_case() {
        let cases = "<testcase/>".repeat(20_000);
        let text = format!("<testsuite name=\"{}\">{cases}</testsuite>", "n".repeat(100_000));
        let (report, cost) = crate::cost::cost(|| read(&text, &|| false).unwrap());
        assert_eq!(report.cases.len(), 20_000);
        assert!(cost.peak < 100 * text.len(), "{} bytes held for {}", cost.peak, text.len());
    }

    #[test]
    fn a_report_with_too_many_tests_says_that_it_is_incomplete() {
        let text = |count: usize| format!("<testsuite>{}</testsuite>", "<testcase/>".repeat(count));
        for (count, broken) in [(MAX_CASES, None), (MAX_CASES + 1, Some(TOO_MANY))] {
            let report = read_all(&text(count));
            assert_eq!((report.cases.len(), report.broken.as_deref()), (MAX_CASES, broken), "{count} in a file");
            let test_cases = vec![TestCase::default(); count];
            let suite = crate::api::test_reports::TestSuite { test_cases, ..Default::default() };
            let report = Report::from(TestReport { test_suites: vec![suite], ..TestReport::default() });
            assert_eq!((report.cases.len(), report.broken.as_deref()), (MAX_CASES, broken), "{count} from the server");
        }
    }

    #[test]
    fn invalid_durations_are_ignored() {
        for time in ["-5", "NaN", "1e999", "soon"] {
            let text = format!("<testsuite><testcase name=\"a\" time=\"{time}\"/></testsuite>");
            let report = read(&text, &|| false).expect("a report");
            assert_eq!(report.cases.first().map(|case| case.time), Some(None), "{time}");
        }
    }

    #[test]
    fn nested_suites_are_closed_in_order() {
        let text = r#"<testsuite name="a"><testsuite name="b"><testcase name="1"/></testsuite><testcase name="2"/>
            </testsuite><testsuite name="c"><properties/><testcase name="3"/></testsuite>"#;
        let report = read(text, &|| false).unwrap();
        let classes: Vec<&str> = report.cases.iter().map(|case| case.class.as_str()).collect();
        assert_eq!(classes, ["b", "a", "c"]);
    }
}
