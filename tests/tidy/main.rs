//! Rules of the source itself: which modules may use which others, what only certain files may do, and documents that
//! are generated from the program.

mod circles;
mod comments;
mod documents;
mod endpoints;
mod fields;
mod rooms;
mod source;
mod titles;
#[path = "../support/reach.rs"]
mod ways;
