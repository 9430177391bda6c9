//! The viewer of a job's trace: following, folding, filtering, searching, marking. The place of one job shows it full
//! size, the place of several traces in a part of the screen each.

mod compare;
mod draw;
mod first_error;
pub mod keys;
mod last_success;
mod other_runs;
mod pane;
mod selection;
mod spill_file;
mod work;

pub use first_error::{FirstError, first_errors, want_first_errors};

use crate::api::jobs::{GetJob, GetTrace, Job};
use crate::api::pipelines::resources::Status;
use crate::api::{Endpoint, Fault, Id, Request, Time};
use crate::app::action::{Action, PagerText};
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::pane::Pane;
use crate::app::tone::Tone;
use crate::app::transfer::{NewTransfer, file_name};
use crate::app::view::View;
use crate::parts::ci;
use crate::parts::text::line_drag::LineDrag;
use crate::store::{Follow, Load, Remote, Value, Want, Work};
use crate::ui::doc::DocState;
use crate::ui::drawn::Drawn;
use crate::ui::glyph;
use crate::ui::search::Matches;
use crate::ui::text;
use crate::ui::trace::{ERRORS, Folds, Trace};
use jiff::Timestamp;
use ratatui::layout::Rect;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use work::{
    ErrorLines, FindErrors, KeepMatches, PlainText, SearchTrace, Spill, StablePrefix, errors_key, only_key, plain_key,
    search_key,
};

/// The maximum number of bytes of a trace that a custom command gets.
const MAX_INPUT_BYTES: usize = 256 << 10;

/// A target to move to once the computation that finds it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Jump {
    /// A line, from 1.
    Line(usize),
    /// The first match from where the search began.
    Match,
    /// The next or the previous error or warning.
    Error { forward: bool, warning: bool },
    /// The most relevant error of a failed job.
    Failure,
    /// The failure or else the current line, with all sections folded except the one that failed.
    Fold,
    /// The user's pager.
    Page,
}

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
    only_matches: bool,
    /// The last known matching lines.
    matching_lines: Option<Arc<StablePrefix<Vec<u32>>>>,
    /// The last known search result.
    found: Option<Arc<StablePrefix<Matches>>>,
    current: usize,
    /// The line where the search began.
    origin: usize,
    jump: Option<Jump>,
    /// Whether the initial position in the trace was chosen.
    opened: bool,
    /// Whether the end is shown as soon as it is known, before what is above it.
    at_end: bool,
    /// The number of lines from the cursor to the end while only the end is shown.
    above_end: Option<usize>,
    /// The number of lines when following stopped. In accessible mode, no more are shown until the cursor goes to the end.
    seen: usize,
    /// Whether all lines that the server had were read once.
    was_read: bool,
    /// The line where the marked range starts; it ends at the cursor.
    mark: Option<usize>,
    drag: LineDrag,
    /// The edition of the trace and the number of times it was rewritten.
    edition: Option<(u64, u32)>,
    /// The comparison with the last successful run, if it is shown.
    comparison: Option<compare::ShownComparison>,
    /// The retry that the user requested.
    retry: Option<other_runs::Retry>,
    /// The number of times the trace was sent to the pager.
    pages: usize,
    /// The identity of the trace for which the last computations were started.
    searched_identity: RefCell<String>,
    area: Drawn<Rect>,
}

/// Returns the message for a trace in which no line looks like an error.
fn no_known_error() -> String {
    let known = ERRORS.len();
    format!("None of {known} known forms of errors found. Add others to errors in [trace] of the configuration.")
}

/// Returns what a custom command gets: the facts of a job with the last lines of its trace, up to the first that is not in
/// memory.
fn with_last_lines(mut facts: serde_json::Value, trace: &Trace) -> serde_json::Value {
    let (mut lines, mut bytes) = (VecDeque::new(), 0);
    for text in (0..trace.len_lines()).rev().map_while(|line| trace.text(line)) {
        bytes += text.len() + 1;
        if bytes > MAX_INPUT_BYTES {
            break;
        }
        lines.push_front(text);
    }
    if let Some(fields) = facts.as_object_mut() {
        fields.insert("left_out".to_owned(), (trace.len_lines() - lines.len()).into());
        fields.insert("trace".to_owned(), lines.make_contiguous().join("\n").into());
    }
    facts
}

fn completed_at(value: &Value) -> Option<Timestamp> {
    let job = value.downcast_ref::<Job>().filter(|job| job.status.is_finished())?;
    Some(job.finished_at.as_ref().and_then(Time::instant).unwrap_or(Timestamp::MAX))
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
            only_matches: false,
            matching_lines: None,
            found: None,
            current: 0,
            origin: 0,
            jump: None,
            opened: false,
            at_end: !glyph::is_accessible(),
            above_end: None,
            seen: 0,
            was_read: false,
            mark: None,
            drag: LineDrag::default(),
            edition: None,
            comparison: None,
            retry: None,
            pages: 0,
            searched_identity: RefCell::default(),
            area: Drawn::default(),
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
        self.job(view).is_some_and(ci::may_change) && self.lost_reason(view).is_none()
    }

    /// Returns a short reason if an unfinished job can no longer be loaded.
    pub fn lost_reason(&self, view: &View) -> Option<&'static str> {
        let remote = self.remote(view);
        let ended = remote.value.is_none_or(|job| job.status.is_finished());
        remote.refused().filter(|_| !ended).map(|error| match error.fault {
            Fault::Missing(_) => "gone",
            Fault::Denied(_) => "not allowed",
            Fault::Unauthorized(_) => "not signed in",
            _ => "not known",
        })
    }

    /// Returns the trace, as far as it is loaded: from its start on, or only its end while that is shown.
    pub fn trace<'a>(&self, view: &View<'a>) -> Option<&'a Trace> {
        let growing = view.store.growing::<Trace>(&self.request())?;
        Some(growing.end.filter(|_| self.at_end).map_or(growing.sink, |(end, _)| end))
    }

    /// Returns the numbers of received and of all bytes, while the end is known and something before it is not.
    fn received(&self, view: &View) -> Option<(u64, u64)> {
        let growing = view.store.growing::<Trace>(&self.request())?;
        growing.end.map(|(_, size)| (growing.sink.bytes_len(), size))
    }

    /// Returns whether only the end is shown, whose lines have no numbers yet.
    fn shows_end(&self, view: &View) -> bool {
        self.at_end && self.received(view).is_some()
    }

    /// Shows the end or the start of a trace of which something between them is not known yet.
    fn show_end(&mut self, at_end: bool, view: &View) {
        if self.at_end != at_end && self.received(view).is_some() {
            self.folds = Folds::default();
            self.doc.goto(0, 0);
        }
        (self.at_end, self.above_end) = (at_end, at_end.then_some(0));
    }

    /// Returns whether the server no longer has the trace whose text is shown.
    pub(super) fn is_removed(&self, view: &View) -> bool {
        let growing = view.store.growing::<Trace>(&self.request());
        growing.is_some_and(|growing| growing.is_removed && growing.sink.len_lines() > 0)
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
    fn shown_lines(&self) -> Option<&[u32]> {
        self.matching_lines.as_ref().filter(|_| self.only_matches).map(|lines| lines.result.as_slice())
    }

    /// Returns whether only the lines that match are shown.
    fn is_filtered(&self) -> bool {
        self.shown_lines().is_some()
    }

    fn rows_of(&self, trace: &Trace) -> usize {
        match (self.shown_lines(), self.compared()) {
            (Some(lines), _) => lines.len(),
            (None, Some(compared)) => compared.rows.len(),
            (None, None) if self.is_still() && self.seen > 0 => self.folds.row(self.seen - 1) + 1,
            (None, None) => self.folds.rows(trace),
        }
    }

    /// Returns whether new lines are not shown.
    fn is_still(&self) -> bool {
        glyph::is_accessible() && self.was_read && !self.doc.follow
    }

    /// Returns the number of lines that are shown, or could be.
    fn len(&self, trace: &Trace) -> usize {
        if self.is_still() { self.seen.min(trace.len_lines()) } else { trace.len_lines() }
    }

    fn rows(&self, view: &View) -> usize {
        self.trace(view).map_or(0, |trace| self.rows_of(trace))
    }

    fn line_of(&self, row: usize) -> usize {
        match self.shown_lines() {
            Some(lines) => lines.get(row).or(lines.last()).map_or(0, |line| *line as usize),
            None => match self.compared() {
                Some(compared) => compared.line_of(row),
                None => self.folds.line(row),
            },
        }
    }

    fn row_of(&self, line: usize) -> usize {
        match self.shown_lines() {
            Some(lines) => lines.partition_point(|known| (*known as usize) < line).min(lines.len().saturating_sub(1)),
            None => match self.compared() {
                Some(compared) => compared.row_of(line),
                None => self.folds.row(line),
            },
        }
    }

    /// Returns the line under the cursor.
    pub fn line(&self, view: &View) -> usize {
        self.line_of(self.doc.at(self.rows(view)))
    }

    fn goto(&mut self, trace: &Trace, line: usize) {
        self.folds.reveal(trace, line);
        self.unfold_equal(trace, line);
        if self.is_fold(self.row_of(line)) {
            // Too many equal lines to show all of them.
            self.comparison = None;
        }
        self.show(trace, line);
    }

    /// Moves to a line, or to the one that is shown instead of it.
    fn show(&mut self, trace: &Trace, line: usize) {
        let (row, rows) = (self.row_of(line), self.rows_of(trace));
        self.doc.goto(row, rows);
    }

    /// Returns the visible lines and some around them.
    fn window(&self, view: &View, trace: &Trace) -> impl Iterator<Item = usize> {
        let rows = self.rows_of(trace);
        let height = self.doc.height().max(usize::from(view.size.1));
        let cursor = self.doc.at(rows);
        let first = self.doc.top().min(cursor).max(cursor.saturating_sub(height)).saturating_sub(height / 2);
        let last = (cursor.max(self.doc.top().min(cursor + height)) + height + height / 2).min(rows);
        (first..last).map(|row| self.line_of(row))
    }

    fn want_trace(&self, status: Load) -> Want {
        Follow { request: self.request(), status, completed_at, sink: || Box::<Trace>::default() }.into()
    }

    /// Returns the computation that moves the part of a trace beyond the memory limit to disk, if there is such a part.
    fn want_spill(view: &View, name: String, trace: &Trace) -> Option<Want> {
        let keep = view.session.trace_settings.memory;
        trace.exceeds(keep).then(|| Work::new(Spill { name, trace: trace.clone(), keep }).into())
    }

    /// Returns the computations on the trace as it was when they were started, except those already done, because each
    /// of them has a copy of the trace.
    fn searches(&self, view: &View, trace: &Trace) -> Vec<Want> {
        let mut wants: Vec<Want> = Vec::new();
        let lacks = |key: String| view.store.is_result_missing(&key);
        let (identity, query) = (|| self.searched_identity.borrow().clone(), || self.query.clone());
        if !self.query.is_empty() && lacks(search_key(&identity(), &self.query)) {
            let before = self.found.clone();
            wants.push(
                Work::new(SearchTrace { identity: identity(), trace: trace.clone(), query: query(), before }).into(),
            );
        }
        if self.only_matches && lacks(only_key(&identity(), &self.query)) {
            let before = self.matching_lines.clone();
            wants.push(
                Work::new(KeepMatches { identity: identity(), trace: trace.clone(), query: query(), before }).into(),
            );
        }
        let warnings = match self.jump {
            Some(Jump::Error { warning, .. }) => Some(warning),
            Some(Jump::Failure | Jump::Fold) => Some(false),
            Some(Jump::Line(_) | Jump::Match | Jump::Page) | None => None,
        };
        if let Some(warnings) = warnings.filter(|warnings| lacks(errors_key(&identity(), *warnings))) {
            let patterns = view.session.trace_settings.patterns.clone();
            wants.push(Work::new(FindErrors { identity: identity(), trace: trace.clone(), patterns, warnings }).into());
        }
        if self.jump == Some(Jump::Page) && lacks(plain_key(&identity(), self.pages)) {
            wants.push(
                Work::new(PlainText { identity: identity(), trace: trace.clone(), generation: self.pages }).into(),
            );
        }
        wants
    }

    /// Discards matches and marks if the trace was rewritten, because they belong to another text.
    fn discard_if_rewritten(&mut self, trace: &Trace, cx: &mut Cx) {
        let now = (trace.edition(), trace.resets());
        let Some((edition, resets)) = self.edition.replace(now).filter(|before| *before != now) else { return };
        (self.found, self.matching_lines, self.current, self.mark) = (None, None, 0, None);
        self.comparison = self.comparison.take().map(|_| compare::ShownComparison::default());
        self.searched_identity.replace(String::new());
        if edition != trace.edition() && trace.resets() > resets {
            let words = format!("The trace of #{} was rewritten; reading it from the start.", self.id);
            cx.say(Tone::Warning, words);
        }
    }

    /// Moves to the pending target, once it is known.
    fn finish_jump(&mut self, trace: &Trace, identity: &str, cx: &mut Cx) {
        let view = cx.view;
        let Some(jump) = self.jump else { return };
        let errors_of = |warning| view.store.result::<ErrorLines>(&errors_key(identity, warning));
        let at = self.line(&view);
        match jump {
            Jump::Line(line) => {
                let growing = view.store.growing::<Trace>(&self.request());
                if trace.len_lines() >= line || growing.is_some_and(|growing| growing.is_complete) {
                    self.jump = None;
                    self.goto(trace, line.min(trace.len_lines()).saturating_sub(1));
                }
            }
            Jump::Match => {
                let Some(found) = view.store.shared_result::<StablePrefix<Matches>>(&search_key(identity, &self.query))
                else {
                    return;
                };
                self.jump = None;
                let next = found.result.matches.partition_point(|hit| hit.line < self.origin);
                let index = if next < found.result.matches.len() { next } else { 0 };
                self.show_match(trace, &found.result, index);
            }
            Jump::Error { forward, warning } => {
                let Some(errors) = errors_of(warning) else { return };
                self.jump = None;
                let has_passed = self.job(&view).is_some_and(|job| job.status == Status::Success);
                let lines: &[usize] = if errors.are_hints && has_passed { &[] } else { &errors.lines };
                let step = |lines: &[usize]| match forward {
                    true => lines.iter().copied().find(|line| *line > at),
                    false => lines.iter().copied().rfind(|line| *line < at),
                };
                let next = step(lines).or_else(|| step(&errors.consequences).filter(|_| !has_passed));
                let (what, way) =
                    (if warning { "a warning" } else { "an error" }, if forward { "below" } else { "above" });
                match next {
                    Some(line) => self.goto(trace, line),
                    None if lines.is_empty() && !warning && !has_passed => cx.say(Tone::Info, no_known_error()),
                    None if lines.is_empty() => cx.say(Tone::Info, format!("No line looks like {what}.")),
                    None => {
                        let what = what.split_once(' ').map_or(what, |(_, what)| what);
                        let read = if self.received(&view).is_some() { " in what has been read so far" } else { "" };
                        cx.say(Tone::Info, format!("No {what} {way}{read}."));
                    }
                }
            }
            Jump::Failure => {
                let Some(errors) = errors_of(false) else { return };
                self.jump = None;
                match errors.failure.or(errors.last_output) {
                    Some(line) => self.goto(trace, line),
                    None => self.doc.follow = !glyph::is_accessible(),
                }
            }
            Jump::Fold => {
                let Some(errors) = errors_of(false) else { return };
                self.jump = None;
                self.folds.set_all(trace, true);
                self.folded = true;
                match errors.failure.or(errors.last_output) {
                    Some(line) => self.goto(trace, line),
                    None => self.show(trace, at),
                }
            }
            Jump::Page => {
                let Some(text) = view.store.result::<Mutex<Option<String>>>(&plain_key(identity, self.pages)) else {
                    return;
                };
                self.jump = None;
                let text = text.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or_default();
                cx.act(Action::Pager(PagerText { name: self.file(&view), text: Arc::new(text) }));
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
    pub fn need_text(&self, view: &View) -> Result<(), Disabled> {
        if self.trace(view).is_some_and(|trace| trace.len_lines() > 0) {
            return Ok(());
        }
        let ended = view
            .store
            .growing::<Trace>(&self.request())
            .is_some_and(|trace| trace.is_complete || trace.error.is_some());
        match self.job(view) {
            None => Err("the job has not loaded yet".into()),
            Some(job) if self.has_trace(view, job) && job.status.is_finished() && !ended => {
                Err("the trace is still loading".into())
            }
            Some(_) => Err("there is no trace yet".into()),
        }
    }

    /// Returns an error unless the trace has sections.
    pub fn need_sections(&self, view: &View) -> Result<(), Disabled> {
        self.need_text(view)?;
        if self.compared().is_some() {
            return Ok(());
        }
        let some = self.trace(view).is_some_and(|trace| !trace.sections().is_empty());
        if some { Ok(()) } else { Err("this trace has no sections".into()) }
    }

    /// Returns an error unless the end can be followed.
    pub fn need_live(&self, view: &View) -> Result<(), Disabled> {
        match self.job(view) {
            Some(job) if job.status.is_finished() => Err("the job has ended".into()),
            Some(_) if self.lost_reason(view).is_some() => Err("the server no longer provides this job".into()),
            Some(_) if self.is_removed(view) => Err("the server no longer has this trace".into()),
            _ => self.need_text(view),
        }
    }

    /// Returns an error unless the lines have timestamps.
    pub fn need_times(&self, view: &View) -> Result<(), Disabled> {
        self.need_text(view)?;
        let times = self.trace(view).is_some_and(Trace::has_times);
        if times { Ok(()) } else { Err("this trace has no timestamps".into()) }
    }

    /// Toggles following the end of the trace.
    pub fn follow(&mut self, cx: &mut Cx) {
        if !self.doc.follow {
            self.show_end(true, &cx.view);
        }
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
    fn start_jump(&mut self, jump: Jump, view: &View) {
        if let Some(trace) = self.trace(view) {
            self.searched_identity.replace(self.identity(trace));
        }
        self.jump = Some(jump);
    }

    /// Moves to the next or the previous error or warning.
    pub fn step_error(&mut self, forward: bool, warning: bool, view: &View) {
        self.start_jump(Jump::Error { forward, warning }, view);
    }

    /// Folds or unfolds the section under the cursor.
    pub fn toggle(&mut self, cx: &mut Cx) {
        let line = self.line(&cx.view);
        if let Some(trace) = self.trace(&cx.view) {
            if self.compared().is_some() {
                let row = self.doc.at(self.rows_of(trace));
                return if self.is_filtered() { self.unfold_equal(trace, line) } else { self.unfold_row(trace, row) };
            }
            match self.folds.toggle(trace, line) {
                Some(heading) => self.show(trace, heading),
                None => cx.say(Tone::Info, "This line is not in a section."),
            }
        }
    }

    /// Moves to the next or the previous section.
    pub fn section(&mut self, forward: bool, cx: &mut Cx) {
        if self.step_difference(forward, cx) {
            return;
        }
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
        if self.leave_comparison(cx) {
            return;
        }
        if !self.folded {
            self.start_jump(Jump::Fold, &cx.view);
        } else if let Some(trace) = self.trace(&cx.view) {
            let line = self.line(&cx.view);
            self.folds.set_all(trace, false);
            self.folded = false;
            self.goto(trace, line);
        }
    }

    /// Toggles the time of each line.
    pub fn toggle_times(&mut self) {
        self.times = !self.times;
    }

    /// Toggles line wrap.
    pub fn toggle_wrap(&mut self, cx: &mut Cx) {
        self.doc.wrap = !self.doc.wrap;
        self.doc.left = 0;
        cx.say(Tone::Info, if self.doc.wrap { "Line wrap on." } else { "Line wrap off." });
    }

    /// Toggles between matching lines and all lines; returns `false` if there is no search to match.
    pub fn toggle_only(&mut self, view: &View) -> bool {
        if self.query.is_empty() {
            return false;
        }
        let line = self.line(view);
        (self.only_matches, self.matching_lines) = (!self.only_matches, None);
        if let Some(trace) = self.trace(view).filter(|_| !self.only_matches && !self.doc.follow) {
            self.goto(trace, line);
        }
        true
    }

    /// Shows only the lines with a text.
    pub fn show_only(&mut self, text: &str, cx: &mut Cx) {
        self.begin_search(&cx.view);
        self.set_filter_text(text, cx);
        (self.only_matches, self.matching_lines) = (!text.is_empty(), None);
        self.jump = None;
    }

    /// Opens the trace at a line, from 1, once that is there.
    pub fn open_at(&mut self, line: usize) {
        (self.opened, self.at_end, self.doc.follow) = (true, false, false);
        self.jump = Some(Jump::Line(line));
    }

    /// Moves to a line, counted from 1.
    pub fn go_to_line(&mut self, typed: &str, cx: &mut Cx) {
        let Ok(line) = typed.trim().parse::<usize>() else {
            return cx.say(Tone::Warning, format!("Invalid line number \"{}\".", text::sanitize(typed)));
        };
        // Lines are counted from the start.
        self.show_end(false, &cx.view);
        if let Some(trace) = self.trace(&cx.view) {
            self.goto(trace, line.saturating_sub(1).min(trace.len_lines().saturating_sub(1)));
        }
    }

    /// Saves the trace to a file.
    pub fn save(&self, cx: &mut Cx) {
        cx.act(Action::AskTransferPath(NewTransfer::new(self.request(), &self.file(&cx.view))));
    }

    /// Opens the trace in the user's pager, once its text is ready.
    pub fn page(&mut self, view: &View) {
        self.pages += 1;
        self.show_end(false, view);
        self.start_jump(Jump::Page, view);
    }
}
