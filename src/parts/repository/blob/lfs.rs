//! Files in Git LFS: the repository has a pointer, and the server has the file it refers to.

use super::source::TreeSource;
use super::{BlobView, FETCH_DELAY, work};
use crate::api::repository::GetRawFile;
use crate::app::command_info::Disabled;
use crate::app::view::View;
use crate::domain::lfs::LfsPointer;
use crate::store::{Load, Want, Work};
use crate::ui::code::Content;
use crate::ui::text;
use std::borrow::Cow;
use work::DetectText;

/// The maximum size of a file that is fetched for display, in bytes; a larger one can only be saved.
const MAX_SHOWN_BYTES: u64 = 10_000_000;

impl BlobView {
    /// Sets the repository and the commit of the files; `None` while unknown.
    pub fn set_commit(&mut self, commit: Option<TreeSource>) {
        self.commit = commit;
    }

    /// Returns the LFS pointer, if the file is one.
    fn lfs_pointer(&self, view: &View) -> Option<LfsPointer> {
        let content = view.store.result::<Content>(&work::content_key(&self.file.as_ref()?.sha))?;
        LfsPointer::read(content.bytes())
    }

    /// Returns the pointer, the ID of the content it refers to, and the request for that. The request names a path, so
    /// the content is that of one commit.
    fn lfs_file(&self, view: &View) -> Option<(LfsPointer, String, GetRawFile)> {
        let (pointer, commit) = (self.lfs_pointer(view)?, self.commit.as_ref()?);
        let (path, git_ref) = (self.file.as_ref()?.path.clone(), commit.ref_name());
        let id = format!("lfs {} at {}", pointer.oid, git_ref.as_deref().unwrap_or_default());
        Some((pointer, id, GetRawFile { id: commit.project.clone(), path, r#ref: git_ref, lfs: Some(true) }))
    }

    /// Returns the ID of the content: the hash of the blob, that of a part until all of it is there, or for a pointer the
    /// hash of the file that it refers to, once that is loaded.
    pub(super) fn id(&self, view: &View) -> Option<Cow<'_, str>> {
        let has = |id: &String| view.store.result::<Content>(&work::content_key(id)).is_some();
        let lfs_file = self.lfs_file(view).map(|(_, id, _)| id).filter(has);
        let sha = &self.file.as_ref()?.sha;
        let part = self.partial.as_ref().map(|(id, ..)| id).filter(|part| !has(sha) && has(part));
        Some(lfs_file.map_or(Cow::Borrowed(&**part.unwrap_or(sha)), Cow::Owned))
    }

    /// Returns the request for the file that a pointer refers to.
    pub(super) fn lfs_request(&self, view: &View) -> Option<GetRawFile> {
        self.lfs_file(view).map(|(_, _, raw)| raw)
    }

    /// Returns whether the file is in Git LFS and its content is loaded in place of the pointer.
    pub(super) fn is_lfs_file(&self, view: &View) -> bool {
        matches!(self.id(view), Some(Cow::Owned(_)))
    }

    /// Returns whether the pointer that is shown will be replaced by its file, because that is small enough and did not
    /// fail.
    pub(super) fn is_loading_lfs_file(&self, view: &View) -> bool {
        let lfs_file = self.lfs_file(view).filter(|_| !self.is_lfs_file(view));
        lfs_file
            .is_some_and(|(pointer, _, raw)| pointer.size <= MAX_SHOWN_BYTES && view.store.get(&raw).error.is_none())
    }

    /// Returns whether the lines can be blamed, or the reason why not; `failed` as for [`BlobView::need_content`].
    pub fn need_lines(&self, view: &View, failed: bool) -> Result<(), Disabled> {
        self.need_text(view, failed)?;
        if self.is_lfs_file(view) { Err("the file is in Git LFS".into()) } else { Ok(()) }
    }

    /// Returns the requests for the file that a pointer refers to, until it is loaded.
    pub(super) fn lfs_wants(&self, view: &View) -> Vec<Want> {
        let lfs_file =
            self.lfs_file(view).filter(|(pointer, ..)| pointer.size <= MAX_SHOWN_BYTES && !self.is_lfs_file(view));
        let Some((_, sha, raw)) = lfs_file else { return Vec::new() };
        let detect = view.store.get(&raw).arc().map(|raw| Work::new(DetectText { sha, raw }).into());
        // A server may lack the file: the facts tell it.
        [Load::single(&raw).after(FETCH_DELAY).optional().into()].into_iter().chain(detect).collect()
    }

    /// Returns that the file is in Git LFS, with the reason if its content is not shown.
    pub(super) fn lfs_fact(&self, view: &View) -> Option<String> {
        let pointer = self.lfs_pointer(view)?;
        if self.is_lfs_file(view) {
            return Some("Git LFS".into());
        }
        let error = self.lfs_request(view).and_then(|raw| view.store.get(&raw).error);
        let why = match error {
            Some(error) if error.is_missing() => {
                return Some(format!("Git LFS, {}, not on this server", text::bytes(pointer.size)));
            }
            _ if pointer.size > MAX_SHOWN_BYTES => ", too large to be shown".into(),
            Some(error) => format!(": {}", error.title()),
            None => String::new(),
        };
        Some(format!("Git LFS pointer to {}{why}", text::bytes(pointer.size)))
    }
}
