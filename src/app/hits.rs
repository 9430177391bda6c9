//! Clickable areas of the screen: drawing code registers an area together with the effect of a click on it.
//!
//! 1. Code that draws something clickable registers its area and its meaning: `view.hits.add(area, Hit)`.
//! 2. When the mouse button is pressed, the app looks up the cell among the areas of the last frame. A key hint runs
//!    its command, a breadcrumb opens its place, a tab is shown, and a column title sorts. If an overlay is open, it
//!    receives all mouse events.
//! 3. A press that hits no area goes to the pane, and so does the wheel. A press on a scroll bar and a
//!    drag of it become movements of the wheel (`App::drag_bar`): the code that draws the bars reports them, see
//!    [`ui::scroll_bar`].

use super::place::Place;
use ratatui::layout::{Position, Rect};
use std::cell::RefCell;

/// The effect of a click.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hit {
    /// Runs a command: a key hint.
    Run(&'static str),
    /// Selects a tab, by its index.
    Tab(usize),
    /// Opens a place: a breadcrumb.
    Go(Box<Place>),
    /// Sorts the focused list by a column, by its index among the visible columns.
    Column(usize),
}

/// The areas of the last frame that can be clicked.
#[derive(Debug, Default)]
pub struct Hits(RefCell<Vec<(Rect, Hit)>>);

impl Hits {
    /// Removes the areas of the previous frame.
    pub fn clear(&self) {
        self.0.borrow_mut().clear();
    }

    /// Adds a clickable area; an empty area is ignored.
    pub fn add(&self, area: Rect, hit: Hit) {
        if !area.is_empty() {
            self.0.borrow_mut().push((area, hit));
        }
    }

    /// Returns the effect of a click on a cell; if areas overlap, the one added last wins.
    pub fn at(&self, column: u16, row: u16) -> Option<Hit> {
        let hits = self.0.borrow();
        hits.iter().rev().find(|(area, _)| area.contains(Position::new(column, row))).map(|(_, hit)| hit.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_drawn_area_is_on_top() {
        let hits = Hits::default();
        hits.add(Rect::new(0, 0, 10, 1), Hit::Tab(0));
        hits.add(Rect::new(4, 0, 2, 1), Hit::Tab(1));
        hits.add(Rect::new(8, 0, 0, 1), Hit::Tab(2));
        let at = |column| hits.at(column, 0);
        assert_eq!((at(3), at(5), at(8)), (Some(Hit::Tab(0)), Some(Hit::Tab(1)), Some(Hit::Tab(0))));
        assert_eq!(hits.at(3, 1), None);
        hits.clear();
        assert_eq!(hits.at(3, 0), None);
    }
}
