//! The commit of the staged changes: the request, and the handling of its reply.

use super::StagedChanges;
use super::check::{self, BranchFile, Done};
use super::compare::{self, Pair};
use crate::api::Endpoint;
use crate::api::commits::{CommitAction, CreateCommit};
use crate::app::action::{Action, FollowUp, follow_up};
use crate::app::command_info::Disabled;
use crate::app::complete::Complete;
use crate::app::context::Cx;
use crate::app::overlay::chooser::Chooser;
use crate::app::overlay::composer::Composer;
use crate::app::overlay::composer::choice::{ChoiceField, Chosen};
use crate::app::overlay::markdown_input::TextContext;
use crate::app::place::Place;
use crate::app::tone::Tone;
use crate::app::view::View;
use crate::parts::forms;
use crate::parts::repository::ref_choices::invalid_reason;
use crate::parts::repository::staging_area::{ChangeKind, StagedChange, StagedFile, StagingArea, history, last_commit};
use crate::store::Write;
use crate::ui::glyph;
use crate::ui::text::{self, sanitize};

/// The name of the commit message among the data of the list.
const MESSAGE: &str = "message";

impl StagedChanges {
    /// Returns whether the changes can be committed, or why not.
    pub(super) fn can_commit(&self, view: &View) -> Result<(), Disabled> {
        let staging = self.staging.as_ref().map_err(|why| Disabled::from(why.clone()))?;
        if staging.changes.is_empty() {
            return Err("nothing is staged".into());
        }
        let Some(staging_area) = self.staging_area(view) else {
            return Err(match self.branch(view) {
                None => "the default branch is not known".into(),
                Some(_) => "your account has not loaded yet".into(),
            });
        };
        let conflicting = self.checks.iter().filter(|check| check.conflict.is_some()).count();
        if conflicting > 0 {
            let files = if conflicting == 1 { "a file needs" } else { "some files need" };
            return Err(format!(
                "{files} a decision first: ‹stage.mine› keeps yours, ‹stage.theirs› takes theirs, ‹stage.merge› merges"
            )
            .into());
        }
        if self.checks.iter().any(|check| check.source == BranchFile::Loading) {
            return Err(format!("the current {} is still loading", staging_area.branch).into());
        }
        Ok(())
    }

    /// Returns the commit actions of the changes.
    fn actions(
        &self,
        view: &View,
        staging_area: &StagingArea,
        changes: &[StagedChange],
    ) -> Result<Vec<CommitAction>, String> {
        let action = |(index, change): (usize, &StagedChange)| -> Result<CommitAction, String> {
            let path = sanitize(&change.path);
            let put = match (&change.content, change.kind) {
                (Some(content), _) => {
                    let text = staging_area.text(view, content).ok_or_else(|| {
                        format!("The staged text of {path} is no longer on disk; D discards the change.")
                    })?;
                    Some(if content.base64 {
                        StagedFile::Base64(text.to_owned(), content.bytes)
                    } else {
                        StagedFile::Text(text.to_owned())
                    })
                }
                // Some servers require the content of a moved file, so it is always sent.
                (None, ChangeKind::Move) => {
                    let base = change.base.as_deref().unwrap_or_default();
                    let raw = compare::blob(view, staging_area, base);
                    let raw = raw.ok_or_else(|| format!("{path} is still loading; try again in a moment."))?;
                    Some(StagedFile::of(raw.bytes.clone()))
                }
                (None, _) => None,
            };
            let (content, encoding) = match put {
                Some(StagedFile::Text(text)) => (Some(text), None),
                Some(StagedFile::Base64(text, _)) => (Some(text), Some("base64".to_owned())),
                None => (None, None),
            };
            // If the branch has the file, the commit is pinned to the file's last commit there; else to the one
            // recorded with the change.
            let on_branch = self.is_on_branch(index);
            let last = || last_commit(view, &staging_area.project, &staging_area.branch, change.source());
            let last_commit_id = match change.kind {
                ChangeKind::Create => None,
                _ => on_branch.then(last).flatten().or_else(|| change.last_commit.clone()),
            };
            Ok(CommitAction {
                action: change.kind.word().into(),
                file_path: change.path.clone(),
                previous_path: change.from.clone(),
                content,
                encoding,
                last_commit_id,
                ..CommitAction::default()
            })
        };
        changes.iter().enumerate().map(action).collect()
    }

    /// Returns the comparisons that tell whether the branch has changes that are in conflict with it.
    pub(super) fn done_pairs<'a>(
        &'a self,
        view: &'a View,
        staging_area: &'a StagingArea,
    ) -> impl Iterator<Item = Pair<'a>> {
        self.list().iter().zip(&self.checks).filter_map(move |(change, check)| {
            match check::is_done(view, staging_area, change, check.conflict.as_ref()?) {
                Done::IfEqual(blob) => Some(Pair::with_blob(staging_area, change, &blob)),
                Done::No | Done::Yes | Done::Loading => None,
            }
        })
    }

    /// Takes the changes off the list that the branch has already: the reply to their commit was lost, or somebody else
    /// made the same ones.
    pub(super) fn take_committed(&self, staging_area: &StagingArea, cx: &mut Cx) {
        let view = &cx.view;
        let (project, branch) = (&staging_area.project, &staging_area.branch);
        let mut done = Vec::new();
        for (change, check) in self.list().iter().zip(&self.checks) {
            let Some(conflict) = &check.conflict else { continue };
            let is_done = match check::is_done(view, staging_area, change, conflict) {
                Done::No => Some(false),
                Done::Yes => Some(true),
                Done::Loading => None,
                Done::IfEqual(blob) => Pair::with_blob(staging_area, change, &blob).is_equal(view),
            };
            match is_done {
                Some(true) if view.store.is_fresh(&history(project, branch, change.source()).request()) => {
                    done.push(change.clone());
                }
                Some(false) => {}
                // They are told together.
                Some(true) | None => return,
            }
        }
        let Some(first) = done.first() else { return };
        let commits = view.store.list(&history(project, branch, first.source()));
        let short = commits.get(0).map(|commit| format!(" {}", commit.short())).unwrap_or_default();
        let of = if done.len() == 1 { first.path.clone() } else { files(done.len()) };
        let words =
            format!("Committed{}: {} has your changes to {}", sanitize(&short), sanitize(branch), sanitize(&of));
        // The message belongs to the commit that was made.
        if done.len() == self.list().len() {
            cx.act(Action::SaveText(staging_area.key(MESSAGE), None));
        }
        staging_area.update(cx, |staging| {
            staging.changes.retain(|change| !done.contains(change));
            staging.refused = None;
        });
        cx.say(Tone::Good, words);
    }

    /// Opens the composer for the commit message.
    pub(super) fn commit(&mut self, cx: &mut Cx) {
        let (Some(staging_area), Ok(staging)) = (self.staging_area(&cx.view), &self.staging) else { return };
        let changes = staging.changes.clone();
        let actions = match self.actions(&cx.view, &staging_area, &changes) {
            Ok(actions) => actions,
            Err(why) => return cx.say(Tone::Warning, why),
        };
        let chosen = Chosen {
            value: staging.onto.clone().unwrap_or_else(|| staging_area.branch.clone()),
            is_new: staging.onto.is_some(),
        };
        let (author_name, author_email) = staging.author.clone().unzip();
        let create = CreateCommit {
            id: staging_area.project.clone(),
            branch: String::new(),
            commit_message: String::new(),
            start_branch: None,
            actions,
            author_email,
            author_name,
        };
        let key = staging_area.key(MESSAGE);
        let message = cx.view.drafts.plain(&key).map(str::to_owned).unwrap_or_else(|| message(&changes));
        let title = format!("Commit {}", files(changes.len()));
        let context = TextContext::project(&staging_area.project);
        let choice = branch_choice(chosen, create, staging_area, changes, cx);
        let composer = Composer::with_choice(title, key, &message, choice).in_context(context, &cx.view);
        cx.open(composer);
    }
}

/// Returns the choice of the branch to commit to: one that exists, or a new one that starts at the current branch.
fn branch_choice(
    chosen: Chosen,
    create: CreateCommit,
    staging_area: StagingArea,
    changes: Vec<StagedChange>,
    cx: &Cx,
) -> ChoiceField {
    let (here, project, from) = (cx.here, staging_area.project.clone(), staging_area.branch.clone());
    let new_words = format!("new branch from {from}");
    let words = format!(" from {from}");
    ChoiceField {
        label: "Branch",
        letter: 'b',
        verb: "commit",
        chosen,
        new_words,
        list: Box::new(move |set| {
            let branches = Complete::Branches(project.clone());
            let chooser = Chooser::new(branches, false, vec![set.to_owned()], None);
            chooser.creating("new branch", words.clone(), invalid_reason).alone()
        }),
        record: Box::new(move |chosen| {
            let name = if chosen.is_new { chosen.value.clone() } else { String::new() };
            here.then(move |pane: &mut StagedChanges, cx| pane.set_branch(&name, cx))
        }),
        make: Box::new(move |commit_message, chosen| {
            let what = format!("commit {} to {}", files(changes.len()), chosen.value);
            let start_branch = chosen.is_new.then(|| from.clone());
            let create = CreateCommit { commit_message, branch: chosen.value.clone(), start_branch, ..create.clone() };
            (Write::new(&create, what), follow(staging_area.clone(), changes.clone(), chosen.clone()))
        }),
    }
}

/// Formats a number of files: `1 file`, `3 files`.
fn files(len: usize) -> String {
    format!("{} file{}", text::count(len as u64), if len == 1 { "" } else { "s" })
}

/// Returns the default commit message.
fn message(changes: &[StagedChange]) -> String {
    match changes {
        [change] => match change.kind {
            ChangeKind::Create => format!("Add {}", change.path),
            ChangeKind::Update => format!("Update {}", change.path),
            ChangeKind::Delete => format!("Delete {}", change.path),
            ChangeKind::Move => format!("Move {} to {}", change.source(), change.path),
        },
        many => format!("Update {}", files(many.len())),
    }
}

/// Returns the handler of the reply: it removes the committed changes from the list, or records the error.
fn follow(staging_area: StagingArea, sent: Vec<StagedChange>, chosen: Chosen) -> FollowUp {
    let Chosen { value: branch, is_new } = chosen;
    follow_up::<CreateCommit>(move |outcome, cx| match outcome {
        Err(error) => {
            staging_area.update(cx, |staging| {
                (staging.refused, staging.may_be_done) = (Some(error.message()), error.may_have_succeeded());
            });
        }
        Ok(commit) => {
            staging_area.update(cx, |staging| {
                staging.changes.retain(|change| !sent.contains(change));
                (staging.refused, staging.onto) = (None, None);
            });
            cx.go(Place::new("commit").project(staging_area.project.clone()).item(&commit.id));
            let stats = commit
                .stats
                .as_ref()
                .map(|stats| format!(": {} {}", glyph::additions(stats.additions), glyph::deletions(stats.deletions)));
            let stats = stats.unwrap_or_default();
            cx.say(Tone::Good, format!("Committed {} to {}{stats}", sanitize(commit.short()), sanitize(&branch)));
            // After a commit to a new branch, the form for a merge request opens; Esc closes it.
            if is_new {
                forms::merge_request::create(
                    &staging_area.project,
                    Some(&branch),
                    Some(&staging_area.branch),
                    &cx.view,
                )
                .open(cx);
            }
        }
    })
}
