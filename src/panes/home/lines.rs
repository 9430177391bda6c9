//! The sections of the home pane and the lines of each section.

use super::Home;
use crate::api::jobs::Job;
use crate::api::merge_requests::MergeRequest;
use crate::api::todos::Todo;
use crate::api::{Error, Fault};
use crate::app::place::Place;
use crate::app::place_info;
use crate::app::query;
use crate::app::view::View;
use crate::panes::home::queries;
use crate::panes::home::queries::ServerIndex;
use crate::panes::home::recents::HomeRecents;
use crate::parts::items::merge_request_details::{MergeRequestDetails, ShownDetails};
use crate::parts::items::merge_request_query::MergeRequestQuery;
use crate::parts::items::todos;
use crate::parts::list;
use crate::parts::repository::this_branch;
use std::collections::HashSet;

/// The maximum number of to-dos listed; the to-dos pane lists all.
const MAX_TODOS: usize = 8;
/// The maximum number of recently visited places listed.
const MAX_VISITED: usize = 8;
/// The maximum number of projects listed.
const MAX_PROJECTS: usize = 15;

/// A section of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// The branch that is checked out in the clone.
    Branch,
    Todos,
    /// Merge requests that the user is a requested reviewer of.
    Review,
    Assigned,
    Mine,
    /// A custom section, by its index.
    Custom(usize),
    Running,
    /// Recently visited places.
    Visited,
    Recent,
}

impl Section {
    /// Returns all sections in order.
    pub fn all(view: &View) -> impl Iterator<Item = Section> + use<> {
        let own = (0..view.session.sections.len()).map(Section::Custom);
        let branch = view.session.clone.as_ref().map(|_| Section::Branch);
        let first = [Section::Todos, Section::Review, Section::Assigned, Section::Mine];
        branch.into_iter().chain(first).chain(own).chain([Section::Running, Section::Visited, Section::Recent])
    }

    /// Returns the heading of the section.
    pub fn title<'a>(self, view: &View<'a>) -> &'a str {
        match self {
            Section::Branch => "This branch",
            Section::Todos => "To-dos",
            Section::Review => "Review requested",
            Section::Assigned => "Assigned to me",
            Section::Mine => "Mine",
            Section::Custom(index) => view.session.sections.get(index).map_or("", |own| own.name.as_str()),
            Section::Running => "Running",
            Section::Visited => "Recently visited",
            Section::Recent => "Recent projects",
        }
    }

    /// Returns the place that lists the section; `None` if there is none.
    pub fn place(self, view: &View, project: Option<&str>) -> Option<Place> {
        let requests = |query: &str| Some(Place::new("mrs").query(query));
        match self {
            Section::Branch => Some(Place::new("branch")),
            Section::Todos => Some(Place::new("todos")),
            Section::Review => requests(&format!("reviewer:{}", view.me()?.username)),
            Section::Assigned => requests("scope:assigned-to-me"),
            Section::Mine => requests("scope:created-by-me"),
            Section::Custom(index) => view.session.sections.get(index).map(MergeRequestQuery::place),
            Section::Running => Some(Place::new("jobs").project(project?).tab("running")),
            Section::Visited => None,
            Section::Recent => Some(Place::new("projects").query("member:yes")),
        }
    }

    /// Returns whether the query of the section names who its merge requests wait for.
    pub fn names_awaited(self, view: &View) -> bool {
        let Section::Custom(index) = self else { return false };
        view.session.sections.get(index).is_some_and(|section| query::get(&section.query, "waiting").is_some())
    }

    /// Returns the text shown if the section is empty.
    pub fn empty(self, recents: &HomeRecents) -> &'static str {
        match self {
            Section::Branch => "No merge request; ‹home.create› creates one.",
            Section::Todos => "There is nothing to do.",
            Section::Custom(_) => "No merge request matches the query.",
            Section::Review => "No reviews requested.",
            Section::Assigned => "No open merge requests need you.",
            Section::Mine => "You have no open merge requests.",
            Section::Running if recents.pinned => "No jobs run in your pinned projects.",
            Section::Running => "No jobs run in your latest project; ‹home.pin› pins others.",
            Section::Visited => "Places you open appear here.",
            Section::Recent => "You are not a member of any project; ‹go.projects› shows all.",
        }
    }
}

/// A line of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HomeLine {
    Heading(Section, usize),
    /// The line of an empty section; shows why it is empty.
    Nothing(Section),
    /// The advice for the error in the line above it, which is one of a server.
    Advice(Section, ServerIndex),
    /// A to-do, by its row.
    Todo(usize),
    /// A merge request, by its server and its row in that server's list.
    Request(Section, ServerIndex, usize),
    /// A server that failed to answer the query of a section.
    Unreachable(Section, ServerIndex),
    /// A running job, by the index of its watched project and its row there.
    Job(usize, usize),
    /// A pinned project that was not found, by its index among the watched projects.
    NotFound(usize),
    /// A recently visited place, by its index.
    Place(usize),
    Project(usize),
}

impl HomeLine {
    /// Returns the section of the line.
    pub fn section(self) -> Section {
        match self {
            HomeLine::Heading(section, _)
            | HomeLine::Nothing(section)
            | HomeLine::Advice(section, _)
            | HomeLine::Request(section, ..)
            | HomeLine::Unreachable(section, _) => section,
            HomeLine::Todo(_) => Section::Todos,
            HomeLine::Job(..) | HomeLine::NotFound(_) => Section::Running,
            HomeLine::Place(_) => Section::Visited,
            HomeLine::Project(_) => Section::Recent,
        }
    }
}

impl Home {
    fn fits(&self, words: &[&str]) -> bool {
        let filter = self.filter.to_lowercase();
        filter.is_empty() || words.iter().any(|word| word.to_lowercase().contains(&filter))
    }

    /// Returns whether a merge request waits for whom the query of a custom section names, or may do so.
    fn is_awaited(&self, view: &View, index: usize, request: &MergeRequest) -> bool {
        let query = view.session.sections.get(index).map_or("", |section| section.query.as_str());
        let Some(who) = query::get(query, "waiting").filter(|who| !who.is_empty()) else { return true };
        let project = queries::path_of(view, None, request);
        let shown = ShownDetails { waiting: true, ..ShownDetails::default() };
        MergeRequestDetails::new(view, &project, request, shown).may_wait_for(&who)
    }

    /// Returns the merge requests of a section on a server that match the filter.
    fn requests<'a>(&self, view: &View<'a>, section: Section, at: ServerIndex) -> Vec<(&'a MergeRequest, HomeLine)> {
        let assigned = self.custom_queries.requests(view, Section::Assigned, at);
        let me = view.me().map(|me| me.id);
        // Servers without reviewers ignore the filter `reviewer_username`.
        let is_to_review = |r: &MergeRequest| r.reviewers.iter().flatten().any(|reviewer| Some(reviewer.id) == me);
        let shown = |r: &MergeRequest| match section {
            Section::Review => is_to_review(r),
            Section::Assigned => at.is_some() || !is_to_review(r),
            Section::Mine => !assigned.iter().any(|a| a.id == r.id),
            Section::Custom(index) => self.is_awaited(view, index, r),
            _ => true,
        };
        let host = queries::host(view, at).map_or("", |host| host.name());
        let all = self.custom_queries.requests(view, section, at);
        let fitting = all.iter().enumerate().filter(|(_, r)| {
            let author = r.author().map_or("", |a| a.username.as_str());
            let fits = || self.fits(&[&r.title, queries::path_of(view, at, r).as_str(), author, host]);
            shown(r) && (self.filter.is_empty() || fits())
        });
        fitting.map(|(row, request)| (request, HomeLine::Request(section, at, row))).collect()
    }

    /// Returns the servers that failed to answer the query of a section. Empty if there is only the current server:
    /// then the section itself shows the error.
    fn unreachable_servers(&self, view: &View, section: Section) -> Vec<HomeLine> {
        let servers = queries::servers(view);
        if servers == [None] || !matches!(section, Section::Assigned | Section::Mine) {
            return Vec::new();
        }
        let failed = servers.into_iter().filter(|at| self.custom_queries.requests(view, section, *at).error.is_some());
        failed.map(|at| HomeLine::Unreachable(section, at)).collect()
    }

    /// Returns the lines of a section; `None` if it is not loaded yet or not shown.
    fn section(&self, view: &View, section: Section) -> Option<Vec<HomeLine>> {
        match section {
            Section::Branch => {
                let branch = match this_branch::current(view) {
                    Ok(branch) => branch,
                    Err(_) => return view.session.clone.as_ref()?.head.as_ref().map(|_| Vec::new()),
                };
                let own = branch.request(view).map(|request| request.id);
                let lines = self.requests(view, section, None).into_iter();
                let own = lines.filter(|(request, _)| Some(request.id) == own).map(|(_, line)| line).collect();
                branch.is_loaded(view).then_some(own)
            }
            Section::Todos => {
                let rows = todos::waiting(view);
                // Older servers and users who are not signed in have no to-dos.
                if !view.session.signed_in
                    || rows.error.is_some_and(|error| matches!(error.fault, Fault::Unsupported(_)))
                {
                    return None;
                }
                let words = |todo: &Todo| {
                    let author = todo.author.as_ref().map_or("", |author| author.username.as_str());
                    self.fits(&[todo.title(), todo.container_path(), &todo.reference(), &todos::reason(todo), author])
                };
                let fitting =
                    rows.iter().enumerate().filter(|(_, todo)| words(todo) && !todos::is_finished(todo, view));
                let most = if self.filter.is_empty() { MAX_TODOS } else { usize::MAX };
                let lines = fitting.map(|(row, _)| HomeLine::Todo(row)).take(most).collect();
                (rows.is_loaded || rows.error.is_some()).then_some(lines)
            }
            Section::Assigned | Section::Mine => {
                let servers = queries::servers(view);
                let mut all: Vec<(&MergeRequest, HomeLine)> = Vec::new();
                let mut known = false;
                for at in &servers {
                    let rows = self.custom_queries.requests(view, section, *at);
                    known |= rows.is_loaded || rows.error.is_some();
                    all.extend(self.requests(view, section, *at));
                }
                if servers.len() > 1 {
                    let last = |request: &MergeRequest| request.updated_at.as_ref().and_then(|at| at.instant());
                    all.sort_by_cached_key(|(request, _)| std::cmp::Reverse(last(request)));
                }
                known.then(|| all.into_iter().map(|(_, line)| line).collect())
            }
            Section::Review => Some(self.requests(view, section, None))
                .filter(|all| !all.is_empty())
                .map(|all| all.into_iter().map(|(_, line)| line).collect()),
            Section::Custom(_) => {
                let rows = self.custom_queries.requests(view, section, None);
                let all = self.requests(view, section, None);
                let is_wrong = self.custom_queries.mistake(section).is_some();
                (is_wrong || rows.is_loaded || rows.error.is_some())
                    .then(|| all.into_iter().map(|(_, line)| line).collect())
            }
            Section::Running => {
                let projects = queries::projects(view);
                let mut lines = Vec::new();
                for (index, project) in self.recents.watched.iter().enumerate() {
                    let jobs = queries::running(view, project);
                    let fits = |j: &&Job| self.fits(&[&j.name, &j.r#ref, project]);
                    // Whether the jobs of a project that is gone still run is unknown.
                    let known = jobs.iter().enumerate().filter(|_| jobs.refused().is_none());
                    let fitting = known.filter(|(_, j)| fits(j));
                    lines.extend(fitting.map(|(row, _)| HomeLine::Job(index, row)));
                    let lost = self.recents.pinned && jobs.error.is_some_and(Error::is_missing);
                    lines.extend((lost && self.fits(&[project])).then_some(HomeLine::NotFound(index)));
                }
                (projects.is_loaded || projects.error.is_some()).then_some(lines)
            }
            Section::Visited => {
                let visits = self.recents.visits.iter().enumerate();
                let fitting = visits
                    .filter(|(_, visit)| self.fits(&[&place_info::label(view.places, &visit.place), &visit.words]));
                Some(fitting.map(|(index, _)| HomeLine::Place(index)).take(MAX_VISITED).collect())
            }
            Section::Recent => {
                let rows = queries::projects(view);
                let fitting = rows.iter().enumerate().filter(|(_, p)| self.fits(&[&p.path_with_namespace]));
                (rows.is_loaded || rows.error.is_some()).then(|| {
                    let most = if self.filter.is_empty() { MAX_PROJECTS } else { usize::MAX };
                    fitting.map(|(row, _)| HomeLine::Project(row)).take(most).collect()
                })
            }
        }
    }

    /// Returns the error of what a section lists.
    pub(super) fn error<'a>(&self, view: &View<'a>, section: Section, at: ServerIndex) -> Option<&'a Error> {
        self.error_and_loaded(view, section, at).0
    }

    /// Returns the error of what a section lists, and whether it was loaded before.
    fn error_and_loaded<'a>(&self, view: &View<'a>, section: Section, at: ServerIndex) -> (Option<&'a Error>, bool) {
        match section {
            Section::Branch => (this_branch::current(view).ok().and_then(|branch| branch.error(view)), false),
            Section::Review | Section::Assigned | Section::Mine | Section::Custom(_) => {
                let requests = self.custom_queries.requests(view, section, at);
                (requests.error, requests.is_loaded)
            }
            Section::Todos => {
                let todos = todos::waiting(view);
                (todos.error, todos.is_loaded)
            }
            Section::Running | Section::Visited | Section::Recent => {
                let projects = queries::projects(view);
                (projects.error, projects.is_loaded)
            }
        }
    }

    /// Rebuilds the lines if their inputs changed.
    pub(super) fn rebuild_lines(&mut self, view: &View) {
        let is_new = self.recents.refresh(view) | self.custom_queries.refresh(view);
        let head = view.session.clone.as_ref().and_then(|clone| clone.head.clone());
        let inputs =
            (self.filter.clone(), view.session.signed_in, view.session.others.clone(), head, view.waiting.version());
        if !is_new && self.inputs.as_ref() == Some(&inputs) {
            return;
        }
        self.inputs = Some(inputs);
        let (mut lines, mut told) = (Vec::new(), Vec::new());
        for section in Section::all(view) {
            let Some(rows) = self.section(view, section) else { continue };
            let unreachable = self.unreachable_servers(view, section);
            // If the current server failed to answer, the section may not be empty.
            let nothing = rows.is_empty() && !unreachable.contains(&HomeLine::Unreachable(section, None));
            // Each failed server is listed only once. What the current one says is told once, too, but a section that was
            // loaded stays.
            let named = |at: &ServerIndex| {
                lines.iter().any(|line| matches!(line, HomeLine::Unreachable(_, other) if other == at))
            };
            let unreachable: Vec<HomeLine> = unreachable
                .into_iter()
                .filter(|line| !matches!(line, HomeLine::Unreachable(_, at) if named(at)))
                .collect();
            let (error, is_loaded) = self.error_and_loaded(view, section, None);
            let failure = error.filter(|_| nothing);
            let said = failure.map(|error| (error.title(), error.message()));
            let is_told = !is_loaded && said.as_ref().is_some_and(|said| told.contains(said));
            told.extend(said);
            // Sections without lines are hidden while a filter is typed, and if there is no message to show.
            let nothing = nothing && !is_told;
            let quiet = !self.filter.is_empty() || section == Section::Visited || !nothing && unreachable.is_empty();
            if rows.is_empty() && quiet {
                continue;
            }
            let count = match section {
                Section::Branch => 0,
                Section::Todos if self.filter.is_empty() => {
                    todos::waiting(view).iter().filter(|todo| !todos::is_finished(todo, view)).count()
                }
                _ => rows.iter().filter(|line| !matches!(line, HomeLine::NotFound(_))).count(),
            };
            lines.push(HomeLine::Heading(section, count));
            if nothing {
                lines.push(HomeLine::Nothing(section));
            }
            if failure.is_some_and(|error| nothing && !list::advice(view, error).is_empty()) {
                lines.push(HomeLine::Advice(section, None));
            }
            lines.extend(rows);
            for line in unreachable {
                lines.push(line);
                if let HomeLine::Unreachable(section, at) = line
                    && self.error(view, section, at).is_some_and(|error| !list::advice(view, error).is_empty())
                {
                    lines.push(HomeLine::Advice(section, at));
                }
            }
        }
        self.lines = lines;
        self.ambiguous_names = self.find_ambiguous_names(view);
    }

    /// Returns the names that several of the projects in the lines have.
    fn find_ambiguous_names(&self, view: &View) -> HashSet<String> {
        let paths = self.lines.iter().filter_map(|line| match line {
            HomeLine::Todo(row) => Some(todos::waiting(view).get(*row)?.container_path().to_owned()),
            HomeLine::Request(section, at, row) => {
                let request = self.custom_queries.requests(view, *section, *at).get(*row)?;
                Some(queries::path_of(view, *at, request).to_string())
            }
            HomeLine::Job(project, _) => Some(self.watched(*project).to_owned()),
            _ => None,
        });
        let paths: HashSet<String> = paths.collect();
        let mut names = HashSet::new();
        let repeated = paths.iter().filter_map(|path| path.rsplit('/').next()).filter(|name| !names.insert(*name));
        repeated.map(str::to_owned).collect()
    }

    /// Returns a key that identifies the item of a line while the list around it changes.
    pub(super) fn key(&self, view: &View, index: usize) -> String {
        match self.lines.get(index) {
            Some(HomeLine::Request(section, at, row)) => {
                format!(
                    "{section:?}{at:?}{}",
                    self.custom_queries.requests(view, *section, *at).get(*row).map_or(0, |r| r.id)
                )
            }
            Some(HomeLine::Todo(row)) => format!("todo{}", todos::waiting(view).get(*row).map_or(0, |todo| todo.id)),
            Some(HomeLine::Unreachable(_, at)) => format!("silent{at:?}"),
            Some(HomeLine::Job(project, row)) => {
                format!("job{}", queries::running(view, self.watched(*project)).get(*row).map_or(0, |j| j.id))
            }
            Some(HomeLine::NotFound(project)) => format!("lost{}", self.watched(*project)),
            Some(HomeLine::Place(index)) => {
                format!(
                    "place{}",
                    self.recents
                        .visits
                        .get(*index)
                        .map(|visit| place_info::label(view.places, &visit.place))
                        .unwrap_or_default()
                )
            }
            Some(HomeLine::Project(row)) => format!("project{}", queries::projects(view).get(*row).map_or(0, |p| p.id)),
            Some(HomeLine::Heading(section, _) | HomeLine::Nothing(section) | HomeLine::Advice(section, _)) => {
                format!("{section:?}")
            }
            None => String::new(),
        }
    }

    /// Returns the full path of the watched project `index`.
    pub(super) fn watched(&self, index: usize) -> &str {
        self.recents.watched.get(index).map_or("", String::as_str)
    }
}
