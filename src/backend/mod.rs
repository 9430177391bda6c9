//! The local server: the REST API v4 over records in memory and real git repositories.

pub mod auth;
pub mod call;
pub mod demo;
pub mod engine;
pub mod git;
pub mod mount;
pub mod page;
pub mod params;
pub mod records;
pub mod reject;
pub mod runner;
pub mod store;
pub mod world;
