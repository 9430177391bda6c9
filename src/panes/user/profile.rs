//! The profile of a user: the facts, beside the list of their projects.

use super::who::Who;
use crate::api::projects::Project;
use crate::api::users::ListUserProjects;
use crate::app::pane::{Breadcrumb, Pane};
use crate::app::query::{self, Grammar};
use crate::parts::facts::Instead;
use crate::parts::facts::profile;
use crate::parts::list::prelude::*;
use crate::parts::list::source::{Detail, DetailContext};
use crate::parts::list::{self, query_list};
use crate::ui::panels;
use crate::ui::text::sanitize;

/// The maximum width of a fact, in columns.
const FACT_WIDTH: usize = 60;

/// The projects of a user.
pub(super) struct UserProjectSource {
    pub who: Who,
}

/// The list of the projects, and the facts of the user to the left of it.
type UserProjects = ListPane<UserProjectSource>;

/// The profile of a user.
pub(super) struct Profile {
    pub projects: UserProjects,
}

impl Profile {
    /// Opens the profile with the focus on the facts.
    pub fn open(place: &Place, view: &View) -> Profile {
        let mut projects = UserProjects::open(place, view);
        projects.focus_before_list();
        Profile { projects }
    }

    /// Returns the project under the cursor.
    fn project<'a>(&self, view: &View<'a>) -> Option<&'a Project> {
        self.projects.current(view).filter(|_| !self.projects.is_before_list())
    }
}

impl Pane for Profile {
    fn focused(&self) -> Option<&dyn Pane> {
        Some(&self.projects)
    }

    fn focused_mut(&mut self) -> Option<&mut dyn Pane> {
        Some(&mut self.projects)
    }

    fn wants(&self, view: &View) -> Vec<Want> {
        // On a narrow screen, the projects are hidden until they have the focus.
        let is_hidden = view.size.0 < panels::TWO_PANELS_WIDTH && self.projects.is_before_list();
        if is_hidden { Vec::new() } else { self.projects.wants(view) }
    }

    fn set_filter_text(&mut self, text: &str, cx: &mut Cx) {
        self.projects.focus_list();
        self.projects.set_filter_text(text, cx);
    }

    fn escape(&mut self, cx: &mut Cx) -> bool {
        if self.projects.undo_filter(&cx.view) {
            return true;
        }
        let was_on_list = !self.projects.is_before_list();
        self.projects.focus_before_list();
        was_on_list
    }

    fn url(&self, view: &View) -> Option<String> {
        self.project(view).map(|project| project.web_url.clone())
    }

    fn copies(&self, view: &View) -> Vec<Clip> {
        match self.projects.source.who.profile(view).filter(|_| self.project(view).is_none()) {
            Some(user) => {
                vec![Clip::line("username", user.username.clone()), Clip::line("ID", user.id.to_string())]
            }
            None => self.projects.copies(view),
        }
    }
}

fn grammar() -> Grammar {
    Grammar::new(query::PROJECTS, Some("search"), None)
}

impl ListSource for UserProjectSource {
    type Row = Project;
    type Detail = Details;
    const LIST: ListInfo = ListInfo::new("user", "project", "projects").widths(super::PANEL_WIDTHS);
    const COLUMNS: &'static [Column<Self>] = &[
        Column::<Self>::name("path", "", 14, |_, project, _| Line::text(&project.path_with_namespace)).cut_in_middle(),
        Column::<Self>::fill("description", "", 8, |_, project, _| {
            Line::new(project.description().lines().next().unwrap_or_default(), Role::Dim)
        })
        .drop_order(3),
        Column::<Self>::fit("visibility", "", 6, 10, |_, project, _| {
            let visibility = project.visibility().map_or("", |word| word.as_str());
            Line::new(if project.is_archived() { "archived" } else { visibility }, Role::Dim)
        })
        .drop_order(2),
        Column::<Self>::age("updated", "", |project| project.last_activity_at.as_ref()).drop_order(1),
    ];
    const COMMANDS: &'static [ListCommand<Self>] =
        &[Command::new("user.open", &["Enter"], "Open selection", |pane: &mut UserProjects, cx| {
            if pane.is_before_list() {
                if !pane.enter_detail(cx) {
                    pane.focus_list();
                }
            } else if let Some(project) = pane.current(&cx.view) {
                cx.go(Place::new("files").project(project.path_with_namespace.as_str()));
            }
        })];

    fn open(place: &Place, _view: &View) -> UserProjectSource {
        UserProjectSource { who: Who::of(place) }
    }

    fn place(&self, _: Place) -> Place {
        self.who.place()
    }

    fn breadcrumbs(&self, _: &Place, _: &View) -> Vec<Breadcrumb> {
        Vec::new()
    }

    fn query(&self, input: &Input<'_>, _: ServerOrder, view: &View) -> Option<ListQuery<Project>> {
        let user = self.who.id(view).filter(|_| self.who.can_list(view))?;
        let given = query_list::given([("user_id", user.to_string().into()), ("order_by", "last_activity_at".into())]);
        let list = grammar().ask::<ListUserProjects>(input.filter, given, view).ready()?;
        Some(ListQuery::new(&list))
    }

    fn filter(&self, _: &Input<'_>) -> Filter<Project> {
        Filter::Query(grammar())
    }

    fn key(project: &Project) -> String {
        project.id.to_string()
    }

    fn is_dim(&self, _: usize, project: &Project) -> bool {
        project.is_archived()
    }

    fn heading(&self, input: &Input<'_>, view: &View) -> (String, String) {
        let rows = self.query(input, None, view).map(|query| view.store.rows(&query));
        let count = rows.and_then(|rows| list::count(&rows, rows.len(), None));
        ("Projects".to_owned(), count.unwrap_or_default())
    }

    fn empty(&self, _: usize) -> (&'static str, &'static str) {
        ("No personal projects that you can see.", "‹user.project› creates one")
    }

    fn url(&self, _view: &View, project: Option<&Project>) -> Option<String> {
        Some(project?.web_url.clone())
    }

    fn copies(&self, _view: &View, project: &Project) -> Vec<Clip> {
        vec![Clip::line("path", project.path_with_namespace.clone())]
    }
}

/// The facts of the user, to the left of the projects.
impl Detail<UserProjectSource> for Details {
    fn show(&mut self, context: &DetailContext<'_, UserProjectSource>, cx: &mut Cx) {
        let (who, view) = (&context.source.who, &cx.view);
        let (user, seen) = (who.profile(view), if who.is_impersonating { "viewed as this user" } else { "" });
        self.clear();
        self.set_focused(context.focused_before);
        self.title(user.map_or("", |user| &user.name), seen);
        let listed = view.store.list(&who.by_name());
        match (user, who.error(view)) {
            (Some(user), _) => profile::fill_facts(self, view, user, FACT_WIDTH),
            _ if !who.can_list(view) => {
                self.say_instead(Instead::Empty("You are not signed in.".to_owned(), "labscope auth login signs in"));
            }
            (_, Some(error)) => self.say_instead(Instead::Failed(error.clone())),
            _ if !who.is_self && who.id(view).is_none() && listed.is_loaded => {
                let why = format!("There is no user called {}.", sanitize(who.id_or_name.as_str()));
                self.say_instead(Instead::Empty(why, ":users lists all users"));
            }
            _ => self.say_instead(Instead::Loading),
        }
    }

    fn panel(&self, index: usize) -> Option<&dyn Pane> {
        (index == 0).then_some(self)
    }

    fn panel_mut(&mut self, index: usize) -> Option<&mut dyn Pane> {
        (index == 0).then_some(self)
    }
}
