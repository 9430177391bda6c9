//! Comparison of two versions of a merge request, which are chosen one after the other.

use super::ChangesTab;
use super::scope::Scope;
use crate::api::Time;
use crate::api::commit_data::CommitData;
use crate::api::versions::{ListMergeRequestVersions, MergeRequestVersion};
use crate::app::command_info::Disabled;
use crate::app::context::{Cx, Here};
use crate::app::overlay::picker::{Item, Picker, Source};
use crate::app::view::View;
use crate::panes::mr::Mr;
use crate::panes::mr::reads::MergeRequestReads;
use crate::parts::text::dates::time_ago;
use crate::store::{Load, Rows, Want};
use jiff::Timestamp;

/// The maximum number of pages of versions that are loaded.
const PAGES: u32 = 10;

/// One side of a comparison: a version, or only a commit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VersionEnd {
    /// The SHA of the commit.
    pub sha: String,
    /// The SHAs of the base of the version and of its target branch at that time; empty if the server does not provide
    /// them.
    pub base: String,
    pub start: String,
    /// The displayed name, for example `base` or `version 2`.
    pub name: String,
    /// The ID of the version; 0 for a commit. Newer versions have higher IDs.
    pub id: u64,
    pub created_at: Option<Time>,
}

impl VersionEnd {
    /// Returns whether the version was there at a time.
    pub fn is_from_before(&self, at: Timestamp) -> bool {
        self.created_at.as_ref().and_then(Time::instant).is_some_and(|created| created <= at)
    }

    fn new(version: &MergeRequestVersion, number: Option<usize>) -> Option<VersionEnd> {
        let sha = version.head_commit_sha.clone()?;
        let name = match number {
            Some(number) => format!("version {number}"),
            None => format!("version {}", sha.get(..8).unwrap_or(&sha)),
        };
        Some(VersionEnd {
            base: version.base_commit_sha.clone().unwrap_or_default(),
            start: version.start_commit_sha.clone().unwrap_or_default(),
            created_at: version.created_at.clone(),
            id: version.id,
            name,
            sha,
        })
    }

    /// Creates an end for a commit.
    pub fn of_commit(sha: String, name: String) -> VersionEnd {
        VersionEnd { sha, name, ..VersionEnd::default() }
    }

    /// Returns the want for the commits and changes of the version.
    pub fn want(&self, reads: &MergeRequestReads) -> Want {
        let data = CommitData::Version { base: self.base.clone(), head: self.sha.clone() };
        Load::single(&reads.version(self.id)).optional().or_in_clone(data).into()
    }

    /// Returns whether it is a version whose base is known.
    pub fn is_version(&self) -> bool {
        self.id > 0 && !self.base.is_empty()
    }
}

/// The source of the version picker: the versions after `from`, or all versions and the base.
struct Versions {
    list: ListMergeRequestVersions,
    from: Option<VersionEnd>,
    here: Here,
}

/// Returns the versions with their numbers, newest first. The oldest is number 1, so numbers are `None` unless all
/// versions are loaded.
fn numbered<'a>(
    versions: &'a Rows<'a, MergeRequestVersion>,
) -> impl Iterator<Item = (Option<usize>, &'a MergeRequestVersion)> {
    let count = versions.len();
    versions.iter().enumerate().map(move |(at, version)| ((!versions.has_more).then_some(count - at), version))
}

fn load(list: &ListMergeRequestVersions) -> Load {
    Load::list(list, PAGES)
}

/// Returns whether more pages are about to be loaded.
fn is_loading(versions: &Rows<MergeRequestVersion>) -> bool {
    versions.is_loading() || versions.has_next(PAGES) && versions.error.is_none()
}

impl Versions {
    fn item(&self, view: &View, end: VersionEnd, version: &MergeRequestVersion, is_latest: bool) -> Item {
        let short = end.sha.get(..8).unwrap_or(&end.sha).to_owned();
        let (name, detail) = match (end.id, is_latest) {
            (0, _) => (end.name.clone(), "where the branch began".to_owned()),
            (_, true) => (end.name.clone(), format!("latest, {}", time_ago(view, version.created_at.as_ref()))),
            (_, false) => (end.name.clone(), time_ago(view, version.created_at.as_ref())),
        };
        let from = self.from.clone();
        let choose = self.here.then(move |pane: &mut Mr, cx| match from {
            None => pane.changes.choose_version(&format!("Compare {} with", end.name), Some(end), cx),
            Some(from) => pane.show_changes().scope = Scope::between(from, end),
        });
        Item::act(name, choose).detail(detail).note(short)
    }
}

impl Source for Versions {
    fn wants(&self, _view: &View, _typed: &str) -> Vec<Want> {
        vec![load(&self.list).into()]
    }

    fn items(&self, view: &View, _typed: &str) -> Vec<Item> {
        let versions = view.store.list(&self.list);
        // The numbers are known once all versions are.
        if versions.has_more && is_loading(&versions) {
            return Vec::new();
        }
        // The picker lists the newest first, like the reply.
        let ends = numbered(&versions).enumerate().filter_map(|(index, (number, version))| {
            // The latest version has none after it to compare with.
            let is_offered = self.from.as_ref().map_or(index > 0, |from| version.id > from.id);
            let end = VersionEnd::new(version, number).filter(|_| is_offered)?;
            Some(self.item(view, end, version, index == 0))
        });
        let base = versions.get(0).filter(|_| self.from.is_none()).and_then(|latest| {
            let end = VersionEnd::of_commit(latest.base_commit_sha.clone()?, "base".to_owned());
            Some(self.item(view, end, latest, false))
        });
        ends.chain(base).collect()
    }

    fn loading(&self, view: &View, _typed: &str) -> bool {
        is_loading(&view.store.list(&self.list))
    }
}

/// Returns the request for the versions.
pub fn want(reads: &MergeRequestReads) -> Want {
    load(&reads.versions()).optional().into()
}

/// Returns all versions, newest first, once they are loaded.
pub(super) fn all(reads: &MergeRequestReads, view: &View) -> Vec<VersionEnd> {
    let versions = view.store.list(&reads.versions());
    match versions.is_loaded && !(versions.has_more && is_loading(&versions)) {
        true => numbered(&versions).filter_map(|(number, version)| VersionEnd::new(version, number)).collect(),
        false => Vec::new(),
    }
}

/// Returns the heads of the versions with their numbers, once all are loaded.
pub fn heads(reads: &MergeRequestReads, view: &View) -> Vec<(String, usize)> {
    let versions = view.store.list(&reads.versions());
    let head =
        |(number, version): (Option<usize>, &MergeRequestVersion)| Some((version.head_commit_sha.clone()?, number?));
    numbered(&versions).filter_map(head).collect()
}

impl ChangesTab {
    pub fn can_compare_versions(&self, view: &View) -> Result<(), Disabled> {
        if view.store.is_unsupported::<ListMergeRequestVersions>() {
            return Err("this server has no versions".into());
        }
        self.reads.known(view).map(|_| ()).ok_or_else(|| "it has not loaded yet".into())
    }

    fn choose_version(&self, title: &str, from: Option<VersionEnd>, cx: &mut Cx) {
        let source = Box::new(Versions { list: self.reads.versions(), from, here: cx.here });
        cx.open(Picker::of(title, source, &cx.view));
    }

    /// Opens the picker for the first side.
    pub fn compare_versions(&mut self, cx: &mut Cx) {
        self.choose_version("Compare from", None, cx);
    }
}
