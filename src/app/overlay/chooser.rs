//! Selection of values that the server lists, such as labels, people, milestones and refs: one, or several with marks.
//!
//! The values that are set come first. What is typed filters the loaded values and is searched by the server. A value
//! that is set stays, whatever the server lists.

use super::picker::{edit, letters_of, letters_shown};
use crate::complete::{Choice, Complete};
use crate::keymap::Key;
use crate::motion::Motion;
use crate::pointer::{OnList, Pointer};
use crate::view::View;
use crossterm::event::KeyCode;
use nucleo_matcher::pattern::{AtomKind, CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::rc::Rc;
use store::Want;
use ui::input::Input;
use ui::line::{self, Line};
use ui::theme::Role;
use ui::{glyph, popup, state, table, text};

/// The maximum number of pages that are loaded because few of the known values match what is typed.
const MAX_SOUGHT_PAGES: u32 = 10;
/// The number of matching values below which another page is loaded.
const FEW_MATCHES: usize = 10;
/// The distance to the last row, in rows, at which the next page is loaded.
const ROWS_AHEAD: usize = 20;
/// The maximum width of a value next to its description, in columns.
const MAX_VALUE_WIDTH: u16 = 48;

/// The result of a key or a click.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChooserStep {
    /// The selection goes on.
    Stay,
    /// The values are chosen.
    Done,
    /// The values are chosen, and the next field follows, or the previous one.
    Next(bool),
    /// The values are chosen and to be saved.
    Save,
    /// The selection ends; marks stay.
    Back,
}

/// A row of the list.
enum Row {
    /// A listed value, by its index.
    Listed(usize),
    /// A value that was set and is not listed, by its index.
    Unlisted(usize),
    /// No value.
    Nothing,
    /// The typed text itself.
    Typed,
}

/// The words and the rules of a new value.
struct NewValue {
    verb: &'static str,
    /// The words after the value.
    words: String,
    /// Returns why a value is not valid.
    refusal: fn(&str) -> Option<&'static str>,
}

/// Returns whether a value has an action.
type HasAction = dyn Fn(&View, &str) -> bool;

/// The key of an action that some values have.
pub struct ValueKey {
    /// The key.
    pub key: &'static str,
    /// The words that say what the key does.
    pub what: &'static str,
    /// Returns whether a value has the action.
    pub is_for: Rc<HasAction>,
}

/// A selection of values.
pub struct Chooser {
    complete: Complete,
    /// Whether several values can be chosen.
    several: bool,
    /// Whether there is no other field to go to.
    is_alone: bool,
    /// The word for no value, if that can be chosen.
    nothing: Option<String>,
    /// The words and the rules of a typed text that is not listed, if it may be a new value.
    new_value: Option<NewValue>,
    /// Whether the value that was chosen last is new.
    has_new_value: bool,
    /// The value that was chosen last: the full name of a listed ref, others as they are, and empty for no value.
    taken: Option<String>,
    filter: Input,
    /// The chosen values, in order.
    marked: Vec<String>,
    /// The values that were chosen first, which define the order.
    original: Vec<String>,
    /// The values listed first: those that were chosen when the filter changed last.
    top: Vec<String>,
    choices: Vec<Choice>,
    rows: Vec<Row>,
    list: table::ListState,
    /// The number of pages of the list that are wanted.
    pages: u32,
    /// The number of values when another page was wanted last.
    grown_at: Option<usize>,
    /// Whether a row was chosen with the keys since the filter changed.
    moved: bool,
    /// Whether a value matches the filter.
    has_match: bool,
    is_loading: bool,
    /// Whether all values are known.
    is_whole: bool,
    /// The generation of the store and the filter that the rows were made from.
    made_of: Option<(u64, String)>,
    /// The words in the empty filter.
    hint: &'static str,
    /// The key of an action for the selected value, if it has one.
    action: Option<ValueKey>,
    /// Why the last key did nothing.
    pub message: Option<String>,
    matcher: RefCell<Matcher>,
    area: Cell<Rect>,
}

impl Chooser {
    /// Creates a selection among the values of `complete`, of which `values` are chosen. `nothing` is the word for no
    /// value, if that can be chosen.
    pub fn new(complete: Complete, several: bool, values: Vec<String>, nothing: Option<String>) -> Chooser {
        let label = NewValue { verb: "create", words: String::new(), refusal: |_| None };
        Chooser {
            new_value: Some(label).filter(|_| matches!(complete, Complete::Labels(_))),
            has_new_value: false,
            taken: None,
            complete,
            several,
            is_alone: false,
            nothing: nothing.filter(|_| !several),
            filter: Input::default(),
            top: values.clone(),
            original: values.clone(),
            marked: values,
            choices: Vec::new(),
            rows: Vec::new(),
            list: table::ListState::default(),
            pages: 1,
            grown_at: None,
            moved: false,
            has_match: false,
            is_loading: false,
            is_whole: false,
            made_of: None,
            hint: "Type to filter",
            action: None,
            message: None,
            matcher: RefCell::new(Matcher::new(Config::DEFAULT.match_paths())),
            area: Cell::default(),
        }
    }

    /// Makes Tab mark values, because there is no other field to go to.
    pub fn alone(self) -> Chooser {
        Chooser { is_alone: true, ..self }
    }

    /// Offers the typed text as a new value: `verb` says what it becomes, `words` follow it, and `refusal` returns why it
    /// is not valid.
    pub fn creating(self, verb: &'static str, words: String, refusal: fn(&str) -> Option<&'static str>) -> Chooser {
        Chooser { new_value: Some(NewValue { verb, words, refusal }), ..self }
    }

    /// Names a key among those below the list while the selected value has its action, which whoever opened it handles.
    pub fn with_action(self, action: ValueKey) -> Chooser {
        Chooser { action: Some(action), ..self }
    }

    /// Sets the words in the empty filter.
    pub fn hinting(self, hint: &'static str) -> Chooser {
        Chooser { hint, ..self }
    }

    /// Returns the selected value, unless a filter is being typed.
    pub fn selected(&self) -> Option<&str> {
        self.value(self.list.selected()).filter(|_| self.filter.is_empty())
    }

    /// Returns whether the value that was chosen last is new.
    pub fn has_new_value(&self) -> bool {
        self.has_new_value
    }

    /// Returns the value that was chosen last: the full name of a listed ref, others as they are, and empty for no value.
    pub fn taken(&self) -> Option<&str> {
        self.taken.as_deref()
    }

    /// Returns the chosen values, in order.
    pub fn values(&self) -> &[String] {
        &self.marked
    }

    /// Replaces the chosen values, because others were set elsewhere.
    pub fn set_values(&mut self, values: Vec<String>) {
        self.top.clone_from(&values);
        self.original.clone_from(&values);
        self.marked = values;
        self.made_of = None;
    }

    fn typed(&self) -> &str {
        self.filter.text().trim()
    }

    /// Returns whether the typed text becomes a new value.
    fn creates(&self) -> bool {
        self.new_value.is_some()
    }

    /// Returns the data needed from the server.
    pub fn wants(&self, view: &View) -> Vec<Want> {
        self.complete.choice_wants(view, self.filter.text(), self.pages)
    }

    /// Lists the values known now.
    pub fn refresh(&mut self, view: &View) {
        let wants = self.wants(view);
        self.is_loading = view.store.is_any_loading(&wants);
        let made_of = Some((view.store.generation(), self.filter.text().to_owned()));
        if self.made_of != made_of {
            self.choices = self.complete.choices(view, self.filter.text());
            let failed = |want: &Want| matches!(want, Want::Load(load) if view.store.error_of(&load.request).is_some());
            // Of paths, only one folder is listed.
            let lists_all = !matches!(self.complete, Complete::Paths(_));
            self.is_whole = lists_all && !self.is_loading && !view.store.has_more(&wants) && !wants.iter().any(failed);
            self.made_of = made_of;
            self.arrange(view);
        }
        let few = match self.typed().is_empty() {
            true => self.list.selected() + ROWS_AHEAD >= self.rows.len(),
            false => self.rows.len() < FEW_MATCHES + self.top.len() && self.pages < MAX_SOUGHT_PAGES,
        };
        let more = few && !self.is_loading && view.store.has_more(&wants);
        if more && self.grown_at != Some(self.choices.len()) {
            self.grown_at = Some(self.choices.len());
            self.pages += 1;
        }
    }

    /// Lists the values that match: those that are set first, then the others, best first.
    fn arrange(&mut self, view: &View) {
        let typed = self.typed().to_owned();
        // The name of the user stands for `@me`.
        let me = view.me().filter(|_| typed == "@me" && matches!(self.complete, Complete::Users(_)));
        let sought = me.map_or_else(|| typed.trim_start_matches('@').to_owned(), |me| me.username.clone());
        let pattern = Pattern::new(&sought, CaseMatching::Ignore, Normalization::Smart, AtomKind::Fuzzy);
        let (lower, matcher) = (sought.to_lowercase(), self.matcher.get_mut());
        let mut buffer = Vec::new();
        let mut score = |value: &str, detail: &str| {
            let score = pattern.score(letters_of(value, &mut buffer), matcher);
            // What begins with the text comes first, and a description last.
            let rank = |score: u32| match value.to_lowercase() {
                value if value == lower => u32::MAX,
                value if value.starts_with(&lower) => score + 20_000,
                _ => score + 10_000,
            };
            score.map(rank).or_else(|| detail.to_lowercase().contains(&lower).then_some(0))
        };
        let mut rows = Vec::new();
        let mut best: Option<(u32, usize)> = None;
        let mut offer = |score: Option<u32>, row: usize| {
            if let Some(score) = score.filter(|score| best.is_none_or(|(known, _)| *score > known)) {
                best = Some((score, row));
            }
        };
        for (index, value) in self.top.iter().enumerate() {
            let listed = self.choices.iter().position(|choice| choice.value == *value);
            let detail = listed.and_then(|at| self.choices.get(at)).map_or("", |choice| &choice.detail);
            offer(score(value, detail).filter(|_| !typed.is_empty()), rows.len());
            rows.push(listed.map_or(Row::Unlisted(index), Row::Listed));
        }
        if self.nothing.is_some() && typed.is_empty() {
            rows.push(Row::Nothing);
        }
        let first = if self.several { rows.len() } else { 0 };
        let top: HashSet<&str> = self.top.iter().map(String::as_str).collect();
        let others = self.choices.iter().enumerate().filter(|(_, choice)| !top.contains(choice.value.as_str()));
        let mut matching: Vec<(u32, usize)> = match typed.is_empty() {
            true => others.map(|(index, _)| (0, index)).collect(),
            false => others.filter_map(|(at, choice)| Some((score(&choice.value, &choice.detail)?, at))).collect(),
        };
        matching.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
        if let Some((score, _)) = matching.first().filter(|_| !typed.is_empty()) {
            offer(Some(*score), rows.len());
        }
        let none_matches = matching.is_empty() && best.is_none();
        rows.extend(matching.into_iter().map(|(_, index)| Row::Listed(index)));
        let is_known = best.is_some_and(|(score, _)| score == u32::MAX);
        let is_free =
            self.creates() || matches!(self.complete, Complete::Refs(_) | Complete::Branches(_) | Complete::Paths(_));
        // Whether a label is new is known when the server has searched for it. Other names are looked up later anyway.
        let is_decided = !self.is_loading || !self.creates();
        if !typed.is_empty() && !is_known && is_decided && (is_free || none_matches) {
            rows.push(Row::Typed);
        }
        let chosen = match best {
            Some((_, row)) => row,
            // Only the typed text is left.
            None if !typed.is_empty() => rows.len().saturating_sub(1),
            None => first,
        };
        self.rows = rows;
        self.has_match = best.is_some();
        match self.moved {
            // Values that arrive must not replace the one that the user has selected already.
            true => {
                let keys: Vec<String> = (0..self.rows.len()).map(|row| self.key_of(row)).collect();
                self.list.sync(keys.len(), |row| keys.get(row).cloned().unwrap_or_default());
            }
            false => self.list.select(chosen, self.rows.len()),
        }
    }

    /// Returns the value of a row; `None` for no value.
    fn value(&self, row: usize) -> Option<&str> {
        match self.rows.get(row)? {
            Row::Listed(index) => self.choices.get(*index).map(|choice| choice.value.as_str()),
            Row::Unlisted(index) => self.top.get(*index).map(String::as_str),
            Row::Typed => Some(self.typed()),
            Row::Nothing => None,
        }
    }

    fn key_of(&self, row: usize) -> String {
        match self.rows.get(row) {
            Some(Row::Typed) | None => "\n".to_owned(),
            _ => self.value(row).unwrap_or_default().to_owned(),
        }
    }

    /// Returns whether the selected row is the one that the user means: not while nothing matches what is typed.
    fn is_meant(&self) -> bool {
        self.moved || self.has_match || self.typed().is_empty() || self.is_on_typed()
    }

    fn is_on_typed(&self) -> bool {
        matches!(self.rows.get(self.list.selected()), Some(Row::Typed))
    }

    /// Replaces the filter, as if `text` were typed.
    pub fn type_text(&mut self, text: &str, view: &View) {
        self.filter.paste(text);
        self.filter_changed(view);
    }

    fn filter_changed(&mut self, view: &View) {
        // A name that is being typed goes on.
        let names = self.moved && self.is_on_typed();
        self.moved = false;
        self.top.clone_from(&self.marked);
        self.list.reset_widths();
        self.refresh(view);
        if names && matches!(self.rows.last(), Some(Row::Typed)) {
            self.list.select(self.rows.len() - 1, self.rows.len());
            self.moved = true;
        }
    }

    fn clear_filter(&mut self, view: &View) {
        self.filter.clear();
        self.filter_changed(view);
    }

    fn move_by(&mut self, rows: isize, view: &View) {
        self.list.move_by(rows, self.rows.len());
        self.keep_selection(view);
    }

    /// Keeps the cursor on its row when more of them arrive.
    fn keep_selection(&mut self, view: &View) {
        self.moved = true;
        let key = self.key_of(self.list.selected());
        self.list.select_key(key);
        self.refresh(view);
    }

    fn mark(&mut self, value: &str) {
        if self.marked.iter().any(|marked| marked == value) {
            return;
        }
        self.marked.push(value.to_owned());
        // A value that was removed and is chosen again returns to its place.
        let original = &self.original;
        self.marked.sort_by_key(|value| original.iter().position(|known| known == value).unwrap_or(original.len()));
    }

    /// Marks the selected value, or removes its mark.
    fn toggle(&mut self, view: &View) -> ChooserStep {
        let Some(value) = self.value(self.list.selected()).map(str::to_owned) else {
            return self.wait_or(ChooserStep::Stay);
        };
        match self.marked.iter().position(|marked| *marked == value) {
            Some(at) => _ = self.marked.remove(at),
            None => self.mark(&value),
        }
        match self.typed().is_empty() {
            true => self.moved = true,
            false => self.clear_filter(view),
        }
        ChooserStep::Stay
    }

    /// Returns `step`, or stays with a message if what was typed may still be found.
    fn wait_or(&mut self, step: ChooserStep) -> ChooserStep {
        if !self.typed().is_empty() && self.is_loading {
            self.message = Some("Still loading: the text is looked up in a moment.".to_owned());
            return ChooserStep::Stay;
        }
        step
    }

    /// Takes the selected row, and continues with `step`.
    fn take(&mut self, step: ChooserStep, view: &View) -> ChooserStep {
        let row = self.list.selected();
        let is_chosen = self.moved || !self.typed().is_empty();
        if self.rows.is_empty() || !self.is_meant() {
            return self.wait_or(step);
        }
        let value = self.value(row).map(str::to_owned);
        // A new value is shown among the marked ones before it is saved.
        let is_new = self.is_on_typed();
        let refusal = self.new_value.as_ref().filter(|_| is_new).and_then(|new| (new.refusal)(self.typed()));
        if let Some(why) = refusal {
            self.message = Some(format!("Not a valid name: {why}."));
            return ChooserStep::Stay;
        }
        if self.several {
            if let Some(value) = value.filter(|_| is_chosen) {
                self.mark(&value);
            }
            if is_new && step == ChooserStep::Done {
                self.clear_filter(view);
                return ChooserStep::Stay;
            }
        } else if is_chosen || step == ChooserStep::Done {
            self.has_new_value = is_new && self.creates();
            let listed = match self.rows.get(row) {
                Some(Row::Listed(index)) => self.choices.get(*index),
                _ => None,
            };
            let full_name = listed.and_then(|choice| choice.full_name.clone());
            self.taken = Some(full_name.or_else(|| value.clone()).unwrap_or_default());
            self.marked = value.into_iter().collect();
        }
        step
    }

    /// Saves the values, unless a typed one is not chosen yet.
    fn save(&mut self, view: &View, was_told: bool) -> ChooserStep {
        if !self.several {
            return self.take(ChooserStep::Save, view);
        }
        let typed = self.typed();
        let selected = self.value(self.list.selected()).filter(|_| self.is_meant()).unwrap_or(typed);
        if typed.is_empty() || was_told || self.marked.iter().any(|marked| marked == selected) {
            return ChooserStep::Save;
        }
        let how = if self.is_on_typed() || !self.is_meant() { "Enter adds" } else { "Space marks" };
        self.message = Some(format!("{how} {selected}. C-s again saves without it."));
        ChooserStep::Stay
    }

    /// Handles a key. While the values that are set are not known, for the reason `unknown`, none can be chosen.
    pub fn key(&mut self, key: Key, unknown: Option<&str>, view: &View) -> ChooserStep {
        let was_told = self.message.take().is_some();
        let height = self.list.height();
        let chooses =
            matches!(key.code, KeyCode::Enter | KeyCode::Tab) || key.code == KeyCode::Char(' ') && self.several;
        if let Some(why) = unknown.filter(|_| chooses || key.code == KeyCode::Char('s') && key.ctrl) {
            self.message = Some(why.to_owned());
            return ChooserStep::Stay;
        }
        match (key.code, key.ctrl) {
            (KeyCode::Esc, _) | (KeyCode::Char('c'), true) => return ChooserStep::Back,
            (KeyCode::Enter, _) => return self.take(ChooserStep::Done, view),
            (KeyCode::Char('s'), true) => return self.save(view, was_told),
            (KeyCode::Tab, _) if self.is_alone && self.several => return self.toggle(view),
            (KeyCode::Tab, _) => return self.take(ChooserStep::Next(!key.shift), view),
            (KeyCode::Char(' '), false) if key.alt => {
                self.filter.insert(' ');
                self.filter_changed(view);
            }
            // Where nothing matches, a blank is part of a new name.
            (KeyCode::Char(' '), false) if self.several && !self.is_on_typed() && self.is_meant() => {
                return self.toggle(view);
            }
            (KeyCode::Up, _) | (KeyCode::Char('p' | 'k'), true) => self.move_by(-1, view),
            (KeyCode::Down, _) | (KeyCode::Char('n' | 'j'), true) => self.move_by(1, view),
            (KeyCode::PageUp, _) => self.move_by(Motion::PageUp.rows(height).unwrap_or(0), view),
            (KeyCode::PageDown, _) => self.move_by(Motion::PageDown.rows(height).unwrap_or(0), view),
            _ => {
                let before = self.filter.text().to_owned();
                if edit(&mut self.filter, key) && self.filter.text() != before {
                    self.filter_changed(view);
                }
            }
        }
        ChooserStep::Stay
    }

    /// Handles the mouse; see [`Chooser::key`].
    pub fn pointer(&mut self, pointer: Pointer, unknown: Option<&str>, view: &View) -> ChooserStep {
        self.message = unknown.map(str::to_owned);
        match pointer.on_list(&mut self.list, self.area.get(), self.rows.len()) {
            OnList::Outside => return ChooserStep::Back,
            OnList::Row(row, _) if unknown.is_none() && row < self.rows.len() => {
                self.moved = true;
                return if self.several { self.toggle(view) } else { self.take(ChooserStep::Done, view) };
            }
            OnList::Scrolled => self.keep_selection(view),
            OnList::Row(..) | OnList::Nothing => {}
        }
        ChooserStep::Stay
    }

    /// Returns the keys for the footer: `verb` is what C-s does; empty if it does what Enter does.
    fn keys(&self, view: &View, verb: &str) -> Line<'static> {
        let mut line = Line::empty();
        let mut word = |key: &'static str, what: &str| {
            line.push(key, Role::Key);
            line.push(format!(" {what}  "), Role::Dim);
        };
        match (self.several, self.is_on_typed()) {
            (true, true) => word("Enter", if self.creates() { "create" } else { "add" }),
            (true, false) => word("Space", "mark"),
            (false, _) => word("Enter", "choose"),
        }
        let has_action = |action: &&ValueKey| self.selected().is_some_and(|value| (action.is_for)(view, value));
        if let Some(action) = self.action.as_ref().filter(has_action) {
            word(action.key, action.what);
        }
        if !verb.is_empty() {
            word("C-s", verb);
        }
        if !self.is_alone && self.several {
            word("Tab", "next");
        }
        word("Esc", if self.is_alone { "close" } else { "back" });
        line
    }

    fn row(&self, row: usize, view: &View, pattern: &Pattern) -> table::TableRow<'static> {
        let value = self.value(row).unwrap_or_default();
        let is_marked = self.marked.iter().any(|marked| marked == value);
        let check = Line::new(if is_marked { glyph::or_word(glyph::done(), "marked") } else { "" }, Role::Success);
        let mut label = Line::empty();
        let (mut detail, mut note) = (String::new(), String::new());
        match self.rows.get(row) {
            Some(Row::Typed) => {
                let name = text::sanitize(value);
                let words = match &self.new_value {
                    Some(new) => format!("+ {} \"{name}\"{}", new.verb, new.words),
                    None => format!("use \"{name}\""),
                };
                label.push(text::sanitize(&words).into_owned(), Role::Accent);
            }
            Some(Row::Nothing) => label.push(self.nothing.clone().unwrap_or_default(), Role::Dim),
            listed => {
                let choice = match listed {
                    Some(Row::Listed(index)) => self.choices.get(*index),
                    _ => None,
                };
                let color = choice.and_then(|choice| choice.color).filter(|color| view.theme.pixel(*color).is_some());
                if let Some(color) = color {
                    label = label.tinted(glyph::alive(), color).and(" ", Role::Text);
                }
                let mut letters = Vec::new();
                let mut buffer = Vec::new();
                let hit = pattern.indices(letters_of(value, &mut buffer), &mut self.matcher.borrow_mut(), &mut letters);
                letters.sort_unstable();
                letters.dedup();
                let role = if hit.is_some() || choice.is_some() { Role::Text } else { Role::Dim };
                label.spans.extend(letters_shown(value, &letters, role).spans);
                if let Some(choice) = choice {
                    detail = text::sanitize(&choice.detail).into_owned();
                    note = text::sanitize(&choice.note).into_owned();
                } else if self.is_whole && self.typed().is_empty() {
                    note = if self.creates() { "new" } else { "not listed" }.to_owned();
                }
            }
        }
        let cells = vec![check, label, Line::new(detail, Role::Dim), Line::new(note, Role::Dim)];
        table::TableRow::new(cells)
    }

    /// Draws the selection in the middle of the screen; `verb` is what C-s does, if not the same as Enter, and `status`
    /// replaces the keys.
    pub fn draw(
        &self,
        view: &View,
        screen: Rect,
        buf: &mut Buffer,
        title: &str,
        verb: &str,
        status: Option<(String, Role)>,
    ) -> Option<(u16, u16)> {
        let theme = view.theme;
        let width = (screen.width * 3 / 5).clamp(64, 96).min(screen.width.saturating_sub(4));
        // The height does not follow the filter, so that the list does not jump.
        let rows = self.choices.len().max(self.rows.len()).max(6);
        let height = popup::saturating_rows(rows.saturating_add(4)).min(screen.height.saturating_sub(4)).max(6);
        let inner = popup::draw(buf, screen, theme, title, width, height);
        if inner.height < 3 {
            return None;
        }
        let line = |y: u16| Rect { y, height: 1, ..inner };
        let cursor = self.filter.draw(buf, line(inner.y), theme, true, self.hint);
        let foot = line(inner.bottom() - 1);
        let body = Rect { y: inner.y + 2, height: inner.height.saturating_sub(4), ..inner };
        self.area.set(body);
        let wants = self.wants(view);
        let error = view.store.first_error(&wants);
        let between = line(inner.y + 1);
        if let Some(error) = error {
            let words = format!("{}: {}", error.title(), text::sanitize(&error.message()));
            Line::new(words, Role::Failed).draw(buf, between, theme);
        } else if self.is_loading {
            Line::new("loading…", Role::Dim).draw(buf, between, theme);
        } else if view.store.has_more(&wants) {
            let words = format!("{} type to search the others on the server", glyph::ellipsis());
            Line::new(words, Role::Dim).draw(buf, between, theme);
        }
        let count = match self.marked.len() {
            marked if self.several && marked > 0 => format!("{marked} marked"),
            _ => String::new(),
        };
        let keys = match (status, &self.message) {
            (Some((words, role)), _) => Line::new(words, role),
            (None, Some(message)) => Line::new(text::sanitize(message).into_owned(), Role::Warning),
            (None, None) => self.keys(view, verb),
        };
        line::pair(buf, foot, theme, &keys, &Line::new(count, Role::Dim));
        // In accessible mode, the selected row is read aloud, not the input line.
        let cursor = cursor.filter(|_| !glyph::is_accessible());
        if self.rows.is_empty() {
            match self.is_loading {
                true => state::skeleton(buf, body, theme),
                false if error.is_none() => view.draw_empty(buf, body, "Nothing to choose from.", ""),
                false => {}
            }
            return cursor;
        }
        let columns = [
            table::TableColumn::new("", table::Size::Fixed(1)),
            table::TableColumn::new("", table::Size::Fit { min: 8, max: MAX_VALUE_WIDTH }),
            table::TableColumn::new("", table::Size::Fill { min: 8, weight: 1 }).drop_order(2),
            table::TableColumn::new("", table::Size::Fit { min: 0, max: 20 }).right().drop_order(1),
        ];
        let sought = self.typed().trim_start_matches('@');
        let pattern = Pattern::new(sought, CaseMatching::Ignore, Normalization::Smart, AtomKind::Fuzzy);
        table::draw(buf, body, theme, true, &self.list, &columns, self.rows.len(), &|row| {
            self.row(row, view, &pattern)
        });
        cursor
    }
}
