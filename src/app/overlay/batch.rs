//! A batch of writes, sent one after the other: the result of each is shown, and failed ones can be retried. An object
//! that somebody else may have changed in the meantime is checked before it is changed.

use super::{AfterKey, Overlay};
use crate::api::Error;
use crate::app::action::Action;
use crate::app::command::Motion;
use crate::app::keymap::Key;
use crate::app::pane::{Cx, Pointer, View};
use crate::store::{Load, Value, Want, Write};
use crate::ui::table::{self, Column, ListState, Row, Size};
use crate::ui::theme::Role;
use crate::ui::{glyph, line, popup, text};
use crossterm::event::KeyCode;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// The write to send, given the current version on the server.
pub enum ChangedInput {
    /// The server has not replied yet.
    Coming,
    /// The write does not conflict with anything.
    Fits(Write),
    /// Somebody else made a conflicting change: its description, and the write that overwrites it.
    Changed(String, Write),
}

/// A function that reads the current version from the store.
type ReadCurrent = Box<dyn Fn(&View) -> ChangedInput>;

/// A check of an object before it is changed.
struct Check {
    load: Load,
    read: ReadCurrent,
}

/// The state of a write.
enum Outcome {
    Waiting,
    /// Checking whether somebody else changed the object in the meantime.
    Looking,
    /// Somebody else changed the object; the text describes the change.
    Changed(String),
    /// In flight, with its number once it has one.
    Sending(Option<u64>),
    Done,
    Failed(Error),
}

impl Outcome {
    /// Returns the problem of the write, in full.
    fn trouble(&self) -> Option<(String, Role)> {
        match self {
            Outcome::Failed(error) => {
                Some((format!("{}: {}. {}", error.title(), error.message(), error.next()), Role::Failed))
            }
            Outcome::Changed(what) => Some((format!("Changed by somebody else: {what}."), Role::Warning)),
            Outcome::Waiting | Outcome::Looking | Outcome::Sending(_) | Outcome::Done => None,
        }
    }
}

/// The number of lines for the problem of the selected write.
const SAID: u16 = 2;

/// The writes of a batch, and their states.
pub struct Batch {
    title: String,
    writes: Vec<Step>,
    list: ListState,
}

/// A write of a batch.
struct Step {
    write: Write,
    fate: Outcome,
    look: Option<Check>,
}

impl Batch {
    /// Creates a batch that sends `writes` one after the other; each has its own description.
    pub fn new(title: impl Into<String>, writes: Vec<Write>) -> Batch {
        let step = |write| Step { write, fate: Outcome::Waiting, look: None };
        Batch { title: title.into(), writes: writes.into_iter().map(step).collect(), list: ListState::new() }
    }

    /// Adds a write for an object that is first fetched again by `load`; `read` returns what to send, given that
    /// version.
    pub fn looking(mut self, write: Write, load: Load, read: impl Fn(&View) -> ChangedInput + 'static) -> Batch {
        let look = Some(Check { load, read: Box::new(read) });
        self.writes.push(Step { write, fate: Outcome::Waiting, look });
        self
    }

    fn is_busy(&self) -> bool {
        self.count(|fate| matches!(fate, Outcome::Sending(_) | Outcome::Looking)) > 0
    }

    fn count(&self, of: fn(&Outcome) -> bool) -> usize {
        self.writes.iter().filter(|step| of(&step.fate)).count()
    }

    /// Sends the write that is being checked once the server has replied, or reports what somebody else changed.
    fn look(&mut self, cx: &mut Cx) {
        let Some(step) = self.writes.iter_mut().find(|step| matches!(step.fate, Outcome::Looking)) else { return };
        let Some(look) = step.look.as_ref().filter(|look| cx.view.store.is_fresh(&look.load.request)) else { return };
        let seen = match cx.view.store.error_of(&look.load.request) {
            // If the object cannot be fetched again, rely on the server's reply to the write.
            Some(_) => ChangedInput::Fits(step.write.clone()),
            None => (look.read)(&cx.view),
        };
        match seen {
            ChangedInput::Coming => {}
            ChangedInput::Fits(write) => {
                step.fate = Outcome::Sending(None);
                cx.act(Action::Send(write));
            }
            ChangedInput::Changed(what, write) => {
                (step.fate, step.write, step.look) = (Outcome::Changed(what), write, None);
            }
        }
    }
}

impl Overlay for Batch {
    fn wants(&self, _view: &View) -> Vec<Want> {
        let looked = self.writes.iter().filter(|step| matches!(step.fate, Outcome::Looking));
        looked.filter_map(|step| step.look.as_ref()).map(|look| look.load.clone().into()).collect()
    }

    fn view(&self, view: &View, screen: Rect, buf: &mut Buffer) -> Option<(u16, u16)> {
        let theme = view.theme;
        let width = (screen.width * 3 / 5).clamp(70, 110);
        let trouble = self.count(|fate| matches!(fate, Outcome::Failed(_) | Outcome::Changed(_))) > 0;
        let said = if trouble { SAID + 1 } else { 0 };
        let height =
            popup::rows(self.writes.len() + 2).saturating_add(said).min(screen.height.saturating_sub(4)).max(4);
        let inner = popup::draw(buf, screen, theme, &self.title, width, height);
        if inner.height < 3 {
            return None;
        }
        let said = said.min(inner.height - 3);
        let body = Rect { height: inner.height - 2 - said, ..inner };
        let columns = [
            Column::new("", Size::Fixed(1)),
            Column::new("", Size::Fit { min: 10, max: 40 }),
            Column::new("", Size::Fill { min: 8, weight: 1 }),
        ];
        table::draw(buf, body, theme, true, &self.list, &columns, self.writes.len(), |index| {
            let Some(Step { write, fate, .. }) = self.writes.get(index) else { return Row::default() };
            let (mark, role, words) = match fate {
                Outcome::Looking => (glyph::alive(), Role::Running, "checking for changes…".to_owned()),
                Outcome::Changed(what) => (glyph::dot(), Role::Warning, what.clone()),
                Outcome::Waiting => (glyph::open(), Role::Dim, String::new()),
                Outcome::Sending(_) => (glyph::alive(), Role::Running, "sending…".to_owned()),
                Outcome::Done => (glyph::status_glyph("success").0, Role::Success, "done".to_owned()),
                Outcome::Failed(error) => (glyph::wrong(), Role::Failed, error.message()),
            };
            Row::new(vec![(mark, role).into(), (write.what.clone(), Role::Text).into(), (words, role).into()])
        });
        // The text that does not fit in a row is shown below the list in full.
        if let Some((words, role)) = self.writes.get(self.list.selected()).and_then(|step| step.fate.trouble()) {
            let lines = text::wrap(&words, inner.width.into(), SAID.into());
            for (words, y) in lines.into_iter().zip(body.bottom() + 1..body.bottom() + said) {
                line::draw(buf, Rect { y, height: 1, ..inner }, &[(words, theme.style(role))]);
            }
        }
        let failed = self.count(|fate| matches!(fate, Outcome::Failed(_)));
        let done = self.count(|fate| matches!(fate, Outcome::Done));
        let (key, dim) = (theme.style(Role::Key), theme.style(Role::Dim));
        let mut left = vec![(format!("{done} of {} done", self.writes.len()), dim)];
        let changed = self.count(|fate| matches!(fate, Outcome::Changed(_)));
        if failed > 0 {
            left.push((format!(", {failed} failed"), theme.style(Role::Failed)));
        }
        if changed > 0 {
            left.push((format!(", {changed} changed by others"), theme.style(Role::Warning)));
        }
        if failed + changed > 0 && !self.is_busy() {
            let words = if changed == 0 { " retry" } else { " overwrite" };
            left.extend([("  r".into(), key), (words.into(), dim)]);
        }
        let close = if self.is_busy() { " stop" } else { " close" };
        let foot = Rect { y: inner.bottom() - 1, height: 1, ..inner };
        line::pair(buf, foot, &left, &[("Esc", key), (close, dim)]);
        None
    }

    fn key(&mut self, key: Key, _cx: &mut Cx) -> AfterKey {
        let len = self.writes.len();
        match (key.code, key.ctrl) {
            (KeyCode::Esc | KeyCode::Char('q'), _) | (KeyCode::Char('c'), true) => return AfterKey::Close,
            (KeyCode::Enter, _) if !self.is_busy() => return AfterKey::Close,
            (KeyCode::Char('r'), false) if !self.is_busy() => {
                for step in &mut self.writes {
                    if matches!(step.fate, Outcome::Failed(_) | Outcome::Changed(_)) {
                        step.fate = Outcome::Waiting;
                    }
                }
            }
            (KeyCode::Char('j') | KeyCode::Down, _) => Motion::Down.apply(&mut self.list, len),
            (KeyCode::Char('k') | KeyCode::Up, _) => Motion::Up.apply(&mut self.list, len),
            _ => {}
        }
        AfterKey::Open
    }

    fn pointer(&mut self, pointer: Pointer, _cx: &mut Cx) -> AfterKey {
        if let Pointer::Wheel { rows, .. } = pointer {
            self.list.scroll_by(rows.into(), self.writes.len());
        }
        AfterKey::Open
    }

    fn changed(&mut self, cx: &mut Cx) {
        self.look(cx);
        if self.is_busy() {
            return;
        }
        let Some(step) = self.writes.iter_mut().find(|step| matches!(step.fate, Outcome::Waiting)) else { return };
        match &step.look {
            Some(look) => {
                step.fate = Outcome::Looking;
                cx.act(Action::Renew(vec![look.load.clone().into()]));
            }
            None => {
                step.fate = Outcome::Sending(None);
                cx.act(Action::Send(step.write.clone()));
            }
        }
    }

    fn sending(&mut self, number: u64) {
        for step in &mut self.writes {
            if matches!(step.fate, Outcome::Sending(None)) {
                step.fate = Outcome::Sending(Some(number));
            }
        }
    }

    fn sent(&mut self, number: u64, outcome: &Result<Value, Error>, _cx: &mut Cx) -> Option<AfterKey> {
        let ours = |step: &&mut Step| matches!(step.fate, Outcome::Sending(Some(n)) if n == number);
        self.writes.iter_mut().find(ours)?.fate = match outcome {
            Ok(_) => Outcome::Done,
            Err(error) => Outcome::Failed(error.clone()),
        };
        Some(AfterKey::Open)
    }
}
