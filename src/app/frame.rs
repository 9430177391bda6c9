//! The frame around a place: the line on top, the tabs, the line at the bottom, and what lies over it.

use super::App;
use super::global;
use super::pane::{Breadcrumb, View};
use super::reconcile::tone_role;
use crate::ui::theme::Role;
use crate::ui::{chart, glyph, line, popup, text};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

/// Below this size the interface says what it needs.
const MIN: (u16, u16) = (44, 12);

/// Returns whether a terminal of that width and height shows nothing but that it is too small.
pub fn is_too_small((width, height): (u16, u16)) -> bool {
    width < MIN.0 || height < MIN.1
}

type Spans = Vec<(String, Style)>;

impl App {
    /// Draws everything; says where the cursor stands, if it is to be seen.
    pub fn view(&self, area: Rect, buf: &mut Buffer) -> Option<(u16, u16)> {
        let theme = &self.theme;
        buf.set_style(area, theme.style(Role::Text));
        if is_too_small((area.width, area.height)) {
            let words = format!("labscope needs {}x{}, this is {}x{}", MIN.0, MIN.1, area.width, area.height);
            for (row, part) in text::wrap(&words, area.width.into(), area.height.into()).iter().enumerate() {
                let at = Rect { y: area.y + row as u16, height: 1, ..area };
                line::draw(buf, at, &[(part.as_str(), theme.style(Role::Warning))]);
            }
            return None;
        }
        let view = self.view_of();
        self.pictures.begin(!(self.overlays.is_empty() && self.pressed.is_empty()));
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
        let breadcrumbs: Vec<Breadcrumb> = self.panes.last().map(|p| p.breadcrumbs(view)).unwrap_or_default();
        for (index, breadcrumb) in breadcrumbs.iter().enumerate() {
            if let Some(before) = index.checked_sub(1).and_then(|i| breadcrumbs.get(i)) {
                // What ends in a slash and what follows it are one path.
                left.push((if before.text.ends_with('/') { " " } else { "  " }.into(), dim));
            }
            left.push((text::shown(&breadcrumb.text).into_owned(), theme.style(breadcrumb.role)));
        }
        let mut right: Spans = Vec::new();
        if !self.watched.is_empty() {
            right.push((format!("watching {} · ", self.watched.len()), theme.style(Role::Running)));
        }
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
            return (format!("offline{}", self.known_since()), theme.style(Role::Warning));
        }
        if self.store.lost().is_some() {
            return (format!("✗ not reached{}", self.known_since()), theme.style(Role::Failed));
        }
        if self.requests_in_flight() > 0 {
            return ("◌".into(), theme.style(Role::Running));
        }
        match self.store.heard() {
            // How old the oldest is of what is shown, not when anything at all was last heard.
            Some(heard) => {
                let wants = self.panes.last().map(|pane| pane.wants(view)).unwrap_or_default();
                let at = self.clock(self.store.oldest(&wants).unwrap_or(heard));
                match self.store.is_outlived(&wants) {
                    true => (format!("✗ {at}"), theme.style(Role::Warning)),
                    false => (format!("✓ {at}"), theme.style(Role::Success)),
                }
            }
            None => ("·".into(), theme.style(Role::Dim)),
        }
    }

    /// A moment of today as a clock shows it, an earlier one with its day: it stays true without being drawn again, and
    /// "12 s ago" would not.
    fn clock(&self, at: jiff::Timestamp) -> String {
        let zone = jiff::tz::TimeZone::system();
        let (local, now) = (at.to_zoned(zone.clone()), self.now.to_zoned(zone));
        let form = if local.date() == now.date() { "%H:%M" } else { "%b %-d %H:%M" };
        local.strftime(form).to_string()
    }

    /// From when the oldest is of what is shown without a server.
    fn known_since(&self) -> String {
        let wants = self.panes.last().map(|pane| pane.wants(&self.view_of())).unwrap_or_default();
        self.store.oldest(&wants).map_or(String::new(), |at| format!(" · as of {}", self.clock(at)))
    }

    /// Draws the tabs; how many rows they took.
    fn tabs_line(&self, area: Rect, buf: &mut Buffer) -> u16 {
        let (first, spans) = self.tab_spans();
        if spans.is_empty() {
            return 0;
        }
        let shown = spans.get(first * 2..).unwrap_or_default();
        line::draw(buf, area, shown);
        1
    }

    /// The tabs, each a number and a title, and the first one that is drawn: where there is no room for all, those before
    /// the selected one give way.
    fn tab_spans(&self) -> (usize, Spans) {
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
        let width =
            |pair: &[(String, ratatui::style::Style)]| pair.iter().map(|(words, _)| text::width(words)).sum::<usize>();
        let widths: Vec<usize> = spans.chunks(2).map(width).collect();
        let through = |first: usize| widths.get(first..=tabs.selected).map_or(0, |widths| widths.iter().sum());
        let mut first = 0;
        while first < tabs.selected && through(first) > usize::from(self.size.0) {
            first += 1;
        }
        (first, spans)
    }

    /// What the keys pressed so far can go on to, in columns above the last line.
    fn continuations(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let Some(pane) = self.panes.last().filter(|_| !self.pressed.is_empty()) else { return };
        let theme = view.theme;
        let infos: Vec<_> = pane.commands().into_iter().chain(global::infos(self.registry)).collect();
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
        let mut right = self.saving(view, area.width);
        right.push((self.bindings.first("help").to_owned(), key));
        right.push((" help ".into(), dim));
        let mut left: Spans = vec![(" ".into(), dim)];
        let pane = self.panes.last();
        if let Some(message) = &self.message {
            left.push((text::shown(&message.words).into_owned(), theme.style(tone_role(message.tone))));
        } else if !self.pressed.is_empty() {
            left.push((super::keymap::show(&self.pressed), key));
            left.push((" …".into(), dim));
        } else if let Some(pane) = pane {
            let mut hints: Vec<(String, String)> = Vec::new();
            for info in pane.commands().into_iter().filter(|i| !i.short.is_empty()) {
                if matches!(pane.can(info.id, view), Some(Ok(()))) {
                    hints.push((key_shown(self.bindings.first(info.id)).to_owned(), format!(" {}  ", info.short)));
                }
            }
            for (id, short) in [("seek", "filter"), ("actions", "actions")] {
                if id == "seek" && pane.search_mode().is_none() {
                    continue;
                }
                let short = if id == "seek" && pane.search_mode() == Some(super::SearchMode::Search) {
                    "search"
                } else {
                    short
                };
                hints.push((self.bindings.first(id).to_owned(), format!(" {short}  ")));
            }
            // A hint is read whole or not at all. The last two lead to all others, so those before them give way.
            let room = usize::from(area.width).saturating_sub(line::width(&right) + 1);
            let wide = |hints: &[(String, String)]| -> usize {
                hints.iter().map(|(keys, words)| text::width(keys) + text::width(words)).sum()
            };
            let general = if pane.search_mode().is_some() { 2 } else { 1 };
            // A blank stands before the first, and the two behind the last are not needed.
            while hints.len() > general && wide(&hints) > room + 1 {
                hints.remove(hints.len() - general - 1);
            }
            if let Some((_, words)) = hints.last_mut() {
                words.truncate(words.trim_end().len());
            }
            left.extend(hints.into_iter().flat_map(|(keys, words)| [(keys, key), (words, dim)]));
        }
        line::pair(buf, area, &left, &right);
    }

    /// Returns what is being saved: a bar, bytes, rate and time left, as far as there is room.
    fn saving(&self, view: &View, width: u16) -> Spans {
        let theme = view.theme;
        let running: Vec<_> = self.transfers.running().collect();
        let Some(transfer) = running.last() else { return Vec::new() };
        let mut spans: Spans = vec![(format!("{} ", glyph::down()), theme.style(Role::Running))];
        if running.len() > 1 {
            spans.push((format!("{}× ", running.len()), theme.style(Role::Running)));
        }
        if let Some(part) = transfer.fraction() {
            let columns = if width >= 120 { 16 } else { 8 };
            let tint = theme.style(Role::Input).patch(theme.style(Role::Chart));
            spans.push((chart::bar(part, columns), tint));
            spans.push((format!(" {:.0}% ", (part * 100.0).min(100.0).floor()), theme.style(Role::Text)));
        }
        let facts = transfer.facts(view.here);
        // Where there is little room, how fast it goes says most.
        let short = facts.split(" · ").nth(1).unwrap_or(&facts).to_owned();
        spans.push((format!("{}  ", if width >= 120 { &facts } else { &short }), theme.style(Role::Dim)));
        spans
    }
}

/// Enter is drawn as what it looks like.
fn key_shown(key: &str) -> &str {
    if key == "Enter" { "⏎" } else { key }
}

/// The screen row of the tabs.
pub const TABS_ROW: u16 = 1;

/// The tab drawn at `column`.
pub fn tab_at(app: &App, column: u16) -> Option<usize> {
    let mut x = 0;
    let (first, spans) = app.tab_spans();
    for (index, pair) in spans.chunks(2).enumerate().skip(first) {
        let width: usize = pair.iter().map(|(words, _)| text::width(words)).sum();
        if (x..x + width).contains(&column.into()) {
            return Some(index);
        }
        x += width;
    }
    None
}
