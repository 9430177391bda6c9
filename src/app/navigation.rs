//! The places that are open: going to one, back, and forward again.

use super::action::{Action, Effect, Tone};
use super::overlay::picker::Picker;
use super::registry::Entry;
use super::{AnyPane, App, Needs, Place, quick_open, registry, target};
use crate::api::Id;
use jiff::SignedDuration;

/// Places that are kept to go back to.
const HISTORY: usize = 100;
/// How old what is known may be, in seconds, for a place that is opened not to ask for it again.
const FRESH: i64 = 10;

/// The way to the place at hand.
#[derive(Default)]
pub(super) struct Navigation {
    /// The place at hand stands last.
    pub panes: Vec<Box<dyn AnyPane>>,
    /// Places gone back from, nearest last.
    pub ahead: Vec<Place>,
    /// Whether the place at hand was named by a target, so that a missing one gives way to the nearest.
    pub named: bool,
}

impl Navigation {
    /// The place at hand.
    pub fn top(&self) -> Option<&dyn AnyPane> {
        self.panes.last().map(Box::as_ref)
    }

    /// The name of the place at hand in the registry.
    pub fn id(&self) -> &'static str {
        self.top().map(|pane| pane.id()).unwrap_or_default()
    }
}

impl App {
    pub(super) fn go(&mut self, place: Place) {
        if self.place() == place {
            return;
        }
        self.nav.ahead.clear();
        self.open(place);
        if self.nav.panes.len() > HISTORY {
            self.nav.panes.remove(0);
            self.elsewhere.forget_first();
        }
    }

    pub(super) fn open(&mut self, place: Place) {
        self.presses.keys.clear();
        self.nav.named = false;
        let Some(entry) = registry::find(self.registry, &place.pane) else {
            return self.say(Tone::Warning, format!("There is no place called \"{}\".", place.pane));
        };
        let pane = (entry.open)(&place, &self.view_of());
        self.nav.panes.push(pane);
        self.forget_message();
        self.look_again();
    }

    /// What was known of the place at hand is shown at once; what of it is old is asked for again behind that.
    pub(super) fn look_again(&mut self) {
        self.refreshing.clear();
        let wants = self.nav.top().map(|pane| pane.wants(&self.view_of())).unwrap_or_default();
        let before = self.now.checked_sub(SignedDuration::from_secs(FRESH)).unwrap_or(self.now);
        self.store.outdate(&wants, before);
    }

    pub(super) fn go_named(&mut self, name: &'static str) {
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

    /// The place of what is under the cursor.
    fn under_cursor(&self) -> Option<Place> {
        let url = self.nav.top()?.url(&self.view_of())?;
        target::parse(self.registry, &url, &self.session.web_url).ok()
    }

    /// The group under the cursor, or the one whose place is open.
    fn group_at_hand(&self) -> Option<Id> {
        let here = self.place();
        match self.under_cursor() {
            _ if here.project.is_some() => None,
            Some(place) if place.project.is_some() => None,
            Some(place) => place.group.or(here.group),
            None => here.group,
        }
    }

    /// The project of what is under the cursor, else the one that was open last.
    pub(super) fn project_at_hand(&self) -> Option<Id> {
        let open = self.nav.panes.iter().rev().find_map(|pane| pane.place().project);
        let recent = || self.saved.state.recents.places.iter().find_map(|place| place.project.clone());
        self.under_cursor().and_then(|place| place.project).or(open).or_else(recent)
    }

    /// The place that a bare name means here.
    pub(super) fn place_named(&self, entry: &Entry) -> Result<Place, String> {
        let here = self.place();
        let mut place = Place::new(entry.id);
        if entry.is_of_groups()
            && let Some(group) = self.group_at_hand()
        {
            return Ok(place.group(group));
        }
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
    pub(super) fn back(&mut self, asks: bool, effects: &mut Vec<Effect>) {
        if self.goes_out() {
            return effects.push(Effect::Return);
        }
        if self.nav.panes.len() > 1 {
            if let Some(pane) = self.nav.panes.pop() {
                self.nav.ahead.push(pane.place());
            }
            self.presses.keys.clear();
            self.nav.named = false;
            self.forget_message();
            self.look_again();
            return;
        }
        // The first place may have been named by a target: what is nearest above it is behind it.
        match registry::above(self.registry, &self.place()) {
            Some(above) => {
                self.nav.panes.clear();
                self.open(above);
            }
            None if asks => self.act(App::confirm("Quit", "Quit labscope?".into(), Action::Quit), effects),
            None => {
                let quit = self.bindings.first("quit").to_owned();
                self.say(Tone::Info, format!("Nothing to go back to ({quit} quits)."));
            }
        }
    }

    /// Undoes the innermost thing that is on, else goes back. `halt`, which is Esc, stops what is being saved before
    /// one goes back; `q` asks to quit at the first place.
    pub(super) fn escape(&mut self, halt: bool, effects: &mut Vec<Effect>) {
        let mut done = false;
        self.with_pane(effects, |pane, cx| done = pane.escape(cx));
        let running = self.transfers.running().next_back().map(|t| t.number);
        match running.filter(|_| halt && !done) {
            Some(number) => self.stop_save(number, effects),
            None if !done => self.back(!halt, effects),
            None => {}
        }
    }
}
