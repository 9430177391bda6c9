//! The places a person can be, one file each. [`PANES`] is the only registry.

pub mod changes;
pub mod ci;
pub mod crumbs;
pub mod files;
pub mod job;
pub mod jobs;
pub mod list;
pub mod project;
pub mod projects;
pub mod refs;
pub mod runners;

use crate::app::pane::Entry;

/// Every place there is.
pub const PANES: &[Entry] = &[
    Entry::of::<projects::Projects>(),
    Entry::of::<files::Files>(),
    Entry::of::<jobs::Jobs>(),
    Entry::of::<job::JobTrace>(),
    Entry::of::<runners::Runners>(),
    Entry::of::<jobs::Jobs>().named("pipelines", "Pipelines of a project, with their jobs"),
];
