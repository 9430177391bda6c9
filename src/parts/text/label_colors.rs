//! Labels with a dot in their color, if it is known.

use crate::api::labels::{Label, ListLabels, rgb};
use crate::api::{Id, Scope};
use crate::app::view::View;
use crate::store::{Load, Rows};
use crate::ui::glyph;
use crate::ui::line::Line;
use crate::ui::theme::Role;

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

/// Returns a label for a line of text.
pub fn line(view: &View, name: &str, known: &Rows<'_, Label>) -> Line<'static> {
    let color = color(known, name).filter(|color| view.theme.pixel(*color).is_some());
    let dot = color.map_or_else(Line::empty, |color| Line::empty().tinted(glyph::alive(), color));
    dot.and(name.to_owned(), Role::Label)
}
