//! Tests of checkouts in clones with hostile configuration: each setting plants a program, and none may run unless the
//! user allowed it.

use super::*;
use crate::app::clone::CloneRemote;
use crate::system::programs;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

/// A setting, and whether the user must be asked because a checkout cannot do without it.
struct Setting {
    key: &'static str,
    /// The value; `PROGRAM` is a program that leaves a trace.
    value: &'static str,
    asks: bool,
}

const fn overridden(key: &'static str, value: &'static str) -> Setting {
    Setting { key, value, asks: false }
}

const fn asked(key: &'static str, value: &'static str) -> Setting {
    Setting { key, value, asks: true }
}

/// The settings of git and of git-lfs that start programs, or decide which connections are made.
const SETTINGS: &[Setting] = &[
    overridden("core.fsmonitor", "PROGRAM"),
    overridden("core.hooksPath", "HOOKS"),
    overridden("core.pager", "PROGRAM"),
    overridden("core.editor", "PROGRAM"),
    overridden("core.askPass", "PROGRAM"),
    overridden("core.alternateRefsCommand", "PROGRAM"),
    overridden("core.protectNTFS", "false"),
    overridden("sequence.editor", "PROGRAM"),
    overridden("pager.status", "PROGRAM"),
    overridden("pager.stash", "PROGRAM"),
    overridden("interactive.diffFilter", "PROGRAM"),
    overridden("diff.external", "PROGRAM"),
    overridden("diff.evil.command", "PROGRAM"),
    overridden("diff.evil.textconv", "PROGRAM"),
    overridden("merge.evil.driver", "PROGRAM"),
    overridden("merge.default", "evil"),
    overridden("gpg.program", "PROGRAM"),
    overridden("gpg.ssh.program", "PROGRAM"),
    overridden("gpg.ssh.defaultKeyCommand", "PROGRAM"),
    overridden("commit.gpgSign", "true"),
    overridden("merge.verifySignatures", "false"),
    overridden("trailer.x.command", "PROGRAM"),
    overridden("alias.status", "!PROGRAM"),
    overridden("alias.switch", "!PROGRAM"),
    overridden("protocol.ext.allow", "always"),
    overridden("protocol.allow", "always"),
    overridden("hook.evil.command", "PROGRAM"),
    overridden("hook.evil.event", "post-checkout"),
    overridden("uploadpack.packObjectsHook", "PROGRAM"),
    overridden("gc.recentObjectsHook", "PROGRAM"),
    overridden("gc.auto", "1"),
    overridden("maintenance.strategy", "incremental"),
    overridden("submodule.recurse", "true"),
    overridden("submodule.sub.update", "!PROGRAM"),
    overridden("submodule.sub.ignore", "none"),
    overridden("submodule.sub.active", "true"),
    overridden("fetch.recurseSubmodules", "true"),
    overridden("browser.x.cmd", "PROGRAM"),
    overridden("mergetool.x.cmd", "PROGRAM"),
    overridden("branch.main.mergeOptions", "--gpg-sign"),
    overridden("fetch.bundleURI", "https://git.example.com/bundle"),
    overridden("http.cookieFile", "../cookies"),
    overridden("http.saveCookies", "true"),
    overridden("http.https://git.example.com.cookieFile", "../cookies"),
    overridden("http.followRedirects", "true"),
    overridden("http.delegation", "always"),
    overridden("core.attributesFile", "../attributes"),
    overridden("diff.orderFile", "../order"),
    overridden("transfer.fsckObjects", "false"),
    overridden("trace2.normalTarget", "../trace"),
    overridden("tar.x.command", "PROGRAM"),
    overridden("sendemail.smtpServer", "PROGRAM"),
    asked("core.sshCommand", "PROGRAM"),
    asked("core.gitProxy", "PROGRAM"),
    asked("credential.helper", "!PROGRAM"),
    asked("credential.https://git.example.com.helper", "!PROGRAM"),
    asked("filter.evil.clean", "PROGRAM; cat"),
    asked("filter.evil.smudge", "PROGRAM; cat"),
    asked("filter.evil.process", "PROGRAM"),
    asked("filter.a=b.smudge", "PROGRAM; cat"),
    asked("pager.a=b.x", "PROGRAM"),
    asked("remote.origin.uploadpack", "PROGRAM; git-upload-pack"),
    asked("remote.labscope-0.uploadpack", "PROGRAM; git-upload-pack"),
    asked("remote.origin.receivepack", "PROGRAM; git-receive-pack"),
    asked("remote.origin.vcs", "ext"),
    asked("remote.origin.proxy", "http://127.0.0.1:9"),
    asked("http.proxy", "http://127.0.0.1:9"),
    asked("http.https://git.example.com.proxy", "http://127.0.0.1:9"),
    asked("http.sslVerify", "false"),
    asked("http.extraHeader", "Authorization: Basic YTpi"),
    asked("lfs.url", "https://git.example.com/lfs"),
    asked("lfs.storage", "../lfs"),
    asked("remote.other.promisor", "true"),
    asked("promisor.acceptFromServerUrl", "*"),
    asked("http.curloptResolve", "git.example.com:443:127.0.0.1"),
    asked("lfs.customtransfer.evil.path", "PROGRAM"),
    asked("lfs.extension.evil.smudge", "PROGRAM"),
    asked("lfs.standalonetransferagent", "evil"),
    asked("include.path", "../shared.gitconfig"),
    asked("include.path", "../not-there-yet"),
    asked("includeIf.onbranch:feature.path", "../shared.gitconfig"),
];

/// The hooks that git runs in a clone.
const HOOKS: [&str; 10] = [
    "fsmonitor-watchman",
    "post-checkout",
    "post-commit",
    "post-index-change",
    "post-merge",
    "post-rewrite",
    "pre-auto-gc",
    "pre-merge-commit",
    "prepare-commit-msg",
    "reference-transaction",
];

/// A project, a clone of it that a stranger prepared, and the programs that the stranger planted.
pub(super) struct Trap {
    root: tempfile::TempDir,
    pub clone: PathBuf,
}

impl Trap {
    pub fn new() -> Trap {
        let root = tempfile::tempdir().expect("a folder");
        let clone = root.path().canonicalize().expect("it is there").join("clone");
        let trap = Trap { root, clone };
        for folder in ["home", "ran", "hooks"] {
            fs::create_dir(trap.path(folder)).expect("a folder");
        }
        trap.sh(
            "git init -q -b main project && cd project && echo one > a && git add a && git commit -qm one \
             && git switch -qc feature && echo two > a && git commit -qam two \
             && git update-ref refs/merge-requests/7/head HEAD && git switch -q main \
             && cd .. && git clone -q -s project clone && cd clone && git config user.name A && git config user.email a@b \
             && git init -q sub && cd sub && echo s > s && git add s && git commit -qm s && cd .. \
             && git add sub 2> /dev/null && git commit -qm sub && echo '* filter=evil diff=evil merge=evil' > .git/info/attributes",
        );
        // What a submodule's own configuration would run.
        trap.sh(&format!(
            "cd clone/sub && git config core.fsmonitor {0} && git config filter.evil.clean {0}",
            trap.program("submodule")
        ));
        for hook in HOOKS {
            let program = trap.program(hook);
            for folder in ["clone/.git/hooks", "hooks"] {
                fs::create_dir_all(trap.path(folder)).expect("a folder");
                fs::copy(&program, trap.path(folder).join(hook)).expect("copied");
            }
        }
        trap
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.root.path().canonicalize().expect("it is there").join(name)
    }

    /// Creates a program that leaves a trace of this name.
    pub fn program(&self, name: &str) -> String {
        let file = name.replace(|c: char| !c.is_ascii_alphanumeric() && c != '.', "-");
        let path = self.path("bin").join(&file);
        fs::create_dir_all(self.path("bin")).expect("a folder");
        fs::write(&path, format!("#!/bin/sh\ntouch '{}'\n", self.path("ran").join(&file).display())).expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it can be run");
        path.display().to_string()
    }

    /// Puts a setting in the clone's configuration.
    fn set(&self, setting: &Setting) {
        let value = setting.value.replace("PROGRAM", &self.program(setting.key));
        let value = value.replace("HOOKS", &self.path("hooks").display().to_string());
        self.sh(&format!("cd clone && git config --add '{}' '{value}'", setting.key));
    }

    /// Runs a script with the user's own git, without the protection under test.
    pub fn sh(&self, script: &str) -> String {
        let mut command = programs::command("sh");
        command.arg("-c").arg(script).current_dir(self.root.path());
        command.env_clear().envs(self.variables());
        let output = command.output().expect("sh runs");
        assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    pub fn variables(&self) -> Vec<(OsString, OsString)> {
        let pairs = [
            ("PATH", std::env::var("PATH").unwrap_or_default()),
            ("HOME", self.path("home").display().to_string()),
            ("GIT_CONFIG_GLOBAL", self.path("home/.gitconfig").display().to_string()),
            ("GIT_CONFIG_NOSYSTEM", "1".to_owned()),
            ("GIT_AUTHOR_NAME", "A".to_owned()),
            ("GIT_AUTHOR_EMAIL", "a@b".to_owned()),
            ("GIT_COMMITTER_NAME", "A".to_owned()),
            ("GIT_COMMITTER_EMAIL", "a@b".to_owned()),
        ];
        pairs.into_iter().map(|(name, value)| (name.into(), value.into())).collect()
    }

    fn order(&self, source: CheckoutSource) -> Checkout {
        let url = self.path("project").display().to_string();
        let remote = CloneRemote { name: "origin".into(), url, project: "acme/project".into(), pushed_to: None };
        Checkout::new(self.clone.clone(), remote, 7, source, Vec::new())
    }

    fn run(&self, checkout: &Checkout) -> CheckoutOutcome {
        let state = self.path("state");
        run_in(checkout, Some(&state), Environment::cleaned(self.variables()))
    }

    fn branch(&self) -> CheckoutOutcome {
        self.run(&self.order(CheckoutSource::Branch("feature".into())))
    }

    /// Lists what ran, and forgets it.
    pub fn ran(&self) -> Vec<String> {
        let ran = self.path("ran");
        let mut names: Vec<String> = fs::read_dir(&ran)
            .expect("it is there")
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        fs::remove_dir_all(&ran).expect("removed");
        fs::create_dir(&ran).expect("created");
        names
    }

    /// Uses every command that a checkout can run, on every path through it.
    fn check_out_in_every_way(&self) -> Vec<CheckoutOutcome> {
        let feature = || self.order(CheckoutSource::Branch("feature".into()));
        let mut outcomes = vec![self.run(&feature()), self.run(&self.order(CheckoutSource::Head))];
        // A fast-forward with changes in the working tree, and one that fails and restores them.
        for (file, content) in [("new", "three"), ("newer", "four")] {
            self.sh(&format!(
                "cd project && git switch -q feature && echo {content} > {file} && git add {file} && git commit -q --allow-empty -m {content}"
            ));
            fs::write(self.clone.join("a"), "mine").expect("written");
            if file == "newer" {
                fs::write(self.clone.join(file), "in the way").expect("written");
            }
            outcomes.push(self.run(&feature()));
            outcomes.push(self.run(&Checkout { stash: true, ..feature() }));
        }
        outcomes
    }
}

#[test]
fn nothing_that_a_checkout_can_do_without_runs() {
    let trap = Trap::new();
    SETTINGS.iter().filter(|setting| !setting.asks).for_each(|setting| trap.set(setting));
    trap.ran();
    let outcomes = trap.check_out_in_every_way();
    assert_eq!(trap.ran(), Vec::<String>::new(), "{outcomes:?}");
    assert_eq!(outcomes[0], CheckoutOutcome::Done("Checked out feature".into()), "{outcomes:?}");
    assert_eq!(outcomes[1], CheckoutOutcome::Done("Checked out mr-7".into()));
    assert_eq!(outcomes[2], CheckoutOutcome::Dirty);
    assert_eq!(outcomes[3], CheckoutOutcome::Done("Checked out feature; your changes are stashed".into()));
    assert!(matches!(outcomes[5], CheckoutOutcome::Failed(_)), "{outcomes:?}");
    assert_eq!(fs::read_to_string(trap.clone.join("a")).expect("it is there"), "mine");
}

#[test]
fn each_setting_that_a_checkout_needs_is_asked_about_once() {
    let trap = Trap::new();
    fs::write(trap.clone.join("shared.gitconfig"), "").expect("written");
    let config = trap.clone.join(".git/config");
    let plain = fs::read_to_string(&config).expect("it is there");
    for setting in SETTINGS.iter().filter(|setting| setting.asks) {
        fs::write(&config, &plain).expect("written");
        trap.set(setting);
        trap.ran();
        let outcomes = trap.check_out_in_every_way();
        assert_eq!(trap.ran(), Vec::<String>::new(), "{}", setting.key);
        for outcome in outcomes {
            let CheckoutOutcome::Untrusted { reasons, .. } = outcome else { panic!("{}: {outcome:?}", setting.key) };
            assert_eq!(reasons.len(), 1, "{reasons:?}");
            assert!(reasons[0].to_lowercase().starts_with(&setting.key.to_lowercase()), "{reasons:?}");
        }
    }
}

#[test]
fn git_without_protection_runs_what_is_planted() {
    let trap = Trap::new();
    // These keep git from running the others.
    let ends_early = [
        "diff.orderFile",
        "core.hooksPath",
        "filter.evil.process",
        "filter.a=b.smudge",
        "pager.a=b.x",
        "remote.origin.vcs",
    ];
    SETTINGS.iter().filter(|setting| !ends_early.contains(&setting.key)).for_each(|setting| trap.set(setting));
    trap.ran();
    trap.sh("cd clone; git fetch -q origin feature; git status; echo x > a; git diff; git stash -q; \
         git switch -q -c feature FETCH_HEAD; git stash pop -q; true");
    let ran = trap.ran();
    for name in [
        "core.fsmonitor",
        "core.alternateRefsCommand",
        "filter.evil.clean",
        "filter.evil.smudge",
        "remote.origin.uploadpack",
        "diff.evil.command",
        "post-checkout",
        "reference-transaction",
        "post-index-change",
        "submodule",
    ] {
        assert!(ran.iter().any(|known| known == name), "{name} is not live: {ran:?}");
    }
}

#[test]
fn an_answer_holds_for_exactly_this_configuration_of_this_clone() {
    let trap = Trap::new();
    trap.sh("cd clone && rm -rf sub && git reset -q --hard origin/main");
    let script = format!("{}; cat", trap.program("smudge"));
    trap.sh(&format!("cd clone && git config filter.evil.smudge '{script}'"));
    trap.ran();
    let CheckoutOutcome::Untrusted { fingerprint, .. } = trap.branch() else { panic!("it is trusted") };
    assert_eq!(trap.ran(), Vec::<String>::new());
    let order = trap.order(CheckoutSource::Branch("feature".into()));
    let wrong = trap.run(&Checkout { trusted: Some("0".repeat(64)), ..order.clone() });
    assert!(matches!(wrong, CheckoutOutcome::Untrusted { .. }), "{wrong:?}");
    let allowed = trap.run(&Checkout { trusted: Some(fingerprint.clone()), ..order });
    assert_eq!(allowed, CheckoutOutcome::Done("Checked out feature".into()));
    assert_eq!(trap.ran(), ["smudge"]);
    assert_eq!(trap.branch(), CheckoutOutcome::Done("Checked out feature".into()), "the answer is remembered");
    trap.sh("cd clone && git config branch.feature.description harmless");
    assert_eq!(trap.branch(), CheckoutOutcome::Done("Checked out feature".into()), "nothing else runs");
    trap.sh(&format!("cd clone && git config filter.evil.smudge '{script} -u'"));
    let CheckoutOutcome::Untrusted { fingerprint: changed, .. } = trap.branch() else { panic!("it is trusted") };
    assert_ne!(changed, fingerprint);
    trap.sh(&format!("cd clone && git config filter.evil.smudge '{script}' && cd .. && cp -R clone other"));
    let other = Checkout { folder: trap.path("other"), ..trap.order(CheckoutSource::Branch("feature".into())) };
    assert!(matches!(trap.run(&other), CheckoutOutcome::Untrusted { .. }), "another clone has its own answer");
}

#[test]
fn an_included_file_that_a_branch_changes_is_asked_about_again() {
    let trap = Trap::new();
    let program = trap.program("included");
    trap.sh(&format!(
        "cd project && git switch -q feature && printf '[filter \"evil\"]\\n\\tclean = {program}; cat\\n' > team.config \
         && git add team.config && git commit -qm team && git switch -q main \
         && cd ../clone && git config include.path ../team.config && touch team.config && mkdir keep"
    ));
    fs::remove_file(trap.clone.join("team.config")).expect("removed");
    let CheckoutOutcome::Untrusted { fingerprint, reasons } = trap.branch() else { panic!("it is trusted") };
    assert_eq!(reasons, ["include.path = ../team.config"]);
    let order = trap.order(CheckoutSource::Branch("feature".into()));
    trap.run(&Checkout { trusted: Some(fingerprint), ..order });
    let CheckoutOutcome::Untrusted { reasons, .. } = trap.branch() else { panic!("it is trusted") };
    assert!(reasons.iter().any(|reason| reason.starts_with("filter.evil.clean")), "{reasons:?}");
    assert_eq!(trap.ran(), Vec::<String>::new());
}

#[test]
fn filters_of_the_user_work_and_nothing_is_asked() {
    let trap = Trap::new();
    fs::write(
        trap.path("home/.gitconfig"),
        "[filter \"evil\"]\nsmudge = tr a-z A-Z\nclean = tr A-Z a-z\nrequired = true\n[core]\npager = less\n",
    )
    .expect("written");
    // An installation for one clone sets the same values again.
    trap.sh("cd clone && git config filter.evil.smudge 'tr a-z A-Z' && git config core.autocrlf false");
    assert_eq!(trap.branch(), CheckoutOutcome::Done("Checked out feature".into()));
    assert_eq!(fs::read_to_string(trap.clone.join("a")).expect("it is there"), "TWO\n");
    assert_eq!(trap.branch(), CheckoutOutcome::Done("Checked out feature".into()), "the working tree is clean");
    assert_eq!(trap.ran(), Vec::<String>::new());
}

#[test]
fn variables_of_an_outer_git_lead_nowhere() {
    let trap = Trap::new();
    trap.sh("git clone -q project other && cd other && git config user.name B");
    let other = trap.path("other");
    let mut variables = trap.variables();
    let git_dir = other.join(".git").display().to_string();
    for (name, value) in [
        ("GIT_DIR", git_dir.clone()),
        ("GIT_WORK_TREE", other.display().to_string()),
        ("GIT_COMMON_DIR", git_dir.clone()),
        ("GIT_INDEX_FILE", format!("{git_dir}/index")),
        ("GIT_OBJECT_DIRECTORY", format!("{git_dir}/objects")),
        ("GIT_NAMESPACE", "x".into()),
        ("GIT_EXEC_PATH", trap.path("bin").display().to_string()),
        ("GIT_TEMPLATE_DIR", trap.path("hooks").display().to_string()),
        ("GIT_EXTERNAL_DIFF", trap.program("variable")),
        ("GIT_CONFIG_COUNT", "1".into()),
        ("GIT_CONFIG_KEY_0", "core.fsmonitor".into()),
        ("GIT_CONFIG_VALUE_0", trap.program("variable")),
        ("GIT_CONFIG_PARAMETERS", format!("'filter.evil.smudge'='{}'", trap.program("variable"))),
    ] {
        variables.push((name.into(), value.into()));
    }
    let before = trap.sh("cd other && git for-each-ref && cat .git/HEAD && git stash list");
    let order = trap.order(CheckoutSource::Branch("feature".into()));
    let outcome = run_in(&order, None, Environment::cleaned(variables));
    assert_eq!(outcome, CheckoutOutcome::Done("Checked out feature".into()));
    assert_eq!(trap.sh("cd other && git for-each-ref && cat .git/HEAD && git stash list"), before);
    assert_eq!(trap.sh("cd clone && git branch --show-current"), "feature");
    assert_eq!(trap.ran(), Vec::<String>::new());
}

#[test]
fn a_clone_that_leads_to_another_repository_is_refused_or_asked_about() {
    let trap = Trap::new();
    trap.sh("git clone -q project other && git -C other switch -q -c mine");
    let before = trap.sh("cd other && git for-each-ref && cat .git/HEAD");
    let reason = |outcome: CheckoutOutcome| match outcome {
        CheckoutOutcome::Untrusted { reasons, .. } => reasons.join("\n"),
        CheckoutOutcome::Failed(why) => why,
        other => panic!("{other:?}"),
    };
    let hostile = |name: &str| {
        trap.sh(&format!("cp -R clone {name}"));
        Checkout { folder: trap.path(name), ..trap.order(CheckoutSource::Branch("feature".into())) }
    };
    let order = hostile("gitfile");
    fs::remove_dir_all(order.folder.join(".git")).expect("removed");
    fs::write(order.folder.join(".git"), format!("gitdir: {}\n", trap.path("other/.git").display())).expect("written");
    assert!(reason(trap.run(&order)).contains("other/.git"));
    let order = hostile("common");
    fs::write(order.folder.join(".git/commondir"), trap.path("other/.git").display().to_string()).expect("written");
    assert!(reason(trap.run(&order)).contains("other/.git"));
    let order = hostile("worktree");
    trap.sh(&format!("cd worktree && git config core.worktree '{}'", trap.path("other").display()));
    assert!(reason(trap.run(&order)).contains("work"));
    let order = hostile("linked");
    let profile = trap.path("home/.profile");
    fs::write(&profile, "").expect("written");
    fs::remove_file(order.folder.join(".git/logs/HEAD")).expect("removed");
    symlink(&profile, order.folder.join(".git/logs/HEAD")).expect("linked");
    assert!(reason(trap.run(&order)).contains("logs/HEAD"));
    assert_eq!(fs::read_to_string(&profile).expect("it is there"), "");
    assert_eq!(trap.sh("cd other && git for-each-ref && cat .git/HEAD"), before);
    assert_eq!(trap.ran(), Vec::<String>::new());
}

#[test]
fn linked_worktrees_and_submodules_are_ordinary_clones() {
    let trap = Trap::new();
    trap.sh("cd clone && git -c core.hooksPath=/dev/null worktree add -q ../tree origin/main && cd .. \
         && git init -q outer && git -C outer -c protocol.file.allow=always submodule add -q \"$PWD/project\" inner");
    for folder in ["tree", "outer/inner"] {
        let order = Checkout { folder: trap.path(folder), ..trap.order(CheckoutSource::Branch("feature".into())) };
        assert_eq!(trap.run(&order), CheckoutOutcome::Done("Checked out feature".into()), "{folder}");
    }
    assert_eq!(trap.ran(), Vec::<String>::new());
}

#[test]
fn only_the_address_that_was_checked_is_fetched() {
    let trap = Trap::new();
    let good = trap.path("project").display().to_string();
    trap.sh("git init -q evil && cd evil && git commit -q --allow-empty -m evil && git branch feature");
    let evil = trap.path("evil").display().to_string();
    trap.sh(&format!(
        "cd clone && git config --replace-all remote.origin.url '{evil}' && git config --add remote.origin.url '{good}'"
    ));
    assert_eq!(trap.branch(), CheckoutOutcome::Done("Checked out feature".into()));
    assert_eq!(fs::read_to_string(trap.clone.join("a")).expect("it is there"), "two\n");
    trap.sh(&format!(
        "cd clone && git config 'remote.{good}.url' '{evil}' && git config remote.labscope-0.url '{evil}'"
    ));
    assert_eq!(trap.branch(), CheckoutOutcome::Done("Checked out feature".into()));
    trap.sh(&format!("cd clone && git config 'url.ext::sh -c {}.insteadOf' '{good}'", trap.program("ext")));
    let CheckoutOutcome::Failed(why) = trap.branch() else { panic!("another address is fetched") };
    assert!(why.contains("replaces the address"), "{why}");
    assert_eq!(trap.ran(), Vec::<String>::new());
}

#[test]
fn names_are_never_options() {
    let trap = Trap::new();
    let program = trap.program("option");
    for name in [format!("--upload-pack={program}"), "-f".to_owned(), "--exec=id".to_owned()] {
        let mut order = trap.order(CheckoutSource::Branch("feature".into()));
        order.remote.name = name.clone();
        trap.run(&order);
        let order = trap.order(CheckoutSource::Branch(name));
        assert!(matches!(trap.run(&order), CheckoutOutcome::Failed(why) if why.contains("invalid branch name")));
        let mut order = trap.order(CheckoutSource::Head);
        order.remote.url = format!("--upload-pack={program}");
        assert!(matches!(trap.run(&order), CheckoutOutcome::Failed(_)));
        order.remote.url = format!("ext::sh -c {program}");
        assert!(matches!(trap.run(&order), CheckoutOutcome::Failed(_)));
    }
    assert_eq!(trap.ran(), Vec::<String>::new());
}
