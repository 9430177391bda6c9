//! Reads and pushes the branches of clones with stock git.

use super::head::read_in;
use super::push::prepare;
use crate::api::commit_data::{CommitData, ReadClone};
use crate::app::clone::{CloneFolder, CloneHead, CloneRemote, Push, ThreadLine};
use crate::system::git::{Environment, Error};
use crate::system::programs;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::Arc;

/// A project with the branches `main` and `feature`, a fork of it, and a clone of the project.
struct Fixture {
    root: tempfile::TempDir,
    clone: PathBuf,
}

impl Fixture {
    fn new() -> Fixture {
        let root = tempfile::tempdir().expect("a folder");
        let clone = root.path().join("clone");
        let fixture = Fixture { root, clone };
        // Instead of connecting to another machine, this runs the command here, and writes down the machine.
        let ssh =
            "#!/bin/sh\nfor word; do host=$last; last=$word; done\necho \"$host\" >> reached\nexec sh -c \"$last\"\n";
        let ssh = ssh.replace("reached", &fixture.path("reached").display().to_string());
        fs::write(fixture.path("ssh"), ssh).expect("written");
        fs::set_permissions(fixture.path("ssh"), fs::Permissions::from_mode(0o755)).expect("set");
        fixture.sh("git init -q -b main project && cd project && git commit -q --allow-empty -m first \
             && git config receive.advertisePushOptions true && git switch -qc feature \
             && git commit -q --allow-empty -m second && git switch -q main && cd .. && git clone -q --bare project fork");
        let script = format!(
            "git clone -q {} clone && cd clone && git config checkout.defaultRemote origin \
             && git remote add -f fork {} 2> /dev/null",
            fixture.url("project"),
            fixture.url("fork")
        );
        fixture.sh(&script);
        fixture
    }

    /// Returns the address of a repository.
    fn url(&self, name: &str) -> String {
        format!("git@git.example.com:{}", self.path(name).display())
    }

    /// Returns the remotes of the clone that are on the server.
    fn remotes(&self) -> Vec<CloneRemote> {
        let remote = |(name, repository): (&str, &str)| CloneRemote {
            name: name.into(),
            url: self.url(repository),
            project: format!("acme/{repository}"),
            ..CloneRemote::default()
        };
        [("origin", "project"), ("fork", "fork")].map(remote).into()
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
        all.push(("GIT_SSH_COMMAND".into(), self.path("ssh").into()));
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
        let clone = CloneFolder { folder: self.clone.clone(), remotes: self.remotes(), ..CloneFolder::default() };
        read_in(&clone, None, self.environment()).expect("reads")
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
}

#[test]
fn a_branch_is_pushed_under_its_own_name_unless_another_is_configured() {
    let fixture = Fixture::new();
    let path = fixture.path("");
    let new = "git switch -qc topic";
    for (script, remote, branch) in [
        (new.to_owned(), "origin", "topic"),
        // An upstream of another name is where the branch began.
        (format!("{new} origin/feature"), "origin", "topic"),
        (format!("git remote set-head origin -d; {new} origin/main"), "origin", "topic"),
        (format!("{new} --track main"), "origin", "topic"),
        (format!("{new} --no-track fork/main"), "origin", "topic"),
        ("git switch -q feature && git branch -m topic".to_owned(), "origin", "topic"),
        (format!("{new} origin/feature && git update-ref -d refs/remotes/origin/feature"), "origin", "topic"),
        (
            format!("{new} && git config branch.topic.remote origin && git config branch.topic.merge refs/tags/v1"),
            "origin",
            "topic",
        ),
        (
            format!(
                "{new} && git config branch.topic.remote {} && git config branch.topic.merge refs/heads/main",
                path.display()
            ),
            "origin",
            "topic",
        ),
        // One of the same name is where it is.
        ("git switch -q feature".to_owned(), "origin", "feature"),
        ("git switch -qc feature fork/feature".to_owned(), "fork", "feature"),
        (format!("{new} fork/feature"), "origin", "topic"),
        // Another remote is configured, and counts if it is on the server.
        (format!("{new} && git config branch.topic.pushRemote fork"), "fork", "topic"),
        (format!("{new} && git config remote.pushDefault fork"), "fork", "topic"),
        ("git switch -q feature && git config remote.pushDefault fork".to_owned(), "fork", "feature"),
        (format!("{new} && git config remote.pushDefault {}", path.display()), "origin", "topic"),
        (format!("{new} && git config branch.topic.pushRemote ../fork"), "origin", "topic"),
        (
            format!("{new} && git remote add other {0} && git config remote.pushDefault other", path.display()),
            "origin",
            "topic",
        ),
        // Another name is configured.
        (format!("{new} origin/feature && git config push.default upstream"), "origin", "feature"),
        (format!("{new} fork/feature && git config push.default tracking"), "fork", "feature"),
        (format!("{new} && git config push.default upstream"), "origin", "topic"),
        (format!("{new} origin/feature && git config push.default current"), "origin", "topic"),
        (format!("{new} && git config remote.origin.push 'refs/heads/*:refs/heads/ada/*'"), "origin", "ada/topic"),
        (format!("{new} && git config remote.origin.push HEAD:refs/for/main"), "origin", "topic"),
        (format!("{new} && git config remote.fork.push 'refs/heads/*:refs/heads/ada/*'"), "origin", "topic"),
        ("git switch -qc 'a=b/ü' origin/feature".to_owned(), "origin", "a=b/ü"),
    ] {
        fixture.sh("rm -rf again && cp -R clone again && mv clone kept");
        fixture.sh(&format!("mv again clone && cd clone && {script} && git commit -q --allow-empty -m mine"));
        let head = fixture.read();
        assert_eq!((head.remote.as_str(), head.remote_branch.as_str()), (remote, branch), "{script}");
        assert!(head.ahead > 0, "{script}");
        fixture.sh("rm -rf clone && mv kept clone");
    }
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
        url: fixture.url("project"),
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
    assert_eq!(fixture.read().ahead, 0);
    // The upstream that a branch has stays.
    fixture.sh("cd clone && git switch -qc hotfix origin/feature && git commit -q --allow-empty -m two");
    pushed(&fixture, &push(&fixture, "hotfix")).expect("pushes");
    assert_eq!(fixture.sh("git -C clone rev-parse --abbrev-ref hotfix@{upstream}"), "origin/feature");
    assert_eq!(fixture.read().ahead, 0);
    assert_ne!(fixture.sh("git -C project rev-parse feature"), fixture.sh("git -C clone rev-parse hotfix"));
}

#[test]
fn only_the_address_of_the_project_is_pushed_to() {
    let fixture = Fixture::new();
    fixture.sh("cd clone && git switch -qc topic && git commit -q --allow-empty -m one && git init -q --bare inner");
    let marker = fixture.path("ran");
    for hook in ["pre-receive", "update", "post-receive", "post-update", "reference-transaction", "push-to-checkout"] {
        let hook = fixture.clone.join("inner/hooks").join(hook);
        fs::write(&hook, format!("#!/bin/sh\ntouch {}\n", marker.display())).expect("written");
        fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).expect("set");
    }
    let inner = fixture.clone.join("inner").display().to_string();
    let (good, other) = (fixture.url("project"), "git@evil.example.com:x/y".to_owned());
    let file = format!("file://{inner}");
    fs::remove_file(fixture.path("reached")).expect("it was cloned");
    for elsewhere in [&inner, &file, &"inner".to_owned(), &other, &format!("ext::touch {}", marker.display())] {
        for (key, value) in [
            ("remote.origin.pushurl".to_owned(), elsewhere),
            (format!("url.{elsewhere}.pushInsteadOf"), &good),
            (format!("url.{elsewhere}.insteadOf"), &good),
            ("remote.origin.url".to_owned(), elsewhere),
            ("remote.pushDefault".to_owned(), elsewhere),
            ("branch.topic.pushRemote".to_owned(), elsewhere),
            (format!("remote.{good}.url"), elsewhere),
            (format!("remote.{good}.pushurl"), elsewhere),
        ] {
            fixture.sh("rm -rf again && cp -R clone again");
            fixture.sh(&format!("cd again && git config --add '{key}' '{value}'"));
            let order = Push { folder: fixture.path("again"), ..push(&fixture, "topic") };
            match pushed(&fixture, &order) {
                Err(Error::Failed(why)) => assert!(why.contains("git pushes to another address"), "{key}: {why}"),
                pushed => pushed.expect("it is pushed to the project"),
            }
            assert!(!marker.exists(), "{key} = {value}");
            assert_eq!(fixture.sh("git -C clone/inner for-each-ref"), "", "{key} = {value}");
            let reached = fs::read_to_string(fixture.path("reached")).unwrap_or_default();
            assert!(reached.lines().all(|host| host == "git@git.example.com"), "{key} = {value}: {reached}");
        }
        // A place on this machine is not even pushed to if it is what was asked about.
        if *elsewhere != other {
            let order = Push { url: elsewhere.clone(), ..push(&fixture, "topic") };
            assert!(pushed(&fixture, &order).is_err(), "{elsewhere}");
        }
    }
    assert!(!marker.exists());
}

#[test]
fn an_address_of_its_own_for_pushes_is_pushed_to_if_it_was_asked_about() {
    let fixture = Fixture::new();
    fixture.sh("cd clone && git switch -qc topic && git commit -q --allow-empty -m one");
    let order = Push { url: fixture.url("fork"), ..push(&fixture, "topic") };
    fixture.sh(&format!("git -C clone config remote.origin.pushurl {}", fixture.url("fork")));
    pushed(&fixture, &order).expect("pushes");
    assert_eq!(fixture.sh("git -C fork rev-parse topic"), fixture.sh("git -C clone rev-parse topic"));
    fixture.sh(&format!("git -C clone config --add remote.origin.pushurl {}", fixture.url("project")));
    assert!(matches!(pushed(&fixture, &order), Err(Error::Failed(_))), "it is one of two");
    assert_eq!(fixture.sh("git -C project branch --list topic"), "");
}

#[test]
fn a_clone_adds_nothing_to_a_push() {
    let fixture = Fixture::new();
    let hook = fixture.path("project/.git/hooks/pre-receive");
    let script = format!("#!/bin/sh\necho $GIT_PUSH_OPTION_0 > {}\n", fixture.path("options").display());
    fs::write(&hook, script).expect("written");
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).expect("set");
    fixture.sh("cd clone && git switch -qc topic && git commit -q --allow-empty -m one && git tag -a -m tag v1 \
         && git config push.pushOption merge_request.create && git config push.followTags true \
         && git config remote.origin.mirror true && git config push.gpgSign true && git config push.default matching");
    pushed(&fixture, &push(&fixture, "topic")).expect("pushes");
    assert_eq!(fixture.sh("cat options && git -C project tag"), "");
    // The user's own configuration counts.
    fixture.sh(
        "git config --file .gitconfig push.pushOption ci.skip && git config --file .gitconfig push.followTags true",
    );
    fixture.sh("cd clone && git commit -q --allow-empty -m two");
    pushed(&fixture, &push(&fixture, "topic")).expect("pushes");
    assert_eq!(fixture.sh("cat options && git -C project tag"), "ci.skip\nv1");
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

#[test]
fn lines_of_threads_are_found_in_the_working_tree_and_in_commits() {
    let fixture = Fixture::new();
    let commit = "git add -A && git commit -q -m";
    fixture.sh(&format!("cd clone && git switch -q feature && printf 'one\\ntwo\\nthree\\n' > 'a b' && {commit} base"));
    let base = fixture.sh("cd clone && git rev-parse HEAD");
    fixture.sh(&format!("cd clone && printf 'one\\n2\\nthree\\n' > 'a b' && {commit} 'Change two'"));
    let sha = fixture.sh("cd clone && git rev-parse HEAD");
    fixture.sh(&format!("cd clone && printf 'zero\\none\\n2\\nthree\\n' > 'a b' && {commit} 'Add zero'"));
    fixture.sh("cd clone && printf 'zero\\none\\n2\\n3\\n' > 'a b'");
    let read = reader(&fixture);
    let thread = |id: &str, path: &str, sha: &str, line: u32| ThreadLine {
        discussion: id.into(),
        path: path.into(),
        sha: sha.into(),
        lines: (line, line),
        removed_in: None,
    };
    let threads = vec![
        thread("first", "a b", &base, 1),
        thread("second", "a b", &base, 2),
        thread("third", "a b", &base, 3),
        thread("gone", "none", &base, 1),
        thread("elsewhere", "../project/x", &base, 1),
        thread("unknown", "a b", "0123456789012345678901234567890123456789", 1),
    ];
    let clone =
        CloneFolder { folder: fixture.clone.clone(), remotes: fixture.remotes(), threads, ..CloneFolder::default() };
    let lines = read_in(&clone, Some(&read), fixture.environment()).expect("reads").lines;
    let told = |id: &str| lines.get(id).map(|line| (line.line, line.is_changed, line.commit.clone()));
    assert_eq!(told("first"), Some((2, false, None)));
    assert_eq!(told("second"), Some((3, true, Some((sha, "Change two".to_owned())))));
    assert_eq!(told("third"), Some((4, true, None)));
    assert_eq!(lines.len(), 3, "{lines:?}");
}

#[test]
fn lines_that_are_removed_and_files_that_are_renamed_are_followed() {
    let fixture = Fixture::new();
    let commit = "git add -A && git commit -q -m";
    let text = "one\\ntwo\\nthree\\nfour\\nfive\\nsix\\n";
    fixture.sh(&format!(
        "cd clone && git switch -q feature && printf '{text}' > a && printf '{text}' > b && {commit} base"
    ));
    let base = fixture.sh("cd clone && git rev-parse HEAD");
    fixture.sh(&format!("cd clone && sed -i /two/d a && {commit} 'Remove two'"));
    let head = fixture.sh("cd clone && git rev-parse HEAD");
    let thread = |id: &str, path: &str, sha: &str, line: u32, removed_in: Option<&str>| ThreadLine {
        discussion: id.into(),
        path: path.into(),
        sha: sha.into(),
        lines: (line, line),
        removed_in: removed_in.map(str::to_owned),
    };
    let threads = vec![
        thread("removed", "a", &base, 2, Some(&head)),
        thread("kept", "b", &head, 3, None),
        thread("edited", "b", &head, 5, None),
    ];
    let read = || {
        let read = reader(&fixture);
        let (folder, remotes) = (fixture.clone.clone(), fixture.remotes());
        let clone = CloneFolder { folder, remotes, threads: threads.clone(), ..CloneFolder::default() };
        let lines = read_in(&clone, Some(&read), fixture.environment()).expect("reads").lines;
        let told = |id: &str| {
            let line = lines.get(id).unwrap_or_else(|| panic!("{id} of {lines:?}"));
            let title = line.commit.as_ref().map(|(_, title)| title.clone()).unwrap_or_default();
            (line.path.clone(), line.line, line.is_changed, title)
        };
        ["removed", "kept", "edited"].map(told)
    };
    let at =
        |path: &str, line: u32, is_changed: bool, title: &str| (path.to_owned(), line, is_changed, title.to_owned());
    let here = at("a", 2, false, "");
    assert_eq!(read(), [here, at("b", 3, false, ""), at("b", 5, false, "")], "the place where it was");
    // Renamed in the index, then with a change in a commit.
    fixture.sh("cd clone && mkdir d && git mv b d/c");
    assert_eq!(read()[1..], [at("d/c", 3, false, ""), at("d/c", 5, false, "")]);
    fixture.sh(&format!("cd clone && sed -i -e s/five/5/ -e '1i zero' d/c && {commit} 'Rename and change'"));
    assert_eq!(read()[1..], [at("d/c", 4, false, ""), at("d/c", 6, true, "Rename and change")]);
    fixture.sh(&format!(
        "cd clone && sed -i -e 1d d/c && {commit} 'Drop zero' && printf '{text}' > a && {commit} 'Bring two back'"
    ));
    let back = at("a", 2, true, "Bring two back");
    assert_eq!(read(), [back, at("d/c", 3, false, ""), at("d/c", 5, true, "Rename and change")]);
    // A file that is gone has no line.
    fixture.sh(&format!("cd clone && git rm -q d/c && {commit} 'Remove c'"));
    let read = reader(&fixture);
    let (folder, remotes) = (fixture.clone.clone(), fixture.remotes());
    let clone = CloneFolder { folder, remotes, threads: threads.clone(), ..CloneFolder::default() };
    let lines = read_in(&clone, Some(&read), fixture.environment()).expect("reads").lines;
    assert_eq!(lines.keys().collect::<Vec<_>>(), ["removed"]);
}

/// Returns a reader of the files in commits of the clone.
fn reader(fixture: &Fixture) -> ReadClone {
    let folder = fixture.clone.clone();
    Arc::new(move |data| {
        let CommitData::File { commit, path } = data else { return None };
        let mut show = programs::command("git");
        let shown = show.args(["show", &format!("{commit}:{path}")]).current_dir(&folder).output().ok()?;
        shown.status.success().then_some(shown.stdout)
    })
}
