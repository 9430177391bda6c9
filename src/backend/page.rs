//! Pagination of lists, and its headers.

use super::auth::TOKEN_PARAMETERS;
use super::params::{self, Inputs};
use super::rejection::Rejection;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use url::form_urlencoded;

/// The default number of entries per page.
const DEFAULT_PER_PAGE: usize = 20;
/// The maximum number of entries per page; larger values are reduced silently.
const MAX_PER_PAGE: usize = 100;

/// The input of keyset pagination that replies also name in a header.
pub const CURSOR: &str = "cursor";

/// The requested page of a list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pagination {
    /// The page number, starting at 1.
    pub page: usize,
    pub per_page: usize,
}

impl Pagination {
    /// Reads the inputs of a request.
    ///
    /// # Errors
    /// Fails with 400 `page is invalid` if it is not a number.
    pub fn from_inputs(inputs: &Inputs) -> Result<Pagination, Rejection> {
        let (page, per_page) = params::read_with(inputs, |inputs| (inputs.take("page"), inputs.take("per_page")))?;
        let positive = |n: Option<i64>| n.and_then(|n| usize::try_from(n).ok()).filter(|n| *n > 0);
        Ok(Pagination {
            page: positive(page).unwrap_or(1),
            per_page: positive(per_page).unwrap_or(DEFAULT_PER_PAGE).min(MAX_PER_PAGE),
        })
    }

    /// Returns the number of entries before the page.
    pub fn skip(self) -> usize {
        (self.page - 1).saturating_mul(self.per_page)
    }

    /// Returns the rows of the page out of all rows.
    pub fn cut<T>(self, rows: &[T]) -> &[T] {
        let rest = rows.get(self.skip()..).unwrap_or_default();
        rest.get(..self.per_page).unwrap_or(rest)
    }
}

/// The size of a list, as far as it is known.
#[derive(Clone, Debug, PartialEq)]
pub enum ListSize {
    /// The total number of entries.
    Known(usize),
    /// Whether there are more entries, for lists that are expensive to count (the log of a long history).
    HasMore(bool),
    /// The next page of keyset pagination, if there is one. Nothing is counted.
    Keyset(Option<NextPage>),
}

/// The input that a page of keyset pagination begins after.
#[derive(Clone, Debug, PartialEq)]
pub struct NextPage {
    name: &'static str,
    value: String,
}

impl From<(&'static str, String)> for NextPage {
    fn from((name, value): (&'static str, String)) -> NextPage {
        NextPage { name, value }
    }
}

/// Returns the headers of a page. `url` is the request's URL without its query, `query` the raw query.
pub fn headers(pagination: Pagination, list_size: ListSize, url: &str, query: &str) -> HeaderMap {
    let Pagination { page, per_page } = pagination;
    let link_to = |name: &str, value: &str, rel: &str| {
        let mut out = form_urlencoded::Serializer::new(String::new());
        for (known, value) in form_urlencoded::parse(query.as_bytes()) {
            // Headers end up in logs and caches, where a token must not be.
            if !matches!(known.as_ref(), "page" | "per_page")
                && known != name
                && !TOKEN_PARAMETERS.contains(&known.as_ref())
            {
                out.append_pair(&known, &value);
            }
        }
        out.append_pair(name, value).append_pair("per_page", &per_page.to_string());
        format!("<{url}?{}>; rel=\"{rel}\"", out.finish())
    };
    let link = |page: usize, rel: &str| link_to("page", &page.to_string(), rel);
    let mut headers = HeaderMap::new();
    let mut set = |name: &'static str, value: String| {
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.insert(HeaderName::from_static(name), value);
        }
    };
    let (pages, more) = match &list_size {
        ListSize::Known(total) => {
            let pages = total.div_ceil(per_page).max(1);
            (Some(pages), page < pages)
        }
        ListSize::HasMore(more) => (None, *more),
        ListSize::Keyset(next) => {
            if let Some(NextPage { name, value }) = next {
                set("link", link_to(name, value, "next"));
                if *name == CURSOR {
                    set("x-next-cursor", value.clone());
                }
            }
            return headers;
        }
    };
    let mut links = Vec::new();
    if page > 1 {
        links.push(link(page - 1, "prev"));
    }
    if more {
        links.push(link(page + 1, "next"));
    }
    links.push(link(1, "first"));
    links.extend(pages.map(|pages| link(pages, "last")));

    let number = |n: usize| n.to_string();
    if let (ListSize::Known(total), Some(pages)) = (list_size, pages) {
        set("x-total", number(total));
        set("x-total-pages", number(pages));
    }
    set("x-per-page", number(per_page));
    set("x-page", number(page));
    set("x-next-page", if more { number(page + 1) } else { String::new() });
    set("x-prev-page", if page > 1 { number(page - 1) } else { String::new() });
    set("link", links.join(", "));
    headers
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::add_pairs;

    fn pagination(query: &str) -> Result<Pagination, Rejection> {
        let mut inputs = Inputs::new();
        add_pairs(&mut inputs, query.as_bytes()).unwrap();
        Pagination::from_inputs(&inputs)
    }

    #[test]
    fn per_page_is_limited_to_100() {
        assert_eq!(pagination("").unwrap(), Pagination { page: 1, per_page: 20 });
        assert_eq!(pagination("page=3&per_page=1000").unwrap(), Pagination { page: 3, per_page: 100 });
        assert_eq!(pagination("page=0&per_page=-4").unwrap(), Pagination { page: 1, per_page: 20 });
        assert_eq!(pagination("page=abc").unwrap_err().body["error"], "page is invalid");
    }

    #[test]
    fn headers_keep_all_parameters_except_tokens() {
        let pagination = Pagination { page: 2, per_page: 20 };
        let query = "scope[]=failed&private_token=a&access_token=b&job_token=c&job-token=d&page=2";
        let headers = headers(pagination, ListSize::Known(41), "http://h/api/v4/projects/1/jobs", query);
        let get = |name: &str| headers.get(name).and_then(|v| v.to_str().ok()).unwrap_or("absent").to_owned();
        assert_eq!(get("x-total"), "41");
        assert_eq!(get("x-total-pages"), "3");
        assert_eq!(get("x-next-page"), "3");
        assert_eq!(get("x-prev-page"), "1");
        assert_eq!(
            get("link"),
            "<http://h/api/v4/projects/1/jobs?scope%5B%5D=failed&page=1&per_page=20>; rel=\"prev\", \
             <http://h/api/v4/projects/1/jobs?scope%5B%5D=failed&page=3&per_page=20>; rel=\"next\", \
             <http://h/api/v4/projects/1/jobs?scope%5B%5D=failed&page=1&per_page=20>; rel=\"first\", \
             <http://h/api/v4/projects/1/jobs?scope%5B%5D=failed&page=3&per_page=20>; rel=\"last\""
        );
    }

    #[test]
    fn empty_list_has_one_page_and_no_next_page() {
        let headers = headers(Pagination { page: 1, per_page: 20 }, ListSize::Known(0), "http://h/x", "");
        assert_eq!(headers.get("x-total-pages").unwrap(), "1");
        assert_eq!(headers.get("x-next-page").unwrap(), "");
    }
}
