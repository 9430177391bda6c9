//! Building blocks of places: lists, facts, diffs with threads, conversations, traces, files, forms. They do not depend
//! on any place.

pub mod add_key;
pub mod ahead_behind;
pub mod apply_commits;
pub mod blob;
pub mod board;
pub mod breadcrumbs;
pub mod changed_files;
pub mod ci;
pub mod ci_file;
pub mod columns;
pub mod comments;
pub mod commit_details;
pub mod commit_history;
pub mod commit_list;
pub mod commit_view;
pub mod conversation;
pub mod dates;
pub mod deployments;
pub mod description;
pub mod fact_lines;
pub mod facts;
pub mod facts_markdown;
pub mod forms;
pub mod illustrated_text;
pub mod inline_images;
pub mod issue_query;
pub mod issues;
pub mod item_commands;
pub mod job_commands;
pub mod job_details;
pub mod job_waits;
pub mod label_colors;
pub mod last_seen;
pub mod line_drag;
pub mod linked_items;
pub mod links;
pub mod list;
pub mod list_detail;
pub mod list_pane;
pub mod list_prelude;
pub mod list_source;
pub mod merge_request_details;
pub mod merge_request_query;
pub mod merge_state;
pub mod notes;
pub mod pipeline_marks;
pub mod pipeline_stages;
pub mod pipeline_variables;
pub mod pipelines;
pub mod preview;
pub mod profile;
pub mod programs;
pub mod project;
pub mod query_list;
pub mod reactions;
pub mod ref_choices;
pub mod ref_labels;
pub mod ref_split;
pub mod rendered_markdown;
pub mod request_limit;
pub mod revealed;
pub mod review;
pub mod scope;
pub mod secondary;
pub mod sent_quick_actions;
pub mod sheet;
pub mod sidebar;
pub mod source_lookup;
pub mod stack;
pub mod staging_area;
pub mod subscription;
pub mod test_report;
pub mod this_branch;
pub mod time_tracking;
pub mod todos;
pub mod tour;
pub mod trace;
pub mod uploads;

/// Asserts that a computation takes no more memory than it asks for.
#[cfg(test)]
fn assert_memory<D: crate::store::Derive>(what: &str, derive: &D) {
    let (_result, cost) = crate::cost::cost(|| derive.run(&|| false));
    let asked = derive.memory().max(crate::store::want::SMALL_WORK_BYTES);
    assert!(cost.peak <= asked, "{what} takes {} bytes and asks for {asked}", cost.peak);
}
