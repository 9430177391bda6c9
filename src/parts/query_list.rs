//! Lists that are asked for by a typed query: its words as chips in the head, and the operation that it stands for.

use super::list::Listing;
use crate::app::pane::{Breadcrumb, View};
use crate::app::query::{self, Grammar};
use crate::store::Rows;
use crate::ui::theme::Role;
use serde_json::{Map, Value};

/// The way to the list: the words of its query, and how many rows there are; what cannot be asked says why.
pub fn breadcrumbs<T: 'static>(list: &Listing, rows: &Rows<'_, T>, grammar: &Grammar, view: &View) -> Vec<Breadcrumb> {
    let mut all: Vec<Breadcrumb> = query::parts(list.filter_text())
        .into_iter()
        .map(|(word, keyed)| Breadcrumb::new(word, if keyed { Role::Label } else { Role::Match }))
        .collect();
    if let Some(mistake) = grammar.mistake(list.filter_text(), view) {
        all.push(Breadcrumb::new(mistake.to_string(), Role::Failed));
        return all;
    }
    all.extend(list.count(rows).map(|count| Breadcrumb::new(count, Role::Dim)));
    all
}

/// Inputs that a query does not say.
pub fn given<const N: usize>(inputs: [(&str, Value); N]) -> Map<String, Value> {
    inputs.into_iter().filter(|(_, value)| !value.is_null()).map(|(name, value)| (name.to_owned(), value)).collect()
}
