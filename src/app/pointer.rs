//! Mouse events, as panes and overlays receive them.

use ratatui::layout::Rect;
use ui::table::ListState;

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

/// The effect of a mouse event on a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnList {
    /// The row at an index was clicked and is selected; whether it was the second of two quick clicks.
    Row(usize, bool),
    /// A cell outside of the list was clicked.
    Outside,
    Scrolled,
    Nothing,
}

impl Pointer {
    /// Scrolls a list of `len` rows, drawn in `area`, with the wheel, and selects the row under a click.
    pub fn on_list(self, list: &mut ListState, area: Rect, len: usize) -> OnList {
        match self {
            Pointer::Wheel { rows, .. } => {
                list.scroll_by(rows.into(), len);
                return OnList::Scrolled;
            }
            Pointer::Press { column, row, .. } if !area.contains((column, row).into()) => return OnList::Outside,
            Pointer::Press { row, double, .. } => {
                if let Some(index) = list.row_at(row - area.y) {
                    list.select(index, len);
                    return OnList::Row(index, double);
                }
            }
            Pointer::Drag { .. } | Pointer::Release => {}
        }
        OnList::Nothing
    }
}

/// Returns the row within an area that a drag is at, or the nearest one after it left the area.
pub fn row_in(area: Rect, row: u16) -> u16 {
    row.clamp(area.y, area.bottom().saturating_sub(1).max(area.y)) - area.y
}
