//! A sidebar with facts beside a text, on wide screens: the text keeps its whole height.

use crate::app::view::View;
use crate::ui::doc::DocLine;
use crate::ui::theme::Role;
use crate::ui::{glyph, line, panels};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// The width of the sidebar including its border, in columns.
const SIDEBAR_WIDTH: u16 = 50;
/// The width of a fact with its name, in columns.
pub const FACT_WIDTH: usize = SIDEBAR_WIDTH as usize - 4;

/// Returns whether the screen is wide enough for the sidebar; otherwise the facts are above the text.
pub fn is_wide(view: &View) -> bool {
    view.size.0 >= panels::THREE_PANELS_WIDTH
}

/// Returns the width that is left for the text, in columns.
pub fn left(view: &View) -> u16 {
    if is_wide(view) { view.size.0 - SIDEBAR_WIDTH } else { view.size.0 }
}

/// Draws the sidebar if there is room; returns the area for the text.
pub fn draw(view: &View, area: Rect, buf: &mut Buffer, lines: &[DocLine<'_>]) -> Rect {
    if !is_wide(view) || area.width <= SIDEBAR_WIDTH {
        return area;
    }
    let left = Rect { width: area.width - SIDEBAR_WIDTH, ..area };
    let right = Rect { x: left.right() + 2, width: SIDEBAR_WIDTH - 2, ..area };
    for y in area.y..area.bottom() {
        line::set(buf, left.right(), y, glyph::divider(), 1, view.theme.style(Role::Faint));
    }
    let body = panels::title(buf, right, view.theme, false, "Details", "");
    let body = Rect { x: body.x + 1, width: body.width - 2, ..body };
    for (line, at) in lines.iter().zip(body.rows()) {
        line.text.draw(buf, at, view.theme);
    }
    left
}
