//! Mouse events, as panes and overlays receive them.

use ratatui::layout::Rect;

/// A mouse event, in screen cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pointer {
    /// A press; the second of two quick presses opens the item.
    Press { column: u16, row: u16, double: bool },
    /// A movement while pressed.
    Drag { column: u16, row: u16 },
    /// A release.
    Release,
    /// A turn of the wheel; positive is down.
    Wheel { column: u16, row: u16, rows: i16 },
}

/// Returns the row within an area that a drag is at, or the nearest one after it left the area.
pub fn row_in(area: Rect, row: u16) -> u16 {
    row.clamp(area.y, area.bottom().saturating_sub(1).max(area.y)) - area.y
}
