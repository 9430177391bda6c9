//! Projects: all that the server shows, filtered as one types.

use super::list::{Listing, age};
use super::review;
use crate::api::projects::{ListProjects, Project};
use crate::app::command::{Command, Motion};
use crate::app::pane::{Crumb, Cx, Pane, Pointer, Seek, View};
use crate::app::place::Place;
use crate::store::{Load, Rows, Want};
use crate::ui::table::{Cell, Column, Row, Size};
use crate::ui::theme::Role;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::time::Duration;

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
    search: String,
    scope: Scope,
}

const SCOPES: &[(&str, Scope)] =
    &[("All", Scope::All), ("Member", Scope::Member), ("Owned", Scope::Owned), ("Starred", Scope::Starred)];
const TITLES: &[&str] = &["All", "Member", "Owned", "Starred"];

impl Projects {
    fn query(&self) -> ListProjects {
        let is = |scope| (self.scope == scope).then_some(true);
        ListProjects {
            search: Some(self.search.clone()).filter(|s| !s.is_empty()),
            order_by: Some("last_activity_at".into()),
            membership: is(Scope::Member),
            owned: is(Scope::Owned),
            starred: is(Scope::Starred),
            ..ListProjects::default()
        }
    }

    fn rows<'a>(&self, view: &View<'a>) -> Rows<'a, Project> {
        view.store.list(&self.query())
    }

    fn current<'a>(&self, view: &View<'a>) -> Option<&'a Project> {
        self.list.selected(&self.rows(view))
    }

    fn go(&mut self, pane: &str, cx: &mut Cx) {
        if let Some(project) = self.current(&cx.view) {
            cx.go(Place::new(pane).project(project.path_with_namespace.as_str()));
        }
    }

    fn has_project(&self, view: &View) -> Result<(), crate::app::command::WhyNot> {
        self.current(view).map(|_| ()).ok_or_else(|| "no project is selected".into())
    }
}

fn row(view: &View, project: &Project) -> Row {
    let (group, name) = project.path_with_namespace.rsplit_once('/').unwrap_or(("", &project.path_with_namespace));
    let mut path = Cell::from((if group.is_empty() { String::new() } else { format!("{group}/") }, Role::Dim));
    path = path.and(name.to_owned(), Role::Text);
    let archived = project.archived.flatten() == Some(true);
    let visibility = project.visibility.as_ref().and_then(Option::as_ref).map(|v| v.as_str().to_owned());
    let stars = project.star_count.flatten().filter(|n| *n > 0).map(|n| format!("★ {n}")).unwrap_or_default();
    let last = project.last_activity_at.as_ref().and_then(Option::as_ref);
    let note = if archived { "archived".to_owned() } else { visibility.unwrap_or_default() };
    Row::new(vec![
        path,
        Cell::from((project.description().lines().next().unwrap_or_default().to_owned(), Role::Dim)),
        Cell::from((project.default_branch().unwrap_or_default().to_owned(), Role::Ref)),
        Cell::from((note, if archived { Role::Warning } else { Role::Dim })),
        Cell::from((stars, Role::Dim)),
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
    ];

    fn open(place: &Place, _view: &View) -> Self {
        let scope = place.tab.as_deref().and_then(|tab| SCOPES.iter().find(|(name, _)| name.eq_ignore_ascii_case(tab)));
        Projects { scope: scope.map(|(_, scope)| *scope).unwrap_or_default(), ..Projects::default() }
    }

    fn place(&self) -> Place {
        let tab = SCOPES.iter().find(|(_, scope)| *scope == self.scope).map(|(name, _)| name.to_lowercase());
        Place { tab: tab.filter(|_| self.scope != Scope::All), ..Place::new(Self::ID) }
    }

    fn crumbs(&self, view: &View) -> Vec<Crumb> {
        let rows = self.rows(view);
        let mut crumbs = vec![Crumb::new("projects", Role::Title)];
        if !self.search.is_empty() {
            crumbs.push(Crumb::new(format!("/{}", self.search), Role::Match));
        }
        if rows.known {
            let total = rows
                .total
                .map(|t| t.to_string())
                .unwrap_or_else(|| format!("{}{}", rows.len(), if rows.more { "+" } else { "" }));
            crumbs.push(Crumb::new(total, Role::Dim));
        }
        crumbs
    }

    fn wants(&self, _view: &View) -> Vec<Want> {
        let delay = if self.search.is_empty() { Duration::ZERO } else { Duration::from_millis(120) };
        vec![Load::list(&self.query(), self.list.pages()).after(delay).into()]
    }

    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let columns = [
            Column::new("", Size::Fit { min: 20, max: 44 }).middle(),
            Column::new("", Size::Fill { min: 10, weight: 1 }).priority(3),
            Column::new("", Size::Fit { min: 4, max: 16 }).priority(4),
            Column::new("", Size::Fit { min: 6, max: 10 }).priority(2),
            Column::new("", Size::Fit { min: 0, max: 6 }).right().priority(5),
            Column::new("", Size::Fixed(4)).right().priority(1),
        ];
        let empty = if self.search.is_empty() {
            ("There are no projects here.", "1 shows all, : opens another place")
        } else {
            ("No project fits the filter.", "/ changes it, Esc ends it")
        };
        self.list.draw(view, area, buf, true, &self.rows(view), &columns, |p| row(view, p), empty);
    }

    fn changed(&mut self, cx: &mut Cx) {
        let rows = self.rows(&cx.view);
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
        let len = self.rows(&cx.view).len();
        if self.list.pointer(pointer, len) {
            self.go("files", cx);
        }
    }

    fn tabs(&self) -> crate::app::pane::Tabs {
        let selected = SCOPES.iter().position(|(_, scope)| *scope == self.scope).unwrap_or(0);
        crate::app::pane::Tabs { titles: TITLES, selected }
    }

    fn select_tab(&mut self, index: usize, _cx: &mut Cx) {
        if let Some((_, scope)) = SCOPES.get(index) {
            self.scope = *scope;
            self.list.restart();
        }
    }

    fn seek(&self) -> Option<Seek> {
        Some(Seek::Filter)
    }

    fn sought(&self) -> String {
        self.search.clone()
    }

    fn set_sought(&mut self, text: &str, cx: &mut Cx) {
        if self.search != text {
            // Without a filter, the list goes on where one was.
            let here = self.current(&cx.view).map(|p| p.id.to_string()).filter(|_| text.is_empty());
            self.search = text.to_owned();
            self.list.restart_at(here);
        }
    }

    fn escape(&mut self, cx: &mut Cx) -> bool {
        let filtered = !self.search.is_empty();
        self.set_sought("", cx);
        filtered
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
