//! Facts as lines, each with a name and a link target: the panel beside most lists, and a part of places of one object.

pub mod description;
pub mod fact_lines;
pub mod facts_markdown;
pub mod profile;
pub mod sidebar;

use crate::api::Error;
use crate::app::action::Action;
use crate::app::clip::Clip;
use crate::app::context::Cx;
use crate::app::motion::Motion;
use crate::app::pane::Pane;
use crate::app::place::Place;
use crate::app::pointer::Pointer;
use crate::app::transfer::NewTransfer;
use crate::app::view::View;
use crate::parts::list;
use crate::store::{Load, Want};
use crate::ui::doc::{self, DocLine, DocState};
use crate::ui::drawn::Drawn;
use crate::ui::line::Line;
use crate::ui::theme::Role;
use crate::ui::{panels, state, text};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::time::Duration;

/// The smallest width of the column of names, in columns; it grows with the longest name.
const NAME_WIDTH: usize = 13;
/// The delay before the details of the selected row of a list are requested.
pub const FETCH_DELAY: Duration = Duration::from_millis(150);

/// The target of a line.
#[derive(Clone, Debug, PartialEq)]
pub enum LinkTarget {
    /// A place in labscope.
    Place(Place),
    /// An external web page.
    Page(String),
    /// A file to save, after asking for the path.
    File(NewTransfer),
    /// A text to copy, with its name.
    Copy(Clip),
}

impl LinkTarget {
    /// Returns the target for a URL from the server. Only HTTP and HTTPS URLs may be opened in the browser.
    pub fn page(url: &str) -> Option<LinkTarget> {
        (url.starts_with("https://") || url.starts_with("http://")).then(|| LinkTarget::Page(url.to_owned()))
    }

    /// Returns the action that opens the place or the web page, or copies the text.
    pub fn action(self) -> Action {
        match self {
            LinkTarget::Place(place) => Action::GoToPlace(place),
            LinkTarget::Page(url) => Action::Browse(url),
            LinkTarget::File(transfer) => Action::AskTransferPath(transfer),
            LinkTarget::Copy(clip) => Action::Copy(clip),
        }
    }
}

/// A line and its target.
#[derive(Clone, Debug, Default, PartialEq)]
struct DetailLine {
    /// The name of a field; empty if the line continues the one above. `None` for a line without a column of names.
    name: Option<String>,
    line: Line<'static>,
    /// A line of rendered text, in place of `line`.
    rendered: Option<DocLine<'static>>,
    link: Option<LinkTarget>,
}

/// Lines with a cursor. Those that are too long are wrapped.
pub struct Details {
    lines: Vec<DetailLine>,
    scroll: DocState,
    area: Drawn<Rect>,
    /// The width of the longest name, in columns.
    longest: usize,
    /// The title above the lines, and a note to the right of it, if there is any.
    title: Option<(String, String)>,
    /// The words in place of the lines.
    instead: Option<Instead>,
    /// The requests and computations of the lines.
    wants: Vec<Want>,
    focused: bool,
    has_secret: bool,
}

/// The words in place of facts.
pub enum Instead {
    /// They are being loaded.
    Loading,
    /// They could not be loaded.
    Failed(Error),
    /// There are none: the reason and what to do about it.
    Empty(String, &'static str),
}

impl Default for Details {
    fn default() -> Details {
        let scroll = DocState { wrap: true, ..DocState::default() };
        let (area, wants) = (Drawn::default(), Vec::new());
        Details {
            lines: Vec::new(),
            scroll,
            area,
            longest: 0,
            title: None,
            instead: None,
            wants,
            focused: true,
            has_secret: false,
        }
    }
}

impl Details {
    /// Removes all lines; the cursor stays.
    pub fn clear(&mut self) {
        self.lines.clear();
        self.wants.clear();
        (self.longest, self.title, self.instead, self.has_secret) = (0, None, None, false);
    }

    /// Marks the lines as containing a secret, which must disappear in time.
    pub fn mark_secret(&mut self) {
        self.has_secret = true;
    }

    /// Sets the title above the lines, and a note to the right of it.
    pub fn title(&mut self, title: impl Into<String>, note: impl Into<String>) {
        self.title = Some((title.into(), note.into()));
    }

    /// Says something in place of the lines.
    pub fn say_instead(&mut self, instead: Instead) {
        self.instead = Some(instead);
    }

    /// Sets whether the lines have the focus.
    pub fn set_focused(&mut self, focused: bool) {
        self.focused = focused;
    }

    /// Requests what the lines need.
    pub fn want(&mut self, want: impl Into<Want>) {
        self.wants.push(want.into());
    }

    /// Requests the details of the selected row of a list.
    pub fn load(&mut self, load: Load) {
        self.want(load.after(FETCH_DELAY));
    }

    /// Returns whether there are no lines.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Returns the number of lines.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Appends a line without a name.
    pub fn line(&mut self, line: Line<'static>) {
        self.lines.push(DetailLine { line, ..DetailLine::default() });
    }

    /// Appends lines of text, wrapped at `width`, at most `max_lines`.
    pub fn prose(&mut self, words: &str, width: usize, max_lines: usize, role: Role) {
        for line in text::wrap(words, width, max_lines) {
            self.line(Line::new(line, role));
        }
    }

    /// Appends a line of rendered text with a target.
    pub fn rendered(&mut self, line: DocLine<'static>, link: Option<LinkTarget>) {
        self.lines.push(DetailLine { rendered: Some(line), link, ..DetailLine::default() });
    }

    /// Appends a line with a name and a target.
    pub fn field(&mut self, name: &str, value: Line<'static>, link: Option<LinkTarget>) {
        self.longest = self.longest.max(text::width(name));
        self.lines.push(DetailLine { name: Some(text::capitalize(name)), line: value, link, ..DetailLine::default() });
    }

    /// Opens the target of the line under the cursor; returns `false` if it has none.
    pub fn enter(&self, cx: &mut Cx) -> bool {
        self.enter_row(self.scroll.at(self.lines.len()), cx)
    }

    /// Opens the target of a line; returns `false` if it has none.
    pub fn enter_row(&self, row: usize, cx: &mut Cx) -> bool {
        let link = self.lines.get(row).and_then(|line| line.link.clone());
        let is_link = link.is_some();
        link.into_iter().for_each(|link| cx.act(link.action()));
        is_link
    }

    /// Returns the width of the area of the last frame, in columns; 0 before the first one.
    pub fn width(&self) -> usize {
        self.area.get().width.into()
    }

    /// Returns whether the lines were last drawn at that cell.
    pub fn contains(&self, column: u16, row: u16) -> bool {
        self.area.get().contains((column, row).into())
    }

    /// Forgets the clickable area, because the lines are not drawn.
    pub fn hide(&self) {
        self.area.set(Rect::default());
    }

    /// Draws the lines.
    pub fn draw(&self, view: &View, area: Rect, buf: &mut Buffer, focused: bool) {
        self.area.set(area);
        doc::draw(buf, area, view.theme, focused, &self.scroll, self.lines.len(), 1, &|index| self.doc_line(index));
    }

    /// Returns a line as it is drawn.
    pub fn doc_line(&self, index: usize) -> DocLine<'static> {
        let Some(detail) = self.lines.get(index) else { return DocLine::default() };
        if let Some(rendered) = &detail.rendered {
            return rendered.clone();
        }
        let width = NAME_WIDTH.max(self.longest + 1);
        let column = |name: &String| text::pad(name, width);
        let mut text = Line::new(detail.name.as_ref().map(column).unwrap_or_default(), Role::Dim);
        // The name is not part of the link.
        let start = text.len();
        for span in detail.line.clone() {
            // Underlining starts at the text, not at the space before it.
            let rest = span.text.trim_start().to_owned();
            let (gap, _) = span.text.split_at(span.text.len() - rest.len());
            if !gap.is_empty() {
                text.push(gap.to_owned(), Role::Text);
            }
            text.push(rest, span.paint);
        }
        let links = match &detail.link {
            Some(LinkTarget::Page(url)) => vec![(start..text.len(), url.as_str().into())],
            _ => Vec::new(),
        };
        let hang = if detail.name.is_some() { width } else { 0 };
        DocLine { text, links, hang: u16::try_from(hang).ok(), ..DocLine::default() }
    }
}

impl Pane for Details {
    fn wants(&self, _view: &View) -> Vec<Want> {
        self.wants.clone()
    }

    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let body = match &self.title {
            Some((title, note)) => panels::title(buf, area, view.theme, self.focused, title, note),
            None => area,
        };
        match &self.instead {
            None => self.draw(view, body, buf, self.focused),
            Some(Instead::Loading) => state::skeleton(buf, body, view.theme),
            Some(Instead::Failed(error)) => list::draw_error(view, body, buf, error),
            Some(Instead::Empty(why, hint)) => view.draw_empty(buf, body, why, hint),
        }
    }

    fn enter(&mut self, cx: &mut Cx) {
        Details::enter(self, cx);
    }

    fn shows_secret(&self) -> bool {
        self.has_secret
    }

    fn motion(&mut self, motion: Motion, _cx: &mut Cx) {
        let len = self.lines.len();
        motion.scroll(&mut self.scroll, len);
    }

    fn pointer(&mut self, pointer: Pointer, cx: &mut Cx) {
        let len = self.lines.len();
        match pointer {
            Pointer::Wheel { rows, .. } => self.scroll.scroll_by(rows.into(), len),
            Pointer::Press { row, double, .. } => {
                if let Some(line) = row.checked_sub(self.area.get().y).and_then(|y| self.scroll.line_at(y, len)) {
                    self.scroll.goto(line, len);
                    if double {
                        self.enter(cx);
                    }
                }
            }
            Pointer::Drag { .. } | Pointer::Release => {}
        }
    }
}
