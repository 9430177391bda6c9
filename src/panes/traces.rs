//! A grid of traces that are followed side by side.

use crate::api::Id;
use crate::api::jobs::{Job, ListPipelineJobs};
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
use crate::parts::ci::job_commands::ShowsJob;
use crate::parts::ci::trace::Viewer;
use crate::parts::ci::trace::keys::ShowsTrace;
use crate::parts::ci::{self, JobAction, POLL_INTERVAL};
use crate::parts::project;
use crate::store::{Load, Want};
use crate::ui::panels::{self, Panels};
use crate::ui::theme::Role;
use crate::ui::{glyph, text};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// The minimum width and height of a trace, including its title.
const MIN_SIZE: (u16, u16) = (36, 4);
/// The width in columns from which a trace is comfortable to read.
const COMFORTABLE_WIDTH: u16 = 70;

/// The traces of some jobs of a project.
pub struct Traces {
    viewers: Vec<Viewer>,
    panels: Panels,
}

/// Returns the number of columns and rows of the grid for `count` traces. It may have too few places for all of them.
fn grid(count: usize, area: Rect) -> (u16, u16) {
    if glyph::is_accessible() {
        return (1, 1);
    }
    let count = u16::try_from(count).unwrap_or(u16::MAX).max(1);
    let most = (area.width / MIN_SIZE.0).max(1).min(count);
    let tall = (area.height / MIN_SIZE.1).max(1);
    let fits = |columns: &u16| count.div_ceil(*columns) <= tall;
    // Traces are comfortably wide if they fit the height that way; else as many columns are used as necessary.
    let ease = (area.width / COMFORTABLE_WIDTH).max(1).min(count);
    let columns = (ease..=most).find(fits).unwrap_or(most);
    // Columns are reduced to those that the rows need: four traces are shown two by two.
    let rows = count.div_ceil(columns).min(tall);
    (count.div_ceil(rows).min(columns), rows)
}

impl Traces {
    fn here(&self) -> Option<&Viewer> {
        self.viewers.get(self.panels.focus())
    }

    fn with_focused(&mut self, run: impl FnOnce(&mut Viewer)) {
        if let Some(viewer) = self.viewers.get_mut(self.panels.focus()) {
            run(viewer);
        }
    }

    /// Replaces a trace by that of another run, and reports it. If that run is shown already, gives it the focus.
    fn switch_run(&mut self, at: usize, id: u64, cx: &mut Cx) {
        let known = self.viewers.iter().position(|viewer| viewer.id == id);
        let Some(viewer) = self.viewers.get_mut(at) else { return };
        let name = viewer.job(&cx.view).map(|job| text::sanitize(&job.name).into_owned()).unwrap_or_default();
        match known {
            Some(known) => self.panels.set_focus(known),
            None => {
                let before = std::mem::replace(viewer, Viewer::new(viewer.project.clone(), id));
                cx.say(Tone::Info, format!("#{} {name} was retried: this is #{id}.", before.id));
            }
        }
    }

    fn enter(&mut self, cx: &mut Cx) {
        if let Some(viewer) = self.here() {
            cx.go(Place::new("job").project(viewer.project.clone()).item(viewer.id));
        }
    }

    /// Removes the focused trace; the last one is never removed.
    fn remove_focused(&mut self) {
        let at = self.panels.focus();
        if self.viewers.len() > 1 && at < self.viewers.len() {
            self.viewers.remove(at);
            let zoomed = self.panels.zoomed();
            self.panels = Panels::new(self.viewers.len());
            self.panels.set_focus(at.min(self.viewers.len() - 1));
            if zoomed {
                self.panels.toggle_zoom();
            }
        }
    }

    fn follow_all(&mut self, cx: &mut Cx) {
        let all = self.viewers.iter().all(Viewer::follows);
        for viewer in &mut self.viewers {
            viewer.set_follow(!all, cx);
        }
    }

    /// Returns the areas of the traces. Traces without room are left out, but never the focused one.
    fn places(&self, area: Rect) -> Vec<(usize, Rect)> {
        let focus = self.panels.focus();
        if self.panels.zoomed() {
            return vec![(focus, area)];
        }
        let (columns, rows) = grid(self.viewers.len(), area);
        let shown = usize::from(columns * rows).min(self.viewers.len());
        let first = (focus + 1).saturating_sub(shown);
        let mut places = Vec::with_capacity(shown);
        for place in 0..shown as u16 {
            let (row, column) = (place / columns, place % columns);
            let y = |row: u16| area.y + (u32::from(area.height) * u32::from(row) / u32::from(rows)) as u16;
            // The last row may have fewer traces, which share its width.
            let across = columns.min(shown as u16 - row * columns);
            let x = |column: u16| area.x + (u32::from(area.width) * u32::from(column) / u32::from(across)) as u16;
            let gap = u16::from(column + 1 < across);
            let width = (x(column + 1) - x(column)).saturating_sub(gap);
            places.push((first + usize::from(place), Rect::new(x(column), y(row), width, y(row + 1) - y(row))));
        }
        places
    }

    fn draw_one(&self, view: &View, area: Rect, buf: &mut Buffer, index: usize) {
        let Some(viewer) = self.viewers.get(index) else { return };
        let focused = index == self.panels.focus();
        let Some(job) = viewer.job(view) else {
            let body = panels::title(buf, area, view.theme, focused, &format!("#{}", viewer.id), "");
            return viewer.draw_small(view, body, buf, focused);
        };
        let sign = glyph::or_word(ci::sign(job).0, "");
        let again = viewer.newer_words(view).unwrap_or_default();
        let state = match viewer.lost_reason(view) {
            Some(word) => format!("{} {word}", glyph::status_glyph("failed").0),
            None => format!("{sign} {} {}", ci::status_word(&job.status), ci::duration(job, view.now)),
        };
        let facts = [again, state, viewer.note(view)];
        let mut facts: Vec<&str> = facts.iter().map(|fact| fact.trim()).filter(|fact| !fact.is_empty()).collect();
        // In a narrow title, the facts at the end are dropped first; the state is more important.
        while facts.len() > 1 && text::width(&facts.join(glyph::separator())) + 2 > usize::from(area.width) * 2 / 3 {
            facts.pop();
        }
        let title = format!("#{} {}", job.id, job.name);
        let body = panels::title(buf, area, view.theme, focused, &title, &facts.join(glyph::separator()));
        viewer.draw_small(view, body, buf, focused);
    }
}

impl ShowsTrace for Traces {
    fn viewer(&self) -> Result<&Viewer, Disabled> {
        self.here().ok_or_else(|| "there is no trace".into())
    }

    fn viewer_mut(&mut self) -> Option<&mut Viewer> {
        self.viewers.get_mut(self.panels.focus())
    }

    fn show_run(&mut self, id: u64, cx: &mut Cx) {
        self.switch_run(self.panels.focus(), id, cx);
    }
}

impl ShowsJob for Traces {
    fn job<'a>(&self, view: &View<'a>) -> Result<(Id, &'a Job), Disabled> {
        let viewer = self.viewer()?;
        let job = viewer.job(view).ok_or("the job has not loaded yet")?;
        Ok((viewer.project.clone(), job))
    }

    fn before(&mut self, action: JobAction, cx: &Cx) -> Option<Action> {
        if action == JobAction::Retry {
            self.with_focused(|viewer| viewer.retry_requested(&cx.view));
        }
        None
    }
}

impl PaneKind for Traces {
    const ID: &'static str = "traces";
    const TABLES: &'static [Table<Self>] = &[Self::ERRORS, Self::COMMANDS, Self::TRACE, Self::WATCH, Self::JOB];
    const COMMANDS: Table<Self> = &[
        Command::new("traces.open", &["Enter"], "Open job", |pane: &mut Self, cx| pane.enter(cx)).footer("job"),
        Command::new("traces.follow_all", &["F"], "Toggle follow for all", |pane: &mut Self, cx| pane.follow_all(cx))
            .footer("all"),
        Command::new("traces.toggle", &["-"], "Toggle section", |pane: &mut Self, cx| {
            pane.with_focused(|viewer| viewer.toggle(cx));
        })
        .when(|pane, view| pane.viewer()?.need_sections(view)),
        Command::new("traces.leave", &["x"], "Remove trace from view", |pane: &mut Self, _| pane.remove_focused())
            .footer("remove")
            .when(|pane, _| if pane.viewers.len() > 1 { Ok(()) } else { Err("it is the only one".into()) }),
    ];

    fn is_own(&self, view: &View) -> bool {
        let viewer = self.here();
        viewer.is_some_and(|viewer| viewer.job(view).is_some_and(|job| ci::is_own(view, &viewer.project, job)))
    }

    fn open(place: &Place, _view: &View) -> Self {
        let project = place.project.clone().unwrap_or_default();
        let ids = place.item.as_deref().unwrap_or_default().split(',').filter_map(|id| id.parse().ok());
        let mut viewers: Vec<Viewer> = Vec::new();
        for id in ids {
            if viewers.len() < ci::MAX_TRACES && !viewers.iter().any(|known| known.id == id) {
                viewers.push(Viewer::new(project.clone(), id));
            }
        }
        let panels = Panels::new(viewers.len());
        Traces { viewers, panels }
    }
}

impl Pane for Traces {
    fn focused(&self) -> Option<&dyn Pane> {
        self.viewers.get(self.panels.focus()).map(|viewer| viewer as _)
    }

    fn focused_mut(&mut self) -> Option<&mut dyn Pane> {
        self.viewers.get_mut(self.panels.focus()).map(|viewer| viewer as _)
    }

    fn ticks(&self, view: &View) -> bool {
        self.viewers.iter().any(|viewer| viewer.ticks(view))
    }

    fn place(&self) -> Place {
        let project = self.here().map(|viewer| viewer.project.clone()).unwrap_or_default();
        ci::traces(&project, self.viewers.iter().map(|viewer| viewer.id))
    }

    fn breadcrumbs(&self, view: &View) -> Vec<Breadcrumb> {
        let mut breadcrumbs = self.here().map(|viewer| project::breadcrumbs(view, &viewer.project)).unwrap_or_default();
        breadcrumbs.push(Breadcrumb::new(text::count_noun(self.viewers.len() as u64, "trace"), Role::Title));
        let live = self.viewers.iter().filter(|viewer| viewer.is_live(view)).filter_map(|viewer| viewer.job(view));
        let (runs, waits): (Vec<&Job>, Vec<&Job>) = live.partition(|job| job.status.is_running());
        for (jobs, word, role) in [(runs, "running", Role::Running), (waits, "waiting", Role::Pending)] {
            breadcrumbs.extend((!jobs.is_empty()).then(|| Breadcrumb::new(format!("{} {word}", jobs.len()), role)));
        }
        breadcrumbs
    }

    fn wants(&self, view: &View) -> Vec<Want> {
        let mut wants: Vec<Want> = self.viewers.iter().flat_map(|viewer| viewer.wants(view)).collect();
        wants.extend(self.here().and_then(|viewer| ci::want_path(&viewer.project)));
        wants.extend(self.here().into_iter().flat_map(|v| ci::environment_wants(view, &v.project, v.job(view))));
        // The jobs of the pipeline tell whether a job was retried. Most traces belong to the same pipeline.
        let mut queries: Vec<ListPipelineJobs> = Vec::new();
        for viewer in &self.viewers {
            let query = viewer.job(view).and_then(|job| viewer.siblings_query(job));
            queries.extend(query.filter(|query| !queries.contains(query)));
        }
        for query in queries {
            let live = view.store.list(&query).iter().any(ci::may_change);
            wants.push(Load::list(&query, 1).refresh_after(live.then_some(POLL_INTERVAL * 2)).into());
        }
        wants
    }

    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        self.viewers.iter().for_each(Viewer::hide);
        for (index, area) in self.places(area) {
            self.draw_one(view, area, buf, index);
        }
    }

    fn changed(&mut self, cx: &mut Cx) {
        for at in 0..self.viewers.len() {
            if let Some(id) = self.viewers.get_mut(at).and_then(|viewer| viewer.take_retried_run(&cx.view)) {
                self.switch_run(at, id, cx);
            }
        }
        for viewer in &mut self.viewers {
            viewer.changed(cx);
        }
    }

    fn pointer(&mut self, pointer: Pointer, cx: &mut Cx) {
        match pointer {
            Pointer::Wheel { column, row, rows } => {
                // The wheel scrolls the trace under the pointer without changing the focus.
                if let Some(viewer) = self.viewers.iter_mut().find(|viewer| viewer.contains(column, row)) {
                    viewer.motion(Motion::Wheel(rows), cx);
                }
            }
            Pointer::Press { column, row, double } => {
                let Some(at) = self.viewers.iter().position(|viewer| viewer.contains(column, row)) else { return };
                self.panels.set_focus(at);
                if double {
                    return self.enter(cx);
                }
                self.with_focused(|viewer| _ = viewer.press(pointer, cx));
            }
            Pointer::Drag { .. } | Pointer::Release => self.with_focused(|viewer| _ = viewer.press(pointer, cx)),
        }
    }

    fn panels(&mut self) -> Option<&mut Panels> {
        Some(&mut self.panels)
    }

    fn escape(&mut self, cx: &mut Cx) -> bool {
        let mut done = false;
        self.with_focused(|viewer| done = viewer.escape(cx));
        if !done && self.panels.zoomed() {
            self.panels.toggle_zoom();
            return true;
        }
        done
    }

    fn copies(&self, view: &View) -> Vec<Clip> {
        let mut copies: Vec<Clip> = self.here().and_then(|viewer| viewer.copied(view)).into_iter().collect();
        copies.extend(self.here().map(|viewer| Clip::line("job number", viewer.id.to_string())));
        copies
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grid_depends_on_the_size() {
        let of = |count, width, height| grid(count, Rect::new(0, 0, width, height));
        assert_eq!(of(2, 160, 40), (2, 1));
        assert_eq!(of(4, 160, 40), (2, 2));
        assert_eq!(of(6, 240, 50), (3, 2));
        assert_eq!(of(2, 80, 22), (1, 2));
        assert_eq!(of(4, 80, 22), (1, 4));
        assert_eq!(of(6, 80, 22), (2, 3));
        assert_eq!(of(6, 44, 10), (1, 2));
        assert_eq!(of(1, 10, 1), (1, 1));
    }
}
