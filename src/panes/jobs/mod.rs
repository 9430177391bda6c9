//! The jobs of a project by pipeline and stage, with actions on jobs and pipelines; on a wide screen the pipeline also
//! as a board.

mod board_detail;
mod job_query;
mod lines;
mod pipeline_head;

use crate::api::jobs::{Job, ListJobs, ListPipelineJobs};
use crate::api::pipelines::resources::{Pipeline, Status};
use crate::api::{GitRef, Id};
use crate::app::pane::Breadcrumb;
use crate::app::permission;
use crate::app::query;
use crate::app::tone::Tone;
use crate::app::watch::Watched;
use crate::parts::breadcrumbs;
use crate::parts::ci::job_commands::ShowsJob;
use crate::parts::ci::job_waits;
use crate::parts::ci::pipeline_variables::PipelineVariables;
use crate::parts::ci::pipelines::{self, PipelineAction};
use crate::parts::ci::trace::{first_errors, want_first_errors};
use crate::parts::ci::{self, JobAction, POLL_INTERVAL};
use crate::parts::list;
use crate::parts::list::columns;
use crate::parts::list::prelude::*;
use crate::parts::project;
use crate::store::Rows;
use crate::ui::panels::TWO_PANELS_WIDTH;
use crate::ui::{glyph, text};
use board_detail::BoardDetail;
use job_query::JobQuery;
use lines::{ErrorGroup, Grouping, JobLine, Lines};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::time::Duration;

const TITLES: &[&str] = &["All", "Running", "Pending", "Failed", "Success", "Manual"];

/// The index of the tab with the failed jobs.
const FAILED: usize = 3;

/// Returns the statuses that a tab requests; empty for all.
fn statuses(tab: usize) -> &'static [Status] {
    match tab {
        1 => &[Status::Running],
        2 => &[Status::Created, Status::Pending],
        FAILED => &[Status::Failed],
        4 => &[Status::Success],
        5 => &[Status::Manual],
        _ => &[],
    }
}

/// The jobs of a project or of one of its pipelines.
pub struct JobSource {
    project: Id,
    pipeline: Option<u64>,
    lines: Lines,
}

/// The list of jobs.
pub type Jobs = ListPane<JobSource>;

impl JobSource {
    /// Returns the statuses to request; `None` for all. Those in the query override those of the tab.
    fn scope(&self, input: &Input<'_>, view: &View) -> Option<Vec<String>> {
        // The query is only parsed if it names statuses, because this is needed for every look at the rows.
        let named = query::get(input.filter, "scope").map(|_| JobQuery::read(input.filter, &self.project, view).scope);
        let of_tab = || statuses(input.tab).iter().map(|status| status.as_str().to_owned()).collect();
        let words: Vec<String> = named.filter(|named| !named.is_empty()).unwrap_or_else(of_tab);
        (!words.is_empty()).then_some(words)
    }

    /// Returns the pipeline that is shown alone, if it is known.
    fn known<'a>(&self, view: &View<'a>) -> Option<&'a Pipeline> {
        pipelines::known(view, &self.project, self.pipeline?).value
    }

    /// Returns the pipeline that started the shown one, if known.
    fn upstream<'a>(&self, view: &View<'a>) -> Option<&'a Pipeline> {
        pipelines::upstream(view, &self.project, self.known(view)?)
    }

    /// Returns the headings of the list: the failed jobs of a pipeline are grouped by their first error.
    fn grouping(&self, tab: usize, rows: &Rows<'_, Job>, view: &View) -> Grouping {
        match self.pipeline {
            None => Grouping::Pipelines,
            Some(_) if tab == FAILED => Grouping::Errors(first_errors(view, &self.project, rows.iter())),
            Some(_) => Grouping::Stages,
        }
    }

    fn open_job(&self, job: &Job, cx: &mut Cx) {
        match job.is_trigger() {
            true => match pipelines::downstream_place(&self.project, job) {
                Some(place) => cx.go(place),
                None => cx.say(Tone::Info, pipelines::no_downstream_words(job)),
            },
            false => cx.go(Place::new("job").project(self.project.clone()).item(job.id)),
        }
    }
}

impl Jobs {
    fn open_job(&mut self, job: &Job, cx: &mut Cx) {
        self.source.open_job(job, cx);
    }

    /// Returns the jobs whose traces to show side by side: the marked ones, else the running ones.
    fn jobs_to_watch(&self, view: &View) -> Vec<u64> {
        if !self.list.state.marked().is_empty() {
            let jobs = self.marked_or_selected(view).into_iter().filter(|job| !job.is_trigger());
            return jobs.map(|job| job.id).take(ci::MAX_TRACES).collect();
        }
        let rows = self.rows(view);
        rows.iter()
            .filter(|job| job.status.is_running() && !job.is_trigger())
            .map(|job| job.id)
            .take(ci::MAX_TRACES)
            .collect()
    }

    fn pipeline_here(&self, view: &View) -> Option<u64> {
        self.current(view).and_then(|job| job.pipeline.as_ref()).map(|pipeline| pipeline.id).or(self.source.pipeline)
    }

    /// Returns the ID, ref and status of the shown pipeline, or of the pipeline of the selected job.
    fn pipeline_facts(&self, view: &View) -> Option<(u64, String, Status)> {
        let known = self.source.known(view);
        if let Some(known) = known {
            return Some((known.id, pipelines::ref_name(known), known.status.clone()));
        }
        let brief = self.current(view)?.pipeline.as_ref()?;
        Some((brief.id, brief.r#ref.clone(), brief.status.clone()))
    }

    fn can_pipeline(&self, view: &View, action: PipelineAction) -> Result<(), Disabled> {
        let facts = self.pipeline_facts(view);
        let (id, _, status) = list::need(facts, &self.rows(view), "no job of a pipeline is selected")?;
        action.check(id, &status)
    }

    fn act_on_pipeline(&mut self, action: PipelineAction, cx: &mut Cx) {
        if let Some((id, ref_name, _)) = self.pipeline_facts(&cx.view) {
            action.apply(&self.source.project, id, &ref_name, cx);
        }
    }
}

/// Returns the heading of the jobs with the same error.
fn error_row(group: &ErrorGroup) -> TableRow<'static> {
    let jobs = Line::new(format!("{} ", text::count_noun(group.jobs as u64, "job")), Role::TitleDim);
    let cell = match &group.error {
        None => jobs.and("reading the trace…", Role::Dim),
        Some(error) if error.group.is_none() => jobs.and(error.text.clone(), Role::Dim),
        Some(error) => jobs.and(error.text.clone(), Role::Failed),
    };
    TableRow { cells: vec![cell.and(" ", Role::Dim)], heading: true, ..TableRow::default() }
}

const OPEN: &[ListCommand<JobSource>] =
    &[Command::row("jobs.open", &["Enter"], "Open job", Jobs::open_job).footer("open")];

impl ShowsJob for Jobs {
    fn job<'a>(&self, view: &View<'a>) -> Result<(Id, &'a Job), Disabled> {
        Ok((self.source.project.clone(), self.need_row(view)?))
    }

    fn jobs<'a>(&self, view: &View<'a>) -> Result<(Id, Vec<&'a Job>), Disabled> {
        self.has_row(view)?;
        Ok((self.source.project.clone(), self.marked_or_selected(view)))
    }

    fn before(&mut self, _: JobAction, cx: &Cx) -> Option<Action> {
        Some(cx.here.then(|pane: &mut Jobs, _| _ = pane.list.state.clear_marks()))
    }
}

impl ListSource for JobSource {
    type Row = Job;
    type Detail = BoardDetail;
    const LIST: ListInfo = ListInfo {
        reads_project: false,
        ..ListInfo::new("jobs", "job", "jobs").widths(&[(60, 1), (44, 1)]).tabs(TITLES)
    };
    const COLUMNS: &'static [Column<Self>] = &[
        Column::<Self>::at("stage", Size::Fit { min: 4, max: 14 }, |source, index, job, _| {
            let is_shown = glyph::is_accessible() || source.lines.is_first_of_stage(index);
            Line::new(if is_shown { job.stage.as_str() } else { "" }, Role::Dim)
        })
        .drop_order(1),
        Column::<Self>::fit("status", "", 9, 17, |_, job, _| ci::status_cell(job)),
        Column::<Self>::fill("name", "", 12, |_, job, _| {
            let name = Line::text(&job.name);
            match pipelines::downstream_words(job) {
                Some((words, role)) => name.and(format!("  {words}"), role),
                None => name,
            }
        }),
        Column::<Self>::fit("waiting", "", 16, 70, |source, job, view| {
            let words = job_waits::phrase(view, &source.project, job, source.lines.blocker(job));
            Line::new(words.unwrap_or_default(), Role::Dim)
        })
        .drop_order(6),
        Column::<Self>::at("artifacts", Size::Fit { min: 9, max: 9 }, |source, index, job, _| {
            let retried = || format!("{} retried", glyph::or_word(glyph::reply(), ""));
            match source.lines.is_retried(index) {
                true => Line::new(retried(), Role::Dim),
                false => Line::new(if job.has_artifacts() { "artifacts" } else { "" }, Role::Dim),
            }
        })
        .drop_order(5),
        Column::<Self>::fit("ID", "", 3, 10, |_, job, _| Line::new(format!("#{}", job.id), Role::Dim))
            .right()
            .drop_order(4),
        Column::<Self>::fit("duration", "", 6, 8, |_, job, view| Line::text(ci::duration(job, view.now))).right(),
        Column::<Self>::fit("runner", "", 6, 22, |_, job, _| {
            Line::new(job.runner.as_ref().map(|runner| runner.label()).unwrap_or_default(), Role::Dim)
        })
        .drop_order(3),
        Column::<Self>::age("updated", "", ci::last_event).drop_order(2),
    ];
    const TABLES: &'static [&'static [ListCommand<Self>]] = &[OPEN, Jobs::JOB, Self::COMMANDS, Jobs::WATCH];
    const COMMANDS: &'static [ListCommand<Self>] = &[
        Command::row("jobs.compare", &["d"], "Compare with last success", |pane: &mut Jobs, job: &Job, cx| {
            cx.go(ci::comparison(&pane.source.project, job));
        })
        .when_row(|_, job, _| ci::can_compare(job)),
        Jobs::mark_command("jobs.mark").footer("mark"),
        Command::new("jobs.traces", &["|"], "Watch traces side by side", |pane: &mut Jobs, cx| {
            let place = ci::traces(&pane.source.project, pane.jobs_to_watch(&cx.view).into_iter());
            cx.go(place);
        })
        .when(|pane, view| {
            let some = Some(()).filter(|()| !pane.jobs_to_watch(view).is_empty());
            list::need(some, &pane.rows(view), "no job is marked or running")
        }),
        Command::new("jobs.watch_pipeline", &["W"], "Watch pipeline", |pane: &mut Jobs, cx| {
            if let Some(id) = pane.pipeline_here(&cx.view) {
                cx.act(Action::Watch(Watched::Pipeline { project: pane.source.project.clone(), id }));
            }
        })
        .when(|pane, view| {
            list::need(pane.pipeline_here(view), &pane.rows(view), "no job of a pipeline is selected").map(|_| ())
        }),
        Command::new("jobs.pipeline", &["p"], "Filter by pipeline", |pane: &mut Jobs, cx| {
            let pipeline = pane.current(&cx.view).and_then(|job| job.pipeline.as_ref()).map(|p| p.id);
            if let Some(id) = pipeline {
                cx.go(Place::new("jobs").project(pane.source.project.clone()).item(id));
            }
        })
        .when(|pane, view| match pane.source.pipeline {
            Some(_) => Err("already filtered by pipeline".into()),
            None => {
                let here = pane.pipeline_here(view);
                list::need(here, &pane.rows(view), "no job of a pipeline is selected").map(|_| ())
            }
        }),
        Command::new("jobs.retry_pipeline", &[], "Retry failed jobs of pipeline", |pane: &mut Jobs, cx| {
            pane.act_on_pipeline(PipelineAction::Retry, cx);
        })
        .needs(permission::RUN)
        .when(|pane, view| pane.can_pipeline(view, PipelineAction::Retry)),
        Command::new("jobs.cancel_pipeline", &[], "Cancel pipeline…", |pane: &mut Jobs, cx| {
            pane.act_on_pipeline(PipelineAction::Cancel, cx);
        })
        .needs(permission::RUN)
        .when(|pane, view| pane.can_pipeline(view, PipelineAction::Cancel)),
        Command::new("jobs.variables", &["v"], "Show variables of pipeline", |pane: &mut Jobs, cx| {
            if let Some(id) = pane.pipeline_here(&cx.view) {
                cx.open(PipelineVariables::of(&pane.source.project, id));
            }
        })
        .when(|pane, view| {
            list::need(pane.pipeline_here(view), &pane.rows(view), "no job of a pipeline is selected").map(|_| ())
        }),
        Command::new("jobs.upstream", &["u"], "Open upstream pipeline", |pane: &mut Jobs, cx| {
            if let Some(parent) = pane.source.upstream(&cx.view) {
                cx.go(pipelines::place(&pane.source.project, parent.id));
            }
        })
        .when(|pane, view| match pane.source.upstream(view) {
            Some(_) => Ok(()),
            None => Err("no other pipeline is known to have started it".into()),
        }),
        Command::new("jobs.tests", &["t"], "Open test report of pipeline", |pane: &mut Jobs, cx| {
            if let Some(id) = pane.pipeline_here(&cx.view) {
                cx.go(pipelines::tests(&pane.source.project, id));
            }
        })
        .when(|pane, view| {
            list::need(pane.pipeline_here(view), &pane.rows(view), "no job of a pipeline is selected").map(|_| ())
        }),
        Command::new("jobs.columns", &["s"], "Columns…", |_: &mut Jobs, cx| columns::open::<Self>(cx)),
    ];

    fn open(place: &Place, _view: &View) -> JobSource {
        JobSource {
            project: place.project.clone().unwrap_or_default(),
            pipeline: place.item.as_deref().and_then(|id| id.parse().ok()),
            lines: Lines::default(),
        }
    }

    fn is_dim(&self, index: usize, _: &Job) -> bool {
        self.lines.is_retried(index)
    }

    fn empty(&self, tab: usize) -> (&'static str, &'static str) {
        match tab {
            0 => ("There are no jobs here.", "A commit with a CI file starts a pipeline"),
            _ => ("No job is in that state.", "‹tab.1› shows all of them"),
        }
    }

    fn place(&self, base: Place) -> Place {
        Place { item: self.pipeline.map(|id| id.to_string()), ..base }
    }

    fn breadcrumbs(&self, _: &Place, view: &View) -> Vec<Breadcrumb> {
        let mut breadcrumbs = project::breadcrumbs(view, &self.project);
        let Some(id) = self.pipeline else {
            breadcrumbs.push(Breadcrumb::new("jobs", Role::Title));
            return breadcrumbs;
        };
        breadcrumbs.push(Breadcrumb::new(format!("pipeline {id}"), Role::Title));
        if pipeline_head::is_drawn(view, &self.project, id) {
            return breadcrumbs;
        }
        let brief =
            || self.lines.pipelines.first()?.brief.as_ref().map(|brief| (GitRef::from(&brief.r#ref), &brief.status));
        let known = self.known(view).map(|known| (GitRef::of_pipeline(&known.r#ref, known.tag), &known.status));
        if let Some((git_ref, status)) = known.or_else(brief) {
            let (status, role) = glyph::labeled(status.as_str());
            breadcrumbs.push(breadcrumbs::git_ref(&self.project, &git_ref));
            breadcrumbs.push(Breadcrumb::new(status, role));
        }
        breadcrumbs
    }

    fn query(&self, input: &Input<'_>, _: ServerOrder, view: &View) -> Option<ListQuery<Job>> {
        let (id, scope) = (self.project.clone(), self.scope(input, view));
        Some(match self.pipeline {
            Some(pipeline_id) => ListQuery::new(&ListPipelineJobs { scope, ..ListPipelineJobs::all(id, pipeline_id) }),
            None => ListQuery::new(&ListJobs { id, scope }),
        })
    }

    /// Returns the jobs; of a pipeline, the trigger jobs too.
    fn rows<'a>(&self, input: &Input<'_>, query: Option<&ListQuery<Job>>, view: &View<'a>) -> Rows<'a, Job> {
        let jobs = query.map_or_else(|| Rows::chain(Vec::new()), |query| view.store.rows(query));
        match self.pipeline {
            Some(id) => {
                let triggers = pipelines::triggers(&self.project, id, self.scope(input, view));
                pipelines::with_triggers(view, jobs, &triggers)
            }
            None => jobs,
        }
    }

    fn filter(&self, _: &Input<'_>) -> Filter<Job> {
        Filter::Query(job_query::grammar(&self.project))
    }

    fn arrange_rows(pane: &mut Jobs, rows: &Rows<'_, Job>, view: &View) {
        let query = JobQuery::read(pane.list.shown(), &pane.source.project, view);
        let words = if query.is_whole() { String::new() } else { pane.list.shown().to_owned() };
        let grouping = pane.source.grouping(pane.input().tab, rows, view);
        let is_by_error = matches!(grouping, Grouping::Errors(_));
        let is_whole = pane.source.scope(&pane.input(), view).is_none();
        pane.source.lines.refresh(rows, &query, grouping, is_whole);
        let lines = &pane.source.lines;
        // The errors arrive after the rows.
        let words = if is_by_error { format!("{words}\t{}", lines.generation) } else { words };
        pane.list.arrange(rows, &words, || lines.arranged());
        // The selection follows the cursor of the board, as far as the list has its job.
        let on_board = pane.detail.cursor().filter(|id| pane.on_detail() && lines.row_of(*id).is_some());
        if let Some(id) = on_board {
            pane.list.state.select_key(id.to_string());
        }
    }

    fn belongs_to(&self, job: &Job, view: &View) -> (Option<Id>, bool) {
        (None, ci::is_own(view, &self.project, job))
    }

    fn key(job: &Job) -> String {
        job.id.to_string()
    }

    fn heading_row(&self, input: &Input<'_>, index: usize, view: &View) -> TableRow<'static> {
        let at = match self.lines.get(index) {
            Some(JobLine::Pipeline(at)) => at,
            Some(JobLine::Error(at)) => return self.lines.errors.get(at).map(error_row).unwrap_or_default(),
            _ => return TableRow::default(),
        };
        let Some(pipeline) = self.lines.pipelines.get(at) else { return TableRow::default() };
        let cell = match &pipeline.brief {
            Some(brief) => {
                let (status, role) = glyph::labeled(brief.status.as_str());
                let sha: String = brief.sha.chars().take(8).collect();
                let duration = match input.tab {
                    0 => pipelines::duration(brief, pipeline.times, view.now),
                    _ => String::new(),
                };
                let duration = if duration.is_empty() { duration } else { format!("  {duration}") };
                Line::new(format!("pipeline {}", brief.id), Role::TitleDim)
                    .and(format!("  {} ", text::fit(&brief.r#ref, 40)), Role::Ref)
                    .and(sha, Role::Dim)
                    .and(format!("  {status}"), role)
                    .and(duration, Role::Dim)
            }
            None => Line::new("jobs without a pipeline", Role::TitleDim),
        };
        TableRow { cells: vec![cell.and(" ", Role::Dim)], heading: true, ..TableRow::default() }
    }

    fn draw_header(&self, view: &View, area: Rect, buf: &mut Buffer) -> Rect {
        self.pipeline.map_or(area, |id| pipeline_head::draw(view, area, buf, &self.project, id))
    }

    fn handle_key(pane: &mut Jobs, key: ListKey, cx: &mut Cx) -> bool {
        let enters = key == ListKey::Right && cx.view.size.0 >= TWO_PANELS_WIDTH;
        if enters {
            pane.focus_detail();
        }
        enters
    }

    fn wants(pane: &Jobs, view: &View) -> Vec<Want> {
        let source = &pane.source;
        let mut wants = ci::environment_wants(view, &source.project, pane.marked_or_selected(view));
        let last_changing_row = source.lines.last_changing_row;
        if let Some(id) = source.pipeline {
            wants.extend(pipeline_head::wants(view, &source.project, id, last_changing_row.is_some()));
            let triggers = pipelines::triggers(&source.project, id, source.scope(&pane.input(), view));
            wants.extend(pipelines::want_triggers(view, &triggers, last_changing_row.is_some()));
        }
        if pane.input().tab == FAILED && source.pipeline.is_some() {
            wants.extend(want_first_errors(view, &source.project, pane.rows(view).iter()));
        }
        // The pages up to the last live job are polled; without live jobs, nothing is.
        if let Some((row, query)) = last_changing_row.zip(source.query(&pane.input(), None, view)) {
            // All pages but the last are of the same size, so this is the page of the row or the one after it. Trigger jobs
            // come after them.
            let rows = view.store.rows(&query);
            let before = row.min(rows.len()) * rows.pages() as usize / rows.len().max(1);
            wants.extend(query.wants(before as u32 + 1, Duration::ZERO, Some(POLL_INTERVAL)));
        }
        wants
    }

    fn url(&self, view: &View, job: Option<&Job>) -> Option<String> {
        Some(ci::url(view, &self.project, job?))
    }

    fn copies(&self, _view: &View, job: &Job) -> Vec<Clip> {
        let mut copies = vec![Clip::line("job name", job.name.clone()), Clip::line("job number", job.id.to_string())];
        copies.push(Clip::line("ref", job.r#ref.clone()));
        copies.extend(job.commit.as_ref().map(|commit| Clip::line("SHA", commit.id.clone())));
        copies
    }
}
