//! Checks staged changes against the branch: what it has at their paths now, and the resulting conflicts.

use crate::api::Endpoint;
use crate::api::repository::{EntryKind, ListTree};
use crate::app::view::View;
use crate::parts::repository::staging_area::{ChangeKind, StagedChange, StagingArea};
use crate::store::{Load, Want};

/// The maximum number of pages of a folder that are searched for a file.
const MAX_PAGES: u32 = 100;

/// The state of a path on the branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BranchFile {
    /// The state is not loaded yet.
    Loading,
    /// The state cannot be determined: the request failed, or the folder is too large.
    Unknown,
    Nothing,
    Blob(String),
    /// A folder or a submodule.
    Other,
}

/// The reason why a change cannot be committed as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Conflict {
    /// The file was changed; its current blob.
    Changed(String),
    /// The file was deleted.
    Gone,
    /// A file exists at the path of a new one; its blob.
    Exists(String),
    /// A folder exists at the path of a file.
    Folder,
}

impl Conflict {
    /// Returns the blob on the branch, if there is one.
    pub fn blob(&self) -> Option<&str> {
        match self {
            Conflict::Changed(blob) | Conflict::Exists(blob) => Some(blob),
            Conflict::Gone | Conflict::Folder => None,
        }
    }

    /// Describes the conflict, as the end of a sentence about the path.
    pub fn words(&self, kind: ChangeKind, branch: &str) -> String {
        match self {
            Conflict::Changed(_) => format!("has changed on {branch}"),
            Conflict::Gone => format!("is gone from {branch}"),
            Conflict::Exists(_) if kind == ChangeKind::Move => {
                format!("exists on {branch}: the move would overwrite it")
            }
            Conflict::Exists(_) => format!("now exists on {branch}"),
            Conflict::Folder => format!("is a folder on {branch}"),
        }
    }
}

fn listing(staging_area: &StagingArea, path: &str) -> ListTree {
    ListTree {
        id: staging_area.project.clone(),
        path: path.rsplit_once('/').map(|(folder, _)| folder.to_owned()),
        r#ref: Some(staging_area.branch.clone()),
        ..ListTree::default()
    }
}

/// Returns the request for the branch, which may be missing.
pub fn branch(staging_area: &StagingArea) -> crate::api::branches::GetBranch {
    crate::api::branches::GetBranch { id: staging_area.project.clone(), branch: staging_area.branch.clone() }
}

/// Returns whether the branch is known to be missing.
pub fn branch_is_missing(view: &View, staging_area: &StagingArea) -> bool {
    view.store.error_of(&branch(staging_area).request()).is_some_and(crate::api::Error::is_missing)
}

/// Returns the request that determines the state of `path`.
pub fn want(view: &View, staging_area: &StagingArea, path: &str) -> Want {
    let listing = listing(staging_area, path);
    let rows = view.store.list(&listing);
    let more = file_state(view, staging_area, path) == BranchFile::Loading;
    // The folder of a new file may not exist, which newer servers answer with 404.
    Load::list(&listing, if more { rows.pages_to_end(MAX_PAGES) } else { rows.pages().max(1) }).optional().into()
}

/// Returns the state of `path`, as far as it is loaded.
pub fn file_state(view: &View, staging_area: &StagingArea, path: &str) -> BranchFile {
    let rows = view.store.list(&listing(staging_area, path));
    if let Some(entry) = rows.iter().find(|entry| entry.path == path) {
        return if entry.r#type == EntryKind::Blob { BranchFile::Blob(entry.id.clone()) } else { BranchFile::Other };
    }
    match rows.error {
        // A missing folder means that the file does not exist. Servers give the same reply if the branch is missing.
        Some(error) if error.is_missing() && !branch_is_missing(view, staging_area) => BranchFile::Nothing,
        Some(_) => BranchFile::Unknown,
        None if !rows.is_loaded => BranchFile::Loading,
        None if !rows.has_more => BranchFile::Nothing,
        None if !rows.has_next(MAX_PAGES) => BranchFile::Unknown,
        None => BranchFile::Loading,
    }
}

/// The evidence that the branch has a change already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Done {
    No,
    Yes,
    /// The reply of the server is outstanding.
    Loading,
    /// A blob at the path: the branch has the change if it equals the staged content.
    IfEqual(String),
}

/// Returns whether the branch, as it is now, has a change that is in conflict with it.
pub fn is_done(view: &View, staging_area: &StagingArea, change: &StagedChange, conflict: &Conflict) -> Done {
    let (source, target) = (change.source(), change.path.as_str());
    if [source, target].iter().any(|path| !view.store.list(&listing(staging_area, path)).is_settled(MAX_PAGES)) {
        return Done::Loading;
    }
    match (change.kind, conflict) {
        (ChangeKind::Delete, Conflict::Gone) => Done::Yes,
        (ChangeKind::Update, Conflict::Changed(blob)) | (ChangeKind::Create, Conflict::Exists(blob)) => {
            Done::IfEqual(blob.clone())
        }
        (ChangeKind::Move, Conflict::Gone) => match (file_state(view, staging_area, target), &change.content) {
            (BranchFile::Loading, _) => Done::Loading,
            (BranchFile::Blob(blob), Some(_)) => Done::IfEqual(blob),
            (BranchFile::Blob(blob), None) if change.base.as_ref() == Some(&blob) => Done::Yes,
            _ => Done::No,
        },
        _ => Done::No,
    }
}

/// The result of checking a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// The state of the path that the change is based on.
    pub source: BranchFile,
    pub conflict: Option<Conflict>,
}

/// Checks a change against the branch.
pub fn check(view: &View, staging_area: &StagingArea, change: &StagedChange) -> Check {
    let source = file_state(view, staging_area, change.source());
    let conflict = match (change.kind, &source) {
        (_, BranchFile::Loading | BranchFile::Unknown) | (ChangeKind::Create, BranchFile::Nothing) => None,
        (ChangeKind::Create, BranchFile::Blob(blob)) => Some(Conflict::Exists(blob.clone())),
        (_, BranchFile::Other) => Some(Conflict::Folder),
        (_, BranchFile::Nothing) => Some(Conflict::Gone),
        (_, BranchFile::Blob(blob)) if change.base.as_ref() != Some(blob) => Some(Conflict::Changed(blob.clone())),
        (ChangeKind::Move, BranchFile::Blob(_)) => match file_state(view, staging_area, &change.path) {
            BranchFile::Blob(blob) => Some(Conflict::Exists(blob)),
            BranchFile::Other => Some(Conflict::Folder),
            BranchFile::Loading | BranchFile::Unknown | BranchFile::Nothing => None,
        },
        (_, BranchFile::Blob(_)) => None,
    };
    Check { source, conflict }
}
