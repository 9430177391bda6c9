//! labscope: a terminal front end to source-hosting servers that speak the REST API v4.

pub mod api;
pub mod backend;

pub mod ui;
