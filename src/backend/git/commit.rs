//! Creation of commits: several file changes at once, cherry-picks and reverts. No work tree is needed.

use super::Git;
use super::change::Author;
use super::object::Signature;
use crate::rejection::Rejection;
use api::commits::CommitAction;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use git2::{FileMode, ObjectType, Oid, Tree, TreeBuilder};
use serde_json::json;
use std::collections::BTreeMap;

pub struct NewCommit<'a> {
    pub branch: &'a str,
    /// The branch that a new branch starts from.
    pub start_branch: Option<&'a str>,
    pub message: &'a str,
    pub author: Author,
    pub committer: Author,
    pub actions: &'a [CommitAction],
}

impl Git {
    /// Creates a commit on an existing or new branch.
    ///
    /// # Errors
    /// Fails with 400 and the message that GitLab servers send; nothing is changed then.
    pub fn commit(&self, new: &NewCommit<'_>) -> Result<Oid, Rejection> {
        let head = self.branch_head(new.branch);
        let parent = match (head, new.start_branch.filter(|start| *start != new.branch)) {
            (Some(_), Some(_)) => {
                let why = "already exists. Switch to that branch in order to make changes";
                return Err(Rejection::bad_request(format!("A branch called '{}' {why}", new.branch)));
            }
            (Some(head), None) => Some(head),
            (None, Some(start)) => {
                Some(self.branch_head(start).ok_or_else(|| Rejection::bad_request("Invalid reference name"))?)
            }
            // The first commit of the repository.
            (None, None) if self.repo().references_glob("refs/heads/*")?.names().next().is_none() => None,
            (None, None) => {
                return Err(Rejection::bad_request("You can only create or edit files when you are on a branch"));
            }
        };
        if !super::change::is_ref_name(&format!("refs/heads/{}", new.branch)) {
            return Err(Rejection::bad_request("Branch name is invalid"));
        }
        let base = match parent {
            Some(parent) => self.tree(parent)?,
            None => self.empty_tree()?,
        };
        let tree = self.apply(new.actions, &base, parent)?;
        let signatures = (new.author.signature(), new.committer.signature());
        self.commit_to_branch(new.branch, head, &signatures, new.message, &tree, parent)
    }

    pub(super) fn empty_tree(&self) -> Result<Tree<'_>, Rejection> {
        Ok(self.repo().find_tree(self.repo().treebuilder(None)?.write()?)?)
    }

    /// Writes a commit and moves the branch to it. Writes are serialized, so the branch cannot move in the meantime.
    fn commit_to_branch(
        &self,
        branch: &str,
        head: Option<Oid>,
        (author, committer): &(Signature, Signature),
        message: &str,
        tree: &Tree<'_>,
        parent: Option<Oid>,
    ) -> Result<Oid, Rejection> {
        let name = format!("refs/heads/{branch}");
        if head.is_none() && self.has_conflicting_ref(&name) {
            return Err(Rejection::bad_request("Branch name is invalid"));
        }
        let id = self.write_commit((author, committer), message, tree.id(), parent.as_slice())?;
        self.set_ref(&name, head, Some(id))?;
        Ok(id)
    }

    /// Returns the tree after all actions.
    fn apply(&self, actions: &[CommitAction], base: &Tree<'_>, parent: Option<Oid>) -> Result<Tree<'_>, Rejection> {
        // The state that earlier actions left at a path: its blob and mode, or nothing.
        let mut touched = TouchedPaths::new();
        for (index, action) in actions.iter().enumerate() {
            let path = normalize_path(&action.file_path)?;
            let content = || decode_content(index, action);
            let existing = self.file_at(base, &touched, &path);
            let no_such_file = || Rejection::bad_request("A file with this name doesn't exist");
            match action.action.as_str() {
                "create" | "move" if existing.is_some() => {
                    return Err(Rejection::bad_request("A file with this name already exists"));
                }
                "create" => {
                    let blob = self.repo().blob(&content()?)?;
                    touched.insert(path, Some((blob, FileMode::Blob)));
                }
                "update" => {
                    let (_, mode) = existing.ok_or_else(no_such_file)?;
                    self.check_unchanged(action, &path, parent)?;
                    let blob = self.repo().blob(&content()?)?;
                    touched.insert(path, Some((blob, mode)));
                }
                "delete" => {
                    existing.ok_or_else(no_such_file)?;
                    self.check_unchanged(action, &path, parent)?;
                    touched.insert(path, None);
                }
                "move" => {
                    let previous = action.previous_path.as_deref();
                    let from =
                        normalize_path(previous.ok_or_else(|| Rejection::error(400, "previous_path is missing"))?)?;
                    let (old, mode) = self.file_at(base, &touched, &from).ok_or_else(no_such_file)?;
                    self.check_unchanged(action, &from, parent)?;
                    let blob = match &action.content {
                        Some(_) => self.repo().blob(&content()?)?,
                        None => old,
                    };
                    touched.insert(from, None);
                    touched.insert(path, Some((blob, mode)));
                }
                "chmod" => {
                    let (blob, _) = existing.ok_or_else(no_such_file)?;
                    self.check_unchanged(action, &path, parent)?;
                    let is_program = action.execute_filemode == Some(true);
                    let mode = if is_program { FileMode::BlobExecutable } else { FileMode::Blob };
                    touched.insert(path, Some((blob, mode)));
                }
                other => return Err(Rejection::bad_request(format!("Unknown action '{other}'"))),
            }
        }
        let changes: Vec<(&str, PathState)> = touched.iter().map(|(path, state)| (path.as_str(), *state)).collect();
        let id = self.rebuild_tree(Some(base), &changes)?;
        let id = id.map_or_else(|| self.repo().treebuilder(None)?.write(), Ok)?;
        Ok(self.repo().find_tree(id)?)
    }

    /// Returns a folder after changes that are sorted by path; `None` if it is empty then. Recurses once per folder of
    /// a path, and [`normalize_path`] limits their number.
    fn rebuild_tree(&self, base: Option<&Tree<'_>>, changes: &[(&str, PathState)]) -> Result<Option<Oid>, Rejection> {
        let mut builder = self.repo().treebuilder(base)?;
        let conflict = || Rejection::bad_request("A directory with this name already exists");
        let mut by_name: BTreeMap<&str, EntryChange<'_>> = BTreeMap::new();
        for (path, state) in changes {
            match path.split_once('/') {
                Some((name, subpath)) => by_name.entry(name).or_default().nested.push((subpath, *state)),
                None => by_name.entry(path).or_default().state = Some(*state),
            }
        }
        for (name, EntryChange { state, nested }) in by_name {
            let found = builder.get(name)?.map(|entry| (entry.id(), entry.kind() == Some(ObjectType::Tree)));
            let subtree =
                found.filter(|(_, is_folder)| *is_folder).map(|(id, _)| self.repo().find_tree(id)).transpose()?;
            // A file that is not removed conflicts with a folder of the same name.
            let file = state.unwrap_or_else(|| found.filter(|(_, is_folder)| !is_folder).and(EXISTING_FILE));
            let subtree_id = match nested.is_empty() {
                true => subtree.map(|tree| tree.id()),
                false => self.rebuild_tree(subtree.as_ref(), &nested)?,
            };
            match (file, subtree_id) {
                (Some(_), Some(_)) => return Err(conflict()),
                (Some((id, mode)), None) if state.is_some() => insert_entry(&mut builder, name, id, mode)?,
                (Some(_), None) => {}
                (None, Some(id)) => insert_entry(&mut builder, name, id, FileMode::Tree)?,
                (None, None) if found.is_some() => builder.remove(name)?,
                (None, None) => {}
            }
        }
        Ok(if builder.is_empty() { None } else { Some(builder.write()?) })
    }

    /// Returns the file at a path, as earlier actions left it, or else as it is in `base`.
    fn file_at(&self, base: &Tree<'_>, touched: &TouchedPaths, path: &str) -> PathState {
        if let Some(state) = touched.get(path) {
            return *state;
        }
        let entry = base.get_path(std::path::Path::new(path)).ok()?;
        let mode = match entry.filemode() {
            0o100755 => FileMode::BlobExecutable,
            0o120000 => FileMode::Link,
            _ => FileMode::Blob,
        };
        (entry.kind() == Some(git2::ObjectType::Blob)).then_some((entry.id(), mode))
    }

    /// Refuses to overwrite changes that the author has not seen.
    fn check_unchanged(&self, action: &CommitAction, path: &str, parent: Option<Oid>) -> Result<(), Rejection> {
        let known = action.last_commit_id.as_deref().filter(|id| !id.is_empty());
        let (Some(known), Some(parent)) = (known, parent) else { return Ok(()) };
        if self.last_change(parent, path)?.is_none_or(|last| last.to_string() == known) {
            return Ok(());
        }
        Err(Rejection::bad_request(format!("The file has changed since you started editing it: {path}")))
    }

    /// Cherry-picks a commit onto the head of a branch.
    ///
    /// # Errors
    /// Fails with 404 if the branch does not exist, and with 400 if the changes conflict or change nothing.
    pub fn cherry_pick(
        &self,
        commit: Oid,
        branch: &str,
        message: Option<&str>,
        committer: &Author,
    ) -> Result<Oid, Rejection> {
        let head = self.branch_head(branch).ok_or_else(|| Rejection::not_found("Branch"))?;
        let (picked, onto) = (self.find_commit(commit)?, self.tree(head)?);
        let refused = |code: &str| Rejection {
            status: 400,
            body: json!({
                "message": "Sorry, we cannot cherry-pick this commit automatically. \
                    A cherry-pick may have already been performed with this commit, or a more recent commit may have \
                    updated some of its content.",
                "error_code": code,
            }),
        };
        let tree = self.apply_commit(&picked, &onto).ok().flatten().ok_or_else(|| refused("conflict"))?;
        if tree == onto.id() {
            return Err(refused("empty"));
        }
        let tree = self.repo().find_tree(tree)?;
        let message = match message.filter(|message| !message.trim().is_empty()) {
            Some(message) => message.to_owned(),
            None => format!("{}\n\n(cherry picked from commit {commit})", picked.message.trim_end()),
        };
        let signatures = (picked.author, committer.signature());
        self.commit_to_branch(branch, Some(head), &signatures, &message, &tree, Some(head))
    }

    /// Reverts the changes of a commit, compared to its first parent, on the head of a branch.
    ///
    /// # Errors
    /// Fails with 404 if the branch does not exist, and with 400 if the changes conflict or change nothing.
    pub fn revert(&self, commit: Oid, branch: &str, message: &str, by: &Author) -> Result<Oid, Rejection> {
        let head = self.branch_head(branch).ok_or_else(|| Rejection::not_found("Branch"))?;
        let (reverted, onto) = (self.find_commit(commit)?, self.tree(head)?);
        let refused = |code: &str| Rejection {
            status: 400,
            body: json!({
                "message": "Sorry, we cannot revert this commit automatically. This commit may already have been \
                    reverted, or a more recent commit may have updated some of its content.",
                "error_code": code,
            }),
        };
        let tree = self.unapply_commit(&reverted, &onto).ok().flatten().ok_or_else(|| refused("conflict"))?;
        if tree == onto.id() {
            return Err(refused("empty"));
        }
        let signatures = (by.signature(), by.signature());
        self.commit_to_branch(branch, Some(head), &signatures, message, &self.folder(tree)?, Some(head))
    }
}

/// The state of a path: the blob of a file and its mode, or nothing.
type PathState = Option<(Oid, FileMode)>;

/// The changes of an entry of a folder.
#[derive(Default)]
struct EntryChange<'p> {
    /// The new state of the file; `None` if no action named it.
    state: Option<PathState>,
    /// The changes in the folder, by the path below it.
    nested: Vec<(&'p str, PathState)>,
}

/// The states that actions left, by path.
type TouchedPaths = BTreeMap<String, PathState>;

/// A placeholder for an existing file that no action named. Only its presence matters: its OID is never inserted.
const EXISTING_FILE: PathState = Some((Oid::ZERO_SHA1, FileMode::Blob));

/// The maximum length of a path in bytes.
const MAX_PATH_BYTES: usize = 4_096;
/// The maximum nesting depth of folders in a path.
const MAX_DEPTH: usize = 200;

/// Validates the path of a file in the repository, and returns it without leading slashes.
fn normalize_path(path: &str) -> Result<String, Rejection> {
    let path = path.trim_start_matches('/');
    if path.len() > MAX_PATH_BYTES || path.matches('/').count() > MAX_DEPTH {
        return Err(Rejection::bad_request("Path is too long"));
    }
    let bad = |name: &str| matches!(name, "" | "." | "..") || name.eq_ignore_ascii_case(".git") || name.contains('\0');
    if path.split('/').any(bad) {
        return Err(Rejection::bad_request("Path cannot include directory traversal"));
    }
    Ok(path.to_owned())
}

/// Adds an entry to a folder. libgit2 rejects names that some file system could take for `.git`, such as `git~1`.
fn insert_entry(builder: &mut TreeBuilder<'_>, name: &str, id: Oid, mode: FileMode) -> Result<(), Rejection> {
    let refused = |_| Rejection::bad_request(format!("Git does not allow a file or folder named '{name}'"));
    builder.insert(name, id, mode.into()).map(drop).map_err(refused)
}

fn decode_content(index: usize, action: &CommitAction) -> Result<Vec<u8>, Rejection> {
    let missing = || Rejection::error(400, format!("actions[{index}][content] is missing"));
    let text = action.content.as_deref().ok_or_else(missing)?;
    match action.encoding.as_deref() {
        None | Some("" | "text") => Ok(text.as_bytes().to_vec()),
        Some("base64") => {
            let compact: String = text.split_whitespace().collect();
            STANDARD.decode(compact).map_err(|_| Rejection::bad_request("content is not Base64"))
        }
        Some(_) => Err(Rejection::no_valid_value("actions[encoding]")),
    }
}
