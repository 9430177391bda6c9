//! The board beside the jobs: the pipeline of the selected job, with a cursor of its own.

use super::JobSource;
use crate::api::Id;
use crate::api::jobs::{Job, ListJobs};
use crate::api::pipelines::resources::Status;
use crate::app::context::Cx;
use crate::app::motion::Motion;
use crate::app::pointer::Pointer;
use crate::app::view::View;
use crate::parts::board::{Board, BoardTitle};
use crate::parts::ci::POLL_INTERVAL;
use crate::parts::list_source::{Detail, DetailContext, Input};
use crate::parts::pipelines;
use crate::store::{Load, Want};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::time::Duration;

/// The delay after the selection moved before the pipeline is fetched.
const FETCH_DELAY: Duration = Duration::from_millis(120);

/// The board as the detail panel of the list of jobs.
pub struct BoardDetail {
    board: Board,
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

impl Detail<JobSource> for BoardDetail {
    const PANELS: usize = 2;

    fn new() -> BoardDetail {
        BoardDetail { board: Board::default() }
    }

    fn current<'a>(&self, source: &JobSource, view: &View<'a>) -> Option<&'a Job> {
        let id = self.board.cursor()?;
        self.board.rows(view, &source.project)?.iter().find(|job| job.id == id)
    }

    fn wants(&self, context: &DetailContext<'_, JobSource>, view: &View) -> Vec<Want> {
        let project: &Id = &context.source.project;
        let Some(query) = self.board.query(project) else { return Vec::new() };
        let load = Load::list(&query, 1).after(FETCH_DELAY);
        let mut wants = vec![if self.board.live { load.refresh_after(POLL_INTERVAL).into() } else { load.into() }];
        let triggers = self.board.triggers(project);
        wants.extend(triggers.and_then(|list| pipelines::want_triggers(view, &list, self.board.live)));
        let history = history(context.source, &context.input, view);
        wants.extend(history.map(|history| Load::list(&history, 1).after(FETCH_DELAY).into()));
        wants
    }

    fn changed(&mut self, context: &DetailContext<'_, JobSource>, cx: &mut Cx) {
        let (view, source) = (&cx.view, context.source);
        if let Some(job) = context.row.filter(|_| !context.focused) {
            let pipeline = job.pipeline.as_ref().map(|pipeline| pipeline.id);
            self.board.show_job(pipeline.or(source.pipeline), Some(job.id));
        }
        self.board.refresh(view, &source.project);
        match history(source, &context.input, view) {
            Some(history) => self.board.read_history(view, &source.project, &view.store.list(&history)),
            None => self.board.read_history(view, &source.project, &context.rows),
        }
    }

    fn motion(&mut self, _: &DetailContext<'_, JobSource>, motion: Motion, _: &View) -> bool {
        !self.board.motion(motion) && motion == Motion::Left
    }

    fn pointer(&mut self, context: &DetailContext<'_, JobSource>, pointer: Pointer, cx: &mut Cx) {
        let Pointer::Press { column, row, double } = pointer else { return };
        if self.board.press(column, row)
            && double
            && let Some(job) = self.current(context.source, &cx.view)
        {
            context.source.open_job(job, cx);
        }
    }

    fn enter(&mut self, _: &DetailContext<'_, JobSource>, _: &mut Cx) -> bool {
        false
    }

    fn draw(&self, context: &DetailContext<'_, JobSource>, view: &View, area: Rect, buf: &mut Buffer) {
        let title = if context.source.pipeline.is_some() { BoardTitle::Stages } else { BoardTitle::Pipeline };
        self.board.draw(view, area, buf, &context.source.project, context.focused, title);
    }
}
