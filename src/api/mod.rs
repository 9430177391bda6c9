//! The wire: one description of every operation, and the client that sends it.
//!
//! Each operation of the interface is a struct that implements [`Endpoint`]. The client sends it, the local backend
//! mounts its handler by that type, and the interface uses it as the key of what it shows.

pub mod branches;
pub mod endpoint;
pub mod error;
pub mod types;

pub use endpoint::{Body, Description, Endpoint, Nothing, Raw, Reply, Request};
pub use error::{Error, Fault};
pub use types::{Id, Time};

/// Every operation that the client knows, by area.
pub const AREAS: &[(&str, &[Description])] = &[("branches", branches::ALL)];
