//! A rendered description or comment whose uploaded images are drawn in place, once they are there, by terminals that can.

use crate::app::view::View;
use crate::parts::text::inline_images::InlineImages;
use crate::parts::text::links::TextOrigin;
use crate::parts::text::rendered_markdown;
use crate::store::Want;
use crate::ui::markdown::{Rendered, TextImage};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// The images of a text, which is shown without them at first.
#[derive(Default)]
pub struct IllustratedText {
    images: InlineImages,
    /// The places of the images in the text without them.
    plain: Vec<TextImage>,
    /// The key of the rendering with lines for the images; empty while there are none.
    key: String,
    /// The key of the rendering that is shown, the latest one that is there, and its width.
    shown: String,
    width: usize,
}

impl IllustratedText {
    /// Returns the computations for a text and the requests for its images; `identity` must change whenever the text does.
    pub fn wants(&self, view: &View, origin: &TextOrigin, identity: &str, text: &str, width: usize) -> Vec<Want> {
        let work = rendered_markdown::work(view, identity, text, width).map(Want::from);
        let images = rendered_markdown::rendered(view, identity, width)
            .and_then(|plain| self.image_wants(view, origin, plain, || text.to_owned(), width));
        work.into_iter().chain(images.into_iter().flatten()).collect()
    }

    /// Returns the requests for the images of a text that is rendered without them as `plain`, and the rendering with
    /// them; `None` if it has no images.
    pub fn image_wants(
        &self,
        view: &View,
        origin: &TextOrigin,
        plain: &Rendered,
        text: impl FnOnce() -> String,
        width: usize,
    ) -> Option<Vec<Want>> {
        let mut wants = Some(plain)
            .filter(|plain| !plain.images.is_empty())
            .map(|plain| self.images.wants(view, origin, Some(plain)))?;
        if !self.key.is_empty() && view.store.is_result_missing(&self.key) {
            let work = rendered_markdown::render_images(view, self.key.clone(), text(), width, self.images.rows());
            wants.push(work.into());
        }
        Some(wants)
    }

    /// Updates the images of the text after a store update.
    pub fn changed(&mut self, view: &View, origin: &TextOrigin, identity: &str, width: usize) {
        match rendered_markdown::rendered(view, identity, width) {
            Some(plain) => self.take(view, origin, plain, identity, width),
            None => self.shown.clear(),
        }
    }

    /// Updates the images of a text that is rendered without them as `plain`.
    pub fn take(&mut self, view: &View, origin: &TextOrigin, plain: &Rendered, identity: &str, width: usize) {
        self.images.changed(view, origin, plain);
        self.plain.clone_from(&plain.images);
        if std::mem::replace(&mut self.width, width) != width {
            self.shown.clear();
        }
        self.key = match self.images.rows() {
            [] => String::new(),
            rows => rendered_markdown::key(view, &format!("{identity} with images {rows:?}"), width),
        };
        if self.key.is_empty() || view.store.result::<Rendered>(&self.key).is_some() {
            self.shown.clone_from(&self.key);
        }
    }

    /// Returns a name of what is shown, which changes with the images.
    pub fn version(&self) -> &str {
        &self.shown
    }

    /// Returns the rendered text, with its images if they are there.
    pub fn rendered<'a>(&self, view: &View<'a>, identity: &str, width: usize) -> Option<&'a Rendered> {
        self.illustrated(view).or_else(|| rendered_markdown::rendered(view, identity, width))
    }

    /// Returns the text rendered with its images, once they are there.
    pub fn illustrated<'a>(&self, view: &View<'a>) -> Option<&'a Rendered> {
        // A single line could share the row of the heading of a comment, where no image is drawn.
        view.store.result::<Rendered>(&self.shown).filter(|rendered| rendered.lines.len() > 1)
    }

    /// Draws the images in `area`: `lines` has the line of the text in each row, which starts after `left` columns.
    pub fn draw(&self, view: &View, area: Rect, buf: &mut Buffer, lines: &[Option<usize>], left: u16) {
        match self.illustrated(view) {
            Some(rendered) => self.images.draw_lines(view, area, buf, lines, left, rendered),
            None => self.record_view(lines),
        }
    }

    /// Records which images are in the view, while the text is shown without them.
    pub fn record_view(&self, lines: &[Option<usize>]) {
        self.images.record_view(lines, &self.plain);
    }

    /// Records that no part of the text is in the view, so that its images are not loaded.
    pub fn leave_view(&self) {
        self.images.leave_view();
    }
}
