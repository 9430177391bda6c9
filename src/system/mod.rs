//! The operating system: files in folders that other users may write to, and other programs.

pub mod files;
pub mod programs;
