//! Asks about the rows in sight a few requests at a time, so that what the user does next does not wait behind them.

use crate::api::endpoint::Request;
use crate::store::{Load, Store, Want};
use std::time::Duration;

/// How long rows rest in sight before they are asked about.
const REST: Duration = Duration::from_millis(150);
/// Requests that wait for an answer at a time.
const AT_ONCE: usize = 4;

/// Returns what is wanted now of `loads`: all that is known, and some of what is not. What was refused is left alone.
pub fn wants(store: &Store, loads: impl IntoIterator<Item = Load>) -> Vec<Want> {
    let mut waiting: Vec<Request> = Vec::new();
    let mut wants = Vec::new();
    for load in loads {
        let is_refused = store.error_of(&load.request).is_some_and(|error| !error.is_passing());
        let waits = !store.is_fresh(&load.request);
        if is_refused || waits && (waiting.len() >= AT_ONCE || waiting.contains(&load.request)) {
            continue;
        }
        waiting.extend(waits.then(|| load.request.clone()));
        wants.push(load.after(REST).into());
    }
    wants
}
