//! A batch of writes, sent one after the other: the result of each is shown, and failed ones can be retried. An object
//! that somebody else may have changed in the meantime is checked before it is changed.

use super::confirm::{self, Confirm};
use super::{AfterEvent, Overlay};
use crate::action::Action;
use crate::context::Cx;
use crate::keymap::Key;
use crate::motion::Motion;
use crate::pointer::Pointer;
use crate::view::View;
use api::Error;
use crossterm::event::KeyCode;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use store::{Load, Value, Want, Write};
use ui::line::Line;
use ui::table::{self, ListState, Size, TableColumn, TableRow};
use ui::theme::Role;
use ui::{glyph, line, popup, text};

/// Returns the action that sends the writes: a single one directly, several one after the other, with the result of each.
pub fn send(title: impl Into<String>, mut writes: Vec<Write>) -> Action {
    match (writes.pop(), writes.is_empty()) {
        (None, _) => Action::All(Vec::new()),
        (Some(write), true) => Action::Send(write),
        (Some(last), false) => {
            writes.push(last);
            Action::OpenOverlay(Box::new(Batch::new(title, writes)))
        }
    }
}

/// Returns the action that asks before it sends the writes, and lists the `things` that they change.
pub fn confirm(title: &str, question: String, things: Vec<String>, writes: Vec<Write>) -> Action {
    Action::OpenOverlay(Box::new(Confirm::new(title, question, send(title, writes)).naming(things)))
}

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
    Checking,
    /// Somebody else changed the object; the text describes the change.
    Changed(String),
    /// In flight, with its number once it has one.
    Sending(Option<u64>),
    Done,
    Failed(Error),
}

impl Outcome {
    /// Returns the problem of the write, in full.
    fn problem(&self) -> Option<(String, Role)> {
        match self {
            Outcome::Failed(error) => Some((error.with_advice(error.write_advice()), Role::Failed)),
            Outcome::Changed(what) => Some((format!("Changed by somebody else: {what}."), Role::Warning)),
            Outcome::Waiting | Outcome::Checking | Outcome::Sending(_) | Outcome::Done => None,
        }
    }
}

/// The number of lines for the problem of the selected write.
const PROBLEM_LINES: u16 = 2;

/// The writes of a batch, and their states.
pub struct Batch {
    title: String,
    writes: Vec<Step>,
    list: ListState,
}

/// A write of a batch.
struct Step {
    write: Write,
    outcome: Outcome,
    check: Option<Check>,
}

impl Batch {
    /// Creates a batch that sends `writes` one after the other; each has its own description.
    pub fn new(title: impl Into<String>, writes: Vec<Write>) -> Batch {
        let step = |write| Step { write, outcome: Outcome::Waiting, check: None };
        Batch { title: title.into(), writes: writes.into_iter().map(step).collect(), list: ListState::new() }
    }

    /// Adds a write for an object that is first fetched again by `load`; `read` returns what to send, given that
    /// version.
    pub fn checked(mut self, write: Write, load: Load, read: impl Fn(&View) -> ChangedInput + 'static) -> Batch {
        let check = Some(Check { load, read: Box::new(read) });
        self.writes.push(Step { write, outcome: Outcome::Waiting, check });
        self
    }

    fn is_busy(&self) -> bool {
        self.count(|outcome| matches!(outcome, Outcome::Sending(_) | Outcome::Checking)) > 0
    }

    fn count(&self, of: fn(&Outcome) -> bool) -> usize {
        self.writes.iter().filter(|step| of(&step.outcome)).count()
    }

    /// Returns whether retrying may do something twice.
    fn may_repeat(&self) -> bool {
        self.count(|outcome| matches!(outcome, Outcome::Failed(error) if error.may_repeat())) > 0
    }

    /// Sends the writes that failed or are in conflict again.
    fn retry(&mut self) {
        for step in &mut self.writes {
            if matches!(step.outcome, Outcome::Failed(_) | Outcome::Changed(_)) {
                step.outcome = Outcome::Waiting;
            }
        }
    }

    /// Sends the write that is being checked once the server has replied, or reports what somebody else changed.
    fn check(&mut self, cx: &mut Cx) {
        let Some(step) = self.writes.iter_mut().find(|step| matches!(step.outcome, Outcome::Checking)) else { return };
        let Some(check) = step.check.as_ref().filter(|check| cx.view.store.is_fresh(&check.load.request)) else {
            return;
        };
        let seen = match cx.view.store.error_of(&check.load.request) {
            // If the object cannot be fetched again, rely on the server's reply to the write.
            Some(_) => ChangedInput::Fits(step.write.clone()),
            None => (check.read)(&cx.view),
        };
        match seen {
            ChangedInput::Coming => {}
            ChangedInput::Fits(write) => {
                step.outcome = Outcome::Sending(None);
                cx.act(Action::Send(write));
            }
            ChangedInput::Changed(what, write) => {
                (step.outcome, step.write, step.check) = (Outcome::Changed(what), write, None);
            }
        }
    }
}

impl Overlay for Batch {
    fn wants(&self, _view: &View) -> Vec<Want> {
        let checks = self.writes.iter().filter(|step| matches!(step.outcome, Outcome::Checking));
        checks.filter_map(|step| step.check.as_ref()).map(|check| check.load.clone().into()).collect()
    }

    fn view(&self, view: &View, screen: Rect, buf: &mut Buffer) -> Option<(u16, u16)> {
        let theme = view.theme;
        let width = (screen.width * 3 / 5).clamp(70, 110);
        let has_problem = self.count(|outcome| matches!(outcome, Outcome::Failed(_) | Outcome::Changed(_))) > 0;
        let problem_height = if has_problem { PROBLEM_LINES + 1 } else { 0 };
        let height = popup::saturating_rows(self.writes.len() + 2)
            .saturating_add(problem_height)
            .min(screen.height.saturating_sub(4))
            .max(4);
        let inner = popup::draw(buf, screen, theme, &self.title, width, height);
        if inner.height < 3 {
            return None;
        }
        let problem_height = problem_height.min(inner.height - 3);
        let body = Rect { height: inner.height - 2 - problem_height, ..inner };
        let columns = [
            TableColumn::new("", Size::Fixed(1)),
            TableColumn::new("", Size::Fit { min: 10, max: 40 }),
            TableColumn::new("", Size::Fill { min: 8, weight: 1 }),
        ];
        table::draw(buf, body, theme, true, &self.list, &columns, self.writes.len(), &|index| {
            let Some(Step { write, outcome, .. }) = self.writes.get(index) else { return TableRow::default() };
            let (mark, role, words) = match outcome {
                Outcome::Checking => (glyph::alive(), Role::Running, "checking for changes…".to_owned()),
                Outcome::Changed(what) => (glyph::dot(), Role::Warning, what.clone()),
                Outcome::Waiting => (glyph::hollow(), Role::Dim, String::new()),
                Outcome::Sending(_) => (glyph::alive(), Role::Running, "sending…".to_owned()),
                Outcome::Done => (glyph::status_glyph("success").0, Role::Success, "done".to_owned()),
                Outcome::Failed(error) => (glyph::wrong(), Role::Failed, error.message()),
            };
            TableRow::new(vec![(mark, role).into(), (write.what.clone(), Role::Text).into(), (words, role).into()])
        });
        // The text that does not fit in a row is shown below the list in full.
        if let Some((words, role)) = self.writes.get(self.list.selected()).and_then(|step| step.outcome.problem()) {
            let lines = text::wrap(&words, inner.width.into(), PROBLEM_LINES.into());
            for (words, y) in lines.into_iter().zip(body.bottom() + 1..body.bottom() + problem_height) {
                Line::new(words, role).draw(buf, Rect { y, height: 1, ..inner }, theme);
            }
        }
        let failed = self.count(|outcome| matches!(outcome, Outcome::Failed(_)));
        let done = self.count(|outcome| matches!(outcome, Outcome::Done));
        let (key, dim) = (theme.style(Role::Key), theme.style(Role::Dim));
        let mut left = Line::new(format!("{done} of {} done", self.writes.len()), dim);
        let changed = self.count(|outcome| matches!(outcome, Outcome::Changed(_)));
        if failed > 0 {
            left.push(format!(", {failed} failed"), Role::Failed);
        }
        if changed > 0 {
            left.push(format!(", {changed} changed by others"), Role::Warning);
        }
        if failed + changed > 0 && !self.is_busy() {
            let words = match (changed, self.may_repeat()) {
                (0, false) => " retry",
                (0, true) => " send again…",
                _ => " overwrite",
            };
            left.extend([("  r", key), (words, dim)]);
        }
        let close = if self.is_busy() { " stop" } else { " close" };
        let foot = Rect { y: inner.bottom() - 1, height: 1, ..inner };
        line::pair(buf, foot, theme, &left, &Line::from([("Esc", key), (close, dim)]));
        None
    }

    fn key(&mut self, key: Key, cx: &mut Cx) -> AfterEvent {
        let len = self.writes.len();
        match (key.code, key.ctrl) {
            (KeyCode::Esc | KeyCode::Char('q'), _) | (KeyCode::Char('c'), true) => return AfterEvent::Close,
            (KeyCode::Enter, _) if !self.is_busy() => return AfterEvent::Close,
            (KeyCode::Char('r'), false) if !self.is_busy() => match self.may_repeat() {
                true => cx.open(confirm::send_again(&self.title)),
                false => self.retry(),
            },
            (KeyCode::Char('j') | KeyCode::Down, _) => Motion::Down.apply(&mut self.list, len),
            (KeyCode::Char('k') | KeyCode::Up, _) => Motion::Up.apply(&mut self.list, len),
            _ => {}
        }
        AfterEvent::KeepOpen
    }

    fn pointer(&mut self, pointer: Pointer, _cx: &mut Cx) -> AfterEvent {
        if let Pointer::Wheel { rows, .. } = pointer {
            self.list.scroll_by(rows.into(), self.writes.len());
        }
        AfterEvent::KeepOpen
    }

    fn changed(&mut self, cx: &mut Cx) {
        self.check(cx);
        if self.is_busy() {
            return;
        }
        let Some(step) = self.writes.iter_mut().find(|step| matches!(step.outcome, Outcome::Waiting)) else { return };
        match &step.check {
            Some(check) => {
                step.outcome = Outcome::Checking;
                cx.act(Action::Reload(vec![check.load.clone().into()]));
            }
            None => {
                step.outcome = Outcome::Sending(None);
                cx.act(Action::Send(step.write.clone()));
            }
        }
    }

    fn sending(&mut self, number: u64) {
        for step in &mut self.writes {
            if matches!(step.outcome, Outcome::Sending(None)) {
                step.outcome = Outcome::Sending(Some(number));
            }
        }
    }

    fn send_again(&mut self, _cx: &mut Cx) {
        self.retry();
    }

    fn sent(&mut self, number: u64, outcome: &Result<Value, Error>, _cx: &mut Cx) -> Option<AfterEvent> {
        let ours = |step: &&mut Step| matches!(step.outcome, Outcome::Sending(Some(n)) if n == number);
        self.writes.iter_mut().find(ours)?.outcome = match outcome {
            Ok(_) => Outcome::Done,
            Err(error) => Outcome::Failed(error.clone()),
        };
        Some(AfterEvent::KeepOpen)
    }
}
