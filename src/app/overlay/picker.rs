//! Selection by fuzzy name: palette, help, actions, refs, and every other choice from a list.

use super::picker_preview::{self, PickerPreview};
use super::{AfterEvent, Overlay, TextEntry};
use crate::action::Action;
use crate::context::Cx;
use crate::keymap::Key;
use crate::motion::Motion;
use crate::place::Place;
use crate::pointer::Pointer;
use crate::registry::PaneOpener;
use crate::view::View;
use crossterm::event::KeyCode;
use nucleo_matcher::pattern::{AtomKind, CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::cell::Cell;
use std::rc::Rc;
use store::Want;
use ui::input::Input;
use ui::theme::Role;
use ui::{glyph, line, popup, state, table, text};
use unicode_segmentation::UnicodeSegmentation;

/// An item to choose.
pub struct Item {
    /// The text that is matched, and shown first.
    pub label: String,
    /// The text next to the label.
    pub detail: String,
    /// The text behind the detail, by which the item is not found.
    pub context: String,
    /// The keys of the same command, or another note on the right.
    pub note: String,
    /// Other words that find the item.
    pub synonyms: &'static [&'static str],
    /// The heading above the item while nothing is typed; empty for none.
    pub group: &'static str,
    /// The reason why the item cannot be chosen here.
    pub why_not: Option<String>,
    /// Whether the label is a text that is shown in full below the list.
    is_text: bool,
    /// Whether the item follows all others, whatever is typed.
    pub is_last: bool,
    /// The action to perform when the item is chosen.
    pub choice: Action,
}

impl Item {
    /// Creates an item that requests `action`.
    pub fn act(label: impl Into<String>, action: Action) -> Item {
        Item {
            label: label.into(),
            detail: String::new(),
            context: String::new(),
            note: String::new(),
            synonyms: &[],
            group: "",
            why_not: None,
            is_text: false,
            is_last: false,
            choice: action,
        }
    }

    /// Sets the text next to the label.
    pub fn detail(mut self, detail: impl Into<String>) -> Item {
        self.detail = detail.into();
        self
    }

    /// Sets the text behind the detail.
    pub fn context(mut self, context: impl Into<String>) -> Item {
        self.context = context.into();
        self
    }

    /// Sets other words that find the item.
    pub fn synonyms(mut self, synonyms: &'static [&'static str]) -> Item {
        self.synonyms = synonyms;
        self
    }

    /// Sets the heading.
    pub fn group(mut self, group: &'static str) -> Item {
        self.group = group;
        self
    }

    /// Sets the reason why the item cannot be chosen, if there is one.
    pub fn unless(mut self, why_not: Option<impl Into<String>>) -> Item {
        self.why_not = why_not.map(Into::into);
        self
    }

    /// Shows the label in full below the list while the item is selected.
    pub fn in_full(mut self) -> Item {
        self.is_text = true;
        self
    }

    /// Returns what is shown below the list: the reason why the item cannot be chosen, as a sentence, or a text in full.
    fn below(&self) -> Option<String> {
        if self.is_text {
            return Some(self.label.clone());
        }
        Some(format!("{}: {}.", self.label.trim_end_matches('…'), self.why_not.as_deref()?))
    }

    /// Lists the item after all others, whatever is typed.
    pub fn last(mut self) -> Item {
        self.is_last = true;
        self
    }

    /// Sets the note on the right.
    pub fn note(mut self, note: impl Into<String>) -> Item {
        self.note = note.into();
        self
    }
}

/// A source of items that are not all known at once.
pub trait Source {
    /// Takes the results of work for the text typed so far; returns whether they change the items.
    fn update(&mut self, _: &View, _typed: &str) -> bool {
        false
    }
    /// Returns the data needed for the text typed so far.
    fn wants(&self, view: &View, typed: &str) -> Vec<Want>;
    /// Returns the items known so far.
    fn items(&self, view: &View, typed: &str) -> Vec<Item>;
    /// Returns whether more items may arrive.
    fn loading(&self, view: &View, typed: &str) -> bool {
        view.store.is_any_loading(&self.wants(view, typed))
    }
    /// Returns how far a long search for items is, in words.
    fn progress(&self, _: &View, _typed: &str) -> Option<String> {
        None
    }
    /// Returns whether items may have previews.
    fn has_previews(&self) -> bool {
        false
    }
    /// Returns the place that is previewed while an item is selected, and opens the preview.
    fn preview(&self, _: &Item) -> Option<(Place, PaneOpener)> {
        None
    }
    /// Returns the action to perform as soon as it is known that there is nothing to choose.
    fn decided(&self, _: &View) -> Option<Action> {
        None
    }
}

/// The maximum number of rows of the text below the list.
const MAX_ROWS_BELOW: usize = 4;

/// A function that returns the action for a name.
type NameAction = Rc<dyn Fn(&str) -> Action>;

/// The lookup of the item that a typed text names exactly, which is listed first, whatever else matches.
pub trait Exact {
    /// Takes the results of work for the text typed so far; returns whether they change the item.
    fn update(&mut self, view: &View, typed: &str) -> bool;
    /// Returns the data needed for the text typed so far.
    fn wants(&self, view: &View, typed: &str) -> Vec<Want>;
    /// Returns whether it is not known yet if the text names an item.
    fn is_pending(&self, view: &View, typed: &str) -> bool;
    /// Returns the item, if the text is known to name one.
    fn item(&self, typed: &str) -> Option<Item>;
}

/// A row of the list.
enum PickerLine {
    /// The heading of a group.
    Heading(&'static str),
    /// An item by its index, with the positions of the matching letters.
    Item(usize, Vec<u32>),
    /// The items that cannot be chosen here, by index; Enter lists them.
    Folded(Vec<usize>),
}

/// The ranks of matches, best first; within one, the matcher decides. Letters that are scattered over a label come after
/// words that someone would type for it.
const WORD_STARTS: u32 = 600_000;
const SYNONYM: u32 = 500_000;
const DETAIL_WORD_STARTS: u32 = 400_000;
const TOGETHER: u32 = 300_000;
const SCATTERED: u32 = 200_000;
const IN_DETAIL: u32 = 100_000;

/// Returns whether each word of `typed`, in lower case, is the beginning of a word of a text.
fn is_at_word_starts(text: &str, typed: &str) -> bool {
    let text = text.to_lowercase();
    let begins =
        |at: usize| text.get(..at).and_then(|before| before.chars().next_back()).is_none_or(|c| !c.is_alphanumeric());
    typed.split_whitespace().all(|word| text.match_indices(word).any(|(at, _)| begins(at)))
}

/// The heading of pages that open in the browser, which come after all that can be done here.
pub const WEB_PAGES: &str = "Web pages";
/// The heading of commands that cannot be run here.
const UNAVAILABLE: &str = "Unavailable";

/// A list with an input line above it to filter it.
pub struct Picker {
    title: String,
    placeholder: &'static str,
    input: Input,
    items: Vec<Item>,
    /// The rows of the list: matching items, best first.
    lines: Vec<PickerLine>,
    list: table::ListState,
    source: Option<Box<dyn Source>>,
    loading: bool,
    free: Option<NameAction>,
    /// The lookup of the item that is listed first, whatever else matches; it is the first of the items.
    exact: Option<Box<dyn Exact>>,
    /// Whether that item was added to the items.
    has_exact: bool,
    /// Whether Enter was pressed before it was known if there is that item: what comes first then is chosen.
    chooses_first: bool,
    /// Whether the source decided, so that the picker closes.
    is_done: bool,
    /// The generation of the store and the text that the items were made from.
    made_of: Option<(u64, String)>,
    /// Whether a row was chosen with the keys since the last letter.
    moved: bool,
    /// Whether the notes come first and can be searched for, such as keys.
    of_keys: bool,
    /// Whether the items are commands: in groups, with those that cannot be run here last.
    of_commands: bool,
    /// Whether commands that cannot be run here are listed even though nothing is typed.
    unfolded: bool,
    matcher: Matcher,
    preview: PickerPreview,
    area: Cell<Rect>,
}

impl Picker {
    /// Creates a picker for `items`.
    pub fn new(title: impl Into<String>, items: Vec<Item>) -> Picker {
        let mut picker = Picker {
            title: title.into(),
            placeholder: "Type to filter",
            input: Input::default(),
            items,
            lines: Vec::new(),
            list: table::ListState::default(),
            source: None,
            loading: false,
            free: None,
            exact: None,
            has_exact: false,
            chooses_first: false,
            is_done: false,
            made_of: None,
            moved: false,
            of_keys: false,
            of_commands: false,
            unfolded: false,
            matcher: Matcher::new(Config::DEFAULT.match_paths()),
            preview: PickerPreview::default(),
            area: Cell::default(),
        };
        picker.rank();
        picker
    }

    /// Creates a picker whose items come from a source.
    pub fn of(title: impl Into<String>, source: Box<dyn Source>, view: &View) -> Picker {
        let mut picker = Picker { source: Some(source), ..Picker::new(title, Vec::new()) };
        picker.refresh(view);
        picker
    }

    /// Sets the action of Enter for a text that matches nothing, and the placeholder.
    pub fn free(mut self, free: impl Fn(&str) -> Action + 'static, placeholder: &'static str) -> Picker {
        self.free = Some(Rc::new(free));
        self.placeholder = placeholder;
        self
    }

    /// Sets the lookup of the item that a typed text names exactly, which is then listed first.
    pub fn exact(mut self, exact: impl Exact + 'static) -> Picker {
        self.exact = Some(Box::new(exact));
        self
    }

    /// Sets up a picker of commands and places: grouped under headings, with unavailable ones folded at the end.
    pub fn of_commands(mut self) -> Picker {
        self.of_commands = true;
        self.rank();
        self
    }

    /// Sets up a table of keys, or of other notes: the note of each item comes first.
    pub fn of_keys(mut self) -> Picker {
        self.of_keys = true;
        self.of_commands()
    }

    fn rank(&mut self) {
        let whole = self.input.text().trim();
        // In a table of keys, `/` begins a search for words, as everywhere.
        let typed = whole.strip_prefix('/').filter(|words| self.of_keys && !words.is_empty()).unwrap_or(whole);
        if std::mem::take(&mut self.has_exact) {
            self.items.remove(0);
        }
        let exact = self.exact.as_ref().and_then(|exact| exact.item(typed));
        let exact_label = exact.as_ref().map(|item| item.label.clone());
        // An item that is there already says more, such as the title.
        if let Some(item) = exact.filter(|exact| self.items.iter().all(|item| item.label != exact.label)) {
            self.items.insert(0, item);
            self.has_exact = true;
        }
        if typed.is_empty() {
            let all = self.items.iter().enumerate().filter(|(_, item)| !item.is_last);
            let all = all.map(|(index, _)| (index, Vec::new())).collect();
            return self.arrange(all, false);
        }
        // Without the matcher's operators: a person who types `!42` looks for it, and not for all but it.
        let pattern = Pattern::new(typed, CaseMatching::Smart, Normalization::Smart, AtomKind::Fuzzy);
        let words = typed.to_lowercase();
        let mut buffer = Vec::new();
        let mut scored: Vec<(u32, usize, Vec<u32>)> = Vec::new();
        for (index, item) in self.items.iter().enumerate() {
            if item.is_last {
                continue;
            }
            let mut letters = Vec::new();
            let score = pattern.indices(letters_of(&item.label, &mut buffer), &mut self.matcher, &mut letters);
            let is_together = || item.label.to_lowercase().contains(&words);
            let rank = |score| match is_at_word_starts(&item.label, &words) {
                true => WORD_STARTS + score,
                false if is_together() => TOGETHER + score,
                false => SCATTERED + score,
            };
            let label = score.map(rank);
            // Synonyms and the text next to the label match as well.
            let other_word = item.synonyms.iter().any(|synonym| synonym.starts_with(&words));
            let synonym = other_word.then_some(SYNONYM);
            let detail = pattern.score(letters_of(&item.detail, &mut buffer), &mut self.matcher).map(|score| {
                score + if is_at_word_starts(&item.detail, &words) { DETAIL_WORD_STARTS } else { IN_DETAIL }
            });
            if label.is_none() {
                letters.clear();
            }
            let score = label.max(synonym).max(detail);
            // A typed key comes first, whatever else contains that letter; so does a full name.
            let is_key = self.of_keys && item.note.split(glyph::separator()).any(|key| key == whole);
            let is_exact = exact_label.as_ref() == Some(&item.label);
            let score = if is_exact || is_key || item.label == typed { Some(u32::MAX) } else { score };
            if let Some(score) = score {
                letters.sort_unstable();
                letters.dedup();
                scored.push((score, index, letters));
            }
        }
        // Letters that are only scattered over what cannot be run here: the text names something else, which Enter opens.
        let is_dead = |index: usize| self.items.get(index).is_some_and(|item| item.why_not.is_some());
        if self.free.is_some() && scored.iter().all(|(score, index, _)| *score < TOGETHER && is_dead(*index)) {
            scored.clear();
        }
        scored.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
        let mut ranked: Vec<_> = scored.into_iter().map(|(_, index, letters)| (index, letters)).collect();
        // While nothing else has arrived, Enter must not choose one of the last.
        if !(ranked.is_empty() && self.loading) {
            let last = self.items.iter().enumerate().filter(|(_, item)| item.is_last);
            ranked.extend(last.map(|(index, _)| (index, Vec::new())));
        }
        self.arrange(ranked, true);
    }

    /// Lists these items: commands that can be run first, in groups while nothing is typed.
    fn arrange(&mut self, ranked: Vec<(usize, Vec<u32>)>, typed: bool) {
        let items = &self.items;
        let is_dead = |index: usize| items.get(index).is_some_and(|item| item.why_not.is_some());
        let group = |index: usize| items.get(index).map_or("", |item| item.group);
        let (dead, mut alive): (Vec<_>, Vec<_>) =
            ranked.into_iter().partition(|(index, _)| self.of_commands && is_dead(*index));
        let mut lines = Vec::new();
        if !typed && self.of_commands {
            let mut groups: Vec<&str> = Vec::new();
            for (index, _) in &alive {
                if !groups.contains(&group(*index)) {
                    groups.push(group(*index));
                }
            }
            groups.sort_by_key(|known| *known == WEB_PAGES);
            alive.sort_by_key(|(index, _)| groups.iter().position(|known| *known == group(*index)));
        }
        let mut heading = "";
        for (index, letters) in alive {
            if !typed && group(index) != heading {
                heading = group(index);
                lines.push(PickerLine::Heading(heading));
            }
            lines.push(PickerLine::Item(index, letters));
        }
        // In the help, one looks up keys, also those of commands that cannot be run here.
        let is_unfolded = self.unfolded || typed && self.of_keys;
        if !is_unfolded && !dead.is_empty() {
            lines.push(PickerLine::Folded(dead.into_iter().map(|(index, _)| index).collect()));
        } else if !dead.is_empty() {
            lines.push(PickerLine::Heading(UNAVAILABLE));
            lines.extend(dead.into_iter().map(|(index, letters)| PickerLine::Item(index, letters)));
        }
        self.lines = lines;
        self.leave_headings(true);
    }

    /// Moves the selection off headings, which can be selected only in accessible mode.
    fn leave_headings(&mut self, down: bool) {
        let lines = &self.lines;
        self.list.leave_headings(lines.len(), down, |row| {
            glyph::is_accessible() || !matches!(lines.get(row), Some(PickerLine::Heading(_)))
        });
    }

    fn move_by(&mut self, rows: isize) {
        self.list.move_by(rows, self.lines.len());
        self.leave_headings(rows > 0);
    }

    fn item(&self, row: usize) -> Option<&Item> {
        match self.lines.get(row)? {
            PickerLine::Item(index, _) => self.items.get(*index),
            PickerLine::Heading(_) | PickerLine::Folded(_) => None,
        }
    }

    /// Returns the item that is explained below the list while a row is selected; for folded ones the best match.
    fn explained(&self, row: usize) -> Option<&Item> {
        match self.lines.get(row)? {
            PickerLine::Folded(dead) => self.items.get(*dead.first()?),
            _ => self.item(row),
        }
    }

    /// Lists the commands that cannot be run here, and selects the first of them.
    fn unfold(&mut self) {
        let at = self.list.selected();
        self.unfolded = true;
        self.rank();
        self.list.select(at, self.lines.len());
        self.leave_headings(true);
    }

    fn source_wants(&self, view: &View) -> Vec<Want> {
        self.source.as_ref().map(|source| source.wants(view, self.input.text())).unwrap_or_default()
    }

    /// Returns whether it is not known yet if the typed text names an item, and none of the list has that name.
    fn is_exact_pending(&self, view: &View) -> bool {
        let typed = self.input.text().trim();
        let is_named = self.item(0).is_some_and(|item| item.label == typed);
        !is_named && self.exact.as_ref().is_some_and(|exact| exact.is_pending(view, typed))
    }

    fn typed(&mut self, view: &View) {
        (self.moved, self.chooses_first) = (false, false);
        self.preview.pause();
        self.list.reset_widths();
        if self.source.is_none() {
            self.list.select(0, self.lines.len());
            self.rank();
        }
        self.refresh(view);
    }

    fn refresh(&mut self, view: &View) {
        let typed = self.input.text();
        let is_exact_new = self.exact.as_mut().is_some_and(|exact| exact.update(view, typed.trim()));
        self.loading = self.exact.as_ref().is_some_and(|exact| exact.is_pending(view, typed.trim()));
        if let Some(source) = &mut self.source {
            let is_new = source.update(view, typed) || is_exact_new;
            self.loading |= source.loading(view, typed);
            let made_of = Some((view.store.generation(), typed.to_owned()));
            if self.made_of == made_of && !is_new {
                return;
            }
            self.items = source.items(view, typed);
            self.has_exact = false;
            self.made_of = made_of;
        } else if !is_exact_new {
            return;
        }
        self.rank();
        // Items that arrived in the meantime must not replace the one that the user has selected already.
        if self.moved {
            let label = |row: usize| match self.lines.get(row) {
                Some(PickerLine::Item(index, _)) => self.items.get(*index).map(|item| item.label.clone()),
                _ => None,
            };
            self.list.sync(self.lines.len(), |row| label(row).unwrap_or_default());
        } else {
            self.list.select(0, self.lines.len());
        }
    }

    /// Chooses the selected row; if it is not known yet what comes first, as soon as that is known.
    fn choose_when_known(&mut self, cx: &mut Cx) -> AfterEvent {
        self.chooses_first = !self.moved && self.is_exact_pending(&cx.view);
        if self.chooses_first { AfterEvent::KeepOpen } else { self.choose(cx) }
    }

    fn choose(&mut self, cx: &mut Cx) -> AfterEvent {
        let index = match self.lines.get(self.list.selected()) {
            Some(PickerLine::Item(index, _)) => Some(*index),
            Some(PickerLine::Folded(_)) => {
                self.unfold();
                return AfterEvent::KeepOpen;
            }
            Some(PickerLine::Heading(_)) => {
                self.move_by(1);
                return AfterEvent::KeepOpen;
            }
            None => None,
        };
        let Some(index) = index else {
            return match &self.free {
                Some(free) if !self.input.text().trim().is_empty() => {
                    cx.act(free(self.input.text().trim()));
                    AfterEvent::Close
                }
                _ => AfterEvent::KeepOpen,
            };
        };
        if self.items.get(index).is_none_or(|item| item.why_not.is_some()) {
            return AfterEvent::KeepOpen;
        }
        cx.act(self.items.swap_remove(index).choice);
        AfterEvent::Close
    }
}

impl Overlay for Picker {
    fn wants(&self, view: &View) -> Vec<Want> {
        let mut wants = self.source_wants(view);
        wants.extend(self.exact.iter().flat_map(|exact| exact.wants(view, self.input.text().trim())));
        wants.extend(self.preview.wants(view));
        wants
    }

    fn changed(&mut self, cx: &mut Cx) {
        self.refresh(&cx.view);
        if self.chooses_first && self.choose_when_known(cx) == AfterEvent::Close {
            self.is_done = true;
            return;
        }
        let source = self.source.as_ref().filter(|_| picker_preview::fits(cx.view.size.0));
        let selected = source.and_then(|source| source.preview(self.item(self.list.selected())?));
        self.preview.follow(selected, cx);
        if let Some(action) = self.source.as_ref().and_then(|source| source.decided(&cx.view)) {
            cx.act(action);
            self.is_done = true;
        }
    }

    fn is_done(&self) -> bool {
        self.is_done
    }

    fn view(&self, view: &View, screen: Rect, buf: &mut Buffer) -> Option<(u16, u16)> {
        let theme = view.theme;
        let narrowest = if self.of_keys { 76 } else { 64 };
        let width = (screen.width * 3 / 5).clamp(narrowest, 96).min(screen.width.saturating_sub(4));
        // The reason why an item is unavailable is shown below the list in full: a blank row, and the rows of the text.
        // In accessible mode, it is in the row of the item alone.
        let reasons = (0..self.lines.len()).filter(|_| !glyph::is_accessible());
        let reasons = reasons.filter_map(|row| self.explained(row)?.below());
        let longest = reasons.map(|why| text::width_up_to(&why, 400)).max();
        let rows = |columns: usize| (columns / usize::from(width).max(1) + 1).min(MAX_ROWS_BELOW);
        let reserved = longest.map_or(0, |columns| popup::saturating_rows(rows(columns) + 1));
        let height = popup::saturating_rows(self.lines.len().max(3) + 2).saturating_add(reserved);
        let is_previewed = self.source.as_ref().is_some_and(|source| source.has_previews());
        let is_previewed = is_previewed && picker_preview::fits(screen.width);
        let (width, height) = if is_previewed { (screen.width - 8, screen.height) } else { (width, height) };
        let height = height.min(screen.height.saturating_sub(4)).max(6);
        let mut inner = popup::draw(buf, screen, theme, &self.title, width, height);
        if inner.height < 3 {
            return None;
        }
        self.preview.hide();
        if is_previewed {
            let (list, beside) = picker_preview::split(inner);
            self.preview.draw(view, beside, buf);
            inner = list;
        }
        let input = Rect { height: 1, ..inner };
        let cursor = self.input.draw(buf, input, theme, true, self.placeholder);
        let reserved = if inner.height > 6 { reserved } else { 0 };
        let body = Rect { y: inner.y + 2, height: inner.height - 2 - reserved, ..inner };
        self.area.set(body);
        let chosen = self.explained(self.list.selected());
        if let Some(item) = chosen.filter(|_| reserved > 0) {
            let role = if item.is_text { Role::Text } else { Role::Warning };
            let lines = text::wrap(&item.below().unwrap_or_default(), inner.width.into(), MAX_ROWS_BELOW);
            for (words, y) in lines.into_iter().zip(body.bottom() + 1..inner.bottom()) {
                line::Line::new(words, role).draw(buf, Rect { y, height: 1, ..inner }, theme);
            }
        }
        let wants = self.source_wants(view);
        let error = view.store.first_error(&wants);
        let between = Rect { y: inner.y + 1, height: 1, ..inner };
        if let Some(error) = error {
            let words = format!("{}: {}", error.title(), text::sanitize(&error.message()));
            line::Line::new(words, Role::Failed).draw(buf, between, theme);
        } else if let Some(words) = self.source.as_ref().and_then(|source| source.progress(view, self.input.text())) {
            line::Line::new(words, Role::Dim).draw(buf, between, theme);
        } else if view.store.has_more(&wants) && self.lines.len() > usize::from(body.height) {
            line::Line::new("Type more letters to find more", Role::Dim).draw(buf, between, theme);
        }
        if self.lines.is_empty() {
            if error.is_some() {
                return cursor.filter(|_| !glyph::is_accessible());
            }
            if self.loading {
                state::skeleton(buf, body, theme);
            } else {
                view.draw_empty(
                    buf,
                    body,
                    "No results.",
                    if self.free.is_some() { "Enter opens it as a path or URL" } else { "" },
                );
            }
            return cursor.filter(|_| !glyph::is_accessible());
        }
        let label = table::TableColumn::new("", table::Size::Fill { min: 20, weight: 1 });
        let columns = if self.of_keys {
            let widest = self.items.iter().map(|item| text::width(&item.note)).max().unwrap_or(0).min(24);
            [table::TableColumn::new("", table::Size::Fixed(widest as u16)), label]
        } else {
            [label, table::TableColumn::new("", table::Size::Fit { min: 0, max: 30 }).right().drop_order(1)]
        };
        table::draw(buf, body, theme, true, &self.list, &columns, self.lines.len(), &|row| {
            let (item, letters) = match self.lines.get(row) {
                Some(PickerLine::Heading(title)) => return table::TableRow::heading(*title),
                Some(PickerLine::Folded(dead)) => {
                    let (sign, count, enter) = (glyph::folded(), dead.len(), glyph::enter());
                    let words = format!(
                        "{sign} {count} unavailable here  ({enter} lists {})",
                        if count == 1 { "it" } else { "them" }
                    );
                    let label = line::Line::new(words, Role::Dim);
                    return table::TableRow::new(if self.of_keys {
                        vec![line::Line::empty(), label]
                    } else {
                        vec![label]
                    });
                }
                Some(PickerLine::Item(index, letters)) => match self.items.get(*index) {
                    Some(item) => (item, letters),
                    None => return table::TableRow::default(),
                },
                None => return table::TableRow::default(),
            };
            let dead = item.why_not.is_some();
            let mut label = letters_shown(&item.label, letters, if dead { Role::Dim } else { Role::Text });
            let beside = item.why_not.as_deref().map_or([&*item.detail, &*item.context], |why| [why, ""]);
            for (words, before) in beside.into_iter().zip(["  ", glyph::separator()]) {
                if !words.is_empty() {
                    label.push(format!("{before}{}", text::sanitize(words)), Role::Dim);
                }
            }
            let note = line::Line::new(item.note.clone(), Role::Key);
            table::TableRow::new(if self.of_keys { vec![note, label] } else { vec![label, note] })
        });
        if self.lines.len() > body.height as usize && !glyph::is_accessible() {
            let things = |to: usize| {
                let lines = self.lines.iter().take(to);
                lines.filter(|line| !matches!(line, PickerLine::Heading(_))).count() as u64
            };
            let (at, of) = (things(self.list.selected().saturating_add(1)), things(self.lines.len()));
            let count = format!("{} of {}", text::count(at), text::count(of));
            let width = popup::saturating_rows(text::width(&count)).min(between.width);
            let at = Rect { x: between.right() - width, width, ..between };
            line::Line::new(count, Role::Dim).draw(buf, at, theme);
        }
        // In accessible mode, the selected row is read aloud, not the input line.
        cursor.filter(|_| !glyph::is_accessible())
    }

    fn key(&mut self, key: Key, cx: &mut Cx) -> AfterEvent {
        let height = self.list.height();
        self.moved |= matches!(key.code, KeyCode::Up | KeyCode::Down | KeyCode::PageUp | KeyCode::PageDown) || key.ctrl;
        match (key.code, key.ctrl) {
            (KeyCode::Esc, _) | (KeyCode::Char('c'), true) => return AfterEvent::Close,
            (KeyCode::Enter, _) => return self.choose_when_known(cx),
            (KeyCode::Up, _) | (KeyCode::Char('p' | 'k'), true) => self.move_by(-1),
            (KeyCode::Down, _) | (KeyCode::Char('n' | 'j'), true) => self.move_by(1),
            (KeyCode::PageUp, _) => self.move_by(Motion::PageUp.rows(height).unwrap_or(0)),
            (KeyCode::PageDown, _) => self.move_by(Motion::PageDown.rows(height).unwrap_or(0)),
            _ => {
                if edit(&mut self.input, key) {
                    self.typed(&cx.view);
                }
            }
        }
        AfterEvent::KeepOpen
    }

    fn text_entry(&self) -> TextEntry {
        TextEntry::Line
    }

    fn paste(&mut self, text: &str, cx: &mut Cx) {
        self.input.paste(text);
        self.typed(&cx.view);
    }

    fn pointer(&mut self, pointer: Pointer, cx: &mut Cx) -> AfterEvent {
        let len = self.lines.len();
        match pointer {
            Pointer::Wheel { rows, column, row } if self.preview.contains(column, row) => {
                self.preview.scroll(rows, cx);
            }
            Pointer::Wheel { rows, .. } => {
                self.list.scroll_by(rows.into(), len);
                self.leave_headings(rows > 0);
            }
            Pointer::Press { column, row, .. } if self.preview.contains(column, row) => {}
            Pointer::Press { column, row, .. } => {
                let area = self.area.get();
                if !area.contains((column, row).into()) {
                    return AfterEvent::Close;
                }
                let row = self.list.row_at(row - area.y);
                if let Some(row) = row.filter(|row| !matches!(self.lines.get(*row), Some(PickerLine::Heading(_)))) {
                    self.list.select(row, len);
                    return self.choose(cx);
                }
            }
            Pointer::Drag { .. } | Pointer::Release => {}
        }
        AfterEvent::KeepOpen
    }
}

/// Returns a text for the matcher, with one character for each letter that a reader sees: an emoji of several characters
/// is one. The matcher's own conversion counts bytes if all letters begin with ASCII.
pub fn letters_of<'a>(text: &'a str, buffer: &'a mut Vec<char>) -> Utf32Str<'a> {
    if text.is_ascii() && !text.contains('\r') {
        return Utf32Str::Ascii(text.as_bytes());
    }
    buffer.clear();
    buffer.extend(text.graphemes(true).filter_map(|letter| letter.chars().next()));
    Utf32Str::Unicode(buffer)
}

/// Returns the label with the matching letters highlighted.
pub fn letters_shown(label: &str, letters: &[u32], role: Role) -> line::Line<'static> {
    let mut line = line::Line::empty();
    for (index, letter) in label.graphemes(true).enumerate() {
        let hit = letters.binary_search(&(index as u32)).is_ok() && glyph::has_bar();
        line.push_joined(letter, if hit { Role::Accent } else { role });
    }
    line
}

/// Applies a key to a line of text; returns `false` if it is not an editing key.
pub fn edit(input: &mut Input, key: Key) -> bool {
    match (key.code, key.ctrl, key.alt) {
        (KeyCode::Char(c), false, false) => input.insert(c),
        (KeyCode::Backspace, false, false) | (KeyCode::Char('h'), true, _) => input.backspace(),
        (KeyCode::Backspace, _, _) | (KeyCode::Char('w'), true, _) => input.delete_word(),
        (KeyCode::Char('d'), false, true) => input.delete_next_word(),
        (KeyCode::Delete, ..) | (KeyCode::Char('d'), true, _) => input.delete(),
        (KeyCode::Char('u'), true, _) => input.delete_to_start(),
        (KeyCode::Char('k'), true, _) => input.delete_to_end(),
        (KeyCode::Left, true, _) | (KeyCode::Char('b'), _, true) => input.word_left(),
        (KeyCode::Right, true, _) | (KeyCode::Char('f'), _, true) => input.word_right(),
        (KeyCode::Left, ..) | (KeyCode::Char('b'), true, _) => input.left(),
        (KeyCode::Right, ..) | (KeyCode::Char('f'), true, _) => input.right(),
        (KeyCode::Home, ..) | (KeyCode::Char('a'), true, _) => input.home(),
        (KeyCode::End, ..) | (KeyCode::Char('e'), true, _) => input.end(),
        _ => return false,
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_before_scattered_letters() {
        let item = |label: &str| Item::act(label, Action::Close);
        let mut items = vec![item("Rename staff"), item("Prefer it"), item("Set ref")];
        items.push(item("Update list").synonyms(&["refetch"]));
        items.push(item("@lizzy").detail("Refik Berg"));
        items.push(item("Search for it").last());
        let mut picker = Picker::new("", items);
        let shown = |picker: &Picker| -> Vec<String> {
            (0..picker.lines.len()).filter_map(|row| picker.item(row)).map(|item| item.label.clone()).collect()
        };
        assert_eq!(shown(&picker).len(), 5);
        "ref".chars().for_each(|letter| picker.input.insert(letter));
        picker.rank();
        let words = ["Set ref", "Update list", "@lizzy", "Prefer it", "Rename staff", "Search for it"];
        assert_eq!(shown(&picker), words);
    }

    #[test]
    fn letters_are_highlighted_after_an_emoji_of_several_characters() {
        for label in ["🧑‍🦽‍➡️  wheel", "e\u{301}x wheel", "⚠️ wheel"] {
            let mut letters = Vec::new();
            let (mut buffer, mut matcher) = (Vec::new(), Matcher::new(Config::DEFAULT));
            let pattern = Pattern::parse("whe", CaseMatching::Smart, Normalization::Smart);
            let found = pattern.indices(letters_of(label, &mut buffer), &mut matcher, &mut letters);
            assert!(found.is_some(), "{label}");
            let spans = letters_shown(label, &letters, Role::Text).spans;
            assert_eq!(spans.get(1), Some(&("whe", Role::Accent).into()), "{label}");
            assert!(!spans.iter().any(|span| text::sanitize(&span.text).contains("<U+")), "{spans:?}");
        }
    }
}
