//! The groups with their subgroups and projects as a tree, and actions for owners and administrators.

mod about;
mod tree;

use crate::api::Id;
use crate::api::groups::{GetGroup, Group, GroupOrProject, ListGroups, SyncLdap};
use crate::api::users::ListUsers;
use crate::app::motion::Motion;
use crate::app::pane::Breadcrumb;
use crate::app::permission;
use crate::app::query::{self, Grammar};
use crate::app::tone::Tone;
use crate::parts::forms;
use crate::parts::list::prelude::*;
use crate::parts::list::{self, Listing};
use crate::parts::list::{query_list, scope};
use crate::store::{Load, Rows};
use crate::ui::glyph;
use crate::ui::text::{self, sanitize};
use tree::{GroupQuery, GroupTree, LineKind, is_id};

/// The tree of groups.
pub struct GroupSource {
    tree: GroupTree,
    /// The group that the place names, until it is found.
    named: Option<String>,
    /// The path of the group under the cursor or around it, as of the last update.
    group: Option<String>,
    /// The ID and path of the selected row, as of the last update.
    selected: Option<(u64, String)>,
    /// The filter whose rows were shown at the last update.
    shown: String,
}

/// The tree of groups, and the details of the selected row.
pub type Groups = ListPane<GroupSource>;

fn grammar() -> Grammar {
    Grammar::new(query::GROUPS, Some("search"), None)
}

/// Returns whether a query filters: one that only sorts still lists all groups.
fn is_narrowed(text: &str) -> bool {
    query::parts(text).iter().any(|(word, keyed)| !keyed || !word.starts_with("sort:"))
}

fn details(path: &str) -> GetGroup {
    GetGroup { id: path.into(), with_custom_attributes: Some(true) }
}

/// Returns the full path of a row.
fn path<'a>(view: &View, row: &'a GroupOrProject) -> Cow<'a, str> {
    row.full_path(&view.session.web_url)
}

impl GroupSource {
    /// Returns the name of the row at `index`, indented by its depth in the tree.
    fn name<'a>(&self, index: usize, row: &'a GroupOrProject) -> Line<'a> {
        let Some(line) = self.tree.line(index) else { return Line::empty() };
        let mark = match line.kind {
            LineKind::Group { open: true } => glyph::unfolded(),
            LineKind::Group { open: false } => glyph::folded(),
            _ => " ",
        };
        let (name, role) = match row {
            GroupOrProject::Group(group) if line.depth == 0 && !group.full_path.is_empty() => {
                (&group.full_path, Role::Accent)
            }
            GroupOrProject::Group(group) => (&group.path, Role::Accent),
            GroupOrProject::Project(project) => (&project.path, Role::Text),
        };
        Line::new(format!("{}{mark} ", indent(line.depth)), Role::Dim).and(name, role)
    }

    /// Returns the query for a user of that name, if the named group does not exist: the web pages of users and groups
    /// have the same form.
    fn as_user(&self, view: &View) -> Option<ListUsers> {
        let path = self.named.as_deref().filter(|path| !path.contains('/'))?;
        let missing = view.store.get(&details(path)).error.is_some_and(crate::api::Error::is_missing);
        let query = missing.then(|| ListUsers { username: Some(path.to_owned()), ..ListUsers::default() })?;
        let users = view.store.list(&query);
        (!users.is_loaded || !users.is_empty()).then_some(query)
    }

    /// Opens the user of that name if the named group does not exist.
    fn find_user(&mut self, cx: &mut Cx) {
        let Some((path, query)) = self.named.clone().zip(self.as_user(&cx.view)) else { return };
        let users = cx.view.store.list(&query);
        if !users.is_loaded && users.error.is_none() {
            return;
        }
        self.named = None;
        match users.get(0) {
            Some(user) => cx.act(Action::Replace(Place::new("user").item(user.username.as_str()))),
            None => {
                cx.say(Tone::Warning, format!("There is no group or user called {}.", sanitize(&path)));
            }
        }
    }
}

impl Groups {
    /// Returns the path of the group under the cursor, or of the group that contains the row.
    fn group(&self) -> Option<&str> {
        let line = self.source.tree.line(self.list.state.selected())?;
        Some(line.group.as_str()).filter(|path| !path.is_empty())
    }

    fn has_group(&self, view: &View) -> Result<(), Disabled> {
        list::need(self.group(), &self.rows(view), "no group is selected").map(|_| ())
    }

    fn can_administer(&self, view: &View) -> Result<(), Disabled> {
        permission::administrator(view)?;
        self.has_group(view)
    }

    fn can_delete(&self, view: &View) -> Result<(), Disabled> {
        self.has_group(view)?;
        let group = self.current(view).and_then(GroupOrProject::group);
        group.map(|_| ()).ok_or_else(|| "no group is under the cursor".into())
    }

    fn edit(&mut self, cx: &mut Cx) {
        match self.current(&cx.view).and_then(GroupOrProject::project) {
            Some(project) => {
                let path = cx.view.full_path(project);
                forms::project::edit(&Id::from(&*path), &cx.view).open(cx);
            }
            None => {
                if let Some(group) = self.group() {
                    forms::group::edit(group, &cx.view).open(cx);
                }
            }
        }
    }

    fn delete(&mut self, cx: &mut Cx) {
        let Some(group) = self.current(&cx.view).and_then(GroupOrProject::group) else { return };
        let group = Group { id: group.id, full_path: group.path_or_id().into_owned(), ..Group::default() };
        cx.act(forms::group::delete(&group));
    }

    fn sync(&mut self, cx: &mut Cx) {
        let Some(group) = self.group() else { return };
        let write = Write::new(&SyncLdap { id: Id::from(group) }, format!("sync the LDAP members of {group}"));
        cx.act(Action::Send(write));
    }

    fn unlink(&mut self, cx: &mut Cx) {
        let Some(path) = self.group() else { return };
        let group = cx.view.store.get(&details(path)).value;
        let links = group.and_then(|group| group.ldap_group_links.clone()).unwrap_or_default();
        match forms::group::unlink(path, &links) {
            Ok(action) => cx.act(action),
            Err(form) => form.open(cx),
        }
    }

    fn go(&mut self, pane: &str, cx: &mut Cx) {
        if let Some(group) = self.group() {
            cx.go(Place::new(pane).group(group));
        }
    }

    fn open_selection(&mut self, cx: &mut Cx) {
        if self.enter_detail(cx) {
            return;
        }
        if let Some(project) = self.current(&cx.view).and_then(GroupOrProject::project) {
            let path = cx.view.full_path(project);
            return cx.go(Place::new("files").project(&*path));
        }
        let Some(line) = self.source.tree.line(self.list.state.selected()) else { return };
        match line.kind {
            LineKind::Group { open } => {
                let path = line.group.clone();
                self.source.tree.set_open(&path, !open);
            }
            _ => cx.act(Action::Refresh),
        }
    }

    fn toggle_sizes(&mut self, _: &mut Cx) {
        self.source.tree.toggle_sizes();
        self.list.restart();
    }
}

fn is_archived(row: &GroupOrProject) -> bool {
    match row {
        GroupOrProject::Group(group) => group.archived == Some(true),
        GroupOrProject::Project(project) => project.is_archived(),
    }
}

fn indent(depth: usize) -> String {
    "  ".repeat(depth.min(20))
}

impl ListSource for GroupSource {
    type Row = GroupOrProject;
    type Detail = Details;
    const LIST: ListInfo = ListInfo::new("groups", "group", "groups").widths(&[(52, 3), (44, 2)]);
    const COLUMNS: &'static [Column<Self>] = &[
        Column::<Self>::at("name", Size::Fit { min: 20, max: u16::MAX }, |source, index, row, _| {
            source.name(index, row)
        }),
        Column::<Self>::fill("about", "", 10, |_, row, _| {
            let about = match row {
                GroupOrProject::Group(group) => group.description.as_deref().unwrap_or_default(),
                GroupOrProject::Project(project) => project.description(),
            };
            Line::new(about.lines().next().unwrap_or_default(), Role::Dim)
        })
        .drop_order(3),
        Column::<Self>::fit("visibility", "", 0, 10, |_, row, _| {
            let visibility = match row {
                GroupOrProject::Group(group) => group.visibility.as_str(),
                GroupOrProject::Project(project) => project.visibility().map_or("", |word| word.as_str()),
            };
            Line::new(if is_archived(row) { "archived" } else { visibility }, Role::Dim)
        })
        .drop_order(2),
        Column::<Self>::fit("size", "", 0, 9, |_, row, _| {
            let size = match row {
                GroupOrProject::Group(group) => group.statistics.as_ref().map(|sizes| sizes.storage_size),
                GroupOrProject::Project(project) => project.statistics.as_ref().map(|sizes| sizes.storage_size),
            };
            Line::text(size.map(text::bytes).unwrap_or_default())
        })
        .right()
        .drop_order(1),
        Column::<Self>::age("updated", "", |row| row.project().and_then(|project| project.last_activity_at.as_ref()))
            .drop_order(4),
    ];
    const COMMANDS: &'static [ListCommand<Self>] = &[
        Command::new("groups.open", &["Enter"], "Open group or project", Groups::open_selection).footer("open"),
        Command::new("groups.create", &["+"], "Create group…", |pane: &mut Groups, cx| {
            forms::group::create(pane.group()).open(cx);
        })
        .footer("new group")
        .writes(),
        Command::new("groups.project", &["P"], "Create project…", |pane: &mut Groups, cx| {
            let group = pane.group().map(Id::from);
            forms::project::create(group.as_ref()).open(cx);
        })
        .footer("new project")
        .writes(),
        Command::new("groups.edit", &["e"], "Edit settings…", Groups::edit)
            .footer("edit")
            .writes()
            .when(Groups::has_group),
        Command::new("groups.delete", &["D", "Delete"], "Delete group…", Groups::delete)
            .writes()
            .when(Groups::can_delete),
        Command::new("groups.take_in", &["m"], "Move project into group…", |pane: &mut Groups, cx| {
            if let Some(group) = pane.group() {
                forms::group::transfer_project(group).open(cx);
            }
        })
        .writes()
        .when(Groups::can_administer),
        Command::new("groups.projects", &["p"], "List projects", |pane: &mut Groups, cx| {
            pane.go("projects", cx);
        })
        .footer("projects")
        .when(Groups::has_group),
        Command::new("groups.search", &["s"], "Search in group…", |pane: &mut Groups, cx| pane.go("search", cx))
            .when(Groups::has_group),
        Command::new("groups.team", &["t"], "Open team", |pane: &mut Groups, cx| pane.go("team", cx))
            .when(Groups::has_group),
        Command::new("groups.notifications", &["w"], "Open notification settings", |pane: &mut Groups, cx| {
            pane.go("notifications", cx);
        })
        .when(Groups::has_group),
        Command::new("groups.sizes", &["S"], "Toggle storage sizes", Groups::toggle_sizes)
            .when(|_, view| permission::administrator(view)),
        Command::new("groups.link", &["L"], "Add LDAP link…", |pane: &mut Groups, cx| {
            if let Some(group) = pane.group() {
                forms::group::link(group).open(cx);
            }
        })
        .writes()
        .when(Groups::has_group),
        Command::new("groups.unlink", &["U"], "Remove LDAP link…", Groups::unlink).writes().when(Groups::has_group),
        Command::new("groups.sync", &["Y"], "Sync LDAP members", Groups::sync).writes().when(Groups::has_group),
    ];

    fn open(place: &Place, _view: &View) -> GroupSource {
        GroupSource {
            tree: GroupTree::default(),
            named: place.group.as_ref().map(Id::to_string),
            group: None,
            selected: None,
            shown: String::new(),
        }
    }

    fn is_dim(&self, _: usize, row: &GroupOrProject) -> bool {
        is_archived(row)
    }

    fn empty(&self, _: usize) -> (&'static str, &'static str) {
        ("There are no groups here.", "‹groups.create› creates one")
    }

    fn place(&self, base: Place) -> Place {
        let group = self.named.clone().or_else(|| self.group.clone());
        Place { project: None, group: group.map(Id::from), ..base }
    }

    fn breadcrumbs(&self, _: &Place, view: &View) -> Vec<Breadcrumb> {
        scope::breadcrumbs(None, view, Self::LIST.names.1)
    }

    fn query(&self, input: &Input<'_>, _: ServerOrder, view: &View) -> Option<GroupQuery> {
        let statistics = if self.tree.sizes { serde_json::json!(true) } else { serde_json::Value::Null };
        let given = query_list::given([("statistics", statistics)]);
        match grammar().ask(input.filter, given, view) {
            query::QueryResult::Ready(list) => Some(GroupQuery::converted::<Group, ListGroups>(&list)),
            query::QueryResult::Pending | query::QueryResult::Wrong(_) => None,
        }
    }

    fn rows<'a>(&self, _: &Input<'_>, query: Option<&GroupQuery>, view: &View<'a>) -> Rows<'a, GroupOrProject> {
        self.tree.rows(query, view)
    }

    fn filter(&self, _: &Input<'_>) -> Filter<GroupOrProject> {
        Filter::Query(grammar())
    }

    fn arrange_rows(pane: &mut Groups, _: &Rows<'_, GroupOrProject>, view: &View) {
        let source = &mut pane.source;
        if source.tree.give_up_if_moved(&pane.list) {
            source.named = None;
        }
        let named = source.named.as_deref().map(|path| view.store.get(&details(path)));
        if let Some(group) = named.as_ref().and_then(|reply| reply.value) {
            // The place may name the group by its ID; the tree is searched by path.
            source.tree.open(&group.path_or_id());
            source.named = None;
        } else if named.and_then(|reply| reply.refused()).is_some_and(|error| !error.is_missing()) {
            // The nearest place replaces a missing one.
            source.named = None;
        }
        let narrowed = is_narrowed(pane.list.shown());
        if source.shown != pane.list.shown() {
            source.shown = pane.list.shown().to_owned();
            source.tree.reload();
            // The selected row stays selected when the filter is cleared.
            if let Some((id, path)) = source.selected.as_ref().filter(|_| !narrowed) {
                // Search results may lack the full path, which other replies have.
                let mut known = view.known_groups();
                let known = known.find(|group| is_id(path) && group.id == *id && !group.full_path.is_empty());
                source.tree.reveal(known.map_or(path, |group| &group.full_path));
            }
        }
        let query = pane.shown_query().cloned();
        pane.source.tree.update(&mut pane.list, query.as_ref(), narrowed, view);
    }

    fn key(row: &GroupOrProject) -> String {
        row.key()
    }

    fn count(&self, _: &Listing, rows: &Rows<'_, GroupOrProject>) -> Option<String> {
        let (at_the_top, has_more) = self.tree.at_the_top();
        // The server's total of all groups includes subgroups, which are not top-level rows.
        let total = rows.total.filter(|_| has_more && is_narrowed(&self.shown));
        let words = total.map_or_else(|| list::at_least(at_the_top, has_more), text::count);
        rows.is_loaded.then_some(words)
    }

    fn heading_row(&self, _: &Input<'_>, index: usize, view: &View) -> TableRow<'static> {
        let Some(line) = self.tree.line(index) else { return TableRow::default() };
        let (words, role) = match &line.kind {
            LineKind::More(cut) => (format!("{} {}", glyph::ellipsis(), list::more_words(*cut)), Role::Dim),
            LineKind::Loading => (format!("{} loading", glyph::ellipsis()), Role::Dim),
            LineKind::Failed(why) => {
                let retries = view.with_keys("‹refresh› retries");
                (format!("{} {why}{}{retries}", glyph::wrong(), glyph::separator()), Role::Failed)
            }
            _ => ("nothing you can see".to_owned(), Role::Dim),
        };
        TableRow::new(vec![Line::new(format!("{}  {words}", indent(line.depth)), role)])
    }

    fn heading(&self, _: &Input<'_>, _: &View) -> (String, String) {
        ("Groups".to_owned(), if self.tree.sizes { "with sizes" } else { "" }.to_owned())
    }

    fn handle_key(pane: &mut Groups, key: ListKey, cx: &mut Cx) -> bool {
        let (tree, selected) = (&mut pane.source.tree, pane.list.state.selected());
        let line = tree.line(selected);
        let open =
            line.filter(|line| matches!(line.kind, LineKind::Group { open: true })).map(|line| line.group.clone());
        match (key, open) {
            (ListKey::Escape, _) => return false,
            // The cursor skips placeholders, and must not leave the group.
            (ListKey::Right, Some(_)) if tree.has_row_below(selected) || glyph::is_accessible() => {
                pane.list.motion(Motion::Down, tree.len());
            }
            (ListKey::Right, Some(_)) => {}
            (ListKey::Right, None) => pane.open_selection(cx),
            (ListKey::Left, Some(path)) => tree.set_open(&path, false),
            (ListKey::Left, None) => {
                if let Some(above) = tree.above(selected) {
                    pane.list.select(above, tree.len());
                }
            }
        }
        true
    }

    fn wants(pane: &Groups, view: &View) -> Vec<Want> {
        let source = &pane.source;
        let mut wants = source.tree.wants(pane.shown_query());
        match (source.as_user(view), &source.named) {
            (Some(users), _) => wants.push(Load::list(&users, 1).into()),
            (None, Some(path)) => wants.push(Load::single(&details(path)).into()),
            (None, None) => {}
        }
        wants
    }

    fn changed(pane: &mut Groups, cx: &mut Cx) {
        pane.source.find_user(cx);
        pane.source.tree.updated(&pane.list);
        pane.source.group = pane.group().map(str::to_owned);
        pane.source.selected = pane.current(&cx.view).map(|row| (row.id(), path(&cx.view, row).into_owned()));
    }

    fn url(&self, view: &View, row: Option<&GroupOrProject>) -> Option<String> {
        let row = row?;
        let url = match row {
            GroupOrProject::Group(group) => &group.web_url,
            GroupOrProject::Project(project) => &project.web_url,
        };
        let default_url = || format!("{}/{}", view.session.web_url, crate::parts::project::path(&path(view, row)));
        Some(Some(url.clone()).filter(|url| !url.is_empty()).unwrap_or_else(default_url))
    }

    fn copies(&self, view: &View, row: &GroupOrProject) -> Vec<Clip> {
        vec![Clip::line("path", path(view, row).into_owned()), Clip::line("ID", row.id().to_string())]
    }
}

impl Describes<Details> for GroupSource {
    fn describe(&self, facts: &mut Details, view: &View, row: &GroupOrProject) {
        match row {
            GroupOrProject::Group(listed) => {
                let title = if listed.full_path.is_empty() { &listed.path } else { &listed.full_path };
                facts.title(title, "");
                let details = details(&listed.path_or_id());
                if self.named.is_none() {
                    facts.load(Load::single(&details));
                }
                about::group(facts, view, view.store.get(&details).value.unwrap_or(listed), Some(listed));
            }
            GroupOrProject::Project(project) => {
                facts.title(&project.path_with_namespace, "");
                about::project(facts, view, project);
            }
        }
    }
}
