//! Cells that link to web addresses, reported by the code that draws them. The terminal turns them into hyperlinks if
//! it can.

use ratatui::layout::Rect;
use std::cell::RefCell;
use std::sync::Arc;

/// Cells on one line of the screen and their link target, as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hyperlink {
    /// The area, one row high.
    pub area: Rect,
    pub target: Arc<str>,
}

thread_local! {
    static LINKS: RefCell<Vec<Hyperlink>> = const { RefCell::new(Vec::new()) };
}

/// Returns whether a target is a web address, as opposed to a path or a reference.
pub fn is_address(target: &str) -> bool {
    target.starts_with("https://") || target.starts_with("http://")
}

/// Records a symbol of `width` columns that links to `target`.
pub fn add(x: u16, y: u16, width: u16, target: &Arc<str>) {
    LINKS.with_borrow_mut(|links| match links.last_mut() {
        Some(last) if last.area.y == y && last.area.right() == x && last.target == *target => last.area.width += width,
        _ => links.push(Hyperlink { area: Rect { x, y, width, height: 1 }, target: target.clone() }),
    });
}

/// Removes the links that `area` intersects, before something is drawn over it.
pub fn cover(area: Rect) {
    LINKS.with_borrow_mut(|links| links.retain(|link| !link.area.intersects(area)));
}

/// Takes the links recorded since the last call.
pub fn take() -> Vec<Hyperlink> {
    LINKS.take()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adjacent_cells_are_one_link_until_covered() {
        let target: Arc<str> = "https://x/y".into();
        for (x, y, width) in [(3, 1, 1), (4, 1, 2), (0, 2, 1), (9, 5, 1)] {
            add(x, y, width, &target);
        }
        cover(Rect::new(0, 4, 80, 4));
        let areas: Vec<Rect> = take().into_iter().map(|link| link.area).collect();
        assert_eq!(areas, [Rect::new(3, 1, 3, 1), Rect::new(0, 2, 1, 1)]);
        assert!(take().is_empty());
    }
}
