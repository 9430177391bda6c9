//! A tour: steps that the person takes in the places themselves, each with what to press in the last line.
//!
//! The steps are a table of the session. What happens is matched against what a step waits for: commands that ran, writes
//! that succeeded, and places that were opened. In accessible mode, the last line has no hints, so they are messages.

use super::App;
use super::tone::Tone;
use super::view::View;
use ui::{glyph, text};

/// A step of a tour.
#[derive(Debug)]
pub struct TourStep {
    /// The task, as a command.
    pub title: &'static str,
    /// The keys to press, in words. The first hint that fits the place is shown.
    pub hints: &'static [Hint],
    /// The events that complete it: all of each list, in its order.
    pub done: &'static [&'static [Event]],
}

/// The keys to press, with names of commands in their place.
#[derive(Debug)]
pub struct Hint {
    pub at: Situation,
    pub says: &'static str,
}

/// The situation that a hint is for.
#[derive(Clone, Copy, Debug)]
pub enum Situation {
    Anywhere,
    /// A place, by its name.
    Place(&'static str),
    /// A tab of a place, by its title in lower case.
    Tab(&'static str, &'static str),
    /// A place in which something has happened in this step.
    After(&'static str, Event),
}

/// An event that a step can wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A command was run.
    Ran(&'static str),
    /// A write succeeded: its method, and the end of its route.
    Sent(&'static str, &'static str),
    /// A place was left for another one; an empty name is any place.
    Went(&'static str, &'static str),
}

/// The progress of a tour.
#[derive(Debug, Default)]
pub(super) struct Tour {
    /// The index of the step.
    at: usize,
    /// The events of the step so far that it waits for.
    happened: Vec<Event>,
    /// The name of the place at the last event.
    place: String,
    /// The hint that was said last in accessible mode.
    said: String,
}

impl Tour {
    fn is_done(&self, step: &TourStep) -> bool {
        step.done.iter().all(|events| {
            let mut happened = self.happened.iter();
            events.iter().all(|event| happened.any(|known| known == event))
        })
    }
}

impl App {
    /// Starts the tour of the session at its first step.
    pub fn start_tour(&mut self) {
        if !self.session.tour.is_empty() {
            self.tour = Some(Tour { place: self.place().pane, ..Tour::default() });
            self.messages.current = None;
            self.frame.dirty = true;
        }
    }

    pub(super) fn toggle_tour(&mut self) {
        match (self.tour.take(), self.session.tour) {
            (Some(_), _) => self.say(Tone::Info, "Left the tour; ‹tour› starts it again".to_owned()),
            (None, []) => self.say(Tone::Info, "The tour is in the demo: labscope demo --tour".to_owned()),
            (None, _) => self.start_tour(),
        }
    }

    /// Records an event that the step waits for.
    pub(super) fn tour_event(&mut self, is: impl Fn(&Event) -> bool) {
        let Some(tour) = &mut self.tour else { return };
        let Some(step) = self.session.tour.get(tour.at) else { return };
        let of_hint = |hint: &'static Hint| match &hint.at {
            Situation::After(_, event) => Some(event),
            _ => None,
        };
        let events = step.done.iter().copied().flatten().chain(step.hints.iter().filter_map(of_hint));
        for event in events.filter(|event| is(event)) {
            // An event of several lists counts once.
            if tour.happened.last() != Some(event) {
                tour.happened.push(*event);
            }
        }
    }

    /// Goes on to the next step once this one is done.
    pub(super) fn advance_tour(&mut self) {
        let Some(tour) = &mut self.tour else { return };
        let now = self.nav.top().map(|pane| pane.place().pane).unwrap_or_default();
        if tour.place != now {
            let before = std::mem::replace(&mut tour.place, now.clone());
            let fits = |pattern: &str, place: &str| pattern.is_empty() || pattern == place;
            self.tour_event(|event| matches!(event, Event::Went(from, to) if fits(from, &before) && fits(to, &now)));
        }
        let Some(tour) = &mut self.tour else { return };
        let Some(step) = self.session.tour.get(tour.at) else { return };
        if tour.is_done(step) {
            tour.at += 1;
            tour.happened.clear();
            self.frame.dirty = true;
            if tour.at == self.session.tour.len() {
                self.tour = None;
                return self.say(Tone::Good, "That was the tour. ‹help› shows the keys of every place.".to_owned());
            }
        }
        if glyph::is_accessible() && !self.is_message_new() {
            let words = self.tour_words(&self.view_of(), usize::MAX).unwrap_or_default();
            if self.tour.as_ref().is_some_and(|tour| tour.said != words) {
                self.say(Tone::Info, words.clone());
                self.tour = self.tour.take().map(|tour| Tour { said: words, ..tour });
            }
        }
    }

    /// Returns the step and what to press, at most `width` columns wide if possible; `None` without a tour.
    pub(super) fn tour_words(&self, view: &View, width: usize) -> Option<String> {
        let tour = self.tour.as_ref()?;
        let step = self.session.tour.get(tour.at)?;
        let place = self.place();
        let fits = |hint: &&Hint| match hint.at {
            Situation::Anywhere => true,
            Situation::Place(pane) => place.pane == *pane,
            Situation::Tab(pane, tab) => place.pane == *pane && place.tab.as_deref() == Some(tab),
            Situation::After(pane, event) => place.pane == *pane && tour.happened.contains(&event),
        };
        let hint = view.with_keys(step.hints.iter().find(fits).map_or("", |hint| hint.says));
        let number = format!("{}/{}", tour.at + 1, self.session.tour.len());
        let whole = format!("Tour {number}, {}: {hint}", step.title);
        Some(if text::width(&whole) <= width { whole } else { format!("{number} {hint}") })
    }
}
