//! Drawing of the profile and the projects of a user.

use super::{LEFT, RIGHT, UserPane};
use crate::api::projects::Project;
use crate::app::view::View;
use crate::parts::list::{age, draw_error};
use crate::ui::line::Line;
use crate::ui::table::{Column, Row, Size};
use crate::ui::text::sanitize;
use crate::ui::theme::Role;
use crate::ui::{panels, state};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

impl UserPane {
    pub(super) fn draw_profile(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let focused = self.panels.focus() == LEFT;
        let user = self.profile(view);
        let seen = if self.is_impersonating { "viewed as this user" } else { "" };
        let body = panels::title(buf, area, view.theme, focused, user.map_or("", |user| &user.name), seen);
        if user.is_some() {
            return self.facts.draw(view, body, buf, focused);
        }
        if self.is_self && !view.session.signed_in {
            let hint = "labscope auth login signs in";
            return view.draw_empty(buf, body, "You are not signed in.", hint);
        }
        let listed = view.store.list(&self.by_name());
        match self.error(view) {
            Some(error) => draw_error(view, body, buf, error),
            None if !self.is_self && self.id(view).is_none() && listed.is_loaded => {
                let why = format!("There is no user called {}.", sanitize(self.id_or_name.as_str()));
                view.draw_empty(buf, body, &why, ":users lists all users");
            }
            None => state::skeleton(buf, body, view.theme),
        }
    }

    pub(super) fn draw_projects(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let focused = self.panels.focus() == RIGHT;
        let rows = self.rows(view);
        let count = self.projects.count(&rows).unwrap_or_default();
        let body = panels::title(buf, area, view.theme, focused, "Projects", &count);
        let columns = [
            Column::new("", Size::Fit { min: 14, max: 32 }).cut_in_middle(),
            Column::new("", Size::Fill { min: 8, weight: 1 }).drop_order(3),
            Column::new("", Size::Fit { min: 6, max: 10 }).drop_order(2),
            Column::new("", Size::Fixed(4)).right().drop_order(1),
        ];
        let row = |project: &Project| {
            let visibility = project.visibility().map(|word| word.as_str().to_owned()).unwrap_or_default();
            let note = if project.is_archived() { "archived".to_owned() } else { visibility };
            Row::new(vec![
                Line::new(project.path_with_namespace.clone(), Role::Text),
                Line::new(project.description().lines().next().unwrap_or_default().to_owned(), Role::Dim),
                Line::new(note, Role::Dim),
                Line::new(age(view, project.last_activity_at.as_ref()), Role::Dim),
            ])
            .dim(project.is_archived())
        };
        let empty = match self.projects.shown() {
            "" => ("No personal projects that you can see.", "‹user.project› creates one"),
            _ => ("No project matches the filter.", "‹seek› changes it, ‹escape› clears it"),
        };
        self.projects.draw(view, body, buf, focused, &rows, &columns, row, empty);
    }
}
