//! Checkout of the branch of a merge request in the clone that labscope was started in, as data.

use crate::app::App;
use crate::app::action::{Action, Effect};
use crate::app::tone::Tone;
use crate::ui::text::sanitize;
use std::path::PathBuf;

/// The clone in the current directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CloneFolder {
    /// The root of its working tree.
    pub folder: PathBuf,
    /// The name of each remote on the current server, with the full path of its project.
    pub remotes: Vec<(String, String)>,
}

/// The source of a checkout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckoutSource {
    /// A branch of the project.
    Branch(String),
    /// The head of the merge request with this IID, whose branch is in a fork.
    Head(u64),
}

/// An order to check out a branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkout {
    /// The root of the working tree.
    pub folder: PathBuf,
    /// The name of the remote that has the branch.
    pub remote: String,
    pub source: CheckoutSource,
    /// Whether uncommitted changes are stashed first; otherwise they prevent the checkout.
    pub stash: bool,
}

/// The outcome of a checkout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckoutOutcome {
    /// Success, described in a sentence.
    Done(String),
    /// The working tree has uncommitted changes; nothing was done.
    Dirty,
    /// The checkout failed for this reason; nothing was done.
    Failed(String),
}

impl App {
    /// Handles the end of a checkout; if uncommitted changes prevented it, offers to stash them.
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
