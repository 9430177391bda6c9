//! The deployments of a project: its environments, the history of each, and the details of the selected deployment.

mod environments;
mod facts;

use crate::api::Id;
use crate::api::deployments::{Deployment, GetDeployment, ListDeployments};
use crate::api::jobs::Job;
use crate::api::pipelines::resources::Status;
use crate::app::action::Action;
use crate::app::clip::Clip;
use crate::app::command::Command;
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::pane::Breadcrumb;
use crate::app::place::Place;
use crate::app::place_info::Needs;
use crate::app::query::{self, Grammar, QueryResult, Term, ValueKind};
use crate::app::view::View;
use crate::parts::columns::{Columns, Field, ServerOrder};
use crate::parts::facts::Details;
use crate::parts::list::age;
use crate::parts::list_detail::FactsSource;
use crate::parts::list_pane::ListPane;
use crate::parts::list_source::{Filter, Input, ListCommand, ListSource};
use crate::parts::{ci, project, query_list};
use crate::store::{ListQuery, Load, Remote, Rows, Want};
use crate::ui::panels::PanelRequest;
use crate::ui::table::{Column, Row, Size};
use crate::ui::theme::Role;
use crate::ui::{glyph, text};
use environments::{DeploymentDetail, Environment};
use serde_json::json;
use std::time::Duration;

const TERMS: &[Term] = &[Term::new(
    "sort",
    "",
    ValueKind::Sort(&[("id", "id"), ("iid", "iid"), ("created", "created_at"), ("ref", "ref")]),
    "sort order",
)];

/// The columns. They cannot be sorted: the server's orders are selected with `sort:` in the query.
const COLUMNS: Columns<Deployment> = Columns {
    place: "deployments",
    fields: &[
        Field::new("status", Column::new("", Size::Fit { min: 8, max: 12 })),
        Field::new("ID", Column::new("", Size::Fit { min: 2, max: 7 }).right().drop_order(5)),
        Field::new("environment", Column::new("", Size::Fit { min: 4, max: 16 }).drop_order(1)),
        Field::new("ref", Column::new("", Size::Fit { min: 4, max: 20 }).cut_in_middle().drop_order(3)),
        Field::new("SHA", Column::new("", Size::Fixed(8)).drop_order(2)),
        Field::new("title", Column::new("", Size::Fill { min: 12, weight: 1 }).drop_order(4)),
        Field::new("user", Column::new("", Size::Fit { min: 3, max: 12 }).drop_order(2)),
        Field::new("created", Column::new("", Size::Fixed(4)).right()),
    ],
    order: None,
};

/// The deployments of a project.
pub struct DeploymentSource {
    project: Id,
    /// The environment whose history is shown; `None` for all.
    environment: Option<Environment>,
}

/// The list of deployments.
pub type Deployments = ListPane<DeploymentSource>;

/// Returns the status of a deployment or, on servers that do not send one, the status of its job.
fn status(deployment: &Deployment) -> &str {
    let job = deployment.deployable.as_ref().map_or("", |job| job.status.as_str());
    deployment.status.as_deref().filter(|status| !status.is_empty()).unwrap_or(job)
}

fn environment(deployment: &Deployment) -> &str {
    deployment.environment.as_ref().map_or("", |environment| environment.name.as_str())
}

fn is_running(deployment: &Deployment) -> bool {
    deployment.deployable.as_ref().is_some_and(|job| job.status == Status::Running)
}

fn is_live(deployment: &Deployment) -> bool {
    let job = deployment.deployable.as_ref().is_some_and(|job| ci::may_change(job));
    job || matches!(status(deployment), "created" | "running")
}

/// Returns whether a deployment matches a word: its environment, ref, user, commit title or status contains it, or its
/// SHA starts with it.
fn says(deployment: &Deployment, word: &str) -> bool {
    let user = deployment.user.as_ref().map_or("", |user| user.username.as_str());
    let title = deployment.deployable.as_ref().and_then(|job| job.commit.as_ref()).map_or("", |c| c.title.as_str());
    [environment(deployment), &deployment.r#ref, user, title, status(deployment)]
        .iter()
        .any(|text| text.to_lowercase().contains(word))
        || deployment.sha.starts_with(word)
}

impl DeploymentSource {
    fn one(&self, key: &str) -> Option<GetDeployment> {
        Some(GetDeployment { id: self.project.clone(), deployment_id: key.parse().ok()? })
    }

    fn grammar(&self) -> Grammar {
        // Words without a key are searched in the loaded rows.
        Grammar::new(TERMS, Some("words"), Some(self.project.clone()))
    }
}

impl Deployments {
    fn job<'a>(&self, view: &View<'a>) -> Option<&'a Job> {
        self.current(view)?.deployable.as_deref()
    }

    /// Returns the SHA that was deployed to the same environment before the selected deployment, if it is another
    /// commit.
    fn before(&self, view: &View) -> Option<String> {
        let current = self.current(view)?;
        let rows = self.rows(view);
        let older = rows.iter().filter(|row| environment(row) == environment(current) && row.id < current.id);
        older.max_by_key(|row| row.id).map(|row| row.sha.clone()).filter(|sha| *sha != current.sha)
    }

    fn has_job(&self, view: &View) -> Result<(), Disabled> {
        self.has_row(view)?;
        self.job(view).map(|_| ()).ok_or_else(|| "its job is gone".into())
    }

    fn open_job(&mut self, cx: &mut Cx) {
        if self.is_before_list() {
            return self.focus_list();
        }
        if self.enter_detail(cx) {
            return;
        }
        match self.job(&cx.view) {
            Some(job) => cx.go(Place::new("job").project(self.source.project.clone()).item(job.id)),
            None => self.focus_detail(),
        }
    }
}

impl ListSource for DeploymentSource {
    type Row = Deployment;
    type Detail = DeploymentDetail;
    const ID: &'static str = "deployments";
    const TITLE: &'static str = "Deployments by environment";
    const NEEDS: Needs = Needs::Project;
    const PLACE_NAMES_ROW: bool = true;
    const WIDTHS: &'static [PanelRequest] = &[
        PanelRequest { min: 28, weight: 2 },
        PanelRequest { min: 56, weight: 4 },
        PanelRequest { min: 44, weight: 3 },
    ];
    /// The environments are derived from these pages, because the deployments API does not list them.
    const MIN_PAGES: u32 = 3;
    const COLUMNS: Columns<Deployment> = COLUMNS;
    const COMMANDS: &'static [ListCommand<Self>] = &[
        Command::new("deployments.open", &["Enter"], "Open job", Deployments::open_job)
            .footer("job")
            .when(Deployments::has_row),
        Command::new("deployments.commit", &["S"], "Open commit", |pane: &mut Deployments, cx| {
            if let Some(deployment) = pane.current(&cx.view) {
                cx.go(Place::new("commit").project(pane.source.project.clone()).item(&deployment.sha));
            }
        })
        .footer("commit")
        .when(Deployments::has_row),
        Command::new("deployments.changes", &["d"], "Compare with previous", |pane: &mut Deployments, cx| {
            let after = pane.current(&cx.view).map(|deployment| deployment.sha.clone());
            if let (Some(before), Some(after)) = (pane.before(&cx.view), after) {
                cx.go(Place::new("compare").project(pane.source.project.clone()).item(format!("{before}...{after}")));
            }
        })
        .footer("changes")
        .when(|pane, view| {
            pane.has_row(view)?;
            pane.before(view).map(|_| ()).ok_or_else(|| "no earlier deployment to this environment".into())
        }),
        Command::new("deployments.visit", &["V"], "Open environment in browser", |pane: &mut Deployments, cx| {
            if let Some(url) = pane.current(&cx.view).and_then(facts::link) {
                cx.act(Action::Browse(url));
            }
        })
        .when(|pane, view| {
            pane.has_row(view)?;
            let link = pane.current(view).and_then(facts::link);
            link.map(|_| ()).ok_or_else(|| "the environment has no address".into())
        }),
        Command::new("deployments.artifacts", &["A"], "Browse artifacts", |pane: &mut Deployments, cx| {
            if let Some(job) = pane.job(&cx.view) {
                cx.go(Place::new("artifacts").project(pane.source.project.clone()).item(job.id));
            }
        })
        .when(|pane, view| {
            pane.has_job(view)?;
            let kept = pane.job(view).is_some_and(Job::has_artifacts);
            if kept { Ok(()) } else { Err("its job created no artifacts".into()) }
        }),
    ];

    fn open(place: &Place, _view: &View) -> DeploymentSource {
        DeploymentSource { project: place.project.clone().unwrap_or_default(), environment: None }
    }

    fn place(&self) -> Place {
        Place::new(Self::ID).project(self.project.clone())
    }

    fn breadcrumbs(&self, view: &View) -> Vec<Breadcrumb> {
        let mut breadcrumbs = project::breadcrumbs(view, &self.project);
        breadcrumbs.push(Breadcrumb::new("deployments", Role::Text));
        breadcrumbs
    }

    fn query(&self, input: &Input<'_>, _: ServerOrder, view: &View) -> Option<ListQuery<Deployment>> {
        // Newest first; the server's default is oldest first.
        let given =
            query_list::given([("id", json!(self.project)), ("order_by", json!("id")), ("sort", json!("desc"))]);
        let result: QueryResult<ListDeployments> =
            self.grammar().ask(&query::keyed_and_plain(input.filter).0, given, view);
        Some(ListQuery::new(&result.ready()?))
    }

    fn filter(&self, _: &Input<'_>) -> Filter<Deployment> {
        Filter::Query(self.grammar())
    }

    fn poll_interval(pane: &Deployments, view: &View) -> Option<Duration> {
        let in_sight = (pane.list.state.top() + pane.list.state.height()).max(50);
        pane.rows(view).iter().take(in_sight).any(is_live).then_some(ci::POLL_INTERVAL * 2)
    }

    /// Filters the loaded rows by the selected environment and by the plain words of the query.
    fn arrange_rows(pane: &mut Deployments, rows: &Rows<'_, Deployment>, _view: &View) {
        pane.detail.gather(rows);
        let chosen = pane.detail.chosen();
        if pane.source.environment.as_ref().map(|e| &e.name) != chosen.map(|e| &e.name) {
            pane.list.state.first();
        }
        pane.source.environment = chosen.cloned();
        let (_, words) = query::keyed_and_plain(pane.list.shown());
        let narrowed = match chosen {
            Some(chosen) => format!("in {}: {}", chosen.name, words.join(" ")),
            None => words.join(" "),
        };
        pane.list.narrow_to(rows, &narrowed, |row| {
            chosen.is_none_or(|chosen| environment(row) == chosen.name) && words.iter().all(|word| says(row, word))
        });
    }

    fn key(deployment: &Deployment) -> String {
        deployment.id.to_string()
    }

    fn row(&self, view: &View, _: usize, deployment: &Deployment) -> Row<'static> {
        let title = deployment.deployable.as_ref().and_then(|job| job.commit.as_ref());
        let user = deployment.user.as_ref().map_or("", |user| user.username.as_str());
        let place = if self.environment.is_none() { environment(deployment) } else { "" };
        let word = status(deployment);
        Row::new(vec![
            glyph::labeled(word).into(),
            (format!("#{}", deployment.iid), Role::Dim).into(),
            (place.to_owned(), Role::Text).into(),
            (deployment.r#ref.clone(), Role::Ref).into(),
            (text::head(&deployment.sha, 8), Role::Ref).into(),
            (title.map(|commit| commit.title.clone()).unwrap_or_default(), Role::Text).into(),
            (user.to_owned(), Role::User).into(),
            (age(view, deployment.created_at.as_ref()), Role::Dim).into(),
        ])
    }

    fn requested_row<'a>(&self, key: &str, view: &View<'a>) -> Option<Remote<'a, Deployment>> {
        Some(view.store.get(&self.one(key)?))
    }

    fn heading(&self, _: &Input<'_>, _view: &View) -> (String, String) {
        match &self.environment {
            Some(chosen) => {
                (chosen.name.clone(), text::sanitize(chosen.url.as_deref().unwrap_or_default()).into_owned())
            }
            None => ("All environments".to_owned(), String::new()),
        }
    }

    fn empty(&self, _: &Input<'_>) -> (&'static str, &'static str) {
        ("Nothing was deployed from this project yet.", "Jobs with an environment make deployments")
    }

    fn enter(pane: &mut Deployments, _cx: &mut Cx) {
        pane.focus_detail();
    }

    fn wants(pane: &Deployments, _view: &View) -> Vec<Want> {
        let named = pane.requested_key().and_then(|key| pane.source.one(key)).map(|get| Load::single(&get).into());
        [project::want(&pane.source.project)].into_iter().chain(named).collect()
    }

    fn escape(pane: &mut Deployments) -> bool {
        pane.detail.choose_all()
    }

    fn url(&self, view: &View, deployment: &Deployment) -> Option<String> {
        let rest = match &deployment.environment {
            Some(environment) => format!("/-/environments/{}", environment.id),
            None => "/-/environments".into(),
        };
        Some(project::page(view, &self.project, &rest))
    }

    fn copies(&self, _view: &View, deployment: &Deployment) -> Vec<Clip> {
        let mut copies = vec![
            Clip::line("commit SHA", deployment.sha.clone()),
            Clip::line("ref", deployment.r#ref.clone()),
            Clip::line("environment", environment(deployment).to_owned()),
        ];
        copies.extend(facts::link(deployment).map(|url| Clip::line("address", url)));
        copies
    }
}

impl FactsSource for DeploymentSource {
    fn load(&self, deployment: &Deployment) -> Option<Load> {
        // Only the single view has the approvals that it waits for.
        let one = self.one(&deployment.id.to_string()).filter(|_| deployment.status.as_deref() == Some("blocked"));
        one.map(|one| Load::single(&one))
    }

    fn facts_title(&self, deployment: &Deployment) -> String {
        format!("deployment #{}", deployment.iid)
    }

    fn facts(&self, facts: &mut Details, view: &View, deployment: &Deployment) {
        let one = self.one(&deployment.id.to_string());
        let whole = one.and_then(|one| view.store.get(&one).value).filter(|_| self.load(deployment).is_some());
        facts::fill_facts(facts, whole.unwrap_or(deployment), &self.project, view);
    }
}
