//! Reads all pages of a list in order, prefetching some of them.

use super::exchange::{Call, read};
use super::{Client, Response};
use crate::endpoint::{Endpoint, Method, mask};
use crate::error::{Error, Fault};
use crate::page::{NextPage, Page};
use futures::FutureExt;
use futures::future::BoxFuture;
use futures::stream::{FuturesOrdered, Stream, StreamExt, TryStreamExt, try_unfold};
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The number of pages in flight at once, if the server sent the number of pages.
const MAX_IN_FLIGHT: usize = 4;
/// The maximum number of pages of a list.
const MAX_PAGES: usize = 100_000;

impl Client {
    /// Reads one page of a list; pages count from 1, and servers limit `per_page` to 100.
    pub async fn page<E: Endpoint>(&self, endpoint: &E, page: u32, per_page: u32) -> Result<Page<E::Output>, Error> {
        let request = endpoint.request().at_page(page, per_page);
        let response = self.send(&request).await?;
        page_of::<E>(response, request.line()).await
    }

    /// Returns a stream of all pages of a list, in order.
    ///
    /// If the server sends the number of pages, the next few are prefetched; otherwise the pages are requested one by
    /// one, by number or by the link to the next page; without either, as long as they are full. The stream ends at the
    /// last page, after an empty page, and before a page that was already received, so that no server can keep it going
    /// forever: a last page that names a next one means that the list is incomplete. Dropping the stream cancels the
    /// requests in flight.
    ///
    /// # Errors
    /// Fails with [`Fault::TooLarge`] if the list has more than 100,000 pages.
    pub fn all<E: Endpoint>(
        &self,
        endpoint: E,
        per_page: u32,
    ) -> impl Stream<Item = Result<Page<E::Output>, Error>> + use<E> {
        let request = endpoint.request().at_page(1, per_page);
        let line = request.line();
        let call = self.build_call(&request);
        let client = self.clone();
        futures::stream::once(async move { call.map(|call| PageWalk::new(client, call, false).responses()) })
            .try_flatten()
            .and_then(move |response| page_of::<E>(response, line.clone()))
    }

    /// Returns a stream of all pages of a list that the user requested, as in [`Client::raw`]; it ends after a reply
    /// that is not a success.
    pub fn all_raw(
        &self,
        target: &str,
        form: &[(String, String)],
    ) -> impl Stream<Item = Result<Response, Error>> + use<> {
        let call = self.raw_call(Method::GET, target, form);
        let client = self.clone();
        futures::stream::once(async move { call.map(|call| PageWalk::new(client, call, true).responses()) })
            .try_flatten()
    }
}

async fn page_of<E: Endpoint>(response: Response, line: String) -> Result<Page<E::Output>, Error> {
    let info = response.page.clone();
    let items = read::<E::Output>(response, line).await?;
    Ok(Page { items, info })
}

/// The state of reading the pages of a list.
struct PageWalk {
    client: Client,
    call: Call,
    /// Whether replies other than successes are returned instead of errors.
    raw: bool,
    in_flight: FuturesOrdered<BoxFuture<'static, (NextPage, Result<Response, Error>)>>,
    /// The first page that has not been requested.
    next: Option<NextPage>,
    /// The total number of pages, if the server sent it.
    pages: Option<u64>,
    /// Hashes of the bodies of the pages so far.
    seen: HashSet<u64>,
}

impl PageWalk {
    fn new(client: Client, call: Call, raw: bool) -> PageWalk {
        let first = in_query(&call.target, "page").and_then(|page| page.parse().ok()).unwrap_or(1);
        let next = Some(NextPage::Number(first));
        PageWalk { client, call, raw, in_flight: FuturesOrdered::new(), next, pages: None, seen: HashSet::new() }
    }

    fn responses(self) -> impl Stream<Item = Result<Response, Error>> {
        try_unfold(self, |mut walk| async move { Ok(walk.step().await?.map(|response| (response, walk))) })
    }

    /// Returns the next page, or `None` after the last.
    async fn step(&mut self) -> Result<Option<Response>, Error> {
        self.send_requests();
        let Some((at, outcome)) = self.in_flight.next().await else { return Ok(None) };
        let response = outcome?;
        let is_first = self.seen.is_empty();
        let mut hasher = DefaultHasher::new();
        response.body.hash(&mut hasher);
        let is_new = self.seen.insert(hasher.finish());
        let is_empty = response.body.iter().filter(|byte| !byte.is_ascii_whitespace()).take(3).eq(b"[]");
        if !is_first && !is_new {
            return Ok(None);
        }
        if self.seen.len() > MAX_PAGES {
            let reason = format!("the list has more than {MAX_PAGES} pages");
            return Err(Error { tried: format!("GET {}", mask(&self.call.target)), fault: Fault::TooLarge(reason) });
        }
        self.pages = response.page.total_pages;
        self.determine_next(&at, &response, is_empty);
        Ok(Some(response))
    }

    /// Determines which page follows the page at `at`.
    fn determine_next(&mut self, at: &NextPage, response: &Response, is_empty: bool) {
        let is_last = is_empty || !(200..300).contains(&response.status);
        let here = at.number();
        let advances = |next: &NextPage| next.number().zip(here).is_none_or(|(next, here)| next > here);
        let next = response.page.next.clone().filter(|next| !is_last && advances(next));
        let expected = here.and_then(|here| here.checked_add(1)).map(NextPage::Number);
        // As long as the server's page numbers are consecutive, the next page is already in flight or is requested
        // next.
        if next.is_none() || next != expected || (self.in_flight.is_empty() && self.next.is_none()) {
            self.in_flight = FuturesOrdered::new();
            self.next = next;
        }
    }

    /// Requests as many pages as may be in flight.
    fn send_requests(&mut self) {
        let max_in_flight = if self.pages.is_some() { MAX_IN_FLIGHT } else { 1 };
        while self.in_flight.len() < max_in_flight {
            let Some(next) = self.next.take() else { return };
            if let (NextPage::Number(number), Some(pages)) = (&next, self.pages)
                && u64::from(*number) < pages
            {
                self.next = number.checked_add(1).map(NextPage::Number);
            }
            let call = Call { target: target_of(&self.call.target, &next), ..self.call.clone() };
            let (client, raw) = (self.client.clone(), self.raw);
            let fetch = async move {
                let outcome = if raw { client.fetch_with_any_status(&call).await } else { client.fetch(&call).await };
                (next, outcome)
            };
            self.in_flight.push_back(fetch.boxed());
        }
    }
}

/// Returns the value of a key in the query of `target`, still encoded.
pub(super) fn in_query<'a>(target: &'a str, key: &str) -> Option<&'a str> {
    let (_, query) = target.split_once('?')?;
    query.split('&').find_map(|pair| pair.split_once('=').filter(|(name, _)| *name == key)).map(|(_, value)| value)
}

/// Returns the target of a page, derived from the target of the first page.
fn target_of(target: &str, next: &NextPage) -> String {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    match next {
        NextPage::Query(query) => format!("{path}?{query}"),
        // The first page keeps the original query, because every server starts with it.
        NextPage::Number(1) => target.to_owned(),
        NextPage::Number(number) | NextPage::Possible { page: number } => {
            let page = format!("page={number}");
            let mut pairs: Vec<&str> = query.split('&').filter(|pair| !pair.is_empty()).collect();
            match pairs.iter_mut().find(|pair| pair.starts_with("page=")) {
                Some(pair) => *pair = &page,
                None => pairs.push(&page),
            }
            format!("{path}?{}", pairs.join("&"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_page_keeps_the_filters() {
        let target = "/projects?labels[]=a&page=1&per_page=5";
        assert_eq!(target_of(target, &NextPage::Number(7)), "/projects?labels[]=a&page=7&per_page=5");
        assert_eq!(target_of("/projects", &NextPage::Number(2)), "/projects?page=2");
        assert_eq!(target_of("/projects", &NextPage::Number(1)), "/projects");
        assert_eq!(target_of(target, &NextPage::Query("id_after=9".into())), "/projects?id_after=9");
        assert_eq!(in_query(target, "per_page"), Some("5"));
    }
}
