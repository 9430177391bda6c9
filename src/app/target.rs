//! Targets: web addresses of a server, the part after its host, and short forms, parsed into places.

use super::place::Place;
use super::place_info::{self, PlaceInfo, Subject};
use super::route::{self, Address, is_name, is_number};
use api::endpoint::decode;
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
/// `None` if it is on another server. The scheme may differ: servers redirect one to the other, or are behind a proxy.
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
    let is_web = |url: &Url| matches!(url.scheme(), "http" | "https");
    let is_same = (url.host(), url.port()) == (root.host(), root.port()) && is_web(&url) && is_web(&root);
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
