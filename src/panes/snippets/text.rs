//! The text of a snippet, shown as a file is.

use crate::api::Id;
use crate::api::Raw;
use crate::api::snippets::{GetSnippetFile, GetSnippetText, Snippet};
use crate::app::context::Cx;
use crate::app::view::View;
use crate::parts::list::draw_error;
use crate::parts::repository::blob::work::DetectText;
use crate::parts::repository::blob::{BlobView, File};
use crate::parts::text::links::{self, TextOrigin};
use crate::store::{Load, Remote, Want, Work};
use crate::ui::state;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::time::Duration;

/// The delay before the text of the snippet under a moving cursor is fetched.
const FETCH_DELAY: Duration = Duration::from_millis(80);

/// The request for the text of a snippet, or of one of its files.
#[derive(Clone)]
pub enum TextRequest {
    Only(GetSnippetText),
    File(GetSnippetFile),
}

impl TextRequest {
    /// Returns the request for the file at an index, among several.
    pub fn new(project: &Id, snippet: &Snippet, file: usize) -> TextRequest {
        let (id, snippet_id) = (project.clone(), snippet.id);
        match snippet.several_files().get(file) {
            None => TextRequest::Only(GetSnippetText { id, snippet_id }),
            Some(file) => {
                let (r#ref, file_path) = ("HEAD".to_owned(), file.path.clone());
                TextRequest::File(GetSnippetFile { id, snippet_id, r#ref, file_path })
            }
        }
    }

    pub fn load(&self) -> Load {
        match self {
            TextRequest::Only(get) => Load::single(get),
            TextRequest::File(get) => Load::single(get),
        }
    }

    pub fn known<'a>(&self, view: &View<'a>) -> Remote<'a, Raw> {
        match self {
            TextRequest::Only(get) => view.store.get(get),
            TextRequest::File(get) => view.store.get(get),
        }
    }
}

/// Returns the name of a file of a snippet.
pub fn path(snippet: &Snippet, file: usize) -> Option<&str> {
    let name = snippet.several_files().get(file).map(|file| file.path.as_str());
    name.or(snippet.file_name.as_deref()).filter(|name| !name.is_empty())
}

/// The view of a snippet's text.
#[derive(Default)]
pub struct SnippetText {
    request: Option<TextRequest>,
    /// The ID of the snippet, and the index of the shown one of its files.
    shown: (u64, usize),
    pub blob: BlobView,
}

impl SnippetText {
    /// Returns the index of the shown file of a snippet.
    pub fn file(&self, snippet: &Snippet) -> usize {
        if self.shown.0 == snippet.id { self.shown.1 } else { 0 }
    }

    /// Shows the next file of a snippet.
    pub fn next_file(&mut self, snippet: &Snippet) {
        self.shown = (snippet.id, (self.file(snippet) + 1) % snippet.several_files().len().max(1));
    }

    /// Shows a snippet, or the chosen one of its files, whose name determines how.
    pub fn show(&mut self, project: &Id, snippet: Option<&Snippet>, view: &View) {
        self.request = snippet.map(|snippet| TextRequest::new(project, snippet, self.file(snippet)));
        let file = snippet.zip(self.request.as_ref()).map(|(snippet, get)| {
            // The text may be newer than the metadata.
            let known = get.known(view);
            let changed = snippet.updated_at.as_ref().map(|at| at.as_str()).unwrap_or_default();
            let size = known.value.map(|raw| raw.bytes.len());
            let path = path(snippet, self.file(snippet)).unwrap_or_default().to_owned();
            let sha = format!("snippet {project} {} {path} {changed} {:?} {size:?}", snippet.id, known.at);
            File { path, sha }
        });
        self.blob.show(file);
        self.blob.changed(view);
    }

    /// Returns whether the text could not be read.
    pub fn has_failed(&self, view: &View) -> bool {
        self.request.as_ref().is_some_and(|get| get.known(view).error.is_some())
    }

    /// Opens the link under the cursor, if there is any.
    pub fn enter(&mut self, project: &Id, cx: &mut Cx) {
        if self.blob.need_link(&cx.view).is_err() {
            return;
        }
        let origin = TextOrigin { project: Some(project.clone()), ..TextOrigin::default() };
        match self.blob.links_here(&cx.view).as_slice() {
            [link] => self.blob.follow(&origin, &link.address, cx),
            several => links::open_comment(several, (origin.project.as_ref(), None), cx),
        }
    }

    pub fn wants(&self, view: &View) -> Vec<Want> {
        let (Some(get), Some(file)) = (&self.request, self.blob.file()) else { return Vec::new() };
        let mut wants: Vec<Want> = vec![get.load().after(FETCH_DELAY).into()];
        match get.known(view).arc() {
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
        match get.known(view).error {
            Some(error) => draw_error(view, area, buf, error),
            None => state::skeleton(buf, area, view.theme),
        }
    }
}
