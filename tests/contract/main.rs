//! The contract with servers: literal request lines, samples and error bodies. They are written from the specification
//! and not from the code, because client and backend share their types and could be wrong together.

#[macro_use]
mod sample;

mod award_emoji;
mod branches;
mod client;
mod commits;
mod decisions;
mod deployments;
#[path = "../support/dice.rs"]
mod dice;
mod discussions;
mod draft_notes;
mod environments;
mod errors;
mod follow;
mod groups;
mod hooks;
mod hosts;
mod identity;
mod issues;
mod jobs;
mod labels;
mod license;
mod members;
mod merge_requests;
mod milestones;
#[path = "../support/mutate.rs"]
mod mutate;
mod notes;
mod notifications;
mod oauth;
mod pages;
mod pipelines;
mod projects;
mod protected_branches;
mod releases;
mod repository;
mod runners;
#[path = "../support/scripted.rs"]
mod scripted;
mod search;
mod short_refs;
mod snippets;
mod tags;
mod test_reports;
mod tls;
mod today;
mod todos;
mod transfers;
mod users;
mod versions;

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

/// A write that touches a route which no request reads would invalidate nothing in the cache.
#[test]
fn every_route_touched_by_a_write_can_be_read() {
    let reads: Vec<_> = labscope::api::operations().filter(|(endpoint, _)| endpoint.method == "GET").collect();
    for endpoint in labscope::api::AREAS.iter().flat_map(|(_, endpoints)| endpoints.iter()) {
        for touched in endpoint.touches.iter().copied().flatten() {
            let is_read = reads.iter().any(|(_, route)| *route == touched);
            assert!(is_read, "{} touches {}", endpoint.name, touched.path);
        }
    }
}
