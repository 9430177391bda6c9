//! A file as a part that can have the focus.

use super::BlobView;
use crate::app::clip::Clip;
use crate::app::context::Cx;
use crate::app::motion::Motion;
use crate::app::pane::{CodeHere, Pane, SearchMode};
use crate::app::pointer::Pointer;
use crate::app::tone::Tone;
use crate::app::view::View;
use crate::parts::list;
use crate::store::Want;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

impl Pane for BlobView {
    fn wants(&self, view: &View) -> Vec<Want> {
        self.wants_shown(view)
    }

    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        self.draw_shown(view, area, buf, true);
    }

    fn changed(&mut self, cx: &mut Cx) {
        BlobView::changed(self, &cx.view);
    }

    fn motion(&mut self, motion: Motion, cx: &mut Cx) {
        BlobView::motion(self, motion, &cx.view);
    }

    fn pointer(&mut self, pointer: Pointer, cx: &mut Cx) {
        BlobView::pointer(self, pointer, &cx.view);
    }

    fn search(&self) -> Option<(SearchMode, String)> {
        Some((SearchMode::Expression, self.query().to_owned()))
    }

    fn begin_search(&mut self, view: &View) {
        BlobView::begin_search(self, view);
    }

    fn set_filter_text(&mut self, text: &str, cx: &mut Cx) {
        self.set_query(text, &cx.view);
    }

    fn code(&self, view: &View) -> CodeHere {
        CodeHere { words: self.words(view), ..CodeHere::default() }
    }

    fn next_match(&mut self, forward: bool, cx: &mut Cx) {
        if self.query().is_empty() {
            return cx.say(Tone::Info, "No search yet: ‹seek› starts one.");
        }
        if !BlobView::next_match(self, forward, &cx.view) {
            cx.say(Tone::Info, list::not_found(self.query(), self.is_searching(&cx.view)));
        }
    }

    fn escape(&mut self, cx: &mut Cx) -> bool {
        if self.clear_mark() || self.hide_blame() {
            return true;
        }
        let is_searched = !self.query().is_empty();
        if is_searched {
            BlobView::begin_search(self, &cx.view);
            self.set_query("", &cx.view);
        }
        is_searched
    }

    fn copies(&self, view: &View) -> Vec<Clip> {
        self.text_here(view).map(|text| Clip::code_line("the line", text)).into_iter().collect()
    }
}
