//! The preview of the selected line of home, shown beside the list on wide screens.

use super::Home;
use super::lines::Line;
use crate::app::view::View;
use crate::panes::home::queries;
use crate::parts::{rendered_markdown, review, todos};
use crate::store::Want;
use crate::ui::doc::{self, DocLine};
use crate::ui::panels;
use crate::ui::state;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// The maximum size in bytes of a text that is rendered.
const MAX_RENDERED_BYTES: usize = 64 * 1024;

/// The preview of a line.
pub(super) struct Preview {
    title: String,
    /// The username or name of the text's author.
    author: String,
    /// A key that changes with the text.
    identity: String,
    /// The text, as Markdown.
    text: String,
}

impl Home {
    /// Returns the preview of the selected line; `None` for lines without a text.
    fn preview(&self, view: &View) -> Option<Preview> {
        let name = |user: Option<&crate::api::users::User>| user.map(|user| user.username.clone()).unwrap_or_default();
        Some(match self.current()? {
            Line::Request(section, at, row) => {
                let request = self.custom_queries.requests(view, section, at).get(row)?;
                let changed = request.updated_at.as_ref().map_or("", |at| at.as_str());
                let server = queries::host(view, at).map_or("", |host| host.name());
                Preview {
                    title: format!("!{} {}", request.iid, review::title(request)),
                    author: name(request.author()),
                    identity: format!("description of merge request {} at {changed} {server}", request.id),
                    text: request.description.clone().unwrap_or_default(),
                }
            }
            Line::Todo(row) => {
                let todo = todos::waiting(view).get(row)?;
                Preview {
                    title: format!("{} {}", todo.reference(), todo.title()),
                    author: name(todo.author.as_ref()),
                    identity: format!("to-do {} with {}", todo.id, rendered_markdown::identity(&todo.body)),
                    // For to-dos without a comment, servers repeat the title in the body.
                    text: Some(&todo.body).filter(|body| body.trim() != todo.title()).cloned().unwrap_or_default(),
                }
            }
            Line::Job(project, row) => {
                let job = queries::running(view, self.watched(project)).get(row)?;
                let commit = job.commit.as_ref();
                Preview {
                    title: format!("#{} {}", job.id, job.name),
                    author: commit.map(|commit| commit.author_name.clone()).unwrap_or_default(),
                    identity: format!("commit of job {}", job.id),
                    text: commit.map(|commit| commit.message.clone()).unwrap_or_default(),
                }
            }
            Line::Project(row) => {
                let project = queries::projects(view).get(row)?;
                Preview {
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

    /// Returns the width of the text in columns; 0 if the screen is too narrow.
    fn preview_width(&self, view: &View) -> usize {
        let width = self.preview_area(Rect::new(0, 0, view.size.0, view.size.1)).map_or(0, |place| place.width);
        usize::from(width).saturating_sub(3).min(rendered_markdown::MAX_PROSE_WIDTH)
    }

    /// Returns the work that renders the text of the selected line, unless it is done.
    pub(super) fn preview_want(&self, view: &View) -> Option<Want> {
        let width = self.preview_width(view);
        let preview = self.preview(view).filter(|preview| width > 0 && !preview.text.trim().is_empty())?;
        if rendered_markdown::is_complete(view, &preview.identity, width) {
            return None;
        }
        let text = crate::ui::text::head_bytes(&preview.text, MAX_RENDERED_BYTES);
        rendered_markdown::work(view, &preview.identity, text, width).map(Want::from)
    }

    /// Scrolls to the top if the previewed text changed.
    pub(super) fn preview_changed(&mut self, view: &View) {
        let identity = self.preview(view).map(|preview| preview.identity);
        if self.previewed != identity {
            self.previewed = identity;
            self.window.first();
            self.window.set_top(0);
        }
    }

    /// Returns the number of lines of the rendered preview.
    pub(super) fn preview_len(&self, view: &View) -> usize {
        let identity = self.previewed.as_ref();
        let rendered =
            identity.and_then(|identity| rendered_markdown::rendered(view, identity, self.preview_width(view)));
        rendered.map_or(0, |rendered| rendered.lines.len())
    }

    pub(super) fn draw_preview(&self, view: &View, area: Rect, buf: &mut Buffer) {
        self.drawn_preview.set(area);
        let Some(preview) = self.preview(view) else { return };
        let body = panels::title(buf, area, view.theme, false, &preview.title, &preview.author);
        let body = Rect { x: body.x + 1, width: body.width.saturating_sub(1), ..body };
        if preview.text.trim().is_empty() {
            return view.draw_empty(buf, body, "No description.", "‹home.open› opens it");
        }
        let Some(rendered) = rendered_markdown::rendered(view, &preview.identity, self.preview_width(view)) else {
            return state::skeleton(buf, body, view.theme);
        };
        doc::draw(buf, body, view.theme, false, &self.window, rendered.lines.len(), 0, &|index| {
            rendered.lines.get(index).map(DocLine::borrowed).unwrap_or_default()
        });
    }
}
