//! The frame around a place: the line on top, the tabs, the line at the bottom, and what lies over it.

use super::App;
use super::command::Command;
use super::global::GLOBAL;
use super::pane::{Crumb, View};
use super::reconcile::tone_role;
use crate::ui::theme::Role;
use crate::ui::{line, popup, text};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

/// Below this size the interface says what it needs.
const MIN: (u16, u16) = (44, 12);

type Spans = Vec<(String, Style)>;

impl App {
    /// Draws everything; says where the cursor stands, where it is to be seen.
    pub fn view(&self, area: Rect, buf: &mut Buffer) -> Option<(u16, u16)> {
        let theme = &self.theme;
        buf.set_style(area, theme.style(Role::Text));
        if area.width < MIN.0 || area.height < MIN.1 {
            let words = format!("labscope needs {}x{}, this is {}x{}", MIN.0, MIN.1, area.width, area.height);
            for (row, part) in text::wrap(&words, area.width.into(), area.height.into()).iter().enumerate() {
                let at = Rect { y: area.y + row as u16, height: 1, ..area };
                line::draw(buf, at, &[(part.as_str(), theme.style(Role::Warning))]);
            }
            return None;
        }
        let view = self.view_of();
        self.top_line(&view, Rect { height: 1, ..area }, buf);
        let tabs = self.tabs_line(Rect { y: area.y + 1, height: 1, ..area }, buf);
        let content = Rect { y: area.y + 1 + tabs, height: area.height - 2 - tabs, ..area };
        match self.panes.last() {
            Some(pane) => pane.view(&view, content, buf),
            None => crate::ui::state::empty(
                buf,
                content,
                theme,
                "No place is open.",
                "C-p goes to anything, : opens a place",
            ),
        }
        self.bottom_line(&view, Rect { y: area.bottom() - 1, height: 1, ..area }, buf);
        self.continuations(&view, content, buf);
        let mut cursor = None;
        for overlay in &self.overlays {
            cursor = overlay.view(&view, area, buf);
        }
        cursor
    }

    fn top_line(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let theme = view.theme;
        let dim = theme.style(Role::Dim);
        let mut left: Spans = vec![(" ".into(), dim)];
        let crumbs: Vec<Crumb> = self.panes.last().map(|p| p.crumbs(view)).unwrap_or_default();
        for (index, crumb) in crumbs.iter().enumerate() {
            if let Some(before) = index.checked_sub(1).and_then(|i| crumbs.get(i)) {
                // What ends in a slash and what follows it are one path.
                left.push((if before.text.ends_with('/') { " " } else { "  " }.into(), dim));
            }
            left.push((text::shown(&crumb.text).into_owned(), theme.style(crumb.role)));
        }
        let mut right: Spans = Vec::new();
        if let Some(me) = view.me() {
            right.push((text::shown(&me.username).into_owned(), theme.style(Role::User)));
            right.push((" · ".into(), dim));
        }
        right.push((text::shown(&self.session.server).into_owned(), dim));
        if self.session.read_only {
            right.push((" · read-only".into(), theme.style(Role::Warning)));
        }
        right.push(("  ".into(), dim));
        right.push(self.network(view));
        right.push((" ".into(), dim));
        line::pair(buf, area, &left, &right);
    }

    fn network(&self, view: &View) -> (String, Style) {
        let theme = view.theme;
        if self.session.offline {
            return ("offline".into(), theme.style(Role::Warning));
        }
        if self.store.lost().is_some() {
            return ("✗ not reached".into(), theme.style(Role::Failed));
        }
        if self.requests_in_flight() > 0 {
            return ("◌".into(), theme.style(Role::Running));
        }
        // A clock time stays true without being drawn again; "12 s ago" would not.
        match self.store.heard() {
            Some(at) => {
                let local = at.to_zoned(jiff::tz::TimeZone::system());
                (format!("✓ {}", local.strftime("%H:%M")), theme.style(Role::Success))
            }
            None => ("·".into(), theme.style(Role::Dim)),
        }
    }

    /// Draws the tabs; how many rows they took.
    fn tabs_line(&self, area: Rect, buf: &mut Buffer) -> u16 {
        let spans = self.tab_spans();
        if spans.is_empty() {
            return 0;
        }
        line::draw(buf, area, &spans);
        1
    }

    fn tab_spans(&self) -> Spans {
        let tabs = self.panes.last().map(|p| p.tabs()).unwrap_or_default();
        let mut spans: Spans = Vec::new();
        for (index, title) in tabs.titles.iter().enumerate() {
            let role = if index == tabs.selected { Role::Title } else { Role::Dim };
            let number = if index == tabs.selected { Role::Accent } else { Role::Faint };
            spans.push((format!(" {} ", index + 1), self.theme.style(number)));
            let count = self.panes.last().and_then(|p| p.tab_count(index, &self.view_of()));
            let count = count.map(|count| format!("{count} ")).unwrap_or_default();
            spans.push((format!("{title} {count}"), self.theme.style(role)));
        }
        spans
    }

    /// What the keys pressed so far can go on to, in columns above the last line.
    fn continuations(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let Some(pane) = self.panes.last().filter(|_| !self.pressed.is_empty()) else { return };
        let theme = view.theme;
        let infos: Vec<_> = pane.commands().into_iter().chain(GLOBAL.iter().map(Command::info)).collect();
        let rows: Vec<(String, &str)> = self
            .bindings
            .continuations(pane.id(), &self.pressed)
            .into_iter()
            .filter_map(|(keys, id)| Some((keys, infos.iter().find(|i| i.id == id)?.title)))
            .collect();
        let columns = usize::from(area.width / 30).clamp(1, rows.len().max(1));
        let height = (rows.len().div_ceil(columns) as u16).min(area.height);
        let panel = Rect { y: area.bottom() - height, height, ..area };
        popup::clear(buf, panel, theme);
        let width = area.width / columns as u16;
        for (index, (keys, title)) in rows.iter().enumerate() {
            let (column, row) = (index as u16 / height.max(1), index as u16 % height.max(1));
            let at = Rect { x: area.x + column * width, y: panel.y + row, width, height: 1 };
            let words =
                [(format!(" {keys}"), theme.style(Role::Key)), (format!("  {title}"), theme.style(Role::Overlay))];
            line::draw(buf, at.intersection(panel), &words);
        }
    }

    fn bottom_line(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let theme = view.theme;
        let (key, dim) = (theme.style(Role::Key), theme.style(Role::Dim));
        let mut left: Spans = vec![(" ".into(), dim)];
        let pane = self.panes.last();
        if let Some((tone, words, _)) = &self.message {
            left.push((text::shown(words).into_owned(), theme.style(tone_role(*tone))));
        } else if !self.pressed.is_empty() {
            left.push((super::keymap::show(&self.pressed), key));
            left.push((" …".into(), dim));
        } else if let Some(pane) = pane {
            for info in pane.commands().into_iter().filter(|i| !i.short.is_empty()) {
                if matches!(pane.can(info.id, view), Some(Ok(()))) {
                    left.push((glyph(self.bindings.first(info.id)).to_owned(), key));
                    left.push((format!(" {}  ", info.short), dim));
                }
            }
            for (id, short) in [("seek", "filter"), ("actions", "actions")] {
                if id == "seek" && pane.seek().is_none() {
                    continue;
                }
                let short = if id == "seek" && pane.seek() == Some(super::Seek::Search) { "search" } else { short };
                left.push((self.bindings.first(id).to_owned(), key));
                left.push((format!(" {short}  "), dim));
            }
        }
        let help = self.bindings.first("help").to_owned();
        line::pair(buf, area, &left, &[(help, key), (" help ".into(), dim)]);
    }
}

/// Enter is drawn as what it looks like.
fn glyph(key: &str) -> &str {
    if key == "Enter" { "⏎" } else { key }
}

/// The screen row of the tabs.
pub fn tabs_row(_app: &App) -> u16 {
    1
}

/// The tab drawn at `column`.
pub fn tab_at(app: &App, column: u16) -> Option<usize> {
    let mut x = 0;
    for (index, pair) in app.tab_spans().chunks(2).enumerate() {
        let width: usize = pair.iter().map(|(words, _)| text::width(words)).sum();
        if (x..x + width).contains(&column.into()) {
            return Some(index);
        }
        x += width;
    }
    None
}
