//! Checking out a branch in a clone with git. Nothing is changed unless everything can be done.

use crate::app::clone::{Checkout, CheckoutOutcome, CheckoutSource, Worktree, is_branch_name};
use crate::runtime::journal;
use crate::system::files;
use crate::system::git::{Environment, Error, GitClone, Purpose};
use std::path::Path;

/// Performs a checkout. The folder `trusted` contains a file for each configuration of a clone that the user allowed.
pub fn run(checkout: &Checkout, trusted: Option<&Path>) -> CheckoutOutcome {
    run_in(checkout, trusted, Environment::inherited())
}

fn run_in(checkout: &Checkout, trusted: Option<&Path>, environment: Environment) -> CheckoutOutcome {
    let answers = Answers { folder: trusted, now: checkout.trusted.as_deref() };
    let is_trusted = |fingerprint: &str| answers.allow(fingerprint);
    let purpose = Purpose::CheckOut(&checkout.remote.url);
    let opened = GitClone::open(&checkout.folder, environment.clone(), purpose, &is_trusted);
    let outcome = answers.remember(&checkout.folder).and_then(|()| {
        let clone = opened?;
        let (path, is_new) = match &checkout.worktree {
            None => return check_out(checkout, &clone),
            Some(Worktree::Remove(path)) => return remove(&clone, path),
            Some(Worktree::Use(path)) => (path, add(&clone, path)?),
        };
        let outcome =
            GitClone::open(path, environment, purpose, &is_trusted).and_then(|there| check_out(checkout, &there));
        match outcome {
            Ok(CheckoutOutcome::Done(words)) => Ok(CheckoutOutcome::Done(format!("{words} in {}", path.display()))),
            other => {
                if is_new {
                    let _ = remove(&clone, path);
                }
                other
            }
        }
    });
    match outcome {
        Ok(outcome) => outcome,
        Err(Error::Failed(why)) => CheckoutOutcome::Failed(why),
        Err(Error::Untrusted(untrusted)) => {
            CheckoutOutcome::Untrusted { reasons: untrusted.reasons, fingerprint: untrusted.fingerprint }
        }
    }
}

/// Returns whether a folder is a working tree of the clone.
fn is_worktree(clone: &GitClone, path: &Path) -> Result<bool, Error> {
    let Ok(path) = path.canonicalize() else { return Ok(false) };
    let listed = clone.run(&["worktree", "list", "--porcelain"], &[])?;
    let mut folders = listed.lines().filter_map(|line| line.strip_prefix("worktree "));
    Ok(folders.any(|folder| Path::new(folder).canonicalize().is_ok_and(|folder| folder == path)))
}

/// Returns a path for git.
fn name_of(path: &Path) -> Result<&str, Error> {
    path.to_str().ok_or_else(|| Error::Failed(format!("{} is not UTF-8", path.display())))
}

/// Creates a working tree, unless there is one; returns whether it is new.
fn add(clone: &GitClone, path: &Path) -> Result<bool, Error> {
    if is_worktree(clone, path)? {
        return Ok(false);
    }
    if path.symlink_metadata().is_ok() {
        return Err(Error::Failed(format!("{} is there, and is no working tree of this clone", path.display())));
    }
    clone.run(&["worktree", "add", "--quiet", "--detach", "--"], &[name_of(path)?, "HEAD"])?;
    Ok(true)
}

/// Removes a working tree without changes; git refuses any other.
fn remove(clone: &GitClone, path: &Path) -> Result<CheckoutOutcome, Error> {
    if !is_worktree(clone, path)? {
        return Err(Error::Failed(format!("there is no working tree of this clone at {}", path.display())));
    }
    clone.run(&["worktree", "remove", "--"], &[name_of(path)?])?;
    Ok(CheckoutOutcome::Done(format!("Removed {}; its branch is kept", path.display())))
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

/// A commit that was fetched, and the local branch for it.
struct Fetched {
    branch: String,
    commit: String,
    /// The remote branch that the local one tracks.
    upstream: Option<String>,
    /// Why it is not the branch of the merge request.
    note: String,
}

/// Fetches the branch of a merge request, or the head of the merge request if the branch is missing or elsewhere.
fn fetch(checkout: &Checkout, clone: &GitClone) -> Result<Fetched, Error> {
    let (url, iid) = (&checkout.remote.url, checkout.iid);
    let commit_of = |name: &str| clone.run(&["rev-parse", "--verify"], &[name]);
    let fetch_head = |note: String| -> Result<Fetched, Error> {
        clone.fetch(url, &format!("refs/merge-requests/{iid}/head"))?;
        Ok(Fetched { branch: format!("mr-{iid}"), commit: commit_of("FETCH_HEAD")?, upstream: None, note })
    };
    let CheckoutSource::Branch(name) = &checkout.source else { return fetch_head(String::new()) };
    if !is_branch_name(name) {
        return Err(Error::Failed(format!("invalid branch name {name:?}")));
    }
    // A branch of the project tracks the remote branch under the name that git gives it.
    let upstream = format!("refs/remotes/{}/{name}", checkout.remote.name);
    if upstream.strip_prefix("refs/").is_some_and(|name| !is_branch_name(name)) {
        return Err(Error::Failed(format!("invalid name of a remote {:?}", checkout.remote.name)));
    }
    match clone.fetch(url, &format!("+refs/heads/{name}:{upstream}")) {
        Err(Error::Failed(why)) if why.contains("find remote ref") => {
            // The first reason tells more if neither can be fetched.
            fetch_head(format!("; {name} is not on the server")).map_err(|_| Error::Failed(why))
        }
        Err(error) => Err(error),
        Ok(()) => {
            let commit = commit_of(&upstream)?;
            let branch =
                |commit| Fetched { branch: name.clone(), commit, upstream: Some(upstream), note: String::new() };
            if checkout.heads.first().is_none_or(|head| *head == commit) {
                return Ok(branch(commit));
            }
            let head = fetch_head(format!("; {name} is not at the head of !{iid}"))?;
            // The branch may just have been pushed.
            Ok(if head.commit == commit { branch(commit) } else { head })
        }
    }
}

fn check_out(checkout: &Checkout, clone: &GitClone) -> Result<CheckoutOutcome, Error> {
    let git = |command: &[&str], values: &[&str]| clone.run(command, values);
    let find = |name: &str| git(&["rev-parse", "--verify", "--quiet"], &[name]).ok();
    let former = match &checkout.source {
        CheckoutSource::Branch(name) => find(&format!("refs/remotes/{}/{name}", checkout.remote.name)),
        CheckoutSource::Head => None,
    };
    let Fetched { branch, commit: fetched_commit, upstream, note } = fetch(checkout, clone)?;
    let local_commit = find(&format!("refs/heads/{branch}"));
    let is_ancestor =
        |ancestor: &str, descendant: &str| git(&["merge-base", "--is-ancestor"], &[ancestor, descendant]).is_ok();
    let can_fast_forward = local_commit.as_deref().is_some_and(|local| is_ancestor(local, &fetched_commit));
    let contains_fetched = local_commit.as_deref().is_some_and(|local| is_ancestor(&fetched_commit, local));
    let diverged = local_commit.as_deref().filter(|_| !can_fast_forward && !contains_fetched);
    let moves = diverged.is_some() && diverged == checkout.moved_from.as_deref();
    if let Some(local) = diverged.filter(|_| !moves) {
        // Commits that the server had before are not the user's own.
        let known = checkout.heads.iter().chain(&former).filter_map(|sha| find(&format!("{sha}^{{commit}}")));
        let excluded: Vec<String> = known.chain([fetched_commit.clone()]).map(|sha| format!("^{sha}")).collect();
        let values: Vec<&str> = [local].into_iter().chain(excluded.iter().map(String::as_str)).collect();
        let own = git(&["rev-list", "--count"], &values)?;
        return match own.as_str() {
            "0" => Ok(CheckoutOutcome::Replaced { branch, from: local.to_owned(), to: fetched_commit }),
            own => {
                let commits = if own == "1" { "commit" } else { "commits" };
                Err(Error::Failed(format!(
                    "the local branch {branch} has diverged from the server: it has {own} {commits} of its own"
                )))
            }
        };
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
        (Some(_), Some(upstream)) if moves => switch(&["--track", "--force-create"], &[&branch, upstream]),
        (Some(_), None) if moves => switch(&["--no-track", "--force-create"], &[&branch, &fetched_commit]),
        (Some(_), _) => switch(&[], &[&branch]),
    };
    if let Err(why) = switched {
        let still_stashed = dirty && git(&["stash", "pop", "--quiet"], &[]).is_err();
        return Err(if still_stashed { Error::Failed(format!("{why}; your changes are stashed")) } else { why });
    }
    let ahead_note =
        if local_commit.is_some() && contains_fetched && !can_fast_forward { ", which has local commits" } else { "" };
    let stash_note = if dirty { "; your changes are stashed" } else { "" };
    Ok(CheckoutOutcome::Done(format!("Checked out {branch}{ahead_note}{note}{stash_note}")))
}

#[cfg(test)]
#[cfg(unix)]
#[path = "tests.rs"]
mod hostile;

#[cfg(test)]
#[cfg(unix)]
#[path = "every_setting/tests.rs"]
mod every_setting;

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
        let remote = CloneRemote { name: "origin".into(), url, project: "acme/project".into(), pushed_to: None };
        Checkout::new(folder.to_owned(), remote, 7, source, Vec::new())
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
    fn a_worktree_is_reused_and_removed_only_without_changes() {
        let (root, clone) = fixture();
        let path = root.path().join("clone-!7");
        let order = |worktree| Checkout {
            worktree: Some(worktree),
            ..checkout(&clone, CheckoutSource::Branch("feature".into()))
        };
        let (with, without) = (order(Worktree::Use(path.clone())), order(Worktree::Remove(path.clone())));
        let done = CheckoutOutcome::Done(format!("Checked out feature in {}", path.display()));
        let failed = |outcome| if let CheckoutOutcome::Failed(why) = outcome { why } else { panic!("{outcome:?}") };
        std::fs::write(&path, "mine").expect("written");
        assert!(failed(run(&with)).contains("is no working tree of this clone"));
        assert!(failed(run(&without)).contains("there is no working tree"));
        assert_eq!(sh(root.path(), "cat 'clone-!7' && rm 'clone-!7'"), "mine");
        // The clone itself may have changes.
        sh(&clone, "echo mine > a");
        assert_eq!(run(&with), done);
        assert_eq!(sh(&path, "cat a && git branch --show-current"), "two\nfeature");
        assert_eq!(sh(&clone, "cat a && git branch --show-current"), "mine\nmain");
        assert_eq!(run(&with), done, "it is there already");
        for change in ["echo more > a", "git checkout -q a && echo new > untracked"] {
            sh(&path, change);
            assert!(failed(run(&without)).contains("contains modified or untracked files"));
        }
        sh(&path, "rm untracked");
        assert_eq!(run(&without), CheckoutOutcome::Done(format!("Removed {}; its branch is kept", path.display())));
        assert!(!sh(&clone, "git rev-parse --verify -q feature && ls ..").contains("clone-!7"));
        let gone = Checkout { source: CheckoutSource::Branch("gone".into()), iid: 99, ..with };
        assert!(failed(run(&gone)).contains("couldn't find remote ref"));
        assert!(!path.exists(), "a working tree that could not be used is not left behind");
    }

    #[test]
    fn the_head_of_a_fork_gets_its_own_branch() {
        let (_root, clone) = fixture();
        assert_eq!(run(&checkout(&clone, CheckoutSource::Head)), CheckoutOutcome::Done("Checked out mr-7".into()));
        assert_eq!(sh(&clone, "cat a && git branch --show-current"), "two\nmr-7");
    }

    #[test]
    fn the_head_of_the_request_counts_where_its_branch_is_missing_or_elsewhere() {
        let (root, clone) = fixture();
        let project = root.path().join("project");
        let head = sh(&project, "git rev-parse feature");
        let with_head =
            || Checkout { heads: vec![head.clone()], ..checkout(&clone, CheckoutSource::Branch("feature".into())) };
        // The branch moved on after the request was merged, or another branch of the same name was made.
        sh(&project, "git switch -q feature && git commit -q --amend -m else && git switch -q main");
        assert_eq!(
            run(&with_head()),
            CheckoutOutcome::Done("Checked out mr-7; feature is not at the head of !7".into())
        );
        assert_eq!(sh(&clone, "git rev-parse HEAD"), head);
        // The request was pushed to after it was loaded.
        sh(&project, "git update-ref refs/merge-requests/7/head feature");
        assert_eq!(run(&with_head()), CheckoutOutcome::Done("Checked out feature".into()));
        sh(&project, &format!("git branch -q -D feature && git update-ref refs/merge-requests/7/head {head}"));
        assert_eq!(run(&with_head()), CheckoutOutcome::Done("Checked out mr-7; feature is not on the server".into()));
        assert_eq!(sh(&clone, "git rev-parse HEAD"), head);
        sh(&project, "git update-ref -d refs/merge-requests/7/head");
        assert!(matches!(run(&with_head()), CheckoutOutcome::Failed(why) if why.contains("couldn't find remote ref")));
    }

    #[test]
    fn a_branch_that_was_replaced_moves_if_it_has_no_commits_of_its_own() {
        let (root, clone) = fixture();
        let project = root.path().join("project");
        let replace = |with: &str| {
            sh(
                &project,
                &format!(
                    "git switch -q feature && git commit -q --amend -m {with} \
                && git update-ref refs/merge-requests/7/head HEAD && git switch -q main"
                ),
            );
            sh(&project, "git rev-parse feature")
        };
        for source in [CheckoutSource::Branch("feature".into()), CheckoutSource::Head] {
            let first = Checkout { heads: vec![sh(&project, "git rev-parse feature")], ..checkout(&clone, source) };
            assert!(matches!(run(&first), CheckoutOutcome::Done(_)));
            let name = sh(&clone, "git branch --show-current");
            let to = replace(&name);
            // The older versions are known for a fork, and the last fetch for a branch.
            let heads = [vec![to.clone()], first.heads.clone()].concat();
            let again = Checkout { heads, ..first };
            let from = sh(&clone, "git rev-parse HEAD");
            let replaced = CheckoutOutcome::Replaced { branch: name.clone(), from: from.clone(), to: to.clone() };
            assert_eq!(run(&again), replaced);
            assert_eq!(sh(&clone, "git rev-parse HEAD"), from, "nothing is done");
            let moved = Checkout { moved_from: Some(from), ..again.clone() };
            assert_eq!(run(&moved), CheckoutOutcome::Done(format!("Checked out {name}")));
            assert_eq!(sh(&clone, "git rev-parse HEAD"), to);
            sh(&clone, "git commit -q --allow-empty -m mine && git commit -q --allow-empty -m also");
            replace(&format!("{name}-2"));
            let outcome = run(&Checkout {
                heads: [vec![sh(&project, "git rev-parse feature")], again.heads.clone()].concat(),
                ..moved
            });
            let CheckoutOutcome::Failed(why) = outcome else { panic!("{outcome:?}") };
            assert!(why.contains("it has 2 commits of its own"), "{why}");
            sh(&clone, "git switch -q main");
        }
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
        let failed = |source| match run(&Checkout { iid: 99, ..checkout(&clone, source) }) {
            CheckoutOutcome::Failed(why) => why,
            other => panic!("{other:?}"),
        };
        assert!(failed(CheckoutSource::Branch("feature".into())).contains("has diverged from the server"));
        assert!(failed(CheckoutSource::Branch("gone".into())).contains("couldn't find remote ref"));
        assert!(failed(CheckoutSource::Branch("--help".into())).contains("invalid branch name"));
        assert_eq!(sh(&clone, "git branch --show-current"), "main");
        let bare = checkout(&root.path().join("project/.git"), CheckoutSource::Head);
        assert_eq!(run(&bare), CheckoutOutcome::Failed("the clone has no working tree".into()));
    }
}
