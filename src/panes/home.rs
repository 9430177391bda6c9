//! Home: what needs the person: requests to review, own requests, running jobs, projects that lately changed.

use super::ci::{self, PULSE};
use super::list::age;
use super::looked;
use super::requests::Asking;
use crate::api::Id;
use crate::api::jobs::{Job, ListJobs};
use crate::api::merge_requests::{ListMergeRequests, MergeRequest};
use crate::api::projects::{ListProjects, Project};
use crate::app::App;
use crate::app::action::{Action, Tone};
use crate::app::command::{Command, Motion, WhyNot};
use crate::app::pane::{Crumb, Cx, Pane, Pointer, Section as Own, Seek, View};
use crate::app::place::Place;
use crate::app::recent;
use crate::app::target;
use crate::store::{Load, Rows, Want};
use crate::ui::table::{self, Cell, Column, ListState, Row, Size};
use crate::ui::theme::Role;
use crate::ui::{glyph, text};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::time::Duration;

/// Projects that are looked at for running jobs.
const WATCHED: usize = 5;
/// Pinned projects that are looked at.
const PINNED: usize = 20;
/// Places that are listed.
const LATELY: usize = 8;
/// Projects that are listed.
const RECENT: usize = 15;

/// A part of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Section {
    Assigned,
    Mine,
    /// One of the person's own, by its place among them.
    Own(usize),
    Running,
    /// Places that one was at.
    Lately,
    Recent,
}

/// The sections there are, in order.
fn sections(view: &View) -> impl Iterator<Item = Section> + use<> {
    let own = (0..view.session.sections.len()).map(Section::Own);
    [Section::Assigned, Section::Mine].into_iter().chain(own).chain([
        Section::Running,
        Section::Lately,
        Section::Recent,
    ])
}

impl Section {
    fn title<'a>(self, view: &View<'a>) -> &'a str {
        match self {
            Section::Assigned => "Assigned to me",
            Section::Mine => "Mine",
            Section::Own(index) => view.session.sections.get(index).map_or("", |own| own.name.as_str()),
            Section::Running => "Running",
            Section::Lately => "Lately here",
            Section::Recent => "Recent projects",
        }
    }

    fn empty(self) -> &'static str {
        match self {
            Section::Own(_) => "No merge request fits its query.",
            Section::Assigned => "No open merge request waits for you.",
            Section::Mine => "You have no open merge requests.",
            Section::Running => "Nothing runs in your latest projects.",
            Section::Lately => "What you open is found here again.",
            Section::Recent => "You are a member of no project; g p shows all of them.",
        }
    }
}

/// One line of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    Heading(Section, usize),
    /// Why a section has no rows.
    Nothing(Section),
    Request(Section, usize),
    /// A job, by its project among those that are watched, and its row there.
    Job(usize, usize),
    /// A place that one was at.
    Place(usize),
    Project(usize),
}

/// What needs the person.
#[derive(Default)]
pub struct Home {
    list: ListState,
    lines: Vec<Line>,
    filter: String,
    /// Whether the person chose what is selected; until then it is the first thing, whatever comes in when.
    chosen: bool,
    area: std::cell::Cell<Rect>,
}

fn requests_query(section: Section) -> ListMergeRequests {
    let scope = if section == Section::Assigned { "assigned-to-me" } else { "created-by-me" };
    ListMergeRequests {
        scope: Some(scope.into()),
        state: Some("opened".into()),
        order_by: Some("updated_at".into()),
        ..ListMergeRequests::default()
    }
}

fn projects_query() -> ListProjects {
    ListProjects { membership: Some(true), order_by: Some("last_activity_at".into()), ..ListProjects::default() }
}

fn running_query(project: &str) -> ListJobs {
    ListJobs { id: project.into(), scope: Some(vec!["running".into()]) }
}

/// What a section of one's own asks for.
fn own(view: &View, section: Section) -> Option<(Asking, String)> {
    let Section::Own(index) = section else { return None };
    view.session.sections.get(index).map(|section| (Asking::of(section), section.query.clone()))
}

fn requests<'a>(view: &View<'a>, section: Section) -> Rows<'a, MergeRequest> {
    match own(view, section) {
        Some((asking, query)) => asking.rows(&query, view),
        None => view.store.list(&requests_query(section)),
    }
}

fn projects<'a>(view: &View<'a>) -> Rows<'a, Project> {
    view.store.list(&projects_query())
}

fn running<'a>(view: &View<'a>, project: &str) -> Rows<'a, Job> {
    view.store.list(&running_query(project))
}

/// The full paths of the projects whose jobs are watched: the pinned ones, else those that changed last.
fn watched(view: &View) -> Vec<String> {
    let pinned = recent::pinned(view);
    if !pinned.is_empty() {
        return pinned.into_iter().take(PINNED).collect();
    }
    projects(view).iter().take(WATCHED).map(|project| project.path_with_namespace.clone()).collect()
}

/// The project of a request by its path, as far as anything names it.
fn path_of(view: &View, request: &MergeRequest) -> Id {
    let full = request.references.as_ref().and_then(|r| r.full.rsplit_once('!')).map(|(path, _)| path);
    if let Some(path) = full.filter(|path| !path.is_empty()) {
        return path.into();
    }
    if let Some(known) = projects(view).iter().find(|p| p.id == request.project_id) {
        return known.path_with_namespace.as_str().into();
    }
    let place = target::parse(&request.web_url, &view.session.web_url).ok();
    place.and_then(|place| place.project).unwrap_or_else(|| request.project_id.into())
}

/// The mark of a place that one was at, and what it says as far as that is known.
fn place_words(view: &View, place: &Place) -> (String, String) {
    let item = place.item.clone().unwrap_or_default();
    match place.pane.as_str() {
        "mr" => {
            let iid = item.parse::<u64>().ok();
            let fits = |r: &MergeRequest| Some(r.iid) == iid && Some(path_of(view, r)) == place.project;
            let known = view.store.known::<MergeRequest>().find(|(_, request)| fits(request));
            (format!("!{item}"), known.map(|(_, request)| request.title.clone()).unwrap_or_default())
        }
        "issue" => (format!("#{item}"), "issue".into()),
        "epic" => (format!("&{item}"), "epic".into()),
        "snippets" => (format!("${item}"), "snippet".into()),
        "job" => (String::new(), format!("job {item}")),
        "files" => {
            let at = place.git_ref.as_ref().map(|at| format!("{} ", super::project::short_ref(at))).unwrap_or_default();
            (String::new(), format!("{at}{}", place.path.as_deref().unwrap_or("files")))
        }
        pane => (String::new(), format!("{pane} {}", super::project::short_ref(&item))),
    }
}

impl Home {
    fn current(&self) -> Option<Line> {
        self.lines.get(self.list.selected()).copied()
    }

    fn is_thing(&self, index: usize) -> bool {
        match self.lines.get(index) {
            None | Some(Line::Heading(..)) => false,
            // One's own section can be opened and taken away, empty or not.
            Some(Line::Nothing(section)) => matches!(section, Section::Own(_)),
            Some(Line::Request(..) | Line::Job(..) | Line::Place(_) | Line::Project(_)) => true,
        }
    }

    fn request<'a>(&self, view: &View<'a>, line: Option<Line>) -> Option<&'a MergeRequest> {
        match line? {
            Line::Request(section, row) => requests(view, section).get(row),
            _ => None,
        }
    }

    /// The place of what is selected.
    fn target(&self, view: &View) -> Option<Place> {
        match self.current()? {
            Line::Request(section, row) => {
                let request = requests(view, section).get(row)?;
                Some(Place::new("mr").project(path_of(view, request)).item(request.iid))
            }
            Line::Job(..) => {
                let (path, job) = self.job(view)?;
                Some(Place::new("job").project(path).item(job.id))
            }
            Line::Project(row) => {
                Some(Place::new("files").project(projects(view).get(row)?.path_with_namespace.as_str()))
            }
            Line::Place(index) => recent::places(view).into_iter().nth(index),
            Line::Heading(..) | Line::Nothing(_) => None,
        }
    }

    fn job<'a>(&self, view: &View<'a>) -> Option<(String, &'a Job)> {
        let Some(Line::Job(project, row)) = self.current() else { return None };
        let path = watched(view).into_iter().nth(project)?;
        let job = running(view, &path).get(row)?;
        Some((path, job))
    }

    fn go(&mut self, pane: Option<&str>, cx: &mut Cx) {
        let Some(place) = self.target(&cx.view) else { return };
        match (pane, place.project.clone()) {
            (Some(pane), Some(project)) => cx.go(Place::new(pane).project(project)),
            _ => cx.go(place),
        }
    }

    fn has_thing(&self, view: &View) -> Result<(), WhyNot> {
        self.target(view).map(|_| ()).ok_or_else(|| "nothing is selected".into())
    }

    /// The section of one's own that the cursor is in.
    fn own_section<'a>(&self, view: &View<'a>) -> Option<&'a Own> {
        let section = match self.current()? {
            Line::Request(section, _) | Line::Heading(section, _) | Line::Nothing(section) => section,
            Line::Job(..) | Line::Place(_) | Line::Project(_) => return None,
        };
        match section {
            Section::Own(index) => view.session.sections.get(index),
            _ => None,
        }
    }

    fn in_own_section(&self, view: &View) -> Result<(), WhyNot> {
        self.own_section(view).map(|_| ()).ok_or_else(|| "this is no section of your own".into())
    }

    fn fits(&self, words: &[&str]) -> bool {
        let filter = self.filter.to_lowercase();
        filter.is_empty() || words.iter().any(|word| word.to_lowercase().contains(&filter))
    }

    /// The rows of a section; `None` while nothing is known of it.
    fn section(&self, view: &View, section: Section) -> Option<Vec<Line>> {
        match section {
            Section::Assigned | Section::Mine | Section::Own(_) => {
                let rows = requests(view, section);
                let assigned = requests(view, Section::Assigned);
                let shown = |r: &MergeRequest| section != Section::Mine || !assigned.iter().any(|a| a.id == r.id);
                let all = rows.iter().enumerate().filter(|(_, r)| {
                    let author = r.author().map_or("", |a| a.username.as_str());
                    shown(r) && self.fits(&[&r.title, path_of(view, r).as_str(), author])
                });
                (rows.known || rows.error.is_some()).then(|| all.map(|(row, _)| Line::Request(section, row)).collect())
            }
            Section::Running => {
                let known = projects(view).known || projects(view).error.is_some();
                let mut lines = Vec::new();
                for (index, project) in watched(view).iter().enumerate() {
                    let jobs = running(view, project);
                    let fits = |j: &&Job| self.fits(&[&j.name, &j.r#ref, project]);
                    let fitting = jobs.iter().enumerate().filter(|(_, j)| fits(j));
                    lines.extend(fitting.map(|(row, _)| Line::Job(index, row)));
                }
                known.then_some(lines)
            }
            Section::Lately => {
                let all = recent::places(view);
                let fitting = all.iter().enumerate().filter(|(_, place)| self.fits(&[&place.label()]));
                Some(fitting.map(|(index, _)| Line::Place(index)).take(LATELY).collect())
            }
            Section::Recent => {
                let rows = projects(view);
                let fitting = rows.iter().enumerate().filter(|(_, p)| self.fits(&[&p.path_with_namespace]));
                (rows.known || rows.error.is_some()).then(|| {
                    let most = if self.filter.is_empty() { RECENT } else { usize::MAX };
                    fitting.map(|(row, _)| Line::Project(row)).take(most).collect()
                })
            }
        }
    }

    fn arrange(&mut self, view: &View) {
        let mut lines = Vec::new();
        for section in sections(view) {
            let Some(rows) = self.section(view, section) else { continue };
            // Nothing is as quiet as a list that has not begun yet.
            if rows.is_empty() && (!self.filter.is_empty() || section == Section::Lately) {
                continue;
            }
            lines.push(Line::Heading(section, rows.len()));
            if rows.is_empty() {
                lines.push(Line::Nothing(section));
            }
            lines.extend(rows);
        }
        self.lines = lines;
    }

    fn key(&self, view: &View, index: usize) -> String {
        match self.lines.get(index) {
            Some(Line::Request(section, row)) => {
                format!("{section:?}{}", requests(view, *section).get(*row).map_or(0, |r| r.id))
            }
            Some(Line::Job(project, row)) => {
                let path = watched(view).into_iter().nth(*project).unwrap_or_default();
                format!("job{}", running(view, &path).get(*row).map_or(0, |j| j.id))
            }
            Some(Line::Place(index)) => {
                format!("place{}", recent::places(view).get(*index).map(Place::label).unwrap_or_default())
            }
            Some(Line::Project(row)) => format!("project{}", projects(view).get(*row).map_or(0, |p| p.id)),
            Some(Line::Heading(section, _) | Line::Nothing(section)) => format!("{section:?}"),
            None => String::new(),
        }
    }

    fn row(&self, view: &View, line: Line) -> Row {
        match line {
            Line::Heading(section, count) => {
                let mut cell = Cell::from((section.title(view).to_owned(), Role::TitleDim));
                if count > 0 && !matches!(section, Section::Recent | Section::Lately) {
                    cell = cell.and(format!(" {count}"), Role::Accent);
                }
                Row { cells: vec![cell.and(" ", Role::Dim)], heading: true, ..Row::default() }
            }
            Line::Nothing(section) => {
                let error = match section {
                    Section::Assigned | Section::Mine | Section::Own(_) => requests(view, section).error,
                    Section::Running | Section::Lately | Section::Recent => projects(view).error,
                };
                let words = match error {
                    Some(error) => (format!("{}: {}", error.title(), error.said()), Role::Failed),
                    None => (section.empty().to_owned(), Role::Dim),
                };
                Row::new(vec![Cell::empty(), Cell::empty(), Cell::from(words)])
            }
            Line::Request(section, row) => {
                let Some(request) = requests(view, section).get(row) else { return Row::default() };
                let status = request.pipeline().map(|p| glyph::status(p.status.as_str())).unwrap_or(("", Role::Dim));
                let mut title = Cell::empty();
                if request.is_draft() && !request.title.to_lowercase().contains("draft") {
                    title = title.and("draft ", Role::Warning);
                }
                let notes = request.user_notes_count.flatten().filter(|n| *n > 0);
                Row::new(vec![
                    Cell::from((path_of(view, request).to_string(), Role::Dim)),
                    Cell::from((format!("!{}", request.iid), Role::Ref)),
                    title.and(request.title.clone(), Role::Text),
                    Cell::from((request.author().map(|a| a.username.clone()).unwrap_or_default(), Role::User)),
                    match looked::news(view, request) {
                        Some(news) => Cell::from((format!("{} {}", glyph::alive(), news.words()), Role::Accent)),
                        None => Cell::from((notes.map(|n| format!("{n} notes")).unwrap_or_default(), Role::Dim)),
                    },
                    Cell::from(status),
                    Cell::from((age(view, request.updated_at.as_ref()), Role::Dim)),
                ])
            }
            Line::Job(project, row) => {
                let path = watched(view).into_iter().nth(project).unwrap_or_default();
                let Some(job) = running(view, &path).get(row) else { return Row::default() };
                let by = job.user.as_ref().map(|user| user.username.clone()).unwrap_or_default();
                let (sign, role) = ci::sign(job);
                Row::new(vec![
                    Cell::from((path, Role::Dim)),
                    Cell::from((format!("#{}", job.id), Role::Ref)),
                    Cell::from((job.name.clone(), Role::Text)).and(format!("  {}", job.r#ref), Role::Dim),
                    Cell::from((by, Role::User)),
                    Cell::from((ci::took(job, view.now), role)),
                    Cell::from((sign, role)),
                    Cell::from((age(view, job.started_at.as_ref()), Role::Dim)),
                ])
            }
            Line::Place(index) => {
                let all = recent::places(view);
                let Some(place) = all.get(index) else { return Row::default() };
                let within = place.project.as_ref().or(place.group.as_ref()).map(Id::to_string).unwrap_or_default();
                let (mark, words) = place_words(view, place);
                Row::new(vec![
                    Cell::from((within, Role::Dim)),
                    Cell::from((mark, Role::Ref)),
                    Cell::from((words, Role::Text)),
                ])
            }
            Line::Project(row) => {
                let Some(project) = projects(view).get(row) else { return Row::default() };
                let archived = project.is_archived();
                let about = project.description().lines().next().unwrap_or_default().to_owned();
                let last = project.last_activity_at.as_ref().and_then(Option::as_ref);
                Row::new(vec![
                    Cell::from((project.path_with_namespace.clone(), Role::Text)),
                    Cell::empty(),
                    Cell::from((about, Role::Dim)),
                    Cell::empty(),
                    Cell::from((if archived { "archived" } else { "" }, Role::Warning)),
                    Cell::empty(),
                    Cell::from((age(view, last), Role::Dim)),
                ])
                .dim(archived)
            }
        }
    }
}

impl Pane for Home {
    const ID: &'static str = "home";
    const TITLE: &'static str = "What needs me";
    const COMMANDS: &'static [Command<Self>] = &[
        Command::new("home.open", &["Enter"], "Open it", |pane: &mut Self, cx| pane.go(None, cx))
            .footer("open")
            .when(Home::has_thing),
        Command::new("home.mrs", &["m"], "Merge requests of its project", |pane: &mut Self, cx| {
            pane.go(Some("mrs"), cx);
        })
        .footer("merge requests")
        .when(Home::has_thing),
        Command::new("home.jobs", &["J"], "Jobs of its project", |pane: &mut Self, cx| pane.go(Some("jobs"), cx))
            .footer("jobs")
            .when(Home::has_thing),
        Command::new("home.files", &["b"], "Files of its project", |pane: &mut Self, cx| pane.go(Some("files"), cx))
            .when(Home::has_thing),
        Command::new("home.section", &["+"], "New section: a query of merge requests", |_: &mut Self, cx| {
            cx.go(Place::new("mrs"));
            cx.say(Tone::Info, "/ types a query, S makes a section of it");
        }),
        Command::new("home.list", &["s"], "Open the section as a list", |pane: &mut Self, cx| {
            if let Some(section) = pane.own_section(&cx.view) {
                cx.go(Asking::place(section));
            }
        })
        .when(Home::in_own_section),
        Command::new("home.drop", &["D"], "Take the section away", |pane: &mut Self, cx| {
            if let Some(section) = pane.own_section(&cx.view) {
                let question = format!("Take the section \"{}\" ({}) away?", section.name, section.query);
                cx.act(App::confirm("Section", question, Action::DropSection(section.name.clone())));
            }
        })
        .when(Home::in_own_section),
    ];

    fn open(_place: &Place, _view: &View) -> Self {
        Home::default()
    }

    fn place(&self) -> Place {
        Place::new(Self::ID)
    }

    fn crumbs(&self, _view: &View) -> Vec<Crumb> {
        let mut crumbs = vec![Crumb::new("home", Role::Title)];
        if !self.filter.is_empty() {
            crumbs.push(Crumb::new(format!("/{}", self.filter), Role::Match));
        }
        crumbs
    }

    fn wants(&self, view: &View) -> Vec<Want> {
        let mut wants: Vec<Want> = vec![Load::list(&projects_query(), 1).into()];
        for section in [Section::Assigned, Section::Mine] {
            wants.push(Load::list(&requests_query(section), 1).into());
        }
        for (asking, query) in sections(view).filter_map(|section| own(view, section)) {
            wants.extend(asking.wants(&query, view, 1, Duration::ZERO));
        }
        for project in watched(view) {
            let load = Load::list(&running_query(&project), 1);
            let live = !running(view, &project).is_empty();
            wants.push(if live { load.every(PULSE * 2).into() } else { load.into() });
        }
        wants
    }

    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        self.area.set(area);
        if self.lines.is_empty() {
            if self.filter.is_empty() {
                crate::ui::state::skeleton(buf, area, view.theme);
            } else {
                crate::ui::state::empty(buf, area, view.theme, "Nothing here fits the filter.", "Esc ends it");
            }
            return;
        }
        let columns = [
            Column::new("", Size::Fit { min: 12, max: if view.size.0 < 100 { 20 } else { 32 } }).middle().priority(1),
            Column::new("", Size::Fit { min: 2, max: 9 }).right(),
            Column::new("", Size::Fill { min: 16, weight: 1 }),
            Column::new("", Size::Fit { min: 3, max: 14 }).priority(3),
            Column::new("", Size::Fit { min: 6, max: 14 }).right().priority(2),
            Column::new("", Size::Fit { min: 1, max: 1 }),
            Column::new("", Size::Fixed(4)).right().priority(2),
        ];
        table::draw(buf, area, view.theme, true, &self.list, &columns, self.lines.len(), |index| {
            self.lines.get(index).map(|line| self.row(view, *line)).unwrap_or_default()
        });
    }

    fn changed(&mut self, cx: &mut Cx) {
        self.arrange(&cx.view);
        let len = self.lines.len();
        let mut list = std::mem::take(&mut self.list);
        if self.chosen {
            list.sync(len, |index| self.key(&cx.view, index));
        } else {
            list.first();
        }
        list.settle(len, true, |index| self.is_thing(index));
        self.list = list;
    }

    fn motion(&mut self, motion: Motion, cx: &mut Cx) {
        let (len, before) = (self.lines.len(), self.list.selected());
        self.chosen = true;
        match motion {
            Motion::Right => return self.go(None, cx),
            Motion::Left => return,
            Motion::PageUp => self.list.page_by(-1, len),
            Motion::PageDown => self.list.page_by(1, len),
            Motion::Wheel(rows) => self.list.scroll_by(rows.into(), len),
            other => other.apply(&mut self.list, len),
        }
        let mut list = std::mem::take(&mut self.list);
        list.settle(len, list.selected() >= before, |index| self.is_thing(index));
        self.list = list;
    }

    fn pointer(&mut self, pointer: Pointer, cx: &mut Cx) {
        let area = self.area.get();
        match pointer {
            Pointer::Wheel { rows, .. } => self.motion(Motion::Wheel(rows), cx),
            Pointer::Press { column, row, double } if area.contains((column, row).into()) => {
                if let Some(index) = self.list.row_at(row - area.y).filter(|index| self.is_thing(*index)) {
                    self.chosen = true;
                    self.list.select(index, self.lines.len());
                    if double {
                        self.go(None, cx);
                    }
                }
            }
            Pointer::Press { .. } | Pointer::Drag { .. } | Pointer::Release => {}
        }
    }

    fn seek(&self) -> Option<Seek> {
        Some(Seek::Filter)
    }

    fn sought(&self) -> String {
        self.filter.clone()
    }

    fn set_sought(&mut self, text: &str, _cx: &mut Cx) {
        self.filter = text.to_owned();
        self.chosen = false;
    }

    fn escape(&mut self, _cx: &mut Cx) -> bool {
        let filtered = !self.filter.is_empty();
        self.filter.clear();
        filtered
    }

    fn url(&self, view: &View) -> Option<String> {
        match self.current()? {
            line @ Line::Request(..) => self.request(view, Some(line)).map(|r| r.web_url.clone()),
            Line::Job(..) => {
                let (path, job) = self.job(view)?;
                Some(ci::url(view, &path.as_str().into(), job))
            }
            Line::Project(row) => projects(view).get(row).map(|p| p.web_url.clone()),
            Line::Place(_) | Line::Heading(..) | Line::Nothing(_) => None,
        }
    }

    fn copies(&self, view: &View) -> Vec<(&'static str, String)> {
        let Some(place) = self.target(view) else { return Vec::new() };
        let path = place.project.map(|p| p.to_string()).unwrap_or_default();
        match self.request(view, self.current()) {
            Some(request) => vec![
                ("reference", format!("{path}!{}", request.iid)),
                ("title", text::shown(&request.title).into_owned()),
                ("branch", request.source_branch().to_owned()),
            ],
            None => vec![("path", path)],
        }
    }

    fn ticks(&self, _view: &View) -> bool {
        self.lines.iter().any(|line| matches!(line, Line::Job(..)))
    }
}
