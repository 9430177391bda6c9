//! The file tree of a ref. Folders are listed when they are opened; the visible entries are kept as rows.

use crate::api::Time;
use crate::api::repository::{EntryKind, TreeEntry};
use crate::app::view::View;
use crate::parts::list::more_words;
use crate::parts::project;
use crate::parts::repository::blob::source::TreeSource;
use crate::parts::repository::staging_area::StagedChange;
use crate::parts::text::dates::age;
use crate::store::{Cut, Load, Revision, Rows, Want};
use crate::ui::line::Line;
use crate::ui::table::{ListState, TableRow};
use crate::ui::theme::Role;
use crate::ui::{glyph, text};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

/// The time that a server has to list a folder with the last commits before it is listed without them.
const COMMITS_PATIENCE: Duration = Duration::from_millis(400);

/// The kind of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeKind {
    Folder {
        open: bool,
    },
    File,
    Executable,
    /// A symbolic link.
    Link,
    Submodule,
    /// A placeholder for entries of the folder that are not loaded yet.
    More(Option<Cut>),
    /// A placeholder while the folder is loading.
    Loading,
    /// The error of a folder that could not be listed.
    Failed(String),
}

/// A row of the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileNode {
    pub depth: usize,
    pub name: String,
    /// The path from the root. For [`NodeKind::More`], [`NodeKind::Loading`] and [`NodeKind::Failed`], the path of the folder that
    /// contains the row.
    pub path: String,
    /// The hash of the blob, tree or commit. For [`NodeKind::More`], the number of loaded entries.
    pub sha: String,
    pub kind: NodeKind,
    /// The title and the date of the last commit that changed the entry, if the server tells them.
    pub commit: Option<(String, Option<Time>)>,
}

impl FileNode {
    /// Returns whether the row is a file or a link.
    pub fn is_file(&self) -> bool {
        matches!(self.kind, NodeKind::File | NodeKind::Executable | NodeKind::Link)
    }

    /// Returns whether the row is a folder.
    pub fn is_folder(&self) -> bool {
        matches!(self.kind, NodeKind::Folder { .. })
    }

    /// Returns whether the row is an entry of the repository, not a placeholder.
    pub fn is_entry(&self) -> bool {
        !matches!(self.kind, NodeKind::More(_) | NodeKind::Loading | NodeKind::Failed(_))
    }

    fn key(&self) -> String {
        match self.kind {
            NodeKind::More(_) => format!("{}\0more{}", self.path, self.sha),
            NodeKind::Loading => format!("{}\0loading", self.path),
            NodeKind::Failed(_) => format!("{}\0failed", self.path),
            _ => self.path.clone(),
        }
    }
}

/// The state of a folder's listing when its rows were built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Listed {
    revision: Revision,
    has_commits: bool,
    is_loaded: bool,
    failed: bool,
    len: usize,
    cut: Option<Cut>,
}

/// The file tree of a ref.
#[derive(Default)]
pub struct FileTree {
    /// The paths of open folders. Open folders within a closed one are kept, so that they are open again when it is
    /// reopened.
    open: BTreeSet<String>,
    /// The number of pages to load of a folder, if more than one.
    pages: HashMap<String, u32>,
    nodes: Vec<FileNode>,
    /// The indices of the [`NodeKind::More`] rows.
    mores: Vec<usize>,
    /// The listings that the rows were built from, by visible open folder. Empty if all rows must be rebuilt.
    listed: BTreeMap<String, Listed>,
    /// The folders that were opened or closed since the last update.
    turned: Vec<String>,
    /// The README in the root, with its rank; lower is better.
    readme: Option<(usize, FileNode)>,
    /// The requested path, until it is found.
    target: Option<String>,
    missing: Option<String>,
    pub list: ListState,
}

impl FileTree {
    /// Creates a tree that opens the folders down to `path`.
    pub fn at(path: Option<&str>) -> FileTree {
        let mut tree = FileTree::default();
        if let Some(path) = path {
            tree.reveal(path);
        }
        tree
    }

    /// Opens the folders down to `path`, and selects it as soon as it is listed.
    pub fn reveal(&mut self, path: &str) {
        let path = path.trim_matches('/');
        if path.is_empty() {
            return;
        }
        for (at, _) in path.match_indices('/') {
            self.open.insert(path.get(..at).unwrap_or_default().to_owned());
        }
        // The last component may be a file, which has no listing. The listing of its parent tells.
        self.target = Some(path.to_owned());
        self.missing = None;
        self.listed.clear();
    }

    /// Returns the requested path, if it does not exist.
    pub fn missing(&self) -> Option<&str> {
        self.missing.as_deref()
    }

    /// Forgets the missing path, because the user moved on.
    pub fn forget_missing(&mut self) {
        self.missing = None;
    }

    /// Returns the requested path while it is searched.
    pub fn target(&self) -> Option<&str> {
        self.target.as_deref()
    }

    /// Returns the rows.
    pub fn nodes(&self) -> &[FileNode] {
        &self.nodes
    }

    /// Returns the row under the cursor.
    pub fn current(&self) -> Option<&FileNode> {
        self.nodes.get(self.list.selected())
    }

    fn is_reached(&self, folder: &str) -> bool {
        folder.match_indices('/').all(|(at, _)| folder.get(..at).is_some_and(|above| self.open.contains(above)))
    }

    /// Iterates over the root and all visible open folders.
    fn listed(&self) -> impl Iterator<Item = &str> {
        std::iter::once("").chain(self.open.iter().map(String::as_str).filter(|f| self.is_reached(f)))
    }

    fn pages_of(&self, folder: &str) -> u32 {
        self.pages.get(folder).copied().unwrap_or(1)
    }

    /// Returns the listings to load; with the last commits if there is room for them. A server may need seconds to find
    /// those, so the entries are requested alone, too, unless they come soon.
    pub fn wants(&self, view: &View, source: &TreeSource, has_room: bool) -> Vec<Want> {
        let loads = |folder: &str| {
            let (with_commits, listing) = (source.listing_with_commits(folder), source.listing(folder));
            let (rows, alone) = (view.store.list(&with_commits), view.store.list(&listing));
            let (pages, known) = (self.pages_of(folder), alone.pages());
            if !has_room {
                return vec![Load::list(&source.known_listing(view, folder), pages)];
            }
            let is_wanted_alone = alone.is_loaded || !rows.is_loaded;
            let patience = if rows.error.is_some() { Duration::ZERO } else { COMMITS_PATIENCE };
            let alone = Load::list(&listing, pages).after(patience);
            let with_commits = Load::list(&with_commits, pages.max(known));
            std::iter::once(with_commits).chain(is_wanted_alone.then_some(alone)).collect()
        };
        self.listed().flat_map(loads).map(Want::from).collect()
    }

    /// Rebuilds the rows whose listings changed, and continues the search for the requested path.
    pub fn changed(&mut self, view: &View, source: &TreeSource) {
        self.drop_missing(view, source);
        let now: BTreeMap<String, Listed> = self
            .listed()
            .map(|folder| {
                let listing = source.known_listing(view, folder);
                let rows = view.store.list(&listing);
                let seen = Listed {
                    revision: rows.revision,
                    has_commits: listing.with_last_commit.is_some(),
                    is_loaded: rows.is_loaded,
                    failed: rows.error.is_some(),
                    len: rows.len(),
                    cut: rows.cut,
                };
                (folder.to_owned(), seen)
            })
            .collect();
        if now != self.listed || !self.turned.is_empty() {
            self.bring(view, source, &now);
            self.listed = now;
            self.select_target(view.store.list(&source.known_listing(view, "")).is_loaded);
        }
        self.list.sync(self.nodes.len(), |i| self.nodes.get(i).map(FileNode::key).unwrap_or_default());
        self.request_pages(view, source);
    }

    /// Updates the rows. A folder may have hundreds of thousands of entries, so only what changed is rebuilt.
    fn bring(&mut self, view: &View, source: &TreeSource, now: &BTreeMap<String, Listed>) {
        let turned = std::mem::take(&mut self.turned);
        let before = std::mem::take(&mut self.listed);
        if before.is_empty() {
            return self.build_all(view, source);
        }
        for folder in &turned {
            self.build_inside(view, source, folder);
        }
        for (folder, seen) in now {
            let Some(then) = before.get(folder).filter(|then| *then != seen) else { continue };
            if turned.iter().any(|t| folder == t || folder.starts_with(&format!("{t}/"))) {
                continue;
            }
            let extends = seen.has_commits == then.has_commits
                && view.store.list(&source.known_listing(view, folder)).extends(then.revision);
            let grew = extends && seen.len > then.len && then.is_loaded && !then.failed;
            match () {
                () if grew && !seen.failed => self.append(view, source, folder, then.len),
                () if folder.is_empty() => return self.build_all(view, source),
                () => self.build_inside(view, source, folder),
            }
        }
    }

    fn build_all(&mut self, view: &View, source: &TreeSource) {
        let mut nodes = Vec::new();
        self.build(view, source, "", 0, 0, &mut nodes);
        self.nodes = nodes;
        self.readme = None;
        self.count(0);
    }

    /// Returns the index of a folder's row. The selected row is tried first, because it is the most likely one.
    fn row_of(&self, folder: &str) -> Option<usize> {
        let is = |i: &usize| self.nodes.get(*i).is_some_and(|n| n.path == folder && n.is_folder());
        Some(self.list.selected()).filter(is).or_else(|| (0..self.nodes.len()).find(is))
    }

    /// Rebuilds the rows within one folder.
    fn build_inside(&mut self, view: &View, source: &TreeSource, folder: &str) {
        let Some(at) = self.row_of(folder) else { return };
        let Some(depth) = self.nodes.get(at).map(|n| n.depth) else { return };
        let inside = self.nodes.iter().skip(at + 1).take_while(|n| n.depth > depth).count();
        let open = self.open.contains(folder);
        let mut nodes = Vec::new();
        if open {
            self.build(view, source, folder, depth + 1, 0, &mut nodes);
        }
        if let Some(node) = self.nodes.get_mut(at) {
            node.kind = NodeKind::Folder { open };
        }
        self.nodes.splice(at + 1..at + 1 + inside, nodes);
        self.count(at);
    }

    /// Adds the rows of a new page of a folder in place of its [`NodeKind::More`] row.
    fn append(&mut self, view: &View, source: &TreeSource, folder: &str, from: usize) {
        let more = self.mores.iter().copied().find(|i| self.nodes.get(*i).is_some_and(|n| n.path == folder));
        let Some(at) = more else {
            return if folder.is_empty() {
                self.build_all(view, source);
            } else {
                self.build_inside(view, source, folder);
            };
        };
        let depth = self.nodes.get(at).map_or(0, |n| n.depth);
        let mut nodes = Vec::new();
        self.build(view, source, folder, depth, from, &mut nodes);
        self.nodes.splice(at..=at, nodes);
        self.count(at);
    }

    /// Updates the indices of the [`NodeKind::More`] rows and the README from row `from` on.
    fn count(&mut self, from: usize) {
        self.mores.retain(|i| *i < from);
        for (index, node) in self.nodes.iter().enumerate().skip(from) {
            if matches!(node.kind, NodeKind::More(_)) {
                self.mores.push(index);
            }
            if node.depth == 0
                && node.is_file()
                && let Some(rank) = introduces(&node.name)
                && self.readme.as_ref().is_none_or(|(best, _)| rank < *best)
            {
                self.readme = Some((rank, node.clone()));
            }
        }
    }

    /// Closes open folders that do not exist, so that the rest of the tree is still shown.
    fn drop_missing(&mut self, view: &View, source: &TreeSource) {
        let before = self.open.len();
        self.open.retain(|folder| !project::is_missing(view, &source.known_listing(view, folder)));
        if self.open.len() < before {
            self.listed.clear();
        }
    }

    /// Builds the rows of a folder, starting with its entry `from`.
    fn build(
        &self,
        view: &View,
        source: &TreeSource,
        folder: &str,
        depth: usize,
        from: usize,
        nodes: &mut Vec<FileNode>,
    ) {
        let rows = view.store.list(&source.known_listing(view, folder));
        let note = |kind: NodeKind| FileNode {
            depth,
            name: String::new(),
            path: folder.to_owned(),
            sha: String::new(),
            kind,
            commit: None,
        };
        let with_commits = view.store.list(&source.listing_with_commits(folder));
        let entry = |index| {
            let entry: &TreeEntry = rows.get(index)?;
            let known = with_commits.get(index).filter(|known| known.id == entry.id && known.name == entry.name);
            Some(known.unwrap_or(entry))
        };
        for entry in (from..rows.len()).filter_map(entry) {
            let node = self.node(entry, folder, depth);
            let inside = (node.kind == NodeKind::Folder { open: true }).then(|| node.path.clone());
            nodes.push(node);
            if let Some(inside) = inside {
                self.build(view, source, &inside, depth + 1, 0, nodes);
            }
        }
        if rows.has_more {
            // The number of loaded entries makes the row's key unique, so that the selection does not follow the row
            // when more entries arrive.
            nodes.push(FileNode { sha: rows.len().to_string(), ..note(NodeKind::More(rows.cut)) });
        }
        match rows.error {
            Some(error) if depth > 0 => nodes.push(note(NodeKind::Failed(error.message()))),
            None if !rows.is_loaded && depth > 0 => nodes.push(note(NodeKind::Loading)),
            _ => {}
        }
    }

    /// Builds the row of an entry of `folder`. Its path is derived from its name, and a folder without a name stays
    /// closed: a server that lists a folder within itself must not cause endless recursion.
    fn node(&self, entry: &TreeEntry, folder: &str, depth: usize) -> FileNode {
        let path = if folder.is_empty() { entry.name.clone() } else { format!("{folder}/{}", entry.name) };
        let kind = match entry.r#type {
            EntryKind::Tree => NodeKind::Folder { open: !entry.name.is_empty() && self.open.contains(&path) },
            EntryKind::Commit => NodeKind::Submodule,
            _ if entry.is_symlink() => NodeKind::Link,
            _ if entry.is_executable() => NodeKind::Executable,
            _ => NodeKind::File,
        };
        let commit = entry.last_commit.as_ref().map(|commit| (commit.title.clone(), commit.date().cloned()));
        FileNode { depth, name: entry.name.clone(), path, sha: entry.id.clone(), kind, commit }
    }

    /// Selects the requested path if it is listed. If a fully listed folder lacks the next component, the path is
    /// missing and its nearest existing parent is selected.
    fn select_target(&mut self, known: bool) {
        let Some(path) = self.target.clone().filter(|_| known) else { return };
        let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        let (mut folder, mut nearest) = ("", None);
        for name in ends.filter_map(|end| path.get(..end)) {
            match self.nodes.iter().find(|n| n.path == name && n.is_entry()) {
                Some(node) => nearest = Some(node.key()),
                None if self.nodes.iter().any(|n| n.path == folder && !n.is_entry()) => return,
                None => {
                    self.missing = Some(path.clone());
                    break;
                }
            }
            folder = name;
        }
        if let Some(key) = nearest {
            self.list.select_key(key);
        }
        if self.missing.is_none() && self.nodes.iter().any(|n| n.path == path && n.is_folder()) {
            self.set_open(&path, true);
        }
        self.target = None;
    }

    /// Requests the next page of folders that end near the viewport or that lead to the requested path.
    fn request_pages(&mut self, view: &View, source: &TreeSource) {
        let ahead = self.list.height().max(usize::from(view.size.1)) * 2;
        let window = self.list.top()..self.list.top() + ahead;
        // The cursor may be outside of the viewport of the last draw.
        let around = self.list.selected()..self.list.selected() + ahead;
        let target = self.target.clone();
        for index in &self.mores {
            let Some(node) = self.nodes.get(*index) else { continue };
            let on_the_way =
                target.as_ref().is_some_and(|p| node.path.is_empty() || p.starts_with(&format!("{}/", node.path)));
            if !(window.contains(index) || around.contains(index) || on_the_way) {
                continue;
            }
            let rows: Rows<'_, TreeEntry> = view.store.list(&source.known_listing(view, &node.path));
            let next = rows.pages_to_end(u32::MAX);
            let pages = self.pages.entry(node.path.clone()).or_insert(1);
            *pages = (*pages).max(next);
        }
    }

    /// Opens or closes the folder at `path`.
    pub fn set_open(&mut self, path: &str, open: bool) {
        let changed = if open { self.open.insert(path.to_owned()) } else { self.open.remove(path) };
        if changed && !self.turned.iter().any(|t| t == path) {
            self.turned.push(path.to_owned());
        }
    }

    /// Iterates over all open folders, visible or not.
    pub fn open_folders(&self) -> impl Iterator<Item = &str> {
        self.open.iter().map(String::as_str)
    }

    /// Reopens the folders that were open in an earlier session.
    pub fn reopen<'a>(&mut self, folders: impl Iterator<Item = &'a str>) {
        self.open.extend(folders.map(str::to_owned));
        self.listed.clear();
    }

    /// Closes all folders.
    pub fn close_all(&mut self) {
        self.open.clear();
        self.listed.clear();
    }

    /// Resets the tree for another ref and requests the path `keep`. Open folders stay open if they exist there.
    pub fn restart(&mut self, keep: Option<&str>) {
        self.pages.clear();
        self.readme = None;
        self.missing = None;
        self.target = None;
        self.listed.clear();
        if let Some(path) = keep {
            self.reveal(path);
        }
    }

    /// Selects the folder that contains the row under the cursor. Returns whether there is one.
    pub fn select_above(&mut self) -> bool {
        let depth = self.current().map_or(0, |node| node.depth);
        let above = (0..self.list.selected()).rev().find(|i| self.nodes.get(*i).is_some_and(|n| n.depth < depth));
        if let Some(index) = above {
            self.list.select(index, self.nodes.len());
        }
        above.is_some()
    }

    /// Selects the next or previous visible file. Returns whether there is one.
    pub fn select_file(&mut self, forward: bool) -> bool {
        let at = self.list.selected();
        let is_file = |i: &usize| self.nodes.get(*i).is_some_and(FileNode::is_file);
        let found = if forward { (at + 1..self.nodes.len()).find(is_file) } else { (0..at).rev().find(is_file) };
        if let Some(index) = found {
            self.list.select(index, self.nodes.len());
        }
        found.is_some()
    }

    /// Selects the next or previous row whose name contains `words`, ignoring case and wrapping around. `from_here`
    /// includes the current row. Returns whether there is one.
    pub fn select_named(&mut self, words: &str, forward: bool, from_here: bool) -> bool {
        let words = words.to_lowercase();
        let len = self.nodes.len();
        let at = self.list.selected();
        let fits =
            |i: &usize| self.nodes.get(*i).is_some_and(|n| n.is_entry() && n.name.to_lowercase().contains(&words));
        let skip = usize::from(!from_here);
        let found = if forward {
            (at + skip..len).chain(0..at).find(fits)
        } else {
            (0..at).rev().chain((at..len).rev()).find(fits)
        };
        if let Some(index) = found {
            self.list.select(index, len);
        }
        found.is_some()
    }

    /// Returns the README in the root.
    pub fn readme(&self) -> Option<&FileNode> {
        self.readme.as_ref().map(|(_, node)| node)
    }

    /// Returns the row `index` as it is drawn: the name, the title of the last commit, the kind, and the age. Files with
    /// `staged` changes have the sign of the change, and folders that of a draft.
    pub fn row(&self, view: &View, index: usize, staged: &[StagedChange]) -> TableRow<'static> {
        let Some(node) = self.nodes.get(index) else { return TableRow::default() };
        let indent = "  ".repeat(node.depth.min(40));
        let (mark, role, note) = match &node.kind {
            NodeKind::Folder { open } => {
                (if *open { glyph::unfolded() } else { glyph::folded() }, Role::Accent, String::new())
            }
            NodeKind::File => (" ", Role::Text, String::new()),
            NodeKind::Executable => (" ", Role::Success, "exec".into()),
            NodeKind::Link => (" ", Role::Link, "link".into()),
            NodeKind::Submodule => (" ", Role::Ref, format!("@ {}", text::head(&node.sha, 8))),
            NodeKind::More(cut) => return quiet(&indent, more_words(*cut)),
            NodeKind::Loading => return quiet(&indent, "loading"),
            NodeKind::Failed(why) => {
                let words = format!("{indent}{} {why}", glyph::wrong());
                return TableRow::new(vec![Line::new(words, Role::Failed)]);
            }
        };
        let is_inside = |path: &str| path.strip_prefix(&node.path).is_some_and(|rest| rest.starts_with('/'));
        let change = staged.iter().find(|change| change.source() == node.path && !node.is_folder());
        let (mark, mark_role) = change.map_or((mark, Role::Dim), |change| change.kind.sign());
        let mut name = Line::new(format!("{indent}{mark} "), mark_role).and(node.name.clone(), role);
        if node.is_folder() && staged.iter().any(|change| is_inside(change.source()) || is_inside(&change.path)) {
            name = name.and(format!(" {}", glyph::or_word(glyph::draft(), "with staged changes")), Role::Warning);
        }
        let (title, date) = node.commit.clone().unwrap_or_default();
        let age = Line::new(age(view, date.as_ref()), Role::Dim);
        TableRow::new(vec![name, Line::new(title, Role::Dim), Line::new(note, Role::Dim), age])
    }
}

/// Returns the rank of a README by its file name, from 0 (best); `None` for other files.
fn introduces(name: &str) -> Option<usize> {
    if !name.get(..6).is_some_and(|start| start.eq_ignore_ascii_case("readme")) {
        return None;
    }
    let name = name.to_lowercase();
    let at = ["readme.md", "readme.markdown", "readme.rst", "readme.txt", "readme"].iter().position(|n| *n == name);
    at.or_else(|| name.starts_with("readme.").then_some(9))
}

fn quiet(indent: &str, words: &str) -> TableRow<'static> {
    TableRow::new(vec![Line::new(format!("{indent}  {} {words}", glyph::ellipsis()), Role::Dim)])
}
