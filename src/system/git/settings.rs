//! The settings of a clone, as git lists them: which of them run programs, and what git gets instead.

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

/// The treatment of a setting in the clone's own configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    /// Git gets the user's own value, or else this one.
    Instead(&'static str),
    /// The hook of this name is not run.
    NoHook,
    /// The user is asked.
    Ask,
    /// The user is asked if a branch can change the file.
    Include,
}

/// Returns the rule for a setting. Keys that no command of labscope reads have none.
fn rule(section: &str, subsection: Option<&str>, name: &str) -> Option<Rule> {
    let below = subsection.unwrap_or_default().to_ascii_lowercase();
    Some(match (section, name) {
        ("core", "fsmonitor" | "hookspath") => return None,
        ("core", "alternaterefscommand" | "editor") | ("sequence", "editor") => Rule::Instead(":"),
        ("core", "pager") | ("interactive", "difffilter") => Rule::Instead("cat"),
        ("core", "askpass") => Rule::Instead(""),
        ("core", "protecthfs" | "protectntfs") | ("credential", "protectprotocol" | "sanitizeprompt") => {
            Rule::Instead("true")
        }
        ("pager", _) => Rule::Instead("false"),
        ("diff", "external" | "command" | "textconv") | ("trailer", "command" | "cmd") => Rule::Instead(":"),
        ("merge", "driver") | ("gpg", "program" | "defaultkeycommand") => Rule::Instead("false"),
        ("protocol", "allow") => Rule::Instead(if below == "ext" { "never" } else { "user" }),
        ("hook", _) if subsection.is_some() => Rule::NoHook,
        ("core", "sshcommand" | "gitproxy")
        | ("credential", "helper")
        | ("filter", "clean" | "smudge" | "process")
        | ("remote", "uploadpack" | "receivepack" | "vcs" | "proxy")
        | ("lfs", "standalonetransferagent") => Rule::Ask,
        // These send the user's credentials through another server.
        ("http", "proxy" | "curloptresolve" | "pinnedpubkey") => Rule::Ask,
        ("http", name) if ["ssl", "proxyssl", "schannel"].iter().any(|word| name.starts_with(word)) => Rule::Ask,
        ("lfs", _) if below.starts_with("customtransfer.") || below.starts_with("extension.") => Rule::Ask,
        ("include" | "includeif", "path") => Rule::Include,
        _ => return None,
    })
}

/// A setting, and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Whether the clone contains it, rather than the configuration of the user or the system.
    is_of_clone: bool,
    /// The file that contains it, relative to the working tree; empty if there is none.
    file: String,
    /// The key, as git writes it: `section.Subsection.name`.
    key: String,
    value: String,
}

impl Entry {
    /// Parses the output of `git config --list -z --show-scope --show-origin`.
    pub fn parse_all(listed: &str) -> Vec<Entry> {
        let mut fields = listed.split('\0');
        let mut all = Vec::new();
        while let (Some(scope), Some(origin), Some(setting)) = (fields.next(), fields.next(), fields.next()) {
            let (key, value) = setting.split_once('\n').unwrap_or((setting, "true"));
            all.push(Entry {
                is_of_clone: !matches!(scope, "system" | "global" | "command"),
                file: origin.strip_prefix("file:").unwrap_or_default().to_owned(),
                key: key.to_owned(),
                value: value.to_owned(),
            });
        }
        all
    }

    /// Returns whether this is the setting with that key, which is in lower case.
    pub fn is(&self, key: &str) -> bool {
        self.key.eq_ignore_ascii_case(key)
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

    fn rule(&self) -> Option<Rule> {
        let section = self.key.split('.').next().unwrap_or_default().to_ascii_lowercase();
        let name = self.key.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
        rule(&section, self.subsection(), &name)
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

/// The configuration of a clone after all rules were applied.
pub struct Reviewed {
    pub entries: Vec<Entry>,
    /// The settings to pass to git.
    pub overrides: Vec<(String, String)>,
    /// Whether the configuration names an SSH command.
    pub sets_ssh_command: bool,
    /// The settings that the user must allow.
    pub reasons: Vec<String>,
}

/// Applies the rules to the configuration of the clone at `folder`.
pub fn review(entries: Vec<Entry>, folder: &Path, git_dir: &Path) -> Reviewed {
    let owned = |(key, value): (&str, &str)| (key.to_owned(), value.to_owned());
    let mut overrides: Vec<(String, String)> = ALWAYS.map(owned).into();
    let mut reasons = Vec::new();
    // The value that the user's own configuration gives.
    let users = |key: &str| entries.iter().rfind(|entry| !entry.is_of_clone && entry.key == key).map(|e| &e.value);
    if users("protocol.ext.allow").is_none() {
        overrides.push(owned(("protocol.ext.allow", "never")));
    }
    let sets_ssh_command = entries.iter().any(|entry| entry.key == "core.sshcommand");
    for entry in entries.iter().filter(|entry| entry.is_of_clone) {
        let Some(mut rule) = entry.rule() else { continue };
        // The key ends at the first equals sign of an option.
        if entry.key.contains('=') && matches!(rule, Rule::Instead(_) | Rule::NoHook) {
            rule = Rule::Ask;
        }
        let is_asked = match rule {
            Rule::Instead(value) => {
                overrides.push((entry.key.clone(), users(&entry.key).map_or(value, String::as_str).to_owned()));
                false
            }
            Rule::NoHook => {
                let name = entry.subsection().unwrap_or_default();
                overrides.push((format!("hook.{name}.enabled"), "false".to_owned()));
                false
            }
            Rule::Ask => users(&entry.key) != Some(&entry.value) && !entry.is_harmless(),
            Rule::Include => match entry.included(folder).canonicalize() {
                Ok(file) => file.starts_with(folder) && !file.starts_with(git_dir),
                Err(_) => true,
            },
        };
        if is_asked {
            reasons.push(format!("{} = {}", entry.key, entry.value));
        }
    }
    Reviewed { entries, overrides, sets_ssh_command, reasons }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reviewed(settings: &[(&str, &str, &str)]) -> Reviewed {
        let listed: String =
            settings.iter().map(|(scope, key, value)| format!("{scope}\0file:.git/config\0{key}\n{value}\0")).collect();
        review(Entry::parse_all(&listed), Path::new("/clone"), Path::new("/clone/.git"))
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
            ("local", "hook.evil.event", "post-checkout"),
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
