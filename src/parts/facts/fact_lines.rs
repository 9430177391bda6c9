//! Facts of a merge request or an issue as lines: each with its name, wrapped between its pieces and, if one of them is
//! too long, between words.

use crate::ui::doc::DocLine;
use crate::ui::line::Line;
use crate::ui::text;
use crate::ui::theme::Role;

/// The number of columns between the pieces of a fact.
const GAP: usize = 2;
/// The maximum number of lines of a word.
const MAX_WORD_LINES: usize = 8;
/// The number of lines between the tabs and a description: with the first lines of the screen, it begins in the eighth
/// row at the latest.
const MAX_LINES_ABOVE: usize = 5;

/// A builder of lines that are `width` columns wide.
pub struct FactLines {
    pub width: usize,
    /// The width of the names in columns.
    names: usize,
    pub lines: Vec<DocLine<'static>>,
}

impl FactLines {
    /// Creates a builder without lines, whose names are `names` columns wide.
    pub fn new(width: usize, names: usize) -> FactLines {
        FactLines { width, names, lines: Vec::new() }
    }

    /// Returns the number of columns beside the names.
    pub fn room(&self) -> usize {
        self.width.saturating_sub(self.names).max(1)
    }

    /// Adds a line.
    pub fn line(&mut self, line: Line<'static>) {
        self.lines.push(line.into());
    }

    /// Adds a fact of several pieces; nothing without any.
    pub fn fact(&mut self, name: &str, pieces: Vec<Line<'static>>) {
        let room = self.room();
        for (index, row) in flow(pieces, room).into_iter().enumerate() {
            let name = if index == 0 { text::capitalize(name) } else { String::new() };
            let mut line = Line::new(text::pad(&name, self.names), Role::Dim);
            line.extend(row);
            self.line(line);
        }
    }

    /// Adds a fact of one text; nothing if it is empty.
    pub fn text(&mut self, name: &str, words: String, role: Role) {
        self.fact(
            name,
            Some(words).filter(|words| !words.is_empty()).map(|words| Line::new(words, role)).into_iter().collect(),
        );
    }
}

/// Returns the lines above a description: the title, which is cut last, and what follows it, so that the description
/// begins on a small screen.
pub fn above(title: Vec<DocLine<'static>>, pieces: Vec<Line<'static>>, width: usize) -> Vec<DocLine<'static>> {
    let rest = flow(pieces, width).into_iter().map(DocLine::from).chain([DocLine::default()]);
    title.into_iter().chain(rest).take(MAX_LINES_ABOVE).collect()
}

/// Returns the lines of facts below a description, with a title.
pub fn below(facts: Vec<DocLine<'static>>) -> Vec<DocLine<'static>> {
    [DocLine::new("Details", Role::TitleDim)].into_iter().chain(facts).chain([DocLine::default()]).collect()
}

/// Returns the rows of pieces, one after the other.
fn flow(pieces: Vec<Line<'static>>, room: usize) -> Vec<Line<'static>> {
    let mut rows: Vec<Line<'static>> = Vec::new();
    for piece in pieces {
        let wide = piece.width();
        match rows.last_mut() {
            Some(row) if row.width() + GAP + wide <= room => {
                row.push(" ".repeat(GAP), Role::Dim);
                row.extend(piece);
            }
            _ if wide <= room => rows.push(piece),
            _ => rows.extend(wrapped(piece, room)),
        }
    }
    rows
}

/// Returns the rows of a piece that is too long for one.
fn wrapped(piece: Line<'static>, room: usize) -> Vec<Line<'static>> {
    let mut rows = vec![Line::empty()];
    for span in piece.spans {
        for word in span.text.split_inclusive(' ') {
            let parts = match text::width(word.trim_end()) > room {
                true => text::wrap(word, room, MAX_WORD_LINES),
                false => vec![word.to_owned()],
            };
            for part in parts {
                let used = rows.last().map_or(0, Line::width);
                if used > 0 && used + text::width(part.trim_end()) > room {
                    rows.push(Line::empty());
                }
                if let Some(row) = rows.last_mut() {
                    // The space at its end has no room in a full row.
                    let fits = row.width() + text::width(&part) <= room;
                    row.push(if fits { part } else { part.trim_end().to_owned() }, span.paint);
                }
            }
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(width: usize, pieces: &[&'static str]) -> Vec<String> {
        let mut lines = FactLines::new(width, 6);
        lines.fact("who", pieces.iter().map(|piece| Line::text(*piece)).collect());
        lines.lines.iter().map(|line| line.text.plain_text().trim_end().to_owned()).collect()
    }

    #[test]
    fn pieces_are_wrapped_between_each_other_and_long_ones_between_words() {
        assert_eq!(rows(18, &["ada", "bo", "cem", "dora"]), ["Who   ada  bo  cem", "      dora"]);
        assert_eq!(rows(18, &["must be rebased first", "x"]), ["Who   must be", "      rebased", "      first  x"]);
        assert_eq!(rows(12, &["feature/long"]), ["Who   featur", "      e/long"]);
        assert!(rows(12, &[]).is_empty());
        assert!(rows(3, &["世界"]).len() >= 2);
    }

    #[test]
    fn no_row_is_wider_than_its_room_even_by_a_space() {
        let mut lines = FactLines::new(13, 6);
        lines.fact("who", vec![Line::text("must be rebased first")]);
        let widths: Vec<usize> = lines.lines.iter().map(|line| line.text.width()).collect();
        assert_eq!(widths, [13, 13, 11]);
    }

    #[test]
    fn the_title_is_cut_last() {
        let title = |rows: usize| vec![DocLine::from(Line::text("title")); rows];
        let texts = |rows: usize| -> Vec<String> {
            let lines = above(title(rows), vec![Line::text("open"), Line::text("a long name of a branch")], 12);
            lines.iter().map(|line| line.text.plain_text()).collect()
        };
        assert_eq!(texts(1), ["title", "open", "a long name ", "of a branch", ""]);
        assert_eq!(texts(4), ["title", "title", "title", "title", "open"]);
    }
}
