//! The projects of the server or of a group, filtered by a query.

use crate::api::Id;
use crate::api::groups::ListGroupProjects;
use crate::api::projects::{ListProjects, Project};
use crate::app::permission;
use crate::app::query::{self, Grammar};
use crate::app::recent;
use crate::parts::forms;
use crate::parts::items::merge_requests;
use crate::parts::list::prelude::*;
use crate::parts::list::query_list;
use crate::store::ListQuery;
use crate::ui::glyph;
use crate::ui::text;
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

    fn filter_of(&self, tab: usize) -> Scope {
        let scopes = if self.group.is_some() { OF_GROUP } else { SCOPES };
        scopes.get(tab).map(|(_, scope)| *scope).unwrap_or_default()
    }
}

impl Projects {
    fn go(project: &Project, pane: &str, cx: &mut Cx) {
        cx.go(Place::new(pane).project(project.path_with_namespace.as_str()));
    }
}

/// Returns the path with its last part highlighted, and a pin if the project is pinned.
fn path<'a>(project: &'a Project, view: &View) -> Line<'a> {
    let path = &project.path_with_namespace;
    let (group, name) = path.split_at(path.rfind('/').map_or(0, |slash| slash + 1));
    let line = Line::new(group, Role::Dim).and(name, Role::Text);
    match view.settings.pinned_projects.contains(path) {
        true => line.and(format!(" {}", glyph::pin()), Role::Accent),
        false => line,
    }
}

fn count(count: Option<u64>) -> Line<'static> {
    Line::new(count.filter(|count| *count > 0).map(|count| count.to_string()).unwrap_or_default(), Role::Dim)
}

impl ListSource for ProjectSource {
    type Row = Project;
    type Detail = NoDetail;
    const LIST: ListInfo =
        ListInfo { order: Some(("updated", true)), ..ListInfo::new("projects", "project", "projects") };
    const COLUMNS: &'static [Column<Self>] = &[
        Column::<Self>::name("path", "Project", 20, |_, project, view| path(project, view))
            .cut_in_middle()
            .server("path"),
        Column::<Self>::fill("description", "Description", 24, |_, project, _| {
            Line::new(project.description().lines().next().unwrap_or_default(), Role::Dim)
        })
        .drop_order(3),
        Column::<Self>::fit("branch", "Branch", 4, 16, |_, project, _| {
            Line::new(project.default_branch().unwrap_or_default(), Role::Ref)
        })
        .drop_order(5),
        Column::<Self>::fit("visibility", "Visibility", 6, 10, |_, project, _| match &project.visibility {
            _ if project.is_archived() => Line::new("archived", Role::Warning),
            Some(visibility) => Line::new(visibility.as_str(), Role::Dim),
            _ => Line::empty(),
        })
        .drop_order(2),
        Column::<Self>::fit("stars", "Stars", 0, 6, |_, project, _| {
            let stars = project.star_count.filter(|stars| *stars > 0);
            Line::new(stars.map(|stars| format!("{} {stars}", glyph::star())).unwrap_or_default(), Role::Dim)
        })
        .right()
        .sorted(|project| project.star_count.into())
        .drop_order(4),
        Column::<Self>::fit("size", "Size", 0, 9, |_, project, _| {
            let sizes = project.statistics.as_ref();
            Line::text(sizes.map(|sizes| text::bytes(sizes.storage_size)).unwrap_or_default())
        })
        .right()
        .drop_order(1),
        Column::<Self>::fit("forks", "Forks", 0, 6, |_, project, _| count(project.forks_count))
            .right()
            .sorted(|project| project.forks_count.into())
            .drop_order(6)
            .hidden(),
        Column::<Self>::fit("issues", "Issues", 0, 6, |_, project, _| count(project.open_issues_count))
            .right()
            .sorted(|project| project.open_issues_count.into())
            .drop_order(6)
            .hidden(),
        Column::<Self>::fit("topics", "Topics", 0, 30, |_, project, _| {
            Line::new(project.tag_list.as_ref().map(|topics| topics.join(" ")).unwrap_or_default(), Role::Label)
        })
        .drop_order(7)
        .hidden(),
        Column::<Self>::age("created", "Created", |project| project.created_at.as_ref())
            .server("created_at")
            .drop_order(6)
            .hidden(),
        Column::<Self>::age("updated", "Updated", |project| project.last_activity_at.as_ref())
            .server("last_activity_at")
            .drop_order(1),
    ];
    const COMMANDS: &'static [ListCommand<Self>] = &[
        Command::row("projects.open", &["Enter"], "Browse files", |_: &mut Projects, project: &Project, cx| {
            Projects::go(project, "files", cx)
        })
        .footer("files"),
        Command::row(
            "projects.mrs",
            &["m"],
            "Go to project merge requests",
            |_: &mut Projects, project: &Project, cx| Projects::go(project, "mrs", cx),
        )
        .footer("merge requests"),
        Command::row("projects.jobs", &["J"], "Go to project jobs", |_: &mut Projects, project: &Project, cx| {
            Projects::go(project, "jobs", cx)
        })
        .footer("jobs"),
        Command::row(
            "projects.branches",
            &["b"],
            "Go to project branches",
            |_: &mut Projects, project: &Project, cx| Projects::go(project, "branches", cx),
        )
        .footer("branches"),
        Command::row("projects.commits", &["H"], "Go to project commits", |_: &mut Projects, project: &Project, cx| {
            Projects::go(project, "commits", cx)
        }),
        Command::new("projects.create", &["+"], "Create project…", |pane: &mut Projects, cx| {
            forms::project::create(pane.source.group.as_ref()).open(cx)
        })
        .writes(),
        Command::new("projects.create_for", &[], "Create project for user…", |_: &mut Projects, cx| {
            forms::project::create_for_user().open(cx);
        })
        .writes()
        .when(|_, view| permission::administrator(view)),
        Command::row(
            "projects.overview",
            &["i"],
            "Show project overview",
            |_: &mut Projects, project: &Project, cx| {
                Projects::go(project, "overview", cx);
            },
        )
        .footer("overview"),
        Command::row("projects.pin", &["p"], "Toggle pin", |_: &mut Projects, project: &Project, cx| {
            recent::toggle_pin(cx, &project.path_with_namespace);
        }),
        Projects::columns_command("projects.columns"),
        Command::row("projects.edit", &["e"], "Edit project settings…", |_: &mut Projects, project: &Project, cx| {
            forms::project::edit(&project.path_with_namespace.as_str().into(), &cx.view).open(cx);
        })
        .writes(),
    ];

    fn open(place: &Place, _view: &View) -> ProjectSource {
        ProjectSource { group: place.group.clone() }
    }

    fn is_dim(&self, _: usize, project: &Project) -> bool {
        project.is_archived()
    }

    fn place(&self, base: Place) -> Place {
        Place { project: None, group: self.group.clone(), ..base }
    }

    fn empty(&self, _: usize) -> (&'static str, &'static str) {
        ("There are no projects here.", "‹tab.1› shows all, ‹palette› opens another place")
    }

    fn tabs(&self) -> ListTabs {
        ListTabs::of(if self.group.is_some() { OF_GROUP_TITLES } else { TITLES })
    }

    fn query(&self, input: &Input<'_>, order: ServerOrder, view: &View) -> Option<ListQuery<Project>> {
        let is = |scope| if self.filter_of(input.tab) == scope { json!(true) } else { Value::Null };
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

    fn url(&self, _view: &View, project: Option<&Project>) -> Option<String> {
        Some(project?.web_url.clone())
    }

    fn copies(&self, _view: &View, project: &Project) -> Vec<Clip> {
        let mut copies = vec![Clip::line("path", project.path_with_namespace.clone())];
        for (name, url) in
            [("clone URL (HTTP)", &project.http_url_to_repo), ("clone URL (SSH)", &project.ssh_url_to_repo)]
        {
            if let Some(url) = url.as_ref() {
                copies.push(Clip::line(name, format!("git clone {}", merge_requests::operand(url))));
            }
        }
        copies
    }
}
