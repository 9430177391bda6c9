//! The files of a project: the tree of a ref, and the content of one file.

mod export;
mod file_actions;
pub mod find;
mod navigation;
mod submodule;
mod tree;

use crate::api::GitRef;
use crate::api::commits::GetCommit;
use crate::api::projects::Project;
use crate::api::repository::ListTree;
use crate::app::clip::Clip;
use crate::app::command::{Command, Table};
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::motion::Motion;
use crate::app::outline::OutlinedFile;
use crate::app::pane::{Breadcrumb, CodeHere, Pane, PaneKind, SearchMode};
use crate::app::permission;
use crate::app::place::Place;
use crate::app::pointer::Pointer;
use crate::app::tone::Tone;
use crate::app::view::View;
use crate::parts::repository::blob::blame::BlameStep;
use crate::parts::repository::blob::keys::{ShowsFile, in_source};
use crate::parts::repository::blob::source::TreeSource;
use crate::parts::repository::blob::{BlobView, File};
use crate::parts::repository::ref_choices::ask_ref;
use crate::parts::repository::ref_split::RefSplit;
use crate::parts::text::links::{self, TextOrigin};
use crate::parts::{list, project};
use crate::store::{Load, Want};
use crate::ui::drawn::Drawn;
use crate::ui::panels::{self, PanelRequest, Panels};
use crate::ui::state;
use crate::ui::table::{self, Size, TableColumn};
use crate::ui::text::{self, sanitize};
use file_actions::{FileAction, FileContext};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use tree::{FileNode, FileTree};

/// The tab of a place that shows the blame of a file.
const BLAME: &str = "blame";

const TREE: usize = 0;
const BLOB: usize = 1;
const PANEL_WIDTHS: &[PanelRequest] = &[PanelRequest { min: 24, weight: 1 }, PanelRequest { min: 60, weight: 3 }];
const COLUMNS: &[TableColumn] = &[
    TableColumn::new("", Size::Fill { min: 12, weight: 1 }),
    TableColumn::new("", Size::Fit { min: 0, max: 60 }).drop_order(3),
    TableColumn::new("", Size::Fit { min: 0, max: 10 }).right().drop_order(1),
    TableColumn::new("", Size::Fit { min: 0, max: 6 }).right().drop_order(2),
];
/// The width of the tree from which on there is room for the age of entries.
const MIN_WIDTH_WITH_AGE: u16 = 30;

/// The tree of a ref, and one of its files.
pub struct Files {
    source: TreeSource,
    tree: FileTree,
    blob: BlobView,
    panels: Panels,
    /// Whether the cursor of the tree was moved or a path was requested: then the file under the cursor is shown, else
    /// the README.
    chosen: bool,
    /// Whether the file got the focus because it was opened from the tree: Esc returns to the tree.
    entered: bool,
    /// Whether the folders that were open in the last session have been restored. This happens once, when the account
    /// is known.
    reopened: bool,
    /// The ref and path of a web address, until it is known where the ref ends.
    split: Option<RefSplit>,
    /// The search text of the tree.
    name: String,
    line: Option<u32>,
    /// The section to show once the file is found.
    section: Option<Box<str>>,
    tree_area: Drawn<Rect>,
    staging: FileAction,
    /// The path and the commit of the submodule that is being opened.
    submodule: Option<(String, String)>,
    submodule_under_cursor: submodule::SubmoduleHere,
    /// Whether the blame is shown as soon as the file is known.
    blames: bool,
    /// The commit before which the file is to be shown.
    before: Option<BlameStep>,
}

impl Files {
    /// Returns whether there is nothing to show because the repository has no branches. It may have tags.
    fn is_empty(&self, view: &View) -> bool {
        self.source.git_ref.is_none() && project::project(view, &self.source.project).is_some_and(Project::is_empty)
    }

    fn root(&self, view: &View) -> ListTree {
        self.source.known_listing(view, "")
    }

    fn commit(&self, view: &View) -> Option<GetCommit> {
        let name = self.source.git_ref.clone().or_else(|| self.default_branch(view))?;
        Some(GetCommit { id: self.source.project.clone(), sha: name.as_str().to_owned(), stats: None })
    }

    fn default_branch(&self, view: &View) -> Option<GitRef> {
        project::default_branch(view, &self.source.project).map(GitRef::from)
    }

    /// Returns the name of the ref: the given one, else the default branch, else `HEAD`.
    fn ref_name(&self, view: &View) -> GitRef {
        self.source.git_ref.clone().or_else(|| self.default_branch(view)).unwrap_or_else(|| "HEAD".into())
    }

    /// Returns the path of the shown file or, if the tree has the focus, of the entry under its cursor.
    fn path(&self) -> Option<&str> {
        let file = self.blob.file().map(|f| f.path.as_str());
        if self.panels.focus() == BLOB {
            return file;
        }
        match self.tree.current().filter(|n| self.chosen && n.is_entry()) {
            Some(node) => Some(&node.path),
            None => file.filter(|_| self.chosen),
        }
    }

    /// Returns the file that edit, move and delete act on: the shown file, or the one under the cursor of the tree.
    fn context(&self) -> FileContext {
        let shown = self.blob.file();
        let path = self.path().or(shown.map(|file| file.path.as_str()));
        let in_tree = self.tree.current().filter(|node| node.is_file() && Some(node.path.as_str()) == path);
        let blob = shown.filter(|file| Some(file.path.as_str()) == path).map(|file| &file.sha);
        FileContext {
            project: self.source.project.clone(),
            git_ref: self.source.git_ref.clone(),
            path: path.map(str::to_owned),
            blob: blob.or(in_tree.map(|node| &node.sha)).cloned(),
            is_link: in_tree.is_some_and(|node| node.kind == tree::NodeKind::Link),
        }
    }

    fn can_change(&self, view: &View) -> Result<(), Disabled> {
        self.context().can_change(view)
    }

    fn can_change_file(&self, view: &View) -> Result<(), Disabled> {
        let context = self.context();
        context.can_change(view)?;
        list::need(context.blob.as_ref(), &view.store.list(&self.root(view)), "no file is selected").map(|_| ())
    }

    /// Shows the file under the cursor of the tree, or the README while the cursor was not moved.
    fn follow(&mut self) {
        let node = match self.tree.current() {
            // While a requested path is searched or missing, no other file is shown.
            _ if self.tree.missing().is_some() || self.tree.target().is_some() => return,
            Some(node) if self.chosen => node.is_file().then_some(node),
            _ => self.tree.readme(),
        };
        if self.submodule_here().is_some() && self.panels.focus() == TREE {
            self.blob.show(None);
        // On a folder, the previous file stays.
        } else if let Some(node) = node {
            let file = File { path: node.path.clone(), sha: node.sha.clone() };
            self.blob.show(Some(file));
        }
    }

    /// Returns the submodule under the cursor of the tree, once that was moved.
    fn submodule_here(&self) -> Option<&FileNode> {
        self.tree.current().filter(|node| self.chosen && node.kind == tree::NodeKind::Submodule)
    }

    /// Returns the target of the symbolic link that is shown.
    fn link_target(&self, view: &View) -> Option<String> {
        let text = self.blob.text(view).filter(|text| self.context().is_link && text.len() == 1)?;
        Some(text.line(0).to_owned())
    }

    fn open_node(&mut self, cx: &mut Cx) {
        if self.panels.focus() == BLOB {
            if let Some(target) = self.link_target(&cx.view) {
                self.follow_link(&target, cx);
            } else if let Some(step) = self.blob.author(&cx.view) {
                cx.go(Place::new("commit").project(self.source.project.clone()).item(&step.sha));
            } else {
                links::open(self.blob.links_here(&cx.view), self, cx, Self::follow_link);
            }
            return;
        }
        let Some(node) = self.tree.current().cloned() else { return };
        self.chosen = true;
        match node.kind {
            tree::NodeKind::Folder { open } => self.fold(&node.path, !open, cx),
            tree::NodeKind::Submodule => self.open_submodule(&node, cx),
            _ if node.is_file() => self.enter(cx),
            _ => {}
        }
    }

    /// Opens the address of a link in the shown file.
    fn follow_link(&mut self, address: &str, cx: &mut Cx) {
        let Some(file) = self.blob.file() else { return };
        let origin = TextOrigin::of_file(&self.source.project, self.source.git_ref.clone(), &file.path);
        self.blob.follow(&origin, address, cx);
    }

    fn enter(&mut self, cx: &mut Cx) {
        self.tree_moved();
        self.panels.set_focus(BLOB);
        self.entered = true;
        self.remember(cx);
    }

    fn tree_moved(&mut self) {
        self.chosen = true;
        self.follow();
    }

    /// Returns the commit that last changed the line under the cursor, if there is one before it.
    fn last_change(&self, view: &View) -> Result<&BlameStep, Disabled> {
        let step = match self.blob.author(view) {
            Some(step) => step,
            None if self.blob.is_blamed() => return Err("the blame of this line has not loaded yet".into()),
            None => return Err("‹.blame› shows the blame first".into()),
        };
        step.before().map(|_| step).ok_or("the history begins with this commit".into())
    }

    fn blame_before(&mut self, cx: &mut Cx) {
        self.before = self.last_change(&cx.view).ok().cloned();
        self.go_before(cx);
    }

    /// Goes to the file before the commit that last changed the line under the cursor, with its blame, once the changes of
    /// that commit tell what the file was called there.
    fn go_before(&mut self, cx: &mut Cx) {
        let Some(request) = self.before.as_ref().map(|step| step.changes(&self.source.project)) else { return };
        let view = cx.view;
        let changes = view.store.get(&request);
        let step = self.before.take_if(|_| changes.value.is_some() || changes.error.is_some());
        let Some((commit, path)) = step.as_ref().and_then(BlameStep::before) else { return };
        let change = changes.value.and_then(|entries| entries.iter().find(|entry| entry.new_path == path));
        if change.is_some_and(|change| change.new_file) {
            let words = format!("{} was added in {}.", sanitize(path), text::head(&request.sha, 8));
            return cx.say(Tone::Info, words);
        }
        let path = change.map_or(path, |change| &change.old_path);
        let place = Place::new(Self::ID).project(self.source.project.clone()).at(commit).path(path);
        cx.go(Place { line: self.blob.line(&view), tab: Some(BLAME.to_owned()), ..place });
    }

    fn history(&mut self, cx: &mut Cx) {
        let mut place = Place::new("commits").project(self.source.project.clone());
        place.git_ref = self.source.git_ref.clone();
        place.path = self.path().map(str::to_owned);
        cx.go(place);
    }

    /// Goes to the commits that changed the marked lines, or the line under the cursor. The lines are those of the commit
    /// that is shown, not of a branch that may have moved on.
    fn line_history(&mut self, cx: &mut Cx) {
        let lines = self.blob.lines_here(&cx.view);
        let commit = self.commit(&cx.view).and_then(|commit| cx.view.store.get(&commit).value);
        let at = commit.map_or_else(|| self.ref_name(&cx.view), |commit| GitRef::from(&commit.id));
        let mut place = Place::new("commits").project(self.source.project.clone()).at(at);
        place.path = self.blob.file().map(|file| file.path.clone());
        cx.go(place.query(format!("lines:{}-{}", lines.start + 1, lines.end)));
    }

    fn sibling(&mut self, forward: bool, cx: &mut Cx) {
        if self.tree.select_file(forward) {
            self.tree_moved();
        } else {
            cx.say(
                Tone::Info,
                if forward { "This is the last visible file." } else { "This is the first visible file." },
            );
        }
    }

    fn has_file(&self, view: &View) -> Result<(), Disabled> {
        list::need(self.blob.file(), &view.store.list(&self.root(view)), "no file is shown").map(|_| ())
    }

    fn has_lines(&self, view: &View) -> Result<(), Disabled> {
        self.has_file(view)?;
        self.blob.need_lines(view, self.blob.failed(view, &self.source.project))
    }

    fn has_tree(&self, view: &View) -> Result<(), Disabled> {
        list::need(self.tree.nodes().first(), &view.store.list(&self.root(view)), "there are no files").map(|_| ())
    }

    fn draw_tree(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let focused = self.panels.focus() == TREE;
        let searching = if self.name.is_empty() { String::new() } else { format!("/{}", sanitize(&self.name)) };
        let area = panels::title(buf, area, view.theme, focused, "Files", &searching);
        self.tree_area.set(area);
        let nodes = self.tree.nodes();
        let rows = view.store.list(&self.root(view));
        if nodes.is_empty() {
            let importing = project::project(view, &self.source.project).and_then(project::import_words);
            if let Some((words, _)) = importing {
                return view.draw_empty(buf, area, &words, "‹refresh› refreshes");
            }
            return match rows.error {
                _ if self.is_empty(view) => {
                    let (why, next) = project::no_branches(view);
                    view.draw_empty(buf, area, why, next);
                }
                Some(error) => list::draw_error(view, area, buf, error),
                None if rows.is_loaded => {
                    view.draw_empty(buf, area, "There are no files at this ref.", "‹files.ref› chooses another ref")
                }
                None => state::skeleton(buf, area, view.theme),
            };
        }
        let staged = self.staging.staged(&self.context(), view);
        table::draw(buf, area, view.theme, focused, &self.tree.list, COLUMNS, nodes.len(), &|i| {
            self.tree.row(view, i, &staged)
        });
    }

    /// Returns the words for a path that does not exist.
    fn missing_words(&self, path: &str, view: &View) -> String {
        format!("{} not found at {}.", sanitize(path), sanitize(self.ref_name(view).display()))
    }

    /// Returns the widths of the panels for which there is room.
    fn widths(&self, view: &View) -> Vec<Option<u16>> {
        let areas = self.panels.areas(Rect::new(0, 0, view.size.0, 1), PANEL_WIDTHS);
        areas.into_iter().map(|area| area.map(|area| area.width)).collect()
    }

    fn draw_blob(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let focused = self.panels.focus() == BLOB;
        if let Some(path) = self.tree.missing() {
            let area = panels::title(buf, area, view.theme, focused, path, "");
            let why = self.missing_words(path, view);
            return view.draw_empty(buf, area, &why, "Choose another file in the tree, or ‹files.ref› another ref");
        }
        let Some(file) = self.blob.file() else {
            if let Some(node) = self.submodule_here() {
                let area = panels::title(buf, area, view.theme, focused, &node.path, "");
                let what = format!("Another repository, at {}.", text::head(&node.sha, 12));
                return view.draw_empty(buf, area, &what, &self.submodule_under_cursor.address);
            }
            let area = panels::title(buf, area, view.theme, focused, "", "");
            if self.is_empty(view) {
                let url = project::project(view, &self.source.project)
                    // The address of an embedded server is only valid until labscope ends.
                    .filter(|_| !project::is_of_clone(view))
                    .and_then(|p| p.http_url_to_repo.as_ref())
                    .map_or_else(String::new, |url| format!("git remote add origin {url}"));
                return view.draw_empty(buf, area, "There is nothing to show yet.", &sanitize(&url));
            }
            let coming = self.tree.nodes().is_empty() || self.tree.target().is_some();
            match view.store.list(&self.root(view)).error {
                None if coming => return state::skeleton(buf, area, view.theme),
                // The tree shows the error.
                Some(_) if self.tree.nodes().is_empty() => return,
                _ => {}
            }
            return view.draw_empty(buf, area, "No file is selected.", "‹files.open› on a file opens it");
        };
        let area = panels::title(buf, area, view.theme, focused, &file.path, &self.blob.facts(view));
        self.blob.draw(view, &self.source.project, area, buf, focused);
    }
}

impl Files {}

impl ShowsFile for Files {
    fn shown_file(&self, view: &View) -> Result<(&BlobView, bool), Disabled> {
        self.has_file(view)?;
        Ok((&self.blob, self.blob.failed(view, &self.source.project)))
    }

    fn shown_file_mut(&mut self) -> &mut BlobView {
        &mut self.blob
    }

    fn is_in_text(&self) -> bool {
        self.panels.focus() == BLOB
    }

    fn enter_text(&mut self) {
        self.panels.set_focus(BLOB);
    }
}

impl PaneKind for Files {
    const ID: &'static str = "files";
    const TABLES: &'static [Table<Self>] = &[Self::COMMANDS, Self::FILE, Self::LINES];
    const COMMANDS: &'static [Command<Self>] = &[
        Command::new("files.open", &["Enter"], "Open selection", Self::open_node).footer("open").when(|pane, view| {
            match pane.panels.focus() {
                TREE => pane.has_tree(view),
                _ if pane.blob.author(view).is_some() || pane.link_target(view).is_some() => Ok(()),
                _ if pane.blob.is_blamed() => Err("the blame of this line has not loaded yet".into()),
                _ if pane.blob.is_rendered(view) => pane.blob.need_link(view),
                _ => Err("the file is open".into()),
            }
        }),
        Command::new("files.history", &["b", "H"], "Go to file history", Self::history).footer("history"),
        Command::new("files.line_history", &["K"], "Go to line history", Self::line_history).when(in_source),
        Command::new("files.ref", &["R"], "Switch branch or tag…", |pane: &mut Self, cx| {
            let current = pane.source.git_ref.as_ref();
            ask_ref("Files at", &pane.source.project, current, cx, |pane: &mut Self, name, _| {
                let path = pane.path().map(str::to_owned);
                pane.source.git_ref = Some(name);
                pane.tree.restart(path.as_deref());
            });
        })
        .footer("ref"),
        Command::new("files.find", &["t"], "Find file…", Self::find).footer("find").when(Self::has_tree),
        Command::new("files.above", &["u"], "Go to parent folder", Self::above).when(Self::has_tree),
        Command::new("files.save", &["s"], "Save file…", Self::save).when(Self::has_file),
        Command::new("files.archive", &["A"], "Save tree as archive…", Self::archive).when(Self::has_tree),
        Command::new("files.next", &["]"], "Next file", |pane: &mut Self, cx| pane.sibling(true, cx))
            .when(Self::has_tree),
        Command::new("files.previous", &["["], "Previous file", |pane: &mut Self, cx| pane.sibling(false, cx))
            .when(Self::has_tree),
        Command::new("files.close_all", &["-"], "Close all folders", |pane: &mut Self, cx| {
            pane.tree.close_all();
            pane.keep_folders(cx);
        })
        .when(|pane, _| pane.tree.open_folders().next().map(|_| ()).ok_or_else(|| "no folder is open".into())),
        Command::new("files.edit", &["e"], "Edit file", |pane: &mut Self, cx| pane.context().edit(false, cx))
            .footer("edit")
            .needs(permission::PUSH)
            .when(Self::can_change_file),
        Command::new("files.edit_outside", &["E"], "Edit file in $EDITOR", |pane: &mut Self, cx| {
            pane.context().edit(true, cx);
        })
        .needs(permission::PUSH)
        .when(Self::can_change_file),
        Command::new("files.add", &["+"], "Add file…", |pane: &mut Self, cx| pane.ask_new_file(cx))
            .needs(permission::PUSH)
            .when(Self::can_change),
        Command::new("files.rename", &["M"], "Move or rename file…", |pane: &mut Self, cx| pane.ask_new_path(cx))
            .needs(permission::PUSH)
            .when(Self::can_change_file),
        Command::new("files.delete", &["D"], "Delete file", |pane: &mut Self, cx| {
            pane.delete(cx);
        })
        .needs(permission::PUSH)
        .when(Self::can_change_file),
        Command::new("files.upload", &["U"], "Upload file…", |pane: &mut Self, cx| {
            pane.ask_upload(cx);
        })
        .needs(permission::PUSH)
        .when(Self::can_change),
        Command::new("files.staged", &["i"], "Go to staged changes", |pane: &mut Self, cx| {
            cx.go(file_actions::place(&pane.context()));
        }),
        Command::new("files.blame", &["B"], "Toggle blame", |pane: &mut Self, cx| {
            pane.panels.set_focus(BLOB);
            pane.blob.toggle_blame(&pane.source, &cx.view);
        })
        .footer("blame")
        .when(Self::has_lines),
        Command::new("files.blame_before", &[","], "Show blame before change", Self::blame_before)
            .when(|pane, view| pane.last_change(view).map(|_| ())),
    ];

    fn open(place: &Place, _view: &View) -> Self {
        let path = place.path.as_deref().filter(|p| !p.is_empty());
        let mut files = Files {
            source: TreeSource { project: place.project.clone().unwrap_or_default(), git_ref: place.git_ref.clone() },
            tree: FileTree::at(path),
            blob: BlobView::default(),
            panels: Panels::new(2),
            chosen: path.is_some(),
            entered: false,
            reopened: false,
            split: RefSplit::of(place),
            name: String::new(),
            line: place.line,
            section: place.section.clone(),
            tree_area: Drawn::default(),
            staging: FileAction::default(),
            submodule: None,
            submodule_under_cursor: Default::default(),
            blames: place.tab.as_deref() == Some(BLAME),
            before: None,
        };
        if place.line.is_some() || place.section.is_some() {
            files.panels.set_focus(BLOB);
        }
        files
    }
}

impl Pane for Files {
    fn focused(&self) -> Option<&dyn Pane> {
        if self.panels.focus() == BLOB { Some(&self.blob) } else { None }
    }

    fn focused_mut(&mut self) -> Option<&mut dyn Pane> {
        if self.panels.focus() == BLOB { Some(&mut self.blob) } else { None }
    }

    fn place(&self) -> Place {
        let mut place = Place::new(Self::ID).project(self.source.project.clone());
        place.git_ref = self.source.git_ref.clone();
        place.path = self.tree.target().or_else(|| self.path()).map(str::to_owned);
        place.line = self.line;
        place.is_joined = self.split.is_some();
        place
    }

    fn breadcrumbs(&self, view: &View) -> Vec<Breadcrumb> {
        let mut breadcrumbs = project::breadcrumbs_at(view, &self.source.project, self.source.git_ref.as_ref());
        breadcrumbs.extend(self.staging.breadcrumb(&self.context(), view));
        breadcrumbs
    }

    fn wants(&self, view: &View) -> Vec<Want> {
        let mut wants = vec![project::want(&self.source.project)];
        wants.extend(self.staging.wants());
        wants.extend(self.submodule_want());
        wants.extend(self.before.as_ref().map(|step| Load::single(&step.changes(&self.source.project)).into()));
        if let Some(split) = &self.split {
            wants.extend(split.wants(view));
            return wants;
        }
        // For an empty repository, servers reply that its tree is missing. The project tells both cases apart, so it is
        // loaded first.
        let known = project::project(view, &self.source.project).is_some();
        let judged = known || !project::is_missing(view, &self.root(view));
        if judged && !self.is_empty(view) {
            let has_room = self.widths(view).get(TREE).copied().flatten().is_some_and(|at| at >= MIN_WIDTH_WITH_AGE);
            wants.extend(self.tree.wants(view, &self.source, has_room));
            wants.extend(self.blob.wants(view, &self.source.project));
            if let Some(commit) = self.commit(view).filter(|_| !project::is_missing(view, &self.root(view))) {
                wants.push(Load::single(&commit).into());
            }
        }
        wants
    }

    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        // Panels that are not drawn must not react to clicks.
        self.tree_area.set(Rect::default());
        let places = self.panels.layout(area, PANEL_WIDTHS);
        if let Some(area) = places.get(TREE).copied().flatten() {
            self.draw_tree(view, area, buf);
        }
        if let Some(area) = places.get(BLOB).copied().flatten() {
            self.draw_blob(view, area, buf);
        }
        self.panels.draw_dividers(buf, view.theme);
    }

    fn changed(&mut self, cx: &mut Cx) {
        self.decide_split(cx);
        let view = &cx.view;
        let had_target = self.tree.target().is_some();
        let recent = self.recent(view).filter(|recent| !self.reopened && !recent.open_folders.is_empty());
        if let Some(recent) = recent {
            self.reopened = true;
            self.tree.reopen(recent.open_folders.iter().map(String::as_str));
        }
        self.tree.changed(view, &self.source);
        self.submodule_changed(cx);
        self.go_before(cx);
        let view = &cx.view;
        self.follow();
        // Where the tree is shown alone, nothing else tells it.
        let missing = self.tree.missing().filter(|_| had_target && self.widths(view).contains(&None));
        if let Some(words) = missing.map(|path| self.missing_words(path, view)) {
            cx.say(Tone::Warning, words);
        }
        let view = &cx.view;
        if had_target && self.tree.target().is_none() && self.tree.missing().is_none() {
            // The requested path was found: a file gets the focus, at its line.
            if self.tree.current().is_some_and(FileNode::is_file) {
                if let Some(line) = self.line {
                    self.blob.go_to_line(line);
                } else if let Some(name) = self.section.take() {
                    self.blob.go_to_section(&name);
                }
                self.panels.set_focus(BLOB);
            } else {
                self.panels.set_focus(TREE);
            }
        }
        let commit = self.commit(view).and_then(|commit| view.store.get(&commit).value).map(|commit| commit.id.clone());
        let at = |id: String| TreeSource { git_ref: Some(id.into()), ..self.source.clone() };
        self.blob.set_commit(commit.map(at));
        self.blob.update_part(view, &self.source.project);
        self.blob.changed(view);
        if self.blames && self.blob.text(view).is_some() {
            self.blames = false;
            self.blob.toggle_blame(&self.source, view);
        }
        if let Some(words) = self.blob.take_missing_line() {
            cx.say(Tone::Warning, words);
        }
        let context = self.context();
        self.staging.changed(&context, cx);
        let view = &cx.view;
        self.line = self.blob.line(view).filter(|_| self.panels.focus() == BLOB).or(self.line.filter(|_| had_target));
    }

    fn motion(&mut self, motion: Motion, cx: &mut Cx) {
        if self.panels.focus() == BLOB {
            if !self.blob.motion(motion, &cx.view) {
                self.panels.set_focus(TREE);
            }
            return;
        }
        let len = self.tree.nodes().len();
        let node = self.tree.current().cloned();
        match (motion, node) {
            (Motion::Right, Some(node)) => match node.kind {
                tree::NodeKind::Folder { open: false } => self.fold(&node.path, true, cx),
                tree::NodeKind::Folder { open: true } => self.tree.list.move_by(1, len),
                _ if node.is_file() => self.enter(cx),
                _ => {}
            },
            (Motion::Left, Some(node)) => match node.kind {
                tree::NodeKind::Folder { open: true } => self.fold(&node.path, false, cx),
                _ => _ = self.tree.select_above(),
            },
            (other, _) => other.apply(&mut self.tree.list, len),
        }
        self.tree.forget_missing();
        self.tree_moved();
    }

    fn pointer(&mut self, pointer: Pointer, cx: &mut Cx) {
        let (Pointer::Press { column, row, .. } | Pointer::Wheel { column, row, .. }) = pointer else {
            return self.blob.pointer(pointer, &cx.view);
        };
        let pressed = matches!(pointer, Pointer::Press { .. });
        if self.blob.contains(column, row) && !self.tree_area.get().contains((column, row).into()) {
            if pressed {
                self.panels.set_focus(BLOB);
            }
            let link = match pointer {
                Pointer::Press { double: true, .. } => self.blob.link_at(column, row, &cx.view),
                _ => None,
            };
            self.blob.pointer(pointer, &cx.view);
            if let Some(link) = link {
                self.follow_link(&link.address, cx);
            }
            return;
        }
        let area = self.tree_area.get();
        if !area.contains((column, row).into()) {
            return;
        }
        let len = self.tree.nodes().len();
        match pointer {
            Pointer::Wheel { rows, .. } => self.tree.list.scroll_by(rows.into(), len),
            Pointer::Press { double, .. } => {
                self.panels.set_focus(TREE);
                if let Some(index) = self.tree.list.row_at(row - area.y) {
                    self.tree.list.select(index, len);
                    self.tree.forget_missing();
                    self.tree_moved();
                    if double {
                        self.open_node(cx);
                    }
                }
            }
            Pointer::Drag { .. } | Pointer::Release => {}
        }
    }

    fn panels(&mut self) -> Option<&mut Panels> {
        Some(&mut self.panels)
    }

    fn search(&self) -> Option<(SearchMode, String)> {
        self.focused().map_or_else(|| Some((SearchMode::Search, self.name.clone())), Pane::search)
    }

    fn set_filter_text(&mut self, text: &str, cx: &mut Cx) {
        if let Some(blob) = self.focused_mut() {
            return blob.set_filter_text(text, cx);
        }
        self.name = text.to_owned();
        if !text.is_empty() && self.tree.select_named(text, true, true) {
            self.tree_moved();
        }
    }

    fn next_match(&mut self, forward: bool, cx: &mut Cx) {
        if let Some(blob) = self.focused_mut() {
            blob.next_match(forward, cx);
        } else if self.name.is_empty() {
            cx.say(Tone::Info, "No search yet: ‹seek› starts one.");
        } else if self.tree.select_named(&self.name, forward, false) {
            self.tree_moved();
        } else {
            cx.say(Tone::Info, list::not_found(&self.name, false));
        }
    }

    fn escape(&mut self, cx: &mut Cx) -> bool {
        let Some(blob) = self.focused_mut() else { return !std::mem::take(&mut self.name).is_empty() };
        if blob.escape(cx) {
            return true;
        }
        let leaves = std::mem::take(&mut self.entered);
        if leaves {
            self.panels.set_focus(TREE);
        }
        leaves
    }

    fn url(&self, view: &View) -> Option<String> {
        Some(self.page(view, &self.ref_name(view), self.path()))
    }

    fn code(&self, view: &View) -> CodeHere {
        let outlined = self.blob.file().zip(self.blob.text(view)).map(|(file, text)| OutlinedFile {
            path: file.path.clone(),
            sha: file.sha.clone(),
            text: text.clone(),
        });
        CodeHere { outlined, ..self.focused().map(|blob| blob.code(view)).unwrap_or_default() }
    }

    fn copies(&self, view: &View) -> Vec<Clip> {
        self.copied(view)
    }
}
