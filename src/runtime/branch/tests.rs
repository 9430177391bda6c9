//! Reads and pushes the branches of clones with stock git.

use super::head::read_in;
use super::push::prepare;
use crate::app::clone::{CloneFolder, CloneHead, CloneRemote, Push};
use crate::system::git::{Environment, Error};
use crate::system::programs;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

/// A project with the branches `main` and `feature`, and a clone of it.
struct Fixture {
    root: tempfile::TempDir,
    clone: PathBuf,
}

/// Returns the remotes of the clone that are on the server.
fn remotes() -> Vec<CloneRemote> {
    vec![CloneRemote { name: "origin".into(), url: String::new(), project: "acme/project".into() }]
}

impl Fixture {
    fn new() -> Fixture {
        let root = tempfile::tempdir().expect("a folder");
        let clone = root.path().join("clone");
        let fixture = Fixture { root, clone };
        fixture.sh("git init -q -b main project && cd project && git commit -q --allow-empty -m first \
             && git switch -qc feature && git commit -q --allow-empty -m second && git switch -q main \
             && cd .. && git clone -q project clone");
        fixture
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn variables(&self) -> Vec<(OsString, OsString)> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut all: Vec<(OsString, OsString)> = vec![("PATH".into(), path), ("HOME".into(), self.path("").into())];
        for (name, value) in [("NAME", "A"), ("EMAIL", "a@b")] {
            all.push((format!("GIT_AUTHOR_{name}").into(), value.into()));
            all.push((format!("GIT_COMMITTER_{name}").into(), value.into()));
        }
        all.push(("GIT_CONFIG_NOSYSTEM".into(), "1".into()));
        all
    }

    fn environment(&self) -> Environment {
        Environment::cleaned(self.variables())
    }

    fn sh(&self, script: &str) -> String {
        let mut command = programs::command("sh");
        command.arg("-c").arg(script).current_dir(self.root.path()).env_clear().envs(self.variables());
        let output = command.output().expect("sh runs");
        assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    fn read(&self) -> CloneHead {
        let clone = CloneFolder { folder: self.clone.clone(), remotes: remotes(), head: None };
        read_in(&clone, self.environment()).expect("reads")
    }
}

#[test]
fn commits_that_only_one_side_has_are_counted() {
    let fixture = Fixture::new();
    fixture.sh("cd clone && git switch -q feature && git commit -q --allow-empty -m 'third \"x\"'");
    let head = fixture.read();
    assert_eq!((head.branch.as_deref(), head.remote_branch.as_str()), (Some("feature"), "feature"));
    assert_eq!((head.ahead, head.behind), (1, 0));
    assert_eq!(head.titles, ["third \"x\""]);
    assert_eq!(head.push_urls, [fixture.path("project").display().to_string()]);
    fixture.sh(
        "cd project && git switch -q feature && git commit -q --allow-empty -m other && cd ../clone && git fetch -q",
    );
    let head = fixture.read();
    assert_eq!((head.ahead, head.behind), (1, 1));
    assert!(head.tracked.is_some() && head.tracked != head.commit);
}

#[test]
fn a_new_branch_is_compared_with_everything_that_the_remote_has() {
    let fixture = Fixture::new();
    // Such a branch tracks the default branch, but is not pushed there.
    fixture.sh("cd clone && git switch -qc topic origin/main && git commit -q --allow-empty -m mine");
    let head = fixture.read();
    assert_eq!((head.remote_branch.as_str(), head.tracked, head.ahead, head.behind), ("topic", None, 1, 0));
    fixture.sh("cd clone && git switch -qc mine origin/feature");
    assert_eq!(fixture.read().remote_branch, "feature");
}

#[test]
fn clones_without_a_branch_or_a_commit_are_read() {
    let fixture = Fixture::new();
    fixture.sh("cd clone && git switch -q --detach");
    let head = fixture.read();
    assert!(head.branch.is_none() && head.commit.is_some());
    fixture.sh("cd clone && git switch -q --orphan fresh");
    let head = fixture.read();
    assert_eq!((head.branch.as_deref(), head.commit, head.ahead), (Some("fresh"), None, 0));
}

#[test]
fn nothing_of_a_hostile_clone_runs() {
    let fixture = Fixture::new();
    let marker = fixture.path("ran");
    let program = format!("touch {}", marker.display());
    fixture.sh("cd clone && git switch -qc '$(touch${IFS}x)' && git commit -q --allow-empty -m mine");
    let remote = format!("[remote \"--upload-pack={program}\"]\n\turl = -x\n\tpromisor = true\n");
    let config = format!(
        "[core]\n\tfsmonitor = {program}\n\tpager = {program}\n\tsshCommand = {program}\n\talternateRefsCommand = {program}\n\
         [log]\n\tshowSignature = true\n[gpg]\n\tprogram = {program}\n[extensions]\n\tpartialClone = origin\n{remote}"
    );
    let path = fixture.clone.join(".git/config");
    let text = fs::read_to_string(&path).expect("it is there");
    fs::write(&path, text + &config).expect("written");
    let head = fixture.read();
    assert_eq!((head.branch.as_deref(), head.ahead), (Some("$(touch${IFS}x)"), 1));
    assert!(!marker.exists());
}

fn push(fixture: &Fixture, branch: &str) -> Push {
    Push {
        folder: fixture.clone.clone(),
        remote: "origin".into(),
        branch: branch.into(),
        remote_branch: branch.into(),
        trusted: None,
    }
}

/// Pushes, and returns what git printed if it failed.
fn pushed(fixture: &Fixture, push: &Push) -> Result<(), Error> {
    let trusted = fixture.path("state");
    let output = prepare(push, Some(&trusted), fixture.environment())?.output()?;
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() { Ok(()) } else { Err(Error::Failed(printed)) }
}

#[test]
fn a_pushed_branch_has_an_upstream() {
    let fixture = Fixture::new();
    fixture.sh("cd clone && git switch -qc topic && git commit -q --allow-empty -m one");
    pushed(&fixture, &push(&fixture, "topic")).expect("pushes");
    let ids = fixture.sh("git -C clone rev-parse topic && git -C project rev-parse topic");
    assert_eq!(ids.lines().next(), ids.lines().last());
    assert_eq!(fixture.sh("git -C clone rev-parse --abbrev-ref topic@{upstream}"), "origin/topic");
    let read =
        read_in(&CloneFolder { folder: fixture.clone.clone(), remotes: remotes(), head: None }, fixture.environment());
    assert_eq!(read.expect("reads").ahead, 0);
}

#[test]
fn nothing_is_forced() {
    let fixture = Fixture::new();
    fixture.sh("cd clone && git switch -q feature && git commit -q --amend --allow-empty -m other");
    let Err(Error::Failed(why)) = pushed(&fixture, &push(&fixture, "feature")) else { panic!("it was pushed") };
    assert!(why.contains("[rejected]"), "{why}");
}

#[test]
fn names_are_never_options() {
    let fixture = Fixture::new();
    let marker = fixture.path("ran");
    for name in [format!("--receive-pack=touch {}", marker.display()), "-f".into(), "a:b".into(), "+main".into()] {
        let mut order = push(&fixture, &name);
        assert!(pushed(&fixture, &order).is_err(), "{name}");
        order = Push { remote: name, ..push(&fixture, "main") };
        assert!(pushed(&fixture, &order).is_err());
    }
    let url = format!("ext::sh -c 'touch {}'", marker.display());
    assert!(pushed(&fixture, &Push { remote: url, ..push(&fixture, "main") }).is_err());
    assert!(!marker.exists());
}

#[test]
fn hooks_run_only_if_the_user_allowed_exactly_these() {
    let fixture = Fixture::new();
    let hook = fixture.clone.join(".git/hooks/pre-push");
    let write = |script: &str| {
        fs::create_dir_all(hook.parent().expect("a folder")).expect("created");
        fs::write(&hook, format!("#!/bin/sh\n{script}\n")).expect("written");
        fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).expect("set");
    };
    let marker = fixture.path("ran");
    let script = format!("touch {}", marker.display());
    write(&script);
    fixture.sh("cd clone && git switch -qc topic && git commit -q --allow-empty -m one");
    let order = push(&fixture, "topic");
    let Err(Error::Untrusted(untrusted)) = pushed(&fixture, &order) else { panic!("it is trusted") };
    assert!(untrusted.reasons.iter().any(|reason| reason.contains("hooks/pre-push = ")), "{untrusted:?}");
    assert!(!marker.exists());
    pushed(&fixture, &Push { trusted: Some(untrusted.fingerprint), ..order.clone() }).expect("pushes");
    assert!(marker.exists(), "git runs the hook");
    pushed(&fixture, &order).expect("the answer is remembered");
    write(&format!("{script}2"));
    assert!(matches!(pushed(&fixture, &order), Err(Error::Untrusted(_))), "another hook is another question");
}
