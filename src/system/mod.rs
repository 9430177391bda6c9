//! Access to the operating system: files in folders that other users may write to, child processes, memory, and git in
//! clones.
//! Also the panics of libraries that read damaged files.

pub mod files;
pub mod git;
pub mod git_folder;
pub mod memory;
pub mod panics;
pub mod programs;
pub mod ssh;
