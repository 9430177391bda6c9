//! The details of a job, shown beside its trace and below the board of its pipeline.

use crate::api::Time;
use crate::api::jobs::Job;
use crate::app::view::View;
use crate::parts::ci;
use crate::parts::text::dates::{ago, date, time_ago};
use crate::store::Rows;
use crate::ui::doc::DocLine;
use crate::ui::line::Line;
use crate::ui::theme::Role;
use crate::ui::{glyph, text};
use ratatui::style::Style;
use std::borrow::Cow;

/// The width of the labels, in columns.
const LABEL_WIDTH: usize = 11;

struct Page<'v, 'a> {
    view: &'v View<'a>,
    width: usize,
    lines: Vec<DocLine<'static>>,
}

impl Page<'_, '_> {
    fn fact(&mut self, label: &str, words: impl AsRef<str>, role: Role) {
        let words = words.as_ref();
        if words.is_empty() {
            return;
        }
        let room = self.width.saturating_sub(LABEL_WIDTH).max(8);
        for (index, part) in text::wrap(words, room, 3).into_iter().enumerate() {
            let label = if index == 0 { text::capitalize(label) } else { String::new() };
            let label = text::pad(&label, LABEL_WIDTH);
            self.line(Line::new(label, Role::Dim).and(part, role));
        }
    }

    fn line(&mut self, line: Line<'static>) {
        self.lines.push(line.into());
    }

    fn gap(&mut self) {
        self.lines.push(DocLine::new("", Style::new()));
    }

    fn heading(&mut self, words: impl Into<Cow<'static, str>>) {
        self.gap();
        self.line(Line::new(text::capitalize(&words.into()), Role::TitleDim));
    }

    fn when(&mut self, label: &str, time: Option<&Time>) {
        let Some(time) = time else { return };
        let ago = time_ago(self.view, Some(time));
        self.fact(label, format!("{}  {ago}", date(time)).trim_end(), Role::Text);
    }
}

/// Returns the lines of the panel, `width` columns wide. `waits` is why the job does not run yet, `siblings` are the jobs
/// of the same pipeline, if they should be listed, and `before` the durations of earlier runs, in seconds.
pub fn lines(
    view: &View,
    width: usize,
    job: &Job,
    waits: Option<String>,
    siblings: Option<&Rows<'_, Job>>,
    before: &[f64],
) -> Vec<DocLine<'static>> {
    let mut page = Page { view, width, lines: Vec::new() };
    let (status, role) = match job.is_forgiven() {
        true => (format!("{} failed (allowed to fail)", glyph::or_word(glyph::warning(), "")), Role::Warning),
        false => glyph::labeled(job.status.as_str()),
    };
    page.fact("status", status, role);
    if let Some(waits) = waits {
        page.fact("", text::capitalize(&waits), Role::Pending);
    }
    if let Some(reason) = job.failure_reason.as_deref() {
        page.fact("reason", reason.replace('_', " "), Role::Failed);
    }
    page.fact("stage", &job.stage, Role::Text);
    page.fact(if job.tag { "tag" } else { "branch" }, &job.r#ref, Role::Ref);
    if let Some(runner) = &job.runner {
        page.fact("runner", format!("{} #{}", runner.label(), runner.id), Role::Text);
    }
    if let Some(tags) = job.tag_list.as_ref().filter(|tags| !tags.is_empty()) {
        page.fact("tags", tags.join(", "), Role::Label);
    }
    if let Some(user) = &job.user {
        page.fact("by", &user.username, Role::User);
    }
    if let Some(coverage) = job.coverage {
        page.fact("coverage", format!("{coverage:.1} %"), Role::Text);
    }
    page.heading("time");
    page.fact("duration", ci::duration(job, view.now), Role::Text);
    if let Some((median, chart)) = ci::median_duration(before, width.saturating_sub(LABEL_WIDTH + 8).min(20)) {
        page.line(
            Line::new(text::pad("Median", LABEL_WIDTH), Role::Dim)
                .and(format!("{median}  "), Role::Text)
                .and(chart, Role::Chart),
        );
    }
    if let Some(queued) = *job.queued_duration {
        page.fact("queued", text::duration(queued), Role::Text);
    }
    page.when("created", job.created_at.as_ref());
    page.when("started", job.started_at.as_ref());
    page.when("finished", job.finished_at.as_ref());
    page.when("erased", job.erased_at.as_ref());
    if let Some(commit) = &job.commit {
        page.heading("commit");
        page.fact("SHA", commit.short(), Role::Ref);
        page.fact("title", &commit.title, Role::Text);
        page.fact("author", &commit.author_name, Role::User);
        page.when("authored", commit.date());
    }
    artifacts(&mut page, job);
    if let (Some(pipeline), Some(siblings)) = (&job.pipeline, siblings) {
        let (status, role) = glyph::labeled(pipeline.status.as_str());
        page.gap();
        page.line(Line::new(format!("pipeline {}  ", pipeline.id), Role::TitleDim).and(status, role));
        others(&mut page, job, siblings);
    }
    page.lines
}

fn artifacts(page: &mut Page, job: &Job) {
    let Some(file) = job.artifacts_file.as_ref() else { return };
    page.heading("artifacts");
    page.fact("archive", format!("{}  {}", file.filename, text::bytes(file.size)), Role::Text);
    for one in job.artifacts.iter().flatten().filter(|one| one.file_type != "archive") {
        page.fact(&one.file_type, format!("{}  {}", one.filename, text::bytes(one.size)), Role::Text);
    }
    match ci::expiry(job) {
        Some(at) => {
            let seconds = page.view.now.duration_since(at).as_secs();
            let gone = seconds >= 0;
            let words = if gone { ago(&text::short_age(seconds)) } else { text::short_age(seconds) };
            page.fact("expires", words, if gone { Role::Warning } else { Role::Text });
        }
        // A server that lists the artifact files also reports when they expire. For other servers it is unknown.
        None if job.artifacts.is_some() => page.fact("expires", "never", Role::Dim),
        None => {}
    }
}

/// Appends the jobs of the pipeline, with the current one marked.
fn others(page: &mut Page, job: &Job, siblings: &Rows<'_, Job>) {
    for stage in ci::stages(siblings.iter().enumerate()) {
        for (index, run) in stage.jobs.iter().enumerate() {
            let Some(other) = siblings.get(run.index) else { continue };
            let (sign, role) = ci::sign(other);
            let here = other.id == job.id;
            let name = if here || !run.is_retried { Role::Text } else { Role::Dim };
            let label = if index == 0 { stage.name.as_str() } else { "" };
            let mark = if here { glyph::mark() } else { " " };
            let duration = ci::duration(other, page.view.now);
            let room = page.width.saturating_sub(LABEL_WIDTH + 4 + duration.len() + 1);
            page.line(
                Line::new(text::pad(label, LABEL_WIDTH), Role::Dim)
                    .and(mark, Role::Mark)
                    .and(format!("{sign} "), role)
                    .and(text::pad(&other.name, room), if here { Role::Title } else { name })
                    .and(format!(" {duration}"), Role::Dim),
            );
        }
    }
}
