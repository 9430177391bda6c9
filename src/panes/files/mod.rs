//! Files: the tree of a ref beside one of its files.

mod blob;
mod magic;
mod tree;
mod work;

use super::refs::Refs;
use super::{list, project};
use crate::api::commits::GetCommit;
use crate::api::projects::Project;
use crate::app::action::{Action, Tone};
use crate::app::command::{Command, Motion, WhyNot};
use crate::app::overlay::prompt::Prompt;
use crate::app::pane::{Crumb, Cx, Needs, Pane, Pointer, Seek, View};
use crate::app::place::Place;
use crate::store::{Load, Want};
use crate::ui::panels::{self, Ask, Panels};
use crate::ui::table::{self, Column, Size};
use crate::ui::text::shown;
use crate::ui::{state, text};
use blob::{Blob, File};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::cell::Cell;
use tree::{Node, Source, Tree};

const TREE: usize = 0;
const BLOB: usize = 1;
const ASKS: &[Ask] = &[Ask { min: 24, weight: 1 }, Ask { min: 60, weight: 3 }];
const COLUMNS: &[Column] = &[
    Column::new("", Size::Fill { min: 12, weight: 1 }),
    Column::new("", Size::Fit { min: 0, max: 10 }).right().priority(1),
];

/// The tree and a file of it.
pub struct Files {
    source: Source,
    tree: Tree,
    blob: Blob,
    panels: Panels,
    /// The cursor of the tree was moved, or a path was asked for: the file under it is shown, not the introduction.
    chosen: bool,
    /// The file has the focus because it was opened from the tree: Esc leads back there.
    entered: bool,
    /// What is sought in the tree.
    name: String,
    line: Option<u32>,
    tree_area: Cell<Rect>,
}

impl Files {
    fn is_empty(&self, view: &View) -> bool {
        project::project(view, &self.source.project).is_some_and(Project::is_empty)
    }

    fn root(&self) -> crate::api::repository::ListTree {
        self.source.listing("")
    }

    fn commit(&self, view: &View) -> Option<GetCommit> {
        let name = self.source.git_ref.clone().or_else(|| self.default_branch(view))?;
        Some(GetCommit { id: self.source.project.clone(), sha: name, stats: None })
    }

    fn default_branch(&self, view: &View) -> Option<String> {
        project::default_branch(view, &self.source.project).map(str::to_owned)
    }

    /// The ref by the name that pages have it under.
    fn ref_name(&self, view: &View) -> String {
        self.source.git_ref.clone().or_else(|| self.default_branch(view)).unwrap_or_else(|| "HEAD".into())
    }

    /// The path of what has the focus: the file, or what is under the cursor of the tree.
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

    /// Shows what the cursor of the tree stands on.
    fn follow(&mut self) {
        let node = match self.tree.current() {
            _ if self.tree.missing().is_some() => return,
            Some(node) if self.chosen => node.is_file().then_some(node),
            _ => self.tree.readme(),
        };
        // On a folder, the file shown before stays.
        if let Some(node) = node {
            let file = File { path: node.path.clone(), sha: node.sha.clone() };
            self.blob.show(Some(file));
        }
    }

    fn open_node(&mut self, cx: &mut Cx) {
        if self.panels.focus() == BLOB {
            return;
        }
        let Some(node) = self.tree.current().cloned() else { return };
        self.chosen = true;
        match node.kind {
            tree::Kind::Folder { open } => self.tree.set_open(&node.path, !open),
            tree::Kind::Submodule => cx.say(
                Tone::Info,
                format!("{} is another repository, at commit {}.", shown(&node.path), text::head(&node.sha, 12)),
            ),
            _ if node.is_file() => self.enter(),
            _ => {}
        }
    }

    fn enter(&mut self) {
        self.tree_moved();
        self.panels.set_focus(BLOB);
        self.entered = true;
    }

    fn tree_moved(&mut self) {
        self.chosen = true;
        self.follow();
    }

    fn history(&mut self, cx: &mut Cx) {
        let mut place = Place::new("commits").project(self.source.project.clone());
        place.git_ref = self.source.git_ref.clone();
        place.path = self.path().map(str::to_owned);
        cx.go(place);
    }

    fn sibling(&mut self, forward: bool, cx: &mut Cx) {
        if self.tree.select_file(forward) {
            self.tree_moved();
        } else {
            cx.say(
                Tone::Info,
                if forward { "This is the last file in sight." } else { "This is the first file in sight." },
            );
        }
    }

    fn has_file(&self, _view: &View) -> Result<(), WhyNot> {
        self.blob.file().map(|_| ()).ok_or_else(|| "no file is shown".into())
    }

    fn has_tree(&self, _view: &View) -> Result<(), WhyNot> {
        if self.tree.nodes().is_empty() { Err("there are no files".into()) } else { Ok(()) }
    }

    /// The page of `path` at `git_ref`.
    fn page(&self, view: &View, git_ref: &str, path: Option<&str>) -> String {
        let file = self.blob.file().is_some_and(|f| Some(f.path.as_str()) == path);
        let kind = if file || self.tree.current().is_some_and(|n| n.is_file() && Some(n.path.as_str()) == path) {
            "blob"
        } else {
            "tree"
        };
        let mut rest = format!("/-/{kind}/{}", project::path(git_ref));
        if let Some(path) = path {
            rest.push('/');
            rest.push_str(&project::path(path));
        }
        if let Some(line) = self.blob.line(view).filter(|_| file && self.panels.focus() == BLOB) {
            rest.push_str(&format!("#L{line}"));
        }
        project::page(view, &self.source.project, &rest)
    }

    fn draw_tree(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let focused = self.panels.focus() == TREE;
        let searching = if self.name.is_empty() { String::new() } else { format!("/{}", shown(&self.name)) };
        let area = panels::title(buf, area, view.theme, focused, "Files", &searching);
        self.tree_area.set(area);
        let nodes = self.tree.nodes();
        let rows = view.store.list(&self.root());
        if nodes.is_empty() {
            return match rows.error {
                _ if self.is_empty(view) => {
                    state::empty(
                        buf,
                        area,
                        view.theme,
                        "This repository is empty.",
                        "Push a first commit, then r looks again",
                    );
                }
                Some(error) => list::failure(view, area, buf, error),
                None if rows.known => {
                    state::empty(buf, area, view.theme, "There are no files at this ref.", "R chooses another ref")
                }
                None => state::skeleton(buf, area, view.theme),
            };
        }
        table::draw(buf, area, view.theme, focused, &self.tree.list, COLUMNS, nodes.len(), |i| self.tree.row(i));
    }

    fn draw_blob(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let focused = self.panels.focus() == BLOB;
        if let Some(path) = self.tree.missing() {
            let area = panels::title(buf, area, view.theme, focused, path, "");
            let why = format!("There is no {} at {}.", shown(path), shown(project::short_ref(&self.ref_name(view))));
            return state::empty(buf, area, view.theme, &why, "Choose another file in the tree, or R another ref");
        }
        let Some(file) = self.blob.file() else {
            let area = panels::title(buf, area, view.theme, focused, "", "");
            if self.is_empty(view) {
                let url = project::project(view, &self.source.project)
                    .and_then(|p| p.http_url_to_repo.as_ref()?.as_ref())
                    .map_or_else(String::new, |url| format!("git remote add origin {url}"));
                return state::empty(buf, area, view.theme, "There is nothing to show yet.", &shown(&url));
            }
            if self.tree.nodes().is_empty() && view.store.list(&self.root()).error.is_none() {
                return state::skeleton(buf, area, view.theme);
            }
            return state::empty(buf, area, view.theme, "No file is selected.", "⏎ on a file opens it");
        };
        let area = panels::title(buf, area, view.theme, focused, &file.path, &self.blob.facts(view));
        self.blob.draw(view, &self.source.project, area, buf, focused);
    }
}

impl Pane for Files {
    const ID: &'static str = "files";
    const TITLE: &'static str = "Files of a project";
    const NEEDS: Needs = Needs::Project;
    const COMMANDS: &'static [Command<Self>] = &[
        Command::new("files.open", &["Enter"], "Open the file, open or close the folder", Self::open_node)
            .footer("open")
            .when(|pane, view| match pane.panels.focus() {
                TREE => pane.has_tree(view),
                _ => Err("the file is open".into()),
            }),
        Command::new("files.history", &["b", "H"], "Commits of this path", Self::history).footer("history"),
        Command::new("files.ref", &["R"], "Another branch or tag, at the same path", |pane: &mut Self, cx| {
            cx.act(Refs::pick("Files at", "ref", &pane.source.project, &cx.view));
        })
        .footer("ref"),
        Command::new("files.line", &["L"], "Go to a line", |_: &mut Self, cx| {
            cx.act(Action::Open(Box::new(Prompt::ask("line", "line", ""))));
        })
        .when(Self::has_file),
        Command::new("files.mode", &["v"], "Show it rendered, as source, or as bytes", |pane: &mut Self, cx| {
            pane.blob.turn_mode(&cx.view);
        })
        .footer("view")
        .when(Self::has_file),
        Command::new("files.next", &["]"], "Next file", |pane: &mut Self, cx| pane.sibling(true, cx))
            .when(Self::has_tree),
        Command::new("files.previous", &["["], "Previous file", |pane: &mut Self, cx| pane.sibling(false, cx))
            .when(Self::has_tree),
        Command::new("files.close_all", &["-"], "Close all folders", |pane: &mut Self, _| pane.tree.close_all())
            .when(Self::has_tree),
        Command::new("files.branches", &["B"], "Branches", |pane: &mut Self, cx| {
            cx.go(Place::new("branches").project(pane.source.project.clone()));
        }),
    ];

    fn open(place: &Place, _view: &View) -> Self {
        let path = place.path.as_deref().filter(|p| !p.is_empty());
        let mut files = Files {
            source: Source { project: place.project.clone().unwrap_or_default(), git_ref: place.git_ref.clone() },
            tree: Tree::at(path),
            blob: Blob::default(),
            panels: Panels::new(2),
            chosen: path.is_some(),
            entered: false,
            name: String::new(),
            line: place.line,
            tree_area: Cell::default(),
        };
        if place.line.is_some() {
            files.panels.set_focus(BLOB);
        }
        files
    }

    fn place(&self) -> Place {
        let mut place = Place::new(Self::ID).project(self.source.project.clone());
        place.git_ref = self.source.git_ref.clone();
        place.path = self.tree.sought().or_else(|| self.path()).map(str::to_owned);
        place.line = self.line;
        place
    }

    fn crumbs(&self, view: &View) -> Vec<Crumb> {
        project::crumbs_at(view, &self.source.project, self.source.git_ref.as_deref())
    }

    fn wants(&self, view: &View) -> Vec<Want> {
        let mut wants = vec![project::want(&self.source.project)];
        // Servers say of an empty repository that its tree is missing: which of both it is, the project tells.
        let known = project::project(view, &self.source.project).is_some();
        let judged = known || !project::is_missing(view, &self.root());
        if judged && !self.is_empty(view) {
            wants.extend(self.tree.wants(&self.source));
            wants.extend(self.blob.wants(view, &self.source.project));
            if let Some(commit) = self.commit(view).filter(|_| !project::is_missing(view, &self.root())) {
                wants.push(Load::one(&commit).into());
            }
        }
        wants
    }

    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        // Where it is not drawn, nothing of it can be pressed.
        self.tree_area.set(Rect::default());
        let places = self.panels.layout(area, ASKS);
        if let Some(area) = places.get(TREE).copied().flatten() {
            self.draw_tree(view, area, buf);
        }
        if let Some(area) = places.get(BLOB).copied().flatten() {
            self.draw_blob(view, area, buf);
        }
        self.panels.rules(buf, view.theme);
    }

    fn changed(&mut self, cx: &mut Cx) {
        let view = &cx.view;
        let was_sought = self.tree.sought().is_some();
        self.tree.changed(view, &self.source);
        self.follow();
        if was_sought && self.tree.sought().is_none() && self.tree.missing().is_none() {
            // What was asked for is there: a file opens, at its line.
            if self.tree.current().is_some_and(Node::is_file) {
                if let Some(line) = self.line {
                    self.blob.go_to_line(line);
                }
                self.panels.set_focus(BLOB);
            } else {
                self.panels.set_focus(TREE);
            }
        }
        self.blob.changed(view);
        self.line = self.blob.line(view).filter(|_| self.panels.focus() == BLOB).or(self.line.filter(|_| was_sought));
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
                tree::Kind::Folder { open: false } => self.tree.set_open(&node.path, true),
                tree::Kind::Folder { open: true } => self.tree.list.move_by(1, len),
                _ if node.is_file() => self.enter(),
                _ => {}
            },
            (Motion::Left, Some(node)) => match node.kind {
                tree::Kind::Folder { open: true } => self.tree.set_open(&node.path, false),
                _ => self.tree.select_above(),
            },
            (Motion::PageUp, _) => self.tree.list.page_by(-1, len),
            (Motion::PageDown, _) => self.tree.list.page_by(1, len),
            (Motion::Wheel(rows), _) => self.tree.list.scroll_by(rows.into(), len),
            (other, _) => other.apply(&mut self.tree.list, len),
        }
        self.tree.forget_missing();
        self.tree_moved();
    }

    fn pointer(&mut self, pointer: Pointer, cx: &mut Cx) {
        let (Pointer::Press { column, row, .. } | Pointer::Wheel { column, row, .. }) = pointer else { return };
        let pressed = matches!(pointer, Pointer::Press { .. });
        if self.blob.holds(column, row) && !self.tree_area.get().contains((column, row).into()) {
            if pressed {
                self.panels.set_focus(BLOB);
            }
            return self.blob.pointer(pointer, &cx.view);
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

    fn seek(&self) -> Option<Seek> {
        Some(Seek::Search)
    }

    fn sought(&self) -> String {
        if self.panels.focus() == BLOB { self.blob.query().to_owned() } else { self.name.clone() }
    }

    fn set_sought(&mut self, text: &str, cx: &mut Cx) {
        if self.panels.focus() == BLOB {
            return self.blob.set_query(text, &cx.view);
        }
        self.name = text.to_owned();
        if !text.is_empty() && self.tree.select_named(text, true, true) {
            self.tree_moved();
        }
    }

    fn seek_next(&mut self, forward: bool, cx: &mut Cx) {
        let blob = self.panels.focus() == BLOB;
        let sought = Pane::sought(self);
        let found = match blob {
            _ if sought.is_empty() => return cx.say(Tone::Info, "Nothing is sought: / begins."),
            true => self.blob.seek_next(forward, &cx.view),
            false => self.tree.select_named(&sought, forward, false),
        };
        match (found, blob) {
            (false, _) => cx.say(Tone::Info, format!("\"{sought}\" is not found.")),
            (true, false) => self.tree_moved(),
            (true, true) => {}
        }
    }

    fn answer(&mut self, tag: &'static str, value: String, cx: &mut Cx) {
        match tag {
            "line" => match value.trim().parse() {
                Ok(line) => {
                    self.blob.go_to_line(line);
                    self.panels.set_focus(BLOB);
                }
                Err(_) => cx.say(Tone::Warning, format!("\"{}\" is no line number.", shown(&value))),
            },
            "ref" => {
                let path = self.path().map(str::to_owned);
                self.source.git_ref = Some(value);
                self.tree.restart(path.as_deref());
            }
            _ => {}
        }
    }

    fn escape(&mut self, cx: &mut Cx) -> bool {
        if !Pane::sought(self).is_empty() {
            self.set_sought("", cx);
            return true;
        }
        if self.panels.focus() == BLOB && self.entered {
            self.entered = false;
            self.panels.set_focus(TREE);
            return true;
        }
        false
    }

    fn url(&self, view: &View) -> Option<String> {
        Some(self.page(view, &self.ref_name(view), self.path()))
    }

    fn copies(&self, view: &View) -> Vec<(&'static str, String)> {
        let mut copies = Vec::new();
        let path = self.path();
        copies.extend(path.map(|p| ("path", p.to_owned())));
        let sha = self.commit(view).and_then(|c| view.store.get(&c).value).map(|c| c.id.clone());
        if let Some(sha) = &sha {
            copies.push(("permalink", self.page(view, sha, path)));
            copies.push(("commit SHA", sha.clone()));
        }
        let node = self.tree.current().filter(|n| Some(n.path.as_str()) == path).map(|n| n.sha.clone());
        let file = self.blob.file().filter(|f| Some(f.path.as_str()) == path).map(|f| f.sha.clone());
        copies.extend(file.or(node).map(|sha| ("object SHA", sha)));
        copies.push(("ref", self.ref_name(view)));
        copies
    }
}
