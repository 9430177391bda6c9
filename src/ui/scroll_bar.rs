//! Scroll bars in the last column of a list or document. The code that draws one reports it, so that the mouse can drag
//! its thumb wherever there is one.

use crate::theme::{Role, Theme};
use crate::{glyph, line};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::cell::RefCell;
use std::ops::Range;

/// The number of rows that a step of the mouse wheel scrolls.
pub const WHEEL_ROWS: i16 = 3;

/// A scroll bar on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScrollBar {
    /// The area, one column wide.
    pub area: Rect,
    /// The first visible row, the number of visible ones, and the number of all.
    top: usize,
    visible: usize,
    len: usize,
}

thread_local! {
    static BARS: RefCell<Vec<ScrollBar>> = const { RefCell::new(Vec::new()) };
}

impl ScrollBar {
    /// Returns the number of rows of the thumb.
    fn size(&self) -> usize {
        let height = usize::from(self.area.height);
        (height * self.visible / self.len.max(1)).clamp(1, height.max(1))
    }

    /// Returns the rows of the bar that the thumb takes.
    fn thumb(&self) -> Range<usize> {
        let (size, height) = (self.size(), usize::from(self.area.height));
        let hidden = self.len.saturating_sub(self.visible).max(1);
        let from = (self.top as u128 * (height - size) as u128).div_ceil(hidden as u128) as usize;
        let from = from.min(height - size);
        from..from + size
    }

    /// Returns the row of the thumb that a press at a row of the screen grabs: beside the thumb, its middle.
    pub fn grab(&self, row: u16) -> usize {
        let (thumb, y) = (self.thumb(), usize::from(row.saturating_sub(self.area.y)));
        if thumb.contains(&y) { y - thumb.start } else { self.size() / 2 }
    }

    /// Moves the grabbed row of the thumb to a row of the screen; returns the number of rows to scroll by for that.
    pub fn drag(&mut self, grabbed: usize, row: u16) -> isize {
        let free = usize::from(self.area.height) - self.size();
        let from = usize::from(row.saturating_sub(self.area.y)).saturating_sub(grabbed).min(free);
        // Within the rows of the thumb's present place, nothing moves.
        if from == self.thumb().start {
            return 0;
        }
        let hidden = self.len.saturating_sub(self.visible);
        let top = (from as u128 * hidden as u128 / free.max(1) as u128) as usize;
        top as isize - std::mem::replace(&mut self.top, top) as isize
    }
}

/// Draws the scroll bar of a list or document of `len` rows in the last column of `area`, in which `visible` of them
/// are shown from `top` on.
pub fn draw(buf: &mut Buffer, area: Rect, theme: &Theme, top: usize, visible: usize, len: usize) {
    if len <= visible || area.is_empty() {
        return;
    }
    let bar = ScrollBar { area: Rect { x: area.right() - 1, width: 1, ..area }, top, visible, len };
    for y in bar.thumb() {
        line::set(buf, bar.area.x, area.y + y as u16, glyph::thumb(), 1, theme.style(Role::Faint));
    }
    // Those that are not visible cannot be dragged.
    if !glyph::is_accessible() {
        BARS.with_borrow_mut(|bars| bars.push(bar));
    }
}

/// Removes the bars that `area` intersects, before something is drawn over them.
pub fn cover(area: Rect) {
    BARS.with_borrow_mut(|bars| bars.retain(|bar| !bar.area.intersects(area)));
}

/// Takes the bars recorded since the last call.
pub fn take() -> Vec<ScrollBar> {
    BARS.take()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(top: usize, len: usize) -> ScrollBar {
        ScrollBar { area: Rect::new(79, 2, 1, 20), top, visible: 20, len }
    }

    #[test]
    fn the_thumb_follows_the_mouse_through_all_rows() {
        for len in [21, 22, 30, 100, 1_000_000] {
            let mut bar = bar(0, len);
            let grabbed = bar.grab(2);
            let free = 20 - bar.size() as u16;
            for step in (0..=free).chain((0..free).rev()) {
                let before = bar.top;
                let by = bar.drag(grabbed, 2 + step);
                assert_eq!((bar.top as isize - before as isize, bar.thumb().start), (by, step.into()), "{len}");
            }
            assert_eq!((bar.drag(grabbed, 90), bar.top), ((len - 20) as isize, len - 20));
            assert_eq!((bar.drag(grabbed, 0), bar.top), (20 - len as isize, 0));
        }
    }

    #[test]
    fn a_press_on_the_thumb_moves_nothing_and_one_beside_it_moves_the_middle_there() {
        let mut bar = bar(30, 100);
        for row in bar.thumb() {
            let row = 2 + row as u16;
            assert_eq!(bar.drag(bar.grab(row), row), 0);
        }
        let grabbed = bar.grab(20);
        assert!(bar.drag(grabbed, 20) > 0 && bar.thumb() == (16..20), "{:?}", bar.thumb());
    }
}
