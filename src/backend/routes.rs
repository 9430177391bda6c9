//! The routes of all areas.
//!
//! # An operation that only other clients use
//!
//! Its declaration with `endpoints!` and its handler in `src/backend/<area>.rs`, with one line in that file's `mount`;
//! the area in `SERVER_ONLY`; its literal request in `tests/backend/<area>.rs`; the role that it requires in
//! `tests/backend/rights.rs`.

use super::mount::Mount;
use super::{
    access_tokens, avatars, award_emoji, branches, changelog, ci, commit_discussions, commits, decisions, dependencies,
    deployments, discussions, draft_notes, environments, events, files, forks, git_http, groups, hooks, identity,
    issue_links, issues, jobs, keys, labels, license, members, merge_requests, milestones, namespaces, notes,
    notifications, oauth, personal_tokens, pipelines, projects, protected_branches, protected_tags, quick_actions,
    releases, repository, runners, schedules, search, snippets, subscriptions, tags, templates, test_reports,
    time_tracking, todos, triggers, uploads, users, variables, versions,
};
use api::{self, EndpointDescription, Route};

/// The mount functions of all areas, in alphabetical order.
const AREAS: &[fn(Mount) -> Mount] = &[
    access_tokens::mount,
    award_emoji::mount,
    branches::mount,
    changelog::mount,
    ci::lint::mount,
    commit_discussions::mount,
    commits::mount,
    decisions::mount,
    dependencies::mount,
    deployments::mount,
    discussions::mount,
    draft_notes::mount,
    environments::mount,
    events::mount,
    files::mount,
    forks::mount,
    groups::mount,
    hooks::mount,
    identity::mount,
    issue_links::mount,
    issues::mount,
    jobs::mount,
    keys::mount,
    labels::mount,
    license::mount,
    members::mount,
    merge_requests::mount,
    milestones::mount,
    namespaces::mount,
    notes::mount,
    notifications::mount,
    personal_tokens::mount,
    pipelines::mount,
    projects::mount,
    protected_branches::mount,
    protected_tags::mount,
    quick_actions::mount,
    releases::mount,
    repository::mount,
    runners::mount,
    schedules::mount,
    search::mount,
    snippets::mount,
    subscriptions::mount,
    tags::mount,
    templates::mount,
    test_reports::mount,
    time_tracking::mount,
    todos::mount,
    triggers::mount,
    uploads::mount,
    users::mount,
    variables::mount,
    versions::mount,
];

/// The endpoints that only the server has, by area: clients use them, but the interface does not.
const SERVER_ONLY: &[&[EndpointDescription]] = &[
    access_tokens::ALL,
    changelog::ALL,
    commit_discussions::ALL,
    decisions::ALL,
    dependencies::ALL,
    discussions::ALL,
    draft_notes::ALL,
    files::ALL,
    groups::ALL,
    issue_links::ALL,
    labels::ALL,
    members::ALL,
    merge_requests::ALL,
    milestones::ALL,
    namespaces::ALL,
    personal_tokens::ALL,
    pipelines::ALL,
    projects::ALL,
    protected_branches::ALL,
    protected_tags::ALL,
    releases::ALL,
    repository::ALL,
    snippets::ALL,
    templates::ALL,
    time_tracking::ALL,
    triggers::ALL,
    uploads::ALL,
    users::ALL,
];

/// Iterates over all operations of the server: each endpoint of the client and of the server alone, with each of its
/// routes.
pub fn operations() -> impl Iterator<Item = (&'static EndpointDescription, &'static Route)> {
    let endpoints = SERVER_ONLY.iter().flat_map(|endpoints| endpoints.iter());
    let routes = endpoints.flat_map(|endpoint| endpoint.routes.iter().map(move |route| (endpoint, route)));
    api::operations().chain(routes)
}

/// Mounts all routes, or only those of the specification if `only_specified` is set.
pub fn all(only_specified: bool) -> Mount {
    let api = AREAS.iter().fold(Mount::new(only_specified), |mount, area| area(mount));
    let mount = api.outside_api(avatars::mount).outside_api(git_http::mount).outside_api(repository::mount_archives);
    if only_specified { mount } else { mount.outside_api(uploads::mount_page).outside_api(oauth::mount) }
}
