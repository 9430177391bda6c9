//! Rules and parsers that do not draw anything: archives, test reports, public keys, Git LFS pointers, queries, edits of
//! lines.

pub mod commit_query;
pub mod junit;
pub mod lfs;
pub mod line_edits;
pub mod merge_status;
pub mod public_key;
pub mod unpack;
pub mod zip;
