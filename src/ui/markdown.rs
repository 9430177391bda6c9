//! Markdown rendered as styled lines of a given width, in one pass over the parser's events; nesting in the text does
//! not deepen the call stack. Rendering is worth caching, because it highlights code blocks.

mod flow;
mod gitlab;
mod table;

use crate::ui::code::{Budget, Language, highlight_lines, layer};
use crate::ui::doc::DocLine;
use crate::ui::layers::blend;
use crate::ui::theme::{Role, Theme};
use crate::ui::{glyph, text};
use flow::{Piece, Word};
use pulldown_cmark::{
    BlockQuoteKind, CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd, TextMergeStream,
};
use ratatui::style::{Modifier, Style};
use regex::Regex;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, LazyLock};
use table::Table;

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
    let read = text::head_bytes(markdown, bytes.min(MAX_BYTES));
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_GFM;
    let mut renderer = Renderer::new(width.max(1), theme, colors);
    renderer.budget = (MIN_BUDGET + 2 * read.len()).min(MAX_BUDGET);
    let mut body = read;
    if let Some(front) = gitlab::front_matter(read) {
        renderer.code_block(Some(front.language), front.data);
        renderer.gap = true;
        body = front.rest;
    }
    let body = gitlab::mark_quotes(body);
    for event in TextMergeStream::new(Parser::new_ext(&body, options)) {
        renderer.event(event);
        if renderer.budget == 0 {
            break;
        }
    }
    renderer.flush();
    if renderer.budget == 0 || read.len() < markdown.len() {
        renderer =
            Renderer { out: renderer.out, gap: true, budget: MIN_BUDGET, ..Renderer::new(width.max(1), theme, colors) };
        renderer.block();
        renderer.word(&format!("{} truncated", glyph::ellipsis()), theme.style(Role::Dim));
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
            code_budget: MAX_CODE_BYTES,
            table: None,
            budget: 0,
        }
    }

    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => match &mut self.code {
                Some((_, code)) => code.push_str(&text),
                None => self.text(&text),
            },
            Event::Code(code) => self.word(&code, self.style().patch(self.theme.style(Role::SyntaxString))),
            Event::InlineHtml(html) if html.trim_end_matches([' ', '/', '>']).eq_ignore_ascii_case("<br") => {
                self.pieces.push(Piece::Break);
            }
            Event::InlineHtml(html) if html.starts_with("<!--") => {}
            Event::InlineHtml(html) => self.html(&html),
            Event::Html(html) => self.html_block.push_str(&html),
            Event::InlineMath(math) | Event::DisplayMath(math) => {
                self.word(&math, self.theme.style(Role::SyntaxString))
            }
            Event::FootnoteReference(name) => self.word(&format!("[^{name}]"), self.theme.style(Role::Link)),
            Event::SoftBreak => self.word(" ", self.style()),
            Event::HardBreak => self.pieces.push(Piece::Break),
            Event::Rule => {
                self.block();
                let room = self.room();
                self.word(&glyph::rule().repeat(room), self.theme.style(Role::Faint));
                self.flush();
                self.gap = true;
            }
            Event::TaskListMarker(done) => {
                let mark = match (done, glyph::is_ascii()) {
                    (true, false) => "☑ ",
                    (false, false) => "☐ ",
                    (true, true) => "[x] ",
                    (false, true) => "[ ] ",
                };
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
                if let Some(kind) = kind {
                    let (name, role) = match kind {
                        BlockQuoteKind::Note => ("Note", Role::Accent),
                        BlockQuoteKind::Tip => ("Tip", Role::Success),
                        BlockQuoteKind::Important => ("Important", Role::Accent),
                        BlockQuoteKind::Warning => ("Warning", Role::Warning),
                        BlockQuoteKind::Caution => ("Caution", Role::Failed),
                    };
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
                let mark = match self.lists.last_mut() {
                    Some(Some(number)) => {
                        let mark = format!("{number}. ");
                        *number = number.saturating_add(1);
                        mark
                    }
                    _ if glyph::is_ascii() => "- ".into(),
                    _ => "• ".into(),
                };
                self.enter(Container::Item { columns: text::width(&mark), mark: Some(mark) });
            }
            Tag::FootnoteDefinition(name) => {
                self.block();
                self.enter(Container::Item {
                    mark: Some(format!("[^{}] ", text::fit(&name, MAX_FOOTNOTE_WIDTH))),
                    columns: 4,
                });
            }
            Tag::Table(alignments) => {
                self.block();
                self.table = Some(Table::new(alignments));
            }
            Tag::TableHead | Tag::TableRow => {
                if let Some(table) = &mut self.table {
                    table.start_row();
                }
            }
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
                self.target(&dest_url);
                self.word("[image: ", self.style());
            }
            Tag::DefinitionList | Tag::DefinitionListTitle | Tag::DefinitionListDefinition => self.block(),
            Tag::TableCell | Tag::Superscript | Tag::Subscript | Tag::MetadataBlock(_) => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::HtmlBlock => {
                let html = gitlab::without_comments(&std::mem::take(&mut self.html_block));
                if !html.trim().is_empty() {
                    self.block();
                    self.html(html.trim_matches('\n'));
                    self.flush();
                    self.gap = true;
                }
            }
            TagEnd::Paragraph | TagEnd::DefinitionListTitle | TagEnd::DefinitionListDefinition => {
                self.flush();
                self.gap = true;
            }
            TagEnd::Heading(level) => {
                self.styles.pop();
                self.flush();
                if level == HeadingLevel::H1 {
                    let room = self.room();
                    self.word(&glyph::rule().repeat(room), self.theme.style(Role::Faint));
                    self.flush();
                }
                self.gap = true;
            }
            TagEnd::BlockQuote(_) | TagEnd::FootnoteDefinition => {
                self.flush();
                self.containers.pop();
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
                    self.line(Vec::new(), &[]);
                }
                self.containers.pop();
            }
            TagEnd::TableCell => {
                let pieces = std::mem::take(&mut self.pieces);
                if let Some(table) = &mut self.table {
                    table.push_cell(pieces);
                }
            }
            TagEnd::Table => {
                if let Some(table) = self.table.take() {
                    for words in table.lines(self.room(), self.theme) {
                        if self.budget == 0 {
                            break;
                        }
                        self.words(words);
                    }
                }
                self.gap = true;
            }
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => {
                self.styles.pop();
            }
            TagEnd::Link => {
                self.styles.pop();
                self.link.pop();
            }
            TagEnd::Image => {
                self.word("]", self.style());
                self.styles.pop();
                self.link.pop();
            }
            TagEnd::TableHead
            | TagEnd::TableRow
            | TagEnd::DefinitionList
            | TagEnd::Superscript
            | TagEnd::Subscript
            | TagEnd::MetadataBlock(_) => {}
        }
    }

    fn style(&self) -> Style {
        self.styles.last().copied().unwrap_or_else(|| self.theme.style(Role::Text))
    }

    fn push_style(&mut self, role: Role) {
        let style = self.style().patch(self.theme.style(role));
        self.styles.push(style);
    }

    fn target(&mut self, target: &str) {
        self.link.push(self.targets.len());
        self.targets.push(text::sanitize(target).into());
    }

    fn enter(&mut self, container: Container) {
        let deep = self.containers.len() >= MAX_DEPTH || self.room() < container.columns() + MIN_TEXT_WIDTH;
        self.containers.push(if deep { Container::TooDeep } else { container });
    }

    /// Adds text as is.
    fn word(&mut self, text: &str, style: Style) {
        self.pieces.push(Piece::Text {
            text: text::sanitize(text).into_owned(),
            style,
            link: self.link.last().copied(),
        });
    }

    /// Adds HTML as its source.
    fn html(&mut self, html: &str) {
        for (at, line) in html.split('\n').enumerate() {
            if at > 0 {
                self.pieces.push(Piece::Break);
            }
            self.word(line, self.theme.style(Role::Dim));
        }
    }

    /// Adds text, links the references in it, and shows emoji for their names.
    fn text(&mut self, text: &str) {
        let named = if glyph::is_ascii() { Cow::Borrowed(text) } else { gitlab::with_emoji(text) };
        let text = named.as_ref();
        let style = self.style();
        let Some(references) = REFERENCES.as_ref().filter(|_| self.link.is_empty()) else {
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
            self.target(hit.as_str());
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
        // The marker of an item that starts here belongs to the next line.
        let quotes = self.containers.iter().take(MAX_DEPTH + 1).filter(|c| matches!(c, Container::Quote)).count();
        let bar = format!("{} ", glyph::divider()).repeat(quotes);
        let mut line = DocLine::default();
        if quotes > 0 {
            line.spans.push((bar.trim_end().to_owned().into(), self.theme.style(Role::Faint)));
        }
        if !self.out.lines.is_empty() && self.budget > 0 {
            self.budget -= 1;
            self.out.lines.push(line);
        }
    }

    /// Writes the text of the current block.
    fn flush(&mut self) {
        let pieces = std::mem::take(&mut self.pieces);
        for words in flow::lines(&pieces, self.room()) {
            if self.budget == 0 {
                break;
            }
            self.words(words);
        }
    }

    fn words(&mut self, words: Vec<Word>) {
        let mut spans: Vec<(Cow<'static, str>, Style)> = Vec::new();
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
            match spans.last_mut() {
                Some((text, style)) if *style == word.style => text.to_mut().push_str(&word.text),
                _ => spans.push((word.text.into(), word.style)),
            }
            at = end;
        }
        self.line(spans, &links);
    }

    /// Adds a line after the prefixes of its containers.
    fn line(&mut self, spans: Vec<(Cow<'static, str>, Style)>, links: &[(Range<usize>, usize)]) {
        let mut line = DocLine::default();
        for container in self.containers.iter_mut().take(MAX_DEPTH + 1) {
            match container {
                Container::Quote => {
                    line.spans.push((format!("{} ", glyph::divider()).into(), self.theme.style(Role::Faint)));
                }
                Container::Item { mark, columns } => match mark.take() {
                    Some(mark) => line.spans.push((mark.into(), self.theme.style(Role::Accent))),
                    None => line.spans.push((" ".repeat(*columns).into(), Style::new())),
                },
                Container::TooDeep => {}
            }
        }
        let shift: usize = line.spans.iter().map(|(text, _)| text.len()).sum();
        for (range, link) in links {
            let Some(target) = self.targets.get(*link) else { continue };
            let range = range.start + shift..range.end + shift;
            line.links.push((range, target.clone()));
        }
        line.spans.extend(spans);
        self.budget = self.budget.saturating_sub(1 + line.spans.len() + links.len());
        self.out.lines.push(line);
    }

    /// Writes a code block without wrapping; viewers can scroll horizontally.
    fn code_block(&mut self, name: Option<&str>, code: &str) {
        let bar = (Cow::Owned(format!("{} ", glyph::divider())), self.theme.style(Role::Faint));
        if let Some(name) = name {
            // The range of lines to replace follows the colon.
            let name = if name.starts_with("suggestion:") || name == REPLACEMENT { "suggestion" } else { name };
            self.line(vec![bar.clone(), (text::sanitize(name).into_owned().into(), self.theme.style(Role::Dim))], &[]);
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
            let mut line = vec![bar.clone()];
            for (part, style) in blend(source, self.theme.style(Role::Text), &[&spans.unwrap_or_default()]) {
                line.push((Cow::Owned(text::sanitize(&part).into_owned()), style));
            }
            self.line(line, &[]);
        }
    }
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
