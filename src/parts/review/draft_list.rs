//! An overlay with the drafts on an object and their states, to edit, delete and send them.

use super::state_of;
use crate::api::Noteable;
use crate::app::action::Action;
use crate::app::context::Cx;
use crate::app::keymap::Key;
use crate::app::outbox::{Draft, DraftState, DraftThread, Progress};
use crate::app::overlay::{AfterEvent, Overlay};
use crate::app::pointer::{OnList, Pointer};
use crate::app::view::View;
use crate::parts::review::drafts::{self, DraftId, compose, confirm_delete};
use crate::ui::drawn::Drawn;
use crate::ui::line::Line;
use crate::ui::table::{self, ListState, Size, TableColumn, TableRow};
use crate::ui::theme::Role;
use crate::ui::{glyph, popup, text};
use crossterm::event::KeyCode;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// A row: a draft, or one that was sent.
struct Entry {
    id: DraftId,
    draft: Draft,
    sent: bool,
}

/// The list of drafts on one object.
pub struct DraftList {
    on: Noteable,
    entries: Vec<Entry>,
    /// Whether there were any drafts.
    had: bool,
    /// Whether all drafts are gone, so that the overlay closes.
    is_done: bool,
    list: ListState,
    area: Drawn<Rect>,
}

impl DraftList {
    /// Creates the list of drafts on `on`, filled at the next update.
    pub fn new(on: Noteable) -> DraftList {
        DraftList {
            on,
            entries: Vec::new(),
            had: false,
            is_done: false,
            list: ListState::new(),
            area: Drawn::default(),
        }
    }

    /// Updates the list from the saved drafts and those on the server.
    fn take(&mut self, view: &View) {
        // A draft that disappears while the list is open was sent, and stays in the list as sent.
        let on_server = drafts::draft_notes(&self.on, view);
        for entry in &mut self.entries {
            let Some(key) = entry.id.key() else { continue };
            match view.drafts.draft(key).cloned() {
                Some(draft) => entry.draft = draft,
                // A draft that became a draft note is listed as such.
                None => entry.sent |= view.outbox.has_sent(key) && entry.draft.draft_note.is_none(),
            }
        }
        let is_saved = |id: &DraftId| id.key().is_some_and(|key| view.drafts.draft(key).is_some());
        self.entries.retain(|entry| entry.sent || is_saved(&entry.id));
        self.entries.extend(on_server.into_iter().map(|(id, draft)| Entry { id, draft, sent: false }));
        for (key, draft) in drafts::saved(&self.on, view) {
            if self.entries.iter().all(|entry| entry.id.key() != Some(key) || entry.sent) {
                self.entries.push(Entry { id: DraftId::Saved(key.clone()), draft: draft.clone(), sent: false });
            }
        }
        self.list.clamp(self.entries.len());
        self.had |= !self.entries.is_empty();
        // A draft that became a draft note is in neither place until the server lists it.
        let is_listed = self.on.list_draft_notes().is_none_or(|list| !view.store.list(&list).is_loading());
        // A summary is posted beside the draft notes, and is over with them.
        let is_over = match self.on.list_draft_notes() {
            Some(_) => self.entries.iter().all(|entry| entry.sent),
            None => self.entries.is_empty(),
        };
        self.is_done = self.had && is_over && is_listed && !view.outbox.is_busy();
    }

    fn selected(&self) -> Option<&Entry> {
        self.entries.get(self.list.selected()).filter(|entry| !entry.sent)
    }

    fn row(&self, view: &View, index: usize) -> TableRow<'static> {
        let Some(entry) = self.entries.get(index) else { return TableRow::default() };
        let (words, role) = match entry.sent {
            true => ("sent".to_owned(), Role::Success),
            false => state_of(view, &entry.id, &entry.draft),
        };
        let mark = match (entry.sent, entry.id.progress(view), &entry.draft.state) {
            (true, ..) => glyph::or_word(glyph::done(), ""),
            (_, Some(Progress::Sending | Progress::Checking | Progress::Uploading), _) => glyph::alive(),
            (_, Some(Progress::Waiting | Progress::Claiming), _) => glyph::hollow(),
            (_, None, DraftState::Failed { .. } | DraftState::Unknown { .. }) => glyph::wrong(),
            (_, None, _) => glyph::draft(),
        };
        let place = match (&entry.draft.edits, &entry.draft.position, &entry.draft.thread) {
            (Some(_), ..) => "edits a comment".to_owned(),
            (None, Some(position), _) => position.label(),
            (None, None, Some(DraftThread::Reply { .. })) => "a reply".to_owned(),
            _ if entry.draft.verdict.is_some() => "verdict".to_owned(),
            (None, None, _) => "general".to_owned(),
        };
        let first = entry.draft.text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        TableRow::new(vec![
            Line::new(mark, role),
            (place, Role::Link).into(),
            (text::fit(first, 200), Role::Text).into(),
            (words, role).into(),
        ])
        .dim(entry.sent)
    }

    fn send(&self, cx: &mut Cx) {
        let ready = |entry: &&Entry| !entry.sent && entry.draft.state != DraftState::Begun;
        let keys = self.entries.iter().filter(ready).filter_map(|entry| entry.id.key().cloned()).collect();
        cx.act(Action::SendDrafts(keys));
    }
}

impl Overlay for DraftList {
    fn changed(&mut self, cx: &mut Cx) {
        self.take(&cx.view);
    }

    fn is_done(&self) -> bool {
        self.is_done
    }

    fn view(&self, view: &View, screen: Rect, buf: &mut Buffer) -> Option<(u16, u16)> {
        let theme = view.theme;
        let width = screen.width.saturating_sub(8).clamp(40, 120);
        let height = popup::saturating_rows(self.entries.len() + 3).clamp(6, screen.height.saturating_sub(6).max(6));
        let open = self.entries.iter().filter(|entry| !entry.sent).count();
        let title = format!("Drafts on {}{}{open}", self.on.name(), glyph::separator());
        let inner = popup::draw(buf, screen, theme, &title, width, height);
        if inner.height < 3 {
            return None;
        }
        let body = Rect { height: inner.height - 2, ..inner };
        self.area.set(body);
        if self.entries.is_empty() {
            view.draw_empty(buf, body, "No drafts.", "‹.comment› writes one");
        }
        // The reason of a failure needs more room than the other states.
        let failed =
            |entry: &Entry| matches!(entry.draft.state, DraftState::Failed { .. } | DraftState::Unknown { .. });
        let reason = if self.entries.iter().any(failed) { usize::from(body.width / 2) } else { 28 };
        let columns = [
            TableColumn::new("", Size::Fixed(1)),
            TableColumn::new("", Size::Fit { min: 8, max: usize::from(body.width / 4) as u16 }).cut_in_middle(),
            TableColumn::new("", Size::Fill { min: 8, weight: 1 }),
            TableColumn::new("", Size::Fit { min: 4, max: reason as u16 }),
        ];
        table::draw(buf, body, theme, true, &self.list, &columns, self.entries.len(), &|row| self.row(view, row));
        let (key, dim) = (theme.style(Role::Key), theme.style(Role::Dim));
        let foot = Rect { y: inner.bottom() - 1, height: 1, ..inner };
        let mut words = Line::new(glyph::enter(), key).and(" edit  ", dim).and("D", key).and(" delete  ", dim);
        if view.outbox.is_busy() {
            words.extend([("x", key), (" stop  ", dim)]);
        } else {
            let all = if self.on.list_draft_notes().is_some() { " submit review  " } else { " post all  " };
            words.extend([("S", key), (all, dim), ("s", key), (" post this one  ", dim)]);
        }
        words.extend([("Esc", key), (" close", dim)]);
        words.draw(buf, foot, theme);
        None
    }

    fn key(&mut self, key: Key, cx: &mut Cx) -> AfterEvent {
        let len = self.entries.len();
        let writes = cx.view.can_write().is_ok();
        match key.code {
            KeyCode::Esc | KeyCode::Char('q') => return AfterEvent::Close,
            KeyCode::Char('c') if key.ctrl => return AfterEvent::Close,
            KeyCode::Down | KeyCode::Char('j') => self.list.move_by(1, len),
            KeyCode::Up | KeyCode::Char('k') => self.list.move_by(-1, len),
            KeyCode::PageDown => self.list.page_by(1, len),
            KeyCode::PageUp => self.list.page_by(-1, len),
            KeyCode::Enter | KeyCode::Char('e') => {
                if let Some(entry) = self.selected() {
                    compose(entry.id.clone(), entry.draft.clone(), cx);
                }
            }
            KeyCode::Char('D') => {
                if let Some(entry) = self.selected().filter(|entry| entry.id.progress(&cx.view).is_none()) {
                    confirm_delete(&entry.id, &entry.draft).into_iter().for_each(|action| cx.act(action));
                }
            }
            KeyCode::Char('S') if writes && self.on.list_draft_notes().is_some() => {
                cx.act(Action::Run("mr.send"));
                return AfterEvent::Close;
            }
            KeyCode::Char('S') if writes => self.send(cx),
            KeyCode::Char('s') if writes => {
                if let Some(entry) = self.selected() {
                    let send = match &entry.id {
                        DraftId::Saved(key) => Some(Action::SendDrafts(vec![key.clone()])),
                        DraftId::OnServer(id) => drafts::publish_draft_note(&self.on, *id, &cx.view),
                    };
                    send.into_iter().for_each(|action| cx.act(action));
                }
            }
            KeyCode::Char('x') => cx.act(Action::StopSendingDrafts),
            _ => {}
        }
        AfterEvent::KeepOpen
    }

    fn pointer(&mut self, pointer: Pointer, cx: &mut Cx) -> AfterEvent {
        let clicked = pointer.on_list(&mut self.list, self.area.get(), self.entries.len());
        if let Some(entry) = self.selected().filter(|_| matches!(clicked, OnList::Row(_, true))) {
            compose(entry.id.clone(), entry.draft.clone(), cx);
        }
        AfterEvent::KeepOpen
    }
}
