//! Selections in a trace: marked lines, and the link targets of a line.

use super::Viewer;
use crate::api::GitRef;
use crate::app::action::Action;
use crate::app::clip::Clip;
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::pointer::{self, Pointer};
use crate::app::tone::Tone;
use crate::app::view::View;
use crate::domain::source_location::{self, SourceLocation, Target};
use crate::parts::ci::source_lookup;
use crate::ui::text;
use std::ops::Range;

/// The maximum size of the marked lines that are copied, in bytes.
const MAX_COPIED_BYTES: usize = 4 * 1024 * 1024;
/// The numbers of lines below and above an error that are searched for its location: compilers print it after the
/// message.
const LINES_BELOW: usize = 8;
const LINES_ABOVE: usize = 2;

/// The target of Enter on a line.
#[derive(Debug, PartialEq)]
enum LineTarget {
    Url(String),
    /// Locations that may exist in the repository.
    Files(Vec<SourceLocation>),
}

impl Viewer {
    /// Starts a marked range at the cursor, or clears the current one.
    pub fn toggle_mark(&mut self, view: &View) {
        self.mark = if self.mark.is_some() { None } else { Some(self.line(view)) };
        if self.mark.is_some() {
            let rows = self.rows(view);
            let at = self.doc.at(rows);
            self.doc.goto(at, rows);
        }
    }

    /// Returns the marked lines.
    pub(super) fn marked(&self, view: &View) -> Option<Range<usize>> {
        let (mark, cursor) = (self.mark?, self.line(view));
        Some(mark.min(cursor)..mark.max(cursor) + 1)
    }

    /// Returns the text to copy, with a description: the marked lines, or else the line under the cursor. Hidden lines
    /// are not copied.
    pub fn copied(&self, view: &View) -> Option<Clip> {
        let trace = self.trace(view)?;
        let Some(marked) = self.marked(view) else {
            return Some(Clip::code_line("line", trace.text(self.line(view))?));
        };
        let rows = self.row_of(marked.start)..self.row_of(marked.end - 1) + 1;
        let mut out = String::new();
        for line in rows.map(|row| self.line_of(row)).filter(|line| marked.contains(line)) {
            let Some(words) = trace.text(line) else {
                return Some(Clip::lines("the marked lines (as far as loaded)", out));
            };
            if out.len() + words.len() > MAX_COPIED_BYTES {
                return Some(Clip::lines("the first of the marked lines", out));
            }
            if !out.is_empty() {
                out.push('\n');
            }
            out.push_str(&words);
        }
        Some(Clip::lines("the marked lines", out))
    }

    /// Returns the targets that a line names and that may exist: web pages, and files of the repository.
    fn named(&self, view: &View, line: usize) -> Vec<Target> {
        let Some(words) = self.trace(view).and_then(|trace| trace.text(line)) else { return Vec::new() };
        let project = source_lookup::project_path(view, &self.project);
        let targets = source_location::in_line(&words).map(|found| found.target);
        let may_exist = |target: &Target| match target {
            Target::Url(_) => true,
            Target::File(location) => !location.paths(&project).is_empty(),
        };
        targets.filter(may_exist).collect()
    }

    /// Returns the target that the line under the cursor names; for an error, also those of the lines around it.
    fn target(&self, view: &View) -> Option<LineTarget> {
        let line = self.line(view);
        let mut own = self.named(view, line);
        if let Some(Target::Url(url)) = own.first() {
            return Some(LineTarget::Url(url.clone()));
        }
        let words = self.trace(view)?.text(line)?;
        if own.is_empty() && view.session.trace_settings.patterns.errors.is_match(&words) {
            let around = (line + 1..=line + LINES_BELOW).chain((line.saturating_sub(LINES_ABOVE)..line).rev());
            own = around.flat_map(|line| self.named(view, line)).collect();
        }
        let location = |target| if let Target::File(location) = target { Some(location) } else { None };
        let mut locations: Vec<SourceLocation> = own.into_iter().filter_map(location).collect();
        locations.sort_by_key(SourceLocation::is_foreign);
        Some(LineTarget::Files(locations)).filter(|target| *target != LineTarget::Files(Vec::new()))
    }

    fn open(&self, target: LineTarget, cx: &mut Cx) {
        match target {
            LineTarget::Url(url) => {
                cx.say(Tone::Info, format!("Opening {}", text::sanitize(&url)));
                cx.act(Action::Browse(url));
            }
            LineTarget::Files(locations) => {
                let job = self.job(&cx.view);
                let sha = job.and_then(|job| job.commit.as_ref()).map(|commit| commit.id.as_str());
                let at =
                    sha.filter(|sha| !sha.is_empty()).map(GitRef::from).or_else(|| job.and_then(|job| job.git_ref()));
                let Some(at) = at else {
                    return cx.say(Tone::Warning, "The commit of this job is unknown.");
                };
                source_lookup::open(&self.project, Some(at), locations, Vec::new(), cx);
            }
        }
    }

    /// Returns whether the cursor is on folded equal lines, or on what only the last success has.
    fn on_fold(&self, view: &View) -> bool {
        self.is_stand_in(self.doc.at(self.rows(view)))
    }

    fn on_heading(&self, view: &View) -> bool {
        let line = self.line(view);
        self.trace(view).is_some_and(|t| t.sections().binary_search_by_key(&line, |s| s.line).is_ok())
    }

    /// Folds at a heading; elsewhere opens the target of the line, or folds the section around it.
    pub fn enter(&mut self, cx: &mut Cx) {
        let opens = !self.on_heading(&cx.view) && !self.on_fold(&cx.view);
        match self.target(&cx.view).filter(|_| opens) {
            Some(target) => self.open(target, cx),
            None => self.toggle(cx),
        }
    }

    /// Returns an error unless Enter has something to do at the cursor.
    pub fn can_enter(&self, view: &View) -> Result<(), Disabled> {
        match self.need_sections(view) {
            Err(_) if self.target(view).is_some() => Ok(()),
            other => other,
        }
    }

    /// Handles a click on the trace: moves the cursor, folds at a heading, and opens a target on a double click.
    /// A drag marks the lines from where it began. Returns `false` if the click was outside.
    pub fn press(&mut self, pointer: Pointer, cx: &mut Cx) -> bool {
        let area = self.area.get();
        let (column, row, double) = match pointer {
            Pointer::Press { column, row, double } => (column, row, double),
            Pointer::Drag { row, .. } => {
                let rows = self.rows(&cx.view);
                let y = pointer::row_in(area, row);
                if let Some((at, from)) = self.doc.line_at(y, rows).and_then(|at| Some((at, self.drag.drag(at)?))) {
                    self.mark = Some(self.line_of(from));
                    self.doc.goto(at, rows);
                }
                return false;
            }
            Pointer::Release => {
                if let Some(at) = self.drag.release().filter(|_| self.mark.is_some()) {
                    let rows = self.rows(&cx.view);
                    self.mark = None;
                    self.doc.goto(at, rows);
                }
                return false;
            }
            Pointer::Wheel { .. } => return false,
        };
        if !area.contains((column, row).into()) {
            return false;
        }
        let rows = self.rows(&cx.view);
        let Some(at) = self.doc.line_at(row - area.y, rows) else { return true };
        let line = self.line_of(at);
        if !self.drag.press(at, self.marked(&cx.view).is_some_and(|marked| marked.contains(&line))) {
            return true;
        }
        self.mark = None;
        self.doc.goto(at, rows);
        if self.on_fold(&cx.view) || self.on_heading(&cx.view) && self.compared().is_none() {
            self.toggle(cx);
        } else if double && let Some(target) = self.target(&cx.view) {
            self.open(target, cx);
        }
        true
    }

    /// Returns whether the trace was last drawn at that cell.
    pub fn contains(&self, column: u16, row: u16) -> bool {
        self.area.get().contains((column, row).into())
    }

    /// Forgets the clickable area, because the trace is not visible.
    pub fn hide(&self) {
        self.area.set(ratatui::layout::Rect::default());
    }
}
