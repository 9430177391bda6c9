//! Links in rendered texts: where they lead from the text that has them. Nothing is opened or requested before the user
//! chooses a link.

use crate::api::endpoint::decode;
use crate::api::uploads::GetUpload;
use crate::api::{GitRef, Id};
use crate::app::action::Action;
use crate::app::context::Cx;
use crate::app::overlay::picker::{Item, Picker};
use crate::app::place::Place;
use crate::app::target;
use crate::app::tone::Tone;
use crate::app::view::View;
use crate::parts::facts::LinkTarget;
use crate::parts::text::uploads;
use crate::ui::doc::DocLine;
use crate::ui::hyperlink;
use crate::ui::markdown::{self, Rendered};
use crate::ui::text;
use std::sync::Arc;

/// Where a text is: relative links start there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextOrigin {
    pub project: Option<Id>,
    pub group: Option<Id>,
    /// The branch, tag or commit of the file; `None` for the default branch, also for texts outside of files.
    pub git_ref: Option<GitRef>,
    /// The folder of the file; empty for the root, also for texts outside of files.
    pub folder: String,
}

/// The destination of a link.
#[derive(Clone, Debug, PartialEq)]
pub enum Destination {
    /// A line of the same text, from 0.
    Line(usize),
    /// A place, or a web page.
    Target(Box<LinkTarget>),
}

/// A link in a line: its text and its address.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    pub text: String,
    pub address: Arc<str>,
}

impl Link {
    /// Returns the item of a picker for this link.
    fn item(&self, action: Action) -> Item {
        let label = if self.text.is_empty() { self.address.to_string() } else { self.text.clone() };
        Item::act(label, action).note(text::sanitize(&self.address))
    }
}

impl TextOrigin {
    /// Returns the origin of a file.
    pub fn of_file(project: &Id, git_ref: Option<GitRef>, path: &str) -> TextOrigin {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
        TextOrigin { project: Some(project.clone()), group: None, git_ref, folder }
    }

    /// Returns the path in the repository that a relative address names, without its query and section. `None` if it
    /// leads out of the repository.
    pub fn path(&self, address: &str) -> Option<String> {
        let written = address.split(['?', '#']).next().unwrap_or_default();
        let start = if written.starts_with('/') { "" } else { self.folder.as_str() };
        let mut parts: Vec<String> = start.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect();
        for part in written.split('/') {
            match part {
                "" | "." => {}
                ".." => _ = parts.pop()?,
                part => parts.push(decode(part)),
            }
        }
        Some(parts.join("/"))
    }
}

/// Returns the request for an uploaded file of a project: `/uploads/0123456789abcdef0123456789abcdef/a.png`.
pub fn upload(project: &Id, address: &str) -> Option<GetUpload> {
    let (secret, name) = address.strip_prefix("/uploads/")?.split_once('/')?;
    let is_secret = secret.len() == 32 && secret.bytes().all(|b| b.is_ascii_hexdigit());
    let filename = decode(name);
    // A name with a slash would be another route.
    let is_name = !filename.is_empty() && !filename.contains('/');
    (is_secret && is_name).then(|| GetUpload { id: project.clone(), secret: secret.to_owned(), filename })
}

/// Returns whether an address names its scheme or its host, so that it is not relative to the text.
pub fn is_absolute(address: &str) -> bool {
    let scheme = address.split_once(':').map(|(scheme, _)| scheme);
    let is_scheme = |scheme: &str| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'))
    };
    address.starts_with("//") || scheme.is_some_and(is_scheme)
}

/// Returns what an address in a text leads to.
///
/// # Errors
///
/// Returns the reason as a sentence if it leads nowhere.
pub fn destination(
    view: &View,
    origin: &TextOrigin,
    rendered: Option<&Rendered>,
    address: &str,
) -> Result<Destination, String> {
    let shown = || text::sanitize(&text::fit(address, 80)).into_owned();
    let section = address.strip_prefix('#');
    if let Some(line) = section.and_then(|name| rendered?.section(name)) {
        return Ok(Destination::Line(line));
    }
    let go = |place: Place| Ok(Destination::Target(Box::new(LinkTarget::Place(place))));
    if hyperlink::is_address(address) {
        let target = match target::parse(view.places, address, &view.session.web_url) {
            Ok(place) if !view.session.web_url.is_empty() => LinkTarget::Place(with_section(place, address)),
            _ => LinkTarget::Page(address.to_owned()),
        };
        return Ok(Destination::Target(Box::new(target)));
    }
    if let Some(rest) = address.strip_prefix("//") {
        return Ok(Destination::Target(Box::new(LinkTarget::Page(format!("https://{rest}")))));
    }
    if is_absolute(address) {
        return Err(format!("Only web addresses can be opened: {}", shown()));
    }
    let here = Place { project: origin.project.clone(), group: origin.group.clone(), ..Place::default() };
    if markdown::is_reference(address)
        && let Some(place) = target::typed_at(view.places, &here, address, &view.session.web_url)
    {
        return go(place);
    }
    if section.is_some() {
        return Err(format!("There is no section {}.", shown()));
    }
    let Some(project) = &origin.project else { return Err(format!("Unknown link: {}", shown())) };
    if let Some(upload) = upload(project, address) {
        return Ok(Destination::Target(Box::new(uploads::target(&upload))));
    }
    let Some(path) = origin.path(address) else {
        return Err(format!("The link leads out of the repository: {}", shown()));
    };
    let mut place = Place::new("files").project(project.clone());
    place.git_ref = origin.git_ref.clone();
    place.path = Some(path).filter(|path| !path.is_empty());
    go(with_section(place, address))
}

/// Returns the place of a file with the line or the section that the address names.
fn with_section(mut place: Place, address: &str) -> Place {
    let Some((_, fragment)) = address.split_once('#').filter(|_| place.pane == "files" && place.path.is_some()) else {
        return place;
    };
    let line = fragment.strip_prefix('L').and_then(|line| line.split('-').next()?.parse().ok());
    match line {
        Some(line) => place.line(line),
        None => {
            place.section = (!fragment.is_empty()).then(|| fragment.into());
            place
        }
    }
}

/// Returns the links of a line, each address once.
pub fn of_line(line: &DocLine) -> Vec<Link> {
    let words = line.text.plain_text();
    let mut links: Vec<Link> = Vec::new();
    for (range, address) in &line.links {
        if links.iter().all(|link| link.address != *address) {
            let text = words.get(range.clone()).unwrap_or_default().trim().to_owned();
            links.push(Link { text, address: address.clone() });
        }
    }
    links
}

/// Returns the link at a column of a line.
pub fn at_column(line: &DocLine, column: usize) -> Option<Link> {
    let words = line.text.plain_text();
    let (range, address) =
        line.links.iter().find(|(range, _)| text::columns(&words, range.clone()).contains(&column))?;
    Some(Link { text: words.get(range.clone())?.trim().to_owned(), address: address.clone() })
}

/// Opens the only link, or asks which one; `follow` opens an address in the pane that asked.
pub fn open<P: 'static>(links: Vec<Link>, pane: &mut P, cx: &mut Cx, follow: fn(&mut P, &str, &mut Cx)) {
    if let [link] = links.as_slice() {
        return follow(pane, &link.address, cx);
    }
    let here = cx.here;
    let items = links.iter().map(|link| {
        let address = link.address.clone();
        link.item(here.then(move |pane: &mut P, cx| follow(pane, &address, cx)))
    });
    cx.open(Picker::new("Open link", items.collect()));
}

/// Opens the only link of a description or a comment in a project or a group, or asks which one.
pub fn open_comment(links: &[Link], (project, group): (Option<&Id>, Option<&Id>), cx: &mut Cx) {
    let origin = TextOrigin { project: project.cloned(), group: group.cloned(), ..TextOrigin::default() };
    let action = |link: &Link| match destination(&cx.view, &origin, None, &link.address) {
        Ok(Destination::Target(target)) => target.action(),
        Ok(Destination::Line(_)) => Action::All(Vec::new()),
        Err(why) => Action::Say(Tone::Info, why),
    };
    let action = match links {
        [link] => action(link),
        _ => {
            let items = links.iter().map(|link| link.item(action(link))).collect();
            Action::OpenOverlay(Box::new(Picker::new("Open link", items)))
        }
    };
    cx.act(action);
}

/// Goes to a place or opens a web page. Returns the line to show if the link leads to the same text.
pub fn follow(origin: &TextOrigin, rendered: Option<&Rendered>, address: &str, cx: &mut Cx) -> Option<usize> {
    match destination(&cx.view, origin, rendered, address) {
        Ok(Destination::Line(line)) => return Some(line),
        Ok(Destination::Target(target)) => cx.act(target.action()),
        Err(why) => cx.say(Tone::Info, why),
    }
    None
}
