//! labscope: a terminal client for source-hosting servers that speak the GitLab REST API v4.

// The rooms that are packages, by the names that they have in this crate.
pub use {api, app, backend, domain, store, system, ui};

pub mod cli;
pub mod config;
pub mod panes;
pub mod parts;
pub mod runtime;

#[cfg(test)]
#[path = "../tests/support/cost.rs"]
mod cost;

#[cfg(test)]
#[path = "../tests/support/dice.rs"]
mod dice;

#[cfg(test)]
#[path = "../tests/support/sample.rs"]
mod sample;
