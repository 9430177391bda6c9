//! Rules and parsers that neither draw nor know the interface: archives, test reports, reports about lines, public keys,
//! Git LFS pointers, names of emoji, differences and merges of texts, what changed since a review, edits of lines, lines
//! before a change, lines of logs, mentions in texts, CI/CD variables and what configurations declare, times of
//! schedules, mistakes in names and settings, quick actions, stacks of merge requests and who they wait for, amounts of
//! work, YAML.

pub mod carried;
pub mod ci_config;
pub mod ci_variables;
pub mod cron;
pub mod dotenv;
pub mod edits;
pub mod emoji;
pub mod growing;
pub mod junit;
pub mod lfs;
pub mod line_edits;
pub mod line_reports;
pub mod lines_before;
pub mod log_line;
pub mod mentions;
pub mod merge;
pub mod merge_status;
pub mod mistakes;
pub mod paired_commits;
pub mod parts;
pub mod public_key;
pub mod quick_actions;
pub mod roles;
pub mod source_location;
pub mod stack;
pub mod text;
pub mod waiting_for;
pub mod work_time;
pub mod yaml;
pub mod zip;

#[cfg(test)]
#[path = "../../tests/support/cost.rs"]
mod cost;

#[cfg(test)]
#[path = "../../tests/support/dice.rs"]
mod dice;
