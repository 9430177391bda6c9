//! An archive of several files in one text, the format of the demo world's repositories under `assets/`.
//!
//! A line `-- PATH --` starts the file PATH; text before the first such line is a comment. A file is also split into
//! blocks (functions, methods, paragraphs), so that a history can make it grow block by block.

use std::collections::BTreeMap;

/// The files by path.
#[derive(Clone, Debug, Default)]
pub struct Archive {
    files: BTreeMap<String, Source>,
}

/// A file in its final form.
#[derive(Clone, Debug)]
pub enum Source {
    /// Text, which can grow by blocks.
    Text(Vec<Block>),
    /// Binary content, which is present or not.
    Bytes(&'static [u8]),
}

/// A part of a text that is added or removed as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The lines, with their line ends and the following blank lines.
    pub text: String,
    /// The index of the block that this one closes, if it is only a closing line; both are visible together.
    pub closes: Option<usize>,
}

impl Archive {
    /// Parses the format described above.
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

    /// Adds a binary file.
    pub fn insert_bytes(&mut self, path: &str, bytes: &'static [u8]) {
        self.files.insert(path.to_owned(), Source::Bytes(bytes));
    }

    pub fn get(&self, path: &str) -> Option<&Source> {
        self.files.get(path)
    }

    /// Returns all paths, sorted.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }
}

/// The maximum indentation, in columns, at which a blank line separates blocks: deeper lines are inside a method.
const MAX_INDENT: usize = 4;

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// Splits a text into blocks at its blank lines.
///
/// The closing line of an item that spans several blocks becomes a separate block that belongs to the first one, so
/// that an incomplete item still has its end.
fn blocks(text: &str) -> Vec<Block> {
    let mut cut: Vec<String> = Vec::new();
    let mut blank = true;
    for line in text.split_inclusive('\n') {
        let empty = line.trim().is_empty();
        let closing = line.trim_start().starts_with(['}', ')', ']']);
        if (blank && !empty && !closing && indent(line) <= MAX_INDENT) || cut.is_empty() {
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
    fn partial_item_keeps_its_closing_line() {
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
