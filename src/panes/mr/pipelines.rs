//! The pipelines of a merge request, and the selected one as a board.

use super::NOTHING_TO_OPEN;
use super::reads::{MergeRequestReads, RUNNING_INTERVAL};
use crate::api::Id;
use crate::api::pipelines::resources::Pipeline;
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::motion::Motion;
use crate::app::pane::Pane;
use crate::app::place::Place;
use crate::app::pointer::Pointer;
use crate::app::tone::Tone;
use crate::app::view::View;
use crate::parts::ci::board::{Board, BoardTitle};
use crate::parts::ci::pipelines;
use crate::parts::list::{self, Listing};
use crate::parts::text::dates::age;
use crate::store::{Load, Rows, Want};
use crate::ui::glyph;
use crate::ui::panels::{self, PanelRequest, Panels};
use crate::ui::table::{Size, TableColumn, TableRow};
use crate::ui::theme::Role;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::time::Duration;

/// The delay after the selection moved before the jobs of a pipeline are fetched.
const FETCH_DELAY: Duration = Duration::from_millis(120);
const LIST: usize = 0;
const BOARD: usize = 1;
const PANEL_WIDTHS: &[PanelRequest] = &[PanelRequest { min: 48, weight: 2 }, PanelRequest { min: 50, weight: 3 }];

/// The list of pipelines and the board of the selected one.
pub struct PipelinesTab {
    reads: MergeRequestReads,
    list: Listing,
    board: Board,
    panels: Panels,
}

impl PipelinesTab {
    pub fn new(reads: MergeRequestReads) -> PipelinesTab {
        PipelinesTab { reads, list: Listing::default(), board: Board::default(), panels: Panels::new(2) }
    }

    fn rows<'a>(&self, view: &View<'a>) -> Rows<'a, Pipeline> {
        view.store.list(&self.reads.pipelines())
    }

    /// Returns the pipeline under the cursor.
    fn selected<'a>(&self, view: &View<'a>) -> Option<&'a Pipeline> {
        self.list.selected(&self.rows(view))
    }

    /// Returns the place of the job under the cursor of the focused board; for a trigger job, that of the pipeline it
    /// started, or the reason why there is none.
    fn job_place(&self, view: &View, project: &Id) -> Option<Result<Place, String>> {
        let id = self.board.cursor().filter(|_| self.on_board())?;
        let rows = self.board.rows(view, project)?;
        let Some(trigger) = rows.iter().find(|job| job.id == id && job.is_trigger()) else {
            return Some(Ok(Place::new("job").project(project.clone()).item(id)));
        };
        let downstream = pipelines::downstream_place(project, trigger);
        Some(downstream.ok_or_else(|| pipelines::no_downstream_words(trigger)))
    }

    fn on_board(&self) -> bool {
        self.panels.focus() == BOARD
    }

    /// Returns the requests for the jobs and the trigger jobs of the selected pipeline, while the board is visible.
    fn board_wants(&self, view: &View) -> Vec<Want> {
        let Some(pipeline) = self.selected(view).filter(|_| self.shows_board(view)) else { return Vec::new() };
        let project = self.reads.project_of(view, pipeline);
        let age = self.board.live.then_some(RUNNING_INTERVAL);
        let jobs = self.board.query(&project);
        let jobs = jobs.map(|jobs| Load::list(&jobs, 1).after(FETCH_DELAY).refresh_after(age));
        let triggers = self.board.triggers(&project);
        let triggers = triggers.and_then(|triggers| pipelines::want_triggers(view, &triggers, self.board.live));
        jobs.map(Want::from).into_iter().chain(triggers).collect()
    }

    fn shows_board(&self, view: &View) -> bool {
        let places = self.panels.areas(Rect::new(0, 0, view.size.0, view.size.1), PANEL_WIDTHS);
        places.get(BOARD).is_some_and(Option::is_some)
    }

    fn draw_list(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let columns = [
            TableColumn::new("", Size::Fixed(1)),
            TableColumn::new("", Size::Fit { min: 6, max: 16 }).drop_order(2),
            TableColumn::new("", Size::Fit { min: 3, max: 12 }),
            TableColumn::new("", Size::Fill { min: 12, weight: 1 }).cut_in_middle(),
            TableColumn::new("", Size::Fixed(8)).drop_order(1),
            TableColumn::new("", Size::Fit { min: 2, max: 4 }).right().drop_order(3),
        ];
        let empty = ("It has no pipeline.", "‹refresh› refreshes");
        self.list.draw(view, area, buf, !self.on_board(), &self.rows(view), &columns, |p| row(view, p), empty);
    }

    /// Returns whether the item under the cursor can be opened, or why not.
    pub fn can_enter(&self, view: &View) -> Result<(), Disabled> {
        list::need(self.selected(view), &self.rows(view), NOTHING_TO_OPEN).map(|_| ())
    }
}

impl Pane for PipelinesTab {
    fn place(&self) -> Place {
        self.reads.place().tab("pipelines")
    }

    fn wants(&self, view: &View) -> Vec<Want> {
        let list = self.reads.polled(view, Load::list(&self.reads.pipelines(), self.list.pages()));
        [list.into()].into_iter().chain(self.board_wants(view)).collect()
    }

    /// Draws list and board, or the focused one if there is no room for both.
    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        self.board.hide();
        self.list.drawn_at(Rect::default());
        if self.rows(view).is_empty() {
            return self.draw_list(view, area, buf);
        }
        let places = self.panels.layout(area, PANEL_WIDTHS);
        self.panels.draw_dividers(buf, view.theme);
        if let Some(place) = places.get(BOARD).copied().flatten() {
            let project = self.selected(view).map(|pipeline| self.reads.project_of(view, pipeline));
            self.board.draw(
                view,
                place,
                buf,
                project.as_ref().unwrap_or(&self.reads.project),
                self.on_board(),
                BoardTitle::Pipeline,
            );
        }
        if let Some(place) = places.get(LIST).copied().flatten() {
            let body = panels::title(buf, place, view.theme, !self.on_board(), "Pipelines", "");
            self.draw_list(view, body, buf);
        }
    }

    /// Shows the selected pipeline on the board.
    fn changed(&mut self, cx: &mut Cx) {
        let view = cx.view;
        self.list.sync(&self.rows(&view), |pipeline| pipeline.id.to_string());
        let selected = self.selected(&view);
        let id = selected.map(|pipeline| pipeline.id);
        if self.board.pipeline != id {
            self.board.show_job(id, None);
        }
        if let Some(pipeline) = selected {
            self.board.refresh(&view, &self.reads.project_of(&view, pipeline));
        }
    }

    /// Opens the job under the cursor of the focused board, else the jobs of the selected pipeline.
    fn enter(&mut self, cx: &mut Cx) {
        let Some(pipeline) = self.selected(&cx.view) else { return };
        let project = self.reads.project_of(&cx.view, pipeline);
        match self.job_place(&cx.view, &project) {
            Some(Ok(place)) => cx.go(place),
            Some(Err(why)) => cx.say(Tone::Info, why),
            None => cx.go(self.reads.jobs_place(&cx.view, pipeline)),
        }
    }

    fn motion(&mut self, motion: Motion, cx: &mut Cx) {
        match motion {
            _ if self.on_board() => {
                if !self.board.motion(motion) && motion == Motion::Left {
                    self.panels.set_focus(LIST);
                }
            }
            Motion::Right => self.enter(cx),
            Motion::Left => {}
            other => self.list.motion(other, self.rows(&cx.view).len()),
        }
    }

    fn pointer(&mut self, pointer: Pointer, cx: &mut Cx) {
        let opens = match pointer {
            Pointer::Press { column, row, double } if self.board.press(column, row) => {
                self.panels.set_focus(BOARD);
                double
            }
            _ => {
                if matches!(pointer, Pointer::Press { column, row, .. } if self.list.contains(column, row)) {
                    self.panels.set_focus(LIST);
                }
                self.list.pointer(pointer, self.rows(&cx.view).len())
            }
        };
        if opens {
            self.enter(cx);
        }
    }

    fn panels(&mut self) -> Option<&mut Panels> {
        Some(&mut self.panels)
    }

    /// Moves the focus from the board to the list.
    fn escape(&mut self, _cx: &mut Cx) -> bool {
        let inside = self.on_board();
        self.panels.set_focus(LIST);
        inside
    }

    fn ticks(&self, view: &View) -> bool {
        self.board.live && self.shows_board(view)
    }
}

fn row(view: &View, pipeline: &Pipeline) -> TableRow<'static> {
    let (mark, role) = glyph::status_glyph(pipeline.status.as_str());
    let short = pipeline.sha.get(..8).unwrap_or(&pipeline.sha);
    let when = pipeline.updated_at.as_ref().or(pipeline.created_at.as_ref());
    TableRow::new(vec![
        (mark, role).into(),
        (pipeline.status.as_str().replace('_', " "), role).into(),
        (format!("#{}", pipeline.id), Role::Text).into(),
        (pipelines::ref_name(pipeline), Role::Ref).into(),
        (short.to_owned(), Role::Ref).into(),
        (age(view, when), Role::Dim).into(),
    ])
}
