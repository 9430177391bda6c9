//! Every setting that git documents, in a clone that a stranger prepared: a checkout and a push must run nothing, write
//! nothing elsewhere and reach nobody else.

use super::hostile::Trap;
use crate::app::clone::{Checkout, CheckoutOutcome, CheckoutSource, CloneRemote, Push};
use crate::runtime::branch::push::prepare;
use crate::sample::Sample;
use crate::system::git::{Environment, Error, counts};
use std::collections::HashSet;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread;

/// Settings that `git help --config` of git 2.55 lists and older versions do not.
const LATER: &str = "alias.x.command core.configLockTimeout core.lockfilePid fetch.followRemoteHEAD \
    format.commitListFormat hook.evil.command hook.evil.enabled hook.evil.event hook.evil.jobs hook.evil.parallel \
    hook.jobs hook.pre-push.enabled http.keepAliveCount http.keepAliveIdle http.keepAliveInterval http.maxRetries \
    http.maxRetryTime http.retryAfter http.sslCertType http.sslKeyType init.templateDir log.graphIndent \
    pack.usePathWalk promisor.acceptFromServer promisor.acceptFromServerUrl promisor.advertise \
    promisor.checkFields promisor.sendFields promisor.storeFields pull.autoStash remote.origin.followRemoteHEAD \
    remote.origin.negotiationInclude remote.origin.negotiationRestrict remote.origin.serverOption replay.refAction \
    sideband.allowControlCharacters stash.index status.compareBranches submodule.sub.gitdir trailer.x.cmd \
    trailer.x.command worktree.useRelativePaths";

/// Settings of the format of a repository: git refuses a clone with other values.
const FORMAT: [&str; 4] = ["core.bare", "core.worktree", "core.repositoryformatversion", "extensions."];

/// Values that do harm, for settings that do none with a random one. `FILE` is a file of the user, `PROGRAM` a program
/// that leaves a trace, and `URL` another server.
const HARMFUL: &[(&str, &str)] = &[
    ("commit.gpgsign", "true"),
    ("core.fsmonitor", "PROGRAM"),
    ("diff.orderfile", "FILE"),
    ("fetch.bundleuri", "URL"),
    ("filter.evil.required", "true"),
    ("gpg.program", "PROGRAM"),
    ("http.cookiefile", "FILE"),
    ("http.savecookies", "true"),
    ("log.showsignature", "true"),
    ("maintenance.auto", "true"),
    ("merge.verifysignatures", "true"),
    ("push.followtags", "true"),
    ("push.gpgsign", "true"),
    ("push.pushoption", "merge_request.create"),
    ("transfer.bundleuri", "true"),
];

/// Values that git accepts for settings that take certain words.
const VALID: &[(&str, &str)] = &[
    ("branch.autosetuprebase", "never"),
    ("branch.feature.rebase", "merges"),
    ("column.status", "never"),
    ("column.ui", "never"),
    ("commit.cleanup", "strip"),
    ("core.abbrev", "12"),
    ("core.autocrlf", "input"),
    ("core.checkstat", "minimal"),
    ("core.createobject", "rename"),
    ("core.eol", "lf"),
    ("core.fsync", "all"),
    ("core.fsyncmethod", "fsync"),
    ("core.maxtreedepth", "100"),
    ("core.sharedrepository", "group"),
    ("core.sparsecheckout", "false"),
    ("core.splitindex", "false"),
    ("diff.algorithm", "histogram"),
    ("diff.colormovedws", "ignore-space-change"),
    ("diff.ignoresubmodules", "none"),
    ("diff.wserrorhighlight", "none"),
    ("fetch.negotiationalgorithm", "noop"),
    ("fetch.output", "compact"),
    ("format.pretty", "oneline"),
    ("gpg.format", "ssh"),
    ("gpg.mintrustlevel", "fully"),
    ("grep.patterntype", "fixed"),
    ("http.version", "HTTP-1"),
    ("i18n.commitencoding", "UTF-8"),
    ("i18n.logoutputencoding", "UTF-8"),
    ("index.version", "4"),
    ("log.date", "iso"),
    ("log.diffmerges", "first-parent"),
    ("merge.conflictstyle", "diff3"),
    ("pack.allowpackreuse", "single"),
    ("pack.indexversion", "2"),
    ("pack.packsizelimit", "2m"),
    ("protocol.allow", "never"),
    ("protocol.version", "2"),
    ("push.default", "matching"),
    ("push.recursesubmodules", "check"),
    ("remote.origin.mirror", "true"),
    ("splitindex.sharedindexexpire", "now"),
    ("status.showuntrackedfiles", "all"),
    ("transfer.credentialsinurl", "die"),
];

/// Settings that git reads as a number or a switch: it refuses a clone with other values.
const TYPED: &str = "branch.autosetupmerge checkout.guess checkout.thresholdforparallelism checkout.workers commit.gpgsign \
    commitgraph.changedpathsversion commitgraph.generationversion commitgraph.readchangedpaths \
    core.bigfilethreshold core.commitgraph core.compression core.configlocktimeout core.deltabasecachelimit \
    core.filemode core.filesreflocktimeout core.fsyncobjectfiles core.ignorecase core.ignorestat \
    core.lockfilepid core.logallrefupdates core.loosecompression core.multipackindex core.packedgitlimit \
    core.packedgitwindowsize core.packedrefstimeout core.precomposeunicode core.prefersymlinkrefs \
    core.preloadindex core.protecthfs core.protectntfs core.quotepath core.safecrlf core.sparsecheckoutcone \
    core.symlinks core.trustctime core.usereplacerefs core.warnambiguousrefs diff.autorefreshindex \
    diff.colormoved diff.context diff.evil.binary diff.evil.cachetextconv diff.evil.trustexitcode \
    diff.indentheuristic diff.interhunkcontext diff.mnemonicprefix diff.noprefix diff.relative diff.renamelimit \
    diff.renames diff.statgraphwidth diff.statnamewidth diff.suppressblankempty diff.trustexitcode \
    feature.experimental feature.manyfiles fetch.all fetch.parallel fetch.prune fetch.prunetags \
    fetch.recursesubmodules fetch.showforcedupdates fetch.writecommitgraph format.encodeemailheaders \
    format.filenamemaxlength gc.autodetach gc.writecommitgraph grep.column grep.extendedregexp grep.fullname \
    grep.linenumber hook.evil.enabled hook.evil.jobs hook.evil.parallel hook.jobs hook.pre-push.enabled \
    http.keepalivecount http.keepaliveidle http.keepaliveinterval http.lowspeedlimit http.lowspeedtime \
    http.maxrequests http.maxretries http.maxretrytime http.minsessions http.noepsv http.postbuffer \
    http.retryafter http.schannelcheckrevoke http.schannelusesslcainfo http.ssltry index.recordendofindexentries \
    index.skiphash index.sparse index.threads log.abbrevcommit \
    log.follow log.graphindent log.mailmap log.showroot log.showsignature maintenance.auto \
    maintenance.autodetach merge.autostash merge.branchdesc merge.defaulttoupstream merge.log merge.stat \
    merge.verifysignatures pack.compression pack.readreverseindex pack.usebitmapboundarytraversal \
    pack.usepathwalk pack.usesparse promisor.advertise pull.autostash push.autosetupremote push.followtags \
    push.negotiate push.usebitmaps push.useforceifincludes remote.origin.prune remote.origin.prunetags \
    remote.origin.skipdefaultupdate remote.origin.skipfetchall sideband.allowcontrolcharacters \
    sparse.expectfilesoutsideofpatterns stash.index stash.showincludeuntracked stash.showpatch stash.showstat \
    status.aheadbehind status.branch status.displaycommentprefix status.relativepaths status.renamelimit \
    status.renames status.short status.showstash status.submodulesummary submodule.fetchjobs submodule.recurse \
    transfer.advertisesid user.useconfigonly worktree.userelativepaths";

/// The maximum number of settings whose values a version of git may refuse.
const MAX_REFUSED: usize = 10;

/// Lists the documented settings, each with a subsection that the clone has.
fn documented(trap: &Trap, server: &str) -> Vec<String> {
    let listed = trap.sh("git help --config");
    let mut all: Vec<String> = Vec::new();
    for name in listed.lines().chain(LATER.split_whitespace()).map(str::trim).filter(|name| name.contains('.')) {
        let (section, _) = name.split_once('.').expect("it has a dot");
        let below = match section {
            "branch" => "feature",
            "remote" => "origin",
            "submodule" => "sub",
            "pager" => "status",
            "gpg" => "ssh",
            "protocol" => "ext",
            "includeIf" => "gitdir:/**",
            _ => "evil",
        };
        let (start, end) = (name.find('<'), name.rfind('>'));
        match (section, start.zip(end)) {
            // Addresses have tests of their own.
            ("url" | "include" | "includeIf", _) => {}
            ("http" | "credential", Some(_)) => {}
            (_, Some((start, end))) => all.push(format!("{}{below}{}", &name[..start], &name[end + 1..])),
            _ => all.push(name.to_owned()),
        }
        // These can be limited to an address.
        if ["http", "credential"].contains(&section) && start.is_none() {
            all.push(format!("{section}.{server}.{}", &name[section.len() + 1..]));
        }
    }
    // Names with an underscore cannot be set.
    all.retain(|name| !name.ends_with(['.', '*']) && !name.contains('_'));
    // Git writes the section and the name in lower case.
    for name in &mut all {
        let (first, last) = (name.find('.').unwrap_or(0), name.rfind('.').unwrap_or(0));
        *name = format!("{}{}{}", name[..first].to_lowercase(), &name[first..last], name[last..].to_lowercase());
    }
    all.sort();
    all.dedup();
    all.retain(|name| {
        !FORMAT.iter().any(|format| name == format || (format.ends_with('.') && name.starts_with(format)))
    });
    all
}

/// A server that answers with the files of a folder, asks to keep a cookie, and writes down what was requested.
struct Server {
    url: String,
    requested: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn new(folder: PathBuf) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let requested = Arc::new(Mutex::new(Vec::new()));
        let log = requested.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                _ = answer(stream, &folder, &log);
            }
        });
        Server { url, requested }
    }
}

fn answer(mut stream: TcpStream, folder: &std::path::Path, log: &Mutex<Vec<String>>) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let first = lines.next().transpose()?.unwrap_or_default();
    while lines.next().transpose()?.is_some_and(|line| !line.is_empty()) {}
    let path = first.split_whitespace().nth(1).unwrap_or_default().split('?').next().unwrap_or_default().to_owned();
    log.lock().expect("no panic").push(path.clone());
    let body = fs::read(folder.join(path.trim_start_matches('/'))).ok().filter(|_| !path.contains(".."));
    let status = if body.is_some() { "200 OK" } else { "404 Not Found" };
    let body = body.unwrap_or_default();
    let head = format!("Set-Cookie: stolen=1; Max-Age=9999\r\nContent-Length: {}\r\nConnection: close", body.len());
    stream.write_all(format!("HTTP/1.1 {status}\r\n{head}\r\n\r\n").as_bytes())?;
    stream.write_all(&body)
}

struct Machine {
    trap: Trap,
    server: Server,
    /// The configuration without anything planted.
    plain: String,
}

impl Machine {
    fn new() -> Machine {
        let trap = Trap::new();
        let server = Server::new(trap.path(""));
        let ssh = format!(
            "#!/bin/sh\nfor word; do host=$last; last=$word; done\necho \"$host\" >> {}\nexec sh -c \"$last\"\n",
            trap.path("reached").display()
        );
        fs::write(trap.path("ssh"), ssh).expect("written");
        fs::set_permissions(trap.path("ssh"), fs::Permissions::from_mode(0o755)).expect("set");
        fs::write(trap.path("mine"), "mine").expect("written");
        let log = trap.path("options").display().to_string();
        trap.sh(&format!(
            "cd clone && rm -rf .git/hooks sub .git/info/attributes && git reset -q --hard origin/main && git switch -qc topic \
             && git commit -q --allow-empty -m topic && git tag -a -m tag v1 && git switch -q main \
             && git remote set-url origin git@git.example.com:{}/project && cp -R . ../kept \
             && cd ../project && git config receive.advertisePushOptions true && git update-server-info \
             && printf '#!/bin/sh\\necho $GIT_PUSH_OPTION_0 > {log}\\n' > .git/hooks/pre-receive && chmod +x .git/hooks/pre-receive",
            trap.path("").display()
        ));
        let plain = fs::read_to_string(trap.path("kept/.git/config")).expect("it is there");
        Machine { trap, server, plain }
    }

    fn environment(&self) -> Environment {
        let mut variables = self.trap.variables();
        variables.push(("GIT_SSH_COMMAND".into(), self.trap.path("ssh").into()));
        Environment::cleaned(variables)
    }

    /// Returns a value for a setting: one that git accepts, and that does as much harm as possible.
    fn value(&self, key: &str, round: usize) -> String {
        let mut hasher = DefaultHasher::new();
        (key, round).hash(&mut hasher);
        // A setting for one address does what it does for all.
        let parts = (key.split('.').next().unwrap_or_default(), key.rsplit('.').next().unwrap_or_default());
        let known = |(name, _): &&(&str, &str)| *name == key || *name == format!("{}.{}", parts.0, parts.1);
        let is_typed = ["advice", "color", "index", "pack"].contains(&parts.0)
            || TYPED.split_whitespace().any(|typed| typed == key || typed == format!("{}.{}", parts.0, parts.1));
        let random = ["1", "true", "PROGRAM", "FILE", "URL"];
        let random = random[hasher.finish() as usize % if is_typed { 1 } else { random.len() }];
        let kind = HARMFUL.iter().chain(VALID).find(known).map_or(random, |(_, value)| *value);
        let value = match kind {
            "PROGRAM" => self.trap.program(key),
            "FILE" => self.trap.path("mine").display().to_string(),
            "URL" => format!("{}/evil", self.server.url),
            other => other.to_owned(),
        };
        // Numbers take no other word.
        if counts(key, &value) && kind == random { "1".to_owned() } else { value }
    }

    /// Puts settings in the clone, and checks out and pushes branches of it.
    fn run(&self, settings: &[(String, String)]) -> (CheckoutOutcome, Result<(), Error>) {
        self.trap.sh("rm -rf clone && cp -R kept clone && cd project && git branch -q -D topic 2> /dev/null; true");
        let escaped = |value: &str| value.replace('\\', "\\\\").replace('"', "\\\"");
        let planted = settings.iter().map(|(key, value)| {
            let (section, name) =
                (key.split('.').next().unwrap_or_default(), key.rsplit('.').next().unwrap_or_default());
            let below = key.get(section.len() + 1..key.len() - name.len() - 1).filter(|below| !below.is_empty());
            let below = below.map(|below| format!(" \"{}\"", escaped(below))).unwrap_or_default();
            format!("[{section}{below}]\n\t{name} = \"{}\"\n", escaped(value))
        });
        let text = self.plain.clone() + &planted.collect::<String>();
        fs::write(self.trap.clone.join(".git/config"), text).expect("written");
        let remote = CloneRemote {
            name: "origin".into(),
            url: format!("{}/project/.git", self.server.url),
            project: "acme/project".into(),
            pushed_to: None,
        };
        let source = CheckoutSource::Branch("feature".into());
        let checkout = Checkout::new(self.trap.clone.clone(), remote, 7, source, Vec::new());
        let outcome = super::run_in(&checkout, None, self.environment());
        let push = Push {
            folder: self.trap.clone.clone(),
            remote: "origin".into(),
            url: format!("git@git.example.com:{}", self.trap.path("project").display()),
            branch: "topic".into(),
            remote_branch: "topic".into(),
            trusted: None,
        };
        let pushed = prepare(&push, None, self.environment()).and_then(|mut command| {
            let output = command.output()?;
            let why = String::from_utf8_lossy(&output.stderr).into_owned();
            if output.status.success() { Ok(()) } else { Err(Error::Failed(why)) }
        });
        (outcome, pushed)
    }

    /// Runs with those settings whose values git itself accepts. Other versions of git refuse others.
    fn run_accepted(&self, mut settings: Vec<(String, String)>) -> (CheckoutOutcome, Result<(), Error>) {
        for _ in 0..MAX_REFUSED {
            let (outcome, pushed) = self.run(&settings);
            let why = match (&outcome, &pushed) {
                (CheckoutOutcome::Failed(why), _) | (_, Err(Error::Failed(why))) => why.to_lowercase(),
                _ => return (outcome, pushed),
            };
            let before = settings.len();
            // Git may name a setting for one address without the address.
            let is_named = |key: &str| {
                let ends = (key.split('.').next().unwrap_or_default(), key.rsplit('.').next().unwrap_or_default());
                [key.to_owned(), format!("{}.{}", ends.0, ends.1)]
                    .iter()
                    .any(|name| why.contains(&format!("'{}'", name.to_lowercase())))
            };
            settings.retain(|(key, value)| !(is_named(key) && why.contains(&value.to_lowercase())));
            if settings.len() == before {
                return (outcome, pushed);
            }
        }
        self.run(&settings)
    }

    /// Describes what a run did that it must not do.
    fn harm(&self) -> Vec<String> {
        let mut harm = self.trap.ran();
        let reached = fs::read_to_string(self.trap.path("reached")).unwrap_or_default();
        harm.extend(
            reached.lines().filter(|host| *host != "git@git.example.com").map(|host| format!("reached {host}")),
        );
        let requested = std::mem::take(&mut *self.server.requested.lock().expect("no panic"));
        harm.extend(
            requested.into_iter().filter(|path| !path.starts_with("/project/")).map(|path| format!("requested {path}")),
        );
        let options = fs::read_to_string(self.trap.path("options")).unwrap_or_default();
        if !options.trim().is_empty() {
            harm.push(format!("sent the option {options}"));
        }
        if fs::read_to_string(self.trap.path("mine")).expect("it is there") != "mine" {
            fs::write(self.trap.path("mine"), "mine").expect("written");
            harm.push("overwrote a file".to_owned());
        }
        let known = ["bin", "clone", "home", "hooks", "kept", "mine", "options", "project", "ran", "reached", "ssh"];
        for folder in [self.trap.path(""), self.trap.clone.clone(), self.trap.path("home")] {
            let names = fs::read_dir(folder).expect("it is there").flatten().map(|entry| entry.file_name());
            let names: HashSet<String> = names.map(|name| name.to_string_lossy().into_owned()).collect();
            harm.extend(
                names
                    .into_iter()
                    .filter(|name| !known.contains(&name.as_str()) && !["a", ".git"].contains(&name.as_str())),
            );
        }
        if !self.trap.sh("cd project && git tag").is_empty() {
            harm.push("pushed a tag".to_owned());
        }
        harm
    }
}

#[test]
fn no_documented_setting_of_a_clone_does_harm() {
    let machine = Machine::new();
    let keys = documented(&machine.trap, &machine.server.url);
    assert!(keys.len() > 700, "{}", keys.len());
    let is_text = |key: &String| counts(key, "../evil program");
    for round in Sample::one_in(7).of(0..21) {
        let all: Vec<_> =
            keys.iter().filter(|key| !is_text(key)).map(|key| (key.clone(), machine.value(key, round))).collect();
        // All that must be allowed are named in one question, and nothing happens.
        let (outcome, pushed) = machine.run(&all);
        let CheckoutOutcome::Untrusted { reasons, .. } = outcome else { panic!("{outcome:?}") };
        assert!(matches!(pushed, Err(Error::Untrusted(_))), "{pushed:?}");
        assert_eq!(machine.harm(), Vec::<String>::new());
        let is_asked = |key: &str| reasons.iter().any(|reason| reason.split(" = ").next() == Some(key));
        let rest: Vec<_> = all.iter().filter(|(key, _)| !is_asked(key)).cloned().collect();
        assert!(rest.len() * 10 > all.len() * 9, "only few are asked about: {reasons:?}");
        // Git can do without all others.
        let (outcome, pushed) = machine.run_accepted(rest);
        assert_eq!(outcome, CheckoutOutcome::Done("Checked out feature".into()));
        assert_eq!(fs::read_to_string(machine.trap.clone.join("a")).expect("it is there"), "two\n");
        assert!(pushed.is_ok(), "{pushed:?}");
        assert_eq!(machine.harm(), Vec::<String>::new());
    }
    // Texts can make git fail, so each has a clone of its own.
    let mine = machine.trap.path("mine").display().to_string();
    let values = |key: &String| [machine.trap.program(key), mine.clone(), format!("{}/evil", machine.server.url)];
    let texts = keys.iter().filter(|key| is_text(key)).flat_map(|key| values(key).map(|value| (key.clone(), value)));
    for (key, value) in Sample::one_in(3).of(texts) {
        let outcomes = machine.run(&[(key.clone(), value.clone())]);
        assert_eq!(machine.harm(), Vec::<String>::new(), "{key} = {value}: {outcomes:?}");
    }
}

#[test]
fn git_alone_does_the_harm_that_is_planted() {
    let machine = Machine::new();
    let settings = ["http.savecookies", "http.cookiefile", "fetch.bundleuri", "push.pushoption", "push.followtags"];
    let settings: Vec<_> = settings.map(|key| (key.to_owned(), machine.value(key, 0))).into();
    _ = machine.run(&settings);
    assert_eq!(machine.harm(), Vec::<String>::new());
    machine.trap.sh(&format!(
        "cd clone && export GIT_SSH_COMMAND={} && git fetch -q {}/project/.git feature 2> /dev/null; git push -q origin topic:other",
        machine.trap.path("ssh").display(),
        machine.server.url
    ));
    let harm = machine.harm();
    for expected in ["requested /evil", "sent the option merge_request.create\n", "overwrote a file", "pushed a tag"] {
        assert!(harm.iter().any(|found| found == expected), "{expected} in {harm:?}");
    }
}
