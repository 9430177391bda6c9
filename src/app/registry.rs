//! Registry of panes: the name of each place, the place above it, and the ways to open it.

use super::command::{Command, Info};
use super::pane::{AnyPane, Needs, Pane, View};
use super::place::Place;
use crate::api::Id;

/// The kind of object that a place shows, so that others can open it without knowing its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    Home,
    Project,
    Group,
    User,
    MergeRequest,
    Issue,
    Epic,
    Snippet,
    Job,
    Commit,
    Comparison,
}

impl Subject {
    /// Returns the name of the kind, as shown to the user.
    pub fn word(self) -> &'static str {
        match self {
            Subject::Home => "home",
            Subject::Project => "project",
            Subject::Group => "group",
            Subject::User => "user",
            Subject::MergeRequest => "merge request",
            Subject::Issue => "issue",
            Subject::Epic => "epic",
            Subject::Snippet => "snippet",
            Subject::Job => "job",
            Subject::Commit => "commit",
            Subject::Comparison => "comparison",
        }
    }
}

/// The place above a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Above {
    /// The page of its project, else the first place of the registry.
    Surroundings,
    /// Its own list if it shows one item of that, else its surroundings.
    OwnList,
    /// The folder of its path; without a path, the same as [`Above::OwnList`].
    Folder,
    /// The place with this name in the same project.
    Place(&'static str),
    /// The place with this name for the same item; if there is no item, the place above that place.
    SameItem(&'static str),
}

/// The notation of a number in a project or a group: `acme/rocket-ui!42`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sign {
    /// The character before the number.
    pub mark: char,
    /// Whether a group comes before it, not a project.
    pub in_group: bool,
}

/// A row of the registry of panes.
pub struct Entry {
    /// See [`Pane::ID`].
    pub id: &'static str,
    /// See [`Pane::TITLE`].
    pub title: &'static str,
    /// See [`Pane::NEEDS`].
    pub needs: Needs,
    /// The kind of object that it shows.
    pub subject: Option<Subject>,
    /// The notation of what it shows, if that has one of its own.
    pub sign: Option<Sign>,
    /// The place above it.
    pub above: Above,
    /// The patterns of the addresses that open it: see [`route`](super::route).
    pub routes: &'static [&'static str],
    /// The global command that opens it.
    pub go: Option<Info>,
    /// The name of what it lists for a project, for "go to anything".
    pub lists: Option<&'static str>,
    /// Words that find it in the palette in addition to its title: GitLab's name for the page, and names used
    /// elsewhere.
    pub synonyms: &'static [&'static str],
    /// Opens the pane.
    pub open: fn(&Place, &View) -> Box<dyn AnyPane>,
    /// Returns the rows of its command table.
    pub commands: fn() -> Vec<Info>,
}

impl Entry {
    /// Creates the row of `P`.
    pub const fn of<P: Pane>() -> Entry {
        Entry {
            id: P::ID,
            title: P::TITLE,
            needs: P::NEEDS,
            subject: None,
            sign: None,
            above: Above::Surroundings,
            routes: &[],
            go: None,
            lists: None,
            synonyms: &[],
            open: |place, view| Box::new(P::open(place, view)),
            commands: || P::COMMANDS.iter().map(Command::info).collect(),
        }
    }

    /// Registers the same place under a second name; its commands are listed only under the first.
    pub const fn named(self, id: &'static str, title: &'static str) -> Entry {
        Entry { id, title, commands: Vec::new, ..self }
    }

    /// Sets what the place needs to open.
    pub const fn needing(self, needs: Needs) -> Entry {
        Entry { needs, ..self }
    }

    /// Returns whether the place can be about a group as a whole.
    pub fn is_of_groups(&self) -> bool {
        let pages = self.routes.iter().filter_map(|route| route.strip_prefix("groups/{group:rest}/-/"));
        pages.into_iter().any(|page| page != ".." && !page.contains("{item"))
    }

    /// Sets the kind of object that it shows.
    pub const fn shows(self, subject: Subject) -> Entry {
        Entry { subject: Some(subject), ..self }
    }

    /// Sets the notation of what it shows: project, mark and number.
    pub const fn signed(self, mark: char) -> Entry {
        Entry { sign: Some(Sign { mark, in_group: false }), ..self }
    }

    /// Sets the notation of what it shows: group, mark and number.
    pub const fn signed_in_group(self, mark: char) -> Entry {
        Entry { sign: Some(Sign { mark, in_group: true }), ..self }
    }

    /// Sets the place above it.
    pub const fn below(self, above: Above) -> Entry {
        Entry { above, ..self }
    }

    /// Sets the addresses that open it.
    pub const fn at(self, routes: &'static [&'static str]) -> Entry {
        Entry { routes, ..self }
    }

    /// Adds a global command that opens it.
    pub const fn reached_by(self, id: &'static str, keys: &'static [&'static str], title: &'static str) -> Entry {
        Entry { go: Some(Info { id, keys, title, short: "", writes: false }), ..self }
    }

    /// Sets the words, in lower case, that find it in addition to its title.
    pub const fn known_as(self, synonyms: &'static [&'static str]) -> Entry {
        Entry { synonyms, ..self }
    }

    /// Sets the name of what it lists for a project.
    pub const fn lists(self, what: &'static str) -> Entry {
        Entry { lists: Some(what), ..self }
    }
}

/// Returns the row with that ID.
pub fn find<'a>(panes: &'a [Entry], id: &str) -> Option<&'a Entry> {
    panes.iter().find(|entry| entry.id == id)
}

/// Returns the place that shows that kind of object, with all other fields empty.
pub fn place_of(panes: &[Entry], subject: Subject) -> Place {
    panes.iter().find(|entry| entry.subject == Some(subject)).map(|entry| Place::new(entry.id)).unwrap_or_default()
}

/// Returns the place above all others: the first of the registry.
pub fn root(panes: &[Entry]) -> Place {
    panes.first().map(|entry| Place::new(entry.id)).unwrap_or_default()
}

/// Returns the kind of object that `place` shows.
pub fn subject(panes: &[Entry], place: &Place) -> Option<Subject> {
    find(panes, &place.pane)?.subject
}

/// Returns the name of a place, as shown to the user: `acme/rocket-ui!42`, `acme/rocket-ui@main:src/x.rs`,
/// `acme/rocket-ui job 7`.
pub fn label(panes: &[Entry], place: &Place) -> String {
    let within = place.project.as_ref().or(place.group.as_ref()).map(Id::to_string).unwrap_or_default();
    let item = place.item.as_deref().unwrap_or_default();
    let short = item.get(..8).filter(|_| item.len() == 40).unwrap_or(item);
    match find(panes, &place.pane) {
        Some(Entry { subject: Some(Subject::Project), .. }) => {
            let at = place.git_ref.as_ref().map(|at| format!("@{at}")).unwrap_or_default();
            let path = place.path.as_ref().map(|path| format!(":{path}")).unwrap_or_default();
            format!("{within}{at}{path}")
        }
        Some(Entry { sign: Some(sign), .. }) if !item.is_empty() => format!("{within}{}{item}", sign.mark),
        _ => {
            let parts = [within.as_str(), place.pane.as_str(), short];
            parts.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join(" ")
        }
    }
}

/// Returns the nearest place above `place`: it replaces a missing item, and comes next when going back from the first
/// place.
pub fn above(panes: &[Entry], place: &Place) -> Option<Place> {
    let in_project = |name: &str| {
        let fits = place.project.is_some() || find(panes, name).is_none_or(|entry| entry.needs == Needs::Nothing);
        fits.then(|| Place { project: place.project.clone(), ..Place::new(name) })
    };
    let shows_one =
        [&place.item, &place.git_ref, &place.path].into_iter().any(Option::is_some) || place.group.is_some();
    match find(panes, &place.pane).map_or(Above::Surroundings, |entry| entry.above) {
        Above::Place(name) => in_project(name),
        Above::SameItem(name) if place.item.is_some() && place.git_ref.is_none() => {
            in_project(name).map(|above| Place { item: place.item.clone(), ..above })
        }
        Above::SameItem(name) => above(panes, &in_project(name)?),
        Above::Folder if place.path.is_some() => {
            let path = place.path.as_ref().and_then(|path| path.rsplit_once('/')).map(|(folder, _)| folder.to_owned());
            Some(Place { path, line: None, ..place.clone() })
        }
        Above::OwnList | Above::Folder if shows_one => in_project(&place.pane),
        _ => surroundings(panes, place),
    }
}

fn surroundings(panes: &[Entry], place: &Place) -> Option<Place> {
    let (root, page) = (root(panes), place_of(panes, Subject::Project));
    match &place.project {
        _ if place.pane == root.pane => None,
        Some(project) if place.pane != page.pane => Some(page.project(project.clone())),
        _ => Some(root),
    }
}

/// Returns the place that replaces one that was named and does not exist: the path of a missing project may be that of
/// a group.
pub fn replacement(panes: &[Entry], place: &Place) -> Option<Place> {
    match (subject(panes, place), &place.project) {
        (Some(Subject::Project), Some(path))
            if place.path.is_none() && place.git_ref.is_none() && path.number().is_none() =>
        {
            Some(place_of(panes, Subject::Group).group(path.clone()))
        }
        (Some(Subject::Group), _) if place.group.is_some() => Some(root(panes)),
        // Home shows many things, some of which may be gone.
        (Some(Subject::Home), _) => None,
        _ => above(panes, place),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::panes::PANES;

    #[test]
    fn items_are_below_their_list_and_project() {
        let way = |from: Place| {
            let next = |place: &Place| above(PANES, place);
            std::iter::successors(Some(from), next).map(|place| place.pane).collect::<Vec<_>>()
        };
        assert_eq!(way(Place::new("job").project("a/b").item(7)), ["job", "jobs", "files", "projects"]);
        assert_eq!(way(Place::new("jobs").project("a/b").item(7)), ["jobs", "jobs", "files", "projects"]);
        assert_eq!(way(Place::new("mr").project("a/b").item(7)), ["mr", "mrs", "files", "projects"]);
        assert_eq!(way(Place::new("commit").project("a/b").item("abc")), ["commit", "commits", "files", "projects"]);
        let artifacts = Place::new("artifacts").project("a/b").item(7);
        assert_eq!(way(artifacts.clone()), ["artifacts", "job", "jobs", "files", "projects"]);
        assert_eq!(way(artifacts.at("main")), ["artifacts", "jobs", "files", "projects"]);
        assert_eq!(way(Place::new("groups").group("a")), ["groups", "groups", "projects"]);
    }

    #[test]
    fn a_missing_project_is_replaced_with_a_group() {
        let way = replacement(PANES, &Place::new("files").project("acme/tools"));
        assert_eq!(way, Some(Place::new("groups").group("acme/tools")));
        assert_eq!(way.and_then(|group| replacement(PANES, &group)), Some(Place::new("projects")));
        assert_eq!(replacement(PANES, &Place::new("files").project("7")), Some(Place::new("projects")));
        assert_eq!(above(PANES, &Place::new("user").item("ada")), Some(Place::new("users")));
        assert_eq!(replacement(PANES, &Place::new("home")), None);
    }

    #[test]
    fn above_a_file_is_its_folder() {
        let file = Place::new("files").project("a/b").at("main").path("src/x.rs").line(3);
        assert_eq!(above(PANES, &file), Some(Place::new("files").project("a/b").at("main").path("src")));
    }

    #[test]
    fn labels_of_places_are_targets() {
        let called = |place: Place| label(PANES, &place);
        assert_eq!(called(Place::new("mr").project("a/b").item(1)), "a/b!1");
        assert_eq!(called(Place::new("epic").group("a").item(1)), "a&1");
        assert_eq!(called(Place::new("files").project("a/b").at("main").path("x")), "a/b@main:x");
        assert_eq!(called(Place::new("job").project("a/b").item(7)), "a/b job 7");
        assert_eq!(called(Place::new("snippets").project("a/b")), "a/b snippets");
    }

    #[test]
    fn places_named_by_the_registry_exist() {
        for entry in PANES {
            if let Above::Place(name) | Above::SameItem(name) = entry.above {
                assert!(find(PANES, name).is_some(), "{} lies below {name}", entry.id);
            }
        }
    }
}
