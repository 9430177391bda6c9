//! A place: what the user looks at, as data. Panes open one another by it, history and targets are made of it.

use crate::api::Id;
use crate::api::endpoint::{Request, decode};
use serde::{Deserialize, Serialize};

/// Where the user is, or wants to be: the pane, and what it shows. Slots that a pane does not use stay empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Place {
    /// Name of the pane, which is also its command after `:`.
    pub pane: String,
    /// The project, by number or full path.
    pub project: Option<Id>,
    /// The group, by number or full path.
    pub group: Option<Id>,
    /// Branch, tag or commit.
    pub git_ref: Option<String>,
    /// Path inside the repository.
    pub path: Option<String>,
    /// Line, from 1.
    pub line: Option<u32>,
    /// The thing itself: iid of a merge request, id of a job or pipeline, SHA of a commit.
    pub item: Option<String>,
    /// A note of it, by its ID.
    pub note: Option<u64>,
    /// The tab to open, by its title in lower case.
    pub tab: Option<String>,
    /// What a list is asked for: a typed query.
    pub query: Option<String>,
}

impl Place {
    /// The place `pane`, with nothing in its slots.
    pub fn new(pane: &str) -> Place {
        Place { pane: pane.to_owned(), ..Place::default() }
    }

    /// Returns whether the place exists only if what `request` asks for does: the thing itself, or a list of which only
    /// the project or group is named. Whatever else a place shows may be missing.
    pub fn needs(&self, request: &Request) -> bool {
        let parts = request.route.split('/').zip(request.path.split('/'));
        let names: Vec<String> =
            parts.filter(|(slot, _)| slot.starts_with('{')).map(|(_, name)| decode(name)).collect();
        let container = self.project.as_ref().or(self.group.as_ref()).map(Id::as_str);
        let things = [&self.item, &self.git_ref, &self.path].map(|thing| thing.as_deref());
        let asks_for_thing = request.route.ends_with('}');
        let is_own = |name: &str| container == Some(name) || asks_for_thing && things.contains(&Some(name));
        !names.is_empty() && names.iter().all(|name| is_own(name))
    }

    /// In that project.
    pub fn project(mut self, project: impl Into<Id>) -> Place {
        self.project = Some(project.into());
        self
    }

    /// In that group.
    pub fn group(mut self, group: impl Into<Id>) -> Place {
        self.group = Some(group.into());
        self
    }

    /// At that branch, tag or commit.
    pub fn at(mut self, git_ref: impl Into<String>) -> Place {
        self.git_ref = Some(git_ref.into());
        self
    }

    /// At that path.
    pub fn path(mut self, path: impl Into<String>) -> Place {
        self.path = Some(path.into());
        self
    }

    /// At that line, from 1.
    pub fn line(mut self, line: u32) -> Place {
        self.line = Some(line);
        self
    }

    /// Showing that thing.
    pub fn item(mut self, item: impl ToString) -> Place {
        self.item = Some(item.to_string());
        self
    }

    /// On that tab.
    pub fn tab(mut self, tab: &str) -> Place {
        self.tab = Some(tab.to_owned());
        self
    }

    /// Asked for that.
    pub fn query(mut self, query: impl Into<String>) -> Place {
        self.query = Some(query.into()).filter(|query: &String| !query.is_empty());
        self
    }
}
