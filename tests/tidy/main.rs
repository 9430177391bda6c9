//! What must stay true of the source itself: who may name whom, what only one place may do, and documents that are
//! printed from the program.

mod circles;
mod documents;
mod endpoints;
mod rooms;
mod source;
mod titles;
#[path = "../support/reach.rs"]
mod ways;
