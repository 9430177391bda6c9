//! Rules and parsers that neither draw nor know the interface: archives, test reports, public keys, Git LFS pointers, edits
//! of lines.

pub mod junit;
pub mod lfs;
pub mod line_edits;
pub mod merge_status;
pub mod parts;
pub mod public_key;
pub mod text;
pub mod zip;
