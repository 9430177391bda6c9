//! Pagination of lists, and its headers.

use super::auth::TOKEN_PARAMETERS;
use super::params::Inputs;
use super::reject::Reject;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use serde::Deserialize;
use url::form_urlencoded;

/// The default number of entries per page.
const PER_PAGE: usize = 20;
/// The maximum number of entries per page; larger values are reduced silently.
const MOST: usize = 100;

/// The requested page of a list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Paging {
    /// The page number, starting at 1.
    pub page: usize,
    pub per_page: usize,
}

#[derive(Deserialize)]
struct PageRequest {
    page: Option<i64>,
    per_page: Option<i64>,
}

impl Paging {
    /// Reads the inputs of a request.
    ///
    /// # Errors
    /// Fails with 400 `page is invalid` if it is not a number.
    pub fn read(inputs: &Inputs) -> Result<Paging, Reject> {
        let asked: PageRequest = super::params::read(inputs)?;
        let positive = |n: Option<i64>| n.and_then(|n| usize::try_from(n).ok()).filter(|n| *n > 0);
        Ok(Paging {
            page: positive(asked.page).unwrap_or(1),
            per_page: positive(asked.per_page).unwrap_or(PER_PAGE).min(MOST),
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

/// The extent of a list beyond the current page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Extent {
    /// The total number of entries.
    Total(usize),
    /// Whether there are more entries, for lists that are expensive to count (the log of a long history).
    More(bool),
}

/// Returns the headers of a page. `url` is the request's URL without its query, `query` the raw query.
pub fn headers(paging: Paging, extent: Extent, url: &str, query: &str) -> HeaderMap {
    let Paging { page, per_page } = paging;
    let (pages, more) = match extent {
        Extent::Total(total) => {
            let pages = total.div_ceil(per_page).max(1);
            (Some(pages), page < pages)
        }
        Extent::More(more) => (None, more),
    };
    let link = |page: usize, rel: &str| {
        let mut out = form_urlencoded::Serializer::new(String::new());
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            // Headers end up in logs and caches, where a token must not be.
            if !matches!(name.as_ref(), "page" | "per_page") && !TOKEN_PARAMETERS.contains(&name.as_ref()) {
                out.append_pair(&name, &value);
            }
        }
        out.append_pair("page", &page.to_string()).append_pair("per_page", &per_page.to_string());
        format!("<{url}?{}>; rel=\"{rel}\"", out.finish())
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
    let mut headers = HeaderMap::new();
    let mut set = |name: &'static str, value: String| {
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.insert(HeaderName::from_static(name), value);
        }
    };
    if let (Extent::Total(total), Some(pages)) = (extent, pages) {
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
    use crate::backend::params::add_pairs;

    fn paging(query: &str) -> Result<Paging, Reject> {
        let mut inputs = Inputs::new();
        add_pairs(&mut inputs, query.as_bytes()).unwrap();
        Paging::read(&inputs)
    }

    #[test]
    fn a_page_is_held_to_a_hundred() {
        assert_eq!(paging("").unwrap(), Paging { page: 1, per_page: 20 });
        assert_eq!(paging("page=3&per_page=1000").unwrap(), Paging { page: 3, per_page: 100 });
        assert_eq!(paging("page=0&per_page=-4").unwrap(), Paging { page: 1, per_page: 20 });
        assert_eq!(paging("page=abc").unwrap_err().body["error"], "page is invalid");
    }

    #[test]
    fn the_headers_keep_every_parameter_but_tokens() {
        let asked = Paging { page: 2, per_page: 20 };
        let query = "scope[]=failed&private_token=a&access_token=b&job_token=c&job-token=d&page=2";
        let headers = headers(asked, Extent::Total(41), "http://h/api/v4/projects/1/jobs", query);
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
    fn an_empty_list_has_one_page_and_no_next() {
        let headers = headers(Paging { page: 1, per_page: 20 }, Extent::Total(0), "http://h/x", "");
        assert_eq!(headers.get("x-total-pages").unwrap(), "1");
        assert_eq!(headers.get("x-next-page").unwrap(), "");
    }
}
