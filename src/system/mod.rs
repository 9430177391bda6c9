//! What rooms need of the operating system: files in folders that others may write to, and other programs.

pub mod files;
pub mod programs;
