//! The pipelines of a merge request, and the selected one as a board.

use super::RUNNING_INTERVAL;
use crate::api::Id;
use crate::api::pipelines::resources::PipelineBrief;
use crate::app::motion::Motion;
use crate::app::place::Place;
use crate::app::pointer::Pointer;
use crate::app::view::View;
use crate::parts::board::Board;
use crate::parts::list::{Listing, age};
use crate::parts::pipelines;
use crate::store::{Load, Rows, Want};
use crate::ui::glyph;
use crate::ui::panels::{self, PanelRequest, Panels};
use crate::ui::table::{Column, Row, Size};
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
pub struct Pipelines {
    list: Listing,
    board: Board,
    panels: Panels,
}

impl Default for Pipelines {
    fn default() -> Pipelines {
        Pipelines { list: Listing::default(), board: Board::default(), panels: Panels::new(2) }
    }
}

impl Pipelines {
    /// Returns the number of pages needed of the list.
    pub fn pages(&self) -> u32 {
        self.list.pages()
    }

    /// Returns the pipeline under the cursor.
    pub fn selected<'a>(&self, rows: &Rows<'a, PipelineBrief>) -> Option<&'a PipelineBrief> {
        self.list.selected(rows)
    }

    /// Returns the place of the job under the cursor of the focused board; for a trigger job, that of the pipeline it
    /// started, or the reason why there is none.
    pub fn job_place(&self, view: &View, project: &Id) -> Option<Result<Place, String>> {
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

    /// Returns whether a running clock is shown.
    pub fn ticks(&self, view: &View) -> bool {
        self.board.live && self.shows_board(view)
    }

    /// Returns the panels.
    pub fn panels(&mut self) -> &mut Panels {
        &mut self.panels
    }

    /// Returns the request for the jobs of the pipeline on the board, while the board is visible. `project` is where
    /// the pipeline runs.
    pub fn want(&self, view: &View, project: &Id) -> Option<Want> {
        let load = Load::list(&self.board.query(project).filter(|_| self.shows_board(view))?, 1).after(FETCH_DELAY);
        Some(if self.board.live { load.refresh_after(RUNNING_INTERVAL).into() } else { load.into() })
    }

    /// Returns the request for its trigger jobs.
    pub fn want_triggers(&self, view: &View, project: &Id) -> Option<Want> {
        let triggers = self.board.triggers(project).filter(|_| self.shows_board(view))?;
        pipelines::want_triggers(view, &triggers, self.board.live)
    }

    fn shows_board(&self, view: &View) -> bool {
        let places = self.panels.areas(Rect::new(0, 0, view.size.0, view.size.1), PANEL_WIDTHS);
        places.get(BOARD).is_some_and(Option::is_some)
    }

    /// Shows the selected pipeline on the board. `project` returns the project that a pipeline runs in.
    pub fn sync(&mut self, view: &View, rows: &Rows<'_, PipelineBrief>, project: impl Fn(&PipelineBrief) -> Id) {
        self.list.sync(rows, |pipeline| pipeline.id.to_string());
        let selected = self.list.selected(rows);
        let id = selected.map(|pipeline| pipeline.id);
        if self.board.pipeline != id {
            self.board.show_job(id, None);
        }
        if let Some(pipeline) = selected {
            self.board.refresh(view, &project(pipeline));
        }
    }

    /// Moves the cursor. Returns whether that opens the item under it.
    pub fn motion(&mut self, motion: Motion, len: usize) -> bool {
        match motion {
            _ if self.on_board() => {
                if !self.board.motion(motion) && motion == Motion::Left {
                    self.panels.set_focus(LIST);
                }
            }
            Motion::Right => return true,
            Motion::Left => {}
            other => self.list.motion(other, len),
        }
        false
    }

    /// Handles a pointer event. Returns whether it opens the item under it.
    pub fn pointer(&mut self, pointer: Pointer, len: usize) -> bool {
        if let Pointer::Press { column, row, double } = pointer
            && self.board.press(column, row)
        {
            self.panels.set_focus(BOARD);
            return double;
        }
        let opens = self.list.pointer(pointer, len);
        if matches!(pointer, Pointer::Press { column, row, .. } if self.list.contains(column, row)) {
            self.panels.set_focus(LIST);
        }
        opens
    }

    /// Moves the focus from the board to the list. Returns whether the board had it.
    pub fn escape(&mut self) -> bool {
        let inside = self.on_board();
        self.panels.set_focus(LIST);
        inside
    }

    /// Draws list and board, or the focused one if there is no room for both.
    pub fn draw(&self, view: &View, area: Rect, buf: &mut Buffer, rows: &Rows<'_, PipelineBrief>, project: &Id) {
        self.board.hide();
        self.list.drawn_at(Rect::default());
        if rows.is_empty() {
            return self.draw_list(view, area, buf, rows);
        }
        let places = self.panels.layout(area, PANEL_WIDTHS);
        self.panels.draw_dividers(buf, view.theme);
        if let Some(place) = places.get(BOARD).copied().flatten() {
            self.board.draw(view, place, buf, project, self.on_board());
        }
        if let Some(place) = places.get(LIST).copied().flatten() {
            let body = panels::title(buf, place, view.theme, !self.on_board(), "Pipelines", "");
            self.draw_list(view, body, buf, rows);
        }
    }

    fn draw_list(&self, view: &View, area: Rect, buf: &mut Buffer, rows: &Rows<'_, PipelineBrief>) {
        let columns = [
            Column::new("", Size::Fixed(1)),
            Column::new("", Size::Fit { min: 6, max: 16 }).drop_order(2),
            Column::new("", Size::Fit { min: 3, max: 12 }),
            Column::new("", Size::Fill { min: 12, weight: 1 }).cut_in_middle(),
            Column::new("", Size::Fixed(8)).drop_order(1),
            Column::new("", Size::Fit { min: 2, max: 4 }).right().drop_order(3),
        ];
        let empty = ("It has no pipeline.", "‹refresh› refreshes");
        self.list.draw(view, area, buf, !self.on_board(), rows, &columns, |p| row(view, p), empty);
    }
}

fn row(view: &View, pipeline: &PipelineBrief) -> Row<'static> {
    let (mark, role) = glyph::status_glyph(pipeline.status.as_str());
    let short = pipeline.sha.get(..8).unwrap_or(&pipeline.sha);
    let when = pipeline.updated_at.as_ref().or(pipeline.created_at.as_ref());
    Row::new(vec![
        (mark, role).into(),
        (pipeline.status.as_str().replace('_', " "), role).into(),
        (format!("#{}", pipeline.id), Role::Text).into(),
        (pipeline.r#ref.clone(), Role::Ref).into(),
        (short.to_owned(), Role::Ref).into(),
        (age(view, when), Role::Dim).into(),
    ])
}
