//! The sections of home, and the lines that each has.

use super::Home;
use crate::api::Fault;
use crate::api::jobs::Job;
use crate::api::merge_requests::MergeRequest;
use crate::api::todos::Todo;
use crate::app::pane::View;
use crate::app::registry;
use crate::panes::home::queries;
use crate::panes::home::queries::OtherServer;
use crate::panes::home::recents::Recents;
use crate::parts::todos;

/// To-dos that are listed; their own place has all.
const TODOS: usize = 8;
/// Places that are listed.
const LATELY: usize = 8;
/// Projects that are listed.
const RECENT: usize = 15;

/// A part of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    Todos,
    /// The user's review is requested.
    Review,
    Assigned,
    Mine,
    /// One of the user's own, by its place among them.
    Own(usize),
    Running,
    /// Places that one was at.
    Lately,
    Recent,
}

impl Section {
    /// The sections there are, in order.
    pub fn all(view: &View) -> impl Iterator<Item = Section> + use<> {
        let own = (0..view.session.sections.len()).map(Section::Own);
        [Section::Todos, Section::Review, Section::Assigned, Section::Mine].into_iter().chain(own).chain([
            Section::Running,
            Section::Lately,
            Section::Recent,
        ])
    }

    /// Returns what stands above it.
    pub fn title<'a>(self, view: &View<'a>) -> &'a str {
        match self {
            Section::Todos => "To-dos",
            Section::Review => "Review requested",
            Section::Assigned => "Assigned to me",
            Section::Mine => "Mine",
            Section::Own(index) => view.session.sections.get(index).map_or("", |own| own.name.as_str()),
            Section::Running => "Running",
            Section::Lately => "Recently visited",
            Section::Recent => "Recent projects",
        }
    }

    /// Returns what stands in it where nothing does.
    pub fn empty(self, lately: &Recents) -> &'static str {
        match self {
            Section::Todos => "There is nothing to do.",
            Section::Own(_) => "No merge request fits its query.",
            Section::Review => "Nobody waits for your review.",
            Section::Assigned => "No open merge requests need you.",
            Section::Mine => "You have no open merge requests.",
            Section::Running if lately.pinned => "No jobs run in your pinned projects.",
            Section::Running => "No jobs run in your latest projects.",
            Section::Lately => "Places you open appear here.",
            Section::Recent => "You are not a member of any project; g p shows all.",
        }
    }
}

/// One line of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line {
    Heading(Section, usize),
    /// Why a section has no rows.
    Nothing(Section),
    /// Something to do, by its row.
    Todo(usize),
    /// A merge request, by the server that it is on, and its row in what that said.
    Request(Section, OtherServer, usize),
    /// A server that does not answer what a section asks.
    Silent(Section, OtherServer),
    /// A job, by its project among those that are watched, and its row there.
    Job(usize, usize),
    /// A pinned project that is not there, by its place among those that are watched.
    Lost(usize),
    /// A place that one was at.
    Place(usize),
    Project(usize),
}

impl Home {
    fn fits(&self, words: &[&str]) -> bool {
        let filter = self.filter.to_lowercase();
        filter.is_empty() || words.iter().any(|word| word.to_lowercase().contains(&filter))
    }

    /// The merge requests of a section on a server, as far as they fit.
    fn requests<'a>(&self, view: &View<'a>, section: Section, at: OtherServer) -> Vec<(&'a MergeRequest, Line)> {
        let assigned = self.own.requests(view, Section::Assigned, at);
        let me = view.me().map(|me| me.id);
        // Servers that know no reviewers pass over the filter.
        let is_to_review = |r: &MergeRequest| r.reviewers.iter().flatten().any(|reviewer| Some(reviewer.id) == me);
        let shown = |r: &MergeRequest| match section {
            Section::Review => is_to_review(r),
            Section::Assigned => at.is_some() || !is_to_review(r),
            Section::Mine => !assigned.iter().any(|a| a.id == r.id),
            _ => true,
        };
        let host = queries::host(view, at).map_or("", |host| host.name());
        let all = self.own.requests(view, section, at);
        let fitting = all.iter().enumerate().filter(|(_, r)| {
            let author = r.author().map_or("", |a| a.username.as_str());
            let fits = || self.fits(&[&r.title, queries::path_of(view, at, r).as_str(), author, host]);
            shown(r) && (self.filter.is_empty() || fits())
        });
        fitting.map(|(row, request)| (request, Line::Request(section, at, row))).collect()
    }

    /// The servers that do not answer what a section asks; where there is one alone, the section itself says so.
    fn silent(&self, view: &View, section: Section) -> Vec<Line> {
        let everywhere = queries::everywhere(view);
        if everywhere == [None] || !matches!(section, Section::Assigned | Section::Mine) {
            return Vec::new();
        }
        let failed = everywhere.into_iter().filter(|at| self.own.requests(view, section, *at).error.is_some());
        failed.map(|at| Line::Silent(section, at)).collect()
    }

    /// The rows of a section; `None` while nothing is known of it.
    fn section(&self, view: &View, section: Section) -> Option<Vec<Line>> {
        match section {
            Section::Todos => {
                let rows = todos::waiting(view);
                // Older servers and those who are not signed in have none.
                if !view.session.signed_in
                    || rows.error.is_some_and(|error| matches!(error.fault, Fault::Unsupported(_)))
                {
                    return None;
                }
                let words = |todo: &Todo| {
                    let author = todo.author.as_ref().map_or("", |author| author.username.as_str());
                    self.fits(&[todo.title(), todo.within(), &todo.reference(), &todos::reason(todo), author])
                };
                let fitting = rows.iter().enumerate().filter(|(_, todo)| words(todo));
                let most = if self.filter.is_empty() { TODOS } else { usize::MAX };
                let lines = fitting.map(|(row, _)| Line::Todo(row)).take(most).collect();
                (rows.known || rows.error.is_some()).then_some(lines)
            }
            Section::Assigned | Section::Mine => {
                let everywhere = queries::everywhere(view);
                let mut all: Vec<(&MergeRequest, Line)> = Vec::new();
                let mut known = false;
                for at in &everywhere {
                    let rows = self.own.requests(view, section, *at);
                    known |= rows.known || rows.error.is_some();
                    all.extend(self.requests(view, section, *at));
                }
                if everywhere.len() > 1 {
                    let last = |request: &MergeRequest| request.updated_at.as_ref().and_then(|at| at.instant());
                    all.sort_by_cached_key(|(request, _)| std::cmp::Reverse(last(request)));
                }
                known.then(|| all.into_iter().map(|(_, line)| line).collect())
            }
            Section::Review => Some(self.requests(view, section, None))
                .filter(|all| !all.is_empty())
                .map(|all| all.into_iter().map(|(_, line)| line).collect()),
            Section::Own(_) => {
                let rows = self.own.requests(view, section, None);
                let all = self.requests(view, section, None);
                (rows.known || rows.error.is_some()).then(|| all.into_iter().map(|(_, line)| line).collect())
            }
            Section::Running => {
                let projects = queries::projects(view);
                let mut lines = Vec::new();
                for (index, project) in self.lately.watched.iter().enumerate() {
                    let jobs = queries::running(view, project);
                    let fits = |j: &&Job| self.fits(&[&j.name, &j.r#ref, project]);
                    // Nobody knows whether what ran in a project that is gone runs still.
                    let known = jobs.iter().enumerate().filter(|_| jobs.refused().is_none());
                    let fitting = known.filter(|(_, j)| fits(j));
                    lines.extend(fitting.map(|(row, _)| Line::Job(index, row)));
                    let lost = self.lately.pinned && jobs.error.is_some_and(crate::api::Error::is_missing);
                    lines.extend((lost && self.fits(&[project])).then_some(Line::Lost(index)));
                }
                (projects.known || projects.error.is_some()).then_some(lines)
            }
            Section::Lately => {
                let visits = self.lately.visits.iter().enumerate();
                let fitting =
                    visits.filter(|(_, visit)| self.fits(&[&registry::label(view.panes, &visit.place), &visit.words]));
                Some(fitting.map(|(index, _)| Line::Place(index)).take(LATELY).collect())
            }
            Section::Recent => {
                let rows = queries::projects(view);
                let fitting = rows.iter().enumerate().filter(|(_, p)| self.fits(&[&p.path_with_namespace]));
                (rows.known || rows.error.is_some()).then(|| {
                    let most = if self.filter.is_empty() { RECENT } else { usize::MAX };
                    fitting.map(|(row, _)| Line::Project(row)).take(most).collect()
                })
            }
        }
    }

    /// Puts the lines together, if anything changed that they are made of.
    pub(super) fn arrange(&mut self, view: &View) {
        let is_new = self.lately.refresh(view) | self.own.refresh(view);
        let made_of = (self.filter.clone(), view.session.signed_in, view.session.others.clone());
        if !is_new && self.made_of.as_ref() == Some(&made_of) {
            return;
        }
        self.made_of = Some(made_of);
        let mut lines = Vec::new();
        for section in Section::all(view) {
            let Some(rows) = self.section(view, section) else { continue };
            let silent = self.silent(view, section);
            // Where the current server did not answer, nobody knows that there is nothing.
            let nothing = rows.is_empty() && !silent.contains(&Line::Silent(section, None));
            // A server is named once.
            let named =
                |at: &OtherServer| lines.iter().any(|line| matches!(line, Line::Silent(_, other) if other == at));
            let silent: Vec<Line> =
                silent.into_iter().filter(|line| !matches!(line, Line::Silent(_, at) if named(at))).collect();
            // Nothing is as quiet as a list that has not begun yet.
            let quiet = !self.filter.is_empty() || section == Section::Lately || !nothing && silent.is_empty();
            if rows.is_empty() && quiet {
                continue;
            }
            let count = match section {
                Section::Todos if self.filter.is_empty() => todos::waiting(view).len(),
                _ => rows.iter().filter(|line| !matches!(line, Line::Lost(_))).count(),
            };
            lines.push(Line::Heading(section, count));
            if nothing {
                lines.push(Line::Nothing(section));
            }
            lines.extend(rows);
            lines.extend(silent);
        }
        self.lines = lines;
    }

    /// Names what a line is of, however the list changes around it.
    pub(super) fn key(&self, view: &View, index: usize) -> String {
        match self.lines.get(index) {
            Some(Line::Request(section, at, row)) => {
                format!("{section:?}{at:?}{}", self.own.requests(view, *section, *at).get(*row).map_or(0, |r| r.id))
            }
            Some(Line::Todo(row)) => format!("todo{}", todos::waiting(view).get(*row).map_or(0, |todo| todo.id)),
            Some(Line::Silent(_, at)) => format!("silent{at:?}"),
            Some(Line::Job(project, row)) => {
                format!("job{}", queries::running(view, self.watched(*project)).get(*row).map_or(0, |j| j.id))
            }
            Some(Line::Lost(project)) => format!("lost{}", self.watched(*project)),
            Some(Line::Place(index)) => {
                format!(
                    "place{}",
                    self.lately
                        .visits
                        .get(*index)
                        .map(|visit| registry::label(view.panes, &visit.place))
                        .unwrap_or_default()
                )
            }
            Some(Line::Project(row)) => format!("project{}", queries::projects(view).get(*row).map_or(0, |p| p.id)),
            Some(Line::Heading(section, _) | Line::Nothing(section)) => format!("{section:?}"),
            None => String::new(),
        }
    }

    /// The path of a project that is watched.
    pub(super) fn watched(&self, index: usize) -> &str {
        self.lately.watched.get(index).map_or("", String::as_str)
    }
}
