//! Serves a local repository without writing to it.
//!
//! A bare repository of the server reads the objects of the source through `objects/info/alternates` and has copies of
//! its refs, so changes are made only in the bare repository. Only refs are copied, so a large repository takes no
//! longer.

use super::packed_refs::{HEADER, push_line};
use super::refs::{RawRef, read_refs};
use super::{Git, GitRef, lossy, memory};
use crate::rejection::Rejection;
use git2::{ErrorCode, Oid, Repository, RepositoryOpenFlags};
use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use system::files;
use system::git_folder::{self, GitFolder};

/// The namespace that records where the source's refs were last seen, to tell changes in the source from local ones.
const SEEN_REFS: &str = "refs/labscope/source/";

/// A reason why a path cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum LocalError {
    #[error("{0} does not exist")]
    Missing(String),
    #[error("{0} is not in a git repository; pass the path of one, or create one with git init")]
    NotARepository(String),
    #[error("the git repository at {path} cannot be read: {why}")]
    Unreadable { path: String, why: String },
}

/// The repository that was found at a path.
#[derive(Clone, Debug, PartialEq)]
pub struct LocalRepository {
    pub name: String,
    /// The default branch; `None` if there are no commits yet.
    pub default_branch: Option<String>,
}

/// Creates a bare repository at `target` with the refs of the repository that contains `path`, and access to its
/// objects.
///
/// # Errors
/// Fails if the path does not exist or is not inside a repository, or if git refuses the repository.
pub fn adopt(path: &Path, target: &Path) -> Result<LocalRepository, LocalError> {
    let source = open(path)?;
    create_with_alternate(&source, target).map_err(|why| unreadable(path, why))
}

/// Copies the changes of the source's refs since the last time. Refs that were changed locally stay, unless the
/// source's branch contains the local one. `remove` is called to remove each branch that was deleted in the source.
///
/// # Errors
/// Fails as [`adopt`] does.
pub fn refresh(
    path: &Path,
    target: &Path,
    mut remove: impl FnMut(&Git, &GitRef) -> Result<(), Rejection>,
) -> Result<(), LocalError> {
    let source = open(path)?;
    let mut take = || -> Result<(), Failure> {
        let git = Git::open(target, None).map_err(to_failure)?;
        let refs: BTreeMap<String, Oid> =
            refs_of(&source)?.into_iter().filter_map(|(name, id)| Some((String::from_utf8(name).ok()?, id))).collect();
        let seen = seen_refs(&git.repo)?;
        // Deletions first: a deleted ref may be in the way of a new one, such as `feat` of `feat/x`.
        for (name, id) in seen.iter().filter(|(name, _)| !refs.contains_key(*name)) {
            if let Err(why) = remove_ref(&git, name, *id, &mut remove) {
                tracing::warn!("{name} was not removed: {why}");
            }
        }
        for (name, id) in &refs {
            if let Err(why) = update_ref(&git, name, *id, seen.get(name).copied()) {
                tracing::warn!("{name} was not updated: {why}");
            }
        }
        Ok(())
    };
    take().map_err(|why| unreadable(path, why))
}

/// Returns the name of the ref that records the last seen state of `refs/heads/x`: `refs/labscope/source/heads/x`.
fn seen_name(name: &str) -> String {
    format!("{SEEN_REFS}{}", name.strip_prefix("refs/").unwrap_or(name))
}

/// Returns the source's refs by full name, as they were last seen.
fn seen_refs(bare: &Repository) -> Result<BTreeMap<String, Oid>, git2::Error> {
    let full =
        |name: Vec<u8>| Some(format!("refs/{}", std::str::from_utf8(name.strip_prefix(SEEN_REFS.as_bytes())?).ok()?));
    let seen = read_refs(bare, SEEN_REFS.trim_end_matches('/'))?;
    Ok(seen.into_iter().filter_map(|(name, id)| Some((full(name)?, id))).collect())
}

fn target_of(bare: &Repository, name: &str) -> Option<Oid> {
    bare.find_reference(name).ok()?.target()
}

/// Removes a ref that was deleted in the source, unless it was changed locally or is the default branch.
fn remove_ref(
    git: &Git,
    name: &str,
    seen: Oid,
    remove: &mut impl FnMut(&Git, &GitRef) -> Result<(), Rejection>,
) -> Result<(), Failure> {
    git.repo.find_reference(&seen_name(name))?.delete()?;
    let head = git.repo.find_reference("HEAD")?;
    if target_of(&git.repo, name) != Some(seen) || head.symbolic_target_bytes() == Some(name.as_bytes()) {
        return Ok(());
    }
    match name.strip_prefix("refs/heads/") {
        Some(branch) => remove(git, &GitRef { name: branch.to_owned(), commit: seen }).map_err(to_failure),
        None => Ok(git.repo.find_reference(name)?.delete()?),
    }
}

/// Moves a ref to its target in the source, unless it was changed or deleted locally since `seen`.
fn update_ref(git: &Git, name: &str, id: Oid, seen: Option<Oid>) -> Result<(), git2::Error> {
    let bare = &git.repo;
    let moves = match target_of(bare, name) {
        // Deleted locally; it is created again when the source's ref moves.
        None => seen != Some(id),
        Some(ours) if ours == id => false,
        Some(ours) => seen == Some(ours) || (name.starts_with("refs/heads/") && git.history_contains(id, ours)),
    };
    if moves {
        bare.reference(name, id, true, "taken over")?;
    }
    if seen != Some(id) {
        bare.reference(&seen_name(name), id, true, "seen")?;
    }
    Ok(())
}

/// Returns the name of the repository that contains `path`.
///
/// # Errors
/// Fails as [`adopt`] does.
pub fn name(path: &Path) -> Result<String, LocalError> {
    let source = open(path)?;
    let common = source.commondir().canonicalize().map_err(|why| unreadable(path, why))?;
    Ok(name_of(&source, &common))
}

/// Returns `user.name` and `user.email` as configured for a repository; the address may be empty.
pub fn identity(path: &Path) -> Option<(String, String)> {
    let config = open(path).ok()?.config().ok()?.snapshot().ok()?;
    let text = |key: &str| config.get_str(key).ok().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned);
    Some((text("user.name")?, text("user.email").unwrap_or_default()))
}

fn unreadable(path: &Path, why: impl ToString) -> LocalError {
    LocalError::Unreadable { path: path.display().to_string(), why: why.to_string() }
}

/// Opens the repository that contains a path: searches parent folders, follows `.git` files of worktrees and
/// submodules, and accepts bare repositories.
fn open(path: &Path) -> Result<Repository, LocalError> {
    if !path.exists() {
        return Err(LocalError::Missing(path.display().to_string()));
    }
    memory::limit();
    let found = git_folder::discover(path).map_err(|why| unreadable(path, why))?;
    found.as_ref().map_or(Ok(()), GitFolder::check).map_err(|why| unreadable(path, why))?;
    Repository::open_ext(path, RepositoryOpenFlags::CROSS_FS, &[] as &[&OsStr]).map_err(|error| {
        if error.code() == ErrorCode::NotFound {
            LocalError::NotARepository(path.display().to_string())
        } else {
            // The library names only the setting.
            unreadable(path, found.as_ref().and_then(unsupported_format).unwrap_or(error.message()))
        }
    })
}

/// Returns why the format of a repository is not supported, or `None` if it is.
fn unsupported_format(found: &GitFolder) -> Option<&'static str> {
    let config = found.config().ok()?;
    let extensions = config.iter().filter(|entry| entry.section == "extensions");
    extensions.rev().find_map(|entry| match (entry.key.as_str(), entry.value.as_str()) {
        ("objectformat", "sha256") => Some("its objects have SHA-256 names; labscope can read only SHA-1"),
        ("refstorage", "reftable") => {
            Some("its refs are in a reftable; git refs migrate --ref-format=files changes that")
        }
        ("partialclone", _) => Some("it is a partial clone, in which objects are missing; clone it without --filter"),
        _ => None,
    })
}

/// An error whose message is shown to the user.
type Failure = Box<dyn std::error::Error>;

fn to_failure(rejection: Rejection) -> Failure {
    rejection.body.to_string().into()
}

fn create_with_alternate(source: &Repository, target: &Path) -> Result<LocalRepository, Failure> {
    let bare = Repository::init_bare(target)?;
    let common = source.commondir().canonicalize()?;
    fs::create_dir_all(target.join("objects/info"))?;
    let objects = common.join("objects");
    fs::write(target.join("objects/info/alternates"), [objects.as_os_str().as_encoded_bytes(), b"\n"].concat())?;
    if common.join("shallow").exists() {
        fs::write(target.join("shallow"), files::read(&common.join("shallow"), super::MAX_SHALLOW)?)?;
    }

    let refs = refs_of(source)?;
    let default_branch = default_branch(source, target, &refs)?;
    if let Some(name) = &default_branch {
        // Before there are refs: libgit2 would read all of them to see whether `HEAD` is the name of a folder.
        bare.set_head(&format!("refs/heads/{name}"))?;
    }
    write_refs(target, &refs)?;
    Ok(LocalRepository { name: name_of(source, &common), default_branch })
}

/// Returns branches and tags by full name, sorted. A repository without local branches, such as a mirror, contributes its
/// remote-tracking branches instead.
fn refs_of(source: &Repository) -> Result<Vec<RawRef>, git2::Error> {
    let mut refs = read_refs(source, "refs/heads")?;
    if refs.is_empty() {
        let prefix = b"refs/remotes/";
        let mut remote = read_refs(source, "refs/remotes")?;
        // `origin` first: it has precedence over other remotes with a branch of the same name.
        remote.sort_by_key(|(name, _)| !name.starts_with(b"refs/remotes/origin/"));
        let mut known = HashSet::new();
        for (name, id) in remote {
            let rest = name.get(prefix.len()..).unwrap_or_default();
            let Some(slash) = memchr::memchr(b'/', rest) else { continue };
            let branch = rest.get(slash + 1..).unwrap_or_default();
            let name = [b"refs/heads/", branch].concat();
            if branch != b"HEAD" && known.insert(name.clone()) {
                refs.push((name, id));
            }
        }
        refs.sort();
    }
    refs.extend(read_refs(source, TAGS)?);
    Ok(refs)
}

const TAGS: &str = "refs/tags";

/// Writes refs, sorted by name, and the state in which the source has them.
fn write_refs(target: &Path, refs: &[RawRef]) -> Result<(), Failure> {
    let git = Git::open(target, None).map_err(to_failure)?;
    let (heads, tags) = refs.split_at(refs.partition_point(|(name, _)| !name.starts_with(TAGS.as_bytes())));
    // Tags are peeled, because libgit2 would otherwise parse the object of every ref before it removes one.
    let peel = |id: Oid| git.peel(id).ok().flatten().filter(|peeled| *peeled != id);
    let peeled: Vec<Option<Oid>> = tags.iter().map(|(_, id)| peel(*id)).collect();
    let peeled = || peeled.iter().copied();
    // Written into a single file, however many refs there are. Names are bytes without line ends, which git forbids.
    let mut packed = HEADER.to_vec();
    let mut add = |prefix: &str, name: &[u8], id: Oid, peeled: Option<Oid>| {
        push_line(&mut packed, &[prefix.as_bytes(), name].concat(), id, peeled);
    };
    let seen = |name: &[u8]| name.strip_prefix(b"refs/").unwrap_or(name).to_vec();
    heads.iter().for_each(|(name, id)| add("", name, *id, None));
    // Between the two: `refs/labscope`.
    heads.iter().for_each(|(name, id)| add(SEEN_REFS, &seen(name), *id, None));
    tags.iter().zip(peeled()).for_each(|((name, id), peeled)| add(SEEN_REFS, &seen(name), *id, peeled));
    tags.iter().zip(peeled()).for_each(|((name, id), peeled)| add("", name, *id, peeled));
    Ok(fs::write(target.join("packed-refs"), packed)?)
}

/// Adds the digits of an ID. Formatting each of its bytes would take longer than all else that is done with a ref.
pub(super) fn push_hex(out: &mut Vec<u8>, id: Oid) {
    for byte in id.as_bytes() {
        for half in [byte >> 4, byte & 15] {
            out.push(if half < 10 { b'0' + half } else { b'a' + half - 10 });
        }
    }
}

/// Returns the branch that HEAD names. If HEAD is detached, returns a branch that contains its commit, or creates one
/// named after the hash.
fn default_branch(source: &Repository, target: &Path, refs: &[RawRef]) -> Result<Option<String>, Failure> {
    let branch = |name| std::str::from_utf8(<[u8]>::strip_prefix(name, b"refs/heads/")?).ok();
    let branches: Vec<(&str, Oid)> = refs.iter().filter_map(|(name, id)| Some((branch(name)?, *id))).collect();
    let head = source.find_reference("HEAD")?;
    if let Some(name) = head.symbolic_target_bytes().and_then(|name| name.strip_prefix(b"refs/heads/")) {
        let name = lossy(name);
        if branches.iter().any(|(branch, _)| *branch == name) {
            return Ok(Some(name));
        }
        // HEAD names a branch without commits; another branch may have some.
        let usual = branches.iter().find(|(name, _)| matches!(*name, "main" | "master" | "trunk"));
        return Ok(usual.or(branches.first()).map(|(name, _)| (*name).to_owned()));
    }
    let Some(commit) = head.target() else { return Ok(branches.first().map(|(name, _)| (*name).to_owned())) };
    let git = Git::open(target, None).map_err(to_failure)?;
    let at = branches.iter().find(|(_, id)| *id == commit);
    if let Some((name, _)) = at.or_else(|| branches.iter().find(|(_, id)| git.history_contains(*id, commit))) {
        return Ok(Some((*name).to_owned()));
    }
    let name: String = commit.to_string().chars().take(8).collect();
    git.repo.reference(&format!("refs/heads/{name}"), commit, false, "")?;
    Ok(Some(name))
}

/// Returns the name that users know the repository by.
fn name_of(source: &Repository, common: &Path) -> String {
    let folder: PathBuf = match source.workdir() {
        Some(work) => work.to_path_buf(),
        None => common.to_path_buf(),
    };
    // The remote determines the name; the folder of a clone can have any name.
    let remote = source.find_remote("origin").ok();
    let url = remote.as_ref().and_then(|remote| remote.url().ok()).unwrap_or_default();
    let cloned = url.trim_end_matches('/').rsplit(['/', ':']).next().unwrap_or_default().to_owned();
    let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let name = if cloned.is_empty() { name } else { cloned };
    let name = name.strip_suffix(".git").filter(|rest| !rest.is_empty()).unwrap_or(&name).to_owned();
    if name.is_empty() { "repository".into() } else { name }
}
