//! The local server: the REST API v4 over records in memory and real git repositories.

pub mod auth;
mod branches;
pub mod call;
mod commits;
pub mod demo;
mod deployments;
pub mod engine;
pub mod git;
mod groups;
mod jobs;
mod keys;
mod merge_requests;
pub mod mount;
mod notes;
mod notifications;
pub mod page;
pub mod params;
mod projects;
pub mod records;
pub mod reject;
mod repository;
mod routes;
pub mod runner;
mod runners;
mod search;
mod show;
mod snippets;
mod start;
pub mod store;
mod tags;
mod users;
pub mod world;

pub use demo::Choice as WorldKind;
pub use engine::Clock;
pub use routes::all as routes;
pub use start::{Options, Running, StartError, listen, local_project, start, start_on};
