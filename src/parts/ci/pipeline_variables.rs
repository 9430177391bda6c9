//! An overlay with the variables of a pipeline. A value is shown only when the user asks for it, and only for a few
//! seconds.

use crate::api::Id;
use crate::api::pipelines::{ListPipelineVariables, PipelineVariable};
use crate::app::context::Cx;
use crate::app::keymap::Key;
use crate::app::overlay::{AfterEvent, Overlay};
use crate::app::pointer::Pointer;
use crate::app::view::View;
use crate::parts::list::draw_placeholder;
use crate::parts::list::sheet::Sheet;
use crate::parts::text::revealed::Revealed;
use crate::store::{Load, Want};
use crate::ui::line::Line;
use crate::ui::popup;
use crate::ui::table::{Size, TableColumn, TableRow};
use crate::ui::theme::Role;
use crossterm::event::KeyCode;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// The list of variables.
pub struct PipelineVariables {
    pipeline: u64,
    list: ListPipelineVariables,
    sheet: Sheet,
    revealed: Revealed,
}

impl PipelineVariables {
    /// Creates the overlay for a pipeline.
    pub fn of(project: &Id, pipeline: u64) -> PipelineVariables {
        let list = ListPipelineVariables { id: project.clone(), pipeline_id: pipeline };
        PipelineVariables { pipeline, list, sheet: Sheet::default(), revealed: Revealed::default() }
    }

    fn row(&self, variable: &PipelineVariable, view: &View) -> TableRow<'static> {
        let kind = if variable.variable_type == "file" { "file" } else { "" };
        TableRow::new(vec![
            Line::new(variable.key.clone(), Role::Label),
            self.revealed.cell(&variable.key, &variable.value, view.local_now),
            Line::new(kind, Role::Dim),
        ])
    }
}

impl Overlay for PipelineVariables {
    fn wants(&self, _view: &View) -> Vec<Want> {
        vec![Load::list(&self.list, 1).into()]
    }

    fn allows_popups(&self) -> bool {
        true
    }

    fn view(&self, view: &View, screen: Rect, buf: &mut Buffer) -> Option<(u16, u16)> {
        let (theme, rows) = (view.theme, view.store.list(&self.list));
        let height = popup::saturating_rows(rows.len().max(4) + 2).min(screen.height.saturating_sub(4));
        let title = format!("Variables of pipeline {}", self.pipeline);
        let inner = popup::draw(buf, screen, theme, &title, (screen.width * 3 / 5).clamp(40, 96), height);
        let body = Rect { height: inner.height.saturating_sub(2), ..inner };
        if rows.is_empty() {
            let empty = ("This pipeline has no variables.", "Project variables are not listed here");
            draw_placeholder(view, body, buf, &rows, empty);
        } else {
            let columns = [
                TableColumn::new("", Size::Fit { min: 6, max: 32 }),
                TableColumn::new("", Size::Fill { min: 10, weight: 1 }),
                TableColumn::new("", Size::Fit { min: 0, max: 4 }),
            ];
            self.sheet.draw_table(view, body, buf, &columns, rows.len(), &|at| {
                rows.get(at).map(|variable| self.row(variable, view)).unwrap_or_default()
            });
        }
        let (key, dim) = (theme.style(Role::Key), theme.style(Role::Dim));
        let foot = Rect { y: inner.bottom().saturating_sub(1), height: inner.height.min(1), ..inner };
        Line::from([("v", key), (" show value (10 seconds)   ", dim), ("Esc", key), (" close", dim)])
            .draw(buf, foot, theme);
        None
    }

    fn key(&mut self, key: Key, cx: &mut Cx) -> AfterEvent {
        let len = cx.view.store.list(&self.list).len();
        match key.code {
            KeyCode::Esc | KeyCode::Char('q') => return AfterEvent::Close,
            KeyCode::Char('c') if key.ctrl => return AfterEvent::Close,
            KeyCode::Char('v') => {
                if let Some(variable) = cx.view.store.list(&self.list).get(self.sheet.selected()) {
                    self.revealed.toggle(variable.key.clone(), cx.view.local_now);
                }
            }
            _ => self.sheet.letter_key(key, len),
        }
        AfterEvent::KeepOpen
    }

    fn changed(&mut self, cx: &mut Cx) {
        self.revealed.expire(cx.view.local_now);
    }

    fn shows_secret(&self) -> bool {
        self.revealed.is_any()
    }

    fn pointer(&mut self, pointer: Pointer, cx: &mut Cx) -> AfterEvent {
        self.sheet.pointer(pointer, cx.view.store.list(&self.list).len())
    }
}
