//! Search: one text, with a tab for each kind of result. Enter opens a result in its own pane.

mod hit;

use crate::api::groups::GetGroup;
use crate::api::search::{GLOBAL_SCOPES, GROUP_SCOPES, Hit, PROJECT_SCOPES, Search, SearchScope, SearchWithin};
use crate::api::{self, Endpoint, Error, Fault, Id};
use crate::app::overlay::picker::{Item, Picker};
use crate::app::pane::Breadcrumb;
use crate::app::target;
use crate::app::tone::Tone;
use crate::parts::breadcrumbs;
use crate::parts::list::columns::ColumnState;
use crate::parts::list::prelude::*;
use crate::parts::list::{self, ListLine};
use crate::parts::project;
use crate::parts::text::dates::age;
use crate::store::{Derived, Load, Rows};
use crate::ui::text::{self, sanitize};
use hit::Row;
use std::collections::HashMap;
use std::time::Duration;

/// The delay before the other tabs are requested, which is only for their counts.
const COUNT_DELAY: Duration = Duration::from_millis(600);

/// Returns the titles of the tabs.
const fn titles<const N: usize>(scopes: &[SearchScope]) -> [&'static str; N] {
    let mut all = [""; N];
    let mut index = 0;
    while index < N && index < scopes.len() {
        all[index] = scopes[index].1;
        index += 1;
    }
    all
}

const GLOBAL_TITLES: &[&str] = &titles::<{ GLOBAL_SCOPES.len() }>(GLOBAL_SCOPES);
const GROUP_TITLES: &[&str] = &titles::<{ GROUP_SCOPES.len() }>(GROUP_SCOPES);
const PROJECT_TITLES: &[&str] = &titles::<{ PROJECT_SCOPES.len() }>(PROJECT_SCOPES);
/// The maximum number of projects and of groups that are offered to search instead.
const MAX_SCOPES: usize = 10;
/// The scope whose tab is shown first where there is one.
const PROJECTS: &str = "projects";
/// The number of tabs that have a key.
const NUMBERED_TABS: usize = 9;
/// The scopes whose results are parts of files.
const FILE_SCOPES: &[&str] = &["blobs", "wiki_blobs"];
/// The number of lines that are shown around a match.
const CONTEXT_LINES: usize = 2;

/// A search in a project, in a group, or everywhere.
pub struct SearchSource {
    project: Option<Id>,
    group: Option<Id>,
    /// The search text of the shown results.
    text: String,
    /// Whether the user or the place has chosen the tab; otherwise it is the first one with results.
    is_tab_chosen: bool,
    /// The lines of the list between the matches in files, by their index.
    between: HashMap<usize, Between>,
    /// The number of results of each tab, for the search text that was counted.
    counts: Vec<Derived<String, usize>>,
}

/// A line between matches in files.
enum Between {
    /// A file with matches: its project, if several are searched, its path, and the number of matching lines.
    File { project: String, path: String, matches: usize },
    /// A line near a match.
    Context(Row),
}

/// The search pane: the list of results.
pub type SearchPane = ListPane<SearchSource>;

/// Returns the searched project or group and those of the places opened last, and the groups that the projects are in.
fn recent_scopes(source: &SearchSource, view: &View) -> (Vec<Id>, Vec<Id>) {
    let (mut projects, mut groups) = (Vec::new(), Vec::new());
    let named = |id: &Option<Id>| id.clone().filter(|id| id.number().is_none());
    let here = (source.project.as_ref().map(|id| path_of(view, id)), source.group.clone());
    let opened = view.recents.places.iter().map(|place| (place.project.clone(), place.group.clone()));
    for (project, group) in std::iter::once(here).chain(opened) {
        let (project, group) = (named(&project), named(&group));
        let parent = project.as_ref().and_then(|id| id.as_str().rsplit_once('/')).map(|(group, _)| group.into());
        for (id, all) in [(project, &mut projects), (group.or(parent), &mut groups)] {
            all.extend(id.filter(|id| !all.contains(id) && all.len() < MAX_SCOPES));
        }
    }
    (projects, groups)
}

/// Returns the path of a project, if it is known, else the ID.
fn path_of(view: &View, id: &Id) -> Id {
    project::project(view, id).map_or_else(|| id.clone(), |project| project.path_with_namespace.as_str().into())
}

/// Returns the query of a search; each line of a part of a file is a row.
fn rows_of<E: Endpoint<Output = Vec<Hit>>>(endpoint: &E, is_of_files: bool) -> ListQuery<Row> {
    if is_of_files { ListQuery::new(endpoint).split() } else { ListQuery::converted(endpoint) }
}

fn group_query(id: &Id) -> GetGroup {
    GetGroup { id: id.clone(), with_custom_attributes: None }
}

/// Returns whether the server cannot search a scope, or does not let the user.
fn is_refused(error: &Error) -> bool {
    matches!(error.fault, Fault::Refused(400, _) | Fault::Denied(_))
}

impl SearchSource {
    fn scopes(&self) -> (&'static [SearchScope], &'static [&'static str]) {
        match (&self.project, &self.group) {
            (Some(_), _) => (PROJECT_SCOPES, PROJECT_TITLES),
            (None, Some(_)) => (GROUP_SCOPES, GROUP_TITLES),
            (None, None) => (GLOBAL_SCOPES, GLOBAL_TITLES),
        }
    }

    /// Returns the API's name of the scope of the tab `index`.
    fn scope_name(&self, index: usize) -> String {
        self.scopes().0.get(index).map_or(PROJECTS, |(word, _)| word).to_owned()
    }

    fn tab_of_scope(&self, word: &str) -> Option<usize> {
        self.scopes().0.iter().position(|(scope, _)| *scope == word)
    }

    /// Returns the query of a tab; `None` without a search text.
    fn hits(&self, input: &Input<'_>) -> Option<ListQuery<Row>> {
        let (scope, search) = (self.scope_name(input.tab), input.filter.trim().to_owned());
        if search.is_empty() {
            return None;
        }
        let project = self.project.clone().map(api::Scope::Project);
        let is_of_files = FILE_SCOPES.contains(&scope.as_str());
        Some(match project.or_else(|| self.group.clone().map(api::Scope::Group)) {
            Some(within) => rows_of(&SearchWithin { within, scope, search }, is_of_files),
            None => rows_of(&Search { scope, search }, is_of_files),
        })
    }

    /// Returns the lines of the list: the matches of a file in succession are below its name, with the lines around them.
    fn lines(&mut self, rows: &Rows<'_, Row>, view: &View) -> Vec<ListLine> {
        self.between.clear();
        let (mut lines, mut file): (Vec<ListLine>, Option<usize>) = (Vec::new(), None);
        let rows: Vec<&Row> = rows.iter().collect();
        let mut index = 0;
        for result in hit::results(&rows) {
            let first = index;
            index += result.len();
            let Some((hit, blob)) = result.first().and_then(|row| Some((&*row.hit, row.blob()?))) else {
                lines.extend((first..index).map(ListLine::Row));
                continue;
            };
            let (path, project) = (hit::path(blob), self.project_of(view, hit));
            let is_same = |at: &usize| match self.between.get(at) {
                Some(Between::File { project: of, path: known, .. }) => (of, known.as_str()) == (&project, path),
                _ => false,
            };
            let at = file.filter(is_same).unwrap_or_else(|| {
                lines.push(ListLine::Heading(2 * first as u64));
                lines.len() - 1
            });
            file = Some(at);
            let is_match = hit::matches(result, &self.text);
            let found = is_match.iter().filter(|is_match| **is_match).count();
            let new = Between::File { project, path: path.to_owned(), matches: 0 };
            if let Between::File { matches, .. } = self.between.entry(at).or_insert(new) {
                *matches += found;
            }
            for (line, row) in result.iter().enumerate() {
                let near = line.saturating_sub(CONTEXT_LINES)..(line + CONTEXT_LINES + 1).min(result.len());
                if is_match.get(line) == Some(&true) {
                    lines.push(ListLine::Row(first + line));
                } else if is_match.get(near).is_some_and(|near| near.contains(&true)) {
                    self.between.insert(lines.len(), Between::Context((*row).clone()));
                    lines.push(ListLine::Heading(2 * (first + line) as u64 + 1));
                }
            }
        }
        lines
    }

    /// Counts the results of all tabs after a store update.
    fn count_tabs(&mut self, filter: &str, view: &View) {
        let queries = (0..self.scopes().0.len()).map(|tab| self.hits(&Input { filter, tab }));
        let queries: Vec<_> = queries.collect();
        self.counts.resize_with(queries.len(), Derived::default);
        for (count, query) in self.counts.iter_mut().zip(queries) {
            let Some(rows) = query.map(|query| view.store.rows(&query)) else { continue };
            count.update(rows.revision, filter.to_owned(), || {
                hit::match_count(&rows.iter().collect::<Vec<_>>(), filter)
            });
        }
    }

    /// Returns the first tab with results, once all before it are known to have none; projects come before all others.
    fn first_tab_with_results(&self, filter: &str, view: &View) -> Option<usize> {
        let projects = self.tab_of_scope(PROJECTS);
        let others = (0..self.scopes().0.len()).filter(|tab| Some(*tab) != projects);
        for tab in projects.into_iter().chain(others) {
            let rows = view.store.rows(&self.hits(&Input { filter, tab })?);
            if !rows.is_empty() {
                return Some(tab);
            }
            if !rows.is_loaded && rows.error.is_none() {
                return None;
            }
        }
        None
    }

    /// Returns the project of a hit: the searched one, else by its ID.
    fn project_id(&self, number: Option<u64>) -> Option<Id> {
        self.project.clone().or(number.filter(|n| *n > 0).map(Id::from))
    }

    fn place_of(&self, view: &View, row: &Row) -> Option<Place> {
        match &*row.hit {
            Hit::Project(project) => Some(Place::new("files").project(project.path_with_namespace.as_str())),
            Hit::MergeRequest(request) => {
                let named =
                    target::parse(view.places, &request.web_url, &view.session.web_url).ok().filter(|p| p.pane == "mr");
                named.or_else(|| {
                    Some(Place::new("mr").project(self.project_id(Some(request.project_id))?).item(request.iid))
                })
            }
            Hit::Commit(commit) => {
                let project = self.project_id(commit.project_id)?;
                Some(Place::new("commit").project(project).item(&commit.id))
            }
            Hit::Blob(blob) => {
                let place =
                    Place::new("files").project(self.project_id(Some(blob.project_id))?).at(blob.r#ref.as_str());
                Some(place.path(hit::path(blob)).line(u32::try_from(row.number()).unwrap_or(1)))
            }
            Hit::Note(note) => {
                let project = self.project_id(*note.project_id)?;
                match note.noteable_type.as_str() {
                    "MergeRequest" => Some(Place::new("mr").project(project).item(note.noteable_iid?)),
                    "Issue" => Some(Place::new("issue").project(project).item(note.noteable_iid?)),
                    "Snippet" => Some(Place::new("snippets").project(project).item(note.noteable_id?).tab("notes")),
                    _ => None,
                }
            }
            Hit::Issue(issue) => {
                let named = target::parse(view.places, &issue.web_url, &view.session.web_url)
                    .ok()
                    .filter(|p| p.pane == "issue");
                let place =
                    || Some(Place::new("issue").project(self.project_id(Some(issue.project_id))?).item(issue.iid));
                Some(named.or_else(place)?.query(self.text.trim()))
            }
            Hit::Snippet(snippet) => {
                let project = self.project_id(snippet.project_id)?;
                Some(Place::new("snippets").project(project).item(snippet.id))
            }
            Hit::Milestone(milestone) => {
                let project = self.project_id(milestone.project_id)?;
                let quoted = format!("milestone:\"{}\"", milestone.title.replace('"', ""));
                Some(Place::new("mrs").project(project).tab("all").query(quoted))
            }
            Hit::User(user) => Some(Place::new("user").item(&user.username)),
            Hit::Group(group) => Some(Place::new("groups").group(group.full_path.as_str())),
            Hit::Other(_) => None,
        }
    }

    /// Returns the project path of a hit, if several projects are searched and its web page tells; else an empty
    /// string.
    fn project_of(&self, view: &View, hit: &Hit) -> String {
        if self.project.is_some() || matches!(hit, Hit::Project(_) | Hit::User(_) | Hit::Group(_)) {
            return String::new();
        }
        let place = hit::page_of(hit).and_then(|url| target::parse(view.places, &url, &view.session.web_url).ok());
        let known = place.and_then(|place| place.project).map(|project| project.to_string());
        known.unwrap_or_else(|| match hit {
            Hit::Blob(blob) => {
                let known = view.known_projects().find(|project| project.id == blob.project_id);
                known.map_or_else(
                    || format!("project {}", blob.project_id),
                    |project| view.full_path(project).into_owned(),
                )
            }
            _ => String::new(),
        })
    }
}

impl SearchPane {
    fn open_hit(&mut self, row: &Row, cx: &mut Cx) {
        match (self.source.place_of(&cx.view, row), hit::page_of(&row.hit)) {
            (Some(place), _) => cx.go(place),
            (None, Some(_)) => cx.act(Action::Run("browse")),
            (None, None) => cx.say(Tone::Warning, "labscope cannot show this result, and it has no web page."),
        }
    }

    /// Lists the projects and groups to search instead.
    fn narrow(&mut self, cx: &mut Cx) {
        let kind = self.source.scope_name(self.tab());
        let within = |project: Option<Id>, group: Option<Id>| {
            let label = project.as_ref().or(group.as_ref()).map(Id::to_string).unwrap_or_default();
            let place = Place { project, group, ..Place::new("search") }.item(self.source.text.trim()).tab(&kind);
            Item::act(label, Action::GoToPlace(place))
        };
        let (projects, groups) = recent_scopes(&self.source, &cx.view);
        let projects = projects.into_iter().map(|id| within(Some(id), None).note("project"));
        let items = projects.chain(groups.into_iter().map(|id| within(None, Some(id)).note("group")));
        let picker = Picker::new("Search in", items.collect());
        cx.open(picker);
    }

    /// Widens the scope from a project to its group, and from a group to everything. The tab stays the same if the
    /// wider scope has it.
    fn widen(&mut self, cx: &mut Cx) {
        let kind = self.source.scope_name(self.tab());
        let path = self.source.project.as_ref().map(|id| path_of(&cx.view, id));
        let parent = path.as_ref().and_then(|path| path.as_str().rsplit_once('/')).map(|(group, _)| Id::from(group));
        (self.source.project, self.source.group, self.source.is_tab_chosen) = (None, parent, true);
        let tab = self.source.tab_of_scope(&kind).unwrap_or(0);
        self.set_tab(tab);
        self.list.restart();
        self.focus_list();
    }
}

impl ListSource for SearchSource {
    type Row = Row;
    type Detail = TextDetail;
    const LIST: ListInfo =
        ListInfo { reads_project: false, ..ListInfo::new("search", "result", "search").widths(&[(60, 3), (44, 2)]) };
    const COLUMNS: &'static [Column<Self>] = &[
        Column::<Self>::fit("project", "", 0, 28, |source, row, view| match &*row.hit {
            // Above the matches of a file.
            Hit::Blob(_) => Line::empty(),
            hit => Line::new(source.project_of(view, hit), Role::Dim),
        })
        .cut_in_middle()
        .drop_order(3),
        Column::<Self>::name("result", "", 8, |source, row, _| hit::facts(row, &source.text).0).cut_in_middle(),
        Column::<Self>::fill("match", "", 16, |source, row, _| hit::facts(row, &source.text).1),
        Column::<Self>::fit("author", "", 4, 18, |source, row, _| hit::facts(row, &source.text).2).drop_order(2),
        Column::<Self>::fit("updated", "", 2, 5, |source, row, view| {
            Line::new(age(view, hit::facts(row, &source.text).3.as_ref()), Role::Dim)
        })
        .right()
        .drop_order(1),
    ];
    const COMMANDS: &'static [ListCommand<Self>] = &[
        Command::row("search.open", &["Enter"], "Open result", SearchPane::open_hit).footer("open"),
        Command::new("search.everywhere", &["E"], "Search a wider scope", SearchPane::widen)
            .footer("search wider")
            .when(|pane, _| {
                let within = pane.source.project.is_some() || pane.source.group.is_some();
                if within { Ok(()) } else { Err("already searching everywhere".into()) }
            }),
        Command::new("search.narrow", &["I"], "Search in project or group…", SearchPane::narrow).when(|pane, view| {
            let (projects, groups) = recent_scopes(&pane.source, view);
            if projects.is_empty() && groups.is_empty() { Err("no project was opened yet".into()) } else { Ok(()) }
        }),
    ];

    fn open(place: &Place, _view: &View) -> SearchSource {
        let text = place.item.clone().unwrap_or_default();
        let group = place.group.clone().filter(|_| place.project.is_none());
        let (is_tab_chosen, between, counts) = (place.tab.is_some(), HashMap::new(), Vec::new());
        SearchSource { project: place.project.clone(), group, text, is_tab_chosen, between, counts }
    }

    fn empty(&self, _: usize) -> (&'static str, &'static str) {
        ("No results.", "‹seek› changes the search")
    }

    fn place(&self, base: Place) -> Place {
        let item = Some(self.text.clone()).filter(|text| !text.is_empty());
        Place { project: self.project.clone(), group: self.group.clone(), item, ..base }
    }

    fn breadcrumbs(&self, _: &Place, view: &View) -> Vec<Breadcrumb> {
        let mut breadcrumbs = match (&self.project, &self.group) {
            (Some(id), _) => project::breadcrumbs(view, id),
            (None, Some(id)) => {
                let known = view.store.get(&group_query(id)).value;
                let path = known.map(|group| Id::from(group.full_path.as_str())).filter(|_| id.number().is_some());
                breadcrumbs::group(Some(path.as_ref().unwrap_or(id)))
            }
            (None, None) => Vec::new(),
        };
        breadcrumbs.push(Breadcrumb::new("search", Role::Title));
        breadcrumbs
    }

    fn tabs(&self) -> ListTabs {
        ListTabs::of(self.scopes().1)
    }

    /// A web address names a tab by its scope.
    fn tab_of(&self, place: &Place) -> Option<usize> {
        self.tab_of_scope(place.tab.as_deref().unwrap_or(PROJECTS))
    }

    fn select_tab(pane: &mut SearchPane, index: usize) {
        pane.source.is_tab_chosen = true;
        if index != pane.tab() {
            pane.set_tab(index);
            pane.list.restart();
            pane.focus_list();
        }
    }

    fn query(&self, input: &Input<'_>, _: ServerOrder, _view: &View) -> Option<ListQuery<Row>> {
        self.hits(input)
    }

    fn filter(&self, _: &Input<'_>) -> Filter<Row> {
        Filter::Search
    }

    fn arrange_rows(pane: &mut SearchPane, rows: &Rows<'_, Row>, view: &View) {
        pane.source.text = pane.list.shown().to_owned();
        let source = &mut pane.source;
        pane.list.arrange(rows, "", || source.lines(rows, view));
    }

    fn heading_row<'a>(&'a self, _: &Input<'_>, index: usize, view: &View<'a>) -> TableRow<'a> {
        match self.between.get(&index) {
            Some(Between::File { project, path, matches }) => {
                let project = if project.is_empty() { String::new() } else { format!("{project}  ") };
                let noun = if *matches == 1 { "match" } else { "matches" };
                let cell = Line::new(project, Role::Dim).and(path.clone(), Role::TitleDim);
                let cell = cell.and(format!("  {} {noun}", text::count(*matches as u64)), Role::Dim);
                TableRow { cells: vec![cell], heading: true, ..TableRow::default() }
            }
            Some(Between::Context(row)) => TableRow::new(ColumnState::of(view).cells(self, index, row, view)).dim(true),
            None => TableRow::default(),
        }
    }

    fn changed(pane: &mut SearchPane, cx: &mut Cx) {
        let filter = pane.list.filter_text().to_owned();
        pane.source.count_tabs(&filter, &cx.view);
        if pane.source.is_tab_chosen || filter.trim().is_empty() || pane.list.shown() != filter {
            return;
        }
        if let Some(tab) = pane.source.first_tab_with_results(&filter, &cx.view).filter(|tab| *tab != pane.tab()) {
            cx.act(cx.here.then(move |pane: &mut SearchPane, _| {
                pane.set_tab(tab);
                pane.list.restart();
            }));
        }
    }

    fn key(row: &Row) -> String {
        hit::key(row)
    }

    fn heading(&self, input: &Input<'_>, _view: &View) -> (String, String) {
        (self.scopes().1.get(input.tab).copied().unwrap_or_default().to_owned(), String::new())
    }

    fn instead(&self, input: &Input<'_>, error: Option<&Error>, _: &View) -> Option<(String, Cow<'static, str>)> {
        if input.filter.trim().is_empty() {
            let place = match self.project.as_ref().or(self.group.as_ref()) {
                Some(id) => format!("Search {}", sanitize(id.as_str())),
                None => "Search everything you have access to".to_owned(),
            };
            let tabs = self.scopes().0.len().min(NUMBERED_TABS);
            return Some((place, format!("/ enters the text, 1 to {tabs} choose what to search").into()));
        }
        let title = self.scopes().1.get(input.tab).copied().unwrap_or_default().to_lowercase();
        let Fault::Refused(400, message) = &error?.fault else { return None };
        // Any other reason, such as a text that is too long, is told as the server does.
        let advice = match message.to_lowercase() {
            reason if reason.contains("elasticsearch") || reason.contains("advanced search") => {
                "It needs advanced search on the server; ‹search.narrow› searches a project or group"
            }
            reason if reason.contains("scope does not have a valid value") => {
                "Other versions or editions of the server can; other tabs may work"
            }
            _ => return None,
        };
        Some((format!("This server cannot search {title} here"), advice.into()))
    }

    /// Requests the other tabs for their counts, except those that the server refuses; the selected tab is requested by
    /// the list itself.
    fn wants(pane: &SearchPane, view: &View) -> Vec<Want> {
        let others = (0..pane.source.scopes().0.len()).filter(|tab| *tab != pane.tab());
        let queries = others.filter_map(|tab| pane.source.hits(&Input { tab, ..pane.input() }));
        let queries = queries.filter(|query| !view.store.rows(query).error.is_some_and(is_refused));
        let counts = queries.flat_map(|query| query.wants(1, COUNT_DELAY, None).collect::<Vec<_>>());
        // A web address names the group by its ID; its path is shown.
        let group = pane.source.group.as_ref().filter(|id| id.number().is_some());
        let group = group.map(|id| Load::single(&group_query(id)).optional().into());
        counts.chain(group).collect()
    }

    fn tab_count(pane: &SearchPane, tab: usize, view: &View) -> Option<String> {
        let rows = view.store.rows(&pane.source.hits(&Input { tab, ..pane.input() })?);
        let error = rows.error.filter(|_| rows.is_empty());
        let unknown = error.map(|error| if is_refused(error) { "–" } else { "?" });
        let counted = pane.source.counts.get(tab).and_then(|count| count.get(rows.revision));
        list::count(&rows, counted.copied().unwrap_or(0), None).or(unknown.map(str::to_owned))
    }

    fn url(&self, _view: &View, row: Option<&Row>) -> Option<String> {
        hit::page_of(&row?.hit)
    }

    fn copies(&self, _view: &View, row: &Row) -> Vec<Clip> {
        match &*row.hit {
            Hit::Commit(commit) => vec![Clip::line("SHA", commit.id.clone())],
            Hit::Blob(blob) => vec![Clip::line("path", blob.filename.clone()), Clip::lines("lines", blob.data.clone())],
            Hit::Project(project) => vec![Clip::line("path", project.path_with_namespace.clone())],
            _ => Vec::new(),
        }
    }
}

impl Describes<TextDetail> for SearchSource {
    fn describe(&self, text: &mut TextDetail, view: &View, row: &Row) {
        text.title(hit::title(&row.hit), "", ("No description.", "‹search.open› opens it"));
        hit::text(text, view, &row.hit, &self.text);
    }
}
