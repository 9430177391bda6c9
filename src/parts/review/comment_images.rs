//! The images in comments within a diff: requested for the visible comments, and drawn over the rows that the layout of
//! the threads leaves empty for them.

use super::thread_frame::COLUMNS;
use super::thread_layout::{
    CommentWithImages, Illustration, RenderedThreads, ShownLines, TextWithImages, ThreadLayout,
};
use crate::app::view::View;
use crate::parts::repository::changed_files::Changes;
use crate::parts::text::illustrated_text::IllustratedText;
use crate::parts::text::links::TextOrigin;
use crate::store::Want;
use crate::ui::diff::Inset;
use ratatui::buffer::Buffer;
use std::collections::{BTreeMap, HashMap, HashSet};

/// The maximum number of visible comments whose images are loaded.
const MAX_ILLUSTRATED: usize = 16;
/// The maximum number of comments whose images stay when they are no longer visible.
const MAX_KEPT: usize = 64;

/// The images of the comments, by the identity of their texts.
#[derive(Default)]
pub struct CommentImages {
    texts: HashMap<String, IllustratedText>,
    /// The width and the theme that the texts were rendered for.
    rendered_for: (usize, String),
}

/// Returns the texts with images of the visible comments.
fn visible<'a>(changes: &Changes, layout: &ThreadLayout, rendered: &'a RenderedThreads) -> Vec<&'a TextWithImages> {
    let insets = changes.visible_insets().into_iter();
    let comments = insets.filter_map(|inset| layout.with_images.get(&inset.key)).flatten();
    comments.filter_map(|comment| text(rendered, comment)).take(MAX_ILLUSTRATED).collect()
}

fn text<'a>(rendered: &'a RenderedThreads, comment: &CommentWithImages) -> Option<&'a TextWithImages> {
    rendered.body(comment.thread, comment.comment)?.images.as_ref()
}

impl CommentImages {
    /// Returns the requests and computations for the images of the visible comments.
    pub fn wants(
        &self,
        view: &View,
        origin: &TextOrigin,
        (changes, layout, rendered): (&Changes, &ThreadLayout, &RenderedThreads),
        width: usize,
    ) -> Vec<Want> {
        let wants = visible(changes, layout, rendered).into_iter().filter_map(|text| {
            self.texts.get(&text.identity)?.image_wants(view, origin, &text.plain, || text.text.clone(), width)
        });
        wants.flatten().collect()
    }

    /// Updates the images of the visible comments after a store update, and the `illustrations` for the next layout.
    pub fn sync(
        &mut self,
        view: &View,
        origin: &TextOrigin,
        (changes, layout, rendered): (&Changes, &ThreadLayout, &RenderedThreads),
        width: usize,
        illustrations: &mut BTreeMap<String, Illustration>,
    ) {
        let rendered_for = (width, view.theme.name.clone());
        if self.rendered_for != rendered_for {
            *self = CommentImages { rendered_for, ..CommentImages::default() };
            illustrations.clear();
        }
        let visible = visible(changes, layout, rendered);
        if self.texts.len() + visible.len() > MAX_KEPT {
            self.texts.retain(|known, _| visible.iter().any(|text| text.identity == *known));
            illustrations.retain(|known, _| self.texts.contains_key(known));
        }
        for TextWithImages { identity, is_head, plain, .. } in visible {
            let text = self.texts.entry(identity.clone()).or_default();
            text.take(view, origin, plain, identity, width);
            let version = text.version();
            let is_known = illustrations.get(identity).is_some_and(|known| known.version == version);
            match text.illustrated(view) {
                Some(rendered) if !is_known => {
                    let shown = ShownLines::new(rendered, *is_head, view.theme);
                    illustrations.insert(identity.clone(), Illustration { version: version.to_owned(), shown });
                }
                None if version.is_empty() => _ = illustrations.remove(identity),
                // A rendering that had to make room in the store is computed again.
                _ => {}
            }
        }
    }

    /// Draws the images of the visible comments, as far as they are laid out.
    pub fn draw(
        &self,
        view: &View,
        buf: &mut Buffer,
        (changes, layout, rendered): (&Changes, &ThreadLayout, &RenderedThreads),
    ) {
        let (area, rows) = changes.drawn_insets();
        let mut out_of_view: HashSet<&String> = self.texts.keys().collect();
        for inset in changes.visible_insets() {
            for comment in layout.with_images.get(&inset.key).into_iter().flatten() {
                let Some(body) = rendered.body(comment.thread, comment.comment) else { continue };
                let Some(TextWithImages { identity, .. }) = &body.images else { continue };
                let Some(text) = self.texts.get(identity) else { continue };
                out_of_view.remove(identity);
                let illustration = layout.illustrations.get(identity);
                let of_text = illustration.map_or(body.plain.of_text, |illustration| illustration.shown.of_text);
                let line = |row: &Option<(&Inset, usize)>| {
                    let (_, row) = row.filter(|(shown, _)| shown.key == inset.key)?;
                    row.checked_sub(comment.first_row).filter(|line| *line < of_text)
                };
                let lines: Vec<Option<usize>> = rows.iter().map(line).collect();
                // The frame, and the mark of a reply.
                let left = COLUMNS / 2 * (1 + usize::from(comment.comment > 0));
                match illustration {
                    None => text.record_view(&lines),
                    // Until it is laid out again, the lines are those of another version.
                    Some(illustration) if illustration.version != text.version() => {}
                    Some(_) => text.draw(view, area, buf, &lines, u16::try_from(left).unwrap_or_default()),
                }
            }
        }
        out_of_view.into_iter().filter_map(|text| self.texts.get(text)).for_each(IllustratedText::leave_view);
    }
}
