//! The groups with their subgroups and projects as a tree, and actions for owners and administrators.

mod about;
mod tree;

use crate::api::Id;
use crate::api::groups::{GetGroup, Group, SyncLdap};
use crate::api::users::ListUsers;
use crate::app::action::Action;
use crate::app::command::Command;
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::motion::Motion;
use crate::app::pane::{Breadcrumb, Pane, SearchMode};
use crate::app::place::Place;
use crate::app::pointer::Pointer;
use crate::app::query::{self, Grammar};
use crate::app::tone::Tone;
use crate::app::view::View;
use crate::parts::facts::{Details, WIDE_NAME_WIDTH};
use crate::parts::list::{self, draw_error, draw_error_line};
use crate::parts::{forms, query_list};
use crate::store::{Load, Want, Write};
use crate::ui::panels::{self, PanelRequest, Panels};
use crate::ui::table::{self, Cell, Column, Row, Size};
use crate::ui::text::{self, sanitize};
use crate::ui::theme::Role;
use crate::ui::{glyph, state};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::time::Duration;
use tree::{GroupQuery, Kind, Node, Tree, is_id};

const TREE: usize = 0;
const FACTS: usize = 1;
const PANEL_WIDTHS: &[PanelRequest] = &[PanelRequest { min: 52, weight: 3 }, PanelRequest { min: 44, weight: 2 }];
/// The delay after the cursor moved before the details of a group are fetched.
const FETCH_DELAY: Duration = Duration::from_millis(150);

/// The tree of groups, and the details of the selected row.
pub struct Groups {
    tree: Tree,
    panels: Panels,
    facts: Details,
    /// Whether storage sizes are requested.
    sizes: bool,
    /// The group that the place names, until it is found.
    named: Option<String>,
}

impl Groups {
    fn grammar() -> Grammar {
        Grammar::new(query::GROUPS, Some("search"), None)
    }

    fn query_of(&self, text: &str, view: &View) -> GroupQuery {
        let statistics = if self.sizes { serde_json::json!(true) } else { serde_json::Value::Null };
        let given = query_list::given([("statistics", statistics)]);
        let list = match Self::grammar().ask(text, given, view) {
            query::QueryResult::Ready(list) => Some(list),
            query::QueryResult::Pending | query::QueryResult::Wrong(_) => None,
        };
        // A query that only sorts still lists all groups.
        let narrowed = query::parts(text).iter().any(|(word, keyed)| !keyed || !word.starts_with("sort:"));
        GroupQuery { list, narrowed }
    }

    fn now(&self, view: &View) -> GroupQuery {
        self.query_of(self.tree.list.shown(), view)
    }

    fn query(path: &str) -> GetGroup {
        GetGroup { id: path.into(), with_custom_attributes: Some(true) }
    }

    /// Returns the group under the cursor, or the group that contains the row.
    fn group(&self) -> Option<&Node> {
        let node = self.tree.current()?;
        if node.is_group() {
            return Some(node);
        }
        let before = self.tree.nodes().get(..self.tree.list.state.selected()).unwrap_or_default();
        before.iter().rev().find(|above| above.depth < node.depth && above.is_group())
    }

    fn has_group(&self, view: &View) -> Result<(), Disabled> {
        list::need(self.group(), &Tree::groups(view, &self.now(view)), "no group is selected").map(|_| ())
    }

    fn can_change(&self, view: &View) -> Result<(), Disabled> {
        forms::signed_in(view)?;
        self.has_group(view)
    }

    fn can_administer(&self, view: &View) -> Result<(), Disabled> {
        forms::administrator(view)?;
        self.has_group(view)
    }

    /// Returns the full details of the group that [`Self::group`] returns.
    fn group_details<'a>(&self, view: &View<'a>) -> Option<&'a Group> {
        view.store.get(&Self::query(&self.group()?.path)).value
    }

    fn listed<'a>(&self, view: &View<'a>, id: u64) -> Option<&'a Group> {
        Tree::groups(view, &self.now(view)).iter().find(|group| group.id == id)
    }

    fn enter(&mut self, cx: &mut Cx) {
        if self.panels.focus() == FACTS && self.facts.enter(cx) {
            return;
        }
        let Some(node) = self.tree.current() else { return };
        match node.kind {
            Kind::Group { open } => {
                let path = node.path.clone();
                self.tree.set_open(&path, !open);
            }
            Kind::Project => cx.go(Place::new("files").project(node.path.as_str())),
            _ => cx.act(Action::Refresh),
        }
    }

    fn edit(&mut self, cx: &mut Cx) {
        match self.tree.current() {
            Some(node) if node.kind == Kind::Project => {
                forms::project::edit(&node.path.as_str().into(), &cx.view).open(cx);
            }
            _ => {
                if let Some(group) = self.group() {
                    forms::group::edit(&group.path, &cx.view).open(cx);
                }
            }
        }
    }

    fn delete(&mut self, cx: &mut Cx) {
        let Some(node) = self.tree.current().filter(|node| node.is_group()) else { return };
        let group = Group { id: node.id, full_path: node.path.clone(), ..Group::default() };
        cx.act(forms::group::delete(&group));
    }

    fn sync(&mut self, cx: &mut Cx) {
        let Some(group) = self.group() else { return };
        let write = Write::new(
            &SyncLdap { id: Id::from(group.path.as_str()) },
            format!("sync the LDAP members of {}", group.path),
        );
        cx.act(Action::Send(write));
    }

    fn unlink(&mut self, cx: &mut Cx) {
        let Some(path) = self.group().map(|group| group.path.clone()) else { return };
        let links = self.group_details(&cx.view).and_then(|group| group.ldap_group_links.clone()).unwrap_or_default();
        match forms::group::unlink(&path, &links) {
            Ok(action) => cx.act(action),
            Err(form) => form.open(cx),
        }
    }

    fn go(&mut self, pane: &str, cx: &mut Cx) {
        if let Some(group) = self.group() {
            cx.go(Place::new(pane).group(group.path.as_str()));
        }
    }

    /// Returns the query for a user of that name, if the named group does not exist: the web pages of users and groups
    /// have the same form.
    fn as_user(&self, view: &View) -> Option<ListUsers> {
        let path = self.named.as_deref().filter(|path| !path.contains('/'))?;
        let missing = view.store.get(&Self::query(path)).error.is_some_and(crate::api::Error::is_missing);
        missing.then(|| ListUsers { username: Some(path.to_owned()), ..ListUsers::default() })
    }

    fn find_named(&mut self, cx: &mut Cx) {
        let Some(path) = self.named.clone() else { return };
        if let Some(query) = self.as_user(&cx.view) {
            let users = cx.view.store.list(&query);
            if !users.is_known && users.error.is_none() {
                return;
            }
            self.named = None;
            match users.get(0) {
                Some(user) => cx.act(Action::Replace(Place::new("user").item(user.username.as_str()))),
                None => {
                    cx.say(Tone::Warning, format!("There is no group or user called {}.", sanitize(&path)));
                }
            }
            return;
        }
        let Some(group) = cx.view.store.get(&Self::query(&path)).value else { return };
        // The place may name the group by its ID; the tree is searched by path.
        self.tree.open(&tree::path_of(group));
        self.named = None;
    }

    fn draw_tree(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let theme = view.theme;
        let focused = self.panels.focus() == TREE;
        let sizes = if self.sizes { "with sizes" } else { "" };
        let body = panels::title(buf, area, theme, focused, "Groups", sizes);
        let query = self.now(view);
        let all = Tree::groups(view, &query);
        if all.is_empty() {
            return match (all.error, all.is_known) {
                (Some(error), _) => draw_error(view, body, buf, error),
                (None, true) if query.narrowed => {
                    view.draw_empty(buf, body, "No group matches the filter.", "‹seek› changes it, ‹escape› clears it");
                }
                (None, true) => view.draw_empty(buf, body, "There are no groups here.", "‹groups.create› creates one"),
                (None, false) => state::skeleton(buf, body, theme),
            };
        }
        let body = draw_error_line(view, body, buf, all.error);
        self.tree.list.drawn_at(body);
        let columns = [
            Column::new("", Size::Fit { min: 20, max: 46 }),
            Column::new("", Size::Fill { min: 10, weight: 1 }).drop_order(3),
            Column::new("", Size::Fit { min: 0, max: 10 }).drop_order(2),
            Column::new("", Size::Fit { min: 0, max: 9 }).right().drop_order(1),
            Column::new("", Size::Fixed(4)).right().drop_order(4),
        ];
        let behind = self.tree.list.is_filter_pending();
        table::draw(buf, body, theme, focused, &self.tree.list.state, &columns, self.tree.nodes().len(), &|index| {
            self.tree.nodes().get(index).map(|node| row(view, node).dim(behind || node.archived)).unwrap_or_default()
        });
    }

    fn draw_facts(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let focused = self.panels.focus() == FACTS;
        let name = self.tree.current().map_or("", |node| if is_id(&node.path) { &node.name } else { &node.path });
        let body = panels::title(buf, area, view.theme, focused, name, "");
        let group = self.tree.current().filter(|node| node.is_group());
        let error = group.and_then(|node| view.store.get(&Self::query(&node.path)).error);
        match error {
            Some(error) if self.facts.is_empty() => draw_error(view, body, buf, error),
            _ => self.facts.draw(view, body, buf, focused),
        }
    }
}

fn row(view: &View, node: &Node) -> Row {
    let indent = "  ".repeat(node.depth.min(20));
    let quiet = |words: &str, role: Role| Row::new(vec![Cell::from((format!("{indent}  {words}"), role))]);
    let (mark, role) = match &node.kind {
        Kind::Group { open } => (if *open { glyph::unfolded() } else { glyph::folded() }, Role::Accent),
        Kind::Project => (" ", Role::Text),
        Kind::More => return quiet(&format!("{} more", glyph::cut()), Role::Dim),
        Kind::Loading => return quiet(&format!("{} loading", glyph::cut()), Role::Dim),
        Kind::Nothing => return quiet("nothing you can see", Role::Dim),
        Kind::Failed(why) => return quiet(&format!("{} {why}", glyph::wrong()), Role::Failed),
    };
    let note = if node.archived { "archived" } else { &node.visibility };
    let age = if node.is_group() { String::new() } else { crate::parts::list::age(view, node.active.as_ref()) };
    Row::new(vec![
        Cell::from((format!("{indent}{mark} "), Role::Dim)).and(node.name.clone(), role),
        Cell::from((node.about.clone(), Role::Dim)),
        Cell::from((note.to_owned(), Role::Dim)),
        Cell::from((node.size.map(text::bytes).unwrap_or_default(), Role::Text)),
        Cell::from((age, Role::Dim)),
    ])
}

impl Pane for Groups {
    const ID: &'static str = "groups";
    const TITLE: &'static str = "Groups and projects";
    const COMMANDS: &'static [Command<Self>] = &[
        Command::new("groups.open", &["Enter"], "Open group or project", Self::enter).footer("open"),
        Command::new("groups.create", &["+"], "Create group…", |pane: &mut Self, cx| {
            forms::group::create(pane.group().map(|group| group.path.as_str())).open(cx);
        })
        .footer("new group")
        .writes()
        .when(|_, view| forms::signed_in(view)),
        Command::new("groups.project", &["P"], "Create project…", |pane: &mut Self, cx| {
            let group = pane.group().map(|group| Id::from(group.path.as_str()));
            forms::project::create(group.as_ref()).open(cx);
        })
        .footer("new project")
        .writes()
        .when(|_, view| forms::signed_in(view)),
        Command::new("groups.edit", &["e"], "Edit settings…", Self::edit)
            .footer("edit")
            .writes()
            .when(Self::can_change),
        Command::new("groups.delete", &["D", "Delete"], "Delete group…", Self::delete).writes().when(|pane, view| {
            forms::signed_in(view)?;
            pane.has_group(view)?;
            let group = pane.tree.current().filter(|node| node.is_group());
            group.map(|_| ()).ok_or_else(|| "no group is under the cursor".into())
        }),
        Command::new("groups.take_in", &["m"], "Move project into group…", |pane: &mut Self, cx| {
            if let Some(group) = pane.group() {
                forms::group::transfer_project(&group.path).open(cx);
            }
        })
        .writes()
        .when(Self::can_administer),
        Command::new("groups.projects", &["p"], "List projects", |pane: &mut Self, cx| {
            pane.go("projects", cx);
        })
        .footer("projects")
        .when(Self::has_group),
        Command::new("groups.search", &["s"], "Search in group…", |pane: &mut Self, cx| pane.go("search", cx))
            .when(Self::has_group),
        Command::new("groups.notifications", &["w"], "Open notification settings", |pane: &mut Self, cx| {
            pane.go("notifications", cx);
        })
        .when(Self::has_group),
        Command::new("groups.sizes", &["S"], "Toggle storage sizes", |pane: &mut Self, _| {
            pane.sizes = !pane.sizes;
            pane.tree.restart();
        })
        .when(|_, view| forms::administrator(view)),
        Command::new("groups.link", &["L"], "Add LDAP link…", |pane: &mut Self, cx| {
            if let Some(group) = pane.group() {
                forms::group::link(&group.path).open(cx);
            }
        })
        .writes()
        .when(Self::can_change),
        Command::new("groups.unlink", &["U"], "Remove LDAP link…", Self::unlink).writes().when(Self::can_change),
        Command::new("groups.sync", &["Y"], "Sync LDAP members", Self::sync).writes().when(Self::can_change),
    ];

    fn open(place: &Place, _view: &View) -> Self {
        Groups {
            tree: Tree::with_filter(place.query.as_deref().unwrap_or_default()),
            panels: Panels::new(2),
            facts: Details::default().names(WIDE_NAME_WIDTH),
            sizes: false,
            named: place.group.as_ref().map(Id::to_string),
        }
    }

    fn place(&self) -> Place {
        let group = self.named.clone().or_else(|| self.group().map(|group| group.path.clone()));
        Place { group: group.map(Id::from), ..Place::new(Self::ID).query(self.tree.list.filter_text()) }
    }

    fn breadcrumbs(&self, view: &View) -> Vec<Breadcrumb> {
        let mut breadcrumbs = vec![Breadcrumb::new("groups", Role::Title)];
        let query = self.now(view);
        let all = Tree::groups(view, &query);
        let count = match query.narrowed {
            true => list::count(&all, self.tree.at_the_top(), None),
            // The server's total includes subgroups, which are not top-level rows.
            false => all.is_known.then(|| list::at_least(self.tree.at_the_top(), all.has_more)),
        };
        breadcrumbs.extend(query_list::breadcrumbs(self.tree.list.filter_text(), count, &Self::grammar(), view));
        breadcrumbs
    }

    fn wants(&self, view: &View) -> Vec<Want> {
        let mut wants = self.tree.wants(&self.now(view));
        if self.tree.list.is_filter_pending() {
            let list = self.query_of(self.tree.list.filter_text(), view).list;
            wants.extend(list.map(|list| Want::from(Load::list(&list, 1).after(self.tree.list.filter_delay()))));
        }
        match (self.as_user(view), &self.named) {
            (Some(users), _) => wants.push(Load::list(&users, 1).into()),
            (None, Some(path)) => wants.push(Load::single(&Self::query(path)).into()),
            (None, None) => {}
        }
        let beside = view.size.0 >= panels::TWO_PANELS_WIDTH || self.panels.focus() == FACTS;
        if let Some(node) = self.tree.current().filter(|node| node.is_group() && beside && self.named.is_none()) {
            wants.push(Load::single(&Self::query(&node.path)).after(FETCH_DELAY).into());
        }
        wants
    }

    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        self.tree.list.drawn_at(Rect::default());
        self.facts.hide();
        let places = self.panels.layout(area, PANEL_WIDTHS);
        if let Some(place) = places.get(TREE).copied().flatten() {
            self.draw_tree(view, place, buf);
        }
        if let Some(place) = places.get(FACTS).copied().flatten() {
            self.draw_facts(view, place, buf);
        }
        self.panels.draw_dividers(buf, view.theme);
    }

    fn changed(&mut self, cx: &mut Cx) {
        self.find_named(cx);
        let view = cx.view;
        let here = self.tree.current().filter(|node| node.is_thing()).map(|node| (node.id, node.path.clone()));
        let typed_query = self.query_of(self.tree.list.filter_text(), &view);
        if self.tree.list.filter_loaded(&Tree::groups(&view, &typed_query)) {
            self.tree.reload();
            // The selected row stays selected when the filter is cleared.
            if let Some((id, path)) = here.filter(|_| !typed_query.narrowed) {
                // Search results may lack the full path, which other replies have.
                let mut groups = view.store.known::<Group>().map(|(_, group)| group);
                let known = groups.find(|group| is_id(&path) && group.id == id && !group.full_path.is_empty());
                self.tree.reveal(known.map_or(&path, |group| &group.full_path));
            }
        }
        let query = self.now(&view);
        self.tree.changed(&view, &query);
        self.facts.clear();
        match self.tree.current() {
            Some(node) if node.is_group() => {
                let listed = self.listed(&view, node.id);
                if let Some(group) = view.store.get(&Self::query(&node.path)).value.or(listed) {
                    about::group(&mut self.facts, &view, group, listed);
                }
            }
            Some(node) if node.kind == Kind::Project => about::project(&mut self.facts, &view, node),
            _ => {}
        }
    }

    fn motion(&mut self, motion: Motion, cx: &mut Cx) {
        if self.panels.focus() == FACTS {
            return match motion {
                Motion::Left => self.panels.set_focus(TREE),
                other => self.facts.motion(other),
            };
        }
        let open = self.tree.current().map(|node| (node.kind.clone(), node.path.clone()));
        match (motion, open) {
            (Motion::Right, Some((Kind::Group { open: false }, path))) => self.tree.set_open(&path, true),
            (Motion::Right, Some((Kind::Group { open: true }, _))) => {
                self.tree.list.motion(Motion::Down, self.tree.nodes().len());
            }
            (Motion::Right, _) => self.enter(cx),
            (Motion::Left, Some((Kind::Group { open: true }, path))) => self.tree.set_open(&path, false),
            (Motion::Left, _) => self.tree.select_above(),
            (other, _) => self.tree.list.motion(other, self.tree.nodes().len()),
        }
    }

    fn pointer(&mut self, pointer: Pointer, cx: &mut Cx) {
        let (Pointer::Press { column, row, .. } | Pointer::Wheel { column, row, .. }) = pointer else { return };
        let on_facts = self.facts.contains(column, row);
        if !on_facts && !self.tree.list.contains(column, row) {
            return;
        }
        if matches!(pointer, Pointer::Press { .. }) {
            self.panels.set_focus(if on_facts { FACTS } else { TREE });
        }
        if on_facts {
            self.facts.pointer(pointer, cx);
        } else if self.tree.list.pointer(pointer, self.tree.nodes().len()) {
            self.enter(cx);
        }
    }

    fn panels(&mut self) -> Option<&mut Panels> {
        Some(&mut self.panels)
    }

    fn search_mode(&self) -> Option<SearchMode> {
        Some(SearchMode::Filter)
    }

    fn grammar(&self) -> Option<Grammar> {
        Some(Self::grammar())
    }

    fn filter_text(&self) -> String {
        self.tree.list.filter_text().to_owned()
    }

    fn set_filter_text(&mut self, text: &str, _cx: &mut Cx) {
        self.tree.list.set_filter(text, None);
    }

    fn escape(&mut self, _cx: &mut Cx) -> bool {
        self.tree.list.clear_filter(None) || self.panels.return_to(TREE)
    }

    fn url(&self, view: &View) -> Option<String> {
        let node = self.tree.current().filter(|node| node.is_thing())?;
        let default_url = || format!("{}/{}", view.session.web_url, crate::parts::project::path(&node.path));
        Some(Some(node.url.clone()).filter(|url| !url.is_empty()).unwrap_or_else(default_url))
    }

    fn copies(&self, _view: &View) -> Vec<(&'static str, String)> {
        let Some(node) = self.tree.current().filter(|node| node.is_thing()) else { return Vec::new() };
        vec![("path", node.path.clone()), ("number", node.id.to_string())]
    }
}
