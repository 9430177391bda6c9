//! A file view: text with syntax highlighting, rendered Markdown, tables, images or bytes, with search, scrolling and a
//! line cursor.

pub mod blame;
mod draw;
pub mod file_type;
pub mod keys;
mod lfs;
mod links;
mod pane;
mod selection;
pub mod source;
pub mod work;

use crate::api::Endpoint;
use crate::api::partial_reply;
use crate::api::repository::GetRawBlob;
use crate::api::{Id, Raw};
use crate::app::action::PagerText;
use crate::app::command_info::Disabled;
use crate::app::motion::Motion;
use crate::app::pointer::{self, Pointer};
use crate::app::transfer::{self, NewTransfer};
use crate::app::view::View;
use crate::parts::text::inline_images::{self, InlineImages};
use crate::parts::text::line_drag::LineDrag;
use crate::parts::text::links::TextOrigin;
use crate::store::{Load, Partial, Want, Work};
use crate::ui::ansi;
use crate::ui::code::{Content, Highlighter, Highlights, Text};
use crate::ui::csv::{self, CsvTable};
use crate::ui::doc::DocState;
use crate::ui::drawn::Drawn;
use crate::ui::hex;
use crate::ui::image::{Fitted, Format, Image, ImageError};
use crate::ui::markdown::Rendered;
use crate::ui::search::Matches;
use crate::ui::text;
use blame::{Blame, BlameStep};
use ratatui::layout::Rect;
use source::TreeSource;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use work::{Decode, DetectText, FitPicture, HighlightRange, Records, RenderText, SearchLines, SearchText, TextKind};

/// The maximum width of prose, in columns: longer lines are hard to read.
const MAX_PROSE_WIDTH: usize = 100;
/// The maximum size of a text that is shown with its ANSI colors, in bytes.
const MAX_COLORED_BYTES: usize = 4 << 20;
/// The delay before the file under a moving cursor is requested.
const FETCH_DELAY: Duration = Duration::from_millis(60);
/// The maximum number of files whose scroll position is remembered.
const MAX_POSITIONS: usize = 200;

/// The display mode of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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

/// A view that shows one file at a time.
#[derive(Default)]
pub struct BlobView {
    file: Option<File>,
    /// The part of a large file that is shown until all of it is there: its ID, its size, and that of the whole.
    partial: Option<(String, u64, Option<u64>)>,
    /// The repository and the commit of the files; `None` while unknown, and for files from elsewhere.
    commit: Option<TreeSource>,
    doc: DocState,
    /// The mode that the user chose for this file; `None` for the default of its type.
    chosen: Option<Mode>,
    /// The line to go to once the file is loaded, from 0.
    wanted_line: Option<usize>,
    /// The message that a wanted line is beyond the end of the file.
    missing_line: Option<String>,
    /// The section to go to once the file is rendered.
    wanted_section: Option<String>,
    query: String,
    /// The line of the cursor when the search started.
    origin: usize,
    current: Option<usize>,
    /// Whether the cursor is at a match of what was typed before: if nothing matches any more, it returns.
    was_at_match: bool,
    /// Whether to go to the first match once the search is finished.
    is_jump_pending: bool,
    /// The syntax highlighter, with the path of the file and the ID of its content.
    highlighter: Option<(File, Arc<Highlighter>)>,
    /// The images in the rendered text.
    images: InlineImages,
    /// The key of the last finished rendering: shown until the one for the new width is ready.
    rendering: Option<String>,
    /// The scroll positions of files when another was shown, and of their display modes.
    windows: HashMap<(String, Option<Mode>), (usize, usize)>,
    /// The key of the last fitted image: shown until the one for the new area is ready.
    fitted: Option<String>,
    /// Whether long lines are wrapped, in every file.
    wrap: bool,
    /// The blame, while it is shown.
    blame: Option<Blame>,
    /// The line where the marked range starts; it ends at the cursor.
    mark: Option<usize>,
    drag: LineDrag,
    /// The last word that was searched for: its line, and its index among the words of that line.
    word: Option<(usize, usize)>,
    area: Drawn<Rect>,
}

fn ends(path: &str, endings: &[&str]) -> bool {
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
    endings.iter().any(|e| ending.eq_ignore_ascii_case(e))
}

fn is_markdown(path: &str) -> bool {
    ends(path, &["md", "markdown", "mkd", "mdown"])
}

/// Returns whether the path is of a file that programs print into and that is usually read as printed.
fn is_log(path: &str) -> bool {
    ends(path, &["ansi", "ans", "log", "out", "txt"])
}

/// Returns whether the first lines contain ANSI colors. A very large text is shown as source only, which needs no copy.
fn is_output(text: &Text) -> bool {
    let begins = |line: &str| ansi::has_styles(line.as_bytes().get(..512).unwrap_or(line.as_bytes()));
    text.bytes_len() <= MAX_COLORED_BYTES && (0..text.len().min(40)).any(|at| begins(text.line(at)))
}

fn kind_of(path: &str) -> TextKind {
    if is_markdown(path) { TextKind::Markdown } else { TextKind::Output }
}

impl BlobView {
    /// Returns the file that is shown.
    pub fn file(&self) -> Option<&File> {
        self.file.as_ref()
    }

    /// Returns the download of the file from the server; for a Git LFS pointer, of the file it refers to.
    pub fn save(&self, view: &View, project: &Id) -> Option<NewTransfer> {
        let file = self.file.as_ref()?;
        let lfs_file = self.lfs_request(view).map(|raw| raw.request());
        Some(NewTransfer::new(lfs_file.unwrap_or_else(|| Self::raw(project, file).request()), &file.path))
    }

    /// Returns the content, or the reason why there is none; `failed` indicates that loading failed.
    pub fn need_content<'a>(&self, view: &View<'a>, failed: bool) -> Result<&'a Content, Disabled> {
        self.content(view).filter(|_| self.is_known(view)).ok_or(match &self.file {
            None => "no file is shown".into(),
            Some(_) if failed => "the file could not be read".into(),
            Some(_) => "the file is still loading".into(),
        })
    }

    /// Returns whether the file is text, or the reason why not; `failed` as for [`BlobView::need_content`].
    pub fn need_text(&self, view: &View, failed: bool) -> Result<(), Disabled> {
        match self.need_content(view, failed)? {
            Content::Text(_) => Ok(()),
            Content::Binary(_) => Err("it is a binary file".into()),
        }
    }

    /// Returns whether loading the file from the repository failed.
    pub fn failed(&self, view: &View, project: &Id) -> bool {
        let raw = self.file.as_ref().map(|file| Self::raw(project, file).request());
        raw.is_some_and(|raw| view.store.error_of(&raw).is_some())
    }

    /// Returns the file for the pager; `None` if it is binary or not loaded yet.
    pub fn pager_text(&self, view: &View) -> Option<PagerText> {
        let Some(Content::Text(text)) = self.content(view).filter(|_| self.is_known(view)) else { return None };
        Some(PagerText { name: transfer::file_name(&self.file.as_ref()?.path), text: text.clone() })
    }

    /// Returns the line under the cursor, from 1, if the source is shown and the user moved to a line.
    pub fn line(&self, view: &View) -> Option<u32> {
        let lines = self.mode(view).filter(|m| *m == Mode::Source).map(|_| self.len(view))?;
        (self.doc.cursor() > 0 || self.wanted_line.is_some()).then(|| self.doc.at(lines) as u32 + 1)
    }

    /// Shows `file`, at the scroll position it had when it was last shown.
    pub fn show(&mut self, file: Option<File>) {
        if self.file == file {
            return;
        }
        self.keep_position(None);
        self.file = file;
        let (top, cursor) = self.position(None);
        self.doc = DocState { wrap: self.wrap, ..DocState::on(cursor) };
        self.doc.set_top(top);
        (self.chosen, self.current, self.rendering, self.partial) = (None, None, None, None);
        (self.fitted, self.mark, self.word, self.blame) = (None, None, None, None);
        self.images = InlineImages::default();
        (self.origin, self.is_jump_pending) = (cursor, true);
    }

    /// Moves to a line of the source, from 1, once the file is loaded.
    pub fn go_to_line(&mut self, line: u32) {
        self.wanted_line = Some((line as usize).saturating_sub(1));
        self.chosen = Some(Mode::Source);
    }

    /// Returns the message that the wanted line does not exist, once.
    pub fn take_missing_line(&mut self) -> Option<String> {
        self.missing_line.take()
    }

    /// Moves to a section of a Markdown file once it is rendered.
    pub fn go_to_section(&mut self, name: &str) {
        self.wanted_section = Some(name.to_owned());
    }

    fn raw(project: &Id, file: &File) -> GetRawBlob {
        GetRawBlob { id: project.clone(), sha: file.sha.clone() }
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

    /// Returns the display mode, once the content is known.
    pub fn mode(&self, view: &View) -> Option<Mode> {
        self.content(view)?;
        let modes = self.modes(view);
        // Blame is of the lines of the source.
        let chosen = self.blame.as_ref().map(|_| Mode::Source).or(self.chosen);
        chosen.filter(|m| modes.contains(m)).or(modes.first().copied())
    }

    /// Switches to the next display mode.
    pub fn next_mode(&mut self, view: &View) {
        let (Some(mode), modes) = (self.mode(view), self.modes(view)) else { return };
        let next = modes.iter().position(|m| *m == mode).map_or(0, |at| (at + 1) % modes.len());
        self.keep_position(Some(mode));
        self.chosen = modes.get(next).copied();
        self.doc.first();
        let (top, cursor) = self.position(self.chosen);
        self.doc.set_cursor(cursor);
        self.doc.set_top(top);
        (self.current, self.mark, self.word, self.blame) = (None, None, None, None);
    }

    /// Keeps the scroll position of the file, or of one of its display modes.
    fn keep_position(&mut self, mode: Option<Mode>) {
        let Some(file) = &self.file else { return };
        if self.windows.len() >= MAX_POSITIONS {
            self.windows.clear();
        }
        self.windows.insert((file.path.clone(), mode), (self.doc.top(), self.doc.cursor()));
    }

    /// Returns the scroll position that was kept.
    fn position(&self, mode: Option<Mode>) -> (usize, usize) {
        let key = self.file.as_ref().map(|file| (file.path.clone(), mode));
        key.and_then(|key| self.windows.get(&key)).copied().unwrap_or_default()
    }

    /// Returns the width for rendered text, in columns.
    fn width(&self, view: &View) -> usize {
        let area = self.area.get();
        let width = if area.width > 0 { area.width } else { view.size.0 };
        usize::from(width).saturating_sub(4).clamp(20, MAX_PROSE_WIDTH)
    }

    /// Returns the rendered text that is shown.
    pub(super) fn rendered<'a>(&self, view: &View<'a>) -> Option<&'a Arc<Rendered>> {
        let now = self.render_key(view)?;
        view.store.result(&now).or_else(|| view.store.result(self.rendering.as_deref()?))
    }

    fn render_key(&self, view: &View) -> Option<String> {
        let (kind, id) = (kind_of(&self.file.as_ref()?.path), self.id(view)?);
        Some(work::render_key(kind, &id, self.width(view), view.theme, self.images.rows()))
    }

    /// Returns the commit and the folder of the file, where its images are.
    fn image_origin(&self) -> Option<TextOrigin> {
        let commit = self.commit.as_ref()?;
        Some(TextOrigin::of_file(&commit.project, commit.git_ref.clone(), &self.file.as_ref()?.path))
    }

    /// Returns the number of lines in the current mode.
    fn len(&self, view: &View) -> usize {
        match (self.mode(view), self.content(view)) {
            (Some(Mode::Rendered), _) => self.rendered(view).map_or(0, |r| r.lines.len()),
            (Some(Mode::Source), Some(Content::Text(text))) => text.len(),
            (Some(Mode::Hex), Some(content)) => hex::rows(content.bytes().len()),
            // The heading is above the other rows and cannot be selected.
            (Some(Mode::Table), _) => self.table(view).map_or(0, |t| t.len().saturating_sub(1)),
            _ => 0,
        }
    }

    /// Returns the lines that a search in the current mode covers, and their key.
    fn lines(&self, view: &View) -> Option<(String, SearchLines)> {
        let id = self.id(view)?;
        match (self.mode(view)?, self.content(view)?) {
            (Mode::Source, Content::Text(text)) => Some((id.into_owned(), SearchLines::Source(text.clone()))),
            (Mode::Rendered, _) => {
                let key = self.render_key(view)?;
                let rendered = view.store.result::<Arc<Rendered>>(&key)?;
                Some((key, SearchLines::Rendered(rendered.clone())))
            }
            (Mode::Table, _) => Some((work::table_key(&id), SearchLines::Table(self.table(view)?.clone()))),
            _ => None,
        }
    }

    fn table<'a>(&self, view: &View<'a>) -> Option<&'a Arc<CsvTable>> {
        view.store.result(&work::table_key(&self.id(view)?))
    }

    fn picture<'a>(&self, view: &View<'a>) -> Option<&'a Result<Arc<Image>, ImageError>> {
        view.store.result(&work::picture_key(&self.id(view)?))
    }

    /// Returns the area for an image, in cells.
    fn room(&self, view: &View) -> (u16, u16) {
        let area = self.area.get();
        if area.is_empty() { (view.size.0 / 2, view.size.1.saturating_sub(4)) } else { (area.width, area.height) }
    }

    fn fitted<'a>(&self, view: &View<'a>) -> Option<&'a Arc<Fitted>> {
        let now = work::fit_key(&self.id(view)?, self.room(view), view.images.screen());
        view.store.result(&now).or_else(|| view.store.result(self.fitted.as_deref()?))
    }

    fn found<'a>(&self, view: &View<'a>) -> Option<&'a Matches> {
        if self.query.is_empty() {
            return None;
        }
        let (within, _) = self.lines(view)?;
        view.store.result(&work::find_key(&within, &self.query))
    }

    /// Returns the requests and computations that are needed: bytes, then lines, then colors around the visible lines.
    pub fn wants(&self, view: &View, project: &Id) -> Vec<Want> {
        let Some(file) = &self.file else { return Vec::new() };
        if self.is_known(view) {
            let mut wants = self.wants_shown(view);
            wants.extend(self.lfs_wants(view));
            return wants;
        }
        let raw = Self::raw(project, file);
        let mut wants: Vec<Want> = vec![Load::single(&raw).after(FETCH_DELAY).in_parts(partial_reply::lines).into()];
        let whole = view.store.get(&raw).arc().map(|raw| (file.sha.clone(), raw));
        let part = || self.part(view, project).map(|(id, part)| (id, part.value));
        if let Some((sha, raw)) = whole.or_else(part) {
            wants.push(Work::new(DetectText { sha, raw }).into());
        }
        wants.extend(self.wants_shown(view));
        wants
    }

    /// Returns what was received of a large file so far, and its ID.
    fn part(&self, view: &View, project: &Id) -> Option<(String, Partial<Raw>)> {
        let file = self.file.as_ref()?;
        let part = view.store.partial(&Self::raw(project, file))?;
        Some((format!("{} up to {}", file.sha, part.received), part))
    }

    /// Shows more of a large file once its lines are known.
    pub fn update_part(&mut self, view: &View, project: &Id) {
        let newest = self.part(view, project).map(|(id, part)| (id, part.received, part.size));
        let content = |id: &str| view.store.result::<Content>(&work::content_key(id));
        let is_text = |id: &str| matches!(content(id), Some(Content::Text(_)));
        self.partial = newest.and_then(|newest| if is_text(&newest.0) { Some(newest) } else { self.partial.take() });
    }

    /// Returns whether the whole content is loaded, whatever its source.
    pub fn is_known(&self, view: &View) -> bool {
        self.content(view).is_some() && !self.is_partial(view)
    }

    fn is_partial(&self, view: &View) -> bool {
        self.partial.as_ref().is_some_and(|(id, ..)| self.id(view).as_deref() == Some(id))
    }

    /// Returns the text of the file, if it is text and loaded.
    pub fn text<'a>(&self, view: &View<'a>) -> Option<&'a Arc<Text>> {
        match self.content(view).filter(|_| self.is_known(view))? {
            Content::Text(text) => Some(text),
            Content::Binary(_) => None,
        }
    }

    /// Returns the computations that are needed once the content is loaded: lines, then colors around the visible
    /// lines.
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
                    let height = self.doc.height().max(usize::from(view.size.1));
                    let cursor = self.wanted_line.unwrap_or(self.doc.cursor()).min(text.len());
                    let last = (cursor + height).min(text.len());
                    let first = cursor.saturating_sub(height) / Highlights::PIECE;
                    for start in (first..last.div_ceil(Highlights::PIECE)).map(|piece| piece * Highlights::PIECE) {
                        let lines = start..(start + Highlights::PIECE).min(text.len());
                        let (sha, path, highlighter) = (id.to_string(), file.path.clone(), highlighter.clone());
                        wants.push(Work::new(HighlightRange { sha, path, highlighter, lines }).into());
                    }
                }
            }
            (Some(Mode::Rendered), Content::Text(text)) => {
                let (sha, width, theme) = (id.to_string(), self.width(view), view.theme.clone());
                let kind = kind_of(&file.path);
                let image_rows = self.images.rows().to_vec();
                wants.push(Work::new(RenderText { kind, sha, text: text.clone(), width, theme, image_rows }).into());
                if let Some(origin) = self.image_origin() {
                    wants.extend(self.images.wants(view, &origin, self.rendered(view).map(Arc::as_ref)));
                }
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
                    wants.push(Work::new(FitPicture { sha, image, room, screen: view.images.screen() }).into());
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

    /// Updates the state after a store update: moves to a pending line, and to the first match of a new search.
    pub fn changed(&mut self, view: &View) {
        let (Some(file), Some(id)) = (self.file.clone(), self.id(view).map(Cow::into_owned)) else { return };
        let file = File { sha: id, ..file };
        if let Some(Content::Text(text)) = self.content(view)
            && self.highlighter.as_ref().is_none_or(|(of, _)| *of != file)
        {
            let highlighter = Arc::new(Highlighter::new(text.clone(), &file.path));
            self.highlighter = Some((file.clone(), highlighter));
        }
        self.update_rendering(view);
        let key = work::fit_key(&file.sha, self.room(view), view.images.screen());
        if view.store.result::<Arc<Fitted>>(&key).is_some() {
            self.fitted = Some(key);
        }
        if let Some(blame) = &mut self.blame {
            blame.changed(view);
        }
        if self.mode(view) == Some(Mode::Rendered)
            && let Some(rendered) = self.rendered(view)
            && let Some(line) = self.wanted_section.take().and_then(|name| rendered.section(&name))
        {
            self.go_to_top(line, view);
        }
        if self.mode(view) == Some(Mode::Source)
            && !self.is_loading_lfs_file(view)
            && (!self.is_partial(view) || self.wanted_line.is_some_and(|line| line < self.len(view)))
            && let Some(line) = self.wanted_line.take()
        {
            let len = self.len(view);
            if line >= len {
                let (path, count) = (text::sanitize(&file.path), text::count_noun(len as u64, "line"));
                self.missing_line = Some(format!("There is no line {}: {path} has {count}.", line + 1));
            }
            self.go(line, len, view);
        }
        if self.is_jump_pending
            && let Some(found) = self.found(view)
        {
            let (at, len) = (found.matches.partition_point(|m| m.line < self.origin), found.matches.len());
            self.is_jump_pending = false;
            let was_elsewhere = std::mem::take(&mut self.was_at_match);
            match len {
                0 if was_elsewhere => self.go(self.origin, self.len(view), view),
                0 => {}
                _ => self.go_to_match(if at < len { at } else { 0 }, view),
            }
        }
    }

    /// Keeps the rendered text until a newer one is there, and the same text under the cursor when images arrive.
    fn update_rendering(&mut self, view: &View) {
        if let (Some(origin), Some(rendered)) = (self.image_origin(), self.rendered(view)) {
            self.images.changed(view, &origin, rendered);
        }
        let Some(key) = self.render_key(view).filter(|key| self.rendering.as_ref() != Some(key)) else { return };
        let Some(rendered) = view.store.result::<Arc<Rendered>>(&key) else { return };
        let before = self.rendering.replace(key).and_then(|key| view.store.result::<Arc<Rendered>>(&key));
        if let Some(before) = before {
            inline_images::keep_position(&mut self.doc, before, rendered);
        }
    }

    fn go(&mut self, line: usize, len: usize, view: &View) {
        if self.doc.height() == 0 {
            // Not drawn yet: centering for the height of the screen is close enough.
            self.doc.set_height(usize::from(view.size.1).saturating_sub(3));
        }
        self.doc.goto(line, len);
    }

    /// Moves to a line, and shows it at the top.
    fn go_to_top(&mut self, line: usize, view: &View) {
        self.go(line, self.len(view), view);
        self.doc.set_top(line);
    }

    fn go_to_match(&mut self, index: usize, view: &View) {
        let Some(hit) = self.found(view).and_then(|f| f.matches.get(index)) else { return };
        self.current = Some(index);
        self.go(hit.line, self.len(view), view);
        if let Some(lines) = self.source_lines(view) {
            self.doc.show_columns(text::columns(lines.line(hit.line), hit.range.clone()));
        }
    }

    /// Returns the search query.
    pub fn query(&self) -> &str {
        &self.query
    }

    /// Begins a search at the cursor.
    pub fn begin_search(&mut self, view: &View) {
        self.origin = self.doc.at(self.len(view));
        (self.is_jump_pending, self.was_at_match) = (false, false);
    }

    /// Changes the search query; an empty one ends the search, and returns to where it began.
    pub fn set_query(&mut self, query: &str, view: &View) {
        self.query = query.to_owned();
        self.was_at_match |= self.current.take().is_some();
        self.is_jump_pending = !query.is_empty();
        if query.is_empty() {
            self.go(self.origin, self.len(view), view);
        }
    }

    /// Moves to the next or the previous match, wrapping around; returns `false` if there is none.
    pub fn next_match(&mut self, forward: bool, view: &View) -> bool {
        let here = self.doc.at(self.len(view));
        let Some(next) = self.found(view).and_then(|found| found.step(here, self.current, forward)) else {
            return false;
        };
        self.go_to_match(next, view);
        true
    }

    /// Returns whether the search is still running.
    pub fn is_searching(&self, view: &View) -> bool {
        let searched = !matches!(self.mode(view), Some(Mode::Hex | Mode::Picture));
        searched && self.file.is_some() && self.found(view).is_none()
    }

    /// Returns whether the text is not scrolled to the right.
    pub fn is_at_left(&self) -> bool {
        self.doc.left == 0
    }

    /// Moves the cursor or scrolls; returns `false` if a motion to the left would leave the text.
    pub fn motion(&mut self, motion: Motion, view: &View) -> bool {
        let len = self.len(view);
        match motion {
            Motion::Left if self.is_at_left() => return false,
            other => other.scroll(&mut self.doc, len),
        }
        true
    }

    /// Scrolls to the start of the lines, or to the end of the one under the cursor.
    pub fn scroll_to_edge(&mut self, end: bool, view: &View) {
        let lines = self.source_lines(view).filter(|_| end);
        let width = lines.map_or(0, |lines| text::width(lines.line(self.doc.at(lines.len()))));
        self.doc.show_columns(width.saturating_sub(1)..width);
    }

    /// Handles the mouse over the file.
    pub fn pointer(&mut self, pointer: Pointer, view: &View) {
        let len = self.len(view);
        match pointer {
            Pointer::Wheel { rows, .. } => self.doc.scroll_by(rows.into(), len),
            Pointer::Press { column, row, double } => {
                let heading = u16::from(self.mode(view) == Some(Mode::Table));
                let Some(y) = row.checked_sub(self.area.get().y + heading) else { return };
                if let Some(line) = self.doc.line_at(y, len) {
                    let is_marked = self.marked(view).is_some_and(|marked| marked.contains(&line));
                    if self.drag.press(line, is_marked) {
                        self.mark = None;
                        self.doc.goto(line, len);
                    }
                    if double {
                        self.search_word_at(line, column, view);
                    }
                }
            }
            // A drag marks the lines from where it began.
            Pointer::Drag { row, .. } if self.mode(view) == Some(Mode::Source) => {
                let area = self.area.get();
                let y = pointer::row_in(area, row);
                if let Some((line, from)) =
                    self.doc.line_at(y, len).and_then(|line| Some((line, self.drag.drag(line)?)))
                {
                    self.mark = Some(from);
                    self.doc.goto(line, len);
                }
            }
            Pointer::Drag { .. } => {}
            Pointer::Release => {
                if let Some(line) = self.drag.release().filter(|_| self.mark.is_some()) {
                    self.mark = None;
                    self.doc.goto(line, len);
                }
            }
        }
    }

    /// Returns whether the file was last drawn at that cell.
    pub fn contains(&self, column: u16, row: u16) -> bool {
        self.area.get().contains((column, row).into())
    }
}
