//! Runners: of a project, of the user, or all of the server; and the details and jobs of the selected one.

mod actions;
mod detail;
mod query;

use crate::api::runners::{GetRunner, ListAllRunners, ListProjectRunners, ListRunners, Runner, UpdateRunner};
use crate::api::{Error, Fault, Id};
use crate::parts::list::prelude::*;
use crate::parts::list::request_limit;
use crate::parts::text::dates;
use crate::store::{Load, Rows};
use crate::ui::glyph;
use detail::RunnerDetail;
use query::RunnerQuery;

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

/// Returns the type of a runner: `group`, `instance` or `project`.
fn kind(runner: &Runner) -> &'static str {
    match runner.runner_type.as_deref() {
        Some("group_type") => "group",
        _ if runner.is_shared => "instance",
        _ => "project",
    }
}

/// Returns the details of a runner, if loaded, else the listed row.
fn detailed<'a>(view: &View<'a>, listed: &'a Runner) -> &'a Runner {
    view.store.get(&GetRunner { id: listed.id }).value.unwrap_or(listed)
}

fn platform(runner: &Runner) -> String {
    let parts = [&runner.platform, &runner.architecture];
    parts.iter().filter_map(|part| part.as_ref()).map(String::as_str).collect::<Vec<_>>().join("/")
}

/// Returns which jobs a runner takes, in words.
fn configuration(runner: &Runner) -> String {
    let takes = [
        (runner.run_untagged == Some(true), "untagged"),
        (runner.locked == Some(true), "locked"),
        (runner.access_level.as_ref().is_some_and(|level| level == "ref_protected"), "protected"),
    ];
    takes.iter().filter(|(is, _)| *is).map(|(_, word)| *word).collect::<Vec<_>>().join(", ")
}

impl RunnerSource {
    fn scope_of(&self, tab: usize) -> Scope {
        let scopes: &[Scope] = if self.project.is_some() {
            &[Scope::Project, Scope::Mine, Scope::All]
        } else {
            &[Scope::Mine, Scope::All]
        };
        scopes.get(tab).copied().unwrap_or(Scope::Mine)
    }

    fn read(&self, input: &Input<'_>) -> RunnerQuery {
        RunnerQuery::read(input.filter, self.scope_of(input.tab))
    }
}

impl Runners {
    fn scope(&self) -> Scope {
        self.source.scope_of(self.tab())
    }
}

impl ListSource for RunnerSource {
    type Row = Runner;
    type Detail = RunnerDetail;
    const LIST: ListInfo = ListInfo::new("runners", "runner", "runners").widths(&[(50, 1), (48, 1)]);
    const COLUMNS: &'static [Column<Self>] = &[
        Column::<Self>::fit("status", "", 8, 16, |_, runner, _| {
            let (sign, word, role) = status(runner);
            Line::new(format!("{sign} {word}"), role)
        })
        .sorted(|runner| status(runner).1.as_str().into()),
        Column::<Self>::fill("name", "Runner", 16, |_, runner, _| Line::text(runner.label()))
            .sorted(|runner| SortKey::caseless(&runner.label())),
        Column::<Self>::fit("tags", "Tags", 4, 22, |_, runner, _| Line::new(runner.tags().join(" "), Role::Label))
            .drop_order(3),
        Column::<Self>::fit("type", "Type", 6, 8, |_, runner, _| Line::new(kind(runner), Role::Dim))
            .sorted(|runner| kind(runner).into())
            .drop_order(2),
        Column::<Self>::fit("version", "Version", 5, 9, |_, runner, _| {
            Line::new(runner.version.as_ref().map_or("", String::as_str), Role::Dim)
        })
        .drop_order(4),
        Column::<Self>::fit("platform", "Platform", 0, 16, |_, runner, _| Line::new(platform(runner), Role::Dim))
            .drop_order(6)
            .hidden(),
        Column::<Self>::fit("address", "IP address", 0, 24, |_, runner, _| {
            Line::new(runner.ip_address.as_deref().unwrap_or_default(), Role::Dim)
        })
        .cut_in_middle()
        .sorted(|runner| runner.ip_address.as_ref().into())
        .drop_order(6)
        .hidden(),
        Column::<Self>::fit("configuration", "Configuration", 0, 24, |_, runner, _| {
            Line::new(configuration(runner), Role::Dim)
        })
        .drop_order(6)
        .hidden(),
        Column::<Self>::fit("ID", "ID", 2, 6, |_, runner, _| Line::new(format!("#{}", runner.id), Role::Dim))
            .right()
            .sorted(|runner| runner.id.into())
            .drop_order(5),
        // The list lacks it, so it is read one runner at a time, and cannot sort.
        Column::<Self>::fixed("last contact", "Contact", 7, |_, runner, view| {
            Line::new(dates::age(view, runner.contacted_at.as_ref()), Role::Dim)
        })
        .right()
        .drop_order(1),
    ];
    const COMMANDS: &'static [ListCommand<Self>] = &[
        Command::row("runners.open", &["Enter"], "Open runner or job", |pane: &mut Runners, _, cx| {
            pane.open_details(cx)
        })
        .footer("open"),
        Command::row("runners.pause", &["P"], "Toggle pause", Runners::pause).footer("pause").writes(),
        Command::row("runners.tags", &["t"], "Edit tags…", |_: &mut Runners, runner: &Runner, cx| {
            cx.ask("tags, with commas", runner.tags().join(", "), |pane: &mut Runners, typed, cx| {
                let tags = typed.split(',').map(str::trim).filter(|tag| !tag.is_empty()).map(str::to_owned);
                let tag_list = Some(tags.collect());
                pane.update(cx, "change the tags of", |update| UpdateRunner { tag_list, ..update });
            });
        })
        .footer("tags")
        .writes(),
        Command::row("runners.edit", &["e"], "Edit runner…", Runners::edit).footer("edit").writes(),
        Command::new("runners.enable", &["+"], "Enable runner in project…", Runners::enable)
            .writes()
            .when(Runners::can_enable),
        Command::new("runners.disable", &["D"], "Disable runner in project…", Runners::disable)
            .writes()
            .when(Runners::can_disable),
        Command::row("runners.remove", &["Delete"], "Remove runner…", Runners::remove).writes(),
        Runners::columns_command("runners.columns"),
        Command::row("runners.status", &["f"], "Filter jobs by status", |pane: &mut Runners, _, cx| {
            pane.detail.next_status(cx);
        }),
    ];

    fn open(place: &Place, _view: &View) -> RunnerSource {
        RunnerSource { project: place.project.clone() }
    }

    fn is_dim(&self, _: usize, runner: &Runner) -> bool {
        runner.is_paused()
    }

    fn empty(&self, tab: usize) -> (&'static str, &'static str) {
        match self.scope_of(tab) {
            Scope::Project => ("No runner serves this project.", "‹tab.2› shows yours"),
            Scope::Mine => ("You have no runners of your own.", "The tab All shows those of the server"),
            Scope::All => ("This server has no runners.", ""),
        }
    }

    fn tabs(&self) -> ListTabs {
        ListTabs::of(if self.project.is_some() { IN_PROJECT } else { EVERYWHERE })
    }

    fn query(&self, input: &Input<'_>, _: ServerOrder, _view: &View) -> Option<ListQuery<Runner>> {
        let scope = self.read(input).scope;
        Some(match (self.scope_of(input.tab), &self.project) {
            (Scope::Project, Some(id)) => ListQuery::new(&ListProjectRunners { id: id.clone() }),
            (Scope::All, _) => ListQuery::new(&ListAllRunners { scope }),
            _ => ListQuery::new(&ListRunners { scope }),
        })
    }

    fn filter(&self, input: &Input<'_>) -> Filter<Runner> {
        Filter::Query(query::grammar(self.scope_of(input.tab)))
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

    fn full_row<'a>(&self, runner: &'a Runner, view: &View<'a>) -> &'a Runner {
        detailed(view, runner)
    }

    fn instead(&self, input: &Input<'_>, error: Option<&Error>, _: &View) -> Option<(String, Cow<'static, str>)> {
        let denied = self.scope_of(input.tab) == Scope::All && matches!(error?.fault, Fault::Denied(_));
        let why = "Only administrators can list all runners of the server.";
        denied.then(|| (why.to_owned(), "‹tab.1› goes back to those you may see".into()))
    }

    fn wants(pane: &Runners, view: &View) -> Vec<Want> {
        let details = |runner: &Runner| Load::single(&GetRunner { id: runner.id });
        let mut wants = request_limit::wants_of_selected(pane.current(view).map(details));
        wants.extend(request_limit::wants(pane.visible_rows(view).map(details)));
        wants
    }

    fn copies(&self, _view: &View, runner: &Runner) -> Vec<Clip> {
        vec![
            Clip::line("description", runner.label()),
            Clip::line("ID", runner.id.to_string()),
            Clip::line("tags", runner.tags().join(",")),
        ]
    }
}
