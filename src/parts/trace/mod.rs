//! The viewer of a job's trace: following, folding, filtering, searching, marking. The place of one job shows it full
//! size, the place of several traces in a part of the screen each.

mod draw;
mod other_runs;
mod search;
mod selection;
mod spill_file;
mod work;

use super::ci::{self, PULSE};
use crate::api::jobs::{GetJob, GetTrace, Job, Status};
use crate::api::{Endpoint, Fault, Id, Request};
use crate::app::action::{Action, PagerText, Tone};
use crate::app::command::{Disabled, Motion};
use crate::app::overlay::prompt::Prompt;
use crate::app::pane::{Cx, View};
use crate::app::transfer::{Save, file_name};
use crate::store::{Follow, Load, Remote, Value, Want, Work};
use crate::ui::doc::DocState;
use crate::ui::glyph;
use crate::ui::search::Found;
use crate::ui::text;
use crate::ui::trace::{Folds, Trace};
use ratatui::layout::Rect;
use std::cell::{Cell, RefCell};
use std::sync::{Arc, Mutex, PoisonError};
use work::{
    ErrorLines, FindErrors, KeepMatches, PlainText, ReadBack, Search, Spill, UpTo, look_key, only_key, plain_key,
    search_key,
};

/// A target to move to once the computation that finds it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Jump {
    /// The first match from a line on.
    Match(usize),
    /// The next or the previous error or warning.
    Trouble { forward: bool, warning: bool },
    /// The most relevant error of a failed job.
    Failure,
    /// The failure or else the current line, with all sections folded except the one that failed.
    Fold,
    /// The user's pager.
    Page,
}

/// The text that visible lines have to contain, as a message to the pane.
pub struct OnlyLines(pub String);

/// The viewer of one trace.
pub struct Viewer {
    pub project: Id,
    pub id: u64,
    doc: DocState,
    folds: Folds,
    folded: bool,
    times: bool,
    query: String,
    /// Whether only matching lines are shown.
    only: bool,
    /// The last known matching lines.
    lines: Option<Arc<UpTo<Vec<u32>>>>,
    /// The last known search result.
    found: Option<Arc<UpTo<Found>>>,
    current: usize,
    jump: Option<Jump>,
    /// Whether the initial position in the trace was chosen.
    opened: bool,
    /// The number of lines when following stopped.
    seen: usize,
    /// The line where the marked range starts; it ends at the cursor.
    mark: Option<usize>,
    /// The edition of the trace and the number of times it was rewritten.
    edition: Option<(u64, u32)>,
    /// The retry that the user requested.
    again: Option<other_runs::Retry>,
    /// The number of times the trace was sent to the pager.
    pages: usize,
    /// The identity of the trace for which the last computations were started.
    of: RefCell<String>,
    area: Cell<Rect>,
}

fn is_over(value: &Value) -> bool {
    value.downcast_ref::<Job>().is_some_and(|job| job.status.is_finished())
}

impl Viewer {
    /// Creates a viewer at the end of a trace; for screen readers, nothing moves until the user asks for it.
    pub fn new(project: Id, id: u64) -> Viewer {
        Viewer {
            project,
            id,
            doc: if glyph::is_accessible() { DocState::new() } else { DocState::following() },
            folds: Folds::default(),
            folded: false,
            times: false,
            query: String::new(),
            only: false,
            lines: None,
            found: None,
            current: 0,
            jump: None,
            opened: false,
            seen: 0,
            mark: None,
            edition: None,
            again: None,
            pages: 0,
            of: RefCell::default(),
            area: Cell::default(),
        }
    }

    fn query_job(&self) -> GetJob {
        GetJob { id: self.project.clone(), job_id: self.id }
    }

    fn request(&self) -> Request {
        GetTrace { id: self.project.clone(), job_id: self.id }.request()
    }

    /// Returns the job as far as it is known, with its error.
    pub fn remote<'a>(&self, view: &View<'a>) -> Remote<'a, Job> {
        view.store.get(&self.query_job())
    }

    /// Returns the job, if it is loaded.
    pub fn job<'a>(&self, view: &View<'a>) -> Option<&'a Job> {
        self.remote(view).value
    }

    /// Returns whether the job may still change, as far as the server reports.
    pub fn is_live(&self, view: &View) -> bool {
        self.job(view).is_some_and(ci::moves) && self.lost(view).is_none()
    }

    /// Returns a short reason if an unfinished job can no longer be loaded.
    pub fn lost(&self, view: &View) -> Option<&'static str> {
        let remote = self.remote(view);
        let ended = remote.value.is_none_or(|job| job.status.is_finished());
        remote.refused().filter(|_| !ended).map(|error| match error.fault {
            Fault::Missing(_) => "gone",
            Fault::Denied(_) => "not allowed",
            Fault::Unauthorized(_) => "not signed in",
            _ => "not known",
        })
    }

    /// Returns the trace, as far as it is loaded.
    pub fn trace<'a>(&self, view: &View<'a>) -> Option<&'a Trace> {
        view.store.growing::<Trace>(&self.request()).map(|growing| growing.sink)
    }

    /// Returns whether the job can have a trace that is worth requesting.
    fn has_trace(&self, view: &View, job: &Job) -> bool {
        let written = job.status.is_running() || job.status.is_finished() && job.status != Status::Skipped;
        job.erased_at.is_none() && (written || self.trace(view).is_some_and(|trace| trace.len_lines() > 0))
    }

    /// Returns the identity of the loaded part of the trace.
    fn identity(&self, trace: &Trace) -> String {
        format!("{}\t{}", self.name(trace), trace.bytes_len())
    }

    /// Returns the name of the trace, whatever its length.
    fn name(&self, trace: &Trace) -> String {
        format!("{}/{} {}", self.project, self.id, trace.edition())
    }

    // ---- rows of the screen and lines of the trace

    /// Returns the matching lines if only those are shown and they are known.
    fn chosen(&self) -> Option<&[u32]> {
        self.lines.as_ref().filter(|_| self.only).map(|lines| lines.result.as_slice())
    }

    fn rows_of(&self, trace: &Trace) -> usize {
        self.chosen().map_or_else(|| self.folds.rows(trace), <[u32]>::len)
    }

    fn rows(&self, view: &View) -> usize {
        self.trace(view).map_or(0, |trace| self.rows_of(trace))
    }

    fn line_of(&self, row: usize) -> usize {
        match self.chosen() {
            Some(lines) => lines.get(row).or(lines.last()).map_or(0, |line| *line as usize),
            None => self.folds.line(row),
        }
    }

    fn row_of(&self, line: usize) -> usize {
        match self.chosen() {
            Some(lines) => lines.partition_point(|known| (*known as usize) < line).min(lines.len().saturating_sub(1)),
            None => self.folds.row(line),
        }
    }

    /// Returns the line under the cursor.
    pub fn line(&self, view: &View) -> usize {
        self.line_of(self.doc.at(self.rows(view)))
    }

    fn goto(&mut self, trace: &Trace, line: usize) {
        self.folds.reveal(trace, line);
        self.doc.goto(self.row_of(line), self.rows_of(trace));
    }

    /// Returns the visible lines and some around them.
    fn window(&self, view: &View, trace: &Trace) -> impl Iterator<Item = usize> {
        let rows = self.rows_of(trace);
        let height = self.doc.height.get().max(usize::from(view.size.1));
        let cursor = self.doc.at(rows);
        let first = self.doc.top.get().min(cursor).max(cursor.saturating_sub(height)).saturating_sub(height / 2);
        let last = (cursor.max(self.doc.top.get().min(cursor + height)) + height + height / 2).min(rows);
        (first..last).map(|row| self.line_of(row))
    }

    // ---- requests and results

    /// Returns the requests and computations that are needed: the job, its trace, and searches in it.
    pub fn wants(&self, view: &View) -> Vec<Want> {
        let load = Load::one(&self.query_job());
        let Some(job) = self.job(view) else { return vec![load.into()] };
        // While the job runs, the stream brings its state; before that and after an error of the stream, it has to be
        // polled.
        let broken = view.store.growing::<Trace>(&self.request()).is_some_and(|g| g.error.is_some());
        let waits = ci::moves(job) && (broken || !job.status.is_running());
        let mut wants: Vec<Want> = vec![if waits { load.clone().every(PULSE).into() } else { load.clone().into() }];
        if self.has_trace(view, job) {
            let follow =
                Follow { request: self.request(), status: load, over: is_over, sink: || Box::<Trace>::default() };
            wants.push(follow.into());
        }
        if let Some(trace) = self.trace(view) {
            let keep = view.session.reading.memory;
            if trace.exceeds(keep) {
                wants.push(Work::new(Spill { name: self.name(trace), trace: trace.clone(), keep }).into());
            }
            let blocks = trace.spilled_blocks(self.window(view, trace));
            if !blocks.is_empty() {
                wants.push(Work::new(ReadBack { name: self.name(trace), trace: trace.clone(), blocks }).into());
            }
            // A search is finished for the part of the trace that was known at its start before it is started again.
            // Otherwise it would never finish in a trace that grows without pause.
            let now = self.identity(trace);
            let known = !self.of.borrow().is_empty();
            let mut works = if known { self.looks(view, trace) } else { Vec::new() };
            if works.is_empty() && *self.of.borrow() != now {
                self.of.replace(now);
                works = self.looks(view, trace);
            }
            wants.extend(works);
        }
        wants
    }

    /// Returns the computations on the trace as it was when they were started, except those already done, because each
    /// of them has a copy of the trace.
    fn looks(&self, view: &View, trace: &Trace) -> Vec<Want> {
        let mut wants: Vec<Want> = Vec::new();
        let lacks = |key: String| view.store.lacks(&key);
        let (of, query) = (|| self.of.borrow().clone(), || self.query.clone());
        if !self.query.is_empty() && lacks(search_key(&of(), &self.query)) {
            let before = self.found.clone();
            wants.push(Work::new(Search { of: of(), trace: trace.clone(), query: query(), before }).into());
        }
        if self.only && lacks(only_key(&of(), &self.query)) {
            let before = self.lines.clone();
            wants.push(Work::new(KeepMatches { of: of(), trace: trace.clone(), query: query(), before }).into());
        }
        let warnings = match self.jump {
            Some(Jump::Trouble { warning, .. }) => Some(warning),
            Some(Jump::Failure | Jump::Fold) => Some(false),
            Some(Jump::Match(_) | Jump::Page) | None => None,
        };
        if let Some(warnings) = warnings.filter(|warnings| lacks(look_key(&of(), *warnings))) {
            let patterns = view.session.reading.patterns.clone();
            wants.push(Work::new(FindErrors { of: of(), trace: trace.clone(), patterns, warnings }).into());
        }
        if self.jump == Some(Jump::Page) && lacks(plain_key(&of(), self.pages)) {
            wants.push(Work::new(PlainText { of: of(), trace: trace.clone(), turn: self.pages }).into());
        }
        wants
    }

    /// Updates the state after a store update: keeps the position, and moves to a pending target once it is known.
    pub fn changed(&mut self, cx: &mut Cx) {
        let view = cx.view;
        let Some(job) = self.job(&view) else { return };
        let growing = view.store.growing::<Trace>(&self.request());
        if !self.opened && (!job.status.is_finished() || growing.as_ref().is_some_and(|g| g.over)) {
            self.opened = true;
            if job.status == Status::Failed {
                self.ask(Jump::Failure, &view);
            }
        }
        let Some(trace) = growing.map(|g| g.sink) else { return };
        self.renew(trace, cx);
        self.folds.refresh(trace);
        if self.doc.follow || self.seen > trace.len_lines() {
            self.seen = trace.len_lines();
        }
        let of = self.of.borrow().clone();
        if !self.query.is_empty() {
            let found = view.store.shared_result(&search_key(&of, &self.query));
            self.found = found.or(self.found.take());
            if self.only
                && let Some(lines) = view.store.shared_result(&only_key(&of, &self.query))
            {
                // The cursor stays on its line, or on the nearest one that is left.
                let line = self.line(&view);
                self.lines = Some(lines);
                if !self.doc.follow {
                    self.doc.goto(self.row_of(line), self.rows_of(trace));
                }
            }
        }
        self.land(trace, &of, cx);
    }

    /// Discards matches and marks if the trace was rewritten, because they belong to another text.
    fn renew(&mut self, trace: &Trace, cx: &mut Cx) {
        let now = (trace.edition(), trace.resets());
        let Some((edition, resets)) = self.edition.replace(now).filter(|before| *before != now) else { return };
        (self.found, self.lines, self.current, self.mark) = (None, None, 0, None);
        self.of.replace(String::new());
        if edition != trace.edition() && trace.resets() > resets {
            let words = format!("The trace of #{} was rewritten; reading it from the start.", self.id);
            cx.say(Tone::Warning, words);
        }
    }

    /// Moves to the pending target, once it is known.
    fn land(&mut self, trace: &Trace, of: &str, cx: &mut Cx) {
        let view = cx.view;
        let Some(jump) = self.jump else { return };
        let troubled = |warning| view.store.result::<ErrorLines>(&look_key(of, warning));
        let at = self.line(&view);
        match jump {
            Jump::Match(from) => {
                let Some(found) = view.store.shared_result::<UpTo<Found>>(&search_key(of, &self.query)) else { return };
                self.jump = None;
                let next = found.result.matches.partition_point(|hit| hit.line < from);
                let index = if next < found.result.matches.len() { next } else { 0 };
                self.show_match(trace, &found.result, index);
            }
            Jump::Trouble { forward, warning } => {
                let Some(troubled) = troubled(warning) else { return };
                self.jump = None;
                let lines = &troubled.lines;
                let next = if forward { lines.iter().find(|l| **l > at) } else { lines.iter().rfind(|l| **l < at) };
                let (what, way) =
                    (if warning { "a warning" } else { "an error" }, if forward { "below" } else { "above" });
                match next {
                    Some(line) => self.goto(trace, *line),
                    None if lines.is_empty() => cx.say(Tone::Info, format!("No line looks like {what}.")),
                    None => {
                        let what = what.split_once(' ').map_or(what, |(_, what)| what);
                        cx.say(Tone::Info, format!("No {what} {way}."));
                    }
                }
            }
            Jump::Failure => {
                let Some(troubled) = troubled(false) else { return };
                self.jump = None;
                match troubled.failure {
                    Some(line) => self.goto(trace, line),
                    None => self.doc.follow = !glyph::is_accessible(),
                }
            }
            Jump::Fold => {
                let Some(troubled) = troubled(false) else { return };
                self.jump = None;
                self.folds.set_all(trace, true);
                self.folded = true;
                match troubled.failure {
                    Some(line) => self.goto(trace, line),
                    None => self.doc.goto(self.row_of(at), self.rows_of(trace)),
                }
            }
            Jump::Page => {
                let Some(text) = view.store.result::<Mutex<Option<String>>>(&plain_key(of, self.pages)) else { return };
                self.jump = None;
                let text = text.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or_default();
                cx.act(Action::Page(PagerText { name: self.file(&view), text: Arc::new(text) }));
            }
        }
    }

    // ---- actions

    /// Returns the file name for the trace.
    fn file(&self, view: &View) -> String {
        let name = self.job(view).map_or("job", |job| job.name.as_str()).replace(['/', '\\', ' '], "-");
        file_name(&format!("{name}-{}.log", self.id))
    }

    /// Returns an error unless there is a trace to view.
    pub fn written(&self, view: &View) -> Result<(), Disabled> {
        if self.trace(view).is_some_and(|trace| trace.len_lines() > 0) {
            return Ok(());
        }
        let ended =
            view.store.growing::<Trace>(&self.request()).is_some_and(|trace| trace.over || trace.error.is_some());
        match self.job(view) {
            None => Err("the job has not loaded yet".into()),
            Some(job) if self.has_trace(view, job) && job.status.is_finished() && !ended => {
                Err("the trace is still loading".into())
            }
            Some(_) => Err("there is no trace yet".into()),
        }
    }

    /// Returns an error unless the trace has sections.
    pub fn sections(&self, view: &View) -> Result<(), Disabled> {
        self.written(view)?;
        let some = self.trace(view).is_some_and(|trace| !trace.sections().is_empty());
        if some { Ok(()) } else { Err("this trace has no sections".into()) }
    }

    /// Returns an error unless the end can be followed.
    pub fn live(&self, view: &View) -> Result<(), Disabled> {
        match self.job(view) {
            Some(job) if job.status.is_finished() => Err("the job has ended".into()),
            Some(_) if self.lost(view).is_some() => Err("the server sends no more of it".into()),
            _ => self.written(view),
        }
    }

    /// Returns an error unless the lines have timestamps.
    pub fn timed(&self, view: &View) -> Result<(), Disabled> {
        self.written(view)?;
        let times = self.trace(view).is_some_and(Trace::has_times);
        if times { Ok(()) } else { Err("this trace has no timestamps".into()) }
    }

    /// Toggles following the end of the trace.
    pub fn follow(&mut self, cx: &mut Cx) {
        let rows = self.rows(&cx.view);
        if self.doc.follow {
            self.doc.goto(rows.saturating_sub(1), rows);
        } else {
            self.doc.follow = true;
        }
    }

    /// Turns following on or off.
    pub fn set_follow(&mut self, follow: bool, cx: &mut Cx) {
        if self.doc.follow != follow {
            self.follow(cx);
        }
    }

    /// Returns whether the end is followed.
    pub fn follows(&self) -> bool {
        self.doc.follow
    }

    /// Moves to the target of `jump`, once it is known for the current trace.
    fn ask(&mut self, jump: Jump, view: &View) {
        if let Some(trace) = self.trace(view) {
            self.of.replace(self.identity(trace));
        }
        self.jump = Some(jump);
    }

    /// Moves to the next or the previous error or warning.
    pub fn trouble(&mut self, forward: bool, warning: bool, view: &View) {
        self.ask(Jump::Trouble { forward, warning }, view);
    }

    /// Folds or unfolds the section under the cursor.
    pub fn toggle(&mut self, cx: &mut Cx) {
        let line = self.line(&cx.view);
        if let Some(trace) = self.trace(&cx.view) {
            match self.folds.toggle(trace, line) {
                Some(heading) => self.doc.goto(self.row_of(heading), self.rows_of(trace)),
                None => cx.say(Tone::Info, "This line is not in a section."),
            }
        }
    }

    /// Moves to the next or the previous section.
    pub fn section(&mut self, forward: bool, cx: &mut Cx) {
        let at = self.line(&cx.view);
        let Some(trace) = self.trace(&cx.view) else { return };
        let mut lines = trace.sections().iter().map(|section| section.line);
        let next = if forward { lines.find(|line| *line > at) } else { lines.rfind(|line| *line < at) };
        match next {
            Some(line) => self.goto(trace, line),
            None => cx.say(Tone::Info, if forward { "No section below." } else { "No section above." }),
        }
    }

    /// Folds all sections except the one that failed, or unfolds all.
    pub fn fold(&mut self, cx: &mut Cx) {
        if !self.folded {
            self.ask(Jump::Fold, &cx.view);
        } else if let Some(trace) = self.trace(&cx.view) {
            let line = self.line(&cx.view);
            self.folds.set_all(trace, false);
            self.folded = false;
            self.goto(trace, line);
        }
    }

    /// Toggles the time of each line.
    pub fn turn_times(&mut self) {
        self.times = !self.times;
    }

    /// Toggles line wrap.
    pub fn turn_wrap(&mut self, cx: &mut Cx) {
        self.doc.wrap = !self.doc.wrap;
        self.doc.left = 0;
        cx.say(Tone::Info, if self.doc.wrap { "Line wrap on." } else { "Line wrap off." });
    }

    /// Toggles between matching lines and all lines. Without a search it asks for a text; the answer is an
    /// [`OnlyLines`].
    pub fn turn_only(&mut self, cx: &mut Cx) {
        if self.query.is_empty() {
            return cx.act(Action::Open(Box::new(Prompt::ask("only lines with", "", OnlyLines))));
        }
        let line = self.line(&cx.view);
        (self.only, self.lines) = (!self.only, None);
        if let Some(trace) = self.trace(&cx.view).filter(|_| !self.only && !self.doc.follow) {
            self.goto(trace, line);
        }
    }

    /// Shows only the lines with a text.
    pub fn show_only(&mut self, OnlyLines(text): OnlyLines, cx: &mut Cx) {
        self.seek(&text, cx);
        (self.only, self.lines) = (!text.is_empty(), None);
        self.jump = None;
    }

    /// Moves to a line, counted from 1.
    pub fn go_to_line(&mut self, typed: &str, cx: &mut Cx) {
        let Ok(line) = typed.trim().parse::<usize>() else {
            return cx.say(Tone::Warning, format!("Invalid line number \"{}\".", text::sanitize(typed)));
        };
        if let Some(trace) = self.trace(&cx.view) {
            self.goto(trace, line.saturating_sub(1).min(trace.len_lines().saturating_sub(1)));
        }
    }

    /// Saves the trace to a file.
    pub fn save(&self, cx: &mut Cx) {
        cx.act(Action::Save(Save::new(self.request(), &self.file(&cx.view))));
    }

    /// Opens the trace in the user's pager, once its text is ready.
    pub fn page(&mut self, view: &View) {
        self.pages += 1;
        self.ask(Jump::Page, view);
    }

    /// Moves the cursor or scrolls.
    pub fn motion(&mut self, motion: Motion, view: &View) {
        let len = self.rows(view);
        let live = self.live(view).is_ok();
        motion.scroll(&mut self.doc, len);
        if motion == Motion::Last && !glyph::is_accessible() {
            // At the end of a growing trace, the user usually wants to follow it.
            self.doc.follow = live;
        }
    }
}
