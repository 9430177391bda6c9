//! A job: its live trace with folding, search and error navigation, and a panel with its facts.

use crate::api::Id;
use crate::api::jobs::{Job, ListJobs};
use crate::api::pipelines::resources::Status;
use crate::app::action::Action;
use crate::app::clip::Clip;
use crate::app::command::{Command, Table};
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::motion::Motion;
use crate::app::pane::{Breadcrumb, Pane, PaneKind};
use crate::app::place::Place;
use crate::app::pointer::Pointer;
use crate::app::tone::Tone;
use crate::app::view::View;
use crate::parts::breadcrumbs;
use crate::parts::ci::deployments;
use crate::parts::ci::job_commands::ShowsJob;
use crate::parts::ci::job_details;
use crate::parts::ci::trace::Viewer;
use crate::parts::ci::trace::keys::ShowsTrace;
use crate::parts::ci::{self, JobAction, POLL_INTERVAL};
use crate::parts::project;
use crate::store::{Load, Want};
use crate::ui::doc::{self, DocState};
use crate::ui::drawn::Drawn;
use crate::ui::panels::{self, PanelRequest, Panels};
use crate::ui::theme::Role;
use crate::ui::{glyph, state};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// The minimum screen width in columns to show the facts beside the trace.
const WIDE: u16 = 140;
const TRACE: usize = 0;
const DETAILS: usize = 1;
/// An upper bound of the number of facts; drawing stops at the last one.
const MAX_FACTS: usize = 200;

/// A job and its trace.
pub struct JobTrace {
    trace: Viewer,
    panels: Panels,
    facts: DocState,
    /// The area of the details.
    details: Drawn<Rect>,
}

impl JobTrace {
    /// Returns the query for successful jobs of the project, whose durations are compared.
    fn history(&self) -> ListJobs {
        ListJobs { id: self.trace.project.clone(), scope: Some(vec![Status::Success.as_str().to_owned()]) }
    }

    fn job_place(&self, id: u64) -> Place {
        Place::new(Self::ID).project(self.trace.project.clone()).item(id)
    }

    /// Replaces the pane by the next or previous job of the pipeline.
    fn sibling(&mut self, forward: bool, cx: &mut Cx) {
        let Some(rows) = self.trace.siblings(&cx.view) else { return };
        let ids: Vec<u64> =
            ci::stages(rows.iter().enumerate()).into_iter().flat_map(|s| s.jobs).map(|slot| slot.id).collect();
        let here = ids.iter().position(|id| *id == self.trace.id);
        let next = here.and_then(|at| if forward { at.checked_add(1) } else { at.checked_sub(1) });
        match next.and_then(|at| ids.get(at)) {
            Some(id) => cx.act(Action::Replace(self.job_place(*id))),
            None if ids.is_empty() => cx.say(Tone::Info, "The other jobs of this pipeline have not loaded yet."),
            None => cx.say(Tone::Info, if forward { "This is the last job." } else { "This is the first job." }),
        }
    }

    /// Returns this job and the other jobs of its pipeline to watch with it: the running ones, else those that have
    /// run.
    fn jobs_to_watch(&self, view: &View) -> Vec<u64> {
        let mut ids = vec![self.trace.id];
        let Some(rows) = self.trace.siblings(view) else { return ids };
        let runs = |job: &&Job| job.status.is_running();
        let ran = |job: &&Job| job.started_at.is_some() && job.erased_at.is_none();
        let others = |ids: &[u64], fits: &dyn Fn(&&Job) -> bool| -> Vec<u64> {
            rows.iter().filter(fits).map(|job| job.id).filter(|id| !ids.contains(id)).collect()
        };
        ids.extend(others(&ids, &runs));
        if ids.len() == 1 {
            ids.extend(others(&ids, &ran));
        }
        ids.truncate(ci::MAX_TRACES);
        ids
    }

    // ---- drawing

    fn draw_trace(&self, view: &View, area: Rect, buf: &mut Buffer, focused: bool) {
        let again = self.trace.newer_words(view).map(|words| (words, Role::Warning));
        self.trace.draw(view, area, buf, focused, again);
    }

    fn draw_facts(&self, view: &View, area: Rect, buf: &mut Buffer, focused: bool) {
        self.details.set(area);
        let Some(job) = self.trace.job(view) else { return state::skeleton(buf, area, view.theme) };
        let query = self.trace.siblings_query(job).unwrap_or_default();
        let before = ci::earlier_durations(view.store.list(&self.history()).iter(), job, view.now);
        let width = usize::from(area.width.saturating_sub(3));
        let siblings = view.store.list(&query);
        let waits = self.trace.waits(view, job);
        let lines = job_details::lines(view, width, job, waits, Some(&siblings), &before);
        doc::draw(buf, area, view.theme, focused, &self.facts, lines.len(), 0, &|at| {
            lines.get(at).cloned().unwrap_or_default()
        });
    }
}

impl ShowsTrace for JobTrace {
    fn viewer(&self) -> Result<&Viewer, Disabled> {
        Ok(&self.trace)
    }

    fn viewer_mut(&mut self) -> Option<&mut Viewer> {
        Some(&mut self.trace)
    }

    fn show_run(&mut self, id: u64, cx: &mut Cx) {
        cx.act(Action::Replace(self.job_place(id)));
    }
}

impl ShowsJob for JobTrace {
    fn job<'a>(&self, view: &View<'a>) -> Result<(Id, &'a Job), Disabled> {
        let job = self.trace.job(view).ok_or("the job has not loaded yet")?;
        Ok((self.trace.project.clone(), job))
    }

    fn before(&mut self, action: JobAction, cx: &Cx) -> Option<Action> {
        match action {
            JobAction::Retry => self.trace.retry_requested(&cx.view),
            // An action other than retry keeps the pane on this run.
            _ => self.trace.cancel_retry_switch(),
        }
        None
    }
}

const OPEN: Table<JobTrace> = &[
    Command::new("job.open", &["Enter"], "Open or fold selection", |pane: &mut JobTrace, cx| pane.trace.enter(cx))
        .footer("open")
        .when(|pane, view| pane.trace.can_enter(view)),
    Command::new("job.compare", &["d"], "Compare with last success", |pane: &mut JobTrace, cx| {
        pane.trace.toggle_comparison(cx);
    })
    .footer("compare")
    .when(|pane, view| pane.trace.need_comparison(view)),
];

impl PaneKind for JobTrace {
    const ID: &'static str = "job";
    const TABLES: &'static [Table<Self>] = &[Self::ERRORS, OPEN, Self::TRACE, Self::WATCH, Self::COMMANDS, Self::JOB];
    const COMMANDS: Table<Self> = &[
        Command::new("job.traces", &["|"], "Watch running jobs side by side", |pane: &mut Self, cx| {
            let ids = pane.jobs_to_watch(&cx.view);
            cx.go(ci::traces(&pane.trace.project, ids.into_iter()));
        })
        .when(|pane, view| match pane.jobs_to_watch(view).len() {
            0 | 1 if pane.trace.job(view).is_none() => Err("the job has not loaded yet".into()),
            0 | 1 => Err("no other job of this pipeline has a trace".into()),
            _ => Ok(()),
        }),
        Command::new("job.next", &["]"], "Next job in pipeline", |pane: &mut Self, cx| pane.sibling(true, cx)),
        Command::new("job.previous", &["["], "Previous job in pipeline", |pane: &mut Self, cx| {
            pane.sibling(false, cx);
        })
        .footer("job"),
        Command::new("job.deployment", &["D"], "Open blocked deployment", |pane: &mut Self, cx| {
            let job = pane.trace.job(&cx.view);
            if let Some(blocked) = job.and_then(|job| deployments::blocked(&cx.view, &pane.trace.project, job)) {
                cx.go(deployments::place(&pane.trace.project, blocked));
            }
        })
        .when(|pane, view| {
            let job = pane.trace.job(view).ok_or("the job has not loaded yet")?;
            let blocked = deployments::blocked(view, &pane.trace.project, job);
            blocked.map(|_| ()).ok_or_else(|| "no deployment of this job waits for approval".into())
        }),
        Command::new("job.pipeline", &["p"], "Go to pipeline", |pane: &mut Self, cx| {
            if let Some(pipeline) = pane.trace.job(&cx.view).and_then(|job| job.pipeline.as_ref()) {
                cx.go(Place::new("jobs").project(pane.trace.project.clone()).item(pipeline.id));
            }
        })
        .when(|pane, view| {
            let job = pane.trace.job(view).ok_or("the job has not loaded yet")?;
            job.pipeline.as_ref().map(|_| ()).ok_or_else(|| "it has no pipeline".into())
        }),
    ];

    fn is_own(&self, view: &View) -> bool {
        self.trace.job(view).is_some_and(|job| ci::is_own(view, &self.trace.project, job))
    }

    fn open(place: &Place, _view: &View) -> Self {
        let id = place.item.as_deref().and_then(|id| id.parse().ok()).unwrap_or_default();
        let mut trace = Viewer::new(place.project.clone().unwrap_or_default(), id);
        if let Some(line) = place.line {
            trace.open_at(line as usize);
        }
        if place.tab.as_deref() == Some(ci::COMPARISON) {
            trace.start_comparison();
        }
        JobTrace {
            trace,
            panels: Panels::new(2),
            facts: DocState { cursor_line: false, ..DocState::new() },
            details: Drawn::default(),
        }
    }
}

impl Pane for JobTrace {
    fn focused(&self) -> Option<&dyn Pane> {
        Some(&self.trace)
    }

    fn focused_mut(&mut self) -> Option<&mut dyn Pane> {
        Some(&mut self.trace)
    }

    fn place(&self) -> Place {
        let place = self.job_place(self.trace.id);
        if self.trace.is_compared() { place.tab(ci::COMPARISON) } else { place }
    }

    fn breadcrumbs(&self, view: &View) -> Vec<Breadcrumb> {
        let mut breadcrumbs = project::breadcrumbs(view, &self.trace.project);
        let Some(job) = self.trace.job(view) else {
            breadcrumbs.push(Breadcrumb::new(format!("#{}", self.trace.id), Role::Title));
            return breadcrumbs;
        };
        breadcrumbs.push(Breadcrumb::new(format!("#{} {}", job.id, job.name), Role::Title));
        let (sign, role) = ci::sign(job);
        let duration = ci::duration(job, view.now);
        breadcrumbs.push(match self.trace.lost_reason(view) {
            Some(word) => Breadcrumb::new(format!("{} {word}", glyph::status_glyph("failed").0), Role::Failed),
            None => {
                let (sign, word) = (glyph::or_word(sign, ""), ci::status_word(&job.status));
                Breadcrumb::new(format!("{sign} {word} {duration}").trim_end(), role)
            }
        });
        if let Some(runner) = &job.runner {
            breadcrumbs.push(Breadcrumb::new(format!("runner {}", runner.label()), Role::Dim));
        }
        breadcrumbs.extend(job.git_ref().map(|name| breadcrumbs::git_ref(&self.trace.project, &name)));
        let sha = Breadcrumb::new(ci::short_sha(job), Role::Dim);
        breadcrumbs.push(match &job.commit {
            Some(commit) => sha.to(Place::new("commit").project(self.trace.project.clone()).item(&commit.id)),
            None => sha,
        });
        breadcrumbs
    }

    fn wants(&self, view: &View) -> Vec<Want> {
        let mut wants = self.trace.wants(view);
        let Some(job) = self.trace.job(view) else { return wants };
        wants.extend(ci::environment_wants(view, &self.trace.project, [job]));
        if let Some(query) = self.trace.siblings_query(job) {
            let facts = self.panels.focus() == DETAILS || view.size.0 >= WIDE && !self.panels.zoomed();
            let live = view.store.list(&query).iter().any(ci::may_change);
            let load = Load::list(&query, 1);
            wants.extend(ci::want_path(&self.trace.project));
            if facts {
                wants.push(Load::list(&self.history(), 1).into());
            }
            wants.push(load.refresh_after((facts && live).then_some(POLL_INTERVAL * 2)).into());
        }
        wants
    }

    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        self.trace.hide();
        self.details.set(Rect::default());
        if view.size.0 < WIDE {
            self.panels.layout(Rect { width: 1, ..area }, &[]);
            match self.panels.focus() {
                DETAILS => {
                    let hint = view.with_keys("‹panel.next› shows the trace");
                    let body = panels::title(buf, area, view.theme, true, "Details", &hint);
                    self.draw_facts(view, body, buf, true);
                }
                _ => self.draw_trace(view, area, buf, true),
            }
            return;
        }
        let slots =
            self.panels.layout(area, &[PanelRequest { min: 80, weight: 7 }, PanelRequest { min: 42, weight: 3 }]);
        let focus = self.panels.focus();
        if let Some(area) = slots.get(TRACE).copied().flatten() {
            let body = panels::title(buf, area, view.theme, focus == TRACE, "Trace", "");
            self.draw_trace(view, body, buf, focus == TRACE);
        }
        if let Some(area) = slots.get(DETAILS).copied().flatten() {
            let body = panels::title(buf, area, view.theme, focus == DETAILS, "Details", "");
            self.draw_facts(view, body, buf, focus == DETAILS);
        }
        self.panels.draw_dividers(buf, view.theme);
    }

    fn changed(&mut self, cx: &mut Cx) {
        let view = cx.view;
        if let Some(id) = self.trace.take_retried_run(&view) {
            return cx.act(Action::Replace(self.job_place(id)));
        }
        self.trace.changed(cx);
    }

    fn motion(&mut self, motion: Motion, cx: &mut Cx) {
        if self.panels.focus() == DETAILS {
            let by = motion.rows(self.facts.height()).unwrap_or_default();
            return self.facts.scroll_by(by, MAX_FACTS);
        }
        self.trace.motion(motion, cx);
    }

    fn pointer(&mut self, pointer: Pointer, cx: &mut Cx) {
        let is_on_details = |column: u16, row: u16| self.details.get().contains((column, row).into());
        match pointer {
            // The wheel scrolls what is under the pointer without changing the focus.
            Pointer::Wheel { column, row, rows } if is_on_details(column, row) => {
                self.facts.scroll_by(rows.into(), MAX_FACTS);
            }
            Pointer::Wheel { column, row, rows } if self.trace.contains(column, row) => {
                self.trace.motion(Motion::Wheel(rows), cx);
            }
            Pointer::Wheel { rows, .. } => self.motion(Motion::Wheel(rows), cx),
            Pointer::Press { column, row, .. } if is_on_details(column, row) => self.panels.set_focus(DETAILS),
            press => {
                if self.trace.press(press, cx) {
                    self.panels.set_focus(TRACE);
                }
            }
        }
    }

    fn panels(&mut self) -> Option<&mut Panels> {
        Some(&mut self.panels)
    }

    fn escape(&mut self, cx: &mut Cx) -> bool {
        if self.trace.escape(cx) {
            return true;
        }
        // On a narrow screen, the details cover the trace.
        let over = self.panels.focus() == DETAILS && cx.view.size.0 < WIDE;
        if over {
            self.panels.set_focus(TRACE);
        }
        over
    }

    fn copies(&self, view: &View) -> Vec<Clip> {
        let mut copies: Vec<Clip> = self.trace.copied(view).into_iter().collect();
        if let Some(job) = self.trace.job(view) {
            copies.push(Clip::line("job number", job.id.to_string()));
            if let Some(commit) = &job.commit {
                copies.push(Clip::line("SHA", commit.id.clone()));
            }
        }
        copies
    }
}
