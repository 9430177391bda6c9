//! Requests for the visible rows of a list: many, of which few are sent at the same time, so that the user's next action
//! does not wait behind them.

use crate::api::Error;
use crate::store::{Load, Store, Want};
use std::time::Duration;

/// The delay before newly visible rows are requested.
const DELAY: Duration = Duration::from_millis(150);

/// Returns the wants for `loads`. Those that the server does not have are skipped.
pub fn wants(store: &Store, loads: impl IntoIterator<Item = Load>) -> Vec<Want> {
    let is_missing = |load: &Load| store.error_of(&load.request).is_some_and(Error::is_missing);
    let loads = loads.into_iter().filter(|load| !is_missing(load));
    loads.map(|load| Load { delay: DELAY, is_one_of_many: true, ..load }.into()).collect()
}
