//! Overlays: a rectangle in the middle of the screen with its own background, a border and a title.

use crate::line::Line;
use crate::theme::{Role, Theme};
use crate::{glyph, hyperlink, line, scroll_bar, text};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Returns the rectangle of an overlay with content of `width` by `height`: centered in `screen`, slightly above the
/// middle, and never larger than `screen`. In accessible mode, an overlay takes all lines except the first and the
/// last, so that those lines have no other content.
pub fn centered(screen: Rect, width: u16, height: u16) -> Rect {
    if glyph::is_accessible() && screen.height > 4 {
        return Rect { y: screen.y + 1, height: screen.height - 2, ..screen };
    }
    let width = width.saturating_add(4).min(screen.width);
    let height = height.saturating_add(2).min(screen.height);
    Rect { x: screen.x + (screen.width - width) / 2, y: screen.y + (screen.height - height) * 2 / 5, width, height }
}

/// Converts a number of rows to a height, saturating at the maximum.
pub fn saturating_rows(len: usize) -> u16 {
    u16::try_from(len).unwrap_or(u16::MAX)
}

/// Clears the rectangle of an overlay and draws its background, border and title. Returns the inner area, for content
/// of at most `width` by `height`.
pub fn draw(buf: &mut Buffer, screen: Rect, theme: &Theme, title: &str, width: u16, height: u16) -> Rect {
    let screen = screen.intersection(buf.area);
    let outer = centered(screen, width, height);
    clear(buf, outer, theme);
    if outer.width < 3 || outer.height < 3 {
        return outer;
    }
    let border = theme.style(Role::Border);
    let [top_left, top_right, bottom_left, bottom_right] = if glyph::is_accessible() {
        [" "; 4]
    } else if glyph::is_ascii() {
        ["+"; 4]
    } else {
        ["╭", "╮", "╰", "╯"]
    };
    let (right, bottom) = (outer.right() - 1, outer.bottom() - 1);
    for x in outer.x + 1..right {
        line::set(buf, x, outer.y, glyph::rule(), 1, border);
        line::set(buf, x, bottom, glyph::rule(), 1, border);
    }
    for y in outer.y + 1..bottom {
        line::set(buf, outer.x, y, glyph::divider(), 1, border);
        line::set(buf, right, y, glyph::divider(), 1, border);
    }
    for (x, y, corner) in [
        (outer.x, outer.y, top_left),
        (right, outer.y, top_right),
        (outer.x, bottom, bottom_left),
        (right, bottom, bottom_right),
    ] {
        line::set(buf, x, y, corner, 1, border);
    }
    if !title.is_empty() && outer.width > 6 {
        let title = format!(" {} ", text::fit(title, usize::from(outer.width) - 6));
        let place = Rect { x: outer.x + 2, y: outer.y, width: outer.width - 4, height: 1 };
        Line::new(title.as_str(), Role::Title).draw(buf, place, theme);
    }
    if glyph::is_accessible() {
        // The cursor is in the column in which it is in lists: a reader takes what begins elsewhere for a second text.
        return Rect { y: outer.y + 1, height: outer.height - 2, ..outer };
    }
    let pad = u16::from(outer.width > 8);
    Rect { x: outer.x + 1 + pad, y: outer.y + 1, width: outer.width - 2 - 2 * pad, height: outer.height - 2 }
}

/// Clears `area` and gives it the background of overlays. A wide character that extends into it is removed.
pub fn clear(buf: &mut Buffer, area: Rect, theme: &Theme) {
    let area = area.intersection(buf.area);
    if area.is_empty() {
        return;
    }
    hyperlink::cover(area);
    scroll_bar::cover(area);
    for y in area.y..area.bottom() {
        if let Some(cell) = area.x.checked_sub(1).and_then(|x| buf.cell_mut((x, y)))
            && text::width(cell.symbol()) > 1
        {
            cell.set_symbol(" ");
        }
        for x in area.x..area.right() {
            if let Some(cell) = buf.cell_mut((x, y)) {
                cell.reset();
            }
        }
    }
    buf.set_style(area, theme.style(Role::Overlay));
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::style::Style;

    fn rows(buf: &Buffer) -> Vec<String> {
        buf.content().chunks(usize::from(buf.area.width)).map(|r| r.iter().map(|c| c.symbol()).collect()).collect()
    }

    #[test]
    fn a_popup_has_a_border_and_a_title_and_clears_its_area() {
        let area = Rect::new(0, 0, 21, 5);
        let mut buf = Buffer::empty(area);
        for y in 0..5 {
            buf.set_string(0, y, "世界世界世界世界世界", Style::new());
        }
        let inner = draw(&mut buf, area, &Theme::plain(), "Help", 9, 1);
        assert_eq!(inner, Rect::new(6, 1, 9, 1));
        // The popup covers columns 4 to 16. The characters at 4 and 16 crossed its edges or were beneath it.
        let row = &rows(&buf)[1];
        assert!(row.starts_with("世 界 │") && row.contains("│           │"), "{row:?}");
        assert!(!row.get(row.find('│').unwrap()..row.rfind('│').unwrap()).unwrap().contains(['世', '界']), "{row:?}");
        assert!(rows(&buf)[0].contains("╭─ Help ────╮"), "{:?}", rows(&buf));
    }

    #[test]
    fn a_popup_never_exceeds_the_screen() {
        for (width, height) in [(0, 0), (1, 1), (2, 2), (3, 3), (5, 4), (20, 5)] {
            let area = Rect::new(0, 0, width, height);
            let mut buf = Buffer::empty(area);
            let inner = draw(&mut buf, area, &Theme::plain(), "A long title of an overlay", 500, 500);
            assert_eq!(inner.intersection(area), inner);
        }
    }
}
