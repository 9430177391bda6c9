//! The notification settings of the user: global, per group and per project.

use crate::api::groups::{GetGroup, Group, ListGroups};
use crate::api::notifications::{
    GetGroupNotifications, GetNotifications, GetProjectNotifications, Level, NotificationSettings,
};
use crate::api::projects::{ListProjects, Project};
use crate::api::{Error, ExtraValue, Id};
use crate::app::command::Command;
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::motion::Motion;
use crate::app::pane::{Breadcrumb, Pane, SearchMode, Tabs};
use crate::app::place::Place;
use crate::app::pointer::Pointer;
use crate::app::view::View;
use crate::parts::facts::{Details, WIDE_NAME_WIDTH};
use crate::parts::forms;
use crate::parts::forms::notification as form;
use crate::parts::list::{self, Listing, draw_error};
use crate::parts::project;
use crate::store::{Load, Rows, Want};
use crate::ui::panels::{self, PanelRequest, Panels};
use crate::ui::table::{Cell, Column, Row, Size};
use crate::ui::theme::Role;
use crate::ui::{glyph, state, text};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::time::Duration;

const LIST: usize = 0;
const FACTS: usize = 1;
const PANEL_WIDTHS: &[PanelRequest] = &[PanelRequest { min: 44, weight: 1 }, PanelRequest { min: 48, weight: 1 }];
const TITLES: &[&str] = &["Everywhere", "Groups", "Projects"];
const EVERYWHERE: usize = 0;
const GROUPS: usize = 1;
const PROJECTS: usize = 2;
/// The delay before the levels of visible rows are fetched.
const FETCH_DELAY: Duration = Duration::from_millis(120);
/// The maximum number of rows whose levels are fetched.
const MAX_FETCHED: usize = 40;

/// The notification settings.
pub struct Notifications {
    tab: usize,
    groups: Listing,
    projects: Listing,
    /// The group or project that the place names by its ID, with its tab, until its path is known.
    named: Option<(usize, Id)>,
    panels: Panels,
    facts: Details,
}

/// The loaded settings, global or of one group or project, and the error of the last request.
struct Settings<'a> {
    value: Option<&'a NotificationSettings>,
    error: Option<&'a Error>,
}

fn groups_query() -> ListGroups {
    ListGroups { all_available: Some(false), ..ListGroups::default() }
}

fn projects_query() -> ListProjects {
    let order_by = Some("last_activity_at".to_owned());
    ListProjects { membership: Some(true), simple: Some(true), order_by, ..ListProjects::default() }
}

fn group_query(id: &Id) -> GetGroup {
    GetGroup { id: id.clone(), with_custom_attributes: None }
}

impl Notifications {
    fn groups<'a>(&self, view: &View<'a>) -> Rows<'a, Group> {
        view.store.list(&groups_query())
    }

    fn projects<'a>(&self, view: &View<'a>) -> Rows<'a, Project> {
        view.store.list(&projects_query())
    }

    fn list(&mut self) -> &mut Listing {
        if self.tab == PROJECTS { &mut self.projects } else { &mut self.groups }
    }

    fn len(&self, view: &View) -> usize {
        match self.tab {
            GROUPS => self.groups.len(&self.groups(view)),
            PROJECTS => self.projects.len(&self.projects(view)),
            _ => 0,
        }
    }

    /// Returns the ID and path of the group or project under the cursor.
    fn current(&self, view: &View) -> Option<(Id, String)> {
        match self.tab {
            GROUPS => self.groups.selected(&self.groups(view)).map(|g| (Id::from(g.id), g.full_path.clone())),
            PROJECTS => {
                self.projects.selected(&self.projects(view)).map(|p| (Id::from(p.id), view.full_path(p).into_owned()))
            }
            _ => None,
        }
    }

    fn known<'a>(&self, view: &View<'a>, id: Option<&Id>) -> Settings<'a> {
        let reply = match (self.tab, id.cloned()) {
            (GROUPS, Some(id)) => view.store.get(&GetGroupNotifications { id }),
            (PROJECTS, Some(id)) => view.store.get(&GetProjectNotifications { id }),
            (EVERYWHERE, _) => view.store.get(&GetNotifications {}),
            _ => return Settings { value: None, error: None },
        };
        Settings { value: reply.value, error: reply.error }
    }

    /// Returns the requests for the settings of the visible rows.
    fn seen(&self, view: &View) -> Vec<Want> {
        let list = if self.tab == PROJECTS { &self.projects } else { &self.groups };
        let rows = list.state.height().max(usize::from(view.size.1)).min(MAX_FETCHED);
        let (groups, projects) = (self.groups(view), self.projects(view));
        let load = |index: usize| match self.tab {
            GROUPS => list.at(&groups, index).map(|g| Load::single(&GetGroupNotifications { id: g.id.into() })),
            _ => list.at(&projects, index).map(|p| Load::single(&GetProjectNotifications { id: p.id.into() })),
        };
        let top = list.state.top();
        let mut wants: Vec<Want> =
            (top..top + rows).filter_map(load).map(|load| load.after(FETCH_DELAY).into()).collect();
        wants.extend(load(list.state.selected()).map(Want::from));
        wants
    }

    /// Selects the row of the project or group that the place names by its ID, once its path is known.
    fn reveal_named(&mut self, view: &View) {
        let (path, is_refused) = match &self.named {
            Some((GROUPS, id)) => {
                let reply = view.store.get(&group_query(id));
                (reply.value.map(|group| group.full_path.clone()), reply.refused().is_some())
            }
            Some((_, id)) => {
                let reply = view.store.get(&project::query(id));
                (reply.value.map(|project| view.full_path(project).into_owned()), reply.refused().is_some())
            }
            None => return,
        };
        if path.is_none() && !is_refused {
            return;
        }
        if let Some(((tab, _), path)) = self.named.take().zip(path) {
            let list = if tab == GROUPS { &mut self.groups } else { &mut self.projects };
            list.reveal(path);
        }
    }

    fn can_edit(&self, view: &View) -> Result<(), Disabled> {
        forms::signed_in(view)?;
        let (here, none) = (self.current(view), "nothing is selected");
        match self.tab {
            EVERYWHERE => Ok(()),
            GROUPS => list::need(here, &self.groups(view), none).map(|_| ()),
            _ => list::need(here, &self.projects(view), none).map(|_| ()),
        }
    }

    fn edit(&mut self, cx: &mut Cx) {
        match (self.tab, self.current(&cx.view)) {
            (EVERYWHERE, _) => form::global(&cx.view).open(cx),
            (GROUPS, Some((id, name))) => form::in_group(&id, &name, &cx.view).open(cx),
            (_, Some((id, name))) => form::in_project(&id, &name, &cx.view).open(cx),
            _ => {}
        }
    }

    fn fill_facts(&mut self, view: &View) {
        self.facts.clear();
        let here = self.current(view);
        let Some(settings) = self.known(view, here.as_ref().map(|(id, _)| id)).value else { return };
        let facts = &mut self.facts;
        let level = &settings.level;
        facts.field("level", vec![(level.to_string(), role(level))], None);
        facts.field("notifies", vec![(form::meaning(level).into(), Role::Text)], None);
        if *level == Level::Global
            && let Some(global) = view.store.get(&GetNotifications {}).value
        {
            let words = format!("which is {}: {}", global.level, form::meaning(&global.level));
            for line in text::wrap(&words, 46, 3) {
                facts.field("", vec![(line, Role::Dim)], None);
            }
        }
        if let Some(address) = settings.notification_email.sent().filter(|address| !address.is_empty()) {
            facts.field("email", vec![(address.clone(), Role::Text)], None);
        }
        let events = settings.events.sent();
        for (index, (name, on)) in events.into_iter().flat_map(|events| &events.0).enumerate() {
            if index == 0 {
                facts.line(Vec::new());
            }
            let on = *on == Some(true);
            let (sign, signed) = if on {
                (glyph::or_word(glyph::done(), "on:"), Role::Success)
            } else {
                (glyph::or_word(glyph::hollow(), "off:"), Role::Dim)
            };
            let words = match form::event(name) {
                "" => name.replace('_', " "),
                words => words.trim_end_matches('.').to_owned(),
            };
            let pieces = vec![(format!("{sign} "), signed), (words, if on { Role::Text } else { Role::Dim })];
            facts.field(if index == 0 { "events" } else { "" }, pieces, None);
        }
    }

    fn row(&self, view: &View, id: u64, path: &str) -> Row {
        let known = self.known(view, Some(&id.into()));
        let (level, role) = match (known.value, known.error) {
            (Some(settings), _) => (settings.level.to_string(), role(&settings.level)),
            (None, Some(error)) => (error.title().to_owned(), Role::Failed),
            (None, None) => (glyph::cut().to_owned(), Role::Faint),
        };
        Row::new(vec![Cell::from((path.to_owned(), Role::Text)), Cell::from((level, role))])
    }

    fn draw_list(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let focused = self.panels.focus() == LIST;
        let title = if self.tab == GROUPS { "Your groups" } else { "Your projects" };
        let body = panels::title(buf, area, view.theme, focused, title, "");
        let columns = [
            Column::new("", Size::Fill { min: 20, weight: 1 }).cut_in_middle(),
            Column::new("", Size::Fit { min: 8, max: 16 }),
        ];
        if self.tab == GROUPS {
            let empty = ("You are not a member of any group.", "‹go.projects› lists projects");
            let row = |group: &Group| self.row(view, group.id, &group.full_path);
            self.groups.draw(view, body, buf, focused, &self.groups(view), &columns, row, empty);
        } else {
            let empty = ("You are not a member of any project.", "‹go.projects› lists projects");
            let row = |project: &Project| self.row(view, project.id, &view.full_path(project));
            self.projects.draw(view, body, buf, focused, &self.projects(view), &columns, row, empty);
        }
    }

    fn draw_facts(&self, view: &View, area: Rect, buf: &mut Buffer, focused: bool) {
        let here = self.current(view);
        let name = here.as_ref().map_or("Everywhere", |(_, name)| name.as_str());
        let body = panels::title(buf, area, view.theme, focused, name, "");
        let known = self.known(view, here.as_ref().map(|(id, _)| id));
        match (known.value, known.error) {
            (None, Some(error)) => draw_error(view, body, buf, error),
            (None, None) if self.tab != EVERYWHERE && here.is_none() => {}
            (None, None) => state::skeleton(buf, body, view.theme),
            _ => self.facts.draw(view, body, buf, focused),
        }
    }
}

fn role(level: &Level) -> Role {
    match level {
        Level::Disabled => Role::Canceled,
        Level::Watch => Role::Success,
        Level::Custom => Role::Label,
        Level::Global => Role::Dim,
        _ => Role::Text,
    }
}

impl Pane for Notifications {
    const ID: &'static str = "notifications";
    const TITLE: &'static str = "Notification settings";
    const COMMANDS: &'static [Command<Self>] =
        &[Command::new("notifications.edit", &["e", "Enter"], "Edit notification settings…", Self::edit)
            .footer("change")
            .writes()
            .when(Self::can_edit)];

    fn open(place: &Place, _view: &View) -> Self {
        let mut pane = Notifications {
            tab: EVERYWHERE,
            groups: Listing::default(),
            projects: Listing::default(),
            named: None,
            panels: Panels::new(2),
            facts: Details::default().names(WIDE_NAME_WIDTH),
        };
        let named = |tab: &str| TITLES.iter().position(|title| title.eq_ignore_ascii_case(tab));
        pane.tab = place.tab.as_deref().and_then(named).unwrap_or(EVERYWHERE);
        if let Some(project) = &place.project {
            pane.tab = if place.tab.is_some() { pane.tab } else { PROJECTS };
            match project.number() {
                Some(_) => pane.named = Some((PROJECTS, project.clone())),
                None => pane.projects.reveal(project.as_str()),
            }
        }
        if let Some(group) = &place.group {
            pane.tab = if place.tab.is_some() { pane.tab } else { GROUPS };
            match group.number() {
                Some(_) => pane.named = Some((GROUPS, group.clone())),
                None => pane.groups.reveal(group.as_str()),
            }
        }
        pane
    }

    fn place(&self) -> Place {
        Place::new(Self::ID).tab(TITLES.get(self.tab).map(|title| title.to_lowercase()).as_deref().unwrap_or_default())
    }

    fn breadcrumbs(&self, view: &View) -> Vec<Breadcrumb> {
        let mut breadcrumbs = vec![Breadcrumb::new("notifications", Role::Title)];
        match self.tab {
            GROUPS => breadcrumbs.extend(self.groups.breadcrumbs(&self.groups(view))),
            PROJECTS => breadcrumbs.extend(self.projects.breadcrumbs(&self.projects(view))),
            _ => {}
        }
        breadcrumbs
    }

    fn wants(&self, view: &View) -> Vec<Want> {
        if !view.session.signed_in {
            return Vec::new();
        }
        let mut wants: Vec<Want> = vec![Load::single(&GetNotifications {}).into()];
        wants.extend(self.named.as_ref().map(|(tab, id)| match *tab {
            GROUPS => Load::single(&group_query(id)).optional().into(),
            _ => Load::single(&project::query(id)).optional().into(),
        }));
        match self.tab {
            GROUPS => wants.push(Load::list(&groups_query(), self.groups.pages()).into()),
            PROJECTS => wants.push(Load::list(&projects_query(), self.projects.pages()).into()),
            _ => return wants,
        }
        wants.extend(self.seen(view));
        wants
    }

    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        self.groups.drawn_at(Rect::default());
        self.projects.drawn_at(Rect::default());
        self.facts.hide();
        if !view.session.signed_in {
            let body = panels::title(buf, area, view.theme, true, "Notifications", "");
            let hint = "labscope auth login signs in";
            return view.draw_empty(buf, body, "You are not signed in.", hint);
        }
        if self.tab == EVERYWHERE {
            return self.draw_facts(view, area, buf, true);
        }
        let places = self.panels.layout(area, PANEL_WIDTHS);
        if let Some(place) = places.get(LIST).copied().flatten() {
            self.draw_list(view, place, buf);
        }
        if let Some(place) = places.get(FACTS).copied().flatten() {
            self.draw_facts(view, place, buf, self.panels.focus() == FACTS);
        }
        self.panels.draw_dividers(buf, view.theme);
    }

    fn changed(&mut self, cx: &mut Cx) {
        self.reveal_named(&cx.view);
        let (groups, projects) = (self.groups(&cx.view), self.projects(&cx.view));
        self.groups.narrow(&groups, |group, words| group.full_path.to_lowercase().contains(words));
        self.groups.sync(&groups, |group| group.full_path.clone());
        self.projects.narrow(&projects, |project, words| cx.view.full_path(project).to_lowercase().contains(words));
        self.projects.sync(&projects, |project| cx.view.full_path(project).into_owned());
        self.fill_facts(&cx.view);
    }

    fn motion(&mut self, motion: Motion, cx: &mut Cx) {
        let len = self.len(&cx.view);
        match (self.tab, self.panels.focus(), motion) {
            (EVERYWHERE, ..) => self.facts.motion(motion),
            (_, FACTS, Motion::Left) => self.panels.set_focus(LIST),
            (_, FACTS, other) => self.facts.motion(other),
            (_, _, Motion::Right) => self.panels.set_focus(FACTS),
            (_, _, Motion::Left) => {}
            (_, _, other) => self.list().motion(other, len),
        }
    }

    fn pointer(&mut self, pointer: Pointer, cx: &mut Cx) {
        let (Pointer::Press { column, row, .. } | Pointer::Wheel { column, row, .. }) = pointer else { return };
        let facts = self.facts.contains(column, row);
        if !facts && !self.list().contains(column, row) {
            return;
        }
        if matches!(pointer, Pointer::Press { .. }) {
            self.panels.set_focus(if facts { FACTS } else { LIST });
        }
        let len = self.len(&cx.view);
        if facts {
            self.facts.pointer(pointer, cx);
        } else if self.list().pointer(pointer, len) && self.can_edit(&cx.view).is_ok() && cx.view.can_write().is_ok() {
            self.edit(cx);
        }
    }

    fn panels(&mut self) -> Option<&mut Panels> {
        if self.tab == EVERYWHERE { None } else { Some(&mut self.panels) }
    }

    fn tabs(&self) -> Tabs {
        Tabs { titles: TITLES, selected: self.tab }
    }

    fn select_tab(&mut self, index: usize, _cx: &mut Cx) {
        self.tab = index;
        self.panels.set_focus(LIST);
    }

    fn search_mode(&self) -> Option<SearchMode> {
        (self.tab != EVERYWHERE).then_some(SearchMode::Filter)
    }

    fn filter_text(&self) -> String {
        let list = if self.tab == PROJECTS { &self.projects } else { &self.groups };
        list.filter_text().to_owned()
    }

    fn set_filter_text(&mut self, text: &str, cx: &mut Cx) {
        let here = self.current(&cx.view).map(|(_, name)| name);
        self.list().set_filter(text, here);
    }

    fn escape(&mut self, cx: &mut Cx) -> bool {
        let here = self.current(&cx.view).map(|(_, name)| name);
        self.tab != EVERYWHERE && (self.list().clear_filter(here) || self.panels.return_to(LIST))
    }

    fn url(&self, view: &View) -> Option<String> {
        Some(format!("{}/profile/notifications", view.session.web_url))
    }
}
