//! Reading the branch that is checked out in the clone. Nothing that its configuration names is run: git only reads refs
//! and commits, and fetches nothing.

use crate::app::clone::{CloneFolder, CloneHead};
use crate::system::git::{Environment, Error, GitClone};

/// Reads the branch that is checked out.
///
/// # Errors
/// Returns the reason why git cannot read it.
pub fn read(clone: &CloneFolder) -> Result<CloneHead, String> {
    read_in(clone, Environment::inherited()).map_err(|error| error.to_string())
}

pub(super) fn read_in(clone: &CloneFolder, environment: Environment) -> Result<CloneHead, Error> {
    // The settings that a checkout asks about run nothing here.
    let git = GitClone::open(&clone.folder, environment.for_reading(), &|_| true)?;
    let ask = |command: &[&str], values: &[&str]| git.run(command, values).ok().filter(|answer| !answer.is_empty());
    let commit_of = |name: &str| ask(&["rev-parse", "--verify", "--quiet", "--end-of-options"], &[name]);
    let commit = commit_of("HEAD");
    let name = ask(&["symbolic-ref", "--quiet", "HEAD"], &[]);
    let Some(branch) = name.as_deref().and_then(|name| name.strip_prefix("refs/heads/")) else {
        return Ok(CloneHead { commit, ..CloneHead::default() });
    };
    let full_name = format!("refs/heads/{branch}");
    let format = "--format=%(upstream:remotename)%0a%(upstream:remoteref)%0a%(push:remotename)";
    let tracking = git.run(&["for-each-ref", format], &[&full_name]).unwrap_or_default();
    let mut tracking = tracking.split('\n');
    let mut next = || tracking.next().unwrap_or_default();
    let (upstream, upstream_ref, pushed_to) = (next(), next(), next());
    let is_on_server = |name: &&str| clone.remotes.iter().any(|remote| remote.name == *name);
    let remote = [pushed_to, upstream].into_iter().find(is_on_server);
    let remote = remote.or(clone.remotes.first().map(|remote| remote.name.as_str())).unwrap_or_default();
    let base = ask(&["symbolic-ref", "--quiet"], &[&format!("refs/remotes/{remote}/HEAD")]);
    let base = base.as_deref().and_then(|name| name.strip_prefix(&format!("refs/remotes/{remote}/"))).unwrap_or("main");
    // A branch that was created from the default branch may track that, but is not pushed there.
    let tracked_name = upstream_ref.strip_prefix("refs/heads/").filter(|name| upstream == remote && *name != base);
    let remote_branch = tracked_name.unwrap_or(branch).to_owned();
    let tracked_ref = format!("refs/remotes/{remote}/{remote_branch}");
    let tracked = commit_of(&tracked_ref);
    // Without a branch on the remote, the commits are those that none of its branches has.
    let not_pushed = match &tracked {
        Some(_) => vec![full_name.clone(), format!("^{tracked_ref}")],
        None => vec![full_name.clone()],
    };
    let not_pushed: Vec<&str> = not_pushed.iter().map(String::as_str).collect();
    let known = format!("--remotes={remote}");
    let without_known: &[&str] = if tracked.is_none() { &["--not", &known, "--not"] } else { &[] };
    let ahead = ask(&[&["rev-list", "--count"], without_known].concat(), &not_pushed);
    let most = format!("--max-count={}", CloneHead::MAX_TITLES);
    let log = ["log", "--format=%s", "--no-show-signature", "--no-patch", &most];
    let titles = ask(&[&log, without_known].concat(), &not_pushed).unwrap_or_default();
    let behind =
        tracked.as_ref().and_then(|_| ask(&["rev-list", "--count"], &[&tracked_ref, &format!("^{full_name}")]));
    let count = |words: Option<String>| words.and_then(|words| words.trim().parse().ok()).unwrap_or(0);
    let push_urls = ask(&["remote", "get-url", "--push", "--all", "--"], &[remote]).unwrap_or_default();
    Ok(CloneHead {
        branch: Some(branch.to_owned()),
        commit,
        remote: remote.to_owned(),
        remote_branch,
        push_urls: push_urls.lines().map(str::to_owned).collect(),
        tracked,
        ahead: count(ahead),
        titles: titles.lines().map(str::to_owned).collect(),
        behind: count(behind),
    })
}
