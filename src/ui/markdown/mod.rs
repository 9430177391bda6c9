//! Markdown rendered as styled lines of a given width, in one pass over the parser's events; nesting in the text does
//! not deepen the call stack. Rendering is worth caching, because it highlights code blocks.

mod color;
mod flow;
mod gitlab;
mod html;
mod one_line;
mod table;
mod tags;

use crate::code::{Budget, Language, highlight_lines, layer};
use crate::doc::DocLine;
use crate::layers::blend;
use crate::line::Line;
use crate::theme::{Role, Theme};
use crate::{glyph, hyperlink, text};
use flow::{Piece, Word};
pub use one_line::one_line;
use pulldown_cmark::{
    BlockQuoteKind, CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd, TextMergeStream,
};
use ratatui::style::{Modifier, Style};
use regex::Regex;
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, LazyLock};
use table::Table;
use tags::{HtmlTable, Mark, Opened};

/// Maximum number of bytes rendered. The rest is replaced by a line that says so.
const MAX_BYTES: usize = 1 << 20;
/// Limits on the number of lines and spans of a rendered text: `MIN_BUDGET` plus two for each byte, but at most
/// `MAX_BUDGET`.
const MIN_BUDGET: usize = 4096;
const MAX_BUDGET: usize = 400_000;
/// Minimum number of columns for text in a list or a quote.
const MIN_TEXT_WIDTH: usize = 6;
/// Maximum width of the name of a footnote in columns.
const MAX_FOOTNOTE_WIDTH: usize = 24;
/// Maximum number of bytes of code highlighted in one text.
const MAX_CODE_BYTES: usize = 16 * 1024;
/// The info string of a code block that replaces lines, with their signs as in a diff.
pub const REPLACEMENT: &str = "suggestion-diff";
/// The maximum number of images that can be drawn in a text.
const MAX_IMAGES: usize = 24;
/// Where to read what is not shown.
const REST: &str = "see the source or the web page";
/// Maximum nesting depth of lists and quotes up to which text is indented.
const MAX_DEPTH: usize = 12;

/// References to other items (`!12`, `group/project#3`, `@user`) and bare addresses.
static REFERENCES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"https?://[^\s<>]*[^\s<>.,;:!?)'\x22\]]|(?:[A-Za-z0-9_][\w./-]*)?[!#][0-9]+\b|@[A-Za-z0-9_][\w.-]*")
        .ok()
});

/// Rendered text, ready to be drawn.
#[derive(Clone, Debug, Default)]
pub struct Rendered {
    pub lines: Vec<DocLine<'static>>,
    /// The sections that links can name: headings, and elements with a name.
    pub sections: Vec<TextSection>,
    /// The images that can be drawn in place: those without text beside them, in their order.
    pub images: Vec<TextImage>,
}

/// An image of a text.
#[derive(Clone, Debug, PartialEq)]
pub struct TextImage {
    /// Its address as it is written.
    pub address: Arc<str>,
    /// Its first line.
    pub line: usize,
    /// The number of lines that are left empty for it; 0 if its text is shown.
    pub rows: u16,
    /// Its first column, and the number of columns that it can take.
    pub left: u16,
    pub room: u16,
    /// The width that the text asks for.
    pub width: Option<ImageWidth>,
}

/// An image in the text of the current block.
struct BlockImage {
    address: Arc<str>,
    /// The pieces that show it as text.
    pieces: Range<usize>,
    width: Option<ImageWidth>,
}

/// The width of an image in its text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ImageWidth {
    Pixels(u32),
    /// Of the width of the text.
    Percent(u32),
}

/// A part of a text that links can name.
#[derive(Clone, Debug, PartialEq)]
pub struct TextSection {
    /// The text of a heading, or the name of an element as it is written.
    pub name: String,
    pub is_heading: bool,
    /// Its first line.
    pub line: usize,
}

impl From<Vec<DocLine<'static>>> for Rendered {
    fn from(lines: Vec<DocLine<'static>>) -> Rendered {
        Rendered { lines, ..Rendered::default() }
    }
}

impl Rendered {
    /// Returns the line of another rendering of the same text that shows what a line of this one does: between them, images
    /// may have arrived.
    pub fn line_in(&self, other: &Rendered, line: usize) -> usize {
        let images =
            self.images.iter().zip(self.image_heights()).take_while(|(image, height)| image.line + height <= line);
        let heights = images.map(|(_, height)| height).zip(other.image_heights());
        heights.fold(line, |line, (before, after)| (line + after).saturating_sub(before))
    }

    /// Returns the number of lines of each image. The texts of several may share one.
    fn image_heights(&self) -> impl Iterator<Item = usize> {
        self.images.iter().enumerate().map(|(at, image)| {
            let before = at.checked_sub(1).and_then(|before| self.images.get(before));
            let is_beside = image.rows == 0 && before.is_some_and(|before| before.line == image.line);
            if is_beside { 0 } else { usize::from(image.rows.max(1)) }
        })
    }

    /// Returns the first line of the section that a link names after its `#`.
    pub fn section(&self, name: &str) -> Option<usize> {
        let name = percent_encoding::percent_decode_str(name).decode_utf8_lossy();
        let name = name.strip_prefix("user-content-").unwrap_or(&name);
        let named = self.sections.iter().find(|section| !section.is_heading && section.name == name);
        if let Some(section) = named {
            return Some(section.line);
        }
        // A repeated heading has a number after its name.
        let wanted = gitlab::slug(name);
        let mut counts: HashMap<String, usize> = HashMap::new();
        self.sections.iter().filter(|section| section.is_heading).find_map(|section| {
            let slug = gitlab::slug(&section.name);
            let count = counts.entry(slug.clone()).or_default();
            let own = if *count == 0 { slug } else { format!("{slug}-{count}") };
            *count += 1;
            (own == wanted && !wanted.is_empty()).then_some(section.line)
        })
    }
}

/// Returns whether an address is a reference to another item or a user, as it is written in texts: `!12`, `@user`.
pub fn is_reference(address: &str) -> bool {
    let found = REFERENCES.as_ref().and_then(|references| references.find(address));
    found.is_some_and(|found| found.len() == address.len()) && !hyperlink::is_address(address)
}

/// Returns whether the text may have code in a named language, so that colors can make it wait.
pub fn has_code(markdown: &str) -> bool {
    ["```", "~~~"].iter().any(|fence| markdown.contains(fence))
}

/// Renders `markdown` to a width of `width` columns; `colors` is the budget for highlighting its code.
pub fn render(markdown: &str, width: usize, theme: &Theme, colors: &Budget) -> Rendered {
    render_start(markdown, MAX_BYTES, width, theme, colors)
}

/// Renders at most `bytes` bytes of `markdown` to a width of `width` columns.
pub fn render_start(markdown: &str, bytes: usize, width: usize, theme: &Theme, colors: &Budget) -> Rendered {
    render_at_most(markdown, bytes, Renderer::new(width.max(1), theme, colors))
}

/// Renders like [`render`], with empty lines for the images that are drawn in place: `rows` has their number for each of
/// [`Rendered::images`].
pub fn render_images(markdown: &str, width: usize, theme: &Theme, colors: &Budget, rows: &[u16]) -> Rendered {
    let renderer = Renderer { image_rows: rows, ..Renderer::new(width.max(1), theme, colors) };
    render_at_most(markdown, MAX_BYTES, renderer)
}

fn render_at_most(markdown: &str, bytes: usize, mut renderer: Renderer<'_>) -> Rendered {
    let read = text::head_bytes(markdown, bytes.min(MAX_BYTES));
    let whole = read.len() == markdown.len();
    let read = read.trim_start_matches('\u{feff}');
    let mut options = Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_DEFINITION_LIST
        | Options::ENABLE_MATH
        | Options::ENABLE_GFM;
    renderer.budget = (MIN_BUDGET + 2 * read.len()).min(MAX_BUDGET);
    let mut body = read;
    if let Some(front) = gitlab::front_matter(read) {
        renderer.code_block(Some(front.language), front.data);
        renderer.gap = true;
        body = front.rest;
    }
    let body = gitlab::mark_quotes(body);
    let body = gitlab::mark_signs(&body);
    if gitlab::has_bare_colons(&body) {
        options.remove(Options::ENABLE_DEFINITION_LIST);
    }
    if gitlab::has_contents_mark(&body) {
        renderer.headings = headings(Parser::new_ext(&body, options));
    }
    renderer.table_ends = html::count_ends(&body, "table");
    let events = Parser::new_ext(&body, options).into_offset_iter();
    let events = events.map(|(event, range)| gitlab::mark_escape(event, body.get(..range.start).unwrap_or_default()));
    for event in TextMergeStream::new(events) {
        renderer.event(gitlab::unmark(event));
        if renderer.budget == 0 {
            break;
        }
    }
    renderer.end_html_table();
    renderer.flush();
    if renderer.budget == 0 || !whole {
        let (width, theme, colors) = (renderer.width, renderer.theme, renderer.colors);
        renderer = Renderer { out: renderer.out, gap: true, budget: MIN_BUDGET, ..Renderer::new(width, theme, colors) };
        renderer.block();
        renderer.word(&format!("{} truncated: {REST}", glyph::ellipsis()), theme.style(Role::Dim));
        renderer.flush();
    }
    renderer.out
}

/// A block that contains other blocks.
enum Container {
    Quote,
    /// A list item: the marker before its first line (until written), and the width of the marker.
    Item {
        mark: Option<String>,
        columns: usize,
    },
    /// A container that is nested too deeply to be shown.
    TooDeep,
}

struct Renderer<'t> {
    theme: &'t Theme,
    colors: &'t Budget<'t>,
    width: usize,
    out: Rendered,
    containers: Vec<Container>,
    /// The next number of each open list, or `None` for bullets.
    lists: Vec<Option<u64>>,
    /// The styles of the enclosing elements; each includes the outer ones.
    styles: Vec<Style>,
    /// The indexes in `targets` of the enclosing links.
    link: Vec<usize>,
    targets: Vec<Arc<str>>,
    /// The text of the current block so far.
    pieces: Vec<Piece>,
    /// Whether a block has ended, so that a blank line precedes the next one.
    gap: bool,
    code: Option<(Option<String>, String)>,
    /// The current block of HTML so far.
    html_block: String,
    /// Whether HTML is within a text.
    is_inline: bool,
    /// The changes of style by HTML and by GitLab's syntax in the current block.
    marks: Vec<Mark>,
    /// The containers that HTML has opened.
    opened: Vec<Opened>,
    /// The next number of each open list of HTML, or `None` for bullets.
    html_lists: Vec<Option<u64>>,
    html_table: Option<HtmlTable>,
    /// The number of ends of tables of HTML that may follow: only a table that ends is one.
    table_ends: usize,
    /// The number of cells so far in the current row, in a table that is not aligned.
    html_cells: usize,
    /// The address of the current image, and the index of its text.
    image_source: String,
    image_at: usize,
    /// The source of the open picture that fits the background.
    picture_source: Option<String>,
    /// The images in the text of the current block.
    images: Vec<BlockImage>,
    /// The number of lines for each image that is drawn in place.
    image_rows: &'t [u16],
    /// Whether an image has just ended, whose size may follow.
    after_image: bool,
    /// Whether a quote has just started, whose kind may follow.
    is_quote_start: bool,
    /// Whether a text has just started, which may be a task.
    is_text_start: bool,
    /// The state of the task that is all of the current cell so far.
    cell_task: Option<Option<bool>>,
    /// The levels and texts of the headings, if the text has a table of contents.
    headings: Vec<(HeadingLevel, String)>,
    code_budget: usize,
    table: Option<Table>,
    /// The number of lines and spans that may still be written.
    budget: usize,
}

impl<'t> Renderer<'t> {
    fn new(width: usize, theme: &'t Theme, colors: &'t Budget<'t>) -> Renderer<'t> {
        Renderer {
            theme,
            colors,
            width,
            out: Rendered::default(),
            containers: Vec::new(),
            lists: Vec::new(),
            styles: Vec::new(),
            link: Vec::new(),
            targets: Vec::new(),
            pieces: Vec::new(),
            gap: false,
            code: None,
            html_block: String::new(),
            is_inline: false,
            marks: Vec::new(),
            opened: Vec::new(),
            html_lists: Vec::new(),
            html_table: None,
            table_ends: 0,
            html_cells: 0,
            image_source: String::new(),
            image_at: 0,
            picture_source: None,
            images: Vec::new(),
            image_rows: &[],
            after_image: false,
            is_quote_start: false,
            is_text_start: false,
            cell_task: None,
            headings: Vec::new(),
            code_budget: MAX_CODE_BYTES,
            table: None,
            budget: 0,
        }
    }

    fn event(&mut self, event: Event<'_>) {
        let after_image = std::mem::take(&mut self.after_image);
        let is_quote_start = std::mem::take(&mut self.is_quote_start);
        let is_text_start = std::mem::take(&mut self.is_text_start);
        let cell_task = self.cell_task.take();
        match event {
            Event::Start(tag) => {
                self.is_quote_start = is_quote_start && tag == Tag::Paragraph;
                self.is_text_start = matches!(tag, Tag::Item | Tag::Paragraph | Tag::TableCell);
                self.start(tag);
            }
            Event::End(TagEnd::TableCell) => {
                if let Some(state) = cell_task {
                    self.pieces.pop();
                    self.word(check_box(state).trim_end(), self.theme.style(Role::Accent));
                }
                self.end(TagEnd::TableCell);
            }
            Event::End(tag) => self.end(tag),
            Event::Text(text) => match &mut self.code {
                Some((_, code)) => code.push_str(&gitlab::without_marks(&text)),
                None => {
                    let mut text = text.as_ref();
                    if after_image {
                        text = gitlab::without_size(text);
                    }
                    if is_quote_start && let Some((kind, title)) = gitlab::alert_title(text) {
                        let style = self.theme.style(alert(kind).1).add_modifier(Modifier::BOLD);
                        self.mark_block(ALERT, style);
                        text = title;
                    }
                    if is_text_start {
                        self.cell_task = self.task_of_cell(text);
                        text = self.task_of_text(text).unwrap_or(text);
                    }
                    self.text(text);
                }
            },
            Event::Code(code) => self.inline_code(&code),
            Event::InlineHtml(html) if html.starts_with("<!--") => {}
            Event::InlineHtml(html) => self.html(&html, true),
            Event::Html(html) => self.html_block.push_str(&html),
            Event::InlineMath(math) => {
                let math = math.strip_prefix('`').and_then(|math| math.strip_suffix('`')).unwrap_or(&math);
                self.word(&format!("${math}$"), self.style().patch(self.theme.style(Role::SyntaxString)));
            }
            Event::DisplayMath(math) => {
                let math = format!("$${math}$$");
                for (at, line) in math.lines().enumerate() {
                    if at > 0 {
                        self.pieces.push(Piece::Break);
                    }
                    self.word(line, self.style().patch(self.theme.style(Role::SyntaxString)));
                }
            }
            Event::FootnoteReference(name) => self.word(&format!("[^{name}]"), self.theme.style(Role::Link)),
            Event::SoftBreak if self.end_mark(ALERT) => self.pieces.push(Piece::Break),
            Event::SoftBreak => self.word(" ", self.style()),
            Event::HardBreak => self.pieces.push(Piece::Break),
            Event::Rule => self.rule(),
            Event::TaskListMarker(done) => self.task(check_box(Some(done))),
        }
    }

    /// Puts the box of a task in place of the bullet, or after the number.
    fn task(&mut self, mark: &str) {
        let is_numbered = matches!(self.lists.last(), Some(Some(_)));
        match self.containers.last_mut() {
            Some(Container::Item { mark: Some(number), columns }) if is_numbered => {
                number.push_str(mark);
                *columns = text::width(number);
            }
            Some(Container::Item { mark: Some(bullet), columns }) => {
                *bullet = mark.into();
                *columns = text::width(mark);
            }
            _ => self.word(mark, self.theme.style(Role::Accent)),
        }
    }

    /// Starts a task that the parser does not know, because it does not apply or has another space in its box, and
    /// returns its text.
    fn task_of_text<'a>(&mut self, text: &'a str) -> Option<&'a str> {
        let is_item = matches!(self.containers.last(), Some(Container::Item { mark: Some(_), .. }));
        let (inside, task) = text.strip_prefix('[')?.split_once("] ")?;
        let state = state_of_task(inside).filter(|_| is_item && !self.lists.is_empty() && self.table.is_none())?;
        self.task(check_box(state));
        if state.is_none() {
            self.mark_block("task", Style::new().add_modifier(Modifier::CROSSED_OUT));
        }
        Some(task)
    }

    /// Returns the state of the task that a text of a cell is (comrak's `tasklist_in_table`).
    fn task_of_cell(&self, text: &str) -> Option<Option<bool>> {
        self.table.as_ref()?;
        text.trim().strip_prefix('[')?.strip_suffix(']').and_then(state_of_task)
    }

    fn rule(&mut self) {
        self.block();
        self.underline();
        self.gap = true;
    }

    fn underline(&mut self) {
        if self.table.is_some() {
            return;
        }
        let room = self.room();
        self.word(&glyph::rule().repeat(room), self.theme.style(Role::Faint));
        self.flush();
    }

    /// Adds code within a text, and the color that it names.
    fn inline_code(&mut self, code: &str) {
        // A backslash before a color says that it is none.
        let escaped = code.strip_prefix('\\').filter(|code| color::parse(code).is_some());
        self.word(escaped.unwrap_or(code), self.style().patch(self.theme.style(Role::SyntaxString)));
        let chip = color::parse(code).and_then(|color| self.theme.pixel(color)).filter(|_| !glyph::is_ascii());
        if let Some(color) = chip {
            self.word(" ■", self.style().fg(color));
        }
    }

    /// Adds an image, or another file that is shown in place.
    fn image(&mut self, kind: &str, source: Option<&str>, label: Option<&str>, width: Option<ImageWidth>) {
        let start = self.pieces.len();
        let label =
            label.filter(|label| !label.trim().is_empty()).or_else(|| source.map(file_name)).unwrap_or_default();
        let link = self.current_link().or_else(|| Some(self.add_target(source?)));
        self.pieces.push(Piece::Text {
            text: text::sanitize(&format!("[{kind}: {label}]")).into_owned(),
            style: self.style().patch(self.theme.style(Role::Dim)),
            link,
        });
        if let Some(source) = source.filter(|_| kind == IMAGE) {
            self.place_image(source, start, width);
        }
    }

    /// Remembers the image whose text are the pieces from `start`.
    fn place_image(&mut self, source: &str, start: usize, width: Option<ImageWidth>) {
        // The cells of tables show only texts.
        if self.table.is_none() {
            let address = text::sanitize(source).into();
            self.images.push(BlockImage { address, pieces: start..self.pieces.len(), width });
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph => self.block(),
            Tag::HtmlBlock => self.flush(),
            Tag::Heading { level, .. } => {
                self.block();
                let role = if level <= HeadingLevel::H2 { Role::Title } else { Role::SyntaxHeading };
                self.push_style(role);
            }
            Tag::BlockQuote(kind) => {
                self.block();
                self.enter(Container::Quote);
                self.is_quote_start = kind.is_none();
                if let Some(kind) = kind {
                    let (name, role) = alert(kind);
                    self.word(name, self.theme.style(role).add_modifier(Modifier::BOLD));
                    self.flush();
                }
            }
            Tag::CodeBlock(kind) => {
                self.block();
                let language = match kind {
                    CodeBlockKind::Fenced(info) => {
                        info.split([' ', ',', '{', '\t']).next().filter(|word| !word.is_empty()).map(str::to_owned)
                    }
                    CodeBlockKind::Indented => None,
                };
                self.code = Some((language, String::new()));
            }
            Tag::List(first) => {
                // A nested list directly follows the text of its item.
                if self.lists.is_empty() {
                    self.block()
                } else {
                    self.flush()
                }
                self.lists.push(first);
            }
            Tag::Item => {
                if std::mem::take(&mut self.gap) {
                    self.blank();
                }
                let mark = item_mark(self.lists.last_mut().and_then(Option::as_mut));
                self.enter(Container::Item { columns: text::width(&mark), mark: Some(mark) });
            }
            Tag::FootnoteDefinition(name) => {
                self.block();
                let mark = format!("[^{}] ", text::fit(&name, MAX_FOOTNOTE_WIDTH));
                self.enter(Container::Item { columns: text::width(&mark), mark: Some(mark) });
            }
            Tag::Table(alignments) => {
                self.block();
                if self.html_table.is_none() {
                    self.table = Some(Table::new(alignments));
                }
            }
            Tag::TableHead | Tag::TableRow if self.html_table.is_some() => {
                self.flush();
                self.html_cells = 0;
            }
            Tag::TableHead | Tag::TableRow => {
                if let Some(table) = &mut self.table {
                    table.start_row();
                }
            }
            Tag::TableCell if self.html_table.is_some() => self.divide_cells(),
            Tag::Emphasis => self.push_style(Role::SyntaxEmphasis),
            Tag::Strong => self.push_style(Role::SyntaxStrong),
            Tag::Strikethrough => {
                let style = self.style().add_modifier(Modifier::CROSSED_OUT);
                self.styles.push(style);
            }
            Tag::Link { dest_url, .. } => {
                self.push_style(Role::Link);
                self.target(&dest_url);
            }
            Tag::Image { dest_url, .. } => {
                self.push_style(Role::Dim);
                let link = self.current_link().unwrap_or_else(|| self.add_target(&dest_url));
                self.link.push(link);
                self.word(&format!("[{}: ", media(&dest_url)), self.style());
                self.image_source = dest_url.into_string();
                self.image_at = self.pieces.len();
            }
            Tag::DefinitionList => self.flush(),
            Tag::DefinitionListTitle => {
                self.gap = true;
                self.block();
                self.push_style(Role::SyntaxStrong);
            }
            Tag::DefinitionListDefinition => {
                self.flush();
                self.gap = false;
                self.enter(Container::Item { mark: None, columns: 2 });
            }
            Tag::TableCell | Tag::Superscript | Tag::Subscript | Tag::MetadataBlock(_) => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::HtmlBlock => {
                let html = gitlab::without_comments(&std::mem::take(&mut self.html_block));
                let before = self.out.lines.len();
                self.html(&html, false);
                self.end_block(false);
                self.gap |= self.out.lines.len() > before;
            }
            TagEnd::Paragraph => {
                if self.is_contents_mark() {
                    self.contents();
                }
                self.flush();
                self.gap = true;
            }
            TagEnd::DefinitionListTitle => {
                self.styles.pop();
                self.flush();
            }
            TagEnd::DefinitionListDefinition => {
                self.flush();
                self.leave_markdown();
            }
            TagEnd::DefinitionList => self.gap = true,
            TagEnd::Heading(level) => {
                self.styles.pop();
                self.heading_section();
                self.flush();
                if level == HeadingLevel::H1 {
                    self.underline();
                }
                self.gap = true;
            }
            TagEnd::BlockQuote(_) | TagEnd::FootnoteDefinition => {
                self.flush();
                self.leave_markdown();
                self.gap = true;
            }
            TagEnd::CodeBlock => {
                if let Some((language, code)) = self.code.take() {
                    self.code_block(language.as_deref(), &code);
                }
                self.gap = true;
            }
            TagEnd::List(_) => {
                self.lists.pop();
                self.gap |= self.lists.is_empty();
            }
            TagEnd::Item => {
                self.flush();
                if matches!(self.containers.last(), Some(Container::Item { mark: Some(_), .. })) {
                    self.line(Line::empty(), &[]);
                }
                self.leave_markdown();
            }
            TagEnd::TableCell if self.html_table.is_none() && self.table.is_some() => {
                let pieces = self.take_pieces();
                if let Some(table) = &mut self.table {
                    table.push_cell(pieces);
                }
            }
            TagEnd::Table if self.html_table.is_some() => self.flush(),
            TagEnd::Table => {
                if let Some(table) = self.table.take() {
                    self.write_table(&table);
                }
            }
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => {
                self.styles.pop();
            }
            TagEnd::Link => {
                self.styles.pop();
                self.link.pop();
            }
            TagEnd::Image => {
                let source = std::mem::take(&mut self.image_source);
                if self.image_at == self.pieces.len() {
                    self.word(file_name(&source), self.style());
                }
                self.word("]", self.style());
                if media(&source) == IMAGE {
                    self.place_image(&source, self.image_at.saturating_sub(1), None);
                }
                self.styles.pop();
                self.link.pop();
                self.after_image = true;
            }
            TagEnd::TableHead
            | TagEnd::TableRow
            | TagEnd::TableCell
            | TagEnd::Superscript
            | TagEnd::Subscript
            | TagEnd::MetadataBlock(_) => {}
        }
    }

    /// Returns whether the current paragraph stands for the table of contents.
    fn is_contents_mark(&self) -> bool {
        let text = self.pieces.iter().filter_map(|piece| match piece {
            Piece::Text { text, .. } => Some(text.as_str()),
            Piece::Break => None,
        });
        !self.headings.is_empty() && self.pieces.len() < 6 && gitlab::is_contents_mark(&text.collect::<String>())
    }

    /// Writes the table of contents in place of the current paragraph.
    fn contents(&mut self) {
        self.pieces.clear();
        let headings = std::mem::take(&mut self.headings);
        let first = headings.iter().map(|(level, _)| *level as usize).min().unwrap_or_default();
        for (level, title) in &headings {
            if self.budget == 0 {
                break;
            }
            let mark = format!("{}{}", "  ".repeat(*level as usize - first), bullet());
            self.enter(Container::Item { columns: text::width(&mark), mark: Some(mark) });
            self.text(title);
            self.flush();
            self.containers.pop();
        }
        self.headings = headings;
    }

    fn style(&self) -> Style {
        let style = self.styles.last().copied().unwrap_or_else(|| self.theme.style(Role::Text));
        self.marks.iter().fold(style, |style, mark| style.patch(mark.style))
    }

    fn push_style(&mut self, role: Role) {
        let style = self.style().patch(self.theme.style(role));
        self.styles.push(style);
    }

    /// Starts a link to the address of a link or an image.
    fn target(&mut self, address: &str) {
        let link = self.add_target(address);
        self.link.push(link);
    }

    /// Adds the address of a link or an image. A path is told from a reference to an item in a project.
    fn add_target(&mut self, address: &str) -> usize {
        let is_path = address.starts_with(|c: char| !matches!(c, '!' | '#' | '@')) && is_reference(address);
        self.push_target(&if is_path { format!("./{address}").into() } else { Cow::Borrowed(address) })
    }

    fn push_target(&mut self, target: &str) -> usize {
        self.targets.push(text::sanitize(target).into());
        self.targets.len() - 1
    }

    /// Adds a section that starts with the next line.
    fn section(&mut self, name: String, is_heading: bool) {
        let gap = usize::from(self.gap && !self.out.lines.is_empty());
        self.out.sections.push(TextSection { name, is_heading, line: self.out.lines.len() + gap });
    }

    /// Adds the section of the heading that is the current block.
    fn heading_section(&mut self) {
        // In the cell of a table, the block is the last line.
        let is_break = |piece: &Piece| matches!(piece, Piece::Break);
        let before = self.table.as_ref().and_then(|_| self.pieces.iter().rposition(is_break));
        let pieces = self.pieces.get(before.map_or(0, |at| at + 1)..).unwrap_or_default();
        let text = pieces.iter().map(|piece| match piece {
            Piece::Text { text, .. } => text.as_str(),
            Piece::Break => " ",
        });
        let name = text.collect::<String>();
        self.section(name, true);
    }

    /// Returns the link that text belongs to.
    fn current_link(&self) -> Option<usize> {
        self.link.last().copied().or_else(|| self.marks.iter().rev().find_map(|mark| mark.link))
    }

    fn enter(&mut self, container: Container) {
        let deep = self.table.is_some()
            || self.containers.len() >= MAX_DEPTH
            || self.room() < container.columns() + MIN_TEXT_WIDTH;
        if let (true, Container::Item { mark: Some(mark), .. }) = (deep, &container) {
            self.word(mark, self.theme.style(Role::Accent));
        }
        self.containers.push(if deep { Container::TooDeep } else { container });
    }

    /// Adds text as is.
    fn word(&mut self, text: &str, style: Style) {
        let text = text::sanitize(&gitlab::without_marks(text)).into_owned();
        self.pieces.push(Piece::Text { text, style, link: self.current_link() });
    }

    /// Adds text, links the references in it, and shows emoji for their names, and the colors of changes within it.
    fn text(&mut self, text: &str) {
        if let Some(script) = self.marks.iter().rev().find_map(|mark| mark.script) {
            return self.word(&script.write(text), self.style());
        }
        let named = if glyph::is_ascii() { Cow::Borrowed(text) } else { gitlab::with_emoji(text) };
        for (change, part) in gitlab::changes(&named) {
            let role = match change {
                None => None,
                Some(gitlab::Change::Added) => Some(Role::Added),
                Some(gitlab::Change::Removed) => Some(Role::Removed),
            };
            let style = role.map_or(Style::new(), |role| self.theme.style(role));
            self.text_with_references(part, self.style().patch(style));
        }
    }

    fn text_with_references(&mut self, text: &str, style: Style) {
        let Some(references) = REFERENCES.as_ref().filter(|_| self.current_link().is_none()) else {
            self.word(text, style);
            return;
        };
        let mut at = 0;
        for hit in references.find_iter(text) {
            let before = text.get(..hit.start()).and_then(|before| before.chars().next_back());
            if before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '@' | '&' | '/' | '!' | '#')) {
                continue;
            }
            self.word(text.get(at..hit.start()).unwrap_or_default(), style);
            let role = if hit.as_str().starts_with('@') { Role::User } else { Role::Link };
            let link = self.push_target(hit.as_str());
            self.link.push(link);
            self.word(hit.as_str(), style.patch(self.theme.style(role)));
            self.link.pop();
            at = hit.end();
        }
        self.word(text.get(at..).unwrap_or_default(), style);
    }

    /// Returns the width left by the containers.
    fn room(&self) -> usize {
        let taken: usize = self.containers.iter().take(MAX_DEPTH + 1).map(Container::columns).sum();
        self.width.saturating_sub(taken).max(1)
    }

    /// Starts a block.
    fn block(&mut self) {
        self.flush();
        if std::mem::take(&mut self.gap) {
            self.blank();
        }
    }

    fn blank(&mut self) {
        if self.table.is_some() {
            return;
        }
        // The marker of an item that starts here belongs to the next line.
        let quotes = self.containers.iter().take(MAX_DEPTH + 1).filter(|c| matches!(c, Container::Quote)).count();
        let bar = format!("{} ", glyph::divider()).repeat(quotes);
        let mut line = DocLine::default();
        if quotes > 0 {
            line.text.push(bar.trim_end().to_owned(), Role::Faint);
        }
        // A paragraph that shows nothing, such as a name for links, adds no second empty line.
        if self.out.lines.last().is_some_and(|last| *last != line) && self.budget > 0 {
            self.budget -= 1;
            self.out.lines.push(line);
        }
    }

    /// Writes the text of the current block. In the cell of a table, only the line ends.
    fn flush(&mut self) {
        if self.table.is_some() {
            return self.end_line_of_cell();
        }
        let images = std::mem::take(&mut self.images);
        let pieces = self.take_pieces();
        if images.is_empty() {
            return self.flow(&pieces);
        }
        // Lines that have only images are apart from the others.
        let (mut start, mut rest) = (0, images.as_slice());
        for line in pieces.split_inclusive(|piece| *piece == Piece::Break) {
            let end = start + line.len();
            let count = rest.iter().take_while(|image| image.pieces.end <= end).count();
            let (here, after) = rest.split_at(count);
            let between = |range: Range<usize>| pieces.get(range).unwrap_or_default().iter().all(Piece::is_blank);
            let mut at = start;
            let is_alone =
                here.iter().all(|image| between(std::mem::replace(&mut at, image.pieces.end)..image.pieces.start));
            if here.is_empty() || !is_alone || !between(at..end) || self.out.images.len() + count > MAX_IMAGES {
                self.flow(line);
            } else {
                self.write_images(&pieces, start..end, here);
            }
            (start, rest) = (end, after);
        }
    }

    /// Writes text, wrapped.
    fn flow(&mut self, pieces: &[Piece]) {
        for words in flow::lines(pieces, self.room()) {
            if self.budget == 0 {
                break;
            }
            self.words(words);
        }
    }

    /// Writes a line of images: empty lines for those that are drawn, and the texts of the others.
    fn write_images(&mut self, pieces: &[Piece], line: Range<usize>, images: &[BlockImage]) {
        let first = self.out.images.len();
        let rows = |at: usize| self.image_rows.get(first + at).copied().unwrap_or(0);
        let rows: Vec<u16> = (0..images.len()).map(rows).collect();
        let is_drawn = rows.iter().any(|rows| *rows > 0);
        let narrow = |columns: usize| u16::try_from(columns).unwrap_or(u16::MAX);
        for (image, rows) in images.iter().zip(rows) {
            self.out.images.push(TextImage {
                address: image.address.clone(),
                line: self.out.lines.len(),
                rows,
                left: narrow(self.width.saturating_sub(self.room())),
                room: narrow(self.room()),
                width: image.width,
            });
            let text = pieces.get(image.pieces.clone()).unwrap_or_default();
            let link = text.iter().find_map(|piece| match piece {
                Piece::Text { link, .. } => *link,
                Piece::Break => None,
            });
            for _ in 0..rows.min(u16::try_from(self.budget / 2).unwrap_or(u16::MAX)) {
                // Each of its lines opens the image.
                let links: Vec<_> = link.map(|link| (0..0, link)).into_iter().collect();
                self.line(Line::empty(), &links);
            }
            if is_drawn && rows == 0 {
                self.flow(text);
            }
        }
        if !is_drawn {
            self.flow(pieces.get(line).unwrap_or_default());
        }
    }

    fn words(&mut self, words: Vec<Word>) {
        let mut line = Line::empty();
        let mut links: Vec<(Range<usize>, usize)> = Vec::new();
        let mut at = 0;
        for word in words {
            let end = at + word.text.len();
            if let Some(link) = word.link {
                match links.last_mut() {
                    Some((range, last)) if *last == link && range.end == at => range.end = end,
                    _ => links.push((at..end, link)),
                }
            }
            line.push_joined(&word.text, word.style);
            at = end;
        }
        self.line(line, &links);
    }

    fn write_table(&mut self, table: &Table) {
        for words in table.lines(self.room(), self.theme) {
            if self.budget == 0 {
                break;
            }
            self.words(words);
        }
        self.gap = true;
    }

    /// Adds a line after the prefixes of its containers.
    fn line(&mut self, text: Line<'static>, links: &[(Range<usize>, usize)]) {
        if self.table.is_some() {
            // Code in the cell of a table: it keeps its indentation.
            self.end_line_of_cell();
            for span in text.spans {
                let rest = span.text.trim_start_matches(' ');
                let indented = "\u{a0}".repeat(span.text.len() - rest.len()) + rest;
                self.pieces.push(Piece::Text { text: indented, style: span.paint.style(self.theme), link: None });
            }
            return self.pieces.push(Piece::Break);
        }
        let mut line = DocLine::default();
        for container in self.containers.iter_mut().take(MAX_DEPTH + 1) {
            match container {
                Container::Quote => {
                    line.text.push(format!("{} ", glyph::divider()), Role::Faint);
                }
                Container::Item { mark, columns } => match mark.take() {
                    Some(mark) => line.text.push(mark, Role::Accent),
                    None => line.text.push(" ".repeat(*columns), Style::new()),
                },
                Container::TooDeep => {}
            }
        }
        let shift = line.text.len();
        for (range, link) in links {
            let Some(target) = self.targets.get(*link) else { continue };
            let range = range.start + shift..range.end + shift;
            line.links.push((range, target.clone()));
        }
        line.text.extend(text);
        self.budget = self.budget.saturating_sub(1 + line.text.spans.len() + links.len());
        self.out.lines.push(line);
    }

    /// Writes a code block without wrapping; viewers can scroll horizontally.
    fn code_block(&mut self, name: Option<&str>, code: &str) {
        let bar = Line::new(format!("{} ", glyph::divider()), Role::Faint);
        if let Some(name) = name {
            // The range of lines to replace follows the colon.
            let name = if name.starts_with("suggestion:") || name == REPLACEMENT { "suggestion" } else { name };
            self.line(bar.clone().and(text::sanitize(name).into_owned(), Role::Dim), &[]);
        }
        let language = name.filter(|_| code.len() <= self.code_budget);
        let language = language.map(|name| if name == REPLACEMENT { "diff" } else { name }).and_then(Language::named);
        let highlighted = language.map(|language| {
            self.code_budget -= code.len();
            highlight_lines(language, code.lines(), self.colors)
        });
        for (at, source) in code.lines().enumerate() {
            if self.budget == 0 {
                break;
            }
            let spans =
                highlighted.as_ref().and_then(|highlighted| highlighted.get(at)).map(|spans| layer(spans, self.theme));
            let mut line = bar.clone();
            for span in blend(source, self.theme.style(Role::Text), &[&spans.unwrap_or_default()]) {
                line.push(text::sanitize(&span.text).into_owned(), span.paint);
            }
            self.line(line, &[]);
        }
    }
}

/// The name of the change of style of an alert's title.
const ALERT: &str = "alert";

/// Returns the name and the role of a kind of alert.
fn alert(kind: BlockQuoteKind) -> (&'static str, Role) {
    match kind {
        BlockQuoteKind::Note => ("Note", Role::Accent),
        BlockQuoteKind::Tip => ("Tip", Role::Success),
        BlockQuoteKind::Important => ("Important", Role::Accent),
        BlockQuoteKind::Warning => ("Warning", Role::Warning),
        BlockQuoteKind::Caution => ("Caution", Role::Failed),
    }
}

/// Returns the state of a task with this text in its box: done, open, or `None` if it does not apply.
fn state_of_task(inside: &str) -> Option<Option<bool>> {
    let mut chars = inside.chars();
    match (chars.next()?, chars.next()) {
        ('x' | 'X', None) => Some(Some(true)),
        ('~', None) => Some(None),
        (space, None) if space.is_whitespace() => Some(Some(false)),
        _ => None,
    }
}

/// Returns the box of a task that is done, open, or does not apply.
fn check_box(is_done: Option<bool>) -> &'static str {
    match (is_done, glyph::is_ascii()) {
        (Some(true), false) => "☑ ",
        (Some(false), false) => "☐ ",
        (None, false) => "⊟ ",
        (Some(true), true) => "[x] ",
        (Some(false), true) => "[ ] ",
        (None, true) => "[~] ",
    }
}

fn bullet() -> &'static str {
    if glyph::is_ascii() { "- " } else { "• " }
}

/// Returns the mark of a list item, and counts the items of a numbered list.
fn item_mark(number: Option<&mut u64>) -> String {
    let Some(number) = number else { return bullet().into() };
    let mark = format!("{number}. ");
    *number = number.saturating_add(1);
    mark
}

/// The kind of what is drawn in place.
const IMAGE: &str = "image";

/// Returns the kind of what an image shows: videos and audio are written as images, too (GitLab,
/// `lib/gitlab/file_type_detection.rb`).
fn media(address: &str) -> &'static str {
    let end = file_name(address).rsplit_once('.').map(|(_, end)| end.to_ascii_lowercase());
    match end.as_deref() {
        Some("mp4" | "m4v" | "mov" | "webm" | "ogv") => "video",
        Some("mp3" | "oga" | "ogg" | "spx" | "wav") => "audio",
        _ => IMAGE,
    }
}

/// Returns the name of the file at an address.
fn file_name(address: &str) -> &str {
    let path = address.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
    path.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or(address)
}

/// Returns the levels and texts of the headings.
fn headings<'a>(events: impl Iterator<Item = Event<'a>>) -> Vec<(HeadingLevel, String)> {
    let mut headings = Vec::new();
    let mut is_open = false;
    for event in events {
        match event {
            Event::Start(Tag::Heading { level, .. }) => {
                headings.push((level, String::new()));
                is_open = true;
            }
            Event::End(TagEnd::Heading(_)) => is_open = false,
            Event::Text(text) | Event::Code(text) if is_open => {
                if let Some((_, title)) = headings.last_mut() {
                    title.push_str(&text);
                }
            }
            _ => {}
        }
    }
    headings
}

impl Container {
    fn columns(&self) -> usize {
        match self {
            Container::Quote => 2,
            Container::Item { columns, .. } => *columns,
            Container::TooDeep => 0,
        }
    }
}

#[cfg(test)]
mod tests;
