//! The cells on the terminal, and the bytes that turn them into the next frame.
//!
//! Terminals disagree about the width of some symbols: emoji with U+FE0F, joined emoji, flags, and clusters of scripts
//! like Thai or Devanagari take more or fewer columns than expected. After such a symbol the cursor's position is
//! unknown, and its neighbors may be overwritten. Two rules keep the screen right on all of them: the cursor is moved
//! explicitly after such a symbol, and a row that contains or contained one is drawn from its first column, so that
//! what it shows does not depend on earlier frames.

use crossterm::cursor::{Hide, MoveTo, Show};
use crossterm::queue;
use crossterm::style::{Attribute, Colors, Print, SetAttribute, SetColors, SetUnderlineColor};
use crossterm::terminal::{Clear, ClearType};
use icu_normalizer::ComposingNormalizerBorrowed;
use ratatui::backend::IntoCrossterm;
use ratatui::buffer::{Buffer, Cell, CellWidth};
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier};
use std::io::{self, Write};
use std::sync::Arc;
use unicode_width::UnicodeWidthChar;

/// The cells of a frame and their hyperlinks.
#[derive(Debug)]
pub struct Frame {
    cells: Buffer,
    /// The address that each cell links to, in the order of the cells; empty if there are no links.
    links: Vec<Option<Arc<str>>>,
}

impl Frame {
    /// Returns a frame without links.
    pub fn new(cells: Buffer) -> Frame {
        Frame { cells, links: Vec::new() }
    }

    /// Makes the cells of `area` a link to `address`, which must be printable ASCII.
    pub fn link(&mut self, area: Rect, address: &Arc<str>) {
        self.links.resize(self.cells.content.len(), None);
        for position in area.intersection(self.cells.area).positions() {
            if let Some(link) = self.links.get_mut(self.cells.index_of(position.x, position.y)) {
                *link = Some(address.clone());
            }
        }
    }

    fn row(&self, y: u16) -> &[Cell] {
        let width = usize::from(self.cells.area.width);
        let start = usize::from(y) * width;
        self.cells.content.get(start..start + width).unwrap_or_default()
    }

    fn link_at(&self, x: usize, y: u16) -> Option<&Arc<str>> {
        self.links.get(usize::from(y) * usize::from(self.cells.area.width) + x)?.as_ref()
    }

    /// Returns whether all symbols of a row are one column wide on every terminal.
    fn is_simple(&self, y: u16) -> bool {
        self.row(y).iter().all(|cell| certain_width(cell.symbol()) == Some(1))
    }
}

/// Returns the width of a symbol if all terminals agree on it.
fn certain_width(symbol: &str) -> Option<u16> {
    if symbol.len() == 1 {
        return Some(1);
    }
    let mut chars = symbol.chars();
    match (chars.next()?, chars.next()) {
        (
            // Latin without © and ®, Greek, Cyrillic
            '\u{a1}'..='\u{a8}' | '\u{aa}'..='\u{ac}' | '\u{af}'..='\u{2ff}' | '\u{370}'..='\u{482}' | '\u{48a}'..='\u{52f}'
            // dashes, quotes, bullets, ellipses, primes
            | '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{203b}' | '\u{203d}'..='\u{2048}'
            // arrows that are no emoji
            | '\u{2190}'..='\u{2193}' | '\u{219a}'..='\u{21a8}' | '\u{21ab}'..='\u{21ff}'
            // operators, technical symbols and shapes that are no emoji
            | '\u{2200}'..='\u{22ff}' | '\u{232b}'..='\u{23ce}' | '\u{2605}' | '\u{2606}' | '\u{2610}' | '\u{270e}'
            // pictures of control characters, lines, blocks, shapes that are no emoji, dots
            | '\u{2400}'..='\u{2426}' | '\u{2500}'..='\u{25a9}' | '\u{25ac}'..='\u{25b5}' | '\u{25b7}'..='\u{25bf}'
            | '\u{25c1}'..='\u{25fa}' | '\u{2713}' | '\u{2717}' | '\u{2800}'..='\u{28ff}',
            None,
        ) => Some(1),
        (
            // kana, Hangul, ideographs, wide Latin
            '\u{3041}'..='\u{3096}' | '\u{30a0}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
            | '\u{ac00}'..='\u{d7a3}' | '\u{ff01}'..='\u{ff60}',
            None,
        ) => Some(2),
        _ => None,
    }
}

/// The style and the link of the text that is written next, and the position where the terminal puts it, if known.
#[derive(Default)]
struct Pen {
    at: Option<(u16, u16)>,
    fg: Color,
    bg: Color,
    underline: Color,
    modifier: Modifier,
    link: Option<Arc<str>>,
}

impl Pen {
    /// Writes one symbol at a position. `width` is the number of columns by which it moves the cursor, if known.
    fn put(
        &mut self,
        out: &mut impl Write,
        (x, y): (u16, u16),
        symbol: &str,
        cell: &Cell,
        link: Option<&Arc<str>>,
        width: Option<u16>,
    ) -> io::Result<()> {
        if self.at != Some((x, y)) {
            queue!(out, MoveTo(x, y))?;
        }
        self.at = width.map(|width| (x + width, y));
        if self.link.as_ref() != link {
            write!(out, "\x1b]8;;{}\x1b\\", link.map_or("", |address| address))?;
            self.link = link.cloned();
        }
        self.set_style(out, cell)?;
        queue!(out, Print(symbol))
    }

    fn set_style(&mut self, out: &mut impl Write, cell: &Cell) -> io::Result<()> {
        if !cell.modifier.contains(self.modifier) {
            self.reset_style(out)?;
        }
        let added = cell.modifier.difference(self.modifier);
        for (modifier, attribute) in [
            (Modifier::BOLD, Attribute::Bold),
            (Modifier::DIM, Attribute::Dim),
            (Modifier::ITALIC, Attribute::Italic),
            (Modifier::UNDERLINED, Attribute::Underlined),
            (Modifier::SLOW_BLINK, Attribute::SlowBlink),
            (Modifier::RAPID_BLINK, Attribute::RapidBlink),
            (Modifier::REVERSED, Attribute::Reverse),
            (Modifier::HIDDEN, Attribute::Hidden),
            (Modifier::CROSSED_OUT, Attribute::CrossedOut),
        ] {
            if added.contains(modifier) {
                queue!(out, SetAttribute(attribute))?;
            }
        }
        self.modifier = cell.modifier;
        if (cell.fg, cell.bg) != (self.fg, self.bg) {
            queue!(out, SetColors(Colors::new(cell.fg.into_crossterm(), cell.bg.into_crossterm())))?;
            (self.fg, self.bg) = (cell.fg, cell.bg);
        }
        if cell.underline_color != self.underline {
            queue!(out, SetUnderlineColor(cell.underline_color.into_crossterm()))?;
            self.underline = cell.underline_color;
        }
        Ok(())
    }

    fn reset_style(&mut self, out: &mut impl Write) -> io::Result<()> {
        *self = Pen { at: self.at, link: self.link.take(), ..Pen::default() };
        queue!(out, SetAttribute(Attribute::Reset))
    }

    /// Ends the link and the style.
    fn lift(mut self, out: &mut impl Write) -> io::Result<()> {
        if self.link.is_some() {
            out.write_all(b"\x1b]8;;\x1b\\")?;
        }
        self.reset_style(out)
    }
}

/// A terminal on which frames are drawn. The caller turns automatic line wrap off: a symbol at the right edge may be
/// wider than expected.
#[derive(Debug)]
pub struct Screen<W: Write> {
    out: W,
    /// The frame on the screen, or `None` if that is unknown.
    shown: Option<Frame>,
}

impl<W: Write> Screen<W> {
    /// Returns a screen of unknown content that is written to `out`.
    pub fn new(out: W) -> Screen<W> {
        Screen { out, shown: None }
    }

    /// Returns the writer. Nothing written to it may change cells.
    pub fn out(&mut self) -> &mut W {
        &mut self.out
    }

    /// Makes the next frame draw every cell.
    pub fn invalidate(&mut self) {
        self.shown = None;
    }

    /// Draws a frame, and shows the cursor at `cursor` or hides it. Returns the rows of which every cell was written;
    /// `None` means that the screen was cleared first.
    ///
    /// # Errors
    ///
    /// Returns an error if the terminal cannot be written to.
    pub fn draw(&mut self, next: Frame, cursor: Option<(u16, u16)>) -> io::Result<Option<Vec<u16>>> {
        let out = &mut self.out;
        let known = self.shown.take().filter(|shown| shown.cells.area == next.cells.area);
        let is_known = known.is_some();
        let shown = match known {
            Some(shown) => shown,
            None => {
                queue!(out, SetAttribute(Attribute::Reset), Clear(ClearType::All))?;
                Frame::new(Buffer::empty(next.cells.area))
            }
        };
        let mut pen = Pen::default();
        let mut rewritten = Vec::new();
        for y in 0..next.cells.area.height {
            let (old, new) = (shown.row(y), next.row(y));
            let is_same = |x: usize, cell: &Cell| old.get(x) == Some(cell) && shown.link_at(x, y) == next.link_at(x, y);
            let mut changed = new.iter().enumerate().filter(|(x, cell)| !is_same(*x, cell)).peekable();
            if changed.peek().is_none() {
                continue;
            }
            if !shown.is_simple(y) || !next.is_simple(y) {
                draw_row(out, &mut pen, &next, y)?;
                rewritten.push(y);
                continue;
            }
            for (x, cell) in changed {
                let link = next.link_at(x, y);
                pen.put(out, (x as u16, y), cell.symbol(), cell, link, Some(1))?;
            }
        }
        pen.lift(out)?;
        match cursor {
            Some((x, y)) => queue!(out, MoveTo(x, y), Show)?,
            None => queue!(out, Hide)?,
        }
        self.shown = Some(next);
        Ok(is_known.then_some(rewritten))
    }
}

/// Writes all cells of a row. Cells covered by a wide symbol are skipped.
fn draw_row(out: &mut impl Write, pen: &mut Pen, frame: &Frame, y: u16) -> io::Result<()> {
    let row = frame.row(y);
    let mut x = 0;
    while let Some(cell) = row.get(x) {
        let (symbol, link) = (cell.symbol(), frame.link_at(x, y));
        let width = usize::from(cell.cell_width()).max(1);
        let fits = x + width <= row.len();
        let certain = certain_width(symbol).filter(|_| fits);
        if certain.is_none() {
            // Where the symbol is narrower, blanks of its style fill the rest.
            for at in x..(x + width).min(row.len()) {
                pen.put(out, (at as u16, y), " ", cell, link, Some(1))?;
            }
        }
        if fits {
            // A joiner at the end would join the next cell.
            pen.put(out, (x as u16, y), symbol.trim_end_matches('\u{200d}'), cell, link, certain)?;
        }
        x += width;
    }
    Ok(())
}

/// Leaves out what some terminals count as characters of their own: joiners with what they join, variation selectors and
/// combining marks. Letters are composed where Unicode has them composed.
pub fn leave_out_marks(cells: &mut Buffer) {
    for cell in &mut cells.content {
        if certain_width(cell.symbol()).is_some() {
            continue;
        }
        let (symbol, width) = (COMPOSER.normalize(cell.symbol()), usize::from(cell.cell_width()));
        let mut plain = String::new();
        let mut columns = 0;
        for c in symbol.chars().take_while(|c| *c != '\u{200d}') {
            let more = c.width().unwrap_or_default();
            if more > 0 && columns + more <= width {
                plain.push(c);
                columns += more;
            }
        }
        plain.extend(std::iter::repeat_n(' ', width - columns));
        cell.set_symbol(&plain);
    }
}

/// Composes letters and their marks.
const COMPOSER: ComposingNormalizerBorrowed<'static> = ComposingNormalizerBorrowed::new_nfc();

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::style::Style;

    #[test]
    fn marks_are_left_out_and_the_width_stays() {
        for (text, expected) in [
            ("\u{2764}\u{fe0f}x", "\u{2764} x"),
            ("a\u{301}e\u{308}x\u{323}", "\u{e1}\u{eb}x"),
            ("\u{1f469}\u{200d}\u{1f4bb}x", "\u{1f469}x"),
            ("\u{1f44d}\u{1f3fd}x", "\u{1f44d}x"),
            ("\u{1f1e9}\u{1f1ea}x", "\u{1f1e9}\u{1f1ea}x"),
            ("日本", "日本"),
        ] {
            let mut cells = Buffer::empty(Rect::new(0, 0, 8, 1));
            cells.set_string(0, 0, text, Style::new());
            let widths: Vec<u16> = cells.content.iter().map(CellWidth::cell_width).collect();
            leave_out_marks(&mut cells);
            assert_eq!(widths, cells.content.iter().map(CellWidth::cell_width).collect::<Vec<_>>(), "{text}");
            let mut shown = String::new();
            let mut x = 0;
            while let Some(cell) = cells.content.get(x) {
                shown.push_str(cell.symbol());
                x += usize::from(cell.cell_width()).max(1);
            }
            assert_eq!(shown.trim_end(), expected, "{text}");
        }
    }
}
