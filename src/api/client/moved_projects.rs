//! Projects that were moved since their path was saved. A server redirects reads of the old path to the ID of the project,
//! and refuses writes. Once a redirect is known, requests go directly to the ID. Only the project itself is still read by
//! its path: the reply tells whether another project has taken over the path.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use url::Url;

/// The maximum number of projects that are remembered.
const MAX_PROJECTS: usize = 1_000;

/// The IDs of moved projects by their old path, as encoded in a route.
#[derive(Debug, Default)]
pub(super) struct MovedProjects(Mutex<HashMap<String, String>>);

impl MovedProjects {
    /// Returns the target (path and query below `/api/v4`) with the ID of the project in place of its old path.
    pub fn current<'t>(&self, target: &'t str, is_read: bool) -> Cow<'t, str> {
        let Some((path, rest)) = split(target) else { return Cow::Borrowed(target) };
        if is_read && is_project_itself(rest) {
            return Cow::Borrowed(target);
        }
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match known.get(path) {
            Some(id) => Cow::Owned(format!("/projects/{id}{rest}")),
            None => Cow::Borrowed(target),
        }
    }

    /// Forgets where the project of a target was moved, if the target is the project itself: the server has a project at
    /// this path again, or none any more.
    pub fn forget(&self, target: &str) {
        if let Some((path, _)) = split(target).filter(|(_, rest)| is_project_itself(rest)) {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(path);
        }
    }

    /// Remembers the project of a target if a redirect of its URL leads to the same resource of a project with an ID. The
    /// caller has checked that both URLs are on the same server.
    pub fn learn(&self, target: &str, from: &Url, to: &Url) {
        let Some((path, _)) = split(target) else { return };
        let below =
            |url: &Url| url.path().split_once("/api/v4").map(|(root, below)| (root.to_owned(), below.to_owned()));
        let (Some((root, old)), Some((new_root, new))) = (below(from), below(to)) else { return };
        let (Some((_, old)), Some((id, new))) = (split(&old), split(&new)) else { return };
        let is_id = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit());
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if is_id && root == new_root && old == new && (known.len() < MAX_PROJECTS || known.contains_key(path)) {
            known.insert(path.to_owned(), id.to_owned());
        }
    }
}

/// Returns whether the rest of a target after the project means the project itself.
fn is_project_itself(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with('?')
}

/// Returns the target that tells where the project of `target` is, if `target` names it by its path.
pub(super) fn lookup(target: &str) -> Option<String> {
    split(target).filter(|(path, _)| path.contains('%')).map(|(path, _)| format!("/projects/{path}"))
}

/// Returns the project of a target, encoded as in its route.
pub(super) fn project_of(target: &str) -> Option<&str> {
    split(target).map(|(project, _)| project)
}

/// Splits a target into the project and what follows it.
fn split(target: &str) -> Option<(&str, &str)> {
    let rest = target.strip_prefix("/projects/")?;
    Some(rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(target: &str, location: &str) -> MovedProjects {
        let moved = MovedProjects::default();
        let root = "https://git.example/gitlab/api/v4";
        let from = Url::parse(&format!("{root}{target}")).unwrap();
        moved.learn(target, &from, &from.join(location).unwrap());
        moved
    }

    #[test]
    fn the_id_replaces_the_old_path_in_all_requests() {
        let moved = after("/projects/old%2Fname/issues?page=2", "/gitlab/api/v4/projects/42/issues?page=2");
        assert_eq!(moved.current("/projects/old%2Fname", false), "/projects/42");
        let issue = "/projects/old%2Fname/issues/1?x=/projects/";
        assert_eq!(moved.current(issue, true), "/projects/42/issues/1?x=/projects/");
        for other in ["/projects/old%2Fname2", "/projects/7", "/projects?search=old%2Fname", "/groups/old%2Fname"] {
            assert_eq!(moved.current(other, false), other);
        }
    }

    #[test]
    fn the_project_itself_is_read_by_its_path_and_tells_when_that_is_taken_over() {
        let moved = after("/projects/old%2Fname/issues?page=2", "/gitlab/api/v4/projects/42/issues?page=2");
        for project in ["/projects/old%2Fname", "/projects/old%2Fname?statistics=true"] {
            assert_eq!(moved.current(project, true), project);
        }
        moved.forget("/projects/old%2Fname/issues");
        assert_eq!(moved.current("/projects/old%2Fname/labels", true), "/projects/42/labels");
        moved.forget("/projects/old%2Fname?statistics=true");
        assert_eq!(moved.current("/projects/old%2Fname/labels", true), "/projects/old%2Fname/labels");
    }

    #[test]
    fn other_redirects_are_not_remembered() {
        for location in [
            "/gitlab/api/v4/projects/42/labels",
            "/gitlab/api/v4/projects/42",
            "/gitlab/api/v4/projects/other%2Fname/issues",
            "/gitlab/api/v4/projects/4x2/issues",
            "/gitlab/api/v4/groups/42/issues",
            "/api/v4/projects/42/issues",
            "/users/sign_in",
        ] {
            assert_eq!(
                after("/projects/old%2Fname/issues", location).current("/projects/old%2Fname", false),
                "/projects/old%2Fname"
            );
        }
    }

    #[test]
    fn only_a_project_that_is_named_by_its_path_is_looked_up() {
        assert_eq!(lookup("/projects/a%2Fb/issues?x=1").as_deref(), Some("/projects/a%2Fb"));
        assert_eq!(lookup("/projects/42/issues"), None);
        assert_eq!(lookup("/groups/a%2Fb"), None);
    }
}
