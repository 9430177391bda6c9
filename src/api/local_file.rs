//! Files of this computer whose content is sent to the server.

pub use system::files::{Unreadable, read_named};
