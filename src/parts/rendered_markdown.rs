//! Markdown that is rendered off the loop, for the width and the theme at hand.

use crate::app::pane::View;
use crate::store::{Canceled, Derive, Work};
use crate::ui::markdown::{self, Rendered};
use crate::ui::theme::Theme;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Columns beyond which lines of prose get hard to read.
pub const MEASURE: usize = 100;

/// Bytes that a byte of text takes once it is rendered, about.
pub const SPANS: usize = 8;

/// Names a description by its words: a reply that says the same again, as polling brings, must not make it again.
pub fn identity(description: &str) -> String {
    let mut hasher = DefaultHasher::new();
    description.hash(&mut hasher);
    format!("description {:x} of {} bytes", hasher.finish(), description.len())
}

/// A text to render.
struct RenderedMarkdown {
    key: String,
    text: String,
    width: usize,
    theme: Theme,
}

impl Derive for RenderedMarkdown {
    type Output = Rendered;

    fn key(&self) -> String {
        self.key.clone()
    }

    fn weight(&self, _: &Rendered) -> usize {
        SPANS * self.text.len()
    }

    fn run(&self, _: Canceled<'_>) -> Rendered {
        markdown::render(&self.text, self.width, &self.theme)
    }
}

/// The name of what is made of a text; `identity` is another one whenever the text is.
pub fn key(view: &View, identity: &str, width: usize) -> String {
    format!("{identity} in {width} columns, {}", view.theme.name)
}

/// Returns what is still to be done to show the text of `identity`.
pub fn work(view: &View, identity: &str, text: &str, width: usize) -> Option<Work> {
    let key = key(view, identity, width);
    view.store.lacks(&key).then(|| render(view, key, text.to_owned(), width))
}

/// Renders a text under that key.
pub fn render(view: &View, key: String, text: String, width: usize) -> Work {
    Work::new(RenderedMarkdown { key, text, width, theme: view.theme.clone() })
}

/// The rendered text, once it is made.
pub fn made<'a>(view: &View<'a>, identity: &str, width: usize) -> Option<&'a Rendered> {
    view.store.result(&key(view, identity, width))
}
