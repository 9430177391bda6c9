//! The header above the jobs of a pipeline: its facts, test summary and CI configuration errors.

use crate::api::pipelines::GetPipeline;
use crate::api::pipelines::resources::Pipeline;
use crate::api::test_reports::GetTestReportSummary;
use crate::api::{Fault, Id};
use crate::app::view::View;
use crate::parts::ci::POLL_INTERVAL;
use crate::parts::{pipelines, test_report};
use crate::store::{Load, Want};
use crate::ui::line::Line;
use crate::ui::theme::Role;
use crate::ui::{glyph, text};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// The minimum height of the area in rows to draw the header.
const MIN_HEIGHT: u16 = 10;
/// The maximum number of rows of an error.
const MAX_ERROR_ROWS: usize = 2;

/// Returns the requests for the header. Endpoints that the server does not support are left out.
pub fn wants(view: &View, project: &Id, pipeline: u64, is_live: bool) -> Vec<Want> {
    let mut wants = Vec::new();
    let known = pipelines::known(view, project, pipeline).value;
    let is_live = is_live || known.is_some_and(|known| known.status.is_live());
    if !view.store.is_unsupported::<GetPipeline>() {
        let load = Load::single(&pipelines::query(project, pipeline));
        wants.push(if is_live { load.refresh_after(POLL_INTERVAL).into() } else { load.into() });
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
        facts.push(format!("in {}", names.join(", ")), Role::Text);
    }
    facts.extend(broken.first().map(|error| ((*error).to_owned(), Role::Warning)));
    facts
}

/// Returns the facts of a pipeline.
fn facts(view: &View, project: &Id, pipeline: &Pipeline) -> Line<'static> {
    let mut facts = Line::from(glyph::labeled(pipeline.status.as_str()));
    let mut fact = |words: String, role: Role| {
        if !words.is_empty() {
            facts.push(words, role);
        }
    };
    fact((*pipeline.name).clone().unwrap_or_default(), Role::Text);
    fact(pipelines::ref_name(pipeline), Role::Ref);
    fact(pipelines::source(pipeline), Role::Text);
    fact(pipeline.user.as_ref().map(|user| format!("by {}", user.username)).unwrap_or_default(), Role::User);
    fact(pipelines::duration(pipeline, view.now), Role::Text);
    if let Some(parent) = pipelines::upstream(view, project, pipeline) {
        let (sign, role) = glyph::status(parent.status.as_str());
        fact(format!("started by pipeline {} {sign}", parent.id), role);
    }
    let queued = pipeline.queued_duration.filter(|queued| *queued >= 1.0);
    fact(queued.map(|queued| format!("queued {}", text::duration(queued))).unwrap_or_default(), Role::Dim);
    let coverage = pipeline.coverage.as_ref().filter(|coverage| !coverage.is_empty());
    fact(coverage.map(|coverage| format!("coverage {coverage} %")).unwrap_or_default(), Role::Text);
    facts
}

/// Draws the header at the top of `area`. Returns the remaining area.
pub fn draw(view: &View, area: Rect, buf: &mut Buffer, project: &Id, pipeline: u64) -> Rect {
    let Some(known) = pipelines::known(view, project, pipeline).value.filter(|_| area.height >= MIN_HEIGHT) else {
        return area;
    };
    let theme = view.theme;
    let mut row = Rect { height: 1, ..area };
    for facts in [facts(view, project, known), test_facts(view, project, pipeline)] {
        if facts.is_empty() {
            continue;
        }
        let mut line = Line::empty();
        for (index, fact) in facts.into_iter().enumerate() {
            let gap = if index == 0 { " " } else { glyph::separator() };
            line.push(gap, Role::Dim);
            line.extend([fact]);
        }
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
