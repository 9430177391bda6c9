//! Recently visited places with their titles, and the projects whose jobs are watched.
//!
//! Titles are searched among all cached replies. That is too expensive for every row of every frame, so it is done once
//! when something changed.

use crate::api::Id;
use crate::api::git_ref::short_range;
use crate::api::merge_requests::MergeRequest;
use crate::app::place::Place;
use crate::app::view::View;
use crate::panes::home::queries;
use crate::parts::project::short_sha;
use std::collections::HashMap;

/// The maximum number of watched pinned projects.
const MAX_PINNED: usize = 20;

/// A recently visited place.
pub struct Visit {
    pub place: Place,
    /// The reference shown before the description, for example `!12`.
    pub mark: String,
    /// The title or a description of the place, as far as known.
    pub words: String,
}

/// The recently visited places, and the watched projects.
#[derive(Default)]
pub struct HomeRecents {
    /// The places, newest first.
    pub visits: Vec<Visit>,
    /// The full paths of the projects whose jobs are watched: the pinned ones, else the one of the user's latest work.
    pub watched: Vec<String>,
    /// Whether the watched projects are the pinned ones.
    pub pinned: bool,
    /// The inputs that this was built from: the store's generation, the places, and the pins.
    inputs: Option<(u64, Vec<Place>, Vec<String>)>,
}

impl HomeRecents {
    /// Rebuilds the data if the inputs changed, and returns whether they did.
    pub fn refresh(&mut self, view: &View) -> bool {
        let (news, places, pinned) = (view.store.generation(), &view.recents.places, &view.settings.pinned_projects);
        if self.inputs.as_ref().is_some_and(|inputs| (inputs.0, &inputs.1, &inputs.2) == (news, places, pinned)) {
            return false;
        }
        let inputs = (news, places.clone(), pinned.clone());
        let titles = titles(view, places);
        self.visits = places.iter().map(|place| visit(place.clone(), &titles)).collect();
        self.watched.clone_from(pinned);
        self.watched.truncate(MAX_PINNED);
        self.pinned = !self.watched.is_empty();
        if !self.pinned {
            self.watched = queries::latest_project(view).into_iter().collect();
        }
        self.inputs = Some(inputs);
        true
    }
}

type Titles = HashMap<(Id, u64), String>;

/// Returns the titles of the merge requests among `places`, in one pass over all cached replies.
fn titles(view: &View, places: &[Place]) -> Titles {
    let numbers: Vec<u64> = places.iter().filter(|p| p.pane == "mr").filter_map(number).collect();
    let known = view.store.known::<MergeRequest>().filter(|(_, request)| numbers.contains(&request.iid));
    known.map(|(_, request)| ((queries::path_of(view, None, request), request.iid), request.title.clone())).collect()
}

fn number(place: &Place) -> Option<u64> {
    place.item.as_deref()?.parse().ok()
}

/// Returns the reference and description of a place.
fn visit(place: Place, titles: &Titles) -> Visit {
    let item = place.item.clone().unwrap_or_default();
    let (mark, words) = match place.pane.as_str() {
        "mr" => {
            let title = place.project.clone().zip(number(&place)).and_then(|key| titles.get(&key));
            (format!("!{item}"), title.cloned().unwrap_or_default())
        }
        "issue" => (format!("#{item}"), "issue".into()),
        "epic" => (format!("&{item}"), "epic".into()),
        "snippets" => (format!("${item}"), "snippet".into()),
        "job" => (String::new(), format!("job {item}")),
        "files" => {
            let at = place.git_ref.as_ref().map(|at| format!("{} ", at.label())).unwrap_or_default();
            (String::new(), format!("{at}{}", place.path.as_deref().unwrap_or("files")))
        }
        "compare" => (String::new(), format!("compare {}", short_range(&item))),
        pane => (String::new(), format!("{pane} {}", short_sha(&item))),
    };
    Visit { place, mark, words }
}
