//! The drawing kit: themes, text, tables, documents, diffs and job traces. It draws strings and rows and has no
//! knowledge of API resources.

pub mod ansi;
pub mod chart;
pub mod code;
pub mod csv;
pub mod cursor_hint;
pub mod diff;
pub mod doc;
pub mod drawn;
pub mod form;
pub mod glyph;
pub mod graph;
pub mod hex;
pub mod hyperlink;
pub mod image;
pub mod input;
pub mod layers;
pub mod legend;
pub mod line;
pub mod markdown;
pub mod panels;
pub mod popup;
pub mod scroll_bar;
pub mod search;
pub mod state;
pub mod table;
pub mod text;
pub mod theme;
pub mod trace;
pub mod viewport;
pub mod word_diff;
pub mod words;

#[cfg(test)]
#[path = "../../tests/support/cost.rs"]
mod cost;

#[cfg(test)]
#[path = "../../tests/support/dice.rs"]
mod dice;
