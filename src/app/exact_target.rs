//! The target that a typed text names exactly: a reference such as `!42`, or the path of a file or folder of the project.
//! The list of its folder tells whether there is that path; it is read only for a text that looks like one.

use super::action::Action;
use super::overlay::picker::{Exact, Item};
use super::place::Place;
use super::place_info::{self, PlaceInfo, Subject};
use super::quick_open::TYPING_DELAY;
use super::target;
use super::view::View;
use api::repository::{ListTree, TreeEntry};
use store::{Load, Rows, Want};

/// The maximum number of pages of a folder that are searched for an entry.
const MAX_PAGES: u32 = 50;

/// A function that returns the item that a typed text names.
type NamedItem = Box<dyn Fn(&str) -> Option<Item>>;

/// The target that a typed text names exactly at a place.
pub struct ExactTarget {
    places: Vec<PlaceInfo>,
    web_url: String,
    /// The place that completes what is typed.
    here: Place,
    /// The request for the tree of the project, if the current place is in one.
    tree: Option<ListTree>,
    /// The path that was looked up, and whether the tree has it.
    found: Option<(String, bool)>,
    /// Whether a number is a line, as after `:` in vim.
    has_line_numbers: bool,
    /// Whether `@` begins the name of a function.
    has_symbols: bool,
    /// The lookup of what is no target.
    or: Option<NamedItem>,
}

impl ExactTarget {
    /// Creates the lookup of what is typed at `here`; `tree` is the request for the tree of its project.
    pub fn new(here: Place, tree: Option<ListTree>, view: &View) -> ExactTarget {
        let (places, web_url) = (view.places.to_vec(), view.session.web_url.clone());
        let (has_line_numbers, has_symbols) = (false, false);
        ExactTarget { places, web_url, here, tree, found: None, has_line_numbers, has_symbols, or: None }
    }

    /// Takes a number for a line of the file.
    pub fn with_line_numbers(self) -> ExactTarget {
        ExactTarget { has_line_numbers: true, ..self }
    }

    /// Looks for what is no target with another function.
    pub fn or(self, or: impl Fn(&str) -> Option<Item> + 'static) -> ExactTarget {
        ExactTarget { or: Some(Box::new(or)), ..self }
    }

    /// Leaves what begins with `@` to the functions of a file, if `has_symbols` is set.
    pub fn with_symbols(self, has_symbols: bool) -> ExactTarget {
        ExactTarget { has_symbols, ..self }
    }

    /// Returns the path and line of a text that looks like those of a file: a bare name may be that of anything.
    fn path_of<'a>(&self, typed: &'a str) -> Option<(&'a str, Option<u32>)> {
        let (path, line) = target::path_and_line(typed);
        let path = path.trim_start_matches("./").trim_matches('/');
        let is_sign = |c: char| self.places.iter().any(|info| info.sign.is_some_and(|sign| sign.mark == c));
        let is_path = !path.is_empty()
            && (typed.contains(['/', '.']) || line.is_some())
            && !typed.contains("://")
            && !typed.contains("/-/")
            && !typed.starts_with(|c: char| c == '@' || c == ':' || is_sign(c));
        is_path.then_some((path, line))
    }

    /// Returns the request for the folder of a path.
    fn folder(&self, path: &str) -> Option<ListTree> {
        let folder = path.rsplit_once('/').map(|(folder, _)| folder.to_owned());
        Some(ListTree { path: folder, ..self.tree.clone()? })
    }

    /// Returns the path in a typed text, and whether the tree has it, once that is known.
    fn lookup(&self, view: &View, typed: &str) -> Option<(String, bool)> {
        let (path, _) = self.path_of(typed)?;
        let rows: Rows<TreeEntry> = view.store.list(&self.folder(path)?);
        let is_there = rows.iter().any(|entry| entry.name == path.rsplit('/').next().unwrap_or(path));
        let is_read = rows.error.is_some() || rows.is_loaded && !rows.has_next(MAX_PAGES);
        (is_there || is_read).then(|| (path.to_owned(), is_there))
    }

    /// Returns whether the tree has a path, as far as that is known.
    fn is_there(&self, path: &str) -> Option<bool> {
        self.found.as_ref().filter(|(found, _)| found == path).map(|(_, is_there)| *is_there)
    }

    fn place(&self, typed: &str) -> Option<Place> {
        let (path, line) = self.path_of(typed).filter(|(path, _)| self.is_there(path) == Some(true))?;
        let tree = place_info::place_of(&self.places, Subject::Project).project(self.here.project.clone()?);
        Some(Place { git_ref: self.here.git_ref.clone(), line, ..tree.path(path) })
    }
}

impl Exact for ExactTarget {
    fn update(&mut self, view: &View, typed: &str) -> bool {
        let found = self.lookup(view, typed);
        let is_new = self.found != found;
        self.found = found;
        is_new
    }

    fn wants(&self, view: &View, typed: &str) -> Vec<Want> {
        let load = |folder: ListTree| {
            let rows: Rows<TreeEntry> = view.store.list(&folder);
            Load::list(&folder, rows.pages_to_end(MAX_PAGES)).after(TYPING_DELAY).optional().into()
        };
        self.path_of(typed).and_then(|(path, _)| self.folder(path)).map(load).into_iter().collect()
    }

    fn is_pending(&self, _: &View, typed: &str) -> bool {
        let is_searched = |(path, line): (&str, Option<u32>)| {
            // Two names with a slash are rather a project.
            let name = path.rsplit('/').next().unwrap_or(path);
            let is_file = line.is_some() || name.contains('.') || typed.ends_with('/');
            is_file && self.is_there(path).is_none()
        };
        self.tree.is_some() && self.item(typed).is_none() && self.path_of(typed).is_some_and(is_searched)
    }

    fn item(&self, typed: &str) -> Option<Item> {
        if self.has_symbols && typed.starts_with('@') {
            return None;
        }
        if let Some(place) = self.place(typed) {
            let path = place.path.as_deref().unwrap_or_default();
            let label = place.line.map_or_else(|| path.to_owned(), |line| format!("{path}:{line}"));
            return Some(Item::act(label, Action::TryPlace(place)).note("file"));
        }
        let is_line = self.has_line_numbers && typed.parse::<u32>().is_ok();
        let typed = if is_line { format!(":{typed}") } else { typed.to_owned() };
        let Some(place) = target::typed_at(&self.places, &self.here, &typed, &self.web_url) else {
            return self.or.as_ref()?(&typed);
        };
        let line = place.line.filter(|_| place.path == self.here.path).map(|line| format!("Line {line}"));
        let label = line.unwrap_or_else(|| place_info::label(&self.places, &place));
        let title = place_info::find(&self.places, &place.pane).map_or("", |info| info.title);
        Some(Item::act(label, Action::TryPlace(place)).note(title))
    }
}
