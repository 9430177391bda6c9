//! A file: its text with colors, its Markdown rendered, or its bytes; searched, scrolled, gone through by lines.

pub mod blame;
mod draw;
pub mod file_type;
mod lfs;
mod selection;
pub mod source;
pub mod work;

use crate::api::Endpoint;
use crate::api::Id;
use crate::api::repository::GetRawBlob;
use crate::app::action::PagerText;
use crate::app::command::{Disabled, Motion};
use crate::app::pane::{Pointer, View};
use crate::app::transfer::{self, Save};
use crate::store::{Load, Want, Work};
use crate::ui::ansi;
use crate::ui::code::{Content, Highlighter, Highlights, Text};
use crate::ui::csv::{self, Table};
use crate::ui::doc::DocState;
use crate::ui::hex;
use crate::ui::image::{Fitted, Format, Image, Refusal};
use crate::ui::markdown::Rendered;
use crate::ui::search::Found;
use crate::ui::text;
use blame::{Blame, BlameStep};
use ratatui::layout::Rect;
use source::Source;
use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use work::{Color, Decode, DetectText, FitPicture, Kind, Records, RenderText, SearchLines, SearchText};

/// The widest that prose is set: longer lines are hard to read.
const MEASURE: usize = 100;
/// Bytes of the largest text that is shown as a program printed it.
const PRINTED: usize = 4 << 20;
/// Before a file under a moving cursor is asked for.
const PATIENCE: Duration = Duration::from_millis(60);
/// Files whose window is remembered.
const REMEMBERED: usize = 200;

/// How a file is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Source,
    Rendered,
    Table,
    Picture,
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
pub struct BlobView {
    file: Option<File>,
    /// The repository and the commit that the files are of; `None` while unknown, and of files elsewhere.
    commit: Option<Source>,
    doc: DocState,
    /// The mode that the user chose for files of this kind; what suits the file where none.
    chosen: Option<Mode>,
    /// The line to go to as soon as the file is there, from 0.
    wanted_line: Option<usize>,
    query: String,
    /// Where the cursor stood when the search began.
    origin: usize,
    current: Option<usize>,
    /// What colors a file, by its path and the name of its content.
    highlighter: Option<(File, Arc<Highlighter>)>,
    /// The last rendering that was there: shown until the one for another width is.
    rendering: Option<String>,
    windows: HashMap<String, (usize, usize)>,
    /// The last picture that was fitted: shown until the one for another area is.
    fitted: Option<String>,
    /// Whether long lines go on below, in every file.
    wrap: bool,
    /// Who wrote each line, while that is shown.
    blame: Option<Blame>,
    /// Where the marked lines begin; they end at the cursor.
    mark: Option<usize>,
    /// The word that was looked for last: its line, and which of that line's it is.
    word: Option<(usize, usize)>,
    area: Cell<Rect>,
}

fn ends(path: &str, endings: &[&str]) -> bool {
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
    endings.iter().any(|e| ending.eq_ignore_ascii_case(e))
}

fn is_markdown(path: &str) -> bool {
    ends(path, &["md", "markdown", "mkd", "mdown"])
}

/// Returns whether it is a file that programs print into, and people look at as it was printed.
fn is_log(path: &str) -> bool {
    ends(path, &["ansi", "ans", "log", "out", "txt"])
}

/// Returns whether colors stand among its first lines. Of a very large one the source alone is shown: it needs no copy.
fn is_output(text: &Text) -> bool {
    let begins = |line: &str| ansi::has_looks(line.as_bytes().get(..512).unwrap_or(line.as_bytes()));
    text.bytes_len() <= PRINTED && (0..text.len().min(40)).any(|at| begins(text.line(at)))
}

fn kind_of(path: &str) -> Kind {
    if is_markdown(path) { Kind::Markdown } else { Kind::Output }
}

impl BlobView {
    /// The file that is shown.
    pub fn file(&self) -> Option<&File> {
        self.file.as_ref()
    }

    /// Returns what saves the file as it is on the server; of a pointer of Git LFS, the file that it stands for.
    pub fn save(&self, view: &View, project: &Id) -> Option<Save> {
        let file = self.file.as_ref()?;
        let stored = self.raw_stored(view).map(|raw| raw.request());
        Some(Save::new(stored.unwrap_or_else(|| Self::raw(project, file).request()), &file.path))
    }

    /// Returns what is shown, or why it is not; `failed` where its bytes could not be had.
    pub fn need_content<'a>(&self, view: &View<'a>, failed: bool) -> Result<&'a Content, Disabled> {
        self.content(view).ok_or(match &self.file {
            None => "no file is shown".into(),
            Some(_) if failed => "the file could not be read".into(),
            Some(_) => "the file is still loading".into(),
        })
    }

    /// Returns whether the file is text, or why not; `failed` as for [`BlobView::need_content`].
    pub fn need_text(&self, view: &View, failed: bool) -> Result<(), Disabled> {
        match self.need_content(view, failed)? {
            Content::Text(_) => Ok(()),
            Content::Binary(_) => Err("it is a binary file".into()),
        }
    }

    /// Returns whether the bytes of the file could not be had from the repository.
    pub fn failed(&self, view: &View, project: &Id) -> bool {
        let raw = self.file.as_ref().map(|file| Self::raw(project, file).request());
        raw.is_some_and(|raw| view.store.error_of(&raw).is_some())
    }

    /// The file for another program; `None` if it is no text or not there yet.
    pub fn paper(&self, view: &View) -> Option<PagerText> {
        let Some(Content::Text(text)) = self.content(view) else { return None };
        Some(PagerText { name: transfer::file_name(&self.file.as_ref()?.path), text: text.clone() })
    }

    /// The line under the cursor, from 1, if it stands on one of the source's.
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
        self.doc = DocState { cursor, wrap: self.wrap, ..DocState::default() };
        self.doc.top.set(top);
        (self.chosen, self.current, self.rendering) = (None, None, None);
        (self.fitted, self.mark, self.word, self.blame) = (None, None, None, None);
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

    /// The bytes of a file that was shown before.
    pub fn size(view: &View, sha: &str) -> Option<u64> {
        view.store.result::<Content>(&work::content_key(sha)).map(|content| content.bytes().len() as u64)
    }

    fn content<'a>(&self, view: &View<'a>) -> Option<&'a Content> {
        view.store.result(&work::content_key(&self.id(view)?))
    }

    fn modes(&self, view: &View) -> &'static [Mode] {
        let (Some(content), Some(file)) = (self.content(view), &self.file) else { return &[Mode::Hex] };
        match content {
            Content::Text(_) if is_markdown(&file.path) => &[Mode::Rendered, Mode::Source, Mode::Hex],
            Content::Text(_) if csv::is_table(&file.path) => &[Mode::Table, Mode::Source, Mode::Hex],
            Content::Text(text) if is_output(text) && is_log(&file.path) => &[Mode::Rendered, Mode::Source, Mode::Hex],
            Content::Text(text) if is_output(text) => &[Mode::Source, Mode::Rendered, Mode::Hex],
            Content::Text(_) => &[Mode::Source, Mode::Hex],
            Content::Binary(bytes) if Format::of(bytes).is_some() => &[Mode::Picture, Mode::Hex],
            Content::Binary(_) => &[Mode::Hex],
        }
    }

    /// Returns how the file is shown, once it is known what it is.
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
        (self.current, self.mark, self.word) = (None, None, None);
    }

    /// Columns for rendered text.
    fn width(&self, view: &View) -> usize {
        let area = self.area.get();
        let width = if area.width > 0 { area.width } else { view.size.0 };
        usize::from(width).saturating_sub(4).clamp(20, MEASURE)
    }

    fn rendered<'a>(&self, view: &View<'a>) -> Option<&'a Arc<Rendered>> {
        let file = self.file.as_ref()?;
        let now = work::render_key(kind_of(&file.path), &self.id(view)?, self.width(view), view.theme);
        view.store.result(&now).or_else(|| view.store.result(self.rendering.as_deref()?))
    }

    /// Lines in the mode at hand.
    fn len(&self, view: &View) -> usize {
        match (self.mode(view), self.content(view)) {
            (Some(Mode::Rendered), _) => self.rendered(view).map_or(0, |r| r.lines.len()),
            (Some(Mode::Source), Some(Content::Text(text))) => text.len(),
            (Some(Mode::Hex), Some(content)) => hex::rows(content.bytes().len()),
            // The heading stands above the others, and is not gone to.
            (Some(Mode::Table), _) => self.table(view).map_or(0, |t| t.len().saturating_sub(1)),
            _ => 0,
        }
    }

    /// Returns what a search in the mode at hand is named by, and its lines.
    fn lines(&self, view: &View) -> Option<(String, SearchLines)> {
        let (file, id) = (self.file.as_ref()?, self.id(view)?);
        match (self.mode(view)?, self.content(view)?) {
            (Mode::Source, Content::Text(text)) => Some((id.into_owned(), SearchLines::Source(text.clone()))),
            (Mode::Rendered, _) => {
                let key = work::render_key(kind_of(&file.path), &id, self.width(view), view.theme);
                let rendered = view.store.result::<Arc<Rendered>>(&key)?;
                Some((key, SearchLines::Rendered(rendered.clone())))
            }
            (Mode::Table, _) => Some((work::table_key(&id), SearchLines::Table(self.table(view)?.clone()))),
            _ => None,
        }
    }

    fn table<'a>(&self, view: &View<'a>) -> Option<&'a Arc<Table>> {
        view.store.result(&work::table_key(&self.id(view)?))
    }

    fn picture<'a>(&self, view: &View<'a>) -> Option<&'a Result<Arc<Image>, Refusal>> {
        view.store.result(&work::picture_key(&self.id(view)?))
    }

    /// The area for a picture, in cells.
    fn room(&self, view: &View) -> (u16, u16) {
        let area = self.area.get();
        if area.is_empty() { (view.size.0 / 2, view.size.1.saturating_sub(4)) } else { (area.width, area.height) }
    }

    fn fitted<'a>(&self, view: &View<'a>) -> Option<&'a Arc<Fitted>> {
        let now = work::fit_key(&self.id(view)?, self.room(view), view.pictures.screen());
        view.store.result(&now).or_else(|| view.store.result(self.fitted.as_deref()?))
    }

    fn found<'a>(&self, view: &View<'a>) -> Option<&'a Found> {
        if self.query.is_empty() {
            return None;
        }
        let (within, _) = self.lines(view)?;
        view.store.result(&work::find_key(&within, &self.query))
    }

    /// Returns what it needs: bytes, then lines, then colors around what is in sight.
    pub fn wants(&self, view: &View, project: &Id) -> Vec<Want> {
        let Some(file) = &self.file else { return Vec::new() };
        if self.is_known(view) {
            let mut wants = self.wants_shown(view);
            wants.extend(self.wants_stored(view));
            return wants;
        }
        let raw = Self::raw(project, file);
        let mut wants: Vec<Want> = vec![Load::one(&raw).after(PATIENCE).into()];
        if let Some(raw) = view.store.get(&raw).arc() {
            wants.push(Work::new(DetectText { sha: file.sha.clone(), raw }).into());
        }
        wants
    }

    /// Returns whether the content is there, from wherever it came.
    pub fn is_known(&self, view: &View) -> bool {
        self.content(view).is_some()
    }

    /// The text of the file, if it is one and there.
    pub fn text<'a>(&self, view: &View<'a>) -> Option<&'a Arc<Text>> {
        match self.content(view)? {
            Content::Text(text) => Some(text),
            Content::Binary(_) => None,
        }
    }

    /// Returns what it needs once its content is there: lines, then colors around what is in sight.
    pub fn wants_shown(&self, view: &View) -> Vec<Want> {
        let (Some(file), Some(id), Some(content)) = (&self.file, self.id(view), self.content(view)) else {
            return Vec::new();
        };
        let mut wants: Vec<Want> = Vec::new();
        match (self.mode(view), content) {
            (Some(Mode::Source), Content::Text(text)) => {
                if let Some((_, highlighter)) =
                    self.highlighter.as_ref().filter(|(of, _)| of.path == file.path && of.sha == id)
                {
                    let height = self.doc.height.get().max(usize::from(view.size.1));
                    let cursor = self.wanted_line.unwrap_or(self.doc.cursor).min(text.len());
                    let last = (cursor + height).min(text.len());
                    let first = cursor.saturating_sub(height) / Highlights::PIECE;
                    for start in (first..last.div_ceil(Highlights::PIECE)).map(|piece| piece * Highlights::PIECE) {
                        let lines = start..(start + Highlights::PIECE).min(text.len());
                        let (sha, path, highlighter) = (id.to_string(), file.path.clone(), highlighter.clone());
                        wants.push(Work::new(Color { sha, path, highlighter, lines }).into());
                    }
                }
            }
            (Some(Mode::Rendered), Content::Text(text)) => {
                let (sha, width, theme) = (id.to_string(), self.width(view), view.theme.clone());
                let kind = kind_of(&file.path);
                wants.push(Work::new(RenderText { kind, sha, text: text.clone(), width, theme }).into());
            }
            (Some(Mode::Table), Content::Text(text)) => {
                if let Some(separator) = csv::separator(&file.path, text.line(0)) {
                    wants.push(Work::new(Records { sha: id.to_string(), text: text.clone(), separator }).into());
                }
            }
            (Some(Mode::Picture), content) => match self.picture(view) {
                None => {
                    let (sha, bytes) = (id.to_string(), content.bytes().clone());
                    wants.push(Work::new(Decode { sha, bytes }).into());
                }
                Some(Ok(image)) => {
                    let (sha, image, room) = (id.to_string(), image.clone(), self.room(view));
                    wants.push(Work::new(FitPicture { sha, image, room, screen: view.pictures.screen() }).into());
                }
                Some(Err(_)) => {}
            },
            _ => {}
        }
        if let Some(blame) = &self.blame {
            wants.extend(blame.wants(view));
        }
        if !self.query.is_empty()
            && let Some((within, lines)) = self.lines(view)
        {
            wants.push(Work::new(SearchText { within, lines, query: self.query.clone() }).into());
        }
        wants
    }

    /// After an update: goes to the line that waited, and to the first match of a new search.
    pub fn changed(&mut self, view: &View) {
        let (Some(file), Some(id)) = (self.file.clone(), self.id(view).map(Cow::into_owned)) else { return };
        let file = File { sha: id, ..file };
        if let Some(Content::Text(text)) = self.content(view)
            && self.highlighter.as_ref().is_none_or(|(of, _)| *of != file)
        {
            let highlighter = Arc::new(Highlighter::new(text.clone(), &file.path));
            self.highlighter = Some((file.clone(), highlighter));
        }
        let key = work::render_key(kind_of(&file.path), &file.sha, self.width(view), view.theme);
        if view.store.result::<Arc<Rendered>>(&key).is_some() {
            self.rendering = Some(key);
        }
        let key = work::fit_key(&file.sha, self.room(view), view.pictures.screen());
        if view.store.result::<Arc<Fitted>>(&key).is_some() {
            self.fitted = Some(key);
        }
        if let Some(blame) = &mut self.blame {
            blame.changed(view);
        }
        if self.mode(view) == Some(Mode::Source)
            && !self.gives_way(view)
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
        if let (Some(Mode::Source), Some(Content::Text(lines))) = (self.mode(view), self.content(view))
            && !self.wrap
        {
            self.doc.show_columns(text::columns(lines.line(hit.line), hit.range.clone()));
        }
    }

    /// Returns what is sought.
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

    /// Returns whether it is not known yet where the filter_text text is.
    pub fn is_searching(&self, view: &View) -> bool {
        let searched = !matches!(self.mode(view), Some(Mode::Hex | Mode::Picture));
        searched && self.file.is_some() && self.found(view).is_none()
    }

    /// Moves; `false` where a move to the left leaves the text.
    pub fn motion(&mut self, motion: Motion, view: &View) -> bool {
        let len = self.len(view);
        match motion {
            Motion::Left if self.doc.left == 0 => return false,
            other => other.scroll(&mut self.doc, len),
        }
        true
    }

    /// The mouse, if it is over the file.
    pub fn pointer(&mut self, pointer: Pointer, view: &View) {
        let len = self.len(view);
        match pointer {
            Pointer::Wheel { rows, .. } => self.doc.scroll_by(rows.into(), len),
            Pointer::Press { column, row, double } => {
                let heading = u16::from(self.mode(view) == Some(Mode::Table));
                let Some(y) = row.checked_sub(self.area.get().y + heading) else { return };
                if let Some(line) = self.doc.line_at(y, len) {
                    self.doc.goto(line, len);
                    if double {
                        self.seek_word_at(line, column, view);
                    }
                }
            }
            Pointer::Drag { .. } | Pointer::Release => {}
        }
    }

    /// Returns whether the file was last drawn at that cell.
    pub fn holds(&self, column: u16, row: u16) -> bool {
        self.area.get().contains((column, row).into())
    }
}
