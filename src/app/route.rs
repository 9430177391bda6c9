//! Routes: addresses of a server's pages, as patterns in the registry of panes, parsed into places.
//!
//! A pattern is a path, segment by segment: `a|b` matches either word, `{item}` stores one segment in that field of the
//! place, `{item:number}` and `{item:name}` only a number or a name, `{path:rest}` any number of segments, and `..`
//! matches anything that follows. A pattern that begins with `{project}` is for a page of a project. The first part after
//! `?`, and the part after `#`, must also be present; those after `&` may be. ` => tab` names the tab to show. If several
//! patterns match, the most specific one wins. A list gets the part after `?`, by which it filters.

use super::place::Place;
use super::place_info::{Needs, PlaceInfo};
use api::endpoint::decode;
use api::{GitRef, RefKind};
use url::form_urlencoded;

/// The prefix of patterns for pages of a project.
pub const PROJECT: &str = "{project}";

/// An address below the root of a server's pages, or below a project.
#[derive(Clone, Copy)]
pub struct Address<'a> {
    /// The path, without slashes around it.
    pub path: &'a str,
    /// The part after `?`.
    pub query: &'a str,
    /// The part after `#`.
    pub fragment: Option<&'a str>,
}

impl Address<'_> {
    /// Returns a parameter of the query, decoded.
    fn parameter(&self, name: &str) -> Option<String> {
        let (_, value) = form_urlencoded::parse(self.query.as_bytes()).find(|(known, _)| known == name)?;
        Some(value.into_owned())
    }
}

struct RoutePattern {
    path: Vec<&'static str>,
    /// The parameters of the query with their slots. The first one must be present.
    query: Vec<(&'static str, &'static str)>,
    fragment: Option<(&'static str, &'static str)>,
    tab: Option<&'static str>,
}

impl RoutePattern {
    fn new(text: &'static str) -> RoutePattern {
        let (text, tab) = text.split_once(" => ").map_or((text, None), |(text, tab)| (text, Some(tab)));
        let (text, fragment) = text.split_once('#').map_or((text, None), |(text, rest)| (text, rest.split_once('{')));
        let (text, query) = text.split_once('?').unwrap_or((text, ""));
        let query = query.split('&').filter_map(|pair| pair.split_once("={")).collect();
        RoutePattern { path: segments(text), query, fragment, tab }
    }

    /// Returns how specific the pattern is.
    fn weight(&self) -> usize {
        let weigh = |part: &&str| match *part {
            ".." => 0,
            part if part.contains('{') => 2,
            _ => 4,
        };
        self.path.iter().map(weigh).sum::<usize>()
            + usize::from(!self.query.is_empty())
            + usize::from(self.fragment.is_some())
    }

    /// Returns the parameters that say neither what the place is about nor the kind of its ref.
    fn filters(&self, query: &str) -> String {
        let is_read = |name: &str| name == "ref_type" || self.query.iter().any(|(known, _)| *known == name);
        let filters = query.split('&').filter(|pair| !is_read(&decode(pair.split('=').next().unwrap_or(pair))));
        filters.collect::<Vec<_>>().join("&")
    }

    fn read(&self, address: &Address) -> Option<Place> {
        let mut place =
            fit(&self.path, &segments(address.path), Place { tab: self.tab.map(Into::into), ..Place::default() })?;
        for (index, (name, slot)) in self.query.iter().enumerate() {
            match address.parameter(name) {
                Some(value) => place = fill(place.clone(), slot, value).or((index > 0).then_some(place))?,
                None if index > 0 => {}
                None => return None,
            }
        }
        if let Some((mark, slot)) = self.fragment {
            let value = address.fragment?.strip_prefix(mark)?;
            place = fill(place, slot, value.split('-').next().unwrap_or(value).to_owned())?;
        }
        // The slashes of a longer ref may be encoded, which tells where it ends.
        let is_one_part = |name: &GitRef| !name.as_str().contains('/') && !name.is_sha();
        let has_both = self.path.contains(&"{path:rest}") && place.path.is_some();
        place.is_joined = has_both && self.path.contains(&"{ref}") && place.git_ref.as_ref().is_some_and(is_one_part);
        place.git_ref = place.git_ref.map(|name| of_kind(name, address));
        Some(place)
    }
}

/// Returns a ref with the kind that the `ref_type` of its address names.
fn of_kind(name: GitRef, address: &Address) -> GitRef {
    let kind = address.parameter("ref_type").and_then(|word| RefKind::from_ref_type(&word));
    match kind {
        Some(kind) if name.kind().is_none() && !name.is_sha() => GitRef::of(kind, name.as_str()),
        _ => name,
    }
}

fn segments(path: &str) -> Vec<&str> {
    path.split('/').filter(|part| !part.is_empty()).collect()
}

/// Matches the segments of an address; a slot takes as few as possible.
fn fit(pattern: &[&str], path: &[&str], place: Place) -> Option<Place> {
    let Some((first, rest)) = pattern.split_first() else { return path.is_empty().then_some(place) };
    if *first == ".." {
        return Some(place);
    }
    let Some((before, slot)) = first.split_once('{') else {
        let (word, behind) = path.split_first()?;
        return first.split('|').any(|known| known == *word).then(|| fit(rest, behind, place)).flatten();
    };
    let many = slot.ends_with(":rest}");
    let least = usize::from(!many || !rest.is_empty());
    let most = if many { path.len() } else { 1 };
    // Checked before the value is decoded: in a long address, most positions do not fit.
    let goes_on = |behind: &[&str]| match (rest.first(), behind.first()) {
        (None, behind) => behind.is_none(),
        (Some(next), Some(word)) if !next.contains('{') && *next != ".." => next.split('|').any(|known| known == *word),
        _ => true,
    };
    (least..=most).find_map(|taken| {
        let (value, behind) = path.split_at_checked(taken).filter(|(_, behind)| goes_on(behind))?;
        let value = value.iter().map(|part| decode(part)).collect::<Vec<_>>().join("/");
        fit(rest, behind, fill(place.clone(), slot, value.strip_prefix(before)?.to_owned())?)
    })
}

/// Stores a value in the field named by `slot}` or `slot:kind}`, if it is of that kind.
pub fn fill(mut place: Place, slot: &str, value: String) -> Option<Place> {
    let (name, kind) = slot.trim_end_matches('}').split_once(':').unwrap_or((slot.trim_end_matches('}'), ""));
    let fits = match kind {
        "number" => is_number(&value),
        "name" => is_name(&value),
        "rest" if value.is_empty() => return Some(place),
        _ => true,
    };
    if !fits || value.is_empty() {
        return None;
    }
    match name {
        "project" => place.project = Some(value.as_str().into()),
        "group" if value.split('/').all(is_name) => place.group = Some(value.as_str().into()),
        "item" => place.item = Some(value),
        "ref" => place.git_ref = Some(value.into()),
        "path" => place.path = Some(value),
        "tab" => place.tab = Some(value),
        "line" => place.line = Some(value.parse().ok()?),
        "note" => place.note = Some(value.parse().ok()?),
        _ => return None,
    }
    Some(place)
}

/// Returns whether `text` is a number of the server, such as an ID.
pub fn is_number(text: &str) -> bool {
    !text.is_empty() && text.len() < 20 && text.bytes().all(|b| b.is_ascii_digit())
}

/// Returns whether `name` can be the name of a group or user.
pub fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    !name.is_empty() && name.chars().all(plain)
}

fn best(
    places: &[PlaceInfo],
    pattern_of: impl Fn(&'static str) -> Option<&'static str>,
    address: &Address,
) -> Option<Place> {
    let routes = places.iter().flat_map(|info| info.routes.iter().map(move |route| (info.id, *route)));
    let fitting = routes.filter_map(|(pane, route)| {
        let pattern = RoutePattern::new(pattern_of(route)?);
        let place = Place { pane: pane.to_owned(), ..pattern.read(address)? };
        Some((pattern.weight(), pattern, place))
    });
    let with_filters = |pattern: &RoutePattern, place: Place| {
        let is_list =
            places.iter().any(|info| info.id == place.pane && info.subject.is_none() && info.needs != Needs::Item);
        let is_whole = place.git_ref.is_none() && place.path.is_none();
        let filters = if is_whole { address.query.to_owned() } else { pattern.filters(address.query) };
        if is_list && place.item.is_none() && !filters.is_empty() { place.query(format!("?{filters}")) } else { place }
    };
    let (_, pattern, place) = fitting.reduce(|best, next| if next.0 > best.0 { next } else { best })?;
    Some(with_filters(&pattern, place))
}

/// Returns the place of an address that belongs to no project.
pub fn outside_projects(places: &[PlaceInfo], address: &Address) -> Option<Place> {
    // Newer servers put a dash before some of them.
    let path = address.path.strip_prefix("-/").unwrap_or(address.path);
    best(places, |route| (!route.starts_with(PROJECT)).then_some(route), &Address { path, ..*address })
}

/// Returns the place of a page of a project; an empty path is the project itself.
pub fn in_project(places: &[PlaceInfo], address: &Address) -> Option<Place> {
    best(places, |route| route.strip_prefix(PROJECT).map(|page| page.trim_start_matches("/-/")), address)
}

/// Returns the first words of the paths of project pages.
pub fn words(places: &[PlaceInfo]) -> impl Iterator<Item = &'static str> {
    let pages = places.iter().flat_map(|info| info.routes).filter_map(|route| route.strip_prefix("{project}/-/"));
    pages.flat_map(|page| page.split(['/', '?']).next().unwrap_or(page).split('|'))
}
