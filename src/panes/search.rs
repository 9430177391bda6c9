//! Search: one text, one tab for each kind of thing; every hit opens where it lives.

use super::list::{Listing, age, trouble, without_rows};
use super::project;
use crate::api::search::{Hit, Search, SearchGroup, SearchProject};
use crate::api::{Fault, Id, Known, Time};
use crate::app::action::{Action, Tone};
use crate::app::command::{Command, Motion, WhyNot};
use crate::app::pane::{Crumb, Cx, Pane, Pointer, Seek, Tabs, View};
use crate::app::place::Place;
use crate::app::target;
use crate::store::{Load, Rows, Want};
use crate::ui::table::{Cell, Column, Row, Size};
use crate::ui::theme::Role;
use crate::ui::{glyph, state};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::time::Duration;

/// How long the text rests before the server is asked.
const PAUSE: Duration = Duration::from_millis(250);

const EVERYWHERE: &[&str] = &["projects", "merge_requests", "issues", "milestones", "snippet_titles", "blobs"];
const EVERYWHERE_TITLES: &[&str] = &["Projects", "Merge requests", "Issues", "Milestones", "Snippets", "Code"];
const IN_GROUP: &[&str] = &["projects", "merge_requests", "issues", "milestones", "blobs"];
const IN_GROUP_TITLES: &[&str] = &["Projects", "Merge requests", "Issues", "Milestones", "Code"];
const IN_PROJECT: &[&str] = &["blobs", "commits", "merge_requests", "issues", "notes", "milestones"];
const IN_PROJECT_TITLES: &[&str] = &["Code", "Commits", "Merge requests", "Issues", "Notes", "Milestones"];

/// What is looked for, where, and what was found.
pub struct Searching {
    project: Option<Id>,
    group: Option<Id>,
    text: String,
    tab: usize,
    list: Listing,
}

impl Searching {
    fn scopes(&self) -> (&'static [&'static str], &'static [&'static str]) {
        match (&self.project, &self.group) {
            (Some(_), _) => (IN_PROJECT, IN_PROJECT_TITLES),
            (None, Some(_)) => (IN_GROUP, IN_GROUP_TITLES),
            (None, None) => (EVERYWHERE, EVERYWHERE_TITLES),
        }
    }

    fn scope(&self) -> String {
        self.scopes().0.get(self.tab).copied().unwrap_or("projects").to_owned()
    }

    fn load(&self) -> Load {
        let (scope, search, pages) = (self.scope(), self.text.trim().to_owned(), self.list.pages());
        match (&self.project, &self.group) {
            (Some(id), _) => Load::list(&SearchProject { id: id.clone(), scope, search }, pages),
            (None, Some(id)) => Load::list(&SearchGroup { id: id.clone(), scope, search }, pages),
            (None, None) => Load::list(&Search { scope, search }, pages),
        }
    }

    fn rows<'a>(&self, view: &View<'a>) -> Rows<'a, Hit> {
        let (scope, search) = (self.scope(), self.text.trim().to_owned());
        match (&self.project, &self.group) {
            (Some(id), _) => view.store.list(&SearchProject { id: id.clone(), scope, search }),
            (None, Some(id)) => view.store.list(&SearchGroup { id: id.clone(), scope, search }),
            (None, None) => view.store.list(&Search { scope, search }),
        }
    }

    fn current<'a>(&self, view: &View<'a>) -> Option<&'a Hit> {
        self.list.selected(&self.rows(view))
    }

    fn has_hit(&self, view: &View) -> Result<(), WhyNot> {
        self.current(view).map(|_| ()).ok_or_else(|| "nothing is selected".into())
    }

    /// The project of a hit: the one searched in, else its number.
    fn home_of(&self, number: Option<u64>) -> Option<Id> {
        self.project.clone().or(number.filter(|n| *n > 0).map(Id::from))
    }

    fn place_of(&self, view: &View, hit: &Hit) -> Option<Place> {
        match hit {
            Hit::Project(project) => Some(Place::new("files").project(project.path_with_namespace.as_str())),
            Hit::MergeRequest(request) => {
                let named = target::parse(&request.web_url, &view.session.web_url).ok().filter(|p| p.pane == "mr");
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
                Some(place.path(path).line(u32::try_from(blob.startline.max(1)).unwrap_or(1)))
            }
            Hit::Note(note) if note.noteable_type == "MergeRequest" => {
                let project = self.project.clone()?;
                Some(Place::new("mr").project(project).item(note.noteable_iid?))
            }
            _ => None,
        }
    }

    fn enter(&mut self, cx: &mut Cx) {
        let Some(hit) = self.current(&cx.view) else { return };
        match (self.place_of(&cx.view, hit), page_of(hit)) {
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
        let place = page_of(hit).and_then(|url| target::parse(&url, &view.session.web_url).ok());
        let known = place.and_then(|place| place.project).map(|project| project.to_string());
        known.unwrap_or_else(|| match hit {
            Hit::Blob(blob) => format!("project {}", blob.project_id),
            _ => String::new(),
        })
    }

    fn reset(&mut self) {
        self.list.restart();
    }
}

/// The web page of a hit, where it names one.
fn page_of(hit: &Hit) -> Option<String> {
    let url = match hit {
        Hit::Project(project) => Some(&project.web_url),
        Hit::MergeRequest(request) => Some(&request.web_url),
        Hit::Issue(issue) => Some(&issue.web_url),
        Hit::Snippet(snippet) => Some(&snippet.web_url),
        Hit::User(user) => Some(&user.web_url),
        Hit::Commit(commit) => commit.web_url.as_ref(),
        Hit::Milestone(milestone) => milestone.web_url.as_ref(),
        Hit::Blob(_) | Hit::Note(_) | Hit::Other(_) => None,
    };
    url.filter(|url| !url.is_empty()).cloned()
}

fn first_line(text: &str) -> String {
    text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default().to_owned()
}

/// What, its number, its words, whose, when.
fn facts(hit: &Hit) -> (Cell, Cell, Cell, Option<Time>) {
    let dim = |words: &str| Cell::from((words.to_owned(), Role::Dim));
    let state = |word: &str| {
        let (sign, role) = glyph::status(word);
        Cell::from((sign, role))
    };
    match hit {
        Hit::Project(p) => (
            Cell::from((p.path_with_namespace.clone(), Role::Text)),
            dim(&first_line(p.description())),
            Cell::empty(),
            p.last_activity_at.known().cloned(),
        ),
        Hit::MergeRequest(r) => (
            state(r.state.as_str()).and(format!(" !{}", r.iid), Role::Ref),
            Cell::from((r.title.clone(), Role::Text)),
            Cell::from((r.author().map(|a| a.username.clone()).unwrap_or_default(), Role::User)),
            r.updated_at.clone(),
        ),
        Hit::Issue(i) => (
            state(&i.state).and(format!(" #{}", i.iid), Role::Ref),
            Cell::from((i.title.clone(), Role::Text)),
            Cell::from((i.author.as_ref().map(|a| a.username.clone()).unwrap_or_default(), Role::User)),
            i.updated_at.clone(),
        ),
        Hit::Commit(c) => (
            Cell::from((c.short().to_owned(), Role::Ref)),
            Cell::from((c.title.clone(), Role::Text)),
            Cell::from((c.author_name.clone(), Role::User)),
            c.when().cloned(),
        ),
        Hit::Blob(b) => (
            Cell::from((b.path.clone().unwrap_or_else(|| b.filename.clone()), Role::Text))
                .and(format!(":{}", b.startline.max(1)), Role::Dim),
            dim(&first_line(&b.data)),
            Cell::empty(),
            None,
        ),
        Hit::Note(n) => (
            dim(&format!("{} {}", n.noteable_type, n.noteable_iid.map(|n| n.to_string()).unwrap_or_default())),
            Cell::from((first_line(&n.body), Role::Text)),
            Cell::from((n.author.as_ref().map(|a| a.username.clone()).unwrap_or_default(), Role::User)),
            n.created_at.clone(),
        ),
        Hit::Snippet(s) => (
            Cell::from((format!("${}", s.id), Role::Ref)),
            Cell::from((s.title.clone(), Role::Text)),
            Cell::from((s.author.as_ref().map(|a| a.username.clone()).unwrap_or_default(), Role::User)),
            s.updated_at.clone(),
        ),
        Hit::User(u) => (
            Cell::from((u.username.clone(), Role::User)),
            Cell::from((u.name.clone(), Role::Text)),
            dim(&u.state),
            None,
        ),
        Hit::Milestone(m) => (
            Cell::from((format!("%{}", m.iid), Role::Ref)),
            Cell::from((m.title.clone(), Role::Text)),
            dim(&m.state),
            m.updated_at.clone(),
        ),
        Hit::Other(value) => (Cell::empty(), dim(&value.to_string()), Cell::empty(), None),
    }
}

impl Pane for Searching {
    const ID: &'static str = "search";
    const TITLE: &'static str = "Search everywhere, in a group, in a project";
    const COMMANDS: &'static [Command<Self>] = &[
        Command::new("search.open", &["Enter"], "Open it where it lives", |pane: &mut Self, cx| pane.enter(cx))
            .footer("open")
            .when(Searching::has_hit),
        Command::new("search.everywhere", &["E"], "Widen it to everything", |pane: &mut Self, _| {
            (pane.project, pane.group, pane.tab) = (None, None, 0);
            pane.reset();
        })
        .footer("everywhere")
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

    fn crumbs(&self, view: &View) -> Vec<Crumb> {
        let mut crumbs = match (&self.project, &self.group) {
            (Some(id), _) => project::crumbs(view, id),
            (None, Some(group)) => super::crumbs::project(Some(group)),
            (None, None) => Vec::new(),
        };
        crumbs.push(Crumb::new("search", Role::Title));
        if !self.text.is_empty() {
            crumbs.push(Crumb::new(format!("/{}", self.text), Role::Match));
            let rows = self.rows(view);
            if rows.known {
                let more = if rows.more { "+" } else { "" };
                crumbs.push(Crumb::new(format!("{}{more} found", rows.len()), Role::Dim));
            }
        }
        crumbs
    }

    fn wants(&self, _view: &View) -> Vec<Want> {
        if self.text.trim().is_empty() { Vec::new() } else { vec![self.load().after(PAUSE).into()] }
    }

    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let theme = view.theme;
        if self.text.trim().is_empty() {
            let place = match (&self.project, &self.group) {
                (Some(id), _) | (None, Some(id)) => {
                    format!("This searches in {}.", crate::ui::text::shown(id.as_str()))
                }
                (None, None) => "This searches everything that you may see.".into(),
            };
            return state::empty(buf, area, theme, &place, "/ types what to look for, 1-6 say what kind of thing");
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
        let area = trouble(view, area, buf, rows.error);
        let row = |hit: &Hit| {
            let (what, words, whose, when) = facts(hit);
            Row::new(vec![
                Cell::from((self.project_of(view, hit), Role::Dim)),
                what,
                words,
                whose,
                Cell::from((age(view, when.as_ref()), Role::Dim)),
            ])
        };
        self.list.draw(view, area, buf, true, &rows, &columns, row, ("", ""));
    }

    fn changed(&mut self, cx: &mut Cx) {
        let rows = self.rows(&cx.view);
        // Hits have no name that all kinds share; what was found for one text does not change places.
        self.list.sync(&rows, |_| String::new());
    }

    fn motion(&mut self, motion: Motion, cx: &mut Cx) {
        let len = self.rows(&cx.view).len();
        match motion {
            Motion::Right => self.enter(cx),
            Motion::Left => {}
            other => self.list.motion(other, len),
        }
    }

    fn pointer(&mut self, pointer: Pointer, cx: &mut Cx) {
        let len = self.rows(&cx.view).len();
        if self.list.pointer(pointer, len) {
            self.enter(cx);
        }
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

    fn seek(&self) -> Option<Seek> {
        Some(Seek::Search)
    }

    fn sought(&self) -> String {
        self.text.clone()
    }

    fn set_sought(&mut self, text: &str, _cx: &mut Cx) {
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
        page_of(hit)
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
