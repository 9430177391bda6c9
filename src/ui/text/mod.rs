//! Text as displayed in a terminal: sanitizing, measuring, cutting, padding and wrapping, and short formats for ages,
//! durations, sizes and counts.

mod message;
mod variation;

use crate::glyph;
pub use domain::text::head_bytes;
pub use message::unwrapped;
use ratatui::buffer::CellWidth;
use std::borrow::Cow;
use std::fmt::Write;
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthChar;

/// Columns between two tab stops.
pub const TAB: usize = 4;

/// Maximum number of combining marks on one character. Further marks are shown as codes; otherwise a hostile line could
/// pile them over neighboring lines.
const MAX_MARKS: u8 = 8;

/// Maximum number of bytes treated as one symbol. A longer grapheme is just a pile of combining marks and is split.
const MAX_SYMBOL_BYTES: usize = 64;

/// The way a character is drawn.
enum CharClass {
    Plain,
    Picture(char),
    Tab,
    Code,
}

/// A classifier of characters in order: some characters are harmless only after certain others.
#[derive(Default)]
struct Sanitizer {
    previous: Option<char>,
    marks: u8,
}

impl Sanitizer {
    fn classify(&mut self, c: char) -> CharClass {
        let class = match c {
            ' '..='~' => {
                self.marks = 0;
                CharClass::Plain
            }
            '\t' => CharClass::Tab,
            '\0'..='\u{1f}' => CharClass::Picture(char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{2426}')),
            '\u{7f}' => CharClass::Picture('\u{2421}'),
            // Joiners are needed in emoji and in scripts from Hebrew onward; in Latin text they can only hide
            // something.
            '\u{200c}' | '\u{200d}' if self.marks < MAX_MARKS && self.previous.is_some_and(|p| p >= '\u{590}') => {
                self.marks += 1;
                CharClass::Plain
            }
            _ if variation::is_selector(c) && !self.previous.is_some_and(|base| variation::has_variant(base, c)) => {
                CharClass::Code
            }
            _ if is_invisible(c) => CharClass::Code,
            _ if c.width() == Some(0) => {
                if self.previous.is_none() || self.marks >= MAX_MARKS {
                    CharClass::Code
                } else {
                    self.marks += 1;
                    CharClass::Plain
                }
            }
            _ => {
                self.marks = 0;
                CharClass::Plain
            }
        };
        match class {
            CharClass::Plain => self.previous = Some(c),
            _ => *self = Sanitizer::default(),
        }
        class
    }
}

/// Returns whether a character is invisible, reorders the text around it, or ends a line.
pub fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{80}'..='\u{9f}' | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
        | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

fn is_clean(text: &str) -> bool {
    if is_printable(text.as_bytes()) {
        return true;
    }
    let mut sanitizer = Sanitizer::default();
    text.chars().all(|c| matches!(sanitizer.classify(c), CharClass::Plain))
}

fn is_printable(bytes: &[u8]) -> bool {
    bytes.iter().all(|b| (0x20..0x7f).contains(b))
}

/// Makes everything in `text` visible that a terminal would interpret, reorder or hide: control characters become
/// pictures (`␛`), other characters codes like `<U+202E>`, tabs spaces. Sanitizing twice changes nothing.
pub fn sanitize(text: &str) -> Cow<'_, str> {
    if is_clean(text) { Cow::Borrowed(text) } else { Cow::Owned(cells(text).map(|piece| piece.symbol).collect()) }
}

/// Removes control characters except line feeds and tabs: they would act as key presses when pasted into a shell, and
/// are not seen in a text area.
pub fn without_controls(text: &str) -> String {
    text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect()
}

/// A symbol of a line as drawn, one or two cells wide.
#[derive(Clone, Debug, PartialEq)]
pub struct TextPiece<'a> {
    /// The source bytes.
    pub at: Range<usize>,
    /// The symbol to draw.
    pub symbol: Cow<'a, str>,
    /// The column, counted from 0 at the start of the line.
    pub column: usize,
    /// The width in columns, never 0.
    pub width: usize,
}

/// Iterates lazily over `text` as it is drawn, one symbol at a time: a line may have ten million bytes.
pub fn cells(text: &str) -> Cells<'_> {
    cells_at(text, 0)
}

/// Iterates like [`cells`] over text that starts at `column` of its line. Tabs are aligned to the line's tab stops.
pub fn cells_at(text: &str, column: usize) -> Cells<'_> {
    Cells { text, at: 0, column, expanded: String::new(), expanded_from: 0..0 }
}

/// The iterator returned by [`cells`].
#[derive(Clone, Debug)]
pub struct Cells<'a> {
    text: &'a str,
    at: usize,
    column: usize,
    /// The rest of the visible replacement of hostile characters.
    expanded: String,
    expanded_from: Range<usize>,
}

impl Cells<'_> {
    /// Returns the column after the last symbol.
    pub fn column(&self) -> usize {
        self.column
    }

    /// Returns the byte and the column of the next symbol, or `None` inside the replacement of a character, where no
    /// walk can start.
    pub fn position(&self) -> Option<(usize, usize)> {
        self.expanded.is_empty().then_some((self.at, self.column))
    }

    /// Skips whole symbols until the next one would extend beyond `column`. Skipping plain ASCII is cheap.
    pub fn skip_to(&mut self, column: usize) {
        while self.column < column {
            if self.expanded.is_empty() {
                let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
                let want = (column - self.column).min(rest.len());
                let run = rest.iter().take(want).position(|b| !(0x20..0x7f).contains(b)).unwrap_or(want);
                // Combining marks may follow the last byte of the run.
                let run = run.saturating_sub(1);
                if run > 0 {
                    self.at += run;
                    self.column += run;
                    continue;
                }
            }
            let before = self.clone();
            match self.next() {
                None => return,
                Some(piece) if piece.column + piece.width > column => {
                    *self = before;
                    return;
                }
                Some(_) => {}
            }
        }
    }

    fn step(&mut self, at: Range<usize>, symbol: Cow<'_, str>) -> (Range<usize>, usize, usize) {
        let width = symbol_width(&symbol);
        let column = self.column;
        self.column += width;
        (at, column, width)
    }
}

impl<'a> Iterator for Cells<'a> {
    type Item = TextPiece<'a>;

    fn next(&mut self) -> Option<TextPiece<'a>> {
        loop {
            if let Some(c) = self.expanded.chars().next() {
                self.expanded.remove(0);
                let symbol = c.to_string();
                let (at, column, width) = self.step(self.expanded_from.clone(), Cow::Borrowed(&symbol));
                return Some(TextPiece { at, symbol: Cow::Owned(symbol), column, width });
            }
            let text: &'a str = self.text;
            let bytes = text.as_bytes();
            let first = *bytes.get(self.at)?;
            let alone = bytes.get(self.at + 1).is_none_or(u8::is_ascii);
            if alone && (0x20..0x7f).contains(&first) {
                let at = self.at..self.at + 1;
                self.at += 1;
                let column = self.column;
                self.column += 1;
                return Some(TextPiece { symbol: Cow::Borrowed(text.get(at.clone())?), at, column, width: 1 });
            }
            if is_box_drawing(bytes.get(self.at..)?) {
                let at = self.at..self.at + 3;
                self.at = at.end;
                let column = self.column;
                self.column += 1;
                return Some(TextPiece { symbol: Cow::Borrowed(text.get(at.clone())?), at, column, width: 1 });
            }
            let grapheme = head_bytes(text.get(self.at..)?, MAX_SYMBOL_BYTES).graphemes(true).next()?;
            let at = self.at..self.at + grapheme.len();
            self.at = at.end;
            if is_clean(grapheme) {
                let (at, column, width) = self.step(at, Cow::Borrowed(grapheme));
                if width > 0 {
                    return Some(TextPiece { at, symbol: Cow::Borrowed(grapheme), column, width });
                }
                continue;
            }
            self.expanded_from = at;
            let mut sanitizer = Sanitizer::default();
            for c in grapheme.chars() {
                match sanitizer.classify(c) {
                    CharClass::Plain => self.expanded.push(c),
                    CharClass::Picture(picture) => self.expanded.push(picture),
                    CharClass::Tab => self.expanded.extend(std::iter::repeat_n(' ', TAB - self.column % TAB)),
                    CharClass::Code => {
                        let _ = write!(self.expanded, "<U+{:04X}>", u32::from(c));
                    }
                }
            }
        }
    }
}

/// Returns whether `bytes` start with a single box-drawing character (U+2500 to U+257F) without combining marks. These
/// are most of the non-ASCII characters on a screen full of comments and tables, and finding grapheme boundaries is
/// expensive.
fn is_box_drawing(bytes: &[u8]) -> bool {
    let is_line = |bytes: &[u8]| matches!(bytes, [0xe2, 0x94 | 0x95, _, ..]);
    is_line(bytes) && bytes.get(3..).is_none_or(|rest| rest.first().is_none_or(u8::is_ascii) || is_line(rest))
}

/// Returns the width of a grapheme in columns, as the buffer counts them.
fn symbol_width(symbol: &str) -> usize {
    usize::from(symbol.cell_width())
}

/// Returns the width of `text` in columns when drawn.
pub fn width(text: &str) -> usize {
    if is_printable(text.as_bytes()) { text.len() } else { cells(text).map(|piece| piece.width).sum() }
}

/// Returns the width like [`width`], but stops counting at `limit`, for text that may be very long.
pub fn width_up_to(text: &str, limit: usize) -> usize {
    if text.len() <= limit && is_printable(text.as_bytes()) {
        return text.len();
    }
    let mut total = 0;
    for piece in cells(text) {
        total += piece.width;
        if total >= limit {
            return limit;
        }
    }
    total
}

/// Returns the columns in which the bytes of `text` are drawn, for highlighting a match.
pub fn columns(text: &str, bytes: Range<usize>) -> Range<usize> {
    let printable = text.as_bytes().get(..bytes.end).is_some_and(is_printable);
    // A mark after the range may join its last character, but adds no column.
    if printable {
        return bytes;
    }
    let (mut from, mut to) = (None, 0);
    for piece in cells(text).take_while(|piece| piece.at.start < bytes.end) {
        to = piece.column + piece.width;
        if piece.at.end > bytes.start {
            from = from.or(Some(piece.column));
        }
    }
    from.unwrap_or(to)..to
}

/// Returns `text` with its first letter in upper case.
pub fn capitalize(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Returns at most `width` columns of the start of `text`, without a mark at the cut.
pub fn head(text: &str, width: usize) -> String {
    let mut out = String::new();
    for piece in cells(text).take_while(|piece| piece.column + piece.width <= width) {
        out.push_str(&piece.symbol);
    }
    out
}

/// Sanitizes `text` and cuts its end with `…` to fit into `width` columns.
pub fn fit(text: &str, width: usize) -> String {
    if width == 0 {
        return String::new();
    }
    if width_up_to(text, width + 1) <= width {
        return sanitize(text).into_owned();
    }
    let mut out = head(text, width - 1);
    out.push_str(glyph::ellipsis());
    out
}

/// Returns the initials of a person's name: the first letters of its first and its last word.
pub fn initials(name: &str) -> String {
    let mut words = name.split_whitespace().filter_map(|word| word.chars().find(|c| c.is_alphanumeric()));
    let (first, last) = (words.next(), words.next_back());
    first.into_iter().chain(last).flat_map(char::to_uppercase).collect()
}

/// Returns the number of columns that remain at the end of `text` when its middle is cut for `width` columns: of a path,
/// the name and as many whole folders as fit.
pub fn tail_width(text: &str, width: usize) -> usize {
    let is_path = !text.contains(char::is_whitespace);
    let tails = text.match_indices('/').filter_map(|(at, _)| text.get(at..)).filter(|tail| is_path && tail.len() > 1);
    let fitting = tails.map(|tail| width_up_to(tail, width)).find(|tail| *tail < width);
    fitting.unwrap_or(width.saturating_sub(1) * 3 / 5)
}

/// Sanitizes `text` and cuts its middle with `…` to fit into `width` columns, as for paths: both ends matter, the last
/// one more.
pub fn fit_middle(text: &str, width: usize) -> String {
    if width < 5 || width_up_to(text, width + 1) <= width || text.len() > 64 * 1024 {
        return fit(text, width);
    }
    let pieces: Vec<TextPiece> = cells(text).collect();
    let end = tail_width(text, width);
    let mut used = 0;
    let mut from = pieces.len();
    while let Some(piece) = from.checked_sub(1).and_then(|i| pieces.get(i)) {
        if used + piece.width > end {
            break;
        }
        used += piece.width;
        from -= 1;
    }
    let mut out = head(text, width - 1 - used);
    out.push_str(glyph::ellipsis());
    out.extend(pieces.iter().skip(from).map(|piece| piece.symbol.as_ref()));
    out
}

/// Returns the length in bytes of the blanks that all lines with text start with.
pub fn common_indent<'a>(lines: impl IntoIterator<Item = &'a str>) -> usize {
    let mut lines = lines.into_iter().filter(|line| !line.trim().is_empty());
    let Some(first) = lines.next() else { return 0 };
    let blanks = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
    lines.fold(blanks(first), |indent, line| {
        first.bytes().zip(line.bytes()).take(indent).take_while(|(a, b)| a == b).count()
    })
}

/// Sanitizes a path and cuts its folders with `…` to fit into `width` columns. The name stays whole if it fits, and the
/// first folder, or its beginning, tells it from another path with that name.
pub fn fit_folder(path: &str, width: usize) -> String {
    if width_up_to(path, width + 1) <= width {
        return sanitize(path).into_owned();
    }
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let room = width.saturating_sub(width_up_to(name, width) + 1);
    if room == 0 || folder.is_empty() {
        return fit_middle(name, width);
    }
    let first = folder.split('/').next().unwrap_or(folder);
    let left = room.checked_sub(width_up_to(first, width) + 2).filter(|_| first.len() < folder.len());
    let Some(left) = left else { return format!("{}/{}", fit(folder, room), sanitize(name)) };
    // From the end, so that a path of any length costs no more than what is shown.
    let rests = folder.rmatch_indices('/').filter_map(|(at, _)| folder.get(at..));
    let rest = rests.take_while(|rest| width_up_to(rest, left + 1) <= left).last().unwrap_or_default();
    format!("{}/{}{}/{}", sanitize(first), glyph::ellipsis(), sanitize(rest), sanitize(name))
}

/// Cuts `text` with `…` or appends spaces to fill exactly `width` columns.
pub fn pad(text: &str, width: usize) -> String {
    let mut out = fit(text, width);
    let used = self::width(&out);
    out.extend(std::iter::repeat_n(' ', width.saturating_sub(used)));
    out
}

/// Cuts `text` with `…` or prepends spaces to fill exactly `width` columns.
pub fn pad_left(text: &str, width: usize) -> String {
    let fitted = fit(text, width);
    let mut out = " ".repeat(width.saturating_sub(self::width(&fitted)));
    out.push_str(&fitted);
    out
}

/// Wraps `text` into lines of at most `width` columns, at spaces if possible, and keeps its line breaks. Returns at
/// most `limit` lines; the last one is cut with `…` if text is omitted.
pub fn wrap(text: &str, width: usize, limit: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    if width == 0 || limit == 0 {
        return lines;
    }
    // Text after the last line is not examined.
    let max_bytes = limit.saturating_add(1).saturating_mul(width).saturating_mul(MAX_SYMBOL_BYTES);
    'lines: for source in text.lines() {
        // The last line may end with a carriage return alone.
        let source = head_bytes(source.trim_end_matches('\r'), max_bytes);
        let mut line = String::new();
        let mut used = 0;
        for word in unbroken(source, width) {
            if lines.len() > limit {
                break 'lines;
            }
            let blank = word.chars().all(char::is_whitespace);
            let wide = width_up_to(word, width + 1);
            if used + wide <= width {
                if !(blank && used == 0 && !lines.is_empty()) {
                    line.push_str(&sanitize(word));
                    used += wide;
                }
                continue;
            }
            if used > 0 {
                lines.push(line.trim_end().to_string());
                line = String::new();
                used = 0;
            }
            if blank {
                continue;
            }
            // A word longer than a line is split anywhere.
            for piece in cells(word) {
                if used + piece.width > width && used > 0 {
                    lines.push(std::mem::take(&mut line));
                    used = 0;
                    if lines.len() > limit {
                        break 'lines;
                    }
                }
                line.push_str(&piece.symbol);
                used += piece.width;
            }
        }
        lines.push(line.trim_end().to_string());
    }
    if lines.len() > limit {
        lines.truncate(limit);
        if let Some(last) = lines.last_mut() {
            let kept = head(last, width - 1);
            *last = format!("{}{}", kept.trim_end(), glyph::ellipsis());
        }
    }
    lines
}

/// Iterates over the pieces between which a line may be broken: spaces, and what is between them. What does not fit
/// into `width` columns, such as a long path, is broken at words; there, punctuation stays with the word before it, and
/// an opening bracket with the word after it.
fn unbroken(source: &str, width: usize) -> impl Iterator<Item = &str> {
    let mut words = source.split_word_bound_indices().peekable();
    std::iter::from_fn(move || {
        let (start, first) = words.next()?;
        let mut last = first;
        let mut end = start + first.len();
        let mut used = width_up_to(first, width + 1);
        while let Some((at, next)) = words.peek().copied() {
            let closes = next.chars().all(|c| matches!(c, '.' | ',' | ';' | ':' | '?' | '!' | ')' | ']' | '}' | '…'));
            let opens = last.chars().all(|c| matches!(c, '(' | '[' | '{' | '@' | '#'));
            let blank = [last, next].iter().any(|word| word.chars().all(char::is_whitespace));
            used += width_up_to(next, width + 1);
            let fits = used <= width && ![last.chars().next_back(), next.chars().next()].into_iter().any(is_unspaced);
            if blank || !(closes || opens || fits) {
                break;
            }
            (last, end) = (next, at + next.len());
            words.next();
        }
        source.get(start..end)
    })
}

/// Returns whether a character belongs to a script without spaces between words, such as Chinese or Thai.
fn is_unspaced(c: Option<char>) -> bool {
    c.is_some_and(|c| c.width() == Some(2) || matches!(c, '\u{e00}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'))
}

/// Formats an age in seconds briefly: `now`, `3m`, `3h`, `2d`, `5w`, `1y`; the future as `in 3m`.
pub fn short_age(seconds: i64) -> String {
    let s = seconds.unsigned_abs();
    let (minute, hour, day) = (60, 3_600, 86_400);
    let words = match s {
        _ if s < minute => return "now".into(),
        _ if s < hour => format!("{}m", s / minute),
        _ if s < day => format!("{}h", s / hour),
        _ if s < 7 * day => format!("{}d", s / day),
        _ if s < 365 * day => format!("{}w", s / (7 * day)),
        _ => format!("{}y", s / (365 * day)),
    };
    if seconds < 0 { format!("in {words}") } else { words }
}

/// Formats a duration in seconds: `48s`, `3m 12s`, `1h 02m`, `2d 03h`.
pub fn duration(seconds: f64) -> String {
    // The cast saturates: negative numbers and NaN become 0.
    let s = seconds as u64;
    let (minutes, hours, days) = (s / 60, s / 3_600, s / 86_400);
    match s {
        0..60 => format!("{s}s"),
        60..3_600 => format!("{minutes}m {:02}s", s % 60),
        3_600..86_400 => format!("{hours}h {:02}m", minutes % 60),
        _ => format!("{days}d {:02}h", hours % 24),
    }
}

/// Formats a size in bytes: `512 B`, `13.1 kB`, `2.0 MB`.
pub fn bytes(size: u64) -> String {
    if size < 1000 {
        return format!("{size} B");
    }
    let mut value = size as f64 / 1000.0;
    let mut unit = "kB";
    for next in ["MB", "GB", "TB", "PB", "EB"] {
        // 999.95 would be printed as 1000.0.
        if value < 999.95 {
            break;
        }
        value /= 1000.0;
        unit = next;
    }
    format!("{value:.1} {unit}")
}

/// Formats the size of a part, and that of the whole if it is known: `12.0 MB of 100.0 MB`.
pub fn bytes_of(part: u64, whole: Option<u64>) -> String {
    match whole {
        Some(whole) => format!("{} of {}", bytes(part), bytes(whole)),
        None => bytes(part),
    }
}

/// Formats a number with a noun: `1 note`, `1,024 notes`. `noun` is singular and forms its plural with an s.
pub fn count_noun(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", count(number), if number == 1 { "" } else { "s" })
}

/// Formats a number with thousands separators: `1,024`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clean_text_is_not_copied() {
        for text in ["", "fn main() {}", "Grüße, 世界 👩‍💻", "cafe\u{301}", "می\u{200c}خواهم"] {
            assert!(matches!(sanitize(text), Cow::Borrowed(_)), "{text:?}");
        }
    }

    #[test]
    fn a_path_loses_folders_before_its_name() {
        let path = "pkg/git_commands/working_tree.go";
        for (width, cut) in [
            (40, path),
            (31, "pkg/…/working_tree.go"),
            (20, "pkg…/working_tree.go"),
            (17, "…/working_tree.go"),
            (15, "working_tree.go"),
            (12, "worki…ree.go"),
            (0, ""),
        ] {
            assert_eq!(fit_folder(path, width), cut, "{width}");
        }
        let deep = "pkg/commands/git_commands/working_tree.go";
        assert_eq!(fit_folder(deep, 36), "pkg/…/git_commands/working_tree.go");
        // The same names in several folders stay different.
        assert_eq!(fit_folder("src/ui/table.rs", 13), "src…/table.rs");
        assert_eq!(fit_folder("tests/table.rs", 13), "tes…/table.rs");
        for hostile in ["/", "//////////", "a/\u{1b}[31m/世界世界世界", &"a/".repeat(5_000)] {
            assert!((0..12).all(|columns| width(&fit_folder(hostile, columns)) <= columns), "{hostile:?}");
        }
    }

    #[test]
    fn blanks_that_all_lines_start_with_are_measured() {
        assert_eq!(common_indent(["    a", "", "  b", "  \tc"]), 2);
        assert_eq!(common_indent(["\ta", "  b"]), 0);
        assert_eq!(common_indent(["  ", ""]), 0);
        assert_eq!(common_indent(["  世", "  界"]), 2);
    }

    #[test]
    fn control_characters_are_shown() {
        assert_eq!(sanitize("a\u{1b}[31mb\r\n\u{7f}\0"), "a␛[31mb␍␊␡␀");
        assert_eq!(sanitize("\u{9b}31m"), "<U+009B>31m");
        assert_eq!(sanitize("if \u{202e}x\u{2066}\u{2028}"), "if <U+202E>x<U+2066><U+2028>");
        assert_eq!(sanitize("pass\u{200b}word\u{200d}s\u{feff}\u{ad}"), "pass<U+200B>word<U+200D>s<U+FEFF><U+00AD>");
        assert_eq!(sanitize("\u{301}x"), "<U+0301>x");
        assert_eq!(sanitize("a\tb\t世\tc"), "a   b   世  c");
    }

    #[test]
    fn copied_and_pasted_text_keeps_lines_and_tabs_and_no_other_control_character() {
        assert_eq!(without_controls("fix: a\r\n\tb\u{1b}[31m\u{7f}\u{9b}2J\u{0}é"), "fix: a\n\tb[31m2Jé");
    }

    #[test]
    fn an_endless_word_is_read_only_as_far_as_shown() {
        for letter in ["a", "日"] {
            let word = letter.repeat(1 << 20);
            let (lines, cost) = crate::cost::cost(|| wrap(&word, 40, 3));
            assert_eq!(lines.len(), 3);
            assert!(lines.iter().all(|line| width(line) <= 40) && lines[2].ends_with('…'), "{lines:?}");
            assert!(cost.allocated < 64 * 1024, "{} bytes", cost.allocated);
        }
    }

    #[test]
    fn stacked_combining_marks_are_walked_one_by_one() {
        let pile = format!("a{}b", "\u{301}".repeat(50_000));
        let (columns, cost) = crate::cost::cost(|| cells(&pile).last().map(|piece| piece.column));
        assert!(columns.is_some_and(|columns| columns > 49_000 * "<U+0301>".len()));
        assert!(cost.peak < 64 * 1024, "{} bytes held", cost.peak);
    }

    #[test]
    fn combining_marks_are_limited() {
        let text = format!("a{}", "\u{301}".repeat(9));
        assert_eq!(sanitize(&text), format!("a{}<U+0301>", "\u{301}".repeat(8)));
    }

    #[test]
    fn characters_that_move_the_cursor_or_hide_text_are_removed() {
        for code in 0..0x11_0000 {
            let Some(c) = char::from_u32(code) else { continue };
            let text = format!("a{c}b");
            let out = sanitize(&text);
            assert!(!out.chars().any(|c| c.is_control() || is_invisible(c)), "U+{code:04X}");
            assert!(sanitize(&out) == out, "U+{code:04X} twice");
        }
    }

    #[test]
    fn widths_match_the_buffer() {
        for text in ["", "abc", "世界", "e\u{301}", "👩‍💻x", "a\tb", "\u{1b}", "ｶﾞ", "\u{202e}", "🇩🇪"]
        {
            let mut buf = ratatui::buffer::Buffer::empty(ratatui::layout::Rect::new(0, 0, 40, 1));
            let (x, _) = buf.set_stringn(0, 0, sanitize(text), 40, ratatui::style::Style::new());
            assert_eq!(usize::from(x), width(text), "{text:?}");
            assert_eq!(width_up_to(text, 1_000), width(text), "{text:?}");
        }
    }

    #[test]
    fn truncation_never_splits_a_wide_character() {
        assert_eq!(fit("世界世界", 8), "世界世界");
        assert_eq!(fit("世界世界", 7), "世界世…");
        assert_eq!(fit("世界世界", 6), "世界…");
        assert_eq!(fit("abc", 1), "…");
        assert_eq!(fit("abc", 0), "");
        for width in 0..12 {
            for text in ["世界世界世", "a世b界c", "plain text here", "x\u{1b}\u{202e}y"] {
                assert!(self::width(&fit(text, width)) <= width);
                assert!(self::width(&fit_middle(text, width)) <= width);
                assert_eq!(self::width(&pad(text, width)), width);
                assert_eq!(self::width(&pad_left(text, width)), width);
            }
        }
    }

    #[test]
    fn a_path_is_truncated_in_the_middle() {
        assert_eq!(fit_middle("src/render/frame.rs", 19), "src/render/frame.rs");
        assert_eq!(fit_middle("src/render/frame.rs", 15), "src/r…/frame.rs");
        assert_eq!((initials("Ada M. Sommer"), initials("bo"), initials(" - ")), ("AS".into(), "B".into(), "".into()));
        assert_eq!(fit_middle("pkg/commands/git_commands/working_tree.go", 30), "…/git_commands/working_tree.go");
        assert_eq!(fit_middle("pkg/commands/working_tree.go", 12), "pkg/c…ree.go");
        assert_eq!(fit_middle("and/or a text with words", 12), "and/o… words");
    }

    #[test]
    fn box_drawing_is_walked_like_graphemes() {
        for text in ["──┼──", "─\u{301}─", "╭─ ü ─╮", "│a│\u{301}", "\u{257f}\u{2580}", "─", "─\u{200d}─", "─\t│\u{1b}"]
        {
            let walked: Vec<String> = cells(text).map(|piece| piece.symbol.into_owned()).collect();
            let graphemes: Vec<String> =
                text.graphemes(true).flat_map(|g| cells(g).map(|p| p.symbol.into_owned())).collect();
            assert_eq!(walked.concat().replace(' ', ""), graphemes.concat().replace(' ', ""), "{text:?}");
            let plain = text.graphemes(true).all(is_clean);
            assert!(!plain || walked.iter().map(String::as_str).eq(text.graphemes(true)), "{text:?}");
        }
    }

    #[test]
    fn walking_can_start_at_a_column() {
        let line = format!("{}世\u{1b}x", "a".repeat(100));
        let mut walk = cells(&line);
        walk.skip_to(101);
        let next = walk.next().unwrap();
        assert_eq!((next.symbol.as_ref(), next.column), ("世", 100), "a wide symbol across the edge is not passed");
        let mut walk = cells(&line);
        walk.skip_to(102);
        assert_eq!(walk.map(|p| p.symbol).collect::<String>(), "␛x");
        let mut walk = cells("e\u{301}f");
        walk.skip_to(1);
        assert_eq!(walk.next().unwrap().symbol, "f");
    }

    #[test]
    fn a_match_is_found_by_its_columns() {
        assert_eq!(columns("plain text", 6..10), 6..10);
        assert_eq!(columns("世界\tabc", 7..10), 8..11);
        assert_eq!(columns("\u{1b}x", 1..2), 1..2);
        assert_eq!(columns("世", 90..95), 2..2);
    }

    #[test]
    fn lines_break_at_words_and_mark_truncation() {
        assert_eq!(wrap("the quick brown fox", 10, 9), ["the quick", "brown fox"]);
        assert_eq!(wrap("one\n\ntwo", 10, 9), ["one", "", "two"]);
        assert_eq!(wrap("abcdefghij", 4, 9), ["abcd", "efgh", "ij"]);
        assert_eq!(wrap("fix: a\r\n\r\nbecause\r", 10, 9), ["fix: a", "", "because"]);
        assert_eq!(wrap("世界世界", 5, 9), ["世界", "世界"]);
        // Punctuation never starts a line, and an opening bracket never ends one.
        assert_eq!(wrap("it is gone: really (yes)?", 10, 9), ["it is", "gone:", "really", "(yes)?"]);
        assert_eq!(wrap("of @bo, and", 6, 9), ["of", "@bo,", "and"]);
        assert_eq!(wrap("a b c d e f", 3, 2), ["a b", "c…"]);
        // What has no spaces stays whole while it fits into a line, except in scripts that have none.
        assert_eq!(wrap("use group/project@REF:PATH:LINE", 30, 9), ["use", "group/project@REF:PATH:LINE"]);
        assert_eq!(wrap("or a@b.example, x-y's 1/2", 12, 9), ["or", "a@b.example,", "x-y's 1/2"]);
        assert_eq!(wrap("in src/parts/list/mod.rs", 12, 9), ["in", "src/parts/", "list/mod.rs"]);
        assert_eq!(wrap("of 世界世界", 7, 9), ["of 世界", "世界"]);
        assert!(wrap("x", 0, 3).is_empty());
    }

    #[test]
    fn ages_durations_sizes_and_counts_are_short() {
        let ages = [0, 59, 60, 3_599, 3_600, 86_399];
        assert_eq!(ages.map(short_age), ["now", "now", "1m", "59m", "1h", "23h"]);
        let days = [1, 6, 7, 36, 364, 365, 800];
        assert_eq!(days.map(|days| short_age(days * 86_400)), ["1d", "6d", "1w", "5w", "52w", "1y", "2y"]);
        assert_eq!(short_age(-180), "in 3m");
        assert_eq!(short_age(i64::MIN).split(' ').next(), Some("in"));
        assert_eq!(
            [48.9, 62.0, 3_720.0, 183_600.0, f64::NAN, -4.0].map(duration),
            ["48s", "1m 02s", "1h 02m", "2d 03h", "0s", "0s"]
        );
        assert_eq!(
            [0, 999, 1_000, 13_100, 999_949, 999_950, 999_999, u64::MAX].map(bytes),
            ["0 B", "999 B", "1.0 kB", "13.1 kB", "999.9 kB", "1.0 MB", "1.0 MB", "18.4 EB"]
        );
        assert_eq!([0, 999, 1_000, 1_234_567].map(count), ["0", "999", "1,000", "1,234,567"]);
    }
}
