//! Data of further requests that is shown among other data: where it is missing, the reason is shown in its place.

use crate::api::Error;
use crate::app::view::View;
use crate::parts::list::draw_error_of;
use crate::ui::glyph;
use crate::ui::line::Line;
use crate::ui::theme::Role;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// A part of a place that is read by a request of its own.
#[derive(Clone, Copy)]
pub struct SecondaryRead<'a> {
    /// The data, in the plural: `Threads`.
    pub name: &'static str,
    /// The error of the last attempt.
    pub error: Option<&'a Error>,
    /// Whether the server has more than was read.
    pub is_cut: bool,
}

/// Returns the cell of data that is not known: why it is missing, or nothing while it is loading.
pub fn cell(error: Option<&Error>) -> Line<'static> {
    error.and_then(Error::word).map_or_else(Line::empty, |word| (word, Role::Failed).into())
}

/// Draws in the bottom line which of `reads` failed or is incomplete, with the content above it; returns the area that is
/// left.
pub fn draw_line(view: &View, area: Rect, buf: &mut Buffer, reads: &[SecondaryRead<'_>]) -> Rect {
    let failed = reads.iter().find_map(|read| Some((read.name, read.error.filter(|error| error.word().is_some())?)));
    if let Some((name, error)) = failed {
        return draw_error_of(view, area, buf, &format!("{name}: "), error);
    }
    let Some(cut) = reads.iter().find(|read| read.is_cut).filter(|_| area.height > 2) else { return area };
    let at = Rect { y: area.bottom() - 1, height: 1, ..area };
    let words =
        format!(" {} {}: only the first ones are shown, because there are too many", glyph::ellipsis(), cut.name);
    Line::new(words, Role::Warning).draw(buf, at, view.theme);
    Rect { height: area.height - 1, ..area }
}
