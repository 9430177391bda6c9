//! Requests for the visible rows of a list: many, of which few are sent at the same time, so that the user's next action
//! does not wait behind them.

use crate::api::Error;
use crate::api::client::Priority;
use crate::store::{Load, Store, Want};
use std::time::Duration;

/// The delay before newly visible rows are requested.
const DELAY: Duration = Duration::from_millis(150);

/// Returns the wants for `loads` of visible rows. Those that the server does not have are skipped.
pub fn wants(store: &Store, loads: impl IntoIterator<Item = Load>) -> Vec<Want> {
    with_priority(store, loads, Priority::Columns)
}

/// Returns the wants for `loads` of the selected row, which are sent before those of others.
pub fn wants_of_selected(store: &Store, loads: impl IntoIterator<Item = Load>) -> Vec<Want> {
    with_priority(store, loads, Priority::Preview)
}

fn with_priority(store: &Store, loads: impl IntoIterator<Item = Load>, priority: Priority) -> Vec<Want> {
    let is_missing = |load: &Load| store.error_of(&load.request).is_some_and(Error::is_missing);
    let loads = loads.into_iter().filter(|load| !is_missing(load));
    loads.map(|load| Load { delay: DELAY, priority, ..load }.into()).collect()
}
