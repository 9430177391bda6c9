//! Output of a custom command or a push, shown beside the place.

use super::{AfterEvent, Overlay};
use crate::action::Action;
use crate::context::Cx;
use crate::custom::{Show, Started};
use crate::keymap::Key;
use crate::motion::Motion;
use crate::pointer::Pointer;
use crate::view::View;
use crossterm::event::KeyCode;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::cell::Cell;
use ui::line::Line;
use ui::theme::Role;
use ui::{cursor_hint, glyph, popup, text};

/// The minimum screen width at which half of the screen is left to the place.
const HALF_SCREEN_WIDTH: u16 = 100;

/// The maximum number of rows for the reason of a failure.
const MAX_REASON_ROWS: usize = 4;

/// The output of one command.
pub struct Output {
    number: u64,
    /// The first visible line; `None` to follow the end.
    top: Option<usize>,
    height: Cell<usize>,
    /// The first visible line when the end is visible.
    end: Cell<usize>,
    is_done: bool,
}

impl Output {
    /// Creates an overlay for the command that was started under that number.
    pub fn new(number: u64) -> Output {
        Output { number, top: None, height: Cell::new(1), end: Cell::default(), is_done: false }
    }

    fn run<'a>(&self, view: &View<'a>) -> Option<&'a Started> {
        view.runs.get(&self.number)
    }

    fn scroll(&mut self, by: isize) {
        let end = self.end.get();
        let top = self.top.unwrap_or(end).saturating_add_signed(by);
        self.top = Some(top).filter(|top| *top < end);
    }
}

/// Returns the rows of a line in `area`.
fn rows(words: &str, area: Rect) -> Vec<String> {
    let rows = text::wrap(words, area.width.into(), usize::from(area.height).max(1));
    if rows.is_empty() { vec![String::new()] } else { rows }
}

/// Returns the first visible line when the end is visible.
fn end(run: &Started, area: Rect) -> usize {
    let mut room = usize::from(area.height);
    let does_not_fit = |words: &String| {
        let left = room.checked_sub(rows(words, area).len());
        room = left.unwrap_or_default();
        left.is_none()
    };
    let above = run.lines.iter().rev().position(does_not_fit).map_or(0, |at| run.lines.len() - at);
    above.min(run.lines.len().saturating_sub(1))
}

impl Overlay for Output {
    fn view(&self, view: &View, screen: Rect, buf: &mut Buffer) -> Option<(u16, u16)> {
        let run = self.run(view)?;
        let theme = view.theme;
        let half = if screen.width >= HALF_SCREEN_WIDTH && !glyph::is_accessible() { screen.width / 2 } else { 0 };
        // The first and the last line of the screen stay visible.
        let height = screen.height.saturating_sub(2);
        let beside = Rect { x: screen.x + half, y: screen.y + 1, width: screen.width - half, height };
        let title = text::sanitize(&run.title).into_owned();
        let inner = popup::draw(buf, beside, theme, &title, beside.width, beside.height);
        let (mark, role, words) = match &run.ended {
            None => (glyph::alive(), Role::Running, "running".to_owned()),
            Some(Ok(())) => (glyph::status_glyph("success").0, Role::Success, "done".to_owned()),
            Some(Err(why)) => (glyph::wrong(), Role::Failed, text::sanitize(why).into_owned()),
        };
        // The reason of a failure is shown in full, above the keys.
        let state = text::wrap(format!("{mark} {words}").trim_start(), inner.width.into(), MAX_REASON_ROWS);
        let below = popup::saturating_rows(state.len() + 1).min(inner.height);
        let body = Rect { height: inner.height - below, ..inner };
        self.height.set(usize::from(body.height).max(1));
        self.end.set(end(run, body));
        let top = self.top.unwrap_or(self.end.get());
        cursor_hint::set_selected(body.x, body.y);
        let shown = run.lines.iter().skip(top).flat_map(|words| rows(words, body));
        for (words, y) in shown.zip(body.y..body.bottom()) {
            Line::new(words, Role::Text).draw(buf, Rect { y, height: 1, ..body }, theme);
        }
        for (words, y) in state.into_iter().zip(body.bottom()..inner.bottom()) {
            Line::new(words, role).draw(buf, Rect { y, height: 1, ..inner }, theme);
        }
        let foot = Rect { y: inner.bottom().saturating_sub(1), height: inner.height.min(1), ..inner };
        let (key, dim) = (theme.style(Role::Key), theme.style(Role::Dim));
        let stop = if run.ended.is_none() { " stop" } else { " close" };
        Line::from([("j k", key), (" scroll  ", dim), ("Esc", key), (stop, dim)]).draw(buf, foot, theme);
        None
    }

    fn key(&mut self, key: Key, cx: &mut Cx) -> AfterEvent {
        let page = self.height.get();
        let by = |motion: Motion| motion.rows(page).unwrap_or(0);
        match (key.code, key.ctrl) {
            (KeyCode::Esc | KeyCode::Char('q'), _) | (KeyCode::Char('c'), true) => {
                if self.run(&cx.view).is_some_and(|run| run.ended.is_none()) {
                    cx.act(Action::StopCustomCommand(self.number));
                    return AfterEvent::KeepOpen;
                }
                return AfterEvent::Close;
            }
            (KeyCode::Down | KeyCode::Char('j'), _) => self.scroll(1),
            (KeyCode::Up | KeyCode::Char('k'), _) => self.scroll(-1),
            (KeyCode::PageDown | KeyCode::Char(' '), _) => self.scroll(by(Motion::PageDown)),
            (KeyCode::PageUp, _) => self.scroll(by(Motion::PageUp)),
            (KeyCode::Char('d'), true) => self.scroll(by(Motion::HalfDown)),
            (KeyCode::Char('u'), true) => self.scroll(by(Motion::HalfUp)),
            (KeyCode::Home | KeyCode::Char('g'), _) => self.top = Some(0),
            (KeyCode::End | KeyCode::Char('G'), _) => self.top = None,
            _ => {}
        }
        AfterEvent::KeepOpen
    }

    fn changed(&mut self, cx: &mut Cx) {
        self.is_done = match self.run(&cx.view) {
            Some(run) => run.show == Show::PaneUntilDone && run.ended == Some(Ok(())),
            None => true,
        };
    }

    fn is_done(&self) -> bool {
        self.is_done
    }

    fn pointer(&mut self, pointer: Pointer, _cx: &mut Cx) -> AfterEvent {
        if let Pointer::Wheel { rows, .. } = pointer {
            self.scroll(rows.into());
        }
        AfterEvent::KeepOpen
    }
}
