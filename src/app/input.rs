//! Keyboard and mouse input: dispatch to the app, to the overlay on top, or to the current place.

use super::action::{Action, Effect};
use super::bindings::Bindings;
use super::context::{Cx, Here};
use super::hits::Hit;
use super::keymap::{self, Key, Meaning};
use super::navigation::OpenPane;
use super::overlay::{AfterEvent, Overlay, TextEntry};
use super::pointer::Pointer;
use super::{App, frame};
use crossterm::event::{KeyCode, MouseButton, MouseEvent, MouseEventKind};
use jiff::{SignedDuration, Timestamp};
use ratatui::layout::Rect;
use std::cell::Cell;
use std::collections::VecDeque;
use ui::glyph;
use ui::scroll_bar::WHEEL_ROWS;

/// The time during which Esc is still meant for an overlay that has just closed by itself.
const ESC_GRACE_PERIOD: SignedDuration = SignedDuration::from_millis(500);

/// The largest number of times that a movement is repeated.
const MAX_COUNT: usize = 9_999;

/// The keys and what they mean, and recent presses of keys and of the mouse.
pub(super) struct InputState {
    pub bindings: Bindings,
    /// Whether the terminal window has lost the focus.
    pub is_unfocused: bool,
    /// The time of the last action of the user.
    pub acted_at: Option<Timestamp>,
    /// The beginning of a key sequence.
    pub keys: Vec<Key>,
    /// The number typed before it, which repeats a movement; 0 if there is none.
    pub count: usize,
    /// The last mouse press, which may be the first half of a double click.
    mouse: Option<(u16, u16, Timestamp)>,
    /// The area of the scroll bar that the mouse holds, and the row of its thumb.
    dragged_bar: Option<(Rect, usize)>,
    /// Whether a key, a click or a paste is being handled.
    pub is_busy: bool,
    /// Actions that would interrupt the person's typing, until no overlay is open.
    pub deferred: VecDeque<Action>,
    /// The place in which a key was pressed last.
    pub here: Here,
    /// The time at which an overlay last closed by itself, and whether the screen has been drawn since.
    pub closed_at: Option<(Timestamp, Cell<bool>)>,
}

impl InputState {
    pub fn new(bindings: Bindings) -> InputState {
        InputState {
            bindings,
            is_unfocused: false,
            acted_at: None,
            keys: Vec::new(),
            count: 0,
            mouse: None,
            dragged_bar: None,
            is_busy: false,
            deferred: VecDeque::new(),
            here: Here::default(),
            closed_at: None,
        }
    }

    /// Drops the beginning of a key sequence, and returns the number before it.
    pub fn take_count(&mut self) -> usize {
        self.keys.clear();
        std::mem::take(&mut self.count)
    }

    /// Returns the keys pressed so far, as they are written; empty if nothing is pending.
    pub fn pending(&self) -> String {
        let count = Some(self.count).filter(|count| *count > 0).map(|count| count.to_string());
        let keys = Some(keymap::show(&self.keys)).filter(|keys| !keys.is_empty());
        count.into_iter().chain(keys).collect::<Vec<_>>().join(" ")
    }
}

/// Returns whether a number repeats a command: movements, and steps to the next of something.
fn is_repeatable(title: &str) -> bool {
    ["Move ", "Next ", "Previous "].iter().any(|verb| title.starts_with(verb))
}

impl App {
    pub(super) fn key(&mut self, key: Key, effects: &mut Vec<Effect>) {
        if frame::is_too_small(self.frame.size) {
            // The interface is not visible: a text is typed on, the key that quits quits, and others are ignored.
            if self.text_entry().takes(key) {
                self.with_overlay(effects, |overlay, cx| overlay.key(key, cx));
            } else if self.input.bindings.meaning(self.nav.id(), &[key]) == Meaning::Found("quit") {
                self.act(Action::Quit, effects);
            }
            return;
        }
        if !self.overlays.is_empty() {
            if glyph::is_accessible() {
                self.pass_message();
            }
            return self.with_overlay(effects, |overlay, cx| overlay.key(key, cx));
        }
        // A key pressed before the screen showed that an overlay had closed was meant for the overlay.
        if self.input.closed_at.as_ref().is_some_and(|(_, seen)| !seen.get()) {
            return;
        }
        let closed_at = self.input.closed_at.take();
        let is_within_grace = |at: Timestamp| self.clock.now().duration_since(at) < ESC_GRACE_PERIOD;
        if key.code == KeyCode::Esc && closed_at.is_some_and(|(at, _)| is_within_grace(at)) {
            return;
        }
        self.pass_message();
        // In accessible mode, a step leads from the first line, which says where one is, to the selected row.
        let is_on_first_line = glyph::is_accessible() && self.is_place_new();
        self.input.here = self.nav.here();
        // From the first key on, a missing place is no longer replaced by the nearest existing one.
        self.nav.replace_if_missing = false;
        let pane = self.nav.id();
        if self.count(key) {
            return;
        }
        self.input.keys.push(key);
        match self.input.bindings.meaning(pane, &self.input.keys) {
            Meaning::Prefix => {}
            Meaning::Found("move.down" | "move.up") if is_on_first_line => {
                self.input.take_count();
                self.frame.dirty = true;
            }
            // It ends the number, and nothing else.
            Meaning::Found("escape") if self.input.count > 0 => {
                self.input.take_count();
            }
            Meaning::Found(id) => match self.input.take_count() {
                0 => self.act(Action::Run(id), effects),
                count => self.repeat(id, count, effects),
            },
            Meaning::Nothing => {
                let alone = self.input.keys.len() == 1;
                self.input.take_count();
                // A sequence without a meaning is dropped, but the key that quits still quits.
                if !alone && self.input.bindings.meaning(pane, &[key]) == Meaning::Found("quit") {
                    self.act(Action::Quit, effects);
                }
            }
        }
    }

    /// Returns the kind of text that keys type now.
    pub(super) fn text_entry(&self) -> TextEntry {
        self.overlays.last().map_or(TextEntry::None, |overlay| overlay.text_entry())
    }

    /// Takes a digit of the number before a movement; returns `false` if the key is something else. In a place with tabs,
    /// digits select them.
    fn count(&mut self, key: Key) -> bool {
        let digit = key.typed().and_then(|c| c.to_digit(10)).filter(|_| self.input.keys.is_empty());
        let Some(digit) = digit.filter(|digit| *digit > 0 || self.input.count > 0) else { return false };
        let is_free = match self.input.bindings.meaning(self.nav.id(), &[key]) {
            Meaning::Nothing => true,
            Meaning::Prefix => false,
            // A zero that begins no number can have another meaning.
            Meaning::Found(_) if digit == 0 => true,
            Meaning::Found(id) => id.starts_with("tab.") && self.nav.top().is_some_and(|p| p.tabs().titles.len() < 2),
        };
        if is_free {
            self.input.count = (self.input.count * 10 + digit as usize).min(MAX_COUNT);
        }
        is_free
    }

    /// Runs a movement that often, or goes to the line with that number. Other commands are run once.
    fn repeat(&mut self, id: &'static str, count: usize, effects: &mut Vec<Effect>) {
        let (id, times) = match id {
            "move.first" | "move.last" => {
                self.act(Action::Run("move.first"), effects);
                ("move.down", count - 1)
            }
            id if is_repeatable(self.input.bindings.names().title(id)) => (id, count),
            id => (id, 1),
        };
        let (here, overlays) = (self.nav.here(), self.overlays.len());
        for _ in 0..times {
            self.act(Action::Run(id), effects);
            // The next one of another place may not be known yet.
            if self.nav.here() != here || self.overlays.len() != overlays {
                break;
            }
        }
    }

    /// Returns whether no key was pressed since the current place was opened.
    pub(super) fn is_place_new(&self) -> bool {
        self.input.here != self.nav.here()
    }

    pub(super) fn mouse(&mut self, event: MouseEvent, effects: &mut Vec<Effect>) {
        if frame::is_too_small(self.frame.size) {
            return;
        }
        self.input.here = self.nav.here();
        if matches!(event.kind, MouseEventKind::Down(_)) && (self.overlays.is_empty() || glyph::is_accessible()) {
            self.pass_message();
        }
        let (column, row) = (event.column, event.row);
        let pointer = match event.kind {
            MouseEventKind::Down(MouseButton::Left) => {
                let double = self.input.mouse.is_some_and(|(c, r, at)| {
                    (c, r) == (column, row) && self.clock.now().duration_since(at) < SignedDuration::from_millis(400)
                });
                self.input.mouse = if double { None } else { Some((column, row, self.clock.now())) };
                Pointer::Press { column, row, double }
            }
            // It selects what is under it, as any other click, and lists what can be done with that.
            MouseEventKind::Down(MouseButton::Right) if self.overlays.is_empty() => {
                self.input.take_count();
                self.with_pane(effects, |pane, cx| pane.pointer(Pointer::Press { column, row, double: false }, cx));
                return self.act(Action::Run("actions"), effects);
            }
            MouseEventKind::Drag(MouseButton::Left) => Pointer::Drag { column, row },
            MouseEventKind::Up(MouseButton::Left) => Pointer::Release,
            MouseEventKind::ScrollDown => Pointer::Wheel { column, row, rows: WHEEL_ROWS },
            MouseEventKind::ScrollUp => Pointer::Wheel { column, row, rows: -WHEEL_ROWS },
            _ => return,
        };
        if !self.drag_bar(pointer, effects) {
            self.point(pointer, effects);
        }
    }

    /// Scrolls what has the scroll bar on which the mouse was pressed, as the wheel would; returns `false` if it was
    /// pressed elsewhere.
    fn drag_bar(&mut self, pointer: Pointer, effects: &mut Vec<Effect>) -> bool {
        let bars = self.frame.scroll_bars.get_mut();
        let row = match pointer {
            Pointer::Press { column, row, .. } => {
                let pressed = bars.iter().rfind(|bar| bar.area.contains((column, row).into()));
                self.input.dragged_bar = pressed.map(|bar| (bar.area, bar.grab(row)));
                row
            }
            Pointer::Drag { row, .. } => row,
            Pointer::Release => return self.input.dragged_bar.take().is_some(),
            Pointer::Wheel { .. } => return false,
        };
        let Some((area, grabbed)) = self.input.dragged_bar else { return false };
        // What has the bar may grow.
        let bar = bars.iter_mut().find(|bar| bar.area.as_position() == area.as_position());
        let mut rows = bar.map_or(0, |bar| bar.drag(grabbed, row));
        while rows != 0 {
            // A document may have more rows than a movement of the wheel.
            let step = i16::try_from(rows).unwrap_or(if rows < 0 { i16::MIN } else { i16::MAX });
            self.point(Pointer::Wheel { column: area.x, row: area.y, rows: step }, effects);
            rows -= isize::from(step);
        }
        true
    }

    fn point(&mut self, pointer: Pointer, effects: &mut Vec<Effect>) {
        if !self.overlays.is_empty() {
            return self.with_overlay(effects, |overlay, cx| overlay.pointer(pointer, cx));
        }
        if let Pointer::Press { column, row, .. } = pointer
            && let Some(hit) = self.frame.hits.at(column, row)
        {
            return self.hit(hit, effects);
        }
        if let Some(panels) = self.nav.panes.last_mut().and_then(|p| p.panels()) {
            match pointer {
                Pointer::Press { column, .. } if panels.grab(column) => return,
                Pointer::Drag { column, .. } if panels.dragging() => return panels.drag(column),
                Pointer::Release if panels.dragging() => return panels.release(),
                _ => {}
            }
        }
        self.with_pane(effects, |pane, cx| pane.pointer(pointer, cx));
    }

    /// Sets the remaining overlays after some may have closed by themselves. An Esc pressed at that moment is meant for
    /// the closed overlay, not for the place below.
    pub(super) fn set_overlays(&mut self, left: Vec<Box<dyn Overlay>>, before: usize) {
        if left.is_empty() && before > 0 {
            self.input.closed_at = Some((self.clock.now(), Cell::new(false)));
        }
        self.overlays = left;
    }

    /// Performs the effect of a click on a clickable area.
    pub(super) fn hit(&mut self, hit: Hit, effects: &mut Vec<Effect>) {
        self.nav.replace_if_missing = false;
        self.input.take_count();
        match hit {
            Hit::Run(id) => self.act(Action::Run(id), effects),
            Hit::Tab(index) => self.act(Action::SelectTab(index), effects),
            Hit::Go(place) => self.act(Action::GoToPlace(*place), effects),
            Hit::Column(index) => self.with_pane(effects, |pane, cx| pane.sort_by(index, cx)),
        }
    }

    /// Calls `run` with the top overlay, then performs the actions that it requested.
    pub(super) fn with_overlay(
        &mut self,
        effects: &mut Vec<Effect>,
        run: impl FnOnce(&mut dyn Overlay, &mut Cx) -> AfterEvent,
    ) {
        let Some(mut overlay) = self.overlays.pop() else { return };
        let mut cx = Cx::new(self.view_of(), self.nav.here());
        let stay = run(overlay.as_mut(), &mut cx);
        let actions = cx.actions;
        if stay == AfterEvent::KeepOpen {
            self.overlays.push(overlay);
        }
        for action in actions {
            self.act(action, effects);
        }
    }

    /// Calls `run` with the current pane, then performs the actions that it requested.
    pub(super) fn with_pane(&mut self, effects: &mut Vec<Effect>, run: impl FnOnce(&mut OpenPane, &mut Cx)) {
        let Some(mut pane) = self.nav.panes.pop() else { return };
        let mut cx = Cx::new(self.view_of(), pane.here);
        run(&mut pane, &mut cx);
        let actions = cx.actions;
        self.nav.panes.push(pane);
        for action in actions {
            self.act(action, effects);
        }
    }
}
