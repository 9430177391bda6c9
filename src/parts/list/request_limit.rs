//! Requests for the visible rows of a list: many, of which few are sent at the same time, so that the user's next action
//! does not wait behind them.

use crate::api::client::Priority;
use crate::store::{Load, Want};
use std::time::Duration;

/// The delay before newly visible rows are requested.
const DELAY: Duration = Duration::from_millis(150);

/// Returns the wants for `loads` of visible rows, which the server may not have.
pub fn wants(loads: impl IntoIterator<Item = Load>) -> Vec<Want> {
    with_priority(loads, Priority::Columns)
}

/// Returns the wants for `loads` of the selected row, which are sent before those of others.
pub fn wants_of_selected(loads: impl IntoIterator<Item = Load>) -> Vec<Want> {
    with_priority(loads, Priority::Preview)
}

fn with_priority(loads: impl IntoIterator<Item = Load>, priority: Priority) -> Vec<Want> {
    loads.into_iter().map(|load| Load { delay: DELAY, priority, ..load.optional() }.into()).collect()
}
