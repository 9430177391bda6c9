//! Git remotes of a folder: the server and the project that it was cloned from.

use git2::Repository;
use std::path::{Path, PathBuf};
use url::Url;

/// A git remote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remote {
    /// The name of the remote in the clone.
    pub name: String,
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
        let parsed = |name: &&str| {
            let remote = Remote::parse(repository.find_remote(name).ok()?.url().ok()?)?;
            Some(Remote { name: (*name).to_owned(), ..remote })
        };
        names.iter().filter_map(parsed).collect()
    }

    /// Returns the working tree of the repository that contains `folder`.
    pub fn working_tree(folder: &Path) -> Option<PathBuf> {
        Repository::discover(folder).ok()?.workdir().map(Path::to_owned)
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
            return Some(Remote { name, host, port, path: project_path(url.path()) });
        }
        let (host, path) = text.split_once(':')?;
        let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
        // A slash before the colon means a file path, and a single letter is a Windows drive.
        if host.contains('/') || host.len() < 2 {
            return None;
        }
        Some(Remote { name: String::new(), host: host.to_owned(), port: None, path: project_path(path) })
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
