//! The environments of a project, with the latest deployment of the selected one.

use crate::api::environments::{GetEnvironment, ListEnvironments, ProjectEnvironment, StopEnvironment};
use crate::api::{Id, Scope};
use crate::parts::dates::{day, time_ago};
use crate::parts::facts::{Details, LinkTarget};
use crate::parts::list_prelude::*;
use crate::parts::project;
use crate::store::Load;
use crate::ui::glyph;
use crate::ui::text::{self, sanitize};

/// The server's names of the states of the tabs; `None` for all.
const STATES: &[Option<&str>] = &[Some("available"), Some("stopped"), None];

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
    fn open_selection(&mut self, environment: &ProjectEnvironment, cx: &mut Cx) {
        if !self.enter_detail(cx) {
            let name = format!("\"{}\"", environment.name.replace('"', ""));
            cx.go(Place::new("deployments").project(self.source.project.clone()).query(name));
        }
    }

    fn stop(&mut self, environment: &ProjectEnvironment, cx: &mut Cx) {
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
    const NAME: &'static str = "environments";
    const NOUN: &'static str = "environment";
    const COLUMNS: &'static [Column<Self>] = &[
        Column::<Self>::glyph("state", |_, environment, _| glyph::status(state(environment)).into()),
        Column::<Self>::fill("name", "Name", 14, |_, environment, _| Line::text(&environment.name))
            .weight(2)
            .sorted(|environment| SortKey::caseless(&environment.name)),
        Column::<Self>::fit("tier", "Tier", 4, 12, |_, environment, _| {
            Line::new(environment.tier.as_deref().unwrap_or_default(), Role::Dim)
        })
        .sorted(|environment| environment.tier.as_ref().into())
        .drop_order(1),
        Column::<Self>::fit("address", "Address", 8, 48, |_, environment, _| {
            Line::new(environment.external_url.as_deref().unwrap_or_default(), Role::Link)
        })
        .drop_order(2),
        Column::<Self>::age("updated", "Updated", |environment| environment.updated_at.as_ref()).drop_order(3),
    ];
    const COMMANDS: &'static [ListCommand<Self>] = &[
        Command::row("environments.open", &["Enter"], "Open deployments of environment", Environments::open_selection)
            .footer("deployments"),
        Command::row("environments.stop", &["X"], "Stop environment…", Environments::stop)
            .writes()
            .footer("stop")
            .when_row(|_, environment, _| match state(environment) {
                "stopped" => Err("it is stopped already".into()),
                _ => Ok(()),
            }),
        Environments::columns_command("environments.columns"),
    ];

    fn open(place: &Place, _view: &View) -> EnvironmentSource {
        EnvironmentSource { project: place.project.clone().unwrap_or_default() }
    }

    fn scope(&self) -> Option<Scope> {
        Some(Scope::Project(self.project.clone()))
    }

    fn is_dim(&self, _: usize, environment: &ProjectEnvironment) -> bool {
        state(environment) == "stopped"
    }

    fn empty(&self, tab: usize) -> (&'static str, &'static str) {
        match tab {
            1 => ("No environment is stopped.", "‹tab.1› shows the available ones"),
            _ => ("There are no environments.", "A job with environment: deploys to one"),
        }
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
