//! Projects: all that the server shows, filtered as one types.

use crate::api::groups::ListGroupProjects;
use crate::api::projects::{ListProjects, Project};
use crate::api::{Id, Known};
use crate::app::command::{Command, Motion};
use crate::app::pane::{Breadcrumb, Cx, Pane, Pointer, SearchMode, View};
use crate::app::place::Place;
use crate::app::query::{self, Grammar, QueryResult};
use crate::app::recent;
use crate::parts::columns::{ColumnState, Columns, Field};
use crate::parts::list::{Listing, age};
use crate::parts::{forms, query_list, review};
use crate::store::{Load, Rows, Want};
use crate::ui::glyph;
use crate::ui::table::{Cell, Column, Row, Size};
use crate::ui::text;
use crate::ui::theme::Role;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use serde_json::{Value, json};

/// Which projects are listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Scope {
    #[default]
    All,
    Member,
    Owned,
    Starred,
}

/// The list of projects.
#[derive(Default)]
pub struct Projects {
    list: Listing,
    scope: Scope,
    /// Those of a group alone.
    group: Option<Id>,
}

const COLUMNS: Columns<Project> = Columns {
    place: "projects",
    fields: &[
        Field::new("path", Column::new("project", Size::Fit { min: 20, max: 44 }).middle()).server("path"),
        Field::new("description", Column::new("description", Size::Fill { min: 24, weight: 1 }).priority(3)),
        Field::new("branch", Column::new("branch", Size::Fit { min: 4, max: 16 }).priority(5)),
        Field::new("visibility", Column::new("visible", Size::Fit { min: 6, max: 10 }).priority(2)),
        Field::new("stars", Column::new("stars", Size::Fit { min: 0, max: 6 }).right().priority(4))
            .loaded(|a, b| a.star_count.flatten().cmp(&b.star_count.flatten())),
        Field::new("size", Column::new("size", Size::Fit { min: 0, max: 9 }).right().priority(1)),
        Field::new("forks", Column::new("forks", Size::Fit { min: 0, max: 6 }).right().priority(6))
            .loaded(|a: &Project, b| a.forks_count.flatten().cmp(&b.forks_count.flatten()))
            .hidden(),
        Field::new("issues", Column::new("issues", Size::Fit { min: 0, max: 6 }).right().priority(6))
            .loaded(|a: &Project, b| a.open_issues_count.flatten().cmp(&b.open_issues_count.flatten()))
            .hidden(),
        Field::new("topics", Column::new("topics", Size::Fit { min: 0, max: 30 }).priority(7)).hidden(),
        Field::new("created", Column::new("made", Size::Fixed(4)).right().priority(6)).server("created_at").hidden(),
        Field::new("changed", Column::new("when", Size::Fixed(4)).right().priority(1)).server("last_activity_at"),
    ],
    order: Some(("changed", true)),
};

const SCOPES: &[(&str, Scope)] =
    &[("All", Scope::All), ("Member", Scope::Member), ("Owned", Scope::Owned), ("Starred", Scope::Starred)];
const TITLES: &[&str] = &["All", "Member", "Owned", "Starred"];
/// The interface does not tell members' projects of a group from others.
const OF_GROUP: &[(&str, Scope)] = &[("All", Scope::All), ("Owned", Scope::Owned), ("Starred", Scope::Starred)];
const OF_GROUP_TITLES: &[&str] = &["All", "Owned", "Starred"];

/// What is asked for.
enum Query {
    All(ListProjects),
    OfGroup(ListGroupProjects),
}

impl Query {
    fn rows<'a>(&self, view: &View<'a>) -> Rows<'a, Project> {
        match self {
            Query::All(list) => view.store.list(list),
            Query::OfGroup(list) => view.store.list(list),
        }
    }

    fn load(&self, pages: u32) -> Load {
        match self {
            Query::All(list) => Load::list(list, pages),
            Query::OfGroup(list) => Load::list(list, pages),
        }
    }
}

impl Projects {
    fn words(&self) -> Grammar {
        let terms = if self.group.is_some() { query::GROUP_PROJECTS } else { query::PROJECTS };
        Grammar::new(terms, Some("search"), None)
    }

    fn scopes(&self) -> &'static [(&'static str, Scope)] {
        if self.group.is_some() { OF_GROUP } else { SCOPES }
    }

    /// What is asked for by `text`; `None` while it cannot be.
    fn query(&self, text: &str, view: &View) -> Option<Query> {
        let is = |scope| if self.scope == scope { json!(true) } else { Value::Null };
        let order = COLUMNS.chosen(view).server();
        let given = query_list::given([
            ("id", self.group.as_ref().map_or(Value::Null, |group| json!(group))),
            ("order_by", json!(order.map_or("last_activity_at", |(word, _)| word))),
            ("sort", order.map_or(Value::Null, |(_, way)| json!(way))),
            ("membership", is(Scope::Member)),
            ("owned", is(Scope::Owned)),
            ("starred", is(Scope::Starred)),
        ]);
        let asked = match self.group {
            Some(_) => ready(self.words().ask(text, given, view)).map(Query::OfGroup),
            None => ready(self.words().ask(text, given, view)).map(Query::All),
        };
        asked.filter(|_| self.group.is_none() || self.scope != Scope::Member)
    }

    fn chosen(&self, view: &View) -> ColumnState<Project> {
        COLUMNS.chosen(view).unless(query::get(self.list.filter_text(), "sort").is_some())
    }

    fn rows<'a>(&self, view: &View<'a>) -> Rows<'a, Project> {
        self.rows_of(self.list.shown(), view)
    }

    fn rows_of<'a>(&self, text: &str, view: &View<'a>) -> Rows<'a, Project> {
        self.query(text, view).map_or_else(|| Rows::chain(Vec::new()), |list| list.rows(view))
    }

    fn current<'a>(&self, view: &View<'a>) -> Option<&'a Project> {
        self.list.selected(&self.rows(view))
    }

    fn go(&mut self, pane: &str, cx: &mut Cx) {
        if let Some(project) = self.current(&cx.view) {
            cx.go(Place::new(pane).project(project.path_with_namespace.as_str()));
        }
    }

    fn has_project(&self, view: &View) -> Result<(), crate::app::command::Disabled> {
        self.current(view).map(|_| ()).ok_or_else(|| "no project is selected".into())
    }
}

fn ready<E>(asked: QueryResult<E>) -> Option<E> {
    match asked {
        QueryResult::Ready(list) => Some(list),
        QueryResult::Naming | QueryResult::Wrong(_) => None,
    }
}

fn row(view: &View, project: &Project) -> Row {
    let (group, name) = project.path_with_namespace.rsplit_once('/').unwrap_or(("", &project.path_with_namespace));
    let mut path = Cell::from((if group.is_empty() { String::new() } else { format!("{group}/") }, Role::Dim));
    path = path.and(name.to_owned(), Role::Text);
    if recent::pinned(view).contains(&project.path_with_namespace) {
        path = path.and(format!(" {}", glyph::pin()), Role::Accent);
    }
    let archived = project.archived.flatten() == Some(true);
    let visibility = project.visibility.as_ref().and_then(Option::as_ref).map(|v| v.as_str().to_owned());
    let stars = project.star_count.flatten().filter(|n| *n > 0).map(|n| format!("★ {n}")).unwrap_or_default();
    let size = project.statistics.known().map(|sizes| text::bytes(sizes.storage_size)).unwrap_or_default();
    let last = project.last_activity_at.as_ref().and_then(Option::as_ref);
    let number = |count: Option<u64>| count.filter(|n| *n > 0).map(|n| n.to_string()).unwrap_or_default();
    let topics = project.tag_list.as_ref().and_then(Option::as_ref);
    let note = if archived { "archived".to_owned() } else { visibility.unwrap_or_default() };
    Row::new(vec![
        path,
        Cell::from((project.description().lines().next().unwrap_or_default().to_owned(), Role::Dim)),
        Cell::from((project.default_branch().unwrap_or_default().to_owned(), Role::Ref)),
        Cell::from((note, if archived { Role::Warning } else { Role::Dim })),
        Cell::from((stars, Role::Dim)),
        Cell::from((size, Role::Text)),
        Cell::from((number(project.forks_count.flatten()), Role::Dim)),
        Cell::from((number(project.open_issues_count.flatten()), Role::Dim)),
        Cell::from((topics.map(|topics| topics.join(" ")).unwrap_or_default(), Role::Label)),
        Cell::from((age(view, project.created_at.as_ref().and_then(Option::as_ref)), Role::Dim)),
        Cell::from((age(view, last), Role::Dim)),
    ])
    .dim(archived)
}

impl Pane for Projects {
    const ID: &'static str = "projects";
    const TITLE: &'static str = "Projects";
    const COMMANDS: &'static [Command<Self>] = &[
        Command::new("projects.open", &["Enter"], "Browse its files", |pane: &mut Self, cx| pane.go("files", cx))
            .footer("files")
            .when(Projects::has_project),
        Command::new("projects.mrs", &["m"], "Its merge requests", |pane: &mut Self, cx| pane.go("mrs", cx))
            .footer("merge requests")
            .when(Projects::has_project),
        Command::new("projects.jobs", &["J"], "Its jobs", |pane: &mut Self, cx| pane.go("jobs", cx))
            .footer("jobs")
            .when(Projects::has_project),
        Command::new("projects.branches", &["b"], "Its branches", |pane: &mut Self, cx| pane.go("branches", cx))
            .footer("branches")
            .when(Projects::has_project),
        Command::new("projects.commits", &["H"], "Its commits", |pane: &mut Self, cx| pane.go("commits", cx))
            .when(Projects::has_project),
        Command::new("projects.create", &["+"], "New project", |pane: &mut Self, cx| {
            forms::project::create(pane.group.as_ref()).open(cx)
        })
        .writes()
        .when(|_, view| forms::signed_in(view)),
        Command::new("projects.create_for", &[], "New project that belongs to another user", |_: &mut Self, cx| {
            forms::project::create_for_user().open(cx);
        })
        .writes()
        .when(|_, view| forms::administrator(view)),
        Command::new(
            "projects.overview",
            &["i"],
            "Its overview: words, numbers, who works on it",
            |pane: &mut Self, cx| {
                pane.go("overview", cx);
            },
        )
        .footer("overview")
        .when(Projects::has_project),
        Command::new(
            "projects.pin",
            &["p"],
            "Pin it, or no more: its running jobs show at home",
            |pane: &mut Self, cx| {
                if let Some(path) = pane.current(&cx.view).map(|project| project.path_with_namespace.clone()) {
                    recent::pin(cx, &path);
                }
            },
        )
        .when(Projects::has_project),
        Command::new("projects.columns", &["|"], "Choose columns, and what sorts", |_: &mut Self, cx| COLUMNS.open(cx)),
        Command::new("projects.edit", &["e"], "Change its settings", |pane: &mut Self, cx| {
            if let Some(project) = pane.current(&cx.view) {
                forms::project::edit(&project.path_with_namespace.as_str().into(), &cx.view).open(cx);
            }
        })
        .writes()
        .when(Projects::has_project),
    ];

    fn open(place: &Place, _view: &View) -> Self {
        let group = place.group.clone();
        let scopes = if group.is_some() { OF_GROUP } else { SCOPES };
        let scope = place.tab.as_deref().and_then(|tab| scopes.iter().find(|(name, _)| name.eq_ignore_ascii_case(tab)));
        let list = Listing::asked(place.query.as_deref().unwrap_or_default());
        Projects { scope: scope.map(|(_, scope)| *scope).unwrap_or_default(), list, group }
    }

    fn place(&self) -> Place {
        let tab = SCOPES.iter().find(|(_, scope)| *scope == self.scope).map(|(name, _)| name.to_lowercase());
        let tab = tab.filter(|_| self.scope != Scope::All);
        let place = Place { tab, group: self.group.clone(), ..Place::new(Self::ID) };
        place.query(self.list.filter_text())
    }

    fn breadcrumbs(&self, view: &View) -> Vec<Breadcrumb> {
        let rows = self.rows(view);
        let mut breadcrumbs = crate::parts::breadcrumbs::project(self.group.as_ref());
        breadcrumbs.push(Breadcrumb::new("projects", if self.group.is_some() { Role::Dim } else { Role::Title }));
        breadcrumbs.extend(query_list::breadcrumbs(&self.list, &rows, &self.words(), view));
        breadcrumbs.extend(self.chosen(view).breadcrumb(&rows));
        breadcrumbs
    }

    fn wants(&self, view: &View) -> Vec<Want> {
        let list = self.query(self.list.filter_text(), view);
        list.map(|list| list.load(self.list.pages()).after(self.list.rest()).into()).into_iter().collect()
    }

    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let chosen = self.chosen(view);
        let empty = if self.list.shown().is_empty() {
            ("There are no projects here.", "1 shows all, : opens another place")
        } else {
            ("No project fits the filter.", "/ changes it, Esc ends it")
        };
        self.list.draw(view, area, buf, true, &self.rows(view), &chosen.columns(), |p| chosen.row(row(view, p)), empty);
    }

    fn changed(&mut self, cx: &mut Cx) {
        let filter_text = self.rows_of(self.list.filter_text(), &cx.view);
        self.list.answered(&filter_text);
        let rows = self.rows(&cx.view);
        self.chosen(&cx.view).sort(&mut self.list, &rows);
        self.list.sync(&rows, |project| project.id.to_string());
    }

    fn motion(&mut self, motion: Motion, cx: &mut Cx) {
        let len = self.rows(&cx.view).len();
        match motion {
            Motion::Right => self.go("files", cx),
            Motion::Left => {}
            other => self.list.motion(other, len),
        }
    }

    fn pointer(&mut self, pointer: Pointer, cx: &mut Cx) {
        if COLUMNS.pressed(&self.list, pointer, cx) {
            return;
        }
        let len = self.rows(&cx.view).len();
        if self.list.pointer(pointer, len) {
            self.go("files", cx);
        }
    }

    fn tabs(&self) -> crate::app::pane::Tabs {
        let selected = self.scopes().iter().position(|(_, scope)| *scope == self.scope).unwrap_or(0);
        let titles = if self.group.is_some() { OF_GROUP_TITLES } else { TITLES };
        crate::app::pane::Tabs { titles, selected }
    }

    fn select_tab(&mut self, index: usize, _cx: &mut Cx) {
        if let Some((_, scope)) = self.scopes().get(index) {
            self.scope = *scope;
            self.list.restart();
        }
    }

    fn search_mode(&self) -> Option<SearchMode> {
        Some(SearchMode::Filter)
    }

    fn grammar(&self) -> Option<Grammar> {
        Some(self.words())
    }

    fn filter_text(&self) -> String {
        self.list.filter_text().to_owned()
    }

    fn set_filter_text(&mut self, text: &str, cx: &mut Cx) {
        let here = self.current(&cx.view).map(|p| p.id.to_string());
        self.list.seek(text, here);
    }

    fn escape(&mut self, cx: &mut Cx) -> bool {
        let here = self.current(&cx.view).map(|p| p.id.to_string());
        self.list.clear_filter(here)
    }

    fn url(&self, view: &View) -> Option<String> {
        self.current(view).map(|p| p.web_url.clone())
    }

    fn copies(&self, view: &View) -> Vec<(&'static str, String)> {
        let Some(project) = self.current(view) else { return Vec::new() };
        let mut copies = vec![("path", project.path_with_namespace.clone())];
        for (name, url) in
            [("clone URL (HTTP)", &project.http_url_to_repo), ("clone URL (SSH)", &project.ssh_url_to_repo)]
        {
            if let Some(url) = url.as_ref().and_then(Option::as_ref) {
                copies.push((name, format!("git clone {}", review::operand(url))));
            }
        }
        copies
    }
}
