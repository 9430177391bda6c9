//! Deployments of a project: its environments with what runs there now, the history of each, and one of them in full.

mod details;
mod draw;

use crate::api::Id;
use crate::api::deployments::{Deployment, GetDeployment, ListDeployments};
use crate::api::jobs::{Job, Status};
use crate::app::action::Action;
use crate::app::command::{Command, Disabled, Motion};
use crate::app::pane::{Breadcrumb, Cx, Needs, Pane, Pointer, SearchMode, View};
use crate::app::place::Place;
use crate::app::query::{self, Grammar, QueryResult, Term, ValueKind};
use crate::parts::facts::Details;
use crate::parts::list::{self, Listing};
use crate::parts::{ci, project};
use crate::store::{Load, Revision, Rows, Want};
use crate::ui::panels::{PanelRequest, Panels};
use crate::ui::table::ListState;
use crate::ui::theme::Role;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use serde_json::{Map, json};
use std::cell::Cell as Shared;
use std::time::Duration;

const PLACES: usize = 0;
const HISTORY: usize = 1;
const DETAILS: usize = 2;
const ASKS: &[PanelRequest] =
    &[PanelRequest { min: 28, weight: 2 }, PanelRequest { min: 56, weight: 4 }, PanelRequest { min: 44, weight: 3 }];
/// Pages among which environments are looked for at once: the API has no list of them.
const LOOKED: u32 = 3;
/// Before one deployment under a moving cursor is asked for.
const PATIENCE: Duration = Duration::from_millis(120);

const TERMS: &[Term] = &[Term::new(
    "sort",
    "",
    ValueKind::Sort(&[("id", "id"), ("iid", "iid"), ("created", "created_at"), ("ref", "ref")]),
    "in which order",
)];

/// An environment, as its deployments show it.
#[derive(Clone, Debug, PartialEq)]
struct Environment {
    name: String,
    url: Option<String>,
    /// What was deployed there last.
    latest: Deployment,
    count: usize,
}

/// The list of deployments.
pub struct Deployments {
    project: Id,
    /// Environments, and the revision of the rows that they were found in.
    environments: Vec<Environment>,
    revision: Option<Revision>,
    /// The row 0 stands for all of them.
    places: ListState,
    list: Listing,
    details: Details,
    /// The deployment that the details are of, if one was asked for.
    wanted: Option<String>,
    panels: Panels,
    places_area: Shared<Rect>,
}

/// Returns how a deployment stands: as newer servers say, else as its job does.
fn status(deployment: &Deployment) -> &str {
    let job = deployment.deployable.as_ref().map_or("", |job| job.status.as_str());
    deployment.status.as_deref().filter(|status| !status.is_empty()).unwrap_or(job)
}

fn environment(deployment: &Deployment) -> &str {
    deployment.environment.as_ref().map_or("", |environment| environment.name.as_str())
}

fn is_live(deployment: &Deployment) -> bool {
    let job = deployment.deployable.as_ref().is_some_and(|job| ci::moves(job));
    job || matches!(status(deployment), "created" | "running")
}

impl Deployments {
    /// Returns what is asked, and the words that the answer is narrowed to.
    fn asked(&self, text: &str, view: &View) -> (ListDeployments, String) {
        let parts = query::parts(text);
        let keyed: Vec<&str> = parts.iter().filter(|(_, keyed)| *keyed).map(|(word, _)| word.as_str()).collect();
        let words: Vec<String> =
            parts.iter().filter(|(_, keyed)| !keyed).map(|(word, _)| word.replace('"', "").to_lowercase()).collect();
        let mut given = Map::new();
        given.insert("id".into(), json!(self.project));
        // The newest first: servers begin with the oldest.
        given.insert("order_by".into(), json!("id"));
        given.insert("sort".into(), json!("desc"));
        let newest =
            ListDeployments { id: self.project.clone(), order_by: Some("id".into()), sort: Some("desc".into()) };
        let asked = match self.grammar_of().ask::<ListDeployments>(&keyed.join(" "), given, view) {
            QueryResult::Ready(asked) => asked,
            QueryResult::Naming | QueryResult::Wrong(_) => newest,
        };
        (asked, words.join(" "))
    }

    fn grammar_of(&self) -> Grammar {
        Grammar::new(TERMS, None, Some(self.project.clone()))
    }

    /// Returns what is wrong with the words that have a key.
    fn mistake(&self, view: &View) -> Option<String> {
        let parts = query::parts(self.list.filter_text());
        let keyed: Vec<String> = parts.into_iter().filter(|(_, keyed)| *keyed).map(|(word, _)| word).collect();
        self.grammar_of().mistake(&keyed.join(" "), view).map(|mistake| mistake.to_string())
    }

    fn rows<'a>(&self, view: &View<'a>) -> Rows<'a, Deployment> {
        view.store.list(&self.asked(self.list.shown(), view).0)
    }

    /// The environment whose history is shown; `None` for all.
    fn chosen(&self) -> Option<&Environment> {
        self.environments.get(self.places.selected().checked_sub(1)?)
    }

    fn selected<'a>(&self, view: &View<'a>) -> Option<&'a Deployment> {
        self.list.selected(&self.rows(view))
    }

    /// The selected deployment as the server last told of it.
    fn current<'a>(&self, view: &View<'a>) -> Option<&'a Deployment> {
        let listed = self.selected(view)?;
        let alone = view.store.get(&self.get(listed.id)).value;
        Some(alone.unwrap_or(listed))
    }

    fn get(&self, deployment_id: u64) -> GetDeployment {
        GetDeployment { id: self.project.clone(), deployment_id }
    }

    fn job<'a>(&self, view: &View<'a>) -> Option<&'a Job> {
        self.current(view)?.deployable.as_deref()
    }

    /// The commit that ran on the same environment before the selected deployment.
    fn before(&self, view: &View) -> Option<String> {
        let current = self.current(view)?;
        let rows = self.rows(view);
        let older = rows.iter().filter(|row| environment(row) == environment(current) && row.id < current.id);
        older.max_by_key(|row| row.id).map(|row| row.sha.clone()).filter(|sha| *sha != current.sha)
    }

    fn has_one(&self, view: &View) -> Result<(), Disabled> {
        list::need(self.current(view), &self.rows(view), "no deployment is selected").map(|_| ())
    }

    fn has_job(&self, view: &View) -> Result<(), Disabled> {
        self.has_one(view)?;
        self.job(view).map(|_| ()).ok_or_else(|| "its job is gone".into())
    }

    fn enter(&mut self, cx: &mut Cx) {
        match self.panels.focus() {
            PLACES => self.panels.set_focus(HISTORY),
            DETAILS if self.details.enter(cx) => {}
            _ => match self.job(&cx.view) {
                Some(job) => cx.go(Place::new("job").project(self.project.clone()).item(job.id)),
                None => self.panels.set_focus(DETAILS),
            },
        }
    }

    /// Finds the environments again, where rows came.
    fn gather(&mut self, view: &View) {
        let rows = self.rows(view);
        if self.revision == Some(rows.revision) || !rows.known {
            return;
        }
        self.revision = Some(rows.revision);
        let chosen = self.chosen().map(|environment| environment.name.clone());
        let mut found: Vec<Environment> = Vec::new();
        for row in rows.iter() {
            let name = environment(row);
            match found.iter_mut().find(|environment| environment.name == name) {
                Some(known) => {
                    known.count += 1;
                    if row.id > known.latest.id {
                        known.latest = row.clone();
                    }
                }
                None => found.push(Environment {
                    name: name.to_owned(),
                    url: row.environment.as_ref().and_then(|e| e.external_url.clone()),
                    latest: row.clone(),
                    count: 1,
                }),
            }
        }
        found.sort_by(|a, b| a.name.cmp(&b.name));
        let at = found.iter().position(|environment| Some(&environment.name) == chosen.as_ref());
        self.environments = found;
        self.places.select(at.map_or(0, |at| at + 1), self.environments.len() + 1);
    }

    fn move_places(&mut self, motion: Motion) {
        let len = self.environments.len() + 1;
        let before = self.places.selected();
        match motion {
            Motion::Right => return self.panels.set_focus(HISTORY),
            Motion::Left => {}
            Motion::PageUp => self.places.page_by(-1, len),
            Motion::PageDown => self.places.page_by(1, len),
            Motion::Wheel(rows) => self.places.scroll_by(rows.into(), len),
            other => other.apply(&mut self.places, len),
        }
        if self.places.selected() != before {
            self.list.state.first();
        }
    }
}

impl Pane for Deployments {
    const ID: &'static str = "deployments";
    const TITLE: &'static str = "Deployments by environment";
    const NEEDS: Needs = Needs::Project;
    const COMMANDS: &'static [Command<Self>] = &[
        Command::new("deployments.open", &["Enter"], "Open job", Self::enter).footer("job").when(Self::has_one),
        Command::new("deployments.commit", &["S"], "Open commit", |pane: &mut Self, cx| {
            if let Some(deployment) = pane.current(&cx.view) {
                cx.go(Place::new("commit").project(pane.project.clone()).item(&deployment.sha));
            }
        })
        .footer("commit")
        .when(Self::has_one),
        Command::new("deployments.changes", &["d"], "Compare with previous", |pane: &mut Self, cx| {
            let after = pane.current(&cx.view).map(|deployment| deployment.sha.clone());
            if let (Some(before), Some(after)) = (pane.before(&cx.view), after) {
                cx.go(Place::new("compare").project(pane.project.clone()).item(format!("{before}...{after}")));
            }
        })
        .footer("changes")
        .when(|pane, view| {
            pane.has_one(view)?;
            pane.before(view).map(|_| ()).ok_or_else(|| "no other commit was deployed there before".into())
        }),
        Command::new("deployments.visit", &["V"], "Open environment in browser", |pane: &mut Self, cx| {
            if let Some(url) = pane.current(&cx.view).and_then(details::link) {
                cx.act(Action::Browse(url));
            }
        })
        .when(|pane, view| {
            pane.has_one(view)?;
            let link = pane.current(view).and_then(details::link);
            link.map(|_| ()).ok_or_else(|| "the environment has no address".into())
        }),
        Command::new("deployments.artifacts", &["A"], "Browse artifacts", |pane: &mut Self, cx| {
            if let Some(job) = pane.job(&cx.view) {
                cx.go(Place::new("artifacts").project(pane.project.clone()).item(job.id));
            }
        })
        .when(|pane, view| {
            pane.has_job(view)?;
            let kept = pane.job(view).is_some_and(Job::has_artifacts);
            if kept { Ok(()) } else { Err("its job left no artifacts".into()) }
        }),
    ];

    fn open(place: &Place, _view: &View) -> Self {
        let mut list = Listing::asked(place.query.as_deref().unwrap_or_default());
        if let Some(item) = &place.item {
            list.reveal(item.clone());
        }
        let mut panels = Panels::new(3);
        panels.set_focus(HISTORY);
        Deployments {
            project: place.project.clone().unwrap_or_default(),
            environments: Vec::new(),
            revision: None,
            places: ListState::new(),
            list,
            details: Details::default(),
            wanted: place.item.clone(),
            panels,
            places_area: Shared::default(),
        }
    }

    fn place(&self) -> Place {
        let place = Place::new(Self::ID).project(self.project.clone()).query(self.list.filter_text());
        Place { item: self.wanted.clone(), ..place }
    }

    fn breadcrumbs(&self, view: &View) -> Vec<Breadcrumb> {
        let mut out = project::breadcrumbs(view, &self.project);
        out.push(Breadcrumb::new("deployments", Role::Text));
        let keyed = query::parts(self.list.filter_text());
        out.extend(
            keyed.into_iter().map(|(word, keyed)| Breadcrumb::new(word, if keyed { Role::Label } else { Role::Match })),
        );
        match self.mistake(view) {
            Some(why) => out.push(Breadcrumb::new(why, Role::Failed)),
            None => {
                out.extend(self.list.count(&self.rows(view)).map(|count| Breadcrumb::new(count, Role::Dim)));
            }
        }
        out
    }

    fn wants(&self, view: &View) -> Vec<Want> {
        let mut wants = vec![project::want(&self.project)];
        let (asked, _) = self.asked(self.list.filter_text(), view);
        let live = self.rows(view).iter().take(list_height(&self.list)).any(is_live);
        let load = Load::list(&asked, self.list.pages().max(LOOKED)).after(self.list.rest());
        wants.push(if live { load.every(ci::PULSE * 2).into() } else { load.into() });
        if let Some(listed) = self.selected(view) {
            wants.push(Load::one(&self.get(listed.id)).after(PATIENCE).into());
        }
        wants
    }

    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        self.places_area.set(Rect::default());
        self.details.hide();
        let places = self.panels.layout(area, ASKS);
        if let Some(area) = places.get(PLACES).copied().flatten() {
            self.draw_places(view, area, buf);
        }
        match places.get(HISTORY).copied().flatten() {
            Some(area) => self.draw_history(view, area, buf),
            None => self.list.drawn_at(Rect::default()),
        }
        if let Some(area) = places.get(DETAILS).copied().flatten() {
            self.draw_details(view, area, buf);
        }
        self.panels.rules(buf, view.theme);
    }

    fn changed(&mut self, cx: &mut Cx) {
        let view = cx.view;
        let filter_text = self.asked(self.list.filter_text(), &view).0;
        self.list.answered(&view.store.list(&filter_text));
        self.gather(&view);
        let rows = self.rows(&view);
        let chosen = self.chosen().map(|environment| environment.name.clone());
        let words = self.asked(self.list.shown(), &view).1;
        // Both narrow what is known: the environment, and the words of the query.
        let narrowed = match &chosen {
            Some(name) => format!("in {name}: {words}"),
            None => words.clone(),
        };
        self.list.narrow_to(&rows, &narrowed, |row| {
            chosen.as_ref().is_none_or(|name| environment(row) == name)
                && words.split_whitespace().all(|word| says(row, word))
        });
        self.list.sync(&rows, |row| row.id.to_string());
        let current = self.current(&view).cloned();
        details::write(&mut self.details, current.as_ref(), &self.project, &view);
    }

    fn motion(&mut self, motion: Motion, cx: &mut Cx) {
        match (self.panels.focus(), motion) {
            (PLACES, _) => self.move_places(motion),
            (HISTORY, Motion::Left) => self.panels.set_focus(PLACES),
            (HISTORY, Motion::Right) => self.panels.set_focus(DETAILS),
            (HISTORY, _) => {
                self.wanted = None;
                let len = self.list.len(&self.rows(&cx.view));
                self.list.motion(motion, len);
            }
            (_, Motion::Left) => self.panels.set_focus(HISTORY),
            _ => self.details.motion(motion),
        }
    }

    fn pointer(&mut self, pointer: Pointer, cx: &mut Cx) {
        let (Pointer::Press { column, row, .. } | Pointer::Wheel { column, row, .. }) = pointer else { return };
        let pressed = matches!(pointer, Pointer::Press { .. });
        let area = self.places_area.get();
        if area.contains((column, row).into()) {
            match pointer {
                Pointer::Wheel { rows, .. } => self.move_places(Motion::Wheel(rows)),
                _ => {
                    self.panels.set_focus(PLACES);
                    if let Some(index) = self.places.row_at(row - area.y) {
                        self.places.select(index, self.environments.len() + 1);
                        self.list.state.first();
                    }
                }
            }
        } else if self.details.holds(column, row) {
            if pressed {
                self.panels.set_focus(DETAILS);
            }
            self.details.pointer(pointer, cx);
        } else if self.list.holds(column, row) {
            if pressed {
                self.panels.set_focus(HISTORY);
            }
            let len = self.list.len(&self.rows(&cx.view));
            if self.list.pointer(pointer, len) {
                self.enter(cx);
            }
        }
    }

    fn panels(&mut self) -> Option<&mut Panels> {
        Some(&mut self.panels)
    }

    fn search_mode(&self) -> Option<SearchMode> {
        Some(SearchMode::Filter)
    }

    fn grammar(&self) -> Option<Grammar> {
        // Words without a key are looked for here.
        Some(Grammar { search: Some("words"), ..self.grammar_of() })
    }

    fn filter_text(&self) -> String {
        self.list.filter_text().to_owned()
    }

    fn set_filter_text(&mut self, text: &str, cx: &mut Cx) {
        let here = self.selected(&cx.view).map(|row| row.id.to_string());
        self.list.seek(text, here);
    }

    fn escape(&mut self, cx: &mut Cx) -> bool {
        let here = self.selected(&cx.view).map(|row| row.id.to_string());
        if self.list.clear_filter(here) {
            return true;
        }
        if self.panels.focus() == DETAILS {
            self.panels.set_focus(HISTORY);
            return true;
        }
        if self.places.selected() > 0 {
            self.places.first();
            return true;
        }
        false
    }

    fn url(&self, view: &View) -> Option<String> {
        let environment = self.current(view).and_then(|deployment| deployment.environment.as_ref());
        let rest = match environment {
            Some(environment) => format!("/-/environments/{}", environment.id),
            None => "/-/environments".into(),
        };
        Some(project::page(view, &self.project, &rest))
    }

    fn copies(&self, view: &View) -> Vec<(&'static str, String)> {
        let Some(deployment) = self.current(view) else { return Vec::new() };
        let mut copies = vec![
            ("commit SHA", deployment.sha.clone()),
            ("ref", deployment.r#ref.clone()),
            ("environment", environment(deployment).to_owned()),
        ];
        copies.extend(details::link(deployment).map(|url| ("address", url)));
        copies
    }

    fn ticks(&self, view: &View) -> bool {
        self.job(view).is_some_and(|job| job.status == Status::Running)
    }
}

/// Returns whether a deployment is one that a word means.
fn says(deployment: &Deployment, word: &str) -> bool {
    let user = deployment.user.as_ref().map_or("", |user| user.username.as_str());
    let title = deployment.deployable.as_ref().and_then(|job| job.commit.as_ref()).map_or("", |c| c.title.as_str());
    [environment(deployment), &deployment.r#ref, user, title, status(deployment)]
        .iter()
        .any(|text| text.to_lowercase().contains(word))
        || deployment.sha.starts_with(word)
}

/// Rows that may be in sight.
fn list_height(list: &Listing) -> usize {
    (list.state.top() + list.state.height()).max(50)
}
