//! The panel beside the list of runners: the details of the selected runner, and its jobs.

use super::RunnerSource;
use crate::api::jobs::Job;
use crate::api::runners::{GetRunner, ListRunnerJobs, Runner};
use crate::api::{Fault, Id};
use crate::app::context::Cx;
use crate::app::motion::Motion;
use crate::app::pane::Pane;
use crate::app::place::Place;
use crate::app::pointer::Pointer;
use crate::app::tone::Tone;
use crate::app::view::View;
use crate::parts::ci::{self, POLL_INTERVAL};
use crate::parts::list::source::{Detail, DetailContext};
use crate::parts::list::{self, Listing};
use crate::parts::text::dates::{age, time_ago};
use crate::store::{Load, Rows, Want};
use crate::ui::line::Line;
use crate::ui::table::{Size, TableColumn, TableRow};
use crate::ui::theme::Role;
use crate::ui::{panels, text};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::time::Duration;

/// The statuses by which the jobs of a runner are filtered; empty for all.
const STATUSES: &[&str] = &["", "running", "success", "failed", "canceled"];

/// The details and jobs of the selected runner.
#[derive(Default)]
pub struct RunnerDetail {
    runner: Option<Runner>,
    /// The project of the list, if it is of one.
    project: Option<Id>,
    focused: bool,
    jobs: Listing,
    /// The status of the listed jobs: an index in [`STATUSES`].
    status: usize,
}

impl RunnerDetail {
    fn status(&self) -> &'static str {
        STATUSES.get(self.status).copied().unwrap_or_default()
    }

    /// Lists the jobs of the next status.
    pub fn next_status(&mut self, cx: &mut Cx) {
        self.status = (self.status + 1) % STATUSES.len();
        self.jobs.restart();
        let words = match self.status() {
            "" => "All of its jobs.".to_owned(),
            word => format!("Its jobs: {word}."),
        };
        cx.say(Tone::Info, words);
    }

    fn query(&self) -> Option<ListRunnerJobs> {
        let status = Some(self.status().to_owned()).filter(|status| !status.is_empty());
        Some(ListRunnerJobs { id: self.runner.as_ref()?.id, status })
    }

    fn rows<'a>(&self, view: &View<'a>) -> Rows<'a, Job> {
        self.query().map_or_else(|| Rows::chain(Vec::new()), |query| view.store.list(&query))
    }
}

/// Returns the number of running jobs in the list; 0 if the server refuses it.
fn running(rows: &Rows<'_, Job>) -> usize {
    if rows.refused().is_some() { 0 } else { rows.iter().filter(|job| job.status.is_running()).count() }
}

impl Detail<RunnerSource> for RunnerDetail {
    fn show(&mut self, context: &DetailContext<'_, RunnerSource>, cx: &mut Cx) {
        if context.row_changed {
            self.jobs.restart();
        }
        self.runner = context.row.filter(|_| context.width > 0).cloned();
        self.project.clone_from(&context.source.project);
        self.focused = context.focused;
        let rows = self.rows(&cx.view);
        self.jobs.sync(&rows, |job| job.id.to_string());
    }
}

impl Pane for RunnerDetail {
    fn wants(&self, view: &View) -> Vec<Want> {
        let Some(query) = self.query() else { return Vec::new() };
        let load = Load::list(&query, self.jobs.pages()).after(Duration::from_millis(120));
        let live = self.rows(view).iter().any(|job| job.status.is_running());
        vec![load.refresh_after(live.then_some(POLL_INTERVAL * 2)).into()]
    }

    fn motion(&mut self, motion: Motion, cx: &mut Cx) {
        if !matches!(motion, Motion::Left | Motion::Right) {
            self.jobs.motion(motion, self.rows(&cx.view).len());
        }
    }

    fn pointer(&mut self, pointer: Pointer, cx: &mut Cx) {
        let len = self.rows(&cx.view).len();
        if self.jobs.pointer(pointer, len) {
            self.enter(cx);
        }
    }

    fn enter(&mut self, cx: &mut Cx) {
        let Some(job) = self.jobs.selected(&self.rows(&cx.view)) else { return };
        let project = job.project().map(|p| Id::from(p.path_with_namespace.as_str()));
        if let Some(project) = project.or(self.project.clone()) {
            cx.go(Place::new("job").project(project).item(job.id));
        }
    }

    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let Some(runner) = &self.runner else { return };
        let error = view.store.get(&GetRunner { id: runner.id }).error;
        let area =
            list::draw_error_line(view, area, buf, error.filter(|error| !matches!(error.fault, Fault::Denied(_))));
        let (theme, number) = (view.theme, format!("#{}", runner.id));
        let body = panels::title(buf, area, theme, self.focused, &runner.label(), &number);
        let rest = draw_facts(view, body, buf, runner);
        let rows = self.rows(view);
        let facts = match running(&rows) {
            0 => String::new(),
            count => format!("{count} running"),
        };
        let title = match self.status() {
            "" => "Jobs".to_owned(),
            status => format!("Jobs: {status}"),
        };
        let rest = Rect { y: rest.y + 1, height: rest.height.saturating_sub(1), ..rest };
        let body = panels::title(buf, rest, theme, self.focused, &title, &facts);
        let columns = [
            TableColumn::new("", Size::Fit { min: 9, max: 12 }),
            TableColumn::new("", Size::Fit { min: 8, max: 24 }).cut_in_middle().drop_order(1),
            TableColumn::new("", Size::Fill { min: 10, weight: 1 }),
            TableColumn::new("", Size::Fit { min: 6, max: 8 }).right(),
            TableColumn::new("", Size::Fixed(4)).right().drop_order(2),
        ];
        let row = |job: &Job| {
            TableRow::new(vec![
                ci::status_cell(job),
                Line::new(job.project().map(|p| p.path_with_namespace.clone()).unwrap_or_default(), Role::Dim),
                Line::new(format!("#{} {}", job.id, job.name), Role::Text),
                Line::new(ci::duration(job, view.now), Role::Text),
                Line::new(age(view, ci::last_event(job)), Role::Dim),
            ])
        };
        if body.height > 0 {
            let empty = match self.status() {
                "" => "This runner has not run any jobs yet.".to_owned(),
                status => format!("No jobs with the status {status}."),
            };
            self.jobs.draw(view, body, buf, self.focused, &rows, &columns, row, (&empty, ""));
        }
    }

    fn ticks(&self, view: &View) -> bool {
        running(&self.rows(view)) > 0
    }
}

/// The width of the labels in columns.
const LABEL_WIDTH: usize = 11;

/// Draws the facts that fit. Returns the remaining area below them.
fn draw_facts(view: &View, area: Rect, buf: &mut Buffer, runner: &Runner) -> Rect {
    let text_of = |field: &Option<String>| field.clone().unwrap_or_default();
    let flag = |field: &Option<bool>, yes: &str, no: &str| match field.as_ref() {
        Some(true) => yes.to_owned(),
        Some(false) => no.to_owned(),
        None => String::new(),
    };
    let (sign, word, role) = super::status(runner);
    let version = [text_of(&runner.version), text_of(&runner.revision)].join("  ");
    let machine = [text_of(&runner.platform), text_of(&runner.architecture)].join(" ");
    let projects: Vec<&str> = runner.projects.iter().flatten().map(|p| p.path_with_namespace.as_str()).collect();
    let contact = runner.contacted_at.as_ref().map(|at| time_ago(view, Some(at))).unwrap_or_default();
    let takes = [
        flag(&runner.run_untagged, "untagged jobs", "only jobs with its tags"),
        flag(&runner.locked, "locked to its projects", ""),
        text_of(&runner.access_level).replace("not_protected", "").replace("ref_protected", "protected refs only"),
    ];
    let takes: Vec<&str> = takes.iter().map(String::as_str).filter(|words| !words.is_empty()).collect();
    let facts = [
        ("status", format!("{sign} {word}"), role),
        ("type", super::kind(runner).to_owned(), Role::Text),
        ("tags", runner.tags().join(", "), Role::Label),
        ("accepts", takes.join(", "), Role::Text),
        ("contact", contact, Role::Text),
        ("version", version.trim().to_owned(), Role::Text),
        ("machine", machine.trim().to_owned(), Role::Text),
        ("address", runner.ip_address.clone().unwrap_or_default(), Role::Text),
        ("projects", projects.join(", "), Role::Text),
        ("note", runner.maintenance_note.clone().unwrap_or_default(), Role::Warning),
    ];
    let theme = view.theme;
    let room = usize::from(area.width).saturating_sub(LABEL_WIDTH + 3).max(8);
    let mut y = area.y;
    for (label, words, role) in facts.iter().filter(|(_, words, _)| !words.is_empty()) {
        for (index, part) in text::wrap(words, room, 3).into_iter().enumerate() {
            if y >= area.bottom() {
                break;
            }
            let label = if index == 0 { text::capitalize(label) } else { String::new() };
            let label = text::pad(&label, LABEL_WIDTH);
            let spans = Line::new(label, Role::Dim).and(part, *role);
            spans.draw(buf, Rect { x: area.x + 2, y, width: area.width.saturating_sub(2), height: 1 }, theme);
            y += 1;
        }
    }
    Rect { y, height: area.bottom().saturating_sub(y), ..area }
}
