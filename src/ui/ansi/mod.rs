//! Parsing of terminal output: colors and attributes are kept, carriage returns and erasures are applied within their
//! line, and all other escape sequences are dropped. Lines are parsed in a single pass; the only state kept is the
//! style at the start of a line.

mod plain;

pub use plain::{append_text, has_controls};

use crate::text;
use crate::theme::{Role, Theme};
use ratatui::style::{Color, Modifier, Style};
use std::collections::BTreeMap;
use std::ops::Range;
use unicode_width::UnicodeWidthChar;

/// Maximum number of columns parsed of a line; the rest is omitted.
pub const MAX_COLUMNS: usize = 64 * 1024;
/// Maximum number of bytes parsed of a line.
pub const MAX_BYTES: usize = 256 * 1024;
/// Maximum number of style changes within a line; the text after the last one has the default style.
const MAX_RUNS: usize = 4096;
const TAB: usize = 8;
const MAX_MARKS: usize = 8;

const BOLD: u8 = 1;
const DIM: u8 = 2;
const ITALIC: u8 = 4;
const UNDERLINE: u8 = 8;
const INVERSE: u8 = 16;
const STRIKE: u8 = 32;

/// The sixteen named colors in numerical order.
const NAMED: [Role; 16] = [
    Role::AnsiBlack,
    Role::AnsiRed,
    Role::AnsiGreen,
    Role::AnsiYellow,
    Role::AnsiBlue,
    Role::AnsiMagenta,
    Role::AnsiCyan,
    Role::AnsiWhite,
    Role::AnsiBrightBlack,
    Role::AnsiBrightRed,
    Role::AnsiBrightGreen,
    Role::AnsiBrightYellow,
    Role::AnsiBrightBlue,
    Role::AnsiBrightMagenta,
    Role::AnsiBrightCyan,
    Role::AnsiBrightWhite,
];

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum AnsiColor {
    #[default]
    Default,
    Named(u8),
    Indexed(u8),
    Rgb(u8, u8, u8),
}

impl AnsiColor {
    fn indexed(n: u16) -> Option<AnsiColor> {
        match u8::try_from(n).ok()? {
            n @ 0..=15 => Some(AnsiColor::Named(n)),
            n => Some(AnsiColor::Indexed(n)),
        }
    }

    fn color(self, theme: &Theme) -> Option<Color> {
        match self {
            AnsiColor::Default => None,
            AnsiColor::Named(n) => NAMED.get(usize::from(n)).and_then(|role| theme.style(*role).fg),
            AnsiColor::Indexed(n) => theme.convert_color(Color::Indexed(n)),
            AnsiColor::Rgb(r, g, b) => theme.convert_color(Color::Rgb(r, g, b)),
        }
    }

    /// Returns the color of a background. With sixteen colors, some colors of text are the terminal's default, which as
    /// a background would be no color.
    fn background(self, theme: &Theme) -> Option<Color> {
        match (self.color(theme), self) {
            (Some(Color::Reset), AnsiColor::Named(0 | 8)) => Some(Color::Black),
            (Some(Color::Reset), _) => Some(Color::White),
            (color, _) => color,
        }
    }
}

/// The style of the text at some byte of the output, as set by the SGR sequences before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SgrState {
    fg: AnsiColor,
    bg: AnsiColor,
    flags: u8,
}

/// A range of text with one style.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The byte range in [`TerminalLine::text`].
    pub range: Range<usize>,
    pub state: SgrState,
}

/// A line as a terminal would show it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TerminalLine {
    /// The text, without control characters, bidirectional formatting characters and tabs.
    pub text: String,
    /// The styled ranges, sorted. Text of the default style is not included.
    pub runs: Vec<Run>,
    /// Whether the line is longer than the parsed part.
    pub cut: bool,
}

impl TerminalLine {
    /// Returns the runs as a layer for [`crate::layers::blend`].
    pub fn layer(&self, theme: &Theme) -> Vec<(Range<usize>, Style)> {
        self.runs.iter().map(|run| (run.range.clone(), run.state.style(theme))).collect()
    }

    fn push(&mut self, text: &str, state: SgrState) {
        let start = self.text.len();
        self.text.push_str(text);
        if state == SgrState::default() || text.is_empty() {
            return;
        }
        let (end, full) = (self.text.len(), self.runs.len() == MAX_RUNS);
        match self.runs.last_mut() {
            Some(last) if last.state == state && last.range.end == start => last.range.end = end,
            _ if full => {}
            _ => self.runs.push(Run { range: start..end, state }),
        }
    }
}

impl SgrState {
    /// Converts the style for drawing. Text on a background of its own is always readable.
    pub fn style(self, theme: &Theme) -> Style {
        let mut style = Style::new();
        let mut flags = self.flags;
        (style.fg, style.bg) = (self.fg.color(theme), self.bg.background(theme));
        if flags & INVERSE != 0 && (style.fg.is_some() || style.bg.is_some()) {
            let (text, background) = theme.usual_colors();
            style.fg = Some(style.bg.unwrap_or(background));
            style.bg = Some(self.fg.background(theme).unwrap_or(text));
            flags &= !INVERSE;
        }
        if let Some(bg) = style.bg {
            style.fg = Some(theme.text_on(bg, style.fg));
            // Terminals show bold text of the first eight colors in the others, and faint text darker.
            let brightens = style.fg.is_some_and(|color| !matches!(color, Color::Rgb(..) | Color::Indexed(_)));
            flags &= if brightens { !(DIM | BOLD) } else { !DIM };
        }
        for (flag, modifier) in [
            (BOLD, Modifier::BOLD),
            (DIM, Modifier::DIM),
            (ITALIC, Modifier::ITALIC),
            (UNDERLINE, Modifier::UNDERLINED),
            (INVERSE, Modifier::REVERSED),
            (STRIKE, Modifier::CROSSED_OUT),
        ] {
            if flags & flag != 0 {
                style = style.add_modifier(modifier);
            }
        }
        style
    }

    /// Applies only the SGR sequences in `bytes`. Returns whether the text around all sequences stays as it is: none of
    /// them moves the cursor back, erases, or contains text.
    pub fn advance(&mut self, bytes: &[u8]) -> bool {
        let mut rest = bytes;
        let mut keeps_text = true;
        while let Some(at) = memchr::memchr(0x1b, rest) {
            rest = rest.get(at..).unwrap_or_default();
            let (len, sequence) = escape(rest);
            if let Escape::Csi { parameters, last: b'm' } = sequence {
                self.sgr(parameters);
            }
            keeps_text &= sequence.keeps_text(len);
            rest = rest.get(len..).unwrap_or_default();
        }
        keeps_text
    }

    fn sgr(&mut self, parameters: &[u8]) {
        if parameters.iter().any(|c| !matches!(c, b'0'..=b'9' | b';' | b':')) {
            return;
        }
        let mut parts = parameters.split(|c| *c == b';');
        while let Some(part) = parts.next() {
            let mut sub = part.split(|c| *c == b':').map(number);
            let code = sub.next().unwrap_or(0);
            match code {
                0 => *self = SgrState::default(),
                1 => self.flags |= BOLD,
                2 => self.flags |= DIM,
                3 => self.flags |= ITALIC,
                4 if sub.next() == Some(0) => self.flags &= !UNDERLINE,
                4 | 21 => self.flags |= UNDERLINE,
                7 => self.flags |= INVERSE,
                9 => self.flags |= STRIKE,
                22 => self.flags &= !(BOLD | DIM),
                23 => self.flags &= !ITALIC,
                24 => self.flags &= !UNDERLINE,
                27 => self.flags &= !INVERSE,
                29 => self.flags &= !STRIKE,
                30..=37 => self.fg = AnsiColor::Named((code - 30) as u8),
                90..=97 => self.fg = AnsiColor::Named((code - 82) as u8),
                39 => self.fg = AnsiColor::Default,
                40..=47 => self.bg = AnsiColor::Named((code - 40) as u8),
                100..=107 => self.bg = AnsiColor::Named((code - 92) as u8),
                49 => self.bg = AnsiColor::Default,
                38 | 48 => {
                    let color = if part.contains(&b':') {
                        color(&mut sub, true)
                    } else {
                        color(&mut parts.by_ref().map(number), false)
                    };
                    match (code, color) {
                        (38, Some(color)) => self.fg = color,
                        (_, Some(color)) => self.bg = color,
                        (_, None) => {}
                    }
                }
                // The underline color is not drawn, but its parameters must not be interpreted as attributes.
                58 if !part.contains(&b':') => {
                    color(&mut parts.by_ref().map(number), false);
                }
                _ => {}
            }
        }
    }
}

/// Parses `5;n` or `2;r;g;b` after a 38 or 48. The form with colons may have a color space before the three components.
fn color(numbers: &mut dyn Iterator<Item = u16>, colons: bool) -> Option<AnsiColor> {
    match numbers.next()? {
        5 => AnsiColor::indexed(numbers.next()?),
        2 => {
            let (a, b, c) = (numbers.next()?, numbers.next()?, numbers.next()?);
            let (r, g, b) = match colons.then(|| numbers.next()).flatten() {
                Some(d) => (b, c, d),
                None => (a, b, c),
            };
            let byte = |n: u16| n.min(255) as u8;
            Some(AnsiColor::Rgb(byte(r), byte(g), byte(b)))
        }
        _ => None,
    }
}

fn number(digits: &[u8]) -> u16 {
    digits.iter().fold(0u16, |n, c| n.saturating_mul(10).saturating_add(u16::from(c.wrapping_sub(b'0').min(9))))
}

enum Escape<'a> {
    Csi { parameters: &'a [u8], last: u8 },
    Other,
}

impl Escape<'_> {
    /// Returns whether the sequence, which takes `len` bytes, leaves the text around it as it is.
    fn keeps_text(&self, len: usize) -> bool {
        match self {
            Escape::Csi { parameters, last: b'K' } => number(parameters) == 0,
            Escape::Csi { last, .. } => !matches!(last, b'A' | b'B' | b'G'),
            // A long sequence may extend beyond the line, or contain markers.
            Escape::Other => len <= 2,
        }
    }
}

/// Parses the escape sequence at the start of `bytes` (which start with ESC) and returns its length, at least 1. An
/// unterminated sequence ends before the first byte that cannot belong to it.
fn escape(bytes: &[u8]) -> (usize, Escape<'_>) {
    match bytes.get(1) {
        Some(b'[') => {
            let mut at = 2;
            loop {
                match bytes.get(at) {
                    Some(0x20..=0x3f) => at += 1,
                    Some(last @ 0x40..=0x7e) => {
                        return (at + 1, Escape::Csi { parameters: bytes.get(2..at).unwrap_or_default(), last: *last });
                    }
                    Some(0x18 | 0x1a) => return (at + 1, Escape::Other),
                    _ => return (at, Escape::Other),
                }
            }
        }
        // OSC, DCS, SOS, PM and APC contain text of any length up to ST or BEL.
        Some(b']' | b'P' | b'X' | b'^' | b'_') => {
            let body = bytes.get(2..).unwrap_or_default();
            if let Some(found) = body.iter().position(|b| matches!(b, 0x07 | 0x18 | 0x1a | 0x1b)) {
                let at = 2 + found;
                let len = match (bytes.get(at), bytes.get(at + 1)) {
                    (Some(0x1b), Some(b'\\')) => at + 2,
                    (Some(0x1b), _) => at,
                    _ => at + 1,
                };
                return (len, Escape::Other);
            }
            (bytes.len(), Escape::Other)
        }
        Some(0x20..=0x2f) => {
            let middle = bytes.iter().skip(1).take_while(|b| matches!(b, 0x20..=0x2f)).count();
            match bytes.get(1 + middle) {
                Some(0x30..=0x7e) => (2 + middle, Escape::Other),
                _ => (1 + middle, Escape::Other),
            }
        }
        Some(0x30..=0x7e) => (2, Escape::Other),
        _ => (1, Escape::Other),
    }
}

/// Returns whether `bytes` contain visible text, that is, anything but whitespace.
pub fn is_visible(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    while let Some(first) = rest.first() {
        let len = match first {
            0x1b => escape(rest).0,
            0x21..=0x7e | 0x80.. => return true,
            _ => 1,
        };
        rest = rest.get(len..).unwrap_or_default();
    }
    false
}

/// Returns whether `bytes` may contain a sequence that sets a style.
pub fn has_styles(bytes: &[u8]) -> bool {
    memchr::memmem::find(bytes, &[0x1b, b'[']).is_some()
}

/// Returns whether `bytes` are non-empty and consist only of escape sequences.
pub fn is_escapes_only(bytes: &[u8]) -> bool {
    let mut rest = bytes.strip_suffix(b"\r").unwrap_or(bytes);
    let some = !rest.is_empty();
    while rest.first() == Some(&0x1b) {
        rest = rest.get(escape(rest).0..).unwrap_or_default();
    }
    some && rest.is_empty()
}

/// Parses one line of output (without its line feed) as finally shown by a terminal. `state` is the style at the start
/// of the line and becomes the style at its end. Of a line longer than [`MAX_BYTES`], only the last redrawn part is
/// parsed, or else the start of the line; the style at its end is then unknown.
pub fn parse_line(state: &mut SgrState, line: &[u8]) -> TerminalLine {
    let mut line = line;
    while let Some((b'\r', before)) = line.split_last() {
        line = before;
    }
    let long = line.len() > MAX_BYTES;
    if long {
        let tail = line.get(line.len() - MAX_COLUMNS..).unwrap_or_default();
        line = match memchr::memchr(b'\r', tail) {
            Some(at) => tail.get(at + 1..).unwrap_or_default(),
            None => line.get(..MAX_BYTES).unwrap_or_default(),
        };
    }
    let start = *state;
    let mut parsed = match append(state, line) {
        Some(parsed) => parsed,
        None => {
            *state = start;
            overwrite(state, line)
        }
    };
    parsed.cut |= long;
    parsed
}

/// Parses a line that only appends text, as most lines do. Returns `None` if the cursor moves back.
fn append(state: &mut SgrState, line: &[u8]) -> Option<TerminalLine> {
    let mut out = TerminalLine::default();
    let mut column = 0;
    let mut marks = 0;
    let mut rest = line;
    while let Some(&first) = rest.first() {
        let len = match first {
            0x20..=0x7e => {
                let len = rest.iter().position(|b| !matches!(b, 0x20..=0x7e)).unwrap_or(rest.len());
                let fits = len.min(MAX_COLUMNS.saturating_sub(column));
                out.push(std::str::from_utf8(rest.get(..fits)?).ok()?, *state);
                out.cut |= fits < len;
                column += fits;
                marks = 0;
                len
            }
            0x80.. => {
                let len = rest.iter().position(|b| *b < 0x80).unwrap_or(rest.len());
                each_char(rest.get(..len)?, &mut |c, width| {
                    marks = if width == 0 { marks + 1 } else { 0 };
                    if column + width > MAX_COLUMNS {
                        out.cut = true;
                    } else if marks <= MAX_MARKS {
                        column += width;
                        out.push(c.encode_utf8(&mut [0; 4]), *state);
                    }
                });
                len
            }
            0x1b => {
                let (len, sequence) = escape(rest);
                if let Escape::Csi { parameters, last } = sequence {
                    match (last, number(parameters)) {
                        (b'm', _) => state.sgr(parameters),
                        (b'K', 0) => {}
                        (b'K' | b'G', _) => return None,
                        _ => {}
                    }
                }
                len
            }
            b'\r' | 0x08 => return None,
            b'\t' => {
                let stop = ((column / TAB + 1) * TAB).min(MAX_COLUMNS);
                out.push("        ".get(..stop.saturating_sub(column)).unwrap_or_default(), *state);
                column = stop;
                1
            }
            _ => 1,
        };
        rest = rest.get(len..)?;
    }
    Some(out)
}

/// Calls `put` with each character of a run of non-ASCII bytes and its width.
fn each_char(bytes: &[u8], put: &mut dyn FnMut(char, usize)) {
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            if matches!(c, '\u{80}'..='\u{9f}') {
                continue;
            }
            // Joiners are needed in emoji. Those that hide something elsewhere are made visible when the line is drawn.
            if text::is_invisible(c) && !matches!(c, '\u{200c}' | '\u{200d}') {
                format!("<U+{:04X}>", u32::from(c)).chars().for_each(|c| put(c, 1));
            } else {
                put(c, c.width().unwrap_or(1));
            }
        }
        if !chunk.invalid().is_empty() {
            put(char::REPLACEMENT_CHARACTER, 1);
        }
    }
}

/// The content of a column. The right half of a wide character has no character of its own.
struct ColumnContent {
    c: Option<char>,
    marks: String,
    state: SgrState,
}

/// A line whose cursor moves. Columns that were never written, or were erased, have no cell: erasing costs no more than
/// writing did, and nothing for empty columns.
#[derive(Default)]
struct CursorLine {
    written: BTreeMap<usize, ColumnContent>,
    /// The end of the line, one past its last column.
    end: usize,
    column: usize,
    cut: bool,
}

impl CursorLine {
    fn put(&mut self, c: char, width: usize, state: SgrState) {
        if width == 0 {
            return self.mark(c);
        }
        let end = self.column + width;
        if end > MAX_COLUMNS {
            self.cut = true;
            return;
        }
        self.halve(self.column);
        self.halve(end);
        for at in self.column..end {
            let c = (at == self.column).then_some(c);
            self.written.insert(at, ColumnContent { c, marks: String::new(), state });
        }
        self.end = self.end.max(end);
        self.column = end;
    }

    /// Appends a combining mark to the character before the cursor, or to a blank.
    fn mark(&mut self, c: char) {
        let Some(mut at) = self.column.checked_sub(1).filter(|at| *at < self.end) else { return };
        if self.is_right_half(at) {
            at = at.saturating_sub(1);
        }
        let blank = || ColumnContent { c: Some(' '), marks: String::new(), state: SgrState::default() };
        let cell = self.written.entry(at).or_insert_with(blank);
        if cell.marks.chars().count() < MAX_MARKS {
            cell.marks.push(c);
        }
    }

    fn is_right_half(&self, at: usize) -> bool {
        self.written.get(&at).is_some_and(|cell| cell.c.is_none())
    }

    /// Removes a wide character that spans both sides of `at`, where something else starts or ends.
    fn halve(&mut self, at: usize) {
        if self.is_right_half(at) {
            self.written.remove(&at);
            self.written.remove(&at.saturating_sub(1));
        }
    }

    /// Erases as specified by `ESC [ n K`: everything right of the cursor (0), everything left of it (1), or the whole
    /// line.
    fn erase(&mut self, what: u16) {
        match what {
            0 => {
                self.halve(self.column);
                while self.written.last_entry().is_some_and(|last| *last.key() >= self.column) {
                    self.written.pop_last();
                }
                self.end = self.end.min(self.column);
            }
            1 => {
                self.halve(self.column + 1);
                while self.written.first_entry().is_some_and(|first| *first.key() <= self.column) {
                    self.written.pop_first();
                }
            }
            _ => {
                self.written.clear();
                self.end = 0;
            }
        }
    }

    fn into_line(self) -> TerminalLine {
        let mut out = TerminalLine { cut: self.cut, ..TerminalLine::default() };
        let mut column = 0;
        for (at, cell) in self.written {
            out.push(&" ".repeat(at.saturating_sub(column)), SgrState::default());
            if let Some(c) = cell.c {
                out.push(c.encode_utf8(&mut [0; 4]), cell.state);
                out.push(&cell.marks, cell.state);
            }
            column = at + 1;
        }
        out.push(&" ".repeat(self.end.saturating_sub(column)), SgrState::default());
        out
    }
}

/// Parses a line whose cursor moves, such as a progress bar.
fn overwrite(state: &mut SgrState, line: &[u8]) -> TerminalLine {
    parse_rows(state, line, 1).pop().unwrap_or_default()
}

/// Parses lines between which the cursor moves up and down, such as several progress bars. Returns `rows` lines.
pub fn parse_rows(state: &mut SgrState, bytes: &[u8], rows: usize) -> Vec<TerminalLine> {
    // Below the last row is one more, in which a line starts that moves up at once.
    let mut screen: Vec<CursorLine> = (0..=rows).map(|_| CursorLine::default()).collect();
    let mut row = 0;
    let mut rest = bytes;
    while let Some(&first) = rest.first() {
        let Some(cells) = screen.get_mut(row) else { break };
        let mut next_row = row;
        let len = match first {
            0x20..=0x7e => {
                cells.put(char::from(first), 1, *state);
                1
            }
            0x80.. => {
                let len = rest.iter().position(|b| *b < 0x80).unwrap_or(rest.len());
                each_char(rest.get(..len).unwrap_or_default(), &mut |c, width| cells.put(c, width, *state));
                len
            }
            0x1b => {
                let (len, sequence) = escape(rest);
                if let Escape::Csi { parameters, last } = sequence {
                    match (last, number(parameters)) {
                        (b'm', _) => state.sgr(parameters),
                        (b'K', what) => cells.erase(what),
                        (b'G', n) => cells.column = usize::from(n).saturating_sub(1).min(cells.end),
                        (b'A', n) => next_row = row.saturating_sub(n.max(1).into()),
                        (b'B', n) => next_row = row.saturating_add(n.max(1).into()).min(rows.saturating_sub(1)),
                        _ => {}
                    }
                }
                len
            }
            b'\n' => {
                cells.column = 0;
                next_row = (row + 1).min(rows);
                1
            }
            b'\r' => {
                cells.column = 0;
                1
            }
            0x08 => {
                cells.column = cells.column.saturating_sub(1);
                1
            }
            b'\t' => {
                let stop = ((cells.column / TAB + 1) * TAB).min(MAX_COLUMNS);
                while cells.column < stop {
                    cells.put(' ', 1, *state);
                }
                1
            }
            _ => 1,
        };
        if next_row != row {
            let column = cells.column;
            row = next_row;
            if let Some(cells) = screen.get_mut(row) {
                cells.column = column;
            }
        }
        rest = rest.get(len..).unwrap_or_default();
    }
    screen.truncate(rows);
    screen.into_iter().map(CursorLine::into_line).collect()
}

/// The rows to which the cursor moves within a line, relative to the one in which it starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowMoves {
    /// The distances to the topmost and to the lowest of them.
    pub up: usize,
    pub down: usize,
    /// The row at the end, upwards if positive.
    pub end: isize,
    /// Whether there is text in the row in which it starts.
    pub writes_first: bool,
}

/// Returns the moves of the cursor between rows in a line.
pub fn row_moves(line: &[u8]) -> RowMoves {
    let mut moves = RowMoves::default();
    let mut rest = line;
    loop {
        let at = memchr::memchr(0x1b, rest).unwrap_or(rest.len());
        moves.writes_first |= moves.end == 0 && is_visible(rest.get(..at).unwrap_or_default());
        rest = rest.get(at..).unwrap_or_default();
        if rest.is_empty() {
            return moves;
        }
        let (len, sequence) = escape(rest);
        if let Escape::Csi { parameters, last: last @ (b'A' | b'B') } = sequence {
            let n = isize::try_from(number(parameters).max(1)).unwrap_or_default();
            moves.end = moves.end.saturating_add(if last == b'A' { n } else { -n });
            moves.up = moves.up.max(usize::try_from(moves.end).unwrap_or_default());
            moves.down = moves.down.max(usize::try_from(-moves.end).unwrap_or_default());
        }
        rest = rest.get(len..).unwrap_or_default();
    }
}

#[cfg(test)]
mod tests;
