//! The places that one was at lately, kept for the account at hand; and the projects that one pinned.

use super::App;
use super::action::{Action, Effect, Tone};
use super::pane::{Cx, View};
use super::place::Place;
use super::registry::{self, Entry, Thing};

/// Under which the places are kept.
const PLACES: &str = "recent places";
/// Under which pinned projects are kept.
const PINNED: &str = "pinned projects";
/// Places that are kept.
const MOST: usize = 20;

/// The places, newest first.
pub fn places(view: &View) -> Vec<Place> {
    view.drafts.get(PLACES).and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
}

/// The full paths of pinned projects, in the order in which they were pinned.
pub fn pinned(view: &View) -> Vec<String> {
    let text = view.drafts.get(PINNED).map(String::as_str).unwrap_or_default();
    text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

/// The kept texts behind both: where they are the same, places and pins are.
pub fn text(view: &View) -> String {
    let kept = |key: &str| view.drafts.get(key).map(String::as_str).unwrap_or_default();
    format!("{}\n{}", kept(PLACES), kept(PINNED))
}

/// Pins a project, or takes the pin away, and says so.
pub fn pin(cx: &mut Cx, path: &str) {
    let mut all = pinned(&cx.view);
    let at = all.iter().position(|known| known == path);
    match at {
        Some(at) => _ = all.remove(at),
        None => all.push(path.to_owned()),
    }
    cx.act(Action::Keep(PINNED.into(), Some(all.join("\n")).filter(|text| !text.is_empty())));
    cx.say(Tone::Good, format!("{} {path}", if at.is_some() { "No longer pinned:" } else { "Pinned:" }));
}

/// Whether a place is one to come back to: a thing, or a file.
fn is_worth_it(panes: &[Entry], place: &Place) -> bool {
    match registry::thing(panes, place) {
        Some(Thing::Project) => place.project.is_some(),
        None | Some(Thing::Home | Thing::Group | Thing::User) => false,
        Some(_) => place.item.is_some(),
    }
}

impl App {
    /// Remembers the place at hand.
    pub(super) fn remember(&mut self, effects: &mut Vec<Effect>) {
        self.note_place(true, effects);
    }

    /// Forgets the place at hand, which does not exist.
    pub(super) fn forget(&mut self, effects: &mut Vec<Effect>) {
        self.note_place(false, effects);
    }

    /// Until it is known who is here, nobody's list is touched.
    fn note_place(&mut self, exists: bool, effects: &mut Vec<Effect>) {
        let place = Place { tab: None, line: None, query: None, ..self.place() };
        if !is_worth_it(self.registry, &place) || self.session.signed_in && !self.account_is_known {
            return;
        }
        let known = places(&self.view_of());
        let mut all: Vec<Place> = known.iter().filter(|known| **known != place).cloned().collect();
        if exists {
            all.insert(0, place);
        }
        all.truncate(MOST);
        if all == known {
            return;
        }
        if let Ok(text) = serde_json::to_string(&all) {
            self.keep(PLACES.into(), Some(text), effects);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::panes::PANES;

    #[test]
    fn things_and_files_are_worth_coming_back_to_and_lists_are_not() {
        assert!(is_worth_it(PANES, &Place::new("mr").project("a/b").item(1)));
        assert!(is_worth_it(PANES, &Place::new("files").project("a/b")));
        assert!(!is_worth_it(PANES, &Place::new("snippets").project("a/b")));
        assert!(!is_worth_it(PANES, &Place::new("projects")));
    }

    #[test]
    fn a_place_is_kept_and_read_whole() {
        let place = Place::new("files").project("a/b").at("main").path("src/x");
        let text = serde_json::to_string(&[&place]).expect("JSON");
        assert_eq!(serde_json::from_str::<Vec<Place>>(&text).expect("places"), [place]);
    }
}
