//! Changed files as a part that can have the focus.

use super::{Changes, FILES};
use crate::app::clip::Clip;
use crate::app::context::Cx;
use crate::app::motion::Motion;
use crate::app::pane::{CodeHere, Pane, SearchMode};
use crate::app::pointer::Pointer;
use crate::app::view::View;
use crate::store::Want;
use crate::ui::panels::Panels;
use crate::ui::words;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

impl Pane for Changes {
    fn wants(&self, view: &View) -> Vec<Want> {
        self.works(view)
    }

    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        self.draw(view, area, buf);
    }

    fn motion(&mut self, motion: Motion, _cx: &mut Cx) {
        Changes::motion(self, motion);
    }

    fn pointer(&mut self, pointer: Pointer, _cx: &mut Cx) {
        Changes::pointer(self, pointer);
    }

    fn enter(&mut self, _cx: &mut Cx) {
        Changes::enter(self);
    }

    fn panels(&mut self) -> Option<&mut Panels> {
        Some(Changes::panels(self))
    }

    fn search(&self) -> Option<(SearchMode, String)> {
        Some(match self.panels.focus() {
            FILES => (SearchMode::Filter, self.filter.clone()),
            _ => (SearchMode::Search, self.query.clone()),
        })
    }

    fn set_filter_text(&mut self, text: &str, _cx: &mut Cx) {
        Changes::set_filter_text(self, text);
    }

    fn next_match(&mut self, forward: bool, _cx: &mut Cx) {
        Changes::next_match(self, forward);
    }

    fn escape(&mut self, cx: &mut Cx) -> bool {
        Changes::escape(self, &cx.view)
    }

    fn code(&self, _view: &View) -> CodeHere {
        CodeHere { words: words::searchable(self.lines_here(), &self.query), ..CodeHere::default() }
    }

    fn copies(&self, _view: &View) -> Vec<Clip> {
        self.location().map(|location| Clip::line("path", location.path)).into_iter().collect()
    }
}
