//! The artifacts of a job: the archive as a tree, and a panel that shows one of its files as text, picture, test report
//! or bytes.

mod actions;
mod archive;
mod draw;
mod file_panel;
mod reads;
mod tree;
mod tree_panel;
mod unpack;

use crate::app::clip::Clip;
use crate::app::command::{Command, Table};
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::motion::Motion;
use crate::app::pane::{Breadcrumb, Pane, PaneKind};
use crate::app::permission;
use crate::app::place::Place;
use crate::app::pointer::Pointer;
use crate::app::tone::Tone;
use crate::app::view::View;
use crate::parts::ci::JobAction;
use crate::parts::ci::test_report::{ShowsTests, TestReportView};
use crate::parts::project;
use crate::parts::repository::blob::BlobView;
use crate::parts::repository::blob::keys::ShowsFile;
use crate::store::Want;
use crate::ui::panels::{PanelRequest, Panels};
use crate::ui::text;
use file_panel::FilePanel;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use reads::{ArtifactReads, ArtifactSource};
use tree_panel::TreePanel;

const TREE: usize = 0;
const FILE: usize = 1;
const PANEL_WIDTHS: &[PanelRequest] = &[PanelRequest { min: 30, weight: 1 }, PanelRequest { min: 60, weight: 2 }];

/// The tree of an archive, and one of its files.
pub struct Artifacts {
    reads: ArtifactReads,
    tree: TreePanel,
    file: FilePanel,
    /// The requested path, until the archive is loaded.
    wanted: Option<String>,
    /// Whether the file got the focus from the tree, to which Esc returns.
    entered: bool,
    panels: Panels,
}

impl Artifacts {
    /// Shows the file under the cursor. On a folder, the previous file stays.
    fn follow(&mut self, view: &View) {
        if let Some(index) = self.tree.current(view) {
            self.file.show(index, view);
        }
    }

    /// Goes to the requested path. If it does not exist, goes to its nearest existing parent folder and reports that.
    fn open_wanted(&mut self, cx: &mut Cx) {
        let Some(archive) = self.reads.archive(&cx.view) else { return };
        let Some(path) = self.wanted.take() else { return };
        let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        let nearest = ends.rev().find_map(|end| archive.tree.find(path.get(..end)?));
        let whole = nearest.as_ref().is_some_and(|(node, _)| archive.tree.path(*node) == path.trim_matches('/'));
        if let Some((node, _)) = nearest {
            self.tree.select(node, &cx.view);
            if archive.tree.node(node).is_some_and(|node| node.folder) {
                self.tree.set_open(node, true, &cx.view);
            } else if whole {
                self.panels.set_focus(FILE);
            }
        }
        if !whole {
            cx.say(Tone::Warning, format!("{} not found in these artifacts.", text::sanitize(&path)));
        }
    }
}

impl ShowsFile for Artifacts {
    fn shown_file(&self, view: &View) -> Result<(&BlobView, bool), Disabled> {
        self.reads.has_archive(view)?;
        Ok((&self.file.blob, self.file.has_failed(view)))
    }

    fn shown_file_mut(&mut self) -> &mut BlobView {
        &mut self.file.blob
    }

    fn is_in_text(&self) -> bool {
        self.panels.focus() == FILE && self.file.tests.report().is_none()
    }

    fn enter_text(&mut self) {
        self.panels.set_focus(FILE);
        self.file.show_text();
    }

    fn next_mode(&mut self, view: &View) {
        self.file.next_mode(view);
    }
}

impl ShowsTests for Artifacts {
    fn need_test(&self, view: &View) -> Result<(), Disabled> {
        self.file.has_report(view)
    }

    fn tests_mut(&mut self) -> &mut TestReportView {
        self.panels.set_focus(FILE);
        &mut self.file.tests
    }
}

impl PaneKind for Artifacts {
    const ID: &'static str = "artifacts";
    const TABLES: &'static [Table<Self>] = &[Self::COMMANDS, Self::FILE, Self::LINES, Self::TESTS];
    const COMMANDS: &'static [Command<Self>] = &[
        Command::new("artifacts.open", &["Enter"], "Open selection", Self::open_node).footer("open").when(
            |pane, view| match pane.panels.focus() {
                TREE => pane.reads.has_archive(view),
                _ => pane.file.can_open(view),
            },
        ),
        Command::new("artifacts.save", &["s"], "Save file…", Self::save).footer("save").when(Self::can_save),
        Command::new("artifacts.save_all", &["A"], "Save archive…", Self::save_all).footer("save all"),
        Command::new("artifacts.unpack", &["u"], "Unpack folder…", |pane: &mut Self, cx| {
            let folder = pane.current_folder(&cx.view);
            pane.unpack(&folder, cx);
        })
        .footer("unpack")
        .when(|pane, view| pane.reads.has_archive(view)),
        Command::new("artifacts.unpack_all", &["U"], "Unpack archive…", |pane: &mut Self, cx| {
            pane.unpack("", cx);
        })
        .when(|pane, view| pane.reads.has_archive(view)),
        Command::new("artifacts.keep", &["K"], "Keep artifacts", |pane: &mut Self, cx| {
            if let Some(job) = pane.reads.job(&cx.view) {
                JobAction::KeepArtifacts.apply(&pane.reads.project, &[job], None, cx);
            }
        })
        .needs(permission::RUN)
        .when(Self::can_keep),
        Command::new("artifacts.next", &["]"], "Next file", |pane: &mut Self, cx| pane.sibling(true, cx))
            .when(|pane, view| pane.reads.has_archive(view)),
        Command::new("artifacts.previous", &["["], "Previous file", |pane: &mut Self, cx| pane.sibling(false, cx))
            .when(|pane, view| pane.reads.has_archive(view)),
        Command::new("artifacts.close_all", &["-"], "Close all folders", |pane: &mut Self, cx| {
            pane.tree.close_all(&cx.view);
        })
        .when(|pane, view| pane.reads.has_archive(view)),
        Command::new("artifacts.ref", &["R"], "Switch branch or tag…", Self::ask_ref),
        Command::new("artifacts.job", &["J"], "Go to job", |pane: &mut Self, cx| {
            if let Some(job) = pane.reads.job_id(&cx.view) {
                cx.go(Place::new("job").project(pane.reads.project.clone()).item(job));
            }
        })
        .when(|pane, view| match pane.reads.job_id(view) {
            Some(_) => Ok(()),
            None => Err("the job is not known".into()),
        }),
    ];

    fn open(place: &Place, _view: &View) -> Self {
        let item = place.item.clone().unwrap_or_default();
        let of = match &place.git_ref {
            Some(git_ref) => ArtifactSource::Ref { git_ref: git_ref.short().to_owned(), job: item },
            None => ArtifactSource::Job(item.parse().unwrap_or_default()),
        };
        let reads = ArtifactReads { project: place.project.clone().unwrap_or_default(), of };
        Artifacts {
            tree: TreePanel::new(reads.clone()),
            file: FilePanel::new(reads.clone()),
            reads,
            wanted: place.path.clone().filter(|path| !path.is_empty()),
            entered: false,
            panels: Panels::new(2),
        }
    }
}

impl Pane for Artifacts {
    fn focused(&self) -> Option<&dyn Pane> {
        Some(match self.panels.focus() {
            FILE => &self.file,
            _ => &self.tree,
        })
    }

    fn focused_mut(&mut self) -> Option<&mut dyn Pane> {
        Some(match self.panels.focus() {
            FILE => &mut self.file,
            _ => &mut self.tree,
        })
    }

    fn place(&self) -> Place {
        let shown = self.file.path().filter(|_| self.panels.focus() == FILE).map(str::to_owned);
        Place { path: self.wanted.clone().or(shown), ..self.reads.place() }
    }

    fn breadcrumbs(&self, view: &View) -> Vec<Breadcrumb> {
        self.path_breadcrumbs(view)
    }

    fn wants(&self, view: &View) -> Vec<Want> {
        let mut wants = vec![project::want(&self.reads.project)];
        wants.extend(self.reads.wants(view));
        wants.extend(self.tree.wants(view));
        wants.extend(self.file.wants(view));
        wants
    }

    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        self.tree.hide();
        self.file.tests.hide();
        if self.reads.archive(view).is_none() {
            return self.draw_missing(view, area, buf);
        }
        let places = self.panels.layout(area, PANEL_WIDTHS);
        if let Some(area) = places.get(TREE).copied().flatten() {
            self.tree.draw(view, area, buf, self.panels.focus() == TREE);
        }
        if let Some(area) = places.get(FILE).copied().flatten() {
            self.file.draw(view, area, buf, self.panels.focus() == FILE);
        }
        self.panels.draw_dividers(buf, view.theme);
    }

    fn changed(&mut self, cx: &mut Cx) {
        self.tree.changed(cx);
        self.open_wanted(cx);
        self.follow(&cx.view);
        self.file.changed(cx);
    }

    fn motion(&mut self, motion: Motion, cx: &mut Cx) {
        let is_on_file = |index| self.reads.node(&cx.view, index).is_some_and(|node| !node.folder);
        if self.panels.focus() == FILE {
            if !self.file.move_within(motion, &cx.view) {
                self.panels.set_focus(TREE);
            }
        } else if motion == Motion::Right && self.tree.current(&cx.view).is_some_and(is_on_file) {
            self.enter(&cx.view);
        } else {
            self.tree.motion(motion, cx);
        }
    }

    fn pointer(&mut self, pointer: Pointer, cx: &mut Cx) {
        let (Pointer::Press { column, row, .. } | Pointer::Wheel { column, row, .. }) = pointer else { return };
        let panel = match () {
            () if self.tree.contains(column, row) => TREE,
            () if self.file.contains(column, row) => FILE,
            () => return,
        };
        if matches!(pointer, Pointer::Press { .. }) {
            self.panels.set_focus(panel);
        }
        match (panel, pointer) {
            (FILE, _) => self.file.pointer(pointer, cx),
            (_, Pointer::Wheel { rows, .. }) => self.tree.scroll_by(rows, &cx.view),
            (_, Pointer::Press { double, .. }) => {
                if self.tree.click(row, &cx.view) && double {
                    self.open_node(cx);
                }
            }
            (_, Pointer::Drag { .. } | Pointer::Release) => {}
        }
    }

    fn panels(&mut self) -> Option<&mut Panels> {
        Some(&mut self.panels)
    }

    fn escape(&mut self, cx: &mut Cx) -> bool {
        if self.focused_mut().is_some_and(|panel| panel.escape(cx)) {
            return true;
        }
        let leaves = self.panels.focus() == FILE && std::mem::take(&mut self.entered);
        if leaves {
            self.panels.set_focus(TREE);
        }
        leaves
    }

    fn url(&self, view: &View) -> Option<String> {
        let path =
            self.selected_entry(view).filter(|entry| entry.anomaly.is_none()).map(|entry| project::path(&entry.path));
        let job = self.reads.job_id(view)?;
        let rest = path.map_or_else(|| "browse".to_owned(), |path| format!("file/{path}"));
        Some(project::page(view, &self.reads.project, &format!("/-/jobs/{job}/artifacts/{rest}")))
    }

    fn copies(&self, view: &View) -> Vec<Clip> {
        let mut copies = self.focused().map(|panel| panel.copies(view)).unwrap_or_default();
        copies.extend(self.selected_entry(view).map(|entry| Clip::line("path", entry.path.clone())));
        copies.extend(self.url(view).map(|url| Clip::line("address", url)));
        copies
    }
}
