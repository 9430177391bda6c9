//! Runners: of a project, one's own, or all of the server; beside them what the selected one does.

mod actions;
mod details;
mod draw;
mod query;

use crate::api::jobs::Job;
use crate::api::runners::{
    GetRunner, ListAllRunners, ListProjectRunners, ListRunnerJobs, ListRunners, Runner, UpdateRunner,
};
use crate::api::{Id, Known};
use crate::app::action::{Action, Tone};
use crate::app::command::{Command, Disabled, Motion};
use crate::app::overlay::prompt::Prompt;
use crate::app::pane::{Breadcrumb, Cx, Pane, Pointer, SearchMode, Tabs, View};
use crate::app::place::Place;
use crate::app::query::Grammar;
use crate::parts::ci::PULSE;
use crate::parts::list::{self, Listing, trouble};
use crate::store::{Load, Rows, Want};
use crate::ui::panels::{self, PanelRequest, Panels};
use crate::ui::theme::Role;
use crate::ui::{glyph, state};
use draw::COLUMNS;
use query::RunnerQuery;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::time::Duration;

/// Runners whose details are asked for at once: the lists leave most facts out.
const DETAILED: usize = 20;
/// What the jobs of a runner are asked by; the first means all.
const JOB_STATUSES: &[&str] = &["", "running", "success", "failed", "canceled"];
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
    list: Listing,
    jobs: Listing,
    panels: Panels,
    /// Whose jobs are listed.
    shown: Option<u64>,
    /// Which of its jobs are listed: an index in [`JOB_STATUSES`].
    status: usize,
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

    fn load(&self, text: &str, pages: u32) -> Load {
        let scope = RunnerQuery::read(text, self.scope).scope;
        match (self.scope, &self.project) {
            (Scope::Project, Some(id)) => Load::list(&ListProjectRunners { id: id.clone() }, pages),
            (Scope::All, _) => Load::list(&ListAllRunners { scope }, pages),
            _ => Load::list(&ListRunners { scope }, pages),
        }
    }

    fn rows_of<'a>(&self, text: &str, view: &View<'a>) -> Rows<'a, Runner> {
        let scope = RunnerQuery::read(text, self.scope).scope;
        match (self.scope, &self.project) {
            (Scope::Project, Some(id)) => view.store.list(&ListProjectRunners { id: id.clone() }),
            (Scope::All, _) => view.store.list(&ListAllRunners { scope }),
            _ => view.store.list(&ListRunners { scope }),
        }
    }

    fn rows<'a>(&self, view: &View<'a>) -> Rows<'a, Runner> {
        self.rows_of(self.list.shown(), view)
    }

    fn current<'a>(&self, view: &View<'a>) -> Option<&'a Runner> {
        let listed = self.list.selected(&self.rows(view))?;
        Some(detailed(view, listed))
    }

    fn jobs_query(&self) -> Option<ListRunnerJobs> {
        let status = JOB_STATUSES.get(self.status).filter(|status| !status.is_empty());
        Some(ListRunnerJobs { id: self.shown?, status: status.map(|status| (*status).to_owned()) })
    }

    fn jobs_rows<'a>(&self, view: &View<'a>) -> Option<Rows<'a, Job>> {
        Some(view.store.list(&self.jobs_query()?))
    }

    /// How many of the jobs that are listed run, as far as the server says.
    fn running(&self, view: &View) -> usize {
        let rows = self.jobs_rows(view).filter(|rows| rows.refused().is_none());
        rows.map_or(0, |rows| rows.iter().filter(|job| job.status.is_running()).count())
    }

    fn on_jobs(&self) -> bool {
        self.panels.focus() == JOBS
    }

    /// Names what the rows are narrowed to. Tags stand in the details, which come one after the other: each that comes
    /// may fit.
    fn narrowed(&self, asked: &RunnerQuery, rows: &Rows<'_, Runner>, view: &View) -> String {
        let narrows = asked.narrows();
        if narrows.is_empty() {
            return narrows;
        }
        let known = rows.iter().filter(|runner| view.store.get(&GetRunner { id: runner.id }).value.is_some()).count();
        format!("{narrows} of {known}")
    }

    fn runner<'a>(&self, view: &View<'a>) -> Result<&'a Runner, Disabled> {
        list::need(self.current(view), &self.rows(view), "no runner is selected")
    }

    fn has_runner(&self, view: &View) -> Result<(), Disabled> {
        self.runner(view).map(|_| ())
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
}

/// The same runner with everything that is known of it.
fn detailed<'a>(view: &View<'a>, listed: &'a Runner) -> &'a Runner {
    view.store.get(&GetRunner { id: listed.id }).value.unwrap_or(listed)
}

fn age(view: &View, runner: &Runner) -> String {
    runner.contacted_at.known().map(|at| crate::parts::list::age(view, Some(at))).unwrap_or_default()
}

impl Pane for Runners {
    const ID: &'static str = "runners";
    const TITLE: &'static str = "Runners and what they do";
    const COMMANDS: &'static [Command<Self>] = &[
        Command::new("runners.open", &["Enter"], "Open runner or job", |pane: &mut Self, cx| pane.enter(cx))
            .footer("jobs")
            .when(Runners::has_runner),
        Command::new("runners.pause", &["P"], "Toggle pause", Runners::pause)
            .footer("pause")
            .writes()
            .when(Runners::has_runner),
        Command::new("runners.tags", &["t"], "Edit tags…", |pane: &mut Self, cx| {
            if let Some(runner) = pane.current(&cx.view) {
                let prompt = Prompt::ask("tags, with commas", "tags", runner.tags().join(", "));
                cx.act(Action::Open(Box::new(prompt)));
            }
        })
        .footer("tags")
        .writes()
        .when(Runners::has_runner),
        Command::new("runners.edit", &["e"], "Edit runner…", Runners::edit)
            .footer("edit")
            .writes()
            .when(Runners::has_runner),
        Command::new("runners.enable", &["+"], "Enable runner in project…", Runners::enable)
            .writes()
            .when(Runners::can_enable),
        Command::new("runners.disable", &["D"], "Disable runner in project…", Runners::disable)
            .writes()
            .when(Runners::can_disable),
        Command::new("runners.remove", &["Delete"], "Remove runner…", Runners::remove)
            .writes()
            .when(Runners::has_runner),
        Command::new("runners.columns", &["|"], "Columns and sorting…", |_: &mut Self, cx| COLUMNS.open(cx)),
        Command::new("runners.status", &["f"], "Filter jobs by status", |pane: &mut Self, cx| {
            pane.status = (pane.status + 1) % JOB_STATUSES.len();
            pane.jobs.restart();
            let word = JOB_STATUSES.get(pane.status).copied().unwrap_or_default();
            let words = if word.is_empty() { "All of its jobs.".into() } else { format!("Its jobs: {word}.") };
            cx.say(Tone::Info, words);
        })
        .when(Runners::has_runner),
    ];

    fn open(place: &Place, _view: &View) -> Self {
        let project = place.project.clone();
        let mut pane = Runners {
            scope: if project.is_some() { Scope::Project } else { Scope::Mine },
            project,
            list: Listing::asked(place.query.as_deref().unwrap_or_default()),
            jobs: Listing::default(),
            panels: Panels::new(2),
            shown: None,
            status: 0,
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
            .query(self.list.filter_text())
    }

    fn breadcrumbs(&self, view: &View) -> Vec<Breadcrumb> {
        let mut breadcrumbs =
            self.project.as_ref().map(|id| crate::parts::project::breadcrumbs(view, id)).unwrap_or_default();
        breadcrumbs.push(Breadcrumb::new("runners", Role::Title));
        let filter_text = self.list.filter_text();
        let words = crate::app::query::parts(filter_text).into_iter();
        breadcrumbs
            .extend(words.map(|(word, keyed)| Breadcrumb::new(word, if keyed { Role::Label } else { Role::Match })));
        if let Some(why) = query::mistake(filter_text, self.scope, view) {
            breadcrumbs.push(Breadcrumb::new(why, Role::Failed));
            return breadcrumbs;
        }
        let rows = self.rows(view);
        breadcrumbs.extend(self.list.count(&rows).map(|count| Breadcrumb::new(count, Role::Dim)));
        breadcrumbs.extend(COLUMNS.chosen(view).breadcrumb(&rows));
        breadcrumbs
    }

    fn wants(&self, view: &View) -> Vec<Want> {
        let load = self.load(self.list.filter_text(), self.list.pages()).after(self.list.rest());
        let mut wants: Vec<Want> = vec![load.into()];
        let rows = self.rows(view);
        let top = self.list.state.top();
        let height = self.list.state.height().clamp(1, DETAILED);
        let sight = (top..top + height).chain([self.list.state.selected()]);
        wants.extend(sight.filter_map(|at| self.list.at(&rows, at)).map(|r| Load::one(&GetRunner { id: r.id }).into()));
        if let Some(query) = self.jobs_query().filter(|_| self.on_jobs() || view.size.0 >= panels::TWO) {
            let live = view.store.list(&query).iter().any(|job| job.status.is_running());
            let load = Load::list(&query, self.jobs.pages()).after(Duration::from_millis(120));
            wants.push(if live { load.every(PULSE * 2).into() } else { load.into() });
        }
        wants
    }

    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let slots =
            self.panels.layout(area, &[PanelRequest { min: 50, weight: 1 }, PanelRequest { min: 48, weight: 1 }]);
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
                    let why = "All runners of a server are shown to its administrators alone.";
                    let hint = "1 goes back to those you may see";
                    state::failure(buf, body, view.theme, why, &error.tried, &error.said(), hint);
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
        let filter_text = self.rows_of(self.list.filter_text(), &cx.view);
        self.list.answered(&filter_text);
        let rows = self.rows(&cx.view);
        let asked = RunnerQuery::read(self.list.shown(), self.scope);
        let view = cx.view;
        self.list.narrow_to(&rows, &self.narrowed(&asked, &rows, &view), |runner| asked.fits(detailed(&view, runner)));
        COLUMNS.chosen(&view).sort(&mut self.list, &rows);
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
            let len = self.list.len(&self.rows(&cx.view));
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
        } else if (both || !self.on_jobs()) && COLUMNS.pressed(&self.list, pointer, cx) {
            self.panels.set_focus(LIST);
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

    fn search_mode(&self) -> Option<SearchMode> {
        Some(SearchMode::Filter)
    }

    fn grammar(&self) -> Option<Grammar> {
        // Words without a key are looked for here.
        Some(Grammar { search: Some("words"), ..query::grammar(self.scope) })
    }

    fn filter_text(&self) -> String {
        self.list.filter_text().to_owned()
    }

    fn set_filter_text(&mut self, text: &str, cx: &mut Cx) {
        let here = self.current(&cx.view).map(|runner| runner.id.to_string());
        self.list.seek(text, here);
    }

    fn answer(&mut self, tag: &'static str, value: String, cx: &mut Cx) {
        if tag == "tags" {
            let tags = value.split(',').map(str::trim).filter(|tag| !tag.is_empty()).map(str::to_owned).collect();
            self.update(cx, "change the tags of", |update| UpdateRunner { tag_list: Some(tags), ..update });
        }
    }

    fn escape(&mut self, cx: &mut Cx) -> bool {
        if self.on_jobs() {
            self.panels.set_focus(LIST);
            return true;
        }
        let here = self.current(&cx.view).map(|runner| runner.id.to_string());
        self.list.clear_filter(here)
    }

    fn copies(&self, view: &View) -> Vec<(&'static str, String)> {
        let Some(runner) = self.current(view) else { return Vec::new() };
        vec![("description", runner.label()), ("number", runner.id.to_string()), ("tags", runner.tags().join(","))]
    }

    fn ticks(&self, view: &View) -> bool {
        self.running(view) > 0 && (self.on_jobs() || view.size.0 >= panels::TWO)
    }
}

fn denied(error: &crate::api::Error) -> bool {
    matches!(error.fault, crate::api::Fault::Denied(_))
}
