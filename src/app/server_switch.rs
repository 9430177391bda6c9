//! Several servers in one session, with one app each. One app is in front; the others keep their places, finish what
//! the user waits for (writes, downloads, watched jobs), and request nothing else until the user returns to them.

use super::action::{Action, Effect, Tone};
use super::overlay::picker::{Item, Picker};
use super::pane::Section;
use super::registry::{self, Subject};
use super::state::Kept;
use super::{App, Place, Session, Setup, target};
use crate::ui::theme::Theme;
use jiff::Timestamp;

/// The state of an app among the apps of other servers.
#[derive(Default)]
pub(super) struct ServerSwitch {
    /// Whether another app is in front.
    pub away: bool,
    /// The number of open places each time the app was entered from another server: going back beyond that returns
    /// there.
    doors: Vec<usize>,
    /// The messages posted while the app was in the background.
    messages: Vec<(Tone, String)>,
    /// The error that currently prevents the texts of another server from being written to disk.
    unkept: Option<String>,
}

impl ServerSwitch {
    /// Queues a message, to be shown by the app in front.
    pub fn tell(&mut self, tone: Tone, words: String) {
        self.messages.push((tone, words));
    }

    /// Adjusts the recorded numbers after the oldest place was removed from the history.
    pub fn forget_first(&mut self) {
        for door in &mut self.doors {
            *door = door.saturating_sub(1).max(1);
        }
    }
}

/// The state that all apps share, passed from the app in front to the next.
pub struct UiState {
    now: Timestamp,
    size: (u16, u16),
    theme: Theme,
    sections: Vec<Section>,
}

impl App {
    /// Returns the state to pass on to another server's app.
    pub fn manner(&self) -> UiState {
        let sections = self.session.sections.clone();
        UiState { now: self.now, size: self.size, theme: self.theme.clone(), sections }
    }

    /// Creates the app of another server with the same user interface state, at `place` or at home.
    pub fn beside(&self, session: Session, kept: Kept, place: Option<Place>) -> (App, Vec<Effect>) {
        App::new(Setup {
            registry: self.registry,
            bindings: self.bindings.clone(),
            session: Session {
                sections: self.session.sections.clone(),
                reading: self.session.reading.clone(),
                commands: self.session.commands.clone(),
                ..session
            },
            theme: self.theme.clone(),
            theme_is_chosen: self.theme_is_chosen,
            kept,
            greets: false,
            place: place.unwrap_or_else(|| registry::place_of(self.registry, Subject::Home)),
            now: self.now,
            size: self.size,
        })
    }

    /// Moves the app to the background; returns the effects to run, and a message about what keeps running.
    pub fn leave(&mut self) -> (Vec<Effect>, Option<String>) {
        self.elsewhere.away = true;
        // The app in front keeps track of the texts of the others.
        self.elsewhere.unkept = None;
        self.presses.keys.clear();
        let (saves, watched) = (self.transfers.running().count(), self.watched.len());
        let goes_on = match (saves, watched) {
            (0, 0) => None,
            (_, 0) => Some("its downloads continue"),
            (0, _) => Some("its watched jobs stay watched"),
            _ => Some("its downloads and watched jobs continue"),
        };
        let goes_on = goes_on.map(|what| format!("{}: {what}; you'll be notified here.", self.session.server));
        self.unsettled = true;
        (self.rest(), goes_on)
    }

    /// Brings the app to the front: at `place` if there is one, else as it was. Going back from there returns to the
    /// previous server.
    pub fn enter(&mut self, manner: UiState, place: Option<Place>) -> Vec<Effect> {
        self.take_over(manner);
        let mut effects = Vec::new();
        match place {
            Some(place) => {
                self.go(place);
                self.remember(&mut effects);
                self.nav.named = true;
            }
            None if self.nav.panes.is_empty() => self.open(registry::place_of(self.registry, Subject::Home)),
            None => {}
        }
        self.elsewhere.doors.push(self.nav.panes.len().max(1));
        effects.extend(self.settled_in());
        effects
    }

    /// Brings the app to the front again, as it was, because the user went back to it.
    pub fn come_back(&mut self, manner: UiState) -> Vec<Effect> {
        self.take_over(manner);
        self.settled_in()
    }

    fn take_over(&mut self, manner: UiState) {
        self.elsewhere.away = false;
        (self.now, self.size) = (manner.now, manner.size);
        (self.theme, self.session.sections) = (manner.theme, manner.sections);
        // Messages from its time in the background have already been shown.
        self.message = None;
    }

    fn settled_in(&mut self) -> Vec<Effect> {
        self.look_again();
        self.dirty = true;
        self.unsettled = true;
        self.rest()
    }

    /// Returns the messages posted while the app was in the background, with the name of its server.
    pub fn take_messages(&mut self) -> Vec<(Tone, String)> {
        let server = &self.session.server;
        let messages = std::mem::take(&mut self.elsewhere.messages);
        messages.into_iter().map(|(tone, words)| (tone, format!("{server}: {words}"))).collect()
    }

    /// Returns the error because of which typed texts are only in memory, if there is one.
    pub fn at_risk(&self) -> Option<&String> {
        self.saved.failure.as_ref().filter(|_| !self.saved.drafts.is_empty()).or(self.elsewhere.unkept.as_ref())
    }

    /// Sets the error because of which the texts of other servers are only in memory.
    pub fn set_risk_elsewhere(&mut self, why: Option<String>) {
        self.elsewhere.unkept = why;
    }

    /// Returns whether going back from the current place leads to another server; if so, removes the record of it.
    pub(super) fn goes_out(&mut self) -> bool {
        let out = self.elsewhere.doors.last().is_some_and(|door| self.nav.panes.len() <= *door);
        if out {
            self.elsewhere.doors.pop();
        }
        out
    }

    /// Opens a target on another known server; returns `false` if the target is on none of them.
    pub(super) fn go_elsewhere(&mut self, target: &str, effects: &mut Vec<Effect>) -> bool {
        let others = self.session.others.iter();
        let on = others.filter(|other| target::below(target, other.host.web_url()).is_some());
        // One server may be below the path of another.
        let nearest = on.max_by_key(|other| other.host.web_url().len());
        let Some(host) = nearest.map(|other| other.host.clone()) else { return false };
        match target::parse(self.registry, target, host.web_url()) {
            Ok(place) => effects.push(Effect::Elsewhere(host, Some(place))),
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
        here.why_not = Some("you are here".into());
        let others = self.session.others.iter().map(|other| {
            let note = if other.signed_in { "" } else { "no token: public content only" };
            Item::act(other.host.name(), Action::Elsewhere(other.host.clone(), None)).detail(note)
        });
        let items = std::iter::once(here).chain(others).collect();
        self.overlays.push(Box::new(Picker::new("Servers", items)));
    }
}
