//! Checking out the branch of a merge request in the clone that labscope was started in: what is asked for, as data.

use crate::app::App;
use crate::app::action::{Action, Effect, Tone};
use crate::ui::text::sanitize;
use std::path::PathBuf;

/// The clone in the current folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CloneFolder {
    /// Its working tree.
    pub folder: PathBuf,
    /// Its remotes on the current server: their names, and the full paths of their projects.
    pub remotes: Vec<(String, String)>,
}

/// What is checked out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckoutSource {
    /// A branch of the project.
    Branch(String),
    /// The head of the merge request of a number, whose branch is in a fork.
    Head(u64),
}

/// An order to check out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkout {
    /// The working tree.
    pub folder: PathBuf,
    /// The name of the remote that has it.
    pub remote: String,
    pub source: CheckoutSource,
    /// Whether uncommitted changes are put into the stash first; without, they are in the way.
    pub stash: bool,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckoutOutcome {
    /// It is done, in a sentence.
    Done(String),
    /// The working tree has changes; nothing was done.
    Dirty,
    /// Why nothing was done.
    Failed(String),
}

impl App {
    /// A checkout ended: changes that are in the way may be put into the stash.
    pub(super) fn checked_out(&mut self, order: Checkout, outcome: CheckoutOutcome, effects: &mut Vec<Effect>) {
        match outcome {
            CheckoutOutcome::Done(words) => self.say(Tone::Good, words),
            CheckoutOutcome::Failed(why) => self.say(Tone::Bad, format!("Could not check out: {why}.")),
            CheckoutOutcome::Dirty => {
                let folder = sanitize(&order.folder.display().to_string()).into_owned();
                let question = format!("{folder} has uncommitted changes. Stash them and check out?");
                let again = Action::CheckOut(Checkout { stash: true, ..order });
                self.act(App::confirm("Stash changes", question, again), effects);
            }
        }
    }
}
