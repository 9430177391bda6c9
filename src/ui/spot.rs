//! The cell of what is selected, where the terminal's own cursor stands in accessible mode: told by what draws it.

use std::cell::Cell;

thread_local! {
    static SPOT: Cell<Option<(u16, u16)>> = const { Cell::new(None) };
}

/// The selected row or field is drawn from this cell on.
pub fn select(x: u16, y: u16) {
    SPOT.set(Some((x, y)));
}

/// Words begin at this cell that are to be read where nothing is selected.
pub fn suggest(x: u16, y: u16) {
    if SPOT.get().is_none() {
        SPOT.set(Some((x, y)));
    }
}

/// Returns the cell that was told since the last time, and forgets it.
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
