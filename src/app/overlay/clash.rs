//! What somebody else changed of a thing while it was edited here: what it was, what it is now, and what was typed, field
//! by field; and what is to become of that.

use crate::app::command::Motion;
use crate::app::keymap::Key;
use crate::app::pane::View;
use crate::ui::table::{self, Cell, Column, ListState, Row, Size};
use crate::ui::theme::Role;
use crate::ui::{line, popup, text};
use crossterm::event::KeyCode;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Columns from which on a text is shown below the table, too.
const SHORT: usize = 16;
/// Lines of a text that are shown below the table.
const LINES: usize = 6;
/// Columns of what stands before these lines.
const NAMES: usize = 7;

/// A field that has another value by now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub field: String,
    /// What stood there when the editing began.
    pub was: String,
    /// What the server has now; nothing where the thing is gone.
    pub now: Option<String>,
    /// What was typed, where something was.
    pub mine: Option<String>,
}

/// What is to become of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// What was typed takes the place of theirs.
    Mine,
    /// Theirs stands where both changed something.
    Theirs,
    /// Back to what was being edited; nothing is decided.
    Back,
}

/// Changes of somebody else, to be looked at.
pub struct Clash {
    changes: Vec<Change>,
    list: ListState,
}

/// The line of `text` that differs first from `other`, and how many there are where they are several.
fn brief(text: &str, other: &str) -> String {
    let count = text.lines().count();
    if count < 2 {
        return text.to_owned();
    }
    format!("{} ({count} lines)", text.lines().nth(parting(text, other)).unwrap_or_default().trim())
}

/// The first line by which `text` differs from `other`.
fn parting(text: &str, other: &str) -> usize {
    let last = text.lines().count().saturating_sub(1);
    text.lines().zip(other.lines()).take_while(|(a, b)| a == b).count().min(last)
}

impl Clash {
    /// Of these changes, one at least.
    pub fn new(changes: Vec<Change>) -> Clash {
        Clash { changes, list: ListState::new() }
    }

    /// A key; what was chosen, where it chooses.
    pub fn key(&mut self, key: Key) -> Option<Choice> {
        let len = self.changes.len();
        match (key.code, key.ctrl) {
            (KeyCode::Char('s'), true) => return Some(Choice::Mine),
            (KeyCode::Char('t'), false) => return Some(Choice::Theirs),
            (KeyCode::Esc, _) | (KeyCode::Char('c'), true) => return Some(Choice::Back),
            (KeyCode::Char('j') | KeyCode::Down, _) => Motion::Down.apply(&mut self.list, len),
            (KeyCode::Char('k') | KeyCode::Up, _) => Motion::Up.apply(&mut self.list, len),
            _ => {}
        }
        None
    }

    /// The texts of a field in full, as far as the table has no room for them.
    fn texts(change: &Change, width: usize) -> Vec<(&'static str, String, Role)> {
        let long = |text: &str| text.contains('\n') || text::width_up_to(text, SHORT + 1) > SHORT;
        let now = change.now.as_deref().unwrap_or_default();
        let all = [
            ("was", change.was.as_str(), now, Role::Dim),
            ("now", now, change.was.as_str(), Role::Text),
            ("yours", change.mine.as_deref().unwrap_or_default(), now, Role::Accent),
        ];
        if !all.iter().any(|(_, words, ..)| long(words)) {
            return Vec::new();
        }
        let mut lines = Vec::new();
        for (name, words, other, role) in all.into_iter().filter(|(_, words, ..)| !words.is_empty()) {
            let from = words.lines().skip(parting(words, other));
            let wrapped = from.flat_map(|line| match line.trim() {
                "" => vec![String::new()],
                line => text::wrap(line, width.saturating_sub(NAMES).max(8), LINES),
            });
            for (index, words) in wrapped.take(LINES).enumerate() {
                lines.push((if index == 0 { name } else { "" }, words, role));
            }
        }
        lines
    }

    /// Draws it over `screen`, under the title of what is edited.
    pub fn draw(&self, view: &View, screen: Rect, buf: &mut Buffer, title: &str) {
        let theme = view.theme;
        let width = (screen.width * 3 / 5).clamp(70, 110);
        let inner_width = usize::from(width.min(screen.width.saturating_sub(4)));
        let all: Vec<_> = self.changes.iter().map(|change| Clash::texts(change, inner_width)).collect();
        // As high as the longest needs: nothing jumps from field to field.
        let below = all.iter().map(Vec::len).max().filter(|len| *len > 0).map_or(0, |len| len + 1);
        let texts = all.get(self.list.selected()).map(Vec::as_slice).unwrap_or_default();
        let height = popup::rows(self.changes.len() + below + 4).min(screen.height.saturating_sub(2)).max(5);
        let inner = popup::draw(buf, screen, theme, title, width, height);
        if inner.height < 3 {
            return;
        }
        let gone = self.changes.iter().any(|change| change.now.is_none());
        let words = if gone { "Somebody took it away meanwhile." } else { "Somebody changed it meanwhile." };
        line::draw(buf, Rect { height: 1, ..inner }, &[(words, theme.style(Role::Warning))]);
        let room = inner.height - 3;
        // Of the table a row stays in any case, and its head.
        let rest = (room.saturating_sub(2) as usize).min(below) as u16;
        let body = Rect { y: inner.y + 1, height: room - rest, ..inner };
        let fill = |title| Column::new(title, Size::Fill { min: 8, weight: 1 });
        let columns =
            [Column::new("field", Size::Fit { min: 4, max: 20 }), fill("was"), fill("now"), fill("yours").priority(1)];
        table::draw(buf, body, theme, true, &self.list, &columns, self.changes.len(), |index| {
            let Some(change) = self.changes.get(index) else { return Row::default() };
            let now = change.now.as_deref().unwrap_or_default();
            let or = |words: String, nothing: &'static str, role| match words.trim() {
                "" => Cell::from((nothing, Role::Dim)),
                _ => Cell::from((words, role)),
            };
            Row::new(vec![
                Cell::from((change.field.clone(), Role::Text)),
                or(brief(&change.was, now), "empty", Role::Dim),
                or(brief(now, &change.was), if change.now.is_some() { "empty" } else { "gone" }, Role::Text),
                match &change.mine {
                    Some(mine) => or(brief(mine, now), "empty", Role::Accent),
                    None => Cell::from(("not changed", Role::Dim)),
                },
            ])
        });
        for ((name, words, role), y) in texts.iter().zip(body.bottom() + 1..body.bottom() + rest) {
            let spans = [(text::pad(name, NAMES), theme.style(Role::Dim)), (words.clone(), theme.style(*role))];
            line::draw(buf, Rect { y, height: 1, ..inner }, &spans);
        }
        let (key, dim) = (theme.style(Role::Key), theme.style(Role::Dim));
        let foot = Rect { y: inner.bottom() - 1, height: 1, ..inner };
        let keys =
            [("C-s", key), (" send yours  ", dim), ("t", key), (" take theirs  ", dim), ("Esc", key), (" back", dim)];
        line::draw(buf, foot, &keys);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_text_the_first_line_that_differs_is_shown() {
        assert_eq!(brief("one", "two"), "one");
        assert_eq!(brief("a\nb\nc", "a\nx\nc"), "b (3 lines)");
        assert_eq!(brief("a\nb", "a\nb\nc"), "b (2 lines)");
        assert_eq!(brief("", "a\nb"), "");
    }
}
