//! A drag of the mouse over lines, which marks them.

/// The line on which the button of the mouse was pressed, while it is held.
#[derive(Clone, Copy, Debug, Default)]
pub struct LineDrag {
    pressed: Option<usize>,
    has_moved: bool,
}

impl LineDrag {
    /// Handles a press on a line; returns whether it moves the cursor there and ends the mark. On a marked line, it keeps
    /// them, for a menu about them or until the button is released.
    pub fn press(&mut self, line: usize, is_marked: bool) -> bool {
        (self.pressed, self.has_moved) = (Some(line), false);
        !is_marked
    }

    /// Handles a movement to a line; returns the line where the marked lines begin.
    pub fn drag(&mut self, line: usize) -> Option<usize> {
        let from = self.pressed?;
        self.has_moved |= line != from;
        self.has_moved.then_some(from)
    }

    /// Handles the release of the button; returns the line of a click without a movement.
    pub fn release(&mut self) -> Option<usize> {
        self.pressed.take().filter(|_| !self.has_moved)
    }
}
