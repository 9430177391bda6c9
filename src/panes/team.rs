//! The people of a project or group by their open merge requests: how many, since when, who these wait for, and whose merge
//! requests wait for them. Below, the default branches whose pipeline failed, and since when.

use crate::api::groups::ListGroupProjects;
use crate::api::merge_requests::MergeRequest;
use crate::api::pipelines::ListPipelines;
use crate::api::pipelines::resources::{Pipeline, Status};
use crate::api::projects::{GetProject, Project};
use crate::api::users::User;
use crate::api::{Id, Scope, Time};
use crate::app::query::{self, Grammar};
use crate::parts::ci::pipelines;
use crate::parts::items::merge_request_details::{MergeRequestDetails, ShownDetails};
use crate::parts::items::merge_request_query::MergeRequestQuery;
use crate::parts::items::merge_requests;
use crate::parts::list::prelude::*;
use crate::parts::list::{ListLine, Listing};
use crate::parts::list::{request_limit, scope};
use crate::parts::project;
use crate::parts::text::dates;
use crate::store::{Load, RowOf, Rows};
use crate::ui::glyph;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// The maximum number of pages of merge requests and of projects that are read.
const MAX_PAGES: u32 = 3;
/// The maximum number of projects whose pipelines are read: those with the latest activity.
const MAX_PROJECTS: usize = 20;

/// A row, as replies have it: each person of a merge request, or a project.
pub enum TeamRow {
    /// The author or a reviewer of an open merge request.
    Person(Box<User>, Arc<MergeRequest>),
    Project(Box<Project>),
}

impl RowOf<MergeRequest> for TeamRow {
    fn rows(request: MergeRequest) -> Vec<TeamRow> {
        let request = Arc::new(request);
        let author = request.author().map(|author| author.id);
        let reviewers = request.reviewers.iter().flatten().filter(|user| Some(user.id) != author);
        let people = request.author().into_iter().chain(reviewers);
        people.map(|user| TeamRow::Person(Box::new(user.clone()), request.clone())).collect()
    }
}

impl From<Project> for TeamRow {
    fn from(project: Project) -> TeamRow {
        TeamRow::Project(Box::new(project))
    }
}

impl TeamRow {
    /// Returns the merge request if the person is its author.
    fn authored(&self) -> Option<&MergeRequest> {
        let TeamRow::Person(user, request) = self else { return None };
        Some(&**request).filter(|request| request.author().is_some_and(|author| author.id == user.id))
    }

    fn project(&self) -> Option<&Project> {
        match self {
            TeamRow::Project(project) => Some(project),
            TeamRow::Person(..) => None,
        }
    }
}

/// Names with the number of merge requests of each.
#[derive(Default)]
struct Tally(BTreeMap<String, usize>);

impl Tally {
    fn add(&mut self, name: &str) {
        *self.0.entry(name.to_owned()).or_default() += 1;
    }

    /// Returns the names with their numbers, the largest first: `dora 2, bo 1`.
    fn words(&self) -> String {
        let mut names: Vec<_> = self.0.iter().collect();
        names.sort_by_key(|(_, count)| Reverse(**count));
        names.iter().map(|(name, count)| format!("{name} {count}")).collect::<Vec<_>>().join(", ")
    }
}

/// The open merge requests of a person, and those that wait for the person.
#[derive(Default)]
struct Person {
    /// The index of the first row about the person.
    row: usize,
    opened: usize,
    oldest: Option<Time>,
    /// The people that the person's merge requests wait for.
    waiting_for: Tally,
    /// The authors of the merge requests that wait for the person.
    awaited_by: Tally,
}

/// A default branch whose pipeline failed.
struct FailedBranch {
    name: String,
    /// The latest pipeline.
    pipeline: u64,
    /// When the first one failed without a successful one since, as far as is known.
    since: Option<Time>,
    /// Whether a successful one was found before that.
    is_first: bool,
}

impl FailedBranch {
    /// Finds the failed pipelines in a list, newest first. Those that did not finish or were canceled tell nothing.
    fn of<'a>(pipelines: impl Iterator<Item = &'a Pipeline>) -> Option<FailedBranch> {
        let mut told = pipelines.filter(|pipeline| matches!(pipeline.status, Status::Failed | Status::Success));
        let latest = told.next().filter(|pipeline| pipeline.status == Status::Failed)?;
        let (mut first, mut is_first) = (latest, false);
        for pipeline in told {
            is_first = pipeline.status == Status::Success;
            if is_first {
                break;
            }
            first = pipeline;
        }
        let (name, since) = (latest.r#ref.clone(), first.created_at.clone());
        Some(FailedBranch { name, pipeline: latest.id, since, is_first })
    }
}

/// The people and failed pipelines of a project or group.
pub struct TeamSource {
    scope: Option<Scope>,
    /// The people by username, and the failed default branches by the IDs of their projects.
    people: HashMap<String, Person>,
    failed: HashMap<u64, FailedBranch>,
    /// The headings by their lines.
    headings: HashMap<usize, String>,
}

/// The list of people and failed pipelines.
pub type Team = ListPane<TeamSource>;

impl TeamSource {
    fn requests(&self) -> MergeRequestQuery {
        MergeRequestQuery { scope: self.scope.clone(), state: "opened", order: Some(("created_at", "asc")) }
    }

    fn projects(&self) -> Option<ListQuery<TeamRow>> {
        Some(match self.scope.clone()? {
            Scope::Project(id) => ListQuery::one(&GetProject::new(&id)),
            Scope::Group(id) => {
                let order_by = Some("last_activity_at".to_owned());
                let (archived, include_subgroups) = (Some(false), Some(true));
                let list = ListGroupProjects { id, archived, include_subgroups, order_by, ..Default::default() };
                ListQuery::converted(&list)
            }
        })
    }

    /// Returns the rows of the loaded merge requests.
    fn loaded_requests<'a>(&self, view: &View<'a>) -> Rows<'a, TeamRow> {
        let query = self.requests().query("", view);
        query.map_or_else(|| Rows::chain(Vec::new()), |query| view.store.rows(&query.split::<TeamRow>()))
    }

    /// Returns the list of pipelines of a project's default branch.
    fn pipelines(project: &Project, view: &View) -> Option<ListPipelines> {
        let r#ref = Some(project.default_branch().filter(|_| project.jobs_enabled != Some(false))?.to_owned());
        Some(ListPipelines { id: Id::from(&*view.full_path(project)), r#ref, ..ListPipelines::default() })
    }

    fn failed(&self, row: &TeamRow) -> Option<&FailedBranch> {
        self.failed.get(&row.project()?.id)
    }

    fn person(&self, row: &TeamRow) -> Option<&Person> {
        match row {
            TeamRow::Person(user, _) => self.people.get(&user.username),
            TeamRow::Project(_) => None,
        }
    }

    /// Summarizes the loaded merge requests by person.
    fn summarize(&self, rows: &Rows<'_, TeamRow>, view: &View) -> HashMap<String, Person> {
        let mut people: HashMap<String, Person> = HashMap::new();
        for (index, row) in rows.iter().enumerate() {
            if let TeamRow::Person(user, _) = row {
                people.entry(user.username.clone()).or_insert_with(|| Person { row: index, ..Person::default() });
            }
        }
        for request in rows.iter().filter_map(TeamRow::authored) {
            let author = request.author().map_or("", |author| author.username.as_str());
            let project = self.scope.as_ref().and_then(Scope::project).cloned();
            let project = project.unwrap_or_else(|| merge_requests::project(request, view));
            let awaited = MergeRequestDetails::new(view, &project, request, ShownDetails::default()).awaited();
            for name in awaited.iter().flat_map(|(_, names)| names).filter(|name| *name != author) {
                people.entry(name.clone()).and_modify(|person| person.awaited_by.add(author));
            }
            let Some(person) = people.get_mut(author) else { continue };
            person.opened += 1;
            person.oldest =
                person.oldest.take().into_iter().chain(request.created_at.clone()).min_by_key(Time::instant);
            match awaited {
                Some((word, names)) if names.is_empty() => person.waiting_for.add(word),
                Some((_, names)) => names.iter().for_each(|name| person.waiting_for.add(name)),
                None => {}
            }
        }
        people.retain(|_, person| person.opened > 0 || !person.awaited_by.0.is_empty());
        people
    }
}

impl Team {
    /// Opens the merge requests of the person, or the failed pipeline.
    fn open_row(&mut self, row: &TeamRow, cx: &mut Cx) {
        match row {
            TeamRow::Person(user, _) if self.source.person(row).is_some_and(|person| person.opened == 0) => {
                self.open_list(format!("waiting:@{}", user.username), cx);
            }
            TeamRow::Person(user, _) => self.open_list(format!("author:{}", user.username), cx),
            TeamRow::Project(project) => {
                if let Some(failed) = self.source.failed(row) {
                    cx.go(pipelines::place(&Id::from(&*cx.view.full_path(project)), failed.pipeline));
                }
            }
        }
    }

    fn open_list(&self, query: String, cx: &mut Cx) {
        cx.go(scope::place(self.source.scope.as_ref(), "mrs").query(query));
    }

    fn open_awaiting(&mut self, row: &TeamRow, cx: &mut Cx) {
        if let TeamRow::Person(user, _) = row {
            self.open_list(format!("waiting:@{}", user.username), cx);
        }
    }
}

impl ListSource for TeamSource {
    type Row = TeamRow;
    type Detail = NoDetail;
    const LIST: ListInfo = ListInfo::new("team", "person", "team");
    const COLUMNS: &'static [Column<Self>] = &[
        Column::<Self>::glyph("state", |_, row, _| match row {
            TeamRow::Person(..) => Line::empty(),
            TeamRow::Project(_) => glyph::status("failed").into(),
        }),
        Column::<Self>::name("name", "Name", 8, |_, row, view| match row {
            TeamRow::Person(user, _) => Line::new(&user.username, Role::User),
            TeamRow::Project(project) => Line::new(view.full_path(project), Role::Text),
        }),
        Column::<Self>::fit("opened", "Open", 4, 4, |source, row, _| {
            let opened = source.person(row).map(|person| person.opened).filter(|opened| *opened > 0);
            Line::text(opened.map(|opened| opened.to_string()).unwrap_or_default())
        })
        .right(),
        Column::<Self>::fit("since", "Since", 5, 6, |source, row, view| {
            if let Some(failed) = source.failed(row) {
                let age = dates::age(view, failed.since.as_ref());
                return Line::new(format!("{age}{}", if failed.is_first { "" } else { "+" }), Role::Dim);
            }
            Line::new(dates::age(view, source.person(row).and_then(|person| person.oldest.as_ref())), Role::Dim)
        })
        .right(),
        Column::<Self>::fill("waiting", "Waiting for", 12, |source, row, _| {
            if let Some(failed) = source.failed(row) {
                return Line::new(&failed.name, Role::Ref).and(format!("  #{} failed", failed.pipeline), Role::Failed);
            }
            Line::text(source.person(row).map(|person| person.waiting_for.words()).unwrap_or_default())
        }),
        Column::<Self>::fill("blocking", "Blocking", 12, |source, row, _| {
            Line::text(source.person(row).map(|person| person.awaited_by.words()).unwrap_or_default())
        }),
    ];
    const COMMANDS: &'static [ListCommand<Self>] = &[
        Command::row("team.open", &["Enter"], "Open merge requests or pipeline", Team::open_row).footer("open"),
        Command::row("team.awaiting", &["w"], "List blocked merge requests", Team::open_awaiting)
            .footer("blocked")
            .when_row(|_, row, _| match row {
                TeamRow::Person(..) => Ok(()),
                TeamRow::Project(_) => Err("no person is selected".into()),
            }),
        Team::columns_command("team.columns"),
    ];

    fn open(place: &Place, _view: &View) -> TeamSource {
        TeamSource { scope: scope::of(place), people: HashMap::new(), failed: HashMap::new(), headings: HashMap::new() }
    }

    fn empty(&self, _: usize) -> (&'static str, &'static str) {
        ("No open merge requests.", "‹refresh› reads again")
    }

    fn query(&self, _: &Input<'_>, _: ServerOrder, view: &View) -> Option<ListQuery<TeamRow>> {
        Some(self.requests().query("", view)?.split().and(self.projects()?))
    }

    fn rows<'a>(&self, _: &Input<'_>, query: Option<&ListQuery<TeamRow>>, view: &View<'a>) -> Rows<'a, TeamRow> {
        let mut rows = query.map_or_else(|| Rows::chain(Vec::new()), |query| view.store.rows(query));
        // What is not read is said by the heading.
        rows.has_more &= rows.has_next(MAX_PAGES);
        // People are shown first, and without projects.
        let requests = self.loaded_requests(view);
        rows.is_loaded = requests.is_loaded || requests.error.is_some();
        rows
    }

    fn count(&self, _: &Listing, _: &Rows<'_, TeamRow>) -> Option<String> {
        // The rows are not those of the replies, and the headings count people.
        None
    }

    fn filter(&self, _: &Input<'_>) -> Filter<TeamRow> {
        // Words are searched in the loaded rows.
        Filter::Query(Grammar::new(&[], Some("words"), None))
    }

    fn arrange_rows(pane: &mut Team, rows: &Rows<'_, TeamRow>, view: &View) {
        let (_, filter) = query::keyed_and_plain(pane.list.shown());
        let words = format!("{} {}", view.store.generation(), filter.join(" "));
        let fits = |name: &str| filter.iter().all(|word| name.to_lowercase().contains(word));
        let source = &mut pane.source;
        let (is_loaded, is_cut) = (rows.is_loaded, source.loaded_requests(view).has_more);
        pane.list.arrange(rows, &words, || {
            source.people = source.summarize(rows, view);
            let failed = |project: &Project| {
                let list = TeamSource::pipelines(project, view)?;
                Some((project.id, FailedBranch::of(view.store.list(&list).iter())?))
            };
            source.failed = rows.iter().filter_map(TeamRow::project).filter(|_| is_loaded).filter_map(failed).collect();
            source.headings.clear();
            let mut lines = Vec::new();
            let mut sorted: Vec<_> = source.people.iter().filter(|(name, _)| fits(name)).collect();
            sorted.sort_by_key(|(name, person)| (Reverse(person.opened), Reverse(person.awaited_by.0.len()), *name));
            if !sorted.is_empty() {
                let noun = if sorted.len() == 1 { "1 person".into() } else { format!("{} people", sorted.len()) };
                let more = if is_cut { ", more are not read" } else { "" };
                source.headings.insert(0, format!("{noun} with open merge requests{more}"));
                lines.push(ListLine::Heading(0));
                lines.extend(sorted.iter().map(|(_, person)| ListLine::Row(person.row)));
            }
            let is_shown = |row: &TeamRow| {
                source.failed(row).is_some() && row.project().is_some_and(|project| fits(&view.full_path(project)))
            };
            let failed = rows.iter().enumerate().filter(|(_, row)| is_shown(row));
            let failed: Vec<ListLine> = failed.map(|(index, _)| ListLine::Row(index)).collect();
            if !failed.is_empty() {
                let all = rows.iter().filter_map(TeamRow::project).count() <= MAX_PROJECTS;
                let of =
                    if all { String::new() } else { format!(", of the {MAX_PROJECTS} projects that changed last") };
                source.headings.insert(lines.len(), format!("Failed pipelines of default branches{of}"));
                lines.push(ListLine::Heading(1));
                lines.extend(failed);
            }
            lines
        });
    }

    fn heading_row(&self, _: &Input<'_>, index: usize, _: &View) -> TableRow<'static> {
        self.headings.get(&index).map(|words| TableRow::heading(words.clone())).unwrap_or_default()
    }

    fn key(row: &TeamRow) -> String {
        match row {
            TeamRow::Person(user, _) => format!("@{}", user.username),
            TeamRow::Project(project) => project.id.to_string(),
        }
    }

    fn wants(pane: &Team, view: &View) -> Vec<Want> {
        let rows = pane.rows(view);
        let projects = rows.iter().filter_map(TeamRow::project).take(MAX_PROJECTS);
        let lists = projects.filter_map(|project| TeamSource::pipelines(project, view));
        let mut wants = request_limit::wants(lists.map(|list| Load::list(&list, 1)));
        wants.extend(pane.source.requests().projects_want(view));
        wants
    }

    fn url(&self, view: &View, row: Option<&TeamRow>) -> Option<String> {
        match row? {
            TeamRow::Person(user, _) => Some(user.web_url.clone()).filter(|url| !url.is_empty()),
            TeamRow::Project(row) => Some(project::page(view, &Id::from(&*view.full_path(row)), "/-/pipelines")),
        }
    }

    fn copies(&self, view: &View, row: &TeamRow) -> Vec<Clip> {
        match row {
            TeamRow::Person(user, _) => vec![Clip::line("username", user.username.clone())],
            TeamRow::Project(project) => vec![Clip::line("path", view.full_path(project).into_owned())],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_branch_fails_since_the_first_failure_after_a_success() {
        let since = |statuses: &[&str]| {
            let pipeline = |(id, status): (usize, &&str)| Pipeline {
                id: id as u64,
                status: Status::from(*status),
                created_at: Some(id.to_string().as_str().into()),
                ..Pipeline::default()
            };
            let pipelines: Vec<Pipeline> = statuses.iter().enumerate().map(pipeline).collect();
            let failed = FailedBranch::of(pipelines.iter())?;
            Some((failed.pipeline, failed.since?.as_str().to_owned(), failed.is_first))
        };
        assert_eq!(since(&["success", "failed"]), None);
        assert_eq!(since(&[]), None);
        assert_eq!(
            since(&["running", "failed", "canceled", "failed", "success", "failed"]),
            Some((1, "3".into(), true))
        );
        assert_eq!(since(&["failed", "skipped"]), Some((0, "0".into(), false)));
    }
}
