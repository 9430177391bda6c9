//! The values to choose from in a picker: what the server lists, and what its search finds for the typed text.

use super::{
    Complete, SeenNames, TYPING_DELAY, branches, groups, labels, members, path_of, projects, seen_milestones, tags,
    users,
};
use crate::view::View;
use api::labels::{ListLabels, rgb};
use api::merge_requests::{MergeRequest, Milestone};
use api::{Endpoint, GitRef, Id, Reply};
use std::collections::HashSet;
use store::{Load, Want};

/// A value of a picker.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// The value that is set.
    pub value: String,
    /// The full name of a ref, which tells a branch from a tag of the same name.
    pub full_name: Option<String>,
    /// The name or the description next to it.
    pub detail: String,
    /// The state or the kind, on the right.
    pub note: String,
    /// The color as red, green and blue.
    pub color: Option<[u8; 3]>,
}

impl Choice {
    fn new(value: &str, detail: &str, note: &str) -> Choice {
        Choice { value: value.to_owned(), detail: detail.to_owned(), note: note.to_owned(), ..Choice::default() }
    }
}

/// Returns the loads of `pages` pages of the whole list, and of the first page of those that fit what is typed.
fn loads<T: Send + Sync + 'static, E: Endpoint<Output = Vec<T>>>(all: &E, fitting: &E, pages: u32) -> Vec<Want>
where
    Vec<T>: Reply,
{
    let (all, fitting) = (Load::list(all, pages), Load::list(fitting, 1));
    let fitting = Some(fitting).filter(|fitting| fitting.request != all.request);
    std::iter::once(all).chain(fitting.map(|load| load.after(TYPING_DELAY))).map(Want::from).collect()
}

/// Returns the request for the labels whose name or description contains what is typed.
fn fitting_labels(project: &Id, typed: &str) -> ListLabels {
    let search = Some(typed.trim().to_owned()).filter(|text| !text.is_empty());
    ListLabels { search, ..labels(project) }
}

fn user(username: &str, name: &str, state: &str) -> Choice {
    Choice::new(username, name, if state == "active" { "" } else { state })
}

fn milestone(milestone: &Milestone) -> Choice {
    let state = match milestone.state.as_str() {
        "closed" => "closed".to_owned(),
        _ if milestone.expired == Some(true) => "expired".to_owned(),
        _ => milestone.due_date.as_ref().map(|due| format!("due {due}")).unwrap_or_default(),
    };
    Choice::new(&milestone.title, "", &state)
}

impl Complete {
    /// Returns the wants for the values: `pages` pages of the list, and the server's search for `typed`.
    pub fn choice_wants(&self, view: &View, typed: &str, pages: u32) -> Vec<Want> {
        match self {
            Complete::Users(None) => loads(&users(""), &users(typed), pages),
            Complete::Users(Some(project)) => loads(&members(project, ""), &members(project, typed), pages),
            Complete::Branches(project) => loads(&branches(project, ""), &branches(project, typed), pages),
            Complete::Refs(project) => {
                let mut wants = loads(&branches(project, ""), &branches(project, typed), pages);
                wants.push(Load::list(&tags(project), pages).into());
                wants
            }
            Complete::Labels(Some(project)) => {
                let mut wants = loads(&labels(project), &fitting_labels(project, typed), pages);
                // Older servers do not list labels.
                if view.store.list(&labels(project)).error.is_some() {
                    wants.push(SeenNames::of(Some(project)).want());
                }
                wants
            }
            Complete::Groups => loads(&groups(""), &groups(typed), pages),
            Complete::Projects => loads(&projects(""), &projects(typed), pages),
            _ => self.wants(typed),
        }
    }

    /// Returns the values known so far, each once, in the order of the server.
    pub fn choices(&self, view: &View, typed: &str) -> Vec<Choice> {
        let store = view.store;
        let mut all: Vec<Choice> = match self {
            Complete::Users(None) => {
                let lists = [users(""), users(typed)];
                let rows = lists.iter().flat_map(|list| store.list(list).iter());
                rows.map(|known| user(&known.username, &known.name, &known.state)).collect()
            }
            Complete::Users(Some(project)) => {
                let lists = [members(project, ""), members(project, typed)];
                let rows = lists.iter().flat_map(|list| store.list(list).iter());
                rows.map(|known| user(&known.username, &known.name, &known.state)).collect()
            }
            Complete::Branches(project) | Complete::Refs(project) => {
                let lists = [branches(project, ""), branches(project, typed)];
                let rows = lists.iter().flat_map(|list| store.list(list).iter());
                let note = |default: bool, protected: bool| match (default, protected) {
                    (true, _) => "default branch",
                    (false, true) => "protected branch",
                    (false, false) => "branch",
                };
                let branch = |branch: &api::branches::Branch| {
                    let title = branch.commit.as_ref().map(|commit| commit.title.as_str()).unwrap_or_default();
                    let note = note(branch.default == Some(true), branch.protected);
                    let full_name = Some(GitRef::branch(&branch.name).as_str().to_owned());
                    Choice { full_name, ..Choice::new(&branch.name, title, note) }
                };
                let mut all: Vec<Choice> = rows.map(branch).collect();
                if matches!(self, Complete::Refs(_)) {
                    let tags = store.list(&tags(project));
                    all.extend(tags.iter().map(|tag| {
                        let title = tag.commit.as_ref().map(|commit| commit.title.as_str()).unwrap_or_default();
                        let full_name = Some(GitRef::tag(&tag.name).as_str().to_owned());
                        Choice { full_name, ..Choice::new(&tag.name, title, "tag") }
                    }));
                }
                all
            }
            Complete::Labels(Some(project)) => {
                let lists = [labels(project), fitting_labels(project, typed)];
                let rows = lists.iter().flat_map(|list| store.list(list).iter());
                let label = |label: &api::labels::Label| {
                    let detail = label.description.as_deref().unwrap_or_default();
                    let note = if label.is_project_label == Some(false) { "group" } else { "" };
                    Choice { color: rgb(&label.color), ..Choice::new(&label.name, detail, note) }
                };
                let seen = SeenNames::of(Some(project)).rows(view);
                let seen = seen.iter().flat_map(MergeRequest::labels).map(|label| Choice::new(label.name(), "", ""));
                rows.map(label).chain(seen.filter(|_| store.list(&labels(project)).is_empty())).collect()
            }
            Complete::Milestones(project) => {
                let mut all = seen_milestones(view, project.as_ref(), typed);
                all.sort_by_key(|milestone| milestone.state == "closed");
                all.into_iter().map(milestone).collect()
            }
            Complete::Groups => {
                let known = store.list(&groups(""));
                // A search result may have come without the groups above it.
                let found = store.list(&groups(typed));
                let found = found.iter().filter(|group| known.iter().all(|whole| whole.id != group.id));
                let found = found.map(|group| match group.full_path.is_empty() {
                    true => Choice::new(&group.id.to_string(), &format!("{} ({})", group.name, group.path), ""),
                    false => Choice::new(path_of(group), &group.name, ""),
                });
                known.iter().map(|group| Choice::new(path_of(group), &group.name, "")).chain(found).collect()
            }
            Complete::Projects => {
                let rows = [projects(""), projects(typed)];
                let rows = rows.iter().flat_map(|list| store.list(list).iter());
                let project = |project: &api::projects::Project| {
                    Choice::new(&view.full_path(project), project.description().lines().next().unwrap_or_default(), "")
                };
                rows.map(project).collect()
            }
            Complete::Words(words) => words.iter().map(|word| Choice::new(word, "", "")).collect(),
            Complete::Options(values) => values.iter().map(|value| Choice::new(value, "", "")).collect(),
            Complete::Nothing
            | Complete::Labels(None)
            | Complete::Authors(_)
            | Complete::Paths(_)
            | Complete::Templates { .. } => {
                let items = self.items(view, typed);
                items.iter().map(|item| Choice::new(&item.value, &item.note, "")).collect()
            }
        };
        let mut seen = HashSet::new();
        all.retain(|choice| !choice.value.is_empty() && seen.insert((choice.value.clone(), choice.full_name.clone())));
        all
    }
}
