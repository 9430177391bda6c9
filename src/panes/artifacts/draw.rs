//! Drawing of the artifacts pane: breadcrumbs, tree, file, and the messages shown when there is no archive.

use super::{ArtifactSource, Artifacts, FILE, TREE, ci, project, refused};
use crate::api::client::Progress;
use crate::app::pane::Breadcrumb;
use crate::app::view::View;
use crate::domain::zip::Refusal;
use crate::panes::artifacts::archive;
use crate::panes::artifacts::archive::{Archive, MAX_FILE_BYTES};
use crate::parts::{dates, list, test_report};
use crate::ui::line::Line;
use crate::ui::panels;
use crate::ui::table::{self, Size, TableColumn};
use crate::ui::theme::Role;
use crate::ui::{chart, glyph, state, text};
use jiff::Timestamp;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

const COLUMNS: &[TableColumn] = &[
    TableColumn::new("", Size::Fill { min: 12, weight: 1 }).cut_in_middle(),
    TableColumn::new("", Size::Fit { min: 0, max: 18 }).right(),
];

/// The time before expiry, in seconds, from which the expiry is shown as a warning.
const WARNING_SECONDS: i64 = 2 * 24 * 3600;

impl Artifacts {
    /// Returns the breadcrumbs: project, job or ref, filter, and expiry.
    pub(super) fn path_breadcrumbs(&self, view: &View) -> Vec<Breadcrumb> {
        let mut breadcrumbs = project::breadcrumbs(view, &self.project);
        let job = self.job(view);
        match &self.of {
            ArtifactSource::Job(id) => {
                let name = job.map(|job| format!(" {}", text::sanitize(&job.name))).unwrap_or_default();
                breadcrumbs.push(Breadcrumb::new(format!("#{id}{name}"), Role::Text));
            }
            ArtifactSource::Ref { git_ref, job } => {
                breadcrumbs.push(Breadcrumb::new(text::sanitize(job).into_owned(), Role::Text));
                breadcrumbs.push(crate::parts::breadcrumbs::git_ref(&self.project, &git_ref.into()));
            }
        }
        breadcrumbs.push(Breadcrumb::new("artifacts", Role::Text));
        if !self.name.is_empty() {
            breadcrumbs.push(Breadcrumb::new(format!("/{}", text::sanitize(&self.name)), Role::Match));
        }
        if let Some(end) = job.filter(|job| job.has_artifacts()).and_then(ci::expiry) {
            let (words, role) = expiry(end, view.now);
            breadcrumbs.push(Breadcrumb::new(words, role));
        }
        breadcrumbs
    }

    pub(super) fn draw_tree(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let focused = self.panels.focus() == TREE;
        let facts = self.archive(view).map(|archive| facts(archive)).unwrap_or_default();
        let area = panels::title(buf, area, view.theme, focused, "Artifacts", &facts);
        let Some(archive) = self.archive(view) else { return };
        let area = match warning(view, archive) {
            Some(words) if area.height > 4 => {
                let line = Rect { height: 1, ..area };
                let words = format!(" {} {words}", glyph::warning());
                Line::new(words, Role::Warning).draw(buf, line, view.theme);
                Rect { y: area.y + 1, height: area.height - 1, ..area }
            }
            _ => area,
        };
        self.tree_area.set(area);
        if archive.list.entries.is_empty() {
            return view.draw_empty(buf, area, "This archive is empty.", "");
        }
        if !self.name.trim().is_empty() {
            let Some(found) = self.found(view) else { return state::skeleton(buf, area, view.theme) };
            if found.is_empty() {
                return view.draw_empty(
                    buf,
                    area,
                    "No file matches the filter.",
                    "‹seek› changes it, ‹escape› clears it",
                );
            }
            return table::draw(buf, area, view.theme, focused, &self.list, COLUMNS, found.len(), &|row| {
                let node = found.get(row).copied().unwrap_or_default();
                archive.tree.found_row(node, self.entry(view, node))
            });
        }
        table::draw(buf, area, view.theme, focused, &self.list, COLUMNS, self.rows.len(), &|row| {
            let Some(visible) = self.rows.get(row).copied() else { return table::TableRow::default() };
            archive.tree.row(visible, self.open.contains(&visible.node), self.entry(view, visible.node))
        });
    }

    /// Draws the panel while there is no archive: the progress of the download, or why there is none.
    pub(super) fn draw_missing(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let theme = view.theme;
        let area = panels::title(buf, area, theme, true, "Artifacts", "");
        if let Some(Err(refusal)) = self.outcome(view) {
            let (why, hint) = refusal_text(refusal, "This archive");
            return view.draw_empty(
                buf,
                area,
                &why,
                if hint.is_empty() { "‹artifacts.save_all› saves it as it is" } else { &hint },
            );
        }
        let error = view.store.failed(&self.key());
        let gone = self.job(view).is_some_and(|job| !job.has_artifacts());
        match error {
            Some(error) if !error.is_missing() => list::draw_error(view, area, buf, error),
            _ if gone || error.is_some() => {
                let (why, hint) = self.absent(view);
                view.draw_empty(buf, area, &why, &hint);
            }
            _ => draw_progress(view, area, buf, view.store.progress(&self.key()), "the archive"),
        }
    }

    /// Returns why there are no artifacts, and a hint with the keys to press.
    fn absent(&self, view: &View) -> (String, String) {
        if let ArtifactSource::Ref { git_ref, job } = &self.of {
            let (job, git_ref) = (text::sanitize(job), text::sanitize(git_ref));
            let why = format!("No successful job {job} on {git_ref} has artifacts.");
            return (why, "R chooses another branch or job".into());
        }
        let hint = "‹artifacts.job› shows the job, ‹artifacts.ref› chooses a branch".to_owned();
        let Some(job) = self.job(view) else { return ("This job has no artifacts.".into(), hint) };
        let ago = |at: &crate::api::Time| dates::time_ago(view, Some(at));
        if let Some(erased) = &job.erased_at {
            return (format!("This job was erased {}, with its artifacts.", ago(erased)), hint);
        }
        match &job.artifacts_expire_at {
            Some(end) if ci::expiry(job).is_some_and(|end| end <= view.now) => {
                (format!("The artifacts of this job expired {}.", ago(end)), hint)
            }
            _ if job.status.is_live() => ("This job has no artifacts yet; they appear when it finishes.".into(), hint),
            _ => ("This job created no artifacts.".into(), hint),
        }
    }

    pub(super) fn draw_file(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let (focused, theme) = (self.panels.focus() == FILE, view.theme);
        let Some(entry) = self.shown_entry(view) else {
            let body = panels::title(buf, area, theme, focused, "", "");
            if self.archive(view).is_some_and(|archive| archive.tree.files() > 0) {
                view.draw_empty(buf, body, "No file is selected.", "‹artifacts.open› on a file opens it");
            }
            return;
        };
        let report = self.table(view);
        let facts = report.map_or_else(|| self.blob.facts(view), |report| test_report::summary(report));
        let area = panels::title(buf, area, theme, focused, &entry.path, &facts);
        let refusal = refused(entry).or_else(|| self.content(view).and_then(|content| content.as_ref().err().cloned()));
        if let Some(refusal) = refusal {
            let (why, hint) = refusal_text(&refusal, "This file");
            return view.draw_empty(buf, area, &why, &hint);
        }
        if let Some(report) = report {
            return self.report.draw(view, area, buf, focused, report);
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

/// Formats when artifacts expire.
fn expiry(end: Timestamp, now: Timestamp) -> (String, Role) {
    let seconds = end.duration_since(now).as_secs();
    match seconds {
        ..=0 => ("expired".into(), Role::Warning),
        1..WARNING_SECONDS => (format!("expires in {}", text::short_age(seconds)), Role::Warning),
        _ => (format!("expires in {}", text::short_age(seconds)), Role::Dim),
    }
}

/// Formats the number of files of an archive and their unpacked size, the same sizes that the tree shows.
fn facts(archive: &Archive) -> String {
    let files = archive.tree.files();
    let files = match archive.list.omitted_count {
        0 => text::count_noun(files, "file"),
        _ => format!("{}+ files", text::count(files)),
    };
    format!("{files}{}{}", glyph::separator(), text::bytes(archive.tree.size()))
}

/// Returns a warning about the archive as a whole: it is damaged, has unlisted files, or has a suspicious compression
/// ratio.
fn warning(view: &View, archive: &Archive) -> Option<String> {
    if let Some(why) = archive.list.corruption {
        return Some(format!("The archive is damaged: {why}."));
    }
    if archive.list.omitted_count > 0 {
        let more = text::count(archive.list.omitted_count);
        let all = view.with_keys("‹artifacts.save_all› saves all");
        return Some(format!("{more} more files are not listed; {all}."));
    }
    let (size, packed) = (archive.tree.size(), archive.parts.total());
    let trap = size > 1024 * 1024 * 1024 && size / packed.max(1) > 200;
    trap.then(|| format!("It would unpack to {}.", text::bytes(size)))
}

/// Returns why an archive or a file is not shown, and a hint what to do.
fn refusal_text(refusal: &Refusal, what: &str) -> (String, String) {
    match refusal {
        Refusal::NotZip => (format!("{what} is not a ZIP archive."), String::new()),
        Refusal::Corrupt(why) => {
            (format!("{what} is damaged: {why}."), "‹artifacts.save_all› saves the archive as it is".into())
        }
        Refusal::TooLarge(bytes) if what == "This file" => {
            let most = text::bytes(MAX_FILE_BYTES);
            (format!("{what} is {}; up to {most} are shown.", text::bytes(*bytes)), "‹artifacts.save› saves it".into())
        }
        Refusal::TooLarge(bytes) => (format!("{what} is too large to open: {}.", text::bytes(*bytes)), String::new()),
        Refusal::Anomaly(anomaly) => (anomaly.message(), "‹artifacts.save_all› saves the archive as it is".into()),
        Refusal::Disk(why) => {
            (format!("{what} cannot be stored on this disk: {}.", text::sanitize(why)), String::new())
        }
    }
}

fn draw_progress(view: &View, area: Rect, buf: &mut Buffer, progress: Option<Progress>, what: &str) {
    let Some(progress) = progress else { return state::skeleton(buf, area, view.theme) };
    if area.height < 2 {
        return;
    }
    let fraction = progress.total.filter(|total| *total > 0).map(|total| progress.done as f64 / total as f64);
    let label = match progress.total {
        Some(total) => format!("{} of {}", text::bytes(progress.done), text::bytes(total)),
        None => text::bytes(progress.done),
    };
    let at = |y: u16| Rect { x: area.x + 2, y, width: area.width.saturating_sub(4), height: 1 };
    let y = area.y + (area.height / 4).min(3);
    Line::new(format!("Fetching {what}. {}", view.with_keys("‹escape› stops.")), Role::Dim).draw(
        buf,
        at(y),
        view.theme,
    );
    if y + 1 < area.bottom() {
        chart::progress(buf, at(y + 1), view.theme, fraction, &label);
    }
}
