//! The search of a conversation: in the lines of the object and in all comments that are loaded, also folded ones.

use super::Conversation;
use super::content::Content;
use super::units::Unit;
use crate::app::context::Cx;
use crate::app::pane::{Breadcrumb, SearchMode};
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
    /// The number of matches, and the index of the one that was gone to last.
    found: usize,
    current: Option<usize>,
    /// Whether there are comments that are not loaded.
    has_more: bool,
}

/// Implements the methods of [`Pane`](crate::app::pane::Pane) for the search of a conversation: for a pane that has
/// one, and a method `update` that calls a closure with it and its content.
macro_rules! searches_conversation {
    () => {
        fn breadcrumbs(&self, _: &View) -> Vec<crate::app::pane::Breadcrumb> {
            self.conversation.breadcrumbs()
        }

        fn search(&self) -> Option<(crate::app::pane::SearchMode, String)> {
            Some(self.conversation.search())
        }

        fn begin_search(&mut self, _: &View) {
            self.conversation.begin_search();
        }

        fn set_filter_text(&mut self, text: &str, cx: &mut Cx) {
            self.update(&cx.view, |conversation, content| conversation.set_query(text, content));
        }

        fn next_match(&mut self, forward: bool, cx: &mut Cx) {
            let view = cx.view;
            self.update(&view, |conversation, content| conversation.next_match(forward, content, cx));
        }

        fn escape(&mut self, _: &mut Cx) -> bool {
            self.conversation.clear_query()
        }
    };
}
pub(crate) use searches_conversation;

impl Conversation {
    /// Returns the effect of `/`, and the text that is searched.
    pub fn search(&self) -> (SearchMode, String) {
        (SearchMode::Expression, self.search.query.clone())
    }

    /// Returns the text that is searched, with the number of the current match and of all, for the first line.
    pub fn breadcrumbs(&self) -> Vec<Breadcrumb> {
        let ConversationSearch { query, found, current, has_more, .. } = &self.search;
        if query.is_empty() {
            return Vec::new();
        }
        let more = if *has_more { "+" } else { "" };
        let count = match current {
            _ if *found == 0 && *has_more => "not found so far".to_owned(),
            _ if *found == 0 => "not found".to_owned(),
            Some(at) => format!("{}/{found}{more}", at + 1),
            None => format!("{found}{more}"),
        };
        vec![Breadcrumb::new(format!("/{query}"), Role::Match), Breadcrumb::new(count, Role::Dim)]
    }

    /// Counts the matches again, after comments arrived.
    pub(super) fn count_matches(&mut self, content: &Content) {
        if !self.search.query.is_empty() {
            (self.search.found, self.search.has_more) = (self.matching_rows(content).len(), content.list.has_more);
        }
    }

    /// Begins a search at the cursor.
    pub fn begin_search(&mut self) {
        self.search.origin = self.scroll.at(self.len());
    }

    /// Searches for a text, from where the search began; an empty one ends the search.
    pub fn set_query(&mut self, query: &str, content: &Content) {
        let origin = self.search.origin;
        self.search = ConversationSearch {
            query: query.to_owned(),
            pattern: search::pattern(query),
            origin,
            ..ConversationSearch::default()
        };
        let rows = self.matching_rows(content);
        let to = rows.iter().position(|row| *row >= origin).or((!rows.is_empty()).then_some(0));
        (self.search.found, self.search.current, self.search.has_more) = (rows.len(), to, content.list.has_more);
        self.wanted = None;
        self.go_to_row(to.and_then(|to| rows.get(to)).copied().unwrap_or(origin));
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
            true => rows.iter().position(|row| *row > here).or((!rows.is_empty()).then_some(0)),
            false => rows.iter().rposition(|row| *row < here).or(rows.len().checked_sub(1)),
        };
        (self.search.found, self.search.current) = (rows.len(), to);
        match to.and_then(|to| rows.get(to)) {
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
