//! Forms for creating and editing merge requests. The title and the description of a new one are proposed from its
//! commits.

use crate::api::commits::Commit;
use crate::api::input::{Input, InputError, InputKind, InputType};
use crate::api::issues::Issue;
use crate::api::labels::ListLabels;
use crate::api::merge_requests::{CreateMergeRequest, GetMergeRequest, MergeRequest, UpdateMergeRequest};
use crate::api::repository::{CompareRefs, GetRawBlob, ListTree, TreeEntry};
use crate::api::users::User;
use crate::api::{Endpoint, Id, Raw, Scope};
use crate::app::action::Action;
use crate::app::complete::{self, Complete, MERGE_REQUEST_TEMPLATES};
use crate::app::overlay::batch::{Batch, ChangedInput};
use crate::app::overlay::form::{FieldTexts, Form, Widget};
use crate::app::overlay::markdown_input::TextContext;
use crate::app::place::Place;
use crate::app::view::View;
use crate::domain::quick_actions::On;
use crate::parts::items::merge_requests;
use crate::parts::items::sent_quick_actions;
use crate::parts::{project, review};
use crate::store::{Load, Want, Write};
use crate::ui::text;
use serde_json::{Map, Value};
use std::time::Duration;

/// The maximum number of commits that a proposed description lists.
const MAX_LISTED: usize = 30;
/// The maximum number of commits, the newest ones, that the variables of templates stand for.
const RECENT: usize = 100;
/// The maximum size in bytes of a commit message in a template.
const MESSAGE: usize = 100 << 10;
/// The maximum size in bytes of a template after its variables are replaced: that of a description.
const LARGEST: usize = 1 << 20;
/// The variables of templates (GitLab, "Description templates").
const VARIABLES: &[&str] =
    &["source_branch", "target_branch", "first_commit", "first_multiline_commit", "all_commits", "co_authored_by"];
/// The delay after a branch name was typed before the branches are compared.
const FETCH_DELAY: Duration = Duration::from_millis(300);

fn common(form: Form, id: &Id) -> Form {
    form.also(|reply: &MergeRequest, typed| sent_quick_actions::report(reply.into(), typed.changed("description")))
        .field("description", |field| _ = field.markdown(Some(TextContext::description(id, On::MergeRequest))))
        .field("labels", |field| {
            field.widget(Widget::Words(Complete::Labels(Some(id.clone())))).help("");
        })
        .field("assignee_id", |field| {
            field.widget(Widget::Named(Complete::Users(Some(id.clone())))).help("").default("Unassigned");
        })
        .field("milestone_id", |field| {
            field.widget(Widget::Named(Complete::Milestones(Some(id.clone())))).help("").default("none");
        })
        .field("target_branch", |field| _ = field.widget(Widget::Line(Complete::Branches(id.clone()))))
        .field("remove_source_branch", |field| _ = field.label("delete source branch").help("When it is merged."))
        .field("squash", |field| _ = field.help("Squashes the commits on merge."))
        .field("allow_maintainer_to_push", |field| {
            field.label("allow commits").help("For forks: those who can merge may push to the source branch.");
        })
}

/// Returns the form for a new merge request from `source` to `target` or the default branch, with texts proposed from
/// its commits.
pub fn create(id: &Id, source: Option<&str>, target: Option<&str>, view: &View) -> Form {
    let (mine, theirs) = (id.clone(), id.clone());
    empty(id, source, target, view)
        .propose(move |view, texts| needs(&mine, view, texts), move |view, texts| propose(&theirs, view, texts))
}

/// Returns the form for a draft merge request from `source` that closes an issue.
pub fn create_for_issue(id: &Id, source: &str, issue: &Issue, view: &View) -> Form {
    empty(id, Some(source), None, view)
        .field("title", |field| _ = field.text(format!("Draft: Resolve \"{}\"", issue.title)))
        .field("description", |field| _ = field.text(format!("Closes #{}", issue.iid)))
}

fn empty(id: &Id, source: Option<&str>, target: Option<&str>, view: &View) -> Form {
    let target = target.map(str::to_owned).or_else(|| project::default_branch(view, id).map(str::to_owned));
    let source = source.filter(|source| Some(*source) != target.as_deref()).unwrap_or_default();
    let form = Form::of::<CreateMergeRequest>(
        format!("New merge request in {id}"),
        "create the merge request",
        format!("new merge request {id} {source}"),
    )
    .fixed("id", id)
    .first(&[
        "source_branch",
        "target_branch",
        "title",
        "description",
        "labels",
        "reviewer_ids",
        "assignee_id",
        "milestone_id",
    ])
    .field("source_branch", |field| {
        field.widget(Widget::Line(Complete::Branches(id.clone()))).text(source);
    })
    .field("target_branch", |field| _ = field.text(target.unwrap_or_default()))
    .field("target_project_id", |field| {
        field
            .widget(Widget::Named(Complete::Projects))
            .default("same project")
            .help("For forks: the upstream project.");
    })
    .without(&["assignee_ids"])
    .field("reviewer_ids", |field| {
        field.label("reviewers").widget(Widget::Names(Complete::Users(Some(id.clone())))).default("none").help("");
    });
    let server = view.session.web_url.clone();
    common(form, id).then(move |created: &MergeRequest| {
        let project = merge_requests::project_on(created, &server);
        Some(Action::GoToPlace(Place::new("mr").project(project).item(created.iid)))
    })
}

/// Returns the form that edits a merge request.
pub fn edit(id: &Id, iid: u64, view: &View) -> Form {
    let form = Form::of::<UpdateMergeRequest>(
        format!("Edit !{iid}"),
        format!("change !{iid}"),
        format!("merge request {id}!{iid}"),
    )
    .fixed("id", id)
    .fixed("merge_request_iid", iid)
    .without(&["state_event", "reviewer_ids", "assignee_ids"])
    .first(&["title", "description", "target_branch", "labels", "assignee_id", "milestone_id"])
    .field("title", |field| _ = field.required(true))
    .field("discussion_locked", |field| _ = field.help("Only members can comment."));
    let get = GetMergeRequest::new(id.clone(), iid);
    common(form, id).of_current(view, get, |merge_request| {
        let remove = merge_request.force_remove_source_branch.or(*merge_request.should_remove_source_branch);
        vec![
            ("assignee_id", merge_request.assignees().first().map(|user| user.username.clone()).unwrap_or_default()),
            ("milestone_id", merge_request.milestone.as_ref().map(|m| m.title.clone()).unwrap_or_default()),
            ("remove_source_branch", remove.map_or("", |on| if on { "yes" } else { "no" }).to_owned()),
        ]
    })
}

/// Returns a form with only some fields of a merge request.
fn edit_some(id: &Id, iid: u64, title: &str, fields: &[&'static str]) -> Form {
    let others: Vec<&str> = UpdateMergeRequest::INPUTS.iter().map(|input| input.name).collect();
    let others: Vec<&str> = others.into_iter().filter(|name| !fields.contains(name)).collect();
    let key = format!("merge request {id}!{iid} {}", fields.join(" "));
    Form::of::<UpdateMergeRequest>(format!("{title} of !{iid}"), format!("change !{iid}"), key)
        .without(&others)
        .fixed("id", id)
        .fixed("merge_request_iid", iid)
        .first(fields)
}

/// Returns the selection of the labels of a merge request.
pub fn labels(id: &Id, iid: u64, view: &View) -> Form {
    let get = GetMergeRequest::new(id.clone(), iid);
    let widget = Widget::Words(Complete::Labels(Some(id.clone())));
    edit_some(id, iid, "Labels", &["labels"])
        .field("labels", |field| _ = field.widget(widget).help(""))
        .of_current(view, get, |_| Vec::new())
        .picker()
}

fn usernames(users: &[User]) -> String {
    users.iter().map(|user| user.username.as_str()).collect::<Vec<_>>().join(", ")
}

/// Returns the selection of the reviewers and assignees of a merge request, or of its only assignee where the server has
/// no reviewers.
pub fn people(id: &Id, known: &MergeRequest, view: &View) -> Form {
    if known.reviewers.is_some() { reviewers(id, known.iid, view) } else { assignee(id, known.iid, view) }
}

fn reviewers(id: &Id, iid: u64, view: &View) -> Form {
    let users = || Widget::Names(Complete::Users(Some(id.clone())));
    edit_some(id, iid, "Reviewers and assignees", &["reviewer_ids", "assignee_ids"])
        .field("reviewer_ids", |field| _ = field.label("reviewers").widget(users()).default("none").help(""))
        .field("assignee_ids", |field| _ = field.label("assignees").widget(users()).default("Unassigned").help(""))
        .of_current(view, GetMergeRequest::new(id.clone(), iid), |known| {
            let reviewers = usernames(known.reviewers.as_deref().unwrap_or_default());
            vec![("reviewer_ids", reviewers), ("assignee_ids", usernames(known.assignees()))]
        })
        .picker_with("@", "ask again", {
            let id = id.clone();
            move |view, name| review::request_review::again(&id, iid, name, view)
        })
}

fn assignee(id: &Id, iid: u64, view: &View) -> Form {
    let users = Widget::Named(Complete::Users(Some(id.clone())));
    edit_some(id, iid, "Assignee", &["assignee_id"])
        .field("assignee_id", |field| _ = field.widget(users).default("Unassigned").help(""))
        .of_current(view, GetMergeRequest::new(id.clone(), iid), |known| {
            vec![("assignee_id", known.assignees().first().map(|user| user.username.clone()).unwrap_or_default())]
        })
        .picker()
}

/// The inputs for changing several merge requests at once.
const BULK_INPUTS: &[Input] = &[
    Input { name: "state_event", kind: InputKind::Text, required: false, help: "" },
    Input { name: "add_labels", kind: InputKind::List, required: false, help: "Labels to add to each." },
    Input { name: "remove_labels", kind: InputKind::List, required: false, help: "Labels to remove from each." },
    Input { name: "assignee_id", kind: InputKind::Number, required: false, help: "" },
    Input { name: "milestone_id", kind: InputKind::Number, required: false, help: "" },
    Input { name: "target_branch", kind: InputKind::Text, required: false, help: "" },
    Input { name: "squash", kind: InputKind::Bool, required: false, help: "" },
    Input { name: "remove_source_branch", kind: InputKind::Bool, required: false, help: "" },
    Input { name: "discussion_locked", kind: InputKind::Bool, required: false, help: "Only members can comment." },
];

/// Returns the form that changes several merge requests, with one write each, in order. Names are looked up in
/// `project` if they share one.
pub fn edit_all(requests: Vec<(Id, MergeRequest)>, project: Option<&Id>) -> Form {
    let count = requests.len();
    let labels = || Widget::Words(Complete::Labels(project.cloned()));
    let act = move |inputs: Map<String, Value>| {
        let change = Change::of(&inputs).map_err(|error| error.to_string())?;
        let batch = requests.iter().fold(Batch::new("Merge requests", Vec::new()), |batch, (id, known)| {
            let get = GetMergeRequest::new(id.clone(), known.iid);
            let (load, write) = (Load::single(&get), change.write(id, known));
            let (id, known, inputs, change) = (id.clone(), known.clone(), inputs.clone(), change.clone());
            batch.checked(write, load, move |view| match view.store.get(&get).value {
                None => ChangedInput::Coming,
                Some(now) => {
                    let write = change.write(&id, now);
                    let changed = changed(&known, now, &inputs);
                    if changed.is_empty() {
                        ChangedInput::Fits(write)
                    } else {
                        ChangedInput::Changed(changed.join(", "), write)
                    }
                }
            })
        });
        Ok(Action::OpenOverlay(Box::new(batch)))
    };
    Form::acting(format!("Change {count} merge requests"), "change them", "several merge requests", BULK_INPUTS, act)
        .field("state_event", |field| _ = field.label("state").widget(Widget::Choice(&["close", "reopen"])))
        .field("add_labels", |field| _ = field.widget(labels()))
        .field("remove_labels", |field| _ = field.widget(labels()))
        .field("assignee_id", |field| _ = field.widget(Widget::Named(Complete::Users(project.cloned()))))
        .field("milestone_id", |field| _ = field.widget(Widget::Named(Complete::Milestones(project.cloned()))))
        .field("target_branch", |field| {
            field.widget(Widget::Line(project.cloned().map_or(Complete::Nothing, Complete::Branches)));
        })
}

/// Returns the current values of the fields of [`BULK_INPUTS`] with a single value, as sent and as displayed. Labels
/// are added and removed one by one, so that others' changes stay.
fn fields(of: &MergeRequest) -> Vec<(&'static str, Option<(Value, String)>)> {
    let yes = |flag: Option<bool>| flag.map(|on| (on.into(), if on { "yes" } else { "no" }.to_owned()));
    let assignee = of
        .assignees()
        .first()
        .map_or((Value::from(0), "unassigned".to_owned()), |user| (user.id.into(), user.username.clone()));
    let milestone = of
        .milestone
        .as_ref()
        .map_or((Value::from(0), "none".to_owned()), |milestone| (milestone.id.into(), milestone.title.clone()));
    // The event that leads to this state; there is none for a merged one.
    let state = match of.state.as_str() {
        "closed" => "close",
        "opened" | "reopened" => "reopen",
        other => other,
    };
    vec![
        ("state_event", Some((state.into(), of.state.as_str().to_owned()))),
        ("assignee_id", Some(assignee)),
        ("milestone_id", Some(milestone)),
        ("target_branch", of.target_branch.clone().map(|branch| (branch.clone().into(), branch))),
        ("squash", yes(of.squash)),
        ("remove_source_branch", yes(of.force_remove_source_branch)),
        ("discussion_locked", yes(*of.discussion_locked)),
    ]
}

/// Describes the fields that `inputs` would overwrite although somebody else changed them since `known`.
fn changed(known: &MergeRequest, now: &MergeRequest, inputs: &Map<String, Value>) -> Vec<String> {
    let mut clashes = Vec::new();
    for ((name, was), (_, is)) in fields(known).into_iter().zip(fields(now)) {
        let (Some((was, before)), Some((is, words)), Some(mine)) = (was, is, inputs.get(name)) else { continue };
        if was != is && is != *mine {
            let label = name.trim_end_matches("_id").trim_end_matches("_event").replace('_', " ");
            clashes.push(format!("{label} was {before}, is now {words}"));
        }
    }
    clashes
}

/// A change of several merge requests.
#[derive(Clone)]
struct Change {
    update: UpdateMergeRequest,
    more_labels: Vec<String>,
    less_labels: Vec<String>,
}

impl Change {
    fn of(inputs: &Map<String, Value>) -> Result<Change, InputError> {
        // All inputs of the table have the same types as those of the operation.
        let mut inputs = inputs.clone();
        inputs.extend([("id".to_owned(), "".into()), ("merge_request_iid".to_owned(), 0.into())]);
        let labels = |name| inputs.get(name).map_or(Ok(Vec::new()), Vec::read);
        let (more_labels, less_labels) = (labels("add_labels")?, labels("remove_labels")?);
        Ok(Change { update: UpdateMergeRequest::of(&inputs)?, more_labels, less_labels })
    }

    fn write(&self, id: &Id, merge_request: &MergeRequest) -> Write {
        let iid = merge_request.iid;
        let labels = (!self.more_labels.is_empty() || !self.less_labels.is_empty()).then(|| {
            let own: Vec<&str> = merge_request.labels().iter().map(|label| label.name()).collect();
            let added = self.more_labels.iter().map(String::as_str).filter(|label| !own.contains(label));
            let kept = own.iter().copied().filter(|label| self.less_labels.iter().all(|less| less != label));
            kept.chain(added).collect::<Vec<_>>().join(",")
        });
        let update = UpdateMergeRequest { id: id.clone(), merge_request_iid: iid, labels, ..self.update.clone() };
        Write::new(&update, format!("change {id}!{iid}"))
    }
}

// ---- proposals

fn comparison(id: &Id, texts: FieldTexts) -> Option<CompareRefs> {
    let (from, to) = (texts.get("target_branch"), texts.get("source_branch"));
    let both = !from.is_empty() && !to.is_empty() && from != to;
    both.then(|| CompareRefs { id: id.clone(), from: from.into(), to: to.into(), straight: None })
}

fn templates(id: &Id, texts: FieldTexts) -> ListTree {
    let git_ref = Some(texts.get("target_branch").to_owned()).filter(|name| !name.is_empty());
    ListTree { id: id.clone(), r#ref: git_ref, ..complete::templates(id, MERGE_REQUEST_TEMPLATES) }
}

/// Returns the template called default, or else the first.
fn template<'a>(id: &Id, view: &View<'a>, texts: FieldTexts) -> Option<&'a TreeEntry> {
    let files: Vec<&TreeEntry> =
        view.store.list(&templates(id, texts)).iter().filter(|e| !e.is_folder() && e.name.ends_with(".md")).collect();
    files.iter().find(|file| file.name.eq_ignore_ascii_case("default.md")).or(files.first()).copied()
}

fn content(id: &Id, file: &TreeEntry) -> GetRawBlob {
    GetRawBlob { id: id.clone(), sha: file.id.clone() }
}

fn needs(id: &Id, view: &View, texts: FieldTexts) -> Vec<Want> {
    let mut wants: Vec<Want> = vec![Load::list(&templates(id, texts), 1).optional().after(FETCH_DELAY).into()];
    wants.extend(template(id, view, texts).map(|file| Load::single(&content(id, file)).into()));
    if let Some(compare) = comparison(id, texts) {
        let commits = view.store.get(&compare).value.map_or(&[][..], |comparison| &comparison.commits);
        if !label_names(commits).is_empty() {
            wants.push(Load::list(&labels_of(id), 1).into());
        }
        wants.push(Load::single(&compare).after(FETCH_DELAY).into());
    }
    wants
}

fn propose(id: &Id, view: &View, texts: FieldTexts) -> Vec<(&'static str, String)> {
    let Some(compare) = comparison(id, texts) else { return Vec::new() };
    let Some(comparison) = view.store.get(&compare).value else { return Vec::new() };
    let commits = &comparison.commits;
    let template = template(id, view, texts).and_then(|file| view.store.get(&content(id, file)).value);
    let title = titled(commits, &compare.to);
    let description = match template {
        Some(Raw { bytes, .. }) => {
            let own_email = view.me().and_then(|me| me.email.as_ref()).map_or("", String::as_str);
            let variables = Variables { compare: &compare, commits: oldest_first(commits), title: &title, own_email };
            filled(&String::from_utf8_lossy(bytes), &variables)
        }
        None => described(commits),
    };
    let mut proposed = vec![("title", title), ("description", description)];
    // The server would create labels that it does not have.
    let known = view.store.list(&labels_of(id));
    let mut named = label_names(commits);
    named.retain(|name| known.iter().any(|label| label.name == *name));
    if !named.is_empty() {
        proposed.push(("labels", named.join(", ")));
    }
    proposed
}

fn labels_of(id: &Id) -> ListLabels {
    ListLabels { scope: Scope::Project(id.clone()), ..ListLabels::default() }
}

/// Lists the labels that commit messages name in the way that GitLab links: `~bug`, `~"good first issue"`.
fn label_names(commits: &[Commit]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for commit in commits.iter().take(RECENT) {
        let text = text::head_bytes(message(commit), MESSAGE);
        for (at, _) in text.match_indices('~') {
            let (before, after) = (text.get(..at).unwrap_or_default(), text.get(at + 1..).unwrap_or_default());
            if before.chars().next_back().is_some_and(|c| !c.is_whitespace() && c != '(') {
                continue;
            }
            let is_end = |c: char| !c.is_alphanumeric() && !"_-:/".contains(c);
            let name = match after.strip_prefix('"') {
                Some(quoted) => {
                    quoted.split('"').next().filter(|name| name.len() < quoted.len() && !name.contains('\n'))
                }
                None => after.split(is_end).next().map(|name| name.trim_end_matches(':')),
            };
            names.extend(name.filter(|name| !name.is_empty() && !names.contains(name)));
        }
    }
    names
}

/// Returns the proposed title: that of a single commit, or else the name of the branch.
fn titled(commits: &[Commit], branch: &str) -> String {
    if let [one] = commits {
        return one.title.clone();
    }
    let name = branch.rsplit('/').next().unwrap_or(branch).replace(['-', '_'], " ");
    let mut letters = name.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// Returns the proposed description: the message body of a single commit, or a list of the commits, oldest first.
fn described(commits: &[Commit]) -> String {
    match commits {
        [] => String::new(),
        [one] => one.body().trim().to_owned(),
        many => {
            let oldest = oldest_first(many).into_iter();
            let mut lines: Vec<String> = oldest.take(MAX_LISTED).map(|c| format!("- {}", c.title)).collect();
            if let Some(more) = many.len().checked_sub(MAX_LISTED).filter(|more| *more > 0) {
                lines.push(format!("- and {more} more"));
            }
            lines.join("\n")
        }
    }
}

fn oldest_first(commits: &[Commit]) -> Vec<&Commit> {
    let mut commits: Vec<&Commit> = commits.iter().collect();
    commits.sort_by_key(|commit| commit.date().and_then(crate::api::Time::instant));
    commits
}

/// Returns the whole message of a commit; older servers send only its title.
fn message(commit: &Commit) -> &str {
    Some(commit.message.trim()).filter(|message| !message.is_empty()).unwrap_or(&commit.title)
}

/// The values of the variables of a template.
struct Variables<'a> {
    compare: &'a CompareRefs,
    /// The commits, oldest first.
    commits: Vec<&'a Commit>,
    /// The proposed title.
    title: &'a str,
    /// The address of the user, who is not a co-author.
    own_email: &'a str,
}

impl Variables<'_> {
    /// Returns the newest commits, oldest first.
    fn recent(&self) -> &[&Commit] {
        self.commits.get(self.commits.len().saturating_sub(RECENT)..).unwrap_or_default()
    }

    /// Returns the value of one of [`VARIABLES`].
    fn value(&self, name: &str) -> String {
        let is_no_merge = |commit: &&&Commit| !commit.is_merge();
        match name {
            "source_branch" => self.compare.to.clone(),
            "target_branch" => self.compare.from.clone(),
            "first_commit" => self.commits.first().map(|commit| message(commit).to_owned()).unwrap_or_default(),
            "first_multiline_commit" => {
                let mut commits = self.recent().iter().filter(is_no_merge);
                let found = commits.find(|commit| !commit.body().trim().is_empty());
                found.map_or(self.title, |commit| message(commit)).to_owned()
            }
            "all_commits" => {
                let item = |commit: &&Commit| match message(commit) {
                    long if long.len() > MESSAGE => {
                        format!("* {}\n\n-- Skipped commit body exceeding 100KiB in size.", commit.title)
                    }
                    message => format!("* {message}"),
                };
                let newest_first = self.recent().iter().rev().filter(is_no_merge);
                newest_first.map(item).collect::<Vec<_>>().join("\n\n")
            }
            "co_authored_by" => {
                let mut lines: Vec<String> = Vec::new();
                let mut emails = vec![self.own_email];
                for commit in self.recent().iter().rev().filter(|commit| !commit.author_email.is_empty()) {
                    if !emails.contains(&commit.author_email.as_str()) {
                        emails.push(&commit.author_email);
                        lines.push(format!("Co-authored-by: {} <{}>", commit.author_name, commit.author_email));
                    }
                }
                lines.join("\n")
            }
            _ => String::new(),
        }
    }
}

/// Returns a template with its variables replaced. Values are not searched for variables, and a variable whose value
/// would make the text too large stays.
fn filled(template: &str, variables: &Variables) -> String {
    let ends = VARIABLES.iter().map(|name| (*name, format!("{name}}}")));
    let used = ends.filter(|(_, end)| template.contains(&format!("%{{{end}")));
    let values: Vec<(String, String)> = used.map(|(name, end)| (end, variables.value(name))).collect();
    let mut filled = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("%{") {
        filled.push_str(before);
        let found = values.iter().find_map(|(end, value)| Some((value, after.strip_prefix(end.as_str())?)));
        match found.filter(|(value, _)| filled.len() + value.len() <= LARGEST) {
            Some((value, end)) => {
                filled.push_str(value);
                rest = end;
            }
            None => {
                filled.push_str("%{");
                rest = after;
            }
        }
    }
    filled.push_str(rest);
    filled.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commit(message: &str, minute: u32) -> Commit {
        Commit {
            title: message.lines().next().unwrap_or_default().to_owned(),
            message: message.to_owned(),
            author_name: "Ada".to_owned(),
            author_email: "ada@example.com".to_owned(),
            authored_date: Some(format!("2026-06-15T{:02}:{:02}:00Z", minute / 60, minute % 60).as_str().into()),
            ..Commit::default()
        }
    }

    fn fill(template: &str, commits: &[Commit]) -> String {
        let compare = CompareRefs { id: "a/b".into(), from: "main".into(), to: "topic".into(), straight: None };
        let commits = oldest_first(commits);
        filled(template, &Variables { compare: &compare, commits, title: "Topic", own_email: "bo@example.com" })
    }

    #[test]
    fn template_variables_are_replaced_as_gitlab_documents() {
        let mut merge = commit("Merge branch 'main'\n\nInto topic.", 3);
        merge.parent_ids = vec!["a".into(), "b".into()];
        let mut own = commit("Last\n", 4);
        own.author_email = "bo@example.com".into();
        // Servers send the commits in either order.
        let mut commits = vec![commit("First", 1), commit("Second\n\nWith %{target_branch}.\n", 2), merge, own];
        for _ in 0..2 {
            assert_eq!(fill("%{source_branch} to %{target_branch}", &commits), "topic to main");
            assert_eq!(fill("A %{first_commit}!", &commits), "A First!");
            assert_eq!(fill("%{first_multiline_commit}", &commits), "Second\n\nWith %{target_branch}.");
            assert_eq!(fill("%{all_commits}", &commits), "* Last\n\n* Second\n\nWith %{target_branch}.\n\n* First");
            assert_eq!(fill("%{co_authored_by}", &commits), "Co-authored-by: Ada <ada@example.com>");
            assert_eq!(fill("100%{ of %{unknown} %{", &commits), "100%{ of %{unknown} %{");
            commits.reverse();
        }
        assert_eq!(fill("%{first_multiline_commit}", &commits[..1]), "Topic", "the title where no message is longer");
        assert_eq!(fill("%{all_commits}", &[]), "");
    }

    #[test]
    fn commit_messages_name_labels() {
        let commits = [
            commit("Fix rows\n\nSee ~bug, ~\"good first issue\" (~area::ui) and ~5.", 1),
            commit("Use ~/.config and a~b, ~bug again: ~\"open", 2),
        ];
        assert_eq!(label_names(&commits), ["bug", "good first issue", "area::ui", "5", "/"]);
    }

    #[test]
    fn variables_are_bounded() {
        let mut commits: Vec<Commit> = (0..150).map(|minute| commit(&format!("Commit {minute}"), minute)).collect();
        commits.push(commit(&format!("Long\n\n{}", "x".repeat(MESSAGE)), 200));
        let all = fill("%{all_commits}", &commits);
        assert_eq!(all.lines().filter(|line| line.starts_with("* ")).count(), RECENT);
        assert!(all.starts_with("* Long\n\n-- Skipped commit body exceeding 100KiB in size.\n\n* Commit 149\n"));
        assert!(all.ends_with("* Commit 51") && all.len() < MESSAGE);
        let long = [commit(&format!("Long\n\n{}", "x".repeat(MESSAGE / 2)), 1)];
        assert!(fill(&"%{first_commit}\n".repeat(1000), &long).len() <= LARGEST + 20_000);
        let odd = "%{".repeat(LARGEST / 2);
        assert_eq!(fill(&odd, &long), odd);
    }
}
