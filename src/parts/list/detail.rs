//! Panels beside a list that describe the selected row: [`Details`] has facts, and [`TextDetail`] a text.

use crate::app::context::Cx;
use crate::app::motion::Motion;
use crate::app::pane::Pane;
use crate::app::pointer::Pointer;
use crate::app::view::View;
use crate::parts::facts::Details;
use crate::parts::facts::description::Description;
use crate::parts::list::source::{Detail, DetailContext, ListSource};
use crate::parts::text::rendered_markdown::{self, MAX_PROSE_WIDTH};
use crate::store::{Want, Work};
use crate::ui::doc::{self, DocLine, DocState};
use crate::ui::markdown::Rendered;
use crate::ui::{panels, state, text};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// A list whose rows are described in a panel `P` beside it.
pub trait Describes<P>: ListSource {
    /// Describes a row in the empty panel.
    fn describe(&self, panel: &mut P, view: &View, row: &Self::Row);
}

impl<S: Describes<Details>> Detail<S> for Details {
    fn show(&mut self, context: &DetailContext<'_, S>, cx: &mut Cx) {
        self.clear();
        self.set_focused(context.focused);
        if let Some(row) = context.row {
            context.source.describe(self, &cx.view, row);
        }
    }
}

/// The maximum size of a description that is rendered, in bytes.
const MAX_DESCRIPTION_BYTES: usize = 64 * 1024;

/// A scrollable text of the selected row.
pub struct TextDetail {
    window: DocState,
    /// The title, and a note to the right of it; `None` without a row.
    title: Option<(String, String)>,
    /// The width of the text itself, in columns; 0 if the panel is not shown.
    width: usize,
    /// The key of the text; `None` if the row has none.
    key: Option<String>,
    work: Option<Work>,
    /// The placeholder if there is no text: the reason and the keys to press.
    empty: (String, &'static str),
    focused: bool,
}

impl Default for TextDetail {
    fn default() -> TextDetail {
        let window = DocState { cursor_line: false, ..DocState::new() };
        let (title, key, work, empty) = Default::default();
        TextDetail { window, title, width: 0, key, work, empty, focused: false }
    }
}

impl TextDetail {
    /// Begins with an empty panel of `width` columns, at the top if it is about something else than before.
    pub fn begin(&mut self, width: usize, focused: bool, is_about_other: bool) {
        if is_about_other {
            self.window.first();
            self.window.set_top(0);
        }
        (self.title, self.key, self.work) = (None, None, None);
        self.width = width.saturating_sub(3).min(MAX_PROSE_WIDTH);
        self.focused = focused;
    }

    /// Shows a description; `advice` says what to do if it is empty.
    pub fn description(&mut self, view: &View, of: &Description, advice: &'static str) {
        self.title(&*of.title, &*of.author, ("No description.", advice));
        self.markdown(view, &of.identity, Some(text::head_bytes(&of.text, MAX_DESCRIPTION_BYTES)));
    }

    /// Sets the title above the text, a note to the right of it, and the placeholder if the row has no text: the reason
    /// and the keys to press.
    pub fn title(
        &mut self,
        title: impl Into<String>,
        note: impl Into<String>,
        empty: (impl Into<String>, &'static str),
    ) {
        self.title = Some((title.into(), note.into()));
        self.empty = (empty.0.into(), empty.1);
    }

    /// Shows the text that `work` computes, under a key in a width.
    pub fn text(&mut self, view: &View, key: impl FnOnce(usize) -> String, work: impl FnOnce(String, usize) -> Work) {
        let Some(width) = Some(self.width).filter(|width| *width > 0) else { return };
        let key = key(width);
        self.work = view.store.is_result_missing(&key).then(|| work(key.clone(), width));
        self.key = Some(key);
    }

    /// Shows a Markdown text, if there is any.
    pub fn markdown(&mut self, view: &View, identity: &str, words: Option<&str>) {
        let Some(words) = words.filter(|words| !words.trim().is_empty()) else { return };
        let render = |key, width| rendered_markdown::render(view, key, words.to_owned(), width);
        self.text(view, |width| rendered_markdown::key(view, identity, width), render);
    }

    fn lines<'a>(&self, view: &View<'a>) -> Option<&'a [DocLine<'static>]> {
        let rendered: &Rendered = view.store.result(self.key.as_ref()?)?;
        Some(&rendered.lines)
    }
}

impl Pane for TextDetail {
    fn wants(&self, _: &View) -> Vec<Want> {
        self.work.iter().cloned().map(Want::from).collect()
    }

    fn motion(&mut self, motion: Motion, cx: &mut Cx) {
        let len = self.lines(&cx.view).map_or(0, <[_]>::len);
        motion.window(&mut self.window, len);
    }

    fn pointer(&mut self, pointer: Pointer, cx: &mut Cx) {
        if let Pointer::Wheel { rows, .. } = pointer {
            self.motion(Motion::Wheel(rows), cx);
        }
    }

    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let Some((title, note)) = &self.title else { return };
        let body = panels::title(buf, area, view.theme, self.focused, title, note);
        let body = Rect { x: body.x + 1, width: body.width.saturating_sub(1), ..body };
        if self.key.is_none() {
            return view.draw_empty(buf, body, &self.empty.0, self.empty.1);
        }
        let Some(lines) = self.lines(view) else { return state::skeleton(buf, body, view.theme) };
        doc::draw(buf, body, view.theme, self.focused, &self.window, lines.len(), 0, &|index| {
            lines.get(index).map(DocLine::borrowed).unwrap_or_default()
        });
    }
}

impl<S: Describes<TextDetail>> Detail<S> for TextDetail {
    fn show(&mut self, context: &DetailContext<'_, S>, cx: &mut Cx) {
        self.begin(context.width, context.focused, context.row_changed);
        if let Some(row) = context.row {
            context.source.describe(self, &cx.view, row);
        }
    }
}
