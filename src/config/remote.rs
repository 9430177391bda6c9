//! Git remotes of a folder: the server and the project that it was cloned from.

use git2::Repository;
use std::path::{Path, PathBuf};
use url::Url;

/// A git remote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remote {
    /// The name of the remote in the clone.
    pub name: String,
    /// The address that it is fetched from, after git's `url.*.insteadOf`.
    pub url: String,
    host: String,
    /// The port, only for web URLs: an SSH port says nothing about the web server's port.
    port: Option<u16>,
    path: String,
}

impl Remote {
    /// Lists the remotes of the repository that contains `folder`, `origin` first.
    pub fn all(folder: &Path) -> Vec<Remote> {
        let Ok(repository) = Repository::discover(folder) else { return Vec::new() };
        let Ok(names) = repository.remotes() else { return Vec::new() };
        let mut names: Vec<&str> = names.iter().filter_map(|name| name.ok().flatten()).collect();
        names.sort_by_key(|name| *name != "origin");
        let Ok(config) = repository.config() else { return Vec::new() };
        let parsed = |name: &&str| {
            // Git fetches from the first address of a remote, and pushes to all of them.
            let mut urls = config.multivar(&format!("remote.{name}.url"), None).ok()?;
            let first = urls.next()?.ok()?.value().ok()?.to_owned();
            let remote = Remote::parse(repository.remote_anonymous(&first).ok()?.url().ok()?)?;
            Some(Remote { name: (*name).to_owned(), ..remote })
        };
        names.iter().filter_map(parsed).collect()
    }

    /// Returns the working tree of the repository that contains `folder`, if it also contains `folder`: the
    /// configuration of a clone can name any other folder.
    pub fn working_tree(folder: &Path) -> Option<PathBuf> {
        let repository = Repository::discover(folder).ok()?;
        let tree = repository.workdir()?;
        let is_inside = folder.canonicalize().ok()?.starts_with(tree.canonicalize().ok()?);
        is_inside.then(|| tree.to_owned())
    }

    /// Parses `https://host/group/project.git`, `ssh://git@host:22/group/project.git`, `git@host:group/project.git`.
    pub fn parse(text: &str) -> Option<Remote> {
        let text = text.trim();
        if text.contains("://") {
            let url = Url::parse(text).ok()?;
            let web = matches!(url.scheme(), "http" | "https");
            if !web && !matches!(url.scheme(), "ssh" | "git" | "git+ssh") {
                return None;
            }
            let port = url.port_or_known_default().filter(|_| web);
            let (name, host) = (String::new(), url.host_str()?.to_owned());
            return Some(Remote { name, url: text.to_owned(), host, port, path: project_path(url.path()) });
        }
        let (host, path) = text.split_once(':')?;
        let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
        // A slash before the colon means a file path, and a single letter is a Windows drive.
        if host.contains('/') || host.len() < 2 {
            return None;
        }
        // Git passes the host to ssh, which must not take it for an option.
        if host.starts_with('-') {
            return None;
        }
        let (name, url) = (String::new(), text.to_owned());
        Some(Remote { name, url, host: host.to_owned(), port: None, path: project_path(path) })
    }

    /// Returns the full path of the project if the remote is on the server at `url`.
    pub fn project_on(&self, url: &Url) -> Option<String> {
        if !url.host_str()?.eq_ignore_ascii_case(&self.host) {
            return None;
        }
        if self.port.is_some_and(|port| url.port_or_known_default() != Some(port)) {
            return None;
        }
        let root = url.path().trim_matches('/');
        let path = match self.port {
            // An SSH path is relative to the server's root, a web path to the base URL.
            Some(_) if !root.is_empty() => self.path.strip_prefix(root)?.trim_start_matches('/'),
            _ => &self.path,
        };
        path.contains('/').then(|| path.to_owned())
    }
}

fn project_path(path: &str) -> String {
    let path = path.trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path);
    crate::api::endpoint::decode(path.trim_end_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_forms_of_a_remote_are_parsed() {
        let server = Url::parse("https://git.example.com/").expect("an address");
        for text in [
            "https://git.example.com/acme/tools/cli.git",
            "https://me@git.example.com/acme/tools/cli",
            "git@git.example.com:acme/tools/cli.git",
            "ssh://git@git.example.com:2222/acme/tools/cli.git",
        ] {
            let remote = Remote::parse(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(remote.project_on(&server).as_deref(), Some("acme/tools/cli"), "{text}");
        }
        for text in ["/srv/git/cli.git", "../cli", "C:\\git\\cli", "file:///srv/cli.git", ""] {
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
        let remotes = Remote::all(clone.path());
        assert_eq!(
            remotes.iter().map(|remote| remote.url.as_str()).collect::<Vec<_>>(),
            ["https://evil.example/a/b.git"]
        );
        let replaced =
            "[url \"git@git.example.com:\"]\ninsteadOf = work:\n[remote \"origin\"]\nurl = work:acme/cli.git\n";
        let clone = clone_with(replaced);
        let remotes = Remote::all(clone.path());
        assert_eq!(remotes.first().map(|remote| remote.url.as_str()), Some("git@git.example.com:acme/cli.git"));
        assert_eq!(Remote::parse("-oProxyCommand=id:acme/cli"), None);
    }

    #[test]
    fn a_working_tree_contains_the_folder_that_names_it() {
        let other = tempfile::tempdir().expect("a folder");
        let clone = clone_with("");
        assert!(Remote::working_tree(clone.path()).is_some());
        let hostile = clone_with(&format!("[core]\nworktree = {}\n", other.path().display()));
        assert_eq!(Remote::working_tree(hostile.path()), None);
    }

    #[test]
    fn another_host_or_port_is_another_server() {
        let remote = Remote::parse("http://127.0.0.1:8080/acme/cli.git").expect("a remote");
        let on = |url: &str| remote.project_on(&Url::parse(url).expect("an address"));
        assert_eq!(on("http://127.0.0.1:8080/").as_deref(), Some("acme/cli"));
        assert_eq!(on("http://127.0.0.1:8081/"), None);
        assert_eq!(on("https://git.example.com/"), None);
        let below = Remote::parse("https://example.com/gitlab/acme/cli").expect("a remote");
        let url = Url::parse("https://example.com/gitlab/").expect("an address");
        assert_eq!(below.project_on(&url).as_deref(), Some("acme/cli"));
    }
}
