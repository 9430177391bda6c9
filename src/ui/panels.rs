//! Panels side by side: layout, focus, zoom, and the draggable dividers between them.

use crate::line::Line;
use crate::theme::{Role, Theme};
use crate::{glyph, line};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::cell::RefCell;

/// Minimum number of columns to show two panels side by side.
pub const TWO_PANELS_WIDTH: u16 = 100;
/// Minimum number of columns to show three panels side by side.
pub const THREE_PANELS_WIDTH: u16 = 150;

/// The width requirements of a panel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PanelRequest {
    /// The minimum useful width in columns. A panel is shown beside others only if all of them have it.
    pub min: u16,
    /// The weight of this panel when the width is divided.
    pub weight: u16,
}

/// A divider between two panels: the index of the panel before it, its column, the range in which it can be dragged,
/// and the total width.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Divider {
    before: usize,
    x: u16,
    from: u16,
    to: u16,
    total_width: u16,
}

/// The panels of a pane.
#[derive(Clone, Debug, Default)]
pub struct Panels {
    count: usize,
    focus: usize,
    zoom: bool,
    /// The share of the width given to each panel by dragging the divider after it, if any.
    shares: Vec<Option<f32>>,
    dragged: Option<usize>,
    dividers: RefCell<Vec<Divider>>,
    area: RefCell<Rect>,
}

impl Panels {
    /// Creates `count` panels and focuses the first.
    pub fn new(count: usize) -> Panels {
        Panels { count, shares: vec![None; count], ..Panels::default() }
    }

    /// Returns the number of panels.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns the index of the focused panel.
    pub fn focus(&self) -> usize {
        self.focus
    }

    /// Focuses a panel.
    pub fn set_focus(&mut self, index: usize) {
        self.focus = index.min(self.count.saturating_sub(1));
    }

    /// Focuses a panel, and returns whether another one had the focus.
    pub fn return_to(&mut self, index: usize) -> bool {
        let before = self.focus;
        self.set_focus(index);
        self.focus != before
    }

    /// Focuses the next panel, wrapping around at the end.
    pub fn next(&mut self) {
        self.focus = (self.focus + 1) % self.count.max(1);
    }

    /// Focuses the previous panel, wrapping around at the start.
    pub fn prev(&mut self) {
        self.focus = (self.focus + self.count.max(1) - 1) % self.count.max(1);
    }

    /// Toggles between showing the focused panel alone and showing all panels.
    pub fn toggle_zoom(&mut self) {
        self.zoom = !self.zoom;
    }

    /// Returns whether the focused panel is shown alone.
    pub fn zoomed(&self) -> bool {
        self.zoom
    }

    /// Returns the area of each panel for drawing, or `None` for panels that are hidden. The focused panel is always
    /// visible. The dividers drawn by [`draw_dividers`](Self::draw_dividers) and dragged with the mouse are those of
    /// the last call.
    pub fn layout(&self, area: Rect, requests: &[PanelRequest]) -> Vec<Option<Rect>> {
        let (areas, dividers) = self.arrange(area, requests);
        *self.dividers.borrow_mut() = dividers;
        *self.area.borrow_mut() = area;
        areas
    }

    /// Returns the requests with the width that the panel `index` needs to show its texts in full: if its share of
    /// `width` columns is narrower, the others give way, to their minimum, so that none appears or goes because of what
    /// a row says. A divider that was dragged stays.
    pub fn giving_way(&self, width: u16, requests: &[PanelRequest], index: usize, needed: u16) -> Vec<PanelRequest> {
        let mut requests = requests.to_vec();
        let share = self.areas(Rect::new(0, 0, width, 1), &requests).get(index).copied().flatten();
        let is_dragged = self.shares.iter().any(Option::is_some);
        if is_dragged || share.is_some_and(|share| share.width >= needed) {
            return requests;
        }
        let others = requests.iter().zip(0..).filter(|(_, other)| *other != index);
        let rest = others.map(|(other, _)| other.min.saturating_add(1)).fold(0, u16::saturating_add);
        if let Some(request) = requests.get_mut(index) {
            request.min = request.min.max(width.saturating_sub(rest));
        }
        requests
    }

    /// Returns the area that each panel would get, for callers that need to know before drawing.
    pub fn areas(&self, area: Rect, requests: &[PanelRequest]) -> Vec<Option<Rect>> {
        self.arrange(area, requests).0
    }

    fn arrange(&self, area: Rect, requests: &[PanelRequest]) -> (Vec<Option<Rect>>, Vec<Divider>) {
        let mut dividers = Vec::new();
        let mut out = vec![None; self.count];
        let fit = match area.width {
            _ if self.zoom || glyph::is_accessible() => 1,
            ..TWO_PANELS_WIDTH => 1,
            TWO_PANELS_WIDTH..THREE_PANELS_WIDTH => 2,
            THREE_PANELS_WIDTH.. => 3,
        };
        let request = |i: usize| requests.get(i).copied().unwrap_or(PanelRequest { min: 20, weight: 1 });
        // The window of visible panels contains the focused one and starts as far left as possible.
        let first = |shown: usize| (self.focus + 1).saturating_sub(shown);
        let least =
            |shown: usize| (first(shown)..first(shown) + shown).map(|i| u32::from(request(i).min) + 1).sum::<u32>();
        let has_room = |shown: &usize| *shown <= 1 || least(*shown) <= u32::from(area.width) + 1;
        let shown = (0..=fit.min(self.count)).rev().find(has_room).unwrap_or(0);
        let first = first(shown);
        let mut rest = area;
        for i in first..first + shown {
            let after: Vec<PanelRequest> = (i + 1..first + shown).map(request).collect();
            if after.is_empty() {
                if let Some(slot) = out.get_mut(i) {
                    *slot = Some(rest);
                }
                break;
            }
            let (mine, gaps) = (request(i), after.len() as u16);
            let weights = u32::from(mine.weight) + after.iter().map(|a| u32::from(a.weight)).sum::<u32>();
            let free = rest.width.saturating_sub(gaps);
            let want = match self.shares.get(i).copied().flatten() {
                Some(share) => (share * f32::from(area.width)).round() as u16,
                None => (u32::from(free) * u32::from(mine.weight) / weights.max(1)) as u16,
            };
            let least_after = after.iter().map(|a| a.min).sum::<u16>().min(free);
            let width = want.max(mine.min).min(free - least_after).max(free.min(1));
            if let Some(slot) = out.get_mut(i) {
                *slot = Some(Rect { width, ..rest });
            }
            let x = rest.x + width;
            let to = rest.right().saturating_sub(least_after + gaps);
            dividers.push(Divider { before: i, x, from: rest.x, to, total_width: area.width });
            rest = Rect { x: x + 1, width: rest.width.saturating_sub(width + 1), ..rest };
        }
        (out, dividers)
    }

    /// Draws the vertical dividers of the last layout.
    pub fn draw_dividers(&self, buf: &mut Buffer, theme: &Theme) {
        let area = self.area.borrow().intersection(buf.area);
        for divider in self.dividers.borrow().iter() {
            let role = if self.dragged == Some(divider.before) { Role::Accent } else { Role::Faint };
            for y in area.y..area.bottom() {
                line::set(buf, divider.x, y, glyph::divider(), 1, theme.style(role));
            }
        }
    }

    /// Starts dragging the divider at column `x`, and returns whether there is one.
    pub fn grab(&mut self, x: u16) -> bool {
        self.dragged = self.dividers.borrow().iter().find(|d| d.x == x).map(|d| d.before);
        self.dragged.is_some()
    }

    /// Moves the dragged divider to column `x`, within the limits of the panels.
    pub fn drag(&mut self, x: u16) {
        let dragged = self.dividers.borrow().iter().find(|d| Some(d.before) == self.dragged).copied();
        let Some(divider) = dragged else { return };
        let x = x.clamp(divider.from.min(divider.to), divider.to);
        if let Some(share) = self.shares.get_mut(divider.before) {
            *share = Some(f32::from(x - divider.from.min(x)) / f32::from(divider.total_width.max(1)));
        }
    }

    /// Stops dragging.
    pub fn release(&mut self) {
        self.dragged = None;
    }

    /// Returns whether a divider is being dragged.
    pub fn dragging(&self) -> bool {
        self.dragged.is_some()
    }
}

/// Draws the title line of a panel on the first row of `area`: the title on a rule, dimmed facts at its right end.
/// Returns the remaining area for the content.
pub fn title(buf: &mut Buffer, area: Rect, theme: &Theme, focused: bool, left: &str, right: &str) -> Rect {
    let line = Rect { height: area.height.min(1), ..area }.intersection(buf.area);
    let content = Rect { y: area.y.saturating_add(line.height), height: area.height.saturating_sub(1), ..area };
    if line.is_empty() {
        return content;
    }
    let rule = theme.style(Role::Faint);
    for x in line.x..line.right() {
        line::set(buf, x, line.y, glyph::rule(), 1, rule);
    }
    let style = theme.style(if focused { Role::Title } else { Role::TitleDim });
    let room = usize::from(line.width);
    let facts = format!(" {right} ");
    let wide = crate::text::width(&facts);
    // The title has priority: facts that would leave it less than a third of the width are dropped.
    let keep = !right.is_empty() && wide + room / 3 <= room && wide + 4 <= room;
    // A path ends with what matters, and a sentence begins with it.
    let fit = if left.contains(' ') { crate::text::fit } else { crate::text::fit_middle };
    let title = fit(left, room.saturating_sub(if keep { wide + 3 } else { 2 }));
    if !title.is_empty() {
        let name = Line::new(" ", rule).and(title.as_str(), style).and(" ", rule);
        name.draw(buf, line, theme);
    }
    if keep {
        let place = Rect { x: line.right() - wide as u16, width: wide as u16, ..line };
        Line::new(facts.as_str(), Role::Dim).draw(buf, place, theme);
    }
    content
}

#[cfg(test)]
mod tests {
    use super::*;

    const REQUESTS: &[PanelRequest] = &[
        PanelRequest { min: 20, weight: 1 },
        PanelRequest { min: 40, weight: 3 },
        PanelRequest { min: 30, weight: 1 },
    ];

    fn widths(panels: &Panels, width: u16) -> Vec<Option<u16>> {
        panels.layout(Rect::new(0, 1, width, 20), REQUESTS).into_iter().map(|r| r.map(|r| r.width)).collect()
    }

    #[test]
    fn the_width_determines_the_number_of_columns() {
        let mut panels = Panels::new(3);
        assert_eq!(widths(&panels, 99), [Some(99), None, None]);
        assert_eq!(widths(&panels, 101), [Some(25), Some(75), None]);
        assert_eq!(widths(&panels, 152), [Some(30), Some(90), Some(30)]);
        panels.prev();
        assert_eq!(panels.focus(), 2);
        assert_eq!(widths(&panels, 99), [None, None, Some(99)]);
        assert_eq!(widths(&panels, 101), [None, Some(70), Some(30)]);
        panels.toggle_zoom();
        assert_eq!(widths(&panels, 200), [None, None, Some(200)]);
        panels.next();
        assert_eq!(panels.focus(), 0);
    }

    #[test]
    fn a_divider_respects_the_minimum_sizes() {
        let mut panels = Panels::new(2);
        widths(&panels, 120);
        assert!(!panels.grab(7) && panels.grab(29));
        panels.drag(60);
        assert_eq!(widths(&panels, 120), [Some(60), Some(59), None].get(..2).unwrap());
        panels.drag(119);
        assert_eq!(widths(&panels, 120), [Some(79), Some(40)]);
        panels.drag(0);
        assert_eq!(widths(&panels, 120), [Some(20), Some(99)]);
        panels.release();
        panels.drag(60);
        assert_eq!(widths(&panels, 120), [Some(20), Some(99)]);
    }

    #[test]
    fn titles_are_shown_on_the_rule() {
        let row = |width: u16, left: &str, right: &str| -> String {
            let area = Rect::new(0, 0, width, 2);
            let mut buf = Buffer::empty(area);
            let content = title(&mut buf, area, &Theme::plain(), true, left, right);
            assert_eq!(content, Rect::new(0, 1, width, 1));
            (0..width).map(|x| buf[(x, 0)].symbol()).collect()
        };
        assert_eq!(row(20, "Files", "412 lines"), " Files ── 412 lines ");
        let cut = row(20, "src/render/frame.rs", "412 lines");
        assert!(cut.contains('…') && cut.ends_with(" ─ 412 lines "), "{cut:?}");
        assert_eq!(row(8, "Files", "412 lines"), " Files ─");
        // The number of an item is at the beginning of its title.
        assert_eq!(row(20, "!42 Draw only visible rows", ""), " !42 Draw only vis… ");
        for width in 0..9 {
            row(width, "世界世界", "世");
        }
    }

    #[test]
    fn tiny_areas_do_not_panic() {
        for count in 0..4 {
            let mut panels = Panels::new(count);
            for width in [0, 1, 20, 100, 101, 150, u16::MAX] {
                panels.next();
                let rects = panels.layout(Rect::new(0, 0, width, 5), REQUESTS);
                assert!(count == 0 || rects.get(panels.focus()).is_some_and(Option::is_some));
                panels.draw_dividers(&mut Buffer::empty(Rect::new(0, 0, 30, 5)), &Theme::plain());
                panels.grab(20);
                panels.drag(u16::MAX);
            }
        }
    }
}
