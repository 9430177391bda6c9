//! How runners are drawn: the list, and the selected one with its jobs.

use super::{JOB_STATUSES, Runners, Scope, age, detailed, details, kind, status};
use crate::api::Known;
use crate::api::jobs::Job;
use crate::api::runners::Runner;
use crate::app::pane::View;
use crate::parts::columns::{Columns, Field};
use crate::parts::{ci, list};
use crate::ui::panels;
use crate::ui::table::{Cell, Column, Row, Size};
use crate::ui::theme::Role;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Lists leave most facts out: what only the details say is sorted by nobody.
pub(super) const COLUMNS: Columns<Runner> = Columns {
    place: "runners",
    fields: &[
        Field::new("status", Column::new("", Size::Fit { min: 8, max: 16 }))
            .loaded(|a: &Runner, b| status(a).1.cmp(&status(b).1)),
        Field::new("name", Column::new("runner", Size::Fill { min: 16, weight: 1 }))
            .loaded(|a: &Runner, b| a.label().to_lowercase().cmp(&b.label().to_lowercase())),
        Field::new("tags", Column::new("tags", Size::Fit { min: 4, max: 22 }).priority(3)),
        Field::new("type", Column::new("serves", Size::Fit { min: 6, max: 8 }).priority(2))
            .loaded(|a: &Runner, b| kind(a).cmp(kind(b))),
        Field::new("version", Column::new("version", Size::Fit { min: 5, max: 9 }).priority(4)),
        Field::new("platform", Column::new("platform", Size::Fit { min: 0, max: 16 }).priority(6)).hidden(),
        Field::new("address", Column::new("address", Size::Fit { min: 0, max: 24 }).middle().priority(6))
            .loaded(|a: &Runner, b| a.ip_address.cmp(&b.ip_address))
            .hidden(),
        Field::new("takes", Column::new("takes", Size::Fit { min: 0, max: 24 }).priority(6)).hidden(),
        Field::new("number", Column::new("#", Size::Fit { min: 2, max: 6 }).right().priority(5))
            .loaded(|a: &Runner, b| a.id.cmp(&b.id)),
        Field::new("seen", Column::new("seen", Size::Fit { min: 4, max: 5 }).right().priority(1)),
    ],
    order: None,
};

impl Runners {
    fn row(&self, view: &View, listed: &Runner) -> Row {
        let runner = detailed(view, listed);
        let (sign, word, role) = status(runner);
        let version = runner.version.known().cloned().unwrap_or_default();
        let platform: Vec<&str> = [&runner.platform, &runner.architecture]
            .into_iter()
            .filter_map(|what| what.known())
            .map(String::as_str)
            .collect();
        let mut takes = Vec::new();
        takes.extend((runner.run_untagged.known() == Some(&true)).then_some("untagged"));
        takes.extend((runner.locked.known() == Some(&true)).then_some("locked"));
        takes
            .extend((runner.access_level.known().is_some_and(|level| level == "ref_protected")).then_some("protected"));
        Row::new(vec![
            Cell::from((format!("{sign} {word}"), role)),
            Cell::from((runner.label(), Role::Text)),
            Cell::from((runner.tags().join(" "), Role::Label)),
            Cell::from((kind(runner), Role::Dim)),
            Cell::from((version, Role::Dim)),
            Cell::from((platform.join("/"), Role::Dim)),
            Cell::from((runner.ip_address.clone().unwrap_or_default(), Role::Dim)),
            Cell::from((takes.join(", "), Role::Dim)),
            Cell::from((format!("#{}", runner.id), Role::Dim)),
            Cell::from((age(view, runner), Role::Dim)),
        ])
        .dim(runner.is_paused())
    }

    pub(super) fn draw_list(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let rows = self.rows(view);
        let chosen = COLUMNS.chosen(view);
        let empty = match self.scope {
            Scope::Project => ("No runner serves this project.", "2 shows yours"),
            Scope::Mine => ("You have no runners of your own.", "The tab All shows those of the server"),
            Scope::All => ("This server has no runners.", ""),
        };
        self.list.draw(
            view,
            area,
            buf,
            !self.on_jobs(),
            &rows,
            &chosen.columns(),
            |r| chosen.row(self.row(view, r)),
            empty,
        );
    }

    pub(super) fn draw_details(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let theme = view.theme;
        let Some(runner) = self.current(view) else {
            panels::title(buf, area, theme, self.on_jobs(), "runner", "");
            return;
        };
        let body = panels::title(buf, area, theme, self.on_jobs(), &runner.label(), &format!("#{}", runner.id));
        let rest = details::draw(view, body, buf, runner);
        let Some(rows) = self.jobs_rows(view) else { return };
        let running = self.running(view);
        let facts = if running > 0 { format!("{running} running") } else { String::new() };
        let title = match JOB_STATUSES.get(self.status).copied().unwrap_or_default() {
            "" => "jobs".to_owned(),
            status => format!("jobs: {status}"),
        };
        let rest = Rect { y: rest.y + 1, height: rest.height.saturating_sub(1), ..rest };
        let body = panels::title(buf, rest, theme, self.on_jobs(), &title, &facts);
        let columns = [
            Column::new("", Size::Fit { min: 9, max: 12 }),
            Column::new("", Size::Fit { min: 8, max: 24 }).middle().priority(1),
            Column::new("", Size::Fill { min: 10, weight: 1 }),
            Column::new("", Size::Fit { min: 6, max: 8 }).right(),
            Column::new("", Size::Fixed(4)).right().priority(2),
        ];
        let row = |job: &Job| {
            Row::new(vec![
                ci::status_cell(job),
                Cell::from((job.project().map(|p| p.path_with_namespace.clone()).unwrap_or_default(), Role::Dim)),
                Cell::from((format!("#{} {}", job.id, job.name), Role::Text)),
                Cell::from((ci::took(job, view.now), Role::Text)),
                Cell::from((list::age(view, ci::last(job)), Role::Dim)),
            ])
        };
        if body.height == 0 {
            return;
        }
        self.jobs.draw(view, body, buf, self.on_jobs(), &rows, &columns, row, ("It has run no job yet.", ""));
    }
}
