//! What rooms need of the operating system: files in folders that others may write to.

pub mod files;
