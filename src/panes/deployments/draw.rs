//! How deployments are drawn: environments, their history, one in full.

use super::{DETAILS, Deployments, HISTORY, PLACES, environment, status};
use crate::api::deployments::Deployment;
use crate::app::pane::View;
use crate::parts::list;
use crate::ui::table::{self, Cell, Column, Row, Size};
use crate::ui::theme::Role;
use crate::ui::{glyph, panels, text};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

fn status_cell(deployment: &Deployment) -> Cell {
    let word = status(deployment);
    let (sign, role) = glyph::status(word);
    Cell::from((format!("{sign} {}", word.replace('_', " ")), role))
}

impl Deployments {
    pub(super) fn draw_places(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let focused = self.panels.focus() == PLACES;
        let rows = self.rows(view);
        let count = self.environments.len();
        let facts = if rows.known { count.to_string() } else { String::new() };
        let area = panels::title(buf, area, view.theme, focused, "Environments", &facts);
        if rows.is_empty() {
            return list::without_rows(view, area, buf, &rows, ("Nothing was deployed yet.", ""));
        }
        self.places_area.set(area);
        let columns = [
            Column::new("", Size::Fixed(1)),
            Column::new("", Size::Fill { min: 10, weight: 1 }),
            Column::new("", Size::Fit { min: 4, max: 16 }).middle().priority(2),
            Column::new("", Size::Fixed(4)).right().priority(1),
        ];
        table::draw(buf, area, view.theme, focused, &self.places, &columns, count + 1, |index| {
            let Some(environment) = index.checked_sub(1).and_then(|at| self.environments.get(at)) else {
                let all = text::count(rows.len() as u64);
                let more = if rows.more { "+" } else { "" };
                return Row::new(vec![
                    Cell::empty(),
                    Cell::from(("all", Role::Text)),
                    Cell::empty(),
                    Cell::from((format!("{all}{more}"), Role::Dim)),
                ]);
            };
            let (sign, role) = glyph::status(status(&environment.latest));
            let name = if environment.name.is_empty() { "(none)" } else { environment.name.as_str() };
            Row::new(vec![
                (sign, role).into(),
                (name.to_owned(), Role::Text).into(),
                (environment.latest.r#ref.clone(), Role::Ref).into(),
                (list::age(view, environment.latest.created_at.as_ref()), Role::Dim).into(),
            ])
        });
    }

    pub(super) fn draw_history(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let focused = self.panels.focus() == HISTORY;
        let chosen = self.chosen();
        let title = chosen.map_or("All environments", |environment| environment.name.as_str());
        let facts = chosen.and_then(|environment| environment.url.clone()).unwrap_or_default();
        let area = panels::title(buf, area, view.theme, focused, title, &text::shown(&facts));
        let columns = [
            Column::new("", Size::Fit { min: 8, max: 12 }),
            Column::new("", Size::Fit { min: 2, max: 7 }).right().priority(5),
            Column::new("", Size::Fit { min: 4, max: 16 }).priority(1),
            Column::new("", Size::Fit { min: 4, max: 20 }).middle().priority(3),
            Column::new("", Size::Fixed(8)).priority(2),
            Column::new("", Size::Fill { min: 12, weight: 1 }).priority(4),
            Column::new("", Size::Fit { min: 3, max: 12 }).priority(2),
            Column::new("", Size::Fixed(4)).right(),
        ];
        let all = chosen.is_none();
        let row = |deployment: &Deployment| {
            let title = deployment.deployable.as_ref().and_then(|job| job.commit.as_ref());
            let user = deployment.user.as_ref().map_or("", |user| user.username.as_str());
            let place = if all { environment(deployment) } else { "" };
            Row::new(vec![
                status_cell(deployment),
                (format!("#{}", deployment.iid), Role::Dim).into(),
                (place.to_owned(), Role::Text).into(),
                (deployment.r#ref.clone(), Role::Ref).into(),
                (text::head(&deployment.sha, 8), Role::Ref).into(),
                (title.map(|commit| commit.title.clone()).unwrap_or_default(), Role::Text).into(),
                (user.to_owned(), Role::User).into(),
                (list::age(view, deployment.created_at.as_ref()), Role::Dim).into(),
            ])
        };
        let empty = ("Nothing was deployed from this project yet.", "Jobs with an environment make deployments");
        self.list.draw(view, area, buf, focused, &self.rows(view), &columns, row, empty);
    }

    pub(super) fn draw_details(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let focused = self.panels.focus() == DETAILS;
        let title = self.current(view).map(|deployment| format!("deployment #{}", deployment.iid)).unwrap_or_default();
        let area = panels::title(buf, area, view.theme, focused, &title, "");
        let error = self.selected(view).and_then(|listed| view.store.get(&self.get(listed.id)).error);
        let area = list::trouble(view, area, buf, error);
        self.details.draw(view, area, buf, focused);
    }
}
