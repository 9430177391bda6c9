//! The text of a snippet, shown as a file is.

use crate::api::Id;
use crate::api::snippets::{GetSnippetText, Snippet};
use crate::app::command_info::Disabled;
use crate::app::view::View;
use crate::parts::blob::work::DetectText;
use crate::parts::blob::{BlobView, File};
use crate::parts::list::draw_error;
use crate::store::{Load, Want, Work};
use crate::ui::state;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::time::Duration;

/// The delay before the text of the snippet under a moving cursor is fetched.
const FETCH_DELAY: Duration = Duration::from_millis(80);

/// The view of a snippet's text.
#[derive(Default)]
pub struct SnippetText {
    request: Option<GetSnippetText>,
    pub blob: BlobView,
}

impl SnippetText {
    /// Shows a snippet, whose file name determines how.
    pub fn show(&mut self, project: &Id, snippet: Option<&Snippet>, view: &View) {
        self.request = snippet.map(|snippet| GetSnippetText { id: project.clone(), snippet_id: snippet.id });
        let file = snippet.zip(self.request.as_ref()).map(|(snippet, get)| {
            // The text may be newer than the metadata.
            let known = view.store.get(get);
            let changed = snippet.updated_at.as_ref().map(|at| at.as_str()).unwrap_or_default();
            let size = known.value.map(|raw| raw.bytes.len());
            let sha = format!("snippet {project} {} {changed} {:?} {size:?}", snippet.id, known.at);
            File { path: snippet.file_name.clone().unwrap_or_default(), sha }
        });
        self.blob.show(file);
        self.blob.changed(view);
    }

    /// Returns whether the text is there, or the reason why not.
    pub fn need_content(&self, view: &View) -> Result<(), Disabled> {
        let failed = self.request.as_ref().is_some_and(|get| view.store.get(get).error.is_some());
        self.blob.need_content(view, failed).map(|_| ())
    }

    pub fn wants(&self, view: &View) -> Vec<Want> {
        let (Some(get), Some(file)) = (&self.request, self.blob.file()) else { return Vec::new() };
        let mut wants: Vec<Want> = vec![Load::single(get).after(FETCH_DELAY).into()];
        match view.store.get(get).arc() {
            Some(_) if self.blob.is_known(view) => wants.extend(self.blob.wants_shown(view)),
            Some(raw) => wants.push(Work::new(DetectText { sha: file.sha.clone(), raw }).into()),
            None => {}
        }
        wants
    }

    pub fn draw(&self, view: &View, area: Rect, buf: &mut Buffer, focused: bool) {
        let Some(get) = &self.request else { return };
        if self.blob.text(view).is_some_and(|text| text.is_empty()) {
            return view.draw_empty(buf, area, "The snippet is empty.", "‹snippets.edit› edits it");
        }
        if self.blob.is_known(view) {
            return self.blob.draw_shown(view, area, buf, focused);
        }
        match view.store.get(get).error {
            Some(error) => draw_error(view, area, buf, error),
            None => state::skeleton(buf, area, view.theme),
        }
    }
}
