//! The files of a diff as one document of rows: a row for each file, for each hunk, for each line.

use super::{FileDiff, HunkStyles, Kind, Line};
use crate::ui::code;
use crate::ui::doc::DocLine;
use crate::ui::layers::blend;
use crate::ui::search::{self, Found};
use crate::ui::theme::{Role, Theme};
use ratatui::style::Style;
use regex::Regex;
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

/// What stands in a row; numbers count from 0, lines within their file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    File {
        file: usize,
    },
    /// Why there is nothing to see of a file.
    Note {
        file: usize,
    },
    Hunk {
        file: usize,
        hunk: usize,
    },
    Line {
        file: usize,
        hunk: usize,
        line: usize,
    },
}

impl Place {
    pub fn file(self) -> usize {
        match self {
            Place::File { file } | Place::Note { file } | Place::Hunk { file, .. } | Place::Line { file, .. } => file,
        }
    }
}

/// The changed files, addressed by rows. Copies are cheap, for a search off the loop.
#[derive(Clone, Debug, Default)]
pub struct DiffDoc {
    files: Vec<Arc<FileDiff>>,
    folded: BTreeSet<usize>,
    /// The row of each file, and behind them the number of rows.
    starts: Vec<usize>,
    digits: usize,
    styles: HashMap<(usize, usize), Arc<HunkStyles>>,
}

impl DiffDoc {
    pub fn new(files: Vec<Arc<FileDiff>>) -> DiffDoc {
        let highest = files.iter().map(|file| file.highest()).max().unwrap_or(0);
        let digits = highest.max(100).ilog10() as usize + 1;
        let mut doc = DiffDoc { files, digits, ..DiffDoc::default() };
        doc.arrange();
        doc
    }

    fn arrange(&mut self) {
        let mut row = 0;
        self.starts.clear();
        for (at, file) in self.files.iter().enumerate() {
            self.starts.push(row);
            row += 1 + match () {
                () if self.folded.contains(&at) => 0,
                () if file.lines.is_empty() => 1,
                () => file.hunks.len() + file.lines.len(),
            };
        }
        self.starts.push(row);
    }

    /// Rows in all.
    pub fn len(&self) -> usize {
        self.starts.last().copied().unwrap_or(0)
    }

    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    pub fn files(&self) -> &[Arc<FileDiff>] {
        &self.files
    }

    pub fn additions(&self) -> usize {
        self.files.iter().map(|file| file.additions).sum()
    }

    pub fn deletions(&self) -> usize {
        self.files.iter().map(|file| file.deletions).sum()
    }

    pub fn is_folded(&self, file: usize) -> bool {
        self.folded.contains(&file)
    }

    /// Shows the heading of a file alone, or all of it.
    pub fn fold(&mut self, file: usize, folded: bool) {
        if folded {
            self.folded.insert(file);
        } else {
            self.folded.remove(&file);
        }
        self.arrange();
    }

    /// What stands in `row`.
    pub fn place(&self, row: usize) -> Option<Place> {
        let at = self.starts.partition_point(|start| *start <= row).checked_sub(1)?;
        let file = self.files.get(at)?;
        let Some(within) = (row - self.starts.get(at)?).checked_sub(1) else { return Some(Place::File { file: at }) };
        if file.lines.is_empty() {
            return Some(Place::Note { file: at });
        }
        let hunk = hunk_row_before(file, within)?;
        let row = hunk + file.hunks.get(hunk)?.lines.start;
        Some(match (within - row).checked_sub(1) {
            None => Place::Hunk { file: at, hunk },
            Some(line) => Place::Line { file: at, hunk, line: file.hunks.get(hunk)?.lines.start + line },
        })
    }

    /// The row of a place; of what is folded away, the row of its file.
    pub fn row(&self, place: Place) -> Option<usize> {
        let file = self.files.get(place.file())?;
        let start = *self.starts.get(place.file())?;
        if self.folded.contains(&place.file()) {
            return Some(start);
        }
        Some(match place {
            Place::File { .. } => start,
            Place::Note { .. } => start + 1,
            Place::Hunk { hunk, .. } => start + 1 + hunk + file.hunks.get(hunk)?.lines.start,
            Place::Line { hunk, line, .. } => start + 2 + hunk + line,
        })
    }

    /// The row where a line of a file stands: by its number in the new file, or (`old`) in the old one.
    pub fn row_of_line(&self, file: usize, number: u32, old: bool) -> Option<usize> {
        let lines = &self.files.get(file)?.lines;
        let line = lines.iter().position(|line| (if old { line.old } else { line.new }) == Some(number))?;
        let hunk = self.files.get(file)?.hunks.partition_point(|hunk| hunk.lines.end <= line);
        self.row(Place::Line { file, hunk, line })
    }

    /// The row of the next file's heading.
    pub fn next_file(&self, row: usize) -> Option<usize> {
        let next = self.starts.partition_point(|start| *start <= row);
        self.starts.get(next).copied().filter(|_| next < self.files.len())
    }

    /// The row of the heading of this file, or of the file before where `row` is the heading.
    pub fn previous_file(&self, row: usize) -> Option<usize> {
        let before = self.starts.partition_point(|start| *start < row).checked_sub(1)?;
        self.starts.get(before.min(self.files.len().checked_sub(1)?)).copied()
    }

    /// The next row where a hunk begins.
    pub fn next_hunk(&self, row: usize) -> Option<usize> {
        let file = self.place(row)?.file();
        (file..self.files.len()).find_map(|at| {
            let hunks = self.files.get(at)?.hunks.len();
            let rows = |hunk| self.row(Place::Hunk { file: at, hunk });
            let next = first(hunks, |hunk| rows(hunk).is_some_and(|start| start > row))?;
            rows(next).filter(|_| !self.folded.contains(&at))
        })
    }

    /// The row before this one where a hunk begins.
    pub fn previous_hunk(&self, row: usize) -> Option<usize> {
        let file = self.place(row)?.file();
        (0..=file).rev().find_map(|at| {
            let hunks = self.files.get(at)?.hunks.len();
            let rows = |hunk| self.row(Place::Hunk { file: at, hunk });
            let behind = first(hunks, |hunk| rows(hunk).is_some_and(|start| start >= row)).unwrap_or(hunks);
            rows(behind.checked_sub(1)?).filter(|_| !self.folded.contains(&at))
        })
    }

    /// The first hunk among `rows` whose colours are not known: what to ask a worker for.
    pub fn missing(&self, rows: Range<usize>) -> Option<(usize, usize)> {
        rows.take_while(|row| *row < self.len()).find_map(|row| match self.place(row)? {
            Place::Hunk { file, hunk } | Place::Line { file, hunk, .. } => {
                Some((file, hunk)).filter(|key| !self.styles.contains_key(key))
            }
            _ => None,
        })
    }

    /// Takes the colours of a hunk.
    pub fn insert(&mut self, file: usize, hunk: usize, styles: HunkStyles) {
        self.styles.insert((file, hunk), Arc::new(styles));
    }

    /// Columns left of the text: two numbers and a sign.
    pub fn gutter(&self) -> usize {
        2 * self.digits + 4
    }

    /// The text of a row, as matches count its bytes.
    pub fn text(&self, row: usize) -> Cow<'_, str> {
        let Some(place) = self.place(row) else { return Cow::Borrowed("") };
        let Some(file) = self.files.get(place.file()) else { return Cow::Borrowed("") };
        match place {
            Place::File { .. } => Cow::Owned(file.title()),
            Place::Note { .. } => Cow::Borrowed(file.note().unwrap_or_default()),
            Place::Hunk { hunk, .. } => {
                let (header, within) = hunk_text(file, hunk);
                Cow::Owned(format!("{header} {within}"))
            }
            Place::Line { line, .. } => {
                Cow::Borrowed(file.lines.get(line).map(|line| file.text(line)).unwrap_or_default())
            }
        }
    }

    /// Looks for `pattern` in every row, until `cancelled` says so.
    pub fn search(&self, pattern: &Regex, cancelled: &dyn Fn() -> bool) -> Found {
        search::lines((0..self.len()).map(|row| (row, self.text(row))), pattern, cancelled)
    }

    /// A row as it is drawn, one side under the other.
    pub fn draw(&self, row: usize, theme: &Theme) -> DocLine<'_> {
        let Some(place) = self.place(row) else { return DocLine::default() };
        let Some(file) = self.files.get(place.file()) else { return DocLine::default() };
        let blank = (" ".repeat(self.gutter()), Style::new());
        match place {
            Place::File { file: at } => heading(file, self.folded.contains(&at), theme),
            Place::Note { .. } => {
                DocLine { gutter: vec![blank], ..DocLine::new(file.note().unwrap_or_default(), theme.style(Role::Dim)) }
            }
            Place::Hunk { hunk, .. } => {
                let (header, within) = hunk_text(file, hunk);
                DocLine {
                    gutter: vec![blank],
                    spans: vec![
                        (header.into(), theme.style(Role::Hunk)),
                        (" ".into(), Style::new()),
                        (within.into(), theme.style(Role::Dim)),
                    ],
                    ..DocLine::default()
                }
            }
            Place::Line { file: at, hunk, line } => {
                let start = file.hunks.get(hunk).map_or(0, |hunk| hunk.lines.start);
                let styles = self.styles.get(&(at, hunk)).and_then(|styles| styles.lines.get(line.checked_sub(start)?));
                match file.lines.get(line) {
                    Some(line) => self.line(file, line, styles, theme),
                    None => DocLine::default(),
                }
            }
        }
    }

    fn line<'a>(
        &self,
        file: &'a FileDiff,
        line: &Line,
        styles: Option<&(code::Spans, Vec<Range<u32>>)>,
        theme: &Theme,
    ) -> DocLine<'a> {
        let (sign, role, tint, word) = match line.kind {
            Kind::Added => ('+', Role::Added, Some(Role::AddedLine), Role::AddedWord),
            Kind::Removed => ('-', Role::Removed, Some(Role::RemovedLine), Role::RemovedWord),
            Kind::Context | Kind::Plain => (' ', Role::Text, None, Role::Text),
            Kind::NoNewline => ('\\', Role::Dim, None, Role::Dim),
        };
        let number = |number: Option<u32>| number.map(|n| n.to_string()).unwrap_or_default();
        let digits = self.digits;
        let numbers = format!("{:>digits$} {:>digits$} ", number(line.old), number(line.new));
        let base = theme.style(if line.kind == Kind::NoNewline { Role::Dim } else { Role::Text });
        let syntax = styles.map(|(spans, _)| code::layer(spans, theme)).unwrap_or_default();
        let bytes = |range: &Range<u32>| range.start as usize..range.end as usize;
        let changed: Vec<(Range<usize>, Style)> =
            styles.iter().flat_map(|(_, words)| words).map(|range| (bytes(range), theme.style(word))).collect();
        DocLine {
            gutter: vec![(numbers, theme.style(Role::LineNumber)), (format!("{sign} "), theme.style(role))],
            spans: blend(file.text(line), base, &[&syntax, &changed]),
            fill: tint.map(|tint| theme.style(tint)),
            ..DocLine::default()
        }
    }
}

/// The hunk whose rows hold the row `within` of a file (its heading left out).
fn hunk_row_before(file: &FileDiff, within: usize) -> Option<usize> {
    first(file.hunks.len(), |hunk| file.hunks.get(hunk).is_some_and(|h| hunk + h.lines.start > within))
        .unwrap_or(file.hunks.len())
        .checked_sub(1)
}

/// The first number below `len` for which `holds`, where it holds for all that follow.
fn first(len: usize, holds: impl Fn(usize) -> bool) -> Option<usize> {
    let (mut low, mut high) = (0, len);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    (low < len).then_some(low)
}

fn hunk_text(file: &FileDiff, hunk: usize) -> (&str, &str) {
    let Some(hunk) = file.hunks.get(hunk) else { return ("", "") };
    if hunk.header.is_empty() {
        return ("not a diff", "shown as it came");
    }
    let text = |range: &Range<usize>| file.source.diff.get(range.clone()).unwrap_or_default();
    (text(&hunk.header), text(&hunk.within))
}

/// `src/main.rs  +31 −12  new`.
fn heading(file: &FileDiff, folded: bool, theme: &Theme) -> DocLine<'static> {
    use crate::ui::glyph;
    let mark = if folded { glyph::folded() } else { glyph::unfolded() };
    let mut line = DocLine::new(file.title(), theme.style(Role::Title));
    line.gutter.push((format!("{mark} "), theme.style(Role::Accent)));
    line.spans.push((format!("  +{}", file.additions).into(), theme.style(Role::Added)));
    line.spans.push((format!(" −{}", file.deletions).into(), theme.style(Role::Removed)));
    let source = &file.source;
    for (on, word) in [
        (source.is_new, "new"),
        (source.is_deleted, "deleted"),
        (source.is_renamed, "renamed"),
        (file.malformed, "not a valid diff"),
    ] {
        if on {
            line.spans.push((format!("  {word}").into(), theme.style(Role::Dim)));
        }
    }
    line
}
