//! Issues: lists for a project, a group, or everywhere; viewing, creating, updating, closing.

use super::call::{Answer, Call, Outcome, ReadCall, WriteCall, ok, stable_sort};
use super::keyset::{Key, Keyset};
use super::merge_requests::{
    LABEL_CHANGE_INPUTS, MAX_COMMITS, label_notes, or_last, references, split_labels, tasks, time_stats, updated_labels,
};
use super::modes::Version;
use super::mount::Mount;
use super::params;
use super::records::{self, MilestoneState, Namespace, Noteable, Project, State, TodoAction, Visibility, level};
use super::rejection::Rejection;
use super::world::World;
use crate::presenters::{Bounds, contains_ignore_case, date, optional_time, time};
use api::issues::*;
use api::merge_requests::MergeRequest;
use api::users::User;
use api::{Endpoint, Id, NoContent, Time};
use jiff::Timestamp;
use jiff::civil::Date;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;

/// The color of labels that are created when an issue uses them for the first time.
const NEW_LABEL_COLOR: &str = "#6699cc";
/// The values of `order_by`.
const ORDERS: &[&str] = &[
    "created_at",
    "updated_at",
    "due_date",
    "title",
    "popularity",
    "milestone_due",
    "priority",
    "label_priority",
    "relative_position",
    "weight",
];

pub fn mount(mount: Mount) -> Mount {
    mount
        .read_signed_in::<ListIssues>(everywhere)
        .read_signed_in::<ListScopedIssues>(within)
        .read_signed_in::<GetIssue>(get)
        .write::<DeleteIssue>(delete)
        .read_signed_in::<ListRelatedMergeRequests>(related)
        .read_signed_in::<ListClosingMergeRequests>(closing)
        .read_signed_in::<ListIssueParticipants>(participants)
        .read_signed_in::<ListClosedIssues>(closed_by_request)
        .read_signed_in::<ListRelatedIssues>(related_to_request)
}

impl<W: Deref<Target = World>> Call<W> {
    /// Converts an issue to its API representation, with the details of its labels if `detailed`.
    pub fn show_issue(&self, issue: &records::Issue, detailed: bool) -> Issue {
        let (upvotes, downvotes) = self.world.votes(Noteable::Issue(issue.id));
        let assignees: Vec<_> = issue.assignees.iter().map(|id| self.user_summary(*id)).collect();
        let milestone = issue.milestone.and_then(|id| self.world.milestones.get(id));
        let project = self.world.projects.get(issue.project);
        let page = |project| self.project_page(project, &format!("issues/{}", issue.iid));
        let path = project.map(|project| self.world.project_path(project)).unwrap_or_default();
        let label = |name: &String| self.item_label(issue.project, name, detailed);
        let tasks = tasks(&issue.description);
        let kind = if issue.issue_type.is_empty() { "issue" } else { issue.issue_type.as_str() };
        let api = format!("{}/issues/{}", self.project_api(issue.project), issue.iid);
        Issue {
            id: issue.id,
            iid: issue.iid,
            project_id: issue.project,
            title: issue.title.clone(),
            description: Some(issue.description.clone()),
            state: issue.state.as_str().into(),
            created_at: Some(time(issue.created_at)),
            updated_at: Some(time(issue.updated_at)),
            closed_at: optional_time(issue.closed_at),
            labels: issue.labels.iter().map(label).collect(),
            milestone: milestone.map(|milestone| self.show_milestone(milestone)),
            assignee: assignees.first().cloned(),
            assignees,
            author: Some(self.user_summary(issue.author)),
            user_notes_count: self.count_notes(Noteable::Issue(issue.id)),
            upvotes,
            downvotes,
            due_date: date(issue.due_date),
            confidential: issue.confidential,
            discussion_locked: issue.discussion_locked,
            web_url: project.map(page).unwrap_or_default(),
            time_stats: Some(time_stats(issue.time)),
            closed_by: issue.closed_by.map(|id| self.user_summary(id)).into(),
            r#type: Some(kind.to_uppercase()),
            issue_type: Some(kind.to_owned()),
            severity: Some("UNKNOWN".into()),
            start_date: None.into(),
            merge_requests_count: Some(self.closing_merge_requests(issue).len() as u64),
            moved_to_id: None.into(),
            imported: Some(false),
            imported_from: Some("none".into()),
            service_desk_reply_to: None.into(),
            has_tasks: Some(tasks.count > 0),
            task_status: (tasks.count > 0)
                .then(|| format!("{} of {} checklist items completed", tasks.completed_count, tasks.count)),
            links: Some(IssueLinks {
                this: api.clone(),
                notes: format!("{api}/notes"),
                award_emoji: format!("{api}/award_emoji"),
                project: self.project_api(issue.project),
                closed_as_duplicate_of: None,
            }),
            references: Some(references(&path, &format!("#{}", issue.iid))),
            task_completion_status: Some(tasks),
            ..Issue::default()
        }
    }

    /// Returns the representation of a single issue.
    pub fn show_issue_detail(&self, issue: &records::Issue) -> Issue {
        let is_subscribed = self.rights.user.is_some_and(|user| issue.subscribers.contains(&user));
        Issue { subscribed: Some(is_subscribed), ..self.show_issue(issue, false) }
    }

    /// Returns an issue and its project, if the caller may read it.
    ///
    /// # Errors
    /// Fails with 404 if there is none, and with 401 if the caller is not signed in.
    pub fn issue(&self, id: &Id, iid: u64) -> Result<(&Project, &records::Issue), Rejection> {
        let project = self.project(id)?;
        self.require_user()?;
        let found = self.world.issues.iter().find(|issue| issue.project == project.id && issue.iid == iid);
        let issue = found.filter(|issue| self.rights.can_read_issue(&self.world, issue));
        Ok((project, issue.ok_or_else(Rejection::record_not_found)?))
    }
}

/// The conditions that issues in a list must meet, or must not meet.
struct IssueFilter<'a> {
    labels: Vec<&'a str>,
    milestone: Option<&'a str>,
    author: Option<u64>,
    author_name: Option<&'a str>,
    assignee: Option<Id>,
    assignee_names: Vec<&'a str>,
    reaction: Option<&'a str>,
    caller: u64,
    today: Date,
}

impl IssueFilter<'_> {
    fn is_named(world: &World, id: u64, name: &str) -> bool {
        world.users.get(id).is_some_and(|user| user.username.eq_ignore_ascii_case(name))
    }

    fn in_milestone(&self, world: &World, issue: &records::Issue, title: &str) -> bool {
        let milestone = issue.milestone.and_then(|id| world.milestones.get(id));
        let open = |m: &&records::Milestone| m.state == MilestoneState::Active;
        match title {
            "None" => milestone.is_none(),
            "Any" => milestone.is_some(),
            "Upcoming" => milestone.filter(open).is_some_and(|m| m.due_date.is_some_and(|due| due > self.today)),
            "Started" => milestone.filter(open).is_some_and(|m| m.start_date.is_some_and(|start| start <= self.today)),
            title => milestone.is_some_and(|milestone| milestone.title == title),
        }
    }

    fn has_label(issue: &records::Issue, wanted: &str) -> bool {
        match wanted {
            "None" => issue.labels.is_empty(),
            "Any" => !issue.labels.is_empty(),
            wanted => issue.labels.iter().any(|label| label == wanted),
        }
    }

    /// Returns for each condition whether an issue meets it.
    fn each(&self, world: &World, issue: &records::Issue) -> Vec<bool> {
        let mut all: Vec<bool> = self.labels.iter().map(|wanted| Self::has_label(issue, wanted)).collect();
        all.extend(self.milestone.map(|title| self.in_milestone(world, issue, title)));
        all.extend(self.author.map(|id| issue.author == id));
        all.extend(self.author_name.map(|name| Self::is_named(world, issue.author, name)));
        let assignees = || issue.assignees.iter().copied();
        all.extend(self.assignee.as_ref().map(|id| params::person_fits(Some(id), assignees())));
        let assigned = |name: &&str| issue.assignees.iter().any(|id| Self::is_named(world, *id, name));
        all.extend(self.assignee_names.iter().map(assigned));
        let gave = |emoji| world.has_award(Noteable::Issue(issue.id), None, emoji, self.caller);
        all.extend(self.reaction.map(gave));
        all
    }
}

fn split(text: Option<&str>) -> Vec<&str> {
    text.unwrap_or_default().split(',').map(str::trim).filter(|part| !part.is_empty()).collect()
}

fn today(now: Timestamp) -> Date {
    now.to_zoned(jiff::tz::TimeZone::UTC).date()
}

/// Returns whether a due date matches a value of [`DUE`].
fn is_due(due: Option<Date>, word: &str, today: Date) -> bool {
    let days = |due: Date| due.since(today).map_or(0, |span| span.get_days());
    let week_day = i32::from(today.weekday().to_monday_zero_offset());
    match (word, due.map(days)) {
        ("", _) => true,
        ("0", days) => days.is_none(),
        ("any", days) => days.is_some(),
        (_, None) => false,
        ("today", Some(days)) => days == 0,
        ("tomorrow", Some(days)) => days == 1,
        ("overdue", Some(days)) => days < 0,
        ("week", Some(days)) => (-week_day..7 - week_day).contains(&days),
        ("month", Some(_)) => due.is_some_and(|due| (due.year(), due.month()) == (today.year(), today.month())),
        // `next_month_and_previous_two_weeks`: from two weeks ago to the end of next month.
        (_, Some(days)) => {
            let next = today.last_of_month().tomorrow().ok();
            days >= -14 && due.zip(next).is_some_and(|(due, next)| due <= next.last_of_month())
        }
    }
}

/// Returns the issues for which `of` returns true, filtered and sorted according to `input`; `usual` is the default
/// scope.
fn list_filtered(
    call: &ReadCall,
    usual: &str,
    by_keyset: bool,
    input: Common,
    of: impl Fn(&records::Issue) -> bool,
) -> Outcome<Vec<Issue>> {
    let caller = call.require_user()?.id;
    let state =
        State::from_name(call.choice_or_first("state", input.state.as_deref(), &["all", "opened", "closed"])?);
    let by = call.choice_or_first("order_by", input.order_by.as_deref(), ORDERS)?.to_owned();
    let descending = call.descending(input.sort.as_deref(), "desc")?;
    let scope = input.scope.map(|scope| scope.replace('-', "_"));
    let scope =
        call.choice_or_first("scope", scope.as_deref(), &[usual, "all", "created_by_me", "assigned_to_me"])?.to_owned();
    let mut due_words = vec![""];
    due_words.extend(DUE);
    let due = call.choice_or_first("due_date", input.due_date.as_deref(), &due_words)?.to_owned();
    let created = Bounds::new("created", &input.created_after, &input.created_before)?;
    let updated = Bounds::new("updated", &input.updated_after, &input.updated_before)?;
    params::check_person("assignee_id", input.assignee_id.as_ref())?;
    let today = today(call.now);
    let wanted = IssueFilter {
        labels: split(input.labels.as_deref()),
        milestone: input.milestone.as_deref().filter(|title| !title.is_empty()),
        author: input.author_id,
        author_name: input.author_username.as_deref(),
        assignee: input.assignee_id,
        assignee_names: input.assignee_username.iter().flatten().map(String::as_str).collect(),
        reaction: input.my_reaction_emoji.as_deref(),
        caller,
        today,
    };
    let not = input.not.unwrap_or_default();
    let word = |name: &str| not.get(name).map(String::as_str);
    let number = |name: &str| word(name).and_then(|text| text.parse().ok());
    let unwanted = IssueFilter {
        labels: split(word("labels")),
        milestone: word("milestone"),
        author: number("author_id"),
        author_name: word("author_username"),
        assignee: word("assignee_id").map(Id::from),
        assignee_names: word("assignee_username").into_iter().collect(),
        reaction: word("my_reaction_emoji"),
        caller,
        today,
    };
    let parts = split(input.r#in.as_deref());
    let is_in = |part: &str| parts.is_empty() || parts.contains(&part);
    let world = call.world;
    let found = |issue: &&records::Issue| {
        let kind = if issue.issue_type.is_empty() { "issue" } else { issue.issue_type.as_str() };
        of(issue)
            && call.rights.can_read_issue(world, issue)
            && state.is_none_or(|state| state == issue.state)
            && match scope.as_str() {
                "created_by_me" => issue.author == caller,
                "assigned_to_me" => issue.assignees.contains(&caller),
                _ => true,
            }
            && input.iids.as_ref().is_none_or(|iids| iids.is_empty() || iids.contains(&issue.iid))
            && wanted.each(world, issue).into_iter().all(|holds| holds)
            && !unwanted.each(world, issue).into_iter().any(|holds| holds)
            && input.closed_by_id.is_none_or(|id| issue.closed_by == Some(id))
            && input.confidential.is_none_or(|confidential| issue.confidential == confidential)
            && input.issue_type.as_ref().is_none_or(|wanted| wanted == kind)
            && is_due(issue.due_date, &due, today)
            && created.contains(issue.created_at)
            && updated.contains(issue.updated_at)
            && input.search.as_ref().is_none_or(|part| {
                is_in("title") && contains_ignore_case(&issue.title, part)
                    || is_in("description") && contains_ignore_case(&issue.description, part)
            })
    };
    let mut rows: Vec<&records::Issue> = world.issues.iter().filter(found).collect();
    stable_sort(&mut rows, descending, |issue| issue.id);
    match by.as_str() {
        "updated_at" => stable_sort(&mut rows, descending, |issue| issue.updated_at),
        "due_date" => stable_sort(&mut rows, descending, |issue| or_last(issue.due_date, descending)),
        "milestone_due" => {
            stable_sort(&mut rows, descending, |issue| or_last(world.milestone_due(issue.milestone), descending))
        }
        "title" => stable_sort(&mut rows, descending, |issue| issue.title.to_lowercase()),
        "popularity" => stable_sort(&mut rows, descending, |issue| world.votes(Noteable::Issue(issue.id)).0),
        _ => stable_sort(&mut rows, descending, |issue| issue.created_at),
    }
    let detailed = input.with_labels_details == Some(true);
    let show = |issue| call.show_issue(issue, detailed);
    if !by_keyset || call.version < Version::V18 {
        return call.page(rows, show);
    }
    let key = |issue: &&records::Issue| match by.as_str() {
        "updated_at" => Key::time(issue.updated_at),
        "title" => Key::text(&issue.title),
        "due_date" => Key::or_last(issue.due_date.map(|day| Key::text(&day.to_string())), descending),
        _ => Key::time(issue.created_at),
    };
    let keyset = match by.as_str() {
        "created_at" | "weight" | "relative_position" | "updated_at" | "title" | "due_date" => {
            Keyset::Cursor { descending, key: Box::new(key), id: |issue| issue.id }
        }
        _ => Keyset::Unavailable,
    };
    call.keyset_page("Issue", rows, keyset, show)
}

/// Returns the IDs of the projects whose issues the caller may list.
fn listable_projects(call: &ReadCall, non_archived: bool, of: impl Fn(&Project) -> bool) -> BTreeSet<u64> {
    let shows = |project: &&Project| {
        call.rights.can_see_project(call.world, project)
            && !project.issues_disabled
            && !(non_archived && project.archived)
            && of(project)
    };
    call.world.projects.iter().filter(shows).map(|project| project.id).collect()
}

fn everywhere(call: &ReadCall, input: ListIssues) -> Outcome<Vec<Issue>> {
    let seen = listable_projects(call, input.non_archived.unwrap_or(true), |_| true);
    list_filtered(call, "created_by_me", false, input.into(), |issue| seen.contains(&issue.project))
}

fn within(call: &ReadCall, input: ListScopedIssues) -> Outcome<Vec<Issue>> {
    match call.scope(&input.within)? {
        records::Scope::Project(id) => of_project(call, id, input),
        records::Scope::Group(id) => of_group(call, id, input),
    }
}

fn of_group(call: &ReadCall, group: u64, input: ListScopedIssues) -> Outcome<Vec<Issue>> {
    let inside = |project: &Project| match project.namespace {
        Namespace::Group(id) => call.world.group_chain(id).iter().any(|above| above.id == group),
        Namespace::User(_) => false,
    };
    let seen = listable_projects(call, input.non_archived.unwrap_or(true), inside);
    list_filtered(call, "all", false, input.into(), |issue| seen.contains(&issue.project))
}

fn of_project(call: &ReadCall, project: u64, input: ListScopedIssues) -> Outcome<Vec<Issue>> {
    if call.world.projects.get(project).is_some_and(|project| project.issues_disabled) {
        return Err(Rejection::forbidden());
    }
    list_filtered(call, "all", true, input.into(), |issue| issue.project == project)
}

fn get(call: &ReadCall, input: GetIssue) -> Outcome<Issue> {
    let (_, issue) = call.issue(&input.id, input.issue_iid)?;
    ok(call.show_issue_detail(issue))
}

/// Returns those of `ids` to whom an issue of the project can be assigned, without duplicates; 0 means no one.
fn assignees(call: &WriteCall, project: &Project, ids: &[u64]) -> Vec<u64> {
    let people = super::members::of_project(call.world, project, true);
    let is_open = project.visibility != Visibility::Private;
    let fits = |id: &u64| people.contains_key(id) || is_open && call.world.users.get(*id).is_some();
    let mut seen = BTreeSet::new();
    ids.iter().copied().filter(fits).filter(|id| seen.insert(*id)).collect()
}

/// Parses the date of an input; `None` if it is empty.
fn day(name: &str, text: Option<&str>) -> Result<Option<Date>, Rejection> {
    match text {
        None | Some("") => Ok(None),
        Some(text) => {
            let day = Time::from(text).instant().map(today);
            day.map(Some).ok_or_else(|| Rejection::invalid(name))
        }
    }
}

/// Creates the labels that do not exist in a project yet.
fn create_labels(world: &mut World, project: u64, names: &[String]) {
    for name in names {
        if world.label_in(project, name).is_none() {
            let (name, color) = (name.clone(), NEW_LABEL_COLOR.into());
            world.labels.add(records::Label { project, name, color, ..records::Label::default() });
        }
    }
}

fn check_title(title: &str) -> Result<(), Rejection> {
    if title.trim().is_empty() { Err(Rejection::bad_request(json!({ "title": ["can't be blank"] }))) } else { Ok(()) }
}

pub fn create(call: &mut WriteCall, input: CreateIssue) -> Outcome<Issue> {
    let project = call.project(&input.id)?.clone();
    let author = call.require_user()?.id;
    let level = call.rights.level(call.world, &project);
    let may = project.visibility != Visibility::Private || level >= level::GUEST;
    if !may || project.issues_disabled || project.archived {
        return Err(Rejection::forbidden());
    }
    check_title(&input.title)?;
    let due_date = day("due_date", input.due_date.as_ref().map(Time::as_str))?;
    // Values that the caller may not set are ignored.
    let plans = level >= level::REPORTER;
    let labels = split_labels(input.labels.as_deref().filter(|_| plans).unwrap_or_default());
    let iids = call.world.issues.iter().filter(|issue| issue.project == project.id).map(|issue| issue.iid);
    let iid = iids.max().unwrap_or(0).max(project.last_issue_iid) + 1;
    let now = call.now;
    let issue = records::Issue {
        iid,
        project: project.id,
        title: input.title,
        description: input.description.unwrap_or_default(),
        author,
        assignees: assignees(call, &project, &input.assignee_ids.filter(|_| plans).unwrap_or_default()),
        labels: labels.clone(),
        milestone: input.milestone_id.filter(|_| plans).and_then(|id| call.world.milestone_in(&project, id)),
        created_at: now,
        updated_at: now,
        due_date: due_date.filter(|_| plans),
        confidential: input.confidential == Some(true),
        issue_type: input.issue_type.unwrap_or_default(),
        subscribers: BTreeSet::from([author]),
        ..records::Issue::default()
    };
    create_labels(call.world, project.id, &labels);
    let id = call.world.issues.add(issue);
    super::branches::record_project_activity(call.world, project.id, now)?;
    if let Some(project) = call.world.projects.get_mut(project.id) {
        project.last_issue_iid = iid;
    }
    let issue = call.world.issues.get(id).ok_or_else(Rejection::record_not_found)?.clone();
    call.world.add_assignment_todos(Noteable::Issue(id), TodoAction::Assigned, (&[], &issue.assignees), author, now);
    call.world.add_mention_todos(Noteable::Issue(id), None, ("", &issue.description), author, now);
    ok(call.show_issue_detail(&issue))
}

/// Formats usernames as `@ada, @bo and @cem`.
fn names(call: &WriteCall, people: &[u64]) -> String {
    let names: Vec<String> = people.iter().map(|id| format!("@{}", call.user_summary(*id).username)).collect();
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => String::new(),
    }
}

pub fn update(call: &mut WriteCall, input: UpdateIssue) -> Outcome<Issue> {
    let (project, issue) = call.issue(&input.id, input.issue_iid)?;
    let (project, before) = (project.clone(), issue.clone());
    let (caller, now) = (call.require_user()?.id, call.now);
    let plans = call.rights.level(call.world, &project) >= level::REPORTER;
    let is_own = before.author == caller || before.assignees.contains(&caller);
    if !(plans || is_own) || project.archived {
        return Err(Rejection::forbidden());
    }
    let given: Vec<&str> = UpdateIssue::INPUTS
        .iter()
        .map(|input| input.name)
        .filter(|name| !matches!(*name, "id" | "issue_iid"))
        .collect();
    if !given.iter().chain(&LABEL_CHANGE_INPUTS).any(|name| call.inputs.contains_key(*name)) {
        return Err(Rejection::error(
            400,
            format!("{} are missing, at least one parameter must be provided", given.join(", ")),
        ));
    }
    let mut issue = before.clone();
    let mut system_notes: Vec<String> = Vec::new();
    if let Some(title) = input.title.filter(|title| *title != before.title) {
        check_title(&title)?;
        system_notes.push(format!("changed title from **{}** to **{title}**", before.title));
        issue.title = title;
    }
    if let Some(description) = input.description.filter(|text| *text != before.description) {
        system_notes.push("changed the description".into());
        issue.description = description;
    }
    if let Some(ids) = input.assignee_ids.filter(|_| plans) {
        issue.assignees = assignees(call, &project, &ids);
        let new: Vec<u64> = issue.assignees.iter().copied().filter(|id| !before.assignees.contains(id)).collect();
        let gone: Vec<u64> = before.assignees.iter().copied().filter(|id| !issue.assignees.contains(id)).collect();
        let parts = [("assigned to", new), ("unassigned", gone)];
        let parts = parts.iter().filter(|(_, people)| !people.is_empty());
        let words: Vec<String> = parts.map(|(verb, people)| format!("{verb} {}", names(call, people))).collect();
        system_notes.extend((!words.is_empty()).then(|| words.join(" and ")));
    }
    let is_empty = |name: &str| call.inputs.get(name).is_some_and(|v| v.is_null() || v.as_str() == Some(""));
    if plans && (input.milestone_id.is_some() || is_empty("milestone_id")) {
        issue.milestone = input.milestone_id.and_then(|id| call.world.milestone_in(&project, id));
        if issue.milestone != before.milestone {
            system_notes.push(match issue.milestone.and_then(|id| call.world.milestones.get(id)) {
                Some(milestone) => format!("changed milestone to %\"{}\"", milestone.title),
                None => "removed milestone".into(),
            });
        }
    }
    if let Some(labels) = updated_labels(call, &before.labels, input.labels.as_deref()).filter(|_| plans) {
        issue.labels = labels;
        system_notes.extend(label_notes(&before.labels, &issue.labels));
        create_labels(call.world, project.id, &issue.labels);
    }
    if plans && (input.due_date.is_some() || is_empty("due_date")) {
        issue.due_date = day("due_date", input.due_date.as_deref())?;
        if issue.due_date != before.due_date {
            system_notes.push(match issue.due_date {
                Some(due) => format!("changed due date to {}", due.strftime("%B %-d, %Y")),
                None => "removed due date".into(),
            });
        }
    }
    if let Some(confidential) = input.confidential.filter(|on| *on != before.confidential) {
        system_notes
            .push(format!("made the issue {}", if confidential { "confidential" } else { "visible to everyone" }));
        issue.confidential = confidential;
    }
    issue.discussion_locked = input.discussion_locked.filter(|_| plans).or(before.discussion_locked);
    issue.issue_type = input.issue_type.unwrap_or(issue.issue_type);
    match call.choice_or_first("state_event", input.state_event.as_deref(), &["", "close", "reopen"])? {
        "close" if before.state == State::Opened => {
            issue.state = State::Closed;
            (issue.closed_at, issue.closed_by) = (Some(now), Some(caller));
            system_notes.push("closed".into());
            call.world.mark_todos_done(Noteable::Issue(issue.id), caller);
        }
        "reopen" if before.state == State::Closed => {
            issue.state = State::Opened;
            (issue.closed_at, issue.closed_by) = (None, None);
            system_notes.push("reopened".into());
        }
        _ => {}
    }
    issue.updated_at = now;
    let on = Noteable::Issue(issue.id);
    for body in system_notes {
        call.add_system_note_on(on, caller, body);
    }
    call.world.issues.add(issue.clone());
    call.world.add_assignment_todos(on, TodoAction::Assigned, (&before.assignees, &issue.assignees), caller, now);
    call.world.add_mention_todos(on, None, (&before.description, &issue.description), caller, now);
    ok(call.show_issue_detail(&issue))
}

fn delete(call: &mut WriteCall, input: DeleteIssue) -> Outcome<NoContent> {
    let (project, issue) = call.issue(&input.id, input.issue_iid)?;
    let (id, iid, at, project_id) = (issue.id, issue.iid, issue.updated_at, project.id);
    if call.rights.level(call.world, project) < level::OWNER {
        return Err(Rejection::forbidden());
    }
    call.check_unmodified(at)?;
    call.world.issues.remove(id);
    if let Some(project) = call.world.projects.get_mut(project_id) {
        project.last_issue_iid = project.last_issue_iid.max(iid);
    }
    call.world.remove_notes(|note| note.on == Noteable::Issue(id));
    call.world.remove_orphans();
    Ok(Answer::new(NoContent))
}

/// The words before a reference that make a merge close the issue.
const CLOSING_WORDS: &[&str] = &[
    "close",
    "closes",
    "closed",
    "closing",
    "fix",
    "fixes",
    "fixed",
    "fixing",
    "resolve",
    "resolves",
    "resolved",
    "implements",
];

/// Finds references to an object: `#7` in its own project, `acme/web#7` anywhere. Returns the text before each.
fn find_references<'t>(
    text: &'t str,
    reference: &'t str,
    path: &'t str,
    is_same: bool,
) -> impl Iterator<Item = &'t str> {
    let ends = |at: usize| !text.get(at..).and_then(|rest| rest.chars().next()).is_some_and(|c| c.is_ascii_digit());
    text.match_indices(reference).filter_map(move |(at, found)| {
        let before = text.get(..at)?;
        let begins = |before: &str| !before.ends_with(|c: char| c.is_alphanumeric() || "/_-.".contains(c));
        let before = match before.strip_suffix(path) {
            Some(before) if begins(before) => before,
            _ if is_same && begins(before) => before,
            _ => return None,
        };
        ends(at + found.len()).then_some(before)
    })
}

impl<W: Deref<Target = World>> Call<W> {
    /// Returns the merge requests that the caller may read and for which `fits` returns true. It is passed a function
    /// that returns the text before each reference to the issue.
    fn referring_merge_requests<'a>(
        &'a self,
        issue: &records::Issue,
        fits: impl Fn(&records::MergeRequest, &dyn Fn(&str) -> Vec<String>) -> bool,
    ) -> Vec<&'a records::MergeRequest> {
        let world: &World = &self.world;
        let path = world.projects.get(issue.project).map(|project| world.project_path(project)).unwrap_or_default();
        let reference = format!("#{}", issue.iid);
        let reads = |mr: &&records::MergeRequest| {
            world.projects.get(mr.target_project).is_some_and(|project| {
                self.rights.can_see_project(world, project) && self.rights.can_read_code(world, project)
            })
        };
        let refers = |mr: &&records::MergeRequest| {
            let is_same = mr.target_project == issue.project;
            let before = |text: &str| {
                find_references(text, &reference, &path, is_same).map(str::to_owned).collect::<Vec<String>>()
            };
            fits(mr, &before)
        };
        let mut found: Vec<&records::MergeRequest> = world.merge_requests.iter().filter(refers).filter(reads).collect();
        found.reverse();
        found
    }

    /// Returns the visible merge requests that close an issue when they are merged, newest first.
    fn closing_merge_requests(&self, issue: &records::Issue) -> Vec<&records::MergeRequest> {
        self.referring_merge_requests(issue, |mr, before| {
            mr.state != State::Closed && before(&mr.description).iter().any(|before| closes(before))
        })
    }

    fn page_requests(&self, rows: Vec<&records::MergeRequest>) -> Outcome<Vec<MergeRequest>> {
        self.page(rows, |mr| {
            let project = self.world.projects.get(mr.target_project);
            self.show_merge_request(mr, project.and_then(|project| self.git(project).ok()).as_ref())
        })
    }
}

fn related(call: &ReadCall, input: ListRelatedMergeRequests) -> Outcome<Vec<MergeRequest>> {
    let (project, issue) = call.issue(&input.id, input.issue_iid)?;
    let path = call.world.project_path(project);
    let issue_texts: Vec<&str> = std::iter::once(issue.description.as_str())
        .chain(call.user_notes(Noteable::Issue(issue.id)).map(|n| n.body.as_str()))
        .collect();
    let rows = call.referring_merge_requests(issue, |mr, before| {
        let request_texts = std::iter::once(mr.description.as_str()).chain(std::iter::once(mr.title.as_str()));
        let mut texts =
            request_texts.chain(call.user_notes(Noteable::MergeRequest(mr.id)).map(|note| note.body.as_str()));
        let reference = format!("!{}", mr.iid);
        let is_same = mr.target_project == issue.project;
        texts.any(|text| !before(text).is_empty())
            || issue_texts.iter().any(|text| find_references(text, &reference, &path, is_same).next().is_some())
    });
    call.page_requests(rows)
}

/// Returns whether the text before a reference makes a merge close the issue.
fn closes(before: &str) -> bool {
    let word = before.trim_end_matches([' ', ':', '\n']).rsplit(|c: char| !c.is_alphanumeric()).next();
    word.is_some_and(|word| CLOSING_WORDS.contains(&word.to_lowercase().as_str()))
}

/// Lists the issues that the caller may read and to which a text of a merge request refers. `fits` is passed the text
/// before a reference.
fn referred_issues(
    call: &ReadCall,
    mr: &records::MergeRequest,
    texts: &[&str],
    fits: impl Fn(&str) -> bool,
) -> Outcome<Vec<Issue>> {
    let world = call.world;
    let paths: BTreeMap<u64, String> =
        world.projects.iter().map(|project| (project.id, world.project_path(project))).collect();
    let refers = |issue: &&records::Issue| {
        let reference = format!("#{}", issue.iid);
        let path = paths.get(&issue.project).map(String::as_str).unwrap_or_default();
        let is_same = issue.project == mr.target_project;
        texts.iter().any(|text| find_references(text, &reference, path, is_same).any(&fits))
            && call.can_see_project_with_id(issue.project)
            && call.rights.can_read_issue(world, issue)
    };
    call.page(world.issues.iter().filter(refers).collect(), |issue| call.show_issue(issue, false))
}

fn closed_by_request(call: &ReadCall, input: ListClosedIssues) -> Outcome<Vec<Issue>> {
    let (_, mr, _) = call.merge_request(&input.id, input.merge_request_iid)?;
    referred_issues(call, mr, &[&mr.description], closes)
}

fn related_to_request(call: &ReadCall, input: ListRelatedIssues) -> Outcome<Vec<Issue>> {
    let (_, mr, git) = call.merge_request(&input.id, input.merge_request_iid)?;
    let commits = match call.diff_ends(mr, &git) {
        Some(ends) => git.between(ends.base, ends.head, MAX_COMMITS)?.0,
        None => Vec::new(),
    };
    let messages: Vec<String> = commits.into_iter().filter_map(|id| Some(git.show(id).ok()?.message)).collect();
    let on = Noteable::MergeRequest(mr.id);
    let notes = call.user_notes(on).map(|note| note.body.as_str());
    let own = [mr.title.as_str(), mr.description.as_str()];
    let texts: Vec<&str> = own.into_iter().chain(messages.iter().map(String::as_str)).chain(notes).collect();
    referred_issues(call, mr, &texts, |_| true)
}

fn closing(call: &ReadCall, input: ListClosingMergeRequests) -> Outcome<Vec<MergeRequest>> {
    let (_, issue) = call.issue(&input.id, input.issue_iid)?;
    call.page_requests(call.closing_merge_requests(issue))
}

fn participants(call: &ReadCall, input: ListIssueParticipants) -> Outcome<Vec<User>> {
    let (_, issue) = call.issue(&input.id, input.issue_iid)?;
    let on = Noteable::Issue(issue.id);
    let wrote = call.user_notes(on).map(|note| note.author);
    let mut people: Vec<u64> = Vec::new();
    for id in std::iter::once(issue.author).chain(issue.assignees.iter().copied()).chain(wrote) {
        if !people.contains(&id) {
            people.push(id);
        }
    }
    call.page(people, |id| call.user_summary(id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn due_dates_match_their_filters() {
        // This is a Friday.
        let today: Date = "2026-11-20".parse().unwrap();
        let fits = |due: &str| -> Vec<&str> {
            let due = (!due.is_empty()).then(|| due.parse().unwrap());
            DUE.iter().copied().filter(|word| is_due(due, word, today)).collect()
        };
        let near = "next_month_and_previous_two_weeks";
        assert_eq!(fits(""), ["0"]);
        assert_eq!(fits("2026-11-20"), ["any", "today", "week", "month", near]);
        assert_eq!(fits("2026-11-21"), ["any", "tomorrow", "week", "month", near]);
        assert_eq!(fits("2026-11-16"), ["any", "overdue", "week", "month", near]);
        assert_eq!(fits("2026-11-23"), ["any", "month", near]);
        assert_eq!(fits("2026-11-01"), ["any", "overdue", "month"]);
        assert_eq!(fits("2026-12-31"), ["any", near]);
        assert_eq!(fits("2027-01-01"), ["any"]);
    }

    #[test]
    fn references_are_found_in_their_project() {
        let found = |text: &str, is_same| {
            find_references(text, "#7", "acme/web", is_same).map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(found("Closes #7, not #71 or x#7", true), ["Closes "]);
        assert_eq!(found("Closes #7", false), [""; 0]);
        assert_eq!(found("see acme/web#7 and other/acme/web#7", false), ["see "]);
        assert_eq!(found("#7", true), [""]);
    }

    #[test]
    fn tasks_are_counted() {
        let counted = tasks("- [x] a\n  * [ ] b\n- [X] c\n- [y] d\n[x] e");
        assert_eq!((counted.count, counted.completed_count), (3, 2));
    }
}
