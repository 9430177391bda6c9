//! The jobs of a project by pipeline and stage, with actions on jobs and pipelines; on a wide screen the pipeline also
//! as a board.

mod job_query;
mod lines;
mod pipeline_head;

use crate::api::Id;
use crate::api::jobs::{Job, ListJobs, ListPipelineJobs};
use crate::api::pipelines::resources::Status;
use crate::api::pipelines::{ListPipelineBridges, Pipeline};
use crate::app::action::{Action, Answer};
use crate::app::command::Command;
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::motion::Motion;
use crate::app::pane::{Breadcrumb, Pane, SearchMode, Tabs};
use crate::app::place::Place;
use crate::app::place_info::Needs;
use crate::app::pointer::Pointer;
use crate::app::query::Grammar;
use crate::app::tone::Tone;
use crate::app::view::View;
use crate::app::watch::Watched;
use crate::parts::board::Board;
use crate::parts::breadcrumbs;
use crate::parts::ci::{self, Confirmed, JobAction, POLL_INTERVAL};
use crate::parts::list::{self, Listing, age};
use crate::parts::pipeline_variables::PipelineVariables;
use crate::parts::pipelines::{self, PipelineAction};
use crate::parts::{forms, project, query_list};
use crate::store::{Load, Rows, Want};
use crate::ui::panels::{self, PanelRequest, Panels};
use crate::ui::table::{Cell, Column, Row, Size};
use crate::ui::theme::Role;
use crate::ui::{glyph, text};
use job_query::JobQuery;
use lines::{Line, Lines};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::time::Duration;

/// The minimum screen width in columns to show the board beside the list.
const WIDE: u16 = 120;
const LIST: usize = 0;
const BOARD: usize = 1;

const TITLES: &[&str] = &["All", "Running", "Pending", "Failed", "Success", "Manual"];

/// Returns the statuses that a tab requests; empty for all.
fn statuses(tab: usize) -> &'static [Status] {
    match tab {
        1 => &[Status::Running],
        2 => &[Status::Created, Status::Pending],
        3 => &[Status::Failed],
        4 => &[Status::Success],
        5 => &[Status::Manual],
        _ => &[],
    }
}

/// The jobs of a project or of one of its pipelines.
pub struct Jobs {
    project: Id,
    pipeline: Option<u64>,
    tab: usize,
    query: JobQuery,
    list: Listing,
    lines: Lines,
    board: Board,
    panels: Panels,
    /// The job that list and board were last synchronized to.
    synced_job: Option<u64>,
}

impl Jobs {
    fn scope(&self) -> Option<Vec<String>> {
        let words: Vec<String> = statuses(self.tab).iter().map(|s| s.as_str().to_owned()).collect();
        // A scope in the query overrides that of the tab.
        let words = if self.query.scope.is_empty() { words } else { self.query.scope.clone() };
        (!words.is_empty()).then_some(words)
    }

    fn of_project(&self) -> ListJobs {
        ListJobs { id: self.project.clone(), scope: self.scope() }
    }

    fn of_pipeline(&self, pipeline_id: u64) -> ListPipelineJobs {
        ListPipelineJobs { id: self.project.clone(), pipeline_id, scope: self.scope() }
    }

    fn load(&self, pages: u32) -> Load {
        match self.pipeline {
            Some(id) => Load::list(&self.of_pipeline(id), pages),
            None => Load::list(&self.of_project(), pages),
        }
    }

    fn rows<'a>(&self, view: &View<'a>) -> Rows<'a, Job> {
        match self.pipeline {
            Some(id) => pipelines::with_triggers(view, view.store.list(&self.of_pipeline(id)), &self.triggers(id)),
            None => view.store.list(&self.of_project()),
        }
    }

    /// Returns the request for the trigger jobs of the pipeline.
    fn triggers(&self, pipeline: u64) -> ListPipelineBridges {
        pipelines::triggers(&self.project, pipeline, self.scope())
    }

    /// Returns the pipeline that started the shown one, if known.
    fn upstream<'a>(&self, view: &View<'a>) -> Option<&'a Pipeline> {
        let known = pipelines::known(view, &self.project, self.pipeline?).value?;
        pipelines::upstream(view, &self.project, known)
    }

    fn board_focused(&self) -> bool {
        self.panels.focus() == BOARD
    }

    fn shows_board(&self, view: &View) -> bool {
        self.board_focused() || view.size.0 >= WIDE && !self.panels.zoomed()
    }

    /// Returns the job under the cursor of the focused panel.
    fn current<'a>(&self, view: &View<'a>) -> Option<&'a Job> {
        if self.board_focused() {
            let id = self.board.cursor()?;
            return self.board.rows(view, &self.project)?.iter().find(|job| job.id == id);
        }
        self.list.selected(&self.rows(view))
    }

    /// Returns the marked jobs, or the one under the cursor.
    fn targets<'a>(&self, view: &View<'a>) -> Vec<&'a Job> {
        if self.list.state.marked().is_empty() {
            return self.current(view).into_iter().collect();
        }
        let rows = self.rows(view);
        let marked = self.list.state.marked().iter().filter_map(|key| key.parse().ok());
        marked.filter_map(|id| rows.get(self.lines.row_of(id)?)).collect()
    }

    fn can(&self, view: &View, job_action: JobAction) -> Result<(), Disabled> {
        let targets = self.targets(view);
        if targets.is_empty() {
            return self.has_job(view);
        }
        let mut why = Disabled::default();
        for job in targets {
            match job_action.check(job) {
                Ok(()) => return Ok(()),
                Err(reason) => why = reason,
            }
        }
        Err(why)
    }

    fn job_action(&mut self, job_action: JobAction, cx: &mut Cx) {
        let targets = self.targets(&cx.view);
        job_action.apply(&self.project, &targets, cx);
        // If the action needs confirmation, the marks stay until it is confirmed.
        if !job_action.needs_confirmation() {
            self.list.state.clear_marks();
        }
    }

    fn enter(&mut self, cx: &mut Cx) {
        match self.current(&cx.view) {
            Some(job) if job.is_trigger() => match pipelines::downstream_place(&self.project, job) {
                Some(place) => cx.go(place),
                None => cx.say(Tone::Info, "It has not started its pipeline yet."),
            },
            Some(job) => cx.go(Place::new("job").project(self.project.clone()).item(job.id)),
            None => {}
        }
    }

    /// Returns the jobs whose traces to show side by side: the marked ones, else the running ones.
    fn jobs_to_watch(&self, view: &View) -> Vec<u64> {
        if !self.list.state.marked().is_empty() {
            let jobs = self.targets(view).into_iter().filter(|job| !job.is_trigger());
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
        self.current(view).and_then(|job| job.pipeline.as_ref()).map(|pipeline| pipeline.id).or(self.pipeline)
    }

    /// Returns the ID, ref and status of the shown pipeline, or of the pipeline of the selected job.
    fn pipeline_facts(&self, view: &View) -> Option<(u64, String, Status)> {
        let known = self.pipeline.and_then(|id| pipelines::known(view, &self.project, id).value);
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
            action.apply(&self.project, id, &ref_name, cx);
        }
    }

    fn has_job(&self, view: &View) -> Result<(), Disabled> {
        list::need(self.current(view), &self.rows(view), "no job is selected").map(|_| ())
    }

    fn mark(&mut self, cx: &mut Cx) {
        if let Some(job) = self.current(&cx.view) {
            self.list.state.toggle_mark(job.id.to_string());
            self.motion(Motion::Down, cx);
        }
    }

    /// Moves the cursor of the panel without focus to the job selected in the focused one.
    fn sync_panels(&mut self, view: &View) {
        if self.board_focused() {
            if let Some(id) = self.board.cursor().filter(|id| self.synced_job != Some(*id)) {
                self.synced_job = Some(id);
                if self.lines.row_of(id).is_some() {
                    self.list.state.select_key(id.to_string());
                }
            }
        } else if let Some(job) = self.current(view)
            && self.synced_job != Some(job.id)
        {
            self.synced_job = Some(job.id);
            self.board.show_job(job.pipeline.as_ref().map(|p| p.id).or(self.pipeline), Some(job.id));
        }
    }

    /// Returns the query for successful jobs whose durations are compared; `None` if the list itself contains them.
    fn history(&self) -> Option<ListJobs> {
        let scope = Some(vec![Status::Success.as_str().to_owned()]);
        (self.pipeline.is_some() || self.scope().is_some()).then(|| ListJobs { id: self.project.clone(), scope })
    }

    fn heading(&self, view: &View, rows: &Rows<'_, Job>, at: usize) -> Row {
        let Some(pipeline) = self.lines.pipelines.get(at) else { return Row::default() };
        let job = rows.get(pipeline.row);
        let mut cell = match pipeline.id {
            Some(id) => Cell::from((format!("pipeline {id}"), Role::TitleDim)),
            None => Cell::from(("jobs without a pipeline", Role::TitleDim)),
        };
        if let Some(brief) = job.and_then(|job| job.pipeline.as_ref()) {
            let (status, role) = glyph::labeled(brief.status.as_str());
            let sha: String = brief.sha.chars().take(8).collect();
            cell = cell
                .and(format!("  {} ", text::fit(&brief.r#ref, 40)), Role::Ref)
                .and(sha, Role::Dim)
                .and(format!("  {status}"), role);
            if self.tab == 0 {
                let duration = pipeline.duration(brief.status.is_live(), view.now);
                if !duration.is_empty() {
                    cell = cell.and(format!("  {duration}"), Role::Dim);
                }
            }
        }
        Row { cells: vec![cell.and(" ", Role::Dim)], heading: true, ..Row::default() }
    }

    fn line(&self, view: &View, rows: &Rows<'_, Job>, index: usize, job: Option<&Job>) -> Row {
        match (self.lines.get(index), job) {
            (Some(Line::Pipeline(at)), _) => self.heading(view, rows, at),
            (Some(Line::Job(slot, first)), Some(job)) => {
                let runner = job.runner.as_ref().map(|runner| runner.label()).unwrap_or_default();
                let note = match (slot.older, job.has_artifacts()) {
                    (true, _) => format!("{} retried", glyph::or_word(glyph::reply(), "")),
                    (false, true) => "artifacts".to_owned(),
                    (false, false) => String::new(),
                };
                Row::new(vec![
                    Cell::from((
                        if first || glyph::is_accessible() { job.stage.clone() } else { String::new() },
                        Role::Dim,
                    )),
                    ci::status_cell(job),
                    match pipelines::downstream_words(job) {
                        Some((words, role)) => {
                            Cell::from((job.name.clone(), Role::Text)).and(format!("  {words}"), role)
                        }
                        None => Cell::from((job.name.clone(), Role::Text)),
                    },
                    Cell::from((note, Role::Dim)),
                    Cell::from((format!("#{}", job.id), Role::Dim)),
                    Cell::from((ci::duration(job, view.now), Role::Text)),
                    Cell::from((runner, Role::Dim)),
                    Cell::from((age(view, ci::last_event(job)), Role::Dim)),
                ])
                .dim(slot.older)
                .marked(self.list.state.is_marked(&slot.id.to_string()))
            }
            _ => Row::default(),
        }
    }

    fn draw_list(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let rows = self.rows(view);
        let empty = match (self.list.filter_text().is_empty(), self.tab) {
            (false, _) => ("No job matches the filter.", "/ changes it, Esc clears it"),
            (true, 0) => ("There are no jobs here.", "A commit with a CI file starts a pipeline"),
            (true, _) => ("No job is in that state.", "1 shows all of them"),
        };
        let columns = [
            Column::new("", Size::Fit { min: 4, max: 14 }).drop_order(1),
            Column::new("", Size::Fit { min: 9, max: 12 }),
            Column::new("", Size::Fill { min: 12, weight: 1 }),
            Column::new("", Size::Fit { min: 9, max: 9 }).drop_order(5),
            Column::new("", Size::Fit { min: 3, max: 10 }).right().drop_order(4),
            Column::new("", Size::Fit { min: 6, max: 8 }).right(),
            Column::new("", Size::Fit { min: 6, max: 22 }).drop_order(3),
            Column::new("", Size::Fixed(4)).right().drop_order(2),
        ];
        let line = |index, job: Option<&Job>| self.line(view, &rows, index, job);
        self.list.draw_lines(view, area, buf, !self.board_focused(), &rows, &columns, line, empty);
    }
}

impl Pane for Jobs {
    const ID: &'static str = "jobs";
    const TITLE: &'static str = "Jobs by pipeline";
    const NEEDS: Needs = Needs::Project;
    const COMMANDS: &'static [Command<Self>] = &[
        Command::new("jobs.open", &["Enter"], "Open job", |pane: &mut Self, cx| pane.enter(cx))
            .footer("trace")
            .when(Jobs::has_job),
        Command::new("jobs.retry", &["R"], "Retry job", |pane: &mut Self, cx| pane.job_action(JobAction::Retry, cx))
            .footer("retry")
            .writes()
            .when(|pane, view| pane.can(view, JobAction::Retry)),
        Command::new("jobs.cancel", &["X"], "Cancel job…", |pane: &mut Self, cx| {
            pane.job_action(JobAction::Cancel, cx)
        })
        .footer("cancel")
        .writes()
        .when(|pane, view| pane.can(view, JobAction::Cancel)),
        Command::new("jobs.play", &["P"], "Play manual job", |pane: &mut Self, cx| {
            pane.job_action(JobAction::Play, cx)
        })
        .footer("play")
        .writes()
        .when(|pane, view| pane.can(view, JobAction::Play)),
        Command::new("jobs.play_with", &["M-p"], "Play job with variables…", |pane: &mut Self, cx| {
            if let Some(job) = pane.current(&cx.view) {
                forms::pipeline::play(&pane.project, job).open(cx);
            }
        })
        .writes()
        .when(|pane, view| match pane.current(view) {
            Some(job) => JobAction::Play.check(job),
            None => pane.has_job(view),
        }),
        Command::new("jobs.keep", &["K"], "Keep artifacts", |pane: &mut Self, cx| {
            pane.job_action(JobAction::KeepArtifacts, cx);
        })
        .writes()
        .when(|pane, view| pane.can(view, JobAction::KeepArtifacts)),
        Command::new("jobs.artifacts", &["A"], "Browse artifacts", |pane: &mut Self, cx| {
            if let Some(job) = pane.current(&cx.view) {
                cx.go(Place::new("artifacts").project(pane.project.clone()).item(job.id));
            }
        })
        .when(|pane, view| match pane.current(view) {
            Some(job) if job.has_artifacts() => Ok(()),
            Some(_) => Err("it has no artifacts".into()),
            None => pane.has_job(view),
        }),
        Command::new("jobs.erase", &["Delete"], "Erase job…", |pane: &mut Self, cx| {
            pane.job_action(JobAction::Erase, cx);
        })
        .writes()
        .when(|pane, view| pane.can(view, JobAction::Erase)),
        Command::new("jobs.mark", &["Space"], "Toggle mark", |pane: &mut Self, cx| pane.mark(cx))
            .footer("mark")
            .when(Jobs::has_job),
        Command::new("jobs.traces", &["|"], "Watch traces side by side", |pane: &mut Self, cx| {
            let place = ci::traces(&pane.project, pane.jobs_to_watch(&cx.view).into_iter());
            cx.go(place);
        })
        .when(|pane, view| {
            let some = Some(()).filter(|()| !pane.jobs_to_watch(view).is_empty());
            list::need(some, &pane.rows(view), "no job is marked or running")
        }),
        Command::new("jobs.watch", &["w"], "Watch job (notify on finish)", |pane: &mut Self, cx| {
            if let Some(job) = pane.current(&cx.view) {
                cx.act(Action::Watch(ci::watched(&pane.project, job)));
            }
        })
        .footer("watch")
        .when(|pane, view| pane.current(view).map_or_else(|| pane.has_job(view), ci::has_trace)),
        Command::new("jobs.watch_pipeline", &["W"], "Watch pipeline", |pane: &mut Self, cx| {
            if let Some(id) = pane.pipeline_here(&cx.view) {
                cx.act(Action::Watch(Watched::Pipeline { project: pane.project.clone(), id }));
            }
        })
        .when(|pane, view| {
            list::need(pane.pipeline_here(view), &pane.rows(view), "no job of a pipeline is selected").map(|_| ())
        }),
        Command::new("jobs.pipeline", &["p"], "Filter by pipeline", |pane: &mut Self, cx| {
            let pipeline = pane.current(&cx.view).and_then(|job| job.pipeline.as_ref()).map(|p| p.id);
            if let Some(id) = pipeline {
                cx.go(Place::new("jobs").project(pane.project.clone()).item(id));
            }
        })
        .when(|pane, view| match pane.pipeline {
            Some(_) => Err("already filtered by pipeline".into()),
            None => {
                let here = pane.pipeline_here(view);
                list::need(here, &pane.rows(view), "no job of a pipeline is selected").map(|_| ())
            }
        }),
        Command::new("jobs.retry_pipeline", &[], "Retry failed jobs of pipeline", |pane: &mut Self, cx| {
            pane.act_on_pipeline(PipelineAction::Retry, cx);
        })
        .writes()
        .when(|pane, view| pane.can_pipeline(view, PipelineAction::Retry)),
        Command::new("jobs.cancel_pipeline", &[], "Cancel pipeline…", |pane: &mut Self, cx| {
            pane.act_on_pipeline(PipelineAction::Cancel, cx);
        })
        .writes()
        .when(|pane, view| pane.can_pipeline(view, PipelineAction::Cancel)),
        Command::new("jobs.variables", &["v"], "Show variables of pipeline", |pane: &mut Self, cx| {
            if let Some(id) = pane.pipeline_here(&cx.view) {
                cx.act(Action::Open(Box::new(PipelineVariables::of(&pane.project, id))));
            }
        })
        .when(|pane, view| {
            list::need(pane.pipeline_here(view), &pane.rows(view), "no job of a pipeline is selected").map(|_| ())
        }),
        Command::new("jobs.upstream", &["u"], "Open upstream pipeline", |pane: &mut Self, cx| {
            if let Some(parent) = pane.upstream(&cx.view) {
                cx.go(pipelines::place(&pane.project, parent.id));
            }
        })
        .when(|pane, view| match pane.upstream(view) {
            Some(_) => Ok(()),
            None => Err("no other pipeline is known to have started it".into()),
        }),
        Command::new("jobs.tests", &["t"], "Open test report of pipeline", |pane: &mut Self, cx| {
            if let Some(id) = pane.pipeline_here(&cx.view) {
                cx.go(pipelines::tests(&pane.project, id));
            }
        })
        .when(|pane, view| {
            list::need(pane.pipeline_here(view), &pane.rows(view), "no job of a pipeline is selected").map(|_| ())
        }),
        Command::new("jobs.commit", &["S"], "Open commit", |pane: &mut Self, cx| {
            if let Some(commit) = pane.current(&cx.view).and_then(|job| job.commit.as_ref()) {
                cx.go(Place::new("commit").project(pane.project.clone()).item(&commit.id));
            }
        })
        .when(|pane, view| {
            let commit = pane.current(view).and_then(|job| job.commit.as_ref());
            commit.map(|_| ()).ok_or_else(|| "its commit is unknown".into())
        }),
    ];

    fn open(place: &Place, view: &View) -> Self {
        let project = place.project.clone().unwrap_or_default();
        let filter = place.query.as_deref().unwrap_or_default();
        let tab = place.tab.as_deref().and_then(|tab| TITLES.iter().position(|t| t.eq_ignore_ascii_case(tab)));
        Jobs {
            query: JobQuery::read(filter, &project, view),
            project,
            pipeline: place.item.as_deref().and_then(|id| id.parse().ok()),
            tab: tab.unwrap_or(0),
            list: Listing::with_filter(filter),
            lines: Lines::default(),
            board: Board::default(),
            panels: Panels::new(2),
            synced_job: None,
        }
    }

    fn place(&self) -> Place {
        let mut place = Place::new(Self::ID).project(self.project.clone());
        place.item = self.pipeline.map(|id| id.to_string());
        place = place.query(self.list.filter_text());
        place.tab = TITLES.get(self.tab).filter(|_| self.tab > 0).map(|title| title.to_lowercase());
        place
    }

    fn breadcrumbs(&self, view: &View) -> Vec<Breadcrumb> {
        let mut breadcrumbs = project::breadcrumbs(view, &self.project);
        let rows = self.rows(view);
        match self.pipeline {
            Some(id) => {
                breadcrumbs.push(Breadcrumb::new(format!("pipeline {id}"), Role::Title));
                if let Some(brief) = rows.get(0).and_then(|job| job.pipeline.as_ref()) {
                    let (status, role) = glyph::labeled(brief.status.as_str());
                    breadcrumbs.push(breadcrumbs::git_ref(&self.project, &brief.r#ref));
                    breadcrumbs.push(Breadcrumb::new(status, role));
                }
            }
            None => breadcrumbs.push(Breadcrumb::new("jobs", Role::Title)),
        }
        let (text, count) = (self.list.filter_text(), self.list.count(&rows));
        let grammar = job_query::grammar(&self.project);
        breadcrumbs.extend(query_list::breadcrumbs(text, count, &grammar, view));
        if !self.list.state.marked().is_empty() {
            breadcrumbs.push(Breadcrumb::new(format!("{} marked", self.list.state.marked().len()), Role::Warning));
        }
        breadcrumbs
    }

    fn wants(&self, view: &View) -> Vec<Want> {
        let mut wants = vec![self.load(self.list.pages()).into()];
        wants.extend(ci::want_path(&self.project));
        let is_live = self.lines.last_live.is_some();
        if let Some(id) = self.pipeline {
            wants.extend(pipeline_head::wants(view, &self.project, id, is_live));
            wants.extend(pipelines::want_triggers(view, &self.triggers(id), is_live));
        }
        // The pages up to the last live job are polled; without live jobs, nothing is.
        if let Some(row) = self.lines.last_live {
            // All pages but the last are of the same size, so this is the page of the row or the one after it.
            let rows = self.rows(view);
            let before = row * rows.pages() as usize / rows.len().max(1);
            wants.push(self.load(before as u32 + 1).refresh_after(POLL_INTERVAL).into());
        }
        if self.shows_board(view)
            && let Some(query) = self.board.query(&self.project)
        {
            let load = Load::list(&query, 1).after(Duration::from_millis(120));
            wants.push(if self.board.live { load.refresh_after(POLL_INTERVAL).into() } else { load.into() });
            let triggers = self.board.triggers(&self.project);
            wants.extend(triggers.and_then(|list| pipelines::want_triggers(view, &list, self.board.live)));
            wants
                .extend(self.history().map(|history| Load::list(&history, 1).after(Duration::from_millis(120)).into()));
        }
        wants
    }

    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        self.board.hide();
        self.list.drawn_at(Rect::default());
        let area = match self.pipeline {
            Some(id) => pipeline_head::draw(view, area, buf, &self.project, id),
            None => area,
        };
        if view.size.0 < WIDE {
            // On a narrow screen one panel takes the whole width. The layout is still computed so that no divider
            // reacts to the mouse.
            self.panels.layout(Rect { width: 1, ..area }, &[]);
            match self.panels.focus() {
                BOARD => self.board.draw(view, area, buf, &self.project, true),
                _ => self.draw_list(view, area, buf),
            }
            return;
        }
        let slots =
            self.panels.layout(area, &[PanelRequest { min: 60, weight: 1 }, PanelRequest { min: 44, weight: 1 }]);
        if let Some(area) = slots.get(LIST).copied().flatten() {
            let body = panels::title(buf, area, view.theme, !self.board_focused(), "Jobs", "");
            self.draw_list(view, body, buf);
        }
        if let Some(area) = slots.get(BOARD).copied().flatten() {
            self.board.draw(view, area, buf, &self.project, self.board_focused());
        }
        self.panels.draw_dividers(buf, view.theme);
    }

    fn changed(&mut self, cx: &mut Cx) {
        let rows = self.rows(&cx.view);
        self.list.filter_loaded(&rows);
        self.lines.refresh(&rows, &self.query);
        let words = if self.query.is_whole() { String::new() } else { self.list.filter_text().to_owned() };
        self.list.arrange(&rows, &words, || self.lines.arranged());
        if self.board_focused() {
            self.sync_panels(&cx.view);
        }
        self.list.sync(&rows, |job| job.id.to_string());
        if !self.board_focused() {
            self.sync_panels(&cx.view);
        }
        self.board.refresh(&cx.view, &self.project);
        let rows = self.history().map_or_else(|| self.rows(&cx.view), |history| cx.view.store.list(&history));
        self.board.read_history(&cx.view, &self.project, &rows);
    }

    fn motion(&mut self, motion: Motion, cx: &mut Cx) {
        if self.board_focused() {
            if !self.board.motion(motion) && motion == Motion::Left {
                self.panels.set_focus(LIST);
            }
            return;
        }
        match motion {
            Motion::Right if cx.view.size.0 >= WIDE => self.panels.set_focus(BOARD),
            Motion::Right => self.enter(cx),
            Motion::Left => {}
            other => self.list.motion(other, self.list.len(&self.rows(&cx.view))),
        }
    }

    fn pointer(&mut self, pointer: Pointer, cx: &mut Cx) {
        let (Pointer::Press { column, row, .. } | Pointer::Wheel { column, row, .. }) = pointer else { return };
        let is_press = matches!(pointer, Pointer::Press { .. });
        let opens = if is_press && self.board.press(column, row) {
            self.panels.set_focus(BOARD);
            matches!(pointer, Pointer::Press { double: true, .. })
        } else if self.list.contains(column, row) {
            // The wheel scrolls the list without changing the focus.
            self.panels.set_focus(if is_press { LIST } else { self.panels.focus() });
            self.list.pointer(pointer, self.list.len(&self.rows(&cx.view)))
        } else {
            false
        };
        if opens {
            self.enter(cx);
        }
    }

    fn panels(&mut self) -> Option<&mut Panels> {
        Some(&mut self.panels)
    }

    fn tabs(&self) -> Tabs {
        Tabs { titles: TITLES, selected: self.tab }
    }

    fn select_tab(&mut self, index: usize, _cx: &mut Cx) {
        if index < TITLES.len() && index != self.tab {
            self.tab = index;
            self.list.restart();
            self.synced_job = None;
        }
    }

    fn search_mode(&self) -> Option<SearchMode> {
        Some(SearchMode::Filter)
    }

    fn filter_text(&self) -> String {
        self.list.filter_text().to_owned()
    }

    fn set_filter_text(&mut self, text: &str, cx: &mut Cx) {
        let here = self.list.selected(&self.rows(&cx.view)).map(|job| job.id.to_string());
        self.list.set_filter(text, here);
        self.query = JobQuery::read(text, &self.project, &cx.view);
        // Each typed character changes the matching jobs, so the board shows the first one. When the filter is cleared,
        // the cursor stays.
        if !text.is_empty() {
            self.synced_job = None;
        }
    }

    fn grammar(&self) -> Option<Grammar> {
        Some(job_query::grammar(&self.project))
    }

    fn answer(&mut self, answer: Answer, cx: &mut Cx) {
        if let Ok(confirmed) = answer.take::<Confirmed>() {
            confirmed.send(cx);
            self.list.state.clear_marks();
        }
    }

    fn escape(&mut self, cx: &mut Cx) -> bool {
        if self.list.state.clear_marks() {
            return true;
        }
        let is_filtered = !self.list.filter_text().is_empty();
        self.set_filter_text("", cx);
        is_filtered || self.panels.return_to(LIST)
    }

    fn url(&self, view: &View) -> Option<String> {
        Some(ci::url(view, &self.project, self.current(view)?))
    }

    fn copies(&self, view: &View) -> Vec<(&'static str, String)> {
        let Some(job) = self.current(view) else { return Vec::new() };
        let mut copies = vec![("job name", job.name.clone()), ("job number", job.id.to_string())];
        copies.push(("ref", job.r#ref.clone()));
        if let Some(commit) = &job.commit {
            copies.push(("SHA", commit.id.clone()));
        }
        copies
    }

    fn ticks(&self, _view: &View) -> bool {
        self.lines.running
    }
}
