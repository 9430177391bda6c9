//! The branch that is checked out in the clone, by the user's git.
//!
//! `Effect::ReadHead` reads the branch that is checked out when Home or *This branch* is shown and it may have
//! changed: after a start, a refresh, a program that ran, or a return to the window. Reading runs nothing that the
//! clone names. In the merge request of the branch, the lines of its threads are read as well (`threads.rs`).
//! `src/parts/repository/this_branch.rs` compares it with the branch on the server and finds its merge request.
//! *This branch* (`g .`, `labscope mr`) only leads on: to the merge request, or to a push and the form. `Effect::Push`
//! runs `git push` as the user's shell would, hooks included, after asking about programs that the clone brings along.
//! It shares the output and the end of custom commands.

pub mod head;
pub mod push;
#[cfg(test)]
#[cfg(unix)]
mod tests;
mod threads;
