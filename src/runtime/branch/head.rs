//! Reading the branch that is checked out in the clone. Nothing that its configuration names is run: git only reads refs
//! and commits, and fetches nothing.

use super::threads;
use crate::api::commit_data::ReadClone;
use crate::app::clone::{CloneFolder, CloneHead, CloneRemote};
use crate::system::git::{Environment, Error, GitClone, Purpose};
use std::collections::BTreeMap;

/// Reads the branch that is checked out.
///
/// # Errors
/// Returns the reason why git cannot read it.
pub fn read(clone: &CloneFolder, read_clone: Option<&ReadClone>) -> Result<CloneHead, String> {
    read_in(clone, read_clone, Environment::inherited()).map_err(|error| error.to_string())
}

pub(super) fn read_in(
    clone: &CloneFolder,
    read_clone: Option<&ReadClone>,
    environment: Environment,
) -> Result<CloneHead, Error> {
    // The settings that a checkout asks about run nothing here.
    let git = GitClone::open(&clone.folder, environment, Purpose::Read, &|_| true)?;
    let head = read_branch(clone, &git)?;
    let lines = match (read_clone, &head.commit) {
        (Some(read_clone), Some(commit)) => threads::read(&git, &clone.folder, commit, read_clone, &clone.threads),
        _ => BTreeMap::new(),
    };
    Ok(CloneHead { lines, ..head })
}

fn read_branch(clone: &CloneFolder, git: &GitClone) -> Result<CloneHead, Error> {
    let ask = |command: &[&str], values: &[&str]| git.run(command, values).ok().filter(|answer| !answer.is_empty());
    let commit_of = |name: &str| ask(&["rev-parse", "--verify", "--quiet", "--end-of-options"], &[name]);
    let commit = commit_of("HEAD");
    let name = ask(&["symbolic-ref", "--quiet", "HEAD"], &[]);
    let Some(branch) = name.as_deref().and_then(|name| name.strip_prefix("refs/heads/")) else {
        return Ok(CloneHead { commit, ..CloneHead::default() });
    };
    let full_name = format!("refs/heads/{branch}");
    let (remote, remote_branch) = push_target(git, clone, branch, &full_name)?;
    let remote = remote.map_or("", |remote| remote.name.as_str());
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
    Ok(CloneHead {
        branch: Some(branch.to_owned()),
        commit,
        remote: remote.to_owned(),
        remote_branch,
        tracked,
        ahead: count(ahead),
        titles: titles.lines().map(str::to_owned).collect(),
        behind: count(behind),
        lines: BTreeMap::new(),
    })
}

/// Returns the remote that a branch is pushed to, and the name of the branch there. As with `push.default = simple`, that is
/// its own name on the remote of its upstream if that has the same name, or else on the first remote. Another remote or
/// name must be configured: `pushRemote`, `pushDefault`, a refspec for pushes, or `push.default = upstream`.
fn push_target<'a>(
    git: &GitClone,
    clone: &'a CloneFolder,
    branch: &str,
    full_name: &str,
) -> Result<(Option<&'a CloneRemote>, String), Error> {
    let format = "--format=%(upstream:remotename)%0a%(upstream:remoteref)%0a%(push:remotename)%0a%(push:remoteref)";
    let tracking = git.run(&["for-each-ref", format], &[full_name]).unwrap_or_default();
    let mut tracking = tracking.split('\n').map(str::to_owned);
    let mut next = || tracking.next().unwrap_or_default();
    let (upstream, upstream_ref, default_remote, default_ref) = (next(), next(), next(), next());
    let mode = git.setting("push.default")?.unwrap_or_default();
    let follows_upstream = ["upstream", "tracking"].contains(&mode.as_str());
    let push_remote = git.setting(&format!("branch.{branch}.pushremote"))?;
    let configured = push_remote.or(git.setting("remote.pushdefault")?);
    let upstream_remote = Some(&upstream).filter(|_| upstream_ref == full_name || follows_upstream);
    let on_server = |name: &String| clone.remotes.iter().find(|remote| remote.name == *name);
    let remote = configured.as_ref().and_then(on_server).or_else(|| upstream_remote.and_then(on_server));
    let remote = remote.or(clone.remotes.first());
    let is_on = |name: &str| remote.is_some_and(|remote| remote.name == name);
    // Git does not name the remote that it falls back to.
    let default_remote = if default_remote.is_empty() { "origin" } else { default_remote.as_str() };
    let target = match () {
        () if is_on(default_remote) && default_ref.starts_with("refs/heads/") => default_ref,
        () if is_on(&upstream) && follows_upstream => upstream_ref,
        () => String::new(),
    };
    Ok((remote, target.strip_prefix("refs/heads/").unwrap_or(branch).to_owned()))
}
