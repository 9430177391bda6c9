//! Search: one text, one tab for each kind of thing; every hit opens where it lives.

mod hit;

use crate::api::endpoint::Request;
use crate::api::search::{Hit, Search, SearchGroup, SearchProject};
use crate::api::{Fault, Id, Known};
use crate::app::action::{Action, Tone};
use crate::app::command::{Command, Disabled, Motion};
use crate::app::pane::{Breadcrumb, Cx, Pane, Pointer, SearchMode, Tabs, View};
use crate::app::place::Place;
use crate::app::target;
use crate::parts::list::{self, Listing, age, trouble, without_rows};
use crate::parts::project;
use crate::store::{Load, Revision, Rows, Want};
use crate::ui::doc::{self, DocLine, DocState};
use crate::ui::panels::{self, PanelRequest, Panels};
use crate::ui::state;
use crate::ui::table::{Cell, Column, Row, Size};
use crate::ui::theme::Role;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::cell::Cell as Shared;
use std::time::Duration;

/// How long the text rests before the server is asked.
const PAUSE: Duration = Duration::from_millis(250);
/// The same for the other tabs, which are asked for their counts alone.
const COUNTS: Duration = Duration::from_millis(600);

/// A tab: the word of the interface, and its title.
type Scope = (&'static str, &'static str);

/// Everywhere; the last three need a full-text engine on the server.
const EVERYWHERE: &[Scope] = &[
    ("projects", "Projects"),
    ("issues", "Issues"),
    ("merge_requests", "Requests"),
    ("milestones", "Milestones"),
    ("snippet_titles", "Snippets"),
    ("snippet_blobs", "In snippets"),
    ("blobs", "Code"),
    ("wiki_blobs", "Wikis"),
    ("commits", "Commits"),
];
/// In a group; the last three need a full-text engine on the server.
const IN_GROUP: &[Scope] = &[
    ("projects", "Projects"),
    ("issues", "Issues"),
    ("merge_requests", "Requests"),
    ("milestones", "Milestones"),
    ("blobs", "Code"),
    ("wiki_blobs", "Wikis"),
    ("commits", "Commits"),
];
const IN_PROJECT: &[Scope] = &[
    ("blobs", "Code"),
    ("commits", "Commits"),
    ("merge_requests", "Requests"),
    ("issues", "Issues"),
    ("notes", "Notes"),
    ("milestones", "Milestones"),
    ("wiki_blobs", "Wiki"),
];

/// The titles of some tabs.
const fn titles<const N: usize>(scopes: &[Scope]) -> [&'static str; N] {
    let mut all = [""; N];
    let mut index = 0;
    while index < N && index < scopes.len() {
        all[index] = scopes[index].1;
        index += 1;
    }
    all
}

const EVERYWHERE_TITLES: &[&str] = &titles::<{ EVERYWHERE.len() }>(EVERYWHERE);
const IN_GROUP_TITLES: &[&str] = &titles::<{ IN_GROUP.len() }>(IN_GROUP);
const IN_PROJECT_TITLES: &[&str] = &titles::<{ IN_PROJECT.len() }>(IN_PROJECT);

const LIST: usize = 0;
const HIT: usize = 1;
const ASKS: &[PanelRequest] = &[PanelRequest { min: 60, weight: 3 }, PanelRequest { min: 44, weight: 2 }];

/// What is looked for, where, and what was found.
pub struct Searching {
    project: Option<Id>,
    group: Option<Id>,
    text: String,
    tab: usize,
    list: Listing,
    panels: Panels,
    hit: DocState,
    hit_area: Shared<Rect>,
    shown: Preview,
}

impl Searching {
    fn scopes(&self) -> (&'static [Scope], &'static [&'static str]) {
        match (&self.project, &self.group) {
            (Some(_), _) => (IN_PROJECT, IN_PROJECT_TITLES),
            (None, Some(_)) => (IN_GROUP, IN_GROUP_TITLES),
            (None, None) => (EVERYWHERE, EVERYWHERE_TITLES),
        }
    }

    /// The word of the tab `index`.
    fn scope(&self, index: usize) -> String {
        self.scopes().0.get(index).map_or("projects", |(word, _)| word).to_owned()
    }

    fn load_of(&self, index: usize, pages: u32) -> Load {
        let (scope, search) = (self.scope(index), self.text.trim().to_owned());
        match (&self.project, &self.group) {
            (Some(id), _) => Load::list(&SearchProject { id: id.clone(), scope, search }, pages),
            (None, Some(id)) => Load::list(&SearchGroup { id: id.clone(), scope, search }, pages),
            (None, None) => Load::list(&Search { scope, search }, pages),
        }
    }

    fn rows<'a>(&self, view: &View<'a>) -> Rows<'a, Hit> {
        self.rows_of(self.tab, view)
    }

    fn rows_of<'a>(&self, index: usize, view: &View<'a>) -> Rows<'a, Hit> {
        let (scope, search) = (self.scope(index), self.text.trim().to_owned());
        match (&self.project, &self.group) {
            (Some(id), _) => view.store.list(&SearchProject { id: id.clone(), scope, search }),
            (None, Some(id)) => view.store.list(&SearchGroup { id: id.clone(), scope, search }),
            (None, None) => view.store.list(&Search { scope, search }),
        }
    }

    fn current<'a>(&self, view: &View<'a>) -> Option<&'a Hit> {
        self.list.selected(&self.rows(view))
    }

    fn has_hit(&self, view: &View) -> Result<(), Disabled> {
        list::need(self.current(view), &self.rows(view), "nothing is selected").map(|_| ())
    }

    /// The project of a hit: the one searched in, else its number.
    fn home_of(&self, number: Option<u64>) -> Option<Id> {
        self.project.clone().or(number.filter(|n| *n > 0).map(Id::from))
    }

    fn place_of(&self, view: &View, hit: &Hit) -> Option<Place> {
        match hit {
            Hit::Project(project) => Some(Place::new("files").project(project.path_with_namespace.as_str())),
            Hit::MergeRequest(request) => {
                let named =
                    target::parse(view.panes, &request.web_url, &view.session.web_url).ok().filter(|p| p.pane == "mr");
                named.or_else(|| {
                    Some(Place::new("mr").project(self.home_of(Some(request.project_id))?).item(request.iid))
                })
            }
            Hit::Commit(commit) => {
                let project = self.home_of(commit.project_id.known().copied())?;
                Some(Place::new("commit").project(project).item(&commit.id))
            }
            Hit::Blob(blob) => {
                let place = Place::new("files").project(self.home_of(Some(blob.project_id))?).at(blob.r#ref.as_str());
                let path = blob.path.as_deref().unwrap_or(&blob.filename);
                let line = blob.startline.max(1).saturating_add(hit::found_line(&blob.data, &self.text).0 as u64);
                Some(place.path(path).line(u32::try_from(line).unwrap_or(1)))
            }
            Hit::Note(note) => {
                let project = self.home_of(note.project_id)?;
                match note.noteable_type.as_str() {
                    "MergeRequest" => Some(Place::new("mr").project(project).item(note.noteable_iid?)),
                    "Issue" => Some(Place::new("issue").project(project).item(note.noteable_iid?)),
                    "Snippet" => Some(Place::new("snippets").project(project).item(note.noteable_id?).tab("notes")),
                    _ => None,
                }
            }
            Hit::Issue(issue) => {
                let named =
                    target::parse(view.panes, &issue.web_url, &view.session.web_url).ok().filter(|p| p.pane == "issue");
                let place = || Some(Place::new("issue").project(self.home_of(Some(issue.project_id))?).item(issue.iid));
                Some(named.or_else(place)?.query(self.text.trim()))
            }
            Hit::Snippet(snippet) => {
                let project = self.home_of(snippet.project_id.known().copied())?;
                Some(Place::new("snippets").project(project).item(snippet.id))
            }
            Hit::Milestone(milestone) => {
                let project = self.home_of(milestone.project_id)?;
                let quoted = format!("milestone:\"{}\"", milestone.title.replace('"', ""));
                Some(Place::new("mrs").project(project).tab("all").query(quoted))
            }
            Hit::User(user) => Some(Place::new("user").item(&user.username)),
            Hit::Other(_) => None,
        }
    }

    fn enter(&mut self, cx: &mut Cx) {
        let Some(hit) = self.current(&cx.view) else { return };
        match (self.place_of(&cx.view, hit), hit::page_of(hit)) {
            (Some(place), _) => cx.go(place),
            (None, Some(_)) => cx.act(Action::Run("browse")),
            (None, None) => cx.say(Tone::Warning, "labscope has no place for this yet, and it has no page."),
        }
    }

    /// The path of a hit's project, where several are searched and its page tells.
    fn project_of(&self, view: &View, hit: &Hit) -> String {
        if self.project.is_some() || matches!(hit, Hit::Project(_) | Hit::User(_)) {
            return String::new();
        }
        let place = hit::page_of(hit).and_then(|url| target::parse(view.panes, &url, &view.session.web_url).ok());
        let known = place.and_then(|place| place.project).map(|project| project.to_string());
        known.unwrap_or_else(|| match hit {
            Hit::Blob(blob) => format!("project {}", blob.project_id),
            _ => String::new(),
        })
    }

    fn reset(&mut self) {
        self.list.restart();
        self.hit.first();
        self.panels.set_focus(LIST);
    }

    /// From a project to its group, from a group to everything; the kind of thing stays where it can.
    fn widen(&mut self, cx: &mut Cx) {
        let kind = self.scope(self.tab);
        let path = self.project.as_ref().map(|id| {
            project::project(&cx.view, id).map_or_else(|| id.to_string(), |project| project.path_with_namespace.clone())
        });
        let parent = path.as_deref().and_then(|path| path.rsplit_once('/')).map(|(group, _)| Id::from(group));
        (self.project, self.group) = (None, parent);
        self.tab = self.scopes().0.iter().position(|(word, _)| *word == kind).unwrap_or(0);
        self.reset();
    }

    /// Returns whether the server cannot search this.
    fn is_refused(&self, index: usize, view: &View) -> bool {
        let rows = self.rows_of(index, view);
        rows.is_empty()
            && matches!(rows.error.map(|error| &error.fault), Some(Fault::Refused(400, _) | Fault::Denied(_)))
    }

    /// The text of the selected hit beside the list: its lines with what was found in color.
    fn draw_hit(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let Some(hit) = self.current(view) else { return };
        let focused = self.panels.focus() == HIT;
        let body = panels::title(buf, area, view.theme, focused, &hit::title(hit), "");
        self.hit_area.set(body);
        if self.shown.lines.is_empty() {
            return state::empty(buf, body, view.theme, "It has no text of its own.", "⏎ opens it");
        }
        let lines = &self.shown.lines;
        doc::draw(buf, body, view.theme, focused, &self.hit, lines.len(), 0, |index| {
            lines.get(index).map(DocLine::borrowed).unwrap_or_default()
        });
    }

    fn move_hit(&mut self, motion: Motion) {
        match motion {
            Motion::Left => self.panels.set_focus(LIST),
            other => other.window(&mut self.hit, self.shown.lines.len()),
        }
    }

    /// After an update: the lines of the hit are those of the one that is selected.
    fn show_hit(&mut self, view: &View) {
        let rows = self.rows(view);
        let places = self.panels.places(Rect::new(0, 0, view.size.0, view.size.1), ASKS);
        let width = places.get(HIT).copied().flatten().map_or(0, |place| usize::from(place.width.saturating_sub(3)));
        let request = self.load_of(self.tab, 1).request;
        let of = Some((request, self.list.state.selected(), rows.revision, width, view.theme.name.clone()));
        if self.shown.of == of {
            return;
        }
        let lines = self.list.selected(&rows).map(|hit| hit::lines(view.theme, hit, &self.text, width.max(10)));
        self.shown = Preview { of, lines: lines.unwrap_or_default() };
    }
}

/// The lines of the hit beside the list, and what they were made of: the request, row, replies, columns, theme.
#[derive(Default)]
struct Preview {
    of: Option<(Request, usize, Revision, usize, String)>,
    lines: Vec<DocLine<'static>>,
}

impl Pane for Searching {
    const ID: &'static str = "search";
    const TITLE: &'static str = "Search everywhere, in a group, in a project";
    const COMMANDS: &'static [Command<Self>] = &[
        Command::new("search.open", &["Enter"], "Open result", |pane: &mut Self, cx| pane.enter(cx))
            .footer("open")
            .when(Searching::has_hit),
        Command::new("search.everywhere", &["E"], "Search a wider scope", |pane: &mut Self, cx| {
            pane.widen(cx);
        })
        .footer("widen")
        .when(|pane, _| {
            let within = pane.project.is_some() || pane.group.is_some();
            if within { Ok(()) } else { Err("it is searched everywhere already".into()) }
        }),
    ];

    fn open(place: &Place, _view: &View) -> Self {
        let mut pane = Searching {
            project: place.project.clone(),
            group: place.group.clone(),
            text: place.item.clone().unwrap_or_default(),
            tab: 0,
            list: Listing::default(),
            panels: Panels::new(2),
            hit: DocState { cursor_line: false, ..DocState::new() },
            hit_area: Shared::default(),
            shown: Preview::default(),
        };
        let titles = pane.scopes().1;
        let named = place.tab.as_deref().and_then(|tab| titles.iter().position(|t| t.eq_ignore_ascii_case(tab)));
        pane.tab = named.unwrap_or(0);
        pane
    }

    fn place(&self) -> Place {
        let tab = self.scopes().1.get(self.tab).filter(|_| self.tab > 0).map(|title| title.to_lowercase());
        Place {
            project: self.project.clone(),
            group: self.group.clone(),
            item: Some(self.text.clone()).filter(|text| !text.is_empty()),
            tab,
            ..Place::new(Self::ID)
        }
    }

    fn breadcrumbs(&self, view: &View) -> Vec<Breadcrumb> {
        let mut breadcrumbs = match (&self.project, &self.group) {
            (Some(id), _) => project::breadcrumbs(view, id),
            (None, Some(group)) => crate::parts::breadcrumbs::project(Some(group)),
            (None, None) => Vec::new(),
        };
        breadcrumbs.push(Breadcrumb::new("search", Role::Title));
        if !self.text.is_empty() {
            breadcrumbs.push(Breadcrumb::new(format!("/{}", self.text), Role::Match));
            let rows = self.rows(view);
            let count = self.list.count(&rows);
            breadcrumbs.extend(count.map(|count| Breadcrumb::new(format!("{count} found"), Role::Dim)));
        }
        breadcrumbs
    }

    fn wants(&self, _view: &View) -> Vec<Want> {
        if self.text.trim().is_empty() {
            return Vec::new();
        }
        // The tab that is seen comes first; the others follow for their counts.
        let mut wants = vec![self.load_of(self.tab, self.list.pages()).after(PAUSE).into()];
        let others = (0..self.scopes().0.len()).filter(|index| *index != self.tab);
        wants.extend(others.map(|index| Want::from(self.load_of(index, 1).after(COUNTS))));
        wants
    }

    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let theme = view.theme;
        self.list.drawn_at(Rect::default());
        self.hit_area.set(Rect::default());
        if self.text.trim().is_empty() {
            let place = match (&self.project, &self.group) {
                (Some(id), _) | (None, Some(id)) => {
                    format!("This searches in {}.", crate::ui::text::shown(id.as_str()))
                }
                (None, None) => "This searches everything that you may see.".into(),
            };
            let keys = format!("/ types what to look for, 1 to {} say what kind of thing", self.scopes().0.len());
            return state::empty(buf, area, theme, &place, &keys);
        }
        let rows = self.rows(view);
        if let (true, Some(error)) = (rows.is_empty(), rows.error)
            && let Fault::Refused(400, said) = &error.fault
        {
            let title = self.scopes().1.get(self.tab).copied().unwrap_or_default().to_lowercase();
            let why = format!("This server cannot search {title} here: {}", crate::ui::text::shown(said));
            return state::empty(
                buf,
                area,
                theme,
                &why,
                "Another tab may; code needs a full-text engine on the server",
            );
        }
        if rows.is_empty() {
            return without_rows(view, area, buf, &rows, ("Nothing of this kind fits.", "/ changes the text"));
        }
        let columns = [
            Column::new("", Size::Fit { min: 8, max: 28 }).middle().priority(3),
            Column::new("", Size::Fit { min: 8, max: 44 }).middle(),
            Column::new("", Size::Fill { min: 16, weight: 1 }),
            Column::new("", Size::Fit { min: 4, max: 18 }).priority(2),
            Column::new("", Size::Fit { min: 2, max: 5 }).right().priority(1),
        ];
        let places = self.panels.layout(area, ASKS);
        self.panels.rules(buf, view.theme);
        if let Some(place) = places.get(HIT).copied().flatten() {
            self.draw_hit(view, place, buf);
        }
        let Some(area) = places.get(LIST).copied().flatten() else { return };
        let area = trouble(view, area, buf, rows.error);
        let row = |hit: &Hit| {
            let (what, words, whose, when) = hit::facts(hit, &self.text);
            Row::new(vec![
                Cell::from((self.project_of(view, hit), Role::Dim)),
                what,
                words,
                whose,
                Cell::from((age(view, when.as_ref()), Role::Dim)),
            ])
        };
        let focused = self.panels.focus() == LIST;
        self.list.draw(view, area, buf, focused, &rows, &columns, row, ("", ""));
    }

    fn changed(&mut self, cx: &mut Cx) {
        let rows = self.rows(&cx.view);
        // Hits have no name that all kinds share; what was found for one text does not change places.
        self.list.sync(&rows, |_| String::new());
        self.show_hit(&cx.view);
    }

    fn motion(&mut self, motion: Motion, cx: &mut Cx) {
        if self.panels.focus() == HIT {
            return self.move_hit(motion);
        }
        let before = self.list.state.selected();
        let len = self.rows(&cx.view).len();
        match motion {
            Motion::Right => self.enter(cx),
            Motion::Left => {}
            other => self.list.motion(other, len),
        }
        if self.list.state.selected() != before {
            self.hit.first();
        }
    }

    fn pointer(&mut self, pointer: Pointer, cx: &mut Cx) {
        let (Pointer::Press { column, row, .. } | Pointer::Wheel { column, row, .. }) = pointer else { return };
        if self.hit_area.get().contains((column, row).into()) {
            return match pointer {
                Pointer::Wheel { rows, .. } => self.move_hit(Motion::Wheel(rows)),
                _ => self.panels.set_focus(HIT),
            };
        }
        self.panels.set_focus(LIST);
        let (len, before) = (self.rows(&cx.view).len(), self.list.state.selected());
        let opens = self.list.pointer(pointer, len);
        if self.list.state.selected() != before {
            self.hit.first();
        }
        if opens {
            self.enter(cx);
        }
    }

    fn panels(&mut self) -> Option<&mut Panels> {
        Some(&mut self.panels)
    }

    fn escape(&mut self, _cx: &mut Cx) -> bool {
        let inside = self.panels.focus() == HIT;
        self.panels.set_focus(LIST);
        inside
    }

    fn tab_count(&self, index: usize, view: &View) -> Option<String> {
        if self.text.trim().is_empty() {
            return None;
        }
        let rows = self.rows_of(index, view);
        list::count(&rows, rows.len(), None).or_else(|| self.is_refused(index, view).then(|| "–".into()))
    }

    fn tabs(&self) -> Tabs {
        Tabs { titles: self.scopes().1, selected: self.tab }
    }

    fn select_tab(&mut self, index: usize, _cx: &mut Cx) {
        if index < self.scopes().0.len() && index != self.tab {
            self.tab = index;
            self.reset();
        }
    }

    fn search_mode(&self) -> Option<SearchMode> {
        Some(SearchMode::Search)
    }

    fn filter_text(&self) -> String {
        self.text.clone()
    }

    fn set_filter_text(&mut self, text: &str, _cx: &mut Cx) {
        if self.text != text {
            self.text = text.to_owned();
            self.reset();
        }
    }

    fn seek_next(&mut self, forward: bool, cx: &mut Cx) {
        self.motion(if forward { Motion::Down } else { Motion::Up }, cx);
    }

    fn url(&self, view: &View) -> Option<String> {
        let hit = self.current(view)?;
        hit::page_of(hit)
    }

    fn copies(&self, view: &View) -> Vec<(&'static str, String)> {
        match self.current(view) {
            Some(Hit::Commit(commit)) => vec![("SHA", commit.id.clone())],
            Some(Hit::Blob(blob)) => vec![("path", blob.filename.clone()), ("lines", blob.data.clone())],
            Some(Hit::Project(project)) => vec![("path", project.path_with_namespace.clone())],
            _ => Vec::new(),
        }
    }
}
