//! The old and the new version of an image next to each other, as rows of a diff.

use crate::doc::DocLine;
use crate::image::{self, Image, Screen};
use crate::line::Line;
use crate::text;
use crate::theme::{Role, Theme};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::sync::Arc;

/// Maximum number of rows of an image.
const MAX_ROWS: u16 = 16;
/// The number of columns between the two images.
const GAP: u16 = 3;

/// Both versions of an image as rows.
#[derive(Debug, Default, PartialEq)]
pub struct ImagePair {
    /// A title and the rows below it. Empty if neither version can be decoded.
    pub lines: Arc<Vec<DocLine<'static>>>,
    /// The width and height in pixels of the version that comments refer to: the new one if it exists.
    pub size: (u32, u32),
    /// The number of rows of this version.
    pub rows: u16,
}

/// Draws both versions of an image in `width` columns. Runs on a worker thread.
pub fn draw_image_pair(old: Option<&[u8]>, new: Option<&[u8]>, width: u16, theme: &Theme) -> ImagePair {
    let half = width.saturating_sub(GAP) / 2;
    let read = |bytes: Option<&[u8]>| bytes.and_then(|bytes| Some((Image::read(bytes).ok()?, bytes.len())));
    let sides = [("before:", read(old)), ("after:", read(new))];
    if half == 0 || sides.iter().all(|(_, side)| side.is_none()) {
        return ImagePair::default();
    }
    let area = Rect::new(0, 0, width, MAX_ROWS);
    let mut buf = Buffer::empty(area);
    let (mut rows, mut title, mut drawn) = (0, String::new(), ImagePair::default());
    for (at, (mark, side)) in sides.iter().enumerate() {
        let x = at as u16 * (half + GAP);
        title = text::pad(&title, usize::from(x));
        let Some((image, bytes)) = side else { continue };
        let (wide, high) = (image.width, image.height);
        let words = format!("{mark} {wide} × {high} {} {}", image.format.name(), text::bytes(*bytes as u64));
        title.push_str(&text::fit(&words, usize::from(half)));
        let fitted = image.fit(half, MAX_ROWS, Screen::default());
        rows = rows.max(fitted.rows);
        (drawn.size, drawn.rows) = ((image.width, image.height), fitted.rows);
        image::draw(&mut buf, Rect { x, width: half, ..area }, theme, &fitted);
    }
    let mut lines = vec![DocLine::new(title, theme.style(Role::Dim))];
    for row in buf.content().chunks(usize::from(width)).take(usize::from(rows)) {
        let mut line = Line::empty();
        for cell in row {
            line.push_joined(cell.symbol(), cell.style());
        }
        lines.push(line.into());
    }
    ImagePair { lines: Arc::new(lines), ..drawn }
}
