//! Forms: one field a row with its label and value, the error below it, and a list of suggestions.

use crate::ui::input::Input;
use crate::ui::theme::{Role, Theme};
use crate::ui::{glyph, line, popup, spot, table, text};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use std::cell::Cell;

/// Maximum number of suggestions visible at once.
const OFFERED: u16 = 8;
/// The width in columns sufficient for showing a suggestion on the line of the cursor.
const OFFER_WIDTH: u16 = 32;
/// The width in columns sufficient for the end of the typed text after a long error.
const TYPED_WIDTH: usize = 16;

/// The content of a field.
pub enum Shown<'a> {
    /// A line of input, and the placeholder for an empty one.
    Line(&'a Input, &'a str),
    /// A secret of the given length, which is not shown.
    Secret(usize),
    /// One of several words, and the placeholder for none.
    Choice(&'a str, &'a str),
    /// A text of several lines, and the placeholder for an empty one.
    Text(&'a str, &'a str),
}

impl Shown<'_> {
    /// Returns the width of the content in columns.
    fn width(&self) -> usize {
        match self {
            Shown::Line(input, empty) if input.is_empty() => text::width(empty),
            Shown::Line(input, _) => text::width(input.text()),
            Shown::Secret(letters) => *letters,
            Shown::Choice(word, empty) | Shown::Text(word, empty) => {
                text::width_up_to(word, 80).max(text::width(empty))
            }
        }
    }
}

/// A field of a form.
pub struct Row<'a> {
    pub label: &'a str,
    /// Whether a value is required.
    pub required: bool,
    pub shown: Shown<'a>,
    /// The validation error, if any.
    pub error: Option<&'a str>,
    /// Whether the value differs from the server's.
    pub changed: bool,
}

/// The positions of the fields after drawing.
#[derive(Clone, Debug, Default)]
pub struct Drawn {
    /// The visible fields: the index, the first screen row, and the number of rows of each.
    pub rows: Vec<(usize, u16, u16)>,
    /// The area of the focused field's value.
    pub value: Rect,
    /// The cell of the cursor.
    pub cursor: Option<(u16, u16)>,
}

/// Returns the column of the values of `rows` in an area `room` columns wide. The labels before it take at least
/// `least` columns, followed by the marker.
pub fn value_column(rows: &[Row], least: usize, room: u16) -> u16 {
    let label = |row: &Row| text::width(row.label) + usize::from(row.required) * 2;
    let widest = rows.iter().map(label).max().unwrap_or(0).max(least);
    widest.min(usize::from(room) * 2 / 5).min(34) as u16 + 3
}

/// Draws the fields in `area`, scrolled so that the focused field is entirely visible. Labels take at least `least`
/// columns.
pub fn draw(
    buf: &mut Buffer,
    area: Rect,
    theme: &Theme,
    rows: &[Row],
    least: usize,
    focus: usize,
    top: &Cell<usize>,
) -> Drawn {
    let area = area.intersection(buf.area);
    let mut drawn = Drawn::default();
    if area.is_empty() {
        return drawn;
    }
    let labels = usize::from(value_column(rows, least, area.width)) - 3;
    let height = |row: &Row| 1 + usize::from(row.error.is_some());
    // Scrolls by whole fields, and only as far as the focused field requires.
    let mut first = top.get().min(focus).min(rows.len().saturating_sub(1));
    let fits = |first: usize| {
        let upto = rows.get(first..=focus.min(rows.len().saturating_sub(1))).unwrap_or_default();
        upto.iter().map(height).sum::<usize>() <= usize::from(area.height)
    };
    while first < focus && !fits(first) {
        first += 1;
    }
    // No field stays hidden above while there is room below.
    while first > 0 && rows.iter().skip(first - 1).map(height).sum::<usize>() <= usize::from(area.height) {
        first -= 1;
    }
    top.set(first);
    let mut y = area.y;
    for (index, row) in rows.iter().enumerate().skip(first) {
        let rest = area.bottom().saturating_sub(y);
        if rest == 0 {
            break;
        }
        let focused = index == focus;
        let place = Rect { y, height: 1, ..area };
        let label = text::fit(row.label, labels.saturating_sub(usize::from(row.required) * 2));
        let style = theme.style(if focused { Role::Title } else { Role::Dim });
        let mut spans: Vec<(String, Style)> = vec![(label, style)];
        if row.required {
            spans.push((" *".into(), theme.style(Role::Accent)));
        }
        line::draw(buf, Rect { width: (labels as u16).min(area.width), ..place }, &spans);
        let mark = Rect { x: area.x + labels as u16 + 1, width: 1, ..place };
        if focused {
            line::draw(buf, mark, &[(glyph::mark(), theme.style(Role::Mark))]);
            spot::select(area.x, y);
        } else if row.changed {
            line::draw(buf, mark, &[(glyph::dot(), theme.style(Role::Accent))]);
        }
        let x = labels as u16 + 3;
        let value = Rect { x: area.x + x, width: area.width.saturating_sub(x + 1), ..place }.intersection(area);
        let value = match row.error.filter(|_| focused) {
            Some(error) => tell_error(buf, value, theme, error, row.shown.width()),
            None => value,
        };
        let cursor = draw_value(buf, value, theme, focused, &row.shown);
        if focused {
            drawn.value = value;
            drawn.cursor = cursor;
        }
        let mut took = 1;
        if let Some(error) = row.error.filter(|_| rest > 1) {
            let at = Rect { x: area.x + x, y: y + 1, width: area.width.saturating_sub(x + 1), height: 1 };
            let words = format!("{} {}", glyph::wrong(), text::sanitize(error));
            line::draw(buf, at.intersection(area), &[(words, theme.style(Role::Failed))]);
            took = 2;
        }
        drawn.rows.push((index, y, took));
        y += took;
    }
    let seen = drawn.rows.len();
    if seen < rows.len() {
        thumb(buf, area, theme, first, seen, rows.len());
    }
    drawn
}

/// Draws the scroll thumb of a list in which `seen` of `len` items are visible, starting from `first`.
fn thumb(buf: &mut Buffer, area: Rect, theme: &Theme, first: usize, seen: usize, len: usize) {
    let height = usize::from(area.height);
    let size = (height * seen / len.max(1)).clamp(1, height);
    let from = (height - size) * first / len.saturating_sub(seen).max(1);
    for row in from.min(height - size)..(from + size).min(height) {
        line::set(buf, area.right() - 1, area.y + row as u16, glyph::thumb(), 1, theme.style(Role::Faint));
    }
}

fn draw_value(buf: &mut Buffer, area: Rect, theme: &Theme, focused: bool, shown: &Shown) -> Option<(u16, u16)> {
    if area.is_empty() {
        return None;
    }
    let (input, dim) = (theme.style(Role::Input), theme.style(Role::Dim));
    match shown {
        Shown::Line(field, empty) => field.draw(buf, area, theme, focused, empty),
        Shown::Secret(letters) => {
            // The length is hidden beyond 24 characters.
            let dots = Input::new("*".repeat((*letters).min(24)));
            dots.draw(buf, area, theme, focused, "")
        }
        Shown::Choice(word, empty) => {
            buf.set_style(area, input);
            let (words, style) = if word.is_empty() { (*empty, dim) } else { (*word, input) };
            let mut spans = vec![(text::sanitize(words).into_owned(), style)];
            if focused {
                spans.push(("  < >".into(), dim));
            }
            line::draw(buf, area, &spans);
            None
        }
        Shown::Text(all, empty) => {
            buf.set_style(area, input);
            let lines = all.lines().count();
            let first = all.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
            if first.is_empty() {
                line::draw(buf, area, &[(*empty, dim)]);
                return None;
            }
            let count = if lines > 1 { format!(" {lines} lines") } else { String::new() };
            line::pair(buf, area, &[(text::sanitize(first).into_owned(), input)], &[(count, dim)]);
            None
        }
    }
}

/// A suggestion for a field.
pub struct Offer<'a> {
    pub value: &'a str,
    pub note: &'a str,
}

/// Draws the suggestions below (or above) the field at `anchor`. Returns the area of the rows.
pub fn offers(buf: &mut Buffer, screen: Rect, theme: &Theme, anchor: Rect, offers: &[Offer], chosen: usize) -> Rect {
    let screen = screen.intersection(buf.area);
    if offers.is_empty() || screen.is_empty() {
        return Rect::default();
    }
    let values = offers.iter().map(|offer| text::width_up_to(offer.value, 80)).max().unwrap_or(0);
    let notes = offers.iter().map(|offer| text::width_up_to(offer.note, 80)).max().unwrap_or(0);
    let width = (values + notes + 6).clamp(16, 72) as u16;
    let width = width.min(screen.width);
    let below = screen.bottom().saturating_sub(anchor.y + 1);
    let above = anchor.y.saturating_sub(screen.y);
    let wanted = (offers.len() as u16).min(OFFERED);
    let (y, height) = if below >= wanted || below >= above {
        (anchor.y + 1, wanted.min(below))
    } else {
        (anchor.y - wanted.min(above), wanted.min(above))
    };
    let x = anchor.x.saturating_sub(1).min(screen.right().saturating_sub(width)).max(screen.x);
    let area = Rect { x, y, width, height }.intersection(screen);
    popup::clear(buf, area, theme);
    let rows = usize::from(area.height);
    let first = (chosen + 1).saturating_sub(rows);
    for (row, (index, offer)) in offers.iter().enumerate().skip(first).take(rows).enumerate() {
        let at = Rect { y: area.y + row as u16, height: 1, ..area };
        let left = [
            (" ".to_owned(), theme.style(Role::Text)),
            (text::sanitize(offer.value).into_owned(), theme.style(Role::Text)),
        ];
        let right = [(format!("{}  ", text::sanitize(offer.note)), theme.style(Role::Dim))];
        line::pair(buf, at, &left, &right);
        if index == chosen {
            buf.set_style(at, theme.style(Role::Selected));
        }
    }
    table::thumb(buf, area, theme, first, offers.len());
    area
}

/// In accessible mode, writes the error at the start of a line in which `typed` columns of text are entered. Returns
/// the rest of the line.
pub fn tell_error(buf: &mut Buffer, area: Rect, theme: &Theme, error: &str, typed: usize) -> Rect {
    if !glyph::words() {
        return area;
    }
    let words = format!("{} {}", glyph::wrong(), text::sanitize(error));
    let told = Rect { width: area.width.saturating_sub(typed.saturating_add(3).min(TYPED_WIDTH) as u16), ..area };
    let used = line::draw(buf, told, &[(words, theme.style(Role::Failed))]);
    let used = if used == 0 { 0 } else { used + 2 };
    Rect { x: area.x + used, width: area.width.saturating_sub(used), ..area }
}

/// In accessible mode, writes the selected suggestion and its number on the line of the cursor. This may cover the rest
/// of the line, but not the word before the cursor.
pub fn tell_offer(buf: &mut Buffer, screen: Rect, theme: &Theme, cursor: (u16, u16), offers: &[Offer], chosen: usize) {
    let Some(offer) = offers.get(chosen).filter(|_| glyph::words()) else { return };
    let note = if offer.note.is_empty() { String::new() } else { format!(", {}", text::sanitize(offer.note)) };
    let words = format!("offer {} of {}: {}{note}", chosen + 1, offers.len(), text::sanitize(offer.value));
    let behind = cursor.0.saturating_add(2);
    let line = Rect { y: cursor.1, height: 1, ..screen };
    let place = match screen.right().saturating_sub(behind) {
        room if room >= OFFER_WIDTH => Rect { x: behind, width: room, ..line },
        _ => Rect { width: OFFER_WIDTH.min(screen.width), ..line },
    };
    let place = place.intersection(screen);
    popup::clear(buf, place, theme);
    line::draw(buf, place, &[(words, theme.style(Role::Accent))]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(buf: &Buffer) -> Vec<String> {
        let rows = buf.content().chunks(usize::from(buf.area.width));
        rows.map(|row| row.iter().map(|cell| cell.symbol()).collect::<String>().trim_end().to_owned()).collect()
    }

    #[test]
    fn the_field_with_the_focus_is_always_seen_whole() {
        let inputs: Vec<Input> = (0..30).map(|n| Input::new(format!("value {n}"))).collect();
        let rows = |wrong: usize| -> Vec<Row> {
            let row = |(index, input)| Row {
                label: "label",
                required: index == 0,
                shown: Shown::Line(input, ""),
                error: (index == wrong).then_some("is taken"),
                changed: false,
            };
            inputs.iter().enumerate().map(row).collect()
        };
        for (width, height) in [(60, 10), (30, 4), (20, 2), (8, 1), (1, 1)] {
            let area = Rect::new(0, 0, width, height);
            let top = Cell::new(0);
            for focus in [0, 29, 14, 15, 3, 0] {
                let mut buf = Buffer::empty(area);
                let drawn = draw(&mut buf, area, &Theme::plain(), &rows(focus), 0, focus, &top);
                assert!(drawn.rows.iter().any(|(index, _, _)| *index == focus), "{width}x{height}, {focus}");
                if width >= 30 && height >= 2 {
                    let seen = lines(&buf).join("\n");
                    assert!(seen.contains("is taken") && seen.contains(&format!("value {focus}")), "{seen}");
                }
            }
        }
    }

    #[test]
    fn a_secret_is_never_drawn() {
        let area = Rect::new(0, 0, 40, 1);
        let mut buf = Buffer::empty(area);
        let row = Row { label: "token", required: false, shown: Shown::Secret(6), error: None, changed: true };
        draw(&mut buf, area, &Theme::plain(), &[row], 0, 0, &Cell::new(0));
        assert!(lines(&buf)[0].contains("******"), "{:?}", lines(&buf));
    }

    #[test]
    fn what_may_be_typed_stays_on_the_screen() {
        let all: Vec<String> = (0..20).map(|n| format!("name {n}")).collect();
        let offered: Vec<Offer> = all.iter().map(|value| Offer { value, note: "note" }).collect();
        for (width, height) in [(80, 24), (20, 6), (5, 3), (1, 1)] {
            let screen = Rect::new(0, 0, width, height);
            for y in 0..height {
                let mut buf = Buffer::empty(screen);
                let anchor = Rect { x: width / 2, y, width: 1, height: 1 };
                let area = offers(&mut buf, screen, &Theme::plain(), anchor, &offered, 19);
                assert_eq!(area.intersection(screen), area);
            }
        }
    }
}
