//! Draws a trace: its lines, the bar below them, and the placeholder if there is no trace.

use super::{Jump, Viewer};
use crate::api::jobs::Job;
use crate::api::pipelines::resources::Status;
use crate::app::view::View;
use crate::parts::ci::deployments;
use crate::parts::list::{draw_error, draw_error_line};
use crate::parts::text::dates::time_ago;
use crate::ui::line::Line;
use crate::ui::theme::Role;
use crate::ui::trace::{RowLayout, Trace};
use crate::ui::{doc, glyph, line, state, text};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// The minimum width at which lines are numbered, in columns.
const MIN_NUMBERED_WIDTH: u16 = 60;

/// The age from which that of the text is shown, in seconds.
const MIN_TEXT_AGE: i64 = 6;
/// The width of the column for the signs of new lines, in columns.
const SIGN_WIDTH: u16 = 2;

impl Viewer {
    /// Draws the placeholder if there is no trace.
    fn draw_without_trace(&self, view: &View, area: Rect, buf: &mut Buffer, job: &Job) {
        let theme = view.theme;
        let mut say = |why: &str, hint: &str| view.draw_empty(buf, area, why, hint);
        if let Some(at) = job.erased_at.as_ref() {
            return say(&format!("The trace was erased {}.", time_ago(view, Some(at))), "‹.retry› retries the job");
        }
        match &job.status {
            Status::Manual => match deployments::waiting_reason(view, &self.project, job) {
                Some(reason) if deployments::blocked(view, &self.project, job).is_some() => {
                    say(&reason, "‹.deployment› opens it, to approve or reject it")
                }
                Some(reason) => say(&reason, "‹.play› plays it"),
                None => say("This job is manual.", "‹.play› plays it"),
            },
            Status::Skipped => {
                say("This job was skipped.", "An earlier job did not succeed; ‹.retry› retries it there")
            }
            Status::Scheduled => say("This job starts after a delay.", "‹.play› plays it now"),
            status if status.is_live() && !status.is_running() => {
                let why = self.waits(view, job).unwrap_or_default();
                let hint = match status {
                    Status::Pending => "‹go.runners› shows the runners; the trace appears here when one takes it",
                    _ => "The trace appears here when it runs",
                };
                say(&format!("{}.", text::capitalize(&why)), hint);
            }
            _ => {
                let growing = view.store.growing::<Trace>(&self.request());
                let missing = |g: &crate::store::GrowingDocument<Trace>| g.error.is_some_and(|e| e.is_missing());
                match growing {
                    Some(g) if g.error.is_some() && !missing(&g) => {
                        if let Some(error) = g.error {
                            draw_error(view, area, buf, error);
                        }
                    }
                    Some(g) if g.is_complete || missing(&g) => say("This job has no output.", "‹.retry› retries it"),
                    Some(_) if job.status.is_running() => say("No output yet.", "It appears here as it arrives"),
                    _ => state::skeleton(buf, area, theme),
                }
            }
        }
    }

    /// Draws the trace with a bar below, which also shows `extra`.
    pub fn draw(&self, view: &View, area: Rect, buf: &mut Buffer, focused: bool, extra: Option<(String, Role)>) {
        self.draw_with(view, area, buf, focused, Some(extra));
    }

    /// Draws the trace without a bar, for small areas; [`Viewer::note`] has the most important facts instead.
    pub fn draw_small(&self, view: &View, area: Rect, buf: &mut Buffer, focused: bool) {
        self.draw_with(view, area, buf, focused, None);
    }

    /// Returns a short description of the view: paused or not, the number of lines, the search.
    pub fn note(&self, view: &View) -> String {
        let Some(trace) = self.trace(view).filter(|trace| trace.len_lines() > 0) else { return String::new() };
        let fresh = self.len(trace).saturating_sub(self.seen);
        let mut words = match (self.need_live(view).is_ok(), self.doc.follow, fresh) {
            (true, false, 0) => "paused".into(),
            (true, false, fresh) => format!("paused, {} new", text::count(fresh as u64)),
            _ => text::count_noun(self.len(trace) as u64, "line"),
        };
        if let Some(found) = self.hits() {
            let sign = if self.only_matches { "&" } else { "/" };
            words.push_str(&format!(
                "{}{sign}{} {}",
                glyph::separator(),
                text::fit(&self.query, 12),
                found.matches.len()
            ));
        }
        words
    }

    fn draw_with(
        &self,
        view: &View,
        area: Rect,
        buf: &mut Buffer,
        focused: bool,
        bar_with: Option<Option<(String, Role)>>,
    ) {
        // The area is needed for clicks even if there is no trace to draw.
        self.area.set(area);
        let remote = self.remote(view);
        let growing = view.store.growing::<Trace>(&self.request());
        let Some(job) = remote.value else {
            match remote.error {
                Some(error) => draw_error(view, area, buf, error),
                None => state::skeleton(buf, area, view.theme),
            }
            return;
        };
        let foot = u16::from(bar_with.is_some()).min(area.height);
        let bar = Rect { y: area.bottom().saturating_sub(1), height: foot, ..area };
        let body = Rect { height: area.height - foot, ..area };
        let error = remote.error.or(growing.as_ref().and_then(|g| g.error).filter(|e| !e.is_missing()));
        let trace = self.trace(view).filter(|trace| trace.len_lines() > 0 && job.erased_at.is_none());
        let Some(trace) = trace else {
            let body = draw_error_line(view, area, buf, remote.error);
            return self.draw_without_trace(view, body, buf, job);
        };
        let body = draw_error_line(view, body, buf, error);
        self.area.set(body);
        if let Some(extra) = bar_with {
            self.bar(view, bar, buf, job, trace, extra);
        }
        let rows = self.rows_of(trace);
        if rows == 0 {
            let words = if self.matching_lines.is_some() { "No line matches." } else { "Searching…" };
            return view.draw_empty(buf, body, words, "‹.only› shows all lines");
        }
        let numbers = if body.width < MIN_NUMBERED_WIDTH || self.shows_end(view) {
            0
        } else {
            trace.len_lines().max(100).to_string().len()
        };
        let mut layout = RowLayout { numbers, times: self.times && trace.has_times(), width: 0 };
        let signs = if self.compared().is_some() { SIGN_WIDTH } else { 0 };
        let gutter = layout.gutter() as u16 + signs;
        layout.width = usize::from(body.width.saturating_sub(gutter + 2));
        let height = usize::from(body.height);
        let top = if self.doc.wraps() {
            // Lines may be wrapped to several rows, so the visible range starts near the cursor.
            let cursor = self.doc.at(rows);
            self.doc.top().min(cursor).max(cursor.saturating_sub(height))
        } else {
            self.doc.window(rows, height)
        };
        let last = if self.doc.wraps() { self.doc.at(rows).max(top) + height } else { top + height };
        let lines = trace.view_lines((top..last.min(rows)).map(|row| self.line_of(row)), &self.folds);
        let found = self.hits();
        let here = found.and_then(|found| found.matches.get(self.current));
        let marked = self.marked(view);
        doc::draw(buf, body, view.theme, focused, &self.doc, rows, gutter, &|row| {
            if let Some(stand_in) = self.stand_in(row) {
                return stand_in;
            }
            let Some(line) = row.checked_sub(top).and_then(|row| lines.get(row)) else {
                return doc::DocLine::default();
            };
            let marks: Vec<_> = found
                .map(|found| found.on(line.line))
                .unwrap_or_default()
                .iter()
                .map(|hit| (hit.range.clone(), if Some(hit) == here { Role::MatchCurrent } else { Role::Match }))
                .collect();
            let mut built = line.draw(view.theme, &layout, &marks);
            if let Some(is_new) = self.is_new(line.line) {
                built.gutter.push(if is_new { "+ " } else { "  " }, Role::Added);
                built.fill = is_new.then(|| view.theme.style(Role::AddedLine));
            }
            if marked.as_ref().is_some_and(|lines| lines.contains(&line.line)) {
                built.mark(view.theme);
            }
            built
        });
    }

    /// Returns the age of the text of a live job, if the server is not asked often: one that sends the whole text each
    /// time is asked rarely.
    fn text_age(&self, view: &View) -> Option<String> {
        let read_at = view.store.growing::<Trace>(&self.request())?.read_at?;
        let age = view.local_now.duration_since(read_at).as_secs();
        (age >= MIN_TEXT_AGE && !glyph::is_accessible()).then(|| text::duration(age as f64))
    }

    fn bar(&self, view: &View, area: Rect, buf: &mut Buffer, job: &Job, trace: &Trace, extra: Option<(String, Role)>) {
        let theme = view.theme;
        let (dim, dot) = (Role::Dim, glyph::separator());
        let mut left = Line::new(" ", dim);
        let fresh = self.len(trace).saturating_sub(self.seen);
        let is_removed = self.is_removed(view);
        let growing = view.store.growing::<Trace>(&self.request());
        let is_incomplete = job.status.is_finished() && growing.as_ref().is_some_and(|growing| growing.error.is_some());
        if !job.status.is_finished() || is_removed || is_incomplete {
            let stopped = growing.is_some_and(|growing| growing.is_stopped);
            let (words, role) = match (self.doc.follow, fresh) {
                _ if let Some(word) = self.lost_reason(view) => (word.to_owned(), Role::Failed),
                _ if is_removed => ("no longer on the server".into(), Role::Failed),
                _ if is_incomplete => ("incomplete".into(), Role::Failed),
                _ if stopped => ("not followed".into(), Role::Warning),
                (true, _) => ("following".into(), Role::Running),
                (false, 0) => ("paused".into(), Role::Warning),
                (false, n) => (format!("paused, {}", text::count_noun(n as u64, "new line")), Role::Warning),
            };
            left.push(words, role);
            if let Some(age) = self.text_age(view).filter(|_| !is_removed && !is_incomplete) {
                left.push(format!(", {age} old"), dim);
            }
            left.push(dot, dim);
        }
        if let Some(chosen) = self.shown_lines() {
            let more = if chosen.len() >= crate::ui::trace::MAX_FILTERED_LINES { "+" } else { "" };
            left.push(format!("{}{more} of ", text::count(chosen.len() as u64)), Role::Match);
        }
        let lines = text::count_noun(self.len(trace) as u64, "line");
        match self.received(view) {
            Some((received, size)) => {
                let shown = if self.shows_end(view) { format!("last {lines}") } else { lines };
                left.push(format!("{shown}{dot}"), dim);
                left.push(format!("{} read", text::bytes_of(received, Some(size))), Role::Running);
            }
            // In accessible mode, nothing changes while a job prints.
            None if glyph::is_accessible() && !job.status.is_finished() => left.push(lines, dim),
            None => left.push(format!("{lines}{dot}{}", text::bytes(trace.bytes_len())), dim),
        }
        if let Some(marked) = self.marked(view) {
            let lines = text::count_noun(marked.len() as u64, "line");
            left.push(format!("{dot}{lines} marked"), Role::Warning);
        }
        for (words, role) in self.comparison_words(view).into_iter().chain(extra) {
            left.push(format!("{dot}{words}"), role);
        }
        if let Some(why) = trace.disk_error() {
            left.push(format!("{dot}{why}"), Role::Failed);
        }
        let mut right = Line::empty();
        if !self.query.is_empty() {
            let words = text::fit(&self.query, 24);
            let sign = if self.only_matches { "&" } else { "/" };
            right.push(format!("{sign}{words} "), Role::Match);
            right.extend([match self.hits() {
                Some(found) if found.matches.is_empty() && self.received(view).is_some() => {
                    (" nothing found so far ".to_owned(), Role::Warning)
                }
                Some(found) if found.matches.is_empty() => (" nothing found ".to_owned(), Role::Warning),
                Some(found) => {
                    let more = if found.capped { "+" } else { "" };
                    (format!(" {} of {}{more} ", self.current + 1, found.matches.len()), dim)
                }
                None => (" searching… ".into(), dim),
            }]);
        } else if matches!(self.jump, Some(Jump::Error { .. } | Jump::Fold)) {
            right.push(" looking for errors… ", dim);
        }
        line::pair(buf, area, theme, &left, &right);
    }
}
