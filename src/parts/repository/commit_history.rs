//! The graph and the activity chart of a list of commits, computed off the event loop, page by page as they arrive.

use crate::api::commits::Commit;
use crate::app::view::View;
use crate::store::{Canceled, Derive, Revision, Rows, Want, Work};
use crate::ui::graph::{self, GraphPage, GraphRow, Lanes};
use crate::ui::line::Line;
use crate::ui::{chart, text};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// A page of the list with its part of the graph.
struct Page {
    commits: Arc<Vec<Commit>>,
    /// A hash that identifies this page and all before it.
    chain: u64,
    /// The index of its first commit in the whole list.
    start: usize,
    layout: Option<Arc<PageLayout>>,
}

/// The layout computed for one page.
struct PageLayout {
    graph: GraphPage,
    /// The number of commits per week, counted from 1970.
    weeks: BTreeMap<i64, u32>,
}

/// The graph and the activity of a list, as far as they are computed.
#[derive(Default)]
pub struct History {
    parts: Vec<Page>,
    weeks: BTreeMap<i64, u32>,
    /// The revision of the list that was processed last.
    revision: Option<Revision>,
}

/// A computation that lays out pages of commits.
struct LayOutGraph {
    key: String,
    after: Option<Arc<PageLayout>>,
    pages: Vec<Arc<Vec<Commit>>>,
}

impl Derive for LayOutGraph {
    type Output = Vec<Arc<PageLayout>>;

    fn key(&self) -> String {
        self.key.clone()
    }

    fn run(&self, canceled: Canceled<'_>) -> Vec<Arc<PageLayout>> {
        let mut layout: Vec<Arc<PageLayout>> = Vec::with_capacity(self.pages.len());
        let beginning = Lanes::default();
        for commits in &self.pages {
            let start = layout.last().or(self.after.as_ref()).map_or(&beginning, |page| &page.graph.end);
            let lines = commits.iter().map(|c| (c.id.as_str(), c.parent_ids.as_slice()));
            layout.push(Arc::new(PageLayout { graph: graph::lay_out(start, lines, canceled), weeks: weeks(commits) }));
        }
        layout
    }
}

const WEEK: i64 = 7 * 24 * 60 * 60;

fn weeks(commits: &[Commit]) -> BTreeMap<i64, u32> {
    let mut weeks = BTreeMap::new();
    for when in commits.iter().filter_map(|commit| commit.date()?.instant()) {
        *weeks.entry(when.as_second().div_euclid(WEEK)).or_default() += 1;
    }
    weeks
}

/// Returns a hash of the commits and of the pages before them.
fn chain(before: u64, commits: &[Commit]) -> u64 {
    let mut hasher = DefaultHasher::new();
    before.hash(&mut hasher);
    for commit in commits {
        commit.id.hash(&mut hasher);
        commit.parent_ids.hash(&mut hasher);
    }
    hasher.finish()
}

impl History {
    /// Processes the pages of the list and finished layouts after a store update. The layouts of unchanged pages are
    /// kept. This is cheap unless a reply came: then it looks at each page and its commits.
    pub fn sync(&mut self, view: &View, rows: &Rows<'_, Commit>) {
        if self.revision.replace(rows.revision) != Some(rows.revision) {
            self.take((0..rows.pages() as usize).map_while(|index| rows.page(index)));
        }
        self.take_layout(view);
    }

    /// Like [`History::sync`], for a list without pages.
    pub fn sync_page(&mut self, view: &View, commits: &Arc<Vec<Commit>>) {
        self.take(std::iter::once(commits.clone()));
        self.take_layout(view);
    }

    fn take(&mut self, pages: impl Iterator<Item = Arc<Vec<Commit>>>) {
        let mut known = 0;
        for (index, commits) in pages.enumerate() {
            known = index + 1;
            if self.parts.get(index).is_some_and(|part| Arc::ptr_eq(&part.commits, &commits)) {
                continue;
            }
            let before = index.checked_sub(1).and_then(|i| self.parts.get(i));
            let start = before.map_or(0, |part| part.start + part.commits.len());
            let chain = chain(before.map_or(0, |part| part.chain), &commits);
            match self.parts.get_mut(index) {
                Some(part) if part.chain == chain => part.commits = commits,
                _ => {
                    self.parts.truncate(index);
                    self.parts.push(Page { commits, chain, start, layout: None });
                }
            }
        }
        self.parts.truncate(known);
    }

    fn take_layout(&mut self, view: &View) {
        let Some(from) = self.parts.iter().position(|part| part.layout.is_none()) else { return };
        let Some(layout) = self.key(from).and_then(|key| view.store.result::<Vec<Arc<PageLayout>>>(&key)) else {
            return;
        };
        for (part, page) in self.parts.iter_mut().skip(from).zip(layout) {
            part.layout = Some(page.clone());
        }
        self.weeks.clear();
        for (week, count) in self.parts.iter().filter_map(|part| part.layout.as_ref()).flat_map(|layout| &layout.weeks)
        {
            *self.weeks.entry(*week).or_default() += count;
        }
    }

    /// Returns the key of the layout from the part `from` to the end.
    fn key(&self, from: usize) -> Option<String> {
        self.parts.last().map(|last| format!("history {:x} from page {from}", last.chain))
    }

    /// Returns the computation that lays out the remaining pages.
    pub fn wants(&self) -> Option<Want> {
        let from = self.parts.iter().position(|part| part.layout.is_none())?;
        let after = from.checked_sub(1).and_then(|i| self.parts.get(i)).and_then(|part| part.layout.clone());
        let pages = self.parts.iter().skip(from).map(|part| part.commits.clone()).collect();
        Some(Work::new(LayOutGraph { key: self.key(from)?, after, pages }).into())
    }

    fn row(&self, index: usize) -> Option<&GraphRow> {
        let part = self.parts.partition_point(|part| part.start <= index).checked_sub(1)?;
        let part = self.parts.get(part)?;
        part.layout.as_ref()?.graph.row(index - part.start)
    }

    /// Returns a chart of the commits per week in at most `width` columns, and the time since its start: at most a
    /// year, or less if the known commits span less.
    pub fn activity(&self, view: &View, width: usize) -> Option<(String, String)> {
        let (first, last) = (*self.weeks.keys().next()?, *self.weeks.keys().next_back()?);
        let now = view.now.as_second().div_euclid(WEEK);
        let end = if now.saturating_sub(last) > 52 { last } else { now.max(last) };
        let start = first.max(end.saturating_sub(51));
        let counts: Vec<f64> = (start..=end).map(|week| self.weeks.get(&week).copied().unwrap_or(0).into()).collect();
        let back = view.now.as_second().saturating_sub(start.saturating_mul(WEEK));
        Some((chart::sparkline(&counts, width, "commits per week, this week on the right"), text::short_age(back)))
    }

    /// Returns the graph cell of the commit at `index` of the list, with at most `limit` lanes.
    pub fn cell(&self, index: usize, limit: usize) -> Line<'static> {
        self.row(index).map(|row| row.draw(limit)).unwrap_or_default()
    }
}
