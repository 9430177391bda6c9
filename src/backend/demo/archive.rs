//! Several files in one text, the form in which the demo world's repositories are kept under `assets/`.
//!
//! A line `-- PATH --` begins the file PATH; what stands before the first such line is a comment. A file is also known
//! as blocks (functions, methods, paragraphs), so that a history can let it grow block by block.

use std::collections::BTreeMap;

/// Files by path.
#[derive(Clone, Debug, Default)]
pub struct Archive {
    files: BTreeMap<String, Source>,
}

/// A file in its last form.
#[derive(Clone, Debug)]
pub enum Source {
    /// Text, which may grow by blocks.
    Text(Vec<Block>),
    /// Bytes, which are there or not.
    Bytes(&'static [u8]),
}

/// A stretch of a text that comes and goes as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The lines, with their ends and the blank lines after them.
    pub text: String,
    /// The block that this one closes, if it is only a closing line: shown with that one.
    pub closes: Option<usize>,
}

impl Archive {
    /// Reads the form described above.
    pub fn parse(text: &str) -> Archive {
        let mut files = BTreeMap::new();
        let mut current: Option<(String, String)> = None;
        for line in text.split_inclusive('\n') {
            let marker = line.trim_end().strip_prefix("-- ").and_then(|rest| rest.strip_suffix(" --"));
            match (marker, &mut current) {
                (Some(path), _) => {
                    if let Some((path, text)) = current.replace((path.to_owned(), String::new())) {
                        files.insert(path, Source::Text(blocks(&text)));
                    }
                }
                (None, Some((_, text))) => text.push_str(line),
                (None, None) => {}
            }
        }
        if let Some((path, text)) = current {
            files.insert(path, Source::Text(blocks(&text)));
        }
        Archive { files }
    }

    /// Adds a file that is not text.
    pub fn insert_bytes(&mut self, path: &str, bytes: &'static [u8]) {
        self.files.insert(path.to_owned(), Source::Bytes(bytes));
    }

    /// The file at `path`.
    pub fn get(&self, path: &str) -> Option<&Source> {
        self.files.get(path)
    }

    /// Returns all paths, in order.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }
}

/// Columns of indentation up to which a blank line parts two blocks: deeper ones are inside a method.
const DEEPEST: usize = 4;

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// Cuts a text into blocks at its blank lines.
///
/// The closing line of an item that spans several blocks becomes a block of its own that belongs to the first, so that
/// an item that has grown by half still has its end.
fn blocks(text: &str) -> Vec<Block> {
    let mut cut: Vec<String> = Vec::new();
    let mut blank = true;
    for line in text.split_inclusive('\n') {
        let empty = line.trim().is_empty();
        let closing = line.trim_start().starts_with(['}', ')', ']']);
        if (blank && !empty && !closing && indent(line) <= DEEPEST) || cut.is_empty() {
            cut.push(String::new());
        }
        if let Some(last) = cut.last_mut() {
            last.push_str(line);
        }
        blank = empty;
    }
    let mut out: Vec<Block> = Vec::new();
    let mut item = 0;
    for text in cut {
        if indent(&text) == 0 {
            item = out.len();
        }
        let index = out.len();
        let tail = text.split_inclusive('\n').position(|line| line.starts_with(['}', ')', ']']));
        match tail {
            Some(line) if index > item => {
                let at: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
                let (body, end) = text.split_at(at);
                out.push(Block { text: body.to_owned(), closes: None });
                out.push(Block { text: end.to_owned(), closes: Some(item) });
            }
            _ => out.push(Block { text, closes: None }),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_half_grown_item_keeps_its_end() {
        let archive = Archive::parse("-- a.rs --\nimpl A {\n    fn a() {}\n\n    fn b() {}\n}\n\nfn c() {}\n");
        let Some(Source::Text(blocks)) = archive.get("a.rs") else { panic!("no file") };
        let texts: Vec<_> = blocks.iter().map(|b| (b.text.as_str(), b.closes)).collect();
        assert_eq!(
            texts,
            [
                ("impl A {\n    fn a() {}\n\n", None),
                ("    fn b() {}\n", None),
                ("}\n\n", Some(0)),
                ("fn c() {}\n", None)
            ]
        );
    }
}
