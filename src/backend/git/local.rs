//! A person's own repository, served without being written to.
//!
//! A bare repository of ours reads the objects of theirs through `objects/info/alternates` and has copies of their
//! refs: whatever is changed here stays here. Nothing but refs is copied, so a large repository takes no longer.

use super::{Git, Head, lossy};
use crate::backend::reject::Reject;
use git2::{ErrorCode, Oid, Repository, RepositoryOpenFlags};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

/// Where the source's refs are kept as they were last seen, to tell its changes from those made here.
const SEEN: &str = "refs/labscope/source/";

/// Why a path cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum LocalError {
    #[error("{0} does not exist")]
    Missing(String),
    #[error("{0} is not in a git repository; give the path of one, or make one with git init")]
    NotARepository(String),
    #[error("the git repository at {path} cannot be read: {why}")]
    Unreadable { path: String, why: String },
}

/// What was found at a path.
#[derive(Clone, Debug, PartialEq)]
pub struct LocalRepository {
    /// The folder's name.
    pub name: String,
    /// `None` if there is no commit yet.
    pub default_branch: Option<String>,
}

/// Makes `target` a bare repository with the refs of the repository that `path` is in, and its objects within reach.
///
/// # Errors
/// A sentence each for a path that does not exist, that is in no repository, and for a repository that git refuses.
pub fn adopt(path: &Path, target: &Path) -> Result<LocalRepository, LocalError> {
    let source = open(path)?;
    share(&source, target).map_err(|why| unreadable(path, why))
}

/// Takes over what has changed in the refs of a repository that was adopted before. Refs that were changed here stay,
/// unless theirs has taken in ours. `remove` is called for each branch that has gone there, and removes it.
///
/// # Errors
/// As [`adopt`].
pub fn refresh(
    path: &Path,
    target: &Path,
    mut remove: impl FnMut(&Git, &Head) -> Result<(), Reject>,
) -> Result<(), LocalError> {
    let source = open(path)?;
    let mut take = || -> Result<(), Failure> {
        let git = Git::open(target, None).map_err(rejected)?;
        let refs: BTreeMap<String, Oid> =
            refs_of(&source)?.into_iter().filter_map(|(name, id)| Some((String::from_utf8(name).ok()?, id))).collect();
        let seen = seen_refs(&git.repo)?;
        // First what has gone: its name may stand in the way of a new one, as `feat` in that of `feat/x`.
        for (name, id) in seen.iter().filter(|(name, _)| !refs.contains_key(*name)) {
            if let Err(why) = forget(&git, name, *id, &mut remove) {
                tracing::warn!("{name} stays: {why}");
            }
        }
        for (name, id) in &refs {
            if let Err(why) = follow(&git, name, *id, seen.get(name).copied()) {
                tracing::warn!("{name} is not taken over: {why}");
            }
        }
        Ok(())
    };
    take().map_err(|why| unreadable(path, why))
}

/// Returns where `refs/heads/x` was when it was last looked at: `refs/labscope/source/heads/x`.
fn seen_name(name: &str) -> String {
    format!("{SEEN}{}", name.strip_prefix("refs/").unwrap_or(name))
}

/// The source's refs by full name, as they were when they were last looked at.
fn seen_refs(bare: &Repository) -> Result<BTreeMap<String, Oid>, git2::Error> {
    let mut out = BTreeMap::new();
    for reference in bare.references_glob(&format!("{SEEN}*"))? {
        let reference = reference?;
        let rest = std::str::from_utf8(reference.name_bytes()).ok().and_then(|name| name.strip_prefix(SEEN));
        out.extend(rest.zip(reference.target()).map(|(rest, id)| (format!("refs/{rest}"), id)));
    }
    Ok(out)
}

fn target_of(bare: &Repository, name: &str) -> Option<Oid> {
    bare.find_reference(name).ok()?.target()
}

/// Removes a ref that has gone from the source, unless it was changed here or is the default branch.
fn forget(
    git: &Git,
    name: &str,
    seen: Oid,
    remove: &mut impl FnMut(&Git, &Head) -> Result<(), Reject>,
) -> Result<(), Failure> {
    git.repo.find_reference(&seen_name(name))?.delete()?;
    let head = git.repo.find_reference("HEAD")?;
    if target_of(&git.repo, name) != Some(seen) || head.symbolic_target_bytes() == Some(name.as_bytes()) {
        return Ok(());
    }
    match name.strip_prefix("refs/heads/") {
        Some(branch) => remove(git, &Head { name: branch.to_owned(), commit: seen }).map_err(rejected),
        None => Ok(git.repo.find_reference(name)?.delete()?),
    }
}

/// Moves a ref to where the source has it, unless it was changed or deleted here since `seen`.
fn follow(git: &Git, name: &str, id: Oid, seen: Option<Oid>) -> Result<(), git2::Error> {
    let bare = &git.repo;
    let moves = match target_of(bare, name) {
        // Deleted here; it comes back when the source goes on with it.
        None => seen != Some(id),
        Some(ours) if ours == id => false,
        Some(ours) => seen == Some(ours) || (name.starts_with("refs/heads/") && git.holds(id, ours)),
    };
    if moves {
        bare.reference(name, id, true, "taken over")?;
    }
    if seen != Some(id) {
        bare.reference(&seen_name(name), id, true, "seen")?;
    }
    Ok(())
}

/// The name of the repository that `path` is in: its folder's.
///
/// # Errors
/// As [`adopt`].
pub fn name(path: &Path) -> Result<String, LocalError> {
    let source = open(path)?;
    let common = source.commondir().canonicalize().map_err(|why| unreadable(path, why))?;
    Ok(name_of(&source, &common))
}

/// Returns `user.name` and `user.email` as they hold in a repository; the address may be empty.
pub fn identity(path: &Path) -> Option<(String, String)> {
    let config = open(path).ok()?.config().ok()?.snapshot().ok()?;
    let text = |key: &str| config.get_str(key).ok().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned);
    Some((text("user.name")?, text("user.email").unwrap_or_default()))
}

fn unreadable(path: &Path, why: impl ToString) -> LocalError {
    LocalError::Unreadable { path: path.display().to_string(), why: why.to_string() }
}

/// Opens the repository that a path is in: upwards, past `.git` files of worktrees and submodules, bare or not.
fn open(path: &Path) -> Result<Repository, LocalError> {
    if !path.exists() {
        return Err(LocalError::Missing(path.display().to_string()));
    }
    Repository::open_ext(path, RepositoryOpenFlags::CROSS_FS, &[] as &[&OsStr]).map_err(|error| {
        if error.code() == ErrorCode::NotFound {
            LocalError::NotARepository(path.display().to_string())
        } else {
            unreadable(path, error.message())
        }
    })
}

/// What went wrong on the way, for the person's eyes.
type Failure = Box<dyn std::error::Error>;

fn rejected(reject: Reject) -> Failure {
    reject.body.to_string().into()
}

fn share(source: &Repository, target: &Path) -> Result<LocalRepository, Failure> {
    let bare = Repository::init_bare(target)?;
    let common = source.commondir().canonicalize()?;
    fs::create_dir_all(target.join("objects/info"))?;
    let objects = common.join("objects");
    fs::write(target.join("objects/info/alternates"), [objects.as_os_str().as_encoded_bytes(), b"\n"].concat())?;
    if common.join("shallow").exists() {
        fs::copy(common.join("shallow"), target.join("shallow"))?;
    }
    drop(bare);

    let refs = refs_of(source)?;
    write_refs(target, &refs)?;

    let default_branch = default_branch(source, target, &refs)?;
    let bare = Repository::open_bare(target)?;
    if let Some(name) = &default_branch {
        bare.set_head(&format!("refs/heads/{name}"))?;
    }
    Ok(LocalRepository { name: name_of(source, &common), default_branch })
}

/// Branches and tags by full name. Where there is no branch of its own, as in a mirror, the remotes' count.
fn refs_of(source: &Repository) -> Result<Vec<(Vec<u8>, Oid)>, git2::Error> {
    let read = |glob: &str| -> Result<Vec<(Vec<u8>, Oid)>, git2::Error> {
        let mut out = Vec::new();
        for reference in source.references_glob(glob)? {
            // A ref to a ref, or a broken one, is left out when nothing is at its end.
            let Ok(reference) = reference.and_then(|reference| reference.resolve().map(|end| (reference, end))) else {
                continue;
            };
            let (reference, end) = reference;
            out.extend(end.target().map(|id| (reference.name_bytes().to_vec(), id)));
        }
        Ok(out)
    };
    let mut refs = read("refs/heads/*")?;
    if refs.is_empty() {
        let prefix = b"refs/remotes/";
        let mut remote = read("refs/remotes/*")?;
        // `origin` first: of two branches of one name its own counts.
        remote.sort_by_key(|(name, _)| !name.starts_with(b"refs/remotes/origin/"));
        for (name, id) in remote {
            let rest = name.get(prefix.len()..).unwrap_or_default();
            let Some(slash) = memchr::memchr(b'/', rest) else { continue };
            let branch = rest.get(slash + 1..).unwrap_or_default();
            let name = [b"refs/heads/", branch].concat();
            if branch != b"HEAD" && !refs.iter().any(|(known, _)| *known == name) {
                refs.push((name, id));
            }
        }
    }
    refs.extend(read("refs/tags/*")?);
    refs.sort();
    Ok(refs)
}

fn write_refs(target: &Path, refs: &[(Vec<u8>, Oid)]) -> Result<(), Failure> {
    let git = Git::open(target, None).map_err(rejected)?;
    // In one file, however many there are. Names are bytes; git forbids line ends in them. Where the file did not say
    // what tags lead to, libgit2 would parse each object that a ref names before it removes one.
    let mut packed = b"# pack-refs with: peeled fully-peeled sorted \n".to_vec();
    let mut all = Vec::with_capacity(2 * refs.len());
    for (name, id) in refs {
        let peeled = name.starts_with(b"refs/tags/").then(|| git.peel(*id).ok().flatten()).flatten();
        let peeled = peeled.filter(|peeled| peeled != id);
        let seen = [SEEN.as_bytes(), name.strip_prefix(b"refs/").unwrap_or(name)].concat();
        all.extend([(name.clone(), *id, peeled), (seen, *id, peeled)]);
    }
    all.sort();
    for (name, id, peeled) in &all {
        packed.extend([format!("{id} ").as_bytes(), name, b"\n"].concat());
        packed.extend(peeled.map(|peeled| format!("^{peeled}\n")).unwrap_or_default().bytes());
    }
    Ok(fs::write(target.join("packed-refs"), packed)?)
}

/// The branch that HEAD names; with a detached HEAD one that holds its commit, else a new one called by its hash.
fn default_branch(source: &Repository, target: &Path, refs: &[(Vec<u8>, Oid)]) -> Result<Option<String>, Failure> {
    let branches: Vec<(String, Oid)> = refs
        .iter()
        .filter_map(|(name, id)| Some((std::str::from_utf8(name.strip_prefix(b"refs/heads/")?).ok()?.to_owned(), *id)))
        .collect();
    let head = source.find_reference("HEAD")?;
    if let Some(name) = head.symbolic_target_bytes().and_then(|name| name.strip_prefix(b"refs/heads/")) {
        let name = lossy(name);
        if branches.iter().any(|(branch, _)| *branch == name) {
            return Ok(Some(name));
        }
        // HEAD names a branch without a commit; another may have some.
        let usual = branches.iter().find(|(name, _)| matches!(name.as_str(), "main" | "master" | "trunk"));
        return Ok(usual.or(branches.first()).map(|(name, _)| name.clone()));
    }
    let Some(commit) = head.target() else { return Ok(branches.first().map(|(name, _)| name.clone())) };
    let git = Git::open(target, None).map_err(rejected)?;
    let at = branches.iter().find(|(_, id)| *id == commit);
    if let Some((name, _)) = at.or_else(|| branches.iter().find(|(_, id)| git.holds(*id, commit))) {
        return Ok(Some(name.clone()));
    }
    let name: String = commit.to_string().chars().take(8).collect();
    git.repo.reference(&format!("refs/heads/{name}"), commit, false, "")?;
    Ok(Some(name))
}

/// The name of the folder that a person would call the repository by.
fn name_of(source: &Repository, common: &Path) -> String {
    let folder: PathBuf = match source.workdir() {
        Some(work) => work.to_path_buf(),
        None => common.to_path_buf(),
    };
    // What it was cloned from names it; the folder of a clone may be called anything.
    let remote = source.find_remote("origin").ok();
    let url = remote.as_ref().and_then(|remote| remote.url().ok()).unwrap_or_default();
    let cloned = url.trim_end_matches('/').rsplit(['/', ':']).next().unwrap_or_default().to_owned();
    let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let name = if cloned.is_empty() { name } else { cloned };
    let name = name.strip_suffix(".git").filter(|rest| !rest.is_empty()).unwrap_or(&name).to_owned();
    if name.is_empty() { "repository".into() } else { name }
}
