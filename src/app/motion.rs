//! Movements in whatever has the focus.

use ui::doc::{DocState, SCROLL_COLUMNS};
use ui::table::ListState;

/// A movement in whatever has the focus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Motion {
    Up,
    Down,
    Left,
    Right,
    First,
    Last,
    HalfUp,
    HalfDown,
    PageUp,
    PageDown,
    /// Rows of the mouse wheel; positive is down.
    Wheel(i16),
}

impl Motion {
    /// Returns the movement in rows for a viewport of `height` rows; `None` for movements that are not by rows.
    pub fn rows(self, height: usize) -> Option<isize> {
        let height = height.max(2) as isize;
        Some(match self {
            Motion::Up => -1,
            Motion::Down => 1,
            Motion::HalfUp => -(height / 2),
            Motion::HalfDown => height / 2,
            Motion::PageUp => -(height - 1),
            Motion::PageDown => height - 1,
            Motion::Wheel(rows) => rows.into(),
            Motion::First => isize::MIN / 2,
            Motion::Last => isize::MAX / 2,
            Motion::Left | Motion::Right => return None,
        })
    }

    /// Moves in a document of `len` rows.
    pub fn scroll(self, doc: &mut DocState, len: usize) {
        match self {
            Motion::Left => doc.scroll_columns_by(-(SCROLL_COLUMNS as isize)),
            Motion::Right => doc.scroll_columns_by(SCROLL_COLUMNS as isize),
            Motion::Up => doc.move_by(-1, len),
            Motion::Down => doc.move_by(1, len),
            Motion::First => doc.first(),
            Motion::Last => doc.last(len),
            Motion::HalfUp => doc.half_page_by(-1, len),
            Motion::HalfDown => doc.half_page_by(1, len),
            Motion::PageUp => doc.page_by(-1, len),
            Motion::PageDown => doc.page_by(1, len),
            Motion::Wheel(rows) => doc.scroll_by(rows.into(), len),
        }
    }

    /// Scrolls the viewport of a text of `len` rows that shows no cursor; horizontal movements are left to the pane.
    pub fn window(self, doc: &mut DocState, len: usize) {
        match self {
            Motion::Left | Motion::Right => {}
            Motion::First => doc.first(),
            Motion::Last => doc.last(len),
            other => {
                let by = other.rows(doc.height()).unwrap_or(0);
                doc.scroll_by(by, len);
            }
        }
    }

    /// Moves the selection of a list, or scrolls its viewport if the motion is by the mouse wheel.
    pub fn apply(self, list: &mut ListState, len: usize) {
        match (self, self.rows(list.height())) {
            (Motion::PageUp, _) => list.page_by(-1, len),
            (Motion::PageDown, _) => list.page_by(1, len),
            (Motion::Wheel(rows), _) => list.scroll_by(rows.into(), len),
            (_, Some(rows)) => list.move_by(rows, len),
            (_, None) => {}
        }
    }
}
