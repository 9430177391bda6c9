//! The rows of a list or document that are on the screen, and the row under its cursor.

use super::drawn::Drawn;
use crate::glyph;

/// The visible rows and the cursor. Before the first frame, no row is visible.
#[derive(Clone, Debug)]
pub struct Viewport {
    cursor: usize,
    top: Drawn<usize>,
    height: Drawn<usize>,
    /// Whether the cursor stays on the last row while rows are added; moving up turns this off.
    pub follow: bool,
    /// The number of rows kept visible above and below the cursor if there are many.
    margin: usize,
}

impl Viewport {
    /// Creates a viewport at the first row that keeps `margin` rows around the cursor visible.
    pub const fn new(margin: usize) -> Viewport {
        Viewport { cursor: 0, top: Drawn::new(0), height: Drawn::new(0), follow: false, margin }
    }

    /// Returns the row under the cursor, of `len` rows.
    pub fn at(&self, len: usize) -> usize {
        if self.follow { len.saturating_sub(1) } else { self.cursor.min(len.saturating_sub(1)) }
    }

    /// Returns the row under the cursor, which may not be loaded yet. Meaningless while following.
    pub fn cursor(&self) -> usize {
        self.cursor
    }

    /// Returns the first visible row of the last frame.
    pub fn top(&self) -> usize {
        self.top.get()
    }

    /// Returns the number of visible rows of the last frame.
    pub fn height(&self) -> usize {
        self.height.get()
    }

    /// Puts the cursor on `row`, which may not be loaded yet.
    pub fn set_cursor(&mut self, row: usize) {
        self.cursor = row;
    }

    /// Makes `top` the first visible row, as far as the cursor stays visible.
    pub fn set_top(&self, top: usize) {
        self.top.set(top);
    }

    /// Records the number of rows that a frame showed.
    pub fn set_height(&self, height: usize) {
        self.height.set(height);
    }

    /// Puts the cursor on `row`, or on the last one.
    pub fn select(&mut self, row: usize, len: usize) {
        self.cursor = row.min(len.saturating_sub(1));
    }

    /// Keeps the cursor within `len` rows.
    pub fn clamp(&mut self, len: usize) {
        self.select(self.cursor, len);
    }

    /// Moves the cursor by `by` rows.
    pub fn move_by(&mut self, by: isize, len: usize) {
        let from = self.at(len);
        self.follow &= by >= 0;
        self.select(from.saturating_add_signed(by), len);
    }

    /// Moves by whole pages.
    pub fn page_by(&mut self, pages: isize, len: usize) {
        let page = self.height().saturating_sub(1).max(1) as isize;
        self.move_with_rows(pages.saturating_mul(page), len);
    }

    /// Moves by half pages.
    pub fn half_page_by(&mut self, halves: isize, len: usize) {
        let half = (self.height() / 2).max(1) as isize;
        self.move_with_rows(halves.saturating_mul(half), len);
    }

    /// Moves the cursor and the visible rows together.
    fn move_with_rows(&mut self, by: isize, len: usize) {
        self.move_by(by, len);
        self.set_top(self.top().saturating_add_signed(by));
    }

    /// Moves to the first row.
    pub fn first(&mut self) {
        self.follow = false;
        self.cursor = 0;
    }

    /// Moves to the last row.
    pub fn last(&mut self, len: usize) {
        self.select(usize::MAX, len);
    }

    /// Moves to `row`, counted from 0, and centers it if it was not visible.
    pub fn goto(&mut self, row: usize, len: usize) {
        self.follow = false;
        self.select(row, len);
        let (top, height) = (self.top(), self.height());
        if height > 0 && !(top..top + height).contains(&self.cursor) {
            // In accessible mode, what is gone to is written first.
            let above = if glyph::is_accessible() { 0 } else { height / 2 };
            self.set_top(self.cursor.saturating_sub(above));
        }
    }

    /// Scrolls by `by` rows, as with the mouse wheel. The cursor moves only as far as necessary to stay visible.
    pub fn scroll_by(&mut self, by: isize, len: usize) {
        let height = self.height().max(1);
        let from = self.at(len);
        self.follow &= by >= 0;
        let top = self.top().saturating_add_signed(by).min(len.saturating_sub(height));
        self.set_top(top);
        let margin = self.margin(height);
        let lowest = if top == 0 { 0 } else { top + margin };
        let highest = if top + height >= len { len } else { top + height - margin };
        self.select(from.clamp(lowest, highest.saturating_sub(1).max(lowest)), len);
    }

    /// Returns the row at `y`, counted from the first visible one, or `None` below the last row.
    pub fn visible_row(&self, y: usize, len: usize) -> Option<usize> {
        (y < self.height()).then_some(self.top() + y).filter(|row| *row < len)
    }

    /// Shows `height` rows, the one under the cursor among them, and returns the first one. Documents whose lines are
    /// built together call this before drawing.
    pub fn window(&self, len: usize, height: usize) -> usize {
        let cursor = self.at(len);
        let margin = self.margin(height);
        let lowest = (cursor + margin + 1).saturating_sub(height);
        let highest = cursor.saturating_sub(margin);
        let top = self.top().clamp(lowest.min(highest), highest).min(len.saturating_sub(height));
        self.set_top(top);
        self.set_height(height);
        top
    }

    /// Returns the number of rows kept visible above and below the cursor.
    fn margin(&self, height: usize) -> usize {
        match height {
            0..=6 => 0,
            7..=14 => 1,
            _ => self.margin,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a viewport of 10 rows as of a frame with the cursor on `cursor` of 100 rows.
    fn on(cursor: usize) -> Viewport {
        let mut viewport = Viewport::new(3);
        viewport.select(cursor, 100);
        viewport.window(100, 10);
        viewport
    }

    #[test]
    fn the_cursor_stays_within_the_rows() {
        let mut viewport = Viewport::new(2);
        viewport.move_by(-1, 0);
        viewport.move_by(5, 3);
        assert_eq!(viewport.at(3), 2);
        assert_eq!(viewport.at(1), 0, "fewer rows than before");
        viewport.last(0);
        assert_eq!(viewport.at(0), 0);
    }

    #[test]
    fn rows_around_the_cursor_stay_visible() {
        let mut viewport = on(50);
        assert_eq!((viewport.top(), viewport.height()), (42, 10));
        viewport.move_by(-8, 100);
        assert_eq!(viewport.window(100, 10), 41);
        for (height, margin) in [(6, 0), (14, 1), (15, 3)] {
            let viewport = on(50);
            viewport.set_top(0);
            assert_eq!(viewport.window(100, height), 50 + margin + 1 - height);
        }
    }

    #[test]
    fn pages_move_the_rows_and_the_wheel_moves_the_cursor_only_if_it_must() {
        let mut viewport = on(50);
        viewport.page_by(1, 100);
        assert_eq!((viewport.at(100), viewport.window(100, 10)), (59, 51));
        viewport.half_page_by(-1, 100);
        assert_eq!((viewport.at(100), viewport.window(100, 10)), (54, 46));
        viewport.scroll_by(-1, 100);
        assert_eq!((viewport.at(100), viewport.window(100, 10)), (53, 45));
        viewport.scroll_by(30, 100);
        assert_eq!((viewport.at(100), viewport.window(100, 10)), (76, 75));
        viewport.page_by(-99, 100);
        assert_eq!((viewport.at(100), viewport.window(100, 10)), (0, 0));
    }

    #[test]
    fn a_distant_row_is_centered() {
        let mut viewport = on(50);
        viewport.goto(44, 100);
        assert_eq!(viewport.window(100, 10), 42, "it was visible");
        viewport.goto(80, 100);
        assert_eq!(viewport.window(100, 10), 75);
        viewport.goto(usize::MAX, 100);
        assert_eq!((viewport.at(100), viewport.window(100, 10)), (99, 90));
    }

    #[test]
    fn following_stays_at_the_end_until_the_cursor_moves_up() {
        let mut viewport = Viewport::new(3);
        viewport.follow = true;
        assert_eq!((viewport.at(100), viewport.window(100, 10)), (99, 90));
        viewport.move_by(1, 120);
        assert_eq!((viewport.at(130), viewport.follow), (129, true));
        viewport.window(130, 10);
        viewport.scroll_by(-1, 130);
        assert!(!viewport.follow);
        assert_eq!(viewport.at(200), 127);
    }

    #[test]
    fn a_row_is_found_by_its_place_on_the_screen() {
        let viewport = on(50);
        assert_eq!([0, 9, 10].map(|y| viewport.visible_row(y, 100)), [Some(42), Some(51), None]);
        assert_eq!(viewport.visible_row(5, 45), None);
    }
}
