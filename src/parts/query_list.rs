//! Lists that are asked for by a typed query: its words as chips in the head, and the operation that it stands for.

use crate::app::pane::{Breadcrumb, View};
use crate::app::query::{self, Grammar};
use crate::ui::theme::Role;
use serde_json::{Map, Value};

/// The way to the list: the words of its query, and how many rows there are; what cannot be asked says why.
pub fn breadcrumbs(text: &str, count: Option<String>, grammar: &Grammar, view: &View) -> Vec<Breadcrumb> {
    let words = query::parts(text).into_iter();
    let words = words.map(|(word, keyed)| Breadcrumb::new(word, if keyed { Role::Label } else { Role::Match }));
    let last = match grammar.mistake(text, view) {
        Some(mistake) => Some(Breadcrumb::new(mistake.to_string(), Role::Failed)),
        None => count.map(|count| Breadcrumb::new(count, Role::Dim)),
    };
    words.chain(last).collect()
}

/// Inputs that a query does not say.
pub fn given<const N: usize>(inputs: [(&str, Value); N]) -> Map<String, Value> {
    inputs.into_iter().filter(|(_, value)| !value.is_null()).map(|(name, value)| (name.to_owned(), value)).collect()
}
