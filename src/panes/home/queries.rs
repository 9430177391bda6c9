//! What home asks for, and what is known of it.

use super::Section;
use crate::api::jobs::{Job, ListJobs};
use crate::api::merge_requests::{ListMergeRequests, MergeRequest};
use crate::api::projects::{ListProjects, Project};
use crate::api::{Host, Id};
use crate::app::pane::{Section as Own, View};
use crate::app::target;
use crate::parts::ci::PULSE;
use crate::parts::merge_request_query::QueryScope;
use crate::parts::todos;
use crate::store::{ListQuery, Load, Rows, Want};
use std::time::Duration;

/// Seconds of a day.
const DAY: i64 = 24 * 60 * 60;

/// Returns what a section asks for; `None` while it is not known who asks.
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
        ..ListMergeRequests::default()
    })
}

fn projects_query() -> ListProjects {
    ListProjects { membership: Some(true), order_by: Some("last_activity_at".into()), ..ListProjects::default() }
}

fn running_query(project: &str) -> ListJobs {
    ListJobs { id: project.into(), scope: Some(vec!["running".into()]) }
}

/// What a section of the user's own asks for.
struct OwnQuery {
    scope: QueryScope,
    /// `None` while it cannot be asked.
    query: Option<ListQuery<MergeRequest>>,
    wants: Vec<Want>,
}

/// What the user's own sections ask for. Queries are parsed when something changed, not for each key and row.
#[derive(Default)]
pub struct OwnQueries {
    all: Vec<OwnQuery>,
    /// The store's news, the day, by which dates are read, and the sections that this was made of.
    made_of: Option<(u64, i64, Vec<Own>)>,
}

impl OwnQueries {
    /// Makes them again if there is news, and returns whether there is.
    pub fn refresh(&mut self, view: &View) -> bool {
        let (news, day) = (view.store.generation(), view.now.as_second().div_euclid(DAY));
        let sections = &view.session.sections;
        if self.made_of.as_ref().is_some_and(|made_of| (made_of.0, made_of.1, &made_of.2) == (news, day, sections)) {
            return false;
        }
        self.all = sections.iter().map(|section| OwnQuery::new(section, view)).collect();
        self.made_of = Some((news, day, sections.clone()));
        true
    }

    /// The merge requests of a section on a server. One's own queries are of the current server.
    pub fn requests<'a>(&self, view: &View<'a>, section: Section, at: OtherServer) -> Rows<'a, MergeRequest> {
        if let Section::Own(index) = section {
            return match self.all.get(index) {
                Some(own) => own.scope.rows(own.query.as_ref(), view),
                None => Rows::chain(Vec::new()),
            };
        }
        match requests_query(view, section) {
            Some(query) => view.store.list_at(host(view, at), &query),
            None => Rows::chain(Vec::new()),
        }
    }

    fn wants(&self) -> impl Iterator<Item = Want> {
        self.all.iter().flat_map(|own| own.wants.iter().cloned())
    }
}

impl OwnQuery {
    fn new(section: &Own, view: &View) -> OwnQuery {
        let scope = QueryScope::of(section);
        let query = scope.query(&section.query, view);
        let mut wants = scope.grammar().wants(&section.query);
        wants.extend(scope.projects_want());
        wants.extend(query.iter().flat_map(|query| query.wants(1, Duration::ZERO, None)));
        OwnQuery { scope, query, wants }
    }
}

/// Another server than the one at hand, by its place among them.
pub type OtherServer = Option<usize>;

/// The servers that have a token, and that the user wants to hear of; where there is none, the one at hand alone.
pub fn everywhere(view: &View) -> Vec<OtherServer> {
    let others = view.session.others.iter().enumerate().filter(|(_, other)| other.signed_in && other.at_home);
    let mut all: Vec<OtherServer> = others.map(|(at, _)| Some(at)).collect();
    if view.session.signed_in || all.is_empty() {
        all.insert(0, None);
    }
    all
}

/// Another server.
pub fn host<'a>(view: &View<'a>, at: OtherServer) -> Option<&'a Host> {
    view.session.others.get(at?).map(|other| &other.host)
}

/// The user's projects, those that changed last first.
pub fn projects<'a>(view: &View<'a>) -> Rows<'a, Project> {
    view.store.list(&projects_query())
}

/// The jobs that run in a project.
pub fn running<'a>(view: &View<'a>, project: &str) -> Rows<'a, Job> {
    view.store.list(&running_query(project))
}

/// Returns all of it; the running jobs are those of `watched`.
pub fn wants(view: &View, own: &OwnQueries, watched: &[String]) -> Vec<Want> {
    let mut wants: Vec<Want> = vec![Load::list(&projects_query(), 1).into()];
    if view.session.signed_in {
        wants.push(Load::list(&todos::pending(), 1).into());
    }
    // Two requests a server: of others, what waits for the user is asked, and nothing else.
    for at in everywhere(view) {
        let queries =
            [Section::Assigned, Section::Mine].into_iter().filter_map(|section| requests_query(view, section));
        wants.extend(queries.map(|query| Load::list(&query, 1).at(host(view, at)).into()));
    }
    wants.extend(requests_query(view, Section::Review).map(|query| Load::list(&query, 1).into()));
    wants.extend(own.wants());
    for project in watched {
        let load = Load::list(&running_query(project), 1);
        let live = !running(view, project).is_empty();
        wants.push(if live { load.every(PULSE * 2).into() } else { load.into() });
    }
    wants
}

/// The project of a request of a server by its path, as far as anything names it.
pub fn path_of(view: &View, at: OtherServer, request: &MergeRequest) -> Id {
    let full = request.references.as_ref().and_then(|r| r.full.rsplit_once('!')).map(|(path, _)| path);
    if let Some(path) = full.filter(|path| !path.is_empty()) {
        return path.into();
    }
    let known = at.is_none().then(|| projects(view).iter().find(|p| p.id == request.project_id)).flatten();
    if let Some(known) = known {
        return known.path_with_namespace.as_str().into();
    }
    let root = host(view, at).map_or(view.session.web_url.as_str(), Host::web_url);
    let place = target::parse(view.panes, &request.web_url, root).ok();
    place.and_then(|place| place.project).unwrap_or_else(|| request.project_id.into())
}
