//! Comparison of two versions of a merge request, which are chosen one after the other.

use super::Mr;
use super::scope::Scope;
use crate::api::versions::{ListMergeRequestVersions, Version};
use crate::app::action::Action;
use crate::app::command::Disabled;
use crate::app::overlay::picker::{Item, Picker, Source};
use crate::app::pane::{Cx, View};
use crate::parts::list::{age, ago};
use crate::store::{Load, Rows, Want};

/// One side of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct VersionEnd {
    /// The SHA of the commit.
    pub sha: String,
    /// The displayed name, for example `base` or `version 2`.
    pub name: String,
    /// The number of the version, from 1 (oldest); 0 for the base.
    number: usize,
}

/// The answer of the first picker.
pub(super) struct From(VersionEnd);

/// The answer of the second picker: both sides.
pub(super) struct Both(VersionEnd, VersionEnd);

/// The source of the version picker: the versions after `from`, or all versions and the base.
struct Versions {
    list: ListMergeRequestVersions,
    from: Option<VersionEnd>,
}

/// Returns the versions with their numbers, newest first; the oldest is number 1.
fn numbered<'a>(versions: &'a Rows<'a, Version>) -> impl Iterator<Item = (usize, &'a Version)> {
    let count = versions.len();
    versions.iter().enumerate().map(move |(at, version)| (count - at, version))
}

/// Returns the number of the version with that head; `None` unless all versions are loaded.
pub(super) fn number_of(versions: &Rows<Version>, sha: &str) -> Option<usize> {
    let found = numbered(versions).find(|(_, version)| version.head_commit_sha.as_deref() == Some(sha));
    found.map(|(number, _)| number).filter(|_| !versions.more)
}

impl Versions {
    fn item(&self, view: &View, end: VersionEnd, version: &Version, is_latest: bool) -> Item {
        let short = end.sha.get(..8).unwrap_or(&end.sha).to_owned();
        let (name, detail) = match (end.number, is_latest) {
            (0, _) => (end.name.clone(), "where the branch began".to_owned()),
            (_, true) => (end.name.clone(), format!("latest, {}", ago(&age(view, version.created_at.as_ref())))),
            (_, false) => (end.name.clone(), ago(&age(view, version.created_at.as_ref()))),
        };
        let item = match &self.from {
            None => Item::answer(name, From(end)),
            Some(from) => Item::answer(name, Both(from.clone(), end)),
        };
        item.detail(detail).note(short)
    }
}

impl Source for Versions {
    fn wants(&self, _view: &View, _typed: &str) -> Vec<Want> {
        vec![Load::list(&self.list, 1).into()]
    }

    fn items(&self, view: &View, _typed: &str) -> Vec<Item> {
        let versions = view.store.list(&self.list);
        let count = versions.len();
        let after = self.from.as_ref().map_or(0, |from| from.number + 1);
        // The picker lists the newest first, like the reply.
        let ends = numbered(&versions).filter_map(|(number, version)| {
            let sha = version.head_commit_sha.clone()?;
            // The latest version has none after it to compare with.
            let is_offered = if self.from.is_some() { number >= after } else { number < count };
            is_offered.then(|| {
                let end = VersionEnd { sha, name: format!("version {number}"), number };
                self.item(view, end, version, number == count)
            })
        });
        let base = versions.get(0).filter(|_| self.from.is_none()).and_then(|latest| {
            let sha = latest.base_commit_sha.clone()?;
            Some(self.item(view, VersionEnd { sha, name: "base".to_owned(), number: 0 }, latest, false))
        });
        ends.chain(base).collect()
    }

    fn loading(&self, view: &View, _typed: &str) -> bool {
        view.store.list(&self.list).loading
    }
}

impl Mr {
    pub(super) fn versions_of(&self) -> ListMergeRequestVersions {
        ListMergeRequestVersions { id: self.project.clone(), merge_request_iid: self.iid }
    }

    /// Returns the request for the versions.
    pub(super) fn want_versions(&self) -> Want {
        Load::list(&self.versions_of(), 1).optional().into()
    }

    /// Returns the heads of the versions with their numbers, once all are loaded.
    pub(super) fn version_heads(&self, view: &View) -> Vec<(String, usize)> {
        let versions = view.store.list(&self.versions_of());
        let head = |(number, version): (usize, &Version)| Some((version.head_commit_sha.clone()?, number));
        numbered(&versions).filter(|_| !versions.more).filter_map(head).collect()
    }

    pub(super) fn can_compare_versions(&self, view: &View) -> Result<(), Disabled> {
        if view.store.is_unsupported::<ListMergeRequestVersions>() {
            return Err("this server has no versions".into());
        }
        self.known(view).map(|_| ()).ok_or_else(|| "it has not loaded yet".into())
    }

    fn choose_version(&self, title: &str, from: Option<VersionEnd>, cx: &mut Cx) {
        let source = Box::new(Versions { list: self.versions_of(), from });
        cx.act(Action::Open(Box::new(Picker::of(title, source, &cx.view))));
    }

    /// Opens the picker for the first side.
    pub(super) fn compare_versions(&mut self, cx: &mut Cx) {
        self.choose_version("Compare from", None, cx);
    }

    /// Opens the picker for the second side.
    pub(super) fn compare_from(&mut self, From(from): From, cx: &mut Cx) {
        self.choose_version(&format!("Compare {} with", from.name), Some(from), cx);
    }

    /// Shows the changes between the chosen sides.
    pub(super) fn show_between(&mut self, Both(from, to): Both) {
        self.scope = Scope::Versions { from, to };
    }
}
