//! Labels with a dot in their color, if it is known.

use crate::api::labels::{Label, ListLabels, rgb};
use crate::api::{Id, Scope};
use crate::app::view::View;
use crate::store::{Load, Rows};
use crate::ui::glyph;
use crate::ui::line::Line;
use crate::ui::theme::Role;
use ratatui::style::Style;
use std::borrow::Cow;

fn labels_of(project: &Id) -> ListLabels {
    ListLabels { scope: Scope::Project(project.clone()), ..ListLabels::default() }
}

/// Returns the request for the labels of a project, including those of its groups.
pub fn load(project: &Id) -> Load {
    Load::list(&labels_of(project), 1)
}

/// Returns the loaded labels of a project.
pub fn known<'a>(view: &View<'a>, project: &Id) -> Rows<'a, Label> {
    view.store.list(&labels_of(project))
}

/// Returns the color of a label, if it is among the loaded ones.
pub fn color(known: &Rows<'_, Label>, name: &str) -> Option<[u8; 3]> {
    known.iter().find(|label| label.name == name).and_then(|label| rgb(&label.color))
}

/// Returns a table cell with labels, given by name and color.
pub fn cell<'a>(labels: impl IntoIterator<Item = (&'a str, Option<[u8; 3]>)>) -> Line<'static> {
    let mut cell = Line::empty();
    for (name, color) in labels.into_iter().filter(|(name, _)| !name.is_empty()) {
        let gap = if cell.spans.is_empty() { "" } else { " " };
        cell = cell.and(gap, Role::Label);
        if let Some(color) = color {
            cell = cell.tinted(glyph::alive(), color);
        }
        cell = cell.and(name.to_owned(), Role::Label);
    }
    cell
}

/// Returns the spans of a label for a line of text.
pub fn spans(view: &View, name: &str, known: &Rows<'_, Label>) -> Vec<(Cow<'static, str>, Style)> {
    let style = view.theme.style(Role::Label);
    let color = color(known, name).and_then(|color| view.theme.pixel(color));
    let dot = color.map(|color| (glyph::alive().into(), style.fg(color)));
    dot.into_iter().chain([(name.to_owned().into(), style)]).collect()
}
