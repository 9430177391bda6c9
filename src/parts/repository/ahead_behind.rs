//! The number of commits a ref is ahead of and behind another, from comparing the two in both directions on the server.

use crate::api::endpoint::Request;
use crate::api::repository::{CompareRefs, Comparison};
use crate::api::{Endpoint, Error, Id, Reply};
use crate::app::view::View;
use crate::parts::list::request_limit;
use crate::store::{Load, Value, Want};
use crate::ui::line::Line;
use crate::ui::theme::Role;
use crate::ui::{chart, glyph, text};
use std::sync::Arc;

/// The width of each side of the bar, in columns.
const SIDE_WIDTH: usize = 3;

/// The result of a comparison; its commits and diffs are not kept.
struct CommitCount {
    commits: usize,
    /// Whether the server timed out before the end.
    cut: bool,
}

/// Returns the request for the commits that are in `to` but not in `from`.
fn request(project: &Id, from: &str, to: &str) -> Request {
    query(project, from, to).request().read_as::<CommitCount>()
}

fn query(project: &Id, from: &str, to: &str) -> CompareRefs {
    CompareRefs { id: project.clone(), from: from.to_owned(), to: to.to_owned(), straight: None }
}

fn load(project: &Id, from: &str, to: &str) -> Load {
    Load {
        request: request(project, from, to),
        read: |body, kind| {
            Comparison::read(body, kind).map(|c| {
                let counted = CommitCount { commits: c.commits.len(), cut: c.compare_timeout };
                (Arc::new(counted) as Value, 1)
            })
        },
        ..Load::single(&query(project, from, to))
    }
}

/// Returns the number of commits that are in `to` but not in `from`, and whether there are more, if known.
pub fn ahead(view: &View, project: &Id, from: &str, to: &str) -> Option<(usize, bool)> {
    if from == to {
        return Some((0, false));
    }
    let counted: &CommitCount = view.store.read_as(&request(project, from, to))?;
    Some((counted.commits, counted.cut))
}

/// Returns the requests that are missing to know how far each of `tips` is ahead of and behind `base`. Results are
/// cached by commit and never requested again.
pub fn wants<'a>(view: &View, project: &Id, base: &str, tips: impl Iterator<Item = &'a str>) -> Vec<Want> {
    let ways = tips.flat_map(|tip| [(base, tip), (tip, base)]);
    let unknown = ways.filter(|(from, to)| ahead(view, project, from, to).is_none());
    request_limit::wants(view.store, unknown.map(|(from, to)| load(project, from, to)))
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
        let Some((count, cut)) = ahead(view, self.project, from, to) else {
            let failed = view.store.error_of(&request(self.project, from, to)).is_some();
            return Line::new(if failed { "?" } else { glyph::skeleton() }, Role::Faint);
        };
        let number = match (count, cut) {
            (0, false) => return Line::empty(),
            (1000.., _) => "999+".to_owned(),
            (_, true) => format!("{count}+"),
            _ => text::count(count as u64),
        };
        match glyph::is_accessible() {
            true => Line::new(format!("{number} {word}"), Role::Dim),
            false => draw(number, count),
        }
    }
}
