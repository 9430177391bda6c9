//! The panels beside the list of deployments: the environments with their latest deployment, and the details of the
//! selected deployment.

use super::{DeploymentSource, is_running};
use crate::api::deployments::Deployment;
use crate::app::context::Cx;
use crate::app::motion::Motion;
use crate::app::pane::Pane;
use crate::app::pointer::Pointer;
use crate::app::view::View;
use crate::parts::ci::deployments::{environment, status};
use crate::parts::facts::Details;
use crate::parts::list;
use crate::parts::list::source::{Detail, DetailContext};
use crate::parts::text::dates;
use crate::store::{ListQuery, Revision, Rows, Want};
use crate::ui::drawn::Drawn;
use crate::ui::line::Line;
use crate::ui::table::{self, ListState, Size, TableColumn, TableRow};
use crate::ui::theme::Role;
use crate::ui::{glyph, panels};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// An environment, derived from its deployments.
#[derive(Clone, Debug, PartialEq)]
pub struct Environment {
    pub name: String,
    pub url: Option<String>,
    /// The latest deployment to it.
    latest: Deployment,
}

/// The environments of the deployments.
#[derive(Default)]
pub struct EnvironmentList {
    environments: Vec<Environment>,
    /// The revision of the rows that the environments were derived from.
    revision: Option<Revision>,
    /// The selection; row 0 stands for all environments.
    state: ListState,
    area: Drawn<Rect>,
    /// The query of the deployments.
    query: Option<ListQuery<Deployment>>,
    focused: bool,
}

impl EnvironmentList {
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
}

impl Pane for EnvironmentList {
    fn wants(&self, _: &View) -> Vec<Want> {
        Vec::new()
    }

    fn motion(&mut self, motion: Motion, _: &mut Cx) {
        motion.apply(&mut self.state, self.environments.len() + 1);
    }

    fn pointer(&mut self, pointer: Pointer, cx: &mut Cx) {
        match pointer {
            Pointer::Wheel { rows, .. } => self.motion(Motion::Wheel(rows), cx),
            Pointer::Press { row, .. } => {
                if let Some(index) = row.checked_sub(self.area.get().y).and_then(|y| self.state.row_at(y)) {
                    self.state.select(index, self.environments.len() + 1);
                }
            }
            Pointer::Drag { .. } | Pointer::Release => {}
        }
    }

    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let rows = self.query.as_ref().map_or_else(|| Rows::chain(Vec::new()), |query| view.store.rows(query));
        let count = self.environments.len();
        let facts = if rows.is_loaded { count.to_string() } else { String::new() };
        let area = panels::title(buf, area, view.theme, self.focused, "Environments", &facts);
        self.area.set(area);
        if rows.is_empty() {
            return list::draw_placeholder(view, area, buf, &rows, ("Nothing was deployed yet.", ""));
        }
        let columns = [
            TableColumn::new("", Size::Fixed(1)),
            TableColumn::new("", Size::Fill { min: 10, weight: 1 }),
            TableColumn::new("", Size::Fit { min: 4, max: 16 }).cut_in_middle().drop_order(2),
            TableColumn::new("", Size::Fixed(4)).right().drop_order(1),
        ];
        table::draw(buf, area, view.theme, self.focused, &self.state, &columns, count + 1, &|index| {
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

/// The environments, and the details of the selected deployment.
#[derive(Default)]
pub struct DeploymentDetail {
    pub environments: EnvironmentList,
    facts: Details,
    is_running: bool,
}

impl Pane for DeploymentDetail {
    fn wants(&self, view: &View) -> Vec<Want> {
        self.facts.wants(view)
    }

    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        self.facts.view(view, area, buf);
    }

    fn ticks(&self, _: &View) -> bool {
        self.is_running
    }
}

impl Detail<DeploymentSource> for DeploymentDetail {
    fn show(&mut self, context: &DetailContext<'_, DeploymentSource>, cx: &mut Cx) {
        self.environments.query = context.query.cloned();
        self.environments.focused = context.focused_before;
        self.is_running = context.width > 0 && context.row.is_some_and(is_running);
        Detail::<DeploymentSource>::show(&mut self.facts, context, cx);
    }

    fn panel(&self, index: usize) -> Option<&dyn Pane> {
        match index {
            0 => Some(&self.environments),
            2 => Some(&self.facts),
            _ => None,
        }
    }

    fn panel_mut(&mut self, index: usize) -> Option<&mut dyn Pane> {
        match index {
            0 => Some(&mut self.environments),
            2 => Some(&mut self.facts),
            _ => None,
        }
    }
}
