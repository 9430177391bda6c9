//! The lines of code that threads are about, found in the changes off the event loop.

use super::thread_frame::{CODE_LINES, CodeChange, CodeLine};
use crate::app::outbox::DiffPosition;
use crate::app::view::View;
use crate::parts::repository::changed_files::Entries;
use crate::store::{Canceled, Derive, Want, Work};
use crate::ui::diff::{self, FileDiff, HunkStyles, Kind, Side};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// The maximum number of different changes whose lines are kept, the latest first.
const MAX_FOUND: usize = 16;

/// The identity of lines: the path, whether it is the old file, the last line, and the commit.
type LinesKey = (String, bool, Option<u32>, String);

/// The lines found in some changes.
type FoundLines = Arc<HashMap<LinesKey, Vec<CodeLine>>>;

fn key_of(position: &DiffPosition) -> LinesKey {
    (position.path.clone(), position.old, position.line(), position.sha.clone())
}

/// A computation that finds the lines of positions in changes.
struct FindLines {
    key: String,
    entries: Entries,
    positions: Vec<DiffPosition>,
}

impl Derive for FindLines {
    type Output = FoundLines;

    fn key(&self) -> String {
        self.key.clone()
    }

    fn run(&self, canceled: Canceled<'_>) -> FoundLines {
        let mut files: HashMap<(&str, bool), Option<ColoredFile>> = HashMap::new();
        let mut found = HashMap::new();
        for position in self.positions.iter().take_while(|_| !canceled()) {
            let file = files
                .entry((&position.path, position.old))
                .or_insert_with(|| self.entries.parse_file(&position.path, position.old).map(ColoredFile::new));
            let lines = file.as_mut().map(|file| file.lines_at(position, canceled)).unwrap_or_default();
            found.insert(key_of(position), lines);
        }
        Arc::new(found)
    }
}

/// A file, and the colors of the parts of it that threads are on.
struct ColoredFile {
    file: FileDiff,
    /// By hunk and piece.
    styles: HashMap<(usize, usize), HunkStyles>,
}

impl ColoredFile {
    fn new(file: FileDiff) -> ColoredFile {
        ColoredFile { file, styles: HashMap::new() }
    }

    /// Returns the last lines up to the end of a position, as far as the diff shows them.
    fn lines_at(&mut self, position: &DiffPosition, canceled: Canceled<'_>) -> Vec<CodeLine> {
        let side = if position.old { Side::Old } else { Side::New };
        let Some(last) = position.line() else { return Vec::new() };
        let file = &self.file;
        let Some(at) = file.lines.iter().position(|line| line.number(side) == Some(last)) else { return Vec::new() };
        let Some(hunk) = file.hunk_of(at) else { return Vec::new() };
        let start = file.hunks.get(hunk).map_or(at, |hunk| hunk.lines.start);
        let piece = at.saturating_sub(start) / diff::PIECE_LINES;
        let styles =
            self.styles.entry((hunk, piece)).or_insert_with(|| diff::highlight_hunk(file, hunk, piece, canceled));
        let first = start.max((at + 1).saturating_sub(CODE_LINES));
        let lines = file.lines.get(first..=at).unwrap_or_default();
        let code = lines.iter().zip(first..).filter_map(|(line, at)| {
            let change = match line.kind {
                Kind::Added => CodeChange::Added,
                Kind::Removed => CodeChange::Removed,
                Kind::Context => CodeChange::None,
                Kind::NoNewline | Kind::Plain => return None,
            };
            // The lines before the piece stay without colors.
            let styled = (at - start).checked_sub(piece * diff::PIECE_LINES).and_then(|at| styles.lines.get(at));
            let syntax = styled.map(|(syntax, _)| syntax.clone()).unwrap_or_default();
            Some(CodeLine { number: line.number(line.side())?, change, text: file.text(line).to_owned(), syntax })
        });
        code.collect()
    }
}

/// The found lines of threads.
#[derive(Default)]
pub struct ThreadCode {
    found: Vec<(String, FoundLines)>,
}

/// Changes in which lines are looked up.
pub struct CodeSource {
    /// The identity of the changes.
    pub identity: String,
    /// The changes, once they are loaded.
    pub entries: Option<Entries>,
    pub positions: Vec<DiffPosition>,
}

impl CodeSource {
    fn key(&self) -> String {
        let mut hasher = DefaultHasher::new();
        self.positions.iter().for_each(|position| key_of(position).hash(&mut hasher));
        format!("code of threads {:016x} in {}", hasher.finish(), self.identity)
    }
}

impl ThreadCode {
    /// Returns the computations that are missing.
    pub fn wants(view: &View, sources: &[CodeSource]) -> Vec<Want> {
        let missing = sources.iter().filter(|source| view.store.is_result_missing(&source.key()));
        let work = missing.filter_map(|source| {
            let (entries, positions) = (source.entries.clone()?, source.positions.clone());
            Some(Work::new(FindLines { key: source.key(), entries, positions }).into())
        });
        work.collect()
    }

    /// Takes finished results. Until newer ones are there, the known lines stay.
    pub fn sync(&mut self, view: &View, sources: &[CodeSource]) {
        for source in sources {
            let key = source.key();
            let Some(found) = view.store.result::<FoundLines>(&key) else { continue };
            match self.found.iter_mut().find(|(identity, _)| *identity == source.identity) {
                Some((_, known)) => known.clone_from(found),
                None => self.found.insert(0, (source.identity.clone(), found.clone())),
            }
            self.found.truncate(MAX_FOUND);
        }
    }

    /// Returns the lines of a position; empty until they are found, or if the changes do not show them.
    pub fn lines(&self, position: &DiffPosition) -> Vec<CodeLine> {
        let key = key_of(position);
        self.found.iter().find_map(|(_, found)| found.get(&key)).cloned().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::diff::{Source, parse};

    #[test]
    fn the_last_three_lines_are_shown_with_their_signs() {
        let diff = "@@ -1,4 +1,4 @@\n one\n-two\n+2\n three\n four\n";
        let file = parse(Source { new_path: "a".into(), diff: diff.into(), ..Source::default() });
        let at = |line: u32, old: bool| {
            let position = DiffPosition { path: "a".into(), lines: Some((line, line)), old, ..DiffPosition::default() };
            let lines = ColoredFile::new(file.clone()).lines_at(&position, &|| false).into_iter();
            lines.map(|line| (line.number, line.change, line.text)).collect::<Vec<_>>()
        };
        let (one, two) = ((1, CodeChange::None, "one".to_owned()), (2, CodeChange::Removed, "two".to_owned()));
        assert_eq!(at(2, false), [one.clone(), two.clone(), (2, CodeChange::Added, "2".to_owned())]);
        assert_eq!(at(2, true), [one.clone(), two]);
        assert_eq!(at(1, false), [one]);
        assert!(at(9, false).is_empty());
    }

    #[test]
    fn the_lines_have_the_colors_of_their_language() {
        let diff = "@@ -1,2 +1,2 @@\n fn a() {}\n-let x = 1;\n+let x = 2;\n";
        let file = parse(Source { new_path: "a.rs".into(), diff: diff.into(), ..Source::default() });
        let position = DiffPosition { path: "a.rs".into(), lines: Some((2, 2)), ..DiffPosition::default() };
        let lines = ColoredFile::new(file).lines_at(&position, &|| false);
        assert_eq!(lines.len(), 3);
        assert!(lines.iter().all(|line| !line.syntax.is_empty()));
    }
}
