//! An embedded server that implements the REST API v4 over in-memory records and real git repositories.

mod access_tokens;
pub mod auth;
mod avatars;
mod award_emoji;
pub mod body;
mod branches;
mod cache;
pub mod call;
mod changelog;
mod ci;
mod clone_reader;
mod commit_discussions;
mod commits;
mod decisions;
mod deliveries;
pub mod demo;
mod dependencies;
mod deployments;
mod discussions;
pub mod door;
mod draft_notes;
pub mod engine;
mod environments;
mod events;
mod files;
mod forks;
mod ghost;
pub mod git;
mod git_http;
mod groups;
mod hooks;
mod identity;
mod issue_links;
mod issues;
mod jobs;
mod keys;
mod keyset;
mod labels;
mod languages;
mod lfs;
mod license;
pub mod limits;
mod listener;
mod members;
mod merge_requests;
mod milestones;
mod modes;
pub mod mount;
mod namespaces;
mod notes;
mod notifications;
mod oauth;
pub mod page;
pub mod params;
mod personal_tokens;
mod pipelines;
mod positions;
mod presenters;
mod projects;
mod protected_branches;
mod protected_tags;
mod pushes;
mod quick_actions;
mod range;
pub mod records;
mod ref_updates;
pub mod rejection;
mod releases;
mod repository;
mod routes;
pub mod runner;
mod runners;
mod schedules;
mod search;
mod settings;
mod slots;
mod snippets;
mod spool;
mod start;
mod stop;
pub mod store;
mod stream;
mod subscriptions;
mod suggestions;
mod tags;
mod temp_folder;
mod templates;
mod test_reports;
mod time_tracking;
mod todos;
mod triggers;
mod uploads;
mod users;
mod variables;
mod versions;
mod views;
pub mod world;

pub use clone_reader::clone_reader;
pub use demo::WorldKind;
pub use demo::usernames as demo_users;
pub use engine::Clock;
pub use limits::Limits;
pub use modes::{Failures, Modes, Version};
pub use routes::{all as routes, operations};
pub use start::{
    GitIdentity, Options, RunningServer, StartError, listen, local_identity, local_project, start, start_on,
};

#[cfg(test)]
#[path = "../../tests/support/cost.rs"]
mod cost;

#[cfg(test)]
#[path = "../../tests/support/dice.rs"]
mod dice;

#[cfg(test)]
#[path = "../../tests/support/sample.rs"]
mod sample;
