//! Git remotes of a folder: the server and the project that it was cloned from.

use crate::system::git::config;
use crate::system::git_folder;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use url::Url;

/// A git remote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remote {
    /// The name of the remote in the clone.
    pub name: String,
    /// The address that it is fetched from, after git's `url.*.insteadOf`.
    pub url: String,
    /// The addresses that git pushes to; empty if that is only `url`.
    pub pushed_to: Vec<Remote>,
    host: String,
    /// The user who logs in to the host.
    user: Option<String>,
    /// The port, only for web URLs: an SSH port says nothing about the web server's port. The default port of either
    /// scheme is `None`, because servers redirect one to the other.
    web_port: Option<Option<u16>>,
    /// The host behind `host`, if that is an alias of the user's SSH configuration.
    alias_of: Option<String>,
    path: String,
}

/// The maximum number of remotes that are read; `origin` is always among them.
const MAX_REMOTES: usize = 1000;

/// The maximum number of hosts that are looked up in the user's SSH configuration.
const MAX_ALIASES: usize = 5;

/// The clone that contains a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LocalClone {
    /// The root of its working tree; a bare repository has none.
    pub work_tree: Option<PathBuf>,
    /// Its remotes, `origin` first.
    pub remotes: Vec<Remote>,
}

impl LocalClone {
    /// Returns the value of `--host` for the server that the clone seems to be from.
    pub fn host_option(&self) -> Option<String> {
        self.remotes.first()?.host_option()
    }

    /// Reads the clone that contains `folder`; without one, there are no remotes. Only the configuration is read, so the
    /// format of the repository does not matter, and nothing in it is executed.
    ///
    /// # Errors
    /// Returns a message with the path of a file that is not a regular one, too large, or not readable.
    pub fn read(folder: &Path) -> Result<LocalClone, String> {
        let Some(found) = git_folder::discover(folder)? else { return Ok(LocalClone::default()) };
        let own = found.config()?;
        let mut all = Vec::new();
        for path in user_files() {
            // A mistake in the user's own files affects no clone.
            all.extend(config::read(&path, &found.git).unwrap_or_default());
        }
        // The configuration of a clone can name any other folder.
        let named = own.iter().rev().find(|entry| entry.section == "core" && entry.key == "worktree");
        let work_tree = match named.map(|entry| found.git.join(&entry.value).canonicalize()) {
            Some(tree) => tree.ok().filter(|tree| folder.canonicalize().is_ok_and(|folder| folder.starts_with(tree))),
            None => found.work_tree,
        };
        all.extend(own);
        Ok(LocalClone { work_tree, remotes: remotes(&all) })
    }
}

impl LocalClone {
    /// Looks up the hosts behind aliases of SSH, each once; `host_name` returns the host of an alias, which the user may
    /// precede: `git@work`.
    pub fn with_aliases(mut self, host_name: impl Fn(&str) -> Option<String>) -> LocalClone {
        let mut known: HashMap<String, Option<String>> = HashMap::new();
        let mut look_up = |remote: &mut Remote| {
            let alias =
                remote.user.iter().map(|user| format!("{user}@")).chain([remote.host.clone()]).collect::<String>();
            let is_looked_up = remote.web_port.is_none() && !remote.host.is_empty();
            if is_looked_up && (known.len() < MAX_ALIASES || known.contains_key(&alias)) {
                remote.alias_of = known.entry(alias).or_insert_with_key(|alias| host_name(alias)).clone();
            }
        };
        self.remotes.iter_mut().for_each(&mut look_up);
        self.remotes.iter_mut().flat_map(|remote| &mut remote.pushed_to).for_each(look_up);
        self
    }
}

/// Lists the configuration files of git that apply to every clone.
fn user_files() -> Vec<PathBuf> {
    let var = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let system = var("GIT_CONFIG_SYSTEM").unwrap_or_else(|| "/etc/gitconfig".into());
    let mut all = if var("GIT_CONFIG_NOSYSTEM").is_some() { Vec::new() } else { vec![system] };
    let home = dirs::home_dir();
    let folder = var("XDG_CONFIG_HOME").or_else(|| Some(home.as_ref()?.join(".config")));
    match var("GIT_CONFIG_GLOBAL") {
        Some(file) => all.push(file),
        None => {
            all.extend(folder.map(|folder| folder.join("git/config")));
            all.extend(home.map(|home| home.join(".gitconfig")));
        }
    }
    all
}

/// Returns the remotes of a configuration, `origin` first. Of several addresses of a remote, git fetches the first, and
/// pushes to all.
fn remotes(config: &[config::ConfigEntry]) -> Vec<Remote> {
    let mut all: HashMap<&str, (usize, Addresses)> = HashMap::new();
    for (at, entry) in config.iter().enumerate().filter(|(_, entry)| entry.section == "remote") {
        let is_push = match entry.key.as_str() {
            "url" => false,
            "pushurl" => true,
            _ => continue,
        };
        let (_, addresses) = all.entry(&entry.subsection).or_insert_with(|| (at, Addresses::default()));
        let addresses = if is_push { &mut addresses.push } else { &mut addresses.fetch };
        // An empty address removes those before it.
        if entry.value.is_empty() {
            addresses.clear();
        } else {
            addresses.push(&entry.value);
        }
    }
    let mut all: Vec<_> = all.into_iter().filter(|(_, (_, addresses))| !addresses.fetch.is_empty()).collect();
    all.sort_by_key(|(name, (at, _))| (*name != "origin", *at));
    let (instead, push_instead) = (prefixes(config, "insteadof"), prefixes(config, "pushinsteadof"));
    let remote = |(name, (_, addresses)): (&str, (usize, Addresses))| {
        let pushed_to = addresses.pushed_to(&instead, &push_instead);
        let fetched = Remote::parse(&replaced(addresses.fetch.first()?, &instead))?;
        let is_same = pushed_to.as_slice() == [fetched.url.as_str()];
        let pushed_to = pushed_to
            .into_iter()
            .filter(|_| !is_same)
            .map(|url| Remote::parse(&url).unwrap_or(Remote { url, ..Remote::default() }));
        Some(Remote { name: name.to_owned(), pushed_to: pushed_to.collect(), ..fetched })
    };
    all.into_iter().take(MAX_REMOTES).filter_map(remote).collect()
}

/// The addresses of a remote, as they are in the configuration.
#[derive(Default)]
struct Addresses<'a> {
    fetch: Vec<&'a str>,
    push: Vec<&'a str>,
}

impl Addresses<'_> {
    fn pushed_to(&self, instead: &[(&str, &str)], push_instead: &[(&str, &str)]) -> Vec<String> {
        let all = if self.push.is_empty() { &self.fetch } else { &self.push };
        // A prefix for pushes applies only to a remote without an address for pushes.
        let for_pushes: Vec<String> = all
            .iter()
            .filter(|_| self.push.is_empty())
            .map(|url| replaced(url, push_instead))
            .zip(all)
            .filter_map(|(new, old)| (new != **old).then_some(new))
            .collect();
        if for_pushes.is_empty() { all.iter().map(|url| replaced(url, instead)).collect() } else { for_pushes }
    }
}

/// Lists the prefixes of addresses that git replaces, and what it replaces each by.
fn prefixes<'a>(config: &'a [config::ConfigEntry], key: &str) -> Vec<(&'a str, &'a str)> {
    let is_prefix =
        |entry: &&config::ConfigEntry| entry.section == "url" && entry.key == key && !entry.value.is_empty();
    let pair = |entry: &'a config::ConfigEntry| (entry.value.as_str(), entry.subsection.as_str());
    config.iter().filter(is_prefix).map(pair).take(MAX_REMOTES).collect()
}

/// Returns an address with its longest prefix replaced.
fn replaced(url: &str, prefixes: &[(&str, &str)]) -> String {
    let prefix = prefixes.iter().filter(|(prefix, _)| url.starts_with(prefix)).max_by_key(|(prefix, _)| prefix.len());
    match prefix.and_then(|(prefix, base)| Some((base, url.strip_prefix(prefix)?))) {
        Some((base, rest)) => format!("{base}{rest}"),
        None => url.to_owned(),
    }
}

impl Remote {
    /// Parses `https://host/group/project.git`, `ssh://git@host:22/group/project.git`, `git@host:group/project.git`.
    pub fn parse(text: &str) -> Option<Remote> {
        let text = text.trim();
        if text.contains("://") {
            let parsed = Url::parse(text).ok()?;
            let web = matches!(parsed.scheme(), "http" | "https");
            if !web && !matches!(parsed.scheme(), "ssh" | "git" | "git+ssh" | "ssh+git") {
                return None;
            }
            let web_port = web.then(|| parsed.port());
            let (name, host, url) = (String::new(), parsed.host_str()?.to_owned(), text.to_owned());
            let user = Some(parsed.username().to_owned()).filter(|user| !user.is_empty());
            let path = project_path(parsed.path());
            return Some(Remote { name, url, host, user, web_port, path, ..Remote::default() });
        }
        let (user, host, path) = split_scp(text)?;
        // A slash before the colon means a file path, and a single letter is a Windows drive.
        if host.contains('/') || host.len() < 2 {
            return None;
        }
        // Git passes the host to ssh, which must not take it for an option.
        if host.starts_with('-') {
            return None;
        }
        let (name, url, user) = (String::new(), text.to_owned(), user.map(str::to_owned));
        Some(Remote { name, url, host: host.to_owned(), user, path: project_path(path), ..Remote::default() })
    }

    /// Describes the host of the remote, and the host behind it if it is an alias.
    pub fn host_words(&self) -> String {
        let port = self.web_port.flatten().map(|port| format!(":{port}")).unwrap_or_default();
        match &self.alias_of {
            Some(name) => format!("{}, which is {name} in the configuration of SSH", self.host),
            None => format!("{}{port}", self.host),
        }
    }

    /// Returns the value of `--host` for the server that the remote seems to be on, if it needs no quotes.
    fn host_option(&self) -> Option<String> {
        let host = self.alias_of.as_deref().filter(|_| self.web_port.is_none()).unwrap_or(&self.host);
        let scheme = if self.url.starts_with("http://") { "http://" } else { "" };
        let port = self.web_port.flatten().map(|port| format!(":{port}")).unwrap_or_default();
        let is_plain = !host.is_empty() && host.chars().all(|c| c.is_ascii_alphanumeric() || "-.".contains(c));
        is_plain.then(|| format!("{scheme}{host}{port}"))
    }

    /// Returns the full path of the project if the remote is on the server at `url`. `ssh_hosts` are the other names of
    /// its SSH host.
    pub fn project_on(&self, url: &Url, ssh_hosts: &[String]) -> Option<String> {
        let hosts = [Some(&self.host), self.alias_of.as_ref().filter(|_| self.web_port.is_none())];
        let is = |name: &str| hosts.iter().flatten().any(|host| name.eq_ignore_ascii_case(host));
        let host = url.host_str()?;
        let Some(port) = self.web_port else {
            // SSH over port 443 has a host of its own.
            let is_alternative = is(&format!("altssh.{host}"));
            let is_there = is(host) || is_alternative || ssh_hosts.iter().any(|name| is(name));
            // An SSH path is relative to the root of the server, a web path to the base URL.
            return Some(self.path.clone()).filter(|path| is_there && path.contains('/'));
        };
        if !is(host) || port != url.port() {
            return None;
        }
        let root = url.path().trim_matches('/');
        let path = match root {
            "" => self.path.as_str(),
            root => self.path.strip_prefix(root)?.strip_prefix('/')?,
        };
        path.contains('/').then(|| path.to_owned())
    }
}

/// Splits `git@host:path` into user, host and path. In brackets are an IPv6 address, `git@[::1]:path`, which keeps them,
/// or a host with its port, `[git@host:22]:path`.
fn split_scp(text: &str) -> Option<(Option<&str>, &str, &str)> {
    let split_user = |host| match str::rsplit_once(host, '@') {
        Some((user, host)) => (Some(user), host),
        None => (None, host),
    };
    let Some((before, inner)) = text.split_once('[').filter(|(user, _)| user.is_empty() || user.ends_with('@')) else {
        let (host, path) = text.split_once(':')?;
        let (user, host) = split_user(host);
        return Some((user, host, path));
    };
    let (host, path) = inner.split_once("]:")?;
    let outer = before.strip_suffix('@');
    match host.bytes().filter(|byte| *byte == b':').count() {
        0 | 1 => {
            let (user, host) = split_user(host);
            Some((outer.or(user), host.split(':').next()?, path))
        }
        _ => Some((outer, text.get(before.len()..text.len() - path.len() - 1)?, path)),
    }
}

fn project_path(path: &str) -> String {
    let path = path.trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path);
    // The wiki of a project is a repository beside it.
    let path = path.strip_suffix(".wiki").unwrap_or(path);
    crate::api::endpoint::decode(path.trim_end_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use git2::Repository;

    #[test]
    fn all_forms_of_a_remote_are_parsed() {
        let server = Url::parse("https://git.example.com/").expect("an address");
        for text in [
            "https://git.example.com/acme/tools/cli.git",
            "https://me@git.example.com/acme/tools/cli",
            "git@git.example.com:acme/tools/cli.git",
            "ssh://git@git.example.com:2222/acme/tools/cli.git",
            "ssh+git://git@git.example.com/acme/tools/cli.git/",
            "[git@git.example.com:2222]:acme/tools/cli.git",
            "git@[git.example.com]:/acme/tools/cli.git",
            "git@git.example.com:acme/tools/cli.wiki.git",
        ] {
            let remote = Remote::parse(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(remote.project_on(&server, &[]).as_deref(), Some("acme/tools/cli"), "{text}");
        }
        let server = Url::parse("http://[2001:db8::7]:8080/").expect("an address");
        for text in ["git@[2001:db8::7]:acme/cli.git", "[2001:db8::7]:acme/cli", "ssh://git@[2001:DB8::7]:22/acme/cli"]
        {
            let remote = Remote::parse(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(remote.project_on(&server, &[]).as_deref(), Some("acme/cli"), "{text}");
        }
        for text in [
            "[-oProxyCommand=id:22]:acme/cli",
            "[::1:acme/cli",
            "[::1]acme/cli",
            "[]:acme/cli",
            "/a[b]:c/d",
            "/srv/git/cli.git",
            "../cli",
            "C:\\git\\cli",
            "file:///srv/cli.git",
            "",
        ] {
            assert_eq!(Remote::parse(text), None, "{text}");
        }
    }

    /// Creates a clone with these lines in its configuration.
    fn clone_with(config: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        let repository = Repository::init(folder.path()).expect("a repository");
        let path = repository.path().join("config");
        let mut text = std::fs::read_to_string(&path).expect("it is there");
        text.push_str(config);
        std::fs::write(path, text).expect("written");
        folder
    }

    #[test]
    fn the_address_that_git_fetches_from_decides() {
        let two =
            "[remote \"origin\"]\nurl = https://evil.example/a/b.git\nurl = https://git.example.com/acme/cli.git\n";
        let clone = clone_with(two);
        let remotes = LocalClone::read(clone.path()).expect("reads").remotes;
        assert_eq!(
            remotes.iter().map(|remote| remote.url.as_str()).collect::<Vec<_>>(),
            ["https://evil.example/a/b.git"]
        );
        let replaced =
            "[url \"git@git.example.com:\"]\ninsteadOf = work:\n[remote \"origin\"]\nurl = work:acme/cli.git\n";
        let clone = clone_with(replaced);
        let remotes = LocalClone::read(clone.path()).expect("reads").remotes;
        assert_eq!(remotes.first().map(|remote| remote.url.as_str()), Some("git@git.example.com:acme/cli.git"));
        assert_eq!(Remote::parse("-oProxyCommand=id:acme/cli"), None);
        let reset = "[remote \"origin\"]\nurl = h.example:a/b\nurl =\nurl = h.example:c/d\n[remote \"b\"]\nurl = h.example:e/f\nurl =\n";
        let urls: Vec<_> = super::remotes(&config::parse(reset)).into_iter().map(|remote| remote.url).collect();
        assert_eq!(urls, ["h.example:c/d"]);
    }

    #[test]
    fn a_working_tree_contains_the_folder_that_names_it() {
        let other = tempfile::tempdir().expect("a folder");
        let clone = clone_with("");
        assert!(LocalClone::read(clone.path()).expect("reads").work_tree.is_some());
        let hostile = clone_with(&format!("[core]\nworktree = {}\n", other.path().display()));
        assert_eq!(LocalClone::read(hostile.path()).expect("reads").work_tree, None);
    }

    #[test]
    fn another_host_or_port_is_another_server() {
        let remote = Remote::parse("http://127.0.0.1:8080/acme/cli.git").expect("a remote");
        let on = |url: &str| remote.project_on(&Url::parse(url).expect("an address"), &[]);
        assert_eq!(on("http://127.0.0.1:8080/").as_deref(), Some("acme/cli"));
        assert_eq!(on("http://127.0.0.1:8081/"), None);
        assert_eq!(on("https://git.example.com/"), None);
        let below = Remote::parse("https://example.com/gitlab/acme/cli").expect("a remote");
        let url = Url::parse("https://example.com/gitlab/").expect("an address");
        assert_eq!(below.project_on(&url, &[]).as_deref(), Some("acme/cli"));
    }

    #[test]
    fn other_names_of_the_ssh_host_and_other_schemes_are_the_same_server() {
        let on = |remote: &str, url: &str, ssh_hosts: &[String]| {
            Remote::parse(remote).expect(remote).project_on(&Url::parse(url).expect("an address"), ssh_hosts)
        };
        let (web, below) = ("https://gitlab.com/", "https://h.example/gitlab/");
        let ssh = ["ssh.h.example".to_owned()];
        for (remote, url, path) in [
            ("ssh://git@altssh.gitlab.com:443/acme/web.git", web, Some("acme/web")),
            ("git@altssh.gitlab.com:acme/web.git", web, Some("acme/web")),
            ("http://gitlab.com/acme/web.git", web, Some("acme/web")),
            ("https://gitlab.com:443/acme/web", "http://gitlab.com/", Some("acme/web")),
            ("https://gitlab.com:8443/acme/web", web, None),
            ("https://altssh.gitlab.com/acme/web", web, None),
            ("git@ssh.h.example:acme/web.git", below, Some("acme/web")),
            ("https://ssh.h.example/acme/web.git", below, None),
            ("https://h.example/gitlab/acme/web.git", below, Some("acme/web")),
            ("https://h.example/gitlab-tools/acme/web.git", below, None),
            ("git@h.example:/gitlab-tools/web.git", below, Some("gitlab-tools/web")),
        ] {
            assert_eq!(on(remote, url, &ssh).as_deref(), path, "{remote} on {url}");
        }
    }

    #[test]
    fn the_first_address_of_a_remote_counts_with_the_prefixes_that_git_replaces() {
        let text = "[remote \"up\"]\nurl = gl:up/web\n[remote \"origin\"]\nurl = work:acme/web\nurl = git@other.example:x/y\n\
                    [url \"https://h.example/\"]\ninsteadOf = gl:\n[url \"git@ssh.example:\"]\ninsteadOf = work:\ninsteadOf = wo\n";
        let all: Vec<_> = remotes(&config::parse(text)).into_iter().map(|r| (r.name, r.host, r.path)).collect();
        let is = |name: &str, host: &str, path: &str| (name.to_owned(), host.to_owned(), path.to_owned());
        assert_eq!(all, [is("origin", "ssh.example", "acme/web"), is("up", "h.example", "up/web")]);
    }

    #[test]
    fn the_addresses_for_pushes_are_those_that_git_uses() {
        let pushed_to = |text: &str| -> Vec<String> {
            let remotes = remotes(&config::parse(&format!("[remote \"origin\"]\nurl = https://h.example/a/b\n{text}")));
            let origin = remotes.into_iter().find(|remote| remote.name == "origin").expect("it is there");
            assert_eq!(origin.url, "https://h.example/a/b");
            origin.pushed_to.into_iter().map(|remote| remote.url).collect()
        };
        assert_eq!(pushed_to(""), Vec::<String>::new());
        assert_eq!(pushed_to("pushurl = https://h.example/a/b\n"), Vec::<String>::new());
        assert_eq!(pushed_to("pushurl = ../evil\n"), ["../evil"]);
        assert_eq!(pushed_to("pushurl = ../evil\npushurl =\n"), Vec::<String>::new());
        assert_eq!(pushed_to("pushurl = x:a/b\npushurl = y:a/b\n"), ["x:a/b", "y:a/b"]);
        assert_eq!(pushed_to("url = y:a/b\n"), ["https://h.example/a/b", "y:a/b"]);
        let rule = "[url \"git@h.example:\"]\npushInsteadOf = https://h.example/\n";
        assert_eq!(pushed_to(rule), ["git@h.example:a/b"]);
        // An address for pushes is not replaced by a prefix for pushes.
        assert_eq!(pushed_to(&format!("pushurl = https://h.example/c/d\n{rule}")), ["https://h.example/c/d"]);
        let rule = "[url \"git@h.example:\"]\ninsteadOf = work:\n";
        assert_eq!(pushed_to(&format!("pushurl = work:c/d\n{rule}")), ["git@h.example:c/d"]);
        let server = Url::parse("https://h.example/").expect("an address");
        let fork = remotes(&config::parse("[remote \"o\"]\nurl = h.example:a/b\npushurl = h.example:c/b\n"));
        assert_eq!(fork[0].pushed_to[0].project_on(&server, &[]).as_deref(), Some("c/b"));
        let folder = remotes(&config::parse("[remote \"o\"]\nurl = h.example:a/b\npushurl = file:///h.example/c/b\n"));
        assert_eq!(folder[0].pushed_to[0].project_on(&server, &[]), None);
    }

    #[test]
    fn clones_in_formats_that_libraries_refuse_still_have_remotes() {
        let folder = tempfile::tempdir().expect("a folder");
        let git = folder.path().join(".git");
        std::fs::create_dir_all(git.join("objects")).expect("created");
        std::fs::write(git.join("HEAD"), "ref: refs/heads/.invalid\n").expect("written");
        let text = "[core]\nrepositoryformatversion = 1\n[extensions]\nobjectformat = sha256\nrefstorage = reftable\n\
                    partialclone = origin\n[remote \"origin\"]\nurl = git@h.example:acme/web.git\n";
        std::fs::write(git.join("config"), text).expect("written");
        let clone = LocalClone::read(folder.path()).expect("reads");
        assert_eq!(clone.remotes.first().map(|remote| remote.path.as_str()), Some("acme/web"));
        assert_eq!(clone.work_tree, folder.path().canonicalize().ok());
        let many: String = (0..200_000).map(|at| format!("[remote \"r{at}\"]\nurl = hh:a/b\n")).collect();
        std::fs::write(git.join("config"), format!("{}{text}", many.get(..5 << 20).expect("long"))).expect("written");
        let clone = LocalClone::read(folder.path()).expect("reads");
        assert_eq!(clone.remotes.len(), MAX_REMOTES);
        assert_eq!(clone.remotes.first().map(|remote| remote.name.as_str()), Some("origin"));
    }

    #[test]
    fn aliases_of_ssh_are_looked_up_once_each() {
        let entries: String =
            (0..9).map(|at| format!("[remote \"r{at}\"]\nurl = git@alias{}:a/b\n", at / 2 * 2)).collect();
        let asked = std::cell::RefCell::new(Vec::new());
        let clone = LocalClone { work_tree: None, remotes: remotes(&config::parse(&entries)) };
        let clone = clone.with_aliases(|alias| {
            asked.borrow_mut().push(alias.to_owned());
            (alias == "git@alias2").then(|| "git.example.com".to_owned())
        });
        assert_eq!(asked.into_inner(), ["git@alias0", "git@alias2", "git@alias4", "git@alias6", "git@alias8"]);
        let url = Url::parse("https://git.example.com/").expect("an address");
        let on: Vec<&str> =
            clone.remotes.iter().filter(|r| r.project_on(&url, &[]).is_some()).map(|r| r.name.as_str()).collect();
        assert_eq!(on, ["r2", "r3"]);
    }
}
