//! Reads JUnit XML, in the variants that test tools write.
//!
//! Declarations of a document type are ignored: custom entities are never expanded.

use super::{Failure, FailureKind, MAX_NAME, MAX_TEXT, TestRecord, append, is_duration};
use crate::text;
use quick_xml::Reader;
use quick_xml::escape::unescape;
use quick_xml::events::{BytesStart, Event};

/// The number of bytes at the start of a file that are searched for the first element.
const HEAD_BYTES: usize = 64 * 1024;
/// The maximum number of failures of a case, and of attributes of a failure.
const MAX_FAILURES: usize = 1_000;
const MAX_ATTRIBUTES: usize = 16;

/// The end of reading a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// The whole report was read, or as much of it as was wanted.
    Done,
    /// The report ends inside an element.
    Truncated,
    /// The text is not XML from this line and column on, counted from 1.
    Broken { line: usize, column: usize, why: String },
}

/// Returns whether a text looks like a report.
pub fn is_report(text: &str) -> bool {
    let head = text::head_bytes(text, HEAD_BYTES);
    head.contains("<testsuite") || head.contains("<testcase")
}

/// Reads a report and passes on its cases, and the errors of whole suites, until `each` returns `false` or it is canceled.
/// Returns the end, and whether there was an element of a report.
pub fn read(text: &str, canceled: &dyn Fn() -> bool, each: &mut dyn FnMut(TestRecord) -> bool) -> (End, bool) {
    let mut reading =
        RecordReader { each, open: Vec::new(), suites: Vec::new(), case: None, has_element: false, goes_on: true };
    let mut reader = Reader::from_str(text);
    let mut events: u64 = 0;
    let end = loop {
        events += 1;
        if !reading.goes_on || events.is_multiple_of(4096) && canceled() {
            break End::Done;
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
            Ok(Event::Eof) => break if reading.open.is_empty() { End::Done } else { End::Truncated },
            Ok(Event::Decl(_) | Event::Comment(_) | Event::PI(_) | Event::DocType(_)) => {}
            Err(error) => {
                let read = text.get(..reader.error_position() as usize).unwrap_or_default();
                let (line, column) = position(read);
                break End::Broken { line, column, why: error.to_string() };
            }
        }
    };
    while !reading.open.is_empty() {
        reading.close();
    }
    (end, reading.has_element)
}

/// Returns the line and the column after a text, from 1.
pub fn position(read: &str) -> (usize, usize) {
    let line = read.bytes().filter(|byte| *byte == b'\n').count() + 1;
    let last = read.rsplit('\n').next().unwrap_or_default();
    (line, last.chars().count() + 1)
}

/// Expands the predefined XML entities. A text with any other entity is returned unchanged.
fn plain(written: &str) -> String {
    unescape(written).map_or_else(|_| written.to_owned(), |text| text.into_owned())
}

/// The field that text is appended to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TextTarget {
    None,
    /// The last failure of the case, or of the suite.
    Failure,
    Output,
    Errors,
}

/// A suite that is open, as a record of its own for its errors and its output.
struct Suite {
    depth: usize,
    record: TestRecord,
}

struct RecordReader<'a> {
    each: &'a mut dyn FnMut(TestRecord) -> bool,
    /// The open elements, each with the field that its text is appended to.
    open: Vec<TextTarget>,
    suites: Vec<Suite>,
    case: Option<(usize, TestRecord)>,
    /// Whether an element of a report was found.
    has_element: bool,
    goes_on: bool,
}

impl RecordReader<'_> {
    /// Returns the record that the current element belongs to: the case, or else the suite.
    fn record(&mut self) -> Option<&mut TestRecord> {
        match &mut self.case {
            Some((_, case)) => Some(case),
            None => self.suites.last_mut().map(|suite| &mut suite.record),
        }
    }

    fn open(&mut self, element: &BytesStart) {
        let depth = self.open.len();
        let parent = self.open.last().copied().unwrap_or(TextTarget::None);
        let target = match element.local_name().into_inner() {
            "testsuite" | "testsuites" => {
                self.has_element = true;
                let record = TestRecord {
                    is_suite: true,
                    name: attribute(element, "name", MAX_NAME),
                    file: attribute(element, "file", MAX_NAME),
                    ..TestRecord::default()
                };
                self.suites.push(Suite { depth, record });
                TextTarget::None
            }
            "testcase" => {
                self.has_element = true;
                self.end_case();
                let suite = self.suites.last().map(|suite| suite.record.name.clone()).unwrap_or_default();
                let case = TestRecord {
                    suite,
                    name: attribute(element, "name", MAX_NAME),
                    class: attribute(element, "classname", MAX_NAME),
                    time: attribute(element, "time", MAX_NAME)
                        .replace(',', "")
                        .parse()
                        .ok()
                        .filter(is_duration)
                        .map(f64::abs),
                    file: attribute(element, "file", MAX_NAME),
                    line: attribute(element, "line", MAX_NAME).parse().ok(),
                    failure_attribute: attribute(element, "failure", MAX_TEXT),
                    ..TestRecord::default()
                };
                self.case = Some((depth, case));
                TextTarget::None
            }
            // The stack and the output of an earlier run are a part of its text.
            _ if parent == TextTarget::Failure => TextTarget::Failure,
            "system-out" => TextTarget::Output,
            "system-err" => TextTarget::Errors,
            name => match FailureKind::of_element(name) {
                Some(kind) => {
                    let attributes = attributes(element);
                    let record = self.record().filter(|record| record.failures.len() < MAX_FAILURES);
                    match record {
                        Some(record) => {
                            record.failures.push(Failure { kind, attributes, text: String::new() });
                            TextTarget::Failure
                        }
                        None => TextTarget::None,
                    }
                }
                None => TextTarget::None,
            },
        };
        self.open.push(target);
    }

    fn close(&mut self) {
        self.open.pop();
        let depth = self.open.len();
        if self.case.as_ref().is_some_and(|(at, _)| *at >= depth) {
            self.end_case();
        }
        // Suites are kept in the order in which they were opened.
        if let Some(Suite { record, .. }) = self.suites.pop_if(|suite| suite.depth >= depth)
            && !record.failures.is_empty()
        {
            self.goes_on &= (self.each)(record);
        }
    }

    fn write(&mut self, text: &str) {
        let target = self.open.last().copied().unwrap_or(TextTarget::None);
        let Some(record) = self.record() else { return };
        match target {
            TextTarget::Failure => {
                if let Some(failure) = record.failures.last_mut() {
                    append(&mut failure.text, text);
                }
            }
            TextTarget::Output => append(&mut record.output, text),
            TextTarget::Errors => append(&mut record.errors, text),
            TextTarget::None => {}
        }
    }

    fn end_case(&mut self) {
        if let Some((_, case)) = self.case.take() {
            self.goes_on &= (self.each)(case);
        }
    }
}

/// Returns the attributes of a failure, each cut to the maximum size.
fn attributes(element: &BytesStart) -> Vec<(String, String)> {
    let mut attributes = element.attributes();
    let all = attributes.with_checks(false).flatten().take(MAX_ATTRIBUTES);
    all.map(|attribute| {
        let name = text::head_bytes(attribute.key.local_name().into_inner(), MAX_NAME).to_owned();
        (name, text::head_bytes(&plain(&attribute.value), MAX_TEXT).to_owned())
    })
    .collect()
}

/// Returns the value of an attribute, cut to `max_bytes` bytes.
pub fn attribute(element: &BytesStart, name: &str, max_bytes: usize) -> String {
    // Some programs write an attribute twice: the first one counts.
    let mut attributes = element.attributes();
    let all = attributes.with_checks(false).flatten();
    let found = all.into_iter().find(|attribute| attribute.key.local_name().into_inner() == name);
    let whole = found.map(|attribute| plain(&attribute.value)).unwrap_or_default();
    text::head_bytes(&whole, max_bytes).to_owned()
}
