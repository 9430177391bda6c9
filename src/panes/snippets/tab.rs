//! The tabs of the panel beside the list of snippets.

use super::SnippetSource;
use super::text::SnippetText;
use crate::api::snippets::{GetUserAgentDetail, Snippet};
use crate::app::context::Cx;
use crate::app::motion::Motion;
use crate::app::pane::SearchMode;
use crate::app::pointer::Pointer;
use crate::app::view::View;
use crate::parts::facts::Details;
use crate::parts::links::{self, TextOrigin};
use crate::parts::list_source::{DetailContext, DetailSearch};
use crate::parts::notes::Notes;
use crate::store::{Load, Want};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// The input of a tab.
pub type Context<'a> = DetailContext<'a, SnippetSource>;

/// A tab of the selected snippet, with the meaning that [`Detail`](crate::parts::list_source::Detail) gives its methods.
pub trait SnippetTab {
    /// Returns the facts after the title.
    fn facts(&self, _view: &View) -> String {
        String::new()
    }
    fn wants(&self, context: &Context<'_>, view: &View) -> Vec<Want>;
    fn motion(&mut self, motion: Motion, view: &View) -> bool;
    fn pointer(&mut self, pointer: Pointer, cx: &mut Cx);
    fn enter(&mut self, context: &Context<'_>, cx: &mut Cx) -> bool;
    fn search_mode(&self) -> DetailSearch {
        DetailSearch::Nothing
    }
    fn draw(&self, view: &View, area: Rect, buf: &mut Buffer, focused: bool);
}

impl SnippetTab for SnippetText {
    fn facts(&self, view: &View) -> String {
        self.blob.facts(view)
    }

    fn wants(&self, _: &Context<'_>, view: &View) -> Vec<Want> {
        SnippetText::wants(self, view)
    }

    fn motion(&mut self, motion: Motion, view: &View) -> bool {
        !self.blob.motion(motion, view)
    }

    fn pointer(&mut self, pointer: Pointer, cx: &mut Cx) {
        self.blob.pointer(pointer, &cx.view);
    }

    fn enter(&mut self, context: &Context<'_>, cx: &mut Cx) -> bool {
        if self.blob.need_link(&cx.view).is_err() {
            return false;
        }
        let origin = TextOrigin { project: Some(context.source.project.clone()), ..TextOrigin::default() };
        match self.blob.links_here(&cx.view).as_slice() {
            [link] => self.blob.follow(&origin, &link.address, cx),
            several => links::open_comment(several, (origin.project.as_ref(), None), cx),
        }
        true
    }

    fn search_mode(&self) -> DetailSearch {
        DetailSearch::Own(SearchMode::Search)
    }

    fn draw(&self, view: &View, area: Rect, buf: &mut Buffer, focused: bool) {
        SnippetText::draw(self, view, area, buf, focused);
    }
}

impl SnippetTab for Notes {
    fn wants(&self, _: &Context<'_>, view: &View) -> Vec<Want> {
        Notes::wants(self, view)
    }

    fn motion(&mut self, motion: Motion, _: &View) -> bool {
        !Notes::motion(self, motion)
    }

    fn pointer(&mut self, pointer: Pointer, _: &mut Cx) {
        match pointer {
            Pointer::Wheel { rows, .. } => _ = Notes::motion(self, Motion::Wheel(rows)),
            Pointer::Press { column, row, .. } => self.click(column, row),
            Pointer::Drag { .. } | Pointer::Release => {}
        }
    }

    fn enter(&mut self, context: &Context<'_>, cx: &mut Cx) -> bool {
        let can = self.can_enter(&cx.view).is_ok();
        if can {
            Notes::enter(self, (Some(&context.source.project), None), cx);
        }
        can
    }

    fn draw(&self, view: &View, area: Rect, buf: &mut Buffer, focused: bool) {
        Notes::draw(self, view, area, buf, focused, "‹snippets.comment› adds one.");
    }
}

/// Returns the request for the browser and address that a snippet was created from.
pub fn user_agent(source: &SnippetSource, snippet: &Snippet) -> GetUserAgentDetail {
    GetUserAgentDetail { id: source.project.clone(), snippet_id: snippet.id }
}

impl SnippetTab for Details {
    fn wants(&self, context: &Context<'_>, _: &View) -> Vec<Want> {
        context.row.map(|snippet| Load::single(&user_agent(context.source, snippet)).into()).into_iter().collect()
    }

    fn motion(&mut self, motion: Motion, _: &View) -> bool {
        if motion != Motion::Left {
            Details::motion(self, motion);
        }
        motion == Motion::Left
    }

    fn pointer(&mut self, pointer: Pointer, cx: &mut Cx) {
        Details::pointer(self, pointer, cx);
    }

    fn enter(&mut self, _: &Context<'_>, cx: &mut Cx) -> bool {
        Details::enter(self, cx)
    }

    fn draw(&self, view: &View, area: Rect, buf: &mut Buffer, focused: bool) {
        Details::draw(self, view, area, buf, focused);
    }
}
