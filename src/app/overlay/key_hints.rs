//! The keys of an overlay in its last row: whole ones, without the least important ones if they do not fit.

use crate::ui::line::Line;
use crate::ui::theme::Role;

fn line(hints: &[(&'static str, &'static str)]) -> Line<'static> {
    hints.iter().fold(Line::empty(), |line, (key, what)| {
        let gap = if line.spans.is_empty() { "" } else { "  " };
        line.and(gap, Role::Dim).and(*key, Role::Key).and(format!(" {what}"), Role::Dim)
    })
}

/// Returns keys and what they do on a line of `width` columns. Those in `least` are left out first, in this order.
pub fn fitting(mut hints: Vec<(&'static str, &'static str)>, least: &[&str], width: u16) -> Line<'static> {
    for key in least {
        if line(&hints).width() > usize::from(width) {
            hints.retain(|(known, _)| known != key);
        }
    }
    line(&hints)
}
