//! The clone that labscope was started in, with the files to edit and the branches to check out in it, as data.

use std::path::PathBuf;

/// The clone in the current directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CloneFolder {
    /// The root of its working tree.
    pub folder: PathBuf,
    /// The name of each remote on the current server, with the full path of its project.
    pub remotes: Vec<(String, String)>,
}

/// A file of the clone in the current directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CloneFile {
    /// The root of the working tree.
    pub folder: PathBuf,
    /// The path of the file in the working tree.
    pub path: PathBuf,
    /// The line at which to open the file, from 1.
    pub line: Option<u32>,
}

/// The source of a checkout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckoutSource {
    /// A branch of the project.
    Branch(String),
    /// The head of the merge request with this IID, whose branch is in a fork.
    MergeRequest(u64),
}

/// An order to check out a branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkout {
    /// The root of the working tree.
    pub folder: PathBuf,
    /// The name of the remote that has the branch.
    pub remote: String,
    pub source: CheckoutSource,
    /// Whether uncommitted changes are stashed first; otherwise they prevent the checkout.
    pub stash: bool,
}

/// The outcome of a checkout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckoutOutcome {
    /// Success, described in a sentence.
    Done(String),
    /// The working tree has uncommitted changes; nothing was done.
    Dirty,
    /// The checkout failed for this reason; nothing was done.
    Failed(String),
}
