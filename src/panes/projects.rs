//! The projects of the server or of a group, filtered by a query.

use crate::api::Id;
use crate::api::groups::ListGroupProjects;
use crate::api::projects::{ListProjects, Project};
use crate::app::clip::Clip;
use crate::app::command::Command;
use crate::app::context::Cx;
use crate::app::pane::Breadcrumb;
use crate::app::place::Place;
use crate::app::query::{self, Grammar};
use crate::app::recent;
use crate::app::view::View;
use crate::parts::columns::{Columns, Field, ServerOrder};
use crate::parts::list::age;
use crate::parts::list_pane::ListPane;
use crate::parts::list_source::{Filter, Input, ListCommand, ListSource, NoDetail};
use crate::parts::{breadcrumbs, forms, query_list, review};
use crate::store::ListQuery;
use crate::ui::glyph;
use crate::ui::line::Line;
use crate::ui::table::{Column, Row, Size};
use crate::ui::text;
use crate::ui::theme::Role;
use serde_json::{Value, json};

/// The scope of the list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Scope {
    #[default]
    All,
    Member,
    Owned,
    Starred,
}

/// The projects of the server, or of a group.
pub struct ProjectSource {
    group: Option<Id>,
}

/// The list of projects.
pub type Projects = ListPane<ProjectSource>;

const COLUMNS: Columns<Project> = Columns {
    place: "projects",
    fields: &[
        Field::new("path", Column::new("Project", Size::Fit { min: 20, max: 44 }).cut_in_middle()).server("path"),
        Field::new("description", Column::new("Description", Size::Fill { min: 24, weight: 1 }).drop_order(3)),
        Field::new("branch", Column::new("Branch", Size::Fit { min: 4, max: 16 }).drop_order(5)),
        Field::new("visibility", Column::new("Visibility", Size::Fit { min: 6, max: 10 }).drop_order(2)),
        Field::new("stars", Column::new("Stars", Size::Fit { min: 0, max: 6 }).right().drop_order(4))
            .loaded(|a, b| a.star_count.cmp(&b.star_count)),
        Field::new("size", Column::new("Size", Size::Fit { min: 0, max: 9 }).right().drop_order(1)),
        Field::new("forks", Column::new("Forks", Size::Fit { min: 0, max: 6 }).right().drop_order(6))
            .loaded(|a: &Project, b| a.forks_count.cmp(&b.forks_count))
            .hidden(),
        Field::new("issues", Column::new("Issues", Size::Fit { min: 0, max: 6 }).right().drop_order(6))
            .loaded(|a: &Project, b| a.open_issues_count.cmp(&b.open_issues_count))
            .hidden(),
        Field::new("topics", Column::new("Topics", Size::Fit { min: 0, max: 30 }).drop_order(7)).hidden(),
        Field::new("created", Column::new("Created", Size::Fixed(7)).right().drop_order(6))
            .server("created_at")
            .hidden()
            .newest_first(),
        Field::new("updated", Column::new("Updated", Size::Fixed(7)).right().drop_order(1))
            .server("last_activity_at")
            .newest_first(),
    ],
    order: Some(("updated", true)),
};

const SCOPES: &[(&str, Scope)] =
    &[("All", Scope::All), ("Member", Scope::Member), ("Owned", Scope::Owned), ("Starred", Scope::Starred)];
const TITLES: &[&str] = &["All", "Member", "Owned", "Starred"];
/// The tabs of a group: its API cannot filter by membership.
const OF_GROUP: &[(&str, Scope)] = &[("All", Scope::All), ("Owned", Scope::Owned), ("Starred", Scope::Starred)];
const OF_GROUP_TITLES: &[&str] = &["All", "Owned", "Starred"];

impl ProjectSource {
    fn grammar(&self) -> Grammar {
        let terms = if self.group.is_some() { query::GROUP_PROJECTS } else { query::PROJECTS };
        Grammar::new(terms, Some("search"), None)
    }

    fn scope(&self, tab: usize) -> Scope {
        let scopes = if self.group.is_some() { OF_GROUP } else { SCOPES };
        scopes.get(tab).map(|(_, scope)| *scope).unwrap_or_default()
    }
}

impl Projects {
    fn go(&mut self, pane: &str, cx: &mut Cx) {
        if let Some(project) = self.current(&cx.view) {
            cx.go(Place::new(pane).project(project.path_with_namespace.as_str()));
        }
    }
}

fn row(view: &View, project: &Project) -> Row<'static> {
    let (group, name) = project.path_with_namespace.rsplit_once('/').unwrap_or(("", &project.path_with_namespace));
    let mut path = Line::new(if group.is_empty() { String::new() } else { format!("{group}/") }, Role::Dim);
    path = path.and(name.to_owned(), Role::Text);
    if view.settings.pinned_projects.contains(&project.path_with_namespace) {
        path = path.and(format!(" {}", glyph::pin()), Role::Accent);
    }
    let archived = project.archived == Some(true);
    let visibility = project.visibility.as_ref().map(|v| v.as_str().to_owned());
    let stars = project.star_count.filter(|n| *n > 0).map(|n| format!("{} {n}", glyph::star())).unwrap_or_default();
    let size = project.statistics.as_ref().map(|sizes| text::bytes(sizes.storage_size)).unwrap_or_default();
    let last = project.last_activity_at.as_ref();
    let number = |count: Option<u64>| count.filter(|n| *n > 0).map(|n| n.to_string()).unwrap_or_default();
    let topics = project.tag_list.as_ref();
    let note = if archived { "archived".to_owned() } else { visibility.unwrap_or_default() };
    Row::new(vec![
        path,
        Line::new(project.description().lines().next().unwrap_or_default().to_owned(), Role::Dim),
        Line::new(project.default_branch().unwrap_or_default().to_owned(), Role::Ref),
        Line::new(note, if archived { Role::Warning } else { Role::Dim }),
        Line::new(stars, Role::Dim),
        Line::new(size, Role::Text),
        Line::new(number(project.forks_count), Role::Dim),
        Line::new(number(project.open_issues_count), Role::Dim),
        Line::new(topics.map(|topics| topics.join(" ")).unwrap_or_default(), Role::Label),
        Line::new(age(view, project.created_at.as_ref()), Role::Dim),
        Line::new(age(view, last), Role::Dim),
    ])
    .dim(archived)
}

impl ListSource for ProjectSource {
    type Row = Project;
    type Detail = NoDetail;
    const ID: &'static str = "projects";
    const TITLE: &'static str = "Projects";
    const COLUMNS: Columns<Project> = COLUMNS;
    const COMMANDS: &'static [ListCommand<Self>] = &[
        Command::new("projects.open", &["Enter"], "Browse files", |pane: &mut Projects, cx| pane.go("files", cx))
            .footer("files")
            .when(Projects::has_row),
        Command::new("projects.mrs", &["m"], "Go to merge requests", |pane: &mut Projects, cx| pane.go("mrs", cx))
            .footer("merge requests")
            .when(Projects::has_row),
        Command::new("projects.jobs", &["J"], "Go to jobs", |pane: &mut Projects, cx| pane.go("jobs", cx))
            .footer("jobs")
            .when(Projects::has_row),
        Command::new("projects.branches", &["b"], "Go to branches", |pane: &mut Projects, cx| pane.go("branches", cx))
            .footer("branches")
            .when(Projects::has_row),
        Command::new("projects.commits", &["H"], "Go to commits", |pane: &mut Projects, cx| pane.go("commits", cx))
            .when(Projects::has_row),
        Command::new("projects.create", &["+"], "Create project…", |pane: &mut Projects, cx| {
            forms::project::create(pane.source.group.as_ref()).open(cx)
        })
        .writes()
        .when(|_, view| forms::signed_in(view)),
        Command::new("projects.create_for", &[], "Create project for user…", |_: &mut Projects, cx| {
            forms::project::create_for_user().open(cx);
        })
        .writes()
        .when(|_, view| forms::administrator(view)),
        Command::new("projects.overview", &["i"], "Show project overview", |pane: &mut Projects, cx| {
            pane.go("overview", cx);
        })
        .footer("overview")
        .when(Projects::has_row),
        Command::new("projects.pin", &["p"], "Toggle pin", |pane: &mut Projects, cx| {
            if let Some(path) = pane.current(&cx.view).map(|project| project.path_with_namespace.clone()) {
                recent::toggle_pin(cx, &path);
            }
        })
        .when(Projects::has_row),
        Projects::columns_command("projects.columns"),
        Command::new("projects.edit", &["e"], "Edit project settings…", |pane: &mut Projects, cx| {
            if let Some(project) = pane.current(&cx.view) {
                forms::project::edit(&project.path_with_namespace.as_str().into(), &cx.view).open(cx);
            }
        })
        .writes()
        .when(Projects::has_row),
    ];

    fn open(place: &Place, _view: &View) -> ProjectSource {
        ProjectSource { group: place.group.clone() }
    }

    fn place(&self) -> Place {
        Place { group: self.group.clone(), ..Place::new(Self::ID) }
    }

    fn breadcrumbs(&self, _view: &View) -> Vec<Breadcrumb> {
        let mut breadcrumbs = breadcrumbs::group(self.group.as_ref());
        breadcrumbs.push(Breadcrumb::new("projects", if self.group.is_some() { Role::Dim } else { Role::Title }));
        breadcrumbs
    }

    fn tabs(&self) -> &'static [&'static str] {
        if self.group.is_some() { OF_GROUP_TITLES } else { TITLES }
    }

    fn query(&self, input: &Input<'_>, order: ServerOrder, view: &View) -> Option<ListQuery<Project>> {
        let is = |scope| if self.scope(input.tab) == scope { json!(true) } else { Value::Null };
        let given = query_list::given([
            ("id", self.group.as_ref().map_or(Value::Null, |group| json!(group))),
            ("order_by", json!(order.map_or("last_activity_at", |(word, _)| word))),
            ("sort", order.map_or(Value::Null, |(_, way)| json!(way))),
            ("membership", is(Scope::Member)),
            ("owned", is(Scope::Owned)),
            ("starred", is(Scope::Starred)),
        ]);
        match self.group {
            Some(_) => {
                self.grammar().ask::<ListGroupProjects>(input.filter, given, view).ready().as_ref().map(ListQuery::new)
            }
            None => self.grammar().ask::<ListProjects>(input.filter, given, view).ready().as_ref().map(ListQuery::new),
        }
    }

    fn filter(&self, _: &Input<'_>) -> Filter<Project> {
        Filter::Query(self.grammar())
    }

    fn key(project: &Project) -> String {
        project.id.to_string()
    }

    fn row(&self, view: &View, _: usize, project: &Project) -> Row<'static> {
        row(view, project)
    }

    fn empty(&self, input: &Input<'_>) -> (&'static str, &'static str) {
        match input.filter {
            "" => ("There are no projects here.", "‹tab.1› shows all, ‹palette› opens another place"),
            _ => ("No project matches the filter.", "‹seek› changes it, ‹escape› clears it"),
        }
    }

    fn enter(pane: &mut Projects, cx: &mut Cx) {
        pane.go("files", cx);
    }

    fn url(&self, _view: &View, project: &Project) -> Option<String> {
        Some(project.web_url.clone())
    }

    fn copies(&self, _view: &View, project: &Project) -> Vec<Clip> {
        let mut copies = vec![Clip::line("path", project.path_with_namespace.clone())];
        for (name, url) in
            [("clone URL (HTTP)", &project.http_url_to_repo), ("clone URL (SSH)", &project.ssh_url_to_repo)]
        {
            if let Some(url) = url.as_ref() {
                copies.push(Clip::line(name, format!("git clone {}", review::operand(url))));
            }
        }
        copies
    }
}
