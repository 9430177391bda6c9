//! The local server: the REST API v4 over records in memory and real git repositories.

pub mod demo;
pub mod records;
pub mod world;
pub mod page;
pub mod params;
pub mod reject;
pub mod auth;
pub mod store;
