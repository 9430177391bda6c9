//! A file: its text with colours, its Markdown rendered, or its bytes; searched, scrolled, gone through by lines.

use super::work::{self, Colour, Find, Lines, Read, Render};
use crate::api::Id;
use crate::api::repository::GetRawBlob;
use crate::app::command::Motion;
use crate::app::pane::{Pointer, View};
use crate::panes::list;
use crate::store::{Load, Want, Work};
use crate::ui::code::{self, Block, Content, Highlighter, Highlights};
use crate::ui::doc::{self, DocLine, DocState};
use crate::ui::markdown::Rendered;
use crate::ui::search::{Found, Match};
use crate::ui::theme::{Role, Theme};
use crate::ui::{state, text};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::cell::Cell;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// The widest that prose is set: longer lines are hard to read.
const MEASURE: usize = 100;
/// Before a file under a moving cursor is asked for.
const PATIENCE: Duration = Duration::from_millis(60);
/// Files whose window is remembered.
const REMEMBERED: usize = 200;

/// How a file is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Source,
    Rendered,
    Hex,
}

/// A file of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    pub path: String,
    pub sha: String,
}

/// Shows one file at a time.
#[derive(Default)]
pub struct Blob {
    file: Option<File>,
    doc: DocState,
    /// The mode that the person chose for files of this kind; what suits the file where none.
    chosen: Option<Mode>,
    /// The line to go to as soon as the file is there, from 0.
    wanted_line: Option<usize>,
    query: String,
    /// Where the cursor stood when the search began.
    origin: usize,
    current: Option<usize>,
    highlighter: Option<(File, Arc<Highlighter>)>,
    /// The last rendering that was there: shown until the one for another width is.
    rendering: Option<String>,
    windows: HashMap<String, (usize, usize)>,
    area: Cell<Rect>,
}

fn is_markdown(path: &str) -> bool {
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
    ["md", "markdown", "mkd", "mdown"].iter().any(|e| ending.eq_ignore_ascii_case(e))
}

impl Blob {
    /// The file that is shown.
    pub fn file(&self) -> Option<&File> {
        self.file.as_ref()
    }

    /// The line under the cursor, from 1, where it stands on one of the source's.
    pub fn line(&self, view: &View) -> Option<u32> {
        let lines = self.mode(view).filter(|m| *m == Mode::Source).map(|_| self.len(view))?;
        (self.doc.cursor > 0 || self.wanted_line.is_some()).then(|| self.doc.at(lines) as u32 + 1)
    }

    /// Shows `file`; where it was shown before, at the place where it was left.
    pub fn show(&mut self, file: Option<File>) {
        if self.file == file {
            return;
        }
        if let Some(before) = self.file.take() {
            if self.windows.len() >= REMEMBERED {
                self.windows.clear();
            }
            self.windows.insert(before.path, (self.doc.top.get(), self.doc.cursor));
        }
        let (top, cursor) = file.as_ref().and_then(|f| self.windows.get(&f.path)).copied().unwrap_or_default();
        self.doc = DocState { cursor, ..DocState::default() };
        self.doc.top.set(top);
        (self.chosen, self.current, self.rendering) = (None, None, None);
        self.origin = cursor;
        self.file = file;
    }

    /// Goes to a line, from 1, as soon as the file is there. A line is one of the source.
    pub fn go_to_line(&mut self, line: u32) {
        self.wanted_line = Some((line as usize).saturating_sub(1));
        self.chosen = Some(Mode::Source);
    }

    fn raw(project: &Id, file: &File) -> GetRawBlob {
        GetRawBlob { id: project.clone(), sha: file.sha.clone() }
    }

    fn content<'a>(&self, view: &View<'a>) -> Option<&'a Content> {
        view.store.made(&work::content_key(&self.file.as_ref()?.sha))
    }

    fn modes(&self, view: &View) -> &'static [Mode] {
        match (self.content(view), &self.file) {
            (Some(Content::Text(_)), Some(file)) if is_markdown(&file.path) => {
                &[Mode::Rendered, Mode::Source, Mode::Hex]
            }
            (Some(Content::Text(_)), _) => &[Mode::Source, Mode::Hex],
            _ => &[Mode::Hex],
        }
    }

    /// How the file is shown, once it is known what it is.
    pub fn mode(&self, view: &View) -> Option<Mode> {
        self.content(view)?;
        let modes = self.modes(view);
        self.chosen.filter(|m| modes.contains(m)).or(modes.first().copied())
    }

    /// The next way to show the file.
    pub fn turn_mode(&mut self, view: &View) {
        let (Some(mode), modes) = (self.mode(view), self.modes(view)) else { return };
        let next = modes.iter().position(|m| *m == mode).map_or(0, |at| (at + 1) % modes.len());
        self.chosen = modes.get(next).copied();
        self.doc.first();
        self.current = None;
    }

    /// Columns for rendered text.
    fn width(&self, view: &View) -> usize {
        let area = self.area.get();
        let width = if area.width > 0 { area.width } else { view.size.0 };
        usize::from(width).saturating_sub(4).clamp(20, MEASURE)
    }

    fn rendered<'a>(&self, view: &View<'a>) -> Option<&'a Arc<Rendered>> {
        let file = self.file.as_ref()?;
        let now = work::render_key(&file.sha, self.width(view), view.theme);
        view.store.made(&now).or_else(|| view.store.made(self.rendering.as_deref()?))
    }

    /// Lines in the mode at hand.
    fn len(&self, view: &View) -> usize {
        match (self.mode(view), self.content(view)) {
            (Some(Mode::Rendered), _) => self.rendered(view).map_or(0, |r| r.lines.len()),
            (Some(Mode::Source), Some(Content::Text(text))) => text.len(),
            (Some(Mode::Hex), Some(content)) => code::hex_rows(bytes(content).len()),
            _ => 0,
        }
    }

    /// What a search in the mode at hand is named by, and its lines.
    fn lines(&self, view: &View) -> Option<(String, Lines)> {
        let file = self.file.as_ref()?;
        match (self.mode(view)?, self.content(view)?) {
            (Mode::Source, Content::Text(text)) => Some((file.sha.clone(), Lines::Source(text.clone()))),
            (Mode::Rendered, _) => {
                let key = work::render_key(&file.sha, self.width(view), view.theme);
                let rendered = view.store.made::<Arc<Rendered>>(&key)?;
                Some((key, Lines::Rendered(rendered.clone())))
            }
            _ => None,
        }
    }

    fn found<'a>(&self, view: &View<'a>) -> Option<&'a Found> {
        if self.query.is_empty() {
            return None;
        }
        let (within, _) = self.lines(view)?;
        view.store.made(&work::find_key(&within, &self.query))
    }

    /// What it needs: bytes, then lines, then colours around what is in sight.
    pub fn wants(&self, view: &View, project: &Id) -> Vec<Want> {
        let Some(file) = &self.file else { return Vec::new() };
        let raw = Self::raw(project, file);
        let mut wants: Vec<Want> = Vec::new();
        let Some(content) = self.content(view) else {
            wants.push(Load::one(&raw).after(PATIENCE).into());
            if let Some(raw) = view.store.get(&raw).arc() {
                wants.push(Work::new(Read { sha: file.sha.clone(), raw }).into());
            }
            return wants;
        };
        match (self.mode(view), content) {
            (Some(Mode::Source), Content::Text(text)) => {
                if let Some((_, highlighter)) = self.highlighter.as_ref().filter(|(f, _)| f == file) {
                    let height = self.doc.height.get().max(usize::from(view.size.1));
                    let cursor = self.wanted_line.unwrap_or(self.doc.cursor).min(text.len());
                    let last = (cursor + height).min(text.len());
                    let first = cursor.saturating_sub(height) / Highlights::PIECE;
                    for start in (first..last.div_ceil(Highlights::PIECE)).map(|piece| piece * Highlights::PIECE) {
                        let lines = start..(start + Highlights::PIECE).min(text.len());
                        let (sha, path, highlighter) = (file.sha.clone(), file.path.clone(), highlighter.clone());
                        wants.push(Work::new(Colour { sha, path, highlighter, lines }).into());
                    }
                }
            }
            (Some(Mode::Rendered), Content::Text(text)) => {
                let (sha, width, theme) = (file.sha.clone(), self.width(view), view.theme.clone());
                wants.push(Work::new(Render { sha, text: text.clone(), width, theme }).into());
            }
            _ => {}
        }
        if !self.query.is_empty()
            && let Some((within, lines)) = self.lines(view)
        {
            wants.push(Work::new(Find { within, lines, query: self.query.clone() }).into());
        }
        wants
    }

    /// After an update: goes to the line that waited, and to the first match of a new search.
    pub fn changed(&mut self, view: &View) {
        let Some(file) = self.file.clone() else { return };
        if let Some(Content::Text(text)) = self.content(view)
            && self.highlighter.as_ref().is_none_or(|(f, _)| *f != file)
        {
            let highlighter = Arc::new(Highlighter::new(text.clone(), &file.path));
            self.highlighter = Some((file.clone(), highlighter));
        }
        let key = work::render_key(&file.sha, self.width(view), view.theme);
        if view.store.made::<Arc<Rendered>>(&key).is_some() {
            self.rendering = Some(key);
        }
        if self.mode(view) == Some(Mode::Source)
            && let Some(line) = self.wanted_line.take()
        {
            self.go(line, self.len(view), view);
        }
        if self.current.is_none()
            && let Some(found) = self.found(view)
            && !found.matches.is_empty()
        {
            let at = found.matches.partition_point(|m| m.line < self.origin);
            self.go_to_match(if at < found.matches.len() { at } else { 0 }, view);
        }
    }

    fn go(&mut self, line: usize, len: usize, view: &View) {
        if self.doc.height.get() == 0 {
            // Never drawn yet: the middle of a screen of this height is near enough.
            self.doc.height.set(usize::from(view.size.1).saturating_sub(3));
        }
        self.doc.goto(line, len);
    }

    fn go_to_match(&mut self, index: usize, view: &View) {
        let Some(hit) = self.found(view).and_then(|f| f.matches.get(index)) else { return };
        self.current = Some(index);
        self.go(hit.line, self.len(view), view);
        if let (Some(Mode::Source), Some(Content::Text(lines))) = (self.mode(view), self.content(view)) {
            self.doc.show_columns(text::columns(lines.line(hit.line), hit.range.clone()));
        }
    }

    /// What is sought.
    pub fn query(&self) -> &str {
        &self.query
    }

    /// Seeks something else; nothing ends the search.
    pub fn set_query(&mut self, query: &str, view: &View) {
        if self.query.is_empty() {
            self.origin = self.doc.at(self.len(view));
        }
        self.query = query.to_owned();
        self.current = None;
    }

    /// The next match, or the one before, around the end; `false` where there is none.
    pub fn seek_next(&mut self, forward: bool, view: &View) -> bool {
        let count = self.found(view).map_or(0, |f| f.matches.len());
        if count == 0 {
            return false;
        }
        let next = match (self.current, forward) {
            (None, _) => 0,
            (Some(at), true) => (at + 1) % count,
            (Some(at), false) => (at + count - 1) % count,
        };
        self.go_to_match(next, view);
        true
    }

    /// Moves; `false` where a move to the left leaves the text.
    pub fn motion(&mut self, motion: Motion, view: &View) -> bool {
        let len = self.len(view);
        match motion {
            Motion::Left if self.doc.left == 0 => return false,
            Motion::Left => self.doc.left_by(-(doc::SIDEWAYS as isize)),
            Motion::Right => self.doc.left_by(doc::SIDEWAYS as isize),
            Motion::First => self.doc.first(),
            Motion::Last => self.doc.last(len),
            Motion::HalfUp => self.doc.half_page_by(-1, len),
            Motion::HalfDown => self.doc.half_page_by(1, len),
            Motion::PageUp => self.doc.page_by(-1, len),
            Motion::PageDown => self.doc.page_by(1, len),
            Motion::Wheel(rows) => self.doc.scroll_by(rows.into(), len),
            Motion::Up => self.doc.move_by(-1, len),
            Motion::Down => self.doc.move_by(1, len),
        }
        true
    }

    /// The mouse, where it is over the file.
    pub fn pointer(&mut self, pointer: Pointer, view: &View) {
        let len = self.len(view);
        match pointer {
            Pointer::Wheel { rows, .. } => self.doc.scroll_by(rows.into(), len),
            Pointer::Press { row, .. } => {
                if let Some(line) = row.checked_sub(self.area.get().y).and_then(|y| self.doc.line_at(y, len)) {
                    self.doc.goto(line, len);
                }
            }
            Pointer::Drag { .. } | Pointer::Release => {}
        }
    }

    /// Whether the file was last drawn at that cell.
    pub fn holds(&self, column: u16, row: u16) -> bool {
        self.area.get().contains((column, row).into())
    }

    /// What stands right of the title: matches, lines, size, language.
    pub fn facts(&self, view: &View) -> String {
        let mut facts = Vec::new();
        if !self.query.is_empty() {
            facts.push(match self.found(view) {
                None => format!("/{}", self.query),
                Some(found) if found.matches.is_empty() => "no match".into(),
                Some(found) => {
                    let more = if found.capped { "+" } else { "" };
                    let at = self.current.map_or(0, |c| c + 1) as u64;
                    format!("{}/{}{more}", text::count(at), text::count(found.matches.len() as u64))
                }
            });
        }
        match self.content(view) {
            Some(Content::Text(lines)) => {
                let one = lines.len() == 1;
                facts.push(format!("{} line{}", text::count(lines.len() as u64), if one { "" } else { "s" }));
                facts.push(text::bytes(lines.bytes_len() as u64));
                let language = self.highlighter.as_ref().and_then(|(_, h)| h.language());
                facts.extend(language.map(|l| l.name().to_owned()));
            }
            Some(Content::Binary(bytes)) => {
                facts.push(text::bytes(bytes.len() as u64));
                facts.push(super::magic::kind(bytes));
            }
            None => {}
        }
        if self.chosen == Some(Mode::Hex) {
            facts.push("hex".into());
        }
        text::shown(&facts.join(" · ")).into_owned()
    }

    /// Draws the file below its title.
    pub fn draw(&self, view: &View, project: &Id, area: Rect, buf: &mut Buffer, focused: bool) {
        self.area.set(area);
        let Some(file) = &self.file else { return };
        let Some(content) = self.content(view) else {
            let raw = view.store.get(&Self::raw(project, file));
            return match raw.error {
                Some(error) => list::failure(view, area, buf, error),
                None => state::skeleton(buf, area, view.theme),
            };
        };
        if bytes(content).is_empty() {
            return state::empty(buf, area, view.theme, "This file is empty.", "");
        }
        let found = self.found(view);
        let current = found.and_then(|f| f.matches.get(self.current?));
        let theme = view.theme;
        match (self.mode(view), content) {
            (Some(Mode::Source), Content::Text(text)) => {
                let piece: Cell<Option<(usize, Option<&Block>)>> = Cell::new(None);
                let spans = |line: usize| {
                    let start = line / Highlights::PIECE * Highlights::PIECE;
                    let block = match piece.get() {
                        Some((at, block)) if at == start => block,
                        _ => view.store.made::<Block>(&work::colour_key(&file.sha, &file.path, start)),
                    };
                    piece.set(Some((start, block)));
                    block.and_then(|b| b.lines.get(line - start))
                };
                let gutter = code::gutter(text) as u16;
                doc::draw(buf, area, theme, focused, &self.doc, text.len(), gutter, |line| {
                    marked(theme, found, current, line, code::draw(text, line, spans(line), theme))
                });
            }
            (Some(Mode::Rendered), _) => match self.rendered(view) {
                Some(rendered) => {
                    doc::draw(buf, area, theme, focused, &self.doc, rendered.lines.len(), 1, |line| {
                        let built = rendered.lines.get(line).cloned().unwrap_or_default();
                        marked(theme, found, current, line, built)
                    });
                }
                None => state::skeleton(buf, area, theme),
            },
            _ => {
                let bytes = bytes(content);
                doc::draw(buf, area, theme, focused, &self.doc, code::hex_rows(bytes.len()), 10, |row| {
                    code::hex(bytes, row, theme)
                });
            }
        }
    }
}

/// The bytes of a file, as far as they were kept: of text, what it was read as.
fn bytes(content: &Content) -> &[u8] {
    match content {
        Content::Text(text) => text.as_str().as_bytes(),
        Content::Binary(bytes) => bytes,
    }
}

/// A line with what a search found on it.
fn marked<'a>(
    theme: &Theme,
    found: Option<&Found>,
    current: Option<&Match>,
    line: usize,
    built: DocLine<'a>,
) -> DocLine<'a> {
    let Some(found) = found else { return built };
    let role = |hit: &Match| if Some(hit) == current { Role::MatchCurrent } else { Role::Match };
    let marks = found.on(line).iter().map(|hit| (hit.range.clone(), theme.style(role(hit)))).collect();
    DocLine { marks, ..built }
}
