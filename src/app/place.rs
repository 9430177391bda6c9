//! A place: what a person looks at, as data. Panes open one another by it, history and targets are made of it.

use crate::api::Id;
use serde::{Deserialize, Serialize};

/// Where a person is, or wants to be: the pane, and what it shows. Slots that a pane does not use stay empty.
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

    /// What stands in for a place that was named and does not exist: a path that is no project may be that of a group.
    pub fn instead(&self) -> Option<Place> {
        let alone = self.pane == "files" && self.path.is_none() && self.git_ref.is_none();
        match (&self.project, self.pane.as_str()) {
            (Some(path), "files") if alone && path.number().is_none() => Some(Place::new("groups").group(path.clone())),
            (_, "groups") if self.group.is_some() => Some(Place::new("projects")),
            // It shows many things, some of which may be gone.
            (_, "home") => None,
            _ => self.above(),
        }
    }

    /// What a person calls it: `acme/rocket-ui!42`, `acme/rocket-ui@main:src/x.rs`, `acme/rocket-ui job 7`.
    pub fn label(&self) -> String {
        let within = self.project.as_ref().or(self.group.as_ref()).map(Id::to_string).unwrap_or_default();
        let item = self.item.as_deref().unwrap_or_default();
        let short = || item.get(..8).filter(|_| item.len() == 40).unwrap_or(item);
        match self.pane.as_str() {
            "mr" => format!("{within}!{item}"),
            "issue" => format!("{within}#{item}"),
            "epic" => format!("{within}&{item}"),
            "snippets" if !item.is_empty() => format!("{within}${item}"),
            "files" => {
                let at = self.git_ref.as_ref().map(|at| format!("@{at}")).unwrap_or_default();
                let path = self.path.as_ref().map(|path| format!(":{path}")).unwrap_or_default();
                format!("{within}{at}{path}")
            }
            pane => {
                [within.as_str(), pane, short()].iter().filter(|s| !s.is_empty()).copied().collect::<Vec<_>>().join(" ")
            }
        }
    }

    /// The nearest place around this one: what a missing thing gives way to, and what lies behind the first place.
    pub fn above(&self) -> Option<Place> {
        let project = self.project.clone();
        let in_project = |pane: &str| project.clone().map(|p| Place::new(pane).project(p));
        match self.pane.as_str() {
            "projects" => None,
            "files" => match (&self.path, &self.git_ref, &project) {
                (Some(path), _, _) => {
                    let parent = path.rsplit_once('/').map(|(parent, _)| parent.to_owned());
                    Some(Place { path: parent, line: None, ..self.clone() })
                }
                (None, Some(_), _) => in_project("files"),
                (None, None, _) => Some(Place::new("projects")),
            },
            "mr" => in_project("mrs"),
            "snippets" if self.item.is_some() => in_project("snippets"),
            "job" | "traces" => in_project("jobs"),
            "artifacts" => match (&self.git_ref, &self.item) {
                (None, Some(job)) => in_project("job").map(|place| place.item(job)),
                _ => in_project("jobs"),
            },
            "user" => Some(Place::new("users")),
            "groups" if self.group.is_some() => Some(Place::new("groups")),
            "key" if self.item.is_some() => Some(Place::new("users")),
            "jobs" if self.item.is_some() => in_project("jobs"),
            "commit" => in_project("commits"),
            "commits" if self.git_ref.is_some() || self.path.is_some() => in_project("commits"),
            _ if project.is_some() => in_project("files"),
            _ => Some(Place::new("projects")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn above_a_thing_is_its_list_then_its_project_then_all_projects() {
        let mut place = Some(Place::new("job").project("a/b").item(7));
        let mut way = Vec::new();
        while let Some(at) = place {
            place = at.above();
            way.push(at.pane);
        }
        assert_eq!(way, ["job", "jobs", "files", "projects"]);
    }

    #[test]
    fn a_path_that_is_no_project_may_be_a_group() {
        let way = Place::new("files").project("acme/tools").instead();
        assert_eq!(way, Some(Place::new("groups").group("acme/tools")));
        assert_eq!(way.and_then(|group| group.instead()), Some(Place::new("projects")));
        assert_eq!(Place::new("files").project("7").instead(), Some(Place::new("projects")));
        assert_eq!(Place::new("user").item("ada").above(), Some(Place::new("users")));
        assert_eq!(Place::new("home").instead(), None);
    }

    #[test]
    fn above_a_file_is_its_folder() {
        let file = Place::new("files").project("a/b").at("main").path("src/x.rs").line(3);
        assert_eq!(file.above(), Some(Place::new("files").project("a/b").at("main").path("src")));
    }
}
