//! Building blocks of places: lists, facts, diffs with threads, conversations, traces, files, forms. They do not depend
//! on any place.

pub mod add_key;
pub mod breadcrumbs;
pub mod ci;
pub mod comments;
pub mod facts;
pub mod forms;
pub mod items;
pub mod list;
pub mod paths;
pub mod programs;
pub mod project;
pub mod repository;
pub mod review;
pub mod secondary;
pub mod text;
pub mod tour;

/// Asserts that a computation takes no more memory than it asks for.
#[cfg(test)]
fn assert_memory<D: crate::store::Derive>(what: &str, derive: &D) {
    let (_result, cost) = crate::cost::cost(|| derive.run(&|| false));
    let asked = derive.memory().max(crate::store::want::SMALL_WORK_BYTES);
    assert!(cost.peak <= asked, "{what} takes {} bytes and asks for {asked}", cost.peak);
}
