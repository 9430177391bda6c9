//! Several writes, one after the other: what became of each is seen, and what failed can be tried again.

use super::{Overlay, Stay};
use crate::api::Error;
use crate::app::action::Action;
use crate::app::command::Motion;
use crate::app::keymap::Key;
use crate::app::pane::{Cx, Pointer, View};
use crate::store::{Value, Write};
use crate::ui::table::{self, Column, ListState, Row, Size};
use crate::ui::theme::Role;
use crate::ui::{glyph, line, popup};
use crossterm::event::KeyCode;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// What became of a write.
enum Fate {
    Waiting,
    /// Its number, once it has one.
    Sending(Option<u64>),
    Done,
    Failed(Error),
}

/// Writes on their way.
pub struct Batch {
    title: String,
    writes: Vec<(Write, Fate)>,
    list: ListState,
}

impl Batch {
    /// Sends `writes` one after the other; each says for itself what it does.
    pub fn new(title: impl Into<String>, writes: Vec<Write>) -> Batch {
        let writes = writes.into_iter().map(|write| (write, Fate::Waiting)).collect();
        Batch { title: title.into(), writes, list: ListState::new() }
    }

    fn is_busy(&self) -> bool {
        self.writes.iter().any(|(_, fate)| matches!(fate, Fate::Sending(_)))
    }

    fn count(&self, of: fn(&Fate) -> bool) -> usize {
        self.writes.iter().filter(|(_, fate)| of(fate)).count()
    }
}

impl Overlay for Batch {
    fn view(&self, view: &View, screen: Rect, buf: &mut Buffer) -> Option<(u16, u16)> {
        let theme = view.theme;
        let height = popup::rows(self.writes.len() + 3).min(screen.height.saturating_sub(4)).max(5);
        let inner = popup::draw(buf, screen, theme, &self.title, (screen.width * 3 / 5).clamp(50, 90), height);
        if inner.height < 3 {
            return None;
        }
        let body = Rect { height: inner.height - 2, ..inner };
        let columns = [
            Column::new("", Size::Fixed(1)),
            Column::new("", Size::Fit { min: 10, max: 40 }),
            Column::new("", Size::Fill { min: 8, weight: 1 }),
        ];
        table::draw(buf, body, theme, true, &self.list, &columns, self.writes.len(), |index| {
            let Some((write, fate)) = self.writes.get(index) else { return Row::default() };
            let (mark, role, words) = match fate {
                Fate::Waiting => (glyph::open(), Role::Dim, String::new()),
                Fate::Sending(_) => (glyph::alive(), Role::Running, "sending…".to_owned()),
                Fate::Done => (glyph::done(), Role::Success, "done".to_owned()),
                Fate::Failed(error) => (glyph::wrong(), Role::Failed, error.said()),
            };
            Row::new(vec![(mark, role).into(), (write.what.clone(), Role::Text).into(), (words, role).into()])
        });
        let failed = self.count(|fate| matches!(fate, Fate::Failed(_)));
        let done = self.count(|fate| matches!(fate, Fate::Done));
        let (key, dim) = (theme.style(Role::Key), theme.style(Role::Dim));
        let mut left = vec![(format!("{done} of {} done", self.writes.len()), dim)];
        if failed > 0 && !self.is_busy() {
            left.push((format!(", {failed} failed  "), theme.style(Role::Failed)));
            left.push(("r".into(), key));
            left.push((" tries them again".into(), dim));
        }
        let close = if self.is_busy() { " stop" } else { " close" };
        let foot = Rect { y: inner.bottom() - 1, height: 1, ..inner };
        line::pair(buf, foot, &left, &[("Esc", key), (close, dim)]);
        None
    }

    fn key(&mut self, key: Key, _cx: &mut Cx) -> Stay {
        let len = self.writes.len();
        match (key.code, key.ctrl) {
            (KeyCode::Esc | KeyCode::Char('q'), _) | (KeyCode::Char('c'), true) => return Stay::Close,
            (KeyCode::Enter, _) if !self.is_busy() => return Stay::Close,
            (KeyCode::Char('r'), false) if !self.is_busy() => {
                for (_, fate) in self.writes.iter_mut().filter(|(_, fate)| matches!(fate, Fate::Failed(_))) {
                    *fate = Fate::Waiting;
                }
            }
            (KeyCode::Char('j') | KeyCode::Down, _) => Motion::Down.apply(&mut self.list, len),
            (KeyCode::Char('k') | KeyCode::Up, _) => Motion::Up.apply(&mut self.list, len),
            _ => {}
        }
        Stay::Open
    }

    fn pointer(&mut self, pointer: Pointer, _cx: &mut Cx) -> Stay {
        if let Pointer::Wheel { rows, .. } = pointer {
            self.list.scroll_by(rows.into(), self.writes.len());
        }
        Stay::Open
    }

    fn changed(&mut self, cx: &mut Cx) {
        if self.is_busy() {
            return;
        }
        if let Some((write, fate)) = self.writes.iter_mut().find(|(_, fate)| matches!(fate, Fate::Waiting)) {
            *fate = Fate::Sending(None);
            cx.act(Action::Send(write.clone()));
        }
    }

    fn sending(&mut self, number: u64) {
        for (_, fate) in &mut self.writes {
            if matches!(fate, Fate::Sending(None)) {
                *fate = Fate::Sending(Some(number));
            }
        }
    }

    fn sent(&mut self, number: u64, outcome: &Result<Value, Error>, _cx: &mut Cx) -> Option<Stay> {
        let (_, fate) =
            self.writes.iter_mut().find(|(_, fate)| matches!(fate, Fate::Sending(Some(n)) if *n == number))?;
        *fate = match outcome {
            Ok(_) => Fate::Done,
            Err(error) => Fate::Failed(error.clone()),
        };
        Some(Stay::Open)
    }
}
