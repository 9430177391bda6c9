//! The commit graph of a history, laid out in lanes page by page and drawn row by row.
//!
//! A lane is a column that waits for a commit. A commit takes the leftmost lane that waits for it, and the other lanes
//! that wait for it join it there. Its first parent continues in the same lane; each further parent is connected in the
//! lane that already waits for it, or gets a free lane. Lanes never move sideways: a line of history is straight.

use crate::glyph;
use crate::line::Line;
use crate::theme::Role;
use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The number of lanes that a row stores. To the right of them, a row only stores whether there are any.
pub const STORED_LANES: usize = 32;
/// The maximum number of lanes. In a history with more, the rest is cut, and later commits start new lanes.
const MAX_LANES: usize = 1024;
/// The number of recent commits remembered. With wrong clocks a parent can come before its child; no lane waits for it
/// then.
const REMEMBERED_COMMITS: usize = 256;

const COLORS: [Role; 6] = [Role::Lane1, Role::Lane2, Role::Lane3, Role::Lane4, Role::Lane5, Role::Lane6];

/// A column of the graph.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Lane {
    /// The commit that the lane waits for, or `None` if the lane is free.
    waits_for: Option<u64>,
    /// The number of the line, which determines its color.
    line: u8,
}

/// The lanes at the end of a page, from which the next page continues.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lanes {
    lanes: Vec<Lane>,
    seen: VecDeque<u64>,
    lines_started: u8,
}

/// A row of the graph: the lane of its commit, and the lanes that enter from above, continue below, and connect to it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GraphRow {
    /// The lane of the commit, or [`STORED_LANES`] if it is beyond the stored lanes.
    lane: u8,
    merge: bool,
    /// The lanes with a line from above, as a bit set.
    above: u32,
    /// The lanes with a line that continues below, as a bit set.
    below: u32,
    /// The lanes that connect to the commit in this row, as a bit set.
    meets: u32,
    /// Whether a line passes beyond the stored lanes.
    beyond: bool,
    /// Whether a line from beyond the stored lanes connects to the commit.
    meets_beyond: bool,
    /// The colors of the lanes, two per byte.
    colors: [u8; STORED_LANES / 2],
}

/// The rows of a page of commits, and the lanes at its end.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GraphPage {
    rows: Vec<GraphRow>,
    /// The lanes from which the next page continues.
    pub end: Lanes,
}

impl GraphPage {
    /// Returns the row of the commit at `index` of the page.
    pub fn row(&self, index: usize) -> Option<&GraphRow> {
        self.rows.get(index)
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns whether the page is empty.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

/// Lays out a page of commits, each with its parents, continuing the lanes in `start`. Stops early if `canceled`.
pub fn lay_out<'a>(
    start: &Lanes,
    commits: impl Iterator<Item = (&'a str, &'a [String])>,
    canceled: &dyn Fn() -> bool,
) -> GraphPage {
    let mut lanes = start.clone();
    let mut rows = Vec::with_capacity(commits.size_hint().0);
    for (id, parents) in commits {
        if canceled() {
            break;
        }
        rows.push(lanes.push(id, parents));
    }
    GraphPage { rows, end: lanes }
}

fn hash_id(id: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    hasher.finish()
}

fn bit(lane: usize) -> u32 {
    1u32.checked_shl(lane as u32).unwrap_or(0)
}

impl Lanes {
    /// Adds the next commit.
    fn push(&mut self, id: &str, parents: &[String]) -> GraphRow {
        let id = hash_id(id);
        let waits_for = |lane: &Lane| lane.waits_for == Some(id);
        let found = self.lanes.iter().position(waits_for);
        let mut row = GraphRow { merge: parents.len() > 1, ..GraphRow::default() };
        for (index, lane) in self.lanes.iter().enumerate().filter(|(_, lane)| lane.waits_for.is_some()) {
            row.above |= bit(index);
            row.beyond |= index >= STORED_LANES;
            if waits_for(lane) && Some(index) != found {
                row.meet(index);
            }
        }
        let Some(own) = found.or_else(|| self.allocate(id, 0)) else {
            // No lane is left: the commit is drawn beyond the lanes, without lines.
            self.remember(id);
            return GraphRow { lane: STORED_LANES as u8, beyond: true, ..row };
        };
        row.lane = own.min(STORED_LANES) as u8;
        let mut parents = parents.iter().map(|parent| hash_id(parent)).filter(|parent| !self.seen.contains(parent));
        let first = parents.next();
        let others: Vec<u64> = parents.filter(|parent| Some(*parent) != first).collect();
        for parent in others {
            let met = self.lanes.iter().enumerate().position(|(i, lane)| i != own && lane.waits_for == Some(parent));
            if let Some(index) = met.or_else(|| self.allocate(parent, own + 1)) {
                row.meet(index);
            }
        }
        row.colors = self.colors();
        // Lanes that end in this row are freed only now, so that no other line starts in the same row.
        for (index, lane) in self.lanes.iter_mut().enumerate() {
            if index == own {
                lane.waits_for = first;
            } else if lane.waits_for == Some(id) {
                lane.waits_for = None;
            }
        }
        while self.lanes.last().is_some_and(|lane| lane.waits_for.is_none()) {
            self.lanes.pop();
        }
        for (index, _) in self.lanes.iter().enumerate().filter(|(_, lane)| lane.waits_for.is_some()) {
            row.below |= bit(index);
            row.beyond |= index >= STORED_LANES;
        }
        self.remember(id);
        row
    }

    /// Allocates a free lane for `id`, if possible at `from` or to the right of it. Returns `None` if too many are in
    /// use.
    fn allocate(&mut self, id: u64, from: usize) -> Option<usize> {
        let free = |(index, lane): (usize, &Lane)| lane.waits_for.is_none().then_some(index);
        let right = self.lanes.iter().enumerate().skip(from).find_map(free);
        let index = right.unwrap_or(self.lanes.len());
        let lane = Lane { waits_for: Some(id), line: self.lines_started };
        match self.lanes.get_mut(index) {
            Some(place) => *place = lane,
            None if index < MAX_LANES => self.lanes.push(lane),
            None => return None,
        }
        self.lines_started = (self.lines_started + 1) % COLORS.len() as u8;
        Some(index)
    }

    fn remember(&mut self, id: u64) {
        if self.seen.len() == REMEMBERED_COMMITS {
            self.seen.pop_front();
        }
        self.seen.push_back(id);
    }

    fn colors(&self) -> [u8; STORED_LANES / 2] {
        let mut packed = [0; STORED_LANES / 2];
        for (pair, lanes) in packed.iter_mut().zip(self.lanes.chunks(2)) {
            *pair = lanes.iter().enumerate().fold(0, |pair, (side, lane)| pair | lane.line << (4 * side));
        }
        packed
    }
}

impl GraphRow {
    fn meet(&mut self, lane: usize) {
        self.meets |= bit(lane);
        self.meets_beyond |= lane >= STORED_LANES;
    }

    fn color(&self, lane: usize) -> Role {
        let pair = self.colors.get(lane / 2).copied().unwrap_or_default();
        let line = if lane.is_multiple_of(2) { pair & 15 } else { pair >> 4 };
        COLORS.get(usize::from(line)).copied().unwrap_or(Role::Dim)
    }

    /// Draws the row in at most `limit` lanes of two columns each, plus one column with `…` if there are more.
    pub fn draw(&self, limit: usize) -> Line<'static> {
        let limit = limit.min(STORED_LANES);
        let all = self.above | self.below | self.meets;
        // Everything at or beyond the limit is combined in one column.
        let fold = |lanes: u32, beyond: bool| {
            let more = beyond || lanes.checked_shr(limit as u32).unwrap_or(0) != 0;
            (lanes & !(u32::MAX.checked_shl(limit as u32).unwrap_or(0)), more)
        };
        let node = usize::from(self.lane).min(limit);
        let (shown, more) = fold(all, self.beyond || self.meets_beyond);
        let more = more || usize::from(self.lane) > limit;
        let (meets, meets_more) = fold(self.meets, self.meets_beyond);
        let met = |lane: usize| if lane == limit { meets_more } else { meets & bit(lane) != 0 };
        let last = if more { limit } else { node.max((u32::BITS - shown.leading_zeros()).saturating_sub(1) as usize) };
        let leftmost = (0..node).find(|lane| met(*lane)).unwrap_or(node);
        let rightmost = (node..=last).rev().find(|lane| met(*lane)).unwrap_or(node);

        let mut line = Line::empty();
        if glyph::is_accessible() {
            return line;
        }
        for lane in 0..=last {
            // A horizontal line has the color of the lane that it connects to the commit.
            let along = match lane {
                _ if lane < leftmost || lane > rightmost => None,
                _ if lane < node => (leftmost..=lane).rev().find(|l| met(*l)),
                _ => (lane.max(node + 1)..=rightmost).find(|l| met(*l)),
            };
            let (left, right) = (lane > leftmost, lane < rightmost);
            let (above, below) = (self.above & bit(lane) != 0, self.below & bit(lane) != 0);
            let (symbol, role) = if lane == node {
                (if self.merge { glyph::merge() } else { glyph::commit() }, self.color(usize::from(self.lane)))
            } else if lane == limit {
                (glyph::ellipsis(), Role::Dim)
            } else if met(lane) {
                (corner(above, below, left, right), self.color(lane))
            } else if above && below {
                (glyph::divider(), self.color(lane))
            } else {
                match along {
                    Some(from) => (glyph::rule(), self.color(from)),
                    None => (" ", Role::Dim),
                }
            };
            line.push_joined(symbol, role);
            if lane < last {
                let from = if lane < node {
                    (leftmost..=lane).rev().find(|l| met(*l))
                } else {
                    (lane + 1..=rightmost).find(|l| met(*l))
                };
                match from {
                    Some(from) => line.push_joined(glyph::rule(), self.color(from)),
                    None => line.push_joined(" ", Role::Dim),
                }
            }
        }
        line
    }
}

/// Returns the symbol where a lane meets the horizontal line of a row.
fn corner(above: bool, below: bool, left: bool, right: bool) -> &'static str {
    let (line, ascii) = match (above, below, left, right) {
        (true, true, true, false) => ("┤", "+"),
        (true, true, false, true) => ("├", "+"),
        (true, true, ..) => ("┼", "+"),
        (true, false, true, false) => ("╯", "'"),
        (true, false, false, true) => ("╰", "`"),
        (true, false, ..) => ("┴", "+"),
        (false, true, true, false) => ("╮", "."),
        (false, true, false, true) => ("╭", "."),
        (false, true, ..) => ("┬", "+"),
        (false, false, ..) => ("─", "-"),
    };
    if glyph::is_ascii() { ascii } else { line }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Draws the rows of a history given as `child parent parent`.
    fn drawn(limit: usize, history: &[&str]) -> Vec<String> {
        lines(limit, &Lanes::default(), history).0
    }

    fn lines(limit: usize, start: &Lanes, history: &[&str]) -> (Vec<String>, Lanes) {
        let commits: Vec<(String, Vec<String>)> = history
            .iter()
            .map(|line| {
                let mut words = line.split(' ').map(str::to_owned);
                (words.next().unwrap_or_default(), words.collect())
            })
            .collect();
        let page = lay_out(start, commits.iter().map(|(id, parents)| (id.as_str(), parents.as_slice())), &|| false);
        let text = |row: &GraphRow| row.draw(limit).spans.into_iter().map(|span| span.text).collect::<String>();
        (page.rows.iter().map(text).collect(), page.end)
    }

    #[test]
    fn linear_history_has_one_lane() {
        assert_eq!(drawn(8, &["c b", "b a", "a"]), ["●", "●", "●"]);
    }

    #[test]
    fn a_merge_opens_a_lane_that_joins_at_its_base() {
        let history = ["m b x", "x w", "b a", "w a", "a"];
        assert_eq!(drawn(8, &history), ["◎─╮", "│ ●", "● │", "│ ●", "●─╯"]);
    }

    #[test]
    fn lines_cross_lanes_and_free_lanes_are_reused() {
        // Two tips next to the main line; the second merge connects to the lane of the other one.
        let history = ["a c", "b d", "m c d", "c e", "d e", "e"];
        assert_eq!(drawn(8, &history), ["●", "│ ●", "│ ├─◎", "●─│─╯", "│ ●", "●─╯"]);
        // The lane that ended is reused next.
        let history = ["m b x", "x b", "b n", "n a y", "y a", "a"];
        assert_eq!(drawn(8, &history), ["◎─╮", "│ ●", "●─╯", "◎─╮", "│ ●", "●─╯"]);
    }

    #[test]
    fn an_octopus_merge_shows_all_parents() {
        assert_eq!(drawn(8, &["m a b c d", "d z", "c z", "b z", "a z", "z"])[0], "◎─┬─┬─╮");
        assert_eq!(drawn(8, &["m a b c d", "d z", "c z", "b z", "a z", "z"])[5], "●─┴─┴─╯");
    }

    #[test]
    fn pages_continue_the_graph() {
        let history = ["m b x", "x w", "b a", "w a", "a"];
        for cut in 0..=history.len() {
            let (mut first, end) = lines(8, &Lanes::default(), &history[..cut]);
            first.extend(lines(8, &end, &history[cut..]).0);
            assert_eq!(first, drawn(8, &history), "cut at {cut}");
        }
    }

    #[test]
    fn beyond_the_lane_limit_the_commit_is_shown_with_a_mark() {
        let tips: Vec<String> = (0..40).map(|i| format!("t{i} root")).chain(["root".into()]).collect();
        let tips: Vec<&str> = tips.iter().map(String::as_str).collect();
        let rows = drawn(3, &tips);
        assert_eq!(rows[0..5], ["●", "│ ●", "│ │ ●", "│ │ │ ●", "│ │ │ ●"]);
        assert_eq!(rows[40], "●─┴─┴─…");
        assert!(drawn(STORED_LANES, &tips).iter().all(|row| row.chars().count() <= STORED_LANES * 2 + 1));
        for limit in 0..5 {
            assert!(drawn(limit, &tips).iter().all(|row| row.chars().count() <= limit * 2 + 1), "{limit}");
        }
    }

    #[test]
    fn a_parent_before_its_child_leaves_no_open_lane() {
        assert_eq!(drawn(8, &["c a", "a", "late a", "z"]), ["●", "●", "●", "●"]);
    }

    #[test]
    fn hostile_parents_are_bounded_by_the_lane_limit() {
        let many: Vec<String> = (0..3000).map(|i| format!("p{i}")).collect();
        let same = vec!["p".to_owned(); 500];
        let commits = [("a", many.as_slice()), ("b", &same), ("a", &many), ("a", &["a".to_owned()])];
        let page = lay_out(&Lanes::default(), commits.into_iter(), &|| false);
        assert!(page.end.lanes.len() <= MAX_LANES);
        assert!(page.rows.iter().all(|row| !row.draw(8).is_empty()));
    }
}
