//! Milestones of projects and groups, and their issues and merge requests.

use super::call::{Answer, Call, Outcome, ReadCall, WriteCall, ok};
use super::git::Git;
use super::mount::Mount;
use super::records::{self, MilestoneState, Project, Record, Scope, level};
use super::rejection::Rejection;
use super::world::World;
use crate::presenters::contains_ignore_case;
use api::issues::Issue;
use api::merge_requests::{MergeRequest, Milestone};
use api::milestones::*;
use api::{Id, NoContent, Time};
use jiff::civil::Date;
use serde_json::json;
use std::collections::BTreeMap;
use std::ops::Deref;

pub fn mount(mount: Mount) -> Mount {
    mount
        .read_signed_in::<ListMilestones>(list)
        .read_signed_in::<GetMilestone>(get)
        .write::<CreateMilestone>(create)
        .write::<UpdateMilestone>(update)
        .write::<DeleteMilestone>(delete)
        .read_signed_in::<ListMilestoneIssues>(issues)
        .read_signed_in::<ListMilestoneMergeRequests>(requests)
}

api::endpoints! {
    unspecified section "Milestones";

    /// Gets a milestone.
    GET "/milestones/{milestone_id}" of scope: Scope [project, group] => Milestone;
    struct GetMilestone { milestone_id: u64 }
}

impl Scope {
    fn has_milestone(self, milestone: &records::Milestone) -> bool {
        match self {
            Scope::Project(id) => milestone.group.is_none() && milestone.project == id,
            Scope::Group(id) => milestone.group == Some(id),
        }
    }

    /// Returns the highest IID of a milestone so far; IIDs of deleted milestones are not reused.
    fn last_iid(self, world: &World) -> u64 {
        let of_deleted = match self {
            Scope::Project(id) => world.projects.get(id).map(|project| project.last_milestone_iid),
            Scope::Group(id) => world.groups.get(id).map(|group| group.last_milestone_iid),
        };
        let own = world.milestones.iter().filter(|milestone| self.has_milestone(milestone));
        own.map(|milestone| milestone.iid).max().max(of_deleted).unwrap_or(0)
    }

    /// Records the IID of a milestone that is being deleted.
    fn keep_iid(self, world: &mut World, iid: u64) {
        let last = match self {
            Scope::Project(id) => world.projects.get_mut(id).map(|project| &mut project.last_milestone_iid),
            Scope::Group(id) => world.groups.get_mut(id).map(|group| &mut group.last_milestone_iid),
        };
        if let Some(last) = last {
            *last = iid.max(*last);
        }
    }
}

impl World {
    /// Returns the day on which a milestone is due.
    pub fn milestone_due(&self, milestone: Option<u64>) -> Option<Date> {
        self.milestones.get(milestone?)?.due_date
    }

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

fn list(call: &ReadCall, wanted: ListMilestones) -> Outcome<Vec<Milestone>> {
    let owner = call.scope(&wanted.scope)?;
    let state = call.choice_or_first("state", wanted.state.as_deref(), &["all", "active", "closed"])?.to_owned();
    let above = if wanted.include_ancestors == Some(true) { owner.groups(call.world) } else { Vec::new() };
    let search = wanted.search.unwrap_or_default();
    let found = |milestone: &&records::Milestone| {
        (owner.has_milestone(milestone) || milestone.group.is_some_and(|group| above.contains(&group)))
            && (state == "all" || milestone.state.as_str() == state)
            && wanted.title.as_ref().is_none_or(|title| milestone.title == *title)
            && wanted.iids.as_ref().is_none_or(|iids| iids.is_empty() || iids.contains(&milestone.iid))
            && (contains_ignore_case(&milestone.title, &search)
                || contains_ignore_case(&milestone.description, &search))
    };
    let mut rows: Vec<&records::Milestone> = call.world.milestones.iter().filter(found).collect();
    // Earliest due date first, and milestones without one last.
    rows.sort_by_key(|milestone| (milestone.due_date.is_none(), milestone.due_date, milestone.id));
    call.page(rows, |milestone| call.show_milestone(milestone))
}

fn find<W: Deref<Target = World>>(call: &Call<W>, owner: Scope, id: u64) -> Result<&records::Milestone, Rejection> {
    let found = call.world.milestones.get(id).filter(|milestone| owner.has_milestone(milestone));
    found.ok_or_else(|| Rejection::not_found("Milestone"))
}

fn get(call: &ReadCall, input: GetMilestone) -> Outcome<Milestone> {
    let owner = call.scope(&input.scope)?;
    ok(call.show_milestone(find(call, owner, input.milestone_id)?))
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
fn check(world: &World, owner: Scope, milestone: &records::Milestone) -> Result<(), Rejection> {
    if milestone.title.trim().is_empty() {
        return Err(Rejection::bad_request(json!({ "title": ["can't be blank"] })));
    }
    let groups = owner.groups(world);
    let taken = |other: &records::Milestone| {
        let at_hand = owner.has_milestone(other) || other.group.is_some_and(|group| groups.contains(&group));
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

fn create(call: &mut WriteCall, input: CreateMilestone) -> Outcome<Milestone> {
    let owner = call.scope_as(&input.scope, level::REPORTER)?;
    let (project, group) = match owner {
        Scope::Project(id) => (id, None),
        Scope::Group(id) => (0, Some(id)),
    };
    let text = |time: Option<Time>| time.map(|time| time.0).unwrap_or_default();
    let milestone = records::Milestone {
        iid: owner.last_iid(call.world) + 1,
        project,
        group,
        title: input.title,
        description: input.description.unwrap_or_default(),
        start_date: day("start_date", &text(input.start_date))?,
        due_date: day("due_date", &text(input.due_date))?,
        created_at: call.now,
        updated_at: call.now,
        ..records::Milestone::default()
    };
    check(call.world, owner, &milestone)?;
    let id = call.world.milestones.add(milestone);
    ok(call.show_milestone(find(call, owner, id)?))
}

fn update(call: &mut WriteCall, input: UpdateMilestone) -> Outcome<Milestone> {
    let owner = call.scope_as(&input.scope, level::REPORTER)?;
    let mut milestone = find(call, owner, input.milestone_id)?.clone();
    let given = ["title", "description", "start_date", "due_date", "state_event"];
    if !given.iter().any(|name| call.inputs.contains_key(*name)) {
        let why = format!("{} are missing, at least one parameter must be provided", given.join(", "));
        return Err(Rejection::error(400, why));
    }
    let empties = |name: &str| call.inputs.get(name).is_some_and(serde_json::Value::is_null);
    milestone.title = input.title.unwrap_or(milestone.title);
    milestone.description = input.description.unwrap_or(milestone.description);
    if input.start_date.is_some() || empties("start_date") {
        milestone.start_date = day("start_date", &input.start_date.unwrap_or_default())?;
    }
    if input.due_date.is_some() || empties("due_date") {
        milestone.due_date = day("due_date", &input.due_date.unwrap_or_default())?;
    }
    match call.choice_or_first("state_event", input.state_event.as_deref(), &["", "close", "activate"])? {
        "close" => milestone.state = MilestoneState::Closed,
        "activate" => milestone.state = MilestoneState::Active,
        _ => {}
    }
    milestone.updated_at = call.now;
    check(call.world, owner, &milestone)?;
    let id = call.world.milestones.add(milestone);
    ok(call.show_milestone(find(call, owner, id)?))
}

fn delete(call: &mut WriteCall, input: DeleteMilestone) -> Outcome<NoContent> {
    let (owner, id) = (call.scope_as(&input.scope, level::REPORTER)?, input.milestone_id);
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

fn issues(call: &ReadCall, input: ListMilestoneIssues) -> Outcome<Vec<Issue>> {
    let id = find(call, call.scope(&input.scope)?, input.milestone_id)?.id;
    let found = |issue: &&records::Issue| {
        issue.milestone == Some(id)
            && sees(call, &issue.project.into())
            && call.rights.can_read_issue(call.world, issue)
    };
    call.page(call.world.issues.iter().rev().filter(found).collect(), |issue| call.show_issue(issue, false))
}

fn requests(call: &ReadCall, input: ListMilestoneMergeRequests) -> Outcome<Vec<MergeRequest>> {
    let id = find(call, call.scope(&input.scope)?, input.milestone_id)?.id;
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
