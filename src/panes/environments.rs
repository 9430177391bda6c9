//! The environments of a project, with the latest deployment of the selected one.

use crate::api::environments::{GetEnvironment, ListEnvironments, ProjectEnvironment, StopEnvironment};
use crate::api::{Id, Time};
use crate::app::App;
use crate::app::action::Action;
use crate::app::clip::Clip;
use crate::app::command::Command;
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::pane::Breadcrumb;
use crate::app::place::Place;
use crate::app::place_info::Needs;
use crate::app::view::View;
use crate::parts::columns::{Columns, Field, ServerOrder};
use crate::parts::facts::{Details, LinkTarget};
use crate::parts::list::{age, day, time_ago};
use crate::parts::list_detail::{FactsDetail, FactsSource};
use crate::parts::list_pane::ListPane;
use crate::parts::list_source::{Filter, Input, ListCommand, ListSource};
use crate::parts::{forms, project};
use crate::store::{ListQuery, Load, Want, Write};
use crate::ui::glyph;
use crate::ui::line::Line;
use crate::ui::panels::PanelRequest;
use crate::ui::table::{Column, Row, Size};
use crate::ui::text::{self, sanitize};
use crate::ui::theme::Role;

/// The server's names of the states of the tabs; `None` for all.
const STATES: &[Option<&str>] = &[Some("available"), Some("stopped"), None];

const COLUMNS: Columns<ProjectEnvironment> = Columns {
    place: "environments",
    fields: &[
        Field::new("state", Column::new("", Size::Fixed(1))),
        Field::new("name", Column::new("Name", Size::Fill { min: 14, weight: 2 }))
            .loaded(|a: &ProjectEnvironment, b| a.name.to_lowercase().cmp(&b.name.to_lowercase())),
        Field::new("tier", Column::new("Tier", Size::Fit { min: 4, max: 12 }).drop_order(1))
            .loaded(|a: &ProjectEnvironment, b| a.tier.cmp(&b.tier)),
        Field::new("address", Column::new("Address", Size::Fit { min: 8, max: 48 }).drop_order(2)),
        Field::new("updated", Column::new("Updated", Size::Fixed(7)).right().drop_order(3))
            .loaded(|a: &ProjectEnvironment, b| at(a.updated_at.as_ref()).cmp(&at(b.updated_at.as_ref())))
            .newest_first(),
    ],
    order: None,
};

fn at(time: Option<&Time>) -> Option<jiff::Timestamp> {
    time.and_then(Time::instant)
}

/// Returns the state of an environment. Servers before version 13 do not send one; there, all environments are
/// available.
fn state(environment: &ProjectEnvironment) -> &str {
    environment.state.as_deref().filter(|state| !state.is_empty()).unwrap_or("available")
}

/// The environments of a project.
pub struct EnvironmentSource {
    project: Id,
}

/// The list of environments.
pub type Environments = ListPane<EnvironmentSource>;

impl EnvironmentSource {
    fn one(&self, environment: &ProjectEnvironment) -> GetEnvironment {
        GetEnvironment { id: self.project.clone(), environment_id: environment.id }
    }
}

impl Environments {
    fn open_selection(&mut self, cx: &mut Cx) {
        if !self.enter_detail(cx)
            && let Some(environment) = self.current(&cx.view)
        {
            let name = format!("\"{}\"", environment.name.replace('"', ""));
            cx.go(Place::new("deployments").project(self.source.project.clone()).query(name));
        }
    }

    fn can_stop(&self, view: &View) -> Result<(), Disabled> {
        forms::signed_in(view)?;
        self.has_row(view)?;
        match self.current(view).map(state) {
            Some("stopped") => Err("it is stopped already".into()),
            _ => Ok(()),
        }
    }

    fn stop(&mut self, cx: &mut Cx) {
        let Some(environment) = self.current(&cx.view) else { return };
        let (id, environment_id) = (self.source.project.clone(), environment.id);
        let name = sanitize(&environment.name).into_owned();
        let question = format!("Stop the environment {name} of {id}? Its on_stop job runs, if it has one.");
        let write = Write::new(&StopEnvironment { id, environment_id }, format!("stop environment {name}"));
        cx.act(App::confirm("Stop an environment", question, Action::Send(write)));
    }
}

impl ListSource for EnvironmentSource {
    type Row = ProjectEnvironment;
    type Detail = FactsDetail;
    const ID: &'static str = "environments";
    const TITLE: &'static str = "Environments";
    const NEEDS: Needs = Needs::Project;
    const WIDTHS: &'static [PanelRequest] = &[PanelRequest { min: 40, weight: 1 }, PanelRequest { min: 44, weight: 1 }];
    const COLUMNS: Columns<ProjectEnvironment> = COLUMNS;
    const COMMANDS: &'static [ListCommand<Self>] = &[
        Command::new("environments.open", &["Enter"], "Open deployments of environment", Environments::open_selection)
            .footer("deployments")
            .when(Environments::has_row),
        Command::new("environments.stop", &["X"], "Stop environment…", Environments::stop)
            .writes()
            .footer("stop")
            .when(Environments::can_stop),
        Environments::columns_command("environments.columns"),
    ];

    fn open(place: &Place, _view: &View) -> EnvironmentSource {
        EnvironmentSource { project: place.project.clone().unwrap_or_default() }
    }

    fn place(&self) -> Place {
        Place::new(Self::ID).project(self.project.clone())
    }

    fn breadcrumbs(&self, view: &View) -> Vec<Breadcrumb> {
        let mut out = project::breadcrumbs(view, &self.project);
        out.push(Breadcrumb::new("environments", Role::Text));
        out
    }

    fn tabs(&self) -> &'static [&'static str] {
        &["Available", "Stopped", "All"]
    }

    fn query(&self, input: &Input<'_>, _: ServerOrder, _view: &View) -> Option<ListQuery<ProjectEnvironment>> {
        let states = STATES.get(input.tab).copied().flatten().map(str::to_owned);
        Some(ListQuery::new(&ListEnvironments { id: self.project.clone(), states, search: None }))
    }

    fn filter(&self, _: &Input<'_>) -> Filter<ProjectEnvironment> {
        Filter::Loaded(|environment, words| {
            environment.name.to_lowercase().contains(words)
                || environment.external_url.as_deref().unwrap_or_default().to_lowercase().contains(words)
        })
    }

    fn key(environment: &ProjectEnvironment) -> String {
        environment.id.to_string()
    }

    fn row(&self, view: &View, _: usize, environment: &ProjectEnvironment) -> Row<'static> {
        let (sign, role) = glyph::status(state(environment));
        Row::new(vec![
            Line::new(sign, role),
            Line::new(environment.name.clone(), Role::Text),
            Line::new(environment.tier.clone().unwrap_or_default(), Role::Dim),
            Line::new(environment.external_url.clone().unwrap_or_default(), Role::Link),
            Line::new(age(view, environment.updated_at.as_ref()), Role::Dim),
        ])
        .dim(state(environment) == "stopped")
    }

    fn empty(&self, input: &Input<'_>) -> (&'static str, &'static str) {
        match (input.filter, input.tab) {
            ("", 1) => ("No environment is stopped.", "‹tab.1› shows the available ones"),
            ("", _) => ("There are no environments.", "A job with environment: deploys to one"),
            _ => ("No environment matches the filter.", "‹seek› changes it, ‹escape› clears it"),
        }
    }

    fn enter(pane: &mut Environments, cx: &mut Cx) {
        pane.open_selection(cx);
    }

    fn wants(pane: &Environments, _view: &View) -> Vec<Want> {
        vec![project::want(&pane.source.project)]
    }

    fn url(&self, view: &View, environment: &ProjectEnvironment) -> Option<String> {
        Some(project::page(view, &self.project, &format!("/-/environments/{}", environment.id)))
    }

    fn copies(&self, _view: &View, environment: &ProjectEnvironment) -> Vec<Clip> {
        let address = environment.external_url.clone().map(|url| Clip::line("address", url));
        address
            .into_iter()
            .chain([Clip::line("name", environment.name.clone()), Clip::line("ID", environment.id.to_string())])
            .collect()
    }
}

impl FactsSource for EnvironmentSource {
    fn load(&self, environment: &ProjectEnvironment) -> Option<Load> {
        Some(Load::single(&self.one(environment)))
    }

    fn facts_title(&self, environment: &ProjectEnvironment) -> String {
        environment.name.clone()
    }

    fn facts(&self, facts: &mut Details, view: &View, environment: &ProjectEnvironment) {
        // The reply for a single environment has more fields than the list.
        let environment = view.store.get(&self.one(environment)).value.unwrap_or(environment);
        let (_, role) = glyph::status(state(environment));
        facts.field("state", Line::new(state(environment).to_owned(), role), None);
        if let Some(tier) = &environment.tier {
            facts.field("tier", Line::new(tier.clone(), Role::Text), None);
        }
        if let Some(url) = environment.external_url.as_ref().filter(|url| !url.is_empty()) {
            facts.field("address", Line::new(url.clone(), Role::Link), LinkTarget::page(url));
        }
        if let Some(until) = &environment.auto_stop_at {
            facts.field("auto-stop", Line::new(day(until), Role::Warning), None);
        }
        if let Some(words) = environment.description.as_deref().filter(|words| !words.trim().is_empty()) {
            facts.line(Line::empty());
            facts.prose(words, 60, 20, Role::Text);
        }
        let Some(last) = &environment.last_deployment else { return };
        facts.line(Line::empty());
        let commit = Place::new("commit").project(self.project.clone()).item(&last.sha);
        let pieces =
            Line::new(last.r#ref.clone(), Role::Ref).and(format!("  {}", text::head(&last.sha, 8)), Role::Link);
        facts.field("deployed", pieces, Some(LinkTarget::Place(commit)));
        let who = last.user.as_ref().map(|user| user.username.clone()).unwrap_or_default();
        let when = time_ago(view, last.created_at.as_ref());
        facts.field("", Line::new(who, Role::User).and(format!("  {when}"), Role::Dim), None);
        if let Some(job) = &last.deployable {
            let place = Place::new("job").project(self.project.clone()).item(job.id);
            let (sign, role) = glyph::status(job.status.as_str());
            let pieces = Line::new(format!("{sign} "), role).and(format!("#{} {}", job.id, job.name), Role::Link);
            facts.field("by job", pieces, Some(LinkTarget::Place(place)));
        }
    }
}
