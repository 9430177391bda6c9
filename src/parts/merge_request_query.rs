//! Merge requests asked for by a typed query: everywhere, of a group's projects, of one project.

use crate::api::Id;
use crate::api::groups::ListGroupProjects;
use crate::api::merge_requests::{ListMergeRequests, ListProjectMergeRequests, MergeRequest};
use crate::app::pane::{Section, View};
use crate::app::place::Place;
use crate::app::query::{self, Grammar};
use crate::parts::query_list;
use crate::store::{ListQuery, Load, Rows, Want};
use serde_json::{Value, json};

/// Projects of a group whose merge requests are listed: no operation lists those of a group.
const PROJECTS: usize = 30;

/// Where is asked, and for which state where the query does not say one.
#[derive(Clone, Debug, Default)]
pub struct QueryScope {
    pub project: Option<Id>,
    pub group: Option<Id>,
    /// Nothing means all.
    pub state: &'static str,
    /// The words of `order_by` and `sort`, where the query does not say them.
    pub order: Option<(&'static str, &'static str)>,
}

impl QueryScope {
    /// Returns what a section of one's own asks for.
    pub fn of(section: &Section) -> QueryScope {
        let id = |text: &Option<String>| text.as_deref().map(Id::from);
        QueryScope { project: id(&section.project), group: id(&section.group), state: "opened", order: None }
    }

    /// The place that lists what a section asks for.
    pub fn place(section: &Section) -> Place {
        let asking = QueryScope::of(section);
        Place { project: asking.project, group: asking.group, ..Place::new("mrs") }.query(section.query.as_str())
    }

    /// Returns what may be typed.
    pub fn grammar(&self) -> Grammar {
        Grammar::new(query::MERGE_REQUESTS, Some("search"), self.project.clone())
    }

    fn projects(&self) -> Option<ListGroupProjects> {
        let id = self.group.clone().filter(|_| self.project.is_none())?;
        let order_by = Some("last_activity_at".to_owned());
        Some(ListGroupProjects { id, order_by, simple: Some(true), ..ListGroupProjects::default() })
    }

    /// Returns what `text` asks for; `None` while it cannot be asked.
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
        // Servers list all states where none is named.
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
                let ids = known.iter().take(PROJECTS).map(|project| Id::from(&*project.full_path()));
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

    /// Returns what is known of what was asked for.
    pub fn rows<'a>(&self, query: Option<&ListQuery<MergeRequest>>, view: &View<'a>) -> Rows<'a, MergeRequest> {
        let mut rows = query.map_or_else(|| Rows::chain(Vec::new()), |query| view.store.rows(query));
        if let Some(projects) = self.projects() {
            let projects = view.store.list(&projects);
            rows.known |= projects.known && projects.is_empty();
            rows.error = rows.error.or(projects.error);
            rows.more |= projects.len() > PROJECTS || projects.more;
        }
        rows
    }

    /// Returns what is needed to know what is asked for.
    pub fn projects_want(&self) -> Option<Want> {
        self.projects().map(|projects| Load::list(&projects, 1).into())
    }
}
