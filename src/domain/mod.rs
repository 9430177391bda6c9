//! Rules and parsers without a screen: archives, test reports, public keys, pointers of Git LFS, queries.

pub mod commit_query;
pub mod junit;
pub mod lfs;
pub mod merge_status;
pub mod public_key;
pub mod unpack;
pub mod zip;
