//! Labels of projects and groups. Issues and merge requests refer to them by name.

use super::call::{Answer, Call, Outcome, ReadCall, WriteCall, ok};
use super::mount::Mount;
use super::records::{self, Namespace, Project, Record, Scope, State, level};
use super::rejection::Rejection;
use super::world::World;
use crate::presenters::{contains_ignore_case, escape_html};
use api::labels::*;
use api::{self, NoContent};
use serde_json::json;
use std::ops::Deref;

/// The color names that are accepted in addition to hexadecimal codes.
const COLORS: &[(&str, &str)] = &[
    ("black", "#000000"),
    ("silver", "#c0c0c0"),
    ("gray", "#808080"),
    ("white", "#ffffff"),
    ("maroon", "#800000"),
    ("red", "#ff0000"),
    ("purple", "#800080"),
    ("fuchsia", "#ff00ff"),
    ("green", "#008000"),
    ("lime", "#00ff00"),
    ("olive", "#808000"),
    ("yellow", "#ffff00"),
    ("navy", "#000080"),
    ("blue", "#0000ff"),
    ("teal", "#008080"),
    ("aqua", "#00ffff"),
    ("orange", "#ffa500"),
];

pub fn mount(mount: Mount) -> Mount {
    mount
        .read_signed_in::<ListLabels>(list)
        .read_signed_in::<GetLabel>(get)
        .write::<CreateLabel>(|call, e| {
            let owner = call.scope_as(&e.scope, level::REPORTER)?;
            create(call, owner, e)
        })
        .write::<UpdateLabel>(update)
        .also_write("/labels", BY_NAME, update)
        .write::<SubscribeToLabel>(|call, e| set_subscription(call, &e.scope, &e.label_id, true))
        .write::<UnsubscribeFromLabel>(|call, e| set_subscription(call, &e.scope, &e.label_id, false))
        .write::<DeleteLabel>(delete)
        .also_write("/labels", BY_NAME, delete)
}

api::endpoints! {
    unspecified section "Labels";

    /// Gets a label of a project or group, or of a group above it (since 12.4).
    GET "/labels/{label_id}" of scope: Scope [project, group] => Label;
    struct GetLabel {
        /// ID or name of the label.
        label_id: String,
    }
}

/// The path parameter that names a label, and the input that does so at the paths of servers before 12.4.
const BY_NAME: (&str, &str) = ("label_id", "name");

impl Scope {
    fn has_label(self, label: &records::Label) -> bool {
        match self {
            Scope::Project(id) => label.group.is_none() && label.project == id,
            Scope::Group(id) => label.group == Some(id),
        }
    }

    /// Returns the groups of the project, or the group itself and its ancestors.
    pub fn groups(self, world: &World) -> Vec<u64> {
        match self {
            Scope::Project(id) => world.projects.get(id).map(|project| world.groups_above(project)).unwrap_or_default(),
            Scope::Group(id) => world.group_chain(id).iter().map(|group| group.id).collect(),
        }
    }

    /// Returns whether its labels are available in a project.
    fn reaches(self, world: &World, project: &Project) -> bool {
        match self {
            Scope::Project(id) => project.id == id,
            Scope::Group(id) => world.groups_above(project).contains(&id),
        }
    }
}

impl World {
    /// Returns the groups of a project, innermost first.
    pub fn groups_above(&self, project: &Project) -> Vec<u64> {
        match project.namespace {
            Namespace::Group(id) => self.group_chain(id).iter().map(|group| group.id).collect(),
            Namespace::User(_) => Vec::new(),
        }
    }

    /// Returns the label with a name that is available in a project: its own, or one of its groups.
    pub fn label_in(&self, project: u64, name: &str) -> Option<&records::Label> {
        let project = self.projects.get(project)?;
        let groups = self.groups_above(project);
        self.labels.iter().find(|label| {
            label.name == name && label.group.map_or(label.project == project.id, |group| groups.contains(&group))
        })
    }
}

impl<W: Deref<Target = World>> Call<W> {
    /// Returns a label of an issue or a merge request of a project, with its details if they are asked for.
    pub fn item_label(&self, project: u64, name: &str, detailed: bool) -> ItemLabel {
        match self.world.label_in(project, name).filter(|_| detailed) {
            Some(label) => ItemLabel::Label(Box::new(self.show_label(label))),
            None => ItemLabel::Name(name.to_owned()),
        }
    }

    /// Converts a label to its API representation.
    pub fn show_label(&self, label: &records::Label) -> Label {
        let dark = rgb(&label.color)
            .is_some_and(|[r, g, b]| u32::from(r) * 299 + u32::from(g) * 587 + u32::from(b) * 114 < 150_000);
        Label {
            id: label.id,
            name: label.name.clone(),
            color: label.color.clone(),
            description: Some(label.description.clone()).filter(|text| !text.is_empty()),
            description_html: Some(escape_html(&label.description)),
            text_color: Some(if dark { "#FFFFFF" } else { "#1F1E24" }.into()),
            ..Label::default()
        }
    }

    /// Returns the representation in lists, with the kind of its owner and its usage in the projects for which `of`
    /// returns true.
    fn listed_label(&self, label: &records::Label, counts: bool, in_project: bool, of: impl Fn(u64) -> bool) -> Label {
        let of = &of;
        let issues = |state: State| {
            let mut all = self.world.issues.iter().filter(|issue| of(issue.project) && issue.state == state);
            let all = all.by_ref().filter(|issue| issue.labels.contains(&label.name));
            all.filter(|issue| self.rights.can_read_issue(&self.world, issue)).count() as u64
        };
        let requests = || {
            let open = self.world.merge_requests.iter().filter(|mr| of(mr.target_project) && mr.state == State::Opened);
            open.filter(|mr| mr.labels.contains(&label.name)).count() as u64
        };
        Label {
            open_issues_count: counts.then(|| issues(State::Opened)),
            closed_issues_count: counts.then(|| issues(State::Closed)),
            open_merge_requests_count: counts.then(requests),
            subscribed: Some(self.rights.user.is_some_and(|user| label.subscribers.contains(&user))),
            priority: label.priority.filter(|_| in_project),
            is_project_label: in_project.then_some(label.group.is_none()),
            ..self.show_label(label)
        }
    }
}

/// Returns the labels for which `found` returns true and that match the search, sorted by name.
fn by_name<'a>(
    call: &ReadCall<'a>,
    search: Option<&str>,
    found: impl Fn(&records::Label) -> bool,
) -> Vec<&'a records::Label> {
    let search = search.unwrap_or_default();
    let fits = |label: &&records::Label| {
        found(label) && (contains_ignore_case(&label.name, search) || contains_ignore_case(&label.description, search))
    };
    let mut rows: Vec<&records::Label> = call.world.labels.iter().filter(fits).collect();
    rows.sort_by_key(|label| label.name.to_lowercase());
    rows
}

fn list(call: &ReadCall, input: ListLabels) -> Outcome<Vec<Label>> {
    let owner = call.scope(&input.scope)?;
    let mut above = owner.groups(call.world);
    if input.include_ancestor_groups == Some(false) {
        above.clear();
    }
    let found =
        |label: &records::Label| owner.has_label(label) || label.group.is_some_and(|group| above.contains(&group));
    let is_counted = |id: u64| {
        let project = call.world.projects.get(id);
        project.is_some_and(|project| {
            owner.reaches(call.world, project) && call.rights.can_see_project(call.world, project)
        })
    };
    let (counts, in_project) = (input.with_counts == Some(true), matches!(owner, Scope::Project(_)));
    call.page(by_name(call, input.search.as_deref(), found), |label| {
        call.listed_label(label, counts, in_project, is_counted)
    })
}

fn get(call: &ReadCall, input: GetLabel) -> Outcome<Label> {
    let owner = call.scope(&input.scope)?;
    answer(call, owner, find_available(call, owner, &input.label_id)?)
}

/// Subscribes the caller to a label, or ends the subscription.
fn set_subscription(call: &mut WriteCall, scope: &api::Scope, which: &str, subscribes: bool) -> Outcome<Label> {
    let user = call.require_user()?.id;
    let owner = call.scope(scope)?;
    let id = find_available(call, owner, which)?;
    let label = call.world.labels.get_mut(id).ok_or_else(|| Rejection::not_found("Label"))?;
    let is_changed = if subscribes { label.subscribers.insert(user) } else { label.subscribers.remove(&user) };
    if is_changed { answer(call, owner, id) } else { Err(Rejection::not_modified()) }
}

/// Converts a color to the stored form, `#rrggbb`.
fn color(text: &str) -> Result<String, Rejection> {
    if let Some((_, color)) = COLORS.iter().find(|(name, _)| name.eq_ignore_ascii_case(text)) {
        return Ok((*color).to_owned());
    }
    match rgb(text) {
        Some([r, g, b]) => Ok(format!("#{r:02x}{g:02x}{b:02x}")),
        None => Err(Rejection::bad_request(json!({ "color": ["must be a valid color code"] }))),
    }
}

/// Checks that a label name is valid, and that no other available label has it.
fn check_name(world: &World, owner: Scope, name: &str, but: Option<u64>) -> Result<(), Rejection> {
    if name.trim().is_empty() || name.contains(',') {
        return Err(Rejection::bad_request(json!({ "title": ["is invalid"] })));
    }
    let above = owner.groups(world);
    let at_hand =
        |label: &records::Label| owner.has_label(label) || label.group.is_some_and(|group| above.contains(&group));
    let taken = |label: &records::Label| label.name == name && Some(label.id) != but && at_hand(label);
    if world.labels.iter().any(taken) { Err(Rejection::conflict("Label already exists")) } else { Ok(()) }
}

fn create(call: &mut WriteCall, owner: Scope, input: CreateLabel) -> Outcome<Label> {
    check_name(call.world, owner, &input.name, None)?;
    let (project, group, priority) = match owner {
        Scope::Project(id) => (id, None, input.priority),
        Scope::Group(id) => (0, Some(id), None),
    };
    let id = call.world.labels.add(records::Label {
        project,
        group,
        name: input.name,
        color: color(&input.color)?,
        description: input.description.unwrap_or_default(),
        priority,
        ..records::Label::default()
    });
    answer(call, owner, id)
}

fn answer<W: Deref<Target = World>>(call: &Call<W>, owner: Scope, id: u64) -> Outcome<Label> {
    let label = call.world.labels.get(id).ok_or_else(|| Rejection::not_found("Label"))?;
    let reaches = |id: u64| call.world.projects.get(id).is_some_and(|project| owner.reaches(&call.world, project));
    ok(call.listed_label(label, true, matches!(owner, Scope::Project(_)), reaches))
}

/// Returns the ID of the label with an ID or, failing that, a name.
fn find<W: Deref<Target = World>>(call: &Call<W>, owner: Scope, which: &str) -> Result<u64, Rejection> {
    let number = which.parse::<u64>().ok();
    let own = || call.world.labels.iter().filter(|label| owner.has_label(label));
    let found = own().find(|label| Some(label.id) == number).or_else(|| own().find(|label| label.name == which));
    found.map(Record::id).ok_or_else(|| Rejection::not_found("Label"))
}

/// Returns the ID like [`find`], also of a label of a group above.
fn find_available<W: Deref<Target = World>>(call: &Call<W>, owner: Scope, which: &str) -> Result<u64, Rejection> {
    let above = owner.groups(&call.world).into_iter().map(Scope::Group);
    let id = std::iter::once(owner).chain(above).find_map(|owner| find(call, owner, which).ok());
    id.ok_or_else(|| Rejection::not_found("Label"))
}

fn update(call: &mut WriteCall, input: UpdateLabel) -> Outcome<Label> {
    let owner = call.scope_as(&input.scope, level::REPORTER)?;
    let id = find(call, owner, &input.label_id)?;
    let given = ["new_name", "color", "description", "priority"];
    if !given.iter().any(|name| call.inputs.contains_key(*name)) {
        let why = format!("{} are missing, at least one parameter must be provided", given.join(", "));
        return Err(Rejection::error(400, why));
    }
    let name = input.new_name.filter(|name| !name.is_empty());
    if let Some(name) = &name {
        check_name(call.world, owner, name, Some(id))?;
    }
    let color = input.color.filter(|color| !color.is_empty()).map(|text| color(&text)).transpose()?;
    let clears = call.inputs.get("priority").is_some_and(|v| v.is_null() || v.as_str() == Some(""));
    let Some(label) = call.world.labels.get_mut(id) else { return Err(Rejection::not_found("Label")) };
    label.color = color.unwrap_or_else(|| label.color.clone());
    label.description = input.description.unwrap_or_else(|| label.description.clone());
    let priority = input.priority.filter(|_| matches!(owner, Scope::Project(_)));
    label.priority = if clears { None } else { priority.or(label.priority) };
    if let Some(name) = name {
        let before = std::mem::replace(&mut label.name, name.clone());
        rename(call.world, owner, &before, Some(&name));
    }
    answer(call, owner, id)
}

/// Renames a label in all issues and merge requests that have it, or removes it if there is no new name.
fn rename(world: &mut World, owner: Scope, before: &str, after: Option<&str>) {
    let reached: Vec<u64> =
        world.projects.iter().filter(|project| owner.reaches(world, project)).map(|project| project.id).collect();
    let change = |labels: &mut Vec<String>| match after {
        Some(after) => labels.iter_mut().filter(|label| *label == before).for_each(|label| *label = after.to_owned()),
        None => labels.retain(|label| label != before),
    };
    let has = |labels: &[String]| labels.iter().any(|label| label == before);
    let issues: Vec<u64> = world
        .issues
        .iter()
        .filter(|issue| reached.contains(&issue.project) && has(&issue.labels))
        .map(Record::id)
        .collect();
    for id in issues {
        if let Some(issue) = world.issues.get_mut(id) {
            change(&mut issue.labels);
        }
    }
    let requests: Vec<u64> = world
        .merge_requests
        .iter()
        .filter(|mr| reached.contains(&mr.target_project) && has(&mr.labels))
        .map(Record::id)
        .collect();
    for id in requests {
        if let Some(mr) = world.merge_requests.get_mut(id) {
            change(&mut mr.labels);
        }
    }
}

fn delete(call: &mut WriteCall, input: DeleteLabel) -> Outcome<NoContent> {
    let owner = call.scope_as(&input.scope, level::REPORTER)?;
    let id = find(call, owner, &input.label_id)?;
    if let Some(label) = call.world.labels.remove(id) {
        rename(call.world, owner, &label.name, None);
    }
    Ok(Answer::new(NoContent))
}
