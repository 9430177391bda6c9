//! The tree of changed files: chains of folders with a single subfolder share a row.

use crate::ui::diff::{FileDiff, FileKey};
use crate::ui::table::ListState;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

/// The name of the folder that has the files without anything to review.
const REVIEWED_FOLDER: &str = "unchanged";

/// A row of the tree.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    Folder {
        /// The path from the root, which identifies the folder for folding.
        path: String,
        /// The part of the path below the folders above.
        label: String,
        depth: usize,
        /// The range of its files among those that are shown.
        files: Range<usize>,
    },
    File {
        file: usize,
        /// The name, preceded by the folders that contain only this file.
        label: String,
        depth: usize,
    },
}

/// Returns the rows of a tree, with the files in their order. The contents of `folded` folders are omitted.
fn rows_of(shown: &[usize], path: &dyn Fn(usize) -> String, folded: &BTreeSet<String>) -> Vec<Node> {
    let paths: Vec<String> = shown.iter().map(|file| path(*file)).collect();
    let mut out = Vec::new();
    branch(shown, &paths, 0..shown.len(), 0, 0, folded, &mut out);
    out
}

fn branch(
    shown: &[usize],
    paths: &[String],
    range: Range<usize>,
    prefix: usize,
    depth: usize,
    folded: &BTreeSet<String>,
    out: &mut Vec<Node>,
) {
    let rest = |at: usize, prefix: usize| paths.get(at).and_then(|path| path.get(prefix..)).unwrap_or_default();
    let head = |at: usize, prefix: usize| rest(at, prefix).split_once('/').map(|(head, _)| head);
    let mut at = range.start;
    while at < range.end {
        let first = head(at, prefix).filter(|_| depth < 40);
        let others = first.and_then(|_| (at + 1..range.end).find(|next| head(*next, prefix) != first));
        let end = if first.is_some() { others.unwrap_or(range.end) } else { at + 1 };
        let Some(first) = first.filter(|_| end > at + 1) else {
            // A folder with a single file does not get a row.
            let label = rest(at, prefix).to_owned();
            out.extend(shown.get(at).map(|file| Node::File { file: *file, label, depth }));
            at += 1;
            continue;
        };
        let mut inner = prefix + first.len() + 1;
        // A folder with a single subfolder shares its row.
        while let Some(next) = head(at, inner)
            && (at..end).all(|other| head(other, inner) == Some(next))
        {
            inner += next.len() + 1;
        }
        let path = paths.get(at).and_then(|path| path.get(..inner - 1)).unwrap_or_default().to_owned();
        let label = path.get(prefix..).unwrap_or_default().to_owned();
        let open = !folded.contains(&path);
        out.push(Node::Folder { path, label, depth, files: at..end });
        if open {
            branch(shown, paths, at..end, inner, depth + 1, folded, out);
        }
        at = end;
    }
}

/// The list of changed files, as a tree.
#[derive(Default)]
pub(super) struct ChangedFilesTree {
    pub list: ListState,
    /// The indices of the files that match the filter, and the rows of their tree.
    pub shown: Vec<usize>,
    pub nodes: Vec<Node>,
    /// The folded folders.
    pub folded: BTreeSet<String>,
    pub filter: String,
    /// The number of comments on each file, and whether any of them still have to be resolved.
    pub comments: HashMap<FileKey, (usize, bool)>,
    /// The widths of the numbers beside the files: added and removed lines, and comments.
    pub number_widths: [usize; 3],
    /// The width of the longest name, without folders that can be cut.
    pub name_width: usize,
}

impl ChangedFilesTree {
    /// Rebuilds the rows after a change of the filter, the folding or the files.
    pub fn rebuild(&mut self, files: &[Arc<FileDiff>]) {
        let words = self.filter.to_lowercase();
        let fits = |file: &FileDiff| words.is_empty() || file.path().to_lowercase().contains(&words);
        self.shown = (0..files.len()).filter(|at| files.get(*at).is_some_and(|file| fits(file))).collect();
        let path = |at: usize| match files.get(at) {
            Some(file) if file.is_reviewed() => format!("{REVIEWED_FOLDER}/{}", file.path()),
            Some(file) => file.path().to_owned(),
            None => String::new(),
        };
        let none = BTreeSet::new();
        let folded = if words.is_empty() { &self.folded } else { &none };
        self.nodes = rows_of(&self.shown, &path, folded);
        self.list.clamp(self.nodes.len());
    }

    /// Returns the selected row.
    pub fn selected(&self) -> Option<&Node> {
        self.nodes.get(self.list.selected())
    }

    /// Selects a row.
    pub fn select(&mut self, row: usize) {
        self.list.select(row, self.nodes.len());
    }

    /// Folds the folder of files without anything to review; returns whether there is one.
    pub fn fold_reviewed(&mut self, files: &[Arc<FileDiff>]) -> bool {
        let is_reviewed = |at: &usize| files.get(*at).is_some_and(|file| file.is_reviewed());
        let folder = self.nodes.iter().find_map(|node| match node {
            Node::Folder { path, files, depth: 0, .. } => {
                self.shown.get(files.start).filter(|at| is_reviewed(at)).map(|_| path.clone())
            }
            _ => None,
        });
        folder.map(|folder| self.folded.insert(folder)).is_some()
    }

    /// Folds or unfolds the selected folder, or only does the one that `open` selects; returns whether something changed.
    pub fn fold(&mut self, open: Option<bool>) -> bool {
        let Some(Node::Folder { path, .. }) = self.selected() else { return false };
        let path = path.clone();
        let is_open = !self.folded.contains(&path);
        if open == Some(is_open) {
            return false;
        }
        if is_open { self.folded.insert(path) } else { self.folded.remove(&path) }
    }

    /// Returns the row of the folder that contains the selected row.
    pub fn parent(&self) -> Option<usize> {
        let depth = |node: &Node| match node {
            Node::Folder { depth, .. } | Node::File { depth, .. } => *depth,
        };
        let here = depth(self.selected()?);
        self.nodes.get(..self.list.selected())?.iter().rposition(|node| depth(node) < here)
    }

    /// Returns the row of a file, or of the folded folder that contains it.
    pub fn node_of(&self, file: usize) -> Option<usize> {
        let shown = self.shown.binary_search(&file).ok()?;
        // Rows are in the order of their first files, and a folder precedes its contents.
        let first = |node: &Node| match node {
            Node::File { file, .. } => self.shown.binary_search(file).unwrap_or(usize::MAX),
            Node::Folder { files, .. } => files.start,
        };
        self.nodes.partition_point(|node| first(node) <= shown).checked_sub(1)
    }

    /// Returns the selected file, or the first one of the selected folder.
    pub fn first_file(&self) -> Option<usize> {
        match self.selected()? {
            Node::File { file, .. } => Some(*file),
            Node::Folder { files, .. } => self.shown.get(files.start).copied(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(paths: &[&str], folded: &[&str]) -> Vec<String> {
        let shown: Vec<usize> = (0..paths.len()).collect();
        let folded = folded.iter().map(|f| (*f).to_owned()).collect();
        let nodes = rows_of(&shown, &|at| paths[at].to_owned(), &folded);
        nodes
            .into_iter()
            .map(|node| match node {
                Node::Folder { label, depth, files, .. } => format!("{}{label}/ {}", "  ".repeat(depth), files.len()),
                Node::File { label, depth, .. } => format!("{}{label}", "  ".repeat(depth)),
            })
            .collect()
    }

    #[test]
    fn only_child_folders_are_joined_with_their_parent() {
        let paths = ["Cargo.toml", "src/deep/er/a.rs", "src/deep/er/b.rs", "tests/a.rs", "tests/b/c.rs"];
        assert_eq!(
            rows(&paths, &[]),
            ["Cargo.toml", "src/deep/er/ 2", "  a.rs", "  b.rs", "tests/ 2", "  a.rs", "  b/c.rs"]
        );
        assert_eq!(rows(&paths, &["tests", "src/deep/er"]), ["Cargo.toml", "src/deep/er/ 2", "tests/ 2"]);
    }

    #[test]
    fn a_file_is_found_by_its_row_or_its_folded_folder() {
        let paths = ["Cargo.toml", "src/a.rs", "src/b.rs", "tests/a.rs", "tests/b/c.rs", "tests/b/d.rs"];
        let row_of = |shown: &[usize], folded: &str| {
            let folded = BTreeSet::from([folded.to_owned()]);
            let nodes = rows_of(shown, &|at| paths[at].to_owned(), &folded);
            let tree = ChangedFilesTree { shown: shown.to_vec(), nodes, folded, ..ChangedFilesTree::default() };
            (0..paths.len()).map(|file| tree.node_of(file)).collect::<Vec<_>>()
        };
        assert_eq!(row_of(&[0, 1, 2, 3, 4, 5], ""), [0, 2, 3, 5, 7, 8].map(Some));
        assert_eq!(row_of(&[0, 1, 2, 3, 4, 5], "tests"), [0, 2, 3, 4, 4, 4].map(Some));
        assert_eq!(row_of(&[0, 1, 2, 3, 4, 5], "src"), [0, 1, 1, 3, 5, 6].map(Some));
        assert_eq!(row_of(&[1, 2, 5], ""), [None, Some(1), Some(2), None, None, Some(3)]);
    }

    #[test]
    fn hostile_paths_do_not_panic() {
        let deep = "a/".repeat(500);
        for paths in [&["/", "//", "a//b", ""][..], &["a", "a/b", "a"], &[deep.as_str(), "a/a/x"]] {
            assert!(!rows(paths, &[]).is_empty());
        }
    }
}
