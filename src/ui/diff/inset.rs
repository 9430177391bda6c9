//! Insets: rows inserted into a diff below one of its lines, which show comments.

use super::FileKey;
use crate::doc::DocLine;
use std::sync::Arc;

/// A side of a diff.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    Old,
    #[default]
    New,
}

/// The position of an inset in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// Below the heading of the file.
    File,
    /// Below a line, by its side and its number, counted from 1.
    Line(Side, u32),
}

/// Rows inserted into a diff. They are rendered elsewhere; copies are cheap.
#[derive(Clone, Debug, PartialEq)]
pub struct Inset {
    /// The identity of the inset, by which the cursor stays on it while rows change.
    pub key: String,
    pub file: FileKey,
    pub at: At,
    /// The rendered rows over the full width. Empty for an inset that takes no space.
    pub lines: Arc<Vec<DocLine<'static>>>,
    /// Whether the last row is only a border, on which the cursor does not stop.
    pub ends_with_border: bool,
    /// The number of comments that it shows.
    pub comments: usize,
    /// Whether they still have to be resolved.
    pub is_unresolved: bool,
}
