//! The branch that is checked out in the clone, by the user's git.

pub mod head;
pub mod push;
#[cfg(test)]
#[cfg(unix)]
mod tests;
