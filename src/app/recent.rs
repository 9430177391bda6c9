//! Recent places, and pins of projects.

use super::App;
use super::action::{Action, Effect};
use super::context::Cx;
use super::place::Place;
use super::place_info::{self, PlaceInfo, Subject};
use super::route::is_name;
use super::state::{RecentsChange, SettingsChange, StateChange};
use super::tone::Tone;
use api::endpoint::decode;
use api::projects::GetProject;
use api::{Endpoint, Id, Request};

/// Pins or unpins a project, and reports it in the footer.
pub fn toggle_pin(cx: &mut Cx, path: &str) {
    let pinned = !cx.view.settings.pinned_projects.iter().any(|known| known == path);
    cx.act(Action::Settings(SettingsChange::Pin { project: path.to_owned(), pinned }));
    cx.say(Tone::Good, format!("{} {path}", if pinned { "Pinned:" } else { "Unpinned:" }));
}

/// Returns whether a place is kept as a recent one: the files of a project, or a single item.
pub fn belongs_in_recents(places: &[PlaceInfo], place: &Place) -> bool {
    match place_info::subject(places, place) {
        Some(Subject::Project) => place.project.is_some(),
        None | Some(Subject::Home | Subject::Branch | Subject::Group | Subject::User) => false,
        Some(_) => place.item.is_some(),
    }
}

impl App {
    /// Adds the current place to the recent ones.
    pub(super) fn remember(&mut self, effects: &mut Vec<Effect>) {
        self.update_recents(true, effects);
    }

    /// Removes the current place, which does not exist, from the recent ones.
    pub(super) fn forget(&mut self, effects: &mut Vec<Effect>) {
        self.update_recents(false, effects);
    }

    /// Adds the current place to the recent ones, or removes it. Does nothing until the signed-in account is known, so
    /// that no other account's list is changed.
    fn update_recents(&mut self, exists: bool, effects: &mut Vec<Effect>) {
        let here = self.place();
        let project = here.project.as_ref().map(|id| self.current_path(id).unwrap_or_else(|| id.clone()));
        let place = Place { tab: None, line: None, query: None, project, ..here };
        if !belongs_in_recents(&self.nav.places, &place) || self.session.signed_in && !self.saved.has_owner() {
            return;
        }
        let change = if exists { RecentsChange::Visit(place) } else { RecentsChange::Forget(place) };
        self.saved.change(&StateChange::Recents(change), effects);
    }

    /// Returns the path of a project that was moved since its path `id` was saved, if it is loaded.
    fn current_path(&self, id: &Id) -> Option<Id> {
        let query = GetProject::new(id);
        let path = &self.store.get(&query).value?.path_with_namespace;
        let is_path = path.contains('/') && path.split('/').all(is_name);
        (is_path && id.number().is_none() && path != id.as_str()).then(|| Id::from(path.as_str()))
    }

    /// Renames a project in the recent places and the pins, if the reply to `request` says that it was moved.
    pub(super) fn rename_moved_project(&mut self, request: &Request, effects: &mut Vec<Effect>) {
        let is_project = GetProject::ROUTES.iter().any(|route| route.path == request.route);
        if !is_project || !request.is_read() || request.host.is_some() {
            return;
        }
        let Some(from) = request.path.strip_prefix("/projects/").map(|path| Id::from(decode(path))) else { return };
        let Some(to) = self.current_path(&from).filter(|_| !self.session.signed_in || self.saved.has_owner()) else {
            return;
        };
        let (from, to) = (from.to_string(), to.to_string());
        let recents = RecentsChange::Rename { from: from.clone(), to: to.clone() };
        self.saved.change(&StateChange::Recents(recents), effects);
        self.saved.change(&StateChange::Settings(SettingsChange::Rename { from, to }), effects);
    }
}
