//! What stands beside a list: [`FactsDetail`] shows facts of the selected row, [`TextDetail`] a text of it.

use super::facts::{Details, NAMES_WIDE};
use super::list_pane::{Detail, ListPane, ListSource};
use super::rendered_markdown::MEASURE;
use crate::app::command::Motion;
use crate::app::pane::{Cx, Pointer, View};
use crate::store::{Load, Want, Work};
use crate::ui::doc::{self, DocLine, DocState};
use crate::ui::markdown::Rendered;
use crate::ui::{panels, state};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::time::Duration;

/// How long the selection rests on a row before more is asked for about it.
const PAUSE: Duration = Duration::from_millis(150);

/// A list with facts beside it.
pub trait FactsSource: ListSource<Detail = FactsDetail> {
    /// What is fetched to know all about a row.
    fn load(&self, _row: &Self::Row) -> Option<Load> {
        None
    }
    /// The title above the facts.
    fn facts_title(&self, row: &Self::Row) -> String;
    /// Writes what is known of a row.
    fn facts(&self, facts: &mut Details, view: &View, row: &Self::Row);
}

/// Facts of the selected row, in lines with a cursor.
pub struct FactsDetail {
    facts: Details,
}

impl<S: FactsSource> Detail<S> for FactsDetail {
    const PANELS: usize = 2;

    fn new() -> FactsDetail {
        FactsDetail { facts: Details::default().names(NAMES_WIDE) }
    }

    fn wants(&self, pane: &ListPane<S>, row: &S::Row, _view: &View, _width: usize) -> Vec<Want> {
        pane.source.load(row).map(|load| load.after(PAUSE).into()).into_iter().collect()
    }

    fn changed(&mut self, source: &S, row: Option<&S::Row>, cx: &mut Cx, _width: usize) {
        self.facts.clear();
        if let Some(row) = row {
            source.facts(&mut self.facts, &cx.view, row);
        }
    }

    fn motion(&mut self, _: &S, _: Option<&S::Row>, motion: Motion, _view: &View, _width: usize) -> bool {
        let leaves = motion == Motion::Left;
        if !leaves {
            self.facts.motion(motion);
        }
        leaves
    }

    fn pointer(&mut self, _: &S, _: Option<&S::Row>, pointer: Pointer, cx: &mut Cx, _width: usize) {
        self.facts.pointer(pointer, cx);
    }

    fn enter(&self, cx: &mut Cx) -> bool {
        self.facts.enter(cx)
    }

    fn draw(&self, source: &S, row: &S::Row, view: &View, area: Rect, buf: &mut Buffer, focused: bool) {
        let body = panels::title(buf, area, view.theme, focused, &source.facts_title(row), "");
        self.facts.draw(view, body, buf, focused);
    }
}

/// A list with a text beside it.
pub trait TextSource: ListSource<Detail = TextDetail> {
    /// The title above the text, and a note at its right.
    fn text_title(&self, view: &View, row: &Self::Row) -> (String, String);
    /// The key of the text in `width` columns; `None` where a row has no text.
    fn text_key(&self, view: &View, row: &Self::Row, width: usize) -> Option<String>;
    /// Makes the text with that key.
    fn text_work(&self, view: &View, row: &Self::Row, width: usize, key: String) -> Work;
    /// What stands where there is no text: why, and what to press.
    fn without_text(&self, row: &Self::Row) -> (String, &'static str);
}

/// A text of the selected row, in a window that scrolls.
pub struct TextDetail {
    window: DocState,
    /// The row that it was scrolled for.
    row: String,
}

/// Columns of the text itself: without its margins, and no more than can be read well.
fn measure(width: usize) -> usize {
    width.saturating_sub(3).min(MEASURE)
}

fn lines<'a, S: TextSource>(source: &S, row: &S::Row, view: &View<'a>, width: usize) -> Option<&'a [DocLine<'static>]> {
    let made: &Rendered = view.store.made(&source.text_key(view, row, measure(width))?)?;
    Some(&made.lines)
}

impl<S: TextSource> Detail<S> for TextDetail {
    const PANELS: usize = 2;

    fn new() -> TextDetail {
        TextDetail { window: DocState { cursor_line: false, ..DocState::new() }, row: String::new() }
    }

    fn wants(&self, pane: &ListPane<S>, row: &S::Row, view: &View, width: usize) -> Vec<Want> {
        let width = measure(width);
        let key = pane.source.text_key(view, row, width).filter(|key| view.store.lacks(key));
        key.map(|key| pane.source.text_work(view, row, width, key).into()).into_iter().collect()
    }

    fn changed(&mut self, _: &S, row: Option<&S::Row>, _cx: &mut Cx, _width: usize) {
        let row = row.map(S::key).unwrap_or_default();
        if row != self.row {
            self.row = row;
            self.window.first();
            self.window.top.set(0);
        }
    }

    fn motion(&mut self, source: &S, row: Option<&S::Row>, motion: Motion, view: &View, width: usize) -> bool {
        let len = row.and_then(|row| lines(source, row, view, width)).map_or(0, <[_]>::len);
        motion.window(&mut self.window, len);
        motion == Motion::Left
    }

    fn pointer(&mut self, source: &S, row: Option<&S::Row>, pointer: Pointer, cx: &mut Cx, width: usize) {
        if let Pointer::Wheel { rows, .. } = pointer {
            self.motion(source, row, Motion::Wheel(rows), &cx.view, width);
        }
    }

    fn enter(&self, _cx: &mut Cx) -> bool {
        false
    }

    fn draw(&self, source: &S, row: &S::Row, view: &View, area: Rect, buf: &mut Buffer, focused: bool) {
        let width = usize::from(area.width);
        let (title, note) = source.text_title(view, row);
        let body = panels::title(buf, area, view.theme, focused, &title, &note);
        let body = Rect { x: body.x + 1, width: body.width.saturating_sub(1), ..body };
        let nothing = || source.without_text(row);
        if source.text_key(view, row, measure(width)).is_none() {
            let (why, advice) = nothing();
            return state::empty(buf, body, view.theme, &why, advice);
        }
        let Some(lines) = lines(source, row, view, width) else { return state::skeleton(buf, body, view.theme) };
        doc::draw(buf, body, view.theme, focused, &self.window, lines.len(), 0, |index| {
            lines.get(index).map(DocLine::borrowed).unwrap_or_default()
        });
    }
}
