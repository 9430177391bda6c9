//! Panes as a person sees them: keys in, lines of the screen out, with replies that the test gives or a real server's.

mod browse;
mod core;
mod harness;
mod home;
mod job;
mod jobs;
mod mr;
mod mrs;
mod runners;
mod search;
mod served;
