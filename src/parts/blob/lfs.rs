//! Files in Git LFS: the repository has a pointer, and the server has what it stands for.

use super::source::Source;
use super::{BlobView, PATIENCE, work};
use crate::api::repository::GetRawFile;
use crate::app::command::Disabled;
use crate::app::pane::View;
use crate::domain::lfs::Pointer;
use crate::store::{Load, Want, Work};
use crate::ui::code::Content;
use crate::ui::text;
use std::borrow::Cow;
use work::DetectText;

/// Bytes of the largest file that is fetched to be shown; a larger one is only saved.
const SHOWN: u64 = 10_000_000;

impl BlobView {
    /// Says in which repository, and at which commit, the files are; `None` while that is not known.
    pub fn set_commit(&mut self, commit: Option<Source>) {
        self.commit = commit;
    }

    /// The pointer that the repository has in place of the file.
    fn lfs_pointer(&self, view: &View) -> Option<Pointer> {
        match view.store.result(&work::content_key(&self.file.as_ref()?.sha))? {
            Content::Text(text) => Pointer::read(text.as_str()),
            Content::Binary(_) => None,
        }
    }

    /// The pointer, what names the content that it stands for, and the request for that. A request names a path, so the
    /// content is that of one commit.
    fn stored(&self, view: &View) -> Option<(Pointer, String, GetRawFile)> {
        let (pointer, commit) = (self.lfs_pointer(view)?, self.commit.as_ref()?);
        let (path, git_ref) = (self.file.as_ref()?.path.clone(), commit.git_ref.clone());
        let id = format!("lfs {} at {}", pointer.oid, git_ref.as_deref().unwrap_or_default());
        Some((pointer, id, GetRawFile { id: commit.project.clone(), path, r#ref: git_ref, lfs: Some(true) }))
    }

    /// What names the content: the hash of the blob; where that is a pointer, what it stands for, once that is there.
    pub(super) fn id(&self, view: &View) -> Option<Cow<'_, str>> {
        let has = |id: &String| view.store.result::<Content>(&work::content_key(id)).is_some();
        let stored = self.stored(view).map(|(_, id, _)| id).filter(has);
        Some(stored.map_or(Cow::Borrowed(&*self.file.as_ref()?.sha), Cow::Owned))
    }

    /// The request for what a pointer stands for.
    pub(super) fn raw_stored(&self, view: &View) -> Option<GetRawFile> {
        self.stored(view).map(|(_, _, raw)| raw)
    }

    /// Returns whether the file is in Git LFS, and no longer shown as its pointer.
    fn is_stored(&self, view: &View) -> bool {
        matches!(self.id(view), Some(Cow::Owned(_)))
    }

    /// Returns whether what is shown is a pointer that gives way to its file, unless that cannot be had.
    pub(super) fn gives_way(&self, view: &View) -> bool {
        let stored = self.stored(view).filter(|_| !self.is_stored(view));
        stored.is_some_and(|(pointer, _, raw)| pointer.size <= SHOWN && view.store.get(&raw).error.is_none())
    }

    /// Returns whether it can be told which commit brought each line, or why not; `failed` as for
    /// [`BlobView::need_content`].
    pub fn need_lines(&self, view: &View, failed: bool) -> Result<(), Disabled> {
        self.need_text(view, failed)?;
        if self.is_stored(view) { Err("the file is in Git LFS".into()) } else { Ok(()) }
    }

    /// Returns what fetches the file that a pointer stands for, until it is there.
    pub(super) fn wants_stored(&self, view: &View) -> Vec<Want> {
        let stored = self.stored(view).filter(|(pointer, ..)| pointer.size <= SHOWN && !self.is_stored(view));
        let Some((_, sha, raw)) = stored else { return Vec::new() };
        let detect = view.store.get(&raw).arc().map(|raw| Work::new(DetectText { sha, raw }).into());
        [Load::one(&raw).after(PATIENCE).into()].into_iter().chain(detect).collect()
    }

    /// That the file is in Git LFS, and why it is not shown where it is not.
    pub(super) fn stored_fact(&self, view: &View) -> Option<String> {
        let pointer = self.lfs_pointer(view)?;
        if self.is_stored(view) {
            return Some("Git LFS".into());
        }
        let error = self.raw_stored(view).and_then(|raw| view.store.get(&raw).error);
        let why = match error {
            _ if pointer.size > SHOWN => ", too large to be shown".into(),
            Some(error) => format!(": {}", error.title()),
            None => String::new(),
        };
        Some(format!("Git LFS pointer to {}{why}", text::bytes(pointer.size)))
    }
}
