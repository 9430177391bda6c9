//! The frame around a place: top line, tabs, bottom line, and the overlays above it.

use super::App;
use super::dates::zone;
use super::global;
use super::hits::{Hit, Hits};
use super::overlay::TextEntry;
use super::pane::Breadcrumb;
use super::place::Place;
use super::view::View;
use api::error::SERVER;
use api::identity::AccessToken;
use jiff::SignedDuration;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use ui::drawn::Drawn;
use ui::image::Images;
use ui::line::Line;
use ui::scroll_bar::ScrollBar;
use ui::theme::Role;
use ui::{chart, cursor_hint, drawn, glyph, hyperlink, line, panels, popup, scroll_bar, text};

/// The minimum width and height of the terminal; below that, only the required size is shown.
const MIN: (u16, u16) = (44, 12);

/// The number of requests in flight that is shown, and the time after which it is: one that is gone in a moment would only
/// move the rest of the line.
const MANY: usize = 10;
const SLOW: SignedDuration = SignedDuration::from_secs(2);
/// The time without a reply after which the header says so.
pub(super) const SILENT: SignedDuration = SignedDuration::from_secs(10);

/// Returns whether a terminal of that width and height is too small to show anything but a message about it.
pub fn is_too_small((width, height): (u16, u16)) -> bool {
    width < MIN.0 || height < MIN.1
}

/// Returns the number of columns that decides the layout; in accessible mode, nothing is placed side by side.
pub(super) fn columns(width: u16) -> u16 {
    if glyph::is_accessible() { width.min(panels::TWO_PANELS_WIDTH - 1) } else { width }
}

/// The screen: its size, what the last frame had on it, and whether another is due.
pub(super) struct FrameState {
    pub size: (u16, u16),
    pub images: Images,
    /// The clickable areas.
    pub hits: Hits,
    /// The scroll bars that can be dragged.
    pub scroll_bars: RefCell<Vec<ScrollBar>>,
    /// Whether it told a failed read below the place.
    pub has_untold: Drawn<bool>,
    /// Whether it found out something that wants and layouts may depend on, see [`ui::drawn`].
    pub is_new: Cell<bool>,
    /// The number of times that a frame was settled since the last message.
    pub settled_frames: u32,
    pub dirty: bool,
    /// Whether messages were received since panes were last notified of changes.
    pub is_unsettled: bool,
}

impl FrameState {
    pub fn new(size: (u16, u16)) -> FrameState {
        FrameState {
            size,
            images: Images::default(),
            hits: Hits::default(),
            scroll_bars: RefCell::default(),
            has_untold: Drawn::default(),
            is_new: Cell::new(false),
            settled_frames: 0,
            dirty: true,
            is_unsettled: false,
        }
    }
}

/// A line of the frame, parts of which can be clicked.
#[derive(Default)]
struct ClickableLine {
    line: Line<'static>,
    /// The first and the end column of each clickable part, with the effect of a click.
    hits: Vec<(usize, usize, Hit)>,
}

impl ClickableLine {
    fn push(&mut self, text: impl Into<Cow<'static, str>>, role: Role) {
        self.line.push(text, role);
    }

    fn width(&self) -> usize {
        self.line.width()
    }

    /// Makes everything appended since column `from` clickable.
    fn clickable(&mut self, from: usize, hit: Hit) {
        self.hits.push((from, self.width(), hit));
    }

    /// Registers the clickable parts of the line, which was drawn at the left of `area`.
    fn register(self, area: Rect, hits: &Hits) {
        for (from, to, hit) in self.hits {
            let column = |at: usize| area.x.saturating_add(u16::try_from(at).unwrap_or(u16::MAX));
            let place = Rect { x: column(from), width: column(to) - column(from), ..area };
            hits.add(place.intersection(area), hit);
        }
    }
}

/// The minimum width to which a part of the first line is cut, with the gap before it, before it is left out.
const SHORTEST_PART: usize = 8;

/// A part of the state of the session.
struct SessionPart {
    /// The last step at which it is still shown, see [`session_line`].
    kept_until: usize,
    words: String,
    role: Role,
    command: Option<&'static str>,
}

/// The number of steps by which a narrow screen shortens the state of the session: without the user, then without the
/// server, then without the number of to-dos.
const MOST_DROPPED: usize = 3;

/// Returns the end of the first line after `dropped` steps: what is left of the session, and the state of the network.
fn session_line(parts: &[SessionPart], dropped: usize, network: &(String, Role)) -> ClickableLine {
    let mut right = ClickableLine::default();
    for part in parts.iter().filter(|part| part.kept_until >= dropped) {
        if right.width() > 0 {
            right.push(glyph::separator(), Role::Dim);
        }
        let from = right.width();
        right.push(part.words.clone(), part.role);
        if let Some(command) = part.command {
            right.clickable(from, Hit::Run(command));
        }
    }
    right.push("  ", Role::Dim);
    right.line.extend([network.clone()]);
    right.push(" ", Role::Dim);
    right
}

/// Returns the line of the breadcrumbs, and the number of spans and the column at which each but the last ends.
fn breadcrumb_line(breadcrumbs: &[Breadcrumb], here: Option<&Place>) -> (ClickableLine, Vec<(usize, usize)>) {
    let (mut left, mut ends) = (ClickableLine::default(), Vec::new());
    left.push(" ", Role::Dim);
    for (index, breadcrumb) in breadcrumbs.iter().enumerate() {
        if index > 0 {
            ends.push((left.line.spans.len(), left.width()));
            // A part that ends in a slash and the part after it form one path.
            let path = left.line.spans.last().is_some_and(|span| span.text.ends_with('/'));
            left.push(if path { " " } else { "  " }, Role::Dim);
        }
        let from = left.width();
        left.push(text::sanitize(&breadcrumb.text).into_owned(), breadcrumb.role);
        if let Some(place) = breadcrumb.place.as_ref().filter(|place| Some(*place) != here) {
            left.clickable(from, Hit::Go(Box::new(place.clone())));
        }
    }
    (left, ends)
}

/// Shortens the path of a project or group, the groups first, as far as the part after it and the beginning of the next one
/// need room; returns whether it did.
fn shorten_path(breadcrumbs: &mut [Breadcrumb], room: usize) -> bool {
    let groups = breadcrumbs.iter().take_while(|part| part.text.ends_with('/')).count();
    let width = |part: &Breadcrumb| text::width(&part.text) + 2;
    let next = breadcrumbs.get(groups + 2).map_or(0, |part| width(part).min(2 * SHORTEST_PART));
    let needed = breadcrumbs.iter().take(groups + 2).map(width).sum::<usize>() + next;
    let mut excess = if groups > 0 { needed.saturating_sub(room + groups + 1) } else { 0 };
    let is_too_long = excess > 0;
    for part in breadcrumbs.iter_mut().take(groups + 1) {
        let width = text::width(&part.text);
        let kept = width.saturating_sub(excess).max(SHORTEST_PART.min(width));
        part.text = text::fit_middle(&text::sanitize(&part.text), kept);
        excess -= width - kept;
    }
    is_too_long
}

/// The width of the key of help with its word and the space before it, in columns.
const HELP_WIDTH: usize = 8;
/// The maximum number of rows of a message.
const MAX_MESSAGE_ROWS: usize = 3;

impl App {
    /// Draws everything; returns the position of the cursor, if it is to be shown.
    pub fn view(&self, area: Rect, buf: &mut Buffer) -> Option<(u16, u16)> {
        let before = drawn::fingerprint();
        let cursor = self.draw(area, buf);
        self.frame.is_new.set(drawn::fingerprint() != before);
        cursor
    }

    fn draw(&self, area: Rect, buf: &mut Buffer) -> Option<(u16, u16)> {
        let theme = &self.theme_state.theme;
        theme.fill(buf);
        if is_too_small((area.width, area.height)) {
            let typing = if self.text_entry() == TextEntry::None { "" } else { "; typed text is kept" };
            let words = format!(
                "Terminal too small: labscope needs {}x{}, this is {}x{}{typing}",
                MIN.0, MIN.1, area.width, area.height
            );
            for (row, part) in text::wrap(&words, area.width.into(), area.height.into()).iter().enumerate() {
                let at = Rect { y: area.y + row as u16, height: 1, ..area };
                Line::new(part.as_str(), Role::Warning).draw(buf, at, theme);
            }
            return None;
        }
        let view = self.view_of();
        self.frame.hits.clear();
        cursor_hint::take();
        hyperlink::take();
        scroll_bar::take();
        if let Some((_, seen)) = self.input.closed_at.as_ref().filter(|_| self.overlays.is_empty()) {
            seen.set(true);
        }
        self.frame.images.begin(!(self.overlays.is_empty() && self.input.keys.is_empty()));
        self.top_line(&view, Rect { height: 1, ..area }, buf);
        let tabs = self.tabs_line(&view, Rect { y: area.y + 1, height: 1, ..area }, buf);
        let content = Rect { y: area.y + 1 + tabs, height: area.height - 2 - tabs, ..area };
        let reserved = u16::from(self.frame.has_untold.get() && content.height > 4);
        let place = Rect { height: content.height - reserved, ..content };
        match self.nav.top() {
            Some(pane) => pane.view(&view, place, buf),
            None => view.draw_empty(
                buf,
                content,
                "No place is open.",
                "‹anything› goes to anything, ‹palette› opens a place",
            ),
        }
        self.draw_failed_read(&view, content, buf);
        let message = self.long_message(area.width);
        self.bottom_line(&view, &message, Rect { y: area.bottom() - 1, height: 1, ..area }, buf);
        self.continuations(&view, content, buf);
        let mut cursor = None;
        for overlay in &self.overlays {
            let below = cursor_hint::take();
            // Only the one on top gets the mouse.
            scroll_bar::take();
            cursor = overlay.view(&view, area, buf);
            // One that is about to close draws nothing.
            if let Some((x, y)) = below {
                cursor_hint::set_fallback(x, y);
            }
        }
        self.frame.scroll_bars.replace(scroll_bar::take());
        cursor_hint::set_fallback(content.x, content.y);
        if !glyph::is_accessible() {
            return cursor;
        }
        // Until the next key, the cursor is on the message, or on the line that says where one is.
        let message_row = area.bottom() - message.len().max(1) as u16;
        let message = Some((area.x, message_row)).filter(|_| self.is_message_new());
        let place = Some((area.x, area.y)).filter(|_| self.is_place_new() && self.overlays.is_empty());
        message.or(place).or(cursor).or_else(cursor_hint::take)
    }

    fn top_line(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let theme = view.theme;
        let pane = self.nav.top();
        let here = pane.map(|pane| pane.place());
        let mut breadcrumbs: Vec<Breadcrumb> = pane.map(|p| p.breadcrumbs(view)).unwrap_or_default();
        let (mut left, mut ends) = breadcrumb_line(&breadcrumbs, here.as_ref());
        let (room, width) = (usize::from(area.width), left.width());
        let (parts, network) = (self.session_parts(view), self.network());
        let mut dropped = 0;
        let mut right = session_line(&parts, dropped, &network);
        while dropped < MOST_DROPPED && right.width() > room / 2 && width + right.width() >= room {
            dropped += 1;
            right = session_line(&parts, dropped, &network);
        }
        // The cursor is on this line in accessible mode: where one is must not be cut.
        if glyph::is_accessible() && width + right.width() >= room {
            right = ClickableLine::default();
        }
        let room = room.saturating_sub(right.width() + 1);
        if shorten_path(&mut breadcrumbs, room) {
            (left, ends) = breadcrumb_line(&breadcrumbs, here.as_ref());
        }
        // A last part of which little more than the first letters would be shown is left out.
        while let Some((spans, _)) = ends.pop().filter(|(_, at)| left.width() > room && at + SHORTEST_PART > room) {
            left.line.spans.truncate(spans);
            left.hits.retain(|(at, ..)| *at < left.line.width());
        }
        let (left_area, right_area) = line::pair(buf, area, theme, &left.line, &right.line);
        left.register(left_area, view.hits);
        right.register(right_area, view.hits);
    }

    /// Returns the state of the session, for the end of the first line.
    fn session_parts(&self, view: &View) -> Vec<SessionPart> {
        let read_only = match view.token() {
            _ if self.session.read_only => Some("read-only"),
            Some(token) if token.reads_no_projects() => Some("token cannot read projects"),
            token => token.and_then(AccessToken::missing_scope).map(|_| "read-only token"),
        };
        let watched = (!self.watched.is_empty()).then(|| format!("watching {}", self.watched.len()));
        let user = view.me().map(|me| text::sanitize(&me.username).into_owned());
        let server = text::sanitize(&self.session.server).into_owned();
        let part = |kept_until, words: Option<String>, role, command| {
            words.map(|words| SessionPart { kept_until, words, role, command })
        };
        let parts = [
            part(MOST_DROPPED, self.waiting_comments(), Role::Warning, Some("drafts")),
            part(MOST_DROPPED, watched, Role::Running, None),
            part(2, self.todo_count(view), Role::Accent, Some("go.todos")),
            part(0, user, Role::User, None),
            part(1, Some(server), Role::Dim, None),
            part(MOST_DROPPED, read_only.map(str::to_owned), Role::Warning, None),
        ];
        parts.into_iter().flatten().collect()
    }

    fn network(&self) -> (String, Role) {
        if self.session.offline {
            return (format!("offline{}", self.known_since()), Role::Warning);
        }
        if self.store.unreachable().is_some() {
            return (format!("{} unreachable{}", glyph::status_glyph("failed").0, self.known_since()), Role::Failed);
        }
        // An indicator that appears and disappears by itself would be read aloud each time.
        if glyph::is_accessible() {
            return (String::new(), Role::Dim);
        }
        if let Some(wait) = self.store.time_to_wait(SERVER, self.clock.now()) {
            let left = text::duration(wait.as_secs_f64());
            return (format!("{} too many requests: wait {left}", glyph::wrong()), Role::Warning);
        }
        let loading = self.requests_in_flight();
        if let Some(since) = self.silent_since().filter(|since| self.clock.now().duration_since(*since) >= SILENT) {
            return (
                format!(
                    "{} no reply since {}",
                    glyph::or_word(glyph::busy(), "waiting for the server"),
                    self.time_of_day(since)
                ),
                Role::Warning,
            );
        }
        if loading > 0 {
            let is_slow =
                self.requests.loading_since.is_some_and(|since| self.clock.now().duration_since(since) >= SLOW);
            let count = if is_slow && loading >= MANY { format!(" {loading} loading") } else { String::new() };
            return (format!("{}{count}", glyph::or_word(glyph::busy(), "waiting for the server")), Role::Running);
        }
        match self.store.last_contact() {
            // The age of the oldest data shown, not the time of the last reply.
            Some(heard) => {
                let shown = &self.requests.shown;
                let at = self.time_of_day(shown.oldest.unwrap_or(heard));
                match shown.is_outdated || shown.has_failed {
                    true => (format!("{} {at}", glyph::or_word(glyph::wrong(), "not refreshed since")), Role::Warning),
                    false => (format!("{} {at}", glyph::or_word(glyph::done(), "as of this time")), Role::Success),
                }
            }
            None => (glyph::dot().into(), Role::Dim),
        }
    }

    /// Formats a time of today as a clock time, and an earlier one with its date. Unlike "12 s ago", this stays true
    /// without being redrawn.
    fn time_of_day(&self, at: jiff::Timestamp) -> String {
        let zone = zone();
        let (local, now) = (at.to_zoned(zone.clone()), self.clock.now().to_zoned(zone));
        let form = if local.date() == now.date() { "%H:%M" } else { "%b %-d %H:%M" };
        local.strftime(form).to_string()
    }

    /// Formats the time of the oldest data shown, for when the server is not reachable.
    fn known_since(&self) -> String {
        let known = |at| format!("{}as of {}", glyph::separator(), self.time_of_day(at));
        self.requests.shown.oldest.map(known).unwrap_or_default()
    }

    /// Draws the tabs, each with a number and a title; returns the number of rows used. If there is not enough room,
    /// the first tabs are left out until the selected one fits, and the last ones that do not.
    fn tabs_line(&self, view: &View, area: Rect, buf: &mut Buffer) -> u16 {
        let Some(pane) = self.nav.top() else { return 0 };
        let tabs = pane.tabs();
        if tabs.titles.is_empty() {
            return 0;
        }
        let words = |(index, title): (usize, &&str)| {
            let count = pane.tab_count(index, view).map(|count| format!("{count} ")).unwrap_or_default();
            (format!(" {} ", index + 1), format!("{title} {count}"))
        };
        let all: Vec<(String, String)> = tabs.titles.iter().enumerate().map(words).collect();
        let through = |first: usize| -> usize {
            let shown = all.get(first..=tabs.selected).unwrap_or_default();
            shown.iter().map(|(number, title)| text::width(number) + text::width(title)).sum()
        };
        let fits = |first: &usize| *first >= tabs.selected || through(*first) <= usize::from(area.width);
        let first = (0..all.len()).find(fits).unwrap_or(0);
        let mut line = ClickableLine::default();
        let last = all.len() - 1;
        for (index, (number, title)) in all.into_iter().enumerate().skip(first) {
            let selected = index == tabs.selected;
            let from = line.width();
            let end = from + text::width(&number) + text::width(title.trim_end());
            if end + usize::from(index < last) > usize::from(area.width) && index > tabs.selected {
                line.push(glyph::ellipsis(), Role::Faint);
                break;
            }
            line.push(number, if selected { Role::Accent } else { Role::Dim });
            line.push(title, if selected { Role::Title } else { Role::Dim });
            line.clickable(from, Hit::Tab(index));
        }
        line.line.draw(buf, area, &self.theme_state.theme);
        line.register(area, view.hits);
        1
    }

    /// Draws the possible continuations of the keys pressed so far, in columns above the last line.
    fn continuations(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let Some(pane) = self.nav.top().filter(|_| !self.input.keys.is_empty()) else { return };
        let theme = view.theme;
        let infos: Vec<_> = {
            let custom = self.custom_commands().map(super::custom::CustomCommand::info);
            pane.commands().iter().copied().chain(custom).chain(global::infos(self.nav.registry)).collect()
        };
        let rows: Vec<(String, &super::command_info::Info)> = self
            .input
            .bindings
            .continuations(pane.id(), &self.input.keys)
            .into_iter()
            .filter_map(|(keys, id)| Some((keys, infos.iter().find(|i| i.id == id)?)))
            .collect();
        let columns = usize::from(area.width / 30).clamp(1, rows.len().max(1));
        let height = (rows.len().div_ceil(columns) as u16).min(area.height);
        let panel = Rect { y: area.bottom() - height, height, ..area };
        popup::clear(buf, panel, theme);
        let width = area.width / columns as u16;
        for (index, (keys, info)) in rows.iter().enumerate() {
            let (column, row) = (index as u16 / height.max(1), index as u16 % height.max(1));
            let at = Rect { x: area.x + column * width, y: panel.y + row, width, height: 1 };
            let at = at.intersection(panel);
            let (key, title) = (Role::Key, Role::Overlay);
            Line::from([(format!(" {keys}"), key), (format!("  {}", info.title), title)]).draw(buf, at, theme);
            view.hits.add(at, Hit::Run(info.id));
        }
    }

    /// Draws the last line, or the rows of a message that does not fit there.
    fn bottom_line(&self, view: &View, message: &[String], area: Rect, buf: &mut Buffer) {
        let theme = view.theme;
        if !message.is_empty() {
            let role = self.messages.current.as_ref().map_or(Role::Text, |message| message.tone.role());
            let area = Rect { y: area.bottom() - message.len() as u16, height: message.len() as u16, ..area };
            popup::clear(buf, area, theme);
            for (words, y) in message.iter().zip(area.y..) {
                Line::new(format!(" {words}"), role).draw(buf, Rect { y, height: 1, ..area }, theme);
            }
            return;
        }
        let (key, dim) = (Role::Key, Role::Dim);
        let saving = self.saving(view, area.width);
        let mut right = ClickableLine { line: saving, ..ClickableLine::default() };
        if self.tour.is_some() {
            let from = right.width();
            right.push(self.input.bindings.names().first("tour").to_owned(), key);
            right.push(" leave tour  ", dim);
            right.clickable(from, Hit::Run("tour"));
        }
        let from = right.width();
        right.push(self.input.bindings.names().first("help").to_owned(), key);
        right.push(" help ", dim);
        right.clickable(from, Hit::Run("help"));
        let mut left = ClickableLine::default();
        left.push(" ", dim);
        let pane = self.nav.top();
        if let Some(message) = &self.messages.current {
            left.push(text::sanitize(&message.words).into_owned(), message.tone.role());
        } else if let pending = self.input.pending()
            && !pending.is_empty()
        {
            left.push(pending, key);
            left.push(" …", dim);
        } else if let Some(words) = self.tour_words(view, usize::from(area.width).saturating_sub(right.width() + 2)) {
            left.push(words, Role::Accent);
        } else if let Some(pane) = pane.filter(|_| self.overlays.is_empty() && !glyph::is_accessible()) {
            // The keys of the place mean nothing while an overlay has the keyboard.
            // A command without a key is only in the palette.
            let hint = |id: &'static str, short: &str| {
                let keys = key_shown(self.input.bindings.names().first(id));
                (!keys.is_empty()).then(|| (id, keys.to_owned(), format!(" {short}  ")))
            };
            let own = pane.commands().iter().copied().filter(|info| !info.short.is_empty());
            let can = own.filter(|info| matches!(pane.can(info.id, view), Some(Ok(()))));
            let mut hints: Vec<_> =
                can.filter_map(|info| hint(info.id, pane.footer_word(info.id, view).unwrap_or(info.short))).collect();
            let seeks = pane.search().map(|(mode, _)| ("seek", mode.word()));
            let general = seeks.into_iter().chain([("actions", "actions")]);
            let general: Vec<_> = general.filter_map(|(id, short)| hint(id, short)).collect();
            let general_len = general.len();
            hints.extend(general);
            // A hint is shown in full or not at all. The last two lead to all others, so those before them are dropped
            // first.
            let room = usize::from(area.width).saturating_sub(right.width() + 1);
            let wide = |hints: &[(&str, String, String)]| -> usize {
                hints.iter().map(|(_, keys, words)| text::width(keys) + text::width(words)).sum()
            };
            // A blank precedes the first hint, and the two blanks after the last one are not needed.
            while hints.len() > general_len && wide(&hints) > room + 1 {
                hints.remove(hints.len() - general_len - 1);
            }
            for (id, keys, words) in &hints {
                let from = left.width();
                left.push(keys.clone(), key);
                left.push(words.trim_end().to_owned(), dim);
                left.clickable(from, Hit::Run(id));
                left.push("  ", dim);
            }
            if !hints.is_empty() {
                left.line.spans.pop();
            }
        }
        let (before, behind) = line::pair(buf, area, theme, &left.line, &right.line);
        left.register(before, view.hits);
        right.register(behind, view.hits);
    }

    /// Returns the rows of a message that does not fit into the last line beside the key of help; it covers the
    /// rows above until the next key. Its end often says what to do.
    fn long_message(&self, width: u16) -> Vec<String> {
        // What an overlay or a failed read says there is not covered.
        let is_covering = !self.overlays.is_empty() || self.frame.has_untold.get();
        let new = self.messages.current.as_ref().filter(|message| !is_covering && !message.is_heard);
        let Some(message) = new else { return Vec::new() };
        let (words, room) = (text::sanitize(&message.words), usize::from(width.saturating_sub(2)));
        match text::width_up_to(&words, room) + HELP_WIDTH > room {
            true => text::wrap(&words, room, MAX_MESSAGE_ROWS),
            false => Vec::new(),
        }
    }

    /// Returns the progress of the running transfer: a bar, bytes, rate and time left, as far as there is room.
    fn saving(&self, view: &View, width: u16) -> Line<'static> {
        let theme = view.theme;
        let running: Vec<_> = self.transfers.running().collect();
        let Some(transfer) = running.last() else { return Line::empty() };
        let mut spans = Line::new(format!("{} ", glyph::or_word(glyph::down(), "saving")), Role::Running);
        if running.len() > 1 {
            spans.push(format!("{}× ", running.len()), Role::Running);
        }
        if let Some(part) = transfer.fraction() {
            let columns = if width >= 120 { 16 } else { 8 };
            let tint = theme.style(Role::Input).patch(theme.style(Role::Chart));
            spans.push(chart::bar(part, columns, "progress"), tint);
            spans.push(format!(" {:.0}% ", (part * 100.0).min(100.0).floor()), Role::Text);
        }
        let facts = transfer.facts(view.local_now);
        // If there is little room, the rate is the most useful part.
        let short = facts.split(glyph::separator()).nth(1).unwrap_or(&facts).to_owned();
        spans.push(format!("{}  ", if width >= 120 { &facts } else { &short }), Role::Dim);
        spans
    }
}

/// Returns the name of a key for display: Enter is drawn as its symbol.
fn key_shown(key: &str) -> &str {
    if key == "Enter" { glyph::enter() } else { key }
}
