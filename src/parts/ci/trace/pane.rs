//! A trace as a part that can have the focus: what it needs, its keys, and the search in it.

use super::work::{ReadBack, only_key, search_key};
use super::{Jump, Viewer, with_last_lines};
use crate::api::pipelines::resources::Status;
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::custom::InputKind;
use crate::app::motion::Motion;
use crate::app::pane::{CodeHere, CommandInput, Pane, SearchMode};
use crate::app::view::View;
use crate::parts::ci::{self, POLL_INTERVAL};
use crate::parts::programs;
use crate::store::{Load, Want, Work};
use crate::ui::glyph;
use crate::ui::search::Matches;
use crate::ui::trace::{Folds, Trace};
use crate::ui::{text, words};
use serde_json::json;
use std::borrow::Cow;

impl Viewer {
    pub(super) fn hits(&self) -> Option<&Matches> {
        self.found.as_ref().filter(|_| !self.query.is_empty()).map(|found| &found.result)
    }

    pub(super) fn show_match(&mut self, trace: &Trace, found: &Matches, index: usize) {
        let Some(hit) = found.matches.get(index) else { return };
        self.current = index;
        self.goto(trace, hit.line);
        if let Some(words) = trace.text(hit.line) {
            self.doc.show_columns(text::columns(&words, hit.range.clone()));
        }
    }
}

impl Pane for Viewer {
    fn wants(&self, view: &View) -> Vec<Want> {
        let load = Load::single(&self.query_job());
        let Some(job) = self.job(view) else {
            let mut wants = vec![load.clone().into()];
            // Most jobs that are opened have a trace, so both are requested at once.
            if self.remote(view).error.is_none() {
                wants.push(self.want_trace(load));
            }
            return wants;
        };
        // While the job runs, the stream brings its state; before that and after an error of the stream, it has to be
        // polled.
        let broken = view.store.growing::<Trace>(&self.request()).is_some_and(|g| g.is_stopped);
        let waits = ci::may_change(job) && (broken || !job.status.is_running());
        let mut wants: Vec<Want> = vec![load.clone().refresh_after(waits.then_some(POLL_INTERVAL)).into()];
        if self.has_trace(view, job) {
            wants.push(self.want_trace(load));
        }
        if let Some(trace) = self.trace(view) {
            wants.extend(Viewer::want_spill(view, self.name(trace), trace));
            let blocks = trace.spilled_blocks(self.window(view, trace));
            if !blocks.is_empty() {
                wants.push(Work::new(ReadBack { name: self.name(trace), trace: trace.clone(), blocks }).into());
            }
            // A search is finished for the part of the trace that was known at its start before it is started again.
            // Otherwise it would never finish in a trace that grows without pause.
            let now = self.identity(trace);
            let known = !self.searched_identity.borrow().is_empty();
            let mut works = if known { self.searches(view, trace) } else { Vec::new() };
            if works.is_empty() && *self.searched_identity.borrow() != now {
                self.searched_identity.replace(now);
                works = self.searches(view, trace);
            }
            wants.extend(works);
        }
        wants.extend(self.comparison_wants(view));
        wants
    }

    fn changed(&mut self, cx: &mut Cx) {
        let view = cx.view;
        let Some(job) = self.job(&view) else { return };
        let growing = view.store.growing::<Trace>(&self.request());
        let is_read = growing.as_ref().is_some_and(|growing| growing.is_complete || growing.read_at.is_some());
        let has_end = growing.as_ref().is_some_and(|growing| growing.end.is_some());
        if !self.opened && (!job.status.is_finished() || growing.is_some_and(|g| g.is_complete)) {
            self.opened = true;
            if job.status == Status::Failed {
                self.start_jump(Jump::Failure, &view);
            }
        }
        if has_end && self.above_end.is_none() && !self.doc.follow {
            // The user has moved before the end came.
            self.at_end = false;
        }
        let Some(trace) = self.trace(&view) else { return };
        self.discard_if_rewritten(trace, cx);
        let above_end = self.above_end.take();
        match self.shows_end(&view) {
            true => self.above_end = Some(trace.len_lines().saturating_sub(self.line(&view))),
            // Everything is known now: the cursor stays on its line.
            false if self.received(&view).is_none() => {
                // It is 0 as long as only `G` was pressed, and the end was not shown.
                if let Some(above_end) = above_end.filter(|lines| *lines > 0) {
                    self.folds = Folds::default();
                    self.folds.refresh(trace);
                    self.seen = trace.len_lines();
                    if !self.doc.follow {
                        self.goto(trace, trace.len_lines().saturating_sub(above_end));
                    }
                }
            }
            false => {}
        }
        self.folds.refresh(trace);
        let is_opening = glyph::is_accessible() && !self.was_read;
        if self.doc.follow || is_opening || self.seen > trace.len_lines() {
            self.seen = trace.len_lines();
        }
        self.was_read |= is_read;
        let identity = self.searched_identity.borrow().clone();
        if !self.query.is_empty() {
            let found = view.store.shared_result(&search_key(&identity, &self.query));
            self.found = found.or(self.found.take());
            if self.only_matches
                && let Some(lines) = view.store.shared_result(&only_key(&identity, &self.query))
            {
                // The cursor stays on its line, or on the nearest one that is left.
                let line = self.line(&view);
                self.matching_lines = Some(lines);
                if !self.doc.follow {
                    self.show(trace, line);
                }
            }
        }
        self.finish_jump(trace, &identity, cx);
        self.update_comparison(cx);
    }

    fn motion(&mut self, motion: Motion, cx: &mut Cx) {
        let view = &cx.view;
        match motion {
            Motion::First => self.show_end(false, view),
            Motion::Last => self.show_end(true, view),
            _ => {}
        }
        let is_at_end = self.doc.at(self.rows(view)) + 1 >= self.rows(view);
        if self.is_still() && (is_at_end || motion == Motion::Last) {
            self.seen = self.trace(view).map_or(0, Trace::len_lines);
        }
        let len = self.rows(view);
        let live = self.need_live(view).is_ok();
        motion.scroll(&mut self.doc, len);
        if motion == Motion::Last && !glyph::is_accessible() {
            // At the end of a growing trace, the user usually wants to follow it.
            self.doc.follow = live;
        }
    }

    fn search(&self) -> Option<(SearchMode, String)> {
        Some((SearchMode::Expression, self.query.clone()))
    }

    fn begin_search(&mut self, view: &View) {
        self.origin = self.line(view);
        self.jump = self.jump.filter(|jump| *jump != Jump::Match);
    }

    fn set_filter_text(&mut self, text: &str, cx: &mut Cx) {
        self.query = text.to_owned();
        (self.current, self.found, self.matching_lines) = (0, None, None);
        self.jump = Some(Jump::Match).filter(|_| !text.is_empty());
        if text.is_empty() {
            self.only_matches = false;
            if let Some(trace) = self.trace(&cx.view).filter(|_| !self.doc.follow) {
                self.goto(trace, self.origin);
            }
        }
    }

    fn next_match(&mut self, forward: bool, cx: &mut Cx) {
        let at = self.line(&cx.view);
        let (Some(found), Some(trace)) = (self.found.clone(), self.trace(&cx.view)) else { return };
        let found = &found.result;
        if let Some(index) = found.step(at, Some(self.current), forward) {
            self.show_match(trace, found, index);
        }
    }

    fn escape(&mut self, cx: &mut Cx) -> bool {
        if self.mark.take().is_some() {
            return true;
        }
        if self.only_matches {
            return self.toggle_only(&cx.view);
        }
        if !self.query.is_empty() {
            self.begin_search(&cx.view);
            self.set_filter_text("", cx);
            return true;
        }
        self.leave_comparison(cx)
    }

    fn url(&self, view: &View) -> Option<String> {
        Some(ci::url(view, &self.project, self.job(view)?))
    }

    fn code(&self, view: &View) -> CodeHere {
        let (Some(trace), here) = (self.trace(view), self.line(view)) else { return CodeHere::default() };
        let lines = self.marked(view).unwrap_or(here..here + 1);
        let words = words::searchable(lines.map_while(|line| trace.text(line).map(Cow::Owned)), &self.query);
        CodeHere { words, ..CodeHere::default() }
    }

    fn command_input(&self, kind: InputKind, view: &View) -> Result<CommandInput, Disabled> {
        if kind != InputKind::Trace {
            return Err(kind.missing());
        }
        self.need_text(view)?;
        let (Some(trace), Some(job)) = (self.trace(view), self.job(view)) else {
            return Err("it has not loaded yet".into());
        };
        let branch = match job.tag {
            true => Err("the job is of a tag".into()),
            false => Ok((self.project.clone(), job.r#ref.clone())),
        };
        let about = json!({
            "project": self.project.to_string(), "job_id": self.id, "name": job.name, "stage": job.stage,
            "status": job.status.as_str(), "ref": job.r#ref, "sha": job.commit.as_ref().map(|commit| commit.id.as_str()),
            "url": job.web_url, "line": self.line(view) + 1,
        });
        let trace = trace.clone();
        Ok(programs::only_staged(move || with_last_lines(about, &trace), branch))
    }

    fn ticks(&self, view: &View) -> bool {
        self.is_live(view) && self.job(view).is_some_and(|job| job.status.is_running())
    }
}
