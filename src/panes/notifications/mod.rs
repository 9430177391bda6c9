//! The notification settings of the user: global, per group and per project.

mod settings_detail;

use crate::api::groups::{GetGroup, Group, GroupOrProject, ListGroups};
use crate::api::notifications::{GetNotifications, GetScopedNotifications, NotificationSettings};
use crate::api::projects::{GetProject, ListProjects, Project};
use crate::api::{Error, Id};
use crate::parts::forms::notification as form;
use crate::parts::list::prelude::*;
use crate::parts::list::source::Side;
use crate::store::{Load, Remote, Rows};
use crate::ui::glyph;
use settings_detail::role;
use std::time::Duration;

const TITLES: &[&str] = &["Everywhere", "Groups", "Projects"];
const EVERYWHERE: usize = 0;
const GROUPS: usize = 1;
const PROJECTS: usize = 2;
/// The delay before the levels of visible rows are fetched.
const FETCH_DELAY: Duration = Duration::from_millis(120);
/// The maximum number of rows whose levels are fetched.
const MAX_FETCHED: usize = 40;

/// The groups and projects of the user, with their notification levels.
pub struct NotificationSource {
    /// The group or project that the place names, with its tab, until its path is known.
    named: Option<(usize, Id)>,
}

/// The notification settings.
pub type Notifications = ListPane<NotificationSource>;

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

/// Returns the full path of a row.
fn path(view: &View, row: &GroupOrProject) -> String {
    row.full_path(&view.session.web_url).into_owned()
}

/// Returns the request for the settings of a row.
fn load(row: &GroupOrProject) -> Load {
    Load::single(&GetScopedNotifications { scope: row.scope() })
}

/// Returns the settings of a row, or the global ones.
fn settings<'a>(view: &View<'a>, row: Option<&GroupOrProject>) -> Remote<'a, NotificationSettings> {
    match row {
        Some(row) => view.store.get(&GetScopedNotifications { scope: row.scope() }),
        None => view.store.get(&GetNotifications {}),
    }
}

/// Returns the key of the row that a place names, if it is known, and whether the server refused to tell.
fn key_of(tab: usize, id: &Id, view: &View) -> (Option<String>, bool) {
    if id.number().is_none() {
        let kind = if tab == GROUPS { "group" } else { "project" };
        return (Some(format!("{kind} {id}")), false);
    }
    match tab {
        GROUPS => {
            let reply = view.store.get(&group_query(id));
            (reply.value.map(|group| GroupOrProject::from(group.clone()).key()), reply.refused().is_some())
        }
        _ => {
            let reply = view.store.get(&GetProject::new(id));
            (reply.value.map(|project| GroupOrProject::from(project.clone()).key()), reply.refused().is_some())
        }
    }
}

impl Notifications {
    fn can_edit(&self, view: &View) -> Result<(), Disabled> {
        if self.tab() == EVERYWHERE { Ok(()) } else { self.has_row(view) }
    }

    fn edit(&mut self, cx: &mut Cx) {
        match (self.tab(), self.current(&cx.view)) {
            (EVERYWHERE, _) => form::global(&cx.view).open(cx),
            (_, Some(row)) => form::scoped(row.scope(), &path(&cx.view, row), &cx.view).open(cx),
            (_, None) => {}
        }
    }
}

impl ListSource for NotificationSource {
    type Row = GroupOrProject;
    type Detail = Details;
    const LIST: ListInfo =
        ListInfo::new("notifications", "group or project", "notifications").widths(&[(44, 1), (48, 1)]).tabs(TITLES);
    const COLUMNS: &'static [Column<Self>] = &[
        Column::<Self>::fill("path", "", 20, |_, row, view| Line::text(path(view, row))).cut_in_middle(),
        Column::<Self>::fit("level", "", 8, 16, |_, row, view| {
            let settings = settings(view, Some(row));
            match (settings.value, settings.error) {
                (Some(settings), _) => Line::new(settings.level.to_string(), role(&settings.level)),
                (None, Some(error)) => Line::new(error.title(), Role::Failed),
                (None, None) => Line::new(glyph::ellipsis(), Role::Faint),
            }
        }),
    ];
    const COMMANDS: &'static [ListCommand<Self>] =
        &[Command::new("notifications.edit", &["e", "Enter"], "Edit notification settings…", Notifications::edit)
            .footer("change")
            .writes()
            .when(Notifications::can_edit)];

    fn open(place: &Place, _view: &View) -> NotificationSource {
        let group = place.group.clone().map(|group| (GROUPS, group));
        NotificationSource { named: group.or_else(|| Some((PROJECTS, place.project.clone()?))) }
    }

    fn place(&self, _: Place) -> Place {
        Place::new(Self::LIST.id)
    }

    fn empty(&self, tab: usize) -> (&'static str, &'static str) {
        match tab {
            GROUPS => ("You are not a member of any group.", "‹go.projects› lists projects"),
            _ => ("You are not a member of any project.", "‹go.projects› lists projects"),
        }
    }

    fn tab_of(&self, _: &Place) -> Option<usize> {
        self.named.as_ref().map(|(tab, _)| *tab)
    }

    fn only_side(&self, input: &Input<'_>, _: &View) -> Option<Side> {
        (input.tab == EVERYWHERE).then_some(Side::Detail)
    }

    fn select_tab(pane: &mut Notifications, index: usize) {
        if index != pane.tab() {
            pane.set_tab(index);
            pane.set_filter("");
            pane.focus_list();
        }
    }

    fn query(&self, input: &Input<'_>, _: ServerOrder, view: &View) -> Option<ListQuery<GroupOrProject>> {
        match input.tab {
            _ if !view.session.signed_in => None,
            GROUPS => Some(ListQuery::converted::<Group, _>(&groups_query())),
            PROJECTS => Some(ListQuery::converted::<Project, _>(&projects_query())),
            _ => None,
        }
    }

    fn filter(&self, _: &Input<'_>) -> Filter<GroupOrProject> {
        Filter::Loaded(|row, words| row.full_path("").to_lowercase().contains(words))
    }

    fn arrange_rows(pane: &mut Notifications, _: &Rows<'_, GroupOrProject>, view: &View) {
        let Some((tab, id)) = pane.source.named.as_ref().filter(|(tab, _)| *tab == pane.tab()) else { return };
        let (key, is_refused) = key_of(*tab, id, view);
        if key.is_some() || is_refused {
            pane.source.named = None;
        }
        if let Some(key) = key {
            pane.list.reveal(key);
        }
    }

    fn key(row: &GroupOrProject) -> String {
        row.key()
    }

    fn heading(&self, input: &Input<'_>, view: &View) -> (String, String) {
        let title = match input.tab {
            _ if !view.session.signed_in => "Notifications",
            GROUPS => "Your groups",
            _ => "Your projects",
        };
        (title.to_owned(), String::new())
    }

    fn instead(&self, _: &Input<'_>, _: Option<&Error>, view: &View) -> Option<(String, Cow<'static, str>)> {
        let hint = "labscope auth login signs in".into();
        (!view.session.signed_in).then(|| ("You are not signed in.".to_owned(), hint))
    }

    fn handle_key(pane: &mut Notifications, key: ListKey, _: &mut Cx) -> bool {
        if key == ListKey::Right {
            pane.focus_detail();
        }
        key == ListKey::Right
    }

    fn wants(pane: &Notifications, view: &View) -> Vec<Want> {
        if !view.session.signed_in {
            return Vec::new();
        }
        let mut wants: Vec<Want> = vec![Load::single(&GetNotifications {}).into()];
        let named = pane.source.named.as_ref().filter(|(_, id)| id.number().is_some());
        wants.extend(named.map(|(tab, id)| match *tab {
            GROUPS => Load::single(&group_query(id)).optional().into(),
            _ => Load::single(&GetProject::new(id)).optional().into(),
        }));
        wants.extend(pane.visible_rows(view).take(MAX_FETCHED).map(|row| load(row).after(FETCH_DELAY).into()));
        wants.extend(pane.current(view).map(|row| load(row).into()));
        wants
    }

    fn url(&self, view: &View, _: Option<&Self::Row>) -> Option<String> {
        Some(format!("{}/profile/notifications", view.session.web_url))
    }

    fn copies(&self, view: &View, row: &GroupOrProject) -> Vec<Clip> {
        vec![Clip::line("path", path(view, row))]
    }
}
