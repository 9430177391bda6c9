//! Access to the operating system: files in folders that other users may write to, and child processes. Also the panics
//! of libraries that read damaged files.

pub mod files;
pub mod panics;
pub mod programs;
