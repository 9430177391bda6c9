//! Reads coverage of lines from Cobertura XML, in the variants that tools write.
//!
//! Declarations of a document type are ignored: custom entities are never expanded.

use super::{Coverage, LineReports, MAX_TEXT, RepositoryPaths};
use crate::junit::{attribute, position};
use crate::text;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

/// The maximum number of folders that names are relative to, as on GitLab.
const MAX_SOURCES: usize = 100;
/// The maximum depth of elements. Reports have nine.
const MAX_DEPTH: usize = 64;

/// Adds the coverage of changed files.
///
/// # Errors
///
/// Returns the reason why the text is not a whole report.
pub fn read(
    text: &str,
    changed: &RepositoryPaths,
    canceled: &dyn Fn() -> bool,
    reports: &mut LineReports,
) -> Result<(), String> {
    let mut reader = Reader::from_str(text);
    let mut sources: Vec<String> = Vec::new();
    // The folder that is being read, and the file of the open class.
    let (mut source, mut file): (Option<String>, Option<&str>) = (None, None);
    let (mut depth, mut is_report, mut events) = (0_usize, false, 0_u64);
    loop {
        events += 1;
        if events.is_multiple_of(4096) && canceled() {
            return Ok(());
        }
        let event = reader.read_event().map_err(|error| {
            let read = text.get(..reader.error_position() as usize).unwrap_or_default();
            let (line, column) = position(read);
            format!("it is not XML from line {line}, column {column}: {error}")
        })?;
        match event {
            Event::Start(element) => {
                depth += 1;
                if depth > MAX_DEPTH {
                    return Err("its elements are nested too deeply".into());
                }
                match element.local_name().into_inner() {
                    "coverage" => is_report = true,
                    "source" => source = Some(String::new()),
                    "class" => file = changed.find(&sources, &attribute(&element, "filename", MAX_TEXT)),
                    "line" => add_line(reports, file, &element),
                    _ => {}
                }
            }
            Event::Empty(element) => match element.local_name().into_inner() {
                "coverage" => is_report = true,
                "line" => add_line(reports, file, &element),
                _ => {}
            },
            Event::End(element) => {
                depth = depth.saturating_sub(1);
                match element.local_name().into_inner() {
                    "source" => {
                        let path = source.take().unwrap_or_default().trim().replace('\\', "/");
                        if sources.len() < MAX_SOURCES && !path.is_empty() {
                            sources.push(path);
                        }
                    }
                    "class" => file = None,
                    _ => {}
                }
            }
            Event::Text(content) => append(&mut source, &content.xml10_content()),
            Event::CData(content) => append(&mut source, &content.xml10_content()),
            Event::GeneralRef(entity) => {
                let written = format!("&{};", entity.xml10_content());
                append(&mut source, &quick_xml::escape::unescape(&written).unwrap_or_default());
            }
            Event::Eof if depth > 0 => return Err("it ends in the middle".into()),
            Event::Eof if !is_report => return Err("it is not Cobertura XML".into()),
            Event::Eof => return Ok(()),
            Event::Decl(_) | Event::Comment(_) | Event::PI(_) | Event::DocType(_) => {}
        }
    }
}

fn append(source: &mut Option<String>, content: &str) {
    if let Some(source) = source {
        source.push_str(text::head_bytes(content, MAX_TEXT.saturating_sub(source.len())));
    }
}

/// Adds the coverage of a line, unless its numbers are none.
fn add_line(reports: &mut LineReports, file: Option<&str>, line: &BytesStart) {
    let Some(file) = file else { return };
    let number = attribute(line, "number", 16).trim().parse();
    // Some tools count more than fits, or with a fraction.
    let hits = attribute(line, "hits", 32).trim().parse::<f64>();
    if let (Ok(number), Ok(hits)) = (number, hits) {
        let branches = branches(&attribute(line, "condition-coverage", 64));
        reports.add_coverage(file, number, Coverage { is_covered: hits > 0.0, branches });
    }
}

/// Returns the number of branches that were taken, and of all, from `50% (1/2)`.
fn branches(conditions: &str) -> Option<(u32, u32)> {
    let (taken, all) = conditions.split_once('(')?.1.split_once(')')?.0.split_once('/')?;
    let (taken, all) = (taken.trim().parse().ok()?, all.trim().parse().ok()?);
    (taken <= all && all > 0).then_some((taken, all))
}
