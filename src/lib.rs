//! labscope: a terminal front end to source-hosting servers that speak the REST API v4.

pub mod api;
pub mod app;
pub mod backend;
pub mod cli;
pub mod config;
pub mod panes;
pub mod runtime;
pub mod store;
pub mod ui;
