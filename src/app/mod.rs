//! The app: a state machine that turns messages into effects and never blocks.

pub mod action;
pub mod bindings;
pub mod clip;
mod clock;
pub mod clone;
mod clone_actions;
mod code_search;
pub mod command;
pub mod command_info;
pub mod complete;
pub mod context;
pub mod custom;
mod custom_runs;
pub mod dates;
mod exact_target;
mod failed_reads;
pub mod features;
pub mod frame;
pub mod global;
pub mod hits;
mod inbox;
mod input;
pub mod key_names;
pub mod keymap;
pub mod local_paths;
mod menus;
mod message;
pub mod motion;
mod navigation;
pub mod outbox;
pub mod outline;
pub mod overlay;
pub mod pane;
mod past_tense;
pub mod path_search;
pub mod permission;
mod persistence;
pub mod place;
pub mod place_info;
pub mod pointer;
pub mod publishing;
pub mod query;
pub mod quick_open;
pub mod recent;
pub mod reconcile;
pub mod registry;
pub mod route;
pub mod server_switch;
pub mod session;
pub mod state;
pub mod synonyms;
pub mod target;
#[cfg(test)]
mod tests;
pub mod text_key;
pub mod texts;
mod theme_state;
pub mod tone;
pub mod tour;
pub mod transfer;
mod transfer_actions;
pub mod uploads;
pub mod view;
pub mod waiting_writes;
pub mod watch;
mod watch_list;
pub mod web_pages;
mod writes;

#[cfg(test)]
#[path = "../../tests/support/dice.rs"]
mod dice;

#[cfg(test)]
#[path = "../../tests/support/sample.rs"]
mod sample;

use action::{Action, Effect, Msg, Outcome};
use bindings::Bindings;
use clip::Clip;
use clock::AppClock;
use context::Cx;
use crossterm::event::{KeyCode, KeyEventKind};
use custom_runs::CustomRuns;
use frame::FrameState;
use global::GLOBAL;
use input::InputState;
use jiff::Timestamp;
use keymap::Key;
use message::Messages;
use navigation::Navigation;
use outbox::Outbox;
use overlay::confirm::Confirm;
use overlay::{AfterEvent, Overlay, TextEntry};
use pane::SearchMode;
use persistence::Saved;
pub use place::Place;
use reconcile::Requests;
pub use registry::Entry;
use server_switch::ServerSwitch;
use session::Session;
use state::{Kept, StateChange};
use store::range_read::RANGE_READS;
use store::{Store, TaskKey, Want, earliest};
use target::TargetError;
use theme_state::ThemeState;
use tone::Tone;
use transfer::Transfers;
use ui::glyph;
use ui::image::Images;
use ui::theme::Theme;
use view::View;
use writes::{SentText, Writes};

/// The maximum number of times that frames are settled per message.
const MAX_SETTLED_FRAMES: u32 = 3;
/// The factor by which live lists are polled less often while the terminal window has no focus.
const UNFOCUSED_SLOWDOWN: u32 = 6;

/// The state of the whole user interface.
pub struct App {
    /// The cache of server data.
    pub store: Store,
    theme_state: ThemeState,
    session: Session,
    nav: Navigation,
    overlays: Vec<Box<dyn Overlay>>,
    input: InputState,
    messages: Messages,
    clock: AppClock,
    requests: Requests,
    writes: Writes,
    saved: Saved,
    outbox: Outbox,
    transfers: Transfers,
    runs: CustomRuns,
    server_switch: ServerSwitch,
    /// Watched jobs and pipelines.
    watched: Vec<watch::Watched>,
    /// The tour that the person takes.
    tour: Option<tour::Tour>,
    frame: FrameState,
}

/// The initial configuration of an [`App`].
pub struct Setup {
    /// The registry of panes.
    pub registry: &'static [Entry],
    /// The key bindings.
    pub bindings: Bindings,
    /// The session with the server.
    pub session: Session,
    /// The initial theme.
    pub theme: Theme,
    /// Whether the user chose that theme.
    pub theme_is_chosen: bool,
    /// Everything that earlier runs saved.
    pub kept: Kept,
    /// Whether to show the most important keys, unless they were shown before.
    pub shows_key_hints: bool,
    /// The first place to open.
    pub place: Place,
    /// The current time.
    pub now: Timestamp,
    /// The width and height of the screen.
    pub size: (u16, u16),
}

impl App {
    /// Creates an app, opens its first place, and returns the effects to run.
    pub fn new(setup: Setup) -> (App, Vec<Effect>) {
        let mut app = App {
            store: Store::default(),
            theme_state: ThemeState::new(setup.theme, setup.theme_is_chosen),
            session: setup.session,
            nav: Navigation::new(setup.registry),
            overlays: Vec::new(),
            input: InputState::new(setup.bindings),
            messages: Messages::default(),
            clock: AppClock::new(setup.now),
            requests: Requests::default(),
            writes: Writes::default(),
            saved: Saved::new(setup.kept),
            outbox: Outbox::default(),
            transfers: Transfers::default(),
            runs: CustomRuns::default(),
            server_switch: ServerSwitch::default(),
            watched: Vec::new(),
            tour: None,
            frame: FrameState::new(setup.size),
        };
        let mut effects = Vec::new();
        app.open(setup.place);
        app.nav.replace_if_missing = true;
        if setup.shows_key_hints && !app.saved.state.settings.greeted {
            app.greet(&mut effects);
        }
        app.settle(&mut effects);
        (app, effects)
    }

    /// Handles a message and returns the effects to run.
    pub fn update(&mut self, msg: Msg) -> Vec<Effect> {
        let mut effects = self.receive(msg);
        effects.extend(self.settle_pending());
        effects
    }

    /// Receives one of several messages; [`settle_pending`](App::settle_pending) must be called after the last one. User input is settled
    /// immediately, together with everything received before it; messages of servers are settled together, because a
    /// trace may arrive in hundreds of pieces.
    pub fn receive(&mut self, msg: Msg) -> Vec<Effect> {
        let msg = match msg {
            Msg::Typed(text) => return self.receive_text(&text),
            msg => msg,
        };
        let mut effects = Vec::new();
        self.messages.turn += 1;
        // The clock does not change the layout.
        if !matches!(msg, Msg::Now(_)) {
            self.frame.settled_frames = 0;
        }
        let of_person = matches!(
            msg,
            Msg::Key(_) | Msg::Mouse(_) | Msg::Paste(_) | Msg::EditorClosed(..) | Msg::EditorInterrupted(_)
        );
        if of_person && self.frame.is_unsettled {
            self.settle(&mut effects);
        }
        if of_person || matches!(msg, Msg::Resize(..)) {
            self.store.record_action();
            self.input.acted_at = Some(self.clock.now());
        }
        self.take(msg, &mut effects);
        self.frame.is_unsettled = true;
        if of_person {
            self.settle(&mut effects);
        }
        effects
    }

    /// Receives text that arrived at once: as a paste where text is typed, so that its cost does not grow with the
    /// text before it, else as keys.
    fn receive_text(&mut self, text: &str) -> Vec<Effect> {
        let mut effects = Vec::new();
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let len = match self.text_entry() {
                TextEntry::Lines => rest.len(),
                TextEntry::Line => rest.find(['\n', '\t']).unwrap_or(rest.len()),
                TextEntry::None => 0,
            };
            let msg = if len > 0 {
                Msg::Paste(rest.get(..len).unwrap_or_default().to_owned())
            } else {
                Msg::Key(match c {
                    '\n' => KeyCode::Enter.into(),
                    '\t' => KeyCode::Tab.into(),
                    c => KeyCode::Char(c).into(),
                })
            };
            effects.extend(self.receive(msg));
            rest = rest.get(len.max(c.len_utf8())..).unwrap_or_default();
        }
        effects
    }

    /// Settles again after a frame that found out something new, such as the width of a panel, and marks the screen as out
    /// of date. Returns the effects to run, or `None` if the frame was as expected. A layout that never comes to rest is
    /// settled a few times per message.
    pub fn settle_frame(&mut self) -> Option<Vec<Effect>> {
        if !self.frame.is_new.take() || self.frame.settled_frames >= MAX_SETTLED_FRAMES {
            return None;
        }
        self.frame.settled_frames += 1;
        let mut effects = Vec::new();
        self.settle(&mut effects);
        self.frame.dirty = true;
        Some(effects)
    }

    /// Settles the messages received since the last time: panes and overlays see the changes, deferred actions run, and
    /// what is wanted now is requested. Returns the effects to run.
    pub fn settle_pending(&mut self) -> Vec<Effect> {
        let mut effects = Vec::new();
        if self.frame.is_unsettled {
            self.settle(&mut effects);
        }
        effects
    }

    /// Returns whether the screen must be redrawn, and resets the flag.
    pub fn take_dirty(&mut self) -> bool {
        std::mem::take(&mut self.frame.dirty)
    }

    /// Marks the screen as out of date, to be redrawn when there is time.
    pub fn set_dirty(&mut self) {
        self.frame.dirty = true;
    }

    /// Returns the time at which the app must receive the next [`Msg::Now`]; `None` if nothing is scheduled.
    pub fn wake_at(&self) -> Option<Timestamp> {
        let message = self.messages.current.as_ref().and_then(|message| message.expires_at);
        let wake =
            earliest(earliest(self.requests.wake, message), earliest(self.outbox.wake(), self.writes.waiting.wake()));
        wake.map(|at| self.clock.to_local(at))
    }

    /// Returns whether the app is quitting.
    pub fn is_quitting(&self) -> bool {
        self.server_switch.is_quitting
    }

    /// Returns the current theme.
    pub fn theme(&self) -> &Theme {
        &self.theme_state.theme
    }

    /// Returns the images of the last frame.
    pub fn images(&self) -> &Images {
        &self.frame.images
    }

    /// Returns the current place.
    pub fn place(&self) -> Place {
        self.nav.top().map(|p| p.place()).unwrap_or_default()
    }

    /// Returns the text saved under `key`, as it is on disk.
    pub fn draft(&self, key: &str) -> Option<String> {
        self.saved.drafts.to_disk(key)
    }

    fn view_of(&self) -> View<'_> {
        View {
            places: &self.nav.places,
            key_names: self.input.bindings.names(),
            pane: self.nav.top().map_or("", |pane| pane.id()),
            store: &self.store,
            theme: &self.theme_state.theme,
            now: self.clock.server_time(),
            local_now: self.clock.now(),
            session: &self.session,
            drafts: &self.saved.drafts,
            settings: &self.saved.state.settings,
            recents: &self.saved.state.recents,
            seen: &self.saved.state.seen,
            outbox: &self.outbox,
            waiting: &self.writes.waiting,
            sending: &self.writes.texts,
            transfers: &self.transfers,
            runs: &self.runs.started,
            images: &self.frame.images,
            writing: self.overlays.iter().rev().find_map(|overlay| overlay.writing()),
            size: (frame::columns(self.frame.size.0), self.frame.size.1),
            hits: &self.frame.hits,
        }
    }

    fn take(&mut self, msg: Msg, effects: &mut Vec<Effect>) {
        if !matches!(msg, Msg::Now(_)) {
            self.frame.dirty = true;
        }
        if matches!(msg, Msg::Arrived(..) | Msg::Cached(..) | Msg::Sent(..)) {
            self.clock.show_now();
        }
        self.input.is_busy = matches!(msg, Msg::Key(_) | Msg::Mouse(_) | Msg::Paste(_));
        self.handle(msg, effects);
        self.input.is_busy = false;
    }

    fn handle(&mut self, msg: Msg, effects: &mut Vec<Effect>) {
        match msg {
            Msg::Now(now) => self.set_now(now),
            Msg::Resize(width, height) => self.frame.size = (width, height),
            Msg::Background(background) => self.theme_state.set_background(background),
            Msg::Focus(focused) => {
                self.input.is_unfocused = !focused;
                if focused {
                    self.mark_stale();
                }
            }
            Msg::Key(event) if event.kind == KeyEventKind::Release => {}
            Msg::Key(event) => self.key(Key::of(event), effects),
            Msg::Paste(text) => self.with_overlay(effects, |overlay, cx| {
                overlay.paste(&text, cx);
                AfterEvent::KeepOpen
            }),
            // Received as its parts.
            Msg::Typed(_) => {}
            Msg::Mouse(event) => self.mouse(event, effects),
            Msg::FromTask(..) => {
                if let Some(msg) = msg.unless_stopped() {
                    self.take(msg, effects);
                }
            }
            Msg::Arrived(task, outcome) => self.on_arrived(task, outcome, effects),
            Msg::Cached(task, reply, at) => self.add_cached(&task, reply, at),
            Msg::Partial { task, value, received, size } => {
                if self.requests.in_flight.contains_key(&task)
                    && let TaskKey::Load(request, _) = task
                {
                    self.store.record_reachability(request.route, None, self.clock.now());
                    self.store.record_partial(&request, value, received, size);
                }
            }
            Msg::Preview(task, result) => self.add_preview(task, result),
            Msg::StreamStatus(request, outcome) => self.store.record_reply(&request, 0, outcome, self.clock.now()),
            Msg::Limited(pause) => {
                // All requests that wait tell it.
                if self.store.time_to_wait(api::error::SERVER, self.clock.now()).is_none() {
                    let seconds = pause.as_secs_f64().ceil();
                    let words = format!("The server limits requests: the next one follows in {seconds}s.");
                    self.say(Tone::Warning, words);
                }
                self.store.record_pause(pause, self.clock.now());
            }
            Msg::ClockOffset(ahead) => self.clock.set_offset(ahead),
            Msg::Bytes { request, bytes, restart } => {
                self.store.record_reachability(request.route, None, self.clock.now());
                self.store.append_to_stream(&request, &bytes, restart);
            }
            Msg::StreamEnd { request, bytes, size } => self.store.record_stream_end(&request, &bytes, size),
            Msg::StreamRead(request) => self.store.record_stream_read(&request, self.clock.now()),
            Msg::StreamFailed(request, error) => self.store.record_stream_failure(&request, error),
            Msg::RangeReadProgress(key, progress) => {
                // Ignore the progress of a range read that was canceled in the meantime.
                if self.requests.in_flight.contains_key(&TaskKey::RangeRead(key.clone())) {
                    self.store.record_progress(key, progress);
                }
            }
            Msg::Uploading(number, progress) => {
                self.overlays.iter_mut().for_each(|overlay| overlay.progress(number, progress));
            }
            Msg::Sent(number, outcome) => self.on_sent(number, outcome, effects),
            Msg::Transfer(number, event) => self.on_transfer_event(number, &event, effects),
            Msg::EditorClosed(outcome) => self.on_editor_closed(outcome, effects),
            Msg::FileEdited => self.requests.head.is_current = false,
            Msg::EditorInterrupted(text) => self.with_overlay(effects, |overlay, cx| overlay.interrupted(text, cx)),
            Msg::Copied(name, outcome) => self.on_copied(name, outcome),
            Msg::DiskStatus(outcome) => self.on_disk_status(outcome),
            Msg::Claimed(key, claim) => self.on_claimed(&key, claim, effects),
            Msg::CustomCommand(number, event) => self.on_custom_command(number, event, effects),
            Msg::HeadRead(head) => self.on_head_read(head),
            Msg::PushUntrusted { number, push, reasons, fingerprint } => {
                self.on_push_untrusted(number, push, &reasons, fingerprint, effects);
            }
            Msg::CheckedOut(checkout, outcome) => self.on_checkout_finished(checkout, outcome, effects),
            Msg::Say(tone, text) => self.say(tone, text),
            Msg::Quit => self.quit(effects),
        }
    }

    fn set_now(&mut self, local: Timestamp) {
        let (before, now) = (self.clock.now(), self.clock.at(local));
        // Time alone changes the screen only where a clock is running or a message expires.
        if now.as_second() != before.as_second() && self.clock_step().is_some() {
            self.frame.dirty = true;
        }
        let since = self.silent_since();
        let is_silent = |at: Timestamp| since.is_some_and(|since| at.duration_since(since) >= frame::SILENT);
        if is_silent(now) && !is_silent(before) {
            self.frame.dirty = true;
        }
        if self.messages.current.as_ref().and_then(|message| message.expires_at).is_some_and(|until| until <= now) {
            self.messages.current = None;
            self.frame.dirty = true;
        }
        self.clock.set(local);
    }

    fn on_arrived(&mut self, task: TaskKey, outcome: Result<Outcome, api::Error>, effects: &mut Vec<Effect>) {
        self.requests.paused_streams.remove(&task);
        // Drop the reply to a request that is no longer wanted.
        if self.requests.in_flight.remove(&task).is_none() {
            return;
        }
        match (task, outcome) {
            (TaskKey::Load(request, page), Ok(Outcome::Reply(reply))) => {
                self.store.record_reply(&request, page, Ok(reply), self.clock.now());
                self.rename_moved_project(&request, effects);
            }
            (TaskKey::Load(request, page), Ok(Outcome::FromClone(reply))) => {
                self.store.keep_reply(&request, page, Ok(reply), self.clock.now());
            }
            (TaskKey::Load(request, page), Err(error)) => {
                self.store.record_reply(&request, page, Err(error), self.clock.now())
            }
            (TaskKey::Follow(request), Ok(outcome)) => {
                let requested_at = if let Outcome::End(requested_at) = outcome { requested_at } else { None };
                self.store.end_stream(&request, Ok(requested_at));
            }
            (TaskKey::Follow(request), Err(error)) => {
                self.store.record_reachability(request.route, Some(&error), self.clock.now());
                self.store.end_stream(&request, Err(error));
            }
            (TaskKey::Work(key) | TaskKey::RangeRead(key), Ok(Outcome::Computed(result))) => {
                self.store.record_result(key, result)
            }
            (TaskKey::RangeRead(key), Err(error)) => {
                self.store.record_reachability(RANGE_READS, Some(&error), self.clock.now());
                self.store.record_range_error(key, error);
            }
            (TaskKey::Work(key), Err(error)) => {
                self.store.record_work_error(key);
                self.say(Tone::Bad, error.message());
            }
            (TaskKey::Load(..) | TaskKey::Work(_) | TaskKey::RangeRead(_), Ok(_)) => {}
        }
    }

    fn add_cached(&mut self, task: &TaskKey, reply: store::ParsedReply, at: Timestamp) {
        if let TaskKey::Load(request, page) = task
            && self.requests.in_flight.contains_key(task)
        {
            self.store.add_cached(request, *page, reply, at);
        }
    }

    fn add_preview(&mut self, task: TaskKey, result: store::WorkResult) {
        if self.requests.in_flight.contains_key(&task)
            && let TaskKey::Work(key) = task
        {
            self.store.record_preview(key, result);
        }
    }

    /// Runs an action that follows from a reply. An action that would take the focus from a user who is typing, or
    /// replace the place below, is deferred until no overlay is open.
    fn act_or_defer(&mut self, action: Action, effects: &mut Vec<Effect>) {
        let is_typing = self.overlays.last().is_some_and(|overlay| !overlay.allows_popups());
        if matches!(action, Action::OpenOverlay(_) | Action::GoToPlace(_)) && is_typing {
            self.input.deferred.push_back(action);
        } else {
            self.act(action, effects);
        }
    }

    fn on_editor_closed(&mut self, outcome: Result<String, String>, effects: &mut Vec<Effect>) {
        match outcome {
            Err(why) => {
                self.with_overlay(effects, |overlay, _| {
                    overlay.not_edited(&why);
                    AfterEvent::KeepOpen
                });
                self.say(Tone::Bad, why);
            }
            // The overlay that asked for the text was closed in the meantime: do not lose what was written.
            Ok(text) if self.overlays.is_empty() => {
                effects.push(Effect::Copy(Clip::lines("your text (the form was closed)", text)));
            }
            Ok(text) => self.with_overlay(effects, |overlay, cx| overlay.edited(text, cx)),
        }
    }

    fn on_copied(&mut self, name: &str, outcome: Result<Option<&str>, String>) {
        let (tone, words) = match outcome {
            Ok(None) => (Tone::Good, format!("Copied {name}")),
            Ok(Some(program)) => (Tone::Good, format!("Copied {name} with {program}")),
            Err(why) => {
                let words = format!("Copied {name}, if the terminal supports OSC 52 ({why}); see docs/terminals.md");
                (Tone::Warning, words)
            }
        };
        self.say(tone, words);
    }

    fn act(&mut self, action: Action, effects: &mut Vec<Effect>) {
        match action {
            Action::GoToPlace(place) => {
                self.go(place);
                self.remember(effects);
            }
            Action::GoToTarget(target) => match target::parse(&self.nav.places, &target, &self.session.web_url) {
                Ok(place) => self.act(Action::TryPlace(place), effects),
                Err(TargetError::OtherHost(..)) if self.open_on_other_server(&target, effects) => {}
                Err(error) => self.say(Tone::Warning, error.to_string()),
            },
            Action::TryPlace(place) => {
                self.act(Action::GoToPlace(place), effects);
                self.nav.replace_if_missing = true;
            }
            Action::SwitchServer(host, place) => effects.push(Effect::SwitchServer(host, place)),
            Action::ListServers => self.hosts(),
            Action::SetTheme(theme) => self.theme_state.choose(*theme),
            Action::Replace(place) => {
                self.nav.panes.pop();
                self.open(place);
            }
            Action::GoToPane(name) => self.go_named(name),
            Action::Back => self.back(false, effects),
            Action::Forward => {
                if let Some(place) = self.nav.ahead.pop() {
                    self.open(place);
                }
            }
            Action::Close => self.escape(false, effects),
            Action::Escape => self.escape(true, effects),
            Action::Quit if self.confirm_quit_if_unsaved() || self.confirm_quit_if_unsent() => {}
            Action::Quit | Action::QuitAnyway => self.quit(effects),
            Action::OpenOverlay(mut overlay) => {
                if !self.input.is_busy {
                    overlay.opened_itself();
                }
                self.overlays.push(overlay);
            }
            Action::Run(id) => self.run(id, effects),
            Action::Move(motion) => self.with_pane(effects, |pane, cx| pane.motion(motion, cx)),
            Action::OpenSearch => self.open_search(false),
            Action::NextMatch(forward) => self.with_pane(effects, |pane, cx| pane.next_match(forward, cx)),
            Action::SetFilter(text) => self.with_pane(effects, |pane, cx| pane.set_filter_text(&text, cx)),
            Action::RestoreFilter(text) => self.with_pane(effects, |pane, cx| match pane.search() {
                Some((_, typed)) if typed == text => {}
                Some((SearchMode::Expression, _)) => {
                    pane.set_filter_text("", cx);
                    pane.set_filter_text(&text, cx);
                    pane.begin_search(&cx.view);
                }
                _ => pane.set_filter_text(&text, cx),
            }),
            Action::Continue(rest) => self.with_pane(effects, |pane, cx| pane.resume(rest, cx)),
            Action::Send(write) => self.send(write, SentText::Nothing, None, effects),
            Action::SendLater { writes, what, undo } => self.send_later(writes, what, undo, effects),
            Action::TakeBack => self.take_back(),
            Action::StopUpload(number) => self.stop_upload(number, effects),
            Action::SendSaved(key, write) => {
                let carries = self.carrying(Some(key));
                self.send(write, carries, None, effects);
            }
            Action::SendThen(key, write, then) => {
                let carries = self.carrying(key);
                self.send(write, carries, Some(then), effects);
            }
            Action::SendAgain => self.with_overlay(effects, |overlay, cx| {
                overlay.send_again(cx);
                AfterEvent::KeepOpen
            }),
            Action::Unsupported(name) => self.store.record_unsupported(name, String::new()),
            Action::All(actions) => actions.into_iter().for_each(|action| self.act(action, effects)),
            Action::SendDrafts(keys) => self.post(&keys),
            Action::SubmitReview(review) => self.submit(*review, effects),
            Action::CheckDrafts(keys) => self.check_drafts(&keys),
            Action::CheckPublished { drafts, before } => self.check_published(drafts, before, effects),
            Action::StopSendingDrafts => {
                self.stop_attachments(effects);
                self.outbox.stop();
            }
            Action::SaveText(key, text) => self.saved.keep_text(key, text, effects),
            Action::SaveFiles(key, files) => self.saved.keep_files(&key, &files, effects),
            Action::SaveDraft(key, draft) => self.saved.keep_draft(key, Some(*draft), effects),
            Action::DeleteDraft(key) => self.saved.keep_draft(key, None, effects),
            Action::Settings(change) => self.saved.change(&StateChange::Settings(change), effects),
            Action::Recents(change) => self.saved.change(&StateChange::Recents(change), effects),
            Action::Seen(change) => self.saved.change(&StateChange::Seen(change), effects),
            Action::SaveSection(section) => {
                self.say(Tone::Good, format!("Added section \"{}\" to Home", section.name));
                // As in the configuration file, a section that is saved again moves to the end.
                self.session.sections.retain(|known| known.name != section.name);
                self.session.sections.push(section.clone());
                effects.push(Effect::WriteSection(section.name.clone(), Some(section)));
            }
            Action::RemoveSection(name) => {
                self.session.sections.retain(|section| section.name != name);
                effects.push(Effect::WriteSection(name, None));
            }
            Action::Copy(clip) => {
                effects.push(Effect::Copy(clip));
            }
            Action::Browse(url) => effects.push(Effect::Browse(url)),
            Action::Edit { text, suffix } => effects.push(Effect::Edit { text, suffix }),
            Action::Pager(text) => effects.push(Effect::Pager(text)),
            Action::CheckOut(checkout) => {
                self.say(Tone::Info, "Checking out…".to_owned());
                effects.push(Effect::CheckOut(checkout));
            }
            Action::Push(push) => self.push(push, effects),
            Action::StopCustomCommand(number) => self.stop_run(number, effects),
            Action::SearchCode => self.search_code(effects),
            Action::EditInClone => self.edit_in_clone(effects),
            Action::EditList(lines) => self.edit_list(&lines, effects),
            Action::LocateThreads(key, threads) => {
                if let Some(clone) = &mut self.session.clone {
                    (clone.threads_key, clone.threads) = (key, threads);
                    self.requests.head.is_current = false;
                }
            }
            Action::AskTransferPath(new) => self.transfer(new),
            Action::StartTransfer(order) => self.transfer_to(order, effects),
            Action::RestartTransfer(number, replace) => self.restart_transfer(number, replace, effects),
            Action::StopTransfer(number) => self.stop_transfer(number, effects),
            Action::ForgetTransfer(number) => self.forget_transfer(number, effects),
            Action::ListTransfers => self.overlays.push(Box::<overlay::transfers::List>::default()),
            Action::ListDrafts => self.all_drafts(),
            Action::ListMessages => self.list_messages(),
            Action::Say(tone, text) => self.say(tone, text),
            Action::Refuse(command, why) => self.refuse(&command, why),
            Action::Watch(watched) => self.watch(watched),
            Action::Refresh => {
                let mut wants = self.wants(self.place_wants());
                wants.retain(|want| *want != reconcile::token_want());
                self.track_refresh(&wants);
                self.store.refresh(&wants);
                self.requests.head.is_current = false;
            }
            Action::Reload(wants) => self.store.refresh(&wants),
            Action::Panel(forward) => match self.nav.panes.last_mut().and_then(|pane| pane.panels()) {
                Some(panels) if panels.count() > 1 => {
                    if forward {
                        panels.next()
                    } else {
                        panels.prev()
                    }
                }
                _ => {}
            },
            Action::Zoom => {
                if let Some(panels) = self.nav.panes.last_mut().and_then(|p| p.panels()) {
                    panels.toggle_zoom();
                }
            }
            Action::SelectTab(index) => {
                if self.nav.top().is_some_and(|p| index < p.tabs().titles.len()) {
                    self.forget_message();
                    self.with_pane(effects, |pane, cx| pane.select_tab(index, cx));
                    self.mark_stale();
                }
            }
            Action::Suspend => effects.push(Effect::Suspend),
            Action::CopyMenu => self.open_copy_menu(effects),
            Action::BrowseHere => {
                if let Some(url) = self.web_page() {
                    self.say(Tone::Info, format!("Opening {}", ui::text::sanitize(&url)));
                    effects.push(Effect::Browse(url));
                }
            }
            Action::ActionMenu => self.menu(),
            Action::Palette => self.palette(),
            Action::QuickOpen => self.quick_open(),
            Action::Help => self.help(),
            Action::ToggleTour => self.toggle_tour(),
        }
    }

    fn quit(&mut self, effects: &mut Vec<Effect>) {
        self.server_switch.is_quitting = true;
        self.keep_unsent(effects);
        self.send_due(Timestamp::MAX, effects);
    }

    fn run(&mut self, id: &'static str, effects: &mut Vec<Effect>) {
        self.run_command(id, effects);
        let is_refused = self.messages.current.as_ref().is_some_and(|message| message.refusal.is_some());
        self.tour_event(|event| !is_refused && matches!(event, tour::Event::Ran(known) if *known == id));
    }

    fn run_command(&mut self, id: &'static str, effects: &mut Vec<Effect>) {
        let mut known = false;
        self.with_pane(effects, |pane, cx| known = pane.run(id, cx));
        if known || self.run_custom(id, effects) {
            return;
        }
        if let Some(info) = self.nav.places.iter().find(|info| info.go.is_some_and(|go| go.id == id)) {
            return self.go_named(info.id);
        }
        if let Some(why) = self.global_refusal(id) {
            self.say(Tone::Warning, message::sentence(&why, ""));
        } else if let Some(command) = GLOBAL.iter().find(|command| command.is(id)) {
            let mut cx = Cx::new(self.view_of(), self.nav.here());
            command.run(&mut (), &mut cx);
            for action in cx.actions {
                self.act(action, effects);
            }
        }
    }

    /// Returns an action that asks for confirmation before it runs `action`.
    pub fn confirm(title: &str, question: String, action: Action) -> Action {
        Action::OpenOverlay(Box::new(Confirm::new(title, question, action)))
    }

    /// Returns the wants of the place that is shown.
    fn place_wants(&self) -> Vec<Want> {
        let shown = self.nav.top().filter(|_| !self.server_switch.in_background);
        shown.map(|pane| pane.wants(&self.view_of())).unwrap_or_default()
    }

    /// Returns all wants; `shown` are those of the place that is shown.
    fn wants(&self, mut shown: Vec<Want>) -> Vec<Want> {
        let view = self.view_of();
        let mut wants = self.outbox_wants(&view);
        wants.extend(self.watch_wants(&view));
        if self.server_switch.in_background && wants.is_empty() {
            return wants;
        }
        wants.extend(reconcile::session_wants(&view));
        wants.extend(inbox::want(&view));
        if self.server_switch.in_background {
            return wants;
        }
        for overlay in &self.overlays {
            shown.extend(overlay.wants(&view));
        }
        // Poll less often while the window has no focus; watched jobs are polled as usual.
        if self.input.is_unfocused {
            shown.iter_mut().for_each(|want| want.slow_down(UNFOCUSED_SLOWDOWN));
        }
        if glyph::is_accessible() {
            shown.iter_mut().for_each(Want::stop_polling);
        }
        wants.extend(shown);
        wants
    }
}
