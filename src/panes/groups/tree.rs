//! The lines of the tree of groups: the listed groups, each open one with its subgroups and projects below it. They are
//! rebuilt only when the rows or the open groups change.

use crate::api::groups::{Group, GroupOrProject, ListGroupProjects, ListSubgroups};
use crate::app::view::View;
use crate::parts::list::{ListLine, Listing};
use crate::store::{Cut, ListQuery, Rows, Want};
use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{Hash, Hasher};
use std::time::Duration;

/// The maximum number of pages loaded of each list of the tree.
const MAX_PAGES: u32 = 50;
/// The maximum depth of nested groups that is followed.
const MAX_DEPTH: usize = 24;

/// The kind of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LineKind {
    Group {
        open: bool,
    },
    Project,
    /// A placeholder for subgroups or projects that are not loaded yet.
    More(Option<Cut>),
    /// A placeholder while the group is loading.
    Loading,
    /// A placeholder for an empty group.
    Nothing,
    /// The error of a group that could not be listed.
    Failed(String),
}

/// A line of the tree.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupLine {
    pub depth: usize,
    pub kind: LineKind,
    /// The full path of the group, or its ID if the full path is unknown. For a project or a placeholder, that of the
    /// group that contains the line; empty at the top.
    pub group: String,
    /// The index of its row; `None` for a placeholder.
    row: Option<usize>,
}

impl GroupLine {
    /// Returns whether the line is a group.
    pub fn is_group(&self) -> bool {
        matches!(self.kind, LineKind::Group { .. })
    }
}

/// Returns whether the path of a group is its ID.
pub fn is_id(path: &str) -> bool {
    path.parse::<u64>().is_ok()
}

/// Returns whether `path` is the group at `group` or in it; everything is in the group with the empty path.
fn is_within(path: &str, group: &str) -> bool {
    let rest = path.strip_prefix(group);
    rest.is_some_and(|rest| group.is_empty() || rest.is_empty() || rest.starts_with('/'))
}

/// A query of groups or of projects.
pub type GroupQuery = ListQuery<GroupOrProject>;

/// Returns the loaded groups of a query; none while it is invalid or incomplete.
fn all<'a>(query: Option<&GroupQuery>, view: &View<'a>) -> Rows<'a, GroupOrProject> {
    query.map_or_else(|| Rows::chain(Vec::new()), |query| view.store.rows(query))
}

/// The lists of what is in a group.
struct Inside {
    groups: GroupQuery,
    projects: GroupQuery,
}

impl Inside {
    fn new(path: &str, sizes: bool) -> Inside {
        let statistics = sizes.then_some(true);
        let (order_by, sort) = (Some("name".to_owned()), Some("asc".to_owned()));
        let projects = ListGroupProjects { id: path.into(), order_by, sort, ..ListGroupProjects::default() };
        Inside {
            groups: ListQuery::converted(&ListSubgroups { id: path.into(), statistics, ..ListSubgroups::default() }),
            projects: ListQuery::converted(&projects),
        }
    }
}

/// The open groups of the tree, and its lines.
#[derive(Default)]
pub struct GroupTree {
    /// The open groups by their full paths. Open groups within a closed one are kept, so that they are open again when
    /// it is reopened.
    open: BTreeMap<String, Inside>,
    /// The number of pages to load: of all groups under the empty path, of an open group under its path.
    pages: HashMap<String, u32>,
    lines: Vec<GroupLine>,
    /// The paths of the groups whose rows are among the lines, in the order of these rows.
    visited: Vec<String>,
    /// A text that identifies everything that the lines were built from.
    inputs: String,
    /// The requested path, until it is found or the cursor moves.
    target: Option<String>,
    /// The selected line after the last update.
    selected: usize,
    /// Whether storage sizes are requested.
    pub sizes: bool,
}

/// The state of the tree while its lines are built.
struct Builder<'a> {
    tree: &'a GroupTree,
    view: &'a View<'a>,
    /// The index of the first row of the next group.
    next_row: usize,
    lines: Vec<GroupLine>,
    visited: Vec<String>,
}

impl GroupTree {
    /// Opens the group at `path` and the groups that contain it, and selects it as soon as it is listed.
    pub fn open(&mut self, path: &str) {
        self.set_open(path, true);
        self.reveal(path);
    }

    /// Opens the groups that contain `path`, and selects it as soon as it is listed.
    pub fn reveal(&mut self, path: &str) {
        for (at, _) in path.match_indices('/') {
            self.set_open(path.get(..at).unwrap_or_default(), true);
        }
        self.target = Some(path.to_owned());
    }

    /// Opens or closes the group at `path`.
    pub fn set_open(&mut self, path: &str, open: bool) {
        if open {
            self.open.insert(path.to_owned(), Inside::new(path, self.sizes));
        } else {
            self.open.remove(path);
        }
    }

    /// Shows or hides storage sizes. Open groups stay open.
    pub fn toggle_sizes(&mut self) {
        self.sizes = !self.sizes;
        for (path, inside) in &mut self.open {
            *inside = Inside::new(path, self.sizes);
        }
        self.reload();
    }

    /// Lists the groups of another query from the first page.
    pub fn reload(&mut self) {
        self.pages.clear();
    }

    /// Returns the line at `index`.
    pub fn line(&self, index: usize) -> Option<&GroupLine> {
        self.lines.get(index)
    }

    /// Returns the number of lines.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Returns the number of top-level groups, and whether the server has more.
    pub fn at_the_top(&self) -> (usize, bool) {
        let top = || self.lines.iter().filter(|line| line.depth == 0);
        (top().filter(|line| line.is_group()).count(), top().any(|line| matches!(line.kind, LineKind::More(_))))
    }

    /// Returns whether the line after the one at `index` is a row in its group.
    pub fn has_row_below(&self, index: usize) -> bool {
        let (line, next) = (self.line(index), self.line(index + 1));
        line.zip(next).is_some_and(|(line, next)| next.depth > line.depth && next.row.is_some())
    }

    /// Returns the index of the line of the group that contains the line at `index`.
    pub fn above(&self, index: usize) -> Option<usize> {
        let depth = self.line(index)?.depth;
        (0..index).rev().find(|above| self.line(*above).is_some_and(|line| line.depth < depth))
    }

    fn pages_of(&self, path: &str) -> u32 {
        self.pages.get(path).copied().unwrap_or(1)
    }

    /// Returns the lists to load: all groups, and those of open groups that are visible or lead to the requested path.
    pub fn wants(&self, query: Option<&GroupQuery>) -> Vec<Want> {
        let visible: HashSet<&str> = self.lines.iter().filter(|l| l.is_group()).map(|l| l.group.as_str()).collect();
        // The groups that lead to the requested path are loaded concurrently, without waiting for each level.
        let listed = self.open.iter().filter(|(path, _)| visible.contains(path.as_str()) || self.leads(path));
        let lists = listed.flat_map(|(path, inside)| [(path.as_str(), &inside.groups), (path, &inside.projects)]);
        let lists = query.map(|query| ("", query)).into_iter().chain(lists);
        lists.flat_map(|(path, list)| list.wants(self.pages_of(path), Duration::ZERO, None)).collect()
    }

    /// Returns whether the requested path is in a group.
    fn leads(&self, group: &str) -> bool {
        self.target.as_deref().is_some_and(|target| is_within(target, group))
    }

    /// Returns the loaded rows: the groups of the query, followed by those in the visited groups.
    pub fn rows<'a>(&self, query: Option<&GroupQuery>, view: &View<'a>) -> Rows<'a, GroupOrProject> {
        let all = all(query, view);
        if all.is_empty() {
            return all;
        }
        let (is_loaded, error, total) = (all.is_loaded, all.error, all.total);
        let inside = self.visited.iter().filter_map(|path| self.open.get(path));
        let inside = inside.flat_map(|inside| [&inside.groups, &inside.projects]).map(|list| view.store.rows(list));
        let mut rows = Rows::chain(std::iter::once(all).chain(inside).collect());
        // What is in groups has lines of its own for errors, and the tree requests the pages of all its lists.
        (rows.is_loaded, rows.error, rows.total, rows.has_more, rows.cut) = (is_loaded, error, total, false, None);
        rows
    }

    /// Updates the lines of the list after a store update. With `narrowed`, the groups of the query are matches, which
    /// are listed flat.
    pub fn update(&mut self, list: &mut Listing, query: Option<&GroupQuery>, narrowed: bool, view: &View) {
        let all = all(query, view);
        let inputs = self.inputs(&all, narrowed, view);
        if self.inputs != inputs {
            (self.lines, self.visited) = self.build(&all, narrowed, view);
            self.inputs = inputs;
        }
        let rows = self.rows(query, view);
        list.arrange(&rows, &self.inputs, || self.lines.iter().map(list_line).collect());
        if narrowed {
            self.target = None;
        }
        if !list.is_filter_pending()
            && let Some(key) = self.take_target(&all, &rows, view)
        {
            list.reveal(key);
        }
        self.request_pages(list, &all, view);
    }

    /// Ends the search for the requested path if the user has moved the selection since the last update; returns
    /// whether that is so.
    pub fn give_up_if_moved(&mut self, list: &Listing) -> bool {
        let has_moved = list.state.selected() != self.selected;
        if has_moved {
            self.target = None;
        }
        has_moved
    }

    /// Handles the end of an update, after which only the user moves the selection.
    pub fn updated(&mut self, list: &Listing) {
        self.selected = list.state.selected();
    }

    /// Returns a text that identifies everything that the lines are built from.
    fn inputs(&self, all: &Rows<'_, GroupOrProject>, narrowed: bool, view: &View) -> String {
        let mut hasher = DefaultHasher::new();
        let mut add = |rows: &Rows<'_, GroupOrProject>| {
            let error = rows.error.map(crate::api::Error::message);
            (rows.revision, rows.is_loaded, rows.has_more, rows.cut, error).hash(&mut hasher);
        };
        add(all);
        for inside in self.open.values() {
            add(&view.store.rows(&inside.groups));
            add(&view.store.rows(&inside.projects));
        }
        (narrowed, self.open.keys().collect::<Vec<_>>()).hash(&mut hasher);
        format!("{:x}", hasher.finish())
    }

    /// Returns the lines, and the groups whose rows are among them.
    fn build(&self, all: &Rows<'_, GroupOrProject>, narrowed: bool, view: &View) -> (Vec<GroupLine>, Vec<String>) {
        let mut builder = Builder { tree: self, view, next_row: all.len(), lines: Vec::new(), visited: Vec::new() };
        let ids: HashSet<u64> = all.iter().map(GroupOrProject::id).collect();
        for (row, group) in all.iter().enumerate().filter_map(|(row, group)| Some((row, group.group()?))) {
            // A group whose parent is hidden becomes a top-level row, once all pages are loaded and the parent is not
            // among them.
            let top = group.parent_id.is_none_or(|parent| !all.has_more && !ids.contains(&parent));
            if narrowed || top {
                builder.add(group, row, 0);
            }
        }
        if all.has_more {
            builder.note(LineKind::More(all.cut), "", 0);
        }
        (builder.lines, builder.visited)
    }

    /// Ends the search for the requested row, and returns its key, if it is listed. Once everything on its path is
    /// loaded, its nearest parent is taken instead.
    fn take_target(
        &mut self,
        all: &Rows<'_, GroupOrProject>,
        rows: &Rows<'_, GroupOrProject>,
        view: &View,
    ) -> Option<String> {
        let path = self.target.as_deref()?;
        let is_target = |row: &GroupOrProject| row.full_path(&view.session.web_url) == path;
        let found = self.lines.iter().find(|line| line.row.and_then(|row| rows.get(row)).is_some_and(is_target));
        let is_awaited = |group: &str, list: &Rows<'_, GroupOrProject>| {
            let pages = self.pages_of(group);
            let comes = !list.is_loaded || !list.is_settled(pages) || list.has_next(MAX_PAGES);
            list.error.is_none() && comes
        };
        let mut leading = self.open.iter().filter(|(group, _)| self.leads(group));
        let waits = |(group, inside): (&String, &Inside)| {
            [&inside.groups, &inside.projects].into_iter().any(|list| is_awaited(group, &view.store.rows(list)))
        };
        if found.is_none() && (is_awaited("", all) || leading.any(waits)) {
            return None;
        }
        let parents = self.lines.iter().filter(|line| line.is_group() && is_within(path, &line.group));
        let nearest = || parents.max_by_key(|line| line.group.len());
        let key = found.or_else(nearest).and_then(|line| rows.get(line.row?)).map(GroupOrProject::key);
        self.target = None;
        key
    }

    /// Requests the next page of lists that end near the viewport, or of those that may contain the requested path.
    fn request_pages(&mut self, list: &Listing, all: &Rows<'_, GroupOrProject>, view: &View) {
        let ahead = list.state.height().max(usize::from(view.size.1)) * 2;
        let near = list.state.top().max(list.state.selected()) + ahead;
        let lines = self.lines.iter().enumerate().filter(|(_, line)| matches!(line.kind, LineKind::More(_)));
        let short: Vec<String> = lines
            .filter(|(index, line)| *index < near || self.leads(&line.group))
            .map(|(_, line)| line.group.clone())
            .collect();
        for group in short {
            let loaded = match self.open.get(&group) {
                None => all.pages(),
                Some(inside) => view.store.rows(&inside.groups).pages().max(view.store.rows(&inside.projects).pages()),
            };
            let pages = self.pages.entry(group).or_insert(1);
            *pages = (*pages).max(loaded + 1).min(MAX_PAGES);
        }
    }
}

/// Returns the line of the list for a line of the tree.
fn list_line(line: &GroupLine) -> ListLine {
    match line.row {
        Some(row) => ListLine::Row(row),
        None => {
            let mut hasher = DefaultHasher::new();
            (&line.group, std::mem::discriminant(&line.kind)).hash(&mut hasher);
            ListLine::Heading(hasher.finish())
        }
    }
}

impl Builder<'_> {
    fn add(&mut self, group: &Group, row: usize, depth: usize) {
        let path = group.path_or_id().into_owned();
        let inside = self.tree.open.get(&path).filter(|_| depth < MAX_DEPTH);
        let kind = LineKind::Group { open: inside.is_some() };
        self.lines.push(GroupLine { depth, kind, group: path.clone(), row: Some(row) });
        if let Some(inside) = inside {
            self.add_inside(inside, &path, depth + 1);
        }
    }

    fn add_inside(&mut self, inside: &Inside, path: &str, depth: usize) {
        let (groups, projects) = (self.view.store.rows(&inside.groups), self.view.store.rows(&inside.projects));
        let (first_group, first_project) = (self.next_row, self.next_row + groups.len());
        self.next_row = first_project + projects.len();
        self.visited.push(path.to_owned());
        let before = self.lines.len();
        for (index, group) in groups.iter().enumerate().filter_map(|(index, row)| Some((index, row.group()?))) {
            // A server that lists a group within itself must not cause endless recursion.
            let inner = group.path_or_id();
            if inner.starts_with(&format!("{path}/")) || is_id(path) && inner.contains('/') {
                self.add(group, first_group + index, depth);
            }
        }
        let lines = (0..projects.len()).map(|index| (LineKind::Project, Some(first_project + index)));
        self.lines.extend(lines.map(|(kind, row)| GroupLine { depth, kind, group: path.to_owned(), row }));
        if groups.has_more || projects.has_more {
            self.note(LineKind::More(groups.cut.or(projects.cut)), path, depth);
        }
        match groups.error.filter(|_| !groups.is_loaded).or(projects.error.filter(|_| !projects.is_loaded)) {
            Some(error) => self.note(LineKind::Failed(error.message()), path, depth),
            None if !groups.is_loaded || !projects.is_loaded => self.note(LineKind::Loading, path, depth),
            None if self.lines.len() == before => self.note(LineKind::Nothing, path, depth),
            None => {}
        }
    }

    fn note(&mut self, kind: LineKind, group: &str, depth: usize) {
        self.lines.push(GroupLine { depth, kind, group: group.to_owned(), row: None });
    }
}
