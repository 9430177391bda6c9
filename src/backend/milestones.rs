//! Milestones of projects and groups, and their issues and merge requests.

use super::call::{Answer, Call, Outcome, ReadCall, WriteCall, ok};
use super::git::Git;
use super::mount::Mount;
use super::records::{self, MilestoneState, Project, Record, level};
use super::rejection::Rejection;
use super::world::World;
use crate::api::issues::Issue;
use crate::api::merge_requests::{MergeRequest, Milestone};
use crate::api::milestones::*;
use crate::api::{Id, NoContent, Time};
use crate::backend::presenters::contains_ignore_case;
use jiff::civil::Date;
use serde_json::json;
use std::collections::BTreeMap;
use std::ops::Deref;

pub fn mount(mount: Mount) -> Mount {
    mount
        .read_signed_in::<ListMilestones>(|call, e| {
            let owner = Owner::Project(call.project(&e.id)?.id);
            let wanted = MilestoneFilter { state: e.state, title: e.title, search: e.search, iids: e.iids };
            list(call, owner, e.include_ancestors == Some(true), wanted)
        })
        .write::<CreateMilestone>(|call, e| {
            let owner = Owner::Project(call.project_as(&e.id, level::REPORTER)?.id);
            create(call, owner, e.title, e.description, [e.start_date, e.due_date])
        })
        .write::<UpdateMilestone>(|call, e| {
            let owner = Owner::Project(call.project_as(&e.id, level::REPORTER)?.id);
            let [title, description, event] = [e.title, e.description, e.state_event];
            let change = Change { title, description, start_date: e.start_date, due_date: e.due_date, event };
            update(call, owner, e.milestone_id, change)
        })
        .write::<DeleteMilestone>(|call, e| {
            let owner = Owner::Project(call.project_as(&e.id, level::REPORTER)?.id);
            delete(call, owner, e.milestone_id)
        })
        .read_signed_in::<ListMilestoneIssues>(|call, e| {
            let owner = Owner::Project(call.project(&e.id)?.id);
            issues(call, owner, e.milestone_id)
        })
        .read_signed_in::<ListMilestoneMergeRequests>(|call, e| {
            let owner = Owner::Project(call.project(&e.id)?.id);
            requests(call, owner, e.milestone_id)
        })
        .read_signed_in::<ListGroupMilestones>(|call, e| {
            let owner = Owner::Group(call.group(&e.id)?.id);
            let wanted = MilestoneFilter { state: e.state, title: e.title, search: e.search, iids: e.iids };
            list(call, owner, e.include_ancestors == Some(true), wanted)
        })
        .write::<CreateGroupMilestone>(|call, e| {
            let owner = Owner::Group(call.group_as(&e.id, level::REPORTER)?.id);
            create(call, owner, e.title, e.description, [e.start_date, e.due_date])
        })
        .write::<UpdateGroupMilestone>(|call, e| {
            let owner = Owner::Group(call.group_as(&e.id, level::REPORTER)?.id);
            let [title, description, event] = [e.title, e.description, e.state_event];
            let change = Change { title, description, start_date: e.start_date, due_date: e.due_date, event };
            update(call, owner, e.milestone_id, change)
        })
        .write::<DeleteGroupMilestone>(|call, e| {
            let owner = Owner::Group(call.group_as(&e.id, level::REPORTER)?.id);
            delete(call, owner, e.milestone_id)
        })
        .read_signed_in::<ListGroupMilestoneIssues>(|call, e| {
            let owner = Owner::Group(call.group(&e.id)?.id);
            issues(call, owner, e.milestone_id)
        })
        .read_signed_in::<ListGroupMilestoneMergeRequests>(|call, e| {
            let owner = Owner::Group(call.group(&e.id)?.id);
            requests(call, owner, e.milestone_id)
        })
}

/// The owner of milestones.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Owner {
    Project(u64),
    Group(u64),
}

impl Owner {
    fn has(self, milestone: &records::Milestone) -> bool {
        match self {
            Owner::Project(id) => milestone.group.is_none() && milestone.project == id,
            Owner::Group(id) => milestone.group == Some(id),
        }
    }

    /// Returns the groups of the project, or the group itself and its ancestors.
    fn groups(self, world: &World) -> Vec<u64> {
        match self {
            Owner::Project(id) => world.projects.get(id).map(|project| world.groups_above(project)).unwrap_or_default(),
            Owner::Group(id) => world.group_chain(id).iter().map(|group| group.id).collect(),
        }
    }

    /// Returns the highest IID of a milestone so far; IIDs of deleted milestones are not reused.
    fn last_iid(self, world: &World) -> u64 {
        let of_deleted = match self {
            Owner::Project(id) => world.projects.get(id).map(|project| project.last_milestone_iid),
            Owner::Group(id) => world.groups.get(id).map(|group| group.last_milestone_iid),
        };
        let iids = world.milestones.iter().filter(|milestone| self.has(milestone)).map(|milestone| milestone.iid);
        iids.max().max(of_deleted).unwrap_or(0)
    }

    /// Records the IID of a milestone that is being deleted.
    fn keep_iid(self, world: &mut World, iid: u64) {
        let last = match self {
            Owner::Project(id) => world.projects.get_mut(id).map(|project| &mut project.last_milestone_iid),
            Owner::Group(id) => world.groups.get_mut(id).map(|group| &mut group.last_milestone_iid),
        };
        if let Some(last) = last {
            *last = iid.max(*last);
        }
    }
}

impl World {
    /// Returns the ID of a milestone if it is available in a project: its own, or one of its groups.
    pub fn milestone_in(&self, project: &Project, id: u64) -> Option<u64> {
        let milestone = self.milestones.get(id)?;
        let is_at_hand = match milestone.group {
            Some(group) => self.groups_above(project).contains(&group),
            None => milestone.project == project.id,
        };
        is_at_hand.then_some(id)
    }
}

impl<W: Deref<Target = World>> Call<W> {
    /// Returns the representation in lists, with its URL, and whether it is overdue.
    fn listed_milestone(&self, milestone: &records::Milestone) -> Milestone {
        let project = || self.world.projects.get(milestone.project).map(|project| self.project_url(project));
        let group = |id| format!("{}/groups/{}", self.base_url, self.world.group_path(id));
        let url = milestone.group.map(group).or_else(project).unwrap_or_default();
        let today = self.now.to_zoned(jiff::tz::TimeZone::UTC).date();
        let is_open = milestone.state == MilestoneState::Active;
        Milestone {
            expired: Some(is_open && milestone.due_date.is_some_and(|due| due < today)),
            web_url: Some(format!("{url}/-/milestones/{}", milestone.iid)),
            ..self.show_milestone(milestone)
        }
    }
}

/// The filters of a list.
struct MilestoneFilter {
    state: Option<String>,
    title: Option<String>,
    search: Option<String>,
    iids: Option<Vec<u64>>,
}

fn list(call: &ReadCall, owner: Owner, with_above: bool, wanted: MilestoneFilter) -> Outcome<Vec<Milestone>> {
    let state = call.choice_or_first("state", wanted.state.as_deref(), &["all", "active", "closed"])?.to_owned();
    let above = if with_above { owner.groups(call.world) } else { Vec::new() };
    let search = wanted.search.unwrap_or_default();
    let found = |milestone: &&records::Milestone| {
        (owner.has(milestone) || milestone.group.is_some_and(|group| above.contains(&group)))
            && (state == "all" || milestone.state.as_str() == state)
            && wanted.title.as_ref().is_none_or(|title| milestone.title == *title)
            && wanted.iids.as_ref().is_none_or(|iids| iids.is_empty() || iids.contains(&milestone.iid))
            && (contains_ignore_case(&milestone.title, &search)
                || contains_ignore_case(&milestone.description, &search))
    };
    let mut rows: Vec<&records::Milestone> = call.world.milestones.iter().filter(found).collect();
    // Earliest due date first, and milestones without one last.
    rows.sort_by_key(|milestone| (milestone.due_date.is_none(), milestone.due_date, milestone.id));
    call.page(rows, |milestone| call.listed_milestone(milestone))
}

/// Returns the milestone with an ID.
fn find<W: Deref<Target = World>>(call: &Call<W>, owner: Owner, id: u64) -> Result<&records::Milestone, Rejection> {
    let found = call.world.milestones.get(id).filter(|milestone| owner.has(milestone));
    found.ok_or_else(|| Rejection::not_found("Milestone"))
}

/// Parses the date of an input; `None` if it is empty.
pub fn day(name: &str, text: &str) -> Result<Option<Date>, Rejection> {
    if text.is_empty() {
        return Ok(None);
    }
    let day = Time::from(text).instant().map(|at| at.to_zoned(jiff::tz::TimeZone::UTC).date());
    day.map(Some).ok_or_else(|| Rejection::invalid(name))
}

/// Checks that the title is valid and not taken, and that the dates are in order.
fn check(world: &World, owner: Owner, milestone: &records::Milestone) -> Result<(), Rejection> {
    if milestone.title.trim().is_empty() {
        return Err(Rejection::bad_request(json!({ "title": ["can't be blank"] })));
    }
    let groups = owner.groups(world);
    let taken = |other: &records::Milestone| {
        let at_hand = owner.has(other) || other.group.is_some_and(|group| groups.contains(&group));
        other.id != milestone.id && other.title == milestone.title && at_hand
    };
    if world.milestones.iter().any(taken) {
        let why = format!("{} has already been taken", milestone.title);
        return Err(Rejection::bad_request(json!({ "title": [why] })));
    }
    match (milestone.start_date, milestone.due_date) {
        (Some(start), Some(due)) if due < start => {
            Err(Rejection::bad_request(json!({ "due_date": ["must be greater than start date"] })))
        }
        _ => Ok(()),
    }
}

fn create(
    call: &mut WriteCall,
    owner: Owner,
    title: String,
    description: Option<String>,
    [start, due]: [Option<Time>; 2],
) -> Outcome<Milestone> {
    let (project, group) = match owner {
        Owner::Project(id) => (id, None),
        Owner::Group(id) => (0, Some(id)),
    };
    let text = |time: Option<Time>| time.map(|time| time.0).unwrap_or_default();
    let milestone = records::Milestone {
        iid: owner.last_iid(call.world) + 1,
        project,
        group,
        title,
        description: description.unwrap_or_default(),
        start_date: day("start_date", &text(start))?,
        due_date: day("due_date", &text(due))?,
        created_at: call.now,
        updated_at: call.now,
        ..records::Milestone::default()
    };
    check(call.world, owner, &milestone)?;
    let id = call.world.milestones.add(milestone);
    ok(call.listed_milestone(find(call, owner, id)?))
}

/// The fields to change.
struct Change {
    title: Option<String>,
    description: Option<String>,
    start_date: Option<String>,
    due_date: Option<String>,
    event: Option<String>,
}

fn update(call: &mut WriteCall, owner: Owner, id: u64, change: Change) -> Outcome<Milestone> {
    let mut milestone = find(call, owner, id)?.clone();
    let given = ["title", "description", "start_date", "due_date", "state_event"];
    if !given.iter().any(|name| call.inputs.contains_key(*name)) {
        let why = format!("{} are missing, at least one parameter must be provided", given.join(", "));
        return Err(Rejection::error(400, why));
    }
    let empties = |name: &str| call.inputs.get(name).is_some_and(serde_json::Value::is_null);
    milestone.title = change.title.unwrap_or(milestone.title);
    milestone.description = change.description.unwrap_or(milestone.description);
    if change.start_date.is_some() || empties("start_date") {
        milestone.start_date = day("start_date", &change.start_date.unwrap_or_default())?;
    }
    if change.due_date.is_some() || empties("due_date") {
        milestone.due_date = day("due_date", &change.due_date.unwrap_or_default())?;
    }
    match call.choice_or_first("state_event", change.event.as_deref(), &["", "close", "activate"])? {
        "close" => milestone.state = MilestoneState::Closed,
        "activate" => milestone.state = MilestoneState::Active,
        _ => {}
    }
    milestone.updated_at = call.now;
    check(call.world, owner, &milestone)?;
    call.world.milestones.add(milestone);
    ok(call.listed_milestone(find(call, owner, id)?))
}

fn delete(call: &mut WriteCall, owner: Owner, id: u64) -> Outcome<NoContent> {
    let iid = find(call, owner, id)?.iid;
    call.world.milestones.remove(id);
    owner.keep_iid(call.world, iid);
    let issues: Vec<u64> =
        call.world.issues.iter().filter(|issue| issue.milestone == Some(id)).map(Record::id).collect();
    for issue in issues {
        if let Some(issue) = call.world.issues.get_mut(issue) {
            issue.milestone = None;
        }
    }
    let requests: Vec<u64> =
        call.world.merge_requests.iter().filter(|mr| mr.milestone == Some(id)).map(Record::id).collect();
    for mr in requests {
        if let Some(mr) = call.world.merge_requests.get_mut(mr) {
            mr.milestone = None;
        }
    }
    Ok(Answer::new(NoContent))
}

fn sees(call: &ReadCall, project: &Id) -> bool {
    call.project(project).is_ok()
}

fn issues(call: &ReadCall, owner: Owner, id: u64) -> Outcome<Vec<Issue>> {
    find(call, owner, id)?;
    let found = |issue: &&records::Issue| {
        issue.milestone == Some(id)
            && sees(call, &issue.project.into())
            && call.rights.can_read_issue(call.world, issue)
    };
    call.page(call.world.issues.iter().rev().filter(found).collect(), |issue| call.show_issue(issue, false))
}

fn requests(call: &ReadCall, owner: Owner, id: u64) -> Outcome<Vec<MergeRequest>> {
    find(call, owner, id)?;
    let reads = |mr: &records::MergeRequest| {
        let project = call.world.projects.get(mr.target_project);
        project.is_some_and(|project| {
            call.rights.can_see_project(call.world, project) && call.rights.can_read_code(call.world, project)
        })
    };
    let found = |mr: &&records::MergeRequest| mr.milestone == Some(id) && reads(mr);
    let mut open: BTreeMap<u64, Option<Git>> = BTreeMap::new();
    call.page(call.world.merge_requests.iter().rev().filter(found).collect(), |mr| {
        let git = open
            .entry(mr.target_project)
            .or_insert_with(|| call.world.projects.get(mr.target_project).and_then(|project| call.git(project).ok()));
        call.show_merge_request(mr, git.as_ref())
    })
}
