//! Quick actions: lines of a comment that are commands. They are executed with the rights of the caller and cut out of
//! the text.

use super::call::{Answer, Outcome, WriteCall};
use super::issue_links::{self, LinkType};
use super::modes::Version;
use super::mount::Mount;
use super::notes::NoteTarget;
use super::params::{self, Inputs};
use super::presenters::parse_time;
use super::records::{self, Noteable, ReviewState, Reviewer, State, TodoAction, level};
use super::rejection::Rejection;
use super::{decisions, discussions, draft_notes, issues, merge_requests, notes, subscriptions, time_tracking};
use api::decisions::{Approve, Merge, RebaseMergeRequest, Unapprove};
use api::discussions::{CreateDiscussion, Discussion, ReplyToDiscussion};
use api::issues::{CreateIssue, Issue, UpdateIssue};
use api::merge_requests::{CreateMergeRequest, MergeRequest, UpdateMergeRequest};
use api::notes::{CreateNote, Note};
use api::{self, Id};
use domain::quick_actions::{self, Command, On};
use domain::{emoji, work_time};
use jiff::civil::Date;
use jiff::{Span, tz::TimeZone};
use serde_json::{Map, Value, json};

/// Mounts the operations that write comments and descriptions, which may contain quick actions.
pub fn mount(mount: Mount) -> Mount {
    mount
        .write::<CreateNote>(|call, e| {
            let at = parse_time("created_at", &e.created_at)?;
            let target = notes::target(call, &e.on)?;
            let at = at.filter(|_| matches!(target.noteable, Noteable::Issue(_)));
            match execute_in(call, &target, e.body)? {
                Ok(body) => notes::create(call, target, body, at),
                Err(executed) => Ok(executed.answer(Note::default().into())),
            }
        })
        .write::<CreateDiscussion>(|call, e| {
            let target = notes::target(call, &e.on)?;
            match execute_in(call, &target, e.body.clone())? {
                Ok(body) => discussions::create(call, &target, CreateDiscussion { body, ..e }),
                Err(executed) => Ok(executed.answer(Discussion::default())),
            }
        })
        .write::<ReplyToDiscussion>(|call, e| {
            let target = notes::target(call, &e.on)?;
            match execute_in(call, &target, e.body)? {
                Ok(body) => discussions::answer(call, &target, &e.discussion_id, body),
                Err(executed) => Ok(executed.answer(Note::default())),
            }
        })
        .write::<CreateIssue>(|call, e| {
            let answer = issues::create(call, e)?;
            run_in_issue(call, answer)
        })
        .write::<UpdateIssue>(|call, e| {
            let is_described = e.description.is_some();
            let answer = issues::update(call, e)?;
            if is_described { run_in_issue(call, answer) } else { Ok(answer) }
        })
        .write::<CreateMergeRequest>(|call, e| {
            let answer = merge_requests::create(call, e)?;
            run_in_merge_request(call, answer)
        })
        .write::<UpdateMergeRequest>(|call, e| {
            let is_described = e.description.is_some();
            let answer = merge_requests::update(call, e)?;
            if is_described { run_in_merge_request(call, answer) } else { Ok(answer) }
        })
}

/// The quick actions that are executed here; others stay in the text, as on servers that do not know them.
const SERVED: &[&str] = &[
    "approve",
    "unapprove",
    "submit_review",
    "request_changes",
    "request_review",
    "assign_reviewer",
    "unassign_reviewer",
    "merge",
    "rebase",
    "draft",
    "ready",
    "target_branch",
    "assign",
    "unassign",
    "reassign",
    "label",
    "unlabel",
    "relabel",
    "milestone",
    "remove_milestone",
    "close",
    "reopen",
    "title",
    "lock",
    "unlock",
    "subscribe",
    "unsubscribe",
    "todo",
    "done",
    "react",
    "shrug",
    "tableflip",
    "due",
    "remove_due_date",
    "confidential",
    "estimate",
    "remove_estimate",
    "spend",
    "remove_time_spent",
    "relate",
    "blocks",
    "blocked_by",
    "unlink",
];

/// The result of one quick action.
enum Done {
    /// A sentence about the change, and the changed fields with their values.
    Applied(String, Vec<(&'static str, Value)>),
    /// Refused because a right is missing, or there is nothing to change.
    Refused,
    /// A reason that is reported with the refusal.
    RefusedBecause(String),
    /// The arguments were not understood.
    NotUnderstood,
}

use Done::{Applied, NotUnderstood, Refused, RefusedBecause};

/// The result of the quick actions of a text.
pub struct Executed {
    /// The text without them.
    pub text: String,
    summary: Vec<String>,
    changes: Map<String, Value>,
}

impl Executed {
    /// Returns the answer to a text of quick actions alone, for which no note is created.
    pub fn answer<T>(self, body: T) -> Answer<T> {
        let reply = json!({ "commands_changes": self.changes, "summary": [self.summary.join(" ")] });
        Answer::new(body).status(202).with_body(reply)
    }
}

/// Executes the quick actions of a comment. Returns the text that remains; `Err` if none does, so that there is no note.
///
/// # Errors
/// Fails if the caller may not comment, and as [`execute`] does.
pub fn execute_in(
    call: &mut WriteCall,
    target: &NoteTarget,
    body: String,
) -> Result<Result<String, Executed>, Rejection> {
    notes::authorize_write(call, target)?;
    Ok(match execute(call, target, &body)? {
        None => Ok(body),
        Some(executed) if executed.text.is_empty() => Err(executed),
        Some(executed) => Ok(executed.text),
    })
}

/// Executes the quick actions of the description that an object was given, and cuts them out of it. The answer has no
/// words about them. Returns `false` if there are none.
fn execute_in_description(call: &mut WriteCall, on: &api::Noteable) -> Result<bool, Rejection> {
    let target = notes::target(call, on)?;
    let description = match target.noteable {
        Noteable::MergeRequest(id) => call.world.merge_requests.get(id).map(|mr| mr.description.clone()),
        Noteable::Issue(id) => call.world.issues.get(id).map(|issue| issue.description.clone()),
        Noteable::Snippet(_) | Noteable::Epic(_) => None,
    };
    // Arguments that are not understood are no reason to refuse the whole.
    let Ok(Some(executed)) = execute(call, &target, &description.unwrap_or_default()) else { return Ok(false) };
    match target.noteable {
        Noteable::MergeRequest(id) => {
            call.world.merge_requests.get_mut(id).into_iter().for_each(|mr| mr.description.clone_from(&executed.text));
        }
        Noteable::Issue(id) => {
            call.world.issues.get_mut(id).into_iter().for_each(|issue| issue.description.clone_from(&executed.text));
        }
        Noteable::Snippet(_) | Noteable::Epic(_) => {}
    }
    Ok(true)
}

/// Executes the quick actions of the description of the issue in an answer.
fn run_in_issue(call: &mut WriteCall, answer: Answer<Issue>) -> Outcome<Issue> {
    let (id, project, iid) = (answer.body.id, answer.body.project_id.into(), answer.body.iid);
    if !execute_in_description(call, &api::Noteable::Issue { project, iid })? {
        return Ok(answer);
    }
    let issue = call.world.issues.get(id).ok_or_else(Rejection::record_not_found)?;
    Ok(Answer { body: call.show_issue_detail(issue), ..answer })
}

/// Executes the quick actions of the description of the merge request in an answer.
fn run_in_merge_request(call: &mut WriteCall, answer: Answer<MergeRequest>) -> Outcome<MergeRequest> {
    let (project, iid) = (Id::from(answer.body.project_id), answer.body.iid);
    if !execute_in_description(call, &api::Noteable::MergeRequest { project: project.clone(), iid })? {
        return Ok(answer);
    }
    let (_, mr, git) = call.merge_request(&project, iid)?;
    Ok(Answer { body: call.show_merge_request_detail(mr, &git)?, ..answer })
}

/// Executes the quick actions of a text; `None` if it has none.
///
/// # Errors
/// Fails with 400 if none of them was understood and no text remains.
fn execute(call: &mut WriteCall, target: &NoteTarget, body: &str) -> Result<Option<Executed>, Rejection> {
    let on = match target.noteable {
        Noteable::MergeRequest(_) => On::MergeRequest,
        Noteable::Issue(_) => On::Issue,
        Noteable::Snippet(_) | Noteable::Epic(_) => return Ok(None),
    };
    if call.only_specified() {
        return Ok(None);
    }
    let is_known =
        |name: &str| quick_actions::find(name).is_some_and(|action| action.is_on(on) && SERVED.contains(&action.name));
    let (text, commands) = quick_actions::split(body, is_known);
    if commands.is_empty() {
        return Ok(None);
    }
    let mut executed = Executed { text, summary: Vec::new(), changes: Map::new() };
    let mut is_understood = false;
    for command in commands {
        let Some(action) = quick_actions::find(command.name) else { continue };
        if matches!(action.name, "shrug" | "tableflip") {
            let figure = if action.name == "shrug" { "¯\\＿(ツ)＿/¯" } else { "(╯°□°)╯︵ ┻━┻" };
            executed.text = format!("{}\n{} {figure}", executed.text, command.arguments).trim().to_owned();
            continue;
        }
        let done = run(call, target, action.name, &command)?;
        is_understood |= !matches!(done, NotUnderstood);
        match done {
            Applied(words, changes) => {
                executed.summary.push(words);
                executed.changes.extend(changes.into_iter().map(|(name, value)| (name.to_owned(), value)));
            }
            Refused => executed.summary.push(format!("Could not apply {} command.", action.name)),
            RefusedBecause(why) => executed.summary.push(format!("Could not apply {} command. {why}", action.name)),
            NotUnderstood => {}
        }
    }
    if !is_understood && executed.text.is_empty() {
        return Err(Rejection::bad_request("400 Bad request - Failed to apply commands."));
    }
    Ok(Some(executed))
}

fn applied(words: impl Into<String>) -> Done {
    Applied(words.into(), Vec::new())
}

fn run(call: &mut WriteCall, target: &NoteTarget, name: &str, command: &Command) -> Result<Done, Rejection> {
    let user = call.require_user()?.id;
    let (on, now, arguments) = (target.noteable, call.now, command.arguments);
    let is_request = matches!(on, Noteable::MergeRequest(_));
    let what = if is_request { "merge request" } else { "issue" };
    Ok(match (name, on) {
        ("todo", _) => {
            let before = call.world.todos.len();
            let (action, created_at) = (TodoAction::Marked, now);
            let todo = records::Todo { user, author: user, action, on, created_at, ..records::Todo::default() };
            call.world.add_todo(todo);
            if call.world.todos.len() > before { applied("Added a to-do item.") } else { Refused }
        }
        ("done", _) => {
            let is_pending = |todo: &records::Todo| todo.user == user && todo.on == on && !todo.done;
            if call.world.todos.iter().any(is_pending) {
                call.world.mark_todos_done(on, user);
                applied("Marked to-do item as done.")
            } else {
                Refused
            }
        }
        ("subscribe" | "unsubscribe", _) => {
            let subject = subject(call, target)?;
            let subscribes = name == "subscribe";
            let verb = if subscribes { "Subscribed to" } else { "Unsubscribed from" };
            match subscriptions::set(call, &subject, subscribes) {
                Ok(_) => applied(format!("{verb} this {what}.")),
                Err(_) => Refused,
            }
        }
        ("react", _) => match emoji::find(arguments.trim_matches(':')) {
            None => NotUnderstood,
            Some(emoji) => {
                if call.world.react(on, None, emoji.name, user, now).is_none() {
                    call.world.awards.remove_where(|award| {
                        award.on == on && award.note.is_none() && award.name == emoji.name && award.user == user
                    });
                }
                applied(format!("Toggled :{}: emoji reaction.", emoji.name))
            }
        },
        ("estimate" | "remove_estimate" | "spend" | "remove_time_spent", _) => {
            track_time(call, target, name, arguments)
        }
        ("relate" | "blocks" | "blocked_by" | "unlink", Noteable::Issue(id)) => link(call, id, name, arguments)?,
        (_, Noteable::MergeRequest(id)) if is_review(name) => review(call, target, id, user, name, command)?,
        _ => change(call, target, name, arguments, what)?,
    })
}

/// Splits the day on which time was spent, such as `2026-01-02`, from the end of the arguments of `/spend`; `None` if it is
/// no day of the calendar, or after `today`.
fn spent_at(arguments: &str, today: Date) -> Option<(&str, Option<Date>)> {
    let is_mark = |c: char| matches!(c, '-' | '/' | '.');
    let Some((amount, last)) = arguments.rsplit_once(' ').filter(|(_, last)| last.split(is_mark).count() == 3) else {
        return Some((arguments, None));
    };
    let parts: Vec<i16> = last.split(is_mark).map(str::parse).collect::<Result<_, _>>().ok()?;
    let [year, month, day] = parts.as_slice() else { return None };
    let date = Date::new(*year, i8::try_from(*month).ok()?, i8::try_from(*day).ok()?).ok()?;
    (date <= today).then_some((amount.trim(), Some(date)))
}

/// Changes the estimated or spent time.
fn track_time(call: &mut WriteCall, target: &NoteTarget, name: &str, arguments: &str) -> Done {
    let today = call.now.to_zoned(TimeZone::UTC).date();
    let (amount, day) = match name {
        "spend" => match spent_at(arguments, today) {
            Some(split) => split,
            None => return NotUnderstood,
        },
        _ => (arguments, None),
    };
    let words = match (name, work_time::parse(amount)) {
        ("estimate" | "spend", None) => return NotUnderstood,
        ("estimate", Some(seconds)) => {
            let words = work_time::format(seconds.unsigned_abs()).unwrap_or_else(|| "0h".into());
            format!("Set time estimate to {words}.")
        }
        ("spend", Some(seconds)) => {
            let words = work_time::format(seconds.unsigned_abs()).unwrap_or_default();
            format!("{} {words} spent time.", if seconds < 0 { "Subtracted" } else { "Added" })
        }
        ("remove_estimate", _) => "Removed time estimate.".to_owned(),
        _ => "Removed spent time.".to_owned(),
    };
    let outcome = match name {
        "estimate" => time_tracking::set_estimate(call, target, amount),
        "remove_estimate" => time_tracking::set_estimate(call, target, "0"),
        "spend" => time_tracking::spend(call, target, amount, day.filter(|day| *day != today)),
        _ => time_tracking::reset_spent(call, target),
    };
    if outcome.is_ok() { applied(words) } else { Refused }
}

/// Returns the issue that a reference in an issue of `project` names: `#5`, `group/project#5`, or the address of its page.
fn issue_named(call: &WriteCall, project: u64, word: &str) -> Option<records::Issue> {
    let below = word.strip_prefix(call.base_url.as_str()).map(|path| path.trim_start_matches('/'));
    let (path, iid) = match below {
        Some(path) => path.split_once("/-/issues/")?,
        None => word.split_once('#')?,
    };
    let id = if path.is_empty() { Id::from(project) } else { Id::from(path) };
    call.issue(&id, iid.parse().ok()?).ok().map(|(_, issue)| issue.clone())
}

/// Links an issue to others, or removes the link to one.
fn link(call: &mut WriteCall, issue: u64, name: &str, arguments: &str) -> Result<Done, Rejection> {
    let Some(from) = call.world.issues.get(issue).cloned() else { return Ok(Refused) };
    let words = quick_actions::words(arguments);
    let others: Vec<records::Issue> = words.iter().filter_map(|word| issue_named(call, from.project, word)).collect();
    if others.is_empty() || others.len() < words.len() {
        return Ok(NotUnderstood);
    }
    let mut names = Vec::new();
    for to in &others {
        let outcome = match name {
            "relate" => issue_links::link(call, &from, to, LinkType::RelatesTo).map(|_| ()),
            "blocks" => issue_links::link(call, &from, to, LinkType::Blocks).map(|_| ()),
            "blocked_by" => issue_links::link(call, &from, to, LinkType::IsBlockedBy).map(|_| ()),
            _ => match issue_links::between(call, from.id, to.id) {
                Some(link) => issue_links::unlink(call, &link),
                None => return Ok(Refused),
            },
        };
        if outcome.is_err() {
            return Ok(Refused);
        }
        names.push(issue_links::reference(call, &from, to));
    }
    let names = names.join(" and ");
    Ok(applied(match name {
        "relate" => format!("Added {names} as a linked item related to this issue."),
        "blocks" => format!("Added {names} as a linked item blocked by this issue."),
        "blocked_by" => format!("Added {names} as a linked item blocking this issue."),
        _ => format!("Removed linked item {names}."),
    }))
}

/// Returns whether a quick action is about a review or the merge itself, and not a change of a field.
fn is_review(name: &str) -> bool {
    matches!(
        name,
        "approve" | "unapprove" | "submit_review" | "request_changes" | "request_review" | "merge" | "rebase"
    )
}

/// Returns the object of the notes as requests name it.
fn subject(call: &WriteCall, target: &NoteTarget) -> Result<api::Noteable, Rejection> {
    let project = call.world.project_of(target.noteable).ok_or_else(Rejection::record_not_found)?;
    let (project, iid) = (Id::from(project.id), target.iid.unwrap_or_default());
    Ok(match target.noteable {
        Noteable::MergeRequest(_) => api::Noteable::MergeRequest { project, iid },
        _ => api::Noteable::Issue { project, iid },
    })
}

fn review(
    call: &mut WriteCall,
    target: &NoteTarget,
    mr: u64,
    user: u64,
    name: &str,
    command: &Command,
) -> Result<Done, Rejection> {
    let api::Noteable::MergeRequest { project: id, iid: merge_request_iid } = subject(call, target)? else {
        return Ok(Refused);
    };
    Ok(match name {
        "approve" => {
            // A later version publishes the caller's drafts first.
            if call.version >= Version::V18 {
                draft_notes::publish_own(call, target, mr, user)?;
            }
            match decisions::approve(call, Approve { id, merge_request_iid, ..Approve::default() }) {
                Ok(answer) if answer.status != Some(304) => applied("Approved the current merge request."),
                _ => Refused,
            }
        }
        "unapprove" => match decisions::unapprove(call, Unapprove { id, merge_request_iid }) {
            Ok(_) => applied("Unapproved the current merge request."),
            Err(_) => Refused,
        },
        "submit_review" => {
            draft_notes::publish_own(call, target, mr, user)?;
            match command.arguments.to_ascii_lowercase().as_str() {
                "approve" => _ = decisions::approve(call, Approve { id, merge_request_iid, ..Approve::default() }),
                // The mark alone, without an approval.
                "approved" => _ = set_review(call, target, mr, user, ReviewState::Approved),
                "requested_changes" => _ = set_review(call, target, mr, user, ReviewState::RequestedChanges),
                "" | "reviewed" => _ = set_review(call, target, mr, user, ReviewState::Reviewed),
                _ => {}
            }
            applied("Submitted the current review.")
        }
        "request_changes" => {
            let is_reviewer = call.world.merge_requests.get(mr).is_some_and(|mr| mr.is_reviewer(user));
            match is_reviewer && set_review(call, target, mr, user, ReviewState::RequestedChanges).is_ok() {
                true => applied("Changes requested to the current merge request."),
                false => Refused,
            }
        }
        "request_review" => request_review(call, target, mr, user, command.arguments)?,
        "merge" => match call.inputs.get("merge_request_diff_head_sha").and_then(Value::as_str) {
            None | Some("") => RefusedBecause("The command requires the SHA of the head of the branch.".into()),
            Some(sha) => {
                let sha = Some(sha.to_owned());
                match decisions::merge(call, Merge { id, merge_request_iid, sha, ..Merge::default() }) {
                    Ok(_) => applied("Merged this merge request."),
                    Err(rejection) if rejection.status == 409 => {
                        RefusedBecause("Branch has been updated since the merge was requested.".into())
                    }
                    Err(_) => Refused,
                }
            }
        },
        _ => match decisions::rebase(call, RebaseMergeRequest { id, merge_request_iid }) {
            Ok(_) => applied("Scheduled a rebase of branch."),
            Err(_) => Refused,
        },
    })
}

/// Sets the state of a user's review, as a verdict does. Since 19, a user who is not a reviewer becomes one.
///
/// # Errors
/// Fails with the reason why the state was not changed.
pub fn set_review(
    call: &mut WriteCall,
    target: &NoteTarget,
    mr: u64,
    user: u64,
    state: ReviewState,
) -> Result<(), &'static str> {
    let adds = call.version >= Version::V19 && user != target.author;
    let (may_update, now) = (target.author == user || target.level >= level::DEVELOPER, call.now);
    let Some(before) = call.world.merge_requests.get(mr) else { return Err("Merge request not found") };
    let (is_reviewer, has_approved) = (before.is_reviewer(user), before.approvals.contains_key(&user));
    if !may_update && !is_reviewer {
        return Err("Invalid permissions");
    }
    if !is_reviewer && !adds {
        return Err("Reviewer not found");
    }
    if has_approved && state == ReviewState::Reviewed {
        return Err("Reviewer has approved");
    }
    let Some(mr) = call.world.merge_requests.get_mut(mr) else { return Err("Merge request not found") };
    if !is_reviewer {
        mr.reviewers.push(Reviewer { user, created_at: now, ..Reviewer::default() });
    }
    mr.set_review(user, state);
    mr.updated_at = mr.updated_at.max(now);
    let (id, on) = (mr.id, Noteable::MergeRequest(mr.id));
    if state == ReviewState::RequestedChanges {
        mr.approvals.remove(&user);
        call.add_system_note(id, user, "requested changes");
    }
    call.world.mark_todos_done(on, user);
    Ok(())
}

/// Asks people for a review, also again: a reviewer who is asked again loses the approval. Before 18, it only adds
/// reviewers.
fn request_review(
    call: &mut WriteCall,
    target: &NoteTarget,
    mr: u64,
    by: u64,
    arguments: &str,
) -> Result<Done, Rejection> {
    let Some(people) = people(call, arguments).filter(|people| !people.is_empty()) else { return Ok(NotUnderstood) };
    let Some(before) = call.world.merge_requests.get(mr) else { return Ok(Refused) };
    let is_open = before.state == State::Opened;
    let old: Vec<u64> = before.reviewers.iter().map(|reviewer| reviewer.user).collect();
    let mut all = old.clone();
    all.extend(people.iter().filter(|user| !old.contains(user)));
    if !is_open || !update(call, target, json!({ "reviewer_ids": all }))? {
        return Ok(Refused);
    }
    let again: Vec<u64> = people.iter().copied().filter(|user| old.contains(user)).collect();
    let (now, on) = (call.now, Noteable::MergeRequest(mr));
    if let Some(mr) = call.world.merge_requests.get_mut(mr) {
        for user in &again {
            mr.set_review(*user, ReviewState::Unreviewed);
            mr.approvals.remove(user);
        }
    }
    let names = |ids: &[u64], call: &WriteCall| {
        let names = ids.iter().map(|id| format!("@{}", call.user_summary(*id).username));
        names.collect::<Vec<_>>().join(" and ")
    };
    if !again.is_empty() {
        let words = format!("requested review from {}", names(&again, call));
        call.add_system_note(mr, by, words);
        call.world.add_assignment_todos(on, TodoAction::ReviewRequested, (&[], &again), by, now);
    }
    let words = format!("Requested a review from {}.", names(&people, call));
    Ok(Applied(words, vec![("reviewer_ids", json!(all))]))
}

/// Returns the IDs of the users that the arguments name; `None` if one of them does not exist.
fn people(call: &WriteCall, arguments: &str) -> Option<Vec<u64>> {
    let me = call.rights.user;
    let mut ids = Vec::new();
    for word in quick_actions::words(arguments) {
        let name = word.trim_start_matches('@');
        let id = if name == "me" { me } else { call.world.user_named(name).map(|user| user.id) };
        ids.push(id?);
    }
    ids.dedup();
    Some(ids)
}

/// Returns the labels that the arguments name, if all of them exist.
fn labels(call: &WriteCall, target: &NoteTarget, arguments: &str) -> Option<Vec<String>> {
    let project = call.world.project_of(target.noteable)?;
    let groups = call.world.groups_above(project);
    let of =
        |label: &&records::Label| label.project == project.id || label.group.is_some_and(|id| groups.contains(&id));
    let known: Vec<&str> = call.world.labels.iter().filter(of).map(|label| label.name.as_str()).collect();
    let find = |word: String| {
        let name = word.strip_prefix('~').unwrap_or(&word);
        known.iter().find(|known| known.eq_ignore_ascii_case(name)).map(|name| (*name).to_owned())
    };
    quick_actions::words(arguments).into_iter().map(find).collect()
}

/// Updates the object of the notes as the endpoint does. Returns `false` if that is refused.
fn update(call: &mut WriteCall, target: &NoteTarget, changes: Value) -> Result<bool, Rejection> {
    let mut inputs: Inputs = changes.as_object().cloned().unwrap_or_default();
    let subject = subject(call, target)?;
    let (project, iid, name) = match subject {
        api::Noteable::MergeRequest { project, iid } => (project, iid, "merge_request_iid"),
        api::Noteable::Issue { project, iid } => (project, iid, "issue_iid"),
        _ => return Ok(false),
    };
    inputs.insert("id".into(), project.as_str().into());
    inputs.insert(name.into(), iid.into());
    let outer = std::mem::replace(&mut call.inputs, inputs);
    let outcome = match target.noteable {
        Noteable::MergeRequest(_) => {
            params::read(&call.inputs).and_then(|input| merge_requests::update(call, input).map(|_| ()))
        }
        _ => params::read(&call.inputs).and_then(|input| issues::update(call, input).map(|_| ())),
    };
    call.inputs = outer;
    Ok(outcome.is_ok())
}

/// Executes a quick action that changes fields of the object.
fn change(
    call: &mut WriteCall,
    target: &NoteTarget,
    name: &str,
    arguments: &str,
    what: &str,
) -> Result<Done, Rejection> {
    let Some(now) = Now::of(call, target) else { return Ok(Refused) };
    let no_one: &[u64] = &[0];
    let merged = |old: &[u64], new: &[u64]| -> Vec<u64> {
        let new = new.iter().filter(|id| !old.contains(id));
        old.iter().chain(new).copied().collect()
    };
    let without = |old: &[u64], gone: &[u64]| -> Vec<u64> {
        let left: Vec<u64> = old.iter().copied().filter(|id| !gone.is_empty() && !gone.contains(id)).collect();
        if left.is_empty() { no_one.to_vec() } else { left }
    };
    let change = match name {
        "assign" | "reassign" | "unassign" | "assign_reviewer" | "unassign_reviewer" => {
            let Some(people) = people(call, arguments) else { return Ok(NotUnderstood) };
            if people.is_empty() && !name.starts_with("un") {
                return Ok(NotUnderstood);
            }
            let (field, old) = match name.ends_with("reviewer") {
                true => ("reviewer_ids", &now.reviewers),
                false => ("assignee_ids", &now.assignees),
            };
            let ids = match name {
                "reassign" => people,
                "assign" | "assign_reviewer" => merged(old, &people),
                _ => without(old, &people),
            };
            let words = match (name.starts_with("un"), field) {
                (false, "reviewer_ids") => format!("Assigned {arguments} as reviewer."),
                (false, _) => format!("Assigned {arguments}."),
                (true, "reviewer_ids") => "Removed reviewers.".to_owned(),
                (true, _) => "Removed assignees.".to_owned(),
            };
            (json!({ field: ids }), words)
        }
        "label" | "relabel" | "unlabel" => {
            let Some(names) = labels(call, target, arguments) else { return Ok(NotUnderstood) };
            if names.is_empty() && name != "unlabel" {
                return Ok(NotUnderstood);
            }
            let list = names.iter().map(|name| format!("~{name}")).collect::<Vec<_>>().join(" ");
            match name {
                "label" => (json!({ "add_labels": names.join(",") }), format!("Added {list} label.")),
                "relabel" => (json!({ "labels": names.join(",") }), format!("Replaced all labels with {list}.")),
                _ if names.is_empty() => (json!({ "labels": "" }), "Removed all labels.".to_owned()),
                _ => (json!({ "remove_labels": names.join(",") }), format!("Removed {list} label.")),
            }
        }
        "milestone" => {
            let words = quick_actions::words(arguments).join(" ");
            let title = words.trim_start_matches('%');
            let project = call.world.project_of(target.noteable).cloned();
            let is_it = |milestone: &&records::Milestone| {
                milestone.title.eq_ignore_ascii_case(title)
                    && project.as_ref().is_some_and(|project| call.world.milestone_in(project, milestone.id).is_some())
            };
            let Some(milestone) = call.world.milestones.iter().find(is_it) else { return Ok(NotUnderstood) };
            (json!({ "milestone_id": milestone.id }), format!("Set the milestone to %{}.", milestone.title))
        }
        "remove_milestone" => (json!({ "milestone_id": "" }), "Removed milestone.".to_owned()),
        "close" if now.is_open => (json!({ "state_event": "close" }), format!("Closed this {what}.")),
        "reopen" if !now.is_open => (json!({ "state_event": "reopen" }), format!("Reopened this {what}.")),
        "title" if arguments.is_empty() => return Ok(NotUnderstood),
        "title" => (json!({ "title": arguments }), format!("Changed the title to \"{arguments}\".")),
        "draft" if !now.is_draft => {
            let title = merge_requests::draft_title(&now.title, call.version);
            (json!({ "title": title }), "Marked as a draft.".to_owned())
        }
        "ready" if now.is_draft => {
            let mark = merge_requests::draft_mark(&now.title, call.version).unwrap_or(0);
            let title = now.title.get(mark..).unwrap_or_default().trim_start();
            (json!({ "title": title }), "Marked as ready.".to_owned())
        }
        "target_branch" => {
            let exists = call
                .world
                .project_of(target.noteable)
                .is_some_and(|project| call.git(project).is_ok_and(|git| git.branch_head(arguments).is_some()));
            // An unknown branch changes nothing, without a word.
            if !exists {
                return Ok(applied(String::new()));
            }
            (json!({ "target_branch": arguments }), format!("Set target branch to {arguments}."))
        }
        "lock" => (json!({ "discussion_locked": true }), "Locked the discussion.".to_owned()),
        "unlock" => (json!({ "discussion_locked": false }), "Unlocked the discussion.".to_owned()),
        "confidential" => (json!({ "confidential": true }), "Made this issue confidential.".to_owned()),
        "due" => {
            let Some(day) = date(arguments, call.now.to_zoned(TimeZone::UTC).date()) else { return Ok(NotUnderstood) };
            (json!({ "due_date": day.to_string() }), format!("Set the due date to {}.", day.strftime("%b %-d, %Y")))
        }
        "remove_due_date" => (json!({ "due_date": "" }), "Removed the due date.".to_owned()),
        _ => return Ok(Refused),
    };
    let (changes, words) = change;
    if !update(call, target, changes.clone())? {
        return Ok(Refused);
    }
    let named = changes.as_object().into_iter().flatten();
    let named = named.filter_map(|(name, value)| Some((field_of(name)?, value.clone())));
    Ok(Applied(words, named.collect()))
}

/// Returns the name of a changed field in the answer, if it is listed there.
fn field_of(input: &str) -> Option<&'static str> {
    ["assignee_ids", "reviewer_ids", "milestone_id", "state_event", "title", "target_branch", "due_date"]
        .into_iter()
        .find(|field| *field == input)
}

/// The fields of an object that its quick actions depend on.
struct Now {
    title: String,
    is_open: bool,
    is_draft: bool,
    assignees: Vec<u64>,
    reviewers: Vec<u64>,
}

impl Now {
    fn of(call: &WriteCall, target: &NoteTarget) -> Option<Now> {
        match target.noteable {
            Noteable::MergeRequest(id) => call.world.merge_requests.get(id).map(|mr| Now {
                title: mr.title.clone(),
                is_open: mr.state == State::Opened,
                is_draft: merge_requests::is_draft(&mr.title, call.version),
                assignees: mr.assignees().collect(),
                reviewers: mr.reviewers.iter().map(|reviewer| reviewer.user).collect(),
            }),
            Noteable::Issue(id) => call.world.issues.get(id).map(|issue| Now {
                title: issue.title.clone(),
                is_open: issue.state == State::Opened,
                is_draft: false,
                assignees: issue.assignees.clone(),
                reviewers: Vec::new(),
            }),
            Noteable::Snippet(_) | Noteable::Epic(_) => None,
        }
    }
}

/// Parses a date, or a number of days from today: `2026-07-01`, `today`, `tomorrow`, `in 2 days`, `in 1 week`.
fn date(text: &str, today: Date) -> Option<Date> {
    let text = text.trim().to_ascii_lowercase();
    let words: Vec<&str> = text.split_whitespace().collect();
    let days = match words.as_slice() {
        ["today"] => 0,
        ["tomorrow"] => 1,
        ["in", count, unit] => {
            let count: i64 = count.parse().ok().filter(|count| (0..=10_000).contains(count))?;
            count * if unit.starts_with("week") { 7 } else { 1 }
        }
        _ => return text.parse().ok(),
    };
    today.checked_add(Span::new().days(days)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn served_quick_actions_are_in_the_table_by_their_first_name() {
        for name in SERVED {
            assert_eq!(quick_actions::find(name).map(|action| action.name), Some(*name));
        }
    }

    #[test]
    fn dates_are_absolute_or_relative() {
        let today: Date = "2026-06-30".parse().expect("a date");
        for (text, expected) in [
            ("2026-07-01", "2026-07-01"),
            ("Tomorrow", "2026-07-01"),
            ("in 2 weeks", "2026-07-14"),
            ("in 3 days", "2026-07-03"),
        ] {
            assert_eq!(date(text, today).map(|date| date.to_string()).as_deref(), Some(expected), "{text}");
        }
        for text in ["", "soon", "in x days", "in -2 days", "in 99999999999999999999 days"] {
            assert_eq!(date(text, today), None, "{text}");
        }
    }
}
