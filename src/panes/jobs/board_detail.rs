//! The board beside the jobs: the pipeline of the selected job, with a cursor of its own.

use super::{JobSource, Jobs};
use crate::api::Id;
use crate::api::jobs::{Job, ListJobs};
use crate::api::pipelines::resources::Status;
use crate::app::context::Cx;
use crate::app::motion::Motion;
use crate::app::pane::Pane;
use crate::app::pointer::Pointer;
use crate::app::view::View;
use crate::parts::ci::POLL_INTERVAL;
use crate::parts::ci::board::{Board, BoardTitle};
use crate::parts::ci::pipelines;
use crate::parts::list::source::{Detail, DetailContext, Input};
use crate::store::{Load, Want};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::time::Duration;

/// The delay after the selection moved before the pipeline is fetched.
const FETCH_DELAY: Duration = Duration::from_millis(120);

/// The board beside the list of jobs.
pub struct BoardDetail {
    board: Board,
    project: Id,
    title: BoardTitle,
    history: Option<ListJobs>,
    focused: bool,
    /// Whether the duration of a job runs, in the list or on the board.
    is_running: bool,
}

impl Default for BoardDetail {
    fn default() -> BoardDetail {
        let (board, project, history) = Default::default();
        BoardDetail { board, project, title: BoardTitle::Pipeline, history, focused: false, is_running: false }
    }
}

impl BoardDetail {
    /// Returns the ID of the job under the cursor.
    pub fn cursor(&self) -> Option<u64> {
        self.board.cursor()
    }
}

/// Returns the query for successful jobs whose durations are compared; `None` if the list itself contains them.
fn history(source: &JobSource, input: &Input<'_>, view: &View) -> Option<ListJobs> {
    let scope = Some(vec![Status::Success.as_str().to_owned()]);
    let is_partial = source.pipeline.is_some() || source.scope(input, view).is_some();
    is_partial.then(|| ListJobs { id: source.project.clone(), scope })
}

impl Pane for BoardDetail {
    fn wants(&self, view: &View) -> Vec<Want> {
        let Some(query) = self.board.query(&self.project) else { return Vec::new() };
        let load = Load::list(&query, 1).after(FETCH_DELAY);
        let mut wants = vec![load.refresh_after(self.board.live.then_some(POLL_INTERVAL)).into()];
        let triggers = self.board.triggers(&self.project);
        wants.extend(triggers.and_then(|list| pipelines::want_triggers(view, &list, self.board.live)));
        wants.extend(self.history.as_ref().map(|history| Load::list(history, 1).after(FETCH_DELAY).into()));
        wants
    }

    fn motion(&mut self, motion: Motion, _: &mut Cx) {
        self.board.motion(motion);
    }

    fn pointer(&mut self, pointer: Pointer, cx: &mut Cx) {
        let Pointer::Press { column, row, double } = pointer else { return };
        if self.board.press(column, row) && double {
            cx.act(cx.here.then(|jobs: &mut Jobs, cx| jobs.enter(cx)));
        }
    }

    fn ticks(&self, _: &View) -> bool {
        self.is_running
    }

    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        self.board.draw(view, area, buf, &self.project, self.focused, self.title);
    }
}

impl Detail<JobSource> for BoardDetail {
    fn show(&mut self, context: &DetailContext<'_, JobSource>, cx: &mut Cx) {
        let (view, source) = (&cx.view, context.source);
        self.project.clone_from(&source.project);
        self.title = if source.pipeline.is_some() { BoardTitle::Stages } else { BoardTitle::Pipeline };
        (self.focused, self.is_running) = (context.focused, source.lines.any_running);
        if !context.focused && (context.row.is_some() || context.rows.is_loaded) {
            let pipeline = context.row.and_then(|job| job.pipeline.as_ref()).map(|pipeline| pipeline.id);
            self.board.show_job(pipeline.or(source.pipeline), context.row.map(|job| job.id));
        }
        self.board.refresh(view, &source.project);
        self.history = history(source, &context.input, view);
        match &self.history {
            Some(history) => self.board.read_history(view, &source.project, &view.store.list(history)),
            None => self.board.read_history(view, &source.project, &context.rows),
        }
    }

    fn leaves(&self) -> bool {
        self.board.is_at_first_stage()
    }

    fn current<'a>(&self, view: &View<'a>) -> Option<&'a Job> {
        let id = self.board.cursor()?;
        self.board.rows(view, &self.project)?.iter().find(|job| job.id == id)
    }
}
