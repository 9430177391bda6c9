//! Mouse events, as panes and overlays receive them.

/// A mouse event, in screen cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pointer {
    /// A press; the second of two quick presses opens the item.
    Press { column: u16, row: u16, double: bool },
    /// A movement while pressed.
    Drag { column: u16, row: u16 },
    /// A release.
    Release,
    /// A turn of the wheel; positive is down.
    Wheel { column: u16, row: u16, rows: i16 },
}
