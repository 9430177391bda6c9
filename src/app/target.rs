//! Targets: web addresses of a server, the part after its host, and short forms, parsed into places.

use super::place::Place;
use super::place_info::{self, PlaceInfo, Subject};
use super::route::{self, Address, is_name, is_number};
use crate::api::endpoint::decode;
use url::Url;

/// A target that cannot be resolved to a place, with the reason.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// The target is on another server.
    #[error("{0} is on another server than {1}; name it with --host")]
    OtherHost(String, String),
    /// The target has none of the known forms.
    #[error(
        "Invalid target \"{0}\"; try group/project, group/project!12, group/project@REF:PATH:LINE, or a web address of the server"
    )]
    Unknown(String),
    /// The target is a page of a project that labscope does not have: the page, and the project.
    #[error("\"{0}\" is not a page of labscope; try {1}, or open the page in a browser")]
    NoPlace(String, String),
}

/// Returns the host and the path of an address of a repository over SSH: `git@HOST:group/project.git`, `ssh://..`.
fn of_ssh(text: &str) -> Option<(&str, &str)> {
    let (is_url, rest) = text.strip_prefix("ssh://").map_or((false, text), |rest| (true, rest));
    let (before, path) = rest.split_once(if is_url { '/' } else { ':' })?;
    // `group/project@ref:path` has a slash in front of the colon.
    let (user, host) = before.split_once('@').unwrap_or(("", before));
    let is_host = !host.is_empty() && !before.contains('/') && (is_url || !user.is_empty() && path.contains('/'));
    is_host.then(|| (host.split(':').next().unwrap_or(host), path))
}

/// Returns the part of a web address after the root of a server's pages, or that of an address over SSH after the host;
/// `None` if it is on another server. Servers at the usual ports redirect one scheme to the other.
pub fn below(text: &str, root: &str) -> Option<String> {
    let root = Url::parse(root).ok()?;
    if let Some((host, path)) = of_ssh(text) {
        return root.host_str().is_some_and(|known| known.eq_ignore_ascii_case(host)).then(|| path.to_owned());
    }
    let url = Url::parse(text).ok()?;
    let path =
        url.path().strip_prefix(root.path().trim_end_matches('/')).filter(|p| p.is_empty() || p.starts_with('/'))?;
    let query = url.query().map_or(String::new(), |query| format!("?{query}"));
    let fragment = url.fragment().map_or(String::new(), |fragment| format!("#{fragment}"));
    let is_usual = |url: &Url| matches!(url.scheme(), "http" | "https") && url.port().is_none();
    let is_same = url.host() == root.host() && is_usual(&url) && is_usual(&root);
    (is_same || url.origin() == root.origin()).then(|| format!("{path}{query}{fragment}"))
}

/// Removes the path of the server's root from the part of a URL after the host: `gitlab/group/project` on a server at
/// `https://host/gitlab`.
fn without_root<'a>(text: &'a str, web_url: &str) -> &'a str {
    let root = web_url.split_once("://").and_then(|(_, rest)| rest.split_once('/')).map_or("", |(_, path)| path);
    let root = root.trim_matches('/');
    let below = text.trim_start_matches('/').strip_prefix(root).and_then(|rest| rest.strip_prefix('/'));
    below.filter(|rest| !root.is_empty() && rest.contains('/')).unwrap_or(text)
}

/// Parses a target as one of `places`; `web_url` is the root of the server's pages, or empty to accept any host.
pub fn parse(places: &[PlaceInfo], text: &str, web_url: &str) -> Result<Place, TargetError> {
    let text = text.trim();
    let of_ssh = of_ssh(text);
    let of_web = || text.contains("://").then(|| text.splitn(4, '/').nth(3).unwrap_or_default());
    let rest = match of_ssh.map(|(_, path)| path).or_else(of_web) {
        Some(path) if web_url.is_empty() => path.to_owned(),
        Some(_) => below(text, web_url).ok_or_else(|| {
            let host = text.splitn(4, '/').take(3).collect::<Vec<_>>().join("/");
            TargetError::OtherHost(host, web_url.trim_end_matches('/').to_owned())
        })?,
        None => without_root(text, web_url).to_owned(),
    };
    let is_address = of_ssh.is_some() || of_web().is_some();
    let (rest, fragment) = match rest.split_once('#') {
        // The name of a ref may contain one.
        Some((before, _)) if before.contains('@') && !before.contains("/-/") => (rest.as_str(), None),
        Some((before, fragment)) => (before, Some(fragment)),
        None => (rest.as_str(), None),
    };
    let rest = rest.trim_matches('/');
    if let Some(number) = fragment.filter(|_| !rest.contains("/-/"))
        && let Some(place) = signed(places, &format!("{}#{number}", decode(rest)), None)
    {
        return Ok(place);
    }
    let (path, query) = match rest.split_once('?') {
        // The name of a file may contain one.
        Some((before, _)) if !is_address && file(places, before).is_some_and(|place| place.path.is_some()) => {
            (rest, "")
        }
        parts => parts.unwrap_or((rest, "")),
    };
    let address = Address { path, query, fragment };
    let place = route::outside_projects(places, &address)
        .or_else(|| signed(places, path, fragment))
        .or_else(|| file(places, path));
    if let Some(place) = place {
        return Ok(place);
    }
    let (project, page) = split(places, path);
    if !is_project(project) {
        return Err(TargetError::Unknown(text.to_owned()));
    }
    let place = route::in_project(places, &Address { path: page, ..address });
    // The address of the repository itself.
    let cloned = project.strip_suffix(".git").filter(|project| page.is_empty() && is_project(project));
    let project = decode(cloned.unwrap_or(project));
    match place {
        Some(place) => Ok(place.project(project)),
        None => Err(TargetError::NoPlace(path.to_owned(), project)),
    }
}

/// Parses what is typed at the place `here`: a target, or a part of one that the place completes, such as `!42`, a SHA or
/// `:20` for a line of the file. A bare name is not a target: it may be the name of anything.
pub fn typed_at(places: &[PlaceInfo], here: &Place, text: &str, web_url: &str) -> Option<Place> {
    let text = text.trim();
    if let Some(line) = text.strip_prefix(':').and_then(|line| line.parse().ok())
        && here.path.is_some()
    {
        return Some(here.clone().line(line));
    }
    let is_sha = (7..=64).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_hexdigit())
        && text.bytes().any(|byte| byte.is_ascii_digit());
    let within = here.project.as_ref().map(|project| format!("{project}{text}"));
    let in_group = here.group.as_ref().map(|group| format!("{group}{text}"));
    let completed = [within, in_group].into_iter().flatten().find_map(|whole| {
        let is_sign =
            text.starts_with(|sign: char| places.iter().any(|info| info.sign.is_some_and(|s| s.mark == sign)));
        if is_sign { parse(places, &whole, web_url).ok().filter(|place| place.item.is_some()) } else { None }
    });
    match &here.project {
        Some(project) if is_sha => {
            Some(place_info::place_of(places, Subject::Commit).project(project.clone()).item(text))
        }
        _ if completed.is_some() => completed,
        _ => parse(places, text, web_url).ok().filter(|place| {
            // Two names with a slash are a project, but also the start of a path.
            text.contains("://") || text.contains("/-/") || place.item.is_some() || place.git_ref.is_some()
        }),
    }
}

/// Returns the project of the web address of an issue or a merge request. It matches no routes, so that it costs
/// little for each row of a list.
pub fn project_of(places: &[PlaceInfo], text: &str, web_url: &str) -> Option<String> {
    let rest = below(text, web_url)?;
    let (project, _) = split(places, rest.split(['?', '#']).next()?.trim_matches('/'));
    is_project(project).then(|| decode(project))
}

fn is_project(text: &str) -> bool {
    is_number(text)
        || text.split('/').count() >= 2 && text.split('/').all(|part| !matches!(part, "" | "-") && !part.contains(' '))
}

/// Parses references with a sign, and pages and fragments behind them: `group/project!12`, `group/project!12/diffs`,
/// `group&3`.
fn signed(places: &[PlaceInfo], text: &str, fragment: Option<&str>) -> Option<Place> {
    places.iter().find_map(|info| {
        let sign = info.sign?;
        let (within, rest) = text.split_once(sign.mark)?;
        let (number, page) = rest.split_once('/').unwrap_or((rest, ""));
        // This may be the name of a ref or a file that ends like a reference.
        if !is_number(number) || within.contains('@') || within.contains("/-/") {
            None
        } else if sign.in_group {
            let is_group = page.is_empty() && within.split('/').all(is_name);
            is_group.then(|| Place::new(info.id).item(number).group(within))
        } else {
            let words =
                |route: &&'static str| Some(route.strip_prefix("{project}/-/")?.split_once("/{item:number}/")?.0);
            let word = info.routes.iter().find_map(words)?.split('|').next()?;
            let path = format!("{word}/{number}/{page}");
            let place = route::in_project(places, &Address { path: &path, query: "", fragment })?;
            is_project(within).then(|| place.project(within))
        }
    })
}

/// Parses `group/project@REF` and `group/project@REF:PATH:LINE`.
fn file(places: &[PlaceInfo], text: &str) -> Option<Place> {
    let (project, at) = text.split_once('@')?;
    if !is_project(project) || at.is_empty() || project.contains("/-/") {
        return None;
    }
    let place = place_info::place_of(places, Subject::Project).project(project);
    // A ref never contains a colon, so the first one begins the path.
    let Some((git_ref, path)) = at.split_once(':') else { return Some(place.at(at)) };
    let place = place.at(git_ref);
    match path_and_line(path) {
        ("", _) => Some(place),
        (path, line) => Some(Place { line, ..place.path(path) }),
    }
}

/// Splits the line off a path: `src/a.rs:7`; a column may follow, as compilers write it.
pub fn path_and_line(text: &str) -> (&str, Option<u32>) {
    let number = |text: &str| {
        let (before, number) = text.rsplit_once(':').filter(|(before, _)| !before.is_empty())?;
        Some((before.len(), number.parse::<u32>().ok().filter(|_| is_number(number))?))
    };
    let Some((end, last)) = number(text) else { return (text, None) };
    let path = text.get(..end).unwrap_or(text);
    match number(path) {
        Some((end, line)) => (path.get(..end).unwrap_or(path), Some(line)),
        None => (path, Some(last)),
    }
}

/// Returns the place that replaces one that was named and does not exist: if its name cannot be that of a project, what
/// the beginning of the name is, such as `group/project!12` of `group/project!12:3`.
pub fn replacement(places: &[PlaceInfo], place: &Place) -> Option<Place> {
    let begins = || {
        let project = place.project.as_ref()?;
        if *place != place_info::place_of(places, Subject::Project).project(project.clone()) {
            return None;
        }
        let (before, _) = project.as_str().rsplit_once(|c: char| c != '/' && !is_name(c.encode_utf8(&mut [0; 4])))?;
        parse(places, before, "").ok()
    };
    begins().or_else(|| place_info::replacement(places, place))
}

/// Splits a path into the project and its page, with or without `/-/` between them.
fn split<'a>(places: &[PlaceInfo], path: &'a str) -> (&'a str, &'a str) {
    if let Some(parts) = path.split_once("/-/") {
        return parts;
    }
    let parts: Vec<&str> = path.split('/').collect();
    let is_word = |part: &&str| route::words(places).any(|word| word == *part);
    // The path of a project has at least two parts: the word that begins a page can only come after them.
    let project = parts.iter().skip(2).position(is_word).map(|at| {
        let before = parts.iter().take(at + 2).map(|part| part.len() + 1).sum::<usize>();
        path.split_at_checked(before).map(|(project, page)| (project.trim_end_matches('/'), page))
    });
    project.flatten().unwrap_or((path, ""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::GitRef;
    use crate::app::registry::places;
    use crate::panes::PANES;

    #[test]
    fn what_is_typed_at_a_place_is_completed_by_it() {
        let places = places(PANES);
        let file = Place::new("files").project("a/b").path("src/x.rs");
        let group = Place::new("groups").group("a");
        let typed = |here: &Place, text: &str| {
            typed_at(&places, here, text, "http://h:1").map(|place| {
                let of = place.project.or(place.group).map(|of| of.to_string()).unwrap_or_default();
                (place.pane, of, place.item.unwrap_or_default(), place.line)
            })
        };
        let is = |here: &Place, text: &str, pane: &str, of: &str, item: &str, line: Option<u32>| {
            assert_eq!(typed(here, text), Some((pane.into(), of.into(), item.into(), line)), "{text}");
        };
        is(&file, "!42", "mr", "a/b", "42", None);
        is(&file, "!42/diffs", "mr", "a/b", "42", None);
        is(&file, " #7 ", "issue", "a/b", "7", None);
        is(&file, "$3", "snippets", "a/b", "3", None);
        is(&file, "9f3c2ab", "commit", "a/b", "9f3c2ab", None);
        is(&file, ":20", "files", "a/b", "", Some(20));
        is(&file, "c/d!4", "mr", "c/d", "4", None);
        is(&file, "http://h:1/c/d/-/issues/3", "issue", "c/d", "3", None);
        is(&group, "&2", "epic", "a", "2", None);
        // Bare names, words that could be hexadecimal, and what the place cannot complete.
        for (here, text) in [
            (&file, "a/b"),
            (&file, "src/x"),
            (&file, "!branch"),
            (&file, "decades"),
            (&file, "42"),
            (&group, "!42"),
            (&group, ":20"),
            (&file, ""),
        ] {
            assert_eq!(typed(here, text), None, "{text}");
        }
    }

    #[test]
    fn the_project_of_an_item_is_read_from_its_web_address() {
        let project = |text: &str| project_of(&places(PANES), text, "http://h:1/gitlab");
        for page in ["/-/issues/3", "/-/merge_requests/3/diffs?w=1#note_7", "/merge_requests/3", "/issues/3"] {
            assert_eq!(project(&format!("http://h:1/gitlab/a/b/c{page}")).as_deref(), Some("a/b/c"), "{page}");
        }
        for other in
            ["http://other/gitlab/a/b/-/issues/3", "http://h:1/a/b/-/issues/3", "", "a/b", "http://h:1/gitlab/a"]
        {
            assert_eq!(project(other), None, "{other}");
        }
    }

    #[test]
    fn the_path_of_the_server_is_not_part_of_a_project() {
        let read = |text: &str| parse(&places(PANES), text, "http://h:1/gitlab").expect(text).project;
        for text in
            ["/gitlab/acme/web", "gitlab/acme/web", "gitlab/acme/web!1", "acme/web", "http://h:1/gitlab/acme/web"]
        {
            assert_eq!(read(text), Some("acme/web".into()), "{text}");
        }
        assert_eq!(read("gitlab/web"), Some("gitlab/web".into()));
        assert_eq!(read("gitlab-tools/acme/web"), Some("gitlab-tools/acme/web".into()));
    }

    fn read(text: &str) -> Place {
        parse(&places(PANES), text, "http://h:1").unwrap_or_else(|e| panic!("{text}: {e}"))
    }

    #[test]
    fn web_addresses_old_and_new_open_their_places() {
        let files = Place::new("files").project("acme/tools/cli");
        assert_eq!(read("http://h:1/acme/tools/cli"), files);
        let joined = |place: Place| Place { is_joined: true, ..place };
        assert_eq!(read("acme/tools/cli/-/tree/main/src/x y"), joined(files.clone().at("main").path("src/x y")));
        let line = files.clone().at("main").path("src/a.rs").line(10);
        assert_eq!(read("acme/tools/cli/blob/main/src/a.rs#L10"), joined(line));
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
    fn the_ref_of_an_address_has_a_kind_and_may_be_longer_than_its_first_part() {
        let files = || Place::new("files").project("acme/cli");
        assert_eq!(read("acme/cli/-/tree/v1?ref_type=tags"), files().at(GitRef::tag("v1")));
        assert_eq!(read("acme/cli/-/tree/v1?ref_type=heads&x=1"), files().at(GitRef::branch("v1")));
        assert_eq!(read("acme/cli/-/tree/v1?ref_type=other"), files().at("v1"));
        let sha = "0123456789abcdef0123456789abcdef01234567";
        assert_eq!(read(&format!("acme/cli/-/tree/{sha}/src?ref_type=heads")), files().at(sha).path("src"));
        for page in ["tree", "blob", "raw", "blame"] {
            let joined = Place { is_joined: true, ..files().at(GitRef::tag("a")).path("b/c") };
            assert_eq!(read(&format!("acme/cli/-/{page}/a/b/c?ref_type=tags")), joined);
        }
        // An encoded slash belongs to the ref.
        assert_eq!(read("acme/cli/-/tree/a%2Fb/c"), files().at("a/b").path("c"));
        assert_eq!(read("acme/cli@a:b/c"), files().at("a").path("b/c"));
        let commits = Place::new("commits").project("acme/cli");
        assert_eq!(read("acme/cli/-/commits/a/b"), Place { is_joined: true, ..commits.clone().at("a").path("b") });
        assert_eq!(read("acme/cli/-/commits/v1?ref_type=tags"), commits.clone().at(GitRef::tag("v1")));
        assert_eq!(read("acme/cli/-/network/a/b"), commits.at("a/b"));
    }

    #[test]
    fn lists_get_the_filters_of_their_web_addresses() {
        let issues = || Place::new("issues").project("acme/cli");
        let filters = "?label_name[]=bug&author_username=bo";
        assert_eq!(read(&format!("http://h:1/acme/cli/-/issues/{filters}")), issues().query(filters));
        assert_eq!(read("acme/cli/-/issues?state=closed&page=2"), issues().tab("closed").query("?state=closed&page=2"));
        assert_eq!(read("acme/cli/-/issues/?"), issues());
        assert_eq!(read("dashboard/merge_requests?author_username=bo"), Place::new("mrs").query("?author_username=bo"));
        let commits = Place::new("commits").project("acme/cli").at("main");
        assert_eq!(
            read("acme/cli/-/commits/main?ref_type=other&author=bo&search=x"),
            commits.query("?author=bo&search=x")
        );
        assert_eq!(read("acme/cli/-/issues/7?x=1"), Place::new("issue").project("acme/cli").item(7));
    }

    #[test]
    fn web_addresses_of_one_thing_in_a_list_open_it() {
        let of = |pane: &str| Place::new(pane).project("acme/cli");
        assert_eq!(read("acme/cli/-/tags/v1.0"), of("tags").at("v1.0"));
        assert_eq!(read("acme/cli/-/tags/rel/1"), of("tags").at("rel/1"));
        assert_eq!((read("acme/cli/-/tags"), read("acme/cli/-/tags/new")), (of("tags"), of("tags")));
        assert_eq!(read("acme/cli/-/releases/v1.0"), of("releases").item("v1.0"));
        assert_eq!(read("acme/cli/-/environments/3"), of("environments").item(3));
        assert_eq!(read("acme/cli/-/jobs/155#L5"), of("job").item(155).line(5));
        let sha = "0123456789abcdef0123456789abcdef01234567";
        let commit = of("commit").item(sha);
        assert_eq!(read(&format!("acme/cli/-/merge_requests/12/diffs?commit_id={sha}")), commit);
        // `git push` prints it (`app/services/merge_requests/get_urls_service.rb` of GitLab).
        let new = of("branches").at("fix/x").tab("new merge request");
        for brackets in [["[", "]"], ["%5B", "%5D"]] {
            let [open, close] = brackets;
            let address = format!("acme/cli/-/merge_requests/new?merge_request{open}source_branch{close}=fix%2Fx");
            assert_eq!(read(&address), new);
        }
    }

    #[test]
    fn addresses_of_repositories_open_their_projects() {
        let project = Place::new("files").project("acme/cli");
        for address in [
            "http://h:1/acme/cli.git",
            "acme/cli.git",
            "git@h:acme/cli.git",
            "git@h:acme/cli",
            "ssh://git@h/acme/cli.git",
            "ssh://git@h:2222/acme/cli.git",
        ] {
            assert_eq!(read(address), project, "{address}");
        }
        assert_eq!(read("acme/cli/-/blob/main/a.git").path.as_deref(), Some("a.git"));
        assert_eq!(read("acme/cli@h:a/b.git"), project.at("h").path("a/b.git"));
        let elsewhere = parse(&places(PANES), "git@other:acme/cli.git", "http://h:1");
        assert!(matches!(elsewhere, Err(TargetError::OtherHost(..))), "{elsewhere:?}");
    }

    #[test]
    fn web_searches_open_search_with_their_text_scope_and_project() {
        let search = || Place::new("search");
        for (query, place) in [
            ("search", search()),
            ("search?search=narrow+table", search().item("narrow table")),
            ("http://h:1/search?scope=blobs&search=a%2Bb&project_id=7", search().item("a+b").tab("blobs").project("7")),
            ("search?group_id=3&project_id=7&search=x", search().item("x").project("7").group("3")),
            ("search?group_id=3&scope=issues&search=%23x", search().item("#x").tab("issues").group("3")),
            ("search?search=&group_id=&project_id=7", search().project("7")),
            ("search?project_id=x&search=y&scope=", search().item("y")),
            ("search?group_id=3", search().group("3")),
        ] {
            assert_eq!(read(query), place, "{query}");
        }
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
        assert_eq!((read("home"), read("todos")), (Place::new("home"), Place::new("todos")));
        assert_eq!(read("groups/home"), Place::new("groups").group("home"));
        assert_eq!(read("-/user_settings/ssh_keys"), Place::new("me").tab("ssh"));
        assert_eq!(read("-/profile/notifications"), Place::new("notifications"));
        assert_eq!(read("admin/keys/17"), Place::new("key").item(17));
    }

    #[test]
    fn short_forms_open_their_places() {
        assert_eq!(read("acme/cli!12"), Place::new("mr").project("acme/cli").item(12));
        assert_eq!(read("acme/cli!12/diffs"), Place::new("mr").project("acme/cli").item(12).tab("changes"));
        assert_eq!(read("acme/cli!12/commits/"), Place::new("mr").project("acme/cli").item(12).tab("commits"));
        let note = Place { note: Some(31), ..Place::new("mr").project("acme/cli").item(12) };
        assert_eq!(read("acme/cli!12#note_31"), note);
        assert_eq!(read("acme/cli#7/designs"), Place::new("issue").project("acme/cli").item(7));
        assert_eq!(read("acme/cli@a!1/b"), Place::new("files").project("acme/cli").at("a!1/b"));
        assert_eq!(read("acme/cli#7"), Place::new("issue").project("acme/cli").item(7));
        assert_eq!(read("acme/cli/-/issues/7"), Place::new("issue").project("acme/cli").item(7));
        let note = Place { note: Some(31), ..Place::new("issue").project("acme/cli").item(7) };
        assert_eq!(read("acme/cli/-/issues/7#note_31"), note);
        assert_eq!(read("acme/cli/issues/7#note_31"), note);
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
        assert_eq!(read("acme/cli@main:src"), files.clone().at("main").path("src"));
        let file = files.at("main").path("odd/a?b&c=d.txt");
        assert_eq!(read("acme/cli@main:odd/a?b&c=d.txt"), file);
        assert_eq!(read("acme/cli@main:odd/a?b&c=d.txt:7:2"), file.line(7));
    }

    #[test]
    fn invalid_targets_are_reported() {
        for other in ["http://other/a/b", "http://h:12/a/b", "http://h:1.other/a/b", "https://h:1/a/b"] {
            assert!(matches!(parse(&places(PANES), other, "http://h:1"), Err(TargetError::OtherHost(..))), "{other}");
        }
        let here = Place::new("files").project("a/b");
        assert_eq!(parse(&places(PANES), "HTTPS://Git.Example.com/a/b", "https://git.example.com/"), Ok(here.clone()));
        assert_eq!(parse(&places(PANES), "http://git.example.com/a/b", "https://git.example.com/"), Ok(here.clone()));
        assert!(parse(&places(PANES), "ftp://git.example.com/a/b", "https://git.example.com/").is_err());
        assert_eq!(parse(&places(PANES), "https://example.com/lab/a/b", "https://example.com/lab/"), Ok(here));
        assert!(parse(&places(PANES), "https://example.com/labs/a/b", "https://example.com/lab/").is_err());
        assert_eq!(
            parse(&places(PANES), "https://git.example.com", "https://git.example.com/"),
            Ok(Place::new("projects"))
        );
        assert!(matches!(parse(&places(PANES), "no target", ""), Err(TargetError::Unknown(_))));
        assert!(matches!(parse(&places(PANES), "http://h/-/vaults/5", ""), Err(TargetError::Unknown(_))));
        let page = ("acme/cli/-/wikis/home".to_owned(), "acme/cli".to_owned());
        assert_eq!(parse(&places(PANES), &page.0, ""), Err(TargetError::NoPlace(page.0, page.1)));
    }
}
