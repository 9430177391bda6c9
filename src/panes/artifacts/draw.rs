//! Drawing of the artifacts pane: breadcrumbs, and the messages shown when there is no archive or no file.

use super::archive::MAX_FILE_BYTES;
use super::{ArtifactSource, Artifacts, project};
use crate::api::client::Progress;
use crate::app::pane::{Breadcrumb, Pane};
use crate::app::view::View;
use crate::domain::zip::Refusal;
use crate::parts::text::dates;
use crate::parts::{ci, list};
use crate::ui::line::Line;
use crate::ui::panels;
use crate::ui::theme::Role;
use crate::ui::{chart, state, text};
use jiff::Timestamp;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// The time before expiry, in seconds, from which the expiry is shown as a warning.
const WARNING_SECONDS: i64 = 2 * 24 * 3600;

impl Artifacts {
    /// Returns the breadcrumbs: project, job or ref, filter, and expiry.
    pub(super) fn path_breadcrumbs(&self, view: &View) -> Vec<Breadcrumb> {
        let mut breadcrumbs = project::breadcrumbs(view, &self.reads.project);
        let job = self.reads.job(view);
        match &self.reads.of {
            ArtifactSource::Job(id) => {
                let name = job.map(|job| format!(" {}", text::sanitize(&job.name))).unwrap_or_default();
                breadcrumbs.push(Breadcrumb::new(format!("#{id}{name}"), Role::Text));
            }
            ArtifactSource::Ref { git_ref, job } => {
                breadcrumbs.push(Breadcrumb::new(text::sanitize(job).into_owned(), Role::Text));
                breadcrumbs.push(crate::parts::breadcrumbs::git_ref(&self.reads.project, &git_ref.into()));
            }
        }
        breadcrumbs.push(Breadcrumb::new("artifacts", Role::Text));
        if let Some((_, filter)) = self.tree.search().filter(|(_, filter)| !filter.is_empty()) {
            breadcrumbs.push(Breadcrumb::new(format!("/{}", text::sanitize(&filter)), Role::Match));
        }
        if let Some(end) = job.filter(|job| job.has_artifacts()).and_then(ci::expiry) {
            let (words, role) = expiry(end, view.now);
            breadcrumbs.push(Breadcrumb::new(words, role));
        }
        breadcrumbs
    }

    /// Draws the panel while there is no archive: the progress of the download, or why there is none.
    pub(super) fn draw_missing(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let theme = view.theme;
        let area = panels::title(buf, area, theme, true, "Artifacts", "");
        if let Some(Err(refusal)) = self.reads.outcome(view) {
            let (why, hint) = refusal_text(refusal, "This archive");
            return view.draw_empty(
                buf,
                area,
                &why,
                if hint.is_empty() { "‹artifacts.save_all› saves it as it is" } else { &hint },
            );
        }
        let error = view.store.failed(&self.reads.key());
        let gone = self.reads.job(view).is_some_and(|job| !job.has_artifacts());
        match error {
            Some(error) if !error.is_missing() => list::draw_error(view, area, buf, error),
            _ if gone || error.is_some() => {
                let (why, hint) = self.absent(view);
                view.draw_empty(buf, area, &why, &hint);
            }
            _ => draw_progress(view, area, buf, view.store.progress(&self.reads.key()), "the archive"),
        }
    }

    /// Returns why there are no artifacts, and a hint with the keys to press.
    fn absent(&self, view: &View) -> (String, String) {
        if let ArtifactSource::Ref { git_ref, job } = &self.reads.of {
            let (job, git_ref) = (text::sanitize(job), text::sanitize(git_ref));
            let why = format!("No successful job {job} on {git_ref} has artifacts.");
            return (why, "R chooses another branch or job".into());
        }
        let hint = "‹artifacts.job› shows the job, ‹artifacts.ref› chooses a branch".to_owned();
        let Some(job) = self.reads.job(view) else { return ("This job has no artifacts.".into(), hint) };
        let ago = |at: &crate::api::Time| dates::time_ago(view, Some(at));
        if let Some(erased) = job.erased_at.as_ref() {
            return (format!("This job was erased {}, with its artifacts.", ago(erased)), hint);
        }
        match job.artifacts_expire_at.as_ref() {
            Some(end) if ci::expiry(job).is_some_and(|end| end <= view.now) => {
                (format!("The artifacts of this job expired {}.", ago(end)), hint)
            }
            _ if job.status.is_live() => ("This job has no artifacts yet; they appear when it finishes.".into(), hint),
            _ => ("This job created no artifacts.".into(), hint),
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

/// Returns why an archive or a file is not shown, and a hint what to do.
pub fn refusal_text(refusal: &Refusal, what: &str) -> (String, String) {
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

/// Draws the progress of a download.
pub fn draw_progress(view: &View, area: Rect, buf: &mut Buffer, progress: Option<Progress>, what: &str) {
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
