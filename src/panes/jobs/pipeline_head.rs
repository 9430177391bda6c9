//! What stands above the jobs of one pipeline: what is known of it, and what is wrong with its CI file.

use crate::api::Id;
use crate::api::pipelines::{GetPipeline, Pipeline};
use crate::app::pane::View;
use crate::parts::ci::{self, PULSE};
use crate::parts::pipelines;
use crate::store::{Load, Want};
use crate::ui::theme::Role;
use crate::ui::{glyph, line, text};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Rows of a screen from which on there is room for it.
const LEAST: u16 = 10;
/// Rows that an error takes at most.
const ERROR_ROWS: usize = 2;

/// Returns what it needs; nothing where the server does not have it.
pub fn want(view: &View, project: &Id, pipeline: u64, is_live: bool) -> Option<Want> {
    if view.store.is_unsupported::<GetPipeline>() {
        return None;
    }
    let load = Load::one(&pipelines::whole(project, pipeline));
    let known = pipelines::known(view, project, pipeline).value;
    let is_live = is_live || known.is_some_and(|known| known.status.is_live());
    Some(if is_live { load.every(PULSE).into() } else { load.into() })
}

/// Returns what is known of a pipeline, in words.
fn facts(view: &View, pipeline: &Pipeline) -> Vec<(String, Role)> {
    let (sign, role) = glyph::status(pipeline.status.as_str());
    let mut facts = vec![(format!("{sign} {}", ci::status_word(&pipeline.status)), role)];
    let mut fact = |words: String, role: Role| {
        if !words.is_empty() {
            facts.push((words, role));
        }
    };
    fact(pipeline.name.clone().unwrap_or_default(), Role::Text);
    fact(pipelines::ref_name(pipeline), Role::Ref);
    fact(pipelines::source(pipeline), Role::Text);
    fact(pipeline.user.as_ref().map(|user| format!("by {}", user.username)).unwrap_or_default(), Role::User);
    fact(pipelines::took(pipeline, view.now), Role::Text);
    let queued = pipeline.queued_duration.filter(|queued| *queued >= 1.0);
    fact(queued.map(|queued| format!("queued {}", text::duration(queued))).unwrap_or_default(), Role::Dim);
    let coverage = pipeline.coverage.as_ref().filter(|coverage| !coverage.is_empty());
    fact(coverage.map(|coverage| format!("coverage {coverage} %")).unwrap_or_default(), Role::Text);
    facts
}

/// Draws it at the top of `area`; returns what is left for the jobs.
pub fn draw(view: &View, area: Rect, buf: &mut Buffer, project: &Id, pipeline: u64) -> Rect {
    let Some(known) = pipelines::known(view, project, pipeline).value.filter(|_| area.height >= LEAST) else {
        return area;
    };
    let theme = view.theme;
    let mut spans = Vec::new();
    for (index, (words, role)) in facts(view, known).into_iter().enumerate() {
        let gap = if index == 0 { " " } else { " · " };
        spans.push((gap.to_owned(), theme.style(Role::Dim)));
        spans.push((text::sanitize(&words).into_owned(), theme.style(role)));
    }
    line::draw(buf, Rect { height: 1, ..area }, &spans);
    let errors = known.yaml_errors.as_deref().unwrap_or_default();
    let width = usize::from(area.width.saturating_sub(2));
    let errors = if errors.is_empty() { Vec::new() } else { text::wrap(errors, width, ERROR_ROWS) };
    for (words, y) in errors.iter().zip(area.y + 1..) {
        let row = Rect { x: area.x + 1, y, width: area.width.saturating_sub(1), height: 1 };
        line::draw(buf, row, &[(words.as_str(), theme.style(Role::Failed))]);
    }
    let used = 1 + errors.len() as u16;
    Rect { y: area.y + used, height: area.height - used, ..area }
}
