//! Rendered texts: their links, images and uploads, and the forms of dates.

pub mod dates;
pub mod illustrated_text;
pub mod inline_images;
pub mod label_colors;
pub mod line_drag;
pub mod links;
pub mod preview;
pub mod rendered_markdown;
pub mod revealed;
pub mod uploads;
