//! Completion of names: words, users, refs, labels, milestones, groups, projects.
//!
//! Known names are offered at once; those that the server finds for the typed text are added when they arrive. Forms
//! and typed queries share this module.

mod choices;

use crate::view::View;
use api::branches::ListBranches;
use api::groups::{GetGroup, Group, ListGroups};
use api::labels::ListLabels;
use api::merge_requests::{ListMergeRequests, ListProjectMergeRequests, MergeRequest, Milestone};
use api::milestones::ListMilestones;
use api::projects::{GetProject, ListProjectUsers, ListProjects};
use api::repository::{GetRawBlob, ListContributors, ListTree, TreeEntry};
use api::search::{Hit, SearchWithin};
use api::tags::ListTags;
use api::users::ListUsers;
use api::{Endpoint, Id, Scope};
use domain::quick_actions::On;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;
use store::{Load, Rows, Want};
use ui::text;

pub use choices::Choice;

/// The time without typing before the server is queried.
const TYPING_DELAY: Duration = Duration::from_millis(150);
/// The maximum number of candidates.
const MAX_CANDIDATES: usize = 50;

/// The kind of name to complete.
#[derive(Clone, Debug, PartialEq)]
pub enum Complete {
    /// Any text: nothing is offered.
    Nothing,
    /// One of these words.
    Words(&'static [&'static str]),
    /// One of these values.
    Options(Arc<[String]>),
    /// A user by username; a user of the project, if one is given.
    Users(Option<Id>),
    /// A branch of a project.
    Branches(Id),
    /// A branch or tag of a project.
    Refs(Id),
    /// An author of commits of a project, by name.
    Authors(Id),
    /// A path of a project on its default branch.
    Paths(Id),
    /// A template by its name: one of the user, if `has_own`, or one in a folder of a project.
    Templates { project: Id, folder: Option<&'static str>, has_own: bool },
    /// A label of a project; without a project, a label that was seen on merge requests.
    Labels(Option<Id>),
    /// A milestone by its title.
    Milestones(Option<Id>),
    /// A group by its full path.
    Groups,
    /// A project by its full path.
    Projects,
}

/// A candidate for completion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The text to insert.
    pub value: String,
    /// The note displayed next to it.
    pub note: String,
}

/// The result of looking up the ID of a named object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// The ID.
    Id(u64),
    /// There is no object with that name.
    Missing,
    /// The server has not replied yet.
    Pending,
}

fn some(text: &str) -> Option<String> {
    Some(text.trim().to_owned()).filter(|t| !t.is_empty())
}

fn users(typed: &str) -> ListUsers {
    ListUsers { search: some(typed.trim_start_matches('@')), ..ListUsers::default() }
}

fn named_user(name: &str) -> ListUsers {
    ListUsers { username: some(name.trim_start_matches('@')), ..ListUsers::default() }
}

fn members(project: &Id, typed: &str) -> ListProjectUsers {
    ListProjectUsers { id: project.clone(), search: some(typed.trim_start_matches('@')) }
}

fn branches(project: &Id, typed: &str) -> ListBranches {
    ListBranches { id: project.clone(), search: some(typed) }
}

fn tags(project: &Id) -> ListTags {
    ListTags { id: project.clone(), ..ListTags::default() }
}

fn authors(project: &Id) -> ListContributors {
    ListContributors { id: project.clone(), order_by: Some("commits".into()), sort: Some("desc".into()) }
}

/// Returns the request for the folder of a partly typed path.
fn folder(project: &Id, typed: &str) -> ListTree {
    let path = typed.rsplit_once('/').map(|(folder, _)| folder.to_owned());
    ListTree { id: project.clone(), path, ..ListTree::default() }
}

/// Returns the request for groups. Servers search only the last name of a path.
fn groups(typed: &str) -> ListGroups {
    ListGroups { search: some(typed.rsplit('/').next().unwrap_or_default()), ..ListGroups::default() }
}

fn projects(typed: &str) -> ListProjects {
    ListProjects {
        search: some(typed.rsplit('/').next().unwrap_or_default()),
        simple: Some(true),
        order_by: Some("last_activity_at".into()),
        ..ListProjects::default()
    }
}

fn labels(project: &Id) -> ListLabels {
    ListLabels { scope: Scope::Project(project.clone()), ..ListLabels::default() }
}

fn all_milestones(project: &Id) -> ListMilestones {
    ListMilestones {
        scope: Scope::Project(project.clone()),
        include_ancestors: Some(true),
        ..ListMilestones::default()
    }
}

fn milestones(project: &Id, typed: &str) -> SearchWithin {
    let within = Scope::Project(project.clone());
    SearchWithin { within, scope: "milestones".into(), search: typed.trim().to_owned() }
}

/// The latest merge requests, from which labels and milestones are collected: older servers do not list those.
enum SeenNames {
    Project(ListProjectMergeRequests),
    All(ListMergeRequests),
}

impl SeenNames {
    fn of(project: Option<&Id>) -> SeenNames {
        let order_by = Some("updated_at".to_owned());
        match project {
            Some(id) => SeenNames::Project(ListProjectMergeRequests { id: id.clone(), order_by, ..Default::default() }),
            None => SeenNames::All(ListMergeRequests { scope: Some("all".into()), order_by, ..Default::default() }),
        }
    }

    fn want(&self) -> Want {
        match self {
            SeenNames::Project(list) => Load::list(list, 1).into(),
            SeenNames::All(list) => Load::list(list, 1).into(),
        }
    }

    fn rows<'a>(&self, view: &View<'a>) -> Rows<'a, MergeRequest> {
        match self {
            SeenNames::Project(list) => view.store.list(list),
            SeenNames::All(list) => view.store.list(list),
        }
    }
}

fn seen_milestones<'a>(view: &View<'a>, project: Option<&Id>, typed: &str) -> Vec<&'a Milestone> {
    let mut all: Vec<&Milestone> =
        SeenNames::of(project).rows(view).iter().filter_map(|request| request.milestone.as_ref()).collect();
    all.extend(project.iter().flat_map(|project| view.store.list(&all_milestones(project)).iter()));
    if let Some(project) = project.filter(|_| !typed.trim().is_empty()) {
        all.extend(view.store.list(&milestones(project, typed)).iter().filter_map(|hit| match hit {
            Hit::Milestone(milestone) => Some(milestone.as_ref()),
            _ => None,
        }));
    }
    let mut ids = HashSet::new();
    all.retain(|milestone| ids.insert(milestone.id));
    all
}

impl Complete {
    /// Returns the wants for the candidates for `typed`.
    pub fn wants(&self, typed: &str) -> Vec<Want> {
        fn both<T: Send + Sync + 'static, E: Endpoint<Output = Vec<T>>>(all: E, fitting: E, typed: &str) -> Vec<Want>
        where
            Vec<T>: api::Reply,
        {
            let mut wants: Vec<Want> = vec![Load::list(&all, 1).into()];
            if !typed.trim().is_empty() {
                wants.push(Load::list(&fitting, 1).after(TYPING_DELAY).into());
            }
            wants
        }
        match self {
            Complete::Nothing | Complete::Words(_) | Complete::Options(_) => Vec::new(),
            Complete::Users(None) => both(users(""), users(typed), typed),
            Complete::Users(Some(project)) => both(members(project, ""), members(project, typed), typed),
            Complete::Branches(project) => both(branches(project, ""), branches(project, typed), typed),
            Complete::Refs(project) => {
                let mut wants = both(branches(project, ""), branches(project, typed), typed);
                wants.push(Load::list(&tags(project), 1).into());
                wants
            }
            Complete::Authors(project) => vec![Load::list(&authors(project), 1).into()],
            // A folder may not exist, which newer servers answer with 404.
            Complete::Paths(project) => {
                vec![Load::list(&folder(project, typed), 1).optional().after(TYPING_DELAY).into()]
            }
            Complete::Templates { project, folder, .. } => {
                let list = folder.map(|folder| Load::list(&templates(project, folder), 1).optional().into());
                list.into_iter().collect()
            }
            Complete::Labels(project) => {
                let all = project.as_ref().map(|project| Load::list(&labels(project), 1).into());
                all.into_iter().chain([SeenNames::of(project.as_ref()).want()]).collect()
            }
            Complete::Milestones(project) => {
                let mut wants = vec![SeenNames::of(project.as_ref()).want()];
                wants.extend(project.as_ref().map(|project| Want::from(Load::list(&all_milestones(project), 1))));
                if let Some(project) = project.as_ref().filter(|_| !typed.trim().is_empty()) {
                    wants.push(Load::list(&milestones(project, typed), 1).after(TYPING_DELAY).into());
                }
                wants
            }
            Complete::Groups => both(groups(""), groups(typed), typed),
            Complete::Projects => both(projects(""), projects(typed), typed),
        }
    }

    /// Returns the candidates for `typed`: those that begin with it first, then those that contain it.
    pub fn items(&self, view: &View, typed: &str) -> Vec<Candidate> {
        let mut all: Vec<Candidate> = Vec::new();
        let mut add = |value: &str, note: &str| all.push(Candidate { value: value.into(), note: note.into() });
        match self {
            Complete::Nothing => {}
            Complete::Words(words) => words.iter().for_each(|word| add(word, "")),
            Complete::Options(values) => values.iter().for_each(|value| add(value, "")),
            Complete::Templates { project, folder, has_own } => {
                let own = view.session.templates.keys().filter(|_| *has_own);
                own.for_each(|name| add(name, "yours"));
                let files = folder.iter().flat_map(|folder| view.store.list(&templates(project, folder)).iter());
                files
                    .filter_map(template_name)
                    .for_each(|name| add(name, if *has_own { "of the project" } else { "" }));
            }
            Complete::Users(None) => {
                for user in [users(""), users(typed)].iter().flat_map(|list| view.store.list(list).iter()) {
                    add(&user.username, &user.name);
                }
            }
            Complete::Users(Some(project)) => {
                let lists = [members(project, ""), members(project, typed)];
                for user in lists.iter().flat_map(|list| view.store.list(list).iter()) {
                    add(&user.username, &user.name);
                }
            }
            Complete::Branches(project) | Complete::Refs(project) => {
                let lists = [branches(project, ""), branches(project, typed)];
                for branch in lists.iter().flat_map(|list| view.store.list(list).iter()) {
                    add(&branch.name, "branch");
                }
                if matches!(self, Complete::Refs(_)) {
                    view.store.list(&tags(project)).iter().for_each(|tag| add(&tag.name, "tag"));
                }
            }
            Complete::Authors(project) => {
                for author in view.store.list(&authors(project)).iter() {
                    add(&author.name, &format!("{}  {}", text::count_noun(author.commits, "commit"), author.email));
                }
            }
            Complete::Paths(project) => {
                let entries = view.store.list(&folder(project, typed));
                let (folders, files): (Vec<_>, Vec<_>) = entries.iter().partition(|entry| entry.is_folder());
                folders.iter().for_each(|entry| add(&format!("{}/", entry.path), ""));
                files.iter().for_each(|entry| add(&entry.path, ""));
            }
            Complete::Labels(project) => {
                for label in project.iter().flat_map(|project| view.store.list(&labels(project)).iter()) {
                    add(&label.name, label.description.as_deref().unwrap_or_default());
                }
                let requests = SeenNames::of(project.as_ref()).rows(view);
                requests.iter().flat_map(MergeRequest::labels).for_each(|label| add(label.name(), ""));
            }
            Complete::Milestones(project) => {
                for milestone in seen_milestones(view, project.as_ref(), typed) {
                    add(&milestone.title, if milestone.state == "closed" { "closed" } else { "" });
                }
            }
            Complete::Groups => {
                let known = view.store.list(&groups(""));
                known.iter().for_each(|group| add(path_of(group), &group.name));
                for group in view.store.list(&groups(typed)).iter() {
                    // A search result may have come without the groups above it.
                    match known.iter().find(|whole| whole.id == group.id) {
                        Some(whole) => add(path_of(whole), &whole.name),
                        None if group.full_path.is_empty() => {
                            add(&group.id.to_string(), &format!("{} ({})", group.name, group.path));
                        }
                        None => add(path_of(group), &group.name),
                    }
                }
            }
            Complete::Projects => {
                for project in [projects(""), projects(typed)].iter().flat_map(|list| view.store.list(list).iter()) {
                    add(&view.full_path(project), "");
                }
            }
        }
        fitting(all, typed)
    }

    /// Returns whether more candidates may arrive for `typed`.
    pub fn is_loading(&self, view: &View, typed: &str) -> bool {
        view.store.is_any_loading(&self.wants(typed))
    }

    /// Returns the wants for the ID of the object called `name`.
    pub fn find_wants(&self, name: &str) -> Vec<Want> {
        let name = name.trim();
        if name.is_empty() || name.parse::<u64>().is_ok() {
            return Vec::new();
        }
        match self {
            Complete::Users(_) => vec![Load::list(&named_user(name), 1).after(TYPING_DELAY).into()],
            Complete::Groups => vec![Load::single(&group_named(name)).after(TYPING_DELAY).into()],
            Complete::Projects => vec![Load::single(&project_named(name)).after(TYPING_DELAY).into()],
            Complete::Milestones(_) => self.wants(name),
            _ => Vec::new(),
        }
    }

    /// Returns the ID of the object called `name`; a number is its own ID.
    pub fn find(&self, view: &View, name: &str) -> Found {
        let name = name.trim();
        if let Ok(number) = name.parse() {
            return Found::Id(number);
        }
        let by = |id: Option<u64>, known: bool| match (id, known) {
            (Some(id), _) => Found::Id(id),
            (None, true) => Found::Missing,
            (None, false) => Found::Pending,
        };
        match self {
            Complete::Users(project) => {
                let bare = name.trim_start_matches('@');
                let same = |username: &str| username.eq_ignore_ascii_case(bare);
                if let Some(me) = view.me().filter(|me| bare == "me" && name.starts_with('@') || same(&me.username)) {
                    return Found::Id(me.id);
                }
                let member = project.as_ref().and_then(|project| {
                    view.store.list(&members(project, "")).iter().find(|u| same(&u.username)).map(|u| u.id)
                });
                let rows = view.store.list(&named_user(name));
                let id = member.or_else(|| rows.iter().find(|u| same(&u.username)).map(|u| u.id));
                by(id, rows.is_loaded || rows.error.is_some())
            }
            Complete::Groups => {
                let remote = view.store.get(&group_named(name));
                by(remote.value.map(|group| group.id), remote.value.is_some() || remote.error.is_some())
            }
            Complete::Projects => {
                let remote = view.store.get(&project_named(name));
                by(remote.value.map(|project| project.id), remote.value.is_some() || remote.error.is_some())
            }
            Complete::Milestones(project) => {
                let all = seen_milestones(view, project.as_ref(), name);
                let id = all.iter().find(|m| m.title.eq_ignore_ascii_case(name)).map(|m| m.id);
                let answered = project.as_ref().is_none_or(|project| {
                    let rows = view.store.list(&milestones(project, name));
                    rows.is_loaded || rows.error.is_some()
                });
                by(id, answered)
            }
            _ => Found::Missing,
        }
    }

    /// Returns the request for the template of the project that has this name, whatever its case.
    pub fn template(&self, name: &str, view: &View) -> Option<GetRawBlob> {
        let Complete::Templates { project, folder: Some(folder), .. } = self else { return None };
        let files = view.store.list(&templates(project, folder));
        let file =
            files.iter().find(|file| template_name(file).is_some_and(|known| known.eq_ignore_ascii_case(name)))?;
        Some(GetRawBlob { id: project.clone(), sha: file.id.clone() })
    }
}

/// The folders in which a project keeps its templates of descriptions.
pub const ISSUE_TEMPLATES: &str = ".gitlab/issue_templates";
pub const MERGE_REQUEST_TEMPLATES: &str = ".gitlab/merge_request_templates";

/// Returns the folder of the templates for a kind of object.
pub fn template_folder(on: On) -> Option<&'static str> {
    match on {
        On::Issue => Some(ISSUE_TEMPLATES),
        On::MergeRequest => Some(MERGE_REQUEST_TEMPLATES),
        On::Epic => None,
    }
}

/// Returns the request for the templates in a folder of a project.
pub fn templates(project: &Id, folder: &str) -> ListTree {
    ListTree { id: project.clone(), path: Some(folder.into()), ..ListTree::default() }
}

/// Returns the name of a template, as offered to the user; `None` if the file is not a template.
fn template_name(file: &TreeEntry) -> Option<&str> {
    file.name.strip_suffix(".md").filter(|name| !name.is_empty() && !file.is_folder())
}

fn group_named(path: &str) -> GetGroup {
    GetGroup { id: path.into(), with_custom_attributes: None }
}

fn project_named(path: &str) -> GetProject {
    GetProject::new(&path.into())
}

fn path_of(group: &Group) -> &str {
    if group.full_path.is_empty() { &group.path } else { &group.full_path }
}

/// Returns the matching candidates without duplicates: values that begin with `typed` first, then values in which a
/// word begins with it, values that contain it, and those whose note contains it.
fn fitting(all: Vec<Candidate>, typed: &str) -> Vec<Candidate> {
    let typed = typed.trim().trim_start_matches('@').to_lowercase();
    let mut seen = HashSet::new();
    let mut ranked: Vec<(u8, Candidate)> = Vec::new();
    for candidate in all {
        let value = candidate.value.to_lowercase();
        let part = || value.split(['/', '-', '_', ' ', '.']).any(|part| part.starts_with(&typed));
        let rank = match () {
            () if value.starts_with(&typed) => 0,
            () if part() => 1,
            () if value.contains(&typed) => 2,
            () if candidate.note.to_lowercase().contains(&typed) => 3,
            () => continue,
        };
        if seen.insert(candidate.value.clone()) {
            ranked.push((rank, candidate));
        }
    }
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.into_iter().map(|(_, candidate)| candidate).take(MAX_CANDIDATES).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefix_matches_come_first_and_candidates_are_unique() {
        let all = ["tests/bug", "bug", "debugger", "Bugs", "bug", "other"];
        let all = all.iter().map(|value| Candidate { value: (*value).into(), note: String::new() }).collect();
        let values: Vec<String> = fitting(all, "bug").into_iter().map(|c| c.value).collect();
        assert_eq!(values, ["bug", "Bugs", "tests/bug", "debugger"]);
    }
}
