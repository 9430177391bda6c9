//! A text of several lines that is typed: names and quick actions are completed, and files are attached.

pub(super) mod attach;
mod complete;
mod template;
pub(super) mod upload;

use super::{TextEntry, for_text_area, move_cursor, select_to, selected_text};
use crate::context::Cx;
use crate::keymap::Key;
use crate::pointer::{self, Pointer};
use crate::tone::Tone;
use crate::uploads::Attachment;
use crate::view::View;
use api::client::Progress;
use api::{Error, Id, Noteable, Scope};
use attach::Attacher;
pub use attach::MAX_ERROR_LINES;
use complete::Completer;
use crossterm::event::KeyCode;
use domain::quick_actions::On;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::Widget;
use std::cell::{Cell, RefCell};
use store::{Value, Want};
use template::TemplateInserter;
use tui_textarea::{CursorMove, TextArea, WrapMode};
use ui::theme::{Role, Theme};
use ui::{glyph, text};

/// The character shown for each character of a hidden text.
const MASK: char = '*';

/// The project of a text, and the object that the text belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextContext {
    /// The project whose names are completed, and to which files are uploaded.
    pub project: Id,
    /// The number of the merge request whose participants are offered first.
    pub merge_request: Option<u64>,
    /// The kind of object, if the text may contain quick actions.
    pub on: Option<On>,
}

impl TextContext {
    /// Returns the context of a text in a project.
    pub fn project(id: &Id) -> TextContext {
        TextContext { project: id.clone(), merge_request: None, on: None }
    }

    /// Returns the context of a text in a project; `None` in a group.
    pub fn within(scope: &Scope) -> Option<TextContext> {
        match scope {
            Scope::Project(id) => Some(TextContext::project(id)),
            Scope::Group(_) => None,
        }
    }

    /// Returns the context of the description of a kind of object.
    pub fn description(id: &Id, on: On) -> TextContext {
        TextContext { on: Some(on), ..TextContext::project(id) }
    }

    /// Returns the context of a comment; `None` if its object is in no project.
    pub fn comment(on: &Noteable) -> Option<TextContext> {
        let of = |project: &Id, merge_request, on| TextContext { project: project.clone(), merge_request, on };
        Some(match on {
            Noteable::MergeRequest { project, iid } => of(project, Some(*iid), Some(On::MergeRequest)),
            Noteable::Issue { project, .. } => of(project, None, Some(On::Issue)),
            Noteable::Commit { project, .. } | Noteable::Snippet { project, .. } => of(project, None, None),
            Noteable::Epic { .. } => return None,
        })
    }
}

/// The effect of a key or of an event on the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handled {
    /// The key means nothing here.
    No,
    /// The text is unchanged.
    Unchanged,
    Changed,
}

/// A text of several lines that is typed.
pub struct MarkdownInput {
    /// The text area; drawing scrolls it, so that the cursor stays visible.
    area: RefCell<TextArea<'static>>,
    completer: Option<Completer>,
    attacher: Attacher,
    templates: Option<TemplateInserter>,
    /// The cells in which the text was last drawn.
    body: Cell<Rect>,
}

impl MarkdownInput {
    /// Creates an input with this text and the cursor at its end. Without a context, nothing is completed or attached.
    pub fn new(text: &str, placeholder: impl Into<String>, context: Option<TextContext>) -> MarkdownInput {
        let attacher = Attacher::new(context.as_ref().map(|context| context.project.clone()));
        let templates = context.as_ref().map(TemplateInserter::new);
        let completer = context.map(Completer::new);
        let mut input =
            MarkdownInput { area: RefCell::default(), completer, attacher, templates, body: Cell::default() };
        input.area.get_mut().set_placeholder_text(placeholder);
        input.set(text);
        input
    }

    /// Replaces the text, and moves the cursor to its end. What is hidden stays hidden.
    pub fn set(&mut self, text: &str) {
        let mut area = TextArea::from(text.split('\n'));
        area.set_wrap_mode(WrapMode::WordOrGlyph);
        area.set_placeholder_text(self.area.borrow().placeholder_text().to_owned());
        if let Some(mask) = self.area.borrow().mask_char() {
            area.set_mask_char(mask);
        }
        area.move_cursor(CursorMove::Bottom);
        area.move_cursor(CursorMove::End);
        self.area = RefCell::new(area);
    }

    /// Replaces the text in one step, so that undoing it restores what was typed.
    pub fn replace(&mut self, text: &str) {
        let area = self.area.get_mut();
        area.select_all();
        area.insert_str(text);
    }

    /// Moves the cursor to a byte offset of the text.
    pub fn move_to(&mut self, byte: usize) {
        let text = self.text();
        let before = text.get(..byte).unwrap_or(&text);
        let line = before.rsplit('\n').next().unwrap_or_default();
        let row = before.len() - line.len();
        let row = before.get(..row).unwrap_or_default().matches('\n').count();
        move_cursor(self.area.get_mut(), row, line.chars().count());
    }

    pub fn text(&self) -> String {
        self.area.borrow().lines().join("\n")
    }

    /// Returns whether files can be attached.
    pub fn takes_files(&self) -> bool {
        self.attacher.takes_files()
    }

    /// Sets the files that are uploaded when the draft is sent. It may have several texts.
    pub fn set_attachments(&mut self, attachments: Vec<Attachment>) {
        self.attacher.set_waiting(attachments);
    }

    /// Returns the files to upload when `text` is sent.
    pub fn attachments(&self, text: &str) -> Vec<Attachment> {
        self.attacher.waiting(text)
    }

    /// Shows each character as a mark, or as itself.
    pub fn hide(&mut self, is_hidden: bool) {
        match is_hidden {
            true => self.area.get_mut().set_mask_char(MASK),
            false => self.area.get_mut().clear_mask_char(),
        }
    }

    /// Returns the data needed from the server, and from the disk.
    pub fn wants(&self, view: &View) -> Vec<Want> {
        let names = self.completer.iter().flat_map(|completer| completer.wants(view));
        let templates = self.templates.iter().flat_map(|templates| templates.wants(view));
        names.chain(self.attacher.want()).chain(templates).collect()
    }

    /// Updates what is offered after a change of the data, and inserts a template that has arrived.
    pub fn changed(&mut self, cx: &mut Cx) -> Handled {
        if let Some(completer) = &mut self.completer {
            completer.refresh(&cx.view);
        }
        self.attacher.changed(&cx.view);
        let area = self.area.get_mut();
        self.templates.as_mut().map_or(Handled::Unchanged, |templates| templates.changed(area, cx))
    }

    /// Returns whether the path of a file is being typed, or a template chosen.
    pub fn is_choosing(&self) -> bool {
        self.attacher.is_choosing() || self.templates.as_ref().is_some_and(TemplateInserter::is_choosing)
    }

    /// Returns whether templates are offered.
    pub fn takes_templates(&self) -> bool {
        self.templates.is_some()
    }

    /// Returns the kind of text that keys type.
    pub fn text_entry(&self) -> TextEntry {
        if self.is_choosing() { TextEntry::Line } else { TextEntry::Lines }
    }

    /// Handles a key that attaches a file or inserts a template: `M-u` and `M-t`, all keys while one is chosen, and `C-x` and
    /// those that would leave or send the text while a file is uploaded.
    pub fn take_insert_key(&mut self, key: Key, cx: &mut Cx) -> Handled {
        let area = self.area.get_mut();
        match self.attacher.key_pressed(key, area, cx) {
            Handled::No => {
                self.templates.as_mut().map_or(Handled::No, |templates| templates.key_pressed(key, area, cx))
            }
            handled => handled,
        }
    }

    /// Handles a key for the list of names, while it is open.
    pub fn take_name_key(&mut self, key: Key, view: &View) -> Handled {
        let Some(completer) = self.completer.as_mut().filter(|completer| !completer.names().is_empty()) else {
            return Handled::No;
        };
        match (key.code, key.ctrl) {
            (KeyCode::Up, _) | (KeyCode::Char('p'), true) => completer.turn(-1),
            (KeyCode::Down, _) | (KeyCode::Char('n'), true) => completer.turn(1),
            (KeyCode::Esc, _) => completer.close(),
            (KeyCode::Tab, _) | (KeyCode::Enter, false) => {
                let Some((name, typed)) = completer.chosen().map(|(name, typed)| (name.value.clone(), typed)) else {
                    return Handled::No;
                };
                let area = self.area.get_mut();
                for _ in 0..typed {
                    area.delete_char();
                }
                area.insert_str(format!("{name} "));
                self.complete(view);
                return Handled::Changed;
            }
            _ => return Handled::No,
        }
        Handled::Unchanged
    }

    /// Types a key into the text.
    pub fn type_key(&mut self, key: Key, view: &View) {
        self.attacher.forget();
        let area = self.area.get_mut();
        let changed = area.input(for_text_area(key));
        // Replacing the whole text takes two steps, removing and inserting: undo both, so that the empty text is never
        // shown.
        if changed && key.ctrl && key.code == KeyCode::Char('z') && area.is_empty() {
            area.undo();
        }
        self.complete(view);
    }

    /// Handles the mouse as an editor does: a click moves the cursor, a drag selects text, and the wheel scrolls. While a
    /// template is chosen, it is that of the list.
    pub fn pointer(&mut self, pointer: Pointer, cx: &mut Cx) -> Handled {
        let (body, area) = (self.body.get(), self.area.get_mut());
        if let Some(templates) = self.templates.as_mut().filter(|templates| templates.is_choosing()) {
            return templates.pointer(pointer, area, cx);
        }
        match pointer {
            Pointer::Wheel { rows, .. } => area.scroll((rows, 0)),
            Pointer::Press { column, row, .. } if !body.contains((column, row).into()) => {}
            Pointer::Press { column, row, .. } | Pointer::Drag { column, row } => {
                let (top, left) = area.scroll_offset();
                let row = pointer::row_in(body, row) + top;
                let column = column.saturating_sub(body.x) + left;
                let at = area.screen_to_data(row.into(), column.into());
                self.attacher.forget();
                select_to(area, pointer, (at.0, at.1));
            }
            Pointer::Release => {}
        }
        if let Some(completer) = &mut self.completer {
            completer.close();
        }
        Handled::Unchanged
    }

    /// Returns the selected text.
    pub fn selected(&self) -> Option<String> {
        selected_text(&self.area.borrow())
    }

    /// Ends the selection; returns `false` if there was none.
    pub fn end_selection(&mut self) -> bool {
        let was = self.area.get_mut().is_selecting();
        self.area.get_mut().cancel_selection();
        was
    }

    /// Adds pasted text at the cursor, to the path of a file, or to the filter of templates.
    pub fn paste(&mut self, pasted: &str, cx: &mut Cx) -> Handled {
        let is_filter = self.templates.as_mut().is_some_and(|templates| templates.take_paste(pasted, &cx.view));
        if is_filter || self.attacher.take_paste(pasted, cx) {
            return Handled::Unchanged;
        }
        let lines = pasted.replace("\r\n", "\n").replace('\r', "\n");
        let visible = text::without_controls(&lines);
        if visible.len() < lines.len() {
            cx.say(Tone::Warning, "Removed control characters from the pasted text.");
        }
        self.area.get_mut().insert_str(visible);
        Handled::Changed
    }

    /// Records the number of the write that is being sent; returns `false` if it is not an upload of this text.
    pub fn sending(&mut self, number: u64) -> bool {
        self.attacher.sending(number)
    }

    /// Records the progress of an upload.
    pub fn progress(&mut self, number: u64, progress: Progress) {
        self.attacher.progress(number, progress);
    }

    /// Handles the end of a write: inserts the link to the uploaded file. Returns [`Handled::No`] if the write is not an
    /// upload of this text.
    pub fn sent(&mut self, number: u64, outcome: &Result<Value, Error>) -> Handled {
        self.attacher.sent(number, outcome, self.area.get_mut())
    }

    /// Puts the Markdown of an uploaded file in place of its mark.
    pub fn link(&mut self, attachment: &Attachment, markdown: &str) {
        self.attacher.forget_attachment(attachment);
        let linked = self.text().replace(&attachment.mark, markdown);
        self.set(&linked);
    }

    /// Returns the reason why a file was not attached, as lines.
    pub fn error_lines(&self, width: u16) -> Vec<String> {
        self.attacher.error_lines(width)
    }

    /// Returns the state of the upload, and the key that stops it.
    pub fn upload_status(&self) -> Option<String> {
        self.attacher.status()
    }

    /// Returns the line up to the cursor, in which a name can be completed, and whether that is all of it.
    fn before_cursor(&self) -> (String, bool) {
        let area = self.area.borrow();
        let at = area.cursor();
        let line = area.lines().get(at.0).map(String::as_str).unwrap_or_default();
        // A name is short: text far before the cursor does not matter.
        let from = at.1.saturating_sub(256);
        (line.chars().skip(from).take(at.1 - from).collect(), from == 0)
    }

    fn complete(&mut self, view: &View) {
        let (before, is_whole) = self.before_cursor();
        if let Some(completer) = &mut self.completer {
            completer.take(&before, is_whole, view);
        }
    }

    /// Draws the text; returns the cell of the cursor.
    pub fn draw(&self, view: &View, body: Rect, buf: &mut Buffer) -> Option<(u16, u16)> {
        let theme = view.theme;
        self.body.set(body);
        let mut area = self.area.borrow_mut();
        area.set_style(theme.style(Role::Overlay));
        area.set_cursor_line_style(theme.style(Role::Overlay));
        area.set_selection_style(theme.style(Role::Marked));
        area.set_placeholder_style(theme.style(Role::Dim));
        (&*area).render(body, buf);
        clean(buf, body, theme);
        let (at, (top, left)) = (area.screen_cursor(), area.scroll_offset());
        let offset = |value: usize, from: u16| (value as u16).checked_sub(from);
        let cursor = offset(at.col, left).zip(offset(at.row, top)).map(|(x, y)| (body.x + x, body.y + y));
        cursor.filter(|(x, y)| body.contains((*x, *y).into()))
    }

    /// Draws the path of a file that is being chosen in the row `foot`, or the templates, and returns the cursor; `None` if
    /// neither is being chosen.
    pub fn draw_choice(&self, view: &View, screen: Rect, foot: Rect, buf: &mut Buffer) -> Option<Option<(u16, u16)>> {
        let drawn = self.templates.as_ref().and_then(|templates| templates.draw(view, screen, buf));
        drawn.or_else(|| self.attacher.draw(view, screen, foot, buf))
    }

    /// Draws the names that are offered for the word at the cursor.
    pub fn draw_names(&self, view: &View, body: Rect, cursor: Option<(u16, u16)>, buf: &mut Buffer) {
        if let (Some(completer), Some(at)) = (&self.completer, cursor) {
            completer.draw(view, body, at, buf);
        }
    }
}

/// Removes characters that would control the terminal from cells: a quoted note may contain anything.
fn clean(buf: &mut Buffer, area: Rect, theme: &Theme) {
    let area = area.intersection(buf.area);
    // The character that joins emoji is harmless.
    let acts = |c: char| c != '\u{200d}' && (c.is_control() || text::is_invisible(c));
    for (x, y) in (area.y..area.bottom()).flat_map(|y| (area.x..area.right()).map(move |x| (x, y))) {
        if let Some(cell) = buf.cell_mut((x, y))
            && cell.symbol().contains(acts)
        {
            let kept: String = cell.symbol().chars().filter(|c| !acts(*c)).collect();
            cell.set_symbol(if kept.is_empty() { glyph::skeleton() } else { &kept });
            cell.set_style(theme.style(Role::Warning));
        }
    }
}
