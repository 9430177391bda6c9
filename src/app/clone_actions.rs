//! Actions in the clone: its current branch, pushing it, opening a file in the editor, and the end of a checkout.

use super::App;
use super::action::{Action, Effect};
use super::clone::{Checkout, CheckoutOutcome, CloneFile, CloneFolder, CloneHead, Push, Worktree};
use super::command_info::Disabled;
use super::custom::Show;
use super::message::sentence;
use super::overlay::confirm::Confirm;
use super::place_info::{self, Subject};
use super::reconcile::HeadState;
use super::tone::Tone;
use std::path::{Component, Path};
use ui::text::sanitize;

impl App {
    /// Handles the end of a checkout; if uncommitted changes prevented it, offers to stash them.
    pub(super) fn on_checkout_finished(
        &mut self,
        checkout: Checkout,
        outcome: CheckoutOutcome,
        effects: &mut Vec<Effect>,
    ) {
        self.requests.head.is_current = false;
        match outcome {
            CheckoutOutcome::Done(words) => {
                // From now on, the editor, custom commands and pushes work there.
                if let (Some(Worktree::Use(path)), Some(clone)) = (&checkout.worktree, &mut self.session.clone) {
                    (clone.folder, clone.head) = (path.clone(), None);
                }
                self.say(Tone::Good, words);
            }
            CheckoutOutcome::Failed(why) => {
                let what = if let Some(Worktree::Remove(_)) = &checkout.worktree { "remove it" } else { "check out" };
                self.say(Tone::Bad, format!("Could not {what}: {why}."));
            }
            CheckoutOutcome::Untrusted { reasons, fingerprint } => {
                let folder = checkout.folder.clone();
                let again = Action::CheckOut(Checkout { trusted: Some(fingerprint), ..checkout });
                self.ask_to_trust(&folder, "check out", &reasons, again, effects);
            }
            CheckoutOutcome::Replaced { branch, from, to } => {
                let short = |sha: &str| sha.get(..8).unwrap_or(sha).to_owned();
                let question = format!(
                    "The commits of {} were replaced on the server, and it has none of its own. Move it from {} to {} and \
                    check it out?",
                    sanitize(&branch),
                    short(&from),
                    short(&to)
                );
                let again = Action::CheckOut(Checkout { moved_from: Some(from), ..checkout });
                self.act(App::confirm("Move branch", question, again), effects);
            }
            CheckoutOutcome::Dirty => {
                let folder = match &checkout.worktree {
                    Some(Worktree::Use(path)) => path,
                    _ => &checkout.folder,
                };
                let folder = sanitize(&folder.display().to_string()).into_owned();
                let question = format!("{folder} has uncommitted changes. Stash them and check out?");
                let again = Action::CheckOut(Checkout { stash: true, ..checkout });
                self.act(App::confirm("Stash changes", question, again), effects);
            }
        }
    }

    /// Asks whether to allow what the configuration of a clone makes git run, before it does `what` again.
    fn ask_to_trust(
        &mut self,
        folder: &Path,
        what: &str,
        reasons: &[String],
        again: Action,
        effects: &mut Vec<Effect>,
    ) {
        let folder = sanitize(&folder.display().to_string()).into_owned();
        let question = format!(
            "The configuration of {folder} makes git run programs, change files elsewhere, or connect \
            differently. Only allow it if you know where it comes from. Allow it and {what}?"
        );
        let reasons = reasons.iter().map(|reason| sanitize(reason).into_owned()).collect();
        let confirm = Confirm::new("Trust clone", question, again).naming(reasons);
        self.act(Action::OpenOverlay(Box::new(confirm)), effects);
    }

    /// Starts a push.
    pub(super) fn push(&mut self, push: Push, effects: &mut Vec<Effect>) {
        let title = sanitize(&format!("git push {} {}", push.remote, push.remote_branch)).into_owned();
        let number = self.add_run(title, Show::PaneUntilDone);
        effects.push(Effect::Push(number, push));
    }

    /// Asks about a push that did not start because the clone's configuration runs programs.
    pub(super) fn on_push_untrusted(
        &mut self,
        number: u64,
        push: Push,
        reasons: &[String],
        fingerprint: String,
        effects: &mut Vec<Effect>,
    ) {
        // A push that was canceled meanwhile is not asked about.
        if self.runs.started.remove(&number).is_some_and(|run| run.ended.is_none()) {
            let folder = push.folder.clone();
            let again = Action::Push(Push { trusted: Some(fingerprint), ..push });
            self.ask_to_trust(&folder, "push", reasons, again, effects);
        }
    }

    /// Records the branch that is checked out in the clone.
    pub(super) fn on_head_read(&mut self, head: Result<CloneHead, String>) {
        self.requests.head.is_being_read = false;
        // What was read before another branch may have been checked out is read again.
        if let Some(clone) = self.session.clone.as_mut().filter(|_| self.requests.head.is_current) {
            clone.head = Some(head);
        }
    }

    /// Reads the branch that is checked out in the clone again, if it may have changed and the place on top shows it.
    pub(super) fn read_head(&mut self, effects: &mut Vec<Effect>) {
        if self.session.clone.is_none() {
            return;
        }
        let Some(pane) = self.nav.top() else { return };
        let subject = place_info::subject(&self.nav.places, &pane.place());
        let is_shown = matches!(subject, Some(Subject::Home | Subject::Branch | Subject::MergeRequest));
        let head = &mut self.requests.head;
        let is_needed = is_shown && !head.is_current && !head.is_being_read;
        if let Some(clone) = self.session.clone.as_ref().filter(|_| is_needed) {
            effects.push(Effect::ReadHead(CloneFolder { head: None, ..clone.clone() }));
            *head = HeadState { is_current: true, is_being_read: true };
        }
    }

    /// Opens a list of lines of the clone in the editor.
    pub(super) fn edit_list(&self, lines: &[(String, u32, String)], effects: &mut Vec<Effect>) {
        let Some(clone) = &self.session.clone else { return };
        // A path with a line break would be another entry.
        let plain = lines.iter().filter(|(path, ..)| !path.contains(char::is_control));
        let list = plain.map(|(path, line, text)| format!("{path}:{line}: {text}\n")).collect();
        effects.push(Effect::EditList(clone.folder.clone(), list));
    }

    /// Opens the file under the cursor in the editor, as it is in the clone.
    pub(super) fn edit_in_clone(&mut self, effects: &mut Vec<Effect>) {
        match self.file_in_clone() {
            Ok(file) => effects.push(Effect::EditFile(file)),
            Err(why) => self.say(Tone::Warning, sentence(&why, "")),
        }
    }

    /// Returns the path in the clone of the file under the cursor, and the line; the error is the reason why there is
    /// none.
    pub(super) fn file_in_clone(&self) -> Result<CloneFile, Disabled> {
        let clone = self.session.clone.as_ref().ok_or("not in a clone of a project on this server")?;
        let mut values = self.placeholder_values();
        // The line of a thread is that of a commit: it may be elsewhere by now.
        if let Some(thread) = self.nav.top().and_then(|pane| pane.code(&self.view_of()).thread) {
            let now = clone.line(&thread.discussion).map(|line| (line.line, line.path.clone()));
            let (line, path) = now.unwrap_or((thread.lines.0, thread.path));
            values.insert("line", line.to_string());
            values.insert("path", path);
        }
        let path = values.get("path").ok_or("no file is selected")?;
        let project = values.get("project").ok_or("no project is selected")?;
        if !clone.remotes.iter().any(|remote| remote.project.eq_ignore_ascii_case(project)) {
            return Err(format!("not in a clone of {project}").into());
        }
        let path = Path::new(path);
        let is_plain = |part: Component| matches!(part, Component::Normal(name) if !name.eq_ignore_ascii_case(".git"));
        if !path.components().all(is_plain) {
            return Err("the path is not a file in the working tree".into());
        }
        let line = values.get("line").and_then(|line| line.parse().ok());
        Ok(CloneFile { folder: clone.folder.clone(), path: path.to_path_buf(), line })
    }
}
