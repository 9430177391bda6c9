//! The number of commits a ref is ahead of and behind another, from comparing the two in both directions on the server.

use crate::api::endpoint::Request;
use crate::api::repository::{CompareRefs, Comparison};
use crate::api::{Endpoint, Error, Id, Reply};
use crate::app::view::View;
use crate::parts::request_limit;
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

/// Returns the cell of a commit compared to `base`: `3 ▐│█▌ 12`, behind on the left, ahead on the right.
pub fn cell(view: &View, project: &Id, base: &str, tip: &str) -> Line<'static> {
    let number_of = |(count, cut): (usize, bool)| match (count, cut) {
        (1000.., _) => "999+".to_owned(),
        (_, true) => format!("{count}+"),
        _ => text::count(count as u64),
    };
    let number = |found: (usize, bool)| if found == (0, false) { String::new() } else { number_of(found) };
    match (ahead(view, project, tip, base), ahead(view, project, base, tip)) {
        (Some(behind), Some(ahead)) => {
            if glyph::is_accessible() {
                let words = format!("{} behind, {} ahead", number_of(behind), number_of(ahead));
                return Line::new(words, Role::Dim);
            }
            let (left, right) = chart::sides(behind.0, ahead.0, SIDE_WIDTH);
            Line::new(format!("{:>4} ", number(behind)), Role::Dim)
                .and(left, Role::Chart)
                .and(glyph::divider(), Role::Faint)
                .and(right, Role::ChartStrong)
                .and(format!(" {:<4}", number(ahead)), Role::Dim)
        }
        _ => {
            let gap = " ".repeat(5 + SIDE_WIDTH);
            let failed = [(base, tip), (tip, base)]
                .iter()
                .any(|(from, to)| view.store.error_of(&request(project, from, to)).is_some());
            let mark = if failed { "?" } else { glyph::skeleton() };
            Line::new(gap.clone(), Role::Faint).and(mark, Role::Faint).and(gap, Role::Faint)
        }
    }
}
