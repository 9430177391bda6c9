//! Drawing of a form.

use super::{Field, Form, Look, State, Widget};
use crate::complete::Complete;
use crate::overlay::markdown_input::MarkdownInput;
use crate::view::View;
use api::Error;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ui::form::{self, FieldContent};
use ui::line::Line;
use ui::theme::Role;
use ui::{glyph, line, popup, state, text};

/// The maximum number of rows of help for a field.
const MAX_HELP_ROWS: usize = 2;
/// The screen height above which there is room for separating rows.
const ROOMY_HEIGHT: u16 = 30;

impl Form {
    fn rows(&self, view: &View) -> Vec<form::Field<'_>> {
        let help = |index| if glyph::is_accessible() { self.about(index) } else { String::new() };
        self.fields.iter().enumerate().map(|(index, field)| self.row(field, help(index), view)).collect()
    }

    fn row<'a>(&self, field: &'a Field, help: String, view: &View) -> form::Field<'a> {
        let is_choice = matches!(field.widget, Widget::YesNo | Widget::Choice(_));
        let empty = match field.default.as_str() {
            // An empty switch looks as if it were off.
            "" if is_choice => {
                if self.reads.current.is_some() {
                    "unchanged"
                } else {
                    "default"
                }
            }
            default => default,
        };
        let text = field.input.text();
        form::Field {
            label: &field.label,
            required: field.required,
            content: match &field.widget {
                Widget::Secret => FieldContent::Secret(text.chars().count()),
                Widget::Long if field.is_hidden => FieldContent::Secret(text.chars().count()),
                _ if is_choice => FieldContent::Choice(text, empty),
                Widget::Long => FieldContent::Text(text, empty),
                _ => FieldContent::Line(&field.input, empty),
            },
            meaning: field.meaning(view),
            error: field.error.as_deref(),
            changed: field.is_changed(),
            help,
        }
    }

    /// Returns the help for a field.
    fn about(&self, index: usize) -> String {
        let Some(field) = self.fields.get(index) else { return String::new() };
        let way = match &field.widget {
            Widget::Words(Complete::Nothing) | Widget::Names(Complete::Nothing) => "Separated by commas.",
            Widget::Words(_) | Widget::Names(_) => "Enter or a letter lists them, Space marks several.",
            Widget::YesNo => "Space toggles it.",
            Widget::Choice(_) => "Space cycles through the values.",
            Widget::Long if !field.is_kept => "Enter edits the text, C-t hides or shows it.",
            Widget::Long if field.context.is_some() => {
                "Enter edits it here, C-o opens $EDITOR, M-u attaches a file, M-t inserts a template."
            }
            Widget::Long => "Enter edits it here, C-o opens $EDITOR.",
            Widget::Picture => "Path of a local image, at most 200 KB, to upload.",
            Widget::Secret => "Hidden, not stored on this machine, and never shown again.",
            Widget::Date => "A date: 2026-12-24, 2w, fri or tomorrow.",
            Widget::Line(Complete::Nothing) | Widget::Named(Complete::Nothing) => "",
            Widget::Line(_) | Widget::Named(_) => "Enter or a letter lists them.",
            Widget::Number => "+ and - change it by 1.",
            Widget::Decimal => "",
        };
        let way = match (field.help.is_empty() && way.is_empty(), field.required, self.reads.current.is_some()) {
            (false, ..) => way,
            // The mark after the label says so.
            (true, true, _) => "",
            (true, false, true) => "Sent if changed.",
            (true, false, false) => "Empty: the server decides.",
        };
        [field.help.as_str(), way].iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join(" ")
    }

    /// Returns what C-s does, in a word.
    fn verb(&self) -> &str {
        match self.operation.what.split(' ').next().unwrap_or_default() {
            "change" | "edit" => "save",
            "" => "send",
            verb => verb,
        }
    }

    /// Returns what happens now, or why the values cannot be saved, for the last row of a selection.
    fn status(&self, view: &View) -> Option<(String, Role)> {
        let error = self.focused().and_then(|field| field.error.as_ref());
        Some(match &self.state {
            State::Checking => ("checking for changes…".to_owned(), Role::Running),
            State::Resolving => ("resolving names…".to_owned(), Role::Running),
            State::Sending(_) if let Some(status) = self.files.status() => (status, Role::Running),
            State::Sending(_) | State::Done => ("sending…".to_owned(), Role::Running),
            State::Verifying(_) => ("checking the server…".to_owned(), Role::Running),
            State::Failed(error) => (self.failure(error, view), Role::Failed),
            State::Typing | State::Conflict(..) => (text::sanitize(error?).into_owned(), Role::Failed),
        })
    }

    /// Draws why nothing can be typed yet: the values that it would replace are loading, or were not loaded.
    fn draw_locked(&self, view: &View, area: Rect, buf: &mut Buffer) {
        match self.reads.current.as_ref().and_then(|current| current.error(view)) {
            Some(error) => {
                state::failure(buf, area, view.theme, error.title(), &error.tried, &error.message(), error.advice());
            }
            None => state::skeleton(buf, area, view.theme),
        }
    }

    /// Returns the title, which names the focused field if only that is shown.
    fn title(&self, with_field: bool) -> String {
        let field = self.focused().filter(|_| with_field);
        let label = field.map(|field| format!("{}{}", glyph::separator(), field.label)).unwrap_or_default();
        format!("{}{label}", self.operation.title)
    }

    /// Draws the selection of the values of the focused field.
    fn draw_choosing(&self, view: &View, screen: Rect, buf: &mut Buffer) -> Option<(u16, u16)> {
        let chooser = self.focus.choosing.as_ref()?;
        chooser.draw(view, screen, buf, &self.title(self.fields.len() > 1), self.verb(), self.status(view))
    }

    /// Draws the switches of a letter in a row, `[x] Approve  M-a`, and below it what they mean or why they are disabled.
    fn draw_switches(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let Look::Letter(areas) = &self.look else { return };
        let mut areas = areas.borrow_mut();
        areas.clear();
        let mut left = Rect { height: area.height.min(1), ..area };
        let mut below = Line::empty();
        for (index, field) in self.fields.iter().enumerate() {
            let Some(letter) = field.switch else { continue };
            let (check, role) = match field.is_on() {
                true => (glyph::or_word("[x] ", "on: "), Role::Accent),
                false if field.disabled.is_some() => (glyph::or_word("[ ] ", "off: "), Role::Faint),
                false => (glyph::or_word("[ ] ", "off: "), Role::Text),
            };
            let key_role = if field.disabled.is_some() { Role::Faint } else { Role::Key };
            let line = Line::new(check, role).and(field.label.as_str(), role).and(format!("  M-{letter}"), key_role);
            if field.is_on() && !field.help.is_empty() {
                below.push(format!("{}  ", field.help), Role::Dim);
            }
            if let Some(why) = &field.disabled {
                below.push(format!("{}: {why}  ", field.label), Role::Dim);
            }
            let used = line.draw(buf, left, view.theme);
            areas.push((index, Rect { width: used, ..left }));
            let used = used.saturating_add(4).min(left.width);
            left = Rect { x: left.x + used, width: left.width - used, ..left };
        }
        if area.height > 1 {
            below.draw(buf, Rect { y: area.y + 1, height: 1, ..area }, view.theme);
        }
    }

    fn foot(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let theme = view.theme;
        let (key, dim) = (Role::Key, Role::Dim);
        let verb = self.verb();
        let unsaved: Vec<&str> = self.fields.iter().filter(|field| !field.is_kept).map(|f| f.label.as_str()).collect();
        let without = if unsaved.is_empty() { String::new() } else { format!(" without {}", unsaved.join(", ")) };
        let close = format!(" close ({}{without})", view.drafts.whereabouts());
        let count = format!("{} of {}", self.focus.field + 1, self.fields.len());
        let count = Line::new(if glyph::is_accessible() { String::new() } else { count }, dim);
        let attach = if self.focus.writing.as_ref().is_some_and(MarkdownInput::takes_files) { "attach  " } else { "" };
        let mut left = match &self.state {
            _ if let Some(status) = self.files.status() => Line::new(status, Role::Running),
            _ if let Some(status) = self.focus.writing.as_ref().and_then(MarkdownInput::upload_status) => {
                Line::new(status, Role::Running)
            }
            State::Typing if self.is_letter() => Line::new("C-s", key)
                .and(format!(" {verb}  "), dim)
                .and(if attach.is_empty() { "" } else { "M-u " }, key)
                .and(attach, dim)
                .and("C-o", key)
                .and(" $EDITOR  ", dim)
                .and("Esc", key)
                .and(" save draft", dim),
            _ if self.focus.writing.is_some() && self.focused().is_some_and(|field| !field.is_kept) => {
                let hidden = self.focused().is_some_and(|field| field.is_hidden);
                let hide = if hidden { " show the text" } else { " hide the text" };
                let next = if hidden { [("  Tab", key), (" next", dim)] } else { [("", key), ("", dim)] };
                Line::from([("Esc", key), (" back to the form  ", dim), ("C-t", key), (hide, dim), next[0], next[1]])
            }
            _ if self.focus.writing.is_some() => Line::new("Esc", key)
                .and(" back to the form  ", dim)
                .and(if attach.is_empty() { "" } else { "M-u " }, key)
                .and(attach, dim)
                .and("C-o", key)
                .and(" $EDITOR", dim),
            State::Typing => Line::new("C-s", key)
                .and(format!(" {verb}  "), dim)
                .and("Tab", key)
                .and(" next  ", dim)
                .and("Esc", key)
                .and(close.as_str(), dim),
            State::Checking => Line::new("checking for changes…", Role::Running),
            State::Resolving => Line::new("resolving names…", Role::Running),
            State::Sending(_) | State::Done => Line::new("sending…", Role::Running),
            State::Verifying(_) => Line::new("checking the server…", Role::Running),
            State::Failed(_) => Line::from([
                ("C-s", key),
                (if self.may_repeat() { " send again…  " } else { " retry  " }, dim),
                ("Tab", key),
                (" next  ", dim),
                ("Esc", key),
                (close.as_str(), dim),
            ]),
            State::Conflict(..) => Line::empty(),
        };
        let is_open = self.focus.writing.is_none() && matches!(self.state, State::Typing | State::Failed(_));
        if let Some(replaced) =
            self.reads.current.as_ref().and_then(|current| current.replaced.as_ref()).filter(|_| is_open)
        {
            let whose = if replaced.theirs { " restore theirs  " } else { " restore yours  " };
            let at = left.spans.len().saturating_sub(2);
            left.spans.splice(at..at, [("C-z", key).into(), (whose, dim).into()]);
        }
        line::pair(buf, area, theme, &left, &count);
    }

    /// Returns the text below the fields: the error of the form, else the help for the focused field.
    fn below(&self, view: &View, width: usize, height: u16) -> (Vec<String>, Role) {
        let room = if height > 6 { MAX_HELP_ROWS } else { 1 };
        match &self.state {
            State::Failed(error) => {
                let words = self.failure(error, view);
                (text::wrap(&words, width, room.max(usize::from(height / 3).min(5))), Role::Failed)
            }
            _ if glyph::is_accessible() => (Vec::new(), Role::Dim),
            _ => (text::wrap(&self.about(self.focus.field), width, room), Role::Dim),
        }
    }

    /// Returns the words for an error of the server.
    fn failure(&self, error: &Error, view: &View) -> String {
        let error = view.as_of_now(error);
        self.without_secrets(error.with_advice(error.write_advice()))
    }

    /// Returns the server's error in accessible mode, for the line of the cursor.
    fn failure_heard(&self) -> Option<String> {
        match &self.state {
            State::Failed(error) if glyph::is_accessible() => Some(self.without_secrets(error.message())),
            _ => None,
        }
    }

    /// Returns the number of rows of the longest text below the fields, so that they do not jump when the focus moves.
    fn rows_below(&self, view: &View, width: usize) -> usize {
        let most = |at| text::wrap(&self.about(at), width, MAX_HELP_ROWS).len();
        let fields = if glyph::is_accessible() { 0 } else { self.fields.len() };
        let about = (0..fields).map(most).max().unwrap_or(0);
        about.max(self.below(view, width, u16::MAX).0.len())
    }

    pub(super) fn draw(&self, view: &View, screen: Rect, buf: &mut Buffer) -> Option<(u16, u16)> {
        let theme = view.theme;
        if let State::Conflict(conflict, _) = &self.state {
            conflict.draw(view, screen, buf, &self.operation.title);
            return None;
        }
        if self.is_picker() && self.focus.choosing.is_some() {
            return self.draw_choosing(view, screen, buf);
        }
        let width = (screen.width * 3 / 5).clamp(72, 96);
        let failure = self.failure_heard();
        let mut rows = self.rows(view);
        if let Some(row) = rows.get_mut(self.focus.field).filter(|row| row.error.is_none()) {
            row.error = failure.as_deref();
        }
        let errors = rows.iter().filter(|row| row.error.is_some()).count();
        let facts = if self.operation.facts.is_empty() { 0 } else { self.operation.facts.len() + 1 };
        let below = self.rows_below(view, usize::from(width.min(screen.width.saturating_sub(4))));
        // A row stays empty above the text below the fields, and on a large screen another one above the keys.
        let gaps = 1 + usize::from(below > 0 && screen.height > ROOMY_HEIGHT);
        let wanted = match self.focus.writing.is_some() {
            true if self.is_letter() => usize::from((screen.height / 2).clamp(8, 20)),
            true => usize::from(screen.height),
            false => self.fields.len() + errors + facts + gaps + below + 1,
        };
        let height = (wanted as u16).clamp(4, screen.height.saturating_sub(4).max(4));
        let title = self.title(self.focus.writing.is_some() && !self.is_letter());
        let inner = popup::draw(buf, screen, theme, &title, width, height);
        if inner.height < 3 {
            return None;
        }
        let foot = Rect { y: inner.bottom() - 1, height: 1, ..inner };
        if self.is_locked(view) {
            self.draw_locked(view, Rect { height: inner.height - 1, ..inner }, buf);
            Line::from([("Esc", Role::Key), (" close", Role::Dim)]).draw(buf, foot, theme);
            return None;
        }
        // The path of a file to attach takes the place of the keys.
        if !self.focus.writing.as_ref().is_some_and(MarkdownInput::is_choosing) {
            self.foot(view, foot, buf);
        }
        if let Some(input) = &self.focus.writing {
            let has_switches = self.is_letter() && self.fields.iter().any(|field| field.switch.is_some());
            let switches = if has_switches { 2 } else { 0 };
            let body = Rect { height: inner.height - 2 - switches.min(inner.height - 3), ..inner };
            self.draw_switches(view, Rect { y: body.bottom(), height: switches, ..inner }, buf);
            return draw_writing(input, view, (screen, body, foot), buf);
        }
        // The help for a field is wrapped if there is room.
        let (about, role) = self.below(view, inner.width.into(), inner.height);
        // If not all fields are visible, none gives up its row for missing text.
        let reserved = match wanted <= usize::from(inner.height) {
            true => below.max(about.len()) + gaps + 1,
            false => about.len() + usize::from(inner.height > 8) + 1,
        };
        let reserved = reserved.min(usize::from(inner.height) - 1) as u16;
        let body = Rect { height: inner.height - reserved, ..inner };
        let from = body.bottom() + u16::from(usize::from(reserved) > about.len() + 1);
        for (words, y) in about.iter().zip(from..foot.y) {
            Line::new(words.as_str(), role).draw(buf, Rect { y, height: 1, ..inner }, theme);
        }
        // Fields take precedence over facts if there is not enough room for both.
        let room = if usize::from(body.height) > facts { facts } else { 0 };
        let least = self.operation.facts.iter().map(|(name, _)| text::width(name)).max().unwrap_or(0);
        let column = usize::from(form::value_column(&rows, least, body.width));
        for ((name, words), y) in self.operation.facts.iter().zip(body.y..body.y + room as u16) {
            let spans = Line::new(text::pad(&text::capitalize(name), column), Role::Dim).and(words.clone(), Role::Text);
            spans.draw(buf, Rect { y, height: 1, ..body }, theme);
        }
        let body = Rect { y: body.y + room as u16, height: body.height - room as u16, ..body };
        let cursor = form::draw(buf, body, theme, &rows, least, self.focus.field, &mut self.layout.borrow_mut());
        if self.focus.choosing.is_some() { self.draw_choosing(view, screen, buf) } else { cursor }
    }
}

/// Draws the text that is being written, and below it why a file was not attached.
fn draw_writing(
    input: &MarkdownInput,
    view: &View,
    (screen, body, foot): (Rect, Rect, Rect),
    buf: &mut Buffer,
) -> Option<(u16, u16)> {
    let errors = input.error_lines(body.width);
    let text = Rect { height: body.height.saturating_sub(errors.len() as u16).max(1), ..body };
    for (words, y) in errors.iter().zip(text.bottom()..body.bottom()) {
        Line::new(words.as_str(), Role::Failed).draw(buf, Rect { y, height: 1, ..body }, view.theme);
    }
    let cursor = input.draw(view, text, buf);
    if let Some(cursor) = input.draw_choice(view, screen, foot, buf) {
        return cursor;
    }
    input.draw_names(view, text, cursor, buf);
    cursor
}
