//! Merge request lists by query: everywhere, of a group, of one project.

use crate::api::groups::ListGroupProjects;
use crate::api::merge_requests::{ListGroupMergeRequests, ListMergeRequests, ListProjectMergeRequests, MergeRequest};
use crate::api::{Id, Scope};
use crate::app::place::Place;
use crate::app::query::{self, Grammar};
use crate::app::session::CustomSection;
use crate::app::view::View;
use crate::parts::list::{query_list, scope};
use crate::store::{ListQuery, Load, Rows, Want};
use serde_json::{Value, json};

/// The maximum number of a group's projects whose merge requests are listed where the server has no operation for the
/// group.
const MAX_PROJECTS: usize = 30;

/// A list of merge requests that typed queries narrow, with its default state and order.
#[derive(Clone, Debug, Default)]
pub struct MergeRequestQuery {
    /// The project or group; `None` for all that the user may see.
    pub scope: Option<Scope>,
    /// The default state; empty for all states.
    pub state: &'static str,
    /// The default `order_by` and `sort` parameters.
    pub order: Option<(&'static str, &'static str)>,
}

impl MergeRequestQuery {
    /// Returns the list of a custom section.
    pub fn of(section: &CustomSection) -> MergeRequestQuery {
        let id = |text: &Option<String>| text.as_deref().map(Id::from);
        let project = id(&section.project).map(Scope::Project);
        let scope = project.or_else(|| id(&section.group).map(Scope::Group));
        MergeRequestQuery { scope, state: "opened", order: None }
    }

    /// Returns the place that lists the results of a section.
    pub fn place(section: &CustomSection) -> Place {
        let list = MergeRequestQuery::of(section);
        scope::place(list.scope.as_ref(), "mrs").query(section.query.as_str())
    }

    /// Returns the grammar of the query.
    pub fn grammar(&self) -> Grammar {
        Grammar::new(query::MERGE_REQUESTS, Some("search"), self.scope.as_ref().and_then(Scope::project).cloned())
    }

    /// Returns the request for the projects of the group; `None` if the scope is not a group, or if the server lists the
    /// merge requests of groups.
    fn projects_request(&self, view: &View) -> Option<ListGroupProjects> {
        let id = self.scope.as_ref()?.group()?.clone();
        if !view.store.is_unsupported::<ListGroupMergeRequests>() {
            return None;
        }
        let order_by = Some("last_activity_at".to_owned());
        Some(ListGroupProjects { id, order_by, simple: Some(true), ..ListGroupProjects::default() })
    }

    /// Returns the request for the query `text`; `None` while it is invalid or its names are being looked up.
    pub fn query(&self, text: &str, view: &View) -> Option<ListQuery<MergeRequest>> {
        let fixed_inputs = |id: Option<&Id>| {
            let scope = if id.is_none() { json!("all") } else { Value::Null };
            query_list::given([
                ("id", id.map_or(Value::Null, |id| json!(id.as_str()))),
                ("state", json!(self.state)),
                ("order_by", json!(self.order.map_or("updated_at", |(field, _)| field))),
                ("sort", self.order.map_or(Value::Null, |(_, direction)| json!(direction))),
                ("scope", scope),
                ("with_labels_details", json!(true)),
            ])
        };
        // Servers list all states if none is given.
        let clear_all_state =
            |state: &mut Option<String>| _ = state.take_if(|state| state == "all" || state.is_empty());
        let project_request = |id: &Id| {
            let grammar = Grammar { project: Some(id.clone()), ..self.grammar() };
            let mut request: ListProjectMergeRequests = grammar.ask(text, fixed_inputs(Some(id)), view).ready()?;
            clear_all_state(&mut request.state);
            Some(request)
        };
        match (&self.scope, self.projects_request(view)) {
            (Some(Scope::Project(id)), _) => Some(ListQuery::new(&project_request(id)?)),
            (Some(Scope::Group(id)), None) => {
                let mut request: ListGroupMergeRequests =
                    self.grammar().ask(text, fixed_inputs(Some(id)), view).ready()?;
                clear_all_state(&mut request.state);
                Some(ListQuery::new(&request))
            }
            (_, Some(projects_request)) => {
                let projects = view.store.list(&projects_request);
                let ids = projects.iter().take(MAX_PROJECTS).map(|project| Id::from(&*view.full_path(project)));
                let requests: Vec<_> = ids.map(|id| project_request(&id)).collect::<Option<_>>()?;
                Some(ListQuery::chain(&requests))
            }
            (_, None) => {
                let mut request: ListMergeRequests = self.grammar().ask(text, fixed_inputs(None), view).ready()?;
                clear_all_state(&mut request.state);
                Some(ListQuery::new(&request))
            }
        }
    }

    /// Returns the loaded rows of a query.
    pub fn rows<'a>(&self, query: Option<&ListQuery<MergeRequest>>, view: &View<'a>) -> Rows<'a, MergeRequest> {
        let mut rows = query.map_or_else(|| Rows::chain(Vec::new()), |query| view.store.rows(query));
        if let Some(request) = self.projects_request(view) {
            let projects = view.store.list(&request);
            rows.is_loaded |= projects.is_loaded && projects.is_empty();
            rows.error = rows.error.or(projects.error);
            rows.has_more |= projects.len() > MAX_PROJECTS || projects.has_more;
        }
        rows
    }

    /// Returns the request for the projects of the group, if the query needs them.
    pub fn projects_want(&self, view: &View) -> Option<Want> {
        self.projects_request(view).map(|request| Load::list(&request, 1).into())
    }
}
