//! Panes as the user sees them: tests press keys and read the lines of the screen, with scripted replies or a real
//! server. Some test what `app` makes of all places: their keys, their names, and the addresses that open them.

mod accessible;
mod activity;
mod administrators;
mod artifacts;
mod attach;
mod background;
mod bindings;
mod branch;
mod browse;
mod causes;
mod changes;
mod choose;
mod ci;
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
#[path = "../support/ear.rs"]
mod ear;
mod edits;
mod emulator;
mod endless;
mod environments;
mod faults;
mod files;
mod first_error;
mod fixtures;
mod form;
mod groups;
mod harness;
mod history;
mod home;
mod hostile;
mod hosts;
#[allow(dead_code)]
#[path = "../support/http2.rs"]
mod http2;
mod inline_images;
mod issue;
mod issues;
mod job;
mod jobs;
mod killed;
mod labels;
mod linked_items;
mod links;
mod lists;
mod milestones;
mod monkey;
mod mr;
mod mrs;
mod people;
mod permissions;
mod pipelines;
mod place_info;
mod protected_branches;
mod reach;
mod reactions;
mod refs;
mod refusals;
mod releases;
mod repository;
mod review;
mod route;
mod rule;
mod runners;
#[path = "../support/sample.rs"]
mod sample;
mod schedules;
// Other test programs use the rest of it.
#[allow(dead_code)]
#[path = "../support/scripted.rs"]
mod scripted;
mod search;
mod sending;
mod served;
mod settled;
mod since_review;
mod snippets;
mod soak;
mod stage;
mod target;
mod tests;
mod threads;
mod todos;
mod token;
mod tour;
mod trace;
mod tracking;
mod variables;
mod verdict;
mod waiting;
#[path = "../support/reach.rs"]
mod ways;
mod widths;
mod wire;
mod wire_faults;
