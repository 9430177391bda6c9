//! Rules and parsers without a screen: archives, test reports, public keys, queries.

pub mod commit_query;
pub mod junit;
pub mod merge_status;
pub mod public_key;
pub mod unpack;
pub mod zip;
