//! Keyset pagination: a page begins after the last row of the page before, whatever is added or removed meanwhile.

use super::call::{Outcome, ReadCall};
use super::page::{CURSOR, ListSize, NextPage};
use super::rejection::Rejection;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::cmp::Ordering;

/// The number of rows that are counted from the start of a list; what is beyond is read by keyset pagination.
const MAX_OFFSET: usize = 50_000;
/// The input that names the last row of the page before, in lists of refs and files.
const PAGE_TOKEN: &str = "page_token";

/// The place of a row in the order of its list: whether it has none, and a number or a text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Key(bool, i64, String);

impl Key {
    /// Returns the place of a time; microseconds are exact enough, because rows of the same place are ordered by ID.
    pub fn time(at: Timestamp) -> Key {
        Key(false, at.as_microsecond(), String::new())
    }

    pub fn text(text: &str) -> Key {
        Key(false, 0, text.to_lowercase())
    }

    /// Returns the same place for all rows, which only their IDs order.
    pub fn none() -> Key {
        Key(false, 0, String::new())
    }

    /// Returns the place of a row that may have no value: such rows come last in an order.
    pub fn or_last(key: Option<Key>, descending: bool) -> Key {
        key.unwrap_or(Key(!descending, 0, String::new()))
    }
}

/// The last row of a page.
#[derive(Serialize, Deserialize)]
struct Cursor {
    key: Key,
    id: u64,
}

/// The forms of keyset pagination.
pub enum Keyset<'k, R> {
    /// The list cannot be read by keyset in the requested order.
    Unavailable,
    /// The rows are in the order of their IDs, and the next page is another filter by ID.
    Filter { descending: bool, id: fn(&R) -> u64 },
    /// The next page is named by its place in the order of the rows and their IDs.
    Cursor { descending: bool, key: Box<dyn Fn(&R) -> Key + 'k>, id: fn(&R) -> u64 },
}

impl ReadCall<'_> {
    fn text(&self, name: &str) -> Option<&str> {
        self.inputs.get(name).and_then(Value::as_str).filter(|text| !text.is_empty() && !self.only_specified())
    }

    fn is_keyset(&self) -> bool {
        self.text("pagination") == Some("keyset")
    }

    /// Returns whether a list is wanted as a whole.
    pub fn is_unpaged(&self) -> bool {
        self.text("pagination") == Some("none")
    }

    /// Returns a page of a list that can also be read by keyset pagination. `kind` names the type of the rows to users.
    ///
    /// # Errors
    /// Fails with 405 for keyset pagination where it is not available, and for a page too far from the start, and with 400
    /// for a broken cursor.
    pub fn keyset_page<R, T>(
        &self,
        kind: &str,
        rows: Vec<R>,
        keyset: Keyset<R>,
        show: impl FnMut(R) -> T,
    ) -> Outcome<Vec<T>> {
        if !self.is_keyset() {
            let end = self.pagination.page.saturating_mul(self.pagination.per_page);
            if end > MAX_OFFSET && !self.only_specified() {
                let why = format!(
                    "Offset pagination has a maximum allowed offset of {MAX_OFFSET} for requests that return objects of type \
                     {kind}. Remaining records can be retrieved using keyset pagination."
                );
                return Err(Rejection::error(405, why));
            }
            return self.page(rows, show);
        }
        let (rows, next) = match keyset {
            Keyset::Unavailable => {
                let why = "Keyset pagination is not yet available for this type of request";
                return Err(Rejection::error(405, why));
            }
            Keyset::Filter { descending, id } => {
                let (rows, _) = self.first(rows);
                let name = if descending { "id_before" } else { "id_after" };
                // Whether there are more shows only when they are asked for.
                let next = rows.last().map(|last| (name, id(last).to_string()));
                (rows, next)
            }
            Keyset::Cursor { descending, key, id } => {
                let (rows, more) = self.first(self.after_cursor(rows, descending, key.as_ref(), id)?);
                let last = rows.last().filter(|_| more);
                let next = last.map(|last| (CURSOR, encoded(&Cursor { key: key(last), id: id(last) })));
                (rows, next)
            }
        };
        self.page_of(rows.into_iter().map(show).collect(), ListSize::Keyset(next.map(NextPage::from)))
    }

    /// Returns the rows after the cursor of the request, in order.
    fn after_cursor<R>(
        &self,
        rows: Vec<R>,
        descending: bool,
        key: &dyn Fn(&R) -> Key,
        id: fn(&R) -> u64,
    ) -> Result<Vec<R>, Rejection> {
        let order = |a: &(Key, u64), b: &(Key, u64)| if descending { b.cmp(a) } else { a.cmp(b) };
        let cursor = match self.text(CURSOR) {
            Some(text) => Some(decoded(text).ok_or_else(|| Rejection::invalid(CURSOR))?),
            None => None,
        };
        let place = |row: &R| (key(row), id(row));
        let mut rows: Vec<(_, R)> = rows.into_iter().map(|row| (place(&row), row)).collect();
        if let Some(Cursor { key, id }) = cursor {
            let last = (key, id);
            rows.retain(|(place, _)| order(place, &last) == Ordering::Greater);
        }
        rows.sort_by(|(a, _), (b, _)| order(a, b));
        Ok(rows.into_iter().map(|(_, row)| row).collect())
    }

    /// Returns the first rows, as many as a page has, and whether there are more.
    fn first<R>(&self, mut rows: Vec<R>) -> (Vec<R>, bool) {
        let more = rows.len() > self.pagination.per_page;
        rows.truncate(self.pagination.per_page);
        (rows, more)
    }

    /// Returns the page of a list of refs or files that is wanted, and its size. With keyset pagination, the page begins
    /// after the row whose name is in the request.
    ///
    /// # Errors
    /// Fails with 400 if no row has that name.
    pub fn cut_by_name<'r, R>(
        &self,
        rows: &'r [R],
        name: impl Fn(&R) -> &str,
    ) -> Result<(&'r [R], ListSize), Rejection> {
        if !self.is_keyset() {
            return Ok((self.pagination.cut(rows), ListSize::Known(rows.len())));
        }
        let start = match self.text(PAGE_TOKEN) {
            Some(token) => {
                let at = rows.iter().position(|row| name(row) == token);
                at.ok_or_else(|| Rejection::invalid(PAGE_TOKEN))?.saturating_add(1)
            }
            None => 0,
        };
        let rest = rows.get(start..).unwrap_or_default();
        let page = rest.get(..self.pagination.per_page).unwrap_or(rest);
        let last = page.last().filter(|_| rest.len() > page.len());
        let next = last.map(|last| NextPage::from((PAGE_TOKEN, name(last).to_owned())));
        Ok((page, ListSize::Keyset(next)))
    }
}

fn encoded(cursor: &Cursor) -> String {
    URL_SAFE_NO_PAD.encode(serde_json::to_vec(cursor).unwrap_or_default())
}

fn decoded(text: &str) -> Option<Cursor> {
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(text).ok()?).ok()
}
