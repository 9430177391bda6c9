//! The queries of the home pane and their results.

use super::Section;
use crate::api::jobs::{Job, ListJobs};
use crate::api::merge_requests::{ListMergeRequests, MergeRequest};
use crate::api::projects::{ListProjects, Project};
use crate::api::todos::ListTodos;
use crate::api::{Error, Host, Id, Time};
use crate::app::query::QueryError;
use crate::app::session::CustomSection as Own;
use crate::app::target;
use crate::app::view::View;
use crate::parts::ci::POLL_INTERVAL;
use crate::parts::items::merge_request_query::MergeRequestQuery;
use crate::parts::items::merge_state;
use crate::parts::repository::this_branch;
use crate::store::{ListQuery, Load, Rows, Want};
use std::time::Duration;

/// Seconds per day.
const DAY: i64 = 24 * 60 * 60;

/// Returns the query of a section; `None` while the current user is unknown.
fn requests_query(view: &View, section: Section) -> Option<ListMergeRequests> {
    let (scope, reviewer_username) = match section {
        Section::Review => ("all", Some(view.me()?.username.clone())),
        Section::Assigned => ("assigned-to-me", None),
        _ => ("created-by-me", None),
    };
    Some(ListMergeRequests {
        scope: Some(scope.into()),
        state: Some("opened".into()),
        order_by: Some("updated_at".into()),
        reviewer_username,
        with_labels_details: Some(true),
        ..ListMergeRequests::default()
    })
}

fn projects_query() -> ListProjects {
    ListProjects { membership: Some(true), order_by: Some("last_activity_at".into()), ..ListProjects::default() }
}

fn running_query(project: &str) -> ListJobs {
    ListJobs { id: project.into(), scope: Some(vec!["running".into()]) }
}

/// The query of a custom section.
struct OwnQuery {
    list: MergeRequestQuery,
    /// The parsed query; `None` while it is invalid or incomplete.
    query: Option<ListQuery<MergeRequest>>,
    mistake: Option<QueryError>,
    /// The wants of the query beside its merge requests.
    wants: Vec<Want>,
}

/// The queries of the custom sections. They are parsed when something changed, not for every key press and row.
#[derive(Default)]
pub struct OwnQueries {
    all: Vec<OwnQuery>,
    /// The inputs that this was built from: the store's generation, the day (relative dates depend on it), and the
    /// sections.
    inputs: Option<(u64, i64, Vec<Own>)>,
}

impl OwnQueries {
    /// Rebuilds the queries if their inputs changed, and returns whether they did.
    pub fn refresh(&mut self, view: &View) -> bool {
        let (news, day) = (view.store.generation(), view.now.as_second().div_euclid(DAY));
        let sections = &view.session.sections;
        if self.inputs.as_ref().is_some_and(|inputs| (inputs.0, inputs.1, &inputs.2) == (news, day, sections)) {
            return false;
        }
        self.all = sections.iter().map(|section| OwnQuery::new(section, view)).collect();
        self.inputs = Some((news, day, sections.clone()));
        true
    }

    /// Returns the merge requests of a section on a server. Custom sections query the current server only.
    pub fn requests<'a>(&self, view: &View<'a>, section: Section, at: ServerIndex) -> Rows<'a, MergeRequest> {
        if let Section::Custom(index) = section {
            return match self.all.get(index) {
                Some(own) => own.list.rows(own.query.as_ref(), view),
                None => Rows::chain(Vec::new()),
            };
        }
        if section == Section::Branch {
            return this_branch::current(view).map_or_else(|_| Rows::chain(Vec::new()), |branch| branch.requests(view));
        }
        match requests_query(view, section) {
            Some(query) => view.store.list_at(host(view, at), &query),
            None => Rows::chain(Vec::new()),
        }
    }

    /// Returns the mistake in the query of a custom section.
    pub fn mistake(&self, section: Section) -> Option<&QueryError> {
        let Section::Custom(index) = section else { return None };
        self.all.get(index)?.mistake.as_ref()
    }

    fn wants(&self, view: &View) -> impl Iterator<Item = Want> {
        self.all.iter().flat_map(|own| {
            let recheck = merge_state::recheck_after(&own.list.rows(own.query.as_ref(), view));
            let again = recheck.or(view.refresh_after());
            let requests = own.query.iter().flat_map(move |query| query.wants(1, Duration::ZERO, again));
            own.wants.iter().cloned().chain(requests)
        })
    }
}

impl OwnQuery {
    fn new(section: &Own, view: &View) -> OwnQuery {
        let list = MergeRequestQuery::of(section);
        let query = list.query(&section.query, view);
        let mut wants = list.grammar().wants(&section.query);
        // A name is not wrong because the server did not answer.
        let has_failed = |want: &Want| match want {
            Want::Load(load) => view.store.error_of(&load.request).is_some_and(Error::is_temporary),
            _ => false,
        };
        let mistake = list.grammar().mistake(&section.query, Some(view)).filter(|_| !wants.iter().any(has_failed));
        wants.extend(list.projects_want(view));
        OwnQuery { list, query, mistake, wants }
    }
}

/// The index of another server; `None` for the current one.
pub type ServerIndex = Option<usize>;

/// Returns the servers to query: those with a token that are shown at home. If there is none, only the current server.
pub fn servers(view: &View) -> Vec<ServerIndex> {
    let others = view.session.others.iter().enumerate().filter(|(_, other)| other.signed_in && other.at_home);
    let mut all: Vec<ServerIndex> = others.map(|(at, _)| Some(at)).collect();
    if view.session.signed_in || all.is_empty() {
        all.insert(0, None);
    }
    all
}

/// Returns the host of another server; `None` for the current one.
pub fn host<'a>(view: &View<'a>, at: ServerIndex) -> Option<&'a Host> {
    view.session.others.get(at?).map(|other| &other.host)
}

/// Returns the user's projects, most recently active first.
pub fn projects<'a>(view: &View<'a>) -> Rows<'a, Project> {
    view.store.list(&projects_query())
}

/// Returns the full path of the project that the user worked in last: that of the latest one of the user's merge
/// requests, else the most recently active one. `None` while the lists are loading.
pub fn latest_project(view: &View) -> Option<String> {
    let queries = [Section::Mine, Section::Assigned].into_iter().filter_map(|section| requests_query(view, section));
    let own: Vec<Rows<MergeRequest>> = queries.map(|query| view.store.list(&query)).collect();
    if view.session.signed_in && own.iter().any(|rows| !rows.is_loaded && rows.error.is_none()) {
        return None;
    }
    let updated = |request: &&MergeRequest| request.updated_at.as_ref().and_then(Time::instant);
    let latest = own.iter().filter_map(|rows| rows.get(0)).max_by_key(updated);
    let path = latest.map(|request| path_of(view, None, request)).filter(|id| id.number().is_none());
    let recent = || projects(view).get(0).map(|project| project.path_with_namespace.clone());
    path.map(|path| path.to_string()).or_else(recent)
}

/// Returns the running jobs of a project.
pub fn running<'a>(view: &View<'a>, project: &str) -> Rows<'a, Job> {
    view.store.list(&running_query(project))
}

/// Returns everything the home pane needs. Running jobs are requested for the projects `watched`.
pub fn wants(view: &View, own: &OwnQueries, watched: &[String]) -> Vec<Want> {
    let requests = |query: &ListMergeRequests, at| {
        let recheck = merge_state::recheck_after(&view.store.list_at(host(view, at), query));
        Load::list(query, 1).at(host(view, at)).refresh_after(recheck.or(view.refresh_after()))
    };
    let mut wants: Vec<Want> = vec![Load::list(&projects_query(), 1).into()];
    wants.extend(this_branch::current(view).map(|branch| branch.wants(view)).unwrap_or_default());
    if view.session.signed_in {
        wants.push(Load::list(&ListTodos::pending(), 1).refresh_after(view.refresh_after()).into());
    }
    // Two requests per server: other servers are only asked for the merge requests that concern the user.
    for at in servers(view) {
        let queries =
            [Section::Assigned, Section::Mine].into_iter().filter_map(|section| requests_query(view, section));
        wants.extend(queries.map(|query| requests(&query, at).into()));
    }
    wants.extend(requests_query(view, Section::Review).map(|query| requests(&query, None).into()));
    wants.extend(own.wants(view));
    for project in watched {
        let live = !running(view, project).is_empty();
        wants.push(Load::list(&running_query(project), 1).refresh_after(live.then_some(POLL_INTERVAL * 2)).into());
    }
    wants
}

/// Returns the project of a merge request, by its full path if known, else by its ID.
pub fn path_of(view: &View, at: ServerIndex, request: &MergeRequest) -> Id {
    let full = request.references.as_ref().and_then(|r| r.full.rsplit_once('!')).map(|(path, _)| path);
    if let Some(path) = full.filter(|path| !path.is_empty()) {
        return path.into();
    }
    let known = at.is_none().then(|| projects(view).iter().find(|p| p.id == request.project_id)).flatten();
    if let Some(known) = known {
        return known.path_with_namespace.as_str().into();
    }
    let root = host(view, at).map_or(view.session.web_url.as_str(), Host::web_url);
    target::project_of(view.places, &request.web_url, root).map_or_else(|| request.project_id.into(), Id::from)
}
