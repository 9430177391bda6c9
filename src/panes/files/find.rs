//! The overlay that finds a file by its path in the whole tree.

use crate::app::context::Cx;
use crate::app::keymap::Key;
use crate::app::motion::Motion;
use crate::app::overlay::picker::{edit, letters_shown};
use crate::app::overlay::{AfterEvent, Overlay, TextEntry};
use crate::app::path_search::{MatchingFile, PathSearch};
use crate::app::pointer::{OnList, Pointer};
use crate::app::view::View;
use crate::parts::repository::blob::File;
use crate::parts::repository::blob::source::TreeSource;
use crate::store::Want;
use crate::ui::drawn::Drawn;
use crate::ui::input::Input;
use crate::ui::line::Line;
use crate::ui::theme::Role;
use crate::ui::{popup, state, table};
use crossterm::event::KeyCode;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// The finder overlay.
pub struct Finder {
    search: PathSearch,
    input: Input,
    /// Whether Enter was pressed before the typed text was ranked: the best match is opened as soon as it is known.
    opens_best: bool,
    done: bool,
    list: table::ListState,
    /// Whether the selection was moved since the last typed character.
    moved: bool,
    area: Drawn<Rect>,
}

impl Finder {
    /// Creates a finder over the tree of `source`; paths in `recent` rank first.
    pub fn new(source: &TreeSource, recent: Vec<String>, view: &View) -> Finder {
        let mut finder = Finder {
            search: PathSearch::new(source.listing(""), recent),
            input: Input::default(),
            opens_best: false,
            done: false,
            list: table::ListState::default(),
            moved: false,
            area: Drawn::default(),
        };
        finder.update(view);
        finder
    }

    fn best(&self) -> &[MatchingFile] {
        &self.search.ranked().best
    }

    fn choose(&mut self, cx: &mut Cx) -> AfterEvent {
        self.opens_best = !self.moved && !self.search.is_ranked_for(self.input.text());
        if self.opens_best {
            return AfterEvent::KeepOpen;
        }
        match self.best().get(self.list.selected()) {
            Some(hit) => {
                let file = File { path: hit.path.clone(), sha: hit.sha.clone() };
                cx.act(cx.here.then(move |pane: &mut super::Files, cx| pane.open_found(file, cx)));
                AfterEvent::Close
            }
            None => AfterEvent::KeepOpen,
        }
    }

    fn typed(&mut self, cx: &mut Cx) {
        (self.moved, self.opens_best) = (false, false);
        self.update(&cx.view);
    }

    fn update(&mut self, view: &View) {
        self.search.update(view, self.input.text());
        let best = &self.search.ranked().best;
        if self.moved {
            self.list.sync(best.len(), |row| best.get(row).map(|hit| hit.path.clone()).unwrap_or_default());
        } else {
            self.list.select(0, best.len());
        }
    }
}

impl Overlay for Finder {
    fn wants(&self, view: &View) -> Vec<Want> {
        self.search.wants(view)
    }

    fn changed(&mut self, cx: &mut Cx) {
        self.update(&cx.view);
        if self.opens_best {
            self.done = self.choose(cx) == AfterEvent::Close;
        }
    }

    fn is_done(&self) -> bool {
        self.done
    }

    fn view(&self, view: &View, screen: Rect, buf: &mut Buffer) -> Option<(u16, u16)> {
        let theme = view.theme;
        let width = (screen.width * 3 / 4).clamp(40, 110);
        let inner = popup::draw(buf, screen, theme, "Find a file", width, screen.height.saturating_sub(6));
        if inner.height < 4 {
            return None;
        }
        let cursor = self.input.draw(buf, Rect { height: 1, ..inner }, theme, true, "Fuzzy path");
        let dim = theme.style(Role::Dim);
        let count = Rect { y: inner.y + 1, height: 1, ..inner };
        Line::new(self.search.count(view, self.input.text()), dim).draw(buf, count, theme);
        let body = Rect { y: inner.y + 2, height: inner.height - 2, ..inner };
        self.area.set(body);
        let rows = self.search.rows(view);
        if self.best().is_empty() {
            match rows.error {
                Some(error) if !rows.is_loaded => crate::parts::list::draw_error(view, body, buf, error),
                _ if rows.is_loaded && self.search.ranked().files > 0 => {
                    view.draw_empty(buf, body, "No matching path.", "")
                }
                _ => state::skeleton(buf, body, theme),
            }
            return cursor;
        }
        let columns = [
            table::TableColumn::new("", table::Size::Fill { min: 20, weight: 1 }),
            table::TableColumn::new("", table::Size::Fit { min: 0, max: 8 }).right().drop_order(1),
        ];
        table::draw(buf, body, theme, true, &self.list, &columns, self.best().len(), &|row| {
            let Some(hit) = self.best().get(row) else { return table::TableRow::default() };
            let path = letters_shown(&hit.path, &hit.letters, Role::Text);
            let note = if hit.recent { "recent" } else { "" };
            table::TableRow::new(vec![path, Line::new(note, Role::Dim)])
        });
        cursor
    }

    fn key(&mut self, key: Key, cx: &mut Cx) -> AfterEvent {
        let (height, len) = (self.list.height(), self.best().len());
        self.moved |= matches!(key.code, KeyCode::Up | KeyCode::Down | KeyCode::PageUp | KeyCode::PageDown)
            || key.ctrl && matches!(key.code, KeyCode::Char('p' | 'k' | 'n' | 'j'));
        match (key.code, key.ctrl) {
            (KeyCode::Esc, _) | (KeyCode::Char('c'), true) => return AfterEvent::Close,
            (KeyCode::Enter, _) => return self.choose(cx),
            (KeyCode::Up, _) | (KeyCode::Char('p' | 'k'), true) => self.list.move_by(-1, len),
            (KeyCode::Down, _) | (KeyCode::Char('n' | 'j'), true) => self.list.move_by(1, len),
            (KeyCode::PageUp, _) => self.list.move_by(Motion::PageUp.rows(height).unwrap_or(0), len),
            (KeyCode::PageDown, _) => self.list.move_by(Motion::PageDown.rows(height).unwrap_or(0), len),
            _ => {
                if edit(&mut self.input, key) {
                    self.typed(cx);
                }
            }
        }
        AfterEvent::KeepOpen
    }

    fn text_entry(&self) -> TextEntry {
        TextEntry::Line
    }

    fn paste(&mut self, text: &str, cx: &mut Cx) {
        self.input.paste(text);
        self.typed(cx);
    }

    fn pointer(&mut self, pointer: Pointer, cx: &mut Cx) -> AfterEvent {
        let len = self.best().len();
        match pointer.on_list(&mut self.list, self.area.get(), len) {
            OnList::Outside => AfterEvent::Close,
            OnList::Row(..) => self.choose(cx),
            OnList::Scrolled | OnList::Nothing => AfterEvent::KeepOpen,
        }
    }
}
