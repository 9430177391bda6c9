//! Runners: of a project, of the user, or all of the server; and the details and jobs of the selected one.

mod actions;
mod columns;
mod detail;
mod query;

use crate::api::runners::{GetRunner, ListAllRunners, ListProjectRunners, ListRunners, Runner, UpdateRunner};
use crate::api::{Error, Fault, Id};
use crate::app::clip::Clip;
use crate::app::command::Command;
use crate::app::context::Cx;
use crate::app::pane::Breadcrumb;
use crate::app::place::Place;
use crate::app::view::View;
use crate::parts::columns::{Columns, ServerOrder};
use crate::parts::list_pane::ListPane;
use crate::parts::list_source::{Filter, Input, ListCommand, ListSource};
use crate::parts::project;
use crate::store::{ListQuery, Load, Rows, Want};
use crate::ui::glyph;
use crate::ui::panels::PanelRequest;
use crate::ui::table::Row;
use crate::ui::theme::Role;
use columns::COLUMNS;
use detail::RunnerDetail;
use query::RunnerQuery;

/// The maximum number of rows whose details are loaded: the lists leave most fields out.
const MAX_DETAILED: usize = 20;

/// The scope of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    Project,
    Mine,
    All,
}

const IN_PROJECT: &[&str] = &["Project", "Mine", "All"];
const EVERYWHERE: &[&str] = &["Mine", "All"];

/// The runners of a project, of the user, or all.
pub struct RunnerSource {
    project: Option<Id>,
}

/// The list of runners.
pub type Runners = ListPane<RunnerSource>;

/// Returns glyph, word and role of a runner's status. That it is paused takes precedence over whether it is online.
fn status(runner: &Runner) -> (&'static str, String, Role) {
    let word = match runner.status.as_str() {
        _ if runner.is_paused() => "paused",
        "" if runner.online == Some(true) => "online",
        "" => "offline",
        word => word,
    };
    let (sign, role) = glyph::status_glyph(word);
    (sign, word.replace('_', " "), role)
}

/// Returns the type of a runner: `group`, `shared` or `specific`.
fn kind(runner: &Runner) -> &'static str {
    match runner.runner_type.as_deref() {
        Some("group_type") => "group",
        _ if runner.is_shared => "shared",
        _ => "specific",
    }
}

/// Returns the details of a runner, if loaded, else the listed row.
fn detailed<'a>(view: &View<'a>, listed: &'a Runner) -> &'a Runner {
    view.store.get(&GetRunner { id: listed.id }).value.unwrap_or(listed)
}

fn age(view: &View, runner: &Runner) -> String {
    runner.contacted_at.as_ref().map(|at| crate::parts::list::age(view, Some(at))).unwrap_or_default()
}

impl RunnerSource {
    fn scope(&self, tab: usize) -> Scope {
        let scopes: &[Scope] = if self.project.is_some() {
            &[Scope::Project, Scope::Mine, Scope::All]
        } else {
            &[Scope::Mine, Scope::All]
        };
        scopes.get(tab).copied().unwrap_or(Scope::Mine)
    }

    fn read(&self, input: &Input<'_>) -> RunnerQuery {
        RunnerQuery::read(input.filter, self.scope(input.tab))
    }
}

impl Runners {
    fn scope(&self) -> Scope {
        self.source.scope(self.tab())
    }
}

impl ListSource for RunnerSource {
    type Row = Runner;
    type Detail = RunnerDetail;
    const ID: &'static str = "runners";
    const TITLE: &'static str = "Runners";
    const WIDTHS: &'static [PanelRequest] = &[PanelRequest { min: 50, weight: 1 }, PanelRequest { min: 48, weight: 1 }];
    const COLUMNS: Columns<Runner> = COLUMNS;
    const COMMANDS: &'static [ListCommand<Self>] = &[
        Command::new("runners.open", &["Enter"], "Open runner or job", Self::enter)
            .footer("jobs")
            .when(Runners::has_row),
        Command::new("runners.pause", &["P"], "Toggle pause", Runners::pause)
            .footer("pause")
            .writes()
            .when(Runners::has_row),
        Command::new("runners.tags", &["t"], "Edit tags…", |pane: &mut Runners, cx| {
            if let Some(runner) = pane.current(&cx.view) {
                cx.ask("tags, with commas", runner.tags().join(", "), |pane: &mut Runners, typed, cx| {
                    let tags = typed.split(',').map(str::trim).filter(|tag| !tag.is_empty()).map(str::to_owned);
                    let tag_list = Some(tags.collect());
                    pane.update(cx, "change the tags of", |update| UpdateRunner { tag_list, ..update });
                });
            }
        })
        .footer("tags")
        .writes()
        .when(Runners::has_row),
        Command::new("runners.edit", &["e"], "Edit runner…", Runners::edit)
            .footer("edit")
            .writes()
            .when(Runners::has_row),
        Command::new("runners.enable", &["+"], "Enable runner in project…", Runners::enable)
            .writes()
            .when(Runners::can_enable),
        Command::new("runners.disable", &["D"], "Disable runner in project…", Runners::disable)
            .writes()
            .when(Runners::can_disable),
        Command::new("runners.remove", &["Delete"], "Remove runner…", Runners::remove).writes().when(Runners::has_row),
        Runners::columns_command("runners.columns"),
        Command::new("runners.status", &["f"], "Filter jobs by status", |pane: &mut Runners, cx| {
            pane.detail.next_status(cx);
        })
        .when(Runners::has_row),
    ];

    fn open(place: &Place, _view: &View) -> RunnerSource {
        RunnerSource { project: place.project.clone() }
    }

    fn place(&self) -> Place {
        Place { project: self.project.clone(), ..Place::new(Self::ID) }
    }

    fn breadcrumbs(&self, view: &View) -> Vec<Breadcrumb> {
        let mut breadcrumbs = self.project.as_ref().map(|id| project::breadcrumbs(view, id)).unwrap_or_default();
        breadcrumbs.push(Breadcrumb::new("runners", Role::Title));
        breadcrumbs
    }

    fn tabs(&self) -> &'static [&'static str] {
        if self.project.is_some() { IN_PROJECT } else { EVERYWHERE }
    }

    fn query(&self, input: &Input<'_>, _: ServerOrder, _view: &View) -> Option<ListQuery<Runner>> {
        let scope = self.read(input).scope;
        Some(match (self.scope(input.tab), &self.project) {
            (Scope::Project, Some(id)) => ListQuery::new(&ListProjectRunners { id: id.clone() }),
            (Scope::All, _) => ListQuery::new(&ListAllRunners { scope }),
            _ => ListQuery::new(&ListRunners { scope }),
        })
    }

    fn filter(&self, input: &Input<'_>) -> Filter<Runner> {
        Filter::Query(query::grammar(self.scope(input.tab)))
    }

    /// Filters the rows. Tags are part of the details, which load one by one, so the filter is reapplied when more are
    /// loaded.
    fn arrange_rows(pane: &mut Runners, rows: &Rows<'_, Runner>, view: &View) {
        let query = pane.source.read(&pane.shown_input());
        let mut words = query.filter_key();
        if !words.is_empty() {
            let known = rows.iter().filter(|runner| view.store.get(&GetRunner { id: runner.id }).value.is_some());
            words = format!("{words} of {}", known.count());
        }
        pane.list.narrow_to(rows, &words, |runner| query.matches(detailed(view, runner)));
    }

    fn key(runner: &Runner) -> String {
        runner.id.to_string()
    }

    fn row(&self, view: &View, _: usize, runner: &Runner) -> Row<'static> {
        columns::row(view, detailed(view, runner))
    }

    fn full_row<'a>(&self, runner: &'a Runner, view: &View<'a>) -> &'a Runner {
        detailed(view, runner)
    }

    fn empty(&self, input: &Input<'_>) -> (&'static str, &'static str) {
        match self.scope(input.tab) {
            Scope::Project => ("No runner serves this project.", "‹tab.2› shows yours"),
            Scope::Mine => ("You have no runners of your own.", "The tab All shows those of the server"),
            Scope::All => ("This server has no runners.", ""),
        }
    }

    fn refused(&self, input: &Input<'_>, error: &Error) -> Option<(String, &'static str)> {
        let denied = self.scope(input.tab) == Scope::All && matches!(error.fault, Fault::Denied(_));
        let why = "Only administrators can list all runners of the server.";
        denied.then(|| (why.to_owned(), "‹tab.1› goes back to those you may see"))
    }

    fn enter(pane: &mut Runners, cx: &mut Cx) {
        if !pane.enter_detail(cx) {
            pane.focus_detail();
        }
    }

    fn wants(pane: &Runners, view: &View) -> Vec<Want> {
        let rows = pane.rows(view);
        let top = pane.list.state.top();
        let height = pane.list.state.height().clamp(1, MAX_DETAILED);
        let sight = (top..top + height).chain([pane.list.state.selected()]);
        sight.filter_map(|at| pane.list.at(&rows, at)).map(|r| Load::single(&GetRunner { id: r.id }).into()).collect()
    }

    fn url(&self, _view: &View, _: &Runner) -> Option<String> {
        None
    }

    fn copies(&self, _view: &View, runner: &Runner) -> Vec<Clip> {
        vec![
            Clip::line("description", runner.label()),
            Clip::line("number", runner.id.to_string()),
            Clip::line("tags", runner.tags().join(",")),
        ]
    }
}
