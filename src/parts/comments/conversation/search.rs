//! The search of a conversation: in the lines of the object and in all comments that are loaded, also folded ones.

use super::Conversation;
use super::content::Content;
use super::units::Unit;
use crate::app::context::Cx;
use crate::app::pane::SearchMode;
use crate::app::tone::Tone;
use crate::parts::list;
use crate::ui::doc::DocLine;
use crate::ui::search;
use crate::ui::theme::{Role, Theme};
use regex::Regex;

/// A search, and the row where it began.
#[derive(Default)]
pub struct ConversationSearch {
    query: String,
    pattern: Option<Regex>,
    origin: usize,
}

impl Conversation {
    /// Returns the effect of `/`, and the text that is searched.
    pub fn search(&self) -> (SearchMode, String) {
        (SearchMode::Search, self.search.query.clone())
    }

    /// Searches for a text, from where the search began; an empty one ends the search.
    pub fn set_query(&mut self, query: &str, content: &Content) {
        let origin = if self.search.query.is_empty() { self.scroll.at(self.len()) } else { self.search.origin };
        self.search = ConversationSearch { query: query.to_owned(), pattern: search::pattern(query), origin };
        let rows = self.matching_rows(content);
        let to = rows.iter().find(|row| **row >= origin).or(rows.first());
        self.wanted = None;
        self.go_to_row(to.copied().unwrap_or(origin));
    }

    /// Ends the search; returns whether there was one.
    pub fn clear_query(&mut self) -> bool {
        !std::mem::take(&mut self.search).query.is_empty()
    }

    /// Moves to the next or the previous match, around the end; tells if there is none.
    pub fn next_match(&mut self, forward: bool, content: &Content, cx: &mut Cx) {
        if self.search.query.is_empty() {
            return cx.say(Tone::Info, "No search yet: ‹seek› starts one.");
        }
        let (rows, here) = (self.matching_rows(content), self.scroll.at(self.len()));
        let to = match forward {
            true => rows.iter().find(|row| **row > here).or(rows.first()),
            false => rows.iter().rfind(|row| **row < here).or(rows.last()),
        };
        match to {
            Some(row) => {
                self.wanted = None;
                self.go_to_row(*row);
            }
            None => cx.say(Tone::Info, list::not_found(&self.search.query, content.list.has_more)),
        }
    }

    /// Returns the rows of the head, and the rows where comments begin, that have the text.
    fn matching_rows(&self, content: &Content) -> Vec<usize> {
        let Some(pattern) = &self.search.pattern else { return Vec::new() };
        let is_match = |index: &usize| content.note_at(*index).is_some_and(|note| pattern.is_match(&note.body));
        let has_it = |unit: &Unit| match unit {
            Unit::System { notes, .. } => notes.iter().any(is_match),
            Unit::Resolved { thread } => self.threads.get(*thread).is_some_and(|it| it.notes.iter().any(is_match)),
            Unit::Comment { .. } => self.note_of(unit).is_some_and(|index| is_match(&index)),
        };
        let head = (0..self.head).filter(|row| pattern.is_match(&(content.head.line)(*row).text.plain_text()));
        let units = self.units.iter().enumerate().filter(|(_, unit)| has_it(unit));
        let text_of = |unit: usize| Some(self.row_of(unit)? + self.heights.get(unit).map_or(0, |(_, above)| *above));
        head.chain(units.filter_map(|(index, _)| text_of(index))).collect()
    }

    /// Marks what the search finds in a line.
    pub(super) fn mark_matches(&self, line: &mut DocLine, theme: &Theme) {
        if let Some(pattern) = &self.search.pattern {
            let text = line.text.plain_text();
            let found = pattern.find_iter(&text).filter(|hit| !hit.is_empty());
            line.marks.extend(found.map(|hit| (hit.range(), theme.style(Role::Match))));
        }
    }
}
