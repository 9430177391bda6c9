//! The header above the jobs of a pipeline: its facts, test summary and CI configuration errors.

use crate::api::jobs::ListPipelineJobs;
use crate::api::pipelines::GetPipeline;
use crate::api::pipelines::resources::Pipeline;
use crate::api::test_reports::GetTestReportSummary;
use crate::api::{Fault, Id};
use crate::app::view::View;
use crate::parts::ci::{POLL_INTERVAL, RunTimes};
use crate::parts::ci::{pipelines, test_report};
use crate::store::{Load, Want};
use crate::ui::line::Line;
use crate::ui::theme::Role;
use crate::ui::{glyph, text};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// The minimum height of the area in rows to draw the header.
const MIN_HEIGHT: u16 = 10;
/// The minimum width of the title in columns; in less room, it is left out.
const MIN_TITLE_WIDTH: usize = 16;
/// The maximum number of rows of an error.
const MAX_ERROR_ROWS: usize = 2;

/// Returns the requests for the header. Endpoints that the server does not support are left out.
pub fn wants(view: &View, project: &Id, pipeline: u64, is_live: bool) -> Vec<Want> {
    let mut wants = Vec::new();
    let known = pipelines::known(view, project, pipeline).value;
    let is_live = is_live || known.is_some_and(|known| known.status.is_live());
    if !view.store.is_unsupported::<GetPipeline>() {
        let load = Load::single(&pipelines::query(project, pipeline));
        wants.push(load.refresh_after(is_live.then_some(POLL_INTERVAL)).into());
    }
    // The test summary is requested when the pipeline has finished.
    if !is_live && known.is_some() && !view.store.is_unsupported::<GetTestReportSummary>() {
        wants.push(Load::single(&tests(project, pipeline)).into());
    }
    wants.extend(known.into_iter().flat_map(|known| pipelines::want_upstream(view, project, known)));
    wants
}

/// Returns the request for the test summary.
fn tests(project: &Id, pipeline_id: u64) -> GetTestReportSummary {
    GetTestReportSummary { id: project.clone(), pipeline_id }
}

/// Returns the facts of the test summary; empty without tests.
fn test_facts(view: &View, project: &Id, pipeline: u64) -> Line<'static> {
    let summary = view.store.get(&tests(project, pipeline));
    let refused = summary.error.filter(|error| !matches!(error.fault, Fault::Unsupported(_)) && !error.is_missing());
    let Some(known) = summary.value else {
        return refused
            .map(|error| Line::new(format!("test report: {}", error.message()), Role::Dim))
            .unwrap_or_default();
    };
    let broken: Vec<&str> = known.test_suites.iter().filter_map(|suite| suite.suite_error.as_deref()).collect();
    if known.total.count == 0 && broken.is_empty() {
        return Line::empty();
    }
    let failed = known.total.failed.saturating_add(known.total.error);
    let (sign, role) = match failed {
        0 if broken.is_empty() => (glyph::or_word(glyph::done(), "passed:"), Role::Success),
        0 => (glyph::or_word(glyph::warning(), "warning:"), Role::Warning),
        _ => (glyph::or_word(glyph::wrong(), "failed:"), Role::Failed),
    };
    let mut facts = Line::new(format!("{sign} {}", test_report::totals(&known.total)), role);
    let in_suites = known.test_suites.iter().filter(|suite| suite.failed_count > 0 || suite.error_count > 0);
    let names: Vec<&str> = in_suites.map(|suite| suite.name.as_str()).collect();
    if !names.is_empty() {
        facts.push(format!(" in {}", names.join(", ")), Role::Text);
    }
    if let Some(error) = broken.first() {
        facts.push(glyph::separator(), Role::Dim);
        facts.push((*error).to_owned(), Role::Warning);
    }
    facts
}

/// Returns the facts before the title of the commit, and those after it.
fn facts(view: &View, project: &Id, pipeline: &Pipeline) -> (Line<'static>, Vec<Line<'static>>) {
    let sha: String = pipeline.sha.chars().take(8).collect();
    let before = Line::from(glyph::labeled(pipeline.status.as_str()))
        .and(glyph::separator(), Role::Dim)
        .and(pipelines::ref_name(pipeline), Role::Ref)
        .and(format!(" {sha}"), Role::Dim);
    let mut after = Vec::new();
    let by = pipeline.user.as_ref().map(|user| user.username.as_str());
    after.push(match (pipelines::source(pipeline), by) {
        (source, None) => Line::text(source),
        (source, Some(by)) if source.is_empty() => Line::text("by ").and(by.to_owned(), Role::User),
        (source, Some(by)) => Line::text(source).and(" by ", Role::Text).and(by.to_owned(), Role::User),
    });
    let queued = pipeline.queued_duration.filter(|queued| *queued >= 1.0).map(text::duration);
    after.push(match (pipelines::duration(pipeline, RunTimes::default(), view.now), queued) {
        (duration, Some(queued)) if duration.is_empty() => Line::new(format!("queued {queued}"), Role::Dim),
        (duration, Some(queued)) => Line::text(duration).and(format!(" (queued {queued})"), Role::Dim),
        (duration, None) => Line::text(duration),
    });
    if let Some(parent) = pipelines::upstream(view, project, pipeline) {
        let (sign, role) = glyph::status(parent.status.as_str());
        after.push(Line::new(format!("started by pipeline {} {sign}", parent.id), role));
    }
    let coverage = pipeline.coverage.as_ref().filter(|coverage| !coverage.is_empty());
    after.extend(coverage.map(|coverage| Line::text(format!("coverage {coverage} %"))));
    (before, after)
}

/// Returns the name of the pipeline, or the title of its commit.
fn title<'a>(view: &View<'a>, project: &Id, pipeline: &'a Pipeline) -> &'a str {
    let jobs = ListPipelineJobs::all(project.clone(), pipeline.id);
    let of_commit = || view.store.list(&jobs).iter().find_map(|job| job.commit.as_ref()).map(|c| c.title.as_str());
    pipeline.name.as_deref().filter(|name| !name.is_empty()).or_else(of_commit).unwrap_or_default()
}

/// Returns the lines of the header: all facts on the first one, where the title is cut as far as necessary, or the tests
/// on a second one.
fn lines(view: &View, project: &Id, pipeline: &Pipeline, width: usize) -> Vec<Line<'static>> {
    let joined = |facts: Vec<Line<'static>>| {
        let facts = facts.into_iter().filter(|fact| !fact.is_empty());
        facts.flat_map(|fact| Line::new(glyph::separator(), Role::Dim).into_iter().chain(fact)).collect::<Line>()
    };
    let (before, after) = facts(view, project, pipeline);
    let tests = test_facts(view, project, pipeline.id);
    let mut line = Line::text(" ").into_iter().chain(before).collect::<Line>();
    let mut after = joined(after);
    let room = width.saturating_sub(line.width() + after.width() + 1);
    let test_line = joined(vec![tests.clone()]);
    let is_one_line = test_line.width() + MIN_TITLE_WIDTH <= room;
    let room = if is_one_line { room - test_line.width() } else { room };
    if room >= MIN_TITLE_WIDTH {
        line = line.and(text::fit(&format!(" {}", title(view, project, pipeline)), room), Role::Text);
    }
    after.extend(test_line.into_iter().filter(|_| is_one_line));
    line.extend(after);
    let rest = Some(Line::text(" ").into_iter().chain(tests).collect::<Line>()).filter(|line| line.spans.len() > 1);
    std::iter::once(line).chain(rest.filter(|_| !is_one_line)).collect()
}

/// Returns whether the header of the pipeline is drawn on a screen.
pub fn is_drawn(view: &View, project: &Id, pipeline: u64) -> bool {
    pipelines::known(view, project, pipeline).value.is_some() && view.size.1 >= MIN_HEIGHT + 4
}

/// Draws the header at the top of `area`. Returns the remaining area.
pub fn draw(view: &View, area: Rect, buf: &mut Buffer, project: &Id, pipeline: u64) -> Rect {
    let known = pipelines::known(view, project, pipeline).value;
    let Some(known) = known.filter(|_| is_drawn(view, project, pipeline) && area.height > 3) else { return area };
    let theme = view.theme;
    let mut row = Rect { height: 1, ..area };
    for line in lines(view, project, known, area.width.into()) {
        line.draw(buf, row, theme);
        row.y += 1;
    }
    let errors = known.yaml_errors.as_deref().unwrap_or_default();
    let width = usize::from(area.width.saturating_sub(2));
    let errors = if errors.is_empty() { Vec::new() } else { text::wrap(errors, width, MAX_ERROR_ROWS) };
    for words in &errors {
        let at = Rect { x: area.x + 1, width: area.width.saturating_sub(1), ..row };
        Line::new(words.as_str(), Role::Failed).draw(buf, at, theme);
        row.y += 1;
    }
    Rect { y: row.y, height: area.bottom().saturating_sub(row.y), ..area }
}
