//! A Markdown text among the facts of an object, such as its description or its release notes.

use crate::api::Scope;
use crate::app::view::View;
use crate::parts::facts::{Details, LinkTarget};
use crate::parts::text::links::{self, Destination, TextOrigin};
use crate::parts::text::rendered_markdown;
use crate::ui::doc::DocLine;
use crate::ui::glyph;
use crate::ui::line::Line;
use crate::ui::text::head_bytes;
use crate::ui::theme::Role;

/// The maximum number of shown lines: facts are built again after each update.
const MAX_LINES: usize = 400;
/// The maximum number of bytes that are rendered.
const MAX_BYTES: usize = 64 * 1024;

/// Writes a text of a project or group below the facts, if there is any, once it is rendered for a panel of `width`
/// columns. The first link of a line is its target.
pub fn write(facts: &mut Details, view: &View, scope: &Scope, text: Option<&str>, width: usize) {
    let Some(text) = text.map(|text| head_bytes(text, MAX_BYTES)).filter(|text| !text.trim().is_empty()) else {
        return;
    };
    let (project, group) = (scope.project().cloned(), scope.group().cloned());
    let origin = TextOrigin { project, group, ..TextOrigin::default() };
    let (identity, columns) = (rendered_markdown::identity(text), text_width(width));
    if let Some(work) = rendered_markdown::work(view, &identity, text, columns).filter(|_| width > 0) {
        facts.want(work);
    }
    facts.line(Line::empty());
    let Some(rendered) = rendered_markdown::rendered(view, &identity, columns) else {
        return facts.line(Line::new(glyph::ellipsis(), Role::Dim));
    };
    for line in rendered.lines.iter().take(MAX_LINES) {
        facts.rendered(line.clone(), target(view, &origin, line));
    }
    if rendered.lines.len() > MAX_LINES {
        facts.line(Line::new(format!("{} more on its web page", glyph::ellipsis()), Role::Dim));
    }
}

fn target(view: &View, origin: &TextOrigin, line: &DocLine) -> Option<LinkTarget> {
    let link = links::of_line(line).into_iter().next()?;
    match links::destination(view, origin, None, &link.address) {
        Ok(Destination::Target(target)) => Some(*target),
        Ok(Destination::Line(_)) | Err(_) => None,
    }
}

/// Returns the width of the text in a panel of `width` columns.
fn text_width(width: usize) -> usize {
    width.saturating_sub(4).clamp(20, rendered_markdown::MAX_PROSE_WIDTH)
}
