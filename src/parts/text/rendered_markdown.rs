//! Markdown rendered off the event loop, for a width and a theme.

use crate::app::view::View;
use crate::store::{Canceled, Derive, Work};
use crate::ui::code::Budget;
use crate::ui::markdown::{self, Rendered};
use crate::ui::theme::Theme;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The maximum width of prose, in columns: longer lines are hard to read.
pub const MAX_PROSE_WIDTH: usize = 100;

/// The approximate memory use of rendered text, in bytes per byte of text.
pub const BYTES_PER_BYTE: usize = 8;
/// The memory that rendering takes at most, in bytes per byte of text: its lines may be short.
pub const WORK_BYTES_PER_BYTE: usize = 128;

/// Returns an identity of a description that depends only on its text, so that polling does not render it again.
pub fn identity(description: &str) -> String {
    let mut hasher = DefaultHasher::new();
    description.hash(&mut hasher);
    format!("description {:x} of {} bytes", hasher.finish(), description.len())
}

/// A computation that renders a text.
struct RenderedMarkdown {
    key: String,
    text: String,
    width: usize,
    theme: Theme,
    /// The number of lines of each image that is drawn in place.
    image_rows: Vec<u16>,
}

impl Derive for RenderedMarkdown {
    type Output = Rendered;

    fn key(&self) -> String {
        self.key.clone()
    }

    fn weight(&self, _: &Rendered) -> usize {
        BYTES_PER_BYTE * self.text.len()
    }

    fn memory(&self) -> usize {
        WORK_BYTES_PER_BYTE * self.text.len()
    }

    fn run(&self, canceled: Canceled<'_>) -> Rendered {
        self.render(&Budget::new(canceled))
    }

    fn preview(&self) -> Option<Rendered> {
        markdown::has_code(&self.text).then(|| self.render(&Budget::none()))
    }
}

impl RenderedMarkdown {
    fn render(&self, colors: &Budget) -> Rendered {
        markdown::render_images(&self.text, self.width, &self.theme, colors, &self.image_rows)
    }
}

/// Returns the key of a rendered text; `identity` must change whenever the text does.
pub fn key(view: &View, identity: &str, width: usize) -> String {
    format!("{identity} in {width} columns, {}", view.theme.name)
}

/// Returns whether the rendered text is there, with its colors.
pub fn is_complete(view: &View, identity: &str, width: usize) -> bool {
    !view.store.is_result_missing(&key(view, identity, width))
}

/// Returns the computation that renders the text of `identity`, unless it is done.
pub fn work(view: &View, identity: &str, text: &str, width: usize) -> Option<Work> {
    let key = key(view, identity, width);
    view.store.is_result_missing(&key).then(|| render(view, key, text.to_owned(), width))
}

/// Returns the computation that renders a text under the given key.
pub fn render(view: &View, key: String, text: String, width: usize) -> Work {
    render_images(view, key, text, width, &[])
}

/// Returns the computation that renders a text with images: `image_rows` has the number of lines of each.
pub fn render_images(view: &View, key: String, text: String, width: usize, image_rows: &[u16]) -> Work {
    let (theme, image_rows) = (view.theme.clone(), image_rows.to_vec());
    Work::new(RenderedMarkdown { key, text, width, theme, image_rows })
}

/// Returns the rendered text, once it is ready; at first without the colors of its code.
pub fn rendered<'a>(view: &View<'a>, identity: &str, width: usize) -> Option<&'a Rendered> {
    view.store.result(&key(view, identity, width))
}
