//! Conflict of an edit with a change that somebody else made in the meantime: the previous, the current and the typed
//! text of each field, and the choice how to resolve it.

use crate::keymap::Key;
use crate::motion::Motion;
use crate::view::View;
use crossterm::event::KeyCode;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ui::line::Line;
use ui::table::{self, ListState, Size, TableColumn, TableRow};
use ui::theme::Role;
use ui::{popup, text};

/// The maximum width, in columns, of a text that is shown only in the table.
const SHORT_WIDTH: usize = 16;
/// The maximum number of lines of a text shown below the table.
const MAX_LINES: usize = 6;
/// The width of the labels before these lines, in columns.
const LABEL_WIDTH: usize = 7;
/// The maximum number of characters shown of a line.
const MAX_LINE_CHARS: usize = 1000;

/// A field whose value has changed in the meantime.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConflictingChange {
    pub field: String,
    /// The value when editing started.
    pub was: String,
    /// The current value on the server; `None` if the object is gone.
    pub now: Option<String>,
    /// The typed value, if any.
    pub mine: Option<String>,
}

/// The resolution of a conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// The typed text replaces theirs.
    Mine,
    /// Their text is kept where both sides changed something.
    Theirs,
    /// Editing continues; nothing is decided.
    Back,
}

/// The conflicting changes of somebody else.
pub struct EditConflict {
    changes: Vec<ShownChange>,
    words: &'static str,
    list: ListState,
}

/// The shown part of a change: the texts may be large, and are scanned only once.
struct ShownChange {
    field: String,
    was: Excerpt,
    now: Option<Excerpt>,
    mine: Option<Excerpt>,
}

/// The shown part of a text.
#[derive(Default)]
struct Excerpt {
    /// The first line that differs from the other text, with the number of lines if there are several.
    brief: String,
    /// The lines from there on.
    lines: Vec<String>,
    /// Whether the text may not fit in a row of the table.
    is_long: bool,
}

impl Excerpt {
    /// Creates an excerpt of `text`, from where it differs from `other`.
    fn of(text: &str, other: &str) -> Excerpt {
        let cut = |line: &str| line.trim().chars().take(MAX_LINE_CHARS).collect::<String>();
        let count = text.lines().count();
        let same = text.lines().zip(other.lines()).take_while(|(a, b)| a == b).count();
        let from = same.min(count.saturating_sub(1));
        let lines: Vec<String> = text.lines().skip(from).take(MAX_LINES).map(cut).collect();
        let first = lines.first().cloned().unwrap_or_default();
        Excerpt {
            brief: if count < 2 { first } else { format!("{first} ({count} lines)") },
            lines,
            is_long: text.contains('\n') || text::width_up_to(text, SHORT_WIDTH + 1) > SHORT_WIDTH,
        }
    }
}

impl EditConflict {
    /// Creates a conflict of these changes, of which there is at least one.
    pub fn new(changes: Vec<ConflictingChange>) -> EditConflict {
        let seen = |change: ConflictingChange| {
            let now = change.now.as_deref().unwrap_or_default();
            ShownChange {
                was: Excerpt::of(&change.was, now),
                mine: change.mine.as_deref().map(|mine| Excerpt::of(mine, now)),
                now: change.now.as_deref().map(|now| Excerpt::of(now, &change.was)),
                field: change.field,
            }
        };
        let gone = changes.iter().any(|change| change.now.is_none());
        let words = if gone { "Somebody else has deleted it." } else { "Somebody else has changed it." };
        EditConflict { changes: changes.into_iter().map(seen).collect(), words, list: ListState::new() }
    }

    /// Sets the words above the changes.
    pub fn saying(self, words: &'static str) -> EditConflict {
        EditConflict { words, ..self }
    }

    /// Handles a key; returns the resolution, if the key chooses one.
    pub fn key(&mut self, key: Key) -> Option<Resolution> {
        let len = self.changes.len();
        match (key.code, key.ctrl) {
            (KeyCode::Char('s'), true) => return Some(Resolution::Mine),
            (KeyCode::Char('t'), false) => return Some(Resolution::Theirs),
            (KeyCode::Esc, _) | (KeyCode::Char('c'), true) => return Some(Resolution::Back),
            (KeyCode::Char('j') | KeyCode::Down, _) => Motion::Down.apply(&mut self.list, len),
            (KeyCode::Char('k') | KeyCode::Up, _) => Motion::Up.apply(&mut self.list, len),
            _ => {}
        }
        None
    }

    /// Returns the texts of a field in full, if the table has no room for them.
    fn texts(change: &ShownChange, width: usize) -> Vec<(&'static str, String, Role)> {
        let all = [
            ("was", Some(&change.was), Role::Dim),
            ("now", change.now.as_ref(), Role::Text),
            ("yours", change.mine.as_ref(), Role::Accent),
        ];
        let all = all.into_iter().filter_map(|(name, text, role)| Some((name, text?, role)));
        if !all.clone().any(|(_, text, _)| text.is_long) {
            return Vec::new();
        }
        let mut lines = Vec::new();
        for (name, text, role) in all {
            let wrapped = text.lines.iter().flat_map(|line| match line.as_str() {
                "" => vec![String::new()],
                line => text::wrap(line, width.saturating_sub(LABEL_WIDTH).max(8), MAX_LINES),
            });
            for (index, words) in wrapped.take(MAX_LINES).enumerate() {
                lines.push((if index == 0 { name } else { "" }, words, role));
            }
        }
        lines
    }

    /// Draws the conflict over `screen`, under the title of what is edited.
    pub fn draw(&self, view: &View, screen: Rect, buf: &mut Buffer, title: &str) {
        let theme = view.theme;
        let width = (screen.width * 3 / 5).clamp(70, 110);
        let inner_width = usize::from(width.min(screen.width.saturating_sub(4)));
        let all: Vec<_> = self.changes.iter().map(|change| EditConflict::texts(change, inner_width)).collect();
        // As high as the longest text requires, so that nothing jumps from field to field.
        let below = all.iter().map(Vec::len).max().filter(|len| *len > 0).map_or(0, |len| len + 1);
        let texts = all.get(self.list.selected()).map(Vec::as_slice).unwrap_or_default();
        let height = popup::saturating_rows(self.changes.len() + below + 4).min(screen.height.saturating_sub(2)).max(5);
        let inner = popup::draw(buf, screen, theme, title, width, height);
        if inner.height < 3 {
            return;
        }
        Line::new(self.words, Role::Warning).draw(buf, Rect { height: 1, ..inner }, theme);
        let room = inner.height - 3;
        // The header and one row of the table always stay visible.
        let rest = (room.saturating_sub(2) as usize).min(below) as u16;
        let body = Rect { y: inner.y + 1, height: room - rest, ..inner };
        let fill = |title| TableColumn::new(title, Size::Fill { min: 8, weight: 1 });
        let columns = [
            TableColumn::new("Field", Size::Fit { min: 4, max: 20 }),
            fill("Was"),
            fill("Now"),
            fill("Yours").drop_order(1),
        ];
        table::draw(buf, body, theme, true, &self.list, &columns, self.changes.len(), &|index| {
            let Some(change) = self.changes.get(index) else { return TableRow::default() };
            let or = |text: &Excerpt, nothing: &'static str, role| match text.brief.as_str() {
                "" => Line::new(nothing, Role::Dim),
                words => Line::new(words.to_owned(), role),
            };
            TableRow::new(vec![
                Line::new(change.field.clone(), Role::Text),
                or(&change.was, "empty", Role::Dim),
                change.now.as_ref().map_or(Line::new("gone", Role::Dim), |now| or(now, "empty", Role::Text)),
                match &change.mine {
                    Some(mine) => or(mine, "empty", Role::Accent),
                    None => Line::new("not changed", Role::Dim),
                },
            ])
        });
        for ((name, words, role), y) in texts.iter().zip(body.bottom() + 1..body.bottom() + rest) {
            let spans = Line::new(text::pad(name, LABEL_WIDTH), Role::Dim).and(words.clone(), *role);
            spans.draw(buf, Rect { y, height: 1, ..inner }, theme);
        }
        let (key, dim) = (theme.style(Role::Key), theme.style(Role::Dim));
        let foot = Rect { y: inner.bottom() - 1, height: 1, ..inner };
        let keys = Line::new("C-s", key)
            .and(" send yours  ", dim)
            .and("t", key)
            .and(" take theirs  ", dim)
            .and("Esc", key)
            .and(" back", dim);
        keys.draw(buf, foot, theme);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_different_line_of_a_long_text_is_shown() {
        let brief = |text: &str, other: &str| Excerpt::of(text, other).brief;
        assert_eq!(brief("one", "two"), "one");
        assert_eq!(brief("a\nb\nc", "a\nx\nc"), "b (3 lines)");
        assert_eq!(brief("a\nb", "a\nb\nc"), "b (2 lines)");
        assert_eq!(brief("", "a\nb"), "");
    }

    #[test]
    fn excerpts_of_large_texts_are_bounded() {
        let large = "x".repeat(1 << 20);
        let text = format!("same\n{}", format!("{large}\n").repeat(20));
        let excerpt = Excerpt::of(&text, "same\nother");
        assert_eq!((excerpt.lines.len(), excerpt.is_long), (MAX_LINES, true));
        assert!(
            excerpt.lines.iter().all(|line| line.len() == MAX_LINE_CHARS) && excerpt.brief.ends_with(" (21 lines)")
        );
    }
}
