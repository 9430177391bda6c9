//! Computations on a file, off the event loop: decoding, syntax highlighting, rendering Markdown, and search.

use crate::api::Raw;
use crate::parts::text::rendered_markdown;
use crate::store::{Canceled, Derive};
use crate::ui::ansi::{self, SgrState};
use crate::ui::code::{Budget, Content, HighlightedLines, Highlighter, Text};
use crate::ui::csv::CsvTable;
use crate::ui::image::{Fitted, Image, ImageError, Screen};
use crate::ui::layers::blend;
use crate::ui::markdown::{self, Rendered};
use crate::ui::search::{self, Matches};
use crate::ui::theme::{Role, Theme};
use bytes::Bytes;
use std::ops::Range;
use std::sync::Arc;

/// A computation that tells text from binary data and finds the lines.
pub struct DetectText {
    pub sha: String,
    pub raw: Arc<Raw>,
}

/// The bytes of a response, shared with the text that is made of them, so that a large file is kept only once.
struct SharedBytes(Arc<Raw>);

impl AsRef<[u8]> for SharedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.0.bytes
    }
}

/// Returns the bytes of a reply without copying them.
pub fn shared_bytes(raw: Arc<Raw>) -> Bytes {
    Bytes::from_owner(SharedBytes(raw))
}

/// Returns the key of a file's content.
pub fn content_key(sha: &str) -> String {
    format!("blob {sha}")
}

impl Derive for DetectText {
    type Output = Content;
    fn key(&self) -> String {
        content_key(&self.sha)
    }
    fn weight(&self, _: &Content) -> usize {
        self.raw.bytes.len()
    }

    fn memory(&self) -> usize {
        4 * self.raw.bytes.len()
    }

    fn run(&self, _: Canceled<'_>) -> Content {
        Content::read(shared_bytes(self.raw.clone()))
    }
}

/// A computation that tells text from binary data, for bytes that are already available.
pub struct ReadBytes {
    pub sha: String,
    pub bytes: Bytes,
}

impl Derive for ReadBytes {
    type Output = Content;
    fn key(&self) -> String {
        content_key(&self.sha)
    }
    fn weight(&self, _: &Content) -> usize {
        self.bytes.len()
    }

    fn memory(&self) -> usize {
        4 * self.bytes.len()
    }

    fn run(&self, _: Canceled<'_>) -> Content {
        Content::read(self.bytes.clone())
    }
}

/// A computation that highlights a range of lines.
pub struct HighlightRange {
    pub sha: String,
    pub path: String,
    pub highlighter: Arc<Highlighter>,
    pub lines: Range<usize>,
}

/// Returns the key of the colors of the range that starts at a line; the path determines the language.
pub fn color_key(sha: &str, path: &str, first_line: usize) -> String {
    format!("code {sha} {first_line} {path}")
}

impl Derive for HighlightRange {
    type Output = HighlightedLines;
    fn key(&self) -> String {
        color_key(&self.sha, &self.path, self.lines.start)
    }
    fn run(&self, canceled: Canceled<'_>) -> HighlightedLines {
        self.highlighter.highlight(self.lines.clone(), canceled)
    }
}

/// The kind of text to render.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextKind {
    Markdown,
    /// The output of a program, with ANSI colors.
    Output,
}

/// A computation that renders Markdown or program output.
pub struct RenderText {
    pub kind: TextKind,
    pub sha: String,
    pub text: Arc<Text>,
    pub width: usize,
    pub theme: Theme,
    /// The number of lines of each image that is drawn in place.
    pub image_rows: Vec<u16>,
}

/// Returns the key of a rendered text.
pub fn render_key(kind: TextKind, sha: &str, width: usize, theme: &Theme, image_rows: &[u16]) -> String {
    match kind {
        TextKind::Markdown => format!("markdown {sha} {width} {} {image_rows:?}", theme.name),
        // Its lines are not wrapped, so the width does not matter.
        TextKind::Output => format!("output {sha} {}", theme.name),
    }
}

/// Renders the lines of a text as a terminal would show them.
fn printed(text: &Text, theme: &Theme, canceled: Canceled<'_>) -> Rendered {
    let mut state = SgrState::default();
    let lines = (0..text.len()).take_while(|at| at % 1024 != 0 || !canceled()).map(|at| {
        let line = ansi::parse_line(&mut state, text.line(at).as_bytes());
        let spans = blend(&line.text, theme.style(Role::Text), &[&line.layer(theme)]);
        spans.into_iter().map(|span| (span.text.into_owned(), span.paint)).collect::<crate::ui::line::Line>().into()
    });
    lines.collect::<Vec<_>>().into()
}

impl Derive for RenderText {
    type Output = Arc<Rendered>;
    fn key(&self) -> String {
        render_key(self.kind, &self.sha, self.width, &self.theme, &self.image_rows)
    }
    fn weight(&self, _: &Arc<Rendered>) -> usize {
        rendered_markdown::BYTES_PER_BYTE * self.text.bytes_len()
    }

    fn memory(&self) -> usize {
        rendered_markdown::WORK_BYTES_PER_BYTE * self.text.bytes_len()
    }

    fn run(&self, canceled: Canceled<'_>) -> Arc<Rendered> {
        Arc::new(match self.kind {
            TextKind::Markdown => self.markdown(&Budget::new(canceled)),
            TextKind::Output => printed(&self.text, &self.theme, canceled),
        })
    }

    fn preview(&self) -> Option<Arc<Rendered>> {
        let has_code = self.kind == TextKind::Markdown && markdown::has_code(self.text.as_str());
        has_code.then(|| Arc::new(self.markdown(&Budget::none())))
    }
}

impl RenderText {
    fn markdown(&self, colors: &Budget) -> Rendered {
        markdown::render_images(self.text.as_str(), self.width, &self.theme, colors, &self.image_rows)
    }
}

/// A computation that finds the records of a table.
pub struct Records {
    pub sha: String,
    pub text: Arc<Text>,
    pub separator: u8,
}

/// Returns the key of a table.
pub fn table_key(sha: &str) -> String {
    format!("table {sha}")
}

impl Derive for Records {
    type Output = Arc<CsvTable>;
    fn key(&self) -> String {
        table_key(&self.sha)
    }
    fn memory(&self) -> usize {
        8 * self.text.bytes_len()
    }
    fn run(&self, canceled: Canceled<'_>) -> Arc<CsvTable> {
        Arc::new(CsvTable::read(self.text.clone(), self.separator, canceled))
    }
}

/// A computation that decodes an image.
pub struct Decode {
    pub sha: String,
    pub bytes: Bytes,
}

/// Returns the key of an image.
pub fn picture_key(sha: &str) -> String {
    format!("picture {sha}")
}

impl Derive for Decode {
    type Output = Result<Arc<Image>, ImageError>;
    fn key(&self) -> String {
        picture_key(&self.sha)
    }
    fn weight(&self, image: &Result<Arc<Image>, ImageError>) -> usize {
        image.as_ref().map_or(0, |image| image.bytes())
    }

    fn memory(&self) -> usize {
        Image::memory(&self.bytes)
    }

    fn run(&self, _: Canceled<'_>) -> Result<Arc<Image>, ImageError> {
        Image::read(&self.bytes).map(Arc::new)
    }
}

/// A computation that fits an image to an area.
pub struct FitPicture {
    pub sha: String,
    pub image: Arc<Image>,
    /// The size of the area, in columns and rows.
    pub room: (u16, u16),
    pub screen: Screen,
}

/// Returns the key of an image fitted to an area.
pub fn fit_key(sha: &str, room: (u16, u16), screen: Screen) -> String {
    format!("fitted {sha} {}x{} {screen:?}", room.0, room.1)
}

impl Derive for FitPicture {
    type Output = Arc<Fitted>;
    fn key(&self) -> String {
        fit_key(&self.sha, self.room, self.screen)
    }
    fn weight(&self, fitted: &Arc<Fitted>) -> usize {
        fitted.bytes()
    }
    fn memory(&self) -> usize {
        // Scaling is done with floating-point numbers.
        8 * self.image.bytes()
    }
    fn run(&self, _: Canceled<'_>) -> Arc<Fitted> {
        Arc::new(self.image.fit(self.room.0, self.room.1, self.screen))
    }
}

/// The lines that are searched.
pub enum SearchLines {
    Source(Arc<Text>),
    Rendered(Arc<Rendered>),
    Table(Arc<CsvTable>),
}

/// A computation that searches the lines for a query.
pub struct SearchText {
    /// The key of the lines.
    pub within: String,
    pub lines: SearchLines,
    pub query: String,
}

/// Returns the key of the search result.
pub fn find_key(within: &str, query: &str) -> String {
    format!("find {query} in {within}")
}

impl Derive for SearchText {
    type Output = Matches;
    fn key(&self) -> String {
        find_key(&self.within, &self.query)
    }
    fn run(&self, canceled: Canceled<'_>) -> Matches {
        let Some(pattern) = search::pattern(&self.query) else { return Matches::default() };
        match &self.lines {
            SearchLines::Source(text) => text.search(&pattern, canceled),
            SearchLines::Table(table) => {
                // Records are numbered without the heading.
                let records = (1..table.len()).map(|record| (record - 1, table.plain_text(record)));
                search::lines(records, &pattern, canceled)
            }
            SearchLines::Rendered(rendered) => {
                let lines = rendered.lines.iter().enumerate().map(|(i, line)| (i, line.text.plain_text()));
                search::lines(lines, &pattern, canceled)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::assert_memory;
    use crate::ui::theme::Background;

    fn text(line: &str, bytes: usize) -> Arc<Text> {
        Arc::new(Text::new(line.repeat(bytes / line.len()).into_bytes()))
    }

    #[test]
    fn large_files_take_no_more_memory_than_is_asked_for() {
        let raw = Arc::new(Raw { bytes: b"fn a() {}\n".repeat(2 << 20), content_type: None });
        assert_memory("a text", &DetectText { sha: "a".into(), raw });
        for (kind, line) in [
            (TextKind::Markdown, "Some *words* in a paragraph with `code`.\n\n"),
            (TextKind::Markdown, "- a\n"),
            (TextKind::Output, "\u{1b}[31mred\u{1b}[0m and plain\n"),
        ] {
            let (text, theme) = (text(line, 512 << 10), Theme::for_background(Background::Dark));
            let render = RenderText { kind, sha: "a".into(), text, width: 80, theme, image_rows: Vec::new() };
            assert_memory(line, &render);
        }
        assert_memory("a table", &Records { sha: "a".into(), text: text("a,b,1\n", 8 << 20), separator: b',' });
        let mut bytes = Vec::new();
        let pixels = image::RgbImage::from_pixel(2500, 1500, image::Rgb([200, 30, 30]));
        pixels.write_to(&mut std::io::Cursor::new(&mut bytes), image::ImageFormat::Png).unwrap();
        let decode = Decode { sha: "a".into(), bytes: bytes.into() };
        assert_memory("an image", &decode);
        let image = decode.run(&|| false).unwrap();
        let screen = Screen { protocol: crate::ui::image::Protocol::Sixel, cell: (10, 20) };
        assert_memory("a fitted image", &FitPicture { sha: "a".into(), image, room: (200, 60), screen });
    }
}
