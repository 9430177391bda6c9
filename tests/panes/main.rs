//! Panes as the user sees them: keys in, lines of the screen out, with replies that the test gives or a real server's.

mod accessible;
mod administrators;
mod artifacts;
mod browse;
mod changes;
mod clicks;
mod clock;
mod columns;
mod core;
#[path = "../support/cost.rs"]
mod cost;
mod custom;
mod decisions;
mod deployments;
#[path = "../support/dice.rs"]
mod dice;
mod edits;
mod environments;
mod faults;
mod files;
mod form;
mod groups;
mod harness;
mod history;
mod home;
mod hostile;
mod hosts;
mod issue;
mod issues;
mod job;
mod jobs;
mod killed;
mod labels;
#[path = "../support/length.rs"]
mod length;
mod lists;
mod milestones;
mod monkey;
mod mr;
mod mrs;
mod people;
mod pipelines;
mod protected_branches;
mod reach;
mod reactions;
mod refusals;
mod releases;
mod repository;
mod review;
mod rule;
mod runners;
// Other kinds of tests use the rest of it.
#[allow(dead_code)]
#[path = "../support/scripted.rs"]
mod scripted;
mod search;
mod sending;
mod served;
mod snippets;
mod soak;
mod stage;
mod tests;
mod threads;
mod todos;
mod token;
mod trace;
#[path = "../support/reach.rs"]
mod ways;
