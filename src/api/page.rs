//! Pages of lists: parses the pagination headers of replies.

use reqwest::header::{HeaderMap, LINK};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use url::form_urlencoded;

/// The name of the next page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum NextPage {
    Number(u32),
    /// A page of which the server says nothing, after a full one.
    Possible {
        /// The number of the page.
        page: u32,
    },
    /// The query of the server's link, for keyset pagination.
    Query(String),
}

impl NextPage {
    /// Returns the number of the page, if it has one.
    pub fn number(&self) -> Option<u32> {
        match self {
            NextPage::Number(page) | NextPage::Possible { page } => Some(*page),
            NextPage::Query(_) => None,
        }
    }

    /// Returns whether the server named the page.
    pub fn is_named(&self) -> bool {
        !matches!(self, NextPage::Possible { .. })
    }
}

/// The inputs that name the position in a list and the order in which it is read, for keyset pagination.
const CURSOR_INPUTS: [&str; 7] = ["page_token", "cursor", "id_after", "id_before", "pagination", "order_by", "sort"];

/// Returns the inputs of a link's query that name its page. A server repeats the other inputs as it read them, and they
/// may be secret.
pub fn cursor_inputs(query: &str) -> impl Iterator<Item = (String, String)> {
    let inputs = form_urlencoded::parse(query.as_bytes()).into_owned();
    inputs.filter(|(key, _)| CURSOR_INPUTS.contains(&key.as_str()))
}

/// The position of a page in its list. Servers omit numbers that they do not compute.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageInfo {
    /// The number of this page, from 1.
    pub page: Option<u32>,
    /// The number of entries on a full page.
    pub per_page: Option<u32>,
    /// The next page; `None` on the last page. The next page may turn out to be empty.
    pub next: Option<NextPage>,
    /// The total number of entries.
    pub total: Option<u64>,
    /// The total number of pages.
    pub total_pages: Option<u64>,
}

/// One page of a list.
#[derive(Clone, Debug, PartialEq)]
pub struct Page<T> {
    /// The entries.
    pub items: T,
    /// The position in the list.
    pub info: PageInfo,
}

impl PageInfo {
    /// Parses `X-Page`, `X-Per-Page`, `X-Next-Page`, `X-Total`, `X-Total-Pages` and, if there is no `X-Next-Page`,
    /// `Link`.
    pub fn from_headers(headers: &HeaderMap) -> PageInfo {
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        // After the last page, `X-Next-Page` is present but empty: then `Link` is ignored.
        let next = match text("x-next-page") {
            Some(number) => number.trim().parse().ok().map(NextPage::Number),
            None => {
                let link = headers.get_all(LINK).iter().filter_map(|v| v.to_str().ok()).find_map(next_of_link);
                link.and_then(page_of_link)
            }
        };
        PageInfo {
            page: text("x-page").and_then(|n| n.trim().parse().ok()),
            per_page: text("x-per-page").and_then(|n| n.trim().parse().ok()),
            next,
            total: text("x-total").and_then(|n| n.trim().parse().ok()),
            total_pages: text("x-total-pages").and_then(|n| n.trim().parse().ok()),
        }
    }
}

/// Returns whether a reply says which page is the next, or that there is none.
pub(crate) fn names_next(headers: &HeaderMap) -> bool {
    headers.contains_key("x-next-page") || headers.contains_key(LINK)
}

/// Returns the page after a full one, the reply to a request for `target`, for a server or a proxy that does not name it. An
/// endpoint that has no pages may send such a page, too: then the next one is the same.
pub(crate) fn possible_page(target: &str, body: &[u8], total: Option<u64>) -> Option<NextPage> {
    let (_, query) = target.split_once('?')?;
    let (_, per_page) = form_urlencoded::parse(query.as_bytes()).find(|(key, _)| key == "per_page")?;
    let per_page: u32 = per_page.parse().ok()?;
    let page = page_of_link(query).map_or(Some(1), |page| page.number())?;
    let is_last = total.is_some_and(|total| total <= u64::from(page) * u64::from(per_page));
    let rows: Vec<IgnoredAny> = if is_last { Vec::new() } else { serde_json::from_slice(body).ok()? };
    (rows.len() == per_page as usize).then_some(NextPage::Possible { page: page.checked_add(1)? })
}

/// Returns the query of the link with `rel="next"`. Its host is ignored: behind a proxy, it may be a host that the
/// caller cannot reach, and that must not receive the token.
fn next_of_link(link: &str) -> Option<&str> {
    let mut rest = link;
    // URLs may contain commas, so links are separated by their angle brackets.
    while let Some((_, after)) = rest.split_once('<') {
        let (url, parameters) = after.split_once('>')?;
        let end = parameters.find('<').unwrap_or(parameters.len());
        let (own, following) = parameters.split_at(end);
        let is_next = own.split([';', ',']).any(|p| {
            let p = p.trim();
            p.eq_ignore_ascii_case("rel=next") || p.eq_ignore_ascii_case("rel=\"next\"")
        });
        if is_next {
            return Some(url.split_once('?').map_or("", |(_, query)| query));
        }
        rest = following;
    }
    None
}

/// Returns the page of a link with this query, if the query names one.
fn page_of_link(query: &str) -> Option<NextPage> {
    let names_position = |key: &str| !matches!(key, "pagination" | "order_by" | "sort");
    if cursor_inputs(query).any(|(key, _)| names_position(&key)) {
        return Some(NextPage::Query(query.to_owned()));
    }
    let (_, number) = form_urlencoded::parse(query.as_bytes()).find(|(key, _)| key == "page")?;
    number.parse().ok().map(NextPage::Number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use reqwest::header::HeaderName;

    fn info(headers: &[(&'static str, &str)]) -> PageInfo {
        let map = headers.iter().map(|(k, v)| (HeaderName::from_static(k), v.parse().unwrap())).collect();
        PageInfo::from_headers(&map)
    }

    #[test]
    fn pagination_headers_are_parsed() {
        let page = info(&[
            ("x-page", "2"),
            ("x-per-page", "20"),
            ("x-next-page", "3"),
            ("x-total", "41"),
            ("x-total-pages", "3"),
        ]);
        let expected = PageInfo {
            page: Some(2),
            per_page: Some(20),
            next: Some(NextPage::Number(3)),
            total: Some(41),
            total_pages: Some(3),
        };
        assert_eq!(page, expected);
    }

    #[test]
    fn an_empty_next_page_header_overrides_the_link() {
        assert_eq!(info(&[("x-next-page", ""), ("link", "<http://h/x?page=3>; rel=\"next\"")]).next, None);
    }

    #[test]
    fn without_the_header_the_link_names_the_next_page() {
        let link = "<http://other/a?labels=a,b&page=1&per_page=5>; rel=\"prev\", \
                    <http://other/a?labels=a,b&page=3&per_page=5>; rel=\"next\", <http://other/a?page=9>; rel=\"last\"";
        assert_eq!(info(&[("link", link)]).next, Some(NextPage::Number(3)));
        assert_eq!(info(&[("link", "<http://h/a?page=3>; rel=\"last\"")]).next, None);
        assert_eq!(info(&[("link", "<http://h/a?page=3")]).next, None);
        assert_eq!(info(&[]).next, None);
    }

    #[test]
    fn a_keyset_link_is_kept_unchanged() {
        let query = "pagination=keyset&page=1&per_page=5&page_token=abc%2Fd";
        let page = info(&[("link", &format!("<http://other/a?{query}>; rel=\"next\""))]);
        assert_eq!(page.next, Some(NextPage::Query(query.to_owned())));
        let inputs = cursor_inputs("private_token=x&id_after=9&order_by=id&per_page=5").collect::<Vec<_>>();
        assert_eq!(inputs, [("id_after".to_owned(), "9".to_owned()), ("order_by".to_owned(), "id".to_owned())]);
    }
}
