//! Placeholders for content that is loading, empty or failed.

use crate::line::Line;
use crate::theme::{Role, Theme};
use crate::{cursor_hint, glyph, text};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// The maximum width of a paragraph; longer lines are hard to read.
const MAX_TEXT_WIDTH: u16 = 72;

/// Draws rows of faint dots for content that has not loaded yet.
pub fn skeleton(buf: &mut Buffer, area: Rect, theme: &Theme) {
    let style = theme.style(Role::Faint);
    cursor_hint::set_fallback(area.x, area.y);
    if glyph::is_accessible() {
        Line::new("Loading", Role::Dim).draw(buf, area, theme);
        return;
    }
    // The lengths vary like those of real text.
    for (y, length) in (area.y..area.bottom()).zip([46u32, 62, 38, 54, 30, 44, 24, 16]) {
        let width = u32::from(area.width.saturating_sub(4).min(MAX_TEXT_WIDTH)) * length / 62;
        let dots = format!("{} ", glyph::skeleton()).repeat(width as usize / 2);
        Line::new(dots.as_str(), style).draw(buf, Rect::new(area.x.saturating_add(2), y, width as u16, 1), theme);
    }
}

/// Explains why there is no content, and names the key to press.
pub fn empty(buf: &mut Buffer, area: Rect, theme: &Theme, why: &str, hint: &str) {
    draw_paragraphs(buf, area, theme, vec![(why, Role::Text, ""), (hint, Role::Dim, "")]);
}

/// Explains a failure: its `title`, the server's `reply`, the `request` line, and `advice` on what to do. Empty parts
/// take no room; a small area omits the request and keeps at least the first line of the other parts.
pub fn failure(buf: &mut Buffer, area: Rect, theme: &Theme, title: &str, request: &str, reply: &str, advice: &str) {
    let title = format!("{} {title}", glyph::wrong());
    let (dim, ordinary) = (Role::Dim, Role::Text);
    let mut parts = vec![
        (title.as_str(), Role::Failed, ""),
        (reply, ordinary, ""),
        (request, dim, "request  "),
        (advice, Role::Accent, ""),
    ];
    if area.height < 6 {
        parts.remove(2);
    }
    draw_paragraphs(buf, area, theme, parts);
}

/// Draws wrapped paragraphs near the top of an area, with empty lines between them if they fit.
fn draw_paragraphs(buf: &mut Buffer, area: Rect, theme: &Theme, parts: Vec<(&str, Role, &str)>) {
    if area.is_empty() {
        return;
    }
    let indent = if area.width > 24 { 2 } else { 0 };
    let width = (area.width - indent * 2).min(MAX_TEXT_WIDTH);
    let mut paragraphs: Vec<(Vec<String>, Role)> = parts
        .into_iter()
        .filter(|(words, _, _)| !words.is_empty())
        .map(|(words, role, label)| {
            let lines = text::wrap(&format!("{label}{words}"), usize::from(width), usize::from(area.height));
            (lines, role)
        })
        .collect();
    let height = |paragraphs: &[(Vec<String>, Role)]| paragraphs.iter().map(|(lines, _)| lines.len()).sum::<usize>();
    let room = usize::from(area.height);
    // The longest paragraph is shortened first, so that every part keeps at least its first line.
    while height(&paragraphs) > room {
        match paragraphs.iter_mut().max_by_key(|(lines, _)| lines.len()) {
            Some((lines, _)) if lines.len() > 1 => {
                lines.pop();
                if let Some(last) = lines.last_mut() {
                    let kept = text::head(last, usize::from(width) - 1);
                    *last = format!("{}{}", kept.trim_end_matches(glyph::ellipsis()), glyph::ellipsis());
                }
            }
            _ => {
                paragraphs.pop();
            }
        }
    }
    let gaps = paragraphs.len().saturating_sub(1);
    let spaced = height(&paragraphs) + gaps <= room;
    let used = height(&paragraphs) + if spaced { gaps } else { 0 };
    let mut y = area.y + ((room - used) / 3).min(4) as u16;
    cursor_hint::set_fallback(area.x, y);
    for (lines, role) in &paragraphs {
        for words in lines {
            Line::new(words.as_str(), *role).draw(buf, Rect::new(area.x + indent, y, width, 1), theme);
            y += 1;
        }
        y += u16::from(spaced);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn screen(width: u16, height: u16, draw: impl FnOnce(&mut Buffer, Rect, &Theme)) -> String {
        let area = Rect::new(0, 0, width, height);
        let mut buf = Buffer::empty(area);
        draw(&mut buf, area, &Theme::plain());
        let rows = buf.content().chunks(usize::from(width.max(1)));
        rows.map(|row| row.iter().map(|c| c.symbol()).collect::<String>().trim_end().to_string() + "\n").collect()
    }

    fn denied(buf: &mut Buffer, area: Rect, theme: &Theme) {
        let reply = "403 Forbidden: insufficient scope";
        failure(buf, area, theme, "The jobs cannot be read", "GET /projects/7/jobs", reply, "r retries");
    }

    #[test]
    fn an_error_names_the_request_the_reply_and_the_next_step() {
        let out = screen(60, 12, denied);
        for part in ["✗ The jobs cannot be read", "403 Forbidden", "request  GET /projects/7/jobs", "r retries"] {
            assert!(out.contains(part), "{part} in\n{out}");
        }
    }

    #[test]
    fn a_small_error_keeps_its_title_and_advice() {
        let out = screen(20, 5, denied);
        assert!(out.contains("✗ The jobs cannot") && out.contains("r retries") && out.contains("403"), "{out}");
    }

    #[test]
    fn an_empty_list_gives_a_reason_and_a_key() {
        let out = screen(30, 5, |b, a, t| empty(b, a, t, "No branch matches.", "Esc clears"));
        assert_eq!(out, "  No branch matches.\n\n  Esc clears\n\n\n");
    }

    #[test]
    fn tiny_areas_do_not_panic() {
        for width in 0..26 {
            for height in 0..8 {
                screen(width, height, denied);
                screen(width, height, |b, a, t| empty(b, a, t, "Nothing here", "a adds one"));
                screen(width, height, skeleton);
            }
        }
    }
}
