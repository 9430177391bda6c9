//! Search in a trace: the query, moving between matches, and ending it.

use super::{Jump, Viewer};
use crate::app::context::Cx;
use crate::ui::search::Found;
use crate::ui::text;
use crate::ui::trace::Trace;

impl Viewer {
    /// Returns the search query.
    pub fn filter_text(&self) -> &str {
        &self.query
    }

    /// Changes the search query; an empty one ends the search.
    pub fn set_query(&mut self, text: &str, cx: &mut Cx) {
        if self.query == text {
            return;
        }
        let from = match self.jump {
            // While typing, the search continues from where it started.
            Some(Jump::Match(from)) => from,
            _ => self.line(&cx.view),
        };
        self.query = text.to_owned();
        (self.current, self.found, self.matching_lines) = (0, None, None);
        self.jump = Some(Jump::Match(from)).filter(|_| !text.is_empty());
        if text.is_empty() {
            self.only_matches = false;
            if let Some(trace) = self.trace(&cx.view).filter(|_| !self.doc.follow) {
                self.goto(trace, from);
            }
        }
    }

    pub(super) fn hits(&self) -> Option<&Found> {
        self.found.as_ref().filter(|_| !self.query.is_empty()).map(|found| &found.result)
    }

    pub(super) fn show_match(&mut self, trace: &Trace, found: &Found, index: usize) {
        let Some(hit) = found.matches.get(index) else { return };
        self.current = index;
        self.goto(trace, hit.line);
        if let Some(words) = trace.text(hit.line).filter(|_| !self.doc.wraps()) {
            self.doc.show_columns(text::columns(&words, hit.range.clone()));
        }
    }

    /// Moves to the next or the previous match, wrapping around.
    pub fn next_match(&mut self, forward: bool, cx: &mut Cx) {
        let at = self.line(&cx.view);
        let (Some(found), Some(trace)) = (self.found.clone(), self.trace(&cx.view)) else { return };
        let found = &found.result;
        let count = found.matches.len();
        if count == 0 {
            return;
        }
        let on_it = found.matches.get(self.current).is_some_and(|hit| hit.line == at);
        let index = match (on_it, forward) {
            (true, true) => self.current + 1,
            (true, false) => (self.current + count).saturating_sub(1),
            (false, true) => found.matches.partition_point(|hit| hit.line <= at),
            (false, false) => (found.matches.partition_point(|hit| hit.line < at) + count).saturating_sub(1),
        };
        self.show_match(trace, found, index % count);
    }

    /// Handles Esc: clears a mark, a filter, a search or a comparison; returns `false` if there is none.
    pub fn escape(&mut self, cx: &mut Cx) -> bool {
        if self.mark.take().is_some() {
            return true;
        }
        if self.only_matches {
            return self.toggle_only(&cx.view);
        }
        if !self.query.is_empty() {
            self.set_query("", cx);
            return true;
        }
        self.leave_comparison(cx)
    }
}
