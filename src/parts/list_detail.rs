//! Detail panels beside a list: [`FactsDetail`] shows facts of the selected row, [`TextDetail`] a text of it.

use super::facts::Details;
use super::facts_markdown::FactsMarkdown;
use super::list_source::{Detail, DetailContext, ListSource};
use super::rendered_markdown::MAX_PROSE_WIDTH;
use crate::app::context::Cx;
use crate::app::motion::Motion;
use crate::app::pointer::Pointer;
use crate::app::view::View;
use crate::store::{Load, Want, Work};
use crate::ui::doc::{self, DocLine, DocState};
use crate::ui::markdown::Rendered;
use crate::ui::{panels, state};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::time::Duration;

/// The delay before the details of the selected row are requested.
pub const FETCH_DELAY: Duration = Duration::from_millis(150);

/// A list with facts beside it.
pub trait FactsSource: ListSource {
    /// Returns the request for the details of a row.
    fn load(&self, _row: &Self::Row) -> Option<Load> {
        None
    }
    /// Returns the Markdown text of a row, which [`FactsSource::facts`] writes in `facts`.
    fn markdown<'a>(&self, _row: &'a Self::Row) -> Option<FactsMarkdown<'a>> {
        None
    }
    /// Returns the title above the facts.
    fn facts_title(&self, row: &Self::Row) -> String;
    /// Writes the facts of a row.
    fn facts(&self, facts: &mut Details, view: &View, row: &Self::Row);
}

/// Facts of the selected row, as lines with a cursor.
pub struct FactsDetail {
    facts: Details,
}

impl<S: FactsSource> Detail<S> for FactsDetail {
    const PANELS: usize = 2;

    fn new() -> FactsDetail {
        FactsDetail { facts: Details::default() }
    }

    fn wants(&self, context: &DetailContext<'_, S>, view: &View) -> Vec<Want> {
        let load = context.row.and_then(|row| context.source.load(row));
        let text = context.row.and_then(|row| context.source.markdown(row));
        let work = text.and_then(|text| text.work(view, self.facts.width()));
        let load = load.map(|load| load.after(FETCH_DELAY).into());
        load.into_iter().chain(work.map(Want::from)).collect()
    }

    fn changed(&mut self, context: &DetailContext<'_, S>, cx: &mut Cx) {
        self.facts.clear();
        if let Some(row) = context.row {
            context.source.facts(&mut self.facts, &cx.view, row);
        }
    }

    fn motion(&mut self, _: &DetailContext<'_, S>, motion: Motion, _view: &View) -> bool {
        let leaves = motion == Motion::Left;
        if !leaves {
            self.facts.motion(motion);
        }
        leaves
    }

    fn pointer(&mut self, _: &DetailContext<'_, S>, pointer: Pointer, cx: &mut Cx) {
        self.facts.pointer(pointer, cx);
    }

    fn enter(&mut self, _: &DetailContext<'_, S>, cx: &mut Cx) -> bool {
        self.facts.enter(cx)
    }

    fn draw(&self, context: &DetailContext<'_, S>, view: &View, area: Rect, buf: &mut Buffer) {
        let Some(row) = context.row else { return };
        let body = panels::title(buf, area, view.theme, context.focused, &context.source.facts_title(row), "");
        self.facts.draw(view, body, buf, context.focused);
    }
}

/// A list with a text beside it.
pub trait TextSource: ListSource<Detail = TextDetail> {
    /// Returns the title above the text, and a note to the right of it.
    fn text_title(&self, view: &View, row: &Self::Row) -> (String, String);
    /// Returns the key of the text in `width` columns; `None` if the row has no text.
    fn text_key(&self, view: &View, row: &Self::Row, width: usize) -> Option<String>;
    /// Returns the computation of the text with that key.
    fn text_work(&self, view: &View, row: &Self::Row, width: usize, key: String) -> Work;
    /// Returns the placeholder if there is no text: the reason and the keys to press.
    fn without_text(&self, row: &Self::Row) -> (String, &'static str);
}

/// A scrollable text of the selected row.
pub struct TextDetail {
    window: DocState,
    /// The key of the text; `None` if the row has none.
    key: Option<String>,
}

/// Returns the width of the text itself: without margins, and limited for readability.
fn measure(width: usize) -> usize {
    width.saturating_sub(3).min(MAX_PROSE_WIDTH)
}

impl TextDetail {
    fn lines<'a>(&self, view: &View<'a>) -> Option<&'a [DocLine<'static>]> {
        let rendered: &Rendered = view.store.result(self.key.as_ref()?)?;
        Some(&rendered.lines)
    }
}

impl<S: TextSource> Detail<S> for TextDetail {
    const PANELS: usize = 2;

    fn new() -> TextDetail {
        TextDetail { window: DocState { cursor_line: false, ..DocState::new() }, key: None }
    }

    fn wants(&self, context: &DetailContext<'_, S>, view: &View) -> Vec<Want> {
        let Some((row, key)) = context.row.zip(self.key.clone().filter(|key| view.store.is_result_missing(key))) else {
            return Vec::new();
        };
        vec![context.source.text_work(view, row, measure(context.width), key).into()]
    }

    fn changed(&mut self, context: &DetailContext<'_, S>, cx: &mut Cx) {
        if context.row_changed {
            self.window.first();
            self.window.set_top(0);
        }
        let row = context.row.filter(|_| context.width > 0);
        self.key = row.and_then(|row| context.source.text_key(&cx.view, row, measure(context.width)));
    }

    fn motion(&mut self, _: &DetailContext<'_, S>, motion: Motion, view: &View) -> bool {
        let len = self.lines(view).map_or(0, <[_]>::len);
        motion.window(&mut self.window, len);
        motion == Motion::Left
    }

    fn pointer(&mut self, context: &DetailContext<'_, S>, pointer: Pointer, cx: &mut Cx) {
        if let Pointer::Wheel { rows, .. } = pointer {
            self.motion(context, Motion::Wheel(rows), &cx.view);
        }
    }

    fn enter(&mut self, _: &DetailContext<'_, S>, _cx: &mut Cx) -> bool {
        false
    }

    fn draw(&self, context: &DetailContext<'_, S>, view: &View, area: Rect, buf: &mut Buffer) {
        let Some(row) = context.row else { return };
        let (title, note) = context.source.text_title(view, row);
        let body = panels::title(buf, area, view.theme, context.focused, &title, &note);
        let body = Rect { x: body.x + 1, width: body.width.saturating_sub(1), ..body };
        if self.key.is_none() {
            let (why, advice) = context.source.without_text(row);
            return view.draw_empty(buf, body, &why, advice);
        }
        let Some(lines) = self.lines(view) else { return state::skeleton(buf, body, view.theme) };
        doc::draw(buf, body, view.theme, context.focused, &self.window, lines.len(), 0, &|index| {
            lines.get(index).map(DocLine::borrowed).unwrap_or_default()
        });
    }
}
