//! Targets: web addresses of a server, the part after its host, and short forms, read into places.

use super::place::Place;
use crate::api::endpoint::decode;
use url::Url;

/// A target that means no place, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// It is on another server.
    #[error("{0} is on another server than {1}; name it with --host")]
    OtherHost(String, String),
    /// Nothing of the known forms.
    #[error(
        "Invalid target \"{0}\"; try group/project, group/project!12, group/project@REF:PATH:LINE, or a web address of the server"
    )]
    Unknown(String),
    /// A thing that labscope cannot show yet.
    #[error("labscope has no place for \"{0}\"")]
    NoPlace(String),
}

/// The rest of a web address behind the root of a server's pages; `None` where it is on another server.
pub fn below(text: &str, root: &str) -> Option<String> {
    let (url, root) = (Url::parse(text).ok()?, Url::parse(root).ok()?);
    let path =
        url.path().strip_prefix(root.path().trim_end_matches('/')).filter(|p| p.is_empty() || p.starts_with('/'))?;
    let query = url.query().map_or(String::new(), |query| format!("?{query}"));
    let fragment = url.fragment().map_or(String::new(), |fragment| format!("#{fragment}"));
    (url.origin() == root.origin()).then(|| format!("{path}{query}{fragment}"))
}

/// Reads a target; `web_url` is the root of the server's pages, empty where any host will do.
pub fn parse(text: &str, web_url: &str) -> Result<Place, TargetError> {
    let text = text.trim();
    let rest = match text.split_once("://") {
        Some(_) if web_url.is_empty() => text.splitn(4, '/').nth(3).unwrap_or_default().to_owned(),
        Some(_) => below(text, web_url).ok_or_else(|| {
            let host = text.splitn(4, '/').take(3).collect::<Vec<_>>().join("/");
            TargetError::OtherHost(host, web_url.trim_end_matches('/').to_owned())
        })?,
        None => text.to_owned(),
    };
    let (rest, fragment) = match rest.split_once('#') {
        // The name of a ref may hold one.
        Some((before, _)) if before.contains('@') && !before.contains("/-/") => (rest.as_str(), None),
        Some((before, fragment)) => (before, Some(fragment)),
        None => (rest.as_str(), None),
    };
    let rest = rest.trim_matches('/');
    if let (Some(iid), true) = (fragment.filter(|f| is_number(f)), !rest.contains("/-/"))
        && is_project(rest)
    {
        return Ok(Place::new("issue").project(decode(rest)).item(iid));
    }
    let (rest, query) = rest.split_once('?').map_or((rest, ""), |(r, q)| (r, q));
    if rest.is_empty() {
        return Ok(Place::new("projects"));
    }
    let own = fixed(rest).or_else(|| person(rest)).or_else(|| epic(rest)).or_else(|| group(rest));
    if let Some(place) = own.or_else(|| short(rest)) {
        return Ok(place);
    }
    long(rest, fragment, query).ok_or_else(|| TargetError::Unknown(text.to_owned()))?
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.len() < 20 && text.bytes().all(|b| b.is_ascii_digit())
}

fn is_project(text: &str) -> bool {
    is_number(text)
        || text.split('/').count() >= 2 && text.split('/').all(|part| !part.is_empty() && !part.contains(' '))
}

/// Addresses that belong to no project.
fn fixed(rest: &str) -> Option<Place> {
    // Newer servers put a dash before some of them.
    Some(match rest.strip_prefix("-/").unwrap_or(rest) {
        "projects" | "dashboard/projects" | "explore" | "explore/projects" | "dashboard" => Place::new("projects"),
        "dashboard/merge_requests" | "merge_requests" => Place::new("mrs"),
        "admin/runners" => Place::new("runners").tab("all"),
        "admin/users" | "users" => Place::new("users"),
        "admin/hooks" | "admin/system_hooks" | "hooks" => Place::new("hooks"),
        "admin/license" | "admin/subscription" | "license" => Place::new("license"),
        "groups" | "admin/groups" | "dashboard/groups" | "explore/groups" => Place::new("groups"),
        "me" | "profile" | "user_settings/profile" => Place::new("me"),
        "profile/keys" | "user_settings/ssh_keys" => Place::new("me").tab("ssh"),
        "profile/gpg_keys" | "user_settings/gpg_keys" => Place::new("me").tab("gpg"),
        "profile/notifications" | "notifications" => Place::new("notifications"),
        _ => return None,
    })
}

/// `@ada`, `admin/users/ada`, `users/ada`, `admin/keys/17`.
fn person(rest: &str) -> Option<Place> {
    if let Some(number) = rest.strip_prefix("admin/keys/").or(rest.strip_prefix("keys/")).filter(|n| is_number(n)) {
        return Some(Place::new("key").item(number));
    }
    let name = rest.strip_prefix('@').or(rest.strip_prefix("admin/users/")).or(rest.strip_prefix("users/"))?;
    let (name, tab) = name.split_once('/').unwrap_or((name, ""));
    let place = Place::new("user").item(name);
    is_name(name).then(|| if tab == "keys" { place.tab("ssh") } else { place })
}

/// `groups/acme/tools`, and a name alone: a group, or a user whose page it is.
fn group(rest: &str) -> Option<Place> {
    let named = rest.strip_prefix("admin/groups/").or(rest.strip_prefix("groups/"));
    let path = named.map_or(rest, |path| path.split("/-/").next().unwrap_or(path)).trim_end_matches("/-");
    let fits = path.split('/').all(is_name) && (named.is_some() || !path.contains('/'));
    fits.then(|| Place::new("groups").group(path))
}

/// What the name of a group or user can be.
fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    !name.is_empty() && name.chars().all(plain)
}

/// `groups/acme/tools/-/epics/2`.
fn epic(rest: &str) -> Option<Place> {
    let (group, page) = rest.strip_prefix("groups/")?.split_once("/-/")?;
    let id = page.strip_prefix("epics/").filter(|id| is_number(id))?;
    Some(Place::new("epic").group(decode(group)).item(id))
}

/// `group/project!12`, `group/project@REF`, `group/project@REF:PATH:LINE`.
fn short(rest: &str) -> Option<Place> {
    if let Some((project, iid)) = rest.rsplit_once('!')
        && is_project(project)
        && is_number(iid)
    {
        return Some(Place::new("mr").project(project).item(iid));
    }
    if let Some((group, id)) = rest.rsplit_once('&')
        && is_number(id)
        && group.split('/').all(is_name)
        && !group.contains("/-/")
    {
        return Some(Place::new("epic").group(group).item(id));
    }
    if let Some((project, id)) = rest.rsplit_once('$')
        && is_project(project)
        && is_number(id)
    {
        return Some(Place::new("snippets").project(project).item(id));
    }
    let (project, at) = rest.split_once('@')?;
    if !is_project(project) || at.is_empty() || project.contains("/-/") {
        return None;
    }
    let mut place = Place::new("files").project(project);
    // A ref never holds a colon, so the first one begins the path.
    let Some((git_ref, path)) = at.split_once(':') else { return Some(place.at(at)) };
    place = place.at(git_ref);
    match path.rsplit_once(':') {
        Some((path, line)) if is_number(line) => Some(place.path(path).line(line.parse().ok()?)),
        _ if path.is_empty() => Some(place),
        _ => Some(place.path(path)),
    }
}

const WORDS: &[&str] = &[
    "tree",
    "blob",
    "raw",
    "blame",
    "commit",
    "commits",
    "compare",
    "branches",
    "tags",
    "merge_requests",
    "jobs",
    "builds",
    "pipelines",
    "runners",
    "snippets",
    "deployments",
    "environments",
    "issues",
    "network",
    "graphs",
];

/// `group/project/-/tree/REF/PATH` and its kin, with or without `/-/`.
fn long(rest: &str, fragment: Option<&str>, query: &str) -> Option<Result<Place, TargetError>> {
    let (project, page) = match rest.split_once("/-/") {
        Some((project, page)) => (project, page),
        None => {
            let parts: Vec<&str> = rest.split('/').collect();
            // A project's path has two parts at least: the word that begins a page can only come after them.
            match parts.iter().skip(2).position(|part| WORDS.contains(part)) {
                Some(at) => {
                    let begin: usize = parts.iter().take(at + 2).map(|p| p.len() + 1).sum();
                    (rest.get(..begin - 1)?, rest.get(begin..)?)
                }
                None => (rest, ""),
            }
        }
    };
    if !is_project(project) {
        return None;
    }
    let project = decode(project);
    let place = |pane: &str| Place::new(pane).project(project.as_str());
    let (word, tail) = page.split_once('/').unwrap_or((page, ""));
    let tail = tail.trim_matches('/');
    let parts: Vec<String> = tail.split('/').filter(|p| !p.is_empty()).map(decode).collect();
    let first = parts.first().cloned();
    Some(Ok(match (word, first) {
        ("", _) => place("files"),
        ("tree" | "blob" | "raw" | "blame", Some(git_ref)) => {
            let mut place = place("files").at(git_ref);
            let path = parts.get(1..).unwrap_or_default().join("/");
            if !path.is_empty() {
                place = place.path(path);
            }
            let line = fragment.and_then(|f| f.strip_prefix('L')).map(|l| l.split('-').next().unwrap_or(l));
            match line.and_then(|l| l.parse().ok()) {
                Some(line) => place.line(line),
                None => place,
            }
        }
        ("tree" | "blob", None) => place("files"),
        ("commit", Some(sha)) => place("commit").item(sha),
        ("commits" | "network", Some(_)) => place("commits").at(parts.join("/")),
        ("commits" | "network", None) => place("commits"),
        ("compare", Some(_)) => place("compare").item(parts.join("/")),
        ("compare", None) => place("compare"),
        ("branches", _) => place("branches"),
        ("tags", _) => place("tags"),
        ("merge_requests", Some(iid)) if is_number(&iid) => {
            let place = place("mr").item(iid);
            match parts.get(1).map(String::as_str) {
                Some("diffs") => place.tab("changes"),
                Some("commits") => place.tab("commits"),
                Some("pipelines") => place.tab("pipelines"),
                _ => place,
            }
        }
        ("merge_requests", _) => {
            let state = query.split('&').find_map(|pair| pair.strip_prefix("state="));
            match state {
                Some(state) => place("mrs").tab(state),
                None => place("mrs"),
            }
        }
        ("jobs" | "builds", Some(id)) if is_number(&id) => match parts.get(1).map(String::as_str) {
            // `artifacts`, `artifacts/browse/PATH`, `artifacts/file/PATH`.
            Some("artifacts") => {
                let path = parts.get(3..).unwrap_or_default().join("/");
                Place { path: Some(path).filter(|path| !path.is_empty()), ..place("artifacts").item(id) }
            }
            _ => place("job").item(id),
        },
        ("jobs" | "builds", Some(first)) if first == "artifacts" => of_ref(place("artifacts"), &parts, query),
        ("jobs" | "builds", _) => place("jobs"),
        ("pipelines", Some(id)) if is_number(&id) => place("jobs").item(id),
        ("pipelines", _) => place("jobs"),
        ("snippets", Some(id)) if is_number(&id) => place("snippets").item(id),
        ("snippets", _) => place("snippets"),
        ("issues", Some(iid)) if is_number(&iid) => place("issue").item(iid),
        ("runners", _) => place("runners"),
        ("deployments", Some(id)) if is_number(&id) => place("deployments").item(id),
        ("deployments" | "environments", _) => place("deployments"),
        _ => return Some(Err(TargetError::NoPlace(rest.to_owned()))),
    }))
}

/// `jobs/artifacts/REF/download?job=NAME`, or `browse`, `file` and `raw` with a path behind them. A ref may hold slashes.
fn of_ref(place: Place, parts: &[String], query: &str) -> Place {
    let word = |part: &String| matches!(part.as_str(), "download" | "browse" | "file" | "raw");
    let job = query.split('&').find_map(|pair| pair.strip_prefix("job=")).map(|job| decode(&job.replace('+', " ")));
    let (Some(at), Some(job)) = (parts.iter().skip(2).position(word), job) else {
        return Place { pane: "jobs".into(), ..place };
    };
    let git_ref = parts.get(1..at + 2).unwrap_or_default().join("/");
    let path = parts.get(at + 3..).unwrap_or_default().join("/");
    Place { path: Some(path).filter(|path| !path.is_empty()), ..place.at(git_ref).item(job) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Place {
        parse(text, "http://h:1").unwrap_or_else(|e| panic!("{text}: {e}"))
    }

    #[test]
    fn web_addresses_old_and_new_open_their_places() {
        let files = Place::new("files").project("acme/tools/cli");
        assert_eq!(read("http://h:1/acme/tools/cli"), files);
        assert_eq!(read("acme/tools/cli/-/tree/main/src/x y"), files.clone().at("main").path("src/x y"));
        assert_eq!(read("acme/tools/cli/blob/main/src/a.rs#L10"), files.clone().at("main").path("src/a.rs").line(10));
        assert_eq!(read("acme/cli/-/tree/feature%2Fx"), Place::new("files").project("acme/cli").at("feature/x"));
        assert_eq!(
            read("acme/cli/-/merge_requests/12/diffs"),
            Place::new("mr").project("acme/cli").item(12).tab("changes")
        );
        assert_eq!(read("acme/cli/merge_requests/12"), Place::new("mr").project("acme/cli").item(12));
        assert_eq!(read("acme/cli/-/jobs/123"), Place::new("job").project("acme/cli").item(123));
        let artifacts = Place::new("artifacts").project("acme/cli");
        assert_eq!(read("acme/cli/-/jobs/123/artifacts"), artifacts.clone().item(123));
        assert_eq!(read("acme/cli/-/jobs/123/artifacts/browse/a/b"), artifacts.clone().item(123).path("a/b"));
        assert_eq!(
            read("acme/cli/-/jobs/artifacts/feature/x/file/report.xml?job=unit+tests"),
            artifacts.clone().at("feature/x").item("unit tests").path("report.xml")
        );
        assert_eq!(read("acme/cli/-/jobs/artifacts/main/download?job=unit"), artifacts.at("main").item("unit"));
        assert_eq!(read("acme/cli/-/pipelines/9"), Place::new("jobs").project("acme/cli").item(9));
        assert_eq!(read("acme/cli/-/commit/abc"), Place::new("commit").project("acme/cli").item("abc"));
        assert_eq!(
            read("acme/cli/-/compare/main...feature/x"),
            Place::new("compare").project("acme/cli").item("main...feature/x")
        );
        assert_eq!(
            read("acme/cli/-/compare/v1%2F0...main"),
            Place::new("compare").project("acme/cli").item("v1/0...main")
        );
        assert_eq!(read("acme/cli/-/snippets/3"), Place::new("snippets").project("acme/cli").item(3));
        assert_eq!(read("acme/cli/snippets"), Place::new("snippets").project("acme/cli"));
        assert_eq!(read("acme/cli/-/deployments"), Place::new("deployments").project("acme/cli"));
        assert_eq!(read("admin/runners"), Place::new("runners").tab("all"));
    }

    #[test]
    fn groups_users_and_keys_have_addresses_too() {
        assert_eq!(read("admin/users"), Place::new("users"));
        assert_eq!(read("http://h:1/admin/users/ada"), Place::new("user").item("ada"));
        assert_eq!(read("@ada"), Place::new("user").item("ada"));
        assert_eq!(read("admin/hooks"), Place::new("hooks"));
        assert_eq!(read("admin/license"), Place::new("license"));
        assert_eq!(read("groups"), Place::new("groups"));
        assert_eq!(read("http://h:1/groups/acme/tools/-/activity"), Place::new("groups").group("acme/tools"));
        assert_eq!(read("acme"), Place::new("groups").group("acme"));
        assert_eq!(read("-/user_settings/ssh_keys"), Place::new("me").tab("ssh"));
        assert_eq!(read("-/profile/notifications"), Place::new("notifications"));
        assert_eq!(read("admin/keys/17"), Place::new("key").item(17));
    }

    #[test]
    fn short_forms_open_their_places() {
        assert_eq!(read("acme/cli!12"), Place::new("mr").project("acme/cli").item(12));
        assert_eq!(read("acme/cli#7"), Place::new("issue").project("acme/cli").item(7));
        assert_eq!(read("acme/cli/-/issues/7"), Place::new("issue").project("acme/cli").item(7));
        assert_eq!(read("acme/cli@fix&2"), Place::new("files").project("acme/cli").at("fix&2"));
        let page = Place::new("files").project("acme/cli").at("main").path("docs/R&2");
        assert_eq!(read("acme/cli@main:docs/R&2"), page);
        assert_eq!(read("acme/cli/-/blob/main/docs/R&2").pane, "files");
        assert_eq!(read("acme/cli@fix#7"), Place::new("files").project("acme/cli").at("fix#7"));
        assert_eq!(read("acme/tools&2"), Place::new("epic").group("acme/tools").item(2));
        assert_eq!(read("groups/acme/tools/-/epics/2"), Place::new("epic").group("acme/tools").item(2));
        assert_eq!(read("acme/cli$3"), Place::new("snippets").project("acme/cli").item(3));
        let files = Place::new("files").project("acme/cli");
        assert_eq!(read("acme/cli@v1.0"), files.clone().at("v1.0"));
        assert_eq!(read("acme/cli@feature/x:src/a.rs:7"), files.clone().at("feature/x").path("src/a.rs").line(7));
        assert_eq!(read("acme/cli@main:src"), files.at("main").path("src"));
    }

    #[test]
    fn what_is_no_target_says_so() {
        for other in ["http://other/a/b", "http://h:12/a/b", "http://h:1.other/a/b", "https://h:1/a/b"] {
            assert!(matches!(parse(other, "http://h:1"), Err(TargetError::OtherHost(..))), "{other}");
        }
        let here = Place::new("files").project("a/b");
        assert_eq!(parse("HTTPS://Git.Example.com/a/b", "https://git.example.com/"), Ok(here.clone()));
        assert_eq!(parse("https://example.com/lab/a/b", "https://example.com/lab/"), Ok(here));
        assert!(parse("https://example.com/labs/a/b", "https://example.com/lab/").is_err());
        assert_eq!(parse("https://git.example.com", "https://git.example.com/"), Ok(Place::new("projects")));
        assert!(matches!(parse("no target", ""), Err(TargetError::Unknown(_))));
        assert!(matches!(parse("acme/cli/-/wikis/home", ""), Err(TargetError::NoPlace(_))));
    }
}
