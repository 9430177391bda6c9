//! The command line as scripts and people use it: exit codes, files, and a clear message for every mistake.
#![cfg(unix)]

mod api;
mod auth;
mod ci;
mod doctor;
#[path = "../support/home.rs"]
mod home;
mod install;
mod mistakes;
mod program;
mod proxies;
mod redirects;
mod serve;
#[path = "../support/served.rs"]
mod served;
mod status;
mod watch;
