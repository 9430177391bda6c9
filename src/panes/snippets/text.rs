//! The text of a snippet with syntax highlighting and search.

use crate::api::snippets::{GetSnippetText, Snippet};
use crate::api::{Id, Raw};
use crate::app::motion::Motion;
use crate::app::view::View;
use crate::parts::list::draw_error;
use crate::store::{Canceled, Derive, Load, Want, Work};
use crate::ui::code::{self, Block, Content, Highlighter, Highlights};
use crate::ui::doc::{self, DocState};
use crate::ui::search::{self, Found};
use crate::ui::{glyph, hex, state, text};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::sync::Arc;
use std::time::Duration;

/// The delay before the text of the snippet under a moving cursor is fetched.
const FETCH_DELAY: Duration = Duration::from_millis(80);

/// Detects whether the bytes are text.
struct DetectText {
    key: String,
    raw: Arc<Raw>,
}

impl Derive for DetectText {
    type Output = Content;

    fn key(&self) -> String {
        self.key.clone()
    }

    fn run(&self, _: Canceled<'_>) -> Content {
        Content::read(self.raw.bytes.clone())
    }
}

/// Highlights some lines.
struct Color {
    key: String,
    highlighter: Arc<Highlighter>,
    lines: std::ops::Range<usize>,
}

impl Derive for Color {
    type Output = Block;

    fn key(&self) -> String {
        self.key.clone()
    }

    fn run(&self, canceled: Canceled<'_>) -> Block {
        self.highlighter.highlight(self.lines.clone(), canceled)
    }
}

/// Searches the lines.
struct SearchText {
    key: String,
    text: Arc<code::Text>,
    query: String,
}

impl Derive for SearchText {
    type Output = Found;

    fn key(&self) -> String {
        self.key.clone()
    }

    fn run(&self, canceled: Canceled<'_>) -> Found {
        search::pattern(&self.query).map(|pattern| self.text.search(&pattern, canceled)).unwrap_or_default()
    }
}

/// The view of a snippet's text.
#[derive(Default)]
pub struct SnippetView {
    /// The shown snippet, and an identity that changes with the snippet's metadata.
    shown: Option<(GetSnippetText, String)>,
    /// The file name, which determines the language.
    file: String,
    highlighter: Option<(String, Arc<Highlighter>)>,
    doc: DocState,
    pub query: String,
}

impl SnippetView {
    /// Shows a snippet. The scroll position is kept if it is the same one.
    pub fn show(&mut self, project: &Id, snippet: Option<&Snippet>) {
        let shown = snippet.map(|snippet| {
            let get = GetSnippetText { id: project.clone(), snippet_id: snippet.id };
            let changed = snippet.updated_at.as_ref().map(|at| at.as_str()).unwrap_or_default();
            let name = snippet.file_name.as_deref().unwrap_or_default();
            (get, format!("snippet {project} {} {changed} {name}", snippet.id))
        });
        if self.shown.as_ref().map(|(_, name)| name) == shown.as_ref().map(|(_, name)| name) {
            return;
        }
        self.file = snippet.and_then(|snippet| snippet.file_name.clone()).unwrap_or_default();
        let same = self.shown.as_ref().map(|(get, _)| get) == shown.as_ref().map(|(get, _)| get);
        (self.shown, self.highlighter) = (shown, None);
        if !same {
            self.doc = DocState::new();
        }
    }

    /// Returns the key of the text. It also depends on the received reply, because the text may be newer than the
    /// metadata.
    fn name(&self, view: &View) -> Option<String> {
        let (get, name) = self.shown.as_ref()?;
        let known = view.store.get(get);
        Some(format!("{:?} {:?} {name}", known.at, known.value.map(|raw| raw.bytes.len())))
    }

    fn content<'a>(&self, view: &View<'a>) -> Option<&'a Content> {
        view.store.result(&self.name(view)?)
    }

    fn text<'a>(&self, view: &View<'a>) -> Option<&'a Arc<code::Text>> {
        match self.content(view)? {
            Content::Text(text) => Some(text),
            Content::Binary(_) => None,
        }
    }

    fn found<'a>(&self, view: &View<'a>) -> Option<&'a Found> {
        if self.query.is_empty() { None } else { view.store.result(&self.find_key(view)?) }
    }

    fn find_key(&self, view: &View) -> Option<String> {
        Some(format!("find {} in {}", self.query, self.name(view)?))
    }

    pub fn wants(&self, view: &View) -> Vec<Want> {
        let (Some((get, _)), Some(name)) = (&self.shown, self.name(view)) else { return Vec::new() };
        let mut wants: Vec<Want> = vec![Load::single(get).after(FETCH_DELAY).into()];
        if view.store.is_result_missing(&name)
            && let Some(raw) = view.store.get(get).arc()
        {
            wants.push(Work::new(DetectText { key: name.clone(), raw }).into());
        }
        let Some(text) = self.text(view) else { return wants };
        if let Some((_, highlighter)) = self.highlighter.as_ref().filter(|(shown, _)| *shown == name) {
            let height = self.doc.height().max(usize::from(view.size.1));
            let first = self.doc.cursor().saturating_sub(height) / Highlights::PIECE;
            let last = (self.doc.cursor() + height).min(text.len()).div_ceil(Highlights::PIECE);
            for start in (first..last).map(|piece| piece * Highlights::PIECE) {
                let lines = start..(start + Highlights::PIECE).min(text.len());
                let (key, highlighter) = (color_key(&name, start), highlighter.clone());
                wants.push(Work::new(Color { key, highlighter, lines }).into());
            }
        }
        if let (false, Some(key)) = (self.query.is_empty(), self.find_key(view)) {
            wants.push(Work::new(SearchText { key, text: text.clone(), query: self.query.clone() }).into());
        }
        wants
    }

    pub fn changed(&mut self, view: &View) {
        let Some(name) = self.name(view) else { return };
        if let Some(text) = self.text(view)
            && self.highlighter.as_ref().is_none_or(|(shown, _)| *shown != name)
        {
            self.highlighter = Some((name, Arc::new(Highlighter::new(text.clone(), &self.file))));
        }
    }

    /// Sets the search text.
    pub fn set_query(&mut self, query: &str) {
        self.query = query.to_owned();
    }

    /// Returns whether the search has not finished.
    pub fn is_searching(&self, view: &View) -> bool {
        self.shown.is_some() && self.found(view).is_none()
    }

    /// Goes to the next or previous match, wrapping around. Returns whether there is one.
    pub fn next_match(&mut self, forward: bool, view: &View) -> bool {
        let Some(found) = self.found(view).filter(|found| !found.matches.is_empty()) else { return false };
        let at = self.doc.cursor();
        let next = if forward {
            found.matches.iter().find(|m| m.line > at).or(found.matches.first())
        } else {
            found.matches.iter().rev().find(|m| m.line < at).or(found.matches.last())
        };
        if let (Some(hit), Some(text)) = (next, self.text(view)) {
            self.doc.goto(hit.line, text.len());
            self.doc.show_columns(text::columns(text.line(hit.line), hit.range.clone()));
        }
        true
    }

    /// Moves the cursor. Returns `false` if moving left leaves the text.
    pub fn motion(&mut self, motion: Motion, view: &View) -> bool {
        let len = self.text(view).map_or(0, |text| text.len());
        match motion {
            Motion::Left if self.doc.left == 0 => return false,
            other => other.scroll(&mut self.doc, len),
        }
        true
    }

    /// Returns the title facts: number of matches and lines, size, and language.
    pub fn facts(&self, view: &View) -> String {
        let mut facts = Vec::new();
        if !self.query.is_empty() {
            let found = self.found(view).map_or(0, |found| found.matches.len());
            facts.push(format!("{} found", text::count(found as u64)));
        }
        match self.content(view) {
            Some(Content::Text(text)) => {
                let one = text.len() == 1;
                facts.push(format!("{} line{}", text::count(text.len() as u64), if one { "" } else { "s" }));
                facts.push(text::bytes(text.bytes_len() as u64));
                let language = self.highlighter.as_ref().and_then(|(_, h)| h.language());
                facts.extend(language.map(|language| language.name().to_owned()));
            }
            Some(Content::Binary(bytes)) => facts.push(text::bytes(bytes.len() as u64)),
            None => {}
        }
        facts.join(glyph::separator())
    }

    pub fn draw(&self, view: &View, area: Rect, buf: &mut Buffer, focused: bool) {
        let Some((get, _)) = &self.shown else { return };
        match self.content(view) {
            Some(Content::Text(text)) if text.is_empty() => {
                view.draw_empty(buf, area, "The snippet is empty.", "‹snippets.edit› edits it");
            }
            Some(Content::Text(text)) => {
                let (name, found) = (self.name(view).unwrap_or_default(), self.found(view));
                let style = view.theme.style(crate::ui::theme::Role::Match);
                doc::draw(buf, area, view.theme, focused, &self.doc, text.len(), code::gutter(text) as u16, &|line| {
                    let start = line / Highlights::PIECE * Highlights::PIECE;
                    let block = view.store.result::<Block>(&color_key(&name, start));
                    let spans = block.and_then(|block| block.lines.get(line - start));
                    let mut drawn = code::draw(text, line, spans, view.theme);
                    let hits = found.map(|found| found.on(line)).unwrap_or_default();
                    drawn.marks = hits.iter().map(|m| (m.range.clone(), style)).collect();
                    drawn
                });
            }
            Some(Content::Binary(bytes)) => {
                let rows = hex::rows(bytes.len());
                doc::draw(buf, area, view.theme, focused, &self.doc, rows, hex::GUTTER, &|row| hex::line(bytes, row));
            }
            None => match view.store.get(get).error {
                Some(error) => draw_error(view, area, buf, error),
                None => state::skeleton(buf, area, view.theme),
            },
        }
    }
}

fn color_key(name: &str, start: usize) -> String {
    format!("colors {start} {name}")
}
