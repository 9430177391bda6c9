//! The diff of a staged change, against the file it is based on or against the current file on the branch.

use super::check::Conflict;
use crate::api::Raw;
use crate::api::commits::DiffEntry;
use crate::api::repository::GetRawBlob;
use crate::app::view::View;
use crate::domain::edits::unified_diff;
use crate::parts::repository::staging_area::{ChangeKind, StagedChange, StagingArea};
use crate::store::{Canceled, Derive, Load, Want, Work};
use crate::ui::code;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

/// The maximum size in bytes of a side for which a diff is computed.
const MAX_DIFF_BYTES: usize = 4 << 20;
/// The time after which a diff falls back to a coarser result.
const DIFF_TIMEOUT: Duration = Duration::from_secs(2);

/// The versions of a file that are compared, the older one first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Versions {
    /// The file on the branch, as it is now, and the staged one.
    #[default]
    BranchToStaged,
    /// The file that the change is based on, and the staged one.
    BaseToStaged,
    /// The file that the change is based on, and the one on the branch.
    BaseToBranch,
}

/// A state of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
enum FileState {
    Absent,
    Blob(String),
    Staged,
}

/// Returns the two compared states, older first.
fn compared_states(change: &StagedChange, conflict: Option<&Conflict>, versions: Versions) -> (FileState, FileState) {
    let base = change.base.clone().map_or(FileState::Absent, FileState::Blob);
    let mine = match (change.kind, &change.content) {
        (ChangeKind::Delete, _) => FileState::Absent,
        (_, Some(_)) => FileState::Staged,
        (_, None) => base.clone(),
    };
    let theirs = match conflict {
        None | Some(Conflict::Folder) => base.clone(),
        Some(conflict) => conflict.blob().map_or(FileState::Absent, |blob| FileState::Blob(blob.to_owned())),
    };
    match versions {
        Versions::BranchToStaged => (theirs, mine),
        Versions::BaseToStaged => (base, mine),
        Versions::BaseToBranch => (base, theirs),
    }
}

fn raw(staging_area: &StagingArea, sha: &str) -> GetRawBlob {
    GetRawBlob { id: staging_area.project.clone(), sha: sha.to_owned() }
}

/// Returns the content of a blob, if it is loaded.
pub fn blob(view: &View, staging_area: &StagingArea, sha: &str) -> Option<Arc<Raw>> {
    view.store.get(&raw(staging_area, sha)).arc()
}

/// Returns the request for the content of a blob.
pub fn want_blob(staging_area: &StagingArea, sha: &str) -> Want {
    Load::single(&raw(staging_area, sha)).into()
}

enum Bytes {
    Nothing,
    Raw(Arc<Raw>),
    Text(String),
    Base64(String),
}

impl Bytes {
    fn read(&self) -> Cow<'_, [u8]> {
        match self {
            Bytes::Nothing => Cow::Borrowed(&[]),
            Bytes::Raw(raw) => Cow::Borrowed(&raw.bytes),
            Bytes::Text(text) => Cow::Borrowed(text.as_bytes()),
            Bytes::Base64(text) => Cow::Owned(STANDARD.decode(text).unwrap_or_default()),
        }
    }
}

/// Computes the diff of a change.
struct Compare {
    key: String,
    entry: DiffEntry,
    old: Bytes,
    new: Bytes,
}

impl Derive for Compare {
    type Output = DiffEntry;

    fn key(&self) -> String {
        self.key.clone()
    }

    fn memory(&self) -> usize {
        16 * MAX_DIFF_BYTES
    }

    fn run(&self, _: Canceled<'_>) -> DiffEntry {
        let (old, new) = (self.old.read(), self.new.read());
        let mut entry = self.entry.clone();
        if old == new {
            // An empty diff says so, whatever their size and kind.
        } else if old.len() > MAX_DIFF_BYTES || new.len() > MAX_DIFF_BYTES {
            entry.too_large = Some(true);
        } else if code::is_binary(&old) || code::is_binary(&new) {
            entry.diff = "Binary files differ\n".into();
        } else {
            let [old, new] = [&old, &new].map(|bytes| String::from_utf8_lossy(bytes));
            entry.diff = unified_diff(&old, &new, DIFF_TIMEOUT);
        }
        entry
    }
}

/// A change with its two compared states.
pub struct Pair<'a> {
    staging_area: &'a StagingArea,
    change: &'a StagedChange,
    old: FileState,
    new: FileState,
}

impl<'a> Pair<'a> {
    pub fn new(
        staging_area: &'a StagingArea,
        change: &'a StagedChange,
        conflict: Option<&Conflict>,
        versions: Versions,
    ) -> Pair<'a> {
        let (old, new) = compared_states(change, conflict, versions);
        Pair { staging_area, change, old, new }
    }

    /// Compares a blob on the branch with the staged content of the change.
    pub fn with_blob(staging_area: &'a StagingArea, change: &'a StagedChange, blob: &str) -> Pair<'a> {
        Pair { staging_area, change, old: FileState::Blob(blob.to_owned()), new: FileState::Staged }
    }

    /// Returns whether both states are equal; `None` while that is not known.
    pub fn is_equal(&self, view: &View) -> Option<bool> {
        let diff = view.store.result::<DiffEntry>(&self.key())?;
        Some(diff.diff.is_empty() && diff.too_large != Some(true))
    }

    /// Returns a key that identifies the diff.
    pub fn key(&self) -> String {
        let revision = self.change.content.as_ref().map_or(0, |content| content.revision);
        let (key, path) = (self.staging_area.key("diff"), &self.change.path);
        format!("{key} {revision} {} {:?} {:?} {path}", self.change.source(), self.old, self.new)
    }

    /// Returns the content of a version; `None` while it is loading. Content that cannot be loaded counts as empty.
    fn bytes(&self, view: &View, state: &FileState) -> Option<Bytes> {
        Some(match state {
            FileState::Absent => Bytes::Nothing,
            FileState::Staged => {
                let content = self.change.content.as_ref()?;
                let text = self.staging_area.text(view, content).unwrap_or_default().to_owned();
                if content.base64 { Bytes::Base64(text) } else { Bytes::Text(text) }
            }
            FileState::Blob(sha) => match view.store.get(&raw(self.staging_area, sha)) {
                known if known.value.is_some() => Bytes::Raw(known.arc()?),
                failed if failed.error.is_some_and(|error| !error.is_temporary()) => Bytes::Nothing,
                _ => return None,
            },
        })
    }

    /// Returns the requests and work for the diff, unless it is computed.
    pub fn wants(&self, view: &View) -> Vec<Want> {
        let key = self.key();
        if !view.store.is_result_missing(&key) {
            return Vec::new();
        }
        let sides = [&self.old, &self.new];
        let loads = sides.iter().filter_map(|state| match state {
            FileState::Blob(sha) => Some(want_blob(self.staging_area, sha)),
            FileState::Absent | FileState::Staged => None,
        });
        let mut wants: Vec<Want> = loads.collect();
        let ready = |state: &&FileState| !matches!(state, FileState::Blob(_)) || self.bytes(view, state).is_some();
        if sides.iter().all(ready)
            && let (Some(old), Some(new)) = (self.bytes(view, &self.old), self.bytes(view, &self.new))
        {
            wants.push(Work::new(Compare { key, entry: self.entry(), old, new }).into());
        }
        wants
    }

    /// Returns the entry without its diff.
    fn entry(&self) -> DiffEntry {
        DiffEntry {
            old_path: self.change.source().to_owned(),
            new_path: self.change.path.clone(),
            new_file: self.old == FileState::Absent,
            deleted_file: self.new == FileState::Absent,
            renamed_file: self.change.from.is_some(),
            ..DiffEntry::default()
        }
    }

    /// Returns the diff, if it is computed.
    pub fn diff(&self, view: &View) -> Option<DiffEntry> {
        view.store.result::<DiffEntry>(&self.key()).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diff(old: &str, new: &str) -> String {
        let [old, new] = [old, new].map(|text| Bytes::Text(text.to_owned()));
        Compare { key: String::new(), entry: DiffEntry::default(), old, new }.run(&|| false).diff
    }

    #[test]
    fn diffs_use_the_server_format() {
        assert_eq!(diff("a\nb\n", "a\nc\n"), "@@ -1,2 +1,2 @@\n a\n-b\n+c\n");
        assert_eq!(diff("a\n", "a"), "@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n");
        assert_eq!(diff("a\n", "a\n"), "");
        assert_eq!(diff("a\n", "\0"), "Binary files differ\n");
        assert_eq!(diff("\0", "\0"), "");
    }
}
