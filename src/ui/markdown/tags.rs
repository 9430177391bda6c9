//! HTML in Markdown: what its tags mean is shown. Tags that mean nothing here are shown as they are written, and so is
//! formatting that does not end: placeholders such as `<name>` look like tags.

use super::flow::{self, Piece};
use super::html::{self, Tag, Token};
use super::table::{CellShape, Table};
use super::{Container, IMAGE, ImageWidth, Renderer, media};
use crate::glyph;
use crate::theme::{Background, Role};
use pulldown_cmark::Alignment;
use ratatui::style::{Modifier, Style};
use std::borrow::Cow;

/// Maximum number of elements inside each other that change the style. The tags of deeper ones are shown.
const MAX_MARKS: usize = 16;

/// A change of style up to the end of an element, at the latest up to the end of the block.
pub struct Mark {
    /// The name of the element.
    name: String,
    pub style: Style,
    /// The target of a link.
    pub link: Option<usize>,
    pub script: Option<Script>,
    /// The piece that shows the tag if the element does not end, and the tag.
    source: Option<(usize, String)>,
}

/// A way to write text: raised, lowered, or not at all.
#[derive(Clone, Copy, PartialEq)]
pub enum Script {
    Super,
    Sub,
    Hidden,
}

/// A container that an HTML element has opened: its index, its name, and the number of open HTML lists around it.
pub struct Opened {
    at: usize,
    name: String,
    lists: usize,
}

/// The open table of HTML, while its cells are collected.
#[derive(Default)]
pub struct HtmlTable {
    /// The number of tables in its cells that are open. Their cells are not aligned.
    depth: usize,
    /// The open cell.
    cell: Option<CellShape>,
}

impl Script {
    /// Returns text as raised or lowered characters, or with a sign in front if not all of it has such.
    pub fn write(self, text: &str) -> String {
        let digits = match self {
            Script::Super => "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿ",
            Script::Sub => "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₙ",
            Script::Hidden => return String::new(),
        };
        let of = |c: char| {
            let at = "0123456789+-=()n".find(c)?;
            digits.chars().nth(at)
        };
        let written = text.trim().chars().map(of).collect::<Option<String>>().filter(|_| !glyph::is_ascii());
        let sign = if self == Script::Super { "^" } else { "_" };
        written.unwrap_or_else(|| format!("{sign}{text}"))
    }
}

impl Renderer<'_> {
    /// Adds HTML: one tag within a text, or a whole block.
    pub fn html(&mut self, html: &str, is_inline: bool) {
        self.is_inline = is_inline;
        // The language and the text of the open preformatted element.
        let mut code: Option<(Option<String>, String)> = None;
        for token in html::tokens(html) {
            match (token, &mut code) {
                (Token::Tag(tag), Some(_)) if tag.is_end && tag.name == "pre" => {
                    self.preformatted(code.take().unwrap_or_default());
                }
                (Token::Tag(tag), Some((language, text))) => {
                    if !is_known(&tag.name) {
                        text.push_str(tag.source);
                    } else if tag.name == "code" && language.is_none() && text.is_empty() {
                        *language = language_of(&tag);
                    }
                }
                (Token::Tag(tag), None) if tag.name == "pre" => {
                    self.end_block(true);
                    code = (!tag.is_end).then(|| (language_of(&tag), String::new()));
                }
                (Token::Tag(tag), None) => self.tag(&tag),
                (Token::Text(text), Some((_, code))) => code.push_str(&html::decode(text)),
                (Token::Text(text), None) => self.text(&html::decode(&html::collapse(text))),
            }
        }
        if let Some(code) = code.filter(|(_, text)| !text.is_empty()) {
            self.preformatted(code);
        }
    }

    fn preformatted(&mut self, (language, code): (Option<String>, String)) {
        self.block();
        self.code_block(language.as_deref(), code.trim_matches('\n'));
        self.gap = true;
    }

    fn tag(&mut self, tag: &Tag<'_>) {
        let accent = self.theme.style(Role::Accent);
        if !tag.is_end && tag.has_events() {
            return self.word(tag.source, self.theme.style(Role::Dim));
        }
        if let Some(name) = tag.attribute("id").or_else(|| tag.attribute("name")).filter(|_| !tag.is_end) {
            self.section(name.into_owned(), false);
        }
        let source = tag.attribute("src").filter(|_| !tag.is_end);
        match tag.name.as_str() {
            "br" => self.pieces.push(Piece::Break),
            "hr" => {
                self.end_block(true);
                self.rule();
            }
            "img" if source.is_some() => {
                let label = tag.attribute("alt");
                let source = self.picture_source.take().or(source.map(Cow::into_owned));
                let kind = source.as_deref().map_or(IMAGE, media);
                self.image(kind, source.as_deref(), label.as_deref(), image_width(tag));
            }
            "video" | "audio" | "iframe" | "embed" => {
                if let Some(source) = &source {
                    self.image(&tag.name, Some(source), tag.attribute("title").as_deref(), None);
                }
            }
            "source" if source.is_some() => self.image("source", source.as_deref(), None, None),
            "source" if tag.attribute("srcset").is_some() => {
                if self.picture_source.is_none() && self.fits_background(tag) {
                    let sources = tag.attribute("srcset").unwrap_or_default();
                    let first = sources.split([',', ' ']).find(|address| !address.is_empty());
                    self.picture_source = first.map(str::to_owned);
                }
            }
            "picture" => self.picture_source = None,
            "input" if tag.attribute("type").is_some_and(|kind| kind.eq_ignore_ascii_case("checkbox")) => {
                self.word(super::check_box(Some(tag.attribute("checked").is_some())), accent);
            }
            // In the middle of a text, only the line ends: the element may have no end.
            "li" | "dd" | "blockquote" | "summary" if self.is_inline || self.table.is_some() => {
                self.end_block(false);
                match tag.name.as_str() {
                    "li" if !tag.is_end => self.word(super::bullet(), accent),
                    "summary" if !tag.is_end => self.word(&format!("{} ", glyph::unfolded()), accent),
                    _ => {}
                }
            }
            "li" | "dd" | "blockquote" | "summary" => {
                self.end_block(tag.name == "blockquote");
                self.leave(&tag.name);
                if !tag.is_end {
                    self.enter_html(&tag.name);
                } else if tag.name == "summary" {
                    self.gap = true;
                }
            }
            "ul" | "ol" | "menu" | "dl" => {
                self.end_block(self.html_lists.is_empty());
                if tag.is_end {
                    self.leave(if tag.name == "dl" { "dd" } else { "li" });
                    self.html_lists.pop();
                } else {
                    let first = tag.attribute("start").and_then(|start| start.parse().ok()).unwrap_or(1);
                    self.html_lists.push((tag.name == "ol").then_some(first));
                }
            }
            "table" => self.html_table(tag),
            "tr" | "td" | "th" => self.table_part(tag),
            "dt" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                let is_heading = tag.name != "dt";
                if is_heading && tag.is_end {
                    self.heading_section();
                }
                self.end_block(is_heading);
                if tag.is_end {
                    if tag.name == "h1" {
                        self.underline();
                    }
                } else {
                    self.leave("dd");
                    let role = match tag.name.as_str() {
                        "dt" => Role::SyntaxStrong,
                        "h1" | "h2" => Role::Title,
                        _ => Role::SyntaxHeading,
                    };
                    self.mark(tag, self.theme.style(role), None);
                }
            }
            "p" | "details" | "figure" => self.end_block(true),
            "div" | "center" | "thead" | "tbody" | "tfoot" | "caption" | "figcaption" => self.end_block(false),
            "section" | "article" | "header" | "footer" | "nav" | "aside" | "main" | "address" | "fieldset"
            | "form" | "hgroup" | "search"
                if !self.is_inline =>
            {
                self.end_block(true);
            }
            // The reading of characters, in parentheses: those that the text has for it are left out.
            "rt" => {
                if tag.is_end {
                    self.word(")", self.style());
                }
                self.mark(tag, Style::new(), None);
                if !tag.is_end {
                    self.word("(", self.style());
                }
            }
            "q" => self.word(if tag.is_end { "”" } else { "“" }, self.style()),
            "span" | "font" | "small" | "big" | "abbr" | "nobr" | "wbr" | "colgroup" | "col" => {}
            "a" if !tag.is_end && tag.source.len() > "<a>".len() => {
                let link = tag.attribute("href").map(|address| self.add_target(&address));
                let style = if link.is_some() { self.theme.style(Role::Link) } else { Style::new() };
                self.mark(tag, style, None);
                if let Some(mark) = self.marks.last_mut() {
                    mark.link = link;
                }
            }
            name => {
                let style = |role| self.theme.style(role);
                let (style, script) = match name {
                    "b" | "strong" => (style(Role::SyntaxStrong), None),
                    "i" | "em" | "cite" | "var" | "dfn" => (style(Role::SyntaxEmphasis), None),
                    "code" | "kbd" | "samp" | "tt" => (style(Role::SyntaxString), None),
                    "s" | "del" | "strike" => (Style::new().add_modifier(Modifier::CROSSED_OUT), None),
                    "u" | "ins" | "mark" => (Style::new().add_modifier(Modifier::UNDERLINED), None),
                    "sup" => (Style::new(), Some(Script::Super)),
                    "sub" => (Style::new(), Some(Script::Sub)),
                    "rp" => (Style::new(), Some(Script::Hidden)),
                    "a" if tag.is_end => (Style::new(), None),
                    // What these say cannot be shown, and their text is shown without them.
                    "time" | "data" | "bdo" | "bdi" | "ruby" | "rb" | "rtc" | "acronym" | "output" | "label"
                    | "button" | "legend" | "meter" | "progress" | "address" | "blink" | "marquee" => {
                        (Style::new(), None)
                    }
                    _ => return self.word(tag.source, style(Role::Dim)),
                };
                self.mark(tag, style, script);
            }
        }
    }

    /// Returns whether a source of a picture is for backgrounds like that of the theme:
    /// `media="(prefers-color-scheme: dark)"`.
    fn fits_background(&self, source: &Tag<'_>) -> bool {
        let wanted = match self.theme.background {
            Background::Dark => "dark",
            Background::Light => "light",
        };
        source.attribute("media").is_some_and(|media| media.contains("prefers-color-scheme") && media.contains(wanted))
    }

    /// Starts or ends a table. One that does not end is shown as it is written.
    fn html_table(&mut self, tag: &Tag<'_>) {
        if tag.is_end {
            self.table_ends = self.table_ends.saturating_sub(1);
        } else if self.table.is_none() && self.table_ends == 0 {
            return self.word(tag.source, self.theme.style(Role::Dim));
        }
        match &mut self.html_table {
            Some(HtmlTable { depth: 0, .. }) if tag.is_end => self.end_html_table(),
            Some(table) => {
                table.depth = if tag.is_end { table.depth - 1 } else { table.depth + 1 };
                self.end_block(false);
            }
            None => {
                self.end_block(true);
                if !tag.is_end && self.table.is_none() {
                    self.table = Some(Table::of_html());
                    self.html_table = Some(HtmlTable::default());
                }
            }
        }
    }

    /// Starts or ends a row or a cell.
    fn table_part(&mut self, tag: &Tag<'_>) {
        let is_heading = tag.name == "th";
        match &self.html_table {
            Some(HtmlTable { depth: 0, .. }) => {
                self.end_cell();
                self.write_above_table();
                let Some(table) = self.table.as_mut().filter(|_| !tag.is_end) else { return };
                if tag.name == "tr" || table.is_empty() {
                    table.start_row();
                }
                if tag.name == "tr" {
                    return;
                }
                let span = (tag.count("colspan"), tag.count("rowspan"));
                let cell = CellShape { alignment: alignment(tag), is_heading, span };
                self.html_table = Some(HtmlTable { depth: 0, cell: Some(cell) });
            }
            // A part of a table that is not aligned.
            _ if tag.name == "tr" => {
                self.end_block(false);
                self.html_cells = 0;
            }
            _ if !tag.is_end => self.divide_cells(),
            _ => {}
        }
        if is_heading {
            self.mark(tag, self.theme.style(Role::SyntaxStrong), None);
        }
    }

    /// Starts a cell of a row that is not aligned.
    pub fn divide_cells(&mut self) {
        if self.html_cells > 0 {
            let divider = format!(" {} ", glyph::or_word(glyph::divider(), "|"));
            self.word(&divider, self.theme.style(Role::Faint));
        }
        self.html_cells += 1;
    }

    /// Adds the open cell to its row.
    fn end_cell(&mut self) {
        let Some(shape) = self.html_table.as_mut().and_then(|table| table.cell.take()) else { return };
        let mut pieces = self.take_pieces();
        pieces.truncate(pieces.len() - pieces.iter().rev().take_while(|piece| piece.is_blank()).count());
        pieces.drain(..pieces.iter().take_while(|piece| piece.is_blank()).count());
        flow::trim_lines(&mut pieces);
        if let Some(table) = &mut self.table {
            table.push_html_cell(pieces, &shape);
        }
    }

    /// Writes what is between the cells of a table above it, such as its caption.
    fn write_above_table(&mut self) {
        let pieces = self.take_pieces();
        if !pieces.iter().all(Piece::is_blank) {
            let table = self.table.take();
            self.block();
            self.pieces = pieces;
            self.flush();
            self.table = table;
        }
    }

    /// Writes the open table of HTML.
    pub fn end_html_table(&mut self) {
        if self.html_table.is_none() {
            return;
        }
        self.end_cell();
        self.write_above_table();
        self.html_table = None;
        if let Some(table) = self.table.take() {
            self.gap = true;
            self.block();
            self.write_table(&table);
        }
    }

    /// Starts or ends a change of style. A tag without the other one is shown if it is part of a text.
    fn mark(&mut self, tag: &Tag<'_>, style: Style, script: Option<Script>) {
        let is_block = matches!(tag.name.as_str(), "th" | "dt" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6");
        let dim = self.theme.style(Role::Dim);
        if tag.is_end {
            match self.marks.iter().rposition(|mark| mark.name == tag.name) {
                Some(at) => _ = self.marks.remove(at),
                None if is_block => {}
                None => self.word(tag.source, dim),
            }
            return;
        }
        if self.marks.len() >= MAX_MARKS {
            return self.word(tag.source, dim);
        }
        let source = (!is_block).then(|| (self.pieces.len(), tag.source.to_owned()));
        // The place for the tag, if the element does not end.
        self.word("", dim);
        self.marks.push(Mark { name: tag.name.clone(), style, link: None, script, source });
    }

    /// Changes the style up to the end of the block.
    pub fn mark_block(&mut self, name: &str, style: Style) {
        self.marks.push(Mark { name: name.into(), style, link: None, script: None, source: None });
    }

    /// Ends a change of style that `mark_block` began. Returns whether there was one.
    pub fn end_mark(&mut self, name: &str) -> bool {
        let at = self.marks.iter().position(|mark| mark.name == name);
        at.map(|at| self.marks.remove(at)).is_some()
    }

    /// Returns the text of the current block, with the tags that have no end.
    pub fn take_pieces(&mut self) -> Vec<Piece> {
        let dim = self.theme.style(Role::Dim);
        for mark in std::mem::take(&mut self.marks) {
            let Some((at, source)) = mark.source else { continue };
            if let Some(piece) = self.pieces.get_mut(at) {
                *piece = Piece::Text { text: crate::text::sanitize(&source).into_owned(), style: dim, link: None };
            }
        }
        std::mem::take(&mut self.pieces)
    }

    /// Ends a block of HTML, with an empty line after it if `gap`. In the cell of a table, only the line ends.
    pub fn end_block(&mut self, gap: bool) {
        if self.table.is_some() {
            return self.end_line_of_cell();
        }
        let pieces = self.take_pieces();
        if !pieces.iter().all(Piece::is_blank) {
            if std::mem::take(&mut self.gap) {
                self.blank();
            }
            self.pieces = pieces;
            self.flush();
        }
        self.gap |= gap;
    }

    /// Ends the current line in the cell of a table, and the changes of style in it.
    pub fn end_line_of_cell(&mut self) {
        self.pieces = self.take_pieces();
        if !matches!(self.pieces.last(), None | Some(Piece::Break)) {
            self.pieces.push(Piece::Break);
        }
    }

    fn enter_html(&mut self, name: &str) {
        let item = |mark: String| Container::Item { columns: crate::text::width(&mark), mark: Some(mark) };
        let container = match name {
            "blockquote" => Container::Quote,
            "summary" => item(format!("{} ", glyph::unfolded())),
            "dd" => Container::Item { mark: None, columns: 2 },
            _ => item(super::item_mark(self.html_lists.last_mut().and_then(Option::as_mut))),
        };
        if name != "dd" && std::mem::take(&mut self.gap) {
            self.blank();
        }
        self.opened.push(Opened { at: self.containers.len(), name: name.into(), lists: self.html_lists.len() });
        self.enter(container);
        if name == "summary" {
            self.mark_block(name, self.theme.style(Role::SyntaxStrong));
        }
    }

    /// Leaves the innermost container if such an element of the current list has opened it.
    fn leave(&mut self, name: &str) {
        let is_innermost = |opened: &mut Opened| {
            opened.at + 1 == self.containers.len() && opened.name == name && opened.lists == self.html_lists.len()
        };
        if self.opened.pop_if(is_innermost).is_some() {
            self.containers.pop();
        }
    }

    /// Leaves the container that a Markdown element has opened, and those that HTML opened in it.
    pub fn leave_markdown(&mut self) {
        while self.opened.pop_if(|opened| opened.at + 1 == self.containers.len()).is_some() {
            self.containers.pop();
        }
        self.containers.pop();
    }
}

/// Returns whether a tag has a meaning here.
fn is_known(name: &str) -> bool {
    matches!(name, "code" | "span" | "b" | "strong" | "i" | "em" | "kbd" | "samp" | "var" | "a" | "br" | "u" | "font")
}

/// Returns the language of code: `lang="rust"`, `class="language-rust"`.
fn language_of(tag: &Tag<'_>) -> Option<String> {
    if let Some(name) = tag.attribute("lang") {
        return Some(name.into_owned());
    }
    let classes = tag.attribute("class")?;
    classes.split_ascii_whitespace().find_map(|class| class.strip_prefix("language-")).map(str::to_owned)
}

/// Returns the width of an image: `width="400"`, `width=400px`, `width="50%"`.
fn image_width(tag: &Tag<'_>) -> Option<ImageWidth> {
    let value = tag.attribute("width")?;
    let value = value.trim();
    match value.strip_suffix('%') {
        Some(percent) => Some(ImageWidth::Percent(percent.parse().ok()?)),
        None => Some(ImageWidth::Pixels(value.trim_end_matches("px").parse().ok()?)),
    }
}

fn alignment(tag: &Tag<'_>) -> Option<Alignment> {
    let value = tag.attribute("align").unwrap_or_default();
    let style = tag.attribute("style").unwrap_or_default();
    let word = style.split_once("text-align:").map_or(value.as_ref(), |(_, word)| word).trim_start();
    match word.get(..5).unwrap_or(word).to_ascii_lowercase().as_str() {
        "right" => Some(Alignment::Right),
        "cente" => Some(Alignment::Center),
        _ => None,
    }
}
