//! The preview of the selected line of home, shown beside the list on wide screens.

use super::Home;
use super::lines::HomeLine;
use crate::app::view::View;
use crate::panes::home::queries;
use crate::parts::facts::description::Description;
use crate::parts::items::todos;
use crate::parts::text::rendered_markdown;
use ratatui::layout::Rect;

impl Home {
    /// Returns the description of the selected line; `None` for lines without a text.
    fn description<'a>(&self, view: &View<'a>) -> Option<Description<'a>> {
        Some(match self.current()? {
            HomeLine::Request(section, at, row) => {
                let request = self.custom_queries.requests(view, section, at).get(row)?;
                Description::of_merge_request(request, queries::host(view, at).map_or("", |host| host.name()))
            }
            HomeLine::Todo(row) => {
                let todo = todos::waiting(view).get(row)?;
                Description {
                    title: format!("{} {}", todo.reference(), todo.title()),
                    author: todo.author.as_ref().map_or("", |user| &user.username).into(),
                    identity: format!("to-do {} with {}", todo.id, rendered_markdown::identity(&todo.body)),
                    // For to-dos without a comment, servers repeat the title in the body.
                    text: Some(&*todo.body).filter(|body| body.trim() != todo.title()).unwrap_or_default().into(),
                }
            }
            HomeLine::Job(project, row) => {
                let job = queries::running(view, self.watched(project)).get(row)?;
                let commit = job.commit.as_ref();
                Description {
                    title: format!("#{} {}", job.id, job.name),
                    author: commit.map_or("", |commit| &commit.author_name).into(),
                    identity: format!("commit of job {}", job.id),
                    text: commit.map_or("", |commit| &commit.message).into(),
                }
            }
            HomeLine::Project(row) => {
                let project = queries::projects(view).get(row)?;
                Description {
                    title: project.path_with_namespace.clone(),
                    author: "".into(),
                    identity: format!("description of project {} {}", project.id, project.description()),
                    text: project.description().into(),
                }
            }
            HomeLine::Heading(..)
            | HomeLine::Nothing(_)
            | HomeLine::Advice(..)
            | HomeLine::NotFound(_)
            | HomeLine::Unreachable(..)
            | HomeLine::Place(_) => {
                return None;
            }
        })
    }

    /// Returns the area of the preview; `None` if the screen is too narrow.
    pub(super) fn preview_area(&self, area: Rect) -> Option<Rect> {
        let places = self.panels.areas(area, &self.widths(area.width));
        places.get(1).copied().flatten()
    }

    /// Shows the description of the selected line in the preview, if there is room for one.
    pub(super) fn update_preview(&mut self, view: &View) {
        let place = self.preview_area(Rect::new(0, 0, view.size.0, view.size.1));
        let description = self.description(view).filter(|_| place.is_some());
        let identity = description.as_ref().map(|of| of.identity.clone());
        self.preview.begin(place.map_or(0, |place| place.width.into()), false, self.previewed != identity);
        if let Some(of) = description {
            self.preview.description(view, &of, "‹home.open› opens it");
        }
        self.previewed = identity;
    }
}
