//! Lists: what is selected and marked, and which part of them is in sight. Drawn by [`crate::ui::table`].

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

/// What is selected and marked in a list, and which part of it is in sight.
#[derive(Clone, Debug, Default)]
pub struct ListState {
    selected: usize,
    /// The key of what is selected, as of the last [`ListState::sync`]; `None` after the selection moved.
    key: Option<String>,
    marked: BTreeSet<String>,
    top: Cell<usize>,
    height: Cell<usize>,
    /// Lines above the first row at the last draw.
    pub(super) header: Cell<usize>,
    len: Cell<usize>,
    /// The natural widths seen so far, so that columns do not jump while rows scroll by.
    pub(super) widths: RefCell<(u16, Vec<u16>)>,
}

impl ListState {
    /// At the first row.
    pub fn new() -> ListState {
        ListState::default()
    }

    /// The index of the selected row.
    pub fn selected(&self) -> usize {
        self.selected
    }

    /// Selects row `index` of `len`, or the nearest there is.
    pub fn select(&mut self, index: usize, len: usize) {
        let index = index.min(len.saturating_sub(1));
        if index != self.selected {
            self.selected = index;
            self.key = None;
        }
    }

    /// Moves the selection by `by` rows.
    pub fn move_by(&mut self, by: isize, len: usize) {
        self.select(self.selected.saturating_add_signed(by), len);
    }

    /// Moves the selection by whole pages.
    pub fn page_by(&mut self, pages: isize, len: usize) {
        let page = self.height().saturating_sub(1).max(1) as isize;
        self.move_by(pages.saturating_mul(page), len);
        self.top.set(self.top.get().saturating_add_signed(pages.saturating_mul(page)));
    }

    /// Moves the selection by half pages (`C-d`, `C-u`).
    pub fn half_page_by(&mut self, halves: isize, len: usize) {
        self.move_by(halves.saturating_mul((self.height() / 2).max(1) as isize), len);
    }

    /// Selects the first row.
    pub fn first(&mut self) {
        self.select(0, 1);
    }

    /// Selects the last row.
    pub fn last(&mut self, len: usize) {
        self.select(usize::MAX, len);
    }

    /// Scrolls by `by` rows (the wheel); the selection follows only as far as it must to stay in sight.
    pub fn scroll_by(&mut self, by: isize, len: usize) {
        let height = self.height().max(1);
        let top = self.top.get().saturating_add_signed(by).min(len.saturating_sub(height));
        self.top.set(top);
        let margin = margin(height);
        let lowest = if top == 0 { 0 } else { top + margin };
        let highest = if top + height >= len { len } else { top + height - margin };
        self.select(self.selected.clamp(lowest, highest.saturating_sub(1).max(lowest)), len);
    }

    /// Where the selection stands on a row that cannot be selected (a heading), goes on to the next that can, downwards
    /// or upwards, else the other way.
    pub fn settle(&mut self, len: usize, down: bool, selectable: impl Fn(usize) -> bool) {
        if len == 0 || selectable(self.selected) {
            return;
        }
        let below = (self.selected + 1..len).find(|i| selectable(*i));
        let above = (0..self.selected.min(len)).rev().find(|i| selectable(*i));
        if let Some(index) = if down { below.or(above) } else { above.or(below) } {
            self.select(index, len);
        }
    }

    /// Keeps the selection on the same thing after the list changed; call it after every update. Costs one key while
    /// nothing changed, else a search outwards from where the thing was. What is gone leaves the selection where it was.
    pub fn sync(&mut self, len: usize, key_of: impl Fn(usize) -> String) {
        if len == 0 {
            // The key stays: a list that is loaded anew is empty for a while.
            return;
        }
        let at = self.selected.min(len - 1);
        let found = match &self.key {
            None => at,
            Some(key) => (0..len)
                .flat_map(|d| [at.checked_add(d).filter(|i| *i < len), at.checked_sub(d).filter(|_| d > 0)])
                .flatten()
                .find(|i| key_of(*i) == *key)
                .unwrap_or(at),
        };
        // What comes in above pushes the list down; what is looked at stays where it is on the screen.
        let top = self.top.get();
        if self.key.is_some() && found != self.selected && top > 0 {
            self.top.set((top + found).saturating_sub(self.selected));
        }
        self.selected = found;
        self.key = Some(key_of(found));
    }

    /// Selects the thing with `key` at the next [`ListState::sync`] (a target, the thing that was just made).
    pub fn want(&mut self, key: impl Into<String>) {
        self.key = Some(key.into());
    }

    /// Rows in sight at the last draw.
    pub fn height(&self) -> usize {
        self.height.get()
    }

    /// The first row in sight at the last draw.
    pub fn top(&self) -> usize {
        self.top.get()
    }

    /// The row at `y`, counted from the top of the area last drawn into; `None` on the header and below the last row.
    pub fn row_at(&self, y: u16) -> Option<usize> {
        let line = usize::from(y).checked_sub(self.header.get()).filter(|line| *line < self.height.get())?;
        Some(self.top.get() + line).filter(|row| *row < self.len.get())
    }

    /// Marks the thing with `key`, or takes the mark away.
    pub fn toggle_mark(&mut self, key: impl Into<String>) {
        let key = key.into();
        if !self.marked.remove(&key) {
            self.marked.insert(key);
        }
    }

    /// The keys that are marked.
    pub fn marked(&self) -> &BTreeSet<String> {
        &self.marked
    }

    /// Whether the thing with `key` is marked.
    pub fn is_marked(&self, key: &str) -> bool {
        self.marked.contains(key)
    }

    /// Takes all marks away.
    pub fn clear_marks(&mut self) {
        self.marked.clear();
    }

    /// Brings the selection into the window of `height` rows, and says where the window starts.
    pub(super) fn window(&self, len: usize, height: usize) -> usize {
        let selected = self.selected.min(len.saturating_sub(1));
        let margin = margin(height);
        let lowest = (selected + margin + 1).saturating_sub(height);
        let highest = selected.saturating_sub(margin);
        let top = self.top.get().clamp(lowest.min(highest), highest).min(len.saturating_sub(height));
        self.top.set(top);
        self.height.set(height);
        self.len.set(len);
        top
    }
}

/// Rows kept in sight above and below the selection.
fn margin(height: usize) -> usize {
    match height {
        0..=6 => 0,
        7..=14 => 1,
        _ => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_selection_stays_on_its_thing() {
        let mut state = ListState::new();
        let before = ["a", "b", "c"];
        state.select(1, 3);
        state.sync(3, |i| before[i].into());
        let after = ["new", "a", "x", "b"];
        state.sync(4, |i| after[i].into());
        assert_eq!(state.selected(), 3);
        state.sync(0, |_| String::new());
        state.sync(3, |i| before[i].into());
        assert_eq!(state.selected(), 1);
        let without = ["a"];
        state.sync(1, |i| without[i].into());
        assert_eq!(state.selected(), 0);
        state.want("c");
        state.sync(3, |i| before[i].into());
        assert_eq!(state.selected(), 2);
    }

    #[test]
    fn moving_stays_within_the_list() {
        let mut state = ListState::new();
        state.move_by(-1, 0);
        state.move_by(5, 3);
        assert_eq!(state.selected(), 2);
        state.window(100, 10);
        state.page_by(2, 100);
        assert!(state.selected() > 10);
        state.page_by(-9, 100);
        assert_eq!(state.selected(), 0);
        state.window(100, 10);
        state.scroll_by(30, 100);
        assert!(state.selected() >= 30, "the selection stays in sight");
        state.settle(100, true, |i| i % 10 == 5);
        assert_eq!(state.selected() % 10, 5);
    }
}
