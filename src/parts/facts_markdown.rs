//! A Markdown text among the facts of an object, such as its description or its release notes.

use super::facts::{Details, LinkTarget};
use super::links::{self, Destination, TextOrigin};
use super::rendered_markdown;
use crate::api::Scope;
use crate::app::view::View;
use crate::store::Work;
use crate::ui::doc::DocLine;
use crate::ui::glyph;
use crate::ui::line::Line;
use crate::ui::theme::Role;

/// The maximum number of shown lines: facts are built again after each update.
const MAX_LINES: usize = 400;
/// The maximum number of bytes that are rendered.
const MAX_BYTES: usize = 64 * 1024;

/// A Markdown text, and where it is.
pub struct FactsMarkdown<'a> {
    origin: TextOrigin,
    text: &'a str,
}

impl<'a> FactsMarkdown<'a> {
    /// Returns a text of a project or group; `None` if it is empty.
    pub fn new(scope: &Scope, text: Option<&'a str>) -> Option<FactsMarkdown<'a>> {
        let text = crate::ui::text::head_bytes(text?, MAX_BYTES);
        let (project, group) = (scope.project().cloned(), scope.group().cloned());
        let origin = TextOrigin { project, group, ..TextOrigin::default() };
        (!text.trim().is_empty()).then_some(FactsMarkdown { origin, text })
    }

    /// Returns the computation that renders the text in a panel of `width` columns, unless it is done.
    pub fn work(&self, view: &View, width: usize) -> Option<Work> {
        let identity = rendered_markdown::identity(self.text);
        (width > 0).then(|| rendered_markdown::work(view, &identity, self.text, text_width(width))).flatten()
    }

    /// Writes the text below the facts, once it is rendered. The first link of a line is its target.
    pub fn write(&self, view: &View, width: usize, facts: &mut Details) {
        facts.line(Line::empty());
        let identity = rendered_markdown::identity(self.text);
        let Some(rendered) = rendered_markdown::rendered(view, &identity, text_width(width)) else {
            return facts.line(Line::new(glyph::ellipsis(), Role::Dim));
        };
        for line in rendered.lines.iter().take(MAX_LINES) {
            facts.rendered(line.clone(), self.target(view, line));
        }
        if rendered.lines.len() > MAX_LINES {
            facts.line(Line::new(format!("{} more on its web page", glyph::ellipsis()), Role::Dim));
        }
    }

    fn target(&self, view: &View, line: &DocLine) -> Option<LinkTarget> {
        let link = links::of_line(line).into_iter().next()?;
        match links::destination(view, &self.origin, None, &link.address) {
            Ok(Destination::Target(target)) => Some(*target),
            Ok(Destination::Line(_)) | Err(_) => None,
        }
    }
}

/// Returns the width of the text in a panel of `width` columns.
fn text_width(width: usize) -> usize {
    width.saturating_sub(4).clamp(20, rendered_markdown::MAX_PROSE_WIDTH)
}
