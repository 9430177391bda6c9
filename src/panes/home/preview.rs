//! The preview of the selected line of home, shown beside the list on wide screens.

use super::Home;
use super::lines::Line;
use crate::app::view::View;
use crate::panes::home::queries;
use crate::parts::description::{Description, DescriptionPanel};
use crate::parts::{rendered_markdown, todos};
use crate::store::Want;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

impl Home {
    /// Returns the description of the selected line; `None` for lines without a text.
    pub(super) fn description(&self, view: &View) -> Option<Description> {
        Some(match self.current()? {
            Line::Request(section, at, row) => {
                let request = self.custom_queries.requests(view, section, at).get(row)?;
                Description::of_merge_request(request, queries::host(view, at).map_or("", |host| host.name()))
            }
            Line::Todo(row) => {
                let todo = todos::waiting(view).get(row)?;
                Description {
                    title: format!("{} {}", todo.reference(), todo.title()),
                    author: todo.author.as_ref().map(|user| user.username.clone()).unwrap_or_default(),
                    identity: format!("to-do {} with {}", todo.id, rendered_markdown::identity(&todo.body)),
                    // For to-dos without a comment, servers repeat the title in the body.
                    text: Some(&todo.body).filter(|body| body.trim() != todo.title()).cloned().unwrap_or_default(),
                }
            }
            Line::Job(project, row) => {
                let job = queries::running(view, self.watched(project)).get(row)?;
                let commit = job.commit.as_ref();
                Description {
                    title: format!("#{} {}", job.id, job.name),
                    author: commit.map(|commit| commit.author_name.clone()).unwrap_or_default(),
                    identity: format!("commit of job {}", job.id),
                    text: commit.map(|commit| commit.message.clone()).unwrap_or_default(),
                }
            }
            Line::Project(row) => {
                let project = queries::projects(view).get(row)?;
                Description {
                    title: project.path_with_namespace.clone(),
                    author: String::new(),
                    identity: format!("description of project {} {}", project.id, project.description()),
                    text: project.description().to_owned(),
                }
            }
            Line::Heading(..) | Line::Nothing(_) | Line::NotFound(_) | Line::Unreachable(..) | Line::Place(_) => {
                return None;
            }
        })
    }

    /// Returns the area of the preview; `None` if the screen is too narrow.
    pub(super) fn preview_area(&self, area: Rect) -> Option<Rect> {
        let places = self.panels.areas(area, &self.widths(area.width));
        places.get(1).copied().flatten()
    }

    /// Returns the work that renders the text of the selected line, unless it is done.
    pub(super) fn preview_want(&self, view: &View) -> Option<Want> {
        let area = self.preview_area(Rect::new(0, 0, view.size.0, view.size.1))?;
        DescriptionPanel::want(view, self.description(view).as_ref(), area.width)
    }

    pub(super) fn draw_preview(&self, view: &View, area: Rect, buf: &mut Buffer) {
        self.preview.draw(view, area, buf, self.description(view).as_ref(), "‹home.open› opens it");
    }
}
