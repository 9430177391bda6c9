//! Facts beside a text, where the screen is wide enough for both: what they are of keeps its whole height.

use crate::app::pane::View;
use crate::ui::doc::DocLine;
use crate::ui::theme::Role;
use crate::ui::{glyph, line, panels};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Columns of the facts, with the rule before them.
const COLUMNS: u16 = 50;
/// Columns of what a fact may say, and its name.
pub const WIDTH: usize = COLUMNS as usize - 4;

/// Returns whether they stand beside the text, and not above it.
pub fn is_wide(view: &View) -> bool {
    view.size.0 >= panels::THREE
}

/// Columns of the screen that are left for the text.
pub fn left(view: &View) -> u16 {
    if is_wide(view) { view.size.0 - COLUMNS } else { view.size.0 }
}

/// Draws the facts, where they stand beside; where the text goes then.
pub fn draw(view: &View, area: Rect, buf: &mut Buffer, lines: &[DocLine<'_>]) -> Rect {
    if !is_wide(view) || area.width <= COLUMNS {
        return area;
    }
    let left = Rect { width: area.width - COLUMNS, ..area };
    let right = Rect { x: left.right() + 2, width: COLUMNS - 2, ..area };
    for y in area.y..area.bottom() {
        line::set(buf, left.right(), y, glyph::divider(), 1, view.theme.style(Role::Faint));
    }
    let body = panels::title(buf, right, view.theme, false, "Details", "");
    let body = Rect { x: body.x + 1, width: body.width - 2, ..body };
    for (line, at) in lines.iter().zip(body.rows()) {
        line::draw(buf, at, &line.spans);
    }
    left
}
