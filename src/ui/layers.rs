//! Paints one line of text from layers of styles: syntax, tints, changed words, matches. What comes out is safe to draw:
//! tabs are blanks, and control and bidi characters are visible text.

use ratatui::style::Style;
use ratatui::text::Span;
use std::ops::Range;
use unicode_width::UnicodeWidthChar;

/// Sorted byte ranges, none over another, and what each adds to the look of its text.
pub type Layer<'a> = &'a [(Range<usize>, Style)];

/// Columns between the tab stops of source text.
pub const TAB: usize = 4;

/// Marks that may stand on one character; more of them only serve to paint over the lines around.
const MARKS: usize = 8;

/// What must be shown in the place of `c`; `None` for characters that may be drawn as they are.
pub fn escaped(c: char) -> Option<String> {
    match c {
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)).map(String::from),
        '\u{7f}' => Some("\u{2421}".into()),
        '\u{80}'..='\u{9f}'
        | '\u{ad}'
        | '\u{61c}'
        | '\u{180e}'
        | '\u{200b}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}' => Some(format!("<U+{:04X}>", u32::from(c))),
        _ => None,
    }
}

/// `text` in the columns `window`, as spans of equal style. Every layer is laid over the ones before it, all of them over
/// `base`. The work ends at the window's right edge.
pub fn paint(text: &str, base: Style, layers: &[Layer<'_>], window: Range<usize>) -> Vec<Span<'static>> {
    let mut out = Painter { spans: Vec::new(), text: String::new(), style: base, column: 0, marks: 0, window };
    let mut heads = vec![0usize; layers.len()];
    let mut at = 0;
    while at < text.len() && out.column < out.window.end {
        let (style, next) = style_at(at, text.len(), base, layers, &mut heads);
        let mut end = next.max(at + 1);
        while !text.is_char_boundary(end) {
            end += 1;
        }
        out.turn(style);
        out.put(text.get(at..end).unwrap_or_default());
        at = end;
    }
    out.flush();
    out.spans
}

/// The style at a byte, and the next byte at which it may be another one.
fn style_at(at: usize, len: usize, base: Style, layers: &[Layer<'_>], heads: &mut [usize]) -> (Style, usize) {
    let mut style = base;
    let mut next = len;
    for (layer, head) in layers.iter().zip(heads.iter_mut()) {
        while layer.get(*head).is_some_and(|(range, _)| range.end <= at) {
            *head += 1;
        }
        if let Some((range, patch)) = layer.get(*head) {
            if range.start <= at {
                style = style.patch(*patch);
                next = next.min(range.end);
            } else {
                next = next.min(range.start);
            }
        }
    }
    (style, next)
}

struct Painter {
    spans: Vec<Span<'static>>,
    text: String,
    style: Style,
    column: usize,
    marks: usize,
    window: Range<usize>,
}

impl Painter {
    fn turn(&mut self, style: Style) {
        if style != self.style {
            self.flush();
            self.style = style;
        }
    }

    fn flush(&mut self) {
        if !self.text.is_empty() {
            self.spans.push(Span::styled(std::mem::take(&mut self.text), self.style));
        }
    }

    fn put(&mut self, text: &str) {
        if text.bytes().all(|b| (0x20..0x7f).contains(&b)) {
            let from = self.window.start.saturating_sub(self.column).min(text.len());
            let to = self.window.end.saturating_sub(self.column).min(text.len());
            self.text.push_str(text.get(from..to).unwrap_or_default());
            self.column += text.len();
            self.marks = 0;
            return;
        }
        for c in text.chars() {
            if self.column >= self.window.end && c.width() != Some(0) {
                return;
            }
            if c == '\t' {
                let stop = (self.column / TAB + 1) * TAB;
                while self.column < stop {
                    self.cell(' ', 1);
                }
            } else if let Some(shown) = escaped(c) {
                for c in shown.chars() {
                    self.cell(c, c.width().unwrap_or(1));
                }
            } else {
                self.cell(c, c.width().unwrap_or(1));
            }
        }
    }

    fn cell(&mut self, c: char, width: usize) {
        if width == 0 {
            self.marks += 1;
            if self.marks <= MARKS && self.column > self.window.start {
                self.text.push(c);
            }
            return;
        }
        self.marks = 0;
        let (from, to) = (self.column, self.column + width);
        self.column = to;
        if from >= self.window.start && to <= self.window.end {
            self.text.push(c);
        } else {
            // Half of a wide character at an edge of the window: a blank keeps the columns.
            for column in from..to {
                if self.window.contains(&column) {
                    self.text.push(' ');
                }
            }
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use ratatui::style::Modifier;

    /// A small generator (xorshift), so that hostile input is the same in every run.
    pub(crate) struct Noise(pub u64);

    impl Noise {
        pub(crate) fn next(&mut self) -> u64 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            self.0
        }

        pub(crate) fn below(&mut self, n: usize) -> usize {
            (self.next() % n.max(1) as u64) as usize
        }

        /// Bytes of which most are taken from `likely`.
        pub(crate) fn bytes(&mut self, len: usize, likely: &[&[u8]]) -> Vec<u8> {
            let mut out = Vec::new();
            while out.len() < len {
                if likely.is_empty() || self.below(4) == 0 {
                    out.push(self.next() as u8);
                } else {
                    let pick = self.below(likely.len());
                    out.extend_from_slice(likely[pick]);
                }
            }
            out
        }
    }

    fn text(spans: &[Span<'_>]) -> String {
        spans.iter().map(|s| s.content.as_ref()).collect()
    }

    #[test]
    fn layers_add_to_one_another() {
        let bold = Style::new().add_modifier(Modifier::BOLD);
        let italic = Style::new().add_modifier(Modifier::ITALIC);
        let spans = paint("abcdef", Style::new(), &[&[(1..4, bold)], &[(3..5, italic)]], 0..80);
        let seen: Vec<_> = spans.iter().map(|s| (s.content.as_ref(), s.style.add_modifier)).collect();
        assert_eq!(
            seen,
            [
                ("a", Modifier::empty()),
                ("bc", Modifier::BOLD),
                ("d", Modifier::BOLD | Modifier::ITALIC),
                ("e", Modifier::ITALIC),
                ("f", Modifier::empty()),
            ]
        );
    }

    #[test]
    fn a_window_keeps_columns_and_control_characters_are_shown() {
        assert_eq!(text(&paint("\tab\x1b[c", Style::new(), &[], 0..80)), "    ab␛[c");
        assert_eq!(text(&paint("日本語", Style::new(), &[], 1..5)), " 本 ");
        assert_eq!(text(&paint("a\u{202e}b", Style::new(), &[], 0..80)), "a<U+202E>b");
        assert_eq!(text(&paint("abcdef", Style::new(), &[], 2..4)), "cd");
        assert_eq!(text(&paint("e\u{301}x", Style::new(), &[], 0..1)), "e\u{301}");
    }

    #[test]
    fn no_text_and_no_ranges_break_it() {
        let mut noise = Noise(7);
        for _ in 0..500 {
            let bytes = noise.bytes(60, &["é".as_bytes(), "日".as_bytes(), b"\t", b"a"]);
            let line = String::from_utf8_lossy(&bytes).into_owned();
            let layer: Vec<_> =
                (0..5).map(|_| (noise.below(80)..noise.below(80), Style::new().add_modifier(Modifier::BOLD))).collect();
            let (from, to) = (noise.below(20), noise.below(90));
            let spans = paint(&line, Style::new(), &[&layer], from..to);
            assert!(text(&spans).chars().all(|c| !c.is_control()));
        }
    }
}
