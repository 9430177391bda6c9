//! The panels beside the list of deployments: the environments with their latest deployment, and the details of the
//! selected deployment.

use super::{DeploymentSource, is_running};
use crate::api::deployments::Deployment;
use crate::app::context::Cx;
use crate::app::motion::Motion;
use crate::app::pointer::Pointer;
use crate::app::view::View;
use crate::parts::deployments::{environment, status};
use crate::parts::list_detail::FactsDetail;
use crate::parts::list_source::{Detail, DetailContext};
use crate::parts::{dates, list};
use crate::store::{Revision, Rows, Want};
use crate::ui::drawn::Drawn;
use crate::ui::line::Line;
use crate::ui::table::{self, ListState, Size, TableColumn, TableRow};
use crate::ui::theme::Role;
use crate::ui::{glyph, panels};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// The index of the environments panel.
const ENVIRONMENTS: usize = 0;

/// An environment, derived from its deployments.
#[derive(Clone, Debug, PartialEq)]
pub struct Environment {
    pub name: String,
    pub url: Option<String>,
    /// The latest deployment to it.
    latest: Deployment,
}

/// The environments, and the details of the selected deployment.
pub struct DeploymentDetail {
    environments: Vec<Environment>,
    /// The revision of the rows that the environments were derived from.
    revision: Option<Revision>,
    /// The selection; row 0 stands for all environments.
    state: ListState,
    area: Drawn<Rect>,
    facts: FactsDetail,
}

impl DeploymentDetail {
    /// Returns the environment whose history is shown; `None` for all.
    pub fn chosen(&self) -> Option<&Environment> {
        self.environments.get(self.state.selected().checked_sub(1)?)
    }

    /// Selects all environments. Returns whether a single one was selected before.
    pub fn choose_all(&mut self) -> bool {
        let is_one = self.state.selected() > 0;
        self.state.first();
        is_one
    }

    /// Rebuilds the environments if the rows changed. Keeps the selection by name.
    pub fn gather(&mut self, rows: &Rows<'_, Deployment>) {
        if self.revision == Some(rows.revision) || !rows.is_loaded {
            return;
        }
        self.revision = Some(rows.revision);
        let mut found: Vec<Environment> = Vec::new();
        for row in rows.iter() {
            let name = environment(row);
            match found.iter_mut().find(|environment| environment.name == name) {
                Some(known) if row.id > known.latest.id => known.latest = row.clone(),
                Some(_) => {}
                None => found.push(Environment {
                    name: name.to_owned(),
                    url: row.environment.as_ref().and_then(|e| e.external_url.clone()),
                    latest: row.clone(),
                }),
            }
        }
        found.sort_by(|a, b| a.name.cmp(&b.name));
        let chosen = self.chosen().map(|environment| &environment.name);
        let at = found.iter().position(|environment| Some(&environment.name) == chosen);
        self.environments = found;
        self.state.select(at.map_or(0, |at| at + 1), self.environments.len() + 1);
    }

    fn draw_environments(
        &self,
        context: &DetailContext<'_, DeploymentSource>,
        view: &View,
        area: Rect,
        buf: &mut Buffer,
    ) {
        let (rows, count) = (&context.rows, self.environments.len());
        let facts = if rows.is_loaded { count.to_string() } else { String::new() };
        let area = panels::title(buf, area, view.theme, context.focused, "Environments", &facts);
        self.area.set(area);
        if rows.is_empty() {
            return list::draw_placeholder(view, area, buf, rows, ("Nothing was deployed yet.", ""));
        }
        let columns = [
            TableColumn::new("", Size::Fixed(1)),
            TableColumn::new("", Size::Fill { min: 10, weight: 1 }),
            TableColumn::new("", Size::Fit { min: 4, max: 16 }).cut_in_middle().drop_order(2),
            TableColumn::new("", Size::Fixed(4)).right().drop_order(1),
        ];
        table::draw(buf, area, view.theme, context.focused, &self.state, &columns, count + 1, &|index| {
            let Some(environment) = index.checked_sub(1).and_then(|at| self.environments.get(at)) else {
                let all = Line::new(list::at_least(rows.len(), rows.has_more), Role::Dim);
                return TableRow::new(vec![Line::empty(), Line::new("all", Role::Text), Line::empty(), all]);
            };
            let (sign, role) = glyph::status(status(&environment.latest));
            let name = if environment.name.is_empty() { "(none)" } else { environment.name.as_str() };
            TableRow::new(vec![
                (sign, role).into(),
                (name.to_owned(), Role::Text).into(),
                (environment.latest.r#ref.clone(), Role::Ref).into(),
                (dates::age(view, environment.latest.created_at.as_ref()), Role::Dim).into(),
            ])
        });
    }
}

impl Detail<DeploymentSource> for DeploymentDetail {
    const PANELS: usize = 3;
    const LIST: usize = ENVIRONMENTS + 1;

    fn new() -> DeploymentDetail {
        DeploymentDetail {
            environments: Vec::new(),
            revision: None,
            state: ListState::new(),
            area: Drawn::default(),
            facts: <FactsDetail as Detail<DeploymentSource>>::new(),
        }
    }

    fn wants(&self, context: &DetailContext<'_, DeploymentSource>, view: &View) -> Vec<Want> {
        self.facts.wants(context, view)
    }

    fn changed(&mut self, context: &DetailContext<'_, DeploymentSource>, cx: &mut Cx) {
        self.facts.changed(context, cx);
    }

    fn motion(&mut self, context: &DetailContext<'_, DeploymentSource>, motion: Motion, view: &View) -> bool {
        if context.panel != ENVIRONMENTS {
            return self.facts.motion(context, motion, view);
        }
        let len = self.environments.len() + 1;
        match motion {
            Motion::Right => return true,
            Motion::Left => {}
            other => other.apply(&mut self.state, len),
        }
        false
    }

    fn pointer(&mut self, context: &DetailContext<'_, DeploymentSource>, pointer: Pointer, cx: &mut Cx) {
        match pointer {
            _ if context.panel != ENVIRONMENTS => self.facts.pointer(context, pointer, cx),
            Pointer::Wheel { rows, .. } => _ = self.motion(context, Motion::Wheel(rows), &cx.view),
            Pointer::Press { row, .. } => {
                if let Some(index) = row.checked_sub(self.area.get().y).and_then(|y| self.state.row_at(y)) {
                    self.state.select(index, self.environments.len() + 1);
                }
            }
            _ => {}
        }
    }

    fn enter(&mut self, context: &DetailContext<'_, DeploymentSource>, cx: &mut Cx) -> bool {
        context.panel != ENVIRONMENTS && self.facts.enter(context, cx)
    }

    fn draw(&self, context: &DetailContext<'_, DeploymentSource>, view: &View, area: Rect, buf: &mut Buffer) {
        if context.panel == ENVIRONMENTS {
            return self.draw_environments(context, view, area, buf);
        }
        self.facts.draw(context, view, area, buf);
    }

    fn ticks(&self, context: &DetailContext<'_, DeploymentSource>, _view: &View) -> bool {
        context.row.is_some_and(is_running)
    }
}
