//! Access to the operating system: files in folders that other users may write to, and child processes.

pub mod files;
pub mod programs;
