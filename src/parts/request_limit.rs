//! Limits the number of requests in flight for the visible rows, so that the user's next action does not wait behind
//! them.

use crate::api::Error;
use crate::api::endpoint::Request;
use crate::store::{Load, Store, Want};
use std::time::Duration;

/// The delay before newly visible rows are requested.
const DELAY: Duration = Duration::from_millis(150);
/// The maximum number of requests in flight.
const MAX_IN_FLIGHT: usize = 4;

/// Returns those of `loads` to request now: all that are fresh, and a limited number of the others. Those that the
/// server does not have are skipped.
pub fn wants(store: &Store, loads: impl IntoIterator<Item = Load>) -> Vec<Want> {
    let mut waiting: Vec<Request> = Vec::new();
    let mut wants = Vec::new();
    for load in loads {
        let is_missing = store.error_of(&load.request).is_some_and(Error::is_missing);
        let waits = !store.is_fresh(&load.request);
        if is_missing || waits && (waiting.len() >= MAX_IN_FLIGHT || waiting.contains(&load.request)) {
            continue;
        }
        waiting.extend(waits.then(|| load.request.clone()));
        wants.push(load.after(DELAY).into());
    }
    wants
}
