//! The drawing kit: themes, text, tables, documents, diffs, traces. It draws strings and rows and knows no resource.

pub mod ansi;
pub mod layers;
pub mod theme;
