//! Navigation: opening a place, going back, and going forward.
//!
//! A place that is opened again, or a terminal that gets the focus, shows what is in the store, and everything older than
//! ten seconds is requested again (`App::mark_stale`). Why else a list is read again: `Store::due` in `src/store/mod.rs`.
//! If a reply has the same bytes as before, the value, its revision and `since` stay, so nothing derived from it is
//! computed again. Objects named by their SHA never expire.

use super::action::{Action, Effect, InPane};
use super::command_info::{Disabled, Info};
use super::context::{Cx, Here};
use super::overlay::confirm::Confirm;
use super::overlay::picker::Picker;
use super::pane::Pane;
use super::place::Place;
use super::place_info::{self, Needs, PlaceInfo, Subject};
use super::tone::Tone;
use super::view::View;
use super::{App, Entry, quick_open, registry, target};
use api::Id;
use jiff::SignedDuration;
use std::ops::{Deref, DerefMut};

/// The maximum number of places in the history.
const MAX_HISTORY: usize = 100;
/// The maximum age, in seconds, of data that is not fetched again when a place is opened.
const FRESH_SECONDS: i64 = 10;

/// The places, those that are open, and the history.
pub(super) struct Navigation {
    /// The places that there are, and their facts.
    pub registry: &'static [Entry],
    pub places: Vec<PlaceInfo>,
    /// The open panes; the current one is last.
    pub panes: Vec<OpenPane>,
    /// The number of panes that were opened so far.
    opened: u64,
    /// The places to go forward to; the nearest is last.
    pub ahead: Vec<Place>,
    /// Whether the current place was named by a target, so that the nearest existing place replaces it if it is
    /// missing.
    pub replace_if_missing: bool,
    /// The name of the target that the current place replaces.
    pub missing: Option<String>,
}

/// An open pane with its row of the registry.
pub(super) struct OpenPane {
    entry: &'static Entry,
    pane: Box<dyn Pane>,
    /// The rows of its command tables, which every frame needs.
    commands: Vec<Info>,
    pub here: Here,
}

impl OpenPane {
    /// Returns the ID under which the commands of the pane are listed.
    pub fn id(&self) -> &'static str {
        self.entry.commands.id
    }

    /// Returns the rows of its command tables.
    pub fn commands(&self) -> &[Info] {
        &self.commands
    }

    /// Returns whether the command can be run now; `None` if it is not a command of this pane.
    pub fn can(&self, id: &str, view: &View) -> Option<Result<(), Disabled>> {
        self.entry.commands.can(self.pane.as_ref(), id, view)
    }

    /// Runs a command of this pane; returns `false` if it has none with that ID.
    pub fn run(&mut self, id: &str, cx: &mut Cx) -> bool {
        self.entry.commands.run(self.pane.as_mut(), id, cx)
    }

    /// Runs the rest of an action in this pane, if it is the one that it belongs to.
    pub fn resume(&mut self, rest: InPane, cx: &mut Cx) {
        if rest.here == self.here {
            (rest.run)(self.pane.as_mut(), cx);
        }
    }
}

impl Deref for OpenPane {
    type Target = dyn Pane;

    fn deref(&self) -> &(dyn Pane + 'static) {
        self.pane.as_ref()
    }
}

impl DerefMut for OpenPane {
    fn deref_mut(&mut self) -> &mut (dyn Pane + 'static) {
        self.pane.as_mut()
    }
}

impl Navigation {
    pub fn new(registry: &'static [Entry]) -> Navigation {
        let places = registry::places(registry);
        let (panes, ahead) = (Vec::new(), Vec::new());
        Navigation { registry, places, panes, opened: 0, ahead, replace_if_missing: false, missing: None }
    }

    /// Returns the current pane.
    pub fn top(&self) -> Option<&OpenPane> {
        self.panes.last()
    }

    /// Returns the ID of the current pane.
    pub fn id(&self) -> &'static str {
        self.top().map(OpenPane::id).unwrap_or_default()
    }

    /// Returns the current place, to continue there later.
    pub fn here(&self) -> Here {
        self.top().map(|pane| pane.here).unwrap_or_default()
    }

    fn push(&mut self, entry: &'static Entry, pane: Box<dyn Pane>) {
        self.opened += 1;
        self.panes.push(OpenPane { entry, pane, commands: entry.commands.infos(), here: Here(self.opened) });
    }
}

impl App {
    pub(super) fn go(&mut self, place: Place) {
        if self.place() == place {
            return;
        }
        self.nav.ahead.clear();
        self.open(place);
        if self.nav.panes.len() > MAX_HISTORY {
            self.nav.panes.remove(0);
            self.server_switch.forget_first();
        }
    }

    pub(super) fn open(&mut self, place: Place) {
        self.input.keys.clear();
        (self.nav.replace_if_missing, self.nav.missing) = (false, None);
        let Some(entry) = self.nav.registry.iter().find(|entry| entry.place.id == place.pane) else {
            return self.say(Tone::Warning, format!("Unknown place \"{}\".", place.pane));
        };
        // The branch may have changed in a shell; the place leads on, so it must not follow an old one.
        if let (Some(Subject::Branch), Some(clone)) = (entry.place.subject, &mut self.session.clone) {
            clone.head = None;
        }
        let pane = (entry.open)(&place, &self.view_of());
        self.nav.push(entry, pane);
        self.forget_message();
        self.mark_stale();
    }

    /// Marks cached data of the current place as stale if it is old: it is shown at once and fetched again in the
    /// background.
    pub(super) fn mark_stale(&mut self) {
        self.requests.refreshing.clear();
        let wants = self.place_wants();
        let before = self.clock.now().checked_sub(SignedDuration::from_secs(FRESH_SECONDS)).unwrap_or(self.clock.now());
        self.store.invalidate_older(&wants, before);
        self.requests.head.is_current = false;
    }

    pub(super) fn go_named(&mut self, name: &'static str) {
        let Some(info) = place_info::find(&self.nav.places, name).copied() else {
            return self.say(Tone::Warning, format!("Unknown place \"{name}\"."));
        };
        match self.place_named(&info) {
            Ok(place) => {
                self.go(place);
                if info.needs == Needs::Text {
                    self.open_search(true);
                }
            }
            Err(_) if info.needs == Needs::Project => {
                let title = format!("{}: select a project", info.title);
                let source = Box::new(quick_open::ProjectChoice::new(Place::new(info.id)));
                self.overlays.push(Box::new(Picker::of(title, source, &self.view_of())));
            }
            Err(why) => self.say(Tone::Warning, format!("{name}: {why}.")),
        }
    }

    /// Returns the address of the web page of the item under the cursor, with the root by which the server is reached: behind
    /// a proxy, a server may name itself with another scheme.
    pub(super) fn web_page(&self) -> Option<String> {
        let url = self.nav.top()?.url(&self.view_of())?;
        let root = self.session.web_url.trim_end_matches('/');
        Some(target::below(&url, root).map_or(url, |path| format!("{root}{path}")))
    }

    /// Returns the place of the item under the cursor.
    fn under_cursor(&self) -> Option<Place> {
        let url = self.nav.top()?.url(&self.view_of())?;
        target::parse(&self.nav.places, &url, &self.session.web_url).ok()
    }

    /// Returns the group under the cursor, or the group of the current place.
    fn current_group(&self) -> Option<Id> {
        let here = self.place();
        match self.under_cursor() {
            _ if here.project.is_some() => None,
            Some(place) if place.project.is_some() => None,
            Some(place) => place.group.or(here.group),
            None => here.group,
        }
    }

    /// Returns the project of the item under the cursor, else the one opened last.
    pub(super) fn current_project(&self) -> Option<Id> {
        let open = self.nav.panes.iter().rev().find_map(|pane| pane.place().project);
        let recent = || self.saved.state.recents.places.iter().find_map(|place| place.project.clone());
        self.under_cursor().and_then(|place| place.project).or(open).or_else(recent)
    }

    /// Returns the current place; if that is not in a project, with the project that is the current one.
    pub(super) fn place_in_project(&self) -> Place {
        let here = self.place();
        let project = here.project.clone().or_else(|| self.current_project());
        Place { project, ..here }
    }

    /// Returns the place that a bare name refers to here.
    pub(super) fn place_named(&self, info: &PlaceInfo) -> Result<Place, String> {
        let here = self.place();
        let mut place = Place::new(info.id);
        if info.is_of_groups()
            && let Some(group) = self.current_group()
        {
            return Ok(place.group(group));
        }
        match info.needs {
            Needs::Nothing | Needs::Text => {
                // A place that can be restricted to one project shows the current one.
                place.project = here.project;
                place.group = here.group.filter(|_| info.needs == Needs::Text && place.project.is_none());
                Ok(place)
            }
            Needs::Project => match here.project {
                Some(project) => {
                    place.project = Some(project);
                    place.git_ref = here.git_ref;
                    Ok(place)
                }
                None => {
                    let project = self.current_project().ok_or("select a project first")?;
                    Ok(place.project(project))
                }
            },
            Needs::Item => Err("open it from its list".into()),
        }
    }

    /// Goes back; at the topmost place, asks whether to quit if `asks` is set.
    pub(super) fn back(&mut self, asks: bool, effects: &mut Vec<Effect>) {
        if self.pop_server_entry() {
            return effects.push(Effect::SwitchBack);
        }
        if self.nav.panes.len() > 1 {
            if let Some(pane) = self.nav.panes.pop() {
                self.nav.ahead.push(pane.place());
            }
            self.input.keys.clear();
            self.nav.replace_if_missing = false;
            self.forget_message();
            self.mark_stale();
            return;
        }
        // The first place may have been named by a target: the place above it comes next.
        match place_info::above(&self.nav.places, &self.place()) {
            Some(above) => {
                self.nav.panes.clear();
                self.open(above);
            }
            None if asks => {
                let question = Confirm::new("Quit", "Quit labscope?", Action::Quit).by_enter_or('q');
                self.overlays.push(Box::new(question));
            }
            None => self.say(Tone::Info, "Nothing to go back to (‹quit› quits).".to_owned()),
        }
    }

    /// Leaves the innermost mode, else goes back. With `is_esc` (Esc), a running transfer is stopped before going back;
    /// without it (`q`), the first place asks whether to quit.
    pub(super) fn escape(&mut self, is_esc: bool, effects: &mut Vec<Effect>) {
        let mut done = false;
        self.with_pane(effects, |pane, cx| done = pane.escape(cx));
        let running = self.transfers.running().next_back().map(|t| t.number);
        match running.filter(|_| is_esc && !done) {
            Some(number) => self.stop_transfer(number, effects),
            None if !done => self.back(!is_esc, effects),
            None => {}
        }
    }
}
