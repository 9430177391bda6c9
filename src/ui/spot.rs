//! The position of the terminal cursor in accessible mode, reported by the code that draws the selection.

use std::cell::Cell;

thread_local! {
    static SPOT: Cell<Option<(u16, u16)>> = const { Cell::new(None) };
}

/// Records the cell at which the selected row or field starts.
pub fn select(x: u16, y: u16) {
    SPOT.set(Some((x, y)));
}

/// Records the cell at which text to be read starts, unless something is selected.
pub fn suggest(x: u16, y: u16) {
    if SPOT.get().is_none() {
        SPOT.set(Some((x, y)));
    }
}

/// Takes the cell recorded since the last call.
pub fn take() -> Option<(u16, u16)> {
    SPOT.take()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_selection_counts_more_than_words() {
        suggest(1, 1);
        suggest(2, 2);
        assert_eq!(take(), Some((1, 1)));
        select(3, 3);
        suggest(4, 4);
        assert_eq!((take(), take()), (Some((3, 3)), None));
    }
}
