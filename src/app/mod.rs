//! The app: one plain state machine between what reaches it and what it asks for. Nothing here waits.

pub mod action;
pub mod bindings;
pub mod checkout;
pub mod command;
pub mod complete;
pub mod custom;
pub mod dates;
pub mod frame;
pub mod global;
pub mod hits;
pub mod keymap;
pub mod local_paths;
pub mod outbox;
pub mod overlay;
pub mod pane;
mod past_tense;
mod persistence;
pub mod place;
pub mod query;
pub mod quick_open;
pub mod recent;
pub mod reconcile;
pub mod registry;
pub mod route;
mod saving;
pub mod server_switch;
pub mod state;
pub mod synonyms;
pub mod target;
#[cfg(test)]
mod tests;
pub mod transfer;
pub mod watch;

use crate::api::endpoint::Request;
use crate::api::identity::AccessToken;
use crate::api::{Fault, Id};
use crate::store::{Store, Ticket, Want, Write, earliest};
use crate::ui::glyph;
use crate::ui::image::Pictures;
use crate::ui::theme::{Background, Theme};
use action::{Action, Effect, FollowUp, Msg, Outcome, Tone};
use bindings::Bindings;
use command::{Disabled, Motion};
use crossterm::event::{KeyCode, KeyEventKind, MouseButton, MouseEventKind};
use custom::Runs;
use global::GLOBAL;
use hits::{Hit, Hits};
use jiff::{SignedDuration, Timestamp};
use keymap::{Key, Meaning};
use outbox::Outbox;
use overlay::confirm::Confirm;
use overlay::picker::{Item, Picker};
use overlay::prompt::Prompt;
use overlay::query::QueryLine;
use overlay::{AfterKey, Overlay};
pub use pane::{AnyPane, Cx, Needs, Pane, Pointer, SearchMode, Session, View};
use past_tense::past_tense;
pub use place::Place;
pub use registry::Entry;
use server_switch::ServerSwitch;
use state::{Change, Kept, SettingsChange, State};
use std::cell::Cell;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use target::TargetError;
use transfer::Transfers;

/// Seconds that a message stays in the footer.
const MESSAGE_SECONDS: i64 = 6;
/// How long after an overlay closed by itself Esc is meant for it.
const LATE_ESC: SignedDuration = SignedDuration::from_millis(500);
/// Places that are kept to go back to.
const HISTORY: usize = 100;
/// How old what is known may be, in seconds, for a place that is opened not to ask for it again.
const FRESH: i64 = 10;

/// How many times less often live lists are asked for while the terminal's window is not looked at.
const UNFOCUSED: u32 = 6;

/// What stands in the footer for a moment.
struct Message {
    tone: Tone,
    words: String,
    /// `None`: it goes with the first key.
    until: Option<Timestamp>,
    /// The turn in which it was said.
    turn: u64,
    /// The command that it refuses, and why: it goes when that holds no longer.
    refusal: Option<(&'static str, Disabled)>,
}

/// A write that is on its way.
struct Pending {
    write: Write,
    carries: KeptKey,
    /// What follows on the answer.
    then: Option<FollowUp>,
}

/// The saved text that a write carries, by its key.
enum KeptKey {
    Nothing,
    /// As it was when it was sent.
    Kept(String, Option<String>),
    /// A draft of the outbox.
    Draft(String),
}

/// The whole state of the interface.
pub struct App {
    /// What is known of the server.
    pub store: Store,
    /// How it looks.
    pub theme: Theme,
    /// Whether the user chose the theme, so that the terminal's background does not.
    pub theme_is_chosen: bool,
    session: Session,
    registry: &'static [Entry],
    bindings: Bindings,
    panes: Vec<Box<dyn AnyPane>>,
    /// The terminal's window has lost the focus.
    unfocused: bool,
    /// What the terminal said of its background.
    background: Option<Background>,
    /// Places gone back from, nearest last.
    ahead: Vec<Place>,
    overlays: Vec<Box<dyn Overlay>>,
    pressed: Vec<Key>,
    message: Option<Message>,
    /// Counts the messages that were taken in.
    turn: u64,
    in_flight: HashSet<Ticket>,
    /// How far the server's clock is ahead of ours.
    skew: SignedDuration,
    /// Streams that were told to wait.
    held_up: HashSet<Ticket>,
    writes: HashMap<u64, Pending>,
    next_write: u64,
    drafts: HashMap<String, String>,
    /// The state of the current account.
    state: State,
    /// What was kept at the start, of all accounts, until the account is known.
    others: Kept,
    /// What was typed, or dropped, while the account was not known.
    unowned: BTreeMap<String, Option<String>>,
    /// How the state changed while the account was not known.
    unowned_state: State,
    /// The name of the current account; until that is known, of the one that was at hand last.
    account: String,
    account_is_known: bool,
    /// Why the disk does not take texts, while it does not.
    unkept: Option<String>,
    outbox: Outbox,
    /// What is done once the server has the drafts of these keys.
    after_posting: Vec<(Vec<String>, Action)>,
    transfers: Transfers,
    /// The commands of the configuration that were started.
    runs: Runs,
    last_run: u64,
    elsewhere: ServerSwitch,
    /// What the user waits for the end of.
    watched: Vec<watch::Watched>,
    /// The pictures of the last frame.
    pub pictures: Pictures,
    /// What of the last frame can be clicked.
    hits: Hits,
    /// What waits until nothing lies over the place.
    behind: VecDeque<Action>,
    /// Whether the place at hand was named by a target, so that a missing one gives way to the nearest.
    named: bool,
    now: Timestamp,
    size: (u16, u16),
    last_press: Option<(u16, u16, Timestamp)>,
    /// When an overlay last closed by itself, and whether the screen has shown that since.
    closed_at: Option<(Timestamp, Cell<bool>)>,
    dirty: bool,
    quitting: bool,
    wake: Option<Timestamp>,
    /// Whether the user was told when the token expires.
    expiry_is_told: bool,
    /// What was known when the user refreshed it, until it is answered.
    refreshing: Vec<Request>,
    /// Messages were received since panes learnt what changed.
    unsettled: bool,
}

/// What the app is made of.
pub struct Setup {
    /// The panes there are.
    pub registry: &'static [Entry],
    /// Their keys.
    pub bindings: Bindings,
    /// Who is signed in where.
    pub session: Session,
    /// How it looks at first.
    pub theme: Theme,
    /// Whether the user chose that theme.
    pub theme_is_chosen: bool,
    /// What was kept from before.
    pub kept: Kept,
    /// Whether the first keys are named to somebody who starts it for the first time.
    pub greets: bool,
    /// Where to begin.
    pub place: Place,
    /// The time.
    pub now: Timestamp,
    /// Width and height of the screen.
    pub size: (u16, u16),
}

impl App {
    /// The app at its first place, and what that needs.
    pub fn new(setup: Setup) -> (App, Vec<Effect>) {
        let mut app = App {
            store: Store::default(),
            theme: setup.theme,
            theme_is_chosen: setup.theme_is_chosen,
            session: setup.session,
            registry: setup.registry,
            bindings: setup.bindings,
            panes: Vec::new(),
            unfocused: false,
            background: None,
            ahead: Vec::new(),
            overlays: Vec::new(),
            pressed: Vec::new(),
            message: None,
            turn: 0,
            in_flight: HashSet::new(),
            skew: SignedDuration::ZERO,
            held_up: HashSet::new(),
            writes: HashMap::new(),
            next_write: 1,
            drafts: HashMap::new(),
            state: State::default(),
            others: Kept::default(),
            unowned: BTreeMap::new(),
            unowned_state: State::default(),
            account: String::new(),
            account_is_known: false,
            unkept: None,
            outbox: Outbox::default(),
            after_posting: Vec::new(),
            transfers: Transfers::default(),
            runs: Runs::new(),
            last_run: 0,
            elsewhere: ServerSwitch::default(),
            watched: Vec::new(),
            pictures: Pictures::default(),
            hits: Hits::default(),
            behind: VecDeque::new(),
            named: true,
            now: setup.now,
            size: setup.size,
            last_press: None,
            closed_at: None,
            dirty: true,
            quitting: false,
            wake: None,
            expiry_is_told: false,
            refreshing: Vec::new(),
            unsettled: false,
        };
        let mut effects = Vec::new();
        app.begin_with(setup.kept);
        app.open(setup.place);
        app.named = true;
        if setup.greets && !app.state.settings.greeted {
            app.greet(&mut effects);
        }
        app.settle(&mut effects);
        (app, effects)
    }

    /// Takes a message in, and says what is to be done for it.
    pub fn update(&mut self, msg: Msg) -> Vec<Effect> {
        let mut effects = self.receive(msg);
        effects.extend(self.rest());
        effects
    }

    /// Takes one of several messages in; [`rest`](App::rest) follows the last one. What the user does is done at once,
    /// with all that came before it; what servers say is settled together: a trace may come in hundreds of pieces.
    pub fn receive(&mut self, msg: Msg) -> Vec<Effect> {
        let mut effects = Vec::new();
        self.turn += 1;
        let of_person =
            matches!(msg, Msg::Key(_) | Msg::Mouse(_) | Msg::Paste(_) | Msg::Edited(..) | Msg::Interrupted(_));
        if of_person && self.unsettled {
            self.settle(&mut effects);
        }
        self.take(msg, &mut effects);
        self.unsettled = true;
        if of_person {
            self.settle(&mut effects);
        }
        effects
    }

    /// Returns what is to be done for all that was received.
    pub fn rest(&mut self) -> Vec<Effect> {
        let mut effects = Vec::new();
        if self.unsettled {
            self.settle(&mut effects);
        }
        effects
    }

    /// Returns whether the screen is no longer true; asking answers once.
    pub fn take_dirty(&mut self) -> bool {
        std::mem::take(&mut self.dirty)
    }

    /// The screen is not true yet: draw it when there is time.
    pub fn set_dirty(&mut self) {
        self.dirty = true;
    }

    /// Returns when to bring the time again; `None` while nothing is live.
    pub fn wake_at(&self) -> Option<Timestamp> {
        let message = self.message.as_ref().and_then(|message| message.until);
        earliest(earliest(self.wake, message), self.outbox.wake())
    }

    /// Returns whether it is to end.
    pub fn is_quitting(&self) -> bool {
        self.quitting
    }

    /// The theme that everything is shown in.
    pub fn theme(&self) -> &Theme {
        &self.theme
    }

    /// The place at hand.
    pub fn place(&self) -> Place {
        self.panes.last().map(|p| p.place()).unwrap_or_default()
    }

    /// A text kept under `key`.
    pub fn draft(&self, key: &str) -> Option<&str> {
        self.drafts.get(key).map(String::as_str)
    }

    fn view_of(&self) -> View<'_> {
        View {
            panes: self.registry,
            store: &self.store,
            theme: &self.theme,
            now: self.now.checked_add(self.skew).unwrap_or(self.now),
            here: self.now,
            session: &self.session,
            drafts: &self.drafts,
            settings: &self.state.settings,
            recents: &self.state.recents,
            seen: &self.state.seen,
            outbox: &self.outbox,
            transfers: &self.transfers,
            runs: &self.runs,
            pictures: &self.pictures,
            writing: self.overlays.iter().rev().find_map(|overlay| overlay.writing()),
            size: (frame::columns(self.size.0), self.size.1),
            hits: &self.hits,
        }
    }

    fn take(&mut self, msg: Msg, effects: &mut Vec<Effect>) {
        if !matches!(msg, Msg::Now(_)) {
            self.dirty = true;
        }
        match msg {
            Msg::Now(now) => self.set_now(now),
            Msg::Resize(width, height) => self.size = (width, height),
            Msg::Background(background) => {
                self.background = Some(background);
                self.theme = match self.theme_is_chosen {
                    true => self.theme.clone().on(background),
                    false => Theme::for_background(background).with_depth(self.theme.depth()),
                };
            }
            Msg::Focus(focused) => {
                self.unfocused = !focused;
                if focused {
                    self.look_again();
                }
            }
            Msg::Key(event) if event.kind == KeyEventKind::Release => {}
            Msg::Key(event) => self.key(Key::of(event), effects),
            Msg::Paste(_) if frame::is_too_small(self.size) => {}
            Msg::Paste(text) => self.with_overlay(effects, |overlay, cx| {
                overlay.paste(&text, cx);
                AfterKey::Open
            }),
            Msg::Mouse(event) => self.mouse(event, effects),
            Msg::Of(..) => {
                if let Some(msg) = msg.heard() {
                    self.take(msg, effects);
                }
            }
            Msg::Arrived(ticket, outcome) => self.arrived(ticket, outcome),
            Msg::Recalled(ticket, reply, at) => self.recalled(&ticket, reply, at),
            Msg::Learned(request, outcome) => self.store.arrived(&request, 0, outcome, self.now),
            Msg::Clock(ahead) => self.skew = ahead,
            Msg::Bytes { request, bytes, restart } => {
                self.store.note_reach(None, self.now);
                self.store.grow(&request, &bytes, restart);
            }
            Msg::Progress(key, progress) => {
                // What was taken back in the meantime has no progress.
                if self.in_flight.contains(&Ticket::Parts(key.clone())) {
                    self.store.advance(key, progress);
                }
            }
            Msg::Sent(number, outcome) => self.sent(number, outcome, effects),
            Msg::Transfer(number, news) => self.transferred(number, &news, effects),
            Msg::Edited(outcome) => self.edited(outcome, effects),
            Msg::Interrupted(text) => self.with_overlay(effects, |overlay, cx| overlay.interrupted(text, cx)),
            Msg::Kept(outcome) => self.kept(outcome),
            Msg::Claimed(key, claim) => self.claimed(&key, claim, effects),
            Msg::Ran(number, event) => self.ran(number, event),
            Msg::CheckedOut(order, outcome) => self.checked_out(order, outcome, effects),
            Msg::Say(tone, text) => self.say(tone, text),
            Msg::Quit => self.quit(effects),
        }
    }

    fn set_now(&mut self, now: Timestamp) {
        // Time alone changes the screen only where a clock runs or a message ends.
        let second = |t: Timestamp| t.as_second();
        if second(now) != second(self.now) && self.runs_a_clock() {
            self.dirty = true;
        }
        self.now = now;
        if self.message.as_ref().and_then(|message| message.until).is_some_and(|until| until <= now) {
            self.message = None;
            self.dirty = true;
        }
    }

    fn arrived(&mut self, ticket: Ticket, outcome: Result<Outcome, crate::api::Error>) {
        self.held_up.remove(&ticket);
        // A reply to what is no longer wanted is dropped.
        if !self.in_flight.remove(&ticket) {
            return;
        }
        match (ticket, outcome) {
            (Ticket::Load(request, page), Ok(Outcome::Reply(reply))) => {
                self.store.arrived(&request, page, Ok(reply), self.now);
            }
            (Ticket::Load(request, page), Err(error)) => self.store.arrived(&request, page, Err(error), self.now),
            (Ticket::Follow(request), Ok(_)) => self.store.ended(&request, None),
            (Ticket::Follow(request), Err(error)) => {
                self.store.note_reach(Some(&error), self.now);
                self.store.ended(&request, Some(error));
            }
            (Ticket::Work(key) | Ticket::Parts(key), Ok(Outcome::Made(made))) => self.store.keep(key, made),
            (Ticket::Parts(key), Err(error)) => {
                self.store.note_reach(Some(&error), self.now);
                self.store.fail(key, error);
            }
            (Ticket::Work(key), Err(error)) => {
                self.store.give_up(key);
                self.say(Tone::Bad, error.message());
            }
            (Ticket::Load(..) | Ticket::Work(_) | Ticket::Parts(_), Ok(_)) => {}
        }
    }

    fn recalled(&mut self, ticket: &Ticket, reply: crate::store::Arrival, at: Timestamp) {
        if let Ticket::Load(request, page) = ticket
            && self.in_flight.contains(ticket)
        {
            self.store.recalled(request, *page, reply, at);
        }
    }

    fn sent(
        &mut self,
        number: u64,
        outcome: Result<crate::store::Value, crate::api::Error>,
        effects: &mut Vec<Effect>,
    ) {
        let Some(pending) = self.writes.remove(&number) else { return };
        self.store.note_reach(outcome.as_ref().err(), self.now);
        let mut shown = false;
        let mut overlays = std::mem::take(&mut self.overlays);
        let before = overlays.len();
        let mut cx = Cx { view: self.view_of(), actions: Vec::new() };
        overlays.retain_mut(|overlay| {
            let stay = overlay.sent(number, &outcome, &mut cx);
            shown |= stay == Some(AfterKey::Open);
            stay != Some(AfterKey::Close)
        });
        let actions = cx.actions;
        self.set_overlays(overlays, before);
        if outcome.is_ok() {
            self.store.touch(pending.write.touches);
        }
        match &outcome {
            // The outbox says what became of all that it sent.
            _ if matches!(pending.carries, KeptKey::Draft(_)) => {}
            Ok(_) => {
                // What was typed after it was sent is another text, and stays.
                if let KeptKey::Kept(key, sent) = &pending.carries
                    && self.drafts.get(key) == sent.as_ref()
                {
                    self.act(Action::Keep(key.clone(), None), effects);
                }
                let undo = pending.write.undo.map(|(command, words)| (self.bindings.first(command), words));
                let undo = undo.filter(|(key, _)| !key.is_empty()).map(|(key, words)| format!(". {key} {words}"));
                self.say(Tone::Good, format!("{}{}", past_tense(&pending.write.what), undo.unwrap_or_default()));
            }
            Err(error) if !shown => {
                let kept = if matches!(pending.carries, KeptKey::Kept(..)) { " Your text is saved." } else { "" };
                let said = error.message();
                self.say(Tone::Bad, format!("Could not {}: {said}.{kept} {}", pending.write.what, error.next()));
            }
            Err(_) => {}
        }
        for action in actions {
            self.act(action, effects);
        }
        if let KeptKey::Draft(key) = &pending.carries {
            self.delivered(key, &outcome, effects);
        }
        if let Some(then) = pending.then {
            let mut cx = Cx { view: self.view_of(), actions: Vec::new() };
            then(&outcome, &mut cx);
            for action in cx.actions {
                self.act_behind(action, effects);
            }
        }
    }

    /// Does what an answer asks for. What would take the keys of somebody who types, or the place from under them, waits until
    /// nothing lies over the place any more.
    fn act_behind(&mut self, action: Action, effects: &mut Vec<Effect>) {
        let is_typing = self.overlays.last().is_some_and(|overlay| !overlay.gives_way());
        if matches!(action, Action::Open(_) | Action::Go(_)) && is_typing {
            self.behind.push_back(action);
        } else {
            self.act(action, effects);
        }
    }

    fn edited(&mut self, outcome: Result<String, String>, effects: &mut Vec<Effect>) {
        match outcome {
            Err(why) => self.say(Tone::Bad, why),
            // Whoever asked for it was closed in the meantime: what was written there is not lost.
            Ok(text) if self.overlays.is_empty() => {
                self.say(Tone::Warning, "What asked for this text was closed: the text is in the clipboard.".into());
                effects.push(Effect::Copy(text));
            }
            Ok(text) => self.with_overlay(effects, |overlay, cx| overlay.edited(text, cx)),
        }
    }

    fn say(&mut self, tone: Tone, text: String) {
        if self.elsewhere.away {
            return self.elsewhere.tell(tone, text);
        }
        let until = self.now.checked_add(SignedDuration::from_secs(MESSAGE_SECONDS)).unwrap_or(Timestamp::MAX);
        // Who listens needs longer than who reads: there it stays until the next key.
        let until = Some(until).filter(|_| !glyph::words());
        self.message = Some(Message { tone, words: text, until, turn: self.turn, refusal: None });
        self.dirty = true;
    }

    /// Names three keys that lead to all others, once; until the first key is pressed.
    fn greet(&mut self, effects: &mut Vec<Effect>) {
        let [help, palette, close] = ["help", "palette", "close"].map(|id| self.bindings.first(id).to_owned());
        self.say(Tone::Info, format!("{help} lists the keys here, {palette} runs any command, {close} goes back"));
        if let Some(message) = &mut self.message {
            message.until = None;
        }
        self.change(&Change::Settings(SettingsChange::Greeted), effects);
    }

    /// Says why a command of the place cannot be run.
    fn refuse(&mut self, command: &command::Info, why: Disabled) {
        self.say(Tone::Warning, format!("{}: {why}", command.title.trim_end_matches('…')));
        if let Some(message) = &mut self.message {
            message.refusal = Some((command.id, why));
        }
    }

    /// Removes a refusal whose reason holds no longer: what was still loading has arrived.
    fn check_refusal(&mut self) {
        let Some((id, why)) = self.message.as_ref().and_then(|message| message.refusal.as_ref()) else { return };
        let view = self.view_of();
        let still = self.panes.last().and_then(|pane| pane.can(id, &view)).and_then(Result::err);
        if still.as_ref() != Some(why) {
            self.message = None;
            self.dirty = true;
        }
    }

    /// Another place is at hand: what was said before is not about it. What was said as one went there stays.
    fn forget_message(&mut self) {
        self.message = self.message.take().filter(|message| message.turn == self.turn);
        self.dirty = true;
    }

    fn key(&mut self, key: Key, effects: &mut Vec<Effect>) {
        if frame::is_too_small(self.size) {
            // What cannot be seen is not answered; the key that quits still quits.
            let pane = self.panes.last().map(|pane| pane.id()).unwrap_or_default();
            if self.bindings.meaning(pane, &[key]) == Meaning::Found("quit") {
                self.act(Action::Quit, effects);
            }
            return;
        }
        if !self.overlays.is_empty() {
            return self.with_overlay(effects, |overlay, cx| overlay.key(key, cx));
        }
        // What was pressed before the screen showed that an overlay is gone was meant for the overlay.
        if self.closed_at.as_ref().is_some_and(|(_, seen)| !seen.get()) {
            return;
        }
        let closed_at = self.closed_at.take();
        let is_late = |at: Timestamp| self.now.duration_since(at) < LATE_ESC;
        if key.code == KeyCode::Esc && closed_at.is_some_and(|(at, _)| is_late(at)) {
            return;
        }
        self.message = self.message.take().filter(|message| message.until.is_some());
        // From the first key on, the place is the user's own, and does not give way any more.
        self.named = false;
        let pane = self.panes.last().map(|p| p.id()).unwrap_or_default();
        self.pressed.push(key);
        match self.bindings.meaning(pane, &self.pressed) {
            Meaning::Prefix => {}
            Meaning::Found(id) => {
                self.pressed.clear();
                self.act(Action::Run(id), effects);
            }
            Meaning::Nothing => {
                let alone = self.pressed.len() == 1;
                self.pressed.clear();
                // A sequence that leads nowhere is dropped, but the key that quits still quits.
                if !alone && self.bindings.meaning(pane, &[key]) == Meaning::Found("quit") {
                    self.act(Action::Quit, effects);
                }
            }
        }
    }

    fn mouse(&mut self, event: crossterm::event::MouseEvent, effects: &mut Vec<Effect>) {
        if frame::is_too_small(self.size) {
            return;
        }
        let (column, row) = (event.column, event.row);
        let pointer = match event.kind {
            MouseEventKind::Down(MouseButton::Left) => {
                let double = self.last_press.is_some_and(|(c, r, at)| {
                    (c, r) == (column, row) && self.now.duration_since(at) < SignedDuration::from_millis(400)
                });
                self.last_press = if double { None } else { Some((column, row, self.now)) };
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
        if let Some(panels) = self.panes.last_mut().and_then(|p| p.panels()) {
            match pointer {
                Pointer::Press { column, .. } if panels.grab(column) => return,
                Pointer::Drag { column, .. } if panels.dragging() => return panels.drag(column),
                Pointer::Release => return panels.release(),
                _ => {}
            }
        }
        self.with_pane(effects, |pane, cx| pane.pointer(pointer, cx));
    }

    /// The overlays that are left where some may have closed by themselves. Who presses Esc just then means that overlay, and
    /// not the place below.
    fn set_overlays(&mut self, left: Vec<Box<dyn Overlay>>, before: usize) {
        if left.is_empty() && before > 0 {
            self.closed_at = Some((self.now, Cell::new(false)));
        }
        self.overlays = left;
    }

    /// Does what a click on something that was drawn does; `false` where the pane takes it as any other click.
    fn hit(&mut self, hit: Hit, effects: &mut Vec<Effect>) -> bool {
        self.named = false;
        self.pressed.clear();
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
    fn with_overlay(&mut self, effects: &mut Vec<Effect>, run: impl FnOnce(&mut dyn Overlay, &mut Cx) -> AfterKey) {
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
    fn with_pane(&mut self, effects: &mut Vec<Effect>, run: impl FnOnce(&mut dyn AnyPane, &mut Cx)) {
        let Some(mut pane) = self.panes.pop() else { return };
        let mut cx = Cx { view: self.view_of(), actions: Vec::new() };
        run(pane.as_mut(), &mut cx);
        let actions = cx.actions;
        self.panes.push(pane);
        for action in actions {
            self.act(action, effects);
        }
    }

    fn act(&mut self, action: Action, effects: &mut Vec<Effect>) {
        match action {
            Action::Go(place) => {
                self.go(place);
                self.remember(effects);
            }
            Action::GoTo(target) => match target::parse(self.registry, &target, &self.session.web_url) {
                Ok(place) => {
                    self.act(Action::Go(place), effects);
                    self.named = true;
                }
                Err(TargetError::OtherHost(..)) if self.go_elsewhere(&target, effects) => {}
                Err(error) => self.say(Tone::Warning, error.to_string()),
            },
            Action::Elsewhere(host, place) => effects.push(Effect::Elsewhere(host, place)),
            Action::Hosts => self.hosts(),
            Action::Theme(theme) => {
                self.theme = *theme;
                if let Some(background) = self.background {
                    self.theme = self.theme.clone().on(background);
                }
                self.theme_is_chosen = true;
            }
            Action::Replace(place) => {
                self.panes.pop();
                self.open(place);
            }
            Action::Named(name) => self.go_named(name),
            Action::Back => self.back(false, effects),
            Action::Forward => match self.ahead.pop() {
                Some(place) => self.open(place),
                None => self.say(Tone::Info, "No forward history.".into()),
            },
            Action::Close => self.escape(false, effects),
            Action::Halt => self.escape(true, effects),
            Action::Quit if self.asks_before_quitting() => {}
            Action::Quit | Action::QuitAnyway => self.quit(effects),
            Action::Open(overlay) => self.overlays.push(overlay),
            Action::Run(id) => self.run(id, effects),
            Action::Move(motion) => self.with_pane(effects, |pane, cx| pane.motion(motion, cx)),
            Action::Seek => self.open_search(),
            Action::SeekNext(forward) => self.with_pane(effects, |pane, cx| pane.seek_next(forward, cx)),
            Action::Sought(text) => self.with_pane(effects, |pane, cx| pane.set_filter_text(&text, cx)),
            Action::Answer(answer) => self.with_pane(effects, |pane, cx| pane.answer(answer, cx)),
            Action::Send(write) => self.send(write, KeptKey::Nothing, None, effects),
            Action::SendKept(key, write) => {
                let carries = self.carrying(Some(key));
                self.send(write, carries, None, effects);
            }
            Action::SendThen(key, write, then) => {
                let carries = self.carrying(key);
                self.send(write, carries, Some(then), effects);
            }
            Action::All(actions) => actions.into_iter().for_each(|action| self.act(action, effects)),
            Action::Post(keys) => self.post(&keys),
            Action::Submit(review) => self.submit(review, effects),
            Action::Resolve(keys) => self.resolve(&keys),
            Action::StopPosting => self.outbox.stop(),
            Action::Keep(key, text) => self.keep(key, text, effects),
            Action::Settings(change) => self.change(&Change::Settings(change), effects),
            Action::Recents(change) => self.change(&Change::Recents(change), effects),
            Action::Seen(change) => self.change(&Change::Seen(change), effects),
            Action::KeepSection(section) => {
                self.say(Tone::Good, format!("Home has a section \"{}\" now", section.name));
                // As in the file: what is written again stands last.
                self.session.sections.retain(|known| known.name != section.name);
                self.session.sections.push(section.clone());
                effects.push(Effect::Section(section.name.clone(), Some(section)));
            }
            Action::DropSection(name) => {
                self.session.sections.retain(|section| section.name != name);
                effects.push(Effect::Section(name, None));
            }
            Action::Copy(what, text) => {
                self.say(Tone::Good, format!("Copied {what}"));
                effects.push(Effect::Copy(text));
            }
            Action::Browse(url) => effects.push(Effect::Browse(url)),
            Action::Edit { text, suffix } => effects.push(Effect::Edit { text, suffix }),
            Action::Page(paper) => effects.push(Effect::Page(paper)),
            Action::CheckOut(order) => {
                self.say(Tone::Info, "Checking out…".to_owned());
                effects.push(Effect::CheckOut(order));
            }
            Action::StopRun(number) => self.stop_run(number, effects),
            Action::EditInClone => self.edit_in_clone(effects),
            Action::Save(save) => self.save(save),
            Action::SaveTo(order) => self.save_to(order, effects),
            Action::SaveAgain(number, replace) => self.save_again(number, replace, effects),
            Action::StopSave(number) => self.stop_save(number, effects),
            Action::ForgetSave(number) => self.forget_save(number, effects),
            Action::Saves => self.overlays.push(Box::<overlay::transfers::List>::default()),
            Action::Drafts => self.all_drafts(),
            Action::Say(tone, text) => self.say(tone, text),
            Action::Refuse(command, why) => self.refuse(&command, why),
            Action::Watch(watched) => self.watch(watched),
            Action::Refresh => {
                let mut wants = self.wants();
                wants.retain(|want| *want != reconcile::token_want());
                self.watch_refresh(&wants);
                self.store.refresh(&wants);
            }
            Action::Renew(wants) => self.store.refresh(&wants),
            Action::Panel(forward) => match self.panes.last_mut().and_then(|p| p.panels()) {
                Some(panels) if panels.count() > 1 => {
                    if forward {
                        panels.next()
                    } else {
                        panels.prev()
                    }
                }
                // Most terminals send the same for Tab and C-i, which goes forward.
                _ if forward && !self.ahead.is_empty() => self.act(Action::Forward, effects),
                _ => {}
            },
            Action::Zoom => {
                if let Some(panels) = self.panes.last_mut().and_then(|p| p.panels()) {
                    panels.toggle_zoom();
                }
            }
            Action::Tab(index) => {
                if self.panes.last().is_some_and(|p| index < p.tabs().titles.len()) {
                    self.forget_message();
                    self.with_pane(effects, |pane, cx| pane.select_tab(index, cx));
                    self.look_again();
                }
            }
            Action::Suspend => effects.push(Effect::Suspend),
            Action::Copies => self.copies(effects),
            Action::BrowseHere => match self.panes.last().and_then(|p| p.url(&self.view_of())) {
                Some(url) => {
                    self.say(Tone::Info, format!("Opening {}", crate::ui::text::sanitize(&url)));
                    effects.push(Effect::Browse(url));
                }
                None => self.say(Tone::Warning, "Nothing here has a page of its own.".into()),
            },
            Action::Menu => self.menu(),
            Action::Palette => self.palette(),
            Action::Anything => self.anything(),
            Action::Help => self.help(),
        }
    }

    fn quit(&mut self, effects: &mut Vec<Effect>) {
        self.quitting = true;
        effects.push(Effect::Quit);
    }

    fn run(&mut self, id: &'static str, effects: &mut Vec<Effect>) {
        let mut known = false;
        self.with_pane(effects, |pane, cx| known = pane.run(id, cx));
        if known || self.run_custom(id, effects) {
            return;
        }
        if let Some(entry) = self.registry.iter().find(|entry| entry.go.is_some_and(|go| go.id == id)) {
            return self.go_named(entry.id);
        }
        if let Some(command) = GLOBAL.iter().find(|c| c.id == id) {
            let mut cx = Cx { view: self.view_of(), actions: Vec::new() };
            (command.run)(&mut (), &mut cx);
            for action in cx.actions {
                self.act(action, effects);
            }
        }
    }

    fn carrying(&self, key: Option<String>) -> KeptKey {
        key.map_or(KeptKey::Nothing, |key| {
            let text = self.drafts.get(&key).cloned();
            KeptKey::Kept(key, text)
        })
    }

    fn send(&mut self, write: Write, carries: KeptKey, then: Option<FollowUp>, effects: &mut Vec<Effect>) {
        let number = self.next_write;
        self.next_write += 1;
        if let Some(overlay) = self.overlays.last_mut().filter(|_| !matches!(carries, KeptKey::Draft(_))) {
            overlay.sending(number);
        }
        self.writes.insert(number, Pending { write: write.clone(), carries, then });
        let refused = match (self.session.read_only, self.session.offline) {
            (true, _) => Some(Fault::ReadOnly),
            (_, true) => Some(reconcile::offline()),
            _ => self
                .view_of()
                .token()
                .and_then(AccessToken::missing_scope)
                .map(|scope| Fault::Scope(vec![scope.into()])),
        };
        if let Some(fault) = refused {
            let error = crate::api::Error { tried: write.request.line(), fault };
            return self.sent(number, Err(error), effects);
        }
        effects.push(Effect::Send(number, write));
    }

    // ---- places

    fn go(&mut self, place: Place) {
        if self.place() == place {
            return;
        }
        self.ahead.clear();
        self.open(place);
        if self.panes.len() > HISTORY {
            self.panes.remove(0);
            self.elsewhere.forget_first();
        }
    }

    fn open(&mut self, place: Place) {
        self.pressed.clear();
        self.named = false;
        let Some(entry) = registry::find(self.registry, &place.pane) else {
            return self.say(Tone::Warning, format!("There is no place called \"{}\".", place.pane));
        };
        let pane = (entry.open)(&place, &self.view_of());
        self.panes.push(pane);
        self.forget_message();
        self.look_again();
    }

    /// What was known of the place at hand is shown at once; what of it is old is asked for again behind that.
    fn look_again(&mut self) {
        self.refreshing.clear();
        let wants = self.panes.last().map(|pane| pane.wants(&self.view_of())).unwrap_or_default();
        let before = self.now.checked_sub(SignedDuration::from_secs(FRESH)).unwrap_or(self.now);
        self.store.outdate(&wants, before);
    }

    fn go_named(&mut self, name: &'static str) {
        let Some(entry) = registry::find(self.registry, name) else {
            return self.say(Tone::Warning, format!("There is no place called \"{name}\"."));
        };
        match self.place_named(entry) {
            Ok(place) => self.go(place),
            Err(_) if entry.needs == Needs::Project => {
                let title = format!("{}: select a project", entry.title);
                let source = Box::new(quick_open::ProjectChoice::new(Place::new(entry.id)));
                self.overlays.push(Box::new(Picker::of(title, source, &self.view_of())));
            }
            Err(why) => self.say(Tone::Warning, format!("{name}: {why}.")),
        }
    }

    /// The project of what is under the cursor, else the one that was open last.
    fn project_at_hand(&self) -> Option<Id> {
        let url = self.panes.last().and_then(|pane| pane.url(&self.view_of()));
        let under_cursor = url.and_then(|url| target::parse(self.registry, &url, &self.session.web_url).ok());
        let open = self.panes.iter().rev().find_map(|pane| pane.place().project);
        let recent = || self.state.recents.places.iter().find_map(|place| place.project.clone());
        under_cursor.and_then(|place| place.project).or(open).or_else(recent)
    }

    /// The place that a bare name means here.
    fn place_named(&self, entry: &Entry) -> Result<Place, String> {
        let here = self.place();
        let mut place = Place::new(entry.id);
        match entry.needs {
            Needs::Nothing => {
                // A place that can show one project shows the one at hand.
                place.project = here.project;
                Ok(place)
            }
            Needs::Project => match here.project {
                Some(project) => {
                    place.project = Some(project);
                    place.git_ref = here.git_ref;
                    Ok(place)
                }
                None => {
                    let project = self.project_at_hand().ok_or("select a project first")?;
                    Ok(place.project(project))
                }
            },
            Needs::Item => Err("it is opened from its list".into()),
        }
    }

    /// Goes back to where one came from; at the first place, `asks` whether to quit.
    fn back(&mut self, asks: bool, effects: &mut Vec<Effect>) {
        if self.goes_out() {
            return effects.push(Effect::Return);
        }
        if self.panes.len() > 1 {
            if let Some(pane) = self.panes.pop() {
                self.ahead.push(pane.place());
            }
            self.pressed.clear();
            self.named = false;
            self.forget_message();
            self.look_again();
            return;
        }
        // The first place may have been named by a target: what is nearest above it is behind it.
        match registry::above(self.registry, &self.place()) {
            Some(above) => {
                self.panes.clear();
                self.open(above);
            }
            None if asks => self.act(App::confirm("Quit", "Quit labscope?".into(), Action::Quit), effects),
            None => {
                let quit = self.bindings.first("quit").to_owned();
                self.say(Tone::Info, format!("Nothing to go back to ({quit} quits)."));
            }
        }
    }

    /// Undoes the innermost thing that is on, else goes back. `halt`, which is Esc, stops what is being saved before one
    /// goes back; `q` asks to quit at the first place.
    fn escape(&mut self, halt: bool, effects: &mut Vec<Effect>) {
        let mut done = false;
        self.with_pane(effects, |pane, cx| done = pane.escape(cx));
        let running = self.transfers.running().next_back().map(|t| t.number);
        match running.filter(|_| halt && !done) {
            Some(number) => self.stop_save(number, effects),
            None if !done => self.back(!halt, effects),
            None => {}
        }
    }

    // ---- overlays that the app itself opens

    fn open_search(&mut self) {
        let Some(pane) = self.panes.last() else { return };
        let label = match pane.search_mode() {
            Some(SearchMode::Filter) => "filter",
            Some(SearchMode::Search) => "search",
            None => return self.say(Tone::Info, "There is nothing to search here.".into()),
        };
        let overlay: Box<dyn Overlay> = match pane.grammar() {
            Some(grammar) => Box::new(QueryLine::new(label, pane.filter_text(), grammar)),
            None => Box::new(Prompt::seek(label, pane.filter_text())),
        };
        self.overlays.push(overlay);
    }

    fn copies(&mut self, effects: &mut Vec<Effect>) {
        let mut copies = self.panes.last().map(|p| p.copies(&self.view_of())).unwrap_or_default();
        if let Some(url) = self.panes.last().and_then(|p| p.url(&self.view_of())) {
            copies.push(("URL", url));
        }
        match copies.len() {
            0 => self.say(Tone::Warning, "There is nothing to copy here.".into()),
            1 => {
                if let Some((what, text)) = copies.pop() {
                    self.act(Action::Copy(what, text), effects);
                }
            }
            _ => {
                let items = copies
                    .into_iter()
                    .map(|(what, text)| Item::act(what, Action::Copy(what, text.clone())).detail(text))
                    .collect();
                self.overlays.push(Box::new(Picker::new("Copy", items)));
            }
        }
    }

    /// A command as a thing to choose.
    fn command_item(&self, id: &'static str, title: &'static str) -> Item {
        Item::act(title, Action::Run(id)).note(self.bindings.shown(id)).synonyms(synonyms::of(self.registry, id))
    }

    /// The commands of the pane at hand, as things to choose.
    fn command_items(&self) -> Vec<Item> {
        let Some(pane) = self.panes.last() else { return Vec::new() };
        let view = self.view_of();
        let item = |info: command::Info| {
            let item = self.command_item(info.id, info.title).group(if info.writes { "Change" } else { "View" });
            item.unless(pane.can(info.id, &view).and_then(Result::err))
        };
        let custom = self.custom_commands().map(|command| {
            let item = self.command_item(command.id, command.title).group("Your commands");
            item.unless(self.custom_order(command).err())
        });
        pane.commands().into_iter().map(item).chain(custom).collect()
    }

    /// The commands of every place, as things to choose.
    fn global_items(&self) -> impl Iterator<Item = Item> {
        global::infos(self.registry).map(|info| {
            let item = self.command_item(info.id, info.title).group(global::group(self.registry, info.id));
            item.unless(self.global_refusal(info.id))
        })
    }

    /// Returns why a command of every place does nothing here.
    fn global_refusal(&self, id: &str) -> Option<Disabled> {
        let (pane, view) = (self.panes.last()?, self.view_of());
        if let Some(entry) = self.registry.iter().find(|entry| entry.go.is_some_and(|go| go.id == id)) {
            // Where no project is at hand, it asks for one.
            return self.place_named(entry).err().filter(|_| entry.needs != Needs::Project).map(Disabled::Owned);
        }
        if let Some(number) = id.strip_prefix("tab.").and_then(|number| number.parse::<usize>().ok()) {
            return match pane.tabs().titles.len() {
                0 => Some("there are no tabs here".into()),
                1 => Some("there is one tab here".into()),
                count if number > count => Some(format!("there are {count} tabs here").into()),
                _ => None,
            };
        }
        match id {
            "seek" | "seek.next" | "seek.prev" if pane.search_mode().is_none() => {
                Some("there is nothing to search here".into())
            }
            "clone.edit" => self.file_in_clone().err(),
            "forward" if self.ahead.is_empty() => Some("no forward history".into()),
            "browse" if pane.url(&view).is_none() => Some("nothing here has a page of its own".into()),
            "copy" if pane.url(&view).is_none() && pane.copies(&view).is_empty() => {
                Some("there is nothing to copy here".into())
            }
            _ => None,
        }
    }

    fn menu(&mut self) {
        let items = self.command_items();
        if items.is_empty() {
            return self.say(Tone::Info, "There are no actions here.".into());
        }
        self.overlays.push(Box::new(Picker::new("Actions", items).of_commands()));
    }

    fn place_items(&self) -> Vec<Item> {
        self.registry
            .iter()
            .map(|entry| {
                let item = Item::act(entry.id, Action::Named(entry.id)).detail(entry.title).group("Places");
                let refusal = self.place_named(entry).err().filter(|_| entry.needs != Needs::Project);
                item.synonyms(entry.synonyms).unless(refusal)
            })
            .collect()
    }

    fn palette(&mut self) {
        let mut items = self.place_items();
        items.extend(self.command_items());
        items.extend(self.global_items());
        // What other places can do is found, too, with where.
        let here = self.panes.last().map(|p| p.id()).unwrap_or_default();
        for entry in self.registry.iter().filter(|entry| entry.id != here) {
            for info in (entry.commands)() {
                items.push(self.command_item(info.id, info.title).unless(Some(format!("in \"{}\"", entry.id))));
            }
        }
        let free = |text: &str| Action::GoTo(text.to_owned());
        let picker = Picker::new("Command", items)
            .of_commands()
            .free(free, "a place, a command, or a target such as group/project!12");
        self.overlays.push(Box::new(picker));
    }

    fn anything(&mut self) {
        let source = Box::new(quick_open::QuickOpen::new(&self.place()));
        let free = |text: &str| Action::GoTo(text.to_owned());
        let picker = Picker::of("Go to anything", source, &self.view_of())
            .free(free, "project, group, merge request, job, ref, file, user");
        self.overlays.push(Box::new(picker));
    }

    /// The keys of the place at hand and of every place, to find one and to run it.
    fn help(&mut self) {
        let here = self.panes.last().map(|pane| pane.id()).unwrap_or_default();
        let place = registry::find(self.registry, here).map_or("", |entry| entry.title);
        let mut items = self.command_items();
        items.extend(self.global_items());
        self.overlays.push(Box::new(Picker::new(format!("Keys: {place}"), items).of_keys()));
    }

    /// Asks before doing `action`.
    pub fn confirm(title: &str, question: String, action: Action) -> Action {
        Action::Open(Box::new(Confirm::new(title, question, action)))
    }

    fn wants(&self) -> Vec<Want> {
        let view = self.view_of();
        let mut wants = self.outbox_wants(&view);
        wants.extend(self.watch_wants(&view));
        if self.elsewhere.away && wants.is_empty() {
            return wants;
        }
        wants.extend(reconcile::session_wants(&view));
        if self.elsewhere.away {
            return wants;
        }
        let mut shown: Vec<Want> = self.panes.last().map(|pane| pane.wants(&view)).unwrap_or_default();
        for overlay in &self.overlays {
            shown.extend(overlay.wants(&view));
        }
        // What nobody looks at is asked for less often; watched jobs are among the others.
        if self.unfocused {
            shown.iter_mut().for_each(|want| want.slow_down(UNFOCUSED));
        }
        wants.extend(shown);
        wants
    }
}

impl Motion {
    /// Moves a list's selection, or its window by the wheel.
    pub fn apply(self, list: &mut crate::ui::table::ListState, len: usize) {
        match (self, self.rows(list.height())) {
            (Motion::PageUp, _) => list.page_by(-1, len),
            (Motion::PageDown, _) => list.page_by(1, len),
            (Motion::Wheel(rows), _) => list.scroll_by(rows.into(), len),
            (_, Some(rows)) => list.move_by(rows, len),
            (_, None) => {}
        }
    }
}
