//! Runners: of a project, one's own, or all of the server; beside them what the selected one does.

mod details;

use super::ci::{self, PULSE};
use super::list::{Listing, trouble};
use crate::api::jobs::{Job, Status};
use crate::api::runners::{
    DeleteRunner, GetRunner, ListAllRunners, ListProjectRunners, ListRunnerJobs, ListRunners, Runner, UpdateRunner,
};
use crate::api::{Id, Known};
use crate::app::App;
use crate::app::action::Action;
use crate::app::command::{Command, Motion, WhyNot};
use crate::app::overlay::prompt::Prompt;
use crate::app::pane::{Crumb, Cx, Pane, Pointer, Seek, Tabs, View};
use crate::app::place::Place;
use crate::store::{Load, Rows, Want, Write};
use crate::ui::panels::{self, Ask, Panels};
use crate::ui::table::{Cell, Column, Row, Size};
use crate::ui::theme::Role;
use crate::ui::{glyph, state, text};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::time::Duration;

/// Runners whose details are asked for at once: the lists leave most facts out.
const DETAILED: usize = 20;
const LIST: usize = 0;
const JOBS: usize = 1;

/// Which runners are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    Project,
    Mine,
    All,
}

const IN_PROJECT: &[(&str, Scope)] = &[("Project", Scope::Project), ("Mine", Scope::Mine), ("All", Scope::All)];
const IN_PROJECT_TITLES: &[&str] = &["Project", "Mine", "All"];
const EVERYWHERE: &[(&str, Scope)] = &[("Mine", Scope::Mine), ("All", Scope::All)];
const EVERYWHERE_TITLES: &[&str] = &["Mine", "All"];

/// The list of runners.
pub struct Runners {
    project: Option<Id>,
    scope: Scope,
    filter: String,
    list: Listing,
    jobs: Listing,
    panels: Panels,
    /// Whose jobs are listed.
    shown: Option<u64>,
}

/// Glyph, word and role of a runner's status: what a person told it goes before whether it can be reached.
fn status(runner: &Runner) -> (&'static str, String, Role) {
    let word = match runner.status.as_str() {
        _ if runner.is_paused() => "paused",
        "" if runner.online == Some(true) => "online",
        "" => "offline",
        word => word,
    };
    let (sign, role) = glyph::status(word);
    (sign, word.replace('_', " "), role)
}

/// Whom it serves, in one word.
fn kind(runner: &Runner) -> &'static str {
    match runner.runner_type.as_deref() {
        Some("group_type") => "group",
        _ if runner.is_shared => "shared",
        _ => "specific",
    }
}

impl Runners {
    fn scopes(&self) -> &'static [(&'static str, Scope)] {
        if self.project.is_some() { IN_PROJECT } else { EVERYWHERE }
    }

    fn load(&self, pages: u32) -> Load {
        match (self.scope, &self.project) {
            (Scope::Project, Some(id)) => Load::list(&ListProjectRunners { id: id.clone() }, pages),
            (Scope::All, _) => Load::list(&ListAllRunners::default(), pages),
            _ => Load::list(&ListRunners::default(), pages),
        }
    }

    fn rows<'a>(&self, view: &View<'a>) -> Rows<'a, Runner> {
        match (self.scope, &self.project) {
            (Scope::Project, Some(id)) => view.store.list(&ListProjectRunners { id: id.clone() }),
            (Scope::All, _) => view.store.list(&ListAllRunners::default()),
            _ => view.store.list(&ListRunners::default()),
        }
    }

    fn current<'a>(&self, view: &View<'a>) -> Option<&'a Runner> {
        let listed = self.list.selected(&self.rows(view))?;
        Some(detailed(view, listed))
    }

    fn jobs_query(&self) -> Option<ListRunnerJobs> {
        Some(ListRunnerJobs { id: self.shown?, status: None })
    }

    fn jobs_rows<'a>(&self, view: &View<'a>) -> Option<Rows<'a, Job>> {
        Some(view.store.list(&self.jobs_query()?))
    }

    fn on_jobs(&self) -> bool {
        self.panels.focus() == JOBS
    }

    fn has_runner(&self, view: &View) -> Result<(), WhyNot> {
        self.current(view).map(|_| ()).ok_or_else(|| "no runner is selected".into())
    }

    fn enter(&mut self, cx: &mut Cx) {
        if !self.on_jobs() {
            return self.panels.set_focus(JOBS);
        }
        let job = self.jobs_rows(&cx.view).and_then(|rows| self.jobs.selected(&rows));
        let Some(job) = job else { return };
        let project = job.project().map(|p| Id::from(p.path_with_namespace.as_str())).or(self.project.clone());
        if let Some(project) = project {
            cx.go(Place::new("job").project(project).item(job.id));
        }
    }

    fn update(&self, cx: &mut Cx, what: &str, change: impl FnOnce(UpdateRunner) -> UpdateRunner) {
        if let Some(runner) = self.current(&cx.view) {
            let update = change(UpdateRunner { id: runner.id, ..UpdateRunner::default() });
            let what = format!("{what} runner #{} {}", runner.id, text::shown(&runner.label()));
            cx.act(Action::Send(Write::new(&update, what)));
        }
    }

    fn pause(&mut self, cx: &mut Cx) {
        let paused = self.current(&cx.view).is_some_and(Runner::is_paused);
        let what = if paused { "resume" } else { "pause" };
        self.update(cx, what, |update| UpdateRunner { active: Some(paused), ..update });
    }

    fn remove(&mut self, cx: &mut Cx) {
        let Some(runner) = self.current(&cx.view) else { return };
        let name = format!("runner #{} {}", runner.id, text::shown(&runner.label()));
        let write = Write::new(&DeleteRunner { id: runner.id }, format!("remove {name}"));
        let question = format!("Remove {name}? It takes no more jobs, and must be registered anew to come back.");
        cx.act(App::confirm("Remove", question, Action::Send(write)));
    }

    fn row(&self, view: &View, listed: &Runner) -> Row {
        let runner = detailed(view, listed);
        let (sign, word, role) = status(runner);
        let version = runner.version.known().cloned().unwrap_or_default();
        Row::new(vec![
            Cell::from((format!("{sign} {word}"), role)),
            Cell::from((runner.label(), Role::Text)),
            Cell::from((runner.tags().join(" "), Role::Label)),
            Cell::from((kind(runner), Role::Dim)),
            Cell::from((version, Role::Dim)),
            Cell::from((format!("#{}", runner.id), Role::Dim)),
            Cell::from((age(view, runner), Role::Dim)),
        ])
        .dim(!self.fits(runner) || runner.is_paused())
    }

    fn fits(&self, runner: &Runner) -> bool {
        let wanted = self.filter.to_lowercase();
        runner.label().to_lowercase().contains(&wanted)
            || runner.tags().iter().any(|tag| tag.to_lowercase().contains(&wanted))
    }

    fn draw_list(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let rows = self.rows(view);
        let columns = [
            Column::new("", Size::Fit { min: 8, max: 16 }),
            Column::new("", Size::Fill { min: 16, weight: 1 }),
            Column::new("", Size::Fit { min: 4, max: 22 }).priority(3),
            Column::new("", Size::Fit { min: 6, max: 8 }).priority(2),
            Column::new("", Size::Fit { min: 5, max: 9 }).priority(4),
            Column::new("", Size::Fit { min: 2, max: 6 }).right().priority(5),
            Column::new("", Size::Fit { min: 4, max: 5 }).right().priority(1),
        ];
        let empty = match self.scope {
            Scope::Project => ("No runner serves this project.", "2 shows yours"),
            Scope::Mine => ("You have no runners of your own.", "The tab All shows those of the server"),
            Scope::All => ("This server has no runners.", ""),
        };
        self.list.draw(view, area, buf, !self.on_jobs(), &rows, &columns, |runner| self.row(view, runner), empty);
    }

    fn draw_details(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let theme = view.theme;
        let Some(runner) = self.current(view) else {
            panels::title(buf, area, theme, self.on_jobs(), "runner", "");
            return;
        };
        let body = panels::title(buf, area, theme, self.on_jobs(), &runner.label(), &format!("#{}", runner.id));
        let rest = details::draw(view, body, buf, runner);
        let Some(rows) = self.jobs_rows(view) else { return };
        let running = rows.iter().filter(|job| job.status.is_running()).count();
        let facts = if running > 0 { format!("{running} running") } else { String::new() };
        let rest = Rect { y: rest.y + 1, height: rest.height.saturating_sub(1), ..rest };
        let body = panels::title(buf, rest, theme, self.on_jobs(), "jobs", &facts);
        let columns = [
            Column::new("", Size::Fit { min: 9, max: 12 }),
            Column::new("", Size::Fit { min: 8, max: 24 }).middle().priority(1),
            Column::new("", Size::Fill { min: 10, weight: 1 }),
            Column::new("", Size::Fit { min: 6, max: 7 }).right(),
            Column::new("", Size::Fixed(4)).right().priority(2),
        ];
        let row = |job: &Job| {
            Row::new(vec![
                ci::status_cell(job),
                Cell::from((job.project().map(|p| p.path_with_namespace.clone()).unwrap_or_default(), Role::Dim)),
                Cell::from((format!("#{} {}", job.id, job.name), Role::Text)),
                Cell::from((ci::took(job, view.now), Role::Text)),
                Cell::from((super::list::age(view, ci::last(job)), Role::Dim)),
            ])
        };
        if body.height == 0 {
            return;
        }
        self.jobs.draw(view, body, buf, self.on_jobs(), &rows, &columns, row, ("It has run no job yet.", ""));
    }
}

/// The same runner with everything that is known of it.
fn detailed<'a>(view: &View<'a>, listed: &'a Runner) -> &'a Runner {
    view.store.get(&GetRunner { id: listed.id }).value.unwrap_or(listed)
}

fn age(view: &View, runner: &Runner) -> String {
    runner.contacted_at.known().map(|at| super::list::age(view, Some(at))).unwrap_or_default()
}

impl Pane for Runners {
    const ID: &'static str = "runners";
    const TITLE: &'static str = "Runners and what they do";
    const COMMANDS: &'static [Command<Self>] = &[
        Command::new("runners.open", &["Enter"], "Show its jobs, open one", |pane: &mut Self, cx| pane.enter(cx))
            .footer("jobs")
            .when(Runners::has_runner),
        Command::new("runners.pause", &["P"], "Pause or resume it", |pane: &mut Self, cx| pane.pause(cx))
            .footer("pause")
            .writes()
            .when(Runners::has_runner),
        Command::new("runners.tags", &["t"], "Change its tags", |pane: &mut Self, cx| {
            if let Some(runner) = pane.current(&cx.view) {
                let prompt = Prompt::ask("tags, with commas", "tags", runner.tags().join(", "));
                cx.act(Action::Open(Box::new(prompt)));
            }
        })
        .footer("tags")
        .writes()
        .when(Runners::has_runner),
        Command::new("runners.rename", &["e"], "Change its description", |pane: &mut Self, cx| {
            if let Some(runner) = pane.current(&cx.view) {
                cx.act(Action::Open(Box::new(Prompt::ask("description", "description", runner.label()))));
            }
        })
        .footer("edit")
        .writes()
        .when(Runners::has_runner),
        Command::new("runners.remove", &["Delete"], "Remove it from the server", |pane: &mut Self, cx| pane.remove(cx))
            .writes()
            .when(Runners::has_runner),
    ];

    fn open(place: &Place, _view: &View) -> Self {
        let project = place.project.clone();
        let mut pane = Runners {
            scope: if project.is_some() { Scope::Project } else { Scope::Mine },
            project,
            filter: String::new(),
            list: Listing::default(),
            jobs: Listing::default(),
            panels: Panels::new(2),
            shown: None,
        };
        let tab = place.tab.as_deref();
        let named = tab.and_then(|tab| pane.scopes().iter().find(|(name, _)| name.eq_ignore_ascii_case(tab)));
        if let Some((_, scope)) = named {
            pane.scope = *scope;
        }
        pane
    }

    fn place(&self) -> Place {
        let tab = self.scopes().iter().skip(1).find(|(_, scope)| *scope == self.scope);
        Place { project: self.project.clone(), tab: tab.map(|(name, _)| name.to_lowercase()), ..Place::new(Self::ID) }
    }

    fn crumbs(&self, view: &View) -> Vec<Crumb> {
        let mut crumbs = self.project.as_ref().map(|id| super::project::crumbs(view, id)).unwrap_or_default();
        crumbs.push(Crumb::new("runners", Role::Title));
        if !self.filter.is_empty() {
            crumbs.push(Crumb::new(format!("/{}", self.filter), Role::Match));
        }
        let rows = self.rows(view);
        if rows.known {
            crumbs.push(Crumb::new(format!("{}{}", rows.len(), if rows.more { "+" } else { "" }), Role::Dim));
        }
        crumbs
    }

    fn wants(&self, view: &View) -> Vec<Want> {
        let mut wants = vec![self.load(self.list.pages()).into()];
        let rows = self.rows(view);
        let top = self.list.state.top();
        let height = self.list.state.height().clamp(1, DETAILED);
        let sight = (top..top + height).chain([self.list.state.selected()]);
        wants.extend(sight.filter_map(|at| rows.get(at)).map(|r| Load::one(&GetRunner { id: r.id }).into()));
        if let Some(query) = self.jobs_query().filter(|_| self.on_jobs() || view.size.0 >= panels::TWO) {
            let live = view.store.list(&query).iter().any(|job| job.status.is_running());
            let load = Load::list(&query, self.jobs.pages()).after(Duration::from_millis(120));
            wants.push(if live { load.every(PULSE * 2).into() } else { load.into() });
        }
        wants
    }

    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let slots = self.panels.layout(area, &[Ask { min: 50, weight: 1 }, Ask { min: 48, weight: 1 }]);
        let both = slots.iter().flatten().count() > 1;
        if let Some(area) = slots.get(LIST).copied().flatten() {
            let body = if both {
                let title = self.scopes().iter().find(|(_, scope)| *scope == self.scope).map_or("", |(name, _)| name);
                panels::title(buf, area, view.theme, !self.on_jobs(), &title.to_lowercase(), "")
            } else {
                area
            };
            let rows = self.rows(view);
            match rows.error {
                // What only administrators may see is said in words of this place.
                Some(error) if self.scope == Scope::All && rows.is_empty() && denied(error) => {
                    state::empty(
                        buf,
                        body,
                        view.theme,
                        "All runners of a server are shown to its administrators alone.",
                        "1 goes back to those you may see",
                    );
                }
                _ => self.draw_list(view, body, buf),
            }
        }
        if let Some(area) = slots.get(JOBS).copied().flatten() {
            let error = self.current(view).and_then(|r| view.store.get(&GetRunner { id: r.id }).error);
            let area = trouble(view, area, buf, error.filter(|e| !denied(e)));
            self.draw_details(view, area, buf);
        }
        self.panels.rules(buf, view.theme);
    }

    fn changed(&mut self, cx: &mut Cx) {
        let rows = self.rows(&cx.view);
        self.list.sync(&rows, |runner| runner.id.to_string());
        let shown = self.list.selected(&rows).map(|runner| runner.id);
        if shown != self.shown {
            self.shown = shown;
            self.jobs.restart();
        }
        if let Some(rows) = self.jobs_rows(&cx.view) {
            self.jobs.sync(&rows, |job| job.id.to_string());
        }
    }

    fn motion(&mut self, motion: Motion, cx: &mut Cx) {
        match motion {
            Motion::Left => return self.panels.set_focus(LIST),
            Motion::Right => return self.panels.set_focus(JOBS),
            _ => {}
        }
        if self.on_jobs() {
            let len = self.jobs_rows(&cx.view).map_or(0, |rows| rows.len());
            self.jobs.motion(motion, len);
        } else {
            let len = self.rows(&cx.view).len();
            self.list.motion(motion, len);
        }
    }

    fn pointer(&mut self, pointer: Pointer, cx: &mut Cx) {
        let (Pointer::Press { column, row, .. } | Pointer::Wheel { column, row, .. }) = pointer else { return };
        // Where one panel is in sight, the cells of the other are only remembered.
        let both = cx.view.size.0 >= panels::TWO && !self.panels.zoomed();
        if (both || self.on_jobs()) && self.jobs.holds(column, row) {
            self.panels.set_focus(JOBS);
            let len = self.jobs_rows(&cx.view).map_or(0, |rows| rows.len());
            if self.jobs.pointer(pointer, len) {
                self.enter(cx);
            }
        } else if (both || !self.on_jobs()) && self.list.holds(column, row) {
            self.panels.set_focus(LIST);
            let len = self.rows(&cx.view).len();
            if self.list.pointer(pointer, len) {
                self.enter(cx);
            }
        }
    }

    fn panels(&mut self) -> Option<&mut Panels> {
        Some(&mut self.panels)
    }

    fn tabs(&self) -> Tabs {
        let titles = if self.project.is_some() { IN_PROJECT_TITLES } else { EVERYWHERE_TITLES };
        Tabs { titles, selected: self.scopes().iter().position(|(_, scope)| *scope == self.scope).unwrap_or(0) }
    }

    fn select_tab(&mut self, index: usize, _cx: &mut Cx) {
        if let Some((_, scope)) = self.scopes().get(index) {
            self.scope = *scope;
            self.list.restart();
            self.shown = None;
        }
    }

    fn seek(&self) -> Option<Seek> {
        Some(Seek::Search)
    }

    fn sought(&self) -> String {
        self.filter.clone()
    }

    fn set_sought(&mut self, text: &str, cx: &mut Cx) {
        self.filter = text.to_owned();
        let rows = self.rows(&cx.view);
        let at = self.list.state.selected();
        let hit =
            (at..rows.len()).chain(0..at).find(|i| rows.get(*i).is_some_and(|r| self.fits(detailed(&cx.view, r))));
        if let Some(hit) = hit {
            self.list.state.select(hit, rows.len());
        }
    }

    fn seek_next(&mut self, forward: bool, cx: &mut Cx) {
        let rows = self.rows(&cx.view);
        let (at, len) = (self.list.state.selected(), rows.len());
        let fits = |i: &usize| rows.get(*i).is_some_and(|r| self.fits(detailed(&cx.view, r)));
        let hit = if forward {
            (at + 1..len).chain(0..at).find(fits)
        } else {
            (0..at).rev().chain((at + 1..len).rev()).find(fits)
        };
        if let Some(hit) = hit {
            self.list.state.select(hit, len);
        }
    }

    fn answer(&mut self, tag: &'static str, value: String, cx: &mut Cx) {
        match tag {
            "tags" => {
                let tags: Vec<String> =
                    value.split(',').map(str::trim).filter(|tag| !tag.is_empty()).map(str::to_owned).collect();
                self.update(cx, "change the tags of", |update| UpdateRunner { tag_list: Some(tags), ..update });
            }
            "description" if !value.trim().is_empty() => {
                let words = value.trim().to_owned();
                self.update(cx, "rename", |update| UpdateRunner { description: Some(words), ..update });
            }
            _ => {}
        }
    }

    fn escape(&mut self, _cx: &mut Cx) -> bool {
        let (filtered, jobs) = (!self.filter.is_empty(), self.on_jobs());
        self.filter.clear();
        self.panels.set_focus(LIST);
        filtered || jobs
    }

    fn copies(&self, view: &View) -> Vec<(&'static str, String)> {
        let Some(runner) = self.current(view) else { return Vec::new() };
        vec![("description", runner.label()), ("number", runner.id.to_string()), ("tags", runner.tags().join(","))]
    }

    fn ticks(&self, view: &View) -> bool {
        self.jobs_rows(view).is_some_and(|rows| rows.iter().any(|job| job.status == Status::Running))
            && (self.on_jobs() || view.size.0 >= panels::TWO)
    }
}

fn denied(error: &crate::api::Error) -> bool {
    matches!(error.fault, crate::api::Fault::Denied(_))
}
