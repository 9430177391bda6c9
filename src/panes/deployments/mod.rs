//! The deployments of a project: its environments, the history of each, and the details of the selected deployment.

mod environments;
mod facts;

use crate::api::Id;
use crate::api::deployments::{Deployment, GetDeployment, ListDeployments};
use crate::api::pipelines::resources::Status;
use crate::app::permission;
use crate::app::query::{self, Grammar, QueryResult, Term, ValueKind};
use crate::parts::ci::deployments::{self, environment, status};
use crate::parts::list::prelude::*;
use crate::parts::list::query_list;
use crate::parts::{ci, project};
use crate::store::{Load, Rows};
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

/// The deployments of a project.
pub struct DeploymentSource {
    project: Id,
    /// The environment whose history is shown; `None` for all.
    environment: Option<Environment>,
}

/// The list of deployments.
pub type Deployments = ListPane<DeploymentSource>;

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
    fn grammar(&self) -> Grammar {
        // Words without a key are searched in the loaded rows.
        Grammar::new(TERMS, Some("words"), Some(self.project.clone()))
    }
}

impl Deployments {
    /// Returns the SHA that was deployed to the same environment before the selected deployment, if it is another
    /// commit.
    fn before(&self, current: &Deployment, view: &View) -> Option<String> {
        let rows = self.rows(view);
        let older = rows.iter().filter(|row| environment(row) == environment(current) && row.id < current.id);
        older.max_by_key(|row| row.id).map(|row| row.sha.clone()).filter(|sha| *sha != current.sha)
    }

    /// Returns the latest successful deployment to the environment of a deployment.
    fn current_of<'a>(&self, deployment: &Deployment, view: &View<'a>) -> Option<&'a Deployment> {
        let rows = self.rows(view);
        let is_current = |row: &&Deployment| environment(row) == environment(deployment) && status(row) == "success";
        rows.iter().filter(is_current).max_by_key(|row| row.id)
    }

    fn run_again(&mut self, deployment: &Deployment, cx: &mut Cx) {
        let current = self.current_of(deployment, &cx.view);
        deployments::ask_run_again(&self.source.project, deployment, current, cx);
    }

    fn open_job(&mut self, deployment: &Deployment, cx: &mut Cx) {
        if self.is_before_list() {
            return self.focus_list();
        }
        if self.enter_detail(cx) {
            return;
        }
        match &deployment.deployable {
            Some(job) => cx.go(Place::new("job").project(self.source.project.clone()).item(job.id)),
            None => self.focus_detail(),
        }
    }
}

impl ListSource for DeploymentSource {
    type Row = Deployment;
    type Detail = DeploymentDetail;
    const LIST: ListInfo =
        ListInfo::new("deployments", "deployment", "deployments").widths(&[(28, 2), (56, 4), (44, 3)]);
    // The columns cannot be sorted: the server's orders are selected with `sort:` in the query.
    const COLUMNS: &'static [Column<Self>] = &[
        Column::<Self>::fit("status", "", 8, 12, |_, deployment, _| glyph::labeled(status(deployment)).into())
            .shrinks()
            .drop_order(2),
        Column::<Self>::fit("ID", "", 2, 7, |_, deployment, _| Line::new(format!("#{}", deployment.iid), Role::Dim))
            .right()
            .drop_order(5),
        Column::<Self>::fit("environment", "", 4, 16, |source, deployment, _| {
            Line::text(if source.environment.is_none() { environment(deployment) } else { "" })
        }),
        Column::<Self>::fit("ref", "", 4, 20, |_, deployment, _| Line::new(&deployment.r#ref, Role::Ref))
            .cut_in_middle()
            .drop_order(3),
        Column::<Self>::fixed("SHA", "", 8, |_, deployment, _| Line::new(text::head(&deployment.sha, 8), Role::Ref))
            .drop_order(4),
        Column::<Self>::fill("title", "", 12, |_, deployment, _| {
            let commit = deployment.deployable.as_ref().and_then(|job| job.commit.as_ref());
            Line::text(commit.map_or("", |commit| &commit.title))
        }),
        Column::<Self>::fit("user", "", 3, 12, |_, deployment, _| {
            Line::new(deployment.user.as_ref().map_or("", |user| &user.username), Role::User)
        })
        .drop_order(2),
        Column::<Self>::age("created", "", |deployment| deployment.created_at.as_ref()),
    ];
    const COMMANDS: &'static [ListCommand<Self>] = &[
        Command::row("deployments.open", &["Enter"], "Open job", Deployments::open_job).footer("job"),
        Command::row(
            "deployments.commit",
            &["S"],
            "Open commit",
            |pane: &mut Deployments, deployment: &Deployment, cx| {
                cx.go(Place::new("commit").project(pane.source.project.clone()).item(&deployment.sha));
            },
        )
        .footer("commit"),
        Command::row(
            "deployments.changes",
            &["d"],
            "Compare with previous",
            |pane: &mut Deployments, deployment: &Deployment, cx| {
                if let Some(before) = pane.before(deployment, &cx.view) {
                    let range = format!("{before}...{}", deployment.sha);
                    cx.go(Place::new("compare").project(pane.source.project.clone()).item(range));
                }
            },
        )
        .footer("changes")
        .when_row(|pane, deployment, view| match pane.before(deployment, view) {
            Some(_) => Ok(()),
            None => Err("no earlier deployment to this environment".into()),
        }),
        Command::row(
            "deployments.upcoming",
            &["u"],
            "Compare with head of ref",
            |pane: &mut Deployments, deployment: &Deployment, cx| {
                if let Ok(place) = deployments::upcoming(&pane.source.project, deployment) {
                    cx.go(place);
                }
            },
        )
        .when_row(|pane, deployment, _| deployments::upcoming(&pane.source.project, deployment).map(|_| ())),
        Command::row("deployments.run_again", &["R"], "Run deployment again…", Deployments::run_again)
            .needs(permission::RUN)
            .footer("run again")
            .when_row(|_, deployment, _| deployments::can_run_again(deployment)),
        Command::row(
            "deployments.approve",
            &["M-a"],
            "Approve deployment…",
            |pane: &mut Deployments, deployment: &Deployment, cx| {
                deployments::ask_decision(&pane.source.project, deployment, true, cx);
            },
        )
        .writes()
        .when_row(|_, deployment, view| deployments::can_decide(view, deployment)),
        Command::row(
            "deployments.reject",
            &["M-x"],
            "Reject deployment…",
            |pane: &mut Deployments, deployment: &Deployment, cx| {
                deployments::ask_decision(&pane.source.project, deployment, false, cx);
            },
        )
        .writes()
        .when_row(|_, deployment, view| deployments::can_decide(view, deployment)),
        Command::row(
            "deployments.visit",
            &["V"],
            "Open environment in browser",
            |_: &mut Deployments, deployment: &Deployment, cx| {
                if let Some(url) = facts::link(deployment) {
                    cx.act(Action::Browse(url));
                }
            },
        )
        .when_row(|_, deployment, _| match facts::link(deployment) {
            Some(_) => Ok(()),
            None => Err("the environment has no address".into()),
        }),
        Command::row(
            "deployments.artifacts",
            &["A"],
            "Browse artifacts",
            |pane: &mut Deployments, deployment: &Deployment, cx| {
                if let Some(job) = &deployment.deployable {
                    cx.go(Place::new("artifacts").project(pane.source.project.clone()).item(job.id));
                }
            },
        )
        .when_row(|_, deployment, _| match &deployment.deployable {
            Some(job) if job.has_artifacts() => Ok(()),
            Some(_) => Err("its job created no artifacts".into()),
            None => Err("its job is gone".into()),
        }),
    ];

    fn open(place: &Place, _view: &View) -> DeploymentSource {
        DeploymentSource { project: place.project.clone().unwrap_or_default(), environment: None }
    }

    fn empty(&self, _: usize) -> (&'static str, &'static str) {
        ("Nothing was deployed from this project yet.", "Jobs with an environment make deployments")
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

    fn polling(pane: &Deployments, view: &View) -> (u32, Option<Duration>) {
        let in_sight = (pane.list.state.top() + pane.list.state.height()).max(50);
        // The environments are derived from three pages, because the deployments API does not list them.
        (3, pane.rows(view).iter().take(in_sight).any(is_live).then_some(ci::POLL_INTERVAL * 2))
    }

    /// Filters the loaded rows by the selected environment and by the plain words of the query.
    fn arrange_rows(pane: &mut Deployments, rows: &Rows<'_, Deployment>, _view: &View) {
        pane.detail.environments.gather(rows);
        let chosen = pane.detail.environments.chosen();
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

    fn named_row(&self, key: &str) -> Option<Load> {
        Some(Load::single(&GetDeployment { id: self.project.clone(), deployment_id: key.parse().ok()? }))
    }

    fn heading(&self, _: &Input<'_>, _view: &View) -> (String, String) {
        match &self.environment {
            Some(chosen) => {
                (chosen.name.clone(), text::sanitize(chosen.url.as_deref().unwrap_or_default()).into_owned())
            }
            None => ("All environments".to_owned(), String::new()),
        }
    }

    fn handle_key(pane: &mut Deployments, key: ListKey, _: &mut Cx) -> bool {
        match key {
            ListKey::Left => return false,
            ListKey::Right => pane.focus_detail(),
            ListKey::Escape => return pane.detail.environments.choose_all(),
        }
        true
    }

    fn url(&self, view: &View, deployment: Option<&Deployment>) -> Option<String> {
        let rest = match &deployment?.environment {
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

impl Describes<Details> for DeploymentSource {
    fn describe(&self, facts: &mut Details, view: &View, deployment: &Deployment) {
        facts.title(format!("deployment #{}", deployment.iid), "");
        // Only the single view has the approvals that it waits for.
        let is_blocked = deployment.status.as_deref() == Some("blocked");
        let one = self.named_row(&Self::key(deployment)).filter(|_| is_blocked);
        let whole = one.as_ref().and_then(|one| view.store.read_as(&one.request));
        one.into_iter().for_each(|one| facts.load(one));
        facts::fill_facts(facts, whole.unwrap_or(deployment), &self.project, view);
    }
}
