//! Cherry-picks or reverts commits, in order, on a branch or on a new branch for a merge request; stops at the first that
//! fails.

use crate::api::branches::{CreateBranch, DeleteBranch};
use crate::api::commits::{CherryPick, Commit, RevertCommit};
use crate::api::input::{Input, InputKind};
use crate::api::merge_requests::{MergeRequest, MergeRequestState};
use crate::api::{Error, Fault, Id};
use crate::app::App;
use crate::app::action::{Action, follow_up};
use crate::app::command_info::Disabled;
use crate::app::complete::Complete;
use crate::app::context::Cx;
use crate::app::overlay::form::{Form, Widget};
use crate::app::place::Place;
use crate::app::tone::Tone;
use crate::parts::forms;
use crate::parts::forms::refs::check_name;
use crate::store::Write;
use crate::ui::text::{head, sanitize};
use serde_json::{Map, Value};
use std::rc::Rc;

/// The maximum number of commits that the form names.
const MAX_LISTED: usize = 6;

const BRANCH: &str = "branch";
const NEW_BRANCH: &str = "new_branch";
const MESSAGE: &str = "message";

const INPUTS: &[Input] = &[
    Input { name: BRANCH, kind: InputKind::Text, required: true, help: "" },
    Input {
        name: NEW_BRANCH,
        kind: InputKind::Text,
        required: false,
        help: "For a merge request; empty commits to the target branch.",
    },
    Input { name: MESSAGE, kind: InputKind::Text, required: false, help: "" },
];

/// An operation that applies the changes of commits to a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    CherryPick,
    /// Applies the opposite changes.
    Revert,
}

impl Operation {
    fn verb(self) -> &'static str {
        match self {
            Operation::CherryPick => "cherry-pick",
            Operation::Revert => "revert",
        }
    }

    fn title(self) -> &'static str {
        match self {
            Operation::CherryPick => "Cherry-pick",
            Operation::Revert => "Revert",
        }
    }

    fn past(self) -> &'static str {
        match self {
            Operation::CherryPick => "picked",
            Operation::Revert => "reverted",
        }
    }
}

/// The hashes and titles of the commits to apply, in the order in which they are applied.
pub type CommitNames = Vec<(String, String)>;

/// Returns the hash and the title of a commit.
pub fn name_of(commit: &Commit) -> (String, String) {
    (commit.id.clone(), commit.title.clone())
}

/// Returns the commits that brought a merged merge request into its target branch, or why there are none: its merge commit
/// or squashed commit, or after a fast-forward its `own` commits, which are listed newest first.
///
/// # Errors
/// Fails if it is not merged, or if `own` is empty although it is needed.
pub fn commits_of<'a>(
    operation: Operation,
    request: &MergeRequest,
    own: impl Iterator<Item = &'a Commit>,
) -> Result<CommitNames, Disabled> {
    if request.state != MergeRequestState::Merged {
        return Err("it is not merged".into());
    }
    let sha = [&request.merge_commit_sha, &request.squash_commit_sha].into_iter().find_map(|sha| sha.as_deref());
    if let Some(sha) = sha.filter(|sha| !sha.is_empty()) {
        return Ok(vec![(sha.to_owned(), format!("!{} {}", request.iid, request.title))]);
    }
    let mut names: CommitNames = own.map(name_of).collect();
    if operation == Operation::CherryPick {
        names.reverse();
    }
    if names.is_empty() { Err("it was merged without a merge commit: open it first".into()) } else { Ok(names) }
}

/// Opens the form for the target branch, which is `target` at first, and for a new branch.
pub fn ask(operation: Operation, project: &Id, commits: CommitNames, target: Option<&str>, cx: &mut Cx) {
    let Some((first, _)) = commits.first() else { return cx.say(Tone::Info, "No commit is selected.") };
    let verb = operation.verb();
    let short = head(first, 8).to_owned();
    let title = format!("{} {}", operation.title(), count(&commits));
    let key = format!("{verb} {project} {first} {}", commits.len());
    let name = if commits.len() == 1 { "commit" } else { "commits" };
    let (is_single, listed) = (commits.len() == 1, list(&commits));
    let (id, commits): (Id, Rc<[(String, String)]>) = (project.clone(), commits.into());
    let act = move |inputs: Map<String, Value>| {
        let text = |name: &str| inputs.get(name).and_then(Value::as_str).unwrap_or_default().trim().to_owned();
        let (target, new) = (text(BRANCH), text(NEW_BRANCH));
        let message = Some(text(MESSAGE)).filter(|message| !message.is_empty());
        let (project, commits) = (id.clone(), commits.clone());
        let is_new = !new.is_empty();
        let (branch, base) = if is_new { (new, Some(target)) } else { (target, None) };
        Ok(Plan { operation, project, commits, branch, base, message }.start())
    };
    let mut form = Form::acting(title, format!("{verb} it"), key, INPUTS, act)
        .fact(name, listed)
        .field(BRANCH, |field| {
            field.label("target branch").widget(Widget::Line(Complete::Branches(project.clone())));
            field.text(target.unwrap_or_default());
        })
        .field(NEW_BRANCH, |field| _ = field.label("new branch").text(format!("{verb}-{short}")).check(check_name))
        .verify(|texts| match texts.get(NEW_BRANCH) {
            new if !new.is_empty() && new == texts.get(BRANCH) => Err((NEW_BRANCH, "is the target branch".to_owned())),
            _ => Ok(()),
        });
    form = match operation {
        Operation::CherryPick if is_single => form.field(MESSAGE, |field| {
            field.label("message").widget(Widget::Long).default("the commit's message").help("");
        }),
        _ => form.without(&[MESSAGE]),
    };
    form.open(cx);
}

/// Returns a short name for the commits: `commit 1a2b3c4d`, `3 commits`.
fn count(commits: &[(String, String)]) -> String {
    match commits {
        [(sha, _)] => format!("commit {}", head(sha, 8)),
        many => format!("{} commits", many.len()),
    }
}

/// Lists the first commits.
fn list(commits: &[(String, String)]) -> String {
    let name = |(sha, title): &(String, String)| format!("{} {}", head(sha, 8), head(&sanitize(title), 48));
    let mut names: Vec<String> = commits.iter().take(MAX_LISTED).map(name).collect();
    if commits.len() > MAX_LISTED {
        names.push(format!("and {} more", commits.len() - MAX_LISTED));
    }
    names.join("; ")
}

/// Commits to apply to a branch.
#[derive(Clone)]
struct Plan {
    operation: Operation,
    project: Id,
    commits: Rc<[(String, String)]>,
    /// The branch that gets them.
    branch: String,
    /// The branch that `branch` is created from, and merged into again.
    base: Option<String>,
    /// The message of the new commit, if it is not the default.
    message: Option<String>,
}

impl Plan {
    /// Returns the action that creates the new branch, if there is one, and applies the commits.
    fn start(self) -> Action {
        let Some(base) = self.base.clone() else { return self.apply(0) };
        let (id, branch) = (self.project.clone(), self.branch.clone());
        let what = format!("create branch {branch}");
        let write = Write::new(&CreateBranch { id, branch, r#ref: base }, what);
        let then = follow_up::<CreateBranch>(move |outcome, cx| {
            if outcome.is_ok() {
                cx.act(self.clone().apply(0));
            }
        });
        Action::SendThen(None, write, then)
    }

    /// Returns the action that applies the commit at `at` and then those after it.
    fn apply(self, at: usize) -> Action {
        let Some((sha, _)) = self.commits.get(at) else { return Action::Say(Tone::Good, self.summary()) };
        let (id, sha, branch) = (self.project.clone(), sha.clone(), self.branch.clone());
        let what = match self.operation {
            Operation::CherryPick => format!("cherry-pick {} to {branch}", head(&sha, 8)),
            Operation::Revert => format!("revert {} on {branch}", head(&sha, 8)),
        };
        // Neither asks for a dry run first: servers that do not know that input would commit.
        let write = match self.operation {
            Operation::CherryPick => {
                Write::new(&CherryPick { id, sha, branch, message: self.message.clone(), dry_run: None }, what)
            }
            Operation::Revert => Write::new(&RevertCommit { id, sha, branch, dry_run: None }, what),
        };
        // Both reply with the new commit.
        let then = follow_up::<CherryPick>(move |outcome, cx| match outcome {
            Ok(_) if at + 1 < self.commits.len() => cx.act(self.clone().apply(at + 1)),
            Ok(created) => self.finish(created, cx),
            Err(error) => self.stop(at, error, cx),
        });
        Action::SendThen(None, write, then)
    }

    fn summary(&self) -> String {
        let (past, commits, branch) = (self.operation.past(), count(&self.commits), sanitize(&self.branch));
        let preposition = if self.operation == Operation::CherryPick { "to" } else { "on" };
        format!("{} {commits} {preposition} {branch}", crate::ui::text::capitalize(past))
    }

    /// Opens the form of the merge request of the new branch, or else the last commit.
    fn finish(&self, created: &Commit, cx: &mut Cx) {
        if let Some(base) = &self.base {
            forms::merge_request::create(&self.project, Some(&self.branch), Some(base), &cx.view).open(cx);
        } else if !created.id.is_empty() {
            cx.go(Place::new("commit").project(self.project.clone()).item(&created.id));
        }
        cx.say(Tone::Good, self.summary());
    }

    /// Reports how many commits were applied and why it stopped, and offers to open the commit that failed. A new branch
    /// that got none of them is deleted again.
    fn stop(&self, at: usize, error: &Error, cx: &mut Cx) {
        let (sha, title) = self.commits.get(at).cloned().unwrap_or_default();
        let (past, branch) = (self.operation.past(), sanitize(&self.branch));
        let is_refused = is_refusal(&error.fault);
        let done = match at {
            0 if is_refused => format!("Nothing was {past}"),
            0 => format!("Perhaps nothing was {past}"),
            at => format!("{at} of {} were {past} on {branch}", self.commits.len()),
        };
        let rest = match self.commits.len() - at - 1 {
            0 => String::new(),
            1 => " The one after it was not tried.".to_owned(),
            many => format!(" The {many} after it were not tried."),
        };
        let failed = if is_refused { "was refused" } else { "has no answer" };
        let question = format!(
            "{done}: {} {} {failed}. {}.{rest} Open that commit?",
            head(&sha, 8),
            head(&sanitize(&title), 48),
            sanitize(&self.reason(&sha, error)),
        );
        let place = Place::new("commit").project(self.project.clone()).item(sha);
        let title = format!("{} stopped", self.operation.title());
        cx.act(App::confirm(&title, question, Action::GoToPlace(place)));
        if at == 0 && is_refused && self.base.is_some() {
            let delete = DeleteBranch { id: self.project.clone(), branch: self.branch.clone() };
            cx.act(Action::Send(Write::new(&delete, format!("delete the new branch {}", self.branch))));
        }
    }

    /// Returns why a commit could not be applied. Newer servers name the reason in a word.
    fn reason(&self, sha: &str, error: &Error) -> String {
        let branch = self.base.as_ref().unwrap_or(&self.branch);
        let message = error.message();
        let (verb, short) = (self.operation.verb(), head(sha, 8));
        if matches!(error.fault, Fault::Unsupported(_)) {
            format!("This server cannot {verb} commits; git can, in a clone")
        } else if message.ends_with("(conflict)") {
            format!("Its changes conflict with {branch}: in a clone, git {verb} {short} lets you resolve that")
        } else if message.ends_with("(empty)") && self.operation == Operation::Revert {
            format!("{branch} has none of its changes any more")
        } else if message.ends_with("(empty)") {
            format!("{branch} has its changes already")
        } else {
            message
        }
    }
}

/// Returns whether the server certainly did nothing.
fn is_refusal(fault: &Fault) -> bool {
    matches!(
        fault,
        Fault::Unauthorized(_)
            | Fault::Denied(_)
            | Fault::Scope(_)
            | Fault::Permission(_)
            | Fault::Missing(_)
            | Fault::Unsupported(_)
            | Fault::Limited(..)
            | Fault::Refused(..)
            | Fault::Gateway(..)
            | Fault::ReadOnly
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(merge: Option<&str>, squash: Option<&str>) -> MergeRequest {
        MergeRequest {
            iid: 4,
            title: "Draw rows".into(),
            state: MergeRequestState::Merged,
            merge_commit_sha: merge.map(str::to_owned).into(),
            squash_commit_sha: squash.map(str::to_owned).into(),
            ..MergeRequest::default()
        }
    }

    #[test]
    fn a_merge_request_is_undone_by_its_merge_commit_or_newest_first() {
        let commit = |id: &str| Commit { id: id.into(), title: id.into(), ..Commit::default() };
        let own = [commit("new"), commit("old")];
        let shas = |operation, request: &MergeRequest| {
            commits_of(operation, request, own.iter())
                .map(|names| names.into_iter().map(|(sha, _)| sha).collect::<Vec<_>>())
        };
        assert_eq!(shas(Operation::Revert, &merged(Some("m"), Some("s"))), Ok(vec!["m".to_owned()]));
        assert_eq!(shas(Operation::CherryPick, &merged(None, Some("s"))), Ok(vec!["s".to_owned()]));
        assert_eq!(shas(Operation::Revert, &merged(None, None)), Ok(vec!["new".to_owned(), "old".to_owned()]));
        assert_eq!(shas(Operation::CherryPick, &merged(None, None)), Ok(vec!["old".to_owned(), "new".to_owned()]));
        let open = MergeRequest { state: MergeRequestState::Opened, ..merged(Some("m"), None) };
        assert_eq!(shas(Operation::Revert, &open), Err("it is not merged".into()));
        assert!(commits_of(Operation::Revert, &merged(None, None), [].iter()).is_err());
    }
}
