//! The places a person can be, one file each. [`PANES`] is the only registry.

pub mod apart;
pub mod artifacts;
pub mod aside;
pub mod blob;
pub mod board;
pub mod branches;
pub mod changes;
pub mod ci;
pub mod columns;
pub mod commit;
pub mod commit_details;
pub mod commit_view;
pub mod commits;
pub mod compare;
pub mod crumbs;
pub mod deployments;
pub mod details;
pub mod files;
pub mod forms;
pub mod groups;
pub mod history;
pub mod home;
pub mod hooks;
pub mod issue;
pub mod job;
mod job_details;
pub mod jobs;
pub mod key;
pub mod labels;
pub mod license;
pub mod list;
pub mod log_query;
pub mod looked;
pub mod mr;
pub mod mrs;
pub mod notes;
pub mod notifications;
pub mod overview;
pub mod people;
pub mod pick;
pub mod profile;
pub mod project;
pub mod projects;
pub mod prose;
pub mod public_key;
pub mod refs;
pub mod requests;
pub mod review;
pub mod runners;
pub mod search;
pub mod snippets;
pub mod stage;
pub mod staging;
pub mod tags;
pub mod trace;
pub mod traces;
pub mod typed;
pub mod user;
pub mod users;

use crate::app::pane::{Entry, Needs};

/// Every place there is.
pub const PANES: &[Entry] = &[
    Entry::of::<projects::Projects>(),
    Entry::of::<mrs::MergeRequests>(),
    Entry::of::<mr::Mr>(),
    Entry::of::<files::Files>(),
    Entry::of::<overview::Overview>(),
    Entry::of::<branches::Branches>(),
    Entry::of::<tags::Tags>(),
    Entry::of::<commits::Commits>(),
    Entry::of::<commit::CommitPane>(),
    Entry::of::<compare::ComparePane>(),
    Entry::of::<jobs::Jobs>(),
    Entry::of::<job::JobTrace>(),
    Entry::of::<traces::Traces>(),
    Entry::of::<artifacts::Artifacts>(),
    Entry::of::<runners::Runners>(),
    Entry::of::<deployments::Deployments>(),
    Entry::of::<home::Home>(),
    Entry::of::<search::Searching>(),
    Entry::of::<stage::Stage>(),
    Entry::of::<snippets::Snippets>(),
    Entry::of::<groups::Groups>(),
    Entry::of::<users::Users>(),
    Entry::of::<user::UserPane>(),
    Entry::of::<user::UserPane>().named("me", "Yourself: profile, projects and keys").needing(Needs::Nothing),
    Entry::of::<key::LookUp>(),
    Entry::of::<hooks::Hooks>(),
    Entry::of::<license::Licence>(),
    Entry::of::<notifications::Notifications>(),
    Entry::of::<issue::IssuePane>(),
    Entry::of::<issue::IssuePane>().named("epic", "Notes of a group's epic"),
    Entry::of::<jobs::Jobs>().named("pipelines", "Pipelines of a project, with their jobs"),
];
