//! Merge requests asked for by a typed query: everywhere, of a group's projects, of one project.

use crate::api::Id;
use crate::api::groups::ListGroupProjects;
use crate::api::merge_requests::{ListMergeRequests, ListProjectMergeRequests, MergeRequest};
use crate::app::pane::{Section, View};
use crate::app::place::Place;
use crate::app::query::{self, Grammar, QueryResult};
use crate::parts::query_list;
use crate::store::{Load, Rows, Want};
use serde_json::{Value, json};
use std::time::Duration;

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

/// The operations behind a query; there is one at a time.
#[allow(clippy::large_enum_variant)]
enum Operations {
    All(ListMergeRequests),
    Projects(Vec<ListProjectMergeRequests>),
}

impl QueryScope {
    /// What a section of one's own asks for.
    pub fn of(section: &Section) -> QueryScope {
        let id = |text: &Option<String>| text.as_deref().map(Id::from);
        QueryScope { project: id(&section.project), group: id(&section.group), state: "opened", order: None }
    }

    /// The place that lists what a section asks for.
    pub fn place(section: &Section) -> Place {
        let asking = QueryScope::of(section);
        Place { project: asking.project, group: asking.group, ..Place::new("mrs") }.query(section.query.as_str())
    }

    /// What may be typed.
    pub fn grammar(&self) -> Grammar {
        Grammar::new(query::MERGE_REQUESTS, Some("search"), self.project.clone())
    }

    fn projects(&self) -> Option<ListGroupProjects> {
        let id = self.group.clone().filter(|_| self.project.is_none())?;
        let order_by = Some("last_activity_at".to_owned());
        Some(ListGroupProjects { id, order_by, simple: Some(true), ..ListGroupProjects::default() })
    }

    /// What `text` asks for; `None` while it cannot be asked.
    fn operations(&self, text: &str, view: &View) -> Option<Operations> {
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
        // Servers list all states where none is said.
        let whole = |state: &mut Option<String>| _ = state.take_if(|state| state == "all" || state.is_empty());
        let of_project = |id: &Id| {
            let grammar = Grammar { project: Some(id.clone()), ..self.grammar() };
            let QueryResult::Ready(mut list) = grammar.ask::<ListProjectMergeRequests>(text, given(Some(id)), view)
            else {
                return None;
            };
            whole(&mut list.state);
            Some(list)
        };
        match (&self.project, self.projects()) {
            (Some(id), _) => Some(Operations::Projects(vec![of_project(id)?])),
            (None, Some(projects)) => {
                let known = view.store.list(&projects);
                let ids = known.iter().take(PROJECTS).map(|project| Id::from(&*project.full_path()));
                Some(Operations::Projects(ids.map(|id| of_project(&id)).collect::<Option<_>>()?))
            }
            (None, None) => match self.grammar().ask::<ListMergeRequests>(text, given(None), view) {
                QueryResult::Ready(mut list) => {
                    whole(&mut list.state);
                    Some(Operations::All(list))
                }
                QueryResult::Naming | QueryResult::Wrong(_) => None,
            },
        }
    }

    /// What is known of what `text` asks for.
    pub fn rows<'a>(&self, text: &str, view: &View<'a>) -> Rows<'a, MergeRequest> {
        let mut rows = match self.operations(text, view) {
            Some(Operations::All(list)) => return view.store.list(&list),
            Some(Operations::Projects(lists)) => Rows::chain(lists.iter().map(|list| view.store.list(list)).collect()),
            None => Rows::chain(Vec::new()),
        };
        if let Some(projects) = self.projects() {
            let projects = view.store.list(&projects);
            rows.known |= projects.known && projects.is_empty();
            rows.error = rows.error.or(projects.error);
            rows.more |= projects.len() > PROJECTS || projects.more;
        }
        rows
    }

    /// What `text` needs from the server.
    pub fn wants(&self, text: &str, view: &View, pages: u32, rest: Duration) -> Vec<Want> {
        let mut wants = self.grammar().wants(text);
        wants.extend(self.projects().map(|projects| Load::list(&projects, 1).into()));
        match self.operations(text, view) {
            Some(Operations::All(list)) => wants.push(Load::list(&list, pages).after(rest).into()),
            Some(Operations::Projects(lists)) => {
                wants.extend(lists.iter().map(|list| Load::list(list, pages).after(rest).into()));
            }
            None => {}
        }
        wants
    }
}
