//! Typed queries from the web addresses of lists: `?label_name[]=bug&author_username=bo` is `label:bug author:bo`.

use super::{Grammar, Term, ValueKind, quoted};
use url::form_urlencoded;

/// The parameters of web pages that are no filters: pages, and how the page is shown.
const NO_FILTERS: &[&str] = &[
    "page",
    "per_page",
    "page_after",
    "page_before",
    "cursor",
    "first_page_size",
    "last_page_size",
    "utf8",
    "view",
    "layout",
    "show",
    "nav_source",
    "ref_type",
];
/// The parameters with words to search for.
const SEARCHES: &[&str] = &["search", "search_title", "search_query", "name"];
/// The endings of the names of filters on web pages, after the word that is typed here (`app/finders/issuable_finder.rb` and
/// `app/finders/issuable_finder/params.rb` of GitLab 18): `author_username`, `label_name[]`, `milestone_title`.
const ENDINGS: &[&str] = &["_username", "_usernames", "_name", "_title", "_id"];
/// Filters with another name on web pages (`app/assets/javascripts/ci/common/private/jobs_filtered_search` of GitLab 18).
const OTHER_NAMES: &[(&str, &str)] = &[("statuses", "scope"), ("username", "user")];

impl Term {
    /// Returns whether the filter `name` of a web page is this one.
    fn is_web_filter(&self, name: &str) -> bool {
        let is_date = matches!(self.takes, ValueKind::Dates(after, before) if name == after || name == before);
        let has_ending = || ENDINGS.iter().any(|ending| name.strip_suffix(ending) == Some(self.name));
        self.name == name || !self.input.is_empty() && self.input == name || is_date || has_ending()
    }
}

impl Grammar {
    /// Returns the query for the parameters of the web address of a list, without those that have the value `tab`. A filter
    /// that does not exist here stays a key, so that the list tells it.
    pub fn of_web(&self, parameters: &str, tab: Option<&str>) -> String {
        let given = pairs(parameters).filter(|(_, value)| !value.is_empty() && tab != Some(value));
        let words = given.filter_map(|(name, value)| self.of_parameter(&name, &value.replace('"', "")));
        words.collect::<Vec<_>>().join(" ")
    }

    fn of_parameter(&self, name: &str, value: &str) -> Option<String> {
        let name = name.trim_end_matches("[]");
        let (sign, name) = match name.strip_prefix("not[").and_then(|rest| rest.split_once(']')) {
            Some((name, _)) => ("-", name),
            None => ("", name),
        };
        // The lists of a project have all scopes.
        let is_default = (name, value) == ("scope", "all") && self.project.is_some();
        if is_default || NO_FILTERS.contains(&name) || name.starts_with("utm_") {
            return None;
        }
        let known = OTHER_NAMES.iter().find(|(web, _)| *web == name).map_or(name, |(_, word)| word);
        let term = self.terms.iter().find(|term| term.is_web_filter(known));
        if Some(name) == self.search || term.is_none() && self.search.is_some() && SEARCHES.contains(&name) {
            return Some(value.to_owned());
        }
        let value = match term.map(|term| term.takes) {
            Some(ValueKind::Sort(_)) => sort_order(term?, value)?,
            Some(ValueKind::Dates(_, before)) => format!("{}{value}", if name == before { "<" } else { ">" }),
            Some(ValueKind::Words(_) | ValueKind::Several(_)) => value.to_lowercase(),
            _ if matches!(name, "sort" | "search") => return None,
            _ => value.to_owned(),
        };
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let key =
            term.map_or_else(|| name.trim_end_matches(']').chars().map(plain).collect(), |term| term.name.to_owned());
        Some(format!("{sign}{key}:{}", quoted(&value)))
    }
}

/// Returns the words that the parameters of a web address search for, in a list that has only words.
pub fn words_of_web(parameters: &str) -> String {
    let words = pairs(parameters).find(|(name, _)| SEARCHES.contains(&name.as_ref()));
    words.map(|(_, value)| value.into_owned()).unwrap_or_default()
}

/// Returns the names and values of parameters, which begin with `?`.
fn pairs(parameters: &str) -> form_urlencoded::Parse<'_> {
    form_urlencoded::parse(parameters.trim_start_matches('?').as_bytes())
}

/// Returns the sort order of a web page, such as `created_date` (newest first) or `title_asc`, if there is that one.
fn sort_order(term: &Term, value: &str) -> Option<String> {
    let (order, direction) = match value.strip_suffix("_asc") {
        Some(order) => (order, "-asc"),
        None => (value.strip_suffix("_desc").or(value.strip_suffix("_date")).unwrap_or(value), ""),
    };
    let ValueKind::Sort(orders) = term.takes else { return None };
    let (word, _) = orders.iter().find(|(word, sent)| *word == order || *sent == order || *sent == value)?;
    Some(format!("{word}{direction}"))
}

#[cfg(test)]
mod tests {
    use super::super::{COMMITS, ISSUES, JOBS, MERGE_REQUESTS, PIPELINES};
    use super::*;

    #[test]
    fn filters_of_web_pages_are_typed_queries() {
        let of = |terms, search, text: &str| Grammar::new(terms, search, None).of_web(text, Some("closed"));
        for (text, query) in [
            ("?label_name[]=bug&label_name%5B%5D=to+do&state=closed", "label:bug label:\"to do\""),
            ("?author_username=bo&assignee_username[]=ada&search=odd+heights", "author:bo assignee:ada odd heights"),
            ("?not[author_username]=bo&not%5Blabel_name%5D%5B%5D=ui", "-author:bo -label:ui"),
            (
                "?milestone_title=0.4&assignee_id=None&my_reaction_emoji=heart",
                "milestone:0.4 assignee:None reaction:heart",
            ),
            ("?created_after=2026-01-01&updated_before=2026-02-01", "created:>2026-01-01 updated:<2026-02-01"),
            ("?sort=created_date&page=2&first_page_size=20&author_username=&utm_source=mail", "sort:created"),
            ("?sort=title_asc&state=all", "sort:title-asc state:all"),
            ("?sort=due_date", "sort:due"),
            // What cannot be applied is not lost.
            ("?weight=3&or[label_name][]=a", "weight:3 or_label_name:a"),
            ("", ""),
        ] {
            assert_eq!(of(ISSUES, Some("search"), text), query, "{text}");
        }
        let request = "?scope=all&reviewer_username=cem&draft=yes&target_branch=main&approved_by_usernames[]=eli";
        let query = "scope:all reviewer:cem draft:yes target:main approver:eli";
        assert_eq!(of(MERGE_REQUESTS, Some("search"), request), query);
        assert_eq!(of(PIPELINES, None, "?username=bo&ref=main&status=failed"), "user:bo ref:main status:failed");
        assert_eq!(of(JOBS, None, "?statuses=FAILED"), "scope:failed");
        assert_eq!(of(COMMITS, Some("words"), "?author=bo&search=odd+heights"), "author:bo odd heights");
    }
}
