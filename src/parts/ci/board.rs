//! The board of a pipeline: one column for each stage, one row for each job.

use crate::api::Id;
use crate::api::jobs::{Job, ListPipelineJobs};
use crate::api::pipelines::ListPipelineBridges;
use crate::app::motion::Motion;
use crate::app::view::View;
use crate::parts::ci::job_waits::{self, Blocker};
use crate::parts::ci::{self, Stage};
use crate::parts::ci::{job_details, pipelines};
use crate::store::{Revision, Rows};
use crate::ui::line::Line;
use crate::ui::theme::{Role, Theme};
use crate::ui::{cursor_hint, glyph, line, panels, state, text};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use std::cell::RefCell;

/// The minimum width of a stage.
const MIN_STAGE_WIDTH: u16 = 20;
/// The maximum width of a stage.
const MAX_STAGE_WIDTH: u16 = 34;
/// The minimum number of free rows below the board for the details of a job to be shown there.
const MIN_DETAILS_HEIGHT: u16 = 8;

/// The title above a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoardTitle {
    /// The pipeline with its status and user.
    Pipeline,
    /// Only that these are its stages, where a header names the pipeline.
    Stages,
}

/// The board of the selected pipeline.
#[derive(Debug, Default)]
pub struct Board {
    /// The ID of the pipeline.
    pub pipeline: Option<u64>,
    stages: Vec<Stage>,
    made_of: Option<(u64, Revision)>,
    cursor: Option<u64>,
    /// Whether a job can change without user action, so that the pipeline has to be polled.
    pub live: bool,
    /// The durations of earlier runs of the selected job, oldest first.
    earlier: Vec<f64>,
    /// The job and the revision of the list that `earlier` was computed from.
    earlier_of: Option<(u64, Revision)>,
    /// The area of each job that was drawn, for clicks.
    job_areas: RefCell<Vec<(Rect, u64)>>,
}

impl Board {
    /// Returns the request for the jobs of the pipeline.
    pub fn query(&self, project: &Id) -> Option<ListPipelineJobs> {
        Some(ListPipelineJobs::all(project.clone(), self.pipeline?))
    }

    /// Returns the loaded jobs, including trigger jobs.
    pub fn rows<'a>(&self, view: &View<'a>, project: &Id) -> Option<Rows<'a, Job>> {
        let jobs = view.store.list(&self.query(project)?);
        Some(pipelines::with_triggers(view, jobs, &self.triggers(project)?))
    }

    /// Returns the request for the trigger jobs of the pipeline.
    pub fn triggers(&self, project: &Id) -> Option<ListPipelineBridges> {
        Some(pipelines::triggers(project, self.pipeline?, None))
    }

    /// Shows the pipeline of `job`, with the cursor on it.
    pub fn show_job(&mut self, pipeline: Option<u64>, job: Option<u64>) {
        self.pipeline = pipeline;
        self.cursor = job;
    }

    /// Returns the ID of the selected job.
    pub fn cursor(&self) -> Option<u64> {
        self.cursor
    }

    /// Rebuilds the stages if the list of jobs changed.
    pub fn refresh(&mut self, view: &View, project: &Id) {
        let Some(rows) = self.rows(view, project) else {
            self.stages.clear();
            return;
        };
        let now = self.pipeline.map(|id| (id, rows.revision));
        if self.made_of == now {
            return;
        }
        self.made_of = now;
        self.live = rows.iter().any(ci::may_change);
        self.stages = ci::stages(rows.iter().enumerate());
        // Only the newest run of a retried job is shown.
        for stage in &mut self.stages {
            stage.jobs.retain(|run| !run.is_retried);
        }
    }

    /// Reads the durations of earlier runs of the selected job from `history`.
    pub fn read_history(&mut self, view: &View, project: &Id, history: &Rows<'_, Job>) {
        let Some(now) = self.cursor.map(|id| (id, history.revision)) else { return };
        if self.earlier_of == Some(now) {
            return;
        }
        let rows = self.rows(view, project);
        if let Some(job) = rows.as_ref().and_then(|rows| rows.iter().find(|job| job.id == now.0)) {
            self.earlier = ci::earlier_durations(history.iter(), job, view.now);
            self.earlier_of = Some(now);
        }
    }

    /// Returns the stage and the row of the selected job.
    fn cursor_position(&self) -> Option<(usize, usize)> {
        let id = self.cursor?;
        self.stages.iter().enumerate().find_map(|(x, stage)| {
            let y = stage.jobs.iter().position(|run| run.id == id)?;
            Some((x, y))
        })
    }

    /// Returns whether there is no stage to the left of the cursor.
    pub fn is_at_first_stage(&self) -> bool {
        self.cursor_position().is_none_or(|(stage, _)| stage == 0)
    }

    /// Moves the cursor; returns `false` if there is no job in that direction.
    pub fn motion(&mut self, motion: Motion) -> bool {
        let (x, y) = self.cursor_position().unwrap_or_default();
        let len = |x: usize| self.stages.get(x).map_or(0, |stage| stage.jobs.len());
        let (x, y) = match motion {
            Motion::Left if x == 0 => return false,
            Motion::Left => (x - 1, y.min(len(x - 1).saturating_sub(1))),
            Motion::Right if x + 1 >= self.stages.len() => return false,
            Motion::Right => (x + 1, y.min(len(x + 1).saturating_sub(1))),
            other => {
                let by = other.rows(10).unwrap_or_default();
                (x, y.saturating_add_signed(by).min(len(x).saturating_sub(1)))
            }
        };
        match self.stages.get(x).and_then(|stage| stage.jobs.get(y)) {
            Some(run) => {
                self.cursor = Some(run.id);
                true
            }
            None => false,
        }
    }

    /// Selects the job at a cell; returns `false` if there is none.
    pub fn press(&mut self, column: u16, row: u16) -> bool {
        let hit =
            self.job_areas.borrow().iter().find(|(area, _)| area.contains((column, row).into())).map(|(_, id)| *id);
        if hit.is_some() {
            self.cursor = hit;
        }
        hit.is_some()
    }

    /// Forgets the clickable areas, because the board is not visible.
    pub fn hide(&self) {
        self.job_areas.borrow_mut().clear();
    }

    /// Draws the board.
    pub fn draw(&self, view: &View, area: Rect, buf: &mut Buffer, project: &Id, focused: bool, title: BoardTitle) {
        self.hide();
        let Some(rows) = self.rows(view, project) else {
            panels::title(buf, area, view.theme, focused, "Pipeline", "");
            return;
        };
        let first = rows.get(0);
        let status = first.and_then(|job| job.pipeline.as_ref()).map(|p| p.status.as_str());
        let status = status.map(|status| glyph::labeled(status).0);
        let by = first.and_then(|job| job.user.as_ref()).map(|user| format!("by {}", text::sanitize(&user.username)));
        let (title, facts) = match title {
            BoardTitle::Stages => ("Stages".to_owned(), String::new()),
            BoardTitle::Pipeline => {
                let facts: Vec<String> = status.into_iter().chain(by).collect();
                (format!("Pipeline {}", self.pipeline.unwrap_or_default()), facts.join(glyph::separator()))
            }
        };
        let body = panels::title(buf, area, view.theme, focused, &title, &facts);
        if rows.is_empty() {
            match rows.error {
                Some(error) => crate::parts::list::draw_error(view, body, buf, error),
                None if rows.is_loaded => view.draw_empty(buf, body, "This pipeline has no jobs.", ""),
                None => state::skeleton(buf, body, view.theme),
            }
            return;
        }
        let (x, y) = self.cursor_position().unwrap_or_default();
        // In accessible mode only one stage is shown, because jobs of several stages on one line would be read as one.
        let fit = if glyph::is_accessible() { 1 } else { usize::from(body.width / MIN_STAGE_WIDTH) };
        let fit = fit.clamp(1, self.stages.len().max(1));
        let width = (body.width / fit as u16).min(if glyph::is_accessible() { body.width } else { MAX_STAGE_WIDTH });
        let from = (x + 1).saturating_sub(fit);
        let tallest = self.stages.iter().map(|stage| stage.jobs.len()).max().unwrap_or_default();
        let below = body.height.saturating_sub(u16::try_from(tallest).unwrap_or(u16::MAX).saturating_add(2));
        let shows_details = below >= MIN_DETAILS_HEIGHT && !glyph::is_accessible();
        let body = Rect { height: if shows_details { body.height - below } else { body.height }, ..body };
        for (place, (index, stage)) in self.stages.iter().enumerate().skip(from).take(fit).enumerate() {
            let column = Rect { x: body.x + place as u16 * width, width, ..body };
            let here = (index == x).then_some(y);
            self.draw_stage(
                view,
                column,
                buf,
                &rows,
                stage,
                (focused, here, index + 1 < self.stages.len()),
                shows_details,
            );
        }
        let job = self.cursor.and_then(|id| rows.iter().find(|job| job.id == id));
        if let Some(job) = job.filter(|_| shows_details) {
            let area = Rect { x: area.x, y: body.bottom(), width: area.width, height: below };
            let blocker = Blocker::of(&self.stages, |at| rows.get(at));
            let waits = job_waits::phrase(view, project, job, blocker.as_ref());
            self.draw_details(view, area, buf, job, waits);
        }
    }

    /// Draws the details of the selected job, as many as fit.
    fn draw_details(&self, view: &View, area: Rect, buf: &mut Buffer, job: &Job, waits: Option<String>) {
        let title = format!("#{} {}", job.id, text::sanitize(&job.name));
        let body = panels::title(buf, area, view.theme, false, &title, "");
        let width = usize::from(body.width.saturating_sub(3));
        let lines = job_details::lines(view, width, job, waits, None, &self.earlier);
        for (line, y) in lines.iter().zip(body.top()..body.bottom()) {
            let at = Rect { x: body.x + 2, y, width: body.width.saturating_sub(3), height: 1 };
            line.text.draw(buf, at, view.theme);
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn draw_stage(
        &self,
        view: &View,
        area: Rect,
        buf: &mut Buffer,
        rows: &Rows<'_, Job>,
        stage: &Stage,
        (focused, here, more): (bool, Option<usize>, bool),
        shows_details: bool,
    ) {
        let theme = view.theme;
        let head = Rect { height: 1.min(area.height), ..area };
        let role = if here.is_some() && focused { Role::Title } else { Role::TitleDim };
        let name = text::fit(&stage.name, usize::from(area.width.saturating_sub(4)));
        let used = Line::new(format!("  {name} "), role).draw(buf, head, theme);
        for x in head.x + used..head.right().saturating_sub(2) {
            line::set(buf, x, head.y, glyph::rule(), 1, theme.style(Role::Faint));
        }
        if more {
            let at = Rect { x: area.right().saturating_sub(2), width: 1, ..head };
            Line::new(glyph::or_word(glyph::folded(), ""), Role::Faint).draw(buf, at, theme);
        }
        let body = Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area };
        let room = usize::from(body.height);
        let skip = here.filter(|_| stage.jobs.len() > room).map_or(0, |y| (y + 3).saturating_sub(room));
        let mut row = body.y;
        for (index, run) in stage.jobs.iter().enumerate().skip(skip) {
            let Some(job) = rows.get(run.index) else { continue };
            if row >= body.bottom() {
                break;
            }
            let at = Rect { y: row, height: 1, width: area.width.saturating_sub(2), ..body };
            let selected = here == Some(index);
            if selected {
                buf.set_style(at, theme.style(if focused { Role::Selected } else { Role::SelectedDim }));
                let mark = theme.style(if focused { Role::Mark } else { Role::Faint });
                line::set(buf, at.x, at.y, glyph::mark(), 1, mark);
                if focused {
                    cursor_hint::set_selected(at.x, at.y);
                }
            }
            let (sign, role) = ci::sign(job);
            let duration = ci::duration(job, view.now);
            let inner = Rect { x: at.x + 2, width: at.width.saturating_sub(2), ..at };
            let quiet = matches!(job.status.as_str(), "skipped" | "canceled" | "created");
            let text_role = if quiet { Role::Dim } else { Role::Text };
            let left = Line::new(format!("{sign} "), role).and(job.name.clone(), text_role);
            let right = match job.downstream() {
                Some(child) => {
                    let (sign, role) = glyph::status(child.status.as_str());
                    Line::new(format!("{} {sign}", child.id), role)
                }
                None => Line::new(duration, Role::Dim),
            };
            line::pair(buf, inner, theme, &left, &right);
            self.job_areas.borrow_mut().push((at, run.id));
            row += 1;
            // Without room for the details, the median is shown below the job itself.
            if selected && !shows_details && !self.earlier.is_empty() && row < body.bottom() {
                draw_median(buf, Rect { y: row, ..inner }, theme, &self.earlier);
                row += 1;
            }
        }
    }
}

/// Draws the median duration of earlier runs, and a chart of them if it fits.
fn draw_median(buf: &mut Buffer, area: Rect, theme: &Theme, earlier: &[f64]) {
    let room = usize::from(area.width).saturating_sub("median 00m 00s ".len()).min(8);
    let Some((median, chart)) = ci::median_duration(earlier, room) else { return };
    Line::new(format!("median {median} "), Role::Dim).and(chart, Role::Chart).draw(
        buf,
        Rect { height: 1, ..area },
        theme,
    );
}
