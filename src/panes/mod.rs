//! The places a person can be, one file each. [`PANES`] is the only registry.

pub mod artifacts;
pub mod branches;
pub mod commit;
pub mod commits;
pub mod compare;
pub mod deployments;
pub mod files;
pub mod groups;
pub mod home;
pub mod hooks;
pub mod issue;
pub mod job;
pub mod jobs;
pub mod key;
pub mod license;
pub mod mr;
pub mod mrs;
pub mod notifications;
pub mod overview;
pub mod projects;
pub mod runners;
pub mod search;
pub mod snippets;
pub mod staged_changes;
pub mod tags;
pub mod traces;
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
    Entry::of::<staged_changes::StagedChanges>(),
    Entry::of::<snippets::Snippets>(),
    Entry::of::<groups::Groups>(),
    Entry::of::<users::Users>(),
    Entry::of::<user::UserPane>(),
    Entry::of::<user::UserPane>().named("me", "Your profile and keys").needing(Needs::Nothing),
    Entry::of::<key::LookUp>(),
    Entry::of::<hooks::Hooks>(),
    Entry::of::<license::LicensePane>(),
    Entry::of::<notifications::Notifications>(),
    Entry::of::<issue::IssuePane>(),
    Entry::of::<issue::IssuePane>().named("epic", "Epic"),
    Entry::of::<jobs::Jobs>().named("pipelines", "Pipelines"),
];
