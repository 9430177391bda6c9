//! The clone that labscope was started in, with the files to edit and the branches to check out in it, as data.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The clone in the current directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CloneFolder {
    /// The root of its working tree.
    pub folder: PathBuf,
    /// The remotes on the current server.
    pub remotes: Vec<CloneRemote>,
    /// The branch that is checked out, or the reason why it cannot be read; `None` until it was read.
    pub head: Option<Result<CloneHead, String>>,
    /// The lines of threads that are read with the branch, and what they were collected from.
    pub threads: Vec<ThreadLine>,
    pub threads_key: String,
}

impl CloneFolder {
    /// Returns the line of a thread as it is in the clone, by the ID of the thread, if it was read.
    pub fn line(&self, discussion: &str) -> Option<&LineInClone> {
        self.lines()?.get(discussion)
    }

    /// Returns the lines of threads, by the IDs of the threads, if the clone was read.
    pub fn lines(&self) -> Option<&BTreeMap<String, LineInClone>> {
        Some(&self.head.as_ref()?.as_ref().ok()?.lines)
    }
}

/// Lines at a commit that a thread is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadLine {
    /// The ID of the thread; empty for lines without one.
    pub discussion: String,
    /// The path of the file in the commit of `sha`.
    pub path: String,
    /// The commit that has the lines: for lines that the merge request removes, the base of the changes.
    pub sha: String,
    /// The first and the last line, from 1.
    pub lines: (u32, u32),
    /// The head of the changes that remove the lines; `None` if they do not.
    pub removed_in: Option<String>,
}

/// The lines of a thread as they are in the working tree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct LineInClone {
    /// The path of the file, which may have been renamed.
    pub path: String,
    /// The number of the first line, from 1; of lines that were removed, that of the line in their place.
    pub line: u32,
    /// Whether they differ from those that the thread is about. Lines that the merge request removes differ if they are
    /// back.
    pub is_changed: bool,
    /// The SHA and the title of the last commit that changed them.
    pub commit: Option<(String, String)>,
    /// The last of the lines, before and now; empty if it was removed.
    pub before: String,
    pub now: String,
}

/// The branch that is checked out in a clone, and its state as of the last fetch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CloneHead {
    /// The name of the branch; `None` if none is checked out.
    pub branch: Option<String>,
    /// The SHA of its last commit; `None` before the first one.
    pub commit: Option<String>,
    /// The name of the remote that the branch is pushed to.
    pub remote: String,
    /// The name of the branch there.
    pub remote_branch: String,
    /// The SHA of the branch on the remote, if it was fetched.
    pub tracked: Option<String>,
    /// The number of commits that the remote does not have.
    pub ahead: usize,
    /// The titles of these commits, newest first, up to [`CloneHead::MAX_TITLES`].
    pub titles: Vec<String>,
    /// The number of commits of the remote that the branch does not have.
    pub behind: usize,
    /// The lines of threads, by the IDs of the threads.
    pub lines: BTreeMap<String, LineInClone>,
}

impl CloneHead {
    /// The maximum number of commits whose titles are read.
    pub const MAX_TITLES: usize = 20;
}

/// An order to push a branch with the user's git.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Push {
    /// The root of the working tree.
    pub folder: PathBuf,
    /// The name of the remote.
    pub remote: String,
    /// The address to push to. Git fails if it would push to another one.
    pub url: String,
    /// The name of the local branch.
    pub branch: String,
    /// The name of the branch on the remote.
    pub remote_branch: String,
    /// The fingerprint of the clone's configuration if the user just allowed the programs that it runs.
    pub trusted: Option<String>,
}

/// A remote of a clone, on the current server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CloneRemote {
    /// The name in the clone.
    pub name: String,
    /// The address that the project was recognized by.
    pub url: String,
    /// The full path of its project.
    pub project: String,
    /// The other address that git pushes to, or the reason why labscope does not push there; `None` if git pushes to
    /// `url`.
    pub pushed_to: Option<Result<PushAddress, String>>,
}

/// An address on the current server that git pushes to, but does not fetch from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PushAddress {
    pub url: String,
    /// The full path of the project there.
    pub project: String,
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
    /// The source branch of the merge request, in the project itself. If it is not at the head of the merge request, that
    /// head is checked out.
    Branch(String),
    /// The head of the merge request, whose branch is in a fork.
    Head,
}

/// An order to check out the branch of a merge request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkout {
    /// The root of the working tree.
    pub folder: PathBuf,
    /// The remote that has the branch.
    pub remote: CloneRemote,
    /// The IID of the merge request.
    pub iid: u64,
    pub source: CheckoutSource,
    /// The SHAs of the heads that the merge request had, as far as they are known, the current one first.
    pub heads: Vec<String>,
    /// The commit of the local branch if the user just allowed to move the branch away from it.
    pub moved_from: Option<String>,
    /// Whether uncommitted changes are stashed first; otherwise they prevent the checkout.
    pub stash: bool,
    /// The fingerprint of the clone's configuration if the user just allowed the programs that it runs.
    pub trusted: Option<String>,
    /// The working tree beside the clone that is used or removed; `None` to check out in the clone itself.
    pub worktree: Option<Worktree>,
}

impl Checkout {
    /// Creates an order that discards nothing and runs no program of the clone's configuration.
    pub fn new(folder: PathBuf, remote: CloneRemote, iid: u64, source: CheckoutSource, heads: Vec<String>) -> Checkout {
        Checkout { folder, remote, iid, source, heads, moved_from: None, stash: false, trusted: None, worktree: None }
    }
}

/// A working tree of its own for a merge request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Worktree {
    /// Checks out there, in a new working tree if there is none.
    Use(PathBuf),
    /// Removes it, unless it has changes.
    Remove(PathBuf),
}

impl Worktree {
    /// Returns its folder for a merge request: `../NAME-!12`, beside the clone or another working tree of it.
    pub fn path(clone: &Path, iid: u64) -> Option<PathBuf> {
        let name = clone.file_name()?.to_str()?;
        let name = name.rsplit_once("-!").filter(|(_, iid)| iid.parse::<u64>().is_ok()).map_or(name, |(name, _)| name);
        Some(clone.parent()?.join(format!("{name}-!{iid}")))
    }
}

/// The outcome of a checkout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckoutOutcome {
    /// Success, described in a sentence.
    Done(String),
    /// The working tree has uncommitted changes; nothing was done.
    Dirty,
    /// The commits of the local branch were replaced on the server, and it has none of its own; nothing was done.
    Replaced {
        branch: String,
        /// The SHA of its commit.
        from: String,
        /// The SHA of the commit on the server.
        to: String,
    },
    /// The clone's own configuration runs programs, which the user must allow; nothing was done.
    Untrusted {
        /// The settings, each on a line.
        reasons: Vec<String>,
        /// The fingerprint of this configuration.
        fingerprint: String,
    },
    /// The checkout failed for this reason; nothing was done.
    Failed(String),
}

/// Returns whether git accepts `name` as the name of a branch, whatever command it is given to.
pub fn is_branch_name(name: &str) -> bool {
    let is_forbidden = |c: char| c.is_ascii_control() || " ~^:?*[\\".contains(c);
    let is_component = |part: &str| !part.is_empty() && !part.starts_with('.') && !part.ends_with(".lock");
    !name.chars().any(is_forbidden)
        && !name.starts_with('-')
        && !["..", "@{"].iter().any(|pair| name.contains(pair))
        && !name.ends_with('.')
        && !["@", "HEAD"].contains(&name)
        && name.split('/').all(is_component)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worktrees_of_merge_requests_are_beside_the_clone() {
        let path = |clone: &str| Worktree::path(Path::new(clone), 12).map(|path| path.display().to_string());
        assert_eq!(path("/w/garden").as_deref(), Some("/w/garden-!12"));
        assert_eq!(path("/w/garden-!7").as_deref(), Some("/w/garden-!12"));
        assert_eq!(path("/w/garden-!x").as_deref(), Some("/w/garden-!x-!12"));
        assert_eq!(path("/"), None);
    }

    #[test]
    fn branch_names_follow_the_rules_of_git() {
        for name in ["main", "feature/42", "a@b", "x;touch${IFS}y", "émile", "v1.2", "+x"] {
            assert!(is_branch_name(name), "{name}");
        }
        for name in [
            "", "-x", "--help", "a:b", "+a:b", "a..b", "a b", "@{-1}", "@", "HEAD", "a/", "/a", "a//b", ".a", "a/.b",
            "a.lock", "a.", "a\nb", "a\u{1b}", "a~1", "a^", "a?", "a*", "a[", "a\\",
        ] {
            assert!(!is_branch_name(name), "{name:?}");
        }
    }
}
