//! Lists with a typed query: its breadcrumbs, and the fixed inputs of its request.

use crate::app::pane::Breadcrumb;
use crate::app::query::{self, Grammar};
use crate::app::view::View;
use crate::ui::theme::Role;
use serde_json::{Map, Value};

/// Returns the breadcrumbs of the list: the words of its query and the number of rows, or the mistake in the query. A
/// word that is not known is told until the server has answered.
pub fn breadcrumbs(text: &str, count: Option<String>, grammar: &Grammar, view: &View) -> Vec<Breadcrumb> {
    let words = query::parts(text).into_iter();
    let words = words.map(|(word, keyed)| Breadcrumb::new(word, if keyed { Role::Label } else { Role::Match }));
    let last = match grammar.mistake(text, Some(view)) {
        Some(mistake) => Some(Breadcrumb::new(mistake.to_string(), Role::Failed)),
        None if count.is_none() => grammar.warning(text).map(|word| Breadcrumb::new(word.to_string(), Role::Warning)),
        None => count.map(|count| Breadcrumb::new(count, Role::Dim)),
    };
    words.chain(last).collect()
}

/// Returns the inputs that do not come from the query, without those that are null.
pub fn given<const N: usize>(inputs: [(&str, Value); N]) -> Map<String, Value> {
    inputs.into_iter().filter(|(_, value)| !value.is_null()).map(|(name, value)| (name.to_owned(), value)).collect()
}
