//! The prompt of `/` for queries: offers keys and values above the line, and shows errors.

use super::picker::edit;
use super::{AfterEvent, Overlay, TextEntry, key_hints};
use crate::action::Action;
use crate::complete::Candidate;
use crate::context::Cx;
use crate::keymap::Key;
use crate::pointer::Pointer;
use crate::query::{Grammar, QueryError};
use crate::view::View;
use crossterm::event::KeyCode;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::cell::Cell;
use store::Want;
use ui::form::{self, FieldSuggestion};
use ui::input::Input;
use ui::line::Line;
use ui::theme::Role;
use ui::{popup, text};

/// A query being typed in place of the footer; every valid text is passed to the pane at once. One with a word that is
/// not known may be unfinished: it is passed when it is confirmed.
pub struct QueryLine {
    label: String,
    input: Input,
    before: String,
    grammar: Grammar,
    offers: Vec<Candidate>,
    chosen: usize,
    /// Whether the candidate was chosen with the keys: only then does Enter accept it.
    moved: bool,
    mistake: Option<QueryError>,
    warning: Option<QueryError>,
    area: Cell<Rect>,
}

impl QueryLine {
    /// Creates a prompt with the current query.
    pub fn new(label: &str, filter_text: String, grammar: Grammar) -> QueryLine {
        let room = if filter_text.is_empty() { "" } else { " " };
        QueryLine {
            label: label.to_owned(),
            input: Input::new(format!("{filter_text}{room}")),
            before: filter_text,
            grammar,
            offers: Vec::new(),
            chosen: 0,
            moved: false,
            mistake: None,
            warning: None,
            area: Cell::default(),
        }
    }

    fn refresh(&mut self, view: &View) {
        self.offers = self.grammar.offers(view, self.input.text(), self.input.cursor());
        self.chosen = self.chosen.min(self.offers.len().saturating_sub(1));
        self.mistake = self.grammar.mistake(self.input.text(), Some(view));
        self.warning = self.grammar.warning(self.input.text()).filter(|_| self.mistake.is_none());
    }

    /// Returns the mistake or the warning, and how it is shown.
    fn remark(&self) -> Option<(String, Role)> {
        let failed = self.mistake.as_ref().map(|mistake| (mistake.to_string(), Role::Failed));
        failed.or_else(|| self.warning.as_ref().map(|warning| (warning.to_string(), Role::Warning)))
    }

    fn pass(&self, cx: &mut Cx) {
        cx.act(Action::SetFilter(self.input.text().trim().to_owned()));
    }

    fn changed_text(&mut self, cx: &mut Cx) {
        (self.chosen, self.moved) = (0, false);
        self.refresh(&cx.view);
        if self.mistake.is_none() && self.warning.is_none() {
            self.pass(cx);
        }
    }

    fn take_offer(&mut self, cx: &mut Cx) {
        let Some(offer) = self.offers.get(self.chosen) else { return };
        let (text, cursor) = self.grammar.accept(self.input.text(), self.input.cursor(), &offer.value);
        self.input.set_at(text, cursor);
        self.changed_text(cx);
    }

    fn choose_previous(&mut self) {
        let last = self.offers.len().saturating_sub(1);
        self.chosen = self.chosen.checked_sub(1).unwrap_or(last);
        self.moved = true;
    }

    fn choose_next(&mut self) {
        // The first suggestion is already highlighted, and the first key only takes it.
        let step = usize::from(self.moved);
        self.chosen = (self.chosen + step) % self.offers.len().max(1);
        self.moved = true;
    }
}

impl Overlay for QueryLine {
    fn wants(&self, _view: &View) -> Vec<Want> {
        self.grammar.offer_wants(self.input.text(), self.input.cursor())
    }

    fn changed(&mut self, cx: &mut Cx) {
        self.refresh(&cx.view);
    }

    fn view(&self, view: &View, screen: Rect, buf: &mut Buffer) -> Option<(u16, u16)> {
        let theme = view.theme;
        let row = Rect { y: screen.bottom().saturating_sub(1), height: 1.min(screen.height), ..screen };
        popup::clear(buf, row, theme);
        buf.set_style(row, theme.style(Role::Input));
        let used = Line::new(format!(" {} ", self.label), Role::Key).draw(buf, row, theme);
        let mut at = Rect { x: row.x + used, width: row.width.saturating_sub(used), ..row };
        let remark = self.remark();
        if let Some((words, _)) = &remark {
            at = form::draw_inline_error(buf, at, theme, words, text::width(self.input.text()));
        }
        at = key_hints::beside(buf, at, theme, self.input.text());
        let cursor = self.input.draw(buf, at, theme, true, "");
        let mut anchor = Rect { width: 1, height: 1, ..at };
        if let Some((words, role)) = remark.filter(|_| row.y > screen.y) {
            let above = Rect { y: row.y - 1, ..row };
            popup::clear(buf, above, theme);
            Line::new(format!(" {}", text::sanitize(&words)), role).draw(buf, above, theme);
            anchor.y -= 1;
        }
        let head = self.input.text().get(..self.input.cursor()).unwrap_or_default();
        let word = head.rfind(char::is_whitespace).map_or(0, |end| end + 1);
        let column = text::width(head.get(..word).unwrap_or_default()) as u16;
        anchor.x += column.min(at.width.saturating_sub(1));
        let offers: Vec<FieldSuggestion> =
            self.offers.iter().map(|o| FieldSuggestion { value: &o.value, note: &o.note }).collect();
        self.area.set(form::draw_suggestions(buf, screen, theme, anchor, &offers, self.chosen));
        if let Some(cursor) = cursor {
            form::draw_inline_suggestion(buf, screen, theme, cursor, &offers, self.chosen);
        }
        cursor
    }

    fn key(&mut self, key: Key, cx: &mut Cx) -> AfterEvent {
        let offered = !self.offers.is_empty();
        match (key.code, key.ctrl) {
            (KeyCode::Esc, _) | (KeyCode::Char('c'), true) => {
                cx.act(Action::SetFilter(self.before.clone()));
                return AfterEvent::Close;
            }
            (KeyCode::Up, _) | (KeyCode::Char('p'), true) if offered => self.choose_previous(),
            (KeyCode::Down, _) | (KeyCode::Char('n'), true) if offered => self.choose_next(),
            (KeyCode::Tab, _) => self.take_offer(cx),
            (KeyCode::Enter, _) if offered && self.moved => self.take_offer(cx),
            // An invalid query must be corrected first.
            (KeyCode::Enter, _) | (KeyCode::Char('s'), true) if self.mistake.is_some() => {}
            (KeyCode::Enter, _) | (KeyCode::Char('s'), true) => {
                self.pass(cx);
                return AfterEvent::Close;
            }
            _ => {
                if edit(&mut self.input, key) {
                    self.changed_text(cx);
                }
            }
        }
        AfterEvent::KeepOpen
    }

    fn text_entry(&self) -> TextEntry {
        TextEntry::Line
    }

    fn paste(&mut self, text: &str, cx: &mut Cx) {
        self.input.paste(text);
        self.changed_text(cx);
    }

    fn pointer(&mut self, pointer: Pointer, cx: &mut Cx) -> AfterEvent {
        if let Pointer::Press { column, row, .. } = pointer {
            let area = self.area.get();
            if area.contains((column, row).into()) {
                let first = (self.chosen + 1).saturating_sub(usize::from(area.height));
                self.chosen = first + usize::from(row - area.y);
                self.take_offer(cx);
            }
        }
        AfterEvent::KeepOpen
    }
}
