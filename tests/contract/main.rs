//! The contract with servers: literal request lines, samples and error bodies, written from the specification and
//! not from the code, because client and backend share their types and could be wrong together.

mod client;
mod errors;
#[path = "../support/scripted.rs"]
mod scripted;
