//! The position of the terminal cursor in accessible mode, reported by the code that draws the selection.

use std::cell::Cell;

thread_local! {
    static HINT: Cell<Option<(u16, u16)>> = const { Cell::new(None) };
}

/// Records the cell at which the selected row or field starts.
pub fn set_selected(x: u16, y: u16) {
    HINT.set(Some((x, y)));
}

/// Records the cell at which text to be read starts, unless something is selected.
pub fn set_fallback(x: u16, y: u16) {
    if HINT.get().is_none() {
        HINT.set(Some((x, y)));
    }
}

/// Takes the cell recorded since the last call.
pub fn take() -> Option<(u16, u16)> {
    HINT.take()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_selection_takes_precedence_over_typed_text() {
        set_fallback(1, 1);
        set_fallback(2, 2);
        assert_eq!(take(), Some((1, 1)));
        set_selected(3, 3);
        set_fallback(4, 4);
        assert_eq!((take(), take()), (Some((3, 3)), None));
    }
}
