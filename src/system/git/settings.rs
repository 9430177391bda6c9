//! The settings of a clone, as git lists them: which of them count, and what git gets instead of the others.

use std::path::{Path, PathBuf};

/// The setting with the folder of the hooks.
pub const HOOKS: &str = "core.hooksPath";

/// The settings that git always gets. Hooks of the clone are not run, since a checkout is complete without them, and
/// nothing is done on the side.
const ALWAYS: [(&str, &str); 7] = [
    (HOOKS, "/dev/null"),
    ("core.fsmonitor", "false"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("submodule.recurse", "false"),
    ("fetch.recurseSubmodules", "false"),
    ("diff.ignoreSubmodules", "all"),
];

/// The settings of a clone that count if their value is a word or a number: sections, and the names in them. They run
/// nothing, and name no file, server or program. An asterisk stands for all names of a section.
const WORDS: &[(&str, &str)] = &[
    (
        "core",
        "abbrev autocrlf bare bigfilethreshold checkstat commitgraph compression createobject deltabasecachelimit eol \
         filemode filesreflocktimeout fscache fsync fsyncmethod hidedotfiles ignorecase logallrefupdates longpaths \
         loosecompression maxtreedepth multipackindex packedgitlimit packedgitwindowsize packedrefstimeout \
         precomposeunicode preloadindex quotepath repositoryformatversion safecrlf sharedrepository sparsecheckout \
         sparsecheckoutcone splitindex symlinks trustctime untrackedcache usereplacerefs warnambiguousrefs",
    ),
    ("branch", "autosetupmerge autosetuprebase rebase"),
    ("credential", "usehttppath"),
    ("diff", "algorithm context interhunkcontext renamelimit renames"),
    ("extensions", "*"),
    ("fetch", "parallel unpacklimit"),
    ("http", "lowspeedlimit lowspeedtime maxrequests minsessions noepsv postbuffer version"),
    ("i18n", "commitencoding logoutputencoding"),
    ("index", "*"),
    ("lfs", "access concurrenttransfers locksverify repositoryformatversion"),
    ("merge", "conflictstyle renamelimit renames"),
    ("pack", "*"),
    ("protocol", "version"),
    ("push", "default"),
    ("reftable", "*"),
    // Git reads these only from the configuration of the user.
    ("safe", "*"),
    ("sparse", "expectfilesoutsideofpatterns"),
    ("splitindex", "*"),
    ("transfer", "unpacklimit"),
    ("user", "useconfigonly"),
];

/// The settings of a clone that count with any value: names, branches, paths in the clone, and addresses, which are
/// checked before git connects to one.
const TEXTS: &[(&str, &str)] = &[
    ("author", "email name"),
    ("branch", "description merge pushremote remote"),
    ("committer", "email name"),
    ("core", "worktree"),
    ("credential", "username"),
    ("lfs", "fetchexclude fetchinclude"),
    ("remote", "fetch partialclonefilter promisor push pushdefault pushurl url"),
    ("safe", "*"),
    ("submodule", "url"),
    ("url", "insteadof pushinsteadof"),
    ("user", "email name signingkey"),
];

/// The settings that a checkout or a push may need, so that the user is asked. Most of them run programs, or send the
/// user's credentials through another server.
const ASKED: &[(&str, &str)] = &[
    ("core", "gitproxy sshcommand"),
    ("credential", "helper"),
    ("filter", "clean process smudge"),
    ("http", "curloptresolve extraheader pinnedpubkey proxy"),
    ("lfs", "pushurl standalonetransferagent storage url"),
    // An empty pattern does not remove another.
    ("promisor", "acceptfromserverurl"),
    ("remote", "lfspushurl lfsurl proxy receivepack uploadpack vcs"),
];

/// The values that git gets instead of those of a clone, where neither an empty text nor 0 turns a setting off.
const NEUTRAL: &[(&str, &str, &str)] = &[
    ("commit", "cleanup", "default"),
    ("core", "alternaterefscommand", ":"),
    ("core", "commentchar", "#"),
    ("core", "commentstring", "#"),
    ("core", "editor", ":"),
    ("core", "pager", "cat"),
    ("core", "protecthfs", "true"),
    ("core", "protectntfs", "true"),
    ("credential", "protectprotocol", "true"),
    ("credential", "sanitizeprompt", "true"),
    ("diff", "colormovedws", "no"),
    ("diff", "command", ":"),
    ("diff", "external", ":"),
    ("diff", "orderfile", "/dev/null"),
    ("diff", "textconv", ":"),
    ("fetch", "negotiationalgorithm", "default"),
    ("fetch", "output", "full"),
    ("gpg", "defaultkeycommand", "false"),
    ("gpg", "format", "openpgp"),
    ("gpg", "mintrustlevel", "undefined"),
    ("gpg", "program", "false"),
    ("grep", "patterntype", "default"),
    ("hook", "enabled", "true"),
    ("hook", "jobs", "1"),
    ("http", "delegation", "none"),
    ("http", "emptyauth", "auto"),
    ("http", "followredirects", "initial"),
    ("http", "proactiveauth", "none"),
    ("http", "proxyauthmethod", "anyauth"),
    ("http", "useragent", "git"),
    ("interactive", "difffilter", "cat"),
    ("log", "date", "default"),
    ("log", "diffmerges", "separate"),
    ("merge", "driver", "false"),
    ("promisor", "acceptfromserver", "none"),
    ("protocol", "allow", "user"),
    ("pull", "octopus", "octopus"),
    ("pull", "twohead", "recursive"),
    ("sequence", "editor", ":"),
    ("ssh", "variant", "auto"),
    ("status", "showuntrackedfiles", "normal"),
    ("trailer", "cmd", ":"),
    ("trailer", "command", ":"),
    ("transfer", "credentialsinurl", "allow"),
];

/// The settings with several values, which an empty one removes.
const LISTS: &[(&str, &str)] = &[("hook", "event"), ("push", "pushoption"), ("remote", "serveroption")];

/// The treatment of a setting in the clone's own configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    /// Git reads it.
    Harmless,
    /// Git gets the user's own value, or else this one.
    Instead(&'static str),
    /// The hook is not run, unless the user's own configuration has it.
    Hook,
    /// The user is asked.
    Ask,
    /// The user is asked if a branch can change the file.
    Include,
}

fn has(list: &[(&str, &str)], section: &str, name: &str) -> bool {
    let is_name = |known: &str| known == "*" || known == name;
    list.iter().any(|(known, names)| *known == section && names.split_whitespace().any(is_name))
}

/// Returns whether a value is a word or a number, so that it names neither a file nor a server nor a command.
fn is_word(value: &str) -> bool {
    value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.,+".contains(&byte))
}

/// Returns the rule for a setting, whose section and name are in lower case.
fn rule(section: &str, subsection: Option<&str>, name: &str, value: &str) -> Rule {
    let below = subsection.unwrap_or_default().to_ascii_lowercase();
    match (section, name) {
        ("include" | "includeif", "path") => Rule::Include,
        ("hook", "command") => Rule::Hook,
        ("protocol", "allow") if below == "ext" => Rule::Instead("never"),
        ("http", name) if ["ssl", "proxyssl", "schannel"].iter().any(|word| name.starts_with(word)) => Rule::Ask,
        ("lfs", _) if below.starts_with("customtransfer.") || below.starts_with("extension.") => Rule::Ask,
        _ if has(ASKED, section, name) => Rule::Ask,
        _ if has(TEXTS, section, name) || (has(WORDS, section, name) && is_word(value)) => Rule::Harmless,
        _ => {
            let neutral = NEUTRAL.iter().find(|(known, of, _)| *known == section && *of == name);
            let is_number = value.starts_with(|c: char| c.is_ascii_digit());
            // What takes a number refuses an empty text.
            let off = if is_number { "0" } else { "" };
            Rule::Instead(neutral.map_or(off, |(.., value)| value))
        }
    }
}

/// A setting, and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitSetting {
    /// Whether the clone contains it, rather than the configuration of the user or the system.
    is_of_clone: bool,
    /// The file that contains it, relative to the working tree; empty if there is none.
    file: String,
    /// The key, as git writes it: `section.Subsection.name`.
    key: String,
    value: String,
}

impl GitSetting {
    /// Parses the output of `git config --list -z --show-scope --show-origin`.
    pub fn parse_all(listed: &str) -> Vec<GitSetting> {
        let mut fields = listed.split('\0');
        let mut all = Vec::new();
        while let (Some(scope), Some(origin), Some(setting)) = (fields.next(), fields.next(), fields.next()) {
            let (key, value) = setting.split_once('\n').unwrap_or((setting, "true"));
            all.push(GitSetting {
                is_of_clone: !matches!(scope, "system" | "global" | "command"),
                file: origin.strip_prefix("file:").unwrap_or_default().to_owned(),
                key: key.to_owned(),
                value: value.to_owned(),
            });
        }
        all
    }

    /// Returns whether this is the setting with that key, whose section and name are in lower case.
    pub fn is(&self, key: &str) -> bool {
        self.key == key
    }

    pub fn value(&self) -> &str {
        &self.value
    }

    /// Returns whether the clone contains the setting.
    pub fn is_of_clone(&self) -> bool {
        self.is_of_clone
    }

    /// Returns the subsection: the name of a remote, of a filter.
    pub fn subsection(&self) -> Option<&str> {
        let (first, last) = (self.key.find('.')?, self.key.rfind('.')?);
        self.key.get(first + 1..last)
    }

    /// Returns the section and the name, in lower case.
    fn names(&self) -> (String, String) {
        let (first, last) = (self.key.split('.').next(), self.key.rsplit('.').next());
        let lower = |name: Option<&str>| name.unwrap_or_default().to_ascii_lowercase();
        (lower(first), lower(last))
    }

    /// Returns the remote that git may fetch missing objects from because of this setting.
    fn promisor(&self) -> Option<&str> {
        let (section, name) = self.names();
        match (section.as_str(), name.as_str()) {
            ("remote", "promisor" | "partialclonefilter") => self.subsection(),
            ("extensions", "partialclone") => Some(&self.value),
            _ => None,
        }
    }

    /// Returns whether the value turns off what the setting is for.
    fn is_harmless(&self) -> bool {
        match self.key.rsplit('.').next() {
            Some("sslverify") => matches!(self.value.to_ascii_lowercase().as_str(), "true" | "yes" | "on" | "1"),
            _ => self.value.is_empty() && !self.key.starts_with("http."),
        }
    }

    /// Returns the file that an `include.path` names.
    fn included(&self, folder: &Path) -> PathBuf {
        let path = match self.value.strip_prefix("~/") {
            Some(below) => dirs::home_dir().unwrap_or_default().join(below),
            None => PathBuf::from(&self.value),
        };
        folder.join(&self.file).parent().unwrap_or(folder).join(path)
    }
}

/// Returns whether git reads a setting of a clone, whose section and name are in lower case.
pub fn counts(key: &str, value: &str) -> bool {
    let setting = GitSetting { is_of_clone: true, file: String::new(), key: key.to_owned(), value: value.to_owned() };
    let (section, name) = setting.names();
    rule(&section, setting.subsection(), &name, value) == Rule::Harmless
}

/// The configuration of a clone after all rules were applied.
pub struct Reviewed {
    pub settings: Vec<GitSetting>,
    /// The settings to pass to git.
    pub overrides: Vec<(String, String)>,
    /// Whether the configuration names an SSH command.
    pub sets_ssh_command: bool,
    /// The remotes that git fetches missing objects from when a command needs them.
    pub promisors: Vec<String>,
    /// The settings that the user must allow.
    pub reasons: Vec<String>,
}

/// Applies the rules to the configuration of the clone at `folder`.
pub fn review(settings: Vec<GitSetting>, folder: &Path, git_dir: &Path) -> Reviewed {
    let owned = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    let mut overrides: Vec<(String, String)> = ALWAYS.map(|(key, value)| owned(key, value)).into();
    let mut reasons = Vec::new();
    let mut disabled_hooks = Vec::new();
    // The value that the user's own configuration gives.
    let users =
        |key: &str| settings.iter().rfind(|setting| !setting.is_of_clone && setting.is(key)).map(GitSetting::value);
    if users("protocol.ext.allow").is_none() {
        overrides.push(owned("protocol.ext.allow", "never"));
    }
    let sets_ssh_command = settings.iter().any(|setting| setting.key == "core.sshcommand");
    let of_clone = || settings.iter().filter(|setting| setting.is_of_clone);
    for setting in of_clone().filter(|setting| !ALWAYS.iter().any(|(key, _)| setting.key.eq_ignore_ascii_case(key))) {
        let (section, name) = setting.names();
        let mut rule = rule(&section, setting.subsection(), &name, &setting.value);
        // The key ends at the first equals sign of an option.
        if setting.key.contains('=') && matches!(rule, Rule::Instead(_) | Rule::Hook) {
            rule = Rule::Ask;
        }
        let is_asked = match rule {
            Rule::Harmless => false,
            Rule::Instead(_) if has(LISTS, &section, &name) => {
                overrides.push(owned(&setting.key, ""));
                let own = settings.iter().filter(|own| !own.is_of_clone && own.key == setting.key);
                overrides.extend(own.map(|own| owned(&own.key, &own.value)));
                false
            }
            Rule::Instead(neutral) => {
                // A value for one address hides the one for all.
                let for_all = || users(&format!("{section}.{name}")).filter(|_| section == "http");
                overrides.push(owned(&setting.key, users(&setting.key).or_else(for_all).unwrap_or(neutral)));
                false
            }
            Rule::Hook => {
                match users(&setting.key) {
                    Some(own) => overrides.push(owned(&setting.key, own)),
                    None => {
                        let name = setting.subsection().unwrap_or_default();
                        disabled_hooks.push(owned(&format!("hook.{name}.enabled"), "false"));
                    }
                }
                false
            }
            Rule::Ask => users(&setting.key) != Some(setting.value()) && !setting.is_harmless(),
            Rule::Include => match setting.included(folder).canonicalize() {
                Ok(file) => file.starts_with(folder) && !file.starts_with(git_dir),
                Err(_) => true,
            },
        };
        if is_asked {
            reasons.push(format!("{} = {}", setting.key, setting.value));
        }
    }
    overrides.extend(disabled_hooks);
    let mut promisors: Vec<String> = of_clone().filter_map(GitSetting::promisor).map(str::to_owned).collect();
    promisors.sort();
    promisors.dedup();
    Reviewed { settings, overrides, sets_ssh_command, promisors, reasons }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reviewed(settings: &[(&str, &str, &str)]) -> Reviewed {
        let listed: String =
            settings.iter().map(|(scope, key, value)| format!("{scope}\0file:.git/config\0{key}\n{value}\0")).collect();
        review(GitSetting::parse_all(&listed), Path::new("/clone"), Path::new("/clone/.git"))
    }

    fn given<'a>(reviewed: &'a Reviewed, key: &str) -> Option<&'a str> {
        reviewed.overrides.iter().rfind(|(known, _)| known == key).map(|(_, value)| value.as_str())
    }

    #[test]
    fn the_users_own_values_replace_those_of_the_clone() {
        let both = reviewed(&[
            ("system", "gpg.program", "old"),
            ("global", "gpg.program", "gpg2"),
            ("local", "gpg.program", "evil"),
            ("worktree", "core.editor", "evil"),
            ("local", "hook.evil.command", "evil"),
            ("local", "protocol.ext.allow", "always"),
        ]);
        assert_eq!(given(&both, "gpg.program"), Some("gpg2"));
        assert_eq!(given(&both, "core.editor"), Some(":"));
        assert_eq!(given(&both, "hook.evil.enabled"), Some("false"));
        assert_eq!(given(&both, "protocol.ext.allow"), Some("never"));
        assert_eq!(both.reasons, Vec::<String>::new());
        let own = reviewed(&[("global", "protocol.ext.allow", "user"), ("global", "core.sshcommand", "ssh -v")]);
        assert_eq!((given(&own, "protocol.ext.allow"), own.sets_ssh_command), (None, true));
    }

    #[test]
    fn only_harmless_settings_of_a_clone_count() {
        let settings = [
            ("local", "core.filemode", "false"),
            ("local", "core.bigfilethreshold", "10m"),
            ("local", "remote.origin.url", "https://git.example.com/a/b.git"),
            ("local", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*"),
            ("local", "branch.main.merge", "refs/heads/main"),
            ("local", "user.name", "A B"),
            ("local", "url.git@h:.pushinsteadof", "https://h/"),
            ("local", "submodule.Sub.url", "../sub"),
        ];
        let read = reviewed(&settings);
        assert!(settings.iter().all(|(_, key, _)| given(&read, key).is_none()), "{:?}", read.overrides);
        let left_out = reviewed(&[
            // A number or a word is expected, and something else may be a file or a server.
            ("local", "core.commitgraph", "/dev/tcp"),
            ("local", "http.version", "https://evil.example.com"),
            ("local", "http.savecookies", "true"),
            ("local", "http.https://git.example.com/.cookiefile", "../cookies"),
            ("local", "fetch.bundleuri", "https://evil.example.com"),
            ("local", "push.followtags", "1"),
            ("local", "transfer.fsckobjects", "false"),
            ("local", "branch.main.mergeoptions", "-s evil"),
            // A setting of a later git, with a text and with a number.
            ("local", "fetch.Of.later", "https://evil.example.com"),
            ("local", "later.seconds", "30"),
            ("global", "transfer.fsckobjects", "true"),
            ("global", "http.cookiefile", "~/.cookies"),
        ]);
        for (key, value) in [
            ("core.commitgraph", ""),
            ("http.version", ""),
            ("http.savecookies", ""),
            ("http.https://git.example.com/.cookiefile", "~/.cookies"),
            ("fetch.bundleuri", ""),
            ("push.followtags", "0"),
            ("transfer.fsckobjects", "true"),
            ("branch.main.mergeoptions", ""),
            ("fetch.Of.later", ""),
            ("later.seconds", "0"),
        ] {
            assert_eq!(given(&left_out, key), Some(value), "{key}");
        }
        assert_eq!(left_out.reasons, Vec::<String>::new());
    }

    #[test]
    fn what_labscope_always_sets_stays_and_lists_are_those_of_the_user() {
        let read = reviewed(&[
            ("local", "gc.auto", "1"),
            ("global", "gc.auto", "6700"),
            ("local", "CORE.fsmonitor", "evil"),
            ("global", "push.pushoption", "ci.skip"),
            ("global", "push.pushoption", "b"),
            ("local", "push.pushoption", "merge_request.merge_when_pipeline_succeeds"),
            // Git 2.54 and later: hooks in the configuration.
            ("global", "hook.lint.command", "lint"),
            ("global", "hook.lint.event", "pre-push"),
            ("local", "hook.lint.command", "evil"),
            ("local", "hook.lint.event", "post-checkout"),
            ("local", "hook.lint.enabled", "false"),
            ("local", "hook.evil.command", "evil"),
            ("local", "hook.evil.event", "pre-push"),
            ("local", "hook.evil.enabled", "true"),
        ]);
        assert_eq!((given(&read, "gc.auto"), given(&read, "core.fsmonitor")), (Some("0"), Some("false")));
        let of = |key: &str| -> Vec<&str> {
            read.overrides.iter().filter(|(known, _)| known == key).map(|(_, value)| value.as_str()).collect()
        };
        assert_eq!(of("push.pushoption"), ["", "ci.skip", "b"]);
        assert_eq!((of("hook.lint.event"), of("hook.lint.command")), (vec!["", "pre-push"], vec!["lint"]));
        assert_eq!(
            (given(&read, "hook.lint.enabled"), given(&read, "hook.evil.enabled")),
            (Some("true"), Some("false"))
        );
        assert_eq!(of("hook.evil.event"), [""]);
    }

    #[test]
    fn only_what_the_clone_adds_is_asked_about() {
        let same = [
            ("global", "filter.lfs.smudge", "git-lfs smudge -- %f"),
            ("local", "filter.lfs.smudge", "git-lfs smudge -- %f"),
        ];
        assert_eq!(reviewed(&same).reasons, Vec::<String>::new());
        let harmless = [
            ("local", "http.sslverify", "true"),
            ("local", "credential.helper", ""),
            ("local", "remote.origin.url", "https://git.example.com/a/b.git"),
            ("local", "branch.main.remote", "origin"),
            ("local", "lfs.repositoryformatversion", "0"),
            ("local", "user.name", "A"),
            ("global", "credential.helper", "!evil"),
            ("global", "include.path", "other"),
        ];
        assert_eq!(reviewed(&harmless).reasons, Vec::<String>::new());
        let asked = reviewed(&[("local", "FILTER.Evil.Smudge", "x"), ("submodule", "http.sslverify", "false")]);
        assert_eq!(asked.reasons, ["FILTER.Evil.Smudge = x", "http.sslverify = false"]);
    }
}
