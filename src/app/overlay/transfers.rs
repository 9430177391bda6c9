//! The list of transfers, with their progress and rate, and the available actions.

use super::{AfterEvent, Overlay};
use crate::action::Action;
use crate::clip::Clip;
use crate::context::Cx;
use crate::keymap::Key;
use crate::motion::Motion;
use crate::pointer::{OnList, Pointer};
use crate::transfer::{Transfer, TransferState};
use crate::view::View;
use crossterm::event::KeyCode;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::cell::Cell;
use ui::line::Line;
use ui::theme::Role;
use ui::{chart, glyph, line, popup, table};

/// The width of the progress bar, in columns.
const BAR_WIDTH: usize = 12;

/// The list of transfers, newest first.
#[derive(Default)]
pub struct List {
    list: table::ListState,
    area: Cell<Rect>,
}

impl List {
    fn at<'a>(&self, view: &View<'a>, row: usize) -> Option<&'a Transfer> {
        view.transfers.list().iter().rev().nth(row)
    }

    fn act(&self, cx: &mut Cx, act: impl FnOnce(&Transfer) -> Option<Action>) {
        let action = self.at(&cx.view, self.list.selected()).and_then(act);
        if let Some(action) = action {
            cx.act(action);
        }
    }
}

/// Returns the action of Enter: stop a running transfer, resume an unfinished one, or copy the path of a finished one.
fn enter(transfer: &Transfer) -> Action {
    match transfer.state {
        TransferState::Waiting | TransferState::Running | TransferState::Unpacking => {
            Action::StopTransfer(transfer.number)
        }
        TransferState::Done => Action::Copy(Clip::line("path", transfer.spec.path.clone())),
        TransferState::Asking | TransferState::Stopped | TransferState::Failed(_) => {
            Action::RestartTransfer(transfer.number, false)
        }
    }
}

fn row(transfer: &Transfer, view: &View) -> table::TableRow<'static> {
    let facts = transfer.facts(view.local_now);
    let (mark, role, words) = match &transfer.state {
        TransferState::Waiting => (glyph::hollow(), Role::Pending, "waiting for the server".to_owned()),
        TransferState::Running | TransferState::Unpacking => {
            let bar = transfer.fraction().map(|part| format!("{} ", chart::bar(part, BAR_WIDTH, "progress")));
            let does = if transfer.state == TransferState::Unpacking { "unpacking " } else { "" };
            (glyph::alive(), Role::Running, format!("{}{does}{facts}", bar.unwrap_or_default()))
        }
        TransferState::Asking => (glyph::warning(), Role::Warning, "the file already exists".into()),
        TransferState::Stopped => (glyph::status_glyph("canceled").0, Role::Canceled, format!("stopped at {facts}")),
        TransferState::Failed(why) => (glyph::wrong(), Role::Failed, why.clone()),
        TransferState::Done => (glyph::done(), Role::Success, facts),
    };
    let name = Line::new(format!("{mark} "), role).and(transfer.spec.download.name.clone(), Role::Text);
    let role =
        if matches!(transfer.state, TransferState::Failed(_) | TransferState::Asking) { role } else { Role::Dim };
    table::TableRow::new(vec![name, Line::new(words, role)])
}

impl Overlay for List {
    fn changed(&mut self, cx: &mut Cx) {
        let numbers: Vec<String> = cx.view.transfers.list().iter().rev().map(|t| t.number.to_string()).collect();
        self.list.sync(numbers.len(), |row| numbers.get(row).cloned().unwrap_or_default());
    }

    fn allows_popups(&self) -> bool {
        true
    }

    fn view(&self, view: &View, screen: Rect, buf: &mut Buffer) -> Option<(u16, u16)> {
        let theme = view.theme;
        let rows = view.transfers.list().len();
        let height = popup::saturating_rows(rows.max(3) + 2).min(screen.height.saturating_sub(4));
        let inner = popup::draw(buf, screen, theme, "Downloads", (screen.width * 4 / 5).clamp(40, 100), height);
        let body = Rect { height: inner.height.saturating_sub(2), ..inner };
        self.area.set(body);
        if rows == 0 {
            view.draw_empty(
                buf,
                inner,
                "No downloads yet.",
                "‹files.save› saves the file in view, ‹files.archive› the whole tree",
            );
            return None;
        }
        let columns = [
            table::TableColumn::new("", table::Size::Fill { min: 14, weight: 2 }),
            table::TableColumn::new("", table::Size::Fit { min: 12, max: 56 }).right(),
        ];
        table::draw(buf, body, theme, true, &self.list, &columns, rows, &|at| {
            self.at(view, at).map(|transfer| row(transfer, view)).unwrap_or_default()
        });
        let chosen = self.at(view, self.list.selected());
        let verb = match chosen.map(|t| &t.state) {
            Some(TransferState::Waiting | TransferState::Running | TransferState::Unpacking) => "stop",
            Some(TransferState::Done) => "copy path",
            Some(TransferState::Asking) => "decide",
            _ => "resume",
        };
        let (key, dim) = (theme.style(Role::Key), theme.style(Role::Dim));
        let foot = Rect { y: inner.bottom().saturating_sub(1), height: inner.height.min(1), ..inner };
        let path = chosen.map(|t| t.spec.path.as_str()).unwrap_or_default();
        let left =
            Line::new(glyph::enter(), key).and(" ", dim).and(verb, dim).and("   x", key).and(" remove from list", dim);
        line::pair(buf, foot, theme, &left, &Line::new(ui::text::fit_middle(path, usize::from(inner.width) / 2), dim));
        None
    }

    fn key(&mut self, key: Key, cx: &mut Cx) -> AfterEvent {
        let len = cx.view.transfers.list().len();
        let height = self.list.height();
        match key.code {
            KeyCode::Esc | KeyCode::Char('q') => return AfterEvent::Close,
            KeyCode::Char('c') if key.ctrl => return AfterEvent::Close,
            KeyCode::Enter => self.act(cx, |transfer| Some(enter(transfer))),
            KeyCode::Char('x') | KeyCode::Delete => {
                self.act(cx, |transfer| (!transfer.is_running()).then_some(Action::ForgetTransfer(transfer.number)));
            }
            KeyCode::Up | KeyCode::Char('k') => self.list.move_by(-1, len),
            KeyCode::Down | KeyCode::Char('j') => self.list.move_by(1, len),
            KeyCode::PageUp => self.list.move_by(Motion::PageUp.rows(height).unwrap_or(0), len),
            KeyCode::PageDown => self.list.move_by(Motion::PageDown.rows(height).unwrap_or(0), len),
            _ => {}
        }
        AfterEvent::KeepOpen
    }

    fn pointer(&mut self, pointer: Pointer, cx: &mut Cx) -> AfterEvent {
        match pointer.on_list(&mut self.list, self.area.get(), cx.view.transfers.list().len()) {
            OnList::Outside => AfterEvent::Close,
            OnList::Row(..) | OnList::Scrolled | OnList::Nothing => AfterEvent::KeepOpen,
        }
    }
}
