//! Facts about places: the name of each, the place above it, and the ways to open it.

use super::command_info::Info;
use super::place::Place;
use api::Id;
use api::git_ref::short_range;
use store::Store;

/// The kind of object that a place shows, so that others can open it without knowing its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    Home,
    /// The branch that is checked out in the clone.
    Branch,
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
    /// The results of a search by the server.
    Search,
}

impl Subject {
    /// Returns the name of the kind, as shown to the user.
    pub fn word(self) -> &'static str {
        match self {
            Subject::Home => "home",
            Subject::Branch => "branch",
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
            Subject::Search => "search",
        }
    }
}

/// The place above a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Above {
    /// The page of its project, else the first place of all.
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

/// The data that a place must have for its pane to open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// No requirement: it opens from anywhere.
    Nothing,
    /// A project. A place with a route below `groups/{group:rest}/-/` opens in a group instead, if one is open: see
    /// [`PlaceInfo::is_of_groups`].
    Project,
    /// A project and an item in it: opened from lists, not by name.
    Item,
    /// A text to search for: it opens from anywhere, and asks for the text.
    Text,
}

/// The facts about a place, known before it is opened.
#[derive(Clone, Copy)]
pub struct PlaceInfo {
    /// The ID, which is also its command after `:`.
    pub id: &'static str,
    /// The title, for the palette and the help.
    pub title: &'static str,
    /// The data that it must have to open.
    pub needs: Needs,
    /// The kind of object that it shows.
    pub subject: Option<Subject>,
    /// The notation of what it shows, if that has one of its own.
    pub sign: Option<Sign>,
    /// Returns whether the server has said that it does not support what the place shows.
    pub is_refused: fn(&Store) -> bool,
    /// The place above it.
    pub above: Above,
    /// The patterns of the addresses that open it: see [`route`](super::route).
    pub routes: &'static [&'static str],
    /// The global command that opens it.
    pub go: Option<Info>,
    /// Whether it is a list, which a query can filter.
    pub is_list: bool,
    /// The name of what it lists for a project, for "go to anything".
    pub lists: Option<&'static str>,
    /// Words that find it in the palette in addition to its title: GitLab's name for the page, and names used
    /// elsewhere.
    pub synonyms: &'static [&'static str],
}

impl PlaceInfo {
    /// Returns whether the place can be about a group as a whole.
    pub fn is_of_groups(&self) -> bool {
        let pages = self.routes.iter().filter_map(|route| route.strip_prefix("groups/{group:rest}/-/"));
        pages.into_iter().any(|page| page != ".." && !page.contains("{item"))
    }
}

/// Returns the place with that ID.
pub fn find<'a>(places: &'a [PlaceInfo], id: &str) -> Option<&'a PlaceInfo> {
    places.iter().find(|info| info.id == id)
}

/// Returns the place that shows that kind of object, with all other fields empty.
pub fn place_of(places: &[PlaceInfo], subject: Subject) -> Place {
    places.iter().find(|info| info.subject == Some(subject)).map(|info| Place::new(info.id)).unwrap_or_default()
}

/// Returns the place above all others: the first one.
pub fn root(places: &[PlaceInfo]) -> Place {
    places.first().map(|info| Place::new(info.id)).unwrap_or_default()
}

/// Returns the kind of object that `place` shows.
pub fn subject(places: &[PlaceInfo], place: &Place) -> Option<Subject> {
    find(places, &place.pane)?.subject
}

/// Returns the name of a place, as shown to the user: `acme/rocket-ui!42`, `acme/rocket-ui@main:src/x.rs`,
/// `acme/rocket-ui job 7`.
pub fn label(places: &[PlaceInfo], place: &Place) -> String {
    let within = place.project.as_ref().or(place.group.as_ref()).map(Id::to_string).unwrap_or_default();
    let item = place.item.as_deref().unwrap_or_default();
    let short = item.get(..8).filter(|_| item.len() == 40).unwrap_or(item);
    match find(places, &place.pane) {
        Some(PlaceInfo { subject: Some(Subject::Project), .. }) => {
            let at = place.git_ref.as_ref().map(|at| format!("@{}", at.short())).unwrap_or_default();
            let path = place.path.as_ref().map(|path| format!(":{path}")).unwrap_or_default();
            format!("{within}{at}{path}")
        }
        Some(PlaceInfo { subject: Some(Subject::Comparison), id, .. }) => {
            format!("{within} {id} {}", short_range(item))
        }
        Some(PlaceInfo { sign: Some(sign), .. }) if !item.is_empty() => format!("{within}{}{item}", sign.mark),
        _ => {
            let parts = [within.as_str(), place.pane.as_str(), short];
            parts.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join(" ")
        }
    }
}

/// Returns the nearest place above `place`: it replaces a missing item, and comes next when going back from the first
/// place.
pub fn above(places: &[PlaceInfo], place: &Place) -> Option<Place> {
    let in_project = |name: &str| {
        let fits = place.project.is_some() || find(places, name).is_none_or(|info| info.needs == Needs::Nothing);
        fits.then(|| Place { project: place.project.clone(), ..Place::new(name) })
    };
    let shows_one = place.item.is_some() || place.git_ref.is_some() || place.path.is_some() || place.group.is_some();
    match find(places, &place.pane).map_or(Above::Surroundings, |info| info.above) {
        Above::Place(name) => in_project(name),
        Above::SameItem(name) if place.item.is_some() && place.git_ref.is_none() => {
            in_project(name).map(|above| Place { item: place.item.clone(), ..above })
        }
        Above::SameItem(name) => above(places, &in_project(name)?),
        Above::Folder if place.path.is_some() => {
            let path = place.path.as_ref().and_then(|path| path.rsplit_once('/')).map(|(folder, _)| folder.to_owned());
            Some(Place { path, line: None, ..place.clone() })
        }
        Above::OwnList | Above::Folder if shows_one => in_project(&place.pane),
        _ => surroundings(places, place),
    }
}

fn surroundings(places: &[PlaceInfo], place: &Place) -> Option<Place> {
    let (root, page) = (root(places), place_of(places, Subject::Project));
    match &place.project {
        _ if place.pane == root.pane || subject(places, place) == Some(Subject::Home) => None,
        Some(project) if place.pane != page.pane => Some(page.project(project.clone())),
        _ => Some(root),
    }
}

/// Returns the place that replaces one that was named and does not exist: the path of a missing project may be that of
/// a group, and a missing group may be in one, or a page that a project does not have.
pub fn replacement(places: &[PlaceInfo], place: &Place) -> Option<Place> {
    match (subject(places, place), &place.project) {
        (Some(Subject::Project), Some(path))
            if place.path.is_none() && place.git_ref.is_none() && path.number().is_none() =>
        {
            Some(place_of(places, Subject::Group).group(path.clone()))
        }
        (Some(Subject::Group), _) if place.group.is_some() => {
            let within = place.group.as_ref().and_then(|path| path.as_str().rsplit_once('/')).map(|(within, _)| within);
            Some(match within {
                Some(path) if path.contains('/') => place_of(places, Subject::Project).project(path),
                Some(path) => place_of(places, Subject::Group).group(path),
                None => root(places),
            })
        }
        // Home shows many things, some of which may be gone.
        (Some(Subject::Home), _) => None,
        _ => above(places, place),
    }
}
