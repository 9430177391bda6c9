//! The artifacts of a job: the archive as a tree, and a panel that shows one of its files as text, picture, test report
//! or bytes.

mod actions;
mod archive;
mod draw;
mod tree;
mod unpack;

use crate::api::jobs::{GetArtifactFile, GetArtifacts, GetJob, GetRefArtifacts, Job, ListJobs};
use crate::api::pipelines::resources::Status;
use crate::api::{Endpoint, Id};
use crate::app::action::Action;
use crate::app::clip::Clip;
use crate::app::command::Command;
use crate::app::context::Cx;
use crate::app::motion::Motion;
use crate::app::pane::{Breadcrumb, Pane, PaneKind, SearchMode};
use crate::app::place::Place;
use crate::app::place_info::Needs;
use crate::app::pointer::Pointer;
use crate::app::tone::Tone;
use crate::app::view::View;
use crate::domain::junit::Report;
use crate::domain::zip::{Entry, Refusal};
use crate::parts::blob::work::ReadBytes;
use crate::parts::blob::{BlobView, File};
use crate::parts::test_report::Table;
use crate::parts::{ci, list, project};
use crate::store::{AnyRangeRead, Load, Want, Work};
use crate::ui::drawn::Drawn;
use crate::ui::panels::{PanelRequest, Panels};
use crate::ui::table::ListState;
use crate::ui::text;
use archive::{Archive, FetchFile, FetchPart, FileContent, FindNames, MAX_FILE_BYTES, ReadList, ReadReport, Unpack};
use ci::JobAction;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use tree::{Node, VisibleNode};

const TREE: usize = 0;
const FILE: usize = 1;
const PANEL_WIDTHS: &[PanelRequest] = &[PanelRequest { min: 30, weight: 1 }, PanelRequest { min: 60, weight: 2 }];
/// The delay before the file under a moving cursor is fetched.
const FETCH_DELAY: Duration = Duration::from_millis(80);

/// The source of the artifacts.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ArtifactSource {
    /// A job, by its ID.
    Job(u64),
    /// The last successful job of that name on a branch or tag.
    Ref { git_ref: String, job: String },
}

/// The tree of an archive, and one of its files.
pub struct Artifacts {
    project: Id,
    of: ArtifactSource,
    list: ListState,
    open: BTreeSet<u32>,
    rows: Vec<VisibleNode>,
    /// Whether the folders that start open have been opened.
    is_initialized: bool,
    /// The filter of the tree.
    name: String,
    /// The requested path, until the archive is loaded.
    wanted: Option<String>,
    /// The node of the shown file.
    shown: Option<u32>,
    blob: BlobView,
    report: Table,
    /// Whether a test report is shown as plain text.
    as_text: bool,
    entered: bool,
    panels: Panels,
    tree_area: Drawn<Rect>,
    /// The search text in a test report.
    test: String,
}

impl Artifacts {
    /// Returns the key of the archive.
    fn key(&self) -> String {
        match &self.of {
            ArtifactSource::Job(job) => format!("archive of {} job {job}", self.project),
            ArtifactSource::Ref { git_ref, job } => format!("archive of {} ref {git_ref} job {job}", self.project),
        }
    }

    /// Returns the request for the archive.
    fn request(&self) -> crate::api::Request {
        let id = self.project.clone();
        match &self.of {
            ArtifactSource::Job(job_id) => GetArtifacts { id, job_id: *job_id, job_token: None }.request(),
            ArtifactSource::Ref { git_ref, job } => {
                GetRefArtifacts { id, ref_name: git_ref.clone(), job: job.clone(), job_token: None }.request()
            }
        }
    }

    fn get_job(&self) -> Option<GetJob> {
        match &self.of {
            ArtifactSource::Job(job_id) => Some(GetJob { id: self.project.clone(), job_id: *job_id }),
            ArtifactSource::Ref { .. } => None,
        }
    }

    /// Returns the list of jobs to search for the job of an [`ArtifactSource::Ref`].
    fn jobs(&self) -> ListJobs {
        ListJobs { id: self.project.clone(), scope: Some(vec!["success".into()]) }
    }

    /// Returns the job, if it is loaded.
    fn job<'a>(&self, view: &View<'a>) -> Option<&'a Job> {
        match &self.of {
            ArtifactSource::Job(_) => view.store.get(&self.get_job()?).value,
            ArtifactSource::Ref { git_ref, job } => view.store.list(&self.jobs()).iter().find(|one| {
                one.status == Status::Success && one.r#ref == *git_ref && one.name == *job && one.has_artifacts()
            }),
        }
    }

    fn job_id(&self, view: &View) -> Option<u64> {
        match &self.of {
            ArtifactSource::Job(job) => Some(*job),
            ArtifactSource::Ref { .. } => self.job(view).map(|job| job.id),
        }
    }

    /// Returns whether there may be artifacts to fetch. If the job cannot be read, the request for the archive itself
    /// decides.
    fn may_exist(&self, view: &View) -> bool {
        match (self.get_job(), self.job(view)) {
            (None, _) => true,
            (Some(_), Some(job)) => job.has_artifacts(),
            (Some(get), None) => view.store.get(&get).error.is_some(),
        }
    }

    fn outcome<'a>(&self, view: &View<'a>) -> Option<&'a Result<Arc<Archive>, Refusal>> {
        view.store.result(&self.key())
    }

    fn archive<'a>(&self, view: &View<'a>) -> Option<&'a Arc<Archive>> {
        self.outcome(view)?.as_ref().ok()
    }

    /// Returns the files that match the filter; `None` without a filter or before the search has finished.
    fn found<'a>(&self, view: &View<'a>) -> Option<&'a Vec<u32>> {
        if self.name.trim().is_empty() {
            return None;
        }
        view.store.result(&archive::names_key(&self.key(), &self.name))
    }

    /// Returns the number of rows of the tree, or of the matching files.
    fn len(&self, view: &View) -> usize {
        self.found(view).map_or(self.rows.len(), Vec::len)
    }

    fn node_at(&self, view: &View, index: usize) -> Option<u32> {
        match self.found(view) {
            Some(found) => found.get(index).copied(),
            None => self.rows.get(index).map(|visible| visible.node),
        }
    }

    /// Returns the node under the cursor.
    fn current(&self, view: &View) -> Option<u32> {
        self.node_at(view, self.list.selected())
    }

    fn node<'a>(&self, view: &View<'a>, index: u32) -> Option<&'a Node> {
        self.archive(view)?.tree.node(index)
    }

    /// Returns the archive entry of a node.
    fn entry<'a>(&self, view: &View<'a>, index: u32) -> Option<&'a Entry> {
        let archive = self.archive(view)?;
        archive.list.entries.get(archive.tree.node(index)?.entry? as usize)
    }

    /// Returns the archive entry of the shown file.
    fn shown_entry<'a>(&self, view: &View<'a>) -> Option<&'a Entry> {
        self.entry(view, self.shown?)
    }

    /// Returns the key of the content of the shown file.
    fn sha(&self) -> Option<String> {
        Some(self.blob.file()?.sha.clone())
    }

    /// Returns the fetched content of the shown file, or why it cannot be shown.
    fn content<'a>(&self, view: &View<'a>) -> Option<&'a FileContent> {
        view.store.result(&archive::content_key(&self.sha()?))
    }

    /// Returns the test report, if the shown file is displayed as one.
    fn table<'a>(&self, view: &View<'a>) -> Option<&'a Arc<Report>> {
        if self.as_text {
            return None;
        }
        view.store.result::<Option<Arc<Report>>>(&archive::report_key(&self.sha()?))?.as_ref()
    }

    /// Returns whether the shown file may be a test report that is not parsed yet.
    fn is_read_as_report(&self, view: &View) -> bool {
        let (Some(entry), Some(sha)) = (self.shown_entry(view), self.sha()) else { return false };
        let is_parsed = view.store.result::<Option<Arc<Report>>>(&archive::report_key(&sha)).is_some();
        is_xml(&entry.path) && self.blob.text(view).is_some() && !is_parsed
    }

    /// Shows the file under the cursor. On a folder, the previous file stays.
    fn follow(&mut self, view: &View) {
        let Some(index) = self.current(view) else { return };
        let Some(entry) = self.entry(view, index).filter(|entry| !entry.is_folder) else { return };
        if self.shown != Some(index) {
            self.shown = Some(index);
            self.report.restart();
            self.as_text = false;
            let sha = format!("{} entry {index}", self.key());
            self.blob.show(Some(File { path: entry.path.clone(), sha }));
        }
    }

    fn set_open(&mut self, index: u32, open: bool, view: &View) {
        if open {
            self.open.insert(index);
        } else {
            self.open.remove(&index);
        }
        self.update_rows(view);
    }

    /// Updates the visible rows after folders were opened or closed.
    fn update_rows(&mut self, view: &View) {
        if let Some(archive) = self.archive(view) {
            self.rows = archive.tree.visible_nodes(&self.open);
        }
    }

    /// Selects a node and opens the folders that contain it.
    fn select(&mut self, index: u32, view: &View) {
        let Some(archive) = self.archive(view) else { return };
        let mut at = index;
        while let Some(parent) = archive.tree.parent(at) {
            self.open.insert(parent);
            at = parent;
        }
        self.update_rows(view);
        if let Some(row) = self.rows.iter().position(|visible| visible.node == index) {
            self.list.select(row, self.rows.len());
        }
    }

    /// Goes to the requested path. If it does not exist, goes to its nearest existing parent folder and reports that.
    fn open_wanted(&mut self, cx: &mut Cx) {
        let Some(archive) = self.archive(&cx.view) else { return };
        if !self.is_initialized {
            self.is_initialized = true;
            self.open = archive.tree.initially_open();
            self.update_rows(&cx.view);
        }
        let Some(path) = self.wanted.take() else { return };
        let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        let nearest = ends.rev().find_map(|end| archive.tree.find(path.get(..end)?));
        let whole = nearest.as_ref().is_some_and(|(node, _)| archive.tree.path(*node) == path.trim_matches('/'));
        if let Some((node, _)) = nearest {
            self.select(node, &cx.view);
            if archive.tree.node(node).is_some_and(|node| node.folder) {
                self.set_open(node, true, &cx.view);
            } else if whole {
                self.panels.set_focus(FILE);
            }
        }
        if !whole {
            cx.say(Tone::Warning, format!("{} not found in these artifacts.", text::sanitize(&path)));
        }
    }

    /// Returns the work that provides the content of the shown file.
    fn wants_file(&self, view: &View) -> Vec<Want> {
        let (Some(archive), Some(index), Some(sha)) = (self.archive(view), self.shown, self.sha()) else {
            return Vec::new();
        };
        let Some(entry) = self.entry(view, index).filter(|entry| refused(entry).is_none()) else { return Vec::new() };
        if self.blob.is_known(view) {
            let mut wants = Vec::new();
            if self.table(view).is_none() {
                wants = self.blob.wants_shown(view);
            }
            if let Some(text) = self.blob.text(view).filter(|_| is_xml(&entry.path)) {
                wants.push(Work::new(ReadReport { sha, text: text.clone() }).into());
            }
            return wants;
        }
        match self.content(view) {
            Some(Ok(bytes)) => return vec![Work::new(ReadBytes { sha, bytes: bytes.clone() }).into()],
            Some(Err(_)) => return Vec::new(),
            None => {}
        }
        if archive.parts.is_whole() {
            let (parts, entry) = (archive.parts.clone(), entry.clone());
            return vec![Work::new(Unpack { sha, parts, entry }).into()];
        }
        let once = self.node(view, index).is_some_and(|node| !node.is_duplicate);
        let read = match self.file_request(view, entry).filter(|_| once) {
            Some(request) => AnyRangeRead::new(FetchFile { sha, request }),
            None => {
                let (request, entry, total) = (self.request(), entry.clone(), archive.parts.total());
                AnyRangeRead::new(FetchPart { sha, request, entry, total })
            }
        };
        vec![read.after(FETCH_DELAY).into()]
    }

    /// Returns the request for a single file; `None` while the job is unknown.
    fn file_request(&self, view: &View, entry: &Entry) -> Option<crate::api::Request> {
        let (id, job_id) = (self.project.clone(), self.job_id(view)?);
        Some(GetArtifactFile { id, job_id, artifact_path: entry.path.clone() }.request())
    }
}

/// Returns why the file of an entry is not shown, if it is not.
fn refused(entry: &Entry) -> Option<Refusal> {
    match entry.anomaly {
        Some(anomaly) => Some(Refusal::Anomaly(anomaly)),
        None if entry.uncompressed_size > MAX_FILE_BYTES => Some(Refusal::TooLarge(entry.uncompressed_size)),
        None => None,
    }
}

fn is_xml(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, ending)| ending.eq_ignore_ascii_case("xml"))
}

impl Artifacts {
    fn go_to_line(&mut self, typed: String, cx: &mut Cx) {
        match typed.trim().parse() {
            Ok(line) => {
                self.blob.go_to_line(line);
                self.as_text = true;
                self.panels.set_focus(FILE);
            }
            Err(_) => cx.say(Tone::Warning, format!("Invalid line number \"{}\".", text::sanitize(&typed))),
        }
    }
}

impl PaneKind for Artifacts {
    const ID: &'static str = "artifacts";
    const TITLE: &'static str = "Artifacts";
    const NEEDS: Needs = Needs::Item;
    const COMMANDS: &'static [Command<Self>] = &[
        Command::new("artifacts.open", &["Enter"], "Open selection", Self::open_node).footer("open").when(
            |pane, view| match pane.panels.focus() {
                TREE => pane.has_archive(view),
                _ => pane.has_report(view),
            },
        ),
        Command::new("artifacts.mode", &["v"], "Change view mode", |pane: &mut Self, cx| {
            if pane.table(&cx.view).is_some() {
                pane.as_text = true;
            } else if pane.as_text && pane.blob.text(&cx.view).is_some() {
                pane.as_text = false;
            } else {
                pane.blob.next_mode(&cx.view);
            }
        })
        .footer("view")
        .when(Self::has_file),
        Command::new("artifacts.save", &["s"], "Save file…", Self::save).footer("save").when(Self::can_save),
        Command::new("artifacts.save_all", &["A"], "Save archive…", Self::save_all).footer("save all"),
        Command::new("artifacts.unpack", &["u"], "Unpack folder…", |pane: &mut Self, cx| {
            let folder = pane.current_folder(&cx.view);
            pane.unpack(&folder, cx);
        })
        .footer("unpack")
        .when(Self::has_archive),
        Command::new("artifacts.unpack_all", &["U"], "Unpack archive…", |pane: &mut Self, cx| {
            pane.unpack("", cx);
        })
        .when(Self::has_archive),
        Command::new("artifacts.keep", &["K"], "Keep artifacts", |pane: &mut Self, cx| {
            if let Some(job) = pane.job(&cx.view) {
                JobAction::KeepArtifacts.apply(&pane.project, &[job], None, cx);
            }
        })
        .writes()
        .when(Self::can_keep),
        Command::new("artifacts.next_error", &["e"], "Next failed test", |pane: &mut Self, cx| {
            pane.failed(true, cx);
        })
        .when(Self::has_report),
        Command::new("artifacts.previous_error", &["E"], "Previous failed test", |pane: &mut Self, cx| {
            pane.failed(false, cx);
        })
        .when(Self::has_report),
        Command::new("artifacts.expand", &["x"], "Toggle full test output", |pane: &mut Self, _| {
            pane.report.toggle_full_output();
            pane.panels.set_focus(FILE);
        })
        .when(Self::has_report),
        Command::new("artifacts.next", &["]"], "Next file", |pane: &mut Self, cx| pane.sibling(true, cx))
            .when(Self::has_archive),
        Command::new("artifacts.previous", &["["], "Previous file", |pane: &mut Self, cx| pane.sibling(false, cx))
            .when(Self::has_archive),
        Command::new("artifacts.close_all", &["-"], "Close all folders", |pane: &mut Self, cx| {
            pane.open.clear();
            pane.update_rows(&cx.view);
        })
        .when(Self::has_archive),
        Command::new("artifacts.line", &["L"], "Go to line…", |_: &mut Self, cx| {
            cx.ask("line", "", Self::go_to_line);
        })
        .when(Self::has_text),
        Command::new("artifacts.wrap", &["W"], "Toggle line wrap", |pane: &mut Self, cx| {
            let words = if pane.blob.toggle_wrap() { "Line wrap on." } else { "Line wrap off." };
            cx.say(Tone::Info, words);
        })
        .when(Self::has_text),
        Command::new("artifacts.page", &["P"], "Open in $PAGER", |pane: &mut Self, cx| {
            if let Some(text) = pane.blob.pager_text(&cx.view) {
                cx.act(Action::Pager(text));
            }
        })
        .when(Self::has_text),
        Command::new("artifacts.ref", &["R"], "Switch branch or tag…", Self::ask_ref),
        Command::new("artifacts.job", &["J"], "Go to job", |pane: &mut Self, cx| {
            if let Some(job) = pane.job_id(&cx.view) {
                cx.go(Place::new("job").project(pane.project.clone()).item(job));
            }
        })
        .when(|pane, view| match pane.job_id(view) {
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
        Artifacts {
            project: place.project.clone().unwrap_or_default(),
            of,
            list: ListState::new(),
            open: BTreeSet::new(),
            rows: Vec::new(),
            is_initialized: false,
            name: String::new(),
            wanted: place.path.clone().filter(|path| !path.is_empty()),
            shown: None,
            blob: BlobView::default(),
            report: Table::default(),
            as_text: false,
            entered: false,
            panels: Panels::new(2),
            tree_area: Drawn::default(),
            test: String::new(),
        }
    }
}

impl Pane for Artifacts {
    fn place(&self) -> Place {
        let place = Place::new(Self::ID).project(self.project.clone());
        let place = match &self.of {
            ArtifactSource::Job(job) => place.item(job),
            ArtifactSource::Ref { git_ref, job } => place.at(git_ref.clone()).item(job),
        };
        let shown = self.blob.file().map(|file| file.path.clone()).filter(|_| self.panels.focus() == FILE);
        Place { path: self.wanted.clone().or(shown), ..place }
    }

    fn breadcrumbs(&self, view: &View) -> Vec<Breadcrumb> {
        self.path_breadcrumbs(view)
    }

    fn wants(&self, view: &View) -> Vec<Want> {
        let mut wants = vec![project::want(&self.project)];
        wants.push(match self.get_job() {
            // A running job may upload artifacts when it finishes.
            Some(get) if self.job(view).is_some_and(ci::may_change) => {
                Load::single(&get).refresh_after(ci::POLL_INTERVAL).into()
            }
            Some(get) => Load::single(&get).into(),
            None => Load::list(&self.jobs(), 1).into(),
        });
        if self.may_exist(view) || self.archive(view).is_some() {
            wants.push(AnyRangeRead::new(ReadList { key: self.key(), request: self.request() }).into());
        }
        if let Some(archive) = self.archive(view) {
            if !self.name.trim().is_empty() {
                let (of, archive, words) = (self.key(), archive.clone(), self.name.clone());
                wants.push(Work::new(FindNames { of, archive, words }).into());
            }
            wants.extend(self.wants_file(view));
        }
        wants
    }

    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        self.tree_area.set(Rect::default());
        self.report.hide();
        if self.archive(view).is_none() {
            return self.draw_missing(view, area, buf);
        }
        let places = self.panels.layout(area, PANEL_WIDTHS);
        if let Some(area) = places.get(TREE).copied().flatten() {
            self.draw_tree(view, area, buf);
        }
        if let Some(area) = places.get(FILE).copied().flatten() {
            self.draw_file(view, area, buf);
        }
        self.panels.draw_dividers(buf, view.theme);
    }

    fn changed(&mut self, cx: &mut Cx) {
        self.open_wanted(cx);
        let len = self.len(&cx.view);
        self.list.clamp(len);
        self.follow(&cx.view);
        self.blob.changed(&cx.view);
    }

    fn motion(&mut self, motion: Motion, cx: &mut Cx) {
        if self.panels.focus() == FILE {
            let stays = match self.table(&cx.view) {
                Some(report) => self.report.motion(motion, report),
                None => self.blob.motion(motion, &cx.view),
            };
            if !stays {
                self.panels.set_focus(TREE);
            }
            return;
        }
        let len = self.len(&cx.view);
        let current = self.current(&cx.view);
        let folder = current.and_then(|index| self.node(&cx.view, index)).is_some_and(|node| node.folder);
        match (motion, current) {
            (Motion::Right, Some(index)) if folder => match self.open.contains(&index) {
                true => self.list.move_by(1, len),
                false => self.set_open(index, true, &cx.view),
            },
            (Motion::Right, Some(_)) => self.enter(&cx.view),
            (Motion::Left, Some(index)) if folder && self.open.contains(&index) => {
                self.set_open(index, false, &cx.view);
            }
            (Motion::Left, Some(index)) => {
                let parent = self.archive(&cx.view).and_then(|archive| archive.tree.parent(index));
                if let Some(parent) = parent.filter(|_| self.name.is_empty()) {
                    self.select(parent, &cx.view);
                }
            }
            (other, _) => other.apply(&mut self.list, len),
        }
        self.follow(&cx.view);
    }

    fn pointer(&mut self, pointer: Pointer, cx: &mut Cx) {
        let (Pointer::Press { column, row, .. } | Pointer::Wheel { column, row, .. }) = pointer else { return };
        let area = self.tree_area.get();
        if area.contains((column, row).into()) {
            let len = self.len(&cx.view);
            match pointer {
                Pointer::Wheel { rows, .. } => self.list.scroll_by(rows.into(), len),
                Pointer::Press { double, .. } => {
                    self.panels.set_focus(TREE);
                    if let Some(index) = self.list.row_at(row - area.y) {
                        self.list.select(index, len);
                        self.follow(&cx.view);
                        if double {
                            self.open_node(cx);
                        }
                    }
                }
                Pointer::Drag { .. } | Pointer::Release => {}
            }
            return;
        }
        let pressed = matches!(pointer, Pointer::Press { .. });
        match self.table(&cx.view) {
            Some(report) if self.report.contains(column, row) => {
                if pressed {
                    self.panels.set_focus(FILE);
                }
                if self.report.pointer(pointer, report) {
                    self.open_case(cx);
                }
            }
            None if self.blob.contains(column, row) => {
                if pressed {
                    self.panels.set_focus(FILE);
                }
                self.blob.pointer(pointer, &cx.view);
            }
            _ => {}
        }
    }

    fn panels(&mut self) -> Option<&mut Panels> {
        Some(&mut self.panels)
    }

    fn search_mode(&self) -> Option<SearchMode> {
        Some(if self.panels.focus() == FILE { SearchMode::Search } else { SearchMode::Filter })
    }

    fn filter_text(&self) -> String {
        match self.panels.focus() {
            FILE if self.test.is_empty() => self.blob.query().to_owned(),
            FILE => self.test.clone(),
            _ => self.name.clone(),
        }
    }

    fn set_filter_text(&mut self, text: &str, cx: &mut Cx) {
        if self.panels.focus() == FILE {
            if self.table(&cx.view).is_none() {
                self.test.clear();
                return self.blob.set_query(text, &cx.view);
            }
            self.test = text.to_owned();
            if !text.is_empty() {
                self.search_test(true, true, &cx.view);
            }
            return;
        }
        let here = self.current(&cx.view);
        self.name = text.to_owned();
        if text.is_empty() {
            if let Some(index) = here {
                self.select(index, &cx.view);
            }
        } else {
            self.list.first();
        }
    }

    fn next_match(&mut self, forward: bool, cx: &mut Cx) {
        let filter_text = Pane::filter_text(self);
        let found = match self.panels.focus() {
            _ if filter_text.is_empty() => return cx.say(Tone::Info, "No search yet: ‹seek› starts one."),
            FILE if self.table(&cx.view).is_some() => self.search_test(forward, false, &cx.view),
            FILE => self.blob.next_match(forward, &cx.view),
            _ => {
                let len = self.len(&cx.view);
                self.list.move_by(if forward { 1 } else { -1 }, len);
                self.follow(&cx.view);
                true
            }
        };
        if !found {
            let searching = self.panels.focus() == FILE && self.blob.is_searching(&cx.view);
            cx.say(Tone::Info, list::not_found(&filter_text, searching));
        }
    }

    fn escape(&mut self, cx: &mut Cx) -> bool {
        if self.panels.focus() == FILE && self.report.leave_full_output() {
            return true;
        }
        if !Pane::filter_text(self).is_empty() {
            self.set_filter_text("", cx);
            return true;
        }
        if self.panels.focus() == FILE && self.entered {
            self.entered = false;
            self.panels.set_focus(TREE);
            return true;
        }
        false
    }

    fn url(&self, view: &View) -> Option<String> {
        let path =
            self.selected_entry(view).filter(|entry| entry.anomaly.is_none()).map(|entry| project::path(&entry.path));
        let job = self.job_id(view)?;
        let rest = path.map_or_else(|| "browse".to_owned(), |path| format!("file/{path}"));
        Some(project::page(view, &self.project, &format!("/-/jobs/{job}/artifacts/{rest}")))
    }

    fn copies(&self, view: &View) -> Vec<Clip> {
        let mut copies = Vec::new();
        if self.panels.focus() == FILE {
            match self.table(view).and_then(|report| self.report.case(report)) {
                Some(case) => copies.push(Clip::line("the test's name", case.name.clone())),
                None => copies.extend(self.blob.text_here(view).map(|text| Clip::code_line("the line", text))),
            }
        }
        copies.extend(self.selected_entry(view).map(|entry| Clip::line("path", entry.path.clone())));
        copies.extend(self.url(view).map(|url| Clip::line("address", url)));
        copies
    }
}
