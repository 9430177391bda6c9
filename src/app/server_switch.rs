//! Several servers in one session, with one app each. One app is in front; the others keep their places, finish what
//! the user waits for (writes, downloads, watched jobs), and request nothing else until the user returns to them.
//!
//! A request can name a server other than the current one (`Request::host`). The server is part of the request's key,
//! so age, errors and retries belong to that server and never mix with the current one. `src/runtime/connections.rs`
//! keeps one connection per server, which the first request sets up: the client with its token, and the folder of
//! cached replies. Home requests two lists from every server that has a token. labscope requests nothing else from
//! servers that are not open.
//!
//! Switching to another server creates another app with its own store, saved texts and history
//! (`src/runtime/sessions.rs`). The previous app stays in the background. It keeps its watches and its outbox,
//! finishes its writes and downloads, and its messages appear in the current app with its server's name. Going back
//! past the first place returns to the previous app.

use super::action::{Action, Effect};
use super::message::MessageLog;
use super::overlay::picker::{Item, Picker};
use super::place::Place;
use super::place_info::{self, Subject};
use super::session::{CustomSection, Session};
use super::state::Kept;
use super::tone::Tone;
use super::{App, Setup, target};
use jiff::Timestamp;
use ui::theme::Theme;

/// The state of an app among the apps of other servers.
#[derive(Default)]
pub(super) struct ServerSwitch {
    /// Whether another app is in front.
    pub in_background: bool,
    /// Whether the user has quit, which ends all apps.
    pub is_quitting: bool,
    /// The number of open places each time the app was entered from another server: going back beyond that returns
    /// there.
    entry_depths: Vec<usize>,
    /// The messages posted while the app was in the background.
    messages: Vec<(Tone, String)>,
    /// The error that currently prevents the texts of another server from being written to disk.
    write_error: Option<String>,
}

impl ServerSwitch {
    /// Queues a message, to be shown by the app in front.
    pub fn queue_message(&mut self, tone: Tone, words: String) {
        self.messages.push((tone, words));
    }

    /// Adjusts the recorded numbers after the oldest place was removed from the history.
    pub fn forget_first(&mut self) {
        for depth in &mut self.entry_depths {
            *depth = depth.saturating_sub(1).max(1);
        }
    }
}

/// The state that all apps share, passed from the app in front to the next.
pub struct UiState {
    now: Timestamp,
    size: (u16, u16),
    theme: Theme,
    sections: Vec<CustomSection>,
    messages: MessageLog,
}

impl App {
    /// Returns the state to pass on to another server's app.
    pub fn ui_state(&self) -> UiState {
        // What a project shares is for its own server.
        let sections = self.session.sections.iter().filter(|section| !section.is_shared).cloned().collect();
        let messages = self.messages.log.clone();
        UiState {
            now: self.clock.now(),
            size: self.frame.size,
            theme: self.theme_state.theme.clone(),
            sections,
            messages,
        }
    }

    /// Creates the app of another server with the same user interface state, at `place` or at home.
    pub fn for_server(&self, session: Session, kept: Kept, place: Option<Place>) -> (App, Vec<Effect>) {
        let ui_state = self.ui_state();
        let (mut app, effects) = App::new(Setup {
            registry: self.nav.registry,
            bindings: self.input.bindings.clone(),
            session: Session {
                sections: ui_state.sections,
                columns: self.session.columns.clone(),
                trace_settings: self.session.trace_settings.clone(),
                diff: self.session.diff.clone(),
                refresh: self.session.refresh,
                commands: self.session.commands.clone(),
                templates: self.session.templates.clone(),
                ..session
            },
            theme: self.theme_state.theme.clone(),
            theme_is_chosen: self.theme_state.is_chosen,
            kept,
            shows_key_hints: false,
            place: place.unwrap_or_else(|| place_info::place_of(&self.nav.places, Subject::Home)),
            now: self.clock.now(),
            size: self.frame.size,
        });
        app.messages.log = ui_state.messages;
        (app, effects)
    }

    /// Moves the app to the background; returns the effects to run, and a message about what keeps running.
    pub fn leave(&mut self) -> (Vec<Effect>, Option<String>) {
        self.server_switch.in_background = true;
        // The app in front keeps track of the texts of the others.
        self.server_switch.write_error = None;
        self.input.take_count();
        let mut effects = Vec::new();
        self.send_due(Timestamp::MAX, &mut effects);
        let (saves, watched) = (self.transfers.running().count(), self.watched.len());
        let goes_on = match (saves, watched) {
            (0, 0) => None,
            (_, 0) => Some("its downloads continue"),
            (0, _) => Some("its watched jobs are still watched"),
            _ => Some("its downloads and watched jobs continue"),
        };
        let goes_on = goes_on.map(|what| format!("{}: {what}; you'll be notified here.", self.session.server));
        self.frame.is_unsettled = true;
        effects.extend(self.settle_pending());
        (effects, goes_on)
    }

    /// Brings the app to the front: at `place` if there is one, else as it was. Going back from there returns to the
    /// previous server.
    pub fn enter(&mut self, ui_state: UiState, place: Option<Place>) -> Vec<Effect> {
        self.apply_ui_state(ui_state);
        let mut effects = Vec::new();
        match place {
            Some(place) => {
                self.go(place);
                self.remember(&mut effects);
                self.nav.replace_if_missing = true;
            }
            None if self.nav.panes.is_empty() => self.open(place_info::place_of(&self.nav.places, Subject::Home)),
            None => {}
        }
        self.server_switch.entry_depths.push(self.nav.panes.len().max(1));
        effects.extend(self.refresh_and_settle());
        effects
    }

    /// Brings the app to the front again, as it was, because the user went back to it.
    pub fn come_back(&mut self, ui_state: UiState) -> Vec<Effect> {
        self.apply_ui_state(ui_state);
        self.refresh_and_settle()
    }

    fn apply_ui_state(&mut self, ui_state: UiState) {
        self.server_switch.in_background = false;
        self.clock.follow(ui_state.now);
        self.frame.size = ui_state.size;
        self.theme_state.theme = ui_state.theme;
        let shared = std::mem::replace(&mut self.session.sections, ui_state.sections);
        self.session.sections.extend(shared.into_iter().filter(|section| section.is_shared));
        // Messages from its time in the background have already been shown.
        self.messages.current = None;
        self.messages.log = ui_state.messages;
    }

    fn refresh_and_settle(&mut self) -> Vec<Effect> {
        self.mark_stale();
        self.frame.dirty = true;
        self.frame.is_unsettled = true;
        self.settle_pending()
    }

    /// Returns the messages posted while the app was in the background, with the name of its server.
    pub fn take_messages(&mut self) -> Vec<(Tone, String)> {
        let server = &self.session.server;
        let messages = std::mem::take(&mut self.server_switch.messages);
        messages.into_iter().map(|(tone, words)| (tone, format!("{server}: {words}"))).collect()
    }

    /// Returns the error because of which typed texts are only in memory, if there is one.
    pub fn write_error(&self) -> Option<&String> {
        let drafts = &self.saved.drafts;
        drafts.failure.as_ref().filter(|_| !drafts.is_empty()).or(self.server_switch.write_error.as_ref())
    }

    /// Sets the error because of which the texts of other servers are only in memory.
    pub fn set_other_write_error(&mut self, why: Option<String>) {
        self.server_switch.write_error = why;
    }

    /// Returns whether going back from the current place leads to another server; if so, removes the record of it.
    pub(super) fn pop_server_entry(&mut self) -> bool {
        let out = self.server_switch.entry_depths.last().is_some_and(|depth| self.nav.panes.len() <= *depth);
        if out {
            self.server_switch.entry_depths.pop();
        }
        out
    }

    /// Opens a target on another known server; returns `false` if the target is on none of them.
    pub(super) fn open_on_other_server(&mut self, target: &str, effects: &mut Vec<Effect>) -> bool {
        let others = self.session.others.iter();
        let on = others.filter(|other| target::below(target, other.host.web_url()).is_some());
        // One server may be below the path of another.
        let nearest = on.max_by_key(|other| other.host.web_url().len());
        let Some(host) = nearest.map(|other| other.host.clone()) else { return false };
        match target::parse(&self.nav.places, target, host.web_url()) {
            Ok(place) => effects.push(Effect::SwitchServer(host, Some(place))),
            Err(error) => self.say(Tone::Warning, error.to_string()),
        }
        true
    }

    /// Lists the known servers, to choose one.
    pub(super) fn hosts(&mut self) {
        if self.session.others.is_empty() {
            let how = "add one with labscope auth login --host HOST, or under [hosts] in the configuration";
            return self.say(Tone::Info, format!("No other server configured: {how}."));
        }
        let mut here = Item::act(self.session.server.clone(), Action::Back);
        here.why_not = Some("current server".into());
        let others = self.session.others.iter().map(|other| {
            let note = if other.signed_in { "" } else { "no token: public content only" };
            Item::act(other.host.name(), Action::SwitchServer(other.host.clone(), None)).detail(note)
        });
        let items = std::iter::once(here).chain(others).collect();
        self.overlays.push(Box::new(Picker::new("Servers", items)));
    }
}
