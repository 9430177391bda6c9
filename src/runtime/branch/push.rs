//! Pushing a branch of the clone with the user's git. Git asks for nothing on the terminal, which belongs to labscope:
//! credentials come from its helpers, from `askpass` programs and from SSH agents.

use crate::app::action::Msg;
use crate::app::clone::{Push, is_branch_name};
use crate::app::custom::RunEvent;
use crate::runtime::checkout::Answers;
use crate::runtime::run::print;
use crate::runtime::tasks;
use crate::system::git::{Environment, Error, GitClone, Purpose};
use crate::system::programs::Command;
use std::path::{Path, PathBuf};
use tokio::sync::mpsc;

/// Pushes a branch, and sends what git prints. The folder `trusted` contains a file for each configuration of a clone that
/// the user allowed.
pub async fn push(number: u64, push: Push, trusted: Option<PathBuf>, sender: mpsc::Sender<Msg>) {
    let order = push.clone();
    let prepare = move || prepare(&order, trusted.as_deref(), Environment::inherited());
    let prepared = tasks::block(prepare).await;
    let ended = match prepared.unwrap_or_else(|error| Err(Error::Failed(error.to_string()))) {
        Ok(command) => print(number, command.into(), &sender).await.map_err(|why| explain(&why, &push)),
        Err(Error::Failed(why)) => Err(why),
        Err(Error::Untrusted(untrusted)) => {
            let (reasons, fingerprint) = (untrusted.reasons, untrusted.fingerprint);
            let _ = sender.send(Msg::PushUntrusted { number, push, reasons, fingerprint }).await;
            return;
        }
    };
    let _ = sender.send(Msg::CustomCommand(number, RunEvent::Ended(ended))).await;
}

/// Adds the way out where git needs what only a terminal gives it.
fn explain(why: &str, push: &Push) -> String {
    let (from, to) = (&push.branch, &push.remote_branch);
    let branch = if from == to { from.clone() } else { format!("{from}:{to}") };
    format!("{why}. If git must ask for a password, push in a shell: git push -u {} {branch}", push.remote)
}

/// Returns the command that pushes.
pub(in crate::runtime) fn prepare(
    push: &Push,
    trusted: Option<&Path>,
    environment: Environment,
) -> Result<Command, Error> {
    if let Some(name) = [&push.branch, &push.remote_branch].into_iter().find(|name| !is_branch_name(name)) {
        return Err(Error::Failed(format!("invalid branch name {name:?}")));
    }
    let answers = Answers { folder: trusted, now: push.trusted.as_deref() };
    let is_trusted = |fingerprint: &str| answers.allow(fingerprint);
    let opened = GitClone::open(&push.folder, environment, Purpose::Push, &is_trusted);
    answers.remember(&push.folder)?;
    let (from, to) = (&push.branch, &push.remote_branch);
    opened?.push_command(&push.remote, &push.url, from, &format!("refs/heads/{from}:refs/heads/{to}"))
}
