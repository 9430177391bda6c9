//! The places a person can be, one file each. [`PANES`] is the only registry.

pub mod branches;
pub mod changes;
pub mod ci;
pub mod commit;
pub mod commit_view;
pub mod commits;
pub mod crumbs;
pub mod files;
pub mod home;
pub mod job;
pub mod jobs;
pub mod list;
pub mod mr;
pub mod mrs;
pub mod project;
pub mod projects;
pub mod prose;
pub mod refs;
pub mod review;
pub mod runners;
pub mod search;
pub mod tags;

use crate::app::pane::Entry;

/// Every place there is.
pub const PANES: &[Entry] = &[
    Entry::of::<projects::Projects>(),
    Entry::of::<mrs::MergeRequests>(),
    Entry::of::<mr::Mr>(),
    Entry::of::<files::Files>(),
    Entry::of::<branches::Branches>(),
    Entry::of::<tags::Tags>(),
    Entry::of::<commits::Commits>(),
    Entry::of::<commit::CommitPane>(),
    Entry::of::<jobs::Jobs>(),
    Entry::of::<job::JobTrace>(),
    Entry::of::<runners::Runners>(),
    Entry::of::<home::Home>(),
    Entry::of::<search::Searching>(),
    Entry::of::<jobs::Jobs>().named("pipelines", "Pipelines of a project, with their jobs"),
];
