//! Opens the source locations that a trace or a test report names: those that exist in the repository.

use crate::api::repository::{ListTree, TreeEntry};
use crate::api::{Fault, GitRef, Id};
use crate::app::action::Action;
use crate::app::context::Cx;
use crate::app::overlay::picker::{self, Item, Picker};
use crate::app::path_search::{CONCURRENT_PAGES, Files, MAX_PAGES, tree};
use crate::app::place::Place;
use crate::app::tone::Tone;
use crate::app::view::View;
use crate::domain::source_location::{self, SourceLocation};
use crate::parts::project;
use crate::parts::repository::blob::source::TreeSource;
use crate::store::{Canceled, Derive, Load, Rows, Want, Work};
use crate::ui::text;
use std::sync::Arc;

/// The maximum number of folders that are listed to find out whether a file exists.
const MAX_FOLDERS: usize = 12;
/// The maximum number of pages of a folder.
const MAX_FOLDER_PAGES: u32 = 20;
/// The maximum number of locations that a message names.
const MAX_NAMED: usize = 3;

/// Returns the full path of a project, by which a runner names its folder.
pub fn project_path(view: &View, id: &Id) -> String {
    let known = project::project(view, id).map(|project| project.path_with_namespace.as_str());
    known.filter(|path| !path.is_empty()).unwrap_or(id.as_str()).to_owned()
}

/// Opens the location that exists at a ref, or offers the ones that exist together with `others`, each with its label.
/// Without locations, nothing is requested.
pub fn open(
    project: &Id,
    git_ref: Option<GitRef>,
    locations: Vec<SourceLocation>,
    others: Vec<(String, Place)>,
    cx: &mut Cx,
) {
    let source = TreeSource { project: project.clone(), git_ref };
    let lookup = Lookup { source, project: project_path(&cx.view, project), locations, others, tree_pages: 1 };
    match picker::Source::decided(&lookup, &cx.view) {
        Some(action) => cx.act(action),
        None => {
            let title = if lookup.others.is_empty() { "Open source location" } else { "Open source location or file" };
            cx.open(Picker::of(title, Box::new(lookup), &cx.view));
        }
    }
}

/// A search for source locations in the repository: in the folders that they name, and if they are not there, in the whole
/// tree, because the tool may have run in a folder or name only files.
struct Lookup {
    source: TreeSource,
    /// The full path of the project.
    project: String,
    locations: Vec<SourceLocation>,
    /// Other places to offer, such as attached files.
    others: Vec<(String, Place)>,
    tree_pages: u32,
}

/// Finds the locations in the loaded tree.
struct FindLocations {
    key: String,
    pages: Vec<Arc<Vec<Files>>>,
    project: String,
    locations: Vec<SourceLocation>,
}

impl Derive for FindLocations {
    type Output = Vec<source_location::Place>;

    fn key(&self) -> String {
        self.key.clone()
    }

    fn run(&self, _: Canceled<'_>) -> Vec<source_location::Place> {
        let files = self.pages.iter().flat_map(|page| page.iter()).flat_map(Files::iter).map(|(_, path)| path);
        source_location::by_suffix(&self.locations, &self.project, files)
    }
}

impl Lookup {
    /// Returns the folders that the locations name.
    fn folders(&self) -> Vec<String> {
        let mut folders = Vec::new();
        let exact = self.locations.iter().filter(|location| !location.is_suffix());
        for path in exact.flat_map(|location| location.paths(&self.project)) {
            let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
            if folders.len() < MAX_FOLDERS && !folders.contains(&folder) {
                folders.push(folder);
            }
        }
        folders
    }

    fn rows<'a>(&self, view: &View<'a>, folder: &str) -> Rows<'a, TreeEntry> {
        view.store.list(&self.source.known_listing(view, folder))
    }

    fn listing(&self, view: &View, folder: &str) -> Load {
        let pages = self.rows(view, folder).pages_to_end(MAX_FOLDER_PAGES);
        Load::list(&self.source.known_listing(view, folder), pages).optional()
    }

    fn whole_tree(&self) -> Load {
        let listing = ListTree { recursive: Some(true), ..self.source.listing("") };
        tree(&listing, self.tree_pages).optional()
    }

    fn files<'a>(&self, view: &View<'a>) -> Rows<'a, Files> {
        view.store.rows_of(&self.whole_tree().request)
    }

    /// Returns the places in the named folders; `None` as long as the folders are loading.
    fn exact(&self, view: &View) -> Option<Vec<source_location::Place>> {
        let folders = self.folders();
        let is_loading = |folder: &String| {
            let rows = self.rows(view, folder);
            rows.error.is_none() && (!rows.is_loaded || rows.has_next(MAX_FOLDER_PAGES))
        };
        let exists = |path: &str| {
            let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
            let known = folders.iter().any(|known| known == folder);
            known && self.rows(view, folder).iter().any(|entry| entry.path == path && !entry.is_folder())
        };
        let is_known = !folders.iter().any(is_loading);
        is_known.then(|| source_location::existing(&self.locations, &self.project, &exists))
    }

    /// Returns whether the whole tree has to be searched.
    fn needs_tree(&self, view: &View) -> bool {
        !self.locations.is_empty() && self.exact(view).is_some_and(|found| found.is_empty()) && !self.is_refused(view)
    }

    /// Returns whether the server refused the trees: whether a file exists is unknown then.
    fn is_refused(&self, view: &View) -> bool {
        let is_refusal = |fault: &Fault| !matches!(fault, Fault::Missing(_));
        let of_folder = |folder: &String| self.rows(view, folder).error.is_some_and(|error| is_refusal(&error.fault));
        self.folders().iter().any(of_folder) || self.files(view).error.is_some()
    }

    fn work(&self, view: &View) -> Option<Work> {
        let rows = self.files(view);
        if !self.needs_tree(view) || !rows.is_loaded || rows.has_next(MAX_PAGES) {
            return None;
        }
        let key = format!("locations {:?} in {:?} {}", self.locations, self.source, rows.revision);
        let (project, locations) = (self.project.clone(), self.locations.clone());
        Some(Work::new(FindLocations { key, pages: rows.shared(), project, locations }))
    }

    /// Returns the places to offer; `None` as long as they are unknown.
    fn places(&self, view: &View) -> Option<Vec<source_location::Place>> {
        let exact = self.exact(view)?;
        if !exact.is_empty() || self.locations.is_empty() {
            return Some(exact);
        }
        if !self.is_refused(view) {
            return view.store.result::<Vec<source_location::Place>>(&self.work(view)?.key).cloned();
        }
        let all = |_: &str| true;
        Some(source_location::existing(&self.locations, &self.project, &all))
    }

    fn place(&self, place: &source_location::Place) -> Place {
        Place {
            git_ref: self.source.git_ref.clone(),
            line: place.line,
            ..Place::new("files").project(self.source.project.clone()).path(place.path.clone())
        }
    }
}

impl picker::Source for Lookup {
    fn update(&mut self, view: &View, _typed: &str) -> bool {
        let rows = self.files(view);
        if rows.has_next(MAX_PAGES) {
            self.tree_pages = self.tree_pages.max(rows.pages() + CONCURRENT_PAGES).min(MAX_PAGES);
        }
        false
    }

    fn wants(&self, view: &View, _typed: &str) -> Vec<Want> {
        let mut wants: Vec<Want> = self.folders().iter().map(|folder| self.listing(view, folder).into()).collect();
        if self.needs_tree(view) {
            wants.push(self.whole_tree().into());
            wants.extend(self.work(view).map(Want::from));
        }
        wants
    }

    fn items(&self, view: &View, _typed: &str) -> Vec<Item> {
        let places = self.places(view).unwrap_or_default();
        let items =
            places.iter().map(|place| Item::act(label(&place.path, place.line), Action::GoToPlace(self.place(place))));
        let others =
            self.others.iter().map(|(label, place)| Item::act(label.clone(), Action::GoToPlace(place.clone())));
        items.chain(others).collect()
    }

    fn loading(&self, view: &View, _typed: &str) -> bool {
        self.places(view).is_none()
    }

    fn decided(&self, view: &View) -> Option<Action> {
        let places = self.places(view)?;
        match (places.as_slice(), self.others.as_slice()) {
            ([place], []) => Some(Action::GoToPlace(self.place(place))),
            ([], [(_, place)]) => Some(Action::GoToPlace(place.clone())),
            ([], []) => {
                let mut names: Vec<String> = Vec::new();
                for name in self.locations.iter().map(|location| label(&location.path, location.line)) {
                    if names.len() < MAX_NAMED && !names.contains(&name) {
                        names.push(name);
                    }
                }
                let part = if self.files(view).is_cut(MAX_PAGES) { "the first files of " } else { "" };
                Some(Action::Say(Tone::Warning, format!("Not found in {part}the repository: {}.", names.join(", "))))
            }
            _ => None,
        }
    }
}

/// Returns the text for a location.
pub fn label(path: &str, line: Option<u32>) -> String {
    let line = line.map_or_else(String::new, |line| format!(":{line}"));
    format!("{}{line}", text::sanitize(path))
}
