//! What the branch has now at the paths of what is staged, and where that is another thing than was changed.

use crate::api::Endpoint;
use crate::api::repository::{EntryKind, ListTree};
use crate::app::pane::View;
use crate::parts::staging_area::{Change, Kind, StagingKey};
use crate::store::{Load, Want};

/// Pages of a folder that are looked through for a file.
const PAGES: u32 = 100;

/// What is at a path of the branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BranchFile {
    /// Nobody knows yet.
    Asked,
    /// It cannot be found out: the server does not say, or the folder is too large.
    Unknown,
    Nothing,
    Blob(String),
    /// A folder or a submodule.
    Other,
}

/// Why a change cannot be made as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Conflict {
    /// The file has another content than it was made from: that blob.
    Changed(String),
    /// The file is gone.
    Gone,
    /// There is a file where a new one is to be: that blob.
    Exists(String),
    /// There is a folder where a file is to be.
    Folder,
}

impl Conflict {
    /// Their side, if it is a text.
    pub fn blob(&self) -> Option<&str> {
        match self {
            Conflict::Changed(blob) | Conflict::Exists(blob) => Some(blob),
            Conflict::Gone | Conflict::Folder => None,
        }
    }

    /// In words, of a path on a branch.
    pub fn words(&self, kind: Kind, branch: &str) -> String {
        match self {
            Conflict::Changed(_) => format!("has changed on {branch}"),
            Conflict::Gone => format!("is gone from {branch}"),
            Conflict::Exists(_) if kind == Kind::Move => format!("exists on {branch}: the move would overwrite it"),
            Conflict::Exists(_) => format!("now exists on {branch}"),
            Conflict::Folder => format!("is a folder on {branch}"),
        }
    }
}

fn listing(desk: &StagingKey, path: &str) -> ListTree {
    ListTree {
        id: desk.project.clone(),
        path: path.rsplit_once('/').map(|(folder, _)| folder.to_owned()),
        r#ref: Some(desk.branch.clone()),
        recursive: None,
    }
}

/// The branch itself, which may be gone.
pub fn branch(desk: &StagingKey) -> crate::api::branches::GetBranch {
    crate::api::branches::GetBranch { id: desk.project.clone(), branch: desk.branch.clone() }
}

/// Returns why the branch cannot be committed to, if it is known that it is not there.
pub fn branch_is_missing(view: &View, desk: &StagingKey) -> bool {
    view.store.error_of(&branch(desk).request()).is_some_and(crate::api::Error::is_missing)
}

/// Returns what is needed to know what is at `path`.
pub fn want(view: &View, desk: &StagingKey, path: &str) -> Want {
    let listing = listing(desk, path);
    let known = view.store.list(&listing).pages();
    let more = there(view, desk, path) == BranchFile::Asked;
    Load::list(&listing, (known + u32::from(more)).clamp(1, PAGES)).into()
}

/// Returns what is at `path`, as far as is known.
pub fn there(view: &View, desk: &StagingKey, path: &str) -> BranchFile {
    let rows = view.store.list(&listing(desk, path));
    if let Some(entry) = rows.iter().find(|entry| entry.path == path) {
        return if entry.r#type == EntryKind::Blob { BranchFile::Blob(entry.id.clone()) } else { BranchFile::Other };
    }
    match rows.error {
        // Without its folder there is no file. Servers say the same of a branch that is not there.
        Some(error) if error.is_missing() && !branch_is_missing(view, desk) => BranchFile::Nothing,
        Some(_) => BranchFile::Unknown,
        None if !rows.known => BranchFile::Asked,
        None if !rows.more => BranchFile::Nothing,
        None if rows.pages() >= PAGES => BranchFile::Unknown,
        None => BranchFile::Asked,
    }
}

/// A change beside what the branch has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// What is where the change comes from.
    pub source: BranchFile,
    pub clash: Option<Conflict>,
}

/// Compares a change with the branch.
pub fn check(view: &View, desk: &StagingKey, change: &Change) -> Check {
    let source = there(view, desk, change.source());
    let clash = match (change.kind, &source) {
        (_, BranchFile::Asked | BranchFile::Unknown) | (Kind::Create, BranchFile::Nothing) => None,
        (Kind::Create, BranchFile::Blob(blob)) => Some(Conflict::Exists(blob.clone())),
        (_, BranchFile::Other) => Some(Conflict::Folder),
        (_, BranchFile::Nothing) => Some(Conflict::Gone),
        (_, BranchFile::Blob(blob)) if change.base.as_ref() != Some(blob) => Some(Conflict::Changed(blob.clone())),
        (Kind::Move, BranchFile::Blob(_)) => match there(view, desk, &change.path) {
            BranchFile::Blob(blob) => Some(Conflict::Exists(blob)),
            BranchFile::Other => Some(Conflict::Folder),
            BranchFile::Asked | BranchFile::Unknown | BranchFile::Nothing => None,
        },
        (_, BranchFile::Blob(_)) => None,
    };
    Check { source, clash }
}
