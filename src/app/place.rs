//! Places: locations in the app, as data. Panes open one another by place; the history consists of places, and targets
//! are parsed into them.

use api::endpoint::{Request, decode};
use api::git_ref::short_range;
use api::{GitRef, Id};
use serde::{Deserialize, Serialize};

/// A location in the app: the pane, and what it shows. Fields that a pane does not use stay empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Place {
    /// The name of the pane, which is also its command after `:`.
    pub pane: String,
    /// The project, by ID or full path.
    pub project: Option<Id>,
    /// The group, by ID or full path.
    pub group: Option<Id>,
    /// A branch, tag or commit.
    pub git_ref: Option<GitRef>,
    /// Whether a web address joins the ref and the path with a slash, so that the ref may be longer than it is here.
    pub is_joined: bool,
    /// A path inside the repository.
    pub path: Option<String>,
    /// A line number, from 1.
    pub line: Option<u32>,
    /// A section of a Markdown file, as links name it after their `#`.
    pub section: Option<Box<str>>,
    /// The item itself: IID of a merge request, ID of a job or pipeline, SHA of a commit.
    pub item: Option<String>,
    /// A note of the item, by its ID.
    pub note: Option<u64>,
    /// The tab to open, by its title in lower case.
    pub tab: Option<String>,
    /// The query of a list, as typed, or the part of its web address from `?` on.
    pub query: Option<String>,
}

impl Place {
    /// Creates a place for the pane `pane`, with all other fields empty.
    pub fn new(pane: &str) -> Place {
        Place { pane: pane.to_owned(), ..Place::default() }
    }

    /// Returns whether the place cannot exist if `request` finds nothing: the request is for the item itself, or for a
    /// list that depends only on the project or group. Everything else that a place shows may be missing.
    pub fn needs(&self, request: &Request) -> bool {
        let parts = request.route.split('/').zip(request.path.split('/'));
        let names: Vec<String> =
            parts.filter(|(slot, _)| slot.starts_with('{')).map(|(_, name)| decode(name)).collect();
        let container = self.project.as_ref().or(self.group.as_ref()).map(Id::as_str);
        let git_ref = self.git_ref.as_ref().map(GitRef::as_str);
        let things = [self.item.as_deref(), git_ref, self.path.as_deref()];
        // As long as it is open where the ref ends, neither the ref nor the path needs to exist.
        let asks_for_thing = request.route.ends_with('}') && !self.is_joined;
        let is_own = |name: &str| container == Some(name) || asks_for_thing && things.contains(&Some(name));
        !names.is_empty() && names.iter().all(|name| is_own(name))
    }

    /// Returns whether both are the same location. The refs of one may lack the kind that the other's have, as in
    /// places that were saved before kinds were.
    pub fn is_same(&self, other: &Place) -> bool {
        let name = |place: &Place| place.git_ref.as_ref().map(|name| name.short().to_owned());
        let kind = |place: &Place| place.git_ref.as_ref().and_then(GitRef::kind);
        let item = |place: &Place| place.item.as_deref().map(short_range);
        let rest = |place: &Place| Place { git_ref: None, item: None, ..place.clone() };
        let has_one_kind = kind(self).is_none() || kind(other).is_none() || kind(self) == kind(other);
        has_one_kind && name(self) == name(other) && item(self) == item(other) && rest(self) == rest(other)
    }

    /// Sets the project.
    pub fn project(mut self, project: impl Into<Id>) -> Place {
        self.project = Some(project.into());
        self
    }

    /// Sets the group.
    pub fn group(mut self, group: impl Into<Id>) -> Place {
        self.group = Some(group.into());
        self
    }

    /// Sets the branch, tag or commit.
    pub fn at(mut self, git_ref: impl Into<GitRef>) -> Place {
        self.git_ref = Some(git_ref.into());
        self
    }

    /// Sets the path.
    pub fn path(mut self, path: impl Into<String>) -> Place {
        self.path = Some(path.into());
        self
    }

    /// Sets the line, from 1.
    pub fn line(mut self, line: u32) -> Place {
        self.line = Some(line);
        self
    }

    /// Sets the item.
    pub fn item(mut self, item: impl ToString) -> Place {
        self.item = Some(item.to_string());
        self
    }

    /// Sets the tab.
    pub fn tab(mut self, tab: &str) -> Place {
        self.tab = Some(tab.to_owned());
        self
    }

    /// Sets the query; an empty one is ignored.
    pub fn query(mut self, query: impl Into<String>) -> Place {
        self.query = Some(query.into()).filter(|query: &String| !query.is_empty());
        self
    }
}
