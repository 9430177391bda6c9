//! A file of a branch as a document of the editor: read from the server or the staging area, and saved to the staging
//! area.

use super::{Base, StagedFile, StagingArea, failure, history, last_commit};
use crate::api::repository::GetRawBlob;
use crate::app::context::Cx;
use crate::app::overlay::editor::{Document, Editor, Origin};
use crate::app::tone::Tone;
use crate::app::view::View;
use crate::store::{Load, Want};
use crate::ui::text::sanitize;

/// The origin of a text that starts from the staged content.
const STAGED: &str = "staged";
/// The origin of a text that starts empty.
const NEW: &str = "new";

/// A file that is edited for the staging area.
pub struct StagedDocument {
    staging_area: StagingArea,
    path: String,
    /// The blob at the path when it was last read from the branch; `None` for a new file.
    blob: Option<String>,
    key: String,
    is_link: bool,
}

impl StagedDocument {
    /// Creates a document for the file at a path; a new file if `blob` is `None`.
    pub fn new(staging_area: StagingArea, path: &str, blob: Option<String>) -> StagedDocument {
        let key = staging_area.typed_key(path);
        StagedDocument { staging_area, path: path.to_owned(), blob, key, is_link: false }
    }

    /// Sets whether the file is a symbolic link.
    pub fn link(self, is_link: bool) -> StagedDocument {
        StagedDocument { is_link, ..self }
    }

    /// Opens the document in the editor, or in an external one if `outside` is true.
    pub fn open(self, outside: bool, cx: &mut Cx) {
        let document = Box::new(self);
        cx.open(if outside { Editor::external(document) } else { Editor::new(document) });
    }

    fn raw(&self) -> Option<GetRawBlob> {
        self.blob.as_ref().map(|sha| GetRawBlob { id: self.staging_area.project.clone(), sha: sha.clone() })
    }
}

/// Opens a file of a branch in an editor, with its staged content if there is any.
pub fn open(staging_area: StagingArea, path: &str, blob: Option<String>, outside: bool, cx: &mut Cx) {
    StagedDocument::new(staging_area, path, blob).open(outside, cx);
}

impl Document for StagedDocument {
    fn path(&self) -> &str {
        &self.path
    }

    fn key(&self) -> &str {
        &self.key
    }

    fn verb(&self) -> &'static str {
        "stage"
    }

    fn note(&self) -> Option<String> {
        self.is_link.then(|| "This is a symbolic link: its text is the path that it leads to.".to_owned())
    }

    fn takes_unchanged(&self) -> bool {
        self.blob.is_none()
    }

    fn wants(&self, _view: &View) -> Vec<Want> {
        let Some(raw) = self.raw() else { return Vec::new() };
        let history = history(&self.staging_area.project, &self.staging_area.branch, &self.path);
        vec![Load::single(&raw).into(), Load::list(&history, 1).into()]
    }

    fn read(&self, view: &View) -> Option<Result<Origin, String>> {
        let staging = match self.staging_area.read(view) {
            Ok(staging) => staging,
            Err(why) => return Some(Err(why)),
        };
        if let Some(content) = staging.at(&self.path).and_then(|change| change.content.as_ref()) {
            let bytes = self.staging_area.bytes(view, content);
            let lost = || "The staged text is no longer on disk; D discards the change.".to_owned();
            return Some(bytes.map(|bytes| Origin { name: STAGED.into(), bytes }).ok_or_else(lost));
        }
        let Some(raw) = self.raw() else { return Some(Ok(Origin { name: NEW.into(), bytes: Vec::new() })) };
        match view.store.get(&raw).value {
            Some(found) => Some(Ok(Origin { name: raw.sha, bytes: found.bytes.clone() })),
            None => failure(view, &raw).map(Err),
        }
    }

    fn save(&self, origin: &str, text: String, cx: &mut Cx) -> Result<(), String> {
        let staged = self.staging_area.read(&cx.view)?.at(&self.path).is_some_and(|change| change.content.is_some());
        let base = match origin {
            STAGED | NEW => None,
            // The staged change has its own base, which is no newer.
            _ if staged => None,
            blob => {
                let current = self.blob.as_deref() == Some(blob);
                let last = || last_commit(&cx.view, &self.staging_area.project, &self.staging_area.branch, &self.path);
                Some(Base { blob: Some(blob.to_owned()), last_commit: current.then(last).flatten() })
            }
        };
        self.staging_area.put(&self.path, base, StagedFile::Text(text), cx)?;
        let (path, branch) = (sanitize(&self.path), sanitize(&self.staging_area.branch));
        cx.say(Tone::Good, format!("Staged {path} for {branch}; ‹go.stage› shows the staged changes."));
        Ok(())
    }
}
