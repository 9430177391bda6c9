//! A job: its trace as it is written, with folds, search and errors, and its facts beside it.

mod details;
mod work;

use super::ci::{self, Deed, PULSE};
use super::crumbs;
use super::list::failure;
use super::project;
use crate::api::jobs::{GetJob, GetTrace, Job, ListPipelineJobs, Status};
use crate::api::{Endpoint, Id, Request};
use crate::app::action::{Action, Tone};
use crate::app::command::{Command, Motion, WhyNot};
use crate::app::pane::{Crumb, Cx, Needs, Pane, Pointer, Seek, View};
use crate::app::place::Place;
use crate::store::{Follow, Load, Remote, Rows, Value, Want, Work};
use crate::ui::doc::{self, DocState, SIDEWAYS};
use crate::ui::panels::{self, Ask, Panels};
use crate::ui::search::Found;
use crate::ui::theme::Role;
use crate::ui::trace::{Folds, Layout, Trace};
use crate::ui::{glyph, line, state, text};
use jiff::Timestamp;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use std::cell::Cell;
use work::{ErrorLines, Errors, Search, errors_key, search_key};

/// Seconds within which a new run is taken for the one that was asked for.
const AGAIN: i64 = 60;
/// From this many columns the facts stand beside the trace.
const WIDE: u16 = 140;
const TRACE: usize = 0;
const DETAILS: usize = 1;

/// Where to go as soon as what it takes is worked out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Jump {
    /// The first match from a line on.
    Match(usize),
    /// The next or the previous error.
    Error(bool),
    /// What a person wants to see of a job that failed.
    Failure,
    /// Nowhere: all sections are folded but the one that failed.
    Fold,
}

/// A job and its trace.
pub struct JobTrace {
    project: Id,
    id: u64,
    doc: DocState,
    folds: Folds,
    folded: bool,
    times: bool,
    query: String,
    /// The trace that the matches on the screen were found in.
    found_in: String,
    current: usize,
    jump: Option<Jump>,
    /// Whether the part of the trace to open at was chosen.
    opened: bool,
    /// Lines that were there when following stopped.
    seen: usize,
    /// It was asked to run again: the highest run that was known then. A later one is shown when it is there.
    again: Option<(u64, Timestamp)>,
    panels: Panels,
    facts: DocState,
    area: Cell<Rect>,
}

fn is_over(value: &Value) -> bool {
    value.downcast_ref::<Job>().is_some_and(|job| job.status.is_finished())
}

impl JobTrace {
    fn query_job(&self) -> GetJob {
        GetJob { id: self.project.clone(), job_id: self.id }
    }

    fn request(&self) -> Request {
        GetTrace { id: self.project.clone(), job_id: self.id }.request()
    }

    fn remote<'a>(&self, view: &View<'a>) -> Remote<'a, Job> {
        view.store.get(&self.query_job())
    }

    fn job<'a>(&self, view: &View<'a>) -> Option<&'a Job> {
        self.remote(view).value
    }

    fn trace<'a>(&self, view: &View<'a>) -> Option<&'a Trace> {
        view.store.growing::<Trace>(&self.request()).map(|growing| growing.sink)
    }

    fn siblings_query(&self, job: &Job) -> Option<ListPipelineJobs> {
        let pipeline_id = job.pipeline.as_ref()?.id;
        Some(ListPipelineJobs { id: self.project.clone(), pipeline_id, scope: None })
    }

    fn siblings<'a>(&self, view: &View<'a>) -> Option<Rows<'a, Job>> {
        Some(view.store.list(&self.siblings_query(self.job(view)?)?))
    }

    /// Whether there can be a trace worth asking for.
    fn has_trace(&self, view: &View, job: &Job) -> bool {
        let written = job.status.is_running() || job.status.is_finished() && job.status != Status::Skipped;
        job.erased_at.is_none() && (written || self.trace(view).is_some_and(|trace| trace.len_lines() > 0))
    }

    /// Names the trace as far as it is known.
    fn identity(&self, trace: &Trace) -> String {
        format!("{}/{} {}", self.project, self.id, trace.bytes_len())
    }

    fn rows(&self, view: &View) -> usize {
        self.trace(view).map_or(0, |trace| self.folds.rows(trace))
    }

    /// The line under the cursor.
    fn line(&self, view: &View) -> usize {
        self.folds.line(self.doc.at(self.rows(view)))
    }

    fn found<'a>(&self, view: &View<'a>) -> Option<&'a Found> {
        view.store.made(&search_key(&self.found_in, &self.query)).filter(|_| !self.query.is_empty())
    }

    fn goto(&mut self, trace: &Trace, line: usize) {
        self.folds.reveal(trace, line);
        self.doc.goto(self.folds.row(line), self.folds.rows(trace));
    }

    fn show_match(&mut self, trace: &Trace, found: &Found, index: usize) {
        let Some(hit) = found.matches.get(index) else { return };
        self.current = index;
        self.goto(trace, hit.line);
        if let Some(words) = trace.text(hit.line) {
            self.doc.show_columns(text::columns(&words, hit.range.clone()));
        }
    }

    fn can(&self, view: &View, deed: Deed) -> Result<(), WhyNot> {
        deed.can(self.job(view).ok_or("the job is not known yet")?)
    }

    fn deed(&mut self, deed: Deed, cx: &mut Cx) {
        if let Some(job) = self.job(&cx.view) {
            self.again = (deed == Deed::Retry).then(|| (self.newer(&cx.view).unwrap_or(self.id), cx.view.now));
            deed.to(&self.project, &[job], cx);
        }
    }

    fn sections(&self, view: &View) -> Result<(), WhyNot> {
        let some = self.trace(view).is_some_and(|trace| !trace.sections().is_empty());
        if some { Ok(()) } else { Err("this trace has no sections".into()) }
    }

    fn written(&self, view: &View) -> Result<(), WhyNot> {
        if self.rows(view) > 0 { Ok(()) } else { Err("there is no trace yet".into()) }
    }

    fn toggle(&mut self, cx: &mut Cx) {
        let line = self.line(&cx.view);
        if let Some(trace) = self.trace(&cx.view) {
            match self.folds.toggle(trace, line) {
                Some(heading) => self.doc.goto(self.folds.row(heading), self.folds.rows(trace)),
                None => cx.say(Tone::Info, "This line is in no section."),
            }
        }
    }

    fn section(&mut self, forward: bool, cx: &mut Cx) {
        let at = self.line(&cx.view);
        let Some(trace) = self.trace(&cx.view) else { return };
        let mut lines = trace.sections().iter().map(|section| section.line);
        let next = if forward { lines.find(|line| *line > at) } else { lines.rfind(|line| *line < at) };
        match next {
            Some(line) => self.goto(trace, line),
            None => cx.say(Tone::Info, if forward { "No section below." } else { "No section above." }),
        }
    }

    fn follow(&mut self, cx: &mut Cx) {
        let rows = self.rows(&cx.view);
        if self.doc.follow {
            self.doc.goto(rows.saturating_sub(1), rows);
        } else {
            self.doc.follow = true;
        }
    }

    fn fold(&mut self, cx: &mut Cx) {
        if !self.folded {
            self.jump = Some(Jump::Fold);
        } else if let Some(trace) = self.trace(&cx.view) {
            let line = self.line(&cx.view);
            self.folds.set_all(trace, false);
            self.folded = false;
            self.goto(trace, line);
        }
    }

    /// The job before or after this one in its pipeline.
    fn sibling(&mut self, forward: bool, cx: &mut Cx) {
        let Some(rows) = self.siblings(&cx.view) else { return };
        let ids: Vec<u64> =
            ci::stages(rows.iter().enumerate()).into_iter().flat_map(|s| s.jobs).map(|slot| slot.id).collect();
        let here = ids.iter().position(|id| *id == self.id);
        let next = here.and_then(|at| if forward { at.checked_add(1) } else { at.checked_sub(1) });
        match next.and_then(|at| ids.get(at)) {
            Some(id) => cx.act(Action::Replace(Place::new("job").project(self.project.clone()).item(id))),
            None if ids.is_empty() => cx.say(Tone::Info, "The other jobs of this pipeline are not known yet."),
            None => cx.say(Tone::Info, if forward { "This is the last job." } else { "This is the first job." }),
        }
    }

    /// A later run of the same job.
    fn newer(&self, view: &View) -> Option<u64> {
        let job = self.job(view)?;
        let rows = self.siblings(view)?;
        let later = rows.iter().filter(|other| other.name == job.name && other.stage == job.stage);
        later.map(|other| other.id).filter(|id| *id > self.id).max()
    }

    /// Goes where it was asked to go, once that is known.
    fn land(&mut self, cx: &mut Cx) {
        let view = cx.view;
        let (Some(jump), Some(trace)) = (self.jump, self.trace(&view)) else { return };
        if let Jump::Match(from) = jump {
            let Some(found) = view.store.made::<Found>(&search_key(&self.identity(trace), &self.query)) else { return };
            self.jump = None;
            let next = found.matches.partition_point(|hit| hit.line < from);
            let index = if next < found.matches.len() { next } else { 0 };
            self.show_match(trace, found, index);
            return;
        }
        let Some(errors) = view.store.made::<ErrorLines>(&errors_key(&self.identity(trace))) else { return };
        self.jump = None;
        let at = self.line(&view);
        match jump {
            Jump::Error(forward) => {
                let lines = &errors.lines;
                let next = if forward { lines.iter().find(|l| **l > at) } else { lines.iter().rfind(|l| **l < at) };
                match next {
                    Some(line) => self.goto(trace, *line),
                    None if lines.is_empty() => cx.say(Tone::Info, "No line here looks like an error."),
                    None => cx.say(Tone::Info, if forward { "No error below." } else { "No error above." }),
                }
            }
            Jump::Failure => match errors.failure {
                Some(line) => self.goto(trace, line),
                None => self.doc.follow = true,
            },
            Jump::Fold => {
                self.folds.set_all(trace, true);
                self.folded = true;
                match errors.failure {
                    Some(line) => self.goto(trace, line),
                    None => self.doc.goto(self.folds.row(at), self.folds.rows(trace)),
                }
            }
            Jump::Match(_) => {}
        }
    }

    // ---- drawing

    /// What stands where there is no trace.
    fn without(&self, view: &View, area: Rect, buf: &mut Buffer, job: &Job) {
        let theme = view.theme;
        let ago = |time: &crate::api::Time| super::list::ago(&super::list::age(view, Some(time)));
        let mut say = |why: &str, hint: &str| state::empty(buf, area, theme, why, hint);
        if let Some(at) = &job.erased_at {
            return say(&format!("The trace was erased {}.", ago(at)), "R runs the job again");
        }
        match &job.status {
            Status::Manual => say("This job is started by hand.", "P plays it"),
            Status::Created => say("This job waits for the stages before it.", "The trace appears here when it runs"),
            Status::Skipped => say("This job was skipped.", "An earlier job did not succeed; R there runs it again"),
            Status::Scheduled => say("This job starts after a delay.", "P plays it now"),
            status if status.is_live() && !status.is_running() => {
                let tags = job.tag_list.as_ref().filter(|tags| !tags.is_empty());
                let hint = match tags {
                    Some(tags) => format!("It needs one with the tags {}; g r shows the runners", tags.join(", ")),
                    None => "g r shows the runners; the trace appears here when one takes it".into(),
                };
                say("This job waits for a runner.", &hint);
            }
            _ => {
                let growing = view.store.growing::<Trace>(&self.request());
                let missing = |g: &crate::store::Growing<Trace>| g.error.is_some_and(|e| e.is_missing());
                match growing {
                    Some(g) if g.error.is_some() && !missing(&g) => {
                        if let Some(error) = g.error {
                            failure(view, area, buf, error);
                        }
                    }
                    Some(g) if g.over || missing(&g) => say("This job wrote nothing.", "R runs it again"),
                    Some(_) if job.status.is_running() => say("Nothing is written yet.", "It appears here as it comes"),
                    _ => state::skeleton(buf, area, theme),
                }
            }
        }
    }

    fn draw_trace(&self, view: &View, area: Rect, buf: &mut Buffer, focused: bool) {
        let remote = self.remote(view);
        let growing = view.store.growing::<Trace>(&self.request());
        let Some(job) = remote.value else {
            match remote.error {
                Some(error) => failure(view, area, buf, error),
                None => state::skeleton(buf, area, view.theme),
            }
            return;
        };
        let bar = Rect { y: area.bottom().saturating_sub(1), height: 1.min(area.height), ..area };
        let body = Rect { height: area.height.saturating_sub(1), ..area };
        let error = remote.error.or(growing.as_ref().and_then(|g| g.error).filter(|e| !e.is_missing()));
        let trace = growing.map(|g| g.sink).filter(|trace| trace.len_lines() > 0 && job.erased_at.is_none());
        let Some(trace) = trace else {
            let body = super::list::trouble(view, area, buf, remote.error);
            return self.without(view, body, buf, job);
        };
        let body = super::list::trouble(view, body, buf, error);
        self.area.set(body);
        self.bar(view, bar, buf, job, trace);
        let rows = self.folds.rows(trace);
        let numbers = trace.len_lines().max(100).to_string().len();
        let mut layout = Layout { numbers, times: self.times && trace.has_times(), width: 0 };
        layout.width = usize::from(body.width).saturating_sub(layout.gutter() + 2);
        let top = self.doc.window(rows, usize::from(body.height));
        let lines = trace.view(top..top + usize::from(body.height), &self.folds);
        let found = self.found(view);
        let here = found.and_then(|found| found.matches.get(self.current));
        doc::draw(buf, body, view.theme, focused, &self.doc, rows, layout.gutter() as u16, |row| {
            let Some(line) = row.checked_sub(top).and_then(|row| lines.get(row)) else {
                return doc::DocLine::default();
            };
            let marks: Vec<_> = found
                .map(|found| found.on(line.line))
                .unwrap_or_default()
                .iter()
                .map(|hit| (hit.range.clone(), if Some(hit) == here { Role::MatchCurrent } else { Role::Match }))
                .collect();
            line.draw(view.theme, &layout, &marks)
        });
    }

    fn bar(&self, view: &View, area: Rect, buf: &mut Buffer, job: &Job, trace: &Trace) {
        let theme = view.theme;
        let (dim, dot) = (theme.style(Role::Dim), format!(" {} ", glyph::dot()));
        let mut left: Vec<(String, Style)> = vec![(" ".into(), dim)];
        let fresh = trace.len_lines().saturating_sub(self.seen);
        if !job.status.is_finished() {
            match (self.doc.follow, fresh) {
                (true, _) => left.push(("following".into(), theme.style(Role::Running))),
                (false, 0) => left.push(("paused".into(), theme.style(Role::Warning))),
                (false, n) => left.push((
                    format!("paused, {n} new line{}", if n == 1 { "" } else { "s" }),
                    theme.style(Role::Warning),
                )),
            }
            left.push((dot.clone(), dim));
        }
        let lines = trace.len_lines() as u64;
        left.push((format!("{} lines{dot}{}", text::count(lines), text::bytes(trace.bytes_len())), dim));
        if let Some(id) = self.newer(view) {
            left.push((format!("{dot}run again as #{id}"), theme.style(Role::Warning)));
        }
        let mut right: Vec<(String, Style)> = Vec::new();
        if !self.query.is_empty() {
            let words = text::fit(&self.query, 24);
            right.push((format!("/{words} "), theme.style(Role::Match)));
            right.push(match self.found(view) {
                Some(found) if found.matches.is_empty() => (" nothing found ".into(), theme.style(Role::Warning)),
                Some(found) => {
                    let more = if found.capped { "+" } else { "" };
                    (format!(" {} of {}{more} ", self.current + 1, found.matches.len()), dim)
                }
                None => (" searching… ".into(), dim),
            });
        } else if matches!(self.jump, Some(Jump::Error(_) | Jump::Fold)) {
            right.push((" looking for errors… ".into(), dim));
        }
        line::pair(buf, area, &left, &right);
    }

    fn draw_facts(&self, view: &View, area: Rect, buf: &mut Buffer, focused: bool) {
        let Some(job) = self.job(view) else { return state::skeleton(buf, area, view.theme) };
        let query = self.siblings_query(job).unwrap_or_default();
        let lines = details::lines(view, usize::from(area.width.saturating_sub(3)), job, &view.store.list(&query));
        doc::draw(buf, area, view.theme, focused, &self.facts, lines.len(), 0, |at| {
            lines.get(at).cloned().unwrap_or_default()
        });
    }
}

impl Pane for JobTrace {
    const ID: &'static str = "job";
    const TITLE: &'static str = "A job and its trace";
    const NEEDS: Needs = Needs::Item;
    const COMMANDS: &'static [Command<Self>] = &[
        Command::new("job.follow", &["f"], "Follow the end, or stop", |pane: &mut Self, cx| pane.follow(cx))
            .footer("follow")
            .when(|pane, view| match pane.job(view) {
                Some(job) if job.status.is_finished() => Err("the job has ended".into()),
                _ => pane.written(view),
            }),
        Command::new("job.next_error", &["e"], "Next error", |pane: &mut Self, _| {
            pane.jump = Some(Jump::Error(true));
        })
        .footer("error")
        .when(JobTrace::written),
        Command::new("job.previous_error", &["E"], "Previous error", |pane: &mut Self, _| {
            pane.jump = Some(Jump::Error(false));
        })
        .when(JobTrace::written),
        Command::new("job.toggle", &["Enter"], "Fold or unfold the section", |pane: &mut Self, cx| pane.toggle(cx))
            .footer("fold")
            .when(JobTrace::sections),
        Command::new(
            "job.fold",
            &["Z"],
            "Fold all sections but the failed one, or unfold all",
            |pane: &mut Self, cx| {
                pane.fold(cx);
            },
        )
        .when(JobTrace::sections),
        Command::new("job.next_section", &["}"], "Next section", |pane: &mut Self, cx| pane.section(true, cx))
            .when(JobTrace::sections),
        Command::new("job.previous_section", &["{"], "Previous section", |pane: &mut Self, cx| pane.section(false, cx))
            .when(JobTrace::sections),
        Command::new("job.times", &["T"], "Show or hide the time of each line", |pane: &mut Self, _| {
            pane.times = !pane.times;
        })
        .when(|pane, view| {
            let times = pane.trace(view).is_some_and(Trace::has_times);
            if times { Ok(()) } else { Err("this trace has no times".into()) }
        }),
        Command::new("job.next", &["]"], "Next job of the pipeline", |pane: &mut Self, cx| pane.sibling(true, cx)),
        Command::new("job.previous", &["["], "Previous job of the pipeline", |pane: &mut Self, cx| {
            pane.sibling(false, cx);
        })
        .footer("job"),
        Command::new("job.retry", &["R"], "Run it again", |pane: &mut Self, cx| pane.deed(Deed::Retry, cx))
            .footer("retry")
            .writes()
            .when(|pane, view| pane.can(view, Deed::Retry)),
        Command::new("job.cancel", &["X"], "Cancel it", |pane: &mut Self, cx| pane.deed(Deed::Cancel, cx))
            .footer("cancel")
            .writes()
            .when(|pane, view| pane.can(view, Deed::Cancel)),
        Command::new("job.play", &["P"], "Play it", |pane: &mut Self, cx| pane.deed(Deed::Play, cx))
            .footer("play")
            .writes()
            .when(|pane, view| pane.can(view, Deed::Play)),
        Command::new("job.keep", &["K"], "Keep its artifacts for good", |pane: &mut Self, cx| {
            pane.deed(Deed::Keep, cx);
        })
        .writes()
        .when(|pane, view| pane.can(view, Deed::Keep)),
        Command::new("job.erase", &["Delete"], "Erase its trace and artifacts", |pane: &mut Self, cx| {
            pane.deed(Deed::Erase, cx);
        })
        .writes()
        .when(|pane, view| pane.can(view, Deed::Erase)),
        Command::new("job.commit", &["s"], "Show its commit", |pane: &mut Self, cx| {
            if let Some(commit) = pane.job(&cx.view).and_then(|job| job.commit.as_ref()) {
                cx.go(Place::new("commit").project(pane.project.clone()).item(&commit.id));
            }
        })
        .when(|pane, view| {
            let commit = pane.job(view).and_then(|job| job.commit.as_ref());
            commit.map(|_| ()).ok_or_else(|| "its commit is not known".into())
        }),
        Command::new("job.pipeline", &["p"], "Show its pipeline", |pane: &mut Self, cx| {
            if let Some(pipeline) = pane.job(&cx.view).and_then(|job| job.pipeline.as_ref()) {
                cx.go(Place::new("jobs").project(pane.project.clone()).item(pipeline.id));
            }
        })
        .when(|pane, view| {
            let pipeline = pane.job(view).and_then(|job| job.pipeline.as_ref());
            pipeline.map(|_| ()).ok_or_else(|| "it belongs to no pipeline".into())
        }),
    ];

    fn open(place: &Place, _view: &View) -> Self {
        JobTrace {
            project: place.project.clone().unwrap_or_default(),
            id: place.item.as_deref().and_then(|id| id.parse().ok()).unwrap_or_default(),
            doc: DocState::following(),
            folds: Folds::default(),
            folded: false,
            times: false,
            query: String::new(),
            found_in: String::new(),
            current: 0,
            jump: None,
            opened: false,
            seen: 0,
            again: None,
            panels: Panels::new(2),
            facts: DocState { cursor_line: false, ..DocState::new() },
            area: Cell::default(),
        }
    }

    fn place(&self) -> Place {
        Place::new(Self::ID).project(self.project.clone()).item(self.id)
    }

    fn crumbs(&self, view: &View) -> Vec<Crumb> {
        let mut crumbs = project::crumbs(view, &self.project);
        let Some(job) = self.job(view) else {
            crumbs.push(Crumb::new(format!("#{}", self.id), Role::Title));
            return crumbs;
        };
        crumbs.push(Crumb::new(format!("#{} {}", job.id, job.name), Role::Title));
        let (sign, role) = ci::sign(job);
        let took = ci::took(job, view.now);
        crumbs.push(Crumb::new(format!("{sign} {} {took}", ci::status_word(&job.status)).trim_end(), role));
        if let Some(runner) = &job.runner {
            crumbs.push(Crumb::new(format!("runner {}", runner.label()), Role::Dim));
        }
        if !job.r#ref.is_empty() {
            crumbs.push(crumbs::git_ref(&job.r#ref));
        }
        crumbs.push(Crumb::new(ci::short_sha(job), Role::Dim));
        crumbs
    }

    fn wants(&self, view: &View) -> Vec<Want> {
        let load = Load::one(&self.query_job());
        let Some(job) = self.job(view) else { return vec![load.into()] };
        // While it runs the stream brings its state; before that, and where the stream broke off, it must be asked for.
        let broken = view.store.growing::<Trace>(&self.request()).is_some_and(|g| g.error.is_some());
        let waits = ci::moves(job) && (broken || !job.status.is_running());
        let mut wants: Vec<Want> = vec![if waits { load.clone().every(PULSE).into() } else { load.clone().into() }];
        if self.has_trace(view, job) {
            let follow =
                Follow { request: self.request(), status: load, over: is_over, sink: || Box::<Trace>::default() };
            wants.push(follow.into());
        }
        if let Some(query) = self.siblings_query(job) {
            let facts = self.panels.focus() == DETAILS || view.size.0 >= WIDE && !self.panels.zoomed();
            let live = view.store.list(&query).iter().any(ci::moves);
            let load = Load::list(&query, 1);
            wants.extend(ci::want_path(&self.project));
            wants.push(if facts && live { load.every(PULSE * 2).into() } else { load.into() });
        }
        if let Some(trace) = self.trace(view) {
            let of = self.identity(trace);
            // Only what is not made yet: each of these holds a copy of the trace.
            if !self.query.is_empty() && view.store.lacks(&search_key(&of, &self.query)) {
                let search = Search { of: of.clone(), trace: trace.clone(), query: self.query.clone() };
                wants.push(Work::new(search).into());
            }
            let errors = matches!(self.jump, Some(Jump::Error(_) | Jump::Failure | Jump::Fold));
            if errors && view.store.lacks(&errors_key(&of)) {
                wants.push(Work::new(Errors { of, trace: trace.clone() }).into());
            }
        }
        wants
    }

    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        self.area.set(Rect::default());
        if area.width < WIDE {
            self.panels.layout(Rect { width: 1, ..area }, &[]);
            match self.panels.focus() {
                DETAILS => {
                    let body = panels::title(buf, area, view.theme, true, "details", "Tab shows the trace");
                    self.draw_facts(view, body, buf, true);
                }
                _ => self.draw_trace(view, area, buf, true),
            }
            return;
        }
        let slots = self.panels.layout(area, &[Ask { min: 80, weight: 7 }, Ask { min: 42, weight: 3 }]);
        let focus = self.panels.focus();
        if let Some(area) = slots.get(TRACE).copied().flatten() {
            let body = panels::title(buf, area, view.theme, focus == TRACE, "trace", "");
            self.draw_trace(view, body, buf, focus == TRACE);
        }
        if let Some(area) = slots.get(DETAILS).copied().flatten() {
            let body = panels::title(buf, area, view.theme, focus == DETAILS, "details", "");
            self.draw_facts(view, body, buf, focus == DETAILS);
        }
        self.panels.rules(buf, view.theme);
    }

    fn changed(&mut self, cx: &mut Cx) {
        let view = cx.view;
        // A retry that came to nothing must not lead away long after.
        self.again = self.again.filter(|(_, asked)| view.now.duration_since(*asked).as_secs() < AGAIN);
        if let Some((known, _)) = self.again
            && let Some(id) = self.newer(&view).filter(|id| *id > known)
        {
            self.again = None;
            return cx.act(Action::Replace(Place::new(Self::ID).project(self.project.clone()).item(id)));
        }
        let Some(job) = self.job(&view) else { return };
        let growing = view.store.growing::<Trace>(&self.request());
        if !self.opened && (!job.status.is_finished() || growing.as_ref().is_some_and(|g| g.over)) {
            self.opened = true;
            if job.status == Status::Failed {
                self.jump = Some(Jump::Failure);
            }
        }
        let Some(trace) = growing.map(|g| g.sink) else { return };
        self.folds.refresh(trace);
        if self.doc.follow || self.seen > trace.len_lines() {
            self.seen = trace.len_lines();
        }
        let of = self.identity(trace);
        if !self.query.is_empty() && !view.store.lacks(&search_key(&of, &self.query)) {
            self.found_in = of;
        }
        self.land(cx);
    }

    fn motion(&mut self, motion: Motion, cx: &mut Cx) {
        if self.panels.focus() == DETAILS {
            let by = motion.rows(self.facts.height.get()).unwrap_or_default();
            return self.facts.scroll_by(by, FACTS);
        }
        let len = self.rows(&cx.view);
        let live = self.job(&cx.view).is_some_and(|job| !job.status.is_finished());
        let doc = &mut self.doc;
        match motion {
            Motion::Up => doc.move_by(-1, len),
            Motion::Down => doc.move_by(1, len),
            Motion::Left => doc.left_by(-(SIDEWAYS as isize)),
            Motion::Right => doc.left_by(SIDEWAYS as isize),
            Motion::First => doc.first(),
            Motion::Last => {
                doc.last(len);
                // At the end of what grows one wants to see it grow.
                doc.follow = live;
            }
            Motion::HalfUp => doc.half_page_by(-1, len),
            Motion::HalfDown => doc.half_page_by(1, len),
            Motion::PageUp => doc.page_by(-1, len),
            Motion::PageDown => doc.page_by(1, len),
            Motion::Wheel(rows) => doc.scroll_by(rows.into(), len),
        }
    }

    fn pointer(&mut self, pointer: Pointer, cx: &mut Cx) {
        let area = self.area.get();
        match pointer {
            Pointer::Wheel { column, row, rows } => {
                let on_trace = area.contains((column, row).into());
                self.panels.set_focus(if on_trace || area.is_empty() { TRACE } else { DETAILS });
                self.motion(Motion::Wheel(rows), cx);
            }
            Pointer::Press { column, row, .. } if area.contains((column, row).into()) => {
                self.panels.set_focus(TRACE);
                let rows = self.rows(&cx.view);
                let Some(at) = self.doc.line_at(row - area.y, rows) else { return };
                self.doc.goto(at, rows);
                let line = self.folds.line(at);
                let heading = self.trace(&cx.view).is_some_and(|t| t.sections().iter().any(|s| s.line == line));
                if heading {
                    self.toggle(cx);
                }
            }
            Pointer::Press { .. } | Pointer::Drag { .. } | Pointer::Release => {}
        }
    }

    fn panels(&mut self) -> Option<&mut Panels> {
        Some(&mut self.panels)
    }

    fn seek(&self) -> Option<Seek> {
        Some(Seek::Search)
    }

    fn sought(&self) -> String {
        self.query.clone()
    }

    fn set_sought(&mut self, text: &str, cx: &mut Cx) {
        if self.query != text {
            let from = match self.jump {
                // While typing, the search goes on from where it began.
                Some(Jump::Match(from)) => from,
                _ => self.line(&cx.view),
            };
            self.query = text.to_owned();
            self.current = 0;
            self.jump = Some(Jump::Match(from)).filter(|_| !text.is_empty());
        }
    }

    fn seek_next(&mut self, forward: bool, cx: &mut Cx) {
        let at = self.line(&cx.view);
        let (Some(found), Some(trace)) = (self.found(&cx.view), self.trace(&cx.view)) else { return };
        let count = found.matches.len();
        if count == 0 {
            return;
        }
        let on_it = found.matches.get(self.current).is_some_and(|hit| hit.line == at);
        let index = match (on_it, forward) {
            (true, true) => self.current + 1,
            (true, false) => (self.current + count).saturating_sub(1),
            (false, true) => found.matches.partition_point(|hit| hit.line <= at),
            (false, false) => (found.matches.partition_point(|hit| hit.line < at) + count).saturating_sub(1),
        };
        self.show_match(trace, found, index % count);
    }

    fn answer(&mut self, tag: &'static str, _value: String, cx: &mut Cx) {
        if let (Some(deed), Some(job)) = (Deed::asked(tag), self.job(&cx.view)) {
            cx.act(Action::Send(deed.write(&self.project, job)));
        }
    }

    fn escape(&mut self, cx: &mut Cx) -> bool {
        if !self.query.is_empty() {
            self.set_sought("", cx);
            return true;
        }
        // Where only one of both has room, the details stand over the trace.
        let over = self.panels.focus() == DETAILS && cx.view.size.0 < WIDE;
        if over {
            self.panels.set_focus(TRACE);
        }
        over
    }

    fn url(&self, view: &View) -> Option<String> {
        Some(ci::url(view, &self.project, self.job(view)?))
    }

    fn copies(&self, view: &View) -> Vec<(&'static str, String)> {
        let mut copies = Vec::new();
        if let Some(words) = self.trace(view).and_then(|trace| trace.text(self.line(view))) {
            copies.push(("line", words));
        }
        if let Some(job) = self.job(view) {
            copies.push(("job number", job.id.to_string()));
            if let Some(commit) = &job.commit {
                copies.push(("SHA", commit.id.clone()));
            }
        }
        copies
    }

    fn ticks(&self, view: &View) -> bool {
        self.job(view).is_some_and(|job| job.status.is_running())
    }
}

/// More lines than the facts of a job take; drawing stops at the last one.
const FACTS: usize = 200;
