//! The number of commits a ref is ahead of and behind another: the length of the logs of both ranges, up to a page.

use crate::api::commits::{Commit, ListCommits};
use crate::api::endpoint::Request;
use crate::api::{Endpoint, Error, Id};
use crate::app::view::View;
use crate::parts::list::{at_least, request_limit};
use crate::store::{Load, Rows, Want};
use crate::ui::line::Line;
use crate::ui::theme::Role;
use crate::ui::{chart, glyph};

/// The width of each side of the bar, in columns.
const SIDE_WIDTH: usize = 3;

/// The number of commits on a page; the commits are not kept.
struct CommitCount(usize);

impl From<Vec<Commit>> for CommitCount {
    fn from(commits: Vec<Commit>) -> CommitCount {
        CommitCount(commits.len())
    }
}

/// Returns the log of the commits that are in `to` but not in `from`.
fn query(project: &Id, from: &str, to: &str) -> ListCommits {
    ListCommits { id: project.clone(), ref_name: Some(format!("{from}..{to}")), ..ListCommits::default() }
}

fn load(project: &Id, from: &str, to: &str) -> Load {
    Load::compact::<CommitCount, _, _>(&query(project, from, to), 1, usize::MAX, |_| size_of::<CommitCount>())
        .optional()
}

fn request(project: &Id, from: &str, to: &str) -> Request {
    query(project, from, to).request().read_as::<Vec<CommitCount>>()
}

/// Returns the number of commits that are in `to` but not in `from`, and whether there are more, if known.
pub fn ahead(view: &View, project: &Id, from: &str, to: &str) -> Option<(usize, bool)> {
    if from == to {
        return Some((0, false));
    }
    let pages: Rows<'_, CommitCount> = view.store.rows_of(&request(project, from, to));
    pages.is_loaded.then(|| (pages.iter().map(|page| page.0).sum(), pages.has_more))
}

/// Returns the requests that are missing to know `counted`. Results are cached by commit and never requested again.
pub fn wants<'a>(view: &View, counted: impl Iterator<Item = Divergence<'a>>) -> Vec<Want> {
    let ways = counted.flat_map(|at| {
        let ahead = (!at.is_merged).then_some((at.project, at.base, at.tip));
        [Some((at.project, at.tip, at.base)), ahead].into_iter().flatten()
    });
    let unknown = ways.filter(|(project, from, to)| ahead(view, project, from, to).is_none());
    request_limit::wants(unknown.map(|(project, from, to)| load(project, from, to)))
}

/// Returns the request for the number of commits that are in `to` but not in `from`, unless it is known or
/// the server does not have it.
pub fn want(view: &View, project: &Id, from: &str, to: &str) -> Option<Want> {
    let is_missing = view.store.error_of(&request(project, from, to)).is_some_and(Error::is_missing);
    (!is_missing && ahead(view, project, from, to).is_none()).then(|| load(project, from, to).into())
}

/// A commit that is compared to another one, for two cells: how far it is behind, with a bar to the left, and how far it
/// is ahead, with a bar to the right.
pub struct Divergence<'a> {
    pub project: &'a Id,
    pub base: &'a str,
    pub tip: &'a str,
    /// Whether all commits of the tip are in the base.
    pub is_merged: bool,
}

impl Divergence<'_> {
    /// Returns the cell of the commits that are only in the base, for a column aligned to the right.
    pub fn behind(&self, view: &View) -> Line<'static> {
        let bar = |count| chart::sides(count, 0, SIDE_WIDTH, "commits behind: half a column more for 1, 2, 4, 8…").0;
        self.cell(view, (self.tip, self.base), "behind", &|number, count| {
            Line::new(format!("{number} "), Role::Dim).and(bar(count), Role::Chart)
        })
    }

    /// Returns the cell of the commits that are only in the tip.
    pub fn ahead(&self, view: &View) -> Line<'static> {
        let bar = |count| chart::sides(0, count, SIDE_WIDTH, "commits ahead: half a column more for 1, 2, 4, 8…").1;
        if self.is_merged {
            return Line::empty();
        }
        self.cell(view, (self.base, self.tip), "ahead", &|number, count| {
            Line::new(bar(count), Role::ChartStrong).and(format!(" {number}"), Role::Dim)
        })
    }

    fn cell(
        &self,
        view: &View,
        (from, to): (&str, &str),
        word: &str,
        draw: &dyn Fn(String, usize) -> Line<'static>,
    ) -> Line<'static> {
        let Some((count, has_more)) = ahead(view, self.project, from, to) else {
            let failed = view.store.error_of(&request(self.project, from, to)).is_some();
            return Line::new(if failed { "?" } else { glyph::skeleton() }, Role::Faint);
        };
        if count == 0 && !has_more {
            return Line::empty();
        }
        let number = at_least(count, has_more);
        match glyph::is_accessible() {
            true => Line::new(format!("{number} {word}"), Role::Dim),
            false => draw(number, count),
        }
    }
}
