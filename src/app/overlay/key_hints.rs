//! The keys of an overlay in its last row: whole ones, without the least important ones if they do not fit.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ui::line::{self, Line};
use ui::theme::{Role, Theme};
use ui::{glyph, text};

fn hint_line(hints: &[(&'static str, &'static str)]) -> Line<'static> {
    hints.iter().fold(Line::empty(), |line, (key, what)| {
        let gap = if line.spans.is_empty() { "" } else { "  " };
        line.and(gap, Role::Dim).and(*key, Role::Key).and(format!(" {what}"), Role::Dim)
    })
}

/// Returns keys and what they do on a line of `width` columns. Those in `least` are left out first, in this order.
pub fn fitting(mut hints: Vec<(&'static str, &'static str)>, least: &[&str], width: u16) -> Line<'static> {
    for key in least {
        if hint_line(&hints).width() > usize::from(width) {
            hints.retain(|(known, _)| known != key);
        }
    }
    hint_line(&hints)
}

/// Draws the keys that end a line of text at the end of its row, if they fit there beside `typed`. Returns the rest of the
/// row. In accessible mode, they would be read as a part of the text.
pub fn beside(buf: &mut Buffer, row: Rect, theme: &Theme, typed: &str) -> Rect {
    let keys = hint_line(&[("Enter", "ok"), ("Esc", "cancel")]).and(" ", Role::Dim);
    let room = usize::from(row.width).saturating_sub(keys.width() + 2);
    if glyph::is_accessible() || text::width_up_to(typed, room) >= room {
        return row;
    }
    line::pair(buf, row, theme, &Line::empty(), &keys).0
}
