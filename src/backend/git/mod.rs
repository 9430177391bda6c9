//! A project's git repository: refs, commits, history. It is opened for each request, which takes a fifth of a
//! millisecond.
//!
//! Names and texts in a repository are bytes; invalid UTF-8 is shown with replacement characters.

mod archive;
mod blame;
mod change;
mod commit;
mod commit_graph;
mod diff;
mod graph;
mod history;
mod lines;
mod local;
mod loose;
mod memory;
mod merge;
mod object;
mod open;
mod pack_index;
mod packed_refs;
mod refs;
mod tree;
mod tree_changes;
mod walk;

pub use archive::Format;
pub use change::{Author, is_ref_name};
pub use commit::NewCommit;
pub use diff::Changes;
pub use history::{LogQuery, Page};
pub use local::{LocalError, adopt, identity, name, refresh};
pub use merge::NewMerge;
pub use object::Commit;
pub use pack_index::object_folders;
pub use packed_refs::update as update_refs;
pub use refs::CachedRefs;
pub use tree::Listing;
pub use walk::Log;

use super::cache::Cache;
use super::records::RefUpdate;
use super::rejection::Rejection;
use super::stop::Stop;
use crate::ref_updates::{self, RefUpdates};
use api::Time;
use api::commits::{Commit as CommitView, Stats};
use commit_graph::CommitGraph;
use git2::{ObjectType, Oid, Reference, Repository};
use jiff::Timestamp;
use jiff::fmt::temporal::DateTimePrinter;
use jiff::tz::{Offset, TimeZone};
use pack_index::Packs;
use std::cell::OnceCell;
use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::{Arc, Once};
use system::files;

/// The maximum size of the list of the commits at which a shallow clone ends, in bytes.
const MAX_SHALLOW: u64 = 64 << 20;

pub struct Git {
    repo: Repository,
    default_branch: Option<String>,
    /// The boundary commits of a shallow clone.
    shallow: HashSet<Oid>,
    /// The commit-graph, loaded when a walk begins.
    commit_graph: OnceCell<Option<Arc<CommitGraph>>>,
    packs: Arc<Packs>,
    stop: Stop,
    /// The list that collects ref updates, and the ID of the project they belong to; if `None`, updates are applied
    /// immediately.
    deferred: Option<(RefUpdates, u64)>,
    /// The address of the pages of commits, to which the ID is added; empty if they have none.
    commit_pages: String,
    /// Whether a hash names only commits that a branch, a tag or a merge request has.
    forgets_heads: bool,
    /// Whether objects are used only if their hash is their ID.
    verifies: bool,
    _open: open::Handle,
}

/// A branch or a tag, and the commit that it points to.
#[derive(Clone, Debug, PartialEq)]
pub struct GitRef {
    pub name: String,
    pub commit: Oid,
}

/// A ref by its short name, and the object that it points to.
#[derive(Clone, Debug, PartialEq)]
pub struct RefTarget {
    pub name: String,
    pub target: Oid,
}

/// A tag; `message` is its annotation.
#[derive(Clone, Debug, PartialEq)]
pub struct TagRef {
    pub name: String,
    /// The tag object, or the commit of a lightweight tag.
    pub target: Oid,
    pub commit: Oid,
    /// The committer date, in seconds since 1970.
    pub seconds: i64,
    /// The date of an annotated tag.
    pub tagged_at: Option<git2::Time>,
    pub message: Option<String>,
}

/// Converts text of unknown encoding for display.
pub fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Finds a ref by its full name as displayed: names that are not UTF-8 match with their replacement characters.
pub fn find_ref<'r>(repo: &'r Repository, name: &str) -> Option<Reference<'r>> {
    if let Ok(found) = repo.find_reference(name) {
        return Some(found);
    }
    let is_it = |reference: &Reference<'_>| lossy(reference.name_bytes()) == name;
    let mut all = name.contains('\u{fffd}').then(|| repo.references().ok()).flatten()?.flatten();
    all.find(is_it)
}

/// Creates an empty bare repository whose HEAD names an unborn branch.
///
/// # Errors
/// Fails with 400 for an invalid name.
pub fn create(path: &Path, head: &str) -> Result<(), Rejection> {
    let name = format!("refs/heads/{head}");
    if !change::is_ref_name(&name) {
        return Err(Rejection::bad_request("Branch name is invalid"));
    }
    if path.exists() {
        // Left by a write that was never finished: no record refers to it.
        std::fs::remove_dir_all(path).map_err(Rejection::internal_error)?;
    }
    Ok(Repository::init_bare(path)?.set_head(&name)?)
}

/// Copies the objects of a repository, as hard links if possible.
fn copy_objects(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_objects(&entry.path(), &target)?;
        } else if !target.exists() && std::fs::hard_link(entry.path(), &target).is_err() {
            std::fs::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}

impl Git {
    /// Creates a bare repository with the branches and tags of this one.
    ///
    /// # Errors
    /// Fails with 500 if the disk does.
    pub fn copy_to(&self, path: &Path, head: Option<&str>) -> Result<(), Rejection> {
        create(path, head.unwrap_or("main"))?;
        copy_objects(&self.repo.commondir().join("objects"), &path.join("objects"))
            .map_err(Rejection::internal_error)?;
        let copy = Repository::open_bare(path)?;
        for reference in self.repo.references()?.flatten() {
            let is_copied = reference.is_branch() || reference.is_tag();
            if let (true, Ok(name), Some(target)) = (is_copied, reference.name(), reference.target()) {
                copy.reference(name, target, true, "fork")?;
            }
        }
        Ok(())
    }

    /// Opens the repository in a folder.
    ///
    /// # Errors
    /// Fails with 500 if it does not exist or is damaged, and with 503 if it is open too often.
    pub fn open(path: &Path, default_branch: Option<&str>) -> Result<Git, Rejection> {
        static UNVERIFIED: Once = Once::new();
        // Like stock git: hashing each object takes longer than reading it.
        UNVERIFIED.call_once(|| git2::opts::strict_hash_verification(false));
        memory::limit();
        let open = open::Handle::new(path)?;
        let packs = pack_index::check(&path.join("objects"))?;
        let repo = Repository::open_bare(path)?;
        let shallow = files::read_text(&path.join("shallow"), MAX_SHALLOW).unwrap_or_default();
        let shallow = shallow.lines().filter_map(|id| Oid::from_str(id).ok()).collect();
        let default_branch = default_branch.map(str::to_owned);
        let commit_graph = OnceCell::new();
        let (stop, commit_pages) = (Stop::default(), String::new());
        Ok(Git {
            repo,
            default_branch,
            shallow,
            commit_graph,
            packs,
            stop,
            deferred: None,
            commit_pages,
            forgets_heads: false,
            verifies: false,
            _open: open,
        })
    }

    /// Returns the commit-graph; not used for shallow clones, because it does not know their boundary, and not if objects are
    /// verified, which it is not.
    fn commit_graph(&self) -> Option<&Arc<CommitGraph>> {
        let is_used = self.shallow.is_empty() && !self.verifies;
        let read = || CommitGraph::of(&self.repo.path().join("objects")).filter(|_| is_used);
        self.commit_graph.get_or_init(read).as_ref()
    }

    /// Returns a handle that collects ref updates instead of applying them, and reads refs as if they were applied.
    pub fn with_deferred_updates(self, ref_updates: &RefUpdates, project: u64) -> Git {
        Git { deferred: Some((ref_updates.clone(), project)), ..self }
    }

    /// Updates a ref, or adds the update to the collected ones.
    pub fn set_ref(&self, name: &str, from: Option<Oid>, to: Option<Oid>) -> Result<(), Rejection> {
        match &self.deferred {
            Some((ref_updates, project)) => {
                let (from, to) = (from.map(|id| id.to_string()), to.map(|id| id.to_string()));
                ref_updates.push(RefUpdate::Ref { project: *project, name: name.to_owned(), from, to });
                Ok(())
            }
            None => Ok(ref_updates::set_ref(&self.repo, name, from, to)?),
        }
    }

    /// Returns the target of a ref, including collected updates.
    pub fn target(&self, name: &str) -> Option<Oid> {
        let planned = self.deferred.as_ref().and_then(|(ref_updates, project)| ref_updates.planned(*project, name));
        planned.unwrap_or_else(|| find_ref(&self.repo, name)?.resolve().ok()?.target())
    }

    /// Returns a handle whose long walks end when `stop` is set.
    pub fn with_stop(self, stop: &Stop) -> Git {
        Git { stop: stop.clone(), ..self }
    }

    /// Returns a handle that uses objects only if their hash is their ID.
    pub fn verifying(self) -> Git {
        Git { verifies: true, ..self }
    }

    /// Returns a handle for which a hash names only commits that a branch, a tag or a merge request has.
    pub fn forgetting_heads(self, forgets_heads: bool) -> Git {
        Git { forgets_heads, ..self }
    }

    /// Returns a handle that shows commits with the address of their page.
    pub fn with_commit_pages(self, commit_pages: String) -> Git {
        Git { commit_pages, ..self }
    }

    /// Returns the underlying libgit2 handle.
    pub fn repo(&self) -> &Repository {
        &self.repo
    }

    /// Returns the head of the default branch; `None` while the repository is empty.
    pub fn default_head(&self) -> Option<Oid> {
        self.branch_head(self.default_branch.as_deref()?)
    }

    pub fn branch_head(&self, name: &str) -> Option<Oid> {
        let target = self.target(&format!("refs/heads/{name}"))?;
        self.peel(target).ok()?
    }

    /// Points HEAD at a branch.
    pub fn set_head(&self, branch: &str) -> Result<(), Rejection> {
        match &self.deferred {
            Some((ref_updates, project)) => {
                ref_updates.push(RefUpdate::Head { project: *project, branch: branch.to_owned() });
                Ok(())
            }
            None => Ok(self.repo.set_head(&format!("refs/heads/{branch}"))?),
        }
    }

    /// Adds the objects of another repository, such as a fork, as an alternate of this handle.
    pub fn add_alternate(&self, objects: &Path) -> Option<()> {
        pack_index::check(objects).ok()?;
        self.repo.odb().ok()?.add_disk_alternate(objects.to_str()?).ok()
    }

    pub fn tag(&self, name: &str) -> Option<TagRef> {
        self.tag_at(name.to_owned(), self.target(&format!("refs/tags/{name}"))?).ok()?
    }

    /// Returns the commit that a branch, a tag, `HEAD` or a hash (whole, or at least four digits) names. The full name of
    /// a ref (`refs/heads/…`, `refs/tags/…`) tells a tag from a branch of the same name.
    pub fn resolve(&self, name: &str) -> Option<Oid> {
        if name == "HEAD" {
            return self.default_head();
        }
        let branch = name.strip_prefix("refs/heads/").and_then(|branch| self.branch_head(branch));
        let tag = || self.tag(name.strip_prefix("refs/tags/")?).map(|tag| tag.commit);
        let full = branch.or_else(tag);
        full.or_else(|| self.branch_head(name))
            .or_else(|| self.tag(name).map(|tag| tag.commit))
            .or_else(|| self.by_hash(name))
    }

    /// Returns the commit of a ref or hash, or of the default branch if there is no name. An empty name matches
    /// nothing.
    ///
    /// # Errors
    /// Fails with 404 for `what` if it does not exist.
    pub fn commit_at(&self, name: Option<&str>, what: &str) -> Result<Commit, Rejection> {
        let id = match name {
            Some(name) => self.resolve(name),
            None => self.default_head(),
        };
        let commit = id.and_then(|id| self.find_commit(id).ok());
        commit.ok_or_else(|| Rejection::not_found(what))
    }

    fn by_hash(&self, hash: &str) -> Option<Oid> {
        let is_hash = (4..=40).contains(&hash.len()) && hash.bytes().all(|b| b.is_ascii_hexdigit());
        if !is_hash {
            return None;
        }
        let short = Oid::from_str(hash).ok()?;
        let commit = self.peel(self.repo.odb().ok()?.exists_prefix(short, hash.len()).ok()?).ok()??;
        Some(commit).filter(|commit| !self.forgets_heads || self.is_in_history(*commit))
    }

    /// Returns whether a branch, a tag or a merge request has a commit.
    fn is_in_history(&self, commit: Oid) -> bool {
        let Ok(refs) = self.all_refs() else { return false };
        let mut heads = refs.iter().filter(|(name, _)| !name.starts_with("refs/keep-around/")).map(|(_, id)| *id);
        heads.any(|head| self.peel(head).ok().flatten().is_some_and(|head| self.history_contains(head, commit)))
    }

    /// Returns the hash and the bytes of a blob.
    ///
    /// # Errors
    /// Fails with 404 if there is no blob with that hash, with 413 if it is too large, and with [`Rejection::damaged`] if
    /// it cannot be read.
    pub fn blob(&self, sha: &str) -> Result<(Oid, Vec<u8>), Rejection> {
        let missing = || Rejection::not_found("Blob");
        let is_hash = (4..=40).contains(&sha.len()) && sha.bytes().all(|b| b.is_ascii_hexdigit());
        if !is_hash {
            return Err(missing());
        }
        let short = Oid::from_str(sha).map_err(|_| missing())?;
        let id = self.repo.odb()?.exists_prefix(short, sha.len()).map_err(|_| missing())?;
        if self.header(id)?.1 != ObjectType::Blob {
            return Err(missing());
        }
        Ok((id, self.read_blob(id)?.content().to_vec()))
    }

    /// Returns the tag with a name and a target; `None` if the target does not lead to a commit.
    fn tag_at(&self, name: String, target: Oid) -> Result<Option<TagRef>, git2::Error> {
        let Some(commit) = self.peel(target)? else { return Ok(None) };
        let (message, tagged_at) = self.annotation(target)?.unzip();
        let (message, tagged_at) = (message.map(|text| text.trim_end().to_owned()), tagged_at.flatten());
        let seconds = self.raw_commit(commit, |raw| raw.seconds())?;
        Ok(Some(TagRef { name, target, commit, seconds, tagged_at, message }))
    }

    /// Returns the API representation of a commit.
    pub fn show(&self, id: Oid) -> Result<CommitView, Rejection> {
        Ok(self.with_page(show(self.find_commit(id)?)))
    }

    /// Returns the API representation of a commit, from the cache if possible.
    pub fn show_cached(&self, id: Oid, cache: &Cache) -> Result<CommitView, Rejection> {
        // The cache is shared by projects that have the same commits.
        Ok(self.with_page((*cache.commits.get_or_try_init(id, || self.show(id).map(Arc::new))?).clone()))
    }

    fn with_page(&self, commit: CommitView) -> CommitView {
        let page = format!("{}{}", self.commit_pages, commit.id);
        CommitView { web_url: Some(page).filter(|_| !self.commit_pages.is_empty()), ..commit }
    }

    /// Returns the API representation of a commit, with the lines that it added and deleted compared to its first
    /// parent, unless the changes exceed the bounds of trees.
    pub fn show_with_stats(&self, id: Oid) -> Result<CommitView, Rejection> {
        let stats = self.line_counts(id)?.map(|(additions, deletions)| {
            let total = additions + deletions;
            Stats { additions, deletions, total }
        });
        Ok(CommitView { stats, ..self.show(id)? })
    }
}

/// Converts a commit to its API representation.
fn show(commit: Commit) -> CommitView {
    let id = commit.id.to_string();
    let title = Some(commit.title()).filter(|title| !title.is_empty());
    let committed = time(commit.committer.at);
    let trailers = trailers(&commit.message);
    CommitView {
        short_id: id.chars().take(8).collect(),
        title: title.unwrap_or_else(|| "No commit message".to_owned()),
        author_name: commit.author.name,
        author_email: commit.author.email,
        authored_date: Some(time(commit.author.at)),
        committer_name: commit.committer.name,
        committer_email: commit.committer.email,
        committed_date: Some(committed.clone()),
        created_at: Some(committed),
        parent_ids: commit.parents.iter().map(Oid::to_string).collect(),
        trailers: Some(
            trailers.iter().map(|(key, values)| (key.clone(), values.last().cloned().unwrap_or_default())).collect(),
        ),
        extended_trailers: Some(trailers),
        message: commit.message,
        id,
        ..CommitView::default()
    }
}

/// Returns the values of each trailer of a message.
fn trailers(message: &str) -> BTreeMap<String, Vec<String>> {
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let found = git2::message_trailers_strs(message).ok();
    for (key, value) in found.iter().flat_map(|found| found.iter()) {
        all.entry(key.to_owned()).or_default().push(value.to_owned());
    }
    all
}

/// Formats a git time with its own offset: `2018-01-01T10:00:00.000+02:00`.
pub fn time(time: git2::Time) -> Time {
    let instant = Timestamp::from_second(time.seconds()).unwrap_or_default();
    let offset = Offset::from_seconds(time.offset_minutes().saturating_mul(60)).unwrap_or(Offset::UTC);
    let zoned = instant.to_zoned(TimeZone::fixed(offset));
    let text = DateTimePrinter::new().precision(Some(3)).timestamp_with_offset_to_string(&zoned.timestamp(), offset);
    Time(text)
}

#[cfg(test)]
mod tests;
