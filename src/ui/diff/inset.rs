//! Rows that are set into a diff behind one of its lines: what people said there.

use crate::ui::doc::DocLine;
use std::sync::Arc;

/// A side of a diff.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    Old,
    #[default]
    New,
}

/// Where in a file an inset stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// Below the heading of the file.
    File,
    /// Below a line, by its number from 1.
    Line(Side, u32),
}

/// Rows that are set into a diff. What they look like is made elsewhere; copies are cheap.
#[derive(Clone, Debug, PartialEq)]
pub struct Inset {
    /// Names it, so that the cursor stays on it while rows come and go.
    pub key: String,
    /// The file, by its new path or its old one.
    pub path: String,
    pub at: At,
    /// Its rows as they are drawn, over the whole width; none for one that takes no place.
    pub lines: Arc<Vec<DocLine<'static>>>,
}
