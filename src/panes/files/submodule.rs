//! Opening a submodule: the project that `.gitmodules` names, at the commit of the tree, or the address to copy.

use super::Files;
use super::tree::FileNode;
use crate::api::repository::GetRawBlob;
use crate::app::Place;
use crate::app::action::Action;
use crate::app::clip::Clip;
use crate::app::context::Cx;
use crate::app::overlay::picker::{Item, Picker};
use crate::app::tone::Tone;
use crate::parts::ci::source_lookup;
use crate::store::{Load, Want};
use crate::ui::text::{self, sanitize};
use url::Url;

/// The file at the root that names the submodules.
const MODULES: &str = ".gitmodules";
/// The maximum size of that file that is read while the cursor moves, in bytes.
const MAX_MODULES: usize = 64 << 10;

/// A submodule under the cursor of the tree.
#[derive(Default)]
pub(super) struct SubmoduleHere {
    /// Its path, and whether the file that names it was loaded when the address was read.
    read: (String, bool),
    /// The address that it is from, if known.
    pub address: String,
}

impl Files {
    /// Reads where the submodule of a row is from, to open it.
    pub(super) fn open_submodule(&mut self, node: &FileNode, cx: &mut Cx) {
        self.submodule = Some((node.path.clone(), node.sha.clone()));
        if self.modules().is_none() {
            self.submodule = None;
            let (path, sha) = (sanitize(&node.path), text::head(&node.sha, 12));
            cx.say(Tone::Warning, format!("{path} is another repository at {sha}; no {MODULES} says which."));
        }
    }

    /// Returns the request for the file that names the submodules, while one is being opened or is under the cursor.
    fn modules(&self) -> Option<GetRawBlob> {
        if self.submodule.is_none() && self.submodule_here().is_none() {
            return None;
        }
        let file = self.tree.nodes().iter().find(|node| node.path == MODULES && node.is_file())?;
        Some(GetRawBlob { id: self.source.project.clone(), sha: file.sha.clone() })
    }

    pub(super) fn submodule_want(&self) -> Option<Want> {
        Some(Load::single(&self.modules()?).into())
    }

    /// Reads where the submodule under the cursor is from, once that is known, and opens the one that is to be opened.
    pub(super) fn submodule_changed(&mut self, cx: &mut Cx) {
        let Some(request) = self.modules() else { return };
        let view = cx.view;
        let reply = view.store.get(&request);
        let path = self.submodule_here().map(|node| node.path.clone()).unwrap_or_default();
        let read = (path, reply.value.is_some());
        if self.submodule_under_cursor.read != read {
            let modules = reply.value.filter(|raw| raw.bytes.len() <= MAX_MODULES);
            let found = modules.and_then(|raw| address(&String::from_utf8_lossy(&raw.bytes), &read.0));
            let address = found.map(|found| sanitize(&found).into_owned()).unwrap_or_default();
            self.submodule_under_cursor = SubmoduleHere { read, address };
        }
        let Some((path, sha)) = self.submodule.take_if(|_| reply.value.is_some() || reply.error.is_some()) else {
            return;
        };
        if let Some(error) = reply.error.filter(|_| reply.value.is_none()) {
            let why = error.message();
            return cx.say(Tone::Bad, format!("Could not read {MODULES}: {why}. {}", error.advice()));
        }
        let modules = reply.value.map(|raw| String::from_utf8_lossy(&raw.bytes)).unwrap_or_default();
        let Some(address) = address(&modules, &path) else {
            return cx.say(Tone::Warning, format!("{MODULES} does not name {}.", sanitize(&path)));
        };
        let own = source_lookup::project_path(&view, &self.source.project);
        if let Some(project) = project_at(&address, &own, &view.session.web_url) {
            return cx.go(Place::new("files").project(project).at(sha));
        }
        let copy = Action::Copy(Clip::line("address", address.clone()));
        let items = vec![Item::act("Copy address", copy).detail(sanitize(&address).into_owned())];
        cx.open(Picker::new(format!("On another server, at {}", text::head(&sha, 12)), items));
    }
}

/// Returns the address of the submodule at `path` in the text of `.gitmodules`, which is written like git's
/// configuration.
fn address(modules: &str, path: &str) -> Option<String> {
    let mut known: (Option<String>, Option<String>) = (None, None);
    for line in modules.lines().map(str::trim).chain(["[end]"]) {
        if line.starts_with('[') {
            match std::mem::take(&mut known) {
                (Some(at), Some(address)) if at.trim_end_matches('/') == path => return Some(address),
                _ => continue,
            }
        }
        let Some((name, value)) = line.split_once('=') else { continue };
        let value = Some(value.trim().trim_matches('"').to_owned());
        match name.trim().to_lowercase().as_str() {
            "path" => known.0 = value,
            "url" => known.1 = value,
            _ => {}
        }
    }
    None
}

/// Returns the project on the server at `web_url` that an address names; a relative one starts at the project `own`.
fn project_at(address: &str, own: &str, web_url: &str) -> Option<String> {
    let server = Url::parse(web_url).ok()?;
    let root = server.path().trim_matches('/');
    let path = if address.starts_with("./") || address.starts_with("../") {
        let mut parts: Vec<&str> = own.split('/').collect();
        for part in address.split('/') {
            match part {
                "." | "" => {}
                ".." => _ = parts.pop()?,
                part => parts.push(part),
            }
        }
        parts.join("/")
    } else {
        let (host, path) = match Url::parse(address).ok().filter(|_| address.contains("://")) {
            Some(url) => (url.host_str()?.to_owned(), url.path().to_owned()),
            // git@host:group/project.git
            None => address
                .rsplit_once('@')
                .map_or(address, |(_, rest)| rest)
                .split_once(':')
                .map(|(host, path)| (host.to_owned(), path.to_owned()))?,
        };
        if !server.host_str()?.eq_ignore_ascii_case(&host) {
            return None;
        }
        let path = path.trim_matches('/');
        path.strip_prefix(root).filter(|_| !root.is_empty()).unwrap_or(path).trim_matches('/').to_owned()
    };
    let path = path.trim_end_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path);
    path.contains('/').then(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_submodules_name_projects_of_this_server() {
        // As `git submodule add` of git 2.55 writes it, with a comment and an odd order.
        let modules = "[submodule \"lib\"]\n\tpath = vendor/lib\n\turl = ../lib.git\n# more\n[submodule \"x\"]\n\turl = \"git@forge.test:a/b/x.git\"\n\tpath=x\n\tbranch = main\n";
        assert_eq!(address(modules, "vendor/lib").as_deref(), Some("../lib.git"));
        assert_eq!(address(modules, "x").as_deref(), Some("git@forge.test:a/b/x.git"));
        assert_eq!(address(modules, "lib"), None);
        for (address, web_url, project) in [
            ("../lib.git", "https://forge.test", Some("acme/lib")),
            ("../../tools/lib", "https://forge.test", Some("tools/lib")),
            ("../../../lib", "https://forge.test", None),
            ("git@forge.test:a/b/x.git", "https://forge.test", Some("a/b/x")),
            ("ssh://git@forge.test:2222/a/x.git", "https://forge.test", Some("a/x")),
            ("https://Forge.test/code/a/x/", "https://forge.test/code", Some("a/x")),
            ("https://other.test/a/x.git", "https://forge.test", None),
            ("/srv/git/x", "https://forge.test", None),
            ("", "https://forge.test", None),
        ] {
            assert_eq!(project_at(address, "acme/rocket", web_url).as_deref(), project, "{address}");
        }
    }
}
