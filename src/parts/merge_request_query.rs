//! Merge request lists by query: everywhere, of a group's projects, of one project.

use crate::api::Id;
use crate::api::groups::ListGroupProjects;
use crate::api::merge_requests::{ListMergeRequests, ListProjectMergeRequests, MergeRequest};
use crate::app::place::Place;
use crate::app::query::{self, Grammar};
use crate::app::session::CustomSection;
use crate::app::view::View;
use crate::parts::query_list;
use crate::store::{ListQuery, Load, Rows, Want};
use serde_json::{Value, json};

/// The maximum number of a group's projects whose merge requests are listed: the API has no operation for a group.
const MAX_PROJECTS: usize = 30;

/// The scope of a query, and its default state and order.
#[derive(Clone, Debug, Default)]
pub struct QueryScope {
    pub project: Option<Id>,
    pub group: Option<Id>,
    /// The default state; empty for all states.
    pub state: &'static str,
    /// The default `order_by` and `sort` parameters.
    pub order: Option<(&'static str, &'static str)>,
}

impl QueryScope {
    /// Returns the scope of a custom section.
    pub fn of(section: &CustomSection) -> QueryScope {
        let id = |text: &Option<String>| text.as_deref().map(Id::from);
        QueryScope { project: id(&section.project), group: id(&section.group), state: "opened", order: None }
    }

    /// Returns the place that lists the results of a section.
    pub fn place(section: &CustomSection) -> Place {
        let asking = QueryScope::of(section);
        Place { project: asking.project, group: asking.group, ..Place::new("mrs") }.query(section.query.as_str())
    }

    /// Returns the grammar of the query.
    pub fn grammar(&self) -> Grammar {
        Grammar::new(query::MERGE_REQUESTS, Some("search"), self.project.clone())
    }

    fn projects(&self) -> Option<ListGroupProjects> {
        let id = self.group.clone().filter(|_| self.project.is_none())?;
        let order_by = Some("last_activity_at".to_owned());
        Some(ListGroupProjects { id, order_by, simple: Some(true), ..ListGroupProjects::default() })
    }

    /// Returns the request for the query `text`; `None` while it is invalid or its names are being looked up.
    pub fn query(&self, text: &str, view: &View) -> Option<ListQuery<MergeRequest>> {
        let given = |id: Option<&Id>| {
            let scope = if id.is_none() { json!("all") } else { Value::Null };
            query_list::given([
                ("id", id.map_or(Value::Null, |id| json!(id.as_str()))),
                ("state", json!(self.state)),
                ("order_by", json!(self.order.map_or("updated_at", |(word, _)| word))),
                ("sort", self.order.map_or(Value::Null, |(_, way)| json!(way))),
                ("scope", scope),
            ])
        };
        // Servers list all states if none is given.
        let whole = |state: &mut Option<String>| _ = state.take_if(|state| state == "all" || state.is_empty());
        let of_project = |id: &Id| {
            let grammar = Grammar { project: Some(id.clone()), ..self.grammar() };
            let mut list: ListProjectMergeRequests = grammar.ask(text, given(Some(id)), view).ready()?;
            whole(&mut list.state);
            Some(list)
        };
        match (&self.project, self.projects()) {
            (Some(id), _) => Some(ListQuery::new(&of_project(id)?)),
            (None, Some(projects)) => {
                let known = view.store.list(&projects);
                let ids = known.iter().take(MAX_PROJECTS).map(|project| Id::from(&*view.full_path(project)));
                let lists: Vec<_> = ids.map(|id| of_project(&id)).collect::<Option<_>>()?;
                Some(ListQuery::chain(&lists))
            }
            (None, None) => {
                let mut list: ListMergeRequests = self.grammar().ask(text, given(None), view).ready()?;
                whole(&mut list.state);
                Some(ListQuery::new(&list))
            }
        }
    }

    /// Returns the loaded rows of a query.
    pub fn rows<'a>(&self, query: Option<&ListQuery<MergeRequest>>, view: &View<'a>) -> Rows<'a, MergeRequest> {
        let mut rows = query.map_or_else(|| Rows::chain(Vec::new()), |query| view.store.rows(query));
        if let Some(projects) = self.projects() {
            let projects = view.store.list(&projects);
            rows.is_known |= projects.is_known && projects.is_empty();
            rows.error = rows.error.or(projects.error);
            rows.has_more |= projects.len() > MAX_PROJECTS || projects.has_more;
        }
        rows
    }

    /// Returns the request for the projects of the group, which the query needs.
    pub fn projects_want(&self) -> Option<Want> {
        self.projects().map(|projects| Load::list(&projects, 1).into())
    }
}
