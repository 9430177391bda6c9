//! The description of what is selected, beside a list: rendered Markdown that scrolls.

use super::rendered_markdown;
use super::review;
use crate::api::Time;
use crate::api::issues::Issue;
use crate::api::merge_requests::MergeRequest;
use crate::app::motion::Motion;
use crate::app::view::View;
use crate::store::Want;
use crate::ui::doc::{self, DocLine, DocState};
use crate::ui::drawn::Drawn;
use crate::ui::{panels, state, text};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// The maximum size in bytes of a text that is rendered.
const MAX_RENDERED_BYTES: usize = 64 * 1024;

/// A text with its title.
#[derive(Default)]
pub struct Description {
    pub title: String,
    /// The username or name of the text's author.
    pub author: String,
    /// A key that changes with the text.
    pub identity: String,
    /// The text, as Markdown.
    pub text: String,
}

impl Description {
    /// Returns the description of a merge request; `server` names another server than the current one.
    pub fn of_merge_request(request: &MergeRequest, server: &str) -> Description {
        let changed = request.updated_at.as_ref().map_or("", Time::as_str);
        Description {
            title: format!("!{} {}", request.iid, review::title(request)),
            author: request.author().map(|user| user.username.clone()).unwrap_or_default(),
            identity: format!("description of merge request {} at {changed} {server}", request.id),
            text: request.description.clone().unwrap_or_default(),
        }
    }

    /// Returns the description of an issue.
    pub fn of_issue(issue: &Issue) -> Description {
        let changed = issue.updated_at.as_ref().map_or("", Time::as_str);
        Description {
            title: format!("#{} {}", issue.iid, issue.title),
            author: issue.author.as_ref().map(|user| user.username.clone()).unwrap_or_default(),
            identity: format!("description of issue {} at {changed}", issue.id),
            text: issue.description.clone().unwrap_or_default(),
        }
    }
}

/// The panel with a description: its scroll state, and where it was drawn.
pub struct DescriptionPanel {
    /// The identity of the shown text.
    shown: Option<String>,
    window: DocState,
    area: Drawn<Rect>,
}

impl Default for DescriptionPanel {
    fn default() -> DescriptionPanel {
        let window = DocState { cursor_line: false, ..DocState::new() };
        DescriptionPanel { shown: None, window, area: Drawn::default() }
    }
}

/// Returns the width of the text in a panel, in columns; 0 if there is no panel.
fn measure(width: u16) -> usize {
    usize::from(width).saturating_sub(3).min(rendered_markdown::MAX_PROSE_WIDTH)
}

impl DescriptionPanel {
    /// Records that the panel is not drawn.
    pub fn hide(&self) {
        self.area.set(Rect::default());
    }

    /// Returns the area in which the panel was drawn last.
    pub fn area(&self) -> Rect {
        self.area.get()
    }

    /// Returns the work that renders a description for a panel of `width` columns, unless it is done.
    pub fn want(view: &View, description: Option<&Description>, width: u16) -> Option<Want> {
        let width = measure(width);
        let of = description.filter(|of| width > 0 && !of.text.trim().is_empty())?;
        if rendered_markdown::is_complete(view, &of.identity, width) {
            return None;
        }
        let text = text::head_bytes(&of.text, MAX_RENDERED_BYTES);
        rendered_markdown::work(view, &of.identity, text, width).map(Want::from)
    }

    /// Scrolls to the top if the description changed.
    pub fn changed(&mut self, description: Option<&Description>) {
        let identity = description.map(|of| &of.identity);
        if self.shown.as_ref() != identity {
            self.shown = identity.cloned();
            self.window.first();
            self.window.set_top(0);
        }
    }

    /// Scrolls the text.
    pub fn scroll(&mut self, rows: i16, view: &View) {
        let width = measure(self.area.get().width);
        let rendered = self.shown.as_ref().and_then(|of| rendered_markdown::rendered(view, of, width));
        Motion::Wheel(rows).window(&mut self.window, rendered.map_or(0, |rendered| rendered.lines.len()));
    }

    /// Draws a description; `advice` says what to do if it is empty.
    pub fn draw(&self, view: &View, area: Rect, buf: &mut Buffer, of: Option<&Description>, advice: &str) {
        self.area.set(area);
        let Some(of) = of else { return };
        let body = panels::title(buf, area, view.theme, false, &of.title, &of.author);
        let body = Rect { x: body.x + 1, width: body.width.saturating_sub(1), ..body };
        if of.text.trim().is_empty() {
            return view.draw_empty(buf, body, "No description.", advice);
        }
        let Some(rendered) = rendered_markdown::rendered(view, &of.identity, measure(area.width)) else {
            return state::skeleton(buf, body, view.theme);
        };
        doc::draw(buf, body, view.theme, false, &self.window, rendered.lines.len(), 0, &|index| {
            rendered.lines.get(index).map(DocLine::borrowed).unwrap_or_default()
        });
    }
}
