//! State that outlives the program, besides typed texts: settings, recent places and what was seen, each a bounded
//! struct with one file per account.
//!
//! There are three: `Settings` (columns, pins, diff layout), `Recents` (places, files, open folders) and `Seen` (merge
//! requests as you last saw them, viewed files). They are bounded and versioned. Panes read them in `View` and change
//! them with `Action::Settings`, `Action::Recents` and `Action::Seen`. The journal writes one file of each per server
//! and account, off the loop. `src/runtime/state_files.rs` reads them at startup and sets unreadable files aside as
//! `.bak`. Typed texts are apart (`src/app/texts.rs`): comments are parsed once, when they are read, and a text that
//! cannot be parsed is left as it is.

use super::place::Place;
use api::json;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use ui::diff::Layout;

/// The version of the file format.
const VERSION: u64 = 1;
/// The maximum number of lists whose columns are kept.
const MAX_LISTS: usize = 200;
/// The maximum number of pinned projects.
const MAX_PINS: usize = 1000;
/// The maximum number of recent places.
const MAX_PLACES: usize = 20;
/// The maximum number of projects whose open folders and recent files are kept.
const MAX_PROJECTS: usize = 50;
/// The maximum number of open folders, and of recent files, kept for a project.
pub const MAX_PATHS: usize = 60;
/// The maximum number of merge requests whose last seen state is kept.
const MAX_SEEN: usize = 2000;
/// The maximum number of viewed files, of all changes together.
const MAX_VIEWED: usize = 20_000;

/// Everything that was saved before the start.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Kept {
    /// The account that was signed in last; empty if that is not known.
    pub account: String,
    /// The typed texts, by key on disk.
    pub texts: HashMap<String, String>,
    /// The state of each account; the name is empty for the state without an owner.
    pub states: HashMap<String, AccountState>,
}

/// The state of an account.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AccountState {
    pub settings: Arc<Settings>,
    pub recents: Arc<Recents>,
    pub seen: Arc<Seen>,
}

/// One of the files of a state, to be written in the background.
#[derive(Clone, Debug, PartialEq)]
pub enum StateFile {
    Settings(Arc<Settings>),
    Recents(Arc<Recents>),
    Seen(Arc<Seen>),
}

/// A change of the state.
#[derive(Clone, Debug, PartialEq)]
pub enum StateChange {
    Settings(SettingsChange),
    Recents(RecentsChange),
    Seen(SeenChange),
}

/// The settings of the user.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// The columns of lists, by the name of the place.
    pub columns: BTreeMap<String, ColumnChoice>,
    /// Full paths of projects, in the order in which they were pinned.
    pub pinned_projects: Vec<String>,
    /// The layout of diffs.
    pub diff: DiffSettings,
    /// Whether the first keys have been shown.
    pub greeted: bool,
}

/// The layout of diffs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DiffSettings {
    /// The layout; `None` to let the width decide.
    pub layout: Option<Layout>,
    /// Whether long lines are wrapped; `None` to wrap only those that are side by side.
    pub wraps: Option<bool>,
}

/// The columns chosen for a list, by name, so that the choice stays valid when a later version has other columns.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ColumnChoice {
    /// The visible columns, left to right.
    pub columns: Vec<String>,
    /// The column to sort by; `None` for the order of the server.
    pub order: Option<String>,
    /// Whether the largest comes first.
    pub down: bool,
}

impl ColumnChoice {
    /// Advances the order by the column `name`: `down` first, then the other direction, then the order of the server.
    pub fn turn(&mut self, name: &str, down: bool) {
        match self.order.as_deref() == Some(name) {
            false => (self.order, self.down) = (Some(name.to_owned()), down),
            true if self.down == down => self.down = !down,
            true => (self.order, self.down) = (None, false),
        }
    }

    /// Hides the column `name`, or shows it where it is among `all` columns.
    pub fn toggle<'a>(&mut self, name: &str, all: impl IntoIterator<Item = &'a str>) {
        match self.columns.iter().position(|column| column == name) {
            // At least one column stays visible.
            Some(_) if self.columns.len() == 1 => {}
            Some(at) => _ = self.columns.remove(at),
            None => {
                let before = all.into_iter().take_while(|column| *column != name);
                let last = before.filter_map(|before| self.columns.iter().position(|column| column == before)).max();
                self.columns.insert(last.map_or(0, |last| last + 1), name.to_owned());
            }
        }
    }
}

/// A change of the settings.
#[derive(Clone, Debug, PartialEq)]
pub enum SettingsChange {
    /// Sets the columns of a place; `None` resets them.
    Columns { place: String, choice: Option<ColumnChoice> },
    /// Pins or unpins a project, by its full path.
    Pin { project: String, pinned: bool },
    /// Renames a project that was moved, by its full paths.
    Rename { from: String, to: String },
    /// Sets the layout of diffs.
    Diff(DiffSettings),
    /// Records that the first keys have been shown.
    Greeted,
}

impl Settings {
    fn apply(&mut self, change: &SettingsChange) -> bool {
        match change {
            SettingsChange::Columns { place, choice: Some(choice) } => {
                self.columns.insert(place.clone(), choice.clone()).as_ref() != Some(choice)
            }
            SettingsChange::Columns { place, choice: None } => self.columns.remove(place).is_some(),
            SettingsChange::Pin { project, pinned } => {
                let was_pinned = self.pinned_projects.contains(project);
                match (pinned, was_pinned) {
                    (true, false) => self.pinned_projects.push(project.clone()),
                    (false, true) => self.pinned_projects.retain(|known| known != project),
                    _ => {}
                }
                *pinned != was_pinned
            }
            SettingsChange::Rename { from, to } => {
                let is_pinned = self.pinned_projects.contains(to);
                let Some(pin) = self.pinned_projects.iter_mut().find(|known| *known == from) else { return false };
                match is_pinned {
                    true => self.pinned_projects.retain(|known| known != from),
                    false => pin.clone_from(to),
                }
                true
            }
            SettingsChange::Diff(diff) => std::mem::replace(&mut self.diff, *diff) != *diff,
            SettingsChange::Greeted => !std::mem::replace(&mut self.greeted, true),
        }
    }

    fn absorb(&mut self, later: &Settings) {
        self.columns.extend(later.columns.clone());
        for project in &later.pinned_projects {
            self.apply(&SettingsChange::Pin { project: project.clone(), pinned: true });
        }
        if later.diff != DiffSettings::default() {
            self.diff = later.diff;
        }
        self.greeted |= later.greeted;
    }

    fn prune(&mut self) {
        while self.columns.len() > MAX_LISTS {
            self.columns.pop_last();
        }
        let excess = self.pinned_projects.len().saturating_sub(MAX_PINS);
        self.pinned_projects.drain(..excess);
    }
}

/// The recent places and projects.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Recents {
    /// The places, newest first.
    pub places: Vec<Place>,
    /// The projects whose files were open, newest first.
    pub projects: Vec<RecentProject>,
}

/// The open folders and recent files of a project.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RecentProject {
    /// The project, by ID or full path.
    pub project: String,
    /// The paths of the open folders.
    pub open_folders: Vec<String>,
    /// The paths of recent files, newest first.
    pub files: Vec<String>,
}

/// A change of the recent places and projects.
#[derive(Clone, Debug, PartialEq)]
pub enum RecentsChange {
    /// Moves a place to the front.
    Visit(Place),
    /// Removes a place that does not exist.
    Forget(Place),
    /// Renames a project that was moved, by its full paths.
    Rename { from: String, to: String },
    /// Replaces the open folders of a project.
    OpenFolders { project: String, folders: Vec<String> },
    /// Moves a file of a project to the front.
    OpenFile { project: String, path: String },
}

impl Recents {
    /// Returns the open folders and recent files of a project.
    pub fn project(&self, project: &str) -> Option<&RecentProject> {
        self.projects.iter().find(|known| known.project == project)
    }

    /// Changes the entry of a project and moves it to the front; returns whether that changed anything.
    fn change_project(&mut self, project: &str, change: impl FnOnce(&mut RecentProject)) -> bool {
        let at = self.projects.iter().position(|known| known.project == project);
        let before = at.map(|at| self.projects.remove(at));
        let mut entry = before.clone().unwrap_or(RecentProject { project: project.to_owned(), ..Default::default() });
        change(&mut entry);
        let changed = at != Some(0) || before.as_ref() != Some(&entry);
        self.projects.insert(0, entry);
        changed
    }

    fn apply(&mut self, change: &RecentsChange) -> bool {
        match change {
            RecentsChange::Visit(place) if self.places.first() == Some(place) => false,
            RecentsChange::Visit(place) => {
                self.places.retain(|known| !known.is_same(place));
                self.places.insert(0, place.clone());
                true
            }
            RecentsChange::Forget(place) => {
                let before = self.places.len();
                self.places.retain(|known| known != place);
                self.places.len() != before
            }
            RecentsChange::Rename { from, to } => {
                let (places, projects) = (self.places.clone(), self.projects.clone());
                let renamed = |place: &Place| match &place.project {
                    Some(id) if id.as_str() == from => Place { project: Some(to.as_str().into()), ..place.clone() },
                    _ => place.clone(),
                };
                self.places.clear();
                for place in places.iter().map(renamed) {
                    if !self.places.iter().any(|known| known.is_same(&place)) {
                        self.places.push(place);
                    }
                }
                if self.project(to).is_some() {
                    self.projects.retain(|known| known.project != *from);
                } else if let Some(known) = self.projects.iter_mut().find(|known| known.project == *from) {
                    known.project.clone_from(to);
                }
                self.places != places || self.projects != projects
            }
            RecentsChange::OpenFolders { project, folders } => {
                self.change_project(project, |entry| entry.open_folders.clone_from(folders))
            }
            RecentsChange::OpenFile { project, path } => self.change_project(project, |entry| {
                entry.files.retain(|known| known != path);
                entry.files.insert(0, path.clone());
            }),
        }
    }

    fn absorb(&mut self, later: &Recents) {
        for place in later.places.iter().rev() {
            self.apply(&RecentsChange::Visit(place.clone()));
        }
        for RecentProject { project, open_folders, files } in later.projects.iter().rev() {
            self.change_project(project, |entry| {
                entry.open_folders.clone_from(open_folders);
                entry.files.retain(|known| !files.contains(known));
                entry.files.splice(0..0, files.iter().cloned());
            });
        }
    }

    fn prune(&mut self) {
        self.places.truncate(MAX_PLACES);
        self.projects.retain(|project| !project.open_folders.is_empty() || !project.files.is_empty());
        self.projects.truncate(MAX_PROJECTS);
        for project in &mut self.projects {
            project.open_folders.truncate(MAX_PATHS);
            project.files.truncate(MAX_PATHS);
        }
    }
}

/// The record of what the user has seen.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Seen {
    /// The merge requests as they were last seen, by ID.
    pub merge_requests: Latest<u64, SeenMergeRequest>,
    /// The heads of merge requests whose changes were seen, by `group/project!iid`.
    pub heads: Latest<String, SeenHead>,
    /// The files that are marked as viewed, by the changes that contain them.
    pub viewed: Latest<String, ViewedFiles>,
    /// The ID of the newest to-do that was told; `None` before the first time.
    pub last_todo: Option<u64>,
}

/// A merge request as it was last seen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SeenMergeRequest {
    /// The SHA of its head.
    pub sha: String,
    /// The number of its notes.
    pub notes: u64,
    /// The time of its last update, as the server wrote it.
    pub at: String,
}

/// The last two heads of a merge request whose changes were seen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SeenHead {
    pub last: String,
    /// The base of that head; `None` in old records. A head has several bases if the target branch moves below it.
    pub base: Option<String>,
    /// The head that was seen before that, and its base.
    pub before: Option<String>,
    pub before_base: Option<String>,
}

/// Viewed files by path, each with the hash of its content.
pub type ViewedFiles = BTreeMap<String, u64>;

/// A change of what the user has seen.
#[derive(Clone, Debug, PartialEq)]
pub enum SeenChange {
    /// Records that a merge request, by ID, was shown in this state.
    MergeRequest(u64, SeenMergeRequest),
    /// Records that the changes from this base to this head were shown.
    Head { merge_request: String, sha: String, base: Option<String> },
    /// Replaces the files of some changes that are marked as viewed.
    Viewed { changes: String, files: ViewedFiles },
    /// Records that the to-dos up to this ID were told.
    Todo(u64),
}

impl Seen {
    fn apply(&mut self, change: &SeenChange) -> bool {
        match change {
            SeenChange::MergeRequest(id, seen) => self.merge_requests.insert(*id, seen.clone()),
            SeenChange::Head { merge_request, sha, base } => {
                let seen = self.heads.get(merge_request).cloned().unwrap_or_default();
                let is_known = seen.last == *sha && (seen.base == *base || base.is_none());
                // A record of before has no base: it may be this one.
                let is_old = seen.last == *sha && seen.base.is_none();
                let (before, before_base) = match (is_old, seen.last.is_empty()) {
                    (true, _) => (seen.before, seen.before_base),
                    (false, true) => (None, None),
                    (false, false) => (Some(seen.last), seen.base),
                };
                let seen = SeenHead { last: sha.clone(), base: base.clone(), before, before_base };
                !is_known && self.heads.insert(merge_request.clone(), seen)
            }
            SeenChange::Viewed { changes, files } if files.is_empty() => self.viewed.remove(changes),
            SeenChange::Viewed { changes, files } => self.viewed.insert(changes.clone(), files.clone()),
            SeenChange::Todo(id) => {
                let is_newer = self.last_todo < Some(*id);
                self.last_todo = self.last_todo.max(Some(*id));
                is_newer
            }
        }
    }

    fn absorb(&mut self, later: &Seen) {
        self.merge_requests.absorb(&later.merge_requests);
        self.heads.absorb(&later.heads);
        self.viewed.absorb(&later.viewed);
        self.last_todo = self.last_todo.max(later.last_todo);
    }

    fn prune(&mut self) {
        self.merge_requests.prune(MAX_SEEN, |_| 1);
        self.heads.prune(MAX_SEEN, |_| 1);
        self.viewed.prune(MAX_VIEWED, |files| files.len().max(1));
    }
}

/// A map that records the order in which its entries changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Latest<K: Ord, V>(BTreeMap<K, (u64, V)>);

impl<K: Ord, V> Default for Latest<K, V> {
    fn default() -> Latest<K, V> {
        Latest(BTreeMap::new())
    }
}

impl<K: Ord + Clone, V: Clone + PartialEq> Latest<K, V> {
    /// Returns the value under `key`.
    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: std::borrow::Borrow<Q>,
    {
        self.0.get(key).map(|(_, value)| value)
    }

    /// Sets the value under `key`; returns `false` if it was the same already.
    fn insert(&mut self, key: K, value: V) -> bool {
        if self.get(&key) == Some(&value) {
            return false;
        }
        let newest = self.0.values().map(|(turn, _)| *turn).max().unwrap_or(0);
        self.0.insert(key, (newest.saturating_add(1), value));
        true
    }

    fn remove(&mut self, key: &K) -> bool {
        self.0.remove(key).is_some()
    }

    /// Returns the keys, oldest first.
    fn oldest_first(&self) -> Vec<K> {
        let mut keys: Vec<(u64, &K)> = self.0.iter().map(|(key, (turn, _))| (*turn, key)).collect();
        keys.sort_unstable();
        keys.into_iter().map(|(_, key)| key.clone()).collect()
    }

    fn absorb(&mut self, later: &Self) {
        for key in later.oldest_first() {
            if let Some(value) = later.get(&key) {
                self.insert(key, value.clone());
            }
        }
    }

    /// Removes the oldest entries until the total weight is at most `most`; the newest entry stays.
    fn prune(&mut self, most: usize, weight: impl Fn(&V) -> usize) {
        let mut all: usize = self.0.values().map(|(_, value)| weight(value)).sum();
        if all <= most {
            return;
        }
        for key in self.oldest_first() {
            if all <= most || self.0.len() == 1 {
                return;
            }
            let removed = self.0.remove(&key).map_or(0, |(_, value)| weight(&value));
            all = all.saturating_sub(removed);
        }
    }
}

impl AccountState {
    /// Applies a change; returns the file to write if anything is different.
    pub fn apply(&mut self, change: &StateChange) -> Option<StateFile> {
        match change {
            StateChange::Settings(change) => {
                let settings = Arc::make_mut(&mut self.settings);
                if !settings.apply(change) {
                    return None;
                }
                settings.prune();
                Some(StateFile::Settings(self.settings.clone()))
            }
            StateChange::Recents(change) => {
                let recents = Arc::make_mut(&mut self.recents);
                if !recents.apply(change) {
                    return None;
                }
                recents.prune();
                Some(StateFile::Recents(self.recents.clone()))
            }
            StateChange::Seen(change) => {
                let seen = Arc::make_mut(&mut self.seen);
                if !seen.apply(change) {
                    return None;
                }
                seen.prune();
                Some(StateFile::Seen(self.seen.clone()))
            }
        }
    }

    /// Merges everything in `later` into this state.
    pub fn absorb(&mut self, later: &AccountState) {
        if *later == AccountState::default() {
            return;
        }
        Arc::make_mut(&mut self.settings).absorb(&later.settings);
        Arc::make_mut(&mut self.recents).absorb(&later.recents);
        Arc::make_mut(&mut self.seen).absorb(&later.seen);
        self.prune();
    }

    fn prune(&mut self) {
        Arc::make_mut(&mut self.settings).prune();
        Arc::make_mut(&mut self.recents).prune();
        Arc::make_mut(&mut self.seen).prune();
    }

    /// Returns the files whose content differs from that of `before`.
    pub fn changed_since(&self, before: &AccountState) -> Vec<StateFile> {
        let settings = (self.settings != before.settings).then(|| StateFile::Settings(self.settings.clone()));
        let recents = (self.recents != before.recents).then(|| StateFile::Recents(self.recents.clone()));
        let seen = (self.seen != before.seen).then(|| StateFile::Seen(self.seen.clone()));
        settings.into_iter().chain(recents).chain(seen).collect()
    }

    /// Parses the file called `name`; returns `false` if part of it was not understood, because a later version wrote
    /// it or because it is invalid.
    pub fn read(&mut self, name: &str, text: &str) -> bool {
        let understood = match name {
            "settings" => read(&mut self.settings, text),
            "recents" => read(&mut self.recents, text),
            "seen" => read(&mut self.seen, text),
            _ => false,
        };
        self.prune();
        understood
    }
}

/// Parses those fields of `text` that are valid; returns `false` if others are not.
fn read<T: Default + DeserializeOwned>(into: &mut Arc<T>, text: &str) -> bool {
    let Ok(mut fields) = serde_json::from_str::<Map<String, Value>>(text) else { return false };
    let version = fields.remove("version").and_then(|version| version.as_u64());
    let parse = |fields: &Map<String, Value>| json::from_value::<T>(&Value::Object(fields.clone()));
    let before = fields.len();
    if parse(&fields).is_err() {
        fields.retain(|name, value| parse(&Map::from_iter([(name.clone(), value.clone())])).is_ok());
    }
    *into = Arc::new(parse(&fields).unwrap_or_default());
    version == Some(VERSION) && fields.len() == before
}

impl StateFile {
    /// The names of all files.
    pub const NAMES: [&str; 3] = ["settings", "recents", "seen"];

    /// Returns the name of the file.
    pub fn name(&self) -> &'static str {
        match self {
            StateFile::Settings(_) => "settings",
            StateFile::Recents(_) => "recents",
            StateFile::Seen(_) => "seen",
        }
    }

    /// Returns the content of the file: JSON with a version.
    pub fn to_json(&self) -> String {
        let mut state = match self {
            StateFile::Settings(settings) => json::to_object(&**settings),
            StateFile::Recents(recents) => json::to_object(&**recents),
            StateFile::Seen(seen) => json::to_object(&**seen),
        };
        state.insert("version".into(), VERSION.into());
        Value::Object(state).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state() -> AccountState {
        let mut state = AccountState::default();
        let choice = Some(ColumnChoice { columns: vec!["name".into()], order: None, down: false });
        let files = ViewedFiles::from([("a b.rs".to_owned(), u64::MAX)]);
        let seen = SeenMergeRequest { sha: "abc".into(), notes: 2, at: "2026-06-15T12:00:00Z".into() };
        for change in [
            StateChange::Settings(SettingsChange::Columns { place: "tags".into(), choice }),
            StateChange::Settings(SettingsChange::Pin { project: "a/b".into(), pinned: true }),
            StateChange::Settings(SettingsChange::Diff(DiffSettings {
                layout: Some(Layout::Split),
                wraps: Some(true),
            })),
            StateChange::Recents(RecentsChange::Visit(Place::new("files").project("a/b").at("main").path("src/x"))),
            StateChange::Recents(RecentsChange::OpenFile { project: "a/b".into(), path: "src/x".into() }),
            StateChange::Seen(SeenChange::MergeRequest(7, seen)),
            StateChange::Seen(SeenChange::Head {
                merge_request: "a/b!1".into(),
                sha: "one".into(),
                base: Some("b".into()),
            }),
            StateChange::Seen(SeenChange::Head { merge_request: "a/b!1".into(), sha: "two".into(), base: None }),
            StateChange::Seen(SeenChange::Viewed { changes: "a/b!1".into(), files }),
            StateChange::Seen(SeenChange::Todo(102)),
        ] {
            assert!(state.apply(&change).is_some(), "{change:?}");
            assert!(state.apply(&change).is_none(), "nothing is different the second time: {change:?}");
        }
        state
    }

    #[test]
    fn files_are_read_as_they_were_written() {
        let state = state();
        let mut again = AccountState::default();
        let files = state.changed_since(&again);
        assert_eq!(files.len(), 3);
        for file in files {
            assert!(again.read(file.name(), &file.to_json()), "{}", file.to_json());
        }
        assert_eq!(again, state);
        let head = again.seen.heads.get("a/b!1").expect("a head");
        assert_eq!((head.last.as_str(), head.before.as_deref()), ("two", Some("one")));
    }

    #[test]
    fn files_of_other_versions_are_read_partially() {
        let mut state = AccountState::default();
        let newer = r#"{"version":2,"columns":["other"],"pinned_projects":["a/b"],"more":1}"#;
        assert!(!state.read("settings", newer));
        assert_eq!(state.settings.pinned_projects, ["a/b"]);
        assert!(state.read("settings", r#"{"version":1}"#), "a file of before may lack fields");
        assert!(!state.read("settings", r#"{"version":1,"pinned_"#));
        assert!(!state.read("settings", "[]"));
        assert!(!state.read("settings", r#"{"version":2,"pinned_projects":["a/b"]}"#), "it may mean something else");
        assert!(!state.read("settings", r#"{"version":1,"columns":["other"]}"#), "a part is lost");
    }

    #[test]
    fn state_is_bounded() {
        let mut state = AccountState::default();
        for number in 0..MAX_SEEN as u64 + 5 {
            let seen = SeenMergeRequest { notes: 1, ..SeenMergeRequest::default() };
            state.apply(&StateChange::Seen(SeenChange::MergeRequest(number, seen)));
            if number < 200 {
                state.apply(&StateChange::Recents(RecentsChange::Visit(Place::new("mr").item(number))));
                let (project, path) = (format!("a/{}", number % 70), format!("src/{number}"));
                state.apply(&StateChange::Recents(RecentsChange::OpenFile { project, path }));
            }
        }
        assert_eq!((state.recents.places.len(), state.recents.projects.len()), (MAX_PLACES, MAX_PROJECTS));
        assert_eq!(state.seen.merge_requests.0.len(), MAX_SEEN);
        assert!(state.seen.merge_requests.get(&4).is_none() && state.seen.merge_requests.get(&5).is_some());
        for changes in ["old", "new"] {
            let files = (0..MAX_VIEWED).map(|file| (format!("{file}"), 1)).collect();
            state.apply(&StateChange::Seen(SeenChange::Viewed { changes: changes.into(), files }));
        }
        assert!(state.seen.viewed.get("old").is_none() && state.seen.viewed.get("new").is_some());
        for number in 0..MAX_PINS + 5 {
            let choice = Some(ColumnChoice { columns: vec!["name".into()], order: None, down: false });
            state.apply(&StateChange::Settings(SettingsChange::Pin { project: format!("a/{number}"), pinned: true }));
            if number < MAX_LISTS + 5 {
                let place = format!("list {number:03}");
                state.apply(&StateChange::Settings(SettingsChange::Columns { place, choice }));
            }
        }
        assert_eq!((state.settings.pinned_projects.len(), state.settings.columns.len()), (MAX_PINS, MAX_LISTS));
        assert_eq!(state.settings.pinned_projects.last(), Some(&format!("a/{}", MAX_PINS + 4)), "the latest stay");
        // The content of a file is also bounded, whoever wrote it.
        let places: Vec<Place> = (0..50).map(|number| Place::new("mr").item(number)).collect();
        let text = serde_json::json!({"version": 1, "places": places}).to_string();
        assert!(state.read("recents", &text));
        assert_eq!(state.recents.places.len(), MAX_PLACES);
    }

    #[test]
    fn changes_of_open_folders_are_written() {
        let mut state = AccountState::default();
        let open = |state: &mut AccountState, project: &str, path: &str| {
            let (project, path) = (project.to_owned(), path.to_owned());
            state.apply(&StateChange::Recents(RecentsChange::OpenFile { project, path })).is_some()
        };
        assert!(open(&mut state, "a/b", "x") && open(&mut state, "a/b", "y"));
        assert!(open(&mut state, "c/d", "z") && open(&mut state, "a/b", "y"), "the order of projects is kept, too");
        assert!(!open(&mut state, "a/b", "y"));
    }

    #[test]
    fn reverted_changes_are_written_once() {
        let mut state = state();
        for change in [
            StateChange::Seen(SeenChange::Viewed { changes: "a/b!1".into(), files: ViewedFiles::new() }),
            StateChange::Settings(SettingsChange::Columns { place: "tags".into(), choice: None }),
            StateChange::Settings(SettingsChange::Pin { project: "a/b".into(), pinned: false }),
            StateChange::Settings(SettingsChange::Greeted),
        ] {
            assert!(state.apply(&change).is_some(), "{change:?}");
            assert!(state.apply(&change).is_none(), "nothing is different the second time: {change:?}");
        }
        assert!(state.seen.viewed.get("a/b!1").is_none() && state.settings.columns.is_empty());
        assert!(state.settings.pinned_projects.is_empty() && state.settings.greeted);
    }

    #[test]
    fn unowned_state_is_assigned_to_the_account() {
        let (mut account, mut nobody) = (state(), AccountState::default());
        nobody.apply(&StateChange::Settings(SettingsChange::Pin { project: "c/d".into(), pinned: true }));
        nobody.apply(&StateChange::Recents(RecentsChange::OpenFile { project: "a/b".into(), path: "y".into() }));
        let files = ViewedFiles::from([("later.rs".to_owned(), 1)]);
        nobody.apply(&StateChange::Seen(SeenChange::Viewed { changes: "a/b!2".into(), files }));
        account.absorb(&nobody);
        assert!(account.seen.viewed.get("a/b!1").is_some() && account.seen.viewed.get("a/b!2").is_some());
        assert_eq!(account.settings.pinned_projects, ["a/b", "c/d"]);
        assert_eq!(account.settings.diff.layout, Some(Layout::Split));
        assert_eq!(account.recents.project("a/b").expect("a project").files, ["y", "src/x"]);
    }
}
