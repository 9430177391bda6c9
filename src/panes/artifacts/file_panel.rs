//! The panel with a file of an archive: as text, picture, bytes, or as a test report.

use super::archive::{self, FetchFile, FetchPart, FileContent, MAX_FILE_BYTES, ReadReport, UnpackFile};
use super::draw::{draw_progress, refusal_text};
use super::reads::ArtifactReads;
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::motion::Motion;
use crate::app::pane::Pane;
use crate::app::view::View;
use crate::domain::junit::Report;
use crate::domain::zip::{Anomaly, Refusal, ZipEntry};
use crate::parts::ci::source_lookup;
use crate::parts::ci::test_report::{self, ReportContext, TestReportView};
use crate::parts::list;
use crate::parts::repository::blob::work::ReadBytes;
use crate::parts::repository::blob::{BlobView, File};
use crate::store::{AnyRangeRead, Want, Work};
use crate::ui::{panels, text};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::sync::Arc;
use std::time::Duration;

/// The delay before the file under a moving cursor is fetched.
const FETCH_DELAY: Duration = Duration::from_millis(80);
/// The maximum length in bytes of the target of a link that is shown.
const MAX_LINK_BYTES: u64 = 4096;

/// A file of an archive.
pub struct FilePanel {
    reads: ArtifactReads,
    /// The node of the shown file.
    shown: Option<u32>,
    pub blob: BlobView,
    pub tests: TestReportView,
    /// Whether a test report is shown as plain text.
    as_text: bool,
}

impl FilePanel {
    /// Creates the panel without a file.
    pub fn new(reads: ArtifactReads) -> FilePanel {
        let tests = TestReportView::new(&reads.project);
        FilePanel { reads, shown: None, blob: BlobView::default(), tests, as_text: false }
    }

    /// Shows the file of a node. On a folder, the previous file stays.
    pub fn show(&mut self, index: u32, view: &View) {
        let Some(entry) = self.reads.entry(view, index).filter(|entry| !entry.is_folder) else { return };
        if self.shown != Some(index) {
            self.shown = Some(index);
            self.tests.restart();
            self.as_text = false;
            let sha = format!("{} entry {index}", self.reads.key());
            self.blob.show(Some(File { path: entry.path.clone(), sha }));
        }
    }

    /// Returns the node of the shown file.
    pub fn shown(&self) -> Option<u32> {
        self.shown
    }

    /// Returns the path of the shown file.
    pub fn path(&self) -> Option<&str> {
        self.blob.file().map(|file| file.path.as_str())
    }

    /// Returns the archive entry of the shown file.
    fn entry<'a>(&self, view: &View<'a>) -> Option<&'a ZipEntry> {
        self.reads.entry(view, self.shown?)
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
    fn report<'a>(&self, view: &View<'a>) -> Option<&'a Arc<Report>> {
        if self.as_text {
            return None;
        }
        view.store.result::<Option<Arc<Report>>>(&archive::report_key(&self.sha()?))?.as_ref()
    }

    /// Returns whether the shown file may be a test report that is not parsed yet.
    fn is_read_as_report(&self, view: &View) -> bool {
        let (Some(entry), Some(sha)) = (self.entry(view), self.sha()) else { return false };
        let is_parsed = view.store.result::<Option<Arc<Report>>>(&archive::report_key(&sha)).is_some();
        is_xml(&entry.path) && self.blob.text(view).is_some() && !is_parsed
    }

    /// Switches between the report and its text, or to the next mode of the file.
    pub fn next_mode(&mut self, view: &View) {
        if self.report(view).is_some() {
            self.as_text = true;
        } else if self.as_text && self.blob.text(view).is_some() {
            self.as_text = false;
        } else {
            self.blob.next_mode(view);
        }
    }

    /// Shows a test report as the text that it is.
    pub fn show_text(&mut self) {
        self.as_text = true;
    }

    /// Moves the cursor or scrolls; returns `false` if a motion to the left would leave the panel.
    pub fn move_within(&mut self, motion: Motion, view: &View) -> bool {
        match self.tests.report() {
            Some(_) => self.tests.motion(motion),
            None => self.blob.motion(motion, view),
        }
    }

    /// Returns whether the file was last drawn at that cell.
    pub fn contains(&self, column: u16, row: u16) -> bool {
        match self.tests.report() {
            Some(_) => self.tests.contains(column, row),
            None => self.blob.contains(column, row),
        }
    }

    /// Returns whether the content of the shown file is unavailable: refused, or failed to load.
    pub fn has_failed(&self, view: &View) -> bool {
        let key = self.sha().map(|sha| archive::content_key(&sha)).unwrap_or_default();
        let refused = self.entry(view).is_some_and(|entry| refused(entry).is_some());
        refused || self.content(view).is_some_and(Result::is_err) || view.store.failed(&key).is_some()
    }

    pub fn has_file(&self, view: &View) -> Result<(), Disabled> {
        self.reads.has_archive(view)?;
        self.blob.need_content(view, self.has_failed(view)).map(|_| ())
    }

    pub fn has_report(&self, view: &View) -> Result<(), Disabled> {
        self.has_file(view)?;
        if self.is_read_as_report(view) {
            return Err("the test report is still being read".into());
        }
        self.report(view).map(|_| ()).ok_or_else(|| "this is not a test report".into())
    }

    /// Returns an error unless the line under the cursor can be opened: a test, or a link of a text.
    pub fn can_open(&self, view: &View) -> Result<(), Disabled> {
        self.has_file(view)?;
        match self.report(view).is_some() || self.is_read_as_report(view) {
            true => self.has_report(view),
            false => self.blob.need_link(view),
        }
    }

    /// Draws the panel with its title.
    pub fn draw(&self, view: &View, area: Rect, buf: &mut Buffer, focused: bool) {
        let theme = view.theme;
        let Some(entry) = self.entry(view) else {
            let body = panels::title(buf, area, theme, focused, "", "");
            if self.reads.archive(view).is_some_and(|archive| archive.tree.files() > 0) {
                view.draw_empty(buf, body, "No file is selected.", "‹artifacts.open› on a file opens it");
            }
            return;
        };
        let report = self.report(view);
        let facts = report.map_or_else(|| self.blob.facts(view), |report| test_report::summary(report));
        let area = panels::title(buf, area, theme, focused, &entry.path, &facts);
        let refusal = refused(entry).or_else(|| self.content(view).and_then(|content| content.as_ref().err().cloned()));
        if let Some(refusal) = refusal {
            let (mut why, hint) = refusal_text(&refusal, "This file");
            if let Some(Ok(target)) = self.content(view).filter(|_| is_link(entry)) {
                let target = String::from_utf8_lossy(target);
                why = why.replacen("a link", &format!("a link to {}", text::sanitize(&target)), 1);
            }
            return view.draw_empty(buf, area, &why, &hint);
        }
        if report.is_some() {
            return self.tests.draw(view, area, buf, focused);
        }
        if self.blob.is_known(view) {
            return self.blob.draw_shown(view, area, buf, focused);
        }
        let key = self.sha().map(|sha| archive::content_key(&sha)).unwrap_or_default();
        match view.store.failed(&key) {
            Some(error) => list::draw_error(view, area, buf, error),
            None => draw_progress(view, area, buf, view.store.progress(&key), "the file"),
        }
    }
}

impl Pane for FilePanel {
    fn focused(&self) -> Option<&dyn Pane> {
        match self.tests.report() {
            Some(_) => Some(&self.tests),
            None => Some(&self.blob),
        }
    }

    fn focused_mut(&mut self) -> Option<&mut dyn Pane> {
        match self.tests.report() {
            Some(_) => Some(&mut self.tests),
            None => Some(&mut self.blob),
        }
    }

    /// Returns the work that provides the content of the shown file.
    fn wants(&self, view: &View) -> Vec<Want> {
        let (Some(archive), Some(index), Some(sha)) = (self.reads.archive(view), self.shown, self.sha()) else {
            return Vec::new();
        };
        let is_read = |entry: &&ZipEntry| refused(entry).is_none() || is_link(entry);
        let Some(entry) = self.entry(view).filter(is_read) else { return Vec::new() };
        if self.blob.is_known(view) {
            let mut wants = Vec::new();
            if self.report(view).is_none() {
                wants = self.blob.wants_shown(view);
            }
            if let Some(text) = self.blob.text(view).filter(|_| is_xml(&entry.path)) {
                wants.push(Work::new(ReadReport { sha, text: text.clone() }).into());
            }
            return wants;
        }
        match self.content(view) {
            Some(Ok(_)) if is_link(entry) => return Vec::new(),
            Some(Ok(bytes)) => return vec![Work::new(ReadBytes { sha, bytes: bytes.clone() }).into()],
            Some(Err(_)) => return Vec::new(),
            None => {}
        }
        if archive.parts.is_whole() {
            let (parts, entry) = (archive.parts.clone(), entry.clone());
            return vec![Work::new(UnpackFile { sha, parts, entry }).into()];
        }
        // A server may send the file that a link leads to.
        let once = self.reads.node(view, index).is_some_and(|node| !node.is_duplicate) && !is_link(entry);
        let read = match self.reads.file_request(view, entry).filter(|_| once) {
            Some(request) => AnyRangeRead::new(FetchFile { sha, request }),
            None => {
                let (request, entry, total) = (self.reads.request(), entry.clone(), archive.parts.total());
                AnyRangeRead::new(FetchPart { sha, request, entry, total })
            }
        };
        vec![read.after(FETCH_DELAY).into()]
    }

    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        self.draw(view, area, buf, true);
    }

    fn changed(&mut self, cx: &mut Cx) {
        let view = &cx.view;
        self.blob.changed(view);
        let project_path = source_lookup::project_path(view, &self.reads.project);
        let context =
            ReportContext { git_ref: self.reads.git_ref(view), project_path, artifacts: Some(self.reads.place()) };
        self.tests.show(self.report(view).cloned(), context);
    }
}

/// Returns why the file of an entry is not shown, if it is not.
fn refused(entry: &ZipEntry) -> Option<Refusal> {
    match entry.anomaly {
        Some(anomaly) => Some(Refusal::Anomaly(anomaly)),
        None if entry.uncompressed_size > MAX_FILE_BYTES => Some(Refusal::TooLarge(entry.uncompressed_size)),
        None => None,
    }
}

/// Returns whether an entry is a link whose target can be shown.
fn is_link(entry: &ZipEntry) -> bool {
    entry.anomaly == Some(Anomaly::Link) && entry.uncompressed_size <= MAX_LINK_BYTES
}

fn is_xml(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, ending)| ending.eq_ignore_ascii_case("xml"))
}
