//! Lists with a typed query: its breadcrumbs, and the fixed inputs of its request.

use crate::app::pane::Breadcrumb;
use crate::app::query::{self, Grammar};
use crate::app::view::View;
use crate::ui::theme::Role;
use serde_json::{Map, Value};

/// Returns the breadcrumbs of the list: the words of its query and the number of rows, or the mistake in the query. A
/// word that is not known is told until the server has answered.
pub fn breadcrumbs(text: &str, count: Option<String>, grammar: &Grammar, view: &View) -> Vec<Breadcrumb> {
    let has_failed = || view.store.first_error(&grammar.wants(text)).is_some();
    let (remark, role) = match grammar.mistake(text, Some(view)).filter(|_| !has_failed()) {
        Some(mistake) => (Some(mistake), Role::Failed),
        None => (grammar.warning(text).filter(|_| count.is_none()), Role::Warning),
    };
    let last = match &remark {
        Some(remark) => Some(Breadcrumb::new(remark.to_string(), role)),
        None => count.map(|count| Breadcrumb::new(count, Role::Dim)),
    };
    // What is said about a word begins with it.
    let is_told = |word: &str| remark.as_ref().is_some_and(|remark| remark.word == word || remark.word == text);
    let words = query::parts(text).into_iter().filter(|(word, _)| !is_told(word));
    let words = words.map(|(word, keyed)| Breadcrumb::new(word, if keyed { Role::Label } else { Role::Match }));
    words.chain(last).collect()
}

/// Returns the inputs that do not come from the query, without those that are null.
pub fn given<const N: usize>(inputs: [(&str, Value); N]) -> Map<String, Value> {
    inputs.into_iter().filter(|(_, value)| !value.is_null()).map(|(name, value)| (name.to_owned(), value)).collect()
}
