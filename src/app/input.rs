//! Keys and the mouse: which of them goes to the app, to the overlay on top, or to the place at hand.

use super::action::{Action, Effect};
use super::hits::Hit;
use super::keymap::{Key, Meaning};
use super::overlay::{AfterKey, Overlay};
use super::{AnyPane, App, Cx, Pointer, frame};
use crossterm::event::{KeyCode, MouseButton, MouseEvent, MouseEventKind};
use jiff::{SignedDuration, Timestamp};
use std::cell::Cell;

/// How long after an overlay closed by itself Esc is meant for it.
const LATE_ESC: SignedDuration = SignedDuration::from_millis(500);

/// What was pressed so far.
#[derive(Default)]
pub(super) struct Presses {
    /// The beginning of a sequence of keys.
    pub keys: Vec<Key>,
    /// The last press of the mouse: the first half of a double click, maybe.
    mouse: Option<(u16, u16, Timestamp)>,
    /// When an overlay last closed by itself, and whether the screen has shown that since.
    pub closed_at: Option<(Timestamp, Cell<bool>)>,
}

impl App {
    pub(super) fn key(&mut self, key: Key, effects: &mut Vec<Effect>) {
        if frame::is_too_small(self.size) {
            // What cannot be seen is not answered; the key that quits still quits.
            let pane = self.nav.id();
            if self.bindings.meaning(pane, &[key]) == Meaning::Found("quit") {
                self.act(Action::Quit, effects);
            }
            return;
        }
        if !self.overlays.is_empty() {
            return self.with_overlay(effects, |overlay, cx| overlay.key(key, cx));
        }
        // What was pressed before the screen showed that an overlay is gone was meant for the overlay.
        if self.presses.closed_at.as_ref().is_some_and(|(_, seen)| !seen.get()) {
            return;
        }
        let closed_at = self.presses.closed_at.take();
        let is_late = |at: Timestamp| self.now.duration_since(at) < LATE_ESC;
        if key.code == KeyCode::Esc && closed_at.is_some_and(|(at, _)| is_late(at)) {
            return;
        }
        self.message = self.message.take().filter(|message| message.until.is_some());
        // From the first key on, the place is the user's own, and does not give way any more.
        self.nav.named = false;
        let pane = self.nav.id();
        self.presses.keys.push(key);
        match self.bindings.meaning(pane, &self.presses.keys) {
            Meaning::Prefix => {}
            Meaning::Found(id) => {
                self.presses.keys.clear();
                self.act(Action::Run(id), effects);
            }
            Meaning::Nothing => {
                let alone = self.presses.keys.len() == 1;
                self.presses.keys.clear();
                // A sequence that leads nowhere is dropped, but the key that quits still quits.
                if !alone && self.bindings.meaning(pane, &[key]) == Meaning::Found("quit") {
                    self.act(Action::Quit, effects);
                }
            }
        }
    }

    pub(super) fn mouse(&mut self, event: MouseEvent, effects: &mut Vec<Effect>) {
        if frame::is_too_small(self.size) {
            return;
        }
        let (column, row) = (event.column, event.row);
        let pointer = match event.kind {
            MouseEventKind::Down(MouseButton::Left) => {
                let double = self.presses.mouse.is_some_and(|(c, r, at)| {
                    (c, r) == (column, row) && self.now.duration_since(at) < SignedDuration::from_millis(400)
                });
                self.presses.mouse = if double { None } else { Some((column, row, self.now)) };
                Pointer::Press { column, row, double }
            }
            MouseEventKind::Drag(MouseButton::Left) => Pointer::Drag { column, row },
            MouseEventKind::Up(MouseButton::Left) => Pointer::Release,
            MouseEventKind::ScrollDown => Pointer::Wheel { column, row, rows: 3 },
            MouseEventKind::ScrollUp => Pointer::Wheel { column, row, rows: -3 },
            _ => return,
        };
        if !self.overlays.is_empty() {
            return self.with_overlay(effects, |overlay, cx| overlay.pointer(pointer, cx));
        }
        if let Pointer::Press { .. } = pointer
            && let Some(hit) = self.hits.at(column, row)
            && self.hit(hit, effects)
        {
            return;
        }
        if let Some(panels) = self.nav.panes.last_mut().and_then(|p| p.panels()) {
            match pointer {
                Pointer::Press { column, .. } if panels.grab(column) => return,
                Pointer::Drag { column, .. } if panels.dragging() => return panels.drag(column),
                Pointer::Release => return panels.release(),
                _ => {}
            }
        }
        self.with_pane(effects, |pane, cx| pane.pointer(pointer, cx));
    }

    /// The overlays that are left where some may have closed by themselves. Who presses Esc just then means that
    /// overlay, and not the place below.
    pub(super) fn set_overlays(&mut self, left: Vec<Box<dyn Overlay>>, before: usize) {
        if left.is_empty() && before > 0 {
            self.presses.closed_at = Some((self.now, Cell::new(false)));
        }
        self.overlays = left;
    }

    /// Does what a click on something that was drawn does; `false` where the pane takes it as any other click.
    pub(super) fn hit(&mut self, hit: Hit, effects: &mut Vec<Effect>) -> bool {
        self.nav.named = false;
        self.presses.keys.clear();
        match hit {
            Hit::Run(id) => self.act(Action::Run(id), effects),
            Hit::Tab(index) => self.act(Action::Tab(index), effects),
            Hit::Go(place) => self.act(Action::Go(place), effects),
            Hit::Column(index) => {
                let mut sorts = false;
                self.with_pane(effects, |pane, cx| sorts = pane.sort_by(index, cx));
                return sorts;
            }
        }
        true
    }

    /// Lets the top overlay do something, then does what it asked for.
    pub(super) fn with_overlay(
        &mut self,
        effects: &mut Vec<Effect>,
        run: impl FnOnce(&mut dyn Overlay, &mut Cx) -> AfterKey,
    ) {
        let Some(mut overlay) = self.overlays.pop() else { return };
        let mut cx = Cx { view: self.view_of(), actions: Vec::new() };
        let stay = run(overlay.as_mut(), &mut cx);
        let actions = cx.actions;
        if stay == AfterKey::Open {
            self.overlays.push(overlay);
        }
        for action in actions {
            self.act(action, effects);
        }
    }

    /// Lets the pane at hand do something, then does what it asked for.
    pub(super) fn with_pane(&mut self, effects: &mut Vec<Effect>, run: impl FnOnce(&mut dyn AnyPane, &mut Cx)) {
        let Some(mut pane) = self.nav.panes.pop() else { return };
        let mut cx = Cx { view: self.view_of(), actions: Vec::new() };
        run(pane.as_mut(), &mut cx);
        let actions = cx.actions;
        self.nav.panes.push(pane);
        for action in actions {
            self.act(action, effects);
        }
    }
}
