//! Issue lists by query: of a project, of a group, of the user.

use crate::api::Scope;
use crate::api::issues::{Issue, ListIssues, ListScopedIssues};
use crate::app::query::{self, Grammar};
use crate::app::view::View;
use crate::parts::list::query_list;
use crate::store::ListQuery;
use serde_json::{Value, json};

/// A list of issues that typed queries narrow, with its default state and order.
#[derive(Clone, Debug, Default)]
pub struct IssueQuery {
    /// The project or group; `None` for the issues assigned to the user.
    pub scope: Option<Scope>,
    /// The default state; empty or `all` for all states.
    pub state: &'static str,
    /// The default `order_by` and `sort` parameters.
    pub order: Option<(&'static str, &'static str)>,
}

impl IssueQuery {
    /// Returns the grammar of the query.
    pub fn grammar(&self) -> Grammar {
        Grammar::new(query::ISSUES, Some("search"), self.scope.as_ref().and_then(Scope::project).cloned())
    }

    /// Returns the request for the query `text`; `None` while it is invalid or its names are being looked up.
    pub fn query(&self, text: &str, view: &View) -> Option<ListQuery<Issue>> {
        let given = query_list::given([
            ("within", json!(self.scope.as_ref().map(Scope::to_string))),
            // Without a project or group, list the issues assigned to the user.
            ("scope", if self.scope.is_none() { json!("assigned_to_me") } else { Value::Null }),
            ("state", json!(self.state)),
            ("order_by", json!(self.order.map_or("updated_at", |(word, _)| word))),
            ("sort", self.order.map_or(Value::Null, |(_, way)| json!(way))),
            ("with_labels_details", json!(true)),
        ]);
        // Servers list all states if none is given.
        let whole = |state: &mut Option<String>| _ = state.take_if(|state| state == "all" || state.is_empty());
        let grammar = self.grammar();
        Some(match &self.scope {
            Some(_) => {
                let mut list: ListScopedIssues = grammar.ask(text, given, view).ready()?;
                whole(&mut list.state);
                ListQuery::new(&list)
            }
            None => {
                let mut list: ListIssues = grammar.ask(text, given, view).ready()?;
                whole(&mut list.state);
                ListQuery::new(&list)
            }
        })
    }
}
