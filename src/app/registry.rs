//! The registry of panes: what each place is called, what lies above it, and how one gets there.

use super::command::{Command, Info};
use super::pane::{AnyPane, Needs, Pane, View};
use super::place::Place;
use crate::api::Id;

/// What a place shows, so that others can lead to it without knowing its name.
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
    /// Returns what the user calls it.
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

/// What lies above a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Above {
    /// The page of its project, else the first place of the registry.
    Surroundings,
    /// Its own list where it shows a thing of that, else its surroundings.
    OwnList,
    /// The folder of its path, then what is there without the path.
    Folder,
    /// The place of that name, in the same project.
    Place(&'static str),
    /// The place of that name for the same thing; where none is named, what lies above that place.
    SameThing(&'static str),
}

/// How a number in a project or a group is written: `acme/rocket-ui!42`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sign {
    /// What stands before the number.
    pub mark: char,
    /// Whether a group stands before that, not a project.
    pub in_group: bool,
}

/// A row of the registry of panes.
pub struct Entry {
    /// [`Pane::ID`].
    pub id: &'static str,
    /// [`Pane::TITLE`].
    pub title: &'static str,
    /// [`Pane::NEEDS`].
    pub needs: Needs,
    /// What it shows.
    pub thing: Option<Subject>,
    /// How what it shows is written, if that has a form of its own.
    pub sign: Option<Sign>,
    /// What lies above it.
    pub above: Above,
    /// The addresses that mean it, as patterns: see [`route`](super::route).
    pub routes: &'static [&'static str],
    /// The command of every place that goes there.
    pub go: Option<Info>,
    /// What it lists of a project, for "go to anything".
    pub lists: Option<&'static str>,
    /// Words that find it in the palette, beside its title: GitLab's name for the page, and what people type elsewhere.
    pub synonyms: &'static [&'static str],
    /// Opens the pane.
    pub open: fn(&Place, &View) -> Box<dyn AnyPane>,
    /// The rows of its command table.
    pub commands: fn() -> Vec<Info>,
}

impl Entry {
    /// The row of `P`.
    pub const fn of<P: Pane>() -> Entry {
        Entry {
            id: P::ID,
            title: P::TITLE,
            needs: P::NEEDS,
            thing: None,
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

    /// The same place under a second name; its commands are listed under the first alone.
    pub const fn named(self, id: &'static str, title: &'static str) -> Entry {
        Entry { id, title, commands: Vec::new, ..self }
    }

    /// The same place, which needs something else to open.
    pub const fn needing(self, needs: Needs) -> Entry {
        Entry { needs, ..self }
    }

    /// Returns whether it can be about a group as a whole.
    pub fn is_of_groups(&self) -> bool {
        let pages = self.routes.iter().filter_map(|route| route.strip_prefix("groups/{group:rest}/-/"));
        pages.into_iter().any(|page| page != ".." && !page.contains("{item"))
    }

    /// Shows that.
    pub const fn shows(self, thing: Subject) -> Entry {
        Entry { thing: Some(thing), ..self }
    }

    /// Returns what it shows is written as project, mark and number.
    pub const fn signed(self, mark: char) -> Entry {
        Entry { sign: Some(Sign { mark, in_group: false }), ..self }
    }

    /// Returns what it shows is written as group, mark and number.
    pub const fn signed_in_group(self, mark: char) -> Entry {
        Entry { sign: Some(Sign { mark, in_group: true }), ..self }
    }

    /// Lies below that.
    pub const fn below(self, above: Above) -> Entry {
        Entry { above, ..self }
    }

    /// Is meant by these addresses.
    pub const fn at(self, routes: &'static [&'static str]) -> Entry {
        Entry { routes, ..self }
    }

    /// Has a command of every place that goes there.
    pub const fn reached_by(self, id: &'static str, keys: &'static [&'static str], title: &'static str) -> Entry {
        Entry { go: Some(Info { id, keys, title, short: "", writes: false }), ..self }
    }

    /// Is found by these words, in lower case, beside its title.
    pub const fn known_as(self, synonyms: &'static [&'static str]) -> Entry {
        Entry { synonyms, ..self }
    }

    /// Lists these of a project.
    pub const fn lists(self, what: &'static str) -> Entry {
        Entry { lists: Some(what), ..self }
    }
}

/// The row of that name.
pub fn find<'a>(panes: &'a [Entry], id: &str) -> Option<&'a Entry> {
    panes.iter().find(|entry| entry.id == id)
}

/// The place that shows such a thing, with nothing in its slots.
pub fn place_of(panes: &[Entry], thing: Subject) -> Place {
    panes.iter().find(|entry| entry.thing == Some(thing)).map(|entry| Place::new(entry.id)).unwrap_or_default()
}

/// The place above all others: the first of the registry.
pub fn root(panes: &[Entry]) -> Place {
    panes.first().map(|entry| Place::new(entry.id)).unwrap_or_default()
}

/// Returns what `place` shows.
pub fn thing(panes: &[Entry], place: &Place) -> Option<Subject> {
    find(panes, &place.pane)?.thing
}

/// Returns what the user calls it: `acme/rocket-ui!42`, `acme/rocket-ui@main:src/x.rs`, `acme/rocket-ui job 7`.
pub fn label(panes: &[Entry], place: &Place) -> String {
    let within = place.project.as_ref().or(place.group.as_ref()).map(Id::to_string).unwrap_or_default();
    let item = place.item.as_deref().unwrap_or_default();
    let short = item.get(..8).filter(|_| item.len() == 40).unwrap_or(item);
    match find(panes, &place.pane) {
        Some(Entry { thing: Some(Subject::Project), .. }) => {
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

/// The nearest place around `place`: what a missing thing gives way to, and what lies behind the first place.
pub fn above(panes: &[Entry], place: &Place) -> Option<Place> {
    let in_project = |name: &str| {
        let fits = place.project.is_some() || find(panes, name).is_none_or(|entry| entry.needs == Needs::Nothing);
        fits.then(|| Place { project: place.project.clone(), ..Place::new(name) })
    };
    let shows_one =
        [&place.item, &place.git_ref, &place.path].into_iter().any(Option::is_some) || place.group.is_some();
    match find(panes, &place.pane).map_or(Above::Surroundings, |entry| entry.above) {
        Above::Place(name) => in_project(name),
        Above::SameThing(name) if place.item.is_some() && place.git_ref.is_none() => {
            in_project(name).map(|above| Place { item: place.item.clone(), ..above })
        }
        Above::SameThing(name) => above(panes, &in_project(name)?),
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

/// Returns what stands in for a place that was named and does not exist: a path that is no project may be that of a
/// group.
pub fn instead(panes: &[Entry], place: &Place) -> Option<Place> {
    match (thing(panes, place), &place.project) {
        (Some(Subject::Project), Some(path))
            if place.path.is_none() && place.git_ref.is_none() && path.number().is_none() =>
        {
            Some(place_of(panes, Subject::Group).group(path.clone()))
        }
        (Some(Subject::Group), _) if place.group.is_some() => Some(root(panes)),
        // It shows many things, some of which may be gone.
        (Some(Subject::Home), _) => None,
        _ => above(panes, place),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::panes::PANES;

    #[test]
    fn above_a_thing_is_its_list_then_its_project_then_all_projects() {
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
    fn a_path_that_is_no_project_may_be_a_group() {
        let way = instead(PANES, &Place::new("files").project("acme/tools"));
        assert_eq!(way, Some(Place::new("groups").group("acme/tools")));
        assert_eq!(way.and_then(|group| instead(PANES, &group)), Some(Place::new("projects")));
        assert_eq!(instead(PANES, &Place::new("files").project("7")), Some(Place::new("projects")));
        assert_eq!(above(PANES, &Place::new("user").item("ada")), Some(Place::new("users")));
        assert_eq!(instead(PANES, &Place::new("home")), None);
    }

    #[test]
    fn above_a_file_is_its_folder() {
        let file = Place::new("files").project("a/b").at("main").path("src/x.rs").line(3);
        assert_eq!(above(PANES, &file), Some(Place::new("files").project("a/b").at("main").path("src")));
    }

    #[test]
    fn a_place_is_called_what_a_target_would_name() {
        let called = |place: Place| label(PANES, &place);
        assert_eq!(called(Place::new("mr").project("a/b").item(1)), "a/b!1");
        assert_eq!(called(Place::new("epic").group("a").item(1)), "a&1");
        assert_eq!(called(Place::new("files").project("a/b").at("main").path("x")), "a/b@main:x");
        assert_eq!(called(Place::new("job").project("a/b").item(7)), "a/b job 7");
        assert_eq!(called(Place::new("snippets").project("a/b")), "a/b snippets");
    }

    #[test]
    fn every_place_that_a_row_names_is_there() {
        for entry in PANES {
            if let Above::Place(name) | Above::SameThing(name) = entry.above {
                assert!(find(PANES, name).is_some(), "{} lies below {name}", entry.id);
            }
        }
    }
}
