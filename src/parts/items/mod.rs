//! Merge requests, issues and to-dos, in lists and in places of their own.

pub mod issue_query;
pub mod issues;
pub mod item_commands;
pub mod last_seen;
pub mod linked_items;
pub mod merge_request_details;
pub mod merge_request_query;
pub mod merge_requests;
pub mod merge_state;
pub mod sent_quick_actions;
pub mod stack;
pub mod subscription;
pub mod time_tracking;
pub mod todos;
