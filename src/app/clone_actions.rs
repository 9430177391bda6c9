//! Actions in the clone: opening a file in the editor, and the end of a checkout.

use super::App;
use super::action::{Action, Effect};
use super::clone::{Checkout, CheckoutOutcome, CloneFile};
use super::command_info::Disabled;
use super::overlay::confirm::Confirm;
use super::tone::Tone;
use crate::ui::text::sanitize;
use std::path::{Component, Path};

impl App {
    /// Handles the end of a checkout; if uncommitted changes prevented it, offers to stash them.
    pub(super) fn on_checkout_finished(
        &mut self,
        checkout: Checkout,
        outcome: CheckoutOutcome,
        effects: &mut Vec<Effect>,
    ) {
        match outcome {
            CheckoutOutcome::Done(words) => self.say(Tone::Good, words),
            CheckoutOutcome::Failed(why) => self.say(Tone::Bad, format!("Could not check out: {why}.")),
            CheckoutOutcome::Untrusted { reasons, fingerprint } => {
                let folder = sanitize(&checkout.folder.display().to_string()).into_owned();
                let question = format!(
                    "The configuration of {folder} makes git run programs, change files elsewhere, or connect \
                    differently. Only allow it if you know where it comes from. Allow it and check out?"
                );
                let reasons = reasons.iter().map(|reason| sanitize(reason).into_owned()).collect();
                let again = Action::CheckOut(Checkout { trusted: Some(fingerprint), ..checkout });
                let confirm = Confirm::new("Trust clone", question, again).naming(reasons);
                self.act(Action::OpenOverlay(Box::new(confirm)), effects);
            }
            CheckoutOutcome::Dirty => {
                let folder = sanitize(&checkout.folder.display().to_string()).into_owned();
                let question = format!("{folder} has uncommitted changes. Stash them and check out?");
                let again = Action::CheckOut(Checkout { stash: true, ..checkout });
                self.act(App::confirm("Stash changes", question, again), effects);
            }
        }
    }

    /// Opens the file under the cursor in the editor, as it is in the clone.
    pub(super) fn edit_in_clone(&mut self, effects: &mut Vec<Effect>) {
        match self.file_in_clone() {
            Ok(file) => effects.push(Effect::EditFile(file)),
            Err(why) => self.say(Tone::Warning, format!("Cannot edit the file: {why}.")),
        }
    }

    /// Returns the path in the clone of the file under the cursor, and the line; the error is the reason why there is
    /// none.
    pub(super) fn file_in_clone(&self) -> Result<CloneFile, Disabled> {
        let clone =
            self.session.clone.as_ref().ok_or("the current folder is not a clone of a project on this server")?;
        let values = self.placeholder_values();
        let path = values.get("path").ok_or("no file is selected")?;
        let project = values.get("project").ok_or("no project is selected")?;
        if !clone.remotes.iter().any(|remote| remote.project.eq_ignore_ascii_case(project)) {
            return Err(format!("the current folder is not a clone of {project}").into());
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
