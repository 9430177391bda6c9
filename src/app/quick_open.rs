//! "Go to anything": cached objects of every kind, and those that the server finds for the typed text.

use super::action::Action;
use super::outline::OutlinedFile;
use super::overlay::picker::{Item, Source};
use super::path_search::PathSearch;
use super::place::Place;
use super::place_info::{self, Subject};
use super::registry::{self, PaneOpener};
use super::target;
use super::view::View;
use api::branches::{Branch, ListBranches};
use api::endpoint::{Request, decode};
use api::groups::ListGroups;
use api::issues::{Issue, ListIssues, ListScopedIssues};
use api::jobs::{Job, ListJobs};
use api::merge_requests::{ListMergeRequests, ListProjectMergeRequests, MergeRequest};
use api::projects::{ListProjects, Project};
use api::repository::ListTree;
use api::tags::{ListTags, Tag};
use api::users::{ListUsers, Profile, User};
use api::{GitRef, Id, Scope};
use std::collections::{HashMap, HashSet};
use std::time::Duration;
use store::{Derive, Load, Want, Work};
use ui::code::Symbol;

/// The time without typing before the server is queried.
pub(super) const TYPING_DELAY: Duration = Duration::from_millis(150);
/// The maximum number of suggestions of one kind.
const MAX_SUGGESTIONS: usize = 1_000;

/// The minimum number of letters for which more than names of projects and groups is requested.
const MIN_LETTERS: usize = 2;

/// A command that can be run here.
struct RunnableCommand {
    id: &'static str,
    title: String,
    keys: String,
    synonyms: &'static [&'static str],
}

/// The source of "go to anything": everything that is cached, the files of the current project, commands, and what the
/// server finds.
pub struct QuickOpen {
    /// The current place; elsewhere than in a project, with the project under the cursor or the one opened last.
    here: Place,
    /// Whether the current place is in that project.
    is_in_project: bool,
    /// The search in the tree of the current project.
    files: Option<PathSearch>,
    commands: Vec<RunnableCommand>,
    registry: &'static [registry::Entry],
    /// The file that is shown: `@` lists its functions.
    outlined: Option<OutlinedFile>,
    /// Whether they are among the items.
    has_symbols: bool,
}

/// The suggestions, without duplicates.
#[derive(Default)]
struct Suggestions {
    items: Vec<Item>,
    seen: HashSet<String>,
}

impl Suggestions {
    /// Sorts the suggestions from index `start` on by name: cached data has no order of its own.
    fn order(&mut self, start: usize) {
        if let Some(rest) = self.items.get_mut(start..) {
            rest.sort_by(|a, b| a.label.cmp(&b.label));
        }
    }

    /// Adds a suggestion under the label of the place.
    fn add_labeled(&mut self, view: &View, kind: &'static str, place: Option<Place>) {
        if let Some(place) = place {
            self.add(place_info::label(view.places, &place), "", kind, place);
        }
    }

    fn add(&mut self, label: String, detail: &str, kind: &'static str, place: Place) {
        self.add_item(Item::act(label, Action::GoToPlace(place)).detail(detail).note(kind));
    }

    /// Adds an item, except if there is one of its kind and name.
    fn add_item(&mut self, item: Item) {
        if self.seen.insert(format!("{} {}", item.note, item.label)) {
            self.items.push(item);
        }
    }
}

/// Returns the project that a request is about, as named in its path.
fn project_of(request: &Request) -> Option<Id> {
    let rest = request.path.strip_prefix("/projects/")?;
    let id = rest.split('/').next().filter(|id| !id.is_empty())?;
    Some(Id::from(decode(id).as_str()))
}

/// Returns the request for the tree of the project of a place.
pub fn tree(here: &Place) -> Option<ListTree> {
    let r#ref = here.git_ref.as_ref().map(|at| at.as_str().to_owned());
    Some(ListTree { id: here.project.clone()?, r#ref, ..ListTree::default() })
}

/// Returns the search in the tree of the project of a place.
fn path_search(here: &Place, view: &View) -> Option<PathSearch> {
    let tree = tree(here)?;
    let recent = view.recents.project(tree.id.as_str()).map(|recent| recent.files.clone());
    Some(PathSearch::new(tree, recent.unwrap_or_default()))
}

impl QuickOpen {
    /// Creates the source for the place `here`, which is in its project if `is_in_project` is set. Of `commands`, those that
    /// can be run are offered.
    pub fn new(
        here: &Place,
        is_in_project: bool,
        commands: impl Iterator<Item = Item>,
        registry: &'static [registry::Entry],
        view: &View,
    ) -> QuickOpen {
        let files = path_search(here, view);
        let command = |item: Item| match item.choice {
            Action::Run(id) if item.why_not.is_none() => {
                Some(RunnableCommand { id, title: item.label, keys: item.note, synonyms: item.synonyms })
            }
            _ => None,
        };
        let commands = commands.filter_map(command).collect();
        QuickOpen { here: here.clone(), is_in_project, files, commands, registry, outlined: None, has_symbols: false }
    }

    /// Lists the functions of a file after `@`.
    pub fn outlining(self, outlined: Option<OutlinedFile>) -> QuickOpen {
        QuickOpen { outlined, ..self }
    }

    /// Returns the file whose functions are listed for the typed text.
    fn outlined(&self, typed: &str) -> Option<&OutlinedFile> {
        self.outlined.as_ref().filter(|_| typed.trim_start().starts_with('@'))
    }

    /// Adds the functions, types and sections of the file, in order.
    fn add_symbols(&self, view: &View, typed: &str, offers: &mut Suggestions) {
        let Some(file) = self.outlined(typed) else { return };
        let symbols = view.store.result::<Vec<Symbol>>(&file.key());
        offers.items.extend(symbols.into_iter().flatten().map(|symbol| {
            let place = Place { line: u32::try_from(symbol.line + 1).ok(), ..self.here.clone().path(&*file.path) };
            let item = Item::act(format!("@{}", symbol.name), Action::TryPlace(place));
            item.context(file.text.line(symbol.line).trim()).note(symbol.kind)
        }));
    }

    /// Returns the search in the tree, if files are searched for the typed text.
    fn files(&self, typed: &str) -> Option<&PathSearch> {
        let typed = typed.trim();
        self.files.as_ref().filter(|_| typed.chars().nth(MIN_LETTERS - 1).is_some() && !typed.starts_with('@'))
    }

    fn projects(typed: &str) -> ListProjects {
        ListProjects {
            search: Some(typed.trim().to_owned()).filter(|t| !t.is_empty()),
            simple: Some(true),
            order_by: Some("last_activity_at".into()),
            ..ListProjects::default()
        }
    }

    fn groups(typed: &str) -> ListGroups {
        ListGroups { search: Some(typed.trim().to_owned()), ..ListGroups::default() }
    }

    fn users(typed: &str) -> ListUsers {
        ListUsers { search: Some(typed.trim().trim_start_matches('@').to_owned()), ..ListUsers::default() }
    }

    fn requests(typed: &str) -> ListMergeRequests {
        let search = Some(typed.trim().to_owned());
        ListMergeRequests { search, scope: Some("all".into()), ..ListMergeRequests::default() }
    }

    fn requests_here(&self, typed: &str) -> Option<ListProjectMergeRequests> {
        let (id, search) = (self.here.project.clone()?, Some(typed.trim().to_owned()));
        Some(ListProjectMergeRequests { id, search, ..ListProjectMergeRequests::default() })
    }

    fn issues(typed: &str) -> ListIssues {
        let search = Some(typed.trim().to_owned());
        ListIssues { search, scope: Some("all".into()), ..ListIssues::default() }
    }

    fn issues_here(&self, typed: &str) -> Option<ListScopedIssues> {
        let (within, search) = (Scope::Project(self.here.project.clone()?), Some(typed.trim().to_owned()));
        Some(ListScopedIssues { within, search, ..ListScopedIssues::default() })
    }

    fn tags_here(&self, typed: &str) -> Option<ListTags> {
        let (id, search) = (self.here.project.clone()?, Some(typed.trim().to_owned()));
        Some(ListTags { id, search, ..ListTags::default() })
    }

    fn branches_here(&self, typed: &str) -> Option<ListBranches> {
        Some(ListBranches { id: self.here.project.clone()?, search: Some(typed.trim().to_owned()) })
    }

    /// Returns the full path of a project given by its ID, if the path is known; else `id` itself.
    fn path(paths: &HashMap<u64, Id>, id: &Id) -> Id {
        id.as_str().parse().ok().and_then(|number: u64| paths.get(&number)).unwrap_or(id).clone()
    }

    fn known(&self, view: &View, offers: &mut Suggestions) {
        let path = |project: &Project| (project.id, Id::from(&*view.full_path(project)));
        let paths: HashMap<u64, Id> = view.known_projects().map(path).collect();
        let start = offers.items.len();
        let of = |subject: Subject| place_info::place_of(view.places, subject);
        for project in view.known_projects().take(MAX_SUGGESTIONS) {
            let path = view.full_path(project);
            let about = project.description().lines().next().unwrap_or_default();
            let place = of(Subject::Project).project(&*path);
            offers.add(path.into_owned(), about, "project", place);
        }
        for group in view.known_groups().take(MAX_SUGGESTIONS) {
            let path = if group.full_path.is_empty() { &group.path } else { &group.full_path };
            offers.add(path.clone(), &group.name, "group", of(Subject::Group).group(path.as_str()));
        }
        for (_, request) in view.store.known::<MergeRequest>().take(MAX_SUGGESTIONS) {
            let project = Self::path(&paths, &request.project_id.into());
            let place = of(Subject::MergeRequest).project(project).item(request.iid);
            offers.add(place_info::label(view.places, &place), &request.title, "merge request", place);
        }
        for (_, issue) in view.store.known::<Issue>().take(MAX_SUGGESTIONS) {
            let project = Self::path(&paths, &issue.project_id.into());
            let place = of(Subject::Issue).project(project).item(issue.iid);
            offers.add(place_info::label(view.places, &place), &issue.title, "issue", place);
        }
        for (request, job) in view.store.known::<Job>().take(MAX_SUGGESTIONS) {
            let Some(project) = project_of(request) else { continue };
            let project = Self::path(&paths, &project);
            let place = of(Subject::Job).project(project).item(job.id);
            let about = format!("{} {}", job.name, job.status.as_str());
            let item = Item::act(place_info::label(view.places, &place), Action::GoToPlace(place));
            // All jobs of a branch would hide what bears its name.
            offers.add_item(item.detail(about).context(job.r#ref.as_str()).note("job"));
        }
        let users = view.store.known::<User>().map(|(_, user)| (&user.username, &user.name));
        let profiles = view.store.known::<Profile>().map(|(_, user)| (&user.username, &user.name));
        for (username, name) in users.chain(profiles).take(MAX_SUGGESTIONS) {
            offers.add(format!("@{username}"), name, "user", of(Subject::User).item(username));
        }
        for (request, branch) in view.store.known::<Branch>().take(MAX_SUGGESTIONS) {
            let place = Self::at_ref(view, &paths, request, GitRef::branch(&branch.name));
            offers.add_labeled(view, "branch", place);
        }
        for (request, tag) in view.store.known::<Tag>().take(MAX_SUGGESTIONS) {
            let place = Self::at_ref(view, &paths, request, GitRef::tag(&tag.name));
            offers.add_labeled(view, "tag", place);
        }
        offers.order(start);
    }

    /// Returns what the typed text may also be: the path of a project that is not known, and a text to search for.
    fn last(view: &View, typed: &str) -> Vec<Item> {
        if typed.is_empty() {
            return Vec::new();
        }
        let project = target::parse(view.places, typed, &view.session.web_url).ok();
        let is_path =
            project.is_some_and(|place| place.item.is_none() && place.git_ref.is_none() && place.project.is_some());
        let open = is_path.then(|| Item::act(format!("Open {typed}"), Action::GoToTarget(typed.to_owned())));
        let search = place_info::place_of(view.places, Subject::Search).item(typed);
        let search = Item::act(format!("Search everywhere for {typed}"), Action::GoToPlace(search));
        open.into_iter().chain([search]).map(Item::last).collect()
    }

    fn at_ref(view: &View, paths: &HashMap<u64, Id>, request: &Request, name: GitRef) -> Option<Place> {
        let project = Self::path(paths, &project_of(request)?);
        Some(place_info::place_of(view.places, Subject::Project).project(project).at(name))
    }
}

impl Source for QuickOpen {
    fn wants(&self, view: &View, typed: &str) -> Vec<Want> {
        // Projects known before typing stay in the list next to those that the server finds for the text.
        let mut wants: Vec<Want> = vec![Load::list(&Self::projects(""), 1).into()];
        wants.extend(self.outlined(typed).map(|file| Work::new(file.clone()).into()));
        let words = typed.trim();
        if words.is_empty() {
            return wants;
        }
        // A project may be without issues or jobs, or without a repository.
        let mut want = |load: Load| wants.push(load.after(TYPING_DELAY).optional().into());
        let is_person = words.starts_with('@');
        if !is_person {
            want(Load::list(&Self::projects(typed), 1));
            want(Load::list(&Self::groups(typed), 1));
            if let Some(list) = self.branches_here(typed) {
                want(Load::list(&list, 1));
            }
        }
        let is_long = words.chars().nth(MIN_LETTERS - 1).is_some();
        if view.session.signed_in && is_long {
            want(Load::list(&Self::users(typed), 1));
        }
        if is_long && !is_person {
            if view.session.signed_in {
                want(Load::list(&Self::requests(typed), 1));
                want(Load::list(&Self::issues(typed), 1));
            }
            if let Some(project) = &self.here.project {
                let id = project.clone();
                want(Load::list(&ListJobs { id, scope: None }, 1));
            }
            let here = [
                self.requests_here(typed).map(|list| Load::list(&list, 1)),
                self.issues_here(typed).map(|list| Load::list(&list, 1)),
                self.tags_here(typed).map(|list| Load::list(&list, 1)),
            ];
            here.into_iter().flatten().for_each(want);
        }
        wants.extend(self.files(typed).into_iter().flat_map(|files| files.wants(view)));
        wants
    }

    fn loading(&self, view: &View, typed: &str) -> bool {
        let is_outlining = self.outlined(typed).is_some_and(|file| view.store.is_result_missing(&file.key()));
        is_outlining || view.store.is_any_loading(&self.wants(view, typed))
    }

    fn progress(&self, view: &View, typed: &str) -> Option<String> {
        self.files(typed)?.progress(view)
    }

    fn has_previews(&self) -> bool {
        true
    }

    /// The previews of files are those of the tree that is searched: it has the SHA of their content.
    fn preview(&self, item: &Item) -> Option<(Place, PaneOpener)> {
        let (Action::GoToPlace(place) | Action::TryPlace(place)) = &item.choice else { return None };
        let open = self.registry.iter().find(|entry| entry.place.id == place.pane)?.preview?;
        let Some(path) = &place.path else { return place.item.is_some().then(|| (place.clone(), open)) };
        if let Some(file) = self.outlined.as_ref().filter(|file| file.path == *path && place.line.is_some()) {
            return Some((place.clone().item(&file.sha), open));
        }
        let is_here = (&place.project, &place.git_ref) == (&self.here.project, &self.here.git_ref);
        let files = self.files.as_ref().filter(|_| is_here)?;
        let hit = files.ranked().best.iter().find(|hit| hit.path == *path)?;
        Some((place.clone().item(&hit.sha), open))
    }

    fn update(&mut self, view: &View, typed: &str) -> bool {
        let is_searched = self.files(typed).is_some();
        let outline = self.outlined(typed).and_then(|file| view.store.result::<Vec<Symbol>>(&file.key()));
        let has_symbols = outline.is_some();
        let is_outlined = std::mem::replace(&mut self.has_symbols, has_symbols) != has_symbols;
        let (path, _) = target::path_and_line(typed.trim());
        is_outlined | self.files.as_mut().filter(|_| is_searched).is_some_and(|files| files.update(view, path))
    }

    fn items(&self, view: &View, typed: &str) -> Vec<Item> {
        let mut offers = Suggestions::default();
        self.add_symbols(view, typed, &mut offers);
        for place in view.recents.places.iter().cloned() {
            offers.add_labeled(view, "recent", Some(place));
        }
        if let Some(project) = &self.here.project {
            for (info, what) in view.places.iter().filter_map(|info| Some((info, info.lists?))) {
                let place = Place::new(info.id).project(project.as_str());
                offers.add(format!("{project} {what}"), "", info.id, place);
            }
        }
        self.known(view, &mut offers);
        if let (Some(files), Some(project)) = (self.files(typed), &self.here.project) {
            let tree = place_info::place_of(view.places, Subject::Project).project(project.clone());
            let (_, line) = target::path_and_line(typed.trim());
            let tree = Place { line, ..tree };
            for hit in &files.ranked().best {
                let place = Place { git_ref: self.here.git_ref.clone(), ..tree.clone() }.path(hit.path.as_str());
                let of = if self.is_in_project { "" } else { project.as_str() };
                let label = line.map_or_else(|| hit.path.clone(), |line| format!("{}:{line}", hit.path));
                offers.add(label, of, "file", place);
            }
        }
        for command in self.commands.iter().filter(|_| !typed.trim().is_empty()) {
            let item = Item::act(command.title.clone(), Action::Run(command.id)).detail(command.keys.clone());
            offers.items.push(item.synonyms(command.synonyms).note("command"));
        }
        for other in &view.session.others {
            let action = Action::SwitchServer(other.host.clone(), None);
            offers.items.push(Item::act(other.host.name(), action).note("server"));
        }
        offers.items.extend(Self::last(view, typed.trim()));
        offers.items
    }
}

/// The available projects, for a place that needs one.
pub struct ProjectChoice {
    place: Place,
}

impl ProjectChoice {
    /// Creates a source in which choosing a project opens `place` in it.
    pub fn new(place: Place) -> ProjectChoice {
        ProjectChoice { place }
    }
}

impl Source for ProjectChoice {
    fn wants(&self, _: &View, typed: &str) -> Vec<Want> {
        let mut wants: Vec<Want> = vec![Load::list(&QuickOpen::projects(""), 1).into()];
        if !typed.trim().is_empty() {
            wants.push(Load::list(&QuickOpen::projects(typed), 1).after(TYPING_DELAY).into());
        }
        wants
    }

    fn items(&self, view: &View, _: &str) -> Vec<Item> {
        let mut seen = HashSet::new();
        let each =
            view.known_projects().filter(|project| seen.insert(project.id)).take(MAX_SUGGESTIONS).map(|project| {
                let (path, about) = (view.full_path(project), project.description().lines().next().unwrap_or_default());
                let place = self.place.clone().project(&*path);
                Item::act(path.clone().into_owned(), Action::GoToPlace(place)).detail(about.to_owned())
            });
        let mut items: Vec<Item> = each.collect();
        items.sort_by(|a, b| a.label.cmp(&b.label));
        items
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use api::Endpoint;

    #[test]
    fn the_project_of_a_request_is_read_from_its_path() {
        let list = ListBranches { id: "a/b".into(), search: None };
        assert_eq!(project_of(&list.request()), Some("a/b".into()));
        assert_eq!(project_of(&QuickOpen::projects("").request()), None);
    }
}
