//! Lists that are asked for by a typed query: its words as chips in the head, and the operation that it stands for.

use super::list::Listing;
use crate::app::pane::{Crumb, View};
use crate::app::query::{self, Grammar};
use crate::store::Rows;
use crate::ui::theme::Role;
use serde_json::{Map, Value};

/// The way to the list: the words of its query, and how many rows there are; what cannot be asked says why.
pub fn crumbs<T: 'static>(list: &Listing, rows: &Rows<'_, T>, grammar: &Grammar, view: &View) -> Vec<Crumb> {
    let mut all: Vec<Crumb> = query::parts(list.sought())
        .into_iter()
        .map(|(word, keyed)| Crumb::new(word, if keyed { Role::Label } else { Role::Match }))
        .collect();
    if let Some(mistake) = grammar.mistake(list.sought(), view) {
        all.push(Crumb::new(mistake.to_string(), Role::Failed));
        return all;
    }
    all.extend(list.count(rows).map(|count| Crumb::new(count, Role::Dim)));
    all
}

/// Inputs that a query does not say.
pub fn given<const N: usize>(inputs: [(&str, Value); N]) -> Map<String, Value> {
    inputs.into_iter().filter(|(_, value)| !value.is_null()).map(|(name, value)| (name.to_owned(), value)).collect()
}
