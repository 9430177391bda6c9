//! A terminal's grid of cells, which interprets what is sent to it with a chosen rule for the width of symbols.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The rule by which a terminal decides how many columns text takes.
#[derive(Clone, Copy, Debug)]
pub enum Widths {
    /// Newer terminals: clusters such as emoji with U+FE0F, joined emoji and flags take two columns.
    Clusters,
    /// Older terminals: each character has its own width.
    Characters,
    /// Every character whose width is not the same everywhere takes an arbitrary number of columns, as of a seed.
    Arbitrary(u32),
}

impl Widths {
    fn of(self, c: char) -> usize {
        let usual = c.width().unwrap_or(0);
        let is_certain = matches!(c,
            ..'\u{300}' | '\u{370}'..='\u{52f}' | '\u{2010}'..='\u{25ff}' | '\u{2600}'..='\u{2612}' | '\u{270e}'..='\u{2717}'
            | '\u{2800}'..='\u{28ff}' | '\u{3041}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' | '\u{ff01}'..='\u{ff60}');
        match self {
            Widths::Arbitrary(seed) if !is_certain => (u32::from(c).wrapping_mul(seed) >> 7) as usize % 3,
            _ => usual,
        }
    }
}

/// A cell: its text (none in the right half of a wide symbol), its style as SGR parameters, and its link.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shown {
    pub text: String,
    pub style: Vec<String>,
    pub link: String,
}

/// A terminal without automatic line wrap.
pub struct Emulator {
    widths: Widths,
    columns: usize,
    pub cells: Vec<Shown>,
    x: usize,
    y: usize,
    /// Whether the last column was just written.
    full: bool,
    pen: Shown,
}

impl Emulator {
    pub fn new(columns: u16, rows: u16, widths: Widths) -> Emulator {
        let (columns, rows) = (usize::from(columns), usize::from(rows));
        let cells = vec![blank(); columns * rows];
        Emulator { widths, columns, cells, x: 0, y: 0, full: false, pen: Shown::default() }
    }

    /// Returns the number of columns.
    pub fn columns(&self) -> u16 {
        self.columns as u16
    }

    /// Interprets output.
    pub fn feed(&mut self, bytes: &[u8]) {
        let text = std::str::from_utf8(bytes).expect("UTF-8");
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            rest = &rest[c.len_utf8()..];
            if c != '\x1b' {
                self.put(c);
                continue;
            }
            if let Some(body) = rest.strip_prefix("]8;;") {
                let (address, after) = body.split_once("\x1b\\").expect("the end of a link");
                self.pen.link = address.into();
                rest = after;
                continue;
            }
            let body = rest.strip_prefix('[').expect("a control sequence");
            let end = body.find(|c: char| c.is_ascii_alphabetic()).expect("the end of a control sequence");
            let (parameters, last) = (&body[..end], &body[end..=end]);
            rest = &body[end + 1..];
            self.control(parameters, last);
        }
    }

    fn control(&mut self, parameters: &str, last: &str) {
        match last {
            "H" => {
                let (row, column) = parameters.split_once(';').expect("a position");
                (self.y, self.x) = (row.parse::<usize>().unwrap() - 1, column.parse::<usize>().unwrap() - 1);
                self.full = false;
            }
            "J" => self.cells.fill(blank()),
            "m" if parameters == "0" => self.pen.style.clear(),
            "m" => {
                // Colors replace each other, attributes add up.
                let kind = |code: &str| match code.split(';').next() {
                    Some("38" | "39") => 1,
                    Some("48" | "49") => 2,
                    Some("58" | "59") => 3,
                    _ => 0,
                };
                for code in colors(parameters) {
                    self.pen.style.retain(|known| kind(known) == 0 && *known != code || kind(known) != kind(&code));
                    if !matches!(code.as_str(), "39" | "49" | "59") {
                        self.pen.style.push(code);
                    }
                }
                self.pen.style.sort();
            }
            "h" | "l" => {}
            _ => panic!("ESC [ {parameters} {last}"),
        }
    }

    fn put(&mut self, c: char) {
        if self.join(c) {
            return;
        }
        let width = self.widths.of(c);
        if width == 0 {
            return;
        }
        self.x = self.x.min(self.columns - width);
        self.write(self.x, Shown { text: c.into(), ..self.pen.clone() }, width);
    }

    /// Adds a character to the symbol before the cursor, if it belongs to it.
    fn join(&mut self, c: char) -> bool {
        let Some(mut x) = (if self.full { Some(self.x) } else { self.x.checked_sub(1) }) else { return false };
        let at = |x: usize| self.y * self.columns + x;
        while x > 0 && self.cells[at(x)].text.is_empty() {
            x -= 1;
        }
        let before = self.cells[at(x)].clone();
        let joined = format!("{}{c}", before.text);
        let is_cluster = matches!(self.widths, Widths::Clusters) && joined.graphemes(true).count() == 1;
        if !is_cluster && self.widths.of(c) > 0 {
            return false;
        }
        if is_cluster && joined.width() == 2 && before.text.width() < 2 && x + 1 < self.columns {
            self.write(x, Shown { text: joined, ..before }, 2);
        } else {
            let index = at(x);
            self.cells[index].text = joined;
        }
        true
    }

    /// Writes a symbol, and blanks what it cuts.
    fn write(&mut self, x: usize, shown: Shown, width: usize) {
        let start = self.y * self.columns;
        let row = &mut self.cells[start..start + self.columns];
        if row[x].text.is_empty() {
            let mut left = x;
            while left > 0 && row[left].text.is_empty() {
                left -= 1;
            }
            (left..x).for_each(|at| row[at].text = " ".into());
        }
        let end = x + width;
        for cell in row[end..].iter_mut().take_while(|cell| cell.text.is_empty()) {
            cell.text = " ".into();
        }
        for cell in &mut row[x..end] {
            *cell = Shown { text: String::new(), ..shown.clone() };
        }
        row[x] = shown;
        self.full = end == self.columns;
        self.x = end.min(self.columns - 1);
    }

    /// Returns a row as text.
    pub fn row(&self, y: usize) -> String {
        self.cells[y * self.columns..][..self.columns].iter().map(|cell| cell.text.as_str()).collect()
    }
}

fn blank() -> Shown {
    Shown { text: " ".into(), ..Shown::default() }
}

/// Splits SGR parameters into codes; those of colors keep their components.
fn colors(parameters: &str) -> Vec<String> {
    let mut codes = Vec::new();
    let mut numbers = parameters.split(';');
    while let Some(number) = numbers.next() {
        let components = match number {
            "38" | "48" | "58" => match numbers.next() {
                Some("2") => 3,
                _ => 1,
            },
            _ => 0,
        };
        let color: Vec<&str> = std::iter::once(number).chain(numbers.by_ref().take(components)).collect();
        codes.push(color.join(";"));
    }
    codes
}
