//! The links of a rendered file.

use super::{BlobView, Mode};
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::view::View;
use crate::parts::text::links::{self, Link, TextOrigin};
use crate::ui::doc::DocLine;

/// The columns to the left of rendered text: the cursor, and an empty one.
const MARGIN: usize = 2;

impl BlobView {
    fn rendered_line<'a>(&self, line: usize, view: &View<'a>) -> Option<&'a DocLine<'static>> {
        self.rendered(view).filter(|_| self.mode(view) == Some(Mode::Rendered))?.lines.get(line)
    }

    /// Returns whether the file is rendered, so that its lines can have links.
    pub fn is_rendered(&self, view: &View) -> bool {
        self.mode(view) == Some(Mode::Rendered)
    }

    /// Returns the links of the line under the cursor.
    pub fn links_here(&self, view: &View) -> Vec<Link> {
        self.rendered_line(self.doc.at(self.len(view)), view).map(links::of_line).unwrap_or_default()
    }

    /// Returns an error unless the line under the cursor has a link.
    pub fn need_link(&self, view: &View) -> Result<(), Disabled> {
        if self.links_here(view).is_empty() { Err("there is no link on this line".into()) } else { Ok(()) }
    }

    /// Returns the link at a cell of the screen.
    pub fn link_at(&self, column: u16, row: u16, view: &View) -> Option<Link> {
        let area = self.area.get();
        let line = self.doc.line_at(row.checked_sub(area.y)?, self.len(view))?;
        let column = usize::from(column.checked_sub(area.x)?).checked_sub(MARGIN)?;
        links::at_column(self.rendered_line(line, view).filter(|_| !self.doc.wraps())?, column + self.doc.left)
    }

    /// Opens the address of a link of this file.
    pub fn follow(&mut self, origin: &TextOrigin, address: &str, cx: &mut Cx) {
        let rendered = self.rendered(&cx.view).cloned();
        if let Some(line) = links::follow(origin, rendered.as_deref(), address, cx) {
            self.go_to_top(line, &cx.view);
        }
    }
}
