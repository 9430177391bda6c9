//! Web addresses that join a ref and a path, such as `tree/a/b/c`: the readings of them that exist on the server.

use crate::api::branches::GetBranch;
use crate::api::commits::{Commit, ListCommits};
use crate::api::tags::GetTag;
use crate::api::{GitRef, Id, RefKind};
use crate::app::context::Cx;
use crate::app::overlay::picker::{Item, Picker};
use crate::app::place::Place;
use crate::app::view::View;
use crate::store::{Load, Remote, Want};
use crate::ui::glyph;
use crate::ui::text::sanitize;

/// The maximum number of parts of the name of a ref.
const MAX_PARTS: usize = 10;

/// A ref and a path that an address may name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    pub git_ref: GitRef,
    /// The path; `None` for the root.
    pub path: Option<String>,
}

/// An address whose ref may be longer than its first part.
pub struct RefSplit {
    project: Id,
    /// The readings, with the shortest refs first; they may not exist.
    readings: Vec<Reading>,
}

impl RefSplit {
    /// Returns the split of a place, if it is undecided.
    pub fn of(place: &Place) -> Option<RefSplit> {
        let (git_ref, path) = (place.git_ref.as_ref().filter(|_| place.is_joined)?, place.path.as_deref()?);
        let joined = format!("{}/{path}", git_ref.short());
        let ends = joined.match_indices('/').map(|(at, _)| at).chain([joined.len()]).take(MAX_PARTS);
        let kinds = git_ref.kind().map_or_else(|| vec![RefKind::Branch, RefKind::Tag], |kind| vec![kind]);
        let readings = ends.filter_map(|end| {
            let (name, rest) = joined.split_at_checked(end)?;
            let path = Some(rest.trim_start_matches('/').to_owned()).filter(|path| !path.is_empty());
            Some(kinds.iter().map(move |kind| Reading { git_ref: GitRef::of(*kind, name), path: path.clone() }))
        });
        Some(RefSplit { project: place.project.clone()?, readings: readings.flatten().collect() })
    }

    fn branch(&self, reading: &Reading) -> GetBranch {
        GetBranch { id: self.project.clone(), branch: reading.git_ref.short().to_owned() }
    }

    fn tag(&self, reading: &Reading) -> GetTag {
        GetTag { id: self.project.clone(), tag_name: reading.git_ref.short().to_owned() }
    }

    /// Returns the request for the ref of a reading.
    fn lookup(&self, reading: &Reading) -> Load {
        match reading.git_ref.kind() {
            Some(RefKind::Tag) => Load::single(&self.tag(reading)),
            _ => Load::single(&self.branch(reading)),
        }
    }

    /// Returns whether the ref of a reading exists, if that is known.
    fn has_ref(&self, view: &View, reading: &Reading) -> Option<bool> {
        fn known<T>(remote: &Remote<'_, T>) -> Option<bool> {
            remote.value.map(|_| true).or(remote.error.map(|_| false))
        }
        match reading.git_ref.kind() {
            Some(RefKind::Tag) => known(&view.store.get(&self.tag(reading))),
            _ => known(&view.store.get(&self.branch(reading))),
        }
    }

    /// Returns the request for the commits that changed the path of a reading: without one, the path does not exist.
    fn commits(&self, reading: &Reading) -> ListCommits {
        let (ref_name, path) = (Some(reading.git_ref.as_str().to_owned()), reading.path.clone());
        ListCommits { id: self.project.clone(), ref_name, path, ..ListCommits::default() }
    }

    /// Returns the readings whose ref exists; `None` as long as that is unknown.
    fn with_ref(&self, view: &View) -> Option<Vec<&Reading>> {
        let known = self.readings.iter().map(|reading| Some((reading, self.has_ref(view, reading)?)));
        let known = known.collect::<Option<Vec<_>>>()?;
        Some(known.into_iter().filter_map(|(reading, exists)| exists.then_some(reading)).collect())
    }

    /// Returns the requests that decide between the readings.
    pub fn wants(&self, view: &View) -> Vec<Want> {
        let refs = self.readings.iter().map(|reading| self.lookup(reading).optional().into());
        let several = self.with_ref(view).filter(|readings| readings.len() > 1).unwrap_or_default();
        let paths = several.into_iter().filter(|reading| reading.path.is_some());
        refs.chain(paths.map(|reading| Load::list(&self.commits(reading), 1).optional().into())).collect()
    }

    /// Returns the readings that exist, with the longest refs first; `None` as long as they are unknown. If no reading
    /// has the path, these are the ones whose ref exists.
    pub fn existing(&self, view: &View) -> Option<Vec<Reading>> {
        let mut refs = self.with_ref(view)?;
        refs.reverse();
        if refs.len() < 2 {
            return Some(refs.into_iter().cloned().collect());
        }
        let mut existing = Vec::new();
        for reading in &refs {
            let rows = view.store.list::<Commit, _>(&self.commits(reading));
            match reading.path {
                Some(_) if !rows.is_loaded && rows.error.is_none() => return None,
                Some(_) if rows.is_empty() => {}
                _ => existing.push(*reading),
            }
        }
        Some(if existing.is_empty() { refs } else { existing }.into_iter().cloned().collect())
    }
}

/// Asks which of several readings is meant, and continues with that one in the current pane.
pub fn ask<P: 'static>(readings: Vec<Reading>, cx: &mut Cx, then: fn(&mut P, Reading)) {
    let here = cx.here;
    let items = readings.into_iter().map(|reading| {
        let sign = if reading.git_ref.kind() == Some(RefKind::Tag) { "tag" } else { glyph::branch() };
        let label = format!("{sign} {}", sanitize(reading.git_ref.short()));
        let path = reading.path.as_deref().map_or_else(|| "all files".to_owned(), |path| sanitize(path).into_owned());
        Item::act(label, here.then(move |pane, _| then(pane, reading))).detail(path)
    });
    cx.open(Picker::new("This address can mean several refs", items.collect()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_beginning_of_an_address_may_be_a_branch_or_a_tag() {
        let place = |name: GitRef| Place { is_joined: true, ..Place::new("files").project("x/y").at(name).path("b/c") };
        let readings = |place: &Place| RefSplit::of(place).map(|split| split.readings).unwrap_or_default();
        let all = readings(&place("a".into()));
        let names: Vec<_> = all.iter().map(|one| (one.git_ref.as_str(), one.path.as_deref())).collect();
        assert_eq!(
            names,
            [
                ("refs/heads/a", Some("b/c")),
                ("refs/tags/a", Some("b/c")),
                ("refs/heads/a/b", Some("c")),
                ("refs/tags/a/b", Some("c")),
                ("refs/heads/a/b/c", None),
                ("refs/tags/a/b/c", None),
            ]
        );
        assert_eq!(readings(&place(GitRef::tag("a"))).len(), 3);
        assert!(readings(&Place { is_joined: false, ..place("a".into()) }).is_empty());
    }
}
