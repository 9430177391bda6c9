//! The environments of a project, with the latest deployment of the selected one.

use crate::api::Id;
use crate::api::deployments::{Deployment, Environment};
use crate::api::environments::{GetEnvironment, ListEnvironments, ProjectEnvironment, StopEnvironment};
use crate::app::permission;
use crate::parts::ci::deployments;
use crate::parts::facts::{FETCH_DELAY, LinkTarget};
use crate::parts::list::prelude::*;
use crate::parts::project;
use crate::parts::text::dates::{day, time_ago};
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

/// Returns a deployment with the name of its environment, which servers leave out in the reply for an environment.
fn named(deployment: &Deployment, environment: &ProjectEnvironment) -> Deployment {
    let (id, name) = (environment.id, environment.name.clone());
    Deployment { environment: Some(Environment { id, name, ..Environment::default() }), ..deployment.clone() }
}

impl Environments {
    fn open_selection(&mut self, environment: &ProjectEnvironment, cx: &mut Cx) {
        if !self.enter_detail(cx) {
            let name = format!("\"{}\"", environment.name.replace('"', ""));
            cx.go(Place::new("deployments").project(self.source.project.clone()).query(name));
        }
    }

    /// Returns the latest deployment of an environment, which only the reply for a single one has.
    fn last<'a>(&self, environment: &ProjectEnvironment, view: &View<'a>) -> Result<&'a Deployment, Disabled> {
        let known = view.store.get(&self.source.one(environment)).value.ok_or("its deployments are still loading")?;
        known.last_deployment.as_deref().ok_or_else(|| "nothing was deployed to it yet".into())
    }

    fn compare(&mut self, environment: &ProjectEnvironment, cx: &mut Cx) {
        let last = self.last(environment, &cx.view);
        if let Ok(place) = last.and_then(|last| deployments::upcoming(&self.source.project, last)) {
            cx.go(place);
        }
    }

    fn redeploy(&mut self, environment: &ProjectEnvironment, cx: &mut Cx) {
        if let Ok(last) = self.last(environment, &cx.view) {
            deployments::ask_run_again(&self.source.project, &named(last, environment), None, cx);
        }
    }

    /// Returns the deployment to an environment that waits for approval.
    fn blocked<'a>(&self, environment: &ProjectEnvironment, view: &View<'a>) -> Result<&'a Deployment, Disabled> {
        let blocked = deployments::blocked_in(view, &self.source.project, &environment.name);
        blocked.ok_or_else(|| "no deployment to it waits for approval".into())
    }

    fn decide(&mut self, environment: &ProjectEnvironment, approve: bool, cx: &mut Cx) {
        if let Ok(blocked) = self.blocked(environment, &cx.view) {
            deployments::ask_decision(&self.source.project, blocked, approve, cx);
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
    type Detail = Details;
    const LIST: ListInfo = ListInfo::new("environments", "environment", "environments")
        .widths(&[(40, 1), (44, 1)])
        .tabs(&["Available", "Stopped", "All"]);
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
            .needs(permission::RUN)
            .footer("stop")
            .when_row(|_, environment, _| match state(environment) {
                "stopped" => Err("it is stopped already".into()),
                _ => Ok(()),
            }),
        Command::row("environments.compare", &["u"], "Compare with head of ref", Environments::compare)
            .footer("compare")
            .when_row(|pane, environment, view| {
                deployments::upcoming(&pane.source.project, pane.last(environment, view)?).map(|_| ())
            }),
        Command::row("environments.redeploy", &["R"], "Run latest deployment again…", Environments::redeploy)
            .needs(permission::RUN)
            .footer("run again")
            .when_row(|pane, environment, view| deployments::can_run_again(pane.last(environment, view)?)),
        Command::row(
            "environments.approve",
            &["M-a"],
            "Approve deployment…",
            |pane: &mut Environments, environment: &ProjectEnvironment, cx| pane.decide(environment, true, cx),
        )
        .writes()
        .when_row(|pane, environment, view| deployments::can_decide(view, pane.blocked(environment, view)?)),
        Command::row(
            "environments.reject",
            &["M-x"],
            "Reject deployment…",
            |pane: &mut Environments, environment: &ProjectEnvironment, cx| pane.decide(environment, false, cx),
        )
        .writes()
        .when_row(|pane, environment, view| deployments::can_decide(view, pane.blocked(environment, view)?)),
        Environments::columns_command("environments.columns"),
    ];

    fn open(place: &Place, _view: &View) -> EnvironmentSource {
        EnvironmentSource { project: place.project.clone().unwrap_or_default() }
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

    fn wants(pane: &Environments, view: &View) -> Vec<Want> {
        let deployments = Load::list(&deployments::query(&pane.source.project), 1).optional().into();
        let mut wants: Vec<Want> = deployments::want_protected(view, &pane.source.project).into_iter().collect();
        wants.push(deployments);
        // Commands need the latest deployment even where the details are not on the screen.
        let one = pane.current(view).map(|environment| Load::single(&pane.source.one(environment)));
        wants.extend(one.map(|one| one.after(FETCH_DELAY).into()));
        wants
    }

    fn key(environment: &ProjectEnvironment) -> String {
        environment.id.to_string()
    }

    fn url(&self, view: &View, environment: Option<&ProjectEnvironment>) -> Option<String> {
        Some(project::page(view, &self.project, &format!("/-/environments/{}", environment?.id)))
    }

    fn copies(&self, _view: &View, environment: &ProjectEnvironment) -> Vec<Clip> {
        let address = environment.external_url.clone().map(|url| Clip::line("address", url));
        address
            .into_iter()
            .chain([Clip::line("name", environment.name.clone()), Clip::line("ID", environment.id.to_string())])
            .collect()
    }
}

impl Describes<Details> for EnvironmentSource {
    fn describe(&self, facts: &mut Details, view: &View, environment: &ProjectEnvironment) {
        facts.title(environment.name.clone(), "");
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
        if let Some(protection) = deployments::protection(view, &self.project, &environment.name) {
            facts.field("protected", Line::new(deployments::protection_words(protection), Role::Warning), None);
        }
        if let Some(until) = &environment.auto_stop_at {
            facts.field("auto-stop", Line::new(day(until), Role::Warning), None);
        }
        if let Some(words) = environment.description.as_deref().filter(|words| !words.trim().is_empty()) {
            facts.line(Line::empty());
            facts.prose(words, 60, 20, Role::Text);
        }
        if let Some(blocked) = deployments::blocked_in(view, &self.project, &environment.name) {
            let pieces = Line::new(blocked.r#ref.clone(), Role::Ref)
                .and(format!("  {}", text::head(&blocked.sha, 8)), Role::Link)
                .and("  waits for approval", Role::Warning);
            facts.field("blocked", pieces, Some(LinkTarget::Place(deployments::place(&self.project, blocked))));
        }
        let Some(last) = &environment.last_deployment else { return };
        facts.line(Line::empty());
        let commit = Place::new("commit").project(self.project.clone()).item(&last.sha);
        let status = deployments::status(last);
        if !status.is_empty() {
            let (status, role) = glyph::labeled(status);
            facts.field("status", Line::new(status, role), None);
        }
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
