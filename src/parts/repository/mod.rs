//! Files, commits, changes and refs of a repository.

pub mod ahead_behind;
pub mod apply_commits;
pub mod blob;
pub mod changed_files;
pub mod commit_details;
pub mod commit_history;
pub mod commit_list;
pub mod commit_view;
pub mod ref_choices;
pub mod ref_labels;
pub mod ref_split;
pub mod staging_area;
pub mod this_branch;
