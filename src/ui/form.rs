//! Forms: one field a row with its label and value, the error below it, and a list of suggestions.

use crate::input::Input;
use crate::line::Line;
use crate::theme::{Role, Theme};
use crate::{cursor_hint, glyph, line, popup, scroll_bar, text};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// The maximum number of rows of help below a field.
const MAX_HELP_ROWS: usize = 6;
/// Maximum number of suggestions visible at once.
const MAX_SUGGESTIONS: u16 = 8;
/// The width in columns that labels leave to the values, if there is room for both.
const VALUE_WIDTH: u16 = 28;
/// The maximum width of a label, in columns.
const MAX_LABEL_WIDTH: usize = 44;
/// The width in columns sufficient for showing a suggestion on the line of the cursor.
const SUGGESTION_WIDTH: u16 = 36;
/// The width in columns sufficient for the end of the typed text after a long error.
const TYPED_WIDTH: usize = 16;

/// The content of a field.
pub enum FieldContent<'a> {
    /// A line of input, and the placeholder for an empty one.
    Line(&'a Input, &'a str),
    /// A secret of the given length, which is not shown.
    Secret(usize),
    /// One of several words, and the placeholder for none.
    Choice(&'a str, &'a str),
    /// A text of several lines, and the placeholder for an empty one.
    Text(&'a str, &'a str),
}

impl FieldContent<'_> {
    /// Returns the width of the content in columns.
    fn width(&self) -> usize {
        match self {
            FieldContent::Line(input, empty) if input.is_empty() => text::width(empty),
            FieldContent::Line(input, _) => text::width(input.text()),
            FieldContent::Secret(letters) => *letters,
            FieldContent::Choice(word, empty) | FieldContent::Text(word, empty) => {
                text::width_up_to(word, 80).max(text::width(empty))
            }
        }
    }
}

/// A field of a form.
pub struct Field<'a> {
    pub label: &'a str,
    /// Whether a value is required.
    pub required: bool,
    pub content: FieldContent<'a>,
    /// The meaning of the typed text, such as the date of `2w`; empty if it is clear.
    pub meaning: String,
    /// The validation error, if any.
    pub error: Option<&'a str>,
    /// Whether the value differs from the server's.
    pub changed: bool,
    /// The help, in the rows below the field; in accessible mode, where no text follows the focus.
    pub help: String,
}

/// The positions of the fields after drawing.
#[derive(Clone, Debug, Default)]
pub struct FormLayout {
    /// The index of the first visible field, where the next drawing starts.
    top: usize,
    /// The visible fields: the index, the first screen row, and the number of rows of each.
    pub rows: Vec<(usize, u16, u16)>,
}

/// Returns the column of the values of `fields` in an area `room` columns wide. The labels before it take at least
/// `least` columns, followed by the marker.
pub fn value_column(fields: &[Field], least: usize, room: u16) -> u16 {
    let label = |field: &Field| text::width(field.label) + usize::from(field.required) * 2;
    let widest = fields.iter().map(label).max().unwrap_or(0).max(least);
    let most = (usize::from(room) * 2 / 5).max(usize::from(room.saturating_sub(VALUE_WIDTH)));
    widest.min(most).min(MAX_LABEL_WIDTH) as u16 + 3
}

/// Draws the fields in `area`, scrolled so that the focused field is entirely visible. Labels take at least `least`
/// columns. Returns the cell of the cursor.
pub fn draw(
    buf: &mut Buffer,
    area: Rect,
    theme: &Theme,
    fields: &[Field],
    least: usize,
    focus: usize,
    layout: &mut FormLayout,
) -> Option<(u16, u16)> {
    let area = area.intersection(buf.area);
    layout.rows.clear();
    if area.is_empty() {
        return None;
    }
    let labels = usize::from(value_column(fields, least, area.width)) - 3;
    let has_error_row = |field: &Field| field.error.is_some() && !glyph::is_accessible();
    let help_area = Rect { width: area.width.saturating_sub(1), ..area };
    let help = |field: &Field| text::wrap(&field.help, help_area.width.into(), MAX_HELP_ROWS);
    let height = |field: &Field| 1 + if has_error_row(field) { 1 } else { help(field).len() };
    // Scrolls by whole fields, and only as far as the focused field requires.
    let mut first = layout.top.min(focus).min(fields.len().saturating_sub(1));
    let fits = |first: usize| {
        let upto = fields.get(first..=focus.min(fields.len().saturating_sub(1))).unwrap_or_default();
        upto.iter().map(height).sum::<usize>() <= usize::from(area.height)
    };
    while first < focus && !fits(first) {
        first += 1;
    }
    // No field stays hidden above while there is room below.
    while first > 0 && fields.iter().skip(first - 1).map(height).sum::<usize>() <= usize::from(area.height) {
        first -= 1;
    }
    layout.top = first;
    let mut cursor = None;
    let mut y = area.y;
    for (index, field) in fields.iter().enumerate().skip(first) {
        let rest = area.bottom().saturating_sub(y);
        if rest == 0 {
            break;
        }
        let focused = index == focus;
        let place = Rect { y, height: 1, ..area };
        let label = text::fit(field.label, labels.saturating_sub(usize::from(field.required) * 2));
        let style = theme.style(if focused || !glyph::has_bar() { Role::Title } else { Role::Dim });
        let mut spans = Line::new(label, style);
        if field.required {
            spans.push(" *", Role::Accent);
        }
        spans.draw(buf, Rect { width: (labels as u16).min(area.width), ..place }, theme);
        let mark = Rect { x: area.x + labels as u16 + 1, width: 1, ..place };
        if focused {
            Line::new(glyph::mark(), Role::Mark).draw(buf, mark, theme);
            cursor_hint::set_selected(area.x, y);
        } else if field.changed {
            Line::new(glyph::dot(), Role::Accent).draw(buf, mark, theme);
        }
        let x = labels as u16 + 3;
        let value = Rect { x: area.x + x, width: area.width.saturating_sub(x + 1), ..place }.intersection(area);
        let value = match field.error.filter(|_| focused || glyph::is_accessible()) {
            Some(error) => draw_inline_error(buf, value, theme, error, field.content.width()),
            None => value,
        };
        let value = draw_meaning(buf, value, theme, field);
        cursor = draw_value(buf, value, theme, focused, &field.content).or(cursor);
        let mut took = 1;
        if let Some(error) = field.error.filter(|_| rest > 1 && !glyph::is_accessible()) {
            let at = Rect { x: area.x + x, y: y + 1, width: area.width.saturating_sub(x + 1), height: 1 };
            let words = format!("{} {}", glyph::wrong(), text::sanitize(error));
            Line::new(words, Role::Failed).draw(buf, at.intersection(area), theme);
            took = 2;
        } else {
            for (words, y) in help(field).iter().zip(y + 1..area.bottom()) {
                Line::new(words.as_str(), Role::Dim).draw(buf, Rect { y, height: 1, ..help_area }, theme);
                took += 1;
            }
        }
        layout.rows.push((index, y, took));
        y += took;
    }
    let seen = layout.rows.len();
    if seen < fields.len() {
        // The wheel moves by a field a step.
        let rows = |fields: usize| fields * usize::from(scroll_bar::WHEEL_ROWS.unsigned_abs());
        scroll_bar::draw(buf, area, theme, rows(first), rows(seen), rows(fields.len()));
    }
    cursor
}

/// Draws the meaning of the typed text at the end of its line, if there is room beside the text. Returns the rest of
/// the line.
fn draw_meaning(buf: &mut Buffer, area: Rect, theme: &Theme, field: &Field) -> Rect {
    let width = text::width(&field.meaning);
    if width == 0 || width + field.content.width() + 3 > usize::from(area.width) {
        return area;
    }
    let width = width as u16;
    let at = Rect { x: area.right() - width, width, ..area };
    Line::new(field.meaning.as_str(), Role::Dim).draw(buf, at, theme);
    Rect { width: area.width - width - 1, ..area }
}

fn draw_value(
    buf: &mut Buffer,
    area: Rect,
    theme: &Theme,
    focused: bool,
    content: &FieldContent,
) -> Option<(u16, u16)> {
    if area.is_empty() {
        return None;
    }
    let (input, dim) = (theme.style(Role::Input), theme.style(Role::Dim));
    match content {
        FieldContent::Line(field, empty) => field.draw(buf, area, theme, focused, empty),
        FieldContent::Secret(letters) => {
            // The length is hidden beyond 24 characters.
            let dots = Input::new("*".repeat((*letters).min(24)));
            dots.draw(buf, area, theme, focused, "")
        }
        FieldContent::Choice(word, empty) => {
            buf.set_style(area, input);
            let (words, style) = if word.is_empty() { (*empty, dim) } else { (*word, input) };
            let mut spans = Line::new(text::sanitize(words).into_owned(), style);
            if focused || glyph::is_accessible() {
                spans.push("  < >", dim);
            }
            spans.draw(buf, area, theme);
            None
        }
        FieldContent::Text(all, empty) => {
            buf.set_style(area, input);
            let lines = all.lines().count();
            let first = all.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
            if first.is_empty() {
                Line::new(*empty, dim).draw(buf, area, theme);
                return None;
            }
            let count = if lines > 1 { format!(" {lines} lines") } else { String::new() };
            line::pair(buf, area, theme, &Line::new(text::sanitize(first).into_owned(), input), &Line::new(count, dim));
            None
        }
    }
}

/// A suggestion for a field.
pub struct FieldSuggestion<'a> {
    pub value: &'a str,
    pub note: &'a str,
}

/// Draws the suggestions below (or above) the field at `anchor`. Returns the area of the rows.
pub fn draw_suggestions(
    buf: &mut Buffer,
    screen: Rect,
    theme: &Theme,
    anchor: Rect,
    suggestions: &[FieldSuggestion],
    chosen: usize,
) -> Rect {
    let screen = screen.intersection(buf.area);
    if suggestions.is_empty() || screen.is_empty() {
        return Rect::default();
    }
    let values = suggestions.iter().map(|suggestion| text::width_up_to(suggestion.value, 80)).max().unwrap_or(0);
    let notes = suggestions.iter().map(|suggestion| text::width_up_to(suggestion.note, 80)).max().unwrap_or(0);
    let width = (values + notes + 6).clamp(16, 72) as u16;
    let width = width.min(screen.width);
    let below = screen.bottom().saturating_sub(anchor.y + 1);
    let above = anchor.y.saturating_sub(screen.y);
    let wanted = (suggestions.len() as u16).min(MAX_SUGGESTIONS);
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
    for (row, (index, suggestion)) in suggestions.iter().enumerate().skip(first).take(rows).enumerate() {
        let at = Rect { y: area.y + row as u16, height: 1, ..area };
        let left = Line::new(" ".to_owned(), Role::Text).and(text::sanitize(suggestion.value).into_owned(), Role::Text);
        let right = Line::new(format!("{}  ", text::sanitize(suggestion.note)), Role::Dim);
        line::pair(buf, at, theme, &left, &right);
        if index == chosen {
            buf.set_style(at, theme.style(Role::Selected));
        }
    }
    scroll_bar::draw(buf, area, theme, first, rows, suggestions.len());
    // The keys choose, and the list follows.
    scroll_bar::cover(area);
    area
}

/// In accessible mode, writes the error at the start of a line in which `typed` columns of text are entered. Returns
/// the rest of the line.
pub fn draw_inline_error(buf: &mut Buffer, area: Rect, theme: &Theme, error: &str, typed: usize) -> Rect {
    if !glyph::is_accessible() {
        return area;
    }
    let words = format!("{} {}", glyph::wrong(), text::sanitize(error));
    let error_area = Rect { width: area.width.saturating_sub(typed.saturating_add(3).min(TYPED_WIDTH) as u16), ..area };
    let used = Line::new(words, Role::Failed).draw(buf, error_area, theme);
    let used = if used == 0 { 0 } else { used + 2 };
    Rect { x: area.x + used, width: area.width.saturating_sub(used), ..area }
}

/// In accessible mode, writes the selected suggestion and its number on the line of the cursor. This may cover the rest
/// of the line, but not the word before the cursor.
pub fn draw_inline_suggestion(
    buf: &mut Buffer,
    screen: Rect,
    theme: &Theme,
    cursor: (u16, u16),
    suggestions: &[FieldSuggestion],
    chosen: usize,
) {
    let Some(suggestion) = suggestions.get(chosen).filter(|_| glyph::is_accessible()) else { return };
    let note =
        if suggestion.note.is_empty() { String::new() } else { format!(", {}", text::sanitize(suggestion.note)) };
    let words =
        format!("suggestion {} of {}: {}{note}", chosen + 1, suggestions.len(), text::sanitize(suggestion.value));
    let behind = cursor.0.saturating_add(2);
    let line = Rect { y: cursor.1, height: 1, ..screen };
    let place = match screen.right().saturating_sub(behind) {
        room if room >= SUGGESTION_WIDTH => Rect { x: behind, width: room, ..line },
        _ => Rect { width: SUGGESTION_WIDTH.min(screen.width), ..line },
    };
    let place = place.intersection(screen);
    popup::clear(buf, place, theme);
    Line::new(words, Role::Accent).draw(buf, place, theme);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(buf: &Buffer) -> Vec<String> {
        let rows = buf.content().chunks(usize::from(buf.area.width));
        rows.map(|row| row.iter().map(|cell| cell.symbol()).collect::<String>().trim_end().to_owned()).collect()
    }

    #[test]
    fn the_focused_field_is_always_fully_visible() {
        let inputs: Vec<Input> = (0..30).map(|n| Input::new(format!("value {n}"))).collect();
        let fields = |wrong: usize| -> Vec<Field> {
            let field = |(index, input)| Field {
                label: "label",
                required: index == 0,
                content: FieldContent::Line(input, ""),
                meaning: String::new(),
                error: (index == wrong).then_some("is taken"),
                changed: false,
                help: String::new(),
            };
            inputs.iter().enumerate().map(field).collect()
        };
        for (width, height) in [(60, 10), (30, 4), (20, 2), (8, 1), (1, 1)] {
            let area = Rect::new(0, 0, width, height);
            let mut layout = FormLayout::default();
            for focus in [0, 29, 14, 15, 3, 0] {
                let mut buf = Buffer::empty(area);
                draw(&mut buf, area, &Theme::plain(), &fields(focus), 0, focus, &mut layout);
                assert!(layout.rows.iter().any(|(index, _, _)| *index == focus), "{width}x{height}, {focus}");
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
        let field = Field {
            label: "token",
            required: false,
            content: FieldContent::Secret(6),
            meaning: String::new(),
            error: None,
            changed: true,
            help: String::new(),
        };
        draw(&mut buf, area, &Theme::plain(), &[field], 0, 0, &mut FormLayout::default());
        assert!(lines(&buf)[0].contains("******"), "{:?}", lines(&buf));
    }

    #[test]
    fn suggestions_stay_on_the_screen() {
        let all: Vec<String> = (0..20).map(|n| format!("name {n}")).collect();
        let suggestions: Vec<FieldSuggestion> =
            all.iter().map(|value| FieldSuggestion { value, note: "note" }).collect();
        for (width, height) in [(80, 24), (20, 6), (5, 3), (1, 1)] {
            let screen = Rect::new(0, 0, width, height);
            for y in 0..height {
                let mut buf = Buffer::empty(screen);
                let anchor = Rect { x: width / 2, y, width: 1, height: 1 };
                let area = draw_suggestions(&mut buf, screen, &Theme::plain(), anchor, &suggestions, 19);
                assert_eq!(area.intersection(screen), area);
            }
        }
    }
}
