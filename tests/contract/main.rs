//! The contract with servers: literal request lines, samples and error bodies. They are written from the specification
//! and not from the code, because client and backend share their types and could be wrong together.

#[macro_use]
mod sample;

mod award_emoji;
mod branches;
mod client;
mod commits;
mod conditional;
mod decisions;
mod dependencies;
mod deployments;
#[path = "../support/dice.rs"]
mod dice;
mod discussions;
mod draft_notes;
mod environments;
mod errors;
mod events;
mod follow;
mod groups;
mod hooks;
mod hosts;
mod http2;
mod http2_hostile;
#[path = "../support/http2.rs"]
mod http2_server;
mod identity;
mod idle;
mod issue_links;
mod issues;
mod jobs;
mod labels;
mod license;
mod lint;
mod many;
mod members;
mod merge_requests;
mod milestones;
#[path = "../support/mutate.rs"]
mod mutate;
mod notes;
mod notifications;
mod oauth;
mod openapi;
mod pages;
mod pipelines;
mod projects;
mod protected_branches;
mod releases;
mod repository;
mod runners;
mod schedules;
#[path = "../support/scripted.rs"]
mod scripted;
mod search;
mod short_refs;
mod snippets;
mod subscriptions;
mod tags;
mod test_reports;
mod time_tracking;
mod tls;
mod today;
mod todos;
mod transfers;
mod uploads;
mod users;
mod variables;
mod versions;

use std::collections::BTreeSet;

#[test]
fn endpoint_lines_and_names_are_unique() {
    let mut lines: Vec<String> =
        labscope::api::operations().map(|(endpoint, route)| format!("{} {}", endpoint.method, route.path)).collect();
    let endpoints = labscope::api::AREAS.iter().flat_map(|(_, endpoints)| endpoints.iter());
    let mut names: Vec<&str> = endpoints.map(|endpoint| endpoint.name).collect();
    lines.sort();
    names.sort_unstable();
    assert!(lines.windows(2).all(|pair| pair[0] != pair[1]));
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
}

/// A write that outdates a topic which no read is about would invalidate nothing in the store.
#[test]
fn every_topic_is_read_and_outdated() {
    let endpoints = || labscope::api::AREAS.iter().flat_map(|(_, endpoints)| endpoints.iter());
    let read: BTreeSet<_> = endpoints().filter_map(|endpoint| endpoint.topic).collect();
    let outdated: BTreeSet<_> = endpoints().flat_map(|endpoint| endpoint.outdates).copied().collect();
    assert_eq!(read, outdated);
    assert!(endpoints().all(|endpoint| endpoint.topic.is_none() || endpoint.method == "GET"));
}
