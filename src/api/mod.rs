//! The REST API: one description of every operation, and the client that sends it.
//!
//! Each operation of the API is a struct that implements [`Endpoint`]. The client sends it, the local backend registers
//! its handler for that type, and the user interface uses it as the key of the data that it shows.

// The macros name this crate as others do.
extern crate self as api;

pub mod award_emoji;
pub mod branches;
pub mod client;
pub mod commit_data;
pub mod commits;
pub mod decisions;
pub mod dependencies;
pub mod deployments;
pub mod discussions;
pub mod draft_notes;
pub mod endpoint;
pub mod environments;
pub mod error;
pub mod error_path;
pub mod events;
pub mod expected;
pub mod git_ref;
pub mod groups;
pub mod hooks;
pub mod host;
pub mod identity;
pub mod input;
pub mod issue_links;
pub mod issues;
pub mod jobs;
pub mod json;
pub mod labels;
pub mod license;
pub mod lint;
pub mod local_file;
pub mod loose_json;
pub mod members;
pub mod merge_requests;
pub mod milestones;
pub mod notes;
pub mod notifications;
pub mod page;
pub mod partial_reply;
pub mod permissions;
pub mod pipelines;
pub mod projects;
pub mod protected_branches;
pub mod proxy;
pub mod releases;
pub mod repair;
pub mod reply_limits;
pub mod repository;
pub mod runners;
pub mod schedules;
pub mod search;
pub mod snippets;
pub mod subject;
pub mod subscriptions;
pub mod tags;
pub mod test_reports;
pub mod time_tracking;
pub mod todos;
pub mod topic;
pub mod types;
pub mod uploads;
pub mod users;
pub mod variables;
pub mod versions;
pub mod views;

pub use client::{Client, Server};
pub use endpoint::{Body, Endpoint, EndpointDescription, NoContent, Raw, Reply, Request, Route};
pub use error::{Error, Fault};
pub use git_ref::{GitRef, RefKind};
pub use host::Host;
pub use input::{InputKind, InputType};
pub use page::{Page, PageInfo};
pub use subject::{Awardable, Feed, Noteable, Scope, Subject, VariableOwner};
pub use topic::Topic;
pub use types::{Id, Named, Nullable, Time};

/// The endpoints of all operations that the client supports, by area.
pub const AREAS: &[(&str, &[EndpointDescription])] = &[
    ("award_emoji", award_emoji::ALL),
    ("branches", branches::ALL),
    ("commits", commits::ALL),
    ("decisions", decisions::ALL),
    ("dependencies", dependencies::ALL),
    ("deployments", deployments::ALL),
    ("discussions", discussions::ALL),
    ("draft_notes", draft_notes::ALL),
    ("environments", environments::ALL),
    ("events", events::ALL),
    ("groups", groups::ALL),
    ("hooks", hooks::ALL),
    ("identity", identity::ALL),
    ("issue_links", issue_links::ALL),
    ("issues", issues::ALL),
    ("jobs", jobs::ALL),
    ("labels", labels::ALL),
    ("license", license::ALL),
    ("lint", lint::ALL),
    ("members", members::ALL),
    ("merge_requests", merge_requests::ALL),
    ("milestones", milestones::ALL),
    ("notes", notes::ALL),
    ("notifications", notifications::ALL),
    ("pipelines", pipelines::ALL),
    ("projects", projects::ALL),
    ("protected_branches", protected_branches::ALL),
    ("releases", releases::ALL),
    ("repository", repository::ALL),
    ("runners", runners::ALL),
    ("schedules", schedules::ALL),
    ("search", search::ALL),
    ("snippets", snippets::ALL),
    ("subscriptions", subscriptions::ALL),
    ("tags", tags::ALL),
    ("test_reports", test_reports::ALL),
    ("time_tracking", time_tracking::ALL),
    ("todos", todos::ALL),
    ("uploads", uploads::ALL),
    ("users", users::ALL),
    ("variables", variables::ALL),
    ("versions", versions::ALL),
];

/// Iterates over all operations: each endpoint with each of its routes.
pub fn operations() -> impl Iterator<Item = (&'static EndpointDescription, &'static Route)> {
    let endpoints = AREAS.iter().flat_map(|(_, endpoints)| endpoints.iter());
    endpoints.flat_map(|endpoint| endpoint.routes.iter().map(move |route| (endpoint, route)))
}
