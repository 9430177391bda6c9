//! The preview beside a list to choose from, on wide screens: its room is kept, so that the list never moves.

use crate::context::Cx;
use crate::motion::Motion;
use crate::pane::Pane;
use crate::place::Place;
use crate::registry::PaneOpener;
use crate::view::View;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::cell::Cell;
use store::Want;
use ui::theme::Role;
use ui::{drawn, glyph, line};

/// The minimum width of the screen for a preview, in columns.
const MIN_SCREEN_WIDTH: u16 = 120;

/// The minimum width of the list, in columns.
const MIN_LIST_WIDTH: u16 = 64;

/// The preview of the selected item.
#[derive(Default)]
pub struct PickerPreview {
    shown: Option<(Place, Box<dyn Pane>)>,
    /// Whether a letter was typed since the last frame: then what is requested is canceled, and waits again.
    is_paused: Cell<bool>,
    area: Cell<Rect>,
}

/// Returns whether there is room for a preview.
pub fn fits(width: u16) -> bool {
    width >= MIN_SCREEN_WIDTH && !glyph::is_accessible()
}

/// Returns the areas of the list and of the preview.
pub fn split(area: Rect) -> (Rect, Rect) {
    let list = Rect { width: (area.width * 9 / 20).max(MIN_LIST_WIDTH), ..area };
    let beside = list.right() + 3;
    (list, Rect { x: beside, width: area.right().saturating_sub(beside), ..area })
}

impl PickerPreview {
    /// Shows the preview of the item that is now selected, if it has one.
    pub fn follow(&mut self, selected: Option<(Place, PaneOpener)>, cx: &mut Cx) {
        let is_shown = |(place, _): &(Place, PaneOpener)| self.shown.as_ref().is_some_and(|(shown, _)| shown == place);
        if !selected.as_ref().is_some_and(is_shown) {
            self.shown = selected.map(|(place, open)| (place.clone(), open(&place, &cx.view)));
        }
        if let Some((_, pane)) = &mut self.shown {
            pane.changed(cx);
        }
    }

    /// Cancels what is requested until the next frame, because a letter was typed.
    pub fn pause(&mut self) {
        self.is_paused.set(true);
    }

    /// Returns the requests and computations that the preview needs.
    pub fn wants(&self, view: &View) -> Vec<Want> {
        let shown = self.shown.as_ref().filter(|_| !self.is_paused.get());
        shown.map(|(_, pane)| pane.wants(view)).unwrap_or_default()
    }

    /// Returns whether the preview was drawn in a cell.
    pub fn contains(&self, column: u16, row: u16) -> bool {
        self.area.get().contains((column, row).into())
    }

    /// Scrolls the preview.
    pub fn scroll(&mut self, rows: i16, cx: &mut Cx) {
        if let Some((_, pane)) = &mut self.shown {
            pane.motion(Motion::Wheel(rows), cx);
        }
    }

    /// Draws the preview with a line before it.
    pub fn draw(&self, view: &View, area: Rect, buf: &mut Buffer) {
        self.area.set(area);
        if self.is_paused.replace(false) {
            drawn::record_change();
        }
        for y in area.y..area.bottom() {
            line::set(buf, area.x.saturating_sub(2), y, glyph::divider(), 1, view.theme.style(Role::Faint));
        }
        if let Some((_, pane)) = &self.shown {
            pane.view(view, area, buf);
        }
    }

    /// Records that there is no room for the preview.
    pub fn hide(&self) {
        self.area.set(Rect::default());
    }
}
