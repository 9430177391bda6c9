//! The tree of groups. Each group lists its subgroups and projects when it is opened; the visible rows are kept.

use crate::api::groups::{Group, ListGroupProjects, ListGroups, ListSubgroups};
use crate::api::projects::Project;
use crate::api::{ExtraValue, Time};
use crate::app::view::View;
use crate::parts::list::Listing;
use crate::store::{Load, Rows, Want};
use std::borrow::Cow;
use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::{Hash, Hasher};

/// The maximum number of pages loaded of each list of the tree.
const MAX_PAGES: u32 = 50;
/// The maximum depth of nested groups that is followed.
const MAX_DEPTH: usize = 24;

/// The kind of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    Group {
        open: bool,
    },
    Project,
    /// A placeholder for subgroups or projects that are not loaded yet.
    More,
    /// A placeholder while the group is loading.
    Loading,
    /// A placeholder for an empty group.
    Nothing,
    /// The error of a group that could not be listed.
    Failed(String),
}

/// A row of the tree.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    pub depth: usize,
    pub kind: Kind,
    pub id: u64,
    /// The full path, or the ID of a group whose full path is unknown. For placeholders, that of the group that contains
    /// the row.
    pub path: String,
    pub name: String,
    pub about: String,
    pub visibility: String,
    /// The storage size in bytes, if it was requested.
    pub size: Option<u64>,
    pub active: Option<Time>,
    pub url: String,
    pub archived: bool,
}

impl Node {
    /// Returns whether the row is a group.
    pub fn is_group(&self) -> bool {
        matches!(self.kind, Kind::Group { .. })
    }

    /// Returns whether the row is a group or project, not a placeholder.
    pub fn is_thing(&self) -> bool {
        self.is_group() || self.kind == Kind::Project
    }

    fn key(&self) -> String {
        let kind = match self.kind {
            Kind::Group { .. } => "group",
            Kind::Project => "project",
            Kind::More => "more",
            Kind::Loading => "loading",
            Kind::Nothing => "nothing",
            Kind::Failed(_) => "failed",
        };
        format!("{kind} {} {}", self.path, self.id)
    }

    fn note(kind: Kind, depth: usize, group: &str) -> Node {
        Node {
            depth,
            kind,
            id: 0,
            path: group.to_owned(),
            name: String::new(),
            about: String::new(),
            visibility: String::new(),
            size: None,
            active: None,
            url: String::new(),
            archived: false,
        }
    }
}

/// Returns the full path of a group, or its ID if the server leaves the full path out, as in search results.
pub fn path_of(group: &Group) -> Cow<'_, str> {
    if group.full_path.is_empty() { group.id.to_string().into() } else { Cow::Borrowed(&group.full_path) }
}

/// Returns whether the path of a row is the ID of a group.
pub fn is_id(path: &str) -> bool {
    path.parse::<u64>().is_ok()
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

/// The query for the groups of the tree.
#[derive(Clone, Debug, Default)]
pub struct GroupQuery {
    /// The request for the groups; `None` while the query is invalid or incomplete.
    pub list: Option<ListGroups>,
    /// Whether the query filters: then the matching groups are listed flat.
    pub narrowed: bool,
}

impl GroupQuery {
    fn subgroups(&self, path: &str) -> ListSubgroups {
        let statistics = self.list.as_ref().and_then(|list| list.statistics);
        ListSubgroups { id: path.into(), statistics, ..ListSubgroups::default() }
    }
}

fn projects(path: &str) -> ListGroupProjects {
    let (order_by, sort) = (Some("name".to_owned()), Some("asc".to_owned()));
    ListGroupProjects { id: path.into(), order_by, sort, ..ListGroupProjects::default() }
}

/// The tree of groups.
#[derive(Default)]
pub struct Tree {
    /// The full paths of open groups. Open groups within a closed one are kept, so that they are open again when it is
    /// reopened.
    open: BTreeSet<String>,
    /// The number of pages to load: of all groups under the empty path, of an open group under its path.
    pages: HashMap<String, u32>,
    nodes: Vec<Node>,
    /// A hash of the data that the rows were built from; 0 forces a rebuild.
    input_hash: u64,
    /// The requested path, until it is found.
    target: Option<String>,
    /// The selection, and the filter.
    pub list: Listing,
}

impl Tree {
    /// Opens the group at `path`, and selects it as soon as it is listed.
    pub fn open(&mut self, path: &str) {
        self.open.insert(path.to_owned());
        self.reveal(path);
    }

    /// Opens the groups that contain `path`, and selects it as soon as it is listed.
    pub fn reveal(&mut self, path: &str) {
        for (at, _) in path.match_indices('/') {
            self.open.insert(path.get(..at).unwrap_or_default().to_owned());
        }
        self.target = Some(path.to_owned());
        self.input_hash = 0;
    }

    /// Returns the rows.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Returns the number of top-level groups.
    pub fn at_the_top(&self) -> usize {
        self.nodes.iter().filter(|node| node.depth == 0 && node.is_group()).count()
    }

    /// Returns the row under the cursor.
    pub fn current(&self) -> Option<&Node> {
        self.nodes.get(self.list.state.selected())
    }

    /// Creates a closed tree with the filter `text`.
    pub fn with_filter(text: &str) -> Tree {
        Tree { list: Listing::with_filter(text), ..Tree::default() }
    }

    /// Resets the tree for another query. Open groups stay open.
    pub fn restart(&mut self) {
        self.list.restart();
        self.reload();
    }

    /// Lists the groups of another query from the first page.
    pub fn reload(&mut self) {
        self.pages.clear();
        self.input_hash = 0;
    }

    fn pages_of(&self, path: &str) -> u32 {
        self.pages.get(path).copied().unwrap_or(1)
    }

    /// Iterates over the open groups that are visible or lead to the requested path.
    fn listed(&self) -> impl Iterator<Item = &str> {
        let reached: HashSet<&str> = self.nodes.iter().filter(|n| n.is_group()).map(|n| n.path.as_str()).collect();
        let target = self.target.as_deref();
        self.open.iter().map(String::as_str).filter(move |path| {
            // The groups that lead to the requested path are loaded concurrently, without waiting for each level.
            reached.contains(path) || target.is_some_and(|s| s == *path || s.starts_with(&format!("{path}/")))
        })
    }

    /// Returns the lists to load.
    pub fn wants(&self, query: &GroupQuery) -> Vec<Want> {
        let mut wants: Vec<Want> = query.list.iter().map(|list| Load::list(list, self.pages_of("")).into()).collect();
        for path in self.listed() {
            wants.push(Load::list(&query.subgroups(path), self.pages_of(path)).into());
            wants.push(Load::list(&projects(path), self.pages_of(path)).into());
        }
        wants
    }

    /// Returns the groups of the query that are loaded.
    pub fn groups<'a>(view: &View<'a>, query: &GroupQuery) -> Rows<'a, Group> {
        query.list.as_ref().map_or_else(|| Rows::chain(Vec::new()), |list| view.store.list(list))
    }

    /// Rebuilds the rows if the data changed, and requests more pages where needed.
    pub fn changed(&mut self, view: &View, query: &GroupQuery) {
        let all = Tree::groups(view, query);
        let input_hash = self.input_hash(view, query, &all);
        if input_hash != self.input_hash {
            self.input_hash = input_hash;
            self.build_all(view, query, &all);
            self.select_target(&all);
        }
        self.list.state.sync(self.nodes.len(), |i| self.nodes.get(i).map(Node::key).unwrap_or_default());
        self.request_pages(view, query, &all);
    }

    /// Hashes the state of everything that the rows are built from.
    fn input_hash(&self, view: &View, query: &GroupQuery, all: &Rows<'_, Group>) -> u64 {
        let mut hasher = DefaultHasher::new();
        (all.revision, all.is_known, all.has_more, query.narrowed, &self.open).hash(&mut hasher);
        for path in &self.open {
            let (groups, projects) = (view.store.list(&query.subgroups(path)), view.store.list(&projects(path)));
            (groups.revision, groups.is_known, groups.error.is_some()).hash(&mut hasher);
            (projects.revision, projects.is_known, projects.error.is_some()).hash(&mut hasher);
        }
        hasher.finish().max(1)
    }

    fn build_all(&mut self, view: &View, query: &GroupQuery, all: &Rows<'_, Group>) {
        let mut nodes = Vec::new();
        let ids: HashSet<u64> = all.iter().map(|group| group.id).collect();
        for group in all.iter() {
            // A group whose parent is hidden becomes a top-level row, once all pages are loaded and the parent is not
            // among them.
            let top = group.parent_id.is_none_or(|parent| !all.has_more && !ids.contains(&parent));
            if query.narrowed || top {
                self.add(view, query, group, 0, &mut nodes);
            }
        }
        if all.has_more {
            nodes.push(Node::note(Kind::More, 0, ""));
        }
        self.nodes = nodes;
    }

    fn add(&self, view: &View, query: &GroupQuery, group: &Group, depth: usize, nodes: &mut Vec<Node>) {
        let path = &*path_of(group);
        let open = self.open.contains(path) && depth < MAX_DEPTH;
        nodes.push(Node {
            depth,
            kind: Kind::Group { open },
            id: group.id,
            path: path.to_owned(),
            name: if depth == 0 && !is_id(path) { path.to_owned() } else { group.path.clone() },
            about: first_line(group.description.as_deref().unwrap_or_default()),
            visibility: group.visibility.as_str().to_owned(),
            size: group.statistics.sent().map(|sizes| sizes.storage_size),
            active: group.created_at.clone(),
            url: group.web_url.clone(),
            archived: group.archived == Some(true),
        });
        if open {
            self.add_inside(view, query, path, depth + 1, nodes);
        }
    }

    fn add_inside(&self, view: &View, query: &GroupQuery, path: &str, depth: usize, nodes: &mut Vec<Node>) {
        let (groups, projects) = (view.store.list(&query.subgroups(path)), view.store.list(&projects(path)));
        let before = nodes.len();
        for group in groups.iter() {
            // A server that lists a group within itself must not cause endless recursion.
            let inner = path_of(group);
            if inner.starts_with(&format!("{path}/")) || is_id(path) && inner.contains('/') {
                self.add(view, query, group, depth, nodes);
            }
        }
        nodes.extend(projects.iter().map(|project| project_node(project, depth)));
        if groups.has_more || projects.has_more {
            nodes.push(Node::note(Kind::More, depth, path));
        }
        match groups.error.filter(|_| !groups.is_known).or(projects.error.filter(|_| !projects.is_known)) {
            Some(error) => nodes.push(Node::note(Kind::Failed(error.message()), depth, path)),
            None if !groups.is_known || !projects.is_known => nodes.push(Node::note(Kind::Loading, depth, path)),
            None if nodes.len() == before => nodes.push(Node::note(Kind::Nothing, depth, path)),
            None => {}
        }
    }

    /// Selects the requested group if it is listed. Otherwise, once everything on its path is loaded, selects its
    /// nearest parent.
    fn select_target(&mut self, all: &Rows<'_, Group>) {
        let Some(path) = self.target.clone() else { return };
        if let Some(at) = self.nodes.iter().position(|node| node.is_thing() && node.path == path) {
            self.list.state.select_key(self.nodes.get(at).map(Node::key).unwrap_or_default());
            self.target = None;
            return;
        }
        let waits = |node: &Node| node.kind == Kind::Loading && path.starts_with(&node.path);
        if !all.is_known || all.has_more || self.nodes.iter().any(waits) {
            return;
        }
        let on_the_way = |node: &&Node| node.is_group() && path.starts_with(&format!("{}/", node.path));
        if let Some(node) = self.nodes.iter().filter(on_the_way).max_by_key(|node| node.path.len()) {
            self.list.state.select_key(node.key());
        }
        self.target = None;
    }

    /// Requests the next page of lists that end near the viewport, or of all lists while a path is searched.
    fn request_pages(&mut self, view: &View, query: &GroupQuery, all: &Rows<'_, Group>) {
        let state = &self.list.state;
        let ahead = state.height().max(usize::from(view.size.1)) * 2;
        let near = state.top().max(state.selected()) + ahead;
        let has_target = self.target.is_some();
        let short: Vec<String> = self
            .nodes
            .iter()
            .enumerate()
            .filter(|(index, node)| node.kind == Kind::More && (*index < near || has_target))
            .map(|(_, node)| node.path.clone())
            .collect();
        for path in short {
            let known = match path.as_str() {
                "" => all.pages(),
                path => {
                    let groups = view.store.list(&query.subgroups(path)).pages();
                    groups.max(view.store.list(&projects(path)).pages())
                }
            };
            let pages = self.pages.entry(path).or_insert(1);
            *pages = (*pages).max(known + 1).min(MAX_PAGES);
        }
    }

    /// Opens or closes the group at `path`.
    pub fn set_open(&mut self, path: &str, open: bool) {
        if open {
            self.open.insert(path.to_owned());
        } else {
            self.open.remove(path);
        }
    }

    /// Selects the group that contains the row under the cursor.
    pub fn select_above(&mut self) {
        let Some(depth) = self.current().map(|node| node.depth) else { return };
        let above = (0..self.list.state.selected()).rev().find(|i| self.nodes.get(*i).is_some_and(|n| n.depth < depth));
        if let Some(index) = above {
            self.list.state.select(index, self.nodes.len());
        }
    }
}

fn project_node(project: &Project, depth: usize) -> Node {
    Node {
        depth,
        kind: Kind::Project,
        id: project.id,
        path: project.path_with_namespace.clone(),
        name: project.path.clone(),
        about: first_line(project.description()),
        visibility: project.visibility().map(|word| word.as_str().to_owned()).unwrap_or_default(),
        size: project.statistics.sent().map(|sizes| sizes.storage_size),
        active: project.last_activity_at.sent().cloned(),
        url: project.web_url.clone(),
        archived: project.is_archived(),
    }
}
