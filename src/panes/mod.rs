//! The places a person can be, one file each. [`PANES`] is the only registry.

pub mod changes;
pub mod crumbs;
pub mod files;
pub mod list;
pub mod project;
pub mod projects;
pub mod refs;

use crate::app::pane::Entry;

/// Every place there is.
pub const PANES: &[Entry] = &[Entry::of::<projects::Projects>(), Entry::of::<files::Files>()];
