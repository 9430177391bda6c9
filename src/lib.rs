//! labscope: a terminal client for source-hosting servers that speak the GitLab REST API v4.

// Code that handles external input must not panic; tests may (see clippy.toml).
#![warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo, clippy::dbg_macro)]

pub use {api, backend, domain, store, system, ui};

pub mod app;
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
