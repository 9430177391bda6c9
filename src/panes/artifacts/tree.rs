//! The entries of an archive as a tree. It is built once, on a worker thread; panes keep only the visible rows.

use crate::domain::zip::{Anomaly, CentralDirectory, ZipEntry};
use crate::ui::line::Line;
use crate::ui::table::TableRow;
use crate::ui::theme::Role;
use crate::ui::{glyph, text};
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

/// The root, which is never shown as a row.
const ROOT: u32 = 0;
/// The maximum number of files of an archive whose folders all start open.
const MAX_FILES_OPEN: u64 = 60;

/// A folder or a file.
#[derive(Clone, Debug, Default)]
pub struct ArchiveNode {
    /// The last component of the path; the whole path if the path is unsafe.
    pub name: String,
    /// The index of the archive entry; folders may have none.
    pub entry: Option<u32>,
    /// Whether the node has children, or the archive marks it as a folder.
    pub folder: bool,
    /// Whether an earlier entry has the same path.
    pub is_duplicate: bool,
    parent: u32,
    children: Vec<u32>,
    /// The unpacked size in bytes; for a folder, the total of its files.
    pub size: u64,
    /// The number of files in a folder, including subfolders; 1 for a file.
    pub files: u64,
}

/// All nodes of an archive; [`ArchiveTree::path`] returns their paths.
#[derive(Clone, Debug, Default)]
pub struct ArchiveTree {
    nodes: Vec<ArchiveNode>,
}

/// A visible node and its depth in the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VisibleNode {
    pub node: u32,
    pub depth: u16,
}

impl ArchiveTree {
    /// Builds the tree from the entries of a list. Entries with unsafe paths become top-level nodes named by their
    /// whole path.
    pub fn new(list: &CentralDirectory) -> ArchiveTree {
        let mut tree = ArchiveTree { nodes: vec![ArchiveNode { folder: true, ..ArchiveNode::default() }] };
        let mut known: HashMap<(u32, &str), u32> = HashMap::new();
        for (index, entry) in list.entries.iter().enumerate() {
            let mut at = ROOT;
            let path = entry.path.trim_end_matches('/');
            let names: Vec<&str> = if entry.anomaly.is_some_and(Anomaly::is_path_anomaly) {
                vec![path]
            } else {
                path.split('/').collect()
            };
            for (depth, name) in names.iter().enumerate() {
                let last = depth + 1 == names.len();
                let folder = !last || entry.is_folder;
                let found = known.get(&(at, name)).copied().filter(|found| {
                    // A file is never merged with another file or with a folder of the same path.
                    folder && tree.nodes.get(*found as usize).is_some_and(|node| node.folder)
                });
                let is_duplicate = found.is_none() && known.contains_key(&(at, name));
                at = found.unwrap_or_else(|| {
                    let node = tree.add(at, name, folder, is_duplicate);
                    known.insert((at, name), node);
                    node
                });
                if last && let Some(node) = tree.nodes.get_mut(at as usize) {
                    node.entry = Some(index as u32);
                }
            }
            if !entry.is_folder {
                tree.count(at, entry.uncompressed_size);
            }
        }
        tree.sort();
        tree
    }

    fn add(&mut self, parent: u32, name: &str, folder: bool, is_duplicate: bool) -> u32 {
        let index = self.nodes.len() as u32;
        self.nodes.push(ArchiveNode { name: name.to_owned(), folder, is_duplicate, parent, ..ArchiveNode::default() });
        if let Some(parent) = self.nodes.get_mut(parent as usize) {
            parent.children.push(index);
        }
        index
    }

    /// Adds a file's size to its node and to all folders that contain it.
    fn count(&mut self, mut at: u32, size: u64) {
        while let Some(node) = self.nodes.get_mut(at as usize) {
            node.size = node.size.saturating_add(size);
            node.files += 1;
            if at == ROOT {
                break;
            }
            at = node.parent;
        }
    }

    /// Sorts the children of each folder: folders first, then by name.
    fn sort(&mut self) {
        for index in 0..self.nodes.len() {
            let Some(mut children) = self.nodes.get_mut(index).map(|node| std::mem::take(&mut node.children)) else {
                continue;
            };
            children.sort_by_cached_key(|child| {
                let node = self.nodes.get(*child as usize);
                node.map(|node| (Reverse(node.folder), node.name.to_lowercase(), *child))
            });
            if let Some(node) = self.nodes.get_mut(index) {
                node.children = children;
            }
        }
    }

    /// Returns the node with that index.
    pub fn node(&self, index: u32) -> Option<&ArchiveNode> {
        self.nodes.get(index as usize)
    }

    /// Returns the number of files in the archive.
    pub fn files(&self) -> u64 {
        self.nodes.first().map_or(0, |root| root.files)
    }

    /// Returns the unpacked size of the archive in bytes, as claimed by its entries.
    pub fn size(&self) -> u64 {
        self.nodes.first().map_or(0, |root| root.size)
    }

    /// Returns the path of a node as stored in the archive.
    pub fn path(&self, index: u32) -> String {
        let mut names = Vec::new();
        let mut at = index;
        while let Some(node) = self.node(at).filter(|_| at != ROOT) {
            names.push(node.name.as_str());
            at = node.parent;
        }
        names.reverse();
        names.join("/")
    }

    /// Returns the node at `path`, and the folders that lead to it.
    pub fn find(&self, path: &str) -> Option<(u32, Vec<u32>)> {
        let mut at = ROOT;
        let mut ancestors = Vec::new();
        for name in path.trim_matches('/').split('/') {
            let children = &self.node(at)?.children;
            let named = |child: &&u32| self.node(**child).is_some_and(|node| node.name == name);
            at = *children.iter().find(named)?;
            ancestors.push(at);
        }
        ancestors.pop();
        Some((at, ancestors))
    }

    /// Returns the folder that contains a node; `None` at the top level.
    pub fn parent(&self, index: u32) -> Option<u32> {
        self.node(index).map(|node| node.parent).filter(|parent| *parent != ROOT)
    }

    /// Returns the folders that start open: all folders of a small archive, else the chain of folders that are only
    /// children.
    pub fn initially_open(&self) -> BTreeSet<u32> {
        if self.files() <= MAX_FILES_OPEN {
            return (0..self.nodes.len() as u32).filter(|i| self.node(*i).is_some_and(|node| node.folder)).collect();
        }
        let mut open = BTreeSet::new();
        let mut at = ROOT;
        while let Some([only]) = self.node(at).map(|node| node.children.as_slice()) {
            at = *only;
            open.insert(at);
        }
        open
    }

    /// Returns the visible nodes if exactly the folders `open` are open.
    pub fn visible_nodes(&self, open: &BTreeSet<u32>) -> Vec<VisibleNode> {
        let mut visible = Vec::new();
        let mut waiting: Vec<VisibleNode> = Vec::new();
        let within = |index: u32, depth: u16, waiting: &mut Vec<VisibleNode>| {
            let children = self.node(index).map(|node| node.children.as_slice()).unwrap_or_default();
            waiting.extend(children.iter().rev().map(|node| VisibleNode { node: *node, depth }));
        };
        within(ROOT, 0, &mut waiting);
        while let Some(next) = waiting.pop() {
            visible.push(next);
            if open.contains(&next.node) {
                within(next.node, next.depth.saturating_add(1), &mut waiting);
            }
        }
        visible
    }

    /// Returns up to `limit` files whose path contains all of `words` (in lower case).
    pub fn find_files(&self, words: &str, limit: usize, canceled: &dyn Fn() -> bool) -> Vec<u32> {
        let wanted: Vec<&str> = words.split_whitespace().collect();
        let mut found = Vec::new();
        for index in 0..self.nodes.len() as u32 {
            if found.len() >= limit || index % 4096 == 0 && canceled() {
                break;
            }
            if self.node(index).is_some_and(|node| !node.folder) {
                let path = self.path(index).to_lowercase();
                if wanted.iter().all(|word| path.contains(word)) {
                    found.push(index);
                }
            }
        }
        found.sort_by_cached_key(|index| self.path(*index).to_lowercase());
        found
    }

    /// Returns a row of the tree.
    pub fn row(&self, visible: VisibleNode, open: bool, entry: Option<&ZipEntry>) -> TableRow<'static> {
        let Some(node) = self.node(visible.node) else { return TableRow::default() };
        let indent = "  ".repeat(usize::from(visible.depth.min(40)));
        if node.folder {
            let mark = if open { glyph::unfolded() } else { glyph::folded() };
            let name = Line::new(format!("{indent}{mark} "), Role::Dim).and(node.name.clone(), Role::Accent);
            let facts = if open { String::new() } else { text::bytes(node.size) };
            return TableRow::new(vec![name, Line::new(facts, Role::Dim)]);
        }
        self.file_row(visible.node, format!("{indent}  "), node.name.clone(), entry)
    }

    /// Returns a row of the search results: a file with its full path.
    pub fn found_row(&self, index: u32, entry: Option<&ZipEntry>) -> TableRow<'static> {
        self.file_row(index, "  ".into(), self.path(index), entry)
    }

    fn file_row(&self, index: u32, indent: String, name: String, entry: Option<&ZipEntry>) -> TableRow<'static> {
        let is_duplicate = self.node(index).is_some_and(|node| node.is_duplicate);
        let name = if name.is_empty() { "(no name)".to_owned() } else { name };
        match entry.and_then(|entry| entry.anomaly) {
            Some(anomaly) => TableRow::new(vec![
                Line::new(indent, Role::Dim).and(name, Role::Warning),
                Line::new(format!("{} {}", glyph::warning(), anomaly.label()), Role::Warning),
            ]),
            None => {
                let size = text::bytes(entry.map_or(0, |entry| entry.uncompressed_size));
                let mut facts = Line::empty();
                if is_duplicate {
                    facts = facts.and("duplicate ", Role::Warning);
                }
                TableRow::new(vec![Line::new(indent, Role::Dim).and(name, Role::Text), facts.and(size, Role::Dim)])
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::zip::ZipEntry;

    fn tree(paths: &[&str]) -> ArchiveTree {
        let entries = paths.iter().map(|path| ZipEntry::stored(path, 5)).collect();
        ArchiveTree::new(&CentralDirectory { entries, ..CentralDirectory::default() })
    }

    fn names(tree: &ArchiveTree) -> Vec<String> {
        let visible = tree.visible_nodes(&tree.initially_open());
        visible
            .iter()
            .map(|visible| format!("{}{}", " ".repeat(visible.depth.into()), tree.node(visible.node).unwrap().name))
            .collect()
    }

    #[test]
    fn folders_come_first_and_need_no_entry() {
        let tree = tree(&["z.txt", "B/2.txt", "a.txt", "B/sub/1.txt", "empty/"]);
        assert_eq!(names(&tree), ["B", " sub", "  1.txt", " 2.txt", "empty", "a.txt", "z.txt"]);
        assert_eq!((tree.files(), tree.size()), (4, 20));
        let (node, ancestors) = tree.find("B/sub/1.txt").unwrap();
        assert_eq!((tree.path(node).as_str(), ancestors.len()), ("B/sub/1.txt", 2));
        assert!(tree.find("B/none").is_none());
        assert_eq!(tree.find_files("b 1", 9, &|| false), [node]);
    }

    #[test]
    fn duplicates_are_kept_and_unsafe_paths_are_top_level() {
        let tree = tree(&["a", "a", "a/b", "../x", "/etc/passwd"]);
        let duplicates = (0..9).filter_map(|i| tree.node(i)).filter(|node| node.is_duplicate).count();
        assert_eq!(duplicates, 2);
        assert!(names(&tree).contains(&"../x".to_owned()) && names(&tree).contains(&"/etc/passwd".to_owned()));
    }

    #[test]
    fn large_archives_open_down_to_the_first_branching_folder() {
        let paths: Vec<String> = (0..200).map(|i| format!("target/doc/{}/f{i}", i % 3)).collect();
        let tree = tree(&paths.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(names(&tree), ["target", " doc", "  0", "  1", "  2"]);
    }

    #[test]
    fn large_archives_are_indexed() {
        let paths: Vec<String> = (0..100_000).map(|i| format!("{}/{i}", i % 7)).collect();
        let tree = tree(&paths.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(tree.files(), 100_000);
        assert_eq!(tree.find_files("99999", 10, &|| false).len(), 1);
    }
}
