//! Checking out a branch in a clone with git. Nothing is changed unless everything can be done.

use crate::app::clone::{Checkout, CheckoutOutcome, CheckoutSource, is_branch_name};
use crate::runtime::journal;
use crate::system::files;
use crate::system::git::{Environment, Error, GitClone};
use std::path::Path;

/// Performs a checkout. The folder `trusted` contains a file for each configuration of a clone that the user allowed.
pub fn run(checkout: &Checkout, trusted: Option<&Path>) -> CheckoutOutcome {
    run_in(checkout, trusted, Environment::inherited())
}

fn run_in(checkout: &Checkout, trusted: Option<&Path>, environment: Environment) -> CheckoutOutcome {
    let answers = Answers { folder: trusted, now: checkout.trusted.as_deref() };
    let is_trusted = |fingerprint: &str| answers.allow(fingerprint);
    let opened = GitClone::open(&checkout.folder, environment, &is_trusted);
    let outcome = answers.remember(&checkout.folder).and_then(|()| check_out(checkout, &opened?));
    match outcome {
        Ok(outcome) => outcome,
        Err(Error::Failed(why)) => CheckoutOutcome::Failed(why),
        Err(Error::Untrusted(untrusted)) => {
            CheckoutOutcome::Untrusted { reasons: untrusted.reasons, fingerprint: untrusted.fingerprint }
        }
    }
}

/// The user's answers about the configurations of clones that run programs.
pub(super) struct Answers<'a> {
    /// The folder with a file for each configuration that was allowed.
    pub folder: Option<&'a Path>,
    /// The fingerprint of the configuration that was just allowed.
    pub now: Option<&'a str>,
}

impl Answers<'_> {
    /// Returns whether the configuration with a fingerprint was allowed.
    pub fn allow(&self, fingerprint: &str) -> bool {
        self.now == Some(fingerprint) || self.folder.is_some_and(|folder| folder.join(fingerprint).is_file())
    }

    /// Remembers that the configuration of a clone was just allowed, if it was.
    pub fn remember(&self, clone: &Path) -> Result<(), Error> {
        let (Some(folder), Some(fingerprint)) = (self.folder, self.now) else { return Ok(()) };
        let path = folder.join(fingerprint);
        let written = journal::create_private_folder(folder)
            .and_then(|()| files::write(&path, format!("{}\n", clone.display()).as_bytes()));
        written.map_err(|e| Error::Failed(format!("your answer cannot be saved in {}: {e}", folder.display())))
    }
}

fn check_out(checkout: &Checkout, clone: &GitClone) -> Result<CheckoutOutcome, Error> {
    let git = |command: &[&str], values: &[&str]| clone.run(command, values);
    let (branch, remote_ref) = match &checkout.source {
        CheckoutSource::Branch(name) => (name.clone(), format!("refs/heads/{name}")),
        CheckoutSource::MergeRequest(iid) => (format!("mr-{iid}"), format!("refs/merge-requests/{iid}/head")),
    };
    if !is_branch_name(&branch) {
        return Err(Error::Failed(format!("invalid branch name {branch:?}")));
    }
    // A branch of the project tracks the remote branch under the name that git gives it.
    let upstream = match &checkout.source {
        CheckoutSource::Branch(name) => Some(format!("refs/remotes/{}/{name}", checkout.remote.name)),
        CheckoutSource::MergeRequest(_) => None,
    };
    let refspec = upstream.as_ref().map_or_else(|| remote_ref.clone(), |upstream| format!("+{remote_ref}:{upstream}"));
    if upstream.as_deref().and_then(|name| name.strip_prefix("refs/")).is_some_and(|name| !is_branch_name(name)) {
        return Err(Error::Failed(format!("invalid name of a remote {:?}", checkout.remote.name)));
    }
    clone.fetch(&checkout.remote.url, &refspec)?;
    let fetched_commit = git(&["rev-parse", "--verify"], &[upstream.as_deref().unwrap_or("FETCH_HEAD")])?;
    let local_commit = git(&["rev-parse", "--verify", "--quiet"], &[&format!("refs/heads/{branch}")]).ok();
    let is_ancestor =
        |ancestor: &str, descendant: &str| git(&["merge-base", "--is-ancestor"], &[ancestor, descendant]).is_ok();
    let can_fast_forward = local_commit.as_deref().is_some_and(|local| is_ancestor(local, &fetched_commit));
    let contains_fetched = local_commit.as_deref().is_some_and(|local| is_ancestor(&fetched_commit, local));
    if local_commit.is_some() && !can_fast_forward && !contains_fetched {
        return Err(Error::Failed(format!("the local branch {branch} has diverged from the server")));
    }
    let dirty = !git(&["status", "--porcelain", "--untracked-files=no", "--ignore-submodules=all"], &[])?.is_empty();
    if dirty && !checkout.stash {
        return Ok(CheckoutOutcome::Dirty);
    }
    let previous_branch = git(&["symbolic-ref", "--quiet", "--short", "HEAD"], &[]).ok();
    let previous_commit = git(&["rev-parse", "--verify", "--quiet", "HEAD"], &[]).ok();
    const SWITCH: [&str; 4] = ["switch", "--quiet", "--no-guess", "--no-recurse-submodules"];
    let switch = |options: &[&str], values: &[&str]| git(&[&SWITCH, options].concat(), values);
    let switch_back = || match (&previous_branch, &previous_commit) {
        (Some(branch), _) => _ = switch(&[], &[branch]),
        (None, Some(commit)) => _ = switch(&["--detach"], &[commit]),
        (None, None) => {}
    };
    if dirty {
        git(&["stash", "push", "--message"], &[&format!("before labscope checked out {branch}")])?;
    }
    let switched = match (&local_commit, &upstream) {
        (None, Some(upstream)) => switch(&["--track", "--create"], &[&branch, upstream]),
        (None, None) => switch(&["--no-track", "--create"], &[&branch, &fetched_commit]),
        (Some(_), _) if can_fast_forward => switch(&[], &[&branch])
            .and_then(|_| git(&["merge", "--quiet", "--no-stat", "--ff-only"], &[&fetched_commit]))
            // An untracked file may conflict with the new commits of the branch.
            .inspect_err(|_| switch_back()),
        (Some(_), _) => switch(&[], &[&branch]),
    };
    if let Err(why) = switched {
        let still_stashed = dirty && git(&["stash", "pop", "--quiet"], &[]).is_err();
        return Err(if still_stashed { Error::Failed(format!("{why}; your changes are stashed")) } else { why });
    }
    let ahead_note =
        if local_commit.is_some() && contains_fetched && !can_fast_forward { ", which has local commits" } else { "" };
    let stash_note = if dirty { "; your changes are stashed" } else { "" };
    Ok(CheckoutOutcome::Done(format!("Checked out {branch}{ahead_note}{stash_note}")))
}

#[cfg(test)]
#[cfg(unix)]
#[path = "tests.rs"]
mod hostile;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::clone::CloneRemote;
    use crate::system::programs;
    use std::path::PathBuf;

    fn sh(folder: &Path, script: &str) -> String {
        let mut command = programs::command("sh");
        command.arg("-c").arg(script).current_dir(folder);
        for (name, value) in [("NAME", "A"), ("EMAIL", "a@b")] {
            command.env(format!("GIT_AUTHOR_{name}"), value).env(format!("GIT_COMMITTER_{name}"), value);
        }
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        let output = command.output().expect("sh runs");
        assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// Creates a project with the branch `feature` and the head of !7, and a clone of it.
    fn fixture() -> (tempfile::TempDir, PathBuf) {
        let root = tempfile::tempdir().expect("a folder");
        sh(
            root.path(),
            "git init -q -b main project && cd project && echo one > a && git add a && git commit -qm one \
             && git switch -qc feature && echo two > a && git commit -qam two \
             && git update-ref refs/merge-requests/7/head HEAD && git switch -q main \
             && cd .. && git clone -q project clone && cd clone && git config user.name A && git config user.email a@b",
        );
        let clone = root.path().join("clone");
        (root, clone)
    }

    fn checkout(folder: &Path, source: CheckoutSource) -> Checkout {
        let url = sh(folder, "git config remote.origin.url || true");
        let remote = CloneRemote { name: "origin".into(), url, project: "acme/project".into() };
        Checkout { folder: folder.to_owned(), remote, source, stash: false, trusted: None }
    }

    fn run(checkout: &Checkout) -> CheckoutOutcome {
        super::run(checkout, None)
    }

    #[test]
    fn a_branch_is_checked_out_and_updated() {
        let (root, clone) = fixture();
        let feature = checkout(&clone, CheckoutSource::Branch("feature".into()));
        assert_eq!(run(&feature), CheckoutOutcome::Done("Checked out feature".into()));
        assert_eq!(sh(&clone, "cat a && git rev-parse --abbrev-ref feature@{upstream}"), "two\norigin/feature");
        sh(&root.path().join("project"), "git switch -q feature && echo three > a && git commit -qam three");
        sh(&clone, "git switch -q main");
        assert_eq!(run(&feature), CheckoutOutcome::Done("Checked out feature".into()));
        assert_eq!(sh(&clone, "cat a"), "three");
        sh(&clone, "echo four > a && git commit -qam four && git switch -q main");
        assert_eq!(run(&feature), CheckoutOutcome::Done("Checked out feature, which has local commits".into()));
    }

    #[test]
    fn the_head_of_a_fork_gets_its_own_branch() {
        let (_root, clone) = fixture();
        assert_eq!(
            run(&checkout(&clone, CheckoutSource::MergeRequest(7))),
            CheckoutOutcome::Done("Checked out mr-7".into())
        );
        assert_eq!(sh(&clone, "cat a && git branch --show-current"), "two\nmr-7");
    }

    #[test]
    fn changes_block_a_checkout_unless_stashed() {
        let (_root, clone) = fixture();
        sh(&clone, "echo mine > a");
        let feature = checkout(&clone, CheckoutSource::Branch("feature".into()));
        assert_eq!(run(&feature), CheckoutOutcome::Dirty);
        assert_eq!(sh(&clone, "cat a && git branch --show-current"), "mine\nmain");
        let done = run(&Checkout { stash: true, ..feature });
        assert_eq!(done, CheckoutOutcome::Done("Checked out feature; your changes are stashed".into()));
        assert_eq!(sh(&clone, "cat a && git stash list | wc -l"), "two\n1");
    }

    #[test]
    fn a_failure_after_the_stash_restores_everything() {
        let (root, clone) = fixture();
        sh(&clone, "git switch -q feature && git switch -q main && echo mine > a && echo in the way > new");
        sh(&root.path().join("project"), "git switch -q feature && echo n > new && git add new && git commit -qm new");
        let checkout = Checkout { stash: true, ..checkout(&clone, CheckoutSource::Branch("feature".into())) };
        let CheckoutOutcome::Failed(why) = run(&checkout) else { panic!("a file is in the way") };
        assert!(!why.contains("stash"), "{why}");
        assert_eq!(sh(&clone, "cat a new && git branch --show-current"), "mine\nin the way\nmain");
        assert_eq!(sh(&clone, "git stash list"), "");
    }

    #[test]
    fn a_failure_restores_a_detached_head() {
        let (root, clone) = fixture();
        sh(&clone, "git switch -q feature && git switch -q --detach origin/main");
        sh(&clone, "echo mine > a && echo in the way > new");
        sh(&root.path().join("project"), "git switch -q feature && echo n > new && git add new && git commit -qm new");
        let checkout = Checkout { stash: true, ..checkout(&clone, CheckoutSource::Branch("feature".into())) };
        let CheckoutOutcome::Failed(why) = run(&checkout) else { panic!("a file is in the way") };
        assert!(!why.contains("stash"), "{why}");
        assert_eq!(sh(&clone, "cat a new && git stash list && git branch --show-current"), "mine\nin the way");
        assert_eq!(sh(&clone, "git rev-parse HEAD"), sh(&clone, "git rev-parse origin/main"));
    }

    #[test]
    fn impossible_checkouts_give_a_reason_and_change_nothing() {
        let (root, clone) = fixture();
        sh(&clone, "git switch -qc feature && echo other > a && git commit -qam other && git switch -q main");
        let failed = |source| match run(&checkout(&clone, source)) {
            CheckoutOutcome::Failed(why) => why,
            other => panic!("{other:?}"),
        };
        assert!(failed(CheckoutSource::Branch("feature".into())).contains("has diverged from the server"));
        assert!(failed(CheckoutSource::Branch("gone".into())).contains("couldn't find remote ref"));
        assert!(failed(CheckoutSource::Branch("--help".into())).contains("invalid branch name"));
        assert_eq!(sh(&clone, "git branch --show-current"), "main");
        let bare = checkout(&root.path().join("project/.git"), CheckoutSource::MergeRequest(7));
        assert_eq!(run(&bare), CheckoutOutcome::Failed("the clone has no working tree".into()));
    }
}
